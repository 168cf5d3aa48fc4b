/* delayed.c - the table of the delaying back end. Host reads end the delay; operations only
 * enter the queue of delayed-queue.c. */
#include "cvl/delayed.h"
#include "cvl/delayed-queue.h"
#include "cvl/sharing.h"
#include "cvl/slices.h"

#include <stdlib.h>
#include <string.h>

enum { POISON = 0xA5 };

/* ---- contexts ---- */

struct cvl_context *delayed_open(const struct cvl_backend *inner,
                                 const struct cvl_options *options, const char **why) {
  struct cvl_context *ctx = calloc(1, sizeof *ctx);
  struct cvl_options any_device = *options;
  any_device.device = -1; /* here it is a seed */
  struct cvl_context *wrapped = ctx ? inner->open(&any_device, why) : NULL;
  if (!ctx) *why = "no memory";
  if (!wrapped) {
    free(ctx);
    return NULL;
  }
  *ctx = (struct cvl_context){.b = inner,
                              .inner = wrapped,
                              .int_elem = options->int_elem,
                              .float_elem = options->float_elem,
                              .stop = options->stop,
                              .random = (uint64_t)options->device};
  ctx->end = &ctx->queue;
  return ctx;
}

static void delayed_close(struct cvl_context *ctx) {
  while (ctx->queue) {
    struct task *t = ctx->queue;
    ctx->queue = t->next;
    task_free(ctx, t);
  }
  while (ctx->nodes) {
    ctx->nodes->references = 1;
    node_release(ctx, ctx->nodes);
  }
  while (ctx->kernels) delayed_discard(ctx, ctx->kernels);
  ctx->b->close(ctx->inner);
  free(ctx->symbols);
  free(ctx);
}

static bool delayed_check(struct cvl_context *ctx, bool wait, struct cvl_error *e) {
  if (wait) {
    if (ctx->queued) ctx->waits++;
    queue_drain(ctx);
  } else {
    queue_stir(ctx);
  }
  if (ctx->error.kind == CVL_E_NONE) return false;
  *e = ctx->error;
  ctx->error.kind = CVL_E_NONE;
  return true;
}

static struct cvl_statistics delayed_statistics(struct cvl_context *ctx) {
  struct cvl_statistics s = ctx->b->statistics(ctx->inner);
  s.waits = ctx->waits;
  return s;
}

static void delayed_fail_allocation(struct cvl_context *ctx, uint64_t n) {
  ctx->b->fail_allocation(ctx->inner, n);
}

/* ---- values ---- */

static void delayed_retain(struct cvl_context *ctx, const struct cvl_value *v) {
  struct delayed_node *n = node_of(v);
  (void)ctx;
  if (n) n->references++;
}

static void delayed_release(struct cvl_context *ctx, const struct cvl_value *v) {
  struct delayed_node *n = node_of(v);
  if (n) node_release(ctx, n);
}

/* Makes a node READY with a value that the wrapped back end has made at once. If that failed,
 * the fault may appear late. */
static bool uploaded(struct cvl_context *ctx, uint64_t site, struct delayed_node *node, bool ok,
                     struct cvl_value v, uint64_t n, struct cvl_value *out) {
  if (ok) node->inner = v;
  ok = !delayed_take_inner_fault(ctx, site, 1) && ok;
  node->state = ok ? NODE_READY : NODE_HARMLESS;
  node->size.bound = n;
  *out = node_value(node);
  return ok;
}

/* Copies host data, which must happen at once. */
static bool delayed_upload(struct cvl_context *ctx, uint64_t site, bool segdes,
                           enum cvl_elem elem, uint64_t n, const void *data,
                           struct cvl_value *out) {
  memset(out, POISON, sizeof *out);
  struct delayed_node *node = node_new(ctx, site, segdes, elem);
  if (!node) return false;
  struct cvl_value v = {.form = CVL_NOTHING};
  bool ok = segdes ? ctx->b->segdes_from_host(ctx->inner, site, n, data, &v)
                   : ctx->b->from_host(ctx->inner, site, elem, n, data, &v);
  ok = uploaded(ctx, site, node, ok, v, n, out);
  node->count.bound = segdes ? n : 1;
  if (segdes) {
    node->size.bound = 0;
    for (uint64_t k = 0; k < n && ok; k++) {
      node->size.bound += (uint64_t)((const int64_t *)data)[k];
    }
  }
  return true;
}

static bool delayed_from_host(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem,
                              uint64_t n, const void *data, struct cvl_value *out) {
  return delayed_upload(ctx, site, false, elem, n, data, out);
}

