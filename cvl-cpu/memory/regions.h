/* regions.h - large blocks of memory that split and merge. A block is taken from the lowest
 * free one that is large enough, and is merged with its neighbours when it returns. So the
 * memory that is ever touched is about as much as was in use at once, and the system clears
 * each page once. Private to this room.
 *
 * Address space is reserved in regions of many gigabytes, which costs nothing. Memory is
 * counted against a heap when a block first reaches it, in frames of 4 KB. It stays counted,
 * its contents undefined, when the block is free again, until regions_release gives it back to
 * the system. Frames are so few that one bit for each suffices.
 *
 * There are no locks: one thread at a time may take, give, leave and release. Any thread may
 * free a block that was left, even after regions_free: a region exists as long as its last
 * block.
 */
#ifndef RAVEL_CPU_REGIONS_H
#define RAVEL_CPU_REGIONS_H

#include "base/heap.h"

struct regions;
struct regions *regions_new(struct heap *); /* NULL: no memory. It reserves nothing yet. */
void regions_free(struct regions *);        /* every block must have been given back or left */
/* Returns a block of at least `bytes`, aligned to 64, whose contents are undefined. NULL if the
 * heap or the system refuses; regions_release may help. Blocks of equal sizes that follow each
 * other have different offsets within a page. */
void *regions_take(struct regions *, size_t bytes);
/* Takes back what regions_take gave. */
void regions_give(struct regions *, void *);
/* Leaves such a block to the caller, who calls regions_free_left, on any thread. It is no
 * longer counted, except the frames at its ends that other blocks share. */
void regions_leave(struct regions *, void *);
void regions_free_left(void *);
/* Gives at least `bytes` of free memory back to the system, from the highest addresses down, or
 * all there is. Returns how many bytes are no longer counted. */
uint64_t regions_release(struct regions *, uint64_t bytes);
/* Return the bytes that are counted against the heap now, and the bytes of the blocks now in
 * use, heads included. */
uint64_t regions_counted(const struct regions *);
uint64_t regions_used(const struct regions *);

#endif
