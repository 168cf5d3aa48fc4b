/* append.h - for kernels whose blocks append what they keep to an array. */
#ifndef RAVEL_BENCH_APPEND_H
#define RAVEL_BENCH_APPEND_H

/* All threads of a block call this; `count` is that of the warp. It gives where the warp's
 * elements begin behind *end, which grows by the block's: one atomic operation for a block,
 * since all blocks meet there. */
template <int WARPS> static __device__ int appended(int count, int *end) {
  __shared__ int begins[WARPS], first;
  const int warp = int(threadIdx.x) / 32;
  if (threadIdx.x % 32 == 0) begins[warp] = count;
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (int w = 0; w < WARPS; w++) {
      const int those = begins[w];
      begins[w] = total;
      total += those;
    }
    first = atomicAdd(end, total);
  }
  __syncthreads();
  const int at = first + begins[warp];
  __syncthreads(); /* before the next call */
  return at;
}

/* Of the lanes whose bits are set, how many come before this one. */
static __device__ inline int lanes_before(unsigned lanes) {
  return __popc(lanes & ((1u << threadIdx.x % 32) - 1));
}

#endif
