/* fold.c - operations whose result is known while flattening: descriptors of lengths that are
 * known, comparisons and arithmetic of known numbers, gathers of all elements in order. These
 * are patterns that lifting itself produces often. The optimiser folds the rest.
 */
#include "neslc/flatten/emit.h"

static bool fold_is_int(struct flattener *f, ir_var v, int64_t x) {
  int64_t known;
  return known_int(f, v, &known) && known == x;
}

enum { SMALL = 1 << 14 }; /* sums and products of such numbers cannot overflow 32 bits */

static bool fold_is_small(int64_t x) {
  return x > -SMALL && x < SMALL;
}

/* Comparisons of known numbers, and arithmetic of small ones. */
static bool fold_numbers(struct flattener *f, enum opcode op, int64_t a, int64_t b,
                         ir_var *result) {
  const bool small = fold_is_small(a) && fold_is_small(b);
  switch (op) {
  case OPC_ADD: return small && (*result = emit_int(f, a + b), true);
  case OPC_SUB: return small && (*result = emit_int(f, a - b), true);
  case OPC_MUL: return small && (*result = emit_int(f, a * b), true);
  case OPC_LT: *result = emit_bool(f, a < b); return true;
  case OPC_LE: *result = emit_bool(f, a <= b); return true;
  case OPC_GT: *result = emit_bool(f, a > b); return true;
  case OPC_GE: *result = emit_bool(f, a >= b); return true;
  case OPC_EQ: *result = emit_bool(f, a == b); return true;
  case OPC_NE: *result = emit_bool(f, a != b); return true;
  default: return false;
  }
}

bool known_bool(struct flattener *f, ir_var v, bool *out) {
  for (size_t i = 0; i < f->assumed.count; i++) {
    *out = f->assumed.items[i].value;
    if (f->assumed.items[i].condition == v) return true;
  }
  const struct vcode_constant *k = constant_of(f, v);
  if (!k || k->type != TW_BOOL || k->length != 1) return false;
  *out = k->as.bools[0];
  return true;
}

/* One known INT, distributed over `segdes`. */
static bool known_spread(struct flattener *f, ir_var v, ir_var segdes, int64_t *scalar) {
  const struct ir_binding *d = defined_by(f, v, OPC_DIST);
  return d && d->operands[1] == segdes && known_int(f, d->operands[0], scalar);
}

/* Whether v holds all positions of `segdes`, which has one segment because the start is a
 * scalar. */
static bool is_all_positions(struct flattener *f, ir_var v, ir_var segdes) {
  const struct ir_binding *d = defined_by(f, v, OPC_INDEX);
  return d && d->operands[2] == segdes && fold_is_int(f, d->operands[0], 0) &&
         fold_is_int(f, d->operands[1], 1);
}

/* A small known INT, or copies of one; *copies: the DIST that makes them, or NULL. */
static bool known_copies(struct flattener *f, ir_var v, int64_t *scalar,
                         const struct ir_binding **copies) {
  *copies = defined_by(f, v, OPC_DIST);
  return known_int(f, *copies ? (*copies)->operands[0] : v, scalar) && fold_is_small(*scalar);
}

/* The start of a series that begins `by` later: both are known, or one series and one number.
 */
static bool later_start(struct flattener *f, enum opcode op, const struct ir_binding *index,
                        ir_var by, ir_var *start) {
  const struct ir_binding *starts, *numbers;
  int64_t first, more;
  if (!known_copies(f, index->operands[0], &first, &starts)) return false;
  if (known_copies(f, by, &more, &numbers)) {
    *start = emit_int(f, op == OPC_ADD ? first + more : first - more);
    if (starts) *start = EMIT(f, DIST, INT, *start, starts->operands[1]);
    return true;
  }
  /* A start that is a scalar is that of the only segment. */
  if (starts || !numbers || numbers->operands[1] != index->operands[2]) return false;
  *start = emit(f, op, TW_INT, 2, (ir_var[]){index->operands[0], numbers->operands[0]});
  return true;
}

/* A number added to each of a series, or subtracted: the series that begins so much later. */
static bool moved_series(struct flattener *f, enum opcode op, ir_var series, ir_var by,
                         ir_var *result) {
  const struct ir_binding *index = defined_by(f, series, OPC_INDEX);
  ir_var start;
  if (!index || !later_start(f, op, index, by, &start)) return false;
  *result = EMIT(f, INDEX, NONE, start, index->operands[1], index->operands[2]);
  return true;
}

bool fold_operation(struct flattener *f, enum opcode op, const ir_var *x, ir_var *result) {
  int64_t a, b;
  bool p;
  const struct ir_binding *d;
  switch (op) {
  case OPC_LENGTHS: {
    d = defined_by(f, x[0], OPC_MAKE_SEGDES);
    const struct vcode_constant *k = constant_of(f, x[0]);
    if (d) {
      *result = d->operands[0];
    } else if (k && k->length == 1) {
      *result = emit_int(f, k->as.ints[0]);
    } else {
      return false;
    }
    return true;
  }
  case OPC_MAKE_SEGDES:
    d = defined_by(f, x[0], OPC_LENGTHS);
    if (d) {
      *result = d->operands[0];
      return true;
    }
    if (!known_int(f, x[0], &a) || a < 0) return false;
    *result = emit_one_segment(f, a);
    return true;
  case OPC_ADD:
    if (moved_series(f, op, x[0], x[1], result) || moved_series(f, op, x[1], x[0], result))
      return true;
    break;
  case OPC_SUB:
    if (moved_series(f, op, x[0], x[1], result)) return true;
    break;
  case OPC_AND:
    if (known_bool(f, x[0], &p) && p) {
      *result = x[1];
      return true;
    }
    if (known_bool(f, x[1], &p) && p) {
      *result = x[0];
      return true;
    }
    return false;
  case OPC_ADD_SCAN: /* of a single length: its offset */
    if (known_int(f, x[0], &a)) {
      *result = emit_int(f, 0);
      return true;
    }
    if (known_spread(f, x[0], x[1], &a)) {
      *result = EMIT(f, INDEX, NONE, emit_int(f, 0), emit_int(f, a), x[1]);
      return true;
    }
    return false;
  case OPC_ADD_REDUCE: { /* of one number in one segment; further segments may be empty */
    d = defined_by(f, x[0], OPC_DIST);
    if (d && d->operands[1] == x[1] && f->kinds.items[x[0]]->tag == IR_INT) {
      *result = EMIT(f, MUL, INT, EMIT(f, LENGTHS, NONE, x[1]), d->operands[0]);
      return true;
    }
    const struct vcode_constant *k = constant_of(f, x[1]);
    if (!k || k->length != 1 || !known_int(f, x[0], &a)) return false;
    *result = x[0];
    return true;
  }
  case OPC_BPERMUTE: /* of one value per segment to the elements of that segment */
    d = defined_by(f, x[1], OPC_DIST);
    if (!d || !is_all_positions(f, d->operands[0], x[2])) return false;
    *result = emit(f, OPC_DIST, (enum type_word)f->kinds.items[x[0]]->tag, 2,
                   (ir_var[]){x[0], d->operands[1]});
    return true;
  default: break;
  }
  if (known_int(f, x[0], &a) && opcode_info(op)->operands[1] && known_int(f, x[1], &b)) {
    return fold_numbers(f, op, a, b, result);
  }
  return false;
}
