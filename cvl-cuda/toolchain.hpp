/* toolchain.hpp - what makes a kernel of generated text: NVRTC for a device, the machine's own
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

/* What a launch (stream.hpp) needs of a kernel: one of the two. */
struct kernel_entry {
  const void *kernel = nullptr; /* for cudaLaunchKernel */
  void (*on_host)(const void *body, int64_t count, const order *) = nullptr;
};

/* Contained in every identity: the version of the interface between hosts and generated
 * kernels, which their text does not show. */
enum { KERNEL_ABI = 1 };

struct toolchain {
  virtual ~toolchain() = default;

  /* -- from any one thread at a time -- */

  /* Finds the compiler. False with a reason, always the same, if there is none that will do. */
  virtual bool open(std::string &why) = 0;
  /* All that compiled bytes depend on besides the text: compiler, version, target, options.
   * Only after open() or recall(). */
  virtual std::string identity() = 0;

  /* -- opening may take longer than all else: what it found out is kept for later processes --
   */

  /* What the compiler is asked for, as the name of such a note; empty: none is kept. */
  virtual std::string request() { return std::string(); }
  /* After open(): the note. */
  virtual std::string note() { return std::string(); }
  /* Instead of open(), while nothing is to be compiled. False if the note is not true of this
   * machine, or not any more. */
  virtual bool recall(const std::string &note) {
    (void)note;
    return false;
  }

  /* -- after that from several threads at once -- */

  /* Text to bytes that load() understands, here or in another process. False with a reason, if
   * it does not compile or once *stop is set. Touches no device. */
  virtual bool compile(const std::string &text, const std::string &name,
                       const std::atomic<bool> &stop, std::string &bytes, std::string &why) = 0;

  /* -- from the thread that owns the device, or any -- */

  /* Whether from any: then the threads that compile load, too. */
  virtual bool loads_in_threads() { return false; }

  /* Compiled bytes made ready; null with a reason if they cannot be used. */
  virtual void *load(const std::string &bytes, std::string &why) = 0;
  /* The kernel NAME in them; false with a reason if there is none. */
  virtual bool entry_of(void *loaded, const std::string &name, kernel_entry &entry,
                        std::string &why) = 0;
  /* What load() gave; its kernels must not be running. */
  virtual void unload(void *loaded) = 0;
};

} // namespace ravel
#endif
