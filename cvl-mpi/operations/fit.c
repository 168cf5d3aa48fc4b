/* fit.c - superoperators in the form that each rank executes on its block. A gather gets its
 * own parameters for the source and its descriptor, of which ranks have different elements and
 * segments. INDEX may get one for its start.
 */
#include "cvl-mpi/operations/fit.h"

#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/values/memory.h"

/* ---- the needs of parameters ---- */

static bool set_need(struct fit *f, uint32_t value, enum need need, uint32_t segdes) {
  if (value >= f->op.param_count) return true;
  struct fit_param *p = &f->params[value];
  const bool fits = p->need == NEED_NOTHING || (p->need == need && p->segdes == segdes);
  p->need = (uint8_t)need;
  p->segdes = segdes;
  return fits;
}

static bool is_local(enum superop_role role) {
  switch (role) {
  case ROLE_PICK:
  case ROLE_SCATTER:
  case ROLE_COMBINE_SCATTER: return false;
  default: return true;
  }
}

static bool positions_count(const struct fit *f, const struct superop_node *node) {
  switch ((enum superop_role)node->role) {
  case ROLE_INDEX: return f->params[node->operands[0]].need != NEED_START;
  case ROLE_REDUCE:
  case ROLE_SCAN:
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN: return true;
  default: return false;
  }
}

static bool note_operand(struct fit *f, const struct superop_node *node, uint32_t i,
                         char access) {
  const uint32_t v = node->operands[i], last = node->operands[node->operand_count - 1];
  switch (access) {
  case 'd': return set_need(f, v, NEED_DOMAIN, SUPEROP_NONE);
  case 'p': return true; /* own_params sets its need */
  case 'c':
    return (v < f->op.param_count && f->params[v].need == NEED_START) ||
           set_need(f, v, NEED_SEGMENTS, last);
  default: break;
  }
  if (node->role == ROLE_GATHER && i + 2 == node->operand_count)
    return true; /* own_params sets it */
  if (!set_need(f, v, NEED_SEGDES, SUPEROP_NONE)) return false;
  f->params[v].counts |= positions_count(f, node);
  return true;
}

static bool note_node(struct fit *f, const struct superop_node *node) {
  enum superop_role role;
  const char *access = superop_access(node->op, &role);
  bool good = is_local(role);
  for (uint32_t i = 0; good && i < node->operand_count; i++)
    good = note_operand(f, node, i, access[i]);
  return good;
}

/* ---- own parameters ---- */

/* The nodes are copied. Own parameters have the numbers after those of `from`, and results
 * move up behind them when all are known. The mask `own` of a node says which of its operands
 * are own parameters. */
struct own {
  struct fit *f;
  const struct superop *from;
  uint8_t *kinds;
  uint32_t count; /* the number of own parameters */
  bool starts;    /* INDEX has its own starts */
};

static bool same_param(const struct fit_param *a, const struct fit_param *b) {
  return a->need == b->need && a->segdes == b->segdes && a->origin == b->origin &&
         a->stride == b->stride && a->window == b->window &&
         a->constant.as.i64 == b->constant.as.i64 && a->constant.form == b->constant.form;
}

/* Returns the number of an own parameter like this one; adds it if there is none. */
static uint32_t own_param(struct own *o, uint8_t kind, struct fit_param p) {
  struct fit_param *own = o->f->params + o->from->param_count;
  uint32_t k = 0;
  while (k < o->count && !same_param(&own[k], &p)) k++;
  if (k == o->count) {
    own[o->count++] = p;
    o->kinds[o->from->param_count + k] = kind;
  }
  return o->from->param_count + k;
}

static struct fit_param fit_param_of(enum need need, uint32_t segdes, uint32_t origin) {
  return (struct fit_param){
      .need = (uint8_t)need, .segdes = segdes, .origin = origin, .stride = SUPEROP_NONE};
}

const struct cvl_value *fit_constant(const struct superop *op, uint32_t value) {
  for (uint32_t k = 0; value >= op->param_count && k < op->node_count; k++) {
    if (op->nodes[k].role == ROLE_CONST && op->nodes[k].result == value)
      return &op->nodes[k].constant;
  }
  return NULL;
}

