/* gpu-peers-ops.cu - the peers on one element type. It is compiled once for each, with
 * PEERS_ELEM i32, i64, f32 or f64; with PEERS_COUNTED it has CUB's work alone, for the
 * interpreter of PTX.
 *
 * Sums are those of the library, in its order. For FLOAT scans they are not reproducible; our
 * scans are compared with these.
 */
#include "gpu-peers.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>
#if !PEERS_COUNTED
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/transform.h>
#endif

#include <iterator>
#include <type_traits>

#define PEERS_TEXT_(x)    #x
#define PEERS_TEXT(x)     PEERS_TEXT_(x)
#define PEERS_NAME_(a, b) a##b
#define PEERS_NAME(a, b)  PEERS_NAME_(a, b)

namespace peers {
namespace {

using i32 = int32_t;
using i64 = int64_t;
using f32 = float;
using f64 = double;
using elem = PEERS_ELEM;
const char elem_text[] = PEERS_TEXT(PEERS_ELEM);

/* ---- data: the distributions of measure_random ---- */

__host__ __device__ uint64_t mixed(uint64_t seed, uint64_t i) {
  uint64_t z = (seed << 40) + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

__global__ void fill_elements(elem *x, int64_t n, uint64_t seed) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const uint64_t u = mixed(seed, (uint64_t)i);
    if constexpr (std::is_floating_point<elem>::value) {
      x[i] = (elem)(0.1 + 0.9 * (double)(u >> 11) * 0x1p-53);
    } else {
      x[i] = (elem)((u >> 34) + 1);
    }
  }
}

__global__ void fill_flags(uint8_t *x, int64_t n, uint64_t seed) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    x[i] = (uint8_t)(mixed(seed, (uint64_t)i) >> 63);
  }
}

/* Writes the indices in order, or a permutation of them that looks random; n is a power of
 * two. */
__global__ void fill_indices(uint32_t *x, int64_t n, bool random) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    uint32_t index = (uint32_t)i;
    const uint32_t mask = (uint32_t)(n - 1);
    for (int round = 0; random && round < 3; round++) { /* each step can be undone */
      index = (index * 0x9e3779b1u + 12345u) & mask;
      index ^= index >> 7;
    }
    x[i] = index;
  }
}

/* Writes the segment of each element, from offsets of count segments. */
__global__ void fill_keys(int32_t *key, int64_t n, const int64_t *offsets, int64_t count) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    int64_t low = 0, high = count; /* the last segment that starts at or before i */
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      if (offsets[middle] <= i) {
        low = middle;
      } else {
        high = middle;
      }
    }
    key[i] = (int32_t)low;
  }
}

/* ---- whole vectors ---- */

struct data {
  bench &b;
  int64_t n;
  device_vector<elem> x, y, out;
  device_vector<uint8_t> flags;
  device_vector<uint32_t> indices, sorted;
  device_vector<int64_t> number;
  std::vector<void *> scratch;

  data(bench &b, int64_t n)
      : b(b), n(n), x(n), y(n), out(n), flags(n), indices(n), sorted(n), number(1) {
    fill_elements<<<1024, 256, 0, b.stream>>>(x.data, n, 1);
    fill_elements<<<1024, 256, 0, b.stream>>>(y.data, n, 2);
    fill_flags<<<1024, 256, 0, b.stream>>>(flags.data, n, 3);
    fill_indices<<<1024, 256, 0, b.stream>>>(indices.data, n, false);
    check(cudaGetLastError(), "making data");
  }
  ~data() {
    cudaStreamSynchronize(b.stream);
    for (void *p : scratch) cudaFree(p);
  }
  void row(const char *peer, const char *name, const char *shape, double bytes,
           const std::function<void()> &issue) {
    measure(b, peer, name, elem_text, shape, n, bytes * (double)n, issue);
  }
  template <class F> std::function<void()> cub_call(F call) {
    return with_scratch(scratch, call);
  }
#if !PEERS_COUNTED
  /* The policy with which Thrust does not wait. */
  auto policy() const {
    return thrust::cuda::par_nosync.on(b.stream);
  }
#endif
};

