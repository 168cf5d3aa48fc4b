/* chunks.h - batch calls, executed for one chunk of the instances after the other
 * (docs/internals/memory.md).
 *
 * Such a call is a *cut*. Its operands are kept; a frame of the function gets slices of them,
 * and when it returns its results are laid behind those of the chunks before, until there are
 * results of all instances, which the frame then returns. Within a chunk calls may be cut
 * again: cuts are a stack, like the frames that belong to them, and nothing here is recursive.
 *
 * Where things are: cut.c a cut from its beginning to its end; chunk-results.c how results are
 * put together, and team-results.c those of threads; chunk-size.c how many instances a chunk
 * has; chunk-random.c positions of RAND; chunk-faults.c which of several faults is reported;
 * chunk-path.c dynamic paths.
 *
 * A cut is either within a chunk (n > 0) or between two of them, when the frame of the chunk is
 * not on the stack, so that what is done there is reported at the CALL.
 */
#ifndef RAVEL_CHUNKS_H
#define RAVEL_CHUNKS_H

#include "vinterp/machine.h"
#include "vinterp/machine/frame.h"
#include "vinterp/machine/value.h"
#include "vinterp/report/history.h"
#include "vinterp/report/profile.h"

struct code;
struct machine_site;

/* ---- a cut ---- */

struct cut_operand {
  struct value value;
  uint32_t size;   /* as in struct ir_instances */
  uint32_t level;  /* how many descriptors lead from an IR_EACH to it */
  uint64_t total;  /* elements or segments; of a shared one nothing */
  double each;     /* bytes of one of them */
  uint64_t first;  /* of them, where the chunk begins, */
  uint64_t n;      /* and how many it has; */
  uint64_t inner;  /* of a descriptor: the elements before the chunk, */
  uint64_t inners; /* and those of the chunk */
};

struct cut_result {
  uint32_t size;
  struct value whole; /* a vector that chunks fill; at the end the result. In a sub-machine its
                         parent's, or what it fills at the end */
  struct value *kept; /* else the results of the chunks */
  uint64_t *at;       /* in a sub-machine, at the end: where each goes in `whole` */
  uint64_t kept_count, kept_capacity;
  uint64_t total;                     /* elements kept */
  uint64_t kept_before, total_before; /* the same without the chunk under way */
  bool sunk;                          /* chunks go to the consumer (consumer.c): */
  uint8_t elem;                       /* of this type; `total` counts them */
  uint64_t number;                    /* of the run's result */
};

/* Elements drawn by the RANDs of a cut, the first executed one first. */
struct cut_random {
  uint64_t begin;    /* the machine's random_count then */
  uint64_t *drawn;   /* in the chunks before */
  uint64_t *drawing; /* in this one */
  uint64_t count, capacity;
  uint64_t wanted; /* how many a chunk executes; UNKNOWN before the first has ended */
};

/* What one chunk has needed, by its weight (chunk-size.c): on its own. */
struct chunk_measured {
  double weight, bytes, seconds;
};

/* Bytes or seconds by the weight of a chunk. */
struct chunk_line {
  double fixed, each;
};

static inline double chunk_line_at(const struct chunk_line *line, double weight) {
  return line->fixed + line->each * weight;
}

/* The time of one way to execute a chunk. */
struct chunk_way {
  uint64_t chunks;           /* how many have been measured */
  double weight;             /* where the line is anchored */
  struct chunk_line seconds; /* of processors */
};

/* What chunks of a function need, as far as known. */
struct chunk_need {
  uint64_t chunks;        /* how many have been measured, */
  bool apart;             /* and two of them of weights that separate the fixed part */
  double weight, largest; /* where the line is anchored; of the heaviest chunk */
  struct chunk_line bytes;
  struct chunk_way alone, team; /* by the machine; by a thread of its team */
};

/* Sizes of the operands of an instruction. */
struct operand_sizes {
  uint64_t length[MAX_OPERANDS]; /* or total */
  uint64_t count[MAX_OPERANDS];
  bool several; /* some chunk had more than one instance, */
  bool one;     /* and each such chunk one segment at most */
};

