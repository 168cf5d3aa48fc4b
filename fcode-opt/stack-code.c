/* stack-code.c - a program in let-form back into VCODE or FCODE: the functions to write and
 * their order, superoperators, and origins. stack-function.c writes one function.
 *
 * Every operation gets an origin, so that a message names the instruction of the program that
 * was optimised: its origin there, or else its source location.
 */
#include "fcode-opt/stack-code.h"
#include "base/text.h"
#include "fcode-opt/fcode-opt.h"
#include "fused-kernels/fused.h"
#include "ir/walk.h"

#include <string.h>

#define LEFT_OUT UINT32_MAX

/* ---- origins ---- */

/* The name of the function that contains this position in the original program; "" if that was
 * not VCODE. */
static const char *function_name_at(const struct ir_program *ir, struct source_pos pos) {
  if (!ir->vcode) return "";
  const struct vcode_function *f = ir->vcode->functions;
  uint32_t least = 0, end = ir->vcode->function_count;
  while (end - least > 1) { /* the last that begins before pos */
    uint32_t middle = least + (end - least) / 2;
    struct source_pos begin = f[middle].pos;
    bool before =
        begin.line < pos.line || (begin.line == pos.line && begin.column < pos.column);
    if (before)
      least = middle;
    else
      end = middle;
  }
  return f[least].name->text;
}

uint32_t stack_code_origin(struct stack_code *s, struct source_pos pos, uint32_t origin) {
  if (origin != 0 || pos.line == 0) return origin;
  return origin_number(&s->origins, (struct origin){.file = s->ir->file,
                                                    .pos = pos,
                                                    .function = function_name_at(s->ir, pos)});
}

/* ---- functions ---- */

/* The functions and superoperators reached from the entry. */
struct reach {
  struct arena *scratch;
  ARRAY(uint32_t) functions; /* not walked yet */
  bool *reached;
};

static void reach_function(struct reach *r, uint32_t f) {
  if (r->reached[f]) return;
  r->reached[f] = true;
  *array_push(r->scratch, &r->functions) = f;
}

static void reach_from(struct reach *r, const struct ir_function *f) {
  if (ir_procedure(f) != IR_NO_PROCEDURE) reach_function(r, ir_procedure(f));
  if (!f->typed) {
    for (uint32_t i = 0; i < f->stack->length; i++) {
      if (f->stack->code[i].op == OPC_CALL)
        reach_function(r, f->stack->code[i].as.call.function);
    }
    return;
  }
  for (struct ir_walk w = ir_walk(r->scratch, f->body); ir_next_binding(&w);) {
    if (w.x->form == IR_CALL) reach_function(r, w.x->as.callee);
  }
}

/* Numbers the functions that are written: as they stand, but the entry first unless it is
 * MAIN. Returns how many there are. */
static uint32_t number_functions(struct stack_code *s) {
  const struct ir_program *ir = s->ir;
  struct reach r = {.scratch = s->scratch,
                    .reached = arena_alloc(s->scratch, ir->function_count)};
  reach_function(&r, ir->entry);
  while (r.functions.count > 0)
    reach_from(&r, &ir->functions[r.functions.items[--r.functions.count]]);
  uint32_t count = 0;
  for (uint32_t f = 0; f < ir->function_count; f++) s->functions[f] = LEFT_OUT;
  if (strcmp(ir->functions[ir->entry].name->text, "MAIN") != 0)
    s->functions[ir->entry] = count++;
  for (uint32_t f = 0; f < ir->function_count; f++) {
    if (r.reached[f] && s->functions[f] == LEFT_OUT) s->functions[f] = count++;
  }
  arena_free(s->scratch);
  return count;
}

static const uint8_t *type_words(struct stack_code *s, const struct ir_kind *const *kinds,
                                 uint32_t count) {
  static const uint8_t words[] = {
      [IR_INT] = TW_INT, [IR_FLOAT] = TW_FLOAT, [IR_BOOL] = TW_BOOL, [IR_SEGDES] = TW_SEGDES};
  uint8_t *list = arena_alloc(s->arena, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    if (kinds[i]->tag >= IR_PAIR) return NULL;
    list[i] = words[kinds[i]->tag];
  }
  return list;
}

