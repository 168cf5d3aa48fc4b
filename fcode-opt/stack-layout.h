/* stack-layout.h - the order of variables on the stack while stack code is written, and the
 * COPY, CPOP and POP that change it. Private to this room.
 *
 * Between two instructions every live variable is on the stack once. Operands are brought to
 * the top in order: moved at their last use, copied otherwise; those already in position stay.
 * Scalar constants are not on the stack: each use writes its CONST, except where
 * stack-function.c found that an early one saves a move.
 */
#ifndef RAVEL_STACK_LAYOUT_H
#define RAVEL_STACK_LAYOUT_H

#include "ir/ir.h"

/* Code being written: a list, so that the end of an arm can be written when the other arm is
 * known. */
struct code_node {
  struct vcode_instruction in;
  struct code_node *next;
};

struct code_list {
  struct code_node *first, *last; /* both NULL: empty */
  uint32_t count;
};

void code_append(struct arena *, struct code_list *, const struct vcode_instruction *);

struct stack_layout {
  struct arena *arena;
  struct arena *trial;   /* for the candidates of layout_arrange and layout_cost */
  struct code_list *out; /* NULL: moves are only counted */
  uint32_t written;      /* instructions written since a caller set it to 0 */
  ir_var *items;         /* deepest first */
  uint32_t count, capacity;
  uint8_t *marks; /* per variable; all 0 between calls */
  /* Per variable: the binding of a constant that every use writes anew, or NULL. */
  const struct ir_binding *const *constants;
};

void layout_push(struct stack_layout *, ir_var);
/* Makes the items a copy of these. */
void layout_set(struct stack_layout *, const ir_var *items, uint32_t count);

/* Brings operands to the top; those with `last` at any of their positions are moved.
 * They are then the topmost `count` items. */
void layout_operands(struct stack_layout *, const ir_var *operands, const bool *last,
                     uint32_t count);
/* Removes items; those that are not on the stack are ignored. */
void layout_drop(struct stack_layout *, const ir_var *, uint32_t count);
/* Removes and adds items until the stack is `wanted`, in few instructions. */
void layout_arrange(struct stack_layout *, const ir_var *wanted, uint32_t count);
/* Returns how many instructions layout_operands or layout_arrange (last is NULL) would write if
 * the items were these. */
uint32_t layout_cost(const struct stack_layout *, const ir_var *items, uint32_t item_count,
                     const ir_var *wanted, const bool *last, uint32_t count);

#endif
