/* kernel-values.c - statements that load and compute values, and checks. */
#include "fused-kernels/loops/kernel-text.h"

const char *statement_type(const struct kernel_statement *s) {
  return element_type((enum superop_kind)s->type);
}

bool may_have_failed(const struct kernel_text *x) {
  return x->checks && !x->single;
}

void fail_unless(const struct kernel_text *x, const struct kernel_statement *s,
                 const char *name, uint32_t number) {
  const char *template = "bad |= !$w$0;\n";
  if (x->single)
    template = "if (!$w$0) return 0;\n";
  else if (level_of(x, s) == KERNEL_OF_POSITION)
    template = "fine &= $w$0;\n";
  put_with(x->out, name, template, number);
}

void print_check(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  fail_unless(x, s, "v", s->operands[0]);
}

/* ---- loads ---- */

static void begin_value(const struct kernel_text *x, const struct kernel_statement *s) {
  put_with(x->out, statement_type(s), "const $w v$0 = ", s->value);
}

void print_constant(const struct kernel_text *x, uint32_t k) {
  begin_value(x, &x->k->statements[k]);
  emit_literal(x->k->statements[k].constant, x->out);
  fputs(";\n", x->out);
}

void print_load(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  begin_value(x, s);
  put_element(x->out, &x->params[s->param], position(x));
  fputs(";\n", x->out);
}

void print_spread(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  begin_value(x, s);
  put_element(x->out, &x->params[s->param], segment(x, s->near).text);
  fputs(";\n", x->out);
}

void print_offset(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  put_with(x->out, position(x), "const INT v$0 = (INT)($w", s->value);
  put_begin(x, s->near);
  fputs(");\n", x->out);
}

/* ---- operations ---- */

static void put_expression(const struct kernel_text *x, const char *text,
                           const struct kernel_statement *s) {
  struct snippet names[KERNEL_OPERANDS];
  const char *operands[KERNEL_OPERANDS];
  for (unsigned i = 0; i < s->count; i++) {
    names[i] = numbered("v", s->operands[i]);
    operands[i] = names[i].text;
  }
  emit_expression(text, s->count, operands, x->out);
}

/* Writes okV, whether the operation has a value, and what happens where it has none. */
static void print_condition(const struct kernel_text *x, const struct kernel_statement *s,
                            const char *condition) {
  put(x->out, "const INT ok$0 = ", s->value);
  put_expression(x, condition, s);
  fputs(";\n", x->out);
  fail_unless(x, s, "ok", s->value);
}

void print_map(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const struct map_row *row = opcode_map_row((enum opcode)s->op, (enum type_word)s->word);
  const char *type = statement_type(s);
  const bool checked = s->checked && row->condition;
  if (print_near(x, k)) return;
  if (checked) print_condition(x, s, row->condition);
  put_with(x->out, s->type == SUPEROP_BOOL ? "_Bool" : type, "const $w v$0 = ", s->value);
  if (checked && !x->single) put_with(x->out, type, "!ok$0 ? ($w)0 : ", s->value);
  fprintf(x->out, "(%s)(", type);
  put_expression(x, row->expression, s);
  fputs(");\n", x->out);
}
