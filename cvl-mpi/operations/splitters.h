/* splitters.h - where sorted blocks are cut, so that ranks get exactly their shares. */
#ifndef RAVEL_MPI_SPLITTERS_H
#define RAVEL_MPI_SPLITTERS_H

#include "cvl-mpi/private.h"

/* Each rank has a block of elements under view->at; what it has of each segment is in order of
 * keys. keys: those of this rank's block, NULL if they are poisoned. Elements of a segment that
 * have the same key are in order of their ranks, then of their positions.
 *
 * cuts[b * ranks + r]: how many elements of rank r's block go to ranks before b, for b up to
 * `ranks`: with every segment in order over all ranks, each rank then has as many as before.
 * The caller frees them. The same on all ranks, whatever keys are. Exchanges: two for blocks of
 * up to some ten million elements.
 *
 * (Multisequence selection by samples: Varman and others, Merging multiple lists on
 * hierarchical-memory multiprocessors, 1991; as exact splitters of a sample sort: Solomonik and
 * Kale, Highly scalable parallel sorting, 2010.) */
uint64_t *splitters_find(struct cvl_context *, const struct view *, const uint64_t *keys);

#endif
