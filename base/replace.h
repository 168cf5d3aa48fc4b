/* replace.h - files that are written whole or not at all.
 *
 * What is written goes to a new file in the same directory, which takes the name when it is
 * complete: whoever opens the name finds all that it held before or all that is new, also after
 * a full disk, a signal, or a crash of the machine, since the data are on the disk (fsync)
 * before the name is. (The directory is not synchronised: after a crash the name may still hold
 * what it held before.)
 *
 * A symbolic link stays a link and what it points to is replaced, or made. A file that is
 * replaced must be writable; its permissions stay, and its owner and group if the process may
 * set them, but it is a new file: other hard links keep what they held. What is no ordinary
 * file (a device, a pipe), and what standard output or standard error already is (/dev/stdout),
 * is written directly.
 *
 * Who is asked to end (stop.h) writes no further: the error is ECANCELED.
 */
#ifndef RAVEL_REPLACE_H
#define RAVEL_REPLACE_H

#include "base/permissions.h"

#include <stdio.h>

struct replacement {
  FILE *stream; /* write here; it has no descriptor of its own */
  int fd;
  int error;                       /* the first that a write met, or 0 */
  bool direct;                     /* written directly */
  struct temporaries *temporaries; /* or NULL */
  const struct stop *stop;         /* or NULL */
  int number;                      /* in them, or -1 */
  char target[PATH_MAX], beside[PATH_MAX];
};

/* Begins to write a file; the replacement must stay where it is until one of the other two is
 * called. False with a problem. */
bool replacement_begin(struct replacement *, const struct permissions *, const char *path,
                       struct file_problem *);
/* Ends it: the file holds what was written. False with a problem: it is as it was before. */
bool replacement_end(struct replacement *, struct file_problem *);
/* Ends it: the file is as it was before, unless it is written directly. */
void replacement_abandon(struct replacement *);

#endif
