/* ahead.h - superoperators compiled ahead of time: the file of cvl_options.kernels, a shared
 * library made from what fused_emit_cpu has written. Private to this room.
 */
#ifndef RAVEL_CPU_AHEAD_H
#define RAVEL_CPU_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "fused-kernels/emit.h"

struct ahead;

/* Loads the file, which the user trusts. NULL with *why, which stays valid: it is no such file,
 * was made by another version of Ravel, or for another processor. */
struct ahead *ahead_open(const char *file, const char **why);
void ahead_close(struct ahead *);

/* Whether it has the functions whose names begin with this (fused_functions_prefix). */
bool ahead_has(struct ahead *, const char *prefix);
/* One of them; NULL if there is none. */
void *ahead_function(struct ahead *, const char *prefix, const char *name);

#endif
