/* schedule.h - what a kernel executes of a superoperator, and which values go through memory.
 * The plan of a kernel (emit-kernel-plan.c) is made from it.
 *
 * A kernel computes nodes at every position: these are *inside*. Their values stay in
 * registers, unless somebody else needs their elements: then they are *written*. Other nodes
 * are executed *apart*, after the kernel, in their order. An operation of the library executes
 * one of them, or the tree of a combination does. Nodes inside need none of their results. What
 * has no use is not executed, unless it is checked or belongs to a loop.
 *
 * A superoperator may have several kernels (emit-kernel-divide.c). Each has a schedule of its
 * own, and what it is for is data: struct fused_target.
 */
#ifndef RAVEL_FUSED_SCHEDULE_H
#define RAVEL_FUSED_SCHEDULE_H

#include "cvl/superop.h"

/* ---- what a kernel is for ---- */

/* Producers, maps, loops and reductions are inside, and so are the lowest levels of a
 * COMBINE_REDUCE or COMBINE_SCAN. The latter takes totals only, so that it needs the elements
 * once more, apart. */
struct fused_target {
  bool packs;        /* PACKs are inside, too */
  bool scans;        /* scans are */
  uint8_t scattered; /* scatters are, unless this is 0: the operands that they need there, a bit
                        each */
  bool leaves; /* DISTs and INDEXes that are needed apart are made there, not written; they are
                  inside if a node inside reads them */
  const bool *elsewhere; /* of every node: a consumer that is executed elsewhere, as if it were
                            not there; a node of a loop that is, whose results are then in
                            memory, as parameters are; any other node that is checked
                            elsewhere */
  bool partial; /* outputs that are no consumer's are elsewhere, and so are checks that no
                   consumer here needs; not with loops */
  bool carries; /* it gives what follows the loops that are not elsewhere: results of their
                   NEXTs that something uses, and no outputs */
};

/* ---- the schedule ---- */

/* How a node is executed. */
enum fused_task {
  TASK_NONE,     /* not at all, or apart, if its result is left */
  TASK_INSIDE,   /* by the kernel; a reduction: the partial results of slots */
  TASK_REPORTED, /* there, where a flag of an ASSERT is false, to report it */
  TASK_LIBRARY,  /* a consumer: apart, by an operation of the library */
  TASK_TREE      /* a consumer of a combination: apart, by kernels of its own. One that is
                    INSIDE has the lowest level there */
};

struct fused_schedule {
  const struct superop *op;
  uint8_t *tasks;        /* enum fused_task, of every node */
  uint32_t *definitions; /* of every value: its node; SUPEROP_NONE of an operand of the kernel:
                            a parameter, or the result of a loop that is executed elsewhere */
  bool *read;            /* of every value: a node inside needs it */
  bool *loaded;          /* of every operand: a node inside reads its elements at its positions.
                            Those are not what DIST and INDEX take for a segment, nor what a
                            gather takes from */
  bool *reported;        /* of every value: the report of an ASSERT depends on it */
  bool *written;         /* of every value: the kernel writes it, since it is an output or
                            something apart needs it */
  bool *left;            /* of every value: it is made apart instead, by `target.leaves` */
};

/* Fills in the schedule, in the arena. Not of copies. */
void fused_schedule_make(struct arena *, const struct superop *, struct fused_target,
                         struct fused_schedule *);

/* ---- questions ---- */

/* Whether a node is executed apart. It may be inside as well. */
bool fused_schedule_is_apart(const struct fused_schedule *, uint32_t node);
/* Whether nodes of this task need the segments of positions under a descriptor. */
bool fused_schedule_looks_up(const struct fused_schedule *, uint32_t descriptor,
                             enum fused_task);

/* The values that the report of an ASSERT needs, and that are not at hand inside. */
struct fused_report {
  bool node[SUPEROP_VALUES_MAX];   /* to be evaluated */
  bool load[SUPEROP_VALUES_MAX];   /* parameters at the position */
  bool lookup[SUPEROP_VALUES_MAX]; /* descriptors, for the segment of the position */
};
void fused_schedule_report(const struct fused_schedule *, uint32_t node, struct fused_report *);

/* ---- of nodes ---- */

/* Whether a node reads the elements of an operand at its positions. */
bool fused_reads_elements(const struct superop *, uint32_t node, unsigned operand);
/* Whether the node is a DIST of a CONST: the same everywhere, whatever its descriptor. */
bool fused_is_constant(const struct superop *, const struct superop_node *);
/* The descriptor of a position's segment, for a node that needs it; else SUPEROP_NONE. */
uint32_t fused_near(const struct superop_node *);
/* Whether the node is a consumer of a combination; whether it is any consumer. */
bool fused_is_tree(const struct superop_node *);
bool fused_is_consumer(const struct superop_node *);
/* The value whose elements a reduction, or a consumer of a combination, combines. */
uint32_t fused_combined(const struct superop *, const struct superop_node *);

/* Whether a loop begins with this node; whether a combination does. */
static inline bool fused_begins_loop(const struct superop *op, uint32_t node) {
  return op->nodes[node].role == ROLE_CARRY &&
         (node == 0 || op->nodes[node - 1].role != ROLE_CARRY);
}
static inline bool fused_begins_combination(const struct superop *op, uint32_t node) {
  return op->nodes[node].role == ROLE_COLUMN &&
         (node == 0 || op->nodes[node - 1].role != ROLE_COLUMN);
}

#endif
