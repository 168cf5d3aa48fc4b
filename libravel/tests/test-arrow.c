/* test-arrow.c - arrays of Arrow to columns and back: random ones, and each refusal. */
#include "libravel/export.h"
#include "libravel/tests/producer.h"

#include "base/tests/memory.h"
#include <stdlib.h>
#include <string.h>

static void begin(void) {
  memory_begin();
  producer_live = 0;
  producer_narrow = false;
}

static void end(void) {
  memory_end();
  cr_expect_eq(producer_live, 0, "%lld not released", (long long)producer_live);
}

TestSuite(arrow, .init = begin, .fini = end);

/* ---- allocations that fail on demand ---- */

static uint64_t allocations, failing; /* 0: none */

static bool refuses(void) {
  return ++allocations == failing;
}

void *__real_calloc(size_t, size_t);
void *__real_aligned_alloc(size_t, size_t);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_calloc(size_t n, size_t size) {
  return refuses() ? NULL : __real_calloc(n, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return refuses() ? NULL : __real_aligned_alloc(alignment, size);
}

/* ---- imports ---- */

static struct import new_import(void) {
  return (struct import){.arena = &arena,
                         .heap = &heap,
                         .int_elem = producer_narrow ? CVL_I32 : CVL_I64,
                         .float_elem = producer_narrow ? CVL_F32 : CVL_F64};
}

enum { MOST_CHUNKS = 3 };

static bool import_all(struct import *im, const struct ArrowSchema *schema,
                       const struct ArrowArray *arrays, uint64_t count) {
  if (!import_begin(im, schema)) return false;
  for (uint64_t i = 0; i < count; i++) {
    if (!import_check(im, &arrays[i])) return false;
  }
  import_allocate(im);
  for (uint64_t i = 0; i < count; i++) {
    if (!import_fill(im, &arrays[i])) return false;
  }
  return true;
}

/* Element i of a column as the reference has it. */
static int64_t bits_of(const struct import_column *c, uint64_t i) {
  const char *p = (const char *)c->data + i * c->bytes;
  int64_t bits = 0;
  if (c->kind == COLUMN_BOOL) return *(const uint8_t *)p;
  if (c->bytes == 8) {
    memcpy(&bits, p, 8);
  } else if (c->kind == COLUMN_FLOAT) {
    float narrow;
    memcpy(&narrow, p, 4);
    const double wide = narrow;
    memcpy(&bits, &wide, 8);
  } else {
    int32_t narrow;
    memcpy(&narrow, p, 4);
    bits = narrow;
  }
  return bits;
}

static void expect_columns(const struct import *im, const struct reference *r, uint64_t seed) {
  cr_assert_eq(im->columns.count, r->count + 1);
  cr_assert_eq(bits_of(&im->columns.items[0], 0), (int64_t)r->columns[0].length);
  for (uint32_t k = 0; k < r->count; k++) {
    const struct import_column *c = &im->columns.items[k + 1];
    cr_assert_eq(c->kind, r->columns[k].kind);
    cr_assert_eq(c->length, r->columns[k].length, "seed %llu, column %u", (long long)seed, k);
    cr_assert_eq(c->filled, c->length);
    for (uint64_t i = 0; i < c->length; i++) {
      cr_assert_eq(bits_of(c, i), r->columns[k].bits[i], "seed %llu, column %u, element %llu",
                   (long long)seed, k, (long long)i);
    }
  }
}

/* ---- exports ---- */

static enum ravel_code copy_column(void *with, uint32_t column, uint64_t first, uint64_t n,
                                   void *to) {
  const struct import_column *c = &((const struct import *)with)->columns.items[column];
  cr_assert_leq(first + n, c->length);
  if (n) memcpy(to, (const char *)c->data + first * c->bytes, n * c->bytes);
  return RAVEL_OK;
}

static enum ravel_code export_all(struct import *im, struct ArrowSchema *schema,
                                  struct ArrowArray *array, char *problem) {
  uint64_t *lengths = malloc(im->columns.count * sizeof *lengths);
  for (size_t i = 0; i < im->columns.count; i++) lengths[i] = im->columns.items[i].length;
  struct export e = {.type = import_type(im),
                     .lengths = lengths,
                     .int_elem = im->int_elem,
                     .float_elem = im->float_elem,
                     .copy = copy_column,
                     .with = im};
  const enum ravel_code code = export_sequence(&e, schema, array);
  cr_assert_eq(code == RAVEL_OK, e.problem[0] == '\0', "%s", e.problem);
  if (problem) snprintf(problem, sizeof e.problem, "%s", e.problem);
  free(lengths);
  return code;
}

/* ---- random ones ---- */

static void round_trip(struct import *im, const struct reference *r, uint64_t seed) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  struct import again = new_import();
  cr_assert_eq(export_all(im, &schema, &array, NULL), RAVEL_OK);
  cr_assert(import_all(&again, &schema, &array, 1), "seed %llu: %s", (long long)seed,
            again.problem);
  cr_assert_str_eq(type_text(&arena, import_type(&again), false),
                   type_text(&arena, import_type(im), false));
  expect_columns(&again, r, seed);
  import_free(&again);
  schema.release(&schema);
  array.release(&array);
  cr_assert_null(schema.release);
  cr_assert_null(array.release);
}

static uint64_t random_size(void) {
  const uint64_t kind = producer_random(6);
  return kind < 2 ? kind : kind == 2 ? producer_random(200) : producer_random(12);
}

static void try_case(uint64_t seed) {
  producer_seed = seed * 7919 + 1;
  producer_narrow = seed % 3 == 0;
  struct shape *shape = shape_random(1 + (unsigned)producer_random(4));
  struct reference *r = calloc(1, sizeof *r);
  reference_begin(r, shape);
  struct ArrowSchema schema;
  struct ArrowArray arrays[MOST_CHUNKS];
  const uint64_t count = 1 + producer_random(MOST_CHUNKS);
  producer_schema(shape, &schema);
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t size = random_size();
    producer_array(shape, size, 0, size, r, &arrays[i]);
  }
  struct import im = new_import();
  cr_assert(import_all(&im, &schema, arrays, count), "seed %llu: %s", (long long)seed,
            im.problem);
  expect_columns(&im, r, seed);
  round_trip(&im, r, seed);
  import_free(&im);
  for (uint64_t i = 0; i < count; i++) arrays[i].release(&arrays[i]);
  schema.release(&schema);
  reference_free(r);
  free(r);
  shape_free(shape);
  cr_assert_eq(producer_live, 0);
  arena_free(&arena);
}

Test(arrow, random_arrays_are_imported_and_exported) {
  for (uint64_t seed = 0; seed < 6000; seed++) try_case(seed);
}
