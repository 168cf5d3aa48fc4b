/* test-value.c - columns and printing of values, on types and values made by hand. */
#include "neslc/types/core.h"

#include "base/number.h"
#include "base/tests/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(value, .init = memory_begin, .fini = memory_end);

/* ---- types ---- */

static struct type int_type = {.tag = TYPE_INT};
static struct type float_type = {.tag = TYPE_FLOAT};
static struct type bool_type = {.tag = TYPE_BOOL};
static struct type char_type = {.tag = TYPE_CHAR};

static struct type value_sequence(struct type *element) {
  return (struct type){.tag = TYPE_SEQUENCE, .part = {element}};
}

static struct type test_value_pair(struct type *left, struct type *right) {
  return (struct type){.tag = TYPE_PAIR, .part = {left, right}};
}

static struct type generic(uint32_t number) {
  return (struct type){.tag = TYPE_VARIABLE, .generic = true, .number = number};
}

static const struct name *value_name_of(struct intern *names, const char *text) {
  return intern_name(names, text, strlen(text));
}

/* ---- columns ---- */

#define COLUMN(its_kind, type, member, ...)                                                    \
  {                                                                                            \
    .kind = COLUMN_##its_kind, .length = sizeof((type[]){__VA_ARGS__}) / sizeof(type),         \
    .as.member = (type[]) {                                                                    \
      __VA_ARGS__                                                                              \
    }                                                                                          \
  }
#define INTS(...)    COLUMN(INT, int64_t, ints, __VA_ARGS__)
#define FLOATS(...)  COLUMN(FLOAT, double, floats, __VA_ARGS__)
#define BOOLS(...)   COLUMN(BOOL, uint8_t, bools, __VA_ARGS__)
#define LENGTHS(...) COLUMN(SEGDES, int64_t, ints, __VA_ARGS__)
#define NO_INTS                                                                                \
  { .kind = COLUMN_INT, .length = 0 }
#define NO_LENGTHS                                                                             \
  { .kind = COLUMN_SEGDES, .length = 0 }

static void value_check(struct type *type, struct column *columns, uint32_t count,
                        uint64_t print_length, const char *expected) {
  struct nesl_value value = {.type = type, .count = count, .columns = columns};
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  value_show(&value, &(struct value_layout){.print_length = print_length}, out);
  fclose(out);
  cr_expect_str_eq(text, expected);
  free(text);
  /* The columns of the test are those the type asks for. */
  struct column_kinds kinds = {.arena = &arena};
  value_columns(type, &kinds);
  cr_expect_eq(kinds.list.count, count, "%s has %zu columns", expected, kinds.list.count);
  for (size_t i = 0; i < kinds.list.count && i < count; i++) {
    cr_expect_eq(kinds.list.items[i], columns[i].kind, "%s, column %zu", expected, i);
  }
}
#define shows(expected, length, type, ...)                                                     \
  value_check(type, (struct column[]){__VA_ARGS__},                                            \
              sizeof((struct column[]){__VA_ARGS__}) / sizeof(struct column), length,          \
              expected)

Test(value, scalars) {
  shows("-7", 100, &int_type, INTS(-7));
  shows("2.5", 100, &float_type, FLOATS(2.5));
  shows("T", 100, &bool_type, BOOLS(1));
  shows("F", 100, &bool_type, BOOLS(0));
  shows("`a", 100, &char_type, INTS('a'));
}

Test(value, sequences) {
  struct type ints = value_sequence(&int_type), nested = value_sequence(&ints),
              deep = value_sequence(&nested);
  shows("[1, 2, 3]", 100, &ints, LENGTHS(3), INTS(1, 2, 3));
  shows("[]", 100, &ints, LENGTHS(0), NO_INTS);
  shows("[[1], [], [2, 3]]", 100, &nested, LENGTHS(3), LENGTHS(1, 0, 2), INTS(1, 2, 3));
  shows("[[], [[]], [[4]]]", 100, &deep, LENGTHS(3), LENGTHS(0, 1, 1), LENGTHS(0, 1), INTS(4));
  shows("[]", 100, &deep, LENGTHS(0), NO_LENGTHS, NO_LENGTHS, NO_INTS);
}

Test(value, strings) {
  struct type string = value_sequence(&char_type), strings = value_sequence(&string);
  shows("\"a\\\"b\\\\c\"", 0, &string, LENGTHS(5), INTS('a', '"', 'b', '\\', 'c'));
  shows("\"\"", 100, &string, LENGTHS(0), NO_INTS);
  shows("[\"ab\", \"\",...]", 2, &strings, LENGTHS(3), LENGTHS(2, 0, 1), INTS('a', 'b', 'c'));
  shows("[...]", 0, &strings, LENGTHS(1), LENGTHS(1), INTS('a'));
}

