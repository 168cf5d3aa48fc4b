/* copies.c - makes random superoperators of copies: see copies.h. Results are numbered from
 * RESULTS on, since parameters are still being added.
 */
#include "cvl/suite/copies.h"

#include <string.h>

enum { RESULTS = 1000 };

struct builder {
  struct suite *s;
  struct superop_case *c;
  enum superop_kind kind; /* kind of the elements */
  uint32_t params, nodes;
  uint32_t other; /* a scatter that is not the last, or NO_PARAM */
};

static bool copies_chance(struct builder *m, uint64_t n) {
  return rng_one_in(&m->s->rng, n);
}

static uint32_t suite_copies_param(struct builder *m, enum superop_kind kind) {
  m->c->params[m->params] = (uint8_t)kind;
  m->c->recipes[m->params] = (struct recipe){.flags = SUPEROP_NONE};
  return m->params++;
}

static uint32_t copies_node(struct builder *m, uint32_t op, enum type_word type, uint32_t n,
                            const uint32_t *operands) {
  struct superop_node *x = &m->c->nodes[m->nodes];
  *x = (struct superop_node){.op = (uint16_t)op,
                             .type = (uint8_t)type,
                             .checked = m->c->wild || copies_chance(m, 2),
                             .operand_count = (uint8_t)n};
  for (uint32_t i = 0; i < n; i++) x->operands[i] = operands[i];
  return RESULTS + m->nodes++;
}

#define OPERANDS(...)                                                                          \
  (const uint32_t[]) {                                                                         \
    __VA_ARGS__                                                                                \
  }

static uint32_t suite_copies_constant(struct builder *m, enum superop_kind kind, int64_t x) {
  const uint32_t result = copies_node(m, OPC_CONST, (enum type_word)kind, 0, NULL);
  struct cvl_value *c = &m->c->nodes[m->nodes - 1].constant;
  switch (kind) {
  case SUPEROP_INT: *c = cvl_scalar_int(m->s->int_elem, x); break;
  case SUPEROP_FLOAT: *c = cvl_scalar_float(m->s->float_elem, (double)x); break;
  case SUPEROP_BOOL:
  case SUPEROP_SEGDES: *c = cvl_scalar_bool(x != 0); break;
  }
  return result;
}

/* Adds a constant spread over the positions of a descriptor with one segment. */
static uint32_t copies_spread(struct builder *m, enum superop_kind kind, int64_t x,
                              uint32_t over) {
  const uint32_t c = suite_copies_constant(m, kind, x);
  return copies_node(m, OPC_DIST, (enum type_word)kind, 2, OPERANDS(c, over));
}

/* Adds the INDEX of runs. Its stride is a parameter, or 1. */
static uint32_t index_node(struct builder *m, struct copies_index *x, uint32_t each) {
  x->start = suite_copies_param(m, SUPEROP_INT);
  x->stride = copies_chance(m, 3) ? suite_copies_param(m, SUPEROP_INT) : NO_PARAM;
  const uint32_t stride =
      x->stride == NO_PARAM ? copies_spread(m, SUPEROP_INT, 1, each) : x->stride;
  return copies_node(m, OPC_INDEX, TW_NONE, 3, OPERANDS(x->start, stride, x->runs));
}

/* Adds the values of an input. */
static uint32_t values(struct builder *m, const struct copies_target *target,
                       struct copies_input *p, uint32_t inner) {
  p->values = NO_PARAM;
  p->gathered = false;
  if (inner != NO_PARAM) return inner;
  p->values = suite_copies_param(m, m->kind);
  if (copies_chance(m, 2)) return p->values;
  p->gathered = true;
  p->reads_previous = target->previous != NO_PARAM && copies_chance(m, 4);
  if (p->reads_previous)
    m->c->recipes[p->values] = (struct recipe){DATA_ALIAS, target->previous, 0, SUPEROP_NONE};
  p->source = suite_copies_param(m, SUPEROP_SEGDES);
  p->positions = copies_chance(m, 4) ? suite_copies_param(m, SUPEROP_SEGDES) : NO_PARAM;
  p->own_runs = copies_chance(m, 4);
  p->from.runs = p->own_runs ? suite_copies_param(m, SUPEROP_SEGDES) : p->to.runs;
  p->own_each = p->own_runs ? suite_copies_param(m, SUPEROP_SEGDES) : p->each;
  const uint32_t i = index_node(m, &p->from, p->own_each);
  return copies_node(
      m, OPC_BPERMUTE, (enum type_word)m->kind, 4,
      OPERANDS(p->values, i, p->source, p->positions == NO_PARAM ? p->near : p->positions));
}

