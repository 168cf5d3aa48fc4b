/* random-superop.c - see random-superop.h. */
#include "cvl-cpu/tests/random-superop.h"

#include <criterion/criterion.h>
#include <string.h>

const uint8_t param_kinds[PARAMS] = {
    SUPEROP_SEGDES, SUPEROP_SEGDES, SUPEROP_SEGDES, SUPEROP_SEGDES, SUPEROP_SEGDES,
    SUPEROP_INT,    SUPEROP_INT,    SUPEROP_FLOAT,  SUPEROP_FLOAT,  SUPEROP_BOOL,
    SUPEROP_INT,    SUPEROP_FLOAT,  SUPEROP_BOOL,   SUPEROP_INT,    SUPEROP_FLOAT,
    SUPEROP_INT,    SUPEROP_INT,    SUPEROP_FLOAT,  SUPEROP_INT,    SUPEROP_INT,
    SUPEROP_INT,    SUPEROP_INT,    SUPEROP_INT,    SUPEROP_INT,    SUPEROP_INT,
    SUPEROP_SEGDES, SUPEROP_FLOAT};

/* ---- nodes ---- */

uint32_t builder_add(struct builder *m, enum opcode op, enum type_word type, unsigned count,
                     const uint32_t *operands) {
  if (opcode_info(op)->types == NO_TYPE && op != OPC_CONST) type = TW_NONE;
  struct superop_node *n = &m->nodes[m->node_count++];
  *n = (struct superop_node){.op = (uint16_t)op, .type = (uint8_t)type, .checked = true};
  n->operand_count = (uint8_t)count;
  memcpy(n->operands, operands, count * sizeof *operands);
  return m->value_count++;
}

/* Returns a value of this kind that has an element for every position. */
static uint32_t random_superop_some(struct builder *m, enum superop_kind kind) {
  uint32_t found[MOST_VALUES], count = 0;
  for (uint32_t i = 0; i < m->value_count; i++) {
    if (m->elementwise[i] && m->kinds[i] == kind) found[count++] = i;
  }
  /* Recent values are more frequent, so that expressions are deep. */
  const uint32_t a = (uint32_t)below(m->r, count), b = (uint32_t)below(m->r, count);
  return found[a > b ? a : b];
}

static void made(struct builder *m, uint32_t value, enum superop_kind kind) {
  m->kinds[value] = (uint8_t)kind;
  m->elementwise[value] = true;
}

static enum type_word random_superop_word_of(enum superop_kind kind) {
  return kind == SUPEROP_INT ? TW_INT : kind == SUPEROP_FLOAT ? TW_FLOAT : TW_BOOL;
}

