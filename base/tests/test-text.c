/* test-text.c - numbers both ways at their extremes, names, edit distance, diagnostics. */
#include "base/check.h"
#include "base/diag.h"
#include "base/intern.h"
#include "base/number.h"
#include "base/origin.h"
#include "base/tests/memory.h"

#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

static void check_int(int64_t x, const char *wanted) {
  char text[NUMBER_TEXT_MAX];
  int64_t back = ~x;
  cr_expect_eq(format_int(text, x), strlen(wanted));
  cr_expect_str_eq(text, wanted);
  cr_expect(parse_int(text, strlen(text), INT64_MIN, INT64_MAX, &back) && back == x);
}

Test(number, integers_at_the_ends) {
  check_int(0, "0");
  check_int(-1, "-1");
  check_int(INT64_MAX, "9223372036854775807");
  check_int(INT64_MIN, "-9223372036854775808");
}

Test(number, integers_are_refused_outside_their_form_and_range) {
  static const char *const bad[] = {"",
                                    "-",
                                    "+",
                                    "1.0",
                                    " 1",
                                    "0x1",
                                    "--1",
                                    "9223372036854775808",
                                    "-9223372036854775809",
                                    "99999999999999999999999999"};
  int64_t x;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    cr_expect_not(parse_int(bad[i], strlen(bad[i]), INT64_MIN, INT64_MAX, &x), "%s", bad[i]);
  }
  cr_expect(parse_int("+007", 4, 0, 9, &x) && x == 7);
  cr_expect(parse_int("2147483647", 10, INT32_MIN, INT32_MAX, &x));
  cr_expect_not(parse_int("2147483648", 10, INT32_MIN, INT32_MAX, &x));
  cr_expect(parse_int("-2147483648", 11, INT32_MIN, INT32_MAX, &x));
  cr_expect_not(parse_int("-2147483649", 11, INT32_MIN, INT32_MAX, &x));
}

static void check_float(double x, const char *wanted) {
  char text[NUMBER_TEXT_MAX];
  cr_expect_eq(format_float(text, x), strlen(wanted));
  cr_expect_str_eq(text, wanted);
}

Test(number, floats_print_fourteen_decimals) {
  check_float(1.0, "1.00000000000000e+00");
  check_float(-0.0, "-0.00000000000000e+00");
  check_float(DBL_MAX, "1.79769313486232e+308");
  check_float(-DBL_TRUE_MIN, "-4.94065645841247e-324");
  check_float(INFINITY, "inf");
  check_float(-INFINITY, "-inf");
  check_float(NAN, "nan");
  check_float(-NAN, "nan");
}

Test(number, exact_floats_read_back) {
  static const double numbers[] = {
      0.1,  1.0 / 3.0, DBL_MAX, DBL_MIN,       DBL_TRUE_MIN,
      1e22, 1e23,      -2.5,    123456789.125, 0.30000000000000004};
  char text[NUMBER_TEXT_MAX];
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    size_t n = format_float_exact(text, numbers[i]);
    cr_expect_eq(n, strlen(text));
    cr_expect(parse_real(text, n) == numbers[i], "%s", text);
  }
  format_float_exact(text, 0.1);
  cr_expect_str_eq(text, "0.1");
}

Test(number, reals_round_once_and_overflow_to_infinity) {
  char half[600] = "1.", zeros[] = "00000000000000000000";
  cr_expect(isinf(parse_real("1.0e999", 7)) && parse_real("-1.0e999", 8) < 0);
  cr_expect_eq(parse_real("1.0e-999", 8), 0.0);
  cr_expect_eq(parse_real("5.junk", 2), 5.0, "the text ends where its length says");
  /* 1 + 2^-53 lies half way and goes to even; any digit after it, however far, goes up. */
  strcat(half, "00000000000000011102230246251565404236316680908203125");
  cr_expect_eq(parse_real(half, strlen(half)), 1.0);
  for (int i = 0; i < 20; i++) strcat(half, zeros);
  cr_expect_eq(parse_real(half, strlen(half)), 1.0);
  strcat(half, "1");
  cr_expect_eq(parse_real(half, strlen(half)), 1.0 + DBL_EPSILON);
}

Test(number, bytes_with_units) {
  char text[NUMBER_TEXT_MAX];
  uint64_t x;
  format_bytes(text, 512);
  cr_expect_str_eq(text, "512 B");
  format_bytes(text, 3ull << 29);
  cr_expect_str_eq(text, "1.5 GiB");
  cr_expect_lt(format_bytes(text, UINT64_MAX), NUMBER_TEXT_MAX);
  cr_expect(parse_bytes("64M", &x) && x == 64ull << 20);
  cr_expect(parse_bytes("1.5G", &x) && x == 3ull << 29);
  cr_expect(parse_bytes("4096", &x) && x == 4096);
  cr_expect(parse_bytes("2GiB", &x) && x == 2ull << 30);
  static const char *const bad[] = {"",    "0",    "-1",  "M",   "1X",
                                    "1MM", "1e30", "inf", "nan", " 1"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    cr_expect_not(parse_bytes(bad[i], &x), "%s", bad[i]);
  }
}

/* A literal too long to copy has the value of the same number written short. */
Test(number, long_reals_lose_nothing) {
  enum { LONG = 3000 };
  char text[2 * LONG + 64], zeros[LONG + 1];
  memset(zeros, '0', LONG);
  zeros[LONG] = '\0';
  static const struct {
    const char *format;
    double wanted;
  } cases[] = {
      {"%s7.25", 7.25},
      {"-7.25%s", -7.25},
      {"1%s.0e-3000", 1.0},
      {"0.%s1e+3001", 1.0},
      {"0.%s1", 0.0},
      {"1%s.", INFINITY},
      {"-1.0e%s5", -1e5},
      {"1.0e1%s", INFINITY},
      {"1.0e-1%s", 0.0},
      {"0.%se99", 0.0},
      {"1.00000000000000011102230246251565404236316680908203125%s", 1.0},
      {"1.00000000000000011102230246251565404236316680908203125%s1", 1.0 + DBL_EPSILON}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int n = snprintf(text, sizeof text, cases[i].format, zeros);
    cr_expect(parse_real(text, (size_t)n) == cases[i].wanted, "%s", cases[i].format);
  }
}

