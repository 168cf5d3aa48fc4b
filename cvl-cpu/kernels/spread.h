/* spread.h - the kernels of move.c that walk over segments: they spread what belongs to a
 * segment over its positions. Each is written once, with the start of a segment as an
 * expression, and instantiated for offsets and for equal lengths. */
#ifndef RAVEL_CPU_KERNELS_SPREAD_H
#define RAVEL_CPU_KERNELS_SPREAD_H

#include <string.h>

#include "cvl-cpu/kernels/move.h"

/* Returns where segment k of the walk starts. k may be the number of segments. */
static inline __attribute__((always_inline)) uint64_t start_of(const uint64_t *offsets,
                                                               uint64_t equal, uint64_t k) {
  return offsets ? offsets[k] : k * equal;
}

/* The loop that all walks share. FILL(k, from, to) writes the positions from .. to-1 of segment
 * k. It may write SPREAD_SLACK bytes more, which the next call overwrites. */
#define SPREAD_BODY(offsets, equal)                                                            \
  {                                                                                            \
    const uint64_t begin = w->position;                                                        \
    uint64_t k = w->segment, p = begin;                                                        \
    if (p < last) {                                                                            \
      const uint64_t start = start_of(offsets, equal, k);                                      \
      if (p < start) { /* the rest of a segment that started earlier */                        \
        const uint64_t stop = start < last ? start : last;                                     \
        FILL(k - 1, p, stop);                                                                  \
        p = stop;                                                                              \
      }                                                                                        \
    }                                                                                          \
    while (p < last) {                                                                         \
      const uint64_t end = start_of(offsets, equal, k + 1);                                    \
      const uint64_t stop = end < last ? end : last;                                           \
      FILL(k, p, stop);                                                                        \
      p = stop;                                                                                \
      k++;                                                                                     \
    }                                                                                          \
    w->segment = k;                                                                            \
    w->position = last;                                                                        \
  }

#define SPREAD                                                                                 \
  if (w->offsets) {                                                                            \
    const uint64_t *const offsets = w->offsets;                                                \
    SPREAD_BODY(offsets, 0)                                                                    \
  } else {                                                                                     \
    const uint64_t equal = w->equal;                                                           \
    SPREAD_BODY((const uint64_t *)NULL, equal)                                                 \
  }

#define DIST(suffix, type)                                                                     \
  static inline void fill_##suffix(type *out, uint64_t n, type x, bool wide) {                 \
    enum { LANES = VECTOR_SLACK / sizeof(type) };                                              \
    for (int j = 0; j < LANES; j++) out[j] = x;                                                \
    if (wide) {                                                                                \
      for (int j = LANES; j < 2 * LANES; j++) out[j] = x;                                      \
    }                                                                                          \
    for (uint64_t i = wide ? 2 * LANES : LANES; i < n; i += LANES) {                           \
      for (uint64_t j = 0; j < LANES; j++) out[i + j] = x;                                     \
    }                                                                                          \
  }                                                                                            \
  static void dist_##suffix(struct walk *w, uint64_t last, const void *values, void *to) {     \
    const bool wide = w->wide;                                                                 \
    const type *v = values;                                                                    \
    type *out = to;                                                                            \
    SPREAD                                                                                     \
  }
#define FILL(k, from, to) FILL_WITH(out + (from - begin), to - from, v[k], wide)
#define FILL_WITH         fill_8
DIST(8, uint8_t)
#undef FILL_WITH
#define FILL_WITH fill_32
DIST(32, uint32_t)
#undef FILL_WITH
#define FILL_WITH fill_64
DIST(64, uint64_t)
#undef FILL_WITH
#undef FILL

/* A progression is written one VECTOR_SLACK at a time, in the compiler's vector types.
 * Otherwise the compiler would unroll the short loop. */
typedef uint32_t lanes_32 __attribute__((vector_size(VECTOR_SLACK), aligned(4), may_alias));
typedef uint64_t lanes_64 __attribute__((vector_size(VECTOR_SLACK), aligned(8), may_alias));
#define FIRST_LANES_32                                                                         \
  { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }
#define FIRST_LANES_64                                                                         \
  { 0, 1, 2, 3, 4, 5, 6, 7 }

