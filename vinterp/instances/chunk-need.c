/* chunk-need.c - what chunks of a function need, learned from those that have ended.
 *
 * Bytes and seconds are lines over the weight of a chunk (chunk-size.c). Seconds are kept for
 * two ways: a chunk executed by the machine alone, with all threads in each operation, and a
 * range executed by a thread of the team. The faster way follows from measured times of both,
 * not from what threads ought to gain: a small call may take longer on each of two threads
 * than on one.
 *
 * A chunk's own needs are measured. Its results, which are stored after it, do not count.
 * Neither does what it leaves for the whole call, such as the offsets of a descriptor that all
 * instances share.
 */
#include "vinterp/machine/machine-private.h"

#include <math.h>
#include <time.h>

enum { APART = 2 }; /* weights that differ by this factor separate the fixed part */
/* FORGET: factor of a line's anchor after each chunk. DOUBT: part of its time by which a way
 * is doubted at first. TRIED_SECONDS: longer calls are not tried the other way. */
static const double FORGET = 0.875, DOUBT = 1.0 / 8, TRIED_SECONDS = 10e-3;

/* Raises the peak of all present chunks to the recent peak. */
static void note_peak(struct machine *m) {
  const uint64_t peak = m->backend->statistics(m->context).recent_peak_bytes;
  for (uint64_t k = 0; k < m->chunks.count; k++) {
    struct cut *cut = &m->chunks.cuts[k];
    if (peak > cut->peak) cut->peak = peak;
  }
}

/* Returns the processor time of the calling thread, which excludes waits for a processor. */
static double thread_seconds(const struct machine *m) {
  struct timespec t;
  if (!m->team) return 0;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void chunk_measure_begin(struct machine *m, struct cut *cut) {
  if (!m->backend->restart_peak) return;
  note_peak(m);
  m->backend->restart_peak(m->context);
  cut->live = cut->peak = m->backend->statistics(m->context).live_bytes;
  cut->begun = thread_seconds(m);
}

/* Moves a line to the latest chunk. If the weights differ enough, and a heavier chunk needs
 * more, it also goes through its old value at `before`. Otherwise it keeps its form. */
static void move_line(struct chunk_line *line, bool apart, double before, double weight,
                      double y) {
  const double slope = apart ? (y - chunk_line_at(line, before)) / (weight - before) : 0;
  const double expected = chunk_line_at(line, weight);
  if (slope > 0 || expected <= 0) {
    line->each = slope > 0 ? fmin(slope, y / weight) : y / weight;
    line->fixed = y - line->each * weight;
  } else {
    line->each *= y / expected;
    line->fixed *= y / expected;
  }
}

/* Returns whether two chunks of these weights separate the fixed part from the rest. */
static bool chunk_need_is_apart(double before, double weight) {
  return weight >= APART * before || weight <= before / APART;
}

/* The anchor becomes lighter gradually, so the times of large chunks are not forgotten at once
 * when small ones follow. */
static void note_seconds(struct chunk_way *way, const struct chunk_measured *x) {
  move_line(&way->seconds, chunk_need_is_apart(way->weight, x->weight), way->weight, x->weight,
            x->seconds);
  way->weight = fmax(x->weight, FORGET * way->weight);
  way->chunks++;
}

/* If only one way has been tried, its time stands for both. */
static void note_need(struct chunk_need *need, const struct chunk_measured *x, bool team) {
  struct chunk_way *way = team ? &need->team : &need->alone;
  struct chunk_way *other = team ? &need->alone : &need->team;
  const bool apart = chunk_need_is_apart(need->weight, x->weight);
  move_line(&need->bytes, apart, need->weight, x->weight, x->bytes);
  need->apart = need->apart || (apart && need->chunks > 0);
  need->weight = fmax(x->weight, FORGET * need->weight);
  need->largest = fmax(x->weight, need->largest);
  need->chunks++;
  note_seconds(way, x);
  if (other->chunks == 0) {
    other->seconds = way->seconds;
    other->weight = way->weight;
  }
}

void chunk_learn(struct machine *parent, struct cut *whole, struct cut *cut) {
  if (cut->measured.weight > 0) {
    note_need(&parent->needs[cut->function], &cut->measured, cut->team != NULL);
    whole->spent += cut->measured.seconds;
  }
  cut->measured.weight = 0;
}

/* Lowers the expected time of the way that was not chosen, until it is tried again: a time
 * that was measured when something else ran must not count for ever. The more often it has
 * been measured, the smaller the step is. Only short calls are worth the trial. */
static void doubt(struct chunk_way *way) {
  const double part = way->chunks > 0 ? 1 - DOUBT / (double)way->chunks : 1;
  way->seconds.fixed *= part;
  way->seconds.each *= part;
}

void chunk_adopt(struct machine *parent, const struct machine *sub) {
  for (uint32_t f = 0; f < parent->program->function_count; f++) {
    if (sub->needs[f].chunks > parent->needs[f].chunks) parent->needs[f] = sub->needs[f];
  }
}

/* Returns the bytes that the chunk needed itself, without those that it leaves and that are no
 * results. */
static double own_bytes(struct machine *m, const struct cut *cut, const struct value *results) {
  const uint64_t live = m->backend->statistics(m->context).live_bytes;
  uint64_t before = cut->live, kept = live > before ? live - before : 0;
  for (uint32_t k = 0; k < cut->result_count; k++) {
    const uint64_t bytes = chunk_bytes(m, &results[k]);
    kept = kept > bytes ? kept - bytes : 0;
  }
  before += kept;
  return cut->peak > before ? (double)(cut->peak - before) : 1;
}

void chunk_measure_end(struct machine *m, struct cut *cut, const struct value *results) {
  if (!m->backend->restart_peak) return;
  note_peak(m);
  cut->measured = (struct chunk_measured){.weight = cut->weight,
                                          .bytes = own_bytes(m, cut, results),
                                          .seconds = thread_seconds(m) - cut->begun};
  if (!cut->team) chunk_learn(m, cut, cut);
}

void chunk_count(struct cut *cut) {
  struct cut_counts *c = &cut->counts;
  const uint64_t peak = (uint64_t)cut->measured.bytes;
  if (c->chunks == 0 || cut->n < c->least) c->least = cut->n;
  if (cut->n > c->most) c->most = cut->n;
  if (peak > c->peak) c->peak = peak;
  c->chunks++;
  if (cut->most) cut->most += (cut->most + 1) / 2; /* other chunks may need less */
}

void chunk_measure_cut(struct machine *m, const struct cut *cut) {
  struct chunk_need *need = &m->needs[cut->function];
  if (m->team && !m->sub && cut->spent > 0 && cut->spent < TRIED_SECONDS)
    doubt(cut->counts.threads > 0 ? &need->alone : &need->team);
  if (m->profile && cut->counts.chunks > 1)
    profile_cut(m->profile, m->profile_rows[cut->function], &cut->counts, cut->bound);
}
