/* faults.h - faults of this rank, and what all ranks agree on. */
#ifndef RAVEL_MPI_FAULTS_H
#define RAVEL_MPI_FAULTS_H

#include "cvl-mpi/private.h"

/* Begins an operation: counts the call, and notes its site and name. Agreements do not call it:
 * a value may be a scalar on one rank and poisoned on another, and the first may then compute
 * without the table. */
void mpi_enter(struct cvl_context *, const char *function, uint64_t site);
/* Notes what to add to the positions of faults that operations of these sites find, now or
 * later. The shift that was noted last counts. */
void note_shift(struct cvl_context *, struct shift);
/* Records a fault of this rank. */
void fault_mine(struct cvl_context *, struct cvl_error);
void fault_memory(struct cvl_context *, uint64_t site, uint64_t bytes);
/* Returns `good`, the result of an inner function. If it is false, the fault of the inner back
 * end is moved to `mine`, with positions in the whole vector. Notes the shift for faults that
 * are found later. */
bool absorb(struct cvl_context *, bool good, struct shift);
/* Exchanges faults: afterwards `slot` has the first fault of all ranks. Returns whether there
 * is none. Waits for the inner back ends. The same exchange completes deferred values: all
 * with `heavy`, else those that are not heavy. So completed values are not results of a fault,
 * unless the slot is set. */
bool agree_with(struct cvl_context *, bool heavy);
bool agree(struct cvl_context *);
/* Tells whether this rank has a value that all ranks have, or none; returns `mine`. If this
 * rank lacks it for a fault that the others need not have (no memory), it checks that they
 * fail, too (comm_meet); the job ends if they do not. While tests let allocations fail,
 * nothing is checked, since ranks ask each other anyway. */
bool have_all(const struct cvl_context *, bool mine);
/* Returns whether `mine` is true on all ranks. */
bool all_true(struct cvl_context *, bool mine);

#endif
