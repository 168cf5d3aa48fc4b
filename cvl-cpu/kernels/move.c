/* move.c - kernels that move data without looking at segments: copies, gathers, scatters,
 * packing, offsets. Kernels that walk over segments are in spread.h. */
#include "cvl-cpu/kernels/move.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "cvl-cpu/kernels/spread.h"

/* ---- copies past the caches ---- */

enum { LINE = 64 };

#if defined(__AVX512F__)
static inline void stream_line(char *to, const char *from) {
  _mm512_stream_si512((void *)to, _mm512_loadu_si512((const void *)from));
}
#elif defined(__AVX__)
static inline void stream_line(char *to, const char *from) {
  for (int i = 0; i < LINE; i += 32) {
    _mm256_stream_si256((__m256i *)(void *)(to + i),
                        _mm256_loadu_si256((const __m256i *)(const void *)(from + i)));
  }
}
#elif defined(__SSE2__)
static inline void stream_line(char *to, const char *from) {
  for (int i = 0; i < LINE; i += 16) {
    _mm_stream_si128((__m128i *)(void *)(to + i),
                     _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
  }
}
#else
static inline void stream_line(char *to, const char *from) {
  memcpy(to, from, LINE);
}
#endif

static void stream(void *to, const void *from, size_t bytes) {
  char *t = to;
  const char *f = from;
  size_t head = (size_t)(-(uintptr_t)t & (LINE - 1));
  if (head > bytes) head = bytes;
  memcpy(t, f, head);
  size_t i = head;
  for (; i + LINE <= bytes; i += LINE) stream_line(t + i, f + i);
  memcpy(t + i, f + i, bytes - i);
}

/* Waits for the streaming stores under way, once for each chunk, as that takes time. */
static void stream_end(void) {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/* ---- gathers and scatters ---- */

#define GATHERS(suffix, type)                                                                  \
  static void gather_##suffix(uint64_t n, const void *values, const uint64_t *at, void *to) {  \
    const type *v = values;                                                                    \
    type *out = to;                                                                            \
    INDEPENDENT for (uint64_t i = 0; i < n; i++) out[i] = v[at[i]];                            \
  }                                                                                            \
  static void gather_some_##suffix(uint64_t n, const void *values, const uint64_t *at,         \
                                   void *to) {                                                 \
    const type *v = values;                                                                    \
    type *out = to;                                                                            \
    const type zero = 0;                                                                       \
    for (uint64_t i = 0; i < n; i++) out[i] = *(at[i] == NOWHERE ? &zero : &v[at[i]]);         \
  }                                                                                            \
  /* A branch is predicted well where all indices are inside. A store of the others to a       \
   * dummy would wait behind those that miss the caches (operations/ranges.h). */              \
  static void scatter_##suffix(uint64_t n, const void *values, const uint64_t *at,             \
                               uint64_t low, uint64_t high, void *to) {                        \
    const type *v = values;                                                                    \
    type *out = to;                                                                            \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      if (at[i] - low < high - low) out[at[i]] = v[i];                                         \
    }                                                                                          \
  }                                                                                            \
  static void scatter_marking_##suffix(uint64_t n, const void *values, const uint64_t *at,     \
                                       uint8_t *mark, void *to) {                              \
    const type *v = values;                                                                    \
    type *out = to;                                                                            \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      __atomic_store_n(&mark[at[i]], 1, __ATOMIC_RELAXED);                                     \
      __atomic_store_n(&out[at[i]], v[i], __ATOMIC_RELAXED);                                   \
    }                                                                                          \
  }
GATHERS(8, uint8_t)
GATHERS(32, uint32_t)
GATHERS(64, uint64_t)

static bool invert(uint64_t n, const uint64_t *at, uint64_t low, uint64_t *source) {
  uint64_t missing = 0;
  memset(source, 0xff, n * sizeof *source); /* every element becomes NOWHERE */
  for (uint64_t i = 0; i < n; i++) source[at[i] - low] = i;
  for (uint64_t i = 0; i < n; i++) missing |= source[i] == NOWHERE;
  return !missing;
}

