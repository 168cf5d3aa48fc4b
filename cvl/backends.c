/* backends.c - the registry of back ends. The linked program says which ones there are. */
#include "cvl/cvl.h"

#include <string.h>

const struct cvl_backend *cvl_backend_find(const char *name) {
  for (const struct cvl_backend *const *b = cvl_backends(); *b; b++) {
    if (strcmp((*b)->name, name) == 0) return *b;
  }
  return NULL;
}
