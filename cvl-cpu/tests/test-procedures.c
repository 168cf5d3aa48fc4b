/* test-procedures.c - batch calls by native code that is written by hand (native-text.h), with
 * one, two and three threads: results of all kinds, code that gives up, deep calls, requests to
 * end, and memory that runs out at any allocation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/tests/every.h"
#include "base/tests/memory.h"
#include "cvl-cpu/cpu.h"
#include "cvl-cpu/cvl-cpu.h"
#include "cvl-cpu/tests/native-text.h"
#include "fused-kernels/emit.h"

static const struct cvl_backend *const cpu = &cvl_cpu_backend;
static char directory[40];

static void procedures_begin(void) {
  memory_begin();
  strcpy(directory, "/tmp/ravel-procedures-XXXXXX");
  cr_assert_not_null(mkdtemp(directory));
}

static void procedures_end(void) {
  char command[100];
  unsetenv("RAVEL_CC");
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
  memory_end();
}

TestSuite(procedures, .init = procedures_begin, .fini = procedures_end);

NATIVE_OF_ROWS(of_sum, "sum", native_kinds_int, native_sizes_int);
NATIVE_OF_ROWS(of_unlucky, "unlucky", native_kinds_int, native_sizes_int);
NATIVE_OF_ROWS(of_depth, "depth", native_kinds_int, native_sizes_int);
NATIVE_OF_ROWS(of_forever, "forever", native_kinds_int, native_sizes_int);
NATIVE_OF_ROWS(of_none, "none", native_kinds_int, native_sizes_int);
NATIVE_OF_ROWS(of_evens, "evens", native_kinds_row, native_sizes_row);
NATIVE_OF_ROWS(of_given, "given", native_kinds_int, native_sizes_int);
static const struct cvl_procedure of_shared = {
    "shared",         2,   2, native_kinds_row, native_kinds_row, native_sizes_row,
    native_sizes_row, true};

/* ---- a context with the code ---- */

struct made {
  struct cvl_context *c;
  struct cvl_procedure_code *code;
};

/* The text of all procedures, and what is to follow. */
static char *made_text(struct arena *a, const char *more) {
  const char *const parts[] = {native_rows, native_others, native_shared, more};
  char *text = arena_alloc(a, sizeof native_prelude + sizeof native_rows +
                                  sizeof native_others + sizeof native_shared + strlen(more));
  strcpy(text, native_prelude);
  for (int i = 0; i < 4; i++) strcat(text, parts[i]);
  return text;
}

static struct cvl_procedure_code *made_code(struct cvl_context *c, const char *more) {
  struct arena a;
  arena_init(&a, &heap);
  const char *text = made_text(&a, more);
  bool owed;
  struct cvl_procedure_code *code = cpu->procedures->prepare(c, text, strlen(text), &owed);
  arena_free(&a);
  return code;
}

static struct cvl_context *made_context(struct cvl_options o) {
  const char *why;
  o.int_elem = CVL_I64, o.float_elem = CVL_F64;
  struct cvl_context *c = cpu->open(&o, &why);
  cr_assert_not_null(c, "%s", why);
  return c;
}

static struct made made_with(struct cvl_options o) {
  struct made m;
  o.compile = CVL_COMPILE_ALL, o.compile_directory = directory;
  m.c = made_context(o);
  m.code = made_code(m.c, "");
  cr_assert_not_null(m.code);
  cr_assert(cpu->procedures->ready(m.c, m.code, CVL_PROCEDURES_WAIT));
  return m;
}

static struct made made_threads(unsigned threads) {
  return made_with((struct cvl_options){.threads = threads});
}

static void made_close(struct made *m) {
  cr_expect_eq(cpu->statistics(m->c).live_bytes, 0);
  cpu->procedures->discard(m->c, m->code, 0);
  cpu->close(m->c);
}

/* ---- rows ---- */

enum { MOST_ROWS = 20000 };

struct rows {
  uint64_t count, total;
  int64_t lengths[MOST_ROWS], *elements;
  struct cvl_value operands[2];
};
static struct rows rows;

static void rows_upload(struct cvl_context *c) {
  cr_assert(cpu->segdes_from_host(c, 1, rows.count, rows.lengths, &rows.operands[0]));
  cr_assert(cpu->from_host(c, 1, CVL_I64, rows.total, rows.elements, &rows.operands[1]));
}

