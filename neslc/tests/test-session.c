/* test-session.c - sessions of many forms: what one of them takes does not depend on how many
 * there were before.
 */
#include "neslc/flatten/flatten.h"
#include "neslc/reference/direct.h"
#include "neslc/tests/session.h"

#include <stdlib.h>
#include <string.h>

static struct diag_list diags;
static struct complaints complaints;

static void session_setup(void) {
  session_begin(false, &diags);
  complaints = (struct complaints){.diags = &diags};
}

TestSuite(session, .init = session_setup, .fini = memory_end);

/* Checks the forms of a text, of which the last stays in *last. */
static void session_check_all(const char *text, struct checked *last) {
  struct source *source = arena_alloc(&arena, sizeof *source);
  *source = (struct source){
      .name = "test.nesl", .text = text, .length = strlen(text), .first_line = 1};
  source_index(&arena, source);
  struct reader reader;
  reader_init(&reader, &arena, &session->names, source);
  for (;;) {
    struct form *form = arena_alloc(&arena, sizeof *form);
    enum reading reading = read_form(&reader, &complaints, form);
    if (reading == READ_END) return;
    cr_assert_eq(reading, READ_FORM);
    cr_assert(check_form(session, form, &complaints, last));
  }
}

/* Returns how many bytes compiling the last form of a text allocates. */
static uint64_t bytes_to_compile(const char *text) {
  struct checked form = {0};
  session_check_all(text, &form);
  struct heap work_heap;
  struct arena work;
  heap_init(&work_heap, 0);
  arena_init(&work, &work_heap);
  const struct flatten_options options = {.arena = &work, .widths = {CVL_I64, CVL_F64}};
  cr_assert_not_null(flatten_expression(session, form.value, &options, &complaints));
  arena_free(&work);
  return work_heap.peak;
}

Test(session, a_form_is_compiled_with_what_it_needs) {
  const uint64_t first = bytes_to_compile("function f0(x) = x + 1; f0(3);");
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  for (int i = 1; i < 5000; i++) fprintf(out, "function f%d(x) = x + 1;\n", i);
  fputs("f4999(3);", out);
  fclose(out);
  cr_expect_leq(bytes_to_compile(text), first + 4096);
  free(text);
}

/* ---- functions of the library are read when they are named ---- */

static void session_count_read(void *count, struct global *g) {
  *(unsigned *)count += g->kind == GLOBAL_FUNCTION && g->scheme.type;
}

static unsigned functions_read(void) {
  unsigned count = 0;
  session_each(session, session_count_read, &count);
  return count;
}

Test(session, what_is_not_named_is_not_read) {
  enum { A_FEW = 20, LEAST_BYTES = 1100000 };
  struct checked form;
  session_check_all("function twice(n) = (n, n); twice(1);", &form);
  cr_expect_eq(functions_read(), 1, "twice");
  cr_expect_lt(heap.live, LEAST_BYTES);
  session_check_all("function last(v) = reverse(v)[0];", &form);
  cr_expect(functions_read() > 3 && functions_read() < A_FEW, "%u", functions_read());
}

/* ---- positions ---- */

static struct source made_of(const char *text, size_t length) {
  return (struct source){.name = "t", .text = text, .length = length, .first_line = 7};
}

Test(session, remembered_positions_are_those_counted) {
  enum { LENGTH = 30000 };
  static const char pattern[] = "ab\xc3\xa9 (x)\xe2\x82\xac";
  char *text = arena_alloc(&arena, LENGTH);
  uint32_t random = 1;
  for (size_t i = 0; i < LENGTH; i++) {
    random = random * 1664525 + 1013904223;
    text[i] = pattern[i % (sizeof pattern - 1)];
    if (i < 2000 && random >> 27 == 0) text[i] = '\n'; /* many lines, then one of many marks */
    if (i == 20000) text[i] = '\n';
  }
  const struct source plain = made_of(text, LENGTH);
  struct source indexed = plain;
  source_index(&arena, &indexed);
  for (uint32_t at = 0; at < LENGTH + 10; at += at < 2100 ? 1 : 37) {
    const struct source_pos a = source_position(&plain, at), b = source_position(&indexed, at);
    cr_assert_eq(a.line, b.line, "byte %u", at);
    cr_assert_eq(a.column, b.column, "byte %u", at);
    uint32_t x = 0, y = 0;
    cr_assert(source_line(&plain, a.line, &x) && source_line(&indexed, a.line, &y));
    cr_assert_eq(x, y);
    cr_assert(x <= at && (at >= LENGTH || !memchr(text + x, '\n', at - x)));
  }
  uint32_t none;
  cr_expect_not(source_line(&indexed, 6, &none));
  cr_expect_not(source_line(&indexed, 100000, &none));
}

/* ---- what nothing mentions is freed: region.h ---- */

