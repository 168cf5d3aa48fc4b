/* test-spills.c - large columns in spills: the same as those in memory, which stays free, and
 * the same complaints.
 */
#include "arrays/arrays.h"
#include "base/tests/memory.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void spills_begin(void);
static void spills_end(void);

TestSuite(spills, .init = spills_begin, .fini = spills_end);

/* ---- files ---- */

struct file {
  char *bytes;
  size_t length;
};

/* ROWS rows of an int, a float, a bool and a text, of which some are quoted. */
enum { ROWS = 100000 };

static struct file csv_file(const char *last) {
  struct file file = {0};
  FILE *out = open_memstream(&file.bytes, &file.length);
  for (int i = 0; i < ROWS; i++)
    fprintf(out, "%d,%d.5,%s,%s\n", i - 50, i, i % 3 ? "True" : "False",
            i % 7 ? "word" : "\"a, \"\"b\"\"\n\"");
  fputs(last, out);
  fclose(out);
  return file;
}

/* A NumPy array of zeros but for the first byte of every seventh element. */
static struct file npy_file(const char *descr, size_t width, const char *order,
                            const char *shape, size_t count) {
  struct file file = {.length = 128 + width * count};
  char header[118];
  memset(header, ' ', sizeof header);
  const int n =
      snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }",
               descr, order, shape);
  header[n] = ' ';
  header[sizeof header - 1] = '\n';
  file.bytes = calloc(1, file.length);
  memcpy(file.bytes, "\x93NUMPY\1\0\x76\0", 10);
  memcpy(file.bytes + 10, header, sizeof header);
  for (size_t i = 0; i < count; i++)
    file.bytes[128 + i * width] = i % 7 ? 0 : (char)(1 + i % 50);
  return file;
}

/* ---- reading ---- */

static struct array_spills spills;
static struct arena apart; /* of what is read into them */

static bool spills_read_as(enum array_format format, const char *signature, struct file file,
                           bool spilled, struct array_columns *out, const char **problem) {
  struct array_type type = {.csv = NULL};
  struct arena *to = spilled ? &apart : &arena;
  cr_assert(array_type_parse(format, to, signature, strlen(signature), &type, problem));
  spills = (struct array_spills){.heap = &heap};
  if (spilled) type.spills = &spills;
  return array_read(format, to, &type, file.bytes, file.length, out, problem);
}

static void spills_begin(void) {
  memory_begin();
  arena_init(&apart, &heap);
}

static void spills_end(void) {
  array_spills_end(&spills);
  arena_free(&apart);
  memory_end();
}

static int64_t spills_element(const struct array_column *c, uint64_t i) {
  return c->is_bytes ? c->as.bytes[i] : c->as.ints[i];
}

/* Expects the same elements in memory and from a spill. Bit i of `in` says that column i is in
 * a spill. */
static void expect_spilled(enum array_format format, const char *signature, struct file file,
                           unsigned in) {
  struct array_columns a, b;
  const char *problem = "";
  cr_assert(spills_read_as(format, signature, file, false, &a, &problem), "%s", problem);
  const uint64_t live = heap.live;
  cr_assert(spills_read_as(format, signature, file, true, &b, &problem), "%s", problem);
  cr_expect_lt(heap.live - live, 400000, "%lu bytes of memory", heap.live - live);
  cr_assert_eq(a.count, b.count);
  for (uint32_t k = 0; k < a.count; k++) {
    const struct array_column *x = &a.items[k], *y = &b.items[k];
    cr_expect_eq(array_spills_hold(&spills, y->as.ints), in >> k & 1, "column %u", k);
    cr_assert_eq(x->length, y->length);
    for (uint64_t i = 0; i < x->length; i++)
      cr_assert_eq(spills_element(x, i), spills_element(y, i), "column %u, element %lu", k, i);
  }
  array_spills_give_back(&spills);
  cr_expect_eq(spills_element(&a.items[a.count - 1], 0),
               spills_element(&b.items[a.count - 1], 0));
  array_spills_end(&spills);
  arena_free(&apart);
  free(file.bytes);
}

Test(spills, rows_of_csv_files) {
  expect_spilled(ARRAY_CSV, "[(i(f(b[c", csv_file("7,8,yes,\n"), 62);
}

Test(spills, ragged_rows_of_csv_files) {
  struct file file = {0};
  FILE *out = open_memstream(&file.bytes, &file.length);
  for (int i = 0; i < ROWS; i++) fprintf(out, i % 2 ? "%d,22222222,3\n" : "%d\n", 100000 + i);
  fclose(out);
  expect_spilled(ARRAY_CSV, "[[i", file, 6);
}

/* An array that is already a column needs a copy only if its bytes do not stay. */
Test(spills, numpy_arrays) {
  expect_spilled(ARRAY_NPY, "[i", npy_file("'<i4'", 4, "False", "(300000,)", 300000), 2);
  expect_spilled(ARRAY_NPY, "[f", npy_file("'<f4'", 4, "False", "(300000,)", 300000), 2);
  expect_spilled(ARRAY_NPY, "[f", npy_file("'>f8'", 8, "False", "(300000,)", 300000), 2);
  expect_spilled(ARRAY_NPY, "[b", npy_file("'|b1'", 1, "False", "(2000000,)", 2000000), 2);
  expect_spilled(ARRAY_NPY, "[[c", npy_file("'|S5'", 5, "False", "(300000,)", 300000), 6);
  expect_spilled(ARRAY_NPY, "[[c", npy_file("'<U2'", 8, "False", "(300000,)", 300000), 6);
  expect_spilled(
      ARRAY_NPY, "[(i(fb",
      npy_file("[('a', '<i8'), ('b', '<f4'), ('c', '|b1')]", 13, "False", "(200000,)", 200000),
      14);
  expect_spilled(ARRAY_NPY, "[[f", npy_file("'<f8'", 8, "True", "(1000, 300)", 300000), 4);
  expect_spilled(ARRAY_NPY, "[[[i", npy_file("'<i4'", 4, "True", "(200000, 3, 1)", 600000), 14);
}

