/* function.c - see function.h. `build_body`, near the end, is the loop over the instructions.
 * The functions above it handle each form of binding and join the arms of an IF. */
#include "ir/function.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The most variables and operands of one function. Merging tall stacks in deep nests of IFs can
 * make the let-form larger than the square of the program; such a function keeps its stack
 * code. */
enum { MAX_FORM_SIZE = 1 << 26 };

/* The most items that COPY, POP and CPOP may move while a program is built: about a second. */
enum { MAX_MOVES = 1 << 28 };

void builder_init(struct builder *b, struct arena *scratch, struct arena *arena,
                  const struct ir_program *program, struct summary *summaries) {
  memset(b, 0, sizeof *b);
  b->scratch = scratch;
  b->arena = arena;
  b->code = arena;
  b->program = program->vcode;
  b->superops = program->superops;
  b->superop_count = program->superop_count;
  b->summaries = summaries;
  kind_pool_init(&b->kinds, scratch);
}

/* ---- giving up ---- */

/* Says why the function has no let-form; returns false for the caller to pass on. */
static bool __attribute__((format(printf, 3, 4)))
builder_give_up(struct builder *b, struct source_pos pos, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *why = arena_vprintf(b->arena, format, args);
  va_end(args);
  b->reason = arena_printf(b->arena, "%u:%u: %s", pos.line, pos.column, why);
  return false;
}

static bool builder_is_too_large(struct builder *b, struct source_pos pos) {
  return builder_give_up(b, pos, "the let-form would become too large");
}

/* ---- variables and bindings ---- */

static kind_term builder_kind(struct builder *b, ir_var var) {
  if (!(var & PARAM_BIT)) return b->var_kinds.items[var];
  uint32_t j = var & ~PARAM_BIT;
  while (b->param_kinds.count <= j)
    *array_push(b->scratch, &b->param_kinds) = kind_fresh(&b->kinds);
  return b->param_kinds.items[j];
}

static ir_var builder_new_var(struct builder *b, kind_term kind) {
  *array_push(b->scratch, &b->var_kinds) = kind;
  return (ir_var)(b->var_kinds.count - 1);
}

static void fix_later(struct builder *b, ir_var *vars, uint32_t count) {
  *array_push(b->scratch, &b->fixups) = (struct fixup){vars, count};
}

/* Adds a binding at the end of the present block; it is valid until the next one. Its operands,
 * results and flags are one allocation. */
static struct ir_binding *builder_add_binding(struct builder *b, enum ir_form form,
                                              const struct vcode_instruction *in,
                                              uint32_t operands, uint32_t results) {
  struct ir_binding *x = array_push(b->scratch, &b->pending);
  *x = (struct ir_binding){.form = (uint8_t)form,
                           .type = in->type,
                           .op = in->op,
                           .pos = in->pos,
                           .origin = in->origin,
                           .operand_count = operands,
                           .result_count = results};
  size_t n = (size_t)operands + results;
  b->size += n;
  x->operands = arena_alloc(b->code, n * (sizeof(ir_var) + sizeof(bool)));
  x->results = x->operands + operands;
  x->last = (bool *)(x->results + results);
  x->unused = x->last + operands;
  fix_later(b, x->operands, (uint32_t)n);
  return x;
}

/* Makes a block of the bindings from `start` on. */
static struct ir_block *builder_close_block(struct builder *b, size_t start, enum ir_end end,
                                            struct source_pos pos) {
  struct ir_block *block = arena_alloc(b->code, sizeof *block);
  size_t count = b->pending.count - start;
  block->end = (uint8_t)end;
  if (end == IR_EXIT) block->pos = pos;
  block->count = (uint32_t)count;
  if (count > 0) {
    block->bindings = arena_alloc(b->code, count * sizeof *block->bindings);
    memcpy(block->bindings, b->pending.items + start, count * sizeof *block->bindings);
  }
  b->pending.count = start;
  return block;
}

