/* machine-private.h - a machine as the files of this room see it.
 *
 *    value.h              items of the stack
 *    code.h               flat code of typed functions
 *    execute.c            runs flat code
 *    stack-interpreter.c  runs stack code
 *    run.c                functions that both executors share
 *    checks.c             agreement of sizes
 *    operations.c         one instruction on the back end
 *    fused.c              superoperators
 *    values.c             values outside of runs
 *    program.c            data of a program between runs
 *    call.c               one run
 *    evaluate.c           a program from beginning to end, once or repeatedly
 *
 *    In instances/:
 *    chunks.h             calls that are cut
 *    procedures.h         calls that native code executes
 *    team.h               chunks on several threads
 *    sub-machine.c        the machine of such a thread
 *    distribute.c         calls that are distributed to processes
 *    own.c                results that processes write together
 *    consumer.c           results that leave the machine early
 *
 *    In report/:
 *    faults.c             messages and call traces
 *
 *    In io/:
 *    io.c, streams.c      input and output
 *    results.c, print.c   results as text
 *    items.c              arguments and results without text
 */
#ifndef RAVEL_MACHINE_PRIVATE_H
#define RAVEL_MACHINE_PRIVATE_H

#include "vinterp/instances/chunks.h"
#include "vinterp/instances/procedures.h"
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
  uint64_t number;   /* its number in the back end, which increases with every operation */
  uint32_t location; /* number of the instruction in the program (code.h) */
};

/* The data of a program between runs. */
struct machine_program {
  const struct ir_program *program;
  struct code *code;
  struct fused *fused;      /* NULL if there are no superoperators */
  uint32_t *profile_rows;   /* for each function, if there is a profile */
  struct chunk_need *needs; /* for each function: what its chunks have needed so far */
  uint8_t *reach;           /* for each function (instances/reach.c) */
  struct program_procedures *procedures; /* or NULL */
};

/* A result of a run that the consumer has taken. */
struct consumed {
  uint64_t number;
  const void *data;
  struct value value;
};

struct machine {
  const struct cvl_backend *backend;
  struct cvl_context *context;
  struct machine_options options;
  struct widths widths;
  struct heap own_heap, *heap; /* everything of the machine except vectors; a sub-machine uses
                                  the heap of its parent */
  uint64_t vector_limit;       /* most bytes of vectors; 0: no limit */
  struct value_store store;    /* backend, context and heap, for value.h */
  struct profile *profile;     /* NULL unless options.profile */
  struct trace *trace;         /* NULL unless options.trace */
  bool measured;               /* there is a profile or a trace, so instructions are timed */
  struct progress progress;

  /* The fields of the machine_program that runs; NULL between runs. */
  const struct ir_program *program;
  struct code *code;
  struct fused *fused;
  uint32_t *profile_rows;
  struct chunk_need *needs;
  uint8_t *reach;
  struct program_procedures *procedures;

  /* The current request of a caller. */
  struct diag_list *diags;
  bool repeated;    /* a program is run repeatedly, so it must not do anything that differs the
                       next time */
  uint64_t runs;    /* number of requests so far; the same on all processes of a job */
  bool faulted;     /* a diagnostic was added; everything unwinds */
  bool interrupted; /* the fault is a signal that options.stop knows of */
  struct machine_failure failure; /* what the fault was */

  /* The state of one run. */
  uint32_t entry;                               /* the function that it begins with */
  FILE *out, *err;                              /* streams 1 and 2 */
  const struct machine_consumer *consumer;      /* or NULL */
  const struct machine_consumer *call_consumer; /* the consumer of machine_call */
  const struct machine_own_consumer *own;       /* or NULL */
  struct consumed *consumed;
  uint64_t sunk_count;
  struct streams *streams; /* NULL until the program needs one */

  struct value *stack; /* slots of frames and items of stack code, one above another */
  uint64_t capacity;   /* values above the live ones are not counted ones */
  uint64_t top;        /* items of stack code lie below it; see stack-interpreter.c */
  struct frame *frames;
  uint64_t depth, frame_capacity, max_depth;

