/* move.h - kernels that move data: copies past the caches, values spread over
 * segments, gathers, scatters, packing, and the arithmetic of offsets.
 *
 * What depends on the segment of a position is first *expanded*: written out for as many
 * positions as fit the first-level cache. Segments are expanded with stores of one or two
 * whole vectors that run past the end of a short segment and are overwritten by the next one,
 * so a segment costs a few cycles without a branch on its length. Everything after that is
 * a straight loop over positions.
 */
#ifndef RAVEL_CPU_KERNELS_MOVE_H
#define RAVEL_CPU_KERNELS_MOVE_H

#include <string.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/kernels.h"

/* A walk over the positions of a segmented vector. `segment` is the next segment to start;
 * those before it start before or at `position`. */
struct walk {
  const uint64_t *offsets; /* of the descriptor, or NULL: */
  uint64_t equal;          /* length of every segment */
  uint64_t segment, position;
  bool wide; /* whether two vectors at once suit the segments better than one */
};

/* Segments of three and more on average vary across the length of a vector of 64-bit elements,
 * and a branch on that is hardly ever foreseen. Equal ones do not vary. */
enum { WIDE_LENGTH = 3, SPREAD_SLACK = 2 * VECTOR_SLACK };

static inline struct walk walk_from(const struct segments *s, struct path_coordinate at) {
  const bool wide = s->offsets && s->total / WIDE_LENGTH >= s->count;
  return (struct walk){s->offsets, s->equal, at.segment, at.position, wide};
}

/* Where segment k of the walk starts; k may be the number of segments. */
static inline uint64_t walk_start(const struct walk *w, uint64_t k) {
  return w->offsets ? w->offsets[k] : k * w->equal;
}

#define NOWHERE UINT64_MAX /* where an element goes that its flag excludes */

/* Kernels for elements of one size. */
struct move_width {
  /* Writes values[k] for each position of segment k between w->position and `last`, to out[0
   * ..]; writes up to SPREAD_SLACK bytes more. Advances w to `last`. */
  void (*dist)(struct walk *w, uint64_t last, const void *values, void *out);
  /* out[i] = v[at[i]]; gather_some: zero where at[i] is NOWHERE. */
  void (*gather)(uint64_t n, const void *v, const uint64_t *at, void *out);
  void (*gather_some)(uint64_t n, const void *v, const uint64_t *at, void *out);
  /* out[at[i]] = v[i] in increasing order of i, where low <= at[i] < high. */
  void (*scatter)(uint64_t n, const void *v, const uint64_t *at, uint64_t low, uint64_t high,
                  void *out);
  /* out[at[i]] = v[i] and mark[at[i]] = 1; others may do the same at the same time. */
  void (*scatter_marking)(uint64_t n, const void *v, const uint64_t *at, uint8_t *mark,
                          void *out);
  /* The elements i < n with bit i of the masks set, in order; writes up to VECTOR_SLACK bytes
   * more. Returns their number. */
  uint64_t (*compress)(uint64_t n, const void *v, const uint64_t *masks, void *out);
};

/* What a summary of lengths says; negative lengths count as large ones. */
struct length_summary {
  uint64_t least, most, sum; /* the sum modulo 2^64 */
};

/* Kernels for one width of INT. */
struct move_int {
  /* n, or the first i whose index[i] is not less than the limit. */
  uint64_t (*within)(uint64_t n, const void *index, uint64_t limit);
  /* start[k] + j * stride[k] at position j of segment k; otherwise like dist. */
  void (*index)(struct walk *w, uint64_t last, const void *start, const void *stride,
                void *out);
  /* at[i] += index[i] where index[i] is less than limit[i], both for i < n. With flags (not
   * NULL), at[i] = NOWHERE where the flag is 0, and the index there is not looked at. Returns
   * n, or the first i whose index is out of range. */
  uint64_t (*locate)(uint64_t n, const void *index, const uint8_t *flags, const uint64_t *limit,
                     uint64_t *at);
  /* The same with limit[i] and the base packed in one word, as expand_packed writes them. */
  uint64_t (*locate_packed)(uint64_t n, const void *index, const uint8_t *flags,
                            const uint64_t *packed, uint64_t *at);
  /* The same with one limit for all. */
  uint64_t (*locate_equal)(uint64_t n, const void *index, const uint8_t *flags, uint64_t limit,
                           uint64_t *at);
  /* The same with one base and one limit for all. */
  uint64_t (*locate_in_one)(uint64_t n, const void *index, const uint8_t *flags, uint64_t base,
                            uint64_t limit, uint64_t *at);
  struct length_summary (*summarize)(uint64_t n, const void *lengths);
  /* offsets[i] = start + the sum of the lengths before i; returns start + the sum of all. */
  uint64_t (*offsets_of)(uint64_t n, const void *lengths, uint64_t start, uint64_t *offsets);
  /* out[i] = offsets[i + 1] - offsets[i]; returns n, or the first i where it does not fit. */
  uint64_t (*lengths_of)(uint64_t n, const uint64_t *offsets, void *out);
};

struct move_kernels {
  struct move_width width[4]; /* by the binary logarithm of the size: 0, 2 or 3 */
  struct move_int ints[2];    /* 32 bits, 64 bits */
  /* Copies without disturbing the caches; stream_end, afterwards on the same thread, makes it
   * visible to the others. */
  void (*stream)(void *to, const void *from, size_t bytes);
  void (*stream_end)(void);
  /* The start and the length of segment k of `other`, spread like dist. */
  void (*expand)(struct walk *w, uint64_t last, const struct segments *other, uint64_t *base,
                 uint64_t *limit);
  /* The same in one word: start + (length << 32). `other` has less than 2^32 elements. */
  void (*expand_packed)(struct walk *w, uint64_t last, const struct segments *other,
                        uint64_t *packed);
  /* The starts alone, where both have segments of equal lengths: by arithmetic. */
  void (*expand_equal)(struct walk *w, uint64_t last, uint64_t other_equal, uint64_t *base);
  /* The start and the length of segments first .. first+n-1. */
  void (*bounds)(const struct segments *, uint64_t first, uint64_t n, uint64_t *base,
                 uint64_t *limit);
  /* source[at[i] - low] = i, where low <= at[i] < low + n; false if a position is missing. */
  bool (*invert)(uint64_t n, const uint64_t *at, uint64_t low, uint64_t *source);
  /* Number of flags set. */
  uint64_t (*count)(uint64_t n, const uint8_t *flags);
  /* Flags as bits: (n + 63) / 64 words, the bits past n clear. */
  void (*masks)(uint64_t n, const uint8_t *flags, uint64_t *masks);
  /* For each segment that starts in [w->position, last): offsets[k] = before + the number of
   * mask bits before its start, bit 0 being w->position. Moves w on to `last`. */
  void (*ranks)(struct walk *w, uint64_t last, const uint64_t *masks, uint64_t before,
                uint64_t *offsets);
};

static inline const struct move_width *move_width(const struct move_kernels *m, size_t bytes) {
  return &m->width[bytes == 8 ? 3 : bytes == 4 ? 2 : 0];
}
/* Copies, past the caches or into them. */
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
