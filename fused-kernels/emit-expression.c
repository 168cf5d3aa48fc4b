/* emit-expression.c - scalar expressions as C text. */
#include "fused-kernels/emit-expression.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *emit_type(struct widths w, enum superop_kind kind) {
  switch (kind) {
  case SUPEROP_INT: return w.int_elem == CVL_I64 ? "int64_t" : "int32_t";
  case SUPEROP_FLOAT: return w.float_elem == CVL_F64 ? "double" : "float";
  case SUPEROP_BOOL:
  case SUPEROP_SEGDES: break;
  }
  return "uint8_t";
}

const char *emit_type_of(const struct superop *op, struct widths w, uint32_t v) {
  return emit_type(w, (enum superop_kind)op->kinds[v]);
}

const struct superop_node *emit_definition(const struct superop *op, uint32_t v) {
  for (uint32_t k = op->node_count; k-- > 0;) {
    if (v >= op->nodes[k].result) return v < op->param_count ? NULL : &op->nodes[k];
  }
  return NULL;
}

const struct cvl_value *emit_spread_constant(const struct superop *op, uint32_t v) {
  const struct superop_node *definition = emit_definition(op, v);
  if (definition == NULL || definition->role != ROLE_SPREAD) return NULL;
  definition = emit_definition(op, definition->operands[0]);
  return definition == NULL ? NULL : &definition->constant;
}

void emit_literal(const struct cvl_value *c, FILE *out) {
  if (elem_info((enum cvl_elem)c->elem)->klass == CLASS_FLOAT) {
    double x = cvl_float_of(c);
    const char *suffix = c->elem == CVL_F32 ? "F" : "";
    const char *cast = c->elem == CVL_F32 ? "(float)" : "(double)";
    if (isnan(x))
      fprintf(out, "%sNAN", cast);
    else if (isinf(x))
      fprintf(out, "%s%sINFINITY", x < 0 ? "-" : "", cast);
    else if (x == floor(x) && fabs(x) < 1e6 && x != 0)
      fprintf(out, "%.1f%s", x, suffix);
    else
      fprintf(out, "%a%s", x, suffix);
    return;
  }
  int64_t n = c->elem == CVL_BOOL ? c->as.b : cvl_int_of(c);
  if (n == INT64_MIN)
    fputs("INT64_MIN", out);
  else if (n == INT32_MIN)
    fputs("INT32_MIN", out);
  else if (n > INT32_MAX || n < INT32_MIN)
    fprintf(out, "INT64_C(%" PRId64 ")", n);
  else
    fprintf(out, "%" PRId64, n);
}

const struct map_row *emit_row(const struct superop_node *node) {
  return opcode_map_row((enum opcode)node->op, (enum type_word)node->type);
}

const struct combine_row *emit_combination(const struct superop_node *node) {
  return combine_row(opcode_info((enum opcode)node->op)->operation,
                     type_word_class((enum type_word)node->type));
}

static bool emit_expression_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void emit_combination_name(const struct combine_row *row, FILE *out) {
  const char *name = "xor";
  switch (row->op) {
  case OP_ADD: name = "add"; break;
  case OP_MUL: name = "mul"; break;
  case OP_MAX: name = "max"; break;
  case OP_MIN: name = "min"; break;
  case OP_AND: name = "and"; break;
  case OP_OR: name = "or"; break;
  default: break;
  }
  fprintf(out, "%s_%c", name, "ifb"[row->klass]);
}

void emit_expression(const char *text, unsigned count, const char *const *operands, FILE *out) {
  const char *const *x = count == 3 ? operands + 1 : operands;
  while (*text != '\0') {
    size_t n = 1;
    if (emit_expression_letter(*text) || (*text >= '0' && *text <= '9')) {
      while (emit_expression_letter(text[n]) || (text[n] >= '0' && text[n] <= '9') ||
             text[n] == '.')
        n++;
    }
    if (n == 1 && *text == 'x')
      fputs(x[0], out);
    else if (n == 1 && *text == 'y' && count > 1)
      fputs(x[1], out);
    else if (n == 1 && *text == 'f' && count == 3)
      fputs(operands[0], out);
    else
      fwrite(text, 1, n, out);
    text += n;
  }
}

void emit_map(const char *text, const struct superop_node *node, FILE *out) {
  char names[3][16];
  const char *operands[3];
  for (unsigned i = 0; i < node->operand_count && i < 3; i++) {
    snprintf(names[i], sizeof names[i], "v%u", node->operands[i]);
    operands[i] = names[i];
  }
  emit_expression(text, node->operand_count, operands, out);
}

