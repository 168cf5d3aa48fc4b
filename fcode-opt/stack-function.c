/* stack-function.c - one function in let-form becomes stack code.
 *
 * Between two bindings the stack holds exactly the variables that are alive, each once
 * (stack-layout.h). Both arms of an IF have to leave the same items in the same order; which
 * order is decided when both are written: of a few candidates the one that costs the fewest
 * instructions in the arms and before the next instruction. Blocks may be nested as deeply as
 * memory allows, so the walk has a stack of its own.
 *
 * A constant that is scalar or used only once is written where it is used, not kept on the
 * stack - unless it is used only once, below an operand that is moved: there the early CONST
 * saves the move.
 */
#include "fcode-opt/stack-code.h"
#include "fcode-opt/stack-layout.h"

#include <string.h>

#define NOTHING UINT32_MAX

enum role { ROLE_BODY, ROLE_THEN, ROLE_ELSE };

/* A list of variables. */
struct items {
  ir_var *list;
  uint32_t count;
};

/* A block that is being written. */
struct frame {
  const struct ir_block *block;
  uint32_t next; /* binding */
  enum role role;
  struct code_list code;
  struct items before;        /* THEN: the stack at its beginning */
  struct items then_items;    /* ELSE: the stack at the end of the other arm */
  struct code_list then_code; /* ELSE: what was written for the other arm */
};

struct writer {
  struct arena *scratch;
  struct stack_code *program;
  const struct ir_function *function;
  struct stack_layout layout;
  ARRAY(struct frame) frames;
  const struct ir_binding **constants; /* see stack_layout */
  /* Per variable, of use while arms are joined: of a result what an arm yields for it (itself
   * otherwise); of what an arm yields the result that replaces it, or NOTHING; flags. */
  ir_var *yielded;
  uint32_t *result_at;
  uint8_t *flags;
};

enum { GONE = 1, RESULT = 2, HERE = 4, MOVED = 8 };

static struct frame *top(struct writer *w) {
  return &w->frames.items[w->frames.count - 1];
}

/* ---- constants ---- */

static bool is_scalar_binding(const struct ir_binding *x) {
  if (x->as.constant->length != 1) return false;
  switch (x->as.constant->type) {
  case TW_INT:
  case TW_FLOAT:
  case TW_BOOL: return true;
  case TW_SEGDES:
  case TW_CHAR:
  case TW_NONE: break;
  }
  return false;
}

/* Whether an early CONST is better for a constant, judged at one of its uses. */
static void note_last_uses(struct writer *w, const ir_var *vars, const bool *last,
                           uint32_t count, uint32_t *uses, bool *early) {
  bool moved = false; /* an operand behind it is moved to its position */
  for (uint32_t i = count; i-- > 0;) {
    ir_var v = vars[i];
    if (w->constants[v]) {
      uses[v]++;
      early[v] = moved;
    } else if (last[i]) {
      moved = true;
    }
  }
}

struct cursor {
  const struct ir_block *block;
  uint32_t next;
};

/* Fills in `constants`. */
static void plan_constants(struct writer *w) {
  uint32_t n = w->function->var_count;
  uint32_t *uses = arena_alloc(w->scratch, n * sizeof *uses);
  bool *early = arena_alloc(w->scratch, n);
  ARRAY(struct cursor) open = {0};
  *array_push(w->scratch, &open) = (struct cursor){w->function->body, 0};
  while (open.count > 0) {
    struct cursor *p = &open.items[open.count - 1];
    const struct ir_block *block = p->block;
    if (p->next == block->count) {
      open.count--;
      if (block->end == IR_YIELD)
        note_last_uses(w, block->results, block->last, block->result_count, uses, early);
      continue;
    }
    const struct ir_binding *x = &block->bindings[p->next++];
    note_last_uses(w, x->operands, x->last, x->operand_count, uses, early);
    if (x->form == IR_CONST) w->constants[x->results[0]] = x;
    if (x->form == IR_IF) {
      *array_push(w->scratch, &open) = (struct cursor){x->as.arms.otherwise, 0};
      *array_push(w->scratch, &open) = (struct cursor){x->as.arms.then, 0};
    }
  }
  for (uint32_t v = 0; v < n; v++) {
    const struct ir_binding *x = w->constants[v];
    if (x && uses[v] == 1 ? early[v] : x && !is_scalar_binding(x)) w->constants[v] = NULL;
  }
}

