/* columns.h - reductions of segments of one length, column by column. Private to this folder.
 */
#ifndef RAVEL_CPU_FUSED_COLUMNS_H
#define RAVEL_CPU_FUSED_COLUMNS_H

#include "cvl-cpu/fused/worker.h"

/* Whether this run is by columns, all gathers affine. Reduces segments from
 * one on by columns; returns how many, 0 if not here. */
bool fused_columns_suit(const struct cvl_kernel *);
uint64_t fused_columns(struct fused_worker *, uint64_t segment, uint64_t last);
size_t fused_columns_bytes(const struct cvl_kernel *);

#endif
