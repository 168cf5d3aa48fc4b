/* classify.c - see classify.h. */
#include "fused-kernels/classify.h"
#include "fused-kernels/emit-expression.h"

#include <string.h>

/* What is known of the superoperator. */
struct classifier {
  struct arena *arena;
  const struct superop *op;
  const uint8_t *segments;
  bool compiled; /* there are functions: */
  struct fused_functions functions;
  struct fused_gathers gathers;
  const bool *needed; /* of every value */
  struct fused_because *reasons;
  uint32_t count;
};

enum fused_segments fused_segments(uint64_t count, uint64_t total) {
  if (count == 1) return SEGMENTS_ONE;
  const uint64_t average = count > 0 ? total / count : 0;
  return average >= 128  ? SEGMENTS_128
         : average >= 16 ? SEGMENTS_16
         : average >= 4  ? SEGMENTS_4
                         : SEGMENTS_SHORT;
}

const char *fused_reason_text(enum fused_reason reason) {
  static const char *const texts[REASONS] = {
      [REASON_SPREAD] = "DIST over several segments",
      [REASON_INDEX] = "INDEX",
      [REASON_POSITIONS] = "gather by positions",
      [REASON_RUNS] = "gather of runs",
      [REASON_FLAGGED] = "BFPERMUTE",
      [REASON_PICK] = "EXTRACT",
      [REASON_SCAN] = "scan",
      [REASON_PACK] = "pack",
      [REASON_SCATTER] = "scatter",
      [REASON_SCATTER_RUNS] = "scatter of runs",
      [REASON_COMBINE_SCATTER] = "scatter of a combination",
      [REASON_STAGES] = "too many stages",
      [REASON_COPIES] = "copied by runs",
      [REASON_NOTHING] = "no elementwise operations",
  };
  return texts[reason];
}

static void add(struct classifier *c, uint32_t node, enum fused_reason reason) {
  c->reasons[c->count++] = (struct fused_because){node, (uint8_t)reason};
}

/* ---- nodes ---- */

static bool is_scatter_of_runs(const struct superop_node *node, unsigned i) {
  return i == 1 && (node->op == OPC_DPERMUTE || node->op == OPC_FPERMUTE);
}

/* Whether an INDEX is that of scatters only, which go run by run. In what could belong to
 * copies short runs do as well, unless memory is overwritten. */
static bool is_index_of_runs(const struct classifier *c, const struct superop_node *index) {
  bool runs = c->segments[index->operands[2]] >= SEGMENTS_16 || superop_may_copy(c->op);
  for (uint32_t i = 0; i < c->op->output_count; i++) runs &= c->op->outputs[i] != index->result;
  for (uint32_t k = 0; k < c->op->node_count; k++) {
    const struct superop_node *node = &c->op->nodes[k];
    for (unsigned i = 0; i < node->operand_count; i++) {
      runs &= node->operands[i] != index->result || is_scatter_of_runs(node, i);
    }
  }
  return runs;
}

/* A spread value of one segment is the same for all positions. */
static void classify_spread(struct classifier *c, uint32_t k) {
  const struct superop_node *node = &c->op->nodes[k];
  if (c->segments[node->operands[1]] != SEGMENTS_ONE) add(c, k, REASON_SPREAD);
}

/* Functions execute all of them. */
static void classify_gather(struct classifier *c, uint32_t k) {
  const struct superop_node *node = &c->op->nodes[k];
  if (node->op != OPC_BPERMUTE) {
    add(c, k, REASON_FLAGGED);
  } else {
    add(c, k, c->gathers.copied[k] ? REASON_RUNS : REASON_POSITIONS);
  }
}

static bool goes_by_runs(const struct classifier *c, uint32_t k) {
  const struct superop_node *index = emit_definition(c->op, c->op->nodes[k].operands[1]);
  return index && index->role == ROLE_INDEX && is_index_of_runs(c, index);
}

/* A scatter of one segment from some element on: what computes the values writes the result. */
static bool is_concatenation(const struct classifier *c, uint32_t k) {
  const struct superop_node *node = &c->op->nodes[k];
  const struct superop_node *index = emit_definition(c->op, node->operands[1]);
  const struct superop_node *stride = emit_definition(c->op, index->operands[1]);
  const struct superop_node *values = emit_definition(c->op, node->operands[0]);
  return c->compiled && values && c->segments[node->operands[3]] == SEGMENTS_ONE && stride &&
         stride->role == ROLE_CONST && cvl_int_of(&stride->constant) == 1;
}