/* ---- bindings ---- */

static void writer_instruction(struct writer *w, const struct vcode_instruction *in) {
  code_append(w->scratch, w->layout.out, in);
}

/* The operands are on top: takes them, leaves the results that are used. */
static void replace_operands(struct writer *w, const struct ir_binding *x) {
  struct stack_layout *l = &w->layout;
  l->count -= x->operand_count;
  ir_var *dead = arena_alloc(w->scratch, x->result_count * sizeof *dead);
  uint32_t dead_count = 0;
  for (uint32_t i = 0; i < x->result_count; i++) {
    layout_push(l, x->results[i]);
    if (x->unused[i]) dead[dead_count++] = x->results[i];
  }
  layout_drop(l, dead, dead_count);
}

static void write_binding(struct writer *w, const struct ir_binding *x) {
  struct vcode_instruction in = {.op = x->op,
                                 .type = x->type,
                                 .pos = x->pos,
                                 .origin = stack_code_origin(w->program, x->pos, x->origin)};
  switch ((enum ir_form)x->form) {
  case IR_OP:
    in.as.text.text = x->as.text.text;
    in.as.text.length = x->as.text.length;
    break;
  case IR_CONST:
    if (w->constants[x->results[0]]) return; /* written where it is used */
    in.op = OPC_CONST;
    in.type = TW_NONE;
    in.origin = 0;
    in.as.constant = x->as.constant;
    break;
  case IR_CALL:
    in.op = OPC_CALL;
    in.type = TW_NONE;
    in.as.call.name = w->program->ir->functions[x->as.callee].name;
    in.as.call.function = w->program->functions[x->as.callee];
    break;
  case IR_FUSED:
    in.op = OPC_FUSED;
    in.type = TW_NONE;
    in.as.fused = stack_code_superop(w->program, x->as.superop);
    break;
  case IR_IF: return;
  }
  layout_operands(&w->layout, x->operands, x->last, x->operand_count);
  writer_instruction(w, &in);
  replace_operands(w, x);
}

/* ---- IF: the beginning ---- */

static struct items writer_copy_items(struct writer *w) {
  const struct stack_layout *l = &w->layout;
  struct items copy = {arena_alloc(w->scratch, l->count * sizeof(ir_var)), l->count};
  if (l->count > 0) memcpy(copy.list, l->items, l->count * sizeof(ir_var));
  return copy;
}

static struct frame *begin_block(struct writer *w, const struct ir_block *block,
                                 enum role role) {
  struct frame *frame = array_push(w->scratch, &w->frames);
  *frame = (struct frame){.block = block, .role = role};
  w->layout.out = &frame->code;
  /* At an EXIT the stack may have any items. */
  if (block->end != IR_EXIT) layout_drop(&w->layout, block->drops, block->drop_count);
  return frame;
}

static void write_if(struct writer *w, const struct ir_binding *x) {
  layout_operands(&w->layout, x->operands, x->last, 1);
  struct vcode_instruction in = {.op = OPC_IF,
                                 .type = TW_NONE,
                                 .pos = x->pos,
                                 .origin = stack_code_origin(w->program, x->pos, x->origin)};
  writer_instruction(w, &in);
  w->layout.count--;
  struct items before = writer_copy_items(w);
  begin_block(w, x->as.arms.then, ROLE_THEN)->before = before;
}

/* ---- IF: what both arms leave ---- */

/* The arms of an IF at their ends. */
struct arms {
  const struct ir_binding *branch;
  const struct ir_block *block[2]; /* NULL: does not return */
  struct items items[2];
};

/* An empty list with room for `capacity`, for as long as arms are joined. */
static struct items no_items(struct writer *w, uint32_t capacity) {
  return (struct items){arena_alloc(w->program->trial, capacity * sizeof(ir_var)), 0};
}

