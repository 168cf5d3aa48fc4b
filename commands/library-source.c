/* library-source.c - writes the source of a library: programs as data, and a function for each.
 */
#include "commands/library.h"

#include "base/check.h"

#include <string.h>

/* ---- programs ---- */

enum { WIDTH = 90 };

/* A character within a string literal; the bytes that were written. `?` would begin trigraphs.
 */
static int put_character(char c, FILE *out) {
  if (c == '\n') return fprintf(out, "\\n");
  if (c == '"' || c == '\\' || c == '?') return fprintf(out, "\\%c", c);
  if (c >= ' ' && c <= '~') return fprintf(out, "%c", c);
  return fprintf(out, "\\%03o", (unsigned)(unsigned char)c);
}

static void print_text(const char *text, size_t length, FILE *out) {
  int column = 0;
  for (size_t i = 0; i < length; i++) {
    if (column == 0) column = fprintf(out, "    \"");
    column += put_character(text[i], out);
    if (text[i] != '\n' && column < WIDTH && i + 1 < length) continue;
    fputs(i + 1 < length ? "\"\n" : "\"", out);
    column = 0;
  }
}

static const char beginning[] =
    "/* %s.c - made from %s by neslc (Ravel " RAVEL_VERSION "): do not edit. See %s.h. */\n"
    "#include \"%s.h\"\n\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n\n"
    "/* Programs are longer than the strings that ISO C promises. */\n"
    "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n"
    "/* A function of NESL: its program is optimised VCODE, the language of Ravel's machine. "
    "*/\n"
    "struct entry {\n"
    "  const char *key; /* in a context: with the SHA-256 of the program */\n"
    "  const char *name, *takes, *gives, *program;\n"
    "  size_t length;\n"
    "};\n";

static void print_entry(const struct library *l, const struct library_entry *e, FILE *out) {
  fprintf(out, "\nstatic const char %s_program[] =\n", e->c_name);
  print_text(e->text, e->length, out);
  fprintf(out, ";\nstatic const struct entry %s_entry = {\n    \"%s.%s %s\",\n    \"%s\",\n",
          e->c_name, l->name, e->c_name, e->digest, e->name);
  fprintf(out, "    \"%s\",\n    \"%s\",\n    %s_program,\n    sizeof %s_program - 1,\n};\n",
          e->takes, e->gives, e->c_name, e->c_name);
}

/* ---- what all functions use ---- */

static const char tools[] =
    "\n"
    "/* The function in a context, whose it is. */\n"
    "static enum ravel_code prepare(struct ravel_context *context, const struct entry *entry,\n"
    "                               struct ravel_function **function) {\n"
    "  struct ravel_function *kept = ravel_kept(context, entry->key);\n"
    "  enum ravel_code code = RAVEL_OK;\n"
    "  if (!kept) {\n"
    "    code = ravel_program(context, entry->name, entry->program, entry->length, "
    "entry->takes,\n"
    "                         entry->gives, &kept);\n"
    "    if (code != RAVEL_OK) return code;\n"
    "    code = ravel_keep(context, entry->key, kept);\n"
    "    ravel_function_release(kept); /* the context has it */\n"
    "  }\n"
    "  if (code == RAVEL_OK) *function = kept;\n"
    "  return code;\n"
    "}\n"
    "\n"
    "/* A call: the columns of its arguments, and those of the result in one block of memory. "
    "*/\n"
    "static enum ravel_code call(struct ravel_context *context, const struct entry *entry,\n"
    "                            const struct ravel_column *arguments, size_t argument_count,\n"
    "                            struct ravel_column *results, size_t result_count,\n"
    "                            void **memory) {\n"
    "  struct ravel_function *function;\n"
    "  struct ravel_value *value;\n"
    "  enum ravel_code code = prepare(context, entry, &function);\n"
    "  if (code != RAVEL_OK) return code;\n"
    "  code = ravel_call_columns(context, function, arguments, argument_count, &value);\n"
    "  if (code != RAVEL_OK) return code;\n"
    "  code = ravel_columns(context, value, results, result_count, memory);\n"
    "  ravel_release(value);\n"
    "  return code;\n"
    "}\n";

/* ---- functions ---- */

/* The columns of variables, as they are written. */
struct writer {
  const struct library *l;
  FILE *out;
  unsigned count;
};

