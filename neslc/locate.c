/* locate.c - the expression at an origin of compiled code. */
#include "neslc/failure.h"
#include "neslc/session.h"
#include "neslc/table.h"

#include <string.h>

struct wanted {
  const struct origin *origin;
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

static void look_at_source(const struct wanted *w, const struct source *source) {
  uint32_t at;
  if (strcmp(source->name, w->origin->file) != 0) return;
  if (!find_offset(source, w->origin->pos, &at)) return;
  *w->found = (struct failure_location){.source = source, .at = {at, at + 1}};
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

bool locate_origin(struct session *session, struct core *whole, const struct origin *origin,
                   struct failure_location *found) {
  *found = (struct failure_location){.source = NULL};
  struct wanted w = {origin, found};
  for (const struct source *s = session->sources; s && !found->source; s = s->older) {
    look_at_source(&w, s);
  }
  if (!found->source) session_each(session, look_at_form, &w);
  if (!found->source) return false;
  look_for(found, whole);
  if (found->node) return true;
  struct looking looking = {.found = found};
  table_begin(&looking.seen, session->arena);
  session_each(session, look_into, &looking);
  return true;
}
