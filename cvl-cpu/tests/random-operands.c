/* random-operands.c - the operands of random-superop.h. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/cvl-cpu.h"
#include "cvl-cpu/tests/random-superop.h"

static const struct cvl_backend *const cpu = &cvl_cpu_backend;

/* Makes segment lengths that add up to n. */
static uint64_t random_lengths(struct random *r, uint64_t n, int64_t *lengths) {
  if (n == 0) return below(r, 2) ? 0 : (lengths[0] = 0, 1);
  uint64_t count = 0, left = n;
  const uint64_t shape = r->long_sums ? 7 : below(r, 7);
  uint64_t size = shape == 1 ? 1 : shape == 2 ? 1 + below(r, 9) : 1 + below(r, 40);
  while (left > 0 || (count < n && below(r, 9) == 0)) {
    uint64_t here = size;
    if (shape == 0) here = left;
    if (shape == 3) here = below(r, 12);
    if (shape == 4) here = below(r, 4) ? below(r, 20) : below(r, 3000);
    if (shape == 5) here = count == 3 ? n : below(r, 9);
    if (shape == 6) here = 100 + below(r, 900);
    if (shape == 7) here = below(r, 4) ? 1025 + below(r, 20000) : below(r, 40);
    if (here > left || count + 1 >= n) here = left;
    lengths[count++] = (int64_t)here;
    left -= here;
  }
  return count;
}

struct cvl_value segdes(struct cvl_context *c, uint64_t count, const int64_t *lengths) {
  struct cvl_value d;
  cr_assert(cpu->segdes_from_host(c, 0, count, lengths, &d));
  return d;
}

struct cvl_value ints(struct cvl_context *c, uint64_t n, const int64_t *x) {
  const bool wide = c->int_elem == CVL_I64;
  int32_t *narrow = malloc(n * sizeof *narrow + 1);
  for (uint64_t i = 0; i < n; i++) narrow[i] = (int32_t)x[i];
  struct cvl_value v;
  cr_assert(cpu->from_host(c, 0, c->int_elem, n, wide ? (const void *)x : narrow, &v));
  free(narrow);
  return v;
}

struct cvl_value floats(struct random *r, struct cvl_context *c, uint64_t n) {
  const bool wide = c->float_elem == CVL_F64;
  double *x = malloc(n * sizeof *x + 1);
  float *narrow = malloc(n * sizeof *narrow + 1);
  for (uint64_t i = 0; i < n; i++) {
    x[i] = (double)(int64_t)draw(r) * 0x1p-60;
    narrow[i] = (float)x[i];
  }
  struct cvl_value v;
  cr_assert(cpu->from_host(c, 0, c->float_elem, n, wide ? (const void *)x : narrow, &v));
  free(x);
  free(narrow);
  return v;
}

struct cvl_value flags(struct random *r, struct cvl_context *c, uint64_t n) {
  uint8_t *x = malloc(n + 1);
  const uint64_t rare = 1 + below(r, 4);
  for (uint64_t i = 0; i < n; i++) x[i] = below(r, 2 * rare) == 0;
  struct cvl_value v;
  cr_assert(cpu->from_host(c, 0, CVL_BOOL, n, x, &v));
  free(x);
  return v;
}

/* Makes runs that fit the segments of the source, forwards or backwards. Rarely, one does not
 * fit. */
static void random_operands_make_runs(struct random *r, struct cvl_context *c, uint64_t count,
                                      const int64_t *lengths, const int64_t *source,
                                      struct cvl_value *p) {
  int64_t *start = malloc(count * sizeof *start + 1),
          *stride = malloc(count * sizeof *start + 1);
  const bool faulty = below(r, 4) == 0;
  for (uint64_t k = 0; k < count; k++) {
    const int64_t steps = lengths[k] - 1, last = source[k] - 1;
    const int64_t most = steps > 0 ? last / steps : 1 << 20;
    stride[k] = (int64_t)below(r, (uint64_t)most + 1);
    const int64_t reach = steps > 0 ? stride[k] * steps : 0;
    start[k] = last > reach ? (int64_t)below(r, (uint64_t)(last - reach) + 1) : 0;
    if (below(r, 3) == 0) {
      start[k] += reach;
      stride[k] = -stride[k];
    }
    if (faulty && below(r, count) == 0)
      *(below(r, 2) ? start : stride) += random_bound(r, 1 << 20);
  }
  p[P_RUN_START] = ints(c, count, start);
  p[P_RUN_STRIDE] = ints(c, count, stride);
  free(start);
  free(stride);
}

