/* kernel-packs.c - statements that keep elements whose flag is T, a block of positions at a
 * time: behind each block a loop of its own packs what its positions have written. A range
 * appends to what is there.
 */
#include "fused-kernels/loops/kernel-text.h"

/* The parameter whose elements are packed as they are; SUPEROP_NONE: computed ones are. */
static uint32_t packed_param(const struct kernel_text *x, const struct kernel_statement *s) {
  for (uint32_t k = 0; k < x->k->count; k++) {
    const struct kernel_statement *from = &x->k->statements[k];
    if (from->value != s->operands[0] || from->kind != KERNEL_LOAD) continue;
    return param_form(x, from->param) == FORM_VECTOR ? from->param : SUPEROP_NONE;
  }
  return SUPEROP_NONE;
}

static const struct held *kept_elements(const struct kernel_text *x,
                                        const struct kernel_statement *s) {
  return output_of(x, s->output);
}

/* The descriptor of what is kept, if it is an output that is held so. */
static const struct held *kept_segments(const struct kernel_text *x,
                                        const struct kernel_statement *s, enum form form) {
  const struct held *d = output_of(x, s->output + 1);
  return d && d->form == form ? d : NULL;
}

bool packs(const struct kernel_text *x, const struct kernel_statement *s) {
  return s->kind == KERNEL_KEEP && kept_elements(x, s) != NULL;
}

/* Declares kR, how many elements are kept so far. */
static void declare_kept(const struct kernel_text *x, const struct kernel_statement *s) {
  const struct held *h = kept_elements(x, s), *counted = h ? h : output_of(x, s->output + 1);
  if (x->range)
    put(x->out, "uint64_t k$0 = call->kept[$1];\n", s->output, output_number(x, counted));
  else
    put(x->out, "uint64_t k$0 = 0;\n", s->output);
}

static void take_segments(const struct kernel_text *x, const struct held *d) {
  if (x->range)
    put(x->out, "uint64_t *const o$0 = call->results[$1];\n", d->v, output_number(x, d));
  else
    put(x->out,
        "c$0 = segments;\n"
        "o$0 = native_take(r, c$0 + 1, sizeof *o$0);\n"
        "if (!o$0) return 0;\n"
        "o$0[0] = 0;\n",
        d->v);
}

static void begin_pack(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const struct held *d = kept_segments(x, s, FORM_SEGMENTS);
  if (packs(x, s)) take_result(x, s->output, "n");
  declare_kept(x, s);
  if (in_blocks(x, s)) take_block(x, "INT", "f", k);
  if (in_blocks(x, s) && packed_param(x, s) == SUPEROP_NONE)
    take_block(x, statement_type(s), "t", k);
  if (d) take_segments(x, d);
}

static void print_pack(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  if (!in_blocks(x, s)) {
    if (packs(x, s)) put(x->out, "r$0[k$0] = v$1;\n", s->output, s->operands[0]);
    put(x->out, "k$0 += v$1;\n", s->output, s->operands[1]);
    return;
  }
  put(x->out, "f$0[i - from] = v$1 ? -1 : 0;\n", k, s->operands[1]);
  if (packed_param(x, s) == SUPEROP_NONE)
    put(x->out, "t$0[i - from] = v$1;\n", k, s->operands[0]);
}

static void end_block_pack(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const uint32_t param = packed_param(x, s);
  if (!packs(x, s)) return;
  put_with(x->out, statement_type(s), "k$0 += native_keep_$w(", s->output);
  if (param == SUPEROP_NONE)
    put(x->out, "t$0", k);
  else
    put(x->out, "x$0 + from", x->params[param].v);
  put(x->out, ", f$0, i - from, r$1 + k$1);\n", k, s->output);
}

static void end_segment_pack(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const struct held *d = kept_segments(x, s, FORM_SEGMENTS);
  if (d) put(x->out, "o$0[g + 1] = k$1;\n", d->v, s->output);
}

/* Says of an output of a range how many elements are kept. */
static void give_kept(const struct kernel_text *x, const struct kernel_statement *s,
                      const struct held *h) {
  if (h) put(x->out, "call->kept[$0] = k$1;\n", output_number(x, h), s->output);
}

static void end_pack(const struct kernel_text *x, uint32_t k) {
  const struct kernel_statement *s = &x->k->statements[k];
  const struct held *h = kept_elements(x, s), *d = kept_segments(x, s, FORM_ONE);
  if (x->range) {
    give_kept(x, s, h);
    give_kept(x, s, output_of(x, s->output + 1));
    return;
  }
  if (h && h->form == FORM_VECTOR) put(x->out, "n$0 = k$1;\n", h->v, s->output);
  if (d) put(x->out, "n$0 = k$1;\n", d->v, s->output);
}

const struct kernel_printers keep_printers = {.before = begin_pack,
                                              .at_position = print_pack,
                                              .after_block = end_block_pack,
                                              .after_segment = end_segment_pack,
                                              .after = end_pack};
