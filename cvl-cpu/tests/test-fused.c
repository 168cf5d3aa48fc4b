/* test-fused.c - random superoperators: in one pass they must give the bits and the faults of
 * their nodes executed one by one on the same back end. The seed is printed on failure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tests/every.h"
#include "base/tests/memory.h"
#include "cvl-cpu/cpu.h"
#include "cvl-cpu/cvl-cpu.h"
#include "cvl-cpu/fused-plan.h"
#include "cvl-cpu/tests/prepared.h"
#include "cvl/superop.h"
#include "fused-kernels/fused.h"

TestSuite(fused, .init = memory_begin, .fini = memory_end);

/* ---- random numbers ---- */

struct random {
  uint64_t state;
  bool long_sums; /* most segments are longer than a block, and all consumers are reductions */
};

static uint64_t draw(struct random *r) { /* splitmix64 (Vigna) */
  uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

static uint64_t below(struct random *r, uint64_t n) {
  return n ? draw(r) % n : 0;
}

/* ---- parameters: always the same list, so that sizes are known ---- */

enum {
  P_MAIN,    /* SEGDES, total n: of the consumers */
  P_WHOLE,   /* SEGDES, one segment of n */
  P_SOURCE,  /* SEGDES, as many segments as P_MAIN: of gathered vectors, total m */
  P_MANY,    /* SEGDES, n segments: for EXTRACT */
  P_FAR,     /* SEGDES, one segment of m */
  P_INT,     /* n */
  P_INT2,    /* n */
  P_FLOAT,   /* n */
  P_FLOAT2,  /* n */
  P_BOOL,    /* n */
  P_FAR_INT, /* m */
  P_FAR_FLOAT,
  P_FAR_BOOL,
  P_EACH_INT, /* count of P_MAIN */
  P_EACH_FLOAT,
  P_ONE_INT, /* 1 */
  P_ONE_STRIDE,
  P_PICK_FLOAT, /* total of P_MANY */
  P_INDEX,      /* n: into P_SOURCE */
  P_PERMUTED,   /* n: a permutation in each segment of P_MAIN */
  P_PICKED,     /* n: into P_MANY */
  P_EACH_ONE,   /* 1 for each segment of P_MAIN */
  P_EACH_LAST,  /* last index of each segment of P_SOURCE */
  P_RUN_START,  /* for each segment of P_MAIN: an INDEX of P_SOURCE */
  P_RUN_STRIDE,
  P_OTHER,       /* SEGDES, total n: cut elsewhere than P_MAIN */
  P_OTHER_FLOAT, /* count of P_OTHER */
  PARAMS
};

static const uint8_t param_kinds[PARAMS] = {
    SUPEROP_SEGDES, SUPEROP_SEGDES, SUPEROP_SEGDES, SUPEROP_SEGDES, SUPEROP_SEGDES,
    SUPEROP_INT,    SUPEROP_INT,    SUPEROP_FLOAT,  SUPEROP_FLOAT,  SUPEROP_BOOL,
    SUPEROP_INT,    SUPEROP_FLOAT,  SUPEROP_BOOL,   SUPEROP_INT,    SUPEROP_FLOAT,
    SUPEROP_INT,    SUPEROP_INT,    SUPEROP_FLOAT,  SUPEROP_INT,    SUPEROP_INT,
    SUPEROP_INT,    SUPEROP_INT,    SUPEROP_INT,    SUPEROP_INT,    SUPEROP_INT,
    SUPEROP_SEGDES, SUPEROP_FLOAT};

/* ---- a random superoperator ---- */

enum { MOST_NODES = 160, MOST_VALUES = PARAMS + 2 * MOST_NODES };

struct builder {
  struct random *r;
  struct superop_node nodes[MOST_NODES];
  uint32_t node_count, value_count;
  uint8_t kinds[MOST_VALUES];
  bool elementwise[MOST_VALUES]; /* has an element for every position */
  uint32_t outputs[MOST_VALUES];
  uint32_t output_count;
  enum cvl_elem int_elem, float_elem;
};

static uint32_t add(struct builder *m, enum opcode op, enum type_word type, unsigned count,
                    const uint32_t *operands) {
  if (opcode_info(op)->types == NO_TYPE && op != OPC_CONST) type = TW_NONE;
  struct superop_node *n = &m->nodes[m->node_count++];
  *n = (struct superop_node){.op = (uint16_t)op, .type = (uint8_t)type, .checked = true};
  n->operand_count = (uint8_t)count;
  memcpy(n->operands, operands, count * sizeof *operands);
  return m->value_count++;
}

/* A value of this kind with an element for every position. */
static uint32_t some(struct builder *m, enum superop_kind kind) {
  uint32_t found[MOST_VALUES], count = 0;
  for (uint32_t i = 0; i < m->value_count; i++) {
    if (m->elementwise[i] && m->kinds[i] == kind) found[count++] = i;
  }
  /* Late ones are more frequent, so that expressions are deep. */
  const uint32_t a = (uint32_t)below(m->r, count), b = (uint32_t)below(m->r, count);
  return found[a > b ? a : b];
}

static void made(struct builder *m, uint32_t value, enum superop_kind kind) {
  m->kinds[value] = (uint8_t)kind;
  m->elementwise[value] = true;
}

static enum type_word word_of(enum superop_kind kind) {
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
    v = add(m, OPC_CONST, TW_INT, 0, (uint32_t[]){0});
    m->nodes[m->node_count - 1].constant =
        below(r, 2) ? cvl_scalar_int(m->int_elem, (int64_t)below(r, 9) - 2)
                    : cvl_scalar_float(m->float_elem, 0.5 * (double)below(r, 9));
    m->kinds[v] =
        m->nodes[m->node_count - 1].constant.elem == m->int_elem ? SUPEROP_INT : SUPEROP_FLOAT;
    m->nodes[m->node_count - 1].type = (uint8_t)word_of((enum superop_kind)m->kinds[v]);
    m->elementwise[v] = false;
    made(m, add(m, OPC_DIST, word_of(m->kinds[v]), 2, (uint32_t[]){v, P_WHOLE}), m->kinds[v]);
    return;
  case 1:
    made(m, add(m, OPC_DIST, TW_INT, 2, (uint32_t[]){P_EACH_INT, P_MAIN}), SUPEROP_INT);
    return;
  case 2:
    made(m, add(m, OPC_DIST, TW_FLOAT, 2, (uint32_t[]){P_EACH_FLOAT, P_MAIN}), SUPEROP_FLOAT);
    return;
  case 3:
    made(m, add(m, OPC_DIST, TW_FLOAT, 2, (uint32_t[]){P_OTHER_FLOAT, P_OTHER}), SUPEROP_FLOAT);
    return;
  case 4: {
    v = add(m, OPC_INDEX, TW_NONE, 3, (uint32_t[]){P_ONE_INT, P_ONE_STRIDE, P_WHOLE});
    made(m, v, SUPEROP_INT);
    if (below(r, 3) == 0) return;
    made(m, add(m, OPC_BPERMUTE, word_of(kind), 4, (uint32_t[]){far[kind], v, P_FAR, P_WHOLE}),
         kind);
    return;
  }
  case 5:
    v = below(r, 8) ? P_INDEX : some(m, SUPEROP_INT);
    made(m,
         add(m, OPC_BPERMUTE, word_of(kind), 4, (uint32_t[]){far[kind], v, P_SOURCE, P_MAIN}),
         kind);
    return;
  case 6:
    v = below(r, 8) ? P_INDEX : some(m, SUPEROP_INT);
    made(m,
         add(m, OPC_BFPERMUTE, word_of(kind), 5,
             (uint32_t[]){far[kind], v, some(m, SUPEROP_BOOL), P_SOURCE, P_MAIN}),
         kind);
    return;
  case 8:
    made(m, add(m, OPC_INDEX, TW_NONE, 3, (uint32_t[]){P_EACH_INT, P_EACH_INT, P_MAIN}),
         SUPEROP_INT);
    return;
  case 7:
    v = below(r, 8) ? P_PICKED : some(m, SUPEROP_INT);
    made(m, add(m, OPC_EXTRACT, TW_FLOAT, 3, (uint32_t[]){P_PICK_FLOAT, v, P_MANY}),
         SUPEROP_FLOAT);
    return;
  default:
    made(m, add(m, OPC_DIST, TW_INT, 2, (uint32_t[]){P_ONE_INT, P_WHOLE}), SUPEROP_INT);
    return;
  }
}

