/* bind.c - start of a run: how each value of the superoperator is stored.
 *
 * Much of a superoperator needs no work once the operands are known. A value spread over one
 * segment is uniform, and so is what is computed from uniform values only: it is computed once,
 * for one strip. A value spread over segments of length 1 is the vector itself. So is a gather
 * whose index is position + constant (x[i + 3]: stencils, moving averages), from some element
 * on. Steps whose results are not used any more are not executed.
 */
#include "cvl-cpu/fused/bind.h"

#include <string.h>

#include "cvl-cpu/combine/combinations.h"
#include "cvl-cpu/fused/affine-gather.h"
#include "cvl-cpu/fused/compiled.h"
#include "cvl-cpu/fused/concatenate.h"
#include "cvl-cpu/fused/gather.h"
#include "cvl-cpu/fused/strip.h"
#include "cvl-cpu/kernels/kernels.h"

uint64_t fused_size(const struct superop_size *size, const struct cvl_value *operands) {
  switch (size->what) {
  case SIZE_LEN: return value_length(&operands[size->param]);
  case SIZE_TOTAL: return value_segments(&operands[size->param]).total;
  case SIZE_COUNT: return value_segments(&operands[size->param]).count;
  default: return 1;
  }
}

static void bind_in_memory(struct fused_value *v, const void *base) {
  v->run.storage = IN_MEMORY;
  v->run.step = v->bytes;
  v->run.base = (char *)base; /* only read from here */
}

static void make_uniform(struct fused_value *v, const void *one) {
  v->run.storage = UNIFORM;
  v->run.step = 0;
  v->run.one = one;
}

static void in_buffer(struct fused_value *v) {
  v->run.storage = v->buffer;
  v->run.step = v->bytes;
}

static void bind_spread(struct cvl_kernel *k, const struct superop_node *node,
                        struct fused_node *p, const struct cvl_value *operands) {
  const struct fused_value *from = &k->values[node->operands[0]];
  struct fused_value *v = &k->values[node->result];
  p->run.near = value_segments(&operands[node->operands[1]]);
  p->run.values = from->run.storage == UNIFORM ? from->run.one : from->run.base;
  if (p->run.near.count == 1 && v->elem == k->c->int_elem) {
    v->run.is_affine = true;
    v->run.start = (uint64_t)int_element(p->run.values, 0, v->bytes);
    v->run.stride = 0;
  }
  if (p->run.near.count == 1 && v->buffer == IN_STRIP) {
    make_uniform(v, p->run.values);
    v->run.base = p->repeated; /* or, for now, NULL */
  } else if (!p->run.near.offsets && p->run.near.equal == 1) {
    bind_in_memory(v, p->run.values);
  } else {
    p->run.action = ACT_DIST;
  }
}

static void bind_index(struct cvl_kernel *k, const struct superop_node *node,
                       struct fused_node *p, const struct cvl_value *operands) {
  const struct fused_value *start = &k->values[node->operands[0]];
  const struct fused_value *stride = &k->values[node->operands[1]];
  struct fused_value *v = &k->values[node->result];
  p->run.near = value_segments(&operands[node->operands[2]]);
  p->run.values = start->run.storage == UNIFORM ? start->run.one : start->run.base;
  p->run.strides = stride->run.storage == UNIFORM ? stride->run.one : stride->run.base;
  p->run.action = ACT_INDEX;
  if (p->run.near.count == 1) {
    v->run.is_affine = true;
    v->run.start = (uint64_t)int_element(p->run.values, 0, v->bytes);
    v->run.stride = (uint64_t)int_element(p->run.strides, 0, v->bytes);
  }
}

static void bind_map(struct cvl_kernel *k, const struct superop_node *node,
                     struct fused_node *p) {
  const struct fused_value *a = &k->values[node->operands[0]];
  const struct fused_value *b = &k->values[node->operands[node->operand_count - 1]];
  struct fused_value *v = &k->values[node->result];
  p->run.action = ACT_MAP;
  bool same = v->buffer == IN_STRIP;
  for (unsigned i = 0; i < node->operand_count; i++) {
    same &= k->values[node->operands[i]].run.storage == UNIFORM;
  }
  if (same) make_uniform(v, NULL);
  if ((p->op == OP_ADD || p->op == OP_SUB) && a->run.is_affine && b->run.is_affine) {
    v->run.is_affine = true;
    v->run.start = p->op == OP_ADD ? a->run.start + b->run.start : a->run.start - b->run.start;
    v->run.stride =
        p->op == OP_ADD ? a->run.stride + b->run.stride : a->run.stride - b->run.stride;
  }
}

