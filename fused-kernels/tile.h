/* tile.h - how a back end calls the function of a tile (emit.h), which executes a superoperator
 * for some thousand positions. The structs stand as text in every file that is compiled, and
 * are included by the back end that calls it: both must see the same.
 *
 * A tile is executed strip by strip. Values that are not in memory have a buffer for a strip,
 * or for all of the tile; the caller says where, and whether the next strip is behind this one.
 */
#ifndef RAVEL_FUSED_TILE_H
#define RAVEL_FUSED_TILE_H

#include <stdint.h>

#include "cvl/trees.h"

/* A walk over the positions of segments. `segment` is that of the last position, or one before.
 */
struct tile_walk {
  const uint64_t *offsets; /* count + 1 starts of segments, or NULL: */
  uint64_t equal;          /* all of this length */
  uint64_t segment;
  /* A buffer that holds so many times what belongs to a segment: not to be filled again. */
  const void *filled;
  uint64_t filled_segment, filled_count;
};

/* The operands of a gather. For each position of the strip, `base` and `limit` have where its
 * segment begins there and how long it is; they are not set for a gather of a block from one
 * segment. */
struct fused_gathered {
  const void *values;
  uint64_t count;
  uint64_t *base, *limit;
};

/* An INDEX of one segment in a block: start + stride * position. */
struct fused_progression {
  uint64_t start, stride;
};

/* How the function treats a node that is not of a block. */
enum tile_act {
  TILE_NOTHING, /* its result is not needed, or is there */
  TILE_FILL,    /* fills the buffer */
  TILE_RUNS     /* a gather by an INDEX of stride 1: copies runs */
};

/* A node that spreads, counts or gathers. */
struct tile_node {
  uint8_t act;                  /* enum tile_act */
  struct tile_walk near;        /* over the positions */
  const uint64_t *far_offsets;  /* of a gather: the segments that it reads from ... */
  uint64_t far_equal;           /* ... as in struct tile_walk */
  struct tile_walk index;       /* of a gather of runs: over the segments of its INDEX */
  const void *values, *strides; /* one for each segment; of a gather what it reads; of one
                                   of runs, the starts of its INDEX, and how many: */
  const void *starts;
  uint64_t runs;
  struct fused_gathered gathered;    /* of a gather of a block */
  struct fused_progression index_of; /* of an INDEX of a block: at position 0 */
};

/* A PACK. */
struct tile_pack {
  char *out;         /* where its elements go; NULL: they are not wanted */
  uint64_t kept;     /* so many are there */
  uint64_t *offsets; /* where segments begin in the result, or NULL: not wanted ... */
  struct tile_walk near;
  uint64_t count; /* ... of so many segments; near.segment: the next to begin */
};

/* A vector that is read in order, to be prefetched: what is read of it at position 0, which may
 * lie outside of it; the bytes of an element; its number as a parameter. */
struct tile_stream {
  const char *at;
  uint32_t bytes, param;
};

/* The positions that a stage prefetches meanwhile: `far` positions behind each of its own, the
 * first of which is `position`. */
struct tile_ahead {
  const struct tile_stream *streams;
  uint64_t count, position, far;
};

struct tile {
  char *const *data; /* of every value: its elements, for the first position */
  const uint64_t
      *step; /* of every value: bytes from a position to the next; 0: a strip's buffer */
  struct tile_node *nodes; /* of every node */
  struct tile_pack *packs; /* in the order of the nodes */
  uint64_t strip; /* positions of a strip */
  const struct tile_stream *streams;
  uint64_t stream_count;
  uint64_t ahead; /* positions to prefetch ahead, or 0 */
  /* Functions of the caller. `fails` reports a fault.
   * `done` reports that a strip is done, or is NULL. */
  void *with;
  void (*fails)(void *with, uint32_t node, uint64_t position);
  void (*done)(void *with, uint64_t position, uint64_t n);
};

/* Executes positions first .. first + n - 1. */
typedef void tile_function(struct tile *, uint64_t first, uint64_t n);

#endif