static void add_block_results(struct builder *b, struct ir_block *block, uint32_t count) {
  block->result_count = count;
  block->results = arena_alloc(b->code, count * (sizeof(ir_var) + sizeof(bool)));
  block->last = (bool *)(block->results + count);
  b->size += count;
  fix_later(b, block->results, count);
}

/* ---- simple bindings ---- */

static bool push_results(struct builder *b, struct source_pos pos, uint32_t count,
                         const ir_var *results) {
  for (uint32_t i = 0; i < count; i++) {
    if (!sym_push(&b->stack, results[i])) return builder_is_too_large(b, pos);
  }
  return true;
}

static void pop_operands(struct builder *b, uint32_t count, ir_var *operands) {
  for (uint32_t i = count; i-- > 0;) operands[i] = sym_pop(&b->stack);
}

static bool refuse_kind(struct builder *b, const struct vcode_instruction *in, uint32_t operand,
                        kind_term found, enum ir_kind_tag expected) {
  return builder_give_up(b, in->pos, "operand %u of %s%s%s is %s, not %s", operand,
                         opcode_info(in->op)->spelling, in->type == TW_NONE ? "" : " ",
                         type_word_text(in->type), kind_term_text(&b->kinds, found),
                         ir_tag_text(expected));
}

static bool build_op(struct builder *b, const struct vcode_instruction *in) {
  const struct opcode_info *info = opcode_info(in->op);
  uint32_t operands = (uint32_t)strlen(info->operands);
  uint32_t results = (uint32_t)strlen(info->results);
  if (!sym_need(&b->stack, operands)) return builder_is_too_large(b, in->pos);
  struct ir_binding *x = builder_add_binding(b, IR_OP, in, operands, results);
  pop_operands(b, operands, x->operands);
  if (in->op == OPC_ASSERT) {
    x->as.text.text = in->as.text.text;
    x->as.text.length = in->as.text.length;
  }
  if (in->op == OPC_PAIR) {
    kind_term left = builder_kind(b, x->operands[0]), right = builder_kind(b, x->operands[1]);
    x->results[0] = builder_new_var(b, kind_pair(&b->kinds, left, right));
  } else if (in->op == OPC_UNPAIR) {
    kind_term whole = builder_kind(b, x->operands[0]), left, right;
    if (!kind_unpair(&b->kinds, whole, &left, &right))
      return refuse_kind(b, in, 0, whole, IR_PAIR);
    x->results[0] = builder_new_var(b, left);
    x->results[1] = builder_new_var(b, right);
  } else {
    for (uint32_t i = 0; i < operands; i++) {
      enum ir_kind_tag expected = (enum ir_kind_tag)operand_kind(info->operands[i], in->type);
      kind_term found = builder_kind(b, x->operands[i]);
      if (!kind_unify(&b->kinds, found, (kind_term)expected))
        return refuse_kind(b, in, i, found, expected);
    }
    for (uint32_t i = 0; i < results; i++)
      x->results[i] = builder_new_var(
          b, (kind_term)(enum ir_kind_tag)operand_kind(info->results[i], in->type));
  }
  return push_results(b, in->pos, results, x->results);
}

static bool do_const(struct builder *b, const struct vcode_instruction *in) {
  struct ir_binding *x = builder_add_binding(b, IR_CONST, in, 0, 1);
  x->as.constant = in->as.constant;
  x->type = (uint8_t)in->as.constant->type;
  x->results[0] = builder_new_var(b, (kind_term)ir_constant_tag(in->as.constant));
  return push_results(b, in->pos, 1, x->results);
}

