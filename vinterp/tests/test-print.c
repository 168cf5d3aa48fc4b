/* test-print.c - the text of values, on the sequential back end of the tests. */
#include "cvl/oracle/oracle.h"
#include "vinterp/io/print.h"
#include "vinterp/machine/machine-private.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct heap heap;
static struct arena arena;
static struct diag_list diags;
static struct machine *m;
static const struct machine_site site;

static void print_begin_with(enum cvl_elem int_elem, enum cvl_elem float_elem) {
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  diag_list_init(&diags, &arena);
  struct machine_options options = machine_default_options();
  options.backend = &cvl_oracle_backend;
  options.widths = (struct widths){int_elem, float_elem};
  m = machine_new(&options, &diags);
  cr_assert(m);
}

static void test_print_begin(void) {
  print_begin_with(CVL_I64, CVL_F64);
}

static void print_end(void) {
  machine_free(m);
  arena_free(&arena);
}

TestSuite(print, .init = test_print_begin, .fini = print_end);

/* A consumer that keeps everything, and refuses from the refuse_at-th call on. */
struct kept {
  char *text;
  size_t length, largest, calls, refuse_at;
};

static bool print_keep(void *self, const char *bytes, size_t n) {
  struct kept *k = self;
  if (++k->calls == k->refuse_at) return false;
  k->text = realloc(k->text, k->length + n + 1);
  memcpy(k->text + k->length, bytes, n);
  k->text[k->length += n] = '\0';
  if (n > k->largest) k->largest = n;
  return true;
}

static void prints(struct value *v, const char *expected) {
  struct kept kept = {0};
  const struct consumer consumer = {print_keep, &kept};
  cr_assert(print_value(m, &site, v, false, &consumer));
  cr_assert_str_eq(kept.text, expected);
  free(kept.text);
  value_release(&m->store, v);
}

static struct value vector(enum cvl_elem elem, uint64_t n, const void *data) {
  struct value v;
  cr_assert(machine_from_host(m, &site, elem, n, data, &v));
  return v;
}

static struct value print_segments(uint64_t n, const int64_t *lengths) {
  struct value v;
  cr_assert(machine_segdes(m, &site, n, lengths, &v));
  return v;
}

Test(print, vectors) {
  struct value v = vector(CVL_I64, 3, (int64_t[]){1, INT64_MIN, INT64_MAX});
  prints(&v, "( 1 -9223372036854775808 9223372036854775807 )\n");
  v = vector(CVL_F64, 3, (double[]){1.0, -0.5, 100000.0});
  prints(&v, "( 1.00000000000000e+00 -5.00000000000000e-01 1.00000000000000e+05 )\n");
  v = vector(CVL_F64, 6, (double[]){INFINITY, -INFINITY, NAN, -NAN, -0.0, 1e-310});
  prints(&v, "( inf -inf nan nan -0.00000000000000e+00 9.99999999999997e-311 )\n");
  v = vector(CVL_BOOL, 2, (uint8_t[]){1, 0});
  prints(&v, "( T F )\n");
  v = vector(CVL_I64, 0, NULL);
  prints(&v, "( )\n");
  v = vector(CVL_BOOL, 0, NULL);
  prints(&v, "( )\n");
}

Test(print, scalars) {
  struct value v = machine_scalar_int(m, -5);
  prints(&v, "( -5 )\n");
  v = machine_scalar_bool(true);
  prints(&v, "( T )\n");
}

Test(print, segment_descriptors) {
  struct value v = print_segments(3, (int64_t[]){2, 0, 1});
  prints(&v, "[ 2 0 1 ]\n");
  v = print_segments(0, NULL);
  prints(&v, "[ ]\n");
  v = print_segments(1, (int64_t[]){0});
  prints(&v, "[ 0 ]\n");
  v = value_of(cvl_one_segment(5000000000));
  prints(&v, "[ 5000000000 ]\n");
}

Test(print, pairs) {
  struct value parts[5] = {machine_scalar_int(m, 1), value_of(cvl_scalar_float(CVL_F64, 2)),
                           machine_scalar_bool(true), value_of(cvl_one_segment(1))};
  const char *const expected[] = {"pair(Int,Float) \n", "pair(Float,Bool) \n",
                                  "pair(Bool,Segdes) \n"};
  struct value v;
  for (int i = 0; i < 3; i++) {
    cr_assert(value_pair(&m->store, &parts[i], &parts[i + 1], &v));
    prints(&v, expected[i]);
  }
  struct value inner;
  cr_assert(value_pair(&m->store, &parts[3], &parts[0], &inner));
  cr_assert(value_pair(&m->store, &inner, &parts[0], &v));
  prints(&v, "pair(Pair,Int) \n");
}

static void print_begin_narrow(void) {
  print_begin_with(CVL_I32, CVL_F32);
}

TestSuite(print_narrow, .init = print_begin_narrow, .fini = print_end);

Test(print_narrow, elements) {
  struct value v = vector(CVL_I32, 2, (int32_t[]){INT32_MIN, INT32_MAX});
  prints(&v, "( -2147483648 2147483647 )\n");
  v = vector(CVL_F32, 2, (float[]){0.1f, -INFINITY});
  prints(&v, "( 1.00000001490116e-01 -inf )\n");
}

/* A vector of many buffers: no text is lost between them, and no buffer is large. */
Test(print, long_vectors) {
  enum { N = 100003 };
  int64_t *x = malloc(N * sizeof *x);
  for (int64_t i = 0; i < N; i++) x[i] = i * i - 1;
  struct value v = vector(CVL_I64, N, x);
  struct kept kept = {0};
  const struct consumer consumer = {print_keep, &kept};
  cr_assert(print_value(m, &site, &v, false, &consumer));
  cr_assert_leq(kept.largest, 65536);
  char *rest = kept.text;
  cr_assert_eq(*rest++, '(');
  for (int64_t i = 0; i < N; i++) cr_assert_eq(strtoll(rest, &rest, 10), x[i]);
  cr_assert_str_eq(rest, " )\n");
  value_release(&m->store, &v);
  free(kept.text);
  free(x);
}

Test(print, a_consumer_that_refuses_ends_the_printing) {
  int64_t *x = calloc(100000, sizeof *x);
  struct value v = vector(CVL_I64, 100000, x);
  for (size_t n = 1; n <= 3; n++) {
    struct kept text = {.refuse_at = n}, bytes = {.refuse_at = n};
    const struct consumer text_sink = {print_keep, &text}, byte_sink = {print_keep, &bytes};
    cr_assert(!print_value(m, &site, &v, false, &text_sink));
    cr_assert(!print_chars(m, &site, &v, &byte_sink));
    cr_assert_eq(text.calls, n);
    cr_assert_eq(bytes.calls, n);
    free(text.text);
    free(bytes.text);
  }
  value_release(&m->store, &v);
  free(x);
}

Test(print, characters_are_low_bytes) {
  struct value v = vector(CVL_I64, 4, (int64_t[]){72, 361, -191, 10});
  struct kept kept = {0};
  const struct consumer consumer = {print_keep, &kept};
  cr_assert(print_chars(m, &site, &v, &consumer));
  cr_assert_str_eq(kept.text, "HiA\n");
  free(kept.text);
  value_release(&m->store, &v);
}
