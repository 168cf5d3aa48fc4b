/* runtime.cpp - the calls of the CUDA runtime that the module makes, including those of CUB,
 * for one device that interprets PTX. It replaces libcudart: the objects that are linked with
 * libcudart for a GPU are linked with this.
 *
 * One lock is held during every call, so that only one host thread at a time uses the device.
 */
#include <cuda_runtime_api.h>
#undef cudaGetDeviceProperties

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cvl-cuda/ptx/device.hpp"
#include "cvl-cuda/ptx/fatbin.hpp"
#include "cvl-cuda/ptx/runtime.hpp"

namespace ravel {
namespace ptx {
namespace {

enum { ARCHITECTURE = 90, MOST_THREADS = 1024, THREADS_OF_PROCESSOR = 2048, VERSION = 13000 };
enum { MOST_THREADS_Z = 64, MOST_BLOCKS_Y = 65535 };
enum { SHARED_BYTES = 48 << 10, MOST_SHARED_BYTES = 227 << 10 };
enum { SHARED_BYTES_OF_PROCESSOR = 228 << 10, RESERVED_SHARED_BYTES = 1 << 10 };
enum { MOST_BLOCKS_OF_PROCESSOR = 32 };

/* A fat binary of the module, which is read when one of its kernels is wanted. */
struct binary {
  const void *data;
  module *loaded = nullptr;
};

struct registered {
  binary *in;
  std::string name;
};

struct call_configuration {
  dim3 blocks, threads;
  size_t shared;
  void *stream;
};

/* The whole state. Programs register their kernels when they are loaded, before main. */
struct state {
  std::recursive_mutex lock;
  std::unique_ptr<device> of;
  std::string why_none; /* the options are wrong, or there are no addresses */
  std::vector<std::unique_ptr<binary>> binaries;
  std::unordered_map<const void *, registered> functions;
  std::unordered_map<const void *, kernel *> kernels; /* by either address */
  uint64_t calls = 0, allocations = 0;
  int64_t kept = 0;                  /* streams and events that were made and not destroyed */
  bool said = false;                 /* the fault of a lost device was printed */
  cudaError_t refusal = cudaSuccess; /* the last refused call's error and its reason */
  std::string refused;

