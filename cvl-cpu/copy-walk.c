/* copy-walk.c - see copy-walk.h. */
#include "cvl-cpu/copy-walk.h"

/* ---- runs ---- */

static inline int64_t element_of(const char *ints, uint64_t i, size_t step, size_t bytes) {
  const char *at = ints + i * step;
  return bytes == sizeof(int64_t) ? *(const int64_t *)(const void *)at
                                  : *(const int32_t *)(const void *)at;
}

static inline void place_after(struct copy_place *at, const struct segments *s,
                               uint64_t position) {
  while (at->end <= position) at->end = segment_start(s, ++at->segment + 1);
}

/* Before the segment that holds the position: place_after enters it. */
static void place_before(struct copy_place *at, const struct segments *s, uint64_t position) {
  at->segment = segment_at(s, position) - 1;
  at->end = 0;
}

/* Enters the run that holds the position. False if its stride is not 1. */
static inline bool enter_run(const struct bound_runs *r, const struct copy_place *at,
                             size_t int_bytes, uint64_t *shift) {
  const uint64_t start = segment_start(&r->segments, at->segment);
  *shift = (uint64_t)element_of(r->start, at->segment, r->step, int_bytes) - start;
  return !r->stride || at->end - start <= 1 ||
         int_element(r->stride, at->segment, int_bytes) == 1;
}

/* Runs begin anywhere in the source, which no hardware foresees. */
static inline void prefetch_slice(const struct copy_cursor *c) {
  enum { AHEAD = 8 };
  const struct bound_piece *p = c->piece;
  const uint64_t r = c->slice.segment + AHEAD;
  if (r >= p->from.segments.count) return;
  const uint64_t start = (uint64_t)element_of(p->from.start, r, p->from.step, p->int_bytes);
  __builtin_prefetch((const void *)((uintptr_t)p->values + (c->from_base + start) * p->bytes));
}

/* The indices from `first` on, n of them, each one more than the last, are less than the limit.
 */
static inline bool in_range(uint64_t first, uint64_t n, uint64_t limit) {
  return first < limit && n <= limit - first;
}

static uint64_t index_limit(uint64_t length, size_t int_bytes) {
  const uint64_t most = (int_bytes == sizeof(int64_t) ? (uint64_t)INT64_MAX : INT32_MAX) + 1;
  return length < most ? length : most; /* a greater one wraps */
}

/* ---- cursors ---- */

/* Where the position goes; *stop becomes the end of the run. */
static inline bool find_to(struct copy_cursor *c, uint64_t *stop) {
  const struct bound_piece *p = c->piece;
  if (c->near.end <= c->position) {
    place_after(&c->near, &p->near, c->position);
    c->to_base = segment_start(&p->far, c->near.segment);
    c->to_limit =
        index_limit(segment_start(&p->far, c->near.segment + 1) - c->to_base, p->int_bytes);
  }
  if (c->run.end <= c->position) {
    place_after(&c->run, &p->to.segments, c->position);
    if (!enter_run(&p->to, &c->run, p->int_bytes, &c->to_shift)) return false;
  }
  if (c->run.end < *stop) *stop = c->run.end;
  if (c->near.end < *stop) *stop = c->near.end;
  const uint64_t index = c->position + c->to_shift;
  if (!in_range(index, *stop - c->position, c->to_limit)) return false;
  c->to = c->to_base + index;
  return true;
}

/* Likewise, where it comes from. */
static inline bool find_from(struct copy_cursor *c, uint64_t *stop) {
  const struct bound_piece *p = c->piece;
  if (c->positions.end <= c->position) {
    place_after(&c->positions, &p->positions, c->position);
    c->from_base = segment_start(&p->source, c->positions.segment);
    c->from_limit = index_limit(
        segment_start(&p->source, c->positions.segment + 1) - c->from_base, p->int_bytes);
  }
  if (c->slice.end <= c->position) {
    place_after(&c->slice, &p->from.segments, c->position);
    prefetch_slice(c);
    if (!enter_run(&p->from, &c->slice, p->int_bytes, &c->from_shift)) return false;
  }
  if (c->slice.end < *stop) *stop = c->slice.end;
  if (c->positions.end < *stop) *stop = c->positions.end;
  const uint64_t index = c->position + c->from_shift;
  if (!in_range(index, *stop - c->position, c->from_limit)) return false;
  c->from = p->values + (c->from_base + index) * p->bytes;
  return true;
}

