/* nvrtc.cpp - see nvrtc.hpp. */
#include "cvl-cuda/nvrtc.hpp"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <sstream>
#include <vector>

namespace ravel {

/* ---- the library ---- */

enum { OLDEST_NVRTC = 12 }; /* the first whose kernels the CUDA 13 runtime is sure to load */

/* The functions of nvrtc.h that are used here; they give 0 for success. */
struct nvrtc_functions {
  typedef struct program *program_handle;

  int (*version)(int *major, int *minor);
  int (*count_architectures)(int *count);
  int (*architectures)(int *of);
  int (*create)(program_handle *, const char *text, const char *name, int headers,
                const char *const *header, const char *const *header_name);
  int (*destroy)(program_handle *);
  int (*compile)(program_handle, int options, const char *const *option);
  int (*log_size)(program_handle, size_t *bytes);
  int (*log)(program_handle, char *);
  int (*cubin_size)(program_handle, size_t *bytes);
  int (*cubin)(program_handle, char *);
  int (*ptx_size)(program_handle, size_t *bytes);
  int (*ptx)(program_handle, char *);
  const char *(*error_text)(int result);
  /* Since 12.8, else null. The callback is asked now and then whether to give up. */
  int (*watch)(program_handle, int (*stop)(void *, void *), void *payload);
};

/* Returns where NVRTC may be: where the system searches, then the usual directories of the
 * toolkit. */
static std::vector<std::string> usual_libraries() {
  static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  std::vector<std::string> found(names, names + 3);
  static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
  std::vector<std::string> folders;
  for (const char *variable : variables) {
    const char *toolkit = getenv(variable);
    if (toolkit && *toolkit) folders.push_back(toolkit);
  }
  folders.push_back("/usr/local/cuda");
  for (const std::string &folder : folders) {
    for (const char *name : names) found.push_back(folder + "/lib64/" + name);
  }
  return found;
}

/* ---- the toolchain ---- */

struct nvrtc : toolchain {
  int architecture_;
  kernel_loader loader_;
  std::string library_;
  nvrtc_functions call_{};
  void *handle_ = nullptr;
  std::string version_;
  std::vector<int> known_; /* architectures that it compiles for */
  std::vector<std::string> options_;
  bool virtual_ = false; /* gives PTX, which the driver compiles */

  nvrtc(int architecture, const kernel_loader &loader, std::string library)
      : architecture_(architecture), loader_(loader), library_(std::move(library)) {}
  /* The library stays open: it must not be unloaded while its threads end. */
  ~nvrtc() override = default;

  bool open(std::string &why) override;
  std::string identity() override;
  std::string request() override;
  std::string note() override;
  bool recall(const std::string &note) override;
  bool compile(const std::string &text, const std::string &name, const std::atomic<bool> &stop,
               std::string &bytes, std::string &why) override;
  bool loads_in_threads() override { return loader_.enter != nullptr; }
  void *load(const std::string &bytes, std::string &why) override;
  bool entry_of(void *loaded, const std::string &name, kernel_entry &entry,
                std::string &why) override;
  void unload(void *loaded) override;

  bool find_library(std::string &why);
  bool find_functions(std::string &why);
  void ask_architectures();
  bool choose_options(std::string &why);
  bool build(nvrtc_functions::program_handle, const std::atomic<bool> &stop, std::string &bytes,
             std::string &why);
};

bool nvrtc::find_library(std::string &why) {
  std::vector<std::string> names;
  const char *own = getenv("RAVEL_NVRTC");
  if (!library_.empty()) {
    names.push_back(library_);
  } else if (own && *own) {
    names.push_back(own);
  } else {
    names = usual_libraries();
  }
  for (const std::string &name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) return true;
    if (why.empty()) why = dlerror();
  }
  why = "NVRTC, CUDA's run-time compiler, cannot be opened (" + why +
        "); install it or set RAVEL_NVRTC to its file";
  return false;
}

template <class F> static bool nvrtc_find(void *handle, const char *name, F &function) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  return function != nullptr;
}

