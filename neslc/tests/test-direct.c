/* test-direct.c - the direct interpreter: what constructs and primitives mean, the order of
 * printing and failing, limits, costs. Programs are text; their last form is looked at.
 */
#include "cvl/oracle/oracle.h"
#include "neslc/reference/direct.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One session and the outcome of its last form. */
struct run {
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  struct session *session;
  struct direct_options options;
  struct direct_cost cost;
  struct nesl_value value;
  enum nesl_error error;
  const char *message;   /* of the first error */
  char *printed, *shown; /* by print functions; the value */
  size_t printed_size, shown_size;
};

static void run_open(struct run *r, bool classic) {
  memset(r, 0, sizeof *r);
  heap_init(&r->heap, 0);
  arena_init(&r->arena, &r->heap);
  diag_list_init(&r->diags, &r->arena);
  r->session = session_new(&r->arena, classic, &r->diags);
  if (!r->session) diag_print(&r->diags, "test", 0, stderr);
  cr_assert(r->session, "the library is broken");
}

static void run_close(struct run *r) {
  arena_free(&r->arena);
  cr_assert_eq(r->heap.live, 0);
  free(r->printed);
  free(r->shown);
}

static bool direct_run_form(struct run *r, const struct form *form,
                            struct complaints *complaints) {
  struct checked checked;
  if (!check_form(r->session, form, complaints, &checked)) return false;
  if (!checked.value) return true;
  if (session_find_missing(r->session, checked.value, complaints)) return false;
  if (!direct_evaluate(r->session, &checked, &r->options, complaints, &r->value, &r->cost)) {
    return false;
  }
  session_bind_checked(r->session, &checked, &r->value);
  return true;
}

/* Runs the forms of a text; r holds the outcome of the last. All but the last must succeed. */
static void direct_run_text(struct run *r, const char *text) {
  struct source *source = arena_alloc(&r->arena, sizeof *source);
  *source = (struct source){
      .name = "test.nesl", .text = text, .length = strlen(text), .first_line = 1};
  struct reader reader;
  reader_init(&reader, &r->arena, &r->session->names, source);
  free(r->printed);
  free(r->shown);
  r->options.out = open_memstream(&r->printed, &r->printed_size);
  r->error = NESL_OK;
  while (r->error == NESL_OK) {
    const size_t first = r->diags.list.count;
    struct complaints complaints = {.diags = &r->diags};
    struct form *form = arena_alloc(&r->arena, sizeof *form); /* functions keep it */
    enum reading reading = read_form(&reader, &complaints, form);
    if (reading == READ_END) break;
    r->value = (struct nesl_value){0};
    if (reading != READ_FORM || !direct_run_form(r, form, &complaints)) {
      r->error = complaints.first;
      r->message = r->diags.list.items[first].message;
      cr_assert_neq(r->error, NESL_OK);
    }
  }
  fclose(r->options.out);
  FILE *shown = open_memstream(&r->shown, &r->shown_size);
  if (r->error) {
    fprintf(shown, "%s: %.*s", nesl_error_name(r->error), (int)strcspn(r->message, "\n"),
            r->message);
  } else if (r->value.type) {
    const struct value_layout layout = {.print_length = 100, .floats = {FLOAT_DIGITS, false}};
    value_show(&r->value, &layout, shown);
  }
  fclose(shown);
}

/* Each text by itself, in a new session. */
static void direct_expect_in(bool classic, const char *text, const char *shown,
                             const char *printed) {
  struct run r;
  run_open(&r, classic);
  direct_run_text(&r, text);
  cr_expect_str_eq(r.shown, shown, "%s\n gave     %s\n expected %s", text, r.shown, shown);
  cr_expect_str_eq(r.printed, printed, "%s\n printed  %s\n expected %s", text, r.printed,
                   printed);
  run_close(&r);
}

static void direct_expect(const char *text, const char *shown) {
  direct_expect_in(false, text, shown, "");
}

