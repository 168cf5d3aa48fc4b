/* test-arrays.c - signatures; what is written is read again; broken files are complained of. */
#include "arrays/arrays.h"
#include "base/tests/memory.h"

#include <stdlib.h>
#include <string.h>

TestSuite(arrays, .init = memory_begin, .fini = memory_end);

static struct array_type type_in(enum array_format format, const char *signature) {
  struct array_type type = {0};
  const char *problem = "";
  cr_assert(array_type_parse(format, &arena, signature, strlen(signature), &type, &problem),
            "%s: %s", signature, problem);
  return type;
}

static struct array_type arrays_type_of(const char *signature) {
  return type_in(ARRAY_NPY, signature);
}

static const char *refusal(const char *signature) {
  struct array_type type;
  const char *problem = "";
  cr_expect_not(
      array_type_parse(ARRAY_NPY, &arena, signature, strlen(signature), &type, &problem));
  return problem;
}

Test(arrays, signatures) {
  struct array_type t = arrays_type_of("[[(i(f(b([cc");
  cr_expect_eq(t.depth, 2);
  cr_expect_eq(t.leaf_count, 5);
  const uint8_t leaves[] = {ARRAY_INT, ARRAY_FLOAT, ARRAY_BOOL, ARRAY_TEXT, ARRAY_CHAR};
  cr_expect_arr_eq(t.leaves, leaves, sizeof leaves);
  cr_expect_eq(array_column_count(&t), 2 + 6);
  cr_expect_not(array_column_is_float(&t, 2));
  cr_expect(array_column_is_float(&t, 3));
  cr_expect_not(array_column_is_float(&t, 6)); /* characters */
  t = arrays_type_of("((iff");                 /* pairs on the left */
  cr_expect_eq(t.leaf_count, 3);
  cr_expect_eq(arrays_type_of("[c").depth, 0);
  cr_expect_eq(arrays_type_of("[[c").depth, 1);
  cr_expect_str_eq(refusal("([ii"),
                   "a tuple of sequences cannot be stored in a file of arrays");
  cr_expect_str_eq(refusal("[?"),
                   "a function or a stream cannot be stored in a file of arrays");
  cr_expect_str_eq(refusal("ii"), "not a signature");
  refusal("");
  refusal("(i");
  refusal("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[i");
}

/* ---- files ---- */

struct file {
  char *bytes;
  size_t length;
};

static struct file arrays_written(enum array_format format, const char *signature,
                                  const struct array_columns *columns) {
  struct array_type type = type_in(format, signature);
  struct file file = {0};
  const char *problem = "";
  cr_assert(array_check(format, &arena, &type, columns, &problem), "%s", problem);
  FILE *out = open_memstream(&file.bytes, &file.length);
  cr_assert(array_write(format, &arena, &type, columns, out, &problem), "%s", problem);
  fclose(out);
  return file;
}

/* [(int, float, bool, [char])] of three elements. */
static int64_t count[] = {3}, ints[] = {1, -2, INT64_MIN}, bools[] = {0, 1, 1},
               lengths[] = {2, 0, 4}, chars[] = {'a', 'b', '"', ',', '\n', 'x'};
static double floats[] = {0.1, -1e300, 3};
static struct array_column mixed_columns[] = {
    {.length = 1, .as.ints = count},    {.length = 3, .as.ints = ints},
    {.length = 3, .as.floats = floats}, {.length = 3, .as.ints = bools},
    {.length = 3, .as.ints = lengths},  {.length = 6, .as.ints = chars},
};
static const struct array_columns mixed = {6, mixed_columns};
static const char mixed_signature[] = "[(i(f(b[c";

static void arrays_expect_same(const struct array_columns *a, const struct array_columns *b) {
  cr_assert_eq(a->count, b->count);
  for (uint32_t i = 0; i < a->count; i++) {
    cr_assert_eq(a->items[i].length, b->items[i].length);
    cr_expect_arr_eq(a->items[i].as.ints, b->items[i].as.ints, a->items[i].length * 8);
  }
}

static void expect_read_back(enum array_format format) {
  struct file file = arrays_written(format, mixed_signature, &mixed);
  struct array_type type = arrays_type_of(mixed_signature), guessed = {.csv = NULL};
  struct array_columns again;
  const char *problem = "";
  cr_assert(array_read(format, &arena, &type, file.bytes, file.length, &again, &problem), "%s",
            problem);
  arrays_expect_same(&mixed, &again);
  cr_assert(array_guess(format, &arena, file.bytes, file.length, &guessed, &problem));
  cr_expect_eq(guessed.depth, 1);
  cr_assert_eq(guessed.leaf_count, 4);
  cr_expect_arr_eq(guessed.leaves, type.leaves, 4);
  free(file.bytes);
}

