/* outline-procedure.c - the procedure of an outline (ir/ir.h): the body generated once more,
 * for one instance.
 *
 * It takes the inputs of the function, of which it has the same variables, and what is the same
 * for all instances. So its code may mention whatever of the code around may be mentioned at
 * the call, and what that has computed for all instances is not computed again.
 *
 * Its results are those of the function. They are found by going through the value of the body
 * in the function and that for one instance together. Where a result is a view of sequences
 * around, the other has no owner to return: then there is no procedure.
 */
#include "base/map.h"
#include "ir/dead.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/outline.h"
#include "neslc/flatten/procedure.h"
#include "neslc/flatten/rep.h"

/* ---- inputs ---- */

static const struct rep *one_of_sequence(struct flattener *f, const struct rep *r) {
  if (r->shared) return r;
  if (r->base) return rep_argument(f, &f->serial, r);
  return rep_parameters_finished(f, procedure_form(f, r), f->serial.one);
}

const struct rep *outline_one_input(struct outline *o, const struct rep *r) {
  struct flattener *f = o->f;
  const struct rep *left;
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return r;
  case REP_SCALAR: return rep_scalar(f, (enum type_word)r->word, r->v, true);
  case REP_PAIR:
    left = outline_one_input(o, r->left);
    return rep_pair(f, left, outline_one_input(o, r->right));
  case REP_PULLED:
    left = outline_one_input(o, r->left);
    return rep_pulled(f, r->function, left, outline_one_input(o, r->right));
  case REP_SEQUENCE: break;
  }
  return one_of_sequence(f, r);
}

/* ---- results ---- */

/* From a variable of the function to one more than that of the procedure with its value. */
struct matching {
  struct outline *o;
  struct map one_of;
};

static void match_var(struct matching *m, ir_var v, ir_var one) {
  *map_at(&m->one_of, v) = one + 1;
}

/* Both are elements: those for one instance are physical. */
static void match_elements(struct matching *m, const struct rep *r, const struct rep *one) {
  if (r->kind == REP_PAIR && one->kind == REP_PAIR) {
    match_elements(m, r->left, one->left);
    match_elements(m, r->right, one->right);
  } else if (r->kind == REP_SCALAR && one->kind == REP_SCALAR && !r->shared) {
    match_var(m, r->v, one->v);
  } else if (r->kind == REP_SEQUENCE && one->kind == REP_SEQUENCE && !r->shared && !r->base) {
    match_var(m, r->segdes, one->segdes);
    match_elements(m, r->elements, one->elements);
  }
}

static void match_value(struct matching *m, const struct rep *r, const struct rep *one) {
  struct flattener *f = m->o->f;
  const bool pulled = r->kind == REP_PULLED && one->kind == REP_PULLED;
  if ((r->kind == REP_PAIR && one->kind == REP_PAIR) ||
      (pulled && r->function == one->function)) {
    match_value(m, r->left, one->left);
    match_value(m, r->right, one->right);
  } else if (r->kind == REP_SCALAR && one->kind == REP_SCALAR) {
    match_elements(m, r, one);
  } else if (r->kind == REP_SEQUENCE && !r->shared && !r->base) {
    match_elements(m, r, rep_physical(f, &f->serial, one));
  }
}

/* Sets the results; false if one is not found. */
static bool find_results(struct matching *m) {
  struct outline *o = m->o;
  const uint32_t count = (uint32_t)o->outputs.count;
  o->one = (struct ir_block){.end = IR_YIELD, .result_count = count};
  o->one.results = arena_alloc(o->f->arena, (count + 1) * sizeof *o->one.results);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t one = map_get(&m->one_of, o->outputs.items[i].inner);
    if (one == 0) return false;
    o->one.results[i] = one - 1;
  }
  return true;
}

/* ---- the body ---- */

static void take_checked(struct outline *o, size_t wanted) {
  struct flattener *f = o->f;
  o->one_checked = (struct vars){.arena = f->arena};
  for (size_t i = wanted; i < f->wanted.count; i++)
    *array_push(f->arena, &o->one_checked.list) = f->wanted.items[i];
  f->wanted.count = wanted;
}

static bool procedure_keeps(void *flattener, const struct ir_binding *x) {
  return binding_has_effect(flattener, x);
}

static void clean_procedure(struct outline *o) {
  struct flattener *f = o->f;
  outline_need_nothing(f);
  for (uint32_t i = 0; i < o->one.result_count; i++) f->needed.items[o->one.results[i]] = true;
  for (size_t i = 0; i < o->one_checked.list.count; i++)
    f->needed.items[o->one_checked.list.items[i]] = true;
  struct ir_dead d = {
      .needed = f->needed.items, .stays = procedure_keeps, .context = f, .remove = true};
  ir_dead_block(&d, &o->one);
}

bool outline_procedure(struct outline *o, const struct rep *value, const struct rep *one,
                       const struct flat_block *code, size_t wanted) {
  struct matching m = {.o = o};
  map_init(&m.one_of, o->f->arena);
  match_value(&m, value, one);
  if (!find_results(&m)) return false;
  o->one.bindings = code->bindings.items;
  o->one.count = (uint32_t)code->bindings.count;
  take_checked(o, wanted);
  clean_procedure(o);
  o->has_procedure = true;
  return true;
}
