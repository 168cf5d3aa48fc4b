/* emit.h - C and CUDA source from superoperators, for `--native` and ahead of time.
 * The scalar expressions are those of tables/operations.def, so that what is compiled from here
 * gives the bits that every back end gives, as long as floating point is not contracted
 * (-ffp-contract=off, nvcc --fmad=false).
 */
#ifndef RAVEL_FUSED_EMIT_H
#define RAVEL_FUSED_EMIT_H

#include "fused-kernels/loops/range.h"
#include "fused-kernels/schedule.h"
#include "vcode/vcode.h"

/* ---- kernels ahead of time ---- */

/* Writes the kernels that the CUDA back end runs the superoperators by (emit-kernel.h) as one
 * file for nvcc, each under the name by which the back end looks for it. Works in the arena. */
void fused_emit_cuda(struct arena *, const struct superop *const *, uint32_t count,
                     struct widths, FILE *cu);

/* ---- the plan of the functions of a superoperator ---- */

/* One function for ranges (loops/range.h), and those of combinations. */
struct fused_functions {
  const struct superop *op;
  const bool
      *one; /* of every parameter: a descriptor of one segment, or strides that are all 1 */
  struct kernel_range_plan range;
};

/* Plans them, in the arena; false if there is no function, or it would not compute anything. */
bool fused_functions_plan(struct arena *, const struct superop *, const bool *one,
                          struct fused_functions *);
/* Why they do not execute all of it: the nodes that the plan leaves to kernels of the library,
 * or why there are no functions, on one line in the arena. "": they do. *compiled: whether
 * there are any. */
const char *fused_functions_leave(struct arena *, const struct superop *, bool *compiled);

/* ---- the functions ---- */

/* Writes the beginning of every file with functions: includes, the macros of the expressions,
 * the elementary functions. */
void fused_emit_prelude(struct widths, FILE *);

/* Writes the functions of the combination whose first node is `first`, in the tree that keeps
 * order (trees.h). x, out ... have an array for each column; a segment has at most 1024
 * elements.
 *
 *     void NAME_apply(uint64_t n, char *const *left, char *const *right, char *const *out)
 *
 * combines n pairs; out may be left or right.
 *
 *     void NAME_reduce(char *const *x, const uint64_t *offsets, uint64_t count, void *const
 * *out)
 *
 * reduces segments offsets[k] to offsets[k + 1] of x to out[k], empty ones excepted.
 *
 *     unsigned NAME_roots(char *const *x, uint64_t n, char *const *out)
 *
 * gives the totals of the subtrees that n elements consist of, the largest first, and their
 * number.
 *
 *     void NAME_scan(char *const *x, const uint64_t *offsets, uint64_t count, void *const
 * *before, bool inclusive, char *const *out)
 *
 * scans segments; before, or NULL: an item that comes before the first one. Without it
 * exclusive scans do not write the first of a segment. */
void fused_emit_combination(const struct superop *, uint32_t first, struct widths,
                            const char *name, FILE *);

/* ---- all functions of a superoperator, and files of them ---- */

/* Writes the prelude, and the functions `range`, and `combineN_apply` and so on of each
 * combination that begins with node N. */
void fused_emit_functions(struct arena *, const struct fused_functions *, struct widths,
                          FILE *);
/* Writes the functions without the prelude, with names that begin with `prefix`, so that a file
 * can have the functions of many superoperators. */
void fused_emit_named(struct arena *, const struct fused_functions *, struct widths,
                      const char *prefix, FILE *);

/* Writes the functions of many superoperators as one file for a C compiler. There the names of
 * those of each begin with a prefix that is made from what fused_emit_functions writes for it,
 * so that who has that text finds them; an object of the prefix's name says that they are
 * there. Works in the arena. */
void fused_emit_cpu(struct arena *, const struct superop *const *, uint32_t count,
                    struct widths, FILE *);

/* The prefix that is made from a text of fused_emit_functions. */
enum { FUSED_NAME_MAX = 100 };
void fused_functions_prefix(const char *text, size_t length, char prefix[FUSED_NAME_MAX]);

/* Flags for the C compiler, which gcc, clang and zig know. Floating point must work as
 * everywhere in the program, or the bits would differ. Where zig does not optimise it looks for
 * undefined behaviour otherwise. */
#define FUSED_C_FLAGS                                                                          \
  "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",                         \
      "-fno-sanitize=undefined", "-std=c11", "-w", "-fPIC", "-shared"

/* Texts in such a file: what made it, to be compared with FUSED_VERSION, and what its code
 * needs of the processor, words of processor.def. */
#define FUSED_VERSION_SYMBOL "ravel_kernels_version"
#define FUSED_NEEDS_SYMBOL   "ravel_kernels_needs"
#define FUSED_VERSION        "Ravel " RAVEL_VERSION ", CPU"

#endif
