/* emit-kernel.c - the struct that is the body of a superoperator's kernel.
 *
 * At each position all parameters are loaded, then the nodes are evaluated in order, then
 * results are stored: a compiler cannot move a load over a store. Faults of a position are
 * noted and reported once, at the end: that of the first node. What only the report of an
 * ASSERT needs is loaded and evaluated if its flag is false.
 *
 * At a position value V is vV, and the segment under descriptor K is sK; parameter K is pK, a
 * written value oV, the partial results of reduction K, or the totals of a combination, tK; its
 * waiting roots wK, and what it gives gK.
 */
#include "fused-kernels/emit-kernel-body.h"

#include "cvl/trees.h"
#include "fused-kernels/emit-expression.h"
#include "fused-kernels/emit-kernel-copy.h"
#include "fused-kernels/emit-kernel-plan.h"
#include "fused-kernels/emit-kernel-stencil.h"
#include "fused-kernels/fused.h"

/* ---- the struct ---- */

const char *body_type(const struct body *b, uint32_t v) {
  return emit_type_of(b->op, b->k->widths, v);
}

static const struct superop_node *emit_kernel_reduction(const struct body *b,
                                                        const struct fused_member *m) {
  return &b->op->nodes[m->number];
}

/* The function that combines elements for a reduction. */
static void combining(const struct superop_node *node, FILE *out) {
  emit_combination_name(emit_combination(node), out);
}

static void members(const struct body *b) {
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    const struct fused_member *m = &b->k->members[i];
    switch ((enum fused_member_kind)m->kind) {
    case MEMBER_OPERAND:
      fprintf(b->out, "  ravel::operand<%s> p%u;\n", body_type(b, m->number), m->number);
      break;
    case MEMBER_SEGMENTS: fprintf(b->out, "  ravel::segments p%u;\n", m->number); break;
    case MEMBER_UNFIT: fputs("  ravel::ptr<int64_t> unfit;\n", b->out); break;
    case MEMBER_WRITTEN:
      fprintf(b->out, "  ravel::ptr<%s> o%u;\n", body_type(b, m->number), m->number);
      break;
    case MEMBER_PARTIALS:
    case MEMBER_TOTALS:
    case MEMBER_ROOTS:
    case MEMBER_RESULTS:
      fprintf(b->out, "  ravel::ptr<%s> %c%u;\n",
              body_type(b, emit_kernel_reduction(b, m)->result),
              m->kind == MEMBER_ROOTS     ? 'w'
              : m->kind == MEMBER_RESULTS ? 'g'
                                          : 't',
              m->number);
      break;
    case MEMBER_TILES:
    case MEMBER_PACKING:
    case MEMBER_KEPT: packs_member(b, m); break;
    case MEMBER_SCATTER:
    case MEMBER_MOVED: scatters_member(b, m); break;
    case MEMBER_LOOP:
    case MEMBER_CARRIED: loops_member(b, m); break;
    }
  }
  fputs("  ravel::faults bad;\n  int64_t n;\n\n", b->out);
}

/* ---- nodes at a position ---- */

/* Whether the value of a node is used, once it has been checked. */
static bool is_used(const struct body *b, const struct superop_node *node) {
  return b->k->read[node->result] || b->k->written[node->result] ||
         b->k->reported[node->result];
}

static void emit_kernel_map(const struct body *b, const struct superop_node *node, uint32_t k) {
  const struct map_row *row = emit_row(node);
  const char *type = body_type(b, node->result);
  if (node->checked) {
    fprintf(b->out, "%sconst bool ok%u = ", b->indent, k);
    emit_map(row->condition, node, b->out);
    fprintf(b->out, ";\n%sif (!ok%u) fault.note(%s, 0, 0, 0, %u);\n", b->indent, k,
            fault_name(row->fault), k);
    if (!is_used(b, node)) {
      fprintf(b->out, "%s(void)v%u;\n", b->indent, node->operands[0]);
      return;
    }
  }
  fprintf(b->out, "%sconst %s v%u = ", b->indent, type, node->result);
  if (node->checked) fprintf(b->out, "!ok%u ? (%s)0 : ", k, type);
  fprintf(b->out, "(%s)(", type);
  emit_map(row->expression, node, b->out);
  fputs(");\n", b->out);
}

