/* sink.h - what only one arm of an IF uses is computed there, and only when it is taken.
 *
 * A binding goes to the deepest block around all of its uses ("schedule late" of C. Click,
 * "Global code motion, global value numbering", 1995): to its beginning, in program order.
 */
#ifndef RAVEL_IR_SINK_H
#define RAVEL_IR_SINK_H

#include "ir/ir.h"

struct ir_sinking {
  struct arena *arena;   /* of the bindings of blocks */
  struct arena *scratch; /* for the time of a call; may be the same */
  /* Whether a binding, not an IF, may be executed later than it is, or not at all. */
  bool (*movable)(const void *context, const struct ir_binding *);
  const void *context;
};

/* Sinks what is movable in a function; in one that takes the time nothing should be. Liveness
 * is to be found anew. */
void ir_sink(const struct ir_sinking *, struct ir_function *);

#endif
