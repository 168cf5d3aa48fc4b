/* machine.h - libvinterp: runs a program on a back end.
 *
 * A machine owns everything a run needs: the context of its back end, its stack of frames, its
 * streams, its limits, its profile. There are no globals; several machines may run in one
 * process, each on a thread of its own.
 */
#ifndef RAVEL_MACHINE_H
#define RAVEL_MACHINE_H

#include "base/permissions.h"
#include "base/stop.h"
#include "cvl/sharing.h"
#include "ir/ir.h"

struct machine_options;

/* Tuning values (cvl/tuning.h), and a text for the profile that says where they are from. */
struct machine_tuned {
  const struct tuning *values;
  const char *from;
};

/* The function that knows tuning values. It is called for a back end that is about to be
 * opened. If it is NULL, or returns NULL, the defaults are used. */
struct machine_tuning {
  const struct machine_tuned *(*of)(void *with, const struct cvl_backend *,
                                    const struct machine_options *);
  void *with;
};

/* How batch calls are cut (docs/internals/memory.md). Results do not depend on it. */
enum machine_chunks_mode {
  MACHINE_CHUNKS_AUTO,  /* as memory and time require */
  MACHINE_CHUNKS_OFF,   /* not at all */
  MACHINE_CHUNKS_FIXED, /* into chunks of n instances; calls of at most n are not cut */
  MACHINE_CHUNKS_RANDOM /* tests: into chunks of random sizes; n is the seed */
};
struct machine_chunks {
  enum machine_chunks_mode mode;
  uint64_t n;
};

/* Whether native code executes batch calls, one instance after the other, where the back end
 * has such code. Results do not depend on it. */
enum machine_procedures {
  MACHINE_PROCEDURES_AUTO, /* where that pays, once it has been compiled as `compile` says */
  MACHINE_PROCEDURES_OFF,
  MACHINE_PROCEDURES_ALWAYS /* wherever it can be, and its compilation is waited for */
};
/* Finds the way that is called "auto", "off" or "always"; false: none is. */
bool machine_procedures_named(const char *, enum machine_procedures *);

struct machine_options {
  struct widths widths;
  const struct cvl_backend *backend;
  unsigned threads;      /* 0: all */
  int device;            /* -1: any */
  bool opens_late;       /* as in cvl_options */
  uint64_t memory_limit; /* bytes, machine and vectors together; 0: machine_default_memory(),
                            and on a device all its memory */
  struct machine_chunks chunks;       /* how batch calls are cut */
  enum machine_procedures procedures; /* whether native code executes them */
  uint64_t max_depth;                 /* most open calls; 0: 1,000,000 */
  uint64_t seed;                      /* the first seed of RAND */
  struct permissions permissions;     /* what the program may do */
  bool profile;                       /* collect the data that machine_profile prints */
  bool undisturbed;         /* with `profile`: collect only sums of the run, since measuring an
                               instruction means waiting for it */
  enum cvl_compile compile; /* this and the next three: as in cvl_options */
  bool compile_waits;
  const char *compile_directory;
  const char *zig;
  const char *kernels; /* file of compiled kernels: cvl_options.kernels; or NULL */
  FILE *trace;     /* gets the times of everything executed, as Chrome trace events; NULL: no
                      trace */
  bool checked;    /* run everything on the stack interpreter (the tests' oracle), if
                      every function has stack code */
  int progress_fd; /* -1, or a terminal that gets a status line on long runs */
  double progress_seconds; /* time before the status line appears; 0: one second */
  FILE *out, *err;         /* results; text of WRITE. They are streams 1 and 2 of the program */
  FILE *in;                /* stream 0 of the program */
  const char *const *arguments; /* arguments of the program, for FOPEN in mode
                                   STREAM_ARGUMENTS */
  size_t argument_count;
  bool arguments_unknown;   /* a program is compiled, so its arguments are unknown: that mode
                               fails */
  const struct stop *stop;  /* asks runs, and the printing of results, to end; or NULL. It
                               belongs to the caller, who begins its limit of time */
  uint64_t fail_allocation; /* tests: the n-th allocation of the run fails; 0: none */
  struct cvl_speaker say;   /* as in cvl_options */
  struct machine_tuning tuning;
};

