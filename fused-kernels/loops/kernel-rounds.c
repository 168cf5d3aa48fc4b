/* kernel-rounds.c - loops of a position, in procedures: carried values are variables
 * of C. */
#include "fused-kernels/loops/kernel-text.h"

void print_carry(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  put_with(x->out, statement_type(s), "$w v$0 = v$1;\n", s->value, s->operands[0]);
  if (is_last_carry(x->k, k)) fputs("for (;;) {\n", x->out);
}

void print_while(const struct kernel_text *x, uint32_t k) {
  put(x->out,
      "if (!v$0) break;\n"
      "if ((++rounds & 4095) == 0 && !native_goes_on(r)) return 0;\n",
      x->k->statements[k].operands[0]);
}

/* The end of a loop: all carried values change at once. */
static void end_rounds(const struct kernel_text *x, uint32_t first) {
  uint32_t end = first;
  while (end < x->k->count && x->k->statements[end].kind == KERNEL_NEXT) end++;
  for (uint32_t k = first; k < end; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    put_with(x->out, statement_type(s), "const $w next$0 = v$1;\n", s->value, s->operands[1]);
  }
  for (uint32_t k = first; k < end; k++) {
    const struct kernel_statement *s = &x->k->statements[k];
    put(x->out, "v$0 = next$1;\n", s->operands[0], s->value);
  }
  fputs("}\n", x->out);
}

void print_next(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (k == 0 || x->k->statements[k - 1].kind != KERNEL_NEXT) end_rounds(x, k);
  put_with(x->out, statement_type(s), "const $w v$0 = v$1;\n", s->value, s->operands[0]);
}
