/* run.c - a batch call by native code. Threads take ranges of the instances, and then parts of
 * what others have begun (scheduler.c). What the instances of a range return is in buffers of
 * the thread; the buffers of all ranges are then laid one behind the other.
 *
 * If a range gives up, the others end soon, and everything is dropped. That is no fault, and
 * neither is a lack of memory: the caller has another way.
 */
#include "cvl-cpu/procedures/private.h"

#include <string.h>

struct run {
  struct cvl_context *c;
  uint64_t site;
  const struct cvl_procedure *of;
  native_entry *entry;
  struct procedure_operands operands;
  struct procedure_workers *workers;
  uint64_t ranges;
  uint64_t *firsts;               /* of each range; and the end */
  struct native_pooled **buffers; /* of each range, for each result; or NULL */
  unsigned *owners;               /* the worker of each range */
  struct native_buffer *scratch;  /* as native code gets them: for each range, each result */
  void *memory;                   /* of these arrays */
  uint64_t bytes;
  bool shared; /* threads share the work of single instances */
  struct cvl_procedure_time time;
  struct procedure_scheduler scheduler;
};

static struct native_pooled **buffers_of(const struct run *r, uint64_t range) {
  return r->buffers + range * r->of->result_count;
}

/* ---- its arrays ---- */

static void *next_array(char **at, uint64_t bytes) {
  void *array = *at;
  *at += bytes;
  return array;
}

static bool run_allocate(struct run *r) {
  const uint64_t results = r->ranges * r->of->result_count;
  const uint64_t firsts = (r->ranges + 1) * sizeof *r->firsts;
  const uint64_t buffers = results * sizeof *r->buffers;
  const uint64_t scratch = results * sizeof *r->scratch;
  r->bytes = firsts + buffers + scratch + r->ranges * sizeof *r->owners;
  r->memory = scratch_alloc(r->c, r->site, r->bytes);
  if (!r->memory) return false;
  char *at = r->memory;
  r->firsts = next_array(&at, firsts);
  r->scratch = next_array(&at, scratch);
  r->buffers = next_array(&at, buffers);
  r->owners = next_array(&at, r->ranges * sizeof *r->owners);
  memset(r->buffers, 0, buffers);
  return true;
}

/* ---- ranges ---- */

/* Takes buffers for the results of a range. */
static bool range_begin(struct run *r, uint64_t range, struct procedure_worker *w) {
  struct native_pooled **buffers = buffers_of(r, range);
  struct native_buffer *scratch = r->scratch + range * r->of->result_count;
  for (uint32_t k = 0; k < r->of->result_count; k++) {
    buffers[k] = procedure_take_buffer(w);
    if (!buffers[k]) return false;
    scratch[k] = buffers[k]->buffer;
  }
  return true;
}

/* Keeps what native code has made of the buffers, also if it has given up. */
static void range_end(struct run *r, uint64_t range) {
  struct native_pooled **buffers = buffers_of(r, range);
  const struct native_buffer *scratch = r->scratch + range * r->of->result_count;
  for (uint32_t k = 0; k < r->of->result_count; k++) {
    if (buffers[k]) buffers[k]->buffer = scratch[k];
  }
}

static void run_range(struct run *r, uint64_t range, unsigned worker) {
  struct procedure_worker *w = &r->workers->of[worker];
  const struct native_value *values = r->operands.values;
  const uint64_t begin = r->c->spans ? pool_clock() : 0;
  r->owners[range] = worker;
  procedure_worker_begin(w);
  scheduler_adopt(&r->scheduler, w);
  bool good = range_begin(r, range, w);
  if (good) {
    good = r->entry(&w->native, r->firsts[range], r->firsts[range + 1], values,
                    r->scratch + range * r->of->result_count);
    range_end(r, range);
  }
  procedure_note_span(w, r->firsts[range + 1] - r->firsts[range], begin);
  if (!good) scheduler_stop(&r->scheduler);
}

static void help(struct run *r, unsigned worker) {
  struct procedure_worker *w = &r->workers->of[worker];
  procedure_worker_begin(w);
  scheduler_adopt(&r->scheduler, w);
  scheduler_help(&r->scheduler, w);
}

