/* emit.h - C and CUDA source from superoperators, for `--native` and ahead of time.
 * The scalar expressions are those of tables/operations.def, so that what is compiled from here
 * gives the bits that every back end gives, as long as floating point is not contracted
 * (-ffp-contract=off, nvcc --fmad=false).
 */
#ifndef RAVEL_FUSED_EMIT_H
#define RAVEL_FUSED_EMIT_H

#include "fused-kernels/loops/range.h"
#include "fused-kernels/schedule.h"
#include "fused-kernels/tile.h"
#include "vcode/vcode.h"

/* ---- kernels ahead of time ---- */

/* Writes the kernels that the CUDA back end runs the superoperators by (emit-kernel.h) as one
 * file for nvcc, each under the name by which the back end looks for it. Works in the arena. */
void fused_emit_cuda(struct arena *, const struct superop *const *, uint32_t count,
                     struct widths, FILE *cu);

/* ---- the plan of the functions of a superoperator ---- */

/* The functions of stages execute maps, ASSERTs and gathers by data; of one segment also
 * INDEXes that they read. All else is executed apart: a map whose operands are parameters, or
 * spreads, progressions or gathers of them, is of stage 0; one that needs the result of a
 * gather by positions whose index is a map of stage s is of stage s + 1. */
struct fused_functions {
  const struct superop *op;
  bool ranges;     /* there is one function, for ranges, and the rest is not planned */
  const bool *one; /* then, of every parameter: a descriptor of one segment, or strides that are
                      all 1 */
  struct kernel_range_plan range;
  struct fused_schedule schedule;
  bool flat; /* all INDEXes and gathers by data are of one segment */
  /* Gathers that need bounds (tile.h): those between the same descriptors have the same number.
   */
  uint32_t bounds_count;
  uint32_t *bounds; /* of every node; SUPEROP_NONE: it needs none */
};

/* Fills in the plan, in the arena. flat: all INDEXes, and all segments that gathers read, are
 * one segment. False if there is nothing to compile, or more than 255 stages. */
bool fused_functions_plan(struct arena *, const struct superop *, bool flat,
                          struct fused_functions *);
/* Plans the function for ranges; false if there is none, or it does not compute anything. */
bool fused_ranges_plan(struct arena *, const struct superop *, const bool *one,
                       struct fused_functions *);
/* Whether `flat` makes a difference; the parameter that is a descriptor which then has one
 * segment, of a node: SUPEROP_NONE: there is none. */
bool fused_functions_differ(const struct superop *);
uint32_t fused_flat_operand(const struct superop *, uint32_t node);
/* Why they do not execute all of it: the nodes that the plan leaves to kernels of the library,
 * or why there are no functions, on one line in the arena. "": they do. *compiled: whether
 * there are any. */
const char *fused_functions_leave(struct arena *, const struct superop *, bool flat,
                                  bool *compiled);

/* ---- the functions of stages ---- */

/* Writes the beginning of every file with functions for blocks: includes, the structs of
 * tile.h, the macros of the expressions, the elementary functions. */
void fused_emit_block_prelude(struct widths, FILE *);

/* Writes the function of one stage,
 *
 *     void NAME(uint64_t n, const void *const *in, void *const *out, uint64_t *fault,
 *               const struct tile_ahead *ahead)
 *
 * which computes all maps of the stage for n positions in one loop. in[v] and out[v] are
 * indexed by value number: in[v] has n elements of a value that the stage reads and does not
 * compute; out[v] gets n elements of every value of the stage that is `written`. Other entries
 * are not read. in[v] of the result of a gather of this stage is a struct fused_gathered, of an
 * INDEX a struct fused_progression that begins with the first of the n positions. DIST of a
 * CONST is a constant of the function. No array may overlap an output. fault[k] of every
 * checked node k of the stage becomes the first position whose element is at fault, of an
 * ASSERT the first whose flag is false, or UINT64_MAX; elements at fault are 0. The values that
 * an ASSERT would report are not read. BOOL elements are bytes. Unless `ahead` is NULL, what
 * it says is prefetched meanwhile. */
void fused_emit_block(const struct fused_functions *, struct widths, uint32_t stage,
                      const char *name, FILE *);

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

/* Whether the function of a tile has an entry of a node in its struct tile: it executes it
 * outside stages, or it is a gather or INDEX of a stage. A constant is only spread where a
 * buffer of it is read. */
bool fused_tile_walks(const struct fused_functions *, uint32_t node);

/* Writes the function
 *
 *     void NAME(struct tile *, uint64_t first, uint64_t n)
 *
 * of tile.h, which executes all nodes but reductions, scans, scatters and what reads
 * results of packs: spreads, progressions and gathers are filled into buffers, stages executed
 * by BLOCK0, BLOCK1 ... (`block` followed by the number). */
void fused_emit_tile(const struct fused_functions *, struct widths, const char *name,
                     const char *block, FILE *);

/* Writes the prelude and the functions `tile`, `combineN_apply` and so on of each combination
 * that begins with node N; and `blockS` of each stage S, which `tile`
 * calls; or `range`. */
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
