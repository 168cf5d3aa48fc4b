/* print-function.c - a function as C: its bindings in their order, an IF as an if, a call as a
 * call. A function that ends by calling itself is a loop, whose rounds take memory from two
 * arenas in turn: what the next round is given is in one, what it makes in the other.
 */
#include "ir/constant.h"
#include "procedures/private.h"

#include <inttypes.h>

const char *type_of_kind(const struct ir_kind *kind) {
  return kind->tag == IR_FLOAT ? "FLOAT" : kind->tag == IR_BOOL ? "uint8_t" : "INT";
}

static bool is_descriptor(const struct ir_kind *kind) {
  return kind->tag == IR_SEGDES;
}

static FILE *out_of(const struct function_text *x) {
  return x->t->out;
}

static enum form form_of(const struct function_text *x, ir_var v) {
  return (enum form)x->forms->of[v];
}

static const struct ir_kind *kind_of(const struct function_text *x, ir_var v) {
  return x->f->vars[v];
}

/* ---- variables ---- */

static void declare(const struct function_text *x, ir_var v) {
  const char *type = type_of_kind(kind_of(x, v));
  switch (form_of(x, v)) {
  case FORM_SCALAR: fprintf(out_of(x), "%s x%u = 0;\n", type, v); break;
  case FORM_VECTOR: fprintf(out_of(x), "%s *x%u = 0; uint64_t n%u = 0;\n", type, v, v); break;
  case FORM_ONE: fprintf(out_of(x), "uint64_t n%u = 0;\n", v); break;
  case FORM_SEGMENTS: fprintf(out_of(x), "uint64_t *o%u = 0, c%u = 0;\n", v, v); break;
  case FORM_SAME:
  case FORM_LENGTHS:
  case FORM_STARTS: break; /* of no result of an IF */
  }
}

void print_argument(struct procedures_text *t, const struct ir_kind *kind, ir_var v,
                    enum form has, enum form wanted) {
  FILE *out = t->out;
  if (has == wanted && has == FORM_SCALAR)
    fprintf(out, ", x%u", v);
  else if (has == wanted && has == FORM_VECTOR)
    fprintf(out, ", x%u, n%u", v, v);
  else if (has == wanted && has == FORM_ONE)
    fprintf(out, ", n%u", v);
  else if (has == wanted)
    fprintf(out, ", o%u, c%u", v, v);
  else if (wanted == FORM_VECTOR)
    fprintf(out, ", (%s[]){x%u}, 1", type_of_kind(kind), v);
  else if (wanted == FORM_SEGMENTS)
    fprintf(out, ", (uint64_t[]){0, n%u}, 1", v);
  else if (wanted == FORM_SCALAR)
    fprintf(out, ", x%u[0]", v);
  else
    fprintf(out, ", o%u[1] - o%u[0]", v, v);
}

/* What is to be of one element, or segment, and is held as a vector, is looked at. */
static void require_one(const struct function_text *x, ir_var v, enum form wanted) {
  if (wanted == FORM_SCALAR && form_of(x, v) == FORM_VECTOR)
    fprintf(out_of(x), "if (n%u != 1) return 0;\n", v);
  if (wanted == FORM_ONE && form_of(x, v) == FORM_SEGMENTS)
    fprintf(out_of(x), "if (c%u != 1) return 0;\n", v);
}

/* to = from, where `to` is held as a vector if `from` is. */
static void assign(const struct function_text *x, ir_var to, ir_var from) {
  FILE *out = out_of(x);
  const enum form has = form_of(x, from), wanted = form_of(x, to);
  const char *type = type_of_kind(kind_of(x, to));
  require_one(x, from, wanted);
  switch (wanted) {
  case FORM_SCALAR:
    fprintf(out, has == FORM_SCALAR ? "x%u = x%u;\n" : "x%u = x%u[0];\n", to, from);
    break;
  case FORM_VECTOR:
    if (has == FORM_VECTOR)
      fprintf(out, "x%u = (%s *)x%u; n%u = n%u;\n", to, type, from, to, from);
    else
      fprintf(out,
              "x%u = native_take(r, 1, sizeof *x%u);\nif (!x%u) return 0;\n"
              "x%u[0] = x%u; n%u = 1;\n",
              to, to, to, to, from, to);
    break;
  case FORM_ONE:
    if (has == FORM_ONE)
      fprintf(out, "n%u = n%u;\n", to, from);
    else
      fprintf(out, "n%u = o%u[1] - o%u[0];\n", to, from, from);
    break;
  case FORM_SEGMENTS:
    if (has == FORM_SEGMENTS)
      fprintf(out, "o%u = (uint64_t *)o%u; c%u = c%u;\n", to, from, to, from);
    else
      fprintf(out,
              "o%u = native_take(r, 2, sizeof *o%u);\nif (!o%u) return 0;\n"
              "o%u[0] = 0; o%u[1] = n%u; c%u = 1;\n",
              to, to, to, to, to, from, to);
    break;
  case FORM_SAME:
  case FORM_LENGTHS:
  case FORM_STARTS: break; /* never */
  }
}