static bool call_binding(struct builder *b, const struct vcode_instruction *in) {
  const struct summary *callee = &b->summaries[in->as.call.function];
  if (!callee->typed)
    return builder_give_up(b, in->pos, "calls %s, which has no let-form",
                           in->as.call.name->text);
  if (!sym_need(&b->stack, callee->param_count)) return builder_is_too_large(b, in->pos);
  struct ir_binding *x =
      builder_add_binding(b, IR_CALL, in, callee->param_count, callee->result_count);
  x->as.callee = in->as.call.function;
  pop_operands(b, x->operand_count, x->operands);
  b->instance.count = 0;
  for (uint32_t i = 0; i < callee->variables; i++)
    *array_push(b->scratch, &b->instance) = KIND_UNSET;
  for (uint32_t i = 0; i < x->operand_count; i++) {
    kind_term expected = kind_instance(&b->kinds, callee->params[i], b->instance.items);
    kind_term found = builder_kind(b, x->operands[i]);
    if (!kind_unify(&b->kinds, found, expected))
      return builder_give_up(b, in->pos, "argument %u of %s is %s, which does not fit %s", i,
                             in->as.call.name->text, kind_term_text(&b->kinds, found),
                             kind_term_text(&b->kinds, expected));
  }
  for (uint32_t i = 0; i < x->result_count; i++)
    x->results[i] =
        builder_new_var(b, kind_instance(&b->kinds, callee->results[i], b->instance.items));
  return push_results(b, in->pos, x->result_count, x->results);
}

static bool build_superop(struct builder *b, const struct vcode_instruction *in) {
  uint32_t number = in->as.fused;
  if (number >= b->superop_count)
    return builder_give_up(b, in->pos, "superoperator %u is not defined", number);
  const struct superop *op = b->superops[number];
  if (!sym_need(&b->stack, op->param_count)) return builder_is_too_large(b, in->pos);
  struct ir_binding *x =
      builder_add_binding(b, IR_FUSED, in, op->param_count, op->output_count);
  x->as.superop = number;
  pop_operands(b, x->operand_count, x->operands);
  for (uint32_t i = 0; i < x->operand_count; i++) {
    enum ir_kind_tag expected = ir_superop_operand(op, i)->tag;
    kind_term found = builder_kind(b, x->operands[i]);
    if (!kind_unify(&b->kinds, found, (kind_term)expected))
      return refuse_kind(b, in, i, found, expected);
  }
  for (uint32_t i = 0; i < x->result_count; i++)
    x->results[i] = builder_new_var(b, (kind_term)ir_superop_output(op, i)->tag);
  return push_results(b, in->pos, x->result_count, x->results);
}

/* ---- IF ---- */

static bool open_if_arm(struct builder *b, uint32_t at) {
  const struct vcode_instruction *in = &b->function->code[at];
  if (!sym_need(&b->stack, 1)) return builder_is_too_large(b, in->pos);
  ir_var condition = sym_pop(&b->stack);
  kind_term kind = builder_kind(b, condition);
  if (!kind_unify(&b->kinds, kind, IR_BOOL)) return refuse_kind(b, in, 0, kind, IR_BOOL);
  *array_push(b->scratch, &b->ifs) = (struct open_if){
      .at = at,
      .condition = condition,
      .arm = sym_begin_arm(&b->stack),
      .bindings = b->pending.count,
      .first_var = (ir_var)b->var_kinds.count,
      .left = b->left.list.count,
  };
  return true;
}

static int by_variables(const void *a, const void *b) {
  const struct join_item *x = a, *y = b;
  if (x->then != y->then) return x->then < y->then ? -1 : 1;
  if (x->otherwise != y->otherwise) return x->otherwise < y->otherwise ? -1 : 1;
  return (x->same > y->same) - (x->same < y->same);
}

/* Sets `same` of each item to the first (deepest) one with the same two variables. */
static void find_same(struct builder *b) {
  size_t n = b->joins.count;
  for (uint32_t i = 0; i < n; i++) b->joins.items[i].same = i;
  if (n < 2) return;
  b->sorted.count = 0;
  for (size_t i = 0; i < n; i++) *array_push(b->scratch, &b->sorted) = b->joins.items[i];
  qsort(b->sorted.items, n, sizeof(struct join_item), by_variables);
  for (size_t i = 1, first = 0; i < n; i++) {
    const struct join_item *x = &b->sorted.items[i], *y = &b->sorted.items[first];
    if (x->then == y->then && x->otherwise == y->otherwise)
      b->joins.items[x->same].same = y->same;
    else
      first = i;
  }
}

