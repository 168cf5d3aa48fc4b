/* chunk-size.c - how many instances a chunk has.
 *
 * By default (MACHINE_CHUNKS_AUTO) the machine measures. A chunk's *weight* is the bytes of
 * its slices, and a word for each instance. The memory and the time that it needs are lines
 * over the weight: a fixed part, such as the cost of each step, and a part for each byte.
 * Every chunk that ends moves the line of its function, up or down (chunk-need.c). The first
 * chunk of all is small. Each later one is at most GROWTH times as large as one that has been
 * measured.
 *
 * A call that is estimated to need less than the budget is not cut. But an estimate may be
 * wrong by any factor. So unless the call is very small, and if it costs nothing, the operands
 * are kept as for a chunk of all instances. If memory runs out, that is halved after all.
 *
 * The budget is BUDGET_BYTES, or a part of what is left of the memory limit if that is less. A
 * chunk never shrinks below the size at which most of its need is the fixed part, since a
 * smaller one gains nothing.
 *
 * On several threads a range should stay in the second-level cache of a core, with vectors
 * that are not too short. It should take several times its fixed part, and there should be
 * several ranges for each thread. Whether a call is worth threads follows from the same line.
 */
#include "vinterp/machine/machine-private.h"

#include <math.h>

enum {
  /* The first chunk of all may have ten thousand elements, but few instances, since each may
   * need any multiple of its weight. It is also a small part of all, so that more chunks
   * follow. */
  FIRST_BYTES = 10000 * 8,
  FIRST_INSTANCES = 16,
  FIRST_PART = 8,
  GROWTH = 8,
  /* A call that may need more bytes than this becomes a chunk of its own, if its operands take
   * no more than this fraction of the budget. Keeping operands and waiting costs about a
   * microsecond. */
  SMALL_BYTES = 64 << 10,
  KEPT = 8,
  LIMIT_PART = 4,
  /* part of the memory left: a chunk's peak is an estimate, and its results
     stay */
  TOO_LARGE = 2, /* slices that weigh so many times what was
expected are made anew */
  MOST_RANDOM = 9
};

/* The budget for vectors in the memory of the host. A chunk's vectors are then so long that
 * the fixed cost of an operation does not count; see docs/internals/memory.md for
 * measurements. */
static const uint64_t BUDGET_BYTES = UINT64_C(16) << 20;

/* On several threads a chunk should need about half of a second-level cache of 1 MB that a
 * thread has to itself. It may need more, up to the thread's part of a third-level cache, if
 * vectors would be shorter than some thousand elements, or the chunk would hardly take longer
 * than its beginning. */
static const double THREAD_BYTES = 512 << 10, THREAD_MOST = 2 << 20;
/* This limit holds however much steps cost, since every thread may need as much at once. */
static const double THREAD_LARGEST = 8 << 20;
static const double THREAD_LEAST = 4096 * 8; /* least bytes of slices */
/* A range takes some ten times the cost of its beginning (CHUNK_SECONDS), and FIXED_PART times
 * the fixed cost of its steps. It takes WAKE_SECONDS to wake the threads and to put their
 * results together. They are woken only if they save the part GAIN of the time. */
static const double CHUNK_SECONDS = 50e-6, WAKE_SECONDS = 60e-6, FIXED_PART = 4, GAIN = 0.2;
/* The time of a shorter call is not measured. */
static const double LONG_SECONDS = 200e-6;
/* Results that are not columns are copied once more, at some 0.5 ns a byte. Threads do not pay
 * if that is more than a fourth of the time of chunks for each byte of their slices. */
static const double COPY_SECONDS = 2e-9;
enum { INSTANCES_EACH = 4 }; /* least instances for each thread */

static bool is_auto(const struct machine *m) {
  return m->options.chunks.mode == MACHINE_CHUNKS_AUTO;
}

/* ---- bytes ---- */

