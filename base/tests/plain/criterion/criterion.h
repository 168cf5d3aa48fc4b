/* criterion.h - what some unit tests use of Criterion, as a plain program: one process that
 * runs the tests of one file, one after the other. For the thread sanitizer, under which
 * Criterion's own processes do not start. Messages are not shown, only what failed and where.
 */
#ifndef RAVEL_BASE_TESTS_PLAIN_CRITERION_H
#define RAVEL_BASE_TESTS_PLAIN_CRITERION_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plain_suite {
  void (*init)(void), (*fini)(void);
};

struct plain_test {
  const char *name;
  void (*run)(void);
  const struct plain_suite *suite;
};

enum { PLAIN_MOST = 100 };
static struct plain_test plain_tests[PLAIN_MOST];
static int plain_count, plain_failures;

static inline bool plain_check(bool good, const char *what, const char *file, int line) {
  if (good) return true;
  fprintf(stderr, "%s:%d: %s\n", file, line, what);
  plain_failures++;
  return false;
}

#define TestSuite(name, ...) static const struct plain_suite suite_of_##name = {__VA_ARGS__}

#define Test(...) PLAIN_TEST(__VA_ARGS__, 0)
#define PLAIN_TEST(name, test, ...)                                                            \
  static void test(void);                                                                      \
  __attribute__((constructor)) static void add_##test(void) {                                  \
    plain_tests[plain_count++] = (struct plain_test){#test, test, &suite_of_##name};           \
  }                                                                                            \
  static void test(void)

int main(void) {
  for (int i = 0; i < plain_count; i++) {
    const struct plain_test *t = &plain_tests[i];
    if (t->suite->init) t->suite->init();
    t->run();
    if (t->suite->fini) t->suite->fini();
  }
  printf("%d tests, %d failures\n", plain_count, plain_failures);
  return plain_failures != 0;
}

/* The comparisons get one argument more, so that there always are enough. */
#define PLAIN_IS(x, ...)    ((x) ? true : false)
#define PLAIN_NULL(x, ...)  ((x) == NULL)
#define PLAIN_EQ(x, y, ...) ((x) == (y))
#define PLAIN_LT(x, y, ...) ((x) < (y))
#define PLAIN_GT(x, y, ...) ((x) > (y))
#define PLAIN_GE(x, y, ...) ((x) >= (y))

#define PLAIN_ARR(x, y, n, ...) (memcmp((x), (y), (n)) == 0)

#define PLAIN_CHECK(good, ...) plain_check(good, #__VA_ARGS__, __FILE__, __LINE__)

#define cr_expect(...)        PLAIN_CHECK(PLAIN_IS(__VA_ARGS__, 0), __VA_ARGS__)
#define cr_expect_not(...)    PLAIN_CHECK(!PLAIN_IS(__VA_ARGS__, 0), __VA_ARGS__)
#define cr_expect_arr_eq(...) PLAIN_CHECK(PLAIN_ARR(__VA_ARGS__, 0), __VA_ARGS__)
#define cr_expect_null(...)   PLAIN_CHECK(PLAIN_NULL(__VA_ARGS__, 0), __VA_ARGS__)
#define cr_expect_eq(...)     PLAIN_CHECK(PLAIN_EQ(__VA_ARGS__, 0), __VA_ARGS__)
#define cr_expect_gt(...)     PLAIN_CHECK(PLAIN_GT(__VA_ARGS__, 0), __VA_ARGS__)
#define cr_expect_geq(...)    PLAIN_CHECK(PLAIN_GE(__VA_ARGS__, 0), __VA_ARGS__)

#define PLAIN_ASSERT(good)                                                                     \
  do {                                                                                         \
    if (!(good)) exit(1);                                                                      \
  } while (0)

#define cr_assert(...)     PLAIN_ASSERT(PLAIN_CHECK(PLAIN_IS(__VA_ARGS__, 0), __VA_ARGS__))
#define cr_assert_eq(...)  PLAIN_ASSERT(PLAIN_CHECK(PLAIN_EQ(__VA_ARGS__, 0), __VA_ARGS__))
#define cr_assert_geq(...) PLAIN_ASSERT(PLAIN_CHECK(PLAIN_GE(__VA_ARGS__, 0), __VA_ARGS__))
#define cr_assert_lt(...)  PLAIN_ASSERT(PLAIN_CHECK(PLAIN_LT(__VA_ARGS__, 0), __VA_ARGS__))
#define cr_assert_not_null(...)                                                                \
  PLAIN_ASSERT(PLAIN_CHECK(!PLAIN_NULL(__VA_ARGS__, 0), __VA_ARGS__))

#endif
