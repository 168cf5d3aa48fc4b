/* driver.c - whole programs: the corpus, deep nests, functions without let-form, no memory. */
#include "fcode-opt/passes.h"
#include "support.h"

#include "base/tests/every.h"
#include "ir/tests/parse.h"
#include "vcode/vcode.h"

#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct widths classic = {CVL_I32, CVL_F64};

static struct ir_program *driver_built(struct fixture *t, const char *text, size_t length) {
  const struct vcode_program *vcode =
      vcode_parse(&t->arena, "test.vcode", text, length, classic, &t->diags);
  return vcode ? ir_build(&t->arena, vcode, classic, &t->diags) : NULL;
}

static const struct ir_program *driver_optimised(struct fixture *t,
                                                 const struct ir_program *program) {
  return fcode_opt(&t->arena, program, &t->options, &t->stats, NULL, &t->diags);
}

static char *driver_read_file(const char *path, size_t *length) {
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
  for (size_t i = 0; i < files.gl_pathc; i += every()) {
    size_t length;
    char *text = driver_read_file(files.gl_pathv[i], &length);
    for (int k = 0; k < 3; k++) {
      struct fixture t;
      fixture_init(&t);
      t.options.inline_limit = limits[k];
      t.options.origins = k == 1;
      t.options.chunked_results = t.options.fuse = k == 2;
      struct ir_program *program = driver_built(&t, text, length);
      if (program)
        cr_expect(driver_optimised(&t, program), "%s: %s", files.gl_pathv[i],
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

/* Functions that cannot be rewritten stay, and so do their callers; the others are optimised.
 */
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
  struct ir_program *program = driver_built(&t, text, (size_t)(to - text));
  cr_assert(program && program->functions[2].typed);
  const struct ir_program *result = driver_optimised(&t, program);
  cr_assert(result);
  cr_expect(!result->functions[0].typed && result->functions[0].stack);
  cr_expect(result->functions[1].typed);
  cr_expect(!result->functions[2].typed);
  cr_expect(program->functions[2].typed, "the original was changed");
  free(text);
  fixture_free(&t);
}

/* USED is called by stack code: its signature stays, although its parameter is unused. */
Test(driver, what_stack_code_calls_keeps_its_signature) {
  static const char text[] = "FUNC M CONST BOOL T IF CONST INT 1 ELSE CONST INT 1 CONST INT 2 "
                             "ENDIF CALL USED RET "
                             "FUNC USED POP 1 0 CONST INT 7 RET "
                             "FUNC NOT_USED CALL M RET";
  struct fixture t;
  fixture_init(&t);
  const struct ir_program *program = driver_built(&t, text, strlen(text));
  cr_assert(program && !program->functions[0].typed);
  const struct ir_program *result = driver_optimised(&t, program);
  cr_assert(result);
  cr_expect_eq(result->functions[1].param_count, 1);
  cr_expect_eq(result->functions[1].result_count, 1);
  cr_expect(result->functions[2].typed && result->functions[2].body->end == IR_EXIT);
  cr_expect_eq(t.stats.functions_before, 2);
  fixture_free(&t);
}

/* An instruction that may fail keeps its source location and function when it is inlined. */
Test(driver, origins) {
  static const char text[] = "FUNC M CONST INT (1 2)\nCONST INT (0 0)\nCALL FN RET\n"
                             "FUNC FN COPY 1 0 POP 1 0\n/ INT RET";
  struct fixture t;
  fixture_init(&t);
  t.options.origins = true;
  const struct ir_program *result = driver_optimised(&t, driver_built(&t, text, strlen(text)));
  cr_assert(result);
  const struct ir_block *body = result->functions[0].body;
  const struct ir_binding *last = &body->bindings[body->count - 1];
  cr_assert_eq(last->op, OPC_DIV);
  cr_assert_neq(last->origin, 0);
  const struct origin *origin = origin_at(&result->origins, last->origin);
  cr_expect_str_eq(origin->file, "test.vcode");
  cr_expect_eq(origin->pos.line, 5);
  cr_expect_str_eq(origin->function, "FN");
  fixture_free(&t);
}

/* Fails each allocation in turn; returns how many made the optimiser fail with an error. */
static uint64_t fail_allocations(const char *text,
                                 void (*after_pass)(struct opt *, const char *)) {
  uint64_t failures = 0;
  for (uint64_t n = 1; n < 1000; n++) {
    struct fixture t;
    fixture_init(&t);
    t.options.after_pass = after_pass;
    const struct ir_program *program = driver_built(&t, text, strlen(text));
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
  return failures;
}

Test(driver, every_allocation_may_fail) {
  static const char text[] = "FUNC M CONST INT 5 CALL FN CONST BOOL T IF CALL FN ENDIF RET "
                             "FUNC FN CONST INT 1 + INT COPY 1 0 CONST SEGDES 1 +_REDUCE INT "
                             "CPOP 1 1 POP 1 0 RET";
  cr_expect_gt(fail_allocations(text, NULL), 3);
}

/* FN is lifted the first time, and inlined the second time. */
Test(driver, every_allocation_may_fail_each_time) {
  static const char text[] = "FUNC M CONST INT 2 MAKE_SEGDES CONST INT (1 2) CALL FN RET "
                             "FUNC FN {% instances shared each -> each } NOT INT CPOP 1 1 "
                             "POP 1 0 RET";
  cr_expect_gt(fail_allocations(text, NULL), 5);
}

/* ---- passes that fail a check of themselves ---- */

/* Spoils what passes overwrite: operands, bindings, signatures, the list of functions'
 * variables, superoperators. */
static void driver_spoil(struct opt *o) {
  for (uint32_t i = 0; i < o->program->function_count; i++) {
    struct ir_function *f = &o->program->functions[i];
    if (!f->typed) continue;
    for (uint32_t k = 0; k < f->body->count; k++) {
      struct ir_binding *x = &f->body->bindings[k];
      for (uint32_t v = 0; v < x->operand_count; v++) x->operands[v] = 77777;
      if (x->form == IR_IF) x->as.arms.then = x->as.arms.otherwise = NULL;
    }
    f->body->count /= 2;
    f->result_count = f->param_count = 0;
    for (int k = 0; k < 100; k++) rewrite_var(o, f, NULL);
  }
  o->program->superops = NULL;
  o->program->superop_count = 3;
  origin_number(&o->program->origins, (struct origin){.file = "spoilt", .function = ""});
  o->stats->folded = 12345;
  arena_alloc(o->arena, 100000);
}

static void fail_in_dead(struct opt *o, const char *pass) {
  if (strcmp(pass, "dead") != 0) return;
  driver_spoil(o);
  pass_require(o, o->stats->folded == 0);
}

static void fail_in_all(struct opt *o, const char *pass) {
  cr_assert(pass);
  driver_spoil(o);
  pass_require(o, o->stats->folded == 0);
}

static const char two_functions[] =
    "FUNC M CONST INT 5 CALL FN CONST INT (1 2 3) CONST INT (4 5 6) + INT RET "
    "FUNC FN CONST INT 1 + INT COPY 1 0 CONST SEGDES 1 +_REDUCE INT CPOP 1 1 POP 1 0 "
    "COPY 1 0 CONST INT 3 > INT IF CALL FN ENDIF RET";

#ifdef RAVEL_DEBUG
/* A failing check names its source line. */
static void abort_in(void (*after_pass)(struct opt *, const char *)) {
  struct fixture t;
  fixture_init(&t);
  t.options.after_pass = after_pass;
  driver_optimised(&t, driver_built(&t, two_functions, strlen(two_functions)));
}
Test(driver, a_failing_pass_aborts, .signal = SIGABRT) {
  abort_in(fail_in_dead);
}
Test(driver, failing_passes_abort, .signal = SIGABRT) {
  abort_in(fail_in_all);
}
#else
static const struct ir_program *with_hook(struct fixture *t, bool fuse,
                                          void (*after_pass)(struct opt *, const char *)) {
  fixture_init(t);
  t->options.fuse = fuse;
  t->options.after_pass = after_pass;
  const struct ir_program *result =
      driver_optimised(t, driver_built(t, two_functions, strlen(two_functions)));
  cr_assert(result && t->diags.errors == 0);
  return result;
}

static void expect_warning(const struct fixture *t, const char *pass) {
  cr_assert_eq(t->diags.list.count, 1, "it is said once");
  const struct diag *d = &t->diags.list.items[0];
  cr_expect_eq(d->severity, SEVERITY_WARNING);
  cr_expect(strstr(d->message, pass), "%s", d->message);
  cr_expect(strstr(d->message, "the program runs without this optimisation; please report"),
            "%s", d->message);
  cr_expect(strstr(d->message, "(driver.c:") && strstr(d->message, ": o->stats->folded == 0)"),
            "%s", d->message);
}

/* If every pass is undone, the program is unchanged. */
Test(driver, failing_passes_leave_the_program) {
  struct fixture t;
  const struct ir_program *result = with_hook(&t, true, fail_in_all);
  expect_warning(&t, "pass inline ");
  struct ir_program *program = driver_built(&t, two_functions, strlen(two_functions));
  program->vcode = NULL;
  ir_liveness(&t.arena, program);
  cr_expect_str_eq(ir_text(&t.arena, result), ir_text(&t.arena, program));
  cr_expect_eq(t.stats.folded, 0);
  fixture_free(&t);
}

/* The others do their work, on a program that is right; the memory of the failed one is free.
 */
Test(driver, passes_beside_a_failing_one) {
  struct fixture t, whole;
  const struct ir_program *result = with_hook(&t, false, fail_in_dead);
  expect_warning(&t, "pass dead ");
  cr_expect_neq(t.stats.folded, 12345);
  cr_expect(strstr(ir_text(&t.arena, result), "CONST INT (5 7 9)"), "%s",
            ir_text(&t.arena, result));
  const uint64_t live = t.heap.live;
  with_hook(&whole, false, NULL);
  cr_expect_eq(whole.diags.list.count, 0);
  cr_expect_lt(live, whole.heap.live + 100000);
  fixture_free(&t);
  fixture_free(&whole);
}

/* So it is when memory ends while the program is put back. */
Test(driver, every_allocation_of_a_failing_pass_may_fail) {
  cr_expect_gt(fail_allocations(two_functions, fail_in_all), 10);
}
#endif
