/* print-batch.c - the function that executes a range of the instances of a batch call by a
 * procedure, one after the other: each gets its part of the arguments, and appends its results
 * to those of the instances before.
 */
#include "procedures/private.h"

struct batch_text {
  const struct ir_function *lifted, *f; /* f: the procedure */
  const struct forms *forms;            /* of the procedure */
  FILE *out;
};

static struct batch_text batch_of(struct procedures_text *t, uint32_t lifted) {
  const struct ir_function *l = &t->program->functions[lifted];
  const uint32_t p = ir_procedure(l);
  return (struct batch_text){l, &t->program->functions[p], &t->forms[p], t->out};
}

static const struct ir_kind *param_kind(const struct batch_text *x, uint32_t i) {
  return x->f->vars[x->f->params[i]];
}

static enum form param_form(const struct batch_text *x, uint32_t i) {
  return (enum form)x->forms->of[x->f->params[i]];
}

/* The size of parameter i of the procedure, in numbers of its parameters. */
static uint32_t size_of(const struct batch_text *x, uint32_t i) {
  const uint32_t size = x->lifted->instances->params[i + 1];
  return size == IR_EACH || size == IR_SHARED ? size : size - 1;
}

void print_batch_head(struct procedures_text *t, uint32_t lifted) {
  const struct batch_text x = batch_of(t, lifted);
  put(x.out, "HOT static _Bool f$0(struct native_thread *r, uint64_t first, uint64_t last",
      lifted);
  for (uint32_t i = 0; i < x.f->param_count; i++)
    put_with(x.out, type_of_kind(param_kind(&x, i)),
             is_descriptor(param_kind(&x, i)) ? ", const uint64_t *o$0, uint64_t c$0"
                                              : ", const $w *x$0, uint64_t n$0",
             i);
  for (uint32_t i = 0; i < x.f->result_count; i++) put(x.out, ", struct native_buffer *y$0", i);
  fputs(")", x.out);
}

/* ---- arguments of an instance ---- */

/* Where the part of parameter i begins and how long it is: fromI, lenI. A descriptor's part is
 * of segments. */
static void print_part(const struct batch_text *x, uint32_t i) {
  const uint32_t size = size_of(x, i);
  if (size == IR_SHARED) return;
  if (size == IR_EACH)
    put(x->out, "const uint64_t from$0 = k, len$0 = 1;\n", i);
  else
    put(x->out,
        "const uint64_t from$0 = o$1[from$1] - o$1[0], "
        "len$0 = o$1[from$1 + len$1] - o$1[from$1];\n",
        i, size);
}

static void print_part_argument(const struct batch_text *x, uint32_t i) {
  static const char *const shared[] = {
      [FORM_SCALAR] = ", x$0[0]",
      [FORM_VECTOR] = ", x$0, n$0",
      [FORM_ONE] = ", o$0[1] - o$0[0]",
      [FORM_SEGMENTS] = ", o$0, c$0",
  };
  static const char *const parts[] = {
      [FORM_SCALAR] = ", x$0[from$0]",
      [FORM_VECTOR] = ", x$0 + from$0, len$0",
      [FORM_ONE] = ", o$0[from$0 + 1] - o$0[from$0]",
      [FORM_SEGMENTS] = ", o$0 + from$0, len$0",
  };
  const char *const *texts = size_of(x, i) == IR_SHARED ? shared : parts;
  put(x->out, texts[param_form(x, i)], i);
}

/* A shared parameter of which the procedure takes one element, or segment, has one. */
static void require_shared(const struct batch_text *x, uint32_t i) {
  if (size_of(x, i) != IR_SHARED) return;
  if (param_form(x, i) == FORM_SCALAR) put(x->out, "if (n$0 != 1) return 0;\n", i);
  if (param_form(x, i) == FORM_ONE) put(x->out, "if (c$0 != 1) return 0;\n", i);
}

/* ---- results of an instance ---- */

/* A result of which each instance has one. */
static bool is_single(const struct forms *forms, uint32_t i) {
  return forms->results[i] == FORM_SCALAR || forms->results[i] == FORM_ONE;
}

/* The type of what a result is appended as: a descriptor as lengths. */
static const char *result_type(const struct ir_function *f, uint32_t i) {
  return is_descriptor(f->result_kinds[i]) ? "uint64_t" : type_of_kind(f->result_kinds[i]);
}

