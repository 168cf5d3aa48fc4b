/* npy-header.c - the header of a numpy file: a magic number, a version, and a Python dictionary
 * with the keys descr, fortran_order and shape. (The format is numpy's, documented with
 * numpy.lib.format.)
 */
#include "arrays/arrays-private.h"

#include <string.h>

struct cursor {
  struct arena *arena;
  const char *next, *end;
  const char **problem;
};

static bool malformed(struct cursor *c) {
  return array_fail(c->arena, c->problem, "the header of the numpy file is not understood");
}

static void skip_spaces(struct cursor *c) {
  while (c->next < c->end && (*c->next == ' ' || *c->next == '\n')) c->next++;
}

static bool take_char(struct cursor *c, char wanted) {
  skip_spaces(c);
  if (c->next == c->end || *c->next != wanted) return false;
  c->next++;
  return true;
}

/* Finds the quote that ends the string that begins here, or returns NULL. A quote behind `\`
 * does not end it. */
static const char *npy_closing_quote(const struct cursor *c, char quote) {
  const char *p = c->next;
  while (p < c->end && *p != quote) p += *p == '\\' ? 2 : 1;
  return p < c->end ? p : NULL;
}

/* Takes a string in quotes. Escapes other than of `\` and of quotes stay as they are, since the
 * text is only shown. */
static bool take_string(struct cursor *c, const char **text, size_t *length) {
  skip_spaces(c);
  if (c->next == c->end || (*c->next != '\'' && *c->next != '"')) return malformed(c);
  const char quote = *c->next++;
  const char *close = npy_closing_quote(c, quote);
  if (!close) return malformed(c);
  char *out = arena_alloc(c->arena, (size_t)(close - c->next) + 1);
  *text = out;
  for (; c->next < close; c->next++) {
    const bool escape = *c->next == '\\' && strchr("\\'\"", c->next[1]) != NULL;
    *out++ = *(c->next += escape);
  }
  *length = (size_t)(out - *text);
  c->next = close + 1;
  return true;
}

static bool npy_take_number(struct cursor *c, uint64_t *x) {
  skip_spaces(c);
  const char *start = c->next;
  for (*x = 0; c->next < c->end && *c->next >= '0' && *c->next <= '9'; c->next++) {
    if (*x > (UINT64_MAX >> 5)) return malformed(c); /* longer than any array */
    *x = *x * 10 + (uint64_t)(*c->next - '0');
  }
  return c->next > start || malformed(c);
}

static bool unsupported_type(struct cursor *c, const char *text, size_t length) {
  return array_fail(
      c->arena, c->problem,
      "numpy's type '%.*s' is not supported: ints, floats of 16 to 64 bits, bools and "
      "texts are; astype converts to them",
      (int)length, text);
}

static bool known_type(char kind, uint64_t size) {
  if (kind == 'i' || kind == 'u') return size == 1 || size == 2 || size == 4 || size == 8;
  if (kind == 'f') return size == 2 || size == 4 || size == 8;
  if (kind == 'b') return size == 1;
  return (kind == 'S' || kind == 'U' || kind == 'V') && size < 1 << 28;
}

/* Takes a type such as <f8, |b1, >i4, <U7. |V7 is padding, where it `may_pad`. */
static bool take_type(struct cursor *c, struct npy_header *h, struct npy_field *field,
                      bool may_pad) {
  const char *text;
  size_t length;
  if (!take_string(c, &text, &length)) return false;
  struct cursor digits = {c->arena, text + 2, text + length, c->problem};
  uint64_t size;
  if (length < 3 || !npy_take_number(&digits, &size) || digits.next != digits.end ||
      !known_type(text[1], size) || (text[1] == 'V' && !may_pad))
    return unsupported_type(c, text, length);
  if (text[1] == 'U') size *= 4;
  if (h->record + size > UINT32_MAX) return malformed(c);
  *field = (struct npy_field){.kind = text[1],
                              .big = text[0] == '>',
                              .size = (uint32_t)size,
                              .offset = (uint32_t)h->record};
  h->record += size;
  return true;
}

typedef ARRAY(struct npy_field) npy_fields;

/* Takes the name of a field, or ('title', 'name') if it also has a title. */
static bool take_field_name(struct cursor *c, const char **name, size_t *length) {
  if (!take_char(c, '(')) return take_string(c, name, length);
  return take_string(c, name, length) && (take_char(c, ',') || malformed(c)) &&
         take_string(c, name, length) && (take_char(c, ')') || malformed(c));
}

static bool take_fields(struct cursor *c, struct npy_header *h, npy_fields *fields,
                        unsigned depth);

/* Takes ('name', '<f8'), or a field with fields of its own: ('name', [('x', '<f8'), ('y',
 * '<f8')]). These are components like the others. ('', '|V7') is padding, as in types that are
 * aligned. */
static bool take_field(struct cursor *c, struct npy_header *h, npy_fields *fields,
                       unsigned depth) {
  const char *name;
  size_t length;
  struct npy_field field;
  if (!take_char(c, '(') || !take_field_name(c, &name, &length) || !take_char(c, ','))
    return malformed(c);
  if (take_char(c, '[')) {
    if (!take_fields(c, h, fields, depth + 1)) return false;
  } else {
    if (!take_type(c, h, &field, length == 0)) return false;
    field.name = name;
    field.name_length = length;
    if (field.kind != 'V') *array_push(c->arena, fields) = field;
  }
  if (take_char(c, ')')) return true;
  return array_fail(
      c->arena, c->problem,
      "the field '%.*s' is an array of its own: save it as an array beside the others",
      (int)length, name);
}

