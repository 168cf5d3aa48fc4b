/* emit-kernel-copy.c - superoperators of copies as kernels that read every element of a result
 * where it comes from, whatever number of vectors it goes through on its way there.
 *
 * Of each value there is a function of a position: vV(i). A scatter looks for the run that
 * holds the position; where there is none, the element is that of its defaults. So the runs of
 * one scatter may not overlap, and the last scatter that writes an element is the first to be
 * asked. Runs begin at start[k], k a segment of the INDEX. If that has the descriptor of the
 * scatter's values, each is in its own segment of the result. Else there is one segment, and
 * runs have to be in the order of the result.
 *
 * An index out of range is reported as the node would, by the kernel that checks. The others
 * run all the same: no position reads what is not there, and nobody has to wait for an answer.
 */
#include "fused-kernels/emit-kernel-copy.h"

#include "fused-kernels/emit-expression.h"
#include "fused-kernels/emit-kernel-plan.h"
#include "fused-kernels/fused.h"

#include <string.h>

/* ---- runs ---- */

static const struct superop_node *defined(const struct superop *op, uint32_t v,
                                          enum superop_role role) {
  const struct superop_node *node = emit_definition(op, v);
  return node != NULL && node->role == role ? node : NULL;
}

/* The constant that a value is or is spread from, or NULL. */
static const struct cvl_value *emit_kernel_copy_constant_of(const struct superop *op,
                                                            uint32_t v) {
  const struct superop_node *node = emit_definition(op, v);
  while (node != NULL && node->role == ROLE_SPREAD)
    node = emit_definition(op, node->operands[0]);
  return node != NULL && node->role == ROLE_CONST ? &node->constant : NULL;
}

/* The INDEX that a value is, if it consists of runs; else NULL. */
static const struct superop_node *emit_kernel_copy_runs_of(const struct superop *op,
                                                           uint32_t v) {
  const struct superop_node *index = defined(op, v, ROLE_INDEX);
  if (index == NULL) return NULL;
  const struct cvl_value *stride = emit_kernel_copy_constant_of(op, index->operands[1]);
  const uint32_t start = index->operands[0];
  const bool known = start < op->param_count || emit_kernel_copy_constant_of(op, start) != NULL;
  return known && stride != NULL && cvl_int_of(stride) == 1 ? index : NULL;
}

static uint32_t operand_at(const struct superop_node *node, int8_t at) {
  return node->operands[at];
}

/* Whether the index of a scatter or gather has the descriptor of what it is the index of. */
static bool is_aligned(const struct superop_node *index, uint32_t near) {
  return index->operands[2] == near;
}

static uint32_t near_of(const struct superop_node *node) {
  return node->role == ROLE_GATHER
             ? node->operands[3]
             : operand_at(node, permute_operands((enum opcode)node->op).source);
}

static bool is_fit_scatter(const struct superop *op, const struct superop_node *node) {
  const struct permute_operands at = permute_operands((enum opcode)node->op);
  if (at.flags != NO_OPERAND) {
    const struct cvl_value *flag = emit_kernel_copy_constant_of(op, operand_at(node, at.flags));
    if (flag == NULL || !flag->as.b) return false;
  }
  return emit_kernel_copy_runs_of(op, node->operands[1]) != NULL;
}

bool fused_copy_is_fit(const struct superop *op) {
  bool any = false;
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (op->nodes[k].role != ROLE_SCATTER) continue;
    any = true;
    if (!is_fit_scatter(op, &op->nodes[k])) return false;
  }
  return op->copies && any;
}

/* ---- the plan ---- */

/* Notes what computing a value reads. */
static void emit_kernel_copy_need(struct fused_kernel *k, uint32_t v);

static void need_segments(struct fused_kernel *k, uint32_t d, bool looked_up) {
  k->read[d] = true;
  k->reported[d] |= looked_up; /* of copies: that segments are looked up */
}

static void need_start(struct fused_kernel *k, const struct superop_node *index) {
  if (index->operands[0] < k->op->param_count) k->read[index->operands[0]] = true;
}

