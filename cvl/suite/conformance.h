/* conformance.h - holds a back end to the contract of cvl.h.
 *
 * The suite reaches a back end only through its table of functions, and compares everything
 * with the oracle. It runs every operation and class of element (the list is made from the
 * tables), lengths around every block size, all shapes of segments, special values, every form
 * and ownership of operands, faults, and failing allocations. Bits must agree, except that any
 * NaN is as good as another (cvl.h). The oracle has elementary functions of its own, from which
 * a back end may differ by CONFORMANCE_ULPS. All back ends have the bits of cvl_scalar_op, at
 * any position and with any number of threads.
 */
#ifndef RAVEL_CVL_CONFORMANCE_H
#define RAVEL_CVL_CONFORMANCE_H

#include "cvl/cvl.h"
#include <stdio.h>

enum { CONFORMANCE_ULPS = 2, CONFORMANCE_THREADS_MAX = 16 };

struct conformance_options {
  enum cvl_elem int_elem, float_elem;
  unsigned threads[CONFORMANCE_THREADS_MAX]; /* the suite runs once for each */
  /* 0: the suite runs once, with all threads of the machine */
  size_t threads_count;
  int device; /* passed to open; -1: any */
  uint64_t seed;
  const char *compile_directory; /* all superoperators are compiled into it; NULL: none is */
  bool compile_waits;            /* whether to wait for the compiler */
  const char *only;            /* NULL, or an item: "ADD_SCAN.FLOAT", all classes: "ADD_SCAN" */
  unsigned shard, shards;      /* items of shard 0 .. shards-1; shards 0: all */
  const struct tuning *tuning; /* passed to open */
  /* elementwise results must have the bits of cvl_scalar_op, rather than the oracle's */
  bool folds;
  bool full;      /* more seeds, and all shapes at the large lengths */
  bool all_forms; /* operands have all forms, even in a brief run */
  bool brief;     /* no large lengths, half of the shapes, fewer random values and
                     superoperators */
  FILE *out;      /* gets failures, each with a command that reproduces it */
};

struct conformance_result {
  uint64_t items, cases, failures;
};

/* Runs the suite on b. An item stops at its first failure. */
struct conformance_result conformance_run(const struct cvl_backend *b,
                                          const struct conformance_options *);
/* Prints the names of all items. */
void conformance_list(FILE *);

#endif
