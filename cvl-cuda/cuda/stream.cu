/* stream.cu - a GPU as a stream: see stream.hpp and cvl-cuda/stream.hpp.
 *
 * One kernel writes small results, and then the epoch, into pinned memory that the host reads.
 * This needs neither a copy engine nor a call of the driver. Every call goes through `good`.
 * The first one that fails makes the device lost, and nothing is put into the stream from then
 * on.
 */
#include "cvl-cuda/cuda/stream.hpp"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <new>
#include <unordered_set>

#include <cuda_runtime.h>

#include "cvl-cuda/calls.hpp"
#include "cvl-cuda/code.hpp"
#include "cvl-cuda/copies.hpp"
#include "cvl-cuda/cuda/loader.hpp"
#include "cvl-cuda/nvrtc.hpp"
#include "cvl-cuda/spans.hpp"
#include "cvl-cuda/visit.hpp"
#include "cvl/tuning.h"

namespace ravel {
namespace {

/* ---- small results and epochs for the host ---- */

enum { MOST_COPIES = 32, SMALL_COPY = 4096, DELIVERY_THREADS = 256 };

/* Copies to pinned memory and then, if `epoch` is not 0, writes the epoch there, which says
 * that everything before is done. */
struct delivery {
  byte_copy copy[MOST_COPIES];
  unsigned count;
  unsigned *finished; /* counts blocks, in memory of the device; 0 between launches */
  volatile uint64_t *word;
  uint64_t epoch;
};

/* Each copy has a block, and there is at least one block. The last one to finish writes the
 * epoch. A second launch for the epoch would cost the host and the device microseconds each.
 * Instead, this costs a counter in the cache and a fence in each block, which wait at the same
 * time. A single block needs neither.
 *
 * The host may see the epoch only when it sees all copies. In the memory model of PTX, the
 * copies of a block happen before its barrier, and the barrier before what its first thread
 * does next. A fence there makes that thread's addition a release of everything before, by all
 * threads. A fence before the barrier would release only the thread's own copies, since a
 * release is a fence and then a store in one thread. Additions are atomic: the last one sees,
 * through those in between, what each has released, and the fence after it acquires that. The
 * same fence makes the store of the epoch a release for the host. All fences have system
 * scope. */
__global__ void __launch_bounds__(DELIVERY_THREADS)
    deliver(const __grid_constant__ delivery d) {
  follow_launches();
  if (blockIdx.x < d.count) d.copy[blockIdx.x].run((int)threadIdx.x, DELIVERY_THREADS);
  if (d.epoch == 0) return;
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();
  if (gridDim.x > 1) {
    if (atomicAdd(d.finished, 1u) != gridDim.x - 1) return;
    *(volatile unsigned *)d.finished = 0;
    __threadfence_system();
  }
  *d.word = d.epoch;
}

/* ---- holding the device back, to measure it: spans.hpp ---- */

__device__ __forceinline__ uint64_t device_ns() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/* Occupies the device until the host has issued what comes next, or a time limit has passed. */
__global__ void hold_back(const volatile uint64_t *let_go, uint64_t number) {
  const uint64_t begun = device_ns();
  while (*let_go < number && device_ns() - begun < event_clock::MOST_HELD_NS) {
  }
}

/* ---- the stream ---- */

/* Returns the most blocks of a grid: `each` for each multiprocessor, which is several times
 * what can be resident. So the last ones to run leave little idle, whatever number the
 * registers allow. The default is an estimate. RAVEL_CUDA_BLOCKS=N is for tests: with few
 * blocks each does several tiles, one after the other, as otherwise only with long vectors. */
static int64_t most_blocks(int processors, uint64_t each) {
  const char *text = getenv("RAVEL_CUDA_BLOCKS");
  const long long n = text ? strtoll(text, nullptr, 10) : 0;
  return n > 0 ? n : processors * (int64_t)each;
}

/* A wait spins so many times before it queries the device, and queries so often before it lets
 * other threads run. */
enum { SPINS_BETWEEN_LOOKS = 4096, LOOKS_BEFORE_YIELD = 64 };

struct gpu final : stream, event_clock, current_device {
  int device_ = 0, processors_ = 0, architecture_ = 0;
  int64_t most_blocks_ = 0;
  bool dependent_ = false; /* whether launches may overlap: see set_dependent_launches */
  cudaStream_t stream_ = nullptr;
  uint64_t *word_ = nullptr; /* pinned: the epoch reached, and how many holds were released */
  uint64_t holds_ = 0;
  unsigned *finished_ = nullptr; /* on the device: delivery::finished */
  delivery due_{};               /* copies not yet issued; no command was issued since */
  calls calls_;
  bool is_open_ = false, may_open_late_ = false;
  bool lost_ = false;
  char why_[256];
  std::map<void *, size_t> registered_; /* allocated before the device was open */
  bool measures_ = false;
  std::shared_ptr<const std::atomic<unsigned>> loads_; /* under way in threads; null: none */
  std::unordered_set<const void *> launched_; /* kernels so far, where times are measured */
  spans kernels_{*this};
  const interpreter *interpreter_ = nullptr;
  visit visit_{*this};

