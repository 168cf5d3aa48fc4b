/* schedule.h - which function or kernel executes each node of a superoperator, in which order,
 * and which values go through memory between them. Both plans for compiled code are made from
 * it: the functions of emit.h and the kernels of emit-kernel.h.
 *
 * A target has one function for each *stage*; it computes nodes at every position of a range.
 * Nodes that it does not compute are executed *apart*, each for itself: by an operation of the
 * library, a walk over segments, a function for a loop, the tree of a combination. A stage
 * needs what was executed apart, and that needs earlier stages. Values of a stage stay in
 * registers, unless somebody else needs their elements: then they are *written*.
 *
 * What the target's functions can do is data: struct fused_target.
 */
#ifndef RAVEL_FUSED_SCHEDULE_H
#define RAVEL_FUSED_SCHEDULE_H

#include "cvl/superop.h"

/* ---- the description of a target ---- */

/* How the function of a stage treats a node. */
enum fused_step {
  STEP_CONST,
  STEP_SPREAD,
  STEP_INDEX,
  STEP_GATHER,         /* by arithmetic on positions, often a slice; EXTRACT */
  STEP_GATHER_BY_DATA, /* BPERMUTE whose index depends on data; BFPERMUTE */
  STEP_MAP,            /* ASSERT, too */
  STEP_LOOP,           /* every node of a loop */
  STEP_FUNCTION,       /* of a combination: its COLUMNs, and the maps of its function */
  STEP_REDUCE,
  STEP_COMBINE_REDUCE,
  STEP_COMBINE_SCAN,
  STEP_SCAN,
  STEP_PACK,
  STEP_SCATTER,
  STEP_OTHER, /* COMBINE_SCATTER: never in a stage */
  STEPS
};

/* Sets of steps are masks of 1 << STEP. */
struct fused_target {
  uint32_t inside;  /* the steps that the function of a stage executes; of consumers that is:
                       it takes their elements as they are computed. Of a COMBINE_SCAN it takes
                       totals only, and the elements are needed once more */
  uint32_t if_read; /* of these: only if a node inside reads the result at every position */
  uint32_t left;    /* of these, too: if it is needed apart it is made there, not written */
  uint32_t stages;  /* the greatest number of stages */
  bool drops;       /* what has no use is not executed, unless it is checked or of a loop */
  const bool *elsewhere; /* of every node, or NULL: a consumer that is executed elsewhere, as if
                            it were not there; a node of a loop that is, whose results are
                            then in memory, as parameters are; any other node that is checked
                            elsewhere */
  uint8_t scattered; /* of a scatter that is inside: the operands that are needed, a bit each */
  bool partial;      /* so are outputs that are no consumer's, and checks that no consumer here
                        needs; not with loops */
  bool carries;      /* it gives what follows the loops that are not elsewhere: results of their
                        NEXTs that something uses, and no outputs */
};

/* ---- the schedule ---- */

/* How a node is executed. */
enum fused_task {
  TASK_NONE,     /* not by functions of stages: at most apart */
  TASK_INSIDE,   /* by the function of its stage; a reduction: the partial results of slots */
  TASK_REPORTED, /* there, where a flag of an ASSERT is false, to report it; where nothing is
                    dropped, these are the cold nodes and the CONSTs that only they need */
  TASK_LIBRARY,  /* a consumer: apart, by an operation of the library */
  TASK_TREE      /* a consumer of a combination: apart, by functions of its own. One that is
                    INSIDE has the lowest level there */
};

struct fused_schedule {
  const struct superop *op;
  struct fused_target target;
  uint32_t stage_count; /* 0: no node is inside */
  uint8_t *tasks;       /* enum fused_task, of every node */
  bool *apart; /* of every node: it is executed apart, before the function of its stage; what
                  is inside as well, after it */
  uint8_t *stages;       /* of every node: the stage that computes it or, if it is apart, the
                            first stage that may read it; stage_count: after all stages */
  uint32_t *definitions; /* of every value: its node; SUPEROP_NONE of a parameter, and of the
                            result of a loop that is executed elsewhere */
  bool *read;            /* of every value: a node inside needs it */
  bool *reported;        /* of every value: the report of an ASSERT depends on it */
  bool *needed;          /* of every value: it is an output, or something apart needs it */
  bool *written; /* of every value: its stage writes it, since it is needed apart or by a
                    later stage */
  bool *left;    /* of every value: it is needed apart and made there, by `target.left` */
  /* For every value, the first and the last stage that needs it: inside the stage, or apart
   * before it. stage_count: it is needed after all stages, or is an output. SUPEROP_NONE: no
   * use. */
  uint32_t *first_use, *last_use;
  uint8_t *elements; /* elements[stage * value_count + value]: a node inside that stage reads
                        the elements of the value at its positions */
};

/* Fills in the schedule, in the arena. False, and the schedule is not complete, if it would
 * have more stages than the target has. Not of copies. */
bool fused_schedule_make(struct arena *, const struct superop *, struct fused_target,
                         struct fused_schedule *);

/* ---- questions ---- */

/* Whether the function of a stage computes a node; the value of one. */
static inline bool fused_schedule_executes(const struct fused_schedule *s, uint32_t stage,
                                           uint32_t node) {
  return s->tasks[node] == TASK_INSIDE && s->stages[node] == stage;
}
static inline bool fused_schedule_computes(const struct fused_schedule *s, uint32_t stage,
                                           uint32_t value) {
  return s->definitions[value] != SUPEROP_NONE &&
         fused_schedule_executes(s, stage, s->definitions[value]);
}
/* Whether nodes inside a stage read the elements of a value at its positions: not what DIST and
 * INDEX take for a segment, nor what a gather takes from. */
static inline bool fused_schedule_reads(const struct fused_schedule *s, uint32_t stage,
                                        uint32_t value) {
  return s->elements[(size_t)stage * s->op->value_count + value] != 0;
}
/* Whether it loads them: a parameter, or what earlier stages or something apart have written.
 */
static inline bool fused_schedule_loads(const struct fused_schedule *s, uint32_t stage,
                                        uint32_t value) {
  return fused_schedule_reads(s, stage, value) && !fused_schedule_computes(s, stage, value);
}
/* Whether nodes of this task need the segments of positions under a descriptor. */
bool fused_schedule_looks_up(const struct fused_schedule *, uint32_t descriptor,
                             enum fused_task);

/* The values that the report of an ASSERT needs, and that its stage does not have. */
struct fused_report {
  bool node[SUPEROP_VALUES_MAX];   /* to be evaluated */
  bool load[SUPEROP_VALUES_MAX];   /* parameters at the position */
  bool lookup[SUPEROP_VALUES_MAX]; /* descriptors, for the segment of the position */
};
void fused_schedule_report(const struct fused_schedule *, uint32_t node, struct fused_report *);

/* ---- of nodes, whatever the target ---- */

/* Whether a gather is by data: its index is not arithmetic on positions, or it has flags. */
bool fused_is_by_data(const struct superop *, uint32_t node);
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
