/* test-read.c - reading values from text: which texts are accepted and refused, and how many
 * bytes are consumed.
 */
#include "vinterp/io/streams.h"
#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static const struct widths WIDE = {CVL_I64, CVL_F64}, NARROW = {CVL_I32, CVL_F32};

/* Streams with this text as standard input. */
struct fixture {
  struct heap heap;
  FILE *in;
  struct streams *streams;
  struct stream_value v;
  struct stream_status status;
};

static struct fixture *with_bytes(const char *text, size_t length) {
  static struct fixture f;
  heap_init(&f.heap, 0);
  f.in = tmpfile();
  fwrite(text, 1, length, f.in);
  rewind(f.in);
  f.streams = streams_new(&f.heap, f.in, NULL, NULL, &(struct permissions){.files = false});
  return &f;
}

static void read_done(struct fixture *f) {
  stream_value_free(f->streams, &f->v);
  streams_free(f->streams);
  fclose(f->in);
  cr_assert_eq(f->heap.live, 0, "%llu bytes leaked", (unsigned long long)f->heap.live);
}

/* Reads one value. */
static struct fixture *reading(const char *text, enum type_word type, struct widths widths) {
  struct fixture *f = with_bytes(text, strlen(text));
  f->status = stream_read_value(f->streams, STREAM_IN, type, widths, &f->v);
  return f;
}

static struct fixture *test_read_as(enum cvl_elem elem, const char *text, enum type_word type,
                                    struct widths widths) {
  struct fixture *f = reading(text, type, widths);
  cr_assert(f->status.ok, "%s: %s", text, f->status.message);
  cr_assert_eq(f->v.elem, elem);
  return f;
}

static void read_refused(const char *text, enum type_word type, struct widths widths) {
  struct fixture *f = reading(text, type, widths);
  cr_assert(!f->status.ok, "%s was read", text);
  cr_assert_gt(strlen(f->status.message), 0, "%s: no message", text);
  cr_assert_eq(f->status.memory, 0);
  cr_assert_eq(f->v.length, 0, "%s left elements", text);
  read_done(f);
}

static void reads_ints(const char *text, enum type_word type, size_t n,
                       const int64_t *expected) {
  struct fixture *f = test_read_as(CVL_I64, text, type, WIDE);
  cr_assert_str_eq(f->status.message, "");
  cr_assert_eq(f->v.length, n, "%s", text);
  for (size_t i = 0; i < n; i++)
    cr_assert_eq(((int64_t *)f->v.data)[i], expected[i], "%s", text);
  read_done(f);
}

#define INTS(...)                                                                              \
  (sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]) {                                        \
    __VA_ARGS__                                                                                \
  }

Test(read, ints) {
  reads_ints("(1 2 3)", TW_INT, INTS(1, 2, 3));
  reads_ints("( 1 -2 +3 )", TW_INT, INTS(1, -2, 3));
  reads_ints(" \t\n\v\f\r( 007\n)", TW_INT, INTS(7));
  reads_ints("()", TW_INT, 0, NULL);
  reads_ints("( )", TW_INT, 0, NULL);
  reads_ints("(-0)", TW_INT, INTS(0));
  reads_ints("(9223372036854775807 -9223372036854775808)", TW_INT, INTS(INT64_MAX, INT64_MIN));
  reads_ints("(0000000000000000000000000000000000000005)", TW_INT, INTS(5));
}

