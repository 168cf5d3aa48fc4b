/* local.c - operations on vectors of one length, element by element. Every rank executes its
 * block.
 */
#include "cvl-mpi/exchange/deferred.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/values.h"

/* Returns the distribution of the first operand that is not on all ranks; NULL: all are. */
static struct distribution *place_of(const struct cvl_call *call) {
  for (unsigned i = 0; i < call->count; i++) {
    if (mpi_at(&call->operand[i])) return mpi_at(&call->operand[i]);
  }
  return NULL;
}

static enum cvl_elem local_result_elem(const struct cvl_context *c,
                                       const struct cvl_call *call) {
  const struct cvl_value *last = &call->operand[call->count - 1];
  return call_result_elem(call->kind, call->op, mpi_elem(last), c->int_elem, c->float_elem);
}

static bool local_finish(struct cvl_context *c, const struct cvl_call *call,
                         struct distribution *at, struct cvl_value local,
                         struct cvl_value *out) {
  const uint64_t n = mpi_length(&call->operand[0]);
  if (call_results(call->kind) > 0) {
    *out = mpi_vector(c, local_result_elem(c, call), n, at, local);
  } else {
    distribution_release(at);
  }
  call_drop(c, call);
  return true;
}

void call_drop(struct cvl_context *c, const struct cvl_call *call) {
  for (unsigned i = 0; i < call->count; i++) mpi_drop(c, &call->operand[i]);
}

bool local_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                struct cvl_value *out) {
  want(c, call->operand, call->count);
  if (!sizes_fit(call)) return poisoned_call(c, call, out);
  struct distribution *at = distribution_retain(place_of(call));
  struct cvl_call inner = *call;
  struct cvl_value local[CALL_RESULTS];
  const uint64_t first = at ? at->start[c->rank] : 0;
  for (unsigned i = 0; i < call->count; i++)
    inner.operand[i] = move_to(c, site, &call->operand[i], at, true);
  if (call->kind == CALL_RANDOM) inner.random.first += first;
  inner_call(c, &inner, NULL, (struct shift){site, 1, first, 0}, local);
  return local_finish(c, call, at, local[0], out);
}
