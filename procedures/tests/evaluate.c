/* evaluate.c - see evaluate.h. */
#include "procedures/tests/evaluate.h"

#include "ir/constant.h"

#include <string.h>

void evaluation_begin(struct evaluation *e, struct arena *arena,
                      const struct ir_program *program) {
  *e = (struct evaluation){
      .heap = arena->heap, .arena = arena, .program = program, .most_depth = 2000};
}

void evaluation_end(struct evaluation *e) {
  for (size_t i = 0; i < e->made.count; i++) host_free(e->heap, &e->made.items[i]);
}

static struct host_value evaluation_keep(struct evaluation *e, struct host_value v) {
  *array_push(e->arena, &e->made) = v;
  return v;
}

struct host_value evaluation_vector(struct evaluation *e, enum cvl_elem elem, uint64_t n) {
  return evaluation_keep(e, host_vector(e->heap, elem, n));
}

struct host_value evaluation_segdes(struct evaluation *e, uint64_t n) {
  struct host_value v = evaluation_keep(e, host_segdes(e->heap, n));
  v.total = 0;
  return v;
}

static struct host_value evaluation_int(struct evaluation *e, int64_t x) {
  struct host_value v = evaluation_vector(e, e->program->widths.int_elem, 1);
  host_put_int(&v, 0, x);
  return v;
}

static void evaluation_recount(struct host_value *d) {
  d->total = 0;
  for (uint64_t k = 0; k < d->n; k++) d->total += host_segment(d, k);
}

/* Elements, or segments, from .. from + n - 1. */
static struct host_value evaluation_slice(struct evaluation *e, const struct host_value *v,
                                          uint64_t from, uint64_t n) {
  const bool segdes = v->form == HOST_SEGDES;
  struct host_value part =
      segdes ? evaluation_segdes(e, n) : evaluation_vector(e, (enum cvl_elem)v->elem, n);
  const size_t bytes = segdes ? sizeof(int64_t) : elem_info((enum cvl_elem)v->elem)->bytes;
  if (n > 0) memcpy(part.data, (const char *)v->data + from * bytes, n * bytes);
  if (segdes) evaluation_recount(&part);
  return part;
}

static struct host_value evaluation_join(struct evaluation *e, const struct host_value *a,
                                         const struct host_value *b) {
  const bool segdes = b->form == HOST_SEGDES;
  struct host_value all = segdes ? evaluation_segdes(e, a->n + b->n)
                                 : evaluation_vector(e, (enum cvl_elem)b->elem, a->n + b->n);
  const size_t bytes = segdes ? sizeof(int64_t) : elem_info((enum cvl_elem)b->elem)->bytes;
  if (a->n > 0) memcpy(all.data, a->data, a->n * bytes);
  if (b->n > 0) memcpy((char *)all.data + a->n * bytes, b->data, b->n * bytes);
  if (segdes) evaluation_recount(&all);
  return all;
}

/* ---- operations ---- */

static struct host_value evaluate_constant(struct evaluation *e,
                                           const struct vcode_constant *c) {
  const struct widths w = e->program->widths;
  struct host_value v = c->type == TW_SEGDES  ? evaluation_segdes(e, c->length)
                        : c->type == TW_FLOAT ? evaluation_vector(e, w.float_elem, c->length)
                        : c->type == TW_BOOL  ? evaluation_vector(e, CVL_BOOL, c->length)
                                              : evaluation_vector(e, w.int_elem, c->length);
  for (uint64_t i = 0; i < c->length; i++) {
    const struct cvl_value x = constant_element(w, c, i);
    if (c->type == TW_FLOAT)
      host_put_real(&v, i, cvl_float_of(&x));
    else if (c->type == TW_BOOL)
      host_put_int(&v, i, x.as.b);
    else
      host_put_int(&v, i, cvl_int_of(&x));
  }
  if (c->type == TW_SEGDES) evaluation_recount(&v);
  return v;
}

static bool evaluate_superop(struct evaluation *e, const struct superop *op,
                             const struct host_value *operands, struct host_value *results) {
  const struct widths w = e->program->widths;
  struct host_value *values = arena_alloc(e->arena, (op->value_count + 1) * sizeof *values);
  struct cvl_error error;
  for (uint32_t p = 0; p < op->param_count; p++) values[p] = operands[p];
  const bool fine = oracle_superop(e->heap, op, w.int_elem, w.float_elem, values, &error);
  for (uint32_t v = op->param_count; v < op->value_count; v++)
    if (values[v].form != HOST_NOTHING) evaluation_keep(e, values[v]);
  for (uint32_t i = 0; i < op->output_count; i++) results[i] = values[op->outputs[i]];
  return fine;
}

