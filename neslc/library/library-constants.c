/* library-constants.c - the library's variables: numbers, characters, streams, environment.
 * (NESL specification, 9.2, 9.9, 9.10.)
 */
#include "neslc/library/library.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void bind_constant(struct session *s, const char *name, struct type *type,
                          uint32_t count, const struct column *columns,
                          const char *documentation) {
  struct scheme scheme = {.count = 0, .type = type};
  struct nesl_value value = {
      .type = type, .count = count, .columns = (struct column *)(uintptr_t)columns};
  struct global *g =
      session_bind(s, intern_name(&s->names, name, strlen(name)), &scheme, &value);
  g->documentation = documentation;
}

/* An int, or what is represented as one: a character, a stream. */
static void bind_int(struct session *s, const char *name, enum type_tag tag, int64_t value,
                     const char *documentation) {
  struct column column = {.kind = COLUMN_INT, .length = 1, .as.ints = &value};
  bind_constant(s, name, type_base(s->arena, tag), 1, &column, documentation);
}

static void bind_float(struct session *s, const char *name, double value,
                       const char *documentation) {
  struct column column = {.kind = COLUMN_FLOAT, .length = 1, .as.floats = &value};
  bind_constant(s, name, type_base(s->arena, TYPE_FLOAT), 1, &column, documentation);
}

static void bind_string(struct session *s, const char *name, const char *text,
                        const char *documentation) {
  int64_t length = (int64_t)strlen(text);
  int64_t *characters = arena_alloc(s->arena, strlen(text) * sizeof *characters + 1);
  for (int64_t i = 0; i < length; i++) characters[i] = (unsigned char)text[i];
  struct column columns[] = {
      {.kind = COLUMN_SEGDES, .length = 1, .as.ints = &length},
      {.kind = COLUMN_INT, .length = (uint64_t)length, .as.ints = characters}};
  struct type *type = type_sequence(s->arena, type_base(s->arena, TYPE_CHAR));
  bind_constant(s, name, type, 2, columns, documentation);
}

static const char *environment(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

void library_bind_constants(struct session *s) {
  bind_float(s, "pi", 3.141592653589793, "The circumference of a circle by its diameter.");
  bind_int(s, "max_int", TYPE_INT, s->classic ? INT32_MAX : INT64_MAX, "The greatest int.");
  bind_int(s, "min_int", TYPE_INT, s->classic ? INT32_MIN : INT64_MIN, "The least int.");
  bind_int(s, "space", TYPE_CHAR, ' ', "The space character.");
  bind_int(s, "newline", TYPE_CHAR, '\n', "The character that ends a line.");
  bind_int(s, "tab", TYPE_CHAR, '\t', "The tabulator character.");
  bind_int(s, "stdin", TYPE_STREAM, 0, "The standard input.");
  bind_int(s, "stdout", TYPE_STREAM, 1, "The standard output.");
  bind_int(s, "stderr", TYPE_STREAM, 2, "The standard error output.");
  bind_int(s, "nullstr", TYPE_STREAM, -1, "No stream; spawn makes a pipe instead.");
  bind_string(s, "user", environment("USER"), "The name of the user.");
  bind_string(s, "display", environment("DISPLAY"), "The name of the display.");
  bind_string(s, "nesl_path", environment("NESL_PATH"), "Where files of NESL are looked for.");
  bind_float(s, "infinity", (double)INFINITY,
             "Above all other floats; -infinity is below them.");
  bind_float(s, "nan", (double)NAN, "Not a number: differs from all floats, itself included.");
}
