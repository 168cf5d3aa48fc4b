/* print-function.c - a function as C: its bindings in their order, an IF as an if, a call as a
 * call. A function that ends by calling itself is a loop, whose rounds take memory from two
 * arenas in turn: what the next round is given is in one, what it makes in the other.
 */
#include "procedures/function-text.h"

/* ---- bindings ---- */

void print_condition(const struct function_text *x, const struct ir_binding *b) {
  const ir_var v = b->operands[0];
  require_one(x, v, FORM_SCALAR);
  put(out_of(x), form_of(x, v) == FORM_SCALAR ? "if (x$0) {\n" : "if (x$0[0]) {\n", v);
}

static void print_arm(const struct function_text *x, const struct ir_block *block,
                      const struct ir_binding *b) {
  print_bindings(x, block, block->count);
  if (block->end != IR_YIELD) {
    fputs("return 0;\n", out_of(x));
    return;
  }
  for (uint32_t i = 0; i < b->result_count; i++) assign(x, b->results[i], block->results[i]);
}

static void print_if(const struct function_text *x, const struct ir_binding *b) {
  for (uint32_t i = 0; i < b->result_count; i++) declare_variable(x, b->results[i]);
  print_condition(x, b);
  print_arm(x, b->as.arms.then, b);
  fputs("} else {\n", out_of(x));
  print_arm(x, b->as.arms.otherwise, b);
  fputs("}\n", out_of(x));
}

static void print_binding(const struct function_text *x, const struct ir_binding *b) {
  switch ((enum ir_form)b->form) {
  case IR_CONST: print_constant_binding(x, b); break;
  case IR_OP: print_operation(x, b); break;
  case IR_FUSED:
    print_superop(x, x->t->program->superops[b->as.superop], b->operands, b->results);
    break;
  case IR_CALL: print_call(x, b); break;
  case IR_IF: print_if(x, b); break;
  }
}

void print_bindings(const struct function_text *x, const struct ir_block *block,
                    uint32_t count) {
  const uint32_t first = first_recursive_call(x, block, count);
  for (uint32_t k = 0; k < count; k++) {
    if (k == first) list_calls(x, block, first, count);
    print_binding(x, &block->bindings[k]);
  }
}

/* ---- a function ---- */

void put_params(const struct procedures_text *t, uint32_t number,
                const char *const *templates) {
  const struct ir_function *f = &t->program->functions[number];
  for (uint32_t i = 0; i < f->param_count; i++) {
    const ir_var v = f->params[i];
    put_with(t->out, type_of_kind(f->vars[v]), templates[t->forms[number].of[v]], v);
  }
}

void print_params(const struct procedures_text *t, uint32_t number) {
  static const char *const params[] = {
      [FORM_SCALAR] = ", $w x$0",
      [FORM_VECTOR] = ", const $w *x$0, uint64_t n$0",
      [FORM_ONE] = ", uint64_t n$0",
      [FORM_SEGMENTS] = ", const uint64_t *o$0, uint64_t c$0",
  };
  put_params(t, number, params);
}

void print_head(struct procedures_text *t, uint32_t number) {
  static const char *const results[] = {
      [FORM_SCALAR] = ", $w *y$0",
      [FORM_VECTOR] = ", struct native_buffer *y$0",
      [FORM_ONE] = ", uint64_t *y$0",
      [FORM_SEGMENTS] = ", struct native_buffer *y$0",
  };
  const struct ir_function *f = &t->program->functions[number];
  const struct forms *forms = &t->forms[number];
  put(t->out, "HOT static _Bool p$0(struct native_thread *r", number);
  print_params(t, number);
  for (uint32_t i = 0; i < f->result_count; i++)
    put_with(t->out, type_of_kind(f->result_kinds[i]), results[forms->results[i]], i);
  fputs(")", t->out);
}

/* Where results begin that are computed in place. */
static void print_bases(const struct function_text *x) {
  for (uint32_t i = 0; i < x->f->result_count; i++) {
    if (x->forms->results[i] == FORM_VECTOR)
      put(out_of(x), "const uint64_t base$0 = y$0->n;\n(void)base$0;\n", i);
  }
}

void print_procedure(struct procedures_text *t, uint32_t number) {
  const struct ir_function *f = &t->program->functions[number];
  struct function_text x = {.t = t,
                            .f = f,
                            .forms = &t->forms[number],
                            .number = number,
                            .loops = calls_itself_last(f->body, number)};
  x.listed = arena_alloc(t->arena, f->var_count + 1);
  find_returned(&x);
  fprintf(t->out, "/* %s */\n", f->name->text);
  print_head(t, number);
  fputs(" {\n"
        "if (!native_enter(r)) return 0;\n"
        "const struct native_mark mark = native_mark(r);\n",
        t->out);
  print_bases(&x);
  if (x.loops)
    fputs("struct native_rounds rounds;\n"
          "if (!native_rounds_begin(r, &rounds)) return 0;\n"
          "for (;;) {\n",
          t->out);
  print_end(&x, f->body);
  fputs(x.loops ? "}\n}\n\n" : "}\n\n", t->out);
}
