/* rank.h - what ranking and sorting share: the walk over segments, which are dealt with in
 * three ways as they are short, long or giant (rank.c).
 */
#ifndef RAVEL_CPU_RANK_H
#define RAVEL_CPU_RANK_H

#include "cvl-cpu/kernels-rank.h"

struct rank_job {
  struct segments s;
  const struct rank_row *row;
  const char *x;
  char *out;
  size_t element, result; /* bytes of an element, and of what becomes of it */
  size_t room_each;       /* bytes of room that `some` needs for an element */
  /* Short segments, from the kernels: row->segments or row->ordered. */
  uint64_t (*few)(const void *x, const uint64_t *offsets, uint64_t count, void *out);
  /* The segment of n elements at position p, by one thread. */
  void (*some)(const struct rank_job *, uint64_t p, uint64_t n, char *room);
  /* The same by all threads together; false: a fault was reported. */
  bool (*giant)(struct cvl_context *, uint64_t site, const struct rank_job *, uint64_t p,
                uint64_t n);
  /* Set by rank_run. */
  char *room;
  size_t room_bytes; /* of each worker */
  uint64_t *giants;  /* [w]: 1 + the giant that starts in window w of GIANT positions */
};

/* Deals with all segments; false: a fault was reported. */
bool rank_run(struct cvl_context *, uint64_t site, struct rank_job *);
/* Requires that the ranks within each segment fit an INT. */
bool ranks_fit(struct cvl_context *, uint64_t site, const struct segments *);
/* The range of the keys of all parts. */
struct radix_keys rank_all_keys(const struct radix_keys *, uint64_t parts);

#endif
