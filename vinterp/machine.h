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

/* Tuning values (cvl/tuning.h), and what the profile says of where they are from. */
struct machine_tuned {
  const struct tuning *values;
  const char *from;
};

/* Who knows them: asked for a back end that is about to be opened. NULL, and if it returns
 * NULL: the defaults. */
struct machine_tuning {
  const struct machine_tuned *(*of)(void *with, const struct cvl_backend *,
                                    const struct machine_options *);
  void *with;
};

/* How batch calls are cut (docs/internals/memory.md). Results do not depend on it. */
enum machine_chunks_mode {
  MACHINE_CHUNKS_AUTO,  /* as memory and time want it */
  MACHINE_CHUNKS_OFF,   /* not at all */
  MACHINE_CHUNKS_FIXED, /* into chunks of n instances; those of n at most are not cut */
  MACHINE_CHUNKS_RANDOM /* tests: into chunks of random sizes, n being the seed */
};
struct machine_chunks {
  enum machine_chunks_mode mode;
  uint64_t n;
};

struct machine_options {
  struct widths widths;
  const struct cvl_backend *backend;
  unsigned threads;      /* 0: all */
  int device;            /* -1: any */
  bool opens_late;       /* as in cvl_options */
  uint64_t memory_limit; /* bytes, machine and vectors together; 0: machine_default_memory(),
                            and on a device all that it has */
  struct machine_chunks chunks;   /* batch calls */
  uint64_t max_depth;             /* of calls; 0: 1,000,000 */
  uint64_t seed;                  /* of RAND */
  struct permissions permissions; /* of the program */
  bool profile;                   /* collect what machine_profile prints */
  bool undisturbed; /* with it: only the sums of the run, since it means waiting to know what
                       each instruction took */
  enum cvl_compile compile; /* these three: as in cvl_options */
  bool compile_waits;
  const char *compile_directory;
  const char *kernels;     /* file of compiled ones: cvl_options.kernels; or NULL */
  FILE *trace;             /* gets what was executed when, as Chrome trace events; NULL: no */
  bool checked;            /* run everything on the stack interpreter (the tests' oracle), if
                              every function has stack code */
  int progress_fd;         /* -1, or a terminal that gets a status line on long runs */
  double progress_seconds; /* how long a run takes until then; 0: one second */
  FILE *out, *err;         /* results; what WRITE writes. Streams 1 and 2 of the program */
  FILE *in;                /* stream 0 */
  const char *const *arguments; /* of the program, for FOPEN in mode STREAM_ARGUMENTS */
  size_t argument_count;
  bool arguments_unknown;   /* now, because a program is compiled: that mode fails */
  const struct stop *stop;  /* asks runs to end, and their results to be printed no further; the
                               caller's, who begins its limit of time; or NULL */
  uint64_t fail_allocation; /* tests: the n-th allocation of the run fails; 0: none */
  struct cvl_speaker say;   /* as in cvl_options */
  struct machine_tuning tuning;
};

struct machine;

enum machine_outcome {
  MACHINE_DONE,       /* results printed */
  MACHINE_EXIT,       /* EXIT executed */
  MACHINE_ERROR,      /* a diagnostic was added */
  MACHINE_INTERRUPTED /* a signal asked for it; a diagnostic was added */
};

/* Default options: 64/64 widths, no permissions, the process's own streams. */
struct machine_options machine_default_options(void);
/* 80 % of the smaller of the machine's memory and the control group's limit. */
uint64_t machine_default_memory(void);
/* The options' memory limit, or that. */
uint64_t machine_memory(const struct machine_options *);

/* Makes a machine; NULL with a diagnostic if memory or the back end is not to be had. */
struct machine *machine_new(const struct machine_options *, struct diag_list *);
void machine_free(struct machine *);
const struct cvl_backend *machine_backend(const struct machine *);

/* Runs the entry function of a built program on an empty stack and prints what it leaves.
 * Everything the program wrote is flushed when this returns. A run-time error adds one
 * diagnostic: where, what, which values, and the call trace as notes. `out` got either the
 * whole result or nothing of it, unless it was asked to end while it wrote that. May be called
 * again. */
enum machine_outcome machine_run(struct machine *, const struct ir_program *,
                                 struct diag_list *);

/* ---- values in and out, without text ---- */

enum machine_item_kind { MACHINE_INT, MACHINE_FLOAT, MACHINE_BOOL, MACHINE_SEGDES };

