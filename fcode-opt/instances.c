/* instances.c - which lifted functions are worth their calls.
 *
 * A batch call lets the machine compute some instances at a time, so that what a body
 * makes on the way exists for those only. A body that makes nothing on the way gains nothing by
 * that, and loses what fusion could do with its callers: it is to be inlined.
 *
 * Worth its call is a function that, when all passes have run,
 *
 * - keeps *elements of its own*: a vector that one operation or superoperator makes and another
 *   reads, of another length than there are instances (such a vector is no longer than the
 *   parameters and results) and not of a length that is shared or known;
 * - calls itself, perhaps indirectly;
 * - calls a lifted function that is worth it, or one that was too large to be inlined.
 *
 * Before fusion a vector does not count if fusion is expected to keep it out of memory:
 * producers and consumers on one domain, no reduction of own elements to wait for, and no check
 * on another domain between, without which their lengths would not agree. So most
 * of those that fusion makes one superoperator are found before, and the program is optimised
 * once.
 *
 * Lengths are those of the size analysis, where instructions that do not fail are assumed: of
 * two that are not known to be equal one counts as the function's own. */
#include "fcode-opt/fuse.h"
#include "fcode-opt/passes.h"

#include <string.h>

/* The most operations with own elements as results that are expected to become one
 * superoperator: half of the most that one may have. */
enum { FUSED_MOST = FUSE_NODES_MOST / 2 };

/* The state of a variable that has elements of the function's own, or depends on them. */
struct trace {
  const struct ir_binding *definition; /* if it has such elements; else NULL */
  bool fused;                          /* fusion may keep it out of memory */
  uint32_t stage; /* reductions and scans of own elements that it waits for */
};

/* The last binding that may fail, as in fuse-plan.c. A later binding that may fail, or depends
 * on a check, stays behind it. */
struct ordered {
  bool any, fusible;
  uint32_t stage, domain;
};

struct search {
  struct opt *o;
  const struct sizes *sizes;
  struct calls calls;
  struct arena *kept; /* of reasons */
  const char **worth; /* per lifted function: why it is, or NULL */
  uint32_t index;     /* of the function */
  const struct ir_function *f;
  ARRAY(uint32_t) lengths; /* classes of lengths that are not the function's own */
  struct trace *traces;    /* per variable */
  uint32_t highest;        /* stage so far */
  struct ordered ordered;
  uint32_t own_operations; /* that have elements of the function's own as results */
  bool fused;              /* superoperators are still to be made */
  uint64_t operations;
};

/* ---- lengths ---- */

static void add_known_lengths(struct search *s, ir_var v, bool total) {
  const bool descriptor = s->f->vars[v]->tag == IR_SEGDES;
  *array_push(s->o->scratch, &s->lengths) =
      sizes_assumed(s->sizes, s->index, v, descriptor ? SIZE_COUNT : SIZE_LEN);
  if (descriptor && total)
    *array_push(s->o->scratch, &s->lengths) = sizes_assumed(s->sizes, s->index, v, SIZE_TOTAL);
}

/* Lists the lengths of as many elements as there are instances, and of shared parameters.
 * Parameter 0 has both. */
static void list_lengths(struct search *s) {
  const struct ir_instances *mark = s->f->instances;
  s->lengths.count = 0;
  for (uint32_t i = 0; i < s->f->param_count; i++) {
    if (mark->params[i] == IR_SHARED || mark->params[i] == IR_EACH)
      add_known_lengths(s, s->f->params[i], mark->params[i] == IR_SHARED);
  }
  for (uint32_t i = 0; i < s->f->result_count; i++) {
    if (mark->results[i] == IR_EACH) add_known_lengths(s, s->f->body->results[i], false);
  }
}

static bool has_own_elements(const struct search *s, ir_var v) {
  const enum ir_kind_tag tag = s->f->vars[v]->tag;
  if (tag != IR_INT && tag != IR_FLOAT && tag != IR_BOOL) return false;
  if (sizes_known(s->sizes, s->index, v, SIZE_LEN) >= 0) return false;
  const uint32_t length = sizes_assumed(s->sizes, s->index, v, SIZE_LEN);
  for (size_t i = 0; i < s->lengths.count; i++) {
    if (s->lengths.items[i] == length) return false;
  }
  return true;
}

/* ---- reasons ---- */

