/* emit.h - C and CUDA source from superoperators, for `--native` and ahead of time.
 * The scalar expressions are those of tables/operations.def, so that what is compiled from here
 * gives the bits that every back end gives, as long as floating point is not contracted
 * (-ffp-contract=off, nvcc --fmad=false).
 */
#ifndef RAVEL_FUSED_EMIT_H
#define RAVEL_FUSED_EMIT_H

#include "cvl/superop.h"
#include "fused-kernels/tile.h"
#include "vcode/vcode.h"

/* ---- kernels ahead of time ---- */

/* Writes the kernels that the CUDA back end runs the superoperators by (emit-kernel.h) as one
 * file for nvcc, each under the name by which the back end looks for it. Works in the arena. */
void fused_emit_cuda(struct arena *, const struct superop *const *, uint32_t count,
                     struct widths, FILE *cu);

/* ---- the elementwise nodes, block by block, for a back end ---- */

/* Whether functions for blocks execute a node: maps, and the flags of ASSERTs, but no cold
 * nodes.
 */
static inline bool fused_in_blocks(const struct superop *op, uint32_t node) {
  return (op->nodes[node].role == ROLE_MAP && !op->cold[node]) ||
         (op->nodes[node].role == ROLE_ASSERT && op->nodes[node].checked);
}

/* Whether functions for blocks execute a gather: its index depends on data. One that is
 * arithmetic on positions is often a slice, which back ends do not gather. */
bool fused_may_gather(const struct superop *, uint32_t node);

/* Whether the function of a tile (tile.h) executes a scan: every order gives the same bits, and
 * the identity changes nothing. */
bool fused_may_scan(const struct superop *, uint32_t node);
/* Whether it may execute the scatters: no result of one is an operand. */
bool fused_may_scatter(const struct superop *);

/* Which values functions for blocks read and write. A superoperator has stages: a map node
 * whose operands are parameters, or spreads, progressions or gathers of them, belongs to stage
 * 0; one that needs the result of a gather whose index is a map of stage s belongs to stage
 * s + 1. An ASSERT belongs to the stage of its flags. A loop counts as one node, like a gather.
 * A gather that functions execute belongs to the stage of its index, like a map. One function
 * for each stage. */
struct fused_blocks {
  bool flat;     /* all INDEXes, gathers by data and scatters are of one segment */
  bool *gathers; /* of every node: functions execute it, and it is a gather */
  bool *indices; /* of every node: functions execute it, and it is an INDEX; only of one segment
                  */
  bool *looped;  /* of every node: it belongs to a loop, which has a function of its own */
  uint32_t stage_count; /* 0: there are no nodes for blocks */
  uint8_t *stage;       /* of every node: of a map the stage that computes it, of any other the
                           first stage that may read it */
  bool *written; /* of every value: the result of a map with other uses than the maps of its own
                    stage: outputs, other nodes, later stages */
};

/* Fills in the plan, in the arena. flat: all INDEXes, and all segments that gathers read, are
 * one segment. False if there are more than 255 stages. */
bool fused_blocks_plan(struct arena *, const struct superop *, bool flat,
                       struct fused_blocks *);

/* Whether the function of a stage executes a node. */
static inline bool fused_blocks_have(const struct superop *op, const struct fused_blocks *b,
                                     uint32_t node) {
  return (fused_in_blocks(op, node) && !b->looped[node]) || b->gathers[node] ||
         b->indices[node];
}
/* Whether a node that they execute needs the elements of an operand. */
static inline bool fused_blocks_read(const struct superop_node *node, uint32_t operand) {
  return node->role == ROLE_GATHER  ? operand == 1
         : node->role == ROLE_INDEX ? false
                                    : superop_matters(node, operand);
}

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
void fused_emit_block(const struct superop *, const struct fused_blocks *, struct widths,
                      uint32_t stage, const char *name, FILE *);

/* Whether the last stage can pass its values to reductions as it computes them: the operands of
 * all reductions are available by then, at least one is of that stage, and none is computed in
 * two passes (sine, cosine, tangent). */
bool fused_blocks_fold(const struct superop *, const struct fused_blocks *);

/* Writes the function of the last stage for a block of the reproducible tree,
 *
 *     void NAME(uint64_t n, const void *const *in, void *const *out, uint64_t *fault,
 *               const struct tile_ahead *ahead, void *const *lanes, _Bool begin, char *const
 * *totals, uint64_t block)
 *
 * which does what that of fused_emit_block does. But results whose only uses are reductions are
 * not written; they are combined, element i of a block into lane i mod 32 of the tree (cvl.h).
 * lanes[r] has the 32 lanes of the r-th reduction, which `begin` initialises; all calls for the
 * block but the last have a multiple of 32 positions. The last has `totals`: totals[r][block]
 * gets the total. in[v] also has the operands of reductions that the stage does not compute. */
