/* emit-functions.c - all functions by which a back end runs a superoperator, as one text; and
 * those of many superoperators as a file to be compiled ahead of time.
 */
#include "base/sha256.h"
#include "base/text.h"
#include "fused-kernels/emit-expression.h"

#include <string.h>

/* ---- the plan ---- */

/* Whether anything is better compiled than copied, or reduced, as it is. */
static bool computes(const struct superop *op) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    switch ((enum superop_role)op->nodes[k].role) {
    case ROLE_MAP:
    case ROLE_GATHER:
    case ROLE_PICK:
    case ROLE_PACK:
    case ROLE_CARRY:
    case ROLE_COLUMN: return true;
    default: break;
    }
  }
  return false;
}

bool fused_functions_plan(struct arena *arena, const struct superop *op, const bool *one,
                          struct fused_functions *f) {
  *f = (struct fused_functions){.op = op, .one = one};
  return computes(op) && kernel_range_plan_make(arena, op, one, &f->range);
}

/* ---- what the plan leaves ---- */

/* The function does scans that have the same bits in any order. */
static bool leaves(const struct superop_node *node) {
  if (node->role == ROLE_COMBINE_SCATTER) return true;
  if (node->role != ROLE_SCAN) return false;
  const struct combine_row *row = emit_combination(node);
  return !row->exact || row->klass == CLASS_FLOAT;
}

/* The nodes of a role that are left, at the end of a list. */
static const char *list_left(struct arena *arena, const struct superop *op,
                             enum superop_role role, const char *word, const char *list) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < op->node_count; k++)
    count += op->nodes[k].role == role && leaves(&op->nodes[k]);
  if (count == 0) return list;
  const char *comma = *list ? ", " : "";
  return count == 1 ? arena_printf(arena, "%s%s%s", list, comma, word)
                    : arena_printf(arena, "%s%s%u %s", list, comma, count, word);
}

const char *fused_functions_leave(struct arena *arena, const struct superop *op,
                                  bool *compiled) {
  *compiled = computes(op) && kernel_range_fits(op);
  if (op->copies) return "copied by runs";
  if (!computes(op)) return "no elementwise operations";
  if (!*compiled) return "results that are not returned";
  const char *list = list_left(arena, op, ROLE_SCAN, "scan", "");
  return list_left(arena, op, ROLE_COMBINE_SCATTER, "scatter of a combination", list);
}

/* ---- the text ---- */

extern const char *const fused_loops_text[], *const fused_range_call_text[];

void fused_emit_prelude(struct widths widths, FILE *out) {
  emit_prelude(widths, out);
  fprintf(out, "#define INT   %s\n#define FLOAT %s\n\n", emit_type(widths, SUPEROP_INT),
          emit_type(widths, SUPEROP_FLOAT));
  const int bits = widths.float_elem == CVL_F64 ? 64 : 32;
  fprintf(out,
          "/* Of sines and the like of arguments that are not large. */\n"
          "#define NEAR(fn, x) e_near_##fn##_f%d(x)\n"
          "#define FAR(x)      (FAR_BITS) e_is_far_f%d(x)\n"
          "#define FAR_BITS    uint%d_t\n"
          "#define FLOAT_BITS  %d\n\n",
          bits, bits, bits, bits);
  const char *const *const texts[] = {fused_range_call_text, fused_loops_text};
  for (unsigned i = 0; i < 2; i++) {
    for (const char *const *line = texts[i]; *line; line++) fputs(*line, out);
  }
}

void fused_emit_named(struct arena *arena, const struct fused_functions *f,
                      struct widths widths, const char *prefix, FILE *out) {
  char name[FUSED_NAME_MAX];
  for (uint32_t n = 0; n < f->op->node_count; n++) {
    snprintf(name, sizeof name, "%scombine%u", prefix, n);
    if (fused_begins_combination(f->op, n)) fused_emit_combination(f->op, n, widths, name, out);
  }
  kernel_range_print(arena, f->op, f->one, prefix, out);
}

void fused_emit_functions(struct arena *arena, const struct fused_functions *f,
                          struct widths widths, FILE *out) {
  fused_emit_prelude(widths, out);
  fused_emit_named(arena, f, widths, "", out);
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
static void find_prefix(const struct file *file, const struct fused_functions *f,
                        char prefix[FUSED_NAME_MAX]) {
  struct text text;
  if (!text_begin(&text, file->arena->heap)) memory_failed();
  fused_emit_functions(file->arena, f, file->widths, text.stream);
  const bool whole = text_end(&text);
  if (whole) fused_functions_prefix(text.bytes, text.length, prefix);
  text_free(&text);
  if (!whole) memory_failed();
}

/* Functions, once, though several superoperators may have the same. */
static void emit_planned(struct file *file, const struct fused_functions *f, FILE *out) {
  char *prefix = file->prefixes[file->count];
  find_prefix(file, f, prefix);
  for (uint32_t i = 0; i < file->count; i++) {
    if (strcmp(file->prefixes[i], prefix) == 0) return;
  }
  file->count++;
  fprintf(out, "\nconst char %s[] = \"\";\n", prefix);
  fused_emit_named(file->arena, f, file->widths, prefix, out);
}

/* Where all descriptors but one are one segment, and strides are 1. */
static void emit_for_all_but_one(struct file *file, const struct superop *op, uint32_t but,
                                 FILE *out) {
  struct fused_functions f;
  bool *one = arena_alloc(file->arena, op->param_count + 1);
  kernel_range_find_strides(op, one);
  for (uint32_t p = 0; p < op->param_count; p++)
    one[p] |= op->kinds[p] == SUPEROP_SEGDES && p != but;
  if (fused_functions_plan(file->arena, op, one, &f)) emit_planned(file, &f, out);
}

/* Those for one segment, for segments of the main descriptor, and for any. */
static void emit_for(struct file *file, const struct superop *op, FILE *out) {
  struct fused_functions f;
  const bool *none = arena_alloc(file->arena, op->param_count + 1);
  emit_for_all_but_one(file, op, SUPEROP_NONE, out);
  emit_for_all_but_one(file, op, kernel_range_main(file->arena, op), out);
  if (fused_functions_plan(file->arena, op, none, &f)) emit_planned(file, &f, out);
}

void fused_emit_cpu(struct arena *arena, const struct superop *const *ops, uint32_t count,
                    struct widths widths, FILE *out) {
  struct file file = {.arena = arena, .widths = widths};
  file.prefixes = arena_alloc(arena, (3 * (size_t)count + 1) * sizeof *file.prefixes);
  print_command(out);
  fputs(file_text, out);
  fused_emit_prelude(widths, out);
  for (uint32_t i = 0; i < count; i++) emit_for(&file, ops[i], out);
}
