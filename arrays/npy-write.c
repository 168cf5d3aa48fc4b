/* npy-write.c - writes columns as a numpy file: int64, float64, bool, and texts as S. */
#include "arrays/arrays-private.h"

#include <string.h>

struct writing {
  struct arena *arena;
  const struct array_type *type;
  const struct array_columns *columns;
  uint64_t count;      /* of elements */
  uint64_t *text_size; /* for each component: bytes of the longest text */
  FILE *out;
  const char **problem;
};

/* ---- shape and header ---- */

/* Checks that all lengths of a level are equal; that length is its dimension. */
static bool dimension(struct writing *w, uint32_t level, uint64_t *length) {
  const struct array_column *c = &w->columns->items[level];
  *length = c->length > 0 ? (uint64_t)c->as.ints[0] : 0;
  for (uint64_t i = 1; i < c->length && !c->equal; i++) {
    if ((uint64_t)c->as.ints[i] == *length) continue;
    return array_fail(w->arena, w->problem,
                      "sequences of lengths %llu and %llu: a numpy array is rectangular",
                      (unsigned long long)*length, (unsigned long long)c->as.ints[i]);
  }
  return true;
}

bool npy_check(struct arena *arena, const struct array_type *type,
               const struct array_columns *columns, const char **problem) {
  struct writing w = {.arena = arena, .type = type, .columns = columns, .problem = problem};
  uint64_t length;
  for (uint32_t level = 0; level < type->depth; level++) {
    if (!dimension(&w, level, &length)) return false;
  }
  return true;
}

static bool print_shape(struct writing *w, FILE *to) {
  w->count = 1;
  fputs("(", to);
  for (uint32_t level = 0; level < w->type->depth; level++) {
    uint64_t length;
    if (!dimension(w, level, &length)) return false;
    fprintf(to, "%llu,%s", (unsigned long long)length, level + 1 < w->type->depth ? " " : "");
    w->count *= length;
  }
  fputs(")", to);
  return true;
}

static uint64_t longest_text(const struct array_column *lengths) {
  uint64_t most = 1; /* numpy's texts have a byte at least */
  for (uint64_t i = 0; i < lengths->length; i++) {
    if ((uint64_t)lengths->as.ints[i] > most) most = (uint64_t)lengths->as.ints[i];
  }
  return most;
}

static void npy_print_type(struct writing *w, uint32_t leaf, FILE *to) {
  switch ((enum array_leaf)w->type->leaves[leaf]) {
  case ARRAY_INT: fputs("'<i8'", to); break;
  case ARRAY_FLOAT: fputs("'<f8'", to); break;
  case ARRAY_BOOL: fputs("'|b1'", to); break;
  case ARRAY_CHAR: fputs("'|S1'", to); break;
  case ARRAY_TEXT:
    w->text_size[leaf] = longest_text(&w->columns->items[array_leaf_column(w->type, leaf)]);
    fprintf(to, "'|S%llu'", (unsigned long long)w->text_size[leaf]);
    break;
  }
}

static void print_name(const struct writing *w, uint32_t leaf, FILE *to) {
  if (array_field_count(w->type) > 0)
    fprintf(to, "('%s', ", array_field(w->type, leaf));
  else
    fprintf(to, "('f%u', ", leaf);
}

static size_t names_length(const struct array_type *type) {
  size_t length = 0;
  for (uint32_t i = 0; i < array_field_count(type); i++) length += strlen(array_field(type, i));
  return length;
}

static bool print_dictionary(struct writing *w, FILE *to) {
  fputs("{'descr': ", to);
  if (w->type->leaf_count == 1) {
    npy_print_type(w, 0, to);
  } else {
    fputs("[", to);
    for (uint32_t i = 0; i < w->type->leaf_count; i++) {
      print_name(w, i, to);
      npy_print_type(w, i, to);
      fputs(i + 1 < w->type->leaf_count ? "), " : ")]", to);
    }
  }
  fputs(", 'fortran_order': False, 'shape': ", to);
  bool fine = print_shape(w, to);
  fputs(", }", to);
  return fine;
}

/* Writes the magic number, version 1.0 (2.0 if the header is long), and the header, filled up
 * so that the elements begin at a multiple of 64. */