/* ---- packing ---- */

static uint64_t move_count(uint64_t n, const uint8_t *flags) {
  enum { LANES = 64, MOST_ROWS = 255 };
  uint64_t sum = 0, i = 0;
  while (n - i >= LANES) {
    uint8_t lane[LANES] = {0};
    for (int row = 0; row < MOST_ROWS && n - i >= LANES; row++, i += LANES) {
      for (int j = 0; j < LANES; j++) lane[j] = (uint8_t)(lane[j] + flags[i + (uint64_t)j]);
    }
    for (int j = 0; j < LANES; j++) sum += lane[j];
  }
  for (; i < n; i++) sum += flags[i];
  return sum;
}

#if defined(__AVX512BW__)
static inline uint64_t move_mask_of(const uint8_t *flags) {
  const __m512i f = _mm512_loadu_si512((const void *)flags);
  return _mm512_test_epi8_mask(f, f);
}
#elif defined(__AVX2__)
static inline uint64_t move_mask_of(const uint8_t *flags) {
  uint64_t mask = 0;
  for (int i = 0; i < 64; i += 32) {
    const __m256i f = _mm256_loadu_si256((const __m256i *)(const void *)(flags + i));
    mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(f, 7)) << i;
  }
  return mask;
}
#else
/* The multiplication moves bit 0 of byte j to bit 56 + j. */
static inline uint64_t move_mask_of(const uint8_t *flags) {
  uint64_t mask = 0;
  for (int i = 0; i < 64; i += 8) {
    uint64_t word = 0;
    for (int j = 7; j >= 0; j--) word = word << 8 | flags[i + j];
    mask |= (word * UINT64_C(0x0102040810204080) >> 56) << i;
  }
  return mask;
}
#endif

static void masks(uint64_t n, const uint8_t *flags, uint64_t *to) {
  uint64_t i = 0;
  for (; i + 64 <= n; i += 64) to[i / 64] = move_mask_of(flags + i);
  if (i < n) {
    uint8_t rest[64] = {0};
    memcpy(rest, flags + i, n - i);
    to[i / 64] = move_mask_of(rest);
  }
}

/* There is no branch: every element is stored, and `to` advances if its flag is set. */
#define COMPRESS(suffix, type)                                                                 \
  static inline uint64_t compress_plain_##suffix(uint64_t n, const type *v, uint64_t mask,     \
                                                 type *out) {                                  \
    uint64_t kept = 0;                                                                         \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      out[kept] = v[i];                                                                        \
      kept += mask >> i & 1;                                                                   \
    }                                                                                          \
    return kept;                                                                               \
  }
COMPRESS(8, uint8_t)

#if defined(__AVX512F__)
static inline uint64_t compress_word_8(const uint8_t *v, uint64_t mask, uint8_t *out) {
  return compress_plain_8(64, v, mask, out);
}
static inline uint64_t compress_word_32(const uint32_t *v, uint64_t mask, uint32_t *out) {
  uint64_t kept = 0;
  for (int i = 0; i < 64; i += 16) {
    const __mmask16 m = (__mmask16)(mask >> i);
    const __m512i x = _mm512_loadu_si512((const void *)(v + i));
    _mm512_storeu_si512((void *)(out + kept), _mm512_maskz_compress_epi32(m, x));
    kept += (uint64_t)__builtin_popcount(m);
  }
  return kept;
}
static inline uint64_t compress_word_64(const uint64_t *v, uint64_t mask, uint64_t *out) {
  uint64_t kept = 0;
  for (int i = 0; i < 64; i += 8) {
    const __mmask8 m = (__mmask8)(mask >> i);
    const __m512i x = _mm512_loadu_si512((const void *)(v + i));
    _mm512_storeu_si512((void *)(out + kept), _mm512_maskz_compress_epi64(m, x));
    kept += (uint64_t)__builtin_popcount(m);
  }
  return kept;
}
COMPRESS(32, uint32_t)
COMPRESS(64, uint64_t)
#else
COMPRESS(32, uint32_t)
COMPRESS(64, uint64_t)
#define COMPRESS_WORD(suffix, type)                                                            \
  static inline uint64_t compress_word_##suffix(const type *v, uint64_t mask, type *out) {     \
    return compress_plain_##suffix(64, v, mask, out);                                          \
  }