bool nvrtc::find_functions(std::string &why) {
  bool good = nvrtc_find(handle_, "nvrtcVersion", call_.version) &&
              nvrtc_find(handle_, "nvrtcGetErrorString", call_.error_text);
  int major = 0, minor = 0;
  if (!good || call_.version(&major, &minor) != 0) {
    why = "the file opened as NVRTC is something else";
    return false;
  }
  version_ = std::to_string(major) + "." + std::to_string(minor);
  good = major >= OLDEST_NVRTC &&
         nvrtc_find(handle_, "nvrtcGetNumSupportedArchs", call_.count_architectures) &&
         nvrtc_find(handle_, "nvrtcGetSupportedArchs", call_.architectures) &&
         nvrtc_find(handle_, "nvrtcCreateProgram", call_.create) &&
         nvrtc_find(handle_, "nvrtcDestroyProgram", call_.destroy) &&
         nvrtc_find(handle_, "nvrtcCompileProgram", call_.compile) &&
         nvrtc_find(handle_, "nvrtcGetProgramLogSize", call_.log_size) &&
         nvrtc_find(handle_, "nvrtcGetProgramLog", call_.log) &&
         nvrtc_find(handle_, "nvrtcGetCUBINSize", call_.cubin_size) &&
         nvrtc_find(handle_, "nvrtcGetCUBIN", call_.cubin) &&
         nvrtc_find(handle_, "nvrtcGetPTXSize", call_.ptx_size) &&
         nvrtc_find(handle_, "nvrtcGetPTX", call_.ptx);
  if (!good) {
    why = "NVRTC " + version_ + " is too old; " + std::to_string(OLDEST_NVRTC) +
          ".0 or newer is wanted";
  }
  nvrtc_find(handle_, "nvrtcSetFlowCallback", call_.watch);
  return good;
}

void nvrtc::ask_architectures() {
  int count = 0;
  if (call_.count_architectures(&count) != 0 || count <= 0) return;
  known_.resize((size_t)count);
  if (call_.architectures(known_.data()) != 0) known_.clear();
}

/* Chooses machine code for the device if this NVRTC knows it. For a newer device it chooses the
 * newest virtual architecture that it has. Numbers are computed as in every back end: without
 * fused multiply-add. */
bool nvrtc::choose_options(std::string &why) {
  int best = 0;
  for (const int a : known_) {
    if (a <= architecture_ && a > best) best = a;
  }
  if (best == 0) {
    why = "NVRTC " + version_ + " does not compile for sm_" + std::to_string(architecture_);
    return false;
  }
  virtual_ = best != architecture_ || loader_.wants_ptx;
  options_ = {std::string("--gpu-architecture=") + (virtual_ ? "compute_" : "sm_") +
                  std::to_string(best),
              "--std=c++17",
              "--fmad=false",
              "--ftz=false",
              "--prec-div=true",
              "--prec-sqrt=true",
              "--disable-warnings"};
  return true;
}

bool nvrtc::open(std::string &why) {
  if (!find_library(why) || !find_functions(why)) return false;
  ask_architectures();
  return choose_options(why);
}

std::string nvrtc::identity() {
  std::string text = "nvrtc " + version_;
  for (const std::string &option : options_) text += " " + option;
  return text;
}

/* ---- the note of the compiler ---- */

/* Returns the state of the library's file as it is now: a later file has another size or
 * time. */
static std::string state_of(const std::string &file) {
  struct stat s;
  if (file.empty() || stat(file.c_str(), &s) != 0) return std::string();
  return std::to_string(s.st_size) + " " + std::to_string(s.st_mtim.tv_sec) + " " +
         std::to_string(s.st_mtim.tv_nsec);
}

std::string nvrtc::request() {
  const char *own = getenv("RAVEL_NVRTC");
  return "nvrtc for " + std::to_string(architecture_) + (loader_.wants_ptx ? " ptx " : " ") +
         (!library_.empty() ? library_
          : own             ? own
                            : "");
}

