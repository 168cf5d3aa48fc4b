/* plan.h - a superoperator prepared for this back end: the plan of its evaluation, and
 * the state of a run. Private to this folder.
 *
 * The domain is cut into *chunks*, which threads take in order. A chunk is evaluated tile by
 * tile, a *tile* strip by strip. In a *strip* the kernel of each step's operation is run in
 * turn; a step is a node that has one element for each position. The buffers between steps stay
 * in the first-level cache. Reductions and packs read a tile at a time, since a tile holds a
 * block of the reproducible tree. Scans read a chunk at a time, from the second-level cache,
 * since each chunk starts from the state that the previous one ends with.
 *
 * Each file below has a header of its name, and worker.h the state of a thread:
 *
 *   plan            prepare and discard: steps, buffers
 *   bind            start of a run: how each value is stored, given the operands
 *   strip           evaluation of a strip
 *   gather          gathers within a strip
 *   affine-gather   gathers by indices that are affine for a while
 *   columns         reductions of segments of one length, column by column
 *   loop            loops, within a strip
 *   chunk           evaluation of a chunk: tiles, reductions, packs, scans
 *   compiled        compiled functions: which there are
 *   choice          whether a run uses those
 *   ranges          positions or segments, by a compiled function for ranges of them
 *   range-part      what one call of it is given
 *   range-scans     scans in ranges
 *   range-combinations  combinations in ranges: their columns, and what combine/ does with them
 *   packs           the results of packs
 *   scatter         scatters in ranges
 *   concatenate     scatters of contiguous vectors: concatenations
 *   copy            copies of segments; of op->copies that is all there is
 *   message         the values that the message of a failing ASSERT reports
 *
 * run.c runs all of it: memory, results, scatters, faults. combine/combinations.h has
 * combinations by user-defined functions.
 */
#ifndef RAVEL_CPU_FUSED_PLAN_H
#define RAVEL_CPU_FUSED_PLAN_H

#include "cvl-cpu/combine/order-tree.h"
#include "cvl-cpu/cpu.h"
#include "cvl-cpu/fused/affine.h"
#include "cvl-cpu/fused/choice.h"
#include "cvl-cpu/kernels/map.h"
#include "cvl-cpu/kernels/move.h"
#include "cvl-cpu/kernels/reduce.h"
#include "cvl-cpu/kernels/scan.h"
#include "cvl-cpu/operations/locate.h"
#include "cvl-cpu/operations/long-segments.h"
#include "cvl/superop.h"

enum {
  FUSED_STRIP = LOCATE_MOST,
  FUSED_TILE = CVL_REDUCE_BLOCK,
  FUSED_MANY_SLOTS = 6, /* strip buffers that fill half of a first-level cache of 48 KB */
  FUSED_WHOLE = 8 * CVL_REDUCE_BLOCK /* a longer segment may be cut between two chunks */
};
#define FUSED_NONE UINT64_MAX /* no fault: a node or position behind all others */

/* How the elements of a value are stored. IN_MEMORY: a vector of the whole domain. UNIFORM: the
 * same element at all positions, repeated for the length of a strip. The next three are buffers
 * of a worker, for a strip, a tile or a chunk. IN_AFFINE_RUN: the result of a gather, for a
 * strip; read directly from the source vector where the gathered elements are contiguous there,
 * else from a strip buffer. */
enum fused_storage {
  IN_MEMORY,
  UNIFORM,
  IN_STRIP,
  IN_TILE,
  IN_CHUNK,
  IN_AFFINE_RUN,
  FUSED_STORAGES
};

