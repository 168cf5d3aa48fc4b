/* kernel-gathers.c - elements that are read by an index. */
#include "fused-kernels/loops/kernel-text.h"

/* Writes atV, the number of the element that is read. Where a check has failed the index may be
 * anything: then it is the first one, unless a flag says that nothing is read. */
static void print_at(const struct kernel_text *x, const struct kernel_statement *s,
                     struct snippet index) {
  put(x->out, "const uint64_t at$0 = ", s->value);
  if (may_have_failed(x) && s->count == 1) fputs("!fine ? 0 : ", x->out);
  put_base(x, s);
  fprintf(x->out, " + %s;\n", index.text);
}

static void print_element_at(const struct kernel_text *x, const struct kernel_statement *s) {
  put_with(x->out, statement_type(s), "const $w v$0 = ", s->value);
  if (s->count > 1)
    put_with(
        x->out, statement_type(s),
        may_have_failed(x) ? "!v$0 || !fine ? ($w)0 : " : "!v$0 ? ($w)0 : ", s->operands[1]);
  put_element(x->out, &x->params[s->param], numbered("at", s->value).text);
  fputs(";\n", x->out);
}

/* Writes okV, whether an index is within its segment. */
static void print_within(const struct kernel_text *x, const struct kernel_statement *s,
                         struct snippet index) {
  put(x->out, "const INT ok$0 = ", s->value);
  if (s->count > 1) put(x->out, "!v$0 || ", s->operands[1]);
  fprintf(x->out, "%s < ", index.text);
  put_extent(x, s);
  fputs(";\n", x->out);
  fail_unless(x, s, "ok", s->value);
}

/* ---- by flags ---- */

/* Whether a gather with flags is printed by masks, of which gcc 12 makes vectors: where nothing
 * is to be read, the first element is, and does not count. */
static bool is_by_masks(const struct kernel_text *x, const struct kernel_statement *s) {
  return s->kind == KERNEL_GATHER && s->count > 1 && !x->single &&
         param_form(x, s->param) == FORM_VECTOR;
}

/* Writes fromV, from which is read: there is an element. */
void begin_gather(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (!is_by_masks(x, s)) return;
  put_with(x->out, statement_type(s), "const $w *from$0 = ", s->value);
  put_with(x->out, statement_type(s), "n$0 ? x$0 : (const $w *)&native_zero;\n",
           x->params[s->param].v);
}

static void print_by_masks(const struct kernel_text *x, const struct kernel_statement *s) {
  put(x->out, "const INT on$0 = -(INT)v$1;\n", s->value, s->operands[1]);
  if (s->checked) {
    put(x->out, "const INT ok$0 = -(INT)((uint64_t)v$1 < ", s->value, s->operands[0]);
    put_extent(x, s);
    put(x->out, ") | ~on$0;\n", s->value);
    fail_unless(x, s, "ok", s->value);
  }
  put(x->out, "const uint64_t at$0 = (", s->value);
  put_base(x, s);
  put(x->out, " + (uint64_t)v$0) & (uint64_t)(on$1", s->operands[0], s->value);
  if (s->checked) put(x->out, " & ok$0", s->value);
  fputs(may_have_failed(x) ? " & -fine);\n" : ");\n", x->out);
  put_with(x->out, statement_type(s), "const $w v$0 = on$0 ? from$0[at$0] : ($w)0;\n",
           s->value);
}

static void print_indexed(const struct kernel_text *x, const struct kernel_statement *s,
                          struct snippet index) {
  if (s->checked) print_within(x, s, index);
  print_at(x, s, index);
  print_element_at(x, s);
}

void print_gather(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (is_pointed(x, s))
    put_with(x->out, statement_type(s),
             s->stride > 0 ? "const $w v$0 = wi$0[i];\n"
                           : "const $w v$0 = wi$0[-(int64_t)i];\n",
             s->value);
  else if (is_by_masks(x, s))
    print_by_masks(x, s);
  else
    print_indexed(x, s, numbered("(uint64_t)v", s->operands[0]));
}
