/* superop-make.c - makes random superoperators node by node. Each node is of a kind drawn from
 * the mixture, on operands drawn from existing values. Where operations may fail, operands are
 * made that cannot be wrong, unless the mixture is wild. superop-make-combine.c makes
 * combinations.
 */
#include "cvl/suite/superop-make.h"

#include <stdlib.h>
#include <string.h>

bool gen_chance(struct generator *m, uint64_t n) {
  return rng_one_in(&m->s->rng, n);
}

/* Whether there is room for the largest step of the generator. */
static bool superop_make_has_room(const struct generator *m) {
  return m->param_count + 16 < SUPEROP_PARAMS && m->node_count + 10 < SUPEROP_NODES;
}

/* ---- parameters ---- */

static uint32_t add_param(struct generator *m, enum superop_kind kind, struct recipe r) {
  if (m->param_count == SUPEROP_PARAMS) abort(); /* superop_make_has_room was not asked */
  m->c->params[m->param_count] = (uint8_t)kind;
  m->c->recipes[m->param_count] = r;
  return m->param_count++;
}

uint32_t gen_data(struct generator *m, enum superop_kind kind, enum data_kind data,
                  uint32_t of) {
  return add_param(m, kind, (struct recipe){(uint8_t)data, of, 0, SUPEROP_NONE});
}

uint32_t gen_common_segments(struct generator *m) {
  if (m->segments == SUPEROP_NONE) {
    m->segments = gen_data(m, SUPEROP_SEGDES, DATA_SEGMENTS, 0);
  }
  return m->segments;
}

uint32_t gen_segments(struct generator *m) {
  switch (rng_below(&m->s->rng, 4)) {
  case 0: return gen_data(m, SUPEROP_SEGDES, DATA_ONE, 0);
  case 1: return gen_data(m, SUPEROP_SEGDES, DATA_OTHER, 0);
  default: return gen_common_segments(m);
  }
}

void gen_keep(struct generator *m, enum superop_kind kind, uint32_t value) {
  if (kind < SUPEROP_SEGDES) m->pool[kind][m->pool_count[kind]++] = value;
}

/* ---- nodes ---- */

static uint32_t superop_make_results_of(uint32_t op) {
  return op == OPC_PACK || op == SUPEROP_COLUMN    ? 2
         : op == OPC_ASSERT || op == SUPEROP_WHILE ? 0
                                                   : 1;
}

uint32_t gen_node(struct generator *m, uint32_t op, enum type_word type, bool checked,
                  enum superop_kind domain_kind, uint32_t n, const uint32_t *operands) {
  if (m->node_count == SUPEROP_NODES) abort();
  struct superop_node *node = &m->c->nodes[m->node_count++];
  *node = (struct superop_node){.op = (uint16_t)op,
                                .type = (uint8_t)type,
                                .checked = checked,
                                .operand_count = (uint8_t)n};
  for (uint32_t i = 0; i < n; i++) {
    node->operands[i] = operands[i];
    if (operands[i] >= RESULTS) m->used[operands[i] - RESULTS]++;
  }
  uint32_t result = RESULTS + m->value_count;
  m->hidden[m->value_count] = m->inside;
  m->value_count += superop_make_results_of(op);
  gen_keep(m, domain_kind, result);
  return result;
}

uint32_t gen_constant(struct generator *m, enum superop_kind kind, int64_t x) {
  uint32_t result =
      gen_node(m, OPC_CONST, (enum type_word)kind, false, SUPEROP_SEGDES, 0, NULL);
  struct cvl_value *c = &m->c->nodes[m->node_count - 1].constant;
  switch (kind) {
  case SUPEROP_INT: *c = cvl_scalar_int(m->s->int_elem, x); break;
  case SUPEROP_FLOAT: *c = cvl_scalar_float(m->s->float_elem, (double)x / 4); break;
  case SUPEROP_BOOL:
  case SUPEROP_SEGDES: *c = cvl_scalar_bool(x & 1); break;
  }
  return result;
}

uint32_t gen_flat(struct generator *m, enum superop_kind kind, int64_t x) {
  uint32_t d = gen_data(m, SUPEROP_SEGDES, DATA_ONE, 0), c = gen_constant(m, kind, x);
  return gen_node(m, OPC_DIST, (enum type_word)kind, false, SUPEROP_SEGDES, 2, OPERANDS(c, d));
}

