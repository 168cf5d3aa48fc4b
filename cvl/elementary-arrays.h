/* elementary-arrays.h - the functions of elementary.h over arrays, in loops that compilers
 * vectorise. Only elementary.h includes it; generated sources do without it.
 */
#ifndef RAVEL_ELEMENTARY_ARRAYS_H
#define RAVEL_ELEMENTARY_ARRAYS_H

/* y may be x, but may not overlap it otherwise. */
#ifdef __clang__
#define E_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define E_INDEPENDENT _Pragma("GCC ivdep")
#endif

#define E_PLAIN(name, suffix, type)                                                            \
  static inline void elementary_##name##_##suffix(const type *x, type *y, size_t n) {          \
    E_INDEPENDENT for (size_t i = 0; i < n; i++) y[i] = ravel_##name##_##suffix(x[i]);         \
  }

enum { E_BLOCK = 256 };

/* Works in blocks. If all arguments of a block give normal numbers, as nearly always, there is
 * less to do. */
#define E_EVEN(name)                                                                           \
  static inline void elementary_##name##_f64(const double *x, double *y, size_t n) {           \
    for (size_t first = 0; first < n; first += E_BLOCK) {                                      \
      const size_t length = n - first < (size_t)E_BLOCK ? n - first : (size_t)E_BLOCK;         \
      const double *a = x + first;                                                             \
      double *b = y + first;                                                                   \
      uint64_t odd = 0;                                                                        \
      for (size_t i = 0; i < length; i++) odd |= e_odd_##name(a[i]);                           \
      if (odd >> 63) {                                                                         \
        E_INDEPENDENT for (size_t i = 0; i < length; i++) b[i] = ravel_##name##_f64(a[i]);     \
      } else {                                                                                 \
        E_INDEPENDENT for (size_t i = 0; i < length; i++) b[i] = e_even_##name(a[i]);          \
      }                                                                                        \
    }                                                                                          \
  }

/* Works in blocks, whose arguments are kept. The vector loop says whether there were any that
 * it could not do, and if so these are done again. `word` has the width of an element. */
#define E_REDUCED(name, suffix, type, word)                                                    \
  static inline void elementary_##name##_##suffix(const type *x, type *y, size_t n) {          \
    type block[E_BLOCK];                                                                       \
    for (size_t first = 0; first < n; first += E_BLOCK) {                                      \
      const size_t length = n - first < (size_t)E_BLOCK ? n - first : (size_t)E_BLOCK;         \
      word far = 0;                                                                            \
      E_INDEPENDENT for (size_t i = 0; i < length; i++) {                                      \
        const type e = x[first + i];                                                           \
        block[i] = e;                                                                          \
        far |= (word)e_is_far_##suffix(e);                                                     \
        y[first + i] = e_near_##name##_##suffix(e);                                            \
      }                                                                                        \
      for (size_t i = 0; far && i < length; i++) {                                             \
        if (e_is_far_##suffix(block[i])) y[first + i] = e_far_##name##_##suffix(block[i]);     \
      }                                                                                        \
    }                                                                                          \
  }

E_EVEN(exp)
E_EVEN(log)
E_REDUCED(sin, f64, double, uint64_t)
E_REDUCED(cos, f64, double, uint64_t)
E_REDUCED(tan, f64, double, uint64_t)
E_PLAIN(asin, f64, double)
E_PLAIN(acos, f64, double)
E_PLAIN(atan, f64, double)
E_PLAIN(sinh, f64, double)
E_PLAIN(cosh, f64, double)
E_PLAIN(tanh, f64, double)

E_PLAIN(exp, f32, float)
E_PLAIN(log, f32, float)
E_REDUCED(sin, f32, float, uint32_t)
E_REDUCED(cos, f32, float, uint32_t)
E_REDUCED(tan, f32, float, uint32_t)
E_PLAIN(asin, f32, float)
E_PLAIN(acos, f32, float)
E_PLAIN(atan, f32, float)
E_PLAIN(sinh, f32, float)
E_PLAIN(cosh, f32, float)
E_PLAIN(tanh, f32, float)

#undef E_INLINE
#undef E_INDEPENDENT
#undef E_PLAIN
#undef E_EVEN
#undef E_REDUCED

#endif
