/* replace.h - files that are written whole or not at all.
 *
 * The output goes to a new file in the same directory, which is renamed when it is complete:
 * the name refers to the complete old contents or the complete new ones, even after a full
 * disk, a signal, or a crash of the machine, since the data are on the disk (fsync) before the
 * rename. (The directory is not synchronised: after a crash the name may refer to the old
 * contents.)
 *
 * A symbolic link stays, and its target is replaced or created. A file that is
 * replaced must be writable; its permissions stay, and its owner and group if the process may
 * set them, but it is a new file: other hard links keep the old contents. A
 * device or pipe, and the file of standard output or standard error (/dev/stdout), is written
 * directly.
 *
 * A stop (stop.h) ends the writing with the error ECANCELED.
 */
#ifndef RAVEL_REPLACE_H
#define RAVEL_REPLACE_H

#include "base/permissions.h"

#include <stdint.h>
#include <stdio.h>

struct replacement {
  FILE *stream; /* write here; it has no descriptor of its own */
  int fd;
  int error;                       /* the first error of a write, or 0 */
  bool direct;                     /* written directly */
  bool joined;                     /* another process will rename it */
  struct temporaries *temporaries; /* or NULL */
  const struct stop *stop;         /* or NULL */
  int number;                      /* in them, or -1 */
  char target[PATH_MAX], beside[PATH_MAX];
};

/* Begins to write a file. The struct must not move until it is ended or abandoned. Returns
 * false with a problem. */
bool replacement_begin(struct replacement *, const struct permissions *, const char *path,
                       struct file_problem *);
/* These three are for contents that are written out of order. The stream writes beside them,
 * from the file's beginning. Each returns 0 or the number of an error: EINVAL for a file that
 * is written directly. */
/* Makes the file so many bytes long. If the file system can, it reserves them on the disk. */
int replacement_reserve(struct replacement *, uint64_t bytes);
int replacement_put(struct replacement *, uint64_t at, const void *data, uint64_t bytes);
/* Ends the file behind so many bytes. */
int replacement_cut(struct replacement *, uint64_t bytes);
/* Maps its first bytes, to be read until munmap, which may follow the end. */
int replacement_map(const struct replacement *, uint64_t bytes, const void **data);

/* Joins the writing of a file that another process has begun: out of order and without a
 * stream. `beside` is that of the other's struct. This struct is ended before the other's is.
 */
bool replacement_join(struct replacement *, const struct permissions *, const char *beside,
                      struct file_problem *);

/* Ends the writing: the file has the new contents. Returns false with a problem; it is
 * unchanged then. */
bool replacement_end(struct replacement *, struct file_problem *);
/* Ends the writing: the file is unchanged, unless it is written directly. */
void replacement_abandon(struct replacement *);

#endif