static void need_scatter(struct fused_kernel *k, const struct superop_node *node) {
  const struct permute_operands at = permute_operands((enum opcode)node->op);
  const struct superop_node *index = emit_kernel_copy_runs_of(k->op, node->operands[1]);
  const bool aligned = is_aligned(index, near_of(node));
  need_segments(k, near_of(node), false);
  need_segments(k, operand_at(node, at.destination), aligned);
  need_segments(k, index->operands[2], false);
  need_start(k, index);
  emit_kernel_copy_need(k, node->operands[0]);
  if (at.defaults != NO_OPERAND) emit_kernel_copy_need(k, operand_at(node, at.defaults));
}

static void emit_kernel_copy_need(struct fused_kernel *k, uint32_t v) {
  const struct superop *op = k->op;
  const struct superop_node *node = emit_definition(op, v);
  if (node == NULL) k->read[v] = true;
  if (node == NULL || emit_kernel_copy_constant_of(op, v) != NULL) return;
  const uint32_t at = (uint32_t)(node - op->nodes);
  if (k->tasks[at] == TASK_INSIDE) return;
  k->tasks[at] = TASK_INSIDE;
  if (node->role == ROLE_SCATTER) {
    need_scatter(k, node);
    return;
  }
  for (unsigned i = 0; i < node->operand_count; i++) {
    if (op->kinds[node->operands[i]] != SUPEROP_SEGDES)
      emit_kernel_copy_need(k, node->operands[i]);
  }
  const unsigned last = node->operand_count - 1u;
  need_segments(k, node->operands[last], true);
  if (node->role == ROLE_GATHER) need_segments(k, node->operands[last - 1], false);
}

/* Whether the runs of a node have to be in order: those of a scatter, all in one segment. */
static bool needs_order(const struct superop *op, const struct superop_node *node) {
  return node->role == ROLE_SCATTER &&
         !is_aligned(emit_kernel_copy_runs_of(op, node->operands[1]), near_of(node));
}

/* Whether something is to be checked of a node: elements, or that runs are in order. */
static bool has_check(const struct superop *op, const struct superop_node *node) {
  const bool moves = node->role == ROLE_SCATTER || node->role == ROLE_GATHER;
  return (moves && node->checked) || needs_order(op, node);
}

static void need_check(struct fused_kernel *k, const struct superop_node *node) {
  const struct superop_node *index = emit_kernel_copy_runs_of(k->op, node->operands[1]);
  const uint32_t near = near_of(node);
  struct superop_size over = {SIZE_TOTAL, near};
  need_segments(k, near, index == NULL);
  if (node->role == ROLE_SCATTER)
    need_segments(k, operand_at(node, permute_operands((enum opcode)node->op).destination),
                  false);
  else
    need_segments(k, node->operands[2], false);
  if (index != NULL) {
    need_segments(k, index->operands[2], false);
    need_start(k, index);
    over = (struct superop_size){SIZE_COUNT, index->operands[2]};
    k->single[near] |= !is_aligned(index, near);
  } else {
    emit_kernel_copy_need(k, node->operands[1]);
  }
  k->over[k->over_count++] = over;
}

static bool same_size(struct superop_size a, struct superop_size b) {
  return a.what == b.what && a.param == b.param;
}

uint32_t fused_copy_kernels(const struct superop *op) {
  uint32_t count = 1;
  for (uint32_t i = 0; i < op->output_count; i++) {
    bool seen = false;
    for (uint32_t j = 0; j < i; j++)
      seen |= same_size(op->sizes[op->outputs[i]], op->sizes[op->outputs[j]]);
    count += !seen;
  }
  return count;
}

/* The outputs of kernel `number`: all of the size of the number-th size that occurs. */
static void plan_outputs(struct fused_kernel *k, uint32_t number) {
  const struct superop *op = k->op;
  for (uint32_t i = 0; i < op->output_count; i++) {
    const struct superop_size size = op->sizes[op->outputs[i]];
    bool seen = false;
    for (uint32_t j = 0; j < i; j++) seen |= same_size(size, op->sizes[op->outputs[j]]);
    if (!seen) number--;
    if (!seen && number == 0) k->over[k->over_count++] = size;
    if (k->over_count == 0 || !same_size(size, k->over[0])) continue;
    k->written[op->outputs[i]] = true;
    emit_kernel_copy_need(k, op->outputs[i]);
  }
}

