/* fused.h - declarations that the files of combinations share. Private to fused*.c of this
 * folder.
 */
#ifndef RAVEL_CPU_FUSED_COMBINE_H
#define RAVEL_CPU_FUSED_COMBINE_H

#include <string.h>

#include "cvl-cpu/fused/plan.h"

/* Kernels combine COMBINE_BATCH pairs at a time. */
enum { COMBINE_BATCH = 256, COMBINE_LINE = 64, COMBINE_WIDEST = sizeof(uint64_t) };

static inline size_t combine_lines(size_t bytes) {
  return (bytes + COMBINE_LINE - 1) / COMBINE_LINE * COMBINE_LINE;
}

/* The function of a combination, evaluated or compiled as the run is. Its buffers take
 * combine_buffer_bytes, and get the constants of the function. */
size_t combine_buffer_bytes(const struct fused_combination *);
struct fused_function combine_function(const struct cvl_kernel *,
                                       const struct fused_combination *, char *buffers);

/* Returns the columns from position p on. */
static inline struct order_columns
combine_columns(const struct combine_worker *w, const struct fused_combination *c, uint64_t p) {
  struct order_columns x = {{NULL}};
  for (uint32_t j = 0; j < c->columns; j++)
    x.at[j] = w->columns[c->first_column + j] + (p - w->origin) * c->bytes[j];
  return x;
}

/* Returns the columns from item i on. */
static inline struct order_columns combine_item(const struct fused_combination *c,
                                                const struct order_columns *x, uint64_t i) {
  struct order_columns at = {{NULL}};
  for (uint32_t j = 0; j < c->columns; j++) at.at[j] = x->at[j] + i * c->bytes[j];
  return at;
}

/* Copies an element, as memcpy does, but without a call. */
static inline void combine_copy(char *to, const char *from, size_t bytes) {
  if (bytes == sizeof(uint64_t))
    memcpy(to, from, sizeof(uint64_t));
  else if (bytes == sizeof(uint32_t))
    memcpy(to, from, sizeof(uint32_t));
  else
    *to = *from;
}

/* Sets item i of the results to the identity of segment k. */
static inline void combine_put_identity(const struct fused_combination *c, uint64_t i,
                                        uint64_t k) {
  for (uint32_t j = 0; j < c->columns; j++) {
    combine_copy(c->out.at[j] + i * c->bytes[j], c->identity[j] + k * c->identity_step[j],
                 c->bytes[j]);
  }
}

/* The number of items for a range of a scan: one for each tile, and what follows the last
 * one. */
static inline uint64_t combine_scan_items(const struct cvl_kernel *k) {
  return k->run.most_positions / ORDER_TILE + 3;
}

#endif
