/* stack-interpreter.c - runs stack code as it is written, with every check at every
 * instruction.
 *
 * It runs functions whose kinds could not be inferred, and everything when a run is `checked`:
 * then tests compare the flat code with it. So it is simple: kinds, numbers of items and sizes
 * are checked each time, and operands leave the stack before the operation.
 *
 * Stack code calls typed functions if their arguments have the kinds for which they were
 * inferred; the typed frame then begins at the arguments. Otherwise it runs their stack code,
 * so that the error comes at the instruction that causes it. Typed functions never call stack
 * code.
 */
#include "ir/kinds.h"
#include "vinterp/machine/machine-private.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_NESTED_KIND = 100 }; /* deeper pairs are left to stack code */

static bool stack_push(struct machine *m, const struct machine_site *site, struct value v) {
  if (m->top == m->capacity && !machine_reserve(m, site, m->top + 1)) {
    value_release(&m->store, &v);
    return false;
  }
  m->stack[m->top++] = v;
  return true;
}

/* Requires n items on the stack. */
static bool has_items(struct machine *m, const struct machine_site *site, uint64_t n) {
  return n <= m->top ||
         machine_fault(m, site, "needs %" PRIu64 " items, the stack has %" PRIu64, n, m->top);
}

static bool has_kind(struct machine *m, const struct machine_site *site, unsigned operand,
                     const struct value *v, enum ir_kind_tag wanted) {
  return value_kind(v) == wanted ||
         machine_fault(m, site, "operand %u is %s, not %s", operand, ir_tag_text(value_kind(v)),
                       ir_tag_text(wanted));
}

/* ---- COPY, POP, CPOP ---- */

static void reverse(struct value *items, uint64_t n) {
  for (uint64_t i = 0; i + 1 < n; i++, n--) {
    struct value t = items[i];
    items[i] = items[n - 1];
    items[n - 1] = t;
  }
}

/* Exchanges the lower n of n + k items with the k above, each keeping its order. */
static void rotate(struct value *items, uint64_t n, uint64_t k) {
  reverse(items, n);
  reverse(items + n, k);
  reverse(items, n + k);
}

static bool stack_shuffle(struct machine *m, const struct machine_site *site,
                          const struct vcode_instruction *i) {
  uint64_t n = (uint64_t)i->as.stack.count, k = (uint64_t)i->as.stack.depth;
  if (!has_items(m, site, n + k)) return false;
  if (n == 0) return true;
  if (i->op == OPC_COPY) {
    if (!machine_reserve(m, site, m->top + n)) return false;
    const struct value *from = m->stack + (m->top - k - n);
    for (uint64_t j = 0; j < n; j++) {
      m->stack[m->top++] = from[j];
      value_retain(&m->store, &from[j]);
    }
    return true;
  }
  rotate(m->stack + (m->top - k - n), n, k);
  if (i->op == OPC_POP) {
    for (uint64_t j = 0; j < n; j++) value_release(&m->store, &m->stack[--m->top]);
  }
  return true;
}

/* ---- operations ---- */

static bool stack_operation(struct machine *m, const struct machine_site *site,
                            const struct vcode_instruction *i) {
  enum opcode op = (enum opcode)i->op;
  enum type_word type = (enum type_word)i->type;
  const struct opcode_info *info = opcode_info(op);
  unsigned n = (unsigned)strlen(info->operands);
  if (!has_items(m, site, n)) return false;
  struct value operands[MAX_OPERANDS], results[MAX_RESULTS];
  struct value *items = m->stack + (m->top - n);
  for (unsigned k = 0; k < n; k++) {
    enum ir_kind_tag wanted = (enum ir_kind_tag)operand_kind(info->operands[k], type);
    if (wanted != IR_ANY && !has_kind(m, site, k, &items[k], wanted)) return false;
  }
  for (unsigned k = 0; k < n; k++) {
    operands[k] = items[k];
    operands[k].flat.owned = value_is_counted(&items[k]);
    items[k].form = CVL_NOTHING;
  }
  m->top -= n;
  bool (*run)(struct machine *, uint32_t, enum opcode, enum type_word, struct value *,
              struct value *) = m->measured ? operation_profiled : operation_execute;
  if (!run(m, site->location, op, type, operands, results)) return false;
  bool ok = true;
  for (size_t k = 0; info->results[k]; k++) ok = stack_push(m, site, results[k]) && ok;
  return ok;
}

