/* test-libravel-imports.c - memory of others in a context: who reads it, for how long, and who
 * is notified when that has ended.
 */
#include "context.h"
#include "libravel/tests/lender.h"

#include <stdint.h>

TestSuite(imports);

enum { MANY = 100000 };

static struct ravel_context *imports_context_of(const char *width) {
  return context_with(
      (const char *const[]){"int", width, "float", width, "threads", "2", NULL});
}

static double doubles[MANY];

static void fill_doubles(void) {
  for (int i = 0; i < MANY; i++) doubles[i] = (double)(i % 1000) - 400;
}

static struct ravel_value *import_doubles(struct ravel_context *c, struct lender *l,
                                          size_t behind) {
  struct ArrowSchema schema = lender_schema("g", NULL);
  struct ravel_value *v = NULL;
  fill_doubles();
  lender_begin(l, doubles, sizeof doubles, behind);
  struct ArrowArray array = lender_array(l, MANY, NULL);
  fine(c, ravel_import(c, &schema, &array, &v));
  cr_assert_null(array.release);
  return v;
}

/* An expression of xs, of its type. */
static struct ravel_value *imports_apply(struct ravel_context *c, const char *text,
                                         struct ravel_value *xs) {
  struct ravel_function *f = NULL;
  struct ravel_value *result = NULL;
  fine(c, ravel_expression(c, text, "xs", ravel_type(xs), &f));
  fine(c, ravel_call(c, f, &xs, 1, &result));
  ravel_function_release(f);
  return result;
}

static double imports_number(struct ravel_context *c, const char *text,
                             struct ravel_value *xs) {
  struct ravel_value *v = imports_apply(c, text, xs);
  double x = 0;
  fine(c, ravel_get_float(c, v, &x));
  ravel_release(v);
  return x;
}

static uint64_t live(struct ravel_context *c) {
  struct ravel_statistics s;
  ravel_get_statistics(c, &s);
  return s.live_bytes;
}

static void expect_released(const struct lender *l, int times) {
  cr_expect_eq(l->released, times, "released %d times, not %d", l->released, times);
  if (l->released) cr_expect(pthread_equal(l->thread, pthread_self()));
}

/* ---- imports ---- */

Test(imports, columns_as_wide_as_the_context_are_borrowed) {
  struct ravel_context *c = imports_context_of("64");
  struct lender l;
  struct ravel_value *v = import_doubles(c, &l, 0);
  expect_released(&l, 0);
  cr_expect_lt(live(c), 1000);
  cr_expect_eq(imports_number(c, "sum(xs)", v), 100.0 * (999 * 500 - 400000));
  cr_expect_eq(imports_number(c, "max_val({x * 2.0 : x in xs})", v), 1198);
  cr_expect_eq(imports_number(c, "sort(xs)[0]", v), -400);
  cr_expect_eq(imports_number(c, "({x + 1.0 : x in reverse(xs)} ++ xs)[0]", v), 600);
  cr_expect_eq(imports_number(c, "rep(xs, 7.0, 1)[1]", v), 7);
  cr_expect_eq(imports_number(c, "plus_scan(xs)[1000]", v), 999 * 500 - 400000);
  expect_released(&l, 0);
  ravel_release(v);
  expect_released(&l, 1);
  cr_expect_eq(live(c), 0);
  ravel_context_free(c);
  expect_released(&l, 1);
}

Test(imports, others_are_converted_and_released_at_once) {
  struct ravel_context *c = imports_context_of("32");
  struct lender l;
  struct ravel_value *v = import_doubles(c, &l, 0);
  expect_released(&l, 1);
  cr_expect_eq(imports_number(c, "sum(xs)", v), 100.0 * (999 * 500 - 400000));
  ravel_context_free(c);
  c = imports_context_of("64"); /* misaligned: copied */
  v = import_doubles(c, &l, 3);
  expect_released(&l, 1);
  cr_expect_eq(imports_number(c, "xs[99999]", v), 599);
  ravel_context_free(c);
}