struct machine;

enum machine_outcome {
  MACHINE_DONE,       /* results printed */
  MACHINE_EXIT,       /* the program executed EXIT */
  MACHINE_ERROR,      /* a diagnostic was added */
  MACHINE_INTERRUPTED /* a signal asked for it; a diagnostic was added */
};

/* Returns default options: 64/64 widths, no permissions, the process's own streams. */
struct machine_options machine_default_options(void);
/* Returns 80 % of the smaller of the computer's memory and the control group's limit. */
uint64_t machine_default_memory(void);
/* Returns the options' memory limit; if there is none, the default. */
uint64_t machine_memory(const struct machine_options *);

/* Makes a machine. Returns NULL with a diagnostic if memory runs out or the back end cannot be
 * opened. */
struct machine *machine_new(const struct machine_options *, struct diag_list *);
void machine_free(struct machine *);
const struct cvl_backend *machine_backend(const struct machine *);

/* Runs the entry function of a built program on an empty stack and prints the stack that it
 * leaves. Everything that the program wrote is flushed on return. A run-time error adds one
 * diagnostic: where, what, which values, and the call trace as notes. `out` gets the whole
 * result or nothing of it, unless a stop is asked for while it is written. May be called
 * again. */
enum machine_outcome machine_run(struct machine *, const struct ir_program *,
                                 struct diag_list *);

/* ---- values in and out, without text ---- */

enum machine_item_kind { MACHINE_INT, MACHINE_FLOAT, MACHINE_BOOL, MACHINE_SEGDES };

/* One item of the stack in host memory. Elements have 64 bits in any widths. */
struct machine_item {
  uint8_t kind; /* enum machine_item_kind */
  bool shared; /* An argument: its elements do not change until the call of the machine returns,
                so they need not be copied. A result: it is memory of a consumer, whose owner
                frees it, or of such an argument */
  uint64_t length;
  union {
    const int64_t *ints; /* INT; SEGDES: the lengths of its segments */
    const double *floats;
    const uint8_t *bools; /* 0 or 1 */
  } as;
  bool equal; /* result of kind SEGDES: all lengths are equal, and only one is stored */
};

/* Where elements of results go while the program computes others, so that all of them are
 * never in memory. A result vector goes to the consumer if it comes directly from a batch call
 * that is cut into chunks (docs/internals/memory.md). `with` belongs to the consumer; `result`
 * is the number of the result on the stack, deepest first. The machine calls the functions on
 * its thread. A function that fails writes a sentence, and the run ends with it. Functions
 * that take long must themselves check for requests to stop. If `wants` is set, lengths of
 * segments among the results of machine_repeat come when the program has ended, as CVL_I64. */
enum { MACHINE_CONSUMER_PROBLEM = FILE_PROBLEM_MAX };
struct machine_consumer {
  /* Returns whether it takes elements of this type, which have the widths of the machine. */
  bool (*takes)(void *with, uint64_t result, enum cvl_elem);
  /* Gets elements first .. first + n of `total`, which is MACHINE_CONSUMER_UNKNOWN while it is
   * not known. Elements come in order, but some may come again, from any earlier position on.
   */
  bool (*put)(void *with, uint64_t result, uint64_t first, uint64_t n, uint64_t total,
              const void *elements, char problem[MACHINE_CONSUMER_PROBLEM]);
  /* All n elements have come. Returns their address, readable until the results are freed;
   * NULL: a problem. */
  const void *(*whole)(void *with, uint64_t result, uint64_t n,
                       char problem[MACHINE_CONSUMER_PROBLEM]);
  void *with;
  /* Returns whether it wants a result of so many bytes, which may be an estimate from the
   * operands. Called before `takes`. NULL: it wants all. */
  bool (*wants)(void *with, uint64_t bytes);
  /* For consumers of machine_call. `end` is called when nothing reads the memory from `whole`
   * any more, at any time until machine_free. `made` gets the vector that uses the memory.
   * NULL: the owner knows. */
  struct cvl_notice (*end)(void *with, uint64_t result);
  void (*made)(void *with, uint64_t result, const struct cvl_value *vector);
};
#define MACHINE_CONSUMER_UNKNOWN UINT64_MAX