Test(direct, constants_and_constructs) {
  direct_expect("3;", "3");
  direct_expect("2.5;", "2.5");
  direct_expect("t;", "T");
  direct_expect("\"a b\";", "\"a b\"");
  direct_expect("(1, `x, [] int);", "(1, `x, [])");
  direct_expect("let (a, b) = (1, 2) in (b, a);", "(2, 1)");
  direct_expect("let (a, (b, c)) = (1, 2, 3); s = a + b in s * c;", "9");
  direct_expect("if 2 > 1 then \"yes\" else \"no\";", "\"yes\"");
  direct_expect("[1 + 1, 2 * 3, 7 - 10];", "[2, 6, -3]");
  direct_expect("{x * y : x in [1, 2, 3]; y in [4, 5, 6]};", "[4, 10, 18]");
  direct_expect("{x : x in [1, 2, 3, 4] | rem(x, 2) == 0};", "[2, 4]");
  direct_expect("{{a + b : b in [0:a]} : a in [1, 3, 0]};", "[[1], [3, 4, 5], []]");
  direct_expect("{10 / x : x in [1, 0, 2] | x /= 0};", "[10, 5]");
  direct_expect("datatype point(float, float);\n let point(x, y) = point(1.0, 2.0) in x + y;",
                "3.0");
  direct_expect("datatype point(float, float);\n [point(1.0, 2.0)];", "[point(1.0, 2.0)]");
}

Test(direct, functions_and_closures) {
  direct_expect("function fact(n) = if n < 2 then 1 else n * fact(n - 1);\n fact(10);",
                "3628800");
  direct_expect("function adder(n) = x => x + n;\n adder(3)(4);", "7");
  direct_expect(
      "function adder(n) = x => x + n;\n add10 = adder(10);\n {add10(x) : x in [1, 2, 3]};",
      "[11, 12, 13]");
  direct_expect("function adder(n) = x => x + n;\n"
                "{(if i > 1 then adder(1) else adder(2))(10) : i in [1, 2]};",
                "[12, 11]");
  direct_expect("function compose(g, h) = x => g(h(x));\n compose(sin, x => x * 0.0)(7.0);",
                "0.0");
  direct_expect("function curry(g) = x => (y => g(x, y));\n curry((a, b) => a - b)(9)(2);",
                "7");
  direct_expect("fs = {x => x * n : n in [1, 2, 3]};\n {g(10) : g in fs};", "[10, 20, 30]");
  direct_expect(
      "function twice(g, x) = g(g(x));\n (twice(x => x + 1, 5), twice(x => x ++ x, [1]));",
      "(7, [1, 1, 1, 1])");
  direct_expect("function total(v) = sum(v);\n (total([] float), total([] int));", "(0.0, 0)");
  direct_expect("(a, b) = (1, [2.5]);\n b;", "[2.5]");
  direct_expect("v = [[1, 2], [3]];\n v[1];", "[3]");
  direct_expect(
      "function total_of(v) = n => sum(take(v, n));\n h = total_of([1.5, 2.5]);\n (h(0), "
      "h(2));",
      "(0.0, 4.0)");
  direct_expect(
      "function adder(n) = x => x + n;\n (eql(adder(1), adder(1)), eql(adder(1), adder(2)));",
      "(T, F)");
}