/* ---- names ---- */

TestSuite(intern, .init = memory_begin, .fini = memory_end);

Test(intern, equal_strings_are_one_name) {
  struct intern names;
  intern_init(&names, &arena);
  char text[16];
  for (uint32_t i = 0; i < 10000; i++) {
    int n = snprintf(text, sizeof text, "name_%u", i);
    const struct name *name = intern_name(&names, text, (size_t)n);
    cr_assert(name->number == i && name->length == (uint32_t)n);
  }
  const struct name *one = intern_name(&names, "name_77 and more", 7);
  cr_expect_eq(one->number, 77);
  cr_expect_str_eq(one->text, "name_77");
  cr_expect_eq(one, intern_name(&names, "name_77", 7));
  cr_expect_neq(one, intern_name(&names, "NAME_77", 7));
}

Test(intern, edit_distance_counts_up_to_its_limit) {
  cr_expect_eq(edit_distance("CONST", "CONST", 3), 0);
  cr_expect_eq(edit_distance("CONST", "CONTS", 3), 1, "a swap of neighbours is one edit");
  cr_expect_eq(edit_distance("PACK", "PCK", 3), 1);
  cr_expect_eq(edit_distance("", "ABC", 3), 3);
  cr_expect_eq(edit_distance("kitten", "sitting", 5), 3);
  cr_expect_eq(edit_distance("ABCDEF", "UVWXYZ", 2), 3);
}

Test(intern, the_nearest_name_is_the_first_in_the_alphabet) {
  struct nearest_name n = nearest_to("lenght");
  nearest_try(&n, "sort");
  cr_expect_null(n.best);
  nearest_try(&n, "lenghts");
  nearest_try(&n, "length");
  cr_expect_str_eq(n.best, "lenghts");
  nearest_try(&n, "alenght");
  cr_expect_str_eq(n.best, "alenght");
  struct nearest_name short_one = nearest_to("ab");
  nearest_try(&short_one, "ac");
  cr_expect_null(short_one.best, "one edit of two letters is another word");
}

/* ---- diagnostics ---- */

TestSuite(diag, .init = memory_begin, .fini = memory_end);

static char *text_printed(const struct diag_list *diags, size_t limit) {
  char *text = NULL;
  size_t length;
  FILE *stream = open_memstream(&text, &length);
  diag_print(diags, "ravel", limit, stream);
  fclose(stream);
  return text;
}

Test(diag, prints_location_origin_and_message) {
  struct diag_list diags;
  diag_list_init(&diags, &arena);
  const struct source_pos none = {0, 0};
  const struct origin origin = {.file = "p.nesl", .pos = {2, 5}, .function = ""};
  diag_add(&diags, SEVERITY_ERROR, "a.vcode", (struct source_pos){3, 14}, NULL, "%d is bad", 7);
  diag_add(&diags, SEVERITY_NOTE, NULL, none, NULL, "called from here");
  diag_add(&diags, SEVERITY_WARNING, "a.vcode", (struct source_pos){8, 1}, &origin, "odd");
  diag_add(&diags, SEVERITY_ERROR, NULL, none, NULL, "no file");
  cr_expect_eq(diags.errors, 2);
  char *text = text_printed(&diags, 0);
  cr_expect_str_eq(text, "a.vcode:3:14: error: 7 is bad\n  called from here\n"
                         "p.nesl:2:5: warning: odd (at a.vcode:8:1)\nravel: error: no file\n");
  free(text);
  text = text_printed(&diags, 1);
  cr_expect_null(strstr(text, "no file"));
  cr_expect_not_null(strstr(text, "1 more"));
  free(text);
}

Test(diag, what_no_memory_is_left_for_is_counted) {
  struct diag_list diags;
  heap.fail_at = 1;
  diag_list_init(&diags, &arena);
  diag_add(&diags, SEVERITY_ERROR, NULL, (struct source_pos){0, 0}, NULL, "lost");
  cr_expect(diags.errors == 1 && diags.lost == 1 && diags.list.count == 0);
  char *text = text_printed(&diags, 0);
  cr_expect_str_eq(text, "ravel: error: out of memory\n");
  free(text);
}

/* ---- invariants ---- */

Test(invariant, that_holds_does_nothing) {
  invariant(sizeof(int) > 1);
}

#ifdef RAVEL_DEBUG
Test(invariant, that_does_not_hold_ends_a_debug_build, .signal = SIGABRT) {
  invariant(sizeof(int) == 1);
}
#else
Test(invariant, is_not_evaluated_in_a_release) {
  int looked = 0;
  invariant(++looked == 0);
  cr_expect_eq(looked, 0);
}
#endif

Test(text, numbers_of_two_digits) {
  static const struct {
    int64_t v, w;
    const char *text;
  } rows[] = {{10, 299, "about 1.0e300"},
              {-34, 24, "about -3.4e25"},
              {99, 18, "about 9.9e19"},
              {INT64_MIN, INT64_MIN, "NaN or an infinity"},
              {INT32_MIN, INT32_MIN, "NaN or an infinity"}};
  char text[NUMBER_TEXT_MAX];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cr_expect_eq(format_about(text, rows[i].v, rows[i].w), strlen(rows[i].text));
    cr_expect_str_eq(text, rows[i].text);
  }
}