/* Where processes that run a program together (processes.h) write results. Each writes its own
 * elements, so no process has all of them. The machine calls the functions on its thread when
 * the program has ended. All processes call `begin` and `end`, which may call
 * machine_broadcast and machine_from_first. */
struct machine_own_consumer {
  /* Returns whether it takes a result of n elements; the same in all processes. */
  bool (*begin)(void *with, struct machine *, uint64_t result, enum machine_item_kind,
                uint64_t n);
  /* Gets this process's elements first .. first + n in order, as wide as in an item. Returns
   * false if it wants no more. */
  bool (*put)(void *with, uint64_t result, uint64_t first, uint64_t n, const void *elements);
  void (*end)(void *with, struct machine *, uint64_t result);
  /* Returns whether lengths of segments need not be brought to all processes if they are all
   * equal; the same in all processes. */
  bool (*wants_equal)(void *with, uint64_t result);
  void *with;
};

/* The functions of processes.h, for a machine whose back end has them. */
bool machine_is_first(struct machine *);
void machine_broadcast(struct machine *, void *data, uint64_t bytes);
bool machine_from_first(struct machine *, bool mine, void *data, uint64_t bytes);

/* The stack that an evaluation left, deepest item first. It is memory of the machine until
 * machine_results_free, which must come before machine_free. Elements are not copied if the
 * back end exports them and they have 64 bits in it. */
struct machine_results {
  struct machine_item *items;
  struct cvl_export *exports; /* one for each item; without a function to end it there is no
                                 export */
  uint64_t count;
};

void machine_results_free(struct machine *, struct machine_results *);

/* RAND in later runs continues where the last run that ended in MACHINE_DONE stopped, and does
 * not begin with options.seed. This is for callers that execute one input after another. */
void machine_keep_random(struct machine *);

/* ---- programs that are prepared once and called often ---- */

/* A program lowered for a machine, with its constants and superoperators. A machine may have
 * any number of them; their calls take turns. */
struct machine_program;

/* Lowers a program, which must outlive the result, and prepares its superoperators. Returns
 * NULL with a diagnostic if memory runs out or options.stop asks for an end. */
struct machine_program *machine_prepare(struct machine *, const struct ir_program *,
                                        struct diag_list *);
/* Frees a program; before machine_free. NULL is ignored. Results of its calls stay valid. */
void machine_forget(struct machine *, struct machine_program *);

/* Runs the entry function on values of the machine's back end. Arguments are borrowed, unless
 * `owned` is set: then the reference passes to the call, in every case, so that the memory can
 * be reused.
 *
 * On MACHINE_DONE results[0..result_count), deepest first, belong to the caller
 * (machine_release), and no work and no fault is deferred. Otherwise they are not set. Another
 * number of results, and pairs among them, are errors. The first call begins RAND with
 * options.seed; later calls continue where the last call that ended in MACHINE_DONE stopped.
 */
enum machine_outcome machine_call(struct machine *, struct machine_program *,
                                  const struct cvl_value *arguments, uint64_t argument_count,
                                  struct cvl_value *results, uint64_t result_count,
                                  struct diag_list *);

/* Sets the consumer for results of later calls, which is borrowed. NULL, as at first: results
 * stay in memory. */
void machine_use_consumer(struct machine *, const struct machine_consumer *);

/* Values outside of calls belong to the caller until machine_release, which must come before
 * machine_free. Functions that return bool return false with a diagnostic (machine_failure
 * says why; options.stop may end copies, too), and then set nothing. */

/* Makes a value of the item's elements, copied and converted to the widths of the machine. It
 * has the same errors as machine_repeat. */
bool machine_value_item(struct machine *, const struct machine_item *, struct cvl_value *out,
                        struct diag_list *);
/* Makes a vector of n copied elements that are as wide as in the machine: of options.widths,
 * or CVL_BOOL, bytes 0 and 1. */
