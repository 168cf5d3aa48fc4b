/* copies-data.c - operands for random superoperators of copies.
 *
 * Every input has runs, which are distributed to the segments of the result. In a segment the
 * runs of all inputs follow each other, mixed, with gaps or without; or their order is random,
 * or they overlap. The runs of the first input of an outer target have as many elements in all
 * as the inner target.
 */
#include "cvl/suite/copies.h"

#include <string.h>

enum { MOST_RUNS = 3 };

/* The data for one target, which has `groups` segments. */
struct builder {
  struct suite *s;
  const struct superop_case *c;
  struct host_value *params;
  uint64_t groups, mean; /* number of segments; elements of a run, on average */
  uint64_t gaps;         /* one run in so many comes after a gap; 0: there are no gaps */
  bool shuffles, overlaps, equal /* lengths of runs */;
};

static uint64_t copies_data_below(struct builder *m, uint64_t n) {
  return rng_below(&m->s->rng, n);
}

static struct host_value copies_data_lengths(struct builder *m, uint64_t n,
                                             const uint64_t *list) {
  struct host_value d = host_segdes(&m->s->heap, n);
  for (uint64_t k = 0; k < n; k++) {
    host_put_int(&d, k, (int64_t)list[k]);
    d.total += list[k];
  }
  return d;
}

static struct host_value single(struct builder *m, uint64_t n) {
  return copies_data_lengths(m, 1, &n);
}

static struct host_value copies_data_ints(struct builder *m, uint64_t n) {
  return host_vector(&m->s->heap, m->s->int_elem, n);
}

static struct host_value copies_data_elements(struct builder *m, uint32_t p, uint64_t n) {
  static const enum cvl_op op = OP_ADD;
  struct host_value v = host_vector(
      &m->s->heap,
      superop_elem((enum superop_kind)m->c->params[p], m->s->int_elem, m->s->float_elem), n);
  data_fill(m->s, CALL_ELEMENTWISE, op, &v);
  return v;
}

/* The runs of an input, in order: their lengths, and the segment of each. */
struct runs {
  uint64_t count, total;
  uint64_t *length, *group, *start; /* start: within the segment, once known */
};

static struct runs runs_new(struct builder *m, uint64_t count) {
  struct runs r = {.count = count};
  r.length = heap_alloc(&m->s->heap, 3 * (count + 1) * sizeof *r.length);
  r.group = r.length + count + 1;
  r.start = r.group + count + 1;
  return r;
}

static void runs_free(struct builder *m, struct runs *r) {
  heap_free(&m->s->heap, r->length, 3 * (r->count + 1) * sizeof *r->length);
}

/* Makes runs of about n elements in all, or exactly n. */
static struct runs copies_data_make_runs(struct builder *m, uint64_t n, bool exactly) {
  struct runs r = runs_new(m, n / m->mean + 1 + copies_data_below(m, 3));
  for (uint64_t k = 0; k < r.count; k++) {
    r.length[k] = m->equal ? m->mean : copies_data_below(m, 2 * m->mean + 1);
    if (exactly && (k + 1 == r.count || r.length[k] > n - r.total)) r.length[k] = n - r.total;
    r.total += r.length[k];
    r.group[k] = k * m->groups / r.count;
  }
  return r;
}

/* ---- where runs go ---- */

/* Lays out the runs of all inputs segment by segment. far[g]: the length of a segment. */
static void copies_data_lay_out(struct builder *m, struct runs *runs, uint32_t inputs,
                                uint64_t *far) {
  uint64_t next[COPIES_INPUTS] = {0};
  const bool in_turns = rng_one_in(&m->s->rng, 2);
  for (uint64_t g = 0; g < m->groups; g++) {
    uint32_t turn = 0;
    far[g] = 0;
    for (uint32_t done = 0; done < inputs; turn = (turn + 1) % inputs) {
      if (!in_turns) turn = (uint32_t)copies_data_below(m, inputs);
      struct runs *r = &runs[turn];
      const uint64_t k = next[turn];
      if (k < r->count && r->group[k] == g) {
        if (m->gaps && copies_data_below(m, m->gaps) == 0)
          far[g] += copies_data_below(m, 2 * m->mean + 1);
        r->start[k] = far[g];
        far[g] += r->length[k];
        next[turn]++;
      }
      done = 0;
      for (uint32_t i = 0; i < inputs; i++)
        done += next[i] == runs[i].count || runs[i].group[next[i]] != g;
    }
    if (m->gaps && copies_data_below(m, 2) == 0) far[g] += copies_data_below(m, 5);
  }
}

