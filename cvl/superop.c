/* superop.c - the shape of superoperators: checks it and derives facts from it.
 *
 * superop_complete goes through the nodes once, in order. For every node it looks up how each
 * operand is accessed, checks its kind, translates the sizes of the opcode's row into sizes of
 * parameters, and collects the rules. Sizes that rules make equal are kept in classes (union
 * and find), so that a rule is listed only if those before it do not imply it. If there is no
 * common domain, the superoperator may have the shape of copies, and a second pass checks
 * that.
 */
#include "cvl/superop.h"

#include <string.h>

enum cvl_elem superop_elem(enum superop_kind kind, enum cvl_elem int_elem,
                           enum cvl_elem float_elem) {
  switch (kind) {
  case SUPEROP_INT: return int_elem;
  case SUPEROP_FLOAT: return float_elem;
  case SUPEROP_BOOL:
  case SUPEROP_SEGDES: break;
  }
  return CVL_BOOL;
}

struct cvl_call superop_permute_call(enum opcode op, const struct cvl_value *operands) {
  const struct permute_operands at = permute_operands(op);
  struct cvl_call call = {.kind = CALL_PERMUTE,
                          .op = opcode_info(op)->operation,
                          .count = CALL_OPERANDS,
                          .permute = {.values = operands[0],
                                      .index = operands[1],
                                      .s = operands[at.source],
                                      .d = operands[at.destination]}};
  if (at.flags != NO_OPERAND) call.permute.flags = operands[at.flags];
  if (at.defaults != NO_OPERAND) call.permute.defaults = operands[at.defaults];
  return call;
}

uint32_t superop_first(const struct superop *op, enum superop_role role) {
  uint32_t k = 0;
  while (k < op->node_count && op->nodes[k].role != role) k++;
  return k;
}

bool superop_spreads_constant(const struct superop *op, const uint32_t *definitions,
                              uint32_t value) {
  if (value < op->param_count) return false;
  const struct superop_node *definition = &op->nodes[definitions[value]];
  return definition->role == ROLE_SPREAD && definition->operands[0] >= op->param_count;
}

/* ---- how operands are accessed ---- */

struct access_row {
  uint16_t op;
  uint8_t role;
  const char *access;
};

static const struct access_row access_rows[] = {
    {OPC_CONST, ROLE_CONST, ""},
    {OPC_DIST, ROLE_SPREAD, "cs"},
    {OPC_INDEX, ROLE_INDEX, "ccs"},
    {OPC_BPERMUTE, ROLE_GATHER, "pdss"},
    {OPC_BFPERMUTE, ROLE_GATHER, "pddss"},
    {OPC_EXTRACT, ROLE_PICK, "pds"},
    {OPC_PACK, ROLE_PACK, "ddS"},
    {OPC_PERMUTE, ROLE_SCATTER, "dds"},
    {OPC_DPERMUTE, ROLE_SCATTER, "ddpss"},
    {OPC_FPERMUTE, ROLE_SCATTER, "dddss"},
    {OPC_DFPERMUTE, ROLE_SCATTER, "dddpss"},
    {OPC_ASSERT, ROLE_ASSERT, "ddd"},
    {SUPEROP_CARRY, ROLE_CARRY, "d"},
    {SUPEROP_WHILE, ROLE_WHILE, "d"},
    {SUPEROP_NEXT, ROLE_NEXT, "dd"},
    {SUPEROP_COLUMN, ROLE_COLUMN, "d"},
    {SUPEROP_COMBINE_REDUCE, ROLE_COMBINE_REDUCE, "ddcS"},
    {SUPEROP_COMBINE_SCAN, ROLE_COMBINE_SCAN, "ddcS"},
    {SUPEROP_COMBINE_SCAN_INCLUSIVE, ROLE_COMBINE_SCAN, "ddS"},
    {SUPEROP_COMBINE_SCATTER, ROLE_COMBINE_SCATTER, "dddpss"},
};

