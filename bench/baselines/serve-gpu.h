/* serve-gpu.h - memory of the device, which serve.cu implements for serve.c, and what calls of a
 * library give. They end the program where CUDA fails. */
#ifndef RAVEL_BENCH_SERVE_GPU_H
#define RAVEL_BENCH_SERVE_GPU_H

#include <stddef.h>

void *device_allocate(size_t bytes);
void device_free(void *); /* NULL is none */
void device_copy_in(void *device, const void *host, size_t bytes);
void device_copy_out(void *host, const void *device, size_t bytes);
/* Until everything is done that was started. */
void device_wait(void);
/* The cudaError_t of a call: CUB gives it, and leaves no last error for device_wait to see. */
void device_check(int error);

#endif