Test(value, long_sequences_are_cut_at_every_level) {
  struct type ints = value_sequence(&int_type), nested = value_sequence(&ints);
  struct type left = test_value_pair(&nested, &int_type);
  shows("[0, 1,...]", 2, &ints, LENGTHS(3), INTS(0, 1, 2));
  shows("[0, 1]", 2, &ints, LENGTHS(2), INTS(0, 1));
  shows("[[1, 2,...], [4],...]", 2, &nested, LENGTHS(3), LENGTHS(3, 1, 2),
        INTS(1, 2, 3, 4, 5, 6));
  shows("([[1,...],...], 9)", 1, &left, LENGTHS(2), LENGTHS(2, 1), INTS(1, 2, 3), INTS(9));
}

static void value_limited(struct type *type, struct column *columns, uint32_t count,
                          uint64_t most, const char *expected) {
  struct nesl_value value = {.type = type, .count = count, .columns = columns};
  char text[256];
  FILE *out = fmemopen(text, sizeof text, "w");
  const struct value_layout layout = {.print_length = 4, .most_elements = most};
  value_show(&value, &layout, out);
  fclose(out);
  cr_expect_str_eq(text, expected);
}

/* Rows count, too; what is cut by the length of one sequence keeps its own mark. */
Test(value, elements_of_all_levels_are_limited) {
  struct type ints = value_sequence(&int_type), nested = value_sequence(&ints),
              both = test_value_pair(&nested, &ints);
  struct column columns[] = {LENGTHS(3), LENGTHS(2, 5, 1), INTS(1, 2, 3, 4, 5, 6, 7, 8),
                             LENGTHS(2), INTS(9, 10)};
  static const char *const expected[] = {"([[1, 2], [3, 4, 5, 6,...], [8]], [9, 10])",
                                         "([[... 2 more], ... 2 more], [... 2 more])",
                                         "([[1, ... 1 more], ... 2 more], [... 2 more])",
                                         "([[1, 2], ... 2 more], [... 2 more])",
                                         "([[1, 2], [... 5 more], ... 1 more], [... 2 more])"};
  for (uint64_t most = 0; most < 5; most++)
    value_limited(&both, columns, 5, most, expected[most]);
  value_limited(&both, columns, 5, 11, "([[1, 2], [3, 4, 5, 6,...], [8]], [9, ... 1 more])");
  value_limited(&both, columns, 5, 12, expected[0]);
  int64_t *many = calloc(1234567, sizeof *many);
  struct column long_one[] = {LENGTHS(1234567),
                              {.kind = COLUMN_INT, .length = 1234567, .as.ints = many}};
  value_limited(&ints, long_one, 2, 2, "[0, 0, ... 1,234,565 more]");
  free(many);
}

Test(value, pairs) {
  struct type floats = test_value_pair(&int_type, &float_type),
              three = test_value_pair(&bool_type, &floats);
  struct type left = test_value_pair(&floats, &floats), pairs = value_sequence(&left);
  struct type ints = value_sequence(&int_type), mixed = test_value_pair(&ints, &three),
              many = value_sequence(&mixed);
  shows("(F, 1, 0.5)", 100, &three, BOOLS(0), INTS(1), FLOATS(0.5));
  shows("((1, 0.5), 2, 1.5)", 100, &left, INTS(1), FLOATS(0.5), INTS(2), FLOATS(1.5));
  shows("[((1, 0.5), 3, 0.0), ((2, 1.0), 4, -1.0)]", 100, &pairs, LENGTHS(2), INTS(1, 2),
        FLOATS(0.5, 1.0), INTS(3, 4), FLOATS(0.0, -1.0));
  shows("[([], T, 7, 0.25), ([1, 2], F, 8, 0.5)]", 100, &many, LENGTHS(2), LENGTHS(0, 2),
        INTS(1, 2), BOOLS(1, 0), INTS(7, 8), FLOATS(0.25, 0.5));
}

Test(value, datatypes) {
  struct intern names;
  intern_init(&names, &arena);
  struct type a = generic(0), two = test_value_pair(&a, &a), as = value_sequence(&a),
              list = test_value_pair(&as, &two);
  struct datatype twice = {.name = value_name_of(&names, "twice"), .contents = &two};
  struct datatype box = {.name = value_name_of(&names, "box"), .contents = &list};
  /* twice(box(int)): the a of box is an int, the a of twice a box. */
  struct type *of_int[] = {&int_type};
  struct type boxed = {
      .tag = TYPE_DATA, .data = &box, .argument_count = 1, .arguments = of_int};
  struct type *of_box[] = {&boxed};
  struct type both = {
      .tag = TYPE_DATA, .data = &twice, .argument_count = 1, .arguments = of_box};
  shows("box([5], 1, 2)", 100, &boxed, LENGTHS(1), INTS(5), INTS(1), INTS(2));
  shows("twice(box([5], 1, 2), box([], 3, 4))", 100, &both, LENGTHS(1), INTS(5), INTS(1),
        INTS(2), LENGTHS(0), NO_INTS, INTS(3), INTS(4));
}

