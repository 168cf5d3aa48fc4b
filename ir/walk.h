/* walk.h - a loop over the bindings of a block and of all blocks in it, however deep they are:
 *
 *   for (struct ir_walk w = ir_walk(arena, f->body); ir_next_binding(&w);) look_at(w.x);
 *
 * The order is that of the text: an IF comes before its arms. The loop may change w.x, but an
 * IF stays one, and the blocks keep their bindings.
 */
#ifndef RAVEL_IR_WALK_H
#define RAVEL_IR_WALK_H

#include "ir/ir.h"

struct ir_place {
  const struct ir_block *block;
  uint32_t next; /* binding of the block */
};

struct ir_walk {
  struct ir_binding *x;         /* the present binding; NULL at the end of the block */
  const struct ir_block *block; /* the one with x */
  ir_var *uses;                 /* use_count of them: the operands of x; the block's results */
  uint32_t use_count;
  uint32_t next; /* binding of the block */
  struct arena *arena;
  ARRAY(struct ir_place) later; /* where it goes on behind the block, the next one last */
};

/* Begins before the first binding. Memory is the arena's, for each level of blocks. */
struct ir_walk ir_walk(struct arena *, const struct ir_block *);
/* Goes to the next binding. Returns false if there is none. */
bool ir_next_binding(struct ir_walk *);
/* Goes to the next binding or end of a block, whatever uses variables, likewise. */
bool ir_next_uses(struct ir_walk *);

/* Returns how often each variable of a function is used, as operand or as a block's result. */
uint32_t *ir_count_uses(struct arena *, const struct ir_function *);

#endif
