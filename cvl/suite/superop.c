/* superop.c - superoperators on the back end: random ones, prepared once and run on many
 * lengths and shapes. They are compared with the oracle bit for bit and fault for fault.
 *
 * If a superoperator has functions that differ between back ends, it is compared with its nodes
 * executed one by one on the same back end, whose bits must be the same. If a back end does not
 * prepare it, superop_run is tested.
 */
#include "cvl/suite/superop.h"

#include <inttypes.h>
#include <string.h>

/* ---- operands ---- */

enum ownership { BORROWED, OWNED, OWNED_HELD, OWNERSHIPS };

struct operands {
  struct cvl_value value[SUPEROP_PARAMS]; /* the operands as they are passed */
  struct cvl_value held[SUPEROP_PARAMS];  /* form NOTHING: the suite has no reference */
};

static void superop_release_held(struct suite *s, const struct superop_case *c,
                                 struct operands *o) {
  for (uint32_t p = 0; p < c->op.param_count; p++) {
    if (o->held[p].form != CVL_NOTHING) s->b->release(s->ctx, &o->held[p]);
    o->held[p].form = CVL_NOTHING;
  }
}

static bool has_alias_later(const struct superop_case *c, uint32_t p) {
  for (uint32_t q = p + 1; q < c->op.param_count; q++) {
    if (c->recipes[q].data == DATA_ALIAS && c->recipes[q].of == c->recipes[p].of) return true;
  }
  return false;
}

/* Passes an alias of an uploaded operand: with a reference of its own, or with the only one, as
 * the machine does at the last use of a variable. */
static void pass_alias(struct suite *s, const struct superop_case *c, uint32_t p,
                       struct operands *o) {
  uint32_t of = c->recipes[p].of;
  o->value[p] = o->value[of];
  bool takes_over = o->held[of].form != CVL_NOTHING && !o->value[of].owned &&
                    !has_alias_later(c, p) && rng_one_in(&s->rng, 2);
  if (takes_over) {
    o->held[of].form = CVL_NOTHING;
    o->value[p].owned = 1;
    return;
  }
  o->value[p].owned = rng_one_in(&s->rng, 2);
  s->b->retain(s->ctx, &o->value[p]);
  if (!o->value[p].owned) o->held[p] = o->value[p];
}

/* Uploads one in three as a slice, if the back end has slices. The random numbers for this are
 * separate, so that all else is the same for all back ends. */
static bool upload_stored(struct suite *s, const struct host_value *h, bool other,
                          struct cvl_value *out) {
  const struct rng before = s->rng;
  const bool sliced = s->b->slices && rng_one_in(&s->rng, 3);
  const bool ok = sliced ? suite_upload_slice(s, h, out) : suite_upload(s, h, other, out);
  s->rng = before;
  return ok;
}

static bool superop_upload_one(struct suite *s, const struct superop_case *c,
                               const struct host_value *params, uint32_t p,
                               struct cvl_value *out) {
  const bool other = rng_one_in(&s->rng, 2);
  if (c->computed && c->computed[p].by)
    return computed_upload(s, &params[p], &c->computed[p], other, out);
  return upload_stored(s, &params[p], other, out);
}

/* Chooses the form and the ownership of every operand. `packing`: if not NULL, operands of the
 * domain are packed. */
static bool superop_upload_with(struct suite *s, const struct superop_case *c,
                                const struct host_value *params,
                                const struct packed_operands *packing, bool borrow,
                                struct operands *o) {
  memset(o, 0, sizeof *o);
  for (uint32_t p = 0; p < c->op.param_count; p++) {
    if (c->recipes[p].data == DATA_ALIAS) continue;
    const bool ok = packing && packed_fits(packing, &params[p])
                        ? packed_upload(s, packing, &params[p], &o->value[p])
                        : superop_upload_one(s, c, params, p, &o->value[p]);
    if (!ok) {
      superop_release_held(s, c, o);
      return false;
    }
    o->held[p] = o->value[p];
    enum ownership own = (enum ownership)rng_below(&s->rng, OWNERSHIPS);
    if (own == BORROWED || borrow) continue;
    o->value[p].owned = 1;
    if (own == OWNED_HELD) {
      s->b->retain(s->ctx, &o->held[p]);
    } else {
      o->held[p].form = CVL_NOTHING;
    }
  }
  for (uint32_t p = 0; p < c->op.param_count; p++) {
    if (c->recipes[p].data != DATA_ALIAS) continue;
    /* An alias needs the object alive, so its only reference must not be given away earlier. */
    pass_alias(s, c, p, o);
  }
  return true;
}

