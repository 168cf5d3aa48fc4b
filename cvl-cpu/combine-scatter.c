/* combine-scatter.c - see combine-scatter.h: where the indices point to, and which way is
 * taken. Threads have ranges of destinations, for which each reads all indices (ranges.h), so
 * that the order of elements never depends on them.
 */
#include "cvl-cpu/combine-scatter-job.h"

uint64_t scatter_locate(struct scatter_job *j, struct walk *w, uint64_t end, uint64_t *at) {
  const uint64_t begin = w->position;
  const uint64_t n = end - begin < SCATTER_STEP ? end - begin : SCATTER_STEP;
  const char *index = (const char *)j->s->index + begin * elem_bytes((uint8_t)j->c->int_elem);
  const uint64_t found =
      walk_in_one(w, begin + n)
          ? locate_in_one(j->ints, &j->s->far, w, begin + n, index, NULL, at)
          : locate_across(j->move, j->ints, &j->s->far, w, begin + n, index, NULL, at);
  if (found == n) return n;
  note_lowest(&j->fault, begin + found);
  return 0;
}

void scatter_visit(struct scatter_job *j, const struct range *r, scatter_take *take,
                   void *with) {
  const struct segments *near = &j->s->near;
  uint64_t at[SCATTER_STEP + SPREAD_SLACK / sizeof(uint64_t)];
  const uint64_t end = segment_start(near, r->past), first = segment_start(near, r->first);
  struct walk w = walk_from(near, (struct path_coordinate){r->first, first});
  while (w.position < end && !pool_asked(j->c->pool)) {
    const uint64_t position = w.position, n = scatter_locate(j, &w, end, at);
    if (n == 0) return;
    take(j, r, position, n, at, with);
  }
}

bool scatter_ranges(struct scatter_job *j, uint64_t site, pool_body *body) {
  const uint64_t work = segments_steps(&j->s->near) + segments_steps(&j->s->far);
  j->ranges = grain_for(j->c, work, WIDEST) >= work ? 1 : pool_threads(j->c->pool);
  return all_done(j->c, site, pool_for(j->c->pool, j->ranges, 1, body, j));
}

static bool scatter(struct scatter_job *j, uint64_t site) {
  bool exact = j->s->near.total == 0 || j->s->far.total == 0;
  for (uint32_t i = 0, all = 1; i < j->s->columns; i++) {
    all &= j->s->column[i].exact != OP_NONE;
    exact |= all && i + 1 == j->s->columns;
  }
  if (exact) return scatter_exactly(j, site);
  return scatter_is_few(j) ? scatter_few(j, site) : scatter_grouped(j, site);
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
    j.item += j.bytes[i];
  }
  if (s->far.total == 0 && s->near.total == 0) return true;
  if (!scatter(&j, site)) return false;
  if (j.fault == UINT64_MAX) return true;
  const uint64_t k = segment_at(&s->near, j.fault);
  return segment_fault(c, site, CVL_E_INDEX, j.fault,
                       int_element(s->index, j.fault, elem_bytes((uint8_t)c->int_elem)),
                       &s->far, k);
}
