/* temporaries.h - files that will replace others, while they are written: listed so that a
 * signal that ends the process can remove them.
 */
#ifndef RAVEL_TEMPORARIES_H
#define RAVEL_TEMPORARIES_H

#include <limits.h>
#include <stdatomic.h>

enum { TEMPORARIES_MAX = 64 };

/* The list; all zero is an empty one. Paths stand in it, and not elsewhere: a signal handler
 * may follow no pointer that another thread frees. */
struct temporaries {
  struct temporary {
    atomic_int state;
    char path[PATH_MAX];
  } list[TEMPORARIES_MAX];
};

/* Lists a path: before the file is made, so that there is no moment at which a signal leaves it
 * behind. Its number, or -1 if the list is full or the path too long. Any thread may. */
int temporaries_add(struct temporaries *, const char *path);
/* Forgets a number: the file has its final name, or was removed. */
void temporaries_forget(struct temporaries *, int number);
/* Removes all files that are listed. Async-signal-safe; errno stays as it was. */
void temporaries_unlink(struct temporaries *);

#endif
