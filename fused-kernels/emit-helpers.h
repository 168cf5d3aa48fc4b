/* emit-helpers.h - functions that emitted C and CUDA call: FLOAT sums and products in the
 * reproducible tree of cvl.h, and positions under descriptors. Private to this room.
 */
#ifndef RAVEL_FUSED_EMIT_HELPERS_H
#define RAVEL_FUSED_EMIT_HELPERS_H

#include "fused-kernels/emit-expression.h"

/* "add", "mul", "max" ...: how the functions for a combination are called; the class follows.
 */
const char *emit_combination_name(const struct combine_row *);
/* Whether the order matters: the tree is needed. */
bool emit_is_ordered(const struct superop_node *);
/* Whether any node of these superoperators combines so in this role. */
bool emit_combines(const struct superop *const *, uint32_t count, const struct combine_row *,
                   enum superop_role);
/* A text about one combination: @T is the type of its elements, @N its name with the class, @P
 * what is neutral for it in every bit, @S the linkage of functions. */
void emit_fill(const char *text, const struct combine_row *, struct widths, const char *linkage,
               FILE *);
/* The function that combines two elements; the functions of scans in the reproducible tree. */
void emit_combination_function(const struct combine_row *, struct widths, const char *linkage,
                               FILE *);
void emit_scan_functions(const struct combine_row *, struct widths, const char *linkage,
                         FILE *);
#define EMIT_LEVELS "enum { BLOCK = 1024, TREE_LEVELS = 7, SCAN_LEVELS = 14 };\n\n"

/* All functions that any of the superoperators calls, each once: for C, and for CUDA, where the
 * text of kernels comes before. */
void emit_helpers(const struct superop *const *, uint32_t count, struct widths, FILE *);
void emit_cuda_helpers(const struct superop *const *, uint32_t count, struct widths, FILE *);

#endif
