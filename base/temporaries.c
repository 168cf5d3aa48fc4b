/* temporaries.c - see temporaries.h. */
#include "base/temporaries.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum state { FREE, FILLING, LISTED };

int temporaries_add(struct temporaries *t, const char *path) {
  const size_t bytes = strlen(path) + 1;
  if (bytes > PATH_MAX) return -1;
  for (int i = 0; i < TEMPORARIES_MAX; i++) {
    int is = FREE;
    if (!atomic_compare_exchange_strong(&t->list[i].state, &is, FILLING)) continue;
    memcpy(t->list[i].path, path, bytes);
    atomic_store(&t->list[i].state, LISTED);
    return i;
  }
  return -1;
}

void temporaries_forget(struct temporaries *t, int number) {
  atomic_store(&t->list[number].state, FREE);
}

void temporaries_unlink(struct temporaries *t) {
  const int error = errno;
  for (int i = 0; i < TEMPORARIES_MAX; i++) {
    if (atomic_load(&t->list[i].state) == LISTED) unlink(t->list[i].path);
  }
  errno = error;
}