static bool superop_upload(struct suite *s, const struct superop_case *c,
                           const struct host_value *params, bool borrow, struct operands *o) {
  const struct superop_size domain = c->op.domain;
  const bool counted = domain.what == SIZE_LEN || domain.what == SIZE_TOTAL;
  if (!counted || rng_one_in(&s->rng, 2))
    return superop_upload_with(s, c, params, NULL, borrow, o);
  const bool has_segments = c->op.segments != SUPEROP_NONE;
  const struct host_value *by = &params[has_segments ? c->op.segments : domain.param];
  const bool segdes = by->form == HOST_SEGDES;
  struct packed_operands packing;
  const bool packs = packed_begin(s, segdes ? by : NULL, segdes ? by->total : by->n, &packing);
  const bool ok =
      !s->failed && superop_upload_with(s, c, params, packs ? &packing : NULL, borrow, o);
  packed_end(s, &packing);
  return ok;
}

/* Checks that operands which the suite still holds have kept their values. */
static bool unchanged(struct suite *s, const struct superop_case *c,
                      const struct host_value *params, const struct operands *o) {
  for (uint32_t p = 0; p < c->op.param_count; p++) {
    if (o->held[p].form == CVL_NOTHING) continue;
    struct host_value now;
    if (!suite_fetch(s, &o->held[p], &now)) return false;
    bool ok = suite_compare(s, &params[p], &now, 0, "operand after the superoperator");
    host_free(&s->heap, &now);
    if (!ok) return suite_fail(s, "parameter %u was written", p);
  }
  return true;
}

/* ---- sizes, as a caller has to require them ---- */

static struct cvl_size suite_superop_size_of(struct suite *s, struct superop_size size,
                                             const struct cvl_value *v) {
  if (size.what == SIZE_ONE) return (struct cvl_size){1, 0};
  return size.what == SIZE_COUNT ? s->b->count(s->ctx, &v[size.param])
                                 : s->b->length(s->ctx, &v[size.param]);
}

static void superop_require_rules(struct suite *s, const struct superop *op, uint64_t site,
                                  const struct cvl_value *v) {
  for (uint32_t i = 0; i < op->rule_count; i++) {
    struct cvl_size a = suite_superop_size_of(s, op->rules[i].a, v),
                    b = suite_superop_size_of(s, op->rules[i].b, v);
    if (a.symbol == b.symbol && (a.symbol || a.bound == b.bound)) continue;
    s->b->require_equal(s->ctx, site + op->rules[i].node, a, b, 0);
  }
}

/* ---- what is wanted ---- */

struct wanted {
  struct host_value values[SUPEROP_PARAMS + 2 * SUPEROP_NODES]; /* by number; outputs matter */
  struct cvl_error error;                                       /* its site is the node */
};

static void superop_free_wanted(struct suite *s, const struct superop_case *c,
                                struct wanted *w) {
  for (uint32_t v = c->op.param_count; v < c->op.value_count; v++) {
    host_free(&s->heap, &w->values[v]);
  }
}

/* Computes the wanted values by executing the nodes on the back end itself. */
static bool want_nodes(struct suite *s, const struct superop_case *c,
                       const struct host_value *params, struct wanted *w) {
  struct operands o;
  struct cvl_value outs[2 * SUPEROP_NODES];
  if (!superop_upload(s, c, params, true, &o)) return false;
  uint64_t site = s->site + 1;
  s->site += c->op.node_count;
  bool ok = superop_run(s->b, s->ctx, site, &c->op, NULL, o.value, outs);
  if (s->b->check(s->ctx, true, &w->error)) {
    w->error.site -= site;
  } else if (!ok) {
    suite_fail(s, "superop_run returned false without a fault");
  }
  for (uint32_t i = 0; i < c->op.output_count && ok; i++) {
    if (!s->failed && w->error.kind == CVL_E_NONE) {
      suite_fetch(s, &outs[i], &w->values[c->op.outputs[i]]);
    }
    s->b->release(s->ctx, &outs[i]);
  }
  superop_release_held(s, c, &o);
  return !s->failed;
}

