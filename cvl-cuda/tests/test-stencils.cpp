/* test-stencils.cpp - kernels that keep windows of what they gather from. Every neighbour of
 * every element is that of plain loops, for all rules, types and radii, and lengths around
 * those of blocks and windows. The device runs threads in any order and checks them. Faults are
 * those of the nodes one by one. */
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <stdlib.h>
#include <string.h>

#include "cvl-cuda/tests/generated.hpp"

#include "cvl-cuda/emulation.h"
#include "cvl-cuda/tests/apply.hpp"
#include "cvl-cuda/tests/stencils.hpp"
#include "cvl-cuda/tests/temporary.hpp"

using namespace ravel;

static temporary *folder;

ReportHook(PRE_ALL)(struct criterion_test_set *) {
  folder = new temporary;
  setenv("RAVEL_TEST_KERNELS", folder->folder.c_str(), 1);
}

ReportHook(POST_ALL)(struct criterion_global_stats *) {
  delete folder;
}

/* ---- a superoperator on the emulated device ---- */

typedef std::vector<uint8_t> bytes;

struct session {
  const cvl_backend *b = cvl_cuda_emulation_backend();
  cvl_context *c = nullptr;
  const widths w;
  superops *ops;
  cvl_kernel *kernel = nullptr;
  std::vector<cvl_value> held{};
  uint64_t site = 0;

  session(const std::string &device, widths in, const std::string &text, bool kernels = true)
      : w(in), ops(superops_load_in(in, text.c_str())) {
    setenv("RAVEL_EMULATION", ("small=0," + device).c_str(), 1);
    cvl_options o{};
    o.int_elem = w.int_elem;
    o.float_elem = w.float_elem;
    o.compile = kernels ? CVL_COMPILE_ALL : CVL_COMPILE_NONE;
    o.compile_waits = true;
    o.compile_directory = getenv("RAVEL_TEST_KERNELS");
    const char *why = "";
    c = b->open(&o, &why);
    cr_assert(c != nullptr, "%s", why);
    if (kernels) kernel = b->superops->prepare(c, ops->ops[0]);
    cr_assert(!kernels || kernel != nullptr);
  }
  ~session() {
    if (kernel) b->superops->discard(c, kernel);
    release();
    cr_expect_eq(b->statistics(c).live_bytes, 0);
    b->close(c);
    superops_free(ops);
  }
  session(const session &) = delete;
  session &operator=(const session &) = delete;

  void release() {
    for (const cvl_value &v : held) b->release(c, &v);
    held.clear();
  }
  cvl_elem elem_of(uint32_t kind) const {
    return superop_elem((superop_kind)kind, w.int_elem, w.float_elem);
  }
  cvl_value keep(cvl_value v) {
    held.push_back(v);
    return v;
  }
  cvl_value upload(cvl_elem elem, const bytes &x) {
    cvl_value v{};
    const uint64_t n = x.size() / elem_info(elem)->bytes;
    cr_assert(b->from_host(c, ++site, elem, n, x.data(), &v));
    return keep(v);
  }
  cvl_value ints(const std::vector<int64_t> &x) {
    bytes of;
    for (const int64_t e : x) {
      const int32_t narrow = (int32_t)e;
      const uint8_t *p = w.int_elem == CVL_I32 ? (const uint8_t *)&narrow : (const uint8_t *)&e;
      of.insert(of.end(), p, p + elem_info(w.int_elem)->bytes);
    }
    return upload(w.int_elem, of);
  }
  /* Makes 0 .. n - 1, which the device computes where it is read. */
  cvl_value counted(int64_t n) {
    cvl_value v{};
    const cvl_value start = ints({0}), stride = ints({1}), d = cvl_one_segment((uint64_t)n);
    cr_assert(apply(b, c, ++site, CALL_INDEX, OP_INDEX, {start, stride, d}, &v));
    return keep(v);
  }
  cvl_value segments(int64_t count, int64_t length) {
    cvl_value v{};
    const std::vector<int64_t> stencils_lengths((size_t)count, length);
    cr_assert(
        b->segdes_from_host(c, ++site, stencils_lengths.size(), stencils_lengths.data(), &v));
    return keep(v);
  }
  /* Returns the outputs, or none and the fault. */
  std::vector<bytes> run(const std::vector<cvl_value> &operands, cvl_error &fault) {
    const superop *op = ops->ops[0];
    std::vector<cvl_value> outs(op->output_count);
    std::vector<bytes> all;
    bool good = kernel ? b->superops->run(c, 1000, kernel, operands.data(), outs.data())
                       : superop_run(b, c, 1000, op, nullptr, operands.data(), outs.data());
    for (uint32_t i = 0; good && i < op->output_count; i++) {
      cvl_size n = b->length(c, &outs[i]);
      all.push_back(bytes(n.bound * elem_info(elem_of(op->kinds[op->outputs[i]]))->bytes));
      good = b->to_host(c, &outs[i], 0, n.bound, all.back().data());
    }
    if (b->check(c, true, &fault)) all.clear();
    for (const cvl_value &v : outs) {
      if (v.form == CVL_VECTOR) b->release(c, &v);
    }
    return all;
  }
};

