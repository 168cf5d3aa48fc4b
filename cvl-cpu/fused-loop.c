/* fused-loop.c - the loops of a superoperator on one strip.
 *
 * A strip goes through the rounds together: each step of the body on all of its places, carried
 * values in buffers of their own. A place that leaves has its results written at once; what is
 * computed for it afterwards is of no use, and does no harm. When a quarter of the places are
 * of that sort, the others are moved together, so that a few long places do not cost a strip.
 */
#include <string.h>

#include "cvl-cpu/fused-plan.h"
#include "cvl-cpu/kernels.h"

enum { WORD = 8, ROUNDS_UNASKED = 64 };

struct loop {
  struct fused_worker *w;
  struct superop_loop at;
  uint64_t first;                   /* place of the strip */
  uint64_t m;                       /* places in the buffers */
  uint8_t live[FUSED_STRIP + WORD]; /* of these: not left yet; 0 behind them */
  uint32_t place[FUSED_STRIP + VECTOR_SLACK / sizeof(uint32_t)]; /* in the strip */
};

static const struct fused_value *value_of(const struct loop *l, uint32_t value) {
  return &l->w->k->values[value];
}

static const struct superop_node *node_of(const struct loop *l, uint32_t k) {
  return &l->w->k->op->nodes[k];
}

static void begin(struct loop *l, uint64_t n) {
  for (uint32_t i = 0; i < l->at.count; i++) {
    const struct superop_node *carry = node_of(l, l->at.first + i);
    const struct fused_value *v = value_of(l, carry->result);
    memcpy(fused_at(l->w, v, l->first),
           fused_at(l->w, value_of(l, carry->operands[0]), l->first), n * v->bytes);
  }
  l->m = n;
  memset(l->live, 0, sizeof l->live);
  memset(l->live, 1, n);
  for (uint64_t i = 0; i < n; i++) l->place[i] = (uint32_t)i;
}

/* to[place[at[i]]] = from[at[i]] */
#define PUT(suffix, type)                                                                      \
  static void put_##suffix(const struct loop *l, const uint16_t *at, uint64_t n,               \
                           const void *from, void *to) {                                       \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      ((type *)to)[l->place[at[i]]] = ((const type *)from)[at[i]];                             \
    }                                                                                          \
  }
PUT(8, uint8_t)
PUT(32, uint32_t)
PUT(64, uint64_t)

/* Writes the results of n places. */
static void put_results(const struct loop *l, const uint16_t *at, uint64_t n) {
  for (uint32_t i = 0; i < l->at.count; i++) {
    const struct superop_node *next = node_of(l, l->at.next + i);
    const struct fused_value *v = value_of(l, next->operands[0]);
    const void *from = fused_at(l->w, v, l->first);
    void *to = fused_at(l->w, value_of(l, next->result), l->first);
    (v->bytes == 8 ? put_64 : v->bytes == 4 ? put_32 : put_8)(l, at, n, from, to);
  }
}

/* The places whose flag is false leave; how many are left. */
static uint64_t leave(struct loop *l) {
  const uint64_t each = UINT64_C(0x0101010101010101);
  const uint32_t flag = node_of(l, l->at.test)->operands[0];
  const char *flags = fused_at(l->w, value_of(l, flag), l->first);
  uint16_t gone[FUSED_STRIP];
  uint64_t gone_count = 0, left = 0;
  for (uint64_t i = 0; i < l->m; i += WORD) {
    uint64_t was, stays;
    memcpy(&was, l->live + i, WORD);
    memcpy(&stays, flags + i, WORD);
    stays &= was;
    memcpy(l->live + i, &stays, WORD);
    left += (stays * each) >> 56; /* the sum of bytes that are 0 or 1 */
    for (uint64_t j = 0; was != stays && j < WORD; j++) {
      gone[gone_count] = (uint16_t)(i + j);
      gone_count += (was >> (8 * j) & 1) & ~(stays >> (8 * j)) & 1;
    }
  }
  if (gone_count > 0) put_results(l, gone, gone_count);
  return left;
}