/* The operand of DIST or INDEX: a parameter's element for the segment, or a CONST. */
static void source(const struct body *b, const struct superop_node *node, unsigned i) {
  uint32_t v = node->operands[i];
  char segment[16];
  snprintf(segment, sizeof segment, "s%u", fused_near(node));
  if (v < b->op->param_count)
    body_gather_from(b, v, segment);
  else
    fprintf(b->out, "v%u", v);
}

static void emit_kernel_gather(const struct body *b, const struct superop_node *node,
                               uint32_t k) {
  bool flagged = node->op == OPC_BFPERMUTE;
  bool wanted = is_used(b, node);
  const char *type = body_type(b, node->result), *indent = b->indent;
  char s[16] = "i", flag[32] = "", at[80];
  if (node->role == ROLE_GATHER) snprintf(s, sizeof s, "s%u", fused_near(node));
  if (flagged) snprintf(flag, sizeof flag, "v%u && ", node->operands[2]);
  fprintf(b->out, "%sconst int64_t x%u = v%u;\n", indent, k, node->operands[1]);
  if (node->checked) {
    fprintf(b->out, "%sconst int64_t l%u = p%u.length(%s);\n", indent, k, kernel_far(node), s);
    fprintf(b->out, "%sconst bool ok%u = (uint64_t)x%u < (uint64_t)l%u;\n", indent, k, k, k);
    fprintf(b->out, "%sif (%s!ok%u) fault.note(OUTSIDE, x%u, l%u, %s, %u);\n", indent, flag, k,
            k, k, s, k);
    if (!wanted) return;
  }
  fprintf(b->out, "%sconst %s v%u = ", indent, type, node->result);
  if (node->checked) fprintf(b->out, "!ok%u ? (%s)0 : ", k, type);
  if (flagged) fprintf(b->out, "!v%u ? (%s)0 : ", node->operands[2], type);
  snprintf(at, sizeof at, "p%u.start(%s) + x%u", kernel_far(node), s, k);
  body_gathered(b, k, at);
  fputs(";\n", b->out);
}

void body_evaluate(const struct body *b, uint32_t k) {
  const struct superop_node *node = &b->op->nodes[k];
  uint32_t v = node->result, near = fused_near(node);
  const char *type = node->result_count > 0 ? body_type(b, v) : "";
  switch ((enum superop_role)node->role) {
  case ROLE_CONST:
    fprintf(b->out, "%sconst %s v%u = ", b->indent, type, v);
    emit_literal(&node->constant, b->out);
    fputs(";\n", b->out);
    break;
  case ROLE_SPREAD:
    fprintf(b->out, "%sconst %s v%u = ", b->indent, type, v);
    source(b, node, 0);
    fputs(";\n", b->out);
    break;
  case ROLE_INDEX:
    fprintf(b->out, "%sconst %s v%u = WRAP(U(", b->indent, type, v);
    source(b, node, 0);
    fprintf(b->out, ") + U(i - p%u.start(s%u)) * U(", near, near);
    source(b, node, 1);
    fputs("));\n", b->out);
    break;
  case ROLE_GATHER:
  case ROLE_PICK: emit_kernel_gather(b, node, k); break;
  case ROLE_MAP: emit_kernel_map(b, node, k); break;
  case ROLE_CARRY:
  case ROLE_WHILE:
  case ROLE_NEXT: emit_loop_node(b->op, k, b->k->widths, b->indent, b->out); break;
  case ROLE_COLUMN: /* no kernel has combinations */
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_COMBINE_SCATTER:
  case ROLE_REDUCE:
  case ROLE_SCAN:
  case ROLE_PACK:
  case ROLE_SCATTER:
  case ROLE_ASSERT: break;
  }
}

/* ---- what is reported of an ASSERT ---- */

