/* loops.c - tail recursion becomes a loop within a superoperator, which reads the arguments and
 * writes the results in one pass over memory; see loops.h.
 *
 * The new body of the function is this superoperator. Its results have the same bits; only the
 * limit on the depth of calls no longer applies.
 */
#include "fcode-opt/loops.h"

#include "fused-kernels/fused.h"
#include "ir/constant.h"
#include <string.h>

/* The superoperator being made; its parameters are those of the function. */
struct builder {
  struct symbolic *s;
  ARRAY(struct superop_node) nodes;
  uint32_t values;
  uint32_t *numbers;        /* per expression: its value, or LOOPS_NONE */
  uint32_t root;            /* the parameter that is the domain */
  ARRAY(uint32_t) literals; /* flags that hold in the domain of the call */
};

static const struct expression *expr_of(const struct builder *b, uint32_t e) {
  return &b->s->exprs.items[e];
}

/* ---- results ---- */

/* Returns whether the value of a flag is known in the domain of the call; if so, it is *holds.
 */
static bool is_known_flag(const struct builder *b, uint32_t flag, bool *holds) {
  for (size_t i = 0; i < b->literals.count; i++) {
    *holds = flag == b->literals.items[i];
    if (*holds || loops_complement(b->s, flag, b->literals.items[i])) return true;
  }
  return false;
}

/* Returns whether, in the domain of the call, this result of the function is that of the call.
 */
static bool is_passed_on(const struct builder *b, uint32_t expr, uint32_t result) {
  const struct expression *e = expr_of(b, expr);
  bool holds;
  while (e->kind == EXPR_MAP && e->op == OPC_SELECT && is_known_flag(b, e->args[0], &holds)) {
    e = expr_of(b, e->args[holds ? 1 : 2]);
  }
  return e->kind == EXPR_RESULT && e->number == result;
}

/* Returns the result for elements that do not continue: the expression without the operands of
 * SELECT that are results of the call. LOOPS_NONE if it uses these in another way. */
static uint32_t result_at_end(const struct builder *b, uint32_t expr) {
  const struct expression e = *expr_of(b, expr);
  if (!e.called) return expr;
  if (e.kind != EXPR_MAP || e.op != OPC_SELECT || expr_of(b, e.args[0])->called) {
    return LOOPS_NONE;
  }
  if (expr_of(b, e.args[1])->kind == EXPR_RESULT) return result_at_end(b, e.args[2]);
  if (expr_of(b, e.args[2])->kind == EXPR_RESULT) return result_at_end(b, e.args[1]);
  return loops_select(b->s, e.args[0], result_at_end(b, e.args[1]),
                      result_at_end(b, e.args[2]));
}

/* ---- nodes ---- */

static struct superop_node *loop_add_node(struct builder *b, uint32_t op, uint8_t type,
                                          const struct expression *from) {
  struct superop_node *node = array_push(b->s->o->arena, &b->nodes);
  *node = (struct superop_node){.op = (uint16_t)op, .type = type};
  if (from) node->pos = from->pos;
  if (from) node->origin = from->origin;
  if (op != SUPEROP_WHILE) b->values++;
  return node;
}

static void set_node_operands(struct superop_node *node, uint32_t count, uint32_t x,
                              uint32_t y) {
  node->operand_count = (uint8_t)count;
  node->operands[0] = x;
  node->operands[1] = y;
}

/* Adds the needed constants, spread over the domain, before the loop. */
static void add_loop_constants(struct builder *b, const bool *needed) {
  for (uint32_t i = 0; i < b->s->exprs.count; i++) {
    const struct expression *e = expr_of(b, i);
    if (!needed[i] || e->kind != EXPR_CONST) continue;
    loop_add_node(b, OPC_CONST, e->elem, e)->constant =
        constant_element(b->s->o->program->widths, e->constant, 0);
    const uint32_t constant = b->values - 1;
    set_node_operands(loop_add_node(b, OPC_DIST, e->elem, e), 2, constant, b->root);
    b->numbers[i] = b->values - 1;
  }
}