/* ---- constants ---- */

enum { CONSTANT_MOST = 4096 }; /* elements */

static void print_constant(const struct function_text *x, const struct ir_binding *b) {
  FILE *out = out_of(x);
  const struct vcode_constant *c = b->as.constant;
  const struct widths w = x->t->program->widths;
  const ir_var v = b->results[0];
  const char *type = type_of_kind(kind_of(x, v));
  if (form_of(x, v) == FORM_SCALAR || form_of(x, v) == FORM_ONE) {
    const struct cvl_value e = constant_element(w, c, 0);
    if (form_of(x, v) == FORM_ONE)
      fprintf(out, "const uint64_t n%u = (uint64_t)", v);
    else
      fprintf(out, "const %s x%u = ", type, v);
    emit_literal(&e, out);
    fputs(";\n", out);
    return;
  }
  const bool segments = form_of(x, v) == FORM_SEGMENTS;
  uint64_t sum = 0;
  fprintf(out, "static const %s constant%u[] = {", segments ? "uint64_t" : type, v);
  for (uint64_t i = 0; i < c->length; i++) {
    const struct cvl_value e = constant_element(w, c, i);
    if (segments)
      fprintf(out, "%" PRIu64 ",", sum);
    else
      emit_literal(&e, out), fputs(",", out);
    if (segments) sum += (uint64_t)cvl_int_of(&e);
  }
  fprintf(out, segments ? "%" PRIu64 "};\n" : "0};\n", sum);
  if (segments)
    fprintf(out, "const uint64_t *o%u = constant%u, c%u = %" PRIu64 ";\n", v, v, v, c->length);
  else
    fprintf(out, "const %s *x%u = constant%u; const uint64_t n%u = %" PRIu64 ";\n", type, v, v,
            v, c->length);
}

/* ---- operations ---- */

static bool all_scalars(const struct function_text *x, const struct ir_binding *b) {
  for (uint32_t i = 0; i < b->operand_count; i++) {
    if (form_of(x, b->operands[i]) != FORM_SCALAR) return false;
  }
  return opcode_info((enum opcode)b->op)->klass == OC_ELEMENTWISE;
}

static void put_scalar_expression(const struct function_text *x, const struct ir_binding *b,
                                  const char *text) {
  char names[3][16];
  const char *operands[3];
  for (uint32_t i = 0; i < b->operand_count && i < 3; i++) {
    snprintf(names[i], sizeof names[i], "x%u", b->operands[i]);
    operands[i] = names[i];
  }
  emit_expression(text, b->operand_count, operands, out_of(x));
}

static void print_scalar(const struct function_text *x, const struct ir_binding *b) {
  const struct map_row *row = opcode_map_row((enum opcode)b->op, (enum type_word)b->type);
  const char *type = type_of_kind(kind_of(x, b->results[0]));
  if (row->condition) {
    fputs("if (!(", out_of(x));
    put_scalar_expression(x, b, row->condition);
    fputs(")) return 0;\n", out_of(x));
  }
  fprintf(out_of(x), "const %s x%u = (%s)(", type, b->results[0], type);
  put_scalar_expression(x, b, row->expression);
  fputs(");\n", out_of(x));
}

static void print_superop(const struct function_text *x, const struct superop *op,
                          const ir_var *operands, const ir_var *results) {
  struct arena *arena = x->t->arena;
  struct held *params = arena_alloc(arena, (op->param_count + 1) * sizeof *params);
  struct held *outputs = arena_alloc(arena, (op->output_count + 1) * sizeof *outputs);
  for (uint32_t p = 0; p < op->param_count; p++)
    params[p] = (struct held){.v = operands[p],
                              .form = (uint8_t)form_of(x, operands[p]),
                              .placed = x->placed[operands[p]] != NULL,
                              .base = x->forms->base[operands[p]],
                              .constant = x->forms->constant[operands[p]]};
  for (uint32_t i = 0; i < op->output_count; i++)
    outputs[i] = (struct held){.v = results[i],
                               .form = (uint8_t)form_of(x, results[i]),
                               .append = x->returned[results[i]]};
  if (op->copies)
    print_copies(x->t, op, params, outputs, x->f->var_count, x->loops);
  else
    print_kernel(x->t, op, params, outputs);
}

static void put_length(const struct function_text *x, ir_var v) {
  switch (form_of(x, v)) {
  case FORM_SCALAR: fputs("UINT64_C(1)", out_of(x)); break;
  case FORM_VECTOR:
  case FORM_ONE: fprintf(out_of(x), "n%u", v); break;
  case FORM_SEGMENTS: fprintf(out_of(x), "(o%u[c%u] - o%u[0])", v, v, v); break;
  case FORM_SAME: fprintf(out_of(x), "n%u", v); break;
  case FORM_LENGTHS:
  case FORM_STARTS: fprintf(out_of(x), "c%u", x->forms->base[v]); break;
  }
}

