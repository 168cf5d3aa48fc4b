/* procedures.c - which functions are native, and the text of all of them. */
#include "procedures/procedures.h"

#include "base/text.h"
#include "procedures/private.h"

#include <string.h>

extern const char *const procedures_native_text[], *const procedures_functions_text[],
                                                       *const fused_loops_text[];

/* ---- which functions ---- */

struct choosing {
  struct arena *arena;
  const struct ir_program *program;
  bool *wanted; /* of every function: procedures, and what they call */
  bool *fails;  /* of every function: it cannot be printed */
  bool changed;
};

static bool is_plain(const struct ir_kind *kind) {
  return kind->tag == IR_INT || kind->tag == IR_FLOAT || kind->tag == IR_BOOL ||
         kind->tag == IR_SEGDES;
}

enum { PRINTED_CONSTANT_MOST = 4096 };

static bool may_print_binding(const struct choosing *x, const struct ir_function *f,
                              const struct ir_binding *b) {
  const struct superop *op;
  switch ((enum ir_form)b->form) {
  case IR_CONST: return b->as.constant->length <= PRINTED_CONSTANT_MOST;
  case IR_OP: return may_print_operation(x->arena, b, f);
  case IR_CALL: return callee_of(x->program, b) != IR_NO_PROCEDURE;
  case IR_FUSED:
    op = x->program->superops[b->as.superop];
    return op->copies ? may_print_copies(x->arena, op) : may_print_kernel(op);
  case IR_IF: break;
  }
  return true;
}

static bool may_print(const struct choosing *x, uint32_t number) {
  const struct ir_function *f = &x->program->functions[number];
  if (!f->typed || f->instances || !f->returns) return false;
  for (ir_var v = 0; v < f->var_count; v++) {
    if (!is_plain(f->vars[v])) return false;
  }
  for (struct ir_walk w = ir_walk(x->arena, f->body); ir_next_uses(&w);) {
    if (w.x ? !may_print_binding(x, f, w.x) : w.block->end == IR_EXIT) return false;
  }
  return true;
}

/* Returns false if one cannot be printed. */
static bool want_callees(struct choosing *x, const struct ir_block *block) {
  bool fine = true;
  for (struct ir_walk w = ir_walk(x->arena, block); ir_next_binding(&w);) {
    if (w.x->form != IR_CALL) continue;
    const uint32_t callee = callee_of(x->program, w.x);
    if (callee == IR_NO_PROCEDURE || x->fails[callee]) {
      fine = false;
    } else if (!x->wanted[callee]) {
      x->wanted[callee] = x->changed = true;
    }
  }
  return fine;
}

/* Goes on until what calls a function that cannot be printed cannot be printed either. */
static void choose(struct choosing *x) {
  const uint32_t count = x->program->function_count;
  for (uint32_t f = 0; f < count; f++) {
    const uint32_t p = ir_procedure(&x->program->functions[f]);
    if (p != IR_NO_PROCEDURE) x->wanted[p] = true;
  }
  x->wanted[x->program->entry] = true;
  bool *looked = arena_alloc(x->arena, count + 1);
  do {
    x->changed = false;
    for (uint32_t f = 0; f < count; f++) {
      if (!x->wanted[f] || x->fails[f]) continue;
      if (!looked[f]) x->fails[f] = !may_print(x, f);
      looked[f] = true;
      if (x->fails[f] || !want_callees(x, x->program->functions[f].body))
        x->fails[f] = x->changed = true;
    }
  } while (x->changed);
  for (uint32_t f = 0; f < count; f++) x->wanted[f] = x->wanted[f] && !x->fails[f];
}

static const bool *find_straight(const struct procedures_text *t) {
  const uint32_t count = t->program->function_count;
  const bool *repeats = find_repeating_lifted(t->arena, t->program);
  bool *straight = arena_alloc(t->arena, count + 1);
  for (uint32_t f = 0; f < count; f++) {
    const uint32_t p = ir_procedure(&t->program->functions[f]);
    straight[f] = p != IR_NO_PROCEDURE && t->printed[p] && !repeats[f];
  }
  return straight;
}

