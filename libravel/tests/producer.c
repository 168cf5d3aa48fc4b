/* producer.c - random arrays of Arrow, and the columns that they must become. */
#include "libravel/tests/producer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t producer_seed;
bool producer_narrow;
int64_t producer_live;

uint64_t producer_random(uint64_t below) {
  producer_seed = producer_seed * 6364136223846793005u + 1442695040888963407u;
  return below ? (producer_seed >> 20) % below : 0;
}

static void *checked(void *memory) {
  if (!memory) abort();
  return memory;
}

/* ---- shapes ---- */

static const char *const leaves[] = {"b", "c", "C", "s", "S", "i", "I",
                                     "l", "f", "g", "u", "U", "z", "Z"};
static const char *const indices[] = {"c", "C", "s", "S", "i", "I", "l", "L"};

struct shape *shape_of(const char *format) {
  struct shape *s = checked(calloc(1, sizeof *s));
  snprintf(s->text, sizeof s->text, "%s", format);
  if (!arrow_format_parse(format, &s->format)) abort();
  return s;
}

static const char *random_nest(char *text, size_t size) {
  const uint64_t kind = producer_random(4);
  snprintf(text, size, "+w:%u", (unsigned)producer_random(4));
  return kind == 0 ? "+l" : kind == 1 ? "+L" : kind == 2 ? "+s" : text;
}

struct shape *shape_random(unsigned depth) {
  char text[8];
  if (producer_random(8) == 0 && depth > 0) {
    struct shape *s = shape_of(indices[producer_random(8)]);
    s->dictionary = shape_random(depth - 1);
    return s;
  }
  if (depth == 0 || producer_random(3) == 0) return shape_of(leaves[producer_random(14)]);
  struct shape *s = shape_of(random_nest(text, sizeof text));
  s->child_count = s->format.kind == ARROW_STRUCT ? 1 + (uint32_t)producer_random(3) : 1;
  for (uint32_t i = 0; i < s->child_count; i++) {
    s->children[i] = shape_random(depth - 1);
    snprintf(s->children[i]->name, sizeof s->children[i]->name, "f%u", i);
  }
  return s;
}

void shape_free(struct shape *s) {
  if (!s) return;
  for (uint32_t i = 0; i < s->child_count; i++) shape_free(s->children[i]);
  shape_free(s->dictionary);
  free(s);
}

/* ---- the reference ---- */

static void add_columns(struct reference *r, const struct shape *s) {
  uint8_t kind = COLUMN_SEGDES;
  if (s->dictionary) {
    add_columns(r, s->dictionary);
    return;
  }
  if (s->format.kind == ARROW_BOOL) kind = COLUMN_BOOL;
  if (s->format.kind == ARROW_INTEGER) kind = COLUMN_INT;
  if (s->format.kind == ARROW_FLOATING) kind = COLUMN_FLOAT;
  if (s->format.kind != ARROW_STRUCT) r->columns[r->count++].kind = kind;
  if (s->format.kind == ARROW_TEXT) r->columns[r->count++].kind = COLUMN_INT;
  for (uint32_t i = 0; i < s->child_count; i++) add_columns(r, s->children[i]);
  if (r->count > REFERENCE_MOST - 4) abort();
}

void reference_begin(struct reference *r, const struct shape *s) {
  memset(r, 0, sizeof *r);
  add_columns(r, s);
}

void reference_free(struct reference *r) {
  for (uint32_t i = 0; i < r->count; i++) free(r->columns[i].bits);
}

static void producer_append(struct reference *r, uint32_t column, int64_t bits) {
  struct reference_column *c = &r->columns[column];
  if (c->length == c->capacity) {
    c->capacity = 2 * c->capacity + 8;
    c->bits = checked(realloc(c->bits, c->capacity * sizeof *c->bits));
  }
  c->bits[c->length++] = bits;
}

