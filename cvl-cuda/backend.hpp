/* backend.hpp - the table of the contract over any stream. The module and the emulation each
 * add how a stream is opened. */
#ifndef RAVEL_CUDA_BACKEND_HPP
#define RAVEL_CUDA_BACKEND_HPP

#include "cvl-cuda/context.hpp"

namespace ravel {

/* Opens a context on a stream, which the context then owns. Returns null and a reason that
 * stays valid until the thread's next failure; the stream is then deleted. */
context *open_context(stream *, const cvl_options &, const char **why);
/* Returns the table without name, doc, open and devices. */
cvl_backend backend_over_streams();

} // namespace ravel
#endif