/* One item of the stack in host memory; elements are 64 bits wide whatever the widths. */
struct machine_item {
  uint8_t kind; /* enum machine_item_kind */
  bool lent;    /* of an argument: elements that stay as they are until the call of the
                   machine returns, which then need not be copied. Of a result: the memory of a
                   consumer, whose owner ends it, or of an argument that was lent */
  uint64_t length;
  union {
    const int64_t *ints; /* INT; SEGDES: the lengths of its segments */
    const double *floats;
    const uint8_t *bools; /* 0 or 1 */
  } as;
  bool equal; /* of a result, SEGDES: all lengths are the one that is there */
};

/* Where elements of results go while the program still computes others, so that all of them are
 * never in memory. A vector of a result is given to it if it comes directly from a batch call
 * that is cut into chunks (docs/internals/memory.md): `with` is the consumer's owner, `result`
 * the number of the result on the stack, deepest first. Functions are called on the thread of
 * the machine; one that fails writes a sentence, and the run ends with it. A request to stop is
 * theirs to look at when they take long. Results of machine_repeat that are lengths of segments
 * come when the program has ended, as CVL_I64, if there is `wants`. */
enum { MACHINE_CONSUMER_PROBLEM = FILE_PROBLEM_MAX };
struct machine_consumer {
  /* Whether it takes elements of this type, which are as wide as in the machine. */
  bool (*takes)(void *with, uint64_t result, enum cvl_elem);
  /* Gets elements first .. first + n of so many, MACHINE_CONSUMER_UNKNOWN while that is not
   * known. They come in order, but may come once more, from any that came before on. */
  bool (*put)(void *with, uint64_t result, uint64_t first, uint64_t n, uint64_t total,
              const void *elements, char problem[MACHINE_CONSUMER_PROBLEM]);
  /* All n have come: where they are, to be read until the results are freed. NULL: a problem.
   */
  const void *(*whole)(void *with, uint64_t result, uint64_t n,
                       char problem[MACHINE_CONSUMER_PROBLEM]);
  void *with;
  /* Whether a result of so many bytes, exactly or by the size of the operands, is one for it:
   * asked before `takes`. NULL: all are. */
  bool (*wants)(void *with, uint64_t bytes);
  /* For consumers of machine_call: called when nothing reads what `whole` gave any more, at any
   * time until machine_free; and the vector that is on it. NULL: its owner knows. */
  struct cvl_notice (*end)(void *with, uint64_t result);
  void (*made)(void *with, uint64_t result, const struct cvl_value *vector);
};
#define MACHINE_CONSUMER_UNKNOWN UINT64_MAX

/* Where processes that run a program together (processes.h) write results, each its own
 * elements, so that none has all of them. Called on the thread of the machine when the program
 * has ended; `begin` and `end` by all processes, which may then call machine_broadcast and
 * machine_from_first. */
struct machine_own_consumer {
  /* Whether it takes a result of n elements: all processes say the same. */
  bool (*begin)(void *with, struct machine *, uint64_t result, enum machine_item_kind,
                uint64_t n);
  /* Gets elements first .. first + n, as wide as in an item, in order: those of this process.
   * False: it wants no more. */
  bool (*put)(void *with, uint64_t result, uint64_t first, uint64_t n, const void *elements);
  void (*end)(void *with, struct machine *, uint64_t result);
  /* Whether lengths of segments need not be brought to all processes if all of them are equal:
   * all say the same. */
  bool (*wants_equal)(void *with, uint64_t result);
  void *with;
};

/* The functions of processes.h, of a machine whose back end has them. */
bool machine_is_first(struct machine *);
void machine_broadcast(struct machine *, void *data, uint64_t bytes);
bool machine_from_first(struct machine *, bool mine, void *data, uint64_t bytes);

/* What an evaluation left on the stack, deepest first. The machine's memory, until
 * machine_results_free, which must come before machine_free. Where the back end lends elements,
 * and they are 64 bits wide in it, they are there and not copied. */
struct machine_results {
  struct machine_item *items;
  struct cvl_export *exports; /* of each item; without a function to end it: none */
  uint64_t count;
};

void machine_results_free(struct machine *, struct machine_results *);

/* RAND of the runs to come begins where that of the last run, which ended in MACHINE_DONE, has
 * ended, and not with options.seed: for one who asks for one thing after the other. */
void machine_keep_random(struct machine *);

/* ---- programs that are prepared once and called often ---- */

/* A program lowered for a machine, with the constants and superoperators that are made for it.
 * Any number of them may be prepared in one machine; their calls take turns. */
struct machine_program;

/* Lowers a program and prepares its superoperators. The program must outlive it. NULL with a
 * diagnostic: no memory, or options.stop asked for an end. */
struct machine_program *machine_prepare(struct machine *, const struct ir_program *,
                                        struct diag_list *);
/* Frees it; before machine_free. NULL is ignored. Values that its calls gave stay. */
void machine_forget(struct machine *, struct machine_program *);

