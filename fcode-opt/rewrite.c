/* rewrite.c - tools every pass uses: new variables, new blocks, copies, renaming. */
#include "fcode-opt/passes.h"
#include "ir/kinds.h"

#include <string.h>

/* ---- making ---- */

ir_var rewrite_var(struct opt *o, struct ir_function *f, const struct ir_kind *kind) {
  uint32_t *capacity = &o->var_capacity[f - o->program->functions];
  if (f->var_count >= *capacity) {
    uint32_t larger = f->var_count < 8 ? 16 : 2 * f->var_count;
    const struct ir_kind **vars = arena_alloc(o->arena, larger * sizeof *vars);
    if (f->var_count > 0) memcpy(vars, f->vars, f->var_count * sizeof *vars);
    f->vars = vars;
    *capacity = larger;
  }
  f->vars[f->var_count] = kind;
  return f->var_count++;
}

struct ir_binding rewrite_binding(struct opt *o, uint16_t op, uint8_t type, uint32_t operands,
                                  uint32_t results, struct source_pos pos, uint32_t origin) {
  struct ir_binding x = {.form = IR_OP,
                         .op = op,
                         .type = type,
                         .pos = pos,
                         .origin = origin,
                         .operand_count = operands,
                         .result_count = results};
  size_t count = (size_t)operands + results;
  x.operands = arena_alloc(o->arena, count * (sizeof(ir_var) + sizeof(bool)));
  x.results = x.operands + operands;
  x.last = (bool *)(x.results + results);
  x.unused = x.last + operands;
  return x;
}

struct ir_binding *rewrite_append(struct opt *o, struct rewrite_block *b,
                                  const struct ir_binding *x) {
  if (b->count == b->capacity) {
    uint32_t larger = b->capacity < 8 ? 16 : 2 * b->capacity;
    struct ir_binding *bindings = arena_alloc(o->arena, larger * sizeof *bindings);
    if (b->count > 0) memcpy(bindings, b->bindings, b->count * sizeof *bindings);
    b->bindings = bindings;
    b->capacity = larger;
  }
  b->bindings[b->count] = *x;
  return &b->bindings[b->count++];
}

ir_var rewrite_op(struct opt *o, struct ir_function *f, struct rewrite_block *b, enum opcode op,
                  enum ir_kind_tag tag, const ir_var *operands, uint32_t count,
                  const struct ir_binding *like) {
  const bool typed = opcode_info(op)->types != NO_TYPE;
  const enum type_word type = tag == IR_FLOAT ? TW_FLOAT : tag == IR_BOOL ? TW_BOOL : TW_INT;
  struct ir_binding x = rewrite_binding(o, (uint16_t)op, typed ? (uint8_t)type : TW_NONE, count,
                                        1, like->pos, like->origin);
  memcpy(x.operands, operands, count * sizeof *x.operands);
  x.results[0] = rewrite_var(o, f, ir_kind_base(tag));
  rewrite_append(o, b, &x);
  return x.results[0];
}

void rewrite_finish(struct ir_block *block, const struct rewrite_block *b) {
  block->bindings = b->bindings;
  block->count = b->count;
}

void rewrite_yield(struct opt *o, struct ir_block *block, uint32_t count) {
  block->end = IR_YIELD;
  block->result_count = count;
  block->results = arena_alloc(o->arena, count * (sizeof(ir_var) + sizeof(bool)));
  block->last = (bool *)(block->results + count);
}

/* ---- copying ---- */

/* Returns a kind with its kind variables replaced. */
static const struct ir_kind *instantiated(struct opt *o, const struct ir_kind *kind,
                                          const struct ir_kind *const *instance) {
  if (!instance) return kind;
  if (kind->tag == IR_ANY) return instance[kind->variable];
  if (kind->tag != IR_PAIR) return kind;
  const struct ir_kind *left = instantiated(o, kind->left, instance);
  const struct ir_kind *right = instantiated(o, kind->right, instance);
  if (left == kind->left && right == kind->right) return kind;
  struct ir_kind *pair = arena_alloc(o->arena, sizeof *pair);
  *pair = (struct ir_kind){.tag = IR_PAIR, .left = left, .right = right};
  return pair;
}

static void copy_names(uint32_t count, ir_var *to, const ir_var *from, const ir_var *map) {
  for (uint32_t i = 0; i < count; i++) to[i] = map[from[i]];
}

