/* arrow-elements.c - elements of a producer's buffers, which may have any alignment and end
 * with the last element, in the widths of a context.
 */
#include "libravel/import.h"

#include <math.h>
#include <string.h>

int64_t arrow_integer(const struct arrow_format *format, const void *buffer, uint64_t i) {
  const unsigned char *p = (const unsigned char *)buffer + i * format->bytes;
  uint64_t bits = 0;
  for (unsigned k = 0; k < format->bytes; k++) bits |= (uint64_t)p[k] << 8 * k;
  const unsigned unused = 64 - 8u * format->bytes;
  if (unused == 0 || format->is_unsigned) return (int64_t)bits;
  return (int64_t)(bits << unused) >> unused;
}

struct arrow_view arrow_view(const struct ArrowArray *a, uint64_t position) {
  const char *p = (const char *)a->buffers[1] + position * ARROW_VIEW_BYTES;
  struct arrow_view v;
  memcpy(&v.length, p, sizeof v.length);
  memcpy(v.bytes, p + 4, sizeof v.bytes);
  memcpy(&v.buffer, p + 8, sizeof v.buffer); /* behind the first bytes of the text */
  memcpy(&v.offset, p + 12, sizeof v.offset);
  return v;
}

int64_t arrow_view_bytes(const struct ArrowArray *a, int32_t buffer) {
  int64_t bytes; /* the last buffer has the lengths of those of texts */
  const char *sizes = a->buffers[a->n_buffers - 1];
  memcpy(&bytes, sizes + (size_t)buffer * sizeof bytes, sizeof bytes);
  return bytes;
}

/* A loop that tests nothing may be vectorised. If a value was lost, a second loop finds it. */
#define CONVERT(name, from_type, to_type, keeps)                                               \
  static uint64_t name(const unsigned char *from, uint64_t n, to_type *to) {                   \
    bool lost = false;                                                                         \
    from_type x;                                                                               \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      memcpy(&x, from + i * sizeof x, sizeof x);                                               \
      to[i] = (to_type)x;                                                                      \
      lost |= !(keeps);                                                                        \
    }                                                                                          \
    for (uint64_t i = 0; lost && i < n; i++) {                                                 \
      memcpy(&x, from + i * sizeof x, sizeof x);                                               \
      if (!(keeps)) return i;                                                                  \
    }                                                                                          \
    return n;                                                                                  \
  }

CONVERT(i8_to_i64, int8_t, int64_t, true)
CONVERT(u8_to_i64, uint8_t, int64_t, true)
CONVERT(i16_to_i64, int16_t, int64_t, true)
CONVERT(u16_to_i64, uint16_t, int64_t, true)
CONVERT(i32_to_i64, int32_t, int64_t, true)
CONVERT(u32_to_i64, uint32_t, int64_t, true)
CONVERT(u64_to_i64, uint64_t, int64_t, x <= INT64_MAX)
CONVERT(u64_to_i32, uint64_t, int32_t, x <= INT32_MAX)
CONVERT(i64_to_i64, int64_t, int64_t, true)
CONVERT(i8_to_i32, int8_t, int32_t, true)
CONVERT(u8_to_i32, uint8_t, int32_t, true)
CONVERT(i16_to_i32, int16_t, int32_t, true)
CONVERT(u16_to_i32, uint16_t, int32_t, true)
CONVERT(i32_to_i32, int32_t, int32_t, true)
CONVERT(u32_to_i32, uint32_t, int32_t, x <= INT32_MAX)
CONVERT(i64_to_i32, int64_t, int32_t, x >= INT32_MIN && x <= INT32_MAX)
CONVERT(f32_to_f64, float, double, true)
CONVERT(f64_to_f64, double, double, true)
CONVERT(f32_to_f32, float, float, true)
CONVERT(f64_to_f32, double, float, (double)(float)x == x || isnan(x))

/* Converts a float of 16 bits: a sign, 5 bits of exponent, 10 of significand. */
static double half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, significand = bits & 1023;
  const double size = exponent == 31  ? (significand ? (double)NAN : (double)INFINITY)
                      : exponent == 0 ? ldexp(significand, -24)
                                      : ldexp(1024 + significand, exponent - 25);
  return bits >> 15 ? -size : size;
}

#define FROM_HALF(to_type)                                                                     \
  static uint64_t half_to_##to_type(const unsigned char *from, uint64_t n, to_type *to) {      \
    uint16_t bits;                                                                             \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      memcpy(&bits, from + i * sizeof bits, sizeof bits);                                      \
      to[i] = (to_type)half(bits);                                                             \
    }                                                                                          \
    return n;                                                                                  \
  }

