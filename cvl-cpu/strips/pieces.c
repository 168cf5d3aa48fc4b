/* pieces.c - strips in which gathers read side by side, or scatters write so: stencils,
 * rotations, slices, concatenations.
 *
 * An index is often computed from the position: i - s, or i - s + n where i < s (a rotation). A
 * *piece* is positions of one segment in which no comparison changes that such an index depends
 * on (fused-kernels/strides.c). There the index goes on by one, so it is computed for the first
 * position only, and checked for all of them. What is gathered is read where it is, and
 * statements that only compute the index are not executed.
 */
#include <string.h>

#include "cvl-cpu/strips/private.h"

enum {
  PIECE_LEAST = 32,  /* positions; many shorter pieces are not worth a strip each */
  BETWEEN_LEAST = 64 /* positions that are executed as they are where there is no piece */
};

/* The segment of the strip's first position. */
static uint64_t segment_here(struct strip_worker *w, uint32_t near) {
  const struct segments *s = &w->descriptors[near];
  struct walk *walk = &w->cursors[near];
  if (w->s->range.one[near]) return 0;
  if (walk->position == UINT64_MAX)
    *walk = walk_from(s, (struct path_coordinate){segment_from(s, w->p), w->p});
  return walk_to(walk, s, w->p);
}

/* Positions from the strip's first one on in its segment. */
static uint64_t left_in_segment(struct strip_worker *w, uint32_t near) {
  const uint64_t g = segment_here(w, near);
  return segment_start(&w->descriptors[near], g + 1) - w->p;
}

/* ---- what indices are made of, at the first position ---- */

/* Where a value is for it. */
static const void *cell_of(struct strip_worker *w, uint32_t value) {
  return w->s->values[value].place == PLACE_UNIFORM ? (void *)w->at[value]
                                                    : (void *)&w->cells[value];
}

static void put_int(struct strip_worker *w, uint32_t value, uint64_t x) {
  const uint32_t narrow = (uint32_t)x;
  if (w->s->values[value].bytes == sizeof narrow)
    memcpy(&w->cells[value], &narrow, sizeof narrow);
  else
    w->cells[value] = x;
}

static uint64_t int_here(struct strip_worker *w, uint32_t value) {
  return (uint64_t)int_element(cell_of(w, value), 0, w->s->values[value].bytes);
}

static void compute_start(struct strip_worker *w, uint32_t k) {
  const struct kernel_statement *s = strip_statement_of(w, k);
  const void *in[KERNEL_OPERANDS];
  if (s->kind == KERNEL_SPREAD) {
    const size_t bytes = w->s->values[s->value].bytes;
    memcpy(&w->cells[s->value],
           (const char *)w->call->data[s->param] + segment_here(w, s->near) * bytes, bytes);
  } else if (s->kind == KERNEL_OFFSET) {
    const uint64_t g = segment_here(w, s->near);
    const uint64_t before = s->near == w->s->range.main ? w->call->before : 0;
    put_int(w, s->value, w->p - segment_start(&w->descriptors[s->near], g) + before);
  } else {
    for (unsigned i = 0; i < s->count; i++) in[i] = cell_of(w, s->operands[i]);
    w->s->statements[k].map(1, in, &w->cells[s->value]);
  }
}

/* ---- where a piece ends ---- */

/* Of `more` positions, those before which something that counts up from `a`, and may wrap
 * around, is `to` again. */
static uint64_t until(const struct strip_worker *w, uint64_t a, uint64_t to, uint64_t more) {
  const uint64_t steps = w->s->c->int_elem == CVL_I64 ? to - a : (uint32_t)(to - a);
  return steps != 0 && steps < more ? steps : more;
}

/* Where a comparison of something that counts up changes: where that is what it is compared
 * with, or one more; and where it wraps around. */
static uint64_t until_turn(struct strip_worker *w, const struct kernel_statement *s,
                           uint64_t more) {
  const bool left = s->stride > 0;
  const uint64_t counts = int_here(w, s->operands[left ? 0 : 1]),
                 with = int_here(w, s->operands[left ? 1 : 0]);
  const uint64_t least =
      w->s->c->int_elem == CVL_I64 ? (uint64_t)INT64_MIN : (uint64_t)(int64_t)INT32_MIN;
  const bool equal = s->op == OPC_EQ || s->op == OPC_NE;
  const bool at =
      left ? s->op == OPC_LT || s->op == OPC_GE : s->op == OPC_LE || s->op == OPC_GT;
  if (at || equal) more = until(w, counts, with, more);
  if (!at) more = until(w, counts, with + 1, more);
  return until(w, counts, least, more);
}