Test(read, ints_refused) {
  const char *const texts[] = {"",
                               "(",
                               "( 1",
                               "( 1 2",
                               "( 1 x 3 )",
                               "1 2)",
                               "[1]",
                               "(1,2)",
                               "(1.5)",
                               "(-)",
                               "(+ 1)",
                               "(1-2)",
                               "(--1)",
                               "(1e2)",
                               "(0x10)",
                               "(1(2))",
                               "\"1\"",
                               "x",
                               "(1 2]",
                               "(9223372036854775808)",
                               "(-9223372036854775809)",
                               "(18446744073709551617)",
                               "(18446744073709551616000000000000000000003)"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    read_refused(texts[i], TW_INT, WIDE);
}

Test(read, narrow_ints_have_a_narrow_range) {
  struct fixture *f = reading("(2147483647 -2147483648)", TW_INT, NARROW);
  cr_assert(f->status.ok);
  cr_assert_eq(f->v.elem, CVL_I32);
  cr_assert_eq(((int32_t *)f->v.data)[0], INT32_MAX);
  cr_assert_eq(((int32_t *)f->v.data)[1], INT32_MIN);
  read_done(f);
  read_refused("(2147483648)", TW_INT, NARROW);
  read_refused("(-2147483649)", TW_INT, NARROW);
}

Test(read, many_elements) {
  enum { N = 100000 };
  FILE *in = tmpfile();
  fputs("(", in);
  for (int i = 0; i < N; i++) fprintf(in, " %d", i * 7 - N);
  fputs(" )", in);
  rewind(in);
  struct heap heap;
  heap_init(&heap, 0);
  struct streams *s = streams_new(&heap, in, NULL, NULL, &(struct permissions){.files = false});
  struct stream_value v;
  cr_assert(stream_read_value(s, STREAM_IN, TW_INT, NARROW, &v).ok);
  cr_assert_eq(v.length, N);
  for (int i = 0; i < N; i++) cr_assert_eq(((int32_t *)v.data)[i], i * 7 - N);
  stream_value_free(s, &v);
  streams_free(s);
  fclose(in);
}

static void reads_floats(const char *text, size_t n, const double *expected) {
  struct fixture *f = reading(text, TW_FLOAT, WIDE);
  cr_assert(f->status.ok, "%s: %s", text, f->status.message);
  cr_assert_eq(f->v.length, n, "%s", text);
  const double *x = f->v.data;
  for (size_t i = 0; i < n; i++) {
    cr_assert(isnan(expected[i]) ? isnan(x[i]) : x[i] == expected[i], "%s", text);
    cr_assert_eq(!signbit(x[i]), !signbit(expected[i]), "%s", text);
  }
  read_done(f);
}

#define FLOATS(...)                                                                            \
  (sizeof((double[]){__VA_ARGS__}) / 8), (double[]) {                                          \
    __VA_ARGS__                                                                                \
  }

Test(read, floats) {
  reads_floats("(1 .5 3e2 -2. +1.5E-3)", FLOATS(1, .5, 300, -2, 1.5e-3));
  reads_floats("( inf -inf INFINITY nan )", FLOATS(INFINITY, -INFINITY, INFINITY, NAN));
  reads_floats("(0x1.8p1 -0.0 1e999 1e-999)", FLOATS(3, -0.0, INFINITY, 0));
  reads_floats("( nan(12) )", FLOATS(NAN));
  reads_floats("()", 0, NULL);
  reads_floats("( 1.50000000000000e+00)", FLOATS(1.5));
}

Test(read, floats_refused) {
  const char *const texts[] = {"(1.5.5)", "(1..2)", "(e5)", "(1,5)", "(1.0",   "(nan(1",
                               "(1 - 2)", "(- 1)",  "(x)",  "[1.0]", "(1(2))", "(nan(12)1)"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    read_refused(texts[i], TW_FLOAT, WIDE);
  }
}

Test(read, narrow_floats_are_rounded) {
  struct fixture *f = test_read_as(CVL_F32, "(0.1)", TW_FLOAT, NARROW);
  cr_assert_eq(((float *)f->v.data)[0], 0.1f);
  read_done(f);
}

Test(read, bools) {
  struct fixture *f = test_read_as(CVL_BOOL, "(T F\nFT)", TW_BOOL, WIDE);
  cr_assert_eq(f->v.length, 4);
  cr_assert_arr_eq(f->v.data, ((uint8_t[]){1, 0, 0, 1}), 4);
  read_done(f);
  read_refused("(T x)", TW_BOOL, WIDE);
  read_refused("(t)", TW_BOOL, WIDE);
  read_refused("(T", TW_BOOL, WIDE);
}

Test(read, segment_descriptors) {
  reads_ints("[2 0 1]", TW_SEGDES, INTS(2, 0, 1));
  reads_ints("[ ]", TW_SEGDES, 0, NULL);
  read_refused("[-1]", TW_SEGDES, WIDE);
  read_refused("(1)", TW_SEGDES, WIDE);
  read_refused("[1)", TW_SEGDES, WIDE);
  read_refused("[9223372036854775807 1]", TW_SEGDES, WIDE);
  /* Lengths are not limited by the width of INT. */
  struct fixture *f = test_read_as(CVL_I64, "[3000000000]", TW_SEGDES, NARROW);
  cr_assert_eq(((int64_t *)f->v.data)[0], 3000000000);
  read_done(f);
}

Test(read, strings) {
  reads_ints("\"a (\n\\\"", TW_CHAR, INTS('a', ' ', '(', '\n', '\\'));
  reads_ints("  \"\"", TW_CHAR, 0, NULL);
  reads_ints("\"\xff\"", TW_CHAR, INTS(255));
  read_refused("\"abc", TW_CHAR, WIDE);
  read_refused("abc\"", TW_CHAR, WIDE);
  read_refused("\"", TW_CHAR, WIDE);
}

Test(read, takes_nothing_beyond_the_closing_delimiter) {
  struct fixture *f = with_bytes("(1)(2.5)(T)[3]\"x\"rest", 22);
  const enum type_word types[] = {TW_INT, TW_FLOAT, TW_BOOL, TW_SEGDES, TW_CHAR};
  for (size_t i = 0; i < 5; i++) {
    struct stream_value v;
    cr_assert(stream_read_value(f->streams, STREAM_IN, types[i], WIDE, &v).ok);
    cr_assert_eq(v.length, 1);
    stream_value_free(f->streams, &v);
  }
  cr_assert_eq(getc(f->in), 'r');
  read_done(f);
}

Test(read, locale_does_not_matter) {
  if (!setlocale(LC_ALL, "de_DE.UTF-8")) cr_skip_test("no such locale here");
  reads_floats("(1.5)", FLOATS(1.5));
}

Test(read, streams_that_cannot_be_read) {
  struct fixture *f = with_bytes("", 0);
  const int64_t numbers[] = {-1, -2, 1, 2, 3, 77, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct stream_value v;
    struct stream_status status = stream_read_value(f->streams, numbers[i], TW_BOOL, WIDE, &v);
    cr_assert(!status.ok);
    cr_assert_gt(strlen(status.message), 0);
    cr_assert_eq(v.elem, CVL_BOOL);
    cr_assert_eq(v.length, 0);
  }
  read_done(f);
}

/* ---- FREAD_CHAR ---- */

static void reads_chars(struct fixture *f, const char *delimiters, int64_t max,
                        const char *expected, int64_t expected_stop) {
  bool set[256] = {false};
  for (const char *d = delimiters; *d; d++) set[(unsigned char)*d] = true;
  struct stream_value v;
  int64_t stop;
  cr_assert(stream_read_chars(f->streams, STREAM_IN, set, max, CVL_I32, &v, &stop).ok);
  cr_assert_eq(stop, expected_stop);
  cr_assert_eq(v.length, strlen(expected));
  for (size_t i = 0; i < v.length; i++) {
    cr_assert_eq(((int32_t *)v.data)[i], (unsigned char)expected[i]);
  }
  stream_value_free(f->streams, &v);
}

Test(read, characters) {
  struct fixture *f = with_bytes("one,two;thr\xff,", 13);
  reads_chars(f, ",;", 0, "", -2);
  reads_chars(f, ",;", 3, "one", -2); /* the limit is tested before the delimiter */
  reads_chars(f, ",;", -1, "", ',');
  reads_chars(f, ",;", 100, "two", ';');
  reads_chars(f, "", -1, "thr\xff,", -1);
  reads_chars(f, ",", -1, "", -1);
  read_done(f);
  f = with_bytes("abc", 3);
  reads_chars(f, "", 3, "abc", -2); /* the limit is exactly the rest */
  reads_chars(f, "", 3, "", -1);
  read_done(f);
}

Test(read, characters_of_a_stream_that_is_not_open) {
  struct fixture *f = with_bytes("", 0);
  const bool none[256] = {false};
  struct stream_value v;
  int64_t stop = 7;
  cr_assert(!stream_read_chars(f->streams, 9, none, -1, CVL_I64, &v, &stop).ok);
  cr_assert_eq(stop, -1);
  cr_assert_eq(v.length, 0);
  read_done(f);
}

/* ---- memory ---- */

Test(read, every_failed_allocation_is_an_error_and_leaks_nothing) {
  const char text[] =
      "(1.5 2.5 1111111111111111111111111111111111111111111111111111111111111111)";
  uint64_t n = 1;
  for (bool ok = false; !ok; n++) {
    struct heap heap;
    heap_init(&heap, 0);
    heap.fail_at = n;
    FILE *in = fmemopen((void *)text, strlen(text), "r");
    struct streams *s =
        streams_new(&heap, in, NULL, NULL, &(struct permissions){.files = false});
    if (s) {
      struct stream_value v;
      struct stream_status status = stream_read_value(s, STREAM_IN, TW_FLOAT, WIDE, &v);
      ok = status.ok;
      cr_assert(ok || status.memory > 0);
      stream_value_free(s, &v);
      streams_free(s);
    }
    fclose(in);
    cr_assert_eq(heap.live, 0);
  }
  cr_assert_gt(n, 4);
}
