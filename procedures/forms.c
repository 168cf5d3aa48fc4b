/* forms.c - which variables are scalars of C: what has one element in every execution. Found
 * for all functions together. At first everything is a scalar, or one segment; what an
 * operation, a call or an arm makes longer becomes a vector, until nothing changes.
 */
#include "ir/constant.h"
#include "procedures/private.h"

struct finding {
  struct arena *arena;
  const struct ir_program *program;
  struct forms *forms;
  const bool *wanted;
  bool changed;
  bool requiring;              /* parameters of procedures become scalars where they must be */
  bool **by_element;           /* of every function: find_read_by_element */
  const struct ir_function *f; /* the function that is looked at */
  uint32_t number;
  struct forms *own;
};

static enum form least_form(const struct ir_kind *kind) {
  return is_descriptor(kind) ? FORM_ONE : FORM_SCALAR;
}

static enum form greatest_form(const struct ir_kind *kind) {
  return is_descriptor(kind) ? FORM_SEGMENTS : FORM_VECTOR;
}

static void set_form(struct finding *x, ir_var v, enum form form, bool one) {
  x->own->of[v] = (uint8_t)form;
  x->own->one[v] = one;
}

static void set_greatest(struct finding *x, ir_var v) {
  set_form(x, v, greatest_form(x->f->vars[v]), false);
}

static bool is_unit(const struct finding *x, ir_var v) {
  return x->own->of[v] == FORM_SCALAR || (is_descriptor(x->f->vars[v]) && x->own->one[v]);
}

/* The parameter whose starts are what a scan makes: the lengths of a descriptor, of one
 * segment.
 */
static uint32_t starts_of(const struct superop *op, const struct unit_sizes *u,
                          const uint8_t *forms, uint32_t output) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (node->result != output || node->op != OPC_ADD_SCAN) continue;
    const uint32_t p = node->operands[0];
    return p < op->param_count && forms[p] == FORM_LENGTHS && u->count[node->operands[1]]
               ? p
               : SUPEROP_NONE;
  }
  return SUPEROP_NONE;
}

/* A parameter of which there must be one element, or one segment, has one: if not, native code
 * gives up. */
static void require_units(struct finding *x, const struct superop *op,
                          const struct unit_sizes *u, const ir_var *operands) {
  for (uint32_t p = 0; p < op->param_count; p++) {
    const ir_var v = operands[p];
    if (v >= x->f->param_count) continue;
    uint8_t *form = &x->own->of[v];
    const bool scalar = *form == FORM_VECTOR && u->len[p];
    const bool one = *form == FORM_SEGMENTS && u->count[p];
    if (scalar) *form = FORM_SCALAR;
    if (one) *form = FORM_ONE;
    x->own->fixed[v] |= scalar || one;
    x->changed |= scalar || one;
  }
}

static void same_form(struct finding *x, const struct superop *op, const ir_var *operands,
                      uint32_t value, ir_var v) {
  const uint32_t from = emit_definition(op, value)->operands[0];
  const bool known = from >= op->param_count;
  x->own->of[v] = FORM_SAME;
  x->own->constant[v] =
      known ? &emit_definition(op, from)->constant : x->own->constant[operands[from]];
}

static void superop_forms(struct finding *x, const struct superop *op, const ir_var *operands,
                          const ir_var *results) {
  uint8_t *forms = arena_alloc(x->arena, op->param_count + 1);
  bool *one = arena_alloc(x->arena, op->param_count + 1);
  for (uint32_t p = 0; p < op->param_count; p++) {
    forms[p] = x->own->of[operands[p]];
    one[p] = x->own->one[operands[p]];
  }
  const struct unit_sizes u = unit_sizes_of(x->arena, op, forms, one);
  if (x->requiring) require_units(x, op, &u, operands);
  for (uint32_t i = 0; i < op->output_count; i++) {
    const ir_var v = results[i];
    const uint32_t p = starts_of(op, &u, forms, op->outputs[i]);
    set_form(x, v, unit_form(op, &u, op->outputs[i]), false);
    if (x->own->of[v] != FORM_VECTOR || !x->by_element[x->number][v]) continue;
    if (p != SUPEROP_NONE) {
      x->own->of[v] = FORM_STARTS;
      x->own->base[v] = x->own->base[operands[p]];
    } else if (same_everywhere(op, forms, op->outputs[i])) {
      same_form(x, op, operands, op->outputs[i], v);
    }
  }
}

static void set_scalar_constant(struct finding *x, ir_var v, const struct vcode_constant *c) {
  set_form(x, v, FORM_SCALAR, false);
  if (x->own->constant[v]) return;
  struct cvl_value *value = arena_alloc(x->arena, sizeof *value);
  *value = constant_element(x->program->widths, c, 0);
  x->own->constant[v] = value;
}