/* Writes where the elements of a vector are. */
static void put_data_old(const struct function_text *x, ir_var v) {
  fprintf(out_of(x), form_of(x, v) == FORM_SCALAR ? "(&x%u)" : "x%u", v);
}

static void print_lengths(const struct function_text *x, const struct ir_binding *b) {
  FILE *out = out_of(x);
  const ir_var d = b->operands[0], v = b->results[0];
  if (form_of(x, v) == FORM_LENGTHS) return;
  if (form_of(x, v) == FORM_SCALAR) {
    fprintf(out, "const INT x%u = (INT)n%u;\n", v, d);
    return;
  }
  fprintf(out,
          "const uint64_t n%u = c%u;\nINT *x%u = native_take(r, n%u, sizeof *x%u);\n"
          "if (!x%u) return 0;\nfor (uint64_t k = 0; k < n%u; k++) x%u[k] = (INT)(o%u[k + 1] - "
          "o%u[k]);\n",
          v, d, v, v, v, v, v, v, d, d);
}

static void print_make_segdes(const struct function_text *x, const struct ir_binding *b) {
  FILE *out = out_of(x);
  const ir_var v = b->operands[0], d = b->results[0], from = x->forms->base[v];
  if (form_of(x, v) == FORM_LENGTHS) {
    fprintf(out, "uint64_t *o%u = (uint64_t *)o%u;\nconst uint64_t c%u = c%u;\n", d, from, d,
            from);
    return;
  }
  if (form_of(x, v) == FORM_SAME) {
    fprintf(out,
            "INT *all%u = native_take(r, n%u, sizeof *all%u);\nif (!all%u) return 0;\n"
            "for (uint64_t k = 0; k < n%u; k++) all%u[k] = x%u;\n"
            "const uint64_t c%u = n%u;\nuint64_t *o%u = native_segments(r, all%u, c%u);\n"
            "if (!o%u) return 0;\n",
            v, v, v, v, v, v, v, d, v, d, v, d, d);
    return;
  }
  if (form_of(x, v) == FORM_STARTS) {
    fprintf(out,
            "const uint64_t n%u = c%u;\nINT *x%u = native_take(r, n%u, sizeof *x%u);\n"
            "if (!x%u) return 0;\n"
            "for (uint64_t k = 0; k < n%u; k++) x%u[k] = (INT)(o%u[k] - o%u[0]);\n",
            v, from, v, v, v, v, v, v, from, from);
  }
  if (form_of(x, d) == FORM_ONE)
    fprintf(out, "if (x%u < 0) return 0;\nconst uint64_t n%u = (uint64_t)x%u;\n", v, d, v);
  else
    fprintf(out,
            "const uint64_t c%u = n%u;\nuint64_t *o%u = native_segments(r, x%u, c%u);\n"
            "if (!o%u) return 0;\n",
            d, v, d, v, d, d);
}

/* Declares a result as long as a vector, and takes room for it: toV points there. */
static void begin_result(const struct function_text *x, ir_var v, ir_var like) {
  FILE *out = out_of(x);
  const char *type = type_of_kind(kind_of(x, v));
  if (form_of(x, v) == FORM_SCALAR) {
    fprintf(out, "%s x%u, *const to%u = &x%u;\n", type, v, v, v);
    return;
  }
  fprintf(out, "const uint64_t n%u = ", v);
  put_length(x, like);
  fprintf(out,
          ";\n%s *x%u = native_take(r, n%u, sizeof *x%u);\nif (!x%u) return 0;\n"
          "%s *const to%u = x%u;\n",
          type, v, v, v, v, type, v, v);
}

/* Writes a loop over the segments of a descriptor, up to its brace: segment g is `begin` to
 * `end`. */
static void begin_segments(const struct function_text *x, ir_var d) {
  if (form_of(x, d) == FORM_ONE)
    fprintf(out_of(x), "{\nconst uint64_t g = 0, begin = 0, end = n%u;\n(void)g;\n", d);
  else
    fprintf(out_of(x),
            "for (uint64_t g = 0; g < c%u; g++) {\n"
            "const uint64_t begin = o%u[g] - o%u[0], end = o%u[g + 1] - o%u[0];\n",
            d, d, d, d, d);
}

static void require_total(const struct function_text *x, ir_var v, ir_var d) {
  fputs("if (", out_of(x));
  put_length(x, v);
  fputs(" != ", out_of(x));
  put_length(x, d);
  fputs(") return 0;\n", out_of(x));
}

