/* emit-functions.c - all functions by which a back end runs a superoperator, as one text; and
 * those of many superoperators as a file to be compiled ahead of time.
 */
#include "base/sha256.h"
#include "base/text.h"
#include "fused-kernels/emit-expression.h"

#include <string.h>

/* ---- the plan ---- */

uint32_t fused_flat_operand(const struct superop *op, uint32_t k) {
  const struct superop_node *node = &op->nodes[k];
  if (node->role == ROLE_INDEX) return node->operands[2];
  if (fused_is_by_data(op, k) && !op->cold[k]) return node->operands[node->operand_count - 1];
  return SUPEROP_NONE;
}

bool fused_functions_differ(const struct superop *op) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (fused_flat_operand(op, k) != SUPEROP_NONE) return true;
  }
  return false;
}

static bool needs_bounds(const struct fused_functions *f, uint32_t k) {
  const uint8_t role = f->schedule.op->nodes[k].role;
  if (role == ROLE_PICK) return true;
  return role == ROLE_GATHER && !(f->schedule.tasks[k] == TASK_INSIDE && f->flat);
}

/* The descriptors between which a gather goes. */
static bool same_descriptors(const struct superop_node *a, const struct superop_node *b) {
  const uint32_t *x = a->operands + a->operand_count, *y = b->operands + b->operand_count;
  return a->role == b->role && a->role == ROLE_GATHER && x[-1] == y[-1] && x[-2] == y[-2];
}

static void number_bounds(struct arena *arena, const struct superop *op,
                          struct fused_functions *f) {
  f->bounds = arena_alloc(arena, (op->node_count + 1) * sizeof *f->bounds);
  for (uint32_t k = 0; k < op->node_count; k++) {
    f->bounds[k] = SUPEROP_NONE;
    if (!needs_bounds(f, k)) continue;
    for (uint32_t i = 0; i < k && f->bounds[k] == SUPEROP_NONE; i++) {
      if (f->bounds[i] != SUPEROP_NONE && same_descriptors(&op->nodes[i], &op->nodes[k]))
        f->bounds[k] = f->bounds[i];
    }
    if (f->bounds[k] == SUPEROP_NONE) f->bounds[k] = f->bounds_count++;
  }
}

/* Whether there is anything that is better compiled. */
static bool emit_functions_is_worth_it(const struct superop *op, uint32_t stage_count) {
  bool packs = false;
  for (uint32_t k = 0; k < op->node_count; k++) packs |= op->nodes[k].role == ROLE_PACK;
  return stage_count > 0 || packs || superop_has_combinations(op);
}

bool fused_functions_plan(struct arena *arena, const struct superop *op, bool flat,
                          struct fused_functions *f) {
  const struct fused_target target = {.inside = 1U << STEP_MAP | 1U << STEP_GATHER_BY_DATA |
                                                (flat ? 1U << STEP_INDEX : 0),
                                      .if_read = 1U << STEP_INDEX,
                                      .stages = UINT8_MAX};
  *f = (struct fused_functions){.op = op, .flat = flat};
  if (superop_has_loops(op)) return false;
  if (!fused_schedule_make(arena, op, target, &f->schedule)) return false;
  if (!emit_functions_is_worth_it(op, f->schedule.stage_count)) return false;
  number_bounds(arena, op, f);
  return true;
}

bool fused_ranges_plan(struct arena *arena, const struct superop *op, const bool *one,
                       struct fused_functions *f) {
  bool computes = false;
  *f = (struct fused_functions){.op = op, .ranges = true, .one = one};
  for (uint32_t k = 0; k < op->node_count; k++) {
    const uint8_t role = op->nodes[k].role;
    computes |= role == ROLE_MAP || role == ROLE_GATHER || role == ROLE_PICK ||
                role == ROLE_PACK || role == ROLE_CARRY;
  }
  return computes && kernel_range_plan_make(arena, op, one, &f->range);
}

/* ---- what the plan leaves ---- */

/* The function for ranges does scans that have the same bits in any order. */
static bool leaves_scan(const struct fused_functions *f, uint32_t k) {
  const struct combine_row *row = emit_combination(&f->op->nodes[k]);
  return !kernel_range_fits(f->op) || !row->exact || row->klass == CLASS_FLOAT;
}

static bool leaves(const struct fused_functions *f, uint32_t k) {
  const uint8_t role = f->op->nodes[k].role;
  return (role == ROLE_SCAN && leaves_scan(f, k)) || role == ROLE_COMBINE_SCATTER ||
         (role == ROLE_SCATTER && !kernel_range_fits(f->op));
}