/* Appends elements first .. first + n of the columns of a shape; the column behind them. */
static uint32_t append_range(struct reference *to, const struct reference *from,
                             const struct shape *s, uint32_t at, uint32_t column,
                             uint64_t first, uint64_t n) {
  while (s->dictionary) s = s->dictionary;
  if (s->format.kind == ARROW_STRUCT) {
    const uint32_t begin = column;
    for (uint32_t i = 0; i < s->child_count; i++) {
      column = append_range(to, from, s->children[i], at + column - begin, column, first, n);
    }
    return column;
  }
  uint64_t before = 0, inside = 0;
  const bool sequence = s->format.kind >= ARROW_TEXT;
  for (uint64_t i = 0; sequence && i < first; i++) {
    before += (uint64_t)from->columns[column].bits[i];
  }
  for (uint64_t i = first; i < first + n; i++) {
    if (sequence) inside += (uint64_t)from->columns[column].bits[i];
    producer_append(to, at, from->columns[column].bits[i]);
  }
  if (!sequence) return column + 1;
  if (s->format.kind != ARROW_TEXT) {
    return append_range(to, from, s->children[0], at + 1, column + 1, before, inside);
  }
  for (uint64_t i = before; i < before + inside; i++) {
    producer_append(to, at + 1, from->columns[column + 1].bits[i]);
  }
  return column + 2;
}

/* ---- schemas ---- */

static void producer_release_schema(struct ArrowSchema *s) {
  for (int64_t i = 0; i < s->n_children; i++) {
    if (s->children[i]->release) s->children[i]->release(s->children[i]);
    free(s->children[i]);
  }
  free(s->children);
  if (s->dictionary) {
    s->dictionary->release(s->dictionary);
    free(s->dictionary);
  }
  producer_live--;
  s->release = NULL;
}

void producer_schema(const struct shape *s, struct ArrowSchema *schema) {
  *schema = (struct ArrowSchema){.format = s->text,
                                 .name = s->name,
                                 .flags = ARROW_FLAG_NULLABLE,
                                 .n_children = s->child_count,
                                 .release = producer_release_schema};
  producer_live++;
  schema->children = checked(calloc(s->child_count + 1, sizeof *schema->children));
  for (uint32_t i = 0; i < s->child_count; i++) {
    schema->children[i] = checked(calloc(1, sizeof **schema->children));
    producer_schema(s->children[i], schema->children[i]);
  }
  if (!s->dictionary) return;
  schema->dictionary = checked(calloc(1, sizeof *schema->dictionary));
  producer_schema(s->dictionary, schema->dictionary);
}

/* ---- buffers ---- */

struct buffers {
  const void *at[3];
  char *memory[3], *copy[3];
  size_t bytes[3];
};

static void *buffer(struct ArrowArray *a, unsigned i, uint64_t bytes) {
  struct buffers *b = a->private_data;
  b->bytes[i] = bytes;
  b->memory[i] = checked(malloc(bytes + 1));
  memset(b->memory[i], 0x5a, bytes + 1);
  b->at[i] = b->memory[i] + 1;
  return b->memory[i] + 1;
}

/* Saves the contents of a buffer, which must be the same on release. */
static void seal(struct ArrowArray *a) {
  struct buffers *b = a->private_data;
  for (unsigned i = 0; i < 3; i++) {
    if (!b->memory[i]) continue;
    b->copy[i] = checked(malloc(b->bytes[i] + 1));
    memcpy(b->copy[i], b->memory[i], b->bytes[i] + 1);
  }
}

static void producer_release_array(struct ArrowArray *a) {
  struct buffers *b = a->private_data;
  for (unsigned i = 0; i < 3; i++) {
    if (b->copy[i] && memcmp(b->copy[i], b->memory[i], b->bytes[i] + 1) != 0) abort();
    free(b->copy[i]);
    free(b->memory[i]);
  }
  for (int64_t i = 0; i < a->n_children; i++) {
    if (a->children[i]->release) a->children[i]->release(a->children[i]);
    free(a->children[i]);
  }
  free(a->children);
  if (a->dictionary) {
    a->dictionary->release(a->dictionary);
    free(a->dictionary);
  }
  free(b);
  producer_live--;
  a->release = NULL;
}

static void producer_store(void *to, unsigned bytes, uint64_t i, int64_t x) {
  for (unsigned k = 0; k < bytes; k++) {
    ((uint8_t *)to)[i * bytes + k] = (uint8_t)((uint64_t)x >> 8 * k);
  }
}

static void store_bit(uint8_t *bits, uint64_t i, bool x) {
  bits[i / 8] = (uint8_t)((bits[i / 8] & ~(1u << i % 8)) | (unsigned)x << i % 8);
}

/* ---- arrays ---- */

/* An array under construction: physical elements 0 .. size, of which first .. first + n are
 * those of the reference, from `column` on. */
struct making {
  const struct shape *shape;
  struct ArrowArray *array;
  uint64_t size, first, n;
  struct reference *reference;
  uint32_t column;
};

