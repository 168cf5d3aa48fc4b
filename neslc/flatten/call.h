/* call.h - calls of functions, and sequences whose elements are computed where they are used.
 */
#ifndef RAVEL_NESLC_FLATTEN_CALL_H
#define RAVEL_NESLC_FLATTEN_CALL_H

#include "neslc/flatten/private.h"

/* The callee of a call, its ground types and its argument. */
struct call {
  struct global *global;            /* or NULL */
  const struct core_lambda *lambda; /* or NULL */
  const struct derived *derived;    /* or NULL */
  const struct loop *loop;          /* or NULL */
  uint32_t count;                   /* of the ground types of its generic variables */
  struct type **arguments;
  const struct rep *captured; /* lambda: its captured values; or NULL */
  const struct rep *argument;
  struct type *argument_type, *result_type;
};
/* Finds the callee from the type of a function value; false if there is none. */
bool unfold_identity(struct flattener *, struct type *function, const struct rep *value,
                     struct call *);
/* The function for a call; `argument` and `captured` have the form of rep_argument. */
uint32_t function_of_call(struct flattener *, const struct call *, const struct rep *captured,
                          const struct rep *argument, bool lifted, bool apart);
/* Whether there is room for functions that the program does not need to have. */
bool room_for_functions(const struct flattener *);
/* A call of that function; in the serial context, of the one for one instance. `guarded`: it is
 * made only if there are instances. */
const struct rep *call_specialisation(struct flattener *, struct context *, const struct call *,
                                      bool guarded);
/* The value of the callee's body, generated here. */
const struct rep *call_expanded(struct flattener *, struct context *, const struct call *);

/* The sequence of g(0) .. g(n - 1) without computing its elements; NULL if g is no lambda.
 * `argument` is the pair of g and n, `type` its type. */
const struct rep *pulled_sequence(struct flattener *, const struct rep *argument,
                                  struct type *type);
const struct rep *pulled_element(struct flattener *, struct context *, const struct rep *pulled,
                                 const struct rep *index);
/* How many elements a sequence is known to have, if they can be had one by one: those of a
 * pulled sequence or of one that all share; else 0. */
uint32_t known_parts(struct flattener *, const struct context *, const struct rep *);
/* These elements. */
const struct rep *const *rep_parts(struct flattener *, struct context *, const struct rep *,
                                   uint32_t count);
/* The sequence with computed elements: it is no view, and not shared unless the context is
 * serial. Of a value of another form, itself. */
const struct rep *rep_computed(struct flattener *, const struct context *, const struct rep *);

#endif
