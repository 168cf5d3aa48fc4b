/* emit-block.c - one C function for the maps of a stage: loads, expressions, stores, in one
 * loop that compilers vectorise. Division is not vectorised, as in all kernels. Sine, cosine
 * and tangent are first computed by their vector forms; if an argument was large, all are
 * computed again. For ASSERTs the loop only finds out whether any flag was false; then a second
 * loop finds out which.
 */
#include "cvl/trees.h"
#include "fused-kernels/emit-expression.h"
#include "fused-kernels/fused.h"

struct block {
  const struct superop *op;
  const struct fused_functions *plan;
  struct widths widths;
  uint32_t stage;
  FILE *out;
};

static bool is_in_stage(const struct block *b, uint32_t k) {
  return fused_schedule_executes(&b->plan->schedule, b->stage, k);
}

static int float_bits(const struct block *b) {
  return b->widths.float_elem == CVL_F64 ? 64 : 32;
}

/* Whether the stage needs the elements of value v. */
static bool is_needed(const struct block *b, uint32_t v) {
  return fused_schedule_reads(&b->plan->schedule, b->stage, v);
}

/* Whether it does and does not compute them. */
static bool emit_block_is_read(const struct block *b, uint32_t v) {
  return is_needed(b, v) && !fused_schedule_computes(&b->plan->schedule, b->stage, v);
}

static bool is_written(const struct block *b, uint32_t v) {
  return b->plan->schedule.written[v];
}

/* Whether something is looked for again where it was wrong: flags of ASSERTs, indices. */
static bool has_asserts(const struct block *b) {
  for (uint32_t k = 0; k < b->op->node_count; k++) {
    const struct superop_node *node = &b->op->nodes[k];
    if (is_in_stage(b, k) && node->checked &&
        (node->role == ROLE_ASSERT || node->role == ROLE_GATHER)) {
      return true;
    }
  }
  return false;
}

static bool has_reduced(const struct block *b) {
  for (uint32_t k = 0; k < b->op->node_count; k++) {
    if (is_in_stage(b, k) && emit_in_two_passes(&b->op->nodes[k])) return true;
  }
  return false;
}

/* Declares what a gather reads; for several segments, also where they begin, and their
 * lengths. */
static void declare_gather(const struct block *b, uint32_t v) {
  fprintf(b->out,
          "  const struct fused_gathered *gathered%u = in[%u];\n"
          "  const %s *from%u = gathered%u->values;\n",
          v, v, emit_type_of(b->op, b->widths, v), v, v);
  if (b->plan->flat) {
    fprintf(b->out, "  const uint64_t count%u = gathered%u->count;\n  (void)count%u;\n", v, v,
            v);
  } else {
    fprintf(b->out,
            "  const uint64_t *base%u = gathered%u->base, *limit%u = gathered%u->limit;\n"
            "  (void)limit%u;\n",
            v, v, v, v, v);
  }
}

static void declarations(const struct block *b) {
  for (uint32_t v = 0; v < b->op->value_count; v++) {
    const char *type = emit_type_of(b->op, b->widths, v);
    if (!emit_block_is_read(b, v)) continue;
    const struct cvl_value *c = emit_spread_constant(b->op, v);
    if (c != NULL) {
      fprintf(b->out, "  const %s v%u = ", type, v);
      emit_literal(c, b->out);
      fputs(";\n", b->out);
    } else {
      fprintf(b->out, "  const %s *restrict in%u = in[%u];\n", type, v, v);
    }
  }
  for (uint32_t v = 0; v < b->op->value_count; v++) {
    const struct superop_node *definition = emit_definition(b->op, v);
    if (definition == NULL || !is_in_stage(b, (uint32_t)(definition - b->op->nodes))) continue;
    if (definition->role == ROLE_GATHER) declare_gather(b, v);
    if (definition->role == ROLE_INDEX) {
      fprintf(b->out, "  const struct fused_progression *index%u = in[%u];\n", v, v);
      fprintf(b->out,
              "  const uint64_t start%u = index%u->start, stride%u = index%u->stride;\n", v, v,
              v, v);
    }
    if (is_written(b, v)) {
      fprintf(b->out, "  %s *restrict out%u = out[%u];\n", emit_type_of(b->op, b->widths, v), v,
              v);
    }
  }
}

/* What a loop over the positions computes: */
enum pass {
  PASS_NEAR,  /* everything, with sin and the like right for arguments that are not large */
  PASS_WHOLE, /* everything, but not which flags of ASSERTs are false */
  PASS_FLAGS  /* everything, also that */
};

/* vV = the element that a gather reads where a flag is T; 0 where it is F. The very first one
 * is read where that, or the index, is wrong: by masks, of which gcc 12 makes vectors. Where a
 * load is behind a condition it makes none. */
