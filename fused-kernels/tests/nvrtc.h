/* nvrtc.h - NVRTC for tests: compiles kernels for a device that need not be there, and says how
 * many registers ptxas gives them.
 */
#ifndef RAVEL_FUSED_TESTS_NVRTC_H
#define RAVEL_FUSED_TESTS_NVRTC_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nvrtc {
  void *library;
  int (*create)(void **program, const char *text, const char *name, int headers,
                const char *const *header, const char *const *header_name);
  int (*compile)(void *program, int options, const char *const *option);
  int (*log_size)(void *program, size_t *bytes);
  int (*log)(void *program, char *);
  int (*destroy)(void **program);
};

/* What the compiler says of a kernel. */
struct nvrtc_report {
  bool good;          /* compiled, without a warning */
  int registers;      /* -1: not said */
  int stack, spilled; /* bytes */
  char *log;          /* the caller's to free */
};

static inline bool nvrtc_open(struct nvrtc *n) {
  n->library = dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL);
  if (n->library == NULL) return false;
  struct {
    const char *name;
    void *function;
  } const wanted[] = {{"nvrtcCreateProgram", &n->create},
                      {"nvrtcCompileProgram", &n->compile},
                      {"nvrtcGetProgramLogSize", &n->log_size},
                      {"nvrtcGetProgramLog", &n->log},
                      {"nvrtcDestroyProgram", &n->destroy}};
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    void *address = dlsym(n->library, wanted[i].name);
    if (address == NULL) return false;
    memcpy(wanted[i].function, &address, sizeof address);
  }
  return true;
}

/* The number before `after`, or -1. */
static inline int nvrtc_number(const char *log, const char *after) {
  const char *at = strstr(log, after);
  if (at == NULL) return -1;
  while (at > log && at[-1] >= '0' && at[-1] <= '9') at--;
  return atoi(at);
}

static inline struct nvrtc_report nvrtc_compile(const struct nvrtc *n, const char *text) {
  static const char *const options[] = {"--gpu-architecture=sm_90", "--fmad=false",
                                        "--std=c++17", "--ptxas-options=-v"};
  struct nvrtc_report r = {false, -1, 0, 0, NULL};
  void *program = NULL;
  size_t bytes = 0;
  if (n->create(&program, text, "kernel.cu", 0, NULL, NULL) != 0) return r;
  r.good = n->compile(program, 4, options) == 0;
  n->log_size(program, &bytes);
  r.log = calloc(bytes + 1, 1);
  if (r.log == NULL) abort();
  n->log(program, r.log);
  n->destroy(&program);
  r.good &= strstr(r.log, "warning") == NULL;
  const char *used = strstr(r.log, "Used ");
  if (used != NULL) r.registers = atoi(used + strlen("Used "));
  r.stack = nvrtc_number(r.log, " bytes stack frame");
  r.spilled = nvrtc_number(r.log, " bytes spill stores");
  return r;
}

#endif
