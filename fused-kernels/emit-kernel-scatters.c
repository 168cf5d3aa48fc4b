/* emit-kernel-scatters.c - kernels that scatter what they compute: which scatters of a
 * superoperator have some, and what scatters.hpp asks of the struct.
 *
 * In the text xK is where the results of scatter K go.
 */
#include "fused-kernels/emit-kernel-body.h"

#include "fused-kernels/emit-expression.h"
#include "fused-kernels/emit-kernel-plan.h"

extern const char *const fused_scatters_text[];

enum { VALUES, INDEX }; /* of every scatter, these operands */

static uint32_t operand_of(const struct superop_node *node, int8_t which) {
  return which == NO_OPERAND ? SUPEROP_NONE : node->operands[which];
}

/* ---- which scatters ---- */

/* A group is known by its first scatter. */
static bool is_grouped(const struct superop *op, uint32_t first, uint32_t k) {
  const struct superop_node *a = &op->nodes[first], *b = &op->nodes[k];
  if (k < first || b->role != ROLE_SCATTER || a->op != b->op) return false;
  const struct permute_operands p = permute_operands((enum opcode)a->op);
  return a->operands[INDEX] == b->operands[INDEX] &&
         operand_of(a, p.flags) == operand_of(b, p.flags) &&
         operand_of(a, p.source) == operand_of(b, p.source) &&
         operand_of(a, p.destination) == operand_of(b, p.destination);
}

static bool emit_kernel_scatters_is_first(const struct superop *op, uint32_t k) {
  for (uint32_t j = 0; j < k; j++) {
    if (op->nodes[j].role == ROLE_SCATTER && is_grouped(op, j, k)) return false;
  }
  return op->nodes[k].role == ROLE_SCATTER;
}

/* The values that a group needs at its sources' positions, and which of these its superoperator
 * computes. */
struct needs {
  bool wanted[SUPEROP_VALUES_MAX];
  size_t computed; /* bytes of an element */
  bool elsewhere;  /* some of that is needed besides */
  bool good;       /* what the group gives are outputs */
};

static void add_need(const struct superop *op, uint32_t first, uint32_t v, struct needs *n) {
  const struct superop_node *from = emit_definition(op, v);
  if (n->wanted[v]) return;
  n->wanted[v] = true;
  if (!from || from->role == ROLE_SPREAD || from->role == ROLE_INDEX) return;
  n->computed += op->kinds[v] == SUPEROP_BOOL ? 1 : sizeof(double);
  n->elsewhere |= op->last_use[v] == op->node_count;
  for (uint32_t i = 0; i < op->node_count; i++) {
    const struct superop_node *node = &op->nodes[i];
    if (!kernel_is_apart(node) || is_grouped(op, first, i)) continue;
    for (unsigned j = 0; j < node->operand_count; j++) n->elsewhere |= node->operands[j] == v;
  }
}

static void add_needs(const struct superop *op, uint32_t first, bool values, struct needs *n) {
  const struct permute_operands p = permute_operands((enum opcode)op->nodes[first].op);
  *n = (struct needs){.good = true};
  for (uint32_t k = first; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (!is_grouped(op, first, k)) continue;
    n->good &= op->last_use[node->result] == op->node_count;
    add_need(op, first, node->operands[VALUES], n);
    if (values) continue;
    add_need(op, first, node->operands[INDEX], n);
    if (p.flags != NO_OPERAND) add_need(op, first, node->operands[p.flags], n);
  }
}

static bool gives_all(const struct superop *op, uint32_t first) {
  for (uint32_t i = 0; i < op->output_count; i++) {
    uint32_t k = first;
    while (k < op->node_count && op->nodes[k].result != op->outputs[i]) k++;
    if (k == op->node_count || !is_grouped(op, first, k)) return false;
  }
  return true;
}

/* Values of losers are not computed where the winners' are: so they must have no faults. */
static bool values_may_fail(const struct superop *op, uint32_t first) {
  struct needs n;
  bool fails = false;
  if (op->nodes[first].op == OPC_PERMUTE) return false;
  add_needs(op, first, true, &n);
  kernel_loaded(op, n.wanted, &fails);
  return fails;
}

static bool may_scatter(const struct superop *op, uint32_t k) {
  struct needs n;
  bool fails;
  if (superop_has_loops(op) || !emit_kernel_scatters_is_first(op, k)) return false;
  add_needs(op, k, false, &n);
  if (!n.good || n.elsewhere || n.computed == 0 || values_may_fail(op, k)) return false;
  return gives_all(op, k) ||
         (kernel_is_light(op) && kernel_loaded(op, n.wanted, &fails) <= 2 * n.computed);
}

bool scatters_own(const struct superop *op, uint32_t k) {
  uint32_t before = 0;
  if (!may_scatter(op, k)) return false;
  for (uint32_t j = 0; j < k; j++) before += may_scatter(op, j);
  return before < FUSED_SCATTERS;
}

bool scatters_in_group(const struct superop *op, uint32_t first, uint32_t k) {
  return is_grouped(op, first, k);
}

bool scatters_elsewhere(const struct superop *op, uint32_t k) {
  for (uint32_t j = 0; j <= k; j++) {
    if (is_grouped(op, j, k) && scatters_own(op, j)) return true;
  }
  return false;
}

/* ---- the plan ---- */

