/* run.c - runs one case on the back end, in every presentation, and compares it with the
 * oracle; then with every allocation failing in turn.
 */
#include "cvl/suite/suite.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum ownership {
  BORROWED,   /* the operation may only read the operand */
  OWNED,      /* it takes the only reference */
  OWNED_HELD, /* it takes a reference, but not the only one, and must not write */
  OWNERSHIPS
};

/* The forms of operands that have several. In the second half, operands that operations can
 * compute are computed. */
enum { STORED, STORED_OTHERWISE, COMPUTED, COMPUTED_OTHERWISE, FORMS };
/* Two more forms: with lengths that may be deferred, and slices of longer values. */
enum { PACKED = FORMS, SLICED };

struct presentation {
  unsigned form;
  enum ownership ownership;
};

/* The uploaded operands, and those that the suite itself still holds. */
struct uploaded {
  struct cvl_call call;
  struct cvl_value held[CALL_OPERANDS];
  unsigned holds; /* how many of them */
};

static void run_release_held(struct suite *s, struct uploaded *u) {
  for (unsigned i = 0; i < u->holds; i++) s->b->release(s->ctx, &u->held[i]);
  u->holds = 0;
}

/* Returns the descriptor, or vector, by which operands are packed: one of the first. NULL:
 * none. */
static const struct host_value *packed_by(struct suite *s, const struct test_case *t) {
  const struct host_value *by = NULL;
  for (unsigned i = 0; i < t->call.count; i++) {
    const struct host_value *v = &t->call.operand[i];
    const bool segdes = v->form == HOST_SEGDES;
    if (v->form == HOST_NOTHING || (by && by->form == HOST_SEGDES && rng_one_in(&s->rng, 2)))
      continue;
    if (!by || segdes) by = v;
  }
  return by;
}

static bool run_upload_one(struct suite *s, const struct test_case *t, struct presentation p,
                           unsigned i, const struct packed_operands *packing,
                           struct cvl_value *v) {
  const struct host_value *h = &t->call.operand[i];
  if (packing) {
    return packed_fits(packing, h) ? packed_upload(s, packing, h, v)
                                   : suite_upload(s, h, false, v);
  }
  if (p.form == SLICED) return suite_upload_slice(s, h, v);
  if (p.form >= COMPUTED && t->computed[i].by)
    return computed_upload(s, h, &t->computed[i], p.form % 2, v);
  return suite_upload(s, h, p.form % 2, v);
}

/* Uploads all operands. An alias is the value of the earlier operand with one more reference.
 * So every operand has one reference to give away or to keep. */
static bool run_upload_with(struct suite *s, const struct test_case *t, struct presentation p,
                            const struct packed_operands *packing, struct uploaded *u) {
  *u = (struct uploaded){.call = {.kind = t->call.kind,
                                  .op = t->call.op,
                                  .count = t->call.count,
                                  .random = t->call.random}};
  for (unsigned i = 0; i < t->call.count; i++) {
    struct cvl_value *v = &u->call.operand[i];
    if (t->alias[i] >= 0) {
      *v = u->call.operand[t->alias[i]];
      v->owned = 0;
      s->b->retain(s->ctx, v);
    } else if (!run_upload_one(s, t, p, i, packing, v)) {
      run_release_held(s, u);
      return false;
    }
    u->held[u->holds++] = *v;
  }
  for (unsigned i = 0; i < t->call.count && p.ownership == OWNED_HELD; i++) {
    s->b->retain(s->ctx, &u->held[i]);
  }
  for (unsigned i = 0; i < t->call.count && p.ownership != BORROWED; i++) {
    u->call.operand[i].owned = u->call.operand[i].form != CVL_NOTHING;
  }
  if (p.ownership == OWNED) u->holds = 0;
  return true;
}

