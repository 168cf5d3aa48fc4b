/* function-work.c - calls that other threads may make. Where a block has several calls that
 * lead to recursion, the later ones are listed (native.h) before the first is made, if their
 * operands are known by then. A call that has been given away is not made: its results are
 * there.
 */
#include "procedures/function-text.h"

/* ---- which calls ---- */

static bool is_recursive_call(const struct function_text *x, const struct ir_binding *b) {
  return b->form == IR_CALL && x->t->repeats[callee_of(x->t->program, b)];
}

static bool is_result(const struct ir_binding *b, ir_var v) {
  for (uint32_t i = 0; i < b->result_count; i++) {
    if (b->results[i] == v) return true;
  }
  return false;
}

/* Whether bindings from `first` on, before `end`, compute an operand of b. */
static bool waits_for(const struct ir_block *block, uint32_t first, uint32_t end,
                      const struct ir_binding *b) {
  for (uint32_t k = first; k < end; k++) {
    for (uint32_t i = 0; i < b->operand_count; i++) {
      if (is_result(&block->bindings[k], b->operands[i])) return true;
    }
  }
  return false;
}

/* A call without results, which only checks something, is not worth it. */
static bool may_list(const struct function_text *x, const struct ir_block *block,
                     uint32_t first, uint32_t k) {
  const struct ir_binding *b = &block->bindings[k];
  return is_recursive_call(x, b) && b->result_count > 0 &&
         !x->t->program->functions[b->as.callee].instances && !waits_for(block, first, k, b);
}

uint32_t first_recursive_call(const struct function_text *x, const struct ir_block *block,
                              uint32_t count) {
  for (uint32_t k = 0; k < count; k++) {
    if (is_recursive_call(x, &block->bindings[k])) return k;
  }
  return count;
}

/* ---- the struct of a call, and what makes the call for another thread ---- */

static bool is_buffer(const struct forms *of, uint32_t result) {
  return of->results[result] == FORM_VECTOR || of->results[result] == FORM_SEGMENTS;
}

/* The number of a result among those that are buffers. */
static uint32_t buffer_number(const struct forms *of, uint32_t result) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < result; i++) n += is_buffer(of, i);
  return n;
}

static void print_struct(const struct procedures_text *t, uint32_t number) {
  static const char *const params[] = {
      [FORM_SCALAR] = "$w x$0;\n",
      [FORM_VECTOR] = "const $w *x$0;\nuint64_t n$0;\n",
      [FORM_ONE] = "uint64_t n$0;\n",
      [FORM_SEGMENTS] = "const uint64_t *o$0;\nuint64_t c$0;\n",
  };
  const struct ir_function *f = &t->program->functions[number];
  const struct forms *forms = &t->forms[number];
  put(t->out, "struct v$0 {\nstruct native_ahead ahead;\n", number);
  put_params(t, number, params);
  for (uint32_t i = 0; i < f->result_count; i++) {
    if (forms->results[i] == FORM_ONE)
      put(t->out, "uint64_t z$0;\n", i);
    else if (!is_buffer(forms, i))
      put_with(t->out, type_of_kind(f->result_kinds[i]), "$w z$0;\n", i);
  }
  fputs("};\n\n", t->out);
}

static void print_part(const struct procedures_text *t, uint32_t number) {
  static const char *const params[] = {
      [FORM_SCALAR] = ", v->x$0",
      [FORM_VECTOR] = ", v->x$0, v->n$0",
      [FORM_ONE] = ", v->n$0",
      [FORM_SEGMENTS] = ", v->o$0, v->c$0",
  };
  const struct ir_function *f = &t->program->functions[number];
  const struct forms *forms = &t->forms[number];
  put(t->out,
      "NATIVE _Bool v$0_part(struct native_thread *r, struct native_ahead *ahead,\n"
      "uint64_t first, uint64_t last, struct native_pooled *const *y) {\n"
      "struct v$0 *v = (struct v$0 *)(void *)ahead;\n"
      "(void)first, (void)last, (void)y;\n"
      "return native_begin_part(r) && p$0(r",
      number);
  put_params(t, number, params);
  for (uint32_t i = 0; i < f->result_count; i++) {
    if (is_buffer(forms, i))
      put(t->out, ", &y[$0]->buffer", buffer_number(forms, i));
    else
      put(t->out, ", &v->z$0", i);
  }
  fputs(");\n}\n\n", t->out);
}

