/* toolchain.hpp - makes a kernel of generated text: by NVRTC for a device, by the machine's own
 * C++ compiler for the emulation.
 *
 * The text defines one kernel NAME and ends with RAVEL_KERNEL_N(NAME) or
 * RAVEL_KERNEL_BLOCKS(NAME), see fused-kernels/prelude.hpp.
 */
#ifndef RAVEL_CUDA_TOOLCHAIN_HPP
#define RAVEL_CUDA_TOOLCHAIN_HPP

#include <atomic>
#include <string>

#include "cvl-cuda/pointer.hpp"

namespace ravel {

/* A kernel as a launch (stream.hpp) needs it: one of the two is set. */
struct kernel_entry {
  const void *kernel = nullptr; /* for cudaLaunchKernel */
  void (*on_host)(const void *body, int64_t count, const order *) = nullptr;
};

/* The version of the interface between hosts and generated kernels, which their text does not
 * show. Every identity contains it. */
enum { KERNEL_ABI = 1 };

struct toolchain {
  virtual ~toolchain() = default;

  /* -- from any one thread at a time -- */

  /* Finds the compiler. If there is none that will do, it returns false and a reason, always
   * the same one. */
  virtual bool open(std::string &why) = 0;
  /* Returns everything except the text that compiled bytes depend on: compiler, version,
   * target, options. Called only after open() or recall(). */
  virtual std::string identity() = 0;

  /* -- opening may take longer than all else, so later processes get a note of its results
   * -- */

  /* Returns what the compiler is asked for, which is the name of the note. If it is empty, no
   * note is kept. */
  virtual std::string request() { return std::string(); }
  /* Returns the note, after open(). */
  virtual std::string note() { return std::string(); }
  /* Does for open() as long as nothing is compiled. Returns false if the note is not true for
   * this machine, or not any more. */
  virtual bool recall(const std::string &note) {
    (void)note;
    return false;
  }

  /* -- after that from several threads at once -- */

  /* Compiles text to bytes that load() understands, here or in another process. Returns false
   * and a reason if the text does not compile, or once *stop is set. Touches no device. */
  virtual bool compile(const std::string &text, const std::string &name,
                       const std::atomic<bool> &stop, std::string &bytes, std::string &why) = 0;

  /* -- from the thread that owns the device, or any -- */

  /* Returns whether any thread may load: then the threads that compile load, too. */
  virtual bool loads_in_threads() { return false; }

  /* Loads compiled bytes. Returns null and a reason if they cannot be used. */
  virtual void *load(const std::string &bytes, std::string &why) = 0;
  /* Finds the kernel NAME in loaded bytes. Returns false and a reason if there is none. */
  virtual bool entry_of(void *loaded, const std::string &name, kernel_entry &entry,
                        std::string &why) = 0;
  /* Unloads the result of load(). Its kernels must not be running. */
  virtual void unload(void *loaded) = 0;
};

} // namespace ravel
#endif
