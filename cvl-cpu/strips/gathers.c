/* gathers.c - gathers and scatters of a strip.
 *
 * Each first locates: it checks the indices and adds the starts of their segments, which makes
 * positions in what is read or written. Gathers by the same index use the positions of the
 * first of them.
 */
#include "cvl-cpu/strips/private.h"

/* Of a range only what belongs to its own segments, or positions, begins with the first. */
const char *strip_source(const struct strip_worker *w, const struct kernel_statement *s) {
  const char *data = w->call->data[s->param];
  const size_t bytes = w->s->values[s->value].bytes;
  if (s->param / w->s->op->param_count == READ_WHOLE || w->s->range.one[s->far]) return data;
  return (const char *)((uintptr_t)data - w->descriptors[s->far].offsets[0] * bytes);
}

char *strip_room(struct strip_worker *w, uint32_t value) {
  const struct strip_value *v = &w->s->values[value];
  if (v->place == PLACE_STRIP) w->at[value] = w->slots + v->number * w->slot_bytes;
  return w->at[value];
}

/* By an index within the segment of the same number as the position. */
static uint64_t locate_picked(struct strip_worker *w, const struct kernel_statement *s,
                              uint64_t n, const void *index) {
  uint64_t limit[LOCATE_MOST];
  w->s->c->kernels->move->bounds(&w->descriptors[s->far], w->i, n, w->located.room, limit);
  return strip_ints(w)->locate(n, index, NULL, limit, w->located.room);
}

/* Within one segment. INTs of 64 bits are positions as they stand. */
static uint64_t locate_in_whole(struct strip_worker *w, const struct segments *far, uint64_t n,
                                const void *index, const uint8_t *flags) {
  const struct move_int *ints = strip_ints(w);
  if (flags || w->s->c->int_elem != CVL_I64)
    return ints->locate_in_one(n, index, flags, 0, far->total, w->located.room);
  w->located.at = index;
  return ints->within(n, index, far->total);
}

/* Whether all indices of statement k are in range; then they are located. */
static bool locate(struct strip_worker *w, uint32_t k, uint64_t n, const void *index,
                   const uint8_t *flags) {
  const struct kernel_statement *s = strip_statement_of(w, k);
  const struct segments *far = &w->descriptors[s->far];
  const struct move_kernels *move = w->s->c->kernels->move;
  w->located.at = w->located.room;
  if (s->near == SUPEROP_NONE) return locate_picked(w, s, n, index) == n;
  if (w->s->range.one[s->far]) return locate_in_whole(w, far, n, index, flags) == n;
  struct walk *walk = strip_walk(w, k, w->p);
  if (walk_in_one(walk, w->p + n))
    return locate_in_one(strip_ints(w), far, walk, w->p + n, index, flags, w->located.room) ==
           n;
  return locate_across(move, strip_ints(w), far, walk, w->p + n, index, flags,
                       w->located.room) == n;
}

bool strip_gather(struct strip_worker *w, uint32_t k, uint64_t n) {
  const struct kernel_statement *s = strip_statement_of(w, k);
  const uint32_t leader = w->s->statements[k].leader;
  const uint8_t *flags = s->count > 1 ? (const uint8_t *)w->at[s->operands[1]] : NULL;
  const struct move_width *width =
      move_width(w->s->c->kernels->move, w->s->values[s->value].bytes);
  if (w->located.leader != leader) {
    w->located.leader = SUPEROP_NONE;
    if (!locate(w, k, n, w->at[s->operands[0]], flags)) return false;
    w->located.leader = leader;
  }
  (flags ? width->gather_some : width->gather)(n, strip_source(w, s), w->located.at,
                                               strip_room(w, s->value));
  return true;
}

bool strip_scatter(struct strip_worker *w, uint32_t k, uint64_t n) {
  const struct kernel_statement *s = strip_statement_of(w, k);
  const uint32_t output = w->s->statements[k].output, value = s->operands[0];
  const uint8_t *flags = s->count > 2 ? (const uint8_t *)w->at[s->operands[2]] : NULL;
  const struct move_width *width =
      move_width(w->s->c->kernels->move, w->s->values[value].bytes);
  const uint64_t low = w->call->lows[output], high = low + w->call->spans[output];
  uint8_t *mark = s->op == OPC_PERMUTE && s->checked ? w->call->marks[output] : NULL;
  w->located.leader = SUPEROP_NONE;
  if (!locate(w, k, n, w->at[s->operands[1]], flags)) return false;
  if (mark)
    width->scatter_marking(n, w->at[value], w->located.at, mark, w->call->results[output]);
  else
    width->scatter(n, w->at[value], w->located.at, low, high, w->call->results[output]);
  return true;
}
