/* test-arrow.c - arrays of Arrow to columns and back: random ones, and each refusal. */
#include "libravel/export.h"
#include "libravel/tests/producer.h"

#include "base/tests/memory.h"
#include <stdlib.h>
#include <string.h>

static void arrow_begin(void) {
  memory_begin();
  producer_live = 0;
  producer_narrow = false;
}

static void arrow_end(void) {
  memory_end();
  cr_expect_eq(producer_live, 0, "%lld not released", (long long)producer_live);
}

TestSuite(arrow, .init = arrow_begin, .fini = arrow_end);

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
  for (uint32_t k = 0; k < im->columns.count; k++) {
    if (!import_gather(im, k)) return false;
  }
  return true;
}

static void expect_offsets(const struct import_column *c) {
  const int64_t *lengths = (const void *)c->made->data;
  int64_t *offsets = calloc(c->length + 1, sizeof *offsets);
  for (int round = 0; round < 4; round++) {
    const uint64_t first = producer_random(c->length + 1);
    const uint64_t n = producer_random(c->length + 1 - first + 1);
    import_make_offsets((void *)(uintptr_t)c, first, n, offsets);
    int64_t sum = 0;
    for (uint64_t i = 0; i < first; i++) sum += lengths[i];
    for (uint64_t i = 0; i < n; i++) {
      cr_assert_eq(offsets[i], sum);
      if (first + i < c->length) sum += lengths[first + i];
    }
  }
  free(offsets);
}

/* Some elements of a column, made by themselves. */
static void expect_chunks(const struct import *im, uint32_t k) {
  const struct import_column *c = &im->columns.items[k];
  if (c->parts.count == 0) return;
  struct import_job job = {c, import_elem(im, k), UINT64_MAX};
  for (int round = 0; round < 4; round++) {
    const uint64_t first = producer_random(c->length + 1),
                   n = producer_random(c->length - first + 1);
    char *chunk = malloc(n * c->bytes + 1);
    import_make(&job, first, n, chunk);
    cr_expect_arr_eq(chunk, c->made->data + first * c->bytes, n * c->bytes);
    free(chunk);
  }
  if (c->kind == COLUMN_SEGDES) expect_offsets(c);
  uint32_t array = 99;
  const void *where = import_borrowable(im, k, &array);
  if (!where) return;
  cr_expect_lt(array, MOST_CHUNKS);
  cr_expect_arr_eq(where, c->made->data, c->length * c->bytes);
}

/* Element i of a column as the reference has it. */
static int64_t arrow_bits_of(const struct import_column *c, uint64_t i) {
  const char *p = (const char *)c->made->data + i * c->bytes;
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
  cr_assert_eq(arrow_bits_of(&im->columns.items[0], 0), (int64_t)r->columns[0].length);
  for (uint32_t k = 0; k < r->count; k++) {
    const struct import_column *c = &im->columns.items[k + 1];
    cr_assert_eq(c->kind, r->columns[k].kind);
    cr_assert_eq(c->length, r->columns[k].length, "seed %llu, column %u", (long long)seed, k);
    cr_assert_eq(c->filled, c->length);
    expect_chunks(im, k + 1);
    for (uint64_t i = 0; i < c->length; i++) {
      cr_assert_eq(arrow_bits_of(c, i), r->columns[k].bits[i],
                   "seed %llu, column %u, element %llu", (long long)seed, k, (long long)i);
    }
  }
}

/* ---- exports ---- */

static enum ravel_code copy_column(void *with, uint32_t column, uint64_t first, uint64_t n,
                                   void *to) {
  const struct import_column *c = &((const struct import *)with)->columns.items[column];
  cr_assert_leq(first + n, c->length);
  if (n) memcpy(to, (const char *)c->made->data + first * c->bytes, n * c->bytes);
  return RAVEL_OK;
}