const char *superop_access(uint32_t op, enum superop_role *role) {
  switch (superop_info(op)->klass) {
  case OC_ELEMENTWISE: *role = ROLE_MAP; return "ddd";
  case OC_REDUCE: *role = ROLE_REDUCE; return "dS";
  case OC_SCAN: *role = ROLE_SCAN; return "dS";
  default: break; /* by opcode */
  }
  for (size_t i = 0; i < sizeof access_rows / sizeof access_rows[0]; i++) {
    if (access_rows[i].op != op) continue;
    *role = (enum superop_role)access_rows[i].role;
    return access_rows[i].access;
  }
  return NULL;
}

static bool superop_is_consumer(enum superop_role role) {
  return role == ROLE_REDUCE || role == ROLE_SCAN || role == ROLE_PACK ||
         role == ROLE_SCATTER || role == ROLE_COMBINE_REDUCE || role == ROLE_COMBINE_SCAN ||
         role == ROLE_COMBINE_SCATTER || role == ROLE_ASSERT;
}

bool superop_may_fail(const struct superop_node *node) {
  switch ((enum superop_role)node->role) {
  case ROLE_GATHER:
  case ROLE_PICK:
  case ROLE_SCATTER:
  case ROLE_COMBINE_SCATTER:
  case ROLE_ASSERT: return true;
  case ROLE_MAP:
    return opcode_fault((enum opcode)node->op, (enum type_word)node->type) != CVL_E_NONE;
  case ROLE_CONST:
  case ROLE_SPREAD:
  case ROLE_INDEX:
  case ROLE_CARRY:
  case ROLE_WHILE:
  case ROLE_NEXT:
  case ROLE_COLUMN:
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_REDUCE:
  case ROLE_SCAN:
  case ROLE_PACK: break;
  }
  return false;
}

/* ---- what is being completed ---- */

struct shape {
  struct arena *arena;
  struct superop *op;
  const char *why;
  uint32_t node;  /* the node being checked */
  uint8_t *kinds; /* op->kinds, sizes, uses and last_use, writable */
  struct superop_size *sizes;
  uint32_t *definitions; /* for every value, its node, unless it is a parameter */
  uint32_t *klass;       /* union and find over sizes: see size_key */
  ARRAY(struct superop_rule) rules;
};

static const char *kind_name(enum superop_kind kind) {
  static const char *const names[] = {"INT", "FLOAT", "BOOL", "SEGDES"};
  return names[kind];
}

/* Returns a name such as "+ INT", for messages. */
static const char *node_name(struct shape *s) {
  const struct superop_node *node = &s->op->nodes[s->node];
  const char *word = type_word_text((enum type_word)node->type);
  return arena_printf(s->arena, "%s%s%s", superop_info(node->op)->spelling, *word ? " " : "",
                      word);
}

static bool superop_refuse(struct shape *s, const char *why) {
  s->why = why;
  return false;
}

/* ---- sizes and rules ---- */

/* The keys are ONE, and for each parameter its length or total and its number of segments. */
static uint32_t size_key(struct superop_size size) {
  switch (size.what) {
  case SIZE_LEN:
  case SIZE_TOTAL: return 1 + 2 * size.param;
  case SIZE_COUNT: return 2 + 2 * size.param;
  default: return 0;
  }
}

static uint32_t superop_class_of(struct shape *s, struct superop_size size) {
  uint32_t k = size_key(size);
  while (s->klass[k] != k) k = s->klass[k] = s->klass[s->klass[k]];
  return k;
}

/* Adds a rule of the current node, unless it follows from those already listed. */
static void superop_require(struct shape *s, struct superop_rule r) {
  uint32_t x = superop_class_of(s, r.a), y = superop_class_of(s, r.b);
  if (x == y) return;
  s->klass[y] = x;
  r.node = s->node;
  *array_push(s->arena, &s->rules) = r;
}

