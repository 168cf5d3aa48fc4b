/* emit-combine.c - the functions of a combination: its own, for one pair of items, and the tree
 * that keeps order around it, which is combine-tree.h.
 */
#include "fused-kernels/emit-expression.h"

extern const char *const fused_combine_tree_text[];

struct combination {
  const struct superop *op;
  struct superop_combination at;
  struct widths widths;
  FILE *out;
};

static const struct superop_node *emit_combine_column(const struct combination *c, uint32_t i) {
  return &c->op->nodes[c->at.first + i];
}

/* Writes the macros that combine-tree.h needs. */
static void emit_combine_define(const struct combination *c, const char *name) {
  fprintf(c->out, "#define NAME(x) %s_##x\n#define COLUMNS(X)", name);
  for (uint32_t i = 0; i < c->at.count; i++) {
    fprintf(c->out, " X(%u, %s)", i,
            emit_type_of(c->op, c->widths, emit_combine_column(c, i)->result));
  }
  fputs("\nstruct NAME(item) {\n", c->out);
  for (uint32_t i = 0; i < c->at.count; i++) {
    fprintf(c->out, "  %s at%u;\n",
            emit_type_of(c->op, c->widths, emit_combine_column(c, i)->result), i);
  }
  fputs("};\n\n", c->out);
}

static bool emit_combine_reads(const struct combination *c, uint32_t value) {
  for (uint32_t k = c->at.first + c->at.count; k < c->at.ends + c->at.count; k++) {
    const struct superop_node *node = &c->op->nodes[k];
    const unsigned first = k < c->at.ends ? 0 : 1,
                   end = k < c->at.ends ? node->operand_count : 2;
    for (unsigned i = first; i < end; i++) {
      if (node->operands[i] == value) return true;
    }
  }
  return false;
}

static void declare_operands(const struct combination *c) {
  for (uint32_t i = 0; i < c->at.count; i++) {
    for (uint32_t right = 0; right < 2; right++) {
      const uint32_t v = emit_combine_column(c, i)->result + right;
      if (!emit_combine_reads(c, v)) continue;
      fprintf(c->out, "  const %s v%u = %s.at%u;\n", emit_type_of(c->op, c->widths, v), v,
              right ? "r" : "l", i);
    }
  }
  for (uint32_t v = c->op->param_count; v < c->op->value_count; v++) {
    const struct cvl_value *constant = emit_spread_constant(c->op, v);
    if (!constant || !emit_combine_reads(c, v)) continue;
    fprintf(c->out, "  const %s v%u = ", emit_type_of(c->op, c->widths, v), v);
    emit_literal(constant, c->out);
    fputs(";\n", c->out);
  }
}

/* The function's statements, of items l and r, which are of type `item`. */
static void emit_combine_statements(const struct combination *c, const char *item) {
  declare_operands(c);
  for (uint32_t k = c->at.first + c->at.count; k < c->at.ends; k++) {
    const struct superop_node *node = &c->op->nodes[k];
    if (node->role != ROLE_MAP) continue;
    const char *type = emit_type_of(c->op, c->widths, node->result);
    fprintf(c->out, "  const %s v%u = (%s)(", type, node->result, type);
    emit_map(emit_row(node)->expression, node, c->out);
    fputs(");\n", c->out);
    if (!emit_combine_reads(c, node->result)) fprintf(c->out, "  (void)v%u;\n", node->result);
  }
  fprintf(c->out, "  (void)l, (void)r;\n  %s v;\n", item);
  for (uint32_t i = 0; i < c->at.count; i++) {
    fprintf(c->out, "  v.at%u = v%u;\n", i, c->op->nodes[c->at.ends + i].operands[1]);
  }
  fputs("  return v;\n", c->out);
}

static void emit_combine_function(const struct combination *c) {
  fputs("static inline struct NAME(item) NAME(f)(struct NAME(item) l, struct NAME(item) r) {\n",
        c->out);
  emit_combine_statements(c, "struct NAME(item)");
  fputs("}\n\n", c->out);
}

void emit_combination_statements(const struct superop *op, uint32_t first, struct widths widths,
                                 const char *item, FILE *out) {
  const struct combination c = {op, superop_combination_at(op, first), widths, out};
  emit_combine_statements(&c, item);
}

static const char declarations[] =
    "void NAME(apply)(uint64_t, char *const *, char *const *, char *const *);\n"
    "void NAME(reduce)(char *const *, const uint64_t *, uint64_t, char *const *);\n"
    "unsigned NAME(roots)(char *const *, uint64_t, char *const *);\n"
    "void NAME(scan)(char *const *, const uint64_t *, uint64_t, char *const *, _Bool,\n"
    "                char *const *);\n\n";

void fused_emit_combination(const struct superop *op, uint32_t first, struct widths widths,
                            const char *name, FILE *out) {
  const struct combination c = {op, superop_combination_at(op, first), widths, out};
  fputs("#ifdef __clang__\n"
        "#define INDEPENDENT _Pragma(\"clang loop vectorize(assume_safety)\")\n"
        "#else\n"
        "#define INDEPENDENT _Pragma(\"GCC ivdep\")\n"
        "#endif\n",
        out);
  emit_combine_define(&c, name);
  emit_combine_function(&c);
  fputs(declarations, out);
  for (const char *const *line = fused_combine_tree_text; *line != NULL; line++)
    fputs(*line, out);
  fputs("#undef NAME\n#undef COLUMNS\n#undef INDEPENDENT\n\n", out);
}
