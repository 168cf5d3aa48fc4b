/* nvrtc.h - NVRTC for tests: compiles kernels for a device that need not be there, and says how
 * many registers ptxas gives them. What it said of kernels that it accepted is kept in the
 * folder that RAVEL_REPORTS names, if it does, under names by content: NVRTC takes half a
 * second for a kernel.
 */
#ifndef RAVEL_FUSED_TESTS_NVRTC_H
#define RAVEL_FUSED_TESTS_NVRTC_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/sha256.h"

struct nvrtc {
  void *library;
  int (*create)(void **program, const char *text, const char *name, int headers,
                const char *const *header, const char *const *header_name);
  int (*compile)(void *program, int options, const char *const *option);
  int (*log_size)(void *program, size_t *bytes);
  int (*log)(void *program, char *);
  int (*destroy)(void **program);
  int (*version)(int *major, int *minor);
  int reports; /* the folder; negative: none */
};

/* The compiler's report on a kernel. */
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
  } const wanted[] = {
      {"nvrtcCreateProgram", &n->create},       {"nvrtcCompileProgram", &n->compile},
      {"nvrtcGetProgramLogSize", &n->log_size}, {"nvrtcGetProgramLog", &n->log},
      {"nvrtcDestroyProgram", &n->destroy},     {"nvrtcVersion", &n->version}};
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    void *address = dlsym(n->library, wanted[i].name);
    if (address == NULL) return false;
    memcpy(wanted[i].function, &address, sizeof address);
  }
  char why[CACHE_WHY];
  const char *folder = getenv("RAVEL_REPORTS");
  n->reports = folder == NULL ? -1 : cache_open(folder, 2, why);
  return true;
}

/* The number before `after`, or -1. */
static inline int nvrtc_number(const char *log, const char *after) {
  const char *at = strstr(log, after);
  if (at == NULL) return -1;
  while (at > log && at[-1] >= '0' && at[-1] <= '9') at--;
  return atoi(at);
}

enum { NVRTC_OPTIONS = 4 };
static const char *const nvrtc_options[NVRTC_OPTIONS] = {
    "--gpu-architecture=sm_90", "--fmad=false", "--std=c++17", "--ptxas-options=-v"};

#define NVRTC_PREFIX "nvrtc-"
enum { NVRTC_NAME = sizeof NVRTC_PREFIX + SHA256_DIGITS };

/* By the version of NVRTC, which has its own ptxas, by the options and the text. */
static inline void nvrtc_name(const struct nvrtc *n, const char *text, char name[NVRTC_NAME]) {
  struct sha256_state s;
  uint8_t digest[SHA256_BYTES];
  int version[2] = {0, 0};
  n->version(&version[0], &version[1]);
  sha256_begin(&s);
  sha256_add(&s, version, sizeof version);
  for (int i = 0; i < NVRTC_OPTIONS; i++)
    sha256_add(&s, nvrtc_options[i], strlen(nvrtc_options[i]) + 1);
  sha256_add(&s, text, strlen(text));
  sha256_end(&s, digest);
  memcpy(name, NVRTC_PREFIX, strlen(NVRTC_PREFIX));
  sha256_show(digest, name + strlen(NVRTC_PREFIX));
}

/* Returns the log of a kernel that was accepted, or NULL. */
static inline char *nvrtc_log_kept(const struct nvrtc *n, const char *name) {
  uint64_t bytes;
  const int file = n->reports < 0 ? -1 : cache_find(n->reports, name, &bytes);
  if (file < 0) return NULL;
  char *log = calloc(bytes + 1, 1);
  if (log == NULL) abort();
  const bool all = pread(file, log, bytes, 0) == (ssize_t)bytes;
  close(file);
  if (all) return log;
  free(log);
  return NULL;
}

static inline bool nvrtc_make_log(const struct nvrtc *n, const char *text, char **log) {
  void *program = NULL;
  size_t bytes = 0;
  if (n->create(&program, text, "kernel.cu", 0, NULL, NULL) != 0) return false;
  const bool good = n->compile(program, NVRTC_OPTIONS, nvrtc_options) == 0;
  n->log_size(program, &bytes);
  *log = calloc(bytes + 1, 1);
  if (*log == NULL) abort();
  n->log(program, *log);
  n->destroy(&program);
  return good && strstr(*log, "warning") == NULL;
}

static inline struct nvrtc_report nvrtc_compile(const struct nvrtc *n, const char *text) {
  struct nvrtc_report r = {false, -1, 0, 0, NULL};
  char name[NVRTC_NAME];
  nvrtc_name(n, text, name);
  r.log = nvrtc_log_kept(n, name);
  r.good = r.log != NULL;
  if (!r.good) {
    r.good = nvrtc_make_log(n, text, &r.log);
    if (r.good && n->reports >= 0) (void)cache_keep(n->reports, name, r.log, strlen(r.log));
  }
  if (r.log == NULL) return r;
  const char *used = strstr(r.log, "Used ");
  if (used != NULL) r.registers = atoi(used + strlen("Used "));
  r.stack = nvrtc_number(r.log, " bytes stack frame");
  r.spilled = nvrtc_number(r.log, " bytes spill stores");
  return r;
}

#endif
