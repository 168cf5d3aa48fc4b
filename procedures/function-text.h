/* function-text.h - a function while it is printed (print-function.c), and what the files that
 * print its bindings and ends share.
 */
#ifndef RAVEL_PROCEDURES_FUNCTION_TEXT_H
#define RAVEL_PROCEDURES_FUNCTION_TEXT_H

#include "procedures/private.h"

static inline FILE *out_of(const struct function_text *x) {
  return x->t->out;
}

static inline enum form form_of(const struct function_text *x, ir_var v) {
  return (enum form)x->forms->of[v];
}

/* ---- variables: function-variables.c ---- */

/* Returns the type of a variable's elements. */
const char *variable_type(const struct function_text *, ir_var);
struct held held_of(const struct function_text *, ir_var);
struct snippet length_of(const struct function_text *, ir_var);
void put_elements(const struct function_text *, ir_var);
/* Declares a variable that arms of an IF assign to. */
void declare_variable(const struct function_text *, ir_var);
/* Writes a check: what is wanted as one element, or segment, and held as several, is one. */
void require_one(const struct function_text *, ir_var, enum form wanted);
/* Writes to = from, where `to` is held as a vector if `from` is. */
void assign(const struct function_text *, ir_var to, ir_var from);
void print_constant_binding(const struct function_text *, const struct ir_binding *);

/* The templates for a variable that is wanted in a form, or held in another one: a scalar as a
 * vector, one segment as segments, and the reverse. */
struct conversion {
  const char *same[FORM_SEGMENTS + 1], *other[FORM_SEGMENTS + 1]; /* by wanted form */
};
const char *conversion_text(const struct conversion *, enum form has, enum form wanted);

/* ---- bindings ---- */

/* function-operations.c */
void print_operation(const struct function_text *, const struct ir_binding *);
void print_superop(const struct function_text *, const struct superop *, const ir_var *operands,
                   const ir_var *results);
/* Whether a binding is computed by a kernel. */
bool is_kernel(const struct function_text *, const struct ir_binding *);
/* function-calls.c */
void print_call(const struct function_text *, const struct ir_binding *);
/* function-work.c: the first call of a block, of so many bindings, that leads to recursion.
 * Before it, later ones that may be are listed. join_call takes the results of a call that has
 * been given away; what makes it, and a brace, follow. */
uint32_t first_recursive_call(const struct function_text *, const struct ir_block *,
                              uint32_t count);
void list_calls(const struct function_text *, const struct ir_block *, uint32_t first,
                uint32_t count);
void join_call(const struct function_text *, const struct ir_binding *);
/* print-function.c: the first bindings of a block; the condition of an IF, up to its brace. */
void print_bindings(const struct function_text *, const struct ir_block *, uint32_t count);
void print_condition(const struct function_text *, const struct ir_binding *);

/* ---- ends: function-ends.c ---- */

/* Whether a block ends with its last binding, whose results it yields; this binding, or NULL.
 */
const struct ir_binding *end_of(const struct ir_block *);
/* Whether a function that ends with this block may end with a call of itself. */
bool calls_itself_last(const struct ir_block *, uint32_t function);
/* Writes a block with which the function ends. */
void print_end(const struct function_text *, const struct ir_block *);

/* ---- vectors that are only returned: returned.c ---- */

/* Finds the results that are computed where the caller wants them: `returned` and `placed`. */
void find_returned(struct function_text *);

#endif