static bool superop_want(struct suite *s, const struct superop_case *c,
                         const struct host_value *params, struct wanted *w) {
  memset(w, 0, sizeof *w);
  memcpy(w->values, params, c->op.param_count * sizeof *params);
  if (c->approximate) return want_nodes(s, c, params, w);
  oracle_superop(&s->heap, &c->op, s->int_elem, s->float_elem, w->values, &w->error);
  if (w->error.kind == CVL_E_NONE || c->wild) return true;
  return suite_fail(s, "the oracle faults (%s) in node %" PRIu64, fault_name(w->error.kind),
                    w->error.site);
}

/* ---- one run ---- */

struct attempt {
  struct operands operands;
  struct cvl_value outs[2 * SUPEROP_NODES];
  uint64_t site;
  bool ok;
};

/* Runs the kernel, or the nodes if there is none. */
static bool superop_start(struct suite *s, const struct superop_case *c,
                          struct cvl_kernel *kernel, const struct host_value *params,
                          struct attempt *a) {
  if (!superop_upload(s, c, params, false, &a->operands)) return false;
  a->site = s->site + 1;
  s->site += c->op.node_count;
  s->cases++;
  if (kernel) {
    superop_require_rules(s, &c->op, a->site, a->operands.value);
    a->ok = s->b->superops->run(s->ctx, a->site, kernel, a->operands.value, a->outs);
  } else {
    a->ok = superop_run(s->b, s->ctx, a->site, &c->op, NULL, a->operands.value, a->outs);
  }
  return true;
}

static bool compare_outputs(struct suite *s, const struct superop_case *c,
                            const struct wanted *w, const struct attempt *a) {
  for (uint32_t i = 0; i < c->op.output_count; i++) {
    struct host_value got;
    char what[40];
    snprintf(what, sizeof what, "output %u, $%u,", i, c->op.outputs[i]);
    if (a->outs[i].owned) return suite_fail(s, "%s is marked owned", what);
    if (!suite_fetch(s, &a->outs[i], &got)) return suite_fail(s, "%s", what);
    bool ok = suite_compare(s, &w->values[c->op.outputs[i]], &got, 0, what);
    host_free(&s->heap, &got);
    if (!ok) return false;
  }
  return true;
}

static void superop_finish(struct suite *s, const struct superop_case *c,
                           const struct host_value *params, const struct wanted *w,
                           struct attempt *a) {
  struct cvl_error e, expected = w->error;
  expected.site += a->site;
  if (w->error.kind != CVL_E_NONE) {
    if (!s->b->check(s->ctx, true, &e)) {
      suite_fail(s, "no fault, expected %s in node %" PRIu64 " at position %" PRId64,
                 fault_name(expected.kind), w->error.site, expected.position);
    } else {
      suite_compare_error(s, &expected, &e);
    }
  } else {
    if (a->ok) compare_outputs(s, c, w, a);
    if (s->b->check(s->ctx, true, &e)) {
      suite_fail(s, "fault %s in node %" PRId64 " at position %" PRId64 ", expected none",
                 fault_name(e.kind), (int64_t)(e.site - a->site), e.position);
    } else if (!a->ok) {
      suite_fail(s, "returned false without a fault");
    }
  }
  for (uint32_t i = 0; i < c->op.output_count && a->ok; i++) {
    s->b->release(s->ctx, &a->outs[i]);
  }
  if (!s->failed) unchanged(s, c, params, &a->operands);
  superop_release_held(s, c, &a->operands);
}

/* ---- one set of data ---- */

static void superop_describe(struct suite *s, uint64_t n, enum shape shape, const char *how) {
  snprintf(s->where, sizeof s->where, ", %u threads, n = %" PRIu64 ", shape %s%s", s->threads,
           n, shape_name(shape), how);
}

/* Whether a parameter has flags without which some indices would be wrong. */
static bool are_flags(const struct superop_case *c, uint32_t p) {
  for (uint32_t q = p + 1; q < c->op.param_count; q++) {
    const enum data_kind data = (enum data_kind)c->recipes[q].data;
    if ((data == DATA_INDEX || data == DATA_SOUND) && c->recipes[q].flags == p) return true;
  }
  return false;
}