static void assertion(const struct body *b, uint32_t k) {
  const uint32_t *v = b->op->nodes[k].operands;
  struct body inner = {b->k, b->op, b->out, "      "};
  struct fused_report r;
  fused_schedule_report(&b->k->schedule, k, &r);
  fprintf(b->out, "    if (!v%u) {\n", v[0]);
  for (uint32_t p = 0; p < b->op->param_count; p++) {
    if (r.load[p]) fprintf(b->out, "      const %s v%u = p%u[i];\n", body_type(b, p), p, p);
    if (r.lookup[p] && kernel_looks_up(b->k, p, TASK_REPORTED))
      fprintf(b->out, "      const int64_t s%u = p%u.of(i);\n", p, p);
  }
  for (uint32_t j = 0; j < k; j++) {
    if (r.node[j]) body_evaluate(&inner, j);
  }
  fprintf(b->out, "      fault.note(FALSE_FLAG, v%u, v%u, 0, %u);\n    }\n", v[1], v[2], k);
}

/* ---- all at a position ---- */

/* The results at a position: the values that are written, and those that are reduced. */
static bool emit_kernel_is_given(const struct body *b, uint32_t v) {
  if (b->k->written[v] || packs_give(b->k, v) || scans_give(b->k, v) || scatters_give(b->k, v))
    return true;
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    const struct fused_member *m = &b->k->members[i];
    if ((m->kind == MEMBER_PARTIALS || m->kind == MEMBER_TOTALS) &&
        fused_combined(b->op, emit_kernel_reduction(b, m)) == v)
      return true;
  }
  return false;
}

static void emit_kernel_results(const struct body *b) {
  fputs("  struct results {\n", b->out);
  for (uint32_t v = 0; v < b->op->value_count; v++) {
    if (emit_kernel_is_given(b, v)) fprintf(b->out, "    %s v%u;\n", body_type(b, v), v);
  }
  fputs("  };\n\n", b->out);
}

void body_results(const struct body *b) {
  const char *before = "{";
  for (uint32_t v = 0; v < b->op->value_count; v++) {
    if (!emit_kernel_is_given(b, v)) continue;
    fprintf(b->out, "%sv%u", before, v);
    before = ", ";
  }
  fputs(*before == '{' ? "{}" : "}", b->out);
}

bool body_is_checked(const struct fused_kernel *k) {
  for (uint32_t i = 0; i < k->op->node_count; i++) {
    if (k->tasks[i] == TASK_INSIDE && k->op->nodes[i].checked &&
        !fused_is_consumer(&k->op->nodes[i]))
      return true;
  }
  return false;
}

/* Whether the segment of a slot is passed to its positions. */
static bool hands_segment(const struct body *b) {
  for (uint32_t k = 0; b->k->by_slots && k < b->op->node_count; k++) {
    const struct superop_node *node = &b->op->nodes[k];
    bool evaluated = b->k->tasks[k] == TASK_INSIDE || b->k->tasks[k] == TASK_REPORTED;
    if (evaluated && fused_near(node) == b->op->segments && !fused_is_constant(b->op, node))
      return true;
  }
  return false;
}

bool body_loads(const struct body *b, uint32_t v) {
  return b->k->schedule.loaded[v];
}

void body_load_operands(const struct body *b) {
  const bool plain = body_is_plain(b->k);
  if (plain) body_named_operands(b);
  for (uint32_t v = 0; v < b->op->value_count; v++) {
    if (!kernel_is_operand(b->k, v)) continue;
    if (!plain && body_loads(b, v))
      fprintf(b->out, "    const %s v%u = p%u[i];\n", body_type(b, v), v, v);
    if (b->k->read[v] && b->op->kinds[v] == SUPEROP_SEGDES &&
        kernel_looks_up(b->k, v, TASK_INSIDE))
      fprintf(b->out, "    const int64_t s%u = p%u.of(i);\n", v, v);
  }
}

