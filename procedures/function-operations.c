/* function-operations.c - operations: on scalars, superoperators, and those that are no part of
 * one: lengths and descriptors, sorts and ranks, REPLACE.
 */
#include "procedures/function-text.h"

/* ---- scalars ---- */

static bool all_scalars(const struct function_text *x, const struct ir_binding *b) {
  for (uint32_t i = 0; i < b->operand_count; i++) {
    if (form_of(x, b->operands[i]) != FORM_SCALAR) return false;
  }
  return opcode_info((enum opcode)b->op)->klass == OC_ELEMENTWISE;
}

static void put_expression(const struct function_text *x, const struct ir_binding *b,
                           const char *text) {
  struct snippet names[MAX_OPERANDS];
  const char *operands[MAX_OPERANDS];
  for (uint32_t i = 0; i < b->operand_count; i++) {
    names[i] = numbered("x", b->operands[i]);
    operands[i] = names[i].text;
  }
  emit_expression(text, b->operand_count, operands, out_of(x));
}

static void print_scalar(const struct function_text *x, const struct ir_binding *b) {
  const struct map_row *row = opcode_map_row((enum opcode)b->op, (enum type_word)b->type);
  if (row->condition) {
    fputs("if (!(", out_of(x));
    put_expression(x, b, row->condition);
    fputs(")) return 0;\n", out_of(x));
  }
  put_with(out_of(x), variable_type(x, b->results[0]), "const $w x$0 = ($w)(", b->results[0]);
  put_expression(x, b, row->expression);
  fputs(");\n", out_of(x));
}

/* ---- superoperators ---- */

static struct held *all_held(const struct function_text *x, const ir_var *vars,
                             uint32_t count) {
  struct held *held = arena_alloc(x->t->arena, (count + 1) * sizeof *held);
  for (uint32_t i = 0; i < count; i++) held[i] = held_of(x, vars[i]);
  return held;
}

void print_superop(const struct function_text *x, const struct superop *op,
                   const ir_var *operands, const ir_var *results) {
  const struct held *params = all_held(x, operands, op->param_count);
  const struct held *outputs = all_held(x, results, op->output_count);
  if (op->copies)
    print_copies(x->t, op, params, outputs, x->f->var_count, x->loops);
  else
    print_in_text(x->t, op, params, outputs, x->loops);
}

bool is_kernel(const struct function_text *x, const struct ir_binding *b) {
  if (b->form == IR_FUSED) return true;
  return b->form == IR_OP && !all_scalars(x, b) &&
         operation_as_superop(x->t->arena, b, x->f) != NULL;
}

/* ---- lengths and descriptors ---- */

static void print_length(const struct function_text *x, const struct ir_binding *b) {
  put_with(out_of(x), length_of(x, b->operands[0]).text, "const INT x$0 = (INT)$w;\n",
           b->results[0]);
}

/* Takes room for INTs: as many as an expression says. */
static void take_ints(const struct function_text *x, ir_var v, struct snippet count) {
  put_with(out_of(x), count.text,
           "const uint64_t n$0 = $w;\n"
           "INT *x$0 = native_take(r, n$0, sizeof *x$0);\n"
           "if (!x$0) return 0;\n",
           v);
}

static void print_lengths(const struct function_text *x, const struct ir_binding *b) {
  const ir_var d = b->operands[0], v = b->results[0];
  if (form_of(x, v) == FORM_LENGTHS) return;
  if (form_of(x, v) == FORM_SCALAR) {
    put(out_of(x), "const INT x$0 = (INT)n$1;\n", v, d);
    return;
  }
  take_ints(x, v, numbered("c", d));
  put(out_of(x), "for (uint64_t k = 0; k < n$0; k++) x$0[k] = (INT)(o$1[k + 1] - o$1[k]);\n", v,
      d);
}

/* Writes a descriptor of segments as long as the INTs of a vector say. */
static void segments_from(const struct function_text *x, ir_var d, ir_var v,
                          const char *lengths) {
  put_with(out_of(x), lengths,
           "const uint64_t c$0 = n$1;\n"
           "uint64_t *o$0 = native_segments(r, $w$1, c$0);\n"
           "if (!o$0) return 0;\n",
           d, v);
}

/* All segments are equally long. */
static void segments_of_same(const struct function_text *x, ir_var d, ir_var v) {
  put(out_of(x),
      "INT *all$0 = native_take(r, n$0, sizeof *all$0);\n"
      "if (!all$0) return 0;\n"
      "for (uint64_t k = 0; k < n$0; k++) all$0[k] = x$0;\n",
      v);
  segments_from(x, d, v, "all");
}

static void segments_of_starts(const struct function_text *x, ir_var d, ir_var v, ir_var from) {
  take_ints(x, v, numbered("c", from));
  put(out_of(x), "for (uint64_t k = 0; k < n$0; k++) x$0[k] = (INT)(o$1[k] - o$1[0]);\n", v,
      from);
  segments_from(x, d, v, "x");
}

