/* must-fail.h - programs that must fail: every run of them reaches the same violation. */
#ifndef RAVEL_IR_MUST_FAIL_H
#define RAVEL_IR_MUST_FAIL_H

#include "ir/callgraph.h"
#include "ir/function.h"

/* Executes the program abstractly, with the kind of each item instead of its value, along the
 * path that every run takes. Returns true, with an error in diags, if an instruction on that
 * path must fail because an operand has the wrong kind or there are too few items. Gives up
 * (false) at an EXIT, at an IF or a call in which an EXIT may happen, at a call that never
 * returns, at arms that leave different numbers of items, and after a bounded number of steps:
 * execution finds what fails later.
 *
 * Call it only if the entry function has no let-form: a program whose entry has one cannot fail
 * in this way. */
bool must_fail(struct arena *, const struct ir_program *, const struct callgraph *,
               const struct summary *, struct diag_list *);

#endif
