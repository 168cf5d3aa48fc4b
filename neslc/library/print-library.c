/* print-library.c - writes docs/nesl-library.md: every function of the library, its type and
 * its documentation, file by file in the order of their definitions; behind those of NAME.nesl
 * its examples, examples/NAME.md.
 */
#include "neslc/library/library.h"

#include <ctype.h>
#include <string.h>

/* Text for a cell of a table: white space squeezed, bars escaped. */
static void put_cell(const char *text, size_t length) {
  bool space = false;
  for (size_t i = 0; i < length; i++) {
    if (isspace((unsigned char)text[i])) {
      space = true;
      continue;
    }
    if (space) putchar(' ');
    space = false;
    if (text[i] == '|') putchar('\\');
    putchar(text[i]);
  }
}

static void put_markdown(const char *text) {
  put_cell(text, strlen(text));
}

/* How a call is written: the parameters as in the definition, operators between theirs. */
static void put_call(const struct form *form) {
  const char *source = form->source->text, *name = form->name->text;
  const struct syntax *p = form->pattern;
  bool infix = !isalpha((unsigned char)name[0]) || !strcmp(name, "and") ||
               !strcmp(name, "or") || !strcmp(name, "xor") || !strcmp(name, "nand") ||
               !strcmp(name, "nor");
  if (infix) {
    const struct span left = p->as.part.left->at, right = p->as.part.right->at;
    put_cell(source + left.start, left.end - left.start);
    putchar(' ');
    put_markdown(name);
    putchar(' ');
    put_cell(source + right.start, right.end - right.start);
    return;
  }
  put_markdown(name);
  const bool bare = source[p->at.start] != '(';
  if (bare) putchar('(');
  put_cell(source + p->at.start, p->at.end - p->at.start);
  if (bare) putchar(')');
}

/* Whether the call has a backquote in it, as characters have: its code has two around it then.
 */
static bool has_backquote(const struct form *form) {
  const struct span at = form->pattern->at;
  return memchr(form->source->text + at.start, '`', at.end - at.start) != NULL;
}

/* The cells behind the name. */
static void put_row(struct session *session, const struct global *g) {
  printf(" | `");
  put_markdown(type_text(session->arena, g->scheme.type, true));
  printf("` | ");
  put_markdown(g->documentation);
  printf("%s |\n", g->serial_only ? " *Serial only.*" : "");
}

static void put_library_function(struct session *session, const struct form *form) {
  const struct global *g = session_library(session, form->name->text);
  const bool two = has_backquote(form);
  printf(two ? "| `` " : "| `");
  put_call(form);
  printf(two ? " ``" : "`");
  put_row(session, g);
}

/* "% text.nesl - characters, words. (NESL ...": the text between the dash and the full stop. */
static void put_title(const struct library_file *file) {
  const char *start = strstr(file->text, " - ") + 3, *end = strchr(start, '.');
  printf("\n## %c", toupper((unsigned char)*start));
  put_cell(start + 1, (size_t)(end - start) - 1);
  printf("\n\n| Function | Type | Meaning |\n|---|---|---|\n");
}

/* A text of the folder examples/, if it is there. */
static void put_example(const char *name, size_t length) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%.*s.md", EXAMPLES, (int)length, name);
  FILE *file = fopen(path, "r");
  if (!file) return;
  putchar('\n');
  for (int c; (c = getc(file)) != EOF;) putchar(c);
  fclose(file);
}

static void put_examples_of(const struct library_file *file) {
  const char *slash = strrchr(file->name, '/');
  const char *name = slash ? slash + 1 : file->name;
  put_example(name, strcspn(name, "."));
}

static bool put_file(struct session *session, const struct library_file *file,
                     struct complaints *complaints) {
  put_title(file);
  const struct source source = {
      .name = file->name, .text = file->text, .length = file->length, .first_line = 1};
  struct reader reader;
  reader_init(&reader, session->arena, &session->names, &source);
  struct form form;
  enum reading reading;
  while ((reading = read_form(&reader, complaints, &form)) == READ_FORM) {
    if (form.kind == FORM_FUNCTION && form.name->text[0] != '_')
      put_library_function(session, &form);
  }
  put_examples_of(file);
  return reading == READ_END;
}

static void put_library_constant(void *session, struct global *g) {
  if (g->kind != GLOBAL_VARIABLE) return;
  printf("| `%s`", g->name->text);
  put_row(session, g);
}

int main(void) {
  struct heap heap;
  heap_init(&heap, 0);
  struct arena arena;
  arena_init(&arena, &heap);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return 1;
  struct diag_list diags;
  diag_list_init(&diags, &arena);
  struct complaints complaints = {.diags = &diags};
  struct session *session = session_new(&arena, false, &diags);
  bool good = session != NULL;
  if (good) {
    printf("# The NESL library\n\n"
           "Generated from `neslc/library` by `print-library`; do not edit. The tests execute "
           "the\n"
           "examples.\n\n"
           "Functions marked *serial only* may not be called within an apply-to-each. Work is\n"
           "proportional to the size of arguments and result, depth is that of a scan, unless\n"
           "the meaning says otherwise. `describe NAME;` at the prompt of `nesl` says the "
           "same.\n");
    put_example("introduction", strlen("introduction"));
    for (size_t i = 0; i < library_file_count && good; i++) {
      good = put_file(session, &library_files[i], &complaints);
    }
    printf("\n## Constants\n\n| Name | Type | Meaning |\n|---|---|---|\n");
    session_each(session, put_library_constant, session);
  }
  diag_print(&diags, "print-library", 0, stderr);
  arena_free(&arena);
  return good ? 0 : 1;
}
