/* map.h - elementwise kernels: one for each row of operations.def and pair of widths.
 */
#ifndef RAVEL_CPU_KERNELS_MAP_H
#define RAVEL_CPU_KERNELS_MAP_H

#include "cvl-cpu/kernels/kernels.h"
#include "tables/tables.h"

/* Computes out[i] from in[0][i] ... for i < n. `out` may be one of the inputs if elements have
 * the same size. Returns n, or the first element at fault; out is then partly written. */
typedef uint64_t map_kernel(uint64_t n, const void *const *in, void *out);

struct map_entry {
  map_kernel *run; /* NULL: there is no such row */
  uint8_t out;     /* enum cvl_elem */
  uint8_t error;   /* enum cvl_error_kind for a checked row, else CVL_E_NONE */
};

/* All rows for one choice of widths, by operation and by class of the last operand. */
struct map_rows {
  struct map_entry row[OP_COUNT][3];
};

struct map_kernels {
  struct map_rows widths[2][2]; /* [INT is 64 bits][FLOAT is 64 bits] */
};

#endif
