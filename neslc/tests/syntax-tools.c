/* syntax-tools.c - reading texts in tests; equality of trees. */
#include "neslc/tests/syntax-tools.h"

#include <stdlib.h>
#include <string.h>

void reading_begin(struct reading_test *t, const char *text, size_t length) {
  heap_init(&t->heap, (uint64_t)1 << 30);
  arena_init(&t->arena, &t->heap);
  intern_init(&t->names, &t->arena);
  t->source = (struct source){.name = "test.nesl",
                              .text = arena_copy(&t->arena, text, length),
                              .length = length,
                              .first_line = 1};
  reader_init(&t->reader, &t->arena, &t->names, &t->source);
}

enum reading reading_next(struct reading_test *t, struct form *form) {
  diag_list_init(&t->diags, &t->arena);
  t->complaints = (struct complaints){.diags = &t->diags};
  return read_form(&t->reader, &t->complaints, form);
}

void reading_end(struct reading_test *t) {
  arena_free(&t->arena);
  if (t->heap.live != 0) abort();
}

static bool same_names(const struct name *a, const struct name *b) {
  if (a == NULL || b == NULL) return a == b;
  return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static bool same_types(const struct syntax_type *a, const struct syntax_type *b) {
  if (a == NULL || b == NULL) return a == b;
  return a->kind == b->kind && same_names(a->name, b->name) &&
         same_names(a->module, b->module) && same_types(a->left, b->left) &&
         same_types(a->right, b->right);
}

static bool same_lists(const struct syntax *a, const struct syntax *b) {
  if (a->as.list.count != b->as.list.count) return false;
  for (size_t i = 0; i < a->as.list.count; i++) {
    if (!same_syntax(a->as.list.items[i], b->as.list.items[i])) return false;
  }
  return true;
}

static bool same_eaches(const struct syntax *a, const struct syntax *b) {
  if (a->as.each.count != b->as.each.count || a->serial != b->serial) return false;
  for (size_t i = 0; i < a->as.each.count; i++) {
    const struct syntax_generator *x = &a->as.each.generators[i];
    const struct syntax_generator *y = &b->as.each.generators[i];
    if (!same_syntax(x->pattern, y->pattern) || !same_syntax(x->source, y->source))
      return false;
  }
  return same_syntax(a->as.each.body, b->as.each.body) &&
         same_syntax(a->as.each.sieve, b->as.each.sieve);
}

bool same_syntax(const struct syntax *a, const struct syntax *b) {
  if (a == NULL || b == NULL) return a == b;
  if (a->kind != b->kind) return false;
  switch ((enum syntax_kind)a->kind) {
  case SYNTAX_INT: return a->as.integer == b->as.integer;
  case SYNTAX_FLOAT: return memcmp(&a->as.real, &b->as.real, sizeof(double)) == 0;
  case SYNTAX_CHAR: return a->as.character == b->as.character;
  case SYNTAX_STRING:
    return a->as.string.length == b->as.string.length &&
           memcmp(a->as.string.text, b->as.string.text, a->as.string.length) == 0;
  case SYNTAX_NAME:
    return a->builtin == b->builtin && same_names(a->as.name.name, b->as.name.name) &&
           strcmp(a->as.name.written, b->as.name.written) == 0;
  case SYNTAX_PAIR:
  case SYNTAX_APPLY:
  case SYNTAX_LAMBDA:
  case SYNTAX_OPTION:
  case SYNTAX_IF:
  case SYNTAX_LET:
  case SYNTAX_LOOP:
    return same_syntax(a->as.part.left, b->as.part.left) &&
           same_syntax(a->as.part.right, b->as.part.right) &&
           same_syntax(a->as.part.third, b->as.part.third) &&
           same_syntax(a->as.part.fourth, b->as.part.fourth);
  case SYNTAX_LIST: return same_lists(a, b);
  case SYNTAX_EMPTY: return same_types(a->as.type, b->as.type);
  case SYNTAX_TYPED:
    return same_syntax(a->as.typed.inner, b->as.typed.inner) &&
           same_types(a->as.typed.type, b->as.typed.type);
  case SYNTAX_FIELD:
    return same_syntax(a->as.field.record, b->as.field.record) &&
           same_names(a->as.field.name, b->as.field.name);
  case SYNTAX_EACH: return same_eaches(a, b);
  }
  return false;
}

static bool same_annotations(const struct syntax_annotation *a,
                             const struct syntax_annotation *b) {
  if (a == NULL || b == NULL) return a == b;
  if (a->count != b->count || !same_types(a->type, b->type)) return false;
  for (size_t i = 0; i < a->count; i++) {
    if (!same_names(a->constraints[i].variable, b->constraints[i].variable) ||
        !same_names(a->constraints[i].class_name, b->constraints[i].class_name)) {
      return false;
    }
  }
  return true;
}

static bool same_fields(const struct form *a, const struct form *b) {
  bool same = a->field_count == b->field_count;
  for (size_t i = 0; same && i < a->field_count; i++)
    same = same_names(a->fields[i].name, b->fields[i].name);
  return same;
}

bool same_form(const struct form *a, const struct form *b) {
  const char *x = a->documentation, *y = b->documentation;
  bool same_documentation = x == NULL || y == NULL ? x == y : strcmp(x, y) == 0;
  return a->kind == b->kind && same_names(a->name, b->name) && same_documentation &&
         same_syntax(a->pattern, b->pattern) && same_syntax(a->value, b->value) &&
         same_annotations(a->annotation, b->annotation) && a->word_count == b->word_count &&
         same_syntax(a->argument, b->argument) && same_fields(a, b);
}

char *shown_form(const struct form *form, size_t *length) {
  char *text = NULL;
  FILE *file = open_memstream(&text, length);
  if (file == NULL) abort();
  show_form(form, file);
  fclose(file);
  return text;
}
