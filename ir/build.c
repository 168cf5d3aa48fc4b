/* build.c - ir_build: builds functions in the order of the call graph, recursion to a fixed
 * point.
 *
 * function.c builds one function. This file orders the functions and refuses programs that must
 * fail. */
#include "ir/callgraph.h"
#include "ir/function.h"
#include "ir/instances.h"
#include "ir/must-fail.h"
#include "ir/rounds.h"
#include "ir/superops.h"

#include <setjmp.h>
#include <stdlib.h>

/* A recursive component whose summaries still change after this many rounds is assumed to grow
 * for ever. A change passes at least one function or item in each round; real programs are
 * stable after four. */
enum { MAX_ROUNDS = 100 };

struct build {
  struct arena *arena;
  struct arena *scratch; /* lives as long as ir_build */
  struct arena *trial;   /* let-forms of a round that is not known to be the last */
  struct callgraph graph;
  struct builder builder;
  struct ir_program *program;
  struct summary *summaries;
};

enum change { UNCHANGED, MORE_PARAMS, MORE_RESULTS, OTHER_KINDS };

static enum change compare_summaries(const struct summary *old, const struct summary *new) {
  if (old->typed != new->typed || old->returns != new->returns) return OTHER_KINDS;
  if (old->param_count != new->param_count) return MORE_PARAMS;
  if (old->result_count != new->result_count) return MORE_RESULTS;
  for (uint32_t i = 0; i < new->param_count; i++) {
    if (!ir_kind_same(old->params[i], new->params[i])) return OTHER_KINDS;
  }
  for (uint32_t i = 0; i < new->result_count; i++) {
    if (!ir_kind_same(old->results[i], new->results[i])) return OTHER_KINDS;
  }
  return UNCHANGED;
}

static const char *growth_text(enum change change) {
  switch (change) {
  case MORE_PARAMS: return "the number of items it takes keeps growing in recursion";
  case MORE_RESULTS: return "the number of items it leaves keeps growing in recursion";
  case OTHER_KINDS:
  case UNCHANGED: break;
  }
  return "the kinds of its items keep growing in recursion";
}

static void leave_untyped(struct build *b, uint32_t f, const char *reason) {
  const struct vcode_function *stack = &b->builder.program->functions[f];
  b->program->functions[f] = (struct ir_function){.name = stack->name,
                                                  .pos = stack->pos,
                                                  .stack = stack,
                                                  .returns = true,
                                                  .procedure = IR_NO_PROCEDURE,
                                                  .reason = reason};
  b->summaries[f] = (struct summary){.typed = false, .returns = true};
}

/* Builds each member that may still have let-form from the newest summaries. Returns the last
 * change. A member that fails keeps its first reason: later ones only repeat it. */
static enum change build_round(struct build *b, const uint32_t *members, uint32_t count) {
  enum change change = UNCHANGED;
  for (uint32_t i = 0; i < count; i++) {
    struct summary *old = &b->summaries[members[i]], new;
    if (!old->typed) continue;
    struct ir_function form;
    build_function(&b->builder, members[i], &form, &new);
    enum change this = compare_summaries(old, &new);
    if (this != UNCHANGED) change = this;
    *old = new;
    if (!form.typed) leave_untyped(b, members[i], form.reason);
  }
  return change;
}

/* Builds a recursive component: starts from "never returns, takes nothing", repeats until all
 * summaries are stable, then builds the forms that are kept. */
static void build_recursive(struct build *b, uint32_t component) {
  const uint32_t *members = b->graph.order + b->graph.first[component];
  uint32_t count = b->graph.first[component + 1] - b->graph.first[component];
  for (uint32_t i = 0; i < count; i++)
    b->summaries[members[i]] = (struct summary){.typed = true};
  enum change change = OTHER_KINDS;
  b->builder.code = b->trial;
  for (int round = 0; change != UNCHANGED && round < MAX_ROUNDS; round++) {
    change = build_round(b, members, count);
    arena_free(b->trial);
  }
  b->builder.code = b->arena;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t f = members[i];
    struct source_pos pos = b->builder.program->functions[f].pos;
    if (!b->summaries[f].typed) continue;
    if (change == UNCHANGED)
      build_function(&b->builder, f, &b->program->functions[f], &b->summaries[f]);
    else
      leave_untyped(
          b, f, arena_printf(b->arena, "%u:%u: %s", pos.line, pos.column, growth_text(change)));
  }
}

