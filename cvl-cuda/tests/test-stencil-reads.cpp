/* test-stencil-reads.cpp - which superoperators keep windows of what they gather from, and how
 * many elements their kernels read from memory and from that of a block. */
#include <criterion/criterion.h>

#include "cvl-cuda/tests/generated.hpp"

#include "cvl-cuda/emulation/watching.hpp"
#include "cvl-cuda/launch.hpp"
#include "cvl-cuda/tests/stencils.hpp"

using namespace ravel;

typedef std::vector<uint8_t> bytes;

/* ---- superoperators without windows ---- */

static uint32_t windowed(const char *text, uint32_t *groups = nullptr,
                         const struct tuning *values = nullptr) {
  const generated k(text, values);
  if (groups) *groups = k.source.kernel.group_count;
  return k.source.kernel.windowed_count;
}

#define AT(offset) "(INDEX @ (CONST INT " #offset ") (CONST INT 1) $0)"
#define READ(at)   "(BPERMUTE INT @ $1 " at " $0 $0)"

Test(stencil_reads, chosen_where_three_are_near) {
  const std::string params = "fused OP0#1 ($0 : SEGDES, $1 : INT, $2 : INT) =\n";
  const std::string two = READ(AT(0)) " " READ(AT(1));
  uint32_t groups = 0;
  cr_assert_eq(windowed((params + "  (+ INT @ " + two + ")\n").c_str()), 0);
  const std::string three = "(+ INT @ (+ INT @ " + two + ") " READ(AT(2)) ")";
  cr_assert_eq(windowed((params + "  " + three + "\n").c_str(), &groups), 1);
  cr_assert_eq(groups, 1);
  struct tuning none {};
  none.value[TUNE_CUDA_STENCIL_BYTES] = 1;
  cr_assert_eq(windowed((params + "  " + three + "\n").c_str(), nullptr, &none), 0);
  const std::string far = "(+ INT @ (+ INT @ " + two + ") " READ(AT(20)) ")";
  cr_assert_eq(windowed((params + "  " + far + "\n").c_str(), &groups), 1);
  cr_assert_eq(groups, 2, "what is too far is a group of its own");
  /* These gather by every second position, and by data. */
  const std::string steps =
      "(+ INT @ (+ INT @ " READ("(INDEX @ (CONST INT 0) (CONST INT 2) $0)") " " READ(
          "(INDEX @ (CONST INT 1) (CONST INT 2) $0)") ") " READ("(INDEX @ (CONST INT 2) (CONST "
                                                                "INT 2) $0)") ")";
  cr_assert_eq(windowed((params + "  " + steps + "\n").c_str()), 0);
  const std::string one = "(DIST INT @ (CONST INT 1) $0)";
  const std::string data = "  $3 = (* INT @ $2 $2)\n  (+ INT @ (+ INT @ " READ("$3") " " READ(
      "(+ INT @ $3 " + one + ")") ") " READ("(- INT @ $3 " + one + ")") ")\n";
  cr_assert_eq(windowed((params + data).c_str()), 0);
  cr_assert_eq(windowed((params + "  (+_REDUCE INT @ " + three + " $0)\n").c_str()), 0);
}

/* ---- reads of memory ---- */

/* The elements of its source that a kernel reads, in memory and in the memory of a block. */
static const char *counted_from;
static size_t counted_bytes;
static uint64_t from_memory, from_block;

static bool stencil_reads_count_read(const void *p, size_t width, size_t,
                                     emulation::shared_cell *shared) {
  if (!shared && (size_t)((const char *)p - counted_from) < counted_bytes) from_memory++;
  if (shared && width == sizeof(double)) from_block++;
  return true;
}
static bool allow(const void *, size_t, size_t, emulation::shared_cell *) {
  return true;
}
static bool allow_atomic(const void *, size_t, size_t) {
  return true;
}
static bool allow_index(int64_t i, int64_t n) {
  cr_assert(i >= 0 && i < n, "element %d of %d of a block's memory", (int)i, (int)n);
  return true;
}
static int64_t allow_thread(int64_t named) {
  return named;
}
static void ignore_different(int64_t, int64_t, int64_t) {}
static void ignore(int64_t) {}
static void ignore_phase() {}

static std::unique_ptr<toolchain> stencil_reads_counting() {
  static const emulation::watcher table = {
      stencil_reads_count_read, allow,  allow_atomic, allow_index, allow_thread,
      ignore_different,         ignore, ignore,       ignore_phase};
  companion c = watching();
  c.argument = &table;
  return host_toolchain("", c);
}

struct arguments_of {
  std::vector<std::vector<double>> results;
  bytes all;
  template <class T> void add(const T &x) {
    const uint8_t *p = (const uint8_t *)&x;
    all.insert(all.end(), p, p + sizeof x);
  }
  void add_one_segment(int64_t n) {
    segments d{};
    d.count = 1;
    d.total = d.equal = n;
    add(d);
  }
  void add_number(int64_t x) {
    operand<int64_t> o{};
    o.kind = ALL_EQUAL;
    o.first = x;
    add(o);
  }
};

