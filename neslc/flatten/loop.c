/* loop.c - loop P = E while C do E2.
 *
 * One instance: a function that calls itself at its end, which takes no stack (vinterp).
 *
 *     LOOP_SERIAL(captured, state) =
 *       if C then LOOP_SERIAL(captured, E2) else state
 *
 * Many instances step together as long as their conditions hold. An instance is its position
 * among all, and its state. What a round costs is in proportion to the instances that take it:
 *
 *     MANY(all): separates those that take no round, and merges their states with the others'
 *     STEP(active): rounds of all active instances, until some have finished or all
 *     TREE(0, active) = STEP(active)
 *     TREE(k, active) = TREE(k - 1), then TREE(k - 1) of those that are left; the finished ones
 *                       of both are concatenated
 *     GROW(k, active) = TREE(k), then GROW(k + 1) of those that are left, likewise
 *
 * So finished instances are concatenated in pairs of equal age. One that took r rounds is
 * copied at most 2 log2(r) + 1 times, which is no more work than its rounds, and the stack has
 * 2 log2(rounds) frames. In the end one merge brings them back into their order.
 */
#include "neslc/flatten/loop.h"

#include "neslc/flatten/call.h"
#include "neslc/flatten/combine.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/rep.h"
#include "neslc/flatten/traits.h"

/* Some instances of a loop: their positions among all, and their states. */
struct instances {
  ir_var one, ids;
  const struct rep *state;
};

static void put_var(struct vars *out, ir_var v) {
  *array_push(out->arena, &out->list) = v;
}

static void put_instances(struct vars *out, const struct instances *x) {
  put_var(out, x->one);
  put_var(out, x->ids);
  rep_columns(x->state, out);
}

static struct instances take_instances(struct flattener *f, struct type *type,
                                       const ir_var **next) {
  struct instances x = {.one = (*next)[0], .ids = (*next)[1]};
  *next += 2;
  x.state = rep_from_columns(f, type, x.one, false, next);
  return x;
}

static ir_var count_of_instances(struct flattener *f, ir_var one) {
  return EMIT(f, LENGTHS, NONE, one);
}

static ir_var emit_is_zero(struct flattener *f, ir_var number) {
  return EMIT(f, EQ, INT, number, emit_int(f, 0));
}

/* 0 .. the number of instances */
static ir_var loop_positions(struct flattener *f, ir_var from, ir_var one) {
  return EMIT(f, INDEX, NONE, from, emit_int(f, 1), one);
}

static struct context *lifted(struct flattener *f, ir_var one) {
  struct context *c = arena_alloc(f->arena, sizeof *c);
  *c = (struct context){.kind = CONTEXT_LIFTED, .one = one};
  return c;
}

/* Returns the instances x of a context whose flags are T. */
static struct instances packed_instances(struct flattener *f, struct context *c,
                                         const struct instances *x, ir_var flags) {
  struct context *p = context_packed(f, c, flags);
  const struct rep *ids = rep_scalar(f, TW_INT, x->ids, false);
  return (struct instances){.one = p->one,
                            .ids = context_lift(f, ids, c, p)->v,
                            .state = rep_physical(f, p, context_lift(f, x->state, c, p))};
}

/* x, and behind it y. */
static struct instances concatenated(struct flattener *f, const struct instances *x,
                                     const struct instances *y) {
  const ir_var first = count_of_instances(f, x->one);
  const ir_var one = one_segment(f, EMIT(f, ADD, INT, first, count_of_instances(f, y->one)));
  struct merge_source sources[2] = {
      {.index = loop_positions(f, emit_int(f, 0), x->one), .one = x->one, .rep = x->state},
      {.index = loop_positions(f, first, y->one), .one = y->one, .rep = y->state}};
  struct instances all = {.one = one, .state = rep_merge(f, sources, 2, one)};
  sources[0].rep = rep_scalar(f, TW_INT, x->ids, false);
  sources[1].rep = rep_scalar(f, TW_INT, y->ids, false);
  all.ids = rep_merge(f, sources, 2, one)->v;
  return all;
}

/* ---- calls of the functions ---- */

static void add_instance_kinds(struct flattener *f, struct type *type, struct vars *out) {
  const struct ir_kind **kinds;
  uint32_t count;
  type_kinds(f, type, &kinds, &count);
  for (uint32_t i = 0; i < count; i++) put_var(out, (ir_var)kinds[i]->tag);
}