static bool delayed_segdes_from_host(struct cvl_context *ctx, uint64_t site, uint64_t n,
                                     const int64_t *lengths, struct cvl_value *out) {
  return delayed_upload(ctx, site, true, CVL_I64, n, lengths, out);
}

/* ---- memory in common with the host: as the wrapped back end has it ---- */

static bool delayed_import(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem,
                           uint64_t n, const void *data, struct cvl_notice done,
                           struct cvl_value *out) {
  struct cvl_value v = {.form = CVL_NOTHING};
  struct delayed_node *node = node_new(ctx, site, false, elem);
  if (!node) {
    done.call(done.with);
    return false;
  }
  const bool ok = ctx->b->sharing->import_vector(ctx->inner, site, elem, n, data, done, &v);
  uploaded(ctx, site, node, ok, v, n, out);
  return true;
}

static bool delayed_generate(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem,
                             uint64_t n, const struct cvl_filler *filler,
                             struct cvl_value *out) {
  struct cvl_value v = {.form = CVL_NOTHING};
  struct delayed_node *node = node_new(ctx, site, false, elem);
  if (!node) return false;
  const bool ok = ctx->b->generators->generate(ctx->inner, site, elem, n, filler, &v);
  uploaded(ctx, site, node, ok, v, n, out);
  return true;
}

static bool delayed_generate_segdes(struct cvl_context *ctx, uint64_t site, uint64_t n,
                                    const struct cvl_filler *filler, struct cvl_value *out) {
  struct cvl_value v = {.form = CVL_NOTHING};
  struct delayed_node *node = node_new(ctx, site, true, CVL_I64);
  if (!node) return false;
  const bool made = ctx->b->generators->generate_segdes(ctx->inner, site, n, filler, &v);
  if (uploaded(ctx, site, node, made, v, n, out)) {
    node->size.bound = ctx->b->length(ctx->inner, &v).bound;
  } else {
    node->size.bound = 0;
  }
  node->count.bound = n;
  return true;
}

/* Waits for a value. Returns its node, or NULL if there is nothing to wait for. */
static struct delayed_node *delayed_await(struct cvl_context *ctx, const struct cvl_value *v) {
  struct delayed_node *n = node_of(v);
  if (n && n->state == NODE_WAITING) {
    ctx->waits++;
    task_run(ctx, n->producer);
  }
  return n;
}

static bool delayed_to_host(struct cvl_context *ctx, const struct cvl_value *v, uint64_t first,
                            uint64_t n, void *dst) {
  struct delayed_node *node = delayed_await(ctx, v);
  bool segdes = v->form == CVL_SEGDES || v->form == CVL_ONE_SEGMENT;
  size_t bytes =
      (size_t)n * (segdes ? sizeof(int64_t) : elem_info((enum cvl_elem)v->elem)->bytes);
  if (n) memset(dst, ctx->error.kind == CVL_E_NONE ? 0 : POISON, bytes);
  if (ctx->error.kind != CVL_E_NONE) return false;
  if (node && node->state == NODE_HARMLESS) return true;
  if (ctx->b->to_host(ctx->inner, node ? &node->inner : v, first, n, dst)) return true;
  delayed_take_inner_fault(ctx, 0, 1);
  return false;
}

static bool delayed_export(struct cvl_context *ctx, const struct cvl_value *v,
                           struct cvl_export *exported) {
  const struct delayed_node *node = delayed_await(ctx, v);
  return ctx->error.kind == CVL_E_NONE && node && node->state == NODE_READY &&
         ctx->b->sharing->export_vector(ctx->inner, &node->inner, exported);
}

/* ---- values cut and put together again: at once, after what makes them ---- */

/* Makes a node READY with the wrapped back end's value, of n elements or segments. Without `ok`
 * that has not been called, or there is a fault. */
static void answered(struct cvl_context *ctx, uint64_t site, struct delayed_node *node, bool ok,
                     struct cvl_value v, uint64_t n, struct cvl_value *out) {
  const bool made = uploaded(ctx, site, node, ok, v, n, out);
  if (!node->segdes) return;
  node->count.bound = n;
  node->size.bound = made ? ctx->b->length(ctx->inner, &v).bound : 0;
}

