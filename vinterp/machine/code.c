/* code.c - lowering: slots for variables, jumps for blocks.
 *
 * Blocks may be nested at any depth, so they are walked with an explicit stack, not by
 * recursion. The lowest free slot is taken first. A trail notes the changes that an arm of an
 * IF makes to the slots. They are undone before the other arm begins. An arm that returns goes
 * last, so that the slots are right for the code behind the IF.
 */
#include "vinterp/machine/code.h"
#include "ir/constant.h"

#include <string.h>

/* A block being lowered. */
struct open_block {
  const struct ir_block *block;
  uint32_t next;                /* the next binding to lower */
  const struct ir_binding *arm; /* the IF of which it is an arm; NULL: a function body */
  bool second;                  /* the other arm is done */
  uint32_t branch;              /* location of the jump to the second arm */
  uint32_t leave;               /* location of the first arm's jump to the end; 0: none */
  size_t trail;                 /* length of the trail when the IF began */
};

struct lowering {
  struct code *code;
  struct arena *arena;
  bool profiled;
  uint32_t number;
  ARRAY(struct instruction) out;
  ARRAY(struct debug_info) debug;
  ARRAY(uint32_t) words;
  ARRAY(struct constant) constants;

  uint32_t *slot_of;     /* for each variable; no_slot before it has one */
  ARRAY(bool) taken;     /* for each slot */
  uint32_t lowest;       /* no slot below is free */
  ARRAY(uint32_t) trail; /* slots taken or freed, in order */
  ARRAY(struct open_block) open;
};

static const uint32_t no_slot = UINT32_MAX;

bool code_scalar_constant(struct widths w, const struct vcode_constant *c,
                          struct cvl_value *out) {
  if (c->length != 1) return false;
  *out = c->type == TW_SEGDES ? cvl_one_segment((uint64_t)c->as.ints[0])
                              : constant_element(w, c, 0);
  return true;
}

/* ---- slots ---- */

static uint32_t code_take_slot(struct lowering *l) {
  uint32_t slot = l->lowest;
  while (slot < l->taken.count && l->taken.items[slot]) slot++;
  if (slot == l->taken.count) *array_push(l->arena, &l->taken) = false;
  l->taken.items[slot] = true;
  l->lowest = slot + 1;
  *array_push(l->arena, &l->trail) = slot;
  return slot;
}

static void free_slot(struct lowering *l, uint32_t slot) {
  l->taken.items[slot] = false;
  if (slot < l->lowest) l->lowest = slot;
  *array_push(l->arena, &l->trail) = slot;
}

/* Restores the slots as they were when the trail had this length. */
static void undo_slots(struct lowering *l, size_t length) {
  while (l->trail.count > length) {
    uint32_t slot = l->trail.items[--l->trail.count];
    l->taken.items[slot] = !l->taken.items[slot];
    if (slot < l->lowest) l->lowest = slot;
  }
}

/* Returns the slot of a new variable. A variable that an enclosing IF yields has one already.
 */
static uint32_t code_bind(struct lowering *l, ir_var v) {
  if (l->slot_of[v] == no_slot) l->slot_of[v] = code_take_slot(l);
  return l->slot_of[v];
}

static uint32_t code_use(struct lowering *l, ir_var v, bool last) {
  uint32_t slot = l->slot_of[v];
  if (last) free_slot(l, slot);
  return last ? slot | REF_LAST : slot;
}

/* ---- instructions ---- */

static struct instruction *code_emit(struct lowering *l, enum action action, enum opcode op,
                                     struct source_pos pos, uint32_t origin) {
  *array_push(l->arena, &l->debug) = (struct debug_info){.function = l->number,
                                                         .pos = pos,
                                                         .origin = origin,
                                                         .op = (uint16_t)op,
                                                         .type = TW_NONE,
                                                         .superop = NO_SUPEROP};
  struct instruction *i = array_push(l->arena, &l->out);
  *i = (struct instruction){.action = (uint8_t)action, .type = TW_NONE, .op = (uint16_t)op};
  return i;
}

static struct instruction *emit_plain(struct lowering *l, enum action action) {
  return code_emit(l, action, OPC_COPY, (struct source_pos){0, 0}, 0);
}

static void emit_drop(struct lowering *l, uint32_t slot) {
  struct instruction *i = emit_plain(l, ACT_DROP);
  i->operand_count = 1;
  i->ref[0] = slot;
}

