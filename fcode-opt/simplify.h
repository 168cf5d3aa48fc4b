/* simplify.h - what simplify.c, fold.c and common.c share: one function being walked forward.
 *
 * A walk goes through a function in the order of execution and writes its blocks anew. What it
 * knows of a variable is in `facts`; variables that turned out to be another are renamed on the
 * way. Whatever a walk forgets an operation for must still fail where the program fails: an
 * operation goes only if it cannot fail, or would have failed before.
 */
#ifndef RAVEL_SIMPLIFY_H
#define RAVEL_SIMPLIFY_H

#include "fcode-opt/passes.h"
#include "ir/numbering.h"

enum truth { TRUTH_UNKNOWN, TRUTH_T, TRUTH_F };

struct fact {
  ir_var same;                  /* the variable it is; itself if it is its own */
  const struct ir_binding *def; /* its binding as it is now; NULL: parameter, IF or call */
  uint8_t truth;                /* enum truth: of a condition, in the arms that it chose */
};

/* An INT scalar that the size analysis has a class for. */
struct common_scalar {
  ir_var v;
  uint32_t epoch; /* as in ir/numbering.h */
};

/* How much was known when a scope was opened. */
struct common_mark {
  size_t operations, scalars;
};

struct simplifier {
  struct opt *o;
  struct calls calls;
  const struct sizes *sizes;
  uint32_t index; /* of the function */
  struct ir_function *f;
  ir_var known;   /* variables below this are known to `sizes` */
  uint32_t *uses; /* of those, before the walk */
  struct fact *facts;
  uint32_t fact_capacity;
  struct ir_numbering numbering;       /* operations of the open scopes */
  struct scoped_map classes;           /* of the scalars */
  ARRAY(struct common_scalar) scalars; /* of the open scopes */
  ARRAY(ir_var) assumed;               /* variables whose truth was assumed, in open scopes */
  struct rewrite_block *out;           /* the block being written */
  bool changed;
};

/* ---- simplify.c ---- */

/* A variable made in this walk. */
ir_var simplify_var(struct simplifier *, const struct ir_kind *);
/* From here on v is `same`, which is bound already. */
void simplify_replace(struct simplifier *, ir_var v, ir_var same);
/* Simplifies x, whose operands are renamed, and appends it unless nothing of it is left. */
void simplify_binding(struct simplifier *, struct ir_binding *x);
/* A new operation with one result, simplified and appended; its result, perhaps of an earlier
 * operation. It must not fail. */
ir_var simplify_emit(struct simplifier *, uint16_t op, uint8_t type,
                     const struct ir_kind *result, uint32_t count, const ir_var *operands,
                     const struct ir_binding *because);
ir_var simplify_constant(struct simplifier *, const struct vcode_constant *,
                         const struct ir_binding *because);

/* ---- what is known ---- */

/* The constant that v is bound to, or is known to be where the walk is; or NULL. */
const struct vcode_constant *known_constant(const struct simplifier *, ir_var);
/* The operation that v is the first result of, if its opcode is op; or NULL. */
const struct ir_binding *known_op(const struct simplifier *, ir_var, enum opcode op);
/* Length of a vector, total or number of segments of a descriptor; -1: not known. */
int64_t known_size(const struct simplifier *, ir_var, uint8_t what);
/* Whether the sizes that x needs are proven to agree. */
bool known_to_agree(const struct simplifier *, const struct ir_binding *x);

/* ---- fold.c ---- */

enum folded {
  FOLD_NOT,   /* nothing found */
  FOLD_AGAIN, /* x was made simpler: try again */
  FOLD_GONE   /* its results have been replaced */
};
enum folded fold(struct simplifier *, struct ir_binding *x);
/* The constant of an INT scalar or a descriptor of one segment whose number the size analysis
 * knows; or NULL. */
const struct vcode_constant *fold_known_constant(struct simplifier *, ir_var);
/* The one value that all elements of v have; false if that is not known or v has none. */
bool fold_uniform(const struct simplifier *, ir_var, struct cvl_value *);

/* ---- common.c ---- */

/* Nothing is known yet. */
void common_init(struct simplifier *);
/* What is added from here on is forgotten again by common_close. */
struct common_mark common_open(const struct simplifier *);
void common_close(struct simplifier *, struct common_mark);
/* The INT scalar computed latest whose value is of this class (SIZE_COUNT), no timer since;
 * else IR_NO_VAR. */
ir_var common_scalar(const struct simplifier *, uint32_t class);
void common_add_scalar(struct simplifier *, uint32_t class, ir_var);

#endif
