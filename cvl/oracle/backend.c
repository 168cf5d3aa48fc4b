/* backend.c - the oracle behind the table of functions: a sequential back end in host arrays.
 * It is prompt, and does not overwrite operands. Every operation is one oracle_run on views of
 * its operands.
 */
#include "cvl/oracle/oracle.h"
#include "cvl/slices.h"
#include "cvl/superop.h"

#include <stdlib.h>
#include <string.h>

struct cvl_vector {
  uint64_t references;
  struct host_value host;
};

struct cvl_segdes {
  uint64_t references;
  struct host_value host;
};

struct cvl_context {
  struct cvl_options options;
  struct heap heap;
  struct cvl_error error;
};

/* ---- contexts and errors ---- */

static unsigned oracle_devices(struct cvl_device *out, unsigned most, const char **why) {
  (void)why;
  if (most > 0)
    *out = (struct cvl_device){.name = "one thread of this machine", .processors = 1};
  return 1;
}

static struct cvl_context *oracle_open(const struct cvl_options *options, const char **why) {
  struct cvl_context *ctx = calloc(1, sizeof *ctx);
  if (!ctx) {
    *why = "no memory";
    return NULL;
  }
  ctx->options = *options;
  heap_init(&ctx->heap, options->memory_limit);
  ctx->heap.fail_at = options->fail_allocation;
  return ctx;
}

static void oracle_close(struct cvl_context *ctx) {
  free(ctx);
}

static bool backend_fault(struct cvl_context *ctx, uint64_t site, struct cvl_error e) {
  e.site = site;
  if (ctx->error.kind == CVL_E_NONE || site < ctx->error.site) ctx->error = e;
  return false;
}

static bool no_memory(struct cvl_context *ctx, uint64_t site, size_t bytes) {
  return backend_fault(ctx, site,
                       (struct cvl_error){.kind = CVL_E_MEMORY,
                                          .value = (int64_t)bytes,
                                          .limit = (int64_t)ctx->heap.limit});
}

static bool oracle_check(struct cvl_context *ctx, bool wait, struct cvl_error *e) {
  (void)wait;
  if (ctx->error.kind == CVL_E_NONE) return false;
  *e = ctx->error;
  ctx->error.kind = CVL_E_NONE;
  return true;
}

static struct cvl_statistics oracle_statistics(struct cvl_context *ctx) {
  return (struct cvl_statistics){.live_bytes = ctx->heap.live,
                                 .peak_bytes = ctx->heap.peak,
                                 .allocations = ctx->heap.count};
}

static void oracle_fail_allocation(struct cvl_context *ctx, uint64_t n) {
  ctx->heap.fail_at = n ? ctx->heap.count + n : 0;
}

/* ---- values ---- */

/* Makes a value of host, which it takes over; on failure frees it. */
static bool wrap(struct cvl_context *ctx, uint64_t site, struct host_value host,
                 struct cvl_value *out) {
  struct cvl_vector *v = heap_alloc(&ctx->heap, sizeof *v); /* a segdes has the same size */
  if (!v) {
    host_free(&ctx->heap, &host);
    return no_memory(ctx, site, sizeof *v);
  }
  if (host.form == HOST_SEGDES) {
    struct cvl_segdes *d = (struct cvl_segdes *)(void *)v;
    *d = (struct cvl_segdes){1, host};
    *out = (struct cvl_value){.form = CVL_SEGDES, .as.segdes = d};
  } else {
    *v = (struct cvl_vector){1, host};
    *out = (struct cvl_value){.form = CVL_VECTOR, .elem = host.elem, .as.vector = v};
  }
  return true;
}

/* Returns a view of an operand. `data` gets the length of a CVL_ONE_SEGMENT. A scalar is read
 * in the value itself, which must stay where it is. */
static struct host_value view(const struct cvl_value *v, int64_t *data) {
  switch ((enum cvl_form)v->form) {
  case CVL_SCALAR:
    return (struct host_value){
        .form = HOST_VECTOR, .elem = v->elem, .n = 1, .data = (void *)(uintptr_t)&v->as};
  case CVL_VECTOR: return v->as.vector->host;
  case CVL_SEGDES: return v->as.segdes->host;
  case CVL_ONE_SEGMENT:
    *data = (int64_t)v->as.one_segment;
    return (struct host_value){
        .form = HOST_SEGDES, .elem = CVL_I64, .n = 1, .total = v->as.one_segment, .data = data};
  case CVL_NOTHING: break;
  }
  return (struct host_value){0};
}

static void oracle_retain(struct cvl_context *ctx, const struct cvl_value *v) {
  (void)ctx;
  if (v->form == CVL_VECTOR) v->as.vector->references++;
  if (v->form == CVL_SEGDES) v->as.segdes->references++;
}

