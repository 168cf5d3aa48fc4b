/* test-check.c - the checker and the session: types of forms, kinds and words of errors, what
 * redefinition changes; and all forms of the corpus, where it is present.
 */
#include "neslc/tests/session.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static void check_setup(void) {
  struct diag_list diags;
  session_begin(true, &diags);
}

TestSuite(test_check, .init = check_setup, .fini = memory_end);

/* ---- forms and what they come to ---- */

/* The result of checking a form: its type, as the prompt shows it, or "error KIND". */
struct outcome {
  const char *text;
  const char *notice;
  const char *messages; /* diagnostics as they are printed */
  struct checked checked;
};

/* A value whose columns have no data: good enough to be bound where nothing is evaluated. */
static void check_bind_nothing(const struct checked *checked) {
  struct type *ground = type_ground(&arena, checked->value->type, 0, NULL);
  struct column_kinds kinds = {.arena = &arena};
  value_columns(ground, &kinds);
  struct nesl_value value = {ground, (uint32_t)kinds.list.count, NULL};
  value.columns = arena_alloc(&arena, (value.count + 1) * sizeof *value.columns);
  for (uint32_t i = 0; i < value.count; i++) value.columns[i].kind = kinds.list.items[i];
  session_bind_checked(session, checked, &value);
}

static const char *test_check_printed(const struct diag_list *diags) {
  char *text;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  diag_print(diags, "nesl", 0, out);
  fclose(out);
  const char *copy = arena_copy(&arena, text, length);
  free(text);
  return copy;
}

/* Reads and checks the next form, and defines what it defines. False at the end. */
static bool check_next(struct reader *reader, struct outcome *out) {
  struct diag_list diags;
  diag_list_init(&diags, &arena);
  struct complaints complaints = {.diags = &diags};
  struct form *form = arena_alloc(&arena, sizeof *form);
  *out = (struct outcome){0};
  enum reading reading = read_form(reader, &complaints, form);
  if (reading == READ_END) return false;
  bool good = reading == READ_FORM;
  if (good && form->kind == FORM_COMMAND) {
    out->text = "ok";
    return true;
  }
  good = good && check_form(session, form, &complaints, &out->checked);
  cr_expect_eq(good, complaints.count == 0, "complaints and failure go together");
  if (good && out->checked.value) {
    good = !session_find_missing(session, out->checked.value, &complaints);
  }
  out->messages = test_check_printed(&diags);
  if (!good) {
    out->text = arena_printf(&arena, "error %s", nesl_error_name(complaints.first));
    return true;
  }
  out->notice = out->checked.notice;
  struct type *type =
      out->checked.value ? out->checked.value->type : type_of(out->checked.global->scheme.type);
  out->text = type_text(&arena, type, true);
  if (out->checked.value) check_bind_nothing(&out->checked);
  return true;
}

/* The outcome of the last form of a text. */
static struct outcome test_check(const char *text) {
  struct source *source = arena_alloc(&arena, sizeof *source);
  *source = (struct source){
      .name = "test.nesl", .text = text, .length = strlen(text), .first_line = 1};
  struct reader reader;
  reader_init(&reader, &arena, &session->names, source);
  struct outcome last = {.text = "nothing"}, outcome;
  while (check_next(&reader, &outcome)) last = outcome;
  return last;
}

static void check_expect(const char *text, const char *wanted) {
  struct outcome outcome = test_check(text);
  cr_expect_str_eq(outcome.text, wanted, "%s\n  is %s, not %s\n%s", text, outcome.text, wanted,
                   outcome.messages);
}

/* ---- inference: sections 5.3, 5.4 ---- */

Test(test_check, inferred_types) {
  check_expect("function same(x) = x;", "a -> a :: (a in any)");
  check_expect("function swap(x, y) = (y, x);", "(a, b) -> (b, a) :: (a in any; b in any)");
  check_expect("function square(x) = x * x;", "a -> a :: (a in number)");
  check_expect("function addone(x) = x + 1;", "int -> int");
  check_expect("function less(x, y) = x < y;", "(a, a) -> bool :: (a in ordinal)");
  check_expect("function inv(x) = not(x);", "a -> a :: (a in logical)");
  check_expect("function both(x, y) = (x < y) or (x + y == x);",
               "(a, a) -> bool :: (a in number)");
  check_expect("function dotp(x, y) = sum({x * y : x; y});",
               "([a], [a]) -> a :: (a in number)");
  check_expect("function loop(n) = loop(n) + 1;", "a -> int :: (a in any)");
  check_expect("function apply1(g, x) = g(x);", "(a -> b, a) -> b :: (a in any; b in any)");
  check_expect("function adder(n) = x => x + n;", "a -> a -> a :: (a in number)");
  check_expect("function compose(g, h) = x => g(h(x));",
               "(a -> b, c -> a) -> c -> b :: (a in any; b in any; c in any)");
  check_expect("function absorb(x, y, z) = z; absorb(1, 2, 3, 4);", "int, int");
  check_expect("function curry(g) = x => (y => g(x, y));",
               "((a, b) -> c) -> a -> b -> c :: (a in any; b in any; c in any)");
  check_expect("x => x;", "a -> a :: (a in any)");
  check_expect("function lp(n) = lp(n); lp(3);", "int");
  check_expect("let b = lp(3) in (b, x => x);", "int, a -> a :: (a in any)");
  check_expect("time(1 + 2);", "int, float");
  check_expect("{x in [1, 2] | x > 1};", "[int]");
  check_expect("2.5 ^ 3;", "float");
  check_expect("-2147483648;", "int");
  check_expect("2147483649;", "error type");
}

