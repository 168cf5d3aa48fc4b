/* test-trees.cpp - combinations of superoperators by kernels, on segments of up to three levels
 * of blocks. Results are those of the tree that keeps order (trees.h), computed here as the
 * contract writes it, with a function that gives another result in every other tree. */
#include <stdlib.h>

#include <string>
#include <vector>

#include "cvl-cuda/tests/superop-session.hpp"

/* ---- the tree ---- */

enum { IDENTITY = 77 /* of the second column; the first has one for each segment */ };

struct item {
  uint64_t a, b;
};

static item trees_f(item l, item r) {
  return {3 * l.a - r.a + l.b, l.b - r.a + 3 * r.b};
}

/* Computes P(1) .. P(n). */
static std::vector<item> prefixes(const item *x, size_t n) {
  std::vector<std::vector<item>> level(1, std::vector<item>(x, x + n));
  while (level.back().size() > 1) {
    const std::vector<item> &below = level.back();
    std::vector<item> up;
    for (size_t i = 0; i + 1 < below.size(); i += 2)
      up.push_back(trees_f(below[i], below[i + 1]));
    level.push_back(up);
  }
  std::vector<item> p;
  for (size_t i = 1; i <= n; i++) {
    size_t k = 0;
    while ((i >> k & 1) == 0) k++;
    const size_t before = i - ((size_t)1 << k);
    const item t = level[k][before >> k];
    p.push_back(before == 0 ? t : trees_f(p[before - 1], t));
  }
  return p;
}

/* ---- the superoperators ---- */

enum {
  REDUCE,
  SCAN,
  INCLUSIVE,
  SCATTER,
  SCAN_EQUAL /* elements of the second column */,
  SUPEROPS
};

/* Returns a superoperator of two columns, 2 $0 and $1, and f. `consumers` take its left results
 * and the values of f. Values are written as letters: e and g, and k and n. */
static std::string trees_definition(int number, const std::string &params, int count,
                                    const std::string &consumers,
                                    const std::string &second = "$1") {
  std::string text = "fused OP" + std::to_string(number) + "#1 (" + params + ") =\n" +
                     "a = (CONST INT 3) b = (DIST INT @ a $2) c = (CONST INT 77) "
                     "d = (+ INT @ $0 $0)\n"
                     "e f = (COLUMN INT @ d) g h = (COLUMN INT @ " +
                     second +
                     ")\n"
                     "i = (* INT @ e b) j = (- INT @ i f) k = (+ INT @ j g)\n"
                     "l = (- INT @ g f) m = (* INT @ h b) n = (+ INT @ l m)\n" +
                     consumers + "-> o p\n";
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    const bool name = text[i] >= 'a' && text[i] <= 'p' && i >= 5 && text[i - 1] != 'f' &&
                      (text[i + 1] == ' ' || text[i + 1] == ')' || text[i + 1] == '\n');
    out += name ? "$" + std::to_string(count + text[i] - 'a') : std::string(1, text[i]);
  }
  return out;
}

static std::string definitions() {
  const std::string segments = "$0 : INT, $1 : INT, $2 : SEGDES";
  return trees_definition(REDUCE, segments + ", $3 : INT", 4,
                          "o = (COMBINE_REDUCE INT @ e k $3 $2) "
                          "p = (COMBINE_REDUCE INT @ g n c $2)\n") +
         trees_definition(
             SCAN, segments + ", $3 : INT", 4,
             "o = (COMBINE_SCAN INT @ e k $3 $2) p = (COMBINE_SCAN INT @ g n c $2)\n") +
         trees_definition(INCLUSIVE, segments, 3,
                          "o = (COMBINE_SCAN_INCLUSIVE INT @ e k $2) "
                          "p = (COMBINE_SCAN_INCLUSIVE INT @ g n $2)\n") +
         trees_definition(SCATTER, segments + ", $3 : INT, $4 : INT, $5 : INT, $6 : SEGDES", 7,
                          "o = (COMBINE_SCATTER INT @ e k $3 $4 $2 $6) "
                          "p = (COMBINE_SCATTER INT @ g n $3 $5 $2 $6)\n") +
         trees_definition(SCAN_EQUAL, segments, 3,
                          "o = (COMBINE_SCAN_INCLUSIVE INT @ e k $2) "
                          "p = (COMBINE_SCAN_INCLUSIVE INT @ g n $2)\n",
                          "b");
}

