/* emit-kernel-body.h - the struct that is a kernel's body, while it is written. Private to
 * emit-kernel*.c.
 */
#ifndef RAVEL_FUSED_EMIT_KERNEL_BODY_H
#define RAVEL_FUSED_EMIT_KERNEL_BODY_H

#include "fused-kernels/emit-kernel.h"

struct body {
  const struct fused_kernel *k;
  const struct superop *op;
  FILE *out;
  const char *indent; /* of statements */
};

/* Writes a node of the kernel, at position i; operands are vV. */
void body_evaluate(const struct body *, uint32_t k);
/* The C type of a value. */
const char *body_type(const struct body *, uint32_t v);
/* Whether nodes other than consumers report faults. */
bool body_is_checked(const struct fused_kernel *);
/* How many results of a thread there are at a time: the constant `unroll`. */
unsigned body_unrolled(const struct fused_kernel *);
/* Writes the argument of at() that follows the position: `, sK`, or nothing. */
void body_segment(const struct body *, char more[16]);

/* Whether a parameter is loaded at the position. */
bool body_loads(const struct body *, uint32_t v);

/* Writes loads of what nodes at the position take; and in braces the results that put() takes.
 */
void body_load_operands(const struct body *);
void body_results(const struct body *);

/* ---- loops: emit-kernel-loop.c ---- */

/* Writes a member of the kernel of a loop, and its operator. */
void loops_member(const struct body *, const struct fused_member *);
void body_loop(const struct body *);

/* ---- two versions: emit-kernel-plain.c ---- */

/* Whether a kernel has two versions of what is done at a position: then of() is written instead
 * of at(), with elements of operands as its argument. */
bool body_is_plain(const struct fused_kernel *);
/* Writes what else plain.hpp asks of the struct; at the beginning of of(), the operands; what
 * the host calls for a position. */
void body_plain(const struct body *);
void body_named_operands(const struct body *);
void body_plain_alone(const struct body *);
/* Writes statements that give `results r[unroll]` at positions first, first + step ..., both
 * C expressions. */
void body_plain_group(const struct body *, const char *first, const char *step);
/* Writes the element of a parameter at another position: `at`, a C expression. */
void body_gather_from(const struct body *, uint32_t param, const char *at);
/* Writes plain.hpp. */
void emit_kernel_plain(FILE *);

/* ---- reductions ---- */

/* Writes what a lane does with the results at a position, in its order: `lane` and `take`. */
void body_lane(const struct body *);
/* Declares what lanes have at the end, rK of node K. */
void body_declare_reductions(const struct body *);
/* Statements for each reduction: `format` has its node, and its node once more. */
void body_for_reductions(const struct body *, const char *format);
/* Writes the loop of a lane over positions first .. last - 1, which takes it its results. */
void body_lane_loop(const struct body *);
/* Writes how lanes become the partial results of a slot. */
void body_fold(const struct body *);

/* ---- groups of short segments: emit-kernel-groups.c ---- */

/* Writes the operator, and what it needs; and chunks.hpp, which comes before the struct. */
void body_groups(const struct body *);
void emit_kernel_chunks(FILE *);

/* ---- packs: emit-kernel-packs.c ---- */

/* Writes the constants that members need, of the struct `name`; a member; the operator, and
 * what it needs; and what comes before the struct. */
void packs_declare(const struct body *, const char *name);
void packs_member(const struct body *, const struct fused_member *);
void body_packs(const struct body *);
void emit_kernel_packs(FILE *);
/* Whether PACKs of the kernel need a value at the position. */
bool packs_give(const struct fused_kernel *, uint32_t v);

/* ---- scans: emit-kernel-scans.c ---- */

/* The struct with the nodes, NAME_elements, only gives elements: writes how; the struct NAME
 * that scans them; and what comes before both. */
void body_scan(const struct body *);
void scans_around(const struct body *, const char *name);
void emit_kernel_scans(FILE *);
/* For how many positions a thread loads at a time. */
unsigned scans_unrolled(const struct fused_kernel *);
/* Whether it is this value that the kernel scans. */
bool scans_give(const struct fused_kernel *, uint32_t v);

/* ---- scatters: emit-kernel-scatters.c ---- */

/* The struct with the nodes is NAME_elements: writes a member; what scatters.hpp asks of it;
 * the struct NAME; and what comes before both. */
void scatters_member(const struct body *, const struct fused_member *);
void body_scatter(const struct body *);
void scatter_around(const struct body *, const char *name);
void emit_kernel_scatters(FILE *);
/* For how many positions a thread loads at a time. */
unsigned scatters_unrolled(const struct fused_kernel *);
/* Whether the kernel scatters this value, or by it. */
bool scatters_give(const struct fused_kernel *, uint32_t v);

/* ---- combinations: emit-kernel-combine.c ---- */

/* Writes the class of each combination with a level inside: combinationN, N its first node. */
void body_combinations(const struct body *);
/* Writes the operator of a kernel with such combinations. */
void body_trees(const struct body *);
/* Writes combine-tree.hpp if some of these superoperators has combinations. */
void emit_kernel_trees(const struct superop *const *, uint32_t count, FILE *);

#endif