static bool delayed_slice(struct cvl_context *ctx, uint64_t site, const struct cvl_value *v,
                          uint64_t first, uint64_t n, struct cvl_value *out) {
  const bool segdes = v->form == CVL_SEGDES || v->form == CVL_ONE_SEGMENT;
  struct delayed_node *of = delayed_await(ctx, v);
  const bool owned = of && v->owned, sound = !of || of->state == NODE_READY;
  struct cvl_value in = of ? of->inner : *v, slice = {.form = CVL_NOTHING};
  struct delayed_node *node =
      node_new(ctx, site, segdes, segdes ? CVL_I64 : (enum cvl_elem)v->elem);
  in.owned = 0;
  const bool ok =
      node && sound && ctx->b->slices->slice(ctx->inner, site, &in, first, n, &slice);
  if (node) answered(ctx, site, node, ok, slice, n, out);
  if (owned) node_release(ctx, of);
  return node != NULL;
}

static bool delayed_allocate(struct cvl_context *ctx, uint64_t site, enum cvl_elem elem,
                             uint64_t n, struct cvl_value *out) {
  struct cvl_value v = {.form = CVL_NOTHING};
  struct delayed_node *node = node_new(ctx, site, false, elem);
  if (!node) return false;
  const bool ok = ctx->b->slices->allocate(ctx->inner, site, elem, n, &v);
  uploaded(ctx, site, node, ok, v, n, out);
  return true;
}

/* If elements are harmless only, the target is, too. */
static bool delayed_fill(struct cvl_context *ctx, uint64_t site, const struct cvl_value *target,
                         uint64_t first, const struct cvl_value *v) {
  struct delayed_node *to = node_of(target), *of = delayed_await(ctx, v);
  struct cvl_value in = of ? of->inner : *v;
  in.owned = 0;
  bool ok = to->state == NODE_READY && (!of || of->state == NODE_READY);
  ok = ok && ctx->b->slices->fill(ctx->inner, site, &to->inner, first, &in);
  ok = !delayed_take_inner_fault(ctx, site, 1) && ok;
  if (!ok) to->state = NODE_HARMLESS;
  if (of && v->owned) node_release(ctx, of);
  return true;
}

/* Counts the segments of several descriptors, which exist from now on. False if one of them is
 * harmless only. */
static bool await_all(struct cvl_context *ctx, uint64_t n, const struct cvl_value *descriptors,
                      struct cvl_value *inner, uint64_t *count) {
  bool sound = true;
  *count = 0;
  for (uint64_t i = 0; i < n; i++) {
    const struct delayed_node *d = delayed_await(ctx, &descriptors[i]);
    sound &= !d || d->state == NODE_READY;
    inner[i] = d ? d->inner : descriptors[i];
    inner[i].owned = 0;
    *count += delayed_count(ctx, &descriptors[i]).bound;
  }
  return sound;
}

static bool delayed_concatenate(struct cvl_context *ctx, uint64_t site, uint64_t n,
                                const struct cvl_value *descriptors, struct cvl_value *out) {
  uint64_t count;
  struct cvl_value whole = {.form = CVL_NOTHING};
  struct delayed_node *node = node_new(ctx, site, true, CVL_I64);
  struct cvl_value *inner = calloc(n + 1, sizeof *inner);
  if (node && inner) {
    const bool sound = await_all(ctx, n, descriptors, inner, &count);
    const bool ok = sound && ctx->b->slices->concatenate(ctx->inner, site, n, inner, &whole);
    answered(ctx, site, node, ok, whole, count, out);
  } else if (node) {
    delayed_fault(ctx, (struct cvl_error){.kind = CVL_E_MEMORY,
                                          .site = site,
                                          .value = (int64_t)(n * sizeof *inner)});
    node_release(ctx, node);
  }
  const bool good = node && inner;
  free(inner);
  return good;
}

static bool delayed_scalar(struct cvl_context *ctx, const struct cvl_value *v,
                           struct cvl_value *out) {
  struct cvl_value s = {.form = CVL_SCALAR, .elem = v->elem};
  memset(out, POISON, sizeof *out);
  if (!delayed_to_host(ctx, v, 0, 1, &s.as)) return false;
  *out = s;
  return true;
}

static bool delayed_resolve(struct cvl_context *ctx, struct cvl_size *size) {
  *size = size_now(ctx, *size);
  if (size->symbol) {
    ctx->waits++;
    task_run(ctx, ctx->symbols[size->symbol - 1].producer);
    *size = size_now(ctx, *size);
  }
  return ctx->error.kind == CVL_E_NONE;
}

static bool delayed_same(struct cvl_context *ctx, const struct cvl_value *a,
                         const struct cvl_value *b) {
  (void)ctx;
  if (a->form == CVL_ONE_SEGMENT && b->form == CVL_ONE_SEGMENT) {
    return a->as.one_segment == b->as.one_segment;
  }
  return node_of(a) && node_of(a) == node_of(b);
}