static void print_ordered(const struct function_text *x, const struct ir_binding *b) {
  const ir_var v = b->operands[0], d = b->operands[1], to = b->results[0];
  const bool sorts = b->op == OPC_SORT_UP || b->op == OPC_SORT_DOWN;
  const bool down = b->op == OPC_RANK_DOWN || b->op == OPC_SORT_DOWN;
  require_total(x, v, d);
  begin_result(x, to, v);
  begin_segments(x, d);
  fprintf(out_of(x), "if (begin < end && !r->%s(r->with, %d, %d, ", sorts ? "sort" : "rank",
          kind_of(x, v)->tag == IR_FLOAT, down);
  put_data_old(x, v);
  fprintf(out_of(x), " + begin, end - begin, to%u + begin)) return 0;\n}\n", to);
}

static void print_replace(const struct function_text *x, const struct ir_binding *b) {
  const ir_var v = b->operands[0], at = b->operands[1], with = b->operands[2],
               d = b->operands[3], to = b->results[0];
  FILE *out = out_of(x);
  require_total(x, v, d);
  begin_result(x, to, v);
  fprintf(out, "memcpy(to%u, ", to);
  put_data_old(x, v);
  fputs(", ", out);
  put_length(x, v);
  fprintf(out, " * sizeof *to%u);\n", to);
  if (form_of(x, d) == FORM_SEGMENTS) {
    for (int k = 1; k < 3; k++) {
      fputs("if (", out);
      put_length(x, b->operands[k]);
      fprintf(out, " != c%u) return 0;\n", d);
    }
  } else {
    require_one(x, at, FORM_SCALAR);
    require_one(x, with, FORM_SCALAR);
  }
  begin_segments(x, d);
  fputs("if ((uint64_t)", out);
  put_data_old(x, at);
  fprintf(out, "[g] >= end - begin) return 0;\nto%u[begin + (uint64_t)", to);
  put_data_old(x, at);
  fputs("[g]] = ", out);
  put_data_old(x, with);
  fputs("[g];\n}\n", out);
}

static void print_operation(const struct function_text *x, const struct ir_binding *b) {
  if (all_scalars(x, b)) {
    print_scalar(x, b);
    return;
  }
  switch ((enum opcode)b->op) {
  case OPC_LENGTH:
    fprintf(out_of(x), "const INT x%u = (INT)", b->results[0]);
    put_length(x, b->operands[0]);
    fputs(";\n", out_of(x));
    return;
  case OPC_LENGTHS: print_lengths(x, b); return;
  case OPC_MAKE_SEGDES: print_make_segdes(x, b); return;
  case OPC_REPLACE: print_replace(x, b); return;
  case OPC_RANK_UP:
  case OPC_RANK_DOWN:
  case OPC_SORT_UP:
  case OPC_SORT_DOWN: print_ordered(x, b); return;
  default: break;
  }
  print_superop(x, operation_as_superop(x->t->arena, x->t->program->widths, b, x->f),
                b->operands, b->results);
}

bool may_print_operation(struct arena *arena, struct widths widths, const struct ir_binding *b,
                         const struct ir_function *f) {
  switch ((enum opcode)b->op) {
  case OPC_LENGTH:
  case OPC_LENGTHS:
  case OPC_MAKE_SEGDES:
  case OPC_REPLACE:
  case OPC_RANK_UP:
  case OPC_RANK_DOWN:
  case OPC_SORT_UP:
  case OPC_SORT_DOWN: return true;
  default: return operation_as_superop(arena, widths, b, f) != NULL;
  }
}

/* ---- calls ---- */

/* Takes a buffer for a result of a call. */
static void take_buffer(const struct function_text *x, ir_var v) {
  fprintf(out_of(x), "struct native_pooled *b%u = native_pooled(r);\nif (!b%u) return 0;\n", v,
          v);
}

/* A result that a call appends to a buffer of its caller: moves the end of the buffer there. */
static void print_place(const struct function_text *x, ir_var v) {
  FILE *out = out_of(x);
  const struct placed *p = x->placed[v];
  fprintf(out, "const uint64_t at%u = base%u", v, p->result);
  for (uint32_t i = 0; i < p->count; i++) fprintf(out, " + n%u", p->before[i]);
  fprintf(out,
          ";\nif (at%u > y%u->n && !native_room(r, y%u, at%u - y%u->n, sizeof(%s))) return 0;\n"
          "y%u->n = at%u;\n",
          v, p->result, p->result, v, p->result, type_of_kind(kind_of(x, v)), p->result, v);
}

/* The result of a call, from its buffer: of a round of a loop, as a copy, for the buffer is
 * given back with those of the round. */
static void from_buffer(const struct function_text *x, ir_var v) {
  FILE *out = out_of(x);
  const char *type = type_of_kind(kind_of(x, v));
  if (form_of(x, v) == FORM_SEGMENTS) {
    fprintf(out,
            "const uint64_t c%u = b%u->buffer.n;\n"
            "uint64_t *o%u = native_offsets(r, b%u->buffer.at, c%u);\nif (!o%u) return 0;\n",
            v, v, v, v, v, v);
    return;
  }
  fprintf(out, "const uint64_t n%u = b%u->buffer.n;\n", v, v);
  if (!x->loops) {
    fprintf(out, "%s *x%u = (%s *)(void *)b%u->buffer.at;\n", type, v, type, v);
    return;
  }
  fprintf(out,
          "%s *x%u = native_take(r, n%u, sizeof *x%u);\nif (!x%u) return 0;\n"
          "if (n%u) memcpy(x%u, b%u->buffer.at, n%u * sizeof *x%u);\n",
          type, v, v, v, v, v, v, v, v, v);
}

