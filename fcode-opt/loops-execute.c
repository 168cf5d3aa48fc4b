/* loops-execute.c - symbolic execution of a function for one element: see loops.h. An operation
 * that is not supported ends it, and the function is not rewritten.
 */
#include "fcode-opt/loops.h"

#include <string.h>

/* ---- domains ---- */

/* Returns the domain that is not joined and has the same elements. */
static uint32_t loops_base(const struct symbolic *s, uint32_t domain) {
  while (s->domains.items[domain].first != LOOPS_NONE) domain = s->domains.items[domain].parent;
  return domain;
}

/* Returns the domain of the elements of `parent` for which a flag holds. */
static uint32_t packed_domain(struct symbolic *s, uint32_t parent, uint32_t flag) {
  for (uint32_t i = 0; i < s->domains.count; i++) {
    const struct domain *d = &s->domains.items[i];
    if (d->parent == parent && d->flag == flag && d->first == LOOPS_NONE) return i;
  }
  *array_push(s->o->scratch, &s->domains) =
      (struct domain){parent, flag, LOOPS_NONE, LOOPS_NONE};
  return (uint32_t)s->domains.count - 1;
}

/* Returns the joined domain of two that partition a common parent; or NONE. */
static uint32_t joined_domain(struct symbolic *s, uint32_t first, uint32_t second) {
  const struct domain *a = &s->domains.items[loops_base(s, first)];
  const struct domain *b = &s->domains.items[loops_base(s, second)];
  if (a->flag == LOOPS_NONE || b->flag == LOOPS_NONE) return LOOPS_NONE;
  if (loops_base(s, a->parent) != loops_base(s, b->parent) ||
      !loops_complement(s, a->flag, b->flag)) {
    return LOOPS_NONE;
  }
  const uint32_t parent = a->parent;
  for (uint32_t i = 0; i < s->domains.count; i++) {
    const struct domain *d = &s->domains.items[i];
    if (d->first == first && d->second == second) return i;
  }
  *array_push(s->o->scratch, &s->domains) = (struct domain){parent, LOOPS_NONE, first, second};
  return (uint32_t)s->domains.count - 1;
}

/* Returns whether `inner` is a subset of `outer`. */
static bool is_subdomain(const struct symbolic *s, uint32_t inner, uint32_t outer) {
  outer = loops_base(s, outer);
  for (uint32_t d = loops_base(s, inner);; d = loops_base(s, s->domains.items[d].parent)) {
    if (d == outer) return true;
    if (s->domains.items[d].parent == LOOPS_NONE) return false;
  }
}

/* Makes a SELECT by whether an element of `outer` is in `inner`. */
static uint32_t merge_domains(struct symbolic *s, uint32_t inner, uint32_t outer, uint32_t yes,
                              uint32_t no) {
  outer = loops_base(s, outer);
  for (uint32_t d = loops_base(s, inner); d != outer && yes != LOOPS_NONE;) {
    const struct domain *at = &s->domains.items[d];
    const uint32_t flag = at->flag, parent = at->parent;
    yes = loops_select(s, flag, yes, no);
    d = loops_base(s, parent);
  }
  return yes;
}

/* ---- operations ---- */

static bool set_symbolic(struct symbolic *s, ir_var v, enum loops_shape shape, uint32_t domain,
                         uint32_t expr) {
  s->vars[v] = (struct known){(uint8_t)shape, domain, expr};
  return shape == SHAPE_DOMAIN || expr != LOOPS_NONE;
}

static bool is_vector(const struct symbolic *s, ir_var v, uint32_t domain) {
  return s->vars[v].shape == SHAPE_VECTOR && s->vars[v].domain == domain;
}

static bool domain_of_var(const struct symbolic *s, ir_var v, uint32_t *domain) {
  *domain = s->vars[v].domain;
  return s->vars[v].shape == SHAPE_DOMAIN;
}

/* Returns a flag that holds in the domain and implies that the divisor is not 0; or NONE. */
static uint32_t not_zero(const struct symbolic *s, uint32_t divisor, uint32_t domain) {
  for (uint32_t d = domain; d != LOOPS_NONE; d = s->domains.items[d].parent) {
    const uint32_t flag = s->domains.items[d].flag;
    if (flag == LOOPS_NONE) continue;
    const struct expression *e = &s->exprs.items[flag];
    const bool negated = e->kind == EXPR_MAP && e->op == OPC_NOT;
    if (negated) e = &s->exprs.items[e->args[0]];
    if (e->kind != EXPR_MAP || e->type != TW_INT || e->count != 2) continue;
    if (e->args[0] != divisor || !loops_is_number(s, e->args[1], 0)) continue;
    if (negated ? e->op == OPC_EQ : e->op == OPC_NE || e->op == OPC_GT || e->op == OPC_LT) {
      return flag;
    }
  }
  return LOOPS_NONE;
}