static void add_binary(struct builder *m, enum opcode op, enum superop_kind operands,
                       enum superop_kind result) {
  made(m, add(m, op, word_of(operands), 2, (uint32_t[]){some(m, operands), some(m, operands)}),
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
         add(m, OPC_SELECT, word_of(kind), 3,
             (uint32_t[]){some(m, SUPEROP_BOOL), some(m, kind), some(m, kind)}),
         kind);
    return;
  case 7:
    made(m, add(m, unary[below(r, 3)], TW_NONE, 1, (uint32_t[]){some(m, SUPEROP_FLOAT)}),
         SUPEROP_FLOAT);
    return;
  case 8:
    made(m, add(m, OPC_I_TO_F, TW_NONE, 1, (uint32_t[]){some(m, SUPEROP_INT)}), SUPEROP_FLOAT);
    return;
  default:
    made(m, add(m, OPC_NOT, TW_BOOL, 1, (uint32_t[]){some(m, SUPEROP_BOOL)}), SUPEROP_BOOL);
    return;
  }
}

/* Flags, nearly always all T. */
static uint32_t all_flags(struct builder *m) {
  const uint32_t all = add(m, OPC_CONST, TW_BOOL, 0, (uint32_t[]){0});
  m->nodes[m->node_count - 1].constant = cvl_scalar_bool(below(m->r, 8) > 0);
  m->kinds[all] = SUPEROP_BOOL;
  m->elementwise[all] = false;
  const uint32_t flags = add(m, OPC_DIST, TW_BOOL, 2, (uint32_t[]){all, P_WHOLE});
  made(m, flags, SUPEROP_BOOL);
  return flags;
}

/* v from some position of P_FAR on, among other elements or zeros. */
static uint32_t add_concatenation(struct builder *m, enum superop_kind kind, uint32_t v) {
  static const uint32_t far[] = {P_FAR_INT, P_FAR_FLOAT, P_FAR_BOOL};
  const uint32_t index =
      add(m, OPC_INDEX, TW_NONE, 3, (uint32_t[]){P_ONE_INT, P_ONE_STRIDE, P_WHOLE});
  if (below(m->r, 3) == 0) made(m, index, SUPEROP_INT); /* with other uses */
  if (below(m->r, 2)) {
    return add(m, OPC_DPERMUTE, word_of(kind), 5,
               (uint32_t[]){v, index, far[kind], P_WHOLE, P_FAR});
  }
  const uint32_t flags = all_flags(m);
  return add(m, OPC_FPERMUTE, word_of(kind), 5, (uint32_t[]){v, index, flags, P_WHOLE, P_FAR});
}

/* A DPERMUTE, or FPERMUTE with all flags T, by an INDEX. Its runs are the segments, or there is
 * one run, of one segment or across all. */
static uint32_t add_runs(struct builder *m, uint32_t v, enum superop_kind kind) {
  struct random *r = m->r;
  const uint32_t far[] = {P_FAR_INT, P_FAR_FLOAT, P_FAR_BOOL};
  const bool one = below(r, 3) == 0, whole = one || below(r, 3) == 0;
  const uint32_t runs[] = {one ? P_ONE_INT : P_RUN_START, one ? P_ONE_STRIDE : P_RUN_STRIDE,
                           one ? P_WHOLE : P_MAIN};
  const uint32_t index = add(m, OPC_INDEX, TW_NONE, 3, runs);
  m->kinds[index] = SUPEROP_INT;
  m->elementwise[index] = below(r, 4) == 0;
  const uint32_t near = whole ? P_WHOLE : P_MAIN, to = whole ? P_FAR : P_SOURCE;
  if (below(r, 2)) {
    const uint32_t flags = all_flags(m);
    return add(m, OPC_FPERMUTE, word_of(kind), 5, (uint32_t[]){v, index, flags, near, to});
  }
  return add(m, OPC_DPERMUTE, word_of(kind), 5, (uint32_t[]){v, index, far[kind], near, to});
}