static void constant_forms(struct finding *x, const struct ir_binding *b) {
  const struct vcode_constant *c = b->as.constant;
  if (c->length != 1)
    set_greatest(x, b->results[0]);
  else if (c->type == TW_SEGDES)
    set_form(x, b->results[0], FORM_ONE, c->as.ints[0] == 1);
  else
    set_scalar_constant(x, b->results[0], c);
}

static void lengths_forms(struct finding *x, const struct ir_binding *b) {
  const ir_var d = b->operands[0], v = b->results[0];
  if (x->own->of[d] == FORM_ONE) {
    set_form(x, v, FORM_SCALAR, false);
  } else if (x->by_element[x->number][v]) {
    set_form(x, v, FORM_LENGTHS, false);
    x->own->base[v] = d;
  } else {
    set_form(x, v, FORM_VECTOR, false);
  }
}

static void operation_forms(struct finding *x, const struct ir_binding *b) {
  const struct superop *op;
  switch ((enum opcode)b->op) {
  case OPC_LENGTH: set_form(x, b->results[0], FORM_SCALAR, false); break;
  case OPC_LENGTHS: lengths_forms(x, b); break;
  case OPC_MAKE_SEGDES:
    set_form(x, b->results[0],
             x->own->of[b->operands[0]] == FORM_SCALAR ? FORM_ONE : FORM_SEGMENTS, false);
    break;
  case OPC_REPLACE:
  case OPC_RANK_UP:
  case OPC_RANK_DOWN:
  case OPC_SORT_UP:
  case OPC_SORT_DOWN:
    set_form(x, b->results[0], is_unit(x, b->operands[0]) ? FORM_SCALAR : FORM_VECTOR, false);
    break;
  default:
    op = operation_as_superop(x->arena, b, x->f);
    if (op) superop_forms(x, op, b->operands, b->results);
  }
}

/* What a parameter or result of another function becomes. */
static void join(struct finding *x, const struct ir_kind *kind, uint8_t *form, bool *one,
                 enum form other, bool other_one) {
  if (*form != other && *form == (uint8_t)least_form(kind)) {
    *form = (uint8_t)greatest_form(kind);
    x->changed = true;
  }
  if (*one && !other_one) {
    *one = false;
    x->changed = true;
  }
}

/* A call for many instances: results of each, one behind the other. */
static void batch_forms(struct finding *x, const struct ir_binding *b) {
  const struct ir_function *callee = &x->program->functions[b->as.callee];
  const bool one = is_unit(x, b->operands[0]);
  for (uint32_t i = 0; i < b->result_count; i++) {
    if (one && callee->instances->results[i] == IR_EACH)
      set_form(x, b->results[i], least_form(x->f->vars[b->results[i]]), false);
    else
      set_greatest(x, b->results[i]);
  }
}

static void call_forms(struct finding *x, const struct ir_binding *b) {
  const struct ir_function *callee = &x->program->functions[b->as.callee];
  struct forms *of = &x->forms[b->as.callee];
  if (callee->instances) {
    batch_forms(x, b);
    return;
  }
  for (uint32_t i = 0; i < b->operand_count; i++) {
    const ir_var v = b->operands[i];
    if (of->fixed[i]) continue;
    join(x, x->f->vars[v], &of->of[callee->params[i]], &of->one[callee->params[i]],
         (enum form)x->own->of[v], x->own->one[v]);
  }
  for (uint32_t i = 0; i < b->result_count; i++)
    set_form(x, b->results[i], (enum form)of->results[i], of->result_one[i]);
}

static void block_forms(struct finding *x, const struct ir_block *block);

static void if_forms(struct finding *x, const struct ir_binding *b) {
  const struct ir_block *arms[2] = {b->as.arms.then, b->as.arms.otherwise};
  block_forms(x, arms[0]);
  block_forms(x, arms[1]);
  for (uint32_t i = 0; i < b->result_count; i++) {
    const struct ir_kind *kind = x->f->vars[b->results[i]];
    enum form form = least_form(kind);
    bool one = true;
    for (int a = 0; a < 2; a++) {
      if (arms[a]->end != IR_YIELD) continue;
      const ir_var v = arms[a]->results[i];
      if (x->own->of[v] != (uint8_t)form) form = greatest_form(kind);
      one = one && x->own->one[v];
    }
    set_form(x, b->results[i], form, one);
  }
}

static void block_forms(struct finding *x, const struct ir_block *block) {
  for (uint32_t k = 0; k < block->count; k++) {
    const struct ir_binding *b = &block->bindings[k];
    switch ((enum ir_form)b->form) {
    case IR_CONST: constant_forms(x, b); break;
    case IR_OP: operation_forms(x, b); break;
    case IR_FUSED:
      superop_forms(x, x->program->superops[b->as.superop], b->operands, b->results);
      break;
    case IR_CALL: call_forms(x, b); break;
    case IR_IF: if_forms(x, b); break;
    }
  }
}

