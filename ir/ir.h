/* ir.h - the typed let-form: what vinterp executes, fcode-opt rewrites and neslc produces.
 *
 * A function is a tree of blocks; a block is a list of bindings that give names (variables) to
 * results, and ends by yielding variables or by never ending normally (EXIT, or a call that
 * never returns). A variable is bound once, before its uses, and may be used in inner blocks.
 * Stack positions are gone: COPY, POP and CPOP leave no trace. VCODE and FCODE are the
 * serialisation of this form.
 *
 * ## From stack code (ir_build)
 *
 * Every function is executed symbolically on a stack of variables. Reaching below the bottom
 * makes a parameter (parameters are numbered deepest first in the end). Both arms of an IF
 * start from the same stack and must leave equally many items; items that differ become
 * results of the IF. An arm that ends in EXIT or in a call that never returns puts no
 * condition on the other. Kinds are unified as operations ask for them; what a function only
 * moves keeps a kind variable, instantiated at each call. Mutually recursive functions start
 * from "never returns" and are repeated until numbers and kinds are stable.
 *
 * A function that does not unify (a violation, arms of different effect, pairs growing in
 * recursion, or a call of such a function) stays as it is: it keeps its stack code, which the
 * machine's stack interpreter runs with every check. A program that must fail is refused:
 * ir_build reports a violation that every run reaches (must-fail.h).
 *
 * A mark of a lifted function is taken over. Such a function takes as many items as its
 * mark says, of the kinds that its signature, if it has one, gives to what is only moved. A
 * mark that breaks a rule is an error of the program. One without let-form loses its mark.
 * Marks of rounds are taken over likewise, and stay.
 */
#ifndef RAVEL_IR_H
#define RAVEL_IR_H

#include "cvl/superop.h"
#include "vcode/vcode.h"

/* ---- kinds ---- */

enum ir_kind_tag {
  IR_INT = OPERAND_INT,
  IR_FLOAT = OPERAND_FLOAT,
  IR_BOOL = OPERAND_BOOL,
  IR_SEGDES = OPERAND_SEGDES,
  IR_PAIR = OPERAND_PAIR,
  IR_ANY = OPERAND_ANY
};

/* An immutable kind. Several variables may point to the same one; ir_kind_same compares. */
struct ir_kind {
  enum ir_kind_tag tag;
  uint32_t variable;                  /* ANY: its number within the function */
  const struct ir_kind *left, *right; /* PAIR */
};

bool ir_kind_same(const struct ir_kind *, const struct ir_kind *);

/* ---- functions ---- */

typedef uint32_t ir_var; /* index into the function's vars */

enum ir_form {
  IR_OP,    /* an opcode of any class but STACK, CONTROL and CONSTANT, on operands */
  IR_CONST, /* one result, the constant */
  IR_CALL,  /* results = callee(operands) */
  IR_IF,    /* operand 0 the condition; results = what the taken block yields */
  IR_FUSED  /* results = superoperator(operands): one operand for each of its parameters */
};

struct ir_block;

struct ir_binding {
  uint8_t form;          /* enum ir_form */
  uint8_t type;          /* OP: enum type_word */
  uint16_t op;           /* OP: enum opcode */
  struct source_pos pos; /* of the instruction it came from */
  uint32_t origin;       /* as in struct vcode_instruction */
  uint32_t operand_count, result_count;
  ir_var *operands; /* deepest first, as the opcode takes them */
  ir_var *results;
  bool *last;   /* per operand: no use follows, in any order of execution; of a
                   variable that occurs twice among the operands only the later */
  bool *unused; /* per result: never used */
  union {
    const struct vcode_constant *constant; /* CONST */
    uint32_t callee;                       /* CALL: function index */
    struct {
      struct ir_block *then, *otherwise;
    } arms; /* IF */
    struct {
      const char *text;
      uint32_t length;
    } text;           /* OP ASSERT */
    uint32_t superop; /* FUSED: its number */
  } as;
};

enum ir_end {
  IR_YIELD, /* the block's results are its `results`: of an IF or of the function */
  IR_EXIT,  /* the program ends */
  IR_NEVER  /* the last binding is a call or an IF that never returns */
};

struct ir_block {
  struct ir_binding *bindings;
  uint32_t count;
  uint8_t end;           /* enum ir_end */
  struct source_pos pos; /* EXIT: of the instruction */
  uint32_t result_count;
  ir_var *results;
  bool *last;          /* per result: this is its last use */
  uint32_t drop_count; /* variables alive on entry that this block never uses and nothing */
  ir_var *drops;       /* after it does: to be released at its beginning */
};

/* ---- batch calls ---- */

/* The size of a parameter or result of a lifted function is the length of a vector or the
 * number of segments of a descriptor. IR_EACH: it is the number of instances. A number: it is
 * the total of the descriptor with this number, a parameter for a parameter and a result for a
 * result. IR_SHARED, for parameters only: the value is the same for all instances. */
#define IR_EACH   VCODE_EACH
#define IR_SHARED VCODE_SHARED

/* A *lifted function* computes, for k instances at once, results of an instance from its
 * own arguments and what is shared. So it may be called for any ranges of the instances, whose
 * results laid one behind the other are those of one call for all: bit for bit, faults
 * included, by the tree of combination. Parameter 0 is a descriptor of one segment of length k,
 * and params[0] is IR_SHARED; a call with another one is a fault of Ravel.
 *
 * ir_verify checks the form:
 * - The function returns, with at least one result; kinds are INT, FLOAT, BOOL and SEGDES. No
 *   result is shared.
 * - A number is that of a descriptor that is IR_EACH or whose own number leads to one.
 * - In the function and all that it calls there is no effect but RAND: no input, output, SRAND,
 *   timer or EXIT, and no call of a function without let-form. ASSERT is none: it only fails.
 * - No RAND is reached through an arm of an IF, neither one around it nor one around a call
 * that leads to it. So every call executes the same RANDs, once each; a recursive function,
 * which calls itself in an arm, has none.
 *
 * The machine checks all sizes whenever it calls for a range of the instances. That an instance
 * depends on no other is the compiler's word. */
