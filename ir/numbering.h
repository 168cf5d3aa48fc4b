/* numbering.h - value numbering: which operation was executed before, with the same operands.
 *
 * A table with scopes: a binding is found while the block it was added in is open, so it
 * dominates what finds it. Two bindings are the same if they have the same opcode, type and
 * operands; of operations that commute, in either order.
 */
#ifndef RAVEL_IR_NUMBERING_H
#define RAVEL_IR_NUMBERING_H

#include "base/map.h"
#include "ir/ir.h"

struct ir_numbered {
  const struct ir_binding *x;
  uint32_t epoch; /* barriers passed when it was executed */
};

struct ir_numbering {
  struct scoped_map map;
  ARRAY(struct ir_numbered) known;
  uint32_t epoch;
};

/* An empty table, for one function; `clear` keeps the memory. */
void ir_numbering_init(struct ir_numbering *, struct arena *);
void ir_numbering_clear(struct ir_numbering *);
/* An earlier binding that gives the same results; or NULL. Never an IF. */
const struct ir_binding *ir_numbering_find(const struct ir_numbering *,
                                           const struct ir_binding *);
/* From here on the binding is found; it is borrowed. */
void ir_numbering_add(struct ir_numbering *, const struct ir_binding *);
/* Of what was added so far only constants are found from here on. */
void ir_numbering_barrier(struct ir_numbering *);
/* What is added from here on is forgotten by ir_numbering_close. */
size_t ir_numbering_open(const struct ir_numbering *);
void ir_numbering_close(struct ir_numbering *, size_t mark);

#endif