static void add_consumer(struct builder *m) {
  struct random *r = m->r;
  static const enum opcode numbers[] = {OPC_ADD_REDUCE, OPC_MUL_REDUCE, OPC_MAX_REDUCE,
                                        OPC_ADD_SCAN,   OPC_MUL_SCAN,   OPC_MIN_SCAN};
  const bool all = !r->long_sums;
  static const enum opcode flags[] = {OPC_AND_REDUCE, OPC_OR_REDUCE, OPC_XOR_SCAN,
                                      OPC_AND_SCAN};
  const enum superop_kind kind = (enum superop_kind)below(r, 3);
  const uint32_t v = some(m, kind);
  const enum type_word word = word_of(kind);
  uint32_t out;
  switch (all ? below(r, 9) : 0) {
  case 0:
  case 1:
  case 2:
    out = add(
        m, kind == SUPEROP_BOOL ? flags[below(r, all ? 4 : 2)] : numbers[below(r, all ? 6 : 3)],
        word, 2, (uint32_t[]){v, P_MAIN});
    break;
  case 3:
  case 4:
    out = add(m, OPC_PACK, word, 3, (uint32_t[]){v, some(m, SUPEROP_BOOL), P_MAIN});
    m->kinds[out] = (uint8_t)kind;
    m->value_count++;
    if (below(r, 3)) m->outputs[m->output_count++] = out;
    if (below(r, 3)) m->outputs[m->output_count++] = out + 1;
    return;
  case 5: {
    const uint32_t index = below(r, 8) ? P_PERMUTED : some(m, SUPEROP_INT);
    out = add(m, OPC_PERMUTE, word, 3, (uint32_t[]){v, index, P_MAIN});
    if (below(r, 2)) break;
    m->kinds[out] = (uint8_t)kind; /* and another vector by the same index */
    m->outputs[m->output_count++] = out;
    out = add(m, OPC_PERMUTE, word, 3, (uint32_t[]){some(m, kind), index, P_MAIN});
    break;
  }
  case 6:
  case 7: out = below(r, 2) ? add_concatenation(m, kind, v) : add_runs(m, v, kind); break;
  default: {
    const uint32_t far[] = {P_FAR_INT, P_FAR_FLOAT, P_FAR_BOOL};
    out = add(m, OPC_DFPERMUTE, word, 6,
              (uint32_t[]){v, P_INDEX, some(m, SUPEROP_BOOL), far[kind], P_MAIN, P_SOURCE});
    break;
  }
  }
  m->kinds[out] = (uint8_t)kind;
  m->outputs[m->output_count++] = out;
}

/* ---- stencils: gathers whose indices are arithmetic on positions ---- */

static uint32_t number(struct builder *m, int64_t x) {
  const uint32_t v = add(m, OPC_CONST, TW_INT, 0, (uint32_t[]){0});
  m->nodes[m->node_count - 1].constant = cvl_scalar_int(m->int_elem, x);
  m->kinds[v] = SUPEROP_INT;
  return v;
}

static uint32_t spread(struct builder *m, int64_t x) {
  return add(m, OPC_DIST, TW_INT, 2, (uint32_t[]){number(m, x), P_WHOLE});
}

static uint32_t two(struct builder *m, enum opcode op, uint32_t a, uint32_t b) {
  return add(m, op, TW_INT, 2, (uint32_t[]){a, b});
}

static uint32_t select_int(struct builder *m, uint32_t flag, uint32_t a, uint32_t b) {
  return add(m, OPC_SELECT, TW_INT, 3, (uint32_t[]){flag, a, b});
}

/* A number about as large as an index of n positions, or small. */
static int64_t bound(struct random *r, uint64_t n) {
  return (int64_t)below(r, below(r, 2) ? n : 9) - (below(r, 6) == 0);
}

/* x, shifted, rotated, or something else from some bound on. */
static uint32_t vary(struct builder *m, uint32_t x, uint32_t last, uint64_t n) {
  static const enum opcode compare[] = {OPC_LT, OPC_LE, OPC_GT, OPC_GE, OPC_EQ, OPC_NE};
  struct random *r = m->r;
  const uint32_t c = spread(m, bound(r, n));
  switch (below(r, 8)) {
  case 0: return two(m, OPC_ADD, x, c);
  case 1: return two(m, OPC_SUB, x, c);
  case 2: return two(m, OPC_SUB, last, x);
  case 3:
    return two(m, below(r, 3) ? OPC_MOD : OPC_DIV, x, spread(m, 1 + (int64_t)below(r, n)));
  case 4: return two(m, OPC_MUL, x, spread(m, bound(r, 3)));
  case 5: { /* a rotation */
    const uint32_t back = two(m, OPC_SUB, x, c);
    return select_int(m, two(m, OPC_LT, x, c), two(m, OPC_ADD, back, last), back);
  }
  case 6: {
    const uint32_t a = two(m, compare[below(r, 6)], x, c);
    const uint32_t b = two(m, compare[below(r, 6)], spread(m, bound(r, n)), x);
    const uint32_t both =
        add(m, below(r, 2) ? OPC_AND : OPC_OR, TW_BOOL, 2, (uint32_t[]){a, b});
    return select_int(m, both, two(m, OPC_ADD, x, c), x);
  }
  default: {
    const uint32_t flag = two(m, compare[below(r, 6)], x, c);
    return select_int(m, add(m, OPC_NOT, TW_BOOL, 1, (uint32_t[]){flag}), x, c);
  }
  }
}

/* n positions in all, `reach` in the source of the gather. Mostly, indices are kept in range.
 */
static void add_stencil(struct builder *m, uint64_t n, uint64_t reach) {
  struct random *r = m->r;
  const bool whole = below(r, 2);
  const uint32_t i =
      whole ? add(m, OPC_INDEX, TW_NONE, 3, (uint32_t[]){number(m, 0), number(m, 1), P_WHOLE})
            : add(m, OPC_INDEX, TW_NONE, 3, (uint32_t[]){P_EACH_INT, P_EACH_ONE, P_MAIN});
  const uint32_t last = whole ? spread(m, (int64_t)reach - 1)
                              : add(m, OPC_DIST, TW_INT, 2, (uint32_t[]){P_EACH_LAST, P_MAIN});
  const uint32_t zero = spread(m, 0);
  uint32_t sum = P_FLOAT;
  for (uint64_t gathers = 1 + below(r, 3); gathers > 0; gathers--) {
    uint32_t x = i;
    for (uint64_t steps = below(r, 4); steps > 0; steps--) x = vary(m, x, last, n);
    if (below(r, 12) > 0) {
      x = select_int(m, two(m, OPC_LT, x, zero), zero, x);
      x = select_int(m, two(m, OPC_GT, x, last), last, x);
    }
    if (below(r, 6) == 0) made(m, x, SUPEROP_INT); /* with other uses */
    const uint32_t found =
        add(m, OPC_BPERMUTE, TW_FLOAT, 4,
            (uint32_t[]){P_FAR_FLOAT, x, whole ? P_FAR : P_SOURCE, whole ? P_WHOLE : P_MAIN});
    made(m, found, SUPEROP_FLOAT);
    sum = add(m, OPC_ADD, TW_FLOAT, 2, (uint32_t[]){sum, found});
    made(m, sum, SUPEROP_FLOAT);
  }
}

/* NULL if the result is not a valid superoperator. */
static struct superop *random_superop(struct random *r, struct arena *a, enum cvl_elem ie,
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
  cr_assert(superop_complete(&arena, op, &why, &node), "node %u: %s", node, why);
  return op;
}

/* ---- operands ---- */

static const struct cvl_backend *const cpu = &cvl_cpu_backend;