/* Finds the stretch at the cursor's position. */
static inline bool find_stretch(struct copy_cursor *c) {
  const struct bound_piece *p = c->piece;
  uint64_t stop = p->total;
  c->to = c->position;
  c->end = p->values_end;
  if (c->position == p->total) {
    c->to = COPY_NOWHERE;
    c->n = 0;
    return true;
  }
  if (p->plan->scattered && !find_to(c, &stop)) return false;
  if (p->plan->gathered) {
    if (!find_from(c, &stop)) return false;
  } else if (!c->inner) {
    c->from = p->values ? p->values + c->position * p->bytes : NULL;
  } else {
    stop = c->position + copy_walk_next(c->inner, stop - c->position, &c->from, &c->end);
    if (stop == c->position) return false;
  }
  c->n = stop - c->position;
  return true;
}

static void find_places(struct copy_cursor *c) {
  const struct bound_piece *p = c->piece;
  if (c->position == p->total) return;
  if (p->plan->scattered) {
    place_before(&c->near, &p->near, c->position);
    place_before(&c->run, &p->to.segments, c->position);
  }
  if (p->plan->gathered) {
    place_before(&c->positions, &p->positions, c->position);
    place_before(&c->slice, &p->from.segments, c->position);
  }
}

/* Where a position of the values goes, wherever that is. */
static uint64_t destination(const struct bound_piece *p, uint64_t position) {
  if (!p->plan->scattered) return position;
  const uint64_t r = segment_at(&p->to.segments, position);
  return segment_start(&p->far, segment_at(&p->near, position)) + position -
         segment_start(&p->to.segments, r) +
         (uint64_t)element_of(p->to.start, r, p->to.step, p->int_bytes);
}

/* The first position whose destination is not before `to`, if destinations increase. */
static uint64_t search(const struct bound_piece *p, uint64_t to) {
  uint64_t low = 0, high = to == 0 ? 0 : p->total;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (destination(p, middle) < to) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static uint64_t begins_at(const struct bound_piece *p, uint64_t to, uint64_t total) {
  return to == total ? p->total : search(p, to);
}

bool copy_cursor_check(struct copy_cursor *c, uint64_t first, uint64_t last) {
  c->position = first;
  if (first >= last) return true;
  find_places(c);
  while (c->position < last) {
    if (!find_stretch(c)) return false;
    c->position += c->n;
  }
  return true;
}

/* ---- walks ---- */

void copy_walk_to(struct copy_walk *w, uint64_t position, uint64_t total) {
  w->position = position;
  w->turn = 0;
  for (uint32_t i = 0; i < w->chain->count && !w->unfit; i++) {
    struct copy_cursor *c = &w->cursors[i];
    c->position = begins_at(c->piece, position, total);
    if (c->inner) {
      copy_walk_to(c->inner, c->position, c->piece->total);
      if (c->inner->unfit) w->unfit = true;
    }
    find_places(c);
    if (!find_stretch(c)) w->unfit = true;
  }
}

/* The next stretch begins behind the position, or there is none: a gap. */
static uint64_t gap(struct copy_walk *w, uint64_t most, const char **from, const char **end) {
  uint64_t next = w->position + most;
  const size_t bytes = w->cursors[0].piece->bytes;
  for (uint32_t i = 0; i < w->chain->count; i++) {
    if (w->cursors[i].to < next) next = w->cursors[i].to;
  }
  w->turn = w->chain->count;
  if (next <= w->position || w->chain->whole) {
    w->unfit = true;
    return 0;
  }
  *from = w->previous ? w->previous + w->position * bytes : NULL;
  *end = w->previous ? w->previous + next * bytes : NULL;
  return next - w->position;
}

uint64_t copy_walk_next(struct copy_walk *w, uint64_t most, const char **from,
                        const char **end) {
  const uint32_t count = w->chain->count;
  uint32_t turn = w->turn < count ? w->turn : 0;
  for (uint32_t tried = 0; w->cursors[turn].to != w->position; tried++) {
    if (tried == count) return gap(w, most, from, end);
    turn = turn + 1 == count ? 0 : turn + 1;
  }
  const struct copy_cursor *c = &w->cursors[turn];
  w->turn = turn;
  *from = c->from;
  *end = c->end;
  return c->n < most ? c->n : most;
}

void copy_walk_take(struct copy_walk *w, uint64_t n) {
  w->position += n;
  if (w->turn == w->chain->count) return; /* a gap */
  struct copy_cursor *c = &w->cursors[w->turn];
  if (c->inner) copy_walk_take(c->inner, n);
  c->position += n;
  c->n -= n;
  if (c->n > 0) {
    c->to += n;
    if (c->from) c->from += n * c->piece->bytes;
    return;
  }
  if (!find_stretch(c)) {
    w->unfit = true;
    c->to = COPY_NOWHERE;
  }
}

bool copy_walk_meets(const struct copy_walk *w, uint64_t total) {
  for (uint32_t i = 0; i < w->chain->count; i++) {
    const struct copy_cursor *c = &w->cursors[i];
    if (c->position != begins_at(c->piece, w->position, total)) return false;
    if (c->inner && !copy_walk_meets(c->inner, c->piece->total)) return false;
  }
  return !w->unfit;
}
