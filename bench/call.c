/* call.c - the time of a call through libravel: a function of a scalar, again and again. */
#include "include/ravel.h"

#include <stdio.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum ravel_code prepare(struct ravel_context **c, struct ravel_function **f,
                               struct ravel_value **x) {
  enum ravel_code code = ravel_context_new(NULL, c);
  if (code == RAVEL_OK) {
    code = ravel_define(*c, NULL, "function stepped(x) = x * 3 + 1;", 0);
  }
  if (code == RAVEL_OK) code = ravel_find(*c, "stepped", "int", f);
  return code == RAVEL_OK ? ravel_int(*c, 1, x) : code;
}

static enum ravel_code call(struct ravel_context *c, struct ravel_function *f,
                            struct ravel_value *x, unsigned calls) {
  struct ravel_value *result;
  enum ravel_code code = RAVEL_OK;
  for (unsigned i = 0; i < calls && code == RAVEL_OK; i++) {
    code = ravel_call(c, f, &x, 1, &result);
    if (code == RAVEL_OK) ravel_release(result);
  }
  return code;
}

int main(void) {
  enum { ROUNDS = 10, CALLS = 20000 };
  struct ravel_context *c = NULL;
  struct ravel_function *f;
  struct ravel_value *x;
  double best = 1e9;
  enum ravel_code code = prepare(&c, &f, &x);
  for (int round = 0; round < ROUNDS && code == RAVEL_OK; round++) {
    const double start = now();
    code = call(c, f, x, CALLS);
    const double seconds = (now() - start) / CALLS;
    if (seconds < best) best = seconds;
  }
  if (code == RAVEL_OK) printf("%.2f us a call, the best of %d rounds\n", best * 1e6, ROUNDS);
  if (code != RAVEL_OK) fprintf(stderr, "bench-call: %s", ravel_message(c));
  ravel_context_free(c);
  return code != RAVEL_OK;
}