Test(arrays, what_is_written_is_read_again) {
  expect_read_back(ARRAY_NPY);
  expect_read_back(ARRAY_CSV);
}

/* ([float], [(int, [[char]])], bool) */
static const char nested_signature[] = "([f([(i[[cb";
static int64_t two[] = {2}, numbers[] = {7, -8}, texts[] = {2, 1}, sizes[] = {1, 0, 3},
               letters[] = {'a', '\0', 'y', 'z'}, yes[] = {1};
static struct array_column nested_columns[] = {
    {.length = 1, .as.ints = count},   {.length = 3, .as.floats = floats},
    {.length = 1, .as.ints = two},     {.length = 2, .as.ints = numbers},
    {.length = 2, .as.ints = texts},   {.length = 3, .as.ints = sizes},
    {.length = 4, .as.ints = letters}, {.length = 1, .as.ints = yes},
};
static const struct array_columns nested = {8, nested_columns};

Test(arrays, archives_hold_values_of_any_type) {
  struct file file = arrays_written(ARRAY_NPZ, nested_signature, &nested);
  struct array_type type = type_in(ARRAY_NPZ, nested_signature), guessed;
  struct array_columns again;
  const char *problem = "";
  cr_expect_eq(array_column_count(&type), 8);
  cr_expect(array_column_is_float(&type, 1));
  cr_expect_not(array_column_is_float(&type, 2));
  cr_assert(array_read(ARRAY_NPZ, &arena, &type, file.bytes, file.length, &again, &problem),
            "%s", problem);
  arrays_expect_same(&nested, &again);
  cr_assert(array_guess(ARRAY_NPZ, &arena, file.bytes, file.length, &guessed, &problem));
  cr_expect_str_eq(guessed.signature, nested_signature);
  file.bytes[file.length / 2] ^= 1;
  cr_expect_not(
      array_read(ARRAY_NPZ, &arena, &type, file.bytes, file.length, &again, &problem));
  free(file.bytes);
  sizes[0] = 2;
  cr_expect_not(array_check(ARRAY_NPZ, &arena, &type, &nested, &problem));
  cr_expect_str_eq(problem, "lengths that do not fit the elements");
  cr_expect_not(array_type_parse(ARRAY_NPZ, &arena, "[(i", 3, &type, &problem));
  cr_expect_not(array_type_parse(ARRAY_NPZ, &arena, "[?i", 3, &type, &problem));
  cr_expect_not(array_type_parse(ARRAY_NPZ, &arena, "ii", 2, &type, &problem));
}

Test(arrays, elements_begin_at_a_multiple_of_64) {
  struct file file = arrays_written(ARRAY_NPY, mixed_signature, &mixed);
  cr_expect_eq((file.length - 3 * (8 + 8 + 1 + 4)) % 64, 0);
  free(file.bytes);
  const struct array_columns column = {2, mixed_columns};
  file = arrays_written(ARRAY_NPY, "[i", &column);
  cr_expect_eq((file.length - 3 * 8) % 64, 0);
  free(file.bytes);
}

Test(arrays, rows_must_fit) {
  int64_t outer[] = {2}, rows[] = {1, 2}, data[] = {1, 2, 3};
  struct array_column columns[] = {{.length = 1, .as.ints = outer},
                                   {.length = 2, .as.ints = rows},
                                   {.length = 3, .as.ints = data}};
  const struct array_columns ragged = {3, columns};
  struct array_type type = arrays_type_of("[[i");
  const char *problem = "";
  cr_expect_not(array_check(ARRAY_NPY, &arena, &type, &ragged, &problem));
  cr_expect_str_eq(problem, "sequences of lengths 1 and 2: a numpy array is rectangular");
  struct file file = arrays_written(ARRAY_CSV, "[[i", &ragged);
  cr_expect_eq(file.length, 6);
  cr_expect_arr_eq(file.bytes, "1\n2,3\n", 6);
  free(file.bytes);
  rows[1] = 3;
  cr_expect_not(array_check(ARRAY_CSV, &arena, &type, &ragged, &problem));
  cr_expect_str_eq(problem, "lengths that do not fit the elements");
}

static const char *csv_problem(const char *signature, const char *text) {
  struct array_type type = arrays_type_of(signature);
  struct array_columns columns;
  const char *problem = "none";
  array_read(ARRAY_CSV, &arena, &type, text, strlen(text), &columns, &problem);
  return problem;
}

