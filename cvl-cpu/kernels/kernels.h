/* kernels.h - the kernels of one instruction set: sequential loops over raw arrays.
 *
 * Each kernels-NAME.c is compiled once per instruction set with KERNEL_SET defined as the name
 * of the set, and exports one constant table, `NAME_kernels` with the set's name appended.
 * kernels.c collects the tables of a set into a struct cpu_kernels and picks the set when a
 * context opens. All sets give the same bits. Nothing else may be visible in a kernel file:
 * a function of the same name from two sets would be one function to the linker.
 *
 * To add a kernel file: its table's struct in a header of its own, a pointer here, its line in
 * kernels.c, its name in KERNEL_FILES of CMakeLists.txt.
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

/* The best set that this program contains and this processor runs. */
const struct cpu_kernels *cpu_kernels_choose(void);
/* Set number i from the plainest, or NULL: for tests that compare them. */
const struct cpu_kernels *cpu_kernels_numbered(unsigned i);

/* KERNEL(name) is the name in the set being compiled: map_kernels_baseline ... */
#define KERNEL_PASTE(name, set)  name##_##set
#define KERNEL_OF_SET(name, set) KERNEL_PASTE(name, set)
#define KERNEL(name)             KERNEL_OF_SET(name, KERNEL_SET)

/* Elementwise loops may overwrite an input element by element, and have no other overlap: no
 * iteration depends on another. */
#ifdef __clang__
/* A set may lack the instructions, which is no fault of the loop. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#endif
