/* nesl-describe.c - what `describe` prints: of functions and of syntax. */
#include "commands/nesl.h"

#include <string.h>

/* ---- syntax ---- */

static const struct nesl_syntax entries[] = {
#define SYNTAX(words, form, text) {words, form, text},
#include "commands/nesl-syntax.def"
};

const struct nesl_syntax *nesl_find_syntax(const char *word) {
  char padded[16];
  if (strlen(word) + 3 > sizeof padded) return NULL;
  snprintf(padded, sizeof padded, " %s ", word);
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    if (strstr(entries[i].words, padded)) return &entries[i];
  }
  return NULL;
}

/* ---- lines ---- */

void nesl_put_type(struct global *g, FILE *out) {
  fprintf(out, "%s : ", g->name->text);
  type_show(g->scheme.type, true, out);
  fputc('\n', out);
}

/* Prints at most so many lines of a text. */
static void put_lines(const char *text, unsigned most, FILE *out) {
  for (; *text && most > 0; most--) {
    size_t n = strcspn(text, "\n");
    fprintf(out, "  %.*s\n", (int)n, text);
    text += n + (text[n] == '\n');
  }
  if (*text) fputs("  ...\n", out);
}

/* Prints the first lines of a form. */
static void put_code(struct nesl *n, const struct form *form, unsigned most) {
  struct text text;
  if (!text_begin(&text, &n->heap)) memory_failed();
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    text_free(&text);
    memory_failed();
  }
  show_form(form, text.stream);
  if (!text_end(&text)) memory_failed();
  put_lines(text.bytes, most, n->out);
  memory_guard_end(&guard);
  text_free(&text);
}

/* ---- describe ---- */

static void describe_global(struct nesl *n, struct global *g) {
  enum { LINES = 8 };
  nesl_put_type(g, n->out);
  if (g->documentation) put_lines(g->documentation, UINT32_MAX, n->out);
  if (g->kind == GLOBAL_CONSTRUCTOR) fputs("  The constructor of a datatype.\n", n->out);
  const bool record = g->form && g->form->field_count > 0;
  if (!record && (!g->form || g->form->kind != FORM_FUNCTION || g->primitive >= 0)) return;
  put_code(n, g->form, LINES);
}

void nesl_describe(struct nesl *n, struct global *g, const struct nesl_syntax *syntax) {
  if (g) describe_global(n, g);
  if (!syntax) return;
  fprintf(n->out, "%s\n", syntax->form);
  put_lines(syntax->text, UINT32_MAX, n->out);
}