Test(spills, small_columns_stay_in_memory) {
  struct file file = npy_file("'<i4'", 4, "False", "(1000,)", 1000);
  expect_spilled(ARRAY_NPY, "[i", file, 0);
}

/* Arrays that an archive stores; test-zip.c has those that are deflated. */
Test(spills, archives) {
  enum { MANY = 150000 };
  static int64_t count[] = {MANY}, lengths[MANY], total = 0;
  struct array_column columns[] = {
      {.length = 1, .as.ints = count}, {.length = MANY, .as.ints = lengths}, {0}};
  const struct array_columns all = {3, columns};
  struct array_type type;
  struct file file = {0};
  const char *problem = "";
  for (int i = 0; i < MANY; i++) total += lengths[i] = i % 5;
  columns[2].length = (uint64_t)total;
  columns[2].as.floats = calloc((size_t)total, sizeof(double));
  for (int64_t i = 0; i < total; i++) columns[2].as.floats[i] = (double)i;
  cr_assert(array_type_parse(ARRAY_NPZ, &arena, "[[f", 3, &type, &problem));
  FILE *out = open_memstream(&file.bytes, &file.length);
  cr_assert(array_write(ARRAY_NPZ, &arena, &type, &all, out, &problem));
  fclose(out);
  free(columns[2].as.floats);
  expect_spilled(ARRAY_NPZ, "[[f", file, 6);
}

/* ---- complaints ---- */

static void expect_same_problem(const char *signature, struct file file, const char *wanted) {
  struct array_columns columns;
  for (int spilled = 0; spilled < 2; spilled++) {
    const char *problem = "";
    cr_expect_not(spills_read_as(ARRAY_CSV, signature, file, spilled, &columns, &problem));
    cr_expect_str_eq(problem, wanted);
    array_spills_end(&spills);
  }
  free(file.bytes);
}

/* The quoted text of every seventh row has a line break. */
Test(spills, complaints_are_the_same) {
  expect_same_problem("[(i(f(b[c", csv_file("7,x,yes,\n"),
                      "line 114287: field 2 is no float: 'x'");
  expect_same_problem("[(i(f(b[c", csv_file("7,8\n"),
                      "line 114287: 2 fields where the program's rows have 4");
  expect_same_problem("[(i(f(b[c", csv_file("7,8,no,\"open\n"),
                      "line 114287: the quote of a field is not closed");
  expect_same_problem("[(i(f(b[c", csv_file("7,8,no,\"open\"x\n"),
                      "line 114287: something follows the closing quote of a field");
}

/* ---- what the system lacks ---- */

static int in_child(bool (*test)(void), int resource, rlim_t limit) {
  int status;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit new = {limit, limit};
    signal(SIGXFSZ, SIG_IGN);
    _exit(setrlimit(resource, &new) == 0 && test() ? 0 : 1);
  }
  waitpid(child, &status, 0);
  return status;
}

static bool spills_fails(enum array_format format, const char *signature, struct file file,
                         const char *wanted) {
  struct array_columns columns;
  const char *problem = "";
  const bool failed = !spills_read_as(format, signature, file, true, &columns, &problem);
  const bool said = strstr(problem, wanted) != NULL;
  if (!said) fprintf(stderr, "%s: %s\n", signature, problem);
  array_spills_end(&spills);
  free(file.bytes);
  return failed && said;
}

static bool disk_is_full(void) {
  static const char full[] = "and no file may have more than 293 KiB";
  return spills_fails(ARRAY_CSV, "[(i(f(b[c", csv_file(""), full) &&
         spills_fails(ARRAY_NPY, "[i", npy_file("'<i4'", 4, "False", "(300000,)", 300000),
                      full) &&
         spills_fails(ARRAY_NPY, "[[c", npy_file("'|S5'", 5, "False", "(300000,)", 300000),
                      full) &&
         spills_fails(ARRAY_NPY, "[[f", npy_file("'<f8'", 8, "True", "(1000, 300)", 300000),
                      full);
}

static bool no_descriptors(void) {
  return spills_fails(ARRAY_CSV, "[(i(f(b[c", csv_file(""),
                      "a temporary file cannot be created in");
}

Test(spills, a_full_disk_is_an_error) {
  cr_expect_eq(in_child(disk_is_full, RLIMIT_FSIZE, 300000), 0);
  cr_expect_eq(in_child(no_descriptors, RLIMIT_NOFILE, 5), 0);
}

Test(spills, memory_for_buffers_may_be_lacking) {
  const struct file file = csv_file("");
  for (uint64_t k = 1; k < 40; k++) {
    struct array_columns columns;
    const char *problem = "";
    struct memory_guard guard;
    heap.fail_at = heap.count + k;
    memory_guard_begin(&guard);
    if (setjmp(guard.jump) == 0) {
      const bool fine = spills_read_as(ARRAY_CSV, "[(i(f(b[c", file, true, &columns, &problem);
      memory_guard_end(&guard);
      if (!fine) cr_expect_str_eq(problem, "out of memory");
    }
    heap.fail_at = 0;
    array_spills_end(&spills);
  }
  free(file.bytes);
}
