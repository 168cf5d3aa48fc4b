/* splitters.c - see splitters.h. In each round every rank gives samples of the elements that
 * are not decided. All ranks get all samples, and compute the same from them.
 *
 * For a border within a segment, the number of elements of each rank that go before it lies in
 * an interval. A sample is an element of a rank's block. From the samples in order follows how
 * many elements are before each, at least and at most. Samples that are certainly before the
 * border, or certainly not, narrow the intervals, until these are points.
 */
#include "cvl-mpi/operations/splitters.h"

#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/views.h"

/* An element of a piece: a rank's part of the segment. */
struct sample {
  uint64_t key;
  unsigned rank;
  uint64_t position;    /* in the sorted piece */
  uint64_t least, most; /* bounds of the number of elements of the segment before it */
};

/* The borders of blocks within one segment; they are neighbours. */
struct group {
  struct border segment;
  unsigned first, count;    /* first border, number of borders */
  uint64_t *length, *start; /* for each rank: length of its piece, and where the piece
                               begins in the block */
};

/* The number of elements of a rank's piece that go before a border, as an interval. */
struct interval {
  uint64_t low, high;
};

struct splitters {
  const struct view *view;
  unsigned ranks;
  struct group *groups;
  unsigned group_count;
  struct interval *intervals; /* at b * ranks + r for border b and rank r */
  uint64_t **positions;       /* by group and rank: positions of the samples of this round,
                                 ascending */
  uint64_t *counts;
  unsigned rounds;
};

enum { LEAST = 4, ROUNDS_MOST = 32 };

/* ---- borders ---- */

/* Returns whether border b, between ranks b - 1 and b, is within a segment. */
static bool splitters_is_within(const struct view *v, unsigned b) {
  return v->borders[b].end > v->at->start[b];
}

static void measure_pieces(struct cvl_context *c, const struct splitters *s, struct group *g) {
  g->length = mpi_alloc(c, 2 * s->ranks * sizeof *g->length);
  g->start = g->length + s->ranks;
  for (unsigned r = 0; r < s->ranks; r++) {
    const struct mpi_range block = distribution_range(s->view->at, r);
    const uint64_t begin = g->segment.begin;
    g->length[r] = within_block(begin, g->segment.end, block);
    g->start[r] = begin > block.first ? begin - block.first : 0;
  }
}

static void splitters_find_groups(struct cvl_context *c, struct splitters *s) {
  s->groups = mpi_alloc(c, s->ranks * sizeof *s->groups);
  for (unsigned b = 1; b < s->ranks; b++) {
    const struct border *within = &s->view->borders[b];
    if (!splitters_is_within(s->view, b)) continue;
    struct group *last = s->group_count ? &s->groups[s->group_count - 1] : NULL;
    if (!last || last->segment.first != within->first) {
      last = &s->groups[s->group_count++];
      *last = (struct group){.segment = *within, .first = b};
      measure_pieces(c, s, last);
    }
    last->count = b - last->first + 1;
  }
}

static void begin_intervals(struct cvl_context *c, struct splitters *s) {
  s->intervals = mpi_alloc(c, s->ranks * s->ranks * sizeof *s->intervals);
  for (unsigned k = 0; k < s->group_count; k++) {
    const struct group *g = &s->groups[k];
    for (unsigned b = g->first; b < g->first + g->count; b++) {
      for (unsigned r = 0; r < s->ranks; r++)
        s->intervals[b * s->ranks + r].high = g->length[r];
    }
  }
}

/* ---- the choice of samples, which every rank computes for all ---- */

