/* copies-build.c - makes superoperators of copies (copies.h). Results of nodes are numbered
 * from RESULTS on until all parameters are known. */
#include "fcode-opt/copies.h"

#include "cvl/superop.h"
#include "fused-kernels/fused.h"
#include "ir/constant.h"
#include "ir/kinds.h"
#include "ir/superops.h"

#include <string.h>

enum { RESULTS = 1 << 16 };

struct builder {
  struct copies *c;
  ARRAY(ir_var) params;
  ARRAY(ir_var) results; /* of nodes: the variable that a node computes */
  ARRAY(struct superop_node) nodes;
};

static uint32_t copies_param(struct builder *b, ir_var v) {
  for (uint32_t i = 0; i < b->params.count; i++) {
    if (b->params.items[i] == v) return i;
  }
  *array_push(b->c->o->scratch, &b->params) = v;
  return (uint32_t)b->params.count - 1;
}

/* The number of the node that computes v, if there is one. */
static bool node_of_var(const struct builder *b, ir_var v, uint32_t *number) {
  for (uint32_t i = 0; i < b->results.count; i++) {
    *number = RESULTS + i;
    if (b->results.items[i] == v) return true;
  }
  return false;
}

static struct superop_node *copies_add_node(struct builder *b, const struct ir_binding *x,
                                            bool checked) {
  struct superop_node *node = array_push(b->c->o->arena, &b->nodes);
  *node = (struct superop_node){.op = x->op,
                                .type = x->type,
                                .checked = checked,
                                .operand_count = (uint8_t)x->operand_count,
                                .pos = x->pos,
                                .origin = x->origin};
  *array_push(b->c->o->scratch, &b->results) = x->results[0];
  return node;
}

static void copies_add_constant(struct builder *b, const struct ir_binding *x) {
  const enum type_word type = x->as.constant->type;
  struct superop_node *node = copies_add_node(b, x, false);
  node->op = OPC_CONST;
  node->type = (uint8_t)(type == TW_CHAR ? TW_INT : type);
  node->operand_count = 0;
  node->constant = constant_element(b->c->o->program->widths, x->as.constant, 0);
}

/* Returns whether v is spread. A constant by itself is not: it is a vector of one element,
 * which only INDEX and DIST take as a number. */
static bool is_spread(const struct builder *b, ir_var v) {
  const struct ir_binding *known = b->c->definitions[v];
  return known && known->form != IR_CONST;
}

/* Returns whether operand i of x is computed here again: runs, flags that are T, zeros. */
static bool is_computed_again(const struct builder *b, const struct ir_binding *x, uint32_t i) {
  const ir_var v = x->operands[i];
  switch ((enum opcode)x->op) {
  case OPC_BPERMUTE:
  case OPC_PERMUTE: return i == 1;
  case OPC_FPERMUTE: return i == 1 || (i == 2 && is_spread(b, v));
  case OPC_DPERMUTE:
    return i == 1 || (i == 2 && is_spread(b, v) && copies_constant(b->c, v, 0));
  case OPC_INDEX: return i < 2 && (copies_constant(b->c, v, 0) || copies_constant(b->c, v, 1));
  default: return i == 0; /* DIST */
  }
}

/* Adds x after the nodes of its operands; returns its number. */
static uint32_t add_binding(struct builder *b, const struct ir_binding *x, bool checked) {
  uint32_t operands[MAX_OPERANDS];
  for (uint32_t i = 0; i < x->operand_count; i++) {
    const ir_var v = x->operands[i];
    const struct ir_binding *known = b->c->definitions[v];
    const bool constant = known && known->form == IR_CONST; /* of use to INDEX and DIST only */
    if ((!constant || is_computed_again(b, x, i)) && node_of_var(b, v, &operands[i])) continue;
    if (!is_computed_again(b, x, i)) {
      operands[i] = copies_param(b, v);
    } else if (constant) {
      operands[i] = RESULTS + (uint32_t)b->nodes.count;
      copies_add_constant(b, known);
    } else {
      operands[i] = add_binding(b, known, false);
    }
  }
  struct superop_node *node = copies_add_node(b, x, checked);
  memcpy(node->operands, operands, x->operand_count * sizeof *operands);
  return RESULTS + (uint32_t)b->nodes.count - 1;
}