static const char *name_of_function(const struct search *s, uint32_t function) {
  return s->o->program->functions[function].name->text;
}

/* "+ INT", "superoperator OP3", "a call of FN", "an IF". */
static const char *operation_text(const struct search *s, const struct ir_binding *x) {
  const char *type = type_word_text((enum type_word)x->type);
  switch ((enum ir_form)x->form) {
  case IR_OP:
    return arena_printf(s->kept, "%s%s%s", opcode_info(x->op)->spelling,
                        x->type == TW_NONE ? "" : " ", x->type == TW_NONE ? "" : type);
  case IR_FUSED:
    return arena_printf(s->kept, "OP%u", s->o->program->superops[x->as.superop]->number);
  case IR_CALL:
    return arena_printf(s->kept, "the call of %s", name_of_function(s, x->as.callee));
  case IR_IF: return "an IF";
  case IR_CONST: break;
  }
  return "a constant";
}

static const char *keeps(const struct search *s, const struct ir_binding *definition,
                         const struct ir_binding *user) {
  return arena_printf(s->kept, "line %u: the result of %s is in memory for %s in line %u",
                      definition->pos.line, operation_text(s, definition),
                      operation_text(s, user), user->pos.line);
}

/* Returns why a call makes its caller worth it; or NULL. */
static const char *of_call(const struct search *s, const struct ir_binding *x) {
  const uint32_t callee = x->as.callee;
  if (!s->o->program->functions[callee].instances)
    return arena_printf(s->kept, "line %u: it calls %s", x->pos.line,
                        name_of_function(s, callee));
  if (!s->worth[callee]) return NULL;
  return arena_printf(s->kept, "line %u: it calls %s, which is lifted", x->pos.line,
                      name_of_function(s, callee));
}

static const char *of_block(struct search *s, const struct ir_block *block);

/* Returns the stage of the latest operand. */
static uint32_t stage_of_operands(const struct search *s, const struct ir_binding *x) {
  uint32_t stage = x->form == IR_OP || x->form == IR_CONST ? 0 : s->highest;
  for (uint32_t i = 0; i < x->operand_count; i++) {
    const uint32_t of = s->traces[x->operands[i]].stage;
    if (of > stage) stage = of;
  }
  return stage;
}

/* Returns the domain of a binding that can be fused. */
static uint32_t domain_of_binding(const struct search *s, const struct ir_binding *x,
                                  enum superop_role role) {
  return sizes_assumed(s->sizes, s->index, fuse_domain(s->o->program, x, role), SIZE_LEN);
}

static bool instance_may_fail(const struct search *s, const struct ir_binding *x) {
  const unsigned effects = binding_effects(&s->calls, x);
  if (effects != EFFECT_ENDS || (x->form != IR_OP && x->form != IR_FUSED)) return effects != 0;
  return !sizes_safe(s->sizes, s->index, x);
}

/* Returns the stage of a binding whose operands have lengths that only a check makes agree: it
 * is behind the last one that may fail. */
static uint32_t checked_stage(struct search *s, const struct ir_binding *x, bool access,
                              enum superop_role role, uint32_t stage) {
  const struct ordered last = s->ordered;
  const uint32_t domain = access ? domain_of_binding(s, x, role) : 0;
  if (last.any && x->form == IR_OP && !sizes_agree(s->sizes, s->index, x)) {
    const bool together = access && last.fusible && last.domain == domain;
    const uint32_t least = last.stage + (last.fusible && !together);
    if (least > stage) stage = least;
  }
  if (instance_may_fail(s, x)) s->ordered = (struct ordered){true, access, stage, domain};
  return stage;
}

/* Notes the results of a binding. `access` says how it would be fused, or is NULL. */
static void note_results(struct search *s, const struct ir_binding *x, const char *access,
                         enum superop_role role, uint32_t stage) {
  const bool produces = access && fuse_is_producer((uint8_t)role);
  for (uint32_t i = 0; i < x->operand_count && access && !produces; i++) {
    if (!s->traces[x->operands[i]].definition) continue;
    stage++;
    break;
  }
  if (stage > s->highest) s->highest = stage;
  bool own = false;
  for (uint32_t i = 0; i < x->result_count; i++) {
    struct trace *t = &s->traces[x->results[i]];
    *t = (struct trace){.stage = stage};
    if (x->form == IR_CONST || !has_own_elements(s, x->results[i])) continue;
    own = true;
    t->definition = x;
    t->fused = produces && s->own_operations < FUSED_MOST;
  }
  s->own_operations += own;
}

