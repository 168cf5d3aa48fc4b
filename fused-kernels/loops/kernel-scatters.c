/* kernel-scatters.c - scatters: elements that are written where an index says. A result begins
 * as its defaults, or as zeros. A PERMUTE must write each element once.
 *
 * A range has its results from the caller, and writes a block of positions at a time: tK and jK
 * are elements, and where they go. An element that is nowhere to go goes to SIZE_MAX.
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

static void begin_whole_scatter(const struct kernel_text *x, const struct kernel_statement *s) {
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

/* ---- ranges ---- */

static void begin_range_scatter(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const uint32_t output = output_number(x, output_of(x, s->output));
  take_result(x, s->output, NULL);
  put(x->out, "const uint64_t begin$0 = call->written[$1];\n", s->output, output);
  if (may_overlap(x, s))
    put(x->out, "const uint64_t low$0 = call->lows[$1], span$0 = call->spans[$1];\n", s->output,
        output);
  if (marks(s)) put(x->out, "uint8_t *const mark$0 = call->marks[$1];\n", s->output, output);
  if (!in_blocks(x, s)) return;
  take_block(x, statement_type(s), "t", k);
  take_block(x, "uint64_t", "j", k);
  if (may_overlap(x, s)) put_with(x->out, statement_type(s), "$w unused$0;\n", s->output);
}

/* Writes okV, whether an index is within its segment. */
static void require_in_segment(const struct kernel_text *x, const struct kernel_statement *s) {
  put(x->out, "const INT ok$0 = ", s->operands[1]);
  if (s->count > 2) put(x->out, "!v$0 | ", s->operands[2]);
  put(x->out, "((uint64_t)v$0 < ", s->operands[1]);
  put_extent(x, s);
  fputs(");\n", x->out);
  fail_unless(x, s, "ok", s->operands[1]);
}

static void print_in_block(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  fputs("{\n", x->out);
  if (s->checked) require_in_segment(x, s);
  put(x->out, "t$0[i - from] = v$1;\nj$0[i - from] = ", k, s->operands[0]);
  if (s->count > 2) put(x->out, "!v$0 ? SIZE_MAX : ", s->operands[2]);
  put(x->out, "begin$0 + ", s->output);
  put_base(x, s);
  put(x->out, " + (uint64_t)v$0;\n}\n", s->operands[1]);
}

/* There is no branch, which would be unpredictable where flags are. */
static void end_block_scatter(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (!in_blocks(x, s)) return;
  if (x->checks) fputs("if (bad) return 0;\n", x->out);
  put(x->out,
      "for (uint64_t j = 0; j < i - from; j++) {\n"
      "const uint64_t to = j$0[j];\n",
      k);
  if (marks(s)) put(x->out, "if (mark$0) mark$0[to] = 1;\n", s->output);
  put(x->out,
      may_overlap(x, s) ? "*(to - low$0 < span$0 ? r$0 + to : &unused$0) = t$1[j];\n}\n"
                        : "r$0[to] = t$1[j];\n}\n",
      s->output, k);
}

/* ---- before all positions, and at each ---- */

static void begin_scatter(const struct kernel_text *x, uint32_t k) {
  if (x->range)
    begin_range_scatter(x, k);
  else
    begin_whole_scatter(x, &x->k->statements[k]);
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

static void print_pointed(const struct kernel_text *x, const struct kernel_statement *s) {
  if (x->range && may_overlap(x, s))
    put(x->out, "if ((uint64_t)(wo$0 + i - r$0) - low$0 < span$0) ", s->output);
  put(x->out, "wo$0[i] = v$1;\n", s->output, s->operands[0]);
}

static void print_scatter(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (is_pointed(x, s))
    print_pointed(x, s);
  else if (x->range)
    print_in_block(x, k);
  else
    print_indexed(x, s);
}

const struct kernel_printers scatter_printers = {
    .before = begin_scatter, .at_position = print_scatter, .after_block = end_block_scatter};
