/* emulation.h - the CUDA back end on a host: the same kernels, run in any order by a device that
 * checks them (emulation/). For tests, under the name "cuda-emu". */
#ifndef RAVEL_CUDA_EMULATION_H
#define RAVEL_CUDA_EMULATION_H

#include "cvl/call.h"

#ifdef __cplusplus
extern "C"
#endif
    const struct cvl_backend *cvl_cuda_emulation_backend(void);

#endif
