/* chunks.h - batch calls that are executed for one chunk of the instances after another
 * (docs/internals/memory.md).
 *
 * Such a call is a *cut*. Its operands are kept, and a frame of the function gets slices of
 * them. When it returns, its results are put behind those of earlier chunks, until there are
 * results of all instances, which the frame then returns. Within a chunk calls may be cut
 * again: cuts are a stack, like the frames that belong to them, and nothing here is recursive.
 *
 *    cut.c             a cut from its beginning to its end
 *    chunk-results.c   how results are put together
 *    team-results.c    the same for results of threads
 *    chunk-size.c      how many instances a chunk has
 *    chunk-need.c      what chunks have needed
 *    chunk-random.c    positions of RAND
 *    chunk-faults.c    which of several faults is reported
 *    chunk-path.c      dynamic paths
 *
 * A cut is either within a chunk (n > 0) or between two of them. Then the frame of the chunk
 * is not on the stack, so faults are reported at the CALL.
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
  uint32_t level;  /* number of descriptors that lead from an IR_EACH to it */
  uint64_t total;  /* elements or segments; not set for a shared operand */
  double each;     /* bytes of one of them */
  uint64_t first;  /* the first one in the chunk */
  uint64_t n;      /* how many the chunk has */
  uint64_t inner;  /* descriptor: elements before the chunk */
  uint64_t inners; /* descriptor: elements of the chunk */
};

struct cut_result {
  uint32_t size;
  struct value whole; /* a vector that chunks fill; at the end the result. In a sub-machine the
                         parent's, or the vector that it fills at the end */
  struct value *kept; /* else the results of chunks */
  uint64_t *at;       /* in a sub-machine, at the end: where each goes in `whole` */
  uint64_t kept_count, kept_capacity;
  uint64_t total;                     /* number of elements kept */
  uint64_t kept_before, total_before; /* their values without the present chunk */
  bool consumed;                      /* chunks go to the consumer (consumer.c) */
  uint8_t elem;                       /* then: their element type; `total` counts them */
  uint64_t number;                    /* then: number of the run's result */
};

/* Numbers of elements that the RANDs of a cut drew, in the order in which they were first
 * executed. */
struct cut_random {
  uint64_t begin;    /* random_count of the machine when the cut began */
  uint64_t *drawn;   /* by earlier chunks */
  uint64_t *drawing; /* by the present chunk */
  uint64_t count, capacity;
  uint64_t wanted; /* number of RANDs that a chunk executes; UINT64_MAX before the first one has
                      ended */
};

/* The measured needs of one chunk, with its weight (chunk-size.c). */
struct chunk_measured {
  double weight, bytes, seconds;
};

/* Bytes or seconds as a function of the weight of a chunk. */
struct chunk_line {
  double fixed, each;
};

static inline double chunk_line_at(const struct chunk_line *line, double weight) {
  return line->fixed + line->each * weight;
}

/* The time of one way to execute a chunk. */
struct chunk_way {
  uint64_t chunks;           /* number of measured chunks */
  double weight;             /* weight at which the line is anchored */
  struct chunk_line seconds; /* time of processors */
};

/* What calls of a function took in one way: all instances together, or by native code. */
struct procedure_way {
  uint32_t calls;
  double each; /* seconds for a byte of weight, in the latest calls */
};
enum { PROCEDURE_TOGETHER, PROCEDURE_APART, PROCEDURE_WAYS };

/* The needs of chunks of a function, as far as known. */
struct chunk_need {
  uint64_t chunks;        /* number of measured chunks */
  bool apart;             /* two of them have weights that separate the fixed part */
  double weight, largest; /* weight at which the line is anchored; weight of the heaviest
                             chunk */
  struct chunk_line bytes;
  struct chunk_way alone, team; /* executed by the machine; by a thread of its team */
  /* calls that native code is not tried for, since it has given up, and the next such number;
   * and when it may be tried again */
  uint32_t native_rest, native_next;
  double native_again;
  struct procedure_way ways[PROCEDURE_WAYS];
  uint32_t choices; /* between the two, since both are known */
};

/* Sizes of the operands of an instruction. */
struct operand_sizes {
  uint64_t length[MAX_OPERANDS]; /* lengths, or totals of descriptors */
  uint64_t count[MAX_OPERANDS];
  bool several; /* some chunk had more than one instance */
  bool one;     /* each such chunk had at most one segment */
};

