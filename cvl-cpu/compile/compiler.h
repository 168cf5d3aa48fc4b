/* compiler.h - the machine's C compiler (base/c-compiler.h): starts processes that each compile
 * a source to an object. Private to this folder.
 */
#ifndef RAVEL_CPU_COMPILER_H
#define RAVEL_CPU_COMPILER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/c-compiler.h"
#include "base/heap.h"

struct compiler {
  struct c_compiler command;
  bool identified;
  /* hash of the compiler, its flags and the processor: what objects depend on */
  struct sha256_state identity;
};
/* Returns the identity, which the first call finds. */
const struct sha256_state *compiler_identity(struct compiler *);

/* Starts the compiler within a directory. The source is its input, and its output is discarded.
 * In the background its priority is lower than that of this process. `soon`: it optimises
 * little. Returns 0 or an errno. */
int compiler_start(const struct compiler *, struct heap *, pid_t *, int directory, int source,
                   bool background, bool soon);
/* Returns the object that the compiler wrote into the directory, which the caller frees from
 * the heap. NULL: there is none, or no memory. */
char *compiler_object(int directory, struct heap *, size_t *bytes);

#endif
