/* copy.h - the yardstick of a GPU: how fast its driver, which is opened at run time, copies
 * within its memory. */
#ifndef RAVEL_BENCH_COPY_H
#define RAVEL_BENCH_COPY_H

#include <stdbool.h>
#include <stddef.h>

struct copier {
  size_t bytes; /* of each of the two buffers */
  struct driver *driver;
};

/* Buffers of so many bytes on the first GPU. NULL if all is well, else why not. */
const char *copier_open(struct copier *, size_t bytes);
/* Seconds for one copy of a whole buffer, in a sequence of `times`; negative if one failed. As
 * many bytes are read as written: the bandwidth is twice the bytes by this. */
double copier_seconds(const struct copier *, unsigned times);
void copier_close(struct copier *);

#endif
