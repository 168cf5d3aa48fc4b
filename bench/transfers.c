/* transfers.c - data into a context and out of it, through libravel: the time of each way
 * beside that of a memcpy of as many elements of 8 bytes, in the same round.
 *
 *     bench-transfers [MILLIONS [ROUNDS]]       default: 10 million elements, 15 rounds
 */
#include "include/ravel.h"
#include "libravel/arrow.h"
#include "libravel/dlpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct transfer {
  struct ravel_context *c;
  size_t n;
  double *doubles, *to;
  int32_t *ints;
  uint8_t *bits;
  struct ravel_value *result; /* made by a call */
  struct ravel_value *borrowed;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- ways ---- */

static enum ravel_code vector(struct transfer *b) {
  struct ravel_value *v = NULL;
  const enum ravel_code code = ravel_vector(b->c, RAVEL_FLOAT64, b->doubles, b->n, &v);
  ravel_release(v);
  return code;
}

static enum ravel_code vector_of_ints(struct transfer *b) {
  struct ravel_value *v = NULL;
  const enum ravel_code code = ravel_vector(b->c, RAVEL_INT32, b->ints, b->n, &v);
  ravel_release(v);
  return code;
}

static enum ravel_code borrow(struct transfer *b) {
  struct ravel_value *v = NULL;
  const enum ravel_code code = ravel_borrow(b->c, RAVEL_FLOAT64, b->doubles, b->n, &v);
  ravel_release(v);
  return code;
}

static void keep_schema(struct ArrowSchema *s) {
  (void)s;
}

static void release_array(struct ArrowArray *a) {
  a->release = NULL;
}

static enum ravel_code import(struct transfer *b, const char *format, const void *data) {
  const void *buffers[] = {NULL, data};
  struct ArrowSchema schema = {.format = format, .release = keep_schema};
  struct ArrowArray array = {
      .length = (int64_t)b->n, .n_buffers = 2, .buffers = buffers, .release = release_array};
  struct ravel_value *v = NULL;
  const enum ravel_code code = ravel_import(b->c, &schema, &array, &v);
  ravel_release(v);
  return code;
}

static enum ravel_code import_doubles(struct transfer *b) {
  return import(b, "g", b->doubles);
}

static enum ravel_code import_ints(struct transfer *b) {
  return import(b, "i", b->ints);
}

static enum ravel_code import_bools(struct transfer *b) {
  return import(b, "b", b->bits);
}

static enum ravel_code copy_out(struct transfer *b) {
  return ravel_copy(b->c, b->result, RAVEL_FLOAT64, 0, b->n, b->to);
}

static enum ravel_code export(struct transfer *b, const struct ravel_value *v) {
  struct ArrowSchema schema; struct ArrowArray array;
  const enum ravel_code code = ravel_export(b->c, v, &schema, &array);
  if (code != RAVEL_OK) return code;
  array.release(&array);
  schema.release(&schema);
  return RAVEL_OK;
}

static enum ravel_code export_result(struct transfer *b) {
  return export(b, b->result);
}

static enum ravel_code export_borrowed(struct transfer *b) {
  return export(b, b->borrowed);
}

static enum ravel_code export_tensor(struct transfer *b) {
  struct DLManagedTensorVersioned *t;
  const enum ravel_code code = ravel_export_dlpack(b->c, b->result, &t);
  if (code == RAVEL_OK) t->deleter(t);
  return code;
}

static enum ravel_code plain_copy(struct transfer *b) {
  memcpy(b->to, b->doubles, b->n * sizeof *b->to);
  return RAVEL_OK;
}

static const struct {
  const char *name;
  enum ravel_code (*go)(struct transfer *);
} ways[] = {{"memcpy", plain_copy},
            {"ravel_vector, float64", vector},
            {"ravel_vector, int32 to 64", vector_of_ints},
            {"ravel_borrow, float64", borrow},
            {"ravel_import, float64", import_doubles},
            {"ravel_import, int32 to 64", import_ints},
            {"ravel_import, bool", import_bools},
            {"ravel_copy, float64", copy_out},
            {"ravel_export, a result", export_result},
            {"ravel_export, borrowed", export_borrowed},
            {"ravel_export_dlpack", export_tensor}};

enum { WAYS = sizeof ways / sizeof *ways, MOST_ROUNDS = 1000 };

/* ---- the measurement ---- */

static enum ravel_code prepare(struct transfer *b) {
  struct ravel_function *f = NULL;
  enum ravel_code code = ravel_context_new(NULL, &b->c);
  if (code == RAVEL_OK) {
    code = ravel_expression(b->c, "{-x : x in xs}", "xs", "[float]", &f);
  }
  if (code == RAVEL_OK) {
    code = ravel_borrow(b->c, RAVEL_FLOAT64, b->doubles, b->n, &b->borrowed);
  }
  return code == RAVEL_OK ? ravel_call(b->c, f, &b->borrowed, 1, &b->result) : code;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorted, the median and the quarters. */
static void print(const char *name, double *ratios, const double *seconds, int rounds) {
  double total = 0;
  for (int i = 0; i < rounds; i++) total += seconds[i];
  qsort(ratios, (size_t)rounds, sizeof *ratios, ascending);
  printf("%-28s %8.3f  %8.3f .. %-8.3f %10.3f\n", name, ratios[rounds / 2], ratios[rounds / 4],
         ratios[3 * rounds / 4], 1e3 * total / rounds);
}

static enum ravel_code measure(struct transfer *b, int rounds) {
  static double seconds[WAYS][MOST_ROUNDS], ratios[WAYS][MOST_ROUNDS];
  enum ravel_code code = RAVEL_OK;
  for (int round = -1; round < rounds && code == RAVEL_OK; round++) { /* one to warm up */
    const int at = round < 0 ? 0 : round;
    for (int i = 0; i < WAYS && code == RAVEL_OK; i++) {
      const double start = now();
      code = ways[i].go(b);
      seconds[i][at] = now() - start;
      ratios[i][at] = seconds[i][at] / seconds[0][at];
    }
  }
  if (code != RAVEL_OK) return code;
  printf("%-28s %8s  %8s .. %-8s %10s\n", "", "median", "quarter", "quarter", "mean ms");
  for (int i = 0; i < WAYS; i++) print(ways[i].name, ratios[i], seconds[i], rounds);
  return RAVEL_OK;
}

int main(int argc, char **argv) {
  struct transfer b = {.n = 1000000 * (argc > 1 ? (size_t)atol(argv[1]) : 10)};
  const int rounds = argc > 2 ? atoi(argv[2]) : 15;
  b.doubles = malloc(b.n * sizeof *b.doubles);
  b.to = malloc(b.n * sizeof *b.to);
  b.ints = malloc(b.n * sizeof *b.ints);
  b.bits = calloc(b.n / 8 + 1, 1);
  if (!b.doubles || !b.to || !b.ints || !b.bits || rounds < 1 || rounds > MOST_ROUNDS) return 2;
  for (size_t i = 0; i < b.n; i++) {
    b.doubles[i] = b.to[i] = (double)i;
    b.ints[i] = (int32_t)(i % 1000);
  }
  enum ravel_code code = prepare(&b);
  if (code == RAVEL_OK) code = measure(&b, rounds);
  if (code != RAVEL_OK) fprintf(stderr, "bench-transfers: %s", ravel_message(b.c));
  ravel_context_free(b.c);
  free(b.doubles);
  free(b.to);
  free(b.ints);
  free(b.bits);
  return code != RAVEL_OK;
}
