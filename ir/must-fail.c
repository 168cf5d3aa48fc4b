/* must-fail.c - see must-fail.h.
 *
 * An item is its kind; NULL is an unknown kind, which passes every check. The arms of an IF are
 * executed too, but only to know which items they leave: a run may take the other arm, so a
 * violation in one is not reported. A call of a typed function whose arguments fit has the
 * results of the function's summary; any other call is followed into the callee. */
#include "ir/must-fail.h"

#include <string.h>

enum {
  MAX_STEPS = 1 << 22, /* instructions, and items moved or compared: some 20 ms */
  MAX_DEPTH = 10000,   /* of calls and IFs together */
  MAX_TRACE = 20,      /* call sites listed with an error */
  MAX_PAIR = 64        /* nodes of a pair; the components of a larger one count as unknown */
};

typedef const struct ir_kind *item; /* NULL: unknown */

enum frame_kind { IN_CALL, IN_THEN, IN_ELSE };

struct frame {
  enum frame_kind kind;
  uint32_t function, at; /* the CALL or IF: instruction `at` of `function` */
  item *saved; /* IN_THEN: the stack at the IF; IN_ELSE: the stack after the first arm */
  size_t saved_count;
};

struct walk {
  struct arena *arena;
  const struct vcode_program *program;
  const struct superop *const *superops;
  const struct callgraph *graph;
  const struct summary *summaries;
  struct diag_list *diags;
  uint32_t function, pc;
  ARRAY(item) stack;
  ARRAY(struct frame) frames;
  ARRAY(item) bound; /* kind variables of a callee */
  uint32_t arms;     /* frames that are arms */
  int64_t steps;     /* left */
};

enum outcome { GO_ON, GIVE_UP, REPORTED };

/* ---- reporting ---- */

static const struct origin *walk_origin(const struct walk *w,
                                        const struct vcode_instruction *in) {
  return origin_at(&w->program->origins, in->origin);
}

static const char *opcode_text(const struct walk *w, const struct vcode_instruction *in) {
  return arena_printf(w->arena, "%s%s%s", opcode_info(in->op)->spelling,
                      in->type == TW_NONE ? "" : " ", type_word_text(in->type));
}

/* Adds a note for each open call, innermost first. */
static void add_walk_trace(const struct walk *w) {
  unsigned listed = 0;
  for (size_t i = w->frames.count; i-- > 0;) {
    const struct frame *frame = &w->frames.items[i];
    const struct vcode_function *f = &w->program->functions[frame->function];
    const struct vcode_instruction *call = &f->code[frame->at];
    if (++listed > MAX_TRACE) {
      diag_add(w->diags, SEVERITY_NOTE, NULL, (struct source_pos){0, 0}, NULL,
               "and %zu more calls", i + 1);
      return;
    }
    diag_add(w->diags, SEVERITY_NOTE, w->program->file, call->pos, walk_origin(w, call),
             "%s, called from %s at %s:%u:%u",
             w->program->functions[call->as.call.function].name->text, f->name->text,
             w->program->file, call->pos.line, call->pos.column);
  }
}

static enum outcome too_few(const struct walk *w, const struct vcode_instruction *in,
                            int64_t required) {
  if (w->arms > 0) return GIVE_UP;
  size_t present = w->stack.count;
  diag_add(w->diags, SEVERITY_ERROR, w->program->file, in->pos, walk_origin(w, in),
           "%s needs %lld item%s on the stack, but there %s %zu", opcode_text(w, in),
           (long long)required, required == 1 ? "" : "s", present == 1 ? "is" : "are", present);
  add_walk_trace(w);
  return REPORTED;
}

static enum outcome must_fail_for_kind(const struct walk *w, const struct vcode_instruction *in,
                                       size_t operand, item found, enum ir_kind_tag expected) {
  if (w->arms > 0) return GIVE_UP;
  diag_add(w->diags, SEVERITY_ERROR, w->program->file, in->pos, walk_origin(w, in),
           "operand %zu of %s is %s, expected %s", operand, opcode_text(w, in),
           ir_tag_text(found->tag), ir_tag_text(expected));
  add_walk_trace(w);
  return REPORTED;
}

/* ---- instructions ---- */

static void push_item(struct walk *w, item x) {
  *array_push(w->arena, &w->stack) = x;
}

static enum outcome do_stack(struct walk *w, const struct vcode_instruction *in) {
  int64_t count = in->as.stack.count, depth = in->as.stack.depth;
  int64_t present = (int64_t)w->stack.count;
  if (count + depth > present) return too_few(w, in, count + depth);
  w->steps -= count + depth;
  if (w->steps < 0) return GIVE_UP;
  size_t n = (size_t)count, k = (size_t)depth, base = (size_t)present - n - k;
  if (in->op != OPC_POP) {
    for (size_t i = 0; i < n; i++) push_item(w, w->stack.items[base + i]);
  }
  if (in->op != OPC_COPY && n > 0) { /* the items above the block move down over it */
    memmove(w->stack.items + base, w->stack.items + base + n,
            (w->stack.count - base - n) * sizeof(item));
    w->stack.count -= n;
  }
  return GO_ON;
}