  uint64_t site;          /* number of the latest operation */
  struct history history; /* the instruction of each of the latest sites */
  int64_t fuel;           /* work left until limits are checked */
  struct chunks chunks;   /* calls that are cut */
  struct procedure_calls calls;

  struct machine *alone; /* the machine that executes calls distributed to this process
                            (instances/distribute.c), or NULL */
  struct machine_program *distributed; /* there: its data of the dispatcher's program */
  struct machine *dispatcher;          /* there: the machine that distributes calls to it */
  struct stop apart; /* there: the dispatcher's options.stop, as this process sees it */
  bool stopped; /* all processes know that one of them cannot go on with the distributed call */
  struct team *team;       /* threads that may execute chunks, or NULL */
  bool sub;                /* this is a sub-machine of the team */
  struct value *constants; /* of a sub-machine, by number; NULL: the constants of the code */

  uint64_t seed, random_count;       /* state of RAND: key, and number of the next one */
  uint64_t first_seed, first_random; /* their values when a run begins */
  double start, timer;
};

/* ---- programs and their runs: program.c, call.c ---- */

/* machine_begin begins a request of a caller, and clears the last failure. machine_end ends
 * it. */
void machine_begin(struct machine *, struct diag_list *);
void machine_end(struct machine *);
/* Waits for all work, and drops faults that nobody will report. Returns false if the device
 * has failed: it then does nothing more, reports that whenever it is asked, and its unfinished
 * work may hold values. */
bool machine_drain(struct machine *);

/* Returns NULL after machine_fail_beginning. */
struct machine_program *machine_program_new(struct machine *, const struct ir_program *);
void machine_program_free(struct machine *, struct machine_program *); /* NULL is ignored */
/* Makes code and profile rows anew, after a change of machine.measured or machine.profile.
 * Returns false if memory runs out. */
bool machine_program_lower(struct machine *, struct machine_program *);
/* Makes it the program that runs; NULL: none. */
void machine_program_use(struct machine *, const struct machine_program *);
/* Prepares its superoperators, which may take long to compile. Returns false if the machine
 * was asked to stop; the run has failed then. */
bool machine_program_prepare(struct machine *, const struct machine_program *);
/* Reports that there is no memory for a program, or that an end was asked for. Always returns
 * false. */
bool machine_fail_beginning(struct machine *, const struct ir_program *);

/* The measurements of one run, from arguments to results. */
struct run_times {
  double seconds;
  uint64_t launches, waits; /* as in machine_repetition */
};

struct run {
  const struct machine_program *program;
  const uint32_t *function;          /* NULL: the program's entry function */
  const struct cvl_value *arguments; /* as for machine_call */
  uint64_t count;
  FILE *out, *err;
  const struct machine_consumer *consumer; /* or NULL */
  const struct machine_own_consumer *own;  /* or NULL */
  struct run_times *times;                 /* NULL: not measured */
  /* Gets the results, which are on the stack, when everything is done. Returns false after a
   * fault. NULL: results are not wanted. */
  bool (*deliver)(struct machine *, const struct machine_site *, void *to);
  void *to;
};

enum step {
  STEP_ON,     /* continue in the same kind of code */
  STEP_SWITCH, /* the top frame is now of the other kind of code */
  STEP_DONE,   /* the entry function returned; its results are on the stack below top */
  STEP_EXIT,
  STEP_FAULT
};

/* Runs a program on the empty stack, which is empty again afterwards. Returns DONE, EXIT or
 * FAULT. */
enum step machine_run_once(struct machine *, const struct run *);
enum machine_outcome machine_outcome_of(const struct machine *, enum step);
/* The sites at which faults of arguments and of results are reported: the entry function's
 * beginning and end. */
struct machine_site machine_entry_site(const struct machine *);
struct machine_site machine_end_site(const struct machine *);

