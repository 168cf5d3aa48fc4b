/* loops.h - the common types of the pass `loops`. Private to loops*.c.
 *
 * neslc flattens a tail-recursive function that is applied to each element into a function on
 * vectors: it packs the elements that continue, calls itself on them, and merges the results of
 * the call with those of the other elements. The pass inverts that. It executes the function
 * symbolically, for one element: a vector is an *expression* on the function's arguments at the
 * same element, and a *domain*, the set of elements that it has. PACK changes the domain but
 * not the expression; merging makes a SELECT. The function is a loop if its result is that of
 * the call for all elements of the call's domain, and flags determine that domain (loops.c).
 */
#ifndef RAVEL_FCODE_OPT_LOOPS_H
#define RAVEL_FCODE_OPT_LOOPS_H

#include "fcode-opt/passes.h"

#define LOOPS_NONE UINT32_MAX

enum {
  LOOPS_EXPRESSIONS = 400, /* of one function; with more it is not rewritten */
  LOOPS_NODES = 96         /* of the superoperator */
};

/* The value of one element: an expression DAG, in which equal subexpressions are stored once.
 */
enum expression_kind {
  EXPR_PARAM,  /* of the function: number */
  EXPR_CONST,  /* of length 1 */
  EXPR_MAP,    /* op, type, args */
  EXPR_RESULT, /* number of a result of the call */
  EXPR_INDEX,  /* the index of the element in domain `number`, plus the count of `start` */
  EXPR_COUNT   /* the number of elements of domain `number` */
};

struct expression {
  uint8_t kind;
  uint8_t type; /* enum type_word: MAP's own */
  uint8_t elem; /* enum superop_kind */
  bool odd;     /* contains INDEX or COUNT: allowed in indices of merges only */
  bool called;  /* contains RESULT */
  uint16_t op;
  uint32_t number, start;
  uint32_t count, args[3];
  const struct vcode_constant *constant;
  struct source_pos pos;
  uint32_t origin;
};

/* A set of elements: those of `parent` for which the expression `flag` holds; the root has all.
 * A joined domain has the elements of `first`, then those of `second`: together all of
 * `parent`. */
struct domain {
  uint32_t parent, flag, first, second; /* or LOOPS_NONE */
};

enum loops_shape { SHAPE_UNKNOWN, SHAPE_UNIFORM, SHAPE_VECTOR, SHAPE_DOMAIN };

/* The symbolic value of a variable. */
struct known {
  uint8_t shape;
  uint32_t domain; /* VECTOR, DOMAIN */
  uint32_t expr;   /* UNIFORM (a vector of length 1), VECTOR */
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
  const struct ir_binding *call; /* the recursive call, once it has been executed */
  uint32_t call_domain;
};

/* loops-expressions.c: returns the number of an expression, which is stored once; LOOPS_NONE if
 * there are too many.
 */
uint32_t loops_expression(struct symbolic *, const struct expression *);
uint32_t loops_select(struct symbolic *, uint32_t flag, uint32_t yes, uint32_t no);
/* Returns the constant of an INT. */
uint32_t loops_number(struct symbolic *, int64_t);
/* Returns whether each flag is the negation of the other. */
bool loops_complement(const struct symbolic *, uint32_t a, uint32_t b);
bool loops_is_number(const struct symbolic *, uint32_t expr, int64_t);

/* loops-execute.c: executes the function's body; returns false if an operation is not
 * supported. */
bool loops_execute(struct symbolic *);

#endif