struct ir_block *rewrite_copy(struct opt *o, struct ir_function *to,
                              const struct ir_function *from, const struct ir_block *block,
                              ir_var *map, const struct ir_kind *const *instance) {
  struct ir_block *copy = arena_alloc(o->arena, sizeof *copy);
  copy->end = block->end;
  copy->pos = block->pos;
  copy->count = block->count;
  copy->bindings = arena_alloc(o->arena, block->count * sizeof *copy->bindings);
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding *x = &block->bindings[i];
    struct ir_binding y = rewrite_binding(o, x->op, x->type, x->operand_count, x->result_count,
                                          x->pos, x->origin);
    y.form = x->form;
    y.as = x->as;
    copy_names(x->operand_count, y.operands, x->operands, map);
    if (x->form == IR_IF) {
      y.as.arms.then = rewrite_copy(o, to, from, x->as.arms.then, map, instance);
      y.as.arms.otherwise = rewrite_copy(o, to, from, x->as.arms.otherwise, map, instance);
    }
    for (uint32_t k = 0; k < x->result_count; k++) {
      ir_var v = x->results[k];
      if (map[v] == IR_NO_VAR)
        map[v] = rewrite_var(o, to, instantiated(o, from->vars[v], instance));
      y.results[k] = map[v];
    }
    copy->bindings[i] = y;
  }
  if (block->end == IR_YIELD) {
    rewrite_yield(o, copy, block->result_count);
    copy_names(block->result_count, copy->results, block->results, map);
  }
  return copy;
}

void rewrite_add_call(struct opt *o, struct ir_block *block, uint32_t call) {
  for (struct ir_walk w = ir_walk(o->scratch, block); ir_next_binding(&w);)
    w.x->origin = origin_inlined(&o->program->origins, w.x->origin, call);
}

struct ir_function rewrite_copy_function(struct opt *o, const struct ir_function *from) {
  struct ir_function f = *from;
  if (!f.typed) return f;
  ir_var *map = arena_alloc(o->scratch, from->var_count * sizeof *map);
  for (uint32_t v = 0; v < from->var_count; v++) map[v] = v;
  f.params = arena_alloc(o->arena, from->param_count * (sizeof(ir_var) + sizeof(bool)));
  f.unused = (bool *)(f.params + from->param_count);
  for (uint32_t i = 0; i < from->param_count; i++) f.params[i] = from->params[i];
  f.result_kinds = arena_alloc(o->arena, from->result_count * sizeof *f.result_kinds);
  for (uint32_t i = 0; i < from->result_count; i++) f.result_kinds[i] = from->result_kinds[i];
  f.vars = arena_alloc(o->arena, from->var_count * sizeof *f.vars);
  if (from->var_count > 0) memcpy(f.vars, from->vars, from->var_count * sizeof *f.vars);
  f.body = rewrite_copy(o, &f, from, from->body, map, NULL);
  return f;
}

static const struct ir_instances *add_shared(struct opt *o, const struct ir_instances *mark,
                                             uint32_t before, uint32_t after) {
  struct ir_instances *new = arena_alloc(o->arena, sizeof *new);
  uint32_t *params = arena_alloc(o->arena, after * sizeof *params);
  memcpy(params, mark->params, before * sizeof *params);
  for (uint32_t k = before; k < after; k++) params[k] = IR_SHARED;
  *new = (struct ir_instances){params, mark->results};
  return new;
}

void rewrite_add_params(struct opt *o, struct ir_function *f, const ir_var *added,
                        uint32_t count) {
  const uint32_t before = f->param_count, after = before + count;
  ir_var *params = arena_alloc(o->arena, after * (sizeof *params + sizeof(bool)));
  memcpy(params, f->params, before * sizeof *params);
  if (count > 0) memcpy(params + before, added, count * sizeof *params);
  f->params = params;
  f->unused = (bool *)(params + after);
  f->param_count = after;
  if (f->instances) f->instances = add_shared(o, f->instances, before, after);
}

struct ir_binding rewrite_add_operands(struct opt *o, const struct ir_binding *call,
                                       const ir_var *added, uint32_t count) {
  const uint32_t before = call->operand_count;
  struct ir_binding x = rewrite_binding(o, call->op, call->type, before + count,
                                        call->result_count, call->pos, call->origin);
  x.form = IR_CALL;
  x.as = call->as;
  memcpy(x.operands, call->operands, before * sizeof *x.operands);
  if (count > 0) memcpy(x.operands + before, added, count * sizeof *x.operands);
  if (x.result_count > 0) memcpy(x.results, call->results, x.result_count * sizeof *x.results);
  return x;
}

/* ---- names ---- */

static bool is_taken(const struct opt *o, const struct name *name) {
  for (uint32_t f = 0; f < o->program->function_count; f++) {
    if (strcmp(o->program->functions[f].name->text, name->text) == 0) return true;
  }
  return false;
}

