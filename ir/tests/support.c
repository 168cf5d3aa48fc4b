/* support.c - see support.h. */
#include "support.h"

#include "ir/tests/parse.h"

#include <stdlib.h>
#include <string.h>

void fixture_build(struct fixture *t, const char *text) {
  heap_init(&t->heap, (uint64_t)1 << 30);
  arena_init(&t->arena, &t->heap);
  arena_init(&t->messages, &t->heap);
  diag_list_init(&t->diags, &t->messages);
  struct widths classic = {CVL_I32, CVL_F64};
  t->vcode = vcode_parse(&t->arena, "test.vcode", text, strlen(text), classic, &t->diags);
  cr_assert(t->vcode, "parse: %s", t->diags.errors ? t->diags.list.items[0].message : "?");
  t->ir = ir_build(&t->arena, t->vcode, classic, &t->diags);
  if (t->ir)
    cr_assert(ir_verify(&t->arena, t->ir, &t->diags), "%s", t->diags.list.items[0].message);
  else
    cr_assert(t->diags.errors > 0, "rejected without an error");
}

void fixture_free(struct fixture *t) {
  arena_free(&t->arena);
  arena_free(&t->messages);
}

const struct ir_function *function_named(const struct fixture *t, const char *name) {
  cr_assert(t->ir, "rejected: %s", t->diags.list.items[0].message);
  for (uint32_t i = 0; i < t->ir->function_count; i++) {
    if (strcmp(t->ir->functions[i].name->text, name) == 0) return &t->ir->functions[i];
  }
  cr_assert(false, "no function %s", name);
  return NULL;
}

static void put_kind(FILE *out, const struct ir_kind *kind) {
  static const char *const base[] = {"INT", "FLOAT", "BOOL", "SEGDES"};
  if (kind->tag == IR_ANY) {
    fprintf(out, "?%u", kind->variable);
  } else if (kind->tag == IR_PAIR) {
    fputs("(", out);
    put_kind(out, kind->left);
    fputs(",", out);
    put_kind(out, kind->right);
    fputs(")", out);
  } else {
    fputs(base[kind->tag], out);
  }
}

const char *signature(struct fixture *t, const char *name) {
  const struct ir_function *f = function_named(t, name);
  char text[500] = "";
  FILE *out = fmemopen(text, sizeof text, "w");
  if (!f->typed) {
    fprintf(out, "untyped: %s", f->reason);
  } else {
    for (uint32_t i = 0; i < f->param_count; i++) {
      put_kind(out, f->vars[i]);
      putc(' ', out);
    }
    fputs("->", out);
    for (uint32_t i = 0; i < f->result_count; i++) {
      putc(' ', out);
      put_kind(out, f->result_kinds[i]);
    }
    if (!f->returns) fputs(" never", out);
  }
  fclose(out);
  return arena_copy(&t->arena, text, strlen(text));
}

const char *printed(struct fixture *t, const struct ir_program *program) {
  return ir_text(&t->arena, program);
}

const struct ir_program *expect_round_trip(struct fixture *t) {
  const char *once = printed(t, t->ir);
  struct ir_program *again = ir_parse(&t->arena, "text", once, strlen(once), &t->diags);
  cr_assert(again, "%s\n%s", t->diags.list.items[0].message, once);
  cr_expect(ir_verify(&t->arena, again, &t->diags));
  const char *twice = printed(t, again);
  cr_expect(strcmp(once, twice) == 0, "%s\nbecame\n%s", once, twice);
  return again;
}

const struct ir_program *build_round_trip(struct fixture *t, const char *text) {
  fixture_build(t, text);
  cr_assert(t->ir, "%s", text);
  return expect_round_trip(t);
}

char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *text = malloc((size_t)size + 1);
  *length = fread(text, 1, (size_t)size, file);
  text[*length] = '\0';
  fclose(file);
  return text;
}