/* Exchanges runs of equal length, or moves any run to where it fits. If a PERMUTE is spoiled,
 * one run goes where another does. */
static void disturb(struct builder *m, struct runs *r, const uint64_t *far, bool permutes,
                    bool spoiled) {
  for (uint64_t k = 1; k < r->count && m->shuffles; k++) {
    const uint64_t i = copies_data_below(m, k);
    if (r->length[i] != r->length[k] || r->group[i] != r->group[k]) continue;
    const uint64_t start = r->start[i];
    r->start[i] = r->start[k];
    r->start[k] = start;
  }
  for (uint64_t k = 0; k < r->count && m->overlaps && !permutes; k++) {
    const uint64_t room = far[r->group[k]];
    if (room >= r->length[k] && copies_data_below(m, 4) == 0)
      r->start[k] = copies_data_below(m, room - r->length[k] + 1);
  }
  if (permutes && spoiled && r->count > 1 && copies_data_below(m, 2)) r->start[0] = r->start[1];
}

/* ---- operands ---- */

static void copies_data_spoil(struct builder *m, struct host_value *v) {
  static const int64_t outside[] = {-1, 1 << 20, INT32_MAX, INT32_MIN, 2};
  if (v->n == 0) return;
  const uint64_t at = copies_data_below(m, 3) ? copies_data_below(m, v->n) : v->n - 1;
  const int64_t by_one = host_int(v, at) + (copies_data_below(m, 2) ? 1 : -1);
  host_put_int(v, at, copies_data_below(m, 2) ? by_one : outside[copies_data_below(m, 5)]);
}

static void put_index(struct builder *m, const struct copies_index *x, const struct runs *r,
                      bool spoiled) {
  m->params[x->start] = copies_data_ints(m, r->count);
  for (uint64_t k = 0; k < r->count; k++)
    host_put_int(&m->params[x->start], k, (int64_t)r->start[k]);
  if (spoiled && copies_data_below(m, 3) == 0) copies_data_spoil(m, &m->params[x->start]);
  if (x->stride == NO_PARAM) return;
  m->params[x->stride] = copies_data_ints(m, r->count);
  for (uint64_t k = 0; k < r->count; k++) host_put_int(&m->params[x->stride], k, 1);
  if (spoiled && copies_data_below(m, 3) == 0) copies_data_spoil(m, &m->params[x->stride]);
}

/* Adds up the elements of each segment. */
static void copies_data_add_up(const struct runs *r, uint64_t *sums) {
  for (uint64_t k = 0; k < r->count; k++) sums[r->group[k]] += r->length[k];
}

/* Makes the source of a gather, and where its runs are there. */
static void put_source(struct builder *m, const struct copies_target *target,
                       const struct copies_input *p, const struct runs *to,
                       const uint64_t *near, bool spoiled) {
  struct runs own = {0};
  const struct runs *r = to;
  uint64_t *source = heap_alloc(&m->s->heap, m->groups * sizeof *source);
  if (p->own_runs) { /* each run of `to` is split in two */
    own = runs_new(m, 2 * to->count);
    for (uint64_t k = 0; k < own.count; k++) {
      const uint64_t n = to->length[k / 2], half = n / 2;
      own.length[k] = k % 2 ? n - half : half;
      own.group[k] = to->group[k / 2];
    }
    r = &own;
    m->params[p->from.runs] = copies_data_lengths(m, own.count, own.length);
    m->params[p->own_each] = single(m, own.count);
  }
  struct runs from = *r;
  from.start = heap_alloc(&m->s->heap, (r->count + 1) * sizeof *from.start);
  for (uint64_t g = 0; g < m->groups; g++) {
    const uint64_t more = copies_data_below(m, 2) ? copies_data_below(m, 10) : 0;
    source[g] =
        p->reads_previous ? (uint64_t)host_int(&m->params[target->far], g) : near[g] + more;
  }
  for (uint64_t k = 0, at = 0; k < r->count; k++) {
    if (k == 0 || r->group[k] != r->group[k - 1]) at = 0;
    const uint64_t room = source[r->group[k]];
    const bool anywhere = m->overlaps && room >= r->length[k];
    from.start[k] = anywhere ? copies_data_below(m, room - r->length[k] + 1) : at;
    at += r->length[k];
  }
  m->params[p->source] = copies_data_lengths(m, m->groups, source);
  m->params[p->values] = p->reads_previous
                             ? m->params[target->previous]
                             : copies_data_elements(m, p->values, m->params[p->source].total);
  if (p->positions != NO_PARAM)
    m->params[p->positions] = copies_data_lengths(m, m->groups, near);
  put_index(m, &p->from, &from, spoiled);
  heap_free(&m->s->heap, from.start, (r->count + 1) * sizeof *from.start);
  heap_free(&m->s->heap, source, m->groups * sizeof *source);
  if (p->own_runs) runs_free(m, &own);
}