Test(arrays, csv_says_where) {
  cr_expect_str_eq(csv_problem("[(if", "1,2\n\n3,x\n"), "line 3: field 2 is no float: 'x'");
  cr_expect_str_eq(csv_problem("[(if", "1,2\n3\n"),
                   "line 2: 1 fields where the program's rows have 2");
  cr_expect_str_eq(csv_problem("[(if", "1,2\n3,4,5\n"), "line 2: more than 2 fields");
  cr_expect_str_eq(csv_problem("[(i[c", "1,\"a\nb\n"),
                   "line 1: the quote of a field is not closed");
  cr_expect_str_eq(csv_problem("[(i[c", "1,\"a\"b\n"),
                   "line 1: something follows the closing quote of a field");
  cr_expect_str_eq(csv_problem("[(i[c", "1,\"a\nb\"\nx,c\n"), "line 3: field 1 is no int: 'x'");
  cr_expect_str_eq(csv_problem("[[(if", "1,2\n"),
                   "a CSV file is a sequence of tuples or of sequences of scalars");
  cr_expect_str_eq(csv_problem("[(if", "a,b\r\n1, 2.5 \r\n\r\n"), "none");
}

Test(arrays, settings_of_csv) {
  struct array_type t = arrays_type_of("[(if?11.separator=:?9.comment=#?11.missing=a?b");
  cr_expect_eq(t.leaf_count, 2);
  cr_expect_eq(array_signature_length("[(if?11.separator=::v:w.csv", 27), 19);
  cr_expect_eq(array_signature_length("[i:v", 4), 2);
  cr_expect_eq(array_signature_length("[i?99.a=:v", 10), 10); /* cut off */
  cr_expect_str_eq(refusal("[i?11.separator=;;"), "not a signature");
  cr_expect_str_eq(refusal("[i?99.header=1"), "not a signature");
  cr_expect_str_eq(refusal("[i?8.header=x"),
                   "header is 'x', and must be the number of rows before the data, from 0 to "
                   "1000000");
  cr_expect_str_eq(refusal("[i?8.header=0?8.column=a"),
                   "with header 0 the file has no names of columns to look for");
  cr_expect_str_eq(csv_problem("[(if?8.header=1?13.replacement=7", "a,b\n1,2\n,\n"), "none");
  cr_expect_str_eq(csv_problem("[(if?8.header=1?10.missing=NA", "a,b\n1,2\n3,NA\nNA,4\n"),
                   "line 4: field 1 ('a') is missing, 'NA', and to be int: give a replacement, "
                   "or read the column as float, which has NaN");
  cr_expect_str_eq(csv_problem("[i?11.separator=;?8.column=b", "a;b\nx;1\nx;y\n"),
                   "line 3: field 2 ('b') is no int: 'y'");
}

/* Reads columns of ints by the names of fields: "1 2 ", or what is wrong. */
static const char *fields_read(enum array_format format, const char *signature,
                               const char *bytes, size_t length) {
  struct array_type type = type_in(format, signature);
  struct array_columns columns;
  const char *problem = "", *text = "";
  if (!array_read(format, &arena, &type, bytes, length, &columns, &problem)) return problem;
  for (uint32_t i = columns.count - 2; i < columns.count; i++)
    text = arena_printf(&arena, "%s%lld ", text, (long long)columns.items[i].as.ints[0]);
  return text;
}

static const char *csv_fields(const char *signature, const char *csv) {
  return fields_read(ARRAY_CSV, signature, csv, strlen(csv));
}