/* Segment lengths that add up to n. */
static uint64_t random_lengths(struct random *r, uint64_t n, int64_t *lengths) {
  if (n == 0) return below(r, 2) ? 0 : (lengths[0] = 0, 1);
  uint64_t count = 0, left = n;
  const uint64_t shape = r->long_sums ? 7 : below(r, 7);
  uint64_t size = shape == 1 ? 1 : shape == 2 ? 1 + below(r, 9) : 1 + below(r, 40);
  while (left > 0 || (count < n && below(r, 9) == 0)) {
    uint64_t here = size;
    if (shape == 0) here = left;
    if (shape == 3) here = below(r, 12);
    if (shape == 4) here = below(r, 4) ? below(r, 20) : below(r, 3000);
    if (shape == 5) here = count == 3 ? n : below(r, 9);
    if (shape == 6) here = 100 + below(r, 900);
    if (shape == 7) here = below(r, 4) ? 1025 + below(r, 20000) : below(r, 40);
    if (here > left || count + 1 >= n) here = left;
    lengths[count++] = (int64_t)here;
    left -= here;
  }
  return count;
}

static struct cvl_value segdes(struct cvl_context *c, uint64_t count, const int64_t *lengths) {
  struct cvl_value d;
  cr_assert(cpu->segdes_from_host(c, 0, count, lengths, &d));
  return d;
}

static struct cvl_value ints(struct cvl_context *c, uint64_t n, const int64_t *x) {
  const bool wide = c->int_elem == CVL_I64;
  int32_t *narrow = malloc(n * sizeof *narrow + 1);
  for (uint64_t i = 0; i < n; i++) narrow[i] = (int32_t)x[i];
  struct cvl_value v;
  cr_assert(cpu->from_host(c, 0, c->int_elem, n, wide ? (const void *)x : narrow, &v));
  free(narrow);
  return v;
}

static struct cvl_value floats(struct random *r, struct cvl_context *c, uint64_t n) {
  const bool wide = c->float_elem == CVL_F64;
  double *x = malloc(n * sizeof *x + 1);
  float *narrow = malloc(n * sizeof *narrow + 1);
  for (uint64_t i = 0; i < n; i++) {
    x[i] = (double)(int64_t)draw(r) * 0x1p-60;
    narrow[i] = (float)x[i];
  }
  struct cvl_value v;
  cr_assert(cpu->from_host(c, 0, c->float_elem, n, wide ? (const void *)x : narrow, &v));
  free(x);
  free(narrow);
  return v;
}

static struct cvl_value flags(struct random *r, struct cvl_context *c, uint64_t n) {
  uint8_t *x = malloc(n + 1);
  const uint64_t rare = 1 + below(r, 4);
  for (uint64_t i = 0; i < n; i++) x[i] = below(r, 2 * rare) == 0;
  struct cvl_value v;
  cr_assert(cpu->from_host(c, 0, CVL_BOOL, n, x, &v));
  free(x);
  return v;
}

/* Runs that fit the segments of the source, forwards or backwards; rarely one does not. */
static void make_runs(struct random *r, struct cvl_context *c, uint64_t count,
                      const int64_t *lengths, const int64_t *source, struct cvl_value *p) {
  int64_t *start = malloc(count * sizeof *start + 1),
          *stride = malloc(count * sizeof *start + 1);
  const bool faulty = below(r, 4) == 0;
  for (uint64_t k = 0; k < count; k++) {
    const int64_t steps = lengths[k] - 1, last = source[k] - 1;
    const int64_t most = steps > 0 ? last / steps : 1 << 20;
    stride[k] = (int64_t)below(r, (uint64_t)most + 1);
    const int64_t reach = steps > 0 ? stride[k] * steps : 0;
    start[k] = last > reach ? (int64_t)below(r, (uint64_t)(last - reach) + 1) : 0;
    if (below(r, 3) == 0) {
      start[k] += reach;
      stride[k] = -stride[k];
    }
    if (faulty && below(r, count) == 0) *(below(r, 2) ? start : stride) += bound(r, 1 << 20);
  }
  p[P_RUN_START] = ints(c, count, start);
  p[P_RUN_STRIDE] = ints(c, count, stride);
  free(start);
  free(stride);
}

static void make_operands(struct random *r, struct cvl_context *c, uint64_t n,
                          struct cvl_value *p) {
  int64_t *x = malloc((2 * n + 8) * sizeof *x), *lengths = malloc((2 * n + 8) * sizeof *x);
  int64_t *source = malloc((2 * n + 8) * sizeof *x);
  const uint64_t count = random_lengths(r, n, lengths);
  p[P_MAIN] = count == 1 && below(r, 2) ? cvl_one_segment(n) : segdes(c, count, lengths);
  p[P_WHOLE] = cvl_one_segment(n);
  const uint64_t others = random_lengths(r, n, source);
  p[P_OTHER] = segdes(c, others, source);
  p[P_OTHER_FLOAT] = floats(r, c, others);
  uint64_t m = 0;
  const bool same = below(r, 2), sparse = below(r, 4) == 0;
  for (uint64_t k = 0; k < count; k++) {
    source[k] = same ? lengths[k] : lengths[k] + (int64_t)below(r, 3);
    if (!same && source[k] > 2 && below(r, 4) == 0) source[k] /= 2;
    if (sparse) source[k] *= 1 + (int64_t)below(r, 4);
    if (source[k] == 0 && lengths[k]) source[k] = 1;
    m += (uint64_t)source[k];
  }
  p[P_SOURCE] = segdes(c, count, source);
  make_runs(r, c, count, lengths, source, p);
  for (uint64_t k = 0; k < count; k++) x[k] = source[k] - 1;
  p[P_EACH_LAST] = ints(c, count, x);
  for (uint64_t k = 0; k < count; k++) x[k] = 1;
  p[P_EACH_ONE] = ints(c, count, x);
  p[P_FAR] = cvl_one_segment(m);
  /* Rarely, an index is out of range, a divisor is zero, a position is written twice. */
  const bool faulty = below(r, 3) == 0;
  uint64_t at = 0;
  for (uint64_t k = 0; k < count; k++) {
    for (int64_t j = 0; j < lengths[k]; j++) {
      x[at++] = faulty && below(r, n + 1) == 0 ? -1 - (int64_t)below(r, 3)
                                               : (int64_t)below(r, (uint64_t)source[k]);
    }
  }
  p[P_INDEX] = ints(c, n, x);
  at = 0;
  for (uint64_t k = 0; k < count; k++) {
    const uint64_t turn = below(r, (uint64_t)lengths[k]);
    for (uint64_t j = 0; j < (uint64_t)lengths[k]; j++) {
      x[at + j] = (int64_t)((j + turn) % (uint64_t)lengths[k]);
    }
    if (faulty && lengths[k] > 1 && below(r, 9) == 0) x[at] = x[at + 1];
    at += (uint64_t)lengths[k];
  }
  p[P_PERMUTED] = ints(c, n, x);
  uint64_t many = 0;
  for (uint64_t k = 0; k < n; k++) many += (uint64_t)(source[k] = 1 + (int64_t)below(r, 3));
  p[P_MANY] = segdes(c, n, source);
  for (uint64_t k = 0; k < n; k++) {
    x[k] = (int64_t)below(r, (uint64_t)source[k] + (faulty && below(r, n) == 0));
  }
  p[P_PICKED] = ints(c, n, x);
  p[P_PICK_FLOAT] = floats(r, c, many);
  for (uint64_t i = 0; i < n; i++) x[i] = (int64_t)below(r, 100) - (faulty ? 1 : -1);
  p[P_INT] = ints(c, n, x);
  for (uint64_t i = 0; i < n; i++) x[i] = (int64_t)draw(r);
  p[P_INT2] = ints(c, n, x);
  for (uint64_t i = 0; i < m; i++) x[i % (2 * n + 8)] = (int64_t)below(r, 1000);
  for (uint64_t i = 0; i < count; i++) lengths[i] = (int64_t)below(r, 7);
  p[P_EACH_INT] = ints(c, count, lengths);
  free(lengths);
  lengths = malloc(m * sizeof *lengths + 1);
  for (uint64_t i = 0; i < m; i++) lengths[i] = (int64_t)below(r, 1000);
  p[P_FAR_INT] = ints(c, m, lengths);
  p[P_FAR_FLOAT] = floats(r, c, m);
  p[P_FAR_BOOL] = flags(r, c, m);
  p[P_EACH_FLOAT] = floats(r, c, count);
  p[P_FLOAT] = floats(r, c, n);
  p[P_FLOAT2] = floats(r, c, n);
  p[P_BOOL] = flags(r, c, n);
  const int64_t start = m > n && below(r, 3) ? (int64_t)below(r, m - n + 1) : 0;
  p[P_ONE_INT] = ints(c, 1, &start);
  const int64_t stride = below(r, 4) ? 1 : (int64_t)below(r, 3);
  p[P_ONE_STRIDE] = ints(c, 1, &stride);
  free(x);
  free(lengths);
  free(source);
}

