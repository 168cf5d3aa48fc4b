/* affine-nodes.h - the nodes of a superoperator that are arithmetic on positions: an index that
 * is `start + j * stride` for a while, and the comparisons that say how long. A back end may
 * interpret them symbolically instead of executing them (cvl-cpu/fused/affine-gather.c).
 */
#ifndef RAVEL_FUSED_AFFINE_NODES_H
#define RAVEL_FUSED_AFFINE_NODES_H

#include "cvl/superop.h"

/* What is known of every node. */
struct fused_affine_nodes {
  bool *affine; /* affine over runs, if its segments are long enough */
  bool
      *divides; /* ... and computed from a quotient or remainder: its stride may change often */
  bool *analysed; /* to be interpreted: for the index of a gather, or for a map that is no such
                     arithmetic itself; and the gathers by such an index */
};

/* Fills in the arrays, which are all false. Nothing where there are loops. */
void fused_affine_nodes_find(const struct superop *, struct fused_affine_nodes *);

#endif