static void make_one_computed(struct suite *s, const struct superop_case *c, uint32_t p,
                              enum suite_operand_form form, struct host_value *params) {
  struct computed *const to = &c->computed[p];
  switch ((enum data_kind)c->recipes[p].data) {
  case DATA_ELEMENTS:
  case DATA_VALUES:
  case DATA_PER_SEGMENT: computed_make(s, &params[p], form, true, to); break;
  case DATA_NONZERO:
  case DATA_TRUE: computed_make(s, &params[p], form, false, to); break;
  case DATA_PICK:
  case DATA_INDEX:
  case DATA_SOUND: computed_zeros(s, &params[p], form, to); break;
  case DATA_PERMUTATION:
    computed_positions(s, &params[p], &params[c->recipes[p].of], to);
    break;
  case DATA_SEGMENTS:
  case DATA_ONE:
  case DATA_OTHER:
  case DATA_ROWS:
  case DATA_PARTNER:
  case DATA_ZEROS:
  case DATA_ONES:
  case DATA_ALIAS: break;
  }
}

/* Changes some parameters so that back ends may compute them: those for which `turn`, which
 * differs from run to run, has a form. */
static void make_computed(struct suite *s, const struct superop_case *c, unsigned turn,
                          struct host_value *params) {
  for (uint32_t p = 0; p < c->op.param_count && c->computed; p++) {
    const unsigned form = (turn + p) % OPERAND_FORMS;
    if (form == STORED_ELEMENTS || params[p].n < 2 || are_flags(c, p)) continue;
    make_one_computed(s, c, p, (enum suite_operand_form)form, params);
  }
}

static void free_computed(struct suite *s, const struct superop_case *c) {
  for (uint32_t p = 0; p < c->op.param_count && c->computed; p++)
    computed_free(s, &c->computed[p]);
}

/* `turn` says which parameters are computed, and how; 0: none. */
static void run_data(struct suite *s, const struct superop_case *c, struct cvl_kernel *kernel,
                     uint64_t n, enum shape shape, unsigned turn) {
  struct host_value params[SUPEROP_PARAMS];
  struct wanted w;
  struct attempt first, second;
  bool spoiled = c->wild && !rng_one_in(&s->rng, 3);
  superop_describe(s, n, shape, spoiled ? ", faults" : "");
  superop_case_data(s, c, n, shape, spoiled, params);
  if (turn > 0) make_computed(s, c, turn, params);
  if (superop_want(s, c, params, &w) && superop_start(s, c, kernel, params, &first)) {
    /* Two runs are under way at once, if no fault of the one hides that of the other. */
    bool both = n <= 3000 && w.error.kind == CVL_E_NONE && rng_one_in(&s->rng, 3) &&
                superop_start(s, c, kernel, params, &second);
    superop_finish(s, c, params, &w, &first);
    if (both) superop_finish(s, c, params, &w, &second);
    if (!s->failed && kernel && n <= 3000) {
      superop_describe(s, n, shape, spoiled ? ", faults, node by node" : ", node by node");
      if (superop_start(s, c, NULL, params, &first)) superop_finish(s, c, params, &w, &first);
    }
  }
  superop_free_wanted(s, c, &w);
  free_computed(s, c);
  superop_case_free_data(s, c, params);
}

/* ---- failing allocations ---- */

/* Makes one attempt with allocation k failing. True if fewer were asked for. */
static bool superop_sweep_step(struct suite *s, const struct superop_case *c,
                               struct cvl_kernel *kernel, const struct host_value *params,
                               const struct wanted *w, uint64_t k) {
  struct attempt a;
  struct cvl_error e;
  struct operands *o = &a.operands;
  if (!superop_upload(s, c, params, false, o)) return true;
  a.site = s->site + 1;
  s->site += c->op.node_count;
  s->cases++;
  if (kernel) superop_require_rules(s, &c->op, a.site, o->value);
  if (s->b->check(s->ctx, true, &e)) suite_fail(s, "a fault of uploading");
  uint64_t before = s->b->statistics(s->ctx).allocations;
  s->b->fail_allocation(s->ctx, k);
  a.ok = kernel ? s->b->superops->run(s->ctx, a.site, kernel, o->value, a.outs)
                : superop_run(s->b, s->ctx, a.site, &c->op, NULL, o->value, a.outs);
  bool fault = s->b->check(s->ctx, true, &e);
  bool done = s->b->statistics(s->ctx).allocations - before < k;
  s->b->fail_allocation(s->ctx, 0);
  /* Loops and combinations wait, and a fault of a wait that lacks memory has no site. */
  bool waiting =
      e.site == UINT64_MAX && (superop_has_loops(&c->op) || superop_has_combinations(&c->op));
  bool within = e.site >= a.site && e.site < a.site + c->op.node_count;
  if (fault && (e.kind != CVL_E_MEMORY || !(within || waiting))) {
    suite_fail(s, "fault %s at site %" PRIu64 " instead of MEMORY at %" PRIu64 " or after",
               fault_name(e.kind), e.site, a.site);
  } else if (fault && done) {
    suite_fail(s, "MEMORY fault, but no allocation failed");
  } else if (!fault && !a.ok) {
    suite_fail(s, "returned false without a fault");
  } else if (!fault) {
    compare_outputs(s, c, w, &a);
  }
  for (uint32_t i = 0; i < c->op.output_count && a.ok; i++) s->b->release(s->ctx, &a.outs[i]);
  if (!s->failed) unchanged(s, c, params, o);
  superop_release_held(s, c, o);
  return done || s->failed;
}

