/* tile-functions.h - what the text of a tile's function is written in (emit-tile.c): buffers of
 * a strip are filled segment by segment. INT and FLOAT are the types of elements.
 *
 * Whole groups of eight are stored, which run past the end of a short segment and are overwritten
 * by the next one: there is room for one more behind a buffer.
 */
#ifdef __GNUC__
#define APART  __attribute__((noinline, unused, hot)) /* compiled once, or never; not cold as its caller is */
#define SELDOM __attribute__((cold))     /* optimised for size */
#else
#define APART
#define SELDOM
#endif

#ifdef __GNUC__
#define PREFETCH(at) __builtin_prefetch(at, 0, 2)
#else
#define PREFETCH(at) (void)(at)
#endif

/* Prefetches into the second-level cache what is read later than at positions `row` to before
 * `end` of a strip: the hardware prefetcher stops at page boundaries, and there are more streams than
 * it follows. Lines are asked for a few at a time, since the processor waits for few at once; the
 * first-level cache would evict them before they are used. */
static inline void tile_prefetch(const struct tile_ahead *a, uint64_t row, uint64_t end) {
  for (uint64_t s = 0; s < a->count; s++) {
    const uint64_t bytes = a->streams[s].bytes, from = a->position + a->far;
    const uintptr_t at = (uintptr_t)a->streams[s].at;
    for (uint64_t i = (from + row) * bytes; i < (from + end) * bytes; i += 64) {
      PREFETCH((const void *)(at + i));
    }
  }
}

static inline uint64_t tile_start(const struct tile_walk *w, uint64_t k) {
  return w->offsets ? w->offsets[k] : k * w->equal;
}

/* Advances to the segment of a position; where it ends, or `last`. */
static inline uint64_t tile_end(struct tile_walk *w, uint64_t position, uint64_t last) {
  uint64_t end = tile_start(w, w->segment + 1);
  while (end <= position) end = tile_start(w, ++w->segment + 1);
  return end < last ? end : last;
}

/* Whether a buffer holds what belongs to the segment of all positions to before `last`. */
static inline int tile_filled(struct tile_walk *w, const void *out, uint64_t position,
                              uint64_t last) {
  const uint64_t n = last - position;
  if (tile_end(w, position, last) < last) return 0;
  const int filled = w->filled == out && w->filled_segment == w->segment && w->filled_count >= n;
  w->filled = out;
  w->filled_segment = w->segment;
  if (!filled) w->filled_count = n;
  return filled;
}

/* The element of each position's segment. */
#define DIST(name, type)                                                                       \
  static APART void name(struct tile_node *d, uint64_t at, uint64_t last, type *out) {        \
    const type *values = d->values;                                                            \
    if (tile_filled(&d->near, out, at, last)) return;                                          \
    while (at < last) {                                                                        \
      const uint64_t n = tile_end(&d->near, at, last) - at;                                    \
      const type x = values[d->near.segment];                                                  \
      for (uint64_t i = 0; i < n; i += 8) {                                                    \
        for (uint64_t j = 0; j < 8; j++) out[i + j] = x;                                       \
      }                                                                                        \
      out += n;                                                                                \
      at += n;                                                                                 \
    }                                                                                          \
  }
DIST(tile_dist_i, INT)
DIST(tile_dist_f, FLOAT)
DIST(tile_dist_b, uint8_t)
#undef DIST

/* In groups of eight, of which `steps` has the distances from the first: usually of one stride. */
static APART void tile_index(struct tile_node *d, uint64_t at, uint64_t last, INT *out) {
  const INT *starts = d->values, *strides = d->strides;
  if (!d->near.offsets && d->near.equal == 1) { /* each position is the first of its segment */
    memcpy(out, starts + at, (last - at) * sizeof *out);
    return;
  }
  uint64_t steps[8] = {0}, known = 0;
  while (at < last) {
    const uint64_t n = tile_end(&d->near, at, last) - at, k = d->near.segment;
    const uint64_t stride = (uint64_t)strides[k];
    uint64_t x = (uint64_t)starts[k] + stride * (at - tile_start(&d->near, k));
    for (uint64_t j = 0; j < 8 && stride != known; j++) steps[j] = j * stride;
    known = stride;
    for (uint64_t i = 0; i < n; i += 8) {
      for (uint64_t j = 0; j < 8; j++) out[i + j] = (INT)(x + steps[j]);
      x += 8 * stride;
    }
    out += n;
    at += n;
  }
}

