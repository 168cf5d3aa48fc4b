/* emit-expression.h - what all emitted source is made of: C types, literals, and the
 * expressions of operations.def with values substituted for x, y and f. Private to this room.
 */
#ifndef RAVEL_FUSED_EMIT_EXPRESSION_H
#define RAVEL_FUSED_EMIT_EXPRESSION_H

#include "fused-kernels/emit.h"

/* "int64_t", "double", "uint8_t": elements of a kind other than SEGDES. */
const char *emit_type(struct widths, enum superop_kind kind);
/* The type of the elements of value v. */
const char *emit_type_of(const struct superop *, struct widths, uint32_t v);
/* A literal of exactly this value. */
void emit_literal(const struct cvl_value *, FILE *);
/* The row of a map node. */
const struct map_row *emit_row(const struct superop_node *);
/* The row of a node that reduces or scans. */
const struct combine_row *emit_combination(const struct superop_node *);
/* "add_f": how the function of a combination is called. */
void emit_combination_name(const struct combine_row *, FILE *);
/* An expression or a condition; operands[0 .. count) are C expressions without effect that need
 * no parentheses: of x, of x and y, or of f, x and y. */
void emit_expression(const char *text, unsigned count, const char *const *operands, FILE *);
/* Writes the expression of a map node, in which operand value v is written vV. */
void emit_map(const char *text, const struct superop_node *, FILE *);

/* Writes node k of a loop, whose values v are vV: a `for` around the nodes between CARRY and
 * NEXT.
 */
void emit_loop_node(const struct superop *, uint32_t k, struct widths, const char *indent,
                    FILE *);
/* Writes statements by which all carried values change at once. */
void emit_loop_changes(const struct superop *, struct superop_loop, struct widths,
                       const char *indent, FILE *);

/* Writes the statements of the combination that begins with node `first`: its function of two
 * items l and r of type `item`, whose member atI is the value of column I. The last statement
 * returns one. */
void emit_combination_statements(const struct superop *, uint32_t first, struct widths,
                                 const char *item, FILE *);

/* The node that defines value v; NULL for a parameter. */
const struct superop_node *emit_definition(const struct superop *, uint32_t v);
/* The constant behind value v, if it is a DIST of one; or NULL. */
const struct cvl_value *emit_spread_constant(const struct superop *, uint32_t v);

/* Before a loop that compilers should vectorise: no iteration reads what another one stores. */
#define EMIT_IVDEP                                                                             \
  "#ifdef __clang__\n"                                                                         \
  "#pragma clang loop vectorize(assume_safety)\n"                                              \
  "#elif defined(__GNUC__)\n"                                                                  \
  "#pragma GCC ivdep\n"                                                                        \
  "#endif\n"

/* BITS, U, WRAP, INT_LEAST ... that the expressions are written in, and TO_INT by a function,
 * as in cvl/expressions.h, which begins with `linkage`. */
void emit_macros(struct widths, const char *linkage, FILE *);

/* What a kernel needs before its expressions. */
struct emit_needs {
  bool functions; /* exp, sin ...: the elementary functions */
};
void emit_add_needs(struct emit_needs *, const struct superop *);
/* Writes the beginning of a C file with expressions: includes, macros, the elementary
 * functions. */
void emit_prelude(struct widths, FILE *);

#endif
