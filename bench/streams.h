/* streams.h - the machine's limit: how fast it can read and write so many streams at once, and
 * how fast it can gather and scatter, whatever is computed in between. */
#ifndef RAVEL_BENCH_STREAMS_H
#define RAVEL_BENCH_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#include "bench/measure.h"

enum { MOST_STREAMS = 8 };

/* Sequential streams, those read first, each with its own number of bytes. */
struct bench_streams {
  unsigned reads, writes;
  size_t bytes[MOST_STREAMS];
  unsigned best; /* the loop that was fastest, from 1; 0: not yet known */
};
size_t streams_bytes(const struct bench_streams *);

/* Returns the seconds to read and write them all once, by the best loop: with plain or
 * streaming stores, short or long chunks, with or without prefetching. Each loop is judged by
 * the median of some trials. Once the best one is known, only that is tried, once. `arena` has
 * at least streams_bytes and is written to. */
double streams_seconds(const struct measure_options *, void *arena, struct bench_streams *,
                       unsigned threads);

enum move { MOVE_GATHER, MOVE_SCATTER };
/* Returns the seconds for to[i] = from[index[i]] or to[index[i]] = from[i] over n elements of 4
 * or 8 bytes, with indices of 4 or 8 bytes, in a plain loop. */
double move_seconds(const struct measure_options *, enum move, size_t n, size_t elem_bytes,
                    const void *from, void *to, size_t index_bytes, const void *index,
                    unsigned threads);

#endif
