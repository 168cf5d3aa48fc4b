/* emit-c.c - superoperators as a C file of its own and its header.
 *
 * A function goes through the segments of one descriptor (that of reductions, scans and packs,
 * or else one that spreads), and through the places of a segment; where FLOAT sums or products
 * are asked for in blocks of 1024 places, the units of their order. At a place it computes all
 * nodes in program order.
 */
#include "fused-kernels/emit-c.h"
#include "fused-kernels/fused.h"

#include <ctype.h>
#include <string.h>

static const char *const kind_names[] = {"INT", "FLOAT", "BOOL", "SEGDES"};

const char *emitter_type(const struct emitter *e, uint32_t value) {
  return emit_type(e->widths, (enum superop_kind)e->op->kinds[value]);
}

bool emitter_is_output(const struct superop *op, uint32_t value) {
  return op->last_use[value] == op->node_count;
}

uint32_t emitter_near(const struct superop_node *node, uint32_t *far) {
  const uint32_t *operands = node->operands;
  unsigned last = node->operand_count - 1U;
  *far = SUPEROP_NONE;
  switch ((enum superop_role)node->role) {
  case ROLE_SPREAD:
  case ROLE_INDEX:
  case ROLE_REDUCE:
  case ROLE_SCAN:
  case ROLE_PACK: return operands[last];
  case ROLE_GATHER: *far = operands[last - 1]; return operands[last];
  case ROLE_SCATTER:
    *far = operands[last];
    return node->op == OPC_PERMUTE ? operands[last] : operands[last - 1];
  case ROLE_CONST:
  case ROLE_PICK:
  case ROLE_CARRY:
  case ROLE_WHILE:
  case ROLE_NEXT:
  case ROLE_MAP:
  case ROLE_ASSERT: break;
  }
  return SUPEROP_NONE;
}

/* The descriptor whose segments are gone through. */
static uint32_t main_descriptor(const struct superop *op) {
  uint32_t far;
  if (op->segments != SUPEROP_NONE) return op->segments;
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    bool constant = node->role == ROLE_SPREAD && node->operands[0] >= op->param_count;
    uint32_t near = emitter_near(node, &far);
    if (near != SUPEROP_NONE && !constant) return near;
  }
  return SUPEROP_NONE;
}

static bool has_ordered(const struct superop *op) {
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (op->nodes[k].role == ROLE_REDUCE && emit_is_ordered(&op->nodes[k])) return true;
  }
  return false;
}

/* ---- the function ---- */

static void size_text(struct superop_size size, char dst[16]) {
  switch (size.what) {
  case SIZE_LEN:
  case SIZE_COUNT: snprintf(dst, 16, "n%u", size.param); break;
  case SIZE_TOTAL: snprintf(dst, 16, "t%u", size.param); break;
  default: snprintf(dst, 16, "1");
  }
}

/* A parameter to a line; the header is for C++ too, which has no restrict. */
static void signature(const struct emitter *e, const char *restricted, FILE *out) {
  const struct superop *op = e->op;
  int indent = fprintf(out, "int op%u(", op->number);
  for (uint32_t k = 0; k < op->param_count; k++) {
    bool segments = op->kinds[k] == SUPEROP_SEGDES;
    fprintf(out, "const %s *%sp%u, uint64_t n%u,\n%*s",
            segments ? "int64_t" : emitter_type(e, k), restricted, k, k, indent, "");
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    uint32_t v = op->outputs[i];
    bool segments = op->kinds[v] == SUPEROP_SEGDES;
    fprintf(out, "%s *%sout%u,\n%*s", segments ? "int64_t" : emitter_type(e, v), restricted, v,
            indent, "");
  }
  fputs("struct ravel_fault *fault)", out);
}

static void checks(const struct emitter *e) {
  const struct superop *op = e->op;
  char a[16], b[16];
  for (uint32_t k = 0; k < op->param_count; k++) {
    if (op->kinds[k] != SUPEROP_SEGDES) continue;
    fprintf(e->out, "  const uint64_t t%u = total(p%u, n%u);\n", k, k, k);
  }
  for (uint32_t k = 0; k < op->param_count; k++) {
    fprintf(e->out, "  (void)p%u, (void)n%u", k, k);
    if (op->kinds[k] == SUPEROP_SEGDES) fprintf(e->out, ", (void)t%u", k);
    fputs(";\n", e->out);
  }
  fputs("  *fault = (struct ravel_fault){RAVEL_OK, 0, 0, 0, 0, 0};\n", e->out);
  for (uint32_t r = 0; r < op->rule_count; r++) {
    const struct superop_rule *rule = &op->rules[r];
    size_text(rule->a, a);
    size_text(rule->b, b);
    fprintf(e->out,
            "  if (%s != %s) note(fault, RAVEL_SIZE, %u, 0, (int64_t)%s, (uint64_t)%s, 0);\n",
            a, b, rule->node, a, b);
  }
  fputs("  if (fault->kind != RAVEL_OK) return fault->kind;\n", e->out);
}

