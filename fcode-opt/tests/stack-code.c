/* stack-code.c - stack code out: the text of small programs, and a way back for large ones. */
#include "fcode-opt/fcode-opt.h"
#include "ir/tests/parse.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
  struct heap heap;
  struct arena arena, messages;
  struct diag_list diags;
};

static const struct widths classic = {CVL_I32, CVL_F64};

static void stack_code_begin(struct fixture *t) {
  heap_init(&t->heap, 0);
  arena_init(&t->arena, &t->heap);
  arena_init(&t->messages, &t->heap);
  diag_list_init(&t->diags, &t->messages);
}

static void stack_code_end(struct fixture *t) {
  arena_free(&t->arena);
  arena_free(&t->messages);
}

static const char *complaint(const struct fixture *t) {
  return t->diags.errors > 0 ? t->diags.list.items[0].message : "nothing";
}

static const char *stack_code_printed(struct fixture *t, const struct vcode_program *program) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  vcode_print(program, out);
  fclose(out);
  const char *copy = arena_copy(&t->arena, text, length);
  free(text);
  return copy;
}

/* The text without the line of widths and without origins, lines trimmed, "; " between. */
static const char *essence(struct fixture *t, const char *text) {
  char *out = arena_alloc(&t->arena, 2 * strlen(text) + 1), *stack_code_end = out;
  for (const char *line = text; *line;) {
    size_t length = strcspn(line, "\n");
    const char *word = line + strspn(line, " ");
    bool skip = *word == '{' || word >= line + length;
    if (!skip) {
      if (stack_code_end > out) stack_code_end += sprintf(stack_code_end, "; ");
      stack_code_end += sprintf(stack_code_end, "%.*s", (int)(line + length - word), word);
    }
    line += length + (line[length] == '\n');
  }
  return out;
}

static struct vcode_program *stack_code(struct fixture *t, const char *let_form) {
  struct ir_program *ir =
      ir_parse(&t->arena, "test.let", let_form, strlen(let_form), &t->diags);
  cr_assert(ir, "%s", complaint(t));
  ir_liveness(&t->arena, ir);
  cr_assert(ir_verify(&t->arena, ir, &t->diags), "%s", complaint(t));
  struct vcode_program *vcode = fcode_opt_stack_code(&t->arena, ir, &t->diags);
  cr_assert(vcode, "%s", complaint(t));
  return vcode;
}

/* The stack code of these functions, M the entry. */
static void stack_code_expect(const char *let_form, const char *expected) {
  struct fixture t;
  stack_code_begin(&t);
  char *whole = arena_printf(&t.arena, "let-form \"p.vcode\" i32 f64 entry M\n%s", let_form);
  const char *got = essence(&t, stack_code_printed(&t, stack_code(&t, whole)));
  cr_expect_str_eq(got, expected, "%s\ngives    %s\nexpected %s", let_form, got, expected);
  stack_code_end(&t);
}

/* FN with parameters: M calls it with constants. */
#define ON_TWO                                                                                 \
  "fun M () -> (INT) @1:1\n v0 = CONST INT (1 2) @1:1\n v1 = CONST INT (3 4) @1:1\n"           \
  "v2: INT = call FN v0 v1 @1:1\n yield v2\nend\n"
#define M_ON_TWO "FUNC M; CONST INT (1 2); CONST INT (3 4); CALL FN; RET; "

Test(stack_code, operands_stand_or_are_moved_or_copied) {
  stack_code_expect(
      ON_TWO "fun FN (v0: INT, v1: INT) -> (INT) @1:1\n v2 = - INT v0 v1 @1:1\n yield v2\nend",
      M_ON_TWO "FUNC FN; - INT; RET");
  stack_code_expect(
      ON_TWO "fun FN (v0: INT, v1: INT) -> (INT) @1:1\n v2 = - INT v1 v0 @1:1\n yield v2\nend",
      M_ON_TWO "FUNC FN; CPOP 1 1; - INT; RET");
  stack_code_expect(ON_TWO "fun FN (v0: INT, v1: INT) -> (INT) @1:1\n v2 = - INT v0 v1 @1:1\n"
                           "v3 = + INT v2 v0 @1:1\n v4 = * INT v3 v1 @1:1\n yield v4\nend",
                    M_ON_TWO "FUNC FN; COPY 2 0; - INT; CPOP 1 2; + INT; CPOP 1 1; * INT; RET");
  stack_code_expect(ON_TWO "fun FN (v0: INT, v1: INT) -> (INT) @1:1\n v2 = * INT v1 v1 @1:1\n"
                           "v3 = + INT v0 v2 @1:1\n yield v3\nend",
                    M_ON_TWO "FUNC FN; COPY 1 0; * INT; + INT; RET");
}

