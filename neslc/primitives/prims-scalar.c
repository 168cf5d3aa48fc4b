/* prims-scalar.c - primitives on scalars: one operation for all instances. */
#include <string.h>

#include "neslc/flatten/combine.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/primitive.h"
#include "neslc/flatten/rep.h"
#include "neslc/primitives/int-range.h"
#include "neslc/primitives/prims.h"

void emit_check(struct flattener *f, ir_var flags, const char *text) {
  const ir_var number =
      EMIT(f, B_TO_I, NONE, flags); /* ASSERT needs two INTs, reported or not */
  emit_assert(f, flags, number, number, text);
}

/* The scalars of an argument: x, or (x, y). */
struct scalars {
  const struct rep *part[3];
  unsigned count;
};

static void collect_scalars(const struct rep *r, struct scalars *out) {
  if (r->kind == REP_PAIR && out->count < 2) {
    collect_scalars(r->left, out);
    collect_scalars(r->right, out);
    return;
  }
  if (out->count < 3) out->part[out->count++] = r;
}

static const struct rep *apply_opcode(struct flattener *f, const struct context *c,
                                      enum opcode op, enum type_word word,
                                      enum type_word result, const struct scalars *x,
                                      bool may_fail) {
  bool shared = !may_fail || context_serial(c);
  ir_var v[3];
  for (unsigned i = 0; i < x->count; i++) shared &= x->part[i]->shared || context_serial(c);
  for (unsigned i = 0; i < x->count; i++) {
    v[i] = shared ? x->part[i]->v : rep_each_scalar(f, c, x->part[i]);
  }
  return rep_scalar(f, result, emit(f, op, word, x->count, v), shared);
}

/* Division of INTs under a mask, or within a combination, where it must not fail: a divisor of
 * 0 becomes 1, and the check fails. */
static const struct rep *divide_each(struct flattener *f, const struct context *c,
                                     enum opcode op, const struct scalars *x, bool safe) {
  ir_var v[2] = {rep_each_scalar(f, c, x->part[0]), rep_each_scalar(f, c, x->part[1])};
  if (!safe && f->options->unchecked) {
    combining_refuse(f, "may fail"); /* there are no checks, and no masks */
  } else if (!safe) {
    const ir_var good = EMIT(f, NE, INT, v[1], each_int(f, c, 0));
    emit_check(f, good, check_text(op == OPC_DIV ? CHECK_DIV : CHECK_REM));
    v[1] = EMIT(f, SELECT, INT, good, v[1], each_int(f, c, 1));
  }
  const ir_var r = emit(f, op, TW_INT, 2, v);
  if (f->combining) *array_push(f->arena, &f->combining->proven) = r;
  return rep_scalar(f, TW_INT, r, false);
}

/* Division of INTs fails by itself where the divisor is zero; that of FLOATs needs a check. */
static const struct rep *emit_divide(struct flattener *f, const struct context *c,
                                     enum opcode op, const struct scalars *x,
                                     const char *text) {
  const enum type_word word = (enum type_word)x->part[0]->word;
  const struct rep *divisor = x->part[1];
  int64_t known;
  double real;
  const bool safe = word == TW_INT ? known_int(f, divisor->v, &known) && known != 0
                                   : known_float(f, divisor->v, &real) && real != 0;
  if (!safe && word == TW_FLOAT) {
    const ir_var y = rep_each_scalar(f, c, divisor);
    const struct rep *zero = rep_scalar(f, word, emit_zero(f, word), true);
    emit_check(f, emit(f, OPC_NE, word, 2, (ir_var[]){y, rep_each_scalar(f, c, zero)}), text);
  }
  if (word == TW_INT && (f->combining || (f->mask != NO_VAR && !safe)))
    return divide_each(f, c, op, x, safe);
  const struct rep *r = apply_opcode(f, c, op, word, word, x, !safe);
  if (!safe && word == TW_INT) *array_push(f->arena, &f->wanted) = r->v;
  return r;
}

/* A check that reports its number: a FLOAT as the nearest INT, since ASSERT takes INTs only. */
static void check_number(struct flattener *f, ir_var good, enum type_word word, ir_var x,
                         enum check check) {
  const ir_var n = word == TW_FLOAT ? EMIT(f, ROUND, NONE, x) : x;
  emit_assert(f, good, n, n, check_text(check));
}

