/* type-show.c - types as text. (NESL specification, section 10.3.)
 *
 * Variables are named in order of first appearance. Identities of functions are not shown, nor
 * the variables that only they mention. A long text is cut with "...": as a tree, a type may be
 * larger than any memory.
 */
#include "neslc/table.h"
#include "neslc/types/types.h"

#include <stdlib.h>
#include <string.h>

/* Up to this many variables are called a b c d e; more are a0 a1 a2 ... */
enum { LETTERS = 5 };

struct shower {
  struct arena *arena;
  ARRAY(char) text;
  size_t most;  /* bytes of it, but for the last word */
  bool cut;     /* there was more */
  size_t named; /* variables that the text mentions are below this number */
  ARRAY(struct type *) variables;
  struct table
      seen; /* types with parts, by collect_variables(); variables: their number plus one */
};

static uint32_t shown_arguments(const struct type *t) {
  return t->tag == TYPE_DATA ? t->data->shown_count : 0;
}

static void collect_variables(struct shower *s, struct type *t) {
  t = type_of(t);
  if (table_get(&s->seen, t)) return;
  if (t->tag == TYPE_VARIABLE) {
    *array_push(s->arena, &s->variables) = t;
    table_set(&s->seen, t, (void *)(uintptr_t)s->variables.count);
  } else if (type_has_parts(t)) {
    table_add(&s->seen, t);
  }
  for (unsigned i = 0; i < 2; i++) {
    if (t->part[i]) collect_variables(s, t->part[i]);
  }
  for (uint32_t i = 0; i < shown_arguments(t); i++) collect_variables(s, t->arguments[i]);
}

static void put_shown(struct shower *s, const char *text) {
  if (s->cut) return;
  s->cut = s->text.count > s->most;
  if (s->cut) text = "...";
  for (; *text; text++) *array_push(s->arena, &s->text) = *text;
}

static void put_variable(struct shower *s, const struct type *t) {
  const size_t i = (uintptr_t)table_get(&s->seen, t) - 1;
  char name[24];
  if (s->variables.count <= LETTERS) {
    snprintf(name, sizeof name, "%c", (char)('a' + i));
  } else {
    snprintf(name, sizeof name, "a%zu", i);
  }
  if (s->named <= i) s->named = i + 1;
  put_shown(s, name);
}

static void show_type_part(struct shower *, struct type *);

static void show_parenthesised(struct shower *s, struct type *t) {
  put_shown(s, "(");
  show_type_part(s, t);
  put_shown(s, ")");
}

/* A component of a tuple, or the result of a function, which a pair must not run into. */
static void show_component(struct shower *s, struct type *t) {
  if (type_of(t)->tag == TYPE_PAIR) {
    show_parenthesised(s, t);
  } else {
    show_type_part(s, t);
  }
}

static void show_function_type(struct shower *s, struct type *t) {
  struct type *argument = type_of(t->part[0]);
  if (argument->tag == TYPE_FUNCTION) {
    show_parenthesised(s, argument);
  } else {
    show_component(s, argument);
  }
  put_shown(s, " -> ");
  show_component(s, t->part[1]);
}

static void show_data(struct shower *s, struct type *t) {
  put_shown(s, t->data->name->text);
  for (uint32_t i = 0; i < t->data->shown_count && !s->cut; i++) {
    put_shown(s, i == 0 ? "(" : ", ");
    show_component(s, t->arguments[i]);
  }
  if (t->data->shown_count) put_shown(s, ")");
}

/* A tuple without parentheses. */
static void show_type_part(struct shower *s, struct type *t) {
  if (s->cut) return;
  t = type_of(t);
  switch ((enum type_tag)t->tag) {
  case TYPE_INT: put_shown(s, "int"); break;
  case TYPE_FLOAT: put_shown(s, "float"); break;
  case TYPE_BOOL: put_shown(s, "bool"); break;
  case TYPE_CHAR: put_shown(s, "char"); break;
  case TYPE_STREAM: put_shown(s, "stream"); break;
  case TYPE_SEQUENCE:
    put_shown(s, "[");
    show_component(s, t->part[0]);
    put_shown(s, "]");
    break;
  case TYPE_PAIR:
    show_component(s, t->part[0]);
    put_shown(s, ", ");
    show_type_part(s, t->part[1]);
    break;
  case TYPE_FUNCTION: show_function_type(s, t); break;
  case TYPE_DATA: show_data(s, t); break;
  case TYPE_IDENTITY: put_shown(s, "(identity)"); break;
  case TYPE_VARIABLE: put_variable(s, t); break;
  }
}

/* The classes of the variables that the text mentions. */
static void show_type_context(struct shower *s) {
  const size_t count = s->cut ? s->named : s->variables.count;
  s->most += s->text.count;
  s->cut = false;
  for (size_t i = 0; i < count; i++) {
    put_shown(s, i == 0 ? " :: (" : "; ");
    put_variable(s, s->variables.items[i]);
    put_shown(s, " in ");
    put_shown(s, type_class_name((enum type_class)s->variables.items[i]->klass));
  }
  if (count) put_shown(s, ")");
}

static struct shower begin_showing(struct arena *arena) {
  struct shower s = {.arena = arena, .most = TYPE_MOST_TEXT};
  table_begin(&s.seen, arena);
  return s;
}

static const char *finish_showing(struct shower *s) {
  *array_push(s->arena, &s->text) = '\0';
  const char *text = s->text.items;
  memset(&s->text, 0, sizeof s->text);
  s->cut = false;
  return text;
}

const char *type_text(struct arena *arena, struct type *type, bool context) {
  struct shower s = begin_showing(arena);
  collect_variables(&s, type);
  show_type_part(&s, type);
  if (context) show_type_context(&s);
  return finish_showing(&s);
}

const char *type_text_whole(struct arena *arena, struct type *type) {
  struct shower s = begin_showing(arena);
  s.most = SIZE_MAX;
  collect_variables(&s, type);
  show_type_part(&s, type);
  return finish_showing(&s);
}

struct showing {
  struct type *type;
  bool context;
  FILE *out;
};

static void put_type(struct arena *arena, void *context) {
  const struct showing *s = context;
  fputs(type_text(arena, s->type, s->context), s->out);
}

void type_show(struct type *type, bool context, FILE *out) {
  arena_apart(put_type, &(struct showing){type, context, out});
}