/* Writes at(), or of(): loads and nodes. */
static void emit_at(const struct body *b) {
  const struct superop *op = b->op;
  bool checked = body_is_checked(b->k);
  fputs(body_is_plain(b->k)
            ? "  template <bool PLAIN> HERE results of(const operands &x, int64_t i"
            : "  HERE results at(int64_t i",
        b->out);
  if (hands_segment(b)) fprintf(b->out, ", int64_t s%u", op->segments);
  if (b->k->block_positions > 0) fputs(", const shared &w", b->out);
  fputs(") const {\n", b->out);
  if (!body_is_plain(b->k)) fputs("    (void)i;\n", b->out);
  if (checked) fputs("    ravel::fault_note fault;\n", b->out);
  body_load_operands(b);
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (b->k->tasks[k] != TASK_INSIDE) continue;
    if (op->nodes[k].role == ROLE_ASSERT)
      assertion(b, k);
    else
      body_evaluate(b, k);
  }
  if (checked) fputs("    fault.report(bad, i);\n", b->out);
  fputs("    return ", b->out);
  body_results(b);
  fputs(";\n  }\n", b->out);
}

/* Writes put(): stores. */
static void emit_kernel_emit_put(const struct body *b) {
  bool any = false;
  for (uint32_t v = 0; v < b->op->value_count; v++) any |= b->k->written[v];
  if (!any) {
    fputs("  HERE void put(int64_t, const results &) const {}\n", b->out);
    return;
  }
  fputs("  HERE void put(int64_t i, const results &r) const {\n", b->out);
  for (uint32_t v = 0; v < b->op->value_count; v++) {
    if (b->k->written[v]) fprintf(b->out, "    o%u[i] = r.v%u;\n", v, v);
  }
  fputs("  }\n", b->out);
}

/* The number of positions for which a thread loads before it stores: with the few thousand
 * threads of a multiprocessor there are then enough loads under way, cuda.unroll-bytes each. 1
 * where it would cost much: with faults, whose report is a store, and with much to compute,
 * which takes registers. */
unsigned body_unrolled(const struct fused_kernel *k) {
  const uint64_t most = k->tuning.value[TUNE_CUDA_UNROLL_MOST];
  const uint64_t most_bytes = k->tuning.value[TUNE_CUDA_UNROLL_BYTES];
  size_t bytes = 0;
  uint32_t nodes = 0;
  struct emit_needs needs = {false};
  emit_add_needs(&needs, k->op);
  for (uint32_t i = 0; i < k->member_count; i++) {
    const struct fused_member *m = &k->members[i];
    if (m->kind == MEMBER_OPERAND) bytes += elem_info((enum cvl_elem)m->elem)->bytes;
  }
  for (uint32_t i = 0; i < k->op->node_count; i++) nodes += k->tasks[i] == TASK_INSIDE;
  if (bytes == 0 || body_is_checked(k) || needs.functions || nodes > KERNEL_LIGHT_NODES ||
      k->loop != SUPEROP_NONE)
    return 1;
  unsigned unrolled = 1;
  while (2 * unrolled <= most && 2 * unrolled * bytes <= most_bytes) unrolled *= 2;
  return unrolled;
}

/* ---- the body ---- */

void body_for_reductions(const struct body *b, const char *format) {
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    const struct fused_member *m = &b->k->members[i];
    if (m->kind == MEMBER_PARTIALS) fprintf(b->out, format, m->number, m->number);
  }
}

void body_segment(const struct body *b, char more[16]) {
  more[0] = '\0';
  if (hands_segment(b)) snprintf(more, 16, ", s%u", b->op->segments);
}

/* Writes what a lane does with the results at a position, in its order. */
void body_lane(const struct body *b) {
  fputs("  struct lane {\n", b->out);
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    const struct fused_member *m = &b->k->members[i];
    if (m->kind != MEMBER_PARTIALS) continue;
    const char *type = body_type(b, emit_kernel_reduction(b, m)->result);
    fprintf(b->out, "    %s a%u = (%s)(%s);\n", type, m->number, type,
            emit_combination(emit_kernel_reduction(b, m))->pad);
  }
  fputs("  };\n  HERE static void take(lane &l, const results &r) {\n", b->out);
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    const struct fused_member *m = &b->k->members[i];
    if (m->kind != MEMBER_PARTIALS) continue;
    fprintf(b->out, "    l.a%u = ", m->number);
    combining(emit_kernel_reduction(b, m), b->out);
    fprintf(b->out, "(l.a%u, r.v%u);\n", m->number, emit_kernel_reduction(b, m)->operands[0]);
  }
  fputs("  }\n\n", b->out);
}

