/* real.c - decimal numerals as the nearest doubles, whatever the locale.
 *
 * Up to 19 digits times a power of ten are one product of 64 and 128 bits, as D. Lemire,
 * "Number parsing at a gigabyte per second" (2021), has it. What is cut off of the power makes
 * the product too small by less than two units of its upper 128 bits; where these could change
 * the rounding, and for numerals of more digits or another form, the C library reads.
 */
#include "base/number.h"
#include "base/powers-of-ten.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* digits * 10^exponent. */
struct numeral {
  uint64_t digits;
  int64_t exponent;
  bool negative;
};

enum { DIGITS_MOST = 19, EXPONENT_MOST = 100000 };

/* Appends digits; too many wrap around. */
static inline const char *take_digits(uint64_t *digits, const char *p) {
  uint64_t x = *digits;
  for (; is_digit_byte(*p); p++) x = 10 * x + (uint64_t)(*p - '0');
  *digits = x;
  return p;
}

/* Takes e5, e+5, E-5, or nothing. */
static const char *take_exponent(struct numeral *n, const char *p) {
  if (*p != 'e' && *p != 'E') return p;
  const char *digits = p + 1 + (p[1] == '-' || p[1] == '+');
  if (!is_digit_byte(*digits)) return p;
  int64_t written = 0;
  for (; is_digit_byte(*digits); digits++)
    if (written < EXPONENT_MOST) written = 10 * written + (*digits - '0');
  n->exponent += p[1] == '-' ? -written : written;
  return digits;
}

/* Whether a numeral of so many bytes has few enough digits, zeros before them aside. */
static bool has_few_digits(const char *p, int64_t length) {
  for (; length > DIGITS_MOST && (*p == '0' || *p == '.'); length--) p++;
  return length <= DIGITS_MOST;
}

/* The end of the numeral; NULL if it has another form or too many digits. */
static const char *take_numeral(struct numeral *n, const char *p) {
  n->negative = *p == '-';
  if (*p == '-' || *p == '+') p++;
  const char *start = p;
  p = take_digits(&n->digits, p);
  int64_t count = p - start;
  if (*p == '.') {
    const char *fraction = p + 1;
    p = take_digits(&n->digits, fraction);
    n->exponent = fraction - p;
    count += p - fraction;
  }
  if (count == 0 || *p == 'x' || *p == 'X') return NULL;
  if (count > DIGITS_MOST && !has_few_digits(start, p - start)) return NULL;
  return take_exponent(n, p);
}

/* Finds the nearest double. Returns false where the product leaves it open, or it is beyond the
 * range. */
static bool nearest_double(const struct numeral *n, double *x) {
  if (n->exponent < TEN_LEAST || n->exponent > TEN_MOST) return false;
  const int k = (int)n->exponent, zeros = __builtin_clzll(n->digits);
  const struct ten_product product = ten_multiply(n->digits << zeros, k);
  const uint64_t high = (uint64_t)(product.high >> 64), low = (uint64_t)product.high;
  const int first = high >> 63 ? 63 : 62; /* bit of `high` */
  const int exponent = first + 128 - zeros + product.exponent;
  const int above = exponent - (DBL_MIN_EXP - 1); /* the least normal exponent */
  const int dropped = first + 1 - DBL_MANT_DIG - (above < 0 ? above : 0);
  if (exponent >= DBL_MAX_EXP || dropped > 62) return false;
  const uint64_t half = UINT64_C(1) << (dropped - 1), rest = high & (2 * half - 1);
  uint64_t bits = high >> dropped;
  if (ten_is_exact(k)) {
    const bool more = (low | product.low) != 0;
    bits += rest > half || (rest == half && (more || bits % 2 == 1));
  } else if (rest == half - 1 && low == UINT64_MAX) {
    return false;
  } else {
    bits += rest >= half;
  }
  /* The first bit of a normal number is not stored, and adds one to its exponent. */
  if (above > 0) bits += (uint64_t)above << (DBL_MANT_DIG - 1);
  memcpy(x, &bits, sizeof bits);
  return true;
}

static double read_slowly(const char *text, const char **end) {
  char *behind;
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  const double x = plain ? strtod_l(text, &behind, plain) : strtod(text, &behind);
  if (plain) freelocale(plain);
  *end = behind;
  return x;
}

double read_real(const char *text, const char **end) {
  struct numeral n = {0};
  double x = 0;
  const char *behind = take_numeral(&n, text);
  if (!behind || (n.digits != 0 && !nearest_double(&n, &x))) return read_slowly(text, end);
  *end = behind;
  return n.negative ? -x : x;
}
