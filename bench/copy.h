/* copy.h - the yardstick of a device: how fast it copies within its own memory.
 *
 * With a GPU that is a copy by its driver, which is opened at run time; otherwise one by the
 * host, so that everything can be tried without. */
#ifndef RAVEL_BENCH_COPY_H
#define RAVEL_BENCH_COPY_H

#include <stdbool.h>
#include <stddef.h>

struct copier {
  const char *what; /* "the driver", "the host": who copies */
  size_t bytes;     /* of each of the two buffers */
  char *from, *to;  /* on the host */
  struct driver *driver;
};

/* Buffers of so many bytes on the first GPU, or on the host. NULL if all is well, else why not.
 */
const char *copier_open(struct copier *, size_t bytes, bool on_gpu);
/* Seconds for one copy of a whole buffer, in a sequence of `times`; negative if one failed. As
 * many bytes are read as written: the bandwidth is twice the bytes by this. */
double copier_seconds(const struct copier *, unsigned times);
void copier_close(struct copier *);

#endif