const struct name *rewrite_name(struct opt *o, const struct name *of, const char *behind) {
  const size_t more = strlen(behind) + 1;
  struct name *name = arena_alloc(o->arena, sizeof *name + of->length + more);
  name->length = (uint32_t)(of->length + more - 1);
  memcpy(name->text, of->text, of->length);
  memcpy(name->text + of->length, behind, more);
  return is_taken(o, name) ? rewrite_name(o, name, behind) : name;
}

/* ---- procedures ---- */

/* The parameters of function f from number `first` on, as the first variables of a new one. */
static void like_parameters(struct opt *o, struct ir_function *to, const struct ir_function *f,
                            uint32_t first) {
  to->param_count = f->param_count - first;
  const size_t count = (size_t)to->param_count + f->result_count;
  to->params = arena_alloc(o->arena, count * (sizeof *to->params + sizeof(bool)));
  to->unused = (bool *)(to->params + to->param_count);
  to->vars = arena_alloc(o->arena, count * sizeof *to->vars);
  for (uint32_t i = 0; i < to->param_count; i++) {
    to->params[i] = i;
    to->vars[i] = f->vars[f->params[first + i]];
  }
  to->var_count = to->param_count;
}

/* A function that takes what lifted function f takes but parameter 0, and calls its procedure.
 */
static struct ir_function procedure_wrapper(struct opt *o, const struct ir_function *f) {
  const struct ir_function *p = &o->program->functions[f->procedure];
  struct ir_function w = {.name = rewrite_name(o, p->name, "_ONE"),
                          .pos = p->pos,
                          .typed = true,
                          .returns = true,
                          .procedure = IR_NO_PROCEDURE,
                          .body = arena_alloc(o->arena, sizeof *w.body)};
  like_parameters(o, &w, f, 1);
  struct ir_binding *call = arena_alloc(o->arena, sizeof *call);
  *call = rewrite_binding(o, OPC_CALL, TW_NONE, p->param_count, p->result_count, p->pos, 0);
  call->form = IR_CALL;
  call->as.callee = f->procedure;
  for (uint32_t i = 0; i < p->param_count; i++) call->operands[i] = i;
  rewrite_yield(o, w.body, p->result_count);
  for (uint32_t i = 0; i < p->result_count; i++) {
    w.vars[w.var_count] = p->result_kinds[i];
    w.body->results[i] = call->results[i] = w.var_count++;
  }
  w.result_count = p->result_count;
  w.result_kinds = arena_alloc(o->arena, p->result_count * sizeof *w.result_kinds);
  for (uint32_t i = 0; i < p->result_count; i++) w.result_kinds[i] = p->result_kinds[i];
  w.body->bindings = call;
  w.body->count = 1;
  w.body->pos = p->pos;
  return w;
}

static void add_unused_params(struct opt *o, struct ir_function *p, const struct ir_function *f,
                              uint32_t count) {
  ir_var *added = arena_alloc(o->scratch, count * sizeof *added);
  for (uint32_t i = 0; i < count; i++)
    added[i] = rewrite_var(o, p, f->vars[f->params[f->param_count - count + i]]);
  rewrite_add_params(o, p, added, count);
}

/* Returns whether nothing but one link leads to a function. */
static bool only_linked_once(const struct opt *o, const struct calls *calls, uint32_t p) {
  uint32_t links = 0;
  for (uint32_t i = 0; i < o->program->function_count; i++)
    links += ir_procedure(&o->program->functions[i]) == p;
  return p < calls->count && links == 1 && calls->sites[p] == 0 && !calls->fixed[p];
}

void rewrite_extend_procedure(struct opt *o, struct calls *calls, uint32_t index,
                              uint32_t count) {
  struct ir_function *f = &o->program->functions[index];
  const uint32_t p = ir_procedure(f);
  if (p == IR_NO_PROCEDURE || count == 0) return;
  if (only_linked_once(o, calls, p)) {
    add_unused_params(o, &o->program->functions[p], f, count);
  } else if (o->program->function_count == o->function_capacity) {
    f->procedure = IR_NO_PROCEDURE;
  } else {
    const struct ir_function wrapper = procedure_wrapper(o, f);
    if (p < calls->count) calls->sites[p]++;
    f->procedure = rewrite_add_function(o, &wrapper);
  }
}

/* ---- room ---- */