/* Rows of 0 .. most elements; `equal`: of so many. */
static void rows_make(struct cvl_context *c, uint64_t count, int64_t most, bool equal) {
  rows.count = count;
  rows.total = 0;
  uint64_t random = 88172645463325252; /* xorshift (Marsaglia) */
  for (uint64_t k = 0; k < count; k++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    rows.lengths[k] = equal ? most : (int64_t)(random % (uint64_t)(most + 1));
    rows.total += (uint64_t)rows.lengths[k];
  }
  rows.elements = malloc((rows.total + 1) * sizeof *rows.elements);
  for (uint64_t k = 0; k < rows.total; k++) rows.elements[k] = (int64_t)(k * k % 1009) + 14;
  rows_upload(c);
}

static void rows_drop(struct cvl_context *c) {
  for (int k = 0; k < 2; k++) cpu->release(c, &rows.operands[k]);
  free(rows.elements);
}

static const struct cvl_procedure_time a_second = {.expected = 1};

static bool rows_run(const struct made *m, const struct cvl_procedure *p,
                     struct cvl_value *results, bool *done) {
  return cpu->procedures->run(m->c, 7, m->code, p, a_second, rows.count, rows.operands, results,
                              done);
}

static bool rows_done(const struct made *m, const struct cvl_procedure *p,
                      struct cvl_value *results) {
  bool done = false;
  cr_assert(rows_run(m, p, results, &done));
  struct cvl_error e;
  cr_expect_not(cpu->check(m->c, true, &e));
  return done;
}

static void expect_ints(struct cvl_context *c, const struct cvl_value *v, const int64_t *wanted,
                        uint64_t n) {
  int64_t *got = malloc((n + 1) * sizeof *got);
  const bool segdes = v->form == CVL_SEGDES || v->form == CVL_ONE_SEGMENT;
  cr_assert_eq(segdes ? cpu->count(c, v).bound : cpu->length(c, v).bound, n);
  cr_assert(cpu->to_host(c, v, 0, n, got));
  cr_expect_arr_eq(got, wanted, n * sizeof *got);
  free(got);
  cpu->release(c, v);
}

static void expect_sums(const struct made *m, const struct cvl_value *v) {
  static int64_t wanted[MOST_ROWS];
  const int64_t *x = rows.elements;
  for (uint64_t k = 0; k < rows.count; k++) {
    wanted[k] = 0;
    for (int64_t i = 0; i < rows.lengths[k]; i++) wanted[k] += *x++;
  }
  expect_ints(m->c, v, wanted, rows.count);
}

static void expect_evens(const struct made *m, const struct cvl_value results[2]) {
  static int64_t wanted[MOST_ROWS];
  int64_t *kept = malloc((rows.total + 1) * sizeof *kept);
  const int64_t *x = rows.elements;
  uint64_t n = 0;
  for (uint64_t k = 0; k < rows.count; k++) {
    const uint64_t before = n;
    for (int64_t i = 0; i < rows.lengths[k]; i++, x++) {
      if (*x % 2 == 0) kept[n++] = *x;
    }
    wanted[k] = (int64_t)(n - before);
  }
  expect_ints(m->c, &results[0], wanted, rows.count);
  expect_ints(m->c, &results[1], kept, n);
  free(kept);
}

/* Shapes that are executed in one range and in many: short rows, equal ones, empty ones, a
 * single row, one long row. */
static const struct shape {
  uint64_t count;
  int64_t most;
  bool equal;
} shapes[] = {{1, 5, true},    {1, 0, true},       {2, 3, false},       {100, 8, false},
              {500, 0, true},  {20000, 12, false}, {20000, 7, true},    {3, 50000, true},
              {1, 9000, true}, {300, 1000, false}, {20000, 150, false}, {7, 1, false}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

Test(procedures, rows_of_all_shapes_on_any_number_of_threads) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    struct made m = made_threads(threads);
    for (int s = 0; s < SHAPES; s++) {
      struct cvl_value results[2];
      rows_make(m.c, shapes[s].count, shapes[s].most, shapes[s].equal);
      for (int again = 0; again < 2; again++) {
        cr_assert(rows_done(&m, &of_sum, results));
        expect_sums(&m, &results[0]);
        cr_assert(rows_done(&m, &of_evens, results));
        expect_evens(&m, results);
      }
      rows_drop(m.c);
    }
    made_close(&m);
  }
}

