/* processes.h - processes of a job that run the same program together, and batch calls
 * distributed to them, each of which executes some of the instances by itself.
 */
#ifndef RAVEL_CVL_PROCESSES_H
#define RAVEL_CVL_PROCESSES_H

#include "cvl/cvl.h"

/* How many elements (of a descriptor: segments) an operand or result of a batch call
 * has: one for each instance; the same ones for all; or those of the segments of another one,
 * whose number this is. */
#define CVL_EACH   (UINT32_MAX - 1)
#define CVL_SHARED UINT32_MAX

/* A batch call that is distributed to the processes of a job. */
struct cvl_distributed_call {
  uint64_t instances;
  uint32_t count;                   /* operands; the first is the descriptor of the instances */
  const uint32_t *sizes;            /* of each */
  const struct cvl_value *operands; /* borrowed until the call has been collected */
  /* What `distribute` sets: */
  uint32_t processes;
  uint64_t first, n;                 /* instances of this process, which it executes with */
  const struct cvl_backend *backend; /* these, which are its alone: */
  struct cvl_context *context;
  struct cvl_value *own; /* their operands: the caller's room, and its values */
  void *kept;            /* the back end's */
};

/* All processes call these together, but read_own. */
struct cvl_processes {
  /* The number of this process, from 0. All get what process 0 has at `data`. Whether one of
   * them says so; if none does, what those with lower numbers have in all goes to *before;
   * whether one says so, and then all get what the first of those has at `data`, a few bytes.
   */
  unsigned (*process)(struct cvl_context *);
  void (*broadcast)(struct cvl_context *, void *data, uint64_t bytes);
  bool (*any)(struct cvl_context *, bool mine);
  bool (*sum_before)(struct cvl_context *, bool mine, uint64_t n, uint64_t *before);
  bool (*from_first)(struct cvl_context *, bool mine, void *data, uint64_t bytes);
  /* Whether work is to end that processes do in the same steps. Each says at each step why it
   * wants to end work of this epoch, 0 if it does not; at the same step, that one or a later
   * one, all then get the greatest of what was said in the epoch of that step, else 0. Waits
   * for others only after somebody has wanted an end. */
  unsigned (*stops)(struct cvl_context *, uint64_t epoch, unsigned wish);
  /* Which elements of a vector, whose length has been resolved, this process writes where each
   * is to be written once: *first .. *first + *n, all of which it has. The ranges of processes
   * follow each other by their numbers, from 0 to the length; what all have is process 0's. Of
   * a descriptor: segments. Waits. False, for all, if the error slot is not empty. */
  bool (*own_range)(struct cvl_context *, const struct cvl_value *, uint64_t *first,
                    uint64_t *n);
  /* to_host of elements of that range, if own_range was the last function that all called. By
   * this process alone: of a fault, after which it is false, others learn when all wait. */
  bool (*read_own)(struct cvl_context *, const struct cvl_value *, uint64_t first, uint64_t n,
                   void *dst);
  /* Decides which instances are whose, by how much their operands take, and brings these there.
   * False if the call is not worth it, or there is too little memory: then nothing has been
   * done, and it is not a fault. */
  bool (*distribute)(struct cvl_context *, uint64_t site, struct cvl_distributed_call *);
  /* Ends it, between which functions of the call's context and sum_before only are called.
   * `good`, the same on all processes: each has the results of its instances, `count` values of
   * call->context, which pass to the function, and out[k] becomes result k of all instances.
   * Else the call is to be executed in another way. */
  void (*collect)(struct cvl_context *, uint64_t site, struct cvl_distributed_call *, bool good,
                  uint32_t count, struct cvl_value *own, struct cvl_value *out);
};

#endif
