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

/* Allocates two buffers of so many bytes on the first GPU. Returns NULL, or why that failed. */
const char *copier_open(struct copier *, size_t bytes);
/* Returns seconds for one copy of a whole buffer, in a sequence of `times`; negative if one
 * failed. A copy reads and writes as many bytes: the bandwidth is twice the bytes divided by
 * this. */
double copier_seconds(const struct copier *, unsigned times);
void copier_close(struct copier *);

#endif
