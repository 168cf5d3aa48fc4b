/* nesl-places.c - what stands at a place that is known by name only. */
#include "commands/nesl-evaluate.h"
#include "neslc/table.h"

#include <stdlib.h>
#include <string.h>

struct wanted {
  const char *name; /* of the source */
  size_t length;
  struct source_pos pos;
  struct failure_location *found;
};

/* The byte of a line and column, from 1; false if the source has no such line. */
static bool find_offset(const struct source *source, struct source_pos pos, uint32_t *offset) {
  uint32_t at;
  if (!source_line(source, pos.line, &at)) return false;
  for (uint32_t column = 1; column < pos.column && at < source->length; column++) {
    at += (uint32_t)source_character(source, at);
  }
  *offset = at;
  return true;
}

static bool look_at_source(const struct wanted *w, const struct source *source) {
  uint32_t at;
  if (strlen(source->name) != w->length || memcmp(source->name, w->name, w->length) != 0) {
    return false;
  }
  if (!find_offset(source, w->pos, &at)) return false;
  *w->found = (struct failure_location){.source = source, .at = {at, at + 1}};
  return true;
}

static void look_at_form(void *context, struct global *g) {
  const struct wanted *w = context;
  if (!w->found->source && g->form) look_at_source(w, g->form->source);
}

static void look_for(struct failure_location *found, struct core *whole) {
  if (found->node) return;
  const struct core *node = core_at_mark(whole, found->source, found->at.start);
  if (!node) return;
  found->node = node;
  found->at = node->at;
}

/* Functions without a name are known by the types of what holds them. */
static void look_into_type(struct failure_location *found, struct table *seen,
                           struct type *type) {
  type = type_of(type);
  if (type_has_parts(type) && !table_add(seen, type)) return;
  if (type->lambda) look_for(found, type->lambda->body);
  for (int i = 0; i < 3 && !found->node; i++) {
    if (type->part[i]) look_into_type(found, seen, type->part[i]);
  }
}

struct looking {
  struct failure_location *found;
  struct table seen; /* types with parts */
};

static void look_into(void *context, struct global *g) {
  struct looking *looking = context;
  struct failure_location *found = looking->found;
  if (found->node) return;
  if (g->body) look_for(found, g->body);
  if (g->kind == GLOBAL_VARIABLE) look_into_type(found, &looking->seen, g->scheme.type);
}

/* Takes ":NUMBER" from the end of text[0..*length). */
static uint32_t take_number(const char *text, size_t *length) {
  size_t at = *length;
  while (at > 0 && text[at - 1] != ':') at--;
  if (at == 0) return 0;
  *length = at - 1;
  return (uint32_t)strtoul(text + at, NULL, 10);
}

bool find_place(const struct evaluation *e, const char *place, size_t length,
                struct failure_location *found) {
  *found = (struct failure_location){.source = NULL};
  struct wanted w = {.name = place, .length = length, .found = found};
  w.pos.column = take_number(place, &w.length);
  w.pos.line = take_number(place, &w.length);
  for (const struct source *s = e->session->sources; s && !found->source; s = s->older) {
    look_at_source(&w, s);
  }
  if (!found->source) session_each(e->session, look_at_form, &w);
  if (!found->source) return false;
  look_for(found, e->form->value);
  if (found->node) return true;
  struct looking looking = {.found = found};
  table_begin(&looking.seen, e->session->arena);
  session_each(e->session, look_into, &looking);
  return true;
}