/* Adds the nodes of an expression; parameters and constants have values already. */
static uint32_t compute_expression(struct builder *b, uint32_t expr) {
  if (b->numbers[expr] != LOOPS_NONE) return b->numbers[expr];
  const struct expression e = *expr_of(b, expr);
  uint32_t values[3];
  for (uint32_t i = 0; i < e.count; i++) values[i] = compute_expression(b, e.args[i]);
  struct superop_node *node = loop_add_node(b, e.op, e.type, &e);
  node->operand_count = (uint8_t)e.count;
  memcpy(node->operands, values, e.count * sizeof *values);
  return b->numbers[expr] = b->values - 1;
}

static void need_expression(const struct builder *b, bool *needed, uint32_t expr) {
  const struct expression *e = expr_of(b, expr);
  if (needed[expr]) return;
  needed[expr] = true;
  for (uint32_t i = 0; i < e->count; i++) need_expression(b, needed, e->args[i]);
}

static uint32_t next_of(const struct builder *b, uint32_t param) {
  return b->s->vars[b->s->call->operands[param]].expr;
}

/* ---- the superoperator ---- */

/* Begins an iteration: parameters are the carried values, nothing else is computed. */
static void begin_iteration(struct builder *b, const uint32_t *carried) {
  for (uint32_t i = 0; i < b->s->exprs.count; i++) {
    const struct expression *e = expr_of(b, i);
    if (e->kind == EXPR_PARAM) b->numbers[i] = carried[e->number];
    if (e->kind == EXPR_MAP) b->numbers[i] = LOOPS_NONE;
  }
}

static void add_loop_node(struct builder *b, uint32_t *carried) {
  const struct symbolic *s = b->s;
  uint32_t start[SUPEROP_VALUES_MAX], next[SUPEROP_VALUES_MAX], flag = LOOPS_NONE;
  const uint32_t params = s->f->param_count;
  for (uint32_t i = 0; i < params; i++) {
    const struct known *k = &s->vars[s->f->params[i]];
    start[i] = i;
    if (k->shape != SHAPE_UNIFORM) continue;
    set_node_operands(loop_add_node(b, OPC_DIST, expr_of(b, k->expr)->elem, NULL), 2, i,
                      b->root);
    start[i] = b->values - 1;
  }
  for (uint32_t i = 0; i < params; i++) {
    if (i == b->root) continue;
    const uint8_t elem = expr_of(b, s->vars[s->f->params[i]].expr)->elem;
    set_node_operands(loop_add_node(b, SUPEROP_CARRY, elem, NULL), 1, start[i], 0);
    carried[i] = b->values - 1;
  }
  begin_iteration(b, carried);
  for (size_t i = 0; i < b->literals.count; i++) {
    const uint32_t literal = compute_expression(b, b->literals.items[i]);
    if (flag == LOOPS_NONE) {
      flag = literal;
      continue;
    }
    set_node_operands(loop_add_node(b, OPC_AND, TW_BOOL, NULL), 2, flag, literal);
    flag = b->values - 1;
  }
  set_node_operands(loop_add_node(b, SUPEROP_WHILE, TW_NONE, expr_of(b, b->literals.items[0])),
                    1, flag, 0);
  for (uint32_t i = 0; i < params; i++) {
    if (i != b->root) next[i] = compute_expression(b, next_of(b, i));
  }
  for (uint32_t i = 0; i < params; i++) {
    if (i == b->root) continue;
    const uint8_t elem = expr_of(b, s->vars[s->f->params[i]].expr)->elem;
    set_node_operands(loop_add_node(b, SUPEROP_NEXT, elem, NULL), 2, carried[i], next[i]);
    carried[i] = b->values - 1;
  }
  begin_iteration(b, carried);
}

