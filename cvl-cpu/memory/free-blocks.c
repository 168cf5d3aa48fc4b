/* free-blocks.c - the free blocks of all regions, in a Cartesian tree. */
#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"
#include "cvl-cpu/memory/free-blocks.h"

/* Hashes a block's address by multiplication with 2^64 over the golden ratio. */
static uint64_t free_blocks_hash_of(const struct memory_block *b) {
  return ((uint64_t)(uintptr_t)b >> 6) * UINT64_C(0x9e3779b97f4a7c15);
}

static bool is_above(const struct memory_block *a, const struct memory_block *b) {
  return a->bytes != b->bytes ? a->bytes > b->bytes
                              : free_blocks_hash_of(a) > free_blocks_hash_of(b);
}

/* Addresses are compared as numbers, since C does not order addresses of different regions. */
static bool is_before(const struct memory_block *a, const struct memory_block *b) {
  return (uintptr_t)a < (uintptr_t)b;
}

/* Splits the tree t into the blocks before `at` and those behind it. */
static void free_blocks_split(struct memory_block *t, const struct memory_block *at,
                              struct memory_block **left, struct memory_block **right) {
  while (t) {
    if (is_before(t, at)) {
      *left = t;
      left = &t->right;
      t = t->right;
    } else {
      *right = t;
      right = &t->left;
      t = t->left;
    }
  }
  *left = *right = NULL;
}

/* Joins two trees; all of a is before all of b. */
static void free_blocks_join(struct memory_block **root, struct memory_block *a,
                             struct memory_block *b) {
  while (a && b) {
    if (is_above(a, b)) {
      *root = a;
      root = &a->right;
      a = a->right;
    } else {
      *root = b;
      root = &b->left;
      b = b->left;
    }
  }
  *root = a ? a : b;
}

void free_blocks_insert(struct memory_block **root, struct memory_block *b) {
  while (*root && is_above(*root, b)) {
    root = is_before(b, *root) ? &(*root)->left : &(*root)->right;
  }
  struct memory_block *below = *root;
  *root = b;
  free_blocks_split(below, b, &b->left, &b->right);
}

void free_blocks_remove(struct memory_block **root, struct memory_block *b) {
  while (*root != b) {
    invariant(*root);
    root = is_before(b, *root) ? &(*root)->left : &(*root)->right;
  }
  free_blocks_join(root, b->left, b->right);
}

struct memory_block *free_blocks_lowest(struct memory_block *root, size_t bytes) {
  if (!root || root->bytes < bytes) return NULL;
  while (root->left && root->left->bytes >= bytes) root = root->left;
  return root;
}
