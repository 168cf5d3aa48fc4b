/* kernel.c - the rules of kernels, and their text. */
#include "fused-kernels/kernel.h"

#include "base/number.h"
#include "fused-kernels/emit-expression.h"

#include <string.h>

/* ---- the statements ---- */

static const char *const words[KERNEL_STATEMENTS] = {
    [KERNEL_CONSTANT] = "constant", [KERNEL_LOAD] = "load",     [KERNEL_SPREAD] = "spread",
    [KERNEL_OFFSET] = "offset",     [KERNEL_MAP] = "map",       [KERNEL_GATHER] = "gather",
    [KERNEL_CHECK] = "check",       [KERNEL_CARRY] = "carry",   [KERNEL_WHILE] = "while",
    [KERNEL_NEXT] = "next",         [KERNEL_REDUCE] = "reduce", [KERNEL_SCAN] = "scan",
    [KERNEL_KEEP] = "keep",         [KERNEL_STORE] = "store",   [KERNEL_SCATTER] = "scatter",
    [KERNEL_COMBINE] = "combine"};

const char *kernel_word(enum kernel_statement_kind kind) {
  return words[kind];
}

bool kernel_writes(const struct kernel_statement *s) {
  return s->kind >= KERNEL_REDUCE;
}

/* ---- rules ---- */

struct ruling {
  struct arena *arena;
  const struct kernel *k;
  bool *defined;    /* of every value: a statement before this one defines it, */
  bool *known;      /* and it may be read */
  bool *carried;    /* of every value: it is one of the loop */
  uint32_t *writes; /* of every value of the superoperator: statements that make it */
  uint32_t first;   /* the loop begins here, if there is one */
  bool loop, ends;  /* ends: its NEXTs have begun */
};

static const char *broken(const struct ruling *r, uint32_t k, const char *what) {
  return arena_printf(r->arena, "statement %u, %s: %s", k,
                      kernel_word((enum kernel_statement_kind)r->k->statements[k].kind), what);
}

static bool is_descriptor(const struct ruling *r, uint32_t param) {
  return param == SUPEROP_NONE ||
         (param < r->k->op->param_count && r->k->op->kinds[param] == SUPEROP_SEGDES);
}

/* The kinds of a statement's operands, as letters of opcodes; = is its own type. Those behind
 * the first `least` may be missing. */
static const struct signature {
  const char *kinds;
  uint8_t least;
} signatures[KERNEL_STATEMENTS] = {
    [KERNEL_CONSTANT] = {"", 0}, [KERNEL_LOAD] = {"", 0},       [KERNEL_SPREAD] = {"", 0},
    [KERNEL_OFFSET] = {"", 0},   [KERNEL_GATHER] = {"ib", 1},   [KERNEL_CHECK] = {"b", 1},
    [KERNEL_CARRY] = {"=", 1},   [KERNEL_WHILE] = {"b", 1},     [KERNEL_NEXT] = {"==", 2},
    [KERNEL_REDUCE] = {"=", 1},  [KERNEL_SCAN] = {"=", 1},      [KERNEL_KEEP] = {"=b", 2},
    [KERNEL_STORE] = {"=", 1},   [KERNEL_SCATTER] = {"=ib", 2}, [KERNEL_COMBINE] = {"i", 0}};

static struct signature signature_of(const struct kernel_statement *s) {
  if (s->kind != KERNEL_MAP) return signatures[s->kind];
  const char *kinds = superop_info(s->op)->operands;
  return (struct signature){kinds, (uint8_t)strlen(kinds)};
}

static const char *operation_fault(const struct ruling *r, uint32_t k) {
  const struct kernel_statement *s = &r->k->statements[k];
  const bool combines = s->kind == KERNEL_REDUCE || s->kind == KERNEL_SCAN;
  if (s->kind == KERNEL_MAP &&
      (s->op >= OPC_COUNT || !opcode_map_row((enum opcode)s->op, (enum type_word)s->word)))
    return broken(r, k, "it is no elementwise operation");
  if (combines &&
      (s->op >= OPC_COUNT || !combine_row(opcode_info((enum opcode)s->op)->operation,
                                          type_word_class((enum type_word)s->word))))
    return broken(r, k, "it is no operation that combines");
  if ((s->kind == KERNEL_CONSTANT) != (s->constant != NULL))
    return broken(r, k, "it has no constant, or should have none");
  return NULL;
}

