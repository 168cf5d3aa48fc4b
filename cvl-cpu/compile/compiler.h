/* compiler.h - the machine's C compiler: which one it is, and its runs, processes that each
 * make an object of a source. Private to compile.c.
 */
#ifndef RAVEL_CPU_COMPILER_H
#define RAVEL_CPU_COMPILER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/heap.h"
#include "base/sha256.h"

struct compiler {
  bool looked_for, found;
  struct sha256_state identity; /* of it, its flags and the processor: what objects depend on */
  char path[PATH_MAX];
};
/* Whether there is one; looks for it the first time. */
bool compiler_find(struct compiler *);

/* Starts it within a directory, with the source as its input and its output discarded; in the
 * background it is nicer than this process. 0 or an errno. */
int compiler_start(const struct compiler *, pid_t *, int directory, int source,
                   bool background);
/* The object that it wrote into the directory, to be freed from the heap; NULL: none, or no
 * memory. */
char *compiler_object(int directory, struct heap *, size_t *bytes);

#endif
