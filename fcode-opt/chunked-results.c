/* chunked-results.c - lifted functions made of superoperators whose results the program
 * ends with.
 *
 * A superoperator that computes each element of a result from the elements of its operands at
 * the same position never has other elements in memory, and so instances.c does not keep a call
 * for it. But where results leave memory as they are computed (struct machine_sink), the result
 * itself need not be there as a whole. So with the option chunked_results, when everything else
 * is done, each such superoperator, or single elementwise operation, at the end of the entry
 * function becomes the body of a lifted function whose instances are the positions. What
 * fusion has decided stays as it is.
 *
 * Operands are elements of the positions, shared (whole vectors that are gathered from, values
 * that are spread, and their descriptors), or descriptors of one segment that has the
 * positions: in the function its parameter 0. A descriptor of several segments means that
 * positions are not alone, nor are they under an index, a reduction, a scan, a pack or a
 * scatter. Lengths must be proven to agree: that they may not is seen by the superoperator as a
 * whole only. */
#include "fcode-opt/fuse.h"
#include "fcode-opt/passes.h"

#include <string.h>

enum use { UNUSED = 0, POSITIONS = 1, SHARED = 2, DESCRIPTOR = 4 };

struct outline {
  struct opt *o;
  const struct sizes *sizes;
  struct ir_function *entry;
  const struct ir_binding *x; /* at hand */
  uint8_t *uses;              /* of each of its operands: a set of enum use */
};

/* ---- what operands are for ---- */

/* Whether the node has a result at each position that depends on nothing else in the domain. */
static bool is_pointwise(enum superop_role role) {
  switch (role) {
  case ROLE_CONST:
  case ROLE_SPREAD:
  case ROLE_GATHER:
  case ROLE_MAP:
  case ROLE_CARRY:
  case ROLE_WHILE:
  case ROLE_NEXT:
  case ROLE_ASSERT: return true;
  case ROLE_INDEX:
  case ROLE_PICK:
  case ROLE_COLUMN:
  case ROLE_COMBINE_REDUCE:
  case ROLE_COMBINE_SCAN:
  case ROLE_COMBINE_SCATTER:
  case ROLE_REDUCE:
  case ROLE_SCAN:
  case ROLE_PACK:
  case ROLE_SCATTER: break;
  }
  return false;
}

/* Returns the use of an operand with this access. A gather has two descriptors: that of its
 * source first. */
static enum use use_of(char access, bool of_source) {
  if (access == 'd') return POSITIONS;
  if (access == 's') return of_source ? SHARED : DESCRIPTOR;
  return SHARED;
}

static bool outline_note_node(struct outline *l, const struct superop *op,
                              const struct superop_node *node) {
  enum superop_role role;
  const char *access = superop_access(node->op, &role);
  bool of_source = node->role == ROLE_GATHER;
  if (!access || !is_pointwise((enum superop_role)node->role)) return false;
  for (uint32_t k = 0; k < node->operand_count; k++) {
    const uint32_t v = node->operands[k];
    if (v < op->param_count) l->uses[v] |= (uint8_t)use_of(access[k], of_source);
    if (access[k] == 's') of_source = false;
  }
  return true;
}

static bool note_superop(struct outline *l, const struct superop *op) {
  if (op->copies) return false;
  for (uint32_t i = 0; i < op->node_count; i++) {
    if (!outline_note_node(l, op, &op->nodes[i])) return false;
  }
  return true;
}

/* Notes the uses of an elementwise operation. */
static bool note_operation(struct outline *l) {
  enum superop_role role;
  if (!superop_access(l->x->op, &role) || role != ROLE_MAP) return false;
  memset(l->uses, POSITIONS, l->x->operand_count);
  return true;
}

static bool outline_note_uses(struct outline *l) {
  const struct ir_binding *x = l->x;
  if (x->form != IR_OP && x->form != IR_FUSED) return false;
  l->uses = arena_alloc(l->o->scratch, x->operand_count + 1);
  return x->form == IR_OP ? note_operation(l)
                          : note_superop(l, l->o->program->superops[x->as.superop]);
}

/* ---- what is outlined ---- */

static bool is_result(const struct outline *l, ir_var v) {
  const struct ir_block *body = l->entry->body;
  for (uint32_t i = 0; i < body->result_count; i++) {
    if (body->results[i] == v) return true;
  }
  return false;
}

