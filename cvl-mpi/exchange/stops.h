/* stops.h - how ranks agree on a step at which all of them end their work.
 *
 * Ranks pass the same *steps*, but at different times, and may at any time find that work is to
 * end: a limit is over, a signal has come. One that does promises the others to wait at its
 * present step until it knows their promises; whoever hears of that promises its own next step:
 * at the step itself, or while it waits for others in between. The greatest step that was
 * promised is the one at which all end, since none is beyond it. Where nobody wants to end, a
 * step is one look for a message.
 */
#ifndef RAVEL_MPI_STOPS_H
#define RAVEL_MPI_STOPS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* One that a rank has promised; `wish` is why it wants to end, in this epoch, or 0. */
struct promise {
  uint64_t step, epoch, wish;
};

struct stops {
  MPI_Comm world;
  int rank, count, tag;
  uint64_t step;            /* this rank's */
  bool asked;               /* somebody has promised; then */
  int missing;              /* so many promises are still to come, */
  uint64_t last;            /* the greatest step of the others, */
  struct promise *promises; /* by ranks; of step 0: not yet */
  MPI_Request *sent;
};

/* False without memory. */
bool stops_init(struct stops *, MPI_Comm, int tag);
/* While a rank waits for others: it hears them. */
void stops_look(struct stops *);
/* The next step; `wish` is 0, or why this rank wants to end work of this epoch. 0, or of all
 * wishes of this epoch the greatest: the same on all ranks. */
unsigned stops_decide(struct stops *, uint64_t epoch, unsigned wish);

/* comm.c: lets others have the processor after so many looks. */
void comm_give_way(unsigned looks);

#endif