/* Where the segment that each position gathers from begins, and its length. */
static APART void tile_bounds(struct tile_node *d, uint64_t at, uint64_t last) {
  const struct tile_walk far = {.offsets = d->far_offsets, .equal = d->far_equal};
  uint64_t *base = d->gathered.base, *limit = d->gathered.limit;
  if (tile_filled(&d->near, base, at, last)) return;
  while (at < last) {
    const uint64_t n = tile_end(&d->near, at, last) - at;
    const uint64_t from = tile_start(&far, d->near.segment);
    const uint64_t length = tile_start(&far, d->near.segment + 1) - from;
    for (uint64_t i = 0; i < n; i += 8) {
      for (uint64_t j = 0; j < 8; j++) base[i + j] = from;
      for (uint64_t j = 0; j < 8; j++) limit[i + j] = length;
    }
    base += n;
    limit += n;
    at += n;
  }
}

/* Does the same if each position has a segment of its own. */
static APART void tile_own_bounds(struct tile_node *d, uint64_t at, uint64_t last) {
  const struct tile_walk far = {.offsets = d->far_offsets, .equal = d->far_equal};
  for (uint64_t i = 0; i < last - at; i++) {
    d->gathered.base[i] = tile_start(&far, at + i);
    d->gathered.limit[i] = tile_start(&far, at + i + 1) - d->gathered.base[i];
  }
}

/* Gathers between these bounds. The first position whose index is out of range, or n. */
#define GATHER(name, type)                                                                     \
  static APART uint64_t name(const struct tile_node *d, const INT *index, uint64_t n,         \
                              type *out) {                                                     \
    const type *values = d->gathered.values;                                                   \
    const uint64_t *base = d->gathered.base, *limit = d->gathered.limit;                       \
    uint64_t wrong = 0;                                                                        \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      const int good = (uint64_t)index[i] < limit[i];                                          \
      wrong |= (uint64_t)!good;                                                                \
      out[i] = values[good ? base[i] + (uint64_t)index[i] : 0];                                \
    }                                                                                          \
    for (uint64_t i = 0; i < n && wrong; i++) {                                                \
      if ((uint64_t)index[i] >= limit[i]) return i;                                            \
    }                                                                                          \
    return n;                                                                                  \
  }
GATHER(tile_gather_i, INT)
GATHER(tile_gather_f, FLOAT)
GATHER(tile_gather_b, uint8_t)
#undef GATHER

/* Gathers runs. The first position whose index is out of range, or `last`; where runs begin no
 * hardware foresees. */
#define RUNS(name, type)                                                                       \
  static APART uint64_t name(struct tile_node *d, uint64_t at, uint64_t last, type *out) {    \
    enum { AHEAD = 8 };                                                                        \
    const struct tile_walk far = {.offsets = d->far_offsets, .equal = d->far_equal};           \
    const INT *starts = d->starts;                                                             \
    while (at < last) {                                                                        \
      uint64_t end = tile_end(&d->near, at, last);                                             \
      end = tile_end(&d->index, at, end);                                                      \
      const uint64_t k = d->index.segment, n = end - at;                                       \
      const uint64_t base = tile_start(&far, d->near.segment);                                 \
      uint64_t limit = tile_start(&far, d->near.segment + 1) - base;                           \
      const type *from = (const type *)d->values + base;                                       \
      const INT start = (INT)((uint64_t)starts[k] + (at - tile_start(&d->index, k)));          \
      if (limit > (uint64_t)INT_MOST + 1) limit = (uint64_t)INT_MOST + 1; /* then they wrap */ \
      const uint64_t good = start < 0 || (uint64_t)start >= limit ? 0 : limit - (uint64_t)start; \
      if (good < n) return at + good;                                                          \
      if (k + AHEAD < d->runs)                                                   \
        PREFETCH((const char *)((uintptr_t)from + (uint64_t)starts[k + AHEAD] * sizeof *from)); \
      memcpy(out, from + start, n * sizeof *out);                                              \
      out += n;                                                                                \
      at = end;                                                                                \
    }                                                                                          \
    return last;                                                                               \
  }
