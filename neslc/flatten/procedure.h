/* procedure.h - procedures: lifted functions for one instance. */
#ifndef RAVEL_NESLC_FLATTEN_PROCEDURE_H
#define RAVEL_NESLC_FLATTEN_PROCEDURE_H

#include "neslc/flatten/private.h"

/* The form that a value of a lifted context has in the procedure: one instance of it. Views
 * stay: base and owner are what the lifted function gets. */
const struct rep *procedure_form(struct flattener *, const struct rep *);
/* Gives the function of a lifted specialisation, which is marked, its procedure. */
void procedure_link(struct flattener *, const struct specialisation *);
/* Returns which functions only links to procedures lead to. */
const bool *procedures_only(struct flattener *);
/* Returns for each function its index in the program, where those that only links lead to are
 * behind the others, and names all by these indices. */
const uint32_t *procedures_last(struct flattener *);
/* Puts the functions into that order. */
void procedures_move(struct flattener *, struct ir_program *, const uint32_t *order);
/* Whether a specialisation is a procedure whose arguments contain views. It does nothing but
 * make sequences of them and call the one without: its result, from its parameters. */
bool procedure_takes_views(const struct specialisation *);
const struct rep *procedure_viewed(struct flattener *, const struct specialisation *,
                                   const struct rep *argument);

#endif