/* ---- the text ---- */

static void put_lines(const char *const *line, FILE *out) {
  for (; *line; line++) fputs(*line, out);
}

static void print_beginning(const struct procedures_text *t, FILE *out) {
  const struct widths w = t->program->widths;
  emit_prelude(w, out);
  fprintf(out, "#define INT   %s\n#define FLOAT %s\n\n", emit_type(w, SUPEROP_INT),
          emit_type(w, SUPEROP_FLOAT));
  fprintf(out, "enum { SCRATCH_PARTS = %u };\n", t->scratch);
  put_lines(procedures_native_text, out);
  put_lines(fused_loops_text, out);
  put_lines(procedures_functions_text, out);
}

static bool is_native(const struct procedures_text *t, uint32_t lifted) {
  const uint32_t p = ir_procedure(&t->program->functions[lifted]);
  return p != IR_NO_PROCEDURE && t->printed[p];
}

static void print_heads(struct procedures_text *t) {
  for (uint32_t f = 0; f < t->program->function_count; f++) {
    if (t->printed[f]) print_head(t, f), fputs(";\n", t->out);
    if (is_native(t, f)) print_batch_head(t, f), fputs(";\n", t->out);
  }
  fputs("\n", t->out);
}

static struct kernel_file kernel_file_of(const struct procedures_text *t) {
  return (struct kernel_file){.arena = t->arena,
                              .out = t->out,
                              .widths = t->program->widths,
                              .superops = t->program->superops,
                              .superop_count = t->program->superop_count,
                              .scratch = t->scratch};
}

void print_in_text(struct procedures_text *t, const struct superop *op,
                   const struct held *params, const struct held *outputs, bool keeps) {
  struct kernel_file file = kernel_file_of(t);
  print_kernel(&file, op, params, outputs, keeps);
  t->scratch = file.scratch;
}

static void print_functions(struct procedures_text *t) {
  const uint32_t count = t->program->function_count;
  struct kernel_file file = kernel_file_of(t);
  for (uint32_t k = 0; k < file.superop_count; k++) print_combination_function(&file, k);
  print_heads(t);
  for (uint32_t f = 0; f < count; f++) {
    if (t->printed[f] && t->repeats[f]) print_call_work(t, f);
  }
  for (uint32_t f = 0; f < count; f++) {
    if (t->printed[f]) print_procedure(t, f);
  }
  for (uint32_t f = 0; f < count; f++) {
    if (!is_native(t, f)) continue;
    print_batch(t, f);
    print_entry(t, f);
  }
  if (t->printed[t->program->entry]) print_main_entry(t);
}

/* Functions are printed without indentation, which is added at the end. */
static void print_all(struct procedures_text *t) {
  if (!text_begin(&t->whole, t->arena->heap)) memory_failed();
  if (!text_begin(&t->functions, t->arena->heap)) memory_failed();
  t->out = t->functions.stream;
  print_functions(t);
  if (!text_end(&t->functions)) memory_failed();
  print_beginning(t, t->whole.stream);
  put_indented(t->whole.stream, t->functions.bytes, t->functions.length);
  if (!text_end(&t->whole)) memory_failed();
}

static void free_texts(struct procedures_text *t) {
  text_free(&t->functions);
  text_free(&t->whole);
}

/* The text, in the arena. Arenas jump when memory runs out or work is to stop; the streams must
 * not outlive that. */
static void make_text(struct procedures_text *t, struct procedures *out) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    free_texts(t);
    memory_failed();
  }
  print_all(t);
  out->text = arena_copy(t->arena, t->whole.bytes, t->whole.length);
  out->length = t->whole.length;
  memory_guard_end(&guard);
  free_texts(t);
}

/* ---- descriptions ---- */

static uint8_t kind_of(const struct ir_kind *kind) {
  return kind->tag == IR_FLOAT    ? CVL_PROCEDURE_FLOAT
         : kind->tag == IR_BOOL   ? CVL_PROCEDURE_BOOL
         : kind->tag == IR_SEGDES ? CVL_PROCEDURE_SEGDES
                                  : CVL_PROCEDURE_INT;
}

