/* fuse-form.c - finds whether a binding can be fused, and how its operands are accessed.
 *
 * An operation's accesses are the letters of its opcode. A superoperator can be fused if it is
 * one combination and nothing else; its letters follow from its nodes.
 */
#include "fcode-opt/fuse.h"

#include <string.h>

static bool is_parameter(const struct superop *op, uint32_t value) {
  return value < op->param_count;
}

/* Returns whether a node is a constant or the DIST of one: nothing else may stand beside the
 * combination. */
static bool is_constant_node(const struct superop *op, const struct superop_node *node) {
  return node->role == ROLE_CONST ||
         (node->role == ROLE_SPREAD && !is_parameter(op, node->operands[0]));
}

/* Returns whether a combination reads only parameters and constants. */
static bool reads_parameters(const struct superop *op, const struct superop_combination *c) {
  bool fine = true;
  for (uint32_t k = c->first; k < c->first + c->count; k++)
    fine = fine && is_parameter(op, op->nodes[k].operands[0]);
  if (op->nodes[c->ends].role == ROLE_COMBINE_SCATTER)
    fine = fine && is_parameter(op, op->nodes[c->ends].operands[2]);
  return fine;
}

static bool is_one_combination(const struct superop *op) {
  uint32_t first = 0;
  while (first < op->node_count && is_constant_node(op, &op->nodes[first])) first++;
  if (first == op->node_count || op->nodes[first].role != ROLE_COLUMN) return false;
  const struct superop_combination c = superop_combination_at(op, first);
  bool fine = c.ends + c.count == op->node_count && reads_parameters(op, &c);
  for (uint32_t i = 0; i < op->output_count; i++)
    fine = fine && op->outputs[i] >= op->nodes[c.ends].result;
  return fine;
}

/* The letter of a parameter that has been used in two ways. A vector that is used as a whole,
 * too, is in memory, and a parameter of what becomes of it. An identity that is a parameter has
 * an element for each segment, which a CONST would not need: so it stays one, like all that is
 * used whole. */
static char both_accesses(char a, char b) {
  if (b == 'c') b = 'p';
  if (a == 0 || a == b) return b;
  return a == 'S' || b == 'S' ? 'S' : 'p';
}

static const char *letters_of(struct arena *scratch, const struct superop *op) {
  char *letters = arena_alloc(scratch, (size_t)op->param_count + 1);
  for (uint32_t k = 0; k < op->node_count; k++) {
    enum superop_role role;
    const char *access = superop_access(op->nodes[k].op, &role);
    for (uint32_t i = 0; i < op->nodes[k].operand_count; i++) {
      const uint32_t v = op->nodes[k].operands[i];
      if (is_parameter(op, v)) letters[v] = both_accesses(letters[v], access[i]);
    }
  }
  for (uint32_t p = 0; p < op->param_count; p++) {
    if (letters[p] == 0) letters[p] = 'p'; /* without use */
  }
  return letters;
}

const struct superop *fuse_combination(const struct ir_program *program,
                                       const struct ir_binding *x) {
  if (x->form != IR_FUSED || x->as.superop >= program->superop_count) return NULL;
  const struct superop *op = program->superops[x->as.superop];
  return is_one_combination(op) ? op : NULL;
}

const char *fuse_form(struct arena *scratch, const struct ir_program *program,
                      const struct ir_binding *x, enum superop_role *role) {
  if (x->form == IR_OP) return superop_access(x->op, role);
  const struct superop *op = fuse_combination(program, x);
  if (!op) return NULL;
  *role = (enum superop_role)op->nodes[op->node_count - 1].role;
  return letters_of(scratch, op);
}

ir_var fuse_domain(const struct ir_program *program, const struct ir_binding *x,
                   enum superop_role role) {
  if (fuse_is_producer((uint8_t)role)) return x->results[0];
  const struct superop *op = fuse_combination(program, x);
  return x->operands[op ? op->nodes[superop_first(op, ROLE_COLUMN)].operands[0] : 0];
}

uint32_t fuse_nodes(const struct ir_program *program, const struct ir_binding *x) {
  const struct superop *op = fuse_combination(program, x);
  return op ? op->node_count : 1;
}