/* Reserves room for the operands and results of an instruction. */
static uint32_t *refs(struct lowering *l, struct instruction *i, uint32_t operands,
                      uint32_t results) {
  i->operand_count = operands;
  i->result_count = results;
  if (operands + results <= INLINE_REFS) return i->ref;
  i->ref[0] = (uint32_t)l->words.count;
  for (uint32_t k = 0; k < operands + results; k++) *array_push(l->arena, &l->words) = 0;
  return l->words.items + i->ref[0];
}

/* Gives results their slots. */
static void code_emit_results(struct lowering *l, const struct ir_binding *b, uint32_t *to) {
  for (uint32_t k = 0; k < b->result_count; k++) to[k] = code_bind(l, b->results[k]);
}

static void drop_unused(struct lowering *l, const struct ir_binding *b) {
  for (uint32_t k = 0; k < b->result_count; k++) {
    if (!b->unused[k]) continue;
    emit_drop(l, l->slot_of[b->results[k]]);
    free_slot(l, l->slot_of[b->results[k]]);
  }
}

static bool occurs_again(const struct ir_binding *b, uint32_t k) {
  for (uint32_t j = 0; j < b->operand_count; j++) {
    if (j != k && b->operands[j] == b->operands[k]) return true;
  }
  return false;
}

/* Writes the slots of operands and results. A variable that occurs twice among the operands is
 * not handed over: the back end would write into memory that it also reads as the other
 * operand. */
static void lower_refs(struct lowering *l, struct instruction *i, const struct ir_binding *b) {
  uint32_t *to = refs(l, i, b->operand_count, b->result_count);
  for (uint32_t k = 0; k < b->operand_count; k++) {
    bool hand_over = b->last[k] && !occurs_again(b, k);
    to[k] = hand_over ? code_use(l, b->operands[k], true) : l->slot_of[b->operands[k]];
  }
  code_emit_results(l, b, to + b->operand_count);
}

/* Emits the drops after an instruction. */
static void lower_drops(struct lowering *l, const struct ir_binding *b) {
  for (uint32_t k = 0; k < b->operand_count; k++) {
    if (!b->last[k] || !occurs_again(b, k)) continue;
    emit_drop(l, l->slot_of[b->operands[k]]);
    free_slot(l, l->slot_of[b->operands[k]]);
  }
  drop_unused(l, b);
}

static void lower_operation(struct lowering *l, const struct ir_binding *b) {
  enum opcode op = (enum opcode)b->op;
  enum action action = l->profiled                                ? ACT_PROFILED
                       : opcode_info(op)->klass == OC_ELEMENTWISE ? ACT_SCALAR
                                                                  : ACT_OPERATION;
  struct instruction *i = code_emit(l, action, op, b->pos, b->origin);
  struct debug_info *info = &l->debug.items[l->debug.count - 1];
  info->type = i->type = b->type;
  if (op == OPC_ASSERT) {
    info->text = b->as.text.text;
    info->text_length = b->as.text.length;
  }
  i->as.operation = opcode_info(op)->operation;
  lower_refs(l, i, b);
  lower_drops(l, b);
}

static void lower_fused(struct lowering *l, const struct ir_binding *b) {
  const struct superop *op = l->code->program->superops[b->as.superop];
  uint32_t location = (uint32_t)l->out.count;
  struct instruction *i = code_emit(l, ACT_FUSED, OPC_FUSED, b->pos, b->origin);
  i->as.superop = b->as.superop;
  lower_refs(l, i, b);
  struct debug_info fused = l->debug.items[location];
  fused.fused = location;
  fused.superop = b->as.superop;
  for (uint32_t k = 0; k < op->node_count; k++) {
    emit_plain(l, ACT_NODE);
    l->debug.items[l->debug.count - 1] = code_node_info(op, k, &fused);
  }
  lower_drops(l, b);
}

static void lower_constant(struct lowering *l, const struct ir_binding *b) {
  struct instruction *i = code_emit(l, ACT_CONST, OPC_CONST, b->pos, b->origin);
  refs(l, i, 0, 1)[0] = code_bind(l, b->results[0]);
  struct cvl_value scalar;
  if (code_scalar_constant(l->code->program->widths, b->as.constant, &scalar)) {
    i->action = ACT_SCALAR_CONST;
    i->as.scalar = scalar;
  } else {
    i->as.constant = (uint32_t)l->constants.count;
    *array_push(l->arena, &l->constants) = (struct constant){.source = b->as.constant};
  }
  drop_unused(l, b);
}

/* Returns whether a block that has been lowered up to its end yields exactly these variables.
 */
static bool yields(const struct open_block *b, uint32_t count, const ir_var *vars) {
  if (b->next < b->block->count || b->block->end != IR_YIELD ||
      b->block->result_count != count) {
    return false;
  }
  return count == 0 || memcmp(b->block->results, vars, count * sizeof *vars) == 0;
}

