/* gather.c - gathers on one strip of positions.
 *
 * A gather first locates: it checks the indices and adds the starts of their segments, which
 * makes positions in the source. Gathers that differ only in what they read form a *group*: the
 * first of them that a strip executes locates, the others use its positions.
 *
 * The index of a *gather of runs* is an INDEX of stride 1 whose segments are not very short:
 * slices of the source. The index is not written. A run, which is what one segment of the INDEX
 * and one of the gather have in common, is checked as a whole and copied.
 */
#include "cvl-cpu/fused/gather.h"

#include <string.h>

#include "cvl-cpu/fused/affine-gather.h"
#include "cvl-cpu/fused/worker.h"
#include "cvl-cpu/kernels/kernels.h"

/* ---- groups ---- */

void fused_gather_plan(struct cvl_kernel *k) {
  const struct superop *op = k->op;
  const bool loops = superop_has_loops(op); /* positions and indices change between rounds */
  for (uint32_t n = 0; n < op->node_count; n++) {
    const struct superop_node *node = &op->nodes[n];
    struct fused_node *p = &k->nodes[n];
    if (node->role != ROLE_GATHER && node->role != ROLE_PICK) continue;
    k->gathers = true;
    p->group = loops ? SUPEROP_NONE : n;
    for (uint32_t i = 0; i < n && !loops && p->group == n; i++) {
      if (fused_same_index(&op->nodes[i], node)) p->group = i;
    }
    const uint32_t index = k->values[node->operands[1]].node;
    p->may_copy_runs = !loops && p->op == OP_BPERMUTE && index != SUPEROP_NONE &&
                       op->nodes[index].role == ROLE_INDEX;
    if (p->may_copy_runs) p->index_walk = k->walks++;
  }
}

/* ---- runs ---- */

static const struct fused_node *gather_index_of(const struct cvl_kernel *k,
                                                const struct superop_node *node) {
  return &k->nodes[k->values[node->operands[1]].node];
}

static bool counts_by_one(const struct cvl_kernel *k, const struct superop_node *index,
                          const struct fused_node *p) {
  const struct fused_value *stride = &k->values[index->operands[1]];
  const uint64_t count = stride->run.storage == UNIFORM ? 1 : p->run.near.count;
  for (uint64_t i = 0; i < count; i++) {
    if (int_element(p->run.strides, i, stride->bytes) != 1) return false;
  }
  return true;
}

bool fused_copies_runs(const struct cvl_kernel *k, uint32_t gather) {
  const uint64_t least = tuned(k->c, GATHER_RUN); /* shorter runs are gathered as fast */
  const struct fused_node *p = &k->nodes[gather];
  if (!p->may_copy_runs || k->run.n == 0) return false;
  const uint32_t index = k->values[k->op->nodes[gather].operands[1]].node;
  const struct fused_node *x = &k->nodes[index];
  if (p->run.near.count > k->run.n / least || x->run.near.count > k->run.n / least)
    return false;
  if (fused_affine_suits(k, gather)) return false;
  return counts_by_one(k, &k->op->nodes[index], x);
}

/* The index at a position of segment r of the INDEX x, wrapping as INTs of so many bytes do. */
static int64_t index_in(const struct fused_node *x, uint64_t r, uint64_t position,
                        size_t bytes) {
  const uint64_t from = position - segment_start(&x->run.near, r);
  const uint64_t index = (uint64_t)int_element(x->run.values, r, bytes) + from;
  return int_wrapped(index, bytes);
}

int64_t fused_runs_index(const struct cvl_kernel *k, uint32_t gather, uint64_t position) {
  const struct superop_node *node = &k->op->nodes[gather];
  const struct fused_node *x = gather_index_of(k, node);
  return index_in(x, segment_at(&x->run.near, position), position,
                  k->values[node->operands[1]].bytes);
}

/* How many of n indices from `first` on, each one more than the last, are less than the limit.
 */
static uint64_t gather_in_range(int64_t first, uint64_t n, uint64_t limit, size_t bytes) {
  const uint64_t most = bytes == sizeof first ? INT64_MAX : INT32_MAX; /* then they wrap */
  if (limit > most + 1) limit = most + 1;
  if (first < 0 || (uint64_t)first >= limit) return 0;
  return n <= limit - (uint64_t)first ? n : limit - (uint64_t)first;
}

