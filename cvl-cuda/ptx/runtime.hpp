/* runtime.hpp - calls of the interpreting runtime in addition to those of CUDA. */
#ifndef RAVEL_PTX_RUNTIME_HPP
#define RAVEL_PTX_RUNTIME_HPP

#include <stddef.h>

namespace ravel {
namespace ptx {

/* Say that the back end hands out a block of its device memory, or has it back. Both are
 * commands, in order. */
void block_taken(void *, size_t bytes);
void block_returned(void *, size_t bytes);

} // namespace ptx
} // namespace ravel
#endif