/* Requires that a size is that of the domain. The first size found names it. */
static void require_domain(struct shape *s, struct superop_size size) {
  if (s->op->copies) return;
  if (s->op->domain.what == SIZE_UNKNOWN) s->op->domain = size;
  superop_require(s, (struct superop_rule){.a = s->op->domain, .b = size, .of_domain = true});
}

/* Returns a size of the opcode's row as a size of the node's operands. */
static struct superop_size size_of(const struct shape *s, const struct superop_node *node,
                                   uint8_t size) {
  switch (SIZE_WHAT(size)) {
  case SIZE_LEN:
  case SIZE_TOTAL: return s->sizes[node->operands[SIZE_OPERAND(size)]];
  case SIZE_COUNT: return (struct superop_size){SIZE_COUNT, node->operands[SIZE_OPERAND(size)]};
  default: return (struct superop_size){(uint8_t)SIZE_WHAT(size), 0};
  }
}

/* ---- nodes ---- */

static enum superop_kind superop_kind_of_letter(char letter, enum type_word type) {
  return (enum superop_kind)operand_kind(letter, type);
}

static bool superop_check_type(struct shape *s, const struct superop_node *node) {
  const struct opcode_info *info = superop_info(node->op);
  unsigned types = node->op == OPC_CONST ? T_IFB : info->types;
  if (types == NO_TYPE ? node->type == TW_NONE
                       : node->type < TW_NONE && types >> node->type & 1)
    return true;
  if (types == NO_TYPE) {
    return superop_refuse(s, arena_printf(s->arena, "%s takes no type", info->spelling));
  }
  if (node->type >= TW_NONE) {
    return superop_refuse(s, arena_printf(s->arena, "%s needs a type", info->spelling));
  }
  return superop_refuse(s, arena_printf(s->arena, "%s does not exist", node_name(s)));
}

static bool check_constant(struct shape *s, const struct superop_node *node) {
  const struct cvl_value *c = &node->constant;
  if (c->form != CVL_SCALAR || c->elem >= CVL_ELEM_COUNT) {
    return superop_refuse(s, "a constant has to be a single element");
  }
  if (elem_info((enum cvl_elem)c->elem)->klass == type_word_class(node->type)) {
    return true;
  }
  return superop_refuse(
      s, arena_printf(s->arena, "the constant is not of the type of %s", node_name(s)));
}

/* Describes a value, for operands that need something else. */
static const char *value_name(const struct shape *s, uint32_t value) {
  if (value < s->op->param_count) return "a parameter";
  enum superop_role role = (enum superop_role)s->op->nodes[s->definitions[value]].role;
  if (role == ROLE_CONST) return "a constant";
  return superop_is_consumer(role)
             ? "the result of a reduction, scan, pack, scatter or combination"
             : "computed";
}

static bool check_access(struct shape *s, uint32_t operand, uint32_t value, char access) {
  bool param = value < s->op->param_count;
  enum superop_role definition =
      param ? ROLE_MAP : (enum superop_role)s->op->nodes[s->definitions[value]].role;
  const char *needed = NULL;
  if (s->op->copies && access != 's') {
    if (access != 'c' && definition == ROLE_CONST) needed = "a vector";
    access = 0;
  }
  switch (access) {
  case 0: break;
  case 'd':
    if (!param && (definition == ROLE_CONST || superop_is_consumer(definition)))
      needed = "one element for each position";
    break;
  case 'c':
    if (!param && definition != ROLE_CONST) needed = "a parameter or a constant";
    break;
  default:
    if (!param) needed = "a parameter";
  }
  if (!needed) return true;
  return superop_refuse(s, arena_printf(s->arena,
                                        "operand %u of %s is %s, which may not be; it needs %s",
                                        operand, node_name(s), value_name(s, value), needed));
}

