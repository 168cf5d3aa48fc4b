/* templates.h - macros for kernel files that write a function once for several types or
 * operations. They concatenate names, and select rows of a class from operations.def.
 */
#ifndef RAVEL_CPU_TEMPLATES_H
#define RAVEL_CPU_TEMPLATES_H

#define COMBINE_PASTE(a, b)       a##b
#define COMBINE_NAME(a, b)        a##_##b
#define COMBINE_EXPAND(a, b)      COMBINE_PASTE(a, b)
#define COMBINE_EXPAND_NAME(a, b) COMBINE_NAME(a, b)

/* WHERE_row_class(text) is the text if both letters are the same, otherwise nothing. */
#define WHERE_I_I(...) __VA_ARGS__
#define WHERE_I_F(...)
#define WHERE_I_B(...)
#define WHERE_F_I(...)
#define WHERE_F_F(...) __VA_ARGS__
#define WHERE_F_B(...)
#define WHERE_B_I(...)
#define WHERE_B_F(...)
#define WHERE_B_B(...)        __VA_ARGS__
#define WHERE_CLASS_(row, of) WHERE_##row##_##of
#define WHERE_CLASS(row, of)  WHERE_CLASS_(row, of)

/* Without an optimiser, inlined code would only be longer. */
#ifdef __OPTIMIZE__
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

#endif
