/* execute.c - runs the flat code of typed functions.
 *
 * One loop executes instructions; a call pushes a frame on the machine's stack and continues.
 * The most frequent work (moving values, arithmetic on scalars, calls, IF on a known
 * condition) is done in the loop, without allocation and without the back end.
 *
 * A slot whose last use is over holds no counted value: it is emptied when its value moves. So
 * a frame needs no clearing, neither when it begins nor when it ends.
 */
#include "vinterp/machine/machine-private.h"

static struct machine_site site_at(const struct machine *m, const struct instruction *i) {
  return (struct machine_site){m->site, (uint32_t)(i - m->code->instructions)};
}

/* Takes a value out of a slot at its last use, or makes another reference to it. */
static inline void execute_take(struct machine *m, struct value *r, uint32_t ref,
                                struct value *to) {
  struct value *from = &r[ref & REF_SLOT];
  *to = *from;
  if (!value_is_counted(from)) return;
  if (ref & REF_LAST) {
    from->form = CVL_NOTHING;
  } else {
    value_retain(&m->store, to);
  }
}

/* Executes an elementwise operation on scalars. Returns false if an operand is no scalar, or
 * after a fault. */
static inline bool machine_execute_scalar(const struct machine *m, const struct instruction *i,
                                          struct value *r) {
  struct cvl_value operands[3];
  uint32_t n = i->operand_count;
  if (n + 1 > INLINE_REFS) return false;
  for (uint32_t k = 0; k < n; k++) {
    operands[k] = r[i->ref[k] & REF_SLOT].flat;
    if (operands[k].form != CVL_SCALAR) return false;
  }
  enum cvl_error_kind fault;
  return cvl_scalar_op(m->widths.int_elem, m->widths.float_elem, i->as.operation, operands,
                       &r[i->ref[n]].flat, &fault);
}

/* Returns whether the run goes on. In a search for a fault every instruction is waited for. */
static inline bool is_well(struct machine *m, uint32_t location) {
  return m->chunks.pass == CHUNKS_RUN || chunks_settle(m, location);
}

/* Executes any operation; operands at their last use are handed over. */
static bool execute_operation(struct machine *m, const struct instruction *i, struct value *r) {
  struct value operands[MAX_OPERANDS], results[MAX_RESULTS];
  const uint32_t *refs = code_refs(m->code, i);
  for (uint32_t k = 0; k < i->operand_count; k++) {
    struct value *from = &r[refs[k] & REF_SLOT];
    operands[k] = *from;
    operands[k].flat.owned = (refs[k] & REF_LAST) && value_is_counted(from);
    if (operands[k].flat.owned) from->form = CVL_NOTHING;
  }
  uint32_t location = site_at(m, i).location;
  bool (*run)(struct machine *, uint32_t, enum opcode, enum type_word, struct value *,
              struct value *) =
      i->action == ACT_PROFILED ? operation_profiled : operation_execute;
  if (!run(m, location, (enum opcode)i->op, (enum type_word)i->type, operands, results)) {
    return false;
  }
  for (uint32_t k = 0; k < i->result_count; k++) r[refs[i->operand_count + k]] = results[k];
  return is_well(m, location);
}

/* Executes a superoperator, which may have any number of operands. */
static bool execute_fused(struct machine *m, const struct instruction *i, struct value *r) {
  const uint32_t *refs = code_refs(m->code, i);
  struct value *operands = fused_operands(m), *results = fused_results(m);
  for (uint32_t k = 0; k < i->operand_count; k++) {
    struct value *from = &r[refs[k] & REF_SLOT];
    operands[k] = *from;
    operands[k].flat.owned = (refs[k] & REF_LAST) && value_is_counted(from);
    if (operands[k].flat.owned) from->form = CVL_NOTHING;
  }
  bool (*run)(struct machine *, uint32_t, uint32_t) =
      m->measured ? fused_profiled : fused_execute;
  const uint32_t location = site_at(m, i).location;
  if (!run(m, location, i->as.superop)) return false;
  for (uint32_t k = 0; k < i->result_count; k++) r[refs[i->operand_count + k]] = results[k];
  return is_well(m, location);
}

static bool execute_constant(struct machine *m, const struct instruction *i, struct value *r) {
  struct constant *c = &m->code->constants[i->as.constant];
  struct value *value = m->sub ? &m->constants[i->as.constant] : &c->value;
  if (value->form == CVL_NOTHING) {
    struct machine_site site;
    if (!machine_next_site(m, site_at(m, i).location, &site) ||
        !machine_constant(m, &site, c->source, value)) {
      return false;
    }
  }
  r[i->ref[0]] = *value;
  value_retain(&m->store, value);
  return true;
}

