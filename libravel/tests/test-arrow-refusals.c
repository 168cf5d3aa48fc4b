/* test-arrow-refusals.c - arrays that are refused, with the path and the position. */
#include "libravel/import.h"

#include "base/tests/memory.h"
#include <string.h>

TestSuite(arrow_refusals, .init = memory_begin, .fini = memory_end);

/* ---- arrays by hand ---- */

enum { MOST = 4 };

/* An array and its schema; what children are, the tests set. */
struct made {
  struct ArrowSchema schema;
  struct ArrowArray array;
  const void *buffers[4];
  struct ArrowSchema *schemas[MOST];
  struct ArrowArray *arrays[MOST];
};

static void no_release_schema(struct ArrowSchema *s) {
  s->release = NULL;
}

static void no_release_array(struct ArrowArray *a) {
  a->release = NULL;
}

static void arrow_refusals_make(struct made *m, const char *format, const char *name,
                                int64_t length, int64_t buffers, const void *data) {
  *m = (struct made){.buffers = {NULL, data}};
  m->schema = (struct ArrowSchema){
      .format = format, .name = name, .children = m->schemas, .release = no_release_schema};
  m->array = (struct ArrowArray){.length = length,
                                 .n_buffers = buffers,
                                 .buffers = m->buffers,
                                 .children = m->arrays,
                                 .release = no_release_array};
}

static void add_child(struct made *m, struct made *child) {
  m->schemas[m->schema.n_children++] = &child->schema;
  m->arrays[m->array.n_children++] = &child->array;
}

static bool is_narrow;

static const char *arrow_refusals_problem_of(struct made *const *chunks, unsigned count) {
  struct import im = {.arena = &arena,
                      .heap = &heap,
                      .int_elem = is_narrow ? CVL_I32 : CVL_I64,
                      .float_elem = is_narrow ? CVL_F32 : CVL_F64};
  bool fine = import_begin(&im, &chunks[0]->schema);
  for (unsigned i = 0; fine && i < count; i++) fine = import_check(&im, &chunks[i]->array);
  if (fine) import_allocate(&im);
  for (unsigned i = 0; fine && i < count; i++) fine = import_fill(&im, &chunks[i]->array);
  for (uint32_t k = 0; fine && k < im.columns.count; k++) fine = import_gather(&im, k);
  import_free(&im);
  return fine ? "" : im.problem;
}

static void arrow_refusals_expect(struct made *m, const char *problem) {
  cr_expect_str_eq(arrow_refusals_problem_of((struct made *[]){m}, 1), problem);
}

static void expect_beginning(struct made *m, const char *problem) {
  const char *found = arrow_refusals_problem_of((struct made *[]){m}, 1);
  cr_expect(strncmp(found, problem, strlen(problem)) == 0, "%s", found);
}

/* event: a struct with one field, jets: a list of structs of pt. */
struct events {
  struct made event, jets, jet, pt;
  int32_t offsets[5];
  double values[6];
};

static void make_events(struct events *e) {
  memcpy(e->offsets, (int32_t[]){1, 3, 3, 6, 6}, sizeof e->offsets);
  for (int i = 0; i < 6; i++) e->values[i] = i + 0.5;
  arrow_refusals_make(&e->event, "+s", "event", 4, 1, NULL);
  arrow_refusals_make(&e->jets, "+l", "jets", 4, 2, e->offsets);
  arrow_refusals_make(&e->jet, "+s", "item", 6, 1, NULL);
  arrow_refusals_make(&e->pt, "g", "pt", 6, 2, e->values);
  add_child(&e->event, &e->jets);
  add_child(&e->jets, &e->jet);
  add_child(&e->jet, &e->pt);
}

/* ---- nulls ---- */