/* Lists in b->joins, deepest first, every position that either arm changed and that is still
 * there, with what it holds after each. The stack is as before the arms. An arm that does not
 * yield is given the other's items. */
static void collect_joins(struct builder *b, const struct open_if *x, bool then_yields,
                          bool else_yields, int64_t height) {
  const struct sym_item *list = b->left.list.items;
  size_t i = x->left, i_end = x->left_else, j = x->left_else, j_end = b->left.list.count;
  b->joins.count = 0;
  while (i < i_end || j < j_end) {
    bool from_then = i < i_end && (j == j_end || list[i].position <= list[j].position);
    bool from_else = j < j_end && (i == i_end || list[j].position <= list[i].position);
    int64_t position = from_then ? list[i].position : list[j].position;
    if (position < height) {
      ir_var then = from_then ? list[i].var : UINT32_MAX;
      ir_var otherwise = from_else ? list[j].var : UINT32_MAX;
      if (!from_then) then = then_yields ? sym_get(&b->stack, position) : otherwise;
      if (!from_else) otherwise = else_yields ? sym_get(&b->stack, position) : then;
      *array_push(b->scratch, &b->joins) =
          (struct join_item){.position = position, .then = then, .otherwise = otherwise};
    }
    i += from_then;
    j += from_else;
  }
}

/* Makes the IF's binding and the stack after it, when both arms are closed. */
static bool build_join(struct builder *b, const struct open_if *x, struct ir_block *otherwise,
                       int64_t else_height) {
  const struct vcode_instruction *in = &b->function->code[x->at];
  bool then_yields = x->then->end == IR_YIELD, else_yields = otherwise->end == IR_YIELD;
  int64_t height = then_yields ? x->then_height : else_height;
  if (then_yields && else_yields && x->then_height != else_height)
    return builder_give_up(b, in->pos, "the arms of the IF leave different numbers of items");
  b->joins.count = 0;
  if (then_yields || else_yields) collect_joins(b, x, then_yields, else_yields, height);
  find_same(b);

  /* An item that differs between the arms, or was made in the only arm that yields, is a
   * result. */
  uint32_t results = 0;
  for (size_t i = 0; i < b->joins.count; i++) {
    struct join_item *item = &b->joins.items[i];
    bool inner = !(item->then & PARAM_BIT) && item->then >= x->first_var;
    if (item->then == item->otherwise && !inner) {
      item->result = item->then;
    } else if (item->same != i) {
      item->result = b->joins.items[item->same].result;
    } else {
      kind_term kind = builder_kind(b, item->then), other = builder_kind(b, item->otherwise);
      if (!kind_unify(&b->kinds, kind, other))
        return builder_give_up(b, in->pos, "the arms of the IF leave %s and %s",
                               kind_term_text(&b->kinds, kind),
                               kind_term_text(&b->kinds, other));
      item->result = builder_new_var(b, kind);
      results++;
    }
  }
  struct ir_binding *binding = builder_add_binding(b, IR_IF, in, 1, results);
  binding->operands[0] = x->condition;
  binding->as.arms.then = x->then;
  binding->as.arms.otherwise = otherwise;
  if (then_yields) add_block_results(b, x->then, results);
  if (else_yields) add_block_results(b, otherwise, results);
  if (b->size > MAX_FORM_SIZE) return builder_is_too_large(b, in->pos);

  sym_set_height(&b->stack, height);
  uint32_t k = 0;
  for (uint32_t i = 0; i < b->joins.count; i++) {
    const struct join_item *item = &b->joins.items[i];
    sym_put(&b->stack, item->position, item->result);
    if (item->same != i || item->result == item->then) continue;
    binding->results[k] = item->result;
    if (then_yields) x->then->results[k] = item->then;
    if (else_yields) otherwise->results[k] = item->otherwise;
    k++;
  }
  return true;
}