static bool upload_all(struct suite *s, const struct test_case *t, struct presentation p,
                       struct uploaded *u) {
  if (p.form != PACKED) return run_upload_with(s, t, p, NULL, u);
  const struct host_value *by = packed_by(s, t);
  const bool segdes = by && by->form == HOST_SEGDES;
  struct packed_operands packing;
  const bool packs = packed_begin(s, segdes ? by : NULL,
                                  !by      ? 0
                                  : segdes ? by->total
                                           : by->n,
                                  &packing);
  p.form = STORED;
  const bool ok = !s->failed && run_upload_with(s, t, p, packs ? &packing : NULL, u);
  packed_end(s, &packing);
  return ok;
}

/* Checks that operands which the suite still holds have kept their values. */
static bool operands_unchanged(struct suite *s, const struct test_case *t,
                               const struct uploaded *u) {
  for (unsigned i = 0; i < u->holds; i++) {
    if (u->held[i].form == CVL_NOTHING) continue;
    struct host_value now;
    if (!suite_fetch(s, &u->held[i], &now)) return false;
    bool ok = suite_compare(s, &t->call.operand[i], &now, 0, "operand after the operation");
    host_free(&s->heap, &now);
    if (!ok) return false;
  }
  return true;
}

/* Adds to the digest of results that may differ from the oracle in some bits. It must be the
 * same for all numbers of threads. */
static void digest_add(struct suite *s, const struct host_value *v) {
  for (uint64_t i = 0; i < v->n; i++) {
    double x = host_real(v, i);
    uint64_t bits = 1;
    if (!isnan(x)) memcpy(&bits, &x, sizeof bits);
    s->digest = (s->digest ^ bits) * 0x100000001B3;
  }
}

/* ---- elements one by one ---- */

/* Returns the element as a scalar of the host. */
static struct cvl_value run_element(const struct host_value *v, uint64_t i) {
  struct cvl_value x = {.form = CVL_SCALAR, .elem = v->elem};
  size_t bytes = elem_info((enum cvl_elem)v->elem)->bytes;
  memcpy(&x.as, (const char *)v->data + i * bytes, bytes);
  return x;
}

/* Executes an elementwise case by cvl_scalar_op, which folds constants and must agree with back
 * ends. The form is HOST_NOTHING for other kinds and for faults. */
static struct host_value run_fold(struct suite *s, const struct test_case *t,
                                  const struct oracle_outcome *want) {
  enum { MOST = 2000 };
  const struct oracle_call *c = &t->call;
  struct host_value out = {0};
  if (c->kind != CALL_ELEMENTWISE || c->operand[0].n > MOST) return out;
  bool faults = want->error.kind != CVL_E_NONE;
  uint64_t n = faults ? (uint64_t)want->error.position + 1 : c->operand[0].n;
  if (!faults) out = host_vector(&s->heap, (enum cvl_elem)want->out[0].elem, n);
  for (uint64_t i = 0; i < n; i++) {
    struct cvl_value operands[3], r = {0};
    enum cvl_error_kind kind = CVL_E_NONE;
    for (unsigned k = 0; k < c->count; k++) operands[k] = run_element(&c->operand[k], i);
    bool ok = cvl_scalar_op(s->int_elem, s->float_elem, c->op, operands, &r, &kind);
    if (ok == (faults && i + 1 == n) || (!ok && kind != want->error.kind)) {
      suite_fail(s, "cvl_scalar_op of element %" PRIu64 " faults %s", i,
                 ok ? "not" : "wrongly");
      break;
    }
    if (faults) continue;
    if (r.form != CVL_SCALAR || r.elem != out.elem) {
      suite_fail(s, "cvl_scalar_op delivers another type");
      break;
    }
    memcpy((char *)out.data + i * elem_info((enum cvl_elem)r.elem)->bytes, &r.as,
           elem_info((enum cvl_elem)r.elem)->bytes);
  }
  if (!faults && !s->failed) {
    suite_compare(s, &want->out[0], &out, op_is_approximate(c->op) ? CONFORMANCE_ULPS : 0,
                  "cvl_scalar_op");
  }
  return out;
}

/* ---- presentations ---- */

