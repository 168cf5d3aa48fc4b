/* tile.h - tiles, executed by compiled functions. Private to this folder. */
#ifndef RAVEL_CPU_FUSED_TILE_H
#define RAVEL_CPU_FUSED_TILE_H

#include "cvl-cpu/fused/worker.h"

/* The bytes that a worker needs for the compiled function; sets them up. */
size_t fused_tile_bytes(const struct cvl_kernel *);
void fused_tile_set_up(struct fused_worker *, char *memory);
/* Begins a chunk at a position. */
void fused_tile_begin(struct fused_worker *, uint64_t position);
/* Executes the steps and packs for positions first .. first + n - 1, at most a tile; all of
 * them even after a fault: a stage has nodes from before and after it. False after a fault. */
bool fused_tile(struct fused_worker *, uint64_t first, uint64_t n);
#endif
