/* values.c - vectors and descriptors: their life, and this rank's part of vectors. */
#include "cvl-mpi/values/values.h"

#include <stdlib.h>

#include "base/check.h"
#include "cvl-mpi/exchange/deferred.h"
#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/views.h"

/* ---- making ---- */

void release_inner(struct cvl_context *c, struct cvl_value *v) {
  if (v->form != CVL_NOTHING) c->b->release(c->inner, v);
  v->form = CVL_NOTHING;
}

static void link_vector(struct cvl_context *c, struct cvl_vector *v) {
  v->next = c->vectors;
  v->previous = &c->vectors;
  if (v->next) v->next->previous = &v->next;
  c->vectors = v;
}

static void link_segdes(struct cvl_context *c, struct cvl_segdes *d) {
  d->next = c->descriptors;
  d->previous = &c->descriptors;
  if (d->next) d->next->previous = &d->next;
  c->descriptors = d;
}

struct cvl_value mpi_vector(struct cvl_context *c, enum cvl_elem elem, uint64_t n,
                            struct distribution *at, struct cvl_value local) {
  if (!at) have_all(c, local.form != CVL_NOTHING);
  if (!at && local.form == CVL_SCALAR && !c->armed) return local;
  return mpi_vector_object(c, elem, n, at, local);
}

struct cvl_value mpi_vector_object(struct cvl_context *c, enum cvl_elem elem, uint64_t n,
                                   struct distribution *at, struct cvl_value local) {
  struct cvl_vector *v = mpi_alloc(c, sizeof *v);
  local.owned = 0;
  *v = (struct cvl_vector){.references = 1, .elem = (uint8_t)elem, .n = n, .at = at};
  v->local = local;
  link_vector(c, v);
  return (struct cvl_value){.form = CVL_VECTOR, .elem = (uint8_t)elem, .as.vector = v};
}

struct cvl_value mpi_segdes(struct cvl_context *c, struct cvl_segdes made) {
  struct cvl_segdes *d = mpi_alloc(c, sizeof *d);
  made.references = 1;
  made.whole.owned = 0;
  *d = made;
  link_segdes(c, d);
  return (struct cvl_value){.form = CVL_SEGDES, .as.segdes = d};
}

/* ---- sizes ---- */

static bool is_complete(const struct cvl_value *v) {
  if (v->form == CVL_VECTOR) return !v->as.vector->deferred;
  return v->form != CVL_SEGDES || !v->as.segdes->deferred;
}

uint64_t mpi_length(const struct cvl_value *v) {
  invariant(is_complete(v));
  switch ((enum cvl_form)v->form) {
  case CVL_VECTOR: return v->as.vector->n;
  case CVL_SEGDES: return v->as.segdes->total;
  case CVL_ONE_SEGMENT: return v->as.one_segment;
  case CVL_SCALAR: return 1;
  case CVL_NOTHING: break;
  }
  return 0;
}

uint64_t mpi_count(const struct cvl_value *v) {
  return v->form == CVL_SEGDES ? v->as.segdes->count : 1;
}

enum cvl_elem mpi_elem(const struct cvl_value *v) {
  return (enum cvl_elem)(v->form == CVL_VECTOR ? v->as.vector->elem : v->elem);
}

struct distribution *mpi_at(const struct cvl_value *v) {
  invariant(is_complete(v));
  return v->form == CVL_VECTOR ? v->as.vector->at : NULL;
}

const struct cvl_value *mpi_certain(const struct cvl_value *v) {
  if (v->form == CVL_SCALAR) return v;
  return v->form == CVL_VECTOR && v->as.vector->certain ? &v->as.vector->local : NULL;
}

/* ---- life ---- */

void mpi_retain(struct cvl_context *c, const struct cvl_value *v) {
  (void)c;
  if (v->form == CVL_VECTOR) v->as.vector->references++;
  if (v->form == CVL_SEGDES) v->as.segdes->references++;
}

static void vector_free(struct cvl_context *c, struct cvl_vector *v) {
  if (v->deferred && !deferred_forget(c, v->deferred)) return;
  copy_drop(c, v);
  release_inner(c, &v->local);
  distribution_release(v->at);
  *v->previous = v->next;
  if (v->next) v->next->previous = v->previous;
  mpi_free(c, v);
}