/* Executes the forms of a text as the prompt does, each line a source of its own, looking for
 * garbage after each; the text of the last result. */
static const char *session_run(const char *text) {
  static char *result;
  size_t size = 0;
  char *copy = strdup(text), *rest = copy;
  for (char *line; (line = strsep(&rest, "\n"));) {
    struct region *of_source = region_new(session, 64);
    struct source *source = arena_alloc(&of_source->arena, sizeof *source);
    *source = (struct source){.name = "test",
                              .text = arena_copy(&of_source->arena, line, strlen(line)),
                              .length = strlen(line),
                              .first_line = 1,
                              .region = of_source};
    session_add_source(session, source);
    struct reader reader;
    reader_init(&reader, &of_source->arena, &session->names, source);
    for (;;) {
      struct region *region = session_begin_form(session);
      reader.arena = &region->arena;
      struct form *form = arena_alloc(reader.arena, sizeof *form);
      struct checked checked = {0};
      const enum reading reading = read_form(&reader, &complaints, form);
      if (reading == READ_END) {
        session_end_form(session, region);
        break;
      }
      cr_assert_eq(reading, READ_FORM, "%s", line);
      cr_assert(check_form(session, form, &complaints, &checked), "%s: %s", line,
                diags.list.count ? diags.list.items[0].message : "");
      if (checked.value) {
        struct nesl_value value;
        const struct direct_options options = {.out = stdout};
        cr_assert(direct_evaluate(session, &checked, &options, &complaints, &value, NULL),
                  "%s: %s", line, diags.list.count ? diags.list.items[0].message : "");
        free(result);
        FILE *out = open_memstream(&result, &size);
        value_show(&value, &(struct value_layout){.print_length = 10}, out);
        fclose(out);
        session_bind_checked(session, &checked, &value);
      }
      session_end_form(session, region);
      session_collect_now(session);
    }
    region_let_go(session, of_source);
    session_collect_now(session);
  }
  free(copy);
  return result;
}

static void setup_regions(void) {
  session_setup();
  session_collect_from_now(session);
}

static void teardown_regions(void) {
  session_free(session);
  memory_end();
}

TestSuite(regions, .init = setup_regions, .fini = teardown_regions);

/* Definitions that a program still uses are there, whatever was freed around them. This is
 * useful mainly under the address sanitizer. */
Test(regions, what_is_mentioned_stays) {
  static const struct {
    const char *text, *result;
  } cases[] = {
      {"v = [7, 8]; function pick(x) = v[x];\npick(1);", "8"},
      {"v = [1, 9]; pick(1);", "9"},
      {"v = 5;\n1; 2; \"text\";\npick(1);", "9"}, /* the old variable, of another type */
      {"function twice(x) = pick(x) * 2;\nfunction pick(x) = x + 100;\ntwice(1);", "202"},
      {"function pick(x) = x + 0.5;\ntwice(1);", "202"},
      {"h = let y = 10 in (x => x + y); k = h;\nh = 3;\nk(1);", "11"},
      {"function adder(n) = x => x + n;\na5 = adder(5);\nfunction adder(n) = n;\na5(1);", "6"},
      {"function down(n) = if n == 0 then [] int else [n] ++ down(n - 1);\ndown(3);",
       "[3, 2, 1]"},
      {"function keep(n) = x => (#down(n), x);\nk3 = keep(3);\nfunction down(n) = n;\nk3(1);",
       "(3, 1)"},
      {"function self(n) = x => if x == 0 then n else self(n + 1)(x - 1);\ns2 = self(2);\n"
       "function self(n) = n;\ns2(3);",
       "5"},
      {"datatype box(int); b = box(4); function open(box(x)) = x;\nopen(b);", "4"},
      {"datatype box(int, int);\nopen(b);", "4"},
      {"c = box(1, 2); function open(box(x, y)) = x + y;\nopen(c);", "3"},
      {"b;", "box(4)"},
      {"datatype pairs(a, [b]) :: (a in any; b in any); p = pairs(1, [2.5]);\n"
       "function second(pairs(x, y)) = y;\ndatatype pairs(int);\nsecond(p);",
       "[2.5]"},
      {"function option(x, k := 1) = x + k;\nfunction asks(x) = option(x);\n"
       "function option(x, k := 2) = x + k;\nasks(1) + option(1);",
       "5"},
      {"function odd(n) : int -> bool;\nfunction even(n) = if n == 0 then t else odd(n - 1);\n"
       "function odd(n) : int -> bool = if n == 0 then f else even(n - 1);\n"
       "function odder(n) = odd(n);\nodd = 1; even = 2;\nodder(7);",
       "T"},
      {"9;\nit;\n(it, it);\nit;", "(9, 9)"},
      {"g = x => open(x);\nopen = 3;\ng(c);", "3"},
      {"v = [1.5]; w = v; v = [2.5]; (v, w);", "([2.5], [1.5])"},
      {"{eql(x, y) : x in [[1, 2], [3]]; y in [[1, 2], [4]]};", "[T, F]"},
      {"eql(b, b);", "T"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *result = session_run(cases[i].text);
    cr_expect_str_eq(result, cases[i].result, "%s: %s", cases[i].text, result);
  }
}

/* Functions of the library mean those of the library, whenever they are read. */
Test(regions, the_library_uses_its_own) {
  const char *result =
      session_run("function _get(v, i) = v; function _series(s, d, n) = \"\";\n"
                  "(reverse([1, 2]), _get(3, 4));");
  cr_expect_str_eq(result, "([2, 1], 3)", "%s", result);
}

/* Whether there was memory to read a function. */
static bool session_is_read(const char *name) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return false;
  session_library(session, name);
  memory_guard_end(&guard);
  return true;
}

