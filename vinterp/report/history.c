/* history.c - recording operations and returns, and walking back through them. */
#include "vinterp/report/history.h"

#include "vinterp/machine/machine-private.h"

/* An event is a kind in the two upper bits and a number below. */
enum event_kind {
  EVENT_OPERATION, /* the first location; above it, the number of sites minus 1 */
  EVENT_SEEN,      /* the number of frames that became visible */
  EVENT_RETURN     /* a visible frame returned: its CALL and its latest tail call */
};

static const int event_shift = 62, sites_shift = 32;

/* Packs the locations of a frame into one number; each is below 2^31. */
static const int tail_shift = 31;

static uint64_t locations_of(const struct frame *frame) {
  const uint64_t tail = frame->tail == NO_LOCATION ? 0 : (uint64_t)frame->tail + 1;
  return tail << tail_shift | frame->caller;
}

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

void history_return(struct history *h, const struct frame *frame, uint64_t depth) {
  h->events[h->count++] = event(EVENT_RETURN, locations_of(frame));
  h->visible = depth - 1;
}

/* ---- traces ---- */

/* The frames around an operation during the search, outermost first. */
struct open_frames {
  uint64_t *locations;
  uint64_t count, capacity;
};

static bool frames_reserve(struct heap *heap, struct open_frames *f, uint64_t n) {
  *f = (struct open_frames){.locations = heap_alloc(heap, n * sizeof *f->locations),
                            .capacity = n};
  return f->locations != NULL;
}

static void frames_free(struct heap *heap, struct open_frames *f) {
  heap_free(heap, f->locations, f->capacity * sizeof *f->locations);
}

/* Makes the list of calls of these frames, innermost first. Frame 0, the entry function's, has
 * no caller. */
static bool make_trace(const struct open_frames *f, struct heap *heap,
                       struct call_trace *trace) {
  trace->capacity = 2 * f->count + 1;
  trace->callers = heap_alloc(heap, trace->capacity * sizeof *trace->callers);
  if (!trace->callers) return false;
  for (uint64_t i = f->count; i-- > 0;) {
    const uint64_t tail = f->locations[i] >> tail_shift;
    const uint64_t caller = f->locations[i] & (((uint64_t)1 << tail_shift) - 1);
    if (tail > 0) trace->callers[trace->count++] = (uint32_t)(tail - 1);
    if (i > 0) trace->callers[trace->count++] = (uint32_t)caller;
  }
  return true;
}

/* Undoes the events since the operation. Returns false if it is not recorded. */
static bool walk_back(const struct history *h, uint64_t age, struct open_frames *f,
                      uint32_t *location) {
  for (uint32_t i = h->count; i-- > 0;) {
    uint64_t last, number = h->events[i] & (((uint64_t)1 << event_shift) - 1);
    switch ((enum event_kind)(h->events[i] >> event_shift)) {
    case EVENT_OPERATION:
      last = number >> sites_shift;
      if (age > last) {
        age -= last + 1;
        break;
      }
      *location = (uint32_t)number + (uint32_t)(last - age);
      return true;
    case EVENT_SEEN: f->count -= number; break;
    case EVENT_RETURN: f->locations[f->count++] = number; break;
    }
  }
  return false;
}

bool history_find(const struct history *h, struct heap *heap, uint64_t age,
                  const struct frame *frames, struct call_trace *trace) {
  struct open_frames f;
  *trace = (struct call_trace){0};
  /* Each undone return adds a frame, and nothing else does, so this many suffice. */
  if (!frames_reserve(heap, &f, h->visible + h->count + 1)) return false;
  for (uint64_t i = 0; i < h->visible; i++) f.locations[i] = locations_of(&frames[i]);
  f.count = h->visible;
  const bool found = walk_back(h, age, &f, &trace->location) && make_trace(&f, heap, trace);
  frames_free(heap, &f);
  return found;
}

bool history_present(struct heap *heap, uint32_t location, const struct frame *frames,
                     uint64_t depth, struct call_trace *trace) {
  struct open_frames f;
  *trace = (struct call_trace){.location = location};
  if (!frames_reserve(heap, &f, depth + 1)) return false;
  for (uint64_t i = 0; i < depth; i++) f.locations[i] = locations_of(&frames[i]);
  f.count = depth;
  const bool made = make_trace(&f, heap, trace);
  frames_free(heap, &f);
  return made;
}

void call_trace_free(struct heap *heap, struct call_trace *trace) {
  heap_free(heap, trace->callers, trace->capacity * sizeof *trace->callers);
  *trace = (struct call_trace){0};
}