COMPRESS_WORD(8, uint8_t)
COMPRESS_WORD(32, uint32_t)
COMPRESS_WORD(64, uint64_t)
#endif

#define COMPRESS_ALL(suffix, type)                                                             \
  static uint64_t compress_##suffix(uint64_t n, const void *values, const uint64_t *mask,      \
                                    void *to) {                                                \
    const type *v = values;                                                                    \
    type *out = to;                                                                            \
    uint64_t kept = 0, i = 0;                                                                  \
    for (; i + 64 <= n; i += 64)                                                               \
      kept += compress_word_##suffix(v + i, mask[i / 64], out + kept);                         \
    if (i < n) kept += compress_plain_##suffix(n - i, v + i, mask[i / 64], out + kept);        \
    return kept;                                                                               \
  }
COMPRESS_ALL(8, uint8_t)
COMPRESS_ALL(32, uint32_t)
COMPRESS_ALL(64, uint64_t)

/* ---- indices, lengths and offsets ---- */

/* A negative index is large as an unsigned number. Limits and bases are expressions in i. */
#define LOCATE(type, limit_of, base_of)                                                        \
  {                                                                                            \
    const type *index = indices;                                                               \
    uint64_t outside = 0;                                                                      \
    if (!flags) {                                                                              \
      INDEPENDENT for (uint64_t i = 0; i < n; i++) {                                           \
        const uint64_t x = (uint64_t)(int64_t)index[i], base = (base_of);                      \
        outside |= x >= (limit_of);                                                            \
        at[i] = base + x;                                                                      \
      }                                                                                        \
    } else {                                                                                   \
      INDEPENDENT for (uint64_t i = 0; i < n; i++) {                                           \
        const uint64_t x = (uint64_t)(int64_t)index[i], base = (base_of);                      \
        outside |= (uint64_t)(x >= (limit_of)) & flags[i];                                     \
        at[i] = flags[i] ? base + x : NOWHERE;                                                 \
      }                                                                                        \
    }                                                                                          \
    if (!outside) return n;                                                                    \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      if (flags && !flags[i]) continue;                                                        \
      if ((uint64_t)(int64_t)index[i] >= (limit_of)) return i;                                 \
    }                                                                                          \
    return n;                                                                                  \
  }