static void add_producer(struct builder *m) {
  struct random *r = m->r;
  static const uint32_t far[] = {P_FAR_INT, P_FAR_FLOAT, P_FAR_BOOL};
  const enum superop_kind kind = (enum superop_kind)below(r, 3);
  uint32_t v;
  enum { FIRST_DIST = 1, DISTS = 3, WAYS = 10 };
  switch (r->long_sums && below(r, 2) ? FIRST_DIST + below(r, DISTS) : below(r, WAYS)) {
  case 0:
    v = builder_add(m, OPC_CONST, TW_INT, 0, (uint32_t[]){0});
    m->nodes[m->node_count - 1].constant =
        below(r, 2) ? cvl_scalar_int(m->int_elem, (int64_t)below(r, 9) - 2)
                    : cvl_scalar_float(m->float_elem, 0.5 * (double)below(r, 9));
    m->kinds[v] =
        m->nodes[m->node_count - 1].constant.elem == m->int_elem ? SUPEROP_INT : SUPEROP_FLOAT;
    m->nodes[m->node_count - 1].type =
        (uint8_t)random_superop_word_of((enum superop_kind)m->kinds[v]);
    m->elementwise[v] = false;
    made(m,
         builder_add(m, OPC_DIST, random_superop_word_of(m->kinds[v]), 2,
                     (uint32_t[]){v, P_WHOLE}),
         m->kinds[v]);
    return;
  case 1:
    made(m, builder_add(m, OPC_DIST, TW_INT, 2, (uint32_t[]){P_EACH_INT, P_MAIN}), SUPEROP_INT);
    return;
  case 2:
    made(m, builder_add(m, OPC_DIST, TW_FLOAT, 2, (uint32_t[]){P_EACH_FLOAT, P_MAIN}),
         SUPEROP_FLOAT);
    return;
  case 3:
    made(m, builder_add(m, OPC_DIST, TW_FLOAT, 2, (uint32_t[]){P_OTHER_FLOAT, P_OTHER}),
         SUPEROP_FLOAT);
    return;
  case 4: {
    v = builder_add(m, OPC_INDEX, TW_NONE, 3, (uint32_t[]){P_ONE_INT, P_ONE_STRIDE, P_WHOLE});
    made(m, v, SUPEROP_INT);
    if (below(r, 3) == 0) return;
    made(m,
         builder_add(m, OPC_BPERMUTE, random_superop_word_of(kind), 4,
                     (uint32_t[]){far[kind], v, P_FAR, P_WHOLE}),
         kind);
    return;
  }
  case 5:
    v = below(r, 8) ? P_INDEX : random_superop_some(m, SUPEROP_INT);
    made(m,
         builder_add(m, OPC_BPERMUTE, random_superop_word_of(kind), 4,
                     (uint32_t[]){far[kind], v, P_SOURCE, P_MAIN}),
         kind);
    return;
  case 6:
    v = below(r, 8) ? P_INDEX : random_superop_some(m, SUPEROP_INT);
    made(m,
         builder_add(m, OPC_BFPERMUTE, random_superop_word_of(kind), 5,
                     (uint32_t[]){far[kind], v, random_superop_some(m, SUPEROP_BOOL), P_SOURCE,
                                  P_MAIN}),
         kind);
    return;
  case 8:
    made(m, builder_add(m, OPC_INDEX, TW_NONE, 3, (uint32_t[]){P_EACH_INT, P_EACH_INT, P_MAIN}),
         SUPEROP_INT);
    return;
  case 7:
    v = below(r, 8) ? P_PICKED : random_superop_some(m, SUPEROP_INT);
    made(m, builder_add(m, OPC_EXTRACT, TW_FLOAT, 3, (uint32_t[]){P_PICK_FLOAT, v, P_MANY}),
         SUPEROP_FLOAT);
    return;
  default:
    made(m, builder_add(m, OPC_DIST, TW_INT, 2, (uint32_t[]){P_ONE_INT, P_WHOLE}), SUPEROP_INT);
    return;
  }
}

static void add_binary(struct builder *m, enum opcode op, enum superop_kind operands,
                       enum superop_kind result) {
  made(m,
       builder_add(
           m, op, random_superop_word_of(operands), 2,
           (uint32_t[]){random_superop_some(m, operands), random_superop_some(m, operands)}),
       result);
}

static void add_map(struct builder *m) {
  struct random *r = m->r;
  static const enum opcode ints[] = {OPC_ADD, OPC_SUB,    OPC_MUL,
                                     OPC_AND, OPC_LSHIFT, OPC_RSHIFT};
  static const enum opcode floats[] = {OPC_ADD, OPC_SUB, OPC_MUL, OPC_DIV};
  static const enum opcode compare[] = {OPC_LT, OPC_GE, OPC_EQ};
  static const enum opcode unary[] = {OPC_SQRT, OPC_EXP, OPC_SIN};
  const enum superop_kind kind = (enum superop_kind)below(r, 3);
  switch (below(r, 10)) {
  case 0:
  case 1: add_binary(m, ints[below(r, 6)], SUPEROP_INT, SUPEROP_INT); return;
  case 2:
  case 3: add_binary(m, floats[below(r, 4)], SUPEROP_FLOAT, SUPEROP_FLOAT); return;
  case 4:
  case 5:
    add_binary(m, compare[below(r, 3)], below(r, 2) ? SUPEROP_INT : SUPEROP_FLOAT,
               SUPEROP_BOOL);
    return;
  case 6:
    made(m,
         builder_add(m, OPC_SELECT, random_superop_word_of(kind), 3,
                     (uint32_t[]){random_superop_some(m, SUPEROP_BOOL),
                                  random_superop_some(m, kind), random_superop_some(m, kind)}),
         kind);
    return;
  case 7:
    made(m,
         builder_add(m, unary[below(r, 3)], TW_NONE, 1,
                     (uint32_t[]){random_superop_some(m, SUPEROP_FLOAT)}),
         SUPEROP_FLOAT);
    return;
  case 8:
    made(m,
         builder_add(m, OPC_I_TO_F, TW_NONE, 1,
                     (uint32_t[]){random_superop_some(m, SUPEROP_INT)}),
         SUPEROP_FLOAT);
    return;
  default:
    made(
        m,
        builder_add(m, OPC_NOT, TW_BOOL, 1, (uint32_t[]){random_superop_some(m, SUPEROP_BOOL)}),
        SUPEROP_BOOL);
    return;
  }
}