Test(test_check, generalisation_is_at_top_level_only) {
  check_expect("let g = x => x in (g(1), g(2.0));", "error type");
  check_expect("g = x => x; (g(1), g(2.0));", "int, float");
  check_expect("function poly(n) = (poly(1), poly(2.0));", "error type");
}

Test(test_check, classes_do_not_intersect) {
  check_expect("function h(x, y) = (x + y) and x;", "(int, int) -> int");
}

Test(test_check, infinite_types) {
  check_expect("function s(x) = x(x);", "error type");
  check_expect("function s(x) = [x] ++ x;", "error type");
  /* A closure that would contain itself. */
  check_expect("function r(n, g) = if n == 0 then g(1) else r(n - 1, x => g(x) + 1);",
               "error type");
}

/* ---- functions as values: section 5.7 ---- */

Test(test_check, identities) {
  check_expect("[sin, sin];", "[float -> float]");
  check_expect("[sin, cos];", "error type");
  check_expect("if t then x => x else y => y;", "error type");
  check_expect("function adder(n) = x => x + n; if t then adder(1) else adder(2);",
               "int -> int");
  check_expect("[adder(1), adder(2)];", "[int -> int]");
  check_expect("(adder(1), adder(2.0));", "int -> int, float -> float");
  check_expect("function ap(g, x) = g(x); (ap(sin, 1.0), ap(adder(2), 3));", "float, int");
}

Test(test_check, lambdas_know_the_types_they_depend_on) {
  struct outcome o = test_check("function k(a, b, c) = (x => (let y = a in (#b, x)));");
  struct type *result = type_of(type_of(o.checked.global->scheme.type)->part[1]);
  struct type *identity = type_of(result->part[2]);
  cr_assert_eq(identity->tag, TYPE_IDENTITY);
  const struct core_lambda *lambda = identity->lambda;
  cr_expect_eq(lambda->captured_count, 2);
  cr_expect_str_eq(lambda->captured[0]->name->text, "a");
  cr_expect_str_eq(lambda->captured[1]->name->text, "b");
  cr_expect_eq(lambda->scheme_count, o.checked.global->scheme.count);
  cr_expect_eq(lambda->variable_count, 3, "the types of a, of elements of b, of x; not of c");
  cr_expect_eq(identity->argument_count, 3);
  for (uint32_t i = 0; i < 3; i++) {
    cr_expect_eq(lambda->variables[i],
                 o.checked.global->scheme.variables[lambda->variables[i]->number]);
  }
}

/* The first lambda is made before the second, which alone mentions the type of b. */
Test(test_check, lambdas_depend_on_what_lambdas_they_take_depend_on) {
  struct outcome o =
      test_check("function z(a, b) = let call = k => k(a) in call(x => (x, #[b]));");
  const struct core *call = o.checked.global->body->as.part.left;
  cr_assert_eq(call->kind, CORE_LAMBDA);
  cr_expect_eq(call->as.lambda->variable_count, 2);
}

Test(test_check, inner_lambdas_capture_through_outer_ones) {
  struct outcome o = test_check("function c(n) = x => (y => n);");
  struct core *outer = o.checked.global->body;
  cr_assert_eq(outer->kind, CORE_LAMBDA);
  cr_expect_eq(outer->as.lambda->captured_count, 1);
  cr_assert_eq(outer->as.lambda->body->kind, CORE_LAMBDA);
  cr_expect_eq(outer->as.lambda->body->as.lambda->captured_count, 1);
}

/* ---- names and patterns ---- */