/* Makes a division safe for all elements: outside the domain, where the result is not used, the
 * divisor becomes 1. */
static bool make_safe(struct symbolic *s, struct expression *e, uint32_t domain) {
  if (e->op != OPC_MOD && e->op != OPC_DIV) return false;
  const uint32_t divisor = e->args[1];
  if (s->exprs.items[divisor].kind == EXPR_CONST) return !loops_is_number(s, divisor, 0);
  const uint32_t flag = not_zero(s, divisor, domain);
  if (flag == LOOPS_NONE) return false;
  e->args[1] = loops_select(s, flag, divisor, loops_number(s, 1));
  return e->args[1] != LOOPS_NONE;
}

/* Executes an elementwise operation on vectors of one domain or of length 1. */
static bool do_map(struct symbolic *s, const struct ir_binding *x) {
  const struct known *first = &s->vars[x->operands[0]];
  struct expression e = {.kind = EXPR_MAP,
                         .op = x->op,
                         .type = x->type,
                         .elem = ir_superop_kind(s->f->vars[x->results[0]]),
                         .count = x->operand_count,
                         .pos = x->pos,
                         .origin = x->origin};
  if (first->shape != SHAPE_UNIFORM && first->shape != SHAPE_VECTOR) return false;
  for (uint32_t i = 0; i < x->operand_count; i++) {
    const struct known *k = &s->vars[x->operands[i]];
    if (k->shape != first->shape || k->domain != first->domain) return false;
    e.args[i] = k->expr;
  }
  const struct superop_node node = {.op = x->op, .type = x->type, .role = ROLE_MAP};
  if (superop_may_fail(&node) &&
      !make_safe(s, &e, first->shape == SHAPE_VECTOR ? first->domain : LOOPS_NONE)) {
    return false;
  }
  const uint32_t expr = x->op == OPC_SELECT ? loops_select(s, e.args[0], e.args[1], e.args[2])
                                            : loops_expression(s, &e);
  return set_symbolic(s, x->results[0], (enum loops_shape)first->shape, first->domain, expr);
}

static bool do_constant(struct symbolic *s, const struct ir_binding *x) {
  const struct vcode_constant *c = x->as.constant;
  struct expression e = {.kind = EXPR_CONST,
                         .elem = ir_superop_kind(s->f->vars[x->results[0]]),
                         .constant = c,
                         .pos = x->pos};
  if (c->length != 1 || (c->type != TW_INT && c->type != TW_FLOAT && c->type != TW_BOOL)) {
    return false;
  }
  return set_symbolic(s, x->results[0], SHAPE_UNIFORM, LOOPS_NONE, loops_expression(s, &e));
}

static bool do_dist(struct symbolic *s, const struct ir_binding *x) {
  const struct known *v = &s->vars[x->operands[0]];
  uint32_t domain;
  return v->shape == SHAPE_UNIFORM && !s->exprs.items[v->expr].odd &&
         domain_of_var(s, x->operands[1], &domain) &&
         set_symbolic(s, x->results[0], SHAPE_VECTOR, domain, v->expr);
}

static bool do_pack(struct symbolic *s, const struct ir_binding *x) {
  const struct known v = s->vars[x->operands[0]], flag = s->vars[x->operands[1]];
  uint32_t domain;
  if (!domain_of_var(s, x->operands[2], &domain) || !is_vector(s, x->operands[0], domain) ||
      !is_vector(s, x->operands[1], domain) || s->exprs.items[flag.expr].odd ||
      s->exprs.items[flag.expr].called) {
    return false;
  }
  const uint32_t some = packed_domain(s, domain, flag.expr);
  return set_symbolic(s, x->results[0], SHAPE_VECTOR, some, v.expr) &&
         set_symbolic(s, x->results[1], SHAPE_DOMAIN, some, LOOPS_NONE);
}

static bool do_lengths(struct symbolic *s, const struct ir_binding *x) {
  struct expression e = {.kind = EXPR_COUNT, .elem = SUPEROP_INT};
  return domain_of_var(s, x->operands[0], &e.number) &&
         set_symbolic(s, x->results[0], SHAPE_UNIFORM, LOOPS_NONE, loops_expression(s, &e));
}

