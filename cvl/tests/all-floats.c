/* all-floats.c - the elementary functions of all 2^32 floats, compared with those of doubles,
 * whose error is 2^-29 of a float's unit:
 *
 *     elementary-floats [NAME]
 *
 * prints for each function the largest error, in units in the last place, the float that has
 * it, and how many results are not the correctly rounded ones. It fails if an error is 0.502 or
 * more. A result that is 0, infinite or NaN must be the double's, rounded, or its error is
 * infinite.
 */
#include "cvl/tests/elementary-set.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const double MOST_UNITS = 0.502;
enum { BLOCK = 4096 };

struct found {
  double units; /* the largest error */
  float at;
  uint64_t unrounded;
};

static double all_floats_from_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* Returns 1 / unit in the last place of the float that y, finite, is rounded to. The unit is at
 * least that of the least normal float. */
static double units_in_one(double y) {
  uint64_t u;
  memcpy(&u, &y, sizeof u);
  const uint64_t exponent = u >> 52 & 0x7ff, least = 1023 - 126;
  return all_floats_from_bits((2 * 1023 + 23 - (exponent > least ? exponent : least)) << 52);
}

static uint32_t all_floats_bits_of(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

/* Whether a float is neither 0 nor infinite nor NaN. */
static bool is_ordinary(uint32_t bits) {
  return (bits & 0x7fffffff) - 1 < 0x7f800000 - 1;
}

/* Computes the errors of a block, in units. An error is infinite if a result must be the
 * double's, rounded, and is not. */
static void all_floats_measure(const float *y, const double *exact, double *units,
                               struct found *f) {
  uint32_t unrounded = 0;
  for (uint32_t i = 0; i < BLOCK; i++) {
    const uint32_t is = all_floats_bits_of(y[i]), rounded = all_floats_bits_of((float)exact[i]);
    const bool ordinary = is_ordinary(is) && is_ordinary(rounded);
    const double error = fabs((double)y[i] - exact[i]) * units_in_one(exact[i]);
    unrounded += is != rounded;
    units[i] = ordinary ? error : is != rounded ? (double)INFINITY : 0.0;
  }
  f->unrounded += unrounded;
}

static struct found all_floats(size_t function, const struct elementary_set *set) {
  static float x[BLOCK], y[BLOCK];
  static double wide[BLOCK], exact[BLOCK], units[BLOCK];
  struct found f = {0.0, 0.0f, 0};
  for (uint64_t first = 0; first < UINT64_C(1) << 32; first += BLOCK) {
    for (uint32_t i = 0; i < BLOCK; i++) {
      const uint32_t bits = (uint32_t)first + i;
      memcpy(&x[i], &bits, sizeof x[i]);
      wide[i] = (double)x[i];
    }
    set->of[function].array_f32(x, y, BLOCK);
    set->of[function].array_f64(wide, exact, BLOCK);
    all_floats_measure(y, exact, units, &f);
    for (uint32_t i = 0; i < BLOCK; i++) {
      if (units[i] <= f.units) continue;
      f.units = units[i];
      f.at = x[i];
    }
  }
  return f;
}

/* Returns the largest instruction set that this processor has. */
static const struct elementary_set *widest(void) {
#ifdef RAVEL_TEST_X86
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return &elementary_avx512;
  }
  if (__builtin_cpu_supports("avx2")) return &elementary_avx2;
#endif
  return &elementary_baseline;
}

int main(int argc, char **argv) {
  const struct elementary_set *set = widest();
  bool good = true, known = argc < 2;
  for (size_t i = 0; i < E_COUNT; i++) {
    const char *name = set->of[i].name;
    if (argc > 1 && strcmp(name, argv[1]) != 0) continue;
    known = true;
    const struct found f = all_floats(i, set);
    printf("%-5s %.5f units at %a; %" PRIu64 " of 2^32 not the exact result rounded\n", name,
           f.units, (double)f.at, f.unrounded);
    fflush(stdout);
    good &= f.units < MOST_UNITS;
  }
  if (!known) fprintf(stderr, "elementary-floats: no function %s\n", argv[1]);
  return good && known ? 0 : 1;
}