static void write_header(struct writing *w, const char *text, size_t length) {
  enum { ALIGNMENT = 64, MOST_SHORT = 65535 };
  size_t before = 10;
  size_t padded = (before + length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - before;
  const bool is_long = padded > MOST_SHORT;
  if (is_long) {
    before = 12;
    padded = (before + length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - before;
  }
  fwrite("\x93NUMPY", 1, 6, w->out);
  putc(is_long ? 2 : 1, w->out);
  putc(0, w->out);
  for (unsigned k = 0; k < (is_long ? 4 : 2); k++) putc((int)(padded >> (8 * k) & 255), w->out);
  fwrite(text, 1, length, w->out);
  for (size_t k = length; k + 1 < padded; k++) putc(' ', w->out);
  putc('\n', w->out);
}

/* ---- elements ---- */

static void write_bits(const void *data, FILE *out) {
  uint64_t bits;
  memcpy(&bits, data, sizeof bits);
  unsigned char bytes[8];
  for (unsigned k = 0; k < 8; k++) bytes[k] = (unsigned char)(bits >> (8 * k) & 255);
  fwrite(bytes, 1, sizeof bytes, out);
}

static void npy_write_text(struct writing *w, uint32_t leaf, uint64_t i, uint64_t *at) {
  const struct array_column *c = &w->columns->items[array_leaf_column(w->type, leaf)];
  const uint64_t length = (uint64_t)c->as.ints[i];
  for (uint64_t k = 0; k < length; k++) putc((int)(c[1].as.ints[(*at)++] & 255), w->out);
  for (uint64_t k = length; k < w->text_size[leaf]; k++) putc(0, w->out);
}

static void write_elements(struct writing *w) {
  uint64_t *at = arena_alloc(w->arena, w->type->leaf_count * sizeof *at); /* in the texts */
  for (uint64_t i = 0; i < w->count && !ferror(w->out); i++) {
    uint32_t column = w->type->depth;
    for (uint32_t leaf = 0; leaf < w->type->leaf_count; leaf++, column++) {
      const struct array_column *c = &w->columns->items[column];
      switch ((enum array_leaf)w->type->leaves[leaf]) {
      case ARRAY_INT:
      case ARRAY_FLOAT: write_bits(&c->as.ints[i], w->out); break;
      case ARRAY_BOOL: putc(array_bool(c, i), w->out); break;
      case ARRAY_CHAR: putc((int)(c->as.ints[i] & 255), w->out); break;
      case ARRAY_TEXT:
        npy_write_text(w, leaf, i, &at[leaf]);
        column++;
        break;
      }
    }
    array_passed(w->type->spills, w->type->leaf_count * sizeof(int64_t));
  }
}

static bool print_header(struct writing *w) {
  const struct array_type *type = w->type;
  enum { DICTIONARY_BYTES = 256, PER_COMPONENT = 48, PER_DIMENSION = 24 };
  const size_t room = DICTIONARY_BYTES + (size_t)type->leaf_count * PER_COMPONENT +
                      (size_t)type->depth * PER_DIMENSION + names_length(type);
  char *header = arena_alloc(w->arena, room);
  w->text_size = arena_alloc(w->arena, type->leaf_count * sizeof *w->text_size);
  FILE *to = fmemopen(header, room, "w");
  if (!to) return array_fail(w->arena, w->problem, "out of memory");
  bool fine = print_dictionary(w, to);
  fclose(to);
  if (!fine) return false;
  write_header(w, header, strlen(header));
  return true;
}

bool npy_write(struct arena *arena, const struct array_type *type,
               const struct array_columns *columns, FILE *out, const char **problem) {
  struct writing w = {
      .arena = arena, .type = type, .columns = columns, .out = out, .problem = problem};
  if (!print_header(&w)) return false;
  write_elements(&w);
  return true;
}

/* ---- a header alone ---- */

/* A header of 64 bytes is too short for any array. One of 128 bytes holds three dimensions,
 * each of up to 19 digits. */
bool array_npy_is_column(const struct array_type *type) {
  enum { MOST_DEPTH = 3 };
  return !type->signature && type->leaf_count == 1 && type->depth >= 1 &&
         type->depth <= MOST_DEPTH && type->leaves[0] <= ARRAY_BOOL && array_little_endian();
}

bool array_npy_write_header(struct arena *arena, const struct array_type *type,
                            const struct array_columns *columns, FILE *out,
                            const char **problem) {
  struct writing w = {
      .arena = arena, .type = type, .columns = columns, .out = out, .problem = problem};
  return print_header(&w);
}
