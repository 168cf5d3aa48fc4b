/* native-loops.h - what loops of kernels are written in: pieces, packs, and the totals of
 * cvl/trees.h. INT and FLOAT are the types of elements. It stands as text in every file that is
 * compiled.
 */
#ifdef __GNUC__
#define NATIVE static __attribute__((unused, hot))
#else
#define NATIVE static
#endif
#ifdef __clang__
#define NATIVE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define NATIVE_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* What begins there, which is mostly more than a line. */
#ifdef __GNUC__
#define NATIVE_PREFETCH(at)                                                                    \
  __builtin_prefetch((const void *)(at), 0, 2), __builtin_prefetch((const void *)((at) + 64), 0, 2)
#else
#define NATIVE_PREFETCH(at) (void)(at)
#endif

enum { LANES = 32, BLOCK = 1024, NATIVE_AHEAD = 16 };
enum { LOOP_LANES = 16, LOOP_ROUNDS = 8, LOOP_UNASKED = 1024 };

/* The first of no elements, of any type. */
#ifdef __GNUC__
__attribute__((unused))
#endif
static const uint64_t native_zero = 0;

/* ---- conversions ---- */

/* Whether a function is made of vectors: it may say so itself, by a constant of this name. */
enum { VECTORS = 0 };

/* Between INTs and FLOATs of 64 bits, for which AVX2 has no vectors: by halves of 32 bits, whose
 * sum is rounded once. The bits of 2^52 and 2^84 leave their places to them. One alone takes
 * longer so. */
#if BITS == 64 && FLOAT_BITS == 64 && defined __SSE4_1__ && !defined __AVX512DQ__
NATIVE inline double native_real(int64_t x) {
  const uint64_t u = (uint64_t)x;
  const double high = f64_of_bits((u >> 32) ^ 0x4530000080000000U),
               low = f64_of_bits((u & UINT32_MAX) | 0x4330000000000000U);
  return high - f64_of_bits(0x4530000080100000U) + low;
}

NATIVE inline int64_t native_int(double x) {
  const double t = trunc(x >= -0x1p63 && x < 0x1p63 ? x : -0x1p63), high = floor(t * 0x1p-32);
  const uint64_t h = bits_of_f64(high + 0x1.8p52), l = bits_of_f64(t - high * 0x1p32 + 0x1.8p52);
  return (int64_t)(((h - bits_of_f64(0x1.8p52)) << 32) + (l - bits_of_f64(0x1.8p52)));
}

NATIVE inline double native_real_alone(int64_t x) {
  return (double)x;
}
NATIVE inline int64_t native_int_alone(double x) {
  return TO_INT(x);
}

#undef REAL
#undef TO_INT
#define REAL(x)                                                                                \
  _Generic((x), int64_t : VECTORS ? native_real((int64_t)(x)) : native_real_alone((int64_t)(x)), \
           default : (double)(x))
#define TO_INT(x) (VECTORS ? native_int(x) : native_int_alone(x))
#endif

/* ---- pieces ---- */

/* Of `more` positions, those before which something that counts up from `a`, and may wrap
 * around, is `to` again. */
NATIVE inline uint64_t native_until(uint64_t a, uint64_t to, uint64_t more) {
  const uint64_t steps = (uint64_t)U(to - a);
  return steps != 0 && steps < more ? steps : more;
}

/* ---- what is kept ---- */

#if defined __AVX2__ && !(defined __AVX512F__ && defined __AVX512DQ__)
/* Which halves of four elements are kept, by flags. */
__attribute__((unused)) static const int native_halves[16][8] = {
    {0}, {0, 1}, {2, 3}, {0, 1, 2, 3}, {4, 5}, {0, 1, 4, 5}, {2, 3, 4, 5}, {0, 1, 2, 3, 4, 5},
    {6, 7}, {0, 1, 6, 7}, {2, 3, 6, 7}, {0, 1, 2, 3, 6, 7}, {4, 5, 6, 7}, {0, 1, 4, 5, 6, 7},
    {2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7},
};
#endif

/* Packs elements of 8 bytes whose flag is -1, not 0, to `out`, behind whose end there is room for
 * eight more; returns how many. */
