/* print-batch.c - the function that executes a range of the instances of a batch call by a
 * procedure, one after the other: each gets its part of the arguments, and appends its results
 * to those of the instances before.
 */
#include "procedures/private.h"

struct batch_text {
  struct procedures_text *t;
  const struct ir_function *lifted, *f; /* f: the procedure */
  const struct forms *forms;            /* of the procedure */
  uint32_t number;                      /* of the lifted function */
  FILE *out;
};

static struct batch_text batch_of(struct procedures_text *t, uint32_t lifted) {
  const struct ir_function *l = &t->program->functions[lifted];
  const uint32_t p = ir_procedure(l);
  return (struct batch_text){t, l, &t->program->functions[p], &t->forms[p], lifted, t->out};
}

static bool is_descriptor(const struct ir_kind *kind) {
  return kind->tag == IR_SEGDES;
}

/* The size of parameter i of the procedure, in numbers of its parameters. */
static uint32_t size_of(const struct batch_text *x, uint32_t i) {
  const uint32_t size = x->lifted->instances->params[i + 1];
  return size == IR_EACH || size == IR_SHARED ? size : size - 1;
}

void print_batch_head(struct procedures_text *t, uint32_t lifted) {
  const struct batch_text x = batch_of(t, lifted);
  fprintf(x.out, "static _Bool f%u(struct native_thread *r, uint64_t first, uint64_t last",
          lifted);
  for (uint32_t i = 0; i < x.f->param_count; i++) {
    const struct ir_kind *kind = x.f->vars[x.f->params[i]];
    if (is_descriptor(kind))
      fprintf(x.out, ", const uint64_t *o%u, uint64_t c%u", i, i);
    else
      fprintf(x.out, ", const %s *x%u, uint64_t n%u", type_of_kind(kind), i, i);
  }
  for (uint32_t i = 0; i < x.f->result_count; i++)
    fprintf(x.out, ", struct native_buffer *y%u", i);
  fputs(")", x.out);
}

/* Where the part of parameter i begins and how long it is: fromI, lenI. A descriptor's part is
 * of segments. */
static void print_part(const struct batch_text *x, uint32_t i) {
  const uint32_t size = size_of(x, i);
  if (size == IR_SHARED) return;
  if (size == IR_EACH) {
    fprintf(x->out, "const uint64_t from%u = k, len%u = 1;\n", i, i);
    return;
  }
  fprintf(x->out,
          "const uint64_t from%u = o%u[from%u] - o%u[0], len%u = o%u[from%u + len%u] - "
          "o%u[from%u];\n",
          i, size, size, size, i, size, size, size, size, size);
}

static void print_part_argument(const struct batch_text *x, uint32_t i) {
  const struct ir_kind *kind = x->f->vars[x->f->params[i]];
  const enum form form = (enum form)x->forms->of[x->f->params[i]];
  const bool shared = size_of(x, i) == IR_SHARED;
  switch (form) {
  case FORM_SCALAR: fprintf(x->out, shared ? ", x%u[0]" : ", x%u[from%u]", i, i); break;
  case FORM_VECTOR:
    fprintf(x->out, shared ? ", x%u, n%u" : ", x%u + from%u, len%u", i, i, i);
    break;
  case FORM_ONE:
    fprintf(x->out, shared ? ", o%u[1] - o%u[0]" : ", o%u[from%u + 1] - o%u[from%u]", i, i, i,
            i);
    break;
  case FORM_SEGMENTS:
    fprintf(x->out, shared ? ", o%u, c%u" : ", o%u + from%u, len%u", i, i, i);
    break;
  case FORM_SAME:
  case FORM_LENGTHS:
  case FORM_STARTS: break; /* of no parameter */
  }
  (void)kind;
}

/* A shared parameter of which the procedure takes one element, or segment, has one. */
static void require_shared(const struct batch_text *x, uint32_t i) {
  const enum form form = (enum form)x->forms->of[x->f->params[i]];
  if (size_of(x, i) != IR_SHARED) return;
  if (form == FORM_SCALAR) fprintf(x->out, "if (n%u != 1) return 0;\n", i);
  if (form == FORM_ONE) fprintf(x->out, "if (c%u != 1) return 0;\n", i);
}

/* A result of which each instance has one. */
static bool is_single(const struct batch_text *x, uint32_t i) {
  return x->forms->results[i] == FORM_SCALAR || x->forms->results[i] == FORM_ONE;
}

static void print_result(const struct batch_text *x, uint32_t i) {
  const struct ir_kind *kind = x->f->result_kinds[i];
  if (is_single(x, i))
    fprintf(x->out, "((%s *)(void *)y%u->at)[y%u->n++] = z%u;\n",
            is_descriptor(kind) ? "uint64_t" : type_of_kind(kind), i, i, i);
  else if (x->lifted->instances->results[i] == IR_EACH)
    fprintf(x->out, "if (y%u->n != before%u + 1) return 0;\n", i, i);
}

