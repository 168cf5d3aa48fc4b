/* private.h - batch calls that are executed by native code, one instance after the other
 * (procedures/native.h). Private to this folder, but for what contexts own.
 *
 *    code.c       the code of a program: compiled, loaded, looked up
 *    workers.c    what threads keep for native code, and its functions
 *    scheduler.c  shares the work of instances between threads
 *    watch.c      ends native code that takes long, when somebody asks
 *    instances.c  operands as native code reads them, and ranges of instances
 *    run.c        a batch call from its operands to its results
 */
#ifndef RAVEL_CPU_PROCEDURES_PRIVATE_H
#define RAVEL_CPU_PROCEDURES_PRIVATE_H

#include "cvl-cpu/cpu.h"
#include "cvl/procedures.h"
#include "procedures/native.h"

/* ---- code.c ---- */

struct cvl_procedure_code *procedure_prepare(struct cvl_context *, const char *text,
                                             uint64_t length, bool *owed);
void procedure_discard(struct cvl_context *, struct cvl_procedure_code *, double spent);
bool procedure_ready(struct cvl_context *, struct cvl_procedure_code *,
                     enum cvl_procedure_wish);
/* Returns the entry of a procedure in code that is ready. NULL if there is none. Any thread may
 * call it. */
native_entry *procedure_native_entry(struct cvl_procedure_code *, const struct cvl_procedure *);

/* ---- workers.c ---- */

/* The first spans of a thread in a call, of a context that keeps them. */
struct procedure_spans {
  uint32_t count;
  struct cvl_procedure_span of[256];
};

/* What one thread keeps between calls of native code. */
struct procedure_worker {
  struct native_thread native;
  struct cvl_context *c;
  void *room; /* of ranking and sorting */
  uint64_t room_bytes;
  struct procedure_scheduler *scheduler; /* of the present call */
  struct procedure_spans *spans; /* NULL: they are not wanted, or there was no memory */
  uintptr_t helps_above; /* a deeper frame that waits executes no other work meanwhile */
  pthread_t thread;  /* the thread to whose stack native.lowest belongs ... */
  bool stack_is_set; /* ... if it is set */
};

/* The workers of a context, one for each thread of its pool. */
struct procedure_workers {
  pthread_mutex_t lock; /* held during a batch call */
  _Atomic uint64_t held; /* bytes that native code has allocated and not released */
  unsigned count;
  struct procedure_worker of[];
};

/* Locks the context's workers, which are made for the first call. NULL: no memory. */
struct procedure_workers *procedure_workers_begin(struct cvl_context *);
/* Unlocks them. If native code has given up, or they keep much, what they keep is freed. */
void procedure_workers_end(struct procedure_workers *, bool gave_up);
/* Frees them. For a context that is closed, or a sub-context that is freed. */
void procedure_workers_free(struct cvl_context *);
/* Prepares a worker for a call of native code by the calling thread. */
void procedure_worker_begin(struct procedure_worker *);
/* Notes what the worker has done since the time `begin` of pool_clock, if that is wanted. */
void procedure_note_span(struct procedure_worker *, uint64_t instances, uint64_t begin);
uint32_t procedure_spans(struct cvl_context *, struct cvl_procedure_span *, uint32_t most);
/* Takes an empty buffer from the worker's pool, perhaps with room; NULL: no memory. Gives one
 * back. Only one thread at a time may use a worker. */
struct native_pooled *procedure_take_buffer(struct procedure_worker *);
void procedure_give_buffer(struct procedure_worker *, struct native_pooled *);

/* ---- scheduler.c ---- */

struct part;

/* What the threads of a batch call share. */
struct procedure_scheduler {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint32_t asks;        /* what native code looks at: atomic */
  uint32_t changes;     /* atomic; changed with the lock */
  uint32_t most_listed; /* of every thread's work; 0: nothing is shared */
  unsigned waiting;     /* threads that want work */
  unsigned sleeping;    /* threads that wait, and do not look any more */
  struct part *offered; /* the oldest first */
  unsigned offered_count;
  uint64_t ranges; /* that have not ended; until then there may be work */
};
/* most_listed is 0 for one thread. Returns false if the system refuses. */
bool scheduler_init(struct procedure_scheduler *, unsigned threads, uint64_t ranges);
void scheduler_end(struct procedure_scheduler *);
/* Makes a worker one of the call. */
void scheduler_adopt(struct procedure_scheduler *, struct procedure_worker *);
/* All native code of the call is to give up. Any thread may say so, and ask. */
void scheduler_stop(struct procedure_scheduler *);
bool scheduler_stops(const struct procedure_scheduler *);
void scheduler_range_done(struct procedure_scheduler *);
/* Executes work of others until all ranges have ended. */
void scheduler_help(struct procedure_scheduler *, struct procedure_worker *);

/* ---- watch.c ---- */

/* A batch call that is to end when the context is asked to. */
struct procedure_watched {
  struct procedure_watched *next;
  struct procedure_scheduler *scheduler;
  _Atomic bool asked; /* whether somebody has asked for the end */
  uint64_t periods;   /* of the watch that it may still take; 0: any time */
};
/* Returns the number of periods that last so long; 0: any time. */
uint64_t procedure_watch_periods(double seconds);
/* Makes the watch of a context. */
void procedure_watch_new(struct cvl_context *);
void procedure_watch_free(struct cvl_context *);
/* Begin and end the watch over a call in the context or a sub-context of it. */
void procedure_watch_begin(struct cvl_context *, struct procedure_watched *);
void procedure_watch_end(struct cvl_context *, struct procedure_watched *);

/* ---- instances.c ---- */

/* The weight of the instances before this one: each counts 1, and so do its elements and
 * segments in operands that are not shared. */
uint64_t procedure_weight(const struct cvl_procedure *, const struct cvl_value *operands,
                          uint64_t instance);
bool procedure_suits(struct cvl_context *, const struct cvl_procedure *, uint64_t instances,
                     const struct cvl_value *operands);
/* Whether a call of this weight, which is expected to take so long, in seconds, is for one
 * thread; 0: that is not known. */
bool procedure_is_little(const struct cvl_context *, uint64_t weight, double expected);
/* Returns how many ranges the instances are executed in, by several threads. */
uint64_t procedure_ranges(const struct cvl_context *, const struct cvl_procedure *,
                          uint64_t instances, uint64_t weight);
/* Sets firsts[0 .. ranges] to the first instances of ranges of about equal weight. */
void procedure_cut(const struct cvl_procedure *, const struct cvl_value *operands,
                   uint64_t instances, uint64_t ranges, uint64_t *firsts);

/* Operands as native code reads them. */
struct procedure_operands {
  struct native_value *values; /* param_count of them; then offsets that had to be made */
  uint64_t bytes;
};
/* Return false after a fault. */
bool procedure_bind(struct cvl_context *, uint64_t site, const struct cvl_procedure *,
                    const struct cvl_value *operands, struct procedure_operands *);
void procedure_unbind(struct cvl_context *, const struct procedure_operands *);

/* ---- run.c ---- */

bool procedure_run(struct cvl_context *, uint64_t site, struct cvl_procedure_code *,
                   const struct cvl_procedure *, struct cvl_procedure_time, uint64_t instances,
                   const struct cvl_value *operands, struct cvl_value *results, bool *done);

#endif
