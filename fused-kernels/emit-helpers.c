/* emit-helpers.c - the functions that emitted C calls, as text, and what CUDA shares with it.
 */
#include "fused-kernels/emit-helpers.h"

#include <string.h>

static const char combine_text[] = "@S@T @N(@T x, @T y) {\n  return (@T)(";

static const char reduction_text[] =
    "/* A combination of many elements in a fixed order: blocks of 1024 elements, each as 32\n"
    " * lanes whose results are combined in halves; then the results of the blocks likewise. "
    "*/\n"
    "struct @N_tree {\n"
    "  uint32_t count[TREE_LEVELS];\n"
    "  int top;\n"
    "  @T lane[TREE_LEVELS][32];\n"
    "};\n\n"
    "@S@T @N_fold(@T *lane) {\n"
    "  for (int w = 16; w >= 1; w /= 2) {\n"
    "    for (int j = 0; j < w; j++) lane[j] = @N(lane[j], lane[j + w]);\n"
    "  }\n"
    "  return lane[0];\n"
    "}\n\n"
    "@Svoid @N_push(struct @N_tree *t, int level, @T x) {\n"
    "  for (;; level++) {\n"
    "    @T *lane = t->lane[level];\n"
    "    for (int j = 0; t->count[level] == 0 && j < 32; j++) lane[j] = @P;\n"
    "    lane[t->count[level] % 32] = @N(lane[t->count[level] % 32], x);\n"
    "    if (level > t->top) t->top = level;\n"
    "    if (++t->count[level] < BLOCK) return;\n"
    "    t->count[level] = 0;\n"
    "    x = @N_fold(lane);\n"
    "  }\n"
    "}\n\n"
    "/* The next n elements: a whole block, but for the last one. */\n"
    "@Svoid @N_block(struct @N_tree *t, const @T *x, uint64_t n) {\n"
    "  @T lane[32];\n"
    "  uint64_t i = 0;\n"
    "  for (int j = 0; j < 32; j++) lane[j] = @P;\n"
    "  for (; i + 32 <= n; i += 32) {\n"
    "    for (int j = 0; j < 32; j++) lane[j] = @N(lane[j], x[i + (uint64_t)j]);\n"
    "  }\n"
    "  for (int j = 0; i < n; i++, j++) lane[j] = @N(lane[j], x[i]);\n"
    "  @N_push(t, 0, @N_fold(lane));\n"
    "}\n\n"
    "/* Of all elements, at least one; the tree is empty then. */\n"
    "@S@T @N_finish(struct @N_tree *t) {\n"
    "  for (int level = 0;; level++) {\n"
    "    if (t->count[level] == 0) continue;\n"
    "    @T x = @N_fold(t->lane[level]);\n"
    "    t->count[level] = 0;\n"
    "    if (level == t->top) {\n"
    "      t->top = 0;\n"
    "      return x;\n"
    "    }\n"
    "    @N_push(t, level + 1, x);\n"
    "  }\n"
    "}\n\n";

static const char scan_text[] =
    "/* Combinations of all elements so far in a fixed order: windows of 8 elements, above "
    "them\n"
    " * of 32 results of windows; within a window by Kogge and Stone's scheme, of which every\n"
    " * step is kept for the elements to come. */\n"
    "struct @N_scan {\n"
    "  uint32_t count[SCAN_LEVELS];\n"
    "  @T before[SCAN_LEVELS];\n"
    "  @T step[SCAN_LEVELS][6][32];\n"
    "};\n\n"
    "@Svoid @N_restart(struct @N_scan *s) {\n"
    "  for (int level = 0; level < SCAN_LEVELS; level++) {\n"
    "    s->count[level] = 0;\n"
    "    s->before[level] = @P;\n"
    "  }\n"
    "}\n\n"
    "/* What is before the next element of a level. */\n"
    "@Sinline @T @N_prefix(const struct @N_scan *s, int level) {\n"
    "  const uint32_t c = s->count[level];\n"
    "  const int last = level == 0 ? 3 : 5;\n"
    "  return c == 0 ? s->before[level] : @N(s->before[level], s->step[level][last][c - 1]);\n"
    "}\n\n"
    "@Svoid @N_take(struct @N_scan *s, int level, @T x) {\n"
    "  const int steps = level == 0 ? 3 : 5;\n"
    "  const uint32_t c = s->count[level]++;\n"
    "  s->step[level][0][c] = x;\n"
    "  for (int k = 0; k < steps; k++) {\n"
    "    const uint32_t d = 1U << k;\n"
    "    if (c >= d) x = @N(s->step[level][k][c - d], x);\n"
    "    s->step[level][k + 1][c] = x;\n"
    "  }\n"
    "  if (c + 1 < 1U << steps) return;\n"
    "  @N_take(s, level + 1, x); /* the window's total */\n"
    "  s->before[level] = @N_prefix(s, level + 1);\n"
    "  s->count[level] = 0;\n"
    "}\n\n";