uint64_t chunk_bytes(const struct machine *m, const struct value *v) {
  if (v->form == CVL_ONE_SEGMENT) return sizeof(int64_t);
  if (v->form == CVL_SEGDES) return machine_count(m, &v->flat).bound * sizeof(int64_t);
  return machine_size(m, &v->flat).bound * elem_info((enum cvl_elem)v->flat.elem)->bytes;
}

double chunk_weight(const struct machine *m, uint32_t function, uint64_t instances,
                    const struct value *operands) {
  const struct ir_instances *mark = m->program->functions[function].instances;
  double weight = (double)instances * sizeof(int64_t);
  for (uint32_t p = 1; p < m->code->functions[function].param_count; p++) {
    if (mark->params[p] != IR_SHARED) weight += (double)chunk_bytes(m, &operands[p]);
  }
  return weight;
}

static struct cvl_statistics chunk_size_statistics(const struct machine *m) {
  return m->backend->statistics(m->context);
}

/* Returns the bytes that a chunk may need. */
static double budget(const struct machine *m, enum chunk_bound *bound) {
  if (m->sub) return team_share(m->team, bound);
  const uint64_t live = chunk_size_statistics(m).live_bytes, limit = m->vector_limit;
  const uint64_t left = limit > live ? limit - live : 0;
  *bound = CHUNK_BUDGET;
  if (limit && (m->backend->own_memory || left / LIMIT_PART < BUDGET_BYTES)) {
    *bound = CHUNK_LIMIT;
    return (double)(left / LIMIT_PART);
  }
  return m->backend->own_memory ? (double)UINT64_MAX : (double)BUDGET_BYTES;
}

double chunk_share(const struct machine *m, unsigned threads, enum chunk_bound *bound) {
  const double most = budget(m, bound), limit = (double)m->vector_limit;
  const double left = limit - (double)chunk_size_statistics(m).live_bytes;
  if (limit == 0 || left / LIMIT_PART / threads >= most) return most;
  *bound = CHUNK_LIMIT;
  return left > 0 ? left / LIMIT_PART / threads : 0;
}

/* ---- decisions ---- */

/* Returns whether chunks have results that are copied once more at the end. */
static bool chunk_size_is_copied(const struct machine *m, uint32_t function) {
  const struct ir_function *f = &m->program->functions[function];
  for (uint32_t k = 0; k < f->result_count; k++) {
    if (f->instances->results[k] != IR_EACH) return true;
  }
  return false;
}

/* Returns the weight of a chunk that needs so many bytes, or for which the fixed part is half
 * of its need, if that is more; INFINITY if its need does not depend on the weight. */
static double weight_within(const struct chunk_need *need, double bytes) {
  const double room = fmax(bytes - need->bytes.fixed, need->bytes.fixed);
  return need->bytes.each > 0 ? room / need->bytes.each : INFINITY;
}

/* Returns whether so many instances of this weight take so long that threads save a part of
 * it. The time of a small chunk is mostly its beginning, and says little about large ones. */
static bool pays_threads(const struct machine *m, uint32_t function, uint64_t instances,
                         double weight) {
  const struct chunk_need *need = &m->needs[function];
  const struct chunk_line *alone = &need->alone.seconds, *team = &need->team.seconds;
  const unsigned threads = team_threads(m->team);
  const bool known = weight <= GROWTH * need->largest ||
                     chunk_line_at(alone, need->alone.weight) >= CHUNK_SECONDS;
  if (need->chunks == 0 || !known || instances < (uint64_t)INSTANCES_EACH * threads)
    return false;
  if (alone->each < COPY_SECONDS && chunk_size_is_copied(m, function)) return false;
  return WAKE_SECONDS + chunk_line_at(team, weight / threads) <=
         (1 - GAIN) * chunk_line_at(alone, weight);
}

