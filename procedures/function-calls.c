/* function-calls.c - calls: of a function, and of a lifted function for many instances. Results
 * that are vectors come in buffers; some are appended where the caller wants them.
 */
#include "procedures/function-text.h"

static const char give_up[] = ")) return 0;\n";

/* ---- results ---- */

static void take_buffer(const struct function_text *x, ir_var v) {
  put(out_of(x), "struct native_pooled *b$0 = native_pooled(r);\nif (!b$0) return 0;\n", v);
}

/* A result that a call appends to a buffer of its caller: moves the end of the buffer there. */
static void begin_placed(const struct function_text *x, ir_var v) {
  const struct placed *p = x->placed[v];
  put(out_of(x), "const uint64_t at$0 = base$1", v, p->result);
  for (uint32_t i = 0; i < p->count; i++) put(out_of(x), " + n$0", p->before[i]);
  put_with(
      out_of(x), variable_type(x, v),
      ";\nif (at$0 > y$1->n && !native_room(r, y$1, at$0 - y$1->n, sizeof($w))) return 0;\n"
      "y$1->n = at$0;\n",
      v, p->result);
}

static void segments_from_buffer(const struct function_text *x, ir_var v) {
  put(out_of(x),
      "const uint64_t c$0 = b$0->buffer.n;\n"
      "uint64_t *o$0 = native_offsets(r, b$0->buffer.at, c$0);\n"
      "if (!o$0) return 0;\n",
      v);
}

/* In a round of a loop it is a copy, for the buffer is given back with those of the round. */
static void vector_from_buffer(const struct function_text *x, ir_var v) {
  put(out_of(x), "const uint64_t n$0 = b$0->buffer.n;\n", v);
  put_with(out_of(x), variable_type(x, v),
           x->loops ? "$w *x$0 = native_take(r, n$0, sizeof *x$0);\n"
                      "if (!x$0) return 0;\n"
                      "if (n$0) memcpy(x$0, b$0->buffer.at, n$0 * sizeof *x$0);\n"
                    : "$w *x$0 = ($w *)(void *)b$0->buffer.at;\n",
           v);
}

/* A result of which there is one element, or segment, for each of one instance. */
static void one_from_buffer(const struct function_text *x, ir_var v) {
  put(out_of(x), "if (b$0->buffer.n != 1) return 0;\n", v);
  put_with(out_of(x), variable_type(x, v),
           form_of(x, v) == FORM_SCALAR
               ? "const $w x$0 = *($w *)(void *)b$0->buffer.at;\n"
               : "const uint64_t n$0 = *(uint64_t *)(void *)b$0->buffer.at;\n",
           v);
}

static void from_buffer(const struct function_text *x, ir_var v) {
  if (form_of(x, v) == FORM_SEGMENTS)
    segments_from_buffer(x, v);
  else if (form_of(x, v) == FORM_VECTOR)
    vector_from_buffer(x, v);
  else
    one_from_buffer(x, v);
}

/* ---- batch calls ---- */

static void print_batch_argument(const struct function_text *x, ir_var v) {
  const struct ir_kind *kind = x->f->vars[v];
  print_argument(out_of(x), kind, v, form_of(x, v),
                 is_descriptor(kind) ? FORM_SEGMENTS : FORM_VECTOR);
}

static void print_batch_call(const struct function_text *x, const struct ir_binding *b) {
  for (uint32_t i = 0; i < b->result_count; i++) take_buffer(x, b->results[i]);
  x->t->shares[x->number] = true;
  put_with(out_of(x), length_of(x, b->operands[0]).text, "if (!f$0(r, 0, $w", b->as.callee);
  for (uint32_t i = 1; i < b->operand_count; i++) print_batch_argument(x, b->operands[i]);
  for (uint32_t i = 0; i < b->result_count; i++)
    put(out_of(x), ", &b$0->buffer", b->results[i]);
  fputs(give_up, out_of(x));
  for (uint32_t i = 0; i < b->result_count; i++) from_buffer(x, b->results[i]);
}

/* ---- calls ---- */

static void begin_called(const struct function_text *x, ir_var v, enum form form, bool listed) {
  if (form == FORM_SCALAR)
    put_with(out_of(x), variable_type(x, v), "$w x$0;\n", v);
  else if (form == FORM_ONE)
    put(out_of(x), "uint64_t n$0;\n", v);
  else if (x->placed[v])
    begin_placed(x, v);
  else if (listed)
    put(out_of(x), "struct native_pooled *b$0;\n", v);
  else
    take_buffer(x, v);
}

/* A call that might have been given away takes its buffers when it is made. */
static void take_called(const struct function_text *x, ir_var v, enum form form) {
  if ((form == FORM_VECTOR || form == FORM_SEGMENTS) && !x->placed[v])
    put(out_of(x), "b$0 = native_pooled(r);\nif (!b$0) return 0;\n", v);
}

static void put_called(const struct function_text *x, ir_var v, enum form form) {
  if (form == FORM_SCALAR)
    put(out_of(x), ", &x$0", v);
  else if (form == FORM_ONE)
    put(out_of(x), ", &n$0", v);
  else if (x->placed[v])
    put(out_of(x), ", y$0", x->placed[v]->result);
  else
    put(out_of(x), ", &b$0->buffer", v);
}

static void end_called(const struct function_text *x, ir_var v, enum form form) {
  if (x->placed[v])
    put(out_of(x), "const uint64_t n$0 = y$1->n - at$0;\n", v, x->placed[v]->result);
  else if (form == FORM_VECTOR || form == FORM_SEGMENTS)
    from_buffer(x, v);
}

static void print_direct_call(const struct function_text *x, const struct ir_binding *b) {
  const struct ir_function *callee = &x->t->program->functions[b->as.callee];
  const struct forms *of = &x->t->forms[b->as.callee];
  const bool listed = b->result_count > 0 && x->listed[b->results[0]];
  for (uint32_t i = 0; i < b->result_count; i++)
    begin_called(x, b->results[i], (enum form)of->results[i], listed);
  if (listed) join_call(x, b);
  for (uint32_t i = 0; listed && i < b->result_count; i++)
    take_called(x, b->results[i], (enum form)of->results[i]);
  for (uint32_t i = 0; i < b->operand_count; i++)
    require_one(x, b->operands[i], (enum form)of->of[callee->params[i]]);
  put(out_of(x), "if (!p$0(r", b->as.callee);
  for (uint32_t i = 0; i < b->operand_count; i++) {
    const ir_var v = b->operands[i];
    print_argument(out_of(x), x->f->vars[v], v, form_of(x, v),
                   (enum form)of->of[callee->params[i]]);
  }
  for (uint32_t i = 0; i < b->result_count; i++)
    put_called(x, b->results[i], (enum form)of->results[i]);
  fputs(give_up, out_of(x));
  if (listed) fputs("}\n", out_of(x));
  for (uint32_t i = 0; i < b->result_count; i++)
    end_called(x, b->results[i], (enum form)of->results[i]);
}

void print_call(const struct function_text *x, const struct ir_binding *b) {
  if (x->t->program->functions[b->as.callee].instances)
    print_batch_call(x, b);
  else
    print_direct_call(x, b);
}
