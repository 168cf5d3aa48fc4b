/* fold.c - simplifies one operation by its operands.
 *
 * Constants are folded by cvl_scalar_op in the widths of the program: the bits are those of
 * execution. Identities are exact for every value, NaN and -0.0 included; one that drops
 * an operand is used only if the sizes are proven to agree. */
#include "fcode-opt/simplify.h"
#include "ir/constant.h"
#include "ir/kinds.h"

#include <math.h>

enum {
  CONSTANT_MOST = 64 /* elements of a folded constant vector, which the output spells out */
};

/* ---- constants as values ---- */

static bool same_scalar(const struct cvl_value *a, const struct cvl_value *b) {
  if (a->elem != b->elem) return false;
  switch (elem_info(a->elem)->klass) {
  case CLASS_BOOL: return a->as.b == b->as.b;
  case CLASS_INT: return cvl_int_of(a) == cvl_int_of(b);
  case CLASS_FLOAT: break;
  }
  double x = cvl_float_of(a), y = cvl_float_of(b);
  return x == y && signbit(x) == signbit(y);
}

/* Finds the value of all elements of v. Returns false if they are not known to be equal, or v
 * is empty. */
static bool fold_uniform(const struct simplifier *s, ir_var v, struct cvl_value *value) {
  const struct ir_binding *dist;
  while ((dist = known_op(s, v, OPC_DIST)) != NULL) v = dist->operands[0];
  const struct vcode_constant *c = known_constant(s, v);
  if (!c || c->type == TW_SEGDES || c->length == 0 || c->length > CONSTANT_MOST) return false;
  *value = constant_element(s->o->program->widths, c, 0);
  for (uint64_t i = 1; i < c->length; i++) {
    struct cvl_value other = constant_element(s->o->program->widths, c, i);
    if (!same_scalar(value, &other)) return false;
  }
  return true;
}

/* Makes a constant of these values. */
static const struct vcode_constant *fold_constant_of(struct simplifier *s, uint64_t n,
                                                     const struct cvl_value *values,
                                                     enum elem_class class) {
  struct arena *a = s->o->arena;
  struct vcode_constant *c = arena_alloc(a, sizeof *c);
  c->length = n;
  c->vector = n != 1;
  if (class == CLASS_INT) {
    int64_t *ints = arena_alloc(a, n * sizeof *ints);
    for (uint64_t i = 0; i < n; i++) ints[i] = cvl_int_of(&values[i]);
    c->type = TW_INT;
    c->as.ints = ints;
  } else if (class == CLASS_BOOL) {
    uint8_t *bools = arena_alloc(a, n);
    for (uint64_t i = 0; i < n; i++) bools[i] = values[i].as.b;
    c->type = TW_BOOL;
    c->as.bools = bools;
  } else {
    double *floats = arena_alloc(a, n * sizeof *floats);
    for (uint64_t i = 0; i < n; i++) floats[i] = cvl_float_of(&values[i]);
    c->type = TW_FLOAT;
    c->as.floats = floats;
  }
  return c;
}

/* Makes a constant INT or SEGDES (of one segment). */
static const struct vcode_constant *integer_constant(struct simplifier *s, enum type_word type,
                                                     int64_t x) {
  int64_t *ints = arena_alloc(s->o->arena, sizeof *ints);
  struct vcode_constant *c = arena_alloc(s->o->arena, sizeof *c);
  *ints = x;
  *c = (struct vcode_constant){.type = type, .length = 1, .as.ints = ints};
  return c;
}

static bool fits_int_width(const struct simplifier *s, int64_t x) {
  return s->o->program->widths.int_elem == CVL_I64 || (INT32_MIN <= x && x <= INT32_MAX);
}

/* ---- replacing ---- */

static enum folded become_constant(struct simplifier *s, const struct ir_binding *x,
                                   const struct vcode_constant *c) {
  if (!c) return FOLD_NOT;
  simplify_replace(s, x->results[0], simplify_constant(s, c, x));
  return FOLD_GONE;
}

static enum folded become_var(struct simplifier *s, const struct ir_binding *x, ir_var v) {
  simplify_replace(s, x->results[0], v);
  return FOLD_GONE;
}

/* Makes x a constant without using other operands. */
static enum folded become_if_sizes_agree(struct simplifier *s, const struct ir_binding *x,
                                         ir_var v) {
  return known_to_agree(s, x) ? become_var(s, x, v) : FOLD_NOT;
}

