/* compile.h - compiles C source with the machine's own compiler, in a process in the
 * background, and caches the result in the directory of cvl_options. Private to this
 * room.
 *
 * A compiled file is named after the SHA-256 of all that its contents depend on: the source,
 * the flags, the compiler (its file's identity and date) and the processor. base/cache.h stores
 * it: processes may use one directory together, and what another user could have written, or
 * what is not complete, is not loaded. The compiler reads the source from a file without a
 * name, and writes into a directory that only this user may enter.
 *
 * Several threads may use one cache: a source that several of them ask for is compiled once.
 *
 * If there is no compiler, or it fails, nothing is reported: the caller runs without. Errors of
 * the directory are reported once, on standard error.
 */
#ifndef RAVEL_CPU_COMPILE_H
#define RAVEL_CPU_COMPILE_H

#include <stdbool.h>

#include "base/heap.h"
#include "cvl/cvl.h"

struct compile_cache;
struct ahead;
/* As the options say; the directory is made when something is to be stored there. What `ahead`
 * (or NULL) has is not compiled, and used even if the options say that nothing is compiled.
 * Only a cache for CVL_COMPILE_ALL waits. NULL if there is nothing to use, or without memory.
 */
struct compile_cache *compile_cache_new(struct heap *, const struct cvl_options *,
                                        struct ahead *);
void compile_cache_free(struct compile_cache *);
/* Not CVL_COMPILE_ALL: the caller decides for each superoperator whether to compile it. */
bool compile_when_it_pays(const struct compile_cache *);

/* A source that is compiled, or was ahead of time. NULL: no memory, or no compiler. `source` is
 * copied. */
struct compiled_code;
struct compiled_code *compile_source(struct compile_cache *, const char *source, size_t length);
/* The same, to be freed once more. */
struct compiled_code *compiled_retain(struct compiled_code *);
/* Whether it was ready, or had failed, when last looked at. Neither looks again. */
bool compiled_cached(const struct compiled_code *);
bool compiled_failed(const struct compiled_code *);
/* Whether it is ready; looks again if it is not, and begins the compilation once few others
 * are under way. Never waits, unless the cache was made to. */
bool compiled_ready(struct compiled_code *);
/* A function of the code, which must be ready; NULL if there is none. */
void *compiled_function(const struct compiled_code *, const char *name);
/* Ends the compilation, or unloads the code. */
void compiled_free(struct compiled_code *);

#endif