static void oracle_release(struct cvl_context *ctx, const struct cvl_value *v) {
  if (v->form == CVL_VECTOR && --v->as.vector->references == 0) {
    host_free(&ctx->heap, &v->as.vector->host);
    heap_free(&ctx->heap, v->as.vector, sizeof *v->as.vector);
  }
  if (v->form == CVL_SEGDES && --v->as.segdes->references == 0) {
    host_free(&ctx->heap, &v->as.segdes->host);
    heap_free(&ctx->heap, v->as.segdes, sizeof *v->as.segdes);
  }
}

static bool oracle_from_host(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem,
                             uint64_t n, const void *data, struct cvl_value *out) {
  struct host_value host = host_vector(&ctx->heap, elem, n);
  if (host.form == HOST_NOTHING)
    return no_memory(ctx, site, (size_t)n * elem_info(elem)->bytes);
  if (n) memcpy(host.data, data, host_bytes(&host));
  return wrap(ctx, site, host, out);
}

static bool oracle_segdes_from_host(struct cvl_context *ctx, uint64_t site, uint64_t n,
                                    const int64_t *lengths, struct cvl_value *out) {
  struct host_value host = host_segdes(&ctx->heap, n);
  if (host.form == HOST_NOTHING) return no_memory(ctx, site, (size_t)n * sizeof *lengths);
  if (n) memcpy(host.data, lengths, host_bytes(&host));
  for (uint64_t k = 0; k < n; k++) host.total += (uint64_t)lengths[k];
  return wrap(ctx, site, host, out);
}

static bool oracle_to_host(struct cvl_context *ctx, const struct cvl_value *v, uint64_t first,
                           uint64_t n, void *dst) {
  if (ctx->error.kind != CVL_E_NONE) return false;
  int64_t one;
  struct host_value host = view(v, &one);
  size_t bytes = elem_info((enum cvl_elem)host.elem)->bytes;
  if (n) memcpy(dst, (const char *)host.data + first * bytes, (size_t)n * bytes);
  return true;
}

static bool oracle_scalar(struct cvl_context *ctx, const struct cvl_value *v,
                          struct cvl_value *out) {
  struct cvl_value s = {.form = CVL_SCALAR, .elem = v->elem};
  if (!oracle_to_host(ctx, v, 0, 1, &s.as)) return false;
  *out = s;
  return true;
}

static struct cvl_size oracle_length(struct cvl_context *ctx, const struct cvl_value *v) {
  (void)ctx;
  int64_t one;
  struct host_value host = view(v, &one);
  return (struct cvl_size){host.form == HOST_SEGDES ? host.total : host.n, 0};
}

static struct cvl_size oracle_count(struct cvl_context *ctx, const struct cvl_value *v) {
  (void)ctx;
  int64_t one;
  return (struct cvl_size){view(v, &one).n, 0};
}

static bool oracle_resolve(struct cvl_context *ctx, struct cvl_size *size) {
  (void)size;
  return ctx->error.kind == CVL_E_NONE;
}

static bool oracle_require_equal(struct cvl_context *ctx, uint64_t site, struct cvl_size a,
                                 struct cvl_size b, int64_t rule) {
  if (a.bound == b.bound) return true;
  return backend_fault(ctx, site,
                       (struct cvl_error){.kind = CVL_E_SIZE,
                                          .position = rule,
                                          .value = (int64_t)a.bound,
                                          .limit = (int64_t)b.bound});
}

/* ---- values cut and put together again: by copying ---- */

static bool oracle_slice(struct cvl_context *ctx, uint64_t site, const struct cvl_value *v,
                         uint64_t first, uint64_t n, struct cvl_value *out) {
  int64_t one;
  const struct cvl_value in = *v;
  const struct host_value host = view(&in, &one);
  const char *data =
      (const char *)host.data + first * elem_info((enum cvl_elem)host.elem)->bytes;
  const bool ok =
      host.form == HOST_SEGDES
          ? oracle_segdes_from_host(ctx, site, n, (const int64_t *)(const void *)data, out)
          : oracle_from_host(ctx, site, (enum cvl_elem)host.elem, n, data, out);
  if (in.owned) oracle_release(ctx, &in);
  return ok;
}

static bool oracle_allocate(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem,
                            uint64_t n, struct cvl_value *out) {
  struct host_value host = host_vector(&ctx->heap, elem, n);
  if (host.form == HOST_NOTHING)
    return no_memory(ctx, site, (size_t)n * elem_info(elem)->bytes);
  for (uint64_t i = 0; i < n; i++) host_zero(&host, i);
  return wrap(ctx, site, host, out);
}

static bool oracle_fill(struct cvl_context *ctx, uint64_t site, const struct cvl_value *target,
                        uint64_t first, const struct cvl_value *v) {
  int64_t one;
  (void)site;
  const struct host_value from = view(v, &one);
  struct host_value *to = &target->as.vector->host;
  for (uint64_t i = 0; i < from.n; i++) host_copy(to, first + i, &from, i);
  if (v->owned) oracle_release(ctx, v);
  return true;
}

