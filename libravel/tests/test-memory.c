/* test-memory.c - each allocation of the library fails once: the call says so, the context goes
 * on or is freed, and nothing is left behind.
 *
 * A program of its own, since Criterion allocates, too: test-memory [STEP]
 */
#include "base/tests/every.h"
#include "failing.h"
#include "libravel/arrow.h"
#include "ravel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A step after others that went well. */
#define AND(code, call)                                                                        \
  if (code == RAVEL_OK) code = (call)

/* ---- values and calls ---- */

static enum ravel_code use_values(struct ravel_context *c) {
  const int64_t data[] = {3, 1, 2, 5}, lengths[] = {1, 3};
  struct ravel_value *flat = NULL, *rows = NULL, *result = NULL, *pair = NULL, *part = NULL;
  struct ravel_function *f = NULL;
  int64_t got[2] = {0};
  enum ravel_code code =
      ravel_define(c, "memory.nesl",
                   "base = [10, 20];\nfunction best(r) = max_val(r) + base[0];\n"
                   "function all_best(rows) = {best(r) : r in rows};",
                   0);
  AND(code, ravel_find(c, "all_best", "[[int]]", &f));
  AND(code, ravel_vector(c, RAVEL_INT64, data, 4, &flat));
  AND(code, ravel_nested(c, lengths, 2, flat, &rows));
  AND(code, ravel_call(c, f, &rows, 1, &result));
  AND(code, ravel_copy(c, result, RAVEL_INT64, 0, 2, got));
  if (code == RAVEL_OK && (got[0] != 13 || got[1] != 15)) code = RAVEL_INTERNAL;
  struct ravel_value *both[] = {rows, result};
  AND(code, ravel_tuple(c, both, 2, &pair));
  AND(code, ravel_component(c, rows, 1, &part));
  ravel_release(part);
  ravel_release(pair);
  ravel_release(flat);
  ravel_release(rows);
  ravel_release(result);
  ravel_function_release(f);
  return code;
}

/* Columns in and out, of a function that the context keeps. */
static enum ravel_code use_columns(struct ravel_context *c) {
  static const char text[] = "function turned(a, v) : (float, [[int]]) -> ([[int]], float) = "
                             "({reverse(r) : r in v}, a);";
  const int64_t data[] = {3, 1, 2}, lengths[] = {1, 2};
  const double a = 0.5;
  const struct ravel_column in[] = {
      {RAVEL_FLOAT64, &a, 1}, {RAVEL_INT64, lengths, 2}, {RAVEL_INT64, data, 3}};
  struct ravel_column out[] = {
      {RAVEL_INT64, NULL, 0}, {RAVEL_INT32, NULL, 0}, {RAVEL_FLOAT64, NULL, 0}};
  struct ravel_function *f = ravel_kept(c, "turned");
  struct ravel_value *v = NULL;
  void *block = NULL;
  enum ravel_code code = RAVEL_OK;
  if (!f) {
    code = ravel_define(c, "memory.nesl", text, 0);
    AND(code, ravel_find(c, "turned", NULL, &f));
    AND(code, ravel_keep(c, "turned", f));
    ravel_function_release(f);
  }
  AND(code, ravel_call_columns(c, f, in, 3, &v));
  AND(code, ravel_columns(c, v, out, 3, &block));
  if (code == RAVEL_OK && ((const int32_t *)out[1].data)[1] != 2) code = RAVEL_INTERNAL;
  free(block);
  ravel_release(v);
  return code;
}

/* ---- arrays of Arrow: [(int, float)] of lists of int16 and doubles ---- */

static int releases;

static void memory_release_array(struct ArrowArray *a) {
  releases++;
  a->release = NULL;
}

/* A list of two lists, its elements as narrow as no INT of the context. */
struct lists {
  int32_t offsets[3];
  int16_t data[3];
  const void *buffers[2], *data_buffers[2];
  struct ArrowArray elements, *children[1];
};

