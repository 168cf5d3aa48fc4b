/* float-show.c - floats as they are printed. (NESL specification, section 10.2.) */
#include "neslc/value.h"

#include "base/decimal.h"
#include "base/number.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { PLAIN_LEAST = -3, PLAIN_MOST = 6 }; /* exponents of ten */

/* The fewest digits that read back. Of normal numbers a few always survive, so that the search
 * begins there: fewer would be zeros at the end. */
static void shortest(struct decimal *d, double x, bool narrow) {
  const bool normal = fabs(x) >= (narrow ? (double)FLT_MIN : DBL_MIN);
  if (narrow) {
    decimal_shortest_32(d, (float)x, normal ? FLT_DIG : 1);
  } else {
    decimal_shortest(d, x, normal ? DBL_DIG : 1);
  }
}

/* The digits with `before` of them before the point, and at least one on each side. */
static char *write_plain_digits(char *out, const struct decimal *d, int before) {
  if (before <= 0) {
    *out++ = '0';
    *out++ = '.';
    for (int k = before; k < 0; k++) *out++ = '0';
    memcpy(out, d->digits, (size_t)d->count);
    return out + d->count;
  }
  for (int k = 0; k < before; k++) *out++ = k < d->count ? d->digits[k] : '0';
  *out++ = '.';
  if (d->count <= before) *out++ = '0';
  for (int k = before; k < d->count; k++) *out++ = d->digits[k];
  return out;
}

size_t nesl_format_float(char *dst, double x, struct float_layout layout) {
  if (isnan(x)) return strlen(strcpy(dst, "nan"));
  if (isinf(x)) return strlen(strcpy(dst, x < 0 ? "-infinity" : "infinity"));
  if (x == 0) return strlen(strcpy(dst, signbit(x) ? "-0.0" : "0.0"));
  struct decimal d;
  if (layout.digits > 0) {
    decimal_round(&d, x, (int)layout.digits);
  } else {
    shortest(&d, x, layout.narrow);
  }
  decimal_trim(&d);
  const bool plain = d.exponent >= PLAIN_LEAST && d.exponent <= PLAIN_MOST;
  char *out = dst;
  if (x < 0) *out++ = '-';
  out = write_plain_digits(out, &d, plain ? d.exponent + 1 : 1);
  if (plain) {
    *out = '\0';
  } else {
    *out++ = 'E';
    out += format_int(out, d.exponent);
  }
  return (size_t)(out - dst);
}