static bool compare_results(struct suite *s, const struct test_case *t,
                            const struct oracle_outcome *want, const struct cvl_value *out,
                            const struct host_value *folded) {
  bool approximate = op_is_approximate(t->call.op);
  for (unsigned r = 0; r < call_results(t->call.kind); r++) {
    struct host_value got;
    if (!suite_fetch(s, &out[r], &got)) return false;
    bool ok = suite_compare(s, &want->out[r], &got, approximate ? CONFORMANCE_ULPS : 0,
                            r ? "second result" : "result");
    if (ok && approximate) digest_add(s, &got);
    if (ok && s->options->folds && folded && folded->form != HOST_NOTHING) {
      ok = suite_compare(s, folded, &got, 0, "result, against cvl_scalar_op");
    }
    host_free(&s->heap, &got);
    if (!ok) return false;
  }
  return true;
}

/* Expects the fault: it must be there, be the right one, and then be gone. */
static bool run_expect_fault(struct suite *s, const struct cvl_error *want) {
  struct cvl_error got;
  if (!s->b->check(s->ctx, true, &got)) {
    return suite_fail(s, "no fault, expected %s at position %" PRId64, fault_name(want->kind),
                      want->position);
  }
  if (!suite_compare_error(s, want, &got)) return false;
  if (s->b->check(s->ctx, true, &got)) return suite_fail(s, "the error slot was not emptied");
  return true;
}

static bool expect_no_fault(struct suite *s) {
  struct cvl_error e;
  if (!s->b->check(s->ctx, true, &e)) return true;
  return suite_fail(s,
                    "fault %s at position %" PRId64 " (value %" PRId64 ", limit %" PRId64
                    "), expected none",
                    fault_name(e.kind), e.position, e.value, e.limit);
}

static void release_results(struct suite *s, enum call_kind kind, const struct cvl_value *out) {
  for (unsigned r = 0; r < call_results(kind); r++) s->b->release(s->ctx, &out[r]);
}

static void run_presentation(struct suite *s, const struct test_case *t,
                             const struct oracle_outcome *want, const struct host_value *folded,
                             struct presentation p) {
  static const char *const names[] = {"borrowed", "owned", "owned and held"};
  size_t length = strlen(s->where);
  snprintf(s->where + length, sizeof s->where - length, ", operands %s%s%s", names[p.ownership],
           p.form < FORMS && p.form % 2 ? ", other form" : "",
           p.form == PACKED     ? ", packed"
           : p.form == SLICED   ? ", slices"
           : p.form >= COMPUTED ? ", computed"
                                : "");
  struct uploaded u;
  struct cvl_value out[CALL_RESULTS];
  if (upload_all(s, t, p, &u)) {
    s->cases++;
    uint64_t site = ++s->site;
    bool ok = s->b->apply(s->ctx, site, &u.call, out);
    if (want->error.kind != CVL_E_NONE) {
      struct cvl_error e = want->error;
      e.site = site;
      run_expect_fault(s, &e);
    } else if (!ok) {
      expect_no_fault(s);
      if (!s->failed) suite_fail(s, "returned false without a fault");
    } else {
      compare_results(s, t, want, out, folded);
      expect_no_fault(s);
    }
    if (ok) release_results(s, t->call.kind, out);
    if (!s->failed && (t->call.operand[0].n <= 2000 || p.ownership == OWNED_HELD)) {
      operands_unchanged(s, t, &u);
    }
    run_release_held(s, &u);
    if (!s->failed) suite_no_error(s);
  }
  s->where[length] = 0;
}

/* Returns one of the forms at random, or one of the two of `form`. */
static unsigned one_form(struct suite *s, const struct test_case *t, unsigned form) {
  const uint64_t other = t->in_forms ? 0 : rng_below(&s->rng, 4);
  if (other == 1) return PACKED;
  if (other == 2 && s->b->slices) return SLICED;
  return form + rng_one_in(&s->rng, 2);
}