static int compare_words(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint64_t unique(uint64_t *x, uint64_t n) {
  uint64_t m = 0;
  qsort(x, n, sizeof *x, compare_words);
  for (uint64_t i = 0; i < n; i++) {
    if (m == 0 || x[m - 1] != x[i]) x[m++] = x[i];
  }
  return m;
}

/* Returns the most positions that sample_interval may give. */
static uint64_t sample_room(struct interval i, uint64_t most) {
  const uint64_t n = i.high - i.low;
  return (n < most ? n : most) + 2;
}

/* Chooses up to `most` positions of an interval, evenly spaced, beginning at a phase of `of`.
 * Adds the two positions next to the interval, even if it is empty; otherwise little would be
 * known of that rank. */
static uint64_t sample_interval(struct interval i, uint64_t length, uint64_t most,
                                unsigned phase, unsigned of, uint64_t *to) {
  const uint64_t n = i.high - i.low, many = n < most ? n : most;
  uint64_t m = 0;
  if (i.low > 0) to[m++] = i.low - 1;
  if (i.high < length) to[m++] = i.high;
  for (uint64_t k = 0; k < many; k++) {
    const double at =
        many == n ? (double)k : ((double)k + (phase + 0.5) / of) * (double)n / (double)many;
    const uint64_t position = i.low + (uint64_t)at;
    to[m++] = position < i.high ? position : i.high - 1;
  }
  return m;
}

static bool decided(const struct splitters *s, const struct group *g, unsigned b) {
  for (unsigned r = 0; r < s->ranks; r++) {
    const struct interval i = s->intervals[b * s->ranks + r];
    if (i.low < i.high && g->length[r] > 0) return false;
  }
  return true;
}

static void splitters_choose(struct cvl_context *c, struct splitters *s, unsigned k,
                             unsigned r) {
  const struct group *g = &s->groups[k];
  unsigned open = 0, phase = 0;
  uint64_t n = 0, room = 0;
  for (unsigned b = g->first; b < g->first + g->count; b++) open += !decided(s, g, b);
  /* The number doubles each round, so that there is an end whatever the keys are. */
  const uint64_t most = (c->samples / (open ? open : 1) + LEAST) << s->rounds;
  for (unsigned b = g->first; b < g->first + g->count; b++)
    room += sample_room(s->intervals[b * s->ranks + r], most);
  uint64_t *to = mpi_alloc(c, (room + 1) * sizeof *to);
  for (unsigned b = g->first; b < g->first + g->count; b++) {
    if (decided(s, g, b)) continue;
    n += sample_interval(s->intervals[b * s->ranks + r], g->length[r], most, phase++, open,
                         to + n);
  }
  s->positions[k * s->ranks + r] = to;
  s->counts[k * s->ranks + r] = unique(to, n);
}

/* Chooses the samples of a round. Returns false if nothing is left to decide. */
static bool choose_all(struct cvl_context *c, struct splitters *s) {
  bool any = false;
  for (unsigned k = 0; k < s->group_count; k++) {
    for (unsigned r = 0; r < s->ranks; r++) {
      splitters_choose(c, s, k, r);
      any = any || s->counts[k * s->ranks + r] > 0;
    }
  }
  return any;
}

/* ---- a round ---- */

/* Returns the number of samples that a rank gives. */
static uint64_t given_by(const struct splitters *s, unsigned r) {
  uint64_t n = 0;
  for (unsigned k = 0; k < s->group_count; k++) n += s->counts[k * s->ranks + r];
  return n;
}

static void splitters_read_own(const struct cvl_context *c, const struct splitters *s,
                               const uint64_t *keys, uint64_t *to) {
  for (unsigned k = 0; k < s->group_count; k++) {
    const uint64_t *at = s->positions[k * s->ranks + c->rank];
    for (uint64_t i = 0; i < s->counts[k * s->ranks + c->rank]; i++)
      *to++ = keys ? keys[s->groups[k].start[c->rank] + at[i]] : 0;
  }
}

/* Returns the keys of all samples, `most` words for each rank. */
static uint64_t *gather_keys(struct cvl_context *c, const struct splitters *s,
                             const uint64_t *keys, uint64_t *most) {
  *most = 0;
  for (unsigned r = 0; r < s->ranks; r++) {
    const uint64_t n = given_by(s, r);
    if (n > *most) *most = n;
  }
  uint64_t *mine = mpi_alloc(c, *most * sizeof *mine);
  uint64_t *all = mpi_alloc(c, s->ranks * *most * sizeof *all);
  splitters_read_own(c, s, keys, mine);
  comm_gather(c->comm, mine, *most * sizeof *mine, all);
  free(mine);
  return all;
}

static int compare_samples(const void *a, const void *b) {
  const struct sample *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return (x->position > y->position) - (x->position < y->position);
}

/* Returns the samples of group k in order. taken[r] counts rank r's keys that groups have
 * used. */
static struct sample *samples_of(struct cvl_context *c, const struct splitters *s, unsigned k,
                                 const uint64_t *all, uint64_t most, uint64_t *taken,
                                 uint64_t *n) {
  *n = 0;
  for (unsigned r = 0; r < s->ranks; r++) *n += s->counts[k * s->ranks + r];
  struct sample *samples = mpi_alloc(c, *n * sizeof *samples), *to = samples;
  for (unsigned r = 0; r < s->ranks; r++) {
    const uint64_t *at = s->positions[k * s->ranks + r];
    for (uint64_t i = 0; i < s->counts[k * s->ranks + r]; i++)
      *to++ = (struct sample){.key = all[r * most + taken[r]++], .rank = r, .position = at[i]};
  }
  qsort(samples, *n, sizeof *samples, compare_samples);
  return samples;
}

/* Bounds how many elements are before each sample. On its own rank they are as many as its
 * position. On another rank there are at least those up to the last sample passed, and at most
 * those up to the next one. */
static void bound_samples(struct cvl_context *c, const struct splitters *s, unsigned k,
                          struct sample *samples, uint64_t n) {
  const struct group *g = &s->groups[k];
  uint64_t *passed = mpi_alloc(c, s->ranks * sizeof *passed), least = 0, most = 0;
  uint64_t *const *positions = &s->positions[k * s->ranks];
  const uint64_t *counts = &s->counts[k * s->ranks];
  for (unsigned r = 0; r < s->ranks; r++) most += counts[r] ? positions[r][0] : g->length[r];
  for (uint64_t i = 0; i < n; i++) {
    struct sample *x = &samples[i];
    const unsigned r = x->rank;
    const uint64_t p = passed[r]++, before = p > 0 ? positions[r][p - 1] + 1 : 0;
    const uint64_t next = p + 1 < counts[r] ? positions[r][p + 1] : g->length[r];
    x->least = least - before + x->position;
    x->most = most;
    least = x->least + 1;
    most += next - x->position;
  }
  free(passed);
}

/* Narrows the intervals of border b by samples that are certainly among the first `target`
 * elements of the segment, and by samples that certainly are not. */
static void splitters_narrow(struct splitters *s, unsigned b, uint64_t target,
                             const struct sample *samples, uint64_t n) {
  struct interval *intervals = &s->intervals[b * s->ranks];
  for (uint64_t i = 0; i < n && samples[i].most < target; i++) {
    struct interval *own = &intervals[samples[i].rank];
    if (samples[i].position >= own->low) own->low = samples[i].position + 1;
  }
  for (uint64_t i = n; i-- > 0 && samples[i].least >= target;) {
    struct interval *own = &intervals[samples[i].rank];
    if (samples[i].position < own->high) own->high = samples[i].position;
  }
}

static void narrow_all(struct cvl_context *c, struct splitters *s, const uint64_t *all,
                       uint64_t most) {
  uint64_t *taken = mpi_alloc(c, s->ranks * sizeof *taken);
  for (unsigned k = 0; k < s->group_count; k++) {
    const struct group *g = &s->groups[k];
    uint64_t n;
    struct sample *samples = samples_of(c, s, k, all, most, taken, &n);
    bound_samples(c, s, k, samples, n);
    for (unsigned b = g->first; b < g->first + g->count; b++)
      splitters_narrow(s, b, s->view->at->start[b] - g->segment.begin, samples, n);
    free(samples);
  }
  free(taken);
}

static void free_round(struct splitters *s) {
  for (unsigned i = 0; i < s->group_count * s->ranks; i++) free(s->positions[i]);
}

static bool splitters_round_of(struct cvl_context *c, struct splitters *s,
                               const uint64_t *keys) {
  const bool any = choose_all(c, s);
  if (any) {
    uint64_t most, *all = gather_keys(c, s, keys, &most);
    narrow_all(c, s, all, most);
    free(all);
  }
  free_round(s);
  s->rounds += s->rounds < ROUNDS_MOST;
  return any;
}

/* ---- the cuts ---- */

static uint64_t clamped(uint64_t position, struct mpi_range block) {
  if (position < block.first) return 0;
  return position - block.first < block.n ? position - block.first : block.n;
}

/* Cuts blocks at positions, and within the segment of a group as decided. */
static uint64_t *cuts_of(struct cvl_context *c, const struct splitters *s) {
  uint64_t *cuts = mpi_alloc(c, (s->ranks + 1) * s->ranks * sizeof *cuts);
  for (unsigned b = 0; b <= s->ranks; b++) {
    for (unsigned r = 0; r < s->ranks; r++)
      cuts[b * s->ranks + r] =
          clamped(s->view->at->start[b], distribution_range(s->view->at, r));
  }
  for (unsigned k = 0; k < s->group_count; k++) {
    const struct group *g = &s->groups[k];
    for (unsigned b = g->first; b < g->first + g->count; b++) {
      for (unsigned r = 0; r < s->ranks; r++) {
        if (g->length[r] > 0)
          cuts[b * s->ranks + r] = g->start[r] + s->intervals[b * s->ranks + r].low;
      }
    }
  }
  return cuts;
}

uint64_t *splitters_find(struct cvl_context *c, const struct view *view, const uint64_t *keys) {
  struct splitters s = {.view = view, .ranks = c->ranks};
  splitters_find_groups(c, &s);
  begin_intervals(c, &s);
  s.positions = mpi_alloc(c, (s.group_count * s.ranks + 1) * sizeof *s.positions);
  s.counts = mpi_alloc(c, (s.group_count * s.ranks + 1) * sizeof *s.counts);
  while (splitters_round_of(c, &s, keys)) continue;
  uint64_t *cuts = cuts_of(c, &s);
  for (unsigned k = 0; k < s.group_count; k++) free(s.groups[k].length);
  free(s.groups);
  free(s.intervals);
  free(s.positions);
  free(s.counts);
  return cuts;
}