static bool superoperator(struct machine *m, const struct machine_site *site,
                          const struct vcode_instruction *i) {
  if (i->as.fused >= m->program->superop_count) {
    return machine_fault(m, site, "superoperator %" PRIu32 " is not defined", i->as.fused);
  }
  const struct superop *op = m->program->superops[i->as.fused];
  uint32_t n = op->param_count;
  if (!has_items(m, site, n)) return false;
  struct value *items = m->stack + (m->top - n), *operands = fused_operands(m);
  for (uint32_t k = 0; k < n; k++) {
    if (!has_kind(m, site, k, &items[k], ir_superop_operand(op, k)->tag)) return false;
  }
  for (uint32_t k = 0; k < n; k++) {
    operands[k] = items[k];
    operands[k].flat.owned = value_is_counted(&items[k]);
    items[k].form = CVL_NOTHING;
  }
  m->top -= n;
  bool (*run)(struct machine *, uint32_t, uint32_t) =
      m->measured ? fused_profiled : fused_execute;
  if (!run(m, site->location, i->as.fused)) return false;
  const struct value *results = fused_results(m);
  bool ok = true;
  for (uint32_t k = 0; k < op->output_count; k++) ok = stack_push(m, site, results[k]) && ok;
  return ok;
}

static bool stack_constant(struct machine *m, const struct machine_site *site,
                           const struct vcode_instruction *i) {
  struct machine_site numbered;
  struct value v;
  if (code_scalar_constant(m->widths, i->as.constant, &v.flat)) return stack_push(m, site, v);
  return machine_next_site(m, site->location, &numbered) &&
         machine_constant(m, &numbered, i->as.constant, &v) && stack_push(m, site, v);
}

/* Takes the condition of an IF off the stack. */
static bool stack_condition(struct machine *m, const struct machine_site *site, bool *out) {
  if (!has_items(m, site, 1) || !has_kind(m, site, 0, &m->stack[m->top - 1], IR_BOOL)) {
    return false;
  }
  bool ok = machine_decide(m, site->location, &m->stack[m->top - 1], out);
  value_release(&m->store, &m->stack[--m->top]);
  return ok;
}

/* ---- calls ---- */

/* Returns whether a value is of a kind. Kind variables are bound to the first value that meets
 * them: `bound` has each variable's value, or NULL. */
static bool is_of_kind(const struct value *v, const struct ir_kind *kind,
                       const struct value **bound, unsigned nested);

/* Returns whether two values are of the same kind, pairs included. */
static bool same_kind(const struct value *a, const struct value *b, unsigned nested) {
  if (value_kind(a) != value_kind(b) || nested > MAX_NESTED_KIND) return false;
  return value_kind(a) != IR_PAIR || (same_kind(&a->pair->left, &b->pair->left, nested + 1) &&
                                      same_kind(&a->pair->right, &b->pair->right, nested + 1));
}

static bool is_of_kind(const struct value *v, const struct ir_kind *kind,
                       const struct value **bound, unsigned nested) {
  if (nested > MAX_NESTED_KIND) return false;
  if (kind->tag == IR_ANY) {
    if (bound[kind->variable]) return same_kind(v, bound[kind->variable], nested);
    bound[kind->variable] = v;
    return true;
  }
  if (value_kind(v) != kind->tag) return false;
  return kind->tag != IR_PAIR || (is_of_kind(&v->pair->left, kind->left, bound, nested + 1) &&
                                  is_of_kind(&v->pair->right, kind->right, bound, nested + 1));
}

bool machine_arguments_fit(struct machine *m, const struct machine_site *site,
                           const struct ir_function *f, bool *fit) {
  *fit = f->param_count <= m->top;
  if (!*fit) return true;
  const size_t bytes = (size_t)f->kind_variables * sizeof(const struct value *);
  const struct value **bound = bytes > 0 ? heap_alloc(m->heap, bytes) : NULL;
  if (bytes > 0 && !bound) return machine_memory_fault(m, site, bytes);
  for (uint32_t k = 0; k < f->kind_variables; k++) bound[k] = NULL;
  const struct value *arguments = m->stack + (m->top - f->param_count);
  for (uint32_t k = 0; k < f->param_count && *fit; k++) {
    *fit = is_of_kind(&arguments[k], f->vars[f->params[k]], bound, 0);
  }
  heap_free(m->heap, bound, bytes);
  return true;
}

/* Returns whether nothing except ELSE, ENDIF and RET follows an instruction. */
static bool stack_ends_function(const struct vcode_function *f, uint32_t at) {
  for (at++; f->code[at].op == OPC_ENDIF || f->code[at].op == OPC_ELSE; at++) {
    if (f->code[at].op == OPC_ELSE) at = f->code[at].as.branch.end;
  }
  return f->code[at].op == OPC_RET;
}

