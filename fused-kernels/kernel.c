/* kernel.c - the rules of kernels, and their text. */
#include "fused-kernels/kernel.h"

#include "fused-kernels/emit-expression.h"

/* ---- the statements ---- */

static const char *const words[KERNEL_STATEMENTS] = {
    [KERNEL_CONSTANT] = "constant", [KERNEL_LOAD] = "load",      [KERNEL_SPREAD] = "spread",
    [KERNEL_OFFSET] = "offset",     [KERNEL_MAP] = "map",        [KERNEL_GATHER] = "gather",
    [KERNEL_RUN] = "run",           [KERNEL_CHECK] = "check",    [KERNEL_CARRY] = "carry",
    [KERNEL_WHILE] = "while",       [KERNEL_NEXT] = "next",      [KERNEL_REDUCE] = "reduce",
    [KERNEL_SCAN] = "scan",         [KERNEL_KEEP] = "keep",      [KERNEL_STORE] = "store",
    [KERNEL_SCATTER] = "scatter",   [KERNEL_COMBINE] = "combine"};

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
  bool *known; /* of every value: a statement before this one defines it */
  bool loop;
};

static const char *broken(const struct ruling *r, uint32_t k, const char *what) {
  return arena_printf(r->arena, "statement %u, %s: %s", k,
                      kernel_word((enum kernel_statement_kind)r->k->statements[k].kind), what);
}

static bool is_descriptor(const struct ruling *r, uint32_t param) {
  return param == SUPEROP_NONE ||
         (param < r->k->op->param_count && r->k->op->kinds[param] == SUPEROP_SEGDES);
}

static const char *operand_fault(const struct ruling *r, uint32_t k) {
  const struct kernel_statement *s = &r->k->statements[k];
  for (unsigned i = 0; i < s->count; i++) {
    if (s->operands[i] >= r->k->values || !r->known[s->operands[i]])
      return broken(r, k, "an operand is not defined before it");
  }
  const bool flagged = s->kind == KERNEL_CHECK || s->kind == KERNEL_WHILE;
  if (flagged && r->k->types[s->operands[0]] != SUPEROP_BOOL)
    return broken(r, k, "its operand is no BOOL");
  return NULL;
}

static const char *param_fault(const struct ruling *r, uint32_t k) {
  const struct kernel_statement *s = &r->k->statements[k];
  const bool reads = s->kind == KERNEL_LOAD || s->kind == KERNEL_SPREAD ||
                     s->kind == KERNEL_GATHER || s->kind == KERNEL_RUN;
  if (reads && (s->param >= r->k->op->param_count || r->k->op->kinds[s->param] != s->type))
    return broken(r, k, "it reads no parameter of its type");
  if (!is_descriptor(r, s->near) || !is_descriptor(r, s->far))
    return broken(r, k, "its segments are those of no descriptor");
  return NULL;
}

static const char *statement_fault(struct ruling *r, uint32_t k) {
  const struct kernel_statement *s = &r->k->statements[k];
  const char *why = operand_fault(r, k);
  if (!why) why = param_fault(r, k);
  if (why) return why;
  if (s->kind == KERNEL_WHILE && !r->loop) return broken(r, k, "there is no loop");
  if (r->loop && (s->checked || s->kind == KERNEL_CHECK))
    return broken(r, k, "it may fail, in a loop");
  if (s->kind == KERNEL_CARRY) r->loop = true;
  if (s->kind == KERNEL_NEXT) r->loop = false;
  if (s->value == SUPEROP_NONE) return NULL;
  if (s->value >= r->k->values || r->known[s->value] || r->k->types[s->value] != s->type)
    return broken(r, k, "its value is not new, or of another type");
  r->known[s->value] = true;
  return NULL;
}

const char *kernel_fault(struct arena *arena, const struct kernel *k) {
  struct ruling r = {.arena = arena, .k = k, .known = arena_alloc(arena, k->values + 1)};
  for (uint32_t i = 0; i < k->count; i++) {
    const char *why = statement_fault(&r, i);
    if (why) return why;
  }
  return NULL;
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

static void print_statement(const struct kernel *k, const struct kernel_statement *s,
                            FILE *out) {
  fputs("  ", out);
  if (s->value != SUPEROP_NONE) fprintf(out, "%%%u = ", s->value);
  print_operation(s, out);
  if (s->constant) fputs(" ", out), emit_literal(s->constant, out);
  if (s->param != SUPEROP_NONE) fprintf(out, " %u", s->param);
  for (unsigned i = 0; i < s->count; i++) fprintf(out, " %%%u", s->operands[i]);
  if (s->near != SUPEROP_NONE) fprintf(out, " in %u", s->near);
  if (s->far != SUPEROP_NONE) fprintf(out, " of %u", s->far);
  if (s->run) fputs(" run", out);
  if (s->checked) fputs(" checked", out);
  if (s->output != SUPEROP_NONE) fprintf(out, " -> $%u", s->output);
  fputs("\n", out);
  (void)k;
}

void kernel_print(const struct kernel *k, FILE *out) {
  print_first_line(k, out);
  for (uint32_t i = 0; i < k->count; i++) print_statement(k, &k->statements[i], out);
}