/* Returns whether a call ends the function: its results are those of its block, which are
 * those of the IF around it, and so on. Then no slot holds anything except the operands. */
static bool code_ends_function(const struct lowering *l, const struct ir_binding *b) {
  uint32_t count = b->result_count;
  const ir_var *vars = b->results;
  for (size_t k = l->open.count; k-- > 0;) {
    const struct open_block *block = &l->open.items[k];
    if (!yields(block, count, vars)) return false;
    if (!block->arm) return true;
    vars = block->arm->results;
    count = block->arm->result_count;
  }
  return false;
}

static void lower_call(struct lowering *l, const struct ir_binding *b) {
  const bool last =
      code_may_replace(l->code, l->number, b->as.callee) && code_ends_function(l, b);
  const enum action action = last ? ACT_TAIL_CALL : ACT_CALL;
  struct instruction *i = code_emit(l, action, OPC_CALL, b->pos, b->origin);
  i->as.callee = b->as.callee;
  uint32_t *to = refs(l, i, b->operand_count, b->result_count);
  for (uint32_t k = 0; k < b->operand_count; k++)
    to[k] = code_use(l, b->operands[k], b->last[k]);
  code_emit_results(l, b, to + b->operand_count);
  drop_unused(l, b);
}

/* ---- blocks ---- */

static void code_open(struct lowering *l, struct open_block b) {
  *array_push(l->arena, &l->open) = b;
  for (uint32_t k = 0; k < b.block->drop_count; k++) {
    uint32_t slot = l->slot_of[b.block->drops[k]];
    emit_drop(l, slot);
    free_slot(l, slot);
  }
  if (!b.arm || b.block->end != IR_YIELD) return;
  /* A variable that is bound inside, and whose last use is to be yielded, lives in the IF's
   * result slot from the start. A variable that is bound outside has a slot already. */
  for (uint32_t k = 0; k < b.block->result_count; k++) {
    ir_var v = b.block->results[k];
    if (b.block->last[k] && l->slot_of[v] == no_slot) {
      l->slot_of[v] = l->slot_of[b.arm->results[k]];
    }
  }
}

/* Begins an IF: its condition, slots for its results, and one arm. */
static void begin_if(struct lowering *l, const struct ir_binding *b) {
  bool then_last = b->as.arms.otherwise->end != IR_YIELD;
  enum action action = then_last ? ACT_IF_NOT : ACT_IF;
  struct instruction *i = code_emit(l, action, OPC_IF, b->pos, b->origin);
  uint32_t branch = (uint32_t)l->out.count - 1;
  refs(l, i, 1, 0)[0] = code_use(l, b->operands[0], b->last[0]);
  for (uint32_t k = 0; k < b->result_count; k++) code_bind(l, b->results[k]);
  code_open(l, (struct open_block){.block = then_last ? b->as.arms.otherwise : b->as.arms.then,
                                   .arm = b,
                                   .branch = branch,
                                   .trail = l->trail.count});
}

/* Moves the values that an arm yields to the result slots of the IF. */
static void lower_yield(struct lowering *l, const struct open_block *b) {
  for (uint32_t k = 0; k < b->block->result_count; k++) {
    uint32_t from = l->slot_of[b->block->results[k]];
    uint32_t to = l->slot_of[b->arm->results[k]];
    if (from == to) continue;
    struct instruction *i = emit_plain(l, b->block->last[k] ? ACT_MOVE : ACT_COPY);
    uint32_t *r = refs(l, i, 1, 1);
    r[0] = from;
    r[1] = to;
    if (b->block->last[k]) free_slot(l, from);
  }
}

static void lower_return(struct lowering *l, const struct ir_block *block) {
  struct instruction *i = code_emit(l, ACT_RETURN, OPC_RET, block->pos, 0);
  uint32_t *to = refs(l, i, block->result_count, 0);
  for (uint32_t k = 0; k < block->result_count; k++) {
    to[k] = code_use(l, block->results[k], block->last[k]);
  }
}

static void lower_end(struct lowering *l, const struct open_block *b) {
  switch ((enum ir_end)b->block->end) {
  case IR_YIELD:
    if (b->arm) {
      lower_yield(l, b);
    } else {
      lower_return(l, b->block);
    }
    break;
  case IR_EXIT: code_emit(l, ACT_EXIT, OPC_EXIT, b->block->pos, 0); break;
  case IR_NEVER: code_emit(l, ACT_NEVER, OPC_EXIT, b->block->pos, 0); break;
  }
}

