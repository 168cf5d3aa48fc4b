/* loops.h - what the files of the pass `loops` share. Private to loops*.c.
 *
 * A function that is applied to each element, and calls itself at its end, is compiled to one
 * on vectors: it finds the places that go on, packs what they need, calls itself on those, and
 * puts what comes back among the results of the others. The pass undoes that. It executes the
 * function symbolically, place by place: what a vector holds is an *expression* on the
 * function's arguments at the same place, and which places it has is a *domain*. Packing
 * changes the domain and not the expression, merging makes a SELECT. If in the end the result
 * is what the call gave wherever the call was made, and the call was made where some flag
 * holds, the function is a loop (loops.c).
 */
#ifndef RAVEL_FCODE_OPT_LOOPS_H
#define RAVEL_FCODE_OPT_LOOPS_H

#include "fcode-opt/passes.h"

#define LOOPS_NONE UINT32_MAX

enum {
  LOOPS_EXPRESSIONS = 400, /* of one function; beyond, it stays as it is */
  LOOPS_NODES = 96         /* of the superoperator */
};

/* What a place has: a tree whose equal parts are one. */
enum expression_kind {
  EXPR_PARAM,  /* of the function: number */
  EXPR_CONST,  /* of length 1 */
  EXPR_MAP,    /* op, type, args */
  EXPR_RESULT, /* number of a result of the call */
  EXPR_INDEX,  /* the position of the place in domain `number`; plus the count of `start` */
  EXPR_COUNT   /* how many places domain `number` has */
};

struct expression {
  uint8_t kind;
  uint8_t type; /* enum type_word: MAP's own */
  uint8_t elem; /* enum superop_kind */
  bool odd;     /* INDEX or COUNT is in it: of use to the merging only */
  bool called;  /* RESULT is in it */
  uint16_t op;
  uint32_t number, start;
  uint32_t count, args[3];
  const struct vcode_constant *constant;
  struct source_pos pos;
  uint32_t origin;
};

/* Which places: those of `parent` where the expression `flag` holds; of the root, all. A joined
 * one has those of `first`, then those of `second`, which are together those of `parent`. */
struct domain {
  uint32_t parent, flag, first, second; /* LOOPS_NONE: not so */
};

enum shape { SHAPE_UNKNOWN, SHAPE_UNIFORM, SHAPE_PLACES, SHAPE_DOMAIN };

/* What is known of a variable. */
struct known {
  uint8_t shape;
  uint32_t domain; /* PLACES, DOMAIN */
  uint32_t expr;   /* UNIFORM (a vector of length 1), PLACES */
};

/* A function being executed. */
struct symbolic {
  struct opt *o;
  const struct sizes *sizes;
  uint32_t function;
  const struct ir_function *f;
  struct known *vars;
  ARRAY(struct expression) exprs;
  ARRAY(struct domain) domains;
  const struct ir_binding *call; /* of itself, when it has been met */
  uint32_t call_domain;
};

/* loops-expressions.c. Expressions are made once. LOOPS_NONE: there are too many. */
uint32_t loops_expression(struct symbolic *, const struct expression *);
uint32_t loops_select(struct symbolic *, uint32_t flag, uint32_t yes, uint32_t no);
/* An INT. */
uint32_t loops_number(struct symbolic *, int64_t);
/* Whether one holds exactly where the other does not. */
bool loops_complement(const struct symbolic *, uint32_t a, uint32_t b);
bool loops_is_number(const struct symbolic *, uint32_t expr, int64_t);

/* loops-execute.c: executes the function's body; whether everything in it is understood. */
bool loops_execute(struct symbolic *);
/* The domain that is no joined one and has the same places. */
uint32_t loops_places(const struct symbolic *, uint32_t domain);

#endif
