/* history.h - which instruction each recent operation of the back end was, and the calls around
 * it, so that a fault found late can still be reported with its position and its call trace.
 *
 * The contract is asynchronous: a fault names a site, a number, perhaps thousands of operations
 * after it happened, when the calls around it have long returned. Recording every call would
 * cost more than most calls do. So calls are recorded only where an operation saw them: the
 * history knows how many frames at the bottom of the machine's stack are `visible` to recorded
 * operations; a return of a deeper frame costs one comparison and leaves no trace. An operation
 * records how many frames are new to it, a return of a visible frame where it had been called.
 * Walking back from the present undoes both.
 */
#ifndef RAVEL_HISTORY_H
#define RAVEL_HISTORY_H

#include "base/heap.h"
#include <stdbool.h>

/* Events kept before the machine has to wait for all operations and start afresh: 64 KiB, and a
 * wait that is nothing beside thousands of operations. */
enum { HISTORY_CAPACITY = 1 << 13 };

struct frame;

struct history {
  uint64_t *events; /* HISTORY_CAPACITY of them, or NULL before the first */
  uint32_t count;
  uint64_t visible; /* frames on the stack now that recorded operations have seen */
};

/* The calls around an operation. */
struct call_trace {
  uint32_t location; /* of the operation */
  uint32_t *callers; /* locations of the calls around it, innermost first; of tail calls only
                        the latest in each frame */
  uint64_t count;
  uint64_t capacity; /* of callers */
};

/* Forgets everything: no operation is deferred. */
static inline void history_clear(struct history *h) {
  h->count = 0;
  h->visible = 0;
}

/* Whether there is room for the events of one operation or return. */
static inline bool history_has_room(const struct history *h) {
  return h->events && h->count + 2 <= HISTORY_CAPACITY;
}

/* Allocates the events; false if memory fails. */
bool history_reserve(struct history *, struct heap *);
void history_free(struct history *, struct heap *);

/* Records an operation under `depth` frames, as `sites` operations of consecutive numbers at
 * consecutive locations from this one on. There must be room. */
void history_operation(struct history *, uint32_t location, uint32_t sites, uint64_t depth);
/* Records the return of the top one of depth <= visible frames, or that a tail call replaced
 * it. There must be room. */
void history_return(struct history *, const struct frame *, uint64_t depth);

/* Finds the operation that was recorded `age` operations before the latest one. False if it is
 * not recorded or memory fails. The trace is owned by the caller. */
bool history_find(const struct history *, struct heap *, uint64_t age,
                  const struct frame *frames, struct call_trace *);
/* The trace of the present: frames as they stand. */
bool history_present(struct heap *, uint32_t location, const struct frame *frames,
                     uint64_t depth, struct call_trace *);
void call_trace_free(struct heap *, struct call_trace *);

#endif
