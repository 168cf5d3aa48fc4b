/* rig.hpp - executes a kernel for a test. */
#ifndef RAVEL_PTX_RIG_HPP
#define RAVEL_PTX_RIG_HPP

#include <criterion/criterion.h>

#include <string>
#include <vector>

#include "cvl-cuda/ptx/device.hpp"

namespace ravel {
namespace ptx {

/* A device with one array of 64-bit words. The array's address is the only parameter of
 * kernels. */
struct rig {
  options how;
  std::unique_ptr<device> of;
  uint64_t array = 0, words;

  explicit rig(uint64_t count, const std::string &said = "") : words(count) {
    how.memory = 1 << 20;
    how.parse(said);
    of.reset(new device(how));
    array = of->memory().allocate(words * 8, false);
    of->fill(array, 0, words * 8);
  }

  /* Returns a kernel's text with this body. It declares the registers %p, %h, %r and %q, 16
   * each; %base is the array's address. */
  static std::string kernel_text(const std::string &body) {
    return ".version 8.0\n.target sm_90\n.address_size 64\n"
           ".visible .entry k(.param .u64 array)\n{\n"
           ".reg .pred %p<16>;\n.reg .b16 %h<16>;\n.reg .b32 %r<16>;\n.reg .b64 %q<16>;\n"
           ".reg .b64 %base;\nld.param.u64 %base, [array];\n" +
           body + "\nret;\n}\n";
  }

  /* Runs a kernel. Returns what went wrong, or nothing. */
  std::string run(const std::string &body, const extent &threads = 1,
                  const extent &blocks = 1) {
    launch_of l;
    try {
      l.of = of->load(kernel_text(body))->find("k");
    } catch (const error &e) {
      return e.what();
    }
    l.blocks = blocks;
    l.threads = threads;
    l.parameters.resize(8);
    memcpy(l.parameters.data(), &array, 8);
    of->launch(l);
    of->finish();
    return of->fault();
  }
  uint64_t word(uint64_t k) const { return ((const uint64_t *)array)[k]; }
};

} // namespace ptx
} // namespace ravel
#endif
