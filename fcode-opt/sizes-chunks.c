/* sizes-chunks.c - which facts of a batch call hold for chunks of its instances.
 *
 * Sizes in chunks are of these families, each numbered by the parameter that stands for it:
 *
 *   shared     numbers that no chunk changes
 *   instances  as many as there are instances: parameter 0 stands for it
 *   total      as many as the segments of a descriptor contain: the descriptor stands for it.
 *              Two descriptors whose totals are equal may differ in every chunk, so they have a
 *              family in common only if they are the same value and chunks cut them alike
 *
 * The value of a parameter (TERM_SAME) is in the family of its number of elements or segments.
 * The value of all elements of a vector is shared by all chunks, if they have one. */
#include "fcode-opt/sizes-walk.h"

/* The families of totals are those of the descriptors' numbers, which are above 0. */
enum { FAMILY_INSTANCES = 0 };
#define FAMILY_SHARED (UINT32_MAX - 1)
#define FAMILY_NONE   UINT32_MAX /* not found yet */

struct finder {
  struct sizes_walk *w;
  const struct ir_binding *call;
  const struct ir_function *f;
  const uint32_t *sizes;
  uint32_t *totals; /* per descriptor: its family of totals */
};

/* Returns the family of a parameter's elements or segments. It is FAMILY_NONE if that of the
 * descriptor which they belong to is not known. */
static uint32_t family_of_many(const struct finder *s, uint32_t i) {
  if (s->sizes[i] == IR_SHARED) return FAMILY_SHARED;
  return s->sizes[i] == IR_EACH ? FAMILY_INSTANCES : s->totals[s->sizes[i]];
}

/* Returns the first descriptor that is the same value and is cut alike; or i itself. */
static uint32_t same_descriptor(const struct finder *s, uint32_t i) {
  const ir_var *v = s->call->operands;
  const uint32_t family = family_of_many(s, i);
  for (uint32_t k = 1; k < i; k++) {
    if (s->f->vars[s->f->params[k]]->tag == IR_SEGDES && family_of_many(s, k) == family &&
        s->totals[k] != FAMILY_NONE &&
        facts_equal(s->w->facts, term_same(v[k]), term_same(v[i])))
      return s->totals[k];
  }
  return i;
}

/* Descriptors may refer to later ones, but not in a circle: each round finds some. */
static void find_family_totals(struct finder *s) {
  const uint32_t count = s->f->param_count;
  for (uint32_t i = 0; i < count; i++) s->totals[i] = FAMILY_NONE;
  bool more = true;
  while (more) {
    more = false;
    for (uint32_t i = 1; i < count; i++) {
      if (s->totals[i] != FAMILY_NONE || family_of_many(s, i) == FAMILY_NONE) continue;
      if (s->f->vars[s->f->params[i]]->tag != IR_SEGDES) continue;
      s->totals[i] = s->sizes[i] == IR_SHARED ? FAMILY_SHARED : same_descriptor(s, i);
      more = true;
    }
  }
}

/* Lays out parameter 0: one segment, of as many elements as there are instances. */
static void lay_out_instances(uint32_t *families, bool *numbers) {
  families[TERM_SIZE] = families[TERM_SAME] = FAMILY_INSTANCES;
  families[TERM_COUNT] = FAMILY_SHARED;
  numbers[TERM_COUNT] = true;
}

static void lay_out_families(const struct finder *s, uint32_t i, uint32_t *families,
                             bool *numbers) {
  const uint32_t many = family_of_many(s, i);
  const bool shared = s->sizes[i] == IR_SHARED;
  const bool descriptor = s->f->vars[s->f->params[i]]->tag == IR_SEGDES;
  const bool value = s->w->elements[s->call->operands[i]].facts & ALL_THE_SAME;
  families[TERM_SAME] = many;
  families[TERM_SIZE] = descriptor ? s->totals[i] : many;
  families[TERM_COUNT] = descriptor ? many : FAMILY_SHARED;
  numbers[TERM_SIZE] = shared;
  numbers[TERM_SAME] = shared;
  numbers[TERM_COUNT] = shared || (!descriptor && value);
  if (!shared && !descriptor && !value) families[TERM_COUNT] = i; /* equals none of others */
}

struct sizes_chunks *chunks_of_call(struct sizes_walk *w, const struct ir_binding *call) {
  struct arena *scratch = w->sizes->o->scratch;
  const struct ir_function *f = &w->sizes->o->program->functions[call->as.callee];
  const size_t terms = TERMS_PER_VAR * (size_t)f->param_count;
  struct finder s = {.w = w,
                     .call = call,
                     .f = f,
                     .sizes = f->instances->params,
                     .totals = arena_alloc(scratch, f->param_count * sizeof *s.totals)};
  uint32_t *families = arena_alloc(scratch, terms * sizeof *families);
  bool *numbers = arena_alloc(scratch, terms);
  find_family_totals(&s);
  lay_out_instances(families, numbers);
  for (uint32_t i = 1; i < f->param_count; i++)
    lay_out_families(&s, i, families + TERMS_PER_VAR * i, numbers + TERMS_PER_VAR * i);
  struct sizes_chunks *c = arena_alloc(scratch, sizeof *c);
  *c = (struct sizes_chunks){families, numbers};
  return c;
}
