// quicksort.cu - quicksort by many blocks, which share the work as Cederman and Tsigas do
// (2008): all long ranges of a level are divided about their pivots at once, a chunk by each
// block; a short range is sorted by one block, by a bitonic network in shared memory. The host
// waits once a level, for the number of chunks of the next one. There are fewer than 2^30 keys.
extern "C" {
#include "baseline.h"
#include "serve-gpu.h"
}

#include "append.h"

#include <utility>

enum { THREADS = 256, WARPS = THREADS / 32, EACH = 16, CHUNK = THREADS * EACH, FEW = 2048 };

#if INT_BITS == 32
#define GREATEST INT32_MAX
#else
#define GREATEST INT64_MAX
#endif

struct span {
  int begin, end;
};

/* A range that is too long for a block, and how many of its keys were below and above its
 * pivot. */
struct range {
  span keys;
  int below, above;
  integer pivot;
};

struct chunk {
  int range, number; /* the chunk's in its range */
};

struct counts {
  int ranges, chunks, few;
};

/* The work of a level: long ranges, their chunks, and short ranges. */
struct level {
  counts *count;
  range *ranges;
  chunk *chunks;
  span *few;
};

static __device__ integer middle(integer a, integer b, integer c) {
  return max(min(a, b), min(max(a, b), c));
}

/* Of nine keys, the middle one of the middle ones of three each. */
static __device__ integer pivot_of(const integer *keys, span s) {
  const int step = (s.end - s.begin) / 9;
  const integer *k = keys + s.begin + step / 2;
  return middle(middle(k[0], k[step], k[2 * step]),
                middle(k[3 * step], k[4 * step], k[5 * step]),
                middle(k[6 * step], k[7 * step], k[8 * step]));
}

/* All threads of a block put a range on the lists of a level. */
static __device__ void list(const integer *keys, span s, level to) {
  __shared__ int number, first;
  const int length = s.end - s.begin, chunks = (length + CHUNK - 1) / CHUNK;
  if (length == 0) return;
  if (length <= FEW) {
    if (threadIdx.x == 0) to.few[atomicAdd(&to.count->few, 1)] = s;
    return;
  }
  if (threadIdx.x == 0) {
    number = atomicAdd(&to.count->ranges, 1);
    first = atomicAdd(&to.count->chunks, chunks);
    to.ranges[number] = {s, 0, 0, pivot_of(keys, s)};
  }
  __syncthreads();
  for (int k = int(threadIdx.x); k < chunks; k += THREADS) to.chunks[first + k] = {number, k};
  __syncthreads();
}

static __global__ void begin(const integer *keys, int n, level to) {
  list(keys, {0, n}, to);
}

/* Keys below the pivot go to the front of their range, those above it to the end. */
static __global__ void divide(level here, const integer *from, integer *to) {
  const chunk c = here.chunks[blockIdx.x];
  range *const r = &here.ranges[c.range];
  const span s = r->keys;
  const integer pivot = r->pivot;
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int first = s.begin + c.number * CHUNK + warp * 32 * EACH + lane;
  integer keys[EACH];
  int below = 0, above = 0;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    keys[k] = first + 32 * k < s.end ? from[first + 32 * k] : pivot;
    below += __popc(__ballot_sync(~0u, keys[k] < pivot));
    above += __popc(__ballot_sync(~0u, keys[k] > pivot));
  }
  int low = s.begin + appended<WARPS>(below, &r->below);
  int high = s.end - above - appended<WARPS>(above, &r->above);
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const unsigned lows = __ballot_sync(~0u, keys[k] < pivot);
    const unsigned highs = __ballot_sync(~0u, keys[k] > pivot);
    if (keys[k] < pivot) to[low + lanes_before(lows)] = keys[k];
    if (keys[k] > pivot) to[high + lanes_before(highs)] = keys[k];
    low += __popc(lows);
    high += __popc(highs);
  }
}

/* Keys that equal the pivot are sorted, a chunk of them by each block; those below and those
 * above are ranges of the next level. */
static __global__ void settle(level here, const integer *keys, integer *sorted, level next) {
  const chunk c = here.chunks[blockIdx.x];
  const range r = here.ranges[c.range];
  const span low = {r.keys.begin, r.keys.begin + r.below};
  const span high = {r.keys.end - r.above, r.keys.end};
  const int first = low.end + c.number * CHUNK, end = min(first + CHUNK, high.begin);
  for (int k = first + int(threadIdx.x); k < end; k += THREADS) sorted[k] = r.pivot;
  if (c.number > 0) return;
  list(keys, low, next);
  list(keys, high, next);
}

static __device__ void exchange(integer *a, integer *b, bool rising) {
  const integer x = *a, y = *b;
  if ((x > y) != rising) return;
  *a = y;
  *b = x;
}

static __global__ void sort_few(const span *few, const integer *from, integer *to) {
  __shared__ integer keys[FEW];
  const span s = few[blockIdx.x];
  const int n = s.end - s.begin, me = int(threadIdx.x);
  int size = 2;
  while (size < n) size *= 2;
  for (int k = me; k < size; k += THREADS) keys[k] = k < n ? from[s.begin + k] : GREATEST;
  for (int run = 2; run <= size; run *= 2) {
    for (int distance = run / 2; distance > 0; distance /= 2) {
      __syncthreads();
      for (int k = me; k < size / 2; k += THREADS) {
        const int i = 2 * k - (k & (distance - 1));
        exchange(&keys[i], &keys[i + distance], (i & run) == 0);
      }
    }
  }
  __syncthreads();
  for (int k = me; k < n; k += THREADS) to[s.begin + k] = keys[k];
}

/* Lists of any level of n keys: each range makes two at most. */
static level lists(int k, int64_t n) {
  const size_t ranges = size_t(n) / FEW + 1, chunks = size_t(n) / CHUNK + ranges;
  return {static_cast<counts *>(scratch(4 * k, sizeof(counts))),
          static_cast<range *>(scratch(4 * k + 1, ranges * sizeof(range))),
          static_cast<chunk *>(scratch(4 * k + 2, chunks * sizeof(chunk))),
          static_cast<span *>(scratch(4 * k + 3, 2 * ranges * sizeof(span)))};
}

extern "C" void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  const integer *from = arguments[0].as.i;
  integer *const sorted = result(results, 0, ARRAY_INTEGER, n)->as.i;
  integer *const other = static_cast<integer *>(scratch(8, size_t(n) * sizeof(integer)));
  level here = lists(0, n), next = lists(1, n);
  counts found;
  cudaMemsetAsync(here.count, 0, sizeof found);
  begin<<<1, THREADS>>>(from, int(n), here);
  for (integer *to = other;; to = from == other ? sorted : other) {
    device_copy_out(&found, here.count, sizeof found);
    if (found.few > 0) sort_few<<<unsigned(found.few), THREADS>>>(here.few, from, sorted);
    if (found.chunks == 0) return;
    divide<<<unsigned(found.chunks), THREADS>>>(here, from, to);
    cudaMemsetAsync(next.count, 0, sizeof found);
    settle<<<unsigned(found.chunks), THREADS>>>(here, to, sorted, next);
    std::swap(here, next);
    from = to;
  }
}
