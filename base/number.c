/* number.c - prints numbers as text and reads them. */
#include "base/number.h"

#include "base/decimal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t format_int(char *dst, int64_t x) {
  char *out = dst;
  if (x < 0) *out++ = '-';
  out += decimal_digits(out, x < 0 ? 0 - (uint64_t)x : (uint64_t)x);
  *out = '\0';
  return (size_t)(out - dst);
}

size_t format_about(char *dst, int64_t v, int64_t w) {
  enum { FEWEST = -400 };
  if (w < FEWEST) return (size_t)snprintf(dst, NUMBER_TEXT_MAX, "NaN or an infinity");
  return (size_t)snprintf(dst, NUMBER_TEXT_MAX, "about %.1fe%d", (double)v / 10, (int)w + 1);
}

static size_t copy_text(char *dst, const char *text) {
  size_t n = strlen(text);
  memcpy(dst, text, n + 1);
  return n;
}

/* Writes an infinity or NaN; 0 if x is finite. */
static size_t format_nonfinite(char *dst, double x) {
  if (isnan(x)) return copy_text(dst, "nan");
  if (isinf(x)) return copy_text(dst, x < 0 ? "-inf" : "inf");
  return 0;
}

/* Writes the digits, `before` of them before the point. The point only stands where digits
 * follow. */
static char *write_fixed(char *out, const struct decimal *d, int before) {
  if (before <= 0) *out++ = '0';
  for (int k = 0; k < before; k++) *out++ = k < d->count ? d->digits[k] : '0';
  if (d->count <= before) return out;
  *out++ = '.';
  for (int k = before; k < 0; k++) *out++ = '0';
  const int first = before > 0 ? before : 0;
  memcpy(out, d->digits + first, (size_t)(d->count - first));
  return out + d->count - first;
}

/* Writes d.ddde+05; the exponent has at least two digits. */
static char *write_scientific(char *out, const struct decimal *d) {
  const int size = abs(d->exponent);
  out = write_fixed(out, d, 1);
  *out++ = 'e';
  *out++ = d->exponent < 0 ? '-' : '+';
  if (size < 10) *out++ = '0';
  return out + decimal_digits(out, (uint64_t)size);
}

static size_t end_text(const char *dst, char *out) {
  *out = '\0';
  return (size_t)(out - dst);
}

/* Writes "%.*e" with so many digits in all. */
static size_t format_rounded(char *dst, double x, int digits) {
  const size_t n = format_nonfinite(dst, x);
  if (n != 0) return n;
  struct decimal d;
  decimal_round(&d, x, digits);
  char *out = dst;
  if (signbit(x)) *out++ = '-';
  return end_text(dst, write_scientific(out, &d));
}

size_t format_float(char *dst, double x) {
  return format_rounded(dst, x, DBL_DIG);
}

size_t format_float_digits(char *dst, double x) {
  return format_rounded(dst, x, DECIMAL_MOST);
}

/* This is the form of "%g" with the fewest digits from 15 on that read back. Any decimal of up
 * to 15 digits survives, and zeros at the end are dropped. */
size_t format_float_exact(char *dst, double x) {
  enum { PLAIN_LEAST = -4 };
  const size_t n = format_nonfinite(dst, x);
  if (n != 0) return n;
  struct decimal d;
  decimal_shortest(&d, x, DBL_DIG);
  const bool plain = d.exponent >= PLAIN_LEAST && d.exponent < d.count;
  decimal_trim(&d);
  char *out = dst;
  if (signbit(x)) *out++ = '-';
  return end_text(dst,
                  plain ? write_fixed(out, &d, d.exponent + 1) : write_scientific(out, &d));
}

bool parse_int(const char *text, size_t length, int64_t least, int64_t most, int64_t *out) {
  size_t i = length > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  bool negative = i == 1 && text[0] == '-';
  if (i == length) return false;
  uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX, value = 0;
  for (; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    uint64_t digit = (uint64_t)(text[i] - '0');
    if (value > (limit - digit) / 10) return false;
    value = 10 * value + digit;
  }
  int64_t x = negative ? (value == limit ? INT64_MIN : -(int64_t)value) : (int64_t)value;
  if (x < least || x > most) return false;
  *out = x;
  return true;
}

/* A double is decided by its first 767 significant digits and whether any digit after them is
 * not zero. */
enum { DECISIVE_DIGITS = 768, REAL_TEXT = DECISIVE_DIGITS + 32 };

/* Beyond this exponent every double is 0 or infinite, however many digits precede it; further
 * digits are ignored. */
static const int64_t exponent_cap = INT64_MAX / 100;

/* Writes a literal of any length as "[-]DIGITSeEXPONENT", which is short enough for dst and of
 * equal value to the last bit. */
static void shorten_real(char *dst, const char *text, size_t length) {
  size_t i = 0, n = 0, digits = 0;
  int64_t exponent = 0, written = 0;
  bool fraction = false, rest = false;
  if (text[0] == '-') dst[n++] = '-';
  if (text[0] == '-' || text[0] == '+') i++;
  for (; i < length && text[i] != 'e' && text[i] != 'E'; i++) {
    if (text[i] == '.') {
      fraction = true;
      continue;
    }
    bool significant = digits > 0 || text[i] != '0';
    bool kept = significant && digits < DECISIVE_DIGITS;
    if (kept) {
      dst[n++] = text[i];
      digits++;
    } else if (significant && text[i] != '0') {
      rest = true;
    }
    exponent += (fraction ? -1 : 0) + (significant && !kept ? 1 : 0);
  }
  if (digits == 0) dst[n++] = '0';
  if (rest) {
    dst[n++] = '1';
    exponent--;
  }
  bool negative = ++i < length && text[i] == '-';
  if (i < length && (text[i] == '-' || text[i] == '+')) i++;
  for (; i < length && written < exponent_cap; i++) written = 10 * written + (text[i] - '0');
  dst[n++] = 'e';
  format_int(dst + n, exponent + (negative ? -written : written));
}

double parse_real(const char *text, size_t length) {
  char buffer[REAL_TEXT];
  if (length < sizeof buffer) {
    memcpy(buffer, text, length);
    buffer[length] = '\0';
  } else {
    shorten_real(buffer, text, length);
  }
  const char *end;
  return read_real(buffer, &end);
}

size_t format_bytes(char *dst, uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  double x = (double)bytes;
  while (x >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
    x /= 1024;
    unit++;
  }
  return (size_t)snprintf(dst, NUMBER_TEXT_MAX, unit == 0 || x >= 100 ? "%.0f %s" : "%.1f %s",
                          x, units[unit]);
}

bool parse_bytes(const char *text, uint64_t *out) {
  if (*text < '0' || *text > '9') return false;
  const char *end;
  double x = read_real(text, &end);
  static const char letters[] = "KMGT";
  const char *letter = *end != '\0' ? strchr(letters, *end & ~0x20) : NULL;
  if (letter != NULL && *letter != '\0') {
    for (const char *p = letters; p <= letter; p++) x *= 1024;
    end++;
    if (*end == 'i') end++;
  }
  if (*end == 'B' || *end == 'b') end++;
  if (*end != '\0' || !(x >= 1) || x >= 9.2e18) return false;
  *out = (uint64_t)x;
  return true;
}
