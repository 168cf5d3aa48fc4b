/* dead.h - finds the bindings of a function that are needed, and removes the others.
 *
 * A binding stays if a result of it is needed or it is executed for its effect; then its
 * operands are needed. An IF stays if a result is needed, if anything in its arms stays, or for
 * its condition. A result of an IF that is not needed is removed from what its arms yield.
 */
#ifndef RAVEL_IR_DEAD_H
#define RAVEL_IR_DEAD_H

#include "ir/ir.h"

struct ir_dead {
  bool *needed; /* per variable. Before the call: its results, and what else must stay; after:
                   all that is needed */
  /* Returns whether a binding must be executed although no result of it is needed; for an IF,
   * whether its condition alone requires it. */
  bool (*stays)(void *context, const struct ir_binding *);
  /* Is called for a binding that stays: marks the operands it needs, and may drop the others if
   * `remove` is set. NULL: it needs all. */
  void (*keep)(void *context, struct ir_binding *);
  void *context;
  bool remove;      /* else only `needed` is computed */
  uint64_t removed; /* bindings, not counting those in IFs that were removed whole */
  bool changed;     /* something was */
};

/* Walks a block from its last binding to its first. Returns whether the block does more than to
 * yield. */
bool ir_dead_block(struct ir_dead *, struct ir_block *);
/* Returns whether the flag of a result is set. */
bool ir_binds_any(const struct ir_binding *, const bool *vars);
/* Removes the variables whose flag is not set; returns how many are left, in order. */
uint32_t ir_keep_vars(uint32_t count, ir_var *, const bool *keep);

#endif
