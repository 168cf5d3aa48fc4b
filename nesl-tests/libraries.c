/* libraries.c - what libraries.py tests besides results: the functions themselves, contexts of
 * other widths, threads with a context each, kernels, procedures. Made from libraries.nesl:
 * lib.h.
 *
 *   libraries functions | widths | refused | threads | kernels FILE | procedures FILE
 */
#include "lib.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds)                                                                           \
  do {                                                                                         \
    if (!(holds)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds);                      \
      exit(1);                                                                                 \
    }                                                                                          \
  } while (0)

static struct ravel_context *libraries_context(const char *const *pairs) {
  struct ravel_options *options = ravel_options_new();
  struct ravel_context *context;
  CHECK(ravel_options_set(options, "backend", "cpu") == RAVEL_OK);
  for (; *pairs; pairs += 2) CHECK(ravel_options_set(options, pairs[0], pairs[1]) == RAVEL_OK);
  if (ravel_context_new(options, &context) != RAVEL_OK) {
    fprintf(stderr, "%s", ravel_message(context));
    exit(2);
  }
  ravel_options_free(options);
  return context;
}

static struct ravel_context *libraries_context_with(const char *name, const char *value) {
  const char *const pairs[] = {name, value, NULL};
  return libraries_context(pairs);
}

/* The function is one and the same in a context, and calls on its values give the same. */
static void functions(void) {
  struct ravel_context *context = libraries_context_with(NULL, NULL),
                       *other = libraries_context_with(NULL, NULL);
  struct ravel_function *f, *again, *elsewhere;
  struct ravel_value *arguments[3], *once, *twice;
  struct lib_vec_f64 both;
  const double x[] = {1.5, -2.5}, y[] = {0.25, 8.0};
  double got[2];
  CHECK(lib_saxpy_function(context, &f) == RAVEL_OK);
  CHECK(lib_saxpy(context, 2.0, (struct lib_vec_f64){x, 2}, (struct lib_vec_f64){y, 2},
                  &both) == RAVEL_OK);
  CHECK(lib_saxpy_function(context, &again) == RAVEL_OK && again == f);
  CHECK(lib_saxpy_function(other, &elsewhere) == RAVEL_OK && elsewhere != f);
  CHECK(strcmp(ravel_function_takes(f), "float, [float], [float]") == 0);
  CHECK(ravel_float(context, 2.0, &arguments[0]) == RAVEL_OK);
  CHECK(ravel_vector(context, RAVEL_FLOAT64, x, 2, &arguments[1]) == RAVEL_OK);
  CHECK(ravel_vector(context, RAVEL_FLOAT64, y, 2, &arguments[2]) == RAVEL_OK);
  CHECK(ravel_call(context, f, arguments, 3, &once) == RAVEL_OK);
  CHECK(ravel_copy(context, once, RAVEL_FLOAT64, 0, 2, got) == RAVEL_OK);
  CHECK(both.length == 2 && memcmp(both.data, got, sizeof got) == 0);
  arguments[2] = once;
  CHECK(ravel_call(context, f, arguments, 3, &twice) == RAVEL_OK);
  ravel_context_free(context);
  ravel_context_free(other);
  CHECK(both.data[0] == 3.25);
  lib_free_vec_f64(&both);
  CHECK(!both.data && both.length == 0);
  lib_free_vec_f64(&both);
  lib_free_vec_f64(NULL);
}

/* A context of other widths is refused, and *result is what it was. */
static void widths(void) {
  struct ravel_context *context = libraries_context_with("float", "32");
  double result = 7;
  CHECK(lib_square(context, 2.0, &result) == RAVEL_TYPE);
  CHECK(strstr(ravel_message(context), "square is for an INT of 64 bits and a FLOAT of 64"));
  CHECK(result == 7);
  ravel_context_free(context);
  CHECK(lib_square(NULL, 2.0, &result) == RAVEL_MISUSE && result == 7);
}

/* A file that is none of kernels makes no context. */
static void libraries_refused(void) {
  struct ravel_options *options = ravel_options_new();
  struct ravel_context *context;
  CHECK(ravel_options_set(options, "backend", "cpu") == RAVEL_OK);
  CHECK(ravel_options_set(options, "kernels", "out/lib.c") == RAVEL_OK);
  CHECK(ravel_context_new(options, &context) == RAVEL_DEVICE);
  CHECK(strstr(ravel_message(context), "the file of kernels is no library that can be loaded"));
  ravel_context_free(context);
  ravel_options_free(options);
}

