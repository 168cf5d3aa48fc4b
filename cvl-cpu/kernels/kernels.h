/* kernels.h - the kernels of one instruction set: sequential loops over raw arrays.
 *
 * Each kernel file is compiled once per instruction set, with KERNEL_SET defined as the name of
 * the set. It exports one constant table, `NAME_kernels` with the set's name appended.
 * kernels.c collects the tables of a set in a struct cpu_kernels, and a context picks a set
 * when it opens. All sets give the same bits. A kernel file must export nothing else: the
 * linker would take two functions of the same name from two sets for one.
 *
 * To add a kernel file, write a header with its table's struct, and add a pointer here, a line
 * in kernels.c and its name in KERNEL_FILES of CMakeLists.txt.
 */
#ifndef RAVEL_CPU_KERNELS_H
#define RAVEL_CPU_KERNELS_H

struct map_kernels;    /* map.h: elementwise operations */
struct move_kernels;   /* move.h: copies, expansions, gathers, packing */
struct random_kernels; /* random.h: Philox */
struct reduce_kernels; /* reduce.h */
struct scan_kernels;   /* scan.h */
struct rank_kernels;   /* rank.h */
struct copy_kernels;   /* copy.h: runs of segments */

struct cpu_kernels {
  const struct map_kernels *map;
  const struct move_kernels *move;
  const struct random_kernels *random;
  const struct reduce_kernels *reduce;
  const struct scan_kernels *scan;
  const struct rank_kernels *rank;
  const struct copy_kernels *copy;
};

/* Returns the best set that this program contains and this processor runs. */
const struct cpu_kernels *cpu_kernels_choose(void);
/* Returns set number i from the plainest, or NULL: for tests that compare the sets. */
const struct cpu_kernels *cpu_kernels_numbered(unsigned i);

/* KERNEL(name) is a name in the set that is being compiled: map_kernels_baseline ... */
#define KERNEL_PASTE(name, set)  name##_##set
#define KERNEL_OF_SET(name, set) KERNEL_PASTE(name, set)
#define KERNEL(name)             KERNEL_OF_SET(name, KERNEL_SET)

/* Marks a loop whose iterations do not depend on each other. It may overwrite an input element
 * by element, but input and output have no other overlap. */
#ifdef __clang__
/* Some sets lack the instructions to vectorise a loop, which is no fault of the loop. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#endif