struct session : superop_session {
  superops *ops = superops_load(definitions().c_str());
  cvl_kernel *kernels[SUPEROPS];

  explicit session(const char *how) : superop_session(how, true) {
    for (int k = 0; k < SUPEROPS; k++) {
      kernels[k] = b->superops->prepare(c, ops->ops[k]);
      cr_assert(kernels[k] != nullptr, "superoperator %d has no kernel", k);
    }
  }
  ~session() {
    for (cvl_kernel *k : kernels) b->superops->discard(c, k);
    superops_free(ops);
  }
  session(const session &) = delete;
  session &operator=(const session &) = delete;

  /* Runs a superoperator of two columns. */
  std::vector<item> run(int which, const std::vector<cvl_value> &operands) {
    cvl_value outs[2] = {};
    const uint64_t before = launches();
    cr_assert(b->superops->run(c, ++site, kernels[which], operands.data(), outs));
    cr_expect_leq(launches() - before, 24, "node by node?");
    site += ops->ops[which]->node_count;
    cvl_size n = b->length(c, &outs[0]);
    cr_assert(b->resolve(c, &n));
    ints x(n.bound), y(n.bound);
    cr_assert(b->to_host(c, &outs[0], 0, x.size(), x.data()));
    cr_assert(b->to_host(c, &outs[1], 0, y.size(), y.data()));
    for (const cvl_value &v : outs) b->release(c, &v);
    std::vector<item> items;
    for (size_t i = 0; i < x.size(); i++) items.push_back({(uint64_t)x[i], (uint64_t)y[i]});
    return items;
  }
};

/* ---- expected results ---- */

static void trees_expect_same(const std::vector<item> &found, const std::vector<item> &wanted,
                              const char *what) {
  cr_assert_eq(found.size(), wanted.size(), "%s", what);
  for (size_t i = 0; i < wanted.size(); i++) {
    cr_assert(found[i].a == wanted[i].a && found[i].b == wanted[i].b,
              "%s: element %zu is (%ld, %ld) instead of (%ld, %ld)", what, i, (long)found[i].a,
              (long)found[i].b, (long)wanted[i].a, (long)wanted[i].b);
  }
}

struct columns {
  ints x, y, identities;
  std::vector<item> items;

  columns(size_t n, size_t segments, int64_t equal = -1) {
    for (size_t i = 0; i < n; i++) {
      x.push_back((int64_t)(i * 2654435761u % 1000003));
      y.push_back(equal < 0 ? (int64_t)(i * i % 10007) : equal);
      items.push_back({2 * (uint64_t)x[i], (uint64_t)y[i]});
    }
    for (size_t s = 0; s < segments; s++) identities.push_back(-(int64_t)s);
  }
};

static size_t trees_sum(const ints &lengths) {
  size_t n = 0;
  for (int64_t l : lengths) n += (size_t)l;
  return n;
}

static void check_equal(const char *how, const ints &lengths) {
  session s(how);
  const columns in(trees_sum(lengths), lengths.size(), 3);
  std::vector<item> inclusive;
  for (int64_t n : lengths) {
    const std::vector<item> p = prefixes(in.items.data() + inclusive.size(), (size_t)n);
    inclusive.insert(inclusive.end(), p.begin(), p.end());
  }
  const std::vector<cvl_value> operands = {s.upload(in.x), s.upload(in.y), s.segments(lengths)};
  trees_expect_same(s.run(SCAN_EQUAL, operands), inclusive, "scan of equal elements");
}

