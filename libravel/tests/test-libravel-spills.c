/* test-libravel-spills.c - streams and results in temporary files: the same values as in
 * memory, in little memory; what ends them, and what is left of them.
 */
#include "context.h"
#include "libravel/tests/producer.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

TestSuite(spills);

static struct ravel_context *spills_context_of(const char *width, const char *spill) {
  return context_with(
      (const char *const[]){"int", width, "float", width, "spool", spill, "chunks", "3", NULL});
}

/* Open files, and temporary ones that are mapped. */
static unsigned files(void) {
  unsigned n = 0;
  char line[512];
  DIR *d = opendir("/proc/self/fd");
  while (readdir(d)) n++;
  closedir(d);
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) n += strstr(line, "(deleted)") != NULL;
  fclose(maps);
  return n;
}

/* ---- random streams ---- */

struct arrays {
  const struct shape *shape;
  struct reference *reference;
  uint64_t sizes[4], next, seed;
};

static int shape_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
  producer_schema(((struct arrays *)s->private_data)->shape, out);
  return 0;
}

static int spills_next_array(struct ArrowArrayStream *s, struct ArrowArray *out) {
  struct arrays *of = s->private_data;
  out->release = NULL;
  if (of->next == 4) return 0;
  const uint64_t size = of->sizes[of->next++];
  producer_seed = of->seed + of->next;
  producer_array(of->shape, size, 0, size, of->reference, out);
  return 0;
}

static const char *nothing_said(struct ArrowArrayStream *s) {
  (void)s;
  return NULL;
}

static void end_stream(struct ArrowArrayStream *s) {
  s->release = NULL;
}

static struct ravel_value *import_arrays(struct ravel_context *c, struct arrays *of) {
  struct ArrowArrayStream stream = {.get_schema = shape_schema,
                                    .get_next = spills_next_array,
                                    .get_last_error = nothing_said,
                                    .release = end_stream,
                                    .private_data = of};
  struct ravel_value *v = NULL;
  of->next = 0;
  fine(c, ravel_import_stream(c, &stream, &v));
  cr_assert_null(stream.release);
  return v;
}

/* From one context to another, in arrays of some rows. */
static struct ravel_value *spills_moved(struct ravel_context *from, const struct ravel_value *v,
                                        struct ravel_context *to, size_t rows) {
  struct ArrowArrayStream stream;
  struct ravel_value *w = NULL;
  fine(from, ravel_export_stream(from, v, rows, &stream));
  fine(to, ravel_import_stream(to, &stream, &w));
  return w;
}

static void spills_expect_equal(struct ravel_context *c, struct ravel_value *v,
                                struct ravel_value *w, uint64_t seed) {
  char types[4096];
  struct ravel_function *f = NULL;
  struct ravel_value *both[] = {v, w}, *same = NULL;
  bool equal = false;
  cr_assert_str_eq(ravel_type(v), ravel_type(w));
  snprintf(types, sizeof types, "%s, %s", ravel_type(v), ravel_type(v));
  if (strstr(types, "...")) return;
  fine(c, ravel_expression(c, "eql(a, b)", "a, b", types, &f));
  fine(c, ravel_call(c, f, both, 2, &same));
  fine(c, ravel_get_bool(c, same, &equal));
  cr_expect(equal, "seed %llu: %s", (unsigned long long)seed, ravel_type(v));
  ravel_release(same);
  ravel_function_release(f);
}

/* Compares a stream in memory with the same stream in spills, and takes it out of both. */
static void spills_try_stream(struct ravel_context *plain, struct ravel_context *spilled,
                              uint64_t seed) {
  struct reference *r = calloc(1, sizeof *r);
  producer_seed = seed * 7919 + 5;
  producer_narrow = true;
  struct shape *shape = shape_random(3);
  reference_begin(r, shape);
  struct arrays of = {shape, r, {producer_random(30), 0, producer_random(5), 7}, 0, seed * 31};
  struct ravel_value *v = import_arrays(plain, &of), *w = import_arrays(spilled, &of);
  cr_assert_eq(producer_live, 0, "seed %llu", (unsigned long long)seed);
  struct ravel_value *v2 = spills_moved(plain, v, spilled, 1 + seed % 5);
  struct ravel_value *w2 = spills_moved(spilled, w, spilled, seed % 4);
  struct ravel_value *back = spills_moved(spilled, w, plain, 4);
  spills_expect_equal(spilled, v2, w, seed);
  spills_expect_equal(spilled, v2, w2, seed);
  spills_expect_equal(plain, v, back, seed);
  ravel_release(v);
  ravel_release(w);
  ravel_release(v2);
  ravel_release(w2);
  ravel_release(back);
  reference_free(r);
  free(r);
  shape_free(shape);
}

