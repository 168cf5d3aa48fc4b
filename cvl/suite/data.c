/* data.c - the suite's random numbers, its element values and its shapes. */
#include "cvl/suite/suite.h"

#include <float.h>
#include <math.h>

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
uint64_t rng_next(struct rng *r) {
  uint64_t z = r->state += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

uint64_t rng_below(struct rng *r, uint64_t n) {
  return rng_next(r) % n;
}

bool rng_one_in(struct rng *r, uint64_t n) {
  return rng_next(r) % n == 0;
}

static double rng_unit(struct rng *r) {
  return (double)(rng_next(r) >> 11) * 0x1p-53;
}

/* ---- special values ---- */

static const int64_t int_specials[] = {
    0,
    1,
    2,
    3,
    -1,
    -2,
    -3,
    7,
    -7,
    31,
    32,
    33,
    63,
    64,
    65,
    -31,
    -33,
    -64,
    100,
    INT32_MAX,
    INT32_MIN,
    INT32_MIN + 1,
    INT64_MAX,
    INT64_MIN,
    INT64_MIN + 1,
    1LL << 32,
    0x5555555555555555,
};

/* The last ones depend on the width: see real_special. There are two NaNs, which no operation
 * distinguishes. */
static const double real_specials[] = {
    0.0,     -0.0,  1.0,  -1.0,     0.5,       -0.5,          1.5,
    -1.5,    2.5,   -2.5, -2.6,     3.0,       -3.0,          0.1,
    1e10,    -1e10, 1e36, -1e38,    0x1p31,    -0x1p31,       0x1p63,
    -0x1p63, NAN,   -NAN, INFINITY, -INFINITY, 0x1.fffffcp30, 0x1.fffffffffffffp62,
};

enum {
  INT_SPECIALS = sizeof int_specials / sizeof int_specials[0],
  REAL_SPECIALS = sizeof real_specials / sizeof real_specials[0],
  WIDTH_SPECIALS = 5
};

static double real_special(enum cvl_elem e, uint64_t i) {
  i %= REAL_SPECIALS + WIDTH_SPECIALS;
  if (i < REAL_SPECIALS) return real_specials[i];
  bool narrow = e == CVL_F32;
  switch (i - REAL_SPECIALS) {
  case 0: return narrow ? FLT_MIN / 4 : DBL_MIN / 4; /* subnormal */
  case 1: return narrow ? -FLT_TRUE_MIN : -DBL_TRUE_MIN;
  case 2: return narrow ? FLT_MAX : DBL_MAX;
  case 3: return narrow ? (double)nextafterf(0.5F, 0) : nextafter(0.5, 0);
  default: return narrow ? -FLT_MAX : -DBL_MAX;
  }
}

void data_fill_grid(struct suite *s, struct host_value *v, unsigned operand) {
  (void)s;
  enum cvl_elem e = (enum cvl_elem)v->elem;
  enum elem_class class = elem_info(e)->klass;
  uint64_t period = class == CLASS_INT ? INT_SPECIALS : REAL_SPECIALS + WIDTH_SPECIALS;
  if (class == CLASS_BOOL) period = 2;
  for (uint64_t i = 0; i < v->n; i++) {
    uint64_t at = operand == 0 ? i : i / period + (operand == 2 ? i : 0);
    switch (class) {
    case CLASS_INT: host_put_int(v, i, int_specials[at % INT_SPECIALS]); break;
    case CLASS_FLOAT: host_put_real(v, i, real_special(e, at)); break;
    case CLASS_BOOL: host_put_int(v, i, (int64_t)(at % 2)); break;
    }
  }
}

/* ---- ordinary values ---- */

enum int_flavour { INT_SMALL, INT_ANY, INT_SPECIAL, INT_FLAVOURS };

static int64_t data_random_int(struct rng *r, enum int_flavour f) {
  switch (f) {
  case INT_SMALL: return (int64_t)rng_below(r, 17) - 8;
  case INT_SPECIAL: return int_specials[rng_below(r, INT_SPECIALS)];
  case INT_ANY:
  case INT_FLAVOURS: break;
  }
  return (int64_t)rng_next(r);
}

enum real_flavour {
  REAL_WIDE,    /* magnitudes 2^-20 .. 2^20, all mantissa bits: the order of addition shows */
  REAL_NEAR_1,  /* 0.5 .. 1.5: products neither overflow nor vanish */
  REAL_HALVES,  /* -10.0, -9.5 ... 10.0: ties, exact halves */
  REAL_TEN,     /* -10 .. 10 */
  REAL_UNIT,    /* -1 .. 1 */
  REAL_EXP,     /* -800 .. 800: where exp and sinh overflow */
  REAL_SPECIAL, /* special values every other time */
  REAL_FLAVOURS
};

static double random_real(struct rng *r, enum cvl_elem e, enum real_flavour f) {
  double sign = rng_one_in(r, 2) ? -1 : 1, u = rng_unit(r);
  switch (f) {
  case REAL_WIDE: return sign * ldexp(1 + u, (int)rng_below(r, 41) - 20);
  case REAL_NEAR_1: return 0.5 + u;
  case REAL_HALVES: return ((double)rng_below(r, 41) - 20) / 2;
  case REAL_TEN: return sign * u * 10;
  case REAL_UNIT: return sign * u;
  case REAL_EXP: return sign * u * 800;
  case REAL_SPECIAL:
  case REAL_FLAVOURS: break;
  }
  return rng_one_in(r, 2) ? real_special(e, rng_next(r)) : sign * ldexp(1 + u, -2);
}

/* Fills values for reductions and scans. Sums and products of special values are mostly NaN,
 * which hides the order, so there are only a few special values among ordinary ones. */
static void fill_reals_to_combine(struct suite *s, enum cvl_op op, struct host_value *v) {
  enum cvl_elem e = (enum cvl_elem)v->elem;
  enum real_flavour f = op == OP_MUL ? REAL_NEAR_1 : REAL_WIDE;
  if (rng_one_in(&s->rng, 4)) f = op == OP_MUL ? REAL_WIDE : REAL_HALVES;
  bool minus_zeros = op != OP_MUL && rng_one_in(&s->rng, 8);
  for (uint64_t i = 0; i < v->n; i++) {
    host_put_real(v, i, minus_zeros ? -0.0 : random_real(&s->rng, e, f));
  }
  if (op == OP_MAX || op == OP_MIN) {
    if (rng_one_in(&s->rng, 2)) { /* below and above the identities */
      for (uint64_t i = 0; i < v->n; i++) host_put_real(v, i, op == OP_MAX ? -1e37 : 1e37);
    }
    if (rng_one_in(&s->rng, 4)) { /* zeros of both signs, and little else */
      for (uint64_t i = 0; i < v->n; i++)
        host_put_real(v, i, rng_one_in(&s->rng, 2) ? -0.0 : 0.0);
    }
  }
  if (v->n && rng_one_in(&s->rng, 3)) {
    for (int i = 0; i < 3; i++) {
      host_put_real(v, rng_below(&s->rng, v->n), real_special(e, rng_next(&s->rng)));
    }
  }
}

void data_fill_ties(struct suite *s, struct host_value *v) {
  /* the side of zero on which the other values lie */
  const double side = s->item->op == OP_MAX ? -1 : 1;
  const bool one_winner = rng_one_in(&s->rng, 2), nans = rng_one_in(&s->rng, 2);
  const uint64_t rare = one_winner ? 8 : rng_one_in(&s->rng, 2) ? 64 : 2000;
  for (uint64_t i = 0; i < v->n; i++) {
    double x = side * ldexp(1 + rng_unit(&s->rng), (int)rng_below(&s->rng, 41) - 20);
    if (rng_one_in(&s->rng, rare)) {
      x = one_winner ? side * 0 : nans ? NAN : rng_one_in(&s->rng, 2) ? 0.0 : -0.0;
    }
    host_put_real(v, i, x);
  }
  /* Puts the one zero that decides among zeros that do not. */
  if (v->n && one_winner) host_put_real(v, rng_below(&s->rng, v->n), -side * 0);
}

static void fill_reals(struct suite *s, enum call_kind kind, enum cvl_op op,
                       struct host_value *v) {
  if (kind == CALL_REDUCE || kind == CALL_SCAN) {
    fill_reals_to_combine(s, op, v);
    return;
  }
  enum cvl_elem e = (enum cvl_elem)v->elem;
  enum real_flavour f = (enum real_flavour)rng_below(&s->rng, REAL_FLAVOURS);
  for (uint64_t i = 0; i < v->n; i++) host_put_real(v, i, random_real(&s->rng, e, f));
}

void data_fill(struct suite *s, enum call_kind kind, enum cvl_op op, struct host_value *v) {
  enum int_flavour f = (enum int_flavour)rng_below(&s->rng, INT_FLAVOURS);
  uint64_t sparse = rng_one_in(&s->rng, 3) ? 20 : 2; /* how rare set, or clear, BOOLs are */
  bool rare = rng_one_in(&s->rng, 2);
  switch (elem_info((enum cvl_elem)v->elem)->klass) {
  case CLASS_INT:
    for (uint64_t i = 0; i < v->n; i++) host_put_int(v, i, data_random_int(&s->rng, f));
    return;
  case CLASS_FLOAT: fill_reals(s, kind, op, v); return;
  case CLASS_BOOL:
    for (uint64_t i = 0; i < v->n; i++) host_put_int(v, i, rng_one_in(&s->rng, sparse) == rare);
    return;
  }
}

/* ---- shapes ---- */

const char *shape_name(enum shape shape) {
  static const char *const names[] = {
      "one",       "ones",       "fours", "hundreds",  "long",      "power",
      "alternate", "half-empty", "none",  "all-empty", "one-empty", "edges",
      "sparse",    "quarters",   "few",   "sevens",
  };
  return names[shape];
}

static const uint64_t edges[] = {0, 1,    2, 3,  7,    8,  9, 1025, 31,
                                 1, 1023, 0, 33, 1024, 16, 5, 17};

/* Returns the length of the next segment if `left` elements are not in one yet. `k` counts
 * segments. */
static uint64_t next_length(struct rng *r, enum shape shape, uint64_t k, uint64_t left,
                            uint64_t n) {
  switch (shape) {
  case SHAPE_ONE: return left;
  case SHAPE_ONES: return 1;
  case SHAPE_FOURS: return 4;
  case SHAPE_HUNDREDS: return 100;
  case SHAPE_LONG:
    if (left > n / 20 && n - left >= n / 20) return left - n / 20;
    return rng_below(r, 4);
  case SHAPE_POWER: return (uint64_t)exp2(fmin(-log2(1 - rng_unit(r)) * 1.5, 40)) - 1;
  case SHAPE_ALTERNATE: return k % 2 ? 2 : 0;
  case SHAPE_HALF_EMPTY: return rng_one_in(r, 2) ? 0 : 1 + rng_below(r, 20);
  case SHAPE_EDGES: return edges[k % (sizeof edges / sizeof edges[0])];
  case SHAPE_SPARSE: return k % 8 == 7 ? 1 + rng_below(r, 6) : 0;
  case SHAPE_QUARTERS: return n / 4;
  case SHAPE_FEW: return rng_below(r, 9);
  case SHAPE_SEVENS: return 7;
  case SHAPE_NONE:
  case SHAPE_ALL_EMPTY:
  case SHAPE_ONE_EMPTY: break;
  }
  return 0;
}

static uint64_t data_segment_count(struct suite *s, enum shape shape, uint64_t n,
                                   struct host_value *out) {
  struct rng r = {s->rng.state};
  uint64_t k = 0, left = n;
  for (; left > 0 || (shape == SHAPE_ONE && k == 0); k++) {
    uint64_t length = next_length(&r, shape, k, left, n);
    if (length > left) length = left;
    if (out) host_put_int(out, k, (int64_t)length);
    left -= length;
  }
  return k;
}

struct host_value shape_make(struct suite *s, enum shape shape, uint64_t n) {
  uint64_t count = 0;
  const bool empty = shape >= SHAPES && shape < SHAPES_END;
  if (empty) {
    count = shape == SHAPE_NONE ? 0 : shape == SHAPE_ONE_EMPTY ? 1 : 1 + rng_below(&s->rng, 70);
    n = 0;
  }
  if (shape == SHAPE_FOURS || shape == SHAPE_QUARTERS) n -= n % 4;
  if (shape == SHAPE_SEVENS) n -= n % 7;
  rng_next(&s->rng);
  if (!empty) count = data_segment_count(s, shape, n, NULL);
  struct host_value d = host_segdes(&s->heap, count);
  for (uint64_t k = 0; empty && k < count; k++) host_put_int(&d, k, 0);
  if (!empty) data_segment_count(s, shape, n, &d);
  d.total = n;
  return d;
}
