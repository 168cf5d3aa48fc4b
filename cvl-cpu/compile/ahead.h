/* ahead.h - superoperators compiled ahead of time. The file of cvl_options.kernels is a shared
 * library, made from the text that fused_emit_cpu wrote. Private to this room.
 */
#ifndef RAVEL_CPU_AHEAD_H
#define RAVEL_CPU_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "fused-kernels/emit.h"

struct ahead;

/* Loads the file, which the user trusts. NULL with a message in *why, which stays valid, if the
 * file is not such a library, or was made by another version of Ravel or for another
 * processor. */
struct ahead *ahead_open(const char *file, const char **why);
void ahead_close(struct ahead *);

/* Whether the library has the functions whose names begin with `prefix`
 * (fused_functions_prefix). */
bool ahead_has(struct ahead *, const char *prefix);
/* Returns one of these functions, or NULL if there is none with this name. */
void *ahead_function(struct ahead *, const char *prefix, const char *name);

#endif
