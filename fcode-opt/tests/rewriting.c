/* rewriting.c - see rewriting.h. */
#include "rewriting.h"
#include "programs.h"

#include "ir/tests/parse.h"
#include <setjmp.h>
#include <string.h>

static const char *rewriting_first_error(const struct rewriting *r) {
  return r->diags.errors ? r->diags.list.items[0].message : "?";
}

void rewriting_begin(struct rewriting *r, const char *functions) {
  memset(r, 0, sizeof *r);
  heap_init(&r->heap, (uint64_t)1 << 30);
  arena_init(&r->arena, &r->heap);
  arena_init(&r->scratch, &r->heap);
  diag_list_init(&r->diags, &r->arena);
  char *text = arena_printf(&r->arena, "let-form \"t.vcode\" i64 f64 entry M\n%s",
                            with_positions(&r->arena, functions));
  r->options = fcode_opt_default_options();
  r->o = (struct opt){
      .arena = &r->arena, .scratch = &r->scratch, .options = &r->options, .stats = &r->stats};
  r->o.program = ir_parse(&r->arena, "t", text, strlen(text), &r->diags);
  cr_assert(r->o.program, "%s\n%s", rewriting_first_error(r), functions);
  uint32_t functions_count = r->o.program->function_count;
  r->o.var_capacity = arena_alloc(&r->arena, functions_count * sizeof *r->o.var_capacity);
  for (uint32_t i = 0; i < functions_count; i++)
    r->o.var_capacity[i] = r->o.program->functions[i].var_count;
  rewrite_reserve(&r->o, functions_count);
}

void rewriting_free(struct rewriting *r) {
  arena_free(&r->arena);
  arena_free(&r->scratch);
}

void rewriting_verify(struct rewriting *r) {
  ir_liveness(&r->arena, r->o.program);
  cr_assert(ir_verify(&r->arena, r->o.program, &r->diags), "%s", rewriting_first_error(r));
}

uint32_t function_called(const struct rewriting *r, const char *name) {
  for (uint32_t i = 0; i < r->o.program->function_count; i++) {
    if (strcmp(r->o.program->functions[i].name->text, name) == 0) return i;
  }
  cr_assert(false, "no function %s", name);
  return 0;
}

static const struct ir_binding *rewriting_find(const struct ir_block *block, ir_var v) {
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding *x = &block->bindings[i], *inside = NULL;
    if (x->result_count > 0 && x->results[0] == v) return x;
    if (x->form != IR_IF) continue;
    inside = rewriting_find(x->as.arms.then, v);
    if (!inside) inside = rewriting_find(x->as.arms.otherwise, v);
    if (inside) return inside;
  }
  return NULL;
}

const struct ir_binding *binding_of(const struct rewriting *r, const char *function, ir_var v) {
  const struct ir_function *f = &r->o.program->functions[function_called(r, function)];
  const struct ir_binding *x = rewriting_find(f->body, v);
  cr_assert(x, "no v%u in %s", v, function);
  return x;
}

bool rewriting_pass(const char *functions, bool (*pass)(struct opt *), char *body,
                    size_t size) {
  struct rewriting r;
  rewriting_begin(&r, functions);
  const bool changed = pass(&r.o);
  rewriting_verify(&r);
  FILE *out = fmemopen(body, size, "w");
  ir_print_function(r.o.program, function_called(&r, "M"), out);
  fclose(out);
  rewriting_free(&r);
  return changed;
}

void rewriting_has(const char *body, const char *words, unsigned times) {
  unsigned found = 0;
  for (const char *at = strstr(body, words); at; at = strstr(at + 1, words)) found++;
  cr_expect_eq(found, times, "%s: %u times, not %u\n%s", words, found, times, body);
}

const char *rewriting_listing(struct rewriting *r, const char *functions,
                              bool (*pass)(struct opt *)) {
  rewriting_begin(r, functions);
  pass(&r->o);
  for (uint32_t f = 0; f < r->o.program->function_count; f++)
    rewrite_number(&r->o, &r->o.program->functions[f]);
  rewriting_verify(r);
  const char *text = ir_text(&r->arena, r->o.program);
  return without_positions(&r->arena, text, strlen(text));
}

void rewriting_expect(bool (*pass)(struct opt *), const char *functions, const char *expected) {
  struct rewriting r;
  const char *found = rewriting_listing(&r, functions, pass);
  cr_expect(strcmp(strstr(found, "fun "), expected) == 0, "%s\ninstead of\n%s", found,
            expected);
  rewriting_free(&r);
}