/* Decides an IF. */
static inline bool execute_decide(struct machine *m, const struct instruction *i,
                                  struct value *r, bool *out) {
  struct value *condition = &r[i->ref[0] & REF_SLOT];
  if (condition->form == CVL_SCALAR) {
    *out = condition->flat.as.b;
    return true;
  }
  bool ok = machine_decide(m, site_at(m, i).location, condition, out);
  if (i->ref[0] & REF_LAST) value_release(&m->store, condition);
  return ok;
}

static const struct code_function *execute_function_of(const struct machine *m,
                                                       const struct frame *frame) {
  return &m->code->functions[frame->function];
}

/* Makes a frame for the callee above the caller's and moves the arguments into it. */
static bool execute_call(struct machine *m, const struct instruction *i) {
  const struct frame *caller = &m->frames[m->depth - 1];
  const struct code_function *callee = &m->code->functions[i->as.callee];
  uint64_t from = caller->base, base = from + execute_function_of(m, caller)->slots;
  struct machine_site site = site_at(m, i);
  if (--m->fuel < 0 && !machine_poll(m, &site)) return false;
  uint64_t needed = base + callee->slots + callee->result_count;
  if (needed > m->capacity && !machine_reserve(m, &site, needed)) return false;
  if (!machine_push_frame(m, &site, i->as.callee, base)) return false;
  const uint32_t *refs = code_refs(m->code, i);
  for (uint32_t k = 0; k < i->operand_count; k++) {
    execute_take(m, m->stack + from, refs[k], &m->stack[base + k]);
  }
  if (m->chunks.pass != CHUNKS_RUN) path_call(m);
  return true;
}

/* Moves n values down to where stack code, the end of the run, or a callee expects them. */
static void move_down(struct value *to, struct value *from, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) to[k] = from[k];
  for (uint32_t k = 0; k < n; k++) {
    if (from + k >= to + n) from[k].form = CVL_NOTHING;
  }
}

/* Executes a call that ends its function. Arguments first go above the frame, since they may
 * be anywhere in it, and then to its beginning. Nothing else in it holds a counted value. */
static bool tail_call(struct machine *m, const struct instruction *i) {
  const struct frame *frame = &m->frames[m->depth - 1];
  const struct code_function *callee = &m->code->functions[i->as.callee];
  const struct machine_site site = site_at(m, i);
  const uint64_t base = frame->base, slots = execute_function_of(m, frame)->slots;
  if (--m->fuel < 0 && !machine_poll(m, &site)) return false;
  if (!machine_reserve(m, &site, base + slots + i->operand_count) ||
      !machine_reserve(m, &site, base + callee->slots + callee->result_count) ||
      !machine_replace_frame(m, &site, i->as.callee, base)) {
    return false;
  }
  const uint32_t *refs = code_refs(m->code, i);
  struct value *r = m->stack + base;
  for (uint32_t k = 0; k < i->operand_count; k++) execute_take(m, r, refs[k], &r[slots + k]);
  move_down(r, r + slots, i->operand_count);
  return true;
}

/* After the top frame has returned n values: returns STEP_ON if it goes on with the next
 * chunk, from *location on; STEP_DONE if they are the results of all chunks. */
static enum step leave_chunks(struct machine *m, struct value *above, uint32_t n,
                              uint32_t *location) {
  while (chunks_in_frame(m)) {
    switch (chunks_return(m, above, n, location)) {
    case CHUNKS_NEXT: return STEP_ON;
    case CHUNKS_FAILED: return STEP_FAULT;
    case CHUNKS_OVER: return STEP_EXIT;
    case CHUNKS_END: break;
    }
  }
  return STEP_DONE;
}

/* Ends the top frame. Its n results are above it; *location is the instruction that ends it. */
static inline enum step end_frame(struct machine *m, uint32_t n, uint32_t *location) {
  const struct frame frame = m->frames[m->depth - 1];
  struct value *r = m->stack + frame.base;
  struct value *above = r + execute_function_of(m, &frame)->slots;
  if (m->chunks.count) {
    const enum step step = leave_chunks(m, above, n, location);
    if (step != STEP_DONE) return step;
  }
  if (m->depth == m->calls.depth) procedure_calls_end(m);
  bool ends_run = m->depth == 1;
  if (!ends_run) {
    if (m->chunks.pass != CHUNKS_RUN) path_return(m);
    if (m->depth <= m->history.visible && !machine_note_return(m)) return STEP_FAULT;
    m->depth--;
    *location = frame.caller + 1;
  }
  if (ends_run || code_is_stack(m->code, frame.caller)) {
    move_down(r, above, n);
    m->top = frame.base + n;
    return ends_run ? STEP_DONE : STEP_SWITCH;
  }
  const struct instruction *caller = m->code->instructions + frame.caller;
  const uint32_t *slots = code_refs(m->code, caller) + caller->operand_count;
  r = m->stack + m->frames[m->depth - 1].base;
  for (uint32_t k = 0; k < n; k++) {
    r[slots[k]] = above[k];
    above[k].form = CVL_NOTHING;
  }
  return STEP_ON;
}

