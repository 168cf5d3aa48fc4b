/* copy-walk.c - see copy-walk.h. */
#include "cvl-cpu/fused/copy-walk.h"

#include "cvl-cpu/kernels/templates.h"

/* ---- runs ---- */

static inline int64_t element_of(const char *ints, uint64_t i, size_t step, size_t bytes) {
  const char *at = ints + i * step;
  return bytes == sizeof(int64_t) ? *(const int64_t *)(const void *)at
                                  : *(const int32_t *)(const void *)at;
}

static inline void segment_enter(struct copy_segment *at, const struct segments *s,
                                 uint64_t position) {
  while (at->end <= position) at->end = segment_start(s, ++at->segment + 1);
}

/* Before the segment that holds the position: segment_enter enters it. */
static void segment_before(struct copy_segment *at, const struct segments *s,
                           uint64_t position) {
  at->segment = segment_at(s, position) - 1;
  at->end = 0;
}

/* Enters the run that holds the position. False if its stride is not 1. */
static inline bool enter_run(const struct bound_runs *r, const struct copy_segment *at,
                             size_t int_bytes, uint64_t *shift) {
  const uint64_t start = segment_start(&r->segments, at->segment);
  *shift = (uint64_t)element_of(r->start, at->segment, r->step, int_bytes) - start;
  return !r->stride || at->end - start <= 1 ||
         int_element(r->stride, at->segment, int_bytes) == 1;
}

/* The indices from `first` on, n of them, each one more than the last, are less than the limit.
 */
static inline bool copy_walk_in_range(uint64_t first, uint64_t n, uint64_t limit) {
  return first < limit && n <= limit - first;
}

static uint64_t index_limit(uint64_t length, size_t int_bytes) {
  const uint64_t most = (int_bytes == sizeof(int64_t) ? (uint64_t)INT64_MAX : INT32_MAX) + 1;
  return length < most ? length : most; /* a greater one wraps */
}

/* ---- one span ---- */

/* Where the position goes; *stop becomes the end of the run. */
static inline bool find_to(struct copy_cursor *c, uint64_t *to, uint64_t *stop) {
  const struct bound_input *p = c->input;
  if (c->near.end <= c->position) {
    segment_enter(&c->near, &p->near, c->position);
    c->to_base = segment_start(&p->far, c->near.segment);
    c->to_limit =
        index_limit(segment_start(&p->far, c->near.segment + 1) - c->to_base, p->int_bytes);
  }
  if (c->run.end <= c->position) {
    segment_enter(&c->run, &p->to.segments, c->position);
    if (!enter_run(&p->to, &c->run, p->int_bytes, &c->to_shift)) return false;
  }
  if (c->run.end < *stop) *stop = c->run.end;
  if (c->near.end < *stop) *stop = c->near.end;
  const uint64_t index = c->position + c->to_shift;
  if (!copy_walk_in_range(index, *stop - c->position, c->to_limit)) return false;
  *to = c->to_base + index;
  return true;
}

/* Finds where the elements of a cursor come from, in the same way. */
static inline bool find_from(struct copy_cursor *c, const char **from, uint64_t *stop) {
  const struct bound_input *p = c->input;
  if (c->positions.end <= c->position) {
    segment_enter(&c->positions, &p->positions, c->position);
    c->from_base = segment_start(&p->source, c->positions.segment);
    c->from_limit = index_limit(
        segment_start(&p->source, c->positions.segment + 1) - c->from_base, p->int_bytes);
  }
  if (c->slice.end <= c->position) {
    segment_enter(&c->slice, &p->from.segments, c->position);
    if (!enter_run(&p->from, &c->slice, p->int_bytes, &c->from_shift)) return false;
  }
  if (c->slice.end < *stop) *stop = c->slice.end;
  if (c->positions.end < *stop) *stop = c->positions.end;
  const uint64_t index = c->position + c->from_shift;
  if (!copy_walk_in_range(index, *stop - c->position, c->from_limit)) return false;
  *from = p->values + (c->from_base + index) * p->bytes;
  return true;
}

/* Finds the span at the cursor's position, which is not the end, and goes behind it. */
static bool find_span(struct copy_cursor *c, struct copy_span *s) {
  const struct bound_input *p = c->input;
  uint64_t stop = p->total;
  s->to = c->position;
  s->end = p->values_end;
  if (p->plan->scattered && !find_to(c, &s->to, &stop)) return false;
  if (p->plan->gathered) {
    if (!find_from(c, &s->from, &stop)) return false;
  } else if (!c->inner) {
    s->from = p->values ? p->values + c->position * p->bytes : NULL;
  } else {
    bool gap;
    if (c->inner->unfit) return false;
    const struct copy_span x = copy_walk_next(c->inner, stop - c->position, &gap);
    if (x.n == 0) return false;
    copy_walk_take(c->inner, x.n, gap);
    s->from = x.from;
    s->end = x.end;
    stop = c->position + x.n;
  }
  s->n = stop - c->position;
  c->position = stop;
  return true;
}

/* ---- many of them ---- */

