/* print.c - the text form of the let-form. Tests are written in it (tests/parse.h). Liveness is
 * not printed; ir_liveness computes it again.
 *
 *   let-form "fib.vcode" i64 f64 entry MAIN
 *
 *   fun FIB (v0: INT) -> (INT) @9:6
 *     v1 = CONST INT 2 @11:1
 *     v2 = < INT v0 v1 @12:1
 *     v3: INT = if v2 @13:1
 *       yield v0
 *     else
 *       ...
 *       yield v9
 *     end
 *     yield v3
 *   end
 *
 *   program    = "let-form" STRING ("i32" | "i64") ("f32" | "f64") "entry" NAME
 *                origin* definition* function*
 *   origin     = "origin" STRING LINE ":" COLUMN STRING ("inlined" NUMBER)?
 *                file, function, number of the origin that it was inlined at; from 1
 *   definition = "fused" ... see fused-kernels/, numbers from 0
 *   function   = "fun" NAME "(" (VAR ":" kind),* ")" "->" "(" kind,* ")" mark? pos block "end"
 *              | "stack" NAME "because" STRING pos VCODE "positions" (pos)* "end"
 *   mark       = "instances" size* "->" size* ("procedure" NAME)?
 *                sizes of the parameters and the results
 *              | "rounds" | "round"
 *   size       = "each" | "shared" | NUMBER
 *   block      = binding* ("yield" VAR* | "exit" pos | "never")
 *   binding    = ((VAR (":" kind)?),+ "=")? operation VAR* pos
 *              | ((VAR (":" kind)?),+ "=")? "if" VAR pos block "else" block "end"
 *   operation  = OPCODE TYPE? STRING? | "CONST" TYPE constant | "call" NAME
 *              | "FUSED" NUMBER
 *   kind       = "INT" | "FLOAT" | "BOOL" | "SEGDES" | "PAIR" "(" kind "," kind ")"
 *              | "?" NUMBER
 *   pos        = "@" LINE ":" COLUMN ("#" NUMBER)?   NUMBER: of an origin
 *
 * Constants are written as in VCODE, but in strings `\"`, `\\` and `\xHH` stand for bytes, and
 * `inf`, `-inf` and `nan` for such numbers. A result has its kind where the operation does not
 * determine it: of `call`, `if`, `PAIR` and `UNPAIR`. VAR is `v` and a number; parameters are
 * `v0`, `v1` ..., deepest first. */
#include "base/number.h"
#include "fused-kernels/fused.h"
#include "ir/walk.h"

#include <string.h>

struct printer {
  const struct ir_program *program;
  const struct ir_function *f;
  struct arena *arena;
  FILE *out;
};

/* ---- words ---- */

/* Prints a string: printable bytes as they are, `"` and `\` after a `\`, others as \xHH. */
static void put_string(FILE *out, const char *text, size_t length) {
  putc('"', out);
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else if (c < ' ' || c > '~')
      fprintf(out, "\\x%02x", c);
    else
      putc(c, out);
  }
  putc('"', out);
}

static void print_kind(FILE *out, const struct ir_kind *kind) {
  switch (kind->tag) {
  case IR_INT: fputs("INT", out); break;
  case IR_FLOAT: fputs("FLOAT", out); break;
  case IR_BOOL: fputs("BOOL", out); break;
  case IR_SEGDES: fputs("SEGDES", out); break;
  case IR_ANY: fprintf(out, "?%u", kind->variable); break;
  case IR_PAIR:
    fputs("PAIR(", out);
    print_kind(out, kind->left);
    fputs(", ", out);
    print_kind(out, kind->right);
    fputs(")", out);
    break;
  }
}

static void put_pos(FILE *out, struct source_pos pos, uint32_t origin) {
  fprintf(out, " @%u:%u", pos.line, pos.column);
  if (origin) fprintf(out, "#%u", origin);
}

static void print_element(FILE *out, const struct vcode_constant *c, uint64_t i) {
  static const char *const streams[] = {"NULL_STREAM", "STDIN", "STDOUT", "STDERR"};
  char text[NUMBER_TEXT_MAX];
  if (c->type == TW_FLOAT) {
    format_float_exact(text, c->as.floats[i]);
    fputs(text, out);
  } else if (c->type == TW_BOOL) {
    putc(c->as.bools[i] ? 'T' : 'F', out);
  } else if (c->stream_name) {
    fputs(streams[c->as.ints[i] + 1], out);
  } else {
    format_int(text, c->as.ints[i]);
    fputs(text, out);
  }
}

static void print_constant(FILE *out, const struct vcode_constant *c) {
  fprintf(out, "CONST %s ", type_word_text(c->type));
  if (c->type == TW_CHAR) {
    put_string(out, c->as.chars, c->length);
  } else if (!c->vector) {
    print_element(out, c, 0);
  } else {
    putc('(', out);
    for (uint64_t i = 0; i < c->length; i++) {
      if (i > 0) putc(' ', out);
      print_element(out, c, i);
    }
    putc(')', out);
  }
}

/* ---- lines ---- */