void rewrite_reserve(struct opt *o, uint32_t functions) {
  struct ir_program *p = o->program;
  const uint32_t n = p->function_count, most = n + functions;
  struct ir_function *all = arena_alloc(o->arena, most * sizeof *all);
  uint32_t *capacity = arena_alloc(o->arena, most * sizeof *capacity);
  memcpy(all, p->functions, n * sizeof *all);
  memcpy(capacity, o->var_capacity, n * sizeof *capacity);
  p->functions = all;
  o->var_capacity = capacity;
  o->function_capacity = most;
}

uint32_t rewrite_add_function(struct opt *o, const struct ir_function *f) {
  const uint32_t n = o->program->function_count++;
  o->program->functions[n] = *f;
  o->var_capacity[n] = f->var_count;
  return n;
}

/* Renames the variables bound in a block, and all uses in it. */
static void renumber_block(struct ir_block *block, ir_var *map, const struct ir_kind **kinds,
                           const struct ir_kind *const *old, uint32_t *next) {
  for (uint32_t i = 0; i < block->count; i++) {
    struct ir_binding *x = &block->bindings[i];
    copy_names(x->operand_count, x->operands, x->operands, map);
    if (x->form == IR_IF) {
      renumber_block(x->as.arms.then, map, kinds, old, next);
      renumber_block(x->as.arms.otherwise, map, kinds, old, next);
    }
    for (uint32_t k = 0; k < x->result_count; k++) {
      kinds[*next] = old[x->results[k]];
      x->results[k] = map[x->results[k]] = (*next)++;
    }
  }
  copy_names(block->result_count, block->results, block->results, map);
}

void rewrite_number(struct opt *o, struct ir_function *f) {
  ir_var *map = arena_alloc(o->scratch, f->var_count * sizeof *map);
  const struct ir_kind **kinds = arena_alloc(o->arena, f->var_count * sizeof *kinds);
  uint32_t next = 0;
  for (uint32_t i = 0; i < f->param_count; i++) {
    kinds[next] = f->vars[f->params[i]];
    f->params[i] = map[f->params[i]] = next;
    next++;
  }
  renumber_block(f->body, map, kinds, f->vars, &next);
  o->var_capacity[f - o->program->functions] = f->var_count;
  f->vars = kinds;
  f->var_count = next;
}

/* ---- ends ---- */

/* Returns whether the bindings behind this one are never executed. */
static bool never_returns(const struct ir_program *program, const struct ir_binding *x) {
  if (x->form == IR_CALL) return !program->functions[x->as.callee].returns;
  return x->form == IR_IF && x->as.arms.then->end != IR_YIELD &&
         x->as.arms.otherwise->end != IR_YIELD;
}

/* Removes the bindings behind one that never returns. */
static void cut_block(const struct ir_program *program, struct ir_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    struct ir_binding *x = &block->bindings[i];
    if (x->form == IR_IF) {
      cut_block(program, x->as.arms.then);
      cut_block(program, x->as.arms.otherwise);
    }
    if (!never_returns(program, x)) continue;
    x->result_count = 0;
    block->count = i + 1;
    block->end = IR_NEVER;
    block->result_count = 0;
    return;
  }
}

/* Removes the links to procedures that never return: those fail for every instance. */
static void remove_links(struct ir_program *program) {
  for (uint32_t i = 0; i < program->function_count; i++) {
    struct ir_function *f = &program->functions[i];
    const uint32_t p = ir_procedure(f);
    if (p != IR_NO_PROCEDURE && !program->functions[p].returns) f->procedure = IR_NO_PROCEDURE;
  }
}

void rewrite_ends(struct opt *o) {
  struct ir_program *program = o->program;
  bool changed = true;
  while (changed) {
    changed = false;
    for (uint32_t i = 0; i < program->function_count; i++) {
      struct ir_function *f = &program->functions[i];
      if (!f->typed || !f->returns) continue;
      cut_block(program, f->body);
      if (f->body->end == IR_YIELD) continue;
      f->returns = false;
      f->result_count = 0;
      f->instances = NULL;
      changed = true;
    }
  }
  remove_links(program);
  /* A function that never returned may call one that was only now found not to. */
  for (uint32_t i = 0; i < program->function_count; i++) {
    struct ir_function *f = &program->functions[i];
    if (f->typed && !f->returns) cut_block(program, f->body);
  }
}

struct superop *rewrite_superop(struct opt *o, struct superop made) {
  struct superop *op = arena_alloc(o->arena, sizeof *op);
  const char *why;
  uint32_t node;
  *op = made;
  const bool fine = superop_complete(o->arena, op, &why, &node);
  pass_require(o, fine || !why);
  if (!fine) memory_failed();
  return op;
}
