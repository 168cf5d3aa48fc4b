/* support.c - see support.h. */
#include "support.h"
#include "programs.h"

#include "ir/tests/parse.h"
#include <stdlib.h>
#include <string.h>

void fixture_init(struct fixture *t) {
  memset(t, 0, sizeof *t);
  heap_init(&t->heap, (uint64_t)1 << 30);
  arena_init(&t->arena, &t->heap);
  arena_init(&t->messages, &t->heap);
  diag_list_init(&t->diags, &t->messages);
  t->options = fcode_opt_default_options();
  t->options.fuse = false;
  t->options.verify = true;
}

void fixture_free(struct fixture *t) {
  arena_free(&t->arena);
  arena_free(&t->messages);
}

const char *after(struct fixture *t, const char *pass, const char *text) {
  const char *whole = arena_printf(&t->arena, "let-form \"t\" i32 f64 entry M\n%s",
                                   with_positions(&t->arena, text));
  struct ir_program *program = ir_parse(&t->arena, "t.let", whole, strlen(whole), &t->diags);
  cr_assert(program, "%s in\n%s", t->diags.list.items[0].message, whole);
  char *dump = NULL;
  size_t size = 0;
  t->options.dump = open_memstream(&dump, &size);
  t->options.print_after = pass;
  const struct ir_program *result =
      fcode_opt(&t->arena, program, &t->options, &t->stats, NULL, &t->diags);
  if (result && strcmp(pass, "final") == 0) ir_print(result, t->options.dump);
  fclose(t->options.dump);
  cr_assert(result, "%s in\n%s%s", t->diags.list.items[0].message, whole, dump);
  const char *begin = strstr(dump, "fun ");
  const char *end = begin ? strstr(begin, "--- after") : NULL;
  cr_assert(begin, "nothing printed after %s", pass);
  const char *listing =
      without_positions(&t->arena, begin, end ? (size_t)(end - begin) : strlen(begin));
  free(dump);
  return listing;
}

static void support_expect(struct fixture *t, const char *pass, const char *text,
                           const char *expected) {
  const char *found = after(t, pass, text);
  cr_expect_str_eq(found, expected, "after %s\n%s\nbecame\n%s\nnot\n%s", pass, text, found,
                   expected);
  fixture_free(t);
}

void expect_after(const char *pass, const char *text, const char *expected) {
  struct fixture t;
  fixture_init(&t);
  support_expect(&t, pass, text, expected);
}

void expect_uninlined(const char *text, const char *expected) {
  struct fixture t;
  fixture_init(&t);
  t.options.inline_limit = 0;
  support_expect(&t, "final", text, expected);
}