static const char *of_arms(struct search *s, const struct ir_binding *x) {
  const char *why = of_block(s, x->as.arms.then);
  return why ? why : of_block(s, x->as.arms.otherwise);
}

static const char *of_binding(struct search *s, const struct ir_binding *x) {
  enum superop_role role = ROLE_MAP;
  const char *access = s->fused ? fuse_form(s->o->scratch, s->o->program, x, &role) : NULL;
  uint32_t stage = stage_of_operands(s, x);
  if (s->fused) stage = checked_stage(s, x, access != NULL, role, stage);
  for (uint32_t i = 0; i < x->operand_count; i++) {
    const struct trace *t = &s->traces[x->operands[i]];
    const bool fused = t->fused && access && access[i] == 'd' && t->stage == stage;
    if (t->definition && !fused) return keeps(s, t->definition, x);
  }
  s->operations += x->form == IR_OP || x->form == IR_FUSED;
  const char *why = x->form == IR_CALL ? of_call(s, x) : NULL;
  if (x->form == IR_IF) why = of_arms(s, x);
  if (!why) note_results(s, x, access, role, x->form == IR_IF ? s->highest : stage);
  return why;
}

static const char *of_block(struct search *s, const struct ir_block *block) {
  const char *why = NULL;
  for (uint32_t i = 0; i < block->count && !why; i++) why = of_binding(s, &block->bindings[i]);
  return why;
}

/* Returns why a lifted function is worth its call; or NULL. */
static const char *of_function(struct search *s, uint32_t index) {
  s->index = index;
  s->f = &s->o->program->functions[index];
  s->operations = 0;
  if (s->calls.recursive[index]) return "it is recursive";
  s->traces = arena_alloc(s->o->scratch, s->f->var_count * sizeof *s->traces);
  s->highest = s->own_operations = 0;
  s->ordered = (struct ordered){0};
  list_lengths(s);
  return of_block(s, s->f->body);
}

/* ---- the decision ---- */

static const char *why_not(const struct search *s) {
  return s->operations == 1 ? "it is one operation"
                            : "it keeps no elements of its own in memory";
}

bool instances_decide(struct opt *o, struct arena *kept, const struct ir_program *program,
                      struct instances_decision *decisions, bool fused) {
  const uint32_t n = o->program->function_count;
  struct search s = {.o = o,
                     .sizes = sizes_compute(o),
                     .calls = calls_make(o),
                     .kept = kept,
                     .fused = fused,
                     .worth = arena_alloc(o->scratch, n * sizeof *s.worth)};
  bool changed = false;
  for (uint32_t i = 0; i < n; i++) { /* callees first */
    const uint32_t f = s.calls.order[i];
    const bool is_twin = f >= o->decision_count; /* invariants.c */
    if (is_twin && s.calls.recursive[f]) s.worth[f] = "it is recursive";
    if (is_twin || !program->functions[f].instances) continue;
    struct instances_decision *d = &decisions[f];
    if (d->inlined || !s.calls.reachable[f]) continue;
    if (!o->program->functions[f].typed) continue;
    const char *reason = "it never returns";
    if (o->program->functions[f].instances) {
      s.worth[f] = of_function(&s, f);
      reason = why_not(&s);
    }
    d->inlined = s.worth[f] == NULL;
    d->reason = d->inlined ? reason : s.worth[f];
    changed |= d->inlined;
  }
  arena_free(o->scratch);
  return changed;
}

/* Those that only procedures call are not explained. */
void instances_explain(const struct opt *o, const struct ir_program *program,
                       const struct instances_decision *decisions) {
  struct ir_program original = *program;
  struct opt before = *o;
  before.program = &original;
  const struct calls calls = calls_make(&before);
  for (uint32_t f = 0; f < program->function_count; f++) {
    const struct instances_decision *d = &decisions[f];
    if (!d->reason || !calls.called[f]) continue;
    fprintf(o->explain, "function %s\n  %s: %s\n", program->functions[f].name->text,
            d->inlined ? "inlined" : "lifted", d->reason);
  }
  arena_free(o->scratch);
}
