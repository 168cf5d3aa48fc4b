/* splitters.h - where sorted blocks are cut, so that ranks get exactly their shares. */
#ifndef RAVEL_MPI_SPLITTERS_H
#define RAVEL_MPI_SPLITTERS_H

#include "cvl-mpi/private.h"

/* Finds how to cut blocks whose parts of segments are sorted, so that every segment gets in
 * order over all ranks. Each rank has a block under view->at; `keys` are its keys, or NULL if
 * they are poisoned. Elements of a segment with equal keys are in the order of their ranks,
 * then of their positions.
 *
 * Returns cuts[b * ranks + r]: how many elements of rank r's block go to ranks before b, for b
 * up to `ranks`. Each rank then has as many elements as before. The caller frees them. They
 * are the same on all ranks, whatever the keys are. There are two exchanges for blocks of up
 * to some ten million elements.
 *
 * (Multisequence selection by samples: Varman and others, Merging multiple lists on
 * hierarchical-memory multiprocessors, 1991; as exact splitters of a sample sort: Solomonik
 * and Kale, Highly scalable parallel sorting, 2010.) */
uint64_t *splitters_find(struct cvl_context *, const struct view *, const uint64_t *keys);

#endif
