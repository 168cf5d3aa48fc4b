/* loops.c - the loops of a kernel on one strip.
 *
 * All positions of a strip iterate together: each statement of a round is executed for all of
 * them, with carried values in buffers of their own. When a position finishes, its results are
 * written at once; later rounds compute values for it that are ignored. When a quarter of the
 * positions have finished, the others are compacted, so that a few long iterations do not cost
 * as much as a whole strip.
 */
#include <string.h>

#include "cvl-cpu/strips/private.h"

enum { WORD = 8, ROUNDS_UNASKED = 64 };

struct loop {
  struct strip_worker *w;
  const uint32_t *list; /* of statements: CARRYs from `first` on, before `body` ... */
  uint32_t first, body, test, next, end; /* ... WHILE; NEXTs from `next` on, before `end` */
  uint64_t m;                            /* positions in the buffers */
  uint8_t live[STRIP + WORD];            /* whether each has not finished yet; 0 behind them */
  uint32_t position[STRIP + VECTOR_SLACK / sizeof(uint32_t)]; /* in the strip */
};

static const struct kernel_statement *loop_statement(const struct loop *l, uint32_t i) {
  return strip_statement_of(l->w, l->list[i]);
}

static size_t loop_bytes(const struct loop *l, uint32_t value) {
  return l->w->s->values[value].bytes;
}

static void find_parts(struct loop *l) {
  l->body = l->first;
  while (loop_statement(l, l->body)->kind == KERNEL_CARRY) l->body++;
  l->test = l->body;
  while (loop_statement(l, l->test)->kind != KERNEL_WHILE) l->test++;
  l->next = l->test;
  while (loop_statement(l, l->next)->kind != KERNEL_NEXT) l->next++;
  l->end = l->next + (l->body - l->first);
}

static void begin(struct loop *l, uint64_t n) {
  for (uint32_t i = l->first; i < l->body; i++) {
    const struct kernel_statement *carry = loop_statement(l, i);
    memcpy(l->w->at[carry->value], l->w->at[carry->operands[0]],
           n * loop_bytes(l, carry->value));
  }
  l->m = n;
  memset(l->live, 0, sizeof l->live);
  memset(l->live, 1, n);
  for (uint64_t i = 0; i < n; i++) l->position[i] = (uint32_t)i;
}

/* ---- positions that finish ---- */

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
  for (uint32_t i = l->next; i < l->end; i++) {
    const struct kernel_statement *next = loop_statement(l, i);
    const size_t bytes = loop_bytes(l, next->value);
    (bytes == 8   ? put_64
     : bytes == 4 ? put_32
                  : put_8)(l, at, n, l->w->at[next->operands[0]], l->w->at[next->value]);
  }
}

/* The positions whose flag is false finish; returns how many are left. */
static uint64_t finish(struct loop *l) {
  const uint64_t each = UINT64_C(0x0101010101010101);
  const char *flags = l->w->at[loop_statement(l, l->test)->operands[0]];
  uint16_t finished[STRIP];
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

/* ---- rounds ---- */

static char *spare_of(const struct loop *l, uint32_t i) {
  return l->w->slots + l->w->s->statements[l->list[i]].spare_slot * l->w->slot_bytes;
}

static bool advances(const struct loop *l, uint32_t i, enum strip_advance how) {
  return l->w->s->statements[l->list[i]].advance == how;
}

/* Replaces all carried values at once. */
static void advance(const struct loop *l) {
  char **at = l->w->at;
  for (uint32_t i = l->next; i < l->end; i++) {
    const struct kernel_statement *s = loop_statement(l, i);
    if (advances(l, i, ADVANCE_COPY))
      memcpy(spare_of(l, i), at[s->operands[1]], l->m * loop_bytes(l, s->value));
  }
  for (uint32_t i = l->next; i < l->end; i++) {
    const struct kernel_statement *s = loop_statement(l, i);
    char *carried = at[s->operands[0]];
    if (advances(l, i, ADVANCE_COPY))
      memcpy(carried, spare_of(l, i), l->m * loop_bytes(l, s->value));
    if (!advances(l, i, ADVANCE_SWAP)) continue;
    at[s->operands[0]] = at[s->operands[1]];
    at[s->operands[1]] = carried;
  }
}

/* Compacts the buffers to the positions that have not finished. */
static void compact(struct loop *l, uint64_t left) {
  const struct move_kernels *move = l->w->s->c->kernels->move;
  uint64_t masks[STRIP / 64];
  move->masks(l->m, l->live, masks);
  for (uint32_t i = l->first; i < l->body; i++) {
    const uint32_t value = loop_statement(l, i)->value;
    char *x = l->w->at[value];
    move_width(move, loop_bytes(l, value))->compress(l->m, x, masks, x);
  }
  move_width(move, sizeof *l->position)->compress(l->m, l->position, masks, l->position);
  memset(l->live, 0, l->m);
  memset(l->live, 1, left);
  l->m = left;
}

static bool asks(const struct loop *l) {
  const struct kernel_range *call = l->w->call;
  return call->asks && call->asks(call->with);
}

bool strip_loop(struct strip_worker *w, const uint32_t *list, uint32_t *step, uint64_t n) {
  struct loop l = {.w = w, .list = list, .first = *step};
  find_parts(&l);
  begin(&l, n);
  for (uint64_t round = 1;; round++) {
    strip_execute(w, list, l.body, l.test, l.m);
    const uint64_t left = finish(&l);
    if (left == 0) break;
    if (round % ROUNDS_UNASKED == 0 && asks(&l)) return false;
    strip_execute(w, list, l.test + 1, l.next, l.m);
    advance(&l);
    if (left <= l.m - l.m / 4 && left < l.m) compact(&l, left);
  }
  *step = l.end - 1;
  return true;
}