uint32_t gen_value(struct generator *m, enum superop_kind kind) {
  uint32_t n = m->pool_count[kind];
  if (!m->inside && (n == 0 || gen_chance(m, 5))) {
    uint32_t p = gen_data(m, kind, DATA_ELEMENTS, 0);
    gen_keep(m, kind, p);
    return p;
  }
  uint32_t i = (uint32_t)rng_below(&m->s->rng, n), j = (uint32_t)rng_below(&m->s->rng, n);
  uint32_t value = m->pool[kind][i > j ? i : j];
  if (value < RESULTS && gen_chance(m, 5)) return gen_data(m, kind, DATA_ALIAS, value);
  return value;
}

/* ---- elementwise ---- */

/* Adds a divisor that is not zero. */
static uint32_t divisor(struct generator *m) {
  if (m->inside) return m->odd;
  if (gen_chance(m, 2)) return gen_data(m, SUPEROP_INT, DATA_NONZERO, 0);
  uint32_t odd = gen_flat(m, SUPEROP_INT, 1), x = gen_value(m, SUPEROP_INT);
  return gen_node(m, OPC_OR, TW_INT, false, SUPEROP_INT, 2, OPERANDS(x, odd));
}

static enum superop_kind superop_make_kind_of_letter(char letter, enum type_word type) {
  return (enum superop_kind)operand_kind(letter, type);
}

static enum opcode random_opcode(struct generator *m, enum opcode_class class,
                                 enum type_word *type) {
  enum opcode op;
  do {
    op = (enum opcode)rng_below(&m->s->rng, OPC_COUNT);
  } while (opcode_info(op)->klass != class ||
           (!m->mix->approximate && op_is_approximate(opcode_info(op)->operation)));
  unsigned types = opcode_info(op)->types;
  *type = TW_NONE;
  while (types != NO_TYPE && (*type == TW_NONE || !(types >> *type & 1))) {
    *type = (enum type_word)rng_below(&m->s->rng, TW_SEGDES);
  }
  return op;
}

void gen_map(struct generator *m) {
  enum type_word type;
  enum opcode op = random_opcode(m, OC_ELEMENTWISE, &type);
  /* Operations that may fail are added more often than their number of opcodes would give. */
  if (gen_chance(m, m->mix->wild ? 4 : 12)) {
    op = gen_chance(m, 2) ? OPC_DIV : OPC_MOD;
    type = op == OPC_DIV ? TW_INT : TW_NONE;
  }
  const struct opcode_info *info = opcode_info(op);
  uint32_t v[MAX_OPERANDS], n = (uint32_t)strlen(info->operands);
  bool divides = opcode_fault(op, type) == CVL_E_DIVIDE_BY_ZERO;
  for (uint32_t i = 0; i < n; i++) {
    bool careful = divides && i == 1 && (m->inside || !(m->mix->wild && gen_chance(m, 6)));
    v[i] = careful ? divisor(m)
                   : gen_value(m, superop_make_kind_of_letter(info->operands[i], type));
  }
  if (op_is_approximate(info->operation)) m->c->approximate = true;
  bool checked = !m->inside && (m->mix->wild || gen_chance(m, 2));
  gen_node(m, op, type, checked, superop_make_kind_of_letter(info->results[0], type), n, v);
}

/* ---- spreads ---- */

static void superop_make_add_spread(struct generator *m) {
  enum superop_kind kind = (enum superop_kind)rng_below(&m->s->rng, 3);
  int64_t x = (int64_t)rng_below(&m->s->rng, 9) - 4;
  switch (rng_below(&m->s->rng, 4)) {
  case 0: gen_keep(m, kind, gen_flat(m, kind, x)); return;
  case 1: { /* arithmetic progressions */
    uint32_t d = gen_data(m, SUPEROP_SEGDES, DATA_ONE, 0);
    uint32_t start = gen_constant(m, SUPEROP_INT, x), stride = gen_constant(m, SUPEROP_INT, 1);
    gen_node(m, OPC_INDEX, TW_NONE, false, SUPEROP_INT, 3, OPERANDS(start, stride, d));
    return;
  }
  case 2: {
    uint32_t d = gen_segments(m);
    uint32_t start = gen_data(m, SUPEROP_INT, DATA_PER_SEGMENT, d);
    uint32_t stride = gen_data(m, SUPEROP_INT, DATA_PER_SEGMENT, d);
    gen_node(m, OPC_INDEX, TW_NONE, false, SUPEROP_INT, 3, OPERANDS(start, stride, d));
    return;
  }
  default: {
    uint32_t d = gen_segments(m), v = gen_data(m, kind, DATA_PER_SEGMENT, d);
    gen_node(m, OPC_DIST, (enum type_word)kind, false, kind, 2, OPERANDS(v, d));
    return;
  }
  }
}

