/* native-compile.h - C source compiled by the machine's own compiler, in a process in the
 * background, and kept: the cache of `--native`. Private to this room.
 *
 * A compiled file is named after the hash of all that its contents depend on: the source, the
 * flags, the compiler (its file's identity and date) and the processor. It appears in the
 * directory under that name in one step, so any number of processes may share a directory.
 * Where there is no compiler, or it fails, nothing is said: what runs without, runs on.
 */
#ifndef RAVEL_CPU_NATIVE_COMPILE_H
#define RAVEL_CPU_NATIVE_COMPILE_H

#include <stdbool.h>

#include "base/heap.h"

struct native_cache;
/* The option is the name of a directory, which is made if need be; "wait:" before it says that
 * compilations are waited for. NULL if memory, the directory or a compiler is missing. */
struct native_cache *native_cache_new(struct heap *, const char *option);
void native_cache_free(struct native_cache *);

/* One source on its way. NULL: no memory. `source` is copied. */
struct native_code;
struct native_code *native_compile(struct native_cache *, const char *source, size_t length);
/* Whether it is ready; looks again if it is not, and begins the compilation once few others
 * are under way. Never waits, unless the cache was made to. */
bool native_ready(struct native_code *);
/* A function of the code, which must be ready; NULL if there is none. */
void *native_function(const struct native_code *, const char *name);
/* Ends what is under way, and unloads. */
void native_free(struct native_code *);

#endif