/* ---- the ends of blocks ---- */

static void close_body(struct builder *b, enum ir_end end, struct source_pos pos) {
  b->body = builder_close_block(b, 0, end, pos);
  if (end != IR_YIELD) return;
  int64_t bottom = -(int64_t)b->stack.below.count;
  add_block_results(b, b->body, (uint32_t)(b->stack.height - bottom));
  for (uint32_t i = 0; i < b->body->result_count; i++)
    b->body->results[i] = sym_get(&b->stack, bottom + i);
}

/* Ends the present block: the instructions that follow up to the end of its arm cannot be
 * reached. *pc becomes the next instruction to execute, or the function's length if it has
 * ended. */
static bool build_end(struct builder *b, enum ir_end end, struct source_pos pos, uint32_t *pc) {
  for (;;) {
    if (b->ifs.count == 0) {
      close_body(b, end, pos);
      *pc = b->function->length;
      return true;
    }
    struct open_if *x = &b->ifs.items[b->ifs.count - 1];
    const struct vcode_instruction *in = &b->function->code[x->at];
    struct ir_block *block = builder_close_block(b, x->bindings, end, pos);
    int64_t height = 0;
    sym_end_arm(&b->stack, &x->arm, end == IR_YIELD ? &b->left : NULL, &height);
    if (!x->in_else) {
      x->then = block;
      x->then_height = height;
      x->in_else = true;
      x->left_else = b->left.list.count;
      x->arm = sym_begin_arm(&b->stack);
      /* Without ELSE the second arm is empty and ends at once. */
      *pc =
          in->as.branch.otherwise + (b->function->code[in->as.branch.otherwise].op == OPC_ELSE);
      return true;
    }
    if (!build_join(b, x, block, height)) return false;
    bool never = x->then->end != IR_YIELD && block->end != IR_YIELD;
    b->left.list.count = x->left;
    b->ifs.count--;
    *pc = in->as.branch.end + 1;
    if (!never) return true;
    end = IR_NEVER;
    pos = in->pos;
  }
}

/* ---- the whole function ---- */

static bool build_body(struct builder *b) {
  const struct vcode_function *f = b->function;
  uint32_t pc = 0;
  while (pc < f->length) {
    const struct vcode_instruction *in = &f->code[pc++];
    bool fine = true;
    switch (opcode_info(in->op)->klass) {
    case OC_STACK: {
      int64_t count = in->as.stack.count, depth = in->as.stack.depth;
      fine = in->op == OPC_COPY  ? sym_copy(&b->stack, count, depth)
             : in->op == OPC_POP ? sym_remove(&b->stack, count, depth)
                                 : sym_move(&b->stack, count, depth);
      if (!fine) return builder_is_too_large(b, in->pos);
      break;
    }
    case OC_CONSTANT: fine = do_const(b, in); break;
    case OC_CONTROL:
      if (in->op == OPC_CALL) {
        fine = call_binding(b, in);
        if (fine && !b->summaries[in->as.call.function].returns)
          fine = build_end(b, IR_NEVER, in->pos, &pc);
      } else if (in->op == OPC_IF) {
        fine = open_if_arm(b, pc - 1);
      } else if (in->op == OPC_FUSED) {
        fine = build_superop(b, in);
      } else { /* ELSE, ENDIF, RET, EXIT */
        fine = build_end(b, in->op == OPC_EXIT ? IR_EXIT : IR_YIELD, in->pos, &pc);
      }
      break;
    default: fine = build_op(b, in); break;
    }
    if (!fine) return false;
    if (b->size > MAX_FORM_SIZE || b->stack.moved > MAX_MOVES)
      return builder_is_too_large(b, in->pos);
  }
  return true;
}

static bool resolve_var(struct builder *b, kind_term t, const struct ir_kind **kind) {
  switch (kind_resolve(&b->kinds, b->arena, t, kind)) {
  case KIND_FINE: return true;
  case KIND_CYCLIC:
    return builder_give_up(b, b->function->pos, "a pair would have to contain itself");
  case KIND_TOO_LARGE: break;
  }
  return builder_give_up(b, b->function->pos, "pairs are nested too deeply");
}