uint8_t scatters_operands(const struct superop *op, uint32_t first, unsigned leave) {
  const struct permute_operands p = permute_operands((enum opcode)op->nodes[first].op);
  uint8_t all = 0, values = 1 << VALUES;
  for (unsigned i = 0; i < op->nodes[first].operand_count; i++) all |= (uint8_t)(1 << i);
  if (p.defaults != NO_OPERAND) values |= (uint8_t)(1 << p.defaults);
  if (leave & SCATTER_CLAIMS) return (uint8_t)(all & ~values);
  return leave & SCATTER_FETCHES ? values : all;
}

bool scatters_look_up(const struct fused_kernel *k, uint32_t v) {
  if (k->scatter == SUPEROP_NONE) return false;
  const struct superop_node *node = &k->op->nodes[k->scatter];
  return node->operands[permute_operands((enum opcode)node->op).source] == v;
}

void scatters_add_members(struct fused_kernel *k, kernel_add_member *add) {
  if (k->scatter == SUPEROP_NONE) return;
  add(k, MEMBER_SCATTER, k->scatter, k->op->nodes[k->scatter].operands[INDEX]);
  for (uint32_t i = k->scatter; i < k->op->node_count && !k->claims; i++) {
    if (is_grouped(k->op, k->scatter, i)) add(k, MEMBER_MOVED, i, k->op->nodes[i].result);
  }
}

bool scatters_give(const struct fused_kernel *k, uint32_t v) {
  if (k->scatter == SUPEROP_NONE || !k->schedule.read[v]) return false;
  const struct permute_operands p = permute_operands((enum opcode)k->op->nodes[k->scatter].op);
  for (uint32_t i = k->scatter; i < k->op->node_count; i++) {
    const struct superop_node *node = &k->op->nodes[i];
    if (!is_grouped(k->op, k->scatter, i)) continue;
    if (node->operands[VALUES] == v || node->operands[INDEX] == v ||
        operand_of(node, p.flags) == v)
      return true;
  }
  return false;
}

/* ---- the text ---- */

static void each_moved(const struct body *b,
                       void (*write)(const struct body *, uint32_t k, uint32_t number)) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    if (b->k->members[i].kind == MEMBER_MOVED) write(b, b->k->members[i].number, number++);
  }
}

static void emit_kernel_scatters_move(const struct body *b, uint32_t k, uint32_t number) {
  (void)number;
  fprintf(b->out, "    x%u[to] = r.v%u;\n", k, b->op->nodes[k].operands[VALUES]);
}

static void emit_kernel_scatters_rest(const struct body *b, uint32_t k, uint32_t number) {
  const struct superop_node *node = &b->op->nodes[k];
  const int8_t defaults = permute_operands((enum opcode)node->op).defaults;
  if (defaults == NO_OPERAND)
    fprintf(b->out, "    x%u[i] = (%s)0;\n", k, body_type(b, node->result));
  else
    fprintf(b->out, "    if (!(scatter.keeps >> %u & 1)) x%u[i] = p%u[i];\n", number, k,
            node->operands[defaults]);
}

/* Writes the functions that find positions. A kernel that fetches values does not need them. */
static void emit_kernel_scatters_positions(const struct body *b) {
  const struct superop_node *node = &b->op->nodes[b->k->scatter];
  const struct permute_operands p = permute_operands((enum opcode)node->op);
  fprintf(b->out,
          "  enum { NODE = %u };\n"
          "  HERE static int64_t index(const results &r) { return r.v%u; }\n"
          "  HERE const ravel::segments &near() const { return p%u; }\n"
          "  HERE const ravel::segments &far() const { return p%u; }\n",
          b->k->scatter, node->operands[INDEX], node->operands[p.source],
          node->operands[p.destination]);
  if (p.flags == NO_OPERAND)
    fputs("  HERE static bool on(const results &) { return true; }\n", b->out);
  else
    fprintf(b->out, "  HERE static bool on(const results &r) { return r.v%u != 0; }\n",
            node->operands[p.flags]);
}

void body_scatter(const struct body *b) {
  const bool permutes = b->op->nodes[b->k->scatter].op == OPC_PERMUTE;
  if (permutes || b->k->claims) emit_kernel_scatters_positions(b);
  if (!b->k->claims) {
    fputs("  HERE void move(const results &r, int64_t to) const {\n", b->out);
    each_moved(b, emit_kernel_scatters_move);
    fputs("  }\n", b->out);
  }
  if (!permutes && !b->k->claims) {
    fputs("  HERE void rest(int64_t i) const {\n", b->out);
    each_moved(b, emit_kernel_scatters_rest);
    fputs("  }\n", b->out);
  }
}

void scatter_around(const struct body *b, const char *name) {
  const bool permutes = b->op->nodes[b->k->scatter].op == OPC_PERMUTE;
  fprintf(b->out, "struct %s : ravel::%s<%s_elements> {};\n", name,
          permutes       ? "permuting"
          : b->k->claims ? "claiming"
                         : "fetching",
          name);
}

/* Enough loads in flight, but where faults are stored between them and where much is computed.
 */
unsigned scatters_unrolled(const struct fused_kernel *k) {
  enum { USUAL = 4 };
  return body_is_checked(k) || !kernel_is_light(k->op) ? 1 : USUAL;
}

void scatters_member(const struct body *b, const struct fused_member *m) {
  if (m->kind == MEMBER_SCATTER) fputs("  ravel::scattering scatter;\n", b->out);
  if (m->kind == MEMBER_MOVED)
    fprintf(b->out, "  ravel::ptr<%s> x%u;\n", body_type(b, b->op->nodes[m->number].result),
            m->number);
}

void emit_kernel_scatters(FILE *out) {
  for (const char *const *line = fused_scatters_text; *line != NULL; line++) fputs(*line, out);
}
