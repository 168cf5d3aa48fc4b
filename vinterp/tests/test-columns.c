/* test-columns.c - streams that are files of arrays: columns in order, of the right type, and
 * files that change only when a value is complete.
 */
#include "vinterp/tests/directory.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct heap heap;
static struct streams *s;
static const struct widths wide = {CVL_I64, CVL_F64}, narrow = {CVL_I32, CVL_F32};

static void test_columns_begin(void) {
  directory_begin();
  heap_init(&heap, 0);
  s = streams_new(&heap, stdin, stdout, stderr, &(struct permissions){.files = true});
  cr_assert(s);
}

static void columns_end(void) {
  streams_free(s);
  cr_assert_eq(heap.live, 0);
  directory_end();
}

TestSuite(columns, .init = test_columns_begin, .fini = columns_end, .timeout = 300);

static struct stream_status try_open(const char *name, enum stream_mode mode, int64_t *n) {
  return stream_open_columns(s, name, strlen(name), mode, n);
}

static int64_t columns_must_open(const char *name, enum stream_mode mode) {
  const int64_t n = stream_opened(stream_open_columns, s, name, mode);
  cr_assert(stream_has_columns(s, n));
  return n;
}

/* Writes a file of (int, float) rows: (7, 0.5), (-8, 2.0). */
static void write_rows(const char *name, enum stream_mode mode) {
  const int64_t lengths[] = {2};
  const int32_t ints[] = {7, -8};
  const float floats[] = {0.5F, 2.0F};
  int64_t n = columns_must_open(name, mode);
  cr_assert(stream_write_column(s, n, TW_INT, CVL_I64, lengths, 1).ok);
  expect_stream_failure(stream_write_column(s, n, TW_FLOAT, CVL_F32, floats, 2), "one of INT");
  cr_assert(stream_write_column(s, n, TW_INT, CVL_I32, ints, 2).ok);
  cr_assert(stream_write_column(s, n, TW_FLOAT, CVL_F32, floats, 2).ok);
  expect_stream_failure(stream_write_column(s, n, TW_FLOAT, CVL_F32, floats, 2),
                        "no further column");
  cr_assert(stream_close(s, n).ok);
}

static struct stream_value read_column(int64_t n, enum type_word type, struct widths widths) {
  struct stream_value v;
  struct stream_status status = stream_read_value(s, n, type, widths, &v);
  cr_assert(status.ok, "%s", status.message);
  return v;
}

static void columns_expect_rows(const char *name, enum stream_mode mode) {
  int64_t n = columns_must_open(name, mode);
  struct stream_value v = read_column(n, TW_INT, wide);
  cr_assert_eq(v.length, 1);
  cr_assert_eq(*(int64_t *)v.data, 2);
  stream_value_free(s, &v);
  expect_stream_failure(stream_read_value(s, n, TW_FLOAT, wide, &v), "one of INT");
  v = read_column(n, TW_INT, narrow);
  cr_assert_eq(v.length, 2);
  cr_assert_eq(((int32_t *)v.data)[1], -8);
  stream_value_free(s, &v);
  v = read_column(n, TW_FLOAT, wide);
  cr_assert_eq(((double *)v.data)[0], 0.5);
  stream_value_free(s, &v);
  expect_stream_failure(stream_read_value(s, n, TW_INT, wide, &v), "no further column");
  cr_assert(stream_close(s, n).ok);
}

/* Lengths and bools are ints in an array. They can be read as any of these types if they fit.
 */
Test(columns, lengths_and_bools_move_as_such) {
  const int64_t lengths[] = {2};
  const uint8_t bools[] = {1, 0};
  int64_t n = columns_must_open("[(bi:b.csv", STREAM_WRITE_CSV);
  cr_assert(stream_write_column(s, n, TW_SEGDES, CVL_I64, lengths, 1).ok);
  cr_assert(stream_write_column(s, n, TW_BOOL, CVL_BOOL, bools, 2).ok);
  cr_assert(stream_write_column(s, n, TW_INT, CVL_I64, (int64_t[]){-1, 5}, 2).ok);
  cr_assert(stream_close(s, n).ok);
  n = columns_must_open("[(bi:b.csv", STREAM_READ_CSV);
  struct stream_value v = read_column(n, TW_SEGDES, narrow);
  cr_assert(v.length == 1 && v.elem == CVL_I64 && *(int64_t *)v.data == 2);
  stream_value_free(s, &v);
  v = read_column(n, TW_BOOL, wide);
  cr_assert_arr_eq(v.data, bools, sizeof bools);
  stream_value_free(s, &v);
  expect_stream_failure(stream_read_value(s, n, TW_SEGDES, wide, &v), "none of SEGDES");
  stream_value_free(s, &v);
  cr_assert(stream_close(s, n).ok);
}