#define INTS(suffix, type, most_length)                                                        \
  static uint64_t within_##suffix(uint64_t n, const void *indices, uint64_t limit) {           \
    const type *index = indices;                                                               \
    uint64_t outside = 0, i = 0;                                                               \
    for (; i < n; i++) outside |= (uint64_t)(int64_t)index[i] >= limit;                        \
    if (!outside) return n;                                                                    \
    for (i = 0; (uint64_t)(int64_t)index[i] < limit; i++) continue;                            \
    return i;                                                                                  \
  }                                                                                            \
  static uint64_t locate_##suffix(uint64_t n, const void *indices, const uint8_t *flags,       \
                                  const uint64_t *limit, uint64_t *at)                         \
      LOCATE(type, limit[i], at[i]) static uint64_t locate_packed_##suffix(                    \
          uint64_t n, const void *indices, const uint8_t *flags, const uint64_t *packed,       \
          uint64_t *at) LOCATE(type, packed[i] >> 32, packed[i] & UINT32_MAX) static uint64_t  \
          locate_equal_##suffix(uint64_t n, const void *indices, const uint8_t *flags,         \
                                uint64_t limit, uint64_t *at)                                  \
              LOCATE(type, limit, at[i]) static uint64_t locate_in_one_##suffix(               \
                  uint64_t n, const void *indices, const uint8_t *flags, uint64_t one,         \
                  uint64_t limit, uint64_t *at)                                                \
                  LOCATE(type, limit, one) static struct length_summary summarize_##suffix(    \
                      uint64_t n, const void *lengths) {                                       \
    const type *l = lengths;                                                                   \
    uint64_t least = UINT64_MAX, most = 0, sum = 0;                                            \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      const uint64_t x = (uint64_t)(int64_t)l[i];                                              \
      least = x < least ? x : least;                                                           \
      most = x > most ? x : most;                                                              \
      sum += x;                                                                                \
    }                                                                                          \
    return (struct length_summary){least, most, sum};                                          \
  }                                                                                            \
  static uint64_t offsets_of_##suffix(uint64_t n, const void *lengths, uint64_t start,         \
                                      uint64_t *offsets) {                                     \
    const type *l = lengths;                                                                   \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      offsets[i] = start;                                                                      \
      start += (uint64_t)(int64_t)l[i];                                                        \
    }                                                                                          \
    return start;                                                                              \
  }                                                                                            \
  static uint64_t lengths_of_##suffix(uint64_t n, const uint64_t *offsets, void *to) {         \
    type *out = to;                                                                            \
    uint64_t high = 0;                                                                         \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      const uint64_t x = offsets[i + 1] - offsets[i];                                          \
      high |= x > (uint64_t)(most_length);                                                     \
      out[i] = (type)x;                                                                        \
    }                                                                                          \
    if (!high) return n;                                                                       \
    uint64_t i = 0;                                                                            \
    while (offsets[i + 1] - offsets[i] <= (uint64_t)(most_length)) i++;                        \
    return i;                                                                                  \
  }
INTS(i32, int32_t, INT32_MAX)
INTS(i64, int64_t, INT64_MAX)

static void bounds(const struct segments *s, uint64_t first, uint64_t n, uint64_t *base,
                   uint64_t *limit) {
  if (s->offsets) {
    const uint64_t *o = s->offsets + first;
    for (uint64_t i = 0; i < n; i++) {
      base[i] = o[i];
      limit[i] = o[i + 1] - o[i];
    }
  } else {
    for (uint64_t i = 0; i < n; i++) {
      base[i] = (first + i) * s->equal;
      limit[i] = s->equal;
    }
  }
}

/* ---- the table ---- */

#define WIDTH(suffix)                                                                          \
  {                                                                                            \
    .dist = dist_##suffix, .gather = gather_##suffix, .gather_some = gather_some_##suffix,     \
    .scatter = scatter_##suffix, .scatter_marking = scatter_marking_##suffix,                  \
    .compress = compress_##suffix                                                              \
  }
#define INT_KERNELS(suffix)                                                                    \
  {                                                                                            \
    .within = within_##suffix, .index = index_##suffix, .locate = locate_##suffix,             \
    .locate_packed = locate_packed_##suffix, .locate_equal = locate_equal_##suffix,            \
    .locate_in_one = locate_in_one_##suffix, .summarize = summarize_##suffix,                  \
    .offsets_of = offsets_of_##suffix, .lengths_of = lengths_of_##suffix                       \
  }

const struct move_kernels KERNEL(move_kernels) = {
    .width = {[0] = WIDTH(8), [2] = WIDTH(32), [3] = WIDTH(64)},
    .ints = {INT_KERNELS(i32), INT_KERNELS(i64)},
    .stream = stream,
    .stream_end = stream_end,
    .expand = expand,
    .expand_packed = expand_packed,
    .expand_equal = expand_equal,
    .bounds = bounds,
    .invert = invert,
    .count = move_count,
    .masks = masks,
    .ranks = ranks,
};
