/* fuzz-loader.c - any bytes at all through the loader, with libFuzzer (clang, RAVEL_FUZZ).
 *
 * What parses must print as a program that parses to an equal one; where ir/ is built too,
 * building and verifying the let-form must not crash; and the superoperators of a program must
 * round-trip through their printed form. The first byte of the input chooses the widths. Run:
 * fuzz-loader CORPUS vcode/tests/seeds
 */
#include "vcode/tests/equal.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef RAVEL_FUZZ_IR
#include "ir/ir.h"
#endif

#ifdef RAVEL_FUZZ_FUSED
#include "fused-kernels/fused.h"
#endif

enum { MEMORY = 256 << 20 };

static void loader_fail(const char *what, const struct diag_list *diags) {
  fprintf(stderr, "fuzz-loader: %s\n", what);
  diag_print(diags, "fuzz-loader", 0, stderr);
  abort();
}

#ifdef RAVEL_FUZZ_FUSED
/* Parses the printed form of `op`, which was parsed from definition k. */
static void loader_check_printed(struct arena *arena, const struct vcode_program *program,
                                 const struct superop *op, struct diag_list *diags) {
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  if (file == NULL) return;
  fused_print(op, 1, &program->origins, file);
  fclose(file);
  struct vcode_program again = *program;
  origin_table_init(&again.origins, arena, &program->origins);
  struct vcode_fused *fused = arena_alloc(arena, (op->number + 1) * sizeof *fused);
  fused[op->number] =
      (struct vcode_fused){"printed", {1, 1}, arena_copy(arena, text, length), length};
  again.fused = fused;
  free(text);
  const struct superop *copy = fused_parse(arena, &again, &fused[op->number], diags);
  if (copy == NULL || !superop_same(op, copy))
    loader_fail("a superoperator after printing", diags);
}

static void check_fused(struct arena *arena, const struct vcode_program *parsed) {
  struct vcode_program program = *parsed;
  origin_table_init(&program.origins, arena, &parsed->origins);
  struct diag_list diags;
  diag_list_init(&diags, arena);
  for (uint32_t k = 0; k < program.fused_count; k++) {
    size_t errors = diags.errors;
    const struct superop *op = fused_parse(arena, &program, &program.fused[k], &diags);
    if (op == NULL && diags.errors == errors) loader_fail("refused without an error", &diags);
    if (op != NULL) loader_check_printed(arena, &program, op, &diags);
  }
}
#endif

static void loader_check(struct arena *arena, const char *text, size_t length,
                         struct widths widths) {
  struct diag_list diags;
  diag_list_init(&diags, arena);
  struct vcode_program *program = vcode_parse(arena, "input", text, length, widths, &diags);
  if (program == NULL) {
    if (diags.errors == 0) loader_fail("refused without an error", &diags);
    return;
  }
  if (diags.errors != 0) loader_fail("accepted with an error", &diags);
  struct vcode_program *again = vcode_reparse(arena, program, widths, &diags);
  if (again == NULL) loader_fail("what was printed does not parse", &diags);
  const char *difference = vcode_difference(program, again);
  if (difference != NULL) loader_fail(difference, &diags);
#ifdef RAVEL_FUZZ_FUSED
  check_fused(arena, program);
#endif
#ifdef RAVEL_FUZZ_IR
  struct ir_program *ir = ir_build(arena, program, widths, &diags);
  if (ir == NULL && diags.errors == 0) loader_fail("ir_build refused without an error", &diags);
  if (ir != NULL && !ir_verify(arena, ir, &diags)) loader_fail("ir_verify", &diags);
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct heap heap;
  struct arena arena;
  heap_init(&heap, MEMORY);
  arena_init(&arena, &heap);
  bool wide = size > 0 && data[0] % 2 == 0;
  struct widths widths = {wide ? CVL_I64 : CVL_I32, CVL_F64};
  loader_check(&arena, (const char *)data, size, widths);
  arena_free(&arena);
  if (heap.live != 0) abort();
  return 0;
}
