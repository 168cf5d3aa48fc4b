/* order-tree.h - reductions and scans by any associative function, in the tree that keeps order
 * (trees.h), over several columns at once.
 *
 * The function is given for arrays: it combines n pairs at a time. All segments of a tile take
 * each level of the tree together, so that short segments need few calls of it. A tile is also
 * a subtree of a long segment: the totals of tiles are reduced by the same rule, and a scan
 * hands the combination of the tiles before from tile to tile.
 *
 * A *column* is an array of elements of 1, 4 or 8 bytes; an *item* one element of each column.
 */
#ifndef RAVEL_CPU_ORDER_TREE_H
#define RAVEL_CPU_ORDER_TREE_H

#include "cvl-cpu/cpu.h"
#include "cvl/superop.h"

enum {
  ORDER_TILE = CVL_REDUCE_BLOCK, /* elements: a power of two */
  ORDER_TILE_LEVELS = 10,        /* its logarithm */
  ORDER_ROOTS = 10               /* the most subtrees that less than a tile consists of */
};

/* One array for each column. */
struct order_columns {
  char *at[SUPEROP_COLUMNS_MAX];
};

/* Segments of a tile: segment k is offsets[k] to offsets[k + 1], counted from the columns'
 * beginnings; ORDER_TILE elements and as many segments at most. */
struct order_segments {
  const uint64_t *offsets;
  uint64_t count;
};

/* Compiled functions, as fused_emit_combination says (fused-kernels/emit.h). */
struct order_compiled {
  void (*apply)(uint64_t n, char *const *left, char *const *right, char *const *out);
  void (*reduce)(char *const *x, const uint64_t *offsets, uint64_t count, char *const *out);
  unsigned (*roots)(char *const *x, uint64_t n, char *const *out);
  void (*scan)(char *const *x, const uint64_t *offsets, uint64_t count, char *const *before,
               bool inclusive, char *const *out);
};

/* The function. apply: item i of `out` = f(item i of left, item i of right) for i < n, at most
 * ORDER_TILE; out may be left or right. It is not called if the function is compiled. */
struct order_function {
  uint32_t columns;
  uint8_t bytes[SUPEROP_COLUMNS_MAX];    /* of an element */
  const struct order_compiled *compiled; /* or NULL */
  void (*apply)(const struct order_function *, uint64_t n, const struct order_columns *left,
                const struct order_columns *right, const struct order_columns *out);
};

/* Bytes of memory that the functions below work in, `scratch`, aligned to 64. */
size_t order_scratch_bytes(const struct order_function *);

/* Reduces segments of a tile: item k of `out` is the reduction of segment k. Nothing is written
 * for an empty one. */
void order_reduce(const struct order_function *, const struct order_columns *x,
                  struct order_segments, const struct order_columns *out, char *scratch);

/* Scans segments of a tile to items of `out` at the same positions; exclusive scans do not
 * write the first of a segment. `before`, or NULL: the item that comes before the only segment,
 * of which x is then the continuation from a multiple of ORDER_TILE on. The last item of an
 * inclusive scan of a whole such tile is to be overwritten with what comes before the next one:
 * subtrees of one size may meet there. */
void order_scan(const struct order_function *, const struct order_columns *x,
                struct order_segments, const struct order_columns *before, bool inclusive,
                const struct order_columns *out, char *scratch);

/* The totals of the subtrees that n elements consist of, n <= ORDER_TILE, the largest first;
 * returns how many: one if n is a power of two. */
unsigned order_roots(const struct order_function *, const struct order_columns *x, uint64_t n,
                     const struct order_columns *out, char *scratch);

/* The reduction, to `out`, of a segment of which the totals of `tiles` whole tiles and then of
 * `roots` subtrees are given; one at least. Overwrites them. */
void order_total(const struct order_function *, const struct order_columns *x, uint64_t tiles,
                 unsigned roots, const struct order_columns *out, char *scratch);

/* What a scan hands from tile to tile: the totals of the subtrees that all tiles so far consist
 * of, the largest first, and the combinations of each with those before it. Zero: no tile yet.
 */
struct order_state {
  uint64_t tiles;
  uint64_t totals[SUPEROP_COLUMNS_MAX][64], until[SUPEROP_COLUMNS_MAX][64];
};

/* The combination of all tiles so far, at least one, to item 0 of `out`. */
void order_before(const struct order_function *, const struct order_state *,
                  const struct order_columns *out);
/* One more tile, whose total is item 0 of `total`. */
void order_advance(const struct order_function *, struct order_state *,
                   const struct order_columns *total);

#endif
