/* test-library.c - the functions of the library: their types and documentation, and what is
 * different where ints are wide. */
#include "neslc/library/library.h"
#include "neslc/reference/direct.h"
#include "neslc/tests/session.h"

#include <string.h>

static struct diag_list diags;

static void start_classic(void) {
  session_begin(true, &diags);
}
static void start_wide(void) {
  session_begin(false, &diags);
}

/* ---- types ---- */

static const struct {
  const char *name, *type;
} types[] = {
#define TYPE(name, type) {name, type},
#include "neslc/tests/library-types.def"
#undef TYPE
};

Test(library, types, .init = start_classic, .fini = memory_end) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    const struct global *g = session_library(session, types[i].name);
    cr_expect(g, "there is no %s", types[i].name);
    if (!g) continue;
    cr_expect_str_eq(type_text(&arena, g->scheme.type, true), types[i].type, "%s",
                     types[i].name);
    cr_expect(g->library, "%s", types[i].name);
  }
}

struct names {
  size_t all, internal;
};

static void library_expect_message(void *context, struct global *g) {
  struct names *names = context;
  session_read(session, g);
  names->all++;
  if (g->kind == GLOBAL_CONSTRUCTOR) return;
  cr_expect(g->documentation && *g->documentation, "%s has no documentation", g->name->text);
  bool internal = g->name->text[0] == '_';
  bool says_so = g->documentation && strncmp(g->documentation, "Internal: ", 10) == 0;
  cr_expect_eq(internal, says_so, "%s is internal, or it is not", g->name->text);
  names->internal += internal;
}

/* Every function is correct. Every name says what it is for. */
Test(library, documentation, .init = start_classic, .fini = memory_end) {
  struct names names = {0};
  session_each(session, library_expect_message, &names);
  cr_expect_gt(names.all, 280);
  cr_expect_gt(names.all - names.internal, sizeof types / sizeof *types + 12); /* Ravel's own */
}

/* ---- values ---- */

/* Returns the result of evaluating a form, as `nesl --outcomes` prints it: a value without its
 * type, or the first line of the complaint. */
static const char *outcome(const char *text) {
  struct source source = {
      .name = "test", .text = text, .length = strlen(text), .first_line = 1};
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

/* Values of classic widths are compared in nesl-tests/nesl. */
static void expect_true(const char *form) {
  cr_expect_str_eq(outcome(form), "T", "%s: %s", form, outcome(form));
}

Test(library, wide_integers, .init = start_wide, .fini = memory_end) {
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
