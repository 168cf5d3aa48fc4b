/* regions.h - large blocks of memory that split and merge: address space in which a block is
 * taken from the lowest free one that is large enough, and merged with its neighbours when it
 * returns. So the memory that is ever touched is about as much as was in use at once, and
 * the system clears each page once. Private to this room.
 *
 * Address space is reserved in regions of many gigabytes, which cost nothing. Memory is counted
 * against a heap when a block first reaches it, in frames of 4 KB, and stays counted, its
 * contents undefined, when the block is free again: until regions_release, which gives it back
 * to the system. Frames are few enough to be marked in a bit each.
 *
 * No locks: one thread at a time may take, give, leave and release. What has been left may be
 * freed by any thread, even after regions_free: a region is there until its last block is.
 */
#ifndef RAVEL_CPU_REGIONS_H
#define RAVEL_CPU_REGIONS_H

#include "base/heap.h"

struct regions;
struct regions *regions_new(struct heap *); /* NULL: no memory; reserves nothing yet */
void regions_free(struct regions *);        /* every block must have been given back or left */
/* A block of at least `bytes`, aligned to 64, contents undefined; NULL if the heap or the
 * system refuses: regions_release may help. The offsets of blocks of equal sizes within a page
 * differ. */
void *regions_take(struct regions *, size_t bytes);
/* Takes back what regions_take gave. */
void regions_give(struct regions *, void *);
/* Leaves such a block to the caller, who calls regions_free_left, on any thread. It no longer
 * counts, but for the frames at its ends that others are in, too. */
void regions_leave(struct regions *, void *);
void regions_free_left(void *);
/* Gives back to the system at least `bytes` of what is free, or all there is, from the highest
 * addresses on; the bytes that no longer count. */
uint64_t regions_release(struct regions *, uint64_t bytes);
/* What counts against the heap now, and the bytes of blocks now taken, with all that belongs to
 * them. */
uint64_t regions_counted(const struct regions *);
uint64_t regions_used(const struct regions *);

#endif