/* Adds flags that are nearly always all T. */
static uint32_t all_flags(struct builder *m) {
  const uint32_t all = builder_add(m, OPC_CONST, TW_BOOL, 0, (uint32_t[]){0});
  m->nodes[m->node_count - 1].constant = cvl_scalar_bool(below(m->r, 8) > 0);
  m->kinds[all] = SUPEROP_BOOL;
  m->elementwise[all] = false;
  const uint32_t flags = builder_add(m, OPC_DIST, TW_BOOL, 2, (uint32_t[]){all, P_WHOLE});
  made(m, flags, SUPEROP_BOOL);
  return flags;
}

/* Writes v from some position of P_FAR on, among other elements or zeros. */
static uint32_t add_concatenation(struct builder *m, enum superop_kind kind, uint32_t v) {
  static const uint32_t far[] = {P_FAR_INT, P_FAR_FLOAT, P_FAR_BOOL};
  const uint32_t index =
      builder_add(m, OPC_INDEX, TW_NONE, 3, (uint32_t[]){P_ONE_INT, P_ONE_STRIDE, P_WHOLE});
  if (below(m->r, 3) == 0) made(m, index, SUPEROP_INT); /* sometimes it has other uses too */
  if (below(m->r, 2)) {
    return builder_add(m, OPC_DPERMUTE, random_superop_word_of(kind), 5,
                       (uint32_t[]){v, index, far[kind], P_WHOLE, P_FAR});
  }
  const uint32_t flags = all_flags(m);
  return builder_add(m, OPC_FPERMUTE, random_superop_word_of(kind), 5,
                     (uint32_t[]){v, index, flags, P_WHOLE, P_FAR});
}

/* Adds a DPERMUTE, or FPERMUTE with all flags T, by an INDEX. Its runs are the segments, or
 * there is one run, of one segment or across all. */
static uint32_t add_runs(struct builder *m, uint32_t v, enum superop_kind kind) {
  struct random *r = m->r;
  const uint32_t far[] = {P_FAR_INT, P_FAR_FLOAT, P_FAR_BOOL};
  const bool one = below(r, 3) == 0, whole = one || below(r, 3) == 0;
  const uint32_t runs[] = {one ? P_ONE_INT : P_RUN_START, one ? P_ONE_STRIDE : P_RUN_STRIDE,
                           one ? P_WHOLE : P_MAIN};
  const uint32_t index = builder_add(m, OPC_INDEX, TW_NONE, 3, runs);
  m->kinds[index] = SUPEROP_INT;
  m->elementwise[index] = below(r, 4) == 0;
  const uint32_t near = whole ? P_WHOLE : P_MAIN, to = whole ? P_FAR : P_SOURCE;
  if (below(r, 2)) {
    const uint32_t flags = all_flags(m);
    return builder_add(m, OPC_FPERMUTE, random_superop_word_of(kind), 5,
                       (uint32_t[]){v, index, flags, near, to});
  }
  return builder_add(m, OPC_DPERMUTE, random_superop_word_of(kind), 5,
                     (uint32_t[]){v, index, far[kind], near, to});
}