/* The note has lines: the library's file, its state, its version, the architectures. */
std::string nvrtc::note() {
  Dl_info where;
  if (!dladdr((const void *)call_.version, &where) || !where.dli_fname) return std::string();
  const std::string file = where.dli_fname;
  std::string text = file + "\n" + state_of(file) + "\n" + version_ + "\n";
  for (const int a : known_) text += std::to_string(a) + " ";
  return text;
}

/* Another library that the search would find first goes unnoticed until something is compiled.
 * The kernels on disk are those of the noted library, which do as well. */
bool nvrtc::recall(const std::string &note) {
  std::istringstream in(note);
  std::string file, state, why;
  if (!std::getline(in, file) || !std::getline(in, state) || !std::getline(in, version_))
    return false;
  known_.clear();
  for (int a; in >> a;) known_.push_back(a);
  return !state.empty() && state == state_of(file) && choose_options(why);
}

/* ---- compiling ---- */

static int nvrtc_give_up(void *stop, void *) {
  return ((const std::atomic<bool> *)stop)->load(std::memory_order_relaxed);
}

/* Returns the first line that speaks of an error: a program's log may be long. */
static std::string nvrtc_first_error(const std::string &log) {
  size_t at = log.find("error");
  if (at == std::string::npos) at = 0;
  const size_t begin = log.rfind('\n', at) + 1;
  return log.substr(begin, log.find('\n', at) - begin);
}

bool nvrtc::build(nvrtc_functions::program_handle p, const std::atomic<bool> &stop,
                  std::string &bytes, std::string &why) {
  std::vector<const char *> options;
  for (const std::string &option : options_) options.push_back(option.c_str());
  if (call_.watch) call_.watch(p, nvrtc_give_up, const_cast<std::atomic<bool> *>(&stop));
  const int result = call_.compile(p, (int)options.size(), options.data());
  if (result != 0) {
    size_t size = 0;
    std::string log;
    if (call_.log_size(p, &size) == 0 && size > 1) {
      log.resize(size);
      if (call_.log(p, &log[0]) != 0) log.clear();
      log = log.c_str(); /* drops its zero byte, which is not text */
    }
    why = std::string("NVRTC ") + version_ + ": " +
          (log.empty() ? std::string(call_.error_text(result)) : nvrtc_first_error(log));
    return false;
  }
  size_t size = 0;
  const bool sized = (virtual_ ? call_.ptx_size : call_.cubin_size)(p, &size) == 0 && size > 0;
  bytes.resize(size);
  if (!sized || (virtual_ ? call_.ptx : call_.cubin)(p, &bytes[0]) != 0) {
    why = "NVRTC " + version_ + " gave no code";
    return false;
  }
  return true;
}

bool nvrtc::compile(const std::string &text, const std::string &name,
                    const std::atomic<bool> &stop, std::string &bytes, std::string &why) {
  nvrtc_functions::program_handle p = nullptr;
  const int result =
      call_.create(&p, text.c_str(), (name + ".cu").c_str(), 0, nullptr, nullptr);
  if (result != 0) {
    why = "NVRTC " + version_ + ": " + call_.error_text(result);
    return false;
  }
  const bool good = build(p, stop, bytes, why);
  call_.destroy(&p);
  return good;
}

/* ---- loading ---- */

void *nvrtc::load(const std::string &bytes, std::string &why) {
  if (!loader_.load) {
    why = "there is no device to load it on";
    return nullptr;
  }
  if (loader_.enter) loader_.enter(loader_.device);
  return loader_.load(bytes, why);
}

bool nvrtc::entry_of(void *loaded, const std::string &name, kernel_entry &entry,
                     std::string &why) {
  return loader_.entry_of(loaded, name + "_kernel", entry, why);
}

void nvrtc::unload(void *loaded) {
  loader_.unload(loaded);
}

std::unique_ptr<toolchain> nvrtc_toolchain(int architecture, const kernel_loader &loader,
                                           std::string library) {
  return std::unique_ptr<toolchain>(new nvrtc(architecture, loader, std::move(library)));
}

} // namespace ravel