/* Returns random bits of a type; for BOOL 0 and 1. Kernels compute numbers of elements, not
 * their values. */
static bytes stencils_noise(cvl_elem elem, int64_t n, uint64_t seed) {
  bytes x((size_t)n * elem_info(elem)->bytes);
  for (uint8_t &e : x) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    e = (uint8_t)(seed >> 40);
    if (elem == CVL_BOOL) e &= 1;
  }
  return x;
}

static void expect_element(const bytes &got, const bytes &source, size_t width, int64_t i,
                           int64_t at, const char *of) {
  cr_assert_eq(memcmp(&got[(size_t)i * width], &source[(size_t)at * width], width), 0,
               "%s: position %d of %d", of, (int)i, (int)(got.size() / width));
}

static const char *const kinds[] = {"INT", "FLOAT", "BOOL"};
static const widths wide = {CVL_I64, CVL_F64}, narrow = {CVL_I32, CVL_F32};

/* The orders in which a device executes its commands, checked. */
static const char *const devices[] = {"check", "check,order=reverse",
                                      "check,deferred,order=shuffled,seed=5"};

/* Expects that the plan has windows of all sources, in memory that is not too large. */
static void expect_windows(const session &s, uint32_t sources, uint32_t positions) {
  fused_source source{};
  cr_assert(fused_source_make(s.ops->ops[0], s.w, LEAVE_SPREADS, nullptr, "fused", &source));
  const fused_kernel &k = source.kernel;
  cr_assert_eq(k.windowed_count, sources, "%u", k.windowed_count);
  cr_assert_eq(k.block_positions, positions, "%u", k.block_positions);
  cr_assert_leq(k.block_bytes, 16384);
  cr_assert(strstr(source.text, ".read(") != nullptr);
  fused_source_free(&source);
}

/* ---- in one dimension ---- */

static void stencils_compare(session &s, const std::vector<boundary> &rules, int64_t radius,
                             int64_t n) {
  const superop *op = s.ops->ops[0];
  const uint32_t first = op->param_count - (uint32_t)rules.size();
  std::vector<cvl_value> operands = {cvl_one_segment((uint64_t)n), s.ints({n})};
  std::vector<bytes> sources;
  for (uint32_t p = first; p < op->param_count; p++) {
    sources.push_back(stencils_noise(s.elem_of(op->kinds[p]), n, (uint64_t)n * 100 + p));
    operands.push_back(s.upload(s.elem_of(op->kinds[p]), sources.back()));
  }
  cvl_error fault{};
  const std::vector<bytes> outs = s.run(operands, fault);
  cr_assert_eq(fault.kind, CVL_E_NONE, "n = %d: fault %d", (int)n, fault.kind);
  size_t output = 0;
  for (size_t k = 0; k < rules.size(); k++) {
    const size_t width = elem_info(s.elem_of(op->kinds[first + k]))->bytes;
    for (int64_t o = -radius; o <= radius; o++, output++) {
      cr_assert_eq(outs[output].size(), (size_t)n * width);
      for (int64_t i = 0; i < n; i++)
        expect_element(outs[output], sources[k], width, i, index_of(rules[k], i, o, n),
                       "stencil");
    }
  }
  s.release();
}

