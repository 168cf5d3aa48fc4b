/* say.c - lines from back ends to the user. */
#include "cvl/cvl.h"

#include <stdio.h>

void cvl_say(const struct cvl_speaker *to, const char *line) {
  if (to->call) {
    to->call(to->with, line);
  } else {
    fprintf(stderr, "ravel: %s\n", line);
  }
}
