/* decimal.c - see decimal.h.
 *
 * x * 10^k, with k such that 17 or 18 digits stand before the point, is one product of 64 and
 * 128 bits. Its integer part, and whether anything follows, decides every shorter rounding.
 * Whether a rounding reads back is decided by the ends of the interval of the numbers that are
 * read as x, scaled in the same way.
 *
 * U. Adams, "Ryu: fast float-to-string conversion" (PLDI 2018), and R. Giulietti, "The
 * Schubfach way to render doubles" (2020), scale so, and show that 128 bits of a power suffice.
 */
#include "base/decimal.h"

#include "base/powers-of-ten.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static const uint64_t tens[] = {UINT64_C(1),
                                UINT64_C(10),
                                UINT64_C(100),
                                UINT64_C(1000),
                                UINT64_C(10000),
                                UINT64_C(100000),
                                UINT64_C(1000000),
                                UINT64_C(10000000),
                                UINT64_C(100000000),
                                UINT64_C(1000000000),
                                UINT64_C(10000000000),
                                UINT64_C(100000000000),
                                UINT64_C(1000000000000),
                                UINT64_C(10000000000000),
                                UINT64_C(100000000000000),
                                UINT64_C(1000000000000000),
                                UINT64_C(10000000000000000),
                                UINT64_C(100000000000000000),
                                UINT64_C(1000000000000000000),
                                UINT64_C(10000000000000000000)};

/* ---- digits as text ---- */

static inline void write_pair(char *dst, uint32_t x) {
  static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                              "25262728293031323334353637383940414243444546474849"
                              "50515253545556575859606162636465666768697071727374"
                              "75767778798081828384858687888990919293949596979899";
  memcpy(dst, pairs + 2 * x, 2);
}

static inline void write_eight(char *dst, uint32_t x) {
  const uint32_t high = x / 10000, low = x % 10000;
  write_pair(dst, high / 100);
  write_pair(dst + 2, high % 100);
  write_pair(dst + 4, low / 100);
  write_pair(dst + 6, low % 100);
}

/* Writes the last `count` digits of x: eight at a time, since each waits for the ones behind
 * it. */
static inline void write_digits(char *dst, uint64_t x, int count) {
  for (; count >= 8; x /= 100000000) write_eight(dst + (count -= 8), (uint32_t)(x % 100000000));
  for (; count >= 2; x /= 100) write_pair(dst + (count -= 2), (uint32_t)(x % 100));
  if (count > 0) *dst = (char)('0' + x % 10);
}

size_t decimal_digits(char *dst, uint64_t x) {
  const int bits = 64 - __builtin_clzll(x | 1);
  const int least = bits * 1233 >> 12; /* digits of 2^(bits - 1), or one less */
  const int count = least + (x >= tens[least]);
  write_digits(dst, x, count + (count == 0));
  return (size_t)(count + (count == 0));
}

void decimal_trim(struct decimal *d) {
  while (d->count > 1 && d->digits[d->count - 1] == '0') d->count--;
}

/* ---- scaling ---- */

/* The number m * 2^exponent, where m is not 0. */
struct binary {
  uint64_t m;
  int exponent;
};

/* Twice a number, rounded down, and whether something was cut off. */
struct halves {
  uint64_t count;
  bool more;
};

/* 2 * x * 10^k, between 2^54 and 2^60.
 *
 * Where the power was cut off, the product is too small by less than one unit of `high`, which
 * weighs at most 2^-67 here. No product of a double, or of an end of its interval, is that near
 * to an integer without being one (scripts/derive-powers-of-ten.py --bounds): what seems to be
 * that little below an integer is the integer. */
static struct halves scale(struct binary x, int k) {
  const int zeros = __builtin_clzll(x.m);
  const struct ten_product product = ten_multiply(x.m << zeros, k);
  const int shift = zeros - x.exponent - 1 - product.exponent - 128;
  const uint64_t high = (uint64_t)(product.high >> 64), low = (uint64_t)product.high;
  const uint64_t mask = (UINT64_C(1) << shift) - 1;
  const uint64_t count = high >> shift;
  if (ten_is_exact(k)) return (struct halves){count, ((high & mask) | low | product.low) != 0};
  const bool is_next = (high & mask) == mask && low == UINT64_MAX;
  return (struct halves){count + is_next, !is_next};
}

/* A float with the interval of the numbers that are read as it. */
struct interval {
  struct binary x;
  bool nearer_below; /* the next float below is half as far away as the one above */
};

static struct interval interval_of(double x) {
  enum { FRACTION = DBL_MANT_DIG - 1, LEAST = DBL_MIN_EXP - DBL_MANT_DIG };
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const uint64_t fraction = bits & ((UINT64_C(1) << FRACTION) - 1);
  const int biased = (int)(bits >> FRACTION & 0x7ff);
  if (biased == 0) return (struct interval){{fraction, LEAST}, false};
  return (struct interval){{fraction | UINT64_C(1) << FRACTION, LEAST + biased - 1},
                           fraction == 0 && biased > 1};
}

