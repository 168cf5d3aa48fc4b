/* copies.h - the pass that recognises copies of segments. Private to copies*.c.
 *
 * An INDEX of stride 1 consists of runs. A *move* is a gather by runs (BPERMUTE), or a scatter
 * of all elements by runs (FPERMUTE whose flags are T, DPERMUTE, PERMUTE). The pass makes one
 * superoperator of copies of a scatter and the moves that only it needs: those whose result is
 * its values or what it writes over, and so on. It stands where the last of them stood, so the
 * others move to there:
 *
 * - one that cannot fail may move;
 * - the others keep their order in the superoperator, which reports the first fault;
 * - if anything that may fail stands between, a superoperator that only checks the indices
 * stays where the move was.
 */
#ifndef RAVEL_COPIES_H
#define RAVEL_COPIES_H

#include "fcode-opt/passes.h"

enum { COPIES_MOST = 16 }; /* moves of a superoperator */

/* A move of the superoperator being made. */
struct copies_move {
  struct ir_binding *x;
  uint32_t at;  /* in its block */
  bool checked; /* it may fail there */
};

struct copies {
  struct opt *o;
  FILE *explain; /* what is done in this function; or NULL */
  const struct sizes *sizes;
  struct calls calls;
  ARRAY(const struct superop *) made; /* superoperators by this pass */
  /* the index of the function */
  uint32_t function;
  struct ir_function *f;
  struct ir_binding **definitions;
  uint32_t *uses;
};

/* Returns whether v is one element for all: a constant of this element, or spread from one. */
bool copies_constant(const struct copies *, ir_var v, int64_t element);

/* copies-build.c: returns the superoperator of these moves, in program order, as a binding that
 * replaces the last one and has its result. */
struct ir_binding copies_build(struct copies *, const struct copies_move *, uint32_t count);
/* Returns a superoperator that checks the indices of a move and has no result. */
struct ir_binding copies_check(struct copies *, const struct ir_binding *move);

#endif
