/* fuse-build.c - makes a superoperator of members of a group: numbers its values, completes it,
 * and gives equal superoperators one definition.
 *
 * Two superoperators are equal if they compute the same and their nodes that may fail have the
 * same source locations, which messages name.
 */
#include "fcode-opt/fuse.h"
#include "ir/constant.h"

#include <string.h>

/* A superoperator being made. Values are numbered after the parameters, so a first walk over
 * the members finds the parameters and a second one numbers the values. */
struct builder {
  struct fuse_block *b;
  const struct fuse_member *members;
  uint32_t count;
  ARRAY(ir_var) params;
  ARRAY(struct superop_node) nodes;
  ARRAY(bool) fails;
  ARRAY(uint32_t) outputs;
  ARRAY(ir_var) results;
  uint32_t values;
  bool asserts; /* there are ASSERTs among the nodes */
};

static bool fused_is_numbered(const struct builder *s, ir_var v) {
  return s->b->fuse->seen[v] == s->b->fuse->stamp;
}

static void fused_number(struct builder *s, ir_var v, uint32_t value) {
  s->b->fuse->seen[v] = s->b->fuse->stamp;
  s->b->fuse->numbers[v] = value;
}

static const char *access_of(const struct builder *s, const struct ir_binding *x) {
  const struct opt *o = s->b->fuse->o;
  enum superop_role role;
  return fuse_form(o->scratch, o->program, x, &role);
}

static bool is_elementwise_constant(const struct builder *s, char access, ir_var v) {
  return access == 'c' && fuse_constant(s->b->fuse, v);
}

/* Returns the index of parameter v, or the number of parameters if it is none. The search is
 * linear: they are few. */
static uint32_t param_index(const struct builder *s, ir_var v) {
  uint32_t i = 0;
  while (i < s->params.count && s->params.items[i] != v) i++;
  return i;
}

/* Whether an operand is an elementwise use of an earlier member's result. Any other use of that
 * result is a parameter: another superoperator writes it to memory. An elementwise use of a
 * constant is a parameter, too: a vector of one element. */
static bool is_computed_inside(const struct builder *s, char access, ir_var v) {
  return access == 'd' && fused_is_numbered(s, v) && !fuse_constant(s->b->fuse, v);
}

static void fused_find_params(struct builder *s) {
  struct arena *scratch = s->b->fuse->o->scratch;
  s->b->fuse->stamp++;
  for (uint32_t i = 0; i < s->count; i++) {
    const struct ir_binding *x = s->members[i].x;
    const char *access = access_of(s, x);
    for (uint32_t k = 0; k < x->operand_count; k++) {
      ir_var v = x->operands[k];
      if (is_computed_inside(s, access[k], v) || is_elementwise_constant(s, access[k], v))
        continue;
      if (param_index(s, v) == s->params.count) *array_push(scratch, &s->params) = v;
    }
    for (uint32_t k = 0; k < x->result_count; k++) fused_number(s, x->results[k], 0);
  }
}

static struct superop_node *fused_add_node(struct builder *s, const struct ir_binding *x,
                                           bool fails) {
  struct arena *arena = s->b->fuse->o->arena;
  struct superop_node *node = array_push(arena, &s->nodes);
  *node = (struct superop_node){
      .op = x->op, .type = x->type, .checked = fails, .pos = x->pos, .origin = x->origin};
  *array_push(arena, &s->fails) = fails;
  return node;
}

/* Returns the number of a constant, which gets a node before its first use. */
static uint32_t constant_number(struct builder *s, ir_var v) {
  const struct fuse *fuse = s->b->fuse;
  if (fused_is_numbered(s, v)) return fuse->numbers[v];
  const struct ir_binding *x = fuse->definitions[v];
  struct superop_node *node = fused_add_node(s, x, false);
  enum type_word type = x->as.constant->type;
  node->op = OPC_CONST;
  node->type = (uint8_t)(type == TW_CHAR ? TW_INT : type);
  node->constant = constant_element(fuse->o->program->widths, x->as.constant, 0);
  fused_number(s, v, s->values);
  return s->values++;
}

/* Finds the numbers of the operands. */
static void find_operands(struct builder *s, const struct ir_binding *x, uint32_t *operands) {
  const char *access = access_of(s, x);
  for (uint32_t k = 0; k < x->operand_count; k++) {
    ir_var v = x->operands[k];
    operands[k] = is_elementwise_constant(s, access[k], v) ? constant_number(s, v)
                  : is_computed_inside(s, access[k], v)    ? s->b->fuse->numbers[v]
                                                           : param_index(s, v);
  }
}

/* Adds the nodes of a superoperator that is a combination: its parameters are the operands. */
static void fused_add_combination(struct builder *s, const struct ir_binding *x,
                                  const struct superop *op) {
  const struct fuse *fuse = s->b->fuse;
  struct arena *scratch = fuse->o->scratch;
  const bool fails = !sizes_safe(fuse->sizes, fuse->function, x);
  uint32_t *numbers = arena_alloc(scratch, op->value_count * sizeof *numbers);
  find_operands(s, x, numbers);
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *from = &op->nodes[k];
    struct superop_node *node = array_push(fuse->o->arena, &s->nodes);
    *node = *from;
    node->checked = from->checked && fails;
    for (uint32_t i = 0; i < from->operand_count; i++)
      node->operands[i] = numbers[from->operands[i]];
    for (uint32_t i = 0; i < from->result_count; i++) numbers[from->result + i] = s->values++;
    *array_push(fuse->o->arena, &s->fails) = fails;
  }
  for (uint32_t i = 0; i < x->result_count; i++)
    fused_number(s, x->results[i], numbers[op->outputs[i]]);
}

