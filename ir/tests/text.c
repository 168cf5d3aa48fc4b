/* text.c - the text form: there and back, by hand, with faults, and over the corpus. */
#include "support.h"

#include "ir/tests/parse.h"
#include <glob.h>
#include <stdlib.h>
#include <string.h>

static const char *const programs[] = {
    "FUNC M CONST FLOAT (1.5 -2.0E300 1.0E999 0.1) CONST INT STDERR FWRITE FLOAT RET",
    "FUNC M CONST CHAR \"a\\b\n\xff\" CONST CHAR \"\" CONST INT () CONST SEGDES (2 0) RET",
    "FUNC M CONST BOOL T CONST INT 1 CONST INT 2 ASSERT \"why not\" RET",
    "FUNC M {@ p.nesl:3:4 G } CONST INT 1 {@ p.nesl:4:1 } NOT INT RET",
    "FUNC M {@ p.nesl:3:4 G|q.nesl:1:2|p.nesl:9:9 } CONST INT 1 RET",
    "FUNC M CONST BOOL T IF EXIT ELSE CALL L ENDIF RET FUNC L CALL L RET",
    "FUNC M CONST BOOL T IF CONST INT 1 ENDIF CALL FN RET FUNC FN {@ a:1:1 } CONST CHAR "
    "\"RET\" "
    "RET FUNC G CALL M RET",
    "FUNC M CONST INT 1 CONST BOOL T PAIR CALL v1 RET FUNC v1 UNPAIR CPOP 1 1 RET",
};

Test(text, round_trip) {
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    struct fixture t;
    build_round_trip(&t, programs[i]);
    fixture_free(&t);
  }
}

Test(text, looks_like_this) {
  struct fixture t;
  fixture_build(&t, "FUNC M\nCONST INT 2\nCALL FN\nRET\nFUNC FN\nCONST BOOL T\nIF\nPOP 1 0\n"
                    "CONST INT 7\nENDIF\nRET");
  cr_expect_str_eq(printed(&t, t.ir), "let-form \"test.vcode\" i32 f64 entry M\n"
                                      "\n"
                                      "fun M () -> (INT) @1:6\n"
                                      "  v0 = CONST INT 2 @2:1\n"
                                      "  v1: INT = call FN v0 @3:1\n"
                                      "  yield v1\n"
                                      "end\n"
                                      "\n"
                                      "fun FN (v0: INT) -> (INT) @5:6\n"
                                      "  v1 = CONST BOOL T @6:1\n"
                                      "  v3: INT = if v1 @7:1\n"
                                      "    v2 = CONST INT 7 @9:1\n"
                                      "    yield v2\n"
                                      "  else\n"
                                      "    yield v0\n"
                                      "  end\n"
                                      "  yield v3\n"
                                      "end\n");
  fixture_free(&t);
}

static void text_expect_fault(const char *text, unsigned line, const char *words) {
  struct fixture t;
  fixture_build(&t, "FUNC M RET");
  char whole[500];
  snprintf(whole, sizeof whole, "let-form \"x\" i32 f64 entry M\n%s", text);
  cr_assert_null(ir_parse(&t.arena, "x.let", whole, strlen(whole), &t.diags), "%s", text);
  cr_assert(t.diags.list.count > 0);
  const struct diag *d = &t.diags.list.items[0];
  cr_expect_eq(d->pos.line, line, "line %u: %s", d->pos.line, d->message);
  cr_expect(strstr(d->message, words), "%s", d->message);
  fixture_free(&t);
}

Test(text, faults) {
  text_expect_fault("", 2, "entry function M is not defined");
  text_expect_fault("fun M () -> () @1:1\n  yield\n", 4,
                    "expected end, found the end of the text");
  text_expect_fault("fun M () -> () @1:1\n  v0 = FROB v1 @1:1\n yield end", 3,
                    "expected an operation, found FROB");
  text_expect_fault("fun M () -> () @1:1\n  call X @1:1\n yield end", 4,
                    "X, called at 1:1, is not");
  text_expect_fault("fun M () -> () @1:1\n  v0 = CONST INT x @1:1\n yield end", 3,
                    "expected an integer, found x");
  text_expect_fault("fun M () -> () @1:1\n  v0 = call M @1:1\n yield end", 3,
                    "must be given a kind");
  text_expect_fault("fun M () -> () @7:1\n  v0 = NOT INT v1 @8:1\n yield end", 8, "v1 is used");
  text_expect_fault("fun M () -> () @1:1\n  v99999999 = CONST INT 1 @8:1\n yield end", 3,
                    "smaller");
  text_expect_fault("stack M because \"x\" @1:1\nFUNC M\nFROB RET positions @1:1 end", 4,
                    "FROB");
  text_expect_fault("stack M because \"x\" @1:1\nFUNC M\nRET positions end", 3, "0 positions");
}

