/* trace.h - the times of executed instructions, as Chrome trace events: a JSON array of
 * complete events ("ph": "X") that chrome://tracing, Perfetto and speedscope show on a time
 * line.
 */
#ifndef RAVEL_TRACE_H
#define RAVEL_TRACE_H

#include "base/heap.h"
#include <stdio.h>

struct trace;

/* One executed instruction. */
struct trace_event {
  const char *name;       /* "+ INT", "FUSED 3" */
  const char *category;   /* kind of instruction */
  const char *line;       /* "file:line:column" */
  const char *function;   /* the function that contains it */
  const char *formula;    /* formula of a superoperator; or NULL */
  uint64_t elements;      /* elements of the longest operand or result; instances */
  unsigned thread;        /* 0: the one that executes the program */
  double begin, duration; /* seconds; begin is a time of stop_clock */
};

/* The most events, of some 200 bytes each; more than viewers open. */
enum { TRACE_MAX_EVENTS = 1 << 20 };

/* Begins the array; `now` is time 0. After `most` events a last one says that more are left
 * out. Returns NULL if memory runs out. The file is borrowed. */
struct trace *trace_new(struct heap *, FILE *, double now, uint64_t most);
/* Ends the array and flushes; NULL is ignored. */
void trace_free(struct trace *);
void trace_write(struct trace *, const struct trace_event *);

#endif