static void emit_block_flagged(const struct block *b, uint32_t k, enum pass pass,
                               const char *base, const char *limit) {
  const struct superop_node *node = &b->op->nodes[k];
  const uint32_t v = node->result, index = node->operands[1];
  const char *type = emit_type_of(b->op, b->widths, v);
  fprintf(b->out, "    const INT on%u = -(INT)v%u;\n", k, node->operands[2]);
  if (node->checked)
    fprintf(b->out, "    const INT ok%u = -(INT)((uint64_t)v%u < %s) | ~on%u;\n", k, index,
            limit, k);
  if (node->checked && pass == PASS_FLAGS)
    fprintf(b->out, "    fault%u = !ok%u && i < fault%u ? i : fault%u;\n", k, k, k, k);
  if (node->checked && pass != PASS_FLAGS)
    fprintf(b->out, "    wrong |= (uint64_t)~ok%u;\n", k);
  fprintf(b->out, "    const %s v%u = on%u ? from%u[(%s(uint64_t)v%u) & (uint64_t)(on%u", type,
          v, k, v, base, index, k);
  if (node->checked) fprintf(b->out, " & ok%u", k);
  fprintf(b->out, ")] : (%s)0;\n", type);
}

/* vV = the element that a gather reads; the very first one where the index is wrong. */
static void emit_block_gathered(const struct block *b, uint32_t k, enum pass pass) {
  const struct superop_node *node = &b->op->nodes[k];
  const uint32_t v = node->result, index = node->operands[1];
  const char *type = emit_type_of(b->op, b->widths, v);
  char base[32] = "", limit[32];
  if (!b->plan->flat) snprintf(base, sizeof base, "base%u[i] + ", v);
  snprintf(limit, sizeof limit, b->plan->flat ? "count%u" : "limit%u[i]", v);
  if (node->op == OPC_BFPERMUTE) {
    emit_block_flagged(b, k, pass, base, limit);
    return;
  }
  if (!node->checked) {
    fprintf(b->out, "    const %s v%u = from%u[%s(uint64_t)v%u];\n", type, v, v, base, index);
    return;
  }
  fprintf(b->out, "    const int ok%u = (uint64_t)v%u < %s;\n", k, index, limit);
  if (pass == PASS_FLAGS) {
    fprintf(b->out, "    fault%u = !ok%u && i < fault%u ? i : fault%u;\n", k, k, k, k);
  } else {
    fprintf(b->out, "    wrong |= (uint64_t)!ok%u;\n", k);
  }
  fprintf(b->out, "    const %s v%u = from%u[ok%u ? %s(uint64_t)v%u : 0];\n", type, v, v, k,
          base, index);
}

/* vV = start + stride * i, wrapping. */
static void emit_block_progression(const struct block *b, uint32_t k) {
  const struct superop_node *node = &b->op->nodes[k];
  const uint32_t v = node->result;
  const struct superop_node *stride = emit_definition(b->op, node->operands[1]);
  fprintf(b->out, "    const %s v%u = (%s)(start%u + i * ", emit_type_of(b->op, b->widths, v),
          v, emit_type_of(b->op, b->widths, v), v);
  if (stride != NULL && stride->role == ROLE_CONST) {
    fputs("(uint64_t)", b->out);
    emit_literal(&stride->constant, b->out);
    fprintf(b->out, ");\n    (void)stride%u;\n", v);
  } else {
    fprintf(b->out, "stride%u);\n", v);
  }
}

/* vV = the node's expression; an ASSERT has none. */
static void assignment(const struct block *b, uint32_t k, enum pass pass) {
  const struct superop_node *node = &b->op->nodes[k];
  const bool near = pass == PASS_NEAR;
  if (node->role == ROLE_ASSERT) {
    const uint32_t v = node->operands[0];
    if (pass == PASS_FLAGS) {
      fprintf(b->out, "    fault%u = !v%u && i < fault%u ? i : fault%u;\n", k, v, k, k);
    } else {
      fprintf(b->out, "    wrong |= (uint64_t)!v%u;\n", v);
    }
    return;
  }
  if (node->role == ROLE_GATHER) {
    emit_block_gathered(b, k, pass);
    return;
  }
  if (node->role == ROLE_INDEX) {
    emit_block_progression(b, k);
    return;
  }
  const struct map_row *row = emit_row(node);
  const char *type = emit_variable_type_of(b->op, b->widths, node->result);
  if (node->checked) {
    fprintf(b->out, "    const int ok%u = ", k);
    emit_map(row->condition, node, b->out);
    fprintf(b->out, ";\n    fault%u = !ok%u && i < fault%u ? i : fault%u;\n", k, k, k, k);
  }
  fprintf(b->out, "    const %s v%u = ", type, node->result);
  if (node->checked) fprintf(b->out, "!ok%u ? (%s)0 : ", k, type);
  if (near && emit_in_two_passes(node)) {
    const char *name = node->op == OPC_SIN ? "sin" : node->op == OPC_COS ? "cos" : "tan";
    const int bits = float_bits(b);
    fprintf(b->out, "e_near_%s_f%d(v%u);\n", name, bits, node->operands[0]);
    fprintf(b->out, "    far |= (uint%d_t)e_is_far_f%d(v%u);\n", bits, bits, node->operands[0]);
    return;
  }
  fprintf(b->out, "(%s)(", type);
  emit_map(row->expression, node, b->out);
  fputs(");\n", b->out);
}