/* Ends the top block: continues with the other arm, or with the block around the IF. */
static void close(struct lowering *l) {
  struct open_block b = l->open.items[l->open.count - 1];
  lower_end(l, &b);
  l->open.count--;
  if (!b.arm) return;
  if (b.second) {
    if (b.leave) l->out.items[b.leave].as.target = (uint32_t)l->out.count;
    drop_unused(l, b.arm);
    return;
  }
  if (b.block->end == IR_YIELD) {
    b.leave = (uint32_t)l->out.count;
    emit_plain(l, ACT_JUMP);
  }
  undo_slots(l, b.trail);
  l->out.items[b.branch].as.target = (uint32_t)l->out.count;
  bool then_last = l->out.items[b.branch].action == ACT_IF_NOT;
  b.block = then_last ? b.arm->as.arms.then : b.arm->as.arms.otherwise;
  b.next = 0;
  b.second = true;
  code_open(l, b);
}

static void lower_blocks(struct lowering *l) {
  while (l->open.count > 0) {
    struct open_block *top = &l->open.items[l->open.count - 1];
    if (top->next == top->block->count) {
      close(l);
      continue;
    }
    const struct ir_binding *b = &top->block->bindings[top->next++];
    switch ((enum ir_form)b->form) {
    case IR_OP: lower_operation(l, b); break;
    case IR_CONST: lower_constant(l, b); break;
    case IR_CALL: lower_call(l, b); break;
    case IR_IF: begin_if(l, b); break;
    case IR_FUSED: lower_fused(l, b); break;
    }
  }
}

static void lower_function(struct lowering *l, uint32_t number) {
  const struct ir_function *f = &l->code->program->functions[number];
  struct code_function *to = &l->code->functions[number];
  l->number = number;
  l->slot_of = arena_alloc(l->arena, ((size_t)f->var_count + 1) * sizeof *l->slot_of);
  for (uint32_t v = 0; v < f->var_count; v++) l->slot_of[v] = no_slot;
  l->taken.count = l->trail.count = l->open.count = 0;
  l->lowest = 0;

  to->entry = (uint32_t)l->out.count;
  for (uint32_t k = 0; k < f->param_count; k++) code_bind(l, f->params[k]);
  for (uint32_t k = 0; k < f->param_count; k++) {
    if (!f->unused[k]) continue;
    emit_drop(l, l->slot_of[f->params[k]]);
    free_slot(l, l->slot_of[f->params[k]]);
  }
  code_open(l, (struct open_block){.block = f->body});
  lower_blocks(l);
  to->slots = (uint32_t)l->taken.count;
  to->end = (uint32_t)l->out.count;
}

/* Lowers everything into the code's arena. */
static void lower_program(struct code *code, bool checked, bool profiled) {
  const struct ir_program *program = code->program;
  struct lowering *l = arena_alloc(&code->arena, sizeof *l);
  for (uint32_t f = 0; f < program->function_count; f++) {
    if (!program->functions[f].stack) checked = false;
  }
  *l = (struct lowering){.code = code, .arena = &code->arena, .profiled = profiled};
  code->functions =
      arena_alloc(l->arena, ((size_t)program->function_count + 1) * sizeof *code->functions);
  code_find_cycles(code);
  for (uint32_t f = 0; f < program->function_count; f++) {
    const struct ir_function *from = &program->functions[f];
    struct code_function *to = &code->functions[f];
    to->param_count = from->param_count;
    to->result_count = from->returns ? from->result_count : 0;
    to->runs_typed = from->typed && !checked;
    if (to->runs_typed) lower_function(l, f);
  }
  code->instructions = l->out.items;
  code->debug = l->debug.items;
  code->count = (uint32_t)l->out.count;
  code->words = l->words.items;
  code->constants = l->constants.items;
  code->constant_count = (uint32_t)l->constants.count;
  code_number_locations(code);
}

struct code *code_new(struct heap *heap, const struct ir_program *program, bool checked,
                      bool profiled) {
  struct code *code = heap_alloc(heap, sizeof *code);
  if (!code) return NULL;
  *code = (struct code){.heap = heap, .program = program};
  arena_init(&code->arena, heap);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    arena_free(&code->arena);
    heap_free(heap, code, sizeof *code);
    return NULL;
  }
  lower_program(code, checked, profiled);
  memory_guard_end(&guard);
  return code;
}

void code_free(struct code *code, const struct value_store *store) {
  if (!code) return;
  for (uint32_t k = 0; k < code->constant_count; k++) {
    value_release(store, &code->constants[k].value);
  }
  arena_free(&code->arena);
  heap_free(code->heap, code, sizeof *code);
}
