/* history.c - recording operations and returns, and walking back through them. */
#include "vinterp/history.h"

#include "vinterp/machine-private.h"

/* An event is a kind in the two upper bits and a number below. */
enum event_kind {
  EVENT_OPERATION, /* its first location; above it, one less than its sites */
  EVENT_SEEN,      /* so many frames became visible */
  EVENT_RETURN     /* a visible frame went: the location it had been called from */
};

static const int event_shift = 62, sites_shift = 32;

static uint64_t event(enum event_kind kind, uint64_t number) {
  return (uint64_t)kind << event_shift | number;
}

bool history_reserve(struct history *h, struct heap *heap) {
  if (!h->events) h->events = heap_alloc(heap, HISTORY_CAPACITY * sizeof *h->events);
  return h->events != NULL;
}

void history_free(struct history *h, struct heap *heap) {
  heap_free(heap, h->events, HISTORY_CAPACITY * sizeof *h->events);
  *h = (struct history){0};
}

void history_operation(struct history *h, uint32_t location, uint32_t sites, uint64_t depth) {
  if (depth > h->visible) {
    h->events[h->count++] = event(EVENT_SEEN, depth - h->visible);
    h->visible = depth;
  }
  h->events[h->count++] =
      event(EVENT_OPERATION, (uint64_t)(sites - 1) << sites_shift | location);
}

void history_return(struct history *h, uint32_t caller, uint64_t depth) {
  h->events[h->count++] = event(EVENT_RETURN, caller);
  h->visible = depth - 1;
}

static bool trace_reserve(struct heap *heap, struct call_trace *trace, uint64_t n) {
  trace->callers = heap_alloc(heap, n * sizeof *trace->callers);
  trace->capacity = n;
  return trace->callers != NULL;
}

/* The trace was gathered with the outermost call first. */
static void reverse(struct call_trace *trace) {
  for (uint64_t i = 0, j = trace->count; i + 1 < j; i++) {
    j--;
    uint32_t t = trace->callers[i];
    trace->callers[i] = trace->callers[j];
    trace->callers[j] = t;
  }
}

bool history_find(const struct history *h, struct heap *heap, uint64_t age,
                  const struct frame *frames, struct call_trace *trace) {
  *trace = (struct call_trace){0};
  /* Undoing a return adds a frame, undoing nothing else does: so many fit in any case. */
  if (!trace_reserve(heap, trace, h->visible + h->count + 1)) return false;
  /* Frame 0, the entry function's, has no caller; it stands for itself in the counting. */
  for (uint64_t i = 0; i < h->visible; i++) trace->callers[i] = frames[i].caller;
  trace->count = h->visible;
  for (uint32_t i = h->count; i-- > 0;) {
    uint64_t last, number = h->events[i] & (((uint64_t)1 << event_shift) - 1);
    switch ((enum event_kind)(h->events[i] >> event_shift)) {
    case EVENT_OPERATION:
      last = number >> sites_shift;
      if (age > last) {
        age -= last + 1;
        break;
      }
      trace->location = (uint32_t)number + (uint32_t)(last - age);
      reverse(trace);
      trace->count--; /* the entry function */
      return true;
    case EVENT_SEEN: trace->count -= number; break;
    case EVENT_RETURN: trace->callers[trace->count++] = (uint32_t)number; break;
    }
  }
  call_trace_free(heap, trace);
  return false;
}

bool history_present(struct heap *heap, uint32_t location, const struct frame *frames,
                     uint64_t depth, struct call_trace *trace) {
  *trace = (struct call_trace){.location = location};
  if (!trace_reserve(heap, trace, depth + 1)) return false;
  for (uint64_t i = depth; i-- > 1;) trace->callers[trace->count++] = frames[i].caller;
  return true;
}

void call_trace_free(struct heap *heap, struct call_trace *trace) {
  heap_free(heap, trace->callers, trace->capacity * sizeof *trace->callers);
  *trace = (struct call_trace){0};
}
