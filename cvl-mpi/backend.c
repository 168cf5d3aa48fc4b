/* backend.c - the table of functions, and contexts. */
#include "cvl-mpi/cvl-mpi.h"
#include "cvl-mpi/exchange/deferred.h"
#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/distribute.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/operations/superops.h"
#include "cvl-mpi/values/descriptors.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/hosts.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"
#include "cvl-mpi/values/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* WHOLE: from this length on blocks pay (README.md, Distributions). */
enum { GRAIN = 1024, WHOLE = 4096, SAMPLES = 1 << 12 };
/* All ranks keep copies of vectors up to so many bytes, and up to this part of the memory
 * limit. */
enum { COPIED_MOST = 1 << 28, COPIED_SHARE = 8 };

/* ---- contexts ---- */

/* Reads RAVEL_MPI, for tests: "grain=8,whole=0,samples=2"; also RAVEL_MPI_FAILS,
 * RAVEL_MPI_EXPLAIN. */
static void read_options(struct cvl_context *c) {
  const char *text = getenv("RAVEL_MPI");
  unsigned long grain = GRAIN, whole = WHOLE, samples = SAMPLES;
  if (text) sscanf(text, "grain=%lu,whole=%lu,samples=%lu", &grain, &whole, &samples);
  const char *failing = getenv("RAVEL_MPI_FAILS");
  c->fails = !failing || strtoul(failing, NULL, 10) == c->rank;
  c->explains = getenv("RAVEL_MPI_EXPLAIN") != NULL;
  c->grain = grain > 0 ? grain : 1;
  c->samples = samples;
  c->whole = c->ranks == 1 && !text ? UINT64_MAX : whole;
}

/* Returns the options of the inner back end: ranks of one machine get different devices, as
 * long as there are enough. */
static struct cvl_options options_here(const struct comm *comm, const struct cvl_backend *inner,
                                       const struct cvl_options *o) {
  enum { MOST = 64 };
  struct cvl_device devices[MOST];
  struct cvl_options own = *o;
  const char *why;
  const unsigned count =
      inner->own_memory && o->device < 0 ? inner->devices(devices, MOST, &why) : 0;
  if (count > 0) own.device = (int)(comm_rank_here(comm) % count);
  return own;
}

/* Sets the limit of copies from the rank with the least memory, so that all keep the same
 * copies. */
static void limit_copies(struct cvl_context *c, uint64_t memory_limit) {
  uint64_t *all = mpi_alloc(c, c->ranks * sizeof *all);
  comm_at(c->comm, "open", 0);
  comm_gather(c->comm, &memory_limit, sizeof memory_limit, all);
  c->copied_most = COPIED_MOST;
  for (unsigned r = 0; r < c->ranks; r++) {
    const uint64_t most = all[r] / COPIED_SHARE;
    if (all[r] > 0 && most < c->copied_most) c->copied_most = most;
  }
  free(all);
}

static struct cvl_context *mpi_open_over(const struct cvl_backend *inner,
                                         const struct cvl_backend *table,
                                         const struct cvl_options *o, const char **why) {
  struct comm *comm = comm_join(why);
  struct cvl_context *c = comm ? calloc(1, sizeof *c) : NULL;
  if (!comm) return NULL;
  if (!c) *why = "no memory";
  const struct cvl_options own = options_here(comm, inner, o);
  struct cvl_context *wrapped = c ? inner->open(&own, why) : NULL;
  if (!wrapped) {
    free(c);
    return NULL;
  }
  *c = (struct cvl_context){.comm = comm,
                            .rank = comm_rank(comm),
                            .ranks = comm_count(comm),
                            .b = inner,
                            .inner = wrapped,
                            .table = table,
                            .stop = o->stop,
                            .faults_before = UINT64_MAX,
                            .int_elem = o->int_elem,
                            .float_elem = o->float_elem};
  read_options(c);
  c->armed = o->fail_allocation > 0;
  limit_copies(c, o->memory_limit);
  return c;
}