struct cut {
  struct team *team; /* for a sub-machine's outermost cut, whose instances are a range that it
                        has taken; else NULL */
  bool alone;        /* not executed on threads, which had too little memory */
  uint32_t location; /* location of the CALL or tail call */
  uint32_t function;
  uint64_t index;     /* index of the chunk's frame */
  struct frame frame; /* the frame when a chunk begins */
  bool tail; /* a tail call: the frame replaces that of the caller, which is `before` */
  struct frame before;
  uint64_t instances;
  uint64_t first, n; /* the instances of the chunk */
  uint64_t most;     /* most instances of the next chunk, after memory ran out; 0: any number */
  bool consumers;    /* the consumer takes a result, so chunks are executed in turn */
  bool broken;       /* in a search: a chunk has not come to its end, so there are no results */
  uint32_t operand_count, result_count, levels;
  struct cut_operand *operands;
  struct cut_result *results;
  struct cut_random random;
  struct cut_counts counts;
  enum chunk_bound bound;
  struct operand_sizes sum;       /* chunks.sum when the chunk began */
  uint64_t live, peak;            /* live bytes when the chunk began, and the peak since */
  double weight;                  /* weight of the chunk (chunk-size.c) */
  double begun;                   /* time of the thread when it began */
  struct chunk_measured measured; /* set at its end; weight 0: already learned */
  double spent;                   /* seconds of all chunks */
  double allowed;                 /* with a team: the weight that the range may have */
  uint64_t part; /* with a team: the instances of a thread if all had equal numbers */
  /* With a team: the first instance of each chunk whose results are kept. */
  uint64_t *firsts, firsts_count, firsts_capacity, firsts_before;
};

/* ---- faults ---- */

/* A fault before it is worded: of an operation (error.kind), or with a message. */
struct fault_found {
  enum machine_cause cause;
  bool memory; /* memory ran out: smaller chunks need less */
  struct cvl_error error;
  char message[512];
};

struct path_step {
  uint64_t tails;
  uint32_t location;
};

/* For each frame, from the outermost cut's on: the number of tail calls that replaced its
 * function, and the instruction in it that is executed, numbered from 1. The frames of a loop
 * are one step: the number of the round, and the instruction, or 0 between rounds. */
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
  CHUNKS_SEARCH, /* search for the first fault in program order, up to the first one so far */
  CHUNKS_SUM     /* find the sizes of earlier chunks at that instruction */
};

/* The consequence of a fault in a chunk. */
enum chunks_event {
  CHUNKS_NOTHING,
  CHUNKS_MEMORY, /* the chunk is halved */
  CHUNKS_FAULT,
  CHUNKS_PAST /* the search need not continue in this chunk */
};

struct chunks {
  struct cut *cuts;
  uint64_t count, capacity;
  bool possible;        /* the options and the back end allow cuts */
  bool final;           /* the next fault is reported, whatever is being cut */
  uint64_t random;      /* state of the generator of random sizes */
  uint64_t halved;      /* chunks halved for lack of memory since one has ended */
  uint64_t halved_deep; /* chunks within many cuts that were halved, in this run */

  enum chunks_event event;
  enum chunks_pass pass;
  struct fault_kept original; /* the fault with which the search began */
  struct fault_kept best;
  bool found_again;                 /* the last pass has found the best fault again */
  struct operand_sizes before, sum; /* sizes at the instruction of the best path: in earlier
                                       chunks, and in all */
};

struct machine;
struct value;
struct superop;

/* ---- calls: cut.c ---- */

/* Prepare the machine, and a run, for chunks. */
void chunks_init(struct machine *);
void chunks_begin_run(struct machine *);
void chunks_free(struct machine *);
/* Gives up all cuts, whatever ended the run. */
void chunks_abandon(struct machine *);

/* Returns whether the top frame is that of a chunk. */
bool chunks_in_frame(const struct machine *);
enum chunks_step {
  CHUNKS_NEXT, /* the frame is that of the next chunk, which begins at *location */
  CHUNKS_END,  /* the frame returns the results of all chunks, which are now in the place of the
                  chunk's */
  CHUNKS_OVER, /* a sub-machine has nothing more to do */
  CHUNKS_FAILED
};
/* Cuts the call whose frame has just been made, with the operands in its slots, if it is to be
 * cut. Then the slots hold those of the first chunk. `before` is the frame that a tail call
 * has replaced, else NULL. Returns CHUNKS_NEXT if the function begins, cut or not; CHUNKS_END
 * if all chunks have been executed, and the results are above the frame. */
