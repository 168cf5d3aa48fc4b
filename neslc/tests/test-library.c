/* test-library.c - the functions of the library: their types, values, and complaints. */
#include "neslc/direct.h"
#include "neslc/library.h"

#include <criterion/criterion.h>
#include <string.h>

static struct heap heap;
static struct arena arena;
static struct session *session;

static void start(bool classic) {
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  if (setjmp(arena.out_of_memory)) cr_assert_fail("out of memory");
  struct diag_list diags;
  diag_list_init(&diags, &arena);
  session = session_new(&arena, classic, &diags);
  if (!session) diag_print(&diags, "test-library", 5, stderr);
  cr_assert(session, "the library is broken");
}

static void start_classic(void) {
  start(true);
}
static void start_wide(void) {
  start(false);
}
static void stop(void) {
  arena_free(&arena);
}

/* ---- types ---- */

static const struct {
  const char *name, *type;
} types[] = {
#define TYPE(name, type) {name, type},
#include "neslc/tests/library-types.def"
#undef TYPE
};

Test(library, types, .init = start_classic, .fini = stop) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    const struct global *g = session_library(session, types[i].name);
    cr_expect(g, "there is no %s", types[i].name);
    if (!g) continue;
    cr_expect_str_eq(type_text(&arena, g->scheme.type, true), types[i].type, "%s",
                     types[i].name);
    cr_expect(g->builtin, "%s can be redefined", types[i].name);
  }
}

struct names {
  size_t all, builtin;
};

static void expect_told(void *context, struct global *g) {
  struct names *names = context;
  names->all++;
  names->builtin += g->builtin;
  if (g->kind == GLOBAL_CONSTRUCTOR) return;
  cr_expect(g->documentation && *g->documentation, "%s has no documentation", g->name->text);
  bool internal = g->name->text[0] == '_';
  bool says_so = g->documentation && strncmp(g->documentation, "Internal: ", 10) == 0;
  cr_expect_eq(internal, says_so, "%s is internal, or it is not", g->name->text);
  cr_expect_neq(internal, g->builtin, "%s is protected, or it is not", g->name->text);
}

/* Every name says what it is for; those of the specification and no others are protected. */
Test(library, documentation, .init = start_classic, .fini = stop) {
  struct names names = {0};
  session_each(session, expect_told, &names);
  cr_expect_gt(names.all, 280);
  const size_t constructors = 1; /* hashtable */
  cr_expect_eq(names.builtin, sizeof types / sizeof *types + constructors);
}

/* ---- values ---- */

/* What evaluating a form gives, as `nesl --outcomes` would say: a value without its type, or
 * the first line of the complaint. */
static const char *outcome(const char *text) {
  struct source source = {"test", text, strlen(text), 1};
  struct reader reader;
  reader_init(&reader, &arena, &session->names, &source);
  struct diag_list diags;
  diag_list_init(&diags, &arena);
  struct complaints complaints = {.diags = &diags};
  struct form *form = arena_alloc(&arena, sizeof *form);
  struct checked checked;
  struct nesl_value value;
  struct direct_cost cost;
  struct direct_options options = {.out = stdout};
  if (read_form(&reader, &complaints, form) == READ_FORM &&
      check_form(session, form, &complaints, &checked)) {
    if (form->kind != FORM_EXPRESSION) return "defined";
    if (direct_evaluate(session, &checked, &options, &complaints, &value, &cost)) {
      char *shown;
      size_t size;
      FILE *stream = open_memstream(&shown, &size);
      value_show(&value, &(struct value_layout){.print_length = 100}, stream);
      fclose(stream);
      const char *kept = arena_copy(&arena, shown, size);
      free(shown);
      return kept;
    }
  }
  const char *message = diags.list.count ? diags.list.items[0].message : "";
  return arena_copy(&arena, message, strcspn(message, "\n"));
}

static const struct {
  const char *form, *outcome;
  bool fails;
} values[] = {
#define VALUE(form, outcome) {form, outcome, false},
#define FAILS(form, outcome) {form, outcome, true},
#include "neslc/tests/library-values.def"
#undef VALUE
#undef FAILS
};

Test(library, values, .init = start_classic, .fini = stop) {
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    const char *found = outcome(values[i].form);
    const size_t length = values[i].fails ? strlen(values[i].outcome) : SIZE_MAX;
    cr_expect(strncmp(found, values[i].outcome, length) == 0, "%s is %s, not %s",
              values[i].form, found, values[i].outcome);
  }
}

/* ---- properties over many values ---- */