Test(spills, streams_are_what_they_are_in_memory) {
  for (int narrow = 0; narrow < 2; narrow++) {
    const char *width = narrow ? "32" : "64";
    struct ravel_context *plain = spills_context_of(width, "no"),
                         *spilled = spills_context_of(width, "1");
    const unsigned before = files();
    for (uint64_t seed = 0; seed < 60; seed++) spills_try_stream(plain, spilled, seed);
    cr_expect_eq(files(), before);
    ravel_context_free(plain);
    ravel_context_free(spilled);
  }
}

/* ---- many arrays of [float] in rows of 100 ---- */

enum { ROWS = 1000, ROW = 100, ELEMENTS = ROWS * ROW };

struct rows {
  int arrays, next, released, fail_at, null_at, odd_at;
  struct ravel_context *interrupted;
};

/* One array, which owns its memory. */
struct owned_rows {
  struct rows *of;
  int64_t offsets[ROWS + 1];
  double data[ELEMENTS];
  const void *buffers[2], *data_buffers[2];
  struct ArrowArray elements, *children[1];
};

static void release_rows(struct ArrowArray *a) {
  struct owned_rows *own = a->private_data;
  own->of->released++;
  free(own);
  a->release = NULL;
}

static void release_elements(struct ArrowArray *a) {
  a->release = NULL;
}

static struct ArrowArray spills_make_rows(struct rows *of, int number) {
  struct owned_rows *own = calloc(1, sizeof *own);
  own->of = of;
  for (int i = 0; i <= ROWS; i++) own->offsets[i] = (int64_t)i * ROW;
  for (int i = 0; i < ELEMENTS; i++)
    own->data[i] = (double)((i * 7919 + number * 13) % 10007) / 8;
  if (number == of->odd_at) own->data[77] = 0.1;
  own->buffers[1] = own->offsets;
  own->data_buffers[1] = own->data;
  own->children[0] = &own->elements;
  own->elements = (struct ArrowArray){.length = ELEMENTS,
                                      .null_count = number == of->null_at,
                                      .n_buffers = 2,
                                      .buffers = own->data_buffers,
                                      .release = release_elements};
  return (struct ArrowArray){.length = ROWS,
                             .n_buffers = 2,
                             .buffers = own->buffers,
                             .n_children = 1,
                             .children = own->children,
                             .release = release_rows,
                             .private_data = own};
}

static void keep_schema(struct ArrowSchema *s) {
  (void)s;
}

static int rows_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
  static struct ArrowSchema item = {.format = "g", .name = "item", .release = keep_schema};
  static struct ArrowSchema *items[] = {&item};
  (void)s;
  *out = (struct ArrowSchema){.format = "+L",
                              .name = "rows",
                              .n_children = 1,
                              .children = items,
                              .release = keep_schema};
  return 0;
}

static int next_rows(struct ArrowArrayStream *s, struct ArrowArray *out) {
  struct rows *of = s->private_data;
  const int number = of->next++;
  out->release = NULL;
  if (number == of->fail_at) return EIO;
  if (number == of->arrays / 2 && of->interrupted) ravel_interrupt(of->interrupted);
  if (number < of->arrays) *out = spills_make_rows(of, number);
  return 0;
}

static struct rows rows_of(int arrays) {
  return (struct rows){.arrays = arrays, .fail_at = -1, .null_at = -1, .odd_at = -1};
}

static enum ravel_code import_rows(struct ravel_context *c, struct rows *of,
                                   struct ravel_value **v) {
  struct ArrowArrayStream stream = {.get_schema = rows_schema,
                                    .get_next = next_rows,
                                    .get_last_error = nothing_said,
                                    .release = end_stream,
                                    .private_data = of};
  of->next = of->released = 0;
  const enum ravel_code code = ravel_import_stream(c, &stream, v);
  cr_assert_null(stream.release);
  return code;
}