static void emit_kernel_copy_add_member(struct fused_kernel *k, enum fused_member_kind kind,
                                        uint32_t v) {
  const enum cvl_elem elem = superop_elem((enum superop_kind)k->op->kinds[v],
                                          k->widths.int_elem, k->widths.float_elem);
  k->members[k->member_count++] = (struct fused_member){
      .kind = (uint8_t)kind, .elem = (uint8_t)elem, .looked_up = k->reported[v], .number = v};
}

void fused_copy_kernel_plan(struct arena *arena, const struct superop *op, uint32_t number,
                            struct widths widths, const struct tuning *tuning,
                            struct fused_kernel *k) {
  fused_kernel_room(arena, op, widths, tuning, k);
  k->copies = true;
  k->checks = number == 0;
  for (uint32_t i = 0; number == 0 && i < op->node_count; i++) {
    if (has_check(op, &op->nodes[i])) need_check(k, &op->nodes[i]);
  }
  if (number > 0) plan_outputs(k, number);
  k->is_empty = k->over_count == 0;
  for (uint32_t v = 0; v < op->param_count; v++) {
    if (!k->read[v]) continue;
    emit_kernel_copy_add_member(
        k, op->kinds[v] == SUPEROP_SEGDES ? MEMBER_SEGMENTS : MEMBER_OPERAND, v);
  }
  for (uint32_t v = op->param_count; v < op->value_count; v++) {
    if (k->written[v]) emit_kernel_copy_add_member(k, MEMBER_WRITTEN, v);
  }
  for (uint32_t i = 0; number == 0 && i < op->node_count; i++) {
    if (!needs_order(op, &op->nodes[i])) continue;
    emit_kernel_copy_add_member(k, MEMBER_UNFIT, 0);
    break;
  }
}

/* ---- values ---- */

/* The element of a value at a position. */
static void emit_kernel_copy_element(const struct fused_kernel *k, uint32_t v, const char *at,
                                     FILE *out) {
  const struct cvl_value *constant = emit_kernel_copy_constant_of(k->op, v);
  if (constant != NULL)
    emit_literal(constant, out);
  else
    fprintf(out, v < k->op->param_count ? "p%u[%s]" : "v%u(%s)", v, at);
}

static void index_value(const struct fused_kernel *k, const struct superop_node *node,
                        FILE *out) {
  const uint32_t d = node->operands[2];
  fprintf(out, "    const int64_t s = p%u.of(i);\n    return WRAP(U(", d);
  emit_kernel_copy_element(k, node->operands[0], "s", out);
  fprintf(out, ") + U(i - p%u.start(s)) * U(", d);
  emit_kernel_copy_element(k, node->operands[1], "s", out);
  fputs("));\n", out);
}

static void gather_value(const struct fused_kernel *k, const struct superop_node *node,
                         FILE *out) {
  const uint32_t far = node->operands[2];
  char at[64];
  fputs("    const int64_t x = ", out);
  emit_kernel_copy_element(k, node->operands[1], "i", out);
  fprintf(out, ", s = p%u.of(i);\n", node->operands[3]);
  if (node->checked) /* what fails is reported elsewhere, and harmless here */
    fprintf(out, "    if ((uint64_t)x >= (uint64_t)p%u.length(s)) return 0;\n", far);
  fputs("    return ", out);
  snprintf(at, sizeof at, "p%u.start(s) + x", far);
  emit_kernel_copy_element(k, node->operands[0], at, out);
  fputs(";\n", out);
}

/* The run s that may hold position i, and x, the position in it. */
static void emit_kernel_copy_find_run(const struct fused_kernel *k,
                                      const struct superop_node *node,
                                      const struct superop_node *index, uint32_t far,
                                      FILE *out) {
  const uint32_t start = index->operands[0], d = index->operands[2];
  if (is_aligned(index, near_of(node))) {
    fprintf(out, "    const int64_t s = p%u.of(i), x = i - p%u.start(s) - (int64_t)", far, far);
  } else if (start < k->op->param_count) {
    fprintf(out, "    const int64_t s = last_run(p%u, p%u.count, i), x = i - (int64_t)", start,
            d);
  } else {
    fputs("    const int64_t s = 0, x = i - (int64_t)", out);
  }
  emit_kernel_copy_element(k, start, "s", out);
  fputs(";\n", out);
}