/* A result of which there is one element, or segment, for each of one instance. */
static void one_from_buffer(const struct function_text *x, ir_var v) {
  const char *type = type_of_kind(kind_of(x, v));
  if (form_of(x, v) == FORM_SCALAR)
    fprintf(
        out_of(x),
        "if (b%u->buffer.n != 1) return 0;\nconst %s x%u = *(%s *)(void *)b%u->buffer.at;\n", v,
        type, v, type, v);
  else
    fprintf(out_of(x),
            "if (b%u->buffer.n != 1) return 0;\nconst uint64_t n%u = *(uint64_t *)(void "
            "*)b%u->buffer.at;\n",
            v, v, v);
}

static void print_batch_call(const struct function_text *x, const struct ir_binding *b) {
  FILE *out = out_of(x);
  for (uint32_t i = 0; i < b->result_count; i++) take_buffer(x, b->results[i]);
  fprintf(out, "if (!f%u(r, 0, ", b->as.callee);
  put_length(x, b->operands[0]);
  for (uint32_t i = 1; i < b->operand_count; i++) {
    const ir_var v = b->operands[i];
    const struct ir_kind *kind = kind_of(x, v);
    print_argument(x->t, kind, v, form_of(x, v),
                   is_descriptor(kind) ? FORM_SEGMENTS : FORM_VECTOR);
  }
  for (uint32_t i = 0; i < b->result_count; i++) fprintf(out, ", &b%u->buffer", b->results[i]);
  fputs(")) return 0;\n", out);
  for (uint32_t i = 0; i < b->result_count; i++) {
    const enum form form = form_of(x, b->results[i]);
    if (form == FORM_VECTOR || form == FORM_SEGMENTS)
      from_buffer(x, b->results[i]);
    else
      one_from_buffer(x, b->results[i]);
  }
}

static void print_direct_call(const struct function_text *x, const struct ir_binding *b) {
  FILE *out = out_of(x);
  const struct ir_function *callee = &x->t->program->functions[b->as.callee];
  const struct forms *of = &x->t->forms[b->as.callee];
  for (uint32_t i = 0; i < b->result_count; i++) {
    const ir_var v = b->results[i];
    if (of->results[i] == FORM_SCALAR)
      fprintf(out, "%s x%u;\n", type_of_kind(kind_of(x, v)), v);
    else if (of->results[i] == FORM_ONE)
      fprintf(out, "uint64_t n%u;\n", v);
    else if (x->placed[v])
      print_place(x, v);
    else
      take_buffer(x, v);
  }
  for (uint32_t i = 0; i < b->operand_count; i++)
    require_one(x, b->operands[i], (enum form)of->of[callee->params[i]]);
  fprintf(out, "if (!p%u(r", b->as.callee);
  for (uint32_t i = 0; i < b->operand_count; i++) {
    const ir_var v = b->operands[i];
    print_argument(x->t, kind_of(x, v), v, form_of(x, v), (enum form)of->of[callee->params[i]]);
  }
  for (uint32_t i = 0; i < b->result_count; i++) {
    const ir_var v = b->results[i];
    if (of->results[i] == FORM_SCALAR)
      fprintf(out, ", &x%u", v);
    else if (of->results[i] == FORM_ONE)
      fprintf(out, ", &n%u", v);
    else if (x->placed[v])
      fprintf(out, ", y%u", x->placed[v]->result);
    else
      fprintf(out, ", &b%u->buffer", v);
  }
  fputs(")) return 0;\n", out);
  for (uint32_t i = 0; i < b->result_count; i++) {
    const ir_var v = b->results[i];
    if (x->placed[v])
      fprintf(out, "const uint64_t n%u = y%u->n - at%u;\n", v, x->placed[v]->result, v);
    else if (of->results[i] == FORM_VECTOR || of->results[i] == FORM_SEGMENTS)
      from_buffer(x, v);
  }
}

/* ---- blocks ---- */

static void print_bindings(struct function_text *x, const struct ir_block *block,
                           uint32_t count);

static void print_arm(struct function_text *x, const struct ir_block *block,
                      const struct ir_binding *b) {
  print_bindings(x, block, block->count);
  if (block->end != IR_YIELD) {
    fputs("return 0;\n", out_of(x));
    return;
  }
  for (uint32_t i = 0; i < b->result_count; i++) assign(x, b->results[i], block->results[i]);
}

static void print_condition(const struct function_text *x, const struct ir_binding *b) {
  require_one(x, b->operands[0], FORM_SCALAR);
  fprintf(out_of(x),
          form_of(x, b->operands[0]) == FORM_SCALAR ? "if (x%u) {\n" : "if (x%u[0]) {\n",
          b->operands[0]);
}