/* The results of one of the functions: all states; or instances, finished and then active. */
static void result_kinds(struct flattener *f, enum loop_function function, struct type *type,
                         struct vars *out) {
  const bool states = function == LOOP_SERIAL || function == LOOP_MANY;
  const unsigned groups = states ? 0 : function == LOOP_GROW ? 1 : 2;
  if (groups == 0) add_instance_kinds(f, type, out);
  for (unsigned i = 0; i < groups; i++) {
    put_var(out, IR_SEGDES);
    put_var(out, IR_INT);
    add_instance_kinds(f, type, out);
  }
}

static const ir_var *call_function(struct flattener *f, uint32_t number,
                                   enum loop_function function, struct type *type,
                                   const struct vars *operands, uint32_t *count) {
  struct vars tags = {.arena = f->arena};
  result_kinds(f, function, type, &tags);
  *count = (uint32_t)tags.list.count;
  const struct ir_kind **kinds = arena_alloc(f->arena, (*count + 1) * sizeof *kinds);
  for (uint32_t i = 0; i < *count; i++) kinds[i] = &flat_kinds[tags.list.items[i]];
  ir_var *results = arena_alloc(f->arena, (*count + 1) * sizeof *results);
  emit_call(f, number, (uint32_t)operands->list.count, operands->list.items, *count, kinds,
            results);
  return results;
}

/* Instances as operands, with the captured values before their states. */
static void put_loop_operands(struct vars *out, const struct instances *x,
                              const struct rep *captured) {
  put_var(out, x->one);
  put_var(out, x->ids);
  rep_argument_columns(captured, out);
  rep_columns(x->state, out);
}

/* Another function of a loop, for values of these forms. */
static uint32_t find_loop_function(struct flattener *f, const struct loop *loop,
                                   enum loop_function function, const struct rep *captured,
                                   const struct rep *state, struct type *type) {
  struct loop *copy = arena_alloc(f->arena, sizeof *copy);
  *copy = *loop;
  copy->function = (uint8_t)function;
  const struct call k = {.global = (struct global *)(uintptr_t)f->frame->global,
                         .loop = copy,
                         .count = f->frame->count,
                         .arguments = f->frame->arguments,
                         .argument_type = type,
                         .result_type = type};
  const bool serial = function == LOOP_SERIAL;
  return function_of_call(f, &k, captured, state, !serial, serial && f->apart);
}

/* ---- parameters ---- */

static bool has_level(const struct specialisation *v) {
  return v->loop->function == LOOP_TREE || v->loop->function == LOOP_GROW;
}

void loop_begin(struct flattener *f, const struct specialisation *v,
                struct loop_parameters *p) {
  struct vars list = {.arena = f->arena};
  if (has_level(v)) {
    put_var(&list, p->level = flat_var(f, &flat_kinds[IR_INT]));
    put_var(&list, p->top = flat_var(f, &flat_kinds[IR_SEGDES]));
  }
  const bool many = v->loop->function == LOOP_MANY;
  if (v->lifted) put_var(&list, p->one = flat_var(f, &flat_kinds[IR_SEGDES]));
  if (v->lifted && !many) put_var(&list, p->ids = flat_var(f, &flat_kinds[IR_INT]));
  p->captured = rep_parameter_variables(f, v->captured);
  p->state = rep_parameter_variables(f, v->shape);
  p->captured = rep_parameters_finished(f, p->captured, has_level(v) ? p->top : p->one);
  p->state = rep_parameters_finished(f, p->state, p->one);
  rep_argument_columns(p->captured, &list);
  rep_argument_columns(p->state, &list);
  p->count = (uint32_t)list.list.count;
}

/* An IF with two blocks that leave such results. */
struct choice {
  ir_var condition;
  struct ir_block *then;
  struct flat_block *block; /* that is open */
};

static void emit_choice(struct flattener *f, struct choice *x, ir_var condition) {
  x->condition = condition;
  x->block = block_begin(f);
}

static void choose_else(struct flattener *f, struct choice *x, size_t count,
                        const ir_var *results) {
  x->then = block_end(f, x->block, (uint32_t)count, results);
  x->block = block_begin(f);
}

