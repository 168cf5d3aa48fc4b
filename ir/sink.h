/* sink.h - moves a binding that only one arm of an IF uses into that arm.
 *
 * A binding goes to the deepest block around all of its uses ("schedule late" of C. Click,
 * "Global code motion, global value numbering", 1995): to its beginning, in program order.
 */
#ifndef RAVEL_IR_SINK_H
#define RAVEL_IR_SINK_H

#include "ir/ir.h"

struct ir_sinking {
  struct arena *arena;   /* of the bindings of blocks */
  struct arena *scratch; /* during a call; may be the same arena */
  /* Returns whether a binding, not an IF, may be executed later than it is, or not at all. */
  bool (*movable)(const void *context, const struct ir_binding *);
  const void *context;
};

/* Sinks the movable bindings of a function. In a function that measures time `movable` should
 * return false for all. Liveness must be computed again afterwards. */
void ir_sink(const struct ir_sinking *, struct ir_function *);

#endif
