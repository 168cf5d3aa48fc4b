/* test-session.c - sessions of many forms: what one of them takes does not depend on how many
 * there were before.
 */
#include "neslc/flatten.h"
#include "neslc/session.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct heap heap;
static struct arena arena;
static struct session *session;
static struct diag_list diags;
static struct complaints complaints;

static void setup(void) {
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  diag_list_init(&diags, &arena);
  complaints = (struct complaints){.diags = &diags};
  session = session_new(&arena, false, &diags);
  cr_assert_not_null(session);
}

static void teardown(void) {
  arena_free(&arena);
}

TestSuite(session, .init = setup, .fini = teardown);

/* Checks the forms of a text, of which the last stays in *last. */
static void check_all(const char *text, struct checked *last) {
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

/* What compiling the last form of a text allocates. */
static uint64_t bytes_to_compile(const char *text) {
  struct checked form = {0};
  check_all(text, &form);
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

/* ---- positions ---- */

static struct source made_of(const char *text, size_t length) {
  return (struct source){.name = "t", .text = text, .length = length, .first_line = 7};
}

Test(session, remembered_positions_are_those_counted) {
  enum { LENGTH = 30000 };
  static const char pieces[] = "ab\xc3\xa9 (x)\xe2\x82\xac";
  char *text = arena_alloc(&arena, LENGTH);
  uint32_t random = 1;
  for (size_t i = 0; i < LENGTH; i++) {
    random = random * 1664525 + 1013904223;
    text[i] = pieces[i % (sizeof pieces - 1)];
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
