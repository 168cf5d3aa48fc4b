/* classify-gathers.c - gathers that read runs in their source, for classify.c.
 *
 * An index that is arithmetic on positions is `start + j` for a while: over such an affine run
 * (cvl-cpu/fused-affine.c) what is gathered is read in its source, and the nodes that only
 * compute such indices are skipped. Within one segment x[i + 3] is one run: contiguous.
 */
#include "fused-kernels/classify.h"

#include <string.h>

#include "fused-kernels/affine-nodes.h"

struct gathers {
  const struct superop *op;
  const struct fused_schedule *s;
  const uint8_t *segments;
  bool *affine;   /* of every node: affine over runs */
  bool *only;     /* a gather by such an index, or in such an index */
  bool *gathered; /* a gather whose runs are read in their source */
  bool *kept;     /* of every value: read by what is executed */
  bool *skips;    /* of every stage */
  bool *in_source, *copied;
};

static bool is_long(const struct gathers *p, uint32_t descriptor) {
  return p->segments[descriptor] >= SEGMENTS_128;
}

/* The node that computes operand i; NULL: a parameter. */
static const struct superop_node *operand(const struct gathers *p,
                                          const struct superop_node *node, unsigned i) {
  const uint32_t k = p->s->definitions[node->operands[i]];
  return k == SUPEROP_NONE ? NULL : &p->op->nodes[k];
}

/* ---- affine indices ---- */

/* In this run: where segments are long. */
static void bind_affine(struct gathers *p) {
  for (uint32_t k = 0; k < p->op->node_count; k++) {
    const struct superop_node *node = &p->op->nodes[k];
    if (!p->only[k] || node->operand_count == 0) continue;
    const uint32_t last = node->operands[node->operand_count - 1U];
    bool affine = node->role == ROLE_MAP || is_long(p, last);
    for (unsigned i = 0; node->role == ROLE_MAP && i < node->operand_count; i++) {
      affine &= p->affine[p->s->definitions[node->operands[i]]];
    }
    if (node->role == ROLE_GATHER) affine &= p->affine[p->s->definitions[node->operands[1]]];
    p->affine[k] = affine;
  }
}

/* ---- contiguous gathers ---- */

/* Whether a value is start + position * stride in the whole vector, with a known stride. */
static bool has_stride(const struct gathers *p, uint32_t value, int64_t *stride) {
  const uint32_t k = p->s->definitions[value];
  if (k == SUPEROP_NONE) return false;
  const struct superop_node *node = &p->op->nodes[k];
  int64_t a = 0, b = 0;
  *stride = 0;
  if (node->role == ROLE_SPREAD) return p->segments[node->operands[1]] == SEGMENTS_ONE;
  if (node->role == ROLE_INDEX) {
    const struct superop_node *by = operand(p, node, 1);
    if (by && by->role == ROLE_CONST) *stride = cvl_int_of(&by->constant);
    return by && by->role == ROLE_CONST && p->segments[node->operands[2]] == SEGMENTS_ONE;
  }
  if (node->op != OPC_ADD && node->op != OPC_SUB) return false;
  if (!has_stride(p, node->operands[0], &a) || !has_stride(p, node->operands[1], &b))
    return false;
  *stride = node->op == OPC_ADD ? a + b : a - b;
  return true;
}

static bool is_contiguous(const struct gathers *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  int64_t stride;
  return node->op == OPC_BPERMUTE && p->op->kinds[node->operands[1]] == SUPEROP_INT &&
         p->segments[node->operands[3]] == SEGMENTS_ONE &&
         has_stride(p, node->operands[1], &stride) && stride == 1;
}

/* Whether a gather by an INDEX copies the run of each segment. A stride that is computed is 1
 * in what NESL becomes. */
static bool copies_runs(const struct gathers *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  const struct superop_node *index = node->op == OPC_BPERMUTE ? operand(p, node, 1) : NULL;
  if (!index || index->role != ROLE_INDEX || superop_has_loops(p->op)) return false;
  const struct superop_node *by = operand(p, index, 1);
  const bool counts = !by || by->role != ROLE_CONST || cvl_int_of(&by->constant) == 1;
  return counts && p->segments[node->operands[3]] >= SEGMENTS_4 &&
         p->segments[index->operands[2]] >= SEGMENTS_4;
}

/* ---- what is skipped ---- */

static bool is_consumer(const struct superop_node *node) {
  return node->role == ROLE_COLUMN || fused_is_consumer(node);
}

static bool function_has(const struct gathers *p, uint32_t k) {
  return p->s->tasks[k] == TASK_INSIDE;
}

/* Whether a value has to be in a buffer or in memory: a result, or of a consumer. */
static bool is_stored(const struct superop *op, uint32_t value) {
  bool stored = false;
  for (uint32_t i = 0; i < op->output_count; i++) stored |= op->outputs[i] == value;
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    for (unsigned i = 0; is_consumer(node) && i < node->operand_count; i++) {
      stored |= node->operands[i] == value;
    }
  }
  return stored;
}

/* Whether a node is a gather whose elements are a result. */
static bool is_gathered_output(const struct superop *op, uint32_t k) {
  bool output = false;
  for (uint32_t i = 0; i < op->output_count; i++)
    output |= op->outputs[i] == op->nodes[k].result;
  return output && op->nodes[k].role == ROLE_GATHER;
}