/* ---- indices and what needs them ---- */

uint32_t gen_index(struct generator *m, uint32_t d, uint32_t into, uint32_t flags) {
  struct recipe r = {DATA_INDEX, d, into, flags};
  if (m->mix->wild && gen_chance(m, 20)) return gen_value(m, SUPEROP_INT);
  uint32_t x = add_param(m, SUPEROP_INT, r);
  switch (rng_below(&m->s->rng, 3)) {
  case 0: return x;
  case 1: { /* one of two values */
    uint32_t y = add_param(m, SUPEROP_INT, r), f = gen_value(m, SUPEROP_BOOL);
    return gen_node(m, OPC_SELECT, TW_INT, false, SUPEROP_INT, 3, OPERANDS(f, x, y));
  }
  default: { /* a computed index */
    uint32_t zero = gen_flat(m, SUPEROP_INT, 0);
    return gen_node(m, OPC_ADD, TW_INT, false, SUPEROP_INT, 2, OPERANDS(x, zero));
  }
  }
}

static void superop_make_add_gather(struct generator *m) {
  enum superop_kind kind = (enum superop_kind)rng_below(&m->s->rng, 3);
  enum type_word type = (enum type_word)kind;
  bool checked = m->mix->wild || gen_chance(m, 2);
  uint64_t style = rng_below(&m->s->rng, 4);
  if (style == 0) { /* one element of each segment */
    uint32_t d = gen_data(m, SUPEROP_SEGDES, DATA_ROWS, 0);
    uint32_t v = gen_data(m, kind, DATA_VALUES, d), i = gen_data(m, SUPEROP_INT, DATA_PICK, d);
    if (m->mix->wild && gen_chance(m, 10)) i = gen_value(m, SUPEROP_INT);
    gen_node(m, OPC_EXTRACT, type, checked, kind, 3, OPERANDS(v, i, d));
    return;
  }
  uint32_t d = gen_segments(m);
  if (style == 1) { /* each element from itself, in order */
    uint32_t v = gen_data(m, kind, DATA_VALUES, d);
    uint32_t zero = gen_data(m, SUPEROP_INT, DATA_ZEROS, d);
    uint32_t one = gen_data(m, SUPEROP_INT, DATA_ONES, d);
    uint32_t i = gen_node(m, OPC_INDEX, TW_NONE, false, SUPEROP_INT, 3, OPERANDS(zero, one, d));
    gen_node(m, OPC_BPERMUTE, type, checked, kind, 4, OPERANDS(v, i, d, d));
    return;
  }
  uint32_t source = gen_data(m, SUPEROP_SEGDES, DATA_PARTNER, d);
  uint32_t v = gen_data(m, kind, DATA_VALUES, source);
  if (style == 2) {
    uint32_t i = gen_index(m, d, source, SUPEROP_NONE);
    gen_node(m, OPC_BPERMUTE, type, checked, kind, 4, OPERANDS(v, i, source, d));
    return;
  }
  uint32_t flags = gen_data(m, SUPEROP_BOOL, DATA_ELEMENTS, 0);
  uint32_t i = gen_index(m, d, source, flags), f = flags;
  if (gen_chance(m, 2)) {
    uint32_t other = gen_value(m, SUPEROP_BOOL);
    f = gen_node(m, OPC_AND, TW_BOOL, false, SUPEROP_BOOL, 2, OPERANDS(flags, other));
  }
  gen_node(m, OPC_BFPERMUTE, type, checked, kind, 5, OPERANDS(v, i, f, source, d));
}

/* ---- consumers ---- */

