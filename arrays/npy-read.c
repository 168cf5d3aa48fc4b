/* npy-read.c - reads the elements of numpy files as columns. */
#include "arrays/arrays-private.h"

#include <math.h>
#include <string.h>

/* A file being read, and its destination. */
struct reading {
  struct arena *arena;
  const struct array_type *type;
  struct npy_header header;
  const unsigned char *data;
  uint64_t count; /* of elements */
  bool stays;     /* `data` stays as long as the columns */
  bool named;     /* the fields are found by the names of a record's fields */
  struct array_columns *out;
  const char **problem;
};

/* ---- one number ---- */

static uint64_t load_bits(const struct npy_field *f, const unsigned char *p, uint32_t size) {
  uint64_t x = 0;
  for (uint32_t k = 0; k < size; k++) {
    x = x << 8 | p[f->big ? k : size - 1 - k];
  }
  return x;
}

/* Loads an integer. Unsigned ones above INT64_MAX do not fit. */
static bool load_int(const struct npy_field *f, const unsigned char *p, int64_t *x) {
  uint64_t bits = load_bits(f, p, f->size);
  if (f->kind == 'i' && f->size < 8 && bits >> (f->size * 8 - 1)) {
    bits |= ~UINT64_C(0) << (f->size * 8);
  }
  memcpy(x, &bits, sizeof *x);
  return f->kind == 'i' || *x >= 0;
}

static double from_half(uint64_t bits) {
  const int exponent = (int)(bits >> 10 & 31);
  const double mantissa = (double)(bits & 1023);
  double x;
  if (exponent == 31) {
    x = mantissa > 0 ? (double)NAN : (double)INFINITY;
  } else {
    x = exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024 + mantissa, exponent - 25);
  }
  return bits >> 15 ? -x : x;
}

