/* emit.h - C and CUDA source from superoperators, for `--native` and `fcodeopt --emit-cuda`.
 * The scalar expressions are those of tables/operations.def, so that what is compiled from here
 * gives the bits that every back end gives, as long as floating point is not contracted
 * (-ffp-contract=off, nvcc --fmad=false).
 */
#ifndef RAVEL_FUSED_EMIT_H
#define RAVEL_FUSED_EMIT_H

#include "cvl/superop.h"
#include "vcode/vcode.h"

/* ---- kernels ahead of time ---- */

/* Writes the kernels that the CUDA back end runs the superoperators by (emit-kernel.h) as one
 * file for nvcc, each under the name by which the back end looks for it. Works in the arena. */
void fused_emit_cuda(struct arena *, const struct superop *const *, uint32_t count,
                     struct widths, FILE *cu);

/* ---- the elementwise part, block by block, for a back end ---- */

/* Whether a node is done by functions for blocks: maps, and the flags of ASSERTs, but no cold
 * nodes. */
static inline bool fused_in_blocks(const struct superop *op, uint32_t node) {
  return (op->nodes[node].role == ROLE_MAP && !op->cold[node]) ||
         (op->nodes[node].role == ROLE_ASSERT && op->nodes[node].checked);
}

/* Which values functions for blocks read and write. A superoperator has stages: a map node
 * whose operands are parameters, or spreads, progressions or gathers of them, belongs to stage
 * 0; one that needs the result of a gather whose index is a map of stage s belongs to stage
 * s + 1. An ASSERT belongs to the stage of its flags. A loop counts as one node, like a gather.
 * One function for each stage. */
struct fused_blocks {
  bool *looped; /* of every node: it is part of a loop, which has a function of its own */
  uint32_t stage_count; /* 0: there are no nodes for blocks */
  uint8_t *stage;       /* of every node: of a map the stage that computes it, of any other the
                           first stage that may read it */
  bool *written; /* of every value: a map's that something else needs than the maps of its
                    own stage: outputs, other nodes, later stages */
};

/* Fills in the plan, in the arena. False if there are more than 255 stages. */
bool fused_blocks_plan(struct arena *, const struct superop *, struct fused_blocks *);

/* Writes what every file with functions for blocks begins with: includes, the macros that the
 * expressions are written in, the elementary functions. */
void fused_emit_block_prelude(struct widths, FILE *);

/* Writes the function of one stage,
 *
 *     void NAME(uint64_t n, const void *const *in, void *const *out, uint64_t *fault)
 *
 * which computes all maps of the stage for n places in one loop. in[v] and out[v] are indexed
 * by value number: in[v] has n elements of a value that the stage reads and does not compute,
 * or one element where uniform[v] (not NULL) says that all places have the same; out[v] gets n
 * elements of every value of the stage that is `written`. Other entries are not looked at.
 * DIST of a CONST is written into the function and never read. No array may overlap an output.
 * fault[k] of every checked node k of the stage becomes the first place whose element is at
 * fault, of an ASSERT the first whose flag is false, or UINT64_MAX; elements at fault are 0.
 * What an ASSERT would tell is not looked at. BOOL elements are bytes. */
void fused_emit_block(const struct superop *, const struct fused_blocks *, struct widths,
                      uint32_t stage, const bool *uniform, const char *name, FILE *);

/* Whether the last stage can hand its elements to reductions as it computes them: every operand
 * of a reduction is there by then, one at least is of that stage, and that needs no second
 * look at arguments (sine, cosine, tangent). */
bool fused_blocks_fold(const struct superop *, const struct fused_blocks *);

/* Writes the function of the last stage for blocks of one segment,
 *
 *     void NAME(uint64_t n, const void *const *in, void *const *out, uint64_t *fault,
 *               void *const *lanes, bool begin, bool whole)
 *
 * which does what that of fused_emit_block does, but for results that only reductions want:
 * these are not written but combined, element i of a block into lane i mod 32 of the
 * reproducible tree (cvl.h). With `whole`, and `begin`, the places are whole blocks, the last
 * perhaps shorter, and lanes[r] gets the totals of the r-th reduction, one for each block.
 * Otherwise they are of one block, and lanes[r] has its 32 lanes, which are begun with `begin`
 * and else gone on with; all calls of the block but the last take a multiple of 32 places.
 * in[v] has the operands of reductions too that the stage does not compute. */
void fused_emit_fold(const struct superop *, const struct fused_blocks *, struct widths,
                     const bool *uniform, const char *name, FILE *);

/* Writes the function of the loop whose first node is `first`,
 *
 *     bool NAME(uint64_t n, const void *const *in, void *const *out, bool (*asks)(void *),
 *               void *with)
 *
 * which runs it for n places: in[v] has n elements of every value v that is carried first,
 * out[v] gets those of the results. False if asks(with), asked now and then unless it is NULL,
 * said so; then out[v] is not complete. */
void fused_emit_loop(const struct superop *, uint32_t first, struct widths, const char *name,
                     FILE *);

#endif
