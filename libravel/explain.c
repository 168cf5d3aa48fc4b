/* explain.c - compiled programs and profiles as text, which the context keeps until its next
 * call.
 */
#include "libravel/private.h"

#include "base/c-compiler.h"
#include "fcode-opt/fcode-opt.h"
#include "fused-kernels/fused.h"

/* Returns the messages, or "" without memory. */
static const char *messages_text(struct ravel_context *c) {
  if (text_end(&c->said)) return c->said.bytes;
  ravel_fail_memory(c);
  return "";
}

const char *ravel_profile(struct ravel_context *c) {
  if (!ravel_begin(c) || !c->options.machine.profile) return "";
  if (machine_totals(c->machine).seconds == 0) return ""; /* nothing has run */
  if (!text_begin(&c->said, &c->message_heap)) {
    ravel_fail_memory(c);
    return "";
  }
  machine_profile(c->machine, c->said.stream, true);
  return messages_text(c);
}

/* ---- the C compiler ---- */

const char *ravel_compiler(struct ravel_context *c) {
  struct c_compiler compiler;
  if (!ravel_begin(c)) return "";
  if (!text_begin(&c->said, &c->message_heap)) {
    ravel_fail_memory(c);
    return "";
  }
  if (c->options.compiler) {
    c_compiler_choose(&compiler, c->options.machine.zig);
    c_compiler_describe(&compiler, c->said.stream);
  } else {
    fputs("C compiler: none, since the option compiler is no; programs run evaluated and "
          "flattened",
          c->said.stream);
  }
  return messages_text(c);
}

/* ---- programs ---- */

/* Prints a comment. No brace in it may end the comment, nor may the end of a line. */
static void print_comment(const char *text, FILE *out) {
  fputs("{ ", out);
  for (const char *x = text; *x; x++) {
    fputc(*x == '{' ? '(' : *x == '}' ? ')' : *x == '\n' ? ' ' : *x, out);
  }
  fputs(" }\n", out);
}

static void print_formula(uint32_t number, const struct superop *op, FILE *out) {
  enum { MOST_BYTES = 400 };
  char line[MOST_BYTES + 32];
  const int start = snprintf(line, sizeof line, "OP%u: ", number);
  fused_formula(op, line + start, MOST_BYTES);
  print_comment(line, out);
}

struct explanation {
  const struct ravel_function *f;
  struct arena arena;
};

static enum ravel_code print_explanation(struct ravel_context *c, void *data) {
  struct explanation *e = data;
  if (*c->remark) print_comment(c->remark, c->said.stream);
  struct vcode_program *vcode = fcode_opt_stack_code(&e->arena, e->f->program, c->diags);
  if (!vcode) memory_failed();
  for (uint32_t i = 0; i < vcode->fused_count; i++) { /* as they are numbered there */
    const struct superop *op = fused_parse(&e->arena, vcode, &vcode->fused[i], c->diags);
    if (!op) memory_failed();
    print_formula(i, op, c->said.stream);
  }
  vcode_print(vcode, c->said.stream);
  return RAVEL_OK;
}

const char *ravel_explain(struct ravel_context *c, const struct ravel_function *f) {
  struct explanation e = {.f = f};
  if (!ravel_begin(c)) return "";
  if (!f || f->context != c) {
    ravel_fail(c, RAVEL_MISUSE,
               f ? "the function belongs to another context" : "a pointer is NULL");
    return "";
  }
  if (!text_begin(&c->said, &c->heap)) {
    ravel_fail_memory(c);
    return "";
  }
  arena_init(&e.arena, &c->heap);
  const enum ravel_code code = ravel_deep(c, print_explanation, &e);
  arena_free(&e.arena);
  if (code == RAVEL_OK) return messages_text(c);
  text_free(&c->said);
  return "";
}
