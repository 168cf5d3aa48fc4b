/* cvl-cpu.c - the table of the multicore back end: contexts, values, and operations, with the
 * ownership of their operands. The files named after operations do the work, and borrow
 * everything. */
#include "cvl-cpu/cvl-cpu.h"

#include <stdlib.h>

#include "cvl-cpu/compile/ahead.h"
#include "cvl-cpu/compile/compile.h"
#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/kernels/map.h"
#include "cvl-cpu/procedures/private.h"
#include "cvl/slices.h"
#include "cvl/tiles.h"

/* ---- contexts ---- */

static void cpu_close(struct cvl_context *c) {
  if (!c) return;
  if (c->parent) {
    cpu_close_sub(c);
    return;
  }
  pool_free(c->pool);
  if (c->memory) {
    cpu_free_subs(c);
    procedure_watch_free(c);
    procedure_workers_free(c);
    while (c->prepared) cpu_discard(c, c->prepared);
    compile_cache_free(c->compile_cache);
    ahead_close(c->ahead);
    release_all(c);
    memory_free(c->memory);
  }
  pthread_mutex_destroy(&c->idle_lock);
  free(c);
}

static struct cvl_context *cpu_open(const struct cvl_options *options, const char **why) {
  if (options->device > 0) {
    *why = "the processors of this machine are one device, number 0";
    return NULL;
  }
  struct cvl_context *c = calloc(1, sizeof *c);
  if (!c || pthread_mutex_init(&c->idle_lock, NULL) != 0) {
    *why = "no memory for a context";
    free(c);
    return NULL;
  }
  c->tuning = tuning_complete(options->tuning);
  c->int_elem = options->int_elem;
  c->stop = options->stop;
  c->spans = options->spans;
  c->float_elem = options->float_elem;
  c->kernels = cpu_kernels_choose();
  if (!c->kernels) {
    *why = "this program was built for other processors (RAVEL_KERNELS=best)";
    cpu_close(c);
    return NULL;
  }
  c->map_rows = &c->kernels->map->widths[c->int_elem == CVL_I64][c->float_elem == CVL_F64];
  heap_init(&c->own_heap, 0);
  c->heap = &c->own_heap;
  c->memory = memory_new(c->heap, tuned(c, KEEP_BYTES));
  c->pool = c->memory ? pool_new(c->heap, options->threads, tuned(c, SPIN_ROUNDS),
                                 tuned(c, WAKE_AFTER))
                      : NULL;
  if (!c->pool) {
    *why = c->memory ? "cannot start the threads" : "no memory for a context";
    cpu_close(c);
    return NULL;
  }
  pool_set_stop(c->pool, options->stop);
  c->ahead = options->kernels ? ahead_open(options->kernels, why) : NULL;
  if (options->kernels && !c->ahead) {
    cpu_close(c);
    return NULL;
  }
  c->compile_cache = compile_cache_new(c->heap, options, c->ahead);
  /* The limit is for vectors and scratch memory; the context's own memory comes on top. */
  c->memory_limit = options->memory_limit;
  if (options->memory_limit) c->heap->limit = c->heap->live + options->memory_limit;
  memory_fail(c->memory, options->fail_allocation);
  return c;
}

/* ---- values ---- */

static void cpu_retain(struct cvl_context *c, const struct cvl_value *v) {
  (void)c;
  if (v->form == CVL_VECTOR) v->as.vector->held.references++;
  if (v->form == CVL_SEGDES) v->as.segdes->held.references++;
}

static void cpu_release(struct cvl_context *c, const struct cvl_value *v) {
  if (v->form == CVL_VECTOR) vector_release(c, v->as.vector);
  if (v->form == CVL_SEGDES) segdes_release(c, v->as.segdes);
}

static bool cpu_scalar(struct cvl_context *c, const struct cvl_value *v,
                       struct cvl_value *out) {
  struct cvl_value s = {.form = CVL_SCALAR, .elem = v->elem};
  if (!cpu_to_host(c, v, 0, 1, &s.as)) return false;
  *out = s;
  return true;
}

static struct cvl_size cpu_length(struct cvl_context *c, const struct cvl_value *v) {
  (void)c;
  const bool is_vector = v->form == CVL_SCALAR || v->form == CVL_VECTOR;
  return (struct cvl_size){.bound = is_vector ? value_length(v) : value_segments(v).total};
}

static struct cvl_size cpu_count(struct cvl_context *c, const struct cvl_value *v) {
  (void)c;
  return (struct cvl_size){.bound = value_segments(v).count};
}

static bool cpu_resolve(struct cvl_context *c, struct cvl_size *size) {
  (void)size; /* sizes are always exact */
  return c->error.kind == CVL_E_NONE;
}

static bool cpu_require_equal(struct cvl_context *c, uint64_t site, struct cvl_size a,
                              struct cvl_size b, int64_t rule) {
  if (a.bound == b.bound) return true;
  return fault(c, (struct cvl_error){.kind = CVL_E_SIZE,
                                     .site = site,
                                     .position = rule,
                                     .value = (int64_t)a.bound,
                                     .limit = (int64_t)b.bound});
}

