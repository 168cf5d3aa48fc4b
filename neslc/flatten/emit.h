/* emit.h - operations and blocks of the function that is generated, and what is known of
 * variables. */
#ifndef RAVEL_NESLC_FLATTEN_EMIT_H
#define RAVEL_NESLC_FLATTEN_EMIT_H

#include "neslc/flatten/private.h"

/* Finds a variable that already has the operation's value, without executing it. */
bool fold_operation(struct flattener *, enum opcode, const ir_var *operands, ir_var *result);
/* The definition of a variable if it is an operation with this opcode; else NULL. */
const struct ir_binding *defined_by(const struct flattener *, ir_var, enum opcode);
const struct vcode_constant *constant_of(const struct flattener *, ir_var);

extern const struct ir_kind flat_kinds[4]; /* INT FLOAT BOOL SEGDES */

ir_var flat_var(struct flattener *, const struct ir_kind *);
/* Emits one operation and returns its first result. Equal pure operations are executed once. */
ir_var emit(struct flattener *, enum opcode, enum type_word, unsigned count,
            const ir_var *operands);
void emit_results(struct flattener *, enum opcode, enum type_word, unsigned count,
                  const ir_var *operands, unsigned results, ir_var *result);
#define EMIT(f, op, word, ...)                                                                 \
  emit((f), OPC_##op, TW_##word, sizeof((ir_var[]){__VA_ARGS__}) / sizeof(ir_var),             \
       (ir_var[]){__VA_ARGS__})
ir_var emit_constant(struct flattener *, const struct vcode_constant *);
ir_var emit_int(struct flattener *, int64_t);
ir_var emit_float(struct flattener *, double);
ir_var emit_bool(struct flattener *, bool);
ir_var emit_zero(struct flattener *, enum type_word);        /* a scalar 0, 0.0, F */
ir_var emit_one_segment(struct flattener *, int64_t length); /* constant descriptor */
void emit_fused(struct flattener *, const struct superop *, const ir_var *operands,
                ir_var *results);
/* The constant value of a variable, if known. */
bool known_int(struct flattener *, ir_var, int64_t *);
bool known_float(struct flattener *, ir_var, double *);
bool known_bool(struct flattener *, ir_var, bool *);

/* From here on the sums of these ints in segments are a variable that exists. */
void remember_sums(struct flattener *, ir_var v, ir_var segdes, ir_var sums);

/* A check: the program fails with the text if a flag is F, and the mask is T; v and w are
 * reported. All have one length. Texts: see assert_text. Within a combination: see
 * combining_check. */
void emit_assert(struct flattener *, ir_var flags, ir_var v, ir_var w, const char *text);

/* Ends the program with this text. */
void emit_stop(struct flattener *, const char *text);

/* Blocks: begin one, emit into it, end it; flat_if puts two of them into an IF. */
struct flat_block *block_begin(struct flattener *);
/* Ends a block whose code is not executed. */
void block_abandon(struct flattener *, struct flat_block *);
struct ir_block *block_end(struct flattener *, struct flat_block *, uint32_t count,
                           const ir_var *results);
struct ir_block *block_end_exit(struct flattener *, struct flat_block *);
/* Results have the kinds of the first block's that yields. */
void flat_if(struct flattener *, ir_var condition, struct ir_block *then,
             struct ir_block *otherwise, uint32_t count, ir_var *results);
void emit_call(struct flattener *, uint32_t function, uint32_t count, const ir_var *operands,
               uint32_t result_count, const struct ir_kind *const *kinds, ir_var *results);
/* Makes an expression the one that is being generated. */
void set_present(struct flattener *, const struct core *);
/* The origin of its operations; also of the bodies expanded at it. */
uint32_t present_origin(struct flattener *);
/* That of the call of a body that was made a function. */
struct present call_of_body(struct flattener *);
/* Removes unused bindings from the whole program: dead.c. */
void flat_dead(struct flattener *, struct ir_program *);
/* Whether a binding is executed even if its results are not used. */
bool binding_has_effect(const struct flattener *, const struct ir_binding *);
/* Sets a function that is made, in the program; `kept` are the results of its operations whose
 * failure is a check. Its parameters are the first variables. */
void flat_function(struct flattener *, uint32_t index, const struct name *, uint32_t params,
                   const struct ir_kind **kinds, uint32_t var_count, struct ir_block *body,
                   struct vars kept);
/* Moves bindings that only one arm of an IF uses into that arm, except the variables `kept`:
 * sink.c.
 */
void flat_sink(struct flattener *, struct ir_function *, const struct vars *kept);

#endif
