/* rank-elem.h - keys and short ranks for one type of elements. Included by
 * rank.c with KIND, ELEMENT and KEY defined; undefines them.
 */
#define NAMED(name)          COMBINE_EXPAND_NAME(name, KIND)
#define NAMED_FOR(name, way) COMBINE_EXPAND_NAME(COMBINE_EXPAND_NAME(name, KIND), way)

ALWAYS_INLINE struct radix_keys NAMED(keys)(const void *data, uint64_t n, int down) {
  const ELEMENT *x = data;
  const KEY first = NAMED(key)(x[0], down);
  KEY least = first, most = first, varying = 0;
  for (uint64_t i = 0; i < n; i++) {
    const KEY k = NAMED(key)(x[i], down);
    least = k < least ? k : least;
    most = k > most ? k : most;
    varying |= k ^ first;
  }
  return (struct radix_keys){least, most, varying};
}

ALWAYS_INLINE void NAMED(items)(const void *data, uint64_t first, uint64_t n,
                                const struct radix_format *f, int down, void *items) {
  const ELEMENT *x = (const ELEMENT *)data + first;
  const uint64_t least = f->least;
  const unsigned low = f->low;
  if (f->wide) {
    struct wide_item *to = (struct wide_item *)items + first;
    for (uint64_t i = 0; i < n; i++) {
      to[i] = (struct wide_item){((uint64_t)NAMED(key)(x[i], down) - least) >> low, first + i};
    }
  } else {
    uint64_t *to = (uint64_t *)items + first;
    const unsigned position_bits = f->position_bits;
    for (uint64_t i = 0; i < n; i++) {
      const uint64_t k = ((uint64_t)NAMED(key)(x[i], down) - least) >> low;
      to[i] = k << position_bits | (first + i);
    }
  }
}

/* Ranks segments of at most RANK_FEW elements, with at most STRIP + RANK_FEW elements in all.
 * One loop over the strip compares all pairs of elements at distance s. */
ALWAYS_INLINE void NAMED(few)(const ELEMENT *x, const uint64_t *offsets, uint64_t count,
                              int down, KEY *rank) {
  KEY keys[LANES + STRIP + RANK_FEW + LANES], ranks[LANES + STRIP + RANK_FEW + LANES];
  uint8_t position[STRIP + 2 * RANK_FEW]; /* position within its segment */
  KEY *key = keys + LANES, *r = ranks + LANES;
  const int n = (int)(offsets[count] - offsets[0]);
  static const uint8_t counting[RANK_FEW] = {0, 1, 2, 3, 4, 5, 6, 7};
  uint64_t most = 0;
  for (uint64_t k = 0; k < count; k++) {
    memcpy(position + (offsets[k] - offsets[0]), counting, sizeof counting);
    const uint64_t length = offsets[k + 1] - offsets[k];
    most = length > most ? length : most;
  }
  for (int i = 0; i < n; i++) key[i] = NAMED(key)(x[i], down);
  for (int i = 0; i < n; i++) r[i] = 0;
  for (int s = 1; s < (int)most; s++) {
    KEY before[STRIP +
               RANK_FEW]; /* 1 if the element s positions earlier stays before this one */
    for (int i = 0; i < n; i++) before[i] = key[i - s] <= key[i];
    for (int i = s; i < n; i++) r[i] += position[i] >= s ? before[i] : 0;
    for (int i = s; i < n; i++) r[i - s] += position[i] >= s ? before[i] ^ 1 : 0;
  }
  memcpy(rank, r, (size_t)n * sizeof *rank);
}

/* Ranks one segment of at most RANK_SOME elements by comparing all pairs. */
ALWAYS_INLINE void NAMED(some)(const ELEMENT *x, int n, int down, KEY *rank) {
  KEY key[RANK_SOME];
  for (int i = 0; i < n; i++) key[i] = NAMED(key)(x[i], down);
  for (int i = 0; i < n; i++) rank[i] = 0;
  for (int j = 0; j < n; j++) {
    const KEY k = key[j];
    for (int i = 0; i < n; i++) {
      rank[i] += (KEY)((k < key[i]) | ((k == key[i]) & (j < i)));
    }
  }
}