FROM_HALF(double)
FROM_HALF(float)

/* Elements of any integer type as INTs of one width. */
#define TO_INT(i, type)                                                                        \
  static uint64_t to_##i(const struct arrow_format *f, const unsigned char *from, uint64_t n,  \
                         type *to) {                                                           \
    switch (f->bytes) {                                                                        \
    case 1: return f->is_unsigned ? u8_to_##i(from, n, to) : i8_to_##i(from, n, to);           \
    case 2: return f->is_unsigned ? u16_to_##i(from, n, to) : i16_to_##i(from, n, to);         \
    case 4: return f->is_unsigned ? u32_to_##i(from, n, to) : i32_to_##i(from, n, to);         \
    default: return f->is_unsigned ? u64_to_##i(from, n, to) : i64_to_##i(from, n, to);        \
    }                                                                                          \
  }

TO_INT(i64, int64_t)
TO_INT(i32, int32_t)

/* The bits of a byte as bytes, the lowest first: a loop that the compiler turns into vectors.
 */
static void spread_byte(uint8_t bits, uint8_t *to) {
  for (int k = 0; k < 8; k++) to[k] = bits >> k & 1;
}

static uint64_t bits_to_bools(const void *bits, uint64_t first, uint64_t n, uint8_t *to) {
  uint64_t i = 0;
  for (; i < n && (first + i) % 8 != 0; i++) to[i] = arrow_bit(bits, first + i);
  for (; n - i >= 8; i += 8) spread_byte(((const uint8_t *)bits)[(first + i) / 8], to + i);
  for (; i < n; i++) to[i] = arrow_bit(bits, first + i);
  return n;
}

uint64_t arrow_convert(const struct arrow_format *f, const void *buffer, uint64_t first,
                       uint64_t n, enum cvl_elem to, void *out) {
  if (n == 0) return 0;
  if (to == CVL_BOOL) return bits_to_bools(buffer, first, n, out);
  const unsigned char *from = (const unsigned char *)buffer + first * f->bytes;
  if (to == CVL_I64) return to_i64(f, from, n, out);
  if (to == CVL_I32) return to_i32(f, from, n, out);
  if (to == CVL_F64) {
    if (f->bytes == 2) return half_to_double(from, n, out);
    return f->bytes == 4 ? f32_to_f64(from, n, out) : f64_to_f64(from, n, out);
  }
  if (f->bytes == 2) return half_to_float(from, n, out);
  return f->bytes == 4 ? f32_to_f32(from, n, out) : f64_to_f32(from, n, out);
}

/* ---- offsets ---- */

#define LENGTHS(name, type)                                                                    \
  static void name(const unsigned char *from, uint64_t n, int64_t *to) {                       \
    type a, b;                                                                                 \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      memcpy(&a, from + i * sizeof a, sizeof a);                                               \
      memcpy(&b, from + (i + 1) * sizeof b, sizeof b);                                         \
      to[i] = (int64_t)b - a;                                                                  \
    }                                                                                          \
  }

LENGTHS(lengths_32, int32_t)
LENGTHS(lengths_64, int64_t)

void arrow_lengths(const struct arrow_format *f, const void *offsets, uint64_t first,
                   uint64_t n, int64_t *out) {
  const unsigned char *from = (const unsigned char *)offsets + first * f->bytes;
  if (f->bytes == 4) {
    lengths_32(from, n, out);
  } else {
    lengths_64(from, n, out);
  }
}

#define INCREASE(name, type)                                                                   \
  static bool name(const unsigned char *from, uint64_t n) {                                    \
    bool decreases = false;                                                                    \
    type a, b;                                                                                 \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      memcpy(&a, from + i * sizeof a, sizeof a);                                               \
      memcpy(&b, from + (i + 1) * sizeof b, sizeof b);                                         \
      decreases |= b < a;                                                                      \
    }                                                                                          \
    return !decreases;                                                                         \
  }

INCREASE(increase_32, int32_t)
INCREASE(increase_64, int64_t)

bool arrow_offsets_increase(const struct arrow_format *f, const void *offsets, uint64_t first,
                            uint64_t n) {
  const unsigned char *from = (const unsigned char *)offsets + first * f->bytes;
  return f->bytes == 4 ? increase_32(from, n) : increase_64(from, n);
}

bool arrow_is_same(const struct arrow_format *f, enum cvl_elem to) {
  if (f->kind == ARROW_INTEGER) return !f->is_unsigned && f->bytes == elem_info(to)->bytes;
  return f->kind == ARROW_FLOATING && f->bytes == elem_info(to)->bytes;
}