/* Runs the kernel of a text whose outputs are FLOAT, each with n elements. */
static void count_reads(const std::string &text, arguments_of &a, int64_t n,
                        const std::vector<double> &source) {
  const generated k(text.c_str());
  const built b(stencil_reads_counting(), k.text);
  const int64_t each = k.source.kernel.block_positions;
  cr_assert_gt(each, 0);
  a.results.assign(k.ops->ops[0]->output_count, std::vector<double>((size_t)n));
  for (std::vector<double> &r : a.results) a.add(r.data());
  fault_slot slot{};
  a.add(faults{&slot, 0});
  a.add(n);
  counted_from = (const char *)source.data();
  counted_bytes = source.size() * sizeof(double);
  from_memory = from_block = 0;
  const order forward{1, 0};
  b.entry.on_host(a.all.data(), (n + each - 1) / each, &forward);
  cr_assert_eq(slot.kind, 0);
}

static operand<double> stencil_reads_in_memory(const std::vector<double> &x) {
  operand<double> o{};
  o.data = pointer_to<const double>((void *)x.data());
  return o;
}

static std::vector<double> ramp(int64_t n) {
  std::vector<double> x;
  for (int64_t i = 0; i < n; i++) x.push_back((double)i);
  return x;
}

/* With radius 7 there are 15 reads at each position by gathers, of which 1056 / 1024 are of
 * memory, and a few at the boundary. The last window ends with the source, and the first begins
 * before it. */
Test(stencil_reads, each_element_is_read_once_for_a_block) {
  const int64_t n = 100 * 1024;
  const std::vector<double> source = ramp(n);
  for (const boundary b : all_rules) {
    arguments_of a;
    a.add_one_segment(n);
    a.add_number(n);
    a.add(stencil_reads_in_memory(source));
    count_reads(stencil_text({b}, {"FLOAT"}, 7).text(), a, n, source);
    cr_expect_geq(from_memory, 100 * 1056 - 40, "%d: %d", b, (int)from_memory);
    cr_expect_leq(from_memory, 100 * 1056 + 60, "%d: %d", b, (int)from_memory);
    cr_expect_geq(from_block, (uint64_t)(15 * n - 100), "%d: %d", b, (int)from_block);
    cr_expect_eq(a.results[14][5], 12.0);
  }
}

/* Only the kernel knows the offsets, as for the slopes of Canny. There are eight reads in three
 * windows. Eight that are far from each other are read directly. */
static void offsets_at_run_time(const std::vector<int64_t> &offsets, uint64_t least,
                                uint64_t most) {
  const int64_t n = 64 * 512;
  definition t;
  const std::string d = t.param("SEGDES"), far = t.param("SEGDES");
  std::vector<std::string> starts;
  for (size_t k = 0; k < offsets.size(); k++) starts.push_back(t.param("INT"));
  const std::string of = t.param("FLOAT");
  for (const std::string &start : starts)
    t.output(t.value("BPERMUTE FLOAT @ " + of + " (INDEX @ " + start + " (CONST INT 1) " + d +
                     ") " + far + " " + d));
  const std::vector<double> source = ramp(n + 40000);
  arguments_of a;
  a.add_one_segment(n);
  a.add_one_segment((int64_t)source.size());
  for (const int64_t o : offsets) a.add_number(o);
  a.add(stencil_reads_in_memory(source));
  count_reads(t.text(), a, n, source);
  cr_expect(from_memory >= least && from_memory <= most, "%d reads", (int)from_memory);
  for (size_t k = 0; k < offsets.size(); k++) {
    for (int64_t i = 0; i < n; i++)
      cr_assert_eq(a.results[k][(size_t)i], (double)(i + offsets[k]));
  }
}

Test(stencil_reads, windows_are_found_where_only_the_kernel_knows_offsets) {
  const uint64_t block = 64, span = 544, n = 64 * 512;
  offsets_at_run_time({0, 2, 2000, 2002, 1000, 1002, 2001, 1}, 3 * block * span - 20,
                      3 * block * span);
  offsets_at_run_time({0, 3000, 6000, 9000, 12000, 15000, 18000, 21000}, 8 * n, 8 * n);
  /* Two of them share a window. */
  offsets_at_run_time({0, 3000, 6000, 6001, 12000, 12001, 18000, 21000},
                      4 * n + 2 * block * span, 4 * n + 2 * block * span);
}

/* There are nine reads at each position of rows of 1000: three windows, and some more
 * elements. */
Test(stencil_reads, a_window_for_each_row) {
  const int64_t h = 64, w = 1000, n = h * w;
  const std::vector<double> source = ramp(n);
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < h; i++) rows.push_back(i);
  segments of_rows{};
  of_rows.count = h;
  of_rows.total = n;
  of_rows.equal = w;
  operand<int64_t> row{};
  row.data = pointer_to<const int64_t>(rows.data());
  arguments_of a;
  a.add_one_segment(n);
  a.add(of_rows);
  a.add(row);
  a.add_number(h);
  a.add_number(w);
  a.add(stencil_reads_in_memory(source));
  count_reads(stencil2_text({CLAMP}, {"FLOAT"}, 1).text(), a, n, source);
  cr_expect_leq((double)from_memory / (double)n, 3.25, "%.3f", (double)from_memory / (double)n);
  cr_expect_geq((double)from_memory / (double)n, 3.0);
}