/* Returns the number of nodes of a kind as a tree, or `most` + 1 if there are more than `most`.
 */
static unsigned pair_size(item x, unsigned most) {
  if (!x || x->tag != IR_PAIR || most == 0) return 1;
  unsigned left = pair_size(x->left, most - 1);
  return left >= most ? most + 1 : 1 + left + pair_size(x->right, most - left);
}

static enum outcome walk_op(struct walk *w, const struct vcode_instruction *in) {
  const struct opcode_info *info = opcode_info(in->op);
  size_t operands = strlen(info->operands), results = strlen(info->results);
  if (operands > w->stack.count) return too_few(w, in, (int64_t)operands);
  const item *operand = operands > 0 ? w->stack.items + (w->stack.count - operands) : NULL;
  for (size_t i = 0; i < operands; i++) {
    enum ir_kind_tag expected = (enum ir_kind_tag)operand_kind(info->operands[i], in->type);
    if (operand[i] && expected != IR_ANY && operand[i]->tag != expected)
      return must_fail_for_kind(w, in, i, operand[i], expected);
  }
  item first = operands > 0 ? operand[0] : NULL, second = operands > 1 ? operand[1] : NULL;
  w->stack.count -= operands;
  if (in->op == OPC_PAIR) {
    struct ir_kind *pair = arena_alloc(w->arena, sizeof *pair);
    *pair = (struct ir_kind){.tag = IR_PAIR, .left = first, .right = second};
    if (pair_size(pair, MAX_PAIR) > MAX_PAIR) pair->left = pair->right = NULL;
    push_item(w, pair);
  } else if (in->op == OPC_UNPAIR) {
    push_item(w, first ? first->left : NULL);
    push_item(w, first ? first->right : NULL);
  } else {
    for (size_t i = 0; i < results; i++)
      push_item(w, ir_kind_base((enum ir_kind_tag)operand_kind(info->results[i], in->type)));
  }
  return GO_ON;
}

static enum outcome walk_superop(struct walk *w, const struct vcode_instruction *in) {
  const struct superop *op = w->superops[in->as.fused];
  size_t operands = op->param_count;
  if (operands > w->stack.count) return too_few(w, in, (int64_t)operands);
  w->steps -= op->param_count + op->output_count;
  for (uint32_t i = 0; i < op->param_count; i++) {
    item found = w->stack.items[w->stack.count - operands + i];
    if (found && found->tag != ir_superop_operand(op, i)->tag)
      return must_fail_for_kind(w, in, i, found, ir_superop_operand(op, i)->tag);
  }
  w->stack.count -= operands;
  for (uint32_t i = 0; i < op->output_count; i++) push_item(w, ir_superop_output(op, i));
  return GO_ON;
}

/* Returns a result kind of the callee with its kind variables replaced by those of this call.
 */
static item instance(const struct walk *w, item kind) {
  if (kind->tag == IR_ANY) return w->bound.items[kind->variable];
  if (kind->tag != IR_PAIR) return kind;
  struct ir_kind *pair = arena_alloc(w->arena, sizeof *pair);
  *pair = (struct ir_kind){
      .tag = IR_PAIR, .left = instance(w, kind->left), .right = instance(w, kind->right)};
  if (pair_size(pair, MAX_PAIR) > MAX_PAIR) pair->left = pair->right = NULL;
  return pair;
}

static enum outcome walk_call(struct walk *w, const struct vcode_instruction *in) {
  uint32_t callee = in->as.call.function;
  const struct summary *s = &w->summaries[callee];
  bool fits = s->typed && s->param_count <= w->stack.count;
  if (fits) {
    w->bound.count = 0;
    for (uint32_t i = 0; i < s->variables; i++) *array_push(w->arena, &w->bound) = NULL;
    size_t first = w->stack.count - s->param_count; /* of the arguments */
    for (uint32_t i = 0; i < s->param_count && fits; i++)
      fits = ir_kind_match(s->params[i], w->stack.items[first + i], w->bound.items);
    w->steps -= s->param_count + s->result_count;
  }
  if (fits) {
    if (!s->returns || w->graph->may_exit[callee]) return GIVE_UP;
    w->stack.count -= s->param_count;
    for (uint32_t i = 0; i < s->result_count; i++) push_item(w, instance(w, s->results[i]));
    return GO_ON;
  }
  if (w->frames.count == MAX_DEPTH) return GIVE_UP;
  *array_push(w->arena, &w->frames) =
      (struct frame){.kind = IN_CALL, .function = w->function, .at = w->pc - 1};
  w->function = callee;
  w->pc = 0;
  return GO_ON;
}