static const char permuted[] = "function permuted(m) : [[float]] -> ([float], [[float]]) =\n"
                               "  let all = {let s = plus_scan(r); k = rank(s)\n"
                               "             in (sum(s), permute(r, k)) : r in m}\n"
                               "  in ({a : (a, b) in all}, {b : (a, b) in all});\n";

static struct ravel_value *spills_call(struct ravel_context *c, const char *name,
                                       struct ravel_value *v) {
  struct ravel_function *f = NULL;
  struct ravel_value *result = NULL;
  fine(c, ravel_find(c, name, NULL, &f));
  fine(c, ravel_call(c, f, &v, 1, &result));
  ravel_function_release(f);
  return result;
}

static struct ravel_value *component(struct ravel_context *c, struct ravel_value *v, size_t i) {
  struct ravel_value *part = NULL;
  fine(c, ravel_component(c, v, i, &part));
  return part;
}

static uint64_t peak(struct ravel_context *c) {
  struct ravel_statistics s;
  ravel_get_statistics(c, &s);
  return s.peak_bytes;
}

/* Reads a result of rows by a stream, whose arrays are small, beside one in memory. */
static void spills_expect_rows(struct ArrowArrayStream *stream, const double *wanted,
                               int64_t rows) {
  struct ArrowArray a;
  int64_t at = 0;
  unsigned arrays = 0;
  for (;; arrays++) {
    cr_assert_eq(stream->get_next(stream, &a), 0);
    if (!a.release) break;
    const int64_t *offsets = (const int64_t *)a.buffers[1] + a.offset;
    const double *data = a.children[0]->buffers[1];
    cr_assert_lt(a.length, rows);
    cr_assert_eq(offsets[0], at * ROW);
    cr_assert_arr_eq(data + offsets[0], wanted + at * ROW,
                     (size_t)a.length * ROW * sizeof *data);
    at += a.length;
    a.release(&a);
  }
  cr_expect_eq(at, rows);
  cr_expect_gt(arrays, 1);
}

/* All elements of a sequence of sequences. */
static void spills_copy_elements(struct ravel_context *c, struct ravel_value *rows, size_t n,
                                 double *to) {
  struct ravel_value *all = component(c, rows, 0);
  fine(c, ravel_copy(c, all, RAVEL_FLOAT64, 0, n, to));
  ravel_release(all);
}

/* 24 MB and what becomes of them, in 8 MB: a spill each. */
Test(spills, more_than_memory_in_and_out) {
  enum { ARRAYS = 30, MANY = ARRAYS * ROWS };
  struct ravel_context *large = context_with((const char *const[]){"spool", "no", NULL});
  struct ravel_context *c = context_with((const char *const[]){"memory", "8M", NULL});
  struct rows of = rows_of(ARRAYS);
  struct ravel_value *v[2] = {NULL};
  static double given[MANY * ROW], wanted[MANY * ROW], sums[2][MANY];
  const unsigned before = files();
  fine(large, ravel_define(large, "p.nesl", permuted, 0));
  fine(c, ravel_define(c, "p.nesl", permuted, 0));
  fine(large, import_rows(large, &of, &v[0]));
  cr_expect_eq(of.released, ARRAYS);
  fine(c, import_rows(c, &of, &v[1]));
  cr_expect_eq(of.released, ARRAYS);
  struct ravel_value *r = spills_call(large, "permuted", v[0]),
                     *s = spills_call(c, "permuted", v[1]);
  cr_expect_lt(peak(c), 8 << 20);
  spills_copy_elements(large, v[0], MANY * ROW, given);
  spills_copy_elements(large, component(large, r, 1), MANY * ROW, wanted);
  fine(large, ravel_copy(large, component(large, r, 0), RAVEL_FLOAT64, 0, MANY, sums[0]));
  fine(c, ravel_copy(c, component(c, s, 0), RAVEL_FLOAT64, 0, MANY, sums[1]));
  cr_expect_arr_eq(sums[0], sums[1], sizeof sums[0]);
  struct ArrowArrayStream streams[2];
  fine(c, ravel_export_stream(c, v[1], 0, &streams[0]));
  fine(c, ravel_export_stream(c, component(c, s, 1), 0, &streams[1]));
  ravel_context_free(large);
  ravel_context_free(c);
  spills_expect_rows(&streams[0], given, MANY);
  spills_expect_rows(&streams[1], wanted, MANY);
  for (int i = 0; i < 2; i++) streams[i].release(&streams[i]);
  cr_expect_leq(files(), before);
}

