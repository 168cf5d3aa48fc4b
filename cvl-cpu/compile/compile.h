/* compile.h - compiles the functions of superoperators with the machine's own compiler, in
 * processes in the background, and caches the objects in the directory of cvl_options. Private
 * to this room.
 *
 * Superoperators that are wanted at the same time get one file, whose beginning takes a third
 * of the time of compiling a short one alone. Each has a name by the SHA-256 of all that its
 * code depends on: its text, the flags, the compiler (its file's identity and date) and the
 * processor. A file has a name by those of all that are in it; the name of one superoperator is
 * a link to the file (cache_link), or that of the file if it is alone there. So a program finds
 * those that another one has in common with it. base/cache.h stores files: processes may use
 * one directory together, and what another user could have written, or what is not complete, is
 * not loaded. The code says of each superoperator which name it was made for. The compiler
 * reads the source from a file without a name, and writes into a directory that only this user
 * may enter.
 *
 * Several threads may use one cache: what several of them ask for is compiled once.
 *
 * If there is no compiler, or it fails, nothing is reported: the caller runs without. Errors of
 * the directory are reported once, on standard error.
 */
#ifndef RAVEL_CPU_COMPILE_H
#define RAVEL_CPU_COMPILE_H

#include <stdbool.h>

#include "base/heap.h"
#include "cvl/cvl.h"

enum {
  /* The texts that are compiled without a question, altogether: what these take is what
   * somebody waits for at most, as long as the rest does not pay. */
  COMPILE_UNASKED = 256 << 10,
  /* From how long on texts are not put into a file with others beside a running program. */
  COMPILE_TOGETHER = 16 << 10
};

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

/* The text of functions whose names begin with `prefix`, that of fused_functions_prefix:
 * compiled now, or ahead of time, or to be compiled. NULL: no memory, or no compiler. The text
 * is copied. */
struct compiled_code;
struct compiled_code *compile_text(struct compile_cache *, const char *prefix, const char *text,
                                   size_t length);
/* The same, to be freed once more. */
struct compiled_code *compiled_retain(struct compiled_code *);
/* With CVL_COMPILE_ALL: whether it is compiled, or is to be without a question. The texts of
 * which that is said have at most COMPILE_UNASKED bytes altogether, since a compiler takes its
 * time for each; of others the caller decides. */
bool compiled_unasked(const struct compiled_code *);
/* Whether it was ready, or had failed, when last looked at. Neither looks again. */
bool compiled_cached(const struct compiled_code *);
bool compiled_failed(const struct compiled_code *);
/* Whether it is ready; looks again if it is not, and begins the compilation once few others
 * are under way, of this and of all that are wanted. Never waits, unless the cache was made to.
 */
bool compiled_ready(struct compiled_code *);
/* A function of the code, which must be ready, by its name without the prefix; NULL if there is
 * none. */
void *compiled_function(const struct compiled_code *, const char *name);
/* Ends the compilation if nobody else wants what it makes, or unloads the code. */
void compiled_free(struct compiled_code *);

#endif
