/* combine-nodes.c - from the code of a function to the superoperator that combines by
 * it.
 */
#include <string.h>

#include "ir/constant.h"
#include "neslc/flatten/combine.h"
#include "neslc/flatten/emit.h"

enum { COMBINED_MOST = 1000 }; /* nodes */

/* ---- what the function needs ---- */

struct finder {
  struct flattener *f;
  struct flat_combination *m;
  const struct ir_binding **definitions; /* of the variables from m->first on */
  bool *visited;
  uint32_t nodes;
};

static const char *refuse_binding(const struct ir_binding *x) {
  if (x->form == IR_CALL) return "calls a function that is not expanded";
  if (x->form == IR_IF || x->form == IR_FUSED) return "is not elementwise";
  const bool effect = x->form == IR_OP && !opcode_is_pure((enum opcode)x->op);
  return effect ? "has an effect, or may fail" : NULL;
}

static bool is_scalar_constant(const struct vcode_constant *k) {
  return k && k->length == 1 && k->type != TW_SEGDES;
}

static bool is_proven(const struct flattener *f, ir_var v) {
  for (size_t i = 0; i < f->combining->proven.count; i++) {
    if (f->combining->proven.items[i] == v) return true;
  }
  return false;
}

/* Whether an operation is elementwise and cannot fail, or spreads a scalar over all positions.
 */
static bool is_fitting(const struct finder *s, const struct ir_binding *x) {
  const struct superop_node node = {.op = x->op, .type = x->type, .role = ROLE_MAP};
  if (x->op == OPC_DIST) return x->operands[1] == s->m->all;
  if (opcode_info((enum opcode)x->op)->klass != OC_ELEMENTWISE) {
    combining_refuse(s->f, "is not elementwise");
    return false;
  }
  if (!superop_may_fail(&node) || is_proven(s->f, x->results[0])) return true;
  combining_refuse(s->f, "may fail");
  return false;
}

/* A scalar of the code around: it is the same for all elements, and becomes a column. */
static bool find_outer(struct finder *s, ir_var v) {
  struct flat_combination *m = s->m;
  for (size_t i = 0; i < m->columns.count; i++) {
    if (m->columns.items[i].left == v) return true;
  }
  if (constant_of(s->f, v)) { /* of several elements */
    combining_refuse(s->f, "uses a sequence from around it");
    return false;
  }
  *array_push(s->f->arena, &m->columns) =
      (struct combined){.word = (uint8_t)ir_superop_kind(s->f->kinds.items[v]),
                        .from = FROM_ONE,
                        .v = v,
                        .identity = NO_VAR,
                        .left = v,
                        .right = NO_VAR,
                        .value = v};
  return true;
}

static bool find_value(struct finder *s, ir_var v) {
  if (is_scalar_constant(constant_of(s->f, v))) return true;
  if (v < s->m->first) return find_outer(s, v);
  const uint32_t at = v - s->m->first;
  const struct ir_binding *x = s->definitions[at];
  if (!x || s->visited[at]) return true; /* an operand of the function */
  s->visited[at] = true;
  if (x->form != IR_OP || ++s->nodes > COMBINED_MOST) {
    combining_refuse(s->f, x->form == IR_OP ? "is too large" : "is not elementwise");
    return false;
  }
  if (!is_fitting(s, x)) return false;
  const uint32_t count = x->op == OPC_DIST ? 1 : x->operand_count;
  for (uint32_t i = 0; i < count; i++) {
    if (!find_value(s, x->operands[i])) return false;
  }
  return true;
}

static bool find_combined_definitions(struct finder *s) {
  struct flattener *f = s->f;
  const size_t count = f->kinds.count - s->m->first;
  s->definitions = arena_alloc(f->arena, (count + 1) * sizeof *s->definitions);
  s->visited = arena_alloc(f->arena, count + 1);
  for (size_t i = 0; i < s->m->code->bindings.count; i++) {
    const struct ir_binding *x = &s->m->code->bindings.items[i];
    const char *why = refuse_binding(x);
    if (why) {
      combining_refuse(f, why);
      return false;
    }
    for (uint32_t k = 0; k < x->result_count; k++) {
      s->definitions[x->results[k] - s->m->first] = x;
    }
  }
  return true;
}

/* Functions without captured values are values without columns. */
static bool has_results(const struct flat_combination *m) {
  for (size_t i = 0; i < m->columns.count; i++) {
    if (m->columns.items[i].wanted) return true;
  }
  return false;
}

bool combination_find(struct flattener *f, struct flat_combination *m) {
  struct finder s = {.f = f, .m = m};
  if (!find_combined_definitions(&s)) return false;
  const size_t count = m->columns.count; /* more are found */
  for (size_t i = 0; i < count; i++) {
    if (!find_value(&s, m->columns.items[i].value)) return false;
  }
  if (m->columns.count <= SUPEROP_COLUMNS_MAX && has_results(m)) return true;
  combining_refuse(f, has_results(m) ? "needs more than 8 columns" : "combines nothing");
  return false;
}