/* ---- comparison ---- */

/* Compilers may give a NaN another sign than the processor does; nobody sees it. */
static void unsign_nans(enum cvl_elem elem, uint64_t n, void *x) {
  double *wide = x;
  float *narrow = x;
  for (uint64_t i = 0; i < n && elem == CVL_F64; i++) {
    if (isnan(wide[i])) wide[i] = (double)NAN;
  }
  for (uint64_t i = 0; i < n && elem == CVL_F32; i++) {
    if (isnan(narrow[i])) narrow[i] = NAN;
  }
}

static bool same_value(struct cvl_context *c, const struct cvl_value *a,
                       const struct cvl_value *b) {
  const bool vector = a->form == CVL_SCALAR || a->form == CVL_VECTOR;
  const uint64_t n = vector ? cpu->length(c, a).bound : cpu->count(c, a).bound;
  if (n != (vector ? cpu->length(c, b).bound : cpu->count(c, b).bound)) return false;
  if (vector && a->elem != b->elem) return false;
  const size_t bytes = n * (vector ? elem_bytes(a->elem) : sizeof(int64_t));
  char *x = malloc(bytes + 1), *y = malloc(bytes + 1);
  cr_assert(cpu->to_host(c, a, 0, n, x));
  cr_assert(cpu->to_host(c, b, 0, n, y));
  if (vector) unsign_nans((enum cvl_elem)a->elem, n, x);
  if (vector) unsign_nans((enum cvl_elem)a->elem, n, y);
  const bool same = memcmp(x, y, bytes) == 0;
  free(x);
  free(y);
  return same;
}

static bool same_error(const struct cvl_error *a, const struct cvl_error *b) {
  return a->kind == b->kind && a->site == b->site && a->position == b->position &&
         a->value == b->value && a->limit == b->limit && a->segment == b->segment;
}

enum { MOST_FAILURES = 12 };

/* One superoperator on one set of operands, both ways. Returns false if the nodes fail. */
static bool compare(struct random *r, struct cvl_context *c, const struct superop *op,
                    const struct cvl_value *operands, uint64_t seed) {
  enum { SITE = 1000 };
  struct cvl_value expected[MOST_VALUES], given[PARAMS], got[MOST_VALUES];
  struct cvl_error wanted, found;
  const bool good = superop_run(cpu, c, SITE, op, NULL, operands, expected);
  if (!good) cr_assert(cpu->check(c, true, &wanted));
  struct cvl_kernel *k = cpu->prepare(c, op);
  cr_assert_not_null(k);
  const uint64_t live = cpu->statistics(c).live_bytes;
  for (int round = 0; round < 3; round++) {
    /* Some operands are passed with their references, some of which are not the only ones. */
    for (uint32_t i = 0; i < PARAMS; i++) {
      given[i] = operands[i];
      if (round == 0 || below(r, 2)) continue;
      if (given[i].form == CVL_VECTOR && below(r, 2)) {
        const struct cvl_vector *v = operands[i].as.vector;
        cr_assert(cpu->from_host(c, 0, (enum cvl_elem)v->elem, v->length, v->data, &given[i]));
      } else {
        cpu->retain(c, &given[i]);
      }
      given[i].owned = true;
    }
    const bool ran = cpu->run(c, SITE, k, given, got);
    cr_assert(ran == good, "seed %llu round %d: ran %d, nodes %d", (unsigned long long)seed,
              round, ran, good);
    if (!ran) {
      cr_assert(cpu->check(c, true, &found));
      cr_assert(same_error(&wanted, &found),
                "seed %llu: fault %d site %d at %lld (%lld of %lld in %lld) not %d site %d at "
                "%lld (%lld of %lld in %lld)",
                (unsigned long long)seed, found.kind, (int)found.site,
                (long long)found.position, (long long)found.value, (long long)found.limit,
                (long long)found.segment, wanted.kind, (int)wanted.site,
                (long long)wanted.position, (long long)wanted.value, (long long)wanted.limit,
                (long long)wanted.segment);
    }
    for (uint32_t i = 0; i < op->output_count && ran; i++) {
      char formula[1000];
      cr_assert(same_value(c, &expected[i], &got[i]), "seed %llu: output %u differs: %s",
                (unsigned long long)seed, i, fused_formula(op, formula, sizeof formula));
      cpu->release(c, &got[i]);
    }
    cr_assert_eq(cpu->statistics(c).live_bytes, live, "seed %llu: leak",
                 (unsigned long long)seed);
  }
  /* Every allocation fails once. */
  for (uint64_t nth = 1; nth < 40; nth++) {
    cpu->fail_allocation(c, nth);
    const bool ran = cpu->run(c, SITE, k, operands, got);
    cpu->fail_allocation(c, 0);
    if (ran) {
      for (uint32_t i = 0; i < op->output_count; i++) cpu->release(c, &got[i]);
    } else {
      cr_assert(cpu->check(c, true, &found));
    }
    cr_assert_eq(cpu->statistics(c).live_bytes, live, "seed %llu: leak",
                 (unsigned long long)seed);
    if (ran || found.kind != CVL_E_MEMORY) break;
  }
  cpu->discard(c, k);
  for (uint32_t i = 0; i < op->output_count && good; i++) cpu->release(c, &expected[i]);
  return good;
}