/* Interpreters of the 1990s do not survive a CPOP of more than 100 items. */
Test(stack_code, many_items_are_moved_in_several_steps) {
  enum { ITEMS = 250 };
  struct fixture t;
  stack_code_begin(&t);
  char *text = arena_alloc(&t.arena, 40 * ITEMS), *to = text;
  to += sprintf(to, "FUNC M ");
  for (int i = 0; i <= ITEMS; i++) to += sprintf(to, "CONST INT 9 RAND ");
  sprintf(to, "CPOP %d 1 RET", ITEMS);
  struct vcode_program *vcode =
      vcode_parse(&t.arena, "p", text, strlen(text), classic, &t.diags);
  struct ir_program *ir = ir_build(&t.arena, vcode, classic, &t.diags);
  cr_assert(ir, "%s", complaint(&t));
  vcode = fcode_opt_stack_code(&t.arena, ir, &t.diags);
  cr_assert(vcode, "%s", complaint(&t));
  int64_t moved = 0;
  for (uint32_t i = 0; i < vcode->functions[0].length; i++) {
    const struct vcode_instruction *in = &vcode->functions[0].code[i];
    if (in->op != OPC_CPOP) continue;
    cr_expect_leq(in->as.stack.count, 100);
    cr_expect_eq(in->as.stack.depth, ITEMS + 1 - (moved < 200 ? 100 : 50));
    moved += in->as.stack.count;
  }
  cr_expect_eq(moved, ITEMS);
  stack_code_end(&t);
}

Test(stack_code, what_is_dead_is_popped_at_once) {
  stack_code_expect(
      ON_TWO "fun FN (v0: INT, v1: INT) -> (INT) @1:1\n v2 = NOT INT v1 @1:1\n yield v2\nend",
      M_ON_TWO "FUNC FN; POP 1 1; NOT INT; RET");
  stack_code_expect(ON_TWO
                    "fun FN (v0: INT, v1: INT) -> (INT) @1:1\n v2, v3 = WRITE INT v1 @1:1\n"
                    "v4, v5 = FWRITE INT v0 v2 @1:1\n yield v4\nend",
                    M_ON_TWO "FUNC FN; WRITE INT; POP 1 0; FWRITE INT; POP 1 0; RET");
}

Test(stack_code, results_stand_as_the_function_returns_them) {
  stack_code_expect("fun M () -> (INT, INT) @1:1\n v0 = CONST INT (1 2) @1:1\n"
                    "v1: INT, v2: INT = call FN v0 @1:1\n yield v2 v1\nend\n"
                    "fun FN (v0: INT) -> (INT, INT) @1:1\n yield v0 v0\nend",
                    "FUNC M; CONST INT (1 2); CALL FN; CPOP 1 1; RET; FUNC FN; COPY 1 0; RET");
}

Test(stack_code, constants_are_written_where_they_are_used) {
  stack_code_expect(
      ON_TWO "fun FN (v0: INT, v1: INT) -> (INT) @1:1\n v2 = CONST INT 7 @1:1\n"
             "v3 = + INT v0 v2 @1:1\n v4 = - INT v1 v2 @1:1\n v5 = * INT v3 v4 @1:1\n"
             "v6 = CONST INT 9 @1:1\n yield v5\nend",
      M_ON_TWO "FUNC FN; CPOP 1 1; CONST INT 7; + INT; CPOP 1 1; CONST INT 7; - INT; * INT; "
               "RET");
  /* Early, so that the other operand need not be moved. */
  stack_code_expect(ON_TWO "fun FN (v0: INT, v1: INT) -> (INT) @1:1\n v2 = CONST INT 7 @1:1\n"
                           "v3 = + INT v0 v1 @1:1\n v4 = - INT v2 v3 @1:1\n yield v4\nend",
                    M_ON_TWO "FUNC FN; CONST INT 7; CPOP 2 1; + INT; - INT; RET");
}

