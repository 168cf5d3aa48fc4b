/* test-elementary.c - the elementary functions: accuracy against long double, special cases as
 * in C, and the same bits everywhere. That is for scalars and arrays, any offset and length,
 * every instruction set and every compiler. */
#include "cvl/tests/elementary-set.h"

#include <criterion/criterion.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static const struct {
  long double (*exact)(long double);
  double least, most;  /* the domain */
  double dense;        /* samples of |x| up to here are dense */
  uint64_t checksum64; /* hash of the fixed samples: see same_bits_with_every_compiler */
  uint64_t checksum32;
} functions[E_COUNT] = {
    [E_exp] = {expl, -750.0, 712.0, 1.0, 0xa9ea984ad6159c78, 0x157573d45deea9de},
    [E_log] = {logl, 0.0, DBL_MAX, 4.0, 0xca5bc6ebb219543d, 0x258b8546b66f5947},
    [E_sin] = {sinl, -DBL_MAX, DBL_MAX, 8.0, 0x1390767ff6f7bdcb, 0x98bc249a45467246},
    [E_cos] = {cosl, -DBL_MAX, DBL_MAX, 8.0, 0xf40795e936b90e01, 0xd814fb769370e2ce},
    [E_tan] = {tanl, -DBL_MAX, DBL_MAX, 8.0, 0x4ea0c99954b8ca95, 0x59c83df6844a69b8},
    [E_asin] = {asinl, -1.0, 1.0, 1.0, 0xc0cd60aef56860f7, 0x3de1c3e5f6229139},
    [E_acos] = {acosl, -1.0, 1.0, 1.0, 0xaaa690fd074b3f95, 0x58b77d144f0d8e5f},
    [E_atan] = {atanl, -DBL_MAX, DBL_MAX, 4.0, 0xc17d97ea4e0295d1, 0x33ab4ee6790a033d},
    [E_sinh] = {sinhl, -711.0, 711.0, 2.0, 0xc9647a4621f997c7, 0x6ee1c23d6cd3cbe1},
    [E_cosh] = {coshl, -711.0, 711.0, 2.0, 0x7b0ed3edac065f12, 0xbe3c54744ebd1cc1},
    [E_tanh] = {tanhl, -DBL_MAX, DBL_MAX, 2.0, 0x994fff517eb4b987, 0x10d7b7518edb5cef},
};

/* Finds the instruction sets that this processor has. Returns their number. */
static size_t sets(const struct elementary_set **out) {
  size_t n = 0;
  out[n++] = &elementary_baseline;
#ifdef RAVEL_TEST_X86
  if (__builtin_cpu_supports("avx2")) out[n++] = &elementary_avx2;
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    out[n++] = &elementary_avx512;
  }
#endif
  return n;
}
enum { MOST_SETS = 3 };

