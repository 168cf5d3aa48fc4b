/* rank.c - keys, ranks of short segments and radix sorting, for every type of elements
 * and ranks. */
#include "cvl-cpu/kernels/rank.h"

#include <string.h>

#include "cvl-cpu/kernels/kernels.h"
#include "cvl-cpu/kernels/templates.h"

enum {
  STRIP = 512,        /* short segments are ranked in strips of about so many elements */
  LANES = 16,         /* the most elements of these types in a vector register */
  SORT_INSERTED = 24, /* so few elements are sorted by insertion */
  SORT_MANY = 1000,   /* so many elements are worth passes over all of them, */
  SORT_PASSES = 3     /* if there are no more passes than this */
};

/* INTs are ordered as unsigned numbers after their sign bit is flipped. FLOATs are too, after
 * negative ones are complemented. A NaN comes last in both directions. */
ALWAYS_INLINE uint32_t key_i32(int32_t x, int down) {
  const uint32_t k = (uint32_t)x ^ UINT32_C(1) << 31;
  return down ? ~k : k;
}
ALWAYS_INLINE uint64_t key_i64(int64_t x, int down) {
  const uint64_t k = (uint64_t)x ^ UINT64_C(1) << 63;
  return down ? ~k : k;
}
ALWAYS_INLINE uint32_t key_f32(float x, int down) {
  const float y = x + 0.0f; /* -0.0 becomes 0.0 */
  uint32_t u;
  memcpy(&u, &y, sizeof u);
  const uint32_t k = u ^ (u >> 31 ? UINT32_MAX : UINT32_C(1) << 31);
  return x != x ? UINT32_MAX : down ? ~k : k;
}
ALWAYS_INLINE uint64_t key_f64(double x, int down) {
  const double y = x + 0.0;
  uint64_t u;
  memcpy(&u, &y, sizeof u);
  const uint64_t k = u ^ (u >> 63 ? UINT64_MAX : UINT64_C(1) << 63);
  return x != x ? UINT64_MAX : down ? ~k : k;
}

#define KIND    i32
#define ELEMENT int32_t
#define KEY     uint32_t
#include "cvl-cpu/kernels/rank-elem.h"
#define KIND    i64
#define ELEMENT int64_t
#define KEY     uint64_t
#include "cvl-cpu/kernels/rank-elem.h"
#define KIND    f32
#define ELEMENT float
#define KEY     uint32_t
#include "cvl-cpu/kernels/rank-elem.h"
#define KIND    f64
#define ELEMENT double
#define KEY     uint64_t
#include "cvl-cpu/kernels/rank-elem.h"

#define ROW(kind, way, ranks)                                                                  \
  {                                                                                            \
    keys_##kind##_##way, items_##kind##_##way, segments_##kind##_##way##_##ranks,              \
        ordered_##kind##_##way, count_##kind##_##way, move_##kind##_##way,                     \
        bucket_##kind##_##way                                                                  \
  }
#define ROWS(kind)                                                                             \
  {                                                                                            \
    [CVL_I32] = {ROW(kind, up, i32), ROW(kind, down, i32)},                                    \
    [CVL_I64] = {ROW(kind, up, i64), ROW(kind, down, i64)},                                    \
  }
const struct rank_kernels KERNEL(rank_kernels) = {{[CVL_I32] = ROWS(i32),
                                                   [CVL_I64] = ROWS(i64),
                                                   [CVL_F32] = ROWS(f32),
                                                   [CVL_F64] = ROWS(f64)}};
