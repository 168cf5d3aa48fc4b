/* explain.h - the report of --explain on fusion, written while fuse.c works. Private to this
 * room.
 */
#ifndef RAVEL_EXPLAIN_H
#define RAVEL_EXPLAIN_H

#include "fcode-opt/fuse.h"

struct explain;

/* Makes a report to o->explain. Memory is the scratch arena's. */
struct explain *explain_make(struct opt *);
/* These are called at the beginning of a function, after each of its blocks has been rewritten
 * (the units are still the old bindings), and at the end of the function. */
void explain_begin(struct explain *, const struct fuse *);
void explain_block(struct explain *, const struct fuse_block *);
void explain_end(struct explain *, const struct fuse *);
/* Prints the sums over the program. */
void explain_total(const struct explain *);

#endif