enum chunks_step chunks_call(struct machine *, uint32_t location, const struct frame *before);
/* Takes the n results that the frame of a chunk returns, from instruction *location. */
enum chunks_step chunks_return(struct machine *, struct value *results, uint32_t n,
                               uint32_t *location);

/* chunks_push pushes an empty cut. chunks_forget_original frees the fault with which a search
 * began. */
bool chunks_push(struct machine *);
void chunks_forget_original(struct machine *);

/* Returns the elements of a vector, or the segments of a descriptor. */
struct cvl_size cut_extent(const struct machine *, const struct value *);
/* Leaves the present chunk, and releases its values. This and the following functions are for
 * the files of chunks. */
void cut_leave_chunk(struct machine *, struct cut *);
/* Makes the slices of the chunk of cut->n instances from cut->first on, or of fewer. */
bool cut_slice(struct machine *, struct cut *);
/* Begins the chunk that has been sliced. */
bool cut_begin_chunk(struct machine *, struct cut *, uint32_t *location);
/* Begins the chunk from cut->first on; *location is its first instruction. Returns false after
 * a fault. */
bool cut_start_chunk(struct machine *, struct cut *, uint32_t *location);
/* Ends the present chunk. Returns false if it was the last one. */
bool cut_advance(struct cut *);
/* Goes back to the first instance, without results. */
void cut_restart(struct machine *, struct cut *);
/* Frees the innermost cut. */
void cut_pop(struct machine *);

/* ---- results: chunk-results.c ---- */

/* Puts the results of a chunk, whose sizes are right, behind earlier ones. Takes them out of
 * `results`. */
bool cut_lay_results(struct machine *, const struct machine_site *, struct cut *,
                     struct value *results);
/* Makes the results from what was kept: sets cut->results[k].whole. */
bool cut_join_results(struct machine *, struct cut *);
void cut_release_results(struct machine *, struct cut *);
/* Releases what was kept for a result. */
void cut_release_kept(struct machine *, struct cut_result *);
/* Hands a value over to `fill` of the back end. */
bool cut_fill(struct machine *, const struct machine_site *, struct value *whole,
              uint64_t first, struct value *v);
/* cut_begin_results begins a chunk. cut_undo_results releases what has been kept of it, since
 * it begins anew. */
void cut_begin_results(struct cut *);
void cut_undo_results(struct machine *, struct cut *);

/* ---- results of a team, while its threads wait: team-results.c ---- */

/* Allocates the vectors that chunks fill. Returns false, without a fault, if memory runs out.
 */
bool cut_allocate_results(struct machine *, struct cut *);
/* Decides where the results of each chunk go, in the order of the instances. Returns false,
 * without a fault, if memory runs out. */
bool cut_gather_results(struct machine *, struct cut *, struct machine *const *subs,
                        unsigned count);
/* Puts the results of a sub-machine there. */
bool cut_put_results(struct machine *, struct cut *);

/* ---- results that leave the machine: consumer.c ---- */

/* Asks the consumer which results of a new cut it takes. */
void consumer_ask(struct machine *, struct cut *);
/* Gives the consumer a chunk's result, and releases it. */
bool consumer_put(struct machine *, const struct machine_site *, const struct cut *,
                  struct cut_result *, struct value *);
/* Makes r->whole from the consumer's memory, when all chunks have given their results. */
bool consumer_whole(struct machine *, const struct machine_site *, struct cut_result *r);
/* At the end of a run: consumer_takes_lengths returns whether the consumer takes the lengths
 * of a result that is a descriptor. consumer_lengths gives it them, and returns their address,
 * or NULL after a fault. */
bool consumer_takes_lengths(const struct machine *, uint64_t number, uint64_t count);
const void *consumer_lengths(struct machine *, const struct machine_site *, uint64_t number,
                             uint64_t count, const struct value *);
/* Notes an argument that stays in place: if it is a result as well, that needs no copy. */
void consumer_note_argument(struct machine *, const struct machine_item *,
                            const struct cvl_value *);
/* Returns where a result of the run is, if the consumer has it or it is such an argument; else
 * NULL. */
const void *consumer_of_result(const struct machine *, uint64_t number, const struct value *);
/* Ends a run. */
void consumer_end(struct machine *);

/* ---- sizes: chunk-size.c ---- */

/* Returns whether a call of this function with at most so many instances is to be cut. */
bool chunk_is_wanted(struct machine *, uint32_t function, uint64_t instances,
                     const struct value *operands);