/* Ends it with the results of the second block, which become those of the IF. */
static void emit_chosen(struct flattener *f, struct choice *x, struct vars *results) {
  const uint32_t count = (uint32_t)results->list.count;
  struct ir_block *otherwise = block_end(f, x->block, count, results->list.items);
  flat_if(f, x->condition, x->then, otherwise, count, results->list.items);
}

/* ---- one instance ---- */

/* The next state, physical; or the condition. The state is bound. */
static const struct rep *state_after(struct flattener *f, struct context *c,
                                     const struct core *e) {
  return rep_physical(f, c, flatten(f, c, e->as.part.right));
}

static void serial_body(struct flattener *f, const struct specialisation *v,
                        const struct loop_parameters *p, struct vars *results) {
  struct context *c = &f->serial;
  const struct core *e = v->loop->core;
  bind_captured(f, c, v->loop->captured_count, v->loop->captured, p->captured);
  bind_pattern(f, c, e->as.part.pattern, p->state);
  struct vars operands = {.arena = f->arena};
  struct choice x;
  emit_choice(f, &x, flatten(f, c, e->as.part.third)->v);
  rep_argument_columns(p->captured, &operands);
  rep_columns(state_after(f, c, e), &operands);
  uint32_t count;
  const ir_var *after =
      call_function(f, v->function, LOOP_SERIAL, v->argument, &operands, &count);
  choose_else(f, &x, count, after);
  rep_columns(p->state, results);
  emit_chosen(f, &x, results);
}

/* ---- many instances ---- */

/* Whether each instance takes a round, once the state is bound. */
static ir_var flags_of_condition(struct flattener *f, struct context *c, const struct core *e) {
  return rep_each_scalar(f, c, flatten(f, c, e->as.part.third));
}

/* A round of all; those that have finished are separated, and a round follows otherwise. */
static void step_body(struct flattener *f, const struct specialisation *v,
                      const struct loop_parameters *p, struct vars *results) {
  const struct core *e = v->loop->core;
  struct context *c = lifted(f, p->one);
  bind_captured(f, c, v->loop->captured_count, v->loop->captured, p->captured);
  bind_pattern(f, c, e->as.part.pattern, p->state);
  const struct instances all = {p->one, p->ids, state_after(f, c, e)};
  bind_pattern(f, c, e->as.part.pattern, all.state);
  const ir_var flags = flags_of_condition(f, c, e);
  struct choice x;
  emit_choice(f, &x, EMIT(f, AND_REDUCE, BOOL, flags, p->one));
  struct vars operands = {.arena = f->arena};
  put_loop_operands(&operands, &all, p->captured);
  uint32_t count;
  const ir_var *after =
      call_function(f, v->function, LOOP_STEP, v->argument, &operands, &count);
  choose_else(f, &x, count, after);
  const struct instances done = packed_instances(f, c, &all, EMIT(f, NOT, BOOL, flags));
  const struct instances active = packed_instances(f, c, &all, flags);
  put_instances(results, &done);
  put_instances(results, &active);
  emit_chosen(f, &x, results);
}

/* A call of TREE or GROW for some instances, from one of them. */
static const ir_var *call_level(struct flattener *f, const struct specialisation *v,
                                const struct loop_parameters *p, enum loop_function function,
                                ir_var level, const struct instances *some, uint32_t *count) {
  const uint32_t number =
      find_loop_function(f, v->loop, function, p->captured, p->state, v->argument);
  struct vars operands = {.arena = f->arena};
  put_var(&operands, level);
  put_var(&operands, p->top);
  put_loop_operands(&operands, some, p->captured);
  return call_function(f, number, function, v->argument, &operands, count);
}

/* STEP of the active instances, with their captured values. */
static const ir_var *call_step(struct flattener *f, const struct specialisation *v,
                               const struct loop_parameters *p, uint32_t *count) {
  struct context *c = lifted(f, p->one);
  const struct rep *mine = rep_gather(f, p->captured, p->ids, p->top, p->one);
  const struct rep *captured = rep_argument(f, c, mine);
  const uint32_t number =
      find_loop_function(f, v->loop, LOOP_STEP, captured, p->state, v->argument);
  struct vars operands = {.arena = f->arena};
  put_loop_operands(&operands, &(struct instances){p->one, p->ids, p->state}, captured);
  return call_function(f, number, LOOP_STEP, v->argument, &operands, count);
}