static void add_consumer(struct builder *m) {
  struct random *r = m->r;
  static const enum opcode numbers[] = {OPC_ADD_REDUCE, OPC_MUL_REDUCE, OPC_MAX_REDUCE,
                                        OPC_ADD_SCAN,   OPC_MUL_SCAN,   OPC_MIN_SCAN};
  const bool all = !r->long_sums;
  static const enum opcode flags[] = {OPC_AND_REDUCE, OPC_OR_REDUCE, OPC_XOR_SCAN,
                                      OPC_AND_SCAN};
  const enum superop_kind kind = (enum superop_kind)below(r, 3);
  const uint32_t v = random_superop_some(m, kind);
  const enum type_word word = random_superop_word_of(kind);
  uint32_t out;
  switch (all ? below(r, 9) : 0) {
  case 0:
  case 1:
  case 2:
    out = builder_add(
        m, kind == SUPEROP_BOOL ? flags[below(r, all ? 4 : 2)] : numbers[below(r, all ? 6 : 3)],
        word, 2, (uint32_t[]){v, P_MAIN});
    break;
  case 3:
  case 4:
    out = builder_add(m, OPC_PACK, word, 3,
                      (uint32_t[]){v, random_superop_some(m, SUPEROP_BOOL), P_MAIN});
    m->kinds[out] = (uint8_t)kind;
    m->value_count++;
    if (below(r, 3)) m->outputs[m->output_count++] = out;
    if (below(r, 3)) m->outputs[m->output_count++] = out + 1;
    return;
  case 5: {
    const uint32_t index = below(r, 8) ? P_PERMUTED : random_superop_some(m, SUPEROP_INT);
    out = builder_add(m, OPC_PERMUTE, word, 3, (uint32_t[]){v, index, P_MAIN});
    if (below(r, 2)) break;
    m->kinds[out] = (uint8_t)kind; /* and another vector by the same index */
    m->outputs[m->output_count++] = out;
    out = builder_add(m, OPC_PERMUTE, word, 3,
                      (uint32_t[]){random_superop_some(m, kind), index, P_MAIN});
    break;
  }
  case 6:
  case 7: out = below(r, 2) ? add_concatenation(m, kind, v) : add_runs(m, v, kind); break;
  default: {
    const uint32_t far[] = {P_FAR_INT, P_FAR_FLOAT, P_FAR_BOOL};
    out = builder_add(m, OPC_DFPERMUTE, word, 6,
                      (uint32_t[]){v, P_INDEX, random_superop_some(m, SUPEROP_BOOL), far[kind],
                                   P_MAIN, P_SOURCE});
    break;
  }
  }
  m->kinds[out] = (uint8_t)kind;
  m->outputs[m->output_count++] = out;
}

/* ---- stencils: gathers whose indices are arithmetic on positions ---- */

static uint32_t random_superop_number(struct builder *m, int64_t x) {
  const uint32_t v = builder_add(m, OPC_CONST, TW_INT, 0, (uint32_t[]){0});
  m->nodes[m->node_count - 1].constant = cvl_scalar_int(m->int_elem, x);
  m->kinds[v] = SUPEROP_INT;
  return v;
}

static uint32_t random_superop_spread(struct builder *m, int64_t x) {
  return builder_add(m, OPC_DIST, TW_INT, 2,
                     (uint32_t[]){random_superop_number(m, x), P_WHOLE});
}

static uint32_t random_superop_two(struct builder *m, enum opcode op, uint32_t a, uint32_t b) {
  return builder_add(m, op, TW_INT, 2, (uint32_t[]){a, b});
}

static uint32_t select_int(struct builder *m, uint32_t flag, uint32_t a, uint32_t b) {
  return builder_add(m, OPC_SELECT, TW_INT, 3, (uint32_t[]){flag, a, b});
}

/* Returns a number about as large as an index of n positions, or a small one. */
int64_t random_bound(struct random *r, uint64_t n) {
  return (int64_t)below(r, below(r, 2) ? n : 9) - (below(r, 6) == 0);
}

/* Returns x shifted, rotated, or replaced by another value from some bound on. */
static uint32_t vary(struct builder *m, uint32_t x, uint32_t last, uint64_t n) {
  static const enum opcode compare[] = {OPC_LT, OPC_LE, OPC_GT, OPC_GE, OPC_EQ, OPC_NE};
  struct random *r = m->r;
  const uint32_t c = random_superop_spread(m, random_bound(r, n));
  switch (below(r, 8)) {
  case 0: return random_superop_two(m, OPC_ADD, x, c);
  case 1: return random_superop_two(m, OPC_SUB, x, c);
  case 2: return random_superop_two(m, OPC_SUB, last, x);
  case 3:
    return random_superop_two(m, below(r, 3) ? OPC_MOD : OPC_DIV, x,
                              random_superop_spread(m, 1 + (int64_t)below(r, n)));
  case 4:
    return random_superop_two(m, OPC_MUL, x, random_superop_spread(m, random_bound(r, 3)));
  case 5: { /* a rotation */
    const uint32_t back = random_superop_two(m, OPC_SUB, x, c);
    return select_int(m, random_superop_two(m, OPC_LT, x, c),
                      random_superop_two(m, OPC_ADD, back, last), back);
  }
  case 6: {
    const uint32_t a = random_superop_two(m, compare[below(r, 6)], x, c);
    const uint32_t b = random_superop_two(m, compare[below(r, 6)],
                                          random_superop_spread(m, random_bound(r, n)), x);
    const uint32_t both =
        builder_add(m, below(r, 2) ? OPC_AND : OPC_OR, TW_BOOL, 2, (uint32_t[]){a, b});
    return select_int(m, both, random_superop_two(m, OPC_ADD, x, c), x);
  }
  default: {
    const uint32_t flag = random_superop_two(m, compare[below(r, 6)], x, c);
    return select_int(m, builder_add(m, OPC_NOT, TW_BOOL, 1, (uint32_t[]){flag}), x, c);
  }
  }
}