struct ir_instances {
  const uint32_t *params;  /* param_count of them */
  const uint32_t *results; /* result_count */
};

/* ---- procedures ---- */

/* A lifted function F may have a link to its *procedure* P: the same function for one instance.
 * P takes what F takes but parameter 0, and leaves what F leaves, of the same kinds. For one
 * instance F(a descriptor of one segment of length 1, x ...) = P(x ...), bit for bit, and P
 * fails exactly where F does, perhaps with another message. So of what is IR_EACH, P takes and
 * leaves one element, or a descriptor of one segment; what belongs to the segments of a
 * descriptor has its total as length; what is IR_SHARED is the same.
 *
 * ir_verify checks that P has let-form and returns, that its items are as above, that neither
 * it nor what it calls has any effect, RAND included, and that it is neither lifted nor of a
 * loop for many instances. That both compute the same is the compiler's word.
 *
 * Who reaches F reaches P as well: a link keeps P in the program as a call does. */
#define IR_NO_PROCEDURE VCODE_NO_PROCEDURE

/* A loop for many instances: all take their rounds together, and those that have finished
 * leave it (neslc/flatten/loop.c). VCODE_ROUND marks a function of which every call is a round,
 * VCODE_ROUNDS one that does nothing but calls of such functions, and puts their results
 * together. A call of one with rounds by any other function begins a loop.
 *
 * Which calls lead to a round depends on when instances finish. But they begin together, so an
 * instance is in the same rounds whichever others there are; that is the compiler's
 * word. So the machine knows what is executed in a loop by the number of the round
 * (docs/internals/memory.md, Faults).
 *
 * ir_verify checks that a function with rounds calls only such and rounds, and that a round is
 * called only by those and by itself. Neither is lifted. */

struct ir_function {
  const struct name *name;
  struct source_pos pos;
  bool typed;   /* has let-form; else only `stack` */
  bool returns; /* some call of it may return */
  uint32_t param_count, result_count;
  ir_var *params; /* deepest first: variables 0 .. param_count-1 in this order */
  bool *unused;   /* per parameter: never used */
  const struct ir_kind **result_kinds;
  uint32_t var_count;
  const struct ir_kind **vars; /* kind of each variable */
  uint32_t kind_variables;     /* ANY kinds are numbered below this */
  struct ir_block *body;
  const struct ir_instances *instances; /* of a lifted function; or NULL */
  uint32_t procedure;                   /* of a lifted function: an index, or IR_NO_PROCEDURE */
  uint8_t rounds;                       /* enum vcode_rounds */
  const struct vcode_function
      *stack;         /* the stack code; NULL if the form was not built from it */
  const char *reason; /* not typed: why, for --dump and --explain */
};

/* Returns the function index of the procedure; IR_NO_PROCEDURE: there is none. */
static inline uint32_t ir_procedure(const struct ir_function *f) {
  return f->instances ? f->procedure : IR_NO_PROCEDURE;
}

#define IR_ONE UINT32_MAX /* in entry_layout */

struct ir_program {
  const char *file;
  struct widths widths;
  struct ir_function *functions;
  uint32_t function_count;
  uint32_t entry;
  struct origin_table origins;
  const struct superop *const *superops; /* number i at index i */
  uint32_t superop_count;
  const struct vcode_program *vcode; /* NULL if the form was not built from VCODE */
  /* The size of each parameter of the entry: the length of a vector, the number of segments of
   * a descriptor. It is the total of the parameter with the index given here, or 1 where that
   * is IR_ONE. NULL: nothing is known. */
  const uint32_t *entry_layout;
  bool exact_floats; /* FWRITE FLOAT writes 17 digits, which read back as they were, not 15 */
  bool guarded;      /* no index is out of range unless an earlier ASSERT fails */
};

/* Return the kind of operand i of a superoperator, and of output i: INT, FLOAT, BOOL or SEGDES.
 */
const struct ir_kind *ir_superop_operand(const struct superop *, uint32_t i);
const struct ir_kind *ir_superop_output(const struct superop *, uint32_t i);
/* Returns the enum superop_kind of a kind; IR_ANY and pairs count as INT. */
uint8_t ir_superop_kind(const struct ir_kind *);

/* Builds the let-form of a program. Memory is the arena's, which must outlive the result, as
 * must `vcode`. Returns NULL with at least one error in diags if the program must fail, or if
 * memory runs out. Liveness is filled in. */
struct ir_program *ir_build(struct arena *, const struct vcode_program *vcode, struct widths,
                            struct diag_list *diags);

/* Fills in `last`, `unused` and `drops` of every typed function. */
void ir_liveness(struct arena *, struct ir_program *);

/* Checks every rule of this file (scoping, kinds, arity, calls, ends, liveness). Returns true
 * or adds an error for each broken rule: a fault of Ravel, not of the user's program. */
bool ir_verify(struct arena *, const struct ir_program *, struct diag_list *diags);

/* Writes the text form, from which tests make an equal program (tests/parse.h; positions and
 * origins included). Functions without let-form print as VCODE between `stack` and `end`.
 * Without memory it ends in memory_failed. */
void ir_print(const struct ir_program *, FILE *);
/* Writes the text form without the functions f for which wanted[f] is false: nothing else may
 * call them. */
void ir_print_functions(const struct ir_program *, const bool *wanted, FILE *);
void ir_print_function(const struct ir_program *, uint32_t function, FILE *);

#endif