/* The state of a value in one run. */
struct fused_value_run {
  uint8_t storage; /* enum fused_storage */
  bool released;   /* parameter: the reference that was passed has been released */
  bool needed;     /* some step or consumer reads it */
  bool is_affine;  /* its element at position p is start + p * stride */
  bool kept;       /* read by steps that are not skipped */
  bool in_runs;    /* as_runs, and the runs are long: not written (operations/scatter-runs.c) */
  bool streaming;  /* written past the caches */
  uint8_t step;    /* bytes from an element to the next: 0 if UNIFORM */
  size_t offset;   /* of the buffer in a worker's memory */
  size_t spare;    /* of the spare buffer, likewise */
  char *base;      /* IN_MEMORY: of the vector; UNIFORM: of the repeated element */
  const void *one; /* UNIFORM: the element */
  uint64_t start, stride;
  uint64_t below;           /* INT: an ASSERT has checked 0 <= element < below; or UINT64_MAX */
  uint32_t dropped;         /* consumers that do not need it after all (concatenate.c) ... */
  bool unwanted;            /* ... and these were all */
  uint32_t concatenated_by; /* the scatter whose result it is written to, or SUPEROP_NONE ... */
  uint64_t before;          /* ... where so many elements come before its own */
  uint32_t affine_gather;   /* of an affine gather or filled value: its number in
                               k->affine_gathers */
  struct cvl_value whole;   /* of a node's result: the vector that is returned or scattered */
};

/* A value: the plan, which is made once. Runs only read it, except `run`. */
struct fused_value {
  uint8_t elem, bytes;   /* of a vector */
  uint8_t buffer;        /* the buffer it has if it needs one: IN_STRIP, IN_TILE or IN_CHUNK */
  uint32_t slot;         /* number of the buffer among those of its kind */
  uint32_t node;         /* that defines it; SUPEROP_NONE: a parameter */
  uint32_t last_read;    /* parameter: last node that reads it elementwise */
  bool read_elementwise; /* parameter: some node reads it elementwise */
  bool only_elementwise; /* parameter: all its uses do */
  bool reported;         /* the message of an ASSERT depends on its element */
  bool consumed;         /* by a reduction, scan, pack or scatter */
  bool scattered;        /* by a scatter: has to be in memory as a whole */
  uint32_t consumers;    /* operands of such nodes that it is */
  bool as_runs;          /* result of an INDEX that only scatters read, as their index: may stay
                            unwritten */
  bool is_output;
  bool has_spare;      /* NEXT: the next value is another carried value ... */
  uint32_t spare_slot; /* ... and is saved in this buffer first */
  struct fused_value_run run;
};

enum fused_action {
  ACT_NONE,
  ACT_MAP,
  ACT_DIST,
  ACT_INDEX,
  ACT_GATHER,
  ACT_GATHER_RUNS, /* gather.c */
  ACT_PICK,
  ACT_ASSERT,
  ACT_WITHIN,
  ACT_LOOP
};

/* The state of a node in one run. */
struct fused_node_run {
  uint8_t action; /* enum fused_action */
  bool affine;    /* it is analysed, and its operands allow it */
  bool skipped;   /* not executed in an affine run: only known indices need it, or it is ... */
  bool filled;    /* ... written from its symbolic form */
  bool concatenated;            /* may_concatenate, and its operands allow it ... */
  uint64_t start;               /* ... from this position of the result on */
  struct segments near, far;    /* see operations/locate.h; the walk is over near */
  const void *values, *strides; /* DIST, INDEX, gathers: the whole vectors */
  uint64_t bound; /* WITHIN: the limit; of a gather: indices are known to be below */
};

/* A node: the plan, as of a value. */
struct fused_node {
  enum cvl_op op;
  const struct map_entry *entry; /* MAP */
  uint32_t walk;                 /* number among those of a worker */
  char *repeated;                /* DIST of a CONST: as often as a strip may need it */
  bool combined;                 /* it computes the function of a combination: no step */
  /* Gathers (gather.c, affine-gather.c). */
  bool analysed;       /* one that may have an affine index, or arithmetic for one */
  bool may_copy_runs;  /* if the operands allow it */
  uint32_t group;      /* the first gather by the same index; SUPEROP_NONE: in a loop */
  uint32_t index_walk; /* may_copy_runs: the walk over the segments of the INDEX */
  /* Scatters. */
  bool may_concatenate; /* one as in concatenate.c, if its operands allow it */
  bool known;           /* a PERMUTE: an earlier one has the same index and descriptors */
  /* An ASSERT of least <= index < limit: the values; or SUPEROP_NONE. */
  uint32_t index, least, limit;
  struct fused_node_run run;
};

