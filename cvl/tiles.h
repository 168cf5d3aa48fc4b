/* tiles.h - a scan of one segment whose elements lie in several contexts. Tiles of
 * CVL_SCAN_TILE elements are whole in one context, and the caller computes the levels above.
 */
#ifndef RAVEL_CVL_TILES_H
#define RAVEL_CVL_TILES_H

#include "cvl/superop.h"
#include "cvl/trees.h"

/* All operands are borrowed. */
struct cvl_tiles {
  /* Sets out[k] to the total of tile k of v, for all tiles that are full. */
  bool (*scan_totals)(struct cvl_context *, uint64_t site, enum cvl_op,
                      const struct cvl_value *v, struct cvl_value *out);
  /* Scans v, whose last tile may be short. before[k], of the same type, is the prefix before
   * tile k. `begins`: v begins where the segment does, and its first result is the identity. */
  bool (*scan_tiles)(struct cvl_context *, uint64_t site, enum cvl_op, bool begins,
                     const struct cvl_value *v, const struct cvl_value *before,
                     struct cvl_value *out);
  /* Does `run` for a superoperator that is one combination of scans. The elements of a segment
   * lie in several contexts; these are elements of one segment, from a multiple of
   * CVL_REDUCE_BLOCK on, which is not 0. before[j], borrowed, has P of column j for every such
   * multiple, from the first element to the last, or just behind it. The caller computes these
   * by reductions of tiles, and by the same scan of their results. Identities are not read. */
  bool (*run_tiles)(struct cvl_context *, uint64_t site, struct cvl_kernel *,
                    const struct cvl_value *operands, const struct cvl_value *before,
                    struct cvl_value *outs);
};

#endif
