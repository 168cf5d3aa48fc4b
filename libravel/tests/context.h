/* context.h - contexts on the CPU for tests, and calls that have to succeed or to fail. */
#ifndef RAVEL_LIBRAVEL_TESTS_CONTEXT_H
#define RAVEL_LIBRAVEL_TESTS_CONTEXT_H

#include "ravel.h"

#include <criterion/criterion.h>
#include <string.h>

/* Options are names and values in turn, behind the last one NULL; or NULL: none. */
static inline struct ravel_context *context_with(const char *const *options) {
  struct ravel_options *o = ravel_options_new();
  struct ravel_context *c = NULL;
  cr_assert_eq(ravel_options_set(o, "backend", "cpu"), RAVEL_OK);
  for (; options && *options; options += 2) {
    cr_assert_eq(ravel_options_set(o, options[0], options[1]), RAVEL_OK);
  }
  const enum ravel_code code = ravel_context_new(o, &c);
  cr_assert_eq(code, RAVEL_OK, "%s", ravel_message(c));
  ravel_options_free(o);
  return c;
}

#define fine(c, call) cr_assert_eq((call), RAVEL_OK, "%s", ravel_message(c))
#define fails(c, expected, text, call)                                                         \
  do {                                                                                         \
    cr_expect_eq((call), (expected), "%s", ravel_message(c));                                  \
    cr_expect(strstr(ravel_message(c), (text)), "%s", ravel_message(c));                       \
  } while (0)

#endif