Test(spills, a_single_array_stays_where_it_is) {
  struct ravel_context *c = spills_context_of("64", "1");
  struct rows of = rows_of(1);
  struct ravel_value *v = NULL;
  fine(c, import_rows(c, &of, &v));
  cr_expect_eq(of.released, 0);
  ravel_release(v);
  cr_expect_eq(of.released, 1);
  ravel_context_free(c);
}

/* ---- what ends a stream ---- */

Test(spills, streams_that_fail_leave_nothing) {
  struct ravel_context *c = spills_context_of("64", "100K");
  struct ravel_value *v = NULL;
  const unsigned before = files();
  struct rows of = rows_of(8);
  of.fail_at = 5;
  fails(c, RAVEL_DATA, strerror(EIO), import_rows(c, &of, &v));
  cr_expect_eq(of.released, 5);
  of = rows_of(8);
  of.null_at = 6;
  fails(c, RAVEL_DATA, "rows[]: 1 nulls, and no bitmap", import_rows(c, &of, &v));
  cr_expect_eq(of.released, 7);
  of = rows_of(8);
  of.interrupted = c;
  fails(c, RAVEL_INTERRUPTED, "interrupted", import_rows(c, &of, &v));
  cr_expect_eq(of.released, 5);
  cr_expect_null(v);
  cr_expect_eq(files(), before);
  of = rows_of(8);
  fine(c, import_rows(c, &of, &v));
  ravel_context_free(c);
}

/* Among all elements of the stream, of which others are in files already. */
Test(spills, a_value_that_is_lost_is_named_by_its_position) {
  struct ravel_context *c =
      context_with((const char *const[]){"float", "32", "spool", "1", NULL});
  struct ravel_value *v = NULL;
  struct rows of = rows_of(5); /* eighths of up to 10007 are floats of 32 bits */
  fine(c, import_rows(c, &of, &v));
  of.odd_at = 3;
  fails(c, RAVEL_DATA, "rows[]: 0.10000000000000001 at position 300077",
        import_rows(c, &of, &v));
  cr_expect_eq(of.released, 4);
  ravel_context_free(c);
}

static void limit_files(rlim_t bytes) {
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_FSIZE, &limit);
}

/* A write beyond the limit would be a signal, which nobody ignores here. */
Test(spills, full_disks_are_no_room_for_memory) {
  struct ravel_context *c = context_with((const char *const[]){"memory", "30M", NULL});
  struct ravel_value *v = NULL, *result = NULL;
  struct ravel_function *f = NULL;
  struct rows of = rows_of(60);
  const unsigned before = files();
  fine(c, ravel_define(c, "p.nesl", permuted, 0));
  limit_files(20 << 20);
  fails(c, RAVEL_MEMORY, "the stream does not fit in memory, and a temporary file in",
        import_rows(c, &of, &v));
  cr_expect(strstr(ravel_message(c), "no file may have more than 20971520"));
  cr_expect_lt(of.released, 60);
  cr_expect_eq(of.next, of.released);
  cr_expect_eq(files(), before);
  limit_files(RLIM_INFINITY);
  fine(c, import_rows(c, &of, &v));
  limit_files(20 << 20);
  fine(c, ravel_find(c, "permuted", NULL, &f));
  fails(c, RAVEL_MEMORY, "the result does not fit in memory, and a temporary file in",
        ravel_call(c, f, &v, 1, &result));
  limit_files(RLIM_INFINITY);
  fine(c, ravel_call(c, f, &v, 1, &result));
  ravel_context_free(c);
  cr_expect_leq(files(), before);
}

Test(spills, wrong_folders_are_said) {
  struct ravel_context *c = spills_context_of("64", "100K");
  struct ravel_value *v = NULL;
  struct rows of = rows_of(8);
  setenv("TMPDIR", "/nowhere/at/all", 1);
  fails(c, RAVEL_MEMORY, "in /nowhere/at/all: No such file", import_rows(c, &of, &v));
  unsetenv("TMPDIR");
  ravel_context_free(c);
}

/* ---- results ---- */

