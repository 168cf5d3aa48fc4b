/* fcode-opt.h - the optimiser: from let-form to let-form, and to stack code.
 *
 * An optimised program prints what the original prints and fails if and only if the original
 * fails, before the same input and output has happened, with the instruction that comes first
 * in program order at fault (vcode.md, 21.5). So an instruction that is not proven safe is not
 * dead, and is not moved past another that may fail or has an effect.
 */
#ifndef RAVEL_FCODE_OPT_H
#define RAVEL_FCODE_OPT_H

#include "ir/ir.h"

struct opt; /* passes.h */

struct fcode_opt_options {
  bool fuse;               /* else the program stays VCODE */
  bool verify;             /* ir_verify after every pass */
  bool chunked_results;    /* what the entry function ends with is lifted where it can be,
                              though that gains nothing but that results may leave memory */
  bool origins;            /* instructions that may fail get an origin: their source location */
  unsigned inline_limit;   /* size up to which a function is inlined everywhere; default 160 */
  const char *print_after; /* name of a pass, "all" or NULL */
  FILE *dump;              /* where print_after prints */
  /* Tests set this: it is called at the end of every pass, within its guard; else NULL. */
  void (*after_pass)(struct opt *, const char *pass);
};

/* Statistics of the passes: numbers of instructions (COPY, POP and the like do not count; see
 * vcode.md, 16). */
struct fcode_opt_stats {
  uint32_t functions_before, functions_after;
  uint64_t bindings_before, bindings_after;
  uint64_t inlined, folded, common, dead, dead_parameters, dead_results, branches;
  uint64_t superops, fused_instructions;
  double seconds;
};

struct fcode_opt_options fcode_opt_default_options(void);

/* Optimises a program; the result is new, its memory the arena's; `program` stays as it is.
 * Functions without let-form stay, with their stack code. NULL with an error in diags if memory
 * fails (or, with `verify`, if a pass broke a rule: a fault of Ravel). A pass that fails a
 * check of itself is undone, with a warning in diags. `stats` may be NULL. `explain`, if not
 * NULL, gets the explanation: per function each superoperator as a formula, what was not fused
 * and why, passes over memory and bytes before and after. */
struct ir_program *fcode_opt(struct arena *, const struct ir_program *program,
                             const struct fcode_opt_options *, struct fcode_opt_stats *stats,
                             FILE *explain, struct diag_list *diags);

/* Whether a program that was read from text with superoperators is one that has been optimised:
 * then it is executed as it is. */
bool fcode_opt_is_done(const struct ir_program *);

/* Makes stack code for a program in let-form: operands are moved at their last use, copied
 * otherwise. Functions that the entry cannot reach are left out. Returns NULL if memory fails.
 */
struct vcode_program *fcode_opt_stack_code(struct arena *, const struct ir_program *,
                                           struct diag_list *diags);

#endif