static void run_ranges(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  struct run *r = arg;
  for (uint64_t range = first; range < last; range++) {
    if (!scheduler_stops(&r->scheduler)) run_range(r, range, worker);
    scheduler_range_done(&r->scheduler);
  }
}

/* Where work is shared, a thread that finds no range helps others. */
static void run_ranges_or_help(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  struct run *r = arg;
  if (first < r->ranges)
    run_ranges(arg, first, last, worker);
  else
    help(r, worker);
}

static bool run_in_threads(struct run *r) {
  struct pool *pool = r->c->pool;
  if (!r->shared) return pool_for(pool, r->ranges, 1, run_ranges, r);
  return pool_for_in_order(pool, r->ranges + pool_threads(pool), 1, run_ranges_or_help, r);
}

/* ---- results ---- */

static size_t result_bytes(const struct cvl_context *c, uint8_t kind) {
  switch ((enum cvl_procedure_kind)kind) {
  case CVL_PROCEDURE_INT: return elem_info(c->int_elem)->bytes;
  case CVL_PROCEDURE_FLOAT: return elem_info(c->float_elem)->bytes;
  case CVL_PROCEDURE_BOOL: return sizeof(uint8_t);
  case CVL_PROCEDURE_SEGDES: return sizeof(uint64_t);
  }
  return 0;
}

static enum cvl_elem result_elem(const struct cvl_context *c, uint8_t kind) {
  if (kind == CVL_PROCEDURE_INT) return c->int_elem;
  return kind == CVL_PROCEDURE_FLOAT ? c->float_elem : CVL_BOOL;
}

static uint64_t result_length(const struct run *r, uint32_t result) {
  uint64_t n = 0;
  for (uint64_t range = 0; range < r->ranges; range++) {
    n += buffers_of(r, range)[result]->buffer.n;
  }
  return n;
}

/* The copy of one result. */
struct lay {
  const struct run *r;
  uint32_t result;
  size_t bytes; /* of an element */
  char *to;
};

/* Returns where the buffer of a range goes, in elements. */
static uint64_t begin_of(const struct lay *l, uint64_t range) {
  uint64_t n = 0;
  for (uint64_t k = 0; k < range; k++) n += buffers_of(l->r, k)[l->result]->buffer.n;
  return n;
}

static void lay_ranges(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct lay *l = arg;
  char *to = l->to + begin_of(l, first) * l->bytes;
  (void)worker;
  for (uint64_t range = first; range < last; range++) {
    const struct native_buffer *b = &buffers_of(l->r, range)[l->result]->buffer;
    if (b->n > 0) memcpy(to, b->at, b->n * l->bytes);
    to += b->n * l->bytes;
  }
}

/* Lays all buffers of a result one behind the other; by all threads if they are long. */
static bool lay_result(const struct run *r, uint32_t result, uint64_t n, void *to) {
  struct lay l = {r, result, result_bytes(r->c, r->of->result_kinds[result]), to};
  const uint64_t grain = n * l.bytes <= tuned(r->c, SERIAL_BYTES) ? r->ranges : 1;
  return all_done(r->c, r->site, pool_for(r->c->pool, r->ranges, grain, lay_ranges, &l));
}

/* Makes a descriptor from the lengths in the buffers. */
static bool make_descriptor(const struct run *r, uint32_t result, struct cvl_value *out) {
  const uint64_t n = result_length(r, result);
  if (r->ranges == 1) {
    const char *lengths = buffers_of(r, 0)[result]->buffer.at;
    return cpu_segdes_from_host(r->c, r->site, n, (const int64_t *)(const void *)lengths, out);
  }
  int64_t *lengths = scratch_alloc(r->c, r->site, n * sizeof *lengths);
  if (!lengths) return false;
  const bool good =
      lay_result(r, result, n, lengths) && cpu_segdes_from_host(r->c, r->site, n, lengths, out);
  scratch_free(r->c, lengths, n * sizeof *lengths);
  return good;
}

