/* radix.h - the baseline of RANK: a plain radix sort of (key, index) pairs, and the scatter. */
#ifndef RAVEL_BENCH_RADIX_H
#define RAVEL_BENCH_RADIX_H

#include "bench/measure.h"

/* Seconds to rank n keys of 4 or 8 bytes, compared as unsigned, stably: rank[i] is the position
 * of key i, of the same width. `work` has room for 4 * n words and is written to, keys are not.
 */
double radix_rank_seconds(const struct measure_options *, size_t n, size_t word_bytes,
                          const void *keys, void *rank, void *work, unsigned threads);

#endif