void whole_by_cub(data &d) {
  const double size = sizeof(elem);
  const elem *x = d.x.data;
  elem *out = d.out.data;
  const int64_t n = d.n;
  const cudaStream_t s = d.b.stream;
  d.row("driver", "copy", "one", 2 * size, [=] {
    check(cudaMemcpyAsync(out, x, (size_t)n * sizeof(elem), cudaMemcpyDeviceToDevice, s),
          "copying");
  });
  d.row("CUB", "ADD_REDUCE", "one", size, d.cub_call([=](void *t, size_t &bytes) {
    return cub::DeviceReduce::Sum(t, bytes, x, out, n, s);
  }));
  d.row("CUB", "ADD_SCAN", "one", 2 * size, d.cub_call([=](void *t, size_t &bytes) {
    return cub::DeviceScan::ExclusiveSum(t, bytes, x, out, n, s);
  }));
  d.row("CUB", "PACK, new flags", "one", 1 + 1.5 * size,
        d.cub_call([=, flags = d.flags.data, number = d.number.data](void *t, size_t &bytes) {
          return cub::DeviceSelect::Flagged(t, bytes, x, flags, out, number, n, s);
        }));
  d.row("CUB", "SORT_UP", "one", 2 * size * (size + 1), d.cub_call([=](void *t, size_t &bytes) {
    return cub::DeviceRadixSort::SortKeys(t, bytes, x, out, n, 0, (int)(8 * sizeof(elem)), s);
  }));
  /* Sorts keys with their indices, as a rank does before it scatters. */
  d.row(
      "CUB", "RANK_UP", "one", 8 * (double)(sizeof(elem) * (sizeof(elem) + 4)) / 4,
      d.cub_call([=, indices = d.indices.data, sorted = d.sorted.data](void *t, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(t, bytes, x, out, indices, sorted, n, 0,
                                               (int)(8 * sizeof(elem)), s);
      }));
}

#if PEERS_COUNTED
void sums_of_two_by_cub(data &) {}
void whole_by_thrust(data &) {}
#else
struct add {
  __host__ __device__ elem operator()(elem a, elem b) const { return (elem)(a + b); }
};

/* Its bulk copies are not interpreted. */
void sums_of_two_by_cub(data &d) {
  d.row("CUB", "ADD", "one", 3.0 * sizeof(elem),
        [x = d.x.data, y = d.y.data, out = d.out.data, n = d.n, s = d.b.stream] {
          check(
              cub::DeviceTransform::Transform(::cuda::std::make_tuple(x, y), out, n, add{}, s),
              "a call of CUB");
        });
}
void whole_by_thrust(data &d) {
  const double size = sizeof(elem);
  const elem *x = d.x.data, *y = d.y.data;
  elem *out = d.out.data;
  const int64_t n = d.n;
  const auto policy = d.policy();
  d.row("Thrust", "ADD", "one", 3 * size,
        [=] { thrust::transform(policy, x, x + n, y, out, add{}); });
  d.row("Thrust", "ADD_REDUCE", "one", size, [=] {
    volatile elem sum = thrust::reduce(policy, x, x + n, elem{}, add{});
    (void)sum;
  });
  d.row("Thrust", "ADD_SCAN", "one", 2 * size,
        [=] { thrust::exclusive_scan(policy, x, x + n, out, elem{}, add{}); });
  d.row("Thrust", "PACK, new flags", "one", 1 + 1.5 * size, [=, flags = d.flags.data] {
    thrust::copy_if(policy, x, x + n, flags, out,
                    [] __device__(uint8_t flag) { return flag != 0; });
  });
  for (const bool random : {false, true}) {
    const char *shape = random ? "random" : "in order";
    fill_indices<<<1024, 256, 0, d.b.stream>>>(d.indices.data, n, random);
    const uint32_t *indices = d.indices.data;
    d.row("Thrust", "BPERMUTE", shape, 2 * size + 4,
          [=] { thrust::gather(policy, indices, indices + n, x, out); });
    d.row("Thrust", "PERMUTE", shape, 2 * size + 4,
          [=] { thrust::scatter(policy, x, x + n, indices, out); });
  }
  if constexpr (std::is_floating_point<elem>::value) {
    d.row("Thrust", "dot", "one", 2 * size, [=] {
      volatile elem sum = thrust::inner_product(policy, x, x + n, y, elem{});
      (void)sum;
    });
  }
}

#endif