static struct cvl_context *opened(const struct cvl_options *options) {
  const char *why;
  struct cvl_context *c = cpu->open(options, &why);
  cr_assert_not_null(c, "%s", why);
  return c;
}

static unsigned run_random(uint64_t first, unsigned rounds, uint64_t most, bool long_sums,
                           const char *directory) {
  static const uint64_t lengths[] = {0, 1, 2, 7, 64, 100, 513, 1024, 3000, 20000, 70000};
  unsigned good = 0;
  for (uint64_t seed = first; seed < first + rounds; seed++) {
    struct random r = {seed, long_sums};
    const struct cvl_options options = {.int_elem = below(&r, 2) ? CVL_I64 : CVL_I32,
                                        .float_elem = below(&r, 2) ? CVL_F64 : CVL_F32,
                                        .threads = 1 + (unsigned)below(&r, 4),
                                        .compile =
                                            directory ? CVL_COMPILE_ALL : CVL_COMPILE_NONE,
                                        .compile_waits = true,
                                        .compile_directory = directory};
    struct cvl_context *c = opened(&options);
    uint64_t n = lengths[below(&r, 11)];
    if (n > most) n = below(&r, most);
    struct cvl_value operands[PARAMS];
    make_operands(&r, c, n, operands);
    for (int i = 0; i < 4; i++) {
      const struct superop *op =
          random_superop(&r, &arena, options.int_elem, options.float_elem, n,
                         cpu->length(c, &operands[P_FAR_INT]).bound);
      if (op) good += compare(&r, c, op, operands, seed);
    }
    arena_free(&arena);
    cpu->close(c);
  }
  return good;
}

/* Seeds: $RAVEL_SEED alone, or $RAVEL_ROUNDS of them, for more than the usual. */
static uint64_t number_of(const char *variable, uint64_t otherwise) {
  const char *text = getenv(variable);
  return text ? strtoull(text, NULL, 10) : otherwise;
}

Test(fused, random) {
  const uint64_t seed = number_of("RAVEL_SEED", 0);
  const unsigned rounds = (unsigned)number_of("RAVEL_ROUNDS", 400);
  const unsigned good = run_random(seed ? seed : 1, seed ? 1 : rounds, 70000, false, NULL);
  cr_assert(seed || good >= rounds, "only %u superoperators without faults", good);
}

#define SUPEROP_OF(its_params, its_nodes, its_outputs)                                         \
  {                                                                                            \
    .param_count = sizeof its_params / sizeof *its_params,                                     \
    .node_count = sizeof its_nodes / sizeof *its_nodes,                                        \
    .output_count = sizeof its_outputs / sizeof *its_outputs, .params = its_params,            \
    .nodes = its_nodes, .outputs = its_outputs                                                 \
  }

/* A fault in the chunk that would start the state of a long segment's scan, while later chunks
 * wait for their turn: they must not use a state that has not been started, which is what the
 * memory held before. Sines of large numbers take long, so the later chunks usually wait;
 * whether they do is still a matter of time, hence the many runs. */
Test(fused, fault_while_chunks_wait) {
  enum { SHORT = 10, MANY = 4000, BEFORE = SHORT * MANY, N = 3 * BEFORE, RUNS = 200 };
  const int64_t wild = INT64_C(0x4142434445464748); /* as an index, it ends outside of memory */
  const struct cvl_options options = {.int_elem = CVL_I64, .float_elem = CVL_F64, .threads = 3};
  const char *why;
  struct cvl_context *c = cpu->open(&options, &why);
  cr_assert_not_null(c);
  const uint8_t kinds[] = {SUPEROP_SEGDES, SUPEROP_INT, SUPEROP_INT, SUPEROP_FLOAT};
  struct superop_node nodes[] = {
      {.op = OPC_SIN, .type = TW_NONE, .operand_count = 1, .operands = {3}},
      {.op = OPC_DIV, .type = TW_INT, .checked = true, .operand_count = 2, .operands = {1, 2}},
      {.op = OPC_MIN_SCAN, .type = TW_INT, .operand_count = 2, .operands = {5, 0}}};
  const uint32_t outputs[] = {4, 6};
  struct superop op = SUPEROP_OF(kinds, nodes, outputs);
  struct cvl_kernel *k = prepared(c, &op);
  int64_t *x = malloc(N * sizeof *x);
  double *y = malloc(N * sizeof *y);
  for (int i = 0; i < MANY; i++) x[i] = SHORT;
  x[MANY] = N - BEFORE;
  struct cvl_value operands[4] = {segdes(c, MANY + 1, x)}, got[2], other;
  for (int i = 0; i < N; i++) x[i] = wild;
  operands[1] = ints(c, N, x);
  struct random r = {.state = 1};
  for (int run = 0; run < RUNS; run++) {
    for (int i = 0; i < 8; i++) { /* fills the memory that the run will take, of any class */
      cr_assert(cpu->from_host(c, 0, CVL_I64, (uint64_t)N >> i, x, &other));
      cpu->release(c, &other);
    }
    const uint64_t at = BEFORE + below(&r, N / 4);
    for (uint64_t i = 0; i < N; i++) y[i] = i <= at ? 1e300 : 0;
    x[at] = 0;
    operands[2] = ints(c, N, x);
    x[at] = wild;
    cr_assert(cpu->from_host(c, 0, CVL_F64, N, y, &operands[3]));
    cr_assert_not(cpu->run(c, 1, k, operands, got));
    struct cvl_error e;
    cr_assert(cpu->check(c, true, &e));
    cr_assert(e.kind == CVL_E_DIVIDE_BY_ZERO && e.position == (int64_t)at,
              "run %d: kind %d at %lld", run, e.kind, (long long)e.position);
    cpu->release(c, &operands[2]);
    cpu->release(c, &operands[3]);
  }
  cpu->discard(c, k);
  free(x);
  free(y);
  cpu->close(c);
}