Test(imports, results_that_are_arguments_keep_them) {
  struct ravel_context *c = imports_context_of("64");
  struct lender l;
  struct ravel_value *v = import_doubles(c, &l, 0);
  struct ravel_value *same = imports_apply(c, "xs", v), *two = imports_apply(c, "(xs, 1)", v),
                     *pair = NULL;
  struct ravel_value *parts[] = {v, same};
  fine(c, ravel_tuple(c, parts, 2, &pair));
  ravel_release(v);
  ravel_release(same);
  ravel_release(two);
  expect_released(&l, 0);
  cr_expect_eq(imports_number(c, "let (a, b) = xs in a[1] + b[2]", pair), -399 - 398);
  ravel_release(pair);
  expect_released(&l, 1);
  ravel_context_free(c);
}

Test(imports, a_context_releases_what_it_has) {
  struct ravel_context *c = imports_context_of("64");
  struct lender l[2];
  struct ravel_value *v = import_doubles(c, &l[0], 0);
  imports_apply(c, "xs", v);
  import_doubles(c, &l[1], 0);
  ravel_context_free(c);
  expect_released(&l[0], 1);
  expect_released(&l[1], 1);
}

Test(imports, errors_of_calls_release_nothing) {
  struct ravel_context *c = imports_context_of("64");
  struct ravel_function *f = NULL;
  struct ravel_value *result = NULL;
  struct lender l;
  struct ravel_value *v = import_doubles(c, &l, 0);
  fine(c, ravel_expression(c, "({x + 1.0 : x in xs} -> [#xs])[0]", "xs", "[float]", &f));
  fails(c, RAVEL_RUNTIME, "", ravel_call(c, f, &v, 1, &result));
  expect_released(&l, 0);
  ravel_release(v);
  expect_released(&l, 1);
  ravel_context_free(c);
}

Test(imports, values_that_do_not_fit_release_all) {
  struct ravel_context *c = imports_context_of("32");
  struct ravel_value *v = NULL;
  struct lender l;
  int64_t *wide = calloc(MANY, sizeof *wide);
  wide[77777] = wide[88888] = INT64_C(1) << 40;
  lender_begin(&l, wide, MANY * sizeof *wide, 0);
  struct ArrowSchema schema = lender_schema("l", NULL);
  struct ArrowArray array = lender_array(&l, MANY, NULL);
  fails(c, RAVEL_DATA, "1099511627776 at position 77777", ravel_import(c, &schema, &array, &v));
  expect_released(&l, 1);
  fails(c, RAVEL_DATA, "element 77777, 1099511627776",
        ravel_vector(c, RAVEL_INT64, wide, MANY, &v));
  cr_expect_eq(live(c), 0);
  free(wide);
  ravel_context_free(c);
}

Test(imports, can_be_interrupted) {
  struct ravel_context *c = imports_context_of("64");
  struct ravel_value *v = NULL;
  struct lender l;
  int32_t *narrow = calloc(MANY, sizeof *narrow);
  lender_begin(&l, narrow, MANY * sizeof *narrow, 0);
  struct ArrowSchema schema = lender_schema("i", NULL);
  struct ArrowArray array = lender_array(&l, MANY, NULL);
  ravel_interrupt(c);
  fails(c, RAVEL_INTERRUPTED, "interrupted", ravel_import(c, &schema, &array, &v));
  expect_released(&l, 1);
  cr_expect_eq(live(c), 0);
  fine(c, ravel_vector(c, RAVEL_INT32, narrow, MANY, &v));
  cr_expect_eq(imports_number(c, "float(sum(xs))", v), 0);
  free(narrow);
  ravel_context_free(c);
}