/* Writes the loop of a lane over at most a slot, so that 32 bits count its positions. */
void body_lane_loop(const struct body *b) {
  char more[16];
  body_segment(b, more);
  fputs("      int64_t i = first + t % ravel::WARP;\n", b->out);
  if (body_is_plain(b->k)) {
    fputs("      int32_t whole = plain() ? (int32_t)(last - i) : 0;\n"
          "      ROLLED\n"
          "      for (; whole > (unroll - 1) * ravel::WARP; whole -= unroll * ravel::WARP) {\n",
          b->out);
    body_plain_group(b, "i", "ravel::WARP");
    fputs("        EVERY_TIME\n"
          "        for (int k = 0; k < unroll; k++) {\n"
          "          take(l, r[k]);\n"
          "          put(i + k * ravel::WARP, r[k]);\n"
          "        }\n"
          "        i += unroll * ravel::WARP;\n"
          "      }\n",
          b->out);
  }
  fprintf(b->out,
          "      ROLLED\n"
          "      for (; i < last; i += ravel::WARP) {\n"
          "        const results r = at(i%s);\n"
          "        take(l, r);\n"
          "        put(i, r);\n"
          "      }\n",
          more);
}

void body_declare_reductions(const struct body *b) {
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    const struct fused_member *m = &b->k->members[i];
    if (m->kind != MEMBER_PARTIALS) continue;
    fprintf(b->out, "    typename B::template reg<%s> r%u;\n",
            body_type(b, emit_kernel_reduction(b, m)->result), m->number);
  }
}

void body_fold(const struct body *b) {
  for (uint32_t i = 0; i < b->k->member_count; i++) {
    const struct fused_member *m = &b->k->members[i];
    if (m->kind != MEMBER_PARTIALS) continue;
    const char *type = body_type(b, emit_kernel_reduction(b, m)->result);
    fprintf(b->out, "    block.fold(r%u, [](%s x, %s y) { return ", m->number, type, type);
    combining(emit_kernel_reduction(b, m), b->out);
    fputs("(x, y); });\n", b->out);
  }
  fprintf(b->out,
          "    block.each([&](int t) {\n"
          "      const int64_t slot = block.index() * %u + t / ravel::WARP;\n"
          "      if (t %% ravel::WARP != 0 || slot >= n) return;\n",
          b->k->block_slots);
  body_for_reductions(b, "      t%u[slot] = r%u[t];\n");
  fputs("    });\n", b->out);
}

static void by_slots(const struct body *b) {
  uint32_t s = b->op->segments;
  body_lane(b);
  fprintf(b->out,
          "  enum { threads = %u * ravel::WARP };\n"
          "  struct shared {};\n"
          "  template <class B> HERE void operator()(B &block) const {\n",
          b->k->block_slots);
  body_declare_reductions(b);
  fprintf(b->out,
          "    block.each([&](int t) {\n"
          "      const int64_t slot = block.index() * %u + t / ravel::WARP;\n"
          "      int64_t s%u = 0, first = 0, last = 0;\n"
          "      if (slot < n) {\n"
          "        s%u = ravel::slot_segment(p%u, slot, %d);\n"
          "        const int64_t start = p%u.start(s%u), end = start + p%u.length(s%u);\n"
          "        first = start + (slot - ravel::first_slot(p%u, s%u, %d)) * %d;\n"
          "        last = first + %d < end ? first + %d : end;\n"
          "      }\n"
          "      lane l;\n",
          b->k->block_slots, s, s, s, CVL_REDUCE_BLOCK, s, s, s, s, s, s, CVL_REDUCE_BLOCK,
          CVL_REDUCE_BLOCK, CVL_REDUCE_BLOCK, CVL_REDUCE_BLOCK);
  body_lane_loop(b);
  body_for_reductions(b, "      r%u[t] = l.a%u;\n");
  fputs("    });\n", b->out);
  body_fold(b);
  fputs("  }\n", b->out);
}