NATIVE inline uint64_t native_keep_8(const void *x, const INT *flags, uint64_t n, void *out) {
  const char *from = x;
  char *to = out;
  uint64_t i = 0, kept = 0;
#if defined __AVX512F__ && defined __AVX512DQ__
  typedef long long eight __attribute__((vector_size(64)));
  for (; sizeof(INT) == 8 && i + 8 <= n; i += 8) {
    eight v, f;
    memcpy(&v, from + 8 * i, sizeof v);
    memcpy(&f, flags + i, sizeof f);
    const unsigned char mask = (unsigned char)__builtin_ia32_cvtq2mask512(f);
    v = __builtin_ia32_compressdi512_mask(v, (eight){0}, mask);
    memcpy(to + 8 * kept, &v, sizeof v);
    kept += (uint64_t)__builtin_popcount(mask);
  }
#elif defined __AVX2__
  typedef int eight __attribute__((vector_size(32)));
  typedef double four __attribute__((vector_size(32)));
  for (; sizeof(INT) == 8 && i + 4 <= n; i += 4) {
    eight v, halves;
    four f;
    memcpy(&v, from + 8 * i, sizeof v);
    memcpy(&f, flags + i, sizeof f);
    const int mask = __builtin_ia32_movmskpd256(f);
    memcpy(&halves, native_halves[mask], sizeof halves);
    v = (eight)__builtin_ia32_permvarsi256(v, halves);
    memcpy(to + 8 * kept, &v, sizeof v);
    kept += (uint64_t)__builtin_popcount((unsigned)mask);
  }
#endif
  for (; i < n; i++) {
    memcpy(to + 8 * kept, from + 8 * i, 8);
    kept += (uint64_t)(flags[i] & 1);
  }
  return kept;
}

#define KEEP(name, type)                                                                       \
  NATIVE inline uint64_t native_keep_##name(const type *x, const INT *flags, uint64_t n,       \
                                            type *out) {                                       \
    if (sizeof(type) == 8) return native_keep_8(x, flags, n, out);                             \
    uint64_t kept = 0;                                                                         \
    for (uint64_t i = 0; i < n; i++) {                                                         \
      out[kept] = x[i];                                                                        \
      kept += (uint64_t)(flags[i] & 1);                                                        \
    }                                                                                          \
    return kept;                                                                               \
  }
KEEP(INT, INT)
KEEP(FLOAT, FLOAT)
KEEP(uint8_t, uint8_t)

/* ---- the reproducible tree ---- */

/* The total of a block of n elements, 0 < n <= BLOCK; of n > 0 elements, the totals of whose
 * blocks are in y, which is overwritten. */
#define TREE(name, type, PAD, WITH)                                                            \
  NATIVE inline type native_block_##name(const type *x, uint64_t n) {                          \
    type lane[LANES];                                                                          \
    uint64_t w = 1;                                                                            \
    if (n <= LANES / 2) {                                                                      \
      while (w < n) w *= 2;                                                                    \
      for (uint64_t j = 0; j < w; j++) lane[j] = j < n ? x[j] : (type)(PAD);                   \
    } else {                                                                                   \
      w = LANES;                                                                               \
      for (uint64_t j = 0; j < LANES; j++) lane[j] = j < n ? x[j] : (type)(PAD);               \
      uint64_t i = LANES;                                                                      \
      for (; i + LANES <= n; i += LANES) {                                                     \
        for (uint64_t j = 0; j < LANES; j++) lane[j] = (type)(WITH(lane[j], x[i + j]));        \
      }                                                                                        \
      for (uint64_t j = 0; i + j < n; j++) lane[j] = (type)(WITH(lane[j], x[i + j]));          \
    }                                                                                          \
    for (w /= 2; w > 0; w /= 2) {                                                              \
      for (uint64_t j = 0; j < w; j++) lane[j] = (type)(WITH(lane[j], lane[j + w]));           \
    }                                                                                          \
    return lane[0];                                                                            \
  }                                                                                            \
  /* The total of a block whose whole rows are in the lanes, with m elements behind them. */      \
  NATIVE inline type native_rows_##name(type *lane, uint64_t rows, const type *t, uint64_t m) { \
    if (rows == 0) return native_block_##name(t, m);                                           \
    for (uint64_t j = 0; j < m; j++) lane[j] = (type)(WITH(lane[j], t[j]));                    \
    for (uint64_t w = LANES / 2; w > 0; w /= 2) {                                              \
      for (uint64_t j = 0; j < w; j++) lane[j] = (type)(WITH(lane[j], lane[j + w]));           \
    }                                                                                          \
    return lane[0];                                                                            \
  }                                                                                            \
  NATIVE inline type native_total_##name(type *y, uint64_t n) {                                \
    while (n > 1) {                                                                            \
      uint64_t blocks = 0;                                                                     \
      for (uint64_t b = 0; b < n; b += BLOCK) {                                                \
        y[blocks++] = native_block_##name(y + b, n - b < BLOCK ? n - b : BLOCK);               \
      }                                                                                        \
      n = blocks;                                                                              \
    }                                                                                          \
    return y[0];                                                                               \
  }
#define ADD(x, y) ((x) + (y))
#define MUL(x, y) ((x) * (y))
TREE(add_f, FLOAT, REAL(-0.0), ADD)
TREE(mul_f, FLOAT, REAL(1.0), MUL)
