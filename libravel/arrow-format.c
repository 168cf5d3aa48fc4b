/* arrow-format.c - schemas of Arrow: format strings, paths, columns and the type of NESL. */
#include "libravel/import.h"

#include <inttypes.h>
#include <string.h>

/* ---- format strings ---- */

static const struct {
  char text[3];
  struct arrow_format format;
} formats[] = {
    {"b", {.kind = ARROW_BOOL}},
    {"n", {.kind = ARROW_NULL}},
    {"c", {.kind = ARROW_INTEGER, .bytes = 1}},
    {"C", {.kind = ARROW_INTEGER, .bytes = 1, .is_unsigned = true}},
    {"s", {.kind = ARROW_INTEGER, .bytes = 2}},
    {"S", {.kind = ARROW_INTEGER, .bytes = 2, .is_unsigned = true}},
    {"i", {.kind = ARROW_INTEGER, .bytes = 4}},
    {"I", {.kind = ARROW_INTEGER, .bytes = 4, .is_unsigned = true}},
    {"l", {.kind = ARROW_INTEGER, .bytes = 8}},
    {"L", {.kind = ARROW_INTEGER, .bytes = 8, .is_unsigned = true}},
    {"e", {.kind = ARROW_FLOATING, .bytes = 2}},
    {"f", {.kind = ARROW_FLOATING, .bytes = 4}},
    {"g", {.kind = ARROW_FLOATING, .bytes = 8}},
    {"u", {.kind = ARROW_TEXT, .bytes = 4}},
    {"U", {.kind = ARROW_TEXT, .bytes = 8}},
    {"z", {.kind = ARROW_TEXT, .bytes = 4}},
    {"Z", {.kind = ARROW_TEXT, .bytes = 8}},
    {"vu", {.kind = ARROW_VIEW, .bytes = 4}},
    {"vz", {.kind = ARROW_VIEW, .bytes = 4}},
    {"+l", {.kind = ARROW_LIST, .bytes = 4}},
    {"+L", {.kind = ARROW_LIST, .bytes = 8}},
    {"+s", {.kind = ARROW_STRUCT}},
};

/* The formats that are not supported, by the beginnings of their strings, with what to do
 * instead. */
static const struct {
  char text[4];
  const char *what, *instead;
} others[] = {
    {"d:", "a decimal", "cast it to float64"},
    {"td", "a date", "cast it to an integer"},
    {"tt", "a time of day", "cast it to an integer"},
    {"ts", "a timestamp", "cast it to int64"},
    {"tD", "a duration", "cast it to int64"},
    {"ti", "an interval", "it has no number"},
    {"w:", "binary of a fixed size", "cast it to binary"},
    {"+m", "a map", "cast it to a list of structs"},
    {"+v", "a list view", "cast it to a list"},
    {"+u", "a union", "elements of a sequence have one type"},
    {"+r", "run-end encoded", "decode it"},
};

/* Parses the N of "+w:N". */
static bool parse_size(const char *text, int64_t *size) {
  *size = 0;
  if (!*text) return false;
  for (; *text; text++) {
    if (*text < '0' || *text > '9' || *size > INT32_MAX / 10) return false;
    *size = 10 * *size + (*text - '0');
  }
  return *size <= INT32_MAX;
}

bool arrow_format_parse(const char *text, struct arrow_format *format) {
  if (!text) return false;
  if (strncmp(text, "+w:", 3) == 0) {
    *format = (struct arrow_format){.kind = ARROW_FIXED_LIST};
    return parse_size(text + 3, &format->size);
  }
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (strcmp(text, formats[i].text) != 0) continue;
    *format = formats[i].format;
    return true;
  }
  return false;
}

/* ---- messages ---- */

enum { NAME_MOST = 60, LEVELS_MOST = 20 }; /* of a path in a message */

static const char *path_of(struct arena *arena, const struct arrow_node *node,
                           unsigned levels) {
  const char *name = node->schema->name ? node->schema->name : "";
  const char *number = *name ? "" : arena_printf(arena, "%" PRId64, node->number);
  if (!node->parent) return arena_printf(arena, "%.*s", NAME_MOST, name);
  if (levels == LEVELS_MOST) return "...";
  const char *before = path_of(arena, node->parent, levels + 1);
  if (node->parent->dictionary == node) return before;
  if (node->parent->format.kind != ARROW_STRUCT) return arena_printf(arena, "%s[]", before);
  return arena_printf(arena, "%s%s%.*s%s", before, *before ? "." : "", NAME_MOST, name, number);
}

bool import_fail(struct import *im, const struct arrow_node *node, const char *format, ...) {
  const char *path = path_of(im->arena, node, 0);
  va_list args;
  va_start(args, format);
  const char *what = arena_vprintf(im->arena, format, args);
  va_end(args);
  im->problem = arena_printf(im->arena, "%s: %s", *path ? path : "the array", what);
  return false;
}

/* ---- nodes ---- */

static bool unknown_format(struct import *im, const struct arrow_node *node) {
  const char *format = node->schema->format ? node->schema->format : "";
  size_t i = 0;
  while (i < sizeof others / sizeof *others &&
         strncmp(format, others[i].text, strlen(others[i].text)) != 0) {
    i++;
  }
  if (i == sizeof others / sizeof *others) {
    return import_fail(im, node, "an Arrow type that is not known, of the format \"%.60s\"",
                       format);
  }
  return import_fail(im, node, "it is %s, which cannot be imported: %s", others[i].what,
                     others[i].instead);
}

