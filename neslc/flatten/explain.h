/* explain.h - what became of the expressions of a program, if that is asked for. */
#ifndef RAVEL_NESLC_FLATTEN_EXPLAIN_H
#define RAVEL_NESLC_FLATTEN_EXPLAIN_H

#include "neslc/flatten/private.h"

/* Explains the code at a source location (no line is written if that is NULL): "sort takes
 * rounds". */
void explain(struct flattener *, const struct source *, uint32_t offset, const char *what,
             const char *became);
/* Whether the function that it became is lifted when all functions are made. */
void explain_by_instances(struct flattener *, const struct source *, uint32_t offset,
                          const char *what, uint32_t function);
void explain_specialisation(struct flattener *, const struct specialisation *);
void write_explanations(struct flattener *);

#endif