/* Makes a library with the code, as neslc --kernels does. */
static void make_ahead(const char *file) {
  char path[100], prefix[FUSED_NAME_MAX], command[400];
  struct arena a;
  arena_init(&a, &heap);
  const char *text = made_text(&a, "");
  fused_functions_prefix(text, strlen(text), prefix);
  snprintf(path, sizeof path, "%s/ahead.c", directory);
  FILE *f = fopen(path, "w");
  cr_assert(f);
  fprintf(f,
          "const char " FUSED_VERSION_SYMBOL "[] = \"" FUSED_VERSION "\";\n"
          "const char " FUSED_NEEDS_SYMBOL "[] = \"\", %s[] = \"\";\n"
          "#define RAVEL_ENTRY(name) %s##name\n%s",
          prefix, prefix, text);
  fclose(f);
  arena_free(&a);
  snprintf(command, sizeof command, "cc -shared -fPIC -w -o %s %s", file, path);
  cr_assert_eq(system(command), 0);
}

/* Nothing is compiled: only the text that the library was made of has code. */
Test(procedures, code_that_was_compiled_ahead_of_time) {
  char file[100];
  snprintf(file, sizeof file, "%s/ahead.so", directory);
  make_ahead(file);
  struct made m = {made_context((struct cvl_options){.threads = 2, .kernels = file}), NULL};
  struct cvl_value results[2];
  cr_expect_null(made_code(m.c, "int another;\n"));
  m.code = made_code(m.c, "");
  cr_assert_not_null(m.code);
  cr_assert(cpu->procedures->ready(m.c, m.code, CVL_PROCEDURES_LOOK));
  rows_make(m.c, 20000, 12, false);
  cr_assert(rows_done(&m, &of_evens, results));
  expect_evens(&m, results);
  rows_drop(m.c);
  made_close(&m);
}

Test(procedures, a_sub_context_executes_the_code_of_its_parent) {
  struct made m = made_threads(2);
  struct cvl_value results[2];
  struct made sub = {cpu->open_sub(m.c), m.code};
  cr_assert_not_null(sub.c);
  rows_make(sub.c, 20000, 12, false);
  cr_assert(rows_done(&sub, &of_evens, results));
  expect_evens(&sub, results);
  rows_drop(sub.c);
  cpu->close(sub.c);
  made_close(&m);
}

struct asker {
  struct timespec from;
  bool set;
};

static bool asks_after_a_while(void *with) {
  const struct asker *a = with;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return a->set && (double)(now.tv_sec - a->from.tv_sec) +
                           1e-9 * (double)(now.tv_nsec - a->from.tv_nsec) >
                       0.05;
}

struct other {
  pthread_t thread;
  struct made made;
  bool good;
};

/* Sums the rows in a sub-context, several times. */
static void *other_main(void *arg) {
  struct other *o = arg;
  struct cvl_context *c = o->made.c;
  struct cvl_value v[2], out, sum, all = cvl_one_segment(rows.count);
  o->good = cpu->segdes_from_host(c, 1, rows.count, rows.lengths, &v[0]) &&
            cpu->from_host(c, 1, CVL_I64, rows.total, rows.elements, &v[1]);
  for (int k = 0; k < 20 && o->good; k++) {
    bool done = false;
    int64_t x = 0;
    cpu->procedures->run(c, 7, o->made.code, &of_sum, a_second, rows.count, v, &out, &done);
    o->good = done && cpu->apply(c, 8, &CVL_CALL(CALL_REDUCE, OP_ADD, out, all), &sum);
    if (o->good) x = cvl_int_of(&sum);
    for (uint64_t i = 0; i < rows.total; i++) x -= rows.elements[i];
    o->good = o->good && x == 0;
    cpu->release(c, &out);
  }
  cpu->release(c, &v[0]);
  cpu->release(c, &v[1]);
  return NULL;
}

Test(procedures, sub_contexts_execute_code_at_the_same_time) {
  struct asker asker = {0};
  struct made m =
      made_with((struct cvl_options){.threads = 2, .stop = {asks_after_a_while, &asker}});
  struct other others[3];
  rows_make(m.c, 20000, 12, false);
  for (int k = 0; k < 3; k++) {
    others[k].made = (struct made){cpu->open_sub(m.c), m.code};
    cr_assert_not_null(others[k].made.c);
    pthread_create(&others[k].thread, NULL, other_main, &others[k]);
  }
  for (int k = 0; k < 3; k++) {
    pthread_join(others[k].thread, NULL);
    cr_expect(others[k].good);
    cpu->close(others[k].made.c);
  }
  rows_drop(m.c);
  made_close(&m);
}

/* ---- long texts ---- */

