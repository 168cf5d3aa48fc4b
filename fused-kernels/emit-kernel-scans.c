/* emit-kernel-scans.c - kernels that scan what they compute: which scans of a superoperator
 * have one, and the text around scans.hpp, which asks for elements at positions.
 */
#include "fused-kernels/emit-kernel-body.h"

#include "cvl/tuning.h"
#include "fused-kernels/emit-expression.h"
#include "fused-kernels/emit-kernel-plan.h"

extern const char *const fused_published_text[];
extern const char *const fused_scans_text[];

/* ---- which scans ---- */

/* Whether a consumer other than node k needs a value in memory, or the program. */
static bool is_needed_besides(const struct superop *op, uint32_t k, uint32_t v) {
  bool needed = op->last_use[v] == op->node_count;
  for (uint32_t i = 0; i < op->node_count; i++) {
    const struct superop_node *node = &op->nodes[i];
    if (!kernel_is_apart(node) || i == k) continue;
    for (unsigned j = 0; j < node->operand_count; j++) needed |= node->operands[j] == v;
  }
  return needed;
}

/* Without a kernel of its own an operand is written and read, if another kernel is needed
 * anyway: then it may load as much. */
static bool is_cheap(const struct superop *op, const struct superop_node *node) {
  const size_t element = op->kinds[node->operands[0]] == SUPEROP_BOOL ? 1 : sizeof(double);
  const bool alone = op->output_count == 1 && op->outputs[0] == node->result;
  bool wanted[SUPEROP_VALUES_MAX] = {false}, fails;
  wanted[node->operands[0]] = true;
  return alone || (kernel_is_light(op) && kernel_loaded(op, wanted, &fails) <= 2 * element);
}

static bool may_scan(const struct superop *op, uint32_t k) {
  const struct superop_node *node = &op->nodes[k];
  if (node->role != ROLE_SCAN || superop_has_loops(op)) return false;
  const struct superop_node *operand = emit_definition(op, node->operands[0]);
  return operand && operand->role != ROLE_SPREAD && operand->role != ROLE_INDEX &&
         op->last_use[node->result] == op->node_count && is_cheap(op, node) &&
         !is_needed_besides(op, k, node->operands[0]);
}

bool scans_own(const struct superop *op, uint32_t k) {
  uint32_t before = 0;
  if (!may_scan(op, k)) return false;
  for (uint32_t j = 0; j < k; j++) before += may_scan(op, j);
  return before < FUSED_SCANS;
}

/* ---- the text ---- */

static const struct superop_node *emit_kernel_scans_scan_of(const struct fused_kernel *k) {
  return &k->op->nodes[k->scan];
}

bool scans_give(const struct fused_kernel *k, uint32_t v) {
  return k->scan != SUPEROP_NONE && emit_kernel_scans_scan_of(k)->operands[0] == v;
}

/* Twice that of maps: there are fewer threads on a multiprocessor. */
unsigned scans_unrolled(const struct fused_kernel *k) {
  enum { WINDOW = 8 };
  const unsigned maps = body_unrolled(k);
  return maps == 1 ? 1 : 2 * maps < WINDOW ? 2 * maps : WINDOW;
}

void body_scan(const struct body *b) {
  const uint32_t v = emit_kernel_scans_scan_of(b->k)->operands[0];
  fprintf(b->out, "  HERE %s operator[](int64_t i) const { return at(i).v%u; }\n",
          body_type(b, v), v);
}

static void combination(const struct body *b, const char *name) {
  static const char *const operands[] = {"x", "y"};
  const struct combine_row *row = emit_combination(emit_kernel_scans_scan_of(b->k));
  const char *type = body_type(b, emit_kernel_scans_scan_of(b->k)->result);
  fprintf(b->out,
          "struct %s_combination {\n"
          "  using type = %s;\n"
          "  HERE static %s identity() { return (%s)(%s); }\n"
          "  HERE static %s pad() { return (%s)(%s); }\n"
          "  HERE %s operator()(%s x, %s y) const {\n"
          "    return (%s)(",
          name, type, type, type, row->identity, type, type, row->pad, type, type, type, type);
  emit_expression(row->expression, 2, operands, b->out);
  fputs(");\n  }\n};\n", b->out);
}

void emit_kernel_scans(FILE *out) {
  const char *const *const texts[] = {fused_published_text, fused_scans_text};
  emit_kernel_chunks(out);
  fprintf(out,
          "#ifndef COMPILED_CUDA_SCAN_THREADS\n"
          "#define COMPILED_CUDA_SCAN_THREADS %d\n"
          "#endif\n",
          COMPILED_CUDA_SCAN_THREADS);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    for (const char *const *line = texts[i]; *line != NULL; line++) fputs(*line, out);
  }
}

void scans_around(const struct body *b, const char *name) {
  combination(b, name);
  fprintf(b->out, "struct %s : ravel::scan_%s<%s_combination, %s_elements> {};\n", name,
          b->k->scans_long ? "chunks" : "pass", name, name);
}