/* Calls a function of the program that has typed code, as machine_call does. */
enum machine_outcome machine_call_function(struct machine *, struct machine_program *,
                                           uint32_t function, const struct cvl_value *arguments,
                                           uint64_t count, struct cvl_value *results,
                                           uint64_t result_count, struct diag_list *);

/* ---- calls distributed to processes: instances/distribute.c ---- */

/* Returns whether a call is to be offered to the back end. */
bool distribute_is_wanted(struct machine *, uint32_t function, uint64_t instances);
/* Executes a cut by all processes. The cut has begun no chunk. Returns true with all results
 * in cut->results[k].whole; false if it is to be executed in another way. */
bool distribute_run(struct machine *, struct cut *);
/* distribute_free frees the machine for distributed calls; call it before the back end's
 * context is closed. distribute_forget frees its data of a program; call it before the program
 * is freed. */
void distribute_free(struct machine *);
void distribute_forget(struct machine *);
/* For a machine that executes distributed calls. distribute_forbids_cuts returns whether calls
 * of a function must not be cut, since it draws random numbers. distribute_random_first finds
 * where the numbers of a RAND on `bounds` begin: behind those of the processes before. All
 * processes call it for the same RAND. It returns false with a fault of this or another
 * process. */
bool distribute_forbids_cuts(struct machine *, uint32_t function);
bool distribute_random_first(struct machine *, const struct machine_site *,
                             const struct value *bounds, uint64_t *first);
/* instances/reach.c: return whether a function needs no stack code, and whether it draws
 * random numbers. */
bool reach_is_typed(struct machine *, uint32_t function);
bool reach_draws(struct machine *, uint32_t function);

/* ---- faults: report/faults.c ---- */

/* Records that the instruction failed: one error with its position and the call trace. If the
 * back end knows of an earlier fault, that one is reported instead. Always returns false, so
 * that callers may write `return machine_fault(...)`. */