static const struct rep *require_non_negative(struct flattener *f, const struct context *c,
                                              enum opcode op, const struct scalars *x,
                                              enum check check) {
  const ir_var v = rep_each_scalar(f, c, x->part[0]);
  const struct rep *zero = rep_scalar(f, TW_FLOAT, emit_float(f, 0), true);
  /* NaN passes: only numbers below zero are wrong. */
  const ir_var bad = emit(f, OPC_LT, TW_FLOAT, 2, (ir_var[]){v, rep_each_scalar(f, c, zero)});
  check_number(f, EMIT(f, NOT, BOOL, bad), TW_FLOAT, v, check);
  return apply_opcode(f, c, op, TW_FLOAT, TW_FLOAT, x, true);
}

static ir_var each_float(struct flattener *f, const struct context *c, double x) {
  return rep_each_scalar(f, c, rep_scalar(f, TW_FLOAT, emit_float(f, x), true));
}

static ir_var emit_two(struct flattener *f, enum opcode op, enum type_word word, ir_var a,
                       ir_var b) {
  return emit(f, op, word, 2, (ir_var[]){a, b});
}

/* int-range.h: {e} of the message. */
static void emit_range_report(struct flattener *f, const struct context *c, ir_var x, ir_var *v,
                              ir_var *w) {
  const ir_var zero = each_float(f, c, 0);
  const ir_var below = emit_two(f, OPC_LT, TW_FLOAT, x, zero);
  const ir_var size = EMIT(f, SELECT, FLOAT, below, emit_two(f, OPC_SUB, TW_FLOAT, zero, x), x);
  const ir_var log = EMIT(f, LOG, NONE, size);
  const ir_var digits =
      emit_two(f, OPC_ADD, TW_FLOAT,
               emit_two(f, OPC_MUL, TW_FLOAT, log, each_float(f, c, INT_RANGE_PER_LOG)),
               each_float(f, c, INT_RANGE_ABOVE - 1));
  *w = EMIT(f, FLOOR, NONE, digits);
  const ir_var scale = emit_two(f, OPC_MUL, TW_FLOAT, EMIT(f, I_TO_F, NONE, *w),
                                each_float(f, c, INT_RANGE_PER_DIGIT));
  *v = EMIT(f, ROUND, NONE, emit_two(f, OPC_MUL, TW_FLOAT, x, EMIT(f, EXP, NONE, scale)));
}

static void require_range(struct flattener *f, const struct context *c,
                          const struct int_range *r, ir_var x) {
  const ir_var from = each_float(f, c, r->from), to = each_float(f, c, r->to);
  const ir_var low = emit_two(f, r->above ? OPC_GT : OPC_GE, TW_FLOAT, x, from);
  const ir_var high = emit_two(f, r->through ? OPC_LE : OPC_LT, TW_FLOAT, x, to);
  const ir_var good = emit_two(f, OPC_AND, TW_BOOL, low, high);
  const char *text = check_text(r->check);
  ir_var v, w;
  if (f->combining) { /* which reports no values */
    const int sentence = (int)strcspn(text, "(");
    combining_check(f, good, arena_printf(f->arena, "%.*s{}", sentence, text));
    return;
  }
  emit_range_report(f, c, x, &v, &w);
  emit_assert(f, good, v, w, text);
}

/* FLOAT to INT, of what has one. The operation itself would give the least INT for the rest. */
static const struct rep *to_int(struct flattener *f, const struct context *c, enum primitive p,
                                enum opcode op, const struct scalars *x) {
  struct int_range range;
  double known;
  int_range_of(p, f->options->widths, &range);
  bool safe = f->options->unchecked;
  if (known_float(f, x->part[0]->v, &known)) {
    const bool narrow = f->options->widths.float_elem == CVL_F32;
    safe |= int_range_has(&range, narrow ? (double)(float)known : known);
  }
  if (!safe) require_range(f, c, &range, rep_each_scalar(f, c, x->part[0]));
  return apply_opcode(f, c, op, TW_NONE, TW_INT, x, !safe);
}

