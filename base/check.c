/* check.c - see check.h. */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void invariant_failed(const char *file, int line, const char *condition) {
  const char *slash = strrchr(file, '/');
  fprintf(stderr, "%s:%d: a fault of Ravel: this does not hold: %s\n", slash ? slash + 1 : file,
          line, condition);
  abort();
}