static struct superop *complete_loop(struct builder *b, const uint32_t *outputs,
                                     uint32_t count) {
  struct opt *o = b->s->o;
  uint8_t *params = arena_alloc(o->arena, b->s->f->param_count + 1);
  uint32_t *outs = arena_alloc(o->arena, count * sizeof *outs);
  for (uint32_t i = 0; i < b->s->f->param_count; i++) {
    const struct known *k = &b->s->vars[b->s->f->params[i]];
    params[i] = k->shape == SHAPE_DOMAIN ? SUPEROP_SEGDES : expr_of(b, k->expr)->elem;
  }
  memcpy(outs, outputs, count * sizeof *outs);
  return rewrite_superop(o, (struct superop){.number = o->program->superop_count,
                                             .param_count = b->s->f->param_count,
                                             .params = params,
                                             .node_count = (uint32_t)b->nodes.count,
                                             .nodes = b->nodes.items,
                                             .output_count = count,
                                             .outputs = outs});
}

/* Returns the first parameter that the loop carries; or LOOPS_NONE. */
static uint32_t first_carried(const struct builder *b) {
  const uint32_t first = b->root == 0 ? 1 : 0;
  return first < b->s->f->param_count ? first : LOOPS_NONE;
}

/* Adds an output for each result; no value is an output twice. A function without results stays
 * in the program only because its recursion may not end; a superoperator needs an output, so
 * this is the final value of a parameter. */
static void add_outputs(struct builder *b, const uint32_t *ends, uint32_t count,
                        const uint32_t *carried, uint32_t *outputs) {
  if (count == 0) outputs[0] = carried[first_carried(b)];
  for (uint32_t i = 0; i < count; i++) {
    outputs[i] = compute_expression(b, ends[i]);
    for (uint32_t k = 0; k < i; k++) {
      if (outputs[k] != outputs[i]) continue;
      const struct expression *e = expr_of(b, ends[i]); /* a copy */
      const uint32_t same = outputs[i], flag = compute_expression(b, b->literals.items[0]);
      struct superop_node *node = loop_add_node(b, OPC_SELECT, e->elem, e);
      node->operand_count = 3;
      node->operands[0] = flag;
      node->operands[1] = node->operands[2] = same;
      outputs[i] = b->values - 1;
      break;
    }
  }
}

/* ---- the function ---- */

static void put_superop(struct opt *o, const struct superop *op, FILE *explain) {
  struct ir_program *p = o->program;
  const struct superop **all = arena_alloc(o->arena, (p->superop_count + 1) * sizeof *all);
  for (uint32_t i = 0; i < p->superop_count; i++) all[i] = p->superops[i];
  all[p->superop_count++] = op;
  p->superops = all;
  o->stats->superops++;
  if (!explain) return;
  char formula[400];
  fprintf(explain, "  its recursion is a loop: OP%u, %s\n", op->number,
          fused_formula(op, formula, sizeof formula));
}

static void replace_body(struct opt *o, struct ir_function *f, const struct ir_binding *call,
                         const struct superop *op) {
  struct ir_binding x = rewrite_binding(o, OPC_FUSED, TW_NONE, op->param_count,
                                        op->output_count, call->pos, call->origin);
  struct ir_block *body = arena_alloc(o->arena, sizeof *body);
  struct rewrite_block bindings = {0};
  x.form = IR_FUSED;
  x.as.superop = op->number;
  rewrite_yield(o, body, f->result_count);
  for (uint32_t i = 0; i < op->param_count; i++) x.operands[i] = f->params[i];
  for (uint32_t i = 0; i < op->output_count; i++) {
    x.results[i] = rewrite_var(o, f, ir_superop_output(op, i));
    if (i < f->result_count) body->results[i] = x.results[i];
  }
  rewrite_append(o, &bindings, &x);
  rewrite_finish(body, &bindings);
  f->body = body;
}