/* The nodes of a role that are left, at the end of a list. */
static const char *list_left(struct arena *arena, const struct fused_functions *f,
                             enum superop_role role, const char *word, const char *list) {
  const struct superop *op = f->schedule.op;
  uint32_t count = 0;
  for (uint32_t k = 0; k < op->node_count; k++)
    count += op->nodes[k].role == role && leaves(f, k);
  if (count == 0) return list;
  const char *comma = *list ? ", " : "";
  return count == 1 ? arena_printf(arena, "%s%s%s", list, comma, word)
                    : arena_printf(arena, "%s%s%u %s", list, comma, count, word);
}

const char *fused_functions_leave(struct arena *arena, const struct superop *op, bool flat,
                                  bool *compiled) {
  struct fused_functions f;
  *compiled = !op->copies && fused_functions_plan(arena, op, flat, &f);
  if (op->copies) return "copied by runs";
  if (!*compiled)
    return f.schedule.stage_count > 0 ? "too many stages" : "no elementwise operations";
  const char *list = list_left(arena, &f, ROLE_SCAN, "scan", "");
  list = list_left(arena, &f, ROLE_SCATTER, "scatter", list);
  return list_left(arena, &f, ROLE_COMBINE_SCATTER, "scatter of a combination", list);
}

/* ---- the text ---- */

static void emit_tiles(const struct fused_functions *f, struct widths widths,
                       const char *prefix, FILE *out) {
  const struct superop *op = f->schedule.op;
  char name[FUSED_NAME_MAX], block[FUSED_NAME_MAX];
  for (uint32_t s = 0; s < f->schedule.stage_count; s++) {
    snprintf(name, sizeof name, "%sblock%u", prefix, s);
    fused_emit_block(f, widths, s, name, out);
  }
  for (uint32_t n = 0; n < op->node_count; n++) {
    snprintf(name, sizeof name, "%scombine%u", prefix, n);
    if (fused_begins_combination(op, n)) fused_emit_combination(op, n, widths, name, out);
  }
  snprintf(name, sizeof name, "%stile", prefix);
  snprintf(block, sizeof block, "%sblock", prefix);
  fused_emit_tile(f, widths, name, block, out);
}

void fused_emit_named(struct arena *arena, const struct fused_functions *f,
                      struct widths widths, const char *prefix, FILE *out) {
  if (f->ranges)
    kernel_range_print(arena, f->op, f->one, prefix, out);
  else
    emit_tiles(f, widths, prefix, out);
}

void fused_emit_functions(struct arena *arena, const struct fused_functions *f,
                          struct widths widths, FILE *out) {
  fused_emit_block_prelude(widths, out);
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

static void emit_tiles_for(struct file *file, const struct superop *op, bool flat, FILE *out) {
  struct fused_functions f;
  if (fused_functions_plan(file->arena, op, flat, &f)) emit_planned(file, &f, out);
}

/* Where all descriptors but one are one segment, and strides are 1. */
static void emit_ranges_but_one(struct file *file, const struct superop *op, uint32_t but,
                                FILE *out) {
  struct fused_functions f;
  bool *one = arena_alloc(file->arena, op->param_count + 1);
  kernel_range_find_strides(op, one);
  for (uint32_t p = 0; p < op->param_count; p++)
    one[p] |= op->kinds[p] == SUPEROP_SEGDES && p != but;
  if (fused_ranges_plan(file->arena, op, one, &f)) emit_planned(file, &f, out);
}

/* Those for ranges of one segment, of segments of the main descriptor, and of any; false if
 * there are none for any. */
static bool emit_ranges_for(struct file *file, const struct superop *op, FILE *out) {
  struct fused_functions f;
  const bool *none = arena_alloc(file->arena, op->param_count + 1);
  emit_ranges_but_one(file, op, SUPEROP_NONE, out);
  emit_ranges_but_one(file, op, kernel_range_main(file->arena, op), out);
  if (!fused_ranges_plan(file->arena, op, none, &f)) return false;
  emit_planned(file, &f, out);
  return true;
}

static void emit_for(struct file *file, const struct superop *op, FILE *out) {
  if (op->copies || emit_ranges_for(file, op, out)) return;
  for (int flat = 0; flat < 2; flat++) {
    if (!flat || fused_functions_differ(op)) emit_tiles_for(file, op, flat, out);
  }
}

void fused_emit_cpu(struct arena *arena, const struct superop *const *ops, uint32_t count,
                    struct widths widths, FILE *out) {
  struct file file = {.arena = arena, .widths = widths};
  file.prefixes = arena_alloc(arena, (5 * (size_t)count + 1) * sizeof *file.prefixes);
  print_command(out);
  fputs(file_text, out);
  fused_emit_block_prelude(widths, out);
  for (uint32_t i = 0; i < count; i++) emit_for(&file, ops[i], out);
}