/* Prints, for each number, the greatest of all ranks. */
static void explain_sent(const struct cvl_context *c) {
  const struct comm_counts *s = &c->most;
  if (!c->explains || c->rank > 0 || (c->ranks > 1 && s->collectives == 0)) return;
  fprintf(stderr,
          "ravel: most sent by a rank: collectives %" PRIu64 ", exchanges %" PRIu64
          ", messages %" PRIu64 ", bytes %" PRIu64 ", in collectives %" PRIu64 "\n",
          s->collectives, s->exchanges, s->messages, s->bytes, s->gathered);
}

static void mpi_close(struct cvl_context *c) {
  explain_sent(c);
  mpi_values_free(c);
  c->b->close(c->inner);
  distribution_release(c->latest);
  free(c->shifts);
  free(c->sizes);
  mpi_rooms_free(c);
  free(c);
}

/* ---- values ---- */

static struct cvl_size mpi_size_length(struct cvl_context *c, const struct cvl_value *v) {
  const struct deferred *p = waits_for(v);
  (void)c;
  if (!p) return (struct cvl_size){mpi_length(v), 0};
  return (struct cvl_size){v->form == CVL_VECTOR ? v->as.vector->n : v->as.segdes->total,
                           p->symbol};
}

static struct cvl_size mpi_size_count(struct cvl_context *c, const struct cvl_value *v) {
  (void)c;
  return (struct cvl_size){mpi_count(v), 0};
}

static bool mpi_resolve(struct cvl_context *c, struct cvl_size *size) {
  comm_at(c->comm, "resolve", 0);
  if (size->symbol) *size = (struct cvl_size){size_known(c, size->symbol), 0};
  return c->slot.error.kind == CVL_E_NONE;
}

static bool mpi_require_equal(struct cvl_context *c, uint64_t site, struct cvl_size a,
                              struct cvl_size b, int64_t rule) {
  if (a.symbol && a.symbol == b.symbol) return true;
  mpi_resolve(c, &a);
  mpi_resolve(c, &b);
  if (a.bound == b.bound) return true;
  fault_mine(c, (struct cvl_error){.kind = CVL_E_SIZE,
                                   .site = site,
                                   .position = rule,
                                   .value = (int64_t)a.bound,
                                   .limit = (int64_t)b.bound});
  return false;
}

/* ---- errors and time ---- */

static bool mpi_check(struct cvl_context *c, bool wait, struct cvl_error *e) {
  comm_at(c->comm, "check", 0);
  if (wait) settle_all(c);
  if (c->slot.error.kind == CVL_E_NONE) return false;
  *e = c->slot.error;
  c->slot.error.kind = CVL_E_NONE;
  return true;
}

/* The numbers that a rank reports, all of 64 bits. */
struct numbers {
  struct cvl_statistics statistics;
  struct comm_counts sent;
};

static struct numbers backend_greatest(struct cvl_context *c, const struct numbers *mine) {
  enum { NUMBERS = sizeof *mine / sizeof(uint64_t) };
  uint64_t(*all)[NUMBERS] = mpi_alloc(c, c->ranks * sizeof *all), most[NUMBERS] = {0};
  struct numbers found;
  comm_gather(c->comm, mine, sizeof *mine, all);
  for (unsigned r = 0; r < c->ranks; r++) {
    for (unsigned k = 0; k < NUMBERS; k++) most[k] = all[r][k] > most[k] ? all[r][k] : most[k];
  }
  memcpy(&found, most, sizeof found);
  free(all);
  return found;
}

/* Each number is the greatest of all ranks, since the machine may branch on it. Allocations
 * are counted from the last call of fail_allocation. The counts of messages are this rank's.
 */
static struct cvl_statistics mpi_statistics(struct cvl_context *c) {
  struct numbers mine = {c->b->statistics(c->inner), comm_counts(c->comm)};
  comm_at(c->comm, "statistics", 0);
  mine.statistics.allocations -= c->armed_own;
  if (c->hosts_own > mine.statistics.allocations) mine.statistics.allocations = c->hosts_own;
  const struct numbers most = backend_greatest(c, &mine);
  struct cvl_statistics s = most.statistics;
  c->most = most.sent;
  s.allocations += c->armed_all;
  s.collectives = mine.sent.collectives;
  s.messages = mine.sent.messages;
  s.sent_bytes = mine.sent.bytes;
  return s;
}