bool fused_shared(const struct cvl_kernel *k, const struct cvl_value *operands, uint32_t i) {
  for (uint32_t j = 0; j < k->op->param_count; j++) {
    if (j != i && operands[j].form == CVL_VECTOR &&
        operands[j].as.vector == operands[i].as.vector) {
      return true;
    }
  }
  return false;
}

bool fused_counts_up(const struct fused_value *index, uint64_t n, uint64_t limit,
                     uint64_t *start) {
  const int64_t first = int_wrapped(index->run.start, index->bytes);
  const uint64_t most = index->bytes == 8 ? INT64_MAX : INT32_MAX;
  if (int_wrapped(index->run.stride, index->bytes) != 1 || first < 0) return false;
  if (limit > most) limit = most;
  *start = (uint64_t)first;
  return *start < limit && n <= limit - *start;
}

/* The first gathered element, if all are contiguous in memory; else NULL. */
static const char *contiguous(const struct cvl_kernel *k, const struct fused_node *p,
                              const struct fused_value *index, size_t bytes) {
  uint64_t start;
  if (p->op != OP_BPERMUTE || p->run.near.count != 1 || !index->run.is_affine ||
      k->run.n == 0 || !fused_counts_up(index, k->run.n, p->run.far.total, &start)) {
    return NULL;
  }
  return (const char *)p->run.values + start * bytes;
}

static void bind_gather(struct cvl_kernel *k, uint32_t n, const struct cvl_value *operands) {
  const struct superop_node *node = &k->op->nodes[n];
  struct fused_node *p = &k->nodes[n];
  struct fused_value *v = &k->values[node->result];
  p->run.values = k->values[node->operands[0]].run.base;
  if (node->role == ROLE_PICK) {
    p->run.far = value_segments(&operands[node->operands[2]]);
    p->run.action = ACT_PICK;
    return;
  }
  p->run.far = value_segments(&operands[node->operands[node->operand_count - 2]]);
  p->run.near = value_segments(&operands[node->operands[node->operand_count - 1]]);
  p->run.action = ACT_GATHER;
  p->run.bound = k->values[node->operands[1]].run.below;
  const char *first = contiguous(k, p, &k->values[node->operands[1]], v->bytes);
  if (first) {
    p->run.action = ACT_NONE;
    bind_in_memory(v, first);
  } else if (fused_copies_runs(k, n)) {
    p->run.action = ACT_GATHER_RUNS;
  }
}

/* An ASSERT of 0 <= index < limit with a uniform limit compares the index directly; the flags
 * are not computed. A gather by this index need not check it again if the vector is long
 * enough. */
static void bind_assert(struct cvl_kernel *k, struct fused_node *p) {
  p->run.action = ACT_ASSERT;
  if (p->index == SUPEROP_NONE) return;
  const struct fused_value *least = &k->values[p->least], *limit = &k->values[p->limit];
  if (!least->run.is_affine || least->run.stride != 0 || !limit->run.is_affine ||
      limit->run.stride != 0)
    return;
  if (int_wrapped(least->run.start, least->bytes) != 0) return;
  const int64_t most = int_wrapped(limit->run.start, limit->bytes);
  p->run.action = ACT_WITHIN;
  p->run.bound = most > 0 ? (uint64_t)most : 0;
  struct fused_value *index = &k->values[p->index];
  if (p->run.bound < index->run.below) index->run.below = p->run.bound;
}

/* Finds the indices of DPERMUTEs, and of FPERMUTEs with all flags T, that are a few long runs
 * and need not be written. */