/* The number of columns of a shape. */
static uint32_t producer_width(const struct shape *s) {
  if (s->dictionary) return producer_width(s->dictionary);
  uint32_t columns = s->format.kind == ARROW_TEXT ? 2 : s->format.kind != ARROW_STRUCT;
  for (uint32_t i = 0; i < s->child_count; i++) columns += producer_width(s->children[i]);
  return columns;
}

/* An array of a shape, whose columns begin with `column`; the one behind them. */
static uint32_t producer_make(const struct shape *, uint64_t total, uint64_t first, uint64_t n,
                              struct reference *, uint32_t column, struct ArrowArray *);

static bool producer_wanted(const struct making *m, uint64_t i) {
  return i >= m->first && i < m->first + m->n;
}

static int64_t producer_random_int(const struct arrow_format *f) {
  unsigned bits = 8u * f->bytes;
  if (producer_narrow && bits > 32) bits = 32;
  if (producer_narrow && bits == 32 && f->is_unsigned) bits = 31;
  uint64_t x = producer_random(0) ^ producer_seed << 20 ^ producer_seed >> 13;
  if (producer_random(3) == 0) x = producer_random(3);
  if (f->is_unsigned) return (int64_t)(x & (~UINT64_C(0) >> (64 - bits)));
  return (int64_t)(x << (64 - bits)) >> (64 - bits);
}

static void make_ints(struct making *m) {
  const struct arrow_format *f = &m->shape->format;
  void *data = buffer(m->array, 1, m->size * f->bytes);
  for (uint64_t i = 0; i < m->size; i++) {
    const int64_t x = producer_random_int(f);
    producer_store(data, f->bytes, i, x);
    if (producer_wanted(m, i)) producer_append(m->reference, m->column, x);
  }
}

static double random_float(bool narrow) {
  const double x = (double)(int64_t)producer_random(1u << 20) / 64 - 4096;
  const uint64_t kind = producer_random(10);
  if (kind == 0) return -0.0;
  if (kind == 1) return 1 / 0.0;
  return narrow ? x : x / 3;
}

static void make_floats(struct making *m) {
  const unsigned bytes = m->shape->format.bytes;
  char *data = buffer(m->array, 1, m->size * bytes);
  for (uint64_t i = 0; i < m->size; i++) {
    const double x = random_float(producer_narrow || bytes == 4);
    const float narrow = (float)x;
    memcpy(data + i * bytes, bytes == 4 ? (const void *)&narrow : (const void *)&x, bytes);
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (producer_wanted(m, i)) producer_append(m->reference, m->column, bits);
  }
}

static void make_bools(struct making *m) {
  uint8_t *bits = buffer(m->array, 1, (m->size + 7) / 8);
  for (uint64_t i = 0; i < m->size; i++) {
    const bool x = producer_random(2);
    store_bit(bits, i, x);
    if (producer_wanted(m, i)) producer_append(m->reference, m->column, x);
  }
}

/* Offsets that begin anywhere; where the wanted elements begin, and how many they have. */
static uint64_t producer_make_offsets(struct making *m, uint64_t *first, uint64_t *n) {
  const unsigned bytes = m->shape->format.bytes;
  uint64_t at = producer_random(3);
  *first = *n = 0;
  if (m->size == 0 && producer_random(2)) return at; /* without a buffer */
  void *offsets = buffer(m->array, 1, (m->size + 1) * bytes);
  for (uint64_t i = 0; i < m->size; i++) {
    const uint64_t length = producer_random(4);
    producer_store(offsets, bytes, i, (int64_t)at);
    if (i == m->first) *first = at;
    if (!producer_wanted(m, i)) {
      const bool inside = i + 1 != m->first && i != m->first + m->n && m->n > 0;
      if (inside) producer_store(offsets, bytes, i, -7); /* nobody looks at it */
    } else {
      producer_append(m->reference, m->column, (int64_t)length);
      *n += length;
    }
    at += length;
  }
  producer_store(offsets, bytes, m->size, (int64_t)at);
  return at;
}

static void make_texts(struct making *m) {
  uint64_t first, n;
  const uint64_t end = producer_make_offsets(m, &first, &n);
  if (end == 0 && producer_random(2)) return;
  uint8_t *bytes = buffer(m->array, 2, end);
  const bool ascii = producer_random(2);
  for (uint64_t i = 0; i < end; i++) {
    bytes[i] = (uint8_t)producer_random(ascii ? 128 : 256);
    if (i >= first && i < first + n) producer_append(m->reference, m->column + 1, bytes[i]);
  }
}