Test(arrow_refusals, nulls) {
  struct events e;
  const uint8_t bits[] = {0x1e}; /* 0 and 5 */
  make_events(&e);
  arrow_refusals_expect(&e.event, "");
  e.pt.buffers[0] = bits;
  arrow_refusals_expect(&e.event, ""); /* null_count is 0 */
  e.pt.array.null_count = -1;
  arrow_refusals_expect(&e.event, "event.jets[].pt: a null at position 4");
  e.pt.array.null_count = 2;
  arrow_refusals_expect(&e.event, "event.jets[].pt: a null at position 4");
  e.offsets[3] = e.offsets[4] = 5;
  arrow_refusals_expect(&e.event, ""); /* both are outside */
  e.pt.buffers[0] = NULL;
  arrow_refusals_expect(&e.event, "event.jets[].pt: 2 nulls, and no bitmap of them");
  e.pt.array.null_count = -1;
  arrow_refusals_expect(&e.event, "");
  e.event.buffers[0] = (const uint8_t[]){0x07};
  e.event.array.null_count = 1;
  arrow_refusals_expect(&e.event, "event: a null at position 3");
}

Test(arrow_refusals, positions_count_over_all_chunks) {
  struct events first, second;
  make_events(&first);
  make_events(&second);
  second.jet.buffers[0] = (const uint8_t[]){0xfd};
  second.jet.array.null_count = -1;
  cr_expect_str_eq(arrow_refusals_problem_of((struct made *[]){&first.event, &second.event}, 2),
                   "event.jets[]: a null at position 5");
  second.jet.array.null_count = 0;
  second.offsets[2] = 1;
  cr_expect_str_eq(arrow_refusals_problem_of((struct made *[]){&first.event, &second.event}, 2),
                   "event.jets: the offsets at position 5 are 3 and 1, of 6 elements");
}

Test(arrow_refusals, nulls_far_in_a_bitmap) {
  struct made m;
  static int8_t data[300];
  uint8_t bits[40];
  arrow_refusals_make(&m, "c", "", 300, 2, data);
  m.array.null_count = -1;
  m.buffers[0] = bits;
  for (unsigned offset = 0; offset < 9; offset++) {
    m.array.offset = offset;
    m.array.length = 290;
    for (unsigned at = 0; at < 290; at++) {
      char text[80];
      memset(bits, 0xff, sizeof bits);
      bits[(at + offset) / 8] = (uint8_t) ~(1u << (at + offset) % 8);
      snprintf(text, sizeof text, "the array: a null at position %u", at);
      arrow_refusals_expect(&m, text);
    }
  }
}

/* ---- types ---- */

Test(arrow_refusals, formats) {
  static const char *const others[][2] = {
      {"w:4", "it is binary of a fixed size, which cannot be imported: cast it to binary"},
      {"d:9,2", "it is a decimal, which cannot be imported: cast it to float64"},
      {"tdm", "it is a date, which cannot be imported: cast it to an integer"},
      {"tss:", "it is a timestamp, which cannot be imported: cast it to int64"},
      {"+m", "it is a map, which cannot be imported: cast"},
      {"+vl", "it is a list view, which"},
      {"+r", "it is run-end encoded, which"},
      {"+ud:0", "it is a union, which"},
      {"", "an Arrow type that is not known, of the format \"\""},
      {"ii", "an Arrow type that is not known, of the format \"ii\""},
      {"+w:", "an Arrow type that is not known"},
      {"+w:-1", "an Arrow type that is not known"},
      {"+w:99999999999", "an Arrow type that is not known"},
      {"+w:3x", "an Arrow type that is not known"}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    struct events e;
    char text[150];
    make_events(&e);
    e.pt.schema.format = others[i][0];
    snprintf(text, sizeof text, "event.jets[].pt: %s", others[i][1]);
    expect_beginning(&e.event, text);
  }
  struct events e;
  make_events(&e);
  e.jet.schema.n_children = 0;
  arrow_refusals_expect(&e.event, "event.jets[]: a struct with 0 fields");
  make_events(&e);
  e.jet.schemas[0] = NULL;
  arrow_refusals_expect(&e.event, "event.jets[]: the schema of a child is missing");
  make_events(&e);
  e.pt.schema.format = NULL;
  arrow_refusals_expect(&e.event,
                        "event.jets[].pt: an Arrow type that is not known, of the format \"\"");
}