/* ---- the superoperator ---- */

struct builder {
  struct flattener *f;
  struct flat_combination *m;
  ARRAY(ir_var) params;
  ARRAY(struct superop_node) nodes;
  ARRAY(uint32_t) outputs;
  const struct ir_binding **definitions;
  uint32_t *numbers; /* of variables: one more than their value; 0: none yet */
  bool *searched;    /* of those of the function: for constants that it is computed from */
  uint32_t values;
};

static uint32_t combination_param(struct builder *b, ir_var v) {
  for (size_t i = 0; i < b->params.count; i++) {
    if (b->params.items[i] == v) return (uint32_t)i;
  }
  *array_push(b->f->arena, &b->params) = v;
  return (uint32_t)b->params.count - 1;
}

static struct superop_node *add_combination_node(struct builder *b, uint32_t op, uint8_t type,
                                                 unsigned results) {
  struct superop_node *node = array_push(b->f->arena, &b->nodes);
  *node =
      (struct superop_node){.op = (uint16_t)op, .type = type, .origin = present_origin(b->f)};
  b->values += results;
  return node;
}

static void set_operand(struct superop_node *node, uint32_t value) {
  node->operands[node->operand_count++] = value;
}

static bool is_constant_var(const struct builder *b, ir_var v) {
  return is_scalar_constant(constant_of(b->f, v));
}

/* The value of a constant, as a scalar; of NO_VAR, of zero. */
static uint32_t constant_node(struct builder *b, uint8_t word, ir_var v) {
  static const int64_t nothing = 0; /* 0.0 and F as well */
  struct vcode_constant zero = {.type = (enum type_word)word, .length = 1};
  zero.as.ints = &nothing;
  const struct vcode_constant *k = v == NO_VAR ? &zero : constant_of(b->f, v);
  struct superop_node *node = add_combination_node(b, OPC_CONST, word, 1);
  node->constant = constant_element(b->f->options->widths, k, 0);
  return b->values - 1;
}

static uint32_t spread_node(struct builder *b, uint8_t word, uint32_t scalar, ir_var over) {
  struct superop_node *node = add_combination_node(b, OPC_DIST, word, 1);
  set_operand(node, scalar);
  set_operand(node, combination_param(b, over));
  return b->values - 1;
}

/* The elements of a column. */
static uint32_t column_elements(struct builder *b, const struct combined *column) {
  if (column->from == FROM_ELEMENTS) return combination_param(b, column->v);
  const bool known = column->from == FROM_ONE && is_constant_var(b, column->v);
  const uint32_t scalar =
      known ? constant_node(b, column->word, column->v) : combination_param(b, column->v);
  return spread_node(b, column->word, scalar,
                     column->from == FROM_ONE ? b->m->one : b->m->segdes);
}

/* Constants of the function stand before the combination. */
static void add_constants(struct builder *b, ir_var v) {
  if (b->numbers[v] != 0) return;
  if (is_constant_var(b, v)) {
    const uint8_t word = ir_superop_kind(b->f->kinds.items[v]);
    b->numbers[v] = spread_node(b, word, constant_node(b, word, v), b->m->one) + 1;
    return;
  }
  const struct ir_binding *x = v < b->m->first ? NULL : b->definitions[v - b->m->first];
  if (!x || b->searched[v - b->m->first]) return;
  b->searched[v - b->m->first] = true;
  const uint32_t count = x->op == OPC_DIST ? 1 : x->operand_count;
  for (uint32_t i = 0; i < count; i++) add_constants(b, x->operands[i]);
}

/* The number of a value of the function. */
static uint32_t compute_var(struct builder *b, ir_var v) {
  if (b->numbers[v] != 0) return b->numbers[v] - 1;
  const struct ir_binding *x = b->definitions[v - b->m->first];
  if (x->op == OPC_DIST) {
    b->numbers[v] = compute_var(b, x->operands[0]) + 1;
    return b->numbers[v] - 1;
  }
  uint32_t values[MAX_OPERANDS];
  for (uint32_t i = 0; i < x->operand_count; i++) values[i] = compute_var(b, x->operands[i]);
  struct superop_node *node = add_combination_node(b, x->op, x->type, 1);
  node->origin = x->origin;
  for (uint32_t i = 0; i < x->operand_count; i++) set_operand(node, values[i]);
  b->numbers[v] = b->values;
  return b->values - 1;
}

static void add_combined_columns(struct builder *b) {
  const struct flat_combination *m = b->m;
  uint32_t sources[SUPEROP_COLUMNS_MAX];
  for (size_t i = 0; i < m->columns.count; i++)
    sources[i] = column_elements(b, &m->columns.items[i]);
  for (size_t i = 0; i < m->columns.count; i++) {
    const struct combined *column = &m->columns.items[i];
    set_operand(add_combination_node(b, SUPEROP_COLUMN, column->word, 2), sources[i]);
    b->numbers[column->left] = b->values - 1; /* one more than the first result */
    if (column->right != NO_VAR) b->numbers[column->right] = b->values;
  }
}