/* Child k of so many elements, whose columns begin with `column`; the one behind them. */
static uint32_t make_child(struct making *m, uint32_t k, uint64_t size, uint64_t first,
                           uint64_t n, uint32_t column) {
  m->array->children[k] = checked(calloc(1, sizeof **m->array->children));
  return producer_make(m->shape->children[k], size + producer_random(3), first, n, m->reference,
                       column, m->array->children[k]);
}

static void make_dictionary(struct making *m) {
  const struct shape *s = m->shape;
  struct reference *values = checked(calloc(1, sizeof *values));
  const uint64_t size = 1 + producer_random(5);
  reference_begin(values, s->dictionary);
  m->array->dictionary = checked(calloc(1, sizeof *m->array->dictionary));
  producer_make(s->dictionary, size, 0, size, values, 0, m->array->dictionary);
  void *data = buffer(m->array, 1, m->size * s->format.bytes);
  for (uint64_t i = 0; i < m->size; i++) {
    const uint64_t index = producer_random(size);
    producer_store(data, s->format.bytes, i, producer_wanted(m, i) ? (int64_t)index : 99);
    if (producer_wanted(m, i)) append_range(m->reference, values, s, m->column, 0, index, 1);
  }
  reference_free(values);
  free(values);
}

static void make_elements(struct making *m) {
  uint64_t first = 0, n = 0, size;
  const uint64_t each = (uint64_t)m->shape->format.size;
  uint32_t column = m->column;
  switch ((enum arrow_kind)m->shape->format.kind) {
  case ARROW_BOOL: make_bools(m); break;
  case ARROW_INTEGER: make_ints(m); break;
  case ARROW_FLOATING: make_floats(m); break;
  case ARROW_TEXT: make_texts(m); break;
  case ARROW_VIEW: break; /* python/tests/test_arrow.py */
  case ARROW_NULL: break; /* test-arrow-refusals.c */
  case ARROW_LIST:
    size = producer_make_offsets(m, &first, &n);
    make_child(m, 0, size, first, n, column + 1);
    break;
  case ARROW_FIXED_LIST:
    for (uint64_t i = 0; i < m->n; i++) producer_append(m->reference, column, (int64_t)each);
    make_child(m, 0, m->size * each, m->first * each, m->n * each, column + 1);
    break;
  case ARROW_STRUCT:
    for (uint32_t k = 0; k < m->shape->child_count; k++) {
      column = make_child(m, k, m->size, m->first, m->n, column);
    }
    break;
  }
}

/* Elements that are not wanted are null. */
static void make_nulls(struct making *m) {
  if (m->n == m->size && producer_random(2)) return;
  uint8_t *bits = buffer(m->array, 0, (m->size + 7) / 8);
  for (uint64_t i = 0; i < m->size; i++) store_bit(bits, i, producer_wanted(m, i));
  m->array->null_count = producer_random(2) ? -1 : (int64_t)(m->size - m->n);
}

static uint32_t producer_make(const struct shape *s, uint64_t total, uint64_t first, uint64_t n,
                              struct reference *r, uint32_t column, struct ArrowArray *a) {
  static const int64_t counts[] = {2, 2, 2, 3, 4, 2, 1, 1};
  struct buffers *b = checked(calloc(1, sizeof *b));
  *a = (struct ArrowArray){.length = (int64_t)total,
                           .offset = (int64_t)producer_random(11),
                           .n_buffers = counts[s->format.kind],
                           .n_children = s->child_count,
                           .buffers = b->at,
                           .release = producer_release_array,
                           .private_data = b};
  if (total == 0 && producer_random(2)) a->offset = 0;
  producer_live++;
  a->children = checked(calloc(s->child_count + 1, sizeof *a->children));
  struct making m = {s, a,     (uint64_t)a->offset + total, (uint64_t)a->offset + first, n,
                     r, column};
  make_nulls(&m);
  if (s->dictionary) {
    make_dictionary(&m);
  } else {
    make_elements(&m);
  }
  seal(a);
  return column + producer_width(s);
}

void producer_array(const struct shape *s, uint64_t total, uint64_t first, uint64_t n,
                    struct reference *r, struct ArrowArray *a) {
  producer_make(s, total, first, n, r, 0, a);
}
