/* trace.h - what was executed when, as Chrome trace events: a JSON array of complete events
 * ("ph": "X") that chrome://tracing, Perfetto and speedscope show on a time line.
 */
#ifndef RAVEL_TRACE_H
#define RAVEL_TRACE_H

#include "base/heap.h"
#include <stdio.h>

struct trace;

/* One executed instruction. */
struct trace_event {
  const char *name;       /* "+ INT", "FUSED 3" */
  const char *category;   /* what sort of instruction */
  const char *line;       /* "file:line:column" */
  const char *function;   /* it stands in */
  const char *formula;    /* of a superoperator; or NULL */
  uint64_t elements;      /* of the longest operand or result */
  double begin, duration; /* seconds; begin as machine_clock counts */
};

/* Of some 200 bytes each: more than viewers open. */
enum { TRACE_MAX_EVENTS = 1 << 20 };

/* Begins the array; `now` is time 0. Events after so many are left out, and a last one says so.
 * NULL: no memory. The file is borrowed. */
struct trace *trace_new(struct heap *, FILE *, double now, uint64_t most);
/* Ends the array and flushes; NULL is ignored. */
void trace_free(struct trace *);
void trace_write(struct trace *, const struct trace_event *);

#endif