Test(direct, primitives) {
  direct_expect("(7 / -2, rem(-17, 5), 2.0 / 4.0, lshift(1, 5), rshift(-8, 1));",
                "(-3, -2, 0.5, 32, -4)");
  direct_expect("(not(0), not(t), 6 and 3, 6 or 3, t xor f);", "(-1, F, 2, 7, T)");
  direct_expect("(floor(-2.5), ceil(-2.5), trunc(-2.5), round(-2.5), round(-2.6));",
                "(-3, -2, -2, -2, -3)");
  direct_expect("(sum([] int), sum([1, 2, 3]), product([2, 3, 4]), max_val([3, 9, 4]));",
                "(0, 6, 24, 9)");
  direct_expect("(any([f, t]), all([f, t]), parity([t, t]), any([] bool), not(all([] bool)));",
                "(T, F, F, F, F)");
  direct_expect("plus_scan([3, 1, 4]);", "[0, 3, 4]");
  direct_expect("max_scan([3.0, 1.0, 4.0])[2];", "3.0");
  direct_expect("or_scan([f, t, f]);", "[F, F, T]");
  direct_expect("(rank([3, 1, 3, 2]), rank_down([3, 1, 3, 2]));",
                "([2, 0, 3, 1], [0, 3, 1, 2])");
  direct_expect("rank([2.5, -1.0, 0.0, -3.5]);", "[3, 1, 2, 0]");
  direct_expect("(#[1, 2], [5, 6, 7][1], dist(\"ab\", 2), [2:11:3]);",
                "(2, 6, [\"ab\", \"ab\"], [2, 5, 8])");
  direct_expect("([2:10:3], [2:2]);", "([2, 5, 8], [])");
  direct_expect("rep([1, 2, 3], 9, 1);", "[1, 9, 3]");
  direct_expect("[10, 20, 30] -> [2, 0, 2];", "[30, 10, 30]");
  direct_expect("[0, 0, 0] <- [(1, 5), (2, 6), (1, 7)];", "[0, 7, 6]");
  direct_expect("permute([10, 20, 30], [2, 0, 1]);", "[20, 30, 10]");
  direct_expect("pack([(1, t), (2, f), (3, t)]);", "[1, 3]");
  direct_expect("[1] ++ [] int ++ [2, 3];", "[1, 2, 3]");
  direct_expect("flatten([[1], [] int, [2, 3]]);", "[1, 2, 3]");
  direct_expect("partition([1, 2, 3], [1, 0, 2]);", "[[1], [], [2, 3]]");
  direct_expect("zip([1, 2], \"ab\");", "[(1, `a), (2, `b)]");
  direct_expect("unzip([(1, t), (2, f)]);", "([1, 2], [T, F])");
  direct_expect("(eql([[1], [2]], [[1], [2]]), eql((1, \"a\"), (1, \"b\")));", "(T, F)");
  direct_expect("(select(t, [1], [2]), identity((1, \"a\", 2.0)));", "([1], 0, \"\", 0.0)");
  direct_expect("@(1, [2.5, 3.0], t);", "\"(1, [2.5, 3.0], t)\"");
}

Test(direct, widths) {
  direct_expect_in(true, "2147483647 + 1;", "-2147483648", "");
  direct_expect_in(false, "2147483647 + 1;", "2147483648", "");
  direct_expect_in(true, "(max_val([] int), min_val([] int));", "(-2147483648, 2147483647)",
                   "");
  direct_expect_in(true, "sum([2000000000, 2000000000]);", "-294967296", "");
}

Test(direct, single_floats) {
  struct run r;
  run_open(&r, false);
  r.options.widths = &(struct widths){CVL_I64, CVL_F32};
  direct_run_text(&r,
                  "(0.1, 0.1 + 0.2, 16777216.0 + 1.0, sum(dist(0.1, 3)), float(16777217));");
  cr_expect_str_eq(r.shown, "(0.100000001490116, 0.300000011920929, 1.6777216E7, "
                            "0.300000011920929, 1.6777216E7)");
  run_close(&r);
}

Test(direct, nothing_runs_for_no_instance) {
  direct_expect("function tsize(ch, v) = 1 + sum({tsize(ch, c) : c in ch[v]});\n"
                "tsize([[1, 2], [3], [] int, [] int], 0);",
                "4");
  direct_expect("{1 / 0 : x in [] int};", "[]");
  direct_expect("{if x > 0 then x else 1 / 0 : x in [1, 2]};", "[1, 2]");
  direct_expect("t or 1 / 0 == 1;", "runtime: Divide by zero.");
}

/* Outputs of one call over all instances together, in order of the program. */
Test(direct, order_of_printing) {
  direct_expect_in(false, "{print_char(c) : c in \"abc\"};", "[T, T, T]", "abc");
  direct_expect_in(false, "{(print_char(c), print_string(\"-\")) : c in \"ab\"};",
                   "[(T, T), (T, T)]", "ab--");
  direct_expect_in(
      false, "{if c == `a then print_string(\"1\") else print_string(\"2\") : c in \"bab\"};",
      "[T, T, T]", "122");
  direct_expect_in(false, "{{print_char(c) : c in s} : s in [\"ab\", \"c\"]};", "[[T, T], [T]]",
                   "abc");
  direct_expect_in(
      false,
      "function g(n) = if n == 0 then t else let x = print_string(@n) in g(n - 1);\n"
      "{g(n) : n in [1, 3, 2]};",
      "[T, T, T]",
      "13221"
      "1");
  direct_expect_in(false, "{* (print_char(c), print_string(\"-\")) : c in \"ab\"};",
                   "[(T, T), (T, T)]", "a-b-");
}