/* An operation that superoperators have. */
static bool evaluate_node(struct evaluation *e, const struct ir_binding *b,
                          const struct ir_function *f, const struct host_value *operands,
                          struct host_value *results) {
  struct superop op = {
      .param_count = b->operand_count, .node_count = 1, .output_count = b->result_count};
  struct superop_node node = {.op = b->op,
                              .type = b->type,
                              .operand_count = (uint8_t)b->operand_count,
                              .checked = true,
                              .text = ""};
  uint8_t params[MAX_OPERANDS];
  uint32_t outputs[2], at;
  const char *why;
  for (uint32_t i = 0; i < b->operand_count; i++) {
    params[i] = ir_superop_kind(f->vars[b->operands[i]]);
    node.operands[i] = i;
  }
  for (uint32_t i = 0; i < b->result_count; i++) outputs[i] = b->operand_count + i;
  op.params = params;
  op.nodes = &node;
  op.outputs = outputs;
  return superop_complete(e->arena, &op, &why, &at) &&
         evaluate_superop(e, &op, operands, results);
}

static bool evaluation_before(const struct host_value *v, uint64_t a, uint64_t b, bool down) {
  const bool real = v->elem == CVL_F32 || v->elem == CVL_F64;
  const double x = real ? host_real(v, a) : (double)host_int(v, a),
               y = real ? host_real(v, b) : (double)host_int(v, b);
  return down ? x > y : x < y;
}

/* RANK and SORT, stable, by comparing all pairs of a segment. */
static bool evaluate_order(struct evaluation *e, const struct ir_binding *b,
                           const struct host_value *o, struct host_value *result) {
  const bool down = b->op == OPC_RANK_DOWN || b->op == OPC_SORT_DOWN,
             sorts = b->op == OPC_SORT_UP || b->op == OPC_SORT_DOWN;
  if (o[0].n != o[1].total) return false;
  *result = evaluation_vector(e, sorts ? (enum cvl_elem)o[0].elem : e->program->widths.int_elem,
                              o[0].n);
  uint64_t begin = 0;
  for (uint64_t k = 0; k < o[1].n; k++) {
    const uint64_t end = begin + host_segment(&o[1], k);
    for (uint64_t i = begin; i < end; i++) {
      uint64_t rank = 0;
      for (uint64_t j = begin; j < end; j++)
        rank += evaluation_before(&o[0], j, i, down) ||
                (j < i && !evaluation_before(&o[0], i, j, down));
      if (sorts)
        host_copy(result, begin + rank, &o[0], i);
      else
        host_put_int(result, i, (int64_t)rank);
    }
    begin = end;
  }
  return true;
}

static bool evaluate_replace(struct evaluation *e, const struct host_value *o,
                             struct host_value *result) {
  if (o[0].n != o[3].total || o[1].n != o[3].n || o[2].n != o[3].n) return false;
  *result = evaluation_slice(e, &o[0], 0, o[0].n);
  uint64_t begin = 0;
  for (uint64_t k = 0; k < o[3].n; k++) {
    const int64_t at = host_int(&o[1], k);
    if (at < 0 || (uint64_t)at >= host_segment(&o[3], k)) return false;
    host_copy(result, begin + (uint64_t)at, &o[2], k);
    begin += host_segment(&o[3], k);
  }
  return true;
}

static bool evaluate_make_segdes(struct evaluation *e, const struct host_value *lengths,
                                 struct host_value *result) {
  uint64_t total = 0;
  *result = evaluation_segdes(e, lengths->n);
  for (uint64_t k = 0; k < lengths->n; k++) {
    if (host_int(lengths, k) < 0) return false;
    total += (uint64_t)host_int(lengths, k);
    if (total > INT64_MAX) return false;
    host_put_int(result, k, host_int(lengths, k));
  }
  evaluation_recount(result);
  return true;
}

static bool evaluate_operation(struct evaluation *e, const struct ir_binding *b,
                               const struct ir_function *f, const struct host_value *o,
                               struct host_value *results) {
  switch ((enum opcode)b->op) {
  case OPC_LENGTH: results[0] = evaluation_int(e, (int64_t)o[0].n); return true;
  case OPC_LENGTHS:
    results[0] = evaluation_vector(e, e->program->widths.int_elem, o[0].n);
    for (uint64_t k = 0; k < o[0].n; k++)
      host_put_int(&results[0], k, (int64_t)host_segment(&o[0], k));
    return true;
  case OPC_MAKE_SEGDES: return evaluate_make_segdes(e, &o[0], &results[0]);
  case OPC_REPLACE: return evaluate_replace(e, o, &results[0]);
  case OPC_RANK_UP:
  case OPC_RANK_DOWN:
  case OPC_SORT_UP:
  case OPC_SORT_DOWN: return evaluate_order(e, b, o, &results[0]);
  default: return evaluate_node(e, b, f, o, results);
  }
}