static struct ArrowArray lists_array(struct lists *l) {
  *l = (struct lists){.offsets = {0, 1, 3}, .data = {7, -2, 9}};
  l->buffers[1] = l->offsets;
  l->data_buffers[1] = l->data;
  l->children[0] = &l->elements;
  l->elements = (struct ArrowArray){
      .length = 3, .n_buffers = 2, .buffers = l->data_buffers, .release = memory_release_array};
  return (struct ArrowArray){.length = 2,
                             .n_buffers = 2,
                             .buffers = l->buffers,
                             .n_children = 1,
                             .children = l->children,
                             .release = memory_release_array};
}

static void memory_release_schema(struct ArrowSchema *s) {
  s->release = NULL;
}

static struct ArrowSchema item = {
    .format = "s", .name = "item", .release = memory_release_schema};
static struct ArrowSchema *items[] = {&item};
static struct ArrowSchema lists_schema = {.format = "+l",
                                          .name = "",
                                          .n_children = 1,
                                          .children = items,
                                          .release = memory_release_schema};

static enum ravel_code give_back(struct ravel_context *c, const struct ravel_value *v) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  const enum ravel_code code = ravel_export(c, v, &schema, &array);
  if (code != RAVEL_OK) return code;
  const bool fine = array.length == 2 && strcmp(schema.format, "+L") == 0;
  schema.release(&schema);
  array.release(&array);
  return fine ? RAVEL_OK : RAVEL_INTERNAL;
}

static enum ravel_code use_arrays(struct ravel_context *c) {
  struct lists lists;
  struct ArrowArray array = lists_array(&lists);
  struct ravel_value *v = NULL;
  releases = 0;
  enum ravel_code code = ravel_import(c, &lists_schema, &array, &v);
  AND(code, give_back(c, v));
  ravel_release(v);
  if (array.release || releases != 1) code = RAVEL_INTERNAL;
  return code;
}

/* A stream of two arrays. */
struct stream {
  struct lists lists[2];
  unsigned given;
};

static int memory_get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
  (void)s;
  *out = lists_schema;
  out->release = memory_release_schema;
  return 0;
}

static int memory_get_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
  struct stream *of = s->private_data;
  out->release = NULL;
  if (of->given < 2) *out = lists_array(&of->lists[of->given]);
  of->given++;
  return 0;
}

static const char *memory_get_last_error(struct ArrowArrayStream *s) {
  (void)s;
  return NULL;
}

static void memory_release_stream(struct ArrowArrayStream *s) {
  s->release = NULL;
}

static enum ravel_code use_streams(struct ravel_context *c) {
  struct stream of = {.given = 0};
  struct ArrowArrayStream stream = {.get_schema = memory_get_schema,
                                    .get_next = memory_get_next,
                                    .get_last_error = memory_get_last_error,
                                    .release = memory_release_stream,
                                    .private_data = &of};
  struct ravel_value *v = NULL;
  size_t n = 0;
  releases = 0;
  enum ravel_code code = ravel_import_stream(c, &stream, &v);
  AND(code, ravel_length(c, v, &n));
  if (code == RAVEL_OK && n != 4) code = RAVEL_INTERNAL;
  ravel_release(v);
  const unsigned arrays = of.given < 2 ? of.given : 2;
  if (stream.release || releases != (int)arrays) code = RAVEL_INTERNAL;
  return code;
}

/* ---- results and streams in temporary files ---- */

/* Adds up pairs of an int and a list of ints, each with its position. */
static void add_rows(const struct ArrowArray *a, int64_t *rows, int64_t *sum) {
  const struct ArrowArray *ints = a->children[0], *lists = a->children[1];
  const int64_t *offsets = (const int64_t *)lists->buffers[1] + lists->offset;
  const int64_t *elements = lists->children[0]->buffers[1];
  for (int64_t i = 0; i < a->length; i++, ++*rows) {
    *sum += ((const int64_t *)ints->buffers[1])[ints->offset + i] * (*rows + 1);
    for (int64_t k = offsets[i]; k < offsets[i + 1]; k++) *sum += elements[k] * (100 + k);
  }
}