void fused_emit_fold(const struct superop *, const struct fused_blocks *, struct widths,
                     const char *name, FILE *);

/* Writes the function of the loop whose first node is `first`,
 *
 *     bool NAME(uint64_t n, const void *const *in, void *const *out, bool (*asks)(void *),
 *               void *with)
 *
 * which runs it for n positions: in[v] has n elements of every initial value v of a carried
 * one, out[v] gets those of the results. False if asks(with), called now and then unless it is
 * NULL, returned true; then out[v] is not complete. */
void fused_emit_loop(const struct superop *, uint32_t first, struct widths, const char *name,
                     FILE *);

/* Whether a combination begins with this node. */
static inline bool fused_begins_combination(const struct superop *op, uint32_t node) {
  return op->nodes[node].role == ROLE_COLUMN &&
         (node == 0 || op->nodes[node - 1].role != ROLE_COLUMN);
}

/* Writes the functions of the combination whose first node is `first`, in the tree that keeps
 * order (cvl.h). x, out ... have an array for each column; a segment has at most 1024 elements.
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

struct fused_functions {
  struct fused_blocks blocks;
  bool folds;    /* there is a function for the last stage with reductions */
  bool scatters; /* it may execute them */
  /* Gathers that need bounds (tile.h): those between the same descriptors have the same number.
   */
  uint32_t bounds_count;
  uint32_t *bounds; /* of every node; SUPEROP_NONE: it needs none */
};

/* Whether a loop begins with this node. */
static inline bool fused_begins_loop(const struct superop *op, uint32_t node) {
  return op->nodes[node].role == ROLE_CARRY &&
         (node == 0 || op->nodes[node - 1].role != ROLE_CARRY);
}

/* Fills in the plan, in the arena; flat as for fused_blocks_plan. False if there is nothing to
 * compile, or too many stages. */
bool fused_functions_plan(struct arena *, const struct superop *, bool flat,
                          struct fused_functions *);
/* Whether `flat` makes a difference; the parameters that are descriptors which then have one
 * segment, for node k: SUPEROP_NONE if there are less. */
bool fused_functions_differ(const struct superop *);
void fused_flat_operands(const struct superop *, uint32_t node, uint32_t of[2]);

/* Whether the function of a tile has an entry of a node in its struct tile: it executes it
 * outside stages, or it is a gather or INDEX of a stage. A constant is only spread where a
 * buffer of it is read. */
bool fused_tile_walks(const struct superop *, const struct fused_functions *, uint32_t node);

/* Writes the function
 *
 *     void NAME(struct tile *, uint64_t first, uint64_t n, int folds)
 *
 * of tile.h, which executes all nodes but reductions of short segments, scans, scatters and
 * what reads results of packs: spreads, progressions and gathers are filled into buffers,
 * stages executed by BLOCK0, BLOCK1 ... (`block` followed by the number) and FOLD. It asks the
 * caller for loops, and for nodes that are to be asked for. */
void fused_emit_tile(const struct superop *, const struct fused_functions *, struct widths,
                     const char *name, const char *block, const char *fold, FILE *);

/* Writes the function
 *
 *     void NAME(const void *before, const void *x, uint64_t n, void *out)
 *
 * for a scan of a tile's function: out[i] = *before, combined with x[i]; out may be x. */
void fused_emit_scan(const struct superop *, uint32_t node, struct widths, const char *name,
                     FILE *);

/* Writes the prelude and the functions `tile`, `scanN` of each scan N that it executes, `loopN`
 * of each loop that begins with node N, `combineN_apply` and so on of each combination; and
 * `blockS` of each stage S, and `fold`, which `tile` calls. */
void fused_emit_functions(const struct superop *, const struct fused_functions *, struct widths,
                          FILE *);

/* Writes the functions of many superoperators as one file for a C compiler. There the names of
 * those of each begin with a prefix that is made from what fused_emit_functions writes for it,
 * so that who has that text finds them; an object of the prefix's name says that they are
 * there. Works in the arena. */
void fused_emit_cpu(struct arena *, const struct superop *const *, uint32_t count,
                    struct widths, FILE *);

/* The prefix that is made from a text of fused_emit_functions. */
enum { FUSED_NAME_MAX = 100 };
void fused_functions_prefix(const char *text, size_t length, char prefix[FUSED_NAME_MAX]);

/* What a C compiler must be given besides: floating point as everywhere in the program, or the
 * bits would differ. */
#define FUSED_C_FLAGS                                                                          \
  "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-std=c11", "-w",       \
      "-fPIC", "-shared"

/* Texts in such a file: what made it, to be compared with FUSED_VERSION, and what its code
 * needs of the processor, words of processor.def. */
#define FUSED_VERSION_SYMBOL "ravel_kernels_version"
#define FUSED_NEEDS_SYMBOL   "ravel_kernels_needs"
#define FUSED_VERSION        "Ravel " RAVEL_VERSION ", CPU"

#endif