/* Returns the loop of a function that was executed symbolically; NULL if it is none. */
static const struct superop *loop_of_function(struct symbolic *s) {
  struct builder b = {.s = s, .values = s->f->param_count};
  const struct ir_block *body = s->f->body;
  if (s->f->param_count > LOOPS_NODES) return NULL;
  for (uint32_t d = s->call_domain; d != LOOPS_NONE; d = s->domains.items[d].parent) {
    if (s->domains.items[d].flag == LOOPS_NONE) continue;
    *array_push(s->o->scratch, &b.literals) = s->domains.items[d].flag;
  }
  for (size_t i = 0; 2 * i + 1 < b.literals.count; i++) { /* reversed: in program order */
    uint32_t *x = b.literals.items + i, *y = b.literals.items + b.literals.count - 1 - i;
    const uint32_t flag = *x;
    *x = *y;
    *y = flag;
  }
  uint32_t *ends = arena_alloc(s->o->scratch, body->result_count * sizeof *ends);
  for (uint32_t i = 0; i < body->result_count; i++) {
    const uint32_t expr = s->vars[body->results[i]].expr;
    if (!is_passed_on(&b, expr, i)) return NULL;
    ends[i] = result_at_end(&b, expr);
    if (ends[i] == LOOPS_NONE || expr_of(&b, ends[i])->odd) return NULL;
  }
  bool *needed = arena_alloc(s->o->scratch, s->exprs.count);
  b.numbers = arena_alloc(s->o->scratch, s->exprs.count * sizeof *b.numbers);
  uint32_t *carried = arena_alloc(s->o->scratch, s->f->param_count * sizeof *carried);
  const uint32_t output_count = body->result_count > 0 ? body->result_count : 1;
  uint32_t *outputs = arena_alloc(s->o->scratch, output_count * sizeof *outputs);
  for (uint32_t i = 0; i < s->exprs.count; i++) b.numbers[i] = LOOPS_NONE;
  while (s->vars[s->f->params[b.root]].shape != SHAPE_DOMAIN) b.root++;
  if (first_carried(&b) == LOOPS_NONE) return NULL;
  for (uint32_t i = 0; i < body->result_count; i++) need_expression(&b, needed, ends[i]);
  for (size_t i = 0; i < b.literals.count; i++)
    need_expression(&b, needed, b.literals.items[i]);
  for (uint32_t i = 0; i < s->f->param_count; i++) {
    if (i == b.root) continue;
    if (expr_of(&b, next_of(&b, i))->called) return NULL;
    need_expression(&b, needed, next_of(&b, i));
  }
  add_loop_constants(&b, needed);
  add_loop_node(&b, carried);
  add_outputs(&b, ends, body->result_count, carried, outputs);
  return b.nodes.count > LOOPS_NODES ? NULL : complete_loop(&b, outputs, output_count);
}

static bool try_function(struct opt *o, const struct sizes *sizes, uint32_t function,
                         FILE *explain) {
  struct ir_function *f = &o->program->functions[function];
  struct symbolic s = {.o = o, .sizes = sizes, .function = function, .f = f};
  s.vars = arena_alloc(o->scratch, f->var_count * sizeof *s.vars);
  if (!loops_execute(&s)) return false;
  const struct superop *op = loop_of_function(&s);
  if (!op) return false;
  if (explain) fprintf(explain, "function %s\n", f->name->text);
  put_superop(o, op, explain);
  replace_body(o, f, s.call, op);
  return true;
}

bool pass_loops(struct opt *o) {
  const struct sizes *sizes = sizes_compute(o);
  const struct calls calls = calls_make(o);
  bool changed = false;
  for (uint32_t i = 0; i < o->program->function_count; i++) {
    if (!o->program->functions[i].typed || !calls.recursive[i] || !calls.reachable[i]) continue;
    changed |= try_function(o, sizes, i, calls.called[i] ? o->explain : NULL);
  }
  return changed;
}
