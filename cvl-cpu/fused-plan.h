/* fused-plan.h - a superoperator made ready for this back end: the block evaluator's plan and
 * what a run keeps in it. Private to the fused-*.c files.
 *
 * The domain is cut into *pieces*, which threads take in order; a piece is evaluated *tile* by
 * tile, a tile in *strips*. In a strip every step of the plan (a node that has one element for
 * each place) is executed by the kernel of its operation, from buffers to buffers that stay in
 * the first-level cache. Reductions and packs take their operands a tile at a time, since a
 * tile holds a block of the reproducible tree; scans a piece at a time, from the second-level
 * cache, since their state is handed on from piece to piece.
 *
 *   fused-plan.c   prepare and discard: which buffers, which order
 *   fused-bind.c   the start of a run: where every value lies, given the operands
 *   fused-strip.c  evaluation of a strip
 *   fused-chain.c  expressions of several maps as one step
 *   fused-stretch.c  gathers whose indices count up over a stretch of places
 *   fused-loop.c   the loops of a strip
 *   fused-piece.c  evaluation of a piece: tiles, reductions, packs, scans
 *   fused-native.c the maps of a strip as compiled functions
 *   fused-choice.c whether a run takes those
 *   fused-place.c  scatters that put a vector down as it is
 *   fused-message.c what the message of a failing ASSERT tells
 *   fused.c        run: memory, results, scatters, faults
 */
#ifndef RAVEL_CPU_FUSED_PLAN_H
#define RAVEL_CPU_FUSED_PLAN_H

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/fused-choice.h"
#include "cvl-cpu/kernels-map.h"
#include "cvl-cpu/kernels-move.h"
#include "cvl-cpu/kernels-reduce.h"
#include "cvl-cpu/kernels-scan.h"
#include "cvl-cpu/locate.h"
#include "cvl/superop.h"

enum {
  FUSED_STRIP = LOCATE_MOST,
  FUSED_TILE = CVL_REDUCE_BLOCK,
  FUSED_MANY_SLOTS =
      6, /* so many buffers of a strip take half of a first-level cache of 48 KB */
  FUSED_WHOLE = 8 * CVL_REDUCE_BLOCK /* a longer segment may be cut between two pieces */
};
#define FUSED_NONE UINT64_MAX /* no fault: a node or place behind all others */

/* Where the elements of a value are. The first two have the element of every place of the
 * domain at hand; the next are parts of a worker's memory that hold those of a strip, a tile
 * or a piece. IN_STRETCH: those of a strip, in the vector they are gathered from if they follow
 * each other there, or else in the worker's memory. */
enum fused_place {
  IN_MEMORY,
  IN_ALL_PLACES,
  IN_STRIP,
  IN_TILE,
  IN_PIECE,
  IN_STRETCH,
  FUSED_PLACES
};