static bool superop_check_operand(struct shape *s, const struct superop_node *node, uint32_t i,
                                  char access) {
  uint32_t value = node->operands[i];
  if (value >= node->result) {
    return superop_refuse(s, arena_printf(s->arena, "operand %u of %s, $%u, is not known there",
                                          i, node_name(s), value));
  }
  enum superop_kind kind = (enum superop_kind)s->kinds[value],
                    needed = superop_kind_of_letter(superop_info(node->op)->operands[i],
                                                    (enum type_word)node->type);
  if (kind != needed) {
    return superop_refuse(s, arena_printf(s->arena, "operand %u of %s is %s, not %s", i,
                                          node_name(s), kind_name(kind), kind_name(needed)));
  }
  if (!check_access(s, i, value, access)) return false;
  if (access != 'S') return true;
  if (s->op->segments == SUPEROP_NONE) s->op->segments = value;
  return s->op->segments == value ||
         superop_refuse(s,
                        arena_printf(s->arena, "%s is under $%u, an operation before under $%u",
                                     node_name(s), value, s->op->segments));
}

/* Makes the node's results values. */
static void add_results(struct shape *s, const struct superop_node *node, const char *kinds,
                        struct superop_size size) {
  for (uint32_t r = 0; r < node->result_count; r++) {
    uint32_t value = node->result + r;
    s->kinds[value] = (uint8_t)superop_kind_of_letter(kinds[r], (enum type_word)node->type);
    s->sizes[value] = size;
    s->definitions[value] = s->node;
  }
  s->op->value_count = node->result + node->result_count;
}

static bool complete_node(struct shape *s) {
  struct superop_node *node = &s->op->nodes[s->node];
  node->result = s->op->value_count;
  if (node->op >= SUPEROP_OPS) return superop_refuse(s, "an opcode does not exist");
  const struct opcode_info *info = superop_info(node->op);
  enum superop_role role;
  const char *access = superop_access(node->op, &role);
  if (!access) {
    return superop_refuse(
        s, arena_printf(s->arena, "%s may not occur in a superoperator", info->spelling));
  }
  node->role = (uint8_t)role;
  if (!superop_check_type(s, node)) return false;
  const char *results = role == ROLE_CONST ? "T" : info->results;
  node->result_count = (uint8_t)strlen(results);
  if (node->result + node->result_count > SUPEROP_VALUES_MAX) {
    return superop_refuse(s, "it has too many values");
  }
  if (role == ROLE_CONST) {
    if (!check_constant(s, node)) return false;
    node->checked = false;
    add_results(s, node, results, (struct superop_size){SIZE_ONE, 0});
    return true;
  }
  if (node->operand_count != strlen(info->operands)) {
    return superop_refuse(s,
                          arena_printf(s->arena, "%s takes %zu operands, not %u", node_name(s),
                                       strlen(info->operands), node->operand_count));
  }
  for (uint32_t i = 0; i < node->operand_count; i++) {
    if (!superop_check_operand(s, node, i, access[i])) return false;
  }
  node->checked = node->checked && superop_may_fail(node);
  for (uint8_t k = 0; info->rules[k].a; k++) {
    const struct size_rule *r = &info->rules[k];
    if (superop_waives(s->op, node, r)) continue;
    const struct superop_size a = size_of(s, node, r->a), b = size_of(s, node, r->b);
    superop_require(s, (struct superop_rule){.a = a, .b = b, .rule = k});
  }
  for (uint32_t i = 0; i < node->operand_count; i++) {
    s->op->uses[node->operands[i]]++;
    s->op->last_use[node->operands[i]] = s->node;
    if (access[i] == 'd') require_domain(s, s->sizes[node->operands[i]]);
  }
  struct superop_size size = size_of(s, node, info->result_size);
  if (!superop_is_consumer(role) && role != ROLE_WHILE) require_domain(s, size);
  add_results(s, node, results, size);
  return true;
}

/* ---- the whole ---- */

