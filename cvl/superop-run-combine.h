/* superop-run-combine.h - the state of a combination while it is executed, and its vector
 * operations. Private to superop-run-combine.c and superop-run-columns.c.
 *
 * A vector operation holds its result: combination.held has the reference. After a fault, when
 * `ok` is false, operations do nothing and return a value without form.
 */
#ifndef RAVEL_CVL_SUPEROP_RUN_COMBINE_H
#define RAVEL_CVL_SUPEROP_RUN_COMBINE_H

#include "cvl/superop-run.h"

enum {
  LEVELS = 64,
  TEMPORARIES = 64, /* held at a time, besides the values of levels */
  HELD = LEVELS * (SUPEROP_COLUMNS_MAX + 4) + TEMPORARIES
};

/* A level of the trees. All vectors have length n, except `right`. */
struct level {
  uint64_t n;
  struct cvl_value x[SUPEROP_COLUMNS_MAX];
  struct cvl_value position; /* position of each element in its segment of this level */
  struct cvl_value length;   /* length of that segment */
  struct cvl_value right;    /* indices of the right elements of pairs */
};

struct run_combination {
  struct node_run *r;
  struct superop_combination at;
  uint64_t site; /* site of node 0 */
  bool scan;     /* whether all prefixes are wanted, or only those of last elements */
  bool ok;       /* false after a fault: then nothing is executed any more */
  enum cvl_elem int_elem;
  struct cvl_value held[HELD]; /* references, which `release_to` gives back */
  uint32_t held_count;
  uint32_t level_count;
  struct level levels[LEVELS];
  struct node_run inside; /* executes f, on other values than `r` */
  struct cvl_value values[SUPEROP_VALUES_MAX];
  uint32_t constants[SUPEROP_VALUES_MAX]; /* DISTs of a CONST that f reads */
  uint32_t constant_count;
};

/* Returns the consumer of a column. */
const struct superop_node *comb_consumer(const struct run_combination *, uint32_t column);

/* ---- what is held ---- */

/* Holds the result of an operation; `made` is false after a fault. */
struct cvl_value comb_hold(struct run_combination *, bool made, const struct cvl_value *);
/* Releases what is held since held_count was `mark`. */
void comb_release_to(struct run_combination *, uint32_t mark);
/* Releases the same values, except the `count` values of `keep`, each of which is held once
 * afterwards. */
void comb_release_others(struct run_combination *, uint32_t mark, struct cvl_value *const *keep,
                         uint32_t count);

/* ---- vector operations ---- */

/* Returns the length of a vector. Waits. */
uint64_t comb_length_of(struct run_combination *, const struct cvl_value *);
/* Returns an INT scalar. */
struct cvl_value comb_number(const struct run_combination *, int64_t);
/* Return a scalar repeated n times, and an element for each segment, spread over the
 * segment. */
struct cvl_value comb_flat(struct run_combination *, struct cvl_value, uint64_t n);
struct cvl_value comb_spread(struct run_combination *, struct cvl_value, struct cvl_value d);
/* Returns first, first + 1, ..., n of them. */
struct cvl_value comb_count_up(struct run_combination *, uint64_t first, uint64_t n);
/* Execute an elementwise operation on two vectors, and on a vector of n elements and a
 * number. */
struct cvl_value comb_map(struct run_combination *, enum cvl_op, struct cvl_value,
                          struct cvl_value);
struct cvl_value comb_map_number(struct run_combination *, enum cvl_op, struct cvl_value,
                                 int64_t, uint64_t n);
/* Executes a permutation of any form. */
struct cvl_value comb_move(struct run_combination *, enum cvl_op, struct cvl_permute);
/* Returns n elements of v, which has `of` elements. */
struct cvl_value comb_gather(struct run_combination *, struct cvl_value v, uint64_t of,
                             struct cvl_value index, uint64_t n);
/* Returns a copy of `into`, which has `of` elements, with n of them replaced. */
struct cvl_value comb_scatter(struct run_combination *, struct cvl_value v,
                              struct cvl_value index, uint64_t n, struct cvl_value into,
                              uint64_t of);
/* Returns the indices of the flags that are T, among n. */
struct cvl_value comb_where(struct run_combination *, struct cvl_value flags, uint64_t n);

/* ---- the function ---- */

/* Finds the constants that comb_compute needs. */
void comb_find_constants(struct run_combination *);
/* Computes f of n pairs. Their right elements are at `index` of y, and their left ones one
 * position before in x; both have `of` elements. `out` gets a value for each column. */
void comb_compute(struct run_combination *, const struct cvl_value *x,
                  const struct cvl_value *y, uint64_t of, struct cvl_value index, uint64_t n,
                  struct cvl_value *out);

#endif
