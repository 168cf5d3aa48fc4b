/* code.h - the let-form lowered to the flat code of a register machine.
 *
 * A typed function works on a frame of slots, one value each; a variable lives in one slot from
 * its binding to its last use, when the slot is free for another. Blocks become jumps. An
 * instruction names its operands by slot, with a flag where the use is the last: the value is
 * then moved, handed to the back end as `owned`, or freed.
 *
 * A *location* numbers every instruction of a program: first the flat code of typed functions,
 * then the stack code of all functions, for messages and for returning from calls. The nodes of
 * a superoperator have locations too, one after the other: in flat code those after their
 * FUSED, for stack code behind everything else.
 */
#ifndef RAVEL_CODE_H
#define RAVEL_CODE_H

#include "vinterp/machine/value.h"

enum action {
  ACT_OPERATION,    /* results = op(operands), through operation_execute */
  ACT_SCALAR,       /* likewise, elementwise: done here when all operands are scalars */
  ACT_PROFILED,     /* like ACT_OPERATION, measured */
  ACT_FUSED,        /* results = superoperator(operands), through fused_execute */
  ACT_NODE,         /* the location of a node of the FUSED before; never executed */
  ACT_SCALAR_CONST, /* ref[0] = scalar */
  ACT_CONST,        /* ref[0] = constant, made when first needed */
  ACT_COPY,         /* ref[1] = ref[0] */
  ACT_MOVE,         /* ref[1] = ref[0], which is then without value */
  ACT_DROP,         /* frees ref[0] */
  ACT_IF,           /* goes on at target unless ref[0] is T */
  ACT_IF_NOT,       /* goes on at target if ref[0] is T */
  ACT_JUMP,
  ACT_CALL,      /* results = callee(operands) */
  ACT_TAIL_CALL, /* the results of the function are callee(operands) */
  ACT_RETURN,    /* operands are the function's results */
  ACT_EXIT,
  ACT_NEVER /* the end of a block that never ends */
};

/* A slot, and whether this is the last use of what it holds. */
#define REF_LAST UINT32_C(0x80000000)
#define REF_SLOT UINT32_C(0x7fffffff)

enum { INLINE_REFS = 4 }; /* kept inside an instruction; most have no more */

struct constant {
  const struct vcode_constant *source;
  struct value value; /* CVL_NOTHING until it is made */
};

struct instruction {
  uint8_t action; /* enum action */
  uint8_t type;   /* enum type_word */
  uint16_t op;    /* enum opcode */
  uint32_t operand_count, result_count;
  /* Operands, deepest first, then the slots of results: here, or from words[ref[0]] on. */
  uint32_t ref[INLINE_REFS];
  union {
    uint32_t target;         /* IF IF_NOT JUMP: location */
    uint32_t callee;         /* CALL TAIL_CALL: function */
    uint32_t constant;       /* CONST */
    uint32_t superop;        /* FUSED: index into the program's */
    struct cvl_value scalar; /* SCALAR_CONST */
    enum cvl_op operation;   /* SCALAR */
  } as;
};

struct code_function {
  uint32_t entry, end;  /* locations of its first instruction, if typed, and behind its last */
  uint32_t stack_entry; /* location of its stack code; without any, one for all of it */
  uint32_t slots;
  uint32_t param_count, result_count;
  uint32_t cycle;  /* equal for functions that call each other in turn */
  bool runs_typed; /* typed, and not everything runs checked */
};

/* What messages need of an instruction. */
struct debug_info {
  uint32_t function;
  struct source_pos pos;
  uint32_t origin;
  uint16_t op;
  uint8_t type;
  const char *text; /* ASSERT; not NUL-terminated */
  uint32_t text_length;
  uint32_t fused;   /* of a node: location of the FUSED */
  uint32_t superop; /* of a node: the index of its superoperator, else NO_SUPEROP */
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
  struct debug_info *debug; /* one per instruction */
  uint32_t count;
  uint32_t *words;
  struct constant *constants;
  uint32_t constant_count;
  struct code_function *functions;
  struct fused_nodes *fused; /* of stack code, in order of both locations */
  uint32_t fused_count;
};

/* Lowers every typed function, or none with `checked` if all have stack code. `profiled`
 * chooses the measured variant of every operation. NULL if memory fails. */
struct code *code_new(struct heap *, const struct ir_program *, bool checked, bool profiled);
/* Frees the code and the constants made for it. */
void code_free(struct code *, const struct value_store *);

/* The value of a constant that needs no memory: one element, or one segment. */
bool code_scalar_constant(struct widths, const struct vcode_constant *, struct cvl_value *out);

/* Whether a location is of stack code. */
static inline bool code_is_stack(const struct code *code, uint32_t location) {
  return location >= code->count;
}
/* The operands and results of an instruction. */
static inline const uint32_t *code_refs(const struct code *code, const struct instruction *i) {
  return i->operand_count + i->result_count <= INLINE_REFS ? i->ref : code->words + i->ref[0];
}
struct debug_info code_debug_info(const struct code *, uint32_t location);
/* Of a node: that of its FUSED where it has none of its own. For code.c. */
struct debug_info code_node_info(const struct superop *, uint32_t node,
                                 const struct debug_info *fused);
/* Whether a call within a function, if it ends it, replaces its frame. A function that never
 * returns is not meant: such calls without end are an error some time. Nor is one of a loop for
 * many instances, but for a round that calls the next: rounds are counted
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
/* Numbers everything but the flat code, in the code's arena. For code.c. */
void code_number_locations(struct code *);
/* The location of the first node of the FUSED at a location. */
uint32_t code_first_node(const struct code *, uint32_t fused);

#endif
