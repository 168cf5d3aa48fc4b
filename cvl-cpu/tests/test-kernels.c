/* test-kernels.c - all instruction sets give the same bits, at any length. */
#include <criterion/criterion.h>
#include <math.h>

#include "cvl-cpu/kernels/map.h"
#include "cvl-cpu/kernels/move.h"
#include "cvl-cpu/kernels/random.h"
#include "cvl-cpu/operations/scan-ranges.h"

enum { MOST = 300 };

static uint64_t kernels_next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 16 ^ *state << 23;
}

/* Writes elements of every kind: small, large and special ones; flags are 0 and 1. */
static void kernels_fill(enum cvl_elem e, uint64_t *state, void *to) {
  static const double special[] = {0.0, -0.0, 0.5, -0.5, 1e300, -1e300, 1e-310, INFINITY};
  for (int i = 0; i < MOST; i++) {
    const uint64_t r = kernels_next_random(state);
    const double real = r % 5 ? ldexp((double)(int64_t)r, -(int)(r % 61) - 30) : special[r % 8];
    switch (e) {
    case CVL_I32: ((int32_t *)to)[i] = r % 7 ? (int32_t)(r >> 20) : 1 + (int)(r % 3); break;
    case CVL_I64: ((int64_t *)to)[i] = r % 7 ? (int64_t)r : 1 + (int64_t)(r % 3); break;
    case CVL_F32: ((float *)to)[i] = (float)real; break;
    case CVL_F64: ((double *)to)[i] = real; break;
    default: ((uint8_t *)to)[i] = r & 1; break;
    }
  }
}

static enum cvl_elem kernels_elem_of(enum elem_class class, int wide_int, int wide_float) {
  return class == CLASS_BOOL  ? CVL_BOOL
         : class == CLASS_INT ? (wide_int ? CVL_I64 : CVL_I32)
                              : (wide_float ? CVL_F64 : CVL_F32);
}

/* Compares a row in a better set with the plainest. Lengths are around those of vectors, and
 * each element falls into a body here and into a tail there. */
static void compare_row(const struct map_entry *plain, const struct map_entry *better,
                        unsigned arity, enum cvl_elem elem, const char *name) {
  uint64_t state = 1;
  static uint64_t a[MOST], c[MOST], f[MOST];
  kernels_fill(elem, &state, a);
  kernels_fill(elem, &state, c);
  kernels_fill(CVL_BOOL, &state, f);
  const size_t bytes = elem_info(elem)->bytes, out_bytes = elem_info(plain->out)->bytes;
  for (uint64_t first = 0; first < 3; first++) {
    for (uint64_t n = 0; n < MOST - first; n += n < 70 ? 1 : 37) {
      const char *x = (const char *)a + first * bytes, *y = (const char *)c + first * bytes;
      const void *in[3] = {x, y, NULL};
      if (arity == 3) in[0] = (const char *)f + first, in[1] = x, in[2] = y;
      static uint64_t r[MOST], s[MOST];
      memset(r, 0, sizeof r);
      memset(s, 0, sizeof s);
      cr_assert_eq(plain->run(n, in, r), better->run(n, in, s), "%s, n = %d", name, (int)n);
      cr_assert_eq(memcmp(r, s, n * out_bytes), 0, "%s, n = %d", name, (int)n);
    }
  }
}

Test(kernels, sets_agree_on_every_row) {
  const struct cpu_kernels *plain = cpu_kernels_numbered(0), *better;
  cr_assert_not_null(plain);
  size_t rows;
  const struct map_row *row = map_rows(&rows);
  for (unsigned set = 1; (better = cpu_kernels_numbered(set)) != NULL; set++) {
    for (int widths = 0; widths < 4; widths++) {
      const int i = widths >> 1, f = widths & 1;
      for (size_t k = 0; k < rows; k++) {
        const struct map_entry *p = &plain->map->widths[i][f].row[row[k].op][row[k].in];
        const struct map_entry *q = &better->map->widths[i][f].row[row[k].op][row[k].in];
        cr_assert_not_null(p->run);
        cr_assert_eq(p->out, q->out);
        compare_row(p, q, op_info(row[k].op)->arity, kernels_elem_of(row[k].in, i, f),
                    op_info(row[k].op)->name);
      }
    }
  }
}