/* Makes a frame for the callee, or reuses that of the function which the call ends. */
static bool stack_begin_frame(struct machine *m, const struct machine_site *site,
                              uint32_t function, uint64_t base, bool last) {
  const uint32_t caller = m->frames[m->depth - 1].function;
  return last && code_may_replace(m->code, caller, function)
             ? machine_replace_frame(m, site, function, base)
             : machine_push_frame(m, site, function, base);
}

/* Begins a call; *location is where the callee starts. */
static enum step stack_call(struct machine *m, const struct machine_site *site,
                            uint32_t function, bool last, uint32_t *location) {
  const struct code_function *callee = &m->code->functions[function];
  const struct ir_function *f = &m->program->functions[function];
  if (--m->fuel < 0 && !machine_poll(m, site)) return STEP_FAULT;
  bool typed = callee->runs_typed;
  if (typed && !machine_arguments_fit(m, site, f, &typed)) return STEP_FAULT;
  if (!typed &&
      !f->stack) { /* the place in its body where it would fail is not known any more */
    machine_fault(m, site, "the stack does not hold what %s takes", f->name->text);
    return STEP_FAULT;
  }
  if (!typed) {
    *location = callee->stack_entry;
    return stack_begin_frame(m, site, function, m->top, last) ? STEP_ON : STEP_FAULT;
  }
  uint64_t base = m->top - callee->param_count;
  if (!machine_reserve(m, site, base + callee->slots + callee->result_count) ||
      !stack_begin_frame(m, site, function, base, last)) {
    return STEP_FAULT;
  }
  *location = callee->entry;
  return STEP_SWITCH;
}

static enum step stack_leave(struct machine *m, uint32_t *location) {
  if (m->depth == 1) return STEP_DONE;
  if (m->depth <= m->history.visible && !machine_note_return(m)) return STEP_FAULT;
  *location = m->frames[--m->depth].caller + 1;
  return STEP_ON;
}

static enum step stack_leave_program(struct machine *m, const struct machine_site *site) {
  struct machine_site numbered;
  return machine_next_site(m, site->location, &numbered) && machine_settle(m, &numbered)
             ? STEP_EXIT
             : STEP_FAULT;
}

/* ---- the loop ---- */

/* Executes IF, ELSE and ENDIF: finds the index of the next instruction. */
static bool branch(struct machine *m, const struct machine_site *site,
                   const struct vcode_instruction *i, uint32_t *next) {
  if (i->op == OPC_ELSE) *next = i->as.branch.end + 1;
  if (i->op != OPC_IF) return true;
  bool taken;
  if (!stack_condition(m, site, &taken)) return false;
  if (!taken) *next = i->as.branch.otherwise + 1;
  return true;
}

static enum step step_control(struct machine *m, const struct machine_site *site,
                              const struct vcode_instruction *i, uint32_t *location) {
  const uint32_t function = m->frames[m->depth - 1].function;
  const uint32_t first = m->code->functions[function].stack_entry;
  uint32_t next = *location - first + 1;
  switch (i->op) {
  case OPC_CALL: {
    const bool last = stack_ends_function(m->program->functions[function].stack, next - 1);
    return stack_call(m, site, i->as.call.function, last, location);
  }
  case OPC_RET: return stack_leave(m, location);
  case OPC_EXIT: return stack_leave_program(m, site);
  case OPC_FUSED:
    if (!superoperator(m, site, i)) return STEP_FAULT;
    ++*location;
    return STEP_ON;
  default: /* IF ELSE ENDIF */
    if (!branch(m, site, i, &next)) return STEP_FAULT;
    *location = first + next;
    return STEP_ON;
  }
}

enum step interpret(struct machine *m, uint32_t *location) {
  for (;;) {
    uint32_t function = m->frames[m->depth - 1].function;
    uint32_t first = m->code->functions[function].stack_entry;
    const struct vcode_function *f = m->program->functions[function].stack;
    const struct vcode_instruction *i = &f->code[*location - first];
    struct machine_site site = {m->site, *location};
    bool ok;
    switch (opcode_info((enum opcode)i->op)->klass) {
    case OC_CONTROL: {
      enum step step = step_control(m, &site, i, location);
      if (step != STEP_ON) return step;
      continue;
    }
    case OC_STACK: ok = stack_shuffle(m, &site, i); break;
    case OC_CONSTANT: ok = stack_constant(m, &site, i); break;
    default: ok = stack_operation(m, &site, i); break;
    }
    if (!ok) return STEP_FAULT;
    ++*location;
  }
}
