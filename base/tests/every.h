/* every.h - how much of a long test is run: for tests of a few minutes a part of its cases. */
#ifndef RAVEL_TESTS_EVERY_H
#define RAVEL_TESTS_EVERY_H

#include <stdlib.h>

/* Each how many-th of a test's cases is run: RAVEL_EVERY of the environment, as scripts/test sets
 * it; 1, all of them, without. */
static inline unsigned every(void) {
  const char *text = getenv("RAVEL_EVERY");
  const int n = text ? atoi(text) : 1;
  return n > 1 ? (unsigned)n : 1;
}

#endif