struct fused_value {
  /* The plan: which buffer, if it needs one. */
  uint8_t elem, bytes;  /* of a vector */
  uint8_t home;         /* IN_STRIP, IN_TILE or IN_PIECE */
  uint32_t slot;        /* number of the buffer among those of its home */
  uint32_t native_slot; /* the same of a strip, for compiled functions */
  bool read_by_blocks;  /* by compiled functions */
  uint32_t node;        /* that makes it; SUPEROP_NONE: a parameter */
  uint32_t last_read;   /* parameter: last node that reads it place by place */
  bool read_places;     /* parameter: somebody reads it place by place */
  bool only_read_so;    /* parameter: there are no other readers */
  bool told;            /* the message of an ASSERT rests on its element at that place */
  bool consumed;        /* by a reduction, scan, pack or scatter */
  bool scattered;       /* by a scatter: has to be in memory as a whole */
  uint32_t consumers;   /* how many read it so; an operand each */
  bool as_runs;         /* of an INDEX: only scatters read it, as their index, and it need not
                           be written */
  bool is_output;
  bool has_spare;      /* NEXT: the next value is another one that is carried ... */
  uint32_t spare_slot; /* ... and waits in this buffer */
  /* This run. */
  uint8_t place;
  bool released;   /* parameter: the reference that was passed is given up already */
  bool needed;     /* somebody reads it where it lies */
  bool progresses; /* its element at place p is start + p * stride */
  bool kept;       /* read by steps that are not spared */
  bool in_runs;    /* as_runs, and these are long: it is not made (scatter-runs.c) */
  bool streaming;  /* past the caches */
  uint8_t step;    /* bytes from an element to the next: 0 if IN_ALL_PLACES */
  size_t offset;   /* in a worker's memory */
  size_t spare;    /* likewise */
  char *base;      /* IN_MEMORY: of the whole vector; IN_ALL_PLACES: of a strip */
  const void *one; /* IN_ALL_PLACES: the element */
  uint64_t start, stride;
  uint64_t below;     /* INT: at least 0 and less than this, as an ASSERT says; or UINT64_MAX */
  uint32_t left;      /* consumers that do not want it after all (fused-place.c) ... */
  bool unwanted;      /* ... and these were all */
  uint32_t placed_by; /* the scatter whose result it is written to, or SUPEROP_NONE ... */
  uint64_t before;    /* ... and so many elements of `whole` come before its own */
  uint32_t shift;     /* of a gather that is followed: its number among them */
  struct cvl_value whole; /* of a node's result: what is delivered or scattered, if anything */
};

enum fused_action {
  ACT_NOT,
  ACT_MAP,
  ACT_DIST,
  ACT_INDEX,
  ACT_GATHER,
  ACT_PICK,
  ACT_ASSERT,
  ACT_WITHIN,
  ACT_CHAIN,
  ACT_LOOP
};

/* An operation of a chain, as in kernels-chain.h; its operands are values, or SUPEROP_NONE. */
struct fused_chain {
  uint8_t what;
  uint32_t value, flags, to;
};

struct fused_node {
  enum cvl_op op;
  const struct map_entry *entry; /* MAP */
  uint8_t action;                /* this run */
  uint32_t walk;                 /* number among those of a worker */
  struct segments near, far;     /* see locate.h; near: what is walked over */
  const void *values, *strides;  /* DIST, INDEX, gathers: the whole vectors */
  /* Maps that are computed where a reader is (fused-chain.c). */
  bool chained;
  bool stored;               /* a chained one that others read afterwards */
  bool stores;               /* a tree of chained ones has such a node */
  uint8_t chain_nodes;       /* nodes of the tree that is computed with a map; 0: not there */
  uint8_t accumulators;      /* that the tree takes */
  uint32_t into, root;       /* the reader; the last one, with which it is computed */
  uint32_t before;           /* the tree has to be computed before this node */
  uint32_t region;           /* trees do not reach across the borders of a loop, or its WHILE */
  uint32_t chain, chain_ops; /* this run, of an ACT_CHAIN: which of k->chains */
  bool wanted; /* a gather whose index can be followed (fused-stretch.c), or such arithmetic */
  bool followed;  /* this run */
  bool spared;    /* this run: in a stretch only indices rest on it, which are known */
  bool placeable; /* a scatter that may be as in fused-place.c */
  bool placed;    /* this run */
  uint64_t start; /* of one: where */
  /* An ASSERT of 0 <= index < limit: the values; or SUPEROP_NONE. */
  uint32_t index, least, limit;
  uint64_t bound; /* WITHIN: the limit in this run; of a gather: known to be met */
};

struct fused_reduction {
  uint32_t node;
  const struct reduce_row *row;
  struct fused_value *v;
  char *out;
  char *totals; /* of the blocks of long segments, as in parts.h */
};

struct fused_scan {
  uint32_t node;
  const struct scan_row *row;
  struct fused_value *v;
  char *out;
  bool streaming;
  struct scan_state *state; /* handed from piece to piece */
};