static const char *operand_fault(const struct ruling *r, uint32_t k) {
  const struct kernel_statement *s = &r->k->statements[k];
  const struct signature signature = signature_of(s);
  if (s->count < signature.least || s->count > strlen(signature.kinds))
    return broken(r, k, "it has another number of operands");
  for (unsigned i = 0; i < s->count; i++) {
    const char letter = signature.kinds[i];
    if (s->operands[i] >= r->k->values || !r->known[s->operands[i]])
      return broken(r, k, "an operand is not defined before it");
    const int kind = letter == '=' ? s->type : (int)operand_kind(letter, s->word);
    if (r->k->types[s->operands[i]] != kind) return broken(r, k, "an operand has another type");
  }
  return NULL;
}

static bool has_type(const struct ruling *r, uint32_t param, uint8_t type) {
  return type != SUPEROP_SEGDES && param < r->k->op->param_count &&
         r->k->op->kinds[param] == type;
}

static const char *param_fault(const struct ruling *r, uint32_t k) {
  const struct kernel_statement *s = &r->k->statements[k];
  const bool reads =
      s->kind == KERNEL_LOAD || s->kind == KERNEL_SPREAD || s->kind == KERNEL_GATHER;
  const bool may_read = reads || (s->kind == KERNEL_SCATTER && s->param != SUPEROP_NONE);
  if (may_read ? !has_type(r, s->param, s->type) : s->param != SUPEROP_NONE)
    return broken(r, k, "it reads no parameter of its type");
  if (!is_descriptor(r, s->near) || !is_descriptor(r, s->far))
    return broken(r, k, "its segments are those of no descriptor");
  return NULL;
}

/* ---- loops: CARRYs, with loads between them; maps; WHILE; maps; NEXTs ---- */

/* Behind a loop only the results of NEXTs are known. */
static void leave_loop(struct ruling *r, uint32_t k) {
  for (uint32_t j = r->first; j < k; j++) {
    const struct kernel_statement *s = &r->k->statements[j];
    if (s->kind == KERNEL_MAP || s->kind == KERNEL_CARRY) r->known[s->value] = false;
  }
  r->loop = r->ends = false;
}

static const char *loop_fault(struct ruling *r, uint32_t k) {
  const struct kernel_statement *s = &r->k->statements[k];
  if (r->ends && s->kind != KERNEL_NEXT) leave_loop(r, k);
  if ((s->kind == KERNEL_WHILE || s->kind == KERNEL_NEXT) && !r->loop)
    return broken(r, k, "there is no loop");
  if (r->loop && (s->checked || s->kind == KERNEL_CHECK))
    return broken(r, k, "it may fail, in a loop");
  if (r->loop && kernel_writes(s)) return broken(r, k, "it writes, in a loop");
  if (s->kind == KERNEL_CARRY && !r->loop) {
    r->loop = true;
    r->first = k;
  }
  if (s->kind == KERNEL_CARRY && s->value < r->k->values) r->carried[s->value] = true;
  if (s->kind != KERNEL_NEXT) return NULL;
  r->ends = true;
  if (s->operands[0] >= r->k->values || !r->carried[s->operands[0]])
    return broken(r, k, "its first operand is not carried");
  r->carried[s->operands[0]] = false;
  return NULL;
}

/* ---- what is written ---- */

static bool is_output(const struct ruling *r, uint32_t value, uint8_t type) {
  const struct superop *op = r->k->op;
  return value >= op->param_count && value < op->value_count && op->kinds[value] == type;
}

static const char *output_fault(const struct ruling *r, uint32_t k) {
  const struct kernel_statement *s = &r->k->statements[k];
  if (s->kind == KERNEL_COMBINE) {
    const struct superop_combination at = superop_combination_at(r->k->op, s->node);
    for (uint32_t i = 0; i < at.count; i++) r->writes[r->k->op->nodes[at.ends + i].result]++;
    return NULL;
  }
  if (!kernel_writes(s))
    return s->output == SUPEROP_NONE ? NULL : broken(r, k, "it writes nothing");
  if (!is_output(r, s->output, s->type))
    return broken(r, k, "it writes no value of the superoperator of its type");
  r->writes[s->output]++;
  if (s->kind == KERNEL_KEEP && !is_output(r, s->output + 1, SUPEROP_SEGDES))
    return broken(r, k, "its descriptor is none");
  if (s->kind == KERNEL_KEEP) r->writes[s->output + 1]++;
  return NULL;
}

