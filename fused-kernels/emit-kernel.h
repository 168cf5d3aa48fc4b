/* emit-kernel.h - a superoperator as one kernel: the text, which NVRTC, nvcc, g++ and clang++
 * compile, and the plan, from which a host knows the kernel's arguments and its own tasks.
 *
 * The kernel evaluates all maps (nodes other than consumers) at every position of the domain.
 * It reduces as far as one warp gets: a slot, CVL_REDUCE_BLOCK positions of a segment
 * (prelude.hpp: slot_count, first_slot). Everything else is done after it, on the values that
 * it has written, as `struct fused_kernel` says. Where segments are short, a slot each would
 * leave a warp little to do: another kernel has blocks for groups of segments, and gives the
 * results of those that are no longer than a slot.
 *
 * Combinations, by a function of the program's own, have two more kernels each, for the levels
 * of the tree that keeps order: one upwards, one downwards (combine-tree.hpp).
 *
 * Each loop has a kernel of its own, which comes before that of the rest. In a launch a
 * position executes as many rounds as the host allows (struct looping in prelude.hpp). While
 * positions have not finished, the same kernel is launched again.
 */
#ifndef RAVEL_FUSED_EMIT_KERNEL_H
#define RAVEL_FUSED_EMIT_KERNEL_H

#include "cvl/trees.h"
#include "cvl/tuning.h"
#include "fused-kernels/schedule.h"
#include "vcode/vcode.h"

/* The arguments of the kernel, in order: members of a struct, each at the next multiple of 8
 * bytes.
 *
 *   MEMBER_OPERAND    ravel::operand<T> of a vector parameter
 *   MEMBER_SEGMENTS   ravel::segments of a descriptor parameter
 *   MEMBER_WRITTEN    ravel::ptr<T>, where the elements of a value go: one for each position
 *   MEMBER_PARTIALS   ravel::ptr<T>, where the partial results of a reduction go: one for each
 *                     slot; those of slots that are not used have no meaning
 *   MEMBER_TOTALS     ravel::ptr<T>, of a consumer of a combination: where the totals of the
 *                     slots go that are whole and not all of their segment: one for each slot
 *   MEMBER_ROOTS      of a COMBINE_REDUCE, too: where the roots of the other slots wait, see
 *                     fused_tree_roots
 *   MEMBER_RESULTS    likewise, and of a reduction by groups: the result of segments that are
 *                     one slot, or empty; one for each segment
 *
 *   MEMBER_TILES      ravel::ptr<uint64_t>, of packs: the number of tiles taken, 0 at first; or
 *                     null, if there is one tile
 *   MEMBER_PACKING    ravel::packing, of packs: a list; one after the other
 *   MEMBER_KEPT       ravel::ptr<T>, where the values go that a PACK keeps
 *   MEMBER_SCATTER    ravel::scattering, of a group of scatters
 *   MEMBER_MOVED      ravel::ptr<T>, where the results of one of them go
 *   MEMBER_LOOP       ravel::looping, of the kernel of a loop
 *   MEMBER_CARRIED    ravel::ptr<T>, where a carried value waits for the next launch, one for
 *                     each position; `number`: the result of its NEXT. One whose result is
 *                     WRITTEN waits there
 *   MEMBER_UNFIT      ravel::ptr<int64_t>: becomes 1 where copies are unfit for their kernels;
 *                     those whose order does not matter do not have it
 *
 * Pointers are plain (T *), or have their layout. After these come `ravel::faults` and
 * `int64_t n`, the number of positions, of slots, or of the segments of a group. */
enum fused_member_kind {
  MEMBER_OPERAND,
  MEMBER_SEGMENTS,
  MEMBER_WRITTEN,
  MEMBER_PARTIALS,
  MEMBER_TOTALS,
  MEMBER_ROOTS,
  MEMBER_RESULTS,
  MEMBER_TILES,
  MEMBER_PACKING,
  MEMBER_KEPT,
  MEMBER_SCATTER,
  MEMBER_MOVED,
  MEMBER_LOOP,
  MEMBER_CARRIED,
  MEMBER_UNFIT
};