static bool copy_walk_same_segments(const struct segments *a, const struct segments *b) {
  return a->offsets ? a->offsets == b->offsets
                    : !b->offsets && a->equal == b->equal && a->count == b->count;
}

/* The runs of an input: of the scatter and of the gather, if these have the same segments;
 * NULL: they have not. */
static const struct segments *shared_runs(const struct bound_input *p) {
  const struct segments *to = &p->to.segments, *from = &p->from.segments;
  if (!p->plan->scattered) return p->plan->gathered ? from : NULL;
  if (!p->plan->gathered) return to;
  return copy_walk_same_segments(to, from) ? to : NULL;
}

/* One side of an input, scatter or gather: where whole runs are in the other vector. */
struct side {
  struct bound_runs runs;
  struct segments other;
  bool each;            /* every run is a segment of its own ... */
  uint64_t base, limit; /* ... else that of the segment that all are in */
};

/* Where run r, of n elements, is in the other vector; *bad becomes true if one is out of
 * range.
 */
ALWAYS_INLINE uint64_t start_of(const struct side *s, uint64_t r, uint64_t n, size_t int_bytes,
                                bool *bad) {
  const uint64_t start = (uint64_t)element_of(s->runs.start, r, s->runs.step, int_bytes);
  uint64_t base = s->base, limit = s->limit;
  if (s->each) {
    base = segment_start(&s->other, r);
    limit = index_limit(segment_start(&s->other, r + 1) - base, int_bytes);
  }
  *bad |= (n > 0) & !copy_walk_in_range(start, n, limit);
  if (s->runs.stride) *bad |= (n > 1) & (int_element(s->runs.stride, r, int_bytes) != 1);
  return base + start;
}

/* Finds whole runs behind the position, as long as they belong to the same segments as the one
 * before, or each to its own. False if an index is out of range. */
ALWAYS_INLINE bool find_runs(struct copy_cursor *c, const struct segments *runs, bool scattered,
                             bool gathered, size_t int_bytes) {
  const struct bound_input *p = c->input;
  const struct side to_side = {p->to, p->far, copy_walk_same_segments(runs, &p->near),
                               c->to_base, c->to_limit},
                    from_side = {p->from, p->source,
                                 copy_walk_same_segments(runs, &p->positions), c->from_base,
                                 c->from_limit};
  const char *const values = p->values, *const values_end = p->values_end;
  const size_t bytes = p->bytes;
  uint64_t limit = UINT64_MAX;
  if (scattered && !to_side.each) limit = c->near.end;
  if (gathered && !from_side.each && c->positions.end < limit) limit = c->positions.end;
  uint64_t r = (scattered ? c->run.segment : c->slice.segment) + 1, begin = c->position;
  struct copy_span *s = &c->spans[c->found], *const past = &c->spans[COPY_AHEAD];
  bool bad = false;
  if (r > runs->count || segment_start(runs, r) != begin) return true;
  for (; s < past && r < runs->count; r++) {
    const uint64_t end = segment_start(runs, r + 1), n = end - begin;
    uint64_t to = begin, from = begin;
    if (end > limit) break;
    if (scattered) to = start_of(&to_side, r, n, int_bytes, &bad);
    if (gathered) from = start_of(&from_side, r, n, int_bytes, &bad);
    const char *at = (const char *)((uintptr_t)values + from * bytes);
    if (gathered) __builtin_prefetch(at); /* runs begin anywhere, which no hardware foresees */
    *s = (struct copy_span){to, n, at, values_end};
    s += n > 0;
    begin = end;
  }
  c->found = (uint32_t)(s - c->spans);
  c->run.segment = c->slice.segment = r - 1;
  c->run.end = c->slice.end = c->position = begin;
  if (to_side.each) c->near = c->run; /* left as well: entered again */
  if (from_side.each) c->positions = c->slice;
  return !bad;
}

ALWAYS_INLINE bool find_runs_of(struct copy_cursor *c, const struct segments *runs,
                                size_t int_bytes) {
  const struct copy_input *plan = c->input->plan;
  return !plan->gathered    ? find_runs(c, runs, true, false, int_bytes)
         : !plan->scattered ? find_runs(c, runs, false, true, int_bytes)
                            : find_runs(c, runs, true, true, int_bytes);
}

/* The spans of an inner target, one by one. */
static bool find_inner(struct copy_cursor *c) {
  const uint64_t total = c->input->total;
  for (; c->found < COPY_AHEAD && c->position < total; c->found++) {
    if (!find_span(c, &c->spans[c->found])) return false;
  }
  return true;
}

static bool copy_walk_fill(struct copy_cursor *c) {
  if (!find_span(c, &c->spans[0])) return false;
  if (c->inner) return find_inner(c);
  const struct segments *runs = shared_runs(c->input);
  return !runs ||
         (c->input->int_bytes == sizeof(int64_t) ? find_runs_of(c, runs, sizeof(int64_t))
                                                 : find_runs_of(c, runs, sizeof(int32_t)));
}

bool copy_cursor_fill(struct copy_cursor *c) {
  c->next = 0;
  c->found = 1;
  const bool ends = c->position == c->input->total, fits = ends || copy_walk_fill(c);
  if (fits && !ends) return true;
  c->found = 1;
  c->spans[0] = (struct copy_span){.to = COPY_NOWHERE};
  return fits;
}