static void print_argument(void *context, enum type_tag tag, const char *data,
                           const char *length) {
  struct writer *w = context;
  fprintf(w->out, "      {%s, %s%s, %s},\n", c_element(&w->l->types, tag), length ? "" : "&",
          data, length ? length : "1");
  w->count++;
}

static void print_wanted(void *context, enum type_tag tag, const char *data,
                         const char *length) {
  struct writer *w = context;
  (void)data;
  (void)length;
  fprintf(w->out, "      {%s, NULL, 0},\n", c_element(&w->l->types, tag));
  w->count++;
}

/* Returns a part of `(*result)`, as c_columns calls it, in the form that people write. */
static const char *of_result(struct arena *arena, const char *data) {
  const size_t before = strlen("(*result)");
  return data[before] ? arena_printf(arena, "result->%s", data + before + 1) : "*result";
}

static void print_result_column(void *context, enum type_tag tag, const char *data,
                                const char *length) {
  struct writer *w = context;
  struct arena *arena = w->l->arena;
  fprintf(w->out, "  %s = %s(const %s *)results[%u].data;\n", of_result(arena, data),
          length ? "" : "*", c_scalar(&w->l->types, tag), w->count);
  if (length) {
    fprintf(w->out, "  %s = results[%u].length;\n", of_result(arena, length), w->count);
  }
  w->count++;
}

static void print_call_body(const struct library *l, const struct library_entry *e, FILE *out) {
  struct writer in = {l, out, 0}, wanted = {l, out, 0}, given = {l, out, 0};
  fputs("  const struct ravel_column arguments[] = {\n", out);
  for (uint32_t i = 0; i < e->parameter_count; i++) {
    c_columns(l->arena, e->parameters[i].type, e->parameters[i].name, print_argument, &in);
  }
  fputs("  };\n  struct ravel_column results[] = {\n", out);
  c_columns(l->arena, e->result, "", print_wanted, &wanted);
  fprintf(out,
          "  };\n  void *memory;\n"
          "  const enum ravel_code code =\n"
          "      call(context, &%s_entry, arguments, %u, results, %u, &memory);\n"
          "  if (code != RAVEL_OK) return code;\n",
          e->c_name, in.count, wanted.count);
  c_columns(l->arena, e->result, "(*result)", print_result_column, &given);
  fputs(e->result->memory ? "" : "  free(memory);\n", out);
  fputs("  return RAVEL_OK;\n", out);
}

static void print_function_source(const struct library *l, const struct library_entry *e,
                                  FILE *out) {
  fputc('\n', out);
  library_declare(l, e, out);
  fputs(" {\n", out);
  print_call_body(l, e, out);
  fputs("}\n\n", out);
  library_declare_function(l, e, out);
  fprintf(out, " {\n  return prepare(context, &%s_entry, function);\n}\n", e->c_name);
}

/* ---- results ---- */

struct first {
  const char *pointer;
};

static void note_pointer(void *context, enum type_tag tag, const char *data,
                         const char *length) {
  struct first *first = context;
  (void)tag;
  if (length && !first->pointer) first->pointer = data;
}

/* The first pointer of a result is that of its block. */
static void print_free_source(const struct library *l, const struct c_type *t, FILE *out) {
  struct first first = {NULL};
  c_columns(l->arena, t, "(*result)", note_pointer, &first);
  fprintf(out, "\nvoid %s_free_%s(struct %s_%s *result) {\n", l->name, t->name, l->name,
          t->name);
  fprintf(
      out,
      "  if (!result) return;\n  free((void *)%s);\n  memset(result, 0, sizeof *result);\n}\n",
      of_result(l->arena, first.pointer));
}

void library_source(const struct library *l, FILE *out) {
  fprintf(out, beginning, l->name, l->source, l->name, l->name);
  for (uint32_t i = 0; i < l->entry_count; i++) print_entry(l, &l->entries[i], out);
  fputs(tools, out);
  for (uint32_t i = 0; i < l->entry_count; i++) print_function_source(l, &l->entries[i], out);
  for (size_t i = 0; i < l->types.list.count; i++) {
    const struct c_type *t = l->types.list.items[i];
    if (t->given && t->memory) print_free_source(l, t, out);
  }
}
