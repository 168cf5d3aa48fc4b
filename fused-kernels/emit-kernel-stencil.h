/* emit-kernel-stencil.h - kernels whose gathers read near each other, to the other files of
 * kernels. Private to this room.
 *
 * A stencil reads the neighbours of each position: gathers from one parameter whose indices are
 * a position and a constant, but for the boundary. Threads of a block read the same elements
 * then, and the block keeps *windows* of the parameter in its memory: as many elements one
 * behind the other as it has positions, and a halo (prelude.hpp, windows). A gather reads its
 * window where its index lies in it, and memory where it does not. So the plan may be wrong
 * about what is near: that costs time, and the results are the same.
 *
 * Plan (emit-kernel-stencil-plan.c). Every index is written as a sum of terms, without what it
 * does at the boundary (SELECT by a comparison, and the remainder of a division): positions,
 * values that are the same along a run of positions, their products, and a constant. Gathers
 * with the same terms are a *group*; their constants are within WINDOW_SPREAD. Groups with the
 * same terms except for numbers known only while the kernel runs (`w[row]`, `w[row + 2]`) are a
 * *family*: a block looks at where its first position reads, and gives those that are near each
 * other one window. Rows of a two-dimensional stencil are families of their own.
 *
 * Chosen is a parameter with families of which each position reads WINDOW_SAVED elements more
 * than it would by one window each: three gathers of one group, or two pairs. A window needs an
 * index that moves with the position by 1; what is known only while the kernel runs, such as
 * positions that the host keeps as a PROGRESSION, is looked at by the kernel. Windows have as
 * many positions as fit cuda.stencil-bytes, cuda.stencil-positions at most (tables/tuning.def):
 * by default 16 KiB, with 8 blocks, which is all the threads of a multiprocessor of sm_90, 128
 * of its 228 KiB; and 4 positions for each of the FUSED_BLOCK_THREADS. If they do not fit,
 * there are fewer windows. Kernels that reduce go by slots, and have none.
 */
#ifndef RAVEL_FUSED_EMIT_KERNEL_STENCIL_H
#define RAVEL_FUSED_EMIT_KERNEL_STENCIL_H

#include "fused-kernels/emit-kernel-body.h"

/* Limits for the choice and the windows. None was measured on a GPU. */
enum {
  STENCIL_LEAST_BYTES = 16 << 10, /* with a smaller cuda.stencil-bytes there are no windows */
  STENCIL_LEAST_POSITIONS = 256,  /* of a block, at least: a window of 8 bytes for each of the
                                     sources below fits these */
  STENCIL_GROUPS = 16,            /* of a parameter: the others read memory */
  STENCIL_SOURCES = 6, /* parameters; a warp of the block chooses windows for each, and
                          each has at least one */
  STENCIL_UNKNOWN = 3, /* windows for a family of several groups, at most */
  WINDOW_SAVED = 2,    /* elements read less at each position, so that windows pay */
  WINDOW_SPREAD = 16,  /* between the constants of a group: radius 8 */
  WINDOW_MARGIN = 8,   /* a window begins at a multiple of this, and as many elements
                          before its first group at least, for others */
  WINDOW_HALO = WINDOW_SPREAD + 2 * WINDOW_MARGIN /* elements more than positions */
};

/* ---- the plan ---- */

/* Room for it, in the arena; there are no windows. */
void stencil_room(struct arena *, struct fused_kernel *);
/* Plans the windows of a kernel of which all else is planned. */
void stencil_plan(struct arena *, struct fused_kernel *);
/* The operand of a node that its value is, but for the boundary: an arm of a SELECT, the
 * dividend of a remainder. SUPEROP_NONE if there is none. */
uint32_t stencil_inner(const struct superop *, const struct superop_node *);

/* ---- the text ---- */

/* Writes the memory of a block, and where groups begin. */
void body_windows(const struct body *);
/* Writes the operator. */
void body_stencil(const struct body *);
/* Writes what gather k reads at `at`, a C expression. */
void body_gathered(const struct body *, uint32_t k, const char *at);

#endif