/* Returns the weight of a function's operands, or of their slices, for so many instances. */
double chunk_weight(const struct machine *, uint32_t function, uint64_t instances,
                    const struct value *operands);
/* Returns the bytes that chunks of each of so many threads may need. */
double chunk_share(const struct machine *, unsigned threads, enum chunk_bound *);
/* Returns whether the rest of a cut is worth several threads. */
bool chunk_pays_threads(struct machine *, const struct cut *);
/* Returns how many instances a sub-machine takes from its parent's cut; *allowed is the weight
 * that they may have. */
uint64_t chunk_range(struct machine *parent, struct cut *, double *allowed);
/* Returns how many instances the chunk from cut->first on has. */
uint64_t chunk_size(struct machine *, struct cut *);
/* Returns with how many instances the sliced chunk would need no more than it may: cut->n if
 * its slices are right. */
uint64_t chunk_fitting(struct machine *, struct cut *);
/* ---- needs of chunks: chunk-need.c ---- */

/* Returns the bytes of a vector, or of the lengths of a descriptor: chunk-size.c. */
uint64_t chunk_bytes(const struct machine *, const struct value *);
/* Steps of measuring: chunk_measure_begin before a chunk; chunk_measure_end when it has ended,
 * with results that have not been stored (in a sub-machine its parent learns from it later);
 * chunk_count when they have been; chunk_measure_cut when all chunks have ended. */
void chunk_measure_begin(struct machine *, struct cut *);
void chunk_measure_end(struct machine *, struct cut *, const struct value *results);
void chunk_count(struct cut *);
void chunk_measure_cut(struct machine *, const struct cut *);
/* chunk_learn adds what the range of a sub-machine's cut has needed to its parent's data, and
 * to the whole cut there, unless that has been done. chunk_adopt adds what calls within its
 * ranges have needed. */
void chunk_learn(struct machine *parent, struct cut *whole, struct cut *range);
void chunk_adopt(struct machine *parent, const struct machine *sub);

/* ---- RAND: chunk-random.c ---- */

/* Finds the position of the first element of a RAND that is executed now: the number of
 * elements that it drew in earlier chunks. Returns false after a fault. */
bool chunks_random_first(struct machine *, const struct machine_site *,
                         const struct value *bounds, uint64_t k, uint64_t *first);
/* cut_random_begin begins a chunk. cut_random_check reports a fault if it has executed another
 * number of RANDs than others. cut_random_commit counts its elements. */
void cut_random_begin(struct machine *, struct cut *);
bool cut_random_check(struct machine *, const struct machine_site *, struct cut *);
void cut_random_commit(struct cut *);
/* Ends a cut: adds its elements to the present chunk of the cut around it. */
bool cut_random_leave(struct machine *, const struct machine_site *, const struct cut *,
                      struct cut *outer);
void cut_random_free(struct machine *, struct cut *);

/* ---- faults: chunk-faults.c, chunk-path.c ---- */

/* Returns whether a fault is kept, since the chunks decide about it; then the trace is taken.
 */
bool chunks_catch(struct machine *, struct call_trace *, struct fault_found *);
/* After a fault: returns whether the program continues, and where. */
bool chunks_resume(struct machine *, uint32_t *location);
/* Continues a search when the present chunk has ended early. */
bool chunks_skip(struct machine *, uint32_t *location);
/* In a search, before an instruction: returns false if it need not be executed. */
bool chunks_may_execute(struct machine *, uint32_t location);
/* In a search, after an instruction: waits for it. */
bool chunks_settle(struct machine *, uint32_t location);
/* Notes the sizes of an operation's operands, if they are wanted. Called before it, even for
 * scalars. */
void chunks_note_operation(struct machine *, uint32_t location, const struct value *operands,
                           uint32_t n);
/* Does the same for the nodes of a superoperator that is executed as a whole. */
void chunks_note_node(struct machine *, uint32_t first_node, const struct superop *,
                      const struct value *params);

/* For a search: path_call follows the call that has just made the top frame. path_return
 * precedes the return of the top frame, which has a caller. */
void path_call(struct machine *);
void path_return(struct machine *);
/* Leaves out calls within a loop, since other calls may have led to the same round. */
void path_shorten_trace(const struct machine *, struct call_trace *);
bool path_take(struct machine *, uint32_t location, struct dynamic_path *);
void path_free(struct machine *, struct dynamic_path *);
/* Returns a number below 0 if the instruction at this location, under the present frames, is
 * before the path. */
int path_compare(const struct machine *, uint32_t location, const struct dynamic_path *);

#endif