static void *libraries_count(void *seed) {
  struct ravel_context *context = libraries_context_with("threads", "1");
  for (int64_t i = 0; i < 20; i++) {
    const int64_t wanted[] = {55, 89, 144};
    int64_t result = 0;
    CHECK(lib_fib(context, 10 + i % 3, &result) == RAVEL_OK);
    CHECK(result == wanted[i % 3]);
  }
  ravel_context_free(context);
  return seed;
}

static void threads(void) {
  enum { THREADS = 8 };
  pthread_t all[THREADS];
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&all[i], NULL, libraries_count, NULL) == 0);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(all[i], NULL) == 0);
}

/* Long enough that superoperators compiled ahead of time are used; the same bits without. */
static void kernels(const char *file) {
  enum { MANY = 3000000, SOME = 30000, TIMES = 4 };
  struct ravel_context *with = libraries_context_with("kernels", file),
                       *without = libraries_context_with(NULL, NULL);
  double *x = malloc(MANY * sizeof *x);
  int64_t *n = malloc(SOME * sizeof *n);
  for (int i = 0; i < MANY; i++) x[i] = 1.0 / (i + 1);
  for (int i = 0; i < SOME; i++) n[i] = i + 1;
  const struct lib_vec_f64 v = {x, MANY};
  for (int i = 0; i < TIMES; i++) {
    struct lib_vec_f64 a, b;
    struct lib_vec_i64 s, t;
    double p, q;
    CHECK(lib_saxpy(with, 0.1, v, v, &a) == RAVEL_OK &&
          lib_saxpy(without, 0.1, v, v, &b) == RAVEL_OK);
    CHECK(a.length == MANY && memcmp(a.data, b.data, MANY * sizeof *x) == 0);
    CHECK(lib_steps(with, (struct lib_vec_i64){n, SOME}, &s) == RAVEL_OK);
    CHECK(lib_steps(without, (struct lib_vec_i64){n, SOME}, &t) == RAVEL_OK);
    CHECK(s.length == SOME && memcmp(s.data, t.data, SOME * sizeof *n) == 0);
    CHECK(lib_squares(with, v, &p) == RAVEL_OK && lib_squares(without, v, &q) == RAVEL_OK);
    CHECK(memcmp(&p, &q, sizeof p) == 0);
    lib_free_vec_f64(&a);
    lib_free_vec_f64(&b);
    lib_free_vec_i64(&s);
    lib_free_vec_i64(&t);
  }
  free(x);
  free(n);
  ravel_context_free(with);
  ravel_context_free(without);
}

/* Whether native code has executed the last call as a whole. */
static bool libraries_was_native(struct ravel_context *context) {
  return strstr(ravel_profile(context), "{\"name\": \"MAIN\", \"calls\": 1, \"instances\": 1");
}

/* Functions that call themselves, or have superoperators, executed by code that was compiled
 * ahead of time: nothing is compiled. */
static void procedures(const char *file) {
  enum { SOME = 300 };
  const char *const pairs[] = {"kernels", file,      "procedures", "always", "compiler",
                               "no",      "profile", "yes",        NULL};
  struct ravel_context *with = libraries_context(pairs),
                       *without = libraries_context_with("procedures", "off");
  int64_t n[SOME], a, b;
  double p, q, x[SOME];
  for (int i = 0; i < SOME; i++) n[i] = (7 * i * i + 3 * i) % 101 + 1, x[i] = 1.0 / (i + 3);
  const struct lib_vec_i64 v = {n, SOME};
  const struct lib_vec_f64 w = {x, SOME};
  struct lib_vec_i64 s, t;
  CHECK(lib_steps(with, v, &s) == RAVEL_OK && libraries_was_native(with));
  CHECK(lib_steps(without, v, &t) == RAVEL_OK);
  CHECK(s.length == SOME && memcmp(s.data, t.data, sizeof n) == 0);
  CHECK(lib_fib(with, 15, &a) == RAVEL_OK && libraries_was_native(with));
  CHECK(lib_fib(without, 15, &b) == RAVEL_OK && a == b);
  CHECK(lib_squares(with, w, &p) == RAVEL_OK && libraries_was_native(with));
  CHECK(lib_squares(without, w, &q) == RAVEL_OK && memcmp(&p, &q, sizeof p) == 0);
  lib_free_vec_i64(&s);
  lib_free_vec_i64(&t);
  ravel_context_free(with);
  ravel_context_free(without);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "functions") == 0) {
    functions();
  } else if (strcmp(what, "widths") == 0) {
    widths();
  } else if (strcmp(what, "refused") == 0) {
    libraries_refused();
  } else if (strcmp(what, "threads") == 0) {
    threads();
  } else if (strcmp(what, "kernels") == 0 && argc > 2) {
    kernels(argv[2]);
  } else if (strcmp(what, "procedures") == 0 && argc > 2) {
    procedures(argv[2]);
  } else {
    return 3;
  }
  return 0;
}
