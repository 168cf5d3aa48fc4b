/* machine-private.h - what the files of this room know of a machine.
 *
 * Where things are: value.h what the stack holds; code.h the flat code of typed functions;
 * execute.c runs it; instances/chunks.h calls that are cut; instances/team.h chunks on several
 * threads, instances/sub-machine.c what each of them has; instances/distribute.c calls
 * distributed to processes, instances/own.c results that they write together;
 * instances/consumer.c results that leave early; stack-interpreter.c runs stack code; checks.c
 * agreement of sizes; operations.c one instruction on the back end; fused.c a superoperator;
 * report/faults.c messages and call traces; io/io.c and io/streams.c input and output;
 * io/results.c, io/print.c and io/items.c arguments and results; program.c what a program
 * keeps; call.c one run of it; evaluate.c a program from beginning to end, once or repeatedly;
 * values.c values outside of runs; run.c what the executors share.
 */
#ifndef RAVEL_MACHINE_PRIVATE_H
#define RAVEL_MACHINE_PRIVATE_H

#include "vinterp/instances/chunks.h"
#include "vinterp/instances/team.h"
#include "vinterp/io/streams.h"
#include "vinterp/machine.h"
#include "vinterp/machine/code.h"
#include "vinterp/machine/frame.h"
#include "vinterp/machine/value.h"
#include "vinterp/report/history.h"
#include "vinterp/report/profile.h"
#include "vinterp/report/progress.h"
#include "vinterp/report/trace.h"

/* The instruction that is being executed. */
struct machine_site {
  uint64_t number;   /* what the back end calls it: increasing with every operation */
  uint32_t location; /* which instruction of the program: see code.h */
};

/* What a program keeps from run to run. */
struct machine_program {
  const struct ir_program *program;
  struct code *code;
  struct fused *fused;      /* NULL without superoperators */
  uint32_t *profile_rows;   /* of each function, if there is a profile */
  struct chunk_need *needs; /* of each function: what its chunks needed so far */
  uint8_t *reach;           /* of each function: instances/reach.c */
};

/* A result of a run that the consumer has. */
struct sunk {
  uint64_t number;
  const void *data;
  struct value value;
};

struct machine {
  const struct cvl_backend *backend;
  struct cvl_context *context;
  struct machine_options options;
  struct widths widths;
  struct heap own_heap, *heap; /* of everything here but vectors; a sub-machine has its
                                  parent's */
  uint64_t vector_limit;       /* bytes of vectors; 0: none */
  struct value_store store;    /* backend, context and heap, for value.h */
  struct profile *profile;     /* NULL unless options.profile */
  struct trace *trace;         /* NULL unless options.trace */
  bool measured;               /* there is a profile or a trace: instructions are timed */
  struct progress progress;

  /* The program that runs: its machine_program; NULL between runs. */
  const struct ir_program *program;
  struct code *code;
  struct fused *fused;
  uint32_t *profile_rows;
  struct chunk_need *needs;
  uint8_t *reach;

  /* What a caller has asked for. */
  struct diag_list *diags;
  bool repeated; /* a program is run repeatedly: nothing may go on differently the next time */
  uint64_t runs; /* so many times; the same on all processes of a job */
  bool faulted;  /* a diagnostic was added; everything unwinds */
  bool interrupted;               /* ... because of a signal that options.stop knows of */
  struct machine_failure failure; /* what it was */

  /* One run. */
  uint32_t entry;                               /* the function that it begins with */
  FILE *out, *err;                              /* streams 1 and 2 */
  const struct machine_consumer *consumer;      /* or NULL */
  const struct machine_consumer *call_consumer; /* that of machine_call */
  const struct machine_own_consumer *own;       /* or NULL */
  struct sunk *sunk;
  uint64_t sunk_count;
  struct streams *streams; /* NULL until the program needs one */

  struct value *stack; /* frames' slots and the items of stack code, one above another; */
  uint64_t capacity;   /* everything above the live ones holds no counted value */
  uint64_t top;        /* items of stack code lie below; see stack-interpreter.c */
  struct frame *frames;
  uint64_t depth, frame_capacity, max_depth;

  uint64_t site;          /* number of the latest operation */
  struct history history; /* which instruction each of the latest sites was */
  int64_t fuel;           /* work until limits are looked at again */
  struct chunks chunks;   /* calls that are cut */

  struct machine *alone; /* that executes what is distributed to this process
                            (instances/distribute.c), or NULL; */
  struct machine_program
      *distributed;           /* of such a machine: what it keeps of the other's program; */
  struct machine *dispatcher; /* the other; */
  struct stop apart; /* of such a machine: the other's options.stop, as this process sees it */
  bool stopped; /* all processes know that one of them cannot go on with what was distributed */
  struct team *team;       /* threads that chunks may be executed on, or NULL */
  bool sub;                /* this is a sub-machine of the team */
  struct value *constants; /* of a sub-machine: its own, by number; NULL: those of the code */