#define INDEX(suffix, type)                                                                    \
  static inline void progression_##suffix(type *out, uint64_t n, type x, type step,            \
                                          bool wide) {                                         \
    enum { LANES = VECTOR_SLACK / sizeof(type) };                                              \
    const lanes_##suffix j = FIRST_LANES_##suffix;                                             \
    lanes_##suffix row = j * step + x;                                                         \
    *(lanes_##suffix *)(void *)out = row;                                                      \
    if (wide) {                                                                                \
      row += LANES * step;                                                                     \
      *(lanes_##suffix *)(void *)(out + LANES) = row;                                          \
    }                                                                                          \
    for (uint64_t i = wide ? 2 * LANES : LANES; i < n; i += LANES) {                           \
      row += LANES * step;                                                                     \
      *(lanes_##suffix *)(void *)(out + i) = row;                                              \
    }                                                                                          \
  }                                                                                            \
  static void index_i##suffix(struct walk *w, uint64_t last, const void *starts,               \
                              const void *strides, void *to) {                                 \
    const bool wide = w->wide;                                                                 \
    const type *a = starts, *b = strides;                                                      \
    type *out = to;                                                                            \
    const uint64_t entered = w->segment;                                                       \
    const uint64_t resumed = entered ? w->position - walk_start(w, entered - 1) : 0;           \
    SPREAD                                                                                     \
  }
/* Only the first segment of a walk is entered in its middle. */
#define FILL(k, from, to)                                                                      \
  FILL_WITH(out + (from - begin), to - from,                                                   \
            k < entered ? AS(a[k] + AS(resumed) * b[k]) : a[k], b[k], wide)
#define FILL_WITH progression_32
#define AS(x)     ((uint32_t)(x))
INDEX(32, uint32_t)
#undef FILL_WITH
#undef AS
#define FILL_WITH progression_64
#define AS(x)     ((uint64_t)(x))
INDEX(64, uint64_t)
#undef FILL_WITH
#undef AS
#undef FILL

#define FILL(k, from, to)                                                                      \
  {                                                                                            \
    const uint64_t other_start = start_of(other->offsets, other->equal, k);                    \
    const uint64_t other_end = start_of(other->offsets, other->equal, k + 1);                  \
    fill_64(base + (from - begin), to - from, other_start, wide);                              \
    fill_64(limit + (from - begin), to - from, other_end - other_start, wide);                 \
  }
static void expand(struct walk *w, uint64_t last, const struct segments *other, uint64_t *base,
                   uint64_t *limit) {
  const bool wide = w->wide;
  SPREAD
}
#undef FILL

#define FILL(k, from, to)                                                                      \
  {                                                                                            \
    const uint64_t other_start = start_of(other_offsets, other_equal, k);                      \
    const uint64_t other_end = start_of(other_offsets, other_equal, (k) + 1);                  \
    fill_64(packed + (from - begin), to - from, other_start | (other_end - other_start) << 32, \
            wide);                                                                             \
  }
static void expand_packed(struct walk *w, uint64_t last, const struct segments *other,
                          uint64_t *packed) {
  const bool wide = w->wide;
  const uint64_t *const other_offsets = other->offsets, other_equal = other->equal;
  SPREAD
}
#undef FILL

/* Writes a row of lanes at a time; `position` is that of each lane in its segment. From row to
 * row a lane passes LANES / equal whole segments and then at most one end. */
static void expand_equal(struct walk *w, uint64_t last, uint64_t other_equal, uint64_t *base) {
  enum { LANES = VECTOR_SLACK / sizeof(uint64_t) };
  const uint64_t equal = w->equal, begin = w->position, n = last - begin;
  uint64_t k = begin / equal, at = begin % equal;
  uint64_t first_position[LANES], first_start[LANES];
  for (int j = 0; j < LANES; j++) {
    first_position[j] = at;
    first_start[j] = k * other_equal;
    if (++at == equal) {
      at = 0;
      k++;
    }
  }
  lanes_64 position, start;
  memcpy(&position, first_position, sizeof position);
  memcpy(&start, first_start, sizeof start);
  const uint64_t rest = LANES % equal, passed = LANES / equal * other_equal;
  for (uint64_t i = 0; i < n; i += LANES) {
    *(lanes_64 *)(void *)(base + i) = start;
    position += rest;
    start += passed;
    const lanes_64 ended = (lanes_64)(position >= equal);
    position -= ended & equal;
    start += ended & other_equal;
  }
  w->segment = (last + equal - 1) / equal;
  w->position = last;
}

#define RANKS_BODY(offsets, equal)                                                             \
  for (;;) {                                                                                   \
    const uint64_t start = start_of(offsets, equal, k);                                        \
    if (start >= last) break;                                                                  \
    const uint64_t i = start - begin;                                                          \
    out[k++] = prefix[i / 64] + COUNT_BITS(masks[i / 64] & ((UINT64_C(1) << (i % 64)) - 1));   \
  }
#define COUNT_BITS(x) ((uint64_t)__builtin_popcountll(x))
/* The loop over segments need not compare k with the count: offsets[count], or count * equal,
 * is the end of the vector, which is `last` or beyond. */
static void ranks(struct walk *w, uint64_t last, const uint64_t *masks, uint64_t before,
                  uint64_t *out) {
  enum { MOST_WORDS = STAGING_BYTES / 64 };
  uint64_t prefix[MOST_WORDS];
  const uint64_t begin = w->position;
  for (uint64_t i = 0; i < (last - begin + 63) / 64; i++) {
    prefix[i] = before;
    before += COUNT_BITS(masks[i]);
  }
  uint64_t k = w->segment;
  if (w->offsets) {
    const uint64_t *const offsets = w->offsets;
    RANKS_BODY(offsets, 0)
  } else {
    const uint64_t equal = w->equal;
    RANKS_BODY((const uint64_t *)NULL, equal)
  }
  w->segment = k;
  w->position = last;
}

#undef SPREAD
#undef SPREAD_BODY
#undef RANKS_BODY
#undef DIST
#undef INDEX

#endif