static uint64_t until_end(struct strip_worker *w, uint64_t more) {
  const struct strips *of = w->s;
  for (uint32_t i = 0; i < of->start_count && more >= PIECE_LEAST; i++) {
    const struct kernel_statement *s = strip_statement_of(w, of->starts[i]);
    if (s->kind != KERNEL_MAP && !of->range.one[s->near])
      more = least_of(more, left_in_segment(w, s->near));
  }
  for (uint32_t i = 0; i < of->pointed_count && more >= PIECE_LEAST; i++) {
    const struct kernel_statement *s = strip_statement_of(w, of->pointed[i]);
    if (!of->range.one[s->near]) more = least_of(more, left_in_segment(w, s->near));
  }
  return more;
}

/* Whether what is chosen goes on in the piece. */
static bool moves(struct strip_worker *w, const struct kernel_statement *s) {
  if (!s->moving) return true;
  const bool first = *(const uint8_t *)cell_of(w, s->operands[0]);
  return first == (s->moving == 1);
}

/* ---- pieces ---- */

void strip_begin_pieces(struct strip_worker *w) {
  w->between = BETWEEN_LEAST;
  for (uint32_t p = 0; p < w->s->op->param_count; p++) w->cursors[p].position = UINT64_MAX;
}

/* Whether `more` elements from the index on are in the segment that is read or written. */
static bool is_within(struct strip_worker *w, const struct kernel_statement *s, uint64_t more) {
  const struct segments *far = &w->descriptors[s->far];
  const uint64_t g = w->s->range.one[s->far] ? 0 : segment_here(w, s->near);
  const uint64_t extent = segment_start(far, g + 1) - segment_start(far, g);
  const uint64_t index = int_here(w, strip_index(s));
  if (index >= extent) return false;
  return s->stride > 0 ? more <= extent - index : more <= index + 1;
}

/* Positions that are executed as they are: more and more of them, if there are hardly any
 * pieces. */
static uint64_t without_piece(struct strip_worker *w, uint64_t n) {
  const uint64_t between = w->between;
  w->between = least_of(2 * between, STRIP);
  return least_of(n, between);
}

uint64_t strip_piece(struct strip_worker *w, uint64_t n) {
  const struct strips *of = w->s;
  uint64_t more = until_end(w, n);
  bool goes_on = more >= PIECE_LEAST;
  w->in_piece = false;
  for (uint32_t i = 0; i < of->start_count && goes_on; i++) {
    const struct kernel_statement *s = strip_statement_of(w, of->starts[i]);
    if (of->statements[of->starts[i]].starts) compute_start(w, of->starts[i]);
    if (s->kind == KERNEL_MAP && s->turns) more = until_turn(w, s, more);
    goes_on = moves(w, s);
  }
  if (more < PIECE_LEAST) return without_piece(w, n);
  if (!goes_on) return more;
  for (uint32_t i = 0; i < of->pointed_count; i++) {
    if (!is_within(w, strip_statement_of(w, of->pointed[i]), more)) return 0;
  }
  w->in_piece = true;
  w->between = BETWEEN_LEAST;
  return more;
}

/* ---- gathers and scatters ---- */

/* The number of the first element that is read or written. */
static uint64_t first_element(struct strip_worker *w, const struct kernel_statement *s) {
  const struct segments *far = &w->descriptors[s->far];
  const uint64_t base =
      w->s->range.one[s->far] ? 0 : segment_start(far, segment_here(w, s->near));
  return base + int_here(w, strip_index(s));
}

/* Those of n elements that are to be written. */
static void put_pointed(struct strip_worker *w, uint32_t k, uint64_t n) {
  const struct kernel_statement *s = strip_statement_of(w, k);
  const uint32_t output = w->s->statements[k].output, value = s->operands[0];
  const size_t bytes = w->s->values[value].bytes;
  const uint64_t first = first_element(w, s), low = w->call->lows[output],
                 high = low + w->call->spans[output];
  const uint64_t from = first < low ? low : first, to = least_of(first + n, high);
  if (from < to)
    memcpy((char *)w->call->results[output] + from * bytes,
           w->at[value] + (from - first) * bytes, (to - from) * bytes);
}

#define TURN_ROUND(type)                                                                       \
  for (uint64_t i = 0; i < n && bytes == sizeof(type); i++) {                                  \
    ((type *)(void *)to)[i] = ((const type *)(const void *)from)[-(int64_t)i];                 \
  }

bool strip_pointed(struct strip_worker *w, uint32_t k, uint64_t n) {
  const struct kernel_statement *s = strip_statement_of(w, k);
  if (s->kind == KERNEL_SCATTER) {
    put_pointed(w, k, n);
    return true;
  }
  const size_t bytes = w->s->values[s->value].bytes;
  const char *from = strip_source(w, s) + first_element(w, s) * bytes;
  char *to = strip_room(w, s->value);
  if (s->stride > 0 && w->s->values[s->value].place == PLACE_STRIP) {
    w->at[s->value] = (char *)from; /* only read from here */
  } else if (s->stride > 0) {
    memcpy(to, from, n * bytes);
  } else {
    TURN_ROUND(uint64_t)
    TURN_ROUND(uint32_t)
    TURN_ROUND(uint8_t)
  }
  return true;
}