bool machine_value_vector(struct machine *, enum cvl_elem, const void *data, uint64_t n,
                          struct cvl_value *out, struct diag_list *);
/* Makes a vector without a copy, if the back end can read the elements in place. They must not
 * change until done.call is called: once, also after an error, by this or another function of
 * the machine, on its caller's thread. */
bool machine_value_import(struct machine *, enum cvl_elem, const void *data, uint64_t n,
                          struct cvl_notice done, struct cvl_value *out, struct diag_list *);
/* Makes a vector of elements that a filler computes (sharing.h), on many threads if that pays.
 */
bool machine_value_generate(struct machine *, enum cvl_elem, uint64_t n,
                            const struct cvl_filler *, struct cvl_value *out,
                            struct diag_list *);
/* Makes a descriptor of n segments from the offsets that a filler computes (sharing.h). */
bool machine_value_segdes(struct machine *, uint64_t n, const struct cvl_filler *,
                          struct cvl_value *out, struct diag_list *);
/* Gives access to the elements of a vector in place, until exported->end is called: by any
 * thread, perhaps after machine_free. Returns false, without a diagnostic, if they must be
 * copied. */
bool machine_value_export(struct machine *, const struct cvl_value *, struct cvl_export *);
/* Returns whether the back end has its vectors on a device, and the number by which other
 * libraries in the process know it. */
bool machine_device(struct machine *, int32_t *number);
/* Makes a vector from elements in memory of that device. */
bool machine_value_from_device(struct machine *, enum cvl_elem, const void *data, uint64_t n,
                               struct cvl_value *out, struct diag_list *);
/* Copies memory of that device to the host. */
bool machine_read_device(struct machine *, const void *data, uint64_t bytes, void *to,
                         struct diag_list *);
/* Copies the n elements of a vector to memory of the device, for other libraries. The copy
 * stays until exported->end is called: by any thread, perhaps after machine_free. */
bool machine_value_to_device(struct machine *, const struct cvl_value *, uint64_t n,
                             struct cvl_export *, struct diag_list *);
/* Makes a vector of INT from the lengths of a descriptor. */
bool machine_value_lengths(struct machine *, const struct cvl_value *segdes,
                           struct cvl_value *out, struct diag_list *);
/* Finds the number of elements of a vector, or of segments of a descriptor. */
bool machine_value_count(struct machine *, const struct cvl_value *, uint64_t *n,
                         struct diag_list *);
/* Finds the number of elements of a vector, or the sum of the lengths of a descriptor. */
bool machine_value_total(struct machine *, const struct cvl_value *, uint64_t *n,
                         struct diag_list *);
/* Copies elements first .. first + n, which must exist, to host memory, in the width of the
 * machine (value->elem). Lengths of a descriptor are copied as int64_t. */
bool machine_value_copy(struct machine *, const struct cvl_value *, uint64_t first, uint64_t n,
                        void *data, struct diag_list *);
/* machine_retain counts one more reference. machine_release gives one up, and leaves *value
 * without a value. */
void machine_retain(struct machine *, const struct cvl_value *);
void machine_release(struct machine *, struct cvl_value *);

/* Returns live and peak bytes of vectors and descriptors in the back end, and other numbers. */
struct cvl_statistics machine_statistics(const struct machine *);

/* ---- repeated runs, for measuring ---- */

struct machine_repetition {
  uint64_t runs; /* number of timed runs; 0: there is one run, which is not timed */
  bool counts;   /* fill in `totals`, by an untimed run after the first one */
  bool uncut;    /* with `counts`: that run does not cut batch calls, so totals do not depend on
                    threads and memory */
  void (*loaded)(void *context); /* called once, when the arguments are in the back end and
                                    their memory is not needed any more; or NULL */
  void *context;
  const struct machine_consumer *consumer; /* for results, if runs is 0; or NULL. A result
                                              that it has taken is `shared`, at the address
                                              from `whole` */
  const struct machine_own_consumer *own;  /* for results, if runs is 0; or NULL. A result that
                                              it has taken is `shared`, and nowhere */
  double *seconds; /* gets the time of each timed run, from arguments to results, both in the
                      back end, with all work done. It belongs to the caller */
  double first_seconds; /* time of the first run, which also prepares superoperators and gets
                           memory */
  struct machine_totals {
    uint64_t instructions, work, steps; /* as vcode.md, 21.8, counts them */
    double seconds;                     /* elapsed time of runs */
  } totals;                             /* sums of one run */
  uint64_t launches, waits;             /* of a timed run, as in cvl_statistics */
  uint64_t peak_bytes; /* peak memory of vectors in the back end, including arguments, since the
                          machine was made */
};