struct fused_pack {
  uint32_t node;
  struct fused_value *v, *flags;
  bool wants_result, wants_descriptor;
  char *out;
  uint64_t *offsets; /* NULL: one segment, or not wanted */
  bool streaming;
  uint64_t kept; /* handed from piece to piece */
};

struct fused_native;

/* The elements of a vector that are read in order, as far as its foremost reader is. */
struct fused_stream {
  const char *at; /* what that one reads at place 0, wherever that may be */
  uint32_t param; /* the vector */
  uint8_t bytes;  /* of an element */
};

struct cvl_kernel {
  struct cvl_kernel *next, *previous; /* all of a context */
  struct cvl_context *c;
  const struct superop *op;
  size_t bytes; /* of this block */
  struct fused_value *values;
  struct fused_node *nodes;
  uint32_t *steps; /* the nodes that are steps */
  uint32_t step_count;
  uint32_t *live_steps; /* those of this run: from live_from to step_count */
  uint32_t live_from;
  uint32_t *copies; /* values to be copied to `whole` strip by strip: copy_count of them */
  uint32_t copy_count;
  struct fused_reduction *reductions;
  struct fused_scan *scans;
  struct fused_pack *packs;
  uint32_t reduction_count, scan_count, pack_count;
  uint32_t *followed; /* the nodes that are wanted: followed_count of them */
  uint32_t followed_count;
  struct fused_chain *chains; /* those of this run: chain_count */
  uint32_t chain_count;
  uint32_t *stretch_steps; /* the live steps that a stretch leaves: stretch_count of them */
  uint32_t stretch_count;
  uint32_t *shifted; /* the gathers that are followed: shifted_count of them */
  uint32_t strip_slots, tile_slots, walks;
  uint64_t strip, usual_strip; /* places of a strip: in this run, and without stretches */
  struct fused_native *native; /* or NULL: fused-native.h */
  struct fused_choice choice;
  uint32_t cost;         /* of a place, in bytes of memory traffic that take as long */
  uint64_t serial_steps; /* so few are not worth the pool */

  /* This run. */
  uint64_t site, n;
  struct segments segments; /* of the consumers; one of all places if there are none */
  bool cut_anywhere;        /* no consumers: pieces may begin at any place */
  bool has_runs;            /* some value is as_runs */
  bool compiled;            /* maps are done by compiled functions */
  bool streams;             /* something is written past the caches */
  bool stretches;           /* gathers are followed: shifted_count of them */
  uint32_t shifted_count;
  uint64_t pieces, grain; /* steps of the segments' path, or places */
  uint64_t most_places;   /* of a piece */
  char *workers;          /* memory of the first */
  size_t worker_bytes;
  unsigned worker_count;
  uint64_t *giants;        /* as in parts.h */
  _Atomic uint64_t turn;   /* the piece that may use what is handed on */
  _Atomic uint64_t failed; /* lowest node with a fault */
  _Atomic uint64_t *fault; /* of every node: lowest place at fault */
};

/* The values of an index from some place on: start + j * stride, wrapping; of a BOOL, start.
 */
struct fused_course {
  bool known;
  int64_t start, stride;
};

/* Whether pieces wait for those before them. */
static inline bool fused_hands_on(const struct cvl_kernel *k) {
  return k->scan_count + k->pack_count > 0;
}