void case_run(struct suite *s, struct test_case *t, bool variants) {
  struct oracle_outcome want;
  if (!oracle_run(&s->heap, &t->call, &want)) {
    if (want.error.kind == CVL_E_MEMORY || !t->faulty) {
      suite_fail(s, "the oracle faults (%s)", fault_name(want.error.kind));
      return;
    }
  }
  const bool computed = case_is_computed(t);
  const bool stored = !computed || (!t->in_forms && rng_one_in(&s->rng, 4));
  const unsigned form = stored ? STORED : COMPUTED;
  const struct presentation one = {one_form(s, t, form),
                                   (enum ownership)rng_below(&s->rng, OWNERSHIPS)};
  struct host_value folded = run_fold(s, t, &want);
  if (s->failed) {
    /* it has been reported */
  } else if (!variants) {
    run_presentation(s, t, &want, &folded, one);
  } else {
    for (unsigned f = STORED; f <= (s->b->slices ? SLICED : PACKED); f++) {
      if (!computed && f >= COMPUTED && f < FORMS) continue;
      for (int o = 0; o < OWNERSHIPS && !s->failed; o++) {
        run_presentation(s, t, &want, &folded, (struct presentation){f, (enum ownership)o});
      }
    }
  }
  host_free(&s->heap, &folded);
  for (unsigned r = 0; r < CALL_RESULTS; r++) host_free(&s->heap, &want.out[r]);
}

/* ---- failing allocations ---- */

/* Makes one attempt with allocation n failing. True if the operation asked for fewer. */
static bool run_sweep_step(struct suite *s, const struct test_case *t,
                           const struct oracle_outcome *want, struct presentation p,
                           uint64_t n) {
  struct uploaded u;
  struct cvl_value out[CALL_RESULTS];
  struct cvl_error e;
  bool done = false;
  if (!upload_all(s, t, p, &u) || !expect_no_fault(s)) return true;
  uint64_t before = s->b->statistics(s->ctx).allocations;
  s->b->fail_allocation(s->ctx, n);
  uint64_t site = ++s->site;
  bool ok = s->b->apply(s->ctx, site, &u.call, out);
  bool fault = s->b->check(s->ctx, true, &e);
  done = s->b->statistics(s->ctx).allocations - before < n;
  s->b->fail_allocation(s->ctx, 0);
  s->cases++;
  if (fault && (e.kind != CVL_E_MEMORY || e.site != site)) {
    suite_fail(s, "fault %s at site %" PRIu64 " instead of MEMORY at %" PRIu64,
               fault_name(e.kind), e.site, site);
  } else if (!fault && !ok) {
    suite_fail(s, "returned false without a fault");
  } else if (!fault) {
    compare_results(s, t, want, out, NULL);
  } else if (done) {
    suite_fail(s, "MEMORY fault, but no allocation failed");
  }
  if (ok) release_results(s, t->call.kind, out);
  if (!s->failed) operands_unchanged(s, t, &u);
  run_release_held(s, &u);
  if (!s->failed) suite_no_error(s);
  return done || s->failed;
}

void case_sweep(struct suite *s, struct test_case *t) {
  enum { MOST_ALLOCATIONS = 1000 };
  struct oracle_outcome want;
  if (!oracle_run(&s->heap, &t->call, &want)) {
    suite_fail(s, "the oracle faults (%s)", fault_name(want.error.kind));
    return;
  }
  size_t length = strlen(s->where);
  for (int o = 0; o < OWNERSHIPS && !s->failed; o++) {
    bool done = false;
    for (uint64_t n = 1; !done && n <= MOST_ALLOCATIONS; n++) {
      snprintf(s->where + length, sizeof s->where - length, ", allocation %" PRIu64 " fails",
               n);
      done = run_sweep_step(s, t, &want,
                            (struct presentation){(unsigned)o % 2, (enum ownership)o}, n);
    }
    if (!done) suite_fail(s, "more than %d allocations", MOST_ALLOCATIONS);
  }
  s->where[length] = 0;
  for (unsigned r = 0; r < CALL_RESULTS; r++) host_free(&s->heap, &want.out[r]);
}