/* The order that costs the arm least: a result takes the position of the variable yielded for
 * it at its last use; the other results come on top. */
static struct items minimal_order(struct writer *w, const struct arms *arms, int arm) {
  const struct ir_binding *x = arms->branch;
  const struct ir_block *block = arms->block[arm];
  struct items before = arms->items[arm];
  struct items order = no_items(w, before.count + x->result_count);
  bool *has_position = arena_alloc(w->program->trial, x->result_count);
  for (uint32_t i = x->result_count; i-- > 0;) {
    ir_var y = block->results[i];
    if (!x->unused[i]) w->result_at[y] = i;
    if (block->last[i]) w->flags[y] = GONE;
  }
  for (uint32_t i = 0; i < before.count; i++) {
    ir_var v = before.list[i];
    if (!(w->flags[v] & GONE)) {
      order.list[order.count++] = v;
    } else if (w->result_at[v] != NOTHING) {
      has_position[w->result_at[v]] = true;
      order.list[order.count++] = x->results[w->result_at[v]];
    }
  }
  for (uint32_t i = 0; i < x->result_count; i++) {
    w->result_at[block->results[i]] = NOTHING;
    w->flags[block->results[i]] = 0;
    if (!has_position[i] && !x->unused[i]) order.list[order.count++] = x->results[i];
  }
  return order;
}

/* Returns the stack's items with all results on top, in their order. */
static struct items results_on_top(struct writer *w, const struct arms *arms,
                                   struct items minimal) {
  const struct ir_binding *x = arms->branch;
  struct items order = no_items(w, minimal.count);
  for (uint32_t i = 0; i < x->result_count; i++) w->flags[x->results[i]] = RESULT;
  for (uint32_t i = 0; i < minimal.count; i++) {
    if (!w->flags[minimal.list[i]]) order.list[order.count++] = minimal.list[i];
  }
  for (uint32_t i = 0; i < x->result_count; i++) {
    w->flags[x->results[i]] = 0;
    if (!x->unused[i]) order.list[order.count++] = x->results[i];
  }
  return order;
}

/* The stack that an arm must leave for this order. */
static struct items for_arm(struct writer *w, const struct arms *arms, int arm,
                            struct items order) {
  const struct ir_binding *x = arms->branch;
  struct items wanted = no_items(w, order.count);
  wanted.count = order.count;
  for (uint32_t i = 0; i < x->result_count; i++)
    w->yielded[x->results[i]] = arms->block[arm]->results[i];
  for (uint32_t i = 0; i < order.count; i++) wanted.list[i] = w->yielded[order.list[i]];
  for (uint32_t i = 0; i < x->result_count; i++) w->yielded[x->results[i]] = x->results[i];
  return wanted;
}

/* The demand of the next instruction after an IF: operands on top or, at the end of the
 * function, all results and nothing else. */
struct demand {
  const ir_var *vars;
  const bool *last; /* NULL: nothing else may be there */
  uint32_t count;
};

static struct demand demand_after(const struct writer *w, const struct frame *frame) {
  const struct ir_block *block = frame->block;
  for (uint32_t i = frame->next; i < block->count; i++) {
    const struct ir_binding *x = &block->bindings[i];
    if (x->form == IR_CONST && w->constants[x->results[0]]) continue;
    return (struct demand){x->operands, x->last, x->operand_count};
  }
  if (block->end != IR_YIELD) return (struct demand){0};
  return (struct demand){block->results, frame->role == ROLE_BODY ? NULL : block->last,
                         block->result_count};
}

