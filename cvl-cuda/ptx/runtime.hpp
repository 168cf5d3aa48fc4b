/* runtime.hpp - calls of the interpreting runtime beside those of CUDA. */
#ifndef RAVEL_PTX_RUNTIME_HPP
#define RAVEL_PTX_RUNTIME_HPP

#include <stddef.h>

namespace ravel {
namespace ptx {

/* The back end hands a block of its device memory out, or has it back, as commands in order. */
void block_taken(void *, size_t bytes);
void block_returned(void *, size_t bytes);

} // namespace ptx
} // namespace ravel
#endif