/* Lists of 0, 1, 2, 0, 1, 2 ... elements. */
static struct ravel_value *import_lists(struct ravel_context *c, struct lender *lists,
                                        struct lender *items) {
  static int32_t offsets[MANY + 1];
  static struct ArrowArray child;
  struct ArrowSchema item = lender_schema("g", NULL), *children[] = {&item};
  struct ArrowSchema schema = lender_schema("+l", children);
  struct ravel_value *v = NULL;
  for (int i = 0; i < MANY; i++) offsets[i + 1] = offsets[i] + i % 3;
  fill_doubles();
  lender_begin(items, doubles, sizeof doubles, 0);
  child = lender_array(items, MANY, NULL);
  lender_begin(lists, offsets, sizeof offsets, 0);
  struct ArrowArray array = lender_array(lists, MANY, &child);
  fine(c, ravel_import(c, &schema, &array, &v));
  return v;
}

Test(imports, lists_keep_what_they_borrow) {
  const char *const widths[] = {"64", "32"};
  for (int i = 0; i < 2; i++) {
    struct ravel_context *c = imports_context_of(widths[i]);
    struct lender lists, items;
    struct ravel_value *v = import_lists(c, &lists, &items);
    expect_released(&items, i);
    cr_expect_eq(imports_number(c, "float(sum({#x : x in xs}))", v), MANY - 1);
    cr_expect_eq(imports_number(c, "xs[5][1]", v), 2 + 3 - 400);
    cr_expect_eq(imports_number(c, "sum({sum(x) : x in xs})", v),
                 100.0 * (999 * 500 - 400000) - doubles[MANY - 1]);
    ravel_release(v);
    expect_released(&items, 1);
    expect_released(&lists, 1);
    ravel_context_free(c);
  }
}

/* ---- a stream ---- */

struct chunks {
  struct lender lenders[3];
  const int64_t *sizes;
  int next;
};

static int imports_get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
  (void)s;
  *out = lender_schema("g", NULL);
  return 0;
}

static int imports_get_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
  struct chunks *of = s->private_data;
  const int i = of->next++;
  out->release = NULL;
  if (i == 3) return 0;
  lender_begin(&of->lenders[i], doubles, (size_t)of->sizes[i] * sizeof *doubles, 0);
  *out = lender_array(&of->lenders[i], of->sizes[i], NULL);
  return 0;
}

static void imports_release_stream(struct ArrowArrayStream *s) {
  s->release = NULL;
}

static struct ravel_value *import_chunks(struct ravel_context *c, struct chunks *chunks) {
  struct ArrowArrayStream stream = {.get_schema = imports_get_schema,
                                    .get_next = imports_get_next,
                                    .release = imports_release_stream,
                                    .private_data = chunks};
  struct ravel_value *v = NULL;
  fill_doubles();
  fine(c, ravel_import_stream(c, &stream, &v));
  return v;
}

Test(imports, one_array_of_a_stream_is_borrowed_several_are_joined) {
  struct ravel_context *c = imports_context_of("64");
  struct chunks one = {.sizes = (int64_t[]){0, MANY, 0}};
  struct chunks three = {.sizes = (int64_t[]){1000, MANY, 3}};
  struct ravel_value *v = import_chunks(c, &one), *w = import_chunks(c, &three);
  expect_released(&one.lenders[0], 1);
  expect_released(&one.lenders[1], 0);
  for (int i = 0; i < 3; i++) expect_released(&three.lenders[i], 1);
  cr_expect_eq(imports_number(c, "sum(xs)", w) - imports_number(c, "sum(xs)", v),
               999 * 500 - 400000 - 400 - 399 - 398);
  ravel_release(v);
  expect_released(&one.lenders[1], 1);
  ravel_context_free(c);
}

/* ---- ravel_borrow ---- */

static struct ravel_value *borrow_doubles(struct ravel_context *c, struct lender *l) {
  struct ravel_value *v = NULL;
  fill_doubles();
  lender_begin(l, doubles, sizeof doubles, 0);
  fine(c, ravel_borrow(c, RAVEL_FLOAT64, l->data, MANY, &v));
  return v;
}