static void stencils_lengths(session &s, const std::vector<boundary> &rules, int64_t radius,
                             int64_t block) {
  for (const int64_t n : {0, 1, 2, 3, 4, 5, 9, 31, 255, 256, 257, 258}) {
    stencils_compare(s, rules, radius, n);
  }
  for (const int64_t n : {block - 1, block, block + 1, block + 33, 3 * block + 7})
    stencils_compare(s, rules, radius, n);
}

static std::vector<const char *> kinds_from(size_t first) {
  std::vector<const char *> of;
  for (size_t k = 0; k < all_rules.size(); k++) of.push_back(kinds[(first + k) % 3]);
  return of;
}

/* Each boundary has each type, in turn; one kernel has five sources. */
static void one_dimension(widths w, int64_t radius, uint32_t positions) {
  const std::string text = stencil_text(all_rules, kinds_from((size_t)radius), radius).text();
  for (const char *device : devices) {
    session s(device, w, text);
    expect_windows(s, 5, positions);
    stencils_lengths(s, all_rules, radius, positions);
  }
}

Test(stencils, radius_1) {
  one_dimension(wide, 1, 512);
}
Test(stencils, radius_2) {
  one_dimension(wide, 2, 512);
}
Test(stencils, radius_3) {
  one_dimension(wide, 3, 256); /* four of its sources have elements of 8 bytes */
}
Test(stencils, radius_4) {
  one_dimension(wide, 4, 512);
}
Test(stencils, radius_2_narrow) {
  one_dimension(narrow, 2, 1024);
}
Test(stencils, radius_3_narrow) {
  one_dimension(narrow, 3, 512);
}

/* ---- batches, and positions that are parameters ---- */

/* Each segment has its own boundary. */
static void compare_batch(session &s, int64_t count, int64_t length) {
  const bytes source = stencils_noise(CVL_I64, count * length, (uint64_t)length);
  const std::vector<int64_t> stencils_lengths((size_t)count, length);
  cvl_error fault{};
  const std::vector<bytes> outs = s.run(
      {s.segments(count, length), s.ints(stencils_lengths), s.upload(CVL_I64, source)}, fault);
  cr_assert_eq(outs.size(), 5, "fault %d", fault.kind);
  for (int64_t o = -2; o <= 2; o++) {
    for (int64_t i = 0; i < count * length; i++) {
      const int64_t start = i / length * length;
      expect_element(outs[(size_t)(o + 2)], source, 8, i,
                     start + index_of(WRAP, i - start, o, length), "batch");
    }
  }
  s.release();
}

Test(stencils, of_each_segment) {
  for (const char *device : devices) {
    session s(device, wide, stencil_text({WRAP}, {"INT"}, 2).text());
    expect_windows(s, 1, 1024);
    compare_batch(s, 30, 100);
    compare_batch(s, 700, 3);
    compare_batch(s, 3, 1024);
  }
}

/* The positions may be computed where they are read, or be any numbers. */
Test(stencils, of_positions_that_are_a_parameter) {
  const int64_t n = 2500;
  for (const char *device : devices) {
    session s(device, wide, stencil_text({CLAMP}, {"FLOAT"}, 2, true).text());
    expect_windows(s, 1, 1024);
    for (const bool spread : {true, false}) {
      std::vector<int64_t> at;
      for (int64_t i = 0; i < n; i++) at.push_back(spread ? i : (i * 7919) % n);
      const bytes source = stencils_noise(CVL_F64, n, 17);
      cvl_error fault{};
      const std::vector<bytes> outs =
          s.run({cvl_one_segment((uint64_t)n), s.ints({n}), spread ? s.counted(n) : s.ints(at),
                 s.upload(CVL_F64, source)},
                fault);
      cr_assert_eq(outs.size(), 5);
      for (int64_t o = -2; o <= 2; o++) {
        for (int64_t i = 0; i < n; i++)
          expect_element(outs[(size_t)(o + 2)], source, 8, i,
                         index_of(CLAMP, at[(size_t)i], o, n), "given");
      }
      s.release();
    }
  }
}

