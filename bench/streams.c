/* streams.c - see streams.h.
 *
 * The range of a thread is divided into chunks. It accesses a chunk of each stream in turn, so
 * that streams of unequal length end together. The accesses are as wide as the processor
 * supports. One core reads memory half as fast again with 512-bit loads as with 128-bit ones
 * (17.5 against 11.5 GB/s on a Xeon of 2023), and a streaming store should fill its line.
 */
#include "bench/streams.h"

#include <stdbool.h>
#include <string.h>

#include "bench/measure.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { LINE = 64, AHEAD = 8192 };

size_t streams_bytes(const struct bench_streams *s) {
  size_t sum = 0;
  for (unsigned k = 0; k < s->reads + s->writes; k++) sum += s->bytes[k];
  return sum;
}

/* Loops over one chunk of a stream, a multiple of LINE bytes. `ask` reads, and prefetches the
 * data AHEAD bytes later. */
struct chunk_loops {
  uint64_t (*read)(const char *, size_t);
  uint64_t (*ask)(const char *, size_t);
  void (*write)(char *, size_t, uint64_t);
  void (*stream)(char *, size_t, uint64_t);
};

static uint64_t read_plain(const char *p, size_t bytes) {
  uint64_t a[8] = {0};
  for (size_t i = 0; i < bytes; i += LINE) {
    uint64_t w[8];
    memcpy(w, p + i, LINE);
    for (size_t k = 0; k < 8; k++) a[k] ^= w[k];
  }
  return a[0] ^ a[1] ^ a[2] ^ a[3] ^ a[4] ^ a[5] ^ a[6] ^ a[7];
}

static void write_plain(char *p, size_t bytes, uint64_t value) {
  for (size_t i = 0; i < bytes; i += LINE) {
    const uint64_t w[8] = {value, value, value, value, value, value, value, value};
    memcpy(p + i, w, LINE);
  }
}

