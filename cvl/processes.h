/* processes.h - the processes of a job, which run the same program together. A batch call may
 * be distributed to them; each then executes some of the instances by itself.
 */
#ifndef RAVEL_CVL_PROCESSES_H
#define RAVEL_CVL_PROCESSES_H

#include "cvl/cvl.h"

/* The number of elements (of a descriptor: segments) of an operand or result of a batch call.
 * CVL_EACH: one for each instance. CVL_SHARED: the same elements for all instances. Any other
 * number is that of a descriptor operand, whose segments have the elements. */
#define CVL_EACH   (UINT32_MAX - 1)
#define CVL_SHARED UINT32_MAX

/* A batch call that is distributed to the processes of a job. */
struct cvl_distributed_call {
  uint64_t instances;
  /* number of operands; the first is the descriptor of the instances */
  uint32_t count;
  const uint32_t *sizes;            /* the size of each operand, as above */
  const struct cvl_value *operands; /* borrowed until the call has been collected */
  /* Set by `distribute`: */
  uint32_t processes;
  uint64_t first, n;                 /* the instances of this process, which it executes with */
  const struct cvl_backend *backend; /* a back end and a context that are its alone */
  struct cvl_context *context;
  /* room for the operands of these instances, from the caller; distribute fills it */
  struct cvl_value *own;
  void *kept; /* for the back end */
};

/* All processes call these functions together, except read_own. */
struct cvl_processes {
  /* process: the number of this process, from 0. broadcast: all get what process 0 has at
   * `data`. any: whether any process passes true. sum_before: also whether any passes true; if
   * none does, *before becomes the sum of n over the processes with lower numbers. from_first:
   * whether any passes true; if so, all get what the first of these has at `data`, a few
   * bytes. */
  unsigned (*process)(struct cvl_context *);
  void (*broadcast)(struct cvl_context *, void *data, uint64_t bytes);
  bool (*any)(struct cvl_context *, bool mine);
  bool (*sum_before)(struct cvl_context *, bool mine, uint64_t n, uint64_t *before);
  bool (*from_first)(struct cvl_context *, bool mine, void *data, uint64_t bytes);
  /* Agrees on an end of work that processes do in the same steps. At each step a process passes
   * the reason why it wants to end work of this epoch, or 0. At that step or a later one, the
   * same for all, every process gets the greatest reason that was passed in the epoch of that
   * step, or 0. Waits for others only after somebody has wanted an end. */
  unsigned (*stops)(struct cvl_context *, uint64_t epoch, unsigned wish);
  /* Finds the elements that this process writes, when each element of a vector is to be written
   * once: *first .. *first + *n. The process has all of these, and the length has been
   * resolved. The ranges follow each other in the order of processes, from 0 to the length.
   * Elements that all processes have belong to process 0. For a descriptor, these are segments.
   * Waits. False, for all, if the error slot is not empty. */
  bool (*own_range)(struct cvl_context *, const struct cvl_value *, uint64_t *first,
                    uint64_t *n);
  /* Does to_host for elements of that range. own_range must have been the last function that
   * all called. This process alone calls it; after a fault it returns false, and others learn
   * of the fault when all wait. */
  bool (*read_own)(struct cvl_context *, const struct cvl_value *, uint64_t first, uint64_t n,
                   void *dst);
  /* Decides which instances belong to which process, by the sizes of their operands, and brings
   * these operands there. False if the call is not worth it, or there is too little memory.
   * Then nothing has been done, and it is not a fault. */
  bool (*distribute)(struct cvl_context *, uint64_t site, struct cvl_distributed_call *);
  /* Ends the call. Since distribute, only functions of the call's context and sum_before may
   * have been called. `good` is the same on all processes. If it is true, each process passes
   * the results of its instances, `count` values of call->context, and out[k] becomes result k
   * of all instances. If it is false, the call is to be executed in another way. */
  void (*collect)(struct cvl_context *, uint64_t site, struct cvl_distributed_call *, bool good,
                  uint32_t count, struct cvl_value *own, struct cvl_value *out);
};

#endif