  uint64_t seed, random_count;       /* RAND: key, and the number of the next one */
  uint64_t first_seed, first_random; /* what they are when a run begins */
  double start, timer;
};

/* ---- programs and their runs: program.c, call.c ---- */

/* Begins what a caller asks for: forgets the last failure. Ends it. */
void machine_begin(struct machine *, struct diag_list *);
void machine_end(struct machine *);
/* Waits for everything and forgets faults that nobody will hear of. False if the device has
 * failed: it does nothing more, says so whenever it is asked, and what it was still to do may
 * hold values. */
bool machine_drain(struct machine *);

/* NULL after machine_fail_beginning. */
struct machine_program *machine_program_new(struct machine *, const struct ir_program *);
void machine_program_free(struct machine *, struct machine_program *); /* NULL is ignored */
/* Makes code and rows anew, after machine.measured or machine.profile have changed; false
 * without memory. */
bool machine_program_lower(struct machine *, struct machine_program *);
/* Makes it the one that runs; NULL: none. */
void machine_program_use(struct machine *, const struct machine_program *);
/* Prepares its superoperators, which may take long to compile. False if the machine was asked
 * to stop: the run has failed. */
bool machine_program_prepare(struct machine *, const struct machine_program *);
/* Reports that there is no memory for a program, or that an end was asked for. Always false. */
bool machine_fail_beginning(struct machine *, const struct ir_program *);

/* What is measured of one run, from arguments to results. */
struct run_times {
  double seconds;
  uint64_t launches, waits; /* as in machine_repetition */
};

struct run {
  const struct machine_program *program;
  const uint32_t *function;          /* or NULL: the program's entry function */
  const struct cvl_value *arguments; /* as for machine_call */
  uint64_t count;
  FILE *out, *err;
  const struct machine_consumer *consumer; /* or NULL */
  const struct machine_own_consumer *own;  /* or NULL */
  struct run_times *times;                 /* or NULL: not measured */
  /* Gets the results, which are the stack, when everything is done; false after a fault. NULL:
   * they are not wanted. */
  bool (*deliver)(struct machine *, const struct machine_site *, void *to);
  void *to;
};

enum step {
  STEP_ON,     /* go on in the same sort of code */
  STEP_SWITCH, /* the top frame is now of the other sort of code */
  STEP_DONE,   /* the entry function returned; its results are the stack below top */
  STEP_EXIT,
  STEP_FAULT
};

/* Runs a program on the empty stack, which is empty again afterwards. DONE, EXIT or FAULT. */
enum step machine_run_once(struct machine *, const struct run *);
enum machine_outcome machine_outcome_of(const struct machine *, enum step);
/* Where a fault of the arguments is reported, and one of the results: at the entry function's
 * beginning and end. */
struct machine_site machine_entry_site(const struct machine *);
struct machine_site machine_end_site(const struct machine *);

/* The same as machine_call of any function, which has typed code, of the program. */
enum machine_outcome machine_call_function(struct machine *, struct machine_program *,
                                           uint32_t function, const struct cvl_value *arguments,
                                           uint64_t count, struct cvl_value *results,
                                           uint64_t result_count, struct diag_list *);

/* ---- calls distributed to processes: instances/distribute.c ---- */

/* Whether a call is to be offered to the back end. */
bool distribute_is_wanted(struct machine *, uint32_t function, uint64_t instances);
/* Executes a cut, which is between chunks and has begun none, by all processes: true with all
 * results in cut->results[k].whole; false if it is to go on in another way. */
bool distribute_run(struct machine *, struct cut *);
/* Frees what it has made, before the back end's context is closed; what it keeps of a program,
 * before that goes. */
void distribute_free(struct machine *);
void distribute_forget(struct machine *);
/* In a machine that executes what was distributed: whether calls of a function must not be cut,
 * since it draws random numbers. Where those of a RAND on `bounds` begin: behind those of the
 * processes before; all call it, for the same RAND. False with a fault, of this process or for
 * another's. */
bool distribute_forbids_cuts(struct machine *, uint32_t function);
bool distribute_random_first(struct machine *, const struct machine_site *,
                             const struct value *bounds, uint64_t *first);
/* instances/reach.c: whether a function needs no stack code; whether it draws random numbers.
 */
bool reach_is_typed(struct machine *, uint32_t function);
bool reach_draws(struct machine *, uint32_t function);

/* ---- faults: report/faults.c ---- */

/* Records that the instruction failed: one error with its position and the call trace. If the
 * back end knows of an earlier fault, that one is reported instead. Always false, so that one
 * may say `return machine_fault(...)`. */