  ~gpu() override;
  bool describe(int device);
  const char *open() override;
  bool may_open_late() override { return may_open_late_; }

  void leave() override { visit_.leave(); }
  void *allocate(size_t bytes) override;
  void free(void *) override;
  void *allocate_pinned(size_t bytes) override;
  void free_pinned(void *) override;
  void *allocate_early(size_t most, size_t *bytes) override;
  void *allocate_pinned_early(size_t bytes) override;
  void run(const launch &) override;
  void copy_up(void *device, const void *pinned, size_t bytes) override;
  void copy_down(void *pinned, const void *device, size_t bytes) override;
  void copy(void *to, const void *from, size_t bytes) override;
  void fill(void *device, uint8_t byte, size_t bytes) override;
  void taken(void *p, size_t bytes) override;
  void returned(void *p, size_t bytes) override;
  int number() override { return device_; }
  void *allocate_shared(size_t bytes, void (**end)(void *)) override;
  void copy_shared(void *to, const void *from, size_t bytes) override;
  void mark(uint64_t epoch) override;
  void pauses() override {
    if (measures_) kernels_.window_ends();
  }
  uint64_t reached() override;
  void wait(uint64_t epoch) override;
  const char *failure() override { return lost_ ? why_ : nullptr; }
  int processors() override { return processors_; }
  void set_grid_blocks(uint64_t blocks) override {
    most_blocks_ = most_blocks(processors_, blocks);
  }
  void set_dependent_launches(bool all) override { dependent_ = all; }
  void measure() override { measures_ = true; }
  void loads_while(std::shared_ptr<const std::atomic<unsigned>> n) override {
    loads_ = std::move(n);
  }
  uint64_t kernel_ns() override;
  toolchain *new_toolchain() override {
    kernel_loader loader = cuda_loader();
    loader.wants_ptx = interpreter_ != nullptr;
    if (!interpreter_) loader.enter = [](int device) { cudaSetDevice(device); };
    loader.device = device_;
    return nvrtc_toolchain(architecture_, loader).release();
  }

  event make_event() override;
  void end_event(event) override;
  bool record(event, const char *of) override;
  bool elapsed(event from, event to, uint64_t *ns) override;
  bool may_hold() override { return !loads_ || *loads_ == 0; }
  void hold() override;
  void let_go() override;

  bool get_device(int *d) override { return good(cudaGetDevice(d), "cudaGetDevice"); }
  bool set_device(int d) override { return good(cudaSetDevice(d), "cudaSetDevice"); }