static uint32_t size_of(uint32_t size, uint32_t less) {
  return size == IR_EACH     ? CVL_PROCEDURE_EACH
         : size == IR_SHARED ? CVL_PROCEDURE_SHARED
                             : size - less;
}

/* The procedure of function f, with these sizes of parameters and results. */
static const struct cvl_procedure *description(struct arena *arena, const struct ir_function *f,
                                               const char *entry, bool shares,
                                               const uint32_t *params,
                                               const uint32_t *results) {
  struct cvl_procedure *p = arena_alloc(arena, sizeof *p);
  uint8_t *param_kinds = arena_alloc(arena, f->param_count + 1);
  uint8_t *result_kinds = arena_alloc(arena, f->result_count + 1);
  for (uint32_t i = 0; i < f->param_count; i++) param_kinds[i] = kind_of(f->vars[f->params[i]]);
  for (uint32_t i = 0; i < f->result_count; i++) result_kinds[i] = kind_of(f->result_kinds[i]);
  *p = (struct cvl_procedure){.entry = entry,
                              .param_count = f->param_count,
                              .result_count = f->result_count,
                              .param_kinds = param_kinds,
                              .result_kinds = result_kinds,
                              .params = params,
                              .results = results,
                              .shares = shares};
  return p;
}

static const struct cvl_procedure *describe(const struct procedures_text *t, uint32_t lifted) {
  struct arena *arena = t->arena;
  const struct ir_function *l = &t->program->functions[lifted];
  const uint32_t procedure = ir_procedure(l);
  const struct ir_function *f = &t->program->functions[procedure];
  uint32_t *params = arena_alloc(arena, (f->param_count + 1) * sizeof *params);
  uint32_t *results = arena_alloc(arena, (f->result_count + 1) * sizeof *results);
  for (uint32_t i = 0; i < f->param_count; i++)
    params[i] = size_of(l->instances->params[i + 1], 1);
  for (uint32_t i = 0; i < f->result_count; i++)
    results[i] = size_of(l->instances->results[i], 0);
  return description(arena, f, arena_printf(arena, "entry%u", lifted), t->shares[procedure],
                     params, results);
}

static const struct cvl_procedure *describe_entry(const struct procedures_text *t) {
  struct arena *arena = t->arena;
  const uint32_t entry = t->program->entry;
  const struct ir_function *f = &t->program->functions[entry];
  const uint32_t most = f->param_count > f->result_count ? f->param_count : f->result_count;
  uint32_t *shared = arena_alloc(arena, (most + 1) * sizeof *shared);
  for (uint32_t i = 0; i < most; i++) shared[i] = CVL_PROCEDURE_SHARED;
  return description(arena, f, "entry", t->shares[entry], shared, shared);
}

static bool some_of(const bool *flags, uint32_t count) {
  for (uint32_t f = 0; f < count; f++)
    if (flags[f]) return true;
  return false;
}

bool procedures_make(struct arena *arena, const struct ir_program *program,
                     struct procedures *out) {
  const uint32_t count = program->function_count;
  struct choosing choosing = {.arena = arena, .program = program};
  choosing.wanted = arena_alloc(arena, count + 1);
  choosing.fails = arena_alloc(arena, count + 1);
  choose(&choosing);
  struct procedures_text t = {.arena = arena, .program = program, .printed = choosing.wanted};
  if (!some_of(t.printed, count)) return false;
  t.forms = find_forms(arena, program, t.printed);
  t.repeats = find_repeating_procedures(arena, program, t.printed);
  t.shares = arena_alloc(arena, count + 1);
  make_text(&t, out);
  mark_callers(t.arena, program, t.printed, t.shares);
  out->entry = t.printed[program->entry] ? describe_entry(&t) : NULL;
  out->straight = find_straight(&t);
  out->of = arena_alloc(arena, (count + 1) * sizeof *out->of);
  for (uint32_t f = 0; f < count; f++)
    if (is_native(&t, f)) out->of[f] = describe(&t, f);
  return true;
}