static const char growing[] =
    "function grown(v) : [int] -> [[int]] = {let a = plus_scan(index(x)); k = rank(a) in "
    "permute(a, k) : x in v};\n"
    "function twice(v) : [int] -> ([[int]], [[int]]) = let w = grown(v) in (w, w);\n"
    "function failing(v) : [int] -> [[int]] = {let a = plus_scan(index(x)); k = rank(a) in "
    "permute(a, {i + 1 : i in k}) : x in v};\n";

static struct ravel_value *spills_lengths(struct ravel_context *c, int64_t each, size_t n) {
  int64_t *all = malloc(n * sizeof *all);
  struct ravel_value *v = NULL;
  for (size_t i = 0; i < n; i++) all[i] = each + (int64_t)(i % 3);
  fine(c, ravel_vector(c, RAVEL_INT64, all, n, &v));
  free(all);
  return v;
}

/* Nothing says before that the result is large: the call is executed once more. */
Test(spills, results_that_grow_are_spilled_after_all) {
  struct ravel_context *c = context_with((const char *const[]){"memory", "16M", NULL});
  struct ravel_context *no =
      context_with((const char *const[]){"memory", "16M", "spool", "no", NULL});
  struct ravel_context *with_files =
      context_with((const char *const[]){"memory", "16M", "files", "yes", NULL});
  struct ravel_value *result = NULL, *v = NULL;
  struct ravel_function *f = NULL;
  struct ravel_context *all[] = {c, no, with_files};
  for (int i = 0; i < 3; i++) {
    fine(all[i], ravel_define(all[i], "g.nesl", growing, 0));
    fine(all[i], ravel_find(all[i], "grown", NULL, &f));
    v = spills_lengths(all[i], 1000, 4000);
    if (i == 0) {
      fine(c, ravel_call(c, f, &v, 1, &result));
    } else {
      fails(all[i], RAVEL_MEMORY, "memory", ravel_call(all[i], f, &v, 1, &result));
    }
  }
  ravel_context_free(no);
  ravel_context_free(with_files);
  ravel_context_free(c);
}

/* Superoperators at the end, of all types; too large only where `spill` is not set. */
Test(spills, elements_are_spilled_where_that_is_wanted) {
  static const char text[] =
      "function both(m) : [[float]] -> ([[float]], [bool]) =\n"
      "  ({{x * 2.0 : x in r} : r in m}, {x > 600.0 : x in flatten(m)});\n";
  for (int i = 0; i < 2; i++) {
    struct ravel_context *c =
        context_with((const char *const[]){"memory", "8M", "spool", i ? "500K" : "0", NULL});
    struct ravel_value *v = NULL, *result = NULL;
    struct ravel_function *f = NULL;
    struct rows of = rows_of(20);
    double x[2] = {0};
    bool large[2] = {false};
    fine(c, ravel_define(c, "b.nesl", text, 0));
    fine(c, import_rows(c, &of, &v));
    fine(c, ravel_find(c, "both", NULL, &f));
    if (i == 0) {
      fails(c, RAVEL_MEMORY, "out of memory", ravel_call(c, f, &v, 1, &result));
    } else {
      fine(c, ravel_call(c, f, &v, 1, &result));
      struct ravel_value *rows = component(c, result, 0);
      fine(c, ravel_copy(c, component(c, rows, 0), RAVEL_FLOAT64, 100001, 2, x));
      fine(c, ravel_copy(c, component(c, result, 1), RAVEL_BOOL8, 100002, 2, large));
      cr_expect_eq(x[0], (7919 + 13) % 10007 / 4.0); /* element 1 of array 1 */
      cr_expect_eq(x[1], (2 * 7919 + 13) % 10007 / 4.0);
      cr_expect_eq(large[0], x[1] > 1200);
      cr_expect_lt(peak(c), 8 << 20);
    }
    ravel_context_free(c);
  }
}