Test(kernels, sets_agree_on_packing) {
  const struct move_kernels *plain = cpu_kernels_numbered(0)->move;
  const struct cpu_kernels *better;
  uint64_t state = 2;
  static uint64_t v[MOST];
  static uint8_t flags[MOST];
  for (int i = 0; i < MOST; i++) {
    v[i] = kernels_next_random(&state);
    flags[i] = v[i] >> 7 & 1;
  }
  for (unsigned set = 1; (better = cpu_kernels_numbered(set)) != NULL; set++) {
    for (uint64_t n = 0; n < MOST; n++) {
      uint64_t m[5], k[5];
      plain->masks(n, flags, m);
      better->move->masks(n, flags, k);
      cr_assert_eq(memcmp(m, k, (n + 63) / 64 * 8), 0);
      const uint64_t kept = plain->count(n, flags);
      cr_assert_eq(better->move->count(n, flags), kept);
      for (int width = 0; width < 4; width++) {
        if (width == 1) continue;
        static uint64_t r[MOST + 8], s[MOST + 8];
        cr_assert_eq(plain->width[width].compress(n, v, m, r), kept);
        cr_assert_eq(better->move->width[width].compress(n, v, m, s), kept);
        cr_assert_eq(memcmp(r, s, kept << width), 0);
      }
    }
  }
}

/* The reference values of Philox 4x32-10: key 0 and counter 0 give 6627e8d5 e169c58d ...; all
 * ones give 408f276d 41c83b0e. A bound of a quarter of the range leaves the value over 4. */
/* ---- scans of INT, element after element ---- */

enum { SCANNED = 20 * SCAN_WINDOW + 5, SCAN_CUT = 7 * SCAN_WINDOW };

static int64_t combine_ints(enum cvl_op op, int64_t x, int64_t y) {
  switch (op) {
  case OP_ADD: return (int64_t)((uint64_t)x + (uint64_t)y);
  case OP_MUL: return (int64_t)((uint64_t)x * (uint64_t)y);
  case OP_MAX: return x > y ? x : y;
  case OP_MIN: return x < y ? x : y;
  case OP_AND: return x & y;
  case OP_OR: return x | y;
  default: return x ^ y;
  }
}

static int64_t first_of_scan(enum cvl_op op, bool wide) {
  const int64_t least = wide ? INT64_MIN : INT32_MIN;
  return op == OP_MUL   ? 1
         : op == OP_MAX ? least
         : op == OP_MIN ? -(least + 1)
         : op == OP_AND ? -1
                        : 0;
}

static int64_t kernels_int_at(const void *v, uint64_t i, bool wide) {
  return wide ? ((const int64_t *)v)[i] : ((const int32_t *)v)[i];
}

/* Scans in one call, and in two ranges, the second of which is scanned over its operand. */
static void check_int_scan(const struct scan_row *row, enum cvl_op op, bool wide,
                           scan_put *put) {
  static int64_t x[SCANNED + VECTOR_SLACK], one[SCANNED], ranges[SCANNED];
  const size_t bytes = wide ? sizeof(int64_t) : sizeof(int32_t);
  uint64_t state = (uint64_t)op;
  for (uint64_t i = 0; i < SCANNED; i++) {
    const int64_t r = (int64_t)(kernels_next_random(&state) | (op == OP_MUL));
    if (wide)
      x[i] = r;
    else
      ((int32_t *)(void *)x)[i] = (int32_t)r;
  }
  for (uint64_t n = SCAN_WINDOW + 1; n <= SCANNED; n += n < SCAN_CUT ? 77 : 1001) {
    const uint64_t offsets[] = {0, n};
    row->segments(x, offsets, 1, one, put);
    int64_t before = first_of_scan(op, wide);
    for (uint64_t i = 0; i < n; i++) {
      cr_assert_eq(kernels_int_at(one, i, wide), before, "%s at %d", op_info(op)->name, (int)i);
      before = combine_ints(op, before, kernels_int_at(x, i, wide));
      if (!wide) before = (int32_t)before;
    }
    const uint64_t cut = n > SCAN_CUT ? SCAN_CUT : SCAN_WINDOW;
    struct scan_state state_of_ranges;
    int64_t totals[SCANNED / SCAN_WINDOW + 1];
    struct segment_range p = {.begin = 0, .end = cut, .from_start = true};
    memcpy(ranges, x, n * bytes);
    for (int k = 0; k < 2; k++, p = (struct segment_range){.begin = cut, .end = n}) {
      char *at = (char *)ranges + p.begin * bytes;
      scan_range_totals(row, bytes, &p, at, (char *)totals);
      scan_range_advance(row, &p, &state_of_ranges, (char *)totals);
      scan_range_write(row, bytes, &p, at, (char *)totals, (char *)ranges, put);
    }
    cr_assert_eq(memcmp(one, ranges, n * bytes), 0, "%s of %d", op_info(op)->name, (int)n);
  }
}

