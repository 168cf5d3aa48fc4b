/* move.h - kernels that move data: copies past the caches, values spread over segments,
 * gathers, scatters, packing, and the arithmetic of offsets.
 *
 * A value that depends on the segment of a position is first *expanded*: it is written out for
 * as many positions as fit the first-level cache. Segments are expanded with stores of one or
 * two whole vectors. These run past the end of a short segment, and the next segment overwrites
 * that. So a segment costs a few cycles, without a branch on its length. Everything after that
 * is a straight loop over positions.
 */
#ifndef RAVEL_CPU_KERNELS_MOVE_H
#define RAVEL_CPU_KERNELS_MOVE_H

#include <string.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/kernels.h"

/* A walk over the positions of a segmented vector. `segment` is the next segment to start.
 * Earlier segments start before or at `position`. */
struct walk {
  const uint64_t *offsets; /* offsets of the descriptor, or NULL for equal segments */
  uint64_t equal;          /* length of every segment */
  uint64_t segment, position;
  bool wide; /* whether storing two vectors at once suits the segments better than one */
};

/* If segments have three or more elements on average, some of them exceed a vector of 64-bit
 * elements, and a branch on that would rarely be predicted. Equal segments do not vary. */
enum { WIDE_LENGTH = 3, SPREAD_SLACK = 2 * VECTOR_SLACK };

static inline struct walk walk_from(const struct segments *s, struct path_coordinate at) {
  const bool wide = s->offsets && s->total / WIDE_LENGTH >= s->count;
  return (struct walk){s->offsets, s->equal, at.segment, at.position, wide};
}

/* Returns where segment k of the walk starts. k may be the number of segments. */
static inline uint64_t walk_start(const struct walk *w, uint64_t k) {
  return w->offsets ? w->offsets[k] : k * w->equal;
}

#define NOWHERE UINT64_MAX /* the position of an element that its flag excludes */

/* Kernels for elements of one size. */
struct move_width {
  /* Writes values[k] for each position of segment k between w->position and `last` to out[0
   * ..]. Writes up to SPREAD_SLACK bytes more. Advances w to `last`. */
  void (*dist)(struct walk *w, uint64_t last, const void *values, void *out);
  /* Sets out[i] to v[at[i]]. gather_some writes zero where at[i] is NOWHERE. */
  void (*gather)(uint64_t n, const void *v, const uint64_t *at, void *out);
  void (*gather_some)(uint64_t n, const void *v, const uint64_t *at, void *out);
  /* Sets out[at[i]] to v[i] in increasing order of i, where low <= at[i] < high. */
  void (*scatter)(uint64_t n, const void *v, const uint64_t *at, uint64_t low, uint64_t high,
                  void *out);
  /* Sets out[at[i]] to v[i] and mark[at[i]] to 1. Other threads may do this at the same
   * time. */
  void (*scatter_marking)(uint64_t n, const void *v, const uint64_t *at, uint8_t *mark,
                          void *out);
  /* Copies the elements i < n whose bit i of the masks is set, in order. Writes up to
   * VECTOR_SLACK bytes more. Returns their number. */
  uint64_t (*compress)(uint64_t n, const void *v, const uint64_t *masks, void *out);
};

/* A summary of lengths. Negative lengths count as large ones. */
struct length_summary {
  uint64_t least, most, sum; /* the sum modulo 2^64 */
};

