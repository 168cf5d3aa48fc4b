/* procedure.c - the procedures of lifted functions (ir/ir.h): of specialisations and loops.
 * Those of bodies of apply-to-each are made with the body (instances.c, outline.c).
 *
 * The procedure of a specialisation is that of the same callee for one instance, which calls
 * outside of an apply-to-each use as well. Its arguments have the same columns as one instance
 * of the lifted function's, except for a view: that is given by an owner and all sequences of
 * its base. So the procedure of a function that takes views is one of its own, which makes a
 * sequence of each view and calls that for one instance.
 */
#include "neslc/flatten/procedure.h"

#include <string.h>

#include "neslc/flatten/call.h"
#include "neslc/flatten/loop.h"
#include "neslc/flatten/rep.h"

/* ---- forms ---- */

static const struct rep *one_sequence(struct flattener *f, const struct rep *r) {
  if (r->base) return rep_view(f, r->base, r->owner);
  return rep_sequence(f, r->segdes, r->outer, r->elements, true);
}

const struct rep *procedure_form(struct flattener *f, const struct rep *r) {
  const struct rep *left;
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return r;
  case REP_SCALAR: return rep_scalar(f, (enum type_word)r->word, r->v, true);
  case REP_PAIR:
    left = procedure_form(f, r->left);
    return rep_pair(f, left, procedure_form(f, r->right));
  case REP_PULLED:
    left = procedure_form(f, r->left);
    return rep_pulled(f, r->function, left, procedure_form(f, r->right));
  case REP_SEQUENCE: break;
  }
  return one_sequence(f, r);
}

static bool has_views(const struct rep *r) {
  if (r->kind == REP_PAIR || r->kind == REP_PULLED)
    return has_views(r->left) || has_views(r->right);
  return r->kind == REP_SEQUENCE && r->base;
}

bool procedure_takes_views(const struct specialisation *v) {
  return !v->lifted && (has_views(v->shape) || (v->captured && has_views(v->captured)));
}

/* ---- the link ---- */

/* The loop as its function for one instance. */
static const struct loop *serial_loop(struct flattener *f, const struct loop *loop) {
  struct loop *copy = arena_alloc(f->arena, sizeof *copy);
  *copy = *loop;
  copy->function = LOOP_SERIAL;
  return copy;
}

static struct call call_of_specialisation(struct flattener *f, const struct specialisation *v) {
  return (struct call){.global = v->global,
                       .lambda = v->lambda,
                       .derived = v->derived,
                       .loop = v->loop ? serial_loop(f, v->loop) : NULL,
                       .count = v->count,
                       .arguments = v->arguments,
                       .argument_type = v->argument,
                       .result_type = v->result};
}

void procedure_link(struct flattener *f, const struct specialisation *v) {
  if (!f->options->procedures || !room_for_functions(f)) return;
  const struct call k = call_of_specialisation(f, v);
  const struct rep *captured = v->captured ? procedure_form(f, v->captured) : NULL;
  const struct rep *argument = procedure_form(f, v->shape);
  const uint32_t procedure = function_of_call(f, &k, captured, argument, false, true);
  f->functions.items[v->function].procedure = procedure;
}

/* ---- views ---- */

const struct rep *procedure_viewed(struct flattener *f, const struct specialisation *v,
                                   const struct rep *argument) {
  if (v->loop) {
    const struct rep *captured = rep_argument(f, &f->serial, argument->left);
    bind_captured(f, &f->serial, v->loop->captured_count, v->loop->captured, captured);
    return loop_called(f, v->loop, argument->right);
  }
  struct call k = call_of_specialisation(f, v);
  k.captured = v->captured ? argument->left : NULL;
  k.argument = v->captured ? argument->right : argument;
  return call_specialisation(f, &f->serial, &k, false);
}

/* ---- what only links lead to ---- */

struct reach {
  struct flattener *f;
  bool *reached;
  ARRAY(uint32_t) waiting;
};

static void reach_function(struct reach *r, uint32_t function) {
  if (r->reached[function]) return;
  r->reached[function] = true;
  *array_push(r->f->arena, &r->waiting) = function;
}

static const bool *reached_functions(struct flattener *f, bool links) {
  struct reach r = {f, arena_alloc(f->arena, f->functions.count), {0}};
  reach_function(&r, 0);
  while (r.waiting.count > 0) {
    const struct ir_function *function =
        &f->functions.items[r.waiting.items[--r.waiting.count]];
    for (struct ir_walk w = ir_walk(f->arena, function->body); ir_next_binding(&w);) {
      if (w.x->form == IR_CALL) reach_function(&r, w.x->as.callee);
    }
    if (links && ir_procedure(function) != IR_NO_PROCEDURE)
      reach_function(&r, ir_procedure(function));
  }
  return r.reached;
}

const bool *procedures_only(struct flattener *f) {
  const bool *called = reached_functions(f, false), *linked = reached_functions(f, true);
  bool *only = arena_alloc(f->arena, f->functions.count);
  for (size_t i = 0; i < f->functions.count; i++) only[i] = linked[i] && !called[i];
  return only;
}

/* ---- the order of functions ---- */

/* A name that ends in _, a number and perhaps L, with another number. */
static const struct name *numbered(struct flattener *f, const struct name *name,
                                   uint32_t number) {
  const char *end = strrchr(name->text, '_');
  const bool lifted = name->text[name->length - 1] == 'L';
  const char *text = arena_printf(f->arena, "%.*s_%u%s", (int)(end - name->text), name->text,
                                  number, lifted ? "L" : "");
  return intern_name(&f->session->names, text, strlen(text));
}

/* So the text of a program begins with what it would be without procedures. */
const uint32_t *procedures_last(struct flattener *f) {
  const bool *only = procedures_only(f);
  uint32_t *order = arena_alloc(f->arena, f->functions.count * sizeof *order), next = 0;
  for (size_t i = 0; i < f->functions.count; i++) {
    if (!only[i]) order[i] = next++;
  }
  for (size_t i = 0; i < f->functions.count; i++) {
    if (only[i]) order[i] = next++;
  }
  for (size_t i = 1; i < f->functions.count; i++) {
    struct ir_function *function = &f->functions.items[i];
    function->name = numbered(f, function->name, order[i]);
  }
  return order;
}

void procedures_move(struct flattener *f, struct ir_program *p, const uint32_t *order) {
  p->functions = arena_alloc(f->arena, p->function_count * sizeof *p->functions);
  for (uint32_t i = 0; i < p->function_count; i++) {
    struct ir_function *to = &p->functions[order[i]];
    *to = f->functions.items[i];
    for (struct ir_walk w = ir_walk(f->arena, to->body); ir_next_binding(&w);) {
      if (w.x->form == IR_CALL) w.x->as.callee = order[w.x->as.callee];
    }
    if (to->procedure != IR_NO_PROCEDURE) to->procedure = order[to->procedure];
  }
}