/* Columns that are shared, components, arguments of other calls, exports of all kinds. */
Test(spills, results_on_files_are_values_as_others) {
  struct ravel_context *c = spills_context_of("64", "1"),
                       *plain = spills_context_of("64", "no");
  const unsigned before = files();
  struct ravel_value *both[2];
  for (int i = 0; i < 2; i++) {
    struct ravel_context *of = i ? plain : c;
    fine(of, ravel_define(of, "g.nesl", growing, 0));
    struct ravel_value *v = spills_lengths(of, 5, 1000), *pair = spills_call(of, "twice", v);
    struct ravel_value *rows = component(of, pair, 1), *grown = spills_call(of, "grown", v);
    ravel_release(v);
    ravel_release(pair);
    spills_expect_equal(of, rows, grown, 0);
    ravel_release(grown);
    both[i] = rows;
  }
  struct ravel_value *same = spills_moved(plain, both[1], c, 100);
  spills_expect_equal(c, both[0], same, 0);
  struct ArrowSchema schema;
  struct ArrowArray array;
  fine(c, ravel_export(c, both[0], &schema, &array));
  ravel_context_free(c);
  ravel_context_free(plain);
  const int64_t *offsets = array.buffers[1], *data = array.children[0]->buffers[1];
  cr_expect_eq(offsets[1000], 5999);
  cr_expect_eq(data[offsets[2] - 1], 10); /* 0, 0, 1, 3, 6, 10 */
  schema.release(&schema);
  array.release(&array);
  cr_expect_leq(files(), before);
}

Test(spills, failing_calls_leave_no_files) {
  struct ravel_context *c = spills_context_of("64", "1");
  struct ravel_value *result = NULL, *v = NULL;
  struct ravel_function *f = NULL;
  fine(c, ravel_define(c, "g.nesl", growing, 0));
  fine(c, ravel_find(c, "failing", NULL, &f));
  v = spills_lengths(c, 5, 1000);
  const unsigned before = files();
  fails(c, RAVEL_RUNTIME, "", ravel_call(c, f, &v, 1, &result));
  cr_expect_eq(files(), before);
  ravel_context_free(c);
}

/* ---- streams out ---- */

static void *consume(void *stream) {
  struct ArrowArrayStream *s = stream;
  struct ArrowArray a, moved_child;
  struct ArrowSchema schema;
  int64_t rows = 0;
  cr_assert_eq(s->get_schema(s, &schema), 0);
  cr_assert_str_eq(schema.format, "+L");
  schema.release(&schema);
  for (;;) {
    cr_assert_eq(s->get_next(s, &a), 0);
    if (!a.release) break;
    rows += a.length;
    moved_child = *a.children[0];
    a.children[0]->release = NULL;
    a.release(&a);
    cr_assert_eq(((const int64_t *)moved_child.buffers[1])[0], 0);
    moved_child.release(&moved_child);
  }
  s->release(s);
  return (void *)(intptr_t)rows;
}

Test(spills, streams_may_be_read_by_any_thread) {
  enum { STREAMS = 4 };
  struct ravel_context *c = spills_context_of("64", "1");
  struct ArrowArrayStream streams[STREAMS];
  pthread_t threads[STREAMS];
  fine(c, ravel_define(c, "g.nesl", growing, 0));
  struct ravel_value *rows = spills_call(c, "grown", spills_lengths(c, 5, 1000));
  for (int i = 0; i < STREAMS; i++) fine(c, ravel_export_stream(c, rows, 7, &streams[i]));
  for (int i = 0; i < STREAMS; i++) pthread_create(&threads[i], NULL, consume, &streams[i]);
  ravel_context_free(c);
  for (int i = 0; i < STREAMS; i++) {
    void *read = NULL;
    pthread_join(threads[i], &read);
    cr_expect_eq((intptr_t)read, 1000);
    cr_expect_null(streams[i].release);
  }
}

Test(spills, what_is_no_sequence_is_no_stream) {
  struct ravel_context *c = spills_context_of("64", "1");
  struct ravel_value *v = NULL, *none = NULL;
  struct ArrowArrayStream stream;
  struct ArrowArray a;
  fine(c, ravel_int(c, 3, &v));
  fails(c, RAVEL_DATA, "only a sequence", ravel_export_stream(c, v, 0, &stream));
  fails(c, RAVEL_MISUSE, "NULL", ravel_export_stream(c, v, 0, NULL));
  fine(c, ravel_vector(c, RAVEL_FLOAT64, NULL, 0, &none));
  fine(c, ravel_export_stream(c, none, 0, &stream));
  cr_assert_eq(stream.get_next(&stream, &a), 0);
  cr_assert_not_null(a.release);
  cr_expect_eq(a.length, 0);
  a.release(&a);
  cr_assert_eq(stream.get_next(&stream, &a), 0);
  cr_expect_null(a.release);
  stream.release(&stream);
  ravel_context_free(c);
}