Test(imports, what_is_borrowed_can_be_taken_back) {
  struct ravel_context *c = imports_context_of("64");
  struct lender l;
  struct ravel_value *v = borrow_doubles(c, &l), *pair = NULL, *first = NULL;
  cr_expect_lt(live(c), 1000);
  struct ravel_value *same = imports_apply(c, "xs", v),
                     *sorted = imports_apply(c, "sort(xs)", v);
  struct ravel_value *parts[] = {v, same};
  fine(c, ravel_tuple(c, parts, 2, &pair));
  ravel_retain(v);
  ravel_release(v);
  cr_expect_eq(imports_number(c, "xs[1]", v), -399);
  cr_expect_lt(live(c), 8 * MANY + 10000);
  ravel_release(v);
  lender_end(&l);
  cr_expect_gt(live(c), 2 * 8 * MANY);
  cr_expect_lt(live(c), 2 * 8 * MANY + 10000); /* one copy for all */
  cr_expect_eq(imports_number(c, "xs[99999]", same), 599);
  cr_expect_eq(imports_number(c, "xs[0]", sorted), -400);
  fine(c, ravel_component(c, pair, 0, &first));
  cr_expect_eq(imports_number(c, "sum(xs)", first), 100.0 * (999 * 500 - 400000));
  ravel_context_free(c);
}

Test(imports, a_copy_for_others_cannot_be_interrupted) {
  struct ravel_context *c = imports_context_of("64");
  struct ravel_value *result = NULL;
  struct ravel_function *f = NULL;
  struct lender l;
  struct ravel_value *v = borrow_doubles(c, &l), *same = imports_apply(c, "xs", v);
  fine(c, ravel_expression(c, "sum(xs)", "xs", "[float]", &f));
  ravel_interrupt(c);
  ravel_release(v);
  lender_end(&l);
  fails(c, RAVEL_INTERRUPTED, "interrupted", ravel_call(c, f, &same, 1, &result));
  cr_expect_eq(imports_number(c, "xs[99999]", same), 599);
  ravel_context_free(c);
}

Test(imports, without_memory_for_a_copy_its_values_are_lost) {
  struct ravel_context *c =
      context_with((const char *const[]){"memory", "20000000", "threads", "2", NULL});
  enum { MOST = 2000000 }; /* of 8 bytes */
  struct lender l;
  struct ravel_value *v = NULL, *out = NULL;
  double *all = calloc(MOST, sizeof *all);
  lender_begin(&l, all, MOST * sizeof *all, 0);
  free(all);
  fine(c, ravel_borrow(c, RAVEL_FLOAT64, l.data, MOST, &v));
  struct ravel_value *same = imports_apply(c, "xs", v), *more = NULL;
  fine(c, ravel_vector(c, RAVEL_FLOAT64, l.data, MOST / 3, &more));
  ravel_release(v);
  lender_end(&l);
  fails(c, RAVEL_MISUSE, "no memory to keep it", ravel_component(c, same, 0, &out));
  ravel_release(same);
  cr_expect_eq(imports_number(c, "sum(xs)", more), 0);
  ravel_context_free(c);
}

Test(imports, what_is_converted_is_copied_at_once) {
  struct ravel_context *c = imports_context_of("32");
  struct lender l;
  struct ravel_value *v = borrow_doubles(c, &l), *small = NULL;
  lender_end(&l);
  cr_expect_eq(imports_number(c, "xs[99999]", v), 599);
  int32_t few[] = {1, 2, 3};
  fine(c, ravel_borrow(c, RAVEL_INT32, few, 3, &small));
  few[0] = 100;
  cr_expect_eq(imports_number(c, "float(sum(xs))", small), 6);
  fails(c, RAVEL_MISUSE, "NULL", ravel_borrow(c, RAVEL_INT32, NULL, 100000, &v));
  fails(c, RAVEL_MISUSE, "ravel_element", ravel_borrow(c, 99, few, 3, &v));
  ravel_context_free(c);
}

/* ---- exports ---- */

struct exported {
  struct ArrowSchema schema;
  struct ArrowArray array;
};