RUNS(tile_runs_i, INT)
RUNS(tile_runs_f, FLOAT)
RUNS(tile_runs_b, uint8_t)
#undef RUNS

/* The elements of eight bytes with a flag, four at a time; up to four more are overwritten. */
#ifdef __AVX2__
typedef int32_t tile_vector __attribute__((vector_size(32)));
/* Which halves of the four are kept, by flags. */
static const int32_t tile_kept[16][8] = {
    {0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0, 0, 0},
    {2, 3, 0, 0, 0, 0, 0, 0}, {0, 1, 2, 3, 0, 0, 0, 0},
    {4, 5, 0, 0, 0, 0, 0, 0}, {0, 1, 4, 5, 0, 0, 0, 0},
    {2, 3, 4, 5, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5, 0, 0},
    {6, 7, 0, 0, 0, 0, 0, 0}, {0, 1, 6, 7, 0, 0, 0, 0},
    {2, 3, 6, 7, 0, 0, 0, 0}, {0, 1, 2, 3, 6, 7, 0, 0},
    {4, 5, 6, 7, 0, 0, 0, 0}, {0, 1, 4, 5, 6, 7, 0, 0},
    {2, 3, 4, 5, 6, 7, 0, 0}, {0, 1, 2, 3, 4, 5, 6, 7},
};

static inline uint64_t tile_pack_four(const char *v, unsigned flags, char *out) {
  tile_vector x, halves;
  memcpy(&x, v, sizeof x);
  memcpy(&halves, tile_kept[flags], sizeof halves);
  x = (tile_vector)__builtin_ia32_permvarsi256(x, halves);
  memcpy(out, &x, sizeof x);
  return (uint64_t)__builtin_popcount(flags);
}

/* For a multiple of eight elements. */
static inline uint64_t tile_pack_8(uint64_t n, const void *v, const uint8_t *flags, void *out) {
  const char *from = v;
  char *to = out;
  uint64_t kept = 0;
  for (uint64_t i = 0; i < n; i += 8) {
    uint64_t bytes;
    memcpy(&bytes, flags + i, sizeof bytes);
    const unsigned bits = (unsigned)(bytes * UINT64_C(0x0102040810204080) >> 56);
    kept += tile_pack_four(from + 8 * i, bits & 15, to + 8 * kept);
    kept += tile_pack_four(from + 8 * i + 32, bits >> 4, to + 8 * kept);
  }
  return kept;
}
#endif

/* The elements with a flag. */
#define PACK(name, type)                                                                       \
  static APART uint64_t name(uint64_t n, const type *v, const uint8_t *flags, type *out) {    \
    uint64_t kept = 0, i = 0;                                                                  \
    PACK_EIGHTS(type)                                                                          \
    for (; i < n; i++) {                                                                       \
      out[kept] = v[i];                                                                        \
      kept += flags[i];                                                                        \
    }                                                                                          \
    return kept;                                                                               \
  }
#ifdef __AVX2__
#define PACK_EIGHTS(type)                                                                      \
  if (sizeof(type) == 8) kept = tile_pack_8(i = n / 8 * 8, v, flags, out);
#else
#define PACK_EIGHTS(type)
#endif
PACK(tile_pack_i, INT)
PACK(tile_pack_f, FLOAT)
PACK(tile_pack_b, uint8_t)
#undef PACK
#undef PACK_EIGHTS

static APART uint64_t tile_count(uint64_t n, const uint8_t *flags) {
  uint64_t kept = 0;
  for (uint64_t i = 0; i < n; i++) kept += flags[i];
  return kept;
}

/* The offsets of the segments that begin at positions `at` to before `last`, of which `kept`
 * elements come before. */
static APART void tile_ranks(struct tile_pack *p, uint64_t at, uint64_t last,
                              const uint8_t *flags) {
  uint64_t kept = p->kept;
  while (p->near.segment < p->count) {
    const uint64_t start = tile_start(&p->near, p->near.segment);
    if (start >= last) return;
    for (; at < start; at++) kept += *flags++;
    p->offsets[p->near.segment++] = kept;
  }
}

/* Others may write the same at the same time. */
#ifdef __GNUC__
#define WRITE(to, from) __atomic_store(to, from, __ATOMIC_RELAXED)
#else
#define WRITE(to, from) (*(to) = *(from))
#endif
