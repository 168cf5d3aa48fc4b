/* loop.c - the loops of a superoperator on one strip.
 *
 * All positions of a strip iterate together: each step of the body is executed for all of them,
 * with carried values in buffers of their own. When a position finishes, its results are
 * written at once; later iterations compute values for it that are ignored. When a quarter of
 * the positions have finished, the others are compacted, so that a few long iterations do not
 * cost as much as a whole strip.
 */
#include "cvl-cpu/fused/loop.h"

#include <string.h>

#include "cvl-cpu/fused/strip.h"
#include "cvl-cpu/fused/worker.h"
#include "cvl-cpu/kernels/kernels.h"

enum { WORD = 8, ROUNDS_UNASKED = 64 };

struct loop {
  struct fused_worker *w;
  struct superop_loop at;
  uint64_t first;                   /* position of the strip */
  uint64_t m;                       /* positions in the buffers */
  uint8_t live[FUSED_STRIP + WORD]; /* whether each has not finished yet; 0 behind them */
  uint32_t position[FUSED_STRIP + VECTOR_SLACK / sizeof(uint32_t)]; /* in the strip */
};

static const struct fused_value *loop_value_of(const struct loop *l, uint32_t value) {
  return &l->w->k->values[value];
}

static const struct superop_node *loop_node_of(const struct loop *l, uint32_t k) {
  return &l->w->k->op->nodes[k];
}

static void cpu_loop_begin(struct loop *l, uint64_t n) {
  for (uint32_t i = 0; i < l->at.count; i++) {
    const struct superop_node *carry = loop_node_of(l, l->at.first + i);
    const struct fused_value *v = loop_value_of(l, carry->result);
    memcpy(fused_at(l->w, v, l->first),
           fused_at(l->w, loop_value_of(l, carry->operands[0]), l->first), n * v->bytes);
  }
  l->m = n;
  memset(l->live, 0, sizeof l->live);
  memset(l->live, 1, n);
  for (uint64_t i = 0; i < n; i++) l->position[i] = (uint32_t)i;
}

/* to[position[at[i]]] = from[at[i]] */
#define PUT(suffix, type)                                                                      \
  static void put_##suffix(const struct loop *l, const uint16_t *at, uint64_t n,               \
                           const void *from, void *to) {                                       \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      ((type *)to)[l->position[at[i]]] = ((const type *)from)[at[i]];                          \
    }                                                                                          \
  }
PUT(8, uint8_t)
PUT(32, uint32_t)
PUT(64, uint64_t)

/* Writes the results of n positions. */
static void put_results(const struct loop *l, const uint16_t *at, uint64_t n) {
  for (uint32_t i = 0; i < l->at.count; i++) {
    const struct superop_node *next = loop_node_of(l, l->at.next + i);
    const struct fused_value *v = loop_value_of(l, next->operands[0]);
    const void *from = fused_at(l->w, v, l->first);
    void *to = fused_at(l->w, loop_value_of(l, next->result), l->first);
    (v->bytes == 8 ? put_64 : v->bytes == 4 ? put_32 : put_8)(l, at, n, from, to);
  }
}

/* The positions whose flag is false finish; returns how many are left. */
static uint64_t loop_finish(struct loop *l) {
  const uint64_t each = UINT64_C(0x0101010101010101);
  const uint32_t flag = loop_node_of(l, l->at.test)->operands[0];
  const char *flags = fused_at(l->w, loop_value_of(l, flag), l->first);
  uint16_t finished[FUSED_STRIP];
  uint64_t finished_count = 0, left = 0;
  for (uint64_t i = 0; i < l->m; i += WORD) {
    uint64_t was, stays;
    memcpy(&was, l->live + i, WORD);
    memcpy(&stays, flags + i, WORD);
    stays &= was;
    memcpy(l->live + i, &stays, WORD);
    left += (stays * each) >> 56; /* the sum of bytes that are 0 or 1 */
    for (uint64_t j = 0; was != stays && j < WORD; j++) {
      finished[finished_count] = (uint16_t)(i + j);
      finished_count += (was >> (8 * j) & 1) & ~(stays >> (8 * j)) & 1;
    }
  }
  if (finished_count > 0) put_results(l, finished, finished_count);
  return left;
}

