/* temporaries.h - files that will replace others, while they are written: listed so that a
 * signal that ends the process can remove them.
 */
#ifndef RAVEL_TEMPORARIES_H
#define RAVEL_TEMPORARIES_H

#include <limits.h>
#include <stdatomic.h>

enum { TEMPORARIES_MAX = 64 };

/* The list; a zeroed one is empty. It contains the paths themselves, since a signal handler may
 * follow no pointer that another thread frees. */
struct temporaries {
  struct temporary {
    atomic_int state;
    char path[PATH_MAX];
  } list[TEMPORARIES_MAX];
};

/* Adds a path, before the file is created, so that no signal can leave it behind. Returns its
 * number, or -1 if the list is full or the path too long. Thread-safe. */
int temporaries_add(struct temporaries *, const char *path);
/* Removes an entry: the file has its final name, or was deleted. */
void temporaries_forget(struct temporaries *, int number);
/* Removes all files that are listed. Async-signal-safe; errno is unchanged. */
void temporaries_unlink(struct temporaries *);

#endif