Test(columns, are_moved_in_order) {
  write_rows("[(if:v.npy", STREAM_WRITE_NPY);
  columns_expect_rows("[(if:v.npy", STREAM_READ_NPY);
  write_rows("[(if:v.csv", STREAM_WRITE_CSV);
  columns_expect_rows("[(if:v.csv", STREAM_READ_CSV);
  write_rows("[(if:v.npz", STREAM_WRITE_NPZ);
  columns_expect_rows("[(if:v.npz", STREAM_READ_NPZ);
  write_rows("[(if?11.separator=:?6.name=x?6.name=y:w.csv", STREAM_WRITE_CSV);
  columns_expect_rows("[(if?11.separator=::w.csv", STREAM_READ_CSV);
}

Test(columns, are_no_text) {
  const bool none[256] = {false};
  struct stream_value v;
  int64_t stop;
  write_rows("[(if:v.csv", STREAM_WRITE_CSV);
  int64_t n = columns_must_open("[(if:v.csv", STREAM_READ_CSV);
  expect_stream_failure(stream_read_chars(s, n, none, -1, CVL_I64, &v, &stop),
                        "not open for reading");
  expect_stream_failure(stream_write(s, n, "x", 1), "not open for writing");
  expect_stream_failure(stream_write_column(s, n, TW_INT, CVL_I64, NULL, 0),
                        "not open for writing");
  n = columns_must_open("[(if:w.csv", STREAM_WRITE_CSV);
  expect_stream_failure(stream_write(s, n, "x", 1), "not open for writing");
  expect_stream_failure(stream_read_value(s, n, TW_INT, wide, &v), "not open for reading");
  expect_stream_failure(stream_close(s, n), "not written to its end");
}

Test(columns, a_file_changes_only_if_the_value_is_complete) {
  const int64_t two[] = {2}, many[] = {1, 2, 3};
  write_rows("[(if:v.npy", STREAM_WRITE_NPY);
  int64_t n = columns_must_open("[i:v.npy", STREAM_WRITE_NPY);
  cr_assert(stream_write_column(s, n, TW_INT, CVL_I64, two, 1).ok);
  expect_stream_failure(stream_close(s, n), "not written to its end");
  n = columns_must_open("[i:v.npy", STREAM_WRITE_NPY);
  cr_assert(stream_write_column(s, n, TW_INT, CVL_I64, two, 1).ok);
  cr_assert(stream_write_column(s, n, TW_INT, CVL_I64, many, 3).ok);
  expect_stream_failure(stream_close(s, n), "do not fit the elements");
  columns_expect_rows("[(if:v.npy", STREAM_READ_NPY);
}

Test(columns, opening_fails_with_a_reason) {
  int64_t n;
  expect_stream_failure(try_open("v.npy", STREAM_READ_NPY, &n), "a signature and a colon");
  expect_stream_failure(try_open("[i:none.npy", STREAM_READ_NPY, &n), "No such file");
  write_rows("[(if:v.npy", STREAM_WRITE_NPY);
  expect_stream_failure(try_open("[x:v.npy", STREAM_READ_NPY, &n), "cannot be stored");
  expect_stream_failure(try_open("[(ff:v.npy", STREAM_READ_CSV, &n), "is no float");
  expect_stream_failure(try_open("[(ii:v.npy", STREAM_READ_NPY, &n),
                        "float64 where the program wants");
  cr_assert_eq(n, STREAM_NULL);
  cr_assert(try_open("[(if:v.npy", STREAM_READ_NPY, &n).ok);
  cr_assert_eq(n, 3); /* failures left no stream open */
}

Test(columns, memory_may_run_out_anywhere) {
  write_rows("[(if:v.npy", STREAM_WRITE_NPY);
  for (uint64_t k = 1; k < 100; k++) {
    int64_t n;
    heap.fail_at = heap.count + k;
    struct stream_status status = try_open("[(if:v.npy", STREAM_READ_NPY, &n);
    const bool failed = heap.count >= heap.fail_at;
    heap.fail_at = 0;
    cr_assert_eq(status.ok, !failed);
    if (failed) cr_assert_gt(status.memory, 0);
    if (status.ok) {
      cr_assert(stream_close(s, n).ok);
      return;
    }
  }
  cr_assert_fail("it never succeeded");
}