#define ON_BOOL                                                                                \
  "fun M () -> (INT) @1:1\n v0 = CONST INT (1 2) @1:1\n v1 = CONST INT (3 4) @1:1\n"           \
  "v2 = CONST BOOL T @1:1\n v3: INT = call FN v0 v1 v2 @1:1\n yield v3\nend\n"
#define M_ON_BOOL "FUNC M; CONST INT (1 2); CONST INT (3 4); CONST BOOL T; CALL FN; RET; "

Test(stack_code, arms_leave_the_same) {
  stack_code_expect(ON_BOOL "fun FN (v0: INT, v1: INT, v2: BOOL) -> (INT) @1:1\n"
                            "v5: INT = if v2 @1:1\n v3 = + INT v0 v1 @1:1\n yield v3\n"
                            "else\n v4 = NOT INT v0 @1:1\n yield v4\n end\n yield v5\nend",
                    M_ON_BOOL "FUNC FN; IF; + INT; ELSE; POP 1 0; NOT INT; ENDIF; RET");
  stack_code_expect(ON_BOOL "fun FN (v0: INT, v1: INT, v2: BOOL) -> (INT) @1:1\n"
                            "v5: INT = if v2 @1:1\n yield v0\n else\n yield v1\n end\n"
                            "v6 = NOT INT v5 @1:1\n yield v6\nend",
                    M_ON_BOOL "FUNC FN; IF; POP 1 0; ELSE; POP 1 1; ENDIF; NOT INT; RET");
  stack_code_expect(
      ON_BOOL "fun FN (v0: INT, v1: INT, v2: BOOL) -> (INT) @1:1\n"
              "v5: INT = if v2 @1:1\n v3 = NOT INT v1 @1:1\n yield v3\n else\n yield v1\n end\n"
              "v6 = - INT v5 v0 @1:1\n yield v6\nend",
      M_ON_BOOL "FUNC FN; IF; NOT INT; ENDIF; CPOP 1 1; - INT; RET");
}

Test(stack_code, an_arm_that_exits_leaves_what_it_likes) {
  stack_code_expect(
      ON_BOOL
      "fun FN (v0: INT, v1: INT, v2: BOOL) -> (INT) @1:1\n"
      "v5: INT = if v2 @1:1\n exit @1:1\n else\n v4 = NOT INT v0 @1:1\n yield v4\n end\n"
      "v6 = + INT v5 v1 @1:1\n yield v6\nend",
      M_ON_BOOL "FUNC FN; IF; EXIT; ELSE; CPOP 1 1; NOT INT; ENDIF; CPOP 1 1; + INT; RET");
}

Test(stack_code, recursion_that_never_ends) {
  stack_code_expect(
      "fun M () -> () @1:1\n v0 = CONST BOOL T @1:1\n if v0 @1:1\n call M @1:1\n never\n"
      "else\n exit @1:1\n end\n never\nend",
      "FUNC M; CONST BOOL T; IF; CALL M; ELSE; EXIT; ENDIF; RET");
}

Test(stack_code, what_cannot_be_reached_is_left_out) {
  stack_code_expect(
      "fun G () -> () @1:1\n yield\nend\nfun M () -> () @1:1\n call H @1:1\n yield\nend\n"
      "fun H () -> () @1:1\n yield\nend",
      "FUNC M; CALL H; RET; FUNC H; RET");
}

/* Stack code of a program in VCODE. */
static struct vcode_program *again(struct fixture *t, const char *name, const char *text,
                                   size_t length) {
  struct vcode_program *vcode = vcode_parse(&t->arena, name, text, length, classic, &t->diags);
  struct ir_program *ir = vcode ? ir_build(&t->arena, vcode, classic, &t->diags) : NULL;
  if (!ir) return NULL;
  struct vcode_program *out = fcode_opt_stack_code(&t->arena, ir, &t->diags);
  cr_assert(out, "%s: %s", name, complaint(t));
  return out;
}