static uint64_t elementary_random_bits(uint64_t *state) { /* splitmix64 */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static double elementary_from_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* Returns arguments of many kinds, by turns: any bits; evenly spread where the function bends;
 * evenly spread over a wide range; some units beside a multiple of pi/2; beside a power of
 * two. */
static double elementary_argument(size_t turn, double dense, uint64_t *state) {
  const uint64_t u = elementary_random_bits(state);
  const double unit = (double)(u >> 11) * 0x1p-53, sign = u & 1 ? 1.0 : -1.0;
  double x;
  switch (turn % 5) {
  case 0: return elementary_from_bits(u);
  case 1: return sign * unit * dense;
  case 2: return sign * unit * 720.0;
  case 3:
    x = (double)((long double)(u >> (42 + u % 20)) * 1.57079632679489661923132169164L);
    break;
  default: x = ldexp(1.0, (int)(u >> 8 & 63) - 56); break;
  }
  return sign * x * (1.0 + ((double)(u >> 16 & 15) - 8.0) * 0x1p-52);
}

/* Returns the units in the last place between y and the exact result, both finite. */
static long double error_of(long double y, long double exact, int digits, int least_exponent) {
  int exponent = least_exponent;
  if (exact != 0.0L) (void)frexpl(exact, &exponent);
  if (exponent < least_exponent) exponent = least_exponent;
  return fabsl(y - exact) / ldexpl(1.0L, exponent - digits);
}

struct precision {
  int digits, least_exponent;
  long double error; /* the error is less than so many units */
};

/* Expects f(x) = y, where `rounded` is the exact result as an element. */
static void expect_result(const char *f, double x, double y, long double exact, double rounded,
                          const struct precision *p) {
  if (isinf(rounded)) {
    cr_assert(y == rounded, "%s(%a) = %a", f, x, y);
    return;
  }
  const long double error = error_of((long double)y, exact, p->digits, p->least_exponent);
  cr_assert(error < p->error, "%s(%a) = %a is wrong by %Lg units", f, x, y, error);
}

Test(elementary, error_is_below_one_unit) {
  if (LDBL_MANT_DIG < 64) cr_skip("long double is no reference here");
  for (size_t f = 0; f < E_COUNT; f++) {
    uint64_t state = 1 + f;
    for (size_t i = 0; i < 400000; i++) {
      const double x = elementary_argument(i, functions[f].dense, &state);
      if (!(x >= functions[f].least && x <= functions[f].most)) continue;
      const long double exact = functions[f].exact((long double)x);
      const double y = elementary_baseline.of[f].f64(x);
      static const struct precision p = {DBL_MANT_DIG, DBL_MIN_EXP, 1.0L};
      expect_result(elementary_baseline.of[f].name, x, y, exact, (double)exact, &p);
    }
  }
}

Test(elementary, float_error_is_hardly_above_half_a_unit) {
  if (LDBL_MANT_DIG < 64) cr_skip("long double is no reference here");
  for (size_t f = 0; f < E_COUNT; f++) {
    uint64_t state = 100 + f;
    for (size_t i = 0; i < 200000; i++) {
      const float x = (float)elementary_argument(i, functions[f].dense, &state);
      if (!((double)x >= functions[f].least && (double)x <= functions[f].most)) continue;
      if (isinf(x)) continue;
      const long double exact = functions[f].exact((long double)x);
      const float y = elementary_baseline.of[f].f32(x);
      static const struct precision p = {FLT_MANT_DIG, FLT_MIN_EXP, 0.502L};
      expect_result(elementary_baseline.of[f].name, (double)x, (double)y, exact,
                    (double)(float)exact, &p);
    }
  }
}

/* Whether all bits are equal. -0.0 differs from 0.0, and there is one NaN. */
static int elementary_same(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0;
}
static int same_f32(float a, float b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

/* Floats at which something changes: where results overflow and underflow, where another range
 * begins, where an angle is next to a multiple of pi / 2 (0x1.f37c8ap+95 is the nearest of
 * all), and those without neighbours. The functions of doubles, rounded, give the right
 * results; ordinary numbers need not be the same float. */
Test(elementary, floats_at_which_something_changes) {
  static const float edges[] = {0.0f,        0x1p-149f,       0x1.fffffcp-127f,
                                0x1p-126f,   0x1p-24f,        0.17328680f,
                                0.34657359f, 0.41421357f,     0.5f,
                                0.70710677f, 0.84089642f,     1.0f,
                                1.1892071f,  1.3465736f,      1.5707964f,
                                2.4142137f,  3.1415927f,      9.0f,
                                20.0f,       88.722839f,      89.415985f,
                                100.0f,      103.27893f,      103.97208f,
                                110.0f,      710.0f,          0x1p20f,
                                0x1p60f,     0x1.f37c8ap+95f, FLT_MAX,
                                INFINITY};
  const struct elementary_set *all[MOST_SETS];
  const size_t n = sets(all);
  for (size_t s = 0; s < n * E_COUNT; s++) {
    const struct elementary_set *set = all[s / E_COUNT];
    const size_t f = s % E_COUNT;
    for (size_t i = 0; i < 6 * (sizeof edges / sizeof *edges); i++) {
      const float edge = edges[i / 6];
      const float beside = i % 3 ? nextafterf(edge, i % 3 == 1 ? 0.0f : INFINITY) : edge;
      const float x = i % 6 < 3 ? beside : -beside;
      const double exact = set->of[f].f64((double)x);
      const float y = set->of[f].f32(x), rounded = (float)exact;
      if (same_f32(y, rounded)) continue;
      const long double error =
          error_of((long double)y, (long double)exact, FLT_MANT_DIG, FLT_MIN_EXP);
      cr_expect(isfinite(y) && isfinite(rounded) && y != 0.0f && error < 0.502L,
                "%s, %s of float (%a) = %a, not %a", set->instruction_set, set->of[f].name,
                (double)x, (double)y, exact);
    }
  }
}

Test(elementary, special_cases_are_those_of_c) {
  static const double inf = INFINITY, nan = NAN, tiny = 0x1p-1074, half_pi = 1.5707963267948966;
  static const struct {
    int function;
    double x, y;
  } cases[] = {
      {E_exp, 0.0, 1.0},
      {E_exp, -0.0, 1.0},
      {E_exp, inf, inf},
      {E_exp, -inf, 0.0},
      {E_exp, 710.0, inf},
      {E_exp, -746.0, 0.0},
      {E_exp, -745.0, tiny},
      {E_exp, DBL_MAX, inf},
      {E_exp, -DBL_MAX, 0.0},
      {E_exp, tiny, 1.0},
      {E_log, 0.0, -inf},
      {E_log, -0.0, -inf},
      {E_log, 1.0, 0.0},
      {E_log, inf, inf},
      {E_log, -1.0, nan},
      {E_log, -inf, nan},
      {E_log, -tiny, nan},
      {E_sin, 0.0, 0.0},
      {E_sin, -0.0, -0.0},
      {E_sin, inf, nan},
      {E_sin, -inf, nan},
      {E_sin, tiny, tiny},
      {E_sin, -tiny, -tiny},
      {E_cos, 0.0, 1.0},
      {E_cos, -0.0, 1.0},
      {E_cos, inf, nan},
      {E_cos, -inf, nan},
      {E_cos, tiny, 1.0},
      {E_tan, 0.0, 0.0},
      {E_tan, -0.0, -0.0},
      {E_tan, inf, nan},
      {E_tan, -inf, nan},
      {E_tan, -tiny, -tiny},
      {E_asin, 0.0, 0.0},
      {E_asin, -0.0, -0.0},
      {E_asin, 1.0, half_pi},
      {E_asin, -1.0, -half_pi},
      {E_asin, 2.0, nan},
      {E_asin, -inf, nan},
      {E_asin, 1.0 + DBL_EPSILON, nan},
      {E_asin, -tiny, -tiny},
      {E_acos, 1.0, 0.0},
      {E_acos, -1.0, 2.0 * half_pi},
      {E_acos, 0.0, half_pi},
      {E_acos, -0.0, half_pi},
      {E_acos, 2.0, nan},
      {E_acos, inf, nan},
      {E_acos, -1.0 - DBL_EPSILON, nan},
      {E_atan, 0.0, 0.0},
      {E_atan, -0.0, -0.0},
      {E_atan, inf, half_pi},
      {E_atan, -inf, -half_pi},
      {E_atan, 1.0, half_pi / 2.0},
      {E_atan, -tiny, -tiny},
      {E_atan, DBL_MAX, half_pi},
      {E_sinh, 0.0, 0.0},
      {E_sinh, -0.0, -0.0},
      {E_sinh, inf, inf},
      {E_sinh, -inf, -inf},
      {E_sinh, -720.0, -inf},
      {E_sinh, -tiny, -tiny},
      {E_cosh, 0.0, 1.0},
      {E_cosh, -0.0, 1.0},
      {E_cosh, inf, inf},
      {E_cosh, -inf, inf},
      {E_cosh, 720.0, inf},
      {E_tanh, 0.0, 0.0},
      {E_tanh, -0.0, -0.0},
      {E_tanh, inf, 1.0},
      {E_tanh, -inf, -1.0},
      {E_tanh, -30.0, -1.0},
      {E_tanh, -tiny, -tiny},
  };
  const struct elementary_set *all[MOST_SETS];
  const size_t n = sets(all);
  for (size_t s = 0; s < n; s++) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      const int f = cases[i].function;
      const double x = cases[i].x, y = all[s]->of[f].f64(x);
      cr_expect(elementary_same(y, cases[i].y), "%s(%a) = %a, not %a", all[s]->of[f].name, x, y,
                cases[i].y);
    }
    for (size_t f = 0; f < E_COUNT; f++) {
      cr_expect(elementary_same(all[s]->of[f].f64(nan), nan), "%s(nan)", all[s]->of[f].name);
      cr_expect(
          elementary_same(all[s]->of[f].f64(elementary_from_bits(0xfff8000000001234u)), nan),
          "another NaN");
      cr_expect(same_f32(all[s]->of[f].f32(NAN), NAN), "%s(nan) in float", all[s]->of[f].name);
    }
  }
}

