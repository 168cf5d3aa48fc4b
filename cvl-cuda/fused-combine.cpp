/* fused-combine.cpp - the combinations of a superoperator while it runs. Their lowest level is
 * inside its kernel, or they combine what the kernel has written, or they scatter.
 */
#include <algorithm>

#include "cvl-cuda/fused-run.hpp"
#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/scatter-groups.hpp"
#include "cvl-cuda/tree.hpp"

namespace ravel {

/* Returns whether all positions fit an INT. If not, superop_run reports the first that does
 * not. */
bool execution::fits() {
  if ((trees.empty() && !op.copies) || c.int_elem == CVL_I64) return true;
  int64_t most = domain();
  for (uint32_t p = 0; p < op.param_count; p++) {
    most = std::max(most, length_bound(values[p]));
    if (op.kinds[p] == SUPEROP_SEGDES) most = std::max(most, total_of(c, values[p]));
  }
  return most <= INT32_MAX;
}

tree execution::tree_of(work &w, const ready_tree &t, const segments &d,
                        int64_t longest) const {
  return {w, op, t.at, t.up, t.down, d, longest};
}

const cvl_value &execution::identity(const ready_tree &t, uint32_t column) const {
  const uint32_t v = op.nodes[t.at.ends + column].operands[2];
  uint32_t k = 0;
  if (v < op.param_count) return values[v];
  while (op.nodes[k].result != v || op.nodes[k].role != ROLE_CONST) k++;
  return op.nodes[k].constant;
}

void execution::add_tree_member(work &w, const fused_member &m, arguments &a,
                                std::vector<lowest_level> &lowest) {
  for (size_t i = 0; i < trees.size(); i++) {
    const uint32_t column = m.number - trees[i].at.ends;
    if (column >= trees[i].at.count) continue;
    tree t = tree_of(w, trees[i], w.view(values[op.segments]), 0);
    lowest_level &l = lowest[i];
    if (m.kind == MEMBER_TOTALS) {
      if (column == 0) l.totals = t.totals();
      a.add(l.totals[column]);
    } else if (m.kind == MEMBER_ROOTS) {
      if (column == 0) l.roots = t.roots();
      a.add(l.roots[column]);
    } else {
      if (column == 0) l.results = t.make(t.d.count);
      l.out = t.memory_of(l.results);
      a.add(l.out[column]);
    }
  }
}

/* Runs the levels above those that were inside the kernel. */
void execution::finish_trees(work &w, const fused_kernel &plan,
                             std::vector<lowest_level> &lowest) {
  for (size_t i = 0; i < trees.size(); i++) {
    const ready_tree &r = trees[i];
    lowest_level &l = lowest[i];
    if (plan.tasks[r.at.ends] != TASK_INSIDE) continue;
    if (op.nodes[r.at.ends].role == ROLE_COMBINE_SCAN) {
      for (uint32_t k = 0; k < r.at.count; k++)
        make_spread(plan, op.nodes[r.at.first + k].operands[0]);
      run_scan(w, r, l.totals);
      continue;
    }
    const cvl_value &d = values[op.segments];
    tree_of(w, r, w.view(d), longest_segment(c, d)).finish_reduction(l.totals, l.roots, l.out);
    for (uint32_t k = 0; k < r.at.count; k++)
      w.give(&values[op.nodes[r.at.ends + k].result], l.results[k]);
  }
}

void execution::run_scan(work &w, const ready_tree &r, const column_memory &totals) {
  const cvl_value &d = values[op.segments];
  const bool exclusive = op.nodes[r.at.ends].op == SUPEROP_COMBINE_SCAN;
  tree t = tree_of(w, r, w.view(d), longest_segment(c, d));
  std::vector<cvl_value> columns, identities;
  for (uint32_t k = 0; k < r.at.count; k++) {
    columns.push_back(values[op.nodes[r.at.first + k].operands[0]]);
    if (exclusive) identities.push_back(identity(r, k));
  }
  const std::vector<ref<cvl_vector>> results = t.make(t.d.total);
  t.scan(columns.data(), exclusive ? identities.data() : nullptr, totals, t.memory_of(results));
  for (uint32_t k = 0; k < r.at.count; k++)
    w.give(&values[op.nodes[r.at.ends + k].result], results[k]);
}

/* Runs a combination of values that are in memory: operands, or what the kernel has written. */
void execution::run_tree(const ready_tree &r) {
  const superop_role role = (superop_role)op.nodes[r.at.ends].role;
  if (role == ROLE_COMBINE_SCATTER) {
    scatter_tree(r);
    return;
  }
  work w(c, site + r.at.ends, {}, INT64_MAX);
  if (role == ROLE_COMBINE_SCAN) {
    run_scan(w, r, {});
    return;
  }
  const cvl_value &d = values[op.segments];
  tree t = tree_of(w, r, w.view(d), longest_segment(c, d));
  std::vector<cvl_value> columns, identities;
  for (uint32_t k = 0; k < r.at.count; k++) {
    columns.push_back(values[op.nodes[r.at.first + k].operands[0]]);
    identities.push_back(identity(r, k));
  }
  const std::vector<ref<cvl_vector>> results = t.make(t.d.count);
  t.reduce(columns.data(), identities.data(), t.memory_of(results));
  for (uint32_t k = 0; k < r.at.count; k++)
    w.give(&values[op.nodes[r.at.ends + k].result], results[k]);
}

/* Finds the position of each element in the result. Faults: INDEX. */
void execution::find_slots(const ready_tree &r, held_value &slots) {
  const superop_node &node = op.nodes[r.at.ends];
  const cvl_value first = cvl_scalar_int(c.int_elem, 0), step = cvl_scalar_int(c.int_elem, 1);
  const int64_t n = length_bound(values[node.operands[3]]);
  held_value numbers;
  index(c, site + r.at.ends, first, step, cvl_one_segment((uint64_t)n), &numbers.v);
  cvl_permute a{};
  a.values = numbers.v;
  a.index = values[node.operands[2]];
  a.s = values[node.operands[5]];
  a.d = values[node.operands[4]];
  a.index.owned = a.s.owned = a.d.owned = 0;
  permute(c, site + r.at.ends, OP_BPERMUTE, a, &slots.v);
}

void execution::scatter_tree(const ready_tree &r) {
  const superop_node &node = op.nodes[r.at.ends];
  const int64_t n = length_bound(values[node.operands[3]]), m = domain();
  held_value slots;
  find_slots(r, slots);
  work w(c, site + r.at.ends, {}, INT64_MAX);
  scatter_groups groups{};
  if (n > 0) groups = find_scatter_groups(w, slots.v, n, m);
  tree t = tree_of(w, r, groups.d, m + 1);
  const column_memory sorted = t.scratch(n + m);
  for (uint32_t k = 0; k < r.at.count && n > 0; k++) {
    merge_column(w, groups, t.elem(k), n, values[op.nodes[r.at.ends + k].operands[3]],
                 values[op.nodes[r.at.first + k].operands[0]], sorted[k]);
  }
  const std::vector<ref<cvl_vector>> results = t.make(n);
  t.reduce(sorted, t.memory_of(results));
  for (uint32_t k = 0; k < r.at.count; k++)
    w.give(&values[op.nodes[r.at.ends + k].result], results[k]);
}

} // namespace ravel
