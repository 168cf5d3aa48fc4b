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
 *   plan.c           prepare and discard: steps, buffers
 *   bind.c           start of a run: how each value is stored, given the operands
 *   strip.c          evaluation of a strip
 *   gather.c         gathers within a strip
 *   affine-gather.c  gathers by indices that are affine for a while
 *   rectangles.c     whole rows, by rectangles of affine runs
 *   columns.c        reductions of segments of one length, column by column
 *   loop.c           loops, within a strip
 *   chunk.c          evaluation of a chunk: tiles, reductions, packs, scans
 *   compiled.c       compiled functions: which there are
 *   tile.c           tiles, executed by them
 *   choice.c         whether a run uses those
 *   short.c          few positions, by one call of them
 *   scatter.c        scatters by compiled functions
 *   concatenate.c    scatters of contiguous vectors: concatenations
 *   combine/fused.h  combinations by user-defined functions
 *   copy.h           copies of segments; of op->copies that is all there is
 *   message.c        the values that the message of a failing ASSERT reports
 *   run.c            run: memory, results, scatters, faults
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
#include "fused-kernels/tile.h"

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
  uint8_t elem, bytes; /* of a vector */
  uint8_t buffer;      /* the buffer it has if it needs one: IN_STRIP, IN_TILE or IN_CHUNK */
  uint8_t compiled_buffer; /* the same when functions are compiled, which do more by strips */
  uint32_t slot;           /* number of the buffer among those of its kind */
  uint32_t compiled_slot;  /* number of its strip buffer when functions are compiled */
  bool read_by_blocks;     /* by compiled functions */
  uint32_t node;           /* that defines it; SUPEROP_NONE: a parameter */
  uint32_t last_read;      /* parameter: last node that reads it elementwise */
  bool read_elementwise;   /* parameter: some node reads it elementwise */
  bool only_elementwise;   /* parameter: all its uses do */
  bool reported;           /* the message of an ASSERT depends on its element */
  bool consumed;           /* by a reduction, scan, pack or scatter */
  bool scattered;          /* by a scatter: has to be in memory as a whole */
  uint32_t consumers;      /* operands of such nodes that it is */
  bool as_runs; /* result of an INDEX that only scatters read, as their index: may stay
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
  ACT_LOOP,
  ACT_COMPILED /* a gather that compiled functions execute: no step */
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
  bool compiled;            /* this run: by the compiled function, and then: */
  uint64_t before; /* handed from chunk to chunk: what comes before, in its first bytes */
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
  uint8_t role;   /* enum superop_role */
  bool inclusive; /* of a scan */
  uint32_t columns;
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
  struct order_columns totals; /* of the tiles of long segments: fused_tile_totals_at */
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

/* A scatter that the compiled function executes (scatter.c). */
struct fused_scatter {
  uint32_t node;
  char *out;
  uint8_t *mark; /* of each element of a PERMUTE; NULL: known to be a permutation */
  uint64_t count;
};

/* How scatters are executed: by operations, after all steps; or as their indices are computed,
 * chunk by chunk, or by each thread for a range of the destinations, from all positions. */
enum fused_scattering { SCATTER_AFTERWARDS, SCATTER_IN_CHUNKS, SCATTER_BY_RANGES };

struct fused_compiled;
struct copy_plan;

