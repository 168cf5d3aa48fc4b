/* verify.c - checks every rule of ir.h on a finished program.
 *
 * One forward walk per function keeps the variables in scope; then the liveness is compared
 * with what it ought to be. A fault that is reported here is Ravel's. */
#include "ir/verify.h"
#include "ir/instances.h"
#include "ir/kinds.h"
#include "ir/liveness.h"
#include "ir/rounds.h"

#include <stdarg.h>
#include <string.h>

enum scope { UNBOUND, IN_SCOPE, OUT_OF_SCOPE };

struct open_block {
  const struct ir_block *block;
  uint32_t next;
  size_t bound;                    /* variables bound when it was begun */
  const struct ir_binding *arm_of; /* its IF; NULL: the body */
};

struct verifier {
  struct arena *scratch;
  struct diag_list *diags;
  const struct ir_program *program;
  const struct ir_function *f;
  bool fine; /* this function, so far */
  uint8_t *scope;
  ARRAY(ir_var) bound;
  ARRAY(struct open_block) open;
  ARRAY(const struct ir_kind *) instance;
};

static void __attribute__((format(printf, 3, 4)))
verify_fault(struct verifier *v, struct source_pos pos, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = arena_vprintf(v->scratch, format, args);
  va_end(args);
  v->fine = false;
  diag_add(v->diags, SEVERITY_ERROR, v->program->file, pos, NULL, "let-form of %s: %s",
           v->f->name->text, text);
}

/* ---- variables and kinds ---- */

/* Returns whether a kind is well formed: its variables are numbered below the function's bound.
 */
static bool kind_is_fine(const struct verifier *v, const struct ir_kind *kind, unsigned depth) {
  if (!kind || depth > KIND_MAX_SIZE) return false;
  if (kind->tag == IR_ANY) return kind->variable < v->f->kind_variables;
  if (kind->tag != IR_PAIR) return (int)kind->tag < (int)BASE_KINDS;
  return kind_is_fine(v, kind->left, depth + 1) && kind_is_fine(v, kind->right, depth + 1);
}

static bool check_in_scope(struct verifier *v, ir_var var, struct source_pos pos) {
  if (var < v->f->var_count && v->scope[var] == IN_SCOPE) return true;
  verify_fault(v, pos, "v%u is used where it is not bound", var);
  return false;
}

static void bind_var(struct verifier *v, ir_var var, struct source_pos pos) {
  if (var >= v->f->var_count || v->scope[var] != UNBOUND) {
    verify_fault(v, pos, "v%u is bound twice or out of range", var);
    return;
  }
  if (!kind_is_fine(v, v->f->vars[var], 0)) verify_fault(v, pos, "v%u has no proper kind", var);
  v->scope[var] = IN_SCOPE;
  *array_push(v->scratch, &v->bound) = var;
}

static const struct ir_kind *var_kind(const struct verifier *v, ir_var var) {
  return v->f->vars[var];
}

/* ---- bindings; operands are in scope, results bound ---- */

static void check_letters(struct verifier *v, const struct ir_binding *x, const char *letters,
                          uint32_t count, const ir_var *vars, const char *what) {
  if (strlen(letters) != count) {
    verify_fault(v, x->pos, "%s has %u %ss", opcode_info(x->op)->spelling, count, what);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    enum ir_kind_tag tag = (enum ir_kind_tag)operand_kind(letters[i], x->type);
    if (tag != IR_ANY && var_kind(v, vars[i])->tag != tag)
      verify_fault(v, x->pos, "%s %u of %s is %s, not %s", what, i,
                   opcode_info(x->op)->spelling, ir_tag_text(var_kind(v, vars[i])->tag),
                   ir_tag_text(tag));
  }
}