/* FUSED with a number that is not defined is an error in every reachable function. */
static bool report_fused(const struct build *b, struct diag_list *diags) {
  const struct vcode_program *vcode = b->builder.program;
  for (uint32_t f = 0; f < vcode->function_count; f++) {
    if (!b->graph.reachable[f]) continue;
    const struct vcode_function *function = &vcode->functions[f];
    for (uint32_t i = 0; i < function->length; i++) {
      const struct vcode_instruction *in = &function->code[i];
      if (in->op != OPC_FUSED || in->as.fused < vcode->fused_count) continue;
      const struct origin *origin = origin_at(&vcode->origins, in->origin);
      if (vcode->fused_count == 0)
        diag_add(diags, SEVERITY_ERROR, vcode->file, in->pos, origin,
                 "FUSED %u: there are no definitions of superoperators: a .fcode of 2012 has "
                 "them in "
                 "a file of their own, PROGRAM.sop beside it, or --sop FILE",
                 in->as.fused);
      else
        diag_add(diags, SEVERITY_ERROR, vcode->file, in->pos, origin,
                 "FUSED %u: there %s only %u superoperator%s, numbered from 0", in->as.fused,
                 vcode->fused_count == 1 ? "is" : "are", vcode->fused_count,
                 vcode->fused_count == 1 ? "" : "s");
      return true;
    }
  }
  return false;
}

/* ---- lifted functions ---- */

static bool report_mark(const struct build *b, const struct vcode_function *f,
                        const char *fault, struct diag_list *diags) {
  diag_add(diags, SEVERITY_ERROR, b->program->file, f->instances->pos, NULL,
           "%s is marked as lifted, but it %s", f->name->text, fault);
  return true;
}

/* Returns the fault of a mark that has other numbers of items than the function. */
static const char *counts_fault(const struct build *b, const struct ir_function *f,
                                const struct vcode_instances *mark) {
  if (f->param_count != mark->param_count)
    return arena_printf(b->scratch, "takes %u item%s and the mark has %u", f->param_count,
                        f->param_count == 1 ? "" : "s", mark->param_count);
  if (f->result_count != mark->result_count)
    return arena_printf(b->scratch, "leaves %u item%s and the mark has %u", f->result_count,
                        f->result_count == 1 ? "" : "s", mark->result_count);
  return NULL;
}

/* Gives function f its mark. Returns whether the mark is wrong, which is reported. */
static bool take_mark(struct build *b, uint32_t f, const uint8_t *effects,
                      struct diag_list *diags) {
  const struct vcode_function *stack = &b->builder.program->functions[f];
  struct ir_function *function = &b->program->functions[f];
  struct ir_instances *mark = arena_alloc(b->arena, sizeof *mark);
  *mark = (struct ir_instances){stack->instances->params, stack->instances->results};
  const char *fault =
      function->returns ? counts_fault(b, function, stack->instances) : "never returns";
  if (!fault) fault = instances_fault(b->scratch, b->program, f, mark, effects);
  if (fault) return report_mark(b, stack, fault, diags);
  function->instances = mark;
  return false;
}

/* Returns whether the mark of function f, which was taken over, names a procedure with
 * let-form.
 */
static bool has_link(const struct build *b, uint32_t f) {
  if (!b->program->functions[f].instances) return false;
  const uint32_t p = b->builder.program->functions[f].instances->procedure_function;
  return p != VCODE_NO_PROCEDURE && b->program->functions[p].typed;
}

/* Gives function f the link to its procedure. Returns whether it is wrong, which is reported.
 */
static bool take_procedure(struct build *b, uint32_t f, const uint8_t *effects,
                           struct diag_list *diags) {
  const struct vcode_function *stack = &b->builder.program->functions[f];
  struct ir_function *function = &b->program->functions[f];
  function->procedure = stack->instances->procedure_function;
  const char *fault = procedure_fault(b->scratch, b->program, f, effects);
  return fault && report_mark(b, stack, fault, diags);
}

/* Takes over the marks of all functions that have let-form. Returns whether one is wrong. */
static bool report_marks(struct build *b, struct diag_list *diags) {
  const struct vcode_program *vcode = b->builder.program;
  const uint8_t *effects = NULL;
  bool wrong = false;
  for (uint32_t f = 0; f < vcode->function_count; f++) {
    if (!vcode->functions[f].instances || !b->program->functions[f].typed) continue;
    if (!effects) effects = instances_effects(b->scratch, b->program);
    wrong |= take_mark(b, f, effects, diags);
  }
  return wrong;
}