static void fused_add_member(struct builder *s, const struct fuse_member *m) {
  struct fuse *fuse = s->b->fuse;
  const struct ir_binding *x = m->x;
  const struct superop *combination = fuse_combination(fuse->o->program, x);
  uint32_t operands[MAX_OPERANDS];
  if (combination) {
    fused_add_combination(s, x, combination);
    return;
  }
  find_operands(s, x, operands);
  struct superop_node *node = fused_add_node(s, x, !sizes_safe(fuse->sizes, fuse->function, x));
  node->operand_count = (uint8_t)x->operand_count;
  if (x->op == OPC_ASSERT) {
    node->text = x->as.text.text;
    node->text_length = x->as.text.length;
    s->asserts = true;
  }
  memcpy(node->operands, operands, x->operand_count * sizeof *operands);
  for (uint32_t k = 0; k < x->result_count; k++) fused_number(s, x->results[k], s->values++);
}

/* Finds the outputs: results that must be in memory, of members in their own group. */
static void fused_find_outputs(struct builder *s) {
  struct fuse_block *b = s->b;
  struct arena *arena = b->fuse->o->arena;
  for (uint32_t i = 0; i < s->count; i++) {
    const struct fuse_member *m = &s->members[i];
    bool own = m->unit != NO_UNIT && b->list[m->unit].item == b->item;
    for (uint32_t k = 0; k < m->x->result_count && own; k++) {
      ir_var v = m->x->results[k];
      /* A superoperator without ASSERT has an output. */
      bool last = i + 1 == s->count && k + 1 == m->x->result_count && s->outputs.count == 0;
      if (!b->wanted[v] && (!last || s->asserts)) continue;
      *array_push(arena, &s->outputs) = b->fuse->numbers[v];
      *array_push(arena, &s->results) = v;
    }
  }
}

static struct superop *fused_complete(struct builder *s) {
  struct fuse *fuse = s->b->fuse;
  uint8_t *params = arena_alloc(fuse->o->arena, s->params.count);
  for (size_t i = 0; i < s->params.count; i++)
    params[i] = ir_superop_kind(fuse->f->vars[s->params.items[i]]);
  return rewrite_superop(fuse->o, (struct superop){.param_count = (uint32_t)s->params.count,
                                                   .params = params,
                                                   .node_count = (uint32_t)s->nodes.count,
                                                   .nodes = s->nodes.items,
                                                   .output_count = (uint32_t)s->outputs.count,
                                                   .outputs = s->outputs.items});
}

/* ---- one definition for equal superoperators ---- */

static bool fused_same_locations(const struct fuse_entry *entry, const struct superop *op,
                                 const bool *fails) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *a = &entry->op->nodes[k], *c = &op->nodes[k];
    if (!entry->fails[k] && !fails[k]) continue;
    if (a->origin != c->origin || a->pos.line != c->pos.line || a->pos.column != c->pos.column)
      return false;
  }
  return true;
}

/* Adds the superoperator to the program unless an equal one is there; returns the index. */
static uint32_t fused_enter(struct fuse *fuse, struct superop *op, const bool *fails) {
  const uint64_t hash = superop_hash(op);
  uint32_t at = scoped_map_first(&fuse->by_hash, hash);
  for (; at != 0; at = scoped_map_earlier(&fuse->by_hash, at)) {
    const struct fuse_entry *entry = &fuse->entries.items[at - 1];
    if (superop_same(entry->op, op) && fused_same_locations(entry, op, fails))
      return entry->index;
  }
  uint32_t index = (uint32_t)fuse->superops.count;
  op->number = index > 0 ? fuse->superops.items[index - 1]->number + 1 : 0;
  *array_push(fuse->o->arena, &fuse->superops) = op;
  scoped_map_add(&fuse->by_hash, hash);
  *array_push(fuse->o->scratch, &fuse->entries) = (struct fuse_entry){op, fails, index};
  fuse->o->stats->superops++;
  return index;
}

struct ir_binding fuse_build(struct fuse_block *b, const struct fuse_member *members,
                             uint32_t count) {
  struct builder s = {.b = b, .members = members, .count = count};
  fused_find_params(&s);
  uint32_t params = (uint32_t)s.params.count;
  b->fuse->stamp++;
  s.values = params;
  for (uint32_t i = 0; i < count; i++) fused_add_member(&s, &members[i]);
  fused_find_outputs(&s);
  struct superop *op = fused_complete(&s);
  uint32_t results = (uint32_t)s.results.count;
  const struct ir_binding *last = members[count - 1].x;
  struct ir_binding x =
      rewrite_binding(b->fuse->o, OPC_FUSED, TW_NONE, params, results, last->pos, last->origin);
  x.form = IR_FUSED;
  x.as.superop = fused_enter(b->fuse, op, s.fails.items);
  for (uint32_t i = 0; i < params; i++) x.operands[i] = s.params.items[i];
  for (uint32_t i = 0; i < results; i++) x.results[i] = s.results.items[i];
  return x;
}