/* Leaves a function. Results first go above the frame, since they may be anywhere in it, and
 * then to the slots that the CALL names, or down to the stack. */
static enum step execute_leave(struct machine *m, const struct instruction *i,
                               uint32_t *location) {
  const struct frame *frame = &m->frames[m->depth - 1];
  const uint32_t *refs = code_refs(m->code, i);
  struct value *r = m->stack + frame->base, *above = r + execute_function_of(m, frame)->slots;
  for (uint32_t k = 0; k < i->operand_count; k++) execute_take(m, r, refs[k], &above[k]);
  *location = site_at(m, i).location;
  return end_frame(m, i->operand_count, location);
}

/* Begins a function whose frame has just been made, chunk by chunk if that is wanted;
 * *location is where it begins. `call` is the location of the CALL; for `before` see
 * chunks_call. */
static inline enum step enter_at(struct machine *m, uint32_t function, uint32_t call,
                                 const struct frame *before, uint32_t *location) {
  const struct code_function *callee = &m->code->functions[function];
  if (m->chunks.possible || m->calls.possible) {
    *location = call;
    switch (chunks_call(m, *location, before)) {
    case CHUNKS_NEXT: break;
    case CHUNKS_END: return end_frame(m, callee->result_count, location);
    case CHUNKS_OVER:
    case CHUNKS_FAILED: return STEP_FAULT;
    }
  }
  *location = callee->entry;
  return STEP_ON;
}

static inline enum step execute_enter(struct machine *m, const struct instruction *i,
                                      const struct frame *before, uint32_t *location) {
  return enter_at(m, i->as.callee, site_at(m, i).location, before, location);
}

enum step execute_entry(struct machine *m, uint32_t *location) {
  return enter_at(m, m->entry, *location, NULL, location);
}

/* Reports a call that returned although the let-form promised that it never does. */
static enum step unreachable(struct machine *m, const struct instruction *i) {
  struct machine_site site = site_at(m, i);
  machine_fault(m, &site, "a call that never returns returned (a fault of Ravel)");
  return STEP_FAULT;
}

static enum step execute_leave_program(struct machine *m, const struct instruction *i) {
  struct machine_site site;
  if (!machine_next_site(m, site_at(m, i).location, &site) || !machine_settle(m, &site)) {
    return STEP_FAULT;
  }
  return STEP_EXIT;
}

enum step execute(struct machine *m, uint32_t *location) {
  const struct instruction *code = m->code->instructions;
  const struct instruction *i = code + *location;
  struct value *r = m->stack + m->frames[m->depth - 1].base;
  for (;;) {
    bool condition;
    enum step step;
    struct frame before;
    switch ((enum action)i->action) {
    case ACT_SCALAR:
      if (m->chunks.pass != CHUNKS_SUM && machine_execute_scalar(m, i, r)) break;
      /* fall through */
    case ACT_OPERATION:
    case ACT_PROFILED:
      if (!execute_operation(m, i, r)) return STEP_FAULT;
      break;
    case ACT_FUSED:
      if (!execute_fused(m, i, r)) return STEP_FAULT;
      break;
    case ACT_NODE: break;
    case ACT_SCALAR_CONST: r[i->ref[0]] = value_of(i->as.scalar); break;
    case ACT_CONST:
      if (!execute_constant(m, i, r)) return STEP_FAULT;
      break;
    case ACT_COPY: execute_take(m, r, i->ref[0], &r[i->ref[1]]); break;
    case ACT_MOVE: execute_take(m, r, i->ref[0] | REF_LAST, &r[i->ref[1]]); break;
    case ACT_DROP: value_release(&m->store, &r[i->ref[0]]); break;
    case ACT_IF:
    case ACT_IF_NOT:
      if (!execute_decide(m, i, r, &condition)) return STEP_FAULT;
      i = condition == (i->action == ACT_IF) ? i + 1 : code + i->as.target;
      continue;
    case ACT_JUMP: i = code + i->as.target; continue;
    case ACT_CALL:
      if (!execute_call(m, i)) return STEP_FAULT;
      step = execute_enter(m, i, NULL, location);
      if (step != STEP_ON) return step;
      i = code + *location;
      r = m->stack + m->frames[m->depth - 1].base;
      continue;
    case ACT_TAIL_CALL:
      before = m->frames[m->depth - 1];
      if (!tail_call(m, i)) return STEP_FAULT;
      step = execute_enter(m, i, &before, location);
      if (step != STEP_ON) return step;
      i = code + *location;
      r = m->stack + m->frames[m->depth - 1].base;
      continue;
    case ACT_RETURN:
      step = execute_leave(m, i, location);
      if (step != STEP_ON) return step;
      i = code + *location;
      r = m->stack + m->frames[m->depth - 1].base;
      continue;
    case ACT_EXIT: return execute_leave_program(m, i);
    case ACT_NEVER: return unreachable(m, i);
    }
    i++;
  }
}