static unsigned unrolled(const struct fused_kernel *k) {
  if (k->scan != SUPEROP_NONE) return scans_unrolled(k);
  return k->scatter != SUPEROP_NONE ? scatters_unrolled(k) : body_unrolled(k);
}

/* All but the members. */
static void operators(const struct body *b) {
  body_combinations(b);
  fprintf(b->out, "  enum { unroll = %u };\n", unrolled(b->k));
  if (b->k->block_positions > 0) body_windows(b);
  emit_kernel_results(b);
  if (body_is_plain(b->k)) body_plain(b);
  if (b->k->loop == SUPEROP_NONE) emit_at(b);
  emit_kernel_emit_put(b);
  if (b->k->loop != SUPEROP_NONE)
    body_loop(b);
  else if (b->k->by_slots && b->k->block_slots == 1)
    body_trees(b);
  else if (b->k->by_slots)
    by_slots(b);
  else if (b->k->by_groups)
    body_groups(b);
  else if (b->k->by_packs)
    body_packs(b);
  else if (b->k->scan != SUPEROP_NONE)
    body_scan(b);
  else if (b->k->scatter != SUPEROP_NONE)
    body_scatter(b);
  else if (b->k->block_positions > 0)
    body_stencil(b);
  else if (body_is_plain(b->k))
    body_plain_alone(b);
  else
    fputs("  HERE void operator()(int64_t i) const { put(i, at(i)); }\n", b->out);
}

void fused_emit_kernel_body(const struct fused_kernel *k, const char *name, FILE *out) {
  struct body b = {k, k->op, out, "    "};
  char formula[400];
  if (k->by_groups) emit_kernel_chunks(out);
  if (k->by_packs) emit_kernel_packs(out);
  if (k->scan != SUPEROP_NONE) emit_kernel_scans(out);
  if (k->scatter != SUPEROP_NONE) emit_kernel_scatters(out);
  fprintf(out, "/* %s */\nstruct %s%s {\n", fused_formula(k->op, formula, sizeof formula), name,
          k->scan == SUPEROP_NONE && k->scatter == SUPEROP_NONE ? "" : "_elements");
  if (k->by_packs) packs_declare(&b, name);
  members(&b);
  if (k->copies)
    emit_copy_body(k, out);
  else
    operators(&b);
  fputs("};\n", out);
  if (k->scan != SUPEROP_NONE) scans_around(&b, name);
  if (k->scatter != SUPEROP_NONE) scatter_around(&b, name);
}

static bool in_blocks(const struct fused_kernel *k) {
  return k->by_slots || k->by_groups || k->by_packs || k->scan != SUPEROP_NONE ||
         k->block_positions > 0;
}

unsigned fused_kernel_unroll(const struct fused_kernel *k) {
  if (in_blocks(k)) return 1;
  if (k->scatter != SUPEROP_NONE) return scatters_unrolled(k);
  return k->copies ? emit_copy_unrolled(k) : body_unrolled(k);
}

void fused_emit_kernel_entry(const struct fused_kernel *k, const char *name, FILE *out) {
  const char *entry = in_blocks(k)                  ? "RAVEL_KERNEL_BLOCKS"
                      : fused_kernel_unroll(k) == 1 ? "RAVEL_KERNEL_N"
                      : body_is_plain(k)            ? "RAVEL_KERNEL_PLAIN_MAP"
                                                    : "RAVEL_KERNEL_MAP";
  fprintf(out, "%s(%s)\n", entry, name);
}

void fused_emit_kernel(const struct fused_kernel *k, const char *name, FILE *out) {
  fused_emit_kernel_prelude(&k->op, 1, k->widths, out);
  fused_emit_kernel_body(k, name, out);
  fused_emit_kernel_entry(k, name, out);
}