/* ---- loops ---- */

void emit_loop_changes(const struct superop *op, struct superop_loop l, struct widths w,
                       const char *indent, FILE *out) {
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t i = l.next; i <= l.last; i++) {
      const uint32_t *v = op->nodes[i].operands, to = op->nodes[i].result;
      const char *type = emit_type_of(op, w, v[0]);
      if (v[0] == v[1]) continue;
      if (pass == 0) fprintf(out, "%sconst %s next%u = v%u;\n", indent, type, to, v[1]);
      if (pass == 1) fprintf(out, "%sv%u = next%u;\n", indent, v[0], to);
    }
  }
}

void emit_loop_node(const struct superop *op, uint32_t k, struct widths w, const char *indent,
                    FILE *out) {
  const struct superop_node *node = &op->nodes[k];
  if (node->role == ROLE_WHILE) {
    fprintf(out, "%s  if (!v%u) break;\n", indent, node->operands[0]);
    return;
  }
  const char *type = emit_type_of(op, w, node->result);
  if (node->role == ROLE_CARRY) {
    fprintf(out, "%s%s v%u = v%u;\n", indent, type, node->result, node->operands[0]);
    if (op->nodes[k + 1].role != ROLE_CARRY) fprintf(out, "%sfor (;;) {\n", indent);
    return;
  }
  struct superop_loop l = superop_loop_at(op, superop_loop_of(op, k));
  if (k == l.next) {
    char inner[16];
    snprintf(inner, sizeof inner, "%s  ", indent);
    emit_loop_changes(op, l, w, inner, out);
    fprintf(out, "%s}\n", indent);
  }
  fprintf(out, "%sconst %s v%u = v%u;\n%s(void)v%u;\n", indent, type, node->result,
          node->operands[0], indent, node->result);
}

/* ---- what comes before ---- */

void emit_add_needs(struct emit_needs *needs, const struct superop *op) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    if (node->role != ROLE_MAP) continue;
    if (emit_row(node)->approximate) needs->functions = true;
  }
}

extern const char *const fused_elementary_text[];

/* The elementary functions. What elementary.h declares is static here, for which a declaration
 * before it is enough. */
static void emit_expression_elementary(FILE *out) {
  fputs("#ifdef __GNUC__ /* not all of these are used */\n"
        "#pragma GCC diagnostic push\n"
        "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
        "#endif\n"
        "struct e_angle;\nstatic struct e_angle elementary_reduce(double x);\n\n",
        out);
  for (const char *const *line = fused_elementary_text; *line != NULL; line++) {
    fputs(*line, out);
  }
  fputs("#ifdef __GNUC__\n#pragma GCC diagnostic pop\n#endif\n\n", out);
}

void emit_macros(struct widths w, const char *linkage, FILE *out) {
  bool wide = w.int_elem == CVL_I64, fine = w.float_elem == CVL_F64;
  int ints = wide ? 64 : 32, floats = fine ? 64 : 32;
  const char *i = emit_type(w, SUPEROP_INT), *f = emit_type(w, SUPEROP_FLOAT);
  const char *least = wide ? "0x1p63" : "0x1p31", *suffix = fine ? "" : "F";
  fprintf(
      out,
      "/* What the expressions are written in. INT wraps; a FLOAT that fits no INT becomes\n"
      " * the least one. */\n"
      "#define BITS        %d\n"
      "#define U(x)        ((u%s)(x))\n"
      "#define WRAP(u)     ((%s)(u))\n"
      "#define INT_LEAST   INT%d_MIN\n"
      "#define INT_MOST    INT%d_MAX\n"
      "#define REAL(c)     ((%s)(c))\n"
      "#define INFINITE    ((%s)INFINITY)\n"
      "#define MATH(fn, x) ravel_##fn##_f%d(x)\n"
      "#define TO_INT(x)   to_int(x)\n",
      ints, i, i, ints, ints, f, f, floats);
  fprintf(out,
          "%s %s to_int(%s x) {\n"
          "  return (%s)(x >= -%s%s && x < %s%s ? x + 0 : -%s%s);\n"
          "}\n\n",
          linkage, i, f, i, least, suffix, least, suffix, least, suffix);
}

void emit_prelude(struct widths w, FILE *out) {
  fputs("#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n"
        "#ifdef __GNUC__\n"
        "#pragma GCC diagnostic ignored \"-Wtautological-compare\" /* x != x */\n"
        "#endif\n\n",
        out);
  emit_expression_elementary(out);
  emit_macros(w, "static inline", out);
}
