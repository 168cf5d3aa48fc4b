/* simplify.h - the state of simplify.c, fold.c and common.c: a forward walk over one function.
 *
 * The walk goes through a function in order of execution and rewrites its blocks. `facts` holds
 * what it knows of each variable; a variable that equals an earlier one is renamed to it. The
 * program must fail where it failed before: an operation is removed only if it cannot fail, or
 * if an earlier one would have failed instead.
 */
#ifndef RAVEL_SIMPLIFY_H
#define RAVEL_SIMPLIFY_H

#include "fcode-opt/passes.h"
#include "ir/numbering.h"

enum truth { TRUTH_UNKNOWN, TRUTH_T, TRUTH_F };

struct fact {
  ir_var same;                  /* the variable that replaces it; itself if none does */
  const struct ir_binding *def; /* its definition as it is now; NULL: parameter, IF or call */
  uint8_t truth;                /* enum truth: of a condition, within the arm that it selects */
};

/* An INT scalar that has a class in the size analysis. */
struct common_scalar {
  ir_var v;
  uint32_t epoch; /* as in ir/numbering.h */
};

/* The sizes of the tables when a scope was opened. */
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
  uint32_t *uses; /* of those: number of uses before the walk */
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

/* Makes a variable in this walk. */
ir_var simplify_var(struct simplifier *, const struct ir_kind *);
/* From here on v is `same`, which is bound already. */
void simplify_replace(struct simplifier *, ir_var v, ir_var same);
/* Simplifies a binding, whose operands are renamed, and appends it unless it was replaced. */
void simplify_append(struct simplifier *, struct ir_binding *);
/* Appends a constant, and returns it, perhaps of an earlier operation. */
ir_var simplify_constant(struct simplifier *, const struct vcode_constant *,
                         const struct ir_binding *because);

/* ---- what is known ---- */

/* Returns the constant that v is bound to, or equals at this point of the walk; or NULL. */
const struct vcode_constant *known_constant(const struct simplifier *, ir_var);
/* Returns the operation that v is the first result of, if its opcode is op; or NULL. */
const struct ir_binding *known_op(const struct simplifier *, ir_var, enum opcode op);
/* Returns the length of a vector, the total or number of segments of a descriptor; -1: not
 * known. */
int64_t known_size(const struct simplifier *, ir_var, uint8_t what);
/* Returns whether the sizes that x needs are proven to agree. */
bool known_to_agree(const struct simplifier *, const struct ir_binding *x);

/* ---- fold.c ---- */

enum folded {
  FOLD_NOT,   /* nothing found */
  FOLD_AGAIN, /* x was made simpler: try again */
  FOLD_GONE   /* its results have been replaced */
};
enum folded fold_binding(struct simplifier *, struct ir_binding *x);
/* Returns the constant of an INT scalar or a descriptor of one segment whose number the size
 * analysis knows; or NULL. */
const struct vcode_constant *fold_known_constant(struct simplifier *, ir_var);

/* ---- common.c ---- */

/* Makes empty tables. */
void common_init(struct simplifier *);
/* common_close forgets what was added after common_open. */
struct common_mark common_open(const struct simplifier *);
void common_close(struct simplifier *, struct common_mark);
/* Returns the latest INT scalar whose value has this class (SIZE_COUNT), if no timer came after
 * it; else IR_NO_VAR. */
ir_var common_scalar(const struct simplifier *, uint32_t class);
void common_add_scalar(struct simplifier *, uint32_t class, ir_var);

#endif
