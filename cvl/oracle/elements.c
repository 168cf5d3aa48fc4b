/* elements.c - the oracle's elementwise operations (vcode.md, sections 6 and 21.1). */
#include "cvl/oracle/oracle.h"

#include <math.h>
#include <stdlib.h>

static int elements_width(enum cvl_elem e) {
  return e == CVL_I32 ? 32 : 64;
}

/* Computes operations from INT to INT or BOOL. A result that does not fit is cut off when it is
 * stored. */
static int64_t int_op(enum cvl_op op, enum cvl_elem e, int64_t x, int64_t y) {
  uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
  int distance = (int)(uy % (uint64_t)elements_width(e));
  switch (op) {
  case OP_ADD: return (int64_t)(ux + uy);
  case OP_SUB: return (int64_t)(ux - uy);
  case OP_MUL: return (int64_t)(ux * uy);
  case OP_DIV: return x == INT64_MIN && y == -1 ? x : x / y;
  case OP_MOD: return y == -1 ? 0 : x % y;
  case OP_LT: return x < y;
  case OP_LE: return x <= y;
  case OP_GT: return x > y;
  case OP_GE: return x >= y;
  case OP_EQ: return x == y;
  case OP_NE: return x != y;
  case OP_LSHIFT: return (int64_t)(ux << distance);
  case OP_RSHIFT: return x < 0 ? (int64_t) ~(~ux >> distance) : (int64_t)(ux >> distance);
  case OP_NOT: return -1 - x;
  case OP_AND: return (int64_t)(ux & uy);
  case OP_OR: return (int64_t)(ux | uy);
  case OP_XOR: return (int64_t)(ux ^ uy);
  case OP_I_TO_B: return x != 0;
  default: abort();
  }
}

static int64_t bool_op(enum cvl_op op, bool x, bool y) {
  switch (op) {
  case OP_NOT: return !x;
  case OP_AND: return x && y;
  case OP_OR: return x || y;
  case OP_XOR: return x != y;
  case OP_B_TO_I: return x ? 1 : 0;
  default: abort();
  }
}

static double int_to_real(enum cvl_elem real, int64_t x) {
  return real == CVL_F32 ? (double)(float)x : (double)x; /* rounded once */
}

/* Converts x, which is integral, NaN or infinite. The bounds are powers of two, hence exact. */
static int64_t real_to_int(enum cvl_elem e, double x) {
  double limit = ldexp(1.0, elements_width(e) - 1);
  int64_t least = e == CVL_I32 ? INT32_MIN : INT64_MIN;
  return x >= -limit && x < limit ? (int64_t)x : least;
}

static double round_half_up(double x) {
  double below = floor(x);
  return x - below < 0.5 ? below : below + 1; /* x - below is exact where it is near 0.5 */
}

/* Computes operations from FLOAT to INT or BOOL. */
static int64_t real_test(enum cvl_op op, enum cvl_elem int_elem, double x, double y) {
  switch (op) {
  case OP_LT: return x < y;
  case OP_LE: return x <= y;
  case OP_GT: return x > y;
  case OP_GE: return x >= y;
  case OP_EQ: return x == y;
  case OP_NE: return !(x == y);
  case OP_FLOOR: return real_to_int(int_elem, floor(x));
  case OP_CEIL: return real_to_int(int_elem, ceil(x));
  case OP_TRUNC: return real_to_int(int_elem, trunc(x));
  case OP_ROUND: return real_to_int(int_elem, isfinite(x) ? round_half_up(x) : x);
  default: abort();
  }
}

static double real_op(enum cvl_op op, double x, double y) {
  switch (op) {
  case OP_ADD: return x + y;
  case OP_SUB: return x - y;
  case OP_MUL: return x * y;
  case OP_DIV: return x / y;
  case OP_SQRT: return sqrt(x);
  default: abort();
  }
}

/* The functions that are not correctly rounded. They are far more precise than the result, so
 * that a comparison within two units in the last place measures the back end. */
static double real_function(enum cvl_op op, double x) {
  long double y = (long double)x;
  switch (op) {
  case OP_EXP: return (double)expl(y);
  case OP_LOG: return (double)logl(y);
  case OP_SIN: return (double)sinl(y);
  case OP_COS: return (double)cosl(y);
  case OP_TAN: return (double)tanl(y);
  case OP_ASIN: return (double)asinl(y);
  case OP_ACOS: return (double)acosl(y);
  case OP_ATAN: return (double)atanl(y);
  case OP_SINH: return (double)sinhl(y);
  case OP_COSH: return (double)coshl(y);
  case OP_TANH: return (double)tanhl(y);
  default: return real_op(op, x, 0);
  }
}

bool oracle_element(const struct oracle_call *c, struct host_value *out, uint64_t i) {
  const struct host_value *a = &c->operand[0], *b = &c->operand[c->count > 1 ? 1 : 0];
  enum cvl_elem e = (enum cvl_elem)c->operand[c->count - 1].elem;
  if (c->op == OP_SELECT) {
    host_copy(out, i, host_int(a, i) ? b : &c->operand[2], i);
    return true;
  }
  switch (elem_info(e)->klass) {
  case CLASS_INT:
    if ((c->op == OP_DIV || c->op == OP_MOD) && host_int(b, i) == 0) return false;
    if (c->op == OP_I_TO_F) {
      host_put_real(out, i, int_to_real(c->float_elem, host_int(a, i)));
    } else {
      host_put_int(out, i, int_op(c->op, e, host_int(a, i), host_int(b, i)));
    }
    return true;
  case CLASS_BOOL:
    host_put_int(out, i, bool_op(c->op, host_int(a, i), host_int(b, i)));
    return true;
  case CLASS_FLOAT:
    if (elem_info((enum cvl_elem)out->elem)->klass != CLASS_FLOAT) {
      host_put_int(out, i, real_test(c->op, c->int_elem, host_real(a, i), host_real(b, i)));
    } else if (c->count == 2) {
      host_put_real(out, i, real_op(c->op, host_real(a, i), host_real(b, i)));
    } else {
      host_put_real(out, i, real_function(c->op, host_real(a, i)));
    }
    return true;
  }
  return false;
}