struct fused_member {
  uint8_t kind;      /* enum fused_member_kind */
  uint8_t elem;      /* enum cvl_elem: T */
  uint8_t looked_up; /* SEGMENTS: the kernel looks up the segments of positions */
  uint32_t number;   /* of the value; of the flags of a PACKING; PARTIALS and what follows: of
                        the node */
};

/* Gathers from one parameter whose indices differ by known numbers; emit-kernel-stencil.h. */
struct fused_group {
  uint32_t param;
  uint32_t number; /* among the groups of this parameter */
  uint32_t lowest; /* the node of the gather with the lowest index */
  uint32_t count;  /* of its gathers */
};

/* A parameter of which blocks keep windows in their memory. */
struct fused_windowed {
  uint32_t param;
  uint32_t far; /* a descriptor whose total is its length */
  uint32_t groups, windows;
};

struct fused_kernel {
  const struct superop *op;
  struct widths widths;
  struct tuning tuning; /* all values */
  bool is_empty;        /* there is nothing for a kernel to do */
  bool by_slots;        /* a warp for each slot of the descriptor op->segments, in blocks of
                           block_slots; else a thread for each position, but: */
  bool by_groups;  /* a block of FUSED_BLOCK_THREADS for so many segments of op->segments as the
                      host likes, at most as many as threads; and behind these blocks one for
                      each FUSED_GROUP_WARPS candidates (chunks.hpp) of segments longer than a
                      slot, if there may be some */
  uint32_t scan;   /* not SUPEROP_NONE: the scan of a kernel for nothing else, which takes the
                      members of scans.hpp's structs: of scan_pass, or scan_chunks if... */
  bool scans_long; /* ... this */
  uint32_t scatter; /* not SUPEROP_NONE: the first scatter of the group of a kernel for nothing
                       else, a thread for each source; or for each result, if it is not of
                       PERMUTEs and not... */
  bool claims;      /* ... this */
  uint32_t loop;    /* not SUPEROP_NONE: the first node of the loop of this kernel */
  bool by_packs; /* a block of FUSED_BLOCK_THREADS for each tile of fused_kernel_tile positions
                    of op->segments, which are not none: packs.hpp */
  uint32_t block_slots;     /* tuned, but 1 with combinations inside */
  uint32_t block_positions; /* not 0: a block of FUSED_BLOCK_THREADS for so many positions,
                               which keeps windows in its memory of what is gathered from: */
  uint32_t block_bytes;     /* of all windows */
  uint32_t windowed_count, group_count;
  struct fused_windowed *windowed;
  struct fused_group *groups;
  uint32_t *group; /* of every node: of a gather that may read a window, else SUPEROP_NONE */
  struct fused_schedule schedule; /* not of copies; from it: */
  uint8_t *tasks;                 /* enum fused_task, of every node */
  bool *written;                  /* of every value: the kernel writes it */
  bool *spread;   /* of every value: the result of a DIST or INDEX that is needed after the
                     kernel, and is to be made by the library, which keeps it virtual */
  bool *read;     /* of every value: the kernel reads its elements */
  bool *reported; /* of every value: the report of an ASSERT depends on it */
  uint32_t member_count;
  struct fused_member *members;
  bool copies;               /* it is one of a superoperator of copies; then also: */
  bool checks;               /* it is the one that checks */
  bool *single;              /* of every value: it has to be a descriptor of one segment */
  uint32_t over_count;       /* the number of positions is the greatest of these */
  struct superop_size *over; /* TOTAL or COUNT of parameters, or the length of a result */
};

enum { FUSED_BLOCK_THREADS = 256, FUSED_GROUP_WARPS = FUSED_BLOCK_THREADS / 32 };