/* The order with the operands that the next instruction moves on top. */
static struct items demanded_on_top(struct writer *w, struct items minimal,
                                    const struct demand *demand) {
  struct items order = no_items(w, minimal.count);
  for (uint32_t i = 0; i < minimal.count; i++) w->flags[minimal.list[i]] = HERE;
  for (uint32_t i = 0; i < demand->count; i++) {
    if (!demand->last || demand->last[i]) w->flags[demand->vars[i]] |= MOVED;
  }
  for (uint32_t i = 0; i < minimal.count; i++) {
    if (!(w->flags[minimal.list[i]] & MOVED)) order.list[order.count++] = minimal.list[i];
  }
  for (uint32_t i = 0; i < demand->count; i++) {
    ir_var v = demand->vars[i];
    if (w->flags[v] == (HERE | MOVED)) order.list[order.count++] = v;
    w->flags[v] = 0;
  }
  for (uint32_t i = 0; i < minimal.count; i++) w->flags[minimal.list[i]] = 0;
  return order;
}

static uint32_t cost_of_order(struct writer *w, const struct arms *arms, struct items order,
                              const struct demand *demand) {
  uint32_t cost = 0;
  for (int arm = 0; arm < 2; arm++) {
    if (!arms->block[arm]) continue;
    struct items wanted = for_arm(w, arms, arm, order);
    cost += layout_cost(&w->layout, arms->items[arm].list, arms->items[arm].count, wanted.list,
                        NULL, wanted.count);
  }
  return cost + layout_cost(&w->layout, order.list, order.count, demand->vars, demand->last,
                            demand->count);
}

static struct items choose_order(struct writer *w, const struct arms *arms,
                                 const struct demand *demand) {
  struct items candidates[4];
  uint32_t count = 0;
  for (int arm = 0; arm < 2; arm++) {
    if (arms->block[arm]) candidates[count++] = minimal_order(w, arms, arm);
  }
  candidates[count] = results_on_top(w, arms, candidates[0]);
  candidates[count + 1] = demanded_on_top(w, candidates[0], demand);
  count += 2;
  uint32_t best = 0, least = UINT32_MAX;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t cost = cost_of_order(w, arms, candidates[i], demand);
    if (cost < least) {
      least = cost;
      best = i;
    }
  }
  return candidates[best];
}

/* Writes the end of an arm. */
static void finish_arm(struct writer *w, const struct arms *arms, int arm, struct items order,
                       struct code_list *code) {
  if (!arms->block[arm]) return;
  struct items wanted = for_arm(w, arms, arm, order);
  w->layout.out = code;
  layout_set(&w->layout, arms->items[arm].list, arms->items[arm].count);
  layout_arrange(&w->layout, wanted.list, wanted.count);
}

static void append_list(struct code_list *to, const struct code_list *from) {
  if (!from->first) return;
  if (to->last)
    to->last->next = from->first;
  else
    to->first = from->first;
  to->last = from->last;
  to->count += from->count;
}

/* The second arm of an IF has been walked. */
static void end_if(struct writer *w) {
  struct frame end = *top(w);
  w->frames.count--;
  struct frame *around = top(w);
  const struct ir_binding *x = &around->block->bindings[around->next - 1];
  struct ir_block *then = x->as.arms.then, *otherwise = x->as.arms.otherwise;
  struct arms arms = {
      x,
      {then->end == IR_YIELD ? then : NULL, otherwise->end == IR_YIELD ? otherwise : NULL},
      {end.then_items, writer_copy_items(w)}};
  struct items order = {0};
  if (arms.block[0] || arms.block[1]) {
    struct demand demand = demand_after(w, around);
    order = choose_order(w, &arms, &demand);
    finish_arm(w, &arms, 0, order, &end.then_code);
    finish_arm(w, &arms, 1, order, &end.code);
  }
  w->layout.out = &around->code;
  append_list(&around->code, &end.then_code);
  struct vcode_instruction word = {.op = OPC_ELSE, .type = TW_NONE, .pos = x->pos};
  if (end.code.first) {
    writer_instruction(w, &word);
    append_list(&around->code, &end.code);
  }
  word.op = OPC_ENDIF;
  writer_instruction(w, &word);
  layout_set(&w->layout, order.list, order.count);
  arena_free(w->program->trial);
}

/* ---- blocks ---- */