static void trees_check_segments(const char *how, const ints &lengths) {
  session s(how);
  const columns in(trees_sum(lengths), lengths.size());
  std::vector<item> reduced, scanned, inclusive;
  size_t start = 0;
  for (size_t k = 0; k < lengths.size(); k++) {
    const item identity = {(uint64_t)in.identities[k], IDENTITY};
    const std::vector<item> p = prefixes(in.items.data() + start, (size_t)lengths[k]);
    reduced.push_back(p.empty() ? identity : p.back());
    for (size_t i = 0; i < p.size(); i++) scanned.push_back(i == 0 ? identity : p[i - 1]);
    inclusive.insert(inclusive.end(), p.begin(), p.end());
    start += p.size();
  }
  const cvl_value x = s.upload(in.x), y = s.upload(in.y), d = s.segments(lengths);
  const cvl_value e = s.upload(in.identities);
  trees_expect_same(s.run(REDUCE, {x, y, d, e}), reduced, "reduction");
  trees_expect_same(s.run(SCAN, {x, y, d, e}), scanned, "scan");
  trees_expect_same(s.run(INCLUSIVE, {x, y, d}), inclusive, "inclusive scan");
}

static const char CHECKED[] = "small=0,order=shuffled,check", PLAIN[] = "small=0";

Test(trees, within_rows_and_blocks) {
  ints short_ones, around = {0, 1023, 1024, 1025, 0, 0, 992, 991, 993, 512, 511, 513, 0};
  for (int64_t n = 0; n < 70; n++) short_ones.push_back(n);
  trees_check_segments(CHECKED, short_ones);
  trees_check_segments(CHECKED, around);
  trees_check_segments(CHECKED, {1});
  trees_check_segments(CHECKED, {0, 0});
}

/* The column is no vector in memory. */
Test(trees, of_equal_elements) {
  check_equal(CHECKED, {100, 0, 3000, 1024});
}

Test(trees, of_two_levels) {
  trees_check_segments(CHECKED, {3077, 2048, 31, 2047, 0, 5119, 32, 2049});
  trees_check_segments(CHECKED, {40 * 1024 + 37});
  trees_check_segments(PLAIN, {64 * 1024, 1, 65 * 1024 + 1023});
}

Test(trees, of_three_levels) {
  const int64_t M = 1024 * 1024;
  trees_check_segments(PLAIN, {5, M + 1025, 0, 7});
  trees_check_segments(PLAIN, {M + 1024});
  trees_check_segments(PLAIN, {M - 1, 1, M});
  trees_check_segments(PLAIN, {2 * M + 3 * 1024 + 9, 1023});
}

/* ---- scattered ---- */

static void trees_check_scatter(const char *how, size_t n, size_t groups, int64_t step) {
  session s(how);
  const columns in(n, 1), defaults(groups, 1);
  ints index;
  std::vector<std::vector<item>> group;
  for (size_t g = 0; g < groups; g++) {
    group.push_back({{(uint64_t)defaults.x[g], (uint64_t)defaults.y[g]}});
  }
  for (size_t i = 0; i < n; i++) {
    const size_t to = (i * (size_t)step + i / 7) % groups;
    index.push_back((int64_t)to);
    group[to].push_back(in.items[i]);
  }
  std::vector<item> wanted;
  for (const std::vector<item> &g : group)
    wanted.push_back(prefixes(g.data(), g.size()).back());
  const cvl_value from = cvl_one_segment(n), to = cvl_one_segment(groups);
  const std::vector<cvl_value> operands = {
      s.upload(in.x),       s.upload(in.y),       from, s.upload(index),
      s.upload(defaults.x), s.upload(defaults.y), to};
  trees_expect_same(s.run(SCATTER, operands), wanted, "scatter");
}

Test(trees, scattered) {
  trees_check_scatter(CHECKED, 1000, 10, 3);
  trees_check_scatter(CHECKED, 5000, 3, 1);
  trees_check_scatter(CHECKED, 100, 1000, 37);
  trees_check_scatter(CHECKED, 4000, 1, 1);
  trees_check_scatter(PLAIN, 100000, 257, 11);
}