static void print_indent(const struct printer *p, unsigned depth) {
  enum { DEEPEST = 40 }; /* levels: deeper nests stay readable, and linear in size */
  for (unsigned i = 0; i < depth && i < DEEPEST; i++) fputs("  ", p->out);
}

static void put_vars(const struct printer *p, uint32_t count, const ir_var *vars) {
  for (uint32_t i = 0; i < count; i++) fprintf(p->out, " v%u", vars[i]);
}

/* Prints results, with their kinds where the operation does not fix them, and `=`. */
static void print_binding_results(const struct printer *p, const struct ir_binding *x) {
  bool kinds = x->form == IR_CALL || x->form == IR_IF ||
               (x->form == IR_OP && opcode_info(x->op)->klass == OC_PAIRING);
  for (uint32_t i = 0; i < x->result_count; i++) {
    fprintf(p->out, "%sv%u", i > 0 ? ", " : "", x->results[i]);
    if (!kinds) continue;
    fputs(": ", p->out);
    print_kind(p->out, p->f->vars[x->results[i]]);
  }
  if (x->result_count > 0) fputs(" = ", p->out);
}

static void put_binding(const struct printer *p, const struct ir_binding *x) {
  print_binding_results(p, x);
  switch ((enum ir_form)x->form) {
  case IR_OP:
    fputs(opcode_info(x->op)->spelling, p->out);
    if (x->type != TW_NONE) fprintf(p->out, " %s", type_word_text(x->type));
    if (x->op == OPC_ASSERT) {
      putc(' ', p->out);
      put_string(p->out, x->as.text.text, x->as.text.length);
    }
    break;
  case IR_CONST: print_constant(p->out, x->as.constant); break;
  case IR_CALL:
    fprintf(p->out, "call %s", p->program->functions[x->as.callee].name->text);
    break;
  case IR_IF: fputs("if", p->out); break;
  case IR_FUSED: fprintf(p->out, "FUSED %u", x->as.superop); break;
  }
  put_vars(p, x->operand_count, x->operands);
  put_pos(p->out, x->pos, x->origin);
  putc('\n', p->out);
}

static void put_end(const struct printer *p, const struct ir_block *block, unsigned depth) {
  print_indent(p, depth);
  switch ((enum ir_end)block->end) {
  case IR_YIELD:
    fputs("yield", p->out);
    put_vars(p, block->result_count, block->results);
    break;
  case IR_EXIT:
    fputs("exit", p->out);
    put_pos(p->out, block->pos, 0);
    break;
  case IR_NEVER: fputs("never", p->out); break;
  }
  putc('\n', p->out);
}

/* ---- functions ---- */

/* A block whose arm is being printed, and the index of its next binding. */
struct level {
  const struct ir_block *block;
  uint32_t next;
  bool in_else;
};
typedef ARRAY(struct level) level_list;

static void put_body(const struct printer *p) {
  level_list levels = {0};
  *array_push(p->arena, &levels) = (struct level){p->f->body, 0, false};
  while (levels.count > 0 && !ferror(p->out)) { /* or the rest cannot be written */
    struct level *top = &levels.items[levels.count - 1];
    if (top->next < top->block->count) {
      const struct ir_binding *x = &top->block->bindings[top->next++];
      print_indent(p, (unsigned)levels.count);
      put_binding(p, x);
      if (x->form != IR_IF) continue;
      *array_push(p->arena, &levels) = (struct level){x->as.arms.then, 0, false};
      continue;
    }
    put_end(p, top->block, (unsigned)levels.count);
    print_indent(p, (unsigned)levels.count - 1);
    if (levels.count == 1 || top->in_else) {
      fputs("end\n", p->out);
      levels.count--;
    } else {
      fputs("else\n", p->out);
      const struct level *around = &levels.items[levels.count - 2];
      const struct ir_binding *x = &around->block->bindings[around->next - 1];
      *top = (struct level){x->as.arms.otherwise, 0, true};
    }
  }
}

static void print_sizes(uint32_t count, const uint32_t *sizes, FILE *out) {
  for (uint32_t i = 0; i < count; i++) {
    if (sizes[i] == IR_EACH)
      fputs(" each", out);
    else if (sizes[i] == IR_SHARED)
      fputs(" shared", out);
    else
      fprintf(out, " %u", sizes[i]);
  }
}

static void print_instance_mark(const struct ir_instances *mark, const struct ir_function *f,
                                FILE *out) {
  fputs(" instances", out);
  print_sizes(f->param_count, mark->params, out);
  fputs(" ->", out);
  print_sizes(f->result_count, mark->results, out);
}

static void print_procedure(const struct printer *p) {
  const uint32_t procedure = ir_procedure(p->f);
  if (procedure == IR_NO_PROCEDURE) return;
  fprintf(p->out, " procedure %s", p->program->functions[procedure].name->text);
}

