/* call.c - what calls through libravel take: a function of a scalar; one of 1,000 doubles, in
 * the back end already, and with data in and out, beside `nesl --repeat` on the same machine.
 *
 *     bench-call [NESL]      the command to compare with (default: nesl beside this program)
 */
#include "include/ravel.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 15, CALLS = 5000, ELEMENTS = 1000 };

static const char definitions[] = "function stepped(x) = x * 3 + 1;\n"
                                  "function scaled(v) = {x * 3.0 + 1.0 : x in v};\n";

struct bench {
  struct ravel_context *c;
  struct ravel_function *stepped, *scaled;
  struct ravel_value *one, *row;
  double data[ELEMENTS];
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define AND(code, call)                                                                        \
  if (code == RAVEL_OK) code = (call)

static enum ravel_code prepare(struct bench *b) {
  for (int i = 0; i < ELEMENTS; i++) b->data[i] = i;
  enum ravel_code code = ravel_context_new(NULL, &b->c);
  AND(code, ravel_define(b->c, "call.nesl", definitions, 0));
  AND(code, ravel_find(b->c, "stepped", "int", &b->stepped));
  AND(code, ravel_find(b->c, "scaled", "[float]", &b->scaled));
  AND(code, ravel_int(b->c, 5, &b->one));
  AND(code, ravel_vector(b->c, RAVEL_FLOAT64, b->data, ELEMENTS, &b->row));
  return code;
}

/* ---- one call each; a wrong result is a fault ---- */

static enum ravel_code call_scalar(struct bench *b) {
  struct ravel_value *result = NULL;
  int64_t x = 0;
  enum ravel_code code = ravel_call(b->c, b->stepped, &b->one, 1, &result);
  AND(code, ravel_get_int(b->c, result, &x));
  ravel_release(result);
  return code == RAVEL_OK && x != 16 ? RAVEL_INTERNAL : code;
}

static enum ravel_code call_row(struct bench *b) {
  struct ravel_value *result = NULL;
  double last = 0;
  enum ravel_code code = ravel_call(b->c, b->scaled, &b->row, 1, &result);
  AND(code, ravel_copy(b->c, result, RAVEL_FLOAT64, ELEMENTS - 1, 1, &last));
  ravel_release(result);
  return code == RAVEL_OK && last != 3.0 * (ELEMENTS - 1) + 1 ? RAVEL_INTERNAL : code;
}

static enum ravel_code call_in_and_out(struct bench *b) {
  struct ravel_value *row = NULL, *result = NULL;
  double out[ELEMENTS] = {0};
  enum ravel_code code = ravel_vector(b->c, RAVEL_FLOAT64, b->data, ELEMENTS, &row);
  AND(code, ravel_call(b->c, b->scaled, &row, 1, &result));
  AND(code, ravel_copy(b->c, result, RAVEL_FLOAT64, 0, ELEMENTS, out));
  ravel_release(row);
  ravel_release(result);
  return code == RAVEL_OK && out[ELEMENTS - 1] != 3.0 * (ELEMENTS - 1) + 1 ? RAVEL_INTERNAL
                                                                           : code;
}

/* ---- measuring ---- */

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print(const char *what, double median, double least, double most) {
  printf("%-44s %8.2f us (%.2f to %.2f)\n", what, median * 1e6, least * 1e6, most * 1e6);
}

static enum ravel_code measure(struct bench *b, const char *what,
                               enum ravel_code call(struct bench *)) {
  double seconds[ROUNDS];
  enum ravel_code code = call(b);
  for (int round = 0; round < ROUNDS && code == RAVEL_OK; round++) {
    const double start = now();
    for (int i = 0; i < CALLS && code == RAVEL_OK; i++) code = call(b);
    seconds[round] = (now() - start) / CALLS;
  }
  if (code != RAVEL_OK) return code;
  qsort(seconds, ROUNDS, sizeof *seconds, by_size);
  print(what, seconds[ROUNDS / 2], seconds[0], seconds[ROUNDS - 1]);
  return RAVEL_OK;
}

/* The line "N runs: median X s (Y to Z)" of the command. */
static int compare(const char *nesl) {
  char file[] = "/tmp/bench-call-XXXXXX", command[2 * PATH_MAX], line[200];
  double median = 0, least = 0, most = 0;
  int found = 0;
  const int fd = mkstemp(file);
  if (fd < 0 || dprintf(fd, "%s", definitions) < 0) return 1;
  snprintf(
      command, sizeof command,
      "'%s' --repeat %d run %s --entry scaled '{float(i) : i in index(%d)}' 2>&1 >/dev/null",
      nesl, CALLS, file, ELEMENTS);
  FILE *said = popen(command, "r");
  while (said && fgets(line, sizeof line, said)) {
    found |= sscanf(line, "%*d runs: median %lf s (%lf to %lf)", &median, &least, &most) == 3;
  }
  if (said) pclose(said);
  close(fd);
  unlink(file);
  if (found) print("nesl --repeat, 1,000 doubles", median, least, most);
  return !found;
}

static int compare_beside(void) {
  char path[PATH_MAX], nesl[PATH_MAX + 8];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0) return 1;
  path[length] = '\0';
  snprintf(nesl, sizeof nesl, "%s/nesl", dirname(path));
  return compare(nesl);
}

int main(int argc, char **argv) {
  static struct bench b;
  enum ravel_code code = prepare(&b);
  AND(code, measure(&b, "a function of a scalar", call_scalar));
  AND(code, measure(&b, "1,000 doubles in the back end", call_row));
  AND(code, measure(&b, "1,000 doubles in and out", call_in_and_out));
  if (code != RAVEL_OK) fprintf(stderr, "bench-call: %s", ravel_message(b.c));
  ravel_context_free(b.c);
  if (code != RAVEL_OK) return 1;
  return argc > 1 ? compare(argv[1]) : compare_beside();
}