/* ---- IF ---- */

static bool exit_may_happen(struct walk *w, uint32_t from, uint32_t to) {
  if (!w->graph->may_exit[w->function]) return false;
  const struct vcode_instruction *code = w->program->functions[w->function].code;
  w->steps -= to - from;
  for (uint32_t i = from; i < to; i++) {
    if (code[i].op == OPC_EXIT) return true;
    if (code[i].op == OPC_CALL && w->graph->may_exit[code[i].as.call.function]) return true;
  }
  return false;
}

static void save_stack(struct walk *w, struct frame *frame) {
  size_t bytes = w->stack.count * sizeof(item);
  frame->saved_count = w->stack.count;
  frame->saved = arena_alloc(w->arena, bytes);
  if (bytes > 0) memcpy(frame->saved, w->stack.items, bytes);
  w->steps -= (int64_t)w->stack.count;
}

static enum outcome walk_if(struct walk *w, const struct vcode_instruction *in) {
  if (w->stack.count == 0) return too_few(w, in, 1);
  item condition = w->stack.items[w->stack.count - 1];
  if (condition && condition->tag != IR_BOOL)
    return must_fail_for_kind(w, in, 0, condition, IR_BOOL);
  w->stack.count--;
  if (exit_may_happen(w, w->pc, in->as.branch.end) || w->frames.count == MAX_DEPTH)
    return GIVE_UP;
  struct frame *frame = array_push(w->arena, &w->frames);
  *frame = (struct frame){.kind = IN_THEN, .function = w->function, .at = w->pc - 1};
  save_stack(w, frame);
  w->arms++;
  return GO_ON;
}

/* The first arm ends: saves its stack and restores that of the IF. */
static void begin_else(struct walk *w) {
  struct frame *frame = &w->frames.items[w->frames.count - 1];
  item *at_if = frame->saved;
  size_t count = frame->saved_count;
  save_stack(w, frame);
  frame->kind = IN_ELSE;
  w->stack.count = 0;
  for (size_t i = 0; i < count; i++) push_item(w, at_if[i]);
}

static enum outcome walk_endif(struct walk *w) {
  if (w->frames.items[w->frames.count - 1].kind == IN_THEN) begin_else(w);
  const struct frame *frame = &w->frames.items[--w->frames.count];
  w->arms--;
  if (frame->saved_count != w->stack.count) return GIVE_UP;
  for (size_t i = 0; i < w->stack.count; i++) {
    item a = frame->saved[i], b = w->stack.items[i];
    if (!a || !b || !ir_kind_same(a, b)) w->stack.items[i] = NULL;
  }
  return GO_ON;
}

/* ---- the path ---- */

static enum outcome do_control(struct walk *w, const struct vcode_instruction *in) {
  switch (in->op) {
  case OPC_CALL: return walk_call(w, in);
  case OPC_IF: return walk_if(w, in);
  case OPC_ELSE: begin_else(w); return GO_ON;
  case OPC_ENDIF: return walk_endif(w);
  case OPC_RET: {
    if (w->frames.count == 0) return GIVE_UP;
    const struct frame *caller = &w->frames.items[--w->frames.count];
    w->function = caller->function;
    w->pc = caller->at + 1;
    return GO_ON;
  }
  case OPC_FUSED: return walk_superop(w, in);
  default: return GIVE_UP; /* EXIT */
  }
}

static enum outcome walk_step(struct walk *w) {
  const struct vcode_instruction *in = &w->program->functions[w->function].code[w->pc++];
  if (--w->steps < 0) return GIVE_UP;
  switch (opcode_info(in->op)->klass) {
  case OC_STACK: return do_stack(w, in);
  case OC_CONTROL: return do_control(w, in);
  case OC_CONSTANT: push_item(w, ir_kind_base(ir_constant_tag(in->as.constant))); return GO_ON;
  default: return walk_op(w, in);
  }
}

bool must_fail(struct arena *arena, const struct ir_program *program,
               const struct callgraph *graph, const struct summary *summaries,
               struct diag_list *diags) {
  struct walk w = {.arena = arena,
                   .program = program->vcode,
                   .superops = program->superops,
                   .graph = graph,
                   .summaries = summaries,
                   .diags = diags,
                   .function = program->entry,
                   .steps = MAX_STEPS};
  const struct vcode_function *entry = &program->vcode->functions[program->entry];
  for (uint32_t i = 0; i < entry->in_count;
       i++) /* the arguments of the program, if it takes any */
    push_item(&w, ir_kind_base(ir_word_tag((enum type_word)entry->in[i])));
  enum outcome outcome;
  do {
    outcome = walk_step(&w);
  } while (outcome == GO_ON);
  return outcome == REPORTED;
}
