/* passes.h - what the passes share: the program being rewritten, and the tools to rewrite it.
 * Private to this room. Every pass is one file and one function here; fcode-opt.c runs them.
 */
#ifndef RAVEL_PASSES_H
#define RAVEL_PASSES_H

#include "fcode-opt/fcode-opt.h"

/* A program under optimisation. Blocks and bindings are the arena's and are written in place
 * or replaced; `last`, `unused` and `drops` are not kept true between passes (ir_liveness makes
 * them so after each). */
struct opt {
  struct arena *arena;        /* what the result consists of */
  struct arena *scratch;      /* emptied after every pass */
  struct ir_program *program; /* the copy that is rewritten */
  const struct fcode_opt_options *options;
  struct fcode_opt_stats *stats;
  FILE *explain; /* or NULL */
};

/* Passes: memory that fails ends in the arena's border. */
void pass_inline(struct opt *); /* inline.c */
void pass_simplify(
    struct opt *);            /* simplify.c, fold.c, common.c: to a fixed point per function */
void pass_dead(struct opt *); /* dead.c: bindings, parameters, results, to a fixed point */
void pass_fuse(struct opt *); /* fuse.c */

/* ---- rewriting: rewrite.c ---- */

/* A new variable of a function. */
ir_var rewrite_var(struct opt *, struct ir_function *, const struct ir_kind *);

/* Bindings of a block that is being written anew. */
struct rewrite_block {
  struct ir_binding *bindings;
  uint32_t count, capacity;
};
struct ir_binding *rewrite_append(struct opt *, struct rewrite_block *,
                                  const struct ir_binding *);

/* A deep copy of a block of `from` into function `to`, its variables renamed: map[v] is the new
 * name of variable v (already set for those bound outside, IR_NO_VAR for those to be made). */
enum { IR_NO_VAR = UINT32_MAX };
struct ir_block *rewrite_copy(struct opt *, struct ir_function *to,
                              const struct ir_function *from, const struct ir_block *,
                              ir_var *map);
/* Replaces operands and results' uses in a block and all inside it: v becomes map[v]. */
void rewrite_uses(struct ir_block *, const ir_var *map);
/* How often each variable of a function is used (as operand, or as a block's result). */
void rewrite_count_uses(const struct ir_function *, uint32_t *uses);

/* ---- sizes: sizes.c ---- */

/* What is known of the lengths of vectors and of the segments of descriptors, at every place
 * of every function: which are equal, which are known numbers, and which rules of which
 * instruction therefore hold whenever it is executed. Computed over the whole program
 * (agreement between parameters is taken over from all call sites, between results from the
 * bodies, to a fixed point). Valid until the program is changed. */
struct sizes;
struct sizes *sizes_compute(struct opt *);
/* Whether a binding of a function can never fail, wherever it is executed: its sizes agree and
 * conditions on its elements hold. */
bool sizes_safe(const struct sizes *, uint32_t function, const struct ir_binding *);
/* Whether only its sizes are proven to agree. */
bool sizes_agree(const struct sizes *, uint32_t function, const struct ir_binding *);
/* A number for the length of a vector or the total of a descriptor (SIZE_LEN, SIZE_TOTAL), or
 * of the number of segments (SIZE_COUNT): equal numbers, equal sizes. */
uint32_t sizes_class(const struct sizes *, uint32_t function, ir_var, uint8_t what);
/* The number itself where it is known; -1 if not. */
int64_t sizes_known(const struct sizes *, uint32_t function, ir_var, uint8_t what);

#endif
