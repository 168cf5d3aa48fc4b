/* certain.h - violations that happen whenever the program runs. */
#ifndef RAVEL_IR_CERTAIN_H
#define RAVEL_IR_CERTAIN_H

#include "ir/callgraph.h"
#include "ir/function.h"

/* Follows the program from its entry function on the path that every run takes, with the kinds
 * of the items instead of their values, and reports the first instruction on it that must fail
 * because of a kind or of the number of items. Returns true if there is one. It stops, finding
 * nothing, where that path ends: at an EXIT, at an IF or a call in which an EXIT may happen, at
 * a call that never returns, at arms of different effect, and at the latest after a bounded
 * number of steps; what fails after that is for execution to find.
 *
 * Meant for programs whose entry function has no let-form: in all others nothing is certain. */
bool certain_violation(struct arena *, const struct ir_program *, const struct callgraph *,
                       const struct summary *, struct diag_list *);

#endif
