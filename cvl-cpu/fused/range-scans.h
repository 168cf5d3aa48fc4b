/* range-scans.h - scans in ranges. The compiled function writes the elements of a scan to its
 * result, or to a room of the thread if that is to bypass the caches. Once the ranges before
 * have had their turn, they are scanned there. Scans of INTs and BOOLs, which have the same
 * bits in any order, it does itself, but for what comes before the range. Private to this
 * folder.
 */
#ifndef RAVEL_CPU_FUSED_RANGE_SCANS_H
#define RAVEL_CPU_FUSED_RANGE_SCANS_H

#include "cvl-cpu/fused/range-part.h"

/* What a range has: segments from .. whole - 1, and parts of a long one before them and of one
 * behind. Of one segment a range is a part. It ends before position `high`. */
struct range_share {
  uint64_t from, whole, high;
  struct segment_range in, out;
};

/* Bytes of a worker for scans; sets it up in memory, if there is any. */
size_t range_scans_at(const struct ranges *, struct range_worker *, char *memory);
/* Where the function writes the elements of a scan, of a part. */
char *range_scan_elements(const struct ranges *, const struct range_worker *,
                          const struct range_part *, uint32_t output);
/* Before the turn of a range; in it; after it. */
void range_scans_before(const struct ranges *, struct range_worker *,
                        const struct range_share *);
void range_scans_turn(const struct ranges *, struct range_worker *, const struct range_share *);
void range_scans_after(const struct ranges *, struct range_worker *,
                       const struct range_share *);

#endif