Test(value, functions_are_their_captured_variables) {
  struct type a = generic(2), as = value_sequence(&a), variable = generic(2);
  struct local x = {.type = &as}, y = {.type = &bool_type};
  struct local *captured[] = {&x, &y};
  struct type *variables[] = {&variable}, *arguments[] = {&float_type};
  struct core_lambda lambda = {.captured_count = 2,
                               .captured = captured,
                               .scheme_count = 3,
                               .variable_count = 1,
                               .variables = variables};
  struct type identity = {
      .tag = TYPE_IDENTITY, .lambda = &lambda, .argument_count = 1, .arguments = arguments};
  struct type function = {.tag = TYPE_FUNCTION, .part = {&int_type, &int_type, &identity}};
  struct type both = test_value_pair(&function, &int_type);
  shows("(fn, 3)", 100, &both, LENGTHS(2), FLOATS(0.5, 1.5), BOOLS(1), INTS(3));
  struct type named = {.tag = TYPE_IDENTITY};
  struct type known = {.tag = TYPE_FUNCTION, .part = {&int_type, &int_type, &named}};
  struct type functions = value_sequence(&known);
  shows("[fn, fn]", 100, &functions, LENGTHS(2));
}

Test(value, floats) {
  const struct {
    double x;
    const char *text;
  } cases[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {-1.5, "-1.5"},
      {100.0, "100.0"},
      {0.1 + 0.2, "0.3"},
      {1.0 / 3.0, "0.333333333333333"},
      {1234567.0, "1234567.0"},
      {9999999.0, "9999999.0"},
      {9999999.99999999999, "1.0E7"},
      {12345678.0, "1.2345678E7"},
      {123456.789, "123456.789"},
      {0.001, "0.001"},
      {0.00123, "0.00123"},
      {0.000999, "9.99E-4"},
      {1e-4, "1.0E-4"},
      {-2.5e-10, "-2.5E-10"},
      {1e100, "1.0E100"},
      {3.141592653589793, "3.14159265358979"},
      {INFINITY, "infinity"},
      {-INFINITY, "-infinity"},
      {NAN, "nan"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[NUMBER_TEXT_MAX];
    size_t length =
        nesl_format_float(text, cases[i].x, (struct float_layout){FLOAT_DIGITS, false});
    cr_expect_str_eq(text, cases[i].text);
    cr_expect_eq(length, strlen(text));
  }
}

static void float_shows(double x, unsigned digits, bool narrow, const char *expected) {
  char text[NUMBER_TEXT_MAX];
  nesl_format_float(text, x, (struct float_layout){digits, narrow});
  cr_expect_str_eq(text, expected);
}

Test(value, floats_have_as_many_digits_as_are_needed) {
  float_shows(0.1 + 0.2, 0, false, "0.30000000000000004");
  float_shows(0.3, 0, false, "0.3");
  float_shows(1.0 / 3.0, 0, false, "0.3333333333333333");
  float_shows(3.141592653589793, 0, false, "3.141592653589793");
  float_shows(9999999.999999998, 0, false, "9999999.999999998");
  float_shows(-5e-324, 0, false, "-5.0E-324");
  float_shows(1.7976931348623157e308, 0, false, "1.7976931348623157E308");
  float_shows((double)0.1f, 0, true, "0.1");
  float_shows((double)(1.0f / 3), 0, true, "0.33333334");
  float_shows((double)1e-45f, 0, true, "1.0E-45");
  float_shows(2.0 / 3.0, 1, false, "0.7");
  float_shows(0.1, 17, false, "0.10000000000000001");
  float_shows(99.96, 3, false, "100.0");
}

Test(value, nonfinite_floats_are_found) {
  struct type floats = value_sequence(&float_type);
  struct column fine[] = {LENGTHS(2), FLOATS(1.0, 2.0)}, bad[] = {LENGTHS(2), FLOATS(1.0, NAN)};
  struct nesl_value value = {.type = &floats, .count = 2, .columns = fine};
  cr_expect_not(value_nonfinite(&value));
  value.columns = bad;
  cr_expect(value_nonfinite(&value));
}