static void loop_copy(const struct loop *l, void *to, const struct fused_value *v) {
  memcpy(to, fused_at(l->w, v, l->first), l->m * v->bytes);
}

/* Replaces all carried values at once. A next value that is another carried value is first
 * saved in its spare buffer. One that was computed in the carried value's buffer needs no copy.
 */
static void loop_advance(const struct loop *l) {
  for (uint32_t i = 0; i < l->at.count; i++) {
    const struct superop_node *next = loop_node_of(l, l->at.next + i);
    const struct fused_value *result = loop_value_of(l, next->result);
    if (result->has_spare) {
      loop_copy(l, (char *)l->w + result->run.spare, loop_value_of(l, next->operands[1]));
    }
  }
  for (uint32_t i = 0; i < l->at.count; i++) {
    const struct superop_node *next = loop_node_of(l, l->at.next + i);
    const struct fused_value *result = loop_value_of(l, next->result);
    const struct fused_value *to = loop_value_of(l, next->operands[0]);
    const struct fused_value *from = loop_value_of(l, next->operands[1]);
    char *at = fused_at(l->w, to, l->first);
    if (result->has_spare) {
      memcpy(at, (char *)l->w + result->run.spare, l->m * to->bytes);
    } else if (fused_at(l->w, from, l->first) != at) {
      loop_copy(l, at, from);
    }
  }
}

/* Compacts the buffers to the positions that have not finished. */
static void compact(struct loop *l, uint64_t left) {
  const struct move_kernels *move = l->w->k->c->kernels->move;
  uint64_t masks[FUSED_STRIP / 64];
  move->masks(l->m, l->live, masks);
  for (uint32_t i = 0; i < l->at.count; i++) {
    const struct fused_value *v = loop_value_of(l, loop_node_of(l, l->at.first + i)->result);
    char *x = fused_at(l->w, v, l->first);
    move_width(move, v->bytes)->compress(l->m, x, masks, x);
  }
  move_width(move, sizeof *l->position)->compress(l->m, l->position, masks, l->position);
  memset(l->live, 0, l->m);
  memset(l->live, 1, left);
  l->m = left;
}

/* Executes the steps of nodes before `end`, from step i on; returns the step behind them. */
static uint32_t steps(const struct loop *l, uint32_t i, uint32_t end) {
  const struct cvl_kernel *k = l->w->k;
  for (; k->run.live_steps[i] < end; i++) {
    fused_step(l->w, k->run.live_steps[i], l->first, l->m);
  }
  return i;
}

/* Whether the iterations must end: because a stop is requested, which is recorded, or because a
 * fault has been found at an earlier node. */
static bool loop_stopped(const struct loop *l) {
  struct cvl_kernel *k = l->w->k;
  if (atomic_load_explicit(&k->run.failed, memory_order_relaxed) <= l->at.test) return true;
  const struct cvl_stop *stop = &k->c->stop;
  if (!stop->asks || !stop->asks(stop->with)) return false;
  fused_note(k, l->at.test, l->first);
  return true;
}

bool fused_loop(struct fused_worker *w, uint32_t *step, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  struct loop l = {
      .w = w, .at = superop_loop_at(k->op, k->run.live_steps[*step]), .first = first};
  const uint32_t begins = *step + l.at.count;
  uint32_t goes_on = begins;
  cpu_loop_begin(&l, n);
  for (uint64_t round = 1;; round++) {
    goes_on = steps(&l, begins, l.at.test);
    const uint64_t left = loop_finish(&l);
    if (left == 0) break;
    if (round % ROUNDS_UNASKED == 0 && loop_stopped(&l)) return false;
    steps(&l, goes_on, l.at.next);
    loop_advance(&l);
    if (left <= l.m - l.m / 4 && left < l.m) compact(&l, left);
  }
  while (k->run.live_steps[*step] < l.at.last) ++*step;
  return true;
}