bool machine_fault(struct machine *, const struct machine_site *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Does the same if a limit of the run was reached. */
bool machine_limit_fault(struct machine *, const struct machine_site *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Does the same if memory of the host has run out. */
bool machine_memory_fault(struct machine *, const struct machine_site *, uint64_t bytes);
/* Does the same for two sizes that a rule of the opcode requires to be equal. */
bool machine_size_fault(struct machine *, const struct machine_site *, unsigned rule,
                        uint64_t a, uint64_t b);
/* Reports a fault that chunks have kept. */
void machine_report(struct machine *, const struct call_trace *, const struct fault_found *);
/* Reports the first fault that the back end knows of, after an operation or a host read
 * returned false. Always returns false. */
bool machine_backend_fault(struct machine *, const struct machine_site *);
/* Writes "FILE:LINE:COLUMN", with the position of the original program if there is one. */
void machine_describe_location(const struct machine *, const struct debug_info *, char *dst,
                               size_t size);
/* Waits for all operations so far. Returns false if one failed, which is then reported. */
bool machine_settle(struct machine *, const struct machine_site *);

/* ---- values and host memory: transfer.c. All functions wait; they return false after they
 * reported a fault ---- */

/* Finds the number of elements of a vector, or of segments of a descriptor. */
bool machine_length(struct machine *, const struct machine_site *, const struct value *,
                    uint64_t *n);
/* Finds the element of an INT or BOOL vector of length 1. */
bool machine_int(struct machine *, const struct machine_site *, const struct value *,
                 int64_t *x);
/* Copies elements first .. first+n-1, as the back end stores them; lengths of a descriptor as
 * int64_t. */
bool machine_to_host(struct machine *, const struct machine_site *, const struct value *,
                     uint64_t first, uint64_t n, void *dst);
/* Makes a vector of n elements; n = 1 gives a scalar. */
bool machine_from_host(struct machine *, const struct machine_site *, enum cvl_elem, uint64_t n,
                       const void *data, struct value *out);
/* Makes a descriptor of n lengths, which are valid; n = 1 needs no memory. */
bool machine_segdes(struct machine *, const struct machine_site *, uint64_t n,
                    const int64_t *lengths, struct value *out);

static inline struct value machine_scalar_int(const struct machine *m, int64_t x) {
  return value_of(cvl_scalar_int(m->widths.int_elem, x));
}
static inline struct value machine_scalar_bool(bool x) {
  return value_of(cvl_scalar_bool(x));
}

/* Makes a value of the item. Returns false after a fault. */
bool machine_from_item(struct machine *, const struct machine_site *,
                       const struct machine_item *, struct value *out);
/* Prints the stack to options.out, all of it or nothing. */
bool machine_print_results(struct machine *, const struct machine_site *);
/* Widens n elements of 32 bits, which lie in the second half of the memory, to 64 bits, from
 * the first one on. */
void machine_widen(enum cvl_elem, uint64_t n, char *data);
/* own_takes returns whether the caller's own_consumer takes a result of n elements. own_write
 * then writes this process's elements to it. */
bool own_takes(struct machine *, uint64_t number, enum machine_item_kind, uint64_t n);
bool own_write(struct machine *, const struct machine_site *, uint64_t number,
               const struct value *);
/* own_wants_equal returns whether it only wants to know that lengths are equal. own_equal then
 * sets *equal, and *length to the length of all. It returns false after a fault. */
bool own_wants_equal(struct machine *, uint64_t number, uint64_t n);
bool own_equal(struct machine *, const struct machine_site *, const struct value *, bool *equal,
               int64_t *length);
/* Copies the stack to the host. After a fault *results is empty. */
bool machine_collect(struct machine *, const struct machine_site *, struct machine_results *);
/* Reports that there is a pair among the results. Always returns false. */
bool machine_pair_fault(struct machine *, const struct machine_site *);

/* ---- one instruction on values: checks.c, operations.c ---- */

/* Return the number of elements of a vector or the total of a descriptor, and the number of
 * segments of a descriptor. They do not wait. */
struct cvl_size machine_size(const struct machine *, const struct cvl_value *);
struct cvl_size machine_count(const struct machine *, const struct cvl_value *);
/* Requires the sizes of operands to be as opcodes.def says: at once if they are known; if one
 * is deferred, by the back end. */
bool check_sizes(struct machine *, const struct machine_site *, enum opcode,
                 const struct value *operands);
/* Does the same, but waits for deferred sizes. */
bool check_sizes_now(struct machine *, const struct machine_site *, enum opcode,
                     const struct value *operands);
/* The size of a result that is known only when the instruction is executed. */
static inline struct cvl_size size_deferred(void) {
  return (struct cvl_size){.bound = UINT64_MAX, .symbol = UINT64_MAX};
}
/* Returns the size that the first result of an opcode will have. Call it before the operands
 * are given away. */
struct cvl_size check_result_size(const struct machine *, enum opcode,
                                  const struct value *operands);
/* In debug builds aborts unless a result has elements of this kind, and this size if both
 * sizes are known. */
void check_result(const struct machine *, const struct cvl_value *, struct cvl_size,
                  enum operand_kind);
/* Writes a message for two sizes that a rule of the opcode requires to be equal. */
void check_describe(enum opcode, unsigned rule, uint64_t a, uint64_t b, char *dst, size_t size);
/* Executes an opcode of any class except STACK, CONTROL and CONSTANT. Kinds have been checked;
 * sizes are checked here. Operands with flat.owned set pass to it in every case; the caller
 * owns the results. */
bool operation_execute(struct machine *, uint32_t location, enum opcode, enum type_word,
                       struct value *operands, struct value *results);

/* ---- superoperators: fused.c ---- */

/* Makes a program's data for superoperators; NULL if it has none. Returns false if memory runs
 * out; then fused_free frees what has been made. */
bool fused_new(struct machine *, const struct ir_program *, struct fused **);
void fused_free(struct machine *, struct fused *);
/* Makes the data for a sub-machine: its own operands, and the kernels of its parent. */
bool fused_new_sub(struct machine *, const struct fused *of, struct fused **);
/* Asks the back end to prepare a superoperator of the present program. Otherwise the first
 * fused_execute does. */
void fused_prepare(struct machine *, uint32_t superop);
/* Return where fused_execute finds the operands and leaves the results. */
struct value *fused_operands(struct machine *);
struct value *fused_results(struct machine *);
/* Executes the superoperator with this index for the FUSED at a location. Operands with
 * flat.owned set pass to it in every case; the caller owns the results. Kinds have been
 * checked. */
bool fused_execute(struct machine *, uint32_t location, uint32_t superop);
/* Returns whether the back end executed the latest superoperator in one pass. */
bool fused_was_one_pass(const struct machine *);
/* Returns the length of its domain with these operands, and waits for it. */
uint64_t fused_domain(const struct machine *, uint32_t superop);

/* ---- running: run.c, execute.c, stack-interpreter.c ---- */

/* Runs typed code, or stack code (interpret), from *location on, until one of the other steps
 * happens; *location is where to continue. */
enum step execute(struct machine *, uint32_t *location);
/* Begins the entry function, whose frame exists, as if it had been called at *location: chunk
 * by chunk if that is wanted. Returns STEP_ON if it is to be executed from *location on. */
enum step execute_entry(struct machine *, uint32_t *location);
enum step interpret(struct machine *, uint32_t *location);

/* Sets *fit to whether the values on top of the stack are those for which a typed function was
 * inferred. Returns false if memory runs out. */
bool machine_arguments_fit(struct machine *, const struct machine_site *,
                           const struct ir_function *, bool *fit);
/* Makes room for `needed` values on the stack, which may move. */
bool machine_reserve(struct machine *, const struct machine_site *, uint64_t needed);
/* Makes room for the first frame. */
bool machine_reserve_frame(struct machine *, const struct machine_site *);
/* Replaces the top frame by the callee's, for a call that ends its function. */
bool machine_replace_frame(struct machine *, const struct machine_site *, uint32_t function,
                           uint64_t base);
/* Makes the frame of a called function, which starts at base. */
bool machine_push_frame(struct machine *, const struct machine_site *, uint32_t function,
                        uint64_t base);
/* Notes the return of a frame in which operations were recorded. */
bool machine_note_return(struct machine *);
/* Numbers the next operation of the back end, which is at this location. */
bool machine_next_site(struct machine *, uint32_t location, struct machine_site *);
/* Numbers several operations, for nodes whose locations begin at this one; the site has the
 * first. */
bool machine_next_sites(struct machine *, uint32_t location, uint32_t sites,
                        struct machine_site *);
/* Returns whether options.stop asks for an end. It is a function for cvl_stop, on any thread.
 */
bool machine_asks_to_stop(void *machine);
/* machine_ends_operations does the same for long operations of the back end: it ends those of
 * one process in a job even if the others do not come to a step where they end.
 * machine_describe_stop writes what ended the run, for its message. */
bool machine_ends_operations(void *machine);
void machine_describe_stop(struct machine *, char *message, size_t size);
/* Returns false with a fault if options.stop asks for an end. */
bool machine_may_go_on(struct machine *, const struct machine_site *);
/* Does the same now and then while a program runs, and shows the progress. */
bool machine_poll(struct machine *, const struct machine_site *);
/* Makes the value of a constant. */
bool machine_constant(struct machine *, const struct machine_site *,
                      const struct vcode_constant *, struct value *out);
/* Decides an IF: waits for the condition, a BOOL of length 1, which is borrowed. */
bool machine_decide(struct machine *, uint32_t location, const struct value *, bool *out);
/* Do what operation_execute and fused_execute do, counted and timed in the profile and the
 * trace. */
bool operation_profiled(struct machine *, uint32_t location, enum opcode, enum type_word,
                        struct value *operands, struct value *results);
bool fused_profiled(struct machine *, uint32_t location, uint32_t superop);

#endif