static enum folded become_op(struct simplifier *s, struct ir_binding *x, enum opcode op,
                             enum type_word type, uint32_t count, const ir_var *operands) {
  struct ir_binding y = rewrite_binding(s->o, (uint16_t)op, (uint8_t)type, count,
                                        x->result_count, x->pos, x->origin);
  for (uint32_t i = 0; i < count; i++) y.operands[i] = operands[i];
  for (uint32_t i = 0; i < x->result_count; i++) y.results[i] = x->results[i];
  *x = y;
  return FOLD_AGAIN;
}

static enum folded become_not(struct simplifier *s, struct ir_binding *x, ir_var v) {
  return become_op(s, x, OPC_NOT, TW_BOOL, 1, &v);
}

/* ---- elementwise: constants ---- */

static bool fold_apply(const struct simplifier *s, const struct ir_binding *x,
                       const struct cvl_value *operands, struct cvl_value *result) {
  struct widths widths = s->o->program->widths;
  enum cvl_error_kind fault;
  return cvl_scalar_op(widths.int_elem, widths.float_elem, opcode_info(x->op)->operation,
                       operands, result, &fault);
}

/* Folds an operation whose operands are constants of one length. */
static enum folded fold_constants(struct simplifier *s, struct ir_binding *x) {
  const struct vcode_constant *c[3] = {0};
  for (uint32_t i = 0; i < x->operand_count; i++) {
    c[i] = known_constant(s, x->operands[i]);
    if (!c[i] || c[i]->length != c[0]->length) return FOLD_NOT;
  }
  if (!c[0]) return FOLD_NOT;
  uint64_t n = c[0]->length;
  struct cvl_value results[CONSTANT_MOST];
  if (n > CONSTANT_MOST) return FOLD_NOT;
  for (uint64_t i = 0; i < n; i++) {
    struct cvl_value operands[3];
    for (uint32_t k = 0; k < x->operand_count; k++)
      operands[k] = constant_element(s->o->program->widths, c[k], i);
    if (!fold_apply(s, x, operands, &results[i])) return FOLD_NOT;
  }
  const struct map_row *row = opcode_map_row(x->op, (enum type_word)x->type);
  return become_constant(s, x, fold_constant_of(s, n, results, row->out));
}

static bool is_one_constant(const struct simplifier *s, ir_var v) {
  const struct vcode_constant *c = known_constant(s, v);
  return c && c->length == 1;
}

/* Folds an operation on constants and spread constants: the result is one, too. */
static enum folded fold_spread(struct simplifier *s, struct ir_binding *x) {
  struct cvl_value operands[3], result;
  const struct ir_binding *dist = NULL;
  for (uint32_t i = 0; i < x->operand_count; i++) {
    if (!fold_uniform(s, x->operands[i], &operands[i])) return FOLD_NOT;
    if (!dist) dist = known_op(s, x->operands[i], OPC_DIST);
  }
  if (!dist || !known_to_agree(s, x) || !is_one_constant(s, dist->operands[0]) ||
      !fold_apply(s, x, operands, &result))
    return FOLD_NOT;
  enum elem_class class = elem_info(result.elem)->klass;
  const struct vcode_constant *c = fold_constant_of(s, 1, &result, class);
  ir_var spread[2] = {simplify_constant(s, c, x), dist->operands[1]};
  return become_op(s, x, OPC_DIST, c->type, 2, spread);
}

/* ---- elementwise: algebra ---- */

enum side { LEFT = 1, RIGHT = 2, EITHER = 3 };
enum outcome { THE_OTHER, THE_CONSTANT };

/* An identity: with this constant as this operand, the result is the other operand or the
 * constant. */
struct identity {
  enum opcode op;
  enum elem_class klass;
  enum side side;
  double constant;
  enum outcome outcome;
};