/* The n-th allocation fails in the inner back end and in the host's memory for exchanges: on
 * all ranks, or on the one that RAVEL_MPI_FAILS names. */
static void mpi_fail_allocation(struct cvl_context *c, uint64_t n) {
  c->armed_all = mpi_statistics(c).allocations;
  c->armed_own = c->b->statistics(c->inner).allocations;
  c->hosts_own = 0;
  c->hosts_fail = c->fails ? n : 0;
  c->armed = n > 0;
  c->b->fail_allocation(c->inner, c->fails ? n : 0);
}

/* ---- processes ---- */

static unsigned mpi_process(struct cvl_context *c) {
  return c->rank;
}

static void mpi_broadcast(struct cvl_context *c, void *data, uint64_t bytes) {
  comm_at(c->comm, "broadcast", 0);
  comm_broadcast(c->comm, data, bytes);
}

static bool mpi_any(struct cvl_context *c, bool mine) {
  comm_at(c->comm, "any", 0);
  return !all_true(c, !mine);
}

static unsigned mpi_stops(struct cvl_context *c, uint64_t epoch, unsigned wish) {
  return comm_stops(c->comm, epoch, wish);
}

static bool mpi_sum_before(struct cvl_context *c, bool mine, uint64_t n, uint64_t *before) {
  struct said {
    uint64_t yes, n;
  } said = {mine, n}, *all = mpi_alloc(c, c->ranks * sizeof *all);
  uint64_t sum = 0;
  bool any = false;
  comm_at(c->comm, "sum_before", 0);
  comm_gather(c->comm, &said, sizeof said, all);
  for (unsigned r = 0; r < c->ranks; r++) {
    any = any || all[r].yes;
    sum += r < c->rank ? all[r].n : 0;
  }
  mpi_free(c, all);
  if (!any) *before = sum;
  return any;
}

/* ---- operations ---- */

/* Computes the result on the host if all operands are certain; then the result is certain,
 * too. Returns false otherwise, and after a fault. */
static bool certain_result(struct cvl_context *c, const struct cvl_call *call,
                           struct cvl_value *out) {
  struct cvl_value x[CALL_OPERANDS];
  enum cvl_error_kind kind;
  for (unsigned i = 0; i < call->count; i++) {
    const struct cvl_value *known = mpi_certain(&call->operand[i]);
    if (!known) return false;
    x[i] = *known;
  }
  return cvl_scalar_op(c->int_elem, c->float_elem, call->op, x, out, &kind);
}

static bool backend_elementwise(struct cvl_context *c, uint64_t site,
                                const struct cvl_call *call, struct cvl_value *out) {
  want(c, call->operand, call->count);
  if (!certain_result(c, call, out)) return local_call(c, site, call, out);
  call_drop(c, call);
  return true;
}

static bool backend_permute(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                            struct cvl_value *out) {
  want(c, call->operand, call->count);
  if (!sizes_fit(call)) return poisoned_call(c, call, out);
  if (!permute_call(c, site, call, out)) return together(c, site, call, out);
  call_drop(c, call);
  return true;
}

/* Makes a descriptor of one segment if its length is certain. Returns false if it is not, or
 * negative. */
static bool certain_segment(struct cvl_context *c, const struct cvl_value *lengths,
                            struct cvl_value *out) {
  const struct cvl_value *known = mpi_certain(lengths);
  if (!known || cvl_int_of(known) < 0) return false;
  *out = cvl_one_segment((uint64_t)cvl_int_of(known));
  mpi_drop(c, lengths);
  return true;
}

static bool backend_make_segdes(struct cvl_context *c, uint64_t site,
                                const struct cvl_call *call, struct cvl_value *out) {
  const struct cvl_value *lengths = &call->operand[0];
  want(c, lengths, 1);
  if (certain_segment(c, lengths, out)) return true;
  if (mpi_at(lengths)) return make_segdes_call(c, site, lengths, out);
  return together(c, site, call, out);
}

static bool backend_lengths(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                            struct cvl_value *out) {
  const struct cvl_value *d = &call->operand[0];
  want(c, d, 1);
  if (segdes_is_held(d)) return lengths_call(c, site, d, out);
  return together(c, site, call, out);
}

