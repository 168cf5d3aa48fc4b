/* function-variables.c - variables of a function: types, declarations, assignments, constants.
 */
#include "procedures/function-text.h"

#include "ir/constant.h"

#include <inttypes.h>

const char *type_of_kind(const struct ir_kind *kind) {
  return kind->tag == IR_FLOAT ? "FLOAT" : kind->tag == IR_BOOL ? "uint8_t" : "INT";
}

const char *variable_type(const struct function_text *x, ir_var v) {
  return type_of_kind(x->f->vars[v]);
}

struct held held_of(const struct function_text *x, ir_var v) {
  return (struct held){.v = v,
                       .form = (uint8_t)form_of(x, v),
                       .placed = x->placed[v] != NULL,
                       .base = x->forms->base[v],
                       .constant = x->forms->constant[v],
                       .append = x->returned[v]};
}

struct snippet length_of(const struct function_text *x, ir_var v) {
  const struct held h = held_of(x, v);
  return held_length(&h);
}

void put_elements(const struct function_text *x, ir_var v) {
  const struct held h = held_of(x, v);
  put_data(out_of(x), &h);
}

/* ---- forms ---- */

const char *conversion_text(const struct conversion *c, enum form has, enum form wanted) {
  return has == wanted ? c->same[wanted] : c->other[wanted];
}

static const struct conversion arguments = {
    .same = {[FORM_SCALAR] = ", x$0",
             [FORM_VECTOR] = ", x$0, n$0",
             [FORM_ONE] = ", n$0",
             [FORM_SEGMENTS] = ", o$0, c$0"},
    .other = {[FORM_SCALAR] = ", x$0[0]",
              [FORM_VECTOR] = ", ($w[]){x$0}, 1",
              [FORM_ONE] = ", o$0[1] - o$0[0]",
              [FORM_SEGMENTS] = ", (uint64_t[]){0, n$0}, 1"}};

void print_argument(FILE *out, const struct ir_kind *kind, ir_var v, enum form has,
                    enum form wanted) {
  put_with(out, type_of_kind(kind), conversion_text(&arguments, has, wanted), v);
}

void declare_variable(const struct function_text *x, ir_var v) {
  static const char *const declarations[] = {
      [FORM_SCALAR] = "$w x$0 = 0;\n",
      [FORM_VECTOR] = "$w *x$0 = 0; uint64_t n$0 = 0;\n",
      [FORM_ONE] = "uint64_t n$0 = 0;\n",
      [FORM_SEGMENTS] = "uint64_t *o$0 = 0, c$0 = 0;\n",
  };
  put_with(out_of(x), variable_type(x, v), declarations[form_of(x, v)], v);
}

void require_one(const struct function_text *x, ir_var v, enum form wanted) {
  if (wanted == FORM_SCALAR && form_of(x, v) == FORM_VECTOR)
    put(out_of(x), "if (n$0 != 1) return 0;\n", v);
  if (wanted == FORM_ONE && form_of(x, v) == FORM_SEGMENTS)
    put(out_of(x), "if (c$0 != 1) return 0;\n", v);
}

static const struct conversion assignments = {
    .same = {[FORM_SCALAR] = "x$0 = x$1;\n",
             [FORM_VECTOR] = "x$0 = ($w *)x$1; n$0 = n$1;\n",
             [FORM_ONE] = "n$0 = n$1;\n",
             [FORM_SEGMENTS] = "o$0 = (uint64_t *)o$1; c$0 = c$1;\n"},
    .other = {[FORM_SCALAR] = "x$0 = x$1[0];\n",
              [FORM_VECTOR] = "x$0 = native_take(r, 1, sizeof *x$0);\n"
                              "if (!x$0) return 0;\n"
                              "x$0[0] = x$1; n$0 = 1;\n",
              [FORM_ONE] = "n$0 = o$1[1] - o$1[0];\n",
              [FORM_SEGMENTS] = "o$0 = native_take(r, 2, sizeof *o$0);\n"
                                "if (!o$0) return 0;\n"
                                "o$0[0] = 0; o$0[1] = n$1; c$0 = 1;\n"}};

void assign(const struct function_text *x, ir_var to, ir_var from) {
  const enum form has = form_of(x, from), wanted = form_of(x, to);
  require_one(x, from, wanted);
  put_with(out_of(x), variable_type(x, to), conversion_text(&assignments, has, wanted), to,
           from);
}

/* ---- constants ---- */

static void print_scalar_constant(const struct function_text *x, const struct vcode_constant *c,
                                  ir_var v) {
  const struct cvl_value e = constant_element(x->t->program->widths, c, 0);
  put_with(
      out_of(x), variable_type(x, v),
      form_of(x, v) == FORM_ONE ? "const uint64_t n$0 = (uint64_t)" : "const $w x$0 = ", v);
  emit_literal(&e, out_of(x));
  fputs(";\n", out_of(x));
}

static void print_vector_constant(const struct function_text *x, const struct vcode_constant *c,
                                  ir_var v) {
  FILE *out = out_of(x);
  put_with(out, variable_type(x, v), "static const $w constant$0[] = {", v);
  for (uint64_t i = 0; i < c->length; i++) {
    const struct cvl_value e = constant_element(x->t->program->widths, c, i);
    emit_literal(&e, out);
    fputs(",", out);
  }
  put_with(out, variable_type(x, v),
           "0};\nconst $w *x$0 = constant$0; const uint64_t n$0 = ", v);
  fprintf(out, "%" PRIu64 ";\n", c->length);
}

/* The starts of segments, and the end of the last one. */
static void print_segments_constant(const struct function_text *x,
                                    const struct vcode_constant *c, ir_var v) {
  FILE *out = out_of(x);
  uint64_t sum = 0;
  put(out, "static const uint64_t constant$0[] = {", v);
  for (uint64_t i = 0; i < c->length; i++) {
    const struct cvl_value e = constant_element(x->t->program->widths, c, i);
    fprintf(out, "%" PRIu64 ",", sum);
    sum += (uint64_t)cvl_int_of(&e);
  }
  fprintf(out, "%" PRIu64 "};\n", sum);
  put(out, "const uint64_t *o$0 = constant$0, c$0 = ", v);
  fprintf(out, "%" PRIu64 ";\n", c->length);
}

void print_constant_binding(const struct function_text *x, const struct ir_binding *b) {
  const ir_var v = b->results[0];
  if (form_of(x, v) == FORM_SCALAR || form_of(x, v) == FORM_ONE)
    print_scalar_constant(x, b->as.constant, v);
  else if (form_of(x, v) == FORM_SEGMENTS)
    print_segments_constant(x, b->as.constant, v);
  else
    print_vector_constant(x, b->as.constant, v);
}