/* This is the double that is nearest to a multiple of pi/2. */
Test(elementary, reduction_survives_the_worst_argument) {
  const double x = 6381956970095103.0 * 0x1p797;
  cr_expect(elementary_same(elementary_baseline.of[E_cos].f64(x), -4.6871659242546277e-19));
  cr_expect(elementary_same(elementary_baseline.of[E_sin].f64(x), 1.0));
  cr_expect(elementary_same(elementary_baseline.of[E_cos].f64(-x), -4.6871659242546277e-19));
  cr_expect(elementary_same(elementary_baseline.of[E_sin].f64(-x), -1.0));
}

/* Every offset and length of an array, also over the operand, is compared with the function of
 * one element. The samples have large arguments of sin, which the loops must do again. */
Test(elementary, position_and_length_do_not_matter) {
  enum { LONGEST = 70, OFFSETS = 8, GUARD = 8, ROOM = OFFSETS + LONGEST + GUARD };
  const struct elementary_set *all[MOST_SETS];
  const size_t n = sets(all);
  for (size_t s = 0; s < n * E_COUNT; s++) {
    const struct elementary_set *set = all[s / E_COUNT];
    const size_t f = s % E_COUNT;
    uint64_t state = s;
    double x[ROOM], y[ROOM];
    float x32[ROOM], y32[ROOM];
    for (size_t i = 0; i < ROOM; i++) {
      x[i] = elementary_argument(elementary_random_bits(&state), functions[f].dense, &state);
      x32[i] = (float)x[i];
    }
    for (size_t offset = 0; offset < OFFSETS; offset++) {
      for (size_t length = 0; length <= LONGEST; length++) {
        memcpy(y, x, sizeof y);
        memcpy(y32, x32, sizeof y32);
        set->of[f].array_f64(length % 2 ? y + offset : x + offset, y + offset, length);
        set->of[f].array_f32(length % 2 ? y32 + offset : x32 + offset, y32 + offset, length);
        for (size_t i = 0; i < ROOM; i++) {
          const int inside = i >= offset && i < offset + length;
          const double want = inside ? elementary_baseline.of[f].f64(x[i]) : x[i];
          const float want32 = inside ? elementary_baseline.of[f].f32(x32[i]) : x32[i];
          cr_assert(elementary_same(y[i], want),
                    "%s, %s: element %zu of %zu at %zu: %a, not %a", set->instruction_set,
                    set->of[f].name, i, length, offset, y[i], want);
          cr_assert(same_f32(y32[i], want32), "%s, %s of float: element %zu of %zu at %zu",
                    set->instruction_set, set->of[f].name, i, length, offset);
        }
      }
    }
  }
}

