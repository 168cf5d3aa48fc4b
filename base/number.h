/* number.h - prints numbers as text and reads them, whatever the locale. */
#ifndef RAVEL_NUMBER_H
#define RAVEL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the lesser one. */
static inline uint64_t least_of(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

enum { NUMBER_TEXT_MAX = 32 }; /* bytes any of these can write, the NUL included */

/* Writes the decimal form of x to dst, which has NUMBER_TEXT_MAX bytes. Returns its length, as
 * all format_ functions do. */
size_t format_int(char *dst, int64_t x);
/* Writes "about -3.4e25" for v * 10^w, where v has two digits. Where w is far below that of any
 * double, as the least INT is, it writes "NaN or an infinity". */
size_t format_about(char *dst, int64_t v, int64_t w);
/* Writes the form "%.14e", with "inf", "-inf" and "nan" (vcode.md, section 13.1). */
size_t format_float(char *dst, double x);
/* Writes 17 digits, "%.16e", which read back as the same double. */
size_t format_float_digits(char *dst, double x);
/* Writes the shortest-looking form that reads back as the same double, for messages and
 * listings. */
size_t format_float_exact(char *dst, double x);

/* What is white space and what a digit, whatever the locale. */
static inline bool is_space_byte(int c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
static inline bool is_digit_byte(int c) {
  return c >= '0' && c <= '9';
}

/* Reads [-+]?[0-9]+, which must be the whole text. Returns false if it is not that, or the
 * number is outside least .. most. */
bool parse_int(const char *text, size_t length, int64_t least, int64_t most, int64_t *out);
/* Reads the real literal form of vcode.md, section 2, which was checked before. Returns the
 * nearest double, infinity on overflow. The text need not be NUL-terminated. */
double parse_real(const char *text, size_t length);
/* Reads what strtod reads in the "C" locale, whatever the locale is. Returns the nearest
 * double; *end is behind its text. */
double read_real(const char *text, const char **end);

/* Writes bytes with a unit for people: "512 B", "1.5 GiB". */
size_t format_bytes(char *dst, uint64_t bytes);
/* Reads a size: "64M", "1.5G", "4096", "2GiB". Returns false if it is malformed, zero or too
 * large. */
bool parse_bytes(const char *text, uint64_t *out);

#endif
