/* superop.h - random superoperators for the conformance suite. Private to superop*.c of this
 * folder.
 *
 * A case is a superoperator together with a recipe for the data of each parameter, so that one
 * superoperator, prepared once, can be run on many lengths and shapes.
 */
#ifndef RAVEL_CVL_CONFORMANCE_SUPEROP_H
#define RAVEL_CVL_CONFORMANCE_SUPEROP_H

#include "cvl/suite/suite.h"
#include "cvl/superop.h"

enum { SUPEROP_PARAMS = 90, SUPEROP_NODES = 120 };

/* How the data of a parameter is made, for n positions in the shape of the run. */
enum data_kind {
  DATA_ELEMENTS,    /* vector of n */
  DATA_NONZERO,     /* INT, n: no zeros */
  DATA_TRUE,        /* BOOL, n: all true */
  DATA_SEGMENTS,    /* descriptor of total n in the shape of the run */
  DATA_ONE,         /* one segment of n */
  DATA_OTHER,       /* descriptor of total n in another shape */
  DATA_ROWS,        /* descriptor of n segments, none empty */
  DATA_PICK,        /* INT, n: an element of each segment of descriptor `of` */
  DATA_PARTNER,     /* descriptor with as many segments as `of`, for indices to point into */
  DATA_INDEX,       /* INT, n: indices of the segments of `of` into those of `into` */
  DATA_SOUND,       /* the same indices, never wrong */
  DATA_PERMUTATION, /* INT, n: a permutation of each segment of `of` */
  DATA_VALUES,      /* vector as long as the total of descriptor `of` */
  DATA_PER_SEGMENT, /* vector with an element for each segment of `of` */
  DATA_ZEROS,       /* vector with a 0 for each segment of `of` */
  DATA_ONES,        /* vector with a 1 for each segment of `of` */
  DATA_ALIAS        /* the same object as parameter `of` */
};

/* `of`, `into` and `flags` are parameters with lower numbers. */
struct recipe {
  uint8_t data; /* enum data_kind */
  uint32_t of, into;
  /* for INDEX: indices are arbitrary where this is clear; SUPEROP_NONE: nowhere */
  uint32_t flags;
};

/* The contents of a superoperator: how many nodes of each kind. */
struct mixture {
  uint32_t maps, spreads, gathers, reductions, scans, packs, scatters, asserts,
      loops, /* upper bounds, except asserts and loops */
      combinations;
  bool copies;      /* it is a superoperator of copies, and nothing else */
  bool approximate; /* with functions that differ between back ends */
  bool wild;        /* with indices, divisors and flags that may be wrong */
};

struct superop_case {
  struct superop op;
  uint8_t params[SUPEROP_PARAMS];
  struct recipe recipes[SUPEROP_PARAMS];
  struct superop_node nodes[SUPEROP_NODES];
  uint32_t outputs[2 * SUPEROP_NODES];
  bool approximate; /* it contains a function that is not exact */
  bool wild;
  struct copies_case *copies; /* or NULL */
  struct computed *computed;  /* how parameters are uploaded in this run; or NULL */
};

/* Makes a random superoperator of this mixture, completed in the arena. False after recording a
 * failure, since the generator must make valid ones. */
bool superop_case_make(struct suite *, struct arena *, const struct mixture *,
                       struct superop_case *);
/* Makes data for its parameters, with about n positions. host_free frees these host values,
 * except aliases, which have the memory of another. `spoil`: some indices and divisors are
 * wrong. */
void superop_case_data(struct suite *, const struct superop_case *, uint64_t n, enum shape,
                       bool spoil, struct host_value *params);
void superop_case_free_data(struct suite *, const struct superop_case *,
                            struct host_value *params);
/* Make a superoperator of copies, and its data: copies.c, copies-data.c. */
bool superop_copies_make(struct suite *, struct arena *, const struct mixture *,
                         struct superop_case *);
void superop_copies_data(struct suite *, const struct superop_case *, uint64_t n, bool spoil,
                         struct host_value *params);
/* Prints the case, to find out why it failed. */
void superop_case_print(const struct superop_case *, FILE *);

#endif
