/* rank.h - the loop that ranking and sorting share. It handles short, medium and long segments
 * in three ways (rank.c).
 */
#ifndef RAVEL_CPU_RANK_H
#define RAVEL_CPU_RANK_H

#include "cvl-cpu/kernels/rank.h"

struct rank_job {
  struct segments s;
  const struct rank_row *row;
  const char *x;
  char *out;
  size_t element, result; /* bytes of an element, and of its result */
  size_t room_each;       /* bytes of scratch memory that medium_segment needs for an element */
  /* Handles short segments, by the kernels row->segments or row->ordered. */
  uint64_t (*short_segments)(const void *x, const uint64_t *offsets, uint64_t count, void *out);
  /* Handles a segment of n elements at position p on one thread. */
  void (*medium_segment)(const struct rank_job *, uint64_t p, uint64_t n, char *room);
  /* Handles such a segment on all threads together. False: a fault was reported. */
  bool (*long_segment)(struct cvl_context *, uint64_t site, const struct rank_job *, uint64_t p,
                       uint64_t n);
  /* Set by rank_run: */
  uint64_t long_from; /* segments of more elements are handled by all threads together */
  char *room;
  size_t room_bytes; /* scratch memory of each worker */
  /* [w]: 1 + the segment that starts in window w of long_from positions */
  uint64_t *long_segments;
};

/* Return jobs that rank or sort elements of this type, without elements and segments. */
struct rank_job rank_job_for(const struct cvl_context *, enum cvl_elem, bool down);
struct rank_job sort_job_for(const struct cvl_context *, enum cvl_elem, bool down);
/* Sets the elements and segments of a job. */
void rank_job_of(struct rank_job *, const struct cvl_value *v, const struct cvl_value *d);
/* Ranks or sorts the first n > 0 elements, as one segment, on the calling thread. `room` has
 * room for n * room_each bytes if n > RANK_SOME. */
void rank_alone(const struct rank_job *, uint64_t n, char *room);
/* Ranks or sorts all segments into a new vector of this element type. False: a fault was
 * reported. */
bool rank_into(struct cvl_context *, uint64_t site, struct rank_job *, enum cvl_elem,
               struct cvl_value *out);
/* Returns the range of the keys of all chunks. */
struct radix_keys rank_all_keys(const struct radix_keys *, uint64_t chunks);

#endif