static void print_list(struct procedures_text *t, uint32_t number) {
  static const char *const params[] = {
      [FORM_SCALAR] = "v->x$0 = x$0;\n",
      [FORM_VECTOR] = "v->x$0 = x$0;\nv->n$0 = n$0;\n",
      [FORM_ONE] = "v->n$0 = n$0;\n",
      [FORM_SEGMENTS] = "v->o$0 = o$0;\nv->c$0 = c$0;\n",
  };
  const struct ir_function *f = &t->program->functions[number];
  const struct forms *forms = &t->forms[number];
  put(t->out, "NATIVE inline void v$0_list(struct native_thread *r, struct v$0 *v", number);
  print_params(t, number);
  put(t->out,
      ") {\n"
      "if (!native_lists(r)) return;\n"
      "v->ahead.next = 0;\n"
      "v->ahead.last = 1;\n"
      "v->ahead.run = v$0_part;\n"
      "v->ahead.result_count = $1;\n",
      number, buffer_number(forms, f->result_count));
  put_params(t, number, params);
  fputs("native_list(r, &v->ahead);\n}\n\n", t->out);
}

void print_call_work(struct procedures_text *t, uint32_t number) {
  print_struct(t, number);
  print_part(t, number);
  print_list(t, number);
}

/* ---- listing ---- */

static void list_call(const struct function_text *x, const struct ir_binding *b) {
  const struct ir_function *callee = &x->t->program->functions[b->as.callee];
  const uint8_t *of = x->t->forms[b->as.callee].of;
  const ir_var w = b->results[0];
  x->listed[w] = x->t->shares[x->number] = true;
  for (uint32_t i = 0; i < b->operand_count; i++)
    require_one(x, b->operands[i], (enum form)of[callee->params[i]]);
  put(out_of(x), "AHEAD(v$0, w$1);\nv$0_list(r, &w$1", b->as.callee, w);
  for (uint32_t i = 0; i < b->operand_count; i++) {
    const ir_var v = b->operands[i];
    print_argument(out_of(x), x->f->vars[v], v, form_of(x, v),
                   (enum form)of[callee->params[i]]);
  }
  fputs(");\n", out_of(x));
}

void list_calls(const struct function_text *x, const struct ir_block *block, uint32_t first,
                uint32_t count) {
  for (uint32_t k = count; k > first + 1; k--)
    if (may_list(x, block, first, k - 1)) list_call(x, &block->bindings[k - 1]);
}

/* ---- a call that may have been given away ---- */

static void join_result(const struct function_text *x, ir_var w, ir_var v, uint32_t result,
                        const struct forms *of) {
  if (of->results[result] == FORM_SCALAR)
    put(out_of(x), "x$0 = w$1.z$2;\n", v, w, result);
  else if (of->results[result] == FORM_ONE)
    put(out_of(x), "n$0 = w$1.z$2;\n", v, w, result);
  else if (x->placed[v])
    put_with(out_of(x), variable_type(x, v),
             "if (!native_append_part(&w$0.ahead, $1, y$2, sizeof($w))) return 0;\n", w,
             buffer_number(of, result), x->placed[v]->result);
  else
    put(out_of(x), "b$0 = native_adopt(&w$1.ahead, $2);\n", v, w, buffer_number(of, result));
}

void join_call(const struct function_text *x, const struct ir_binding *b) {
  const struct forms *of = &x->t->forms[b->as.callee];
  const ir_var w = b->results[0];
  put(out_of(x),
      "if (w$0.ahead.listed) native_unlist(&w$0.ahead);\n"
      "if (w$0.ahead.parts) {\n"
      "if (!r->join(r, w$0.ahead.parts)) return 0;\n",
      w);
  for (uint32_t i = 0; i < b->result_count; i++) join_result(x, w, b->results[i], i, of);
  put(out_of(x), "native_drop(&w$0.ahead);\n} else {\n", w);
}