/* Declares what the entry, a lifted function or a procedure takes and leaves, so that the
 * program can be read again. An argument of any kind is not used; a program takes no pairs. */
static void declare_arguments(struct stack_code *s, const struct ir_function *f,
                              struct vcode_function *out) {
  if (f->param_count == 0) return;
  const struct ir_kind **kinds = arena_alloc(s->scratch, f->param_count * sizeof *kinds);
  for (uint32_t i = 0; i < f->param_count; i++) kinds[i] = f->vars[f->params[i]];
  out->in = type_words(s, kinds, f->param_count);
  out->out = type_words(s, f->result_kinds, f->result_count);
  out->has_signature = out->in && out->out;
  out->in_count = f->param_count;
  out->out_count = f->result_count;
}

static void mark_instances(struct stack_code *s, const struct ir_function *f,
                           struct vcode_function *out) {
  struct vcode_instances *mark = arena_alloc(s->arena, sizeof *mark);
  *mark = (struct vcode_instances){.pos = f->pos,
                                   .param_count = f->param_count,
                                   .result_count = f->result_count,
                                   .params = f->instances->params,
                                   .results = f->instances->results,
                                   .procedure_function = VCODE_NO_PROCEDURE};
  const uint32_t p = ir_procedure(f);
  if (p != IR_NO_PROCEDURE) {
    mark->procedure = s->ir->functions[p].name;
    mark->procedure_function = s->functions[p];
  }
  out->instances = mark;
}

/* The mark of a function that has no let-form and so no link. */
static const struct vcode_instances *without_procedure(struct stack_code *s,
                                                       const struct vcode_instances *mark) {
  struct vcode_instances *copy = arena_alloc(s->arena, sizeof *copy);
  *copy = *mark;
  copy->procedure = NULL;
  copy->procedure_function = VCODE_NO_PROCEDURE;
  return copy;
}

/* A function without let-form: its stack code, with the numbers of this program. */
static void copy_stack_code(struct stack_code *s, const struct vcode_function *from,
                            struct vcode_function *out) {
  *out = *from;
  if (from->instances) out->instances = without_procedure(s, from->instances);
  out->code = arena_alloc(s->arena, from->length * sizeof *out->code);
  for (uint32_t i = 0; i < from->length; i++) {
    struct vcode_instruction *in = &out->code[i];
    *in = from->code[i];
    if (in->op == OPC_CALL)
      in->as.call.function = s->functions[in->as.call.function];
    else if (in->op == OPC_FUSED)
      in->as.fused = stack_code_superop(s, in->as.fused);
    in->origin = stack_code_origin(s, in->pos, in->origin);
  }
}

/* ---- superoperators ---- */

uint32_t stack_code_superop(struct stack_code *s, uint32_t superop) {
  if (superop >= s->ir->superop_count) return superop; /* an error when it is executed */
  if (s->uses[superop]++ == 0) s->superops[superop] = s->superop_count++;
  return s->superops[superop];
}

/* Writes the text of a definition, with an origin for every operation. */
static struct vcode_fused define_superop(struct stack_code *s, uint32_t superop) {
  struct superop copy = *s->ir->superops[superop];
  struct superop_node *nodes = arena_alloc(s->arena, copy.node_count * sizeof *nodes);
  for (uint32_t k = 0; k < copy.node_count; k++) {
    nodes[k] = copy.nodes[k];
    if (nodes[k].op == OPC_CONST) continue; /* cannot fail: needs no origin */
    nodes[k].origin = stack_code_origin(s, nodes[k].pos, nodes[k].origin);
  }
  copy.nodes = nodes;
  copy.number = s->superops[superop];
  struct text text;
  if (!text_begin(&text, s->arena->heap)) memory_failed();
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    text_free(&text);
    memory_failed();
  }
  fused_print(&copy, s->uses[superop], &s->origins, text.stream);
  if (!text_end(&text)) memory_failed();
  size_t length = text.length;
  while (length > 0 && text.bytes[length - 1] == '\n') length--; /* the printer ends the line */
  struct vcode_fused fused = {.file = s->ir->file, .length = length};
  fused.text = arena_copy(s->arena, text.bytes, length);
  memory_guard_end(&guard);
  text_free(&text);
  return fused;
}

