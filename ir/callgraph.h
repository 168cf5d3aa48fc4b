/* callgraph.h - the call graph of a program, cut into strongly connected components. */
#ifndef RAVEL_IR_CALLGRAPH_H
#define RAVEL_IR_CALLGRAPH_H

#include "ir/ir.h"

struct callgraph {
  uint32_t *order; /* all functions, component by component, callees before callers */
  uint32_t *first; /* component c is order[first[c] .. first[c+1]) */
  uint32_t count;  /* components */
  bool *recursive; /* per function: it may call itself, perhaps indirectly */
  bool *reachable; /* per function: by calls from the entry function, and by links to procedures
                    */
  bool *may_exit;  /* per function: an EXIT may happen in it or beneath it */
};

/* Makes the graph of all CALL instructions, reached or not, in linear time, however deep calls
 * are. Memory is the arena's. */
struct callgraph callgraph_make(struct arena *, const struct vcode_program *);

#endif
