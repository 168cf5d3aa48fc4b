/* symbolic.h - the stack of a function whose items are variables, with IF as branching time.
 *
 * Positions count from the top of the stack as the function found it: 0 is the first item it
 * pushes, -1 the topmost item of its caller. Reaching below makes parameters: the item at
 * position -1-j is parameter j, and since positions never move, a parameter made in one arm
 * of an IF exists in the other arm and after the IF, too.
 *
 * An arm remembers what it overwrites in a trail, once per position, and is undone from there;
 * what it leaves behind is kept as a list of changes. So an IF costs what its arms change,
 * never the height of the stack, and a deep nest of IFs costs the sum of their changes.
 */
#ifndef RAVEL_IR_SYMBOLIC_H
#define RAVEL_IR_SYMBOLIC_H

#include "ir/ir.h"

/* Until the number of parameters is known, variables are parameters counted from the top
 * (PARAM_BIT set) or results in order of their making. */
#define PARAM_BIT 0x80000000u

struct sym_slot {
  ir_var var;
  uint32_t arm; /* the arm that has this position in its trail */
};

struct sym_change {
  int64_t position;
  struct sym_slot before;
};

struct sym_item {
  int64_t position;
  ir_var var;
};

/* An arm that is being executed. */
struct sym_arm {
  uint32_t number, outer_number;
  int64_t high, outer_high; /* changes at positions below are recorded */
  int64_t height;           /* of the stack when the arm began */
  size_t trail;             /* its entries in the trail begin here */
};

struct sym_items {
  ARRAY(struct sym_item) list;
};

struct sym_stack {
  struct arena *arena;
  ARRAY(struct sym_slot) above; /* positions 0, 1 ... */
  ARRAY(struct sym_slot) below; /* positions -1, -2 ...: as many as there are parameters */
  ARRAY(struct sym_change) trail;
  ARRAY(ir_var) moving; /* the block that CPOP moves */
  uint64_t moved;       /* items written so far */
  int64_t height;       /* position of the next push */
  uint32_t arm;         /* number of the innermost arm, 0 outside all */
  uint32_t arms;        /* arms begun so far */
  int64_t high;         /* of the innermost arm */
};

/* Makes an empty stack of an unknown caller; memory of an earlier use is used again. */
void sym_reset(struct sym_stack *, struct arena *);

/* Makes sure that the top n items exist. Returns false if the stack would get too large. */
bool sym_need(struct sym_stack *, int64_t n);
/* Puts var on top. Returns false if the stack would get too large. */
bool sym_push(struct sym_stack *, ir_var var);
/* Removes and returns the top item, which exists. */
ir_var sym_pop(struct sym_stack *);
ir_var sym_get(struct sym_stack *, int64_t position);

/* Execute COPY, POP and CPOP. They return false if the stack would get too large. */
bool sym_copy(struct sym_stack *, int64_t count, int64_t depth);
bool sym_remove(struct sym_stack *, int64_t count, int64_t depth);
bool sym_move(struct sym_stack *, int64_t count, int64_t depth);

/* Begins an arm on the present stack. */
struct sym_arm sym_begin_arm(struct sym_stack *);
/* Ends an arm: the stack is again as it was when the arm began, but parameters made since are
 * kept. If `left` is given, the items that the arm left where something else was are added to
 * it, deepest first, and *height is the height that it left. */
void sym_end_arm(struct sym_stack *, const struct sym_arm *, struct sym_items *left,
                 int64_t *height);
/* Sets the height and one item, after the arms of an IF. */
void sym_set_height(struct sym_stack *, int64_t height);
void sym_put(struct sym_stack *, int64_t position, ir_var var);

#endif
