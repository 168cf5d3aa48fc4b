/* elements.c - elements of every width between the host's memory and vectors.
 *
 * Those that are as wide as in the vector are copied. Others are converted on their way in in
 * the memory of the back end, by any of its threads; on their way out by way of int64_t or
 * double, some at a time.
 */
#include "libravel/import.h"
#include "libravel/private.h"

#include <math.h>
#include <string.h>

enum type_tag ravel_element_type(enum ravel_element element) {
  switch (element) {
  case RAVEL_BOOL8: return TYPE_BOOL;
  case RAVEL_INT8:
  case RAVEL_INT16:
  case RAVEL_INT32:
  case RAVEL_INT64:
  case RAVEL_UINT8:
  case RAVEL_UINT16:
  case RAVEL_UINT32: return TYPE_INT;
  case RAVEL_FLOAT32:
  case RAVEL_FLOAT64: return TYPE_FLOAT;
  case RAVEL_CHAR8: return TYPE_CHAR;
  case RAVEL_OFFSETS32:
  case RAVEL_OFFSETS64: break;
  }
  return TYPE_STREAM;
}

size_t ravel_element_bytes(enum ravel_element element) {
  switch (element) {
  case RAVEL_BOOL8:
  case RAVEL_INT8:
  case RAVEL_UINT8:
  case RAVEL_CHAR8: return 1;
  case RAVEL_INT16:
  case RAVEL_UINT16: return 2;
  case RAVEL_INT32:
  case RAVEL_UINT32:
  case RAVEL_FLOAT32:
  case RAVEL_OFFSETS32: return 4;
  case RAVEL_INT64:
  case RAVEL_FLOAT64:
  case RAVEL_OFFSETS64: break;
  }
  return 8;
}

/* ---- in ---- */

/* Integers as Arrow has them, whose conversions do for others; floats are rounded here. */
static const struct arrow_format formats[] = {
    [RAVEL_INT8] = {.kind = ARROW_INTEGER, .bytes = 1},
    [RAVEL_INT16] = {.kind = ARROW_INTEGER, .bytes = 2},
    [RAVEL_INT32] = {.kind = ARROW_INTEGER, .bytes = 4},
    [RAVEL_INT64] = {.kind = ARROW_INTEGER, .bytes = 8},
    [RAVEL_UINT8] = {.kind = ARROW_INTEGER, .bytes = 1, .is_unsigned = true},
    [RAVEL_UINT16] = {.kind = ARROW_INTEGER, .bytes = 2, .is_unsigned = true},
    [RAVEL_UINT32] = {.kind = ARROW_INTEGER, .bytes = 4, .is_unsigned = true},
    [RAVEL_FLOAT32] = {.kind = ARROW_FLOATING, .bytes = 4},
    [RAVEL_FLOAT64] = {.kind = ARROW_FLOATING, .bytes = 8},
    [RAVEL_CHAR8] = {.kind = ARROW_INTEGER, .bytes = 1, .is_unsigned = true}};

static void bytes_to_bools(const uint8_t *from, uint64_t n, uint8_t *to) {
  for (uint64_t i = 0; i < n; i++) to[i] = from[i] != 0;
}

static void to_floats(const char *from, uint64_t n, float *to) {
  for (uint64_t i = 0; i < n; i++) {
    double x;
    memcpy(&x, from + i * sizeof x, sizeof x);
    to[i] = (float)x;
  }
}

/* Loads n elements from the first on, of any alignment, in the width of a vector. Returns the
 * number of elements before one that does not fit an INT: n, unless there is one. */
static uint64_t load_elements(enum ravel_element element, const char *data, uint64_t first,
                              uint64_t n, enum cvl_elem elem, void *to) {
  const char *from = data + first * ravel_element_bytes(element);
  if (element == RAVEL_BOOL8) {
    bytes_to_bools((const uint8_t *)from, n, to);
    return n;
  }
  if (element == RAVEL_FLOAT64 && elem == CVL_F32) {
    to_floats(from, n, to);
    return n;
  }
  return arrow_convert(&formats[element], from, 0, n, elem, to);
}

