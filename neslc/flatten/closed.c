/* closed.c - what a body computes once for all instances, its procedure does not compute again.
 *
 * While a body is generated that may become a function (instances.c), the values of expressions
 * and calls that are the same for all instances are noted, with the values of the variables
 * that they mention. outline.c moves them before the call where it can. The procedure, which is
 * generated after that, finds them there: else it would compute them for each instance.
 */
#include "neslc/flatten/closed.h"

#include "neslc/flatten/call.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/loop.h"
#include "neslc/flatten/outline.h"
#include "neslc/flatten/rep.h"

struct closed_value {
  const struct core *e; /* the expression, or the body of the callee */
  bool call;
  struct type *type; /* of the value, ground */
  uint32_t count;    /* of what it depends on: variables, or the argument of a call */
  const struct rep **reps;
  const struct rep *value;
};

/* ---- what a value depends on ---- */

static struct closed_value of_expression(struct flattener *f, const struct core *e) {
  struct core *const part = (struct core *)(uintptr_t)e;
  struct closed_value x = {.e = e, .type = ground(f, e->type)};
  struct loop m;
  find_captured(f, e, &part, 1, &m);
  x.count = m.captured_count;
  x.reps = arena_alloc(f->arena, (x.count + 1) * sizeof *x.reps);
  for (uint32_t i = 0; i < x.count; i++)
    x.reps[i] = f->frame->locals.items[m.captured[i]->number].rep;
  return x;
}

static struct closed_value of_call(struct flattener *f, const struct call *k,
                                   const struct core *body) {
  struct closed_value x = {.e = body, .call = true, .type = k->result_type, .count = 1};
  x.reps = arena_alloc(f->arena, sizeof *x.reps);
  x.reps[0] = k->captured ? rep_pair(f, k->captured, k->argument) : k->argument;
  return x;
}

static bool same_closed(struct flattener *f, const struct closed_value *a,
                        const struct closed_value *b) {
  if (a->call != b->call || a->count != b->count || !type_same(f->arena, a->type, b->type))
    return false;
  for (uint32_t i = 0; i < a->count; i++) {
    if (!a->reps[i] || !b->reps[i] || !rep_same(a->reps[i], b->reps[i])) return false;
  }
  return true;
}

/* ---- noting ---- */

static void note_closed(struct flattener *f, const struct closed_value *x,
                        const struct rep *value) {
  struct closed_value *kept = arena_alloc(f->arena, sizeof *kept);
  *kept = *x;
  kept->value = value;
  *array_push(f->arena, &f->closed->list) = kept;
}

static bool is_noting(const struct flattener *f) {
  return f->closed && !f->closed->outline && f->block == f->closed->block &&
         f->options->procedures;
}

void closed_note(struct flattener *f, const struct core *e, const struct rep *value) {
  if (!is_noting(f)) return;
  const struct closed_value x = of_expression(f, e);
  note_closed(f, &x, value);
}

void closed_note_call(struct flattener *f, const struct call *k, const struct core *body,
                      const struct rep *value) {
  if (!is_noting(f)) return;
  const struct closed_value x = of_call(f, k, body);
  note_closed(f, &x, value);
}

/* ---- finding ---- */

/* Whether a value of this expression, or of a call of this body, has been noted. */
static bool is_noted(const struct flattener *f, const struct core *e) {
  if (!f->closed || !f->closed->outline) return false;
  for (size_t i = 0; i < f->closed->list.count; i++) {
    if (f->closed->list.items[i]->e == e) return true;
  }
  return false;
}

static const struct rep *find_closed(struct flattener *f, const struct closed_value *x) {
  for (size_t i = 0; i < f->closed->list.count; i++) {
    const struct closed_value *known = f->closed->list.items[i];
    if (known->e == x->e && outline_is_around(f->closed->outline, known->value) &&
        same_closed(f, known, x)) {
      return known->value;
    }
  }
  return NULL;
}

const struct rep *closed_find(struct flattener *f, const struct context *c,
                              const struct core *e) {
  if (!context_serial(c) || !is_noted(f, e)) return NULL;
  const struct closed_value x = of_expression(f, e);
  return find_closed(f, &x);
}

const struct rep *closed_find_call(struct flattener *f, const struct call *k,
                                   const struct core *body) {
  if (!is_noted(f, body)) return NULL;
  const struct closed_value x = of_call(f, k, body);
  return find_closed(f, &x);
}