Test(direct, failures_say_what_happened) {
  direct_expect("[1, 2, 3][7];",
                "runtime: Sequence reference (a[i]) out of bounds. (index 7 is outside "
                "a sequence of length 3)");
  direct_expect("3.0 / 0.0;", "runtime: Divide by zero.");
  direct_expect("rem(7, 0);", "runtime: Divide by zero in function REM.");
  direct_expect("sqrt(-2.5);", "runtime: Sqrt of negative number. (the argument is about -2)");
  direct_expect("rand(0);",
                "runtime: Rand only works with positive numbers. (the argument is 0)");
  direct_expect(
      "[5:2];",
      "runtime: In [s:e:l], e must be >= to s, and l must be positive. (s is 5, e is 2)");
  direct_expect("[2:5:0];",
                "runtime: In [s:e:l], e must be >= to s, and l must be positive. (l is 0)");
  direct_expect(
      "{x + y : x in [1]; y in [2, 3]};",
      "runtime: Length mismatch in an apply-to-each. (the sequences have lengths 1 and 2)");
  direct_expect("[1] -> [0, -1];",
                "runtime: Index out of bounds for function ->. (index -1 is outside a "
                "sequence of length 1)");
  direct_expect("[1] <- [(1, 2)];",
                "runtime: Index out of bounds for function <-. (index 1 is outside a "
                "sequence of length 1)");
  direct_expect("permute([1, 2], [0, 0]);",
                "runtime: Bad arguments to function PERMUTE. (nothing is sent to position 1)");
  direct_expect("partition([1, 2], [1]);",
                "runtime: Length mismatch in function PARTITION. (the counts "
                "add up to 1, the length is 2)");
  direct_expect("partition([1, 2], [3, -1]);",
                "runtime: Length mismatch in function PARTITION. (a count is -1)");
  direct_expect("partition([1, 2], [max_int, max_int, 4]);",
                "runtime: Length mismatch in function PARTITION. (the counts add up to "
                "9223372036854775807, the length is 2)");
  direct_expect("max_val(\"\");",
                "runtime: An empty sequence of characters has no greatest or least.");
  direct_expect(
      "zip([1], [2, 3]);",
      "runtime: Length mismatch in function ZIP. (the sequences have lengths 1 and 2)");
  direct_expect("dist(1, -2);",
                "runtime: The argument for the function DIST must not be negative. (the "
                "count is -2)");
  direct_expect_in(false, "error(\"no way\");", "user: the program stopped itself by `error`",
                   "ERROR: no way\n");
}

/* If several instances fail, the one that fails first when all run in step is reported. Output
 * printed before that appears, later output does not. */
Test(direct, order_of_failing) {
  direct_expect_in(false,
                   "{(print_char(c), 1 / (char_code(c) - 97), print_char(`-)) : c in \"bac\"};",
                   "runtime: Divide by zero.", "bac");
  direct_expect("{(10 / x, [5][x]) : x in [1, 0]};", "runtime: Divide by zero.");
  direct_expect("{if x > 0 then 1 / 0 else 2 / 0 : x in [0, 1]};", "runtime: Divide by zero.");
}

Test(direct, failures_say_where) {
  struct run r;
  run_open(&r, false);
  direct_run_text(&r,
                  "function pick(v, i) =\n  v[i];\nfunction far(v) = pick(v, 9);\nfar([1]);");
  cr_assert_eq(r.error, NESL_RUNTIME);
  const struct diag *d = r.diags.list.items;
  cr_expect_eq(d[0].pos.line, 2);
  cr_assert_geq(r.diags.list.count, 3);
  cr_expect_eq(d[1].pos.line, 3);
  cr_expect_eq(d[2].pos.line, 4);
  run_close(&r);
}

Test(direct, checks_of_the_library_can_be_left_out) {
  struct run r;
  run_open(&r, false);
  direct_run_text(&r, "mod(7, 0);");
  cr_expect_str_eq(r.shown, "runtime: Divide by zero in function MOD. (mod(7, 0))");
  r.session->argument_checks = false;
  direct_run_text(&r, "mod(7, 0);"); /* the division itself checks */
  cr_expect_str_eq(r.shown, "runtime: Divide by zero in function REM., in `mod`");
  run_close(&r);
}

