/* npy-read.c - the elements of numpy files as columns. */
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
  bool reordered; /* `data` is not in the file */
  bool named;     /* the fields are found by the names of a record's */
  struct array_columns *out;
  const char **problem;
};

/* ---- one number ---- */

static uint64_t load(const struct npy_field *f, const unsigned char *p, uint32_t size) {
  uint64_t x = 0;
  for (uint32_t k = 0; k < size; k++) {
    x = x << 8 | p[f->big ? k : size - 1 - k];
  }
  return x;
}

/* The value of an integer; unsigned ones above INT64_MAX do not fit. */
static bool load_int(const struct npy_field *f, const unsigned char *p, int64_t *x) {
  uint64_t bits = load(f, p, f->size);
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
  uint64_t bits = load(f, p, f->size);
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

static void push_utf8(struct arena *arena, struct array_text *text, uint64_t code) {
  if (code < 0x80) {
    *array_push(arena, &text->chars) = (int64_t)code;
    return;
  }
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const uint64_t first[] = {0, 0xC0, 0xE0, 0xF0};
  *array_push(arena, &text->chars) = (int64_t)((code >> (6 * more) | first[more]) & 255);
  while (more-- > 0) {
    *array_push(arena, &text->chars) = (int64_t)((code >> (6 * more) & 63) | 0x80);
  }
}

/* Numpy pads texts with NULs, which are not part of them. */
static int64_t push_text(struct reading *r, const struct npy_field *f, const unsigned char *p,
                         struct array_text *text) {
  const uint32_t unit = f->kind == 'U' ? 4 : 1;
  uint32_t length = f->size / unit;
  while (length > 0 && load(f, p + (size_t)(length - 1) * unit, unit) == 0) length--;
  const size_t before = text->chars.count;
  for (uint32_t k = 0; k < length; k++) {
    const uint64_t code = load(f, p + (size_t)k * unit, unit);
    if (f->kind == 'U') {
      push_utf8(r->arena, text, code);
    } else {
      *array_push(r->arena, &text->chars) = (int64_t)code;
    }
  }
  return (int64_t)(text->chars.count - before);
}

/* ---- components ---- */

static bool is_integer(const struct npy_field *f) {
  return f->kind == 'i' || f->kind == 'u';
}

static bool field_fits(enum array_leaf leaf, const struct npy_field *f) {
  switch (leaf) {
  case ARRAY_INT: return is_integer(f);
  case ARRAY_FLOAT: return f->kind == 'f' || is_integer(f);
  case ARRAY_BOOL: return f->kind == 'b';
  case ARRAY_CHAR: return (is_integer(f) || f->kind == 'S') && f->size == 1;
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

static bool read_ints(struct reading *r, enum array_leaf leaf, const struct npy_field *f,
                      const unsigned char *p, uint64_t stride, struct array_column *column) {
  for (uint64_t i = 0; i < r->count; i++, p += stride) {
    arena_poll(r->arena);
    int64_t x = (int64_t)*p; /* bools, and S1 */
    if (is_integer(f) && !load_int(f, p, &x)) {
      return array_fail(r->arena, r->problem, "element %llu, %llu, is too large for an int",
                        (unsigned long long)i, (unsigned long long)load(f, p, f->size));
    }
    if (leaf == ARRAY_BOOL) x = x != 0;
    if (leaf == ARRAY_CHAR) x &= 255;
    column->as.ints[i] = x;
  }
  return true;
}

static void read_texts(struct reading *r, const struct npy_field *f, const unsigned char *p,
                       uint64_t stride, struct array_column *lengths) {
  struct array_text text = {0};
  *lengths = array_ints(r->arena, r->count);
  for (uint64_t i = 0; i < r->count; i++, p += stride) {
    arena_poll(r->arena);
    lengths->as.ints[i] = push_text(r, f, p, &text);
  }
  lengths[1] = array_chars(&text);
}

/* Whether they need not be copied. */
static bool may_lend(const struct reading *r, const struct npy_field *f, enum array_leaf leaf,
                     const unsigned char *p, uint64_t stride) {
  return r->type->bytes_stay && !r->reordered && (uintptr_t)p % sizeof(int64_t) == 0 &&
         is_column(f, leaf, stride);
}

/* Component `leaf` of all elements, which are `stride` bytes apart. */
static bool read_part(struct reading *r, uint32_t leaf, const struct npy_field *f,
                      uint64_t stride, size_t offset) {
  struct array_column *column = &r->out->items[array_leaf_column(r->type, leaf)];
  const enum array_leaf kind = (enum array_leaf)r->type->leaves[leaf];
  const unsigned char *p = r->data + offset;
  if (!field_fits(kind, f)) {
    return array_fail(r->arena, r->problem, "the file has %s where the program wants %s",
                      npy_field_name(r->arena, f), array_leaf_name(kind));
  }
  if (kind == ARRAY_TEXT) {
    read_texts(r, f, p, stride, column);
    return true;
  }
  if (may_lend(r, f, kind, p, stride)) {
    *column = (struct array_column){.is_float = kind == ARRAY_FLOAT, .length = r->count};
    column->as.ints = (int64_t *)(uintptr_t)p;
    return true;
  }
  *column =
      kind == ARRAY_FLOAT ? array_floats(r->arena, r->count) : array_ints(r->arena, r->count);
  if (is_column(f, kind, stride)) {
    memcpy(column->as.ints, p, (size_t)r->count * sizeof *column->as.ints);
    return true;
  }
  if (kind != ARRAY_FLOAT) return read_ints(r, kind, f, p, stride, column);
  for (uint64_t i = 0; i < r->count; i++, p += stride) {
    arena_poll(r->arena);
    column->as.floats[i] = load_float(f, p);
  }
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

/* Lengths of the sequences of each level, from the dimensions. */
static void read_lengths(struct reading *r) {
  uint64_t sequences = 1;
  for (uint32_t level = 0; level < r->type->depth; level++) {
    struct array_column *column = &r->out->items[level];
    const uint64_t length = r->header.dimensions[level];
    *column = array_ints(r->arena, sequences);
    for (uint64_t i = 0; i < sequences; i++) column->as.ints[i] = (int64_t)length;
    sequences *= length;
  }
  r->count = sequences;
}

/* Whether all elements are present; products of dimensions may overflow. */
static bool check_size(struct reading *r, size_t length) {
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

/* The field of the file's elements that is a component of a record, by its name. NULL if there
 * is none. */
static const struct npy_field *field_named(const struct reading *r, uint32_t leaf) {
  const struct npy_header *h = &r->header;
  for (uint32_t i = 0; h->structured && i < h->field_count; i++) {
    const struct npy_field *f = &h->fields[i];
    if (array_name_fits(f->name, f->name_length, array_field(r->type, leaf))) return f;
  }
  return NULL;
}

/* Whether all components of a record are named in the file. */
static bool has_fields(const struct reading *r) {
  const uint32_t fields = array_field_count(r->type);
  uint32_t found = 0;
  while (found < fields && field_named(r, found)) found++;
  return fields > 0 && found == fields;
}

static bool check_shape(struct reading *r, bool *last_is_tuple) {
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

/* The elements in C order, in which the last index changes fastest, of an array in Fortran
 * order, in which the first does. */
static const unsigned char *in_c_order(struct reading *r, const unsigned char *data) {
  const struct npy_header *h = &r->header;
  const uint64_t record = h->record;
  uint64_t stride[ARRAY_MOST_DIMENSIONS], index[ARRAY_MOST_DIMENSIONS] = {0}, count = 1;
  for (uint32_t i = 0; i < h->dimension_count; i++) {
    stride[i] = count * record;
    count *= h->dimensions[i];
  }
  unsigned char *ordered = arena_alloc(r->arena, (size_t)(count * record) + 1);
  for (uint64_t to = 0, from = 0; to < count * record; to += record) {
    arena_poll(r->arena);
    memcpy(ordered + to, data + from, (size_t)record);
    for (uint32_t i = h->dimension_count; i-- > 0;) {
      from += stride[i];
      if (++index[i] < h->dimensions[i]) break;
      from -= stride[i] * index[i];
      index[i] = 0;
    }
  }
  return ordered;
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
      .depth = type->depth + 1, .leaf_count = 1, .leaves = one_char};
  struct reading r = {.arena = arena, .type = type, .out = out, .problem = problem};
  bool last_is_tuple;
  if (!npy_header_parse(arena, bytes, length, &r.header, problem)) return false;
  if (is_array_of_chars(&r.header, type)) r.type = type = &chars;
  r.named = has_fields(&r);
  if (!check_shape(&r, &last_is_tuple) || !check_size(&r, length)) return false;
  r.data = (const unsigned char *)bytes + r.header.data;
  r.reordered = r.header.fortran && r.header.dimension_count > 1;
  if (r.reordered) r.data = in_c_order(&r, r.data);
  out->count = array_column_count(type);
  out->items = arena_alloc(arena, out->count * sizeof *out->items);
  read_lengths(&r);
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
    if (is_integer(f)) leaf = ARRAY_INT;
    if (f->kind == 'f') leaf = ARRAY_FLOAT;
    if (f->kind == 'b') leaf = ARRAY_BOOL;
    type->leaves[i] = (uint8_t)leaf;
  }
  return h.field_count > 0 || array_fail(arena, problem, "elements without parts");
}