/* Whether the function of a tile scatters, with a few threads: PERMUTEs, or nothing else. */
static bool scatters_inside(const struct classifier *c) {
  bool permutes = true, only = true;
  for (uint32_t k = 0; k < c->op->node_count; k++) {
    const struct superop_node *node = &c->op->nodes[k];
    if (node->role == ROLE_SCATTER && goes_by_runs(c, k)) return false;
    permutes &= node->role != ROLE_SCATTER || node->op == OPC_PERMUTE;
    only &= node->role < ROLE_COLUMN || node->role == ROLE_SCATTER || node->role == ROLE_ASSERT;
  }
  for (uint32_t i = 0; i < c->op->output_count; i++) {
    const struct superop_node *node = emit_definition(c->op, c->op->outputs[i]);
    only &= node && node->role == ROLE_SCATTER;
  }
  return c->compiled && c->functions.scatters && (permutes || only);
}

static void classify_scatter(struct classifier *c, uint32_t k) {
  const bool runs = goes_by_runs(c, k);
  if (scatters_inside(c) || (runs && is_concatenation(c, k))) return;
  add(c, k, runs ? REASON_SCATTER_RUNS : REASON_SCATTER);
}

static void classify_node(struct classifier *c, uint32_t k) {
  const struct superop_node *node = &c->op->nodes[k];
  const bool needed = node->result_count > 0 && (c->needed[node->result] || node->checked);
  switch ((enum superop_role)node->role) {
  case ROLE_SPREAD:
    if (needed && !c->compiled) classify_spread(c, k);
    break;
  case ROLE_INDEX:
    if (needed && !c->compiled && !is_index_of_runs(c, node)) add(c, k, REASON_INDEX);
    break;
  case ROLE_GATHER:
    if (needed && !c->compiled) classify_gather(c, k);
    break;
  case ROLE_PICK:
    if (needed && !c->compiled) add(c, k, REASON_PICK);
    break;
  case ROLE_SCAN:
    if (!c->compiled || !fused_may_scan(c->op, k)) add(c, k, REASON_SCAN);
    break;
  case ROLE_PACK:
    if (!c->compiled) add(c, k, REASON_PACK);
    break;
  case ROLE_SCATTER: classify_scatter(c, k); break;
  case ROLE_COMBINE_SCATTER: add(c, k, REASON_COMBINE_SCATTER); break;
  case ROLE_MAP:
  case ROLE_ASSERT:
  case ROLE_REDUCE:
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_CONST:
  case ROLE_CARRY:
  case ROLE_WHILE:
  case ROLE_NEXT:
  case ROLE_COLUMN: break;
  }
}

/* ---- the whole ---- */

/* Whether all INDEXes, gathers by data and scatters are of one segment. */
static bool is_flat(const struct superop *op, const uint8_t *segments) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    uint32_t of[2];
    fused_flat_operands(op, k, of);
    for (int i = 0; i < 2; i++) {
      if (of[i] != SUPEROP_NONE && segments[of[i]] != SEGMENTS_ONE) return false;
    }
  }
  return fused_functions_differ(op);
}

struct fused_classified fused_classify(struct arena *arena, const struct superop *op,
                                       const uint8_t *segments) {
  static const struct fused_because copied = {SUPEROP_NONE, REASON_COPIES};
  struct classifier c = {.arena = arena, .op = op, .segments = segments};
  if (op->copies) return (struct fused_classified){EXTENT_EVALUATED, 1, &copied};
  const bool compiled = c.compiled =
      fused_functions_plan(arena, op, is_flat(op, segments), &c.functions);
  const struct fused_schedule *s = &c.functions.schedule;
  c.reasons = arena_alloc(arena, (op->node_count + 1) * sizeof *c.reasons);
  if (!compiled) add(&c, SUPEROP_NONE, s->stage_count > 0 ? REASON_STAGES : REASON_NOTHING);
  c.gathers = fused_gathers(arena, s, segments);
  c.needed = fused_needed(arena, s, &c.gathers);
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (s->apart[k] && !c.gathers.in_source[k]) classify_node(&c, k);
  }
  const enum fused_extent extent = !compiled     ? EXTENT_EVALUATED
                                   : c.count > 0 ? EXTENT_SPLIT
                                                 : EXTENT_WHOLE;
  return (struct fused_classified){extent, c.count, c.reasons};
}

/* ---- text ---- */

char *fused_reasons(const struct fused_classified *c, char *dst, size_t size) {
  size_t used = 0;
  dst[0] = '\0';
  for (uint32_t i = 0; i < c->count && used < size; i++) {
    uint32_t same = 0, before = 0;
    for (uint32_t j = 0; j < c->count; j++) {
      same += c->reasons[j].reason == c->reasons[i].reason;
      before += j < i && c->reasons[j].reason == c->reasons[i].reason;
    }
    if (before > 0) continue;
    char number[16] = "";
    if (same > 1) snprintf(number, sizeof number, "%u ", same);
    used += (size_t)snprintf(dst + used, size - used, "%s%s%s", used > 0 ? ", " : "", number,
                             fused_reason_text(c->reasons[i].reason));
  }
  return dst;
}