/* Returns the k-th serial RAND of a run for a bound. */
static int64_t random_expected(uint64_t seed, uint32_t k, int64_t bound, bool wide) {
  const uint32_t counter[4] = {0, 0, k, 0}, key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  uint32_t word[4];
  oracle_philox(counter, key, word);
  if (!wide) return (int64_t)((uint64_t)word[0] * (uint64_t)bound >> 32);
  const uint64_t u = (uint64_t)word[1] << 32 | word[0];
  const long double product = (long double)u * (long double)bound / 18446744073709551616.0L;
  return (int64_t)product; /* exact for small bounds */
}

Test(direct, random_numbers_are_those_of_the_machine) {
  for (int wide = 0; wide < 2; wide++) {
    struct run r;
    char expected[100];
    run_open(&r, !wide);
    const uint64_t seed = UINT64_C(0x123456789abcdef0);
    struct direct_random random = {.seed = seed};
    r.options.random = &random;
    direct_run_text(&r, "(rand(1000), rand(77));");
    snprintf(expected, sizeof expected, "(%d, %d)", (int)random_expected(seed, 0, 1000, wide),
             (int)random_expected(seed, 1, 77, wide));
    cr_expect_str_eq(r.shown, expected);
    direct_run_text(&r, "(rand(1000), rand_seed(42), rand(1000000));");
    snprintf(expected, sizeof expected, "(%d, T, %d)",
             (int)random_expected(seed, 2, 1000, wide),
             (int)random_expected(42, 0, 1000000, wide));
    cr_expect_str_eq(r.shown, expected);
    direct_run_text(&r, "(rand(1000), 1 / 0);"); /* what fails takes none */
    direct_run_text(&r, "rand(77);");
    snprintf(expected, sizeof expected, "%d", (int)random_expected(42, 1, 77, wide));
    cr_expect_str_eq(r.shown, expected);
    run_close(&r);
  }
}

Test(direct, limits) {
  struct run r;
  run_open(&r, false);
  direct_run_text(&r,
                  "function down(n) = if n == 0 then 0 else 1 + down(n - 1);\ndown(100000);");
  cr_expect_str_eq(r.shown, "100000");
  direct_run_text(&r, "down(1000000000);"); /* the stack ends */
  cr_expect_eq(r.error, NESL_LIMIT, "%s", r.shown);
  r.options.most_depth = 1000;
  direct_run_text(&r, "down(900);");
  cr_expect_str_eq(r.shown, "900");
  direct_run_text(&r, "down(1100);");
  cr_expect_eq(r.error, NESL_LIMIT, "%s", r.shown);
  r.options.most_steps = 5000;
  direct_run_text(&r, "down(100);");
  cr_expect_str_eq(r.shown, "100");
  direct_run_text(&r, "down(1000);");
  cr_expect_eq(r.error, NESL_LIMIT, "%s", r.shown);
  r.options.most_steps = 0;
  r.heap.limit = r.heap.live + (16 << 20);
  direct_run_text(&r, "sum(dist(1, 1000000000));");
  cr_expect_eq(r.error, NESL_LIMIT, "%s", r.shown);
  direct_run_text(&r, "1 + 1;");
  cr_expect_str_eq(r.shown, "2");
  run_close(&r);
}

/* Sums, products and scans of floats have the bits of the oracle of the vector library. */
static void compare_with_oracle(struct run *r, const char *function, enum call_kind kind,
                                enum cvl_op op, uint64_t n) {
  char text[200];
  snprintf(text, sizeof text, "v = {1.0 + 1.0 / float(i + 3) : i in [0:%d]};\nv;", (int)n);
  direct_run_text(r, text);
  cr_assert_str_eq(r->printed, "");
  cr_assert_eq(r->value.columns[1].length, n);
  struct host_value v = host_vector(&r->heap, CVL_F64, n), d = host_segdes(&r->heap, 1);
  memcpy(v.data, r->value.columns[1].as.floats, n * sizeof(double));
  memcpy(d.data, &(int64_t){(int64_t)n}, sizeof(int64_t));
  d.total = n;
  struct oracle_call call = {.kind = kind,
                             .op = op,
                             .int_elem = CVL_I64,
                             .float_elem = CVL_F64,
                             .count = 2,
                             .operand = {v, d}};
  struct oracle_outcome outcome = {0};
  cr_assert(oracle_run(&r->heap, &call, &outcome));
  snprintf(text, sizeof text, "%s(v);", function);
  direct_run_text(r, text);
  const struct column *last = &r->value.columns[r->value.count - 1];
  cr_assert_eq(last->length, outcome.out[0].n);
  cr_expect(memcmp(last->as.floats, outcome.out[0].data, last->length * sizeof(double)) == 0,
            "%s of %d", function, (int)n);
  host_free(&r->heap, &outcome.out[0]);
  host_free(&r->heap, &v);
  host_free(&r->heap, &d);
}