/* TREE(k - 1), and if that leaves instances the same for them. */
static void two_trees(struct flattener *f, const struct specialisation *v,
                      const struct loop_parameters *p, struct vars *results) {
  const struct instances all = {p->one, p->ids, p->state};
  const ir_var level = EMIT(f, SUB, INT, p->level, emit_int(f, 1));
  uint32_t count;
  const ir_var *first = call_level(f, v, p, LOOP_TREE, level, &all, &count), *next = first;
  const struct instances done = take_instances(f, v->argument, &next);
  const struct instances left = take_instances(f, v->argument, &next);
  struct choice x;
  emit_choice(f, &x, emit_is_zero(f, count_of_instances(f, left.one)));
  choose_else(f, &x, count, first);
  next = call_level(f, v, p, LOOP_TREE, level, &left, &count);
  const struct instances more = take_instances(f, v->argument, &next);
  const struct instances rest = take_instances(f, v->argument, &next);
  const struct instances both = concatenated(f, &done, &more);
  put_instances(results, &both);
  put_instances(results, &rest);
  emit_chosen(f, &x, results);
}

static void tree_body(struct flattener *f, const struct specialisation *v,
                      const struct loop_parameters *p, struct vars *results) {
  struct choice x;
  uint32_t count;
  emit_choice(f, &x, emit_is_zero(f, p->level));
  const ir_var *after = call_step(f, v, p, &count);
  choose_else(f, &x, count, after);
  two_trees(f, v, p, results);
  emit_chosen(f, &x, results);
}

static void grow_body(struct flattener *f, const struct specialisation *v,
                      const struct loop_parameters *p, struct vars *results) {
  const struct instances all = {p->one, p->ids, p->state};
  uint32_t count;
  const ir_var *next = call_level(f, v, p, LOOP_TREE, p->level, &all, &count);
  const struct instances done = take_instances(f, v->argument, &next);
  const struct instances left = take_instances(f, v->argument, &next);
  struct vars finished = {.arena = f->arena};
  put_instances(&finished, &done);
  struct choice x;
  emit_choice(f, &x, emit_is_zero(f, count_of_instances(f, left.one)));
  choose_else(f, &x, finished.list.count, finished.list.items);
  const ir_var level = EMIT(f, ADD, INT, p->level, emit_int(f, 1));
  next = call_level(f, v, p, LOOP_GROW, level, &left, &count);
  const struct instances more = take_instances(f, v->argument, &next);
  const struct instances both = concatenated(f, &done, &more);
  put_instances(results, &both);
  emit_chosen(f, &x, results);
}

/* ---- all instances ---- */

/* The final states of the active instances of a context. */
static struct instances call_grow(struct flattener *f, const struct specialisation *v,
                                  const struct loop_parameters *p,
                                  const struct instances *active) {
  const uint32_t number =
      find_loop_function(f, v->loop, LOOP_GROW, p->captured, p->state, v->argument);
  struct vars operands = {.arena = f->arena};
  put_var(&operands, emit_int(f, 0));
  put_var(&operands, p->one);
  put_loop_operands(&operands, active, p->captured);
  uint32_t count;
  const ir_var *next = call_function(f, number, LOOP_GROW, v->argument, &operands, &count);
  return take_instances(f, v->argument, &next);
}

/* Binds the captured values and the state, in a context of all instances. */
static struct context *bind_all(struct flattener *f, const struct specialisation *v,
                                const struct loop_parameters *p) {
  struct context *c = lifted(f, p->one);
  bind_captured(f, c, v->loop->captured_count, v->loop->captured, p->captured);
  bind_pattern(f, c, v->loop->core->as.part.pattern, p->state);
  return c;
}

/* The states in the order of the instances. */
static const struct rep *merged_in_order(struct flattener *f, const struct instances *x,
                                         const struct instances *y, ir_var one) {
  const struct merge_source sources[2] = {{.index = x->ids, .one = x->one, .rep = x->state},
                                          {.index = y->ids, .one = y->one, .rep = y->state}};
  return rep_merge(f, sources, 2, one);
}

