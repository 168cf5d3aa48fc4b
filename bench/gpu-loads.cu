// gpu-loads.cu - the time that a device and its driver take besides the work of kernels:
// launches, waits, a look at the host's memory, loading a kernel on an idle and on a busy
// device, memory, events.
//
//   bench-gpu-loads [--quick] [FOLDER]
//
// FOLDER has kernels that programs have left there (RAVEL_CACHE); nothing is loaded without
// them. Each figure is a line of JSON, in microseconds. With --quick each runs once, for a try
// without a GPU.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

static void gpu_loads_check(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "bench-gpu-loads: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) gpu_loads_check(call, #call)

static double gpu_loads_now() {
  const auto t = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(t).count();
}

static void gpu_loads_report(const std::string &name, double microseconds) {
  std::printf("{\"name\": \"%s\", \"us\": %.3f}\n", name.c_str(), microseconds);
  std::fflush(stdout);
}

static bool quick = false;

template <class F> static double once(F f) {
  const double start = gpu_loads_now();
  f();
  return gpu_loads_now() - start;
}

/* Returns the median of several times, after one that does not count. */
template <class F> static double median(F f) {
  std::vector<double> found;
  once(f);
  for (int k = 0; k < (quick ? 1 : 15); k++) found.push_back(once(f));
  std::sort(found.begin(), found.end());
  return found[found.size() / 2];
}

/* ---- kernels ---- */

struct many_arguments {
  char bytes[3584];
};

static __global__ void gpu_loads_nothing(int) {}
static __global__ void nothing_of_many(const __grid_constant__ many_arguments, int) {}

/* Keeps the device busy until the host releases it, or for so many looks. */
static __global__ void gpu_loads_hold(const volatile int *released, int looks) {
  for (int k = 0; k < looks && *released == 0; k++) {
  }
}

static cudaStream_t stream;

static void wait() {
  CHECK(cudaStreamSynchronize(stream));
}

/* ---- launches and waits ---- */

enum { LAUNCHES = 200, WINDOW = 24 };

template <class F> static void report_launches(const char *name, F launch) {
  gpu_loads_report(name, median([&] {
                           for (int k = 0; k < LAUNCHES; k++) launch();
                         }) / LAUNCHES);
  wait();
}

/* Makes a launch that may begin before the kernel before it has ended (sm_90). */
static void launch_overlapping() {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = how.blockDim = dim3(1);
  how.stream = stream;
  how.attrs = &attribute;
  how.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&how, gpu_loads_nothing, 0));
}

template <class F> static void report_window(const char *name, F launch) {
  gpu_loads_report(name, median([&] {
                     for (int k = 0; k < WINDOW; k++) launch();
                     wait();
                   }));
}

static void launches() {
  const auto plain = [] { gpu_loads_nothing<<<1, 1, 0, stream>>>(0); };
  report_launches("launch, 4 bytes of arguments", plain);
  report_launches("launch, 3.5 KB of arguments",
                  [] { nothing_of_many<<<1, 1, 0, stream>>>(many_arguments{}, 0); });
  gpu_loads_report("launch and wait", median([&] {
                     plain();
                     wait();
                   }));
  report_window("24 launches and a wait", plain);
  report_window("24 launches that may overlap and a wait", launch_overlapping);
}

static void looks(int *released) {
  const int count = 2000;
  *released = 0;
  gpu_loads_report("a look of a kernel at the host's memory",
                   median([&] {
                     gpu_loads_hold<<<1, 1, 0, stream>>>(released, count);
                     wait();
                   }) / count);
}

/* ---- loading ---- */

static std::vector<std::string> kernels_of(const char *folder) {
  std::vector<std::string> found;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".kernel") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    found.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return found;
}

static void gpu_loads_load(const std::string &image) {
  cudaLibrary_t library;
  CHECK(cudaLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel;
  cudaFuncAttributes attributes;
  if (cudaLibraryGetKernel(&kernel, library, "fused_kernel") == cudaSuccess)
    CHECK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void *>(kernel)));
  else
    cudaGetLastError(); /* not one of ours */
}