/* Takes [('name', '<f8'), ('other', '<i4')], behind the bracket. */
static bool take_fields(struct cursor *c, struct npy_header *h, npy_fields *fields,
                        unsigned depth) {
  enum { DEEPEST = 32 };
  if (depth > DEEPEST) return malformed(c);
  while (!take_char(c, ']')) {
    if (!take_field(c, h, fields, depth)) return false;
    (void)take_char(c, ',');
  }
  return true;
}

static bool take_descr(struct cursor *c, struct npy_header *h) {
  h->record = 0;
  h->structured = take_char(c, '[');
  if (h->structured) {
    npy_fields fields = {0};
    const bool fine = take_fields(c, h, &fields, 0);
    h->field_count = (uint32_t)fields.count;
    h->fields = fields.items;
    return fine;
  }
  h->field_count = 1;
  h->fields = arena_alloc(c->arena, sizeof *h->fields);
  return take_type(c, h, h->fields, false);
}

static bool take_shape(struct cursor *c, struct npy_header *h) {
  if (!take_char(c, '(')) return malformed(c);
  for (h->dimension_count = 0; !take_char(c, ')'); h->dimension_count++) {
    if (h->dimension_count == ARRAY_MOST_DIMENSIONS) return malformed(c);
    if (!npy_take_number(c, &h->dimensions[h->dimension_count])) return false;
    (void)take_char(c, 'L'); /* as Python 2 wrote it */
    (void)take_char(c, ',');
  }
  return true;
}

static bool take_constant(struct cursor *c, const char *word) {
  skip_spaces(c);
  size_t length = strlen(word);
  if ((size_t)(c->end - c->next) < length || memcmp(c->next, word, length) != 0) return false;
  c->next += length;
  return true;
}

static bool take_order(struct cursor *c, struct npy_header *h) {
  h->fortran = take_constant(c, "True");
  return h->fortran || take_constant(c, "False") || malformed(c);
}

static bool take_dictionary(struct cursor *c, struct npy_header *h) {
  unsigned seen = 0;
  if (!take_char(c, '{')) return malformed(c);
  while (!take_char(c, '}')) {
    const char *key;
    size_t length;
    bool fine = false;
    if (!take_string(c, &key, &length) || !take_char(c, ':')) return malformed(c);
    if (length == 5 && memcmp(key, "descr", 5) == 0)
      fine = take_descr(c, h);
    else if (length == 5 && memcmp(key, "shape", 5) == 0)
      fine = take_shape(c, h);
    else if (length == 13 && memcmp(key, "fortran_order", 13) == 0)
      fine = take_order(c, h);
    else
      return malformed(c);
    if (!fine) return false;
    (void)take_char(c, ',');
    seen++;
  }
  return seen == 3 || malformed(c);
}

/* These bytes begin a numpy file. */
static const char magic[] = "\x93NUMPY";
enum { MAGIC = sizeof magic - 1 };

bool npy_header_parse(struct arena *arena, const char *bytes, size_t length,
                      struct npy_header *h, const char **problem) {
  enum { SHORT_LENGTH = 10, LONG_LENGTH = 12 };
  *h = (struct npy_header){.field_count = 0};
  if (length < LONG_LENGTH || memcmp(bytes, magic, MAGIC) != 0) {
    return array_fail(arena, problem, "not a numpy file: it does not begin with \\x93NUMPY");
  }
  const unsigned char *b = (const unsigned char *)bytes;
  size_t start = b[MAGIC] == 1 ? SHORT_LENGTH : LONG_LENGTH;
  size_t header = (size_t)b[8] | (size_t)b[9] << 8;
  if (b[MAGIC] > 1) header |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
  struct cursor c = {arena, bytes + start, bytes + start + header, problem};
  if (b[MAGIC] < 1 || b[MAGIC] > 3 || header > length - start) return malformed(&c);
  h->data = start + header;
  return take_dictionary(&c, h);
}

const char *npy_field_name(struct arena *arena, const struct npy_field *f) {
  const char *order = f->big && f->size > 1 && f->kind != 'S' ? "big-endian " : "";
  switch (f->kind) {
  case 'i': return arena_printf(arena, "%sint%u", order, f->size * 8);
  case 'u': return arena_printf(arena, "%suint%u", order, f->size * 8);
  case 'f': return arena_printf(arena, "%sfloat%u", order, f->size * 8);
  case 'b': return "bool";
  case 'S': return arena_printf(arena, "text of %u bytes", f->size);
  default: return arena_printf(arena, "%stext of %u characters", order, f->size / 4);
  }
}

bool array_may_begin(enum array_format format, const char *bytes, size_t length) {
  static const char archive[] = "PK\x03\x04";
  const char *wanted = format == ARRAY_NPY ? magic : archive;
  const size_t most = format == ARRAY_NPY ? MAGIC : sizeof archive - 1;
  return format == ARRAY_CSV || memcmp(bytes, wanted, length < most ? length : most) == 0;
}