static const char cursor_text[] =
    "/* The place of an element under a descriptor: its segment, its offset there, and where "
    "the\n"
    " * segment of the same number begins under another descriptor. */\n"
    "struct cursor {\n"
    "  const int64_t *lengths, *far;\n"
    "  uint64_t segment, offset, left, far_start;\n"
    "};\n\n"
    "static inline struct cursor cursor_begin(const int64_t *lengths, uint64_t count,\n"
    "                                         const int64_t *far) {\n"
    "  const uint64_t left = count == 0 ? 0 : (uint64_t)lengths[0];\n"
    "  return (struct cursor){lengths, far, 0, (uint64_t)0 - 1, left, 0};\n"
    "}\n\n"
    "/* On to the next element, which there is. */\n"
    "static inline void cursor_next(struct cursor *c) {\n"
    "  c->offset++;\n"
    "  while (c->left == 0) {\n"
    "    if (c->far) c->far_start += (uint64_t)c->far[c->segment];\n"
    "    c->segment++;\n"
    "    c->left = (uint64_t)c->lengths[c->segment];\n"
    "    c->offset = 0;\n"
    "  }\n"
    "  c->left--;\n"
    "}\n\n";

static const char common_text[] =
    "static inline uint64_t total(const int64_t *lengths, uint64_t count) {\n"
    "  uint64_t sum = 0;\n"
    "  for (uint64_t k = 0; k < count; k++) sum += (uint64_t)lengths[k];\n"
    "  return sum;\n"
    "}\n\n"
    "/* Of one operation the first fault stays. */\n"
    "static inline void note(struct ravel_fault *f, int kind, uint32_t node, uint64_t "
    "position,\n"
    "                        int64_t value, uint64_t limit, uint64_t segment) {\n"
    "  if (f->kind != RAVEL_OK) return;\n"
    "  *f = (struct ravel_fault){kind, node, position, value, (int64_t)limit, segment};\n"
    "}\n\n";

const char *emit_combination_name(const struct combine_row *row) {
  switch (row->op) {
  case OP_ADD: return "add";
  case OP_MUL: return "mul";
  case OP_MAX: return "max";
  case OP_MIN: return "min";
  case OP_AND: return "and";
  case OP_OR: return "or";
  default: return "xor";
  }
}

bool emit_is_ordered(const struct superop_node *node) {
  return (node->role == ROLE_REDUCE || node->role == ROLE_SCAN) &&
         !emit_combination(node)->exact;
}

void emit_fill(const char *text, const struct combine_row *row, struct widths w,
               const char *linkage, FILE *out) {
  for (; *text != '\0'; text++) {
    if (*text != '@') {
      fputc(*text, out);
      continue;
    }
    switch (*++text) {
    case 'T': fputs(emit_type(w, (enum superop_kind)row->klass), out); break;
    case 'N': fprintf(out, "%s_%c", emit_combination_name(row), "ifb"[row->klass]); break;
    case 'S': fputs(linkage, out); break;
    default: fputs(row->pad, out);
    }
  }
}

bool emit_combines(const struct superop *const *ops, uint32_t count,
                   const struct combine_row *row, enum superop_role role) {
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < ops[i]->node_count; k++) {
      const struct superop_node *node = &ops[i]->nodes[k];
      if (node->role == role && emit_combination(node) == row) return true;
    }
  }
  return false;
}

void emit_combination_function(const struct combine_row *row, struct widths w,
                               const char *linkage, FILE *out) {
  static const char *const xy[] = {"x", "y"};
  emit_fill(combine_text, row, w, linkage, out);
  emit_expression(row->expression, 2, xy, out);
  fputs(");\n}\n\n", out);
}

void emit_scan_functions(const struct combine_row *row, struct widths w, const char *linkage,
                         FILE *out) {
  emit_fill(scan_text, row, w, linkage, out);
}

/* The functions of one combination. */
static void emit_one(const struct superop *const *ops, uint32_t count,
                     const struct combine_row *row, struct widths w, FILE *out) {
  bool reduces = emit_combines(ops, count, row, ROLE_REDUCE),
       scans = emit_combines(ops, count, row, ROLE_SCAN);
  if (!reduces && !scans) return;
  emit_combination_function(row, w, "static inline ", out);
  if (scans && !row->exact) emit_scan_functions(row, w, "static ", out);
  if (reduces && !row->exact) emit_fill(reduction_text, row, w, "static ", out);
}

void emit_helpers(const struct superop *const *ops, uint32_t count, struct widths w,
                  FILE *out) {
  size_t rows;
  const struct combine_row *row = combine_rows(&rows);
  fputs("#ifdef __GNUC__ /* not all of these are used */\n"
        "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
        "#endif\n\n" EMIT_LEVELS,
        out);
  fputs(common_text, out);
  fputs(cursor_text, out);
  for (; rows-- > 0; row++) emit_one(ops, count, row, w, out);
}