static bool oracle_concatenate(struct cvl_context *ctx, uint64_t site, uint64_t n,
                               const struct cvl_value *descriptors, struct cvl_value *out) {
  int64_t one;
  struct host_value all = {.form = HOST_NOTHING};
  uint64_t count = 0, at = 0, total = 0;
  for (uint64_t i = 0; i < n; i++) count += view(&descriptors[i], &one).n;
  all = host_segdes(&ctx->heap, count);
  if (all.form == HOST_NOTHING) return no_memory(ctx, site, (size_t)count * sizeof one);
  for (uint64_t i = 0; i < n; i++) {
    const struct host_value d = view(&descriptors[i], &one);
    for (uint64_t k = 0; k < d.n; k++, at++) {
      total += host_segment(&d, k);
      if (total > INT64_MAX) {
        host_free(&ctx->heap, &all);
        return backend_fault(ctx, site,
                             (struct cvl_error){.kind = CVL_E_TOTAL, .position = (int64_t)at});
      }
      host_copy(&all, at, &d, k);
    }
  }
  all.total = total;
  return wrap(ctx, site, all, out);
}

/* ---- operations ---- */

/* Makes values of the results. They stay unset unless it succeeds. */
static bool wrap_results(struct cvl_context *ctx, uint64_t site, enum call_kind kind,
                         struct oracle_outcome *outcome, struct cvl_value *results) {
  struct cvl_value made[CALL_RESULTS];
  const unsigned count = call_results(kind);
  bool ok = true;
  for (unsigned r = 0; r < count && ok; r++) {
    ok = wrap(ctx, site, outcome->out[r], &made[r]);
    if (!ok && r == 0) host_free(&ctx->heap, &outcome->out[1]);
    if (!ok && r == 1) oracle_release(ctx, &made[0]);
  }
  for (unsigned r = 0; r < count && ok; r++) results[r] = made[r];
  return ok;
}

static bool oracle_apply(struct cvl_context *ctx, uint64_t site, const struct cvl_call *call,
                         struct cvl_value *results) {
  int64_t one[CALL_OPERANDS];
  struct oracle_call c = {.kind = call->kind,
                          .op = call->op,
                          .int_elem = ctx->options.int_elem,
                          .float_elem = ctx->options.float_elem,
                          .count = call->count};
  if (c.kind == CALL_RANDOM) c.random = call->random;
  for (unsigned i = 0; i < c.count; i++) c.operand[i] = view(&call->operand[i], &one[i]);
  struct oracle_outcome outcome;
  bool ok = oracle_run(&ctx->heap, &c, &outcome);
  if (!ok) backend_fault(ctx, site, outcome.error);
  ok = ok && wrap_results(ctx, site, c.kind, &outcome, results);
  for (unsigned i = 0; i < c.count; i++) {
    if (call->operand[i].owned) oracle_release(ctx, &call->operand[i]);
  }
  return ok;
}

/* ---- superoperators: what they mean ---- */

struct cvl_kernel {
  const struct superop *op;
};

static struct cvl_kernel *oracle_prepare(struct cvl_context *ctx, const struct superop *op) {
  struct cvl_kernel *kernel = heap_alloc(&ctx->heap, sizeof *kernel);
  if (kernel) kernel->op = op;
  return kernel;
}

static void oracle_discard(struct cvl_context *ctx, struct cvl_kernel *kernel) {
  heap_free(&ctx->heap, kernel, sizeof *kernel);
}

static bool oracle_run_kernel(struct cvl_context *ctx, uint64_t site, struct cvl_kernel *kernel,
                              const struct cvl_value *operands, struct cvl_value *outs) {
  if (superop_run(&cvl_oracle_backend, ctx, site, kernel->op, &ctx->options.stop, operands,
                  outs))
    return true;
  if (ctx->error.kind != CVL_E_NONE) return false;
  return backend_fault(ctx, site, (struct cvl_error){.kind = CVL_E_STOPPED});
}

static const struct cvl_superops superops = {oracle_prepare, oracle_discard, oracle_run_kernel};
static const struct cvl_slices slices = {oracle_slice, oracle_allocate, oracle_fill,
                                         oracle_concatenate};

const struct cvl_backend cvl_oracle_backend = {
    .version = CVL_VERSION,
    .name = "oracle",
    .doc = "the tests' oracle: sequential, hand-written",
    .devices = oracle_devices,
    .open = oracle_open,
    .close = oracle_close,
    .from_host = oracle_from_host,
    .segdes_from_host = oracle_segdes_from_host,
    .to_host = oracle_to_host,
    .scalar = oracle_scalar,
    .retain = oracle_retain,
    .release = oracle_release,
    .length = oracle_length,
    .count = oracle_count,
    .resolve = oracle_resolve,
    .require_equal = oracle_require_equal,
    .same = cvl_same,
    .check = oracle_check,
    .statistics = oracle_statistics,
    .fail_allocation = oracle_fail_allocation,
    .apply = oracle_apply,
    .superops = &superops,
    .slices = &slices,
};
