/* free-blocks.h - the blocks that a region of memory is divided into, and the set of those that
 * are free. Private to this room.
 *
 * The set is a Cartesian tree (Stephenson, Fast Fits, 1983): in the order of addresses from
 * left to right, and no block larger than the one above it. So the lowest block that is large
 * enough is found on one path from the root. Where sizes are equal, a hash of the address
 * decides, as in a treap: many blocks of one size make no list.
 */
#ifndef RAVEL_CPU_FREE_BLOCKS_H
#define RAVEL_CPU_FREE_BLOCKS_H

#include <stdalign.h>
#include <stddef.h>

enum block_state { BLOCK_FREE, BLOCK_USED, BLOCK_LEFT };

/* The head of a block, a line of its own so that what follows is aligned to 64 bytes. */
struct block {
  alignas(64) size_t bytes; /* of it all: the next block in the region follows */
  size_t before;            /* bytes of the block before it in the region; 0: none */
  struct region *region;    /* that it is in */
  struct block *left,
      *right; /* FREE: in the tree; those given back by others: a list by left */
  enum block_state state;
};

/* A set is the pointer to the root of its tree: NULL where it is empty. */
void free_blocks_insert(struct block **root, struct block *);
void free_blocks_remove(struct block **root, struct block *);
/* The block of at least `bytes` with the lowest address, still in the set; NULL: there is none.
 */
struct block *free_blocks_lowest(struct block *root, size_t bytes);

#endif