/* ---- the whole ---- */

static void copies_renumber(const struct builder *b, uint32_t *number) {
  if (*number >= RESULTS) *number += (uint32_t)b->params.count - RESULTS;
}

static struct superop *copies_complete(struct builder *b, uint32_t outputs) {
  struct opt *o = b->c->o;
  uint8_t *params = arena_alloc(o->arena, b->params.count + 1);
  uint32_t *output = arena_alloc(o->arena, sizeof *output);
  for (uint32_t i = 0; i < b->params.count; i++)
    params[i] = ir_superop_kind(b->c->f->vars[b->params.items[i]]);
  for (uint32_t k = 0; k < b->nodes.count; k++) {
    struct superop_node *node = &b->nodes.items[k];
    for (uint32_t i = 0; i < node->operand_count; i++) copies_renumber(b, &node->operands[i]);
  }
  *output = (uint32_t)(b->params.count + b->nodes.count - 1);
  return rewrite_superop(o, (struct superop){.number = o->program->superop_count,
                                             .param_count = (uint32_t)b->params.count,
                                             .params = params,
                                             .node_count = (uint32_t)b->nodes.count,
                                             .nodes = b->nodes.items,
                                             .output_count = outputs,
                                             .outputs = output});
}

static bool copies_same_locations(const struct superop *a, const struct superop *b) {
  for (uint32_t k = 0; k < a->node_count; k++) {
    const struct superop_node *x = &a->nodes[k], *y = &b->nodes[k];
    if (x->checked && (x->origin != y->origin || x->pos.line != y->pos.line ||
                       x->pos.column != y->pos.column))
      return false;
  }
  return true;
}

static void explain_copies(FILE *out, const struct copies_move *moves, uint32_t count,
                           const struct superop *op) {
  char formula[400];
  fused_formula(op, formula, sizeof formula);
  if (count == 0) {
    fprintf(out, "  OP%u, %s\n", op->number, formula);
  } else {
    fprintf(out, "  copies, lines %u to %u: OP%u, %s\n", moves[0].x->pos.line,
            moves[count - 1].x->pos.line, op->number, formula);
  }
}

/* Returns the superoperator's number in the program, which may have an equal one. */
static uint32_t copies_enter(struct copies *c, const struct superop *op) {
  struct ir_program *p = c->o->program;
  for (size_t i = 0; i < c->made.count; i++) {
    if (superop_same(c->made.items[i], op) && copies_same_locations(c->made.items[i], op))
      return c->made.items[i]->number;
  }
  const struct superop **all = arena_alloc(c->o->arena, (p->superop_count + 1) * sizeof *all);
  for (uint32_t i = 0; i < p->superop_count; i++) all[i] = p->superops[i];
  all[p->superop_count++] = op;
  p->superops = all;
  c->o->stats->superops++;
  *array_push(c->o->scratch, &c->made) = op;
  return op->number;
}

static struct ir_binding copies_binding(struct builder *b, const struct superop *op,
                                        const struct ir_binding *x) {
  struct ir_binding y = rewrite_binding(b->c->o, OPC_FUSED, TW_NONE, op->param_count,
                                        op->output_count, x->pos, x->origin);
  y.form = IR_FUSED;
  y.as.superop = copies_enter(b->c, op);
  for (uint32_t i = 0; i < op->param_count; i++) y.operands[i] = b->params.items[i];
  if (op->output_count > 0) y.results[0] = x->results[0];
  return y;
}

struct ir_binding copies_build(struct copies *c, const struct copies_move *moves,
                               uint32_t count) {
  struct builder b = {.c = c};
  for (uint32_t i = 0; i < count; i++) add_binding(&b, moves[i].x, moves[i].checked);
  const struct superop *op = copies_complete(&b, 1);
  if (c->explain) explain_copies(c->explain, moves, count, op);
  c->o->stats->fused_instructions += count;
  return copies_binding(&b, op, moves[count - 1].x);
}

struct ir_binding copies_check(struct copies *c, const struct ir_binding *move) {
  struct builder b = {.c = c};
  add_binding(&b, move, true);
  const struct superop *op = copies_complete(&b, 0);
  if (c->explain) explain_copies(c->explain, NULL, 0, op);
  return copies_binding(&b, op, move);
}