static double load_float(const struct npy_field *f, const unsigned char *p) {
  uint64_t bits = load_bits(f, p, f->size);
  double x;
  if (f->kind == 'i') {
    int64_t i;
    (void)load_int(f, p, &i);
    return (double)i;
  }
  if (f->kind == 'u') return (double)bits;
  if (f->size == 2) return from_half(bits);
  if (f->size == 4) {
    const uint32_t half = (uint32_t)bits;
    float narrow;
    memcpy(&narrow, &half, sizeof narrow);
    return (double)narrow;
  }
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* ---- text ---- */

/* Encodes a character in UTF-8 and returns the number of its bytes. */
static int utf8(uint64_t code, int64_t bytes[4]) {
  static const uint64_t first[] = {0, 0xC0, 0xE0, 0xF0};
  const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  bytes[0] = more == 0 ? (int64_t)code : (int64_t)((code >> (6 * more) | first[more]) & 255);
  for (int k = 1; k <= more; k++) bytes[k] = (int64_t)((code >> (6 * (more - k)) & 63) | 0x80);
  return more + 1;
}

/* Appends a text and sets *length to its bytes. Numpy pads texts with NULs, which are not part
 * of them. */
static bool push_text(struct reading *r, const struct npy_field *f, const unsigned char *p,
                      struct array_growing *text, int64_t *length) {
  const uint32_t unit = f->kind == 'U' ? 4 : 1;
  uint32_t count = f->size / unit;
  while (count > 0 && load_bits(f, p + (size_t)(count - 1) * unit, unit) == 0) count--;
  *length = 0;
  for (uint32_t k = 0; k < count; k++) {
    int64_t bytes[4] = {(int64_t)load_bits(f, p + (size_t)k * unit, unit)};
    const int n = f->kind == 'U' ? utf8((uint64_t)bytes[0], bytes) : 1;
    for (int i = 0; i < n; i++) {
      if (!array_grow_int(text, bytes[i], r->problem)) return false;
    }
    *length += n;
  }
  return true;
}

/* ---- components ---- */

static bool is_integer_field(const struct npy_field *f) {
  return f->kind == 'i' || f->kind == 'u';
}

static bool field_fits(enum array_leaf leaf, const struct npy_field *f) {
  switch (leaf) {
  case ARRAY_INT: return is_integer_field(f);
  case ARRAY_FLOAT: return f->kind == 'f' || is_integer_field(f);
  case ARRAY_BOOL: return f->kind == 'b';
  case ARRAY_CHAR: return (is_integer_field(f) || f->kind == 'S') && f->size == 1;
  case ARRAY_TEXT: break;
  }
  return f->kind == 'S' || f->kind == 'U';
}

/* Whether the bytes of the file have the layout of a column. */
static bool is_column(const struct npy_field *f, enum array_leaf leaf, uint64_t stride) {
  const char wanted = leaf == ARRAY_FLOAT ? 'f' : 'i';
  return leaf <= ARRAY_FLOAT && f->kind == wanted && f->size == 8 && stride == 8 &&
         f->big != array_little_endian();
}

/* Elements of a component, which are `stride` bytes apart. */
struct source {
  const struct npy_field *field;
  enum array_leaf leaf;
  const unsigned char *p;
  uint64_t stride;
};

static bool read_int(struct reading *r, const struct source *s, uint64_t i, int64_t *x) {
  const struct npy_field *f = s->field;
  const unsigned char *p = s->p + i * s->stride;
  *x = (int64_t)*p; /* bools, and S1 */
  if (is_integer_field(f) && !load_int(f, p, x)) {
    return array_fail(r->arena, r->problem, "element %llu, %llu, is too large for an int",
                      (unsigned long long)i, (unsigned long long)load_bits(f, p, f->size));
  }
  if (s->leaf == ARRAY_BOOL) *x = *x != 0;
  if (s->leaf == ARRAY_CHAR) *x &= 255;
  return true;
}

/* Reads one component of all elements into a column of the arena. */
static bool read_into(struct reading *r, const struct source *s, struct array_column *column) {
  const bool floats = s->leaf == ARRAY_FLOAT;
  *column = floats ? array_floats(r->arena, r->count) : array_ints(r->arena, r->count);
  if (is_column(s->field, s->leaf, s->stride)) {
    memcpy(column->as.ints, s->p, (size_t)r->count * sizeof *column->as.ints);
    return true;
  }
  for (uint64_t i = 0; i < r->count; i++) {
    arena_poll(r->arena);
    if (floats)
      column->as.floats[i] = load_float(s->field, s->p + i * s->stride);
    else if (!read_int(r, s, i, &column->as.ints[i]))
      return false;
  }
  return true;
}

/* Reads one component of all elements into a spill. */
static bool spill_elements(struct reading *r, const struct source *s,
                           struct array_growing *to) {
  for (uint64_t i = 0; i < r->count; i++) {
    int64_t x = 0;
    arena_poll(r->arena);
    array_passed(r->type->spills, s->stride);
    if (s->leaf == ARRAY_FLOAT) {
      if (!array_grow_float(to, load_float(s->field, s->p + i * s->stride), r->problem))
        return false;
    } else if (!read_int(r, s, i, &x) || !array_grow_int(to, x, r->problem)) {
      return false;
    }
  }
  return true;
}

/* Returns the spills for a column of so many bytes; NULL if it goes into the arena. */
static struct array_spills *npy_spills(const struct reading *r, uint64_t bytes) {
  return bytes >= ARRAY_SPILLED_LEAST ? r->type->spills : NULL;
}

static bool read_spilled(struct reading *r, const struct source *s,
                         struct array_column *column) {
  struct array_growing to;
  return array_grow_begin(&to, r->arena, s->leaf, r->type->spills, r->problem) &&
         spill_elements(r, s, &to) && array_grow_end(&to, column, r->problem);
}

static bool read_texts(struct reading *r, const struct source *s,
                       struct array_column *columns) {
  struct array_growing lengths, text;
  struct array_spills *spills = npy_spills(r, r->count * s->field->size);
  if (!array_grow_begin(&lengths, r->arena, ARRAY_TEXT, spills, r->problem) ||
      !array_grow_begin(&text, r->arena, ARRAY_CHAR, spills, r->problem))
    return false;
  array_grow_expect(&lengths, r->count);
  for (uint64_t i = 0; i < r->count; i++) {
    int64_t length;
    arena_poll(r->arena);
    array_passed(r->type->spills, s->stride);
    if (!push_text(r, s->field, s->p + i * s->stride, &text, &length) ||
        !array_grow_int(&lengths, length, r->problem))
      return false;
  }
  return array_grow_end(&lengths, columns, r->problem) &&
         array_grow_end(&text, columns + 1, r->problem);
}

/* Returns whether the elements need not be copied. */
static bool may_map(const struct reading *r, const struct source *s) {
  return r->stays && (uintptr_t)s->p % sizeof(int64_t) == 0 &&
         is_column(s->field, s->leaf, s->stride);
}

/* Reads component `leaf` of all elements, which are `stride` bytes apart. */
static bool read_part(struct reading *r, uint32_t leaf, const struct npy_field *f,
                      uint64_t stride, size_t offset) {
  struct array_column *column = &r->out->items[array_leaf_column(r->type, leaf)];
  const struct source s = {f, (enum array_leaf)r->type->leaves[leaf], r->data + offset, stride};
  if (!field_fits(s.leaf, f)) {
    return array_fail(r->arena, r->problem, "the file has %s where the program wants %s",
                      npy_field_name(r->arena, f), array_leaf_name(s.leaf));
  }
  if (s.leaf == ARRAY_TEXT) return read_texts(r, &s, column);
  if (!may_map(r, &s)) {
    const bool large = npy_spills(r, r->count * sizeof(int64_t)) != NULL;
    return large ? read_spilled(r, &s, column) : read_into(r, &s, column);
  }
  *column = (struct array_column){.length = r->count};
  column->as.ints = (int64_t *)(uintptr_t)s.p;
  return true;
}

/* ---- the whole array ---- */

static const char *shape_text(struct arena *arena, const struct npy_header *h) {
  const char *text = "(";
  for (uint32_t i = 0; i < h->dimension_count; i++) {
    text = arena_printf(arena, "%s%s%llu", text, i ? ", " : "",
                        (unsigned long long)h->dimensions[i]);
  }
  return arena_printf(arena, h->dimension_count == 1 ? "%s,)" : "%s)", text);
}

/* Makes a column of so many equal lengths. */
static bool repeat_length(struct reading *r, uint64_t count, uint64_t length,
                          struct array_column *column) {
  struct array_growing lengths;
  struct array_spills *spills = npy_spills(r, count * sizeof(int64_t));
  if (!array_grow_begin(&lengths, r->arena, ARRAY_INT, spills, r->problem)) return false;
  array_grow_expect(&lengths, count);
  for (uint64_t i = 0; i < count; i++) {
    arena_poll(r->arena);
    if (!array_grow_int(&lengths, (int64_t)length, r->problem)) return false;
  }
  return array_grow_end(&lengths, column, r->problem);
}

/* Makes the lengths of the sequences of each level from the dimensions. */
static bool npy_read_lengths(struct reading *r) {
  r->count = 1;
  for (uint32_t level = 0; level < r->type->depth; level++) {
    const uint64_t length = r->header.dimensions[level];
    if (!repeat_length(r, r->count, length, &r->out->items[level])) return false;
    r->count *= length;
  }
  return true;
}

/* Whether all elements are present; products of dimensions may overflow. */
static bool npy_check_size(struct reading *r, size_t length) {
  const struct npy_header *h = &r->header;
  uint64_t bytes = h->record, prefix = 1;
  for (uint32_t i = 0; i < h->dimension_count; i++) {
    const uint64_t n = h->dimensions[i];
    if (__builtin_mul_overflow(bytes, n, &bytes)) bytes = UINT64_MAX;
    /* Empty arrays have lengths too, and texts may take no bytes. */
    if (__builtin_mul_overflow(prefix, n, &prefix) || prefix > UINT64_MAX >> 8) {
      return array_fail(r->arena, r->problem, "the shape %s is too large",
                        shape_text(r->arena, h));
    }
  }
  if (bytes <= length - h->data) return true;
  return array_fail(r->arena, r->problem,
                    "the file is cut short: %llu bytes of elements, where shape %s needs %llu",
                    (unsigned long long)(length - h->data), shape_text(r->arena, h),
                    (unsigned long long)bytes);
}

/* Returns the field of the file's elements that has the name of a record's component. NULL if
 * there is none. */
static const struct npy_field *field_named(const struct reading *r, uint32_t leaf) {
  const struct npy_header *h = &r->header;
  for (uint32_t i = 0; h->structured && i < h->field_count; i++) {
    const struct npy_field *f = &h->fields[i];
    if (array_name_fits(f->name, f->name_length, array_field(r->type, leaf))) return f;
  }
  return NULL;
}

/* Whether all components of a record are named in the file. */
static bool npy_has_fields(const struct reading *r) {
  const uint32_t fields = array_field_count(r->type);
  uint32_t found = 0;
  while (found < fields && field_named(r, found)) found++;
  return fields > 0 && found == fields;
}

static bool npy_check_shape(struct reading *r, bool *last_is_tuple) {
  const struct npy_header *h = &r->header;
  const struct array_type *t = r->type;
  *last_is_tuple = !h->structured && t->leaf_count > 1 && h->dimension_count == t->depth + 1 &&
                   h->dimensions[t->depth] == t->leaf_count;
  if (!*last_is_tuple && !r->named && h->field_count != t->leaf_count) {
    return array_fail(r->arena, r->problem,
                      "elements of the file have %u parts, those of the program's array %u",
                      h->field_count, t->leaf_count);
  }
  if (!*last_is_tuple && h->dimension_count != t->depth) {
    return array_fail(r->arena, r->problem,
                      "the file's array has %u dimensions, shape %s; the program wants %u",
                      h->dimension_count, shape_text(r->arena, h), t->depth);
  }
  return true;
}

/* An array in Fortran order is brought into C order: in Fortran order the first index changes
 * fastest, in C order the last. */
struct order {
  uint64_t stride[ARRAY_MOST_DIMENSIONS], index[ARRAY_MOST_DIMENSIONS];
  uint64_t from; /* the next element: bytes behind the first */
  uint64_t bytes;
};

static void begin_order(struct order *o, const struct npy_header *h) {
  *o = (struct order){.bytes = h->record};
  for (uint32_t i = 0; i < h->dimension_count; i++) {
    o->stride[i] = o->bytes;
    o->bytes *= h->dimensions[i];
  }
}

static void next_index(struct order *o, const struct npy_header *h) {
  for (uint32_t i = h->dimension_count; i-- > 0;) {
    o->from += o->stride[i];
    if (++o->index[i] < h->dimensions[i]) break;
    o->from -= o->stride[i] * o->index[i];
    o->index[i] = 0;
  }
}

/* Reorders into a spill. An element that is far from the one before is on another page. */
static bool reorder_spilled(struct reading *r, struct order *o) {
  enum { PAGE = 4096 };
  const struct npy_header *h = &r->header;
  const uint64_t apart = o->stride[h->dimension_count - 1];
  struct file_problem why;
  struct spill *s = array_spill(r->arena, r->type->spills, r->problem);
  if (!s) return false;
  if (!spill_reserve(s, o->bytes, &why)) return array_spill_failed(r->arena, &why, r->problem);
  for (uint64_t to = 0; to < o->bytes; to += h->record, next_index(o, h)) {
    arena_poll(r->arena);
    array_passed(r->type->spills, apart < PAGE ? apart : PAGE);
    if (!spill_append(s, r->data + o->from, h->record, &why))
      return array_spill_failed(r->arena, &why, r->problem);
  }
  if (!spill_finish(s, &why)) return array_spill_failed(r->arena, &why, r->problem);
  r->data = s->data;
  r->stays = true;
  return true;
}

static bool reorder(struct reading *r) {
  struct order o;
  begin_order(&o, &r->header);
  if (npy_spills(r, o.bytes)) return reorder_spilled(r, &o);
  unsigned char *ordered = arena_alloc(r->arena, (size_t)o.bytes + 1);
  for (uint64_t to = 0; to < o.bytes; to += r->header.record, next_index(&o, &r->header)) {
    arena_poll(r->arena);
    memcpy(ordered + to, r->data + o.from, (size_t)r->header.record);
  }
  r->data = ordered;
  r->stays = false;
  return true;
}

/* Whether the last dimension holds the characters of texts. The columns are those of the type:
 * a text is its length and its characters, like a sequence. */
static bool is_array_of_chars(const struct npy_header *h, const struct array_type *t) {
  return !h->structured && t->leaf_count == 1 && t->leaves[0] == ARRAY_TEXT &&
         h->dimension_count == t->depth + 1 && field_fits(ARRAY_CHAR, &h->fields[0]);
}

bool npy_read(struct arena *arena, const struct array_type *type, const char *bytes,
              size_t length, struct array_columns *out, const char **problem) {
  uint8_t one_char[] = {ARRAY_CHAR};
  const struct array_type chars = {
      .depth = type->depth + 1, .leaf_count = 1, .leaves = one_char, .spills = type->spills};
  struct reading r = {.arena = arena, .type = type, .out = out, .problem = problem};
  bool last_is_tuple;
  if (!npy_header_parse(arena, bytes, length, &r.header, problem)) return false;
  if (is_array_of_chars(&r.header, type)) r.type = type = &chars;
  r.named = npy_has_fields(&r);
  if (!npy_check_shape(&r, &last_is_tuple) || !npy_check_size(&r, length)) return false;
  r.data = (const unsigned char *)bytes + r.header.data;
  r.stays = type->bytes_stay;
  if (r.header.fortran && r.header.dimension_count > 1 && !reorder(&r)) return false;
  out->count = array_column_count(type);
  out->items = arena_alloc(arena, out->count * sizeof *out->items);
  if (!npy_read_lengths(&r)) return false;
  const uint64_t record = r.header.record;
  for (uint32_t i = 0; i < type->leaf_count; i++) {
    const struct npy_field *f =
        r.named ? field_named(&r, i) : &r.header.fields[last_is_tuple ? 0 : i];
    const uint64_t stride = last_is_tuple ? record * type->leaf_count : record;
    const size_t offset = last_is_tuple ? (size_t)(i * record) : f->offset;
    if (!read_part(&r, i, f, stride, offset)) return false;
  }
  return true;
}

bool npy_guess(struct arena *arena, const char *bytes, size_t length, struct array_type *type,
               const char **problem) {
  struct npy_header h;
  if (!npy_header_parse(arena, bytes, length, &h, problem)) return false;
  type->depth = h.dimension_count;
  type->leaf_count = h.field_count;
  type->leaves = arena_alloc(arena, h.field_count);
  for (uint32_t i = 0; i < h.field_count; i++) {
    const struct npy_field *f = &h.fields[i];
    enum array_leaf leaf = ARRAY_TEXT;
    if (is_integer_field(f)) leaf = ARRAY_INT;
    if (f->kind == 'f') leaf = ARRAY_FLOAT;
    if (f->kind == 'b') leaf = ARRAY_BOOL;
    type->leaves[i] = (uint8_t)leaf;
  }
  return h.field_count > 0 || array_fail(arena, problem, "elements without parts");
}