static bool has_identity(const struct flat_combination *m) {
  return m->op == SUPEROP_COMBINE_REDUCE || m->op == SUPEROP_COMBINE_SCAN;
}

static uint32_t identity_of_column(struct builder *b, const struct combined *column) {
  const ir_var v = column->identity;
  if (v != NO_VAR && !is_constant_var(b, v)) return combination_param(b, v);
  return constant_node(b, column->word, v);
}

static void add_combined_consumers(struct builder *b, const uint32_t *identities,
                                   const uint32_t *values) {
  struct flat_combination *m = b->m;
  for (size_t i = 0; i < m->columns.count; i++) {
    const struct combined *column = &m->columns.items[i];
    struct superop_node *node = add_combination_node(b, m->op, column->word, 1);
    set_operand(node, b->numbers[column->left] - 1);
    set_operand(node, values[i]);
    if (m->op == SUPEROP_COMBINE_SCATTER) {
      node->checked = true;
      set_operand(node, combination_param(b, m->index));
      set_operand(node, combination_param(b, column->defaults));
    } else if (has_identity(m)) {
      set_operand(node, identities[i]);
    }
    set_operand(node, combination_param(b, m->segdes));
    if (m->op == SUPEROP_COMBINE_SCATTER) set_operand(node, combination_param(b, m->into));
    if (column->wanted) *array_push(b->f->arena, &b->outputs) = b->values - 1;
  }
}

/* Adds all nodes. Values are numbered behind the parameters, which are known at the end only:
 * so this is done twice. */
static void build_nodes(struct builder *b) {
  const struct flat_combination *m = b->m;
  uint32_t identities[SUPEROP_COLUMNS_MAX] = {0}, values[SUPEROP_COLUMNS_MAX];
  b->values = (uint32_t)b->params.count;
  b->nodes.count = b->outputs.count = 0;
  memset(b->numbers, 0, b->f->kinds.count * sizeof *b->numbers);
  memset(b->searched, 0, b->f->kinds.count * sizeof *b->searched);
  for (size_t i = 0; i < m->columns.count; i++) add_constants(b, m->columns.items[i].value);
  for (size_t i = 0; i < m->columns.count; i++) {
    if (!has_identity(m)) break;
    identities[i] = identity_of_column(b, &m->columns.items[i]);
  }
  add_combined_columns(b);
  for (size_t i = 0; i < m->columns.count; i++) {
    values[i] = compute_var(b, m->columns.items[i].value);
  }
  add_combined_consumers(b, identities, values);
}

static const struct superop *complete_combination(struct builder *b) {
  struct flattener *f = b->f;
  struct superop *op = arena_alloc(f->arena, sizeof *op);
  uint8_t *params = arena_alloc(f->arena, b->params.count + 1);
  for (size_t i = 0; i < b->params.count; i++) {
    params[i] = ir_superop_kind(f->kinds.items[b->params.items[i]]);
  }
  *op = (struct superop){.number = (uint32_t)f->superops.count,
                         .param_count = (uint32_t)b->params.count,
                         .params = params,
                         .node_count = (uint32_t)b->nodes.count,
                         .nodes = b->nodes.items,
                         .output_count = (uint32_t)b->outputs.count,
                         .outputs = b->outputs.items};
  const char *why;
  uint32_t node;
  if (!superop_complete(f->arena, op, &why, &node)) {
    if (!why) memory_failed();
    unsupported(f, why);
  }
  return op;
}

/* The superoperator, or an equal one that is there already. */
static const struct superop *enter_combination(struct flattener *f, const struct superop *op) {
  for (size_t i = 0; i < f->superops.count; i++) {
    if (superop_same(f->superops.items[i], op)) return f->superops.items[i];
  }
  return *array_push(f->arena, &f->superops) = op;
}

/* The definitions of the code, as in combination_find. */
static const struct ir_binding **definitions_of(struct flattener *f,
                                                const struct flat_combination *m) {
  const struct ir_binding **all =
      arena_alloc(f->arena, (f->kinds.count - m->first + 1) * sizeof *all);
  for (size_t i = 0; i < m->code->bindings.count; i++) {
    const struct ir_binding *x = &m->code->bindings.items[i];
    for (uint32_t k = 0; k < x->result_count; k++) all[x->results[k] - m->first] = x;
  }
  return all;
}

void combination_emit(struct flattener *f, struct flat_combination *m) {
  struct builder b = {.f = f, .m = m, .definitions = definitions_of(f, m)};
  b.numbers = arena_alloc(f->arena, (f->kinds.count + 1) * sizeof *b.numbers);
  b.searched = arena_alloc(f->arena, f->kinds.count + 1);
  build_nodes(&b);
  build_nodes(&b);
  ir_var results[SUPEROP_COLUMNS_MAX];
  const struct superop *op = enter_combination(f, complete_combination(&b));
  emit_fused(f, op, b.params.items, results);
  for (size_t i = 0, next = 0; i < m->columns.count; i++) {
    if (m->columns.items[i].wanted) m->columns.items[i].result = results[next++];
  }
}