/* What one thread keeps for the piece it works on; its buffers follow. */
struct fused_worker {
  struct cvl_kernel *k;
  uint64_t origin[FUSED_PLACES]; /* the place that a buffer begins with, by home */
  /* The lowest fault this worker has found, and the index there if it is one. */
  uint64_t fault_node, fault_place;
  int64_t fault_index;
  /* What is asked for while the strip is evaluated (fused_ask_ahead): places from here on; of
   * the line that is next its stream and number there; lines in all, and so many as were asked
   * for; the share of a step, in parts of 2^32 of a line. */
  uint64_t ahead, ahead_places;
  uint32_t ask_stream;
  uint64_t ask_line, ask_lines, asked, ask_pace;
  /* The stretch at hand, from stretch_first to before stretch_end. */
  uint64_t stretch_first, stretch_end;
  bool sparing;                 /* steps are spared */
  struct fused_stream *streams; /* what is read from memory, stream_count of them */
  uint32_t stream_count;
  struct fused_course *courses; /* from stretch_first on, by value number */
  const char **in_order;        /* of gathers: what lies there at stretch_first, or NULL */
  const char **shifted;         /* of gathers: where the elements of the strip are */
  const void **in;              /* of compiled functions, by value number */
  void **out;
  uint64_t *block_faults; /* by node */
  /* While the tile at hand is a block whose elements go from the last stage into lanes
   * (fused_native_fold_begin): those of each reduction; of each value that is spread over
   * segments, the one element that this block has. */
  bool folding;
  void **lanes;
  const void **same;
  struct walk *walks;
  struct walk *ranks;  /* of each pack */
  uint64_t *kept;      /* by each pack in this piece */
  char **totals;       /* of each reduction: where those of the next blocks go */
  char *block_totals;  /* room for the blocks of a segment for each reduction */
  char *window_totals; /* of each scan: the windows of two giants */
  char **packed;       /* of each pack: what the piece keeps */
};

/* In debug builds aborts if the plan contradicts itself (check.c). */
void fused_plan_check(const struct cvl_kernel *);

/* What a step makes: NULL for an ASSERT. */
static inline struct fused_value *fused_result(const struct cvl_kernel *k, uint32_t step) {
  const struct superop_node *node = &k->op->nodes[step];
  return node->result_count > 0 ? &k->values[node->result] : NULL;
}

/* The element of a value at place p of the strip, tile or piece at hand. */
static inline char *fused_at(const struct fused_worker *w, const struct fused_value *v,
                             uint64_t p) {
  char *base = v->place <= IN_ALL_PLACES ? v->base
               : v->place == IN_STRETCH  ? (char *)w->shifted[v->shift]
                                         : (char *)w + v->offset;
  return base + (p - w->origin[v->place]) * v->step;
}

/* fused-bind.c: takes the operands apart and settles where every value lies and which steps
 * are left. Needs no memory. */
void fused_bind(struct cvl_kernel *, const struct cvl_value *operands);
/* Fills what is the same in all places; `room` has fused_room_bytes. */
size_t fused_room_bytes(const struct cvl_kernel *);
void fused_fill_room(struct cvl_kernel *, char *room);

/* Whether the index is j + *start at place j < n, and in range: 0 <= index < limit. */
bool fused_counts_up(const struct fused_value *index, uint64_t n, uint64_t limit,
                     uint64_t *start);
/* Whether another parameter is the same vector: it may be lent and given at once. */
bool fused_shared(const struct cvl_kernel *, const struct cvl_value *operands, uint32_t param);

/* fused-place.c. Which scatters may be of that kind; which are in this run, their operands
 * bound. */
void fused_place_plan(struct cvl_kernel *);
void fused_place_bind(struct cvl_kernel *, uint32_t scatter, const struct cvl_value *operands);
/* Whether flags are T in all places, as one value says. */
bool fused_is_true(const struct fused_value *flags);
/* Makes the result of v->placed_by, for v to be written to. */
bool fused_place_room(struct cvl_kernel *, struct fused_value *v,
                      const struct cvl_value *operands);
/* Executes a scatter that is placed, after all steps. */
bool fused_place(struct cvl_kernel *, uint32_t scatter, const struct cvl_value *operands);

/* fused-strip.c: the steps on places first .. first + n - 1, at most a strip. False after a
 * fault, which is noted. */
bool fused_strip(struct fused_worker *, uint64_t first, uint64_t n);
/* Settles what is asked for while so many steps of a strip are done; asks for the next strip's
 * operands, until the shares of `done` steps are asked for. */
