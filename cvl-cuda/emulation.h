/* emulation.h - the CUDA back end on a host, for tests, under the name "cuda-emu". It has the
 * same kernels; a device that checks them (emulation/) runs them in any order. */
#ifndef RAVEL_CUDA_EMULATION_H
#define RAVEL_CUDA_EMULATION_H

#include "cvl/call.h"

#ifdef __cplusplus
extern "C"
#endif
    const struct cvl_backend *cvl_cuda_emulation_backend(void);

#endif
