/* kernel-results.c - statements that write results: stores, scans and reductions.
 *
 * Sums of FLOATs, whose order the tree fixes, are computed a block of positions at a time:
 * whole rows of it in the lanes of the tree. So are the greatest and least, in any order.
 */
#include "fused-kernels/loops/kernel-text.h"

#include <string.h>

const struct held *output_of(const struct kernel_text *x, uint32_t value) {
  for (uint32_t i = 0; i < x->op->output_count; i++) {
    if (x->op->outputs[i] == value) return &x->outputs[i];
  }
  return NULL;
}

uint32_t output_number(const struct kernel_text *x, const struct held *h) {
  return (uint32_t)(h - x->outputs);
}

static void take_unnamed(const struct kernel_text *x, uint32_t value, const char *size) {
  put_with(x->out, element_type((enum superop_kind)x->op->kinds[value]), "$w *r$0 = ", value);
  put_with(x->out, size, "native_take(r, $w, sizeof *r$0);\nif (!r$0) return 0;\n", value);
}

void take_result(const struct kernel_text *x, uint32_t value, const char *size) {
  const struct held *h = output_of(x, value);
  if (x->range) {
    put_with(x->out, element_type((enum superop_kind)x->op->kinds[value]),
             "$w *const r$0 = call->results[$1];\n", value, output_number(x, h));
    return;
  }
  if (!h) {
    take_unnamed(x, value, size);
    return;
  }
  if (h->form != FORM_SCALAR) {
    put_with(x->out, size, "n$0 = $w;\n", h->v);
    print_room(x->out, h);
  }
  put_with(x->out, element_type((enum superop_kind)x->op->kinds[value]),
           h->form == FORM_SCALAR ? "$w *const r$0 = &x$1;\n" : "$w *const r$0 = x$1;\n", value,
           h->v);
}

static void take_elements(const struct kernel_text *x, uint32_t k) {
  take_result(x, x->k->statements[k].output, "n");
}

/* ---- stores ---- */

static void print_store(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const struct held *h = output_of(x, s->output);
  if (x->plain && h->form == FORM_SCALAR)
    put(x->out, "x$0 = v$1;\n", h->v, s->operands[0]);
  else
    put_with(x->out, position(x), "r$0[$w] = v$1;\n", s->output, s->operands[0]);
}

const struct kernel_printers store_printers = {.before = take_elements,
                                               .at_position = print_store};

/* ---- reductions and scans ---- */

const struct combine_row *row_of(const struct kernel_statement *s) {
  return combine_row(opcode_info((enum opcode)s->op)->operation,
                     type_word_class((enum type_word)s->word));
}

/* aK, what the segment has accumulated. */
static void declare_accumulated(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  put_with(x->out, statement_type(s), "$w a$0 = ($w)", k);
  fprintf(x->out, "(%s);\n", row_of(s)->pad);
}

/* Combines what is accumulated with the element at the position. */
static void accumulate_in(const struct kernel_text *x, uint32_t k, struct snippet so_far) {
  const struct kernel_statement *s = &x->k->statements[k];
  const struct snippet next = numbered("v", s->operands[0]);
  fprintf(x->out, "%s = (%s)(", so_far.text, statement_type(s));
  emit_expression(row_of(s)->expression, 2, (const char *const[]){so_far.text, next.text},
                  x->out);
  fputs(");\n", x->out);
}

static void accumulate(const struct kernel_text *x, uint32_t k) {
  accumulate_in(x, k, numbered("a", k));
}

static void put_identity(const struct kernel_text *x, const struct kernel_statement *s) {
  fprintf(x->out, "(%s)(%s)", statement_type(s), row_of(s)->identity);
}

void take_block(const struct kernel_text *x, const char *type, const char *name, uint32_t k) {
  if (x->range)
    fprintf(x->out, "_Alignas(64) %s %s%u[BLOCK + LANES];\n", type, name, k);
  else
    fprintf(x->out, "%s *restrict const %s%u = SCRATCH(%s, %u);\n", type, name, k, type,
            (*x->scratch)++);
}

/* The totals of blocks. */
static void take_totals(const struct kernel_text *x, uint32_t k) {
  const uint32_t result = x->k->statements[k].output;
  const char *const template = !x->range
                                   ? "$w one$0, *b$0 = &one$0;\n"
                                     "if (n > BLOCK) {\n"
                                     "b$0 = native_take(r, n / BLOCK + 1, sizeof *b$0);\n"
                                     "if (!b$0) return 0;\n"
                                     "}\n"
                                   : "$w *const b$0 = call->part ? r$1 : call->totals[$2];\n";
  put_with(x->out, statement_type(&x->k->statements[k]), template, k, result,
           output_number(x, output_of(x, result)));
}

static void begin_reduction(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  take_result(x, s->output, "segments");
  if (is_extreme(s) && !x->single) {
    take_block(x, statement_type(s), "l", k);
  } else if (in_blocks(x, s)) {
    take_block(x, statement_type(s), "t", k);
    put_with(x->out, statement_type(s), "$w *const l$0 = t$0 + BLOCK;\n", k);
    take_totals(x, k);
  }
}

static void begin_segment_reduction(const struct kernel_text *x, uint32_t k) {
  if (in_blocks(x, &x->k->statements[k]))
    put(x->out, "uint64_t m$0 = 0;\n", k);
  else
    declare_accumulated(x, k);
}