static bool make_result(const struct run *r, uint32_t result, struct cvl_value *out) {
  const uint8_t kind = r->of->result_kinds[result];
  if (kind == CVL_PROCEDURE_SEGDES) return make_descriptor(r, result, out);
  const uint64_t n = result_length(r, result);
  if (!result_new(r->c, r->site, result_elem(r->c, kind), n, NULL, out)) return false;
  if (lay_result(r, result, n, result_data(out))) return true;
  result_drop(r->c, out);
  return false;
}

static void drop_results(struct cvl_context *c, struct cvl_value *results, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    if (results[k].form == CVL_SEGDES) segdes_release(c, results[k].as.segdes);
    result_drop(c, &results[k]);
  }
}

static bool make_results(const struct run *r, struct cvl_value *results) {
  for (uint32_t k = 0; k < r->of->result_count; k++) {
    if (make_result(r, k, &results[k])) continue;
    drop_results(r->c, results, k);
    return false;
  }
  return true;
}

/* ---- the call ---- */

static void give_buffers(const struct run *r) {
  for (uint64_t range = 0; range < r->ranges; range++) {
    for (uint32_t k = 0; k < r->of->result_count; k++) {
      struct native_pooled *p = buffers_of(r, range)[k];
      if (p) procedure_give_buffer(&r->workers->of[r->owners[range]], p);
    }
  }
}

/* Executes all ranges. Returns false if some gave up, or after a fault. */
static bool run_all(struct run *r) {
  struct procedure_watched watched = {.scheduler = &r->scheduler,
                                      .periods = procedure_watch_periods(r->time.most)};
  procedure_watch_begin(r->c, &watched);
  const bool all = run_in_threads(r);
  procedure_watch_end(r->c, &watched);
  if (!all_done(r->c, r->site, all && !atomic_load(&watched.asked))) return false;
  return !scheduler_stops(&r->scheduler);
}

static bool run_with_workers(struct run *r, struct cvl_value *results) {
  r->workers = procedure_workers_begin(r->c);
  if (!r->workers) return false;
  const bool good = run_all(r) && make_results(r, results);
  give_buffers(r);
  procedure_workers_end(r->workers, scheduler_stops(&r->scheduler));
  return good;
}

static bool run_scheduled(struct run *r, struct cvl_value *results) {
  if (!scheduler_init(&r->scheduler, r->shared ? pool_threads(r->c->pool) : 1, r->ranges))
    return false;
  const bool good = run_with_workers(r, results);
  scheduler_end(&r->scheduler);
  return good;
}

static bool run_bound(struct run *r, uint64_t instances, const struct cvl_value *operands,
                      struct cvl_value *results) {
  if (!procedure_bind(r->c, r->site, r->of, operands, &r->operands)) return false;
  const bool allocated = run_allocate(r);
  if (allocated) procedure_cut(r->of, operands, instances, r->ranges, r->firsts);
  const bool good = allocated && run_scheduled(r, results);
  if (allocated) scratch_free(r->c, r->memory, r->bytes);
  procedure_unbind(r->c, &r->operands);
  return good;
}

bool procedure_run(struct cvl_context *c, uint64_t site, struct cvl_procedure_code *code,
                   const struct cvl_procedure *of, struct cvl_procedure_time time,
                   uint64_t instances, const struct cvl_value *operands,
                   struct cvl_value *results, bool *done) {
  const struct cvl_error before = c->error;
  const uint64_t weight = procedure_weight(of, operands, instances);
  const bool little = procedure_is_little(c, weight, time.expected);
  struct run r = {.c = c,
                  .site = site,
                  .of = of,
                  .entry = procedure_native_entry(code, of),
                  .ranges = little ? 1 : procedure_ranges(c, of, instances, weight),
                  .shared = of->shares && !little && pool_threads(c->pool) > 1,
                  .time = time};
  *done = r.entry && instances > 0 && run_bound(&r, instances, operands, results);
  if (*done) return true;
  if (c->error.kind == CVL_E_STOPPED) return false;
  c->error = before;
  return true;
}
