/* test-libravel-arrow.c - arrays and streams of Arrow into a context and out of it. */
#include "context.h"
#include "libravel/tests/producer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

TestSuite(libravel_arrow);

static struct ravel_context *arrow_context_of(const char *width) {
  return context_with((const char *const[]){"int", width, "float", width, NULL});
}

/* ---- a stream of arrays ---- */

struct stream {
  const struct shape *shape;
  struct reference *reference;
  const uint64_t *sizes; /* of the arrays; 0 ends them */
  uint64_t next, fail_at;
  int releases;
};

static int arrow_get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
  producer_schema(((struct stream *)s->private_data)->shape, out);
  return 0;
}

static int arrow_get_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
  struct stream *of = s->private_data;
  if (++of->next == of->fail_at) return EIO;
  out->release = NULL;
  const uint64_t size = of->sizes[of->next - 1];
  if (size == UINT64_MAX) return 0;
  producer_array(of->shape, size, 0, size, of->reference, out);
  return 0;
}

static const char *arrow_get_last_error(struct ArrowArrayStream *s) {
  return ((struct stream *)s->private_data)->fail_at == 2 ? NULL : "the cable is cut";
}

static void arrow_release_stream(struct ArrowArrayStream *s) {
  ((struct stream *)s->private_data)->releases++;
  s->release = NULL;
}

static struct ArrowArrayStream stream_of(struct stream *s) {
  return (struct ArrowArrayStream){.get_schema = arrow_get_schema,
                                   .get_next = arrow_get_next,
                                   .get_last_error = arrow_get_last_error,
                                   .release = arrow_release_stream,
                                   .private_data = s};
}

/* ---- there and back ---- */

static void arrow_try_stream(struct ravel_context *const contexts[2], uint64_t seed) {
  struct reference *r = calloc(1, sizeof *r);
  producer_seed = seed * 104729 + 3;
  producer_narrow = seed % 2;
  struct ravel_context *c = contexts[seed % 2];
  struct shape *shape = shape_random(3);
  reference_begin(r, shape);
  const uint64_t sizes[] = {producer_random(30), 0, producer_random(3), UINT64_MAX};
  struct stream s = {.shape = shape, .reference = r, .sizes = sizes};
  struct ArrowArrayStream stream = stream_of(&s);
  struct ravel_value *v = NULL, *w = NULL;
  fine(c, ravel_import_stream(c, &stream, &v));
  cr_assert_null(stream.release);
  cr_assert_eq(s.releases, 1);
  cr_assert_eq(producer_live, 0, "seed %llu", (long long)seed);
  struct ArrowSchema schema;
  struct ArrowArray array;
  fine(c, ravel_export(c, v, &schema, &array));
  cr_assert_eq((uint64_t)array.length, sizes[0] + sizes[2]);
  fine(c, ravel_import(c, &schema, &array, &w));
  cr_assert_null(array.release);
  schema.release(&schema);
  cr_assert_str_eq(ravel_type(v), ravel_type(w));
  /* Equality of the values is NESL's. */
  char types[2048];
  snprintf(types, sizeof types, "%s, %s", ravel_type(v), ravel_type(v));
  struct ravel_function *f = NULL;
  struct ravel_value *both[] = {v, w}, *same = NULL;
  bool equal = false;
  if (!strstr(types, "...")) {
    fine(c, ravel_expression(c, "eql(a, b)", "a, b", types, &f));
    fine(c, ravel_call(c, f, both, 2, &same));
    fine(c, ravel_get_bool(c, same, &equal));
    cr_assert(equal, "seed %llu: %s", (long long)seed, ravel_type(v));
  }
  ravel_release(same);
  ravel_function_release(f);
  ravel_release(v);
  ravel_release(w);
  reference_free(r);
  free(r);
  shape_free(shape);
}

Test(libravel_arrow, streams_are_imported_and_exported) {
  struct ravel_context *contexts[] = {arrow_context_of("64"), arrow_context_of("32")};
  for (uint64_t seed = 0; seed < 60; seed++) arrow_try_stream(contexts, seed);
  for (int i = 0; i < 2; i++) ravel_context_free(contexts[i]);
}