/* A block of ordinary arguments is done in another way than one with an argument whose result
 * is no normal number. The test has the limit between them, and one such argument at every
 * position around the ends of blocks. */
Test(elementary, ordinary_blocks_have_the_same_bits) {
  enum { LENGTH = 3 * 256 + 5 };
  static const double edges[] = {700.0,
                                 -700.0,
                                 0x1.5e00000000001p+9,
                                 -0x1.5e00000000001p+9,
                                 0x1p-1022,
                                 0x1p-1074,
                                 0x1.ffffffffffffep-1023,
                                 DBL_MAX,
                                 -DBL_MAX,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 710.0,
                                 -745.5,
                                 -710.0,
                                 -0x1p-1022};
  enum { EDGES = sizeof edges / sizeof *edges };
  static const size_t positions[] = {0, 1, 254, 255, 256, 257, 511, 512, 767, 768, LENGTH - 1};
  static const size_t names[] = {E_exp, E_log};
  const struct elementary_set *all[MOST_SETS];
  const size_t n = sets(all);
  for (size_t s = 0; s < n * 2; s++) {
    const struct elementary_set *set = all[s / 2];
    const size_t f = names[s % 2];
    double x[LENGTH], y[LENGTH];
    float x32[LENGTH], y32[LENGTH];
    uint64_t state = s;
    for (size_t i = 0; i < LENGTH; i++) {
      const double unit = (double)(elementary_random_bits(&state) >> 11) * 0x1p-53;
      x[i] =
          f == E_log ? ldexp(unit + 0x1p-60, (int)(i % 1800) - 900) : (2.0 * unit - 1.0) * 700;
      x32[i] = (float)(f == E_log ? unit + 0x1p-60 : x[i] / 8.0);
    }
    for (size_t e = 0; e <= EDGES; e++) {
      for (size_t p = 0; p < sizeof positions / sizeof *positions; p++) {
        const size_t at = positions[p];
        const double kept = x[at];
        const float kept32 = x32[at];
        if (e < EDGES) {
          x[at] = edges[e];
          x32[at] = (float)edges[e];
        }
        set->of[f].array_f64(x, y, LENGTH);
        set->of[f].array_f32(x32, y32, LENGTH);
        for (size_t i = 0; i < LENGTH; i++) {
          cr_assert(elementary_same(y[i], elementary_baseline.of[f].f64(x[i])),
                    "%s, %s(%a) = %a", set->instruction_set, set->of[f].name, x[i], y[i]);
          cr_assert(same_f32(y32[i], elementary_baseline.of[f].f32(x32[i])),
                    "%s, %s of float(%a)", set->instruction_set, set->of[f].name,
                    (double)x32[i]);
        }
        x[at] = kept;
        x32[at] = kept32;
      }
    }
  }
}