/* Any cut or changed byte gives an error or a program, never a crash. */
Test(text, damaged) {
  struct fixture t;
  fixture_build(&t, programs[5]);
  const char *text = printed(&t, t.ir);
  size_t length = strlen(text);
  char *copy = malloc(length + 1);
  for (size_t i = 0; i < length; i++) {
    struct arena arena;
    struct diag_list diags;
    arena_init(&arena, &t.heap);
    diag_list_init(&diags, &arena);
    struct ir_program *cut = ir_parse(&arena, "x", text, i, &diags);
    cr_expect(cut ? ir_verify(&arena, cut, &diags) : diags.errors > 0);
    diag_list_init(&diags, &arena);
    memcpy(copy, text, length + 1);
    copy[i] = "v0(\"\\@9"[i % 7];
    struct ir_program *changed = ir_parse(&arena, "x", copy, length, &diags);
    cr_expect(changed ? ir_verify(&arena, changed, &diags) : diags.errors > 0);
    arena_free(&arena);
  }
  free(copy);
  fixture_free(&t);
}

/* ---- no memory ---- */

Test(memory, every_allocation_may_fail) {
  const char *text = programs[5];
  struct fixture t;
  fixture_build(&t, text);
  const char *form = printed(&t, t.ir);
  bool failed = true;
  for (uint64_t n = 1; failed; n++) {
    struct heap heap;
    heap_init(&heap, (uint64_t)1 << 30);
    struct arena arena;
    arena_init(&arena, &heap);
    heap.fail_at = n;
    struct ir_program *built = ir_build(&arena, t.vcode, t.ir->widths, &t.diags);
    struct ir_program *parsed = ir_parse(&arena, "x", form, strlen(form), &t.diags);
    failed = !built || !parsed;
    cr_assert(n < 1000);
    arena_free(&arena);
    cr_expect_eq(heap.live, 0, "leak when allocation %u fails", (unsigned)n);
  }
  fixture_free(&t);
}

/* ---- the corpus, where it is ---- */

static void each_program(const char *pattern,
                         void (*visit)(const char *path, const char *text)) {
  glob_t found;
  char path[500];
  snprintf(path, sizeof path, "%s/%s", CORPUS, pattern);
  if (glob(path, 0, NULL, &found) != 0) return;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    size_t length;
    char *text = read_file(found.gl_pathv[i], &length);
    if (text && strlen(text) == length) visit(found.gl_pathv[i], text);
    free(text);
  }
  globfree(&found);
}

static void visit_good(const char *path, const char *text) {
  struct fixture t;
  fixture_build(&t, text);
  cr_assert(t.ir, "%s: %s", path, t.diags.list.items[0].message);
  expect_round_trip(&t);
  for (uint32_t i = 0; i < t.ir->function_count; i++) {
    const struct ir_function *f = &t.ir->functions[i];
    /* The two programs that test arms of different effect. */
    bool meant = strstr(path, "if-unbalanced-arms") || strstr(path, "if-deeply-nested");
    cr_expect(f->typed || meant, "%s: %s: %s", path, f->name->text, f->reason);
  }
  fixture_free(&t);
}

Test(corpus, is_typed_and_makes_the_round_trip) {
  each_program("ops/*.vcode", visit_good);
  each_program("programs/*.vcode", visit_good);
  each_program("real/*.vcode", visit_good);
  each_program("fcode/*.vcode", visit_good);
}

/* A faulty program is rejected at a line that its .why names, or built. */
static void visit_bad(const char *path, const char *text) {
  char why_path[500];
  snprintf(why_path, sizeof why_path, "%.*s.why", (int)(strlen(path) - 6), path);
  size_t length;
  char *why = read_file(why_path, &length);
  cr_assert(why, "%s", why_path);
  bool kinds = strstr(path, "/type-") || strstr(path, "/underflow-");
  if (strncmp(why, "run", 3) == 0 || strncmp(why, "resource", 8) == 0) {
    struct fixture t;
    fixture_build(&t, text);
    cr_expect(!kinds || !t.ir, "%s is accepted", path);
    if (!t.ir) {
      char line[32];
      snprintf(line, sizeof line, " %u", t.diags.list.items[0].pos.line);
      *strchr(why, ':') = '\0';
      cr_expect(strstr(why, line), "%s: line%s, expected %s", path, line, why);
    }
    fixture_free(&t);
  }
  free(why);
}

Test(corpus, bad_programs) {
  each_program("bad/*.vcode", visit_bad);
}
