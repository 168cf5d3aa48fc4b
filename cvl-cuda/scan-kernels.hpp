/* scan-kernels.hpp - the kernels of fused-kernels/scans.hpp, with the combinations of
 * operations.def.
 */
#ifndef RAVEL_CUDA_SCAN_KERNELS_HPP
#define RAVEL_CUDA_SCAN_KERNELS_HPP

#include "cvl-cuda/combine.hpp"
#include "cvl-cuda/tree.hpp"
#include "fused-kernels/published.hpp"

#include "fused-kernels/scans.hpp"

namespace ravel {

static_assert(SCAN_ROW == (int)CVL_SCAN_ROW && (int)CVL_SCAN_WINDOW == (int)WARP &&
                  (int)SCAN_THREADS == (int)COMPILED_CUDA_SCAN_THREADS,
              "the tree of cvl.h, and what --tuning=list says");

template <> struct resident_scans<combination<int64_t, OP_MUL>> {
  enum { value = 1 };
};

} // namespace ravel
#endif