static const char *end_fault(const struct ruling *r) {
  const struct superop *op = r->k->op;
  if (r->loop && !r->ends) return "a loop does not end";
  for (uint32_t v = 0; v < r->k->values; v++)
    if (r->carried[v]) return arena_printf(r->arena, "%%%u is carried without a NEXT", v);
  for (uint32_t i = 0; i < op->output_count; i++) {
    if (r->writes[op->outputs[i]] != 1)
      return arena_printf(r->arena, "$%u is written %u times", op->outputs[i],
                          r->writes[op->outputs[i]]);
  }
  return NULL;
}

/* ---- all of them ---- */

static const char *statement_fault(struct ruling *r, uint32_t k) {
  const struct kernel_statement *s = &r->k->statements[k];
  if (s->kind >= KERNEL_STATEMENTS) return arena_printf(r->arena, "statement %u is none", k);
  const char *why = loop_fault(r, k);
  if (!why) why = operation_fault(r, k);
  if (!why) why = operand_fault(r, k);
  if (!why) why = param_fault(r, k);
  if (!why) why = output_fault(r, k);
  if (why) return why;
  if ((s->value != SUPEROP_NONE) !=
      (s->kind <= KERNEL_GATHER || s->kind == KERNEL_CARRY || s->kind == KERNEL_NEXT))
    return broken(r, k, "it defines no value, or should define none");
  if (s->value == SUPEROP_NONE) return NULL;
  if (s->value >= r->k->values || r->defined[s->value] || r->k->types[s->value] != s->type)
    return broken(r, k, "its value is not new, or of another type");
  r->defined[s->value] = r->known[s->value] = true;
  return NULL;
}

const char *kernel_fault(struct arena *arena, const struct kernel *k) {
  struct ruling r = {.arena = arena,
                     .k = k,
                     .defined = arena_alloc(arena, k->values + 1),
                     .known = arena_alloc(arena, k->values + 1),
                     .carried = arena_alloc(arena, k->values + 1),
                     .writes = arena_alloc(arena, (k->op->value_count + 1) * sizeof(uint32_t))};
  for (uint32_t i = 0; i < k->count; i++) {
    const char *why = statement_fault(&r, i);
    if (why) return why;
  }
  return end_fault(&r);
}

/* ---- the text ---- */

static const char *kind_text(uint8_t kind) {
  static const char *const names[] = {"INT", "FLOAT", "BOOL", "SEGDES"};
  return names[kind];
}

static void print_size(struct superop_size size, FILE *out) {
  const char *what = size.what == SIZE_LEN     ? "length"
                     : size.what == SIZE_TOTAL ? "total"
                     : size.what == SIZE_COUNT ? "count"
                                               : NULL;
  if (what)
    fprintf(out, "%s %u", what, size.param);
  else
    fputs("1", out);
}

static void print_first_line(const struct kernel *k, FILE *out) {
  fputs("kernel (", out);
  for (uint32_t p = 0; p < k->op->param_count; p++)
    fprintf(out, "%s%u : %s", p ? ", " : "", p, kind_text(k->op->kinds[p]));
  fputs(") over ", out);
  print_size(k->op->domain, out);
  if (k->op->segments != SUPEROP_NONE) fprintf(out, ", segments %u", k->op->segments);
  fputs("\n", out);
}

static void print_operation(const struct kernel_statement *s, FILE *out) {
  const bool map = s->kind == KERNEL_MAP;
  if (!map) fputs(kernel_word((enum kernel_statement_kind)s->kind), out);
  if (!map && s->kind != KERNEL_REDUCE && s->kind != KERNEL_SCAN && s->kind != KERNEL_SCATTER)
    return;
  fprintf(out, "%s%s", map ? "" : " ", superop_info(s->op)->spelling);
  if (s->word != TW_NONE) fprintf(out, " %s", type_word_text((enum type_word)s->word));
}