static void add_scatter(struct generator *m) {
  enum superop_kind kind = (enum superop_kind)rng_below(&m->s->rng, 3);
  enum type_word type = (enum type_word)kind;
  bool checked = m->mix->wild || gen_chance(m, 2);
  uint32_t v = gen_value(m, kind), s = gen_segments(m);
  uint64_t style = rng_below(&m->s->rng, 4);
  if (style == 0) {
    uint32_t i = gen_data(m, SUPEROP_INT, DATA_PERMUTATION, s);
    if (m->mix->wild && gen_chance(m, 10)) i = gen_value(m, SUPEROP_INT);
    if (gen_chance(m, 3)) {
      uint32_t zero = gen_flat(m, SUPEROP_INT, 0);
      i = gen_node(m, OPC_XOR, TW_INT, false, SUPEROP_INT, 2, OPERANDS(i, zero));
    }
    gen_node(m, OPC_PERMUTE, type, checked, SUPEROP_SEGDES, 3, OPERANDS(v, i, s));
    return;
  }
  uint32_t d = gen_data(m, SUPEROP_SEGDES, DATA_PARTNER, s);
  uint32_t flags = style == 1 ? SUPEROP_NONE : gen_data(m, SUPEROP_BOOL, DATA_ELEMENTS, 0);
  uint32_t i = gen_index(m, s, d, flags);
  uint32_t defaults = style == 2 ? 0 : gen_data(m, kind, DATA_VALUES, d);
  if (style == 1) {
    gen_node(m, OPC_DPERMUTE, type, checked, SUPEROP_SEGDES, 5, OPERANDS(v, i, defaults, s, d));
  } else if (style == 2) {
    gen_node(m, OPC_FPERMUTE, type, checked, SUPEROP_SEGDES, 5, OPERANDS(v, i, flags, s, d));
  } else {
    gen_node(m, OPC_DFPERMUTE, type, checked, SUPEROP_SEGDES, 6,
             OPERANDS(v, i, flags, defaults, s, d));
  }
}

static void add_combination(struct generator *m, enum opcode_class class) {
  enum type_word type;
  enum opcode op = random_opcode(m, class, &type);
  uint32_t v = gen_value(m, superop_make_kind_of_letter('T', type));
  gen_node(m, op, type, false, SUPEROP_SEGDES, 2, OPERANDS(v, gen_common_segments(m)));
}

static void add_pack(struct generator *m) {
  enum superop_kind kind = (enum superop_kind)rng_below(&m->s->rng, 3);
  uint32_t v = gen_value(m, kind), f = gen_value(m, SUPEROP_BOOL);
  gen_node(m, OPC_PACK, (enum type_word)kind, false, SUPEROP_SEGDES, 3,
           OPERANDS(v, f, gen_common_segments(m)));
}

/* ---- assertions ---- */

/* Adds a number for a message, often one that nothing else needs. */
static uint32_t message_value(struct generator *m) {
  uint32_t x = gen_value(m, SUPEROP_INT), d;
  switch (rng_below(&m->s->rng, 6)) {
  case 0: return x;
  case 1: return gen_flat(m, SUPEROP_INT, 7);
  case 2: {
    uint32_t f = gen_value(m, SUPEROP_FLOAT);
    uint32_t y = gen_node(m, OPC_ROUND, TW_NONE, false, SUPEROP_SEGDES, 1, OPERANDS(f));
    return gen_node(m, OPC_SUB, TW_INT, false, SUPEROP_SEGDES, 2, OPERANDS(x, y));
  }
  case 3: {
    d = gen_segments(m);
    uint32_t start = gen_data(m, SUPEROP_INT, DATA_PER_SEGMENT, d);
    uint32_t stride = gen_data(m, SUPEROP_INT, DATA_PER_SEGMENT, d);
    return gen_node(m, OPC_INDEX, TW_NONE, false, SUPEROP_SEGDES, 3,
                    OPERANDS(start, stride, d));
  }
  case 4: {
    d = gen_segments(m);
    uint32_t v = gen_data(m, SUPEROP_INT, DATA_PER_SEGMENT, d);
    uint32_t y = gen_node(m, OPC_DIST, TW_INT, false, SUPEROP_SEGDES, 2, OPERANDS(v, d));
    return gen_node(m, OPC_MUL, TW_INT, false, SUPEROP_SEGDES, 2, OPERANDS(y, x));
  }
  default: {
    d = gen_segments(m);
    uint32_t source = gen_data(m, SUPEROP_SEGDES, DATA_PARTNER, d);
    uint32_t v = gen_data(m, SUPEROP_INT, DATA_VALUES, source);
    uint32_t i =
        add_param(m, SUPEROP_INT, (struct recipe){DATA_SOUND, d, source, SUPEROP_NONE});
    return gen_node(m, OPC_BPERMUTE, TW_INT, gen_chance(m, 4), SUPEROP_SEGDES, 4,
                    OPERANDS(v, i, source, d));
  }
  }
}