static void print_if(struct function_text *x, const struct ir_binding *b) {
  for (uint32_t i = 0; i < b->result_count; i++) declare(x, b->results[i]);
  print_condition(x, b);
  print_arm(x, b->as.arms.then, b);
  fputs("} else {\n", out_of(x));
  print_arm(x, b->as.arms.otherwise, b);
  fputs("}\n", out_of(x));
}

static void print_binding(struct function_text *x, const struct ir_binding *b) {
  switch ((enum ir_form)b->form) {
  case IR_CONST: print_constant(x, b); break;
  case IR_OP: print_operation(x, b); break;
  case IR_FUSED:
    print_superop(x, x->t->program->superops[b->as.superop], b->operands, b->results);
    break;
  case IR_CALL:
    if (x->t->program->functions[b->as.callee].instances)
      print_batch_call(x, b);
    else
      print_direct_call(x, b);
    break;
  case IR_IF: print_if(x, b); break;
  }
}

static void print_bindings(struct function_text *x, const struct ir_block *block,
                           uint32_t count) {
  for (uint32_t k = 0; k < count; k++) print_binding(x, &block->bindings[k]);
}

/* ---- ends ---- */

/* Whether a block's results are those of its last binding, in order. */
static bool ends_with(const struct ir_block *block, const struct ir_binding *b) {
  if (block->end != IR_YIELD || b->result_count != block->result_count) return false;
  for (uint32_t i = 0; i < b->result_count; i++) {
    if (b->results[i] != block->results[i]) return false;
  }
  return true;
}

static const struct ir_binding *last_of(const struct ir_block *block) {
  return block->count > 0 ? &block->bindings[block->count - 1] : NULL;
}

/* Whether a function that ends with this block may end with a call of itself. */
static bool calls_itself_last(const struct ir_block *block, uint32_t number) {
  const struct ir_binding *b = last_of(block);
  if (!b || !ends_with(block, b)) return false;
  if (b->form == IR_CALL) return b->as.callee == number;
  return b->form == IR_IF && (calls_itself_last(b->as.arms.then, number) ||
                              calls_itself_last(b->as.arms.otherwise, number));
}

static void put_result(const struct function_text *x, uint32_t i, ir_var v) {
  FILE *out = out_of(x);
  const enum form wanted = (enum form)x->forms->results[i], has = form_of(x, v);
  require_one(x, v, wanted);
  switch (wanted) {
  case FORM_SCALAR:
    fprintf(out, has == FORM_SCALAR ? "*y%u = x%u;\n" : "*y%u = x%u[0];\n", i, v);
    break;
  case FORM_VECTOR:
    if (x->returned[v]) {
      fprintf(out, "y%u->n += n%u;\n", i, v);
      break;
    }
    fprintf(out, "if (!native_append(r, y%u, ", i);
    put_data_old(x, v);
    fputs(", ", out);
    put_length(x, v);
    fprintf(out, ", sizeof(%s))) return 0;\n", type_of_kind(kind_of(x, v)));
    break;
  case FORM_ONE:
    if (has == FORM_ONE)
      fprintf(out, "*y%u = n%u;\n", i, v);
    else
      fprintf(out, "*y%u = o%u[1] - o%u[0];\n", i, v, v);
    break;
  case FORM_SEGMENTS:
    if (has == FORM_ONE)
      fprintf(out, "if (!native_append_length(r, y%u, n%u)) return 0;\n", i, v);
    else
      fprintf(out, "if (!native_append_lengths(r, y%u, o%u, c%u)) return 0;\n", i, v, v);
    break;
  case FORM_SAME:
  case FORM_LENGTHS:
  case FORM_STARTS: break; /* never */
  }
}

static void print_return(const struct function_text *x, const struct ir_block *block) {
  for (uint32_t i = 0; i < block->result_count; i++) put_result(x, i, block->results[i]);
  if (x->loops) fputs("native_rounds_end(r, &rounds);\n", out_of(x));
  fputs("native_return(r, mark);\nr->depth--;\nreturn 1;\n", out_of(x));
}

/* The parameters of the next round. What this round did not make itself may be in the memory of
 * the round before, which the next one uses again: it is copied, unless it stays what it is. */
static bool is_made_here(const struct ir_block *block, ir_var v) {
  for (uint32_t k = 0; k < block->count; k++) {
    const struct ir_binding *b = &block->bindings[k];
    for (uint32_t i = 0; i < b->result_count; i++) {
      if (b->results[i] == v) return b->form != IR_IF;
    }
  }
  return false;
}