/* Whether there was memory to visit all globals. */
static bool are_visited(void) {
  unsigned count = 0;
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return false;
  session_each(session, session_count_read, &count);
  memory_guard_end(&guard);
  return true;
}

/* Who looks for something must not take it for missing. */
Test(session, globals_are_not_skipped_without_memory) {
  heap.fail_at = heap.count + 1;
  cr_expect_not(are_visited());
  heap.fail_at = 0;
  cr_expect(are_visited());
}

static unsigned regions_made(void) {
  unsigned count = 0;
  for (const struct region *r = session->regions; r; r = r->next) count++;
  return count;
}

Test(regions, a_function_without_memory_is_read_again) {
  bool fine = false;
  for (unsigned k = 1; !fine; k++) {
    struct region *region = session_begin_form(session);
    heap.fail_at = heap.count + k;
    fine = session_is_read("wordify");
    heap.fail_at = 0;
    cr_assert_eq(session->arena, &region->arena);
    session_end_form(session, region);
    cr_assert_eq(regions_made(), functions_read());
    const char *result = session_run("function same(v) = v; wordify(same(\"a bc\"));");
    cr_expect_str_eq(result, "[\"a\", \"bc\"]", "%s", result);
    teardown_regions();
    setup_regions();
  }
}

/* Bytes that a session has after so many times the forms. */
static uint64_t live_after(const char *forms, unsigned times) {
  for (unsigned i = 0; i < times; i++) session_run(forms);
  return heap.live;
}

Test(regions, a_session_is_as_large_as_what_it_defines) {
  static const char *const forms[] = {
      "1 + 2;",
      "it = [1, 2]; it; 2.5; \"text\";",
      "v = index(1000); v = 3; v = index(2000);",
      ("function g(x) = x + 1; function g(x) = x + 2; function g(x) = 2.5;"
       "function g(x) = \"\";"),
      "function h(x) = y => x + y; l = h(1); l(2); l = h(2);",
      "datatype d(int); e = d(3); datatype d(float); e = d(2.5); eql(e, e);",
      "function m(x) = g(x); function g(x) = 1; function m(x) = (g(x), g(x));",
      "{i == j : i in index(10); j in index(10)}; string([1, 2]); x => x; it;",
      "(a, b) = (1, [2, 3]); (b, a) = (a, b);",
  };
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const uint64_t before = live_after(forms[i], 3);
    cr_expect_eq(live_after(forms[i], 20), before, "%s", forms[i]);
  }
}

/* Garbage is looked for when there may be as much of it as of what is used. */
Test(regions, garbage_is_collected_in_proportion) {
  enum { VALUES = 300, INTS = 10000 };
  uint64_t most = 0;
  for (int i = 0; i < VALUES; i++) {
    struct region *region = session_begin_form(session);
    int64_t *ints = arena_alloc(&region->arena, INTS * sizeof *ints);
    struct column columns[] = {
        {.kind = COLUMN_SEGDES, .length = 1, .as.ints = (int64_t[]){INTS}},
        {.kind = COLUMN_INT, .length = INTS, .as.ints = ints},
        {.kind = COLUMN_INT, .length = 1, .as.ints = ints}};
    struct type *seq = type_sequence(&region->arena, type_base(&region->arena, TYPE_INT));
    struct type *types[] = {seq, type_pair(&region->arena, seq, type_base(NULL, TYPE_INT))};
    const struct scheme scheme = {.type = types[i % 2]}; /* a variable of its own each time */
    const struct nesl_value value = {types[i % 2], i % 2 ? 3 : 2, columns};
    session_bind(session, intern_name(&session->names, "it", 2), &scheme, &value);
    session_end_form(session, region);
    session_collect(session);
    if (heap.live > most) most = heap.live;
  }
  session_collect_now(session);
  cr_expect_leq(most, 2 * heap.live + (2 << 20));
}
