/* library-header.c - the header of a library: its types and the declarations of its functions,
 * with what a user has to know.
 */
#include "commands/library.h"

#include <ctype.h>
#include <string.h>

/* ---- the beginning ---- */

static const char beginning[] =
    "/* %s.h - functions of %s, made by neslc (Ravel " RAVEL_VERSION "): do not edit.\n"
    " *\n"
    " * Compile %s.c with the program and link it with libravel. Nothing is read at run time.\n"
    " *\n"
    " * Each function has the NESL function's parameters and sets *result to what it gives. It "
    "is\n"
    " * called with a context of ravel.h (integers of %s bits, floats of %s), and as ravel.h "
    "says\n"
    " * of calls: by one thread at a time, it returns RAVEL_OK, or what went wrong, and then\n"
    " * ravel_message says it and *result is unchanged. In each context the first call "
    "prepares\n"
    " * the program, which is kept there; NAME_function does that alone, and gives the "
    "function\n"
    " * for ravel_call, whose values stay in the back end: it is the context's.\n"
    " *\n"
    " * Arguments are only read, during the call. The memory of a result is the caller's, one\n"
    " * block for all of it: %s_free_TYPE(&result) frees it.\n"
    " *\n"
    " * Sequences are pointers with lengths; the pointer of an empty one may be NULL. The rows "
    "of\n"
    " * a sequence of sequences are one behind the other: `length` rows, of which row i has\n"
    " * lengths[i] of the elements. Of a sequence of tuples or of a datatype there is a "
    "sequence\n"
    " * for each component, all of the same length.\n"
    " */\n";

static void print_guard(const char *name, FILE *out) {
  for (; *name; name++) fputc(toupper((unsigned char)*name), out);
  fputs("_H", out);
}

static const char *width_of_elem(enum cvl_elem elem) {
  return elem == CVL_I64 || elem == CVL_F64 ? "64" : "32";
}

static void begin_header(const struct library *l, FILE *out) {
  const struct widths *w = &l->types.widths;
  fprintf(out, beginning, l->name, l->source, l->name, width_of_elem(w->int_elem),
          width_of_elem(w->float_elem), l->name);
  fputs("#ifndef ", out);
  print_guard(l->name, out);
  fputs("\n#define ", out);
  print_guard(l->name, out);
  fputs("\n\n#include <ravel.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
        "/* ---- types ---- */\n",
        out);
}

/* ---- types ---- */

static void print_members(const struct library *l, const struct c_type *t, FILE *out) {
  const enum type_tag tag = (enum type_tag)t->tag;
  if (t->kind == C_VECTOR) {
    fprintf(out, "  const %s *data;\n  size_t length;\n", c_scalar(&l->types, tag));
    return;
  }
  if (t->kind == C_ROWS) fputs("  const int64_t *lengths;\n  size_t length;\n", out);
  for (uint32_t i = 0; i < t->part_count; i++) {
    fputs("  ", out);
    c_type_print(&l->types, t->parts[i], out);
    if (t->kind == C_ROWS) {
      fputs(" elements;\n", out);
    } else {
      fprintf(out, " %s;\n", c_member(l->arena, t, i));
    }
  }
}

static void print_type(const struct library *l, const struct c_type *t, FILE *out) {
  if (t->kind == C_SCALAR) return;
  fprintf(out, "\n/* %s */\n", type_text(l->arena, t->type, false));
  c_type_print(&l->types, t, out);
  fputs(" {\n", out);
  print_members(l, t, out);
  fputs("};\n", out);
}

/* ---- functions ---- */

enum { WIDTH = 96 };

/* Writes words one behind the other, with line breaks before those that do not fit. */
struct line {
  FILE *out;
  size_t column, indent;
};

static void put_on_line(struct line *line, const char *text) {
  const size_t length = strlen(text);
  if (line->column + length > WIDTH && line->column > line->indent) {
    fprintf(line->out, "\n%*s", (int)line->indent, "");
    line->column = line->indent;
    text += *text == ' ';
  }
  fputs(text, line->out);
  line->column += strlen(text);
}

static const char *c_type_name(const struct library *l, const struct c_type *t) {
  if (t->kind == C_SCALAR) return c_scalar(&l->types, (enum type_tag)t->tag);
  return arena_printf(l->arena, "struct %s_%s", l->name, t->name);
}

void library_declare(const struct library *l, const struct library_entry *e, FILE *out) {
  const char *head = arena_printf(l->arena, "enum ravel_code %s_%s(", l->name, e->c_name);
  struct line line = {.out = out, .indent = strlen(head)};
  put_on_line(&line, head);
  put_on_line(&line, "struct ravel_context *context,");
  for (uint32_t i = 0; i < e->parameter_count; i++) {
    const struct library_parameter *p = &e->parameters[i];
    put_on_line(&line, arena_printf(l->arena, " %s %s,", c_type_name(l, p->type), p->name));
  }
  put_on_line(&line, arena_printf(l->arena, " %s *result)", c_type_name(l, e->result)));
}

void library_declare_function(const struct library *l, const struct library_entry *e,
                              FILE *out) {
  const char *head =
      arena_printf(l->arena, "enum ravel_code %s_%s_function(", l->name, e->c_name);
  struct line line = {.out = out, .indent = strlen(head)};
  put_on_line(&line, head);
  put_on_line(&line, "struct ravel_context *context,");
  put_on_line(&line, " struct ravel_function **function)");
}

static void declare_function(const struct library *l, const struct library_entry *e,
                             FILE *out) {
  fprintf(out, "\n/* %s : %s, %s:%u", e->name, e->type, e->file, (unsigned)e->line);
  if (e->result->memory) {
    fprintf(out, "\n * The result is freed by %s_free_%s.", l->name, e->result->name);
  }
  fputs(" */\n", out);
  library_declare(l, e, out);
  fputs(";\n", out);
  library_declare_function(l, e, out);
  fputs(";\n", out);
}

static void declare_free(const struct library *l, const struct c_type *t, FILE *out) {
  fprintf(out, "void %s_free_%s(struct %s_%s *);\n", l->name, t->name, l->name, t->name);
}

void library_header(const struct library *l, FILE *out) {
  bool any = false;
  begin_header(l, out);
  for (size_t i = 0; i < l->types.list.count; i++) print_type(l, l->types.list.items[i], out);
  fputs("\n/* ---- functions ---- */\n", out);
  for (uint32_t i = 0; i < l->entry_count; i++) declare_function(l, &l->entries[i], out);
  for (size_t i = 0; i < l->types.list.count; i++) {
    const struct c_type *t = l->types.list.items[i];
    if (!t->given || !t->memory) continue;
    if (!any)
      fputs("\n/* Frees the memory of a result, which is all zero then. NULL is fine. */\n",
            out);
    declare_free(l, t, out);
    any = true;
  }
  fputs("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n", out);
}