/* Adds the assertions before x[i], 0 <= i < n or nearly that, and the gather, before or after
 * them. */
static void add_range(struct generator *m, const char *text) {
  const bool wild = m->mix->wild, early = gen_chance(m, 4);
  uint32_t d = gen_segments(m), source = gen_data(m, SUPEROP_SEGDES, DATA_PARTNER, d);
  uint32_t x = gen_data(m, SUPEROP_FLOAT, DATA_VALUES, source);
  uint32_t i = gen_index(m, d, source, SUPEROP_NONE);
  int64_t most = wild && gen_chance(m, 2) ? (int64_t)rng_below(&m->s->rng, 40) - 1 : 1 << 20;
  uint32_t least =
      gen_flat(m, SUPEROP_INT, -(int64_t)gen_chance(m, 8) + (wild && gen_chance(m, 8)));
  uint32_t n =
      wild && gen_chance(m, 4) ? gen_value(m, SUPEROP_INT) : gen_flat(m, SUPEROP_INT, most);
  if (early) {
    gen_node(m, OPC_BPERMUTE, TW_FLOAT, true, SUPEROP_FLOAT, 4, OPERANDS(x, i, source, d));
  }
  uint32_t low = gen_node(m, OPC_GE, TW_INT, false, SUPEROP_BOOL, 2, OPERANDS(i, least));
  uint32_t high = gen_node(m, OPC_LT, TW_INT, false, SUPEROP_BOOL, 2, OPERANDS(i, n));
  uint32_t flags = gen_node(m, OPC_AND, TW_BOOL, false, SUPEROP_BOOL, 2, OPERANDS(low, high));
  gen_node(m, OPC_ASSERT, TW_NONE, true, SUPEROP_SEGDES, 3, OPERANDS(flags, i, n));
  m->c->nodes[m->node_count - 1].text = text;
  m->c->nodes[m->node_count - 1].text_length = 5;
  if (!early) {
    gen_node(m, OPC_BPERMUTE, TW_FLOAT, true, SUPEROP_FLOAT, 4, OPERANDS(x, i, source, d));
  }
}

static void add_assert(struct generator *m) {
  static const char text[] = "flags of {v} and {w}";
  enum { ROOM = 16 };
  if (m->node_count + ROOM <= SUPEROP_NODES && gen_chance(m, 2)) {
    add_range(m, text);
    return;
  }
  uint32_t flags = gen_data(m, SUPEROP_BOOL, DATA_TRUE, 0);
  if (m->mix->wild && gen_chance(m, 10)) {
    flags = gen_value(m, SUPEROP_BOOL);
  } else if (gen_chance(m, 2)) {
    uint32_t yes = gen_flat(m, SUPEROP_BOOL, 1);
    flags = gen_node(m, OPC_AND, TW_BOOL, false, SUPEROP_BOOL, 2, OPERANDS(flags, yes));
  }
  uint32_t v = message_value(m), w = gen_chance(m, 4) ? v : message_value(m);
  gen_node(m, OPC_ASSERT, TW_NONE, m->mix->wild || gen_chance(m, 2), SUPEROP_SEGDES, 3,
           OPERANDS(flags, v, w));
  struct superop_node *node = &m->c->nodes[m->node_count - 1];
  node->text = text;
  node->text_length = (uint32_t)(1 + rng_below(&m->s->rng, sizeof text - 1));
}

/* ---- loops ---- */