static const struct identity identities[] = {
    {OPC_ADD, CLASS_INT, EITHER, 0, THE_OTHER},
    {OPC_SUB, CLASS_INT, RIGHT, 0, THE_OTHER},
    {OPC_MUL, CLASS_INT, EITHER, 1, THE_OTHER},
    {OPC_MUL, CLASS_INT, EITHER, 0, THE_CONSTANT},
    {OPC_DIV, CLASS_INT, RIGHT, 1, THE_OTHER},
    {OPC_AND, CLASS_INT, EITHER, -1, THE_OTHER},
    {OPC_AND, CLASS_INT, EITHER, 0, THE_CONSTANT},
    {OPC_OR, CLASS_INT, EITHER, 0, THE_OTHER},
    {OPC_OR, CLASS_INT, EITHER, -1, THE_CONSTANT},
    {OPC_XOR, CLASS_INT, EITHER, 0, THE_OTHER},
    {OPC_LSHIFT, CLASS_INT, RIGHT, 0, THE_OTHER},
    {OPC_RSHIFT, CLASS_INT, RIGHT, 0, THE_OTHER},
    {OPC_AND, CLASS_BOOL, EITHER, 1, THE_OTHER},
    {OPC_AND, CLASS_BOOL, EITHER, 0, THE_CONSTANT},
    {OPC_OR, CLASS_BOOL, EITHER, 0, THE_OTHER},
    {OPC_OR, CLASS_BOOL, EITHER, 1, THE_CONSTANT},
    {OPC_XOR, CLASS_BOOL, EITHER, 0, THE_OTHER},
    {OPC_ADD, CLASS_FLOAT, EITHER, -0.0, THE_OTHER}, /* not 0.0: -0.0 + 0.0 is 0.0 */
    {OPC_SUB, CLASS_FLOAT, RIGHT, 0.0, THE_OTHER},
    {OPC_MUL, CLASS_FLOAT, EITHER, 1.0, THE_OTHER},
    {OPC_DIV, CLASS_FLOAT, RIGHT, 1.0, THE_OTHER},
};

static bool equals_constant(const struct cvl_value *v, enum elem_class class, double constant) {
  if (elem_info(v->elem)->klass != class) return false;
  switch (class) {
  case CLASS_INT: return cvl_int_of(v) == (int64_t)constant;
  case CLASS_BOOL: return v->as.b == (constant != 0);
  case CLASS_FLOAT: break;
  }
  double x = cvl_float_of(v);
  return x == constant && signbit(x) == signbit(constant);
}

/* Folds binary operations with a constant on one side. */
static enum folded fold_identity(struct simplifier *s, struct ir_binding *x) {
  for (uint32_t k = 0; k < 2; k++) { /* the side of the constant */
    struct cvl_value value;
    if (!fold_uniform(s, x->operands[k], &value)) continue;
    for (size_t i = 0; i < sizeof identities / sizeof identities[0]; i++) {
      const struct identity *id = &identities[i];
      if (id->op != (enum opcode)x->op || !((unsigned)id->side >> k & 1) ||
          !equals_constant(&value, id->klass, id->constant))
        continue;
      return become_if_sizes_agree(s, x, x->operands[id->outcome == THE_OTHER ? 1 - k : k]);
    }
    if (x->op == OPC_XOR && equals_constant(&value, CLASS_BOOL, 1) && known_to_agree(s, x))
      return become_not(s, x, x->operands[1 - k]);
  }
  return FOLD_NOT;
}

/* Folds binary operations on a vector and itself. */
static enum folded fold_twice(struct simplifier *s, struct ir_binding *x) {
  ir_var v = x->operands[0];
  if (v != x->operands[1]) return FOLD_NOT;
  if (x->op == OPC_AND || x->op == OPC_OR) return become_var(s, x, v);
  if (x->type != TW_INT || known_size(s, v, SIZE_LEN) != 1) return FOLD_NOT;
  struct cvl_value r;
  switch ((enum opcode)x->op) {
  case OPC_EQ:
  case OPC_LE:
  case OPC_GE: r = cvl_scalar_bool(true); break;
  case OPC_NE:
  case OPC_LT:
  case OPC_GT: r = cvl_scalar_bool(false); break;
  case OPC_SUB:
  case OPC_XOR: r = cvl_scalar_int(s->o->program->widths.int_elem, 0); break;
  default: return FOLD_NOT;
  }
  return become_constant(s, x, fold_constant_of(s, 1, &r, elem_info(r.elem)->klass));
}

/* Returns the comparison that is true where op is false, or NOT if there is none. Comparisons
 * of FLOAT are all false for NaN, except for equality. */