/* ---- values cut and put together again ---- */

static bool cvl_cpu_slice(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                          uint64_t first, uint64_t n, struct cvl_value *out) {
  const struct cvl_value in = *v;
  const bool good = cpu_slice(c, site, &in, first, n, out);
  if (in.owned) cpu_release(c, &in);
  return good;
}

static bool cvl_cpu_fill(struct cvl_context *c, uint64_t site, const struct cvl_value *target,
                         uint64_t first, const struct cvl_value *v) {
  const bool good = cpu_fill(c, site, target, first, v);
  if (v->owned) cpu_release(c, v);
  return good;
}

/* ---- errors ---- */

static bool cpu_check(struct cvl_context *c, bool wait, struct cvl_error *error) {
  (void)wait;
  if (c->error.kind == CVL_E_NONE) return false;
  *error = c->error;
  c->error = (struct cvl_error){.kind = CVL_E_NONE};
  return true;
}

static void cpu_restart_peak(struct cvl_context *c) {
  memory_restart_peak(c->memory);
}

static struct cvl_statistics cpu_statistics(struct cvl_context *c) {
  return memory_statistics(c->memory);
}

static void cpu_fail_allocation(struct cvl_context *c, uint64_t n) {
  memory_fail(c->memory, n);
}

/* ---- operations ---- */

static bool cvl_cpu_perform(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                            struct cvl_value *out) {
  const struct cvl_value *v = call->operand;
  switch (call->kind) {
  case CALL_ELEMENTWISE: return cpu_elementwise(c, site, call->op, call->count, v, out);
#define SEGMENTED(kind, function)                                                              \
  case CALL_##kind:                                                                            \
    return cpu_##function(c, site, call->op, &v[0], &v[1], out);
#include "cvl/segmented.def"
  case CALL_PERMUTE: return cpu_permute(c, site, call, out);
  case CALL_EXTRACT: return cpu_extract(c, site, &v[0], &v[1], &v[2], out);
  case CALL_REPLACE: return cpu_replace(c, site, &v[0], &v[1], &v[2], &v[3], out);
  case CALL_DIST: return cpu_dist(c, site, &v[0], &v[1], out);
  case CALL_INDEX: return cpu_index(c, site, &v[0], &v[1], &v[2], out);
  case CALL_PACK: return cpu_pack(c, site, &v[0], &v[1], &v[2], &out[0], &out[1]);
  case CALL_MAKE_SEGDES: return cpu_make_segdes(c, site, &v[0], out);
  case CALL_LENGTHS: return cpu_lengths(c, site, &v[0], out);
  case CALL_LENGTH_OF: return cpu_length_of(c, site, &v[0], out);
  case CALL_RANDOM: return cpu_random(c, site, &call->random, &v[0], out);
  case CALL_ASSERT: return cpu_assert_all(c, site, &v[0], &v[1], &v[2]);
  case CALL_KINDS: break;
  }
  return false;
}

static bool cpu_apply(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                      struct cvl_value *results) {
  const bool good = cvl_cpu_perform(c, site, call, results);
  for (unsigned i = 0; i < call->count; i++) {
    if (call->operand[i].owned) cpu_release(c, &call->operand[i]);
  }
  return good;
}

static const struct cvl_superops superops = {cpu_prepare, cpu_discard, cpu_run};
static const struct cvl_sharing sharing = {cpu_import, cpu_export};
static const struct cvl_generators generators = {cpu_generate, cpu_generate_segdes};
static const struct cvl_slices slices = {cvl_cpu_slice, cpu_allocate, cvl_cpu_fill,
                                         cpu_concatenate};
static const struct cvl_procedures procedures = {procedure_prepare, procedure_discard,
                                                 procedure_ready,   procedure_suits,
                                                 procedure_run,     procedure_spans};
static const struct cvl_tiles tiles = {cpu_scan_totals, cpu_scan_tiles, cpu_run_tiles};

const struct cvl_backend cvl_cpu_backend = {
    .version = CVL_VERSION,
    .name = "cpu",
    .doc = "all cores of this machine",
    .devices = cpu_devices,
    .open = cpu_open,
    .close = cpu_close,
    .from_host = cpu_from_host,
    .segdes_from_host = cpu_segdes_from_host,
    .to_host = cpu_to_host,
    .scalar = cpu_scalar,
    .retain = cpu_retain,
    .release = cpu_release,
    .length = cpu_length,
    .count = cpu_count,
    .resolve = cpu_resolve,
    .require_equal = cpu_require_equal,
    .same = cvl_same,
    .check = cpu_check,
    .statistics = cpu_statistics,
    .fail_allocation = cpu_fail_allocation,
    .apply = cpu_apply,
    .superops = &superops,
    .sharing = &sharing,
    .generators = &generators,
    .slices = &slices,
    .tiles = &tiles,
    .procedures = &procedures,
    .restart_peak = cpu_restart_peak,
    .open_sub = cpu_open_sub,
};