/* Prepares it with allocation k failing. True if fewer were asked for. */
static bool prepare_step(struct suite *s, const struct superop_case *c, uint64_t k) {
  struct cvl_error e;
  uint64_t before = s->b->statistics(s->ctx).allocations;
  s->b->fail_allocation(s->ctx, k);
  struct cvl_kernel *kernel = s->b->superops->prepare(s->ctx, &c->op);
  bool done = s->b->statistics(s->ctx).allocations - before < k;
  s->b->fail_allocation(s->ctx, 0);
  s->cases++;
  if (s->b->check(s->ctx, true, &e)) suite_fail(s, "prepare records a fault");
  if (kernel) s->b->superops->discard(s->ctx, kernel);
  if (!s->failed) suite_no_error(s);
  return done || s->failed;
}

static void superop_sweep(struct suite *s, const struct superop_case *c, uint64_t n,
                          enum shape shape) {
  enum { MOST = 5000, MOST_OF_LOOPS = 200 /* every round is like the first */ };
  uint64_t most = MOST;
  struct host_value params[SUPEROP_PARAMS];
  struct wanted w;
  bool done = !s->b->superops;
  superop_describe(s, n, shape, ", prepare with an allocation failing");
  for (uint64_t k = 1; !done && k < MOST; k++) done = prepare_step(s, c, k);
  if (!done) suite_fail(s, "more than %d allocations", MOST);
  struct cvl_kernel *kernel = s->b->superops ? s->b->superops->prepare(s->ctx, &c->op) : NULL;
  superop_case_data(s, c, n, shape, false, params);
  bool ok = !s->failed && superop_want(s, c, params, &w);
  for (int nodes = !kernel; nodes < 2 && ok && !s->failed; nodes++) {
    done = false;
    if (superop_has_loops(&c->op)) most = MOST_OF_LOOPS;
    /* A combination has the same few operations on every level. */
    const uint64_t stride = superop_has_combinations(&c->op) ? 1 + rng_below(&s->rng, 12) : 1;
    for (uint64_t k = 1; !done && k < most; k += stride) {
      char how[60];
      snprintf(how, sizeof how, ", allocation %" PRIu64 " fails%s", k,
               nodes ? ", node by node" : "");
      superop_describe(s, n, shape, how);
      done = superop_sweep_step(s, c, nodes ? NULL : kernel, params, &w, k);
    }
    if (!done && most == MOST && stride == 1) suite_fail(s, "more than %d allocations", MOST);
  }
  if (ok) superop_free_wanted(s, c, &w);
  superop_case_free_data(s, c, params);
  if (kernel) s->b->superops->discard(s->ctx, kernel);
}

/* ---- sizes that do not agree ---- */