struct fused_reduction {
  uint32_t node;
  const struct reduce_row *row;
  struct fused_value *v;
  char *out;
  char *totals; /* of the blocks of long segments, as in operations/long-segments.h */
};

struct fused_scan {
  uint32_t node;
  const struct scan_row *row;
  struct fused_value *v;
  char *out;
  bool streaming;
  struct scan_state *state; /* handed from chunk to chunk */
};

struct fused_pack {
  uint32_t node;
  struct fused_value *v, *flags;
  bool wants_result, wants_descriptor;
  char *out;
  uint64_t *offsets; /* NULL: one segment, or not wanted */
  bool streaming;
  uint64_t kept; /* handed from chunk to chunk */
};

/* A combination; its columns are what COLUMNs read. */
struct fused_combination {
  struct superop_combination at;
  uint8_t role;                   /* enum superop_role */
  bool inclusive;                 /* of a scan */
  uint32_t columns, first_column; /* how many; its first one among those of all combinations */
  struct fused_value *column[SUPEROP_COLUMNS_MAX];
  uint8_t bytes[SUPEROP_COLUMNS_MAX];
  /* OP_NONE, or an operation whose results are the same in any order, which is all that the
   * function does to the column. */
  enum cvl_op exact[SUPEROP_COLUMNS_MAX];
  uint32_t buffers; /* of a worker, for what its nodes compute */
  /* This run. */
  struct order_columns out;
  const char *identity[SUPEROP_COLUMNS_MAX];
  uint8_t identity_step[SUPEROP_COLUMNS_MAX]; /* 0: one for all segments */
  struct order_columns totals; /* of the tiles of long segments: tile_totals_at */
  struct order_state *state;   /* of a scan: handed from chunk to chunk */
  struct order_columns given;  /* of run_tiles: what comes before tiles; else NULL */
};

/* The function of a combination for a worker, which combine/order-tree.h calls. */
struct fused_function {
  struct order_function call; /* first: the function is found by its address */
  const struct cvl_kernel *k;
  const struct fused_combination *combination;
  char *buffers;
};

/* The state of one thread for combinations. */
struct combine_worker {
  struct cvl_kernel *k;
  /* Where the columns are: of evaluation where its values are. Else, of each column of each
   * combination, from position `origin` on. */
  const struct fused_worker *steps;
  char **columns;
  uint64_t origin;
  struct fused_function *functions; /* of each combination */
  struct order_columns *roots;      /* of each: where the totals of the next tiles go */
  struct order_columns *tiles; /* of each: room for those of a segment; of a scan, the tiles of
                                  two long segments, and then what comes before them */
  char *order_scratch;         /* as combine/order-tree.h wants it */
};

/* A scatter in ranges (scatter.c). */
struct fused_scatter {
  uint32_t node;
  struct fused_value *v;
  char *out;
  uint8_t *mark; /* of each element of a PERMUTE; NULL: known to be a permutation */
  uint64_t count;
};

struct fused_compiled;
struct copy_plan;

