/* fused.h - the text of superoperators: their notation in FCODE files, and the C and CUDA
 * source generated from them.
 *
 * ## Notation
 *
 * The prefix notation of 2012 (vcode.md, section 16.3) is read as it is:
 *
 *     fused OP0#1 ($0 : SEGDES, $1 : FLOAT, $2 : FLOAT, $3 : SEGDES) =
 *       (- FLOAT @ (* FLOAT @ (* FLOAT @ (DIST FLOAT @ (CONST FLOAT 3.0) $0) $1) $2)
 *                  (DIST FLOAT @ (CONST FLOAT 0.5) $3))
 *
 * Ravel adds nodes that are no elementwise operations (written the same way, with the opcode
 * of the instruction), names for results that are used more than once, and several outputs:
 *
 *     fused OP1#1 ($0 : FLOAT, $1 : INT, $2 : SEGDES) =
 *       $3 = (DIST INT @ $1 $2)
 *       ...
 *       $7 $8 = (PACK FLOAT @ $0 $6 $2)
 *       -> $7 $8 $9
 *
 * A line `$k [$k+1] = expr` names the result of the operation; a definition without `->` has
 * one output, its last expression. Operations inside an expression are nodes too, in the order
 * of their closing parentheses, which is the order of execution. An operation that may fail is
 * written `(! op ...)` if its elements need not be checked ("proven"). A comment
 * {@ file:line:column name } sets the origin of the nodes that close after it within the
 * definition. `(ASSERT "text" @ flags v w)` has no result and is a line by itself, between
 * bindings. The complete grammar: docs/internals/fcode.md.
 */
#ifndef RAVEL_FUSED_H
#define RAVEL_FUSED_H

#include "cvl/superop.h"
#include "vcode/vcode.h"

/* Parses one definition of a program into a completed superoperator (superop_complete), in the
 * program's widths; NULL with at least one error in diags. Its origins are appended to the
 * program's. Parameter kind ANY is inferred from use. */
struct superop *fused_parse(struct arena *, struct vcode_program *, const struct vcode_fused *,
                            struct diag_list *diags);

/* Writes a definition; parsing it gives the same superoperator. `uses`: the number of FUSED
 * instructions that refer to it. `origins` may be NULL: then none are written. */
void fused_print(const struct superop *, uint32_t uses, const struct origin_table *origins,
                 FILE *);

/* The superoperator as a formula for people, on one line, e.g.
 * `sum by s (v * x[i])`: for --explain and --trace. Returns dst. */
char *fused_formula(const struct superop *, char *dst, size_t size);

#endif