/* ---- the program ---- */

/* Returns which functions are procedures of others that are written. */
static const bool *find_procedures(struct stack_code *s) {
  bool *is_procedure = arena_alloc(s->arena, s->ir->function_count);
  for (uint32_t f = 0; f < s->ir->function_count; f++) {
    const uint32_t p = ir_procedure(&s->ir->functions[f]);
    if (p != IR_NO_PROCEDURE && s->functions[f] != LEFT_OUT) is_procedure[p] = true;
  }
  return is_procedure;
}

static struct vcode_program *stack_code_program(struct stack_code *s) {
  const struct ir_program *ir = s->ir;
  origin_table_init(&s->origins, s->arena, &ir->origins);
  struct vcode_program *out = arena_alloc(s->arena, sizeof *out);
  out->file = ir->file;
  out->has_widths = true;
  out->widths = ir->widths;
  out->exact_floats = ir->exact_floats;
  out->function_count = number_functions(s);
  out->functions = arena_alloc(s->arena, out->function_count * sizeof *out->functions);
  out->entry = s->functions[ir->entry];
  uint32_t *at = arena_alloc(s->arena, out->function_count * sizeof *at);
  for (uint32_t f = 0; f < ir->function_count; f++) {
    if (s->functions[f] != LEFT_OUT) at[s->functions[f]] = f;
  }
  const bool *is_procedure = find_procedures(s);
  for (uint32_t i = 0; i < out->function_count; i++) {
    const struct ir_function *f = &ir->functions[at[i]];
    if (f->typed)
      stack_code_write(s, f, &out->functions[i]);
    else
      copy_stack_code(s, f->stack, &out->functions[i]);
    out->functions[i].is_procedure = is_procedure[at[i]];
    if (f->typed && (at[i] == ir->entry || f->instances || is_procedure[at[i]]))
      declare_arguments(s, f, &out->functions[i]);
    if (f->instances) mark_instances(s, f, &out->functions[i]);
    out->functions[i].rounds = f->rounds;
    arena_free(s->scratch);
  }

  out->fused_count = s->superop_count;
  out->fused = arena_alloc(s->arena, out->fused_count * sizeof *out->fused);
  for (uint32_t k = 0; k < ir->superop_count; k++) {
    if (s->superops[k] != LEFT_OUT) out->fused[s->superops[k]] = define_superop(s, k);
  }
  out->origins = s->origins;
  return out;
}

struct vcode_program *fcode_opt_stack_code(struct arena *arena, const struct ir_program *ir,
                                           struct diag_list *diags) {
  struct arena scratch, trial;
  arena_init(&scratch, arena->heap);
  arena_init(&trial, arena->heap);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    arena_free(&scratch);
    arena_free(&trial);
    diag_add(diags, SEVERITY_ERROR, ir->file, (struct source_pos){0}, NULL,
             "out of memory while writing the program");
    return NULL;
  }
  struct stack_code s = {.arena = arena, .scratch = &scratch, .trial = &trial, .ir = ir};
  s.functions = arena_alloc(arena, ir->function_count * sizeof *s.functions);
  s.superops = arena_alloc(arena, ir->superop_count * sizeof *s.superops);
  s.uses = arena_alloc(arena, ir->superop_count * sizeof *s.uses);
  for (uint32_t k = 0; k < ir->superop_count; k++) s.superops[k] = LEFT_OUT;
  struct vcode_program *program = stack_code_program(&s);
  memory_guard_end(&guard);
  arena_free(&scratch);
  arena_free(&trial);
  return program;
}