void random_operands(struct random *r, struct cvl_context *c, uint64_t n, struct cvl_value *p) {
  int64_t *x = malloc((2 * n + 8) * sizeof *x), *lengths = malloc((2 * n + 8) * sizeof *x);
  int64_t *source = malloc((2 * n + 8) * sizeof *x);
  const uint64_t count = random_lengths(r, n, lengths);
  p[P_MAIN] = count == 1 && below(r, 2) ? cvl_one_segment(n) : segdes(c, count, lengths);
  p[P_WHOLE] = cvl_one_segment(n);
  const uint64_t others = random_lengths(r, n, source);
  p[P_OTHER] = segdes(c, others, source);
  p[P_OTHER_FLOAT] = floats(r, c, others);
  uint64_t m = 0;
  const bool same = below(r, 2), sparse = below(r, 4) == 0;
  for (uint64_t k = 0; k < count; k++) {
    source[k] = same ? lengths[k] : lengths[k] + (int64_t)below(r, 3);
    if (!same && source[k] > 2 && below(r, 4) == 0) source[k] /= 2;
    if (sparse) source[k] *= 1 + (int64_t)below(r, 4);
    if (source[k] == 0 && lengths[k]) source[k] = 1;
    m += (uint64_t)source[k];
  }
  p[P_SOURCE] = segdes(c, count, source);
  random_operands_make_runs(r, c, count, lengths, source, p);
  for (uint64_t k = 0; k < count; k++) x[k] = source[k] - 1;
  p[P_EACH_LAST] = ints(c, count, x);
  for (uint64_t k = 0; k < count; k++) x[k] = 1;
  p[P_EACH_ONE] = ints(c, count, x);
  p[P_FAR] = cvl_one_segment(m);
  /* Rarely, an index is out of range, a divisor is zero, or a position is written twice. */
  const bool faulty = below(r, 3) == 0;
  uint64_t at = 0;
  for (uint64_t k = 0; k < count; k++) {
    for (int64_t j = 0; j < lengths[k]; j++) {
      x[at++] = faulty && below(r, n + 1) == 0 ? -1 - (int64_t)below(r, 3)
                                               : (int64_t)below(r, (uint64_t)source[k]);
    }
  }
  p[P_INDEX] = ints(c, n, x);
  at = 0;
  for (uint64_t k = 0; k < count; k++) {
    const uint64_t turn = below(r, (uint64_t)lengths[k]);
    for (uint64_t j = 0; j < (uint64_t)lengths[k]; j++) {
      x[at + j] = (int64_t)((j + turn) % (uint64_t)lengths[k]);
    }
    if (faulty && lengths[k] > 1 && below(r, 9) == 0) x[at] = x[at + 1];
    at += (uint64_t)lengths[k];
  }
  p[P_PERMUTED] = ints(c, n, x);
  uint64_t many = 0;
  for (uint64_t k = 0; k < n; k++) many += (uint64_t)(source[k] = 1 + (int64_t)below(r, 3));
  p[P_MANY] = segdes(c, n, source);
  for (uint64_t k = 0; k < n; k++) {
    x[k] = (int64_t)below(r, (uint64_t)source[k] + (faulty && below(r, n) == 0));
  }
  p[P_PICKED] = ints(c, n, x);
  p[P_PICK_FLOAT] = floats(r, c, many);
  for (uint64_t i = 0; i < n; i++) x[i] = (int64_t)below(r, 100) - (faulty ? 1 : -1);
  p[P_INT] = ints(c, n, x);
  for (uint64_t i = 0; i < n; i++) x[i] = (int64_t)draw(r);
  p[P_INT2] = ints(c, n, x);
  for (uint64_t i = 0; i < m; i++) x[i % (2 * n + 8)] = (int64_t)below(r, 1000);
  for (uint64_t i = 0; i < count; i++) lengths[i] = (int64_t)below(r, 7);
  p[P_EACH_INT] = ints(c, count, lengths);
  free(lengths);
  lengths = malloc(m * sizeof *lengths + 1);
  for (uint64_t i = 0; i < m; i++) lengths[i] = (int64_t)below(r, 1000);
  p[P_FAR_INT] = ints(c, m, lengths);
  p[P_FAR_FLOAT] = floats(r, c, m);
  p[P_FAR_BOOL] = flags(r, c, m);
  p[P_EACH_FLOAT] = floats(r, c, count);
  p[P_FLOAT] = floats(r, c, n);
  p[P_FLOAT2] = floats(r, c, n);
  p[P_BOOL] = flags(r, c, n);
  const int64_t start = m > n && below(r, 3) ? (int64_t)below(r, m - n + 1) : 0;
  p[P_ONE_INT] = ints(c, 1, &start);
  const int64_t stride = below(r, 4) ? 1 : (int64_t)below(r, 3);
  p[P_ONE_STRIDE] = ints(c, 1, &stride);
  free(x);
  free(lengths);
  free(source);
}
