/* test-scan-tiles.c - a scan that is cut into tiles (tiles.h, scan_totals and scan_tiles). Any
 * range of tiles must give what the scan of the whole segment gives there. The prefix before a
 * tile is the element of the whole scan at its first position, since positions that begin a
 * window get the prefix of all earlier windows as it is. */
#include <criterion/criterion.h>
#include <string.h>

#include "cvl-cpu/cvl-cpu.h"
#include "cvl/tiles.h"

enum { TILES = 300, N = TILES * CVL_SCAN_TILE + 77 };

static const struct cvl_backend *const b = &cvl_cpu_backend;
static double elements[N], whole[N], before[TILES + 1], range[N];

static struct cvl_context *open_threads(unsigned threads) {
  const char *why = NULL;
  const struct cvl_options o = {.int_elem = CVL_I64, .float_elem = CVL_F64, .threads = threads};
  struct cvl_context *c = b->open(&o, &why);
  cr_assert(c, "%s", why);
  return c;
}

static struct cvl_value scan_tiles_from(struct cvl_context *c, uint64_t n, const double *data) {
  struct cvl_value v;
  cr_assert(b->from_host(c, 1, CVL_F64, n, data, &v));
  return v;
}

/* Reads a result and releases it. */
static void read_result(struct cvl_context *c, uint64_t n, struct cvl_value v, double *to) {
  cr_assert_eq(b->length(c, &v).bound, n);
  if (n > 0) cr_assert(b->to_host(c, &v, 0, n, to));
  b->release(c, &v);
}

static void scan_whole(struct cvl_context *c, enum cvl_op op, const double *data, uint64_t n,
                       double *to) {
  const struct cvl_value v = scan_tiles_from(c, n, data), d = cvl_one_segment(n);
  struct cvl_value out;
  cr_assert(b->apply(c, 1, &CVL_CALL(CALL_SCAN, op, v, d), &out));
  read_result(c, n, out, to);
  b->release(c, &v);
}

static void scan_tiles_fill_elements(enum cvl_op op) {
  uint64_t random = 88172645463325252; /* xorshift (Marsaglia) */
  for (int i = 0; i < N; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    const double x = (double)(random >> 40) / (1 << 24);
    elements[i] = op == OP_MUL ? 1 + (x - 0.5) / 100 : x - 0.5;
  }
}

/* Checks the scan of tiles first .. of all, the last one short, given the prefix before
 * each. */
static void check_from(struct cvl_context *c, enum cvl_op op, uint64_t first) {
  const uint64_t from_element = first * CVL_SCAN_TILE, n = N - from_element;
  const struct cvl_value v = scan_tiles_from(c, n, elements + from_element),
                         above = scan_tiles_from(c, TILES + 1 - first, before + first);
  struct cvl_value out;
  cr_assert(b->tiles->scan_tiles(c, 1, op, first == 0, &v, &above, &out));
  read_result(c, n, out, range);
  cr_expect(memcmp(range, whole + from_element, n * sizeof *range) == 0, "from tile %d",
            (int)first);
  b->release(c, &v);
  b->release(c, &above);
}

static void scan_tiles_check_operation(enum cvl_op op, unsigned threads) {
  struct cvl_context *c = open_threads(threads);
  scan_tiles_fill_elements(op);
  scan_whole(c, op, elements, N, whole);
  for (int k = 0; k <= TILES; k++) before[k] = whole[k * CVL_SCAN_TILE];
  before[0] = op == OP_MUL ? 1.0 : -0.0;
  check_from(c, op, 0);
  check_from(c, op, 1);
  check_from(c, op, 45);
  check_from(c, op, TILES);
  b->close(c);
}

Test(scan_tiles, sums_and_products_are_those_of_the_whole_segment) {
  scan_tiles_check_operation(OP_ADD, 1);
  scan_tiles_check_operation(OP_ADD, 3);
  scan_tiles_check_operation(OP_MUL, 3);
}

/* The total of a tile is the element that follows it in a scan that begins with it. */
Test(scan_tiles, totals_are_those_that_the_levels_above_see) {
  struct cvl_context *c = open_threads(3);
  static double totals[TILES];
  scan_tiles_fill_elements(OP_ADD);
  const struct cvl_value v = scan_tiles_from(c, N, elements);
  struct cvl_value out;
  cr_assert(b->tiles->scan_totals(c, 1, OP_ADD, &v, &out));
  read_result(c, TILES, out, totals);
  for (int k = 0; k < TILES; k++) {
    scan_whole(c, OP_ADD, elements + k * CVL_SCAN_TILE, CVL_SCAN_TILE + 1, range);
    cr_expect(memcmp(&range[CVL_SCAN_TILE], &totals[k], sizeof *totals) == 0, "tile %d", k);
  }
  b->release(c, &v);
  b->close(c);
}
