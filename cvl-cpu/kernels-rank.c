/* kernels-rank.c - keys and ranks of short segments, for every type of elements and ranks. */
#include "cvl-cpu/kernels-rank.h"

#include <string.h>

#include "cvl-cpu/kernels.h"
#include "cvl-cpu/templates.h"

enum {
  STRIP = 512, /* short segments are ranked in strips of about so many elements */
  LANES = 16,  /* what a vector register holds at most of these types */
};

/* The order of INT is that of unsigned numbers after the sign is flipped; of FLOAT too, after
 * negative ones are complemented. A NaN is above all in both directions. */
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
#include "cvl-cpu/kernels-rank-elem.h"
#define KIND    i64
#define ELEMENT int64_t
#define KEY     uint64_t
#include "cvl-cpu/kernels-rank-elem.h"
#define KIND    f32
#define ELEMENT float
#define KEY     uint32_t
#include "cvl-cpu/kernels-rank-elem.h"
#define KIND    f64
#define ELEMENT double
#define KEY     uint64_t
#include "cvl-cpu/kernels-rank-elem.h"

#define ROWS(kind)                                                                             \
  {                                                                                            \
    [CVL_I32] = {{keys_##kind##_up, items_##kind##_up, segments_##kind##_up_i32},              \
                 {keys_##kind##_down, items_##kind##_down, segments_##kind##_down_i32}},       \
    [CVL_I64] = {{keys_##kind##_up, items_##kind##_up, segments_##kind##_up_i64},              \
                 {keys_##kind##_down, items_##kind##_down, segments_##kind##_down_i64}},       \
  }
const struct rank_kernels KERNEL(rank_kernels) = {{[CVL_I32] = ROWS(i32),
                                                   [CVL_I64] = ROWS(i64),
                                                   [CVL_F32] = ROWS(f32),
                                                   [CVL_F64] = ROWS(f64)}};