static bool is_each(const struct batch_text *x, uint32_t i) {
  return x->lifted->instances->results[i] == IR_EACH;
}

static void take_results(const struct batch_text *x) {
  for (uint32_t i = 0; i < x->f->result_count; i++) {
    if (is_single(x->forms, i))
      put_with(x->out, result_type(x->f, i),
               "if (!native_room(r, y$0, last - first, sizeof($w))) return 0;\n", i);
  }
}

static void begin_result(const struct batch_text *x, uint32_t i) {
  if (is_single(x->forms, i))
    put_with(x->out, result_type(x->f, i), "$w z$0;\n", i);
  else if (is_each(x, i))
    put(x->out, "const uint64_t before$0 = y$0->n;\n", i);
}

static void end_result(const struct batch_text *x, uint32_t i) {
  if (is_single(x->forms, i))
    put_with(x->out, result_type(x->f, i), "(($w *)(void *)y$0->at)[y$0->n++] = z$0;\n", i);
  else if (is_each(x, i))
    put(x->out, "if (y$0->n != before$0 + 1) return 0;\n", i);
}

/* ---- work that other threads may take ---- */

/* The struct of a call's arguments, and what executes a part of its instances. */
static void print_work(const struct batch_text *x, uint32_t lifted) {
  put(x->out, "struct w$0 {\nstruct native_ahead ahead;\n", lifted);
  for (uint32_t i = 0; i < x->f->param_count; i++)
    put_with(x->out, type_of_kind(param_kind(x, i)),
             is_descriptor(param_kind(x, i)) ? "const uint64_t *o$0;\nuint64_t c$0;\n"
                                             : "const $w *x$0;\nuint64_t n$0;\n",
             i);
  put(x->out,
      "};\n\n"
      "static _Bool w$0_part(struct native_thread *r, struct native_ahead *ahead,\n"
      "uint64_t first, uint64_t last, struct native_pooled *const *y) {\n"
      "const struct w$0 *w = (const struct w$0 *)(const void *)ahead;\n"
      "(void)w;\n"
      "return native_begin_part(r) && f$0(r, first, last",
      lifted);
  for (uint32_t i = 0; i < x->f->param_count; i++)
    put(x->out, is_descriptor(param_kind(x, i)) ? ", w->o$0, w->c$0" : ", w->x$0, w->n$0", i);
  for (uint32_t i = 0; i < x->f->result_count; i++) put(x->out, ", &y[$0]->buffer", i);
  fputs(");\n}\n\n", x->out);
}

static void list_work(const struct batch_text *x, uint32_t lifted) {
  put(x->out,
      "AHEAD(w$0, w);\n"
      "w.ahead.last = last;\n"
      "if (last - first > 1 && native_lists(r)) {\n"
      "w.ahead.next = first;\n"
      "w.ahead.run = w$0_part;\n"
      "w.ahead.result_count = $1;\n",
      lifted, x->f->result_count);
  for (uint32_t i = 0; i < x->f->param_count; i++)
    put(x->out,
        is_descriptor(param_kind(x, i)) ? "w.o$0 = o$0;\nw.c$0 = c$0;\n"
                                        : "w.x$0 = x$0;\nw.n$0 = n$0;\n",
        i);
  fputs("native_list(r, &w.ahead);\n}\n", x->out);
}

static void join_parts(const struct batch_text *x) {
  fputs("return !w.ahead.parts || native_join_parts(&w.ahead,\n"
        "(struct native_buffer *[]){NULL",
        x->out);
  for (uint32_t i = 0; i < x->f->result_count; i++) put(x->out, ", y$0", i);
  fputs("} + 1, (const uint8_t[]){0", x->out);
  for (uint32_t i = 0; i < x->f->result_count; i++)
    put_with(x->out, result_type(x->f, i), ", sizeof($w)", i);
  fputs("} + 1);\n", x->out);
}

/* ---- all instances ---- */

static void print_instance(const struct batch_text *x) {
  for (uint32_t i = 0; i < x->f->param_count; i++) print_part(x, i);
  for (uint32_t i = 0; i < x->f->result_count; i++) begin_result(x, i);
  put(x->out, "if (!p$0(r", ir_procedure(x->lifted));
  for (uint32_t i = 0; i < x->f->param_count; i++) print_part_argument(x, i);
  for (uint32_t i = 0; i < x->f->result_count; i++)
    put(x->out, is_single(x->forms, i) ? ", &z$0" : ", y$0", i);
  fputs(")) return 0;\n", x->out);
  for (uint32_t i = 0; i < x->f->result_count; i++) end_result(x, i);
}