/* What else a kernel leaves to the library, and what it is for, as a set of bits:
 *
 *   LEAVE_SPREADS     results of DIST and INDEX that are needed after it are `spread`, not
 *                     `written`
 *   SHORT_SEGMENTS    reductions by groups; not with combinations
 *   PACK_INSIDE       the kernel packs, too; no reductions and combinations
 *   PACK_ONLY         the kernel only packs; another kernel does the rest
 *   PACK_ELSEWHERE    another kernel does the PACKs
 *   SCAN_ONLY(k)      the kernel computes what scan k needs, and scans that: scans.hpp
 *   SCAN_LONG         it scans segments of more than a chunk; without this bit, all others
 *   SCANS_ELSEWHERE   other kernels do the scans that have kernels of their own
 *   SCATTER_ONLY(k)   the kernel computes what the group of scatter k needs, and scatters that:
 *                     scatters.hpp. A group that is not of PERMUTEs has two kernels:
 *   SCATTER_CLAIMS, SCATTER_FETCHES
 *   SCATTERS_ELSEWHERE  other kernels do the groups that have kernels of their own
 *   LOOPS_ELSEWHERE   other kernels execute the loops, whose results are operands
 *   LOOP_ONLY(k)      the kernel computes what the loop that begins with node k carries,
 *                     executes it, and checks all nodes before it that the kernels of earlier
 *                     loops have not checked; the results of these loops are operands
 *   LOOP_LAST         it does everything after the loop, too */
enum {
  LEAVE_NOTHING = 0,
  LEAVE_SPREADS = 1,
  SHORT_SEGMENTS = 2,
  PACK_INSIDE = 4,
  PACK_ONLY = 8,
  PACK_ELSEWHERE = 16,
  SCANS_ELSEWHERE = 32,
  SCAN_LONG = 64,
  SCAN_BIT = 128,
  SCATTERS_ELSEWHERE = 256,
  SCATTER_BIT = 512,
  SCATTER_CLAIMS = 1024,
  SCATTER_FETCHES = 2048,
  LOOPS_ELSEWHERE = 4096,
  LOOP_BIT = 8192,
  LOOP_LAST = 16384,
  NODE_SHIFT = 16 /* above: the node of SCAN_BIT, SCATTER_BIT, LOOP_BIT */
};
#define SCAN_ONLY(k)    ((unsigned)SCAN_BIT | (unsigned)(k) << NODE_SHIFT)
#define SCATTER_ONLY(k) ((unsigned)SCATTER_BIT | (unsigned)(k) << NODE_SHIFT)
#define LOOP_ONLY(k)    ((unsigned)LOOP_BIT | (unsigned)(k) << NODE_SHIFT)

/* How many kernels a superoperator has, other than those of copies and combinations, and what
 * each leaves besides: one, which packs if there is nothing to reduce; a second one may pack,
 * and is then to be launched first; and one for each of some scans and groups of scatters, or
 * two. They are left to the library where they need much that would have to be computed twice.
 * Loops have kernels, which are to be launched first, in this order; that of the last loop does
 * the rest, too, if it has no consumers and nothing to check. A superoperator with more than
 * FUSED_LOOPS loops has no kernels. */
enum {
  FUSED_SCANS = 4,
  FUSED_SCATTERS = 2,
  FUSED_LOOPS = 8,
  FUSED_KERNELS = 2 + FUSED_SCANS + 2 * FUSED_SCATTERS + FUSED_LOOPS
};
bool fused_has_too_many_loops(const struct superop *);
uint32_t fused_kernels(const struct superop *, unsigned leave[FUSED_KERNELS]);
/* The positions of a tile of a kernel by packs. */
unsigned fused_kernel_tile(const struct fused_kernel *);
/* The positions of a group that find room in a block's memory. */
unsigned fused_kernel_staged(const struct fused_kernel *);

/* Plans the kernel, in the arena. `tuning`: NULL, or values other than the defaults. */
void fused_kernel_plan(struct arena *, const struct superop *, struct widths, unsigned leave,
                       const struct tuning *, struct fused_kernel *);