static bool auto_wants(struct machine *m, uint32_t function, uint64_t instances,
                       const struct value *operands) {
  enum chunk_bound bound;
  const struct chunk_need *need = &m->needs[function];
  if (!m->backend->restart_peak) return false;
  const double weight = chunk_weight(m, function, instances, operands);
  /* Within a chunk a small call is a part of what is measured. */
  if (need->chunks == 0)
    return m->chunks.count == 0 || instances > FIRST_INSTANCES || weight > FIRST_BYTES;
  if (team_may(m, function) && pays_threads(m, function, instances, weight)) return true;
  const double needed = chunk_line_at(&need->bytes, weight), most = budget(m, &bound);
  /* A chunk around this call is halved instead. Kept operands of nested calls would add up. */
  if (needed >= SMALL_BYTES && weight > weight_within(need, most)) return true;
  const bool long_one = m->team && chunk_line_at(&need->alone.seconds, weight) >= LONG_SECONDS;
  return (needed >= SMALL_BYTES || long_one) && m->chunks.count == 0 && weight < most / KEPT;
}

bool chunk_is_wanted(struct machine *m, uint32_t function, uint64_t instances,
                     const struct value *operands) {
  if (instances < 2) return false;
  switch (m->options.chunks.mode) {
  case MACHINE_CHUNKS_FIXED: return instances > m->options.chunks.n;
  case MACHINE_CHUNKS_RANDOM: return true;
  case MACHINE_CHUNKS_AUTO: return auto_wants(m, function, instances, operands);
  case MACHINE_CHUNKS_OFF: break;
  }
  return false;
}

/* Returns 1 .. MOST_RANDOM, from a linear congruential generator. */
static uint64_t chunk_size_random_size(struct machine *m) {
  m->chunks.random = m->chunks.random * UINT64_C(6364136223846793005) + 1442695040888963407;
  return 1 + (m->chunks.random >> 33) % MOST_RANDOM;
}

/* Returns the bytes of an instance, as the average of those that are left. */
static double weight_each(const struct cut *cut) {
  double weight = sizeof(int64_t);
  for (uint32_t p = 1; p < cut->operand_count; p++) {
    const struct cut_operand *o = &cut->operands[p];
    if (o->size == IR_SHARED) continue;
    const uint64_t before = o->level > 0 ? cut->operands[o->size].inner : cut->first;
    weight += o->each * (double)(o->total - before) / (double)(cut->instances - cut->first);
  }
  return weight;
}

/* Returns the weight that the next chunk may have. */
static double weight_allowed(struct machine *m, struct cut *cut) {
  const struct chunk_need *need = &m->needs[cut->function];
  double allowed = FIRST_BYTES;
  if (cut->team) return cut->allowed;
  cut->bound = CHUNK_BUDGET;
  if (need->chunks == 0) return allowed;
  allowed = weight_within(need, budget(m, &cut->bound));
  return fmin(allowed, GROWTH * need->largest);
}

static uint64_t auto_size(struct machine *m, struct cut *cut) {
  const uint64_t left = cut->instances - cut->first;
  const double n = weight_allowed(m, cut) / weight_each(cut);
  uint64_t most = left;
  if (m->needs[cut->function].chunks == 0) {
    most = left / FIRST_PART < FIRST_INSTANCES ? left / FIRST_PART : FIRST_INSTANCES;
  }
  if (n < (double)most) most = (uint64_t)n;
  if (most <= 1) return 1;
  const uint64_t chunks =
      (left + most - 1) / most; /* so that the last one is as large as the others */
  return (left + chunks - 1) / chunks;
}

static uint64_t wanted_size(struct machine *m, struct cut *cut) {
  if (cut->team) return cut->instances - cut->first;
  if (is_auto(m)) return auto_size(m, cut);
  cut->bound = CHUNK_FORCED;
  return m->options.chunks.mode == MACHINE_CHUNKS_RANDOM ? chunk_size_random_size(m)
                                                         : m->options.chunks.n;
}