static void segdes_free(struct cvl_context *c, struct cvl_segdes *d) {
  if (d->deferred && !deferred_forget(c, d->deferred)) return;
  release_inner(c, &d->whole);
  segdes_drop_views(c, d);
  distribution_release(d->held);
  mpi_free(c, d->base);
  *d->previous = d->next;
  if (d->next) d->next->previous = d->previous;
  mpi_free(c, d->offset);
  mpi_free(c, d);
}

void mpi_release(struct cvl_context *c, const struct cvl_value *v) {
  if (v->form == CVL_VECTOR && --v->as.vector->references == 0) vector_free(c, v->as.vector);
  if (v->form == CVL_SEGDES && --v->as.segdes->references == 0) segdes_free(c, v->as.segdes);
}

void mpi_drop(struct cvl_context *c, const struct cvl_value *v) {
  if (v->owned) mpi_release(c, v);
}

void mpi_unwanted(struct cvl_context *c, struct cvl_vector *v, struct cvl_segdes *d) {
  if (v && v->references == 0) vector_free(c, v);
  if (d && d->references == 0) segdes_free(c, d);
}

void mpi_values_free(struct cvl_context *c) {
  deferred_drop_all(c);
  while (c->vectors) vector_free(c, c->vectors);
  while (c->descriptors) segdes_free(c, c->descriptors);
}

/* ---- operands of the inner back end ---- */

static bool any_poisoned(const struct cvl_value *inner, const bool *present, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    if (present[i] && inner[i].form == CVL_NOTHING) return true;
  }
  return false;
}

void inner_drop(struct cvl_context *c, const struct cvl_value *inner, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    if (inner[i].form != CVL_NOTHING && inner[i].owned) c->b->release(c->inner, &inner[i]);
  }
}

struct cvl_value inner_of(const struct cvl_value *v, bool may_take) {
  struct cvl_value inner = *v;
  invariant(is_complete(v));
  if (v->form == CVL_VECTOR) {
    inner = v->as.vector->local;
    if (may_take && v->owned && v->as.vector->references == 1) {
      v->as.vector->local.form = CVL_NOTHING;
      inner.owned = 1;
      return inner;
    }
  }
  if (v->form == CVL_SEGDES) inner = v->as.segdes->whole;
  inner.owned = 0;
  return inner;
}

void inner_call(struct cvl_context *c, const struct cvl_call *call, const bool *present,
                struct shift shift, struct cvl_value out[CALL_RESULTS]) {
  static const bool all[CALL_OPERANDS] = {true, true, true, true, true, true};
  for (unsigned i = 0; i < CALL_RESULTS; i++) out[i] = nothing();
  if (any_poisoned(call->operand, present ? present : all, call->count)) {
    inner_drop(c, call->operand, call->count);
  } else if (!absorb(c, c->b->apply(c->inner, shift.site, call, out), shift)) {
    for (unsigned i = 0; i < CALL_RESULTS; i++) out[i] = nothing();
  }
}

struct cvl_value inner_slice(struct cvl_context *c, uint64_t site, struct cvl_value v,
                             uint64_t first, uint64_t n) {
  struct cvl_value out;
  if (v.form == CVL_NOTHING ||
      !absorb(c, c->b->slices->slice(c->inner, site, &v, first, n, &out), at_site(site)))
    return nothing();
  out.owned = 1;
  return out;
}

bool inner_read(struct cvl_context *c, uint64_t site, const struct cvl_value *v, uint64_t first,
                uint64_t n, void *to) {
  if (n == 0) return true;
  return v->form != CVL_NOTHING &&
         absorb(c, c->b->to_host(c->inner, v, first, n, to), at_site(site));
}

bool inner_fill(struct cvl_context *c, uint64_t site, const struct cvl_value *target,
                uint64_t first, struct cvl_value v) {
  return v.form != CVL_NOTHING &&
         absorb(c, c->b->slices->fill(c->inner, site, target, first, &v), at_site(site));
}

uint64_t inner_size(struct cvl_context *c, struct cvl_size size) {
  if (size.symbol) c->b->resolve(c->inner, &size);
  return size.bound;
}