static void scatter_value(const struct fused_kernel *k, const struct superop_node *node,
                          FILE *out) {
  const struct permute_operands at = permute_operands((enum opcode)node->op);
  const struct superop_node *index = emit_kernel_copy_runs_of(k->op, node->operands[1]);
  const uint32_t d = index->operands[2];
  char within[64];
  emit_kernel_copy_find_run(k, node, index, operand_at(node, at.destination), out);
  fprintf(out, "    if (p%u.count > 0 && x >= 0 && x < p%u.length(s)) return ", d, d);
  snprintf(within, sizeof within, "p%u.start(s) + x", d);
  emit_kernel_copy_element(k, node->operands[0], within, out);
  fputs(";\n    return ", out);
  if (at.defaults != NO_OPERAND)
    emit_kernel_copy_element(k, operand_at(node, at.defaults), "i", out);
  else
    fputs("0", out);
  fputs(";\n", out);
}

static void emit_kernel_copy_value(const struct fused_kernel *k,
                                   const struct superop_node *node, FILE *out) {
  fprintf(out, "  HERE %s v%u(int64_t i) const {\n",
          emit_type_of(k->op, k->widths, node->result), node->result);
  switch ((enum superop_role)node->role) {
  case ROLE_INDEX: index_value(k, node, out); break;
  case ROLE_GATHER: gather_value(k, node, out); break;
  case ROLE_SCATTER: scatter_value(k, node, out); break;
  default: /* DIST */
    fprintf(out, "    const int64_t s = p%u.of(i);\n    return ", node->operands[1]);
    emit_kernel_copy_element(k, node->operands[0], "s", out);
    fputs(";\n", out);
  }
  fputs("  }\n", out);
}

/* ---- checks ---- */

/* Run i of a scatter, all in one segment: within the result, and in front of the next one. */
static void emit_kernel_copy_check_order(const struct fused_kernel *k,
                                         const struct superop_node *index, uint32_t limit,
                                         FILE *out) {
  const uint32_t d = index->operands[2];
  fprintf(out,
          "    if (i < p%u.count) {\n      const int64_t length = p%u.length(i), start = ", d,
          d);
  emit_kernel_copy_element(k, index->operands[0], "i", out);
  fprintf(out,
          ";\n      const int64_t limit = p%u.length(0);\n"
          "      if (length > 0 && (start < 0 || start > limit - length)) fit = false;\n",
          limit);
  if (emit_kernel_copy_constant_of(k->op, index->operands[0]) != NULL) {
    fputs("      if (i > 0) fit = false;\n", out);
  } else {
    fprintf(out, "      if (i + 1 < p%u.count && start + length > ", d);
    emit_kernel_copy_element(k, index->operands[0], "i + 1", out);
    fputs(") fit = false;\n", out);
  }
  fputs("    }\n", out);
}

/* Run i of node `number`: its first element that is out of range is reported. Elements of a
 * run that begins within the range leave it where it ends. */
static void emit_kernel_copy_check_run(const struct fused_kernel *k, uint32_t number,
                                       uint32_t limit, FILE *out) {
  const struct superop_node *node = &k->op->nodes[number];
  const struct superop_node *index = emit_kernel_copy_runs_of(k->op, node->operands[1]);
  const uint32_t d = index->operands[2];
  const char *segment = is_aligned(index, near_of(node)) ? "i" : "0";
  fprintf(out,
          "    if (i < p%u.count) {\n      const int64_t length = p%u.length(i), start = ", d,
          d);
  emit_kernel_copy_element(k, index->operands[0], "i", out);
  fprintf(out,
          ";\n      const int64_t limit = p%u.length(%s);\n"
          "      const int64_t x = start < 0 || start > limit ? start : limit;\n"
          "      if (length > 0 && (start < 0 || start > limit - length))\n"
          "        bad.report(OUTSIDE, p%u.start(i) + (x - start), x, limit, %s, %u);\n"
          "    }\n",
          limit, segment, d, segment, number);
}