/* Writes the whole text for a kernel that is not empty: the functions of prelude.hpp, the
 * elementary functions if they are needed, struct NAME and its entry points NAME_kernel or
 * NAME_host. It includes only what NVRTC is not asked for, and is compiled as C++17 without
 * contraction of floating point (--fmad=false, -ffp-contract=off). */
void fused_emit_kernel(const struct fused_kernel *, const char *name, FILE *);

/* For how many positions a thread of the kernel loads before it stores: what a grid is made for
 * (map_tiles in prelude.hpp). 1 where positions are not divided among threads. */
unsigned fused_kernel_unroll(const struct fused_kernel *);

/* The kernels of the combination that begins with a node: of its type COLUMNS elements
 * `arrays`, in memory, and `operands`, in any form, the structs level_up and level_down of
 * combine-tree.hpp, without faults and n. A warp for each slot of the level, FUSED_TREE_BITS
 * bits more than its entries stand for; prefixes and totals of a level are in the slots of the
 * one below. */
enum fused_tree { TREE_UP, TREE_DOWN };
enum { FUSED_TREE_BITS = 10 };
void fused_emit_tree_body(const struct superop *, uint32_t first, enum fused_tree,
                          struct widths, const char *name, FILE *);
void fused_emit_tree_entry(const char *name, FILE *);
/* The elements that MEMBER_ROOTS needs if all segments together have `total`, and level_up for
 * all its levels. */
uint64_t fused_tree_roots(uint64_t total);

/* ---- copies ---- */

/* Whether a superoperator of copies has kernels: its scatters are by runs. Kernel 0 checks, if
 * it is not empty: it reports indices out of range as the nodes would, and the others are
 * harmless then. They are wrong only where all runs of a scatter are in one segment, and
 * overlap, or are not in order, or leave it. Kernel 0 finds that out (MEMBER_UNFIT). Each of
 * the others gives the results of one size. */
bool fused_copy_is_fit(const struct superop *);
uint32_t fused_copy_kernels(const struct superop *);
void fused_copy_kernel_plan(struct arena *, const struct superop *, uint32_t number,
                            struct widths, const struct tuning *, struct fused_kernel *);

/* ---- sources ---- */

/* A plan with its text, in memory of their own. */
struct fused_source {
  struct fused_kernel kernel; /* of a combination: without a plan */
  bool is_tree;               /* it is of the combination that begins with node `first` */
  uint32_t first;
  enum fused_tree which;
  const char *text; /* NULL if the kernel is empty */
  char key[40];     /* "fused_" and 32 digits made from the text: what the kernel is called in a
                       module compiled ahead of time (fused_emit_cuda) */
  struct fused_source_memory *memory;
};

/* Plans and writes a kernel called `name`; the superoperator is borrowed and must last as long.
 * False if memory fails. */
bool fused_source_make(const struct superop *, struct widths, unsigned leave,
                       const struct tuning *, const char *name, struct fused_source *);
/* Does the same for a kernel of copies. */
bool fused_source_make_copy(const struct superop *, uint32_t number, struct widths,
                            const struct tuning *, const char *name, struct fused_source *);
/* Does the same for a kernel of a combination. */
bool fused_source_make_tree(const struct superop *, uint32_t first, enum fused_tree,
                            struct widths, const char *name, struct fused_source *);
void fused_source_free(struct fused_source *);
/* The text of a module with these kernels, each under its key: not empty, of different keys and
 * of the same widths. In memory of malloc, NULL if there is none. */
char *fused_module_text(const struct fused_source *const *, uint32_t count);
/* One of them there: its body and its entry point. */
void fused_emit_source(const struct fused_source *, FILE *);

/* The text in three functions: the beginning, once for all kernels of a file in the same
 * widths; the body of a kernel; its entry points. */
void fused_emit_kernel_prelude(const struct superop *const *, uint32_t count, struct widths,
                               FILE *);
void fused_emit_kernel_body(const struct fused_kernel *, const char *name, FILE *);
void fused_emit_kernel_entry(const struct fused_kernel *, const char *name, FILE *);

#endif
