/* library-types.c - a C type for each NESL type of arguments and results.
 *
 * Names are in prefix notation, so that different types have different names: `vec_` and the
 * name of the elements, `pair_` or `tuple3_` and the names of the components. A datatype has
 * its own name; that another type has it, too, is found when all names are known. Members of a
 * record have the names of its fields.
 */
#include "commands/library.h"

#include "base/text.h"

#include <string.h>

/* ---- scalars ---- */

static bool is_wide(const struct c_types *types, enum type_tag tag) {
  return tag == TYPE_FLOAT ? types->widths.float_elem == CVL_F64
                           : types->widths.int_elem == CVL_I64;
}

static const char *scalar_name(const struct c_types *types, enum type_tag tag) {
  switch (tag) {
  case TYPE_FLOAT: return is_wide(types, tag) ? "f64" : "f32";
  case TYPE_BOOL: return "bool";
  case TYPE_CHAR: return "char";
  default: break;
  }
  return is_wide(types, tag) ? "i64" : "i32";
}

const char *c_scalar(const struct c_types *types, enum type_tag tag) {
  switch (tag) {
  case TYPE_FLOAT: return is_wide(types, tag) ? "double" : "float";
  case TYPE_BOOL: return "bool";
  case TYPE_CHAR: return "char";
  case TYPE_SEQUENCE: return "int64_t";
  default: break;
  }
  return is_wide(types, tag) ? "int64_t" : "int32_t";
}

const char *c_element(const struct c_types *types, enum type_tag tag) {
  switch (tag) {
  case TYPE_FLOAT: return is_wide(types, tag) ? "RAVEL_FLOAT64" : "RAVEL_FLOAT32";
  case TYPE_BOOL: return "RAVEL_BOOL8";
  case TYPE_CHAR: return "RAVEL_CHAR8";
  case TYPE_SEQUENCE: return "RAVEL_INT64";
  default: break;
  }
  return is_wide(types, tag) ? "RAVEL_INT64" : "RAVEL_INT32";
}

/* ---- composed types ---- */

/* The type of this name and meaning; it is added if there is none. */
static struct c_type *add_c_type(struct c_types *types, const struct c_type *made) {
  for (size_t i = 0; i < types->list.count; i++) {
    struct c_type *known = types->list.items[i];
    if (strcmp(known->name, made->name) != 0) continue;
    if (type_same(types->arena, known->type, made->type)) return known;
  }
  struct c_type *t = arena_alloc(types->arena, sizeof *t);
  *t = *made;
  for (uint32_t i = 0; i < t->part_count; i++) t->memory |= t->parts[i]->memory;
  *array_push(types->arena, &types->list) = t;
  return t;
}

static struct c_type *make_c_type(struct c_types *, struct type *, bool sequence);

static uint32_t tuple_type_length(struct type *t) {
  uint32_t n = 1;
  for (struct type *rest = t; rest->tag == TYPE_PAIR; rest = type_of(rest->part[1])) n++;
  return n;
}

/* The n components of a tuple, or of what a datatype consists of; the last may be a tuple. */
static struct c_type **make_parts(struct c_types *types, struct type *t, bool sequence,
                                  uint32_t n) {
  struct c_type **parts = arena_alloc(types->arena, n * sizeof *parts);
  for (uint32_t i = 0; i < n; i++) {
    parts[i] = make_c_type(types, i + 1 < n ? type_of(t->part[0]) : t, sequence);
    t = i + 1 < n ? type_of(t->part[1]) : t;
  }
  return parts;
}

/* The names of several types behind another. */
static const char *join_names(struct arena *arena, const char *name,
                              struct c_type *const *parts, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    name = arena_printf(arena, "%s_%s", name, parts[i]->name);
  return name;
}

static const char *tuple_name(struct c_types *types, struct type *t) {
  const uint32_t count = tuple_type_length(t);
  struct c_type **parts = make_parts(types, t, false, count);
  const char *first =
      count == 2 ? "pair" : arena_printf(types->arena, "tuple%u", (unsigned)count);
  return join_names(types->arena, first, parts, count);
}

static const char *data_name(struct c_types *types, const struct type *t) {
  const uint32_t count = t->data->shown_count;
  struct c_type **arguments = arena_alloc(types->arena, (count + 1) * sizeof *arguments);
  for (uint32_t i = 0; i < count; i++) {
    arguments[i] = make_c_type(types, type_of(t->arguments[i]), false);
  }
  /* m.point of a module is m_point */
  char *name = arena_copy(types->arena, t->data->name->text, t->data->name->length);
  for (char *c = name; *c; c++) {
    if (*c == '.' || *c == '#') *c = '_';
  }
  return join_names(types->arena, name, arguments, count);
}

static bool is_member(const char **names, uint32_t count, const char *name) {
  uint32_t i = 0;
  while (i < count && strcmp(names[i], name) != 0) i++;
  return i < count;
}

/* The names of the fields, with `_` behind those that C has another meaning for. */
static const char **member_names(struct arena *arena, const struct datatype *data) {
  const char **names = arena_alloc(arena, data->field_count * sizeof *names);
  for (uint32_t i = 0; i < data->field_count; i++) names[i] = data->fields[i]->text;
  for (uint32_t i = 0; i < data->field_count; i++) {
    const char *name = names[i];
    if (!library_name_is_taken(name)) continue;
    do name = arena_printf(arena, "%s_", name);
    while (is_member(names, data->field_count, name));
    names[i] = name;
  }
  return names;
}

