/* explain.h - what --explain says of fusion: told by fuse.c while it works. Private to the
 * room.
 */
#ifndef RAVEL_EXPLAIN_H
#define RAVEL_EXPLAIN_H

#include "fcode-opt/fuse.h"

struct explain;

/* Writes to o->explain. Memory is the scratch arena's. */
struct explain *explain_make(struct opt *);
/* A function begins; a block of it has been planned and put together again (its units still
 * are the bindings that it had); the function is done. */
void explain_begin(struct explain *, const struct fuse *);
void explain_block(struct explain *, const struct fuse_block *);
void explain_end(struct explain *, const struct fuse *);
/* Sums over the program. */
void explain_total(const struct explain *);

#endif