static void check_op(struct verifier *v, const struct ir_binding *x) {
  if (x->op >= OPC_COUNT) {
    verify_fault(v, x->pos, "no such opcode");
    return;
  }
  const struct opcode_info *info = opcode_info(x->op);
  if (opcode_effect(x->op) == OPCODE_LOADED)
    verify_fault(v, x->pos, "%s is no operation", info->spelling);
  if (info->types == NO_TYPE ? x->type != TW_NONE
                             : x->type >= TW_NONE || !(info->types >> x->type & 1))
    verify_fault(v, x->pos, "%s with a wrong type word", info->spelling);
  check_letters(v, x, info->operands, x->operand_count, x->operands, "operand");
  check_letters(v, x, info->results, x->result_count, x->results, "result");
  if (!v->fine || info->klass != OC_PAIRING) return;
  const struct ir_kind *pair = var_kind(v, x->op == OPC_PAIR ? x->results[0] : x->operands[0]);
  const ir_var *components = x->op == OPC_PAIR ? x->operands : x->results;
  if (!ir_kind_same(pair->left, var_kind(v, components[0])) ||
      !ir_kind_same(pair->right, var_kind(v, components[1])))
    verify_fault(v, x->pos, "%s: the pair is not of its components", info->spelling);
}

static void check_const(struct verifier *v, const struct ir_binding *x) {
  if (x->operand_count != 0 || x->result_count != 1 || !x->as.constant)
    verify_fault(v, x->pos, "CONST must have one result and a constant");
  else if (var_kind(v, x->results[0])->tag != ir_constant_tag(x->as.constant))
    verify_fault(v, x->pos, "CONST of another kind than its result");
}

static void check_call(struct verifier *v, const struct ir_binding *x) {
  if (x->as.callee >= v->program->function_count) {
    verify_fault(v, x->pos, "call of function %u, which does not exist", x->as.callee);
    return;
  }
  const struct ir_function *callee = &v->program->functions[x->as.callee];
  if (!callee->typed) {
    verify_fault(v, x->pos, "call of %s, which has no let-form", callee->name->text);
    return;
  }
  if (callee->param_count != x->operand_count || callee->result_count != x->result_count) {
    verify_fault(v, x->pos, "call of %s with %u operands and %u results", callee->name->text,
                 x->operand_count, x->result_count);
    return;
  }
  v->instance.count = 0;
  for (uint32_t i = 0; i < callee->kind_variables; i++)
    *array_push(v->scratch, &v->instance) = NULL;
  for (uint32_t i = 0; i < x->operand_count; i++) {
    if (!ir_kind_match(callee->vars[i], var_kind(v, x->operands[i]), v->instance.items))
      verify_fault(v, x->pos, "operand %u does not fit %s", i, callee->name->text);
  }
  for (uint32_t i = 0; i < x->result_count; i++) {
    if (!ir_kind_match(callee->result_kinds[i], var_kind(v, x->results[i]), v->instance.items))
      verify_fault(v, x->pos, "result %u does not fit %s", i, callee->name->text);
  }
}

static void verify_superop(struct verifier *v, const struct ir_binding *x) {
  if (x->as.superop >= v->program->superop_count) {
    verify_fault(v, x->pos, "FUSED %u, which does not exist", x->as.superop);
    return;
  }
  const struct superop *op = v->program->superops[x->as.superop];
  if (x->operand_count != op->param_count || x->result_count != op->output_count) {
    verify_fault(v, x->pos, "FUSED %u with %u operands and %u results", op->number,
                 x->operand_count, x->result_count);
    return;
  }
  for (uint32_t i = 0; i < x->operand_count; i++) {
    if (!ir_kind_same(var_kind(v, x->operands[i]), ir_superop_operand(op, i)))
      verify_fault(v, x->pos, "operand %u does not fit superoperator %u", i, op->number);
  }
  for (uint32_t i = 0; i < x->result_count; i++) {
    if (!ir_kind_same(var_kind(v, x->results[i]), ir_superop_output(op, i)))
      verify_fault(v, x->pos, "result %u does not fit superoperator %u", i, op->number);
  }
}

static void verify_if(struct verifier *v, const struct ir_binding *x) {
  if (x->operand_count != 1)
    verify_fault(v, x->pos, "if with %u operands", x->operand_count);
  else if (var_kind(v, x->operands[0])->tag != IR_BOOL)
    verify_fault(v, x->pos, "if with a condition that is no BOOL");
  if (!x->as.arms.then || !x->as.arms.otherwise) verify_fault(v, x->pos, "if without two arms");
}

/* ---- blocks ---- */

/* Returns whether nothing can follow x. */
static bool binding_never_returns(const struct verifier *v, const struct ir_binding *x) {
  if (x->form == IR_CALL)
    return x->as.callee < v->program->function_count &&
           !v->program->functions[x->as.callee].returns;
  return x->form == IR_IF && x->as.arms.then->end != IR_YIELD &&
         x->as.arms.otherwise->end != IR_YIELD;
}