/* Adds a loop that ends: it counts down from 7 at most, or from 63. */
static void add_loop(struct generator *m) {
  enum { CARRIED = 5, ROOM = 34, BODY = 4 };
  struct generator outside = *m;
  enum superop_kind kinds[CARRIED] = {SUPEROP_INT, SUPEROP_BOOL, SUPEROP_FLOAT};
  uint32_t carried[CARRIED], start[CARRIED] = {0};
  uint32_t count = 3 + (uint32_t)rng_below(&m->s->rng, CARRIED - 2);
  if (m->node_count + ROOM > SUPEROP_NODES) return;
  uint32_t zero = gen_flat(m, SUPEROP_INT, 0), one = gen_flat(m, SUPEROP_INT, 1);
  uint32_t mask = gen_flat(m, SUPEROP_INT, gen_chance(m, 4) ? 63 : 7);
  m->odd = one;
  for (uint32_t i = 0; i < count; i++) {
    if (i >= 3) kinds[i] = (enum superop_kind)rng_below(&m->s->rng, 3);
    start[i] = gen_value(m, kinds[i]);
  }
  start[0] = gen_node(m, OPC_AND, TW_INT, false, SUPEROP_SEGDES, 2, OPERANDS(start[0], mask));
  /* includes what has been added for the start */
  memcpy(outside.pool, m->pool, sizeof m->pool);
  memcpy(outside.pool_count, m->pool_count, sizeof m->pool_count);
  m->inside = true;
  memset(m->pool_count, 0, sizeof m->pool_count);
  for (uint32_t i = 0; i < count; i++) {
    carried[i] = gen_node(m, SUPEROP_CARRY, (enum type_word)kinds[i], false, kinds[i], 1,
                          OPERANDS(start[i]));
  }
  for (uint64_t k = rng_below(&m->s->rng, BODY); k > 0; k--) gen_map(m);
  uint32_t on = gen_node(m, OPC_GT, TW_INT, false, SUPEROP_BOOL, 2, OPERANDS(carried[0], zero));
  if (gen_chance(m, 2)) {
    uint32_t also = gen_value(m, SUPEROP_BOOL);
    on = gen_node(m, OPC_AND, TW_BOOL, false, SUPEROP_BOOL, 2, OPERANDS(on, also));
  }
  gen_node(m, SUPEROP_WHILE, TW_NONE, false, SUPEROP_SEGDES, 1, OPERANDS(on));
  for (uint64_t k = rng_below(&m->s->rng, BODY); k > 0; k--) gen_map(m);
  uint32_t next[CARRIED] = {
      gen_node(m, OPC_SUB, TW_INT, false, SUPEROP_SEGDES, 2, OPERANDS(carried[0], one))};
  for (uint32_t i = 1; i < count; i++) {
    next[i] = gen_chance(m, 4) ? carried[i] : gen_value(m, kinds[i]);
  }
  m->inside = false;
  memcpy(m->pool, outside.pool, sizeof m->pool);
  memcpy(m->pool_count, outside.pool_count, sizeof m->pool_count);
  for (uint32_t i = 0; i < count; i++) {
    gen_node(m, SUPEROP_NEXT, (enum type_word)kinds[i], false, kinds[i], 2,
             OPERANDS(carried[i], next[i]));
  }
}

/* ---- the whole ---- */

/* Nodes of all kinds in random order. */
static void superop_make_add_nodes(struct generator *m) {
  void (*const add[])(struct generator *) = {gen_map, superop_make_add_spread,
                                             superop_make_add_gather};
  enum { KINDS = 10 };
  uint32_t left[KINDS] = {m->mix->maps,        m->mix->spreads, m->mix->gathers,
                          m->mix->reductions,  m->mix->scans,   m->mix->packs,
                          m->mix->scatters,    m->mix->asserts, m->mix->loops,
                          m->mix->combinations};
  uint32_t total = 0;
  for (int i = 0; i < KINDS; i++) {
    if (left[i] > 1) left[i] = 1 + (uint32_t)rng_below(&m->s->rng, left[i]);
    total += left[i];
  }
  for (; total > 0 && superop_make_has_room(m); total--) {
    uint64_t at = rng_below(&m->s->rng, total);
    int kind = 0;
    while (at >= left[kind]) at -= left[kind++];
    left[kind]--;
    switch (kind) {
    case 3: add_combination(m, OC_REDUCE); break;
    case 4: add_combination(m, OC_SCAN); break;
    case 5: add_pack(m); break;
    case 6: add_scatter(m); break;
    case 7: add_assert(m); break;
    case 8: add_loop(m); break;
    case 9: gen_combination(m); break;
    default: add[kind](m); break;
    }
  }
}

/* Chooses the outputs: all values without use, except a few, and some of the rest. There is at
 * least one, unless there are ASSERTs. */
