/* history.h - the instruction of each recent operation of the back end, and the calls around
 * it. So a fault found late can still be reported with its position and its call trace.
 *
 * The contract is asynchronous: a fault names a site, a number. Thousands of operations may
 * have followed, and the calls around it may have returned long ago. Recording every call
 * would cost more than most calls do. So calls are recorded only where an operation saw them.
 * The history knows how many frames at the bottom of the machine's stack are `visible` to
 * recorded operations. A return of a deeper frame costs one comparison and is not recorded. An
 * operation records how many frames are new to it; a return of a visible frame records its
 * CALL. Walking back from the present undoes both.
 */
#ifndef RAVEL_HISTORY_H
#define RAVEL_HISTORY_H

#include "base/heap.h"
#include <stdbool.h>

/* The most events before the machine waits for all operations and starts afresh: 64 KiB. The
 * wait is nothing beside thousands of operations. */
enum { HISTORY_CAPACITY = 1 << 13 };

struct frame;

struct history {
  uint64_t *events; /* HISTORY_CAPACITY of them, or NULL before the first */
  uint32_t count;
  uint64_t visible; /* frames now on the stack that recorded operations have seen */
};

/* The calls around an operation. */
struct call_trace {
  uint32_t location; /* location of the operation */
  uint32_t *callers; /* locations of the calls around it, innermost first; of tail calls only
                        the latest in each frame */
  uint64_t count;
  uint64_t capacity; /* of callers */
};

/* Forgets everything, when no operation is deferred. */
static inline void history_clear(struct history *h) {
  h->count = 0;
  h->visible = 0;
}

/* Returns whether there is room for the events of one operation or return. */
static inline bool history_has_room(const struct history *h) {
  return h->events && h->count + 2 <= HISTORY_CAPACITY;
}

/* Allocates the events. Returns false if memory runs out. */
bool history_reserve(struct history *, struct heap *);
void history_free(struct history *, struct heap *);

/* Records an operation under `depth` frames, as `sites` operations with consecutive numbers at
 * consecutive locations from this one on. There must be room. */
void history_operation(struct history *, uint32_t location, uint32_t sites, uint64_t depth);
/* Records that the top one of depth <= visible frames returned, or was replaced by a tail
 * call. There must be room. */
void history_return(struct history *, const struct frame *, uint64_t depth);

/* Finds the operation that was recorded `age` operations before the latest one. Returns false
 * if it is not recorded or memory runs out. The caller owns the trace. */
bool history_find(const struct history *, struct heap *, uint64_t age,
                  const struct frame *frames, struct call_trace *);
/* Makes the trace of the present frames. */
bool history_present(struct heap *, uint32_t location, const struct frame *frames,
                     uint64_t depth, struct call_trace *);
void call_trace_free(struct heap *, struct call_trace *);

#endif