  bool usable();
  bool enter();
  bool open_all();
  bool has_common_addresses();
  void *allocate_registered(size_t bytes);
  bool register_all(bool registers);
  void release_all();
  bool good(cudaError_t, const char *what, const char *of = "");
  void lose(const char *what, const char *of, const char *why);
  void *given(cudaError_t, void *p, const char *what, cudaError_t (*give_back)(void *));
  void deliver_due(uint64_t epoch);
  void issue(const launch &);
  cudaError_t start(const void *kernel, dim3 grid, dim3 block, void **arguments);
  template <class G> void measured(const char *of, const void *kernel, G launch);
  bool unmeasured();
  void spin_until(uint64_t epoch);
};

void gpu::lose(const char *what, const char *of, const char *why) {
  if (!lost_) snprintf(why_, sizeof why_, "%s%s%s: %s", what, *of ? " of " : "", of, why);
  lost_ = true;
}

bool gpu::good(cudaError_t e, const char *what, const char *of) {
  if (e == cudaSuccess && calls_.next_fails()) e = cudaErrorUnknown;
  if (e == cudaSuccess) return true;
  lose(what, of, cudaGetErrorString(e));
  return false;
}

/* Returns whether the device may be called, and makes it the calling thread's current device
 * until `leave`. */
bool gpu::enter() {
  return !lost_ && visit_.enter(device_);
}

bool gpu::usable() {
  if (!is_open_ && open()) lost_ = true;
  return enter();
}

/* Returns whether kernels see registered memory of the host at the host's addresses. */
bool gpu::has_common_addresses() {
  int same = 0;
  const auto which = cudaDevAttrCanUseHostPointerForRegisteredMem;
  return cudaDeviceGetAttribute(&same, which, device_) == cudaSuccess && same != 0;
}

/* One text in the module, which `lab/check architectures` reads. */
__attribute__((used)) static const char built_for[] = RAVEL_CUDA_CODE;

/* Reads what can be known without opening the device. */
bool gpu::describe(int device) {
  device_ = device;
  int major = 0, minor = 0;
  const bool known =
      good(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device),
           "cudaDeviceGetAttribute") &&
      good(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
           "cudaDeviceGetAttribute") &&
      good(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
           "cudaDeviceGetAttribute");
  architecture_ = 10 * major + minor;
  most_blocks_ = most_blocks(processors_, tuning_default(TUNE_CUDA_GRID_BLOCKS));
  may_open_late_ = !interpreter_ && has_common_addresses();
  if (!known || interpreter_ || code_for(built_for, (unsigned)architecture_) != code::NONE)
    return known;
  snprintf(why_, sizeof why_, "%s", code_remark(built_for, (unsigned)architecture_).c_str());
  lost_ = true;
  return false;
}

/* Registers memory of the host that was handed out before with the device, or unregisters
 * it. */
bool gpu::register_all(bool registers) {
  bool all = true;
  for (const auto &e : registered_) {
    const cudaError_t done = registers
                                 ? cudaHostRegister(e.first, e.second, cudaHostRegisterMapped)
                                 : cudaHostUnregister(e.first);
    all = all && (!registers || good(done, "cudaHostRegister"));
  }
  return all;
}

bool gpu::open_all() {
  struct cudaFuncAttributes of_kernel;
  void *word = nullptr, *finished = nullptr;
  const bool opened =
      enter() &&
      /* Checks that the driver, too, finds code for this device. */
      good(cudaFuncGetAttributes(&of_kernel, (const void *)deliver), "cudaFuncGetAttributes") &&
      good(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate") &&
      good(cudaHostAlloc(&word, 2 * sizeof *word_, cudaHostAllocMapped), "cudaHostAlloc") &&
      good(cudaMalloc(&finished, sizeof *finished_), "cudaMalloc") &&
      good(cudaMemsetAsync(finished, 0, sizeof *finished_, stream_), "cudaMemsetAsync") &&
      register_all(true);
  word_ = (uint64_t *)word;
  finished_ = (unsigned *)finished;
  if (opened) word_[0] = word_[1] = 0;
  return opened;
}

const char *gpu::open() {
  if (is_open_) return nullptr;
  if (lost_) return why_;
  is_open_ = open_all();
  if (is_open_) return nullptr;
  release_all();
  lost_ = false;
  return why_;
}

/* Releases what `open` made, also after a failure. Errors are ignored. */
void gpu::release_all() {
  if (stream_) cudaStreamSynchronize(stream_);
  kernels_.end();
  register_all(false);
  if (word_) cudaFreeHost(word_);
  if (finished_) cudaFree(finished_);
  if (stream_) cudaStreamDestroy(stream_);
  word_ = nullptr;
  finished_ = nullptr;
  stream_ = nullptr;
  leave();
  cudaGetLastError();
}

gpu::~gpu() {
  if (is_open_) release_all();
  for (const auto &e : registered_) ::free(e.first);
}

/* ---- memory ---- */

/* Lack of memory is not a failure of the device: the operation fails, and the program may go
 * on. */
void *gpu::given(cudaError_t e, void *p, const char *what, cudaError_t (*give_back)(void *)) {
  const bool none = e == cudaErrorMemoryAllocation;
  if (none) cudaGetLastError();
  if (!good(none ? cudaSuccess : e, what) || none || calls_.out_of_memory()) {
    if (e == cudaSuccess) give_back(p);
    return nullptr;
  }
  return p;
}

void *gpu::allocate(size_t bytes) {
  if (!usable()) return nullptr;
  void *p = nullptr;
  const cudaError_t e = cudaMalloc(&p, bytes);
  return given(e, p, "cudaMalloc", cudaFree);
}

/* Allocates whole pages for a device that is not open yet; they are registered when it is
 * opened. */
void *gpu::allocate_registered(size_t bytes) {
  enum : size_t { PAGE = 4096 };
  const size_t all = (bytes + PAGE - 1) / PAGE * PAGE;
  void *p = aligned_alloc(PAGE, all);
  if (p) registered_[p] = all;
  return p;
}

void *gpu::allocate_pinned(size_t bytes) {
  if (!is_open_ && !lost_) return allocate_registered(bytes);
  if (!usable()) return nullptr;
  void *p = nullptr;
  const cudaError_t e = cudaHostAlloc(&p, bytes, cudaHostAllocMapped);
  return given(e, p, "cudaHostAlloc", cudaFreeHost);
}

/* Works for a lost device, too: memory of the process must not leak. */
void gpu::free(void *p) {
  if (p) cudaFree(p);
}

void gpu::free_pinned(void *p) {
  const auto early = registered_.find(p);
  if (early == registered_.end()) {
    if (p) cudaFreeHost(p);
    return;
  }
  if (is_open_) cudaHostUnregister(p);
  registered_.erase(early);
  ::free(p);
}

/* One sixteenth of the free memory: enough for a program of some size, and little enough for
 * several processes on a device. The interpreter never uses an address twice. */
enum : size_t {
  EARLY_DIVISOR = 16,
  EARLY_LEAST = (size_t)2 << 20,
  EARLY_INTERPRETED = (size_t)64 << 20
};

/* May run beside calls of another thread: it reads nothing that these change, and does not
 * record an error as theirs. */
void *gpu::allocate_early(size_t most, size_t *bytes) {
  size_t is_free = 0, all = 0;
  void *p = nullptr;
  if (cudaSetDevice(device_) != cudaSuccess || cudaMemGetInfo(&is_free, &all) != cudaSuccess)
    return nullptr;
  if (interpreter_) most = std::min(most, (size_t)EARLY_INTERPRETED);
  *bytes = std::min(most, is_free / EARLY_DIVISOR) / EARLY_LEAST * EARLY_LEAST;
  return *bytes > 0 && cudaMalloc(&p, *bytes) == cudaSuccess ? p : nullptr;
}

void *gpu::allocate_pinned_early(size_t bytes) {
  void *p = nullptr;
  if (cudaSetDevice(device_) != cudaSuccess) return nullptr;
  return cudaHostAlloc(&p, bytes, cudaHostAllocMapped) == cudaSuccess ? p : nullptr;
}

/* ---- work ---- */

/* Makes a launch, and measures its time on the device if that is wanted. `kernel` is null if it
 * is not one of ours. */
template <class G> void gpu::measured(const char *of, const void *kernel, G launch) {
  if (measures_) kernels_.launches(of, kernel && launched_.insert(kernel).second);
  if (!lost_) launch();
}

/* Ends a run of measured launches: a copy follows, which is not measured. */
bool gpu::unmeasured() {
  deliver_due(0);
  if (measures_) kernels_.ends();
  return usable();
}

void gpu::run(const launch &l) {
  deliver_due(0);
  if (!usable() || l.count <= 0) return;
  const void *kernel = l.on_device ? (const void *)l.on_device : l.kernel;
  measured(l.name, kernel, [&] { issue(l); });
}

/* Launches one of our own kernels, which all begin with follow_launches. */
cudaError_t gpu::start(const void *kernel, dim3 grid, dim3 block, void **arguments) {
  if (!dependent_) return cudaLaunchKernel(kernel, grid, block, arguments, 0, stream_);
  cudaLaunchAttribute follows{};
  follows.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  follows.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = grid;
  how.blockDim = block;
  how.stream = stream_;
  how.attrs = &follows;
  how.numAttrs = 1;
  return cudaLaunchKernelExC(&how, kernel, arguments);
}

void gpu::issue(const launch &l) {
  if (l.on_device) {
    const char *why = l.on_device(l.body, l.count, stream_);
    if (why == nullptr) {
      good(cudaSuccess, "work", l.name);
    } else {
      lose("work", l.name, why);
    }
    return;
  }
  const bool map = l.threads == 0;
  const int64_t most = most_blocks_,
                blocks = map ? map_tiles::grid(l.count, l.unroll, processors_, most) : l.count;
  const dim3 grid((unsigned)(blocks < most ? blocks : most)),
      block(map ? (unsigned)MAP_THREADS : (unsigned)l.threads);
  int64_t count = l.count;
  const int64_t *count_at = l.count_at; /* only kernels of independent threads have one */
  void *arguments[] = {const_cast<void *>(l.body), &count, &count_at};
  good(start(l.kernel, grid, block, arguments), "launch", l.name);
}

void gpu::copy_up(void *device, const void *pinned, size_t bytes) {
  if (bytes == 0 || !unmeasured()) return;
  good(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, stream_),
       "copy to the device");
}

void gpu::copy_down(void *pinned, const void *device, size_t bytes) {
  if (bytes == 0) return;
  if (bytes <= SMALL_COPY) {
    if (due_.count == MOST_COPIES) deliver_due(0);
    due_.copy[due_.count++] = copy_of_bytes(pinned, device, bytes);
    return;
  }
  if (!unmeasured()) return;
  good(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, stream_),
       "copy from the device");
}

