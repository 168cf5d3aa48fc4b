/* native-compile.h - C source compiled by the machine's own compiler, in a process in the
 * background, and kept: that of superoperators, in the directory of cvl_options.native. Private
 * to this room.
 *
 * A compiled file is named after the SHA-256 of all that its contents depend on: the source,
 * the flags, the compiler (its file's identity and date) and the processor. base/cache.h keeps
 * it: processes may share a directory, and what another user could have written, or what is not
 * whole, is not loaded. The compiler reads the source from a file that has no name, and writes
 * into a directory that only this user may enter.
 * Where there is no compiler, or it fails, nothing is said: what runs without, runs on. What is
 * wrong with the directory is said once, on standard error.
 */
#ifndef RAVEL_CPU_NATIVE_COMPILE_H
#define RAVEL_CPU_NATIVE_COMPILE_H

#include <stdbool.h>

#include "base/heap.h"
#include "cvl/cvl.h"

struct native_cache;
/* The option is cvl_options.native: the name of a directory, which is made when something is to
 * be kept there, with "wait:" or "auto:" before it. NULL if memory or the name is missing. */
struct native_cache *native_cache_new(struct heap *, const char *option, struct cvl_stop);
void native_cache_free(struct native_cache *);
/* "auto:": whether to compile is for the caller to decide, superoperator by superoperator. */
bool native_when_it_pays(const struct native_cache *);

/* One source on its way. NULL: no memory, or no compiler. `source` is copied. */
struct native_code;
struct native_code *native_compile(struct native_cache *, const char *source, size_t length);
/* Whether it is ready already, as far as is known; or will never be. Neither looks again. */
bool native_kept(const struct native_code *);
bool native_failed(const struct native_code *);
/* Whether it is ready; looks again if it is not, and begins the compilation once few others
 * are under way. Never waits, unless the cache was made to. */
bool native_ready(struct native_code *);
/* A function of the code, which must be ready; NULL if there is none. */
void *native_function(const struct native_code *, const char *name);
/* Ends what is under way, and unloads. */
void native_free(struct native_code *);

#endif