/* Writes the elements of the given segments in the order of their ranks. */
ALWAYS_INLINE void NAMED(put)(const ELEMENT *x, const uint64_t *offsets, uint64_t count,
                              const KEY *rank, ELEMENT *out) {
  for (uint64_t k = 0; k < count; k++) {
    for (uint64_t i = offsets[k]; i < offsets[k + 1]; i++) {
      out[offsets[k] + rank[i - offsets[0]]] = x[i];
    }
  }
}

/* Writes ranks of rank_bytes each, or the sorted elements themselves if rank_bytes is 0. */
ALWAYS_INLINE uint64_t NAMED(segments)(const void *data, const uint64_t *offsets,
                                       uint64_t count, int down, size_t rank_bytes, void *out) {
  const ELEMENT *x = data;
  KEY rank[STRIP + RANK_SOME];
  for (uint64_t k = 0; k < count;) {
    const uint64_t start = offsets[k];
    uint64_t to = k;
    while (to < count && offsets[to + 1] - offsets[to] <= RANK_FEW &&
           offsets[to + 1] - start <= STRIP) {
      to++;
    }
    if (to > k) {
      NAMED(few)(x + start, offsets + k, to - k, down, rank);
    } else {
      if (offsets[k + 1] - start > RANK_SOME) return k;
      NAMED(some)(x + start, (int)(offsets[k + 1] - start), down, rank);
      to = k + 1;
    }
    const int n = (int)(offsets[to] - start);
    if (rank_bytes == 0) {
      NAMED(put)(x, offsets + k, to - k, rank, out);
    } else if (rank_bytes == sizeof(int32_t)) {
      int32_t *r = (int32_t *)out + start;
      for (int i = 0; i < n; i++) r[i] = (int32_t)rank[i];
    } else {
      int64_t *r = (int64_t *)out + start;
      for (int i = 0; i < n; i++) r[i] = (int64_t)rank[i];
    }
    k = to;
  }
  return count;
}

#include "cvl-cpu/kernels/sort-elem.h"

#define INSTANCES(way, down)                                                                   \
  static struct radix_keys NAMED_FOR(keys, way)(const void *x, uint64_t n) {                   \
    return NAMED(keys)(x, n, down);                                                            \
  }                                                                                            \
  static void NAMED_FOR(items, way)(const void *x, uint64_t first, uint64_t n,                 \
                                    const struct radix_format *f, void *items) {               \
    NAMED(items)(x, first, n, f, down, items);                                                 \
  }                                                                                            \
  static uint64_t NAMED_FOR(segments, way##_i32)(const void *x, const uint64_t *offsets,       \
                                                 uint64_t count, void *out) {                  \
    return NAMED(segments)(x, offsets, count, down, sizeof(int32_t), out);                     \
  }                                                                                            \
  static uint64_t NAMED_FOR(segments, way##_i64)(const void *x, const uint64_t *offsets,       \
                                                 uint64_t count, void *out) {                  \
    return NAMED(segments)(x, offsets, count, down, sizeof(int64_t), out);                     \
  }                                                                                            \
  static uint64_t NAMED_FOR(ordered, way)(const void *x, const uint64_t *offsets,              \
                                          uint64_t count, void *out) {                         \
    return NAMED(segments)(x, offsets, count, down, 0, out);                                   \
  }                                                                                            \
  static void NAMED_FOR(count, way)(const void *x, uint64_t first, uint64_t n,                 \
                                    const struct radix_digit *d, uint64_t *counts) {           \
    NAMED(count)((const ELEMENT *)x + first, n, d, down, counts);                              \
  }                                                                                            \
  static void NAMED_FOR(move, way)(const void *x, uint64_t first, uint64_t n,                  \
                                   const struct radix_digit *d, uint64_t *next, void *to) {    \
    NAMED(move)((const ELEMENT *)x + first, n, d, down, next, to);                             \
  }                                                                                            \
  static void NAMED_FOR(bucket, way)(void *at, void *other, uint64_t first, uint64_t n,        \
                                     const struct radix_bits *b, bool stay) {                  \
    NAMED(bucket)((ELEMENT *)at + first, (ELEMENT *)other + first, n, b, down, stay);          \
  }
INSTANCES(up, 0)
INSTANCES(down, 1)
#undef INSTANCES
#undef NAMED
#undef NAMED_FOR
#undef KIND
#undef ELEMENT
#undef KEY