static void load_all(const std::vector<std::string> &images, int threads) {
  std::vector<std::thread> loading;
  for (int t = 0; t < threads; t++)
    loading.emplace_back([&images, t, threads] {
      for (size_t k = size_t(t); k < images.size(); k += size_t(threads))
        gpu_loads_load(images[k]);
    });
  for (std::thread &t : loading) t.join();
}

/* Measures whether loading waits for the device: then it takes as long as the device is
 * held. */
static void load_beside_held(const std::vector<std::string> &images, int *released) {
  double taken = 0;
  *released = 0;
  gpu_loads_hold<<<1, 1, 0, stream>>>(released, 100000);
  std::thread loading([&] { taken = once([&] { gpu_loads_load(images[0]); }); });
  std::this_thread::sleep_for(std::chrono::milliseconds(quick ? 1 : 20));
  *static_cast<volatile int *>(released) = 1;
  loading.join();
  wait();
  gpu_loads_report("loading a kernel beside one that is held for 20 ms", taken);
}

static void launch_beside_loading(const std::vector<std::string> &images) {
  double worst = 0, all = 0;
  const int count = quick ? 10 : 2000;
  std::thread loading([&] { load_all(images, 4); });
  for (int k = 0; k < count; k++) {
    const double each = once([] { gpu_loads_nothing<<<1, 1, 0, stream>>>(0); });
    worst = std::max(worst, each);
    all += each;
  }
  loading.join();
  wait();
  gpu_loads_report("launch beside 4 threads that load", all / count);
  gpu_loads_report("launch beside 4 threads that load, the slowest", worst);
}

static void loading(const std::vector<std::string> &images, int *released) {
  if (images.empty()) return;
  const double count = double(images.size());
  std::printf("{\"name\": \"kernels to load\", \"count\": %zu}\n", images.size());
  gpu_loads_report("loading a kernel, idle device", once([&] { load_all(images, 1); }) / count);
  gpu_loads_report("loading a kernel, idle device, 4 threads",
                   once([&] { load_all(images, 4); }) / count);
  load_beside_held(images, released);
  launch_beside_loading(images);
}

/* ---- memory and events ---- */

static void device_memory(size_t megabytes) {
  const int count = 4;
  void *at[count];
  gpu_loads_report("cudaMalloc of " + std::to_string(megabytes) + " MB",
                   once([&] {
                     for (void *&p : at) CHECK(cudaMalloc(&p, megabytes << 20));
                   }) / count);
  for (void *p : at) CHECK(cudaFree(p));
}

static void pinned_memory(size_t megabytes) {
  void *at;
  gpu_loads_report("cudaHostAlloc of " + std::to_string(megabytes) + " MB", once([&] {
                     CHECK(cudaHostAlloc(&at, megabytes << 20, cudaHostAllocMapped));
                   }));
  CHECK(cudaFreeHost(at));
}

static void events() {
  cudaEvent_t made[64];
  gpu_loads_report("creating an event", once([&] {
                                          for (cudaEvent_t &e : made)
                                            CHECK(cudaEventCreate(&e));
                                        }) / 64);
  gpu_loads_report("recording an event", median([&] {
                                           for (cudaEvent_t e : made)
                                             CHECK(cudaEventRecord(e, stream));
                                         }) / 64);
  wait();
}

int main(int argc, char **argv) {
  const char *folder = nullptr;
  for (int k = 1; k < argc; k++) {
    if (!std::strcmp(argv[k], "--quick"))
      quick = true;
    else
      folder = argv[k];
  }
  int *released;
  gpu_loads_report(
      "opening a context", once([&] {
        CHECK(cudaHostAlloc(reinterpret_cast<void **>(&released), 64, cudaHostAllocMapped));
      }));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  launches();
  looks(released);
  if (folder) loading(kernels_of(folder), released);
  for (size_t megabytes : {size_t(64), size_t(256), size_t(1024)}) device_memory(megabytes);
  for (size_t megabytes : {size_t(1), size_t(16)}) pinned_memory(megabytes);
  events();
  return 0;
}