/* Runs the entry function on values of the machine's back end. Arguments are borrowed, but
 * where `owned` is set the reference passes to the call, in every case, so that the memory can
 * be reused. On MACHINE_DONE results[0..result_count), deepest first, are values that belong to
 * the caller (machine_release), and no work and no fault is deferred; in every other case they
 * are not set. Another number of results and pairs among them are errors. RAND goes on where
 * the last call that ended in MACHINE_DONE has ended; the first begins with options.seed. */
enum machine_outcome machine_call(struct machine *, struct machine_program *,
                                  const struct cvl_value *arguments, uint64_t argument_count,
                                  struct cvl_value *results, uint64_t result_count,
                                  struct diag_list *);

/* Where results of calls go from now on, as far as the consumer takes them; NULL: to memory, as
 * at first. It is borrowed. */
void machine_use_consumer(struct machine *, const struct machine_consumer *);

/* Values outside of calls: the caller's, until machine_release, before machine_free. Functions
 * that return bool add a diagnostic when it is false (machine_failure says why; options.stop
 * may end copies, too); nothing is set then. */

/* A value with the item's elements, copied and converted to the widths of the machine; what is
 * an error in machine_repeat is one here. */
bool machine_value_item(struct machine *, const struct machine_item *, struct cvl_value *out,
                        struct diag_list *);
/* A vector of n elements that are as wide as in the machine: of options.widths, or CVL_BOOL,
 * bytes 0 and 1. Copied. */
bool machine_value_vector(struct machine *, enum cvl_elem, const void *data, uint64_t n,
                          struct cvl_value *out, struct diag_list *);
/* The same without a copy, where the back end can read them where they are: they stay as they
 * are until done.call is called, by this function or by another one of the machine, on its
 * caller's thread. That happens once, also after an error. */
bool machine_value_import(struct machine *, enum cvl_elem, const void *data, uint64_t n,
                          struct cvl_notice done, struct cvl_value *out, struct diag_list *);
/* The same of elements that a filler makes (sharing.h), by many threads where that pays. */
bool machine_value_generate(struct machine *, enum cvl_elem, uint64_t n,
                            const struct cvl_filler *, struct cvl_value *out,
                            struct diag_list *);
/* A descriptor of n segments from the offsets that a filler makes, as sharing.h says. */
bool machine_value_segdes(struct machine *, uint64_t n, const struct cvl_filler *,
                          struct cvl_value *out, struct diag_list *);
/* The elements of a vector where they are, until exported->end is called: by any thread,
 * perhaps after machine_free. False, without a diagnostic, if they have to be copied. */
bool machine_value_export(struct machine *, const struct cvl_value *, struct cvl_export *);
/* Where the back end has its vectors on a device: the number by which others of the process
 * know it. Else false. */
bool machine_device(struct machine *, int32_t *number);
/* The same as machine_value_vector of elements in memory of that device. */
bool machine_value_from_device(struct machine *, enum cvl_elem, const void *data, uint64_t n,
                               struct cvl_value *out, struct diag_list *);
/* Copies such memory to the host's. */
bool machine_read_device(struct machine *, const void *data, uint64_t bytes, void *to,
                         struct diag_list *);
/* A copy of the n elements of a vector for others, in memory of the device, until exported->end
 * is called: by any thread, perhaps after machine_free. */
bool machine_value_to_device(struct machine *, const struct cvl_value *, uint64_t n,
                             struct cvl_export *, struct diag_list *);
/* The lengths of a descriptor as a vector of INT. */
bool machine_value_lengths(struct machine *, const struct cvl_value *segdes,
                           struct cvl_value *out, struct diag_list *);
/* Elements of a vector, segments of a descriptor. */
bool machine_value_count(struct machine *, const struct cvl_value *, uint64_t *n,
                         struct diag_list *);
/* Elements of a vector; of a descriptor the sum of its lengths. */
bool machine_value_total(struct machine *, const struct cvl_value *, uint64_t *n,
                         struct diag_list *);
/* Copies elements first .. first + n, which must exist, to host memory, in the width of the
 * machine (value->elem); of a descriptor its lengths, as int64_t. */
bool machine_value_copy(struct machine *, const struct cvl_value *, uint64_t first, uint64_t n,
                        void *data, struct diag_list *);
/* Counts one more reference; gives one up, and leaves *value without a value. */
void machine_retain(struct machine *, const struct cvl_value *);
void machine_release(struct machine *, struct cvl_value *);

/* Of vectors and descriptors in the back end: live and peak bytes, among others. */
struct cvl_statistics machine_statistics(const struct machine *);

/* ---- the same program again and again, for measuring ---- */