Test(kernels, ints_are_scanned_alike_in_one_call_and_in_ranges) {
  static const enum cvl_op ops[] = {OP_ADD, OP_MUL, OP_MAX, OP_MIN, OP_AND, OP_OR, OP_XOR};
  const struct cpu_kernels *k;
  for (unsigned set = 0; (k = cpu_kernels_numbered(set)) != NULL; set++) {
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
      check_int_scan(&k->scan->row[CVL_I32][ops[i]], ops[i], false, put_in_caches);
      check_int_scan(&k->scan->row[CVL_I64][ops[i]], ops[i], true, k->move->stream);
    }
  }
}

/* Compares short segments, several to a strip, and long ones. */
static void compare_float_scans(const struct cpu_kernels *plain,
                                const struct cpu_kernels *better, enum cvl_op op,
                                enum cvl_elem e) {
  static const uint64_t offsets[] = {0, 1, 1, 8, 17, 300, 301, 2700, 2733, SCANNED};
  enum { COUNT = sizeof offsets / sizeof offsets[0] - 1 };
  static double x[SCANNED + VECTOR_SLACK], p[SCANNED], q[SCANNED];
  uint64_t state = 7;
  for (uint64_t i = 0; i < SCANNED; i += MOST) {
    uint64_t some[MOST];
    kernels_fill(e, &state, some);
    const size_t bytes = elem_info(e)->bytes;
    memcpy((char *)x + i * bytes, some, (SCANNED - i < MOST ? SCANNED - i : MOST) * bytes);
  }
  plain->scan->row[e][op].segments(x, offsets, COUNT, p, put_in_caches);
  better->scan->row[e][op].segments(x, offsets, COUNT, q, put_in_caches);
  cr_assert_eq(memcmp(p, q, SCANNED * elem_info(e)->bytes), 0, "%s", op_info(op)->name);
}

Test(kernels, sets_agree_on_scans_of_float) {
  static const enum cvl_op ops[] = {OP_ADD, OP_MUL, OP_MAX, OP_MIN};
  const struct cpu_kernels *better;
  for (unsigned set = 1; (better = cpu_kernels_numbered(set)) != NULL; set++) {
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
      compare_float_scans(cpu_kernels_numbered(0), better, ops[i], CVL_F32);
      compare_float_scans(cpu_kernels_numbered(0), better, ops[i], CVL_F64);
    }
  }
}

Test(kernels, philox_gives_its_reference_values) {
  for (unsigned set = 0; cpu_kernels_numbered(set); set++) {
    const struct random_kernels *k = cpu_kernels_numbered(set)->random;
    const int64_t bound = INT64_C(1) << 62;
    int64_t x;
    k->ints[1](0, 0, 0, 1, &bound, &x);
    cr_assert_eq(x, INT64_C(0xe169c58d6627e8d5 >> 2));
    k->ints[1](UINT64_MAX, UINT64_MAX, UINT64_MAX, 1, &bound, &x);
    cr_assert_eq(x, INT64_C(0x41c83b0e408f276d >> 2));
    const int32_t narrow = 1 << 30;
    int32_t y;
    k->ints[0](0, 0, 0, 1, &narrow, &y);
    cr_assert_eq(y, 0x6627e8d5 >> 2);
  }
}