/* The first conditions: where none holds, all instances have finished. */
static void many_body(struct flattener *f, const struct specialisation *v,
                      const struct loop_parameters *p, struct vars *results) {
  struct context *c = bind_all(f, v, p);
  const ir_var flags = flags_of_condition(f, c, v->loop->core);
  const struct instances all = {p->one, loop_positions(f, emit_int(f, 0), p->one), p->state};
  struct vars final = {.arena = f->arena};
  struct choice x;
  emit_choice(f, &x, EMIT(f, OR_REDUCE, BOOL, flags, p->one));
  const struct instances done = packed_instances(f, c, &all, EMIT(f, NOT, BOOL, flags));
  const struct instances active = packed_instances(f, c, &all, flags);
  const struct instances more = call_grow(f, v, p, &active);
  rep_columns(merged_in_order(f, &done, &more, p->one), &final);
  choose_else(f, &x, final.list.count, final.list.items);
  rep_columns(p->state, results);
  emit_chosen(f, &x, results);
}

/* ---- calls of loops ---- */

/* The value of a loop with this first state, by its function for one instance or for many. */
static const struct rep *called(struct flattener *f, struct context *c, const struct loop *loop,
                                enum loop_function function, const struct rep *first) {
  struct type *type = ground(f, loop->core->type);
  const struct rep *values = captured_values(f, c, loop->captured_count, loop->captured);
  const struct rep *captured = rep_argument(f, c, values);
  const struct rep *state = rep_argument(f, c, rep_physical(f, c, first));
  const uint32_t number = find_loop_function(f, loop, function, captured, state, type);
  struct vars operands = {.arena = f->arena};
  if (function != LOOP_SERIAL) put_var(&operands, c->one);
  rep_argument_columns(captured, &operands);
  rep_argument_columns(state, &operands);
  uint32_t count;
  const ir_var *next = call_function(f, number, function, type, &operands, &count);
  return rep_from_columns(f, type, c->one, function == LOOP_SERIAL, &next);
}

const struct rep *loop_called(struct flattener *f, const struct loop *loop,
                              const struct rep *first) {
  return called(f, &f->serial, loop, LOOP_SERIAL, first);
}

/* ---- elementwise loops ---- */

/* The form of a function that calls itself at its end and is applied to each element: the
 * optimiser makes one superoperator of it (fcode-opt/loops.h), in which each element runs its
 * own rounds. Where that is not so the recursion would be as deep as there are rounds. */

enum { MOST_ELEMENTWISE = 80 }; /* operations: the superoperator has room for them */

/* Whether v is one number, given once or for all instances; then *out. */
static bool loop_is_known_number(const struct flattener *f, ir_var v, int64_t *out) {
  const struct ir_binding *all = defined_by(f, v, OPC_DIST);
  const struct vcode_constant *number = constant_of(f, all ? all->operands[0] : v);
  if (!number || number->length != 1 || number->type != TW_INT) return false;
  *out = number->as.ints[0];
  return true;
}

/* Whether an operation divides by a number that is not 0, or by what the condition of the loop
 * compares with 0, where that holds: the optimiser sees it, too. */
static bool divides_safely(const struct flattener *f, const struct ir_binding *x) {
  int64_t number;
  if (loop_is_known_number(f, x->operands[1], &number)) return number != 0;
  const struct ir_binding *divisor = defined_by(f, x->operands[1], OPC_PACK);
  const struct ir_binding *flags = divisor ? f->definitions.items[divisor->operands[1]] : NULL;
  if (!flags || flags->form != IR_OP || flags->type != TW_INT ||
      flags->operands[0] != divisor->operands[0]) {
    return false;
  }
  const bool excludes = flags->op == OPC_NE || flags->op == OPC_GT || flags->op == OPC_LT;
  return excludes && loop_is_known_number(f, flags->operands[1], &number) && number == 0;
}

static bool is_elementwise_op(const struct flattener *f, const struct ir_binding *x) {
  if (x->form == IR_CONST) return true;
  if (x->form != IR_OP) return false;
  if (x->op == OPC_MOD || (x->op == OPC_DIV && x->type == TW_INT)) return divides_safely(f, x);
  const struct superop_node node = {.op = x->op, .type = x->type, .role = ROLE_MAP};
  if (opcode_info(x->op)->klass == OC_ELEMENTWISE) return !superop_may_fail(&node);
  return x->op == OPC_DIST || x->op == OPC_PACK || x->op == OPC_LENGTHS;
}

