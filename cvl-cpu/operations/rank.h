/* rank.h - the common loop of ranking and sorting over segments, which handles short, medium
 * and long ones in three ways (rank.c).
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
  size_t room_each;       /* bytes of room that medium_segment needs for an element */
  /* Short segments, by the kernels: row->segments or row->ordered. */
  uint64_t (*short_segments)(const void *x, const uint64_t *offsets, uint64_t count, void *out);
  /* A segment of n elements at position p, by one thread. */
  void (*medium_segment)(const struct rank_job *, uint64_t p, uint64_t n, char *room);
  /* The same by all threads together; false: a fault was reported. */
  bool (*long_segment)(struct cvl_context *, uint64_t site, const struct rank_job *, uint64_t p,
                       uint64_t n);
  /* Set by rank_run. */
  uint64_t long_from; /* all threads together do a segment of more elements */
  char *room;
  size_t room_bytes;       /* of each worker */
  uint64_t *long_segments; /* [w]: 1 + the one that starts in window w of long_from positions */
};

/* Of the vector under a descriptor, without what says how each segment is done. */
struct rank_job rank_job_of(const struct cvl_context *, const struct cvl_value *v,
                            const struct cvl_value *d, bool down);
/* Ranks or sorts all segments into a new vector of this element; false: a fault was reported.
 */
bool rank_into(struct cvl_context *, uint64_t site, struct rank_job *, enum cvl_elem,
               struct cvl_value *out);
/* The range of the keys of all chunks. */
struct radix_keys rank_all_keys(const struct radix_keys *, uint64_t chunks);

#endif
