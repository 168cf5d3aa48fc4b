/* copy.c - see copy.h. The few calls of the driver that a copy takes are declared here as in
 * the driver's manual, so that the build needs nothing of CUDA. */
#include "bench/copy.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int status;            /* CUresult: 0 is success */
typedef unsigned long long at; /* CUdeviceptr */

struct driver {
  void *library, *stream;
  at from, to;
  int device;
  bool retained;
  status (*init)(unsigned);
  status (*get_device)(int *, int);
  status (*retain)(void **, int), (*release)(int), (*set_current)(void *);
  status (*allocate)(at *, size_t), (*deallocate)(at), (*fill)(at, unsigned char, size_t);
  status (*new_stream)(void **, unsigned), (*delete_stream)(void *), (*wait)(void *);
  status (*copy)(at, at, size_t, void *);
};

/* Function pointers are filled through their bytes: ISO C converts no object to a function. */
static bool find_calls(struct driver *d) {
  const struct {
    void *pointer;
    const char *name;
  } calls[] = {
      {&d->init, "cuInit"},
      {&d->get_device, "cuDeviceGet"},
      {&d->retain, "cuDevicePrimaryCtxRetain"},
      {&d->release, "cuDevicePrimaryCtxRelease_v2"},
      {&d->set_current, "cuCtxSetCurrent"},
      {&d->allocate, "cuMemAlloc_v2"},
      {&d->deallocate, "cuMemFree_v2"},
      {&d->fill, "cuMemsetD8_v2"},
      {&d->new_stream, "cuStreamCreate"},
      {&d->delete_stream, "cuStreamDestroy_v2"},
      {&d->wait, "cuStreamSynchronize"},
      {&d->copy, "cuMemcpyDtoDAsync_v2"},
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    void *symbol = dlsym(d->library, calls[i].name);
    if (!symbol) return false;
    memcpy(calls[i].pointer, &symbol, sizeof symbol);
  }
  return true;
}

static const char *open_driver(struct driver *d, size_t bytes) {
  enum { NON_BLOCKING = 1 };
  void *context;
  d->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!d->library || !find_calls(d)) return "there is no driver of CUDA";
  if (d->init(0) || d->get_device(&d->device, 0)) return "the driver of CUDA finds no GPU";
  if (d->retain(&context, d->device)) return "the GPU gives no context";
  d->retained = true;
  if (d->set_current(context) || d->new_stream(&d->stream, NON_BLOCKING) ||
      d->allocate(&d->from, bytes) || d->allocate(&d->to, bytes) ||
      d->fill(d->from, 1, bytes)) {
    return "the GPU has no memory for copies";
  }
  return NULL;
}

static void close_driver(struct driver *d) {
  if (d->retained) {
    if (d->from) d->deallocate(d->from);
    if (d->to) d->deallocate(d->to);
    if (d->stream) d->delete_stream(d->stream);
    d->release(d->device);
  }
  if (d->library) dlclose(d->library);
}

const char *copier_open(struct copier *c, size_t bytes) {
  *c = (struct copier){.bytes = bytes, .driver = calloc(1, sizeof *c->driver)};
  const char *why = c->driver ? open_driver(c->driver, bytes) : "no memory";
  if (why) copier_close(c);
  return why;
}

void copier_close(struct copier *c) {
  if (c->driver) close_driver(c->driver);
  free(c->driver);
  *c = (struct copier){.bytes = 0};
}

static double copy_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double copier_seconds(const struct copier *c, unsigned times) {
  struct driver *d = c->driver;
  const double start = copy_now();
  for (unsigned i = 0; i < times; i++) {
    if (d->copy(d->to, d->from, c->bytes, d->stream)) return -1.0;
  }
  if (d->wait(d->stream)) return -1.0;
  return (copy_now() - start) / times;
}