static const double *export_doubles(struct ravel_context *c, struct ravel_value *v,
                                    struct exported *x) {
  fine(c, ravel_export(c, v, &x->schema, &x->array));
  cr_assert_str_eq(x->schema.format, "g");
  cr_assert_eq(x->array.length, MANY);
  return x->array.buffers[1];
}

static void release_export(struct exported *x) {
  x->array.release(&x->array);
  x->schema.release(&x->schema);
}

static void *release_elsewhere(void *exported) {
  release_export(exported);
  return NULL;
}

static void expect_negated(const double *data) {
  for (int i = 0; i < MANY; i++) {
    if (data[i] != -doubles[i]) {
      cr_expect_eq(data[i], -doubles[i], "element %d", i);
      return;
    }
  }
}

Test(imports, exports_share_the_memory_of_results) {
  struct ravel_context *c = imports_context_of("64");
  struct lender l;
  struct exported once, twice;
  struct ravel_value *v = import_doubles(c, &l, 0);
  struct ravel_value *negated = imports_apply(c, "{-x : x in xs}", v);
  const uint64_t before = live(c);
  const double *data = export_doubles(c, negated, &once);
  cr_expect_eq(data, export_doubles(c, negated, &twice));
  cr_expect_eq(live(c), before);
  expect_negated(data);
  release_export(&twice);
  /* Neither what is computed from it nor what gets memory afterwards is written there. */
  struct ravel_value *more = imports_apply(c, "{x + 1.0 : x in {x * 2.0 : x in xs}}", negated);
  ravel_release(negated);
  cr_expect_lt(live(c), before + 1000);
  for (int i = 0; i < 10; i++) ravel_release(imports_apply(c, "{x * 3.0 : x in xs}", more));
  expect_negated(data);
  ravel_context_free(c);
  expect_released(&l, 1);
  expect_negated(data);
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, release_elsewhere, &once), 0);
  pthread_join(thread, NULL);
}

Test(imports, exports_of_what_is_borrowed_are_copies) {
  struct ravel_context *c = imports_context_of("64");
  struct lender l;
  struct exported x;
  struct ravel_value *v = import_doubles(c, &l, 0);
  const double *data = export_doubles(c, v, &x);
  ravel_release(v);
  expect_released(&l, 1);
  ravel_context_free(c);
  cr_expect_arr_eq(data, doubles, sizeof doubles);
  release_export(&x);
}

/* A context goes on while the readers of its results end on another thread. */
Test(imports, readers_end_while_the_context_works) {
  enum { ROUNDS = 50 };
  struct ravel_context *c = imports_context_of("64");
  struct lender l;
  struct ravel_value *v = import_doubles(c, &l, 0);
  for (int i = 0; i < ROUNDS; i++) {
    struct exported x;
    pthread_t thread;
    struct ravel_value *negated = imports_apply(c, "{-x : x in xs}", v);
    const double *data = export_doubles(c, negated, &x);
    expect_negated(data);
    cr_assert_eq(pthread_create(&thread, NULL, release_elsewhere, &x), 0);
    ravel_release(negated);
    negated = imports_apply(c, "{-x : x in xs}", v);
    pthread_join(thread, NULL);
    ravel_release(negated);
  }
  ravel_release(v);
  cr_expect_eq(live(c), 0);
  ravel_context_free(c);
}

Test(imports, an_export_can_be_imported_by_another_context) {
  struct ravel_context *c = imports_context_of("64"), *d = imports_context_of("64");
  struct lender l;
  struct exported x;
  struct ravel_value *v = import_doubles(c, &l, 0), *w = NULL;
  struct ravel_value *negated = imports_apply(c, "{-x : x in xs}", v);
  export_doubles(c, negated, &x);
  fine(d, ravel_import(d, &x.schema, &x.array, &w));
  ravel_context_free(c);
  cr_expect_lt(live(d), 1000);
  cr_expect_eq(imports_number(d, "sum(xs)", w), -100.0 * (999 * 500 - 400000));
  x.schema.release(&x.schema);
  ravel_context_free(d);
}
