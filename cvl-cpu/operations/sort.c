/* sort.c - sorting within segments, split over threads as ranking is (rank.h).
 *
 * Elements move without their positions. All threads together partition a long segment into
 * buckets by the highest digit of its keys; then each thread sorts some of the buckets. A
 * bucket that is large itself, because many keys are close together, is partitioned by all
 * threads again.
 */
#include <string.h>

#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/operations/rank.h"

/* A bucket with more than this fraction of a segment would leave other threads without work. */
enum { CROWDED = 8, CROWD_LEAST = 128 << 10, ALONE = 1 << 20 };

/* Returns the bits in which keys differ. */
static struct radix_bits sort_bits_of(const struct radix_keys *k) {
  const uint64_t range = k->most - k->least;
  if (range == 0) return (struct radix_bits){.least = k->least};
  return (struct radix_bits){.least = k->least,
                             .low = (unsigned)__builtin_ctzll(k->varying),
                             .high = 64 - (unsigned)__builtin_clzll(range)};
}

static void sort_segment(const struct rank_job *j, uint64_t p, uint64_t n, char *room) {
  const char *x = j->x + p * j->element;
  char *out = j->out + p * j->element;
  const struct radix_keys keys = j->row->keys(x, n);
  const struct radix_bits bits = sort_bits_of(&keys);
  memcpy(out, x, (size_t)n * j->element);
  j->row->bucket(out, room, 0, n, &bits, true);
}

/* ---- long segments ---- */

struct long_segment {
  const struct rank_job *job;
  unsigned chunks;
  char *out, *spare;
  struct radix_keys *keys; /* the range of each chunk's keys */
  uint64_t *counts;        /* SORT_DIGITS for each chunk */
  /* The current step. */
  const char *from;
  char *to; /* out or spare */
  uint64_t first, n;
  struct radix_digit digit;
  struct radix_bits rest; /* the bits below the digit */
  const uint64_t *ends;   /* the ends of the buckets */
  uint64_t most;          /* the most elements in a bucket for one thread */
};

static uint64_t sort_chunk_begin(const struct long_segment *g, uint64_t chunk) {
  return g->first + g->n / g->chunks * chunk + (chunk == g->chunks ? g->n % g->chunks : 0);
}

static void find_keys(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  struct long_segment *g = arg;
  (void)worker;
  for (uint64_t chunk = first; chunk < last; chunk++) {
    const uint64_t begin = sort_chunk_begin(g, chunk);
    g->keys[chunk] = g->job->row->keys(g->from + begin * g->job->element,
                                       sort_chunk_begin(g, chunk + 1) - begin);
  }
}

static void sort_count_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  struct long_segment *g = arg;
  (void)worker;
  for (uint64_t chunk = first; chunk < last; chunk++) {
    uint64_t *counts = g->counts + chunk * SORT_DIGITS;
    const uint64_t begin = sort_chunk_begin(g, chunk);
    memset(counts, 0, SORT_DIGITS * sizeof *counts);
    g->job->row->count(g->from, begin, sort_chunk_begin(g, chunk + 1) - begin, &g->digit,
                       counts);
  }
}

static void sort_move_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  struct long_segment *g = arg;
  (void)worker;
  for (uint64_t chunk = first; chunk < last; chunk++) {
    const uint64_t begin = sort_chunk_begin(g, chunk);
    g->job->row->move(g->from, begin, sort_chunk_begin(g, chunk + 1) - begin, &g->digit,
                      g->counts + chunk * SORT_DIGITS, g->to);
  }
}

/* Turns counts into the positions to write to: a scan by digit, and by chunk within a digit. */
static void sort_scan_counts(const struct long_segment *g, uint64_t *ends) {
  uint64_t sum = g->first;
  for (unsigned digit = 0; digit < SORT_DIGITS; digit++) {
    for (unsigned chunk = 0; chunk < g->chunks; chunk++) {
      uint64_t *c = &g->counts[chunk * SORT_DIGITS + digit];
      const uint64_t many = *c;
      *c = sum;
      sum += many;
    }
    ends[digit] = sum;
  }
}

/* Returns the position where bucket `digit` begins. */
static uint64_t bucket_begin(const struct long_segment *g, uint64_t digit) {
  return digit == 0 ? g->first : g->ends[digit - 1];
}

static void sort_buckets(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct long_segment *g = arg;
  (void)worker;
  for (uint64_t digit = first; digit < last; digit++) {
    const uint64_t begin = bucket_begin(g, digit), n = g->ends[digit] - begin;
    if (n == 0 || n > g->most) continue;
    const bool stay = g->to == g->out;
    g->job->row->bucket(g->to, stay ? g->spare : g->out, begin, n, &g->rest, stay);
  }
}