static enum opcode opposite(const struct ir_binding *x) {
  switch ((enum opcode)x->op) {
  case OPC_EQ: return OPC_NE;
  case OPC_NE: return OPC_EQ;
  case OPC_LT: return x->type == TW_INT ? OPC_GE : OPC_NOT;
  case OPC_GE: return x->type == TW_INT ? OPC_LT : OPC_NOT;
  case OPC_LE: return x->type == TW_INT ? OPC_GT : OPC_NOT;
  case OPC_GT: return x->type == TW_INT ? OPC_LE : OPC_NOT;
  default: return OPC_NOT;
  }
}

static enum folded fold_unary(struct simplifier *s, struct ir_binding *x) {
  const struct ir_binding *of = s->facts[x->operands[0]].def;
  if (!of || of->form != IR_OP) return FOLD_NOT;
  if (x->op == OPC_I_TO_B && of->op == OPC_B_TO_I) return become_var(s, x, of->operands[0]);
  if (x->op != OPC_NOT) return FOLD_NOT;
  if (of->op == OPC_NOT) return become_var(s, x, of->operands[0]);
  enum opcode op = opposite(of);
  if (op == OPC_NOT) return FOLD_NOT;
  return become_op(s, x, op, (enum type_word)of->type, 2, of->operands);
}

static enum folded fold_select(struct simplifier *s, struct ir_binding *x) {
  const ir_var *v = x->operands;
  struct cvl_value flag, a, b;
  if (fold_uniform(s, v[0], &flag)) return become_if_sizes_agree(s, x, v[flag.as.b ? 1 : 2]);
  if (v[1] == v[2]) return become_if_sizes_agree(s, x, v[1]);
  const struct ir_binding *not = known_op(s, v[0], OPC_NOT);
  if (not ) {
    ir_var swapped[3] = {not ->operands[0], v[2], v[1]};
    return become_op(s, x, OPC_SELECT, (enum type_word)x->type, 3, swapped);
  }
  if (x->type != TW_BOOL || !fold_uniform(s, v[1], &a) || !fold_uniform(s, v[2], &b) ||
      a.as.b == b.as.b || !known_to_agree(s, x))
    return FOLD_NOT;
  return a.as.b ? become_var(s, x, v[0]) : become_not(s, x, v[0]);
}

/* Folds (a + b) - b to a, which is exact, since INT wraps. */
static enum folded fold_taken_back(struct simplifier *s, struct ir_binding *x) {
  if (x->op != OPC_SUB || x->type != TW_INT) return FOLD_NOT;
  const struct ir_binding *sum = known_op(s, x->operands[0], OPC_ADD);
  if (!sum || sum->type != TW_INT) return FOLD_NOT;
  if (sum->operands[0] == x->operands[1]) return become_var(s, x, sum->operands[1]);
  return sum->operands[1] == x->operands[1] ? become_var(s, x, sum->operands[0]) : FOLD_NOT;
}

static enum folded fold_elementwise(struct simplifier *s, struct ir_binding *x) {
  enum folded folded = fold_constants(s, x);
  if (folded == FOLD_NOT) folded = fold_spread(s, x);
  if (folded != FOLD_NOT) return folded;
  if (x->op == OPC_SELECT) return fold_select(s, x);
  if (x->operand_count == 1) return fold_unary(s, x);
  folded = fold_twice(s, x);
  if (folded == FOLD_NOT) folded = fold_taken_back(s, x);
  return folded != FOLD_NOT ? folded : fold_identity(s, x);
}

/* ---- segments ---- */

/* Returns whether every segment of d has one element. */
static bool is_uniform(const struct simplifier *s, ir_var v, enum elem_class class, double x) {
  struct cvl_value value;
  return fold_uniform(s, v, &value) && equals_constant(&value, class, x);
}

static bool single_elements(const struct simplifier *s, ir_var d) {
  const struct ir_binding *made = known_op(s, d, OPC_MAKE_SEGDES);
  if (made && is_uniform(s, made->operands[0], CLASS_INT, 1)) return true;
  const struct vcode_constant *c = known_constant(s, d);
  if (!c || c->length > CONSTANT_MOST)
    return known_size(s, d, SIZE_COUNT) == 1 && known_size(s, d, SIZE_TOTAL) == 1;
  bool ones = true;
  for (uint64_t i = 0; i < c->length; i++) ones &= c->as.ints[i] == 1;
  return ones;
}

/* Returns whether v is 0, 1, 2 ... in each segment of d. */
static bool counts_from_zero(const struct simplifier *s, ir_var v, ir_var d) {
  const struct ir_binding *index = known_op(s, v, OPC_INDEX);
  return index && index->operands[2] == d && is_uniform(s, index->operands[0], CLASS_INT, 0) &&
         is_uniform(s, index->operands[1], CLASS_INT, 1);
}