Test(test_check, kinds_of_errors) {
  static const struct {
    const char *text, *kind;
  } cases[] = {
      {"undefined_variable;", "unbound"},
      {"{y : x in [1,2]};", "unbound"},
      {"let x = x in x;", "unbound"},
      {"loop x = x while f do x;", "unbound"},
      {"(loop x = 1 while f do x) + x;", "unbound"},
      {"loop (q, q) = (1, 2) while f do (1, 2);", "duplicate"},
      {"loop (3) = 3 while f do 3;", "pattern"},
      {"function h1(x) = y;", "unbound"},
      {"true;", "unbound"},
      {"let (q, q) = (1, 2) in q;", "duplicate"},
      {"{q : q in [1]; q in [2]};", "duplicate"},
      {"let (_, _) = (1, 2) in 3;", "duplicate"},
      {"function d(x, x) = x;", "duplicate"},
      {"time;", "unbound"},
      {"let 3 = 3 in 4;", "pattern"},
      {"let [a, b] = [1, 2] in a;", "pattern"},
      {"let g(x) = x in g(3);", "pattern"},
      {"\"abc\" = 3;", "pattern"},
      {"datatype pp(int); pp(n) = pp(3);", "pattern"},
      {"function not(x) = x;", "builtin"},
      {"function +(x, y) = x;", "builtin"},
      {"function xor(x, y) = x;", "builtin"},
      {"not = 3;", "builtin"},
      {"datatype int(float);", "builtin"},
      {"[] foo;", "unknown-type"},
      {"[] a;", "unknown-type"},
      {"datatype rr(int, rr);", "unknown-type"},
      {"function u(x) : a -> a = x;", "unknown-type"},
      {"function u(x) : a -> a :: (a in numbers) = x;", "unknown-type"},
      {"function undefd(n) : int -> int; undefd(3);", "no-body"},
      {"function viaundefd(n) = undefd(n); viaundefd(3);", "no-body"},
      {"(x => undefd(x));", "no-body"},
      {"{rand_seed(i) : i in [1,2]};", "serial-only"},
      {"function seeds(i) = rand_seed(i); {seeds(i) : i in [1,2]};", "serial-only"},
      {"function rs(i) = let s = rand_seed(i) in #{rs(j) : j in [1]};", "serial-only"},
      {"seed = rand_seed; {seed(i) : i in [1]};", "serial-only"},
      {"let g = rand_seed in {g(i) : i in [1]};", "serial-only"},
      {"let g = x => rand_seed(x) in {g(i) : i in [1]};", "serial-only"},
      {"function nf(x) : int = x;", "type"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_expect(cases[i].text, arena_printf(&arena, "error %s", cases[i].kind));
  }
}

Test(test_check, parameters_may_shadow) {
  check_expect("function s(sum) = sum + 1;", "int -> int");
  check_expect("let pi = 3 in -pi;", "int");
  check_expect("let length = 3; elt = 4 in (#[length], [1][0]);", "int, int");
  check_expect("function ignore(_, _) = 3;", "(a, b) -> int :: (a in any; b in any)");
}

/* A later body, or another one, may make calls in parallel wrong that were right. */
Test(test_check, serial_only_by_a_later_body) {
  check_expect("function later(n) : int -> bool; function use(v) = {later(x) : x in v};",
               "[int] -> [bool]");
  check_expect("function later(n) : int -> bool = rand_seed(n);", "int -> bool");
  check_expect("use([1]);", "error serial-only");
}

/* ---- annotations, declarations, redefinition ---- */

Test(test_check, variables_of_annotations_are_flexible) {
  check_expect("function n1(x) : a -> b :: (a in any; b in any) = x;", "a -> a :: (a in any)");
  check_expect("function n2(x) : a -> a :: (a in any) = x + 1;", "int -> int");
  check_expect("function n3(x) : int -> float = x;", "error type");
}

Test(test_check, a_new_body_of_the_same_type_replaces_the_old) {
  struct outcome first = test_check("function g1(x) = x + 1;");
  struct global *g1 = first.checked.global;
  uint32_t version = g1->version;
  const struct core *body = g1->body;
  struct outcome second = test_check("function g1(x) = if x == 0 then 1 else g1(x - 1);");
  cr_expect_eq(second.checked.global, g1);
  cr_expect_null(second.notice);
  cr_expect_neq(g1->version, version);
  cr_expect_neq(g1->body, body);
  cr_expect_eq(core_callee(g1->body->as.part.right), g1, "recursion is to the function itself");
}

Test(test_check, a_new_type_makes_a_new_function) {
  struct global *old = test_check("function g2(x) = x + 1;").checked.global;
  struct global *user = test_check("function calls_g2(x) = g2(x);").checked.global;
  struct outcome second = test_check("function g2(x) = x + 1.0;");
  cr_assert_not_null(second.notice);
  cr_expect_str_eq(second.notice,
                   "Redefining g2 with a new type.  Old calls will not be modified.");
  cr_expect_neq(second.checked.global, old);
  cr_expect_eq(core_callee(user->body), old);
  cr_expect_eq(session_global(session, "g2"), second.checked.global);
}

Test(test_check, a_closure_of_another_lambda_is_a_new_type) {
  struct global *old = test_check("function mk(n) = x => x + n;").checked.global;
  cr_expect_neq(test_check("function mk(n) = x => x - n;").checked.global, old);
}

Test(test_check, a_definition_completes_a_declaration) {
  struct global *declared = test_check("function ev(n) : int -> bool;").checked.global;
  check_expect("function od(n) : int -> bool = if n == 0 then f else ev(n - 1);",
               "int -> bool");
  check_expect("od(3);", "error no-body");
  struct outcome body =
      test_check("function ev(n) : int -> bool = if n == 0 then t else od(n - 1);");
  cr_expect_eq(body.checked.global, declared);
  check_expect("od(3);", "bool");
}

Test(test_check, variables_keep_their_struct_while_the_type_stays) {
  test_check("v1 = 3;");
  struct global *v1 = session_global(session, "v1");
  cr_expect_null(test_check("v1 = 4;").notice);
  cr_expect_eq(session_global(session, "v1"), v1);
  cr_expect_eq(v1->version, 2);
  cr_expect_not_null(test_check("(v0, v1) = (1, 2.5);").notice);
  cr_expect_neq(session_global(session, "v1"), v1);
  test_check("1; 2.0;");
  cr_expect_str_eq(type_text(&arena, session_global(session, "it")->scheme.type, true),
                   "float");
}

Test(test_check, a_form_that_fails_defines_nothing) {
  test_check("function w(x) = x + 1;");
  struct global *w = session_global(session, "w");
  const struct core *body = w->body;
  check_expect("function w(x) = x + nothing;", "error unbound");
  cr_expect_eq(session_global(session, "w"), w);
  cr_expect_eq(w->body, body);
}

Test(test_check, a_warning_where_not_meets_a_comparison) {
  static const char *const doubtful[] = {
      "not 3 < 4;", "not #[1] == 0;", "let b = 6 in not b /= 2;", "function g(x) = not x >= 2;",
      "let v = [1] in not v[0] <= 1 and t;"};
  static const char *const clear[] = {"(not 3) < 4;",     "not (3 < 4);",
                                      "not(3) < 4;",      "3 < not 4;",
                                      "not t and 3 < 4;", "{x in [t] | not x};"};
  for (size_t i = 0; i < sizeof doubtful / sizeof *doubtful; i++) {
    const struct outcome o = test_check(doubtful[i]);
    cr_expect(strstr(o.messages, "warning: `not` is applied before `"), "%s: %s", doubtful[i],
              o.messages);
    cr_expect(strncmp(o.text, "error", 5) != 0, "%s", doubtful[i]);
  }
  for (size_t i = 0; i < sizeof clear / sizeof *clear; i++) {
    cr_expect_str_eq(test_check(clear[i]).messages, "", "%s", clear[i]);
  }
}

/* t and f are the constants where nothing else has their names. */
Test(test_check, truth_values_are_names_that_may_be_bound) {
  check_expect("(t, f);", "bool, bool");
  check_expect("let t = 3 in t + 1;", "int");
  check_expect("(f => f + 1.5);", "float -> float");
  check_expect("{f : f in [1, 2]};", "[int]");
  check_expect("let (x, t) = (1, `a) in t;", "char");
  check_expect("loop t = 1 while t < 9 do t + t;", "int");
  check_expect("function g(f, x, t := 2) = f(x) + t; g(x => x, 1, t := 3);", "int");
  check_expect("let time = 2.5 in time;", "float");
  check_expect("((let time = x => x + 1 in time(3)), time(3));", "int, int, float");
  check_expect("function f(x) = if x < 1 then t else f(x - 1); f(3);", "bool");
  check_expect("f;", "int -> bool");
  check_expect("if f(1) then f else x => not(f(x));", "error type");
  check_expect("t = [f];", "[int -> bool]");
  check_expect("any([t[0](1), evenp(3)]);", "bool");
  check_expect("#t;", "int");
  check_expect("function time(x) = 2 * x; time(3);", "int");
  check_expect("#arguments();", "int");
}

static const char *check_note(const char *text) {
  const char *found = test_check(text).checked.note;
  return found ? found : "";
}

/* A program may have all names of the library but those of operators. */
Test(test_check, names_of_the_library_may_be_defined) {
  struct global *own = session_library(session, "median");
  cr_expect_str_eq(check_note("function median(v) = #v;"),
                   "Note: median is a name of the library, too, whose functions keep to their "
                   "own.");
  check_expect("median([1.5]);", "int");
  cr_expect_eq(session_library(session, "median"), own);
  cr_expect_str_eq(check_note("function median(v) = 2 * #v;"), "", "once");
  check_expect("function length(v) = 2.5; (#[1], length(1));", "int, float");
  check_expect("(rank, find) = (1, [2.5]); (rank, find[0]);", "int, float");
  check_expect("function string(x) = x; (@1, string(1));", "[char], int");
  check_expect("datatype sum(int); let sum(x) = sum(3) in x;", "int");
  check_expect("datatype hashtable(float); hashtable(2.5);", "hashtable");
  check_expect("function map(g, v) = {g(x) : x in v}; map(x => x + 1, [1]);", "[int]");
  cr_expect(strstr(check_note("pi = 3;"), "pi is a name of the library"));
  cr_expect(strstr(check_note("f = 4;"), "f is the constant false, too"));
  cr_expect_str_eq(check_note("own_name = 3;"), "");
}

/* Names of the library that begin with _, too; it goes on using its own. */
Test(test_check, internal_names_may_be_redefined) {
  struct global *own = session_library(session, "_get");
  cr_assert_not_null(own);
  check_expect("function _get(v, i) : ([a], [int]) -> [a] :: (a in any) = v;",
               "([a], [int]) -> [a] :: (a in any)");
  cr_expect_neq(session_global(session, "_get"), own);
  cr_expect_eq(session_library(session, "_get"), own);
  cr_expect_geq(own->primitive, 0);
}

/* ---- datatypes ---- */

Test(test_check, datatypes) {
  check_expect("datatype point(float, float);", "(float, float) -> point");
  check_expect("function px(point(x, y)) = x;", "point -> float");
  check_expect("{x * y : point(x, y) in [point(1.0, 2.0)]};", "[float]");
  check_expect("datatype tagged(a, int) :: (a in any);", "(a, int) -> tagged(a) :: (a in any)");
  check_expect("function tag_of(tagged(v, n)) = n;", "tagged(a) -> int :: (a in any)");
  check_expect("tagged(1.5, 2);", "tagged(float)");
  check_expect("datatype num(a) :: (a in number); num(t);", "error type");
  check_expect("function tf(x) : tagged(int) -> int = tag_of(x);", "tagged(int) -> int");
  check_expect("function tf2(x) : num(bool) -> int = 1;", "error type");
  check_expect("px((1.0, 2.0));", "error type");
}

Test(test_check, datatypes_of_functions_know_which) {
  check_expect("datatype fn(int -> int);", "(int -> int) -> fn");
  check_expect("(fn(x => x), fn(x => x + 1));", "fn, fn");
  check_expect("[fn(x => x), fn(x => x + 1)];", "error type");
  check_expect("function call(fn(g), x) = g(x);", "(fn, int) -> int");
  check_expect("call(fn(abs), 3);", "int");
}

Test(test_check, a_datatype_declared_again_is_the_same) {
  test_check("datatype pt(int); p = pt(3);");
  check_expect("datatype pt(int); function un(pt(n)) = n; un(p);", "int");
  check_expect("datatype pt(float); function un(pt(n)) = n; un(p);", "error type");
}

/* ---- optional arguments: section 5.9 ---- */

Test(test_check, optional_arguments) {
  check_expect("function scaled(x, k := 2) = x * k;", "(a, a) -> a :: (a in number)");
  check_expect("scaled(5);", "int");
  check_expect("scaled(5, k := 10);", "int");
  check_expect("scaled(2.5, k := 1.5);", "float");
  check_expect("scaled(2.5);", "error type");
  check_expect("opt = 1; scaled(1, 10);", "error optional-argument");
  check_expect("scaled(1, z := 10);", "error optional-argument");
  check_expect("scaled(1, k := 1, k := 2);", "error optional-argument");
  check_expect("sin(x := 1.0);", "error optional-argument");
  check_expect("function three(x, lo := 0, hi := 9) = (x, lo, hi);",
               "(a, b, c) -> (a, b, c) :: (a in any; b in any; c in any)");
  check_expect("three(1, hi := \"x\", lo := 7);", "int, int, [char]");
  check_expect(
      "function rec(n, acc := 0) = if n == 0 then acc else rec(n - 1, acc := acc + n);",
      "(int, int) -> int");
  check_expect("function pairs((a, b), k := 1) = a + b + k; pairs((1, 2));", "int");
  check_expect("function bad(k := 1, x) = x;", "error optional-argument");
  check_expect("function unb(x, k := nothing) = x;", "error unbound");
}

/* ---- the trees ---- */

static const char *check_tree(const char *text) {
  struct outcome o = test_check(text);
  cr_assert(o.checked.value, "%s", o.messages);
  char *shown;
  size_t length;
  FILE *out = open_memstream(&shown, &length);
  core_show(o.checked.value, out);
  fclose(out);
  const char *copy = arena_copy(&arena, shown, length);
  free(shown);
  return copy;
}

Test(test_check, trees) {
  cr_expect_str_eq(check_tree("1 + 2 * 3;"), "+<int>(1, *<int>(2, 3))");
  cr_expect_str_eq(check_tree("let x = 1 in x;"), "(let x.0 = 1 in x.0)");
  cr_expect_str_eq(check_tree("loop (a, b) = (1, t) while b do (a, f);"),
                   "(loop (a.0, b.1) = (1, t) while b.1 do (a.0, f))");
  cr_expect_str_eq(check_tree("(2 + 3) ^ 3;"),
                   "(let x.0 = +<int>(2, 3) in *<int>(*<int>(x.0, x.0), x.0))");
  cr_expect_str_eq(check_tree("2 ^ 4;"), "^<int>(2, 4)");
  cr_expect_str_eq(check_tree("{x : x in [1:9] | t};"), "{x.0 : x.0 in iseq(1, (1, 9)) | t}");
  cr_expect_str_eq(check_tree("function sc(x, k := 2, l := 3) = x; sc(5, l := 9);"),
                   "sc<int; int; int>(5, (2, 9))");
}

#define RECORDS                                                                                \
  "datatype body(mass : float, at : (int, bool)); datatype star(mass : float, name : a) :: "   \
  "(a in any); b = body(1.0, (2, t)); "

Test(test_check, records_are_datatypes_and_patterns) {
  cr_expect_str_eq(check_tree(RECORDS "b.mass;"), "(let body((mass.0, at.1)) = b in mass.0)");
  cr_expect_str_eq(check_tree(RECORDS "b.at;"), "(let body((mass.0, at.1)) = b in at.1)");
  cr_expect_str_eq(check_tree(RECORDS "star(name := 1, mass := 2.0);"), "star<int>(2, 1)");
  cr_expect_str_eq(check_tree(RECORDS "star(2.0, t)(name := 1);"),
                   "(let star((mass.0, name.1)) = star<bool>(2, t) in star<int>(mass.0, 1))");
  cr_expect_str_eq(check_tree(RECORDS "let body(at := (i, c)) = b in i;"),
                   "(let body((mass.0, (i.1, c.2))) = b in i.1)");
}

Test(test_check, records_that_nothing_determines) {
  check_expect(RECORDS "function g(p) = p.mass;", "star(a) -> float :: (a in any)");
  check_expect(RECORDS "function g(p) = (p.at, p.mass);", "body -> ((int, bool), float)");
  check_expect(RECORDS "function g(p) = (p.mass, p.at);", "error field");
  check_expect(RECORDS "function g(p : body) = p.mass;", "body -> float");
  check_expect(RECORDS "function g(p) = p(at := (1, t));", "body -> body");
  check_expect(RECORDS "function g(p) = p(name := 1);", "star(a) -> star(int) :: (a in any)");
}

/* ---- words ---- */

/* The first line of what is said. */
static void check_expect_message(const char *text, const char *wanted) {
  struct outcome o = test_check(text);
  cr_expect(strstr(o.messages, wanted), "%s\n  does not say: %s\n%s", text, wanted, o.messages);
}

static void expect_no_message(const char *text, const char *unwanted) {
  struct outcome o = test_check(text);
  cr_expect_not(strstr(o.messages, unwanted), "%s says: %s\n%s", text, unwanted, o.messages);
}

Test(test_check, messages_say_what_other_languages_have_instead) {
  check_expect_message("\"a\" + \"b\";", "`++` joins sequences");
  expect_no_message("[1:3] + 1;", "`++` joins sequences");
  expect_no_message("[1] - [2];", "`++` joins sequences");
  check_expect_message("(1 < 2) || t;", "the disjunction is the word `or`");
  check_expect_message("\"abc\"[0] == \"a\";", "`c is a character, \"c\" a sequence of one");
  check_expect_message("3 (1 + 2);", "is an operator missing before it?");
  expect_no_message("3 mod 2;", "is an operator missing before it?");
  check_expect_message("[1].len;", "the length of v is #v");
  check_expect_message("str(3);", "`str` is not defined; @x is the string of a value");
  check_expect_message("while (3);", "`while` is not defined; {... : x in v}");
  check_expect_message("x = undefined;", "`undefined` is not defined; there is no such value");
}

Test(test_check, messages_say_both_types_and_where_they_come_from) {
  check_expect_message("1 + 2.0;",
                       "`+` wants two numbers of one type, but these are int and float");
  check_expect_message("1 + 2.0;", "int because of this");
  check_expect_message("1 + 2.0;", "float because of this");
  check_expect_message("[1] + [2];", "[int] is not a number");
  check_expect_message("abs(\"x\");", "`abs` wants a number");
  check_expect_message(
      "(1, 2) /= (3, 4);",
      "`/=` wants two ints, floats or chars (`eql` compares values of all types), but "
      "these are (int, int): (int, int) is not");
  check_expect_message("(1, t, `a) == (1, t, `a);", "(`eql` compares values of all types)");
  check_expect_message("1 == (3, 4);", "of one type, but these are int and (int, int)");
  check_expect_message("(1, 2) + (3, 4);", "`+` wants two numbers, but these are (int, int)");
  check_expect_message("max(1, 2, 3);",
                       "`max` takes (a, a) :: (a in ordinal), but its argument is");
  check_expect_message("while (3);", "`while` is not defined; " NESL_LOOPS);
  check_expect_message("take([1], 2.0);",
                       "the second argument of `take` is to be int, but this is float");
  check_expect_message("partition([1], 2);",
                       "the second argument of `partition` is to be [int]");
  check_expect_message("if 1 then 2 else 3;",
                       "the condition of `if` is to be bool, but this is int");
  check_expect_message("if t then 1 else 2.0;", "`then` gives int and `else` float");
  check_expect_message("if t then 1 else 2, 3;", "`else` extends over commas");
  check_expect_message("{x : x in 5};", "is to be a sequence, but this is int");
  check_expect_message("{x : x in [1] | 3};", "behind `|` is to be bool");
  check_expect_message("[1, 2.0];", "the first is int and this is float");
  check_expect_message("3(4);", "it is no function: it is int");
  check_expect_message("[sin, cos];", "different functions");
  check_expect_message("function an(x) : int -> float = x;",
                       "says that it gives float, but its body is int");
  check_expect_message("function ad(x, y, z) = x + y + z; ad(1, 2);",
                       "`ad` takes (a, a, a) :: (a in number)");
  check_expect_message("[1][0.5];", "an index is to be int, but this is float");
  check_expect_message("[1:2.0];", "the end of a range is to be int, but this is float");
  check_expect_message("\"a\" ++ [1];", "is to be [char], but this is [int]");
  check_expect_message("sum [1, 2];", "a list as an argument needs parentheses");
  check_expect_message("abs -3;", "a negative argument needs parentheses");
  check_expect_message("time(3) + 1;", "these are (int, float) and int");
  check_expect_message("let (a, b) = 3 in a;",
                       "a tuple of 2 apart, but what it is given is int");
  check_expect_message("undefined_varable = 1; undefined_variable;",
                       "did you mean `undefined_varable`?");
  check_expect_message("let number = 1 in nunber;", "did you mean `number`?");
  check_expect_message("true;", "called t and f");
  check_expect_message("[] a;", "a type variable is declared");
  check_expect_message("[] flaot;", "did you mean `float`?");
  check_expect_message("function h(x, y) = (x + y) and x; h(t, f);", "of `h` is to be int");
}

Test(test_check, one_mistake_is_one_error) {
  struct outcome o = test_check("function m(x) = undefined_thing + undefined_thing2(x);");
  cr_expect(strstr(o.messages, "undefined_thing2"), "later mistakes are found too");
  cr_expect_null(strstr(o.messages, "because of"), "%s", o.messages);
}

/* ---- the corpus ---- */

/* Whether the specification refuses a form that the checker accepts. Such forms are numbers
 * that are logical, too, which become int, and names that programs may define. */
static bool superseded(const char *path, const char *line, const struct outcome *o) {
  const bool error = strncmp(o->text, "error ", 6) == 0;
  if (strstr(path, "errors/names.nesl"))
    return !error && (strstr(line, "reserved") || strstr(line, "builtin"));
  return strstr(path, "errors/types.nesl") && strcmp(o->text, "(int, int) -> int") == 0;
}

static char *check_read_all(const char *path, size_t *length) {
  FILE *in = fopen(path, "rb");
  if (!in) return NULL;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  for (int c; (c = getc(in)) != EOF;) putc(c, out);
  fclose(in);
  fclose(out);
  *length = size;
  return text;
}

/* Returns what the checker must say to an expected line: its type, or a kind of error of its
 * own. NULL if only the evaluation shows it. */
static const char *expected_of(const char *line) {
  static const char *const own[] = {
      "parse",        "type",    "unbound",     "pattern",           "duplicate", "builtin",
      "unknown-type", "no-body", "serial-only", "optional-argument", "field"};
  if (strncmp(line, "error ", 6) == 0) {
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
      if (strcmp(line + 6, own[i]) == 0) return line;
    }
    return NULL;
  }
  if (strcmp(line, "ok") == 0) return line;
  const char *type = NULL;
  for (const char *p = line; (p = strstr(p, " : ")); p += 3) type = p + 3;
  return type;
}