uint64_t chunk_size(struct machine *m, struct cut *cut) {
  uint64_t n = wanted_size(m, cut);
  if (n == 1 && m->chunks.pass == CHUNKS_SUM) n = 2; /* see add_before */
  if (cut->most == 0 || n <= cut->most) return n;
  cut->bound = CHUNK_LIMIT;
  return cut->most;
}

/* ---- on several threads ---- */

bool chunk_pays_threads(struct machine *m, const struct cut *cut) {
  const uint64_t left = cut->instances - cut->first;
  switch (m->options.chunks.mode) {
  case MACHINE_CHUNKS_FIXED: return left > m->options.chunks.n;
  case MACHINE_CHUNKS_RANDOM: return left > 1;
  case MACHINE_CHUNKS_AUTO:
    return pays_threads(m, cut->function, left, weight_each(cut) * (double)left);
  case MACHINE_CHUNKS_OFF: break;
  }
  return false;
}

/* Returns the least weight of a range. A smaller one would mostly be the cost that every range
 * has. */
static double range_least(const struct chunk_need *need) {
  const double fixed = FIXED_PART * need->team.seconds.fixed;
  return fmax(THREAD_LEAST, fmax(CHUNK_SECONDS, fixed) / fmax(need->team.seconds.each, 1e-15));
}

/* Returns the weight that the next range may have. The fixed cost of its steps counts for more
 * than the cache. While that is not known, ranges grow, so that it becomes known. */
static double range_allowed(struct machine *parent, struct cut *cut) {
  const struct chunk_need *need = &parent->needs[cut->function];
  const double share = fmin(team_share(parent->team, &cut->bound), THREAD_LARGEST);
  const double fixed =
      FIXED_PART * need->team.seconds.fixed / fmax(need->team.seconds.each, 1e-15);
  const double cached = fmin(chunk_line_at(&need->bytes, range_least(need)), THREAD_MOST);
  const double needed = fmax(fmax(THREAD_BYTES, cached), chunk_line_at(&need->bytes, fixed));
  const double most = need->apart ? fmin(needed, share) : share;
  return fmin(weight_within(need, most), GROWTH * need->largest);
}

/* Returns the instances of the next range. Ranges become smaller towards the end, so that
 * threads end together, but not so small that they are mostly their beginning. If too few
 * would be left, the range takes all. */
static uint64_t auto_range(struct machine *parent, struct cut *cut, double *allowed) {
  const uint64_t left = cut->instances - cut->first;
  const uint64_t guided = left / (2 * team_threads(parent->team)) + 1;
  const double each = weight_each(cut), part = (double)cut->part;
  const double least = fmin(range_least(&parent->needs[cut->function]) / each, part);
  *allowed = range_allowed(parent, cut);
  double n = fmin(*allowed / each, fmin(fmax((double)guided, least), part));
  if (n < 1) n = 1;
  return (double)left - n < fmin(n, least) / 2 ? left : (uint64_t)n;
}

uint64_t chunk_range(struct machine *parent, struct cut *cut, double *allowed) {
  const uint64_t left = cut->instances - cut->first;
  *allowed = 0;
  if (is_auto(parent)) return auto_range(parent, cut, allowed);
  cut->bound = CHUNK_FORCED;
  const uint64_t n = parent->options.chunks.mode == MACHINE_CHUNKS_RANDOM
                         ? chunk_size_random_size(parent)
                         : parent->options.chunks.n;
  return n < left ? n : left;
}

uint64_t chunk_fitting(struct machine *m, struct cut *cut) {
  const struct value *slices = &m->stack[cut->frame.base];
  cut->weight = chunk_weight(m, cut->function, cut->n, slices);
  if (!is_auto(m) || cut->n == 1) return cut->n;
  const double allowed = weight_allowed(m, cut);
  if (cut->weight <= TOO_LARGE * allowed) return cut->n;
  const double n = (double)cut->n * allowed / cut->weight;
  return n < 1 ? 1 : (uint64_t)n;
}