/* Returns the start of an INDEX of constants, if it counts by ones from 0 or more; else -1. */
static int64_t counts_from(const struct superop *op, const struct superop_node *node) {
  const struct cvl_value *start = fit_constant(op, node->operands[0]),
                         *stride = fit_constant(op, node->operands[1]);
  const bool fits = node->role == ROLE_INDEX && start && stride && cvl_int_of(stride) == 1;
  return fits ? cvl_int_of(start) : -1;
}

static bool fit_is_output(const struct superop *op, uint32_t value) {
  for (uint32_t i = 0; i < op->output_count; i++) {
    if (op->outputs[i] == value) return true;
  }
  return false;
}

/* Returns whether INDEX is only used as the index of gathers from windows, without flags. */
static bool is_window(const struct superop *op, const struct superop_node *index) {
  if (counts_from(op, index) < 0 || fit_is_output(op, index->result)) return false;
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    for (uint32_t i = 0; i < node->operand_count; i++) {
      if (node->operands[i] != index->result) continue;
      if (node->role != ROLE_GATHER || node->operand_count != 4 || i != 1) return false;
    }
  }
  return true;
}

/* Returns the INDEX of a gather from a window; NULL if it gathers from elsewhere. */
static const struct superop_node *fit_window_of(const struct own *o,
                                                const struct superop_node *gather) {
  for (uint32_t k = 0; o->starts && k < o->from->node_count; k++) {
    const struct superop_node *node = &o->from->nodes[k];
    if (node->role == ROLE_INDEX && node->result == gather->operands[1])
      return is_window(o->from, node) ? node : NULL;
  }
  return NULL;
}

static void widen(struct own *o, uint32_t far, int64_t start) {
  struct fit_param *p = &o->f->params[far];
  if (start > p->high) p->high = start;
  if (start < o->f->low) o->f->low = start;
}

static void own_start(struct own *o, const struct superop_node *from, uint32_t *operands) {
  const struct cvl_value *constant = fit_constant(o->from, from->operands[0]);
  struct fit_param p = fit_param_of(NEED_START, from->operands[2], from->operands[0]);
  p.stride = from->operands[1];
  if (constant) {
    p.origin = SUPEROP_NONE;
    p.constant = *constant;
    p.window = is_window(o->from, from);
  }
  operands[0] = own_param(o, SUPEROP_INT, p);
}

static void own_source(struct own *o, const struct superop_node *from, uint32_t *operands) {
  const uint32_t n = from->operand_count, near = from->operands[n - 1];
  const struct superop_node *window = fit_window_of(o, from);
  struct fit_param p = fit_param_of(NEED_FAR, near, from->operands[n - 2]);
  p.window = window != NULL;
  const uint32_t far = own_param(o, SUPEROP_SEGDES, p);
  if (window) widen(o, far, counts_from(o->from, window));
  operands[0] = own_param(o, o->from->kinds[from->operands[0]],
                          fit_param_of(NEED_SOURCE, far, from->operands[0]));
  operands[n - 2] = far;
}

static bool fit_is_by_segment(const struct superop_node *node, uint32_t i) {
  return (node->role == ROLE_INDEX || node->role == ROLE_SPREAD) && i + 1 < node->operand_count;
}

/* Returns whether a parameter has one element for each segment of several descriptors. */
static bool is_for_several(const struct superop *op, uint32_t value) {
  uint32_t segdes = SUPEROP_NONE;
  for (uint32_t k = 0; value < op->param_count && k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    for (uint32_t i = 0; i < node->operand_count; i++) {
      const uint32_t last = node->operands[node->operand_count - 1];
      if (node->operands[i] != value || !fit_is_by_segment(node, i)) continue;
      if (segdes != SUPEROP_NONE && segdes != last) return true;
      segdes = last;
    }
  }
  return false;
}

/* Gives a node its own parameters for operands that belong to segments of several descriptors:
 * a rank has different segments of each. Returns a bit for each such operand. */
static uint32_t own_segments(struct own *o, const struct superop_node *from,
                             uint32_t *operands) {
  uint32_t own = 0;
  for (uint32_t i = 0; i < from->operand_count; i++) {
    const uint32_t value = from->operands[i], last = from->operands[from->operand_count - 1];
    if (!fit_is_by_segment(from, i) || !is_for_several(o->from, value)) continue;
    operands[i] = own_param(o, o->from->kinds[value], fit_param_of(NEED_SEGMENTS, last, value));
    own |= 1U << i;
  }
  return own;
}