/* Adds the vector that the first input is written over. NO_PARAM: an FPERMUTE writes zeros. */
static uint32_t background(struct builder *m, struct copies_target *target) {
  const bool is_zero = copies_chance(m, 2);
  target->previous = is_zero ? NO_PARAM : suite_copies_param(m, m->kind);
  if (!is_zero) return target->previous;
  if (target->groups == NO_PARAM)
    return copies_chance(m, 2) ? NO_PARAM : copies_spread(m, m->kind, 0, target->far);
  const uint32_t zeros = copies_spread(m, m->kind, 0, target->groups);
  return copies_node(m, OPC_DIST, (enum type_word)m->kind, 2, OPERANDS(zeros, target->far));
}

/* Adds an input that is written over `before`. */
static uint32_t add_input(struct builder *m, const struct copies_target *target,
                          struct copies_input *p, uint32_t inner, uint32_t before) {
  const enum type_word type = (enum type_word)m->kind;
  p->near = target->permutes ? target->far : suite_copies_param(m, SUPEROP_SEGDES);
  p->to.runs = suite_copies_param(m, SUPEROP_SEGDES);
  p->each = suite_copies_param(m, SUPEROP_SEGDES);
  const uint32_t v = values(m, target, p, inner), i = index_node(m, &p->to, p->each);
  if (target->permutes) return copies_node(m, OPC_PERMUTE, type, 3, OPERANDS(v, i, p->near));
  if (before != NO_PARAM)
    return copies_node(m, OPC_DPERMUTE, type, 5, OPERANDS(v, i, before, p->near, target->far));
  const uint32_t flags = copies_spread(m, SUPEROP_BOOL, !copies_chance(m, 12), p->near);
  return copies_node(m, OPC_FPERMUTE, type, 5, OPERANDS(v, i, flags, p->near, target->far));
}

static uint32_t add_target(struct builder *m, struct copies_target *target, uint32_t most,
                           uint32_t inner) {
  target->permutes = copies_chance(m, 6);
  target->far = suite_copies_param(m, SUPEROP_SEGDES);
  target->groups = copies_chance(m, 2) ? suite_copies_param(m, SUPEROP_SEGDES) : NO_PARAM;
  target->count = target->permutes ? 1 : 1 + (uint32_t)rng_below(&m->s->rng, most);
  target->previous = NO_PARAM;
  uint32_t result = target->permutes ? NO_PARAM : background(m, target);
  for (uint32_t i = 0; i < target->count; i++) {
    if (i > 0 && copies_chance(m, 8)) m->other = result;
    result = add_input(m, target, &target->inputs[i], i == 0 ? inner : NO_PARAM, result);
  }
  return result;
}

bool superop_copies_make(struct suite *s, struct arena *arena, const struct mixture *mix,
                         struct superop_case *c) {
  *c = (struct superop_case){.wild = mix->wild};
  struct builder m = {
      .s = s, .c = c, .other = NO_PARAM, .kind = (enum superop_kind)rng_below(&s->rng, 3)};
  c->copies = arena_alloc(arena, sizeof *c->copies);
  const bool nested = rng_one_in(&s->rng, 3);
  c->copies->count = nested ? 2 : 1;
  uint32_t result = NO_PARAM;
  if (nested) result = add_target(&m, &c->copies->targets[0], COPIES_INPUTS - 1, NO_PARAM);
  result = add_target(&m, &c->copies->targets[nested], COPIES_INPUTS, result);
  for (uint32_t k = 0; k < m.nodes; k++) {
    for (uint32_t i = 0; i < c->nodes[k].operand_count; i++) {
      uint32_t *v = &c->nodes[k].operands[i];
      if (*v >= RESULTS) *v += m.params - RESULTS;
    }
  }
  c->outputs[0] = result + m.params - RESULTS;
  c->outputs[1] = m.other + m.params - RESULTS;
  c->op = (struct superop){.param_count = m.params,
                           .node_count = m.nodes,
                           .output_count = m.other == NO_PARAM ? 1 : 2,
                           .params = c->params,
                           .nodes = c->nodes,
                           .outputs = c->outputs};
  /* a scatter whose result is not used, so that it only checks */
  if (mix->wild && m.other == NO_PARAM && copies_chance(&m, 6)) {
    c->op.output_count = 0;
    c->nodes[m.nodes - 1].checked = true;
  }
  const char *why;
  uint32_t node_at_fault;
  if (superop_complete(arena, &c->op, &why, &node_at_fault)) return true;
  suite_fail(s, "superop_complete refuses node %u: %s", node_at_fault, why ? why : "no memory");
  superop_case_print(c, s->options->out);
  return false;
}