/* Kernels for one width of INT. */
struct move_int {
  /* Returns n, or the first i whose index[i] is not less than the limit. */
  uint64_t (*within)(uint64_t n, const void *index, uint64_t limit);
  /* Writes start[k] + j * stride[k] at position j of segment k; otherwise like dist. */
  void (*index)(struct walk *w, uint64_t last, const void *start, const void *stride,
                void *out);
  /* Adds index[i] to at[i] where index[i] is less than limit[i], for i < n. If flags is not
   * NULL, at[i] becomes NOWHERE where the flag is 0, and the index there is not read. Returns
   * n, or the first i whose index is out of range. */
  uint64_t (*locate)(uint64_t n, const void *index, const uint8_t *flags, const uint64_t *limit,
                     uint64_t *at);
  /* Does what locate does, with limit[i] and the base packed in one word, as expand_packed
   * writes them. */
  uint64_t (*locate_packed)(uint64_t n, const void *index, const uint8_t *flags,
                            const uint64_t *packed, uint64_t *at);
  /* Does what locate does, with one limit for all. */
  uint64_t (*locate_equal)(uint64_t n, const void *index, const uint8_t *flags, uint64_t limit,
                           uint64_t *at);
  /* Does what locate does, with one base and one limit for all. */
  uint64_t (*locate_in_one)(uint64_t n, const void *index, const uint8_t *flags, uint64_t base,
                            uint64_t limit, uint64_t *at);
  struct length_summary (*summarize)(uint64_t n, const void *lengths);
  /* Sets offsets[i] to start + the sum of the lengths before i. Returns start + the sum of
   * all. */
  uint64_t (*offsets_of)(uint64_t n, const void *lengths, uint64_t start, uint64_t *offsets);
  /* Sets out[i] to offsets[i + 1] - offsets[i]. Returns n, or the first i where that does not
   * fit. */
  uint64_t (*lengths_of)(uint64_t n, const uint64_t *offsets, void *out);
};

struct move_kernels {
  struct move_width width[4]; /* by binary logarithm of the element size: 0, 2 or 3 */
  struct move_int ints[2];    /* 32 bits, 64 bits */
  /* Copies without disturbing the caches. A later call of stream_end on the same thread makes
   * the copy visible to other threads. */
  void (*stream)(void *to, const void *from, size_t bytes);
  void (*stream_end)(void);
  /* Spreads the start and the length of segment k of `other`, like dist. */
  void (*expand)(struct walk *w, uint64_t last, const struct segments *other, uint64_t *base,
                 uint64_t *limit);
  /* Does what expand does, in one word: start + (length << 32). `other` has less than 2^32
   * elements. */
  void (*expand_packed)(struct walk *w, uint64_t last, const struct segments *other,
                        uint64_t *packed);
  /* Spreads the starts alone, by arithmetic, if both have segments of equal lengths. */
  void (*expand_equal)(struct walk *w, uint64_t last, uint64_t other_equal, uint64_t *base);
  /* Writes the start and the length of segments first .. first+n-1. */
  void (*bounds)(const struct segments *, uint64_t first, uint64_t n, uint64_t *base,
                 uint64_t *limit);
  /* Sets source[at[i] - low] to i where low <= at[i] < low + n. Returns false if a position is
   * missing. */
  bool (*invert)(uint64_t n, const uint64_t *at, uint64_t low, uint64_t *source);
  /* Returns the number of set flags. */
  uint64_t (*count)(uint64_t n, const uint8_t *flags);
  /* Writes flags as bits: (n + 63) / 64 words, in which bits past n are clear. */
  void (*masks)(uint64_t n, const uint8_t *flags, uint64_t *masks);
  /* For each segment k that starts in [w->position, last), sets offsets[k] to `before` + the
   * number of mask bits before its start, bit 0 being w->position. Advances w to `last`. */
  void (*ranks)(struct walk *w, uint64_t last, const uint64_t *masks, uint64_t before,
                uint64_t *offsets);
};

static inline const struct move_width *move_width(const struct move_kernels *m, size_t bytes) {
  return &m->width[bytes == 8 ? 3 : bytes == 4 ? 2 : 0];
}
/* Copies bytes, past the caches or into them. */
static inline void move_bytes(const struct move_kernels *m, bool streaming, void *to,
                              const void *from, size_t bytes) {
  if (streaming) {
    m->stream(to, from, bytes);
  } else {
    memcpy(to, from, bytes);
  }
}
static inline const struct move_int *move_int(const struct move_kernels *m, enum cvl_elem e) {
  return &m->ints[e == CVL_I64];
}

#endif