/* Every rank knows the length, so nothing is exchanged. */
static bool backend_length_of(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                              struct cvl_value *out) {
  want(c, v, 1);
  const uint64_t n = mpi_length(v);
  const bool fits = c->int_elem != CVL_I32 || n <= INT32_MAX;
  *out = cvl_scalar_int(c->int_elem, (int64_t)n);
  if (!fits)
    fault_mine(c,
               (struct cvl_error){.kind = CVL_E_INT_RANGE, .site = site, .value = (int64_t)n});
  mpi_drop(c, v);
  return fits;
}

static bool mpi_apply(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                      struct cvl_value *results) {
  mpi_enter(c, call_name(call->kind), site);
  switch (call->kind) {
  case CALL_ELEMENTWISE: return backend_elementwise(c, site, call, results);
  case CALL_RANDOM:
  case CALL_ASSERT: return local_call(c, site, call, results);
#define SEGMENTED(kind, function) case CALL_##kind:
#include "cvl/segmented.def"
  case CALL_EXTRACT:
  case CALL_REPLACE:
  case CALL_DIST:
  case CALL_INDEX:
  case CALL_PACK: return segmented_call(c, site, call, results);
  case CALL_PERMUTE: return backend_permute(c, site, call, results);
  case CALL_MAKE_SEGDES: return backend_make_segdes(c, site, call, results);
  case CALL_LENGTHS: return backend_lengths(c, site, call, results);
  case CALL_LENGTH_OF: return backend_length_of(c, site, &call->operand[0], results);
  case CALL_KINDS: break;
  }
  return false;
}

/* ---- the table ---- */

/* Nothing is exported, since no rank has all elements. */
static bool never_export(struct cvl_context *c, const struct cvl_value *v,
                         struct cvl_export *exported) {
  (void)c, (void)v, (void)exported;
  return false;
}

static const struct cvl_backend *wrapped;

static unsigned mpi_devices(struct cvl_device *out, unsigned most, const char **why) {
  return wrapped->devices(out, most, why);
}

static struct cvl_context *mpi_open(const struct cvl_options *, const char **why);

static const struct cvl_superops superops = {mpi_prepare, mpi_discard, mpi_run};
static const struct cvl_sharing sharing = {mpi_import, never_export};
static const struct cvl_slices slices = {mpi_slice, mpi_allocate, mpi_fill, mpi_concatenate};
static const struct cvl_processes processes = {.process = mpi_process,
                                               .broadcast = mpi_broadcast,
                                               .any = mpi_any,
                                               .sum_before = mpi_sum_before,
                                               .from_first = mpi_from_first,
                                               .stops = mpi_stops,
                                               .own_range = mpi_own_range,
                                               .read_own = mpi_read_own,
                                               .distribute = mpi_distribute,
                                               .collect = mpi_collect};

static struct cvl_backend table = {
    .version = CVL_VERSION,
    .name = "mpi",
    .doc = "the ranks of an MPI job",
    .devices = mpi_devices,
    .open = mpi_open,
    .close = mpi_close,
    .from_host = mpi_from_host,
    .segdes_from_host = mpi_segdes_from_host,
    .to_host = mpi_to_host,
    .scalar = mpi_scalar,
    .retain = mpi_retain,
    .release = mpi_release,
    .length = mpi_size_length,
    .count = mpi_size_count,
    .resolve = mpi_resolve,
    .require_equal = mpi_require_equal,
    .same = cvl_same,
    .check = mpi_check,
    .statistics = mpi_statistics,
    .fail_allocation = mpi_fail_allocation,
    .apply = mpi_apply,
    .superops = &superops,
    .slices = &slices,
    .processes = &processes,
};

static struct cvl_context *mpi_open(const struct cvl_options *o, const char **why) {
  return mpi_open_over(wrapped, &table, o, why);
}

const struct cvl_backend *cvl_mpi_over(const struct cvl_backend *inner) {
  wrapped = inner;
  table.sharing = inner->sharing ? &sharing : NULL;
  table.own_memory = inner->own_memory;
  table.prepared = inner->prepared ? mpi_prepared : NULL;
  return &table;
}