/* Numbers the final variables: parameters first, deepest first, then the others as they were
 * made. */
static bool number_variables(struct builder *b, struct ir_function *out) {
  uint32_t params = (uint32_t)b->stack.below.count;
  uint32_t made = (uint32_t)b->var_kinds.count;
  out->param_count = params;
  out->var_count = params + made;
  out->vars = arena_alloc(b->code, out->var_count * sizeof *out->vars);
  out->params = arena_alloc(b->code, params * (sizeof(ir_var) + sizeof(bool)));
  out->unused = (bool *)(out->params + params);
  for (uint32_t i = 0; i < params; i++) {
    out->params[i] = i;
    if (!resolve_var(b, builder_kind(b, PARAM_BIT | (params - 1 - i)), &out->vars[i]))
      return false;
  }
  for (size_t f = 0; f < b->fixups.count; f++) {
    struct fixup fixup = b->fixups.items[f];
    for (uint32_t i = 0; i < fixup.count; i++) {
      ir_var v = fixup.vars[i];
      fixup.vars[i] = v & PARAM_BIT ? params - 1 - (v & ~PARAM_BIT) : params + v;
    }
  }
  out->result_count = out->body->result_count;
  out->result_kinds = arena_alloc(b->code, out->result_count * sizeof *out->result_kinds);
  for (uint32_t i = 0; i < out->result_count; i++) {
    ir_var v = out->body->results[i];
    if (v >= params && !resolve_var(b, b->var_kinds.items[v - params], &out->vars[v]))
      return false;
    out->result_kinds[i] = out->vars[v];
  }
  for (uint32_t i = 0; i < made; i++) {
    if (!resolve_var(b, b->var_kinds.items[i], &out->vars[params + i])) return false;
  }
  out->kind_variables = b->kinds.variables;
  return true;
}

static struct summary summarise_function(struct builder *b, const struct ir_function *f) {
  struct summary s = {.typed = true,
                      .returns = f->returns,
                      .param_count = f->param_count,
                      .result_count = f->result_count,
                      .variables = f->kind_variables};
  size_t n = (size_t)s.param_count + s.result_count;
  s.params = arena_alloc(b->arena, n * sizeof *s.params);
  s.results = s.params + s.param_count;
  for (uint32_t i = 0; i < s.param_count; i++) s.params[i] = f->vars[i];
  for (uint32_t i = 0; i < s.result_count; i++) s.results[i] = f->result_kinds[i];
  return s;
}

/* Builds the let-form of a function that has at least `known` parameters. */
static bool build_form(struct builder *b, uint32_t known) {
  b->reason = NULL;
  b->body = NULL;
  b->size = 0;
  kind_pool_reset(&b->kinds);
  sym_reset(&b->stack, b->scratch);
  b->left.list.count = b->pending.count = b->ifs.count = b->fixups.count = 0;
  b->param_kinds.count = b->var_kinds.count = 0;
  if (!sym_need(&b->stack, known)) return builder_is_too_large(b, b->function->pos);
  return build_body(b);
}

/* Unifies the kinds of the entry's parameters with those it declares. */
static bool unify_declared(struct builder *b) {
  const struct vcode_function *f = b->function;
  for (uint32_t i = 0; i < f->in_count; i++) {
    const kind_term used = builder_kind(b, PARAM_BIT | (f->in_count - 1 - i));
    const enum ir_kind_tag declared = ir_word_tag((enum type_word)f->in[i]);
    if (kind_unify(&b->kinds, used, declared)) continue;
    return builder_give_up(b, f->pos, "declares its item %u to be %s and uses it as %s", i,
                           ir_tag_text(declared), kind_term_text(&b->kinds, used));
  }
  return true;
}

/* Returns whether an entry that reads no argument still leaves the declared arguments in its
 * results. Its declared results are then the declared arguments and its own. */