static bool arrow_add_column(struct import *im, const struct arrow_node *node,
                             enum column_kind kind) {
  if (im->columns.count == VALUE_MOST_COLUMNS) {
    return import_fail(im, node, "%s", VALUE_TOO_MANY_COLUMNS);
  }
  uint8_t bytes = 8;
  if (kind == COLUMN_BOOL) bytes = 1;
  if (kind == COLUMN_INT) bytes = (uint8_t)elem_info(im->int_elem)->bytes;
  if (kind == COLUMN_FLOAT) bytes = (uint8_t)elem_info(im->float_elem)->bytes;
  *array_push(im->arena, &im->columns) =
      (struct import_column){.kind = (uint8_t)kind, .bytes = bytes};
  return true;
}

static struct arrow_node *read_node(struct import *, const struct arrow_node *parent,
                                    const struct ArrowSchema *, int64_t number);

static bool read_children(struct import *im, struct arrow_node *node) {
  const struct ArrowSchema *schema = node->schema;
  const bool many = node->format.kind == ARROW_STRUCT;
  if (many ? schema->n_children < 1 : schema->n_children != 1) {
    return import_fail(im, node,
                       many ? "a struct with %" PRId64 " fields"
                            : "a list with %" PRId64 " children, not 1",
                       schema->n_children);
  }
  if (schema->n_children > VALUE_MOST_COLUMNS || !schema->children) {
    return import_fail(im, node, "a struct with %" PRId64 " fields", schema->n_children);
  }
  node->child_count = schema->n_children;
  node->children = arena_alloc(im->arena, (size_t)node->child_count * sizeof *node->children);
  for (int64_t i = 0; i < node->child_count; i++) {
    if (!(node->children[i] = read_node(im, node, schema->children[i], i))) return false;
  }
  return true;
}

/* Reads the columns of a node, and of the nodes below. */
static bool read_columns(struct import *im, struct arrow_node *node) {
  switch ((enum arrow_kind)node->format.kind) {
  case ARROW_BOOL: return arrow_add_column(im, node, COLUMN_BOOL);
  case ARROW_INTEGER: return arrow_add_column(im, node, COLUMN_INT);
  case ARROW_NULL:
  case ARROW_FLOATING: return arrow_add_column(im, node, COLUMN_FLOAT);
  case ARROW_VIEW: node->decoded = true; /* fall through */
  case ARROW_TEXT:
    return arrow_add_column(im, node, COLUMN_SEGDES) && arrow_add_column(im, node, COLUMN_INT);
  case ARROW_LIST:
  case ARROW_FIXED_LIST:
    return arrow_add_column(im, node, COLUMN_SEGDES) && read_children(im, node);
  case ARROW_STRUCT: return read_children(im, node);
  }
  return false; /* there is no other kind */
}

static bool read_dictionary(struct import *im, struct arrow_node *node) {
  if (node->format.kind != ARROW_INTEGER) {
    return import_fail(im, node, "indices of a dictionary are of the Arrow type \"%s\"",
                       node->schema->format);
  }
  node->dictionary = read_node(im, node, node->schema->dictionary, 0);
  return node->dictionary != NULL;
}

static struct arrow_node *read_node(struct import *im, const struct arrow_node *parent,
                                    const struct ArrowSchema *schema, int64_t number) {
  if (!schema || !schema->release) {
    if (parent) return import_fail(im, parent, "the schema of a child is missing"), NULL;
    return im->problem = "the schema is released", NULL;
  }
  struct arrow_node *node = arena_alloc(im->arena, sizeof *node);
  *node =
      (struct arrow_node){.schema = schema,
                          .parent = parent,
                          .number = number,
                          .depth = parent ? parent->depth + 1 : 0,
                          .decoded = parent && (parent->decoded || parent->schema->dictionary),
                          .column = (uint32_t)im->columns.count};
  if (node->depth == ARROW_MOST_DEPTH) {
    import_fail(im, node, "this type nests deeper than %d levels", ARROW_MOST_DEPTH);
    return NULL;
  }
  if (!arrow_format_parse(schema->format, &node->format)) {
    unknown_format(im, node);
    return NULL;
  }
  const bool fine = schema->dictionary ? read_dictionary(im, node) : read_columns(im, node);
  return fine ? node : NULL;
}

bool import_begin(struct import *im, const struct ArrowSchema *schema) {
  *array_push(im->arena, &im->columns) =
      (struct import_column){.kind = COLUMN_SEGDES, .bytes = 8, .length = 1};
  im->root = read_node(im, NULL, schema, 0);
  if (!im->root) return false;
  if (!type_is_deep(im->arena, import_type(im))) return true;
  return import_fail(im, im->root, "this type nests too deep: a tuple of n counts as n levels");
}

/* ---- the type ---- */

static struct type *type_of_node(struct arena *arena, const struct arrow_node *node) {
  if (node->dictionary) return type_of_node(arena, node->dictionary);
  struct type *type;
  switch ((enum arrow_kind)node->format.kind) {
  case ARROW_BOOL: return type_base(arena, TYPE_BOOL);
  case ARROW_INTEGER: return type_base(arena, TYPE_INT);
  case ARROW_NULL:
  case ARROW_FLOATING: return type_base(arena, TYPE_FLOAT);
  case ARROW_TEXT:
  case ARROW_VIEW: return type_sequence(arena, type_base(arena, TYPE_CHAR));
  case ARROW_LIST:
  case ARROW_FIXED_LIST: return type_sequence(arena, type_of_node(arena, node->children[0]));
  case ARROW_STRUCT: break;
  }
  type = type_of_node(arena, node->children[node->child_count - 1]);
  for (int64_t i = node->child_count - 1; i-- > 0;) {
    type = type_pair(arena, type_of_node(arena, node->children[i]), type);
  }
  return type;
}

struct type *import_type(const struct import *im) {
  return type_sequence(im->arena, type_of_node(im->arena, im->root));
}