static void print_make_segdes(const struct function_text *x, const struct ir_binding *b) {
  const ir_var v = b->operands[0], d = b->results[0], from = x->forms->base[v];
  switch (form_of(x, v)) {
  case FORM_LENGTHS:
    put(out_of(x),
        "uint64_t *o$0 = (uint64_t *)o$1;\n"
        "const uint64_t c$0 = c$1;\n",
        d, from);
    break;
  case FORM_SAME: segments_of_same(x, d, v); break;
  case FORM_STARTS: segments_of_starts(x, d, v, from); break;
  default:
    if (form_of(x, d) == FORM_ONE)
      put(out_of(x), "if (x$1 < 0) return 0;\nconst uint64_t n$0 = (uint64_t)x$1;\n", d, v);
    else
      segments_from(x, d, v, "x");
  }
}

/* ---- segments in order, and with other elements ---- */

/* Declares a result as long as a vector, and takes room for it: toV points there. */
static void begin_result(const struct function_text *x, ir_var v, ir_var like) {
  if (form_of(x, v) == FORM_SCALAR) {
    put_with(out_of(x), variable_type(x, v), "$w x$0, *const to$0 = &x$0;\n", v);
    return;
  }
  put_with(out_of(x), length_of(x, like).text, "const uint64_t n$0 = $w;\n", v);
  put_with(out_of(x), variable_type(x, v),
           "$w *x$0 = native_take(r, n$0, sizeof *x$0);\n"
           "if (!x$0) return 0;\n"
           "$w *const to$0 = x$0;\n",
           v);
}

/* Writes a loop over the segments of a descriptor, up to its brace: segment g is `begin` to
 * `end`. */
static void begin_segments(const struct function_text *x, ir_var d) {
  if (form_of(x, d) == FORM_ONE)
    put(out_of(x), "{\nconst uint64_t g = 0, begin = 0, end = n$0;\n(void)g;\n", d);
  else
    put(out_of(x),
        "for (uint64_t g = 0; g < c$0; g++) {\n"
        "const uint64_t begin = o$0[g] - o$0[0], end = o$0[g + 1] - o$0[0];\n",
        d);
}

static void require_total(const struct function_text *x, ir_var v, ir_var d) {
  const struct held vector = held_of(x, v), descriptor = held_of(x, d);
  require_equal(out_of(x), &vector, &descriptor);
}

static void print_ordered(const struct function_text *x, const struct ir_binding *b) {
  const ir_var v = b->operands[0], d = b->operands[1], to = b->results[0];
  const bool sorts = b->op == OPC_SORT_UP || b->op == OPC_SORT_DOWN;
  const bool down = b->op == OPC_RANK_DOWN || b->op == OPC_SORT_DOWN;
  require_total(x, v, d);
  begin_result(x, to, v);
  begin_segments(x, d);
  put_with(out_of(x), sorts ? "sort" : "rank", "if (begin < end && !r->$w(r->with, $0, $1, ",
           x->f->vars[v]->tag == IR_FLOAT, down);
  put_elements(x, v);
  put(out_of(x), " + begin, end - begin, to$0 + begin)) return 0;\n}\n", to);
}

/* There is one element for each segment. */
static void require_each(const struct function_text *x, ir_var v, ir_var d) {
  if (form_of(x, d) == FORM_SEGMENTS)
    put_with(out_of(x), length_of(x, v).text, "if ($w != c$0) return 0;\n", d);
  else
    require_one(x, v, FORM_SCALAR);
}

/* Writes to a segment: the element at a position becomes another one. */
static void print_replaced(const struct function_text *x, ir_var to, ir_var at, ir_var with) {
  fputs("const uint64_t at = (uint64_t)", out_of(x));
  put_elements(x, at);
  put(out_of(x), "[g];\nif (at >= end - begin) return 0;\nto$0[begin + at] = ", to);
  put_elements(x, with);
  fputs("[g];\n", out_of(x));
}

static void print_replace(const struct function_text *x, const struct ir_binding *b) {
  const ir_var v = b->operands[0], d = b->operands[3], to = b->results[0];
  require_total(x, v, d);
  begin_result(x, to, v);
  put(out_of(x), "memcpy(to$0, ", to);
  put_elements(x, v);
  put_with(out_of(x), length_of(x, v).text, ", $w * sizeof *to$0);\n", to);
  require_each(x, b->operands[1], d);
  require_each(x, b->operands[2], d);
  begin_segments(x, d);
  print_replaced(x, to, b->operands[1], b->operands[2]);
  fputs("}\n", out_of(x));
}

/* ---- an operation ---- */

typedef void operation_printer(const struct function_text *, const struct ir_binding *);

/* The function for an operation that is no part of superoperators; or NULL. */
static operation_printer *printer_of(enum opcode op) {
  switch (op) {
  case OPC_LENGTH: return print_length;
  case OPC_LENGTHS: return print_lengths;
  case OPC_MAKE_SEGDES: return print_make_segdes;
  case OPC_REPLACE: return print_replace;
  case OPC_RANK_UP:
  case OPC_RANK_DOWN:
  case OPC_SORT_UP:
  case OPC_SORT_DOWN: return print_ordered;
  default: return NULL;
  }
}

void print_operation(const struct function_text *x, const struct ir_binding *b) {
  operation_printer *print = printer_of((enum opcode)b->op);
  if (all_scalars(x, b))
    print_scalar(x, b);
  else if (print)
    print(x, b);
  else
    print_superop(x, operation_as_superop(x->t->arena, b, x->f), b->operands, b->results);
}

bool may_print_operation(struct arena *arena, const struct ir_binding *b,
                         const struct ir_function *f) {
  return printer_of((enum opcode)b->op) || operation_as_superop(arena, b, f);
}