void print_batch(struct procedures_text *t, uint32_t lifted) {
  const struct batch_text x = batch_of(t, lifted);
  print_batch_head(t, lifted);
  fputs(" {\n", x.out);
  for (uint32_t i = 0; i < x.f->result_count; i++) {
    const struct ir_kind *kind = x.f->result_kinds[i];
    if (is_single(&x, i))
      fprintf(x.out, "if (!native_room(r, y%u, last - first, sizeof(%s))) return 0;\n", i,
              is_descriptor(kind) ? "uint64_t" : type_of_kind(kind));
  }
  for (uint32_t i = 0; i < x.f->param_count; i++) require_shared(&x, i);
  fputs("for (uint64_t k = first; k < last; k++) {\n", x.out);
  for (uint32_t i = 0; i < x.f->param_count; i++) print_part(&x, i);
  for (uint32_t i = 0; i < x.f->result_count; i++) {
    const struct ir_kind *kind = x.f->result_kinds[i];
    if (is_single(&x, i))
      fprintf(x.out, "%s z%u;\n", is_descriptor(kind) ? "uint64_t" : type_of_kind(kind), i);
    else if (x.lifted->instances->results[i] == IR_EACH)
      fprintf(x.out, "const uint64_t before%u = y%u->n;\n", i, i);
  }
  fprintf(x.out, "if (!p%u(r", ir_procedure(x.lifted));
  for (uint32_t i = 0; i < x.f->param_count; i++) print_part_argument(&x, i);
  for (uint32_t i = 0; i < x.f->result_count; i++)
    fprintf(x.out, is_single(&x, i) ? ", &z%u" : ", y%u", i);
  fputs(")) return 0;\n", x.out);
  for (uint32_t i = 0; i < x.f->result_count; i++) print_result(&x, i);
  fputs("}\nreturn 1;\n}\n\n", x.out);
}

void print_entry(struct procedures_text *t, uint32_t lifted) {
  const struct batch_text x = batch_of(t, lifted);
  fprintf(x.out,
          "_Bool RAVEL_ENTRY(entry%u)(struct native_thread *r, uint64_t first, uint64_t last,\n"
          "    const struct native_value *a, struct native_buffer *y) {\n"
          "native_begin(r);\nreturn f%u(r, first, last",
          lifted, lifted);
  for (uint32_t i = 0; i < x.f->param_count; i++)
    fprintf(x.out,
            is_descriptor(x.f->vars[x.f->params[i]]) ? ", a[%u].offsets, a[%u].n"
                                                     : ", a[%u].data, a[%u].n",
            i, i);
  for (uint32_t i = 0; i < x.f->result_count; i++) fprintf(x.out, ", &y[%u]", i);
  fputs(");\n}\n\n", x.out);
}

/* ---- the program's entry function ---- */

static void print_main_argument(const struct procedures_text *t, uint32_t i) {
  const struct ir_function *f = &t->program->functions[t->program->entry];
  const struct forms *forms = &t->forms[t->program->entry];
  const char *type = type_of_kind(f->vars[f->params[i]]);
  switch ((enum form)forms->of[f->params[i]]) {
  case FORM_SCALAR: fprintf(t->out, ", *(const %s *)a[%u].data", type, i); break;
  case FORM_VECTOR: fprintf(t->out, ", a[%u].data, a[%u].n", i, i); break;
  case FORM_ONE: fprintf(t->out, ", a[%u].offsets[1]", i); break;
  case FORM_SEGMENTS: fprintf(t->out, ", a[%u].offsets, a[%u].n", i, i); break;
  case FORM_SAME:
  case FORM_LENGTHS:
  case FORM_STARTS: break; /* of no parameter */
  }
}

static bool is_main_single(const struct procedures_text *t, uint32_t i) {
  const enum form form = (enum form)t->forms[t->program->entry].results[i];
  return form == FORM_SCALAR || form == FORM_ONE;
}

static const char *main_result_type(const struct procedures_text *t, uint32_t i) {
  const struct ir_kind *kind = t->program->functions[t->program->entry].result_kinds[i];
  return is_descriptor(kind) ? "uint64_t" : type_of_kind(kind);
}

void print_main_entry(struct procedures_text *t) {
  const struct ir_function *f = &t->program->functions[t->program->entry];
  const struct forms *forms = &t->forms[t->program->entry];
  fputs("_Bool RAVEL_ENTRY(entry)(struct native_thread *r, uint64_t first, uint64_t last,\n"
        "    const struct native_value *a, struct native_buffer *y) {\n"
        "(void)first, (void)last, (void)a, (void)y;\nnative_begin(r);\n",
        t->out);
  for (uint32_t i = 0; i < f->param_count; i++) {
    const uint8_t form = forms->of[f->params[i]];
    if (form == FORM_SCALAR || form == FORM_ONE)
      fprintf(t->out, "if (a[%u].n != 1) return 0;\n", i);
  }
  for (uint32_t i = 0; i < f->result_count; i++) {
    if (is_main_single(t, i)) fprintf(t->out, "%s z%u;\n", main_result_type(t, i), i);
  }
  fprintf(t->out, "if (!p%u(r", t->program->entry);
  for (uint32_t i = 0; i < f->param_count; i++) print_main_argument(t, i);
  for (uint32_t i = 0; i < f->result_count; i++)
    fprintf(t->out, is_main_single(t, i) ? ", &z%u" : ", &y[%u]", i);
  fputs(")) return 0;\n", t->out);
  for (uint32_t i = 0; i < f->result_count; i++) {
    if (is_main_single(t, i))
      fprintf(t->out, "if (!native_append(r, &y[%u], &z%u, 1, sizeof z%u)) return 0;\n", i, i,
              i);
  }
  fputs("return 1;\n}\n\n", t->out);
}