static uint32_t size(const struct outline *l, ir_var v, uint8_t what) {
  return sizes_class(l->sizes, l->o->program->entry, v, what);
}

static int64_t outline_size(const struct outline *l, ir_var v, uint8_t what) {
  return sizes_known(l->sizes, l->o->program->entry, v, what);
}

/* Returns whether an operand has one use, and the size for it. */
static bool operand_fits(const struct outline *l, uint32_t k, uint32_t positions) {
  const ir_var v = l->x->operands[k];
  switch (l->uses[k]) {
  case UNUSED:
  case SHARED: return true;
  case POSITIONS: return size(l, v, SIZE_LEN) == positions;
  case DESCRIPTOR:
    return size(l, v, SIZE_TOTAL) == positions && outline_size(l, v, SIZE_COUNT) == 1;
  default: return false;
  }
}

static bool is_outlined(struct outline *l, const struct ir_binding *x) {
  bool any = false, each = false;
  l->x = x;
  for (uint32_t i = 0; i < x->result_count; i++) any |= is_result(l, x->results[i]);
  if (!any || outline_size(l, x->results[0], SIZE_LEN) >= 0 || !outline_note_uses(l))
    return false;
  const uint32_t positions = size(l, x->results[0], SIZE_LEN);
  for (uint32_t i = 0; i < x->result_count; i++) {
    if (size(l, x->results[i], SIZE_LEN) != positions) return false;
  }
  for (uint32_t k = 0; k < x->operand_count; k++) {
    if (!operand_fits(l, k, positions)) return false;
    each |= l->uses[k] == POSITIONS;
  }
  return each;
}

/* ---- the function ---- */

static ir_var parameter(struct ir_function *f, const struct ir_kind *kind) {
  const ir_var v = f->param_count++;
  f->params[v] = v;
  f->vars[v] = kind;
  f->var_count = f->param_count;
  return v;
}

/* Makes the binding of the body, with parameters for operands. */
static struct ir_binding body_binding(struct outline *l, struct ir_function *f,
                                      uint32_t *mark) {
  const struct ir_binding *x = l->x;
  struct ir_binding y = rewrite_binding(l->o, x->op, x->type, x->operand_count, x->result_count,
                                        x->pos, x->origin);
  y.form = x->form;
  y.as = x->as;
  for (uint32_t k = 0; k < x->operand_count; k++) {
    y.operands[k] = 0;
    if (l->uses[k] == DESCRIPTOR) continue;
    y.operands[k] = parameter(f, l->entry->vars[x->operands[k]]);
    mark[y.operands[k]] = l->uses[k] == POSITIONS ? IR_EACH : IR_SHARED;
  }
  for (uint32_t i = 0; i < x->result_count; i++) {
    y.results[i] = f->var_count;
    f->vars[f->var_count++] = l->entry->vars[x->results[i]];
  }
  return y;
}

static const struct ir_kind *descriptor_kind(void) {
  static const struct ir_kind kind = {.tag = IR_SEGDES};
  return &kind;
}

static const struct name *outlined_name(struct opt *o) {
  static const char text[] = "CHUNKED_RESULT";
  struct name *name = arena_alloc(o->arena, sizeof *name + sizeof text);
  name->length = sizeof text - 1;
  memcpy(name->text, text, sizeof text);
  return name;
}

static void set_results(struct outline *l, struct ir_function *f, const struct ir_binding *y,
                        uint32_t *mark) {
  f->result_count = y->result_count;
  f->result_kinds = arena_alloc(l->o->arena, y->result_count * sizeof *f->result_kinds);
  rewrite_yield(l->o, f->body, y->result_count);
  for (uint32_t i = 0; i < y->result_count; i++) {
    f->result_kinds[i] = f->vars[y->results[i]];
    f->body->results[i] = y->results[i];
    mark[i] = IR_EACH;
  }
}