/* Takes over the marks of rounds. Returns whether one is wrong, which is reported. */
static bool report_rounds(const struct build *b, struct diag_list *diags) {
  const struct vcode_program *vcode = b->builder.program;
  bool wrong = false;
  for (uint32_t f = 0; f < vcode->function_count; f++)
    b->program->functions[f].rounds = vcode->functions[f].rounds;
  for (uint32_t f = 0; f < vcode->function_count && rounds_any(b->program); f++) {
    const struct ir_function *function = &b->program->functions[f];
    const char *fault = function->typed ? rounds_fault(b->scratch, b->program, f) : NULL;
    if (!fault) continue;
    wrong = true;
    diag_add(diags, SEVERITY_ERROR, b->program->file, function->pos, NULL, "%s %s",
             function->name->text, fault);
  }
  return wrong;
}

/* Takes over the links of all functions that are marked. Returns whether one is wrong. */
static bool report_procedures(struct build *b, struct diag_list *diags) {
  const uint8_t *effects = NULL;
  bool wrong = false;
  for (uint32_t f = 0; f < b->program->function_count; f++) {
    if (!has_link(b, f)) continue;
    if (!effects) effects = instances_effects(b->scratch, b->program);
    wrong |= take_procedure(b, f, effects, diags);
  }
  return wrong;
}

static struct ir_program *build_program(struct build *b, const struct vcode_program *vcode,
                                        struct widths widths, struct diag_list *diags) {
  uint32_t n = vcode->function_count;
  b->program = arena_alloc(b->arena, sizeof *b->program);
  *b->program = (struct ir_program){
      .file = vcode->file,
      .widths = widths,
      .functions = arena_alloc(b->arena, n * sizeof(struct ir_function)),
      .function_count = n,
      .entry = vcode->entry,
      .vcode = vcode,
      .exact_floats = vcode->exact_floats,
  };
  b->graph = callgraph_make(b->scratch, vcode);
  b->summaries = arena_alloc(b->scratch, n * sizeof *b->summaries);
  if (!superops_parse(b->arena, vcode, b->program, diags)) return NULL;
  builder_init(&b->builder, b->scratch, b->arena, b->program, b->summaries);
  if (report_fused(b, diags)) return NULL;
  for (uint32_t c = 0; c < b->graph.count; c++) {
    uint32_t f = b->graph.order[b->graph.first[c]];
    if (b->graph.recursive[f])
      build_recursive(b, c);
    else
      build_function(&b->builder, f, &b->program->functions[f], &b->summaries[f]);
  }
  if (!b->program->functions[vcode->entry].typed &&
      must_fail(b->scratch, b->program, &b->graph, b->summaries, diags))
    return NULL;
  if (report_marks(b, diags) || report_rounds(b, diags) || report_procedures(b, diags))
    return NULL;
  ir_liveness(b->arena, b->program);
#ifdef RAVEL_DEBUG
  if (!ir_verify(b->arena, b->program, diags)) return NULL;
#endif
  return b->program;
}

struct build_job {
  struct build build;
  const struct vcode_program *vcode;
  struct widths widths;
  struct diag_list *diags;
  struct ir_program *program;
};

static void build_with_trial(struct arena *trial, void *context) {
  struct build_job *job = context;
  job->build.trial = trial;
  job->program = build_program(&job->build, job->vcode, job->widths, job->diags);
}

static void build_with_scratch(struct arena *scratch, void *context) {
  struct build_job *job = context;
  job->build.scratch = scratch;
  if (!arena_with(scratch->heap, build_with_trial, job)) memory_failed();
}

struct ir_program *ir_build(struct arena *arena, const struct vcode_program *vcode,
                            struct widths widths, struct diag_list *diags) {
  struct build_job job = {
      .build.arena = arena, .vcode = vcode, .widths = widths, .diags = diags};
  if (arena_with(arena->heap, build_with_scratch, &job)) return job.program;
  diag_add(diags, SEVERITY_ERROR, vcode->file, (struct source_pos){0, 0}, NULL,
           "out of memory while checking the program");
  return NULL;
}