Test(direct, floats_combine_as_the_vector_library_does) {
  static const uint64_t sizes[] = {1,  2,   7,    8,    9,    31,   32,   33,
                                   63, 257, 1023, 1024, 1025, 3000, 40000};
  struct run r;
  run_open(&r, false);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    compare_with_oracle(&r, "sum", CALL_REDUCE, OP_ADD, sizes[i]);
    compare_with_oracle(&r, "product", CALL_REDUCE, OP_MUL, sizes[i]);
    compare_with_oracle(&r, "plus_scan", CALL_SCAN, OP_ADD, sizes[i]);
    compare_with_oracle(&r, "mult_scan", CALL_SCAN, OP_MUL, sizes[i]);
  }
  run_close(&r);
}

/* Work and depth by the table of section 8. */
static void expect_cost(const char *text, double work, double depth) {
  struct run r;
  run_open(&r, false);
  direct_run_text(&r, text);
  cr_assert_eq(r.error, NESL_OK, "%s: %s", text, r.shown);
  cr_expect_eq(r.cost.work, work, "%s: work %g, expected %g", text, r.cost.work, work);
  cr_expect_eq(r.cost.depth, depth, "%s: depth %g, expected %g", text, r.cost.depth, depth);
  run_close(&r);
}

Test(direct, costs) {
  expect_cost("3;", 1, 1);
  expect_cost("1 + 2;", 3, 3);
  expect_cost("(1, 2, 3);", 5, 5);
  expect_cost("if t then 1 else 2 + 3;", 3, 3);
  expect_cost("let x = 1 in x;", 3, 3);
  expect_cost("let (x, y) = (1, 2) in x;", 6, 6); /* the let, the pair, taking it apart */
  /* the loop, 0, and for each of two rounds condition and step; the last condition */
  expect_cost("loop x = 0 while x < 2 do x + 1;", 1 + 1 + 2 * (3 + 3) + 3, 1 + 1 + 2 * 6 + 3);
  expect_cost("{loop x = k while x < 2 do x + 1 : k in [0, 1]};",
              1 + 5 + (1 + 1 + 15) + (1 + 1 + 9), 1 + 3 + 1 + 1 + 15);
  expect_cost("[1, 2, 3];", 7, 4);
  expect_cost("{x + 1 : x in [5, 6, 7]};", 1 + 7 + 3 * 3, 1 + 4 + 3);
  expect_cost("{x + 1 : x in [5, 6, 7] | t};", 1 + 7 + 3 * 3 + 3 + (4 + 3), 1 + 4 + 3 + 1 + 2);
  expect_cost("v = [1, 2, 3, 4];\n sum(v);", 1 + 1 + 4, 1 + 1 + 3);
  expect_cost("v = [[1, 2], [3]];\n #v;", 2, 2);
  expect_cost("v = [[1, 2], [3]];\n v[0];", 1 + 2 + 3, 1 + 2);
  expect_cost("dist((1, 2), 10);", 1 + 3 + 1 + 21, 1 + 3 + 1);
  expect_cost("function holder(v) = i => v[i];\n v = dist(holder([1]), 10);\n v[0];", 1 + 2 + 3,
              1 + 2);
  expect_cost("function one_of(x) = 1;\n one_of(2);", 1 + 1 + 1, 1 + 1 + 1);
  expect_cost("{if x == 0 then 1 else 1 + 2 + 3 : x in [0, 1]};",
              1 + 5 + (1 + 3 + 1) + (1 + 3 + 5), 1 + 3 + (1 + 3 + 5));
}
