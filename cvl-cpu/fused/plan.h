/* plan.h - a superoperator prepared for this back end, and the state of a run. Private to this
 * folder and combine/.
 *
 * Threads take *ranges* of positions, or of segments. Each is executed by a compiled function,
 * or evaluated strip by strip (strips/strips.h): both are called in the same way
 * (fused-kernels/loops/range-call.h). What fails in a range is executed node by node, which
 * reports it.
 *
 * Each file below has a header of its name:
 *
 *   plan            prepare and discard
 *   compiled        compiled functions: which there are
 *   choice          whether a run uses those
 *   ranges          a run: ranges that threads take
 *   range-part      what one call for a range is given
 *   range-scans     scans in ranges
 *   range-combinations  combinations in ranges: their columns, and what combine/ does with them
 *   packs           the results of packs
 *   scatter         scatters in ranges
 *   copy            copies of segments; of op->copies that is all there is
 *
 * run.c decides which of these executes a run. combine/combinations.h has combinations by
 * user-defined functions.
 */
#ifndef RAVEL_CPU_FUSED_PLAN_H
#define RAVEL_CPU_FUSED_PLAN_H

#include "cvl-cpu/combine/order-tree.h"
#include "cvl-cpu/cpu.h"
#include "cvl-cpu/fused/choice.h"
#include "cvl-cpu/kernels/map.h"
#include "cvl-cpu/kernels/move.h"
#include "cvl-cpu/kernels/reduce.h"
#include "cvl-cpu/kernels/scan.h"
#include "cvl-cpu/operations/long-segments.h"
#include "cvl-cpu/strips/strips.h"
#include "cvl/superop.h"

/* A value: the plan, which is made once, and then what belongs to a run. */
struct fused_value {
  uint8_t elem, bytes;    /* of a vector */
  uint32_t node;          /* that defines it; SUPEROP_NONE: a parameter */
  bool streaming;         /* an output: written past the caches */
  bool unwanted;          /* a combination scatters it, and it is the same everywhere: ... */
  const void *one;        /* ... this element */
  struct cvl_value whole; /* of a node's result: the vector that is returned or scattered */
};

struct fused_reduction {
  uint32_t node;
  const struct reduce_row *row;
  struct fused_value *v;
};

struct fused_scan {
  uint32_t node;
  const struct scan_row *row;
  struct fused_value *v;
  char *out;
  bool streaming;
};

struct fused_pack {
  uint32_t node;
  struct fused_value *v;
  bool wants_result, wants_descriptor;
  char *out;
  uint64_t *offsets; /* NULL: one segment, or not wanted */
  bool streaming;
  uint64_t kept;
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
  uint32_t buffers;      /* of a worker, for what its nodes compute, constants included: ... */
  uint32_t first_buffer; /* ... from this node on */
  /* This run. */
  struct order_columns out;
  const char *identity[SUPEROP_COLUMNS_MAX];
  uint8_t identity_step[SUPEROP_COLUMNS_MAX]; /* 0: one for all segments */
  struct order_columns totals; /* of the tiles of long segments: tile_totals_at */
  struct order_state *state;   /* of a scan: handed from range to range */
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
  char **columns;                   /* of each column of each combination: where it is, ... */
  uint64_t origin;                  /* ... from this position on */
  struct fused_function *functions; /* of each combination */
  struct order_columns *tiles; /* of each scan: those of two long segments, and then what comes
                                  before them */
  char *order_scratch;         /* as combine/order-tree.h wants it */
};

/* What makes an output, and its number among those of its kind. */
enum fused_output_kind {
  OUTPUT_STORED,
  OUTPUT_REDUCED,
  OUTPUT_SCANNED,
  OUTPUT_KEPT,         /* by a pack */
  OUTPUT_KEPT_LENGTHS, /* the descriptor of what is kept */
  OUTPUT_SCATTERED,
  OUTPUT_COMBINED,
  OUTPUT_KINDS
};
struct fused_output {
  uint8_t kind; /* enum fused_output_kind */
  uint32_t number;
};

/* A scatter in ranges (scatter.c). */
struct fused_scatter {
  uint32_t node;
  struct fused_value *v;
  bool known; /* a PERMUTE: an earlier one has the same index and descriptors */
  char *out;
  uint8_t *mark; /* of each element of a PERMUTE; NULL: known to be a permutation */
  uint64_t count;
};

struct fused_compiled;
struct copy_plan;

/* How a run is executed. */
enum fused_way { BY_NODES, BY_STRIPS, BY_FUNCTION };

/* The state of a superoperator in one run. Its arrays are made with the plan. */
struct fused_run {
  uint64_t site, n;
  struct segments segments; /* of the consumers; one segment if there are none */
  uint8_t way;              /* enum fused_way */
  bool *one;    /* of every parameter: a descriptor of one segment, strides that are all 1 */
  bool streams; /* something is written past the caches */
  uint64_t most_positions; /* of a range */
  uint64_t whole;          /* a longer segment may be cut, and then is in ... */
  uint64_t *long_segments; /* ... as in operations/long-segments.h */
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
  struct fused_output *outputs;
  struct fused_reduction *reductions;
  struct fused_scan *scans;
  struct fused_pack *packs;
  struct fused_scatter *scatters;
  uint32_t reduction_count, scan_count, pack_count, scatter_count;
  struct fused_combination *combinations;
  uint32_t combination_count, column_count; /* columns: of all combinations */
  bool combines, scans_by;                  /* some combination reduces; some scans */
  bool *strides;                   /* of every parameter: it has the strides of INDEXes */
  bool *one;                       /* k->run.one in all runs: ranges are planned for that ... */
  bool found_one;                  /* ... of one run or more; before that: all that may be */
  struct strips *strips;           /* for k->one; or NULL */
  struct fused_compiled *compiled; /* or NULL: compiled.h */
  struct fused_choice choice;
  uint32_t cost;         /* of a position, in bytes of memory traffic that take as long */
  uint64_t serial_steps; /* so few are not worth the pool */
  struct fused_run run;
};

/* Whether ranges wait for those before them. */
static inline bool fused_hands_on(const struct cvl_kernel *k) {
  return k->scan_count + k->pack_count > 0 || k->scans_by;
}

/* In debug builds aborts if the plan contradicts itself (check.c). */
void fused_plan_check(const struct cvl_kernel *);
/* The outputs of a run have the lengths that its domain gives them. */
void fused_results_check(const struct cvl_kernel *);

#endif