static size_t compare_file(const char *path) {
  size_t length = 0, expected_length = 0, wrong = 0;
  char *text = check_read_all(path, &length);
  char *expected_path = arena_printf(&arena, "%s", path);
  strcpy(strstr(expected_path, ".nesl"), "");
  char *expected =
      check_read_all(arena_printf(&arena, "%s.expected", expected_path), &expected_length);
  cr_assert(text && expected, "%s", path);
  struct source source = {.name = path, .text = text, .length = length, .first_line = 1};
  struct reader reader;
  reader_init(&reader, &arena, &session->names, &source);
  struct outcome o;
  char *rest = expected;
  while (check_next(&reader, &o)) {
    char *line = strsep(&rest, "\n");
    cr_assert(line, "%s has more forms than lines are expected", path);
    const char *wanted = expected_of(line);
    bool good = wanted ? strcmp(o.text, wanted) == 0 : strncmp(o.text, "error ", 6) != 0;
    if (good || superseded(path, line, &o)) continue;
    wrong++;
    cr_expect(good, "%s: %s\n  is %s\n%s", path, line, o.text, o.messages ? o.messages : "");
  }
  cr_expect(!rest || !*rest, "%s: expected but not there: %s", path, rest);
  free(text);
  free(expected);
  return wrong;
}