enum cvl_elem ravel_elem_for(const struct ravel_context *c, enum ravel_element element) {
  switch (ravel_element_type(element)) {
  case TYPE_BOOL: return CVL_BOOL;
  case TYPE_FLOAT: return c->options.machine.widths.float_elem;
  default: break;
  }
  return c->options.machine.widths.int_elem;
}

bool ravel_elements_agree(const struct ravel_context *c, enum ravel_element element) {
  const enum cvl_elem elem = ravel_elem_for(c, element);
  return elem != CVL_BOOL && element != RAVEL_UINT32 &&
         ravel_element_type(element) != TYPE_CHAR &&
         elem_info(elem)->bytes == ravel_element_bytes(element);
}

struct conversion {
  enum ravel_element element;
  enum cvl_elem elem;
  const char *data;
  _Atomic uint64_t lost; /* the first that does not fit, or UINT64_MAX */
};

static void note_lost_element(struct conversion *v, uint64_t position) {
  uint64_t seen = v->lost;
  while (position < seen && !atomic_compare_exchange_weak(&v->lost, &seen, position)) {
  }
}

/* Converts elements; a cvl_filler. */
static void convert_elements(void *with, uint64_t first, uint64_t n, void *to) {
  struct conversion *v = with;
  const uint64_t fit = load_elements(v->element, v->data, first, n, v->elem, to);
  if (fit < n) note_lost_element(v, first + fit);
}

static enum ravel_code fail_lost(struct ravel_context *c, const struct conversion *v) {
  return ravel_fail(c, RAVEL_DATA, "element %llu, %lld, does not fit an INT of 32 bits",
                    (unsigned long long)v->lost,
                    (long long)arrow_integer(&formats[v->element], v->data, v->lost));
}

enum ravel_code ravel_elements_in(struct ravel_context *c, enum ravel_element element,
                                  const void *data, size_t length, struct cvl_value *out) {
  const enum cvl_elem elem = ravel_elem_for(c, element);
  if (length > SIZE_MAX / 16) return ravel_fail_memory(c);
  struct conversion v = {element, elem, data, UINT64_MAX};
  /* One element is read as what it is. */
  const bool as_it_is = length != 1 && ravel_elements_agree(c, element);
  const bool good =
      as_it_is
          ? machine_value_vector(c->machine, elem, data, length, out, c->diags)
          : machine_value_generate(c->machine, elem, length,
                                   &(struct cvl_filler){convert_elements, &v}, out, c->diags);
  if (!good) return ravel_fail_machine(c);
  return v.lost == UINT64_MAX ? RAVEL_OK : fail_lost(c, &v);
}

/* ---- out ---- */

/* Chunks on the host stay in its first caches. A device takes as long for a few elements as for
 * many. */
enum { HOST_CHUNK = 1 << 12, DEVICE_CHUNK = 1 << 20, FEW = 64 };

static const double past_int64 = 9223372036854775808.0;

/* Converts an INT to the double of its value; returns false if there is none. */
static bool is_double(int64_t x, double *d) {
  *d = (double)x;
  return *d < past_int64 && (int64_t)*d == x;
}

static bool is_int_valued(double d, int64_t *x) {
  if (!(d >= -past_int64 && d < past_int64) || d != trunc(d)) return false;
  *x = (int64_t)d;
  return true;
}

static bool is_in_element_range(enum ravel_element element, int64_t x) {
  switch (element) {
  case RAVEL_BOOL8: return x == 0 || x == 1;
  case RAVEL_INT8: return x == (int8_t)x;
  case RAVEL_INT16: return x == (int16_t)x;
  case RAVEL_INT32: return x == (int32_t)x;
  case RAVEL_UINT8:
  case RAVEL_CHAR8: return x == (uint8_t)x;
  case RAVEL_UINT16: return x == (uint16_t)x;
  case RAVEL_UINT32: return x == (uint32_t)x;
  case RAVEL_INT64:
  case RAVEL_FLOAT32:
  case RAVEL_FLOAT64:
  case RAVEL_OFFSETS32:
  case RAVEL_OFFSETS64: break;
  }
  return true;
}