static void bind_find_runs(struct cvl_kernel *k, const struct cvl_value *operands) {
  /* With shorter runs writing the index is faster. */
  const uint64_t least = tuned(k->c, SCATTER_RUN);
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    const struct superop_node *node = &k->op->nodes[n];
    if (node->role == ROLE_INDEX && k->values[node->result].as_runs) {
      struct fused_value *v = &k->values[node->result];
      v->run.in_runs = !v->run.unwanted && k->nodes[n].run.near.count <= k->run.n / least;
    } else if (node->role == ROLE_SCATTER && k->values[node->operands[1]].run.in_runs) {
      const struct segments near = value_segments(&operands[node->operands[3]]);
      const struct fused_value *flags = &k->values[node->operands[2]];
      const bool all = node->op == OPC_DPERMUTE || fused_is_true(flags);
      if (!all || near.count > k->run.n / least)
        k->values[node->operands[1]].run.in_runs = false;
    }
  }
  for (uint32_t v = k->op->param_count; v < k->op->value_count; v++) {
    if (k->values[v].run.in_runs) k->values[v].run.needed = false;
  }
}

/* Finds the steps to execute: those whose results are read, or that may fail. */
static void find_live_steps(struct cvl_kernel *k) {
  uint32_t live = k->step_count;
  for (uint32_t i = k->step_count; i-- > 0;) {
    const uint32_t n = k->steps[i];
    const struct superop_node *node = &k->op->nodes[n];
    if (node->role == ROLE_ASSERT) {
      struct fused_value *flags = &k->values[node->operands[0]];
      if (!node->checked) continue;
      if (k->nodes[n].run.action == ACT_WITHIN) {
        k->values[k->nodes[n].index].run.needed = true;
        k->run.live_steps[--live] = n;
        continue;
      }
      flags->run.needed = true;
      k->run.live_steps[--live] = n;
      continue;
    }
    struct fused_value *v = &k->values[node->result];
    if (node->checked) v->run.needed = true;
    if (!v->run.needed || k->nodes[n].run.action == ACT_NONE) continue;
    for (unsigned j = 0; j < node->operand_count; j++) {
      struct fused_value *from = &k->values[node->operands[j]];
      if (j == 1 && k->nodes[n].run.action == ACT_GATHER_RUNS)
        continue; /* not written for it */
      from->run.needed = true;
    }
    if (v->run.storage == UNIFORM) continue;
    k->run.live_steps[--live] = n;
  }
  k->run.live_from = live;
}

void fused_bind(struct cvl_kernel *k, const struct cvl_value *operands) {
  const struct superop *op = k->op;
  for (uint32_t i = 0; i < op->value_count; i++) {
    struct fused_value *v = &k->values[i];
    v->run.needed = v->is_output || v->consumed;
    v->run.is_affine = v->run.streaming = v->run.released = v->run.in_runs = false;
    v->run.below = UINT64_MAX;
    v->run.dropped = 0;
    v->run.unwanted = false;
    v->run.concatenated_by = SUPEROP_NONE;
    v->run.before = 0;
    v->run.whole.form = CVL_NOTHING;
    if (i < op->param_count) {
      if (op->kinds[i] != SUPEROP_SEGDES && op->uses[i])
        bind_in_memory(v, value_data(&operands[i]));
    } else {
      in_buffer(v);
    }
  }
  for (uint32_t n = 0; n < op->node_count; n++) {
    const struct superop_node *node = &op->nodes[n];
    struct fused_node *p = &k->nodes[n];
    p->run.action = ACT_NONE;
    switch ((enum superop_role)node->role) {
    case ROLE_CONST: make_uniform(&k->values[node->result], &node->constant.as); break;
    case ROLE_SPREAD: bind_spread(k, node, p, operands); break;
    case ROLE_INDEX: bind_index(k, node, p, operands); break;
    case ROLE_MAP:
      if (!p->combined) bind_map(k, node, p);
      break;
    case ROLE_GATHER:
    case ROLE_PICK: bind_gather(k, n, operands); break;
    case ROLE_CARRY:
    case ROLE_NEXT:
      p->run.action = ACT_LOOP;
      k->values[node->result].run.needed = true;
      break;
    case ROLE_COLUMN:
    case ROLE_COMBINE_REDUCE:
    case ROLE_COMBINE_SCAN:
    case ROLE_COMBINE_SCATTER:
    case ROLE_WHILE:
    case ROLE_REDUCE:
    case ROLE_SCAN:
    case ROLE_PACK: break;
    case ROLE_SCATTER: fused_concatenate_bind(k, n, operands); break;
    case ROLE_ASSERT: bind_assert(k, p); break;
    }
  }
  if (k->has_runs) bind_find_runs(k, operands);
  fused_combine_drop_uniform(k);
  fused_combine_bind(k, operands);
  find_live_steps(k);
  fused_affine_bind(k);
}