static bool all_elementwise(const struct flattener *f, const struct flat_block *b) {
  for (size_t i = 0; i < b->bindings.count; i++) {
    if (!is_elementwise_op(f, &b->bindings.items[i])) return false;
  }
  return b->bindings.count <= MOST_ELEMENTWISE;
}

static bool only_scalars(const struct rep *r) {
  if (r->kind == REP_PAIR) return only_scalars(r->left) && only_scalars(r->right);
  return r->kind == REP_SCALAR || r->kind == REP_NOTHING;
}

/* The active instances again, if there are any: an IF whose results are their final states. */
static const struct rep *flatten_next_round(struct flattener *f, const struct specialisation *v,
                                            struct context *p, const struct rep *captured,
                                            const struct rep *next) {
  struct choice x;
  emit_choice(f, &x, EMIT(f, GT, INT, count_of_instances(f, p->one), emit_int(f, 0)));
  struct vars operands = {.arena = f->arena}, none = {.arena = f->arena};
  put_var(&operands, p->one);
  rep_argument_columns(rep_argument(f, p, captured), &operands);
  rep_columns(next, &operands);
  uint32_t count;
  const ir_var *after =
      call_function(f, v->function, LOOP_MANY, v->argument, &operands, &count);
  choose_else(f, &x, count, after);
  rep_columns(rep_empty(f, v->argument), &none);
  emit_chosen(f, &x, &none);
  const ir_var *last = none.list.items;
  return rep_from_columns(f, v->argument, p->one, false, &last);
}

bool loop_elementwise(struct flattener *f, const struct specialisation *v,
                      const struct loop_parameters *p, struct vars *results) {
  if (!f->options->combine || !only_scalars(p->state) || !only_scalars(p->captured)) {
    return false;
  }
  set_present(f, v->loop->core);
  struct context *c = bind_all(f, v, p);
  const ir_var flags = flags_of_condition(f, c, v->loop->core);
  struct context *active = context_packed(f, c, flags);
  const struct rep *next = state_after(f, active, v->loop->core);
  const struct rep *captured =
      captured_values(f, active, v->loop->captured_count, v->loop->captured);
  if (!all_elementwise(f, f->block)) return false;
  const struct rep *last = flatten_next_round(f, v, active, captured, next);
  rep_columns(scatter_over(f, c, p->state, last, active, instance_positions(f, active)),
              results);
  return true;
}

void loop_body(struct flattener *f, const struct specialisation *v,
               const struct loop_parameters *p, struct vars *results) {
  set_present(f, v->loop->core);
  switch ((enum loop_function)v->loop->function) {
  case LOOP_SERIAL: serial_body(f, v, p, results); return;
  case LOOP_MANY: many_body(f, v, p, results); return;
  case LOOP_STEP: step_body(f, v, p, results); return;
  case LOOP_TREE: tree_body(f, v, p, results); return;
  case LOOP_GROW: grow_body(f, v, p, results); return;
  }
}

/* ---- marks ---- */

enum vcode_rounds loop_rounds(enum loop_function function) {
  switch (function) {
  case LOOP_STEP: return VCODE_ROUND;
  case LOOP_TREE:
  case LOOP_GROW: return VCODE_ROUNDS;
  case LOOP_SERIAL:
  case LOOP_MANY: break;
  }
  return VCODE_NO_ROUNDS;
}

/* ---- choosing ---- */

const struct rep *flatten_loop(struct flattener *f, struct context *c, const struct core *e) {
  if (f->combining) {
    combining_refuse(f, "has a loop");
    return rep_empty(f, ground(f, e->type));
  }
  if (!context_serial(c) && is_closed(f, e)) return flatten_closed(f, c, e);
  const struct rep *first = flatten(f, c, e->as.part.left);
  struct core *const parts[2] = {e->as.part.third, e->as.part.right};
  struct loop *loop = arena_alloc(f->arena, sizeof *loop);
  *loop = (struct loop){.core = e};
  find_captured(f, e, parts, 2, loop);
  return called(f, c, loop, context_serial(c) ? LOOP_SERIAL : LOOP_MANY, first);
}