static struct ir_function make_function(struct outline *l) {
  struct arena *a = l->o->arena;
  const uint32_t most = l->x->operand_count + 1, vars = most + l->x->result_count;
  uint32_t *params = arena_alloc(a, most * sizeof *params);
  uint32_t *results = arena_alloc(a, l->x->result_count * sizeof *results);
  struct ir_instances *mark = arena_alloc(a, sizeof *mark);
  struct ir_function f = {.name = outlined_name(l->o),
                          .pos = l->x->pos,
                          .typed = true,
                          .returns = true,
                          .params = arena_alloc(a, most * sizeof *f.params),
                          .unused = arena_alloc(a, most * sizeof *f.unused),
                          .vars = arena_alloc(a, vars * sizeof *f.vars),
                          .body = arena_alloc(a, sizeof *f.body),
                          .instances = mark,
                          .procedure = IR_NO_PROCEDURE};
  params[parameter(&f, descriptor_kind())] = IR_SHARED;
  struct ir_binding *y = arena_alloc(a, sizeof *y);
  *y = body_binding(l, &f, params);
  set_results(l, &f, y, results);
  f.body->bindings = y;
  f.body->count = 1;
  f.body->pos = l->x->pos;
  *mark = (struct ir_instances){params, results};
  return f;
}

void chunked_results_reserve(struct opt *o) {
  const struct ir_function *entry = &o->program->functions[o->program->entry];
  rewrite_reserve(o, entry->typed ? entry->body->count : 0);
}

/* ---- the call ---- */

/* Makes a descriptor of one segment with the positions from their number. */
static ir_var make_descriptor(struct outline *l, struct rewrite_block *b, ir_var elements) {
  static const struct ir_kind integer = {.tag = IR_INT};
  const struct ir_binding *x = l->x;
  const enum ir_kind_tag tag = l->entry->vars[elements]->tag;
  const uint8_t type = tag == IR_INT ? TW_INT : tag == IR_FLOAT ? TW_FLOAT : TW_BOOL;
  struct ir_binding length = rewrite_binding(l->o, OPC_LENGTH, type, 1, 1, x->pos, x->origin);
  struct ir_binding make =
      rewrite_binding(l->o, OPC_MAKE_SEGDES, TW_NONE, 1, 1, x->pos, x->origin);
  length.operands[0] = elements;
  make.operands[0] = length.results[0] = rewrite_var(l->o, l->entry, &integer);
  make.results[0] = rewrite_var(l->o, l->entry, descriptor_kind());
  rewrite_append(l->o, b, &length);
  rewrite_append(l->o, b, &make);
  return make.results[0];
}

static ir_var outline_descriptor(struct outline *l, struct rewrite_block *b) {
  ir_var elements = IR_NO_VAR;
  for (uint32_t k = 0; k < l->x->operand_count; k++) {
    if (l->uses[k] == DESCRIPTOR) return l->x->operands[k];
    if (l->uses[k] == POSITIONS) elements = l->x->operands[k];
  }
  return make_descriptor(l, b, elements);
}

static void append_call(struct outline *l, struct rewrite_block *b) {
  const struct ir_binding *x = l->x;
  const ir_var positions = outline_descriptor(l, b);
  const struct ir_function f = make_function(l);
  struct ir_binding y = rewrite_binding(l->o, 0, 0, f.param_count, x->result_count, x->pos, 0);
  uint32_t count = 0;
  y.form = IR_CALL;
  y.operands[count++] = positions;
  for (uint32_t k = 0; k < x->operand_count; k++) {
    if (l->uses[k] != DESCRIPTOR) y.operands[count++] = x->operands[k];
  }
  memcpy(y.results, x->results, x->result_count * sizeof *y.results);
  y.as.callee = rewrite_add_function(l->o, &f);
  rewrite_append(l->o, b, &y);
}

bool chunked_results(struct opt *o) {
  struct ir_function *entry = &o->program->functions[o->program->entry];
  struct rewrite_block b = {0};
  bool any = false;
  if (!entry->typed || entry->instances || entry->body->end != IR_YIELD) return false;
  struct outline l = {.o = o, .sizes = sizes_compute(o), .entry = entry};
  const struct ir_block body = *entry->body;
  for (uint32_t i = 0; i < body.count; i++) {
    const bool outlined = is_outlined(&l, &body.bindings[i]);
    any |= outlined;
    if (outlined)
      append_call(&l, &b);
    else
      rewrite_append(o, &b, &body.bindings[i]);
  }
  if (any) rewrite_finish(l.entry->body, &b);
  return any;
}