static void put_typed(const struct printer *p) {
  const struct ir_function *f = p->f;
  fprintf(p->out, "fun %s (", f->name->text);
  for (uint32_t i = 0; i < f->param_count; i++) {
    fprintf(p->out, "%sv%u: ", i > 0 ? ", " : "", f->params[i]);
    print_kind(p->out, f->vars[f->params[i]]);
  }
  fputs(") -> (", p->out);
  for (uint32_t i = 0; i < f->result_count; i++) {
    if (i > 0) fputs(", ", p->out);
    print_kind(p->out, f->result_kinds[i]);
  }
  fputs(")", p->out);
  if (f->instances) print_instance_mark(f->instances, f, p->out);
  print_procedure(p);
  if (f->rounds) fputs(f->rounds == VCODE_ROUND ? " round" : " rounds", p->out);
  put_pos(p->out, f->pos, 0);
  putc('\n', p->out);
  put_body(p);
}

static void put_stack(const struct printer *p) {
  const struct ir_function *f = p->f;
  fprintf(p->out, "stack %s because ", f->name->text);
  put_string(p->out, f->reason, strlen(f->reason));
  put_pos(p->out, f->pos, 0);
  putc('\n', p->out);
  struct vcode_function only = *f->stack;
  struct vcode_program alone = {.file = p->program->file,
                                .functions = &only,
                                .function_count = 1,
                                .origins = p->program->origins};
  vcode_print(&alone, p->out);
  fputs("positions", p->out);
  for (uint32_t i = 0; i < only.length; i++)
    put_pos(p->out, only.code[i].pos, only.code[i].origin);
  fputs("\nend\n", p->out);
}

static void print_one_function(const struct ir_program *program, uint32_t function,
                               struct arena *arena, FILE *out) {
  struct printer p = {
      .program = program, .f = &program->functions[function], .arena = arena, .out = out};
  if (p.f->typed)
    put_typed(&p);
  else
    put_stack(&p);
}

/* Adds the FUSED of a function to the uses of each superoperator. */
static void count_superop_uses(const struct ir_function *f, uint32_t *uses, uint32_t superops,
                               struct arena *arena) {
  for (uint32_t i = 0; f->stack && !f->typed && i < f->stack->length; i++) {
    const struct vcode_instruction *in = &f->stack->code[i];
    if (in->op == OPC_FUSED && in->as.fused < superops) uses[in->as.fused]++;
  }
  if (!f->typed) return;
  for (struct ir_walk w = ir_walk(arena, f->body); ir_next_binding(&w);) {
    if (w.x->form == IR_FUSED) uses[w.x->as.superop]++;
  }
}

static void put_superops(const struct ir_program *program, struct arena *arena, FILE *out) {
  const uint32_t n = program->superop_count;
  uint32_t *uses = arena_alloc(arena, n * sizeof *uses);
  for (uint32_t i = 0; i < program->function_count && n > 0; i++)
    count_superop_uses(&program->functions[i], uses, n, arena);
  for (uint32_t i = 0; i < n; i++) {
    putc('\n', out);
    fused_print(program->superops[i], uses[i], &program->origins, out);
  }
}

static void print_origin_comment(const struct origin *origin, FILE *out) {
  fputs("origin ", out);
  put_string(out, origin->file, strlen(origin->file));
  fprintf(out, " %u:%u ", origin->pos.line, origin->pos.column);
  put_string(out, origin->function, strlen(origin->function));
  if (origin->inlined_at) fprintf(out, " inlined %u", origin->inlined_at);
  putc('\n', out);
}

static void put_program(const struct ir_program *program, const bool *wanted,
                        struct arena *arena, FILE *out) {
  fputs("let-form ", out);
  put_string(out, program->file, strlen(program->file));
  fprintf(out, " %s %s entry %s\n", elem_info(program->widths.int_elem)->text,
          elem_info(program->widths.float_elem)->text,
          program->functions[program->entry].name->text);
  for (uint32_t i = 1; i < program->origins.list.count; i++)
    print_origin_comment(origin_at(&program->origins, i), out);
  put_superops(program, arena, out);
  for (uint32_t i = 0; i < program->function_count; i++) {
    if (wanted && !wanted[i]) continue;
    putc('\n', out);
    print_one_function(program, i, arena, out);
  }
}

/* ---- the way in ---- */

/* The function to print, or NULL for the whole program. It has an arena of its own, so that
 * printing does not make another grow. */
struct printing {
  const struct ir_program *program;
  const bool *wanted;
  const uint32_t *function;
  FILE *out;
};

static void put_wanted(struct arena *arena, void *context) {
  const struct printing *p = context;
  if (p->function) {
    print_one_function(p->program, *p->function, arena, p->out);
  } else {
    put_program(p->program, p->wanted, arena, p->out);
  }
}

static void ir_print_wanted(const struct ir_program *program, const bool *wanted,
                            const uint32_t *function, FILE *out) {
  arena_apart(put_wanted, &(struct printing){program, wanted, function, out});
}

void ir_print_functions(const struct ir_program *program, const bool *wanted, FILE *out) {
  ir_print_wanted(program, wanted, NULL, out);
}

void ir_print(const struct ir_program *program, FILE *out) {
  ir_print_wanted(program, NULL, NULL, out);
}

void ir_print_function(const struct ir_program *program, uint32_t function, FILE *out) {
  ir_print_wanted(program, NULL, &function, out);
}