static enum ravel_code take_all(struct ArrowArrayStream *s, int64_t *rows, int64_t *sum) {
  enum ravel_code code = RAVEL_OK;
  struct ArrowSchema schema;
  struct ArrowArray a;
  *rows = *sum = 0;
  if (s->get_schema(s, &schema) == 0) {
    schema.release(&schema);
  } else {
    code = RAVEL_MEMORY;
  }
  while (code == RAVEL_OK) {
    if (s->get_next(s, &a) != 0) code = RAVEL_MEMORY;
    if (code != RAVEL_OK || !a.release) break;
    add_rows(&a, rows, sum);
    a.release(&a);
  }
  s->release(s);
  return code;
}

/* In chunks of two, which are halved where an allocation fails. If that is one for the lengths,
 * the ints have been written, and come once more. */
static enum ravel_code use_files(struct ravel_context *c) {
  static const char text[] = "function grown(v) : [int] -> [(int, [int])] = {let a = "
                             "plus_scan(index(x)); k = rank(a)\n"
                             "  in (sum(k), permute(a, k)) : x in v};\n";
  enum { WANTED = 5414 }; /* sums up to 0, 1, 2 ..., ranked, which changes nothing */
  const int64_t data[] = {3, 1, 2, 5, 7, 2};
  struct ravel_function *f = NULL;
  struct ravel_value *v = NULL, *result = NULL;
  struct ArrowArrayStream stream;
  int64_t rows = 0, sum = 0;
  enum ravel_code code = ravel_define(c, "memory.nesl", text, 0);
  AND(code, ravel_find(c, "grown", NULL, &f));
  AND(code, ravel_vector(c, RAVEL_INT64, data, 6, &v));
  AND(code, ravel_call(c, f, &v, 1, &result));
  AND(code, ravel_export_stream(c, result, 4, &stream));
  AND(code, take_all(&stream, &rows, &sum));
  if (code == RAVEL_OK && (rows != 6 || sum != WANTED)) code = RAVEL_INTERNAL;
  ravel_release(result);
  ravel_release(v);
  ravel_function_release(f);
  return code;
}

/* ---- programs, failures, costs, text ---- */

static const char fraction[] = "FUNC MAIN I INT O INT\nCONST INT 12\nCOPY 1 1\n"
                               "{@ a.nesl:3:7 part }\n/ INT\nPOP 1 1\nRET\n";

static enum ravel_code said(const struct ravel_context *c, const char *text) {
  if (*text) return RAVEL_OK;
  return strstr(ravel_message(c), "memory") ? RAVEL_MEMORY : RAVEL_INTERNAL;
}

static enum ravel_code use_programs(struct ravel_context *c) {
  struct ravel_value *v = NULL, *zero = NULL, *result = NULL;
  struct ravel_function *f = NULL;
  struct ravel_costs costs;
  int64_t x = 0;
  enum ravel_code code = ravel_program(c, "p.vcode", fraction, 0, NULL, NULL, &f);
  AND(code, ravel_int(c, 4, &v));
  AND(code, ravel_int(c, 0, &zero));
  AND(code, ravel_call(c, f, &v, 1, &result));
  AND(code, ravel_get_int(c, result, &x));
  if (code == RAVEL_OK && x != 3) code = RAVEL_INTERNAL;
  AND(code, said(c, ravel_profile(c)));
  AND(code, ravel_cost(c, f, &v, 1, &costs));
  AND(code, said(c, ravel_explain(c, f)));
  ravel_release(result);
  if (code == RAVEL_OK) {
    code = ravel_call(c, f, &zero, 1, &result);
    if (code == RAVEL_RUNTIME) code = RAVEL_OK;
  }
  ravel_release(v);
  ravel_release(zero);
  ravel_function_release(f);
  return code;
}