static void put_input(struct builder *m, const struct copies_target *target,
                      const struct copies_input *p, const struct runs *r, bool spoiled) {
  uint64_t *near = heap_alloc(&m->s->heap, m->groups * sizeof *near);
  memset(near, 0, m->groups * sizeof *near);
  copies_data_add_up(r, near);
  if (!target->permutes) m->params[p->near] = copies_data_lengths(m, m->groups, near);
  m->params[p->to.runs] = copies_data_lengths(m, r->count, r->length);
  m->params[p->each] = single(m, r->count);
  put_index(m, &p->to, r, spoiled);
  if (p->gathered) put_source(m, target, p, r, near, spoiled);
  if (!p->gathered && p->values != NO_PARAM)
    m->params[p->values] = copies_data_elements(m, p->values, r->total);
  heap_free(&m->s->heap, near, m->groups * sizeof *near);
}

/* Makes the data of a target. The values of its first input have `inner` elements; UINT64_MAX:
 * any number. Returns the length of its result. */
static uint64_t put_target(struct builder *m, const struct copies_target *target, uint64_t n,
                           uint64_t inner, bool spoiled) {
  struct runs runs[COPIES_INPUTS];
  m->groups = target->groups == NO_PARAM ? 1 : 1 + copies_data_below(m, 5);
  m->gaps = target->permutes || copies_data_below(m, 2) ? 0 : 1 + copies_data_below(m, 20);
  m->shuffles = copies_data_below(m, 4) == 0;
  m->overlaps = copies_data_below(m, 5) == 0;
  m->equal = copies_data_below(m, target->permutes ? 2 : 4) == 0;
  uint64_t *far = heap_alloc(&m->s->heap, m->groups * sizeof *far), total = 0;
  for (uint32_t i = 0; i < target->count; i++) {
    const bool exactly = i == 0 && inner != UINT64_MAX;
    runs[i] = copies_data_make_runs(m, exactly ? inner : n / target->count, exactly);
  }
  copies_data_lay_out(m, runs, target->count, far);
  const bool shrinks = spoiled && !target->permutes && copies_data_below(m, 5) == 0,
             gone = copies_data_below(m, 2);
  for (uint64_t g = 0; g < m->groups; g++) {
    if (shrinks) far[g] = gone ? 0 : far[g] - copies_data_below(m, far[g] + 1);
    total += far[g];
  }
  m->params[target->far] = copies_data_lengths(m, m->groups, far);
  if (target->groups != NO_PARAM) m->params[target->groups] = single(m, m->groups);
  if (target->previous != NO_PARAM)
    m->params[target->previous] = copies_data_elements(m, target->previous, total);
  for (uint32_t i = 0; i < target->count; i++) {
    disturb(m, &runs[i], far, target->permutes, spoiled);
    put_input(m, target, &target->inputs[i], &runs[i], spoiled);
    runs_free(m, &runs[i]);
  }
  heap_free(&m->s->heap, far, m->groups * sizeof *far);
  return total;
}

void superop_copies_data(struct suite *s, const struct superop_case *c, uint64_t n,
                         bool spoiled, struct host_value *params) {
  static const uint64_t means[] = {1, 2, 3, 8, 17, 70, 900};
  struct builder m = {.s = s, .c = c, .params = params};
  uint64_t inner = UINT64_MAX;
  for (uint32_t i = 0; i < c->copies->count; i++) {
    m.mean = means[copies_data_below(&m, sizeof means / sizeof means[0])];
    inner = put_target(&m, &c->copies->targets[i], n, inner, spoiled);
  }
}
