/* together.c - operations that every rank executes whole, on all elements. */
#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/values/descriptors.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"

/* ---- sizes of results ---- */

struct result_size {
  uint64_t known; /* 0: this rank does not know the size */
  uint64_t n;     /* length, or the total of a descriptor */
  uint64_t count;
};

/* Returns the length of a result from the operands; not for PACK and MAKE_SEGDES. */
static uint64_t together_result_length(const struct cvl_call *call) {
  const struct cvl_value *o = call->operand;
  switch (call->kind) {
  case CALL_EXTRACT: return mpi_count(&o[2]);
  case CALL_LENGTHS: return mpi_count(&o[0]);
  case CALL_LENGTH_OF: return 1;
  case CALL_DIST: return mpi_length(&o[1]);
  case CALL_INDEX: return mpi_length(&o[2]);
  case CALL_PERMUTE: return mpi_length(&o[5]);
  default: return call_gives_one_per_segment(call->kind) ? mpi_count(&o[1]) : mpi_length(&o[0]);
  }
}

bool sizes_fit(const struct cvl_call *call) {
  struct call_extent extent[CALL_OPERANDS] = {{0}};
  bool present[CALL_OPERANDS] = {false};
  for (unsigned i = 0; i < call->count; i++) {
    present[i] = call->operand[i].form != CVL_NOTHING;
    extent[i] =
        (struct call_extent){mpi_length(&call->operand[i]), mpi_count(&call->operand[i])};
  }
  return call_sizes_agree(call->kind, call->op, extent, present);
}

static bool is_found_out(enum call_kind kind) {
  return kind == CALL_PACK || kind == CALL_MAKE_SEGDES;
}

/* Returns the size of the results `out` of an inner PACK or MAKE_SEGDES. */
static struct result_size found_out(struct cvl_context *c, const struct cvl_call *call,
                                    const struct cvl_value *out) {
  const struct cvl_value *d = &out[call_results(call->kind) - 1];
  if (d->form == CVL_NOTHING) return (struct result_size){0};
  return (struct result_size){1, inner_size(c, c->b->length(c->inner, d)),
                              inner_size(c, c->b->count(c->inner, d))};
}

/* Returns the size from the first rank that knows it; `otherwise`, if none does. */
static struct result_size agreed(struct cvl_context *c, struct result_size mine,
                                 struct result_size otherwise) {
  struct result_size *all = mpi_alloc(c, c->ranks * sizeof *all), first = otherwise;
  comm_gather(c->comm, &mine, sizeof mine, all);
  for (unsigned r = c->ranks; r-- > 0;) {
    if (all[r].known) first = all[r];
  }
  mpi_free(c, all);
  return first;
}

/* Poisons results that have another size than those of the first rank. After a fault ranks may
 * have computed from different elements. */
static void drop_others(struct cvl_context *c, struct result_size mine,
                        struct result_size first, struct cvl_value *inner) {
  if (!mine.known || (mine.n == first.n && mine.count == first.count)) return;
  for (unsigned i = 0; i < CALL_RESULTS; i++) release_inner(c, &inner[i]);
}

static struct result_size together_size_of(struct cvl_context *c, const struct cvl_call *call,
                                           struct cvl_value *inner) {
  const struct cvl_value *o = call->operand;
  struct result_size without = {1, 0, 0};
  if (!is_found_out(call->kind))
    return (struct result_size){1, together_result_length(call), 0};
  without.count = call->kind == CALL_PACK ? mpi_count(&o[2]) : mpi_length(&o[0]);
  const struct result_size mine = found_out(c, call, inner);
  if (!c->armed) return have_all(c, mine.known) ? mine : without;
  const struct result_size first = agreed(c, mine, without);
  drop_others(c, mine, first, inner);
  return first;
}

/* ---- the call ---- */

static void together_make_whole(struct cvl_context *c, uint64_t site,
                                const struct cvl_call *call, struct cvl_call *inner,
                                bool *present) {
  *inner = *call;
  for (unsigned i = 0; i < call->count; i++) {
    present[i] = call->operand[i].form != CVL_NOTHING;
    if (present[i]) inner->operand[i] = move_whole(c, site, &call->operand[i]);
  }
}

/* Returns a result: every rank keeps all of it, or its block. */
static struct cvl_value result_vector(struct cvl_context *c, uint64_t site, enum cvl_elem elem,
                                      uint64_t n, struct cvl_value whole) {
  if (is_whole(c, n)) return mpi_vector(c, elem, n, NULL, whole);
  struct distribution *at = distribution_canonical(c, n);
  const struct cvl_value block = keep_block(c, site, whole, distribution_range(at, c->rank));
  return mpi_vector(c, elem, n, at, block);
}

bool together(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
              struct cvl_value *out) {
  struct cvl_call inner;
  struct cvl_value results[CALL_RESULTS];
  bool present[CALL_OPERANDS];
  together_make_whole(c, site, call, &inner, present);
  inner_call(c, &inner, present, at_site(site), results);
  const struct result_size size = together_size_of(c, call, results);
  const enum cvl_elem elem = call_result_elem(call->kind, call->op, mpi_elem(&call->operand[0]),
                                              c->int_elem, c->float_elem);
  for (unsigned i = 0; i < call_results(call->kind); i++)
    out[i] = call_gives_segdes(call->kind, i)
                 ? segdes_from_whole(c, site, size.count, size.n, results[i])
                 : result_vector(c, site, elem, size.n, results[i]);
  call_drop(c, call);
  return true;
}

/* ---- after a fault ---- */

/* Poisoned results have the size that operands give; PACK keeps nothing. */
bool poisoned_call(struct cvl_context *c, const struct cvl_call *call, struct cvl_value *out) {
  const uint64_t n = call->kind == CALL_PACK ? 0 : together_result_length(call);
  const unsigned of = call->kind == CALL_ELEMENTWISE ? call->count - 1 : 0;
  const enum cvl_elem elem = call_result_elem(
      call->kind, call->op, mpi_elem(&call->operand[of]), c->int_elem, c->float_elem);
  struct distribution *at = is_whole(c, n) ? NULL : distribution_canonical(c, n);
  if (call_results(call->kind) > 0) {
    out[0] = mpi_vector_object(c, elem, n, at, nothing());
  } else {
    distribution_release(at);
  }
  if (call_results(call->kind) > 1)
    out[1] = segdes_of_whole(c, mpi_count(&call->operand[2]), 0, nothing());
  call_drop(c, call);
  return true;
}
