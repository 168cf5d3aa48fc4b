/* numbering.h - value numbering: finds an earlier operation with the same operands.
 *
 * A table with scopes: a binding is found only while its block is open, so it dominates the
 * binding that it replaces. Two bindings are the same if they have the same opcode, type and
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

/* Makes an empty table, for one function; `clear` keeps the memory. */
void ir_numbering_init(struct ir_numbering *, struct arena *);
void ir_numbering_clear(struct ir_numbering *);
/* Returns an earlier binding that gives the same results, or NULL. It is never an IF. */
const struct ir_binding *ir_numbering_find(const struct ir_numbering *,
                                           const struct ir_binding *);
/* Adds a binding, which is borrowed and found from here on. */
void ir_numbering_add(struct ir_numbering *, const struct ir_binding *);
/* From here on only the constants among the earlier bindings are found. */
void ir_numbering_barrier(struct ir_numbering *);
/* ir_numbering_close forgets the bindings added after ir_numbering_open. */
size_t ir_numbering_open(const struct ir_numbering *);
void ir_numbering_close(struct ir_numbering *, size_t mark);

#endif
