/* number.c - numbers as text, both ways. */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t format_int(char *dst, int64_t x) {
  char digits[24];
  size_t n = 0, out = 0;
  uint64_t rest = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
  do {
    digits[n++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (x < 0) dst[out++] = '-';
  while (n > 0) dst[out++] = digits[--n];
  dst[out] = '\0';
  return out;
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

size_t format_float(char *dst, double x) {
  size_t n = format_nonfinite(dst, x);
  return n != 0 ? n : (size_t)snprintf(dst, NUMBER_TEXT_MAX, "%.14e", x);
}

size_t format_float_digits(char *dst, double x) {
  size_t n = format_nonfinite(dst, x);
  return n != 0 ? n : (size_t)snprintf(dst, NUMBER_TEXT_MAX, "%.16e", x);
}

size_t format_float_exact(char *dst, double x) {
  size_t n = format_nonfinite(dst, x);
  if (n != 0) return n;
  int digits = 15; /* any decimal of up to 15 digits survives, and %g drops trailing zeros */
  do {
    n = (size_t)snprintf(dst, NUMBER_TEXT_MAX, "%.*g", digits, x);
  } while (digits++ < 17 && strtod(dst, NULL) != x);
  return n;
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

/* A literal of any length as "[-]DIGITSeEXPONENT", short enough for dst and of equal value to
 * the last bit. */
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
  return strtod(buffer, NULL);
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
  char *end;
  double x = strtod(text, &end);
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