/* Which outputs a value is. */
static void print_output(const struct superop *op, uint32_t value, const char *before,
                         FILE *out) {
  for (uint32_t i = 0; i < op->output_count; i++)
    if (op->outputs[i] == value) fprintf(out, "%s%u", before, i);
}

/* A constant; FLOATs as they are read. */
static void print_constant(const struct cvl_value *c, FILE *out) {
  char text[NUMBER_TEXT_MAX];
  if (elem_info((enum cvl_elem)c->elem)->klass != CLASS_FLOAT) {
    emit_literal(c, out);
    return;
  }
  format_float_exact(text, cvl_float_of(c));
  fputs(text, out);
}

/* A value of the superoperator in the function of a combination. */
static void print_inner(const struct superop *op, uint32_t value, FILE *out) {
  const struct cvl_value *constant = emit_spread_constant(op, value);
  fputs(" ", out);
  if (constant)
    print_constant(constant, out);
  else
    fprintf(out, "$%u", value);
}

static void print_segments(const struct kernel_statement *s, FILE *out) {
  if (s->near != SUPEROP_NONE) fprintf(out, " in %u", s->near);
  if (s->far != SUPEROP_NONE) fprintf(out, " of %u", s->far);
}

/* A combination: its columns, each with its left and right operand, and what an empty segment
 * has; the function; the results. */
static void print_combination(const struct kernel *k, const struct kernel_statement *s,
                              FILE *out) {
  const struct superop *op = k->op;
  const struct superop_combination at = superop_combination_at(op, s->node);
  fprintf(out, "  combine %s", superop_info(s->op)->spelling);
  for (unsigned i = 0; i < s->count; i++) fprintf(out, " %%%u", s->operands[i]);
  print_segments(s, out);
  fputs("\n", out);
  for (uint32_t i = 0; i < at.count; i++) {
    const uint32_t left = op->nodes[at.first + i].result;
    fprintf(out, "    $%u $%u = %%%u", left, left + 1, s->columns[i]);
    if (s->identities[i] != SUPEROP_NONE) fprintf(out, " else %%%u", s->identities[i]);
    if (s->count > 0) fprintf(out, " onto %u", op->nodes[at.ends + i].operands[3]);
    fputs("\n", out);
  }
  for (uint32_t j = at.first + at.count; j < at.ends; j++) {
    const struct superop_node *node = &op->nodes[j];
    fprintf(out, "    $%u = %s", node->result, superop_info(node->op)->spelling);
    if (node->type != TW_NONE) fprintf(out, " %s", type_word_text((enum type_word)node->type));
    for (uint32_t i = 0; i < node->operand_count; i++) print_inner(op, node->operands[i], out);
    fputs("\n", out);
  }
  for (uint32_t i = 0; i < at.count; i++) {
    const struct superop_node *end = &op->nodes[at.ends + i];
    fputs("   ", out);
    print_inner(op, end->operands[1], out);
    print_output(op, end->result, " -> ", out);
    fputs("\n", out);
  }
}

static void print_statement(const struct kernel *k, const struct kernel_statement *s,
                            FILE *out) {
  if (s->kind == KERNEL_COMBINE) {
    print_combination(k, s, out);
    return;
  }
  fputs("  ", out);
  if (s->value != SUPEROP_NONE) fprintf(out, "%%%u = ", s->value);
  print_operation(s, out);
  if (s->constant) fputs(" ", out), print_constant(s->constant, out);
  if (s->param != SUPEROP_NONE) fprintf(out, " %u", s->param);
  for (unsigned i = 0; i < s->count; i++) fprintf(out, " %%%u", s->operands[i]);
  print_segments(s, out);
  if (s->stride) fprintf(out, " stride %d", s->stride);
  if (s->turns) fputs(" turns", out);
  if (s->moving) fprintf(out, " moving %u", s->moving);
  if (s->checked) fputs(" checked", out);
  if (s->output != SUPEROP_NONE) print_output(k->op, s->output, " -> ", out);
  if (s->kind == KERNEL_KEEP) print_output(k->op, s->output + 1, ", segments -> ", out);
  fputs("\n", out);
}

void kernel_print(const struct kernel *k, FILE *out) {
  print_first_line(k, out);
  for (uint32_t i = 0; i < k->count; i++) print_statement(k, &k->statements[i], out);
}