void print_batch(struct procedures_text *t, uint32_t lifted) {
  const struct batch_text x = batch_of(t, lifted);
  print_work(&x, lifted);
  print_batch_head(t, lifted);
  fputs(" {\n", x.out);
  take_results(&x);
  for (uint32_t i = 0; i < x.f->param_count; i++) require_shared(&x, i);
  list_work(&x, lifted);
  fputs("for (uint64_t k = first; k < w.ahead.last; k++) {\n"
        "w.ahead.next = k + 1;\n"
        "if (w.ahead.listed && k + 1 == w.ahead.last) native_unlist(&w.ahead);\n",
        x.out);
  print_instance(&x);
  fputs("}\n", x.out);
  join_parts(&x);
  fputs("}\n\n", x.out);
}

void print_entry(struct procedures_text *t, uint32_t lifted) {
  const struct batch_text x = batch_of(t, lifted);
  put(x.out,
      "HOT _Bool RAVEL_ENTRY(entry$0)(struct native_thread *r, uint64_t first, uint64_t last,\n"
      "    const struct native_value *a, struct native_buffer *y) {\n"
      "if (!native_begin(r)) return 0;\n"
      "return f$0(r, first, last",
      lifted);
  for (uint32_t i = 0; i < x.f->param_count; i++)
    put_with(x.out, is_descriptor(param_kind(&x, i)) ? "offsets" : "data",
             ", a[$0].$w, a[$0].n", i);
  for (uint32_t i = 0; i < x.f->result_count; i++) put(x.out, ", &y[$0]", i);
  fputs(");\n}\n\n", x.out);
}

/* ---- the program's entry function ---- */

static void print_main_argument(const struct procedures_text *t, const struct ir_function *f,
                                uint32_t i) {
  static const char *const texts[] = {
      [FORM_SCALAR] = ", *(const $w *)a[$0].data",
      [FORM_VECTOR] = ", a[$0].data, a[$0].n",
      [FORM_ONE] = ", a[$0].offsets[1]",
      [FORM_SEGMENTS] = ", a[$0].offsets, a[$0].n",
  };
  const ir_var v = f->params[i];
  put_with(t->out, type_of_kind(f->vars[v]), texts[t->forms[t->program->entry].of[v]], i);
}

static void print_main_call(const struct procedures_text *t, const struct ir_function *f,
                            const struct forms *forms) {
  put(t->out, "if (!p$0(r", t->program->entry);
  for (uint32_t i = 0; i < f->param_count; i++) print_main_argument(t, f, i);
  for (uint32_t i = 0; i < f->result_count; i++)
    put(t->out, is_single(forms, i) ? ", &z$0" : ", &y[$0]", i);
  fputs(")) return 0;\n", t->out);
}

void print_main_entry(struct procedures_text *t) {
  const struct ir_function *f = &t->program->functions[t->program->entry];
  const struct forms *forms = &t->forms[t->program->entry];
  fputs("HOT _Bool RAVEL_ENTRY(entry)(struct native_thread *r, uint64_t first, uint64_t last,\n"
        "    const struct native_value *a, struct native_buffer *y) {\n"
        "(void)first, (void)last, (void)a, (void)y;\n"
        "if (!native_begin(r)) return 0;\n",
        t->out);
  for (uint32_t i = 0; i < f->param_count; i++) {
    const uint8_t form = forms->of[f->params[i]];
    if (form == FORM_SCALAR || form == FORM_ONE)
      put(t->out, "if (a[$0].n != 1) return 0;\n", i);
  }
  for (uint32_t i = 0; i < f->result_count; i++)
    if (is_single(forms, i)) put_with(t->out, result_type(f, i), "$w z$0;\n", i);
  print_main_call(t, f, forms);
  for (uint32_t i = 0; i < f->result_count; i++) {
    if (is_single(forms, i))
      put(t->out, "if (!native_append(r, &y[$0], &z$0, 1, sizeof z$0)) return 0;\n", i);
  }
  fputs("return 1;\n}\n\n", t->out);
}