static void copy(const struct loop *l, void *to, const struct fused_value *v) {
  memcpy(to, fused_at(l->w, v, l->first), l->m * v->bytes);
}

/* All carried values change at once: those that become what another one is first go to a place
 * of their own. What is computed where it is carried needs no copy. */
static void advance(const struct loop *l) {
  for (uint32_t i = 0; i < l->at.count; i++) {
    const struct superop_node *next = node_of(l, l->at.next + i);
    const struct fused_value *result = value_of(l, next->result);
    if (result->has_spare) {
      copy(l, (char *)l->w + result->spare, value_of(l, next->operands[1]));
    }
  }
  for (uint32_t i = 0; i < l->at.count; i++) {
    const struct superop_node *next = node_of(l, l->at.next + i);
    const struct fused_value *result = value_of(l, next->result);
    const struct fused_value *to = value_of(l, next->operands[0]);
    const struct fused_value *from = value_of(l, next->operands[1]);
    char *at = fused_at(l->w, to, l->first);
    if (result->has_spare) {
      memcpy(at, (char *)l->w + result->spare, l->m * to->bytes);
    } else if (fused_at(l->w, from, l->first) != at) {
      copy(l, at, from);
    }
  }
}

/* Moves those that are left together. */
static void gather_live(struct loop *l, uint64_t left) {
  const struct move_kernels *move = l->w->k->c->kernels->move;
  uint64_t masks[FUSED_STRIP / 64];
  move->masks(l->m, l->live, masks);
  for (uint32_t i = 0; i < l->at.count; i++) {
    const struct fused_value *v = value_of(l, node_of(l, l->at.first + i)->result);
    char *x = fused_at(l->w, v, l->first);
    move_width(move, v->bytes)->compress(l->m, x, masks, x);
  }
  move_width(move, sizeof *l->place)->compress(l->m, l->place, masks, l->place);
  memset(l->live, 0, l->m);
  memset(l->live, 1, left);
  l->m = left;
}

/* The steps of nodes before `end`, from step i on; the step behind them. */
static uint32_t steps(const struct loop *l, uint32_t i, uint32_t end) {
  const struct cvl_kernel *k = l->w->k;
  for (; k->live_steps[i] < end; i++) {
    fused_step(l->w, k->live_steps[i], l->first, l->m);
  }
  return i;
}

/* Whether the rounds are to end: because somebody asks, which is noted, or since a fault has
 * been found that comes before what is done here. */
static bool stopped(const struct loop *l) {
  struct cvl_kernel *k = l->w->k;
  if (atomic_load_explicit(&k->failed, memory_order_relaxed) <= l->at.test) return true;
  const struct cvl_stop *stop = &k->c->stop;
  if (!stop->asks || !stop->asks(stop->with)) return false;
  fused_note(k, l->at.test, l->first);
  return true;
}

bool fused_loop(struct fused_worker *w, uint32_t *step, uint64_t first, uint64_t n) {
  const struct cvl_kernel *k = w->k;
  struct loop l = {.w = w, .at = superop_loop_at(k->op, k->live_steps[*step]), .first = first};
  const uint32_t begins = *step + l.at.count;
  uint32_t goes_on = begins;
  begin(&l, n);
  for (uint64_t round = 1;; round++) {
    goes_on = steps(&l, begins, l.at.test);
    const uint64_t left = leave(&l);
    if (left == 0) break;
    if (round % ROUNDS_UNASKED == 0 && stopped(&l)) return false;
    steps(&l, goes_on, l.at.next);
    advance(&l);
    if (left <= l.m - l.m / 4 && left < l.m) gather_live(&l, left);
  }
  while (k->live_steps[*step] < l.at.last) ++*step;
  return true;
}