/* Compiled functions, each compiled before it is run; in the cache the second time. */
Test(fused, compiled) {
  char directory[] = "/tmp/ravel-compiled-XXXXXX", command[64];
  const unsigned rounds = (unsigned)number_of("RAVEL_COMPILED_ROUNDS", every() > 1 ? 1 : 3);
  cr_assert_not_null(mkdtemp(directory));
  run_random(1, rounds, 3000, false, directory);
  snprintf(command, sizeof command, "ls %s | grep -c so$ > /dev/null", directory);
  cr_assert_eq(system(command), 0, "nothing was compiled");
  run_random(1, rounds, 3000, false, directory);
  run_random(1, 2 * rounds, 20000, true, directory);
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}

/* Compares a superoperator, compiled into this directory, on long segments. */
static void compare_by_seed(struct builder *m, uint64_t seed, const char *directory) {
  struct random r = {seed, true};
  const struct cvl_options options = {.int_elem = CVL_I64,
                                      .float_elem = CVL_F64,
                                      .threads = 1 + seed % 2,
                                      .compile = CVL_COMPILE_ALL,
                                      .compile_waits = true,
                                      .compile_directory = directory};
  struct cvl_context *c = opened(&options);
  struct cvl_value operands[PARAMS];
  make_operands(&r, c, 70000, operands);
  struct superop op = {.param_count = PARAMS,
                       .node_count = m->node_count,
                       .output_count = m->output_count,
                       .params = param_kinds,
                       .nodes = m->nodes,
                       .outputs = m->outputs};
  const char *why;
  uint32_t node;
  cr_assert(superop_complete(&arena, &op, &why, &node), "node %u: %s", node, why);
  compare(&r, c, &op, operands, seed);
  cpu->close(c);
}

/* The same with several seeds; it is compiled once. */
static void compare_on_long_segments(struct builder *m, uint64_t first, uint64_t count) {
  char directory[] = "/tmp/ravel-compiled-XXXXXX", command[64];
  cr_assert_not_null(mkdtemp(directory));
  for (uint64_t seed = first; seed < first + count; seed++) compare_by_seed(m, seed, directory);
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}

/* A value spread over segments is read by two stages, as an index and in a sum. */
Test(fused, spread_for_two_stages) {
  struct builder m = {.value_count = PARAMS};
  const uint32_t each = add(&m, OPC_DIST, TW_INT, 2, (uint32_t[]){P_EACH_INT, P_MAIN});
  const uint32_t index = add(&m, OPC_ADD, TW_INT, 2, (uint32_t[]){each, each});
  const uint32_t there =
      add(&m, OPC_BPERMUTE, TW_INT, 4, (uint32_t[]){P_FAR_INT, index, P_FAR, P_WHOLE});
  const uint32_t product = add(&m, OPC_MUL, TW_INT, 2, (uint32_t[]){there, each});
  m.outputs[m.output_count++] =
      add(&m, OPC_ADD_REDUCE, TW_INT, 2, (uint32_t[]){product, P_MAIN});
  compare_on_long_segments(&m, 7, 1);
}

/* Only maps and reductions: several blocks at a time, of one segment and of many. */
Test(fused, nothing_but_reductions) {
  struct builder m = {.value_count = PARAMS};
  const uint32_t each = add(&m, OPC_DIST, TW_FLOAT, 2, (uint32_t[]){P_EACH_FLOAT, P_MAIN});
  const uint32_t product = add(&m, OPC_MUL, TW_FLOAT, 2, (uint32_t[]){P_FLOAT, P_FLOAT2});
  const uint32_t distance = add(&m, OPC_SUB, TW_FLOAT, 2, (uint32_t[]){product, each});
  m.outputs[m.output_count++] =
      add(&m, OPC_ADD_REDUCE, TW_FLOAT, 2, (uint32_t[]){distance, P_MAIN});
  m.outputs[m.output_count++] =
      add(&m, OPC_MAX_REDUCE, TW_INT, 2, (uint32_t[]){P_INT2, P_MAIN});
  compare_on_long_segments(&m, 1, 8);
}

/* What lies in (-1, 0] becomes 0 as an INT, and no -0 when that is a FLOAT again. */
Test(fused, integers_and_back) {
  static const enum opcode to_int[] = {OPC_FLOOR, OPC_CEIL, OPC_TRUNC, OPC_ROUND};
  struct builder m = {.value_count = PARAMS};
  const uint32_t each = add(&m, OPC_SIN, TW_NONE, 1, (uint32_t[]){P_FLOAT});
  for (int i = 0; i < 4; i++) {
    const uint32_t there = add(&m, to_int[i], TW_NONE, 1, (uint32_t[]){each});
    m.outputs[m.output_count++] = add(&m, OPC_I_TO_F, TW_NONE, 1, (uint32_t[]){there});
  }
  compare_on_long_segments(&m, 1, 2);
}

/* ---- gathers of slices ---- */

enum slices { OF_EACH, OF_ONE, OF_OTHERS, SLICES };
enum spoiled { BY_NOTHING, BY_ONE_TOO_FAR, BY_ONE_BEFORE, BY_ONE_STRIDE, SPOILED };

/* So many slices of random lengths, `length` on average. OF_EACH: each of a segment of its own;
 * OF_ONE: all of one segment; OF_OTHERS: three by three of segments that end within slices. */
static void make_slices(struct random *r, struct cvl_context *c, enum slices way,
                        enum spoiled spoiled, uint64_t count, uint64_t length,
                        struct cvl_value *p) {
  enum { ROOM = 5, GROUP = 3 };
  int64_t *lengths = calloc(count, sizeof *lengths), *far = calloc(count, sizeof *far);
  int64_t *starts = calloc(count, sizeof *starts), *strides = calloc(count, sizeof *strides);
  uint64_t n = 0, m = 0, segments = 0;
  for (uint64_t i = 0; i < count; i++) {
    n += (uint64_t)(lengths[i] = (int64_t)below(r, 2 * length + 1));
    m += (uint64_t)(far[i] = lengths[i] + 1 + (int64_t)below(r, ROOM));
    strides[i] = 1;
  }
  p[0] = segdes(c, count, lengths);
  int64_t *near = calloc(count, sizeof *near);
  if (way == OF_EACH) {
    segments = count;
    memcpy(near, lengths, count * sizeof *near);
  } else if (way == OF_ONE) {
    near[segments++] = (int64_t)n;
    far[0] = (int64_t)m;
  } else {
    for (uint64_t i = 0; i < count; i++) near[i / GROUP] += lengths[i];
    segments = (count + GROUP - 1) / GROUP;
    if (segments > 1 && near[0] > 1) near[0]--, near[1]++; /* ends within a slice */
    for (uint64_t i = 0; i < segments; i++) far[i] = (int64_t)(2 * length + ROOM);
    m = segments * (2 * length + ROOM);
  }
  for (uint64_t i = 0; i < count; i++) {
    const int64_t of = way == OF_EACH ? far[i] : way == OF_ONE ? (int64_t)m : far[0];
    starts[i] = (int64_t)below(r, (uint64_t)(of - lengths[i] + 1));
    if (2 * i / count == 1 && lengths[i] > 1 && spoiled != BY_NOTHING) {
      if (spoiled == BY_ONE_TOO_FAR) starts[i] = of - lengths[i] + 1;
      if (spoiled == BY_ONE_BEFORE) starts[i] = -1;
      if (spoiled == BY_ONE_STRIDE) strides[i] = 0;
      spoiled = BY_NOTHING;
    }
  }
  p[1] = ints(c, count, starts);
  p[2] = ints(c, count, strides);
  p[3] = segdes(c, segments, near);
  p[4] = segdes(c, segments, far);
  p[5] = floats(r, c, m);
  p[6] = flags(r, c, m);
  free(lengths);
  free(far);
  free(starts);
  free(strides);
  free(near);
}

