/* locate.c - the expression at an origin of compiled code. */
#include "neslc/failure.h"
#include "neslc/session.h"
#include "neslc/table.h"

#include <string.h>

/* The byte of a line and column, from 1; false if the source has no such line, or it is
 * shorter.
 */
static bool find_offset(const struct source *source, struct source_pos pos, uint32_t *offset) {
  uint32_t at;
  if (!source_line(source, pos.line, &at)) return false;
  for (uint32_t column = 1; column < pos.column && at < source->length; column++) {
    if (source->text[at] == '\n') return false;
    at += (uint32_t)source_character(source, at);
  }
  *offset = at;
  return true;
}

/* Sources that have this file and line: several may have one name. */
struct candidates {
  const struct origin *origin;
  struct arena *arena;
  ARRAY(struct failure_location) list;
};

static void look_at_source(struct candidates *c, const struct source *source) {
  uint32_t at;
  if (strcmp(source->name, c->origin->file) != 0) return;
  if (!find_offset(source, c->origin->pos, &at)) return;
  *array_push(c->arena, &c->list) =
      (struct failure_location){.source = source, .at = {at, at + 1}};
}

static void locate_note_candidate(void *candidates, struct global *g) {
  struct candidates *c = candidates;
  if (c->list.count == 0 && g->form) look_at_source(c, g->form->source);
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
  if (g->body && g->form && g->form->source == found->source) look_for(found, g->body);
  if (g->kind == GLOBAL_VARIABLE) look_into_type(found, &looking->seen, g->scheme.type);
}

/* Looks for the expression in everything that the session defines. */
static void look_everywhere(struct session *session, struct failure_location *found) {
  struct looking looking = {.found = found};
  table_begin(&looking.seen, session->arena);
  session_each(session, look_into, &looking);
}

/* The first of the candidates, newest first, that has an expression there. */
static const struct failure_location *with_node(struct session *session, struct core *whole,
                                                const struct candidates *c) {
  for (size_t i = 0; i < c->list.count; i++) {
    look_for(&c->list.items[i], whole);
    if (c->list.items[i].node) return &c->list.items[i];
  }
  for (size_t i = 0; i < c->list.count; i++) {
    look_everywhere(session, &c->list.items[i]);
    if (c->list.items[i].node) return &c->list.items[i];
  }
  return &c->list.items[0];
}

bool locate_origin(struct session *session, struct core *whole, const struct origin *origin,
                   struct failure_location *found) {
  struct candidates c = {.origin = origin, .arena = session->arena};
  for (const struct source *s = session->sources; s; s = s->older) look_at_source(&c, s);
  if (c.list.count == 0) session_each(session, locate_note_candidate, &c);
  *found = (struct failure_location){.source = NULL};
  if (c.list.count == 0) return false;
  *found = *with_node(session, whole, &c);
  return true;
}
