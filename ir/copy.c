/* copy.c - see copy.h. */
#include "ir/copy.h"

#include "ir/kinds.h"

#include <string.h>

struct copier {
  struct arena *to;
  const struct arena *from;
};

static void *ir_copy_bytes(const struct copier *c, const void *data, size_t bytes) {
  void *copy = arena_alloc(c->to, bytes);
  if (bytes > 0) memcpy(copy, data, bytes);
  return copy;
}

/* ---- bindings ---- */

static size_t element_bytes(enum type_word type) {
  switch (type) {
  case TW_INT:
  case TW_SEGDES: return sizeof(int64_t);
  case TW_FLOAT: return sizeof(double);
  case TW_BOOL:
  case TW_CHAR: return 1;
  case TW_NONE: break;
  }
  return 0;
}

static const struct vcode_constant *copy_constant(const struct copier *c,
                                                  const struct vcode_constant *k) {
  struct vcode_constant *copy = ir_copy_bytes(c, k, sizeof *k);
  if (arena_holds(c->from, k->as.ints)) {
    copy->as.ints = ir_copy_bytes(c, k->as.ints, k->length * element_bytes(k->type));
  }
  return copy;
}

static struct ir_block *ir_copy_block(const struct copier *, const struct ir_block *);

static void ir_copy_binding(const struct copier *c, struct ir_binding *x) {
  x->operands = ir_copy_bytes(c, x->operands, x->operand_count * sizeof *x->operands);
  x->results = ir_copy_bytes(c, x->results, x->result_count * sizeof *x->results);
  x->last = ir_copy_bytes(c, x->last, x->operand_count * sizeof *x->last);
  x->unused = ir_copy_bytes(c, x->unused, x->result_count * sizeof *x->unused);
  if (x->form == IR_CONST) x->as.constant = copy_constant(c, x->as.constant);
  if (x->form == IR_IF) {
    x->as.arms.then = ir_copy_block(c, x->as.arms.then);
    x->as.arms.otherwise = ir_copy_block(c, x->as.arms.otherwise);
  }
  if (x->form == IR_OP && x->op == OPC_ASSERT) {
    x->as.text.text = arena_copy(c->to, x->as.text.text, x->as.text.length);
  }
}

static struct ir_block *ir_copy_block(const struct copier *c, const struct ir_block *b) {
  struct ir_block *copy = ir_copy_bytes(c, b, sizeof *b);
  copy->bindings = ir_copy_bytes(c, b->bindings, b->count * sizeof *b->bindings);
  for (uint32_t i = 0; i < b->count; i++) ir_copy_binding(c, &copy->bindings[i]);
  copy->results = ir_copy_bytes(c, b->results, b->result_count * sizeof *b->results);
  copy->last = ir_copy_bytes(c, b->last, b->result_count * sizeof *b->last);
  copy->drops = ir_copy_bytes(c, b->drops, b->drop_count * sizeof *b->drops);
  return copy;
}

/* ---- functions ---- */

static const struct name *copy_name(const struct copier *c, const struct name *n) {
  return ir_copy_bytes(c, n, sizeof *n + n->length + 1);
}

static const struct ir_kind **kinds(const struct copier *c, const struct ir_kind *const *list,
                                    uint32_t count) {
  const struct ir_kind **copy = arena_alloc(c->to, count * sizeof *copy);
  for (uint32_t i = 0; i < count; i++) copy[i] = ir_kind_base(list[i]->tag);
  return copy;
}

static const struct ir_instances *instances(const struct copier *c,
                                            const struct ir_function *f) {
  const struct ir_instances *mark = f->instances;
  if (!mark) return NULL;
  struct ir_instances *copy = arena_alloc(c->to, sizeof *copy);
  copy->params = ir_copy_bytes(c, mark->params, f->param_count * sizeof *mark->params);
  copy->results = ir_copy_bytes(c, mark->results, f->result_count * sizeof *mark->results);
  return copy;
}

static void copy_function(const struct copier *c, struct ir_function *f) {
  f->name = copy_name(c, f->name);
  f->params = ir_copy_bytes(c, f->params, f->param_count * sizeof *f->params);
  f->unused = ir_copy_bytes(c, f->unused, f->param_count * sizeof *f->unused);
  f->result_kinds = kinds(c, f->result_kinds, f->result_count);
  f->vars = kinds(c, f->vars, f->var_count);
  f->body = ir_copy_block(c, f->body);
  f->instances = instances(c, f);
}

/* ---- superoperators ---- */

/* Returns NULL if the superoperator cannot be completed. */
static const struct superop *copy_superop(const struct copier *c, const struct superop *op) {
  struct superop *copy = arena_alloc(c->to, sizeof *copy);
  const char *why;
  uint32_t node;
  *copy = (struct superop){.number = op->number,
                           .param_count = op->param_count,
                           .node_count = op->node_count,
                           .output_count = op->output_count};
  copy->params = ir_copy_bytes(c, op->params, op->param_count);
  copy->nodes = ir_copy_bytes(c, op->nodes, op->node_count * sizeof *op->nodes);
  copy->outputs = ir_copy_bytes(c, op->outputs, op->output_count * sizeof *op->outputs);
  for (uint32_t i = 0; i < op->node_count; i++) {
    struct superop_node *x = &copy->nodes[i];
    if (x->text) x->text = arena_copy(c->to, x->text, x->text_length);
  }
  return superop_complete(c->to, copy, &why, &node) ? copy : NULL;
}

static bool superops(const struct copier *c, struct ir_program *p) {
  const struct superop **list = arena_alloc(c->to, p->superop_count * sizeof *list);
  for (uint32_t i = 0; i < p->superop_count; i++) {
    list[i] = copy_superop(c, p->superops[i]);
    if (!list[i]) return false;
  }
  p->superops = list;
  return true;
}

/* ---- programs ---- */

static bool are_base(const struct ir_kind *const *list, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (list[i]->tag > IR_SEGDES) return false;
  }
  return true;
}

static bool can_copy(const struct ir_program *p) {
  for (uint32_t i = 0; i < p->function_count; i++) {
    const struct ir_function *f = &p->functions[i];
    if (!f->typed || f->stack || !are_base(f->vars, f->var_count)) return false;
    if (!are_base(f->result_kinds, f->result_count)) return false;
  }
  return !p->vcode;
}

struct ir_program *ir_copy(struct arena *to, const struct ir_program *program,
                           const struct arena *from) {
  const struct copier c = {to, from};
  if (!can_copy(program)) return NULL;
  struct ir_program *p = ir_copy_bytes(&c, program, sizeof *program);
  p->functions = ir_copy_bytes(&c, p->functions, p->function_count * sizeof *p->functions);
  for (uint32_t i = 0; i < p->function_count; i++) copy_function(&c, &p->functions[i]);
  origin_table_init(&p->origins, to, &program->origins);
  if (p->entry_layout) {
    const uint32_t count = p->functions[p->entry].param_count;
    p->entry_layout = ir_copy_bytes(&c, p->entry_layout, count * sizeof *p->entry_layout);
  }
  return superops(&c, p) ? p : NULL;
}
