/* export-columns.c - columns into the buffers of arrays. */
#include "libravel/export.h"

#include <inttypes.h>
#include <stdio.h>

/* A level that is to be exported: n elements of a type, into an array and its schema. */
struct level {
  struct type *type;
  uint64_t n;
  const char *name; /* or NULL: field `number` */
  int64_t number;
  struct ArrowSchema *schema;
  struct ArrowArray *array;
};

static enum ravel_code export_level(struct export *, const struct level *);

/* Elements that are changed on their way are copied this many at a time. */
enum { STRIP = 4096 };

/* ---- beginning ---- */

static enum ravel_code export_no_memory(struct export *e) {
  snprintf(e->problem, sizeof e->problem, "no memory for an array of Arrow");
  return RAVEL_MEMORY;
}

static enum ravel_code begin_level(struct export *e, const struct level *l, const char *format,
                                   int64_t buffers, int64_t children) {
  const bool fine = export_begin_schema(l->schema, format, l->name, l->number, children) &&
                    export_begin_array(l->array, l->n, buffers, children);
  return fine ? RAVEL_OK : export_no_memory(e);
}

/* Takes the next column, which has n elements. Results of a program that is compiled without
 * checks may have others. */
static enum ravel_code take_column(struct export *e, uint64_t n, uint32_t *column) {
  *column = e->column++;
  if (e->lengths[*column] == n) return RAVEL_OK;
  snprintf(e->problem, sizeof e->problem,
           "column %" PRIu32 " of the value has %" PRIu64 " elements instead of %" PRIu64,
           *column, e->lengths[*column], n);
  return RAVEL_INTERNAL;
}

/* ---- scalars ---- */

static enum ravel_code export_numbers(struct export *e, const struct level *l,
                                      const char *format, uint64_t bytes) {
  uint32_t column;
  enum ravel_code code = begin_level(e, l, format, 2, 0);
  if (code == RAVEL_OK) code = take_column(e, l->n, &column);
  if (code != RAVEL_OK) return code;
  struct cvl_export exported;
  if (e->export_vector && e->export_vector(e->with, column, &exported)) {
    export_lent(l->array, 1, &exported);
    return RAVEL_OK;
  }
  void *buffer = export_buffer(l->array, 1, l->n, bytes);
  return buffer ? e->copy(e->with, column, 0, l->n, buffer) : export_no_memory(e);
}

static enum ravel_code copy_bits(struct export *e, uint32_t column, uint64_t n, uint8_t *bits) {
  uint8_t strip[STRIP];
  for (uint64_t first = 0; first < n; first += STRIP) {
    const uint64_t count = n - first < STRIP ? n - first : STRIP;
    const enum ravel_code code = e->copy(e->with, column, first, count, strip);
    if (code != RAVEL_OK) return code;
    for (uint64_t i = 0; i < count; i++) {
      uint8_t *byte = &bits[(first + i) / 8];
      *byte = (uint8_t)((i % 8 ? *byte : 0) | (strip[i] != 0) << i % 8);
    }
  }
  return RAVEL_OK;
}

static enum ravel_code export_bools(struct export *e, const struct level *l) {
  uint32_t column;
  enum ravel_code code = begin_level(e, l, "b", 2, 0);
  if (code == RAVEL_OK) code = take_column(e, l->n, &column);
  if (code != RAVEL_OK) return code;
  uint8_t *bits = export_buffer(l->array, 1, l->n / 8 + 1, 1);
  return bits ? copy_bits(e, column, l->n, bits) : export_no_memory(e);
}

/* ---- characters ---- */

union strip {
  int64_t wide[STRIP];
  int32_t narrow[STRIP];
};

/* Copies a column of characters as bytes. */
static enum ravel_code copy_chars(struct export *e, uint32_t column, uint64_t n,
                                  uint8_t *bytes) {
  union strip strip;
  for (uint64_t first = 0; first < n; first += STRIP) {
    const uint64_t count = n - first < STRIP ? n - first : STRIP;
    const enum ravel_code code = e->copy(e->with, column, first, count, &strip);
    if (code != RAVEL_OK) return code;
    for (uint64_t i = 0; i < count; i++) {
      const int64_t x = e->int_elem == CVL_I32 ? strip.narrow[i] : strip.wide[i];
      bytes[first + i] = (uint8_t)x;
      if (x >= 0 && x <= UINT8_MAX) continue;
      snprintf(e->problem, sizeof e->problem,
               "a char at position %" PRIu64 " has the code %" PRId64 ", which is no byte",
               first + i, x);
      return RAVEL_DATA;
    }
  }
  return RAVEL_OK;
}

/* Exports the next column, of n characters, into buffer `i`. */
static enum ravel_code export_chars(struct export *e, struct ArrowArray *array, unsigned i,
                                    uint64_t n) {
  uint32_t column;
  const enum ravel_code code = take_column(e, n, &column);
  if (code != RAVEL_OK) return code;
  uint8_t *bytes = export_buffer(array, i, n, 1);
  return bytes ? copy_chars(e, column, n, bytes) : export_no_memory(e);
}

static enum ravel_code export_single_chars(struct export *e, const struct level *l) {
  const enum ravel_code code = begin_level(e, l, "C", 2, 0);
  return code == RAVEL_OK ? export_chars(e, l->array, 1, l->n) : code;
}