/* Makes one parameter longer or shorter. Executing the nodes finds the first broken rule. */
static void run_misfit(struct suite *s, const struct superop_case *c, uint64_t n,
                       enum shape shape) {
  struct host_value params[SUPEROP_PARAMS];
  struct wanted w;
  struct attempt a;
  superop_describe(s, n, shape, ", a size that does not agree");
  superop_case_data(s, c, n, shape, false, params);
  uint32_t p = (uint32_t)rng_below(&s->rng, c->op.param_count);
  bool tried = params[p].form == HOST_VECTOR && c->recipes[p].data != DATA_ALIAS;
  for (uint32_t q = 0; q < c->op.param_count; q++) {
    tried = tried && !(c->recipes[q].data == DATA_ALIAS && c->recipes[q].of == p);
  }
  if (tried) {
    struct host_value other =
        host_vector(&s->heap, (enum cvl_elem)params[p].elem, params[p].n + 1);
    memset(other.data, 1, host_bytes(&other));
    host_free(&s->heap, &params[p]);
    params[p] = other;
    memset(&w, 0, sizeof w);
    memcpy(w.values, params, c->op.param_count * sizeof *params);
    oracle_superop(&s->heap, &c->op, s->int_elem, s->float_elem, w.values, &w.error);
    if (superop_start(s, c, NULL, params, &a)) superop_finish(s, c, params, &w, &a);
    superop_free_wanted(s, c, &w);
  }
  superop_case_free_data(s, c, params);
}

/* ---- items ---- */

static const uint64_t lengths[] = {0, 1, 2, 33, 257, 1023, 1024, 1025, 2051, 5000, 20000};

/* A compiled superoperator is to run all of its paths: each parameter is in all forms, and
 * there are more elements than a tile of a device. */
static void superop_run_forms(struct suite *s, const struct superop_case *c,
                              struct cvl_kernel *kernel) {
  enum { RUNS = 2 * OPERAND_FORMS, FEW = 3, TILES = 2560, TILES_OF_TREES = 1300 };
  const bool few = s->options->brief && !s->options->all_forms;
  const uint64_t n = superop_has_combinations(&c->op) ? TILES_OF_TREES : TILES;
  for (unsigned run = 0; run < (few ? FEW : RUNS) && !s->failed; run++)
    run_data(s, c, kernel, n, (enum shape)rng_below(&s->rng, SHAPES), 1 + run);
}

/* Does the same in a sub-context that runs the kernel of its parent, if the back end has
 * them. */
static void run_in_sub(struct suite *s, const struct superop_case *c, struct cvl_kernel *kernel,
                       uint64_t n, enum shape shape, unsigned turn) {
  struct cvl_context *parent = s->ctx;
  struct cvl_context *sub = s->b->open_sub && kernel ? s->b->open_sub(parent) : NULL;
  if (sub) s->ctx = sub;
  run_data(s, c, kernel, n, shape, turn);
  s->ctx = parent;
  if (sub) s->b->close(sub);
}

static void run_runs(struct suite *s, const struct mixture *mix, unsigned round,
                     struct arena *arena) {
  enum { COUNT = sizeof lengths / sizeof lengths[0], RUNS = 5, LARGE = 65537, GREAT = 300007 };
  enum {
    MOST_OF_ROUNDS = 1027,
    MOST_OF_TREES = 1500,
    MANY_OF_TREES = 4500 /* the oracle is slow */
  };
  struct superop_case c;
  struct computed computed[SUPEROP_PARAMS] = {0};
  if (!(mix->copies ? superop_copies_make : superop_case_make)(s, arena, mix, &c)) return;
  struct cvl_kernel *kernel = s->b->superops ? s->b->superops->prepare(s->ctx, &c.op) : NULL;
  if (s->b->prepared && round % 2) s->b->prepared(s->ctx);
  c.computed = mix->copies ? NULL : computed;
  for (int run = 0; run < RUNS && !s->failed; run++) {
    uint64_t n = lengths[rng_below(&s->rng, COUNT)];
    if (run == 0 && round % 12 == 5 && !s->options->brief) {
      n = s->options->full && round % 24 == 5 ? GREAT : LARGE;
    }
    /* Node by node, every round of a loop goes through memory, and is like the one before. */
    if (!kernel && superop_has_loops(&c.op) && n > MOST_OF_ROUNDS) n = MOST_OF_ROUNDS;
    const bool trees = superop_has_combinations(&c.op);
    const uint64_t most = round % 6 == 0 ? MANY_OF_TREES : MOST_OF_TREES;
    if (trees && n > most) n = most;
    uint64_t shape = n ? rng_below(&s->rng, SHAPES)
                       : SHAPE_NONE + rng_below(&s->rng, SHAPES_END - SHAPE_NONE);
    if (trees && n && rng_one_in(&s->rng, 2)) shape = SHAPE_EDGES;
    const unsigned turn = run % 2 ? 1 + (unsigned)rng_below(&s->rng, OPERAND_FORMS) : 0;
    (run % 3 ? run_data : run_in_sub)(s, &c, kernel, n, (enum shape)shape, turn);
  }
  if (kernel && s->options->compile_waits && !mix->copies) superop_run_forms(s, &c, kernel);
  if (kernel) s->b->superops->discard(s->ctx, kernel);
  if (!s->failed && !c.wild && !c.approximate) {
    enum shape shape = (enum shape)rng_below(&s->rng, SHAPES);
    run_misfit(s, &c, lengths[1 + rng_below(&s->rng, 6)], shape);
    if (!s->failed && round % 8 == 3)
      superop_sweep(s, &c, lengths[3 + rng_below(&s->rng, 2)], shape);
  }
  if (!s->failed) suite_no_error(s);
  if (s->failed) superop_case_print(&c, s->options->out);
}