/* Makes the struct of a tuple or a datatype, or of a sequence of them. */
static struct c_type *make_struct(struct c_types *types, struct type *t, bool sequence) {
  struct arena *arena = types->arena;
  struct c_type made = {.kind = C_STRUCT};
  const bool data = t->tag == TYPE_DATA;
  const char *name = data ? data_name(types, t) : tuple_name(types, t);
  made.name = sequence ? arena_printf(arena, "vec_%s", name) : name;
  made.type = sequence ? type_sequence(arena, t) : t;
  struct type *contents = data ? type_of(type_contents(arena, t)) : t;
  const uint32_t fields = data ? t->data->field_count : 0;
  made.part_count = fields ? fields : tuple_type_length(contents);
  made.parts = make_parts(types, contents, sequence, made.part_count);
  if (fields) made.members = member_names(arena, t->data);
  return add_c_type(types, &made);
}

static struct c_type *make_c_vector(struct c_types *types, struct type *element) {
  const enum type_tag tag = (enum type_tag)element->tag;
  const struct c_type made = {
      .kind = C_VECTOR,
      .tag = (uint8_t)tag,
      .memory = true,
      .name = tag == TYPE_CHAR ? "text"
                               : arena_printf(types->arena, "vec_%s", scalar_name(types, tag)),
      .type = type_sequence(types->arena, element)};
  return add_c_type(types, &made);
}

static struct c_type *make_c_rows(struct c_types *types, struct type *row) {
  struct c_type **elements = arena_alloc(types->arena, sizeof *elements);
  *elements = make_c_type(types, type_of(row->part[0]), true);
  const struct c_type made = {.kind = C_ROWS,
                              .memory = true,
                              .name = arena_printf(types->arena, "vec_%s", (*elements)->name),
                              .type = type_sequence(types->arena, row),
                              .part_count = 1,
                              .parts = elements};
  return add_c_type(types, &made);
}

/* Makes the C type of a value, or of a sequence of such values. */
static struct c_type *make_c_type(struct c_types *types, struct type *t, bool sequence) {
  if (t->tag == TYPE_PAIR || t->tag == TYPE_DATA) return make_struct(types, t, sequence);
  if (t->tag == TYPE_SEQUENCE) {
    return sequence ? make_c_rows(types, t) : make_c_type(types, type_of(t->part[0]), true);
  }
  if (sequence) return make_c_vector(types, t);
  const char *name = scalar_name(types, (enum type_tag)t->tag);
  const struct c_type made = {.kind = C_SCALAR, .tag = t->tag, .name = name, .type = t};
  return add_c_type(types, &made);
}

struct c_type *c_type_of(struct c_types *types, struct type *t) {
  return make_c_type(types, type_of(t), false);
}

/* ---- as text ---- */

static void show_type_contents(struct arena *, struct type *, FILE *);

/* Shows the components of a tuple, separated by commas. */
static void show_type_components(struct arena *arena, struct type *t, FILE *out) {
  for (; t->tag == TYPE_PAIR; t = type_of(t->part[1])) {
    show_type_contents(arena, type_of(t->part[0]), out);
    fputs(", ", out);
  }
  show_type_contents(arena, t, out);
}

static void show_type_contents(struct arena *arena, struct type *t, FILE *out) {
  static const char *const names[] = {"int", "float", "bool", "char"};
  while (t->tag == TYPE_DATA) t = type_of(type_contents(arena, t));
  if (t->tag == TYPE_SEQUENCE) {
    fputc('[', out);
    show_type_contents(arena, type_of(t->part[0]), out);
    fputc(']', out);
  } else if (t->tag == TYPE_PAIR) {
    fputc('(', out);
    show_type_components(arena, t, out);
    fputc(')', out);
  } else {
    fputs(names[t->tag], out);
  }
}

const char *c_type_contents(struct arena *arena, struct type *t) {
  struct text text;
  if (!text_begin(&text, arena->heap)) memory_failed();
  show_type_components(arena, type_of(t), text.stream);
  const char *shown = text_end(&text) ? arena_copy(arena, text.bytes, text.length) : NULL;
  text_free(&text);
  if (!shown) memory_failed();
  return shown;
}

void c_type_print(const struct c_types *types, const struct c_type *t, FILE *out) {
  if (t->kind == C_SCALAR) {
    fputs(c_scalar(types, (enum type_tag)t->tag), out);
  } else {
    fprintf(out, "struct %s_%s", types->library, t->name);
  }
}

const char *c_member(struct arena *arena, const struct c_type *t, uint32_t i) {
  return t->members ? t->members[i] : arena_printf(arena, "c%u", (unsigned)i);
}

/* ---- columns ---- */

void c_columns(struct arena *arena, const struct c_type *t, const char *variable,
               c_column *visit, void *context) {
  switch ((enum c_kind)t->kind) {
  case C_SCALAR: visit(context, (enum type_tag)t->tag, variable, NULL); return;
  case C_VECTOR:
    visit(context, (enum type_tag)t->tag, arena_printf(arena, "%s.data", variable),
          arena_printf(arena, "%s.length", variable));
    return;
  case C_ROWS:
    visit(context, TYPE_SEQUENCE, arena_printf(arena, "%s.lengths", variable),
          arena_printf(arena, "%s.length", variable));
    c_columns(arena, t->parts[0], arena_printf(arena, "%s.elements", variable), visit, context);
    return;
  case C_STRUCT: break;
  }
  for (uint32_t i = 0; i < t->part_count; i++) {
    const char *member = c_member(arena, t, i);
    c_columns(arena, t->parts[i], arena_printf(arena, "%s.%s", variable, member), visit,
              context);
  }
}