/* There are n positions in all, and `reach` in the source of the gather. Indices are mostly
 * kept in range. */
static void add_stencil(struct builder *m, uint64_t n, uint64_t reach) {
  struct random *r = m->r;
  const bool whole = below(r, 2);
  const uint32_t i = whole ? builder_add(m, OPC_INDEX, TW_NONE, 3,
                                         (uint32_t[]){random_superop_number(m, 0),
                                                      random_superop_number(m, 1), P_WHOLE})
                           : builder_add(m, OPC_INDEX, TW_NONE, 3,
                                         (uint32_t[]){P_EACH_INT, P_EACH_ONE, P_MAIN});
  const uint32_t last =
      whole ? random_superop_spread(m, (int64_t)reach - 1)
            : builder_add(m, OPC_DIST, TW_INT, 2, (uint32_t[]){P_EACH_LAST, P_MAIN});
  const uint32_t zero = random_superop_spread(m, 0);
  uint32_t sum = P_FLOAT;
  for (uint64_t gathers = 1 + below(r, 3); gathers > 0; gathers--) {
    uint32_t x = i;
    for (uint64_t steps = below(r, 4); steps > 0; steps--) x = vary(m, x, last, n);
    if (below(r, 12) > 0) {
      x = select_int(m, random_superop_two(m, OPC_LT, x, zero), zero, x);
      x = select_int(m, random_superop_two(m, OPC_GT, x, last), last, x);
    }
    if (below(r, 6) == 0) made(m, x, SUPEROP_INT); /* sometimes it has other uses too */
    const uint32_t found = builder_add(
        m, OPC_BPERMUTE, TW_FLOAT, 4,
        (uint32_t[]){P_FAR_FLOAT, x, whole ? P_FAR : P_SOURCE, whole ? P_WHOLE : P_MAIN});
    made(m, found, SUPEROP_FLOAT);
    sum = builder_add(m, OPC_ADD, TW_FLOAT, 2, (uint32_t[]){sum, found});
    made(m, sum, SUPEROP_FLOAT);
  }
}

struct superop *random_superop(struct random *r, struct arena *a, enum cvl_elem ie,
                               enum cvl_elem fe, uint64_t n, uint64_t reach) {
  struct builder m = {.r = r, .value_count = PARAMS, .int_elem = ie, .float_elem = fe};
  memcpy(m.kinds, param_kinds, sizeof param_kinds);
  for (uint32_t p = P_INT; p <= P_BOOL; p++) m.elementwise[p] = true;
  m.elementwise[P_INDEX] = true;
  const uint64_t steps = 1 + below(r, r->long_sums ? 18 : 9),
                 consumers = below(r, 4) + r->long_sums;
  if (n > 0 && below(r, 2)) add_stencil(&m, n, reach);
  for (uint64_t i = 0; i < steps; i++) {
    if (below(r, 3) == 0) {
      add_producer(&m);
    } else {
      add_map(&m);
    }
  }
  for (uint32_t v = PARAMS; v < m.value_count; v++) {
    if (m.elementwise[v] &&
        (below(r, r->long_sums ? 16 : 4) == 0 || (consumers == 0 && v + 1 == m.value_count))) {
      m.outputs[m.output_count++] = v;
    }
  }
  for (uint64_t i = 0; i < consumers; i++) add_consumer(&m);
  if (m.output_count == 0) return NULL;
  struct superop *op = arena_alloc(a, sizeof *op);
  *op = (struct superop){.param_count = PARAMS,
                         .node_count = m.node_count,
                         .output_count = m.output_count,
                         .params = param_kinds};
  op->nodes = arena_alloc(a, m.node_count * sizeof *op->nodes);
  memcpy(op->nodes, m.nodes, m.node_count * sizeof *op->nodes);
  uint32_t *outputs = arena_alloc(a, m.output_count * sizeof *outputs);
  memcpy(outputs, m.outputs, m.output_count * sizeof *outputs);
  op->outputs = outputs;
  const char *why;
  uint32_t node;
  cr_assert(superop_complete(a, op, &why, &node), "node %u: %s", node, why);
  return op;
}
