/* free-blocks.h - the blocks that a region of memory is divided into, and the set of those that
 * are free. Private to this room.
 *
 * The set is a Cartesian tree (Stephenson, Fast Fits, 1983). Its blocks are in the order of
 * addresses from left to right, and no block is larger than the one above it. So the lowest
 * block that is large enough is on one path from the root. Where sizes are equal, a hash of the
 * address decides, as in a treap, so that many blocks of one size do not form a list.
 */
#ifndef RAVEL_CPU_FREE_BLOCKS_H
#define RAVEL_CPU_FREE_BLOCKS_H

#include <stdalign.h>
#include <stddef.h>

enum block_state { BLOCK_FREE, BLOCK_USED, BLOCK_LEFT };

/* The head of a block. It takes a whole line, so that the memory behind it is aligned to 64
 * bytes. */
struct memory_block {
  alignas(64) size_t bytes; /* size of the whole block; the next block of the region follows */
  size_t before;            /* size of the block before it in the region; 0: it is the first */
  struct region *region;    /* the region that it is in */
  struct memory_block *left,
      /* if FREE: children in the tree; blocks given back by others are a list by left */
      *right;
  enum block_state state;
};

/* A set is the pointer to the root of its tree, NULL if it is empty. */
void free_blocks_insert(struct memory_block **root, struct memory_block *);
void free_blocks_remove(struct memory_block **root, struct memory_block *);
/* Returns the block of at least `bytes` with the lowest address, which stays in the set. NULL
 * if there is none. */
struct memory_block *free_blocks_lowest(struct memory_block *root, size_t bytes);

#endif
