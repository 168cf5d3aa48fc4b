/* stack-code.h - the interface between stack-function.c, which writes one function as stack
 * code, and stack-code.c, which writes the program. Private to this room.
 */
#ifndef RAVEL_STACK_CODE_H
#define RAVEL_STACK_CODE_H

#include "ir/ir.h"

struct stack_code {
  struct arena *arena;   /* of the result */
  struct arena *scratch; /* emptied after every function */
  struct arena *trial;   /* emptied after every IF */
  const struct ir_program *ir;
  uint32_t *functions; /* per function: its index in the result, UINT32_MAX if left out */
  uint32_t *superops;  /* per superoperator: its number in the result, UINT32_MAX if not used */
  uint32_t *uses;      /* per superoperator: FUSED instructions that refer to it */
  uint32_t superop_count;
  struct origin_table origins;
};

/* Writes a function with let-form. */
void stack_code_write(struct stack_code *, const struct ir_function *, struct vcode_function *);

/* Returns the origin of an instruction: the one it has, or else its source location in the
 * program's file. */
uint32_t stack_code_origin(struct stack_code *, struct source_pos, uint32_t origin);
/* Returns the number of a superoperator in the result, for one more FUSED. */
uint32_t stack_code_superop(struct stack_code *, uint32_t superop);

#endif
