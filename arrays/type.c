/* type.c - parses signatures and derives the columns that follow from them. */
#include "arrays/arrays-private.h"

#include <string.h>

struct parse {
  struct arena *arena;
  const char *next, *end;
  const char **problem;
  ARRAY(uint8_t) leaves;
};

static int peek(const struct parse *p, size_t ahead) {
  return (size_t)(p->end - p->next) > ahead ? p->next[ahead] : '\0';
}

static bool parse_leaf(struct parse *p, enum array_leaf kind, unsigned chars) {
  p->next += chars;
  *array_push(p->arena, &p->leaves) = (uint8_t)kind;
  return true;
}

static bool no_array(struct parse *p, const char *what) {
  return array_fail(p->arena, p->problem, "%s cannot be stored in a file of arrays", what);
}

/* The elements: tuples are right-nested pairs, which are visited from left to right. */
static bool parse_element(struct parse *p) {
  uint64_t wanted = 1;
  for (; wanted > 0; wanted--) {
    bool fine = true;
    switch (peek(p, 0)) {
    case '(':
      p->next++;
      wanted += 2;
      break;
    case 'i': fine = parse_leaf(p, ARRAY_INT, 1); break;
    case 'f': fine = parse_leaf(p, ARRAY_FLOAT, 1); break;
    case 'b': fine = parse_leaf(p, ARRAY_BOOL, 1); break;
    case 'c': fine = parse_leaf(p, ARRAY_CHAR, 1); break;
    case '[':
      fine = peek(p, 1) == 'c' ? parse_leaf(p, ARRAY_TEXT, 2)
                               : no_array(p, "a tuple of sequences");
      break;
    default: fine = no_array(p, "a function or a stream");
    }
    if (!fine) return false;
  }
  return true;
}

/* ---- any value ---- */

/* Parses a value within so many sequences. */
static bool parse_signature_value(struct parse *p, unsigned depth) {
  for (uint64_t wanted = 1; wanted > 0; wanted--) {
    for (; peek(p, 0) == '('; p->next++) wanted++;
    const int letter = peek(p, 0);
    if (letter == '\0' || !strchr("[ifbc", letter))
      return no_array(p, "a function or a stream");
    p->next++;
    if (letter != '[') continue;
    if (depth == ARRAY_MOST_DIMENSIONS) {
      return array_fail(p->arena, p->problem, "more than %d dimensions", ARRAY_MOST_DIMENSIONS);
    }
    if (!parse_signature_value(p, depth + 1)) return false;
  }
  return true;
}

const char *array_value_end(const char *next) {
  for (unsigned wanted = 1; wanted > 0; next++) {
    if (*next == '(')
      wanted++;
    else if (*next != '[')
      wanted--;
  }
  return next;
}

uint32_t array_component_count(const char *signature) {
  uint32_t count = 1;
  const char *end = array_value_end(signature);
  for (const char *c = signature; c < end; c = *c == '[' ? array_value_end(c) : c + 1)
    count += *c == '(';
  return count;
}

static uint32_t components_of_elements(const char *signature) {
  return array_component_count(signature + strspn(signature, "["));
}

static bool parse_settings(struct parse *p, struct array_type *type) {
  return p->next == p->end || csv_style_parse(p->arena, p->next, p->end, type, p->problem);
}

/* Returns whether there are as many names as components, or none. */
static bool fields_fit(struct parse *p, const struct array_type *type, uint32_t components) {
  const uint32_t fields = array_field_count(type);
  return fields == 0 || fields == components ||
         array_fail(p->arena, p->problem, "%u names of fields for %u components", fields,
                    components);
}

static bool parse_any(struct parse *p, struct array_type *type) {
  const char *start = p->next;
  *type = (struct array_type){.depth = 0};
  if (!parse_signature_value(p, 0)) return false;
  type->signature = arena_copy(p->arena, start, (size_t)(p->next - start));
  return parse_settings(p, type) &&
         fields_fit(p, type, components_of_elements(type->signature));
}

enum array_leaf array_leaf_of(char letter) {
  switch (letter) {
  case 'i': return ARRAY_INT;
  case 'f': return ARRAY_FLOAT;
  case 'b': return ARRAY_BOOL;
  default: return ARRAY_CHAR;
  }
}

/* ---- arrays ---- */

bool array_type_parse(enum array_format format, struct arena *arena, const char *signature,
                      size_t length, struct array_type *type, const char **problem) {
  struct parse p = {
      .arena = arena, .next = signature, .end = signature + length, .problem = problem};
  if (format == ARRAY_NPZ) return parse_any(&p, type);
  *type = (struct array_type){.depth = 0};
  for (; peek(&p, 0) == '[' && peek(&p, 1) != 'c'; p.next++) type->depth++;
  if (type->depth > ARRAY_MOST_DIMENSIONS) {
    return array_fail(arena, problem, "more than %d dimensions", ARRAY_MOST_DIMENSIONS);
  }
  if (!parse_element(&p)) return false;
  if (!parse_settings(&p, type)) return false;
  type->leaf_count = (uint32_t)p.leaves.count;
  type->leaves = p.leaves.items;
  return fields_fit(&p, type, type->leaf_count);
}