/* Element i of node `number`. */
static void check_element(const struct fused_kernel *k, uint32_t number, FILE *out) {
  const struct superop_node *node = &k->op->nodes[number];
  const uint32_t near = near_of(node);
  fprintf(out, "    if (i < p%u.total) {\n      const int64_t x = ", near);
  emit_kernel_copy_element(k, node->operands[1], "i", out);
  fprintf(out,
          ", s = p%u.of(i), limit = p%u.length(s);\n"
          "      if ((uint64_t)x >= (uint64_t)limit) bad.report(OUTSIDE, i, x, limit, s, %u);\n"
          "    }\n",
          near, node->operands[2], number);
}

static void emit_kernel_copy_check(const struct fused_kernel *k, uint32_t number, FILE *out) {
  const struct superop_node *node = &k->op->nodes[number];
  const struct superop_node *index = emit_kernel_copy_runs_of(k->op, node->operands[1]);
  const uint32_t limit =
      node->role == ROLE_GATHER
          ? node->operands[2]
          : operand_at(node, permute_operands((enum opcode)node->op).destination);
  if (needs_order(k->op, node))
    emit_kernel_copy_check_order(k, index, limit, out);
  else if (index != NULL)
    emit_kernel_copy_check_run(k, number, limit, out);
  else
    check_element(k, number, out);
}

static void checks(const struct fused_kernel *k, FILE *out) {
  bool order = false;
  for (uint32_t i = 0; i < k->op->node_count; i++)
    order |= needs_order(k->op, &k->op->nodes[i]);
  fputs("  HERE void operator()(int64_t i) const {\n", out);
  if (order) fputs("    bool fit = true;\n", out);
  for (uint32_t i = 0; i < k->op->node_count; i++) {
    if (has_check(k->op, &k->op->nodes[i])) emit_kernel_copy_check(k, i, out);
  }
  if (order) fputs("    if (!fit) ravel::atomic_max(unfit, (int64_t)1);\n", out);
  fputs("  }\n", out);
}

/* ---- the body ---- */

static const char last_run_text[] = "  /* The last run that starts at position i or before; "
                                    "the first one if there is none. */\n"
                                    "  template <class T>\n"
                                    "  HERE static int64_t last_run(const ravel::operand<T> "
                                    "&starts, int64_t count, int64_t i) {\n"
                                    "    int64_t low = 0, high = count - 1;\n"
                                    "    while (low < high) {\n"
                                    "      const int64_t middle = low + (high - low + 1) / 2;\n"
                                    "      if ((int64_t)starts[middle] <= i) {\n"
                                    "        low = middle;\n"
                                    "      } else {\n"
                                    "        high = middle - 1;\n"
                                    "      }\n"
                                    "    }\n"
                                    "    return low;\n"
                                    "  }\n";

static void emit_kernel_copy_results(const struct fused_kernel *k, FILE *out) {
  fprintf(out, "  enum { unroll = %u };\n  struct results {\n", emit_copy_unrolled(k));
  for (uint32_t v = 0; v < k->op->value_count; v++) {
    if (k->written[v]) fprintf(out, "    %s v%u;\n", emit_type_of(k->op, k->widths, v), v);
  }
  fputs("  };\n  HERE results at(int64_t i) const {\n    results r;\n", out);
  for (uint32_t v = 0; v < k->op->value_count; v++) {
    if (!k->written[v]) continue;
    fprintf(out, "    r.v%u = ", v);
    emit_kernel_copy_element(k, v, "i", out);
    fputs(";\n", out);
  }
  fputs("    return r;\n  }\n  HERE void put(int64_t i, const results &r) const {\n", out);
  for (uint32_t v = 0; v < k->op->value_count; v++) {
    if (k->written[v]) fprintf(out, "    o%u[i] = r.v%u;\n", v, v);
  }
  fputs("  }\n  HERE void operator()(int64_t i) const { put(i, at(i)); }\n", out);
}

void emit_copy_body(const struct fused_kernel *k, FILE *out) {
  fputs(last_run_text, out);
  for (uint32_t i = 0; i < k->op->node_count; i++) {
    if (k->tasks[i] == TASK_INSIDE) emit_kernel_copy_value(k, &k->op->nodes[i], out);
  }
  if (k->checks)
    checks(k, out);
  else
    emit_kernel_copy_results(k, out);
}

unsigned emit_copy_unrolled(const struct fused_kernel *k) {
  return k->checks ? 1 : (unsigned)k->tuning.value[TUNE_CUDA_UNROLL_MOST];
}