Test(libravel_arrow, exports_outlive_the_context) {
  struct ravel_context *c = arrow_context_of("64");
  const int64_t data[] = {1, -2, 3};
  const bool flags[] = {true, false, true};
  struct ravel_value *parts[2] = {NULL}, *pair = NULL, *f = NULL;
  struct ArrowSchema schema;
  struct ArrowArray array;
  fine(c, ravel_vector(c, RAVEL_INT64, data, 3, &parts[0]));
  fine(c, ravel_vector(c, RAVEL_BOOL8, flags, 3, &parts[1]));
  struct ravel_function *zip = NULL;
  fine(c, ravel_expression(c, "{(x, y) : x in a; y in b}", "a, b", "[int], [bool]", &zip));
  fine(c, ravel_call(c, zip, parts, 2, &pair));
  fine(c, ravel_export(c, pair, &schema, &array));
  fine(c, ravel_int(c, 3, &f));
  struct ArrowSchema none_schema;
  struct ArrowArray none;
  fails(c, RAVEL_DATA, "only a sequence is an array of Arrow",
        ravel_export(c, f, &none_schema, &none));
  cr_expect_null(none.release);
  ravel_context_free(c);
  cr_assert_str_eq(schema.format, "+s");
  cr_assert_str_eq(schema.children[0]->format, "l");
  cr_assert_str_eq(schema.children[1]->name, "1");
  cr_assert_eq(array.length, 3);
  cr_expect_arr_eq(array.children[0]->buffers[1], data, sizeof data);
  cr_expect_eq(*(const uint8_t *)array.children[1]->buffers[1] & 7, 5);
  array.release(&array);
  schema.release(&schema);
}

/* ---- errors ---- */

Test(libravel_arrow, what_is_taken_over_is_released_once) {
  struct ravel_context *c = arrow_context_of("64");
  struct shape *shape = shape_of("g");
  struct reference *r = calloc(1, sizeof *r);
  struct ArrowSchema schema;
  struct ArrowArray array, released = {.release = NULL};
  struct ravel_value *v = NULL;
  reference_begin(r, shape);
  producer_schema(shape, &schema);
  producer_array(shape, 5, 1, 3, r, &array); /* elements 0 and 4 are null */
  fails(c, RAVEL_DATA, "the array: a null at position 0", ravel_import(c, &schema, &array, &v));
  cr_expect_null(array.release);
  cr_expect_null(v);
  cr_expect_eq(producer_live, 1);
  producer_array(shape, 5, 0, 5, r, &array);
  fails(c, RAVEL_MISUSE, "NULL", ravel_import(c, NULL, &array, &v));
  cr_expect_null(array.release);
  fails(c, RAVEL_MISUSE, "released", ravel_import(c, &schema, &released, &v));
  cr_expect_eq(producer_live, 1);
  schema.release(&schema);
  producer_array(shape, 5, 0, 5, r, &array);
  fails(c, RAVEL_DATA, "the schema is released", ravel_import(c, &schema, &array, &v));
  cr_expect_eq(producer_live, 0);
  reference_free(r);
  free(r);
  shape_free(shape);
  ravel_context_free(c);
}

Test(libravel_arrow, errors_of_a_producer_are_passed_on) {
  struct ravel_context *c = arrow_context_of("64");
  struct shape *shape = shape_of("l");
  struct reference *r = calloc(1, sizeof *r);
  reference_begin(r, shape);
  const uint64_t sizes[] = {3, 3, 3, UINT64_MAX};
  for (uint64_t at = 1; at < 5; at++) {
    struct stream s = {.shape = shape, .reference = r, .sizes = sizes, .fail_at = at};
    struct ArrowArrayStream stream = stream_of(&s);
    struct ravel_value *v = NULL;
    fails(c, RAVEL_DATA, at == 2 ? strerror(EIO) : "the cable is cut",
          ravel_import_stream(c, &stream, &v));
    cr_expect_eq(s.releases, 1);
    cr_expect_eq(producer_live, 0);
    cr_expect_null(v);
  }
  reference_free(r);
  free(r);
  shape_free(shape);
  ravel_context_free(c);
}
