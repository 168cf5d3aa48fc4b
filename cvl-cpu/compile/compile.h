/* compile.h - compiles the functions of superoperators with the machine's own compiler, in
 * processes in the background, and caches the objects in the directory of cvl_options. Private
 * to this room.
 *
 * Superoperators that are wanted at the same time are compiled in one file, because the common
 * beginning of a file takes a third of the time of a short one. Each superoperator has a name:
 * the SHA-256 of all that its code depends on. That is its text, the flags, the compiler (its
 * command, and its file's identity and date) and the processor. A file's name is made from the
 * names of all that are in it. The name of one superoperator is a link to the file
 * (cache_link), or the file's own name if it is alone there. So a program finds the
 * superoperators that it shares with another one.
 *
 * base/cache.h stores the files, and several processes may use one directory. A file that
 * another user could have written, or that is not complete, is not loaded. The code of each
 * superoperator contains the name that it was made for. The compiler reads the source from a
 * file without a name, and writes into a directory that only this user may enter.
 *
 * Several threads may use one cache. A superoperator that several of them ask for is compiled
 * once.
 *
 * A process may be too short for a compilation to pay, and a thousand of them not. So what
 * processes have spent without a code is kept, and counts for those that come later.
 *
 * If there is no compiler, or it fails, nothing is reported: the caller works without compiled
 * code. Errors of the directory are reported once, and so is a compiler that RAVEL_CC names and
 * that is not there.
 */
#ifndef RAVEL_CPU_COMPILE_H
#define RAVEL_CPU_COMPILE_H

#include <stdbool.h>

#include "base/heap.h"
#include "cvl/cvl.h"

enum {
  /* The most bytes of texts that are compiled without a question. They limit how long somebody
   * waits, as long as compiling the rest does not pay. */
  COMPILE_UNASKED = 256 << 10,
  /* Beside a running program, a text of at least so many bytes has a file of its own. */
  COMPILE_TOGETHER = 16 << 10
};

struct compile_cache;
struct ahead;
/* Opens a cache as the options say. The directory is created when something is to be stored
 * there. `ahead`, or NULL, has codes that are not compiled again; they are used even if the
 * options say that nothing is compiled. Only a cache for CVL_COMPILE_ALL waits. NULL if there
 * is nothing to use, or no memory. */
struct compile_cache *compile_cache_new(struct heap *, const struct cvl_options *,
                                        struct ahead *);
void compile_cache_free(struct compile_cache *);
/* Whether the caller decides for each superoperator if it is compiled: without
 * CVL_COMPILE_ALL. */
bool compile_when_it_pays(const struct compile_cache *);

/* Whether a code of the cache is ready, as those of a program are that has been run before:
 * then its other codes probably are kept, too. */
bool compile_has_found(const struct compile_cache *);

/* Adds the text of functions whose names begin with `prefix` (fused_functions_prefix). They may
 * have been compiled before or ahead of time, or are to be compiled. The text is copied. NULL:
 * no memory, or no compiler. */
struct compiled_code;
struct compiled_code *compile_text(struct compile_cache *, const char *prefix, const char *text,
                                   size_t length);
/* Does the same for a text that is a file by itself, with a prelude of its own, and that is
 * never compiled without a question. Its names are written RAVEL_ENTRY(name), which begins them
 * with the prefix. `soon`: the compiler optimises little, and so ends in a fraction of the
 * time. */
struct compiled_code *compile_file(struct compile_cache *, const char *prefix, const char *text,
                                   size_t length, bool soon);
/* Returns the same code, which is to be freed once more. */
struct compiled_code *compiled_retain(struct compiled_code *);
/* With CVL_COMPILE_ALL: whether the code is compiled, or will be without a question. The texts
 * for which this is true have at most COMPILE_UNASKED bytes in all, since each takes a compiler
 * some time. For other codes the caller decides. */
bool compiled_unasked(const struct compiled_code *);
/* Whether the code was ready, or had failed, when it was last looked at. Neither function looks
 * again. */
bool compiled_cached(const struct compiled_code *);
bool compiled_failed(const struct compiled_code *);
/* Whether the code is ready. If it is not, looks again, and begins its compilation, together
 * with other wanted codes, once few others are under way. Never waits, unless the cache was
 * made to wait. */
bool compiled_ready(struct compiled_code *);
/* Does the same, and waits for the end of its compilation, unless the cache's user asks to
 * end. */
bool compiled_awaited(struct compiled_code *);
/* Returns a function of the code, which must be ready, by its name without the prefix. NULL if
 * there is none. */
void *compiled_function(const struct compiled_code *, const char *name);
/* Whether the code is owed: earlier processes have spent more without it than a compiler takes.
 * Then it is to be compiled even if this process will not spend as much. */
bool compiled_owed(const struct compiled_code *);
/* Adds seconds that this process has spent because the code was not there. */
void compiled_spent(struct compiled_code *, double seconds);
/* Frees the code. Ends its compilation if nobody else wants it, unless it is owed, or unloads
 * the library. */
void compiled_free(struct compiled_code *);

#endif