struct cut {
  struct team *team; /* of a sub-machine's outermost cut, whose instances are a range that it
                        has taken; else NULL */
  bool alone;        /* not on threads: they had too little memory */
  uint32_t location; /* of the CALL or tail call */
  uint32_t function;
  uint64_t index;     /* of the chunk's frame */
  struct frame frame; /* as it is when a chunk begins */
  bool tail;          /* the frame is that of the caller, which is then this */
  struct frame before;
  uint64_t instances;
  uint64_t first, n; /* the chunk */
  uint64_t most;     /* instances that the next one may have, after a lack of memory; 0: any */
  bool consumers;    /* the consumer takes a result: chunks end one after the other */
  bool broken;       /* a search: a chunk has not come to its end, so there are no results */
  uint32_t operand_count, result_count, levels;
  struct cut_operand *operands;
  struct cut_result *results;
  struct cut_random random;
  struct cut_counts counts;
  enum chunk_bound bound;
  struct operand_sizes sum;       /* chunks.sum when the chunk began */
  uint64_t live, peak;            /* bytes when the chunk began, and since */
  double weight;                  /* of the chunk: chunk-size.c */
  double begun;                   /* when it began: time of the thread */
  struct chunk_measured measured; /* at its end; weight 0: learned from */
  double spent;                   /* seconds of all chunks */
  double allowed;                 /* with a team: the weight that the range may have, */
  uint64_t part;                  /* and the instances of a thread if all had as many */
  /* With a team: the first instance of each chunk whose results are kept. */
  uint64_t *firsts, firsts_count, firsts_capacity, firsts_before;
};

/* ---- faults ---- */

/* A fault before it is put into words: of an operation (error.kind), or with a message. */
struct fault_found {
  enum machine_cause cause;
  bool memory; /* there was too little: smaller chunks need less */
  struct cvl_error error;
  char message[512];
};

struct path_step {
  uint64_t tails;
  uint32_t location;
};

/* Of each frame from the outermost cut's on: how many tail calls have replaced its function,
 * and the instruction in it that is being executed, numbered from 1. The frames of a loop are
 * one step: the number of the round, and the instruction, or 0 between rounds. */
struct dynamic_path {
  struct path_step *steps;
  uint64_t count, capacity;
};

struct fault_kept {
  bool set;
  struct fault_found found;
  struct call_trace trace;
  struct dynamic_path path;
};

enum chunks_pass {
  CHUNKS_RUN,
  CHUNKS_SEARCH, /* for the first fault in program order, up to the first one so far */
  CHUNKS_SUM     /* for what the chunks before have at that instruction */
};

/* What a fault in a chunk means for it. */
enum chunks_event {
  CHUNKS_NOTHING,
  CHUNKS_MEMORY, /* it is halved */
  CHUNKS_FAULT,
  CHUNKS_PAST /* a search need not go on in this chunk */
};

struct chunks {
  struct cut *cuts;
  uint64_t count, capacity;
  bool possible;        /* the options and the back end allow it */
  bool final;           /* the next fault is reported, whatever is being cut */
  uint64_t random;      /* state of options.chunks with random sizes */
  uint64_t halved;      /* chunks, for lack of memory, since one has ended; */
  uint64_t halved_deep; /* within many cuts, in this run */

  enum chunks_event event;
  enum chunks_pass pass;
  struct fault_kept original; /* what the search began with */
  struct fault_kept best;
  bool found_again;                 /* the best one, by the last pass */
  struct operand_sizes before, sum; /* of the instruction at the best path: in the chunks
                                       before, and all */
};

struct machine;
struct value;
struct superop;

/* ---- calls: cut.c ---- */

/* For the machine and for a run. */
void chunks_init(struct machine *);
void chunks_begin_run(struct machine *);
void chunks_free(struct machine *);
/* Gives up all cuts, after whatever ended the run. */
void chunks_abandon(struct machine *);

/* Whether the top frame is that of a chunk. */
bool chunks_in_frame(const struct machine *);
enum chunks_step {
  CHUNKS_NEXT, /* the frame is that of the next chunk: *location is where it begins */
  CHUNKS_END,  /* it returns the results of all chunks, which are now where those were */
  CHUNKS_OVER, /* a sub-machine has nothing more to do */
  CHUNKS_FAILED
};
/* Cuts the call whose frame, with the operands in its slots, has just been made, if it is to be
 * cut: then the slots hold those of the first chunk. `before` is the frame that a tail call has
 * replaced, else NULL. CHUNKS_NEXT: the function begins, cut or not. CHUNKS_END: all chunks
 * have been executed, and the results are above the frame. */
