/* copies.h - random superoperators of copies. They consist of targets of scatters by runs.
 * Values of a target are gathered by runs, or are another target. Private to copies*.c.
 *
 * The numbers of parameters are noted when a target is made, and its data is made by them.
 */
#ifndef RAVEL_CVL_CONFORMANCE_COPIES_H
#define RAVEL_CVL_CONFORMANCE_COPIES_H

#include "cvl/suite/superop.h"

enum { COPIES_INPUTS = 3, COPIES_TARGETS = 2 };
#define NO_PARAM SUPEROP_NONE

/* The parameters of an INDEX. */
struct copies_index {
  uint32_t start, stride, runs; /* NO_PARAM as stride: 1 */
};

struct copies_input {
  uint32_t values; /* NO_PARAM: the inner target */
  bool gathered,
      reads_previous; /* reads_previous: values is an alias of the target's previous */
  struct copies_index from;
  uint32_t source, positions; /* if gathered; NO_PARAM as positions: the same as near */
  struct copies_index to;
  bool own_runs;           /* the runs of `from` are not those of `to` */
  uint32_t near;           /* all have as many segments as `far` */
  uint32_t each, own_each; /* one segment, with a position for each run of `to`, of `from` */
};

struct copies_target {
  uint32_t count, far;
  uint32_t previous; /* NO_PARAM: zeros */
  /* one segment, with a position for each segment of far; NO_PARAM: there is one */
  uint32_t groups;
  bool permutes; /* a PERMUTE: one input, whose near is far */
  struct copies_input inputs[COPIES_INPUTS];
};

struct copies_case {
  uint32_t count;
  struct copies_target targets[COPIES_TARGETS]; /* the inner target comes first */
};

#endif