/* Runs begin anywhere in the source, which no hardware foresees. */
static void prefetch_run(const struct fused_node *x, uint64_t r, const char *from, size_t bytes,
                         size_t int_bytes) {
  enum { AHEAD = 8, SECOND_LEVEL = 2 };
  if (r + AHEAD >= x->run.near.count) return;
  const int64_t start = int_element(x->run.values, r + AHEAD, int_bytes);
  __builtin_prefetch((const void *)((uintptr_t)from + (uint64_t)start * bytes), 0,
                     SECOND_LEVEL);
}

uint64_t fused_copy_runs(struct fused_worker *w, uint32_t gather, uint64_t first, uint64_t n,
                         char *out) {
  const struct cvl_kernel *k = w->k;
  const struct superop_node *node = &k->op->nodes[gather];
  const struct fused_node *p = &k->nodes[gather], *x = gather_index_of(k, node);
  const size_t bytes = k->values[node->result].bytes;
  const size_t int_bytes = k->values[node->operands[1]].bytes;
  for (uint64_t position = first; position < first + n;) {
    const uint64_t s = walk_to(&w->walks[p->walk], &p->run.near, position);
    const uint64_t r = walk_to(&w->walks[p->index_walk], &x->run.near, position);
    uint64_t stop = first + n;
    if (segment_start(&p->run.near, s + 1) < stop) stop = segment_start(&p->run.near, s + 1);
    if (segment_start(&x->run.near, r + 1) < stop) stop = segment_start(&x->run.near, r + 1);
    const uint64_t base = segment_start(&p->run.far, s);
    const char *from = (const char *)p->run.values + base * bytes;
    const int64_t index = index_in(x, r, position, int_bytes);
    const uint64_t good = gather_in_range(index, stop - position,
                                          segment_start(&p->run.far, s + 1) - base, int_bytes);
    if (good < stop - position) return position - first + good;
    prefetch_run(x, r, from, bytes, int_bytes);
    memcpy(out, from + (uint64_t)index * bytes, (stop - position) * bytes);
    out += (stop - position) * bytes;
    position = stop;
  }
  return n;
}

/* ---- gathers ---- */

/* Locates the indices of a strip; returns n or the first position, counted from `first`, whose
 * index is out of range. */
static uint64_t gather_locate(struct fused_worker *w, const struct superop_node *node,
                              const struct fused_node *p, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  const struct move_kernels *move = k->c->kernels->move;
  const struct move_int *ints = move_int(move, k->c->int_elem);
  const void *index = fused_at(w, &k->values[node->operands[1]], first);
  struct fused_located *to = w->located;
  to->at = to->room;
  if (p->run.action == ACT_PICK) {
    uint64_t limit[LOCATE_MOST];
    move->bounds(&p->run.far, first, n, to->room, limit);
    return ints->locate(n, index, NULL, limit, to->room);
  }
  struct walk *walk = &w->walks[p->walk];
  const uint8_t *flags =
      p->op == OP_BFPERMUTE ? (const uint8_t *)fused_at(w, &k->values[node->operands[2]], first)
                            : NULL;
  const bool in_one = walk_in_one(walk, first + n);
  if (in_one && walk->segment == 1 && !flags && k->c->int_elem == CVL_I64) {
    /* The indices are positions as they stand. */
    walk->position = first + n;
    const uint64_t limit = segment_start(&p->run.far, 1);
    to->at = (const uint64_t *)index;
    return p->run.bound <= limit ? n : ints->within(n, index, limit);
  }
  if (in_one) return locate_in_one(ints, &p->run.far, walk, first + n, index, flags, to->room);
  return locate_across(move, ints, &p->run.far, walk, first + n, index, flags, to->room);
}

uint64_t fused_gather(struct fused_worker *w, uint32_t number, uint64_t first, uint64_t n,
                      void *out) {
  const struct cvl_kernel *k = w->k;
  const struct superop_node *node = &k->op->nodes[number];
  const struct fused_node *p = &k->nodes[number];
  struct fused_located *located = w->located;
  struct walk *walk = &w->walks[p->walk];
  const bool again = p->group != SUPEROP_NONE && located->group == p->group &&
                     located->first == first && located->n == n;
  if (again) {
    *walk = located->walk;
  } else {
    located->group = SUPEROP_NONE;
    const uint64_t good = gather_locate(w, node, p, first, n);
    if (good < n) return good;
    located->group = p->group;
    located->first = first;
    located->n = n;
    located->walk = *walk;
  }
  const struct move_width *width =
      move_width(k->c->kernels->move, k->values[node->result].bytes);
  (p->op == OP_BFPERMUTE ? width->gather_some : width->gather)(n, p->run.values, located->at,
                                                               out);
  return n;
}