/* Runs a program on a stack of items. `arguments`, and the memory that they point to, are
 * borrowed. The stack that it leaves goes to *results instead of `out`, only on MACHINE_DONE.
 * Errors are: an INT that the widths cannot hold, a descriptor with a bad length, pairs on the
 * stack.
 *
 * If `runs` is not 0, there is one run that warms up, and then so many timed ones. All have
 * the same arguments, which stay in the back end, and the same initial state: RAND begins anew
 * each time. Superoperators are prepared once. Only the first run writes what the program
 * writes; *results are those of the last run. A program that reads, opens files or starts
 * processes may behave differently the next time, so that is an error, where it happens.
 * Fields that are filled in are valid only after MACHINE_DONE. */
enum machine_outcome machine_repeat(struct machine *, const struct ir_program *,
                                    const struct machine_item *arguments,
                                    uint64_t argument_count, struct machine_repetition *,
                                    struct machine_results *results, struct diag_list *diags);

/* Does what machine_run does, on a stack of items, which are as for machine_repeat. */
enum machine_outcome machine_run_on(struct machine *, const struct ir_program *,
                                    const struct machine_item *arguments,
                                    uint64_t argument_count, struct diag_list *);

/* Why a run ended in MACHINE_ERROR, for callers with their own messages. */
enum machine_cause {
  MACHINE_CAUSE_NONE,
  MACHINE_CAUSE_ASSERT,    /* an ASSERT of the program failed */
  MACHINE_CAUSE_OPERATION, /* another instruction failed: index, divisor, sizes, I/O ... */
  MACHINE_CAUSE_LIMIT,     /* memory, time, depth */
  MACHINE_CAUSE_DEVICE     /* the back end failed */
};
struct machine_failure {
  enum machine_cause cause;
  size_t instruction; /* bytes of the diagnostic's message that name the instruction */
  uint16_t op;        /* OPERATION: enum opcode of the instruction */
  const char *text;   /* ASSERT: its text, not NUL-terminated; it belongs to the program */
  uint32_t text_length;
  int64_t value, limit, position; /* ASSERT: its two INTs, and the position */
  bool memory;                    /* LIMIT: memory for vectors has run out */
  bool own_memory;                /* LIMIT: memory of the machine itself has run out */
  bool whole;   /* LIMIT: memory for a result of all instances has run out, when some had been
                   computed */
  bool stopped; /* LIMIT: the time is over */
  uint32_t origin; /* number of the instruction in the original program; 0 if it has none */
};
/* Returns the failure of the latest run; valid as long as its program. */
const struct machine_failure *machine_failure(const struct machine *);

/* Returns the sums of all runs so far if the machine collects a profile; else all 0. */
struct machine_totals machine_totals(const struct machine *);

/* Returns the state of RAND with which a run would begin now: the key, and the number of the
 * next RAND. */
void machine_random(const struct machine *, uint64_t *seed, uint64_t *number);
/* Sets that state for the next run. */
void machine_set_random(struct machine *, uint64_t seed, uint64_t number);
/* Changes options.max_depth for later runs. */
void machine_set_depth(struct machine *, uint64_t max_depth);

/* Draws the status line of options.progress_fd if the machine runs and the line is due. The
 * machine calls it between instructions. During long ones the progress function of
 * options.stop may call it, on the same thread. */
void machine_show_progress(struct machine *);

/* Begins a new profile, in which earlier runs do not count. */
void machine_profile_begin(struct machine *);
/* Prints the profile of all runs so far: a table, or JSON. It counts as vcode.md, 21.8, says.
 */
void machine_profile(const struct machine *, FILE *, bool json);

#endif