/* ---- functions ---- */

static bool evaluate_block(struct evaluation *e, const struct ir_function *f,
                           const struct ir_block *block, struct host_value *vars,
                           struct host_value *results);

static bool evaluate_function(struct evaluation *e, uint32_t number,
                              const struct host_value *params, struct host_value *results) {
  const struct ir_function *f = &e->program->functions[number];
  if (++e->depth > e->most_depth) return false;
  struct host_value *vars = arena_alloc(e->arena, (f->var_count + 1) * sizeof *vars);
  for (uint32_t i = 0; i < f->param_count; i++) vars[f->params[i]] = params[i];
  const bool fine = evaluate_block(e, f, f->body, vars, results);
  e->depth--;
  return fine;
}

static bool evaluate_binding(struct evaluation *e, const struct ir_function *f,
                             const struct ir_binding *b, struct host_value *vars) {
  struct host_value *operands = arena_alloc(e->arena, (b->operand_count + 1) * sizeof *vars);
  struct host_value *results = arena_alloc(e->arena, (b->result_count + 1) * sizeof *vars);
  for (uint32_t i = 0; i < b->operand_count; i++) operands[i] = vars[b->operands[i]];
  bool fine = true;
  switch ((enum ir_form)b->form) {
  case IR_CONST: results[0] = evaluate_constant(e, b->as.constant); break;
  case IR_OP: fine = evaluate_operation(e, b, f, operands, results); break;
  case IR_FUSED:
    fine = evaluate_superop(e, e->program->superops[b->as.superop], operands, results);
    break;
  case IR_CALL:
    fine = e->program->functions[b->as.callee].instances
               ? operands[0].n == 1 && evaluate_batch(e, b->as.callee, operands + 1, 0,
                                                      operands[0].total, results)
               : evaluate_function(e, b->as.callee, operands, results);
    break;
  case IR_IF:
    fine =
        operands[0].n == 1 &&
        evaluate_block(e, f, host_int(&operands[0], 0) ? b->as.arms.then : b->as.arms.otherwise,
                       vars, results);
    break;
  }
  for (uint32_t i = 0; i < b->result_count && fine; i++) vars[b->results[i]] = results[i];
  return fine;
}

static bool evaluate_block(struct evaluation *e, const struct ir_function *f,
                           const struct ir_block *block, struct host_value *vars,
                           struct host_value *results) {
  for (uint32_t k = 0; k < block->count; k++) {
    if (!evaluate_binding(e, f, &block->bindings[k], vars)) return false;
  }
  for (uint32_t i = 0; i < block->result_count; i++) results[i] = vars[block->results[i]];
  return block->end == IR_YIELD;
}

/* ---- batch calls ---- */

/* The part of instance k in each parameter. */
static void instance_of(struct evaluation *e, const struct ir_function *lifted,
                        const struct host_value *params, uint64_t k, struct host_value *parts) {
  uint64_t *from = arena_alloc(e->arena, lifted->param_count * sizeof *from);
  for (uint32_t i = 0; i + 1 < lifted->param_count; i++) {
    const uint32_t size = lifted->instances->params[i + 1];
    uint64_t n = params[i].n;
    if (size == IR_EACH) {
      from[i] = k;
      n = 1;
    } else if (size != IR_SHARED) {
      const struct host_value *d = &params[size - 1];
      for (uint64_t j = 0; j < from[size - 1]; j++) from[i] += host_segment(d, j);
      n = parts[size - 1].total;
    }
    parts[i] = evaluation_slice(e, &params[i], from[i], n);
  }
}

bool evaluate_batch(struct evaluation *e, uint32_t number, const struct host_value *params,
                    uint64_t first, uint64_t last, struct host_value *results) {
  const struct ir_function *lifted = &e->program->functions[number];
  struct host_value *parts = arena_alloc(e->arena, lifted->param_count * sizeof *parts);
  struct host_value *own = arena_alloc(e->arena, (lifted->result_count + 1) * sizeof *own);
  const struct widths w = e->program->widths;
  for (uint32_t i = 0; i < lifted->result_count; i++) {
    const uint8_t kind = ir_superop_kind(lifted->result_kinds[i]);
    results[i] =
        kind == SUPEROP_SEGDES
            ? evaluation_segdes(e, 0)
            : evaluation_vector(
                  e, superop_elem((enum superop_kind)kind, w.int_elem, w.float_elem), 0);
  }
  for (uint64_t k = first; k < last; k++) {
    instance_of(e, lifted, params, k, parts);
    if (!evaluate_function(e, lifted->procedure, parts, own)) return false;
    for (uint32_t i = 0; i < lifted->result_count; i++)
      results[i] = evaluation_join(e, &results[i], &own[i]);
  }
  return true;
}