static void begin_lanes(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (!in_lanes(x, s)) return;
  put_with(x->out, statement_type(s), "for (uint64_t j = 0; j < LANES; j++) l$0[j] = ($w)", k);
  fprintf(x->out, "(%s);\n", row_of(s)->pad);
}

static void print_reduction(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  struct snippet lane = numbered("l", k);
  if (x->rows && in_lanes(x, s)) {
    strcat(lane.text, "[j]");
    accumulate_in(x, k, lane);
  } else if (!in_blocks(x, s)) {
    accumulate(x, k);
  } else {
    put(x->out, "t$0[i - tail] = v$1;\n", k, s->operands[0]);
  }
}

/* Combines the lanes, if there were whole rows, with what else is accumulated. */
static void end_block_extreme(const struct kernel_text *x, uint32_t k) {
  const struct combine_row *row = row_of(&x->k->statements[k]);
  const char *type = statement_type(&x->k->statements[k]);
  const struct snippet all = numbered("a", k), lanes = numbered("l", k);
  char low[100], high[100];
  snprintf(low, sizeof low, "%s[j]", lanes.text);
  snprintf(high, sizeof high, "%s[j + w]", lanes.text);
  fprintf(x->out,
          "for (uint64_t w = from < tail ? LANES / 2 : 0; w > 0; w /= 2) {\n"
          "for (uint64_t j = 0; j < w; j++) %s = (%s)(",
          low, type);
  emit_expression(row->expression, 2, (const char *const[]){low, high}, x->out);
  fprintf(x->out, ");\n}\nif (from < tail) %s = (%s)(", all.text, type);
  snprintf(high, sizeof high, "%s[0]", lanes.text);
  emit_expression(row->expression, 2, (const char *const[]){all.text, high}, x->out);
  fputs(");\n", x->out);
}

static void end_block_reduction(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (is_extreme(s)) end_block_extreme(x, k);
  if (!in_blocks(x, s)) return;
  put(x->out, "b$0[m$0++] = native_rows_", k);
  emit_combination_name(row_of(s), x->out);
  put(x->out, "(l$0, tail - from, t$0, i - tail);\n", k);
}

/* Each block of a part has a total. Where the order does not matter the first one has all. */
static void give_totals(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (in_blocks(x, s)) {
    put(x->out, "(void)m$0;\n", k);
    return;
  }
  put(x->out, "for (uint64_t j = 1; j < (n + BLOCK - 1) / BLOCK; j++) r$0[j] = ", s->output);
  fprintf(x->out, "(%s)(%s);\n", statement_type(s), row_of(s)->pad);
  put(x->out, "r$0[0] = a$1;\n", s->output, k);
}

static void give_reduction(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  put(x->out, "r$0[g] = begin == end ? ", s->output);
  put_identity(x, s);
  if (in_blocks(x, s)) {
    fputs(" : native_total_", x->out);
    emit_combination_name(row_of(s), x->out);
    put(x->out, "(b$0, m$0);\n", k);
  } else {
    put(x->out, " : a$0;\n", k);
  }
}

static void end_segment_reduction(const struct kernel_text *x, uint32_t k) {
  if (x->range) {
    fputs("if (call->part) {\n", x->out);
    give_totals(x, k);
    fputs("} else {\n", x->out);
  }
  give_reduction(x, k);
  if (x->range) fputs("}\n", x->out);
}

const struct kernel_printers reduce_printers = {.before = begin_reduction,
                                                .at_segment = begin_segment_reduction,
                                                .before_rows = begin_lanes,
                                                .at_position = print_reduction,
                                                .after_block = end_block_reduction,
                                                .after_segment = end_segment_reduction};

/* Other scans are those of what has been written, by whoever calls if it is a range. */
static bool scans_at_once(const struct kernel_text *x, const struct kernel_statement *s) {
  return row_of(s)->exact && !(x->range && s->type == SUPEROP_FLOAT);
}

static void begin_segment_scan(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (!scans_at_once(x, s)) return;
  declare_accumulated(x, k);
  if (x->range)
    put(x->out,
        "if (call->part && !call->begins) memcpy(&a$0, &call->states[$1], sizeof a$0);\n", k,
        output_number(x, output_of(x, s->output)));
}

static void print_scan(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (!scans_at_once(x, s)) {
    put(x->out, "r$0[i] = v$1;\n", s->output, s->operands[0]);
    return;
  }
  if (x->range) { /* what a block is filled with is the identity of INTs and BOOLs */
    put(x->out, "r$0[i] = a$1;\n", s->output, k);
  } else {
    put(x->out, "r$0[i] = i == begin ? ", s->output);
    put_identity(x, s);
    put(x->out, " : a$0;\n", k);
  }
  accumulate(x, k);
}

static void end_segment_scan(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (x->range) {
    if (scans_at_once(x, s))
      put(x->out, "if (call->part) memcpy(&call->states[$1], &a$0, sizeof a$0);\n", k,
          output_number(x, output_of(x, s->output)));
    return;
  }
  if (row_of(s)->exact) return;
  fputs("if (!native_scan_", x->out);
  emit_combination_name(row_of(s), x->out);
  put(x->out, "(r, r$0 + begin, end - begin)) return 0;\n", s->output);
}

const struct kernel_printers scan_printers = {.before = take_elements,
                                              .at_segment = begin_segment_scan,
                                              .at_position = print_scan,
                                              .after_segment = end_segment_scan};