/* Returns the bytes of a character in UTF-8 at s, of which there are n; 0 if it is none. */
static uint64_t utf8_length(const uint8_t *s, uint64_t n) {
  if (s[0] < 0x80) return 1;
  const uint64_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
  if (s[0] < 0xc2 || s[0] > 0xf4 || length > n) return 0;
  for (uint64_t i = 1; i < length; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
  }
  if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
  if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
  return length;
}

/* Whether each of n texts is UTF-8. */
static bool all_utf8(const int64_t *offsets, uint64_t n, const uint8_t *bytes) {
  for (uint64_t i = 0; i < n; i++) {
    for (int64_t at = offsets[i]; at < offsets[i + 1];) {
      const uint64_t length = utf8_length(bytes + at, (uint64_t)(offsets[i + 1] - at));
      if (length == 0) return false;
      at += (int64_t)length;
    }
  }
  return true;
}

/* ---- sequences and tuples ---- */

/* Exports the lengths of the level's sequences as the offsets of its array. */
static enum ravel_code export_offsets(struct export *e, const struct level *l,
                                      int64_t **offsets) {
  uint32_t column;
  enum ravel_code code = take_column(e, l->n, &column);
  if (code != RAVEL_OK) return code;
  int64_t *all = *offsets = export_buffer(l->array, 1, l->n + 1, sizeof *all);
  if (!all) return export_no_memory(e);
  all[0] = 0;
  code = e->copy(e->with, column, 0, l->n, all + 1);
  for (uint64_t i = 0; code == RAVEL_OK && i < l->n; i++) all[i + 1] += all[i];
  return code;
}

static enum ravel_code export_texts(struct export *e, const struct level *l) {
  int64_t *offsets;
  enum ravel_code code = begin_level(e, l, "U", 3, 0);
  if (code == RAVEL_OK) code = export_offsets(e, l, &offsets);
  if (code == RAVEL_OK) code = export_chars(e, l->array, 2, (uint64_t)offsets[l->n]);
  if (code == RAVEL_OK && !all_utf8(offsets, l->n, l->array->buffers[2])) {
    l->schema->format = "Z";
  }
  return code;
}

static enum ravel_code export_lists(struct export *e, const struct level *l) {
  struct type *element = type_of(l->type->part[0]);
  if (element->tag == TYPE_CHAR) return export_texts(e, l);
  int64_t *offsets;
  enum ravel_code code = begin_level(e, l, "+L", 2, 1);
  if (code == RAVEL_OK) code = export_offsets(e, l, &offsets);
  if (code != RAVEL_OK) return code;
  return export_level(e, &(struct level){.type = element,
                                         .n = (uint64_t)offsets[l->n],
                                         .name = "item",
                                         .schema = l->schema->children[0],
                                         .array = l->array->children[0]});
}

static enum ravel_code export_tuples(struct export *e, const struct level *l) {
  int64_t fields = 1;
  for (struct type *t = l->type; t->tag == TYPE_PAIR; t = type_of(t->part[1])) fields++;
  enum ravel_code code = begin_level(e, l, "+s", 1, fields);
  struct type *rest = l->type;
  for (int64_t i = 0; code == RAVEL_OK && i < fields; i++) {
    const bool last = i + 1 == fields;
    code = export_level(e, &(struct level){.type = last ? rest : type_of(rest->part[0]),
                                           .n = l->n,
                                           .number = i,
                                           .schema = l->schema->children[i],
                                           .array = l->array->children[i]});
    if (!last) rest = type_of(rest->part[1]);
  }
  return code;
}

static enum ravel_code export_level(struct export *e, const struct level *l) {
  const bool wide_int = e->int_elem == CVL_I64, wide_float = e->float_elem == CVL_F64;
  switch ((enum type_tag)l->type->tag) {
  case TYPE_INT: return export_numbers(e, l, wide_int ? "l" : "i", wide_int ? 8 : 4);
  case TYPE_FLOAT: return export_numbers(e, l, wide_float ? "g" : "f", wide_float ? 8 : 4);
  case TYPE_BOOL: return export_bools(e, l);
  case TYPE_CHAR: return export_single_chars(e, l);
  case TYPE_SEQUENCE: return export_lists(e, l);
  case TYPE_PAIR: return export_tuples(e, l);
  case TYPE_STREAM:
  case TYPE_FUNCTION:
  case TYPE_DATA:
  case TYPE_IDENTITY:
  case TYPE_VARIABLE: break;
  }
  snprintf(e->problem, sizeof e->problem,
           "a datatype, a function or a stream has no type of "
           "Arrow");
  return RAVEL_DATA;
}

enum ravel_code export_sequence(struct export *e, struct ArrowSchema *schema,
                                struct ArrowArray *array) {
  struct type *type = type_of(e->type);
  int64_t rows;
  schema->release = NULL;
  array->release = NULL;
  if (type->tag != TYPE_SEQUENCE) {
    snprintf(e->problem, sizeof e->problem, "only a sequence is an array of Arrow");
    return RAVEL_DATA;
  }
  enum ravel_code code = e->copy(e->with, e->column++, 0, 1, &rows);
  if (code != RAVEL_OK) return code;
  code = export_level(e, &(struct level){.type = type_of(type->part[0]),
                                         .n = (uint64_t)rows,
                                         .name = "",
                                         .schema = schema,
                                         .array = array});
  if (code == RAVEL_OK) return code;
  if (schema->release) schema->release(schema);
  if (array->release) array->release(array);
  return code;
}