Test(arrow_refusals, fields_without_a_name_are_numbered) {
  struct made tuple, a, b;
  const int8_t data[2] = {1, 2};
  arrow_refusals_make(&tuple, "+s", NULL, 2, 1, NULL);
  arrow_refusals_make(&a, "c", NULL, 2, 2, data);
  arrow_refusals_make(&b, "w:4", "", 2, 2, data);
  add_child(&tuple, &a);
  add_child(&tuple, &b);
  expect_beginning(&tuple, "1: it is binary of a fixed size, which cannot be imported");
}

Test(arrow_refusals, types_that_nest_too_deep) {
  static struct made levels[ARROW_MOST_DEPTH + 1];
  static const int32_t offsets[] = {0};
  static const int8_t data[] = {0};
  for (int i = 0; i <= ARROW_MOST_DEPTH; i++) {
    const bool leaf = i == ARROW_MOST_DEPTH;
    arrow_refusals_make(&levels[i], leaf ? "c" : "+l", "", 0, 2,
                        leaf ? (void *)data : (void *)offsets);
    if (i > 0) add_child(&levels[i - 1], &levels[i]);
  }
  arrow_refusals_expect(
      &levels[0], "...[][][][][][][][][][][][][][][][][][][][]: this type nests deeper than "
                  "500 levels");
  arrow_refusals_expect(&levels[1], "");
}

Test(arrow_refusals, types_with_too_many_columns) {
  enum { FIELDS = 5000 };
  static struct made field, tuple, outer;
  static struct ArrowSchema *schemas[FIELDS], *twice[2];
  arrow_refusals_make(&field, "c", "x", 0, 2, NULL);
  arrow_refusals_make(&tuple, "+s", "t", 0, 1, NULL);
  arrow_refusals_make(&outer, "+s", "o", 0, 1, NULL);
  for (int i = 0; i < FIELDS; i++) schemas[i] = &field.schema;
  tuple.schema.n_children = FIELDS;
  tuple.schema.children = schemas;
  arrow_refusals_expect(&tuple, "t: this type nests too deep: a tuple of n counts as n levels");
  outer.schema.n_children = 2;
  outer.schema.children = twice;
  twice[0] = twice[1] = &tuple.schema;
  arrow_refusals_expect(&outer, "o.t.x: " VALUE_TOO_MANY_COLUMNS);
  outer.schema.n_children = INT64_MAX;
  arrow_refusals_expect(&outer, "o: a struct with 9223372036854775807 fields");
}

/* ---- values ---- */

