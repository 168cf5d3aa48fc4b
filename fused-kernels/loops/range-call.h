/* range-call.h - how the function of a range of a kernel is called: for some of its positions,
 * or of its segments. It stands as text in every file that is compiled, and is included by the
 * back end that calls it: both must see the same.
 */
#ifndef RAVEL_FUSED_RANGE_CALL_H
#define RAVEL_FUSED_RANGE_CALL_H

#include <stdint.h>

/* How a parameter is read, and where what is given of it begins. Parameter p that is read in a
 * way has the number p + way * count of parameters. */
enum kernel_read_as {
  READ_BY_POSITIONS, /* an element for each position: with the first one of the range. A
                        descriptor that positions are in segments of, too: that of the range's
                        segments with the first of them, any other whole */
  READ_BY_SEGMENT,   /* one for each segment of the range: with the first segment */
  READ_WHOLE,        /* by an index; a descriptor of what is read so */
  READ_IN_SEGMENTS,  /* by an index within the segment of the same number: with the first */
  READ_PICKED,       /* by an index within a segment for each position: with the first one's */
  READ_WAYS
};

/* A range: n positions, of which the first is `at`. */
struct kernel_range {
  uint64_t at, n;
  /* It is a part of one segment, and begins with a block of the reproducible tree. Of segments
   * that the range has some of: how many positions of that one stand before it; else 0. */
  _Bool part;
  uint64_t before;
  /* Of every parameter in every way: elements; starts of segments; how many elements, or
   * segments. Of a descriptor that is one segment: its length. */
  const void *const *data;
  const uint64_t *const *offsets;
  const uint64_t *counts;
  /* Of every parameter: a descriptor whose segments go across those of the range: that of the
   * first position, or one before. */
  const uint64_t *segments;
  /* Of every output: what the range has of it. Of a scan of FLOATs the elements go there. Of
   * the reduction of a part: the totals of its blocks; of others there is room for those in
   * `totals`. */
  void *const *results;
  void *const *totals;
  /* Of every output of a pack: how many elements the range's results have. What it keeps is
   * appended to them, and counted. Of a descriptor that is kept: the results are where the
   * segments of the range begin, and where each ends is written there. */
  uint64_t *kept;
  /* Of every output of a scan of INTs or BOOLs, of a part: in its first bytes what comes before
   * it; the part is added to that. If it begins, nothing comes before it. */
  uint64_t *states;
  _Bool begins;
  /* Of every output of a scatter: where the segments begin that the range writes to. Where
   * several positions may write an element, only `spans` elements from `lows` on are written;
   * for the others there are other calls. Of a PERMUTE the marks of those that are written
   * become 1, if there are marks. */
  const uint64_t *written, *lows, *spans;
  uint8_t *const *marks;
  /* Of every column of every combination, and then of every combination that scatters its
   * index: where the elements go, unless they are those of a parameter, or all the same
   * (range.h). */
  void *const *columns;
  /* Unless it is NULL: now and then asked by loops whether to end. */
  _Bool (*asks)(void *with);
  void *with;
};

#endif