void gpu::copy(void *to, const void *from, size_t bytes) {
  if (bytes == 0 || !unmeasured()) return;
  good(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_),
       "copy on the device");
}

void gpu::fill(void *device, uint8_t byte, size_t bytes) {
  deliver_due(0);
  if (!usable() || bytes == 0) return;
  measured("fill", nullptr,
           [&] { good(cudaMemsetAsync(device, byte, bytes, stream_), "cudaMemsetAsync"); });
}

/* Earlier commands come first, including copies that are due. */
void gpu::taken(void *p, size_t bytes) {
  if (interpreter_ == nullptr) return;
  deliver_due(0);
  interpreter_->taken(p, bytes);
}

void gpu::returned(void *p, size_t bytes) {
  if (interpreter_ == nullptr) return;
  deliver_due(0);
  interpreter_->returned(p, bytes);
}

/* ---- memory that is shared with other libraries ---- */

void *gpu::allocate_shared(size_t bytes, void (**end)(void *)) {
  *end = [](void *p) { cudaFree(p); };
  return allocate(bytes);
}

/* Other libraries' streams and a non-blocking stream do not wait for each other, so this
 * waits. */
void gpu::copy_shared(void *to, const void *from, size_t bytes) {
  if (bytes == 0 || !unmeasured()) return;
  if (good(cudaStreamSynchronize(cudaStreamLegacy), "wait", "the default stream") &&
      good(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "copy", "a tensor")) {
    good(cudaStreamSynchronize(stream_), "wait", "a tensor");
  }
}