Test(arrow_refusals, unsigned_values_beyond_an_int) {
  struct made m;
  const uint64_t naturals[] = {1, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
  arrow_refusals_make(&m, "L", "n", 2, 2, naturals);
  arrow_refusals_expect(&m, "");
  m.array.length = 4;
  arrow_refusals_expect(&m,
                        "n: 9223372036854775808 at position 2 does not fit an INT of 64 bits");
}

Test(arrow_refusals, elements_without_a_type) {
  struct made m;
  arrow_refusals_make(&m, "n", "x", 0, 0, NULL);
  arrow_refusals_expect(&m, "");
  m.array.length = m.array.null_count = 2;
  arrow_refusals_expect(&m, "x: a null at position 0");
}

Test(arrow_refusals, offsets_whose_bytes_cannot_be_counted) {
  struct made m;
  const int64_t ints[] = {1};
  arrow_refusals_make(&m, "l", "n", 1, 2, ints);
  m.array.offset = INT64_C(1) << 61;
  arrow_refusals_expect(&m, "n: an array of length 1 at offset 2305843009213693952");
}

Test(arrow_refusals, values_that_a_narrow_context_cannot_hold) {
  struct made m;
  const int64_t ints[] = {1, INT32_MAX, INT32_MIN, (int64_t)INT32_MAX + 1};
  const uint32_t naturals[] = {1, 3000000000u};
  const double floats[] = {0.5, 1 / 0.0, -0.0, 0.1};
  is_narrow = true;
  arrow_refusals_make(&m, "l", "n", 4, 2, ints);
  arrow_refusals_expect(&m, "n: 2147483648 at position 3 does not fit an INT of 32 bits");
  m.array.length = 3;
  arrow_refusals_expect(&m, "");
  arrow_refusals_make(&m, "I", "n", 2, 2, naturals);
  arrow_refusals_expect(&m, "n: 3000000000 at position 1 does not fit an INT of 32 bits");
  arrow_refusals_make(&m, "g", "x", 4, 2, floats);
  arrow_refusals_expect(
      &m, "x: 0.10000000000000001 at position 3 changes its value in a FLOAT of 32 bits");
  m.array.length = 3;
  arrow_refusals_expect(&m, "");
  const double huge = 1e300;
  arrow_refusals_make(&m, "g", "x", 1, 2, &huge);
  arrow_refusals_expect(
      &m, "x: 1.0000000000000001e+300 at position 0 changes its value in a FLOAT of 32 bits");
  const double nan = 0.0 / 0.0;
  arrow_refusals_make(&m, "g", "x", 1, 2, &nan);
  arrow_refusals_expect(&m, "");
  is_narrow = false;
}

Test(arrow_refusals, indices_of_dictionaries) {
  struct made m, words;
  int8_t indices[] = {0, 1, 2};
  const int64_t values[] = {5, 6, 7};
  arrow_refusals_make(&m, "c", "city", 3, 2, indices);
  arrow_refusals_make(&words, "l", "", 2, 2, values);
  m.schema.dictionary = &words.schema;
  arrow_refusals_expect(&m, "city: an array without a dictionary");
  m.array.dictionary = &words.array;
  arrow_refusals_expect(&m, "city: the index 2 at position 2, of a dictionary of 2");
  indices[1] = -1;
  arrow_refusals_expect(&m, "city: the index -1 at position 1, of a dictionary of 2");
  words.array.length = 3;
  indices[1] = 1;
  arrow_refusals_expect(&m, "");
  words.buffers[0] = (const uint8_t[]){0x03};
  words.array.null_count = 1;
  arrow_refusals_expect(&m, "city: a null at position 2");
  m.array.length = 2;
  arrow_refusals_expect(&m, "");
  m.schema.format = "g";
  arrow_refusals_expect(&m, "city: indices of a dictionary are of the Arrow type \"g\"");
}

/* ---- offsets and lengths ---- */

Test(arrow_refusals, offsets) {
  struct events e;
  make_events(&e);
  e.offsets[0] = -1;
  arrow_refusals_expect(&e.event,
                        "event.jets: the offsets at position 0 are -1 and 3, of 6 elements");
  make_events(&e);
  e.offsets[2] = 2;
  arrow_refusals_expect(&e.event,
                        "event.jets: the offsets at position 1 are 3 and 2, of 6 elements");
  make_events(&e);
  e.offsets[3] = e.offsets[4] = 7;
  arrow_refusals_expect(&e.event,
                        "event.jets: the offsets at position 2 are 3 and 7, of 6 elements");
  make_events(&e);
  e.jets.buffers[1] = NULL;
  arrow_refusals_expect(&e.event, "event.jets: buffer 1 of an array of 4 elements is missing");
  make_events(&e);
  e.event.array.length = e.jets.array.length = 0;
  e.jets.buffers[1] = NULL;
  arrow_refusals_expect(&e.event, "");
}

Test(arrow_refusals, lengths) {
  struct events e;
  make_events(&e);
  e.jets.array.length = 3;
  arrow_refusals_expect(
      &e.event, "event.jets: an array of length 3, shorter than the 4 of what it belongs to");
  make_events(&e);
  e.event.array.offset = 1;
  arrow_refusals_expect(
      &e.event, "event.jets: an array of length 4, shorter than the 5 of what it belongs to");
  make_events(&e);
  e.event.array.offset = INT64_MAX;
  arrow_refusals_expect(&e.event, "event: an array of length 4 at offset 9223372036854775807");
  make_events(&e);
  e.event.array.length = -1;
  arrow_refusals_expect(&e.event, "event: an array of length -1 at offset 0");
  make_events(&e);
  e.pt.array.n_buffers = 3;
  arrow_refusals_expect(&e.event, "event.jets[].pt: an array with 3 buffers instead of 2");
  make_events(&e);
  e.jet.array.n_children = 2;
  arrow_refusals_expect(&e.event, "event.jets[]: an array with 2 children instead of 1");
  make_events(&e);
  e.jet.arrays[0] = NULL;
  arrow_refusals_expect(&e.event, "event.jets[]: child 0 of an array is missing");
  make_events(&e);
  e.pt.array.release = NULL;
  arrow_refusals_expect(&e.event, "event.jets[].pt: an array that is released");
  make_events(&e);
  e.pt.buffers[1] = NULL;
  arrow_refusals_expect(&e.event,
                        "event.jets[].pt: buffer 1 of an array of 6 elements is missing");
}

Test(arrow_refusals, lists_of_a_fixed_size) {
  struct made m, x;
  const int64_t data[] = {1, 2, 3, 4, 5, 6};
  arrow_refusals_make(&m, "+w:3", "m", 2, 1, NULL);
  arrow_refusals_make(&x, "l", "", 6, 2, data);
  add_child(&m, &x);
  arrow_refusals_expect(&m, "");
  x.array.length = 5;
  arrow_refusals_expect(&m,
                        "m[]: an array of length 5, shorter than the 6 of what it belongs to");
  m.schema.format = "+w:30";
  m.array.length = INT64_MAX / 20;
  arrow_refusals_expect(&m, "m: too many elements");
  m.schema.format = "+w:3";
}

/* ---- views ---- */

/* Two texts of views: "ab", and one of a buffer of 16 bytes, by its length, buffer and offset.
 */
static const char *problem_of_view(int32_t length, int32_t buffer, int32_t offset) {
  const struct {
    int32_t length;
    char bytes[ARROW_VIEW_SHORT];
    struct {
      int32_t length;
      char head[4];
      int32_t buffer, offset;
    } second;
  } views = {2, "ab", {length, "head", buffer, offset}};
  const int64_t size = 16;
  char *bytes = malloc((size_t)size); /* what is read behind it, a sanitizer notices */
  struct made m;
  memset(bytes, 'x', (size_t)size);
  arrow_refusals_make(&m, "vu", "city", 2, 4, &views);
  m.buffers[2] = bytes;
  m.buffers[3] = &size;
  const char *problem = arrow_refusals_problem_of((struct made *[]){&m}, 1);
  free(bytes);
  return problem;
}

Test(arrow_refusals, views) {
  static const int32_t outside[][3] = {{17, 0, 0},  {13, 0, 4},  {13, 1, 0},
                                       {13, -1, 0}, {13, 0, -1}, {-1, 0, 0}};
  cr_expect_str_eq(problem_of_view(16, 0, 0), "");
  cr_expect_str_eq(problem_of_view(13, 0, 3), "");
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
    const int32_t *v = outside[i];
    char want[120];
    snprintf(want, sizeof want,
             "city: the text at position 1 has length %d at offset %d of buffer %d, which ends"
             " before",
             v[0], v[2], v[1]);
    cr_expect_str_eq(problem_of_view(v[0], v[1], v[2]), want);
  }
}