template <class T> void by_blas(data &d) {
  if constexpr (std::is_floating_point<T>::value) {
    if (!d.b.blas) return;
    const double size = sizeof(elem);
    const T *x = d.x.data;
    T *y = d.y.data, *out = d.out.data;
    const bench &b = d.b;
    const int64_t n = d.n;
    d.row("cuBLAS", "dot", "one", 2 * size, [=, &b] { blas_dot(b, n, x, y, out); });
    /* y grows by a multiple of x each time, which costs the same. */
    d.row("cuBLAS", "axpy", "one", 3 * size, [=, &b] { blas_axpy(b, n, x, x, y); });
  }
}

/* ---- segments: the shapes of segments.c, whose results have the same names ---- */

int64_t length_of(int shape, uint64_t k, int64_t n) {
  switch (shape) {
  case 0: return n;
  case 1: return 4;
  case 2: return 32;
  case 3: return 1000;
  case 4: return 100000;
  case 5: return (int64_t)(1 + mixed(5, k) % 63);
  case 6: {
    const uint64_t u = mixed(6, k);
    return u & 1 ? (int64_t)(1 + (u >> 32) % 31) : 0;
  }
  case 7: return (int64_t)k == n / 8 ? n / 2 : 2;
  case 8: return 1;
  default: return (int64_t)(0x1p53 / (double)((mixed(7, k) >> 11) + 1));
  }
}

const char *const shape_names[] = {"one",         "4 each",   "32 each",    "1000 each",
                                   "100000 each", "random",   "half empty", "long, tiny",
                                   "1 each",      "power law"};

#if PEERS_COUNTED
void scan_by_thrust(data &, const char *, const int32_t *) {}
#else
void scan_by_thrust(data &d, const char *shape, const int32_t *key) {
  const elem *x = d.x.data;
  d.row("Thrust", "+_SCAN", shape, 2 * sizeof(elem) + 4,
        [=, policy = d.policy(), n = d.n, out = d.out.data] {
          thrust::exclusive_scan_by_key(policy, key, key + n, x, out, elem{},
                                        ::cuda::std::equal_to<int32_t>{}, add{});
        });
}
#endif

void segmented(data &d) {
  const double size = sizeof(elem);
  const elem *x = d.x.data;
  elem *out = d.out.data;
  const int64_t n = d.n;
  const cudaStream_t s = d.b.stream;
  for (int shape = 0; shape < (int)std::size(shape_names); shape++) {
    if (now() > d.b.end) return;
    std::vector<int64_t> starts;
    for (int64_t at = 0; at < n; at += length_of(shape, starts.size() - 1, n))
      starts.push_back(at);
    const int64_t count = (int64_t)starts.size();
    starts.push_back(n);
    device_vector<int64_t> offsets(count + 1);
    device_vector<int32_t> keys(n);
    check(cudaMemcpy(offsets.data, starts.data(), starts.size() * 8, cudaMemcpyHostToDevice),
          "copying");
    fill_keys<<<1024, 256, 0, s>>>(keys.data, n, offsets.data, count);
    const int32_t *k = keys.data;
    const int64_t *o = offsets.data;
    d.row("CUB", "+_SCAN", shape_names[shape], 2 * size + 4,
          d.cub_call([=](void *t, size_t &bytes) {
            return cub::DeviceScan::ExclusiveSumByKey(t, bytes, k, x, out, n,
                                                      ::cuda::std::equal_to<>{}, s);
          }));
    d.row("CUB", "+_REDUCE", shape_names[shape], size + (size + 8) * (double)count / (double)n,
          d.cub_call([=](void *t, size_t &bytes) {
            return cub::DeviceSegmentedReduce::Sum(t, bytes, x, out, count, o, o + 1, s);
          }));
    scan_by_thrust(d, shape_names[shape], k);
    check(cudaStreamSynchronize(s), "running");
  }
}

} // namespace

void PEERS_NAME(measure_, PEERS_ELEM)(bench &b, int64_t n) {
  if (now() > b.end) {
    b.left_out++;
    return;
  }
  {
    data d(b, n);
    sums_of_two_by_cub(d);
    whole_by_cub(d);
    whole_by_thrust(d);
    by_blas<elem>(d);
  }
  if (n == (int64_t)1 << b.sizes[0] && n > 16) {
    data d(b, n / 4);
    segmented(d);
  }
}

} // namespace peers
