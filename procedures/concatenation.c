/* concatenation.c - calls whose results are appended where their caller wants them.
 *
 * A function that ends by putting results of calls together, `f(a) ++ b ++ f(c)`, gives the
 * calls its own buffer: each appends behind what comes before it, and is not copied again. For
 * that the superoperator must be a concatenation, which is seen from how its starts are
 * computed: each is the sum of the lengths before it.
 */
#include "procedures/private.h"

#include "ir/definitions.h"

enum { MOST_PIECES = 16 };

/* A list of descriptors whose totals are added. */
struct sum {
  ir_var of[MOST_PIECES];
  uint32_t count;
  bool known;
};

struct concatenating {
  const struct function_text *x;
  struct ir_binding *const *definitions;
  const struct superop *op;
  const struct ir_binding *b; /* the superoperator's */
};

/* ---- sums ---- */

static bool is_zero(const struct ir_binding *d) {
  return d->form == IR_CONST && d->as.constant->type == TW_INT && d->as.constant->length == 1 &&
         d->as.constant->as.ints[0] == 0;
}

static void add_to_sum(const struct concatenating *c, ir_var v, struct sum *sum) {
  const struct ir_binding *d = c->definitions[v];
  if (!d || sum->count == MOST_PIECES) {
    sum->known = false;
  } else if (d->form == IR_OP && d->op == OPC_LENGTHS) {
    sum->of[sum->count++] = d->operands[0];
  } else if (d->form == IR_OP && d->op == OPC_ADD && d->type == TW_INT) {
    add_to_sum(c, d->operands[0], sum);
    add_to_sum(c, d->operands[1], sum);
  } else if (!is_zero(d)) {
    sum->known = false;
  }
}

static bool same_sums(const struct sum *a, const struct sum *b) {
  if (!a->known || !b->known || a->count != b->count) return false;
  for (uint32_t i = 0; i < a->count; i++) {
    if (a->of[i] != b->of[i]) return false;
  }
  return true;
}

/* The sum that a run starts with: what its INDEX does. */
static struct sum start_of(const struct concatenating *c, uint32_t index) {
  struct sum sum = {.known = true};
  const struct superop_node *node = emit_definition(c->op, index);
  const struct superop_node *constant =
      node && node->op == OPC_INDEX && node->operands[0] >= c->op->param_count
          ? emit_definition(c->op, node->operands[0])
          : NULL;
  if (!node || node->op != OPC_INDEX)
    sum.known = false;
  else if (constant)
    sum.known = cvl_int_of(&constant->constant) == 0;
  else
    add_to_sum(c, c->b->operands[node->operands[0]], &sum);
  return sum;
}

/* ---- pieces ---- */

/* The variable that is put in place by a scatter; UINT32_MAX: something else. */
static ir_var piece_of(const struct concatenating *c, const struct superop_node *node) {
  const uint32_t value = node->operands[0];
  return value < c->op->param_count ? c->b->operands[value] : UINT32_MAX;
}

static bool is_scatter(const struct superop_node *node) {
  return node->op == OPC_FPERMUTE || node->op == OPC_DPERMUTE;
}

/* Whether a scatter puts a whole vector in one piece. */
static bool is_piece(const struct concatenating *c, const struct superop_node *node) {
  const struct superop_node *index = emit_definition(c->op, node->operands[1]);
  if (!index || index->op != OPC_INDEX || c->op->uses[node->operands[1]] != 1) return false;
  const struct superop_node *stride = emit_definition(c->op, index->operands[1]);
  if (!stride || stride->role != ROLE_CONST || cvl_int_of(&stride->constant) != 1) return false;
  if (node->op == OPC_DPERMUTE) return true;
  const struct cvl_value *flags = emit_spread_constant(c->op, node->operands[2]);
  return flags && flags->as.b == 1 && c->op->uses[node->operands[2]] == 1;
}

/* Whether all descriptors are one segment. */
static bool is_of_ones(const struct concatenating *c) {
  for (uint32_t p = 0; p < c->op->param_count; p++) {
    if (c->op->kinds[p] == SUPEROP_SEGDES && c->x->forms->of[c->b->operands[p]] != FORM_ONE)
      return false;
  }
  return true;
}

