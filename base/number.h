/* number.h - numbers as text, both ways, without locale and without surprises. */
#ifndef RAVEL_NUMBER_H
#define RAVEL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NUMBER_TEXT_MAX = 32 }; /* bytes any of these can write, the NUL included */

/* Decimal form of x; returns its length. dst has NUMBER_TEXT_MAX bytes. */
size_t format_int(char *dst, int64_t x);
/* "about -3.4e25" for v * 10^w, v of two digits; where w is far below that of any double, as
 * the least INT is, "NaN or an infinity". */
size_t format_about(char *dst, int64_t v, int64_t w);
/* The form "%.14e" with "inf", "-inf" and "nan" (vcode.md, section 13.1). */
size_t format_float(char *dst, double x);
/* The same with 17 digits, "%.16e", which read back as the same double. */
size_t format_float_digits(char *dst, double x);
/* Shortest-looking form for messages and listings that reads back as the same double. */
size_t format_float_exact(char *dst, double x);

/* [-+]?[0-9]+ over the whole text; false if it is not that or outside least .. most. */
bool parse_int(const char *text, size_t length, int64_t least, int64_t most, int64_t *out);
/* The real literal form of vcode.md, section 2, already checked; nearest double, infinity on
 * overflow. Text need not be NUL-terminated. */
double parse_real(const char *text, size_t length);
/* What strtod reads in the "C" locale, whatever the locale: nearest double, *end behind it. */
double read_real(const char *text, const char **end);

/* Bytes with a unit for people: "512 B", "1.5 GiB". */
size_t format_bytes(char *dst, uint64_t bytes);
/* "64M", "1.5G", "4096", "2GiB": false if malformed, zero or too large. */
bool parse_bytes(const char *text, uint64_t *out);

#endif
