/* range-combinations.h - combinations in ranges: the function writes columns, which combine/
 * reduces tile by tile, scans, or scatters. Private to this folder.
 */
#ifndef RAVEL_CPU_FUSED_RANGE_COMBINATIONS_H
#define RAVEL_CPU_FUSED_RANGE_COMBINATIONS_H

#include "cvl-cpu/fused/range-part.h"
#include "cvl-cpu/fused/range-scans.h"

/* Before a run: identities, results, and the columns that are vectors; false: no memory. After
 * it: scatters; false: a fault. */
bool range_combinations_begin(struct ranges *);
bool range_combinations_scatter(const struct ranges *);
/* Bytes that workers share, that one needs; sets them up in memory, if there is any. */
size_t range_combinations_shared_at(const struct ranges *, char *memory);
size_t range_combinations_at(const struct ranges *, struct range_worker *, char *memory);
/* Says where the function writes the columns of a part. */
void range_give_columns(const struct ranges *, struct range_worker *,
                        const struct range_part *);
/* Reduces what the part has written: whole segments, or a tile of a longer one. */
void range_combine(const struct ranges *, struct range_worker *, const struct range_part *);
/* Before the turn of a range; in it; after it. */
void range_combinations_before(struct range_worker *, const struct range_share *);
void range_combinations_turn(struct range_worker *, const struct range_share *);
void range_combinations_after(const struct ranges *, struct range_worker *,
                              const struct range_share *);

#endif