/* Whether every scatter begins where the one before ends, and the last ends where all does. */
static bool is_concatenation(const struct concatenating *c) {
  struct sum before = {.known = true}, total = {.known = true};
  uint32_t result = UINT32_MAX;
  for (uint32_t k = 0; k < c->op->node_count; k++) {
    const struct superop_node *node = &c->op->nodes[k];
    if (!is_scatter(node)) continue;
    if (!is_piece(c, node)) return false;
    const bool first = result == UINT32_MAX;
    const struct sum start = start_of(c, node->operands[1]);
    if (first != (node->op == OPC_FPERMUTE) || !same_sums(&start, &before)) return false;
    if (!first && node->operands[2] != result) return false;
    if (before.count == MOST_PIECES) return false;
    before.of[before.count++] = c->b->operands[node->operands[3]];
    result = node->result;
    const struct ir_binding *all = c->definitions[c->b->operands[node->operands[4]]];
    total = (struct sum){.known = all && all->form == IR_OP && all->op == OPC_MAKE_SEGDES};
    if (total.known) add_to_sum(c, all->operands[0], &total);
  }
  return result != UINT32_MAX && c->op->output_count == 1 && c->op->outputs[0] == result &&
         same_sums(&total, &before);
}

/* ---- calls ---- */

static uint32_t place_in_block(const struct ir_block *block, ir_var v) {
  for (uint32_t k = 0; k < block->count; k++) {
    for (uint32_t i = 0; i < block->bindings[k].result_count; i++) {
      if (block->bindings[k].results[i] == v) return k;
    }
  }
  return UINT32_MAX;
}

/* Whether the lengths before a piece are known when its call begins. */
static bool is_known_before(const struct concatenating *c, const struct ir_block *block,
                            const struct sum *before, uint32_t call) {
  for (uint32_t i = 0; i < before->count; i++) {
    const uint32_t at = place_in_block(block, before->of[i]);
    if (at == UINT32_MAX && c->definitions[before->of[i]]) continue; /* of a block around */
    if (at != UINT32_MAX && at >= call) return false;
  }
  return true;
}

static void place_pieces(const struct concatenating *c, const struct ir_block *block,
                         const uint32_t *uses) {
  struct sum before = {.known = true};
  const uint32_t append = c->x->returned[c->b->results[0]];
  for (uint32_t k = 0; k < c->op->node_count; k++) {
    const struct superop_node *node = &c->op->nodes[k];
    if (!is_scatter(node)) continue;
    const ir_var v = piece_of(c, node);
    const uint32_t at = v == UINT32_MAX ? UINT32_MAX : place_in_block(block, v);
    if (at != UINT32_MAX && uses[v] == 1 && block->bindings[at].form == IR_CALL &&
        !c->x->t->program->functions[block->bindings[at].as.callee].instances &&
        is_known_before(c, block, &before, at)) {
      struct placed *p = arena_alloc(c->x->t->arena, sizeof *p);
      *p = (struct placed){append - 1, before.count, NULL};
      p->before = arena_alloc(c->x->t->arena, (before.count + 1) * sizeof *p->before);
      for (uint32_t i = 0; i < before.count; i++) p->before[i] = before.of[i];
      c->x->placed[v] = p;
    }
    before.of[before.count++] = c->b->operands[node->operands[3]];
  }
}

void find_placed(const struct function_text *x, const struct ir_block *block,
                 const uint32_t *uses) {
  if (x->loops) return;
  struct concatenating c = {.x = x};
  c.definitions = ir_definitions(x->t->arena, x->f);
  for (uint32_t k = 0; k < block->count; k++) {
    c.b = &block->bindings[k];
    if (c.b->form != IR_FUSED || c.b->result_count != 1 || !x->returned[c.b->results[0]])
      continue;
    c.op = x->t->program->superops[c.b->as.superop];
    if (c.op->copies && is_of_ones(&c) && is_concatenation(&c)) place_pieces(&c, block, uses);
  }
}
