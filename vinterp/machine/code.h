/* code.h - the let-form lowered to the flat code of a register machine.
 *
 * A typed function works on a frame of slots, one value each. A variable lives in one slot
 * from its binding to its last use, when the slot is free for another one. Blocks become
 * jumps. An instruction names its operands by slot, with a flag at a last use: the value is
 * then moved, handed to the back end as `owned`, or freed.
 *
 * A *location* numbers every instruction of a program: first the flat code of typed functions,
 * then the stack code of all functions, for messages and for returning from calls. The nodes
 * of a superoperator have consecutive locations, too: in flat code those after their FUSED,
 * for stack code behind everything else.
 */
#ifndef RAVEL_CODE_H
#define RAVEL_CODE_H

#include "vinterp/machine/value.h"

enum action {
  ACT_OPERATION,    /* results = op(operands), through operation_execute */
  ACT_SCALAR,       /* as ACT_OPERATION, elementwise: done here when all operands are scalars */
  ACT_PROFILED,     /* as ACT_OPERATION, measured */
  ACT_FUSED,        /* results = superoperator(operands), through fused_execute */
  ACT_NODE,         /* the location of a node of the preceding FUSED; never executed */
  ACT_SCALAR_CONST, /* ref[0] = scalar */
  ACT_CONST,        /* ref[0] = constant, made when first needed */
  ACT_COPY,         /* ref[1] = ref[0] */
  ACT_MOVE,         /* ref[1] = ref[0], which then has no value */
  ACT_DROP,         /* frees ref[0] */
  ACT_IF,           /* continues at target unless ref[0] is T */
  ACT_IF_NOT,       /* continues at target if ref[0] is T */
  ACT_JUMP,
  ACT_CALL,      /* results = callee(operands) */
  ACT_TAIL_CALL, /* the results of the function are callee(operands) */
  ACT_RETURN,    /* operands are the function's results */
  ACT_EXIT,
  ACT_NEVER /* the end of a block that never ends */
};

/* A slot, and whether this is the last use of its value. */
#define REF_LAST UINT32_C(0x80000000)
#define REF_SLOT UINT32_C(0x7fffffff)

enum { INLINE_REFS = 4 }; /* references kept inside an instruction; most have no more */

struct constant {
  const struct vcode_constant *source;
  struct value value; /* CVL_NOTHING until it is made */
};

struct instruction {
  uint8_t action; /* enum action */
  uint8_t type;   /* enum type_word */
  uint16_t op;    /* enum opcode */
  uint32_t operand_count, result_count;
  /* Operands, deepest first, then the slots of results: in `ref`, or from words[ref[0]] on. */
  uint32_t ref[INLINE_REFS];
  union {
    uint32_t target;         /* IF IF_NOT JUMP: location */
    uint32_t callee;         /* CALL TAIL_CALL: function */
    uint32_t constant;       /* CONST */
    uint32_t superop;        /* FUSED: index into the program's superoperators */
    struct cvl_value scalar; /* SCALAR_CONST */
    enum cvl_op operation;   /* SCALAR */
  } as;
};

struct code_function {
  uint32_t entry, end;  /* locations of its first instruction, if typed, and behind its last */
  uint32_t stack_entry; /* location of its stack code; a function without any has one location
                           for it */
  uint32_t slots;
  uint32_t param_count, result_count;
  uint32_t cycle;  /* functions that call each other in turn have the same number */
  bool runs_typed; /* it is typed, and the run is not checked */
};

/* The data of an instruction that messages need. */
struct debug_info {
  uint32_t function;
  struct source_pos pos;
  uint32_t origin;
  uint16_t op;
  uint8_t type;
  const char *text; /* ASSERT: its text, not NUL-terminated */
  uint32_t text_length;
  uint32_t fused;   /* node: location of its FUSED */
  uint32_t superop; /* node: index of its superoperator; else NO_SUPEROP */
};

#define NO_SUPEROP UINT32_MAX

/* A FUSED of stack code and the location of its first node. */
struct fused_nodes {
  uint32_t fused, first, superop;
};

struct code {
  struct heap *heap;
  struct arena arena;
  const struct ir_program *program;
  struct instruction *instructions;
  struct debug_info *debug; /* one for each instruction */
  uint32_t count;
  uint32_t *words;
  struct constant *constants;
  uint32_t constant_count;
  struct code_function *functions;
  struct fused_nodes *fused; /* those of stack code, in the order of both locations */
  uint32_t fused_count;
};

/* Lowers every typed function; with `checked` none, if all have stack code. `profiled` chooses
 * the measured variant of every operation. Returns NULL if memory runs out. */
struct code *code_new(struct heap *, const struct ir_program *, bool checked, bool profiled);
/* Frees the code and the constants made for it. */
void code_free(struct code *, const struct value_store *);

/* Returns whether a constant needs no memory, having one element or one segment; then *out is
 * its value. */
bool code_scalar_constant(struct widths, const struct vcode_constant *, struct cvl_value *out);

/* Returns whether a location is in stack code. */
static inline bool code_is_stack(const struct code *code, uint32_t location) {
  return location >= code->count;
}
/* Returns the operands and results of an instruction. */
static inline const uint32_t *code_refs(const struct code *code, const struct instruction *i) {
  return i->operand_count + i->result_count <= INLINE_REFS ? i->ref : code->words + i->ref[0];
}
struct debug_info code_debug_info(const struct code *, uint32_t location);
/* Returns the data of a node; it has that of its FUSED if it has no position of its own. For
 * code.c. */
struct debug_info code_node_info(const struct superop *, uint32_t node,
                                 const struct debug_info *fused);
/* Returns whether a call that ends its function replaces the frame. It does not if a function
 * never returns, since endless calls must become an error. It does not either in the functions
 * of a loop for many instances, except for a round that calls the next one: rounds are counted
 * (instances/chunk-path.c). */
static inline bool code_may_replace(const struct code *code, uint32_t caller, uint32_t callee) {
  const struct ir_function *f = code->program->functions;
  const bool counted = f[caller].rounds == VCODE_NO_ROUNDS ||
                       (f[caller].rounds == VCODE_ROUND && caller == callee);
  return counted && code->functions[caller].cycle == code->functions[callee].cycle &&
         f[callee].returns;
}
/* Sets the cycles of all functions. For code.c. */
void code_find_cycles(struct code *);
/* Numbers all locations behind the flat code, in the code's arena. For code.c. */
void code_number_locations(struct code *);
/* Returns the location of the first node of the FUSED at a location. */
uint32_t code_first_node(const struct code *, uint32_t fused);

#endif
