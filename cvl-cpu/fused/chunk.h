/* chunk.h - evaluation of a chunk of the domain. Private to this folder. */
#ifndef RAVEL_CPU_FUSED_CHUNK_H
#define RAVEL_CPU_FUSED_CHUNK_H

#include "cvl-cpu/fused/worker.h"

/* Bodies for pool_for over the path of k->segments, or over positions. */
void fused_chunk(void *kernel, uint64_t first, uint64_t last, unsigned worker);
void fused_plain_chunk(void *kernel, uint64_t first, uint64_t last, unsigned worker);

#endif