/* A compiler that does not end the whole optimisation before the file `go` is there. A code
 * knows which of the two it is: `soon` gives each row 1 where it is that for the meantime. */
static const char slow_compiler[] = "#!/bin/sh\n"
                                    "case \" $* \" in\n"
                                    "*' -O1 '*) exec cc -DSOON=1 \"$@\" ;;\n"
                                    "esac\n"
                                    "while [ ! -e %s/go ]; do sleep 0.01; done\n"
                                    "exec cc -DSOON=0 \"$@\"\n";
NATIVE_OF_ROWS(of_soon, "soon", native_kinds_int, native_sizes_int);

static void write_compiler(void) {
  char path[60];
  snprintf(path, sizeof path, "%s/cc", directory);
  FILE *f = fopen(path, "w");
  cr_assert_not_null(f);
  fprintf(f, slow_compiler, directory);
  cr_assert(fclose(f) == 0 && chmod(path, 0700) == 0);
  cr_assert_eq(setenv("RAVEL_CC", path, 1), 0);
}

/* The entry `soon`, behind so many bytes. */
static char *text_of_length(struct arena *a, size_t bytes) {
  static const char entry[] = "\nENTRY(soon) { return put_int(t, &r[0], SOON); }\n";
  char *more = arena_alloc(a, bytes + sizeof entry);
  memset(more, ' ', bytes);
  strcpy(more + bytes, entry);
  return more;
}

static struct made made_of_length(size_t bytes) {
  struct arena a;
  arena_init(&a, &heap);
  struct made m = {made_context((struct cvl_options){.threads = 2,
                                                     .compile = CVL_COMPILE_WHEN_IT_PAYS,
                                                     .compile_directory = directory}),
                   NULL};
  m.code = made_code(m.c, text_of_length(&a, bytes));
  cr_assert_not_null(m.code);
  arena_free(&a);
  return m;
}

static void await_code(const struct made *m) {
  while (!cpu->procedures->ready(m->c, m->code, CVL_PROCEDURES_COMPILE))
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Executes a row; returns whether by the code for the meantime. */
static bool runs_soon(const struct made *m) {
  struct cvl_value result;
  int64_t got = -1;
  rows_make(m->c, 1, 3, true);
  cr_assert(rows_done(m, &of_soon, &result));
  cr_assert(cpu->to_host(m->c, &result, 0, 1, &got));
  cpu->release(m->c, &result);
  rows_drop(m->c);
  return got == 1;
}

static void let_compiler_go(void) {
  char path[60];
  snprintf(path, sizeof path, "%s/go", directory);
  FILE *f = fopen(path, "w");
  cr_assert_not_null(f);
  fclose(f);
}

Test(procedures, a_long_text_has_code_soon_and_then_better_one, .timeout = 60) {
  write_compiler();
  struct made m = made_of_length(200 << 10);
  cr_expect_not(cpu->procedures->ready(m.c, m.code, CVL_PROCEDURES_LOOK));
  await_code(&m);
  cr_expect(runs_soon(&m));
  cr_expect(cpu->procedures->ready(m.c, m.code, CVL_PROCEDURES_LOOK));
  let_compiler_go();
  while (runs_soon(&m)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  cr_expect_not(runs_soon(&m), "it stays");
  made_close(&m);
  m = made_of_length(200 << 10);
  cr_expect(cpu->procedures->ready(m.c, m.code, CVL_PROCEDURES_LOOK), "it was kept");
  cr_expect_not(runs_soon(&m));
  made_close(&m);
}

/* Another process may end before the better code is there: the next one begins with the other.
 */
Test(procedures, code_for_the_meantime_is_kept, .timeout = 60) {
  write_compiler();
  for (int k = 0; k < 2; k++) {
    struct made m = made_of_length(200 << 10);
    cr_expect_eq(cpu->procedures->ready(m.c, m.code, CVL_PROCEDURES_LOOK), k == 1);
    await_code(&m);
    cr_expect(runs_soon(&m));
    made_close(&m);
  }
}

Test(procedures, a_short_text_and_who_waits_have_the_better_code_at_once, .timeout = 60) {
  write_compiler();
  let_compiler_go();
  struct made m = made_of_length(0);
  await_code(&m);
  cr_expect_not(runs_soon(&m));
  made_close(&m);
  m = made_of_length(201 << 10);
  cr_expect(cpu->procedures->ready(m.c, m.code, CVL_PROCEDURES_WAIT));
  cr_expect_not(runs_soon(&m));
  made_close(&m);
}

/* ---- code that gives up ---- */

Test(procedures, code_that_gives_up_has_done_nothing) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    struct made m = made_threads(threads);
    struct cvl_value results[2];
    rows_make(m.c, 20000, 12, false);
    cr_expect(rows_done(&m, &of_unlucky, results));
    expect_ints(m.c, &results[0], rows.lengths, rows.count);
    rows.elements[rows.total - 5] = 13;
    cpu->release(m.c, &rows.operands[0]);
    cpu->release(m.c, &rows.operands[1]);
    rows_upload(m.c);
    for (int again = 0; again < 2; again++) cr_expect_not(rows_done(&m, &of_unlucky, results));
    cr_assert(rows_done(&m, &of_sum, results));
    expect_sums(&m, &results[0]);
    cr_expect_not(rows_done(&m, &of_none, results), "there is no such entry");
    rows_drop(m.c);
    made_close(&m);
  }
}

