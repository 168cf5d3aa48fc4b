/* driver.c - whole programs: the corpus, deep nests, functions without let-form, no memory. */
#include "support.h"
#include "vcode/vcode.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

static const struct widths classic = {CVL_I32, CVL_F64};

static struct ir_program *built(struct fixture *t, const char *text, size_t length) {
  const struct vcode_program *vcode =
      vcode_parse(&t->arena, "test.vcode", text, length, classic, &t->diags);
  return vcode ? ir_build(&t->arena, vcode, classic, &t->diags) : NULL;
}

static const struct ir_program *optimised(struct fixture *t, const struct ir_program *program) {
  return fcode_opt(&t->arena, program, &t->options, &t->stats, NULL, &t->diags);
}

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  cr_assert(file, "%s", path);
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *text = malloc((size_t)size + 1);
  *length = fread(text, 1, (size_t)size, file);
  fclose(file);
  return text;
}

/* Every pass on every program leaves a let-form that verifies, whatever is inlined. */
static void check_files(const char *pattern) {
  static const unsigned limits[] = {8, 0, 1000};
  glob_t files;
  if (glob(pattern, 0, NULL, &files) != 0) return;
  for (size_t i = 0; i < files.gl_pathc; i++) {
    size_t length;
    char *text = read_file(files.gl_pathv[i], &length);
    for (int k = 0; k < 3; k++) {
      struct fixture t;
      fixture_init(&t);
      t.options.inline_limit = limits[k];
      t.options.origins = k == 1;
      struct ir_program *program = built(&t, text, length);
      if (program)
        cr_expect(optimised(&t, program), "%s: %s", files.gl_pathv[i],
                  t.diags.list.items[0].message);
      fixture_free(&t);
    }
    free(text);
  }
  globfree(&files);
}

Test(driver, corpus) {
  check_files(CORPUS "/ops/*.vcode");
  check_files(CORPUS "/programs/*.vcode");
  check_files(CORPUS "/fcode/*.vcode");
  check_files(CORPUS "/bad/*.vcode");
  check_files(CORPUS "/real/*00.vcode");
}

/* What is not to be optimised stays, with what calls it; the rest is optimised. */
Test(driver, deep_nests_keep_their_stack_code) {
  enum { DEPTH = 5000 };
  struct fixture t;
  fixture_init(&t);
  char *text = malloc(100 * DEPTH), *to = text;
  to +=
      sprintf(to, "FUNC M CALL DEEP CALL SIDE RET FUNC SIDE CONST INT 1 CONST INT 2 + INT RET "
                  "FUNC DEEP ");
  for (int i = 0; i < DEPTH; i++) to += sprintf(to, "CONST BOOL T IF ");
  for (int i = 0; i < DEPTH; i++) to += sprintf(to, "ENDIF ");
  to += sprintf(to, "RET");
  struct ir_program *program = built(&t, text, (size_t)(to - text));
  cr_assert(program && program->functions[2].typed);
  const struct ir_program *result = optimised(&t, program);
  cr_assert(result);
  cr_expect(!result->functions[0].typed && result->functions[0].stack);
  cr_expect(result->functions[1].typed);
  cr_expect(!result->functions[2].typed);
  cr_expect(program->functions[2].typed, "the original was changed");
  free(text);
  fixture_free(&t);
}

/* USED is called by stack code: its signature stays, though nobody needs its parameter. */
Test(driver, what_stack_code_calls_keeps_its_signature) {
  static const char text[] = "FUNC M CONST BOOL T IF CONST INT 1 ELSE CONST INT 1 CONST INT 2 "
                             "ENDIF CALL USED RET "
                             "FUNC USED POP 1 0 CONST INT 7 RET "
                             "FUNC NOT_USED CALL M RET";
  struct fixture t;
  fixture_init(&t);
  const struct ir_program *program = built(&t, text, strlen(text));
  cr_assert(program && !program->functions[0].typed);
  const struct ir_program *result = optimised(&t, program);
  cr_assert(result);
  cr_expect_eq(result->functions[1].param_count, 1);
  cr_expect_eq(result->functions[1].result_count, 1);
  cr_expect(result->functions[2].typed && result->functions[2].body->end == IR_EXIT);
  cr_expect_eq(t.stats.functions_before, 2);
  fixture_free(&t);
}

/* An instruction that may fail keeps its place and function when it is inlined. */
Test(driver, origins) {
  static const char text[] = "FUNC M CONST INT (1 2)\nCONST INT (0 0)\nCALL FN RET\n"
                             "FUNC FN COPY 1 0 POP 1 0\n/ INT RET";
  struct fixture t;
  fixture_init(&t);
  t.options.origins = true;
  const struct ir_program *result = optimised(&t, built(&t, text, strlen(text)));
  cr_assert(result);
  const struct ir_block *body = result->functions[0].body;
  const struct ir_binding *last = &body->bindings[body->count - 1];
  cr_assert_eq(last->op, OPC_DIV);
  cr_assert_neq(last->origin, 0);
  cr_expect_str_eq(result->origins[last->origin].place, "test.vcode:5:1");
  cr_expect_str_eq(result->origins[last->origin].name, "FN");
  fixture_free(&t);
}

Test(driver, every_allocation_may_fail) {
  static const char text[] = "FUNC M CONST INT 5 CALL FN CONST BOOL T IF CALL FN ENDIF RET "
                             "FUNC FN CONST INT 1 + INT COPY 1 0 CONST SEGDES 1 +_REDUCE INT "
                             "CPOP 1 1 POP 1 0 RET";
  uint64_t failures = 0;
  for (uint64_t n = 1; n < 1000; n++) {
    struct fixture t;
    fixture_init(&t);
    const struct ir_program *program = built(&t, text, strlen(text));
    cr_assert(program);
    struct arena arena; /* of its own, so that it has to ask for memory */
    struct heap heap;
    heap_init(&heap, 0);
    arena_init(&arena, &heap);
    heap.fail_at = n;
    const struct ir_program *result =
        fcode_opt(&arena, program, &t.options, NULL, NULL, &t.diags);
    failures += result == NULL;
    cr_expect(result || t.diags.errors > 0, "allocation %lu", (unsigned long)n);
    arena_free(&arena);
    cr_expect_eq(heap.live, 0, "allocation %lu", (unsigned long)n);
    fixture_free(&t);
    if (result) break;
  }
  cr_expect(failures > 3, "%lu", (unsigned long)failures);
}