/* Executes INDEX by 1, from 0 or from a count. */
static bool do_index(struct symbolic *s, const struct ir_binding *x) {
  const struct known *start = &s->vars[x->operands[0]], *stride = &s->vars[x->operands[1]];
  struct expression e = {.kind = EXPR_INDEX, .elem = SUPEROP_INT, .start = LOOPS_NONE};
  if (start->shape != SHAPE_UNIFORM || stride->shape != SHAPE_UNIFORM ||
      !loops_is_number(s, stride->expr, 1) || !domain_of_var(s, x->operands[2], &e.number)) {
    return false;
  }
  const struct expression *from = &s->exprs.items[start->expr];
  if (from->kind == EXPR_COUNT) {
    e.start = from->number;
  } else if (!loops_is_number(s, start->expr, 0)) {
    return false;
  }
  return set_symbolic(s, x->results[0], SHAPE_VECTOR, e.number, loops_expression(s, &e));
}

/* Returns the domain whose number of elements the expression is; or NONE. */
static uint32_t counted_domain(struct symbolic *s, uint32_t expr) {
  const struct expression *e = &s->exprs.items[expr];
  if (e->kind == EXPR_COUNT) return e->number;
  if (e->kind != EXPR_MAP || e->op != OPC_ADD) return LOOPS_NONE;
  const uint32_t a = e->args[0], b = e->args[1];
  const uint32_t first = counted_domain(s, a), second = counted_domain(s, b);
  return first == LOOPS_NONE || second == LOOPS_NONE ? LOOPS_NONE
                                                     : joined_domain(s, first, second);
}

static bool do_make_segdes(struct symbolic *s, const struct ir_binding *x) {
  const struct known *v = &s->vars[x->operands[0]];
  if (v->shape != SHAPE_UNIFORM) return false;
  const uint32_t domain = counted_domain(s, v->expr);
  return domain != LOOPS_NONE &&
         set_symbolic(s, x->results[0], SHAPE_DOMAIN, domain, LOOPS_NONE);
}

/* Returns whether an index maps the elements of `from` to their own indices in `to`. */
static bool is_own_position(const struct symbolic *s, uint32_t expr, uint32_t from,
                            uint32_t to) {
  const struct expression *e = &s->exprs.items[expr];
  const struct domain *d = &s->domains.items[to];
  if (e->kind != EXPR_INDEX) return false;
  if (e->start != LOOPS_NONE) {
    return e->number == from && d->second == from && d->first == e->start;
  }
  return e->number == to || (e->number == from && d->first == from);
}

static bool do_merge(struct symbolic *s, const struct ir_binding *x) {
  const struct known v = s->vars[x->operands[0]], otherwise = s->vars[x->operands[2]];
  uint32_t from, to;
  if (!domain_of_var(s, x->operands[3], &from) || !domain_of_var(s, x->operands[4], &to))
    return false;
  if (!is_vector(s, x->operands[0], from) || !is_vector(s, x->operands[1], from) ||
      !is_vector(s, x->operands[2], to) || !is_subdomain(s, from, to) ||
      !is_own_position(s, s->vars[x->operands[1]].expr, from, to)) {
    return false;
  }
  return set_symbolic(s, x->results[0], SHAPE_VECTOR, to,
                      merge_domains(s, from, to, v.expr, otherwise.expr));
}

static bool do_operation(struct symbolic *s, const struct ir_binding *x) {
  if (opcode_info(x->op)->klass == OC_ELEMENTWISE) return do_map(s, x);
  switch ((int)x->op) {
  case OPC_DIST: return do_dist(s, x);
  case OPC_PACK: return do_pack(s, x);
  case OPC_LENGTHS: return do_lengths(s, x);
  case OPC_INDEX: return do_index(s, x);
  case OPC_MAKE_SEGDES: return do_make_segdes(s, x);
  case OPC_DPERMUTE: return do_merge(s, x);
  default: return false;
  }
}

/* ---- calls and blocks ---- */

/* Executes the recursive call: its arguments have the shapes of the parameters, in a smaller
 * domain. */
static bool do_call(struct symbolic *s, const struct ir_binding *x) {
  if (x->as.callee != s->function || s->call) return false;
  s->call = x;
  s->call_domain = LOOPS_NONE;
  for (uint32_t i = 0; i < x->operand_count; i++) {
    if (s->vars[s->f->params[i]].shape != SHAPE_DOMAIN) continue;
    if (!domain_of_var(s, x->operands[i], &s->call_domain)) return false;
  }
  for (uint32_t i = 0; i < x->operand_count; i++) {
    const struct known *param = &s->vars[s->f->params[i]], *v = &s->vars[x->operands[i]];
    if (param->shape == SHAPE_DOMAIN) continue;
    if (v->shape != param->shape || s->exprs.items[v->expr].odd) return false;
    if (v->shape == SHAPE_VECTOR && v->domain != s->call_domain) return false;
  }
  for (uint32_t i = 0; i < x->result_count; i++) {
    struct expression e = {
        .kind = EXPR_RESULT, .elem = ir_superop_kind(s->f->vars[x->results[i]]), .number = i};
    if (!set_symbolic(s, x->results[i], SHAPE_VECTOR, s->call_domain,
                      loops_expression(s, &e))) {
      return false;
    }
  }
  return true;
}