/* ---- uniform values ---- */

static bool wants_room(const struct cvl_kernel *k, uint32_t step) {
  const struct fused_value *v = fused_result(k, step);
  return v && v->run.needed && v->run.storage == UNIFORM && !k->nodes[step].repeated;
}

static size_t bind_room_of(const struct cvl_kernel *k, const struct fused_value *v) {
  const uint64_t length = k->run.n < k->run.strip ? k->run.n : k->run.strip;
  return (length * v->bytes + VECTOR_SLACK - 1) / VECTOR_SLACK * VECTOR_SLACK;
}

size_t fused_room_bytes(const struct cvl_kernel *k) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < k->step_count; i++) {
    if (wants_room(k, k->steps[i])) {
      bytes += bind_room_of(k, &k->values[k->op->nodes[k->steps[i]].result]);
    }
  }
  return bytes;
}

void fused_repeat(void *to, const void *one, size_t bytes, uint64_t n) {
  uint64_t x8;
  uint32_t x4;
  if (bytes == sizeof x8) {
    memcpy(&x8, one, sizeof x8);
    for (uint64_t i = 0; i < n; i++) ((uint64_t *)to)[i] = x8;
  } else if (bytes == sizeof x4) {
    memcpy(&x4, one, sizeof x4);
    for (uint64_t i = 0; i < n; i++) ((uint32_t *)to)[i] = x4;
  } else {
    memset(to, *(const unsigned char *)one, n);
  }
}

/* The element that a step spreads, if it is a constant; else NULL. */
static const void *bind_constant_of(const struct cvl_kernel *k, uint32_t step) {
  const struct superop_node *node = &k->op->nodes[step];
  if (node->role != ROLE_SPREAD) return NULL;
  const uint32_t from = k->values[node->operands[0]].node;
  if (from == SUPEROP_NONE || k->op->nodes[from].role != ROLE_CONST) return NULL;
  return &k->op->nodes[from].constant.as;
}

static size_t constant_bytes(const struct cvl_kernel *k, uint32_t step) {
  return FUSED_STRIP * k->values[k->op->nodes[step].result].bytes;
}

bool fused_repeat_constants(struct cvl_kernel *k) {
  for (uint32_t i = 0; i < k->step_count; i++) {
    if (bind_constant_of(k, k->steps[i])) k->constants_bytes += constant_bytes(k, k->steps[i]);
  }
  if (k->constants_bytes == 0) return true;
  char *room = k->constants = memory_take(k->c->memory, k->constants_bytes);
  for (uint32_t i = 0; room && i < k->step_count; i++) {
    const uint32_t n = k->steps[i];
    if (!bind_constant_of(k, n)) continue;
    fused_repeat(room, bind_constant_of(k, n), k->values[k->op->nodes[n].result].bytes,
                 FUSED_STRIP);
    k->nodes[n].repeated = room;
    room += constant_bytes(k, n);
  }
  return room != NULL;
}

void fused_fill_room(struct cvl_kernel *k, char *room) {
  const uint64_t length = k->run.n < k->run.strip ? k->run.n : k->run.strip;
  for (uint32_t i = 0; i < k->step_count && length > 0; i++) {
    if (!wants_room(k, k->steps[i])) continue;
    const struct superop_node *node = &k->op->nodes[k->steps[i]];
    struct fused_value *v = &k->values[node->result];
    v->run.base = room;
    room += bind_room_of(k, v);
    if (node->role == ROLE_SPREAD) {
      fused_repeat(v->run.base, v->run.one, v->bytes, length);
      continue;
    }
    const void *in[MAX_OPERANDS];
    for (unsigned j = 0; j < node->operand_count; j++) {
      in[j] = k->values[node->operands[j]].run.base;
    }
    if (k->nodes[k->steps[i]].entry->run(length, in, v->run.base) < length) {
      fused_note(k, k->steps[i], 0);
      return; /* later values will not be used */
    }
  }
}