static const struct rep *emit_random(struct flattener *f, const struct context *c,
                                     const struct rep *bound) {
  enum { BITS = 30 };
  const enum type_word word = (enum type_word)bound->word;
  const ir_var v = rep_each_scalar(f, c, bound);
  const struct rep *zero = rep_scalar(f, word, emit_zero(f, word), true);
  const ir_var good = emit(f, OPC_GT, word, 2, (ir_var[]){v, rep_each_scalar(f, c, zero)});
  check_number(f, good, word, v, word == TW_FLOAT ? CHECK_RAND_FLOAT : CHECK_RAND);
  if (word == TW_INT) {
    return rep_scalar(f, TW_INT, emit(f, OPC_RAND, TW_NONE, 1, &v), context_serial(c));
  }
  const double scale = (double)(1 << BITS);
  const struct rep *range = rep_scalar(f, TW_INT, emit_int(f, 1 << BITS), true);
  const struct rep *unit = rep_scalar(f, TW_FLOAT, emit_float(f, 1 / scale), true);
  const ir_var bounds = rep_each_scalar(f, c, range);
  const ir_var drawn = EMIT(f, I_TO_F, NONE, emit(f, OPC_RAND, TW_NONE, 1, &bounds));
  const ir_var part = EMIT(f, MUL, FLOAT, drawn, rep_each_scalar(f, c, unit));
  return rep_scalar(f, TW_FLOAT, EMIT(f, MUL, FLOAT, part, v), context_serial(c));
}

static const struct rep *equal(struct flattener *f, const struct context *c,
                               const struct scalars *x) {
  const enum type_word word = (enum type_word)x->part[0]->word;
  if (word != TW_BOOL) return apply_opcode(f, c, OPC_EQ, word, TW_BOOL, x, false);
  const struct rep *differ = apply_opcode(f, c, OPC_XOR, TW_BOOL, TW_BOOL, x, false);
  return apply_opcode(f, c, OPC_NOT, TW_BOOL, TW_BOOL, &(struct scalars){{differ}, 1}, false);
}

/* A primitive that is one opcode. One that may fail is kept even if its result is unused. */
static const struct rep *one_opcode(struct flattener *f, const struct context *c,
                                    const struct primitive_info *p, const struct scalars *x) {
  const enum type_word word = (enum type_word)x->part[0]->word;
  const enum type_word result = operand_word(opcode_info(p->opcode)->results[0], word);
  const struct rep *r = apply_opcode(f, c, p->opcode, word, result, x, p->may_fail);
  if (p->may_fail) *array_push(f->arena, &f->wanted) = r->v;
  return r;
}

const struct rep *prim_scalar(struct flattener *f, struct context *c, enum primitive p,
                              const struct rep *argument, struct type *result) {
  struct scalars x = {0};
  collect_scalars(argument, &x);
  const enum type_word word = (enum type_word)x.part[0]->word;
  switch (p) {
  case PRIM_EQ:
  case PRIM_EQL:
  case PRIM_SAME: return equal(f, c, &x);
  case PRIM_DIV: return emit_divide(f, c, OPC_DIV, &x, check_text(CHECK_DIV));
  case PRIM_REM: return emit_divide(f, c, OPC_MOD, &x, NULL);
  case PRIM_SQRT: return require_non_negative(f, c, OPC_SQRT, &x, CHECK_SQRT);
  case PRIM_LN: return require_non_negative(f, c, OPC_LOG, &x, CHECK_LN);
  case PRIM_CHAR_CODE:
  case PRIM_CODE_CHAR: return argument;
  case PRIM_RAND: return emit_random(f, c, x.part[0]);
  case PRIM_FLOAT_NUM:
    return word == TW_FLOAT ? argument
                            : apply_opcode(f, c, OPC_I_TO_F, TW_NONE, TW_FLOAT, &x, false);
  case PRIM_INT_TO_ANY:
    x.count = 1;
    return type_to_word(result) == TW_INT
               ? x.part[0]
               : apply_opcode(f, c, OPC_I_TO_F, TW_NONE, TW_FLOAT, &x, false);
  case PRIM_FLOAT_TO_ANY:
    x.count = 1;
    return type_to_word(result) == TW_FLOAT ? x.part[0] : to_int(f, c, p, OPC_ROUND, &x);
  case PRIM_FLOOR:
  case PRIM_CEIL:
  case PRIM_TRUNC:
  case PRIM_ROUND: return to_int(f, c, p, primitive_info(p)->opcode, &x);
  case PRIM_SELECT: {
    const enum type_word of = (enum type_word)x.part[1]->word;
    return apply_opcode(f, c, OPC_SELECT, of, of, &x, false);
  }
  default: break;
  }
  const struct primitive_info *info = primitive_info(p);
  if (info->opcode != OPC_COUNT) return one_opcode(f, c, info, &x);
  unsupported(f, "a primitive on scalars");
  return rep_empty(f, result);
}