/* Writes the body of the loop, for position i. */
static void emit_block_body(const struct block *b, enum pass pass) {
  for (uint32_t v = 0; v < b->op->value_count; v++) {
    if (emit_block_is_read(b, v) && emit_spread_constant(b->op, v) == NULL) {
      fprintf(b->out, "    const %s v%u = in%u[i];\n", emit_type_of(b->op, b->widths, v), v, v);
    }
  }
  for (uint32_t k = 0; k < b->op->node_count; k++) {
    uint32_t v = b->op->nodes[k].result;
    if (!is_in_stage(b, k)) continue;
    assignment(b, k, pass);
    if (b->op->nodes[k].result_count == 0) continue;
    if (is_written(b, v))
      fprintf(b->out, "    out%u[i] = v%u;\n", v, v);
    else if (!is_needed(b, v))
      fprintf(b->out, "    (void)v%u;\n", v);
  }
}

/* Compilers ignore the restrict of many pointers, and then do not vectorise: EMIT_IVDEP says
 * once more that no output overlaps anything. */
static void emit_block_loop(const struct block *b, enum pass pass, const char *condition) {
  fprintf(b->out,
          "  for (uint64_t row = 0; %srow < n; row += ROW) {\n"
          "    const uint64_t end = n - row < ROW ? n : row + ROW;\n",
          condition);
  if (pass != PASS_FLAGS) fputs("    if (ahead) tile_prefetch(ahead, row, end);\n", b->out);
  fputs(EMIT_IVDEP "  for (uint64_t i = row; i < end; i++) {\n", b->out);
  emit_block_body(b, pass);
  fputs("  }\n  }\n", b->out);
}

static void emit_block_emit(const struct block *b, const char *name) {
  const struct superop *op = b->op;
  FILE *out = b->out;
  char formula[400];
  fprintf(out, "/* Of %s: stage %u. */\n", fused_formula(op, formula, sizeof formula),
          b->stage);
  for (int declared = 0; declared < 2; declared++) {
    fprintf(out,
            "void %s(uint64_t n, const void *const *in, void *const *out, uint64_t *fault,\n"
            "    const struct tile_ahead *ahead)%s",
            name, declared ? " {\n" : ";\n");
  }
  fputs("  enum { ROW = 128 };\n", out);
  declarations(b);
  fputs("  (void)in, (void)out, (void)fault, (void)ahead;\n", out);
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (is_in_stage(b, k) && op->nodes[k].checked) {
      fprintf(out, "  uint64_t fault%u = UINT64_MAX;\n", k);
    }
  }
  bool twice = has_reduced(b), asserts = has_asserts(b);
  if (twice) fprintf(out, "  uint%d_t far = 0;\n", float_bits(b));
  if (asserts) fputs("  uint64_t wrong = 0;\n", out);
  emit_block_loop(b, twice ? PASS_NEAR : PASS_WHOLE, "");
  if (twice) emit_block_loop(b, PASS_WHOLE, "far != 0 && ");
  if (asserts) emit_block_loop(b, PASS_FLAGS, "wrong != 0 && ");
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (is_in_stage(b, k) && op->nodes[k].checked) {
      fprintf(out, "  fault[%u] = fault%u;\n", k, k);
    }
  }
  fputs("}\n\n", out);
}

void fused_emit_block(const struct fused_functions *f, struct widths widths, uint32_t stage,
                      const char *name, FILE *out) {
  const struct block b = {f->schedule.op, f, widths, stage, out};
  emit_block_emit(&b, name);
}

extern const char *const fused_tile_text[], *const fused_loops_text[],
                                                *const fused_range_call_text[];

void fused_emit_block_prelude(struct widths widths, FILE *out) {
  emit_prelude(widths, out);
  fprintf(out, "#define INT   %s\n#define FLOAT %s\n\n", emit_type(widths, SUPEROP_INT),
          emit_type(widths, SUPEROP_FLOAT));
  const char *const *const texts[] = {fused_tile_text, fused_range_call_text, fused_loops_text};
  for (unsigned i = 0; i < 3; i++) {
    for (const char *const *line = texts[i]; *line; line++) fputs(*line, out);
  }
}