/* Writes one element; returns false if its value would change. memcpy of the narrow variable is
 * right whatever the order of bytes. */
static bool store_int_element(enum ravel_element element, int64_t x, char *to) {
  const int8_t i8 = (int8_t)x;
  const int16_t i16 = (int16_t)x;
  const int32_t i32 = (int32_t)x;
  if (!is_in_element_range(element, x)) return false;
  switch (ravel_element_bytes(element)) {
  case 1: memcpy(to, &i8, sizeof i8); break;
  case 2: memcpy(to, &i16, sizeof i16); break;
  case 4: memcpy(to, &i32, sizeof i32); break;
  default: memcpy(to, &x, sizeof x); break;
  }
  return true;
}

static bool store_float(enum ravel_element element, double d, char *to) {
  const float f = (float)d;
  if (element == RAVEL_FLOAT64) {
    memcpy(to, &d, sizeof d);
    return true;
  }
  memcpy(to, &f, sizeof f);
  return (double)f == d || isnan(d);
}

static bool store_element(enum ravel_element element, enum cvl_elem elem, const void *from,
                          size_t k, char *to) {
  const bool wants_float = ravel_element_type(element) == TYPE_FLOAT;
  int64_t x = 0;
  double d = 0;
  switch (elem) {
  case CVL_F32: d = (double)((const float *)from)[k]; break;
  case CVL_F64: d = ((const double *)from)[k]; break;
  case CVL_I32: x = ((const int32_t *)from)[k]; break;
  case CVL_I64: x = ((const int64_t *)from)[k]; break;
  default: x = ((const uint8_t *)from)[k]; break;
  }
  const bool is_float = elem == CVL_F32 || elem == CVL_F64;
  if (is_float && !wants_float)
    return is_int_valued(d, &x) && store_int_element(element, x, to);
  if (!is_float && !wants_float) return store_int_element(element, x, to);
  return (is_float || is_double(x, &d)) && store_float(element, d, to);
}

/* Copies by chunks of `most` elements, for which there is room at `chunk`. */
static enum ravel_code by_chunks(struct ravel_context *c, const struct cvl_value *v,
                                 enum ravel_element element, size_t first, size_t count,
                                 void *chunk, size_t most, char *to) {
  const size_t each = ravel_element_bytes(element);
  for (size_t done = 0; done < count; done += most) {
    const size_t n = count - done < most ? count - done : most;
    if (!machine_value_copy(c->machine, v, first + done, n, chunk, c->diags))
      return ravel_fail_machine(c);
    for (size_t k = 0; k < n; k++) {
      if (store_element(element, (enum cvl_elem)v->elem, chunk, k, to + (done + k) * each))
        continue;
      return ravel_fail(c, RAVEL_DATA, "element %zu would change its value in this type",
                        first + done + k);
    }
  }
  return RAVEL_OK;
}

enum ravel_code ravel_elements_out(struct ravel_context *c, const struct cvl_value *v,
                                   enum ravel_element element, size_t first, size_t count,
                                   void *data) {
  const bool is_bool = v->elem == CVL_BOOL && element == RAVEL_BOOL8;
  const bool as_it_is =
      is_bool || (v->elem == ravel_elem_for(c, element) && ravel_elements_agree(c, element));
  if (as_it_is) {
    return machine_value_copy(c->machine, v, first, count, data, c->diags)
               ? RAVEL_OK
               : ravel_fail_machine(c);
  }
  int64_t few[FEW];
  const size_t usual = ravel_cuda_device(c) < 0 ? HOST_CHUNK : DEVICE_CHUNK;
  const size_t most = count < usual ? count : usual;
  void *chunk = count <= FEW ? few : heap_alloc(&c->heap, most * sizeof few[0]);
  if (!chunk) return ravel_fail_memory(c);
  const enum ravel_code code = by_chunks(c, v, element, first, count, chunk, most, data);
  if (count > FEW) heap_free(&c->heap, chunk, most * sizeof few[0]);
  return code;
}