enum chunks_step chunks_call(struct machine *, uint32_t location, const struct frame *before);
/* The frame of a chunk returns n results, from instruction *location. */
enum chunks_step chunks_return(struct machine *, struct value *results, uint32_t n,
                               uint32_t *location);

/* A new cut on the stack of cuts, of which nothing is set. Forgets the fault that is kept. */
bool chunks_push(struct machine *);
void chunks_forget_original(struct machine *);

/* Elements of a vector, segments of a descriptor. */
struct cvl_size cut_extent(const struct machine *, const struct value *);
/* For the files of chunks. Leaves the chunk under way, whose values are released. */
void cut_leave_chunk(struct machine *, struct cut *);
/* Makes the slices of the chunk of cut->n instances from cut->first on, or of fewer. */
bool cut_slice(struct machine *, struct cut *);
/* Begins the chunk that has been sliced. */
bool cut_begin_chunk(struct machine *, struct cut *, uint32_t *location);
/* Begins the chunk from cut->first on; *location is its first instruction. False after a fault.
 */
bool cut_start_chunk(struct machine *, struct cut *, uint32_t *location);
/* The chunk under way is over; false if it was the last one. */
bool cut_advance(struct cut *);
/* Back to the first instance, without results. */
void cut_restart(struct machine *, struct cut *);
/* Frees the innermost cut. */
void cut_pop(struct machine *);

/* ---- results: chunk-results.c ---- */

/* Lays the results of a chunk, whose sizes are right, behind those before. They are taken out
 * of `results`. */
bool cut_lay_results(struct machine *, const struct machine_site *, struct cut *,
                     struct value *results);
/* Makes results of what was kept: in cut->results[k].whole. */
bool cut_join_results(struct machine *, struct cut *);
void cut_release_results(struct machine *, struct cut *);
/* Releases what was kept of a result. */
void cut_release_kept(struct machine *, struct cut_result *);
/* Hands a value over to `fill` of the back end. */
bool cut_fill(struct machine *, const struct machine_site *, struct value *whole,
              uint64_t first, struct value *v);
/* A chunk begins; what has been kept of it is released, since it begins anew. */
void cut_begin_results(struct cut *);
void cut_undo_results(struct machine *, struct cut *);

/* ---- results of a team, whose threads wait: team-results.c ---- */

/* Allocates what its chunks fill; false, without a fault, if that cannot be. */
bool cut_allocate_results(struct machine *, struct cut *);
/* Decides where each chunk's results go, in order of the instances; the same. */
bool cut_gather_results(struct machine *, struct cut *, struct machine *const *subs,
                        unsigned count);
/* Of a sub-machine: puts them there. */
bool cut_put_results(struct machine *, struct cut *);

/* ---- results that leave the machine: consumer.c ---- */

/* Asks the consumer which results of a new cut it takes. */
void consumer_ask(struct machine *, struct cut *);
/* Gives it that of a chunk, and releases it. */
bool consumer_put(struct machine *, const struct machine_site *, const struct cut *,
                  struct cut_result *, struct value *);
/* All chunks have given theirs: r->whole is a value of where they are. */
bool consumer_whole(struct machine *, const struct machine_site *, struct cut_result *r);
/* At the end: whether the consumer takes the lengths of a result that is a descriptor; and
 * gives it them: where they are, or NULL after a fault. */
bool consumer_takes_lengths(const struct machine *, uint64_t number, uint64_t count);
const void *consumer_lengths(struct machine *, const struct machine_site *, uint64_t number,
                             uint64_t count, const struct value *);
/* An argument that stays where it is may be a result as well: no copy of it is needed then. */
void consumer_note_argument(struct machine *, const struct machine_item *,
                            const struct cvl_value *);
/* Where a result of the run is, if the consumer has it or it is such an argument; else NULL. */
const void *consumer_of_result(const struct machine *, uint64_t number, const struct value *);
/* The run ends. */
void consumer_end(struct machine *);

/* ---- sizes: chunk-size.c ---- */

