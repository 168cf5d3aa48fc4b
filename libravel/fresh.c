/* fresh.c - whether a function that was compiled is what would be compiled now.
 *
 * A function of a name is up to date as long as its global, and all that may be reached from
 * there, is what it was. An expression has no name that lasts: instead the names in its text
 * must mean what they meant.
 */
#include "libravel/private.h"

#include "neslc/table.h"

/* ---- what an expression names ---- */

struct mentions {
  struct arena *arena;
  const struct table *globals;
  ARRAY(struct ravel_mention) list;
  bool constants[2]; /* f and t, which no definition has */
};

/* Notes the present meaning of a name. It differs from the global where an operator stands for
 * a function of the library whose name the program has for its own. */
static void add_mention(struct mentions *m, const struct global *g) {
  for (size_t i = 0; i < m->list.count; i++) {
    if (m->list.items[i].name == g->name) return;
  }
  *array_push(m->arena, &m->list) =
      (struct ravel_mention){g->name, table_get(m->globals, g->name)};
}

/* The datatypes of `[] point` have no other mention. */
static void add_datatypes(struct mentions *m, struct type *t) {
  t = type_of(t);
  if (t->tag == TYPE_DATA) add_mention(m, t->data->constructor);
  for (int i = 0; i < 2 && t->part[i]; i++) add_datatypes(m, t->part[i]);
}

static void add_mentions(void *mentions, struct core *e, bool parallel) {
  struct mentions *m = mentions;
  (void)parallel;
  if (e->kind == CORE_GLOBAL) add_mention(m, e->as.use.global);
  if (e->kind == CORE_BOOL) m->constants[e->as.integer] = true;
  if (e->kind == CORE_EMPTY) add_datatypes(mentions, e->type);
  core_parts(e, add_mentions, mentions);
}

void ravel_function_note_mentions(struct ravel_function *f, struct region *own) {
  struct mentions m = {.arena = &f->arena, .globals = f->context->session->globals};
  add_mentions(&m, f->whole, false);
  f->own = own;
  f->mentions = m.list.items;
  f->mention_count = m.list.count;
  for (int i = 0; i < 2; i++) f->constants[i] = m.constants[i];
}

static bool are_still_named(struct ravel_context *c, const struct ravel_function *f) {
  for (size_t i = 0; i < f->mention_count; i++) {
    const struct ravel_mention *m = &f->mentions[i];
    if (table_get(c->session->globals, m->name) != m->meaning) return false;
  }
  return !(f->constants[0] && session_global(c->session, "f")) &&
         !(f->constants[1] && session_global(c->session, "t"));
}

/* ---- what is reached ---- */

static bool holds_region(const struct ravel_function *f, const struct region *region) {
  for (size_t i = 0; i < f->region_count; i++) {
    if (f->regions[i] == region) return true;
  }
  return false;
}

struct freshness {
  const struct ravel_function *f;
  const char *types; /* that it was looked up for; or NULL */
  bool fresh;
};

/* Returns whether names, datatypes among them, mean what they did. *own: where to go on from.
 */
static bool means_the_same(struct ravel_context *c, const struct freshness *x,
                           struct region **own) {
  const struct ravel_function *f = x->f;
  *own = f->own;
  if (f->global) {
    const struct global *now = session_current(c->session, f->global);
    if (now != f->global) return false;
    *own = now->region;
  }
  if (x->types && f->take_count > 0 && ravel_type_read(c, x->types) != f->rest[0]) return false;
  return are_still_named(c, f);
}

/* Sets x->fresh if everything that the function was compiled from is unchanged. */
static enum ravel_code compare_meanings(struct ravel_context *c, void *data) {
  struct freshness *x = data;
  const struct ravel_function *f = x->f;
  size_t count = 0;
  struct region *own;
  if (!means_the_same(c, x, &own)) return RAVEL_OK;
  if (!own) {
    x->fresh = f->region_count == 0;
    return RAVEL_OK;
  }
  struct region **regions = region_reached(c->session, own, c->session->arena, &count);
  x->fresh = count == f->region_count;
  for (size_t i = 0; i < count; i++) x->fresh &= holds_region(f, regions[i]);
  return RAVEL_OK;
}

bool ravel_function_is_fresh(struct ravel_context *c, struct ravel_function *f,
                             const char *types) {
  struct freshness x = {.f = f, .types = types};
  if (f->generation == c->generation) return true;
  if (ravel_in_form(c, compare_meanings, &x) != RAVEL_OK || !x.fresh) return false;
  f->generation = c->generation;
  return true;
}
