/* dead.h - which bindings of a function are needed, and removing the others.
 *
 * A binding stays if a result of it is needed or it is executed for its effect; then its
 * operands are needed. An IF stays if a result is needed, if anything in its arms stays, or for
 * its condition. What an IF yields that nobody needs is not yielded.
 */
#ifndef RAVEL_IR_DEAD_H
#define RAVEL_IR_DEAD_H

#include "ir/ir.h"

struct ir_dead {
  bool *needed; /* per variable: before, what is needed from outside the block: its results,
                   and what is to stay whatever; after, everything */
  /* Whether a binding has to be executed though nobody needs a result; of an IF, whether for
   * its condition alone. */
  bool (*stays)(void *context, const struct ir_binding *);
  /* A binding stays: marks the operands it needs, and may drop the others if `remove` is set.
   * NULL: it needs all. */
  void (*keep)(void *context, struct ir_binding *);
  void *context;
  bool remove;      /* else only `needed` is found out */
  uint64_t removed; /* bindings, not counting those in IFs that were removed whole */
  bool changed;     /* something was */
};

/* Looks at a block from its last binding to its first. True if there is more to it than what
 * it yields. */
bool ir_dead_block(struct ir_dead *, struct ir_block *);
/* Keeps the variables whose flag is set, in order; how many. */
uint32_t ir_keep_vars(uint32_t count, ir_var *, const bool *keep);

#endif