/* The state of a superoperator in one run. Its arrays are made with the plan. */
struct fused_run {
  uint64_t site, n;
  struct segments segments;       /* of the consumers; one segment if there are none */
  bool cut_anywhere;              /* no consumers: chunks may begin at any position */
  bool runs_compiled;             /* maps are done by compiled functions */
  bool in_one_call;               /* it was short (short.h) */
  bool flat;                      /* INDEXes, and what gathers read, are of one segment */
  bool streams;                   /* something is written past the caches */
  bool has_affine_runs;           /* some gather is affine */
  bool by_columns;                /* segments are reduced column by column: columns.c */
  bool by_rectangles;             /* whole rows are executed by them: rectangles.c */
  const uint8_t *rectangle_tasks; /* then, of every node: enum fused_rectangle_task */
  uint8_t scattering;             /* enum fused_scattering */
  bool again;           /* it failed in a way that only operations report: run it by them ... */
  bool by_operations;   /* ... now */
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
  uint64_t *long_segments; /* as in operations/long-segments.h */
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
  uint32_t combination_count;
  bool combines, scans_by; /* some combination reduces; some scans */
  bool gathers;            /* some node does */
  bool has_runs;           /* some value is as_runs */
  /* The descriptors that have one segment in a flat run: flat_count of them. */
  uint32_t *flat_of;
  uint32_t flat_count;
  bool general;       /* some run was not flat: functions are compiled for any segments */
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

/* The source of a value that an affine run reads instead of computing it, from the first
 * position of a rectangle on. */
struct plan_source {
  const char *at;            /* of a gather: the elements gathered; NULL: not contiguous */
  uint64_t bytes, row_bytes; /* added to `at` for each position, each row */
  struct affine value;       /* of a filled value */
};

/* Affine runs that are alike: columns of some rows (affine.h). */
struct fused_rectangle {
  uint64_t first;       /* position */
  uint64_t row, column; /* of it */
  uint64_t rows, length;
  bool skipping;               /* its steps are k->affine_steps */
  uint32_t next;               /* the one that followed last */
  struct plan_source *sources; /* by number in k->affine_gathers */
  struct affine *known;        /* by_rectangles: of every value that is affine */
};

/* How many a worker remembers: those of three rows, for stencils of radius 1, with their
 * corners. */
enum { FUSED_RECTANGLES = 16 };

/* Whether chunks wait for those before them. */
static inline bool fused_hands_on(const struct cvl_kernel *k) {
  return k->scan_count + k->pack_count > 0 || k->scans_by;
}

/* Where the elements are that the gathers of a group read: n positions of the source for the
 * positions of the domain from `first` on. */
struct fused_located {
  uint32_t group; /* SUPEROP_NONE: nothing is known */
  uint64_t first, n;
  const uint64_t *at; /* the room, or the index itself */
  struct walk walk;   /* of the gather that located, afterwards */
  uint64_t room[LOCATE_MOST + SPREAD_SLACK / sizeof(uint64_t)];
};

/* The state of one thread for its current chunk; its buffers follow. */
struct fused_worker {
  struct cvl_kernel *k;
  uint64_t origin[FUSED_STORAGES]; /* the position that a buffer begins with, by kind */
  /* The lowest fault this worker has found, and the index there if it is one. */
  uint64_t fault_node, fault_position;
  int64_t fault_index;
  /* The positions that are prefetched while a strip is evaluated (fused_prefetch):
   * prefetch_count positions from prefetch_from on. Then the next line, by its stream and its
   * number there; how many lines there are, and how many are done. prefetch_pace is lines for
   * each step, in units of 2^-32. */
  uint64_t prefetch_from, prefetch_count;
  uint32_t prefetch_stream;
  uint64_t prefetch_line, prefetch_lines, prefetched, prefetch_pace;
  /* The current affine run, from run_first to before run_end: its rectangle, its row, which
   * begins at row_start. */
  uint64_t run_first, run_end, row, row_start;
  struct fused_rectangle *rectangles; /* FUSED_RECTANGLES of them, where anything is affine */
  uint32_t rectangle, newest;
  uint64_t begun, rectangles_found; /* the position of the chunk; since then */
  bool skipping;                    /* its steps are k->affine_steps */
  bool by_runs;                     /* rectangles were not found for whole rows of the chunk */
  struct tile_stream *streams;      /* what is read from memory, stream_count of them */
  uint32_t stream_count;
  struct affine *affine; /* of the rectangle that is being found, by value number */
  struct tile_rectangle *rectangle_in, *rectangle_out; /* by_rectangles: by value number */
  const char **gathered; /* of affine gathers and filled values: their elements of the strip */
  char *filled;          /* a strip for each of them */
  const char *all_true, *all_false; /* BOOLs: a strip */
  char *lanes;                      /* of each reduction, by columns */
  /* State of compiled functions (tile.c); `data` to `skipped` are arrays of `tile`. */
  struct tile tile;
  char **scan_rooms; /* of each: what it computes of a chunk, or NULL: it writes the result */
  char **data;
  uint64_t *step;
  char **fold_totals;
  uint8_t *skipped;
  uint32_t *moving; /* values whose `data` differ from strip to strip: moving_count of them */
  uint32_t moving_count;
  uint64_t done_to;   /* the position behind the last tile */
  bool acts_skipping; /* `skipping`, when the acts of nodes were set */
  const void **in;    /* of loops, by value number */
  void **out;
  struct fused_located *located; /* NULL: nothing gathers */
  struct walk *walks;
  struct walk *ranks;  /* of each pack */
  uint64_t *kept;      /* by each pack in this chunk */
  char **totals;       /* of each reduction: where the totals of the next blocks go */
  char *block_totals;  /* of each reduction: room for the blocks of a segment */
  char *window_totals; /* of each scan: the windows of two long segments */
  char **packed;       /* of each pack: what the chunk keeps */
  struct fused_function *functions; /* of each combination */
  struct order_columns *roots;      /* of each: where the totals of the next tiles go */
  struct order_columns *tiles; /* of each: room for those of a segment; of a scan, the tiles of
                                  two long segments, and then what comes before them */
  char *order_scratch;         /* as combine/order-tree.h wants it */
};

/* In debug builds aborts if the plan contradicts itself (check.c). */
void fused_plan_check(const struct cvl_kernel *);
/* The outputs of a run have the lengths that its domain gives them. */
void fused_results_check(const struct cvl_kernel *);

/* The result of a step: NULL for an ASSERT. */
static inline struct fused_value *fused_result(const struct cvl_kernel *k, uint32_t step) {
  const struct superop_node *node = &k->op->nodes[step];
  return node->result_count > 0 ? &k->values[node->result] : NULL;
}

/* The element of a value at position p of the current strip, tile or chunk. */
static inline char *fused_at(const struct fused_worker *w, const struct fused_value *v,
                             uint64_t p) {
  char *base = v->run.storage <= UNIFORM         ? v->run.base
               : v->run.storage == IN_AFFINE_RUN ? (char *)w->gathered[v->run.affine_gather]
                                                 : (char *)w + v->run.offset;
  return base + (p - w->origin[v->run.storage]) * v->run.step;
}

/* bind.c: decides, given the operands, how every value is stored and which steps are
 * executed. Allocates nothing. */
void fused_bind(struct cvl_kernel *, const struct cvl_value *operands);
/* Repeats the constants that are spread, once for all runs; false: no memory. */
bool fused_repeat_constants(struct cvl_kernel *);
/* Writes n copies of an element. */
void fused_repeat(void *to, const void *one, size_t bytes, uint64_t n);
/* Computes the other uniform values; `room` has fused_room_bytes. */
size_t fused_room_bytes(const struct cvl_kernel *);
void fused_fill_room(struct cvl_kernel *, char *room);

/* Whether the index is j + *start at each position j < n, and in range: 0 <= index < limit. */
bool fused_counts_up(const struct fused_value *index, uint64_t n, uint64_t limit,
                     uint64_t *start);
/* Whether another parameter is the same vector: one may be borrowed and the other owned. */
bool fused_shared(const struct cvl_kernel *, const struct cvl_value *operands, uint32_t param);

/* concatenate.c: _plan finds the scatters that may be concatenations. _bind decides which are
 * in this run, after their operands are bound. */
void fused_concatenate_plan(struct cvl_kernel *);
void fused_concatenate_bind(struct cvl_kernel *, uint32_t scatter,
                            const struct cvl_value *operands);
/* One consumer less needs the value. */
void fused_drop_use(struct fused_value *);
/* Whether flags are uniform and T. */
bool fused_is_true(const struct fused_value *flags);
/* Makes the result of v->concatenated_by, for v to be written to. */
bool fused_concatenate_room(struct cvl_kernel *, struct fused_value *v,
                            const struct cvl_value *operands);
/* Executes a concatenated scatter, after all steps. */
bool fused_concatenate(struct cvl_kernel *, uint32_t scatter, const struct cvl_value *operands);

/* strip.c: executes the steps for positions first .. first + n - 1, at most a strip.
 * False after a fault, which is recorded. */
bool fused_strip(struct fused_worker *, uint64_t first, uint64_t n);
/* Does what fused_strip does for n rows of a column. */
void fused_strip_column(struct fused_worker *, uint64_t first, uint64_t n);
/* Copies the results of nodes before `end` that were computed in buffers. */
void fused_deliver(struct fused_worker *, uint64_t first, uint64_t n, uint64_t end);
/* Sets the walks of all steps to a position. */
void fused_walks_at(struct fused_worker *, uint64_t position);
/* The vectors to prefetch: first the parameters, then added ones. An added one is a parameter
 * whose elements are read in order, from `at` on for position 0. */
void fused_streams_begin(struct fused_worker *);
void fused_stream(struct fused_worker *, uint32_t param, const char *at);
/* Executes one step for such positions; returns n or the first faulting position, counted from
 * `first`. */
uint64_t fused_step(struct fused_worker *, uint32_t node, uint64_t first, uint64_t n);
/* Records a fault; _remember with the index, of the strip that begins with `first`. */
void fused_remember(struct fused_worker *, uint32_t node, uint64_t first, uint64_t position);
void fused_note(struct cvl_kernel *, uint32_t node, uint64_t position);

/* Whether two nodes have the same operation, and the same operands except the first. */
static inline bool fused_same_index(const struct superop_node *a,
                                    const struct superop_node *b) {
  if (a->op != b->op) return false;
  for (unsigned i = 1; i < a->operand_count; i++) {
    if (a->operands[i] != b->operands[i]) return false;
  }
  return true;
}

/* gather.c. Finds the groups, and the gathers that may copy runs. */
void fused_gather_plan(struct cvl_kernel *);
/* Whether a gather copies runs in this run: its own operands and those of the INDEX are bound.
 */
bool fused_copies_runs(const struct cvl_kernel *, uint32_t gather);
/* Do what fused_step does, for a gather or pick, and for a gather of runs. */
uint64_t fused_gather(struct fused_worker *, uint32_t gather, uint64_t first, uint64_t n,
                      void *out);
uint64_t fused_copy_runs(struct fused_worker *, uint32_t gather, uint64_t first, uint64_t n,
                         char *out);
/* The index at a position of a gather of runs. */
int64_t fused_runs_index(const struct cvl_kernel *, uint32_t gather, uint64_t position);

/* affine-gather.c. Decides which indices may be affine at all, and which are in this run. */
void fused_affine_plan(struct cvl_kernel *);
void fused_affine_bind(struct cvl_kernel *);
/* Whether affine runs suit a gather by an INDEX, both bound. */
bool fused_affine_suits(const struct cvl_kernel *, uint32_t gather);
/* How many of n positions from `first` on belong to one affine run; sets w->gathered. */
uint64_t fused_affine_run(struct fused_worker *, uint64_t first, uint64_t n);
/* Whether the affine run gives the result of a step for these positions. */
bool fused_affine_has(struct fused_worker *, uint32_t node, uint64_t first, uint64_t n);
/* How many rows from this one on, at most `most`, are affine in all columns, and by columns
 * also contiguous there: their rectangles are w->rectangles from 0 on. By columns: sets
 * w->gathered for n rows of a column, whose buffers begin at position `first`; for positions
 * that are evaluated by all steps. */
uint64_t fused_affine_rows(struct fused_worker *, uint64_t row, uint64_t most);
void fused_affine_column(struct fused_worker *, uint64_t column, uint64_t first, uint64_t n);
void fused_affine_none(struct fused_worker *);
/* Returns the bytes that a worker needs; the other function sets them up there. */
size_t fused_affine_bytes(const struct cvl_kernel *);
void fused_affine_set_up(struct fused_worker *, char *memory);

/* rectangles.c. Whether this run, in which some gather is affine, may execute whole rows
 * by rectangles. Executes rows from a position on, of n positions at most: returns how many
 * positions, 0 if it does not begin a row, or not here. */
bool fused_rectangles_suit(const struct cvl_kernel *);
uint64_t fused_rectangles(struct fused_worker *, uint64_t first, uint64_t n);

/* columns.c. Whether this run is by columns, all gathers affine. Reduces segments from
 * one on by columns; returns how many, 0 if not here. */
bool fused_columns_suit(const struct cvl_kernel *);
uint64_t fused_columns(struct fused_worker *, uint64_t segment, uint64_t last);
size_t fused_columns_bytes(const struct cvl_kernel *);

/* The steps that the current strip executes, in order: those from `first` to before `end`. */
struct fused_steps {
  const uint32_t *numbers;
  uint32_t first, end;
};
static inline struct fused_steps fused_steps_here(const struct fused_worker *w) {
  const struct cvl_kernel *k = w->k;
  if ((k->run.has_affine_runs || k->run.by_columns) && w->skipping) {
    return (struct fused_steps){k->run.affine_steps, 0, k->run.affine_step_count};
  }
  return (struct fused_steps){k->run.live_steps, k->run.live_from, k->step_count};
}

/* message.c: the INTs that the message of an ASSERT reports after it failed at a
 * position.
 */
void fused_message(const struct cvl_kernel *, uint32_t assertion, uint64_t position,
                   struct cvl_error *);
/* The index of a compiled gather at a position where it failed. */
int64_t fused_compiled_index(const struct cvl_kernel *, uint32_t gather, uint64_t position);
/* loop.c: executes the loop whose first CARRY is the live step *step; then *step is its
 * last. False if it was stopped, which is recorded. */
bool fused_loop(struct fused_worker *, uint32_t *step, uint64_t first, uint64_t n);

/* combine/fused.c. Operands of its consumers, before which is the left result of the COLUMN. */
enum { COMBINE_VALUE = 1, COMBINE_IDENTITY = 2, COMBINE_INDEX = 2 };
/* How many combinations there are; describes them. */
uint32_t fused_combinations(const struct superop *);
void fused_combine_plan(struct cvl_kernel *);
/* Start of a run: identities; results. False: no memory, or a fault. */
void fused_combine_bind(struct cvl_kernel *, const struct cvl_value *operands);
bool fused_combine_results(struct cvl_kernel *);
/* Returns the bytes that a worker needs; the other function sets them up there. */
size_t fused_combine_worker_bytes(const struct cvl_kernel *);
void fused_combine_set_up(struct fused_worker *, char *memory);
/* Returns the bytes that all workers share; the other function sets them up. */
size_t fused_combine_common_bytes(const struct cvl_kernel *);
void fused_combine_lay_out(struct cvl_kernel *, char *memory);
/* Reduces `many` segments of a tile, the first one k, at position p: offsets counted from p, or
 * NULL: all of the same length. */
void fused_combine_group(struct fused_worker *, uint64_t k, uint64_t many, uint64_t p,
                         uint64_t n, const uint64_t *offsets);
/* A segment of several tiles: where their totals go, in the memory of the worker or, of the
 * long segment that starts at a position, of all; then tile by tile, the first of them `tile`
 * 0; then the total of segment k of so many elements. */
void fused_combine_begin(struct fused_worker *);
void fused_combine_begin_long(struct fused_worker *, uint64_t start, uint64_t tiles_before);
void fused_combine_tile(struct fused_worker *, uint64_t p, uint64_t n, uint64_t tile);
void fused_combine_end(struct fused_worker *, uint64_t k, uint64_t n);
/* The totals of all long segments, after all chunks. */
void fused_combine_finish(struct cvl_kernel *);
/* The turn of a chunk, for scans; range 0 or 1. */
void fused_combine_totals(struct fused_worker *, const struct segment_range *, int number);
void fused_combine_advance(struct fused_worker *, const struct segment_range *, int number);
void fused_combine_write(struct fused_worker *, const struct segment_range *, uint64_t segment,
                         int number);
void fused_combine_scan(struct fused_worker *, uint64_t first, uint64_t last);
/* Executes a COMBINE_SCATTER whose first consumer is this node, after all steps. */
bool fused_combine_scatter(struct cvl_kernel *, uint32_t node,
                           const struct cvl_value *operands);

/* scatter.c. Decides how scatters are executed, their operands bound; makes their
 * results; after all chunks, false if an index occurs twice, or there is no memory; frees the
 * marks. */
void fused_scatter_bind(struct cvl_kernel *);
bool fused_scatter_results(struct cvl_kernel *, const struct cvl_value *operands);
bool fused_scatter_finish(struct cvl_kernel *);
void fused_scatter_end(struct cvl_kernel *);
/* By ranges of the destinations: how many. After the results have been made. */
uint64_t fused_scatter_ranges(const struct cvl_kernel *);

/* The buffer that a value has in this run if it needs one. */
static inline uint8_t fused_buffer(const struct cvl_kernel *k, const struct fused_value *v) {
  return k->run.runs_compiled ? v->compiled_buffer : v->buffer;
}

/* chunk.c: bodies for pool_for over the path of k->segments, or over positions. */
void fused_chunk(void *kernel, uint64_t first, uint64_t last, unsigned worker);
void fused_plain_chunk(void *kernel, uint64_t first, uint64_t last, unsigned worker);
/* ... or over ranges of the destinations of scatters. */
void fused_range(void *kernel, uint64_t first, uint64_t last, unsigned worker);

/* The number of elements of a size of the superoperator, given the operands. */
uint64_t fused_size(const struct superop_size *, const struct cvl_value *operands);

#endif