static void verify_begin_block(struct verifier *v, const struct ir_block *block,
                               const struct ir_binding *arm_of) {
  *array_push(v->scratch, &v->open) =
      (struct open_block){.block = block, .bound = v->bound.count, .arm_of = arm_of};
}

static void check_yield(struct verifier *v, const struct open_block *open) {
  const struct ir_block *block = open->block;
  const struct ir_binding *x = open->arm_of;
  struct source_pos pos = x ? x->pos : v->f->pos;
  if (block->result_count != (x ? x->result_count : v->f->result_count)) {
    verify_fault(v, pos, "a block yields %u results", block->result_count);
    return;
  }
  for (uint32_t i = 0; i < block->result_count; i++) {
    if (!check_in_scope(v, block->results[i], pos)) continue;
    const struct ir_kind *kind = x ? var_kind(v, x->results[i]) : v->f->result_kinds[i];
    if (!kind || !ir_kind_same(kind, var_kind(v, block->results[i])))
      verify_fault(v, pos, "result %u of a block is of another kind", i);
  }
}

static void verify_end_block(struct verifier *v, const struct open_block *open) {
  const struct ir_block *block = open->block;
  struct source_pos pos = open->arm_of ? open->arm_of->pos : v->f->pos;
  bool never = block->count > 0 && binding_never_returns(v, &block->bindings[block->count - 1]);
  switch ((enum ir_end)block->end) {
  case IR_YIELD:
    if (never) verify_fault(v, pos, "a block yields after a binding that never returns");
    check_yield(v, open);
    break;
  case IR_EXIT:
  case IR_NEVER:
    if (block->result_count != 0)
      verify_fault(v, pos, "a block has results and does not yield");
    if (never != (block->end == IR_NEVER))
      verify_fault(v, pos, "a block with the wrong kind of end");
    break;
  }
  while (v->bound.count > open->bound)
    v->scope[v->bound.items[--v->bound.count]] = OUT_OF_SCOPE;
}

/* Finishes an IF. Its results are bound after its arms, which must not see them, but their
 * kinds are needed to check what the arms yield. */
static void finish_binding(struct verifier *v, const struct ir_binding *x) {
  for (uint32_t i = 0; i < x->result_count; i++) bind_var(v, x->results[i], x->pos);
}

static void check_binding(struct verifier *v, const struct open_block *open,
                          const struct ir_binding *x) {
  for (uint32_t i = 0; i < x->operand_count; i++) check_in_scope(v, x->operands[i], x->pos);
  if (x->form != IR_IF) finish_binding(v, x);
  for (uint32_t i = 0; i < x->result_count; i++) {
    if (x->results[i] >= v->f->var_count || !v->f->vars[x->results[i]])
      verify_fault(v, x->pos, "v%u has no kind", x->results[i]);
  }
  if (!v->fine) return;
  switch ((enum ir_form)x->form) {
  case IR_OP: check_op(v, x); break;
  case IR_CONST: check_const(v, x); break;
  case IR_CALL: check_call(v, x); break;
  case IR_IF: verify_if(v, x); break;
  case IR_FUSED: verify_superop(v, x); break;
  }
  const struct ir_block *block = open->block;
  if (v->fine && x != &block->bindings[block->count - 1] && binding_never_returns(v, x))
    verify_fault(v, x->pos, "something follows a binding that never returns");
  if (v->fine && x->form == IR_IF) {
    verify_begin_block(v, x->as.arms.otherwise, x); /* walked after the first arm */
    verify_begin_block(v, x->as.arms.then, x);
  }
}

static void verify_blocks(struct verifier *v) {
  verify_begin_block(v, v->f->body, NULL);
  while (v->open.count > 0 && v->fine) {
    struct open_block *open = &v->open.items[v->open.count - 1];
    if (open->next == 0) open->bound = v->bound.count;
    if (open->next < open->block->count) {
      const struct ir_binding *x = &open->block->bindings[open->next++];
      check_binding(v, open, x);
      continue;
    }
    struct open_block done = *open;
    v->open.count--;
    verify_end_block(v, &done);
    /* The second arm is under the first; when it is done too, the IF's results are bound. */
    if (done.arm_of && done.block == done.arm_of->as.arms.otherwise)
      finish_binding(v, done.arm_of);
  }
}

