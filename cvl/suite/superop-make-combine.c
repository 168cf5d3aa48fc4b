/* superop-make-combine.c - random combinations. Half of the functions are associative, as those
 * of programs are. The other functions give other results with every tree except that of the
 * contract. None is commutative, or only by chance.
 */
#include "cvl/suite/superop-make.h"

#include <string.h>

enum { MOST = SUPEROP_COLUMNS_MAX };

/* A combination that is being made. */
struct columns {
  uint32_t count;
  enum superop_kind kinds[MOST];
  uint32_t left[MOST], right[MOST], values[MOST]; /* values of f */
};

/* ---- functions ---- */

static uint32_t map2(struct generator *m, enum opcode op, enum superop_kind kind, uint32_t x,
                     uint32_t y) {
  const enum type_word type =
      opcode_info(op)->types == NO_TYPE ? TW_NONE : (enum type_word)kind;
  return gen_node(m, op, type, false, SUPEROP_SEGDES, 2, OPERANDS(x, y));
}

static uint32_t superop_make_combine_choose(struct generator *m, enum superop_kind kind,
                                            uint32_t flag, uint32_t x, uint32_t y) {
  return gen_node(m, OPC_SELECT, (enum type_word)kind, false, SUPEROP_SEGDES, 3,
                  OPERANDS(flag, x, y));
}

/* Concatenation of texts. A pair has a hash, a polynomial at some base, and the power of the
 * base: (h1 * p2 + h2, p1 * p2). */
static void superop_make_combine_concatenate(struct generator *m, struct columns *c) {
  const uint32_t shifted = map2(m, OPC_MUL, SUPEROP_INT, c->left[0], c->right[1]);
  c->values[0] = map2(m, OPC_ADD, SUPEROP_INT, shifted, c->right[0]);
  c->values[1] = map2(m, OPC_MUL, SUPEROP_INT, c->left[1], c->right[1]);
}

/* Products of matrices of 2 rows and 2 columns. */
static void multiply(struct generator *m, struct columns *c) {
  for (uint32_t i = 0; i < 4; i++) {
    const uint32_t row = i & 2, column = i & 1;
    const enum superop_kind kind = c->kinds[0];
    const uint32_t x = map2(m, OPC_MUL, kind, c->left[row], c->right[column]);
    const uint32_t y = map2(m, OPC_MUL, kind, c->left[row + 1], c->right[column + 2]);
    c->values[i] = map2(m, OPC_ADD, kind, x, y);
  }
}

/* The greatest element, the first of several, and where it was. */
static void find_greatest(struct generator *m, struct columns *c) {
  const uint32_t greater = map2(m, OPC_GT, c->kinds[0], c->right[0], c->left[0]);
  for (uint32_t i = 0; i < 2; i++) {
    c->values[i] =
        superop_make_combine_choose(m, c->kinds[i], greater, c->right[i], c->left[i]);
  }
}

/* Sums that restart at flags: a segmented scan in the manner of Schwartz and Blelloch. */
static void sum_between_flags(struct generator *m, struct columns *c) {
  const uint32_t sum = map2(m, OPC_ADD, c->kinds[1], c->left[1], c->right[1]);
  c->values[0] = map2(m, OPC_OR, SUPEROP_BOOL, c->left[0], c->right[0]);
  c->values[1] = superop_make_combine_choose(m, c->kinds[1], c->right[0], c->right[1], sum);
}

/* Any function, which is not associative. */
static void compute_anything(struct generator *m, struct columns *c) {
  for (uint64_t k = rng_below(&m->s->rng, 6); k > 0; k--) gen_map(m);
  for (uint32_t i = 0; i < c->count; i++) {
    const enum superop_kind kind = c->kinds[i];
    c->values[i] = gen_value(m, kind);
    /* otherwise it depends on both operands of the column, too */
    if (gen_chance(m, 3)) continue;
    const enum opcode op = kind == SUPEROP_BOOL ? OPC_XOR : OPC_SUB;
    const uint32_t x = map2(m, op, kind, c->left[i], c->values[i]);
    c->values[i] = kind == SUPEROP_BOOL ? map2(m, OPC_AND, kind, x, c->right[i])
                                        : map2(m, OPC_SUB, kind, x, c->right[i]);
  }
}

enum { FUNCTIONS = 10 /* the number of draws; those without a case are of the last kind */ };

static uint32_t choose_columns(struct generator *m, uint64_t function,
                               enum superop_kind *kinds) {
  const enum superop_kind number = gen_chance(m, 2) ? SUPEROP_INT : SUPEROP_FLOAT;
  for (uint32_t i = 0; i < MOST; i++) kinds[i] = SUPEROP_INT;
  switch (function) {
  case 0: return 2;
  case 1:
    for (uint32_t i = 0; i < 4; i++) kinds[i] = number;
    return 4;
  case 2: kinds[0] = number; return 2;
  case 3:
    kinds[0] = SUPEROP_BOOL;
    kinds[1] = number;
    return 2;
  default: break;
  }
  for (uint32_t i = 0; i < MOST; i++) kinds[i] = (enum superop_kind)rng_below(&m->s->rng, 3);
  return 1 + (uint32_t)rng_below(&m->s->rng, gen_chance(m, 2) ? 2 : MOST);
}