static void function_forms(struct finding *x, uint32_t number) {
  x->f = &x->program->functions[number];
  x->number = number;
  x->own = &x->forms[number];
  block_forms(x, x->f->body);
  if (x->f->body->end != IR_YIELD) return;
  for (uint32_t i = 0; i < x->f->result_count; i++) {
    const ir_var v = x->f->body->results[i];
    join(x, x->f->vars[v], &x->own->results[i], &x->own->result_one[i],
         (enum form)x->own->of[v], x->own->one[v]);
  }
}

/* ---- the beginning ---- */

static void begin_forms(struct finding *x, uint32_t number) {
  const struct ir_function *f = &x->program->functions[number];
  struct forms *own = &x->forms[number];
  own->of = arena_alloc(x->arena, f->var_count + 1);
  own->one = arena_alloc(x->arena, f->var_count + 1);
  own->constant = arena_alloc(x->arena, (f->var_count + 1) * sizeof *own->constant);
  own->base = arena_alloc(x->arena, (f->var_count + 1) * sizeof *own->base);
  own->fixed = arena_alloc(x->arena, f->param_count + 1);
  own->results = arena_alloc(x->arena, f->result_count + 1);
  own->result_one = arena_alloc(x->arena, f->result_count + 1);
  for (ir_var v = 0; v < f->var_count; v++) {
    own->of[v] = (uint8_t)least_form(f->vars[v]);
    own->one[v] = true;
  }
  for (uint32_t i = 0; i < f->result_count; i++) {
    own->results[i] = (uint8_t)least_form(f->result_kinds[i]);
    own->result_one[i] = true;
  }
}

/* A procedure is called by the function that runs a range of instances, too. What is shared, or
 * has its size from a descriptor, may be of any length. */
static void begin_procedure(struct finding *x, const struct ir_function *lifted) {
  const struct ir_function *f = &x->program->functions[lifted->procedure];
  struct forms *own = &x->forms[lifted->procedure];
  for (uint32_t i = 0; i < f->param_count; i++) {
    const ir_var v = f->params[i];
    if (lifted->instances->params[i + 1] != IR_EACH)
      own->of[v] = (uint8_t)greatest_form(f->vars[v]);
    own->one[v] = false;
  }
  for (uint32_t i = 0; i < f->result_count; i++) {
    if (lifted->instances->results[i] != IR_EACH)
      own->results[i] = (uint8_t)greatest_form(f->result_kinds[i]);
    own->result_one[i] = false;
  }
}

static void find_all(struct finding *x) {
  do {
    x->changed = false;
    for (uint32_t f = 0; f < x->program->function_count; f++) {
      if (x->wanted[f]) function_forms(x, f);
    }
  } while (x->changed);
}

/* The parameters of the entry function are what a caller gives. Of some is known that they have
 * one element. */
static void begin_entry(struct finding *x) {
  const struct ir_function *f = &x->program->functions[x->program->entry];
  struct forms *own = &x->forms[x->program->entry];
  const uint32_t *layout = x->program->entry_layout;
  for (uint32_t i = 0; i < f->param_count; i++) {
    const ir_var v = f->params[i];
    own->fixed[i] = layout && layout[i] == IR_ONE;
    if (!own->fixed[i]) own->of[v] = (uint8_t)greatest_form(f->vars[v]);
    own->one[v] = false;
  }
}

/* Begins with least forms, then with what is known of procedures and of the entry function. */
static void begin_all(struct finding *x) {
  const struct ir_program *program = x->program;
  for (uint32_t f = 0; f < program->function_count; f++) {
    if (!x->wanted[f]) continue;
    begin_forms(x, f);
    x->by_element[f] = find_read_by_element(x->arena, program, &program->functions[f]);
  }
  for (uint32_t f = 0; f < program->function_count; f++) {
    const struct ir_function *lifted = &program->functions[f];
    if (ir_procedure(lifted) != IR_NO_PROCEDURE && x->wanted[ir_procedure(lifted)])
      begin_procedure(x, lifted);
  }
  if (x->wanted[program->entry]) begin_entry(x);
}

struct forms *find_forms(struct arena *arena, const struct ir_program *program,
                         const bool *wanted) {
  struct finding x = {.arena = arena, .program = program, .wanted = wanted};
  x.forms = arena_alloc(arena, (program->function_count + 1) * sizeof *x.forms);
  x.by_element = arena_alloc(arena, (program->function_count + 1) * sizeof *x.by_element);
  begin_all(&x);
  /* First what must be a scalar becomes one; it stays one. */
  x.requiring = true;
  find_all(&x);
  x.requiring = false;
  find_all(&x);
  return x.forms;
}