static void check_superops(const struct ir_program *program, struct diag_list *diags) {
  for (uint32_t i = 0; i < program->superop_count; i++) {
    if (program->superops[i]->number == i) continue;
    diag_add(diags, SEVERITY_ERROR, program->file, (struct source_pos){0, 0}, NULL,
             "let-form: superoperator %u has index %u", program->superops[i]->number, i);
  }
}

static void verify_function(struct verifier *v, bool liveness) {
  const struct ir_function *f = v->f;
  v->fine = true;
  v->bound.count = v->open.count = 0;
  v->scope = arena_alloc(v->scratch, f->var_count);
  for (uint32_t i = 0; i < f->param_count; i++) {
    if (f->params[i] != i) verify_fault(v, f->pos, "parameter %u is v%u", i, f->params[i]);
    if (f->params[i] == i) bind_var(v, i, f->pos);
  }
  if (f->returns != (f->body->end == IR_YIELD))
    verify_fault(v, f->pos, "it is wrong about whether it returns");
  if (!f->returns && f->result_count > 0)
    verify_fault(v, f->pos, "results, though it never returns");
  if (v->fine) verify_blocks(v);
  struct liveness_fault wrong;
  if (v->fine && liveness && !liveness_of(v->scratch, NULL, f, &wrong))
    verify_fault(v, wrong.pos, "liveness: %s, v%u, is not right", wrong.what, wrong.var);
}

struct verification {
  const struct ir_program *program;
  bool liveness;
  struct diag_list *diags;
};

/* Checks the marks of lifted functions, in a program that keeps all other rules. */
static void check_instances(struct arena *scratch, void *context) {
  const struct verification *job = context;
  const struct ir_program *program = job->program;
  const uint8_t *effects = instances_effects(scratch, program);
  for (uint32_t i = 0; i < program->function_count; i++) {
    const struct ir_function *f = &program->functions[i];
    if (!f->instances) continue;
    const char *broken = f->typed ? instances_fault(scratch, program, i, f->instances, effects)
                                  : "has no let-form";
    if (!broken) broken = procedure_fault(scratch, program, i, effects);
    if (!broken) continue;
    diag_add(job->diags, SEVERITY_ERROR, program->file, f->pos, NULL,
             "let-form of %s: lifted, but it %s", f->name->text, broken);
  }
}

/* Checks the marks of rounds, in a program that keeps all other rules. */
static void check_rounds(struct arena *scratch, void *context) {
  const struct verification *job = context;
  const struct ir_program *program = job->program;
  for (uint32_t i = 0; i < program->function_count; i++) {
    const struct ir_function *f = &program->functions[i];
    const char *broken = f->typed ? rounds_fault(scratch, program, i) : NULL;
    if (!broken) continue;
    diag_add(job->diags, SEVERITY_ERROR, program->file, f->pos, NULL, "let-form of %s: it %s",
             f->name->text, broken);
  }
}

static void verify_functions(struct arena *scratch, void *context) {
  const struct verification *job = context;
  const struct ir_program *program = job->program;
  for (uint32_t i = 0; i < program->function_count; i++) {
    if (!program->functions[i].typed) continue;
    struct verifier v = {.scratch = scratch,
                         .diags = job->diags,
                         .program = program,
                         .f = &program->functions[i]};
    verify_function(&v, job->liveness);
    arena_free(scratch);
  }
}

bool verify_program(struct arena *arena, const struct ir_program *program, bool liveness,
                    struct diag_list *diags) {
  const size_t errors = diags->errors;
  check_superops(program, diags);
  struct verification job = {program, liveness, diags};
  bool memory = arena_with(arena->heap, verify_functions, &job);
  if (memory && diags->errors == errors && instances_any(program))
    memory = arena_with(arena->heap, check_instances, &job);
  if (memory && diags->errors == errors && rounds_any(program))
    memory = arena_with(arena->heap, check_rounds, &job);
  if (!memory) {
    diag_add(diags, SEVERITY_ERROR, program->file, (struct source_pos){0, 0}, NULL,
             "out of memory while verifying the let-form");
  }
  return diags->errors == errors;
}

bool ir_verify(struct arena *arena, const struct ir_program *program, struct diag_list *diags) {
  return verify_program(arena, program, true, diags);
}