/* Sorts from[first .. first + n) by these bits, into the same positions of g->out. */
static bool sort_by_all(struct cvl_context *c, uint64_t site, struct long_segment g,
                        const struct radix_bits *bits) {
  uint64_t ends[SORT_DIGITS];
  g.digit = radix_highest(bits, SORT_BITS);
  g.rest = (struct radix_bits){bits->least, bits->low, g.digit.shift};
  g.to = g.from == g.spare || g.rest.low == g.rest.high ? g.out : g.spare;
  if (g.from == g.out) g.to = g.spare;
  if (!all_done(c, site, pool_for(c->pool, g.chunks, 1, sort_count_chunk, &g))) return false;
  sort_scan_counts(&g, ends);
  if (!all_done(c, site, pool_for(c->pool, g.chunks, 1, sort_move_chunk, &g))) return false;
  if (g.rest.low == g.rest.high) { /* sorted */
    const size_t at = (size_t)g.first * g.job->element, bytes = (size_t)g.n * g.job->element;
    return g.to == g.out || copy_bytes(c, site, g.out + at, g.to + at, bytes);
  }
  g.ends = ends;
  g.most = g.n / CROWDED > CROWD_LEAST ? g.n / CROWDED : CROWD_LEAST;
  if (g.most > ALONE) g.most = ALONE;
  if (!all_done(c, site, pool_for(c->pool, SORT_DIGITS, 1, sort_buckets, &g))) return false;
  for (unsigned digit = 0; digit < SORT_DIGITS; digit++) {
    struct long_segment large = g;
    large.first = bucket_begin(&g, digit);
    large.n = ends[digit] - large.first;
    large.from = g.to;
    large.chunks = radix_chunks(c->pool, large.n);
    if (large.n > g.most && !sort_by_all(c, site, large, &g.rest)) return false;
  }
  return true;
}

static bool sort_long_segment(struct cvl_context *c, uint64_t site, const struct rank_job *j,
                              uint64_t p, uint64_t n) {
  struct long_segment g = {.job = j,
                           .chunks = radix_chunks(c->pool, n),
                           .out = j->out + p * j->element,
                           .from = j->x + p * j->element,
                           .n = n};
  const size_t counts_bytes = g.chunks * SORT_DIGITS * sizeof *g.counts;
  const size_t keys_bytes = g.chunks * sizeof *g.keys, spare_bytes = (size_t)n * j->element;
  char *scratch = scratch_alloc(c, site, counts_bytes + keys_bytes + spare_bytes);
  if (!scratch) return false;
  g.counts = (uint64_t *)(void *)scratch;
  g.keys = (struct radix_keys *)(void *)(scratch + counts_bytes);
  g.spare = scratch + counts_bytes + keys_bytes;
  bool good = touch_bytes(c, site, g.out, spare_bytes) &&
              touch_bytes(c, site, g.spare, spare_bytes) &&
              all_done(c, site, pool_for(c->pool, g.chunks, 1, find_keys, &g));
  if (good) {
    const struct radix_keys keys = rank_all_keys(g.keys, g.chunks);
    const struct radix_bits bits = sort_bits_of(&keys);
    good = bits.low == bits.high ? copy_bytes(c, site, g.out, g.from, spare_bytes)
                                 : sort_by_all(c, site, g, &bits);
  }
  scratch_free(c, scratch, counts_bytes + keys_bytes + spare_bytes);
  return good;
}

struct rank_job sort_job_for(const struct cvl_context *c, enum cvl_elem e, bool down) {
  const struct rank_row *row = &c->kernels->rank->row[e][c->int_elem][down];
  return (struct rank_job){.row = row,
                           .element = elem_info(e)->bytes,
                           .result = elem_info(e)->bytes,
                           .room_each = elem_info(e)->bytes,
                           .short_segments = row->ordered,
                           .medium_segment = sort_segment,
                           .long_segment = sort_long_segment};
}

bool cpu_sort(struct cvl_context *c, uint64_t site, enum cvl_op op, const struct cvl_value *v,
              const struct cvl_value *d, struct cvl_value *out) {
  struct rank_job j = sort_job_for(c, (enum cvl_elem)v->elem, op == OP_SORT_DOWN);
  rank_job_of(&j, v, d);
  return rank_into(c, site, &j, (enum cvl_elem)v->elem, out);
}