static enum ravel_code use_expressions(struct ravel_context *c) {
  struct ravel_value *v = NULL, *result = NULL;
  struct ravel_function *f = NULL;
  struct ravel_costs costs;
  enum ravel_code code = ravel_expression(c, "[2, 1][i] + rand(1)", "i", "int", &f);
  AND(code, ravel_int(c, 1, &v));
  AND(code, ravel_cost(c, f, &v, 1, &costs));
  ravel_release(v);
  v = NULL;
  AND(code, ravel_int(c, 2, &v));
  if (code == RAVEL_OK) {
    code = ravel_call(c, f, &v, 1, &result);
    if (code == RAVEL_RUNTIME) code = RAVEL_OK;
  }
  ravel_release(v);
  ravel_function_release(f);
  return code;
}

/* ---- all of them, each with one failure ---- */

typedef enum ravel_code use(struct ravel_context *);

static enum ravel_code test_memory_begin(struct ravel_context **c) {
  struct ravel_options *options = ravel_options_new();
  if (!options) return RAVEL_MEMORY;
  ravel_options_set(options, "backend", "cpu");
  ravel_options_set(options, "threads", "2");
  ravel_options_set(options, "profile", "yes");
  ravel_options_set(options, "spool", "1"); /* whatever can go to temporary files does */
  ravel_options_set(options, "chunks", "2");
  const enum ravel_code code = ravel_context_new(options, c);
  ravel_options_free(options);
  return code;
}

/* Uses a context; afterwards, whatever failed, it can be used on. */
static enum ravel_code scenario(use *uses) {
  struct ravel_context *c = NULL;
  enum ravel_code code = test_memory_begin(&c);
  if (code == RAVEL_OK) {
    code = uses(c);
    if (code != RAVEL_OK && uses(c) != RAVEL_OK) {
      fprintf(stderr, "still %s", ravel_message(c));
      code = RAVEL_INTERNAL;
    }
  }
  ravel_context_free(c);
  return code;
}

/* One run; the blocks that it leaves are added to *left. False if its code is another one than
 * it may be: a back end may lack its threads, or the process a stream. */
static bool memory_run(use *uses, long number, long *left) {
  const long before = failing_live();
  failing_begin(number);
  const enum ravel_code code = scenario(uses);
  *left = failing_live() - before;
  if (code == RAVEL_OK || code == RAVEL_MEMORY || code == RAVEL_DEVICE) return true;
  fprintf(stderr, "allocation %ld fails: code %d\n", number, (int)code);
  return false;
}

/* False if a run goes wrong, or leaves blocks each time: what the C library frees or keeps once
 * does not count. */
static bool try(use *uses, long number) {
  long left = 0;
  for (int i = 0; i < 3; i++) {
    if (!memory_run(uses, number, &left)) return false;
    if (left == 0) return true;
  }
  fprintf(stderr, "allocation %ld fails: %ld blocks left\n", number, left);
  return false;
}

static unsigned memory_try_all(const char *what, use *uses, long step) {
  unsigned wrong = 0;
  long number = 1, left;
  if (!memory_run(uses, 0, &left)) return 1;
  const long all = failing_asked();
  for (; number <= all; number += step) wrong += !try(uses, number);
  printf("%s: %ld of %ld allocations failed, %u wrongly\n", what, (number - 1) / step, all,
         wrong);
  failing_begin(0);
  return wrong + (all < 30);
}

int main(int argc, char **argv) {
  const long step = argc > 1 ? atol(argv[1]) : (long)every();
  unsigned wrong = memory_try_all("values", use_values, step);
  wrong += memory_try_all("columns", use_columns, step);
  wrong += memory_try_all("arrays", use_arrays, step);
  wrong += memory_try_all("streams", use_streams, step);
  wrong += memory_try_all("files", use_files, step);
  wrong += memory_try_all("programs", use_programs, step);
  wrong += memory_try_all("expressions", use_expressions, step);
  return wrong != 0;
}