/* Whether a call of this function with so many instances, at most, is to be cut. */
bool chunk_is_wanted(struct machine *, uint32_t function, uint64_t instances,
                     const struct value *operands);
/* What chunks of each of so many threads may need. */
double chunk_share(const struct machine *, unsigned threads, enum chunk_bound *);
/* Whether the rest of a cut is worth several threads. */
bool chunk_pays_threads(struct machine *, const struct cut *);
/* How many instances a sub-machine is to take from its parent's cut; *allowed: how much they
 * may weigh. */
uint64_t chunk_range(struct machine *parent, struct cut *, double *allowed);
/* How many instances the chunk from cut->first on is to have. */
uint64_t chunk_size(struct machine *, struct cut *);
/* With slices of so many instances the chunk needs no more than it may; cut->n if it is those
 * that it has. */
uint64_t chunk_fitting(struct machine *, struct cut *);
/* ---- what they need: chunk-need.c ---- */

/* Bytes of a vector, or of the lengths of a descriptor: chunk-size.c. */
uint64_t chunk_bytes(const struct machine *, const struct value *);
/* A chunk begins. It has ended, and has these results, which have not been laid down yet: in a
 * sub-machine its parent is to learn from it. They have been. All chunks have ended. */
void chunk_measure_begin(struct machine *, struct cut *);
void chunk_measure_end(struct machine *, struct cut *, const struct value *results);
void chunk_count(struct cut *);
void chunk_measure_cut(struct machine *, const struct cut *);
/* What the range of a sub-machine's cut has needed, for its parent and the whole cut there, if
 * that does not know yet; what calls within its ranges have needed. */
void chunk_learn(struct machine *parent, struct cut *whole, struct cut *range);
void chunk_adopt(struct machine *parent, const struct machine *sub);

/* ---- RAND: chunk-random.c ---- */

/* The position of the first element of a RAND that is executed now: so many elements has it had
 * in the chunks before. False after a fault. */
bool chunks_random_first(struct machine *, const struct machine_site *,
                         const struct value *bounds, uint64_t k, uint64_t *first);
/* A chunk begins; it has executed as many RANDs as the others, or that is a fault; it counts.
 */
void cut_random_begin(struct machine *, struct cut *);
bool cut_random_check(struct machine *, const struct machine_site *, struct cut *);
void cut_random_commit(struct cut *);
/* The cut ends: what it has drawn belongs to a chunk of the one around it. */
bool cut_random_leave(struct machine *, const struct machine_site *, const struct cut *,
                      struct cut *outer);
void cut_random_free(struct machine *, struct cut *);

/* ---- faults: chunk-faults.c, chunk-path.c ---- */

/* Whether a fault is kept, since the chunks decide what becomes of it; the trace is then taken.
 */
bool chunks_catch(struct machine *, struct call_trace *, struct fault_found *);
/* After a fault: whether the program goes on, and where. */
bool chunks_resume(struct machine *, uint32_t *location);
/* A search goes on: the chunk under way has ended early. */
bool chunks_skip(struct machine *, uint32_t *location);
/* In a search, before an instruction: false if it need not be executed. */
bool chunks_may_execute(struct machine *, uint32_t location);
/* In a search, after one. */
bool chunks_settle(struct machine *, uint32_t location);
/* Before an operation, even one on scalars: notes the sizes of its operands, if they are
 * wanted. */
void chunks_note_operation(struct machine *, uint32_t location, const struct value *operands,
                           uint32_t n);
/* The same for the nodes of a superoperator that is executed as a whole. */
void chunks_note_node(struct machine *, uint32_t first_node, const struct superop *,
                      const struct value *params);

/* In a search: a call has just made the top frame; the top frame, which has a caller, is about
 * to return. */
void path_call(struct machine *);
void path_return(struct machine *);
/* Leaves out the calls within a loop, of which others may have led to the same round. */
void path_shorten_trace(const struct machine *, struct call_trace *);
bool path_take(struct machine *, uint32_t location, struct dynamic_path *);
void path_free(struct machine *, struct dynamic_path *);
/* Below 0 if the instruction at this location, under the present frames, is before the path. */
int path_compare(const struct machine *, uint32_t location, const struct dynamic_path *);

#endif