/* ---- types that are larger as trees than any memory ---- */

static const char doublings[] = "function p(x) = (x, x); function a(x) = p(p(p(p(x))));"
                                "function b(x) = a(a(a(a(x)))); function c(x) = b(b(x));";

static bool has(const struct outcome *o, const char *words) {
  return o->messages && strstr(o->messages, words);
}

Test(test_check, doubled_types_are_checked_in_linear_time, .timeout = 20) {
  test_check(doublings);
  const uint64_t before = heap.live;
  struct outcome o = test_check("function d(x) = c(c(x)); function e(x) = let y = d(x) in x;");
  cr_expect_str_eq(o.text, "a -> a :: (a in any)");
  o = test_check("d;");
  cr_expect_lt(strlen(o.text), 2 * TYPE_MOST_TEXT);
  cr_expect(strstr(o.text, "... :: (a in any)"));
  test_check("g = x => c(c(x)); w = [c, c]; function c(x) = b(b(x));");
  o = test_check("function d(x) = c(c(x)) + 1;");
  cr_expect_str_eq(o.text, "error type");
  cr_expect_lt(strlen(o.messages), 6 * TYPE_MOST_TEXT, "%s", o.messages);
  cr_expect_lt(heap.live - before, 8 << 20);
}

Test(test_check, values_have_so_many_columns_and_no_more, .timeout = 20) {
  test_check(doublings);
  check_expect("#[a(p(p(p([1, 2]))))];", "int");
  struct outcome o = test_check("c(1);");
  cr_expect_str_eq(o.text, "error limit");
  cr_expect(has(&o, "this type has more than 10000 columns"), "%s", o.messages);
  o = test_check("v = {c(i) : i in [1, 2]};");
  cr_expect(has(&o, "this type has more than 10000 columns"), "%s", o.messages);
  o = test_check("b(x => x);");
  cr_expect(has(&o, "this type has more than 10000 columns"), "functions count: %s",
            o.messages);
  test_check("datatype d0(int, int);");
  for (int i = 1; i < 40; i++) {
    test_check(arena_printf(&arena, "datatype d%d(d%d, d%d);", i, i - 1, i - 1));
  }
  o = test_check("v = #([] d39);");
  cr_expect_str_eq(o.text, "int");
  o = test_check("v = ([] d39);");
  cr_expect(has(&o, "this type has more than 10000 columns"), "%s", o.messages);
}

Test(test_check, types_nest_only_so_deep) {
  test_check("function f0(x) = [x];");
  for (int i = 1; i < 12; i++) {
    test_check(arena_printf(&arena, "function f%d(x) = f%d(f%d(x));", i, i - 1, i - 1));
  }
  const struct outcome o = test_check("function f12(x) = f11(f11(x));");
  cr_expect_str_eq(o.text, "error limit");
  cr_expect(has(&o, "the type here nests deeper than 4000"), "%s", o.messages);
}

Test(test_check, corpus) {
  static const char *const folders[] = {"types",  "errors",  "basic",
                                        "nested", "library", "programs"};
  size_t files = 0;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    const char *folder = arena_printf(&arena, "%s/%s", CORPUS, folders[i]);
    DIR *directory = opendir(folder);
    if (!directory) continue;
    for (struct dirent *entry; (entry = readdir(directory));) {
      if (!strstr(entry->d_name, ".nesl")) continue;
      const char *path = arena_printf(&arena, "%s/%s", folder, entry->d_name);
      struct diag_list diags;
      diag_list_init(&diags, &arena);
      session = session_new(&arena, true, &diags);
      compare_file(path);
      files++;
    }
    closedir(directory);
  }
  if (!files) cr_skip_test("no corpus");
}