/* ---- epochs ---- */

/* Issues the copies that are due, and then the epoch unless it is 0. */
void gpu::deliver_due(uint64_t epoch) {
  if (due_.count == 0 && epoch == 0) return;
  due_.word = word_;
  due_.finished = finished_;
  due_.epoch = epoch;
  const dim3 grid(due_.count > 0 ? due_.count : 1);
  void *arguments[] = {&due_};
  if (usable()) {
    measured("delivery", (const void *)deliver, [&] {
      good(start((const void *)deliver, grid, dim3(DELIVERY_THREADS), arguments), "launch",
           "delivery");
    });
  }
  due_.count = 0;
}

void gpu::mark(uint64_t epoch) {
  deliver_due(epoch);
  if (measures_) kernels_.window_ends();
}

uint64_t gpu::reached() {
  if (!is_open_) return 0;
  return __atomic_load_n(word_, __ATOMIC_ACQUIRE);
}

void gpu::wait(uint64_t epoch) {
  spin_until(epoch);
  if (measures_) kernels_.collect();
}

/* Spins until the epoch is reached. If a kernel fails, the epoch is never written, so the
 * device is queried now and then. */
void gpu::spin_until(uint64_t epoch) {
  for (unsigned looks = 0; !lost_; looks++) {
    for (int i = 0; i < SPINS_BETWEEN_LOOKS; i++) {
      if (reached() >= epoch) return;
    }
    if (!usable()) return;
    const cudaError_t e = cudaStreamQuery(stream_);
    if (e == cudaErrorNotReady) {
      cudaGetLastError();
      if (looks > LOOKS_BEFORE_YIELD) sched_yield();
    } else if (good(e, "wait") && reached() < epoch) {
      lose("wait", "", "the device is idle, but its work was not done");
    }
  }
}