/* ---- in two dimensions ---- */

static void compare2(session &s, const std::vector<boundary> &rules, int64_t radius, int64_t h,
                     int64_t w) {
  const superop *op = s.ops->ops[0];
  const int64_t n = h * w;
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < h; i++) rows.push_back(i);
  std::vector<cvl_value> operands = {cvl_one_segment((uint64_t)n), s.segments(h, w),
                                     s.ints(rows), s.ints({h}), s.ints({w})};
  std::vector<bytes> sources;
  for (uint32_t p = 5; p < op->param_count; p++) {
    sources.push_back(stencils_noise(s.elem_of(op->kinds[p]), n, (uint64_t)n + p));
    operands.push_back(s.upload(s.elem_of(op->kinds[p]), sources.back()));
  }
  cvl_error fault{};
  const std::vector<bytes> outs = s.run(operands, fault);
  cr_assert_eq(fault.kind, CVL_E_NONE, "%d by %d: fault %d", (int)h, (int)w, fault.kind);
  size_t output = 0;
  for (size_t k = 0; k < rules.size(); k++) {
    const size_t width = elem_info(s.elem_of(op->kinds[5 + k]))->bytes;
    for (int64_t o = -radius; o <= radius; o++) {
      for (int64_t o2 = -radius; o2 <= radius; o2++, output++) {
        for (int64_t i = 0; i < n; i++)
          expect_element(outs[output], sources[k], width, i,
                         index_of(rules[k], i / w, o, h) * w + index_of(rules[k], i % w, o2, w),
                         "stencil2");
      }
    }
  }
  s.release();
}

static void two_dimensions(const std::vector<boundary> &rules,
                           const std::vector<const char *> &of, int64_t radius, widths w,
                           uint32_t positions) {
  static const int64_t shapes[][2] = {{0, 0},   {1, 1},   {1, 700}, {700, 1},  {3, 256},
                                      {5, 255}, {4, 257}, {40, 33}, {2, 1500}, {9, 512}};
  const std::string text = stencil2_text(rules, of, radius).text();
  for (const char *device : devices) {
    session s(device, w, text);
    expect_windows(s, (uint32_t)rules.size(), positions);
    for (const auto &shape : shapes) compare2(s, rules, radius, shape[0], shape[1]);
  }
}

Test(stencils, of_rows_clamp) {
  two_dimensions({CLAMP}, {"INT"}, 1, wide, 512);
}
Test(stencils, of_rows_wrap_and_mirror) {
  two_dimensions({WRAP, MIRROR}, {"BOOL", "FLOAT"}, 1, wide, 512);
}
Test(stencils, of_rows_symmetric_narrow) {
  two_dimensions({SYMMETRIC, REMAINDER}, {"INT", "BOOL"}, 1, narrow, 1024);
}
Test(stencils, of_rows_radius_2) {
  two_dimensions({CLAMP}, {"FLOAT"}, 2, wide, 256);
}
/* Nine rows are read, seven of which have a window. */
Test(stencils, of_rows_radius_4) {
  two_dimensions({WRAP}, {"INT"}, 4, wide, 256);
}

/* ---- faults ---- */

