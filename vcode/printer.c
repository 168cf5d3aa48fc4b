/* printer.c - prints a program as text that parses to an equal one. */
#include "base/number.h"
#include "vcode/vcode.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_vcode_text(FILE *s, const char *text) {
  fputs(text, s);
}

static void put_int_literal(FILE *s, int64_t x) {
  char text[NUMBER_TEXT_MAX];
  fwrite(text, 1, format_int(text, x), s);
}

/* Literals need a decimal point, except for `nan`, as format_float_exact writes it. An infinity
 * is written as a literal that overflows. */
size_t vcode_format_real(char *dst, double x) {
  size_t n = format_float_exact(dst, x);
  if (isinf(x)) return (size_t)sprintf(dst, x < 0 ? "-1.0E999" : "1.0E999");
  if (isnan(x) || strchr(dst, '.') != NULL) return n;
  const char *exponent = strpbrk(dst, "eE");
  size_t digits = exponent == NULL ? n : (size_t)(exponent - dst);
  memmove(dst + digits + 2, dst + digits, n - digits + 1);
  memcpy(dst + digits, ".0", 2);
  return n + 2;
}

static void put_real(FILE *s, double x) {
  char text[NUMBER_TEXT_MAX];
  fwrite(text, 1, vcode_format_real(text, x), s);
}

static void put_element_literal(FILE *s, const struct vcode_constant *c, uint64_t i) {
  static const char *const streams[] = {"NULL_STREAM", "STDIN", "STDOUT", "STDERR"};
  switch (c->type) {
  case TW_FLOAT: put_real(s, c->as.floats[i]); break;
  case TW_BOOL: put_vcode_text(s, c->as.bools[i] ? "T" : "F"); break;
  case TW_INT:
  case TW_SEGDES:
  case TW_CHAR:
  case TW_NONE:
    if (c->stream_name)
      put_vcode_text(s, streams[c->as.ints[i] + 1]);
    else
      put_int_literal(s, c->as.ints[i]);
    break;
  }
}

static void put_vcode_constant(FILE *s, const struct vcode_constant *c) {
  put_vcode_text(s, "CONST ");
  put_vcode_text(s, type_word_text(c->type));
  put_vcode_text(s, " ");
  if (c->type == TW_CHAR) {
    put_vcode_text(s, "\"");
    fwrite(c->as.chars, 1, c->length, s);
    put_vcode_text(s, "\"");
    return;
  }
  if (!c->vector) {
    put_element_literal(s, c, 0);
    return;
  }
  put_vcode_text(s, "(");
  for (uint64_t i = 0; i < c->length; i++) {
    if (i != 0) put_vcode_text(s, " ");
    put_element_literal(s, c, i);
  }
  put_vcode_text(s, ")");
}

static void put_instruction(FILE *s, const struct vcode_instruction *i) {
  const char *spelling = opcode_info((enum opcode)i->op)->spelling;
  if (i->op == OPC_CONST) {
    put_vcode_constant(s, i->as.constant);
    return;
  }
  put_vcode_text(s, spelling);
  if (i->type != TW_NONE) {
    put_vcode_text(s, " ");
    put_vcode_text(s, type_word_text((enum type_word)i->type));
  }
  switch ((enum opcode)i->op) {
  case OPC_COPY:
  case OPC_POP:
  case OPC_CPOP:
    put_vcode_text(s, " ");
    put_int_literal(s, i->as.stack.count);
    put_vcode_text(s, " ");
    put_int_literal(s, i->as.stack.depth);
    break;
  case OPC_CALL:
    put_vcode_text(s, " ");
    put_vcode_text(s, i->as.call.name->text);
    break;
  case OPC_FUSED:
    put_vcode_text(s, " ");
    put_int_literal(s, i->as.fused);
    break;
  case OPC_ASSERT:
    put_vcode_text(s, " \"");
    fwrite(i->as.text.text, 1, i->as.text.length, s);
    put_vcode_text(s, "\"");
    break;
  default: break;
  }
}

static void put_types(FILE *s, const char *word, uint32_t count, const uint8_t *types) {
  put_vcode_text(s, word);
  for (uint32_t i = 0; i < count; i++) {
    put_vcode_text(s, " ");
    put_vcode_text(s, type_word_text((enum type_word)types[i]));
  }
}

static void put_indent(FILE *s, unsigned depth) {
  enum { DEEPEST = 20 };
  for (unsigned i = 0; i < depth && i < DEEPEST; i++) put_vcode_text(s, "  ");
}

static void put_vcode_sizes(FILE *s, uint32_t count, const uint32_t *sizes) {
  for (uint32_t i = 0; i < count; i++) {
    if (sizes[i] == VCODE_EACH)
      put_vcode_text(s, " each");
    else if (sizes[i] == VCODE_SHARED)
      put_vcode_text(s, " shared");
    else
      fprintf(s, " %u", sizes[i]);
  }
}

static void put_vcode_instances(FILE *s, const struct vcode_instances *mark) {
  put_vcode_text(s, " {% instances");
  put_vcode_sizes(s, mark->param_count, mark->params);
  put_vcode_text(s, " ->");
  put_vcode_sizes(s, mark->result_count, mark->results);
  put_vcode_text(s, " }");
  if (mark->procedure != NULL) fprintf(s, " {%% procedure %s }", mark->procedure->text);
}

static void put_vcode_function(FILE *s, const struct vcode_program *program,
                               const struct vcode_function *f) {
  put_vcode_text(s, "FUNC ");
  put_vcode_text(s, f->name->text);
  if (f->instances != NULL) put_vcode_instances(s, f->instances);
  if (f->rounds != VCODE_NO_ROUNDS)
    put_vcode_text(s, f->rounds == VCODE_ROUND ? " {% round }" : " {% rounds }");
  if (f->has_signature) {
    put_types(s, " I", f->in_count, f->in);
    put_types(s, " O", f->out_count, f->out);
  }
  put_vcode_text(s, "\n");
  unsigned depth = 0;
  uint32_t origin = 0; /* the current one */
  for (uint32_t k = 0; k < f->length && !ferror(s);
       k++) { /* a failed stream ends the printing */
    const struct vcode_instruction *i = &f->code[k];
    if (i->op == OPC_ELSE || i->op == OPC_ENDIF) depth--;
    if (i->origin != 0 && i->origin != origin) {
      origin = i->origin;
      vcode_print_origin(&program->origins, origin, s);
      put_vcode_text(s, "\n");
    }
    put_indent(s, depth);
    put_instruction(s, i);
    put_vcode_text(s, "\n");
    if (i->op == OPC_IF || i->op == OPC_ELSE) depth++;
  }
}

void vcode_print(const struct vcode_program *program, FILE *file) {
  if (program->has_widths) {
    fprintf(file, "{%% widths INT %zu FLOAT %zu }\n",
            8 * elem_info(program->widths.int_elem)->bytes,
            8 * elem_info(program->widths.float_elem)->bytes);
  }
  if (program->exact_floats) put_vcode_text(file, "{% floats 17 }\n");
  for (uint32_t k = 0; k < program->fused_count; k++) {
    fwrite(program->fused[k].text, 1, program->fused[k].length, file);
    put_vcode_text(file, "\n");
  }
  if (program->has_widths || program->exact_floats || program->fused_count != 0)
    put_vcode_text(file, "\n");
  for (uint32_t f = 0; f < program->function_count; f++) {
    if (f != 0) put_vcode_text(file, "\n");
    put_vcode_function(file, program, &program->functions[f]);
  }
}