struct machine_repetition {
  uint64_t runs;                 /* to be timed; 0: one run, which is not */
  bool counts;                   /* fill in `totals`, by an untimed run behind the first, */
  bool uncut;                    /* whose batch calls are not cut: then they depend on
                                    neither threads nor memory */
  void (*loaded)(void *context); /* called once, when the arguments are in the back end and
                                    their memory is not needed any more; or NULL */
  void *context;
  const struct machine_consumer
      *consumer; /* of the results, where nothing is repeated; or NULL. A
            result that it has is `lent`, where `whole` said */
  const struct machine_own_consumer
      *own;        /* likewise; what it has taken is `lent`, and nowhere */
  double *seconds; /* gets the time of each timed run, from arguments to results, both in the
                      back end, which has done everything then. The caller's */
  double first_seconds; /* the time of the run that warms up: superoperators are prepared,
                           memory is new */
  struct machine_totals {
    uint64_t instructions, work, steps; /* as vcode.md, 21.8, counts them */
    double seconds;                     /* elapsed in runs */
  } totals;                             /* of one run */
  uint64_t launches, waits;             /* of a timed run: see cvl_statistics */
  uint64_t peak_bytes; /* of vectors in the back end, arguments included, since the machine was
                          made */
};

/* Like machine_run, on a stack of the items (`arguments` and what they point to are borrowed),
 * and what is left goes into *results instead of `out`; nothing unless MACHINE_DONE. An INT
 * that the widths cannot hold, a descriptor with a bad length, pairs on the stack are errors.
 *
 * Where `runs` is not 0, after a run that warms up there are so many timed ones, all on the
 * same arguments, which stay in the back end, and from the same state: RAND begins anew each
 * time. Superoperators are prepared once. What the program writes is written by the first run
 * only; *results are the last one's. A program that reads, opens files or starts processes may
 * go on differently the next time: that is an error, where it happens. Only after MACHINE_DONE
 * do the fields that are filled in mean anything. */
enum machine_outcome machine_repeat(struct machine *, const struct ir_program *,
                                    const struct machine_item *arguments,
                                    uint64_t argument_count, struct machine_repetition *,
                                    struct machine_results *results, struct diag_list *diags);

/* machine_run on a stack of the items, which are as for machine_repeat. */
enum machine_outcome machine_run_on(struct machine *, const struct ir_program *,
                                    const struct machine_item *arguments,
                                    uint64_t argument_count, struct diag_list *);

/* Why a run ended in MACHINE_ERROR, for callers that word it themselves. */
enum machine_cause {
  MACHINE_CAUSE_NONE,
  MACHINE_CAUSE_ASSERT,    /* an ASSERT of the program failed */
  MACHINE_CAUSE_OPERATION, /* an instruction did: index, divisor, sizes, I/O ... */
  MACHINE_CAUSE_LIMIT,     /* memory, time, depth */
  MACHINE_CAUSE_DEVICE     /* the back end broke */
};
struct machine_failure {
  enum machine_cause cause;
  size_t instruction; /* bytes of the diagnostic's message that name the instruction */
  uint16_t op;        /* OPERATION: enum opcode of the instruction */
  const char *text;   /* ASSERT: its text, not NUL-terminated; the program's */
  uint32_t text_length;
  int64_t value, limit, position; /* ASSERT: the two INTs, and where */
  bool memory;                    /* LIMIT: of the memory for vectors, */
  bool own_memory;                /* or of that for the machine itself; */
  bool whole;                     /* of memory for a result of all instances, some of which
                                     have been computed */
  bool stopped;                   /* LIMIT: of time */
  uint32_t origin; /* of the instruction: its number in the program's; 0 if it has none */
};
/* Of the latest run; valid as long as its program. */
const struct machine_failure *machine_failure(const struct machine *);

/* The sums of all runs so far, of a machine that collects a profile; else all 0. */
struct machine_totals machine_totals(const struct machine *);

/* Where RAND is: the key, and the number of the next one, of a run that began now. */
void machine_random(const struct machine *, uint64_t *seed, uint64_t *number);
/* Has it go on from there in the next run. */
void machine_set_random(struct machine *, uint64_t seed, uint64_t number);
/* Changes options.max_depth for later runs. */
void machine_set_depth(struct machine *, uint64_t max_depth);

/* Draws the status line of options.progress_fd if the machine runs and the line is due. The
 * machine does it between instructions; for long ones the progress of options.stop may, on the
 * same thread. */
void machine_show_progress(struct machine *);

/* Begins a new profile: runs before now no longer count. */
void machine_profile_begin(struct machine *);
/* The profile of all runs so far: a table for people, or JSON. Counts as vcode.md, 21.8. */
void machine_profile(const struct machine *, FILE *, bool json);

#endif
