/* kernel-scatters.c - scatters: elements that are written where an index says. A result begins
 * as its defaults, or as zeros. A PERMUTE must write each element once.
 */
#include "fused-kernels/loops/kernel-text.h"

/* Fills a result that has sizeR elements. */
static void print_defaults(const struct kernel_text *x, const struct kernel_statement *s) {
  const uint32_t result = s->output;
  if (s->param == SUPEROP_NONE) {
    put(x->out, "memset(r$0, 0, size$0 * sizeof *r$0);\n", result);
    return;
  }
  put(x->out, "if (size$0) memcpy(r$0, ", result);
  put_data(x->out, &x->params[s->param]);
  put(x->out, ", size$0 * sizeof *r$0);\n", result);
}

static bool marks(const struct kernel_statement *s) {
  return s->checked && s->op == OPC_PERMUTE;
}

static void begin_scatter(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  put_with(x->out, size_of(x, x->op->sizes[s->output]).text, "uint64_t size$0 = $w;\n",
           s->output);
  take_result(x, s->output, numbered("size", s->output).text);
  print_defaults(x, s);
  if (marks(s))
    put(x->out,
        "uint8_t *mark$0 = native_take(r, size$0, 1);\n"
        "if (!mark$0) return 0;\n"
        "memset(mark$0, 0, size$0);\n",
        s->output);
}

/* Writes `at`, the number of the element that is written. */
static void print_index(const struct kernel_text *x, const struct kernel_statement *s) {
  put(x->out, "const uint64_t index = (uint64_t)v$0, at = ", s->operands[1]);
  put_base(x, s);
  fputs(" + index;\n", x->out);
}

static void require_index(const struct kernel_text *x, const struct kernel_statement *s) {
  fputs("if (index >= ", x->out);
  put_extent(x, s);
  fputs(") return 0;\n", x->out);
}

static void print_indexed(const struct kernel_text *x, const struct kernel_statement *s) {
  fputs("{\n", x->out);
  print_index(x, s);
  if (s->count > 2) put(x->out, "if (v$0) {\n", s->operands[2]);
  if (s->checked) require_index(x, s);
  if (marks(s)) put(x->out, "bad |= mark$0[at];\nmark$0[at] = 1;\n", s->output);
  put(x->out,
      may_have_failed(x) && !s->checked ? "if (fine) r$0[at] = v$1;\n" : "r$0[at] = v$1;\n",
      s->output, s->operands[0]);
  fputs(s->count > 2 ? "}\n}\n" : "}\n", x->out);
}

static void print_scatter(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (is_pointed(x, s))
    put(x->out, "wo$0[i] = v$1;\n", s->output, s->operands[0]);
  else
    print_indexed(x, s);
}

const struct kernel_printers scatter_printers = {.before = begin_scatter,
                                                 .at_position = print_scatter};