/* ---- the time of launches: spans.hpp ---- */

event_clock::event gpu::make_event() {
  cudaEvent_t e = nullptr;
  if (!usable() || good(cudaEventCreate(&e), "cudaEventCreate")) return e;
  if (e) cudaEventDestroy(e);
  return nullptr;
}

void gpu::end_event(event e) {
  cudaEventDestroy((cudaEvent_t)e);
}

bool gpu::record(event e, const char *of) {
  return usable() && good(cudaEventRecord((cudaEvent_t)e, stream_), "cudaEventRecord", of);
}

bool gpu::elapsed(event from, event to, uint64_t *ns) {
  if (!usable()) return false;
  float ms = 0;
  const cudaError_t e = cudaEventElapsedTime(&ms, (cudaEvent_t)from, (cudaEvent_t)to);
  if (e == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  *ns = (uint64_t)((double)ms * 1e6);
  return good(e, "cudaEventElapsedTime");
}

void gpu::hold() {
  const uint64_t *let_go = word_ + 1;
  uint64_t number = ++holds_;
  void *arguments[] = {&let_go, &number};
  if (usable())
    good(cudaLaunchKernel((const void *)hold_back, dim3(1), dim3(1), arguments, 0, stream_),
         "launch", "what holds the device");
}

void gpu::let_go() {
  __atomic_store_n(word_ + 1, holds_, __ATOMIC_RELEASE);
}

uint64_t gpu::kernel_ns() {
  kernels_.collect();
  return kernels_.ns;
}

} // namespace

/* ---- which devices there are ---- */