static void write_end(struct writer *w) {
  struct frame *frame = top(w);
  const struct ir_block *block = frame->block;
  struct vcode_instruction word = {.op = OPC_EXIT, .type = TW_NONE, .pos = block->pos};
  if (block->end == IR_EXIT) writer_instruction(w, &word);
  switch (frame->role) {
  case ROLE_BODY:
    if (block->end == IR_YIELD) layout_arrange(&w->layout, block->results, block->result_count);
    word.op = OPC_RET;
    writer_instruction(w, &word);
    break;
  case ROLE_THEN: {
    struct frame then = *frame;
    then.then_items = writer_copy_items(w);
    layout_set(&w->layout, then.before.list, then.before.count);
    w->frames.count--;
    const struct frame *around = top(w);
    const struct ir_block *otherwise =
        around->block->bindings[around->next - 1].as.arms.otherwise;
    frame = begin_block(w, otherwise, ROLE_ELSE);
    frame->then_items = then.then_items;
    frame->then_code = then.code;
    break;
  }
  case ROLE_ELSE: end_if(w); break;
  }
}

/* Sets the targets of IF and ELSE. */
static void link_branches(struct arena *scratch, struct vcode_function *f) {
  ARRAY(uint32_t) open = {0};
  ARRAY(uint32_t) last = {0}; /* per open IF: its ELSE, or itself */
  for (uint32_t i = 0; i < f->length; i++) {
    struct vcode_instruction *in = &f->code[i];
    if (in->op == OPC_IF) {
      *array_push(scratch, &open) = i;
      *array_push(scratch, &last) = i;
    } else if (in->op == OPC_ELSE) {
      f->code[open.items[open.count - 1]].as.branch.otherwise = i;
      last.items[last.count - 1] = i;
    } else if (in->op == OPC_ENDIF) {
      uint32_t begin = open.items[--open.count], other = last.items[--last.count];
      if (other == begin) f->code[begin].as.branch.otherwise = i;
      f->code[begin].as.branch.end = i;
      f->code[other].as.branch.end = i;
    }
  }
}

void stack_code_write(struct stack_code *program, const struct ir_function *f,
                      struct vcode_function *out) {
  struct arena *scratch = program->scratch;
  struct writer w = {.scratch = scratch, .program = program, .function = f};
  uint32_t n = f->var_count;
  w.constants = arena_alloc(scratch, n * sizeof *w.constants);
  w.yielded = arena_alloc(scratch, n * sizeof *w.yielded);
  w.result_at = arena_alloc(scratch, n * sizeof *w.result_at);
  w.flags = arena_alloc(scratch, n);
  for (uint32_t v = 0; v < n; v++) {
    w.yielded[v] = v;
    w.result_at[v] = NOTHING;
  }
  w.layout = (struct stack_layout){.arena = scratch,
                                   .trial = program->trial,
                                   .marks = arena_alloc(scratch, n),
                                   .constants = w.constants};
  plan_constants(&w);

  begin_block(&w, f->body, ROLE_BODY);
  ir_var *dead = arena_alloc(scratch, f->param_count * sizeof *dead);
  uint32_t dead_count = 0;
  for (uint32_t i = 0; i < f->param_count; i++) {
    layout_push(&w.layout, f->params[i]);
    if (f->unused[i]) dead[dead_count++] = f->params[i];
  }
  layout_drop(&w.layout, dead, dead_count);

  bool open = true;
  while (open) {
    struct frame *frame = top(&w);
    if (frame->next < frame->block->count) {
      const struct ir_binding *x = &frame->block->bindings[frame->next++];
      if (x->form == IR_IF)
        write_if(&w, x);
      else
        write_binding(&w, x);
    } else {
      open = frame->role != ROLE_BODY;
      write_end(&w);
    }
  }
  const struct code_list *code = &top(&w)->code;
  *out = (struct vcode_function){.name = f->name, .pos = f->pos, .length = code->count};
  out->code = arena_alloc(program->arena, code->count * sizeof *out->code);
  uint32_t at = 0;
  for (const struct code_node *node = code->first; node; node = node->next)
    out->code[at++] = node->in;
  link_branches(scratch, out);
}
