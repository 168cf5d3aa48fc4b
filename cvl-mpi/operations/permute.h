/* permute.h - the data of one gather or scatter, shared by permute.c and gather.c. */
#ifndef RAVEL_MPI_PERMUTE_H
#define RAVEL_MPI_PERMUTE_H

#include "cvl-mpi/exchange/moves.h"

#include <string.h>

struct permutation {
  enum cvl_op op;
  const struct cvl_permute *a;
  uint64_t site;
  bool gathers;
  struct cvl_segdes *near, *far; /* `near`: descriptor of the elements that have indices; `far`:
                                    of those that indices refer to */
  const struct view *view;       /* view of `near` */
  uint64_t *begin; /* positions in `far` where the segments of this rank's block begin */
  struct distribution *at, *far_at; /* distributions of the elements of `near` and `far` */
  struct mpi_range block;           /* this rank's block of `at` */
  size_t bytes;                     /* size of an element */
  size_t wide;                      /* bytes of a position within a block */
  int64_t *positions; /* for each element of the block the position in `far`, or NOT_SENT; NULL:
                         poisoned */
  uint64_t *out, *in; /* numbers of elements that go to each rank, and come from each */
  uint64_t out_total, in_total;
  uint64_t *order; /* indices of the elements of the block that are sent, by rank */
  void *sent;      /* their positions within the block of the owner, by rank */
};

enum { NOT_SENT = -1 };

/* Read and write position k of an array with p->wide bytes each, at any alignment. */
static inline uint64_t position_at(const struct permutation *p, const void *positions,
                                   uint64_t k) {
  const char *at = (const char *)positions + k * p->wide;
  uint64_t position;
  uint32_t narrow;
  if (p->wide == sizeof position) {
    memcpy(&position, at, sizeof position);
    return position;
  }
  memcpy(&narrow, at, sizeof narrow);
  return narrow;
}
static inline void put_position(const struct permutation *p, void *positions, uint64_t k,
                                uint64_t position) {
  char *at = (char *)positions + k * p->wide;
  const uint32_t narrow = (uint32_t)position;
  if (p->wide == sizeof position) {
    memcpy(at, &position, sizeof position);
  } else {
    memcpy(at, &narrow, sizeof narrow);
  }
}

/* The indices and flags of a block, in the host's memory; NULL: poisoned. */
struct reading {
  const void *index; /* of 32 bits if `narrow`, else of 64 */
  bool narrow;
  const uint8_t *flags; /* NULL: all are set */
  struct host_elements read[2];
  bool there;
};
struct reading reading_begin(struct cvl_context *, const struct permutation *);
void reading_end(struct cvl_context *, struct reading *);

static inline int64_t index_at(const struct reading *r, uint64_t i) {
  return r->narrow ? ((const int32_t *)r->index)[i] : ((const int64_t *)r->index)[i];
}

/* Returns whether an index is within segment k of the block's segments in `far`. */
static inline bool is_inside(const struct permutation *p, uint64_t k, int64_t index) {
  return (uint64_t)index < p->begin[k + 1] - p->begin[k];
}
/* Records the fault that the index of element i is outside. */
void fault_index(struct cvl_context *, const struct permutation *, uint64_t k, uint64_t i,
                 int64_t index);

/* find_positions sets p->positions, to NULL if they are not available. Then group_positions
 * sets p->out, order and sent. If memory runs out it sets p->positions to NULL, and nothing is
 * sent. */
void find_positions(struct cvl_context *, struct permutation *, const struct reading *);
void group_positions(struct cvl_context *, struct permutation *);

static inline void copy_element(char *to, uint64_t i, const char *from, uint64_t k,
                                size_t bytes) {
  switch (bytes) {
  case 1: to[i] = from[k]; return;
  case 4: ((uint32_t *)(void *)to)[i] = ((const uint32_t *)(const void *)from)[k]; return;
  default: ((uint64_t *)(void *)to)[i] = ((const uint64_t *)(const void *)from)[k];
  }
}

/* Returns the block of the result; CVL_NOTHING if it is poisoned (gather.c). */
struct cvl_value gather(struct cvl_context *, struct permutation *);

#endif