#ifdef RAVEL_CUDA_DRIVER
#define WANTED_DRIVER "driver " RAVEL_CUDA_DRIVER " or newer"
#else
#define WANTED_DRIVER "a newer one"
#endif

/* Returns a reason: the driver is too old, or there is none. */
static const char *no_driver(void) {
  static thread_local char text[160];
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
    return "no NVIDIA driver is installed, or this process cannot see it";
  snprintf(text, sizeof text,
           "the NVIDIA driver (for CUDA %d.%d) is too old for CUDA " RAVEL_CUDA_VERSION
           "; install " WANTED_DRIVER,
           driver / 1000, driver % 1000 / 10);
  return text;
}

/* Returns how many GPUs a driver has that is too old. The driver itself does not say. The
 * kernel module lists them; under WSL, where Windows has the driver, there is at least one. */
static unsigned old_gpus(void) {
  unsigned count = 0;
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (visible && (*visible == '\0' || *visible == '-')) return 0;
  DIR *folder = opendir("/proc/driver/nvidia/gpus");
  while (const dirent *e = folder ? readdir(folder) : nullptr) count += e->d_name[0] != '.';
  if (folder) closedir(folder);
  return count > 0 ? count : access("/dev/dxg", F_OK) == 0;
}

/* Counts the devices. Returns why there are none, or null if there are some. */
static const char *count_devices(int *count, unsigned *too_old) {
  *count = 0;
  *too_old = 0;
  const cudaError_t e = cudaGetDeviceCount(count);
  if (e == cudaErrorInsufficientDriver) {
    *too_old = old_gpus();
    return no_driver();
  }
  if (e == cudaErrorNoDevice || (e == cudaSuccess && *count == 0))
    return "the NVIDIA driver sees no GPU; look at nvidia-smi and CUDA_VISIBLE_DEVICES";
  return e == cudaSuccess ? nullptr : cudaGetErrorString(e);
}

static cvl_device described(int number) {
  struct cudaDeviceProp p;
  cvl_device d{};
  if (cudaGetDeviceProperties(&p, number) != cudaSuccess) return d;
  snprintf(d.name, sizeof d.name, "%.100s (sm_%d%d)", p.name, p.major, p.minor);
  d.memory = p.totalGlobalMem;
  d.processors = (unsigned)p.multiProcessorCount;
  d.architecture = (unsigned)(10 * p.major + p.minor);
  d.unusable = code_for(built_for, d.architecture) == code::NONE;
  snprintf(d.remark, sizeof d.remark, "%s", code_remark(built_for, d.architecture).c_str());
  return d;
}

static cvl_device without_driver(const char *why) {
  cvl_device d{};
  snprintf(d.name, sizeof d.name, "a GPU");
  d.unusable = true;
  snprintf(d.remark, sizeof d.remark, "%s", why);
  return d;
}

unsigned cuda_devices(cvl_device *out, unsigned most, const char **why) {
  int count = 0;
  unsigned too_old = 0;
  *why = count_devices(&count, &too_old);
  const unsigned all = *why ? too_old : (unsigned)count;
  for (unsigned k = 0; k < all && k < most; k++)
    out[k] = *why ? without_driver(*why) : described((int)k);
  return all;
}

stream *cuda_stream(int device, const char **why, const interpreter *interprets) {
  static thread_local char reason[256];
  int count = 0;
  unsigned too_old = 0;
  *why = count_devices(&count, &too_old);
  if (*why) return nullptr;
  if (device >= count) {
    snprintf(reason, sizeof reason, "there is no device %d; the last one is %d", device,
             count - 1);
    *why = reason;
    return nullptr;
  }
  gpu *g = new (std::nothrow) gpu;
  if (g == nullptr) {
    *why = "out of memory";
    return nullptr;
  }
  g->interpreter_ = interprets;
  if (g->describe(device < 0 ? 0 : device)) return g;
  snprintf(reason, sizeof reason, "%s", g->failure());
  *why = reason;
  delete g;
  return nullptr;
}

} // namespace ravel
