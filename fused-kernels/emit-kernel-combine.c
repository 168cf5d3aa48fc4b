/* emit-kernel-combine.c - combinations in kernels: the class of a combination, by which
 * combine-tree.hpp knows it; the lowest level inside a superoperator's kernel; and the kernels
 * of the levels.
 */
#include "fused-kernels/emit-kernel-body.h"

#include "fused-kernels/emit-expression.h"
#include "fused-kernels/emit-kernel-plan.h"

extern const char *const fused_kernel_tree_text[];

void emit_kernel_trees(const struct superop *const *ops, uint32_t count, FILE *out) {
  bool any = false;
  for (uint32_t i = 0; i < count; i++) any |= superop_has_combinations(ops[i]);
  if (!any) return;
  for (const char *const *line = fused_kernel_tree_text; *line != NULL; line++) {
    fputs(*line, out);
  }
}

uint64_t fused_tree_roots(uint64_t total) {
  uint64_t tiles = 0;
  do {
    total >>= FUSED_TREE_BITS;
    tiles += total + 1;
  } while (total != 0);
  return tiles * FUSED_TREE_BITS;
}

/* ---- the class of a combination ---- */

struct columns {
  const struct superop *op;
  struct superop_combination at;
  struct widths widths;
  FILE *out;
};

static const char *emit_kernel_combine_type_of(const struct columns *c, uint32_t i) {
  return emit_type_of(c->op, c->widths, c->op->nodes[c->at.first + i].result);
}

/* `format` for each column: its type and its number, with something between. */
static void each_column(const struct columns *c, const char *format, const char *between) {
  for (uint32_t i = 0; i < c->at.count; i++) {
    fprintf(c->out, format, emit_kernel_combine_type_of(c, i), i);
    if (i + 1 < c->at.count) fputs(between, c->out);
  }
}

static void item(const struct columns *c) {
  fputs("  struct item {\n", c->out);
  each_column(c, "    %s at%u;\n", "");
  fputs("    template <class S> HERE item columns(S s) const {\n      return {", c->out);
  each_column(c, "(%s)s(at%u)", ", ");
  fputs("};\n    }\n  };\n", c->out);
}

static void emit_kernel_combine_memory(const struct columns *c) {
  fputs("  struct arrays {\n", c->out);
  each_column(c, "    ravel::ptr<%s> at%u;\n", "");
  fputs("    HERE item get(int64_t i) const { return {", c->out);
  each_column(c, "(%s)at%u[i]", ", ");
  fputs("}; }\n    HERE void put(int64_t i, const item &v) const {\n", c->out);
  for (uint32_t i = 0; i < c->at.count; i++) fprintf(c->out, "      at%u[i] = v.at%u;\n", i, i);
  fputs("    }\n  };\n  struct operands {\n", c->out);
  each_column(c, "    ravel::operand<%s> at%u;\n", "");
  fputs("    HERE item get(int64_t i) const { return {", c->out);
  each_column(c, "(%s)at%u[i]", ", ");
  fputs("}; }\n  };\n", c->out);
}

static void class(const struct columns *c, const char *name) {
  fprintf(c->out, "struct %s {\n", name);
  item(c);
  emit_kernel_combine_memory(c);
  fputs("  HERE static item f(const item &l, const item &r) {\n", c->out);
  emit_combination_statements(c->op, c->at.first, c->widths, "item", c->out);
  fputs("  }\n};\n", c->out);
}

/* ---- the kernels of levels ---- */

void fused_emit_tree_body(const struct superop *op, uint32_t first, enum fused_tree which,
                          struct widths widths, const char *name, FILE *out) {
  const struct columns c = {op, superop_combination_at(op, first), widths, out};
  char combination[80];
  snprintf(combination, sizeof combination, "%.60s_combination", name);
  class(&c, combination);
  fprintf(out, "struct %s : ravel::level_%s<%s> {};\n", name, which == TREE_UP ? "up" : "down",
          combination);
}

void fused_emit_tree_entry(const char *name, FILE *out) {
  fprintf(out, "RAVEL_KERNEL_BLOCKS(%s)\n", name);
}

/* ---- the lowest level ---- */

/* Whether a combination with its lowest level in the kernel begins with node k. */
static bool emit_kernel_combine_begins(const struct body *b, uint32_t k, struct columns *c) {
  if (!fused_begins_combination(b->op, k)) return false;
  *c = (struct columns){b->op, superop_combination_at(b->op, k), b->k->widths, b->out};
  return b->k->tasks[c->at.ends] == TASK_INSIDE;
}

void body_combinations(const struct body *b) {
  struct columns c;
  for (uint32_t k = 0; k < b->op->node_count; k++) {
    char name[32];
    if (!emit_kernel_combine_begins(b, k, &c)) continue;
    snprintf(name, sizeof name, "combination%u", k);
    class(&c, name);
  }
}

static void emit_kernel_combine_declare(const struct columns *c) {
  const uint32_t k = c->at.first;
  fprintf(c->out,
          "    ravel::row_totals<combination%u, B, unroll> c%u{};\n"
          "    ravel::items_of<combination%u, B> rows%u{}, rest%u{};\n",
          k, k, k, k, k);
}

/* An item from the results at a position. */
static void emit_kernel_combine_keep(const struct columns *c) {
  const uint32_t k = c->at.first;
  fprintf(c->out, "          c%u.v[k][t] = {", k);
  for (uint32_t i = 0; i < c->at.count; i++) {
    fprintf(c->out, "%sr[k].v%u", i > 0 ? ", " : "", c->op->nodes[k + i].operands[0]);
  }
  fprintf(c->out,
          "};\n"
          "          if (row + k == here.whole_rows()) rest%u[t] = c%u.v[k][t];\n",
          k, k);
}

