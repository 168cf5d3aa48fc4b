/* test-readers.c - results whose memory others read and release while the context works: a
 * plain program, for the thread sanitizer.
 *
 *     test-readers [ROUNDS]
 */
#include "include/ravel.h"
#include "libravel/arrow.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 50000, READERS = 4 };

struct reader {
  pthread_t thread;
  struct ArrowSchema schema;
  struct ArrowArray array;
  double expected;
  int wrong;
};

static void *read_and_release(void *with) {
  struct reader *r = with;
  const double *data = r->array.buffers[1];
  for (int i = 0; i < MANY; i++) r->wrong += data[i] != r->expected + i;
  r->array.release(&r->array);
  r->schema.release(&r->schema);
  return NULL;
}

static void must(struct ravel_context *c, enum ravel_code code) {
  if (code == RAVEL_OK) return;
  fprintf(stderr, "test-readers: %s", ravel_message(c));
  exit(1);
}

static void begin_reader(struct ravel_context *c, struct ravel_function *f, double x,
                         struct reader *r) {
  struct ravel_value *number = NULL, *result = NULL;
  must(c, ravel_float(c, x, &number));
  must(c, ravel_call(c, f, &number, 1, &result));
  must(c, ravel_export(c, result, &r->schema, &r->array));
  r->expected = x;
  if (pthread_create(&r->thread, NULL, read_and_release, r) != 0) exit(1);
  ravel_release(result);
  ravel_release(number);
}

static int readers_round_of(int number) {
  struct reader readers[READERS] = {{.wrong = 0}};
  struct ravel_context *c = NULL;
  struct ravel_function *f = NULL;
  int wrong = 0;
  must(c, ravel_context_new(NULL, &c));
  must(c, ravel_expression(c, "{x + float(i) : i in [0:50000]}", "x", "float", &f));
  for (int i = 0; i < READERS; i++) begin_reader(c, f, number * READERS + i, &readers[i]);
  ravel_context_free(c);
  for (int i = 0; i < READERS; i++) {
    pthread_join(readers[i].thread, NULL);
    wrong += readers[i].wrong;
  }
  return wrong;
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 5;
  int wrong = 0;
  for (int i = 0; i < rounds; i++) wrong += readers_round_of(i);
  printf("%d elements were read wrongly in %d rounds\n", wrong, rounds);
  return wrong != 0;
}