/* ---- work of one instance that threads share ---- */

/* Returns how many parts have been given away so far. */
static int64_t parts_given(const struct made *m) {
  struct cvl_value result;
  int64_t given;
  cr_assert(rows_done(m, &of_given, &result));
  cr_assert(cpu->to_host(m->c, &result, 0, 1, &given));
  cpu->release(m->c, &result);
  return given;
}

static void expect_shared(const struct made *m) {
  struct cvl_value results[2];
  cr_assert(rows_done(m, &of_shared, results));
  expect_evens(m, results);
}

Test(procedures, threads_share_the_work_of_an_instance) {
  for (unsigned threads = 1; threads <= 4; threads++) {
    struct made m = made_threads(threads);
    rows_make(m.c, 1, 3000, true);
    const int64_t before = parts_given(&m);
    for (int again = 0; again < 50; again++) {
      expect_shared(&m);
      if (parts_given(&m) > before) break;
    }
    cr_expect_eq(parts_given(&m) > before, threads > 1, "%u threads", threads);
    rows_drop(m.c);
    rows_make(m.c, 9, 900, false);
    for (int again = 0; again < 3; again++) expect_shared(&m);
    rows_drop(m.c);
    made_close(&m);
  }
}

/* ---- what threads did ---- */

/* Returns how many spans the last call has, whose instances are all of the call. The spans of a
 * thread follow each other. */
static uint32_t expect_spans(const struct made *m) {
  static struct cvl_procedure_span spans[4000];
  const uint32_t n = cpu->procedures->spans(m->c, spans, 4000);
  uint64_t instances = 0;
  for (uint32_t k = 0; k < n; k++) {
    instances += spans[k].instances;
    cr_expect_geq(spans[k].end, spans[k].begin);
    if (k > 0 && spans[k].thread == spans[k - 1].thread)
      cr_expect_geq(spans[k].begin, spans[k - 1].end);
  }
  cr_expect_eq(instances, rows.count);
  return n;
}

Test(procedures, a_context_may_know_what_threads_did) {
  struct made m = made_with((struct cvl_options){.threads = 2, .spans = true});
  struct cvl_value results[2];
  rows_make(m.c, 20000, 150, false);
  for (int again = 0; again < 2; again++) {
    cr_assert(rows_done(&m, &of_sum, results));
    expect_sums(&m, &results[0]);
    cr_expect_gt(expect_spans(&m), 1);
  }
  rows_drop(m.c);
  rows_make(m.c, 1, 3000, true);
  uint32_t most = 0; /* one, and more if the other thread has taken parts */
  for (int again = 0; again < 50 && most < 2; again++) {
    expect_shared(&m);
    most = expect_spans(&m);
  }
  cr_expect_gt(most, 1);
  rows_drop(m.c);
  made_close(&m);
}

Test(procedures, others_keep_no_spans) {
  struct made m = made_threads(2);
  struct cvl_procedure_span span;
  struct cvl_value results[1];
  cr_expect_eq(cpu->procedures->spans(m.c, &span, 1), 0);
  rows_make(m.c, 100, 8, false);
  cr_assert(rows_done(&m, &of_sum, results));
  expect_sums(&m, &results[0]);
  cr_expect_eq(cpu->procedures->spans(m.c, &span, 1), 0);
  rows_drop(m.c);
  made_close(&m);
}

