/* region.c - see region.h. */
#include "neslc/region.h"

#include "neslc/session.h"
#include "neslc/table.h"

#include <string.h>

enum {
  LEAST_GARBAGE = 1 << 20,    /* bytes below which no collection runs ... */
  LEAST_NEAR_LIMIT = 1 << 16, /* ... or this many, where half of the remaining memory is less */
  LOOSE_FRACTION = 4          /* a collection runs if unnamed data exceed 1/4 of live data */
};

/* ---- making and freeing ---- */

void session_collect_from_now(struct session *session) {
  session->heap = session->arena->heap;
  session->lasting = session->arena;
  session->collect_at = session->heap->live + LEAST_GARBAGE;
}

struct region *region_new(struct session *session, size_t bytes) {
  struct heap *heap = session->heap;
  struct region *r = heap ? heap_alloc(heap, sizeof *r) : NULL;
  if (!r) return NULL;
  *r = (struct region){.next = session->regions, .held = 1};
  arena_init_small(&r->arena, heap, bytes);
  if (r->next) r->next->before = r;
  session->regions = r;
  return r;
}

static void forget_source(struct session *session, const struct source *source) {
  struct source **link = &session->sources;
  while (*link && *link != source) link = &(*link)->older;
  if (*link) *link = source->older;
}

void region_free(struct session *session, struct region *r) {
  if (r->source) forget_source(session, r->source);
  if (r->next) r->next->before = r->before;
  *(r->before ? &r->before->next : &session->regions) = r->next;
  arena_free(&r->arena);
  heap_free(session->heap, r, sizeof *r);
}

void region_drop(struct session *session, struct region *r) {
  r->kept = false;
  if (r->held == 0) region_free(session, r);
}

void region_hold(struct region *r) {
  if (r) r->held++;
}

void region_let_go(struct session *session, struct region *r) {
  if (r && --r->held == 0 && !r->kept) region_free(session, r);
}

struct region *session_begin_form(struct session *session) {
  struct region *r = region_new(session, REGION_OF_FORM);
  if (!r) return NULL;
  r->outer = session->region;
  session->region = r;
  session->arena = &r->arena;
  return r;
}

void session_end_form(struct session *session, struct region *r) {
  if (!r) return;
  session->region = r->outer;
  session->arena = r->outer ? &r->outer->arena : session->lasting;
  r->outer = NULL;
  region_let_go(session, r);
}

void session_add_source(struct session *session, struct source *source) {
  source->older = session->sources;
  session->sources = source;
  if (source->region) source->region->source = source;
}

void session_free(struct session *session) {
  while (session->regions) region_free(session, session->regions);
  while (session->cells) {
    struct global *g = session->cells;
    session->cells = g->older;
    heap_free(session->heap, g, sizeof *g);
  }
}

/* ---- what a region mentions ---- */

struct tracer {
  struct region *region;
  struct arena scratch;
  struct table seen; /* globals, regions, types with parts */
};

static void note_region(struct tracer *t, struct region *r) {
  if (!r || r == t->region || !table_add(&t->seen, r)) return;
  r->kept = true;
  *array_push(&t->region->arena, &t->region->regions) = r;
}

static void note_global(struct tracer *t, const struct global *g) {
  if (!g || g->library || !table_add(&t->seen, g)) return;
  *array_push(&t->region->arena, &t->region->globals) = (struct global *)(uintptr_t)g;
}

static void note_type(struct tracer *t, struct type *type) {
  type = type_of(type);
  if (type->from_source) note_region(t, type->from_source->region);
  if (type->data) note_global(t, type->data->constructor);
  note_global(t, type->global);
  if (type->lambda) note_region(t, type->lambda->region);
  if (!type_has_parts(type) || !table_add(&t->seen, type)) return;
  for (unsigned i = 0; i < 3; i++) {
    if (type->part[i]) note_type(t, type->part[i]);
  }
  for (uint32_t i = 0; i < type->argument_count; i++) note_type(t, type->arguments[i]);
}

static void note_pattern(struct tracer *t, const struct core_pattern *p) {
  note_type(t, p->type);
  if (p->left) note_pattern(t, p->left);
  if (p->right) note_pattern(t, p->right);
}

static void note_core(void *context, struct core *e, bool parallel) {
  (void)parallel;
  struct tracer *t = context;
  note_type(t, e->type);
  if (e->source) note_region(t, e->source->region);
  if (e->kind == CORE_GLOBAL) {
    note_global(t, e->as.use.global);
    for (uint32_t i = 0; i < e->as.use.count; i++) note_type(t, e->as.use.arguments[i]);
  }
  if (core_has_pattern(e)) note_pattern(t, e->as.part.pattern);
  if (e->kind == CORE_LAMBDA) note_pattern(t, e->as.lambda->parameter);
  for (size_t i = 0; e->kind == CORE_EACH && i < e->as.each.count; i++) {
    note_pattern(t, e->as.each.generators[i].pattern);
  }
  core_parts(e, note_core, t);
}

