/* fatbin.hpp - the PTX in the fat binary that nvcc puts into an object.
 *
 * NVIDIA does not document the format. This relies on a header of 16 bytes (magic number,
 * version, its size, the size of what follows), and then entries. Each entry has a kind (1 is
 * PTX), the size of its header and the size of its contents. Compressed contents are a frame of
 * Zstandard (since CUDA 12.8), which has a magic number of its own.
 */
#ifndef RAVEL_PTX_FATBIN_HPP
#define RAVEL_PTX_FATBIN_HPP

#include <string>

namespace ravel {
namespace ptx {

/* Returns the PTX. Throws `error` if there is none, or none that can be read. */
std::string ptx_of_fatbin(const void *fatbin);

} // namespace ptx
} // namespace ravel
#endif