/* Expects the fault of the nodes one by one: `node`, position, value, limit. */
static void stencils_expect_fault(const std::string &text, const std::vector<int64_t> &far,
                                  int64_t n, uint32_t node, int64_t position, int64_t value) {
  for (const char *device : devices) {
    for (const bool kernels : {true, false}) {
      session s(device, wide, text, kernels);
      if (kernels) expect_windows(s, 1, 1024);
      cvl_error fault{};
      const std::vector<bytes> outs = s.run(
          {cvl_one_segment((uint64_t)n), s.ints({n}), s.ints(far), cvl_one_segment(far.size())},
          fault);
      cr_assert_eq(fault.kind, CVL_E_INDEX, "%d", fault.kind);
      cr_assert_eq(fault.site, 1000 + node, "node %d", (int)fault.site - 1000);
      cr_assert_eq(fault.position, position, "position %d", (int)fault.position);
      cr_assert_eq(fault.value, value, "value %d", (int)fault.value);
      cr_assert_eq(fault.limit, (int64_t)far.size());
    }
  }
}

/* Returns gathers with these offsets, of a source whose length may differ from the domain's. */
static definition offsets_text(const std::vector<int64_t> &offsets) {
  definition t;
  const std::string d = t.param("SEGDES"), n = t.param("INT"), source = t.param("INT");
  const std::string far = t.param("SEGDES");
  for (const int64_t o : offsets)
    t.output(t.value("BPERMUTE INT @ " + source + " (INDEX @ (CONST INT " + std::to_string(o) +
                     ") (CONST INT 1) " + d + ") " + far + " " + d));
  return t;
}

/* Returns the node of the k-th gather. */
static uint32_t gather_of(const std::string &text, uint32_t k) {
  superops *ops = superops_load(text.c_str());
  uint32_t node = 0;
  for (;; node++) {
    if (ops->ops[0]->nodes[node].role == ROLE_GATHER && k-- == 0) break;
  }
  superops_free(ops);
  return node;
}

Test(stencils, faults_are_those_of_the_nodes) {
  const std::string text = offsets_text({0, -1, 1, 2}).text();
  const std::vector<int64_t> source(3000, 5);
  stencils_expect_fault(text, source, 3000, gather_of(text, 1), 0,
                        -1); /* not of those behind the end */
  const std::string forward = offsets_text({0, 1, 2, 7}).text();
  stencils_expect_fault(forward, source, 3000, gather_of(forward, 1), 2999, 3000);
  stencils_expect_fault(forward, source, 3200, gather_of(forward, 0), 3000, 3000);
  stencils_expect_fault(forward, source, 2998, gather_of(forward, 3), 2993, 3000);
  stencils_expect_fault(forward, {}, 700, gather_of(forward, 0), 0, 0);
}

/* If a flag is F, nothing is read, and the result is zero. */
Test(stencils, flags) {
  definition t;
  const std::string d = t.param("SEGDES"), count = t.param("INT"), source = t.param("INT");
  const axis x = {t.value("INDEX @ (CONST INT 0) (CONST INT 1) " + d),
                  t.value("DIST INT @ " + count + " " + d), d};
  for (int64_t o = -2; o <= 2; o++) {
    const std::string p = x.index(t, NOTHING, o);
    const std::string inside = t.value("AND BOOL @ (>= INT @ " + p + " " + t.number(0, d) +
                                       ") (< INT @ " + p + " " + x.n + ")");
    t.output(t.value("BFPERMUTE INT @ " + source + " " + p + " " + inside + " " + d + " " + d));
  }
  for (const char *device : devices) {
    session s(device, wide, t.text());
    expect_windows(s, 1, 1024);
    const int64_t n = 1500;
    bytes zeros(8), of = stencils_noise(CVL_I64, n, 3);
    cvl_error fault{};
    const std::vector<bytes> outs =
        s.run({cvl_one_segment((uint64_t)n), s.ints({n}), s.upload(CVL_I64, of)}, fault);
    cr_assert_eq(outs.size(), 5, "fault %d", fault.kind);
    for (int64_t o = -2; o <= 2; o++) {
      for (int64_t i = 0; i < n; i++) {
        const bool outside = i + o < 0 || i + o >= n;
        expect_element(outs[(size_t)(o + 2)], outside ? zeros : of, 8, i, outside ? 0 : i + o,
                       "flags");
      }
    }
  }
}
