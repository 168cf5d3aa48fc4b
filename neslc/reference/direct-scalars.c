/* direct-scalars.c - primitives on scalars: each is one operation of operations.def, so that
 * its bits are those of the vector library; some are checked first. (Section 7.)
 */
#include "neslc/primitives/int-range.h"
#include "neslc/reference/direct-private.h"

#include <math.h>

static struct cvl_value to_cvl(const struct direct *d, struct datum x) {
  switch ((enum datum_kind)x.kind) {
  case DATUM_INT: return cvl_scalar_int(d->widths.int_elem, x.as.integer);
  case DATUM_FLOAT: return cvl_scalar_float(d->widths.float_elem, x.as.real);
  case DATUM_BOOL: return cvl_scalar_bool(x.as.integer);
  case DATUM_PAIR:
  case DATUM_SEQUENCE:
  case DATUM_FUNCTION: break;
  }
  return (struct cvl_value){0};
}

bool direct_operation(struct direct *d, enum cvl_op op, const struct datum *operands,
                      size_t count, struct datum *out) {
  struct cvl_value values[3], result;
  enum cvl_error_kind fault;
  for (size_t i = 0; i < count; i++) values[i] = to_cvl(d, operands[i]);
  if (!cvl_scalar_op(d->widths.int_elem, d->widths.float_elem, op, values, &result, &fault))
    return false;
  if (result.elem == CVL_BOOL) {
    *out = datum_bool(result.as.b);
  } else if (result.elem == d->widths.float_elem) {
    *out = datum_float(cvl_float_of(&result));
  } else {
    *out = datum_int(cvl_int_of(&result));
  }
  return true;
}

/* ---- conversions ---- */

static struct datum converted_datum(struct direct *d, struct datum x, uint8_t kind) {
  if (x.kind == kind) return x;
  struct datum out = x;
  direct_operation(d, kind == DATUM_INT ? OP_ROUND : OP_I_TO_F, &x, 1, &out);
  return out;
}

/* A check of a number failed; FLOATs are reported rounded, as compiled programs do. */
static bool number_fails(struct direct *d, const struct primitive_call *call, enum check check,
                         struct datum x) {
  return direct_check_fails(d, call, check, converted_datum(d, x, DATUM_INT).as.integer, 0);
}

/* ---- random numbers ---- */

/* Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3"),
 * the block of counter (0, k): element 0 of the k-th RAND of a run. (VCODE specification,
 * section 21.3.) Instances of an apply-to-each get a k each here, so only serial calls give the
 * numbers of the compiled program. */
static uint64_t random_word(uint64_t seed, uint64_t k, bool wide) {
  uint32_t c[4] = {0, 0, (uint32_t)k, (uint32_t)(k >> 32)};
  uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < 10; round++) {
    const uint64_t p = (uint64_t)c[0] * UINT32_C(0xD2511F53);
    const uint64_t q = (uint64_t)c[2] * UINT32_C(0xCD9E8D57);
    const uint32_t first = (uint32_t)(q >> 32) ^ c[1] ^ key0;
    c[2] = (uint32_t)(p >> 32) ^ c[3] ^ key1;
    c[3] = (uint32_t)p;
    c[1] = (uint32_t)q;
    c[0] = first;
    key0 += UINT32_C(0x9E3779B9);
    key1 += UINT32_C(0xBB67AE85);
  }
  return wide ? (uint64_t)c[1] << 32 | c[0] : c[0];
}

/* The upper half of u * bound. */
static int64_t scaled_random(uint64_t u, int64_t bound, bool wide) {
  if (!wide) return (int64_t)(u * (uint64_t)bound >> 32);
  const uint64_t b = (uint64_t)bound, low = (u & UINT32_MAX) * (b & UINT32_MAX);
  const uint64_t middle = (u >> 32) * (b & UINT32_MAX) + (low >> 32);
  const uint64_t other = (u & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);
  return (int64_t)((u >> 32) * (b >> 32) + (middle >> 32) + (other >> 32));
}