Test(procedures, shared_work_that_gives_up_does_so_on_all_threads) {
  for (unsigned threads = 2; threads <= 3; threads++) {
    struct made m = made_threads(threads);
    struct cvl_value results[2];
    for (uint64_t at = 0; at < 3000; at += 300) {
      rows_make(m.c, 1, 3000, true);
      expect_shared(&m);
      rows.elements[at] = 13;
      for (int k = 0; k < 2; k++) cpu->release(m.c, &rows.operands[k]);
      rows_upload(m.c);
      cr_expect_not(rows_done(&m, &of_shared, results));
      rows_drop(m.c);
    }
    made_close(&m);
  }
}

Test(procedures, calls_may_be_deep_but_not_endless) {
  for (unsigned threads = 1; threads <= 2; threads++) {
    struct made m = made_threads(threads);
    struct cvl_value results[1];
    rows_make(m.c, 100, 500, true);
    cr_assert(rows_done(&m, &of_depth, results));
    expect_ints(m.c, &results[0], rows.lengths, rows.count);
    rows_drop(m.c);
    rows_make(m.c, 1, 100000, true);
    cr_expect_not(rows_done(&m, &of_depth, results));
    rows_drop(m.c);
    made_close(&m);
  }
}

/* ---- ranks, sorting, other operands ---- */

static const uint8_t order_param_kinds[] = {CVL_PROCEDURE_SEGDES, CVL_PROCEDURE_FLOAT};
static const uint8_t order_kinds[] = {CVL_PROCEDURE_SEGDES, CVL_PROCEDURE_FLOAT,
                                      CVL_PROCEDURE_SEGDES, CVL_PROCEDURE_INT};
static const uint32_t order_sizes[] = {CVL_PROCEDURE_EACH, 0, CVL_PROCEDURE_EACH, 2};
static const struct cvl_procedure of_order = {
    "order", 2, 4, order_param_kinds, order_kinds, native_sizes_row, order_sizes, false};

static struct cvl_value by_operation(struct cvl_context *c, enum call_kind kind, enum cvl_op op,
                                     const struct cvl_value *operands) {
  struct cvl_value out;
  struct cvl_call call = CVL_CALL(CALL_SORT, op, operands[1], operands[0]);
  call.kind = kind;
  cr_assert(cpu->apply(c, 3, &call, &out));
  return out;
}

static void expect_same(struct cvl_context *c, const struct cvl_value *v,
                        const struct cvl_value *w, uint64_t n) {
  int64_t *x = malloc((n + 1) * 8), *y = malloc((n + 1) * 8);
  cr_assert_eq(cpu->length(c, v).bound, n);
  cr_assert(cpu->to_host(c, v, 0, n, x) && cpu->to_host(c, w, 0, n, y));
  cr_expect_arr_eq(x, y, n * sizeof *x);
  free(x);
  free(y);
  cpu->release(c, v);
  cpu->release(c, w);
}

/* Repeated values, NaNs, zeros of both signs; rows that are sorted in each of three ways. */
static void order_rows(struct cvl_context *c, uint64_t count, int64_t most) {
  rows_make(c, count, most, false);
  double *floats = malloc((rows.total + 1) * sizeof *floats);
  for (uint64_t k = 0; k < rows.total; k++) {
    const uint64_t x = k * 2654435761u % 1000003;
    floats[k] = x % 7 == 0   ? 0.0
                : x % 7 == 1 ? -0.0
                : x % 7 == 2 ? (double)NAN
                             : (double)(int64_t)(x % 5000) / 3.0 - 700;
  }
  cpu->release(c, &rows.operands[1]);
  cr_assert(cpu->from_host(c, 1, CVL_F64, rows.total, floats, &rows.operands[1]));
  free(floats);
}

Test(procedures, ranks_and_sorting_are_those_of_operations) {
  static const struct shape some[] = {{2000, 8, false}, {500, 250, false}, {20, 70000, false}};
  for (unsigned threads = 1; threads <= 2; threads++) {
    struct made m = made_threads(threads);
    for (int s = 0; s < 3; s++) {
      struct cvl_value r[4];
      order_rows(m.c, some[s].count, some[s].most);
      cr_assert(rows_done(&m, &of_order, r));
      const struct cvl_value sorted = by_operation(m.c, CALL_SORT, OP_SORT_DOWN, rows.operands);
      const struct cvl_value ranks = by_operation(m.c, CALL_RANK, OP_RANK_UP, rows.operands);
      expect_ints(m.c, &r[0], rows.lengths, rows.count);
      expect_same(m.c, &r[1], &sorted, rows.total);
      expect_ints(m.c, &r[2], rows.lengths, rows.count);
      expect_same(m.c, &r[3], &ranks, rows.total);
      rows_drop(m.c);
    }
    made_close(&m);
  }
}