/* Finds the operands of a node; results among them are not renumbered yet. Returns a bit for
 * each operand that is an own parameter. */
static uint32_t own_operands(struct own *o, const struct superop_node *from,
                             uint32_t *operands) {
  memcpy(operands, from->operands, sizeof from->operands);
  const uint32_t own = own_segments(o, from, operands);
  if (from->role == ROLE_INDEX && o->starts) {
    own_start(o, from, operands);
    return own | 1;
  }
  if (from->role != ROLE_GATHER) return own;
  own_source(o, from, operands);
  return 1U | 1U << (from->operand_count - 2);
}

static void copy_node(struct own *o, uint32_t k, uint32_t *own) {
  struct superop_node *to = &o->f->op.nodes[k];
  *to = o->from->nodes[k];
  own[k] = own_operands(o, &o->from->nodes[k], to->operands);
}

static uint32_t fit_moved(const struct own *o, uint32_t value) {
  return value < o->from->param_count ? value : value + o->count;
}

static void fit_renumber(const struct own *o, const uint32_t *own, uint32_t *outputs) {
  const struct superop *from = o->from;
  for (uint32_t k = 0; k < from->node_count; k++) {
    uint32_t *operands = o->f->op.nodes[k].operands;
    for (uint32_t i = 0; i < from->nodes[k].operand_count; i++) {
      if (!(own[k] >> i & 1)) operands[i] = fit_moved(o, operands[i]);
    }
  }
  for (uint32_t i = 0; i < from->output_count; i++) outputs[i] = fit_moved(o, from->outputs[i]);
  for (uint32_t i = 0; i < o->count; i++) {
    struct fit_param *p = &o->f->params[from->param_count + i];
    if (p->need == NEED_START) p->stride = fit_moved(o, p->stride);
  }
}

/* Sets f->op to `from` with own parameters. */
static void own_params(struct cvl_context *c, struct fit *f, const struct superop *from,
                       bool starts) {
  const uint32_t most = from->param_count + 2 * from->node_count;
  uint32_t *own = arena_alloc(&f->arena, (from->node_count + 1) * sizeof *own);
  uint32_t *outputs = arena_alloc(&f->arena, (from->output_count + 1) * sizeof *outputs);
  struct own o = {
      .f = f, .from = from, .kinds = arena_alloc(&f->arena, most + 1), .starts = starts};
  f->low = INT64_MAX;
  f->op = (struct superop){.number = from->number,
                           .node_count = from->node_count,
                           .output_count = from->output_count,
                           .params = o.kinds,
                           .outputs = outputs};
  f->op.nodes = arena_alloc(&f->arena, (from->node_count + 1) * sizeof *f->op.nodes);
  f->params = mpi_alloc(c, (most + 1) * sizeof *f->params);
  memcpy(o.kinds, from->params, from->param_count);
  for (uint32_t i = 0; i < from->param_count; i++)
    f->params[i] = fit_param_of(NEED_NOTHING, SUPEROP_NONE, i);
  for (uint32_t k = 0; k < from->node_count; k++) copy_node(&o, k, own);
  f->op.param_count = from->param_count + o.count;
  fit_renumber(&o, own, outputs);
}

/* ---- the form ---- */

static bool note_nodes(struct fit *f) {
  for (uint32_t k = 0; k < f->op.node_count; k++) {
    if (!note_node(f, &f->op.nodes[k])) return false;
  }
  return true;
}

struct fit *fit_new(struct cvl_context *c, const struct superop *from, bool starts) {
  const char *why;
  uint32_t node;
  if (from->copies) return NULL;
  struct fit *f = mpi_alloc(c, sizeof *f);
  heap_init(&f->heap, 0);
  arena_init(&f->arena, &f->heap);
  own_params(c, f, from, starts);
  const bool made = superop_complete(&f->arena, &f->op, &why, &node);
  if (!made && !why) mpi_no_memory(c);
  if (made && note_nodes(f)) return f;
  fit_free(f);
  return NULL;
}

void fit_free(struct fit *f) {
  if (!f) return;
  arena_free(&f->arena);
  free(f->params);
  free(f);
}