static struct interval interval_of_32(float x) {
  enum { FRACTION = FLT_MANT_DIG - 1, LEAST = FLT_MIN_EXP - FLT_MANT_DIG };
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  const uint32_t fraction = bits & ((UINT32_C(1) << FRACTION) - 1);
  const int biased = (int)(bits >> FRACTION & 0xff);
  if (biased == 0) return (struct interval){{fraction, LEAST}, false};
  return (struct interval){{fraction | UINT32_C(1) << FRACTION, LEAST + biased - 1},
                           fraction == 0 && biased > 1};
}

/* ---- rounding ---- */

/* A number on its way to digits: |x| * 10^k, which has 17 digits before the point. */
struct scaled {
  struct halves value;
  int k;
  bool tenth; /* it had 18 with the k that the exponent of x suggests */
};

/* Returns a tenth of x, rounded down as x is. */
static struct halves tenth_of(struct halves x) {
  return (struct halves){x.count / 10, x.more || x.count % 10 != 0};
}

static struct halves scale_by(struct binary x, const struct scaled *s) {
  return s->tenth ? tenth_of(scale(x, s->k + 1)) : scale(x, s->k);
}

static struct scaled scale_whole(struct binary x) {
  const int n = 63 - __builtin_clzll(x.m) + x.exponent;
  const int k = DECIMAL_MOST - 1 - (int)(n * INT64_C(315653) >> 20); /* log10 of 2^n */
  const struct halves value = scale(x, k);
  if (value.count < 2 * tens[DECIMAL_MOST]) return (struct scaled){value, k, false};
  return (struct scaled){tenth_of(value), k - 1, true};
}

static inline uint64_t nearest_multiple(struct halves x, uint64_t unit) {
  const uint64_t units = x.count / (2 * unit), rest = x.count % (2 * unit);
  return units + (rest > unit || (rest == unit && (x.more || units % 2 == 1)));
}

/* Returns the nearest multiple of 10^dropped, in units of it. */
static inline uint64_t rounded_digits(struct halves x, int dropped) {
  switch (dropped) { /* compilers divide by constants faster, and these are frequent */
  case 0: return nearest_multiple(x, 1);
  case 1: return nearest_multiple(x, 10);
  case 2: return nearest_multiple(x, 100);
  default: return nearest_multiple(x, tens[dropped]);
  }
}

static void set_digits(struct decimal *d, const struct scaled *s, uint64_t units, int digits) {
  const bool is_next = units == tens[digits]; /* it was rounded to one digit more */
  write_digits(d->digits, is_next ? units / 10 : units, digits);
  d->count = digits;
  d->exponent = DECIMAL_MOST - 1 - s->k + is_next;
}

static void set_zero(struct decimal *d, int digits) {
  memset(d->digits, '0', sizeof d->digits);
  d->count = digits;
  d->exponent = 0;
}

void decimal_round(struct decimal *d, double x, int digits) {
  if (x == 0) {
    set_zero(d, digits);
    return;
  }
  const struct scaled s = scale_whole(interval_of(x).x);
  set_digits(d, &s, rounded_digits(s.value, DECIMAL_MOST - digits), digits);
}

/* ---- digits that read back ---- */

/* The integers that are twice a number within an interval, scaled. */
struct inside {
  uint64_t least, count;
};

/* The ends themselves are read as x if its last bit is 0. */
static struct inside inside_of(const struct interval *f, const struct scaled *s) {
  const uint64_t m = 4 * f->x.m;
  const int exponent = f->x.exponent - 2;
  const bool open = f->x.m % 2 == 1;
  const struct halves low =
      scale_by((struct binary){m - (f->nearer_below ? 1 : 2), exponent}, s);
  const struct halves high = scale_by((struct binary){m + 2, exponent}, s);
  const uint64_t least = low.count + (low.more | open);
  return (struct inside){least, high.count + (high.more | !open) - least};
}

static void shortest_in(struct decimal *d, const struct interval *f, int fewest, int most) {
  if (f->x.m == 0) {
    set_zero(d, fewest);
    return;
  }
  const struct scaled s = scale_whole(f->x);
  const struct inside inside = inside_of(f, &s);
  for (int digits = fewest;; digits++) {
    const int dropped = DECIMAL_MOST - digits;
    const uint64_t units = rounded_digits(s.value, dropped);
    const bool is_inside = units * 2 * tens[dropped] - inside.least < inside.count;
    if (!is_inside && digits < most) continue;
    set_digits(d, &s, units, digits);
    return;
  }
}

void decimal_shortest(struct decimal *d, double x, int fewest) {
  const struct interval f = interval_of(x);
  shortest_in(d, &f, fewest, DECIMAL_MOST);
}

void decimal_shortest_32(struct decimal *d, float x, int fewest) {
  const struct interval f = interval_of_32(x);
  shortest_in(d, &f, fewest, DECIMAL_MOST_32);
}