/* Runs one superoperator on several data. Does nothing if there is no memory to make it. */
static void run_case(struct suite *s, const struct mixture *mix, unsigned round) {
  struct arena arena;
  struct memory_guard guard;
  arena_init(&arena, &s->heap);
  memory_guard_begin(&guard);
  if (setjmp(guard.jump) == 0) {
    run_runs(s, mix, round, &arena);
    memory_guard_end(&guard);
  }
  arena_free(&arena);
}

static void run_mixture(struct suite *s, struct mixture mix) {
  unsigned usual = s->options->brief ? 8 : 24;
  /* each has several combinations, and the oracle is slow */
  if (mix.combinations > 0) usual /= 2;
  unsigned rounds = (s->options->full ? 200 : usual) * (mix.wild ? 2U : 1U);
  const uint64_t first = rng_next(&s->rng);
  for (unsigned round = 0; round < rounds && !s->failed; round++) {
    /* So the data of a seed do not depend on what a device does with earlier ones. */
    s->rng.state = first + round;
    run_case(s, &mix, round);
  }
}

#define CHAPTER(name, ...)                                                                     \
  void chapter_superop_##name(struct suite *s) {                                               \
    run_mixture(s, (struct mixture){__VA_ARGS__});                                             \
  }
CHAPTER(maps, .maps = 12, .spreads = 3)
CHAPTER(functions, .maps = 12, .spreads = 2, .reductions = 1, .scans = 1, .approximate = true)
CHAPTER(loops, .maps = 4, .spreads = 2, .reductions = 1, .loops = 2)
CHAPTER(combinations, .maps = 3, .spreads = 1, .gathers = 1, .reductions = 1, .combinations = 3)
CHAPTER(combinations_and_loops, .maps = 2, .scans = 1, .packs = 1, .loops = 1,
        .combinations = 2)
CHAPTER(failing_combinations, .maps = 3, .gathers = 1, .scatters = 1, .asserts = 1,
        .combinations = 2, .wild = true)
CHAPTER(gathers, .maps = 3, .spreads = 2, .gathers = 3)
CHAPTER(reductions, .maps = 4, .spreads = 1, .gathers = 1, .reductions = 4)
CHAPTER(scans, .maps = 4, .spreads = 1, .reductions = 1, .scans = 3)
CHAPTER(packs, .maps = 4, .spreads = 1, .reductions = 1, .packs = 3)
CHAPTER(failing_packs, .maps = 4, .spreads = 2, .gathers = 2, .scans = 1, .packs = 4,
        .wild = true)
CHAPTER(scatters, .maps = 3, .spreads = 1, .gathers = 1, .scatters = 2)
CHAPTER(mixed, .maps = 8, .spreads = 3, .gathers = 2, .reductions = 3, .scans = 2, .packs = 2,
        .scatters = 1)
CHAPTER(copies, .copies = true)
CHAPTER(failing_copies, .copies = true, .wild = true)
CHAPTER(divisions, .maps = 14, .spreads = 2, .reductions = 2, .scans = 1, .packs = 1,
        .wild = true)
CHAPTER(asserts, .maps = 4, .spreads = 2, .gathers = 1, .reductions = 2, .scans = 1, .packs = 1,
        .asserts = 3)
CHAPTER(failing_asserts, .maps = 4, .spreads = 1, .gathers = 2, .reductions = 1, .scatters = 1,
        .asserts = 3, .wild = true)
CHAPTER(faults, .maps = 8, .spreads = 2, .gathers = 3, .reductions = 2, .scans = 1, .packs = 1,
        .scatters = 2, .wild = true)
