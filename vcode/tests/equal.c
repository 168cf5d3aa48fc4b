/* equal.c - comparison of programs field by field, and the round trip through text. */
#include "vcode/tests/equal.h"

#include <stdlib.h>
#include <string.h>

static bool same_name(const struct name *a, const struct name *b) {
  return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* memcmp of count elements of size bytes; nothing to compare is equal. */
static bool same_bytes(const void *a, const void *b, uint64_t count, size_t size) {
  return count == 0 || memcmp(a, b, (size_t)count * size) == 0;
}

/* Bits are compared, so that -0.0 and 0.0 differ. */
static bool same_constant(const struct vcode_constant *a, const struct vcode_constant *b) {
  if (a->type != b->type || a->length != b->length || a->vector != b->vector ||
      a->stream_name != b->stream_name) {
    return false;
  }
  switch (a->type) {
  case TW_FLOAT: return same_bytes(a->as.floats, b->as.floats, a->length, sizeof(double));
  case TW_BOOL: return same_bytes(a->as.bools, b->as.bools, a->length, 1);
  case TW_CHAR: return same_bytes(a->as.chars, b->as.chars, a->length, 1);
  case TW_INT:
  case TW_SEGDES: return same_bytes(a->as.ints, b->as.ints, a->length, sizeof(int64_t));
  case TW_NONE: break;
  }
  return false;
}

static bool same_argument(const struct vcode_instruction *a,
                          const struct vcode_instruction *b) {
  switch ((enum opcode)a->op) {
  case OPC_COPY:
  case OPC_POP:
  case OPC_CPOP:
    return a->as.stack.count == b->as.stack.count && a->as.stack.depth == b->as.stack.depth;
  case OPC_CALL:
    return a->as.call.function == b->as.call.function &&
           same_name(a->as.call.name, b->as.call.name);
  case OPC_IF:
    return a->as.branch.otherwise == b->as.branch.otherwise &&
           a->as.branch.end == b->as.branch.end;
  case OPC_ELSE: return a->as.branch.end == b->as.branch.end;
  case OPC_CONST: return same_constant(a->as.constant, b->as.constant);
  case OPC_FUSED: return a->as.fused == b->as.fused;
  case OPC_ASSERT:
    return a->as.text.length == b->as.text.length &&
           same_bytes(a->as.text.text, b->as.text.text, a->as.text.length, 1);
  default: return true;
  }
}

static bool same_origin(const struct vcode_program *a, uint32_t i,
                        const struct vcode_program *b, uint32_t j) {
  if (i == 0 || j == 0) return i == j;
  const struct origin *x = origin_at(&a->origins, i), *y = origin_at(&b->origins, j);
  return strcmp(x->file, y->file) == 0 && x->pos.line == y->pos.line &&
         x->pos.column == y->pos.column && strcmp(x->function, y->function) == 0 &&
         same_origin(a, x->inlined_at, b, y->inlined_at);
}

static bool same_mark(const struct vcode_instances *a, const struct vcode_instances *b) {
  if (a == NULL || b == NULL) return a == b;
  return a->param_count == b->param_count && a->result_count == b->result_count &&
         same_bytes(a->params, b->params, a->param_count, sizeof *a->params) &&
         same_bytes(a->results, b->results, a->result_count, sizeof *a->results) &&
         a->procedure_function == b->procedure_function;
}

static const char *function_difference(const struct vcode_program *p,
                                       const struct vcode_function *a,
                                       const struct vcode_program *q,
                                       const struct vcode_function *b) {
  if (!same_name(a->name, b->name)) return "a function's name";
  if (a->has_signature != b->has_signature || a->in_count != b->in_count ||
      a->out_count != b->out_count || !same_bytes(a->in, b->in, a->in_count, 1) ||
      !same_bytes(a->out, b->out, a->out_count, 1)) {
    return "a signature";
  }
  if (!same_mark(a->instances, b->instances)) return "a mark of instances";
  if (a->rounds != b->rounds) return "a mark of rounds";
  if (a->length != b->length) return "the number of instructions";
  for (uint32_t k = 0; k < a->length; k++) {
    const struct vcode_instruction *i = &a->code[k], *j = &b->code[k];
    if (i->op != j->op) return "an opcode";
    if (i->type != j->type) return "a type word";
    if (!same_argument(i, j)) return "an argument";
    if (!same_origin(p, i->origin, q, j->origin)) return "an origin";
  }
  return NULL;
}

const char *vcode_difference(const struct vcode_program *a, const struct vcode_program *b) {
  if (a->function_count != b->function_count) return "the number of functions";
  if (a->entry != b->entry) return "the entry function";
  if (a->exact_floats != b->exact_floats) return "the digits of floats";
  if (a->has_widths != b->has_widths || a->widths.int_elem != b->widths.int_elem ||
      a->widths.float_elem != b->widths.float_elem) {
    return "the widths";
  }
  if (a->fused_count != b->fused_count) return "the number of definitions";
  for (uint32_t k = 0; k < a->fused_count; k++) {
    const struct vcode_fused *x = &a->fused[k], *y = &b->fused[k];
    if (x->length != y->length || memcmp(x->text, y->text, x->length) != 0) {
      return "a definition";
    }
  }
  for (uint32_t f = 0; f < a->function_count; f++) {
    const char *difference = function_difference(a, &a->functions[f], b, &b->functions[f]);
    if (difference != NULL) return difference;
  }
  return NULL;
}

struct vcode_program *vcode_reparse(struct arena *arena, const struct vcode_program *program,
                                    struct widths widths, struct diag_list *diags) {
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  if (file == NULL) return NULL;
  vcode_print(program, file);
  fclose(file);
  struct vcode_program *again = vcode_parse(arena, "printed", text, length, widths, diags);
  free(text);
  return again;
}