static void compare_slices(struct cvl_context *c, struct superop *op, const struct cvl_value *p,
                           bool fails) {
  struct cvl_value expected[4], got[4];
  struct cvl_error wanted, found;
  struct cvl_kernel *k = prepared(c, op);
  const bool good = superop_run(cpu, c, 1, op, NULL, p, expected);
  cr_assert_eq(good, !fails);
  if (!good) cr_assert(cpu->check(c, true, &wanted));
  cr_assert_eq(cpu->run(c, 1, k, p, got), good);
  if (!good) cr_assert(cpu->check(c, true, &found) && same_error(&wanted, &found));
  for (uint32_t i = 0; i < op->output_count && good; i++) {
    cr_assert(same_value(c, &expected[i], &got[i]), "output %u", i);
    cpu->release(c, &expected[i]);
    cpu->release(c, &got[i]);
  }
  cpu->discard(c, k);
}

/* Two vectors by one INDEX, which is a result itself or not. */
Test(fused, gathers_of_slices) {
  static const uint64_t counts[] = {1, 2, 30, 3000}, lengths[] = {1, 5, 40, 700};
  static const uint8_t kinds[] = {SUPEROP_SEGDES, SUPEROP_INT,   SUPEROP_INT, SUPEROP_SEGDES,
                                  SUPEROP_SEGDES, SUPEROP_FLOAT, SUPEROP_BOOL};
  static const uint32_t outputs[] = {9, 10, 7};
  for (uint64_t i = 0; i < 16 * SLICES * SPOILED; i++) {
    struct random r = {.state = i};
    const uint64_t count = counts[i % 4], length = lengths[i / 4 % 4];
    const enum spoiled spoiled = (enum spoiled)(i / 16 / SLICES);
    if (count * length > 200000 || (spoiled != BY_NOTHING && count < 30)) continue;
    const struct cvl_options options = {.int_elem = i % 3 ? CVL_I64 : CVL_I32,
                                        .float_elem = i % 5 ? CVL_F64 : CVL_F32,
                                        .threads = 1 + (unsigned)(i % 3)};
    struct cvl_context *c = opened(&options);
    struct superop_node nodes[] = {
        {.op = OPC_INDEX, .type = TW_NONE, .operand_count = 3, .operands = {1, 2, 0}},
        {.op = OPC_BPERMUTE,
         .type = TW_FLOAT,
         .checked = true,
         .operand_count = 4,
         .operands = {5, 7, 4, 3}},
        {.op = OPC_ADD, .type = TW_FLOAT, .operand_count = 2, .operands = {8, 8}},
        {.op = OPC_BPERMUTE,
         .type = TW_BOOL,
         .checked = true,
         .operand_count = 4,
         .operands = {6, 7, 4, 3}}};
    struct superop op = SUPEROP_OF(kinds, nodes, outputs);
    op.output_count = 2 + below(&r, 2);
    struct cvl_value p[7];
    make_slices(&r, c, (enum slices)(i / 16 % SLICES), spoiled, count, length, p);
    compare_slices(c, &op, p, spoiled == BY_ONE_TOO_FAR || spoiled == BY_ONE_BEFORE);
    cpu->close(c);
    arena_free(&arena);
  }
}

/* A value is spread over one segment, then over several, and over one again: (e + x) * 2 + x.
 */
Test(fused, one_segment_and_several_in_turn) {
  enum { N = 700, TURNS = 4 };
  static const uint8_t kinds[] = {SUPEROP_SEGDES, SUPEROP_FLOAT, SUPEROP_FLOAT, SUPEROP_SEGDES};
  static const uint32_t outputs[] = {9};
  struct superop_node nodes[] = {
      {.op = OPC_DIST, .type = TW_FLOAT, .operand_count = 2, .operands = {1, 0}},
      {.op = OPC_ADD, .type = TW_FLOAT, .operand_count = 2, .operands = {4, 2}},
      {.op = OPC_CONST, .type = TW_FLOAT, .constant = {.form = CVL_SCALAR, .elem = CVL_F64}},
      {.op = OPC_DIST, .type = TW_FLOAT, .operand_count = 2, .operands = {6, 3}},
      {.op = OPC_MUL, .type = TW_FLOAT, .operand_count = 2, .operands = {5, 7}},
      {.op = OPC_ADD, .type = TW_FLOAT, .operand_count = 2, .operands = {8, 2}}};
  nodes[2].constant.as.f64 = 2;
  struct superop op = SUPEROP_OF(kinds, nodes, outputs);
  const struct cvl_options options = {.int_elem = CVL_I64, .float_elem = CVL_F64, .threads = 2};
  struct cvl_context *c = opened(&options);
  struct cvl_kernel *k = prepared(c, &op);
  const int64_t whole = N, several[] = {N / 7, 0, N / 2, N - N / 7 - N / 2};
  struct random r = {.state = 1};
  for (int turn = 0; turn < TURNS; turn++) {
    const uint64_t count = turn % 2 ? 4 : 1;
    const struct cvl_value p[] = {segdes(c, count, turn % 2 ? several : &whole),
                                  floats(&r, c, count), floats(&r, c, N), segdes(c, 1, &whole)};
    struct cvl_value expected, got;
    cr_assert(superop_run(cpu, c, 1, &op, NULL, p, &expected));
    cr_assert(cpu->run(c, 1, k, p, &got));
    cr_assert(same_value(c, &expected, &got), "turn %d", turn);
  }
  cpu->discard(c, k);
  cpu->close(c);
  arena_free(&arena);
}

/* Without a compiler, or a directory, the evaluator does all runs. */
Test(fused, not_compiled_without_a_directory) {
  cr_assert(run_random(1, 3, 100, false, "/nowhere/at/all") > 0);
}