const char *array_leaf_name(enum array_leaf kind) {
  switch (kind) {
  case ARRAY_INT: return "int";
  case ARRAY_FLOAT: return "float";
  case ARRAY_BOOL: return "bool";
  case ARRAY_CHAR: return "char";
  case ARRAY_TEXT: break;
  }
  return "[char]";
}

uint32_t array_leaf_column(const struct array_type *type, uint32_t wanted) {
  uint32_t column = type->depth;
  for (uint32_t i = 0; i < wanted; i++) column += type->leaves[i] == ARRAY_TEXT ? 2 : 1;
  return column;
}

/* Returns the letter of a signature that column k stands for; its end if there is none. */
static const char *column_letter(const struct array_type *type, uint32_t k) {
  const char *letter = type->signature;
  for (; *letter && (*letter == '(' || k-- > 0); letter++) {
  }
  return letter;
}

uint32_t array_column_count(const struct array_type *type) {
  uint32_t count = 0;
  for (const char *s = type->signature; s && *s; s++) count += *s != '(';
  if (type->signature) return count;
  return array_leaf_column(type, type->leaf_count);
}

bool array_column_is_float(const struct array_type *type, uint32_t k) {
  if (type->signature) return *column_letter(type, k) == 'f';
  uint32_t column = type->depth;
  for (uint32_t i = 0; i < type->leaf_count && column <= k; i++) {
    if (column == k) return type->leaves[i] == ARRAY_FLOAT;
    column += type->leaves[i] == ARRAY_TEXT ? 2 : 1;
  }
  return false;
}

bool array_little_endian(void) {
  const uint16_t one = 1;
  uint8_t first;
  memcpy(&first, &one, 1);
  return first == 1;
}

struct array_column array_ints(struct arena *arena, uint64_t length) {
  struct array_column column = {.length = length};
  column.as.ints = arena_alloc(arena, (size_t)length * sizeof *column.as.ints);
  return column;
}

struct array_column array_floats(struct arena *arena, uint64_t length) {
  struct array_column column = {.length = length};
  column.as.floats = arena_alloc(arena, (size_t)length * sizeof *column.as.floats);
  return column;
}

/* ---- consistency ---- */

bool array_sum_lengths(const struct array_column *c, uint64_t *total) {
  if (c->equal)
    return !__builtin_mul_overflow((uint64_t)c->as.ints[0], c->length, total) &&
           *total <= INT64_MAX;
  *total = 0;
  for (uint64_t i = 0; i < c->length; i++) {
    if (c->as.ints[i] < 0 || (uint64_t)c->as.ints[i] > INT64_MAX - *total) return false;
    *total += (uint64_t)c->as.ints[i];
  }
  return true;
}

/* Returns whether columns have the lengths that the preceding columns imply. */
static bool fit_together(const struct array_type *t, const struct array_columns *columns) {
  const struct array_column *c = columns->items;
  uint64_t count = 1, chars;
  for (uint32_t level = 0; level < t->depth; level++, c++) {
    if (c->length != count || !array_sum_lengths(c, &count)) return false;
  }
  for (uint32_t i = 0; i < t->leaf_count; i++, c++) {
    if (c->length != count) return false;
    if (t->leaves[i] != ARRAY_TEXT) continue;
    if (!array_sum_lengths(c, &chars)) return false;
    if ((++c)->length != chars) return false;
  }
  return true;
}

bool array_check(enum array_format format, struct arena *arena, const struct array_type *type,
                 const struct array_columns *columns, const char **problem) {
  const bool fits = format == ARRAY_NPZ ? npz_fits(type, columns) : fit_together(type, columns);
  if (!fits) return array_fail(arena, problem, "lengths that do not fit the elements");
  switch (format) {
  case ARRAY_NPY: return npy_check(arena, type, columns, problem);
  case ARRAY_CSV: return csv_write_check(arena, type, problem);
  case ARRAY_NPZ: break;
  }
  return true;
}

bool array_read(enum array_format format, struct arena *arena, const struct array_type *type,
                const char *bytes, size_t length, struct array_columns *out,
                const char **problem) {
  switch (format) {
  case ARRAY_NPY: return npy_read(arena, type, bytes, length, out, problem);
  case ARRAY_CSV: return csv_read(arena, type, bytes, length, out, problem);
  case ARRAY_NPZ: break;
  }
  return npz_read(arena, type, bytes, length, out, problem);
}

bool array_guess(enum array_format format, struct arena *arena, const char *bytes,
                 size_t length, struct array_type *type, const char **problem) {
  switch (format) {
  case ARRAY_NPY: return npy_guess(arena, bytes, length, type, problem);
  case ARRAY_CSV: return csv_guess(arena, bytes, length, type, problem);
  case ARRAY_NPZ: break;
  }
  return npz_guess(arena, bytes, length, type, problem);
}

bool array_write(enum array_format format, struct arena *arena, const struct array_type *type,
                 const struct array_columns *columns, FILE *out, const char **problem) {
  switch (format) {
  case ARRAY_NPY: return npy_write(arena, type, columns, out, problem);
  case ARRAY_CSV: return csv_write(arena, type, columns, out, problem);
  case ARRAY_NPZ: break;
  }
  return npz_write(arena, type, columns, out, problem);
}