/* Whether a value may be written from its symbolic form: it is in the buffer of a strip. */
static bool may_fill(const struct gathers *p, uint32_t k) {
  const uint32_t v = p->op->nodes[k].result;
  return !is_stored(p->op, v) && (!function_has(p, k) || p->s->written[v]);
}

/* Whether a node only computes indices, given what later ones keep, or is filled. */
static bool is_skipped(const struct gathers *p, uint32_t k) {
  const struct superop_node *node = &p->op->nodes[k];
  return p->only[k] && p->affine[k] && !p->gathered[k] && !node->checked &&
         (!p->kept[node->result] || may_fill(p, k)) &&
         (!function_has(p, k) || p->skips[p->s->stages[k]]);
}

/* Backwards: what is kept, and so what is skipped. */
static void find_skipped(struct gathers *p) {
  memset(p->kept, 0, p->op->value_count);
  for (uint32_t i = 0; i < p->op->output_count; i++) p->kept[p->op->outputs[i]] = true;
  for (uint32_t k = p->op->node_count; k-- > 0;) {
    const struct superop_node *node = &p->op->nodes[k];
    if (fused_schedule_is_cold(p->s, k)) continue;
    p->in_source[k] = p->gathered[k] || is_skipped(p, k);
    for (unsigned i = 0; i < node->operand_count; i++) {
      if (p->in_source[k] && !(p->gathered[k] && i != 1)) continue;
      if (superop_matters(node, i)) p->kept[node->operands[i]] = true;
    }
  }
}

/* A stage is skipped as a whole or not at all; returns whether one is found that is not. */
static bool keep_stages(struct gathers *p) {
  bool changed = false;
  for (uint32_t k = 0; k < p->op->node_count; k++) {
    const struct superop_node *node = &p->op->nodes[k];
    bool *skips = &p->skips[p->s->stages[k]];
    if (!function_has(p, k) || !*skips) continue;
    const bool written = node->result_count > 0 && p->s->written[node->result];
    if (!node->checked && !(written && !p->in_source[k])) continue;
    *skips = false;
    changed = true;
  }
  return changed;
}

struct fused_gathers fused_gathers(struct arena *arena, const struct fused_schedule *s,
                                   const uint8_t *segments) {
  const struct superop *op = s->op;
  struct gathers p = {.op = op, .s = s, .segments = segments};
  bool *divides;
  bool **lists[] = {&p.affine, &divides, &p.only, &p.gathered, &p.in_source, &p.copied};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    *lists[i] = arena_alloc(arena, op->node_count + 1);
  p.kept = arena_alloc(arena, op->value_count + 1);
  p.skips = arena_alloc(arena, UINT8_MAX + 1);
  memset(p.skips, 1, UINT8_MAX + 1);
  bool *cold = arena_alloc(arena, op->node_count + 1);
  for (uint32_t k = 0; k < op->node_count; k++) cold[k] = fused_schedule_is_cold(s, k);
  fused_affine_nodes_find(op, cold, &(struct fused_affine_nodes){p.affine, divides, p.only});
  bind_affine(&p);
  bool runs = false; /* those of gathers that are contiguous as a whole do not count */
  for (uint32_t k = 0; k < op->node_count; k++) {
    const bool gather = op->nodes[k].role == ROLE_GATHER && !fused_schedule_is_cold(s, k);
    p.gathered[k] = gather && p.only[k] && p.affine[k] && !is_contiguous(&p, k);
    runs |= p.gathered[k];
  }
  do {
    if (runs) find_skipped(&p);
  } while (runs && keep_stages(&p));
  for (uint32_t k = 0; k < op->node_count; k++) {
    p.in_source[k] |= is_contiguous(&p, k);
    p.copied[k] = !p.in_source[k] && copies_runs(&p, k);
    const bool stored = p.gathered[k] && is_stored(op, op->nodes[k].result);
    if (!stored && !(p.in_source[k] && is_gathered_output(op, k))) continue;
    p.in_source[k] = false;
    p.copied[k] = true;
  }
  return (struct fused_gathers){p.in_source, p.copied};
}

/* ---- what is needed ---- */

const bool *fused_needed(struct arena *arena, const struct fused_schedule *s,
                         const struct fused_gathers *gathers) {
  const struct superop *op = s->op;
  bool *needed = arena_alloc(arena, op->value_count + 1);
  for (uint32_t i = 0; i < op->output_count; i++) needed[op->outputs[i]] = true;
  for (uint32_t k = op->node_count; k-- > 0;) {
    const struct superop_node *node = &op->nodes[k];
    const bool inside = s->tasks[k] == TASK_INSIDE;
    const bool always =
        node->checked || inside || node->role == ROLE_CARRY || is_consumer(node);
    if (fused_schedule_is_cold(s, k) || gathers->in_source[k] ||
        (node->role == ROLE_MAP && !inside))
      continue;
    if (!always && !(node->result_count > 0 && needed[node->result])) continue;
    for (unsigned i = 0; i < node->operand_count; i++) {
      const bool reads = !inside || fused_reads_elements(op, k, i);
      if (gathers->copied[k] && i == 1) continue;
      if (reads && superop_matters(node, i)) needed[node->operands[i]] = true;
    }
  }
  return needed;
}
