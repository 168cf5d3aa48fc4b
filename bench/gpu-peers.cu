/* gpu-peers.cu - CUB, Thrust and cuBLAS on the work that bench-ops measures, see gpu-peers.hpp.
 *
 *     bench-gpu-peers [--json FILE] [--rounds N] [--seconds N] [--sizes LOG2,LOG2...]
 *     bench-gpu-peers-ptx --count FILE [--width 32|64] [--sizes LOG2,LOG2...] [--only NAME]
 *
 * The second one is linked with the interpreter of PTX instead of the CUDA runtime, and has
 * CUB's work alone: `lab/check counts` counts it.
 */
#include "gpu-peers.hpp"

#include <dlfcn.h>

#include <chrono>
#include <cstring>

namespace peers {

double now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

/* ---- cuBLAS, opened at run time ---- */

namespace {

using status = int; /* cublasStatus_t: 0 is success */

struct blas_calls {
  status (*create)(void **);
  status (*set_stream)(void *, cudaStream_t);
  status (*set_pointer_mode)(void *, int);
  status (*sdot)(void *, int, const float *, int, const float *, int, float *);
  status (*ddot)(void *, int, const double *, int, const double *, int, double *);
  status (*saxpy)(void *, int, const float *, const float *, int, float *, int);
  status (*daxpy)(void *, int, const double *, const double *, int, double *, int);
};

/* The calls of the library; all are null if there is none. */
const blas_calls &blas() {
  static const blas_calls calls = [] {
    blas_calls c{};
    void *library = nullptr;
    for (const char *name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
      if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) return c;
    const auto find = [&](auto &pointer, const char *name) {
      void *symbol = dlsym(library, name);
      memcpy((void *)&pointer, &symbol, sizeof symbol);
    };
    find(c.create, "cublasCreate_v2");
    find(c.set_stream, "cublasSetStream_v2");
    find(c.set_pointer_mode, "cublasSetPointerMode_v2");
    find(c.sdot, "cublasSdot_v2");
    find(c.ddot, "cublasDdot_v2");
    find(c.saxpy, "cublasSaxpy_v2");
    find(c.daxpy, "cublasDaxpy_v2");
    return c;
  }();
  return calls;
}

/* Returns a handle on the stream whose scalars are on the device; null if it cannot be had. */
void *blas_handle(cudaStream_t stream) {
  enum { DEVICE_POINTERS = 1 };
  const blas_calls &c = blas();
  void *handle = nullptr;
  if (!c.create || !c.set_stream || !c.set_pointer_mode || !c.sdot || !c.ddot || !c.saxpy ||
      !c.daxpy || c.create(&handle) || c.set_stream(handle, stream) ||
      c.set_pointer_mode(handle, DEVICE_POINTERS)) {
    return nullptr;
  }
  return handle;
}

} // namespace

bool blas_dot(const bench &b, int64_t n, const float *x, const float *y, float *out) {
  return b.blas && !blas().sdot(b.blas, (int)n, x, 1, y, 1, out);
}
bool blas_dot(const bench &b, int64_t n, const double *x, const double *y, double *out) {
  return b.blas && !blas().ddot(b.blas, (int)n, x, 1, y, 1, out);
}
bool blas_axpy(const bench &b, int64_t n, const float *a, const float *x, float *y) {
  return b.blas && !blas().saxpy(b.blas, (int)n, a, x, 1, y, 1);
}
bool blas_axpy(const bench &b, int64_t n, const double *a, const double *x, double *y) {
  return b.blas && !blas().daxpy(b.blas, (int)n, a, x, 1, y, 1);
}

/* Returns seconds for each of `times` issues, by the device's clock. */
static double gpu_peers_sequence(bench &b, unsigned times, const std::function<void()> &issue) {
  float ms = 0;
  check(cudaEventRecord(b.start, b.stream), "an event");
  for (unsigned i = 0; i < times; i++) issue();
  check(cudaEventRecord(b.stop, b.stream), "an event");
  check(cudaEventSynchronize(b.stop), "running");
  check(cudaEventElapsedTime(&ms, b.start, b.stop), "an event");
  return 1e-3 * ms / times;
}

/* ---- counts ---- */

namespace {

enum { SWEPT = 1 << 19 };

__global__ void read_all(const int64_t *x, int64_t *sum) {
  int64_t s = 0;
  for (int i = (int)threadIdx.x; i < SWEPT; i += (int)blockDim.x) s += x[i];
  if (s != 0) *sum = s;
}

/* Fills the second-level cache with data that nothing uses and that need not be written
 * back. */
void sweep(bench &b) {
  static device_vector<int64_t> zeros(SWEPT + 1);
  static const cudaError_t filled =
      cudaMemsetAsync(zeros.data, 0, (SWEPT + 1) * sizeof(int64_t), b.stream);
  check(filled, "filling a cache");
  read_all<<<1, 1024, 0, b.stream>>>(zeros.data, zeros.data + SWEPT);
  check(cudaStreamSynchronize(b.stream), "running");
}

void count(bench &b, const char *peer, const char *name, const char *elem, const char *shape,
           int64_t n, double bytes, const std::function<void()> &issue) {
  issue();
  sweep(b);
  fprintf(b.count,
          "{\"peer\": \"%s\", \"name\": \"%s\", \"elem\": \"%s\", \"shape\": \"%s\", "
          "\"n\": %lld, \"bytes\": %.0f}\n",
          peer, name, elem, shape, (long long)n, bytes);
  fflush(b.count);
  issue();
  check(cudaStreamSynchronize(b.stream), "running");
  fprintf(b.count, "{\"end\": 0}\n");
  fflush(b.count);
}

} // namespace

/* ---- time ---- */

void measure(bench &b, const char *peer, const char *name, const char *elem, const char *shape,
             int64_t n, double bytes, const std::function<void()> &issue) {
  if (b.only && strcmp(b.only, name) != 0) return;
  if (now() > b.end) {
    b.left_out++;
    return;
  }
  if (b.count) return count(b, peer, name, elem, shape, n, bytes, issue);
  gpu_peers_sequence(b, 2, issue); /* warms up: code, memory */
  const double once = std::max(1e-6, gpu_peers_sequence(b, 1, issue));
  const unsigned times = (unsigned)std::max(1.0, std::min(1000.0, 5e-3 / once));
  std::vector<double> seconds;
  for (unsigned i = 0; i < b.rounds; i++)
    seconds.push_back(gpu_peers_sequence(b, times, issue));
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  printf("%-8s %-18s %-5s %-12s %-12lld %11.2f us %9.1f GB/s\n", peer, name, elem, shape,
         (long long)n, 1e6 * median, 1e-9 * bytes / median);
  if (!b.json) return;
  fprintf(
      b.json,
      "{\"peer\": \"%s\", \"name\": \"%s\", \"elem\": \"%s\", \"shape\": \"%s\", \"n\": %lld, "
      "\"bytes\": %.0f, \"seconds\": %.6g, \"least_seconds\": %.6g, \"most_seconds\": %.6g, "
      "\"times\": %u}\n",
      peer, name, elem, shape, (long long)n, bytes, median, seconds.front(), seconds.back(),
      times);
  fflush(b.json);
}

/* ---- command line ---- */

static void gpu_peers_usage() {
  fprintf(stderr, "usage: bench-gpu-peers [--json FILE] [--rounds N] [--seconds N] "
                  "[--sizes LOG2,LOG2...] [--count FILE] [--width 32|64] [--only NAME]\n");
  exit(2);
}

static void gpu_peers_parse(bench &b, int argc, char **argv) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) gpu_peers_usage();
    const std::string name = argv[i];
    const int number = atoi(argv[i + 1]);
    if (name == "--json") {
      b.json = fopen(argv[i + 1], "w");
      if (!b.json) perror(argv[i + 1]);
    } else if (name == "--count") {
      b.count = fopen(argv[i + 1], "a");
      if (!b.count) perror(argv[i + 1]);
    } else if (name == "--rounds" && number > 0) {
      b.rounds = (unsigned)number;
    } else if (name == "--seconds" && number > 0) {
      b.end = now() + number;
    } else if (name == "--width" && (number == 32 || number == 64)) {
      b.narrow = number == 32;
      b.wide = number == 64;
    } else if (name == "--only") {
      b.only = argv[i + 1];
    } else if (name == "--sizes") {
      b.sizes.clear();
      for (const char *word = strtok(argv[i + 1], ","); word; word = strtok(nullptr, ",")) {
        if (atoi(word) < 4 || atoi(word) > 30) gpu_peers_usage();
        b.sizes.push_back(atoi(word));
      }
    } else {
      gpu_peers_usage();
    }
  }
}

} // namespace peers

int main(int argc, char **argv) {
  using namespace peers;
  bench b{};
  b.rounds = 5;
  b.end = now() + 1e9;
  b.sizes = {28, 24, 20, 16};
  b.narrow = b.wide = true;
  gpu_peers_parse(b, argc, argv);
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    printf("SKIPPED: no GPU\n");
    return 0;
  }
  check(cudaStreamCreateWithFlags(&b.stream, cudaStreamNonBlocking), "a stream");
  check(cudaEventCreate(&b.start), "an event");
  check(cudaEventCreate(&b.stop), "an event");
  b.blas = blas_handle(b.stream);
  if (!b.blas) printf("cuBLAS SKIPPED: it is not here\n");
  for (const int log_size : b.sizes) {
    const int64_t n = (int64_t)1 << log_size;
    if (b.narrow) measure_i32(b, n);
    if (b.narrow) measure_f32(b, n);
    if (b.wide) measure_i64(b, n);
    if (b.wide) measure_f64(b, n);
  }
  if (b.left_out) printf("%u lines left out: no time\n", b.left_out);
  if (b.json) fclose(b.json);
  if (b.count) fclose(b.count);
  return 0;
}
