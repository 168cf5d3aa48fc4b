/* backend.hpp - the table of the contract over any stream: the plug-in and the emulation each
 * add how a stream is opened. */
#ifndef RAVEL_CUDA_BACKEND_HPP
#define RAVEL_CUDA_BACKEND_HPP

#include "cvl-cuda/context.hpp"

namespace ravel {

/* A context on a stream, which it then owns; null with a static reason. */
context *open_context(stream *, const cvl_options &, const char **why);
/* Everything of the table but name, doc, open and devices. */
cvl_backend backend_over_streams();

} // namespace ravel
#endif