  ~state();
};

state &all() {
  static state s;
  return s;
}

thread_local cudaError_t last_error = cudaSuccess;
thread_local std::vector<call_configuration> configurations;

cudaError_t result(cudaError_t e) {
  if (e != cudaSuccess) last_error = e;
  return e;
}

const char *text_of(cudaError_t e) {
  switch (e) {
  case cudaSuccess: return "no error";
  case cudaErrorMemoryAllocation: return "out of memory";
  case cudaErrorInvalidConfiguration: return "invalid configuration argument";
  case cudaErrorNotReady: return "device not ready";
  case cudaErrorInvalidValue: return "invalid argument";
  case cudaErrorNoDevice: return "no device";
  case cudaErrorInvalidKernelImage: return "device kernel image is invalid";
  default: return "an error of the device that interprets PTX";
  }
}

cudaError_t refuse(cudaError_t e, const std::string &why) {
  all().refusal = e;
  all().refused = why.empty() ? text_of(e) : why;
  return result(e);
}

/* Returns the device, which the first call that wants it opens; null with a reason. */
device *opened() {
  state &s = all();
  if (s.of || !s.why_none.empty()) return s.of.get();
  try {
    s.of.reset(new device(options_from_environment()));
  } catch (const error &e) {
    s.why_none = e.what();
  }
  return s.of.get();
}

/* Prints a fault when it is found: a caller who asks for it may only learn that there is
 * one. */
bool faulted(const device &d) {
  state &s = all();
  if (d.fault().empty()) return false;
  if (!s.said) fprintf(stderr, "cuda-ptx: %s\n", d.fault().c_str());
  s.said = true;
  return true;
}

/* Returns whether this call of the runtime is the one that fails. */
bool fails(const device &d) {
  state &s = all();
  if (++s.calls != d.how().failing_call) return false;
  refuse(cudaErrorUnknown, "call " + std::to_string(s.calls) + " was to fail");
  return true;
}

/* Makes a call of the runtime on the device: f(device) gives its result. */
template <class F> cudaError_t on_device(F f) {
  state &s = all();
  const std::lock_guard<std::recursive_mutex> hold(s.lock);
  device *d = opened();
  if (d == nullptr) return refuse(cudaErrorInitializationError, s.why_none);
  if (fails(*d)) return s.refusal;
  if (faulted(*d)) return result(cudaErrorLaunchFailure);
  try {
    const cudaError_t e = f(*d);
    return result(faulted(*d) && e == cudaSuccess ? cudaErrorLaunchFailure : e);
  } catch (const error &e) {
    return refuse(cudaErrorInvalidValue, e.what());
  }
}

/* ---- kernels ---- */

module *module_of(device &d, binary &b) {
  if (b.loaded == nullptr) b.loaded = d.load(ptx_of_fatbin(b.data));
  return b.loaded;
}

/* Finds a kernel by the address of its host function, or by what cudaLibraryGetKernel gave. */
kernel *kernel_of(device &d, const void *function) {
  state &s = all();
  const auto known = s.kernels.find(function);
  if (known != s.kernels.end()) return known->second;
  const auto found = s.functions.find(function);
  if (found == s.functions.end()) throw error("a kernel that is not registered was launched");
  kernel *k = module_of(d, *found->second.in)->find(found->second.name);
  if (k == nullptr) throw error("no kernel in the PTX: " + found->second.name);
  return s.kernels[function] = k;
}

std::vector<uint8_t> argument_bytes(const kernel &k, void **arguments) {
  std::vector<uint8_t> bytes(k.parameter_bytes, 0);
  for (size_t n = 0; n < k.parameters.size(); n++) {
    memcpy(&bytes[k.parameters[n].at], arguments[n], k.parameters[n].bytes);
  }
  return bytes;
}

/* Returns whether a device of this architecture allows such a launch (CUDA C++ Programming
 * Guide, "Compute Capabilities"). */
bool allowed(dim3 blocks, dim3 threads, unsigned most_threads) {
  const uint64_t count = (uint64_t)threads.x * threads.y * threads.z;
  return blocks.x > 0 && blocks.y > 0 && blocks.z > 0 && blocks.x <= INT32_MAX &&
         blocks.y <= MOST_BLOCKS_Y && blocks.z <= MOST_BLOCKS_Y && count > 0 &&
         count <= most_threads && threads.x <= MOST_THREADS && threads.y <= MOST_THREADS &&
         threads.z <= MOST_THREADS_Z;
}

std::string text_of(dim3 d) {
  const std::string x = std::to_string(d.x);
  if (d.y == 1 && d.z == 1) return x;
  return x + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

cudaError_t launch(const void *function, dim3 blocks, dim3 threads, void **arguments,
                   size_t shared) {
  return on_device([&](device &d) {
    kernel *k = kernel_of(d, function);
    const unsigned most = k->most_threads ? k->most_threads : (unsigned)MOST_THREADS;
    if (!allowed(blocks, threads, most) ||
        k->shared_bytes + shared > (size_t)MOST_SHARED_BYTES) {
      return refuse(
          cudaErrorInvalidConfiguration,
          readable(k->label) + ": " + text_of(blocks) + " blocks of " + text_of(threads) +
              " threads, of which it allows " + std::to_string(most) + ", and " +
              std::to_string(k->shared_bytes + shared) + " bytes of shared memory, of " +
              std::to_string((int)MOST_SHARED_BYTES));
    }
    if ((uint64_t)blocks.x * blocks.y * blocks.z > UINT32_MAX) {
      throw error(readable(k->label) + ": a grid of " + text_of(blocks) +
                  " blocks is more than the interpreter numbers, 4294967295");
    }
    launch_of l;
    l.of = k;
    l.blocks = {blocks.x, blocks.y, blocks.z};
    l.threads = {threads.x, threads.y, threads.z};
    l.dynamic_shared = (uint32_t)shared;
    l.parameters = argument_bytes(*k, arguments);
    d.launch(std::move(l));
    return cudaSuccess;
  });
}

/* ---- memory ---- */

cudaError_t allocate(void **to, size_t bytes, bool of_host) {
  *to = nullptr;
  return on_device([&](device &d) {
    const bool fails = ++all().allocations == d.how().failing_allocation;
    *to = fails ? nullptr : (void *)d.memory().allocate(bytes, of_host);
    return *to ? cudaSuccess : refuse(cudaErrorMemoryAllocation, "");
  });
}

/* Finishes the commands first, which may use the memory, as on a device. A call that is made to
 * fail releases it, too: nobody may try again. */
cudaError_t release(void *p) {
  if (p == nullptr) return cudaSuccess;
  const std::lock_guard<std::recursive_mutex> hold(all().lock);
  device *d = opened();
  if (d == nullptr) return result(cudaErrorNoDevice);
  d->finish();
  if (!d->memory().free((uint64_t)p)) return result(cudaErrorInvalidValue);
  return fails(*d) ? all().refusal : cudaSuccess;
}

/* Makes a call that asks nothing of the device but may fail like any other. */
cudaError_t plain_call() {
  return on_device([](device &) { return cudaSuccess; });
}

cudaError_t make_handle(void **to) {
  *to = nullptr;
  return on_device([&](device &) {
    *to = malloc(1);
    if (*to == nullptr) return cudaErrorMemoryAllocation;
    all().kept++;
    return cudaSuccess;
  });
}
cudaError_t end_handle(void *h) {
  const std::lock_guard<std::recursive_mutex> hold(all().lock);
  if (h) all().kept--;
  free(h);
  return plain_call();
}

/* Prints at the end of the process, for tests, how many calls could fail, and what nobody gave
 * back. */
state::~state() {
  if (!of) return;
  const options &o = of->how();
  if (o.failing_call > calls || o.failing_allocation > allocations) {
    fprintf(stderr, "cuda-ptx: only %llu calls and %llu allocations were made\n",
            (unsigned long long)calls, (unsigned long long)allocations);
  }
  const size_t left = of->memory().allocations();
  if (o.leaks && (left > 0 || kept != 0)) {
    fprintf(stderr,
            "cuda-ptx: %zu allocations and %lld streams and events were not given back\n", left,
            (long long)kept);
  }
}

cudaError_t attribute(int *value, cudaDeviceAttr which, const options &o) {
  switch (which) {
  case cudaDevAttrMultiProcessorCount: *value = o.processors; break;
  case cudaDevAttrComputeCapabilityMajor: *value = ARCHITECTURE / 10; break;
  case cudaDevAttrComputeCapabilityMinor: *value = ARCHITECTURE % 10; break;
  case cudaDevAttrMaxSharedMemoryPerBlock: *value = SHARED_BYTES; break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = MOST_SHARED_BYTES; break;
  case cudaDevAttrMaxGridDimX: *value = INT32_MAX; break;
  case cudaDevAttrWarpSize: *value = WARP; break;
  case cudaDevAttrMaxThreadsPerBlock: *value = MOST_THREADS; break;
  case cudaDevAttrMaxThreadsPerMultiProcessor: *value = THREADS_OF_PROCESSOR; break;
  case cudaDevAttrUnifiedAddressing: *value = 1; break;
  default:
    return refuse(cudaErrorInvalidValue, "unknown attribute " + std::to_string((int)which));
  }
  return cudaSuccess;
}

/* Sets *blocks to the number of blocks of a kernel on one multiprocessor. Threads limit it, and
 * shared memory, of which each block takes a little more. Only ptxas knows the registers. */
cudaError_t blocks_that_fit(int *blocks, const void *function, int threads, size_t shared) {
  return on_device([&](device &d) {
    const kernel *k = kernel_of(d, function);
    const unsigned warps = ((unsigned)std::max(threads, 1) + WARP - 1) / WARP;
    const size_t bytes = k->shared_bytes + shared + RESERVED_SHARED_BYTES;
    *blocks = (int)std::min<size_t>(
        SHARED_BYTES_OF_PROCESSOR / bytes,
        std::min<unsigned>(THREADS_OF_PROCESSOR / WARP / warps, MOST_BLOCKS_OF_PROCESSOR));
    return cudaSuccess;
  });
}

} // namespace

/* These are no calls of the runtime: they are neither counted nor made to fail. */
void block_taken(void *p, size_t bytes) {
  const std::lock_guard<std::recursive_mutex> hold(all().lock);
  if (device *d = opened()) d->taken((uint64_t)p, bytes);
}

void block_returned(void *p, size_t bytes) {
  const std::lock_guard<std::recursive_mutex> hold(all().lock);
  if (device *d = opened()) d->returned((uint64_t)p, bytes);
}

} // namespace ptx
} // namespace ravel

using namespace ravel::ptx;

extern "C" {

/* ---- functions that nvcc's objects call when they are loaded (crt/host_runtime.h) ---- */

void **__cudaRegisterFatBinary(void *wrapper) {
  struct {
    int magic, version;
    const void *data;
    void *unused;
  } w;
  memcpy(&w, wrapper, sizeof w);
  all().binaries.emplace_back(new binary{w.data});
  return (void **)all().binaries.back().get();
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
void __cudaRegisterFunction(void **in, const char *host, char *, const char *name, int, uint3 *,
                            uint3 *, dim3 *, dim3 *, int *) {
  all().functions[host] = {(binary *)in, name};
}
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int) {}
char __cudaInitModule(void **) {
  return 0;
}
unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, size_t shared, void *stream) {
  configurations.push_back({blocks, threads, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *blocks, dim3 *threads, size_t *shared,
                                       void *stream) {
  const call_configuration c = configurations.back();
  configurations.pop_back();
  *blocks = c.blocks;
  *threads = c.threads;
  *shared = c.shared;
  memcpy(stream, &c.stream, sizeof c.stream);
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
  *kernel = (cudaKernel_t)function;
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 blocks, dim3 threads, void **arguments,
                               size_t shared, cudaStream_t) {
  return launch((const void *)kernel, blocks, threads, arguments, shared);
}

/* ---- launches ---- */

cudaError_t cudaLaunchKernel(const void *function, dim3 blocks, dim3 threads, void **arguments,
                             size_t shared, cudaStream_t) {
  return launch(function, blocks, threads, arguments, shared);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *function,
                                void **arguments) {
  return launch(function, c->gridDim, c->blockDim, arguments, c->dynamicSmemBytes);
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *function) {
  return on_device([&](device &d) {
    const kernel *k = kernel_of(d, function);
    memset(a, 0, sizeof *a);
    a->ptxVersion = k->from->text.target;
    a->binaryVersion = ARCHITECTURE;
    a->maxThreadsPerBlock = k->most_threads ? (int)k->most_threads : (int)MOST_THREADS;
    a->sharedSizeBytes = k->shared_bytes;
    a->localSizeBytes = k->local_bytes;
    return cudaSuccess;
  });
}
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int) {
  return plain_call();
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, size_t shared) {
  return blocks_that_fit(blocks, function, threads, shared);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                   const void *function,
                                                                   int threads, size_t shared,
                                                                   unsigned) {
  return blocks_that_fit(blocks, function, threads, shared);
}

/* ---- memory ---- */

cudaError_t cudaMalloc(void **to, size_t bytes) {
  return allocate(to, bytes, false);
}
cudaError_t cudaHostAlloc(void **to, size_t bytes, unsigned) {
  return allocate(to, bytes, true);
}
cudaError_t cudaMemGetInfo(size_t *is_free, size_t *all) {
  return on_device([&](device &d) {
    *all = d.how().memory;
    *is_free = d.memory().left();
    return cudaSuccess;
  });
}
cudaError_t cudaFree(void *p) {
  return release(p);
}
/* Kernels see no memory that the interpreter did not allocate. */
cudaError_t cudaHostRegister(void *, size_t, unsigned) {
  return on_device([](device &) {
    return refuse(cudaErrorNotSupported, "memory of the host cannot be registered");
  });
}
cudaError_t cudaHostUnregister(void *) {
  return cudaHostRegister(nullptr, 0, 0);
}
cudaError_t cudaFreeHost(void *p) {
  return release(p);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  return on_device([&](device &d) {
    d.copy((uint64_t)to, (uint64_t)from, bytes);
    return cudaSuccess;
  });
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  const cudaError_t e = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  return e == cudaSuccess ? cudaDeviceSynchronize() : e;
}
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t) {
  return on_device([&](device &d) {
    d.fill((uint64_t)to, (uint8_t)byte, bytes);
    return cudaSuccess;
  });
}

/* ---- streams and events: all are one stream ---- */

cudaError_t cudaStreamQuery(cudaStream_t) {
  return on_device([](device &d) { return d.look() ? cudaSuccess : cudaErrorNotReady; });
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return on_device([](device &d) {
    d.finish();
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSynchronize() {
  return cudaStreamSynchronize(nullptr);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned) {
  return make_handle((void **)s);
}
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  return end_handle(s);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *s) {
  *s = cudaStreamCaptureStatusNone;
  return plain_call();
}
cudaError_t cudaEventCreate(cudaEvent_t *e) {
  return make_handle((void **)e);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) {
  return make_handle((void **)e);
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  return end_handle(e);
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return plain_call();
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  return plain_call();
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaStreamSynchronize(nullptr);
}
/* There is no device whose time could be measured. */
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t) {
  *ms = 0;
  return plain_call();
}

/* ---- devices ---- */

cudaError_t cudaSetDevice(int) {
  return plain_call();
}
cudaError_t cudaGetDevice(int *d) {
  *d = 0;
  return plain_call();
}
cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return plain_call();
}
cudaError_t cudaDriverGetVersion(int *version) {
  *version = VERSION;
  return plain_call();
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = VERSION;
  return plain_call();
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr which, int) {
  return on_device([&](device &d) { return attribute(value, which, d.how()); });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int) {
  return on_device([&](device &d) {
    memset(p, 0, sizeof *p);
    strcpy(p->name, "interpreter of PTX");
    p->major = ARCHITECTURE / 10;
    p->minor = ARCHITECTURE % 10;
    p->totalGlobalMem = d.how().memory;
    p->multiProcessorCount = d.how().processors;
    return cudaSuccess;
  });
}

/* ---- modules that are compiled at run time ---- */

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, cudaJitOption *,
                                void **, unsigned, cudaLibraryOption *, void **, unsigned) {
  return on_device([&](device &d) {
    if (memcmp(code, "\177ELF", 4) == 0) {
      return refuse(cudaErrorInvalidKernelImage,
                    "machine code cannot be interpreted, only PTX");
    }
    *library = (cudaLibrary_t)d.load((const char *)code);
    return cudaSuccess;
  });
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t *k, cudaLibrary_t library, const char *name) {
  return on_device([&](device &) {
    kernel *found = ((module *)library)->find(name);
    if (found == nullptr) return cudaErrorInvalidDeviceFunction;
    all().kernels[found] = found;
    *k = (cudaKernel_t)found;
    return cudaSuccess;
  });
}
cudaError_t cudaLibraryUnload(cudaLibrary_t) {
  return plain_call();
}

/* ---- errors ---- */

cudaError_t cudaGetLastError() {
  const cudaError_t e = last_error;
  last_error = cudaSuccess;
  return e;
}
cudaError_t cudaPeekAtLastError() {
  return last_error;
}
/* Returns what made the device lost, or why the last call was refused; else a general text. */
const char *cudaGetErrorString(cudaError_t e) {
  const std::lock_guard<std::recursive_mutex> hold(all().lock);
  static thread_local std::string text;
  const state &s = all();
  text = e == cudaErrorLaunchFailure && s.of  ? s.of->fault()
         : e == s.refusal && e != cudaSuccess ? s.refused
                                              : text_of(e);
  return text.c_str();
}
const char *cudaGetErrorName(cudaError_t e) {
  return cudaGetErrorString(e);
}
}