/* Runs a traversal; its temporary memory is freed in any case. */
static void note_thing(struct region *region, void (*what)(struct tracer *, const void *),
                       const void *thing) {
  if (!region) return;
  struct tracer t = {.region = region};
  region->kept = true;
  arena_init(&t.scratch, region->arena.heap);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    arena_free(&t.scratch);
    memory_failed();
  }
  table_begin(&t.seen, &t.scratch);
  what(&t, thing);
  memory_guard_end(&guard);
  arena_free(&t.scratch);
}

static void all_of_type(struct tracer *t, const void *type) {
  note_type(t, (struct type *)(uintptr_t)type);
}

static void all_of_core(struct tracer *t, const void *core) {
  note_core(t, (struct core *)(uintptr_t)core, false);
}

static void all_of_global(struct tracer *t, const void *global) {
  const struct global *g = global;
  if (g->form) note_region(t, g->form->source->region);
  note_type(t, g->scheme.type);
  if (g->parameter) note_pattern(t, g->parameter);
  if (g->body) note_core(t, g->body, false);
  if (g->datatype) note_type(t, g->datatype->contents);
  if (g->value.type) note_type(t, g->value.type);
}

void region_note_type(struct region *region, struct type *type) {
  note_thing(region, all_of_type, type);
}

void region_note_core(struct region *region, const struct core *core) {
  note_thing(region, all_of_core, core);
}

void region_note_global(struct region *region, const struct global *global) {
  note_thing(region, all_of_global, global);
}

void region_replace_global(struct region *region, const struct global *from,
                           struct global *to) {
  for (size_t i = 0; region && i < region->globals.count; i++) {
    if (region->globals.items[i] == from) region->globals.items[i] = to;
  }
}

/* ---- tracing ---- */

/* The worklist: reached, with mentions not yet followed. */
struct worklist {
  struct region *regions;
  struct global *globals;
};

static void reach_region(struct worklist *w, struct region *r) {
  if (!r || r->reached) return;
  r->reached = true;
  r->waiting = w->regions;
  w->regions = r;
}

static void reach_listed_global(struct worklist *w, struct global *g) {
  if (!g || g->library || g->reached) return;
  g->reached = true;
  g->waiting = w->globals;
  w->globals = g;
}

static void follow_all(struct worklist *w) {
  while (w->regions || w->globals) {
    struct global *g = w->globals;
    if (g) {
      w->globals = g->waiting;
      reach_region(w, g->region);
      continue;
    }
    struct region *r = w->regions;
    w->regions = r->waiting;
    for (size_t i = 0; i < r->globals.count; i++) reach_listed_global(w, r->globals.items[i]);
    for (size_t i = 0; i < r->regions.count; i++) reach_region(w, r->regions.items[i]);
  }
}

static void free_unreached(struct session *session) {
  for (struct region *r = session->regions, *next; r; r = next) {
    next = r->next;
    if (!r->reached)
      region_free(session, r);
    else
      r->reached = false;
  }
  for (struct global **link = &session->cells; *link;) {
    struct global *g = *link;
    if (g->reached) {
      g->reached = false;
      link = &g->older;
    } else {
      *link = g->older;
      heap_free(session->heap, g, sizeof *g);
    }
  }
}

void session_collect_now(struct session *session) {
  if (!session->heap) return;
  struct worklist w = {0};
  for (const struct table_entry *e = NULL; (e = table_next(session->globals, e));) {
    if (e->value) reach_listed_global(&w, e->value);
  }
  for (const struct table_entry *e = NULL; (e = table_next(session->types, e));) {
    if (e->value) reach_listed_global(&w, ((const struct datatype *)e->value)->constructor);
  }
  for (struct region *r = session->regions; r; r = r->next) {
    if (r->held) reach_region(&w, r);
  }
  follow_all(&w);
  free_unreached(session);
  const uint64_t live = session->heap->live, limit = session->heap->limit;
  uint64_t more = live > LEAST_GARBAGE ? live : LEAST_GARBAGE;
  if (limit && more > (limit - live) / 2) more = (limit - live) / 2 + LEAST_NEAR_LIMIT;
  session->collect_at = live + more;
  session->loose = 0;
}

/* Clears the marks; puts the marked regions into `list` unless it is NULL. Their number. */
static size_t take_marked(struct session *session, struct region **list) {
  size_t count = 0;
  for (struct region *r = session->regions; r; r = r->next) {
    if (r->reached && list) list[count] = r;
    count += r->reached;
    r->reached = false;
  }
  for (struct global *g = session->cells; g; g = g->older) g->reached = false;
  return count;
}

struct region **region_reached(struct session *session, struct region *from,
                               struct arena *arena, size_t *count) {
  struct worklist w = {0};
  reach_region(&w, from);
  follow_all(&w);
  *count = take_marked(session, NULL);
  struct region **list = arena_alloc(arena, (*count + 1) * sizeof *list);
  reach_region(&w, from);
  follow_all(&w);
  take_marked(session, list);
  return list;
}

void session_collect(struct session *session) {
  if (!session->heap) return;
  const uint64_t live = session->heap->live;
  const bool loose = session->loose > LEAST_GARBAGE && session->loose > live / LOOSE_FRACTION;
  if (loose || live >= session->collect_at) session_collect_now(session);
}