/* ---- positions ---- */

static void find_segments(struct copy_cursor *c) {
  const struct bound_input *p = c->input;
  if (c->position == p->total) return;
  if (p->plan->scattered) {
    segment_before(&c->near, &p->near, c->position);
    segment_before(&c->run, &p->to.segments, c->position);
  }
  if (p->plan->gathered) {
    segment_before(&c->positions, &p->positions, c->position);
    segment_before(&c->slice, &p->from.segments, c->position);
  }
}

/* Where a position of the values goes, wherever that is. */
static uint64_t copy_walk_destination(const struct bound_input *p, uint64_t position) {
  if (!p->plan->scattered) return position;
  const uint64_t r = segment_at(&p->to.segments, position);
  return segment_start(&p->far, segment_at(&p->near, position)) + position -
         segment_start(&p->to.segments, r) +
         (uint64_t)element_of(p->to.start, r, p->to.step, p->int_bytes);
}

/* The first position whose destination is not before `to`, if destinations increase. */
static uint64_t copy_walk_search(const struct bound_input *p, uint64_t to) {
  uint64_t low = 0, high = to == 0 ? 0 : p->total;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (copy_walk_destination(p, middle) < to) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static uint64_t begins_at(const struct bound_input *p, uint64_t to, uint64_t total) {
  return to == total ? p->total : copy_walk_search(p, to);
}

void copy_cursor_at(struct copy_cursor *c, const struct bound_input *input, uint64_t position) {
  c->input = input;
  c->inner = NULL;
  c->position = position;
  find_segments(c);
}

bool copy_cursor_check(const struct bound_input *input, uint64_t first, uint64_t last) {
  struct copy_cursor c;
  copy_cursor_at(&c, input, first);
  while (c.position < last) {
    if (!copy_cursor_fill(&c)) return false;
  }
  return true;
}

/* ---- walks ---- */

void copy_walk_to(struct copy_walk *w, uint64_t position, uint64_t total) {
  w->position = position;
  w->turn = 0;
  for (uint32_t i = 0; i < w->target->count && !w->unfit; i++) {
    struct copy_cursor *c = &w->cursors[i];
    c->position = begins_at(c->input, position, total);
    if (c->inner) {
      copy_walk_to(c->inner, c->position, c->input->total);
    }
    find_segments(c);
    w->unfit = (c->inner && c->inner->unfit) || !copy_cursor_fill(c);
  }
}

/* No span begins at the position: a gap of at most so many elements. */
static struct copy_span gap_here(struct copy_walk *w, uint64_t most) {
  uint64_t next = w->position + most;
  for (uint32_t i = 0; i < w->target->count; i++) {
    const struct copy_cursor *c = &w->cursors[i];
    if (c->spans[c->next].to < next) next = c->spans[c->next].to;
  }
  if (next <= w->position) {
    w->unfit = true;
    return (struct copy_span){0};
  }
  const char *from = w->previous ? w->previous + w->position * w->bytes : NULL;
  const uint64_t n = next - w->position;
  return (struct copy_span){w->position, n, from, from ? from + n * w->bytes : NULL};
}

struct copy_span copy_walk_next(struct copy_walk *w, uint64_t most, bool *gap) {
  const uint32_t count = w->target->count;
  uint32_t turn = w->turn;
  *gap = false;
  for (uint32_t tried = 0; tried < count; tried++) {
    const struct copy_cursor *c = &w->cursors[turn];
    struct copy_span s = c->spans[c->next];
    if (s.to == w->position) {
      w->turn = turn;
      if (s.n > most) s.n = most;
      return s;
    }
    turn = turn + 1 == count ? 0 : turn + 1;
  }
  *gap = true;
  return gap_here(w, most);
}

void copy_walk_take(struct copy_walk *w, uint64_t n, bool gap) {
  w->position += n;
  if (gap) return;
  struct copy_cursor *c = &w->cursors[w->turn];
  struct copy_span *s = &c->spans[c->next];
  if (n < s->n) {
    s->to += n;
    s->n -= n;
    if (s->from) s->from += n * w->bytes;
    return;
  }
  if (++c->next == c->found && !copy_cursor_fill(c)) w->unfit = true;
  w->turn = w->turn + 1 == w->target->count ? 0 : w->turn + 1;
}

/* The position of the values from which on nothing has been taken. */
static uint64_t copy_walk_taken(const struct copy_cursor *c) {
  uint64_t position = c->position;
  for (uint32_t k = c->next; k < c->found; k++) position -= c->spans[k].n;
  return position;
}

bool copy_walk_meets(const struct copy_walk *w, uint64_t total) {
  for (uint32_t i = 0; i < w->target->count && !w->unfit; i++) {
    const struct copy_cursor *c = &w->cursors[i];
    if (copy_walk_taken(c) != begins_at(c->input, w->position, total)) return false;
    if (c->inner && !copy_walk_meets(c->inner, c->input->total)) return false;
  }
  return !w->unfit;
}