static bool is_empty_constant(const struct ir_binding *x) {
  return x->form == IR_CONST && x->as.constant->length == 0 &&
         x->as.constant->type != TW_SEGDES;
}

static bool do_block(struct symbolic *s, const struct ir_block *block);

/* Executes an IF that asks whether the domain has elements, with empty vectors in the second
 * arm. If it has none, the results of the first arm would be empty, too, in that domain or a
 * subset. */
static bool do_if(struct symbolic *s, const struct ir_binding *x) {
  const struct known *condition = &s->vars[x->operands[0]];
  const struct ir_block *then = x->as.arms.then, *otherwise = x->as.arms.otherwise;
  if (condition->shape != SHAPE_UNIFORM) return false;
  const struct expression *e = &s->exprs.items[condition->expr];
  if (e->kind != EXPR_MAP || e->op != OPC_GT || !loops_is_number(s, e->args[1], 0))
    return false;
  const uint32_t domain = counted_domain(s, e->args[0]);
  if (domain == LOOPS_NONE || otherwise->end != IR_YIELD || then->end != IR_YIELD) return false;
  for (uint32_t i = 0; i < otherwise->count; i++) {
    if (!is_empty_constant(&otherwise->bindings[i])) return false;
  }
  if (!do_block(s, then)) return false;
  for (uint32_t i = 0; i < x->result_count; i++) {
    const struct known v = s->vars[then->results[i]];
    bool bound_there = false;
    for (uint32_t k = 0; k < otherwise->count; k++) {
      bound_there |= otherwise->bindings[k].results[0] == otherwise->results[i];
    }
    if (!bound_there || v.shape != SHAPE_VECTOR || !is_subdomain(s, v.domain, domain))
      return false;
    s->vars[x->results[i]] = v;
  }
  return true;
}

static bool do_block(struct symbolic *s, const struct ir_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding *x = &block->bindings[i];
    bool fine = false;
    switch ((enum ir_form)x->form) {
    case IR_OP: fine = do_operation(s, x); break;
    case IR_CONST: fine = do_constant(s, x); break;
    case IR_CALL: fine = do_call(s, x); break;
    case IR_IF: fine = do_if(s, x); break;
    case IR_FUSED: break;
    }
    if (!fine) return false;
  }
  return true;
}

/* ---- the function ---- */

/* The parameters must be one descriptor of one segment, and vectors of its length or length 1.
 */
static bool take_params(struct symbolic *s) {
  ir_var root = IR_NO_VAR;
  for (uint32_t i = 0; i < s->f->param_count; i++) {
    const ir_var v = s->f->params[i];
    const enum ir_kind_tag tag = s->f->vars[v]->tag;
    if (tag == IR_PAIR || tag == IR_ANY || (tag == IR_SEGDES && root != IR_NO_VAR))
      return false;
    if (tag == IR_SEGDES) root = v;
  }
  if (root == IR_NO_VAR || sizes_known(s->sizes, s->function, root, SIZE_COUNT) != 1) {
    return false;
  }
  *array_push(s->o->scratch, &s->domains) =
      (struct domain){LOOPS_NONE, LOOPS_NONE, LOOPS_NONE, LOOPS_NONE};
  set_symbolic(s, root, SHAPE_DOMAIN, 0, LOOPS_NONE);
  const uint32_t length = sizes_class(s->sizes, s->function, root, SIZE_TOTAL);
  for (uint32_t i = 0; i < s->f->param_count; i++) {
    const ir_var v = s->f->params[i];
    struct expression e = {
        .kind = EXPR_PARAM, .elem = ir_superop_kind(s->f->vars[v]), .number = i};
    if (v == root) continue;
    if (sizes_class(s->sizes, s->function, v, SIZE_LEN) == length) {
      set_symbolic(s, v, SHAPE_VECTOR, 0, loops_expression(s, &e));
    } else if (sizes_known(s->sizes, s->function, v, SIZE_LEN) == 1) {
      set_symbolic(s, v, SHAPE_UNIFORM, LOOPS_NONE, loops_expression(s, &e));
    } else {
      return false;
    }
  }
  return true;
}

bool loops_execute(struct symbolic *s) {
  const struct ir_block *body = s->f->body;
  if (body->end != IR_YIELD || !take_params(s) || !do_block(s, body) || !s->call) return false;
  for (uint32_t i = 0; i < body->result_count; i++) {
    if (!is_vector(s, body->results[i], 0)) return false;
  }
  return s->call_domain != LOOPS_NONE && loops_base(s, s->call_domain) != 0;
}