/* ---- operations ---- */

static bool delayed_require_equal(struct cvl_context *ctx, uint64_t site, struct cvl_size a,
                                  struct cvl_size b, int64_t rule) {
  struct task *t = task_new(ctx, site, 0, 0);
  if (!t) return false;
  t->requirement = true;
  t->a = a, t->b = b, t->rule = rule;
  queue_add(ctx, t);
  queue_stir(ctx);
  return true;
}

/* Sets the size of result r as far as it is known beforehand. */
static void delayed_expect_sizes(struct cvl_context *ctx, struct task *t, unsigned r) {
  const struct cvl_value *v = t->operand;
  struct delayed_node *n = t->out[r];
  struct cvl_size first = delayed_length(ctx, &v[0]);
  switch (t->call.kind) {
#define SEGMENTED(kind, function) case CALL_##kind:
#include "cvl/segmented.def"
    n->size = call_gives_one_per_segment(t->call.kind) ? delayed_count(ctx, &v[1]) : first;
    return;
  case CALL_PERMUTE: n->size = delayed_length(ctx, &v[5]); return;
  case CALL_EXTRACT: n->size = delayed_count(ctx, &v[2]); return;
  case CALL_DIST: n->size = delayed_length(ctx, &v[1]); return;
  case CALL_INDEX: n->size = delayed_length(ctx, &v[2]); return;
  case CALL_LENGTHS: n->size = delayed_count(ctx, &v[0]); return;
  case CALL_LENGTH_OF: n->size = (struct cvl_size){1, 0}; return;
  case CALL_PACK:
    if (r == 0) {
      n->size.bound = first.bound + 1 + delayed_random(ctx, DELAYED_SLACK);
      n->size.symbol = symbol_new(ctx, t);
    } else {
      n->size = t->out[0]->size;
      n->count = delayed_count(ctx, &v[2]);
    }
    return;
  case CALL_MAKE_SEGDES:
    n->size = (struct cvl_size){INT64_MAX, symbol_new(ctx, t)};
    n->count = first;
    return;
  case CALL_ELEMENTWISE:
  case CALL_REPLACE:
  case CALL_RANDOM:
  case CALL_ASSERT:
  case CALL_KINDS: n->size = first; return;
  }
}

/* Queues a call, and makes nodes for its results. */
static bool delayed_apply(struct cvl_context *ctx, uint64_t site, const struct cvl_call *call,
                          struct cvl_value *results) {
  struct task *t = task_with(ctx, site, call->operand, call->count, call_results(call->kind));
  if (!t) return false;
  t->call = *call;
  unsigned last = call->kind == CALL_ELEMENTWISE ? call->count - 1 : 0;
  enum cvl_elem elem =
      call_result_elem(call->kind, call->op, (enum cvl_elem)call->operand[last].elem,
                       ctx->int_elem, ctx->float_elem);
  bool ok = true;
  for (unsigned r = 0; r < t->out_count && ok; r++) {
    bool segdes = call_gives_segdes(call->kind, r);
    t->out[r] = node_new(ctx, site, segdes, segdes ? CVL_I64 : elem);
    ok = t->out[r] != NULL;
    if (ok) delayed_expect_sizes(ctx, t, r);
  }
  return task_submit(ctx, t, ok, results);
}

static const struct cvl_superops superops = {delayed_prepare, delayed_discard, delayed_run};
static const struct cvl_sharing sharing = {delayed_import, delayed_export};
static const struct cvl_generators generators = {delayed_generate, delayed_generate_segdes};
static const struct cvl_slices slices = {delayed_slice, delayed_allocate, delayed_fill,
                                         delayed_concatenate};

const struct cvl_backend delayed_functions = {
    .version = CVL_VERSION,
    .name = "delayed",
    .doc = "for tests: another back end, with everything late",
    .close = delayed_close,
    .from_host = delayed_from_host,
    .segdes_from_host = delayed_segdes_from_host,
    .to_host = delayed_to_host,
    .scalar = delayed_scalar,
    .retain = delayed_retain,
    .release = delayed_release,
    .length = delayed_length,
    .count = delayed_count,
    .resolve = delayed_resolve,
    .require_equal = delayed_require_equal,
    .same = delayed_same,
    .check = delayed_check,
    .statistics = delayed_statistics,
    .fail_allocation = delayed_fail_allocation,
    .apply = delayed_apply,
    .superops = &superops,
    .sharing = &sharing,
    .generators = &generators,
    .slices = &slices,
    .prepared = delayed_prepared,
};