void fused_ask_begin(struct fused_worker *, uint32_t steps);
void fused_ask_ahead(struct fused_worker *, uint32_t done);
/* Sets the walks of all steps to a place. */
void fused_walks_at(struct fused_worker *, uint64_t place);
/* What is read in order and may be asked for ahead: at first parameters, then more of these:
 * elements of a parameter, for place 0 from `at` on. */
void fused_streams_begin(struct fused_worker *);
void fused_stream(struct fused_worker *, uint32_t param, const char *at);
/* One step on such places; returns n or the first place, counted from `first`, at fault. */
uint64_t fused_step(struct fused_worker *, uint32_t node, uint64_t first, uint64_t n);
/* Remembers a fault at a place of the strip that begins with `first`. */
void fused_remember(struct fused_worker *, uint32_t node, uint64_t first, uint64_t place);
void fused_note(struct cvl_kernel *, uint32_t node, uint64_t place);

/* fused-chain.c. Which maps are computed where their readers are; before buffers are assigned.
 * Such a map has none, unless it is stored. */
enum { FUSED_CHAIN_NODES = 40, FUSED_CHAIN_LEAVES = 2 * FUSED_CHAIN_NODES + MAX_OPERANDS };
void fused_chain_plan(struct cvl_kernel *);
/* What a step reads as it is executed, some perhaps several times: at most FUSED_CHAIN_LEAVES
 * values. */
uint32_t fused_chain_leaves(const struct cvl_kernel *, uint32_t step, uint32_t *leaves);
/* What a step makes besides its result: at most FUSED_CHAIN_NODES values. */
uint32_t fused_chain_stored(const struct cvl_kernel *, uint32_t step, uint32_t *values);
/* The chains of the live steps. */
void fused_chain_bind(struct cvl_kernel *);
void fused_chain_run(struct fused_worker *, const struct fused_node *, uint64_t first,
                     uint64_t n);

/* fused-stretch.c. Which indices may be followed at all, and in this run: */
void fused_stretch_plan(struct cvl_kernel *);
void fused_stretch_bind(struct cvl_kernel *);
/* So many of n places from `first` on are of one stretch: sets w->shifted. */
uint64_t fused_stretch(struct fused_worker *, uint64_t first, uint64_t n);
/* Moves the walk of a DIST, INDEX or gather on to a place; the segment that has it. */
uint64_t fused_segment_here(struct fused_worker *, const struct fused_node *, uint64_t place);
/* Whether a step is done with that on these places. */
bool fused_stretch_has(struct fused_worker *, uint32_t node, uint64_t first, uint64_t n);

/* The steps that the strip at hand wants, in order: those from `first` to before `end`. */
struct fused_steps {
  const uint32_t *numbers;
  uint32_t first, end;
};
static inline struct fused_steps fused_steps_here(const struct fused_worker *w) {
  const struct cvl_kernel *k = w->k;
  if (k->stretches && w->sparing) {
    return (struct fused_steps){k->stretch_steps, 0, k->stretch_count};
  }
  return (struct fused_steps){k->live_steps, k->live_from, k->step_count};
}

/* fused-message.c: the INTs that the message of an ASSERT tells, which has failed at a place.
 */
void fused_message(const struct cvl_kernel *, uint32_t assertion, uint64_t place,
                   struct cvl_error *);
/* fused-loop.c: the loop whose first CARRY is the live step *step, on such places; then *step
 * is its last. False if it was stopped, which is noted. */
bool fused_loop(struct fused_worker *, uint32_t *step, uint64_t first, uint64_t n);

/* fused-piece.c: bodies for pool_for over the path of k->segments, or over places. */
void fused_piece(void *kernel, uint64_t first, uint64_t last, unsigned worker);
void fused_plain_piece(void *kernel, uint64_t first, uint64_t last, unsigned worker);

/* The number of elements of a size of the superoperator, given the operands. */
uint64_t fused_size(const struct superop_size *, const struct cvl_value *operands);

#endif
