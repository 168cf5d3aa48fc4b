/* order-tree.h - reductions and scans by any associative function, over several columns at
 * once. They use the tree that keeps the order of elements (trees.h).
 *
 * The function works on arrays: it combines n pairs at a time. All segments of a tile take each
 * level of the tree together, so that short segments need few calls. A tile is also a subtree
 * of a long segment. The totals of tiles are reduced by the same rule, and a scan hands the
 * combination of all earlier tiles from tile to tile.
 *
 * A *column* is an array of elements of 1, 4 or 8 bytes. An *item* is one element of each
 * column.
 */
#ifndef RAVEL_CPU_ORDER_TREE_H
#define RAVEL_CPU_ORDER_TREE_H

#include "cvl-cpu/cpu.h"
#include "cvl/superop.h"

enum {
  ORDER_TILE = CVL_REDUCE_BLOCK, /* elements of a tile: a power of two */
  ORDER_TILE_LEVELS = 10,        /* its logarithm */
  ORDER_ROOTS = 10               /* the most subtrees in less than a tile */
};

/* The addresses of the columns. */
struct order_columns {
  char *at[SUPEROP_COLUMNS_MAX];
};

/* The segments of a tile. Segment k is offsets[k] to offsets[k + 1], counted from the beginning
 * of the columns. There are at most ORDER_TILE elements, and at most as many segments. */
struct order_segments {
  const uint64_t *offsets;
  uint64_t count;
};

/* The compiled functions that fused_emit_combination describes (fused-kernels/emit.h). */
struct order_compiled {
  void (*apply)(uint64_t n, char *const *left, char *const *right, char *const *out);
  void (*reduce)(char *const *x, const uint64_t *offsets, uint64_t count, char *const *out);
  unsigned (*roots)(char *const *x, uint64_t n, char *const *out);
  void (*scan)(char *const *x, const uint64_t *offsets, uint64_t count, char *const *before,
               bool inclusive, char *const *out);
};

/* A function that combines items. apply sets item i of `out` to f(item i of left, item i of
 * right) for i < n, where n is at most ORDER_TILE; out may be left or right. It is not called
 * if `compiled` is given. */
struct order_function {
  uint32_t columns;
  uint8_t bytes[SUPEROP_COLUMNS_MAX];    /* size of an element of each column */
  const struct order_compiled *compiled; /* or NULL */
  void (*apply)(const struct order_function *, uint64_t n, const struct order_columns *left,
                const struct order_columns *right, const struct order_columns *out);
};

/* Returns the size of `scratch`, in which the functions below work. It is aligned to 64
 * bytes. */
size_t order_scratch_bytes(const struct order_function *);

/* Reduces the segments of a tile: item k of `out` is the reduction of segment k. Nothing is
 * written for an empty segment. */
void order_reduce(const struct order_function *, const struct order_columns *x,
                  struct order_segments, const struct order_columns *out, char *scratch);

/* Scans the segments of a tile; item i of `out` is the result at position i. An exclusive scan
 * does not write the first item of a segment. If `before` is not NULL, there is only one
 * segment, which `x` continues at a multiple of ORDER_TILE; `before` is the item that precedes
 * x. The caller overwrites the last item of an inclusive scan of such a tile, if it is whole,
 * with the item that precedes the next one, since subtrees of one size may meet there. */
void order_scan(const struct order_function *, const struct order_columns *x,
                struct order_segments, const struct order_columns *before, bool inclusive,
                const struct order_columns *out, char *scratch);

/* Writes the totals of the subtrees that make up n elements, n <= ORDER_TILE, the largest
 * first. Returns how many there are: one if n is a power of two. */
unsigned order_roots(const struct order_function *, const struct order_columns *x, uint64_t n,
                     const struct order_columns *out, char *scratch);

/* Writes the reduction of a segment to `out`. x has the totals of `tiles` whole tiles and then
 * those of `roots` subtrees, at least one in all, and is overwritten. */
void order_total(const struct order_function *, const struct order_columns *x, uint64_t tiles,
                 unsigned roots, const struct order_columns *out, char *scratch);

/* The state that a scan hands from tile to tile. All tiles so far make up some subtrees; the
 * state has the total of each, the largest first, and its combination with those before it. A
 * state of zeros has seen no tile. */
struct order_state {
  uint64_t tiles;
  uint64_t totals[SUPEROP_COLUMNS_MAX][64], until[SUPEROP_COLUMNS_MAX][64];
};

/* Writes the combination of all tiles so far, at least one, to item 0 of `out`. */
void order_before(const struct order_function *, const struct order_state *,
                  const struct order_columns *out);
/* Adds a tile whose total is item 0 of `total`. */
void order_advance(const struct order_function *, struct order_state *,
                   const struct order_columns *total);

#endif
