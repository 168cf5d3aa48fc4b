/* scatter.c - see scatter.h. Locates the indices, and chooses one of the two ways. Threads take
 * chunks of the positions, or ranges of the destinations, for which each reads all indices
 * (operations/ranges.h).
 */
#include "cvl-cpu/combine/scatter-job.h"

/* Whether the indices of a step are already positions: INTs as wide as positions, counted from
 * the start of all destinations. */
static bool is_located(const struct scatter_job *j, struct walk *w, uint64_t last) {
  return j->c->int_elem == CVL_I64 && walk_in_one(w, last) &&
         segment_start(&j->s->far, w->segment - 1) == 0;
}

/* Locates the indices from w->position to before `last`. *at is then `room`, or the indices
 * themselves. Returns how many are within range. */
static uint64_t scatter_locate(const struct scatter_job *j, struct walk *w, uint64_t last,
                               uint64_t *room, const uint64_t **at) {
  const uint64_t n = last - w->position;
  const char *index =
      (const char *)j->s->index + w->position * elem_bytes((uint8_t)j->c->int_elem);
  *at = room;
  if (is_located(j, w, last)) {
    *at = (const uint64_t *)(const void *)index;
    w->position = last;
    return j->checked ? n : j->ints->within(n, index, segment_start(&j->s->far, w->segment));
  }
  return walk_in_one(w, last)
             ? locate_in_one(j->ints, &j->s->far, w, last, index, NULL, room)
             : locate_across(j->move, j->ints, &j->s->far, w, last, index, NULL, room);
}

/* Prefetches the next step: the hardware prefetcher stops at the end of a page. */
static void fetch(const char *from, size_t bytes) {
  for (size_t k = 0; k < SCATTER_STEP * bytes; k += VECTOR_SLACK)
    __builtin_prefetch(from + SCATTER_STEP * bytes + k);
}

static void fetch_next(const struct scatter_job *j, uint64_t position) {
  const size_t bytes = elem_bytes((uint8_t)j->c->int_elem);
  fetch((const char *)j->s->index + position * bytes, bytes);
  for (uint32_t c = 0; c < j->s->columns; c++) {
    if (!j->s->column[c].same) fetch(scatter_values(j, c, position), j->bytes[c]);
  }
}

static void visit(struct scatter_job *j, struct walk w, uint64_t end, scatter_take *take,
                  void *with) {
  uint64_t room[SCATTER_STEP + SPREAD_SLACK / sizeof(uint64_t)];
  while (w.position < end && !pool_asked(j->c->pool)) {
    const uint64_t begin = w.position;
    const uint64_t n = end - begin < SCATTER_STEP ? end - begin : SCATTER_STEP;
    fetch_next(j, begin);
    const uint64_t *at, found = scatter_locate(j, &w, begin + n, room, &at);
    if (found < n) {
      note_lowest(&j->fault, begin + found);
      return;
    }
    take(j, begin, n, at, with);
  }
}

void scatter_steps(struct scatter_job *j, uint64_t first, uint64_t last, scatter_take *take,
                   void *with) {
  const struct segments *near = &j->s->near;
  visit(j, walk_from(near, segments_split(near, first)), segments_split(near, last).position,
        take, with);
}

void scatter_visit(struct scatter_job *j, const struct range *r, scatter_take *take,
                   void *with) {
  const struct segments *near = &j->s->near;
  const uint64_t first = segment_start(near, r->first);
  visit(j, walk_from(near, (struct path_coordinate){r->first, first}),
        segment_start(near, r->past), take, with);
}

bool scatter_ranges(struct scatter_job *j, uint64_t site, pool_body *body) {
  const uint64_t work = segments_steps(&j->s->near) + segments_steps(&j->s->far);
  const bool serial = grain_for(j->c, work, WIDEST) >= work;
  j->ranges = serial ? 1 : ranges_for(j->c, &j->s->far, j->s->far.total * WIDEST);
  return all_done(j->c, site, pool_for(j->c->pool, j->ranges, 1, body, j));
}

static bool cpu_cpu_scatter(struct scatter_job *j, uint64_t site) {
  bool exact = j->s->near.total == 0 || j->s->far.total == 0;
  for (uint32_t i = 0, all = 1; i < j->s->columns; i++) {
    all &= j->s->column[i].exact != OP_NONE;
    exact |= all && i + 1 == j->s->columns;
  }
  return exact ? scatter_exactly(j, site) : scatter_grouped(j, site);
}

bool cpu_combine_scatter(struct cvl_context *c, uint64_t site,
                         const struct combine_scatter *s) {
  struct scatter_job j = {.c = c,
                          .s = s,
                          .move = c->kernels->move,
                          .ints = move_int(c->kernels->move, c->int_elem),
                          .fault = UINT64_MAX};
  for (uint32_t i = 0; i < s->columns; i++) {
    j.bytes[i] = elem_bytes(s->column[i].elem);
  }
  if (s->far.total == 0 && s->near.total == 0) return true;
  if (!cpu_cpu_scatter(&j, site)) return false;
  if (j.fault == UINT64_MAX) return true;
  const uint64_t k = segment_at(&s->near, j.fault);
  return segment_fault(c, site, CVL_E_INDEX, j.fault,
                       int_element(s->index, j.fault, elem_bytes((uint8_t)c->int_elem)),
                       &s->far, k);
}