static bool check_outputs(struct shape *s) {
  struct superop *op = s->op;
  s->node = op->node_count;
  bool checks = false;
  for (uint32_t k = 0; k < op->node_count; k++) {
    checks |= op->nodes[k].role == ROLE_ASSERT || (op->copies && op->nodes[k].checked);
  }
  if (op->output_count == 0 && !checks) return superop_refuse(s, "it has no output");
  for (uint32_t i = 0; i < op->output_count; i++) {
    uint32_t value = op->outputs[i];
    if (value >= op->value_count) {
      return superop_refuse(s, arena_printf(s->arena, "there is no $%u, an output", value));
    }
    if (value < op->param_count) {
      return superop_refuse(s, arena_printf(s->arena, "an output, $%u, is a parameter", value));
    }
    s->node = s->definitions[value];
    if (op->nodes[s->node].role == ROLE_CONST)
      return superop_refuse(s, "a constant is an output");
    if (op->last_use[value] == op->node_count) {
      return superop_refuse(s, arena_printf(s->arena, "$%u is an output twice", value));
    }
    op->uses[value]++;
    op->last_use[value] = op->node_count;
  }
  return true;
}

/* Goes backwards: a node is cold unless anything but a message has been found to need it. */
static void find_cold(struct shape *s) {
  struct superop *op = s->op;
  bool *cold = arena_alloc(s->arena, op->node_count + 1);
  bool *needed = arena_alloc(s->arena, (size_t)op->value_count + 1);
  op->cold = cold;
  for (uint32_t i = 0; i < op->output_count; i++) needed[op->outputs[i]] = true;
  for (uint32_t k = op->node_count; k-- > 0;) {
    const struct superop_node *node = &op->nodes[k];
    bool plain =
        !superop_is_consumer((enum superop_role)node->role) && node->role != ROLE_CONST;
    cold[k] = plain && !node->checked && op->uses[node->result] > 0 && !needed[node->result];
    for (uint32_t i = 0; i < node->operand_count; i++) {
      if (!cold[k] && superop_matters(node, i)) needed[node->operands[i]] = true;
    }
  }
}

static bool complete_shape(struct shape *s, bool copies) {
  struct superop *op = s->op;
  s->node = 0;
  s->why = NULL;
  s->rules.count = 0;
  op->copies = copies;
  op->domain = (struct superop_size){SIZE_UNKNOWN, 0};
  op->segments = SUPEROP_NONE;
  op->value_count = op->param_count;
  if (op->param_count > SUPEROP_VALUES_MAX || op->node_count > SUPEROP_VALUES_MAX) {
    return superop_refuse(s, "it has too many values");
  }
  size_t most = (size_t)op->param_count + 2 * (size_t)op->node_count + 1;
  op->kinds = s->kinds = arena_alloc(s->arena, most);
  op->sizes = s->sizes = arena_alloc(s->arena, most * sizeof *s->sizes);
  op->uses = arena_alloc(s->arena, most * sizeof *op->uses);
  op->last_use = arena_alloc(s->arena, most * sizeof *op->last_use);
  s->definitions = arena_alloc(s->arena, most * sizeof *s->definitions);
  size_t keys = 2 * (size_t)op->param_count + 1;
  s->klass = arena_alloc(s->arena, keys * sizeof *s->klass);
  for (size_t k = 0; k < keys; k++) s->klass[k] = (uint32_t)k;
  for (size_t v = 0; v < most; v++) op->last_use[v] = SUPEROP_NONE;
  for (uint32_t p = 0; p < op->param_count; p++) {
    if (op->params[p] > SUPEROP_SEGDES) return superop_refuse(s, "a parameter has no kind");
    s->kinds[p] = op->params[p];
    s->sizes[p] =
        (struct superop_size){op->params[p] == SUPEROP_SEGDES ? SIZE_TOTAL : SIZE_LEN, p};
  }
  for (; s->node < op->node_count; s->node++) {
    if (!complete_node(s)) return false;
  }
  if (copies) op->domain = s->sizes[op->value_count - 1];
  if (!superop_complete_loops(op, s->definitions, &s->why, &s->node)) return false;
  if (!superop_complete_combinations(op, s->definitions, &s->why, &s->node)) return false;
  if (!check_outputs(s)) return false;
  find_cold(s);
  op->grouped = superop_has_loops(op) || superop_has_combinations(op);
  op->rule_count = (uint32_t)s->rules.count;
  op->rules = s->rules.items;
  return true;
}

