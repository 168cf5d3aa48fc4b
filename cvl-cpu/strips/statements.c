/* statements.c - what the statements of a kernel do for a strip. */
#include <string.h>

#include "cvl-cpu/strips/private.h"

/* ---- segments ---- */

/* Positions of a range of segments, or of a part of one, begin where the first segment does
 * that it is given. */
static struct walk walk_over(const struct strip_worker *w, uint32_t near, uint64_t position) {
  const struct segments *s = &w->descriptors[near];
  const uint64_t first =
      position == w->call->at && near == w->s->range.main ? 0 : segment_from(s, position);
  struct walk walk = walk_from(s, (struct path_coordinate){first, position});
  if (s->offsets) walk.wide = (s->total - s->offsets[0]) / WIDE_LENGTH >= s->count;
  return walk;
}

struct walk *strip_walk(struct strip_worker *w, uint32_t k, uint64_t position) {
  struct walk *walk = &w->walks[k];
  if (walk->position != position)
    *walk = walk_over(w, strip_statement_of(w, k)->near, position);
  return walk;
}

/* ---- values ---- */

/* Writes n copies of an element. */
static void repeat(void *to, const void *one, size_t bytes, uint64_t n) {
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

static bool strip_constant(struct strip_worker *w, uint32_t k, uint64_t n) {
  const struct kernel_statement *s = strip_statement_of(w, k);
  repeat(w->at[s->value], &s->constant->as, w->s->values[s->value].bytes, n);
  return true;
}

static bool strip_spread(struct strip_worker *w, uint32_t k, uint64_t n) {
  const struct kernel_statement *s = strip_statement_of(w, k);
  const size_t bytes = w->s->values[s->value].bytes;
  const void *from = w->call->data[s->param];
  if (w->s->range.one[s->near])
    repeat(w->at[s->value], from, bytes, n);
  else
    move_width(w->s->c->kernels->move, bytes)
        ->dist(strip_walk(w, k, w->p), w->p + n, from, w->at[s->value]);
  return true;
}

/* Writes first, first + 1 ..., and up to three elements more. */
static void count_up(void *to, uint64_t first, uint64_t n, size_t bytes) {
  uint64_t *wide = to;
  uint32_t *narrow = to;
  for (uint64_t i = 0; i < n && bytes == sizeof *wide; i += 4) {
    for (uint64_t j = 0; j < 4; j++) wide[i + j] = first + i + j;
  }
  for (uint64_t i = 0; i < n && bytes == sizeof *narrow; i += 4) {
    for (uint64_t j = 0; j < 4; j++) narrow[i + j] = (uint32_t)(first + i + j);
  }
}

static bool strip_offset(struct strip_worker *w, uint32_t k, uint64_t n) {
  const struct kernel_statement *s = strip_statement_of(w, k);
  const struct segments *near = &w->descriptors[s->near];
  const size_t bytes = w->s->values[s->value].bytes;
  const uint64_t before = s->near == w->s->range.main ? w->call->before : 0, end = w->p + n;
  if (w->s->range.one[s->near]) {
    count_up(w->at[s->value], w->p, n, bytes);
    return true;
  }
  struct walk *walk = strip_walk(w, k, w->p);
  uint64_t g = walk_to(walk, near, w->p);
  for (uint64_t p = w->p, stop; p < end; p = stop, g++) {
    stop = least_of(near->offsets[g + 1], end);
    count_up(w->at[s->value] + (p - w->p) * bytes, p - near->offsets[g] + before, stop - p,
             bytes);
  }
  walk->position = end;
  walk->segment = g;
  return true;
}

static bool strip_map(struct strip_worker *w, uint32_t k, uint64_t n) {
  const struct kernel_statement *s = strip_statement_of(w, k);
  const void *in[KERNEL_OPERANDS];
  for (unsigned i = 0; i < s->count; i++) in[i] = w->at[s->operands[i]];
  return w->s->statements[k].map(n, in, w->at[s->value]) == n;
}

static bool strip_check(struct strip_worker *w, uint32_t k, uint64_t n) {
  const struct strip_statement *of = &w->s->statements[k];
  if (of->index == SUPEROP_NONE)
    return !memchr(w->at[strip_statement_of(w, k)->operands[0]], 0, n);
  const int64_t limit = int_element(w->at[of->limit], 0, w->s->values[of->limit].bytes);
  return strip_ints(w)->within(n, w->at[of->index], limit > 0 ? (uint64_t)limit : 0) == n;
}

/* ---- outputs ---- */

static void store(const struct strip_worker *w, uint32_t value, void *to, uint64_t n) {
  char *at = (char *)to + w->i * w->s->values[value].bytes;
  if (at != w->at[value]) memcpy(at, w->at[value], n * w->s->values[value].bytes);
}

static bool strip_store(struct strip_worker *w, uint32_t k, uint64_t n) {
  store(w, strip_statement_of(w, k)->operands[0], w->call->results[w->s->statements[k].output],
        n);
  return true;
}

static bool strip_combine(struct strip_worker *w, uint32_t k, uint64_t n) {
  const struct kernel_statement *s = strip_statement_of(w, k);
  const struct strip_statement *of = &w->s->statements[k];
  const struct superop_combination at = superop_combination_at(w->s->op, s->node);
  for (uint32_t i = 0; i < at.count; i++) {
    if (w->s->range.columns[of->column + i])
      store(w, s->columns[i], w->call->columns[of->column + i], n);
  }
  const bool indexed =
      s->count > 0 && w->s->op->nodes[at.ends].operands[2] >= w->s->op->param_count;
  if (indexed) store(w, s->operands[0], w->call->columns[of->index_column], n);
  return true;
}

/* Writes where the segments end that end in this strip; so many elements have been kept before.
 */
static void end_segments(const struct strip_worker *w, uint64_t kept, uint64_t *ends) {
  const uint64_t *offsets = w->descriptors[w->s->range.main].offsets;
  uint64_t counted = 0;
  for (uint64_t g = w->ended; g < w->ending; g++) {
    const uint64_t to = offsets[g + 1] > w->p ? offsets[g + 1] - w->p : 0;
    for (; counted + 64 <= to; counted += 64)
      kept += (uint64_t)__builtin_popcountll(w->masks[counted / 64]);
    const uint64_t rest = w->masks[to / 64] & ((UINT64_C(1) << (to % 64)) - 1);
    ends[g + 1] = kept + (uint64_t)__builtin_popcountll(rest);
  }
}

static bool strip_keep(struct strip_worker *w, uint32_t k, uint64_t n) {
  const struct kernel_statement *s = strip_statement_of(w, k);
  const struct strip_statement *of = &w->s->statements[k];
  const struct move_kernels *move = w->s->c->kernels->move;
  const bool packs = of->output != SUPEROP_NONE, counts = of->descriptor != SUPEROP_NONE;
  const bool ends = counts && s->near == w->s->range.main;
  const size_t bytes = w->s->values[s->operands[0]].bytes;
  if (w->masked != s->operands[1])
    move->masks(n, (const uint8_t *)w->at[s->operands[1]], w->masks);
  w->masked = s->operands[1];
  uint64_t kept = w->call->kept[packs ? of->output : of->descriptor];
  if (ends) end_segments(w, kept, w->call->results[of->descriptor]);
  kept += packs ? move_width(move, bytes)
                      ->compress(n, w->at[s->operands[0]], w->masks,
                                 (char *)w->call->results[of->output] + kept * bytes)
                : move->count(n, (const uint8_t *)w->at[s->operands[1]]);
  if (packs) w->call->kept[of->output] = kept;
  if (counts) w->call->kept[of->descriptor] = kept;
  return true;
}

/* ---- all of them ---- */

static strip_function *const functions[KERNEL_STATEMENTS] = {
    [KERNEL_CONSTANT] = strip_constant, [KERNEL_SPREAD] = strip_spread,
    [KERNEL_OFFSET] = strip_offset,     [KERNEL_MAP] = strip_map,
    [KERNEL_GATHER] = strip_gather,     [KERNEL_CHECK] = strip_check,
    [KERNEL_SCAN] = strip_store,        [KERNEL_KEEP] = strip_keep,
    [KERNEL_STORE] = strip_store,       [KERNEL_SCATTER] = strip_scatter,
    [KERNEL_COMBINE] = strip_combine,
};

bool strip_execute(struct strip_worker *w, const uint32_t *list, uint32_t first, uint32_t end,
                   uint64_t n) {
  bool good = true;
  for (uint32_t i = first; i < end && good; i++) {
    const uint8_t kind = strip_statement_of(w, list[i])->kind;
    if (kind == KERNEL_CARRY)
      good = strip_loop(w, list, &i, n);
    else if (w->in_piece && w->s->statements[list[i]].pointed)
      good = strip_pointed(w, list[i], n);
    else
      good = functions[kind](w, list[i], n);
  }
  return good;
}