Test(stack_code, superoperators_are_numbered_by_first_use) {
  struct fixture t;
  stack_code_begin(&t);
  const char *text = "fused OP0#1 ($0 : INT) = (NOT INT @ $0)\n"
                     "fused OP1#2 ($0 : INT, $1 : INT) = (+ INT @ $0 (* INT @ $0 $1))\n"
                     "FUNC M CONST INT 3 CALL FN RET\n"
                     "FUNC FN COPY 1 0 FUSED 1 COPY 1 0 FUSED 1 RET";
  struct vcode_program *out = again(&t, "p.fcode", text, strlen(text));
  cr_assert(out, "%s", complaint(&t));
  cr_assert_eq(out->fused_count, 1);
  cr_expect(strncmp(out->fused[0].text, "fused OP0#2 (", 13) == 0, "%s", out->fused[0].text);
  const char *got = essence(&t, stack_code_printed(&t, out));
  const char *code = "FUNC M; CONST INT 3; CALL FN; RET; FUNC FN; COPY 1 0; FUSED 0; COPY 1 0; "
                     "FUSED 0; RET";
  cr_expect(strstr(got, code), "%s", got);
  stack_code_end(&t);
}

Test(stack_code, functions_without_let_form_stay) {
  struct fixture t;
  stack_code_begin(&t);
  const char *text = "FUNC M CONST BOOL F IF CALL BOTH ENDIF RET\n"
                     "FUNC UNUSED RET\n"
                     "FUNC BOTH CONST BOOL T IF CONST INT 1 ELSE CALL G ENDIF RET\n"
                     "FUNC G CONST INT 2 CONST INT 3 RET";
  struct vcode_program *out = again(&t, "p.vcode", text, strlen(text));
  cr_assert(out, "%s", complaint(&t));
  const char *got = essence(&t, stack_code_printed(&t, out));
  cr_expect_str_eq(got, "FUNC M; CONST BOOL F; IF; CALL BOTH; ENDIF; RET; FUNC BOTH; "
                        "CONST BOOL T; IF; CONST INT 1; ELSE; CALL G; ENDIF; RET; "
                        "FUNC G; CONST INT 2; CONST INT 3; RET");
  stack_code_end(&t);
}

Test(stack_code, operations_keep_their_source_location) {
  struct fixture t;
  stack_code_begin(&t);
  const char *text = "FUNC M\nCONST INT 3\nCONST INT 4\n  % CALL FN RET\nFUNC FN\n"
                     "{@ a.nesl:7:2 SQUARE }\nCOPY 1 0 * INT RET";
  struct vcode_program *out = again(&t, "my program.vcode", text, strlen(text));
  cr_assert(out, "%s", complaint(&t));
  const char *got = stack_code_printed(&t, out);
  cr_expect(strstr(got, "{@ my_program.vcode:4:3 M }\n%"), "%s", got);
  cr_expect(strstr(got, "{@ a.nesl:7:2 SQUARE }\n* INT"), "%s", got);
  stack_code_end(&t);
}

static unsigned stack_code_moves(const struct vcode_program *p) {
  unsigned count = 0;
  for (uint32_t f = 0; f < p->function_count; f++) {
    for (uint32_t i = 0; i < p->functions[f].length; i++) {
      enum opcode op = p->functions[f].code[i].op;
      count += op == OPC_COPY || op == OPC_CPOP || op == OPC_POP;
    }
  }
  return count;
}

/* Nested deeper than a C stack allows. */
Test(stack_code, deep_nesting) {
  enum { DEPTH = 200000 };
  struct fixture t;
  stack_code_begin(&t);
  char *text = arena_alloc(&t.arena, DEPTH * 40), *at = text;
  at += sprintf(at, "FUNC M CONST INT 1 ");
  for (int i = 0; i < DEPTH; i++) at += sprintf(at, "CONST BOOL T IF ");
  for (int i = 0; i < DEPTH; i++) at += sprintf(at, "ELSE ENDIF ");
  at += sprintf(at, "RET");
  struct vcode_program *out = again(&t, "deep.vcode", text, (size_t)(at - text));
  cr_assert(out, "%s", complaint(&t));
  cr_expect_eq(stack_code_moves(out), 0);
  stack_code_end(&t);
}

