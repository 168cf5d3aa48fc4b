/* emit-functions.c - all functions by which a back end runs a superoperator, as one text; and
 * those of many superoperators as a file to be compiled ahead of time.
 */
#include "base/sha256.h"
#include "base/text.h"
#include "fused-kernels/emit-expression.h"

#include <string.h>

/* ---- the plan ---- */

static bool of_last_stage(const struct superop *op, const struct fused_blocks *b, uint32_t n) {
  return fused_blocks_have(op, b, n) && b->stage[n] == b->stage_count - 1;
}

/* Whether the last stage or a reduction reads a value. */
static bool is_read(const struct superop *op, const struct fused_blocks *b, uint32_t value) {
  for (uint32_t n = 0; n < op->node_count; n++) {
    const struct superop_node *node = &op->nodes[n];
    if (node->role == ROLE_REDUCE && node->operands[0] == value) return true;
    if (!of_last_stage(op, b, n)) continue;
    for (unsigned i = 0; i < node->operand_count; i++) {
      if (fused_blocks_read(node, i) && node->operands[i] == value) return true;
    }
  }
  return false;
}

bool fused_functions_gather(const struct superop *op) {
  uint32_t n = 0;
  while (n < op->node_count && !fused_may_gather(op, n)) n++;
  return n < op->node_count;
}

bool fused_functions_plan(struct arena *arena, const struct superop *op, bool in_one,
                          struct fused_functions *f) {
  memset(f, 0, sizeof *f);
  if (!fused_blocks_plan(arena, op, in_one, &f->blocks)) return false;
  if (f->blocks.stage_count == 0 && !superop_has_loops(op) && !superop_has_combinations(op))
    return false;
  f->spread = arena_alloc(arena, op->value_count + 1);
  f->folds = f->blocks.stage_count > 0 && fused_blocks_fold(op, &f->blocks);
  for (uint32_t v = 0; v < op->value_count && f->folds; v++) {
    const struct superop_node *definition = emit_definition(op, v);
    f->spread[v] = definition && definition->role == ROLE_SPREAD &&
                   !emit_spread_constant(op, v) && is_read(op, &f->blocks, v);
  }
  return true;
}

/* ---- the text ---- */

/* The functions, whose names begin with the prefix. */
static void emit(const struct superop *op, const struct fused_functions *f,
                 struct widths widths, const char *prefix, FILE *out) {
  char name[FUSED_NAME_MAX];
  for (uint32_t s = 0; s < f->blocks.stage_count; s++) {
    snprintf(name, sizeof name, "%sblock%u", prefix, s);
    fused_emit_block(op, &f->blocks, widths, s, NULL, name, out);
  }
  for (uint32_t n = 0; n < op->node_count; n++) {
    snprintf(name, sizeof name, "%sloop%u", prefix, n);
    if (fused_begins_loop(op, n)) fused_emit_loop(op, n, widths, name, out);
    snprintf(name, sizeof name, "%scombine%u", prefix, n);
    if (fused_begins_combination(op, n)) fused_emit_combination(op, n, widths, name, out);
  }
  snprintf(name, sizeof name, "%sfold", prefix);
  if (f->folds) fused_emit_fold(op, &f->blocks, widths, f->spread, name, out);
}

void fused_emit_functions(const struct superop *op, const struct fused_functions *f,
                          struct widths widths, FILE *out) {
  fused_emit_block_prelude(widths, out);
  emit(op, f, widths, "", out);
}

void fused_functions_prefix(const char *text, size_t length, char prefix[FUSED_NAME_MAX]) {
  struct sha256_state state;
  uint8_t digest[SHA256_BYTES];
  char digits[SHA256_DIGITS + 1];
  sha256_begin(&state);
  sha256_add(&state, text, length);
  sha256_end(&state, digest);
  sha256_show(digest, digits);
  snprintf(prefix, FUSED_NAME_MAX, "ravel_%s_", digits);
}

/* ---- files ---- */

static void print_command(FILE *out) {
  static const char *const flags[] = {FUSED_C_FLAGS};
  fputs("/* Made from superoperators by Ravel, for its CPU back end:\n *\n *   cc", out);
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) fprintf(out, " %s", flags[i]);
  fputs(" \\\n *     -march=x86-64-v3 -o FILE.so FILE.c -lm\n", out);
}

static const char file_text[] =
    " *   vinterp --backend cpu --kernels ./FILE.so prog.fcode\n"
    " */\n"
    "/* What made it, and what its code needs of the processor, as /proc/cpuinfo calls it. */\n"
    "const char " FUSED_VERSION_SYMBOL "[] = \"" FUSED_VERSION "\";\n"
    "const char " FUSED_NEEDS_SYMBOL "[] =\n"
    "    \"\"\n"
#define FEATURE(macro, name) "#ifdef " #macro "\n    \" " name "\"\n#endif\n"
#include "fused-kernels/processor.def"
    "    ;\n\n";

struct file {
  struct arena *arena;
  struct widths widths;
  char (*prefixes)[FUSED_NAME_MAX]; /* of what has been written */
  uint32_t count;
};

/* The prefix for a superoperator: from the text that a back end makes for it. */
static void find_prefix(const struct file *file, const struct superop *op,
                        const struct fused_functions *f, char prefix[FUSED_NAME_MAX]) {
  struct text text;
  if (!text_begin(&text, file->arena->heap)) memory_failed();
  fused_emit_functions(op, f, file->widths, text.stream);
  const bool whole = text_end(&text);
  if (whole) fused_functions_prefix(text.bytes, text.length, prefix);
  text_free(&text);
  if (!whole) memory_failed();
}

/* The functions of a superoperator, once, though several may have the same, for gathers from
 * one segment or from any. */
static void emit_for(struct file *file, const struct superop *op, bool in_one, FILE *out) {
  struct fused_functions f;
  char *prefix = file->prefixes[file->count];
  if (op->copies || !fused_functions_plan(file->arena, op, in_one, &f)) return;
  find_prefix(file, op, &f, prefix);
  for (uint32_t i = 0; i < file->count; i++) {
    if (strcmp(file->prefixes[i], prefix) == 0) return;
  }
  file->count++;
  fprintf(out, "\nconst char %s[] = \"\";\n", prefix);
  emit(op, &f, file->widths, prefix, out);
}

void fused_emit_cpu(struct arena *arena, const struct superop *const *ops, uint32_t count,
                    struct widths widths, FILE *out) {
  struct file file = {.arena = arena, .widths = widths};
  file.prefixes = arena_alloc(arena, (2 * (size_t)count + 1) * sizeof *file.prefixes);
  print_command(out);
  fputs(file_text, out);
  fused_emit_block_prelude(widths, out);
  for (uint32_t i = 0; i < count; i++) {
    emit_for(&file, ops[i], false, out);
    if (fused_functions_gather(ops[i])) emit_for(&file, ops[i], true, out);
  }
}
