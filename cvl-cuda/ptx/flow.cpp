/* flow.cpp - see flow.hpp. The algorithm is that of Cooper, Harvey and Kennedy ("A Simple, Fast
 * Dominance Algorithm", 2001) on the reversed graph of instructions: intersections of paths in
 * the tree so far, until nothing changes. */
#include "cvl-cuda/ptx/flow.hpp"

#include <algorithm>

namespace ravel {
namespace ptx {
namespace {

enum : uint32_t { UNKNOWN = UINT32_MAX };
typedef std::vector<std::vector<uint32_t>> edges;

edges successors(const kernel &k) {
  const uint32_t end = (uint32_t)k.code.size();
  edges after(end + 1);
  for (uint32_t n = 0; n < end; n++) {
    const instruction &i = k.code[n];
    const bool leaves = i.control_of == BRANCH || i.control_of == EXIT;
    if (leaves) after[n].push_back(i.control_of == EXIT ? end : i.target);
    if (!leaves || i.guard.at != NO_REGISTER) after[n].push_back(std::min(n + 1, end));
  }
  return after;
}

edges reversed(const edges &after) {
  edges before(after.size());
  for (uint32_t n = 0; n < after.size(); n++) {
    for (const uint32_t s : after[n]) before[s].push_back(n);
  }
  return before;
}

/* Returns the instructions from which the end can be reached. Each comes after those below it
 * in a depth-first search from the end, so the end comes last. */
std::vector<uint32_t> post_order(const edges &before) {
  const uint32_t end = (uint32_t)before.size() - 1;
  std::vector<uint32_t> order;
  std::vector<bool> seen(before.size(), false);
  std::vector<std::pair<uint32_t, size_t>> stack{{end, 0}};
  seen[end] = true;
  while (!stack.empty()) {
    const uint32_t at = stack.back().first;
    if (stack.back().second == before[at].size()) {
      order.push_back(at);
      stack.pop_back();
      continue;
    }
    const uint32_t next = before[at][stack.back().second++];
    if (!seen[next]) stack.push_back({next, 0});
    seen[next] = true;
  }
  return order;
}

struct dominance {
  std::vector<uint32_t> rank, point;

  uint32_t intersection(uint32_t a, uint32_t b) const {
    while (a != b) {
      while (rank[a] < rank[b]) a = point[a];
      while (rank[b] < rank[a]) b = point[b];
    }
    return a;
  }
  uint32_t of(const std::vector<uint32_t> &after) const {
    uint32_t found = UNKNOWN;
    for (const uint32_t s : after) {
      if (point[s] == UNKNOWN) continue;
      found = found == UNKNOWN ? s : intersection(found, s);
    }
    return found;
  }
};

} // namespace

std::vector<uint32_t> post_dominators(const kernel &k) {
  const edges after = successors(k);
  const std::vector<uint32_t> order = post_order(reversed(after));
  const uint32_t end = (uint32_t)k.code.size();
  dominance d{std::vector<uint32_t>(end + 1, 0), std::vector<uint32_t>(end + 1, UNKNOWN)};
  for (uint32_t n = 0; n < order.size(); n++) d.rank[order[n]] = n;
  d.point[end] = end;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t n = order.size() - 1; n-- > 0;) {
      const uint32_t found = d.of(after[order[n]]);
      changed = changed || found != d.point[order[n]];
      d.point[order[n]] = found;
    }
  }
  for (uint32_t &p : d.point) p = std::min(p, end);
  return d.point;
}

uint32_t meeting_point(const std::vector<uint32_t> &points, uint32_t a, uint32_t b) {
  const uint32_t end = (uint32_t)points.size() - 1;
  std::vector<bool> on_the_way(points.size(), false);
  for (on_the_way[end] = true; a != end; a = points[a]) on_the_way[a] = true;
  while (!on_the_way[b]) b = points[b];
  return b;
}

} // namespace ptx
} // namespace ravel
