/* row-sums.h - sums of rows of any lengths, of values that lie one behind the other.
 *
 * The work is shared evenly whatever the rows are, as Merrill and Garland share that of sparse
 * matrices (2016): the ends of rows and the values are one sequence of items, in which a value
 * comes before the end of its row. A block takes a tile of them, a thread some in turn. What
 * follows the last end in a tile is the beginning of another tile's row, and is added to it by
 * a second kernel. A program gives value(k). */
#ifndef RAVEL_BENCH_ROW_SUMS_H
#define RAVEL_BENCH_ROW_SUMS_H

extern "C" {
#include "baseline.h"
#include "serve-gpu.h"
}

#include <cub/device/device_scan.cuh>

enum { THREADS = 128, WARPS = THREADS / 32, EACH = 8, TILE = THREADS * EACH };

/* The sum since a row ended, if one did. */
struct part {
  real sum;
  int ended;
};

/* The sum that a tile leaves for a row. */
struct carry {
  int64_t row;
  real sum;
};

/* Of the first `item` items of so many rows and values, how many are ends of rows. The first of
 * the values has the number `base`. */
static __device__ int64_t ends_among(const integer *ends, int64_t rows, int64_t values,
                                     int64_t base, int64_t item) {
  int64_t low = item > values ? item - values : 0, high = item < rows ? item : rows;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (ends[middle] <= base + item - middle - 1)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static __device__ part both(part a, part b) {
  return {b.ended ? b.sum : a.sum + b.sum, a.ended | b.ended};
}

static __device__ part of_lane_below(part p, int distance) {
  return {__shfl_up_sync(~0u, p.sum, unsigned(distance)),
          __shfl_up_sync(~0u, p.ended, unsigned(distance))};
}

/* All threads of the block: the parts of those before this one, together. */
static __device__ part parts_before(part mine) {
  __shared__ part warps[WARPS];
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  part up_to = mine;
  for (int distance = 1; distance < 32; distance *= 2) {
    const part below = of_lane_below(up_to, distance);
    if (lane >= distance) up_to = both(below, up_to);
  }
  if (lane == 31) warps[warp] = up_to;
  __syncthreads();
  part before = {0, 0};
  for (int w = 0; w < warp; w++) before = both(before, warps[w]);
  const part below = of_lane_below(up_to, 1);
  return lane > 0 ? both(before, below) : before;
}

template <class Value>
static __global__ void sum_tiles(Value value, const integer *ends, int64_t rows, int64_t count,
                                 real *sums, carry *carries) {
  __shared__ integer tile_ends[TILE];
  __shared__ real tile_values[TILE];
  __shared__ int64_t cuts[2];
  const int me = int(threadIdx.x);
  const int64_t first = int64_t(blockIdx.x) * TILE;
  const int64_t last = first + TILE < rows + count ? first + TILE : rows + count;
  if (me < 2) cuts[me] = ends_among(ends, rows, count, 0, me ? last : first);
  __syncthreads();
  const int64_t row = cuts[0], at = first - row;
  const int items = int(last - first), tile_rows = int(cuts[1] - row);
  for (int k = me; k < tile_rows; k += THREADS) tile_ends[k] = ends[row + k];
  for (int k = me; k < items - tile_rows; k += THREADS) tile_values[k] = value(at + k);
  __syncthreads();

  const int begin = min(me * EACH, items), end = min(begin + EACH, items);
  int r = int(ends_among(tile_ends, tile_rows, items - tile_rows, at, begin)), v = begin - r;
  part mine = {0, 0};
  int head_row = 0; /* the first that ends here, whose sum other threads may have begun */
  real head = 0;
  for (int k = begin; k < end; k++) {
    if (r < tile_rows && tile_ends[r] <= at + v) {
      if (mine.ended)
        sums[row + r] = mine.sum;
      else
        head_row = r, head = mine.sum;
      mine = {0, 1};
      r++;
    } else {
      mine.sum += tile_values[v++];
    }
  }
  const part before = parts_before(mine);
  if (mine.ended) sums[row + head_row] = before.sum + head;
  if (me == THREADS - 1) carries[blockIdx.x] = {row + tile_rows, both(before, mine).sum};
}

static __global__ void add_carries(int64_t tiles, int64_t rows, const carry *carries,
                                   real *sums) {
  const int64_t k = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (k >= tiles) return;
  const carry c = carries[k];
  if (c.row < rows && c.sum != 0) atomicAdd(&sums[c.row], c.sum);
}

template <class Value>
static void sum_rows(Value value, const struct array *lengths, int64_t count, real *sums) {
  const int64_t rows = lengths->length, tiles = (rows + count + TILE - 1) / TILE;
  if (rows == 0) return;
  integer *ends = static_cast<integer *>(scratch(0, size_t(rows) * sizeof(integer)));
  carry *carries = static_cast<carry *>(scratch(1, size_t(tiles) * sizeof(carry)));
  size_t bytes = 0;
  device_check(cub::DeviceScan::InclusiveSum(nullptr, bytes, lengths->as.i, ends, rows));
  device_check(
      cub::DeviceScan::InclusiveSum(scratch(2, bytes), bytes, lengths->as.i, ends, rows));
  sum_tiles<<<unsigned(tiles), THREADS>>>(value, ends, rows, count, sums, carries);
  add_carries<<<unsigned((tiles + 255) / 256), 256>>>(tiles, rows, carries, sums);
}

#endif
