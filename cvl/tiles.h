/* tiles.h - a scan of one segment whose elements lie in several contexts, tiles of
 * CVL_SCAN_TILE elements whole in one: the caller computes the levels above.
 */
#ifndef RAVEL_CVL_TILES_H
#define RAVEL_CVL_TILES_H

#include "cvl/superop.h"
#include "cvl/trees.h"

/* Operands are borrowed. */
struct cvl_tiles {
  /* out[k] = total of tile k of v, for all that are full. */
  bool (*scan_totals)(struct cvl_context *, uint64_t site, enum cvl_op,
                      const struct cvl_value *v, struct cvl_value *out);
  /* The scan of v, of which the last tile may be short, with before[k], of the same type,
   * before tile k; `begins`: v begins where the segment does, and its first result is the
   * identity. */
  bool (*scan_tiles)(struct cvl_context *, uint64_t site, enum cvl_op, bool begins,
                     const struct cvl_value *v, const struct cvl_value *before,
                     struct cvl_value *out);
  /* `run` of a superoperator that is one combination of scans, where the elements of a
   * segment lie in several contexts: of those of one segment from a multiple of
   * CVL_REDUCE_BLOCK, which is not 0, on. before[j], borrowed: of column j, P of every such
   * multiple from the first element to the last, or just behind it. The caller computes these,
   * by reductions of tiles and the same scan of what they give. Identities are not read. */
  bool (*run_tiles)(struct cvl_context *, uint64_t site, struct cvl_kernel *,
                    const struct cvl_value *operands, const struct cvl_value *before,
                    struct cvl_value *outs);
};

#endif