static void expect_true(const char *form) {
  cr_expect_str_eq(outcome(form), "T", "%s: %s", form, outcome(form));
}

Test(library, wide_integers, .init = start_wide, .fini = stop) {
  cr_expect_str_eq(outcome("max_int;"), "9223372036854775807");
  cr_expect_str_eq(outcome("@max_int;"), "\"9223372036854775807\"");
  cr_expect_str_eq(outcome("@min_int;"), "\"-9223372036854775808\"");
  cr_expect_str_eq(outcome("@(10 ^ 18);"), "\"1000000000000000000\"");
  cr_expect_str_eq(outcome("@(1 - 10 ^ 18);"), "\"-999999999999999999\"");
  cr_expect_str_eq(outcome("parse_int(\"-9223372036854775808\");"),
                   "(-9223372036854775808, T)");
  cr_expect_str_eq(outcome("isqrt(max_int);"), "3037000499");
  expect_true("all({isqrt(n * n) == n and isqrt(n * n - 1) == n - 1"
              "     : n in [1000000 : 3037000500 : 1499993]});");
  expect_true("let v = {rem(i * 7919, 1000) * 10000000000 : i in [0:5000]}"
              " in #remove_duplicates(v) == 1000;");
}

/* Texts of numbers are read back; both ways of computing a digit agree. */
Test(library, numerals_round_trip, .init = start_classic, .fini = stop) {
  expect_true("all({eql(parse_int(@n), (n, t)) : n in {hash(i, max_int) - 1000000000"
              "     : i in [0:500]}});");
  expect_true("all({let (y, ok) = parse_float(float_string(x)) in ok and"
              "       abs(y - x) <= 0.00000005 * abs(x)"
              "     : x in {float(hash(i, 1000000)) * 10.0 ^ rem(i, 300) : i in [0:600]}});");
  expect_true(
      "all({let (y, ok) = parse_float(exp_string(x, 8)) in ok and"
      "       abs(y - x) <= 0.000000005 * abs(x)"
      "     : x in {float(1 + hash(i, 1000000)) / 10.0 ^ rem(i, 280) : i in [0:600]}});");
}

Test(library, sets_agree_with_comparing_all, .init = start_classic, .fini = stop) {
  outcome("function firsts(v) = {min_val({if eql(x, y) then i else #v : y in v; i in "
          "index(#v)}) : x in v};");
  expect_true("let v = {hash(i, 40) : i in [0:200]} in eql(name(v), firsts(v));");
  expect_true("let v = {(hash(i, 9), [0 : hash(i, 5)]) : i in [0:100]}"
              " in eql(name(v), firsts(v));");
  expect_true("let v = {float(hash(i, 50)) * 1.0e-200 : i in [0:100]}"
              " in eql(name(v), firsts(v));");
  expect_true("eql({name(v) : v in [\"abca\", \"\", \"zz\", \"hello world\"]},"
              "    {firsts(v) : v in [\"abca\", \"\", \"zz\", \"hello world\"]});");
  expect_true("all({eql({kth_smallest(v, k) : k in index(#v)}, sort(v))"
              "     : v in {{hash((i, k), 7 * i) : k in [0 : 3 * i]} : i in [1:12]}});");
  expect_true("let s = {code_char(97 + hash(i, 2)) : i in [0:300]}"
              " in all({eql(search_for_subseqs(u, s),"
              "             {i in [0 : 301 - #u] | eql(u, subseq(s, i, i + #u))})"
              "         : u in [\"\", \"a\", \"abba\", \"aaaa\", s, \"c\"]});");
}

/* Hashes of small, regular values fall into slots as random numbers would: of 2000 into 1000,
 * 865 or so are taken. */
Test(library, hashes_spread, .init = start_classic, .fini = stop) {
  expect_true("let n = #remove_duplicates({hash(i, 1000) : i in [0:2000]}) in n > 830;");
  expect_true("let n = #remove_duplicates({hash(float(i) * 0.37, 1000) : i in [0:2000]})"
              " in n > 830;");
  expect_true("let n = #remove_duplicates({hash((i, t), 1000) : i in [0:2000]}) in n > 830;");
  expect_true("let n = #remove_duplicates({hash([i, 2], 1000) : i in [0:2000]}) in n > 830;");
  expect_true("let n = #remove_duplicates({hash(dist(1, i), 1000) : i in [0:300]})"
              " in n > 230;");
  expect_true("hash(0.0, 1000000) == hash(-1.0 * 0.0, 1000000);");
}
