/* float-show.c - floats as they are printed. (NESL specification, section 10.2.) */
#include "neslc/value.h"

#include "base/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exponents of ten, and decimals that survive: of doubles, and of floats of 32 bits. */
enum {
  PLAIN_LEAST = -3,
  PLAIN_MOST = 6,
  SURE = DBL_DIG,
  MOST = 17,
  SURE_32 = FLT_DIG,
  MOST_32 = 9
};

/* A number in scientific notation: its digits, without zeros at the end. */
struct decimal {
  char digits[MOST];
  int count, exponent;
  bool negative;
};

/* Writes x with so many digits as "-d.dddde-05". */
static void write_scientific(char *text, double x, unsigned digits) {
  snprintf(text, NUMBER_TEXT_MAX, "%.*e", (int)digits - 1, x);
}

static bool reads_back(const char *text, double x, bool narrow) {
  return narrow ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x;
}

/* The fewest digits that read back. Of normal numbers a few always survive, so that the search
 * begins there: fewer would be zeros at the end. */
static void write_shortest(char *text, double x, bool narrow) {
  const bool normal = fabs(x) >= (narrow ? (double)FLT_MIN : DBL_MIN);
  const unsigned most = narrow ? MOST_32 : MOST;
  unsigned digits = !normal ? 1 : narrow ? SURE_32 : SURE;
  do {
    write_scientific(text, x, digits);
  } while (!reads_back(text, x, narrow) && digits++ < most);
}

static struct decimal decimal_of(const char *text) {
  struct decimal d = {.negative = *text == '-'};
  text += d.negative;
  for (; *text && *text != 'e'; text++) {
    if (*text != '.') d.digits[d.count++] = *text;
  }
  d.exponent = atoi(text + 1);
  while (d.count > 1 && d.digits[d.count - 1] == '0') d.count--;
  return d;
}

/* The digits with `before` of them before the point, and at least one on each side. */
static char *write_plain(char *out, const struct decimal *d, int before) {
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
  if (x == 0) return strlen(strcpy(dst, "0.0"));
  char text[NUMBER_TEXT_MAX];
  if (layout.digits > 0) {
    write_scientific(text, x, layout.digits);
  } else {
    write_shortest(text, x, layout.narrow);
  }
  const struct decimal d = decimal_of(text);
  const bool plain = d.exponent >= PLAIN_LEAST && d.exponent <= PLAIN_MOST;
  char *out = dst;
  if (d.negative) *out++ = '-';
  out = write_plain(out, &d, plain ? d.exponent + 1 : 1);
  if (plain) {
    *out = '\0';
  } else {
    *out++ = 'E';
    out += format_int(out, d.exponent);
  }
  return (size_t)(out - dst);
}