/* The reductions of an empty segment, by the width of INT; for FLOAT all widths agree. */
#define FLOAT_BITS           64
#define IDENTITY_I(identity) r = cvl_scalar_int(ELEM_I, (identity))
#define IDENTITY_F(identity) r = cvl_scalar_float(widths.float_elem, (double)(identity))
#define IDENTITY_B(identity) r = cvl_scalar_bool((identity) != 0)
#define COMBINE(op, class, identity, pad, exact, expression)                                   \
  if (operation == OP_##op && of == CLASS_##class) IDENTITY_##class(identity);
#define CLASS_I CLASS_INT
#define CLASS_F CLASS_FLOAT
#define CLASS_B CLASS_BOOL

#define INT_BITS 32
#include "cvl/expressions.h"
static struct cvl_value identity_32(struct widths widths, enum cvl_op operation,
                                    enum elem_class of) {
  struct cvl_value r = {0};
#include "tables/operations.def"
  return r;
}
#undef INT_BITS

#define COMBINE(op, class, identity, pad, exact, expression)                                   \
  if (operation == OP_##op && of == CLASS_##class) IDENTITY_##class(identity);
#define INT_BITS 64
#include "cvl/expressions.h"
static struct cvl_value identity_64(struct widths widths, enum cvl_op operation,
                                    enum elem_class of) {
  struct cvl_value r = {0};
#include "tables/operations.def"
  return r;
}

static enum folded fold_reduce(struct simplifier *s, struct ir_binding *x) {
  ir_var v = x->operands[0], d = x->operands[1];
  if (single_elements(s, d)) return become_if_sizes_agree(s, x, v);
  if (known_size(s, d, SIZE_COUNT) != 1 || known_size(s, d, SIZE_TOTAL) != 0 ||
      !known_to_agree(s, x))
    return FOLD_NOT;
  struct widths widths = s->o->program->widths;
  enum cvl_op operation = opcode_info(x->op)->operation;
  enum elem_class class = type_word_class((enum type_word)x->type);
  struct cvl_value r = widths.int_elem == CVL_I32 ? identity_32(widths, operation, class)
                                                  : identity_64(widths, operation, class);
  return become_constant(s, x, fold_constant_of(s, 1, &r, class));
}

/* A gather by a packed index is the packed result of the gather by the whole index, if there is
 * that one. It has the descriptor of the packed index, or of others packed alike. */
static enum folded fold_packed_gather(struct simplifier *s, struct ir_binding *x) {
  const ir_var *v = x->operands;
  const struct ir_binding *index = known_op(s, v[1], OPC_PACK), *made = s->facts[v[3]].def;
  if (!index || !made || made->form != IR_OP || made->op != OPC_PACK ||
      made->results[1] != v[3] || made->operands[1] != index->operands[1] ||
      made->operands[2] != index->operands[2])
    return FOLD_NOT;
  struct ir_binding whole = *x;
  ir_var operands[4] = {v[0], index->operands[0], v[2], index->operands[2]};
  whole.operands = operands;
  const struct ir_binding *earlier = ir_numbering_find(&s->numbering, &whole);
  if (!earlier) return FOLD_NOT;
  struct ir_binding y = rewrite_binding(s->o, OPC_PACK, x->type, 3, 2, x->pos, x->origin);
  y.operands[0] = earlier->results[0];
  y.operands[1] = index->operands[1];
  y.operands[2] = index->operands[2];
  y.results[0] = x->results[0];
  y.results[1] = simplify_var(s, s->f->vars[v[3]]);
  *x = y;
  return FOLD_AGAIN;
}

static enum folded fold_permute(struct simplifier *s, struct ir_binding *x) {
  const ir_var *v = x->operands;
  bool unchanged = (x->op == OPC_PERMUTE && counts_from_zero(s, v[1], v[2])) ||
                   (x->op == OPC_BPERMUTE && v[2] == v[3] && counts_from_zero(s, v[1], v[2]));
  if (unchanged) return become_if_sizes_agree(s, x, v[0]);
  return x->op == OPC_BPERMUTE ? fold_packed_gather(s, x) : FOLD_NOT;
}

/* Where INTs are packed that equal others, packs those others instead if they are spread, or
 * the left ones: if more is packed so, that may have been done. */
static bool pack_equal(struct simplifier *s, struct ir_binding *x) {
  const struct ir_binding *equal = known_op(s, x->operands[1], OPC_EQ);
  const bool alone = x->operands[1] >= s->known || s->uses[x->operands[1]] < 2;
  if (!equal || equal->type != TW_INT || alone || known_op(s, x->operands[0], OPC_DIST))
    return false;
  const ir_var left = equal->operands[0], right = equal->operands[1];
  const bool is_left = x->operands[0] == left, is_right = x->operands[0] == right;
  if (is_left == is_right || (is_left && !known_op(s, right, OPC_DIST))) return false;
  x->operands[0] = is_left ? right : left;
  return true;
}

/* What has been spread and packed is spread over what is kept. */
static enum folded spread_packed(struct simplifier *s, struct ir_binding *x, ir_var scalar) {
  struct ir_binding kept = rewrite_binding(s->o, OPC_PACK, TW_BOOL, 3, 2, x->pos, x->origin);
  kept.operands[0] = kept.operands[1] = x->operands[1];
  kept.operands[2] = x->operands[2];
  kept.results[0] = simplify_var(s, ir_kind_base(IR_BOOL));
  kept.results[1] = x->results[1];
  simplify_append(s, &kept);
  struct ir_binding y = rewrite_binding(s->o, OPC_DIST, x->type, 2, 1, x->pos, x->origin);
  y.operands[0] = scalar;
  y.operands[1] = s->facts[x->results[1]].same;
  y.results[0] = x->results[0];
  *x = y;
  return FOLD_AGAIN;
}

static enum folded fold_pack(struct simplifier *s, struct ir_binding *x) {
  const ir_var *v = x->operands;
  if (is_uniform(s, v[1], CLASS_BOOL, 1) && known_to_agree(s, x)) {
    simplify_replace(s, x->results[1], v[2]);
    return become_var(s, x, v[0]);
  }
  if (pack_equal(s, x)) return FOLD_AGAIN;
  const struct ir_binding *dist = known_op(s, v[0], OPC_DIST);
  const bool spread = dist && dist->operands[1] == v[2] && v[0] != v[1];
  return spread ? spread_packed(s, x, dist->operands[0]) : FOLD_NOT;
}

static enum folded fold_vector(struct simplifier *s, struct ir_binding *x) {
  const ir_var *v = x->operands;
  switch ((enum opcode)x->op) {
  case OPC_DIST: return single_elements(s, v[1]) ? become_if_sizes_agree(s, x, v[0]) : FOLD_NOT;
  case OPC_INDEX:
    if (single_elements(s, v[2])) return become_if_sizes_agree(s, x, v[0]);
    if (is_uniform(s, v[1], CLASS_INT, 0) && known_to_agree(s, x)) {
      ir_var spread[2] = {v[0], v[2]};
      return become_op(s, x, OPC_DIST, TW_INT, 2, spread);
    }
    return FOLD_NOT;
  case OPC_EXTRACT:
    return single_elements(s, v[2]) && is_uniform(s, v[1], CLASS_INT, 0)
               ? become_if_sizes_agree(s, x, v[0])
               : FOLD_NOT;
  case OPC_PACK: return fold_pack(s, x);
  case OPC_LENGTH: {
    int64_t length = known_size(s, v[0], SIZE_LEN);
    if (length < 0 || !fits_int_width(s, length)) return FOLD_NOT;
    return become_constant(s, x, integer_constant(s, TW_INT, length));
  }
  default: return FOLD_NOT;
  }
}

/* Folds a descriptor made of constant lengths, or the lengths of a descriptor. */
static enum folded fold_descriptor(struct simplifier *s, struct ir_binding *x) {
  const struct vcode_constant *of = known_constant(s, x->operands[0]);
  if (!of || of->type == TW_CHAR || of->length > CONSTANT_MOST) return FOLD_NOT;
  int64_t total = 0;
  for (uint64_t i = 0; i < of->length; i++) {
    int64_t length = of->as.ints[i];
    if (length < 0 || length > INT32_MAX - total) return FOLD_NOT;
    total += length;
  }
  struct vcode_constant *c = arena_alloc(s->o->arena, sizeof *c);
  c->type = x->op == OPC_MAKE_SEGDES ? TW_SEGDES : TW_INT;
  c->vector = of->length != 1;
  c->length = of->length;
  c->as.ints = of->as.ints;
  return become_constant(s, x, c);
}

static enum folded fold_segment(struct simplifier *s, struct ir_binding *x) {
  const struct ir_binding *undone =
      known_op(s, x->operands[0], x->op == OPC_LENGTHS ? OPC_MAKE_SEGDES : OPC_LENGTHS);
  if (undone) return become_var(s, x, undone->operands[0]);
  return fold_descriptor(s, x);
}

static enum folded fold_pair(struct simplifier *s, struct ir_binding *x) {
  if (x->op == OPC_UNPAIR) {
    const struct ir_binding *pair = known_op(s, x->operands[0], OPC_PAIR);
    if (!pair) return FOLD_NOT;
    simplify_replace(s, x->results[1], pair->operands[1]);
    return become_var(s, x, pair->operands[0]);
  }
  const struct ir_binding *unpair = known_op(s, x->operands[0], OPC_UNPAIR);
  return unpair && unpair->results[1] == x->operands[1] ? become_var(s, x, unpair->operands[0])
                                                        : FOLD_NOT;
}

/* ---- checks ---- */

static bool equally_long(const struct simplifier *s, ir_var a, ir_var b) {
  int64_t length = known_size(s, a, SIZE_LEN);
  if (length >= 0 && length == known_size(s, b, SIZE_LEN)) return true;
  return a == b || (a < s->known && b < s->known &&
                    sizes_class(s->sizes, s->index, a, SIZE_LEN) ==
                        sizes_class(s->sizes, s->index, b, SIZE_LEN));
}

/* Whether flags are all T: constants, or where INTs equal themselves. */
static bool all_true(const struct simplifier *s, ir_var flags) {
  const struct ir_binding *equal = known_op(s, flags, OPC_EQ);
  return is_uniform(s, flags, CLASS_BOOL, 1) ||
         (equal && equal->type == TW_INT && equal->operands[0] == equal->operands[1]);
}

/* Removes an ASSERT whose flags are all T. */
static enum folded fold_check(struct simplifier *s, const struct ir_binding *x) {
  const ir_var *v = x->operands;
  return all_true(s, v[0]) && equally_long(s, v[0], v[1]) && equally_long(s, v[0], v[2])
             ? FOLD_GONE
             : FOLD_NOT;
}

/* ---- all ---- */

const struct vcode_constant *fold_known_constant(struct simplifier *s, ir_var v) {
  enum ir_kind_tag tag = s->f->vars[v]->tag;
  if (v >= s->known) return NULL;
  if (tag == IR_INT && known_size(s, v, SIZE_LEN) == 1) {
    int64_t value = known_size(s, v, SIZE_COUNT);
    if (value >= 0 && fits_int_width(s, value)) return integer_constant(s, TW_INT, value);
  }
  if (tag == IR_SEGDES && known_size(s, v, SIZE_COUNT) == 1) {
    int64_t total = known_size(s, v, SIZE_TOTAL);
    if (total >= 0 && fits_int_width(s, total)) return integer_constant(s, TW_SEGDES, total);
  }
  return NULL;
}

static enum folded fold_known(struct simplifier *s, struct ir_binding *x) {
  if (x->result_count != 1) return FOLD_NOT;
  if (!binding_never_fails(x) &&
      (x->results[0] >= s->known || !sizes_safe(s->sizes, s->index, x)))
    return FOLD_NOT;
  return become_constant(s, x, fold_known_constant(s, x->results[0]));
}

enum folded fold_binding(struct simplifier *s, struct ir_binding *x) {
  enum folded folded = FOLD_NOT;
  switch (opcode_info(x->op)->klass) {
  case OC_ELEMENTWISE: folded = fold_elementwise(s, x); break;
  case OC_REDUCE: folded = fold_reduce(s, x); break;
  case OC_PERMUTE: folded = fold_permute(s, x); break;
  case OC_VECTOR: folded = fold_vector(s, x); break;
  case OC_SEGMENT: folded = fold_segment(s, x); break;
  case OC_PAIRING: return fold_pair(s, x);
  case OC_CHECK: return fold_check(s, x);
  default: /* by the known result */
    if (!opcode_is_pure(x->op)) return FOLD_NOT;
  }
  return folded == FOLD_NOT ? fold_known(s, x) : folded;
}