static void copy_for_next(const struct function_text *x, uint32_t p, ir_var v) {
  FILE *out = out_of(x);
  const char *type = type_of_kind(kind_of(x, v));
  if (form_of(x, v) == FORM_VECTOR)
    fprintf(out,
            "%s *next%u = native_take(r, n%u, sizeof *next%u);\nif (!next%u) return 0;\n"
            "if (n%u) memcpy(next%u, x%u, n%u * sizeof *next%u);\n",
            type, p, v, p, p, v, p, v, v, p);
  else
    fprintf(
        out,
        "uint64_t *next%u = native_take(r, c%u + 1, sizeof *next%u);\nif (!next%u) return 0;\n"
        "memcpy(next%u, o%u, (c%u + 1) * sizeof *next%u);\n",
        p, v, p, p, p, v, v, p);
}

static void print_next_round(const struct function_text *x, const struct ir_block *block,
                             const struct ir_binding *b) {
  FILE *out = out_of(x);
  for (uint32_t i = 0; i < b->operand_count; i++) {
    const ir_var v = b->operands[i], p = x->f->params[i];
    const enum form form = form_of(x, v), wanted = form_of(x, p);
    if (v == p) continue;
    const char *type = type_of_kind(kind_of(x, p));
    require_one(x, v, wanted);
    if (wanted == FORM_SCALAR) {
      fprintf(out,
              form == FORM_SCALAR ? "const %s next%u = x%u;\n" : "const %s next%u = x%u[0];\n",
              type, i, v);
    } else if (wanted == FORM_ONE) {
      fprintf(out,
              form == FORM_ONE ? "const uint64_t next%u = n%u;\n"
                               : "const uint64_t next%u = o%u[1] - o%u[0];\n",
              i, v, v);
    } else if (form == FORM_SCALAR) {
      fprintf(out,
              "%s *next%u = native_take(r, 1, 8);\nif (!next%u) return 0;\nnext%u[0] = x%u;\n",
              type, i, i, i, v);
    } else if (form == FORM_ONE) {
      fprintf(
          out,
          "uint64_t *next%u = native_take(r, 2, 8);\nif (!next%u) return 0;\nnext%u[0] = 0; "
          "next%u[1] = n%u;\n",
          i, i, i, i, v);
    } else if (is_made_here(block, v)) {
      fprintf(out,
              form == FORM_VECTOR ? "%s *next%u = (void *)x%u;\n"
                                  : "%s *next%u = (void *)o%u;\n",
              form == FORM_VECTOR ? type : "uint64_t", i, v);
    } else {
      copy_for_next(x, i, v);
    }
  }
  for (uint32_t i = 0; i < b->operand_count; i++) {
    const ir_var v = b->operands[i], p = x->f->params[i];
    if (v == p) continue;
    switch (form_of(x, p)) {
    case FORM_SCALAR: fprintf(out, "x%u = next%u;\n", p, i); break;
    case FORM_ONE: fprintf(out, "n%u = next%u;\n", p, i); break;
    case FORM_VECTOR:
      fprintf(out, "const uint64_t size%u = ", i);
      put_length(x, v);
      fputs(";\n", out);
      break;
    case FORM_SEGMENTS:
      fprintf(out,
              form_of(x, v) == FORM_ONE ? "const uint64_t size%u = 1;\n"
                                        : "const uint64_t size%u = c%u;\n",
              i, v);
      break;
    case FORM_SAME:
    case FORM_LENGTHS:
    case FORM_STARTS: break; /* never */
    }
  }
  for (uint32_t i = 0; i < b->operand_count; i++) {
    const ir_var v = b->operands[i], p = x->f->params[i];
    if (v == p) continue;
    if (form_of(x, p) == FORM_VECTOR) fprintf(out, "x%u = next%u; n%u = size%u;\n", p, i, p, i);
    if (form_of(x, p) == FORM_SEGMENTS)
      fprintf(out, "o%u = next%u; c%u = size%u;\n", p, i, p, i);
  }
  fputs("native_return(r, (struct native_mark){r->arena->block, r->arena->at, mark.buffers});\n"
        "native_round(r, &rounds);\nif (*r->stops) return 0;\ncontinue;\n",
        out);
}

static void print_end(struct function_text *x, const struct ir_block *block) {
  const struct ir_binding *b = last_of(block);
  if (b && ends_with(block, b) && b->form == IR_IF) {
    print_bindings(x, block, block->count - 1);
    print_condition(x, b);
    print_end(x, b->as.arms.then);
    fputs("} else {\n", out_of(x));
    print_end(x, b->as.arms.otherwise);
    fputs("}\n", out_of(x));
    return;
  }
  if (x->loops && b && ends_with(block, b) && b->form == IR_CALL && b->as.callee == x->number) {
    print_bindings(x, block, block->count - 1);
    print_next_round(x, block, b);
    return;
  }
  print_bindings(x, block, block->count);
  if (block->end == IR_YIELD)
    print_return(x, block);
  else
    fputs("return 0;\n", out_of(x));
}

/* ---- vectors that are only returned ---- */