bool machine_fault(struct machine *, const struct machine_site *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same where a limit of the run was reached. */
bool machine_limit_fault(struct machine *, const struct machine_site *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for memory of the host side. */
bool machine_memory_fault(struct machine *, const struct machine_site *, uint64_t bytes);
/* A fault of two sizes that a rule of the opcode wants equal. */
bool machine_size_fault(struct machine *, const struct machine_site *, unsigned rule,
                        uint64_t a, uint64_t b);
/* Reports a fault that chunks have kept. */
void machine_report(struct machine *, const struct call_trace *, const struct fault_found *);
/* An operation of the back end answered false (or a host read did): reports the first fault it
 * knows of. Always false. */
bool machine_backend_fault(struct machine *, const struct machine_site *);
/* "FILE:LINE:COLUMN": of the origin where there is one. */
void machine_describe_location(const struct machine *, const struct debug_info *, char *dst,
                               size_t size);
/* Waits for all operations so far; false if one failed, which is then reported. */
bool machine_settle(struct machine *, const struct machine_site *);

/* ---- values and host memory: transfer.c. All wait, report a fault and return false if there
 * is one. ---- */

/* Number of elements of a vector; of a descriptor, of its segments. */
bool machine_length(struct machine *, const struct machine_site *, const struct value *,
                    uint64_t *n);
/* What an INT or BOOL vector of length 1 holds. */
bool machine_int(struct machine *, const struct machine_site *, const struct value *,
                 int64_t *x);
/* Elements first .. first+n-1, as the back end stores them; of a descriptor int64_t lengths. */
bool machine_to_host(struct machine *, const struct machine_site *, const struct value *,
                     uint64_t first, uint64_t n, void *dst);
/* A vector of n elements; n = 1 gives a scalar. */
bool machine_from_host(struct machine *, const struct machine_site *, enum cvl_elem, uint64_t n,
                       const void *data, struct value *out);
/* A descriptor with n checked lengths; n = 1 needs no memory. */
bool machine_segdes(struct machine *, const struct machine_site *, uint64_t n,
                    const int64_t *lengths, struct value *out);

static inline struct value machine_scalar_int(const struct machine *m, int64_t x) {
  return value_of(cvl_scalar_int(m->widths.int_elem, x));
}
static inline struct value machine_scalar_bool(bool x) {
  return value_of(cvl_scalar_bool(x));
}

/* The item as a value. False after a fault. */
bool machine_from_item(struct machine *, const struct machine_site *,
                       const struct machine_item *, struct value *out);
/* Prints the stack to options.out, all of it or nothing. */
bool machine_print_results(struct machine *, const struct machine_site *);
/* Copies the stack to the host; *results is empty after a fault. */
/* Widens n elements of 32 bits that lie in the second half of the memory, from the first on. */
void machine_widen(enum cvl_elem, uint64_t n, char *data);
/* Whether the caller's own_consumer takes a result of n elements; then writes those of this
 * process to it. */
bool own_takes(struct machine *, uint64_t number, enum machine_item_kind, uint64_t n);
bool own_write(struct machine *, const struct machine_site *, uint64_t number,
               const struct value *);
/* Whether it wants to know no more than that lengths are equal. Then *equal: all are *length;
 * false after a fault. */
bool own_wants_equal(struct machine *, uint64_t number, uint64_t n);
bool own_equal(struct machine *, const struct machine_site *, const struct value *, bool *equal,
               int64_t *length);
bool machine_collect(struct machine *, const struct machine_site *, struct machine_results *);
/* The fault of a pair among results. Always false. */
bool machine_pair_fault(struct machine *, const struct machine_site *);

/* ---- one instruction on values: checks.c, operations.c ---- */

/* Number of elements of a vector or total of a descriptor; number of segments of a descriptor.
 * Without waiting. */
struct cvl_size machine_size(const struct machine *, const struct cvl_value *);
struct cvl_size machine_count(const struct machine *, const struct cvl_value *);
/* Requires what opcodes.def says about the sizes of the operands: at once where they are known,
 * by the back end where one is deferred. */
bool check_sizes(struct machine *, const struct machine_site *, enum opcode,
                 const struct value *operands);
/* The same, waiting for sizes that are deferred. */
bool check_sizes_now(struct machine *, const struct machine_site *, enum opcode,
                     const struct value *operands);
/* The size of what is known only when it is executed. */
static inline struct cvl_size size_deferred(void) {
  return (struct cvl_size){.bound = UINT64_MAX, .symbol = UINT64_MAX};
}
/* What size the first result of an opcode will have, before its operands are given away. */
struct cvl_size check_result_size(const struct machine *, enum opcode,
                                  const struct value *operands);
/* In debug builds aborts unless a result has this size, where both are known, and elements of
 * this kind. */
void check_result(const struct machine *, const struct cvl_value *, struct cvl_size,
                  enum operand_kind);
/* A message for two sizes that a rule of the opcode wants equal. */
void check_describe(enum opcode, unsigned rule, uint64_t a, uint64_t b, char *dst, size_t size);
/* Executes an opcode of any class but STACK, CONTROL and CONSTANT. Kinds have been checked,
 * sizes are checked here. Operands with flat.owned set pass to it in every case; results are
 * owned by the caller. */
bool operation_execute(struct machine *, uint32_t location, enum opcode, enum type_word,
                       struct value *operands, struct value *results);

/* ---- superoperators: fused.c ---- */

/* What a program needs for them: NULL if it has none. False if memory fails; fused_free takes
 * what has been made. */
bool fused_new(struct machine *, const struct ir_program *, struct fused **);
void fused_free(struct machine *, struct fused *);
/* For a sub-machine: with operands of its own and the kernels of its parent. */
bool fused_new_sub(struct machine *, const struct fused *of, struct fused **);
/* Asks the back end to make a superoperator of the present program ready, which the first
 * fused_execute does otherwise. */
void fused_prepare(struct machine *, uint32_t superop);
/* Where fused_execute finds the operands and leaves the results. */
struct value *fused_operands(struct machine *);
struct value *fused_results(struct machine *);
/* Executes the superoperator with this index for the FUSED at a location. Operands with
 * flat.owned set pass to it in every case; results are owned by the caller. Kinds have been
 * checked. */
bool fused_execute(struct machine *, uint32_t location, uint32_t superop);
/* Whether the back end did the latest one in one pass. */
bool fused_was_one_pass(const struct machine *);
/* The length of its domain with these operands, waiting for that. */
uint64_t fused_domain(const struct machine *, uint32_t superop);

/* ---- running: run.c, execute.c, stack-interpreter.c ---- */

/* Runs typed code from `location` until one of these happens; *location is where to go on. */
enum step execute(struct machine *, uint32_t *location);
/* Begins the entry function, whose frame is there, as if it had been called at *location: chunk
 * by chunk, if that is wanted. STEP_ON: it is to be executed from *location on. */
enum step execute_entry(struct machine *, uint32_t *location);
enum step interpret(struct machine *, uint32_t *location);

/* *fit: whether the top of the stack holds what a typed function was inferred for. False
 * without memory. */
bool machine_arguments_fit(struct machine *, const struct machine_site *,
                           const struct ir_function *, bool *fit);
/* Makes room for `needed` values on the stack, which may move. */
bool machine_reserve(struct machine *, const struct machine_site *, uint64_t needed);
/* Makes room for the first frame. */
bool machine_reserve_frame(struct machine *, const struct machine_site *);
/* A call that ends its function: the callee takes over the top frame. */
bool machine_replace_frame(struct machine *, const struct machine_site *, uint32_t function,
                           uint64_t base);
/* Begins a call of a function, whose frame starts at base, from an instruction. */
bool machine_push_frame(struct machine *, const struct machine_site *, uint32_t function,
                        uint64_t base);
/* Notes the return of a frame that recorded operations have seen. */
bool machine_note_return(struct machine *);
/* A number for the next operation of the back end at this location. */
bool machine_next_site(struct machine *, uint32_t location, struct machine_site *);
/* Several numbers, for the nodes whose locations begin at this one; the first in the site. */
bool machine_next_sites(struct machine *, uint32_t location, uint32_t sites,
                        struct machine_site *);
/* Whether options.stop asks for an end: for cvl_stop, on any thread. Then, what it is that
 * ended the run, for its message. */
bool machine_asks_to_stop(void *machine);
/* The same for operations of the back end, which may be long: of a process that ends together
 * with others also if these have not come to a step where they do. */
bool machine_ends_operations(void *machine);
void machine_describe_stop(struct machine *, char *message, size_t size);
/* Asks options.stop: a fault if the run is to end. */
bool machine_may_go_on(struct machine *, const struct machine_site *);
/* The same now and then while a program runs; shows how far it is, too. */
bool machine_poll(struct machine *, const struct machine_site *);
/* The value of a constant. */
bool machine_constant(struct machine *, const struct machine_site *,
                      const struct vcode_constant *, struct value *out);
/* Decides an IF: waits for the condition, a BOOL of length 1, which is borrowed. */
bool machine_decide(struct machine *, uint32_t location, const struct value *, bool *out);
/* operation_execute and fused_execute, counted and timed in the profile and the trace. */
bool operation_profiled(struct machine *, uint32_t location, enum opcode, enum type_word,
                        struct value *operands, struct value *results);
bool fused_profiled(struct machine *, uint32_t location, uint32_t superop);
double machine_clock(void);

#endif
