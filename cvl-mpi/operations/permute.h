/* permute.h - between permute.c and gather.c: one gather or scatter. */
#ifndef RAVEL_MPI_PERMUTE_H
#define RAVEL_MPI_PERMUTE_H

#include "cvl-mpi/private.h"

#include <string.h>

struct permutation {
  enum cvl_op op;
  const struct cvl_permute *a;
  uint64_t site;
  bool gathers;
  struct cvl_segdes *near, *far;    /* of the elements with indices; of what these count in */
  const struct view *view;          /* of `near` */
  uint64_t *begin;                  /* of the segments of the block: where these are in `far` */
  struct distribution *at, *far_at; /* where these elements are */
  struct range block;               /* of `at`, on this rank */
  size_t bytes;                     /* of an element */
  size_t wide;                      /* bytes of a position within a block */
  int64_t *positions; /* of each element of the block, or NOT_SENT; NULL: poisoned */
  uint64_t *out, *in; /* how many go to each rank, come from each, */
  uint64_t out_total, in_total;
  uint64_t *order; /* the elements of the block that are sent, by rank */
  void *sent;      /* positions, by rank: within the block of the owner */
};

enum { NOT_SENT = -1 };

/* Position k of several, of p->wide bytes each, which may lie anywhere. */
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

/* What a gather or scatter reads of a block: elements in the host's memory; NULL: poisoned. */
struct reading {
  const void *index; /* narrow: of 32 bits */
  bool narrow;
  const uint8_t *flags; /* NULL: all are set */
  struct lent lent[2];
  bool there;
};
struct reading reading_begin(struct cvl_context *, const struct permutation *);
void reading_end(struct cvl_context *, struct reading *);

static inline int64_t index_at(const struct reading *r, uint64_t i) {
  return r->narrow ? ((const int32_t *)r->index)[i] : ((const int64_t *)r->index)[i];
}

/* Whether index is one of the elements that segment k of the block counts in. */
static inline bool is_inside(const struct permutation *p, uint64_t k, int64_t index) {
  return (uint64_t)index < p->begin[k + 1] - p->begin[k];
}
/* It is not, of element i. */
void fault_index(struct cvl_context *, const struct permutation *, uint64_t k, uint64_t i,
                 int64_t index);

/* Sets p->positions, to NULL if they cannot be had; then p->out, order and sent, or, without
 * memory, p->positions to NULL: then nothing is sent. */
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

/* gather.c: the block of the result; poisoned if it is CVL_NOTHING. */
struct cvl_value gather(struct cvl_context *, struct permutation *);

#endif
