/* stops.h - how ranks agree on a step at which all of them end their work.
 *
 * Ranks pass the same *steps*, but at different times. Each may find at any time that work is
 * to end: a limit is over, or a signal has come. Such a rank promises the others to wait at
 * its present step until it knows their promises. A rank that hears of it promises its own
 * next step: at that step, or while it waits for others in between. The greatest promised step
 * is the one at which all end, since no rank is beyond it. As long as nobody wants to end, a
 * step is one look for a message.
 */
#ifndef RAVEL_MPI_STOPS_H
#define RAVEL_MPI_STOPS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The step at which a rank has promised to wait. `wish` says why it wants to end in this
 * epoch, or is 0. */
struct promise {
  uint64_t step, epoch, wish;
};

struct stops {
  MPI_Comm world;
  int rank, count, tag;
  uint64_t step;            /* this rank's present step */
  bool asked;               /* somebody has promised: a round is in progress */
  int missing;              /* promises that are still to come, in a round */
  uint64_t last;            /* the greatest promised step, in a round */
  struct promise *promises; /* by ranks; step 0: not yet promised */
  MPI_Request *sent;
};

/* Returns false if memory runs out. */
bool stops_init(struct stops *, MPI_Comm, int tag);
/* Receives promises of others; called while a rank waits for them. */
void stops_look(struct stops *);
/* Passes to the next step. `wish` is 0, or says why this rank wants to end work of this epoch.
 * Returns 0 to go on, or the greatest wish of this epoch: the same on all ranks. */
unsigned stops_decide(struct stops *, uint64_t epoch, unsigned wish);

/* Lets other processes have the processor after so many looks (comm.c). */
void comm_give_way(unsigned looks);

#endif