static void choose_outputs(struct generator *m) {
  struct superop *op = &m->c->op;
  uint32_t *out = m->c->outputs, result = 0, last = SUPEROP_NONE;
  op->output_count = 0;
  for (uint32_t k = 0; k < m->node_count; k++) {
    uint32_t results = superop_make_results_of(m->c->nodes[k].op);
    if (results == 0 || m->hidden[result]) {
      result += results;
      continue;
    }
    if (m->c->nodes[k].op != OPC_CONST) last = result;
    for (uint32_t r = 0; r < results && m->c->nodes[k].op != OPC_CONST; r++) {
      if (m->used[result + r] ? gen_chance(m, 5) : !gen_chance(m, 12)) {
        out[op->output_count++] = RESULTS + result + r;
      }
    }
    result += results;
  }
  bool asserts = false;
  for (uint32_t k = 0; k < m->node_count; k++) asserts |= m->c->nodes[k].op == OPC_ASSERT;
  bool alone = asserts && (last == SUPEROP_NONE || gen_chance(m, 3));
  if (op->output_count == 0 && !alone) out[op->output_count++] = RESULTS + last;
  for (uint32_t i = op->output_count; i > 1; i--) { /* puts them into any order */
    uint32_t j = (uint32_t)rng_below(&m->s->rng, i), x = out[j];
    out[j] = out[i - 1];
    out[i - 1] = x;
  }
}

static void superop_make_renumber(const struct generator *m, uint32_t *value) {
  if (*value >= RESULTS) *value += m->param_count - RESULTS;
}

bool superop_case_make(struct suite *s, struct arena *arena, const struct mixture *mix,
                       struct superop_case *c) {
  struct generator m = {.s = s, .mix = mix, .c = c, .segments = SUPEROP_NONE};
  *c = (struct superop_case){.wild = mix->wild};
  superop_make_add_nodes(&m);
  /* a parameter without use */
  if (gen_chance(&m, 10)) gen_data(&m, SUPEROP_FLOAT, DATA_ELEMENTS, 0);
  if (gen_chance(&m, 10)) gen_data(&m, SUPEROP_SEGDES, DATA_ONE, 0);
  choose_outputs(&m);
  for (uint32_t k = 0; k < m.node_count; k++) {
    for (uint32_t i = 0; i < c->nodes[k].operand_count; i++) {
      superop_make_renumber(&m, &c->nodes[k].operands[i]);
    }
  }
  for (uint32_t i = 0; i < c->op.output_count; i++) superop_make_renumber(&m, &c->outputs[i]);
  c->op.param_count = m.param_count;
  c->op.node_count = m.node_count;
  c->op.params = c->params;
  c->op.nodes = c->nodes;
  c->op.outputs = c->outputs;
  const char *why;
  uint32_t node;
  if (superop_complete(arena, &c->op, &why, &node)) return true;
  suite_fail(s, "superop_complete refuses node %u: %s", node, why ? why : "no memory");
  superop_case_print(c, s->options->out);
  return false;
}

void superop_case_print(const struct superop_case *c, FILE *out) {
  static const char *const kinds[] = {"INT", "FLOAT", "BOOL", "SEGDES"};
  const struct superop *op = &c->op;
  fprintf(out, "  fused (");
  for (uint32_t p = 0; p < op->param_count; p++) {
    fprintf(out, "%s$%u : %s", p ? ", " : "", p, kinds[op->params[p]]);
  }
  fprintf(out, ") =\n");
  for (uint32_t k = 0; k < op->node_count; k++) {
    const struct superop_node *node = &op->nodes[k];
    const char *type = type_word_text((enum type_word)node->type);
    fprintf(out, "    %2u: ", k);
    if (node->result_count > 0) fprintf(out, "$%u = ", node->result);
    fprintf(out, "(%s%s%s%s", node->checked ? "" : "! ", superop_info(node->op)->spelling,
            *type ? " " : "", type);
    if (node->op == OPC_CONST && node->type == TW_FLOAT) {
      fprintf(out, " %g", cvl_float_of(&node->constant));
    } else if (node->op == OPC_CONST) {
      fprintf(out, " %lld",
              (long long)(node->type == TW_BOOL ? node->constant.as.b
                                                : cvl_int_of(&node->constant)));
    }
    for (uint32_t i = 0; i < node->operand_count; i++) {
      fprintf(out, "%s $%u", i ? "" : " @", node->operands[i]);
    }
    fprintf(out, ")\n");
  }
  fprintf(out, "    ->");
  for (uint32_t i = 0; i < op->output_count; i++) fprintf(out, " $%u", op->outputs[i]);
  fprintf(out, "\n");
}
