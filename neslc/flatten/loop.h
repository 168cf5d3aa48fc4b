/* loop.h - the functions that loops become. */
#ifndef RAVEL_NESLC_FLATTEN_LOOP_H
#define RAVEL_NESLC_FLATTEN_LOOP_H

#include "neslc/flatten/private.h"

const struct rep *flatten_loop(struct flattener *, struct context *, const struct core *);
/* Begins one of the functions of a loop: makes its parameters; their number. Then: the rest. */
struct loop_parameters {
  ir_var level, top; /* TREE, GROW */
  ir_var one, ids;   /* lifted */
  const struct rep *captured, *state;
  uint32_t count;
};
void loop_begin(struct flattener *, const struct specialisation *, struct loop_parameters *);
void loop_body(struct flattener *, const struct specialisation *,
               const struct loop_parameters *, struct vars *results);
/* The final state of the loop for one instance, by a call of its function. */
const struct rep *loop_called(struct flattener *, const struct loop *, const struct rep *first);
/* Its mark (ir/ir.h). */
enum vcode_rounds loop_rounds(enum loop_function);
/* Generates MANY as a recursion that the optimiser makes a superoperator of. Returns false if
 * it will not: the code is to be abandoned. */
bool loop_elementwise(struct flattener *, const struct specialisation *,
                      const struct loop_parameters *, struct vars *results);
/* The variables that parts of an expression mention and that are bound around it. */
void find_captured(struct flattener *, const struct core *, struct core *const *parts,
                   size_t count, struct loop *out);
/* Their values as a right-nested tuple. */
const struct rep *captured_values(struct flattener *, struct context *, uint32_t count,
                                  struct local *const *captured);
void bind_captured(struct flattener *, struct context *, uint32_t count,
                   struct local *const *captured, const struct rep *values);
/* The instances of a context where flags are T. */
struct context *context_packed(struct flattener *, struct context *, ir_var flags);
/* The positions in the parent of the instances of a packed context. */
ir_var instance_positions(struct flattener *, const struct context *packed);
/* The values `all`, overwritten by `some` for the instances of `packed`, which are at `at`;
 * sequences stay as they are. */
const struct rep *scatter_over(struct flattener *, const struct context *,
                               const struct rep *all, const struct rep *some,
                               const struct context *packed, ir_var at);

#endif