Test(arrays, fields_of_records) {
  static const char ab[] = "[(ii?7.field=a?10.field=pt_2", *const swapped =
                                                               "[(ii?10.field=pt_2?7.field=a";
  cr_expect_str_eq(csv_fields(ab, "x,Pt 2, A\n1,2,3\n"), "3 2 ");
  cr_expect_str_eq(csv_fields(swapped, "x,Pt 2, A\n1,2,3\n"), "2 3 ");
  cr_expect_str_eq(csv_fields("[(ii?7.field=a?7.field=b?8.header=0", "1,2\n"), "1 2 ");
  cr_expect_str_eq(csv_fields("[(ii?7.field=a?7.field=b?8.column=B?8.column=A", "A,B\n1,2\n"),
                   "2 1 ");
  cr_expect_str_eq(
      csv_fields(ab, "a,b\n1,2\n"),
      "line 1: no column has the name of the field 'pt_2': there are 'a', 'b'; with "
      "header 0 the columns are the fields in their order");
  cr_expect_str_eq(csv_fields(ab, "a,pt 2,PT_2\n1,2,3\n"),
                   "line 1: two columns have the name 'pt_2'");
  cr_expect_str_eq(csv_fields("[(ii?7.field=a?7.field=a", "a,b\n1,2\n"),
                   "line 1: column 'a' is wanted twice");
  cr_expect_str_eq(refusal("[(ii?7.field=a"), "1 names of fields for 2 components");
  cr_expect_str_eq(refusal("[i?7.field=1"), "field is '1', and must be letters, digits and _");
  type_in(ARRAY_NPZ, "([i(f[b?7.field=a?7.field=b?7.field=c");
  for (int format = ARRAY_NPY; format <= ARRAY_NPZ; format++) {
    int64_t one[] = {1}, first[] = {5}, second[] = {6};
    struct array_column items[] = {{.length = 1, .as.ints = one},
                                   {.length = 1, .as.ints = first},
                                   {.length = 1, .as.ints = second}};
    const struct array_columns columns = {3, items};
    struct file file = arrays_written((enum array_format)format, ab, &columns);
    cr_expect_str_eq(fields_read((enum array_format)format, swapped, file.bytes, file.length),
                     "6 5 ");
    cr_expect_str_eq(fields_read((enum array_format)format, ab, file.bytes, file.length),
                     "5 6 ");
    free(file.bytes);
  }
}

/* Whatever the bytes, the answer is columns or a sentence, or more memory than there is. */
static void try_bytes_as(enum array_format format, const char *signature, const char *bytes,
                         size_t length) {
  struct array_type type = type_in(format, signature), guessed = {.csv = type.csv};
  struct array_columns columns;
  const char *problem = NULL;
  char *exact = malloc(length ? length : 1); /* so that tools see reads behind the end */
  heap.limit = heap.live + (1 << 20);        /* sizes may become large */
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    free(exact);
    heap.limit = 0;
    return;
  }
  memcpy(exact, bytes, length);
  if (!array_read(format, &arena, &type, exact, length, &columns, &problem)) {
    cr_expect(problem && *problem);
  }
  (void)array_guess(format, &arena, exact, length, &guessed, &problem);
  free(exact);
  heap.limit = 0;
}

static void arrays_try_bytes(enum array_format format, const char *bytes, size_t length) {
  const bool archive = format == ARRAY_NPZ;
  try_bytes_as(format, archive ? nested_signature : mixed_signature, bytes, length);
  try_bytes_as(format, "[(if?7.field=a?7.field=b", bytes, length);
  if (format != ARRAY_CSV) return;
  try_bytes_as(format, "[(i(f(b[c?8.header=1?9.comment=0?13.replacement=0", bytes, length);
  try_bytes_as(format, "[i?8.column=1", bytes, length);
  try_bytes_as(format, "[[c?11.names-only=", bytes, length);
}

Test(arrays, broken_files) {
  for (int format = ARRAY_NPY; format <= ARRAY_NPZ; format++) {
    const bool archive = format == ARRAY_NPZ;
    const char *signature = archive ? nested_signature : mixed_signature;
    struct file file = arrays_written(format, signature, archive ? &nested : &mixed);
    struct array_type type = type_in(format, signature);
    struct array_columns columns;
    const char *problem;
    for (size_t n = 0; n < file.length; n++) {
      arrays_try_bytes(format, file.bytes, n);
      cr_expect(format == ARRAY_CSV ||
                !array_read(format, &arena, &type, file.bytes, n, &columns, &problem));
    }
    for (size_t i = 0; i < file.length; i++) {
      const char kept = file.bytes[i];
      static const char others[] = {'\0', ' ', ',', '\'', '"',  '[', ']',
                                    '(',  ')', '0', '9',  '\n', -1};
      for (size_t k = 0; k < sizeof others; k++) {
        file.bytes[i] = others[k];
        arrays_try_bytes(format, file.bytes, file.length);
      }
      file.bytes[i] = kept;
    }
    free(file.bytes);
  }
}

Test(arrays, what_may_begin_a_file) {
  static const char npy[] = "\x93NUMPY\x01";
  for (size_t n = 0; n < sizeof npy; n++) cr_expect(array_may_begin(ARRAY_NPY, npy, n));
  cr_expect(!array_may_begin(ARRAY_NPY, "\x93NUMPX\x01", 7));
  cr_expect(!array_may_begin(ARRAY_NPY, "", 1));
  cr_expect(array_may_begin(ARRAY_CSV, "", 1));
}