/* Also of what is not used or only moved, whose kinds the signature keeps. */
Test(stack_code, marks) {
  static const char text[] =
      "FUNC M CONST INT 2 MAKE_SEGDES CONST SEGDES (1 2) CONST INT (1 2 3) CONST BOOL (T F) "
      "CALL "
      "FN RET FUNC FN {% instances shared each 1 each -> each each 1 } I SEGDES SEGDES INT "
      "BOOL "
      "O BOOL SEGDES INT CPOP 1 1 NOT INT CPOP 1 3 POP 1 0 CPOP 1 1 CPOP 1 2 CPOP 1 2 RET";
  struct fixture t;
  stack_code_begin(&t);
  const struct vcode_program *once = again(&t, "p.vcode", text, strlen(text));
  cr_assert(once, "%s", complaint(&t));
  const char *written = stack_code_printed(&t, once);
  cr_expect(strstr(written, "FUNC FN {% instances shared each 1 each -> each each 1 } I SEGDES "
                            "SEGDES INT BOOL O BOOL SEGDES INT\n"),
            "%s", written);
  const struct vcode_program *twice = again(&t, "written.vcode", written, strlen(written));
  cr_assert(twice, "%s", complaint(&t));
  cr_expect_str_eq(stack_code_printed(&t, twice), written);
  stack_code_end(&t);
}

static char *stack_code_read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  cr_assert(file, "%s", path);
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  char *text = malloc(size + 1);
  rewind(file);
  *length = fread(text, 1, size, file);
  fclose(file);
  return text;
}

/* Compiled programs get fewer moves, and have let-form when they are read again. */
Test(stack_code, corpus) {
  glob_t found = {0};
  if (glob(CORPUS "/programs/*.vcode", 0, NULL, &found) != 0) cr_skip_test("no corpus here");
  unsigned before = 0, after = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    struct fixture t;
    stack_code_begin(&t);
    size_t length;
    char *text = stack_code_read_file(found.gl_pathv[i], &length);
    struct vcode_program *original =
        vcode_parse(&t.arena, found.gl_pathv[i], text, length, classic, &t.diags);
    struct vcode_program *once = again(&t, found.gl_pathv[i], text, length);
    cr_assert(original && once, "%s: %s", found.gl_pathv[i], complaint(&t));
    before += stack_code_moves(original);
    after += stack_code_moves(once);
    const char *written = stack_code_printed(&t, once);
    cr_expect(again(&t, "written.vcode", written, strlen(written)), "%s: %s", found.gl_pathv[i],
              complaint(&t));
    free(text);
    stack_code_end(&t);
  }
  globfree(&found);
  cr_expect(after < before * 3 / 4, "%u moves before, %u after", before, after);
}

/* Every allocation may fail: an error, no crash. */
Test(stack_code, without_memory) {
  const char *text = "FUNC M CONST INT 1 CONST BOOL T IF CONST INT 2 + INT ENDIF CALL FN RET "
                     "FUNC FN COPY 1 0 * INT RET";
  for (uint64_t n = 1;; n++) {
    struct fixture t;
    stack_code_begin(&t);
    struct vcode_program *vcode =
        vcode_parse(&t.arena, "p.vcode", text, strlen(text), classic, &t.diags);
    struct ir_program *ir = ir_build(&t.arena, vcode, classic, &t.diags);
    t.arena.next = t.arena.end; /* what is left of the block would hide failures */
    t.heap.fail_at = t.heap.count + n;
    bool fine = fcode_opt_stack_code(&t.arena, ir, &t.diags) != NULL;
    bool failed = t.heap.count >= t.heap.fail_at;
    cr_expect(fine != failed);
    stack_code_end(&t);
    if (!failed) break;
    cr_assert(n < 100);
  }
}