static const uint8_t mixed_param_kinds[] = {CVL_PROCEDURE_INT, CVL_PROCEDURE_BOOL,
                                            CVL_PROCEDURE_SEGDES, CVL_PROCEDURE_INT};
static const uint32_t mixed_params[] = {CVL_PROCEDURE_EACH, CVL_PROCEDURE_EACH,
                                        CVL_PROCEDURE_SHARED, CVL_PROCEDURE_SHARED};
static const uint8_t mixed_kinds[] = {CVL_PROCEDURE_BOOL};
static const struct cvl_procedure of_mixed = {
    "mixed", 4, 1, mixed_param_kinds, mixed_kinds, mixed_params, native_sizes_int, false};

static void mixed_check(const struct made *m, uint64_t n) {
  static const int64_t lengths[] = {2, 3}, shared[] = {5, 9, 4, 5, 6};
  int64_t *ints = malloc(n * sizeof *ints);
  uint8_t *flags = malloc(n), *got = malloc(n);
  for (uint64_t k = 0; k < n; k++) ints[k] = (int64_t)(k % 11), flags[k] = k % 3 == 1;
  struct cvl_value v[4], out;
  cr_assert(cpu->from_host(m->c, 1, CVL_I64, n, ints, &v[0]) &&
            cpu->from_host(m->c, 1, CVL_BOOL, n, flags, &v[1]) &&
            cpu->segdes_from_host(m->c, 1, 2, lengths, &v[2]) &&
            cpu->from_host(m->c, 1, CVL_I64, 5, shared, &v[3]));
  bool done = false;
  cr_assert(cpu->procedures->run(m->c, 7, m->code, &of_mixed, a_second, n, v, &out, &done) &&
            done);
  cr_assert_eq(cpu->length(m->c, &out).bound, n);
  cr_assert(cpu->to_host(m->c, &out, 0, n, got));
  for (uint64_t k = 0; k < n; k++) {
    const int64_t x = ints[k];
    cr_assert_eq(got[k], flags[k] ? x >= 4 && x <= 6 : x == 5 || x == 9, "%d", (int)k);
  }
  for (int k = 0; k < 4; k++) cpu->release(m->c, &v[k]);
  cpu->release(m->c, &out);
  free(ints);
  free(flags);
  free(got);
}

Test(procedures, scalars_bools_and_shared_operands) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    struct made m = made_threads(threads);
    mixed_check(&m, 1);
    mixed_check(&m, 1000);
    mixed_check(&m, 100000);
    made_close(&m);
  }
}

static const uint8_t nested_param_kinds[] = {CVL_PROCEDURE_SEGDES, CVL_PROCEDURE_SEGDES,
                                             CVL_PROCEDURE_INT};
static const uint32_t nested_params[] = {CVL_PROCEDURE_EACH, 0, 1};
static const struct cvl_procedure of_nested = {
    "nested",         3,    2, nested_param_kinds, native_kinds_row, nested_params,
    native_sizes_row, false};

Test(procedures, sequences_of_sequences) {
  struct made m = made_threads(2);
  struct cvl_value out[2], sums;
  bool done = false;
  rows_make(m.c, 9000, 9, false);
  static int64_t lengths[3000];
  for (int k = 0; k < 3000; k++) lengths[k] = k % 2 ? 2 : 4;
  struct cvl_value v[3] = {{0}, rows.operands[0], rows.operands[1]};
  cr_assert(cpu->segdes_from_host(m.c, 1, 3000, lengths, &v[0]));
  cr_assert(cpu->procedures->run(m.c, 7, m.code, &of_nested, a_second, 3000, v, out, &done) &&
            done);
  cr_assert(rows_done(&m, &of_sum, &sums));
  expect_ints(m.c, &out[0], lengths, 3000);
  expect_same(m.c, &out[1], &sums, 9000);
  cpu->release(m.c, &v[0]);
  rows_drop(m.c);
  made_close(&m);
}

/* ---- whether it pays ---- */

static bool rows_suit(const struct made *m) {
  return cpu->procedures->suits(m->c, &of_sum, rows.count, rows.operands);
}