#if defined(__x86_64__)
/* The loops for one width of vectors. */
#define WIDE_LOOPS(set, vector, prefix, suffix, lowest)                                        \
  __attribute__((target(#set), always_inline)) static inline uint64_t read_ahead_##set(        \
      const char *p, size_t bytes, size_t ahead) {                                             \
    vector a = prefix##_setzero_##suffix();                                                    \
    for (size_t i = 0; i < bytes; i += LINE) {                                                 \
      if (ahead) _mm_prefetch(p + i + ahead, _MM_HINT_T1);                                     \
      for (size_t k = i; k < i + LINE; k += sizeof a) {                                        \
        a = prefix##_xor_##suffix(                                                             \
            a, prefix##_load_##suffix((const vector *)(const void *)(p + k)));                 \
      }                                                                                        \
    }                                                                                          \
    return (uint64_t)_mm_cvtsi128_si64(lowest(a));                                             \
  }                                                                                            \
  __attribute__((target(#set))) static uint64_t read_##set(const char *p, size_t bytes) {      \
    return read_ahead_##set(p, bytes, 0);                                                      \
  }                                                                                            \
  __attribute__((target(#set))) static uint64_t ask_##set(const char *p, size_t bytes) {       \
    return read_ahead_##set(p, bytes, AHEAD);                                                  \
  }                                                                                            \
  __attribute__((target(#set))) static void write_##set(char *p, size_t bytes, uint64_t u) {   \
    const vector v = prefix##_set1_epi32((int)u);                                              \
    for (size_t i = 0; i < bytes; i += sizeof v) {                                             \
      prefix##_store_##suffix((vector *)(void *)(p + i), v);                                   \
    }                                                                                          \
  }                                                                                            \
  __attribute__((target(#set))) static void stream_##set(char *p, size_t bytes, uint64_t u) {  \
    const vector v = prefix##_set1_epi32((int)u);                                              \
    for (size_t i = 0; i < bytes; i += sizeof v) {                                             \
      prefix##_stream_##suffix((vector *)(void *)(p + i), v);                                  \
    }                                                                                          \
  }
#define ITSELF(v) (v)
WIDE_LOOPS(sse2, __m128i, _mm, si128, ITSELF)
WIDE_LOOPS(avx2, __m256i, _mm256, si256, _mm256_castsi256_si128)
WIDE_LOOPS(avx512f, __m512i, _mm512, si512, _mm512_castsi512_si128)
#endif

static struct chunk_loops chunk_loops(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    return (struct chunk_loops){read_avx512f, ask_avx512f, write_avx512f, stream_avx512f};
  }
  if (__builtin_cpu_supports("avx2")) {
    return (struct chunk_loops){read_avx2, ask_avx2, write_avx2, stream_avx2};
  }
  return (struct chunk_loops){read_sse2, ask_sse2, write_sse2, stream_sse2};
#endif
  return (struct chunk_loops){read_plain, read_plain, write_plain, write_plain};
}

struct pass {
  char *arena;
  const struct bench_streams *streams;
  size_t chunk; /* bytes of the longest stream visited at a time */
  uint64_t (*read)(const char *, size_t);
  void (*write)(char *, size_t, uint64_t);
};

static size_t in_lines(double bytes) {
  return (size_t)(bytes / LINE) * LINE;
}

static void run_pass(void *arg, unsigned thread, unsigned threads) {
  const struct pass *pass = arg;
  const struct bench_streams *s = pass->streams;
  size_t longest = 0, base[MOST_STREAMS], at = 0;
  for (unsigned k = 0; k < s->reads + s->writes; k++) {
    longest = s->bytes[k] > longest ? s->bytes[k] : longest;
    base[k] = at;
    at += s->bytes[k] / LINE * LINE;
  }
  const size_t chunks = longest / pass->chunk + 1;
  const size_t first = chunks * thread / threads, last = chunks * (thread + 1) / threads;
  uint64_t value = thread;
  for (size_t p = first; p < last; p++) {
    for (unsigned k = 0; k < s->reads + s->writes; k++) {
      const double share = (double)s->bytes[k] / (double)chunks;
      const size_t from = in_lines(share * (double)p), to = in_lines(share * (double)(p + 1));
      char *at_chunk = pass->arena + base[k] + from;
      if (k < s->reads) {
        value ^= pass->read(at_chunk, to - from);
      } else {
        pass->write(at_chunk, to - from, value);
      }
    }
  }
#if defined(__x86_64__)
  _mm_sfence();
#endif
  /* If nothing is written, the value must look needed. */
  __asm__ volatile("" : : "r"(value));
}

double streams_seconds(const struct measure_options *o, void *arena, struct bench_streams *s,
                       unsigned threads) {
  static const size_t chunks[] = {256, 4096, 32768};
  enum { CHUNKS = sizeof chunks / sizeof *chunks, LOOPS = 4 * CHUNKS, TRIALS = 5 };
  double best = 0.0;
  const unsigned known = s->best;
  const struct chunk_loops loops = chunk_loops();
  for (unsigned loop = 1; loop <= LOOPS; loop++) {
    const bool asking = (loop - 1) / CHUNKS % 2, streaming = loop > LOOPS / 2;
    if (known ? loop != known : (asking && s->reads == 0) || (streaming && s->writes == 0)) {
      continue;
    }
    struct pass pass = {arena, s, chunks[(loop - 1) % CHUNKS], asking ? loops.ask : loops.read,
                        streaming ? loops.stream : loops.write};
    const unsigned trials = known ? 1 : TRIALS;
    double times[TRIALS];
    for (unsigned k = 0; k < trials; k++) {
      times[k] = measure_parallel(o, run_pass, &pass, threads);
    }
    const double t = measure_spread(times, trials).median;
    if (best == 0.0 || t < best) {
      best = t;
      s->best = loop;
    }
  }
  return best;
}

struct moving {
  enum move move;
  size_t n, elem_bytes, index_bytes;
  const void *from, *index;
  void *to;
};

/* The loops of move_seconds, one for each pair of widths. */
#define MOVE_LOOPS(elem, word)                                                                 \
  static void move_##elem##_##word(const struct moving *m, size_t first, size_t last) {        \
    const elem##_t *from = m->from;                                                            \
    const word##_t *index = m->index;                                                          \
    elem##_t *to = m->to;                                                                      \
    if (m->move == MOVE_GATHER) {                                                              \
      for (size_t i = first; i < last; i++) to[i] = from[index[i]];                            \
    } else {                                                                                   \
      for (size_t i = first; i < last; i++) to[index[i]] = from[i];                            \
    }                                                                                          \
  }
MOVE_LOOPS(uint32, uint32)
MOVE_LOOPS(uint32, uint64)
MOVE_LOOPS(uint64, uint32)
MOVE_LOOPS(uint64, uint64)

static void run_move(void *arg, unsigned thread, unsigned threads) {
  const struct moving *m = arg;
  const size_t first = m->n * thread / threads, last = m->n * (thread + 1) / threads;
  if (m->elem_bytes == 4) {
    (m->index_bytes == 4 ? move_uint32_uint32 : move_uint32_uint64)(m, first, last);
  } else {
    (m->index_bytes == 4 ? move_uint64_uint32 : move_uint64_uint64)(m, first, last);
  }
}

double move_seconds(const struct measure_options *o, enum move move, size_t n,
                    size_t elem_bytes, const void *from, void *to, size_t index_bytes,
                    const void *index, unsigned threads) {
  struct moving m = {move, n, elem_bytes, index_bytes, from, index, to};
  return measure_parallel(o, run_move, &m, threads);
}