static void loops(const struct emitter *e) {
  char n[16];
  if (e->main == SUPEROP_NONE) {
    size_text(e->op->domain, n);
    fprintf(e->out, "  for (uint64_t i = 0; i < %s; i++) {\n", n);
    emit_place(e);
    fputs("  }\n", e->out);
    return;
  }
  fprintf(e->out,
          "  uint64_t start = 0;\n"
          "  for (uint64_t s = 0; s < n%u; s++) {\n"
          "    const uint64_t end = start + (uint64_t)p%u[s];\n",
          e->main, e->main);
  emit_segment_begin(e);
  if (e->blocks) {
    fputs("    for (uint64_t first = start, last; first < end; first = last) {\n"
          "      last = end - first < BLOCK ? end : first + BLOCK;\n"
          "      for (uint64_t i = first; i < last; i++) {\n",
          e->out);
    emit_place(e);
    fputs("      }\n", e->out);
    emit_block_end(e);
    fputs("    }\n", e->out);
  } else {
    fputs("    for (uint64_t i = start; i < end; i++) {\n", e->out);
    emit_place(e);
    fputs("    }\n", e->out);
  }
  emit_segment_end(e);
  fputs("    start = end;\n  }\n", e->out);
}

static void comment(const struct emitter *e, FILE *out) {
  const struct superop *op = e->op;
  char formula[400], size[16];
  fprintf(out, "/* %s\n *\n", fused_formula(op, formula, sizeof formula));
  for (uint32_t k = 0; k < op->param_count; k++) {
    fprintf(out, " *   p%-4u %s%s\n", k, kind_names[op->params[k]],
            op->params[k] == SUPEROP_SEGDES ? ": the lengths of its n segments" : "");
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    uint32_t v = op->outputs[i];
    size_text(op->sizes[v], size);
    fprintf(out, " *   out%-2u %s", v, kind_names[op->kinds[v]]);
    if (op->kinds[v] == SUPEROP_SEGDES)
      fputs(": how many elements each segment keeps\n", out);
    else if (op->sizes[v].what == SIZE_UNKNOWN) {
      size_text(op->domain, size);
      fprintf(out, ", the elements kept, at most %s\n", size);
    } else
      fprintf(out, "[%s]\n", size);
  }
  fputs(" */\n", out);
}

static void function(const struct emitter *e) {
  comment(e, e->out);
  signature(e, "restrict ", e->out);
  fputs(" {\n", e->out);
  checks(e);
  emit_declarations(e);
  loops(e);
  emit_end(e);
  fputs("}\n\n", e->out);
}

/* ---- the two files ---- */

static const char header_text[] =
    "/* Each function takes for parameter k its elements pK and their number nK, of a "
    "descriptor\n"
    " * the lengths of its segments, none negative, and their number; a size tK below is the "
    "sum\n"
    " * of those lengths. Every outV has room for as many elements as said; arrays do not\n"
    " * overlap. BOOL elements are 0 or 1. The result is RAVEL_OK, or the kind of the fault "
    "that\n"
    " * *fault then tells of: outputs have no meaning then.\n"
    " */\n"
    "#ifdef __cplusplus\n"
    "extern \"C\" {\n"
    "#endif\n\n"
    "#ifndef RAVEL_FAULT\n"
    "#define RAVEL_FAULT\n"
    "enum ravel_fault_kind {\n"
    "  RAVEL_OK,\n"
    "  RAVEL_SIZE,           /* two sizes have to be equal: value and limit */\n"
    "  RAVEL_DIVIDE_BY_ZERO, /* at position */\n"
    "  RAVEL_INDEX,          /* at position: value is not in 0 .. limit-1, those of segment "
    "*/\n"
    "  RAVEL_DUPLICATE,      /* at position: value was an index of this segment before */\n"
    "  RAVEL_MEMORY,\n"
    "  RAVEL_ASSERT          /* at position: value and limit are the two INTs of an ASSERT */\n"
    "};\n"
    "struct ravel_fault {\n"
    "  int kind;\n"
    "  uint32_t node; /* the operation: the number of those before it */\n"
    "  uint64_t position;\n"
    "  int64_t value, limit;\n"
    "  uint64_t segment;\n"
    "};\n"
    "#endif\n\n";

static void guard(const char *name, FILE *h) {
  for (; *name != '\0'; name++) fputc(isalnum((unsigned char)*name) ? toupper(*name) : '_', h);
  fputc('\n', h);
}

void fused_emit_c(const struct superop *const *ops, uint32_t count, struct widths widths,
                  const char *header_name, FILE *c, FILE *h) {
  struct emit_needs needs = {false};
  for (uint32_t i = 0; i < count; i++) emit_add_needs(&needs, ops[i]);
  fputs("/* Made from superoperators by Ravel's optimiser. */\n#ifndef RAVEL_FUSED_", h);
  guard(header_name, h);
  fputs("#define RAVEL_FUSED_", h);
  guard(header_name, h);
  fputs("\n#include <stdint.h>\n\n", h);
  fputs(header_text, h);
  fprintf(
      c,
      "/* Made from superoperators by Ravel's optimiser. Compile with -ffp-contract=off. */\n"
      "#include \"%s\"\n\n#include <stdlib.h>\n",
      header_name);
  emit_prelude(widths, needs, c);
  emit_helpers(ops, count, widths, c);
  for (uint32_t i = 0; i < count; i++) {
    struct emitter e = {ops[i], widths, c, main_descriptor(ops[i]), has_ordered(ops[i]),
                        {0},    {0}};
    emit_find_late(&e);
    comment(&e, h);
    signature(&e, "", h);
    fputs(";\n\n", h);
    function(&e);
  }
  fputs("#ifdef __cplusplus\n}\n#endif\n\n#endif\n", h);
}