/* The state of a superoperator in one run. Its arrays are made with the plan. */
struct fused_run {
  uint64_t site, n;
  struct segments segments; /* of the consumers; one segment if there are none */
  bool cut_anywhere;        /* no consumers: chunks may begin at any position */
  bool by_ranges;           /* a compiled function does ranges of it (ranges.h) */
  bool *one;    /* of every parameter: a descriptor of one segment, strides that are all 1 */
  bool streams; /* something is written past the caches */
  bool has_affine_runs; /* some gather is affine */
  bool by_columns;      /* segments are reduced column by column: columns.c */
  uint32_t *live_steps; /* the steps that are executed: from live_from to step_count */
  uint32_t live_from;
  uint32_t *affine_steps; /* those that an affine run executes: affine_step_count of them */
  uint32_t affine_step_count;
  /* The gathers whose index is affine: affine_gather_count of them; then the nodes whose
   * results are filled: affine_value_count with them. */
  uint32_t *affine_gathers;
  uint32_t affine_gather_count, affine_value_count;
  uint64_t row_length; /* of the rows of affine rectangles; 0: segments are not equal */
  uint32_t *copies;    /* values to be copied to `whole` strip by strip: copy_count of them */
  uint32_t copy_count;
  uint64_t strip;          /* positions of a strip */
  uint64_t chunks, grain;  /* grain: of steps of the segments' path, or of positions */
  uint64_t most_positions; /* of a chunk */
  char *workers;           /* memory of the first */
  size_t worker_bytes;
  unsigned worker_count;
  uint64_t whole;          /* a longer segment may be cut, and then is in ... */
  uint64_t *long_segments; /* ... as in operations/long-segments.h */
  _Atomic uint64_t turn;   /* the chunk that may use what is handed on */
  _Atomic uint64_t failed; /* lowest node with a fault */
  _Atomic uint64_t *fault; /* of every node: lowest position at fault */
};

/* A prepared superoperator: the plan. One thread runs it: sub-contexts have copies. */
struct cvl_kernel {
  struct cvl_kernel *next, *previous; /* all of a context */
  struct cvl_context *c;
  uint32_t number; /* among those of the context */
  bool is_copy;    /* in a sub-context: of one of the parent's */
  const struct superop *op;
  struct copy_plan *copying; /* or NULL: copy.h */
  size_t bytes;              /* of this block */
  struct fused_value *values;
  struct fused_node *nodes;
  uint32_t *steps; /* the nodes that are steps */
  uint32_t step_count;
  struct fused_reduction *reductions;
  struct fused_scan *scans;
  struct fused_pack *packs;
  struct fused_scatter *scatters;
  uint32_t reduction_count, scan_count, pack_count, scatter_count;
  struct fused_combination *combinations;
  uint32_t combination_count, column_count; /* columns: of all combinations */
  bool combines, scans_by;                  /* some combination reduces; some scans */
  bool gathers;                             /* some node does */
  bool has_runs;                            /* some value is as_runs */
  bool *strides;  /* of every parameter: it has the strides of INDEXes */
  bool *one;      /* k->run.one in all runs: functions for ranges are compiled for that ... */
  bool found_one; /* ... of one run or more; before that: all that may be */
  uint32_t *analysed; /* the nodes of the affine analysis: analysed_count of them */
  uint32_t analysed_count;
  uint32_t strip_slots, tile_slots, walks;
  uint64_t usual_strip; /* positions of a strip without affine runs */
  char *constants;      /* that are spread, repeated: constants_bytes; NULL: there are none */
  size_t constants_bytes;
  struct fused_compiled *compiled; /* or NULL: compiled.h */
  struct fused_choice choice;
  uint32_t cost;         /* of a position, in bytes of memory traffic that take as long */
  uint64_t serial_steps; /* so few are not worth the pool */
  struct fused_run run;
};

/* Whether chunks wait for those before them. */
static inline bool fused_hands_on(const struct cvl_kernel *k) {
  return k->scan_count + k->pack_count > 0 || k->scans_by;
}

/* Positions, or steps over segments, that a thread takes at a time: all of them where the pool
 * would cost more than it gains; otherwise so that what they read and write stays in the
 * second-level cache. One thread alone takes as many as it may before it looks again whether it
 * must stop. */
uint64_t fused_grain(const struct cvl_kernel *, uint64_t steps);

/* In debug builds aborts if the plan contradicts itself (check.c). */
void fused_plan_check(const struct cvl_kernel *);
/* The outputs of a run have the lengths that its domain gives them. */
void fused_results_check(const struct cvl_kernel *);

/* The result of a step: NULL for an ASSERT. */
static inline struct fused_value *fused_result(const struct cvl_kernel *k, uint32_t step) {
  const struct superop_node *node = &k->op->nodes[step];
  return node->result_count > 0 ? &k->values[node->result] : NULL;
}

#endif