static void each_combination(const struct body *b, void (*write)(const struct columns *)) {
  struct columns c;
  for (uint32_t k = 0; k < b->op->node_count; k++) {
    if (emit_kernel_combine_begins(b, k, &c)) write(&c);
  }
}

static bool scans(const struct columns *c) {
  return c->op->nodes[c->at.ends].role == ROLE_COMBINE_SCAN;
}

/* Where its totals matter: of a reduction, wherever there are some. */
static void emit_kernel_combine_condition(const struct columns *c) {
  fputs(scans(c) ? "here.is_whole() && !here.ends" : "here.whole_rows() > 0", c->out);
}

static void emit_kernel_combine_take(const struct columns *c) {
  fputs("      if (", c->out);
  emit_kernel_combine_condition(c);
  fprintf(c->out, ") c%u.take(block, row, here.whole_rows());\n", c->at.first);
}

static void emit_kernel_combine_rows(const struct body *b, bool reduces) {
  char more[16];
  body_segment(b, more);
  fprintf(b->out,
          "    int row = 0;\n"
          "    ROLLED\n"
          "    for (; row < here.rows(); row += unroll) {\n"
          "      block.each([&](int t) {\n"
          "        const int64_t i = here.first + row * ravel::WARP + t;\n"
          "        results r[unroll]{};\n"
          "        EVERY_TIME\n"
          "        for (int k = 0; k < unroll; k++) {\n"
          "          if (i + k * ravel::WARP < last) r[k] = at(i + k * ravel::WARP%s);\n"
          "        }\n"
          "        EVERY_TIME\n"
          "        for (int k = 0; k < unroll; k++) {\n"
          "          if (i + k * ravel::WARP >= last) continue;\n"
          "%s"
          "          put(i + k * ravel::WARP, r[k]);\n",
          more, reduces ? "          take(l[t], r[k]);\n" : "");
  each_combination(b, emit_kernel_combine_keep);
  fputs("        }\n      });\n", b->out);
  each_combination(b, emit_kernel_combine_take);
  fputs("    }\n", b->out);
}

/* The memory of all columns: members of a letter. */
static void arrays(const struct columns *c, char letter) {
  fprintf(c->out, "combination%u::arrays{", c->at.first);
  for (uint32_t i = 0; i < c->at.count; i++) {
    fprintf(c->out, "%s%c%u", i > 0 ? ", " : "", letter, c->at.ends + i);
  }
  fputs("}", c->out);
}

/* The identities of the segment. */
static void emit_kernel_combine_identities(const struct columns *c) {
  for (uint32_t i = 0; i < c->at.count; i++) {
    const uint32_t v = c->op->nodes[c->at.ends + i].operands[2];
    fprintf(c->out, "%s(%s)(", i > 0 ? ", " : "", emit_kernel_combine_type_of(c, i));
    if (v < c->op->param_count)
      fprintf(c->out, "p%u[here.segment]", v);
    else
      emit_literal(&emit_definition(c->op, v)->constant, c->out);
    fputs(")", c->out);
  }
}

static void emit_kernel_combine_give(const struct columns *c) {
  const uint32_t k = c->at.first;
  fputs("    if (", c->out);
  emit_kernel_combine_condition(c);
  fprintf(c->out, ") c%u.finish(block, rows%u, row, here.whole_rows());\n", k, k);
  if (scans(c)) {
    fprintf(c->out, "    ravel::give_total<combination%u>(block, here, rows%u, ", k, k);
    arrays(c, 't');
    fputs(");\n", c->out);
    return;
  }
  fprintf(c->out,
          "    ravel::reduced_block<combination%u, B>{p%u, here, 0, rows%u, rest%u}.give(\n"
          "        block, ",
          k, c->op->segments, k, k);
  arrays(c, 't');
  fputs(", ", c->out);
  arrays(c, 'w');
  fputs(", ", c->out);
  arrays(c, 'g');
  fputs(");\n"
        "    block.each([&](int t) {\n"
        "      if (t == 0 && here.ends && here.count == 0)\n"
        "        ",
        c->out);
  arrays(c, 'g');
  fputs(".put(here.segment, {", c->out);
  emit_kernel_combine_identities(c);
  fputs("});\n    });\n", c->out);
}

static bool has_reductions(const struct fused_kernel *k) {
  bool any = false;
  for (uint32_t i = 0; i < k->member_count; i++) any |= k->members[i].kind == MEMBER_PARTIALS;
  return any;
}

void body_trees(const struct body *b) {
  const uint32_t s = b->op->segments;
  const bool reduces = has_reductions(b->k);
  if (reduces) body_lane(b);
  fprintf(b->out,
          "  enum { threads = ravel::WARP };\n"
          "  struct shared {};\n"
          "  template <class B> HERE void operator()(B &block) const {\n"
          "    const ravel::tree_block here(p%u, block.index(), 0);\n"
          "    const int64_t s%u = here.segment, last = here.first + here.count;\n"
          "    (void)s%u;\n",
          s, s, s);
  body_declare_reductions(b);
  if (reduces) fputs("    typename B::template reg<lane> l{};\n", b->out);
  each_combination(b, emit_kernel_combine_declare);
  emit_kernel_combine_rows(b, reduces);
  if (reduces) {
    fputs("    block.each([&](int t) {\n", b->out);
    body_for_reductions(b, "      r%u[t] = l[t].a%u;\n");
    fputs("    });\n", b->out);
    body_fold(b);
  }
  each_combination(b, emit_kernel_combine_give);
  fputs("  }\n", b->out);
}
