/* core.c - construction of checked expressions and patterns. */
#include "neslc/types/core.h"

struct core *core_new(struct arena *arena, enum core_kind kind, struct type *type,
                      const struct source *source, struct span at) {
  struct core *e = arena_alloc(arena, sizeof *e);
  e->kind = (uint8_t)kind;
  e->type = type;
  e->source = source;
  e->at = at;
  return e;
}

struct core_pattern *pattern_new(struct arena *arena, enum core_pattern_kind kind,
                                 struct type *type) {
  struct core_pattern *p = arena_alloc(arena, sizeof *p);
  p->kind = (uint8_t)kind;
  p->type = type;
  return p;
}