bool superop_complete(struct arena *arena, struct superop *op, const char **why,
                      uint32_t *node) {
  struct shape s = {.arena = arena, .op = op};
  struct memory_guard guard;
  *why = NULL;
  *node = 0;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return false;
  const bool ok =
      complete_shape(&s, false) || (superop_may_copy(op) && complete_shape(&s, true));
  memory_guard_end(&guard);
  *why = s.why;
  *node = s.node;
  if (ok) superop_check(op);
  return ok;
}

/* ---- equality ---- */

static bool superop_constant_same(const struct cvl_value *a, const struct cvl_value *b) {
  return a->elem == b->elem &&
         memcmp(&a->as, &b->as, elem_info((enum cvl_elem)a->elem)->bytes) == 0;
}

static bool text_same(const struct superop_node *a, const struct superop_node *b) {
  return a->text_length == b->text_length &&
         (a->text_length == 0 || memcmp(a->text, b->text, a->text_length) == 0);
}

static bool node_same(const struct superop_node *a, const struct superop_node *b) {
  if (a->op != b->op || a->type != b->type || a->checked != b->checked ||
      a->operand_count != b->operand_count) {
    return false;
  }
  if (a->op == OPC_CONST) return superop_constant_same(&a->constant, &b->constant);
  if (a->op == OPC_ASSERT && !text_same(a, b)) return false;
  return memcmp(a->operands, b->operands, a->operand_count * sizeof *a->operands) == 0;
}

bool superop_same(const struct superop *a, const struct superop *b) {
  if (a->param_count != b->param_count || a->node_count != b->node_count ||
      a->output_count != b->output_count) {
    return false;
  }
  for (uint32_t p = 0; p < a->param_count; p++) {
    if (a->params[p] != b->params[p]) return false;
  }
  for (uint32_t k = 0; k < a->node_count; k++) {
    if (!node_same(&a->nodes[k], &b->nodes[k])) return false;
  }
  return a->output_count == 0 ||
         memcmp(a->outputs, b->outputs, a->output_count * sizeof *a->outputs) == 0;
}

/* FNV-1a (Fowler, Noll, Vo) over words. */
static uint64_t superop_mix(uint64_t hash, uint64_t word) {
  return (hash ^ word) * 0x100000001B3;
}

uint64_t superop_hash(const struct superop *op) {
  uint64_t hash =
      superop_mix(superop_mix(0xCBF29CE484222325, op->param_count), op->output_count);
  for (uint32_t p = 0; p < op->param_count; p++) hash = superop_mix(hash, op->params[p]);
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    uint64_t constant = 0;
    if (node->op == OPC_CONST) {
      memcpy(&constant, &node->constant.as,
             elem_info((enum cvl_elem)node->constant.elem)->bytes);
    }
    hash = superop_mix(
        superop_mix(superop_mix(superop_mix(hash, node->op), node->type), node->checked),
        constant);
    for (uint32_t i = 0; node->op == OPC_ASSERT && i < node->text_length; i++) {
      hash = superop_mix(hash, (unsigned char)node->text[i]);
    }
    for (uint32_t i = 0; i < node->operand_count; i++)
      hash = superop_mix(hash, node->operands[i]);
  }
  for (uint32_t i = 0; i < op->output_count; i++) hash = superop_mix(hash, op->outputs[i]);
  return hash ^ hash >> 32;
}