static enum ravel_code export_all(struct import *im, struct ArrowSchema *schema,
                                  struct ArrowArray *array, char *problem) {
  uint64_t *lengths = malloc(im->columns.count * sizeof *lengths);
  const uint64_t armed = failing;
  failing = 0; /* while the type is made */
  struct type *type = import_type(im);
  failing = armed;
  allocations = 0;
  for (size_t i = 0; i < im->columns.count; i++) lengths[i] = im->columns.items[i].length;
  struct export e = {.type = type,
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

static uint64_t arrow_random_size(void) {
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
    const uint64_t size = arrow_random_size();
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

/* ---- without memory ---- */

/* A list of structs of a text, a bool and an int, in two chunks, so that nothing is borrowed.
 */
struct sample {
  struct shape *shape;
  struct reference *reference;
  struct ArrowSchema schema;
  struct ArrowArray arrays[2];
};

static void begin_sample(struct sample *s) {
  static const char *const fields[] = {"u", "b", "i"};
  s->shape = shape_of("+L");
  struct shape *tuple = s->shape->children[s->shape->child_count++] = shape_of("+s");
  for (; tuple->child_count < 3; tuple->child_count++) {
    tuple->children[tuple->child_count] = shape_of(fields[tuple->child_count]);
  }
  s->reference = calloc(1, sizeof *s->reference);
  reference_begin(s->reference, s->shape);
  producer_schema(s->shape, &s->schema);
  for (int i = 0; i < 2; i++) {
    producer_array(s->shape, 20, 0, 20, s->reference, &s->arrays[i]);
  }
}

static void end_sample(struct sample *s) {
  for (int i = 0; i < 2; i++) s->arrays[i].release(&s->arrays[i]);
  s->schema.release(&s->schema);
  reference_free(s->reference);
  free(s->reference);
  shape_free(s->shape);
}

/* Whether memory sufficed. */
static bool try_import(struct import *im, const struct sample *s) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return false;
  cr_assert(import_all(im, &s->schema, s->arrays, 2), "%s", im->problem);
  memory_guard_end(&guard);
  return true;
}

Test(arrow, imports_without_memory_leave_nothing) {
  struct sample s;
  begin_sample(&s);
  bool fine = false;
  uint64_t tries = 0;
  for (; !fine; tries++) {
    arena_free(&arena);
    heap.count = 0;
    heap.fail_at = tries + 1;
    struct import im = new_import();
    fine = try_import(&im, &s);
    if (fine) expect_columns(&im, s.reference, 0);
    import_free(&im);
    cr_assert_lt(tries, 1000);
  }
  cr_expect_gt(tries, 6);
  end_sample(&s);
}

Test(arrow, exports_without_memory_leave_nothing) {
  struct sample s;
  begin_sample(&s);
  struct import im = new_import();
  cr_assert(try_import(&im, &s));
  struct ArrowSchema schema;
  struct ArrowArray array;
  char problem[200];
  enum ravel_code code = RAVEL_MEMORY;
  for (failing = 1; code != RAVEL_OK; failing++) {
    code = export_all(&im, &schema, &array, problem);
    if (code == RAVEL_OK) break;
    cr_assert_eq(code, RAVEL_MEMORY);
    cr_assert_str_eq(problem, "no memory for an array of Arrow");
    cr_assert_null(schema.release);
    cr_assert_null(array.release);
  }
  cr_expect_eq(failing, 20); /* after 7 for schemas, 7 for arrays, 5 buffers */
  failing = 0;
  schema.release(&schema);
  array.release(&array);
  import_free(&im);
  end_sample(&s);
}

/* ---- ownership ---- */

Test(arrow, children_can_be_moved_and_released_by_themselves) {
  struct sample s;
  begin_sample(&s);
  struct import im = new_import(), again = new_import();
  cr_assert(try_import(&im, &s));
  struct ArrowSchema schema, moved_schema;
  struct ArrowArray array, moved;
  cr_assert_eq(export_all(&im, &schema, &array, NULL), RAVEL_OK);
  moved = *array.children[0];
  moved_schema = *schema.children[0];
  array.children[0]->release = NULL;
  schema.children[0]->release = NULL;
  array.release(&array);
  schema.release(&schema);
  cr_assert_str_eq(moved_schema.format, "+s");
  cr_assert_str_eq(moved_schema.children[2]->name, "2");
  cr_assert(import_all(&again, &moved_schema, &moved, 1), "%s", again.problem);
  cr_expect_eq(again.columns.items[1].length, s.reference->columns[1].length);
  import_free(&again);
  moved.release(&moved);
  moved_schema.release(&moved_schema);
  import_free(&im);
  end_sample(&s);
}

Test(arrow, an_array_with_the_wanted_elements_is_borrowed) {
  struct shape *shape = shape_of("g");
  struct reference *r = calloc(1, sizeof *r);
  struct ArrowSchema schema;
  struct ArrowArray array;
  reference_begin(r, shape);
  producer_schema(shape, &schema);
  producer_array(shape, 100, 10, 80, r, &array);
  array.offset += 10;
  array.length = 80;
  struct import im = new_import();
  cr_assert(import_all(&im, &schema, &array, 1), "%s", im.problem);
  uint32_t number = 99;
  cr_expect_eq(import_borrowable(&im, 1, &number),
               (const char *)array.buffers[1] + 8 * array.offset);
  cr_expect_eq(number, 0);
  expect_columns(&im, r, 0);
  import_free(&im);
  array.release(&array);
  schema.release(&schema);
  reference_free(r);
  free(r);
  shape_free(shape);
}

/* ---- exports ---- */

static struct import_memory *memory_with(const void *data, uint64_t bytes) {
  enum { ALIGNMENT = _Alignof(struct import_memory) };
  const uintptr_t at =
      (uintptr_t)arena_alloc(&arena, sizeof(struct import_memory) + bytes + ALIGNMENT);
  struct import_memory *m = (void *)((at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  memcpy(m->data, data, bytes);
  return m;
}

static const char *text_format(const int64_t *chars, const int64_t *lengths, uint64_t n,
                               uint64_t total, enum ravel_code expected) {
  const int64_t rows = (int64_t)n;
  struct import_column columns[] = {
      {.kind = COLUMN_SEGDES, .bytes = 8, .length = 1, .made = memory_with(&rows, 8)},
      {.kind = COLUMN_SEGDES, .bytes = 8, .length = n, .made = memory_with(lengths, 8 * n)},
      {.kind = COLUMN_INT, .bytes = 8, .length = total, .made = memory_with(chars, 8 * total)}};
  struct import im = {.columns = {columns, 3, 3}};
  const uint64_t sizes[] = {1, n, total};
  struct export e = {
      .type = type_sequence(&arena, type_sequence(&arena, type_base(&arena, TYPE_CHAR))),
      .lengths = sizes,
      .int_elem = CVL_I64,
      .float_elem = CVL_F64,
      .copy = copy_column,
      .with = &im};
  struct ArrowSchema schema;
  struct ArrowArray array;
  cr_assert_eq(export_sequence(&e, &schema, &array), expected, "%s", e.problem);
  if (expected != RAVEL_OK) return arena_printf(&arena, "%s", e.problem);
  const char *format = arena_printf(&arena, "%s", schema.format);
  schema.release(&schema);
  array.release(&array);
  return format;
}

Test(arrow, texts_that_are_no_utf8_are_binary) {
  static const struct {
    const char *bytes, *format;
  } texts[] = {{"", "U"},
               {"plain", "U"},
               {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "U"},
               {"\x80", "Z"},
               {"\xc3", "Z"},
               {"\xc0\x80", "Z"},
               {"\xe0\x80\x80", "Z"},
               {"\xed\xa0\x80", "Z"},
               {"\xf0\x80\x80\x80", "Z"},
               {"\xf4\x90\x80\x80", "Z"},
               {"\xf5\x80\x80\x80", "Z"},
               {"\xe2\x82", "Z"},
               {"a\xe2\x28\xa1", "Z"}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    int64_t chars[16];
    const int64_t length = (int64_t)strlen(texts[i].bytes);
    for (int64_t k = 0; k < length; k++) chars[k] = (uint8_t)texts[i].bytes[k];
    cr_expect_str_eq(text_format(chars, &length, 1, (uint64_t)length, RAVEL_OK),
                     texts[i].format, "text %zu", i);
  }
  /* Together they are UTF-8, each for itself is not. */
  const int64_t chars[] = {0xc3, 0xa4}, lengths[] = {1, 1};
  cr_expect_str_eq(text_format(chars, lengths, 2, 2, RAVEL_OK), "Z");
}

Test(arrow, what_cannot_be_exported) {
  const int64_t chars[] = {65, 300}, length = 2;
  cr_expect_str_eq(text_format(chars, &length, 1, 2, RAVEL_DATA),
                   "a char at position 1 has the code 300, which is no byte");
  cr_expect_str_eq(text_format(chars, &length, 1, 1, RAVEL_INTERNAL),
                   "column 2 of the value has 1 elements instead of 2");
  struct export e = {.type = type_base(&arena, TYPE_INT)};
  struct ArrowSchema schema;
  struct ArrowArray array;
  cr_expect_eq(export_sequence(&e, &schema, &array), RAVEL_DATA);
  cr_expect_str_eq(e.problem, "only a sequence is an array of Arrow");
  cr_expect_null(array.release);
}