static bool direct_random(struct direct *d, const struct primitive_call *call,
                          struct datum *out) {
  const bool wide = d->widths.int_elem == CVL_I64;
  const struct datum bound = call->argument[0];
  const bool real = bound.kind == DATUM_FLOAT;
  if (real ? !(bound.as.real > 0) : bound.as.integer <= 0) {
    return number_fails(d, call, real ? CHECK_RAND_FLOAT : CHECK_RAND, bound);
  }
  const uint64_t u = random_word(d->seed, d->random_count++, wide);
  d->drew_in_instances |= d->instances.count > 0;
  if (!real) {
    *out = datum_int(scaled_random(u, bound.as.integer, wide));
  } else { /* as in the flattened program: an INT below a power of two, scaled */
    enum { BITS = 30 };
    const double unit = 1.0 / (double)(1 << BITS);
    const double fraction =
        rounded(d, (double)scaled_random(u, 1 << BITS, wide)) * unit; /* exact */
    *out = datum_float(rounded(d, fraction * bound.as.real));
  }
  return true;
}

/* ---- checks ---- */

static bool is_zero_datum(struct datum x) {
  return x.kind == DATUM_FLOAT ? x.as.real == 0 : x.as.integer == 0;
}

static double real_of(struct direct *d, enum cvl_op op, double x) {
  const struct datum operand = datum_float(x);
  struct datum out = operand;
  direct_operation(d, op, &operand, 1, &out);
  return out.kind == DATUM_FLOAT ? out.as.real : (double)out.as.integer;
}

/* Whether the argument has an INT; what is reported of it is computed as compiled programs do.
 */
static bool check_fits_int(struct direct *d, const struct primitive_call *call, double x) {
  struct int_range range;
  int_range_of(call->primitive, d->widths, &range);
  if (int_range_has(&range, x)) return true;
  const double log = real_of(d, OP_LOG, fabs(x));
  const double digits = rounded(d, rounded(d, log * rounded(d, INT_RANGE_PER_LOG)) +
                                       rounded(d, INT_RANGE_ABOVE - 1));
  const double w = real_of(d, OP_FLOOR, digits);
  const double scale = real_of(d, OP_EXP, rounded(d, w * rounded(d, INT_RANGE_PER_DIGIT)));
  const double v = real_of(d, OP_ROUND, rounded(d, x * scale));
  return direct_check_fails(d, call, range.check, (int64_t)v, (int64_t)w);
}

/* Whether the condition of section 7 holds. */
static bool check_scalars(struct direct *d, const struct primitive_call *call) {
  const struct datum *x = call->argument;
  switch ((int)call->primitive) {
  case PRIM_DIV: return !is_zero_datum(x[1]) || direct_check_fails(d, call, CHECK_DIV, 0, 0);
  case PRIM_REM: return !is_zero_datum(x[1]) || direct_check_fails(d, call, CHECK_REM, 0, 0);
  case PRIM_SQRT: return !(x[0].as.real < 0) || number_fails(d, call, CHECK_SQRT, x[0]);
  case PRIM_LN: return !(x[0].as.real < 0) || number_fails(d, call, CHECK_LN, x[0]);
  case PRIM_FLOOR:
  case PRIM_CEIL:
  case PRIM_TRUNC:
  case PRIM_ROUND: return check_fits_int(d, call, x[0].as.real);
  default: return true;
  }
}

/* ---- dispatch ---- */

bool direct_scalar(struct direct *d, const struct primitive_call *call, struct datum *out) {
  const struct datum *x = call->argument;
  switch ((int)call->primitive) {
  case PRIM_CHAR_CODE:
  case PRIM_CODE_CHAR: *out = x[0]; return true;
  case PRIM_RAND: return direct_random(d, call, out);
  case PRIM_FLOAT_TO_ANY:
    if (x[1].kind == DATUM_INT && !check_fits_int(d, call, x[0].as.real)) return false;
    *out = converted_datum(d, x[0], x[1].kind);
    return true;
  case PRIM_INT_TO_ANY: *out = converted_datum(d, x[0], x[1].kind); return true;
  case PRIM_FLOAT_NUM: *out = converted_datum(d, x[0], DATUM_FLOAT); return true;
  default: break; /* those that are one operation */
  }
  const enum opcode opcode = primitive_info(call->primitive)->opcode;
  if (!check_scalars(d, call)) return false;
  if (opcode != OPC_COUNT) {
    const enum cvl_op op = opcode_info(opcode)->operation;
    if (direct_operation(d, op, x, op_info(op)->arity, out)) return true;
  }
  return direct_fail(d, call->frame, call->apply, NESL_LIMIT,
                     "internal error: `%s` failed unforeseen",
                     call->specialisation->global->name->text);
}
