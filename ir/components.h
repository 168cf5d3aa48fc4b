/* components.h - strongly connected components of a graph, callees before callers. R. E.
 * Tarjan, Depth-first search and linear graph algorithms, 1972. */
#ifndef RAVEL_IR_COMPONENTS_H
#define RAVEL_IR_COMPONENTS_H

#include "base/arena.h"
#include <stdbool.h>
#include <stdint.h>

/* Node i has the edges to targets[first[i] .. first[i + 1]). */
struct graph {
  uint32_t count; /* nodes */
  const uint32_t *first, *targets;
};

struct components {
  uint32_t count;
  uint32_t *order; /* all nodes, component by component; of two components that are connected
                      the one that edges lead to comes first */
  uint32_t *first; /* component c is order[first[c] .. first[c + 1]) */
  uint32_t *component; /* of each node */
  bool *cyclic;        /* per node: edges lead from it to itself, perhaps through others */
  bool *reachable;     /* per node: from the root */
};

/* Takes linear time, and keeps a stack of its own, since paths may be long. Memory is the
 * arena's. */
struct components components_make(struct arena *, const struct graph *, uint32_t root);

/* The number of no node. */
#define COMPONENTS_NONE UINT32_MAX

/* Adds to the reachable nodes what links lead to: links[i] is a node that is reachable where
 * node i is, or COMPONENTS_NONE. */
void components_reach(struct arena *, const struct graph *, struct components *,
                      const uint32_t *links);

#endif
