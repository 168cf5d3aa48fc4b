/* fatbin.hpp - the PTX in the fat binary that nvcc puts into an object.
 *
 * NVIDIA does not document the format. What is used of it: a header of 16 bytes (magic number,
 * version, its size, the size of what follows), then entries, each with a kind (1 is PTX), the
 * size of its header and of its contents; and that compressed contents are a frame of Zstandard
 * (since CUDA 12.8), which says so itself.
 */
#ifndef RAVEL_PTX_FATBIN_HPP
#define RAVEL_PTX_FATBIN_HPP

#include <string>

namespace ravel {
namespace ptx {

/* Throws `error` if there is none, or none that can be read. */
std::string ptx_of_fatbin(const void *fatbin);

} // namespace ptx
} // namespace ravel
#endif