/* The FNV-1a hash of the results of fixed samples was recorded once. A compiler or a processor
 * that gives other bits fails here. After an intended change of a function, record what this
 * prints. */
Test(elementary, same_bits_with_every_compiler_and_instruction_set) {
  enum { SAMPLES = 4096, ROUNDS = 16 };
  static double x[SAMPLES], y[SAMPLES];
  static float x32[SAMPLES], y32[SAMPLES];
  const struct elementary_set *all[MOST_SETS];
  const size_t n = sets(all);
  for (size_t s = 0; s < n * E_COUNT; s++) {
    const struct elementary_set *set = all[s / E_COUNT];
    const size_t f = s % E_COUNT;
    uint64_t state = 7, sum64 = 0xcbf29ce484222325u, sum32 = sum64;
    for (size_t round = 0; round < ROUNDS; round++) {
      for (size_t i = 0; i < SAMPLES; i++) {
        x[i] = elementary_argument(i, functions[f].dense, &state);
        x32[i] = (float)x[i];
      }
      set->of[f].array_f64(x, y, SAMPLES);
      set->of[f].array_f32(x32, y32, SAMPLES);
      for (size_t i = 0; i < SAMPLES; i++) {
        uint64_t u64;
        uint32_t u32;
        memcpy(&u64, &y[i], sizeof u64);
        memcpy(&u32, &y32[i], sizeof u32);
        sum64 = (sum64 ^ u64) * 0x100000001b3u;
        sum32 = (sum32 ^ u32) * 0x100000001b3u;
      }
    }
    cr_expect(sum64 == functions[f].checksum64 && sum32 == functions[f].checksum32,
              "%s, %s: 0x%016" PRIx64 ", 0x%016" PRIx64, set->instruction_set, set->of[f].name,
              sum64, sum32);
  }
}