static void count_uses(const struct ir_block *block, uint32_t *uses) {
  for (uint32_t k = 0; k < block->count; k++) {
    const struct ir_binding *b = &block->bindings[k];
    for (uint32_t i = 0; i < b->operand_count; i++) uses[b->operands[i]]++;
    if (b->form != IR_IF) continue;
    count_uses(b->as.arms.then, uses);
    count_uses(b->as.arms.otherwise, uses);
  }
  for (uint32_t i = 0; block->end == IR_YIELD && i < block->result_count; i++)
    uses[block->results[i]]++;
}

/* Whether a kernel makes it. */
static bool is_kernel(const struct function_text *x, const struct ir_binding *b) {
  if (b->form == IR_FUSED) return true;
  return b->form == IR_OP && !all_scalars(x, b) &&
         operation_as_superop(x->t->arena, x->t->program->widths, b, x->f) != NULL;
}

/* Of the results of a block with which the function ends, those that kernels of the block make.
 */
static void find_returned(const struct function_text *x, const struct ir_block *block,
                          const uint32_t *uses) {
  const struct ir_binding *last = last_of(block);
  if (last && last->form == IR_IF && ends_with(block, last)) {
    find_returned(x, last->as.arms.then, uses);
    find_returned(x, last->as.arms.otherwise, uses);
    return;
  }
  for (uint32_t k = 0; block->end == IR_YIELD && k < block->count; k++) {
    const struct ir_binding *b = &block->bindings[k];
    for (uint32_t j = 0; j < b->result_count && is_kernel(x, b); j++) {
      for (uint32_t i = 0; i < block->result_count; i++) {
        const ir_var v = b->results[j];
        if (block->results[i] == v && uses[v] == 1 && form_of(x, v) == FORM_VECTOR &&
            x->forms->results[i] == FORM_VECTOR)
          x->returned[v] = i + 1;
      }
    }
  }
  if (block->end == IR_YIELD) find_placed(x, block, uses);
}

/* ---- a function ---- */

void print_head(struct procedures_text *t, uint32_t number) {
  const struct ir_function *f = &t->program->functions[number];
  const struct forms *forms = &t->forms[number];
  fprintf(t->out, "static _Bool p%u(struct native_thread *r", number);
  for (uint32_t i = 0; i < f->param_count; i++) {
    const ir_var v = f->params[i];
    const char *type = type_of_kind(f->vars[v]);
    switch ((enum form)forms->of[v]) {
    case FORM_SCALAR: fprintf(t->out, ", %s x%u", type, v); break;
    case FORM_VECTOR: fprintf(t->out, ", const %s *x%u, uint64_t n%u", type, v, v); break;
    case FORM_ONE: fprintf(t->out, ", uint64_t n%u", v); break;
    case FORM_SEGMENTS: fprintf(t->out, ", const uint64_t *o%u, uint64_t c%u", v, v); break;
    case FORM_SAME:
    case FORM_LENGTHS:
    case FORM_STARTS: break; /* never */
    }
  }
  for (uint32_t i = 0; i < f->result_count; i++) {
    const char *type = type_of_kind(f->result_kinds[i]);
    switch ((enum form)forms->results[i]) {
    case FORM_SCALAR: fprintf(t->out, ", %s *y%u", type, i); break;
    case FORM_ONE: fprintf(t->out, ", uint64_t *y%u", i); break;
    case FORM_VECTOR:
    case FORM_SEGMENTS: fprintf(t->out, ", struct native_buffer *y%u", i); break;
    case FORM_SAME:
    case FORM_LENGTHS:
    case FORM_STARTS: break; /* never */
    }
  }
  fputs(")", t->out);
}

void print_procedure(struct procedures_text *t, uint32_t number) {
  const struct ir_function *f = &t->program->functions[number];
  struct function_text x = {.t = t,
                            .f = f,
                            .forms = &t->forms[number],
                            .number = number,
                            .loops = calls_itself_last(f->body, number)};
  uint32_t *uses = arena_alloc(t->arena, (f->var_count + 1) * sizeof *uses);
  x.returned = arena_alloc(t->arena, (f->var_count + 1) * sizeof *x.returned);
  count_uses(f->body, uses);
  x.placed = arena_alloc(t->arena, (f->var_count + 1) * sizeof *x.placed);
  find_returned(&x, f->body, uses);
  fprintf(t->out, "/* %s */\n", f->name->text);
  print_head(t, number);
  fputs(" {\nif (!native_enter(r)) return 0;\n", t->out);
  fputs("const struct native_mark mark = native_mark(r);\n", t->out);
  for (uint32_t i = 0; i < f->result_count; i++) {
    if (x.forms->results[i] == FORM_VECTOR)
      fprintf(t->out, "const uint64_t base%u = y%u->n;\n(void)base%u;\n", i, i, i);
  }
  if (x.loops)
    fputs("struct native_rounds rounds;\nif (!native_rounds_begin(r, &rounds)) return 0;\n"
          "for (;;) {\n",
          t->out);
  print_end(&x, f->body);
  fputs(x.loops ? "}\n}\n\n" : "}\n\n", t->out);
}