static bool hands_on(const struct builder *b) {
  const struct vcode_function *f = b->function;
  return f->in_count > 0 && b->body->end == IR_YIELD &&
         f->out_count == f->in_count + b->body->result_count;
}

/* Builds the entry. Its signature counts only if it takes arguments: in VCODE the signature of
 * any other function has no meaning. */
static bool build_entry(struct builder *b) {
  const struct vcode_function *f = b->function;
  if (!build_form(b, 0)) return false;
  const size_t taken = b->stack.below.count;
  if (taken == 0 && !hands_on(b)) return true;
  if (!f->has_signature)
    return builder_give_up(b, f->pos, "takes %zu items, but a program starts with none", taken);
  if (taken > f->in_count)
    return builder_give_up(b, f->pos, "takes %zu items, but declares %u", taken, f->in_count);
  return (taken == f->in_count || build_form(b, f->in_count)) && unify_declared(b);
}

/* Unifies the kinds of parameters that the function only moves with the declared ones, and
 * those of descriptors whose segments the mark names. A parameter that has another kind already
 * keeps it: ir_build reports that.
 */
static void unify_marked(struct builder *b) {
  const struct vcode_function *f = b->function;
  const struct vcode_instances *mark = f->instances;
  const uint32_t count = mark->param_count;
  if (count > 0) kind_unify(&b->kinds, builder_kind(b, PARAM_BIT | (count - 1)), IR_SEGDES);
  for (uint32_t i = 0; i < count; i++) {
    if (mark->params[i] < count)
      kind_unify(&b->kinds, builder_kind(b, PARAM_BIT | (count - 1 - mark->params[i])),
                 IR_SEGDES);
    if (f->has_signature && f->in_count == count)
      kind_unify(&b->kinds, builder_kind(b, PARAM_BIT | (count - 1 - i)),
                 ir_word_tag((enum type_word)f->in[i]));
  }
}

static bool build_marked(struct builder *b) {
  if (!build_form(b, b->function->instances->param_count)) return false;
  if (b->stack.below.count == b->function->instances->param_count) unify_marked(b);
  return true;
}

/* Builds a procedure. It takes as many items as its signature, if it has one, says, of the
 * kinds that this gives to what is only moved. What contradicts it is reported with the link.
 */
static bool build_procedure(struct builder *b) {
  const struct vcode_function *f = b->function;
  if (!build_form(b, f->has_signature ? f->in_count : 0)) return false;
  if (!f->has_signature || b->stack.below.count != f->in_count) return true;
  for (uint32_t i = 0; i < f->in_count; i++) {
    kind_unify(&b->kinds, builder_kind(b, PARAM_BIT | (f->in_count - 1 - i)),
               ir_word_tag((enum type_word)f->in[i]));
  }
  return true;
}

static bool build_typed(struct builder *b, uint32_t index) {
  if (index == b->program->entry) return build_entry(b);
  if (b->function->instances) return build_marked(b);
  return b->function->is_procedure ? build_procedure(b) : build_form(b, 0);
}

void build_function(struct builder *b, uint32_t index, struct ir_function *out,
                    struct summary *summary) {
  const struct vcode_function *f = &b->program->functions[index];
  b->function = f;
  *out = (struct ir_function){.name = f->name,
                              .pos = f->pos,
                              .stack = f,
                              .returns = true,
                              .procedure = IR_NO_PROCEDURE};
  bool typed = build_typed(b, index);
  if (typed) {
    out->body = b->body;
    out->returns = b->body->end == IR_YIELD;
    typed = number_variables(b, out);
  }
  if (typed) {
    out->typed = true;
    *summary = summarise_function(b, out);
    return;
  }
  *out = (struct ir_function){.name = f->name,
                              .pos = f->pos,
                              .stack = f,
                              .returns = true,
                              .procedure = IR_NO_PROCEDURE,
                              .reason = b->reason};
  *summary = (struct summary){.typed = false, .returns = true};
}