static void superop_make_combine_add_function(struct generator *m, uint64_t function,
                                              struct columns *c) {
  switch (function) {
  case 0: superop_make_combine_concatenate(m, c); break;
  case 1: multiply(m, c); break;
  case 2: find_greatest(m, c); break;
  case 3: sum_between_flags(m, c); break;
  default: compute_anything(m, c);
  }
}

/* ---- consumers ---- */

/* The operands of every column after the left result and the value of f. */
struct others {
  uint32_t op, count;
  uint32_t operands[MOST][4];
};

static void choose_identities(struct generator *m, const struct columns *c, struct others *o) {
  const uint32_t d = gen_common_segments(m);
  const bool inclusive = o->op == SUPEROP_COMBINE_SCAN_INCLUSIVE;
  o->count = inclusive ? 1 : 2;
  for (uint32_t i = 0; i < c->count; i++) {
    o->operands[i][o->count - 1] = d;
    if (inclusive) continue;
    o->operands[i][0] = gen_chance(m, 2)
                            ? gen_data(m, c->kinds[i], DATA_PER_SEGMENT, d)
                            : gen_constant(m, c->kinds[i], (int64_t)rng_below(&m->s->rng, 9));
  }
}

static void choose_index(struct generator *m, const struct columns *c, struct others *o) {
  const uint32_t s = gen_segments(m), d = gen_data(m, SUPEROP_SEGDES, DATA_PARTNER, s);
  const uint32_t index = gen_index(m, s, d, SUPEROP_NONE);
  o->count = 4;
  for (uint32_t i = 0; i < c->count; i++) {
    const uint32_t defaults = gen_data(m, c->kinds[i], DATA_VALUES, d);
    memcpy(o->operands[i], OPERANDS(index, defaults, s, d), sizeof o->operands[i]);
  }
}

static void add_consumers(struct generator *m, const struct columns *c,
                          const struct others *o) {
  const bool checked = o->op == SUPEROP_COMBINE_SCATTER && (m->mix->wild || gen_chance(m, 2));
  for (uint32_t i = 0; i < c->count; i++) {
    uint32_t v[MAX_OPERANDS] = {c->left[i], c->values[i]};
    memcpy(v + 2, o->operands[i], o->count * sizeof *v);
    gen_node(m, o->op, (enum type_word)c->kinds[i], checked, SUPEROP_SEGDES, 2 + o->count, v);
  }
}

/* ---- the whole ---- */

/* From here on only values inside the combination may be used. */
static void begin_inside(struct generator *m, struct columns *c, const uint32_t *from,
                         const uint32_t *constants) {
  m->inside = true;
  memset(m->pool_count, 0, sizeof m->pool_count);
  for (uint32_t kind = 0; kind < SUPEROP_SEGDES; kind++) {
    gen_keep(m, (enum superop_kind)kind, constants[kind]);
  }
  for (uint32_t i = 0; i < c->count; i++) {
    const enum superop_kind kind = c->kinds[i];
    c->left[i] = gen_node(m, SUPEROP_COLUMN, (enum type_word)kind, false, kind, 1, &from[i]);
    c->right[i] = c->left[i] + 1;
    gen_keep(m, kind, c->right[i]);
  }
}

void gen_combination(struct generator *m) {
  enum { NODES = 50, PARAMS = 34 };
  static const uint32_t ops[] = {SUPEROP_COMBINE_REDUCE, SUPEROP_COMBINE_SCAN,
                                 SUPEROP_COMBINE_SCAN_INCLUSIVE, SUPEROP_COMBINE_SCATTER};
  const uint64_t function = rng_below(&m->s->rng, FUNCTIONS);
  struct others o = {.op = ops[rng_below(&m->s->rng, 4)]};
  struct columns c;
  struct generator outside;
  uint32_t from[MOST], constants[SUPEROP_SEGDES];
  if (m->node_count + NODES > SUPEROP_NODES || m->param_count + PARAMS > SUPEROP_PARAMS) return;
  c.count = choose_columns(m, function, c.kinds);
  for (uint32_t kind = 0; kind < SUPEROP_SEGDES; kind++) {
    constants[kind] = gen_flat(m, (enum superop_kind)kind, 1 + 2 * (int64_t)gen_chance(m, 2));
  }
  m->odd = constants[SUPEROP_INT];
  for (uint32_t i = 0; i < c.count; i++) from[i] = gen_value(m, c.kinds[i]);
  if (o.op == SUPEROP_COMBINE_SCATTER) {
    choose_index(m, &c, &o);
  } else {
    choose_identities(m, &c, &o);
  }
  outside = *m;
  begin_inside(m, &c, from, constants);
  superop_make_combine_add_function(m, function, &c);
  m->inside = false;
  memcpy(m->pool, outside.pool, sizeof m->pool);
  memcpy(m->pool_count, outside.pool_count, sizeof m->pool_count);
  add_consumers(m, &c, &o);
}