Test(procedures, many_instances_of_like_size_suit) {
  struct made m = made_threads(2);
  rows_make(m.c, 20000, 12, false);
  cr_expect(rows_suit(&m));
  rows_drop(m.c);
  rows_make(m.c, 20000, 7, true);
  cr_expect(rows_suit(&m));
  rows_drop(m.c);
  rows_make(m.c, 3, 50000, true);
  cr_expect(rows_suit(&m), "each is less than half");
  rows_drop(m.c);
  rows_make(m.c, 1, 50000, true);
  cr_expect_not(rows_suit(&m));
  rows_drop(m.c);
  rows_make(m.c, 3, 500, true);
  cr_expect(rows_suit(&m), "there is little work");
  rows_drop(m.c);
  rows_make(m.c, 1, 19900, true);
  cr_expect(rows_suit(&m));
  rows_drop(m.c);
  rows_make(m.c, 20000, 12, false);
  rows.lengths[100] += 300000;
  rows.total += 300000;
  rows.elements = realloc(rows.elements, rows.total * sizeof *rows.elements);
  for (uint64_t k = rows.total - 300000; k < rows.total; k++) rows.elements[k] = 1;
  for (int k = 0; k < 2; k++) cpu->release(m.c, &rows.operands[k]);
  rows_upload(m.c);
  cr_expect_not(rows_suit(&m), "one is more than half");
  rows_drop(m.c);
  made_close(&m);
}

/* ---- requests to end ---- */

Test(procedures, native_code_is_stopped, .timeout = 60) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    struct asker asker = {0};
    struct cvl_value results[1];
    struct cvl_error e;
    bool done = false;
    struct made m = made_with(
        (struct cvl_options){.threads = threads, .stop = {asks_after_a_while, &asker}});
    for (int many = 0; many < 2; many++) {
      rows_make(m.c, many ? 20000 : 1, 10, true);
      clock_gettime(CLOCK_MONOTONIC, &asker.from);
      asker.set = true;
      cr_expect_not(rows_run(&m, &of_forever, results, &done));
      asker.set = false;
      cr_assert(cpu->check(m.c, true, &e));
      cr_expect(e.kind == CVL_E_STOPPED && e.site == 7);
      cr_assert(rows_done(&m, &of_sum, results), "the next call is not stopped");
      expect_sums(&m, &results[0]);
      rows_drop(m.c);
    }
    made_close(&m);
  }
}

/* ---- memory ---- */

/* Every allocation of a call fails once: the call gives up, holds nothing, and can be made
 * again. */
static void fail_each(const struct made *m, const struct cvl_procedure *p) {
  struct cvl_value results[2];
  bool done = false;
  for (uint64_t n = 1; !done; n += every()) {
    const uint64_t live = cpu->statistics(m->c).live_bytes;
    cpu->fail_allocation(m->c, n);
    done = rows_done(m, p, results);
    cr_assert(n < 10000);
    if (!done) cr_expect_eq(cpu->statistics(m->c).live_bytes, live);
  }
  cpu->fail_allocation(m->c, 0);
  for (uint32_t k = 0; k < p->result_count; k++) cpu->release(m->c, &results[k]);
}

Test(procedures, memory_that_runs_out_at_any_allocation) {
  for (unsigned threads = 1; threads <= 2; threads++) {
    struct made m = made_threads(threads);
    for (int s = 0; s < SHAPES; s += 2) {
      rows_make(m.c, shapes[s].count, shapes[s].most, shapes[s].equal);
      fail_each(&m, &of_evens);
      rows_drop(m.c);
      order_rows(m.c, shapes[s].count, shapes[s].most);
      struct cvl_value r[4];
      cr_assert(rows_done(&m, &of_order, r));
      for (int k = 0; k < 4; k++) cpu->release(m.c, &r[k]);
      rows_drop(m.c);
    }
    made_close(&m);
  }
}

/* The results do not fit twice, as buffers and as vectors. What the threads keep is freed for
 * other operations. */
Test(procedures, a_limit_of_memory) {
  struct made m = made_with((struct cvl_options){.threads = 2, .memory_limit = 16 << 20});
  struct cvl_value results[2];
  rows_make(m.c, 20000, 60, true);
  cr_expect_not(rows_done(&m, &of_evens, results), "1,200,000 elements in, half of them out");
  rows_drop(m.c);
  rows_make(m.c, 20000, 15, true);
  cr_assert(rows_done(&m, &of_evens, results));
  expect_evens(&m, results);
  rows_drop(m.c);
  int64_t *many = calloc(15 << 17, sizeof *many);
  cr_assert(cpu->from_host(m.c, 1, CVL_I64, 15 << 17, many, &results[0]));
  cpu->release(m.c, &results[0]);
  free(many);
  made_close(&m);
}
