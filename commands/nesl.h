/* nesl.h - shared by the files of the command nesl: the state of a session.
 *
 *   nesl.c             options, files, modes
 *   nesl-session.c     begins and ends a session
 *   nesl-forms.c       reads and evaluates forms, prints their results
 *   nesl-commands.c    help, describe, set, load ... (NESL specification, section 4.4)
 *   nesl-describe.c    what describe prints; nesl-syntax.def: of syntax
 *   nesl-import.c      import, and where the files are that forms name
 *   nesl-prompt.c      lines from a terminal: history, editing, completion
 *   nesl-outcomes.c    --outcomes and test
 *   nesl-property.h    lists the files that try properties, for test
 *   nesl-cost.c        cost
 *   nesl-observe.c     cost, profile, time, trace at the prompt
 *   nesl-entry.c       --entry: a call, and its arguments as values
 *   nesl-measure.c     --repeat and --times: the measurements of a repeated evaluation
 *   nesl-arrays.c      NumPy and CSV files: their types, arguments and results in them
 *   nesl-mapped.c        arguments that are mapped
 *   nesl-stream.c      results that go to files while the program runs
 *   nesl-ranks.c       results that the ranks of a job write together
 *   nesl-tune.c        --tune, and what tuning values are kept for
 *   nesl-compiled.c, nesl-direct.c    the two ways to evaluate (nesl-evaluate.h)
 */
#ifndef RAVEL_NESL_H
#define RAVEL_NESL_H

#include "base/find-source.h"
#include "base/text.h"
#include "commands/nesl-evaluate.h"
#include "commands/source.h"
#include "neslc/front/syntax.h"

struct nesl {
  const struct nesl_options *options;
  struct heap heap;
  struct arena arena; /* of the session */
  struct heap message_heap;
  struct arena messages; /* of the complaints about one form */
  struct diag_list diags;
  struct complaints complaints;
  struct session *session;
  struct evaluator *evaluator;
  struct arena arguments;     /* values for the call of --entry, until the machine has them */
  struct global **parameters; /* their variables; of a property, that of its cases */
  uint32_t parameter_count;
  struct nesl_mapped *mapped; /* files that such values are in, to the end: nesl-mapped.c */
  struct nesl_stream *stream; /* results of the call that go to files at once, or NULL */
  struct nesl_ranks *ranks;   /* results that ranks write together, or NULL */
  bool written;               /* the results of the call are in their files */
  uint64_t repeated;          /* of the form that is executed: nesl-evaluate.h */
  uint64_t numbered;          /* forms that had such a number so far */
  double load_seconds;        /* spent on reading and evaluating them */
  double run_seconds;         /* at the end: that the machine took, with --entry for the call */
  bool is_call;               /* the form that is read now is this call */
  bool measures;       /* expressions are evaluated repeatedly, and their times printed */
  FILE *out;           /* results, and what programs print */
  struct text capture; /* with --outcomes and test: what `out` writes to, for one form */
  struct heap capture_heap;
  uint64_t print_length, print_total; /* as in the options; `set` changes them */
  bool verbose;
  bool silent; /* no notices and no output of commands */
  bool shows;  /* the form that is executed: its result is printed */
  enum nesl_extent { EVALUATE_NOTHING, EVALUATE_ASSIGNMENTS, EVALUATE_ALL } extent;
  struct stop *stop;    /* asks forms to end: process.h */
  bool limits_forms;    /* --time is for each form of the session, not for all */
  bool leave;           /* exit was read */
  struct nesl_reading { /* the forms that are executed now */
    bool typed;         /* by the user, at a terminal or on the command line */
    bool prompt;        /* at the prompt, one after another */
    const char *file;   /* they are read from, or NULL */
  } reading;
  bool interrupted;           /* a form was, by a signal */
  bool unwinding;             /* so are the loads around it; the reason has been reported */
  bool warned;                /* although the form succeeded */
  char *last_loaded;          /* malloc */
  unsigned load_depth, loads; /* files that load each other, and all loaded by a form */
};

/* ---- a session ---- */

/* Initialises *n, whose arena of messages is ready. Sets out, widths and stop in the options'
 * `machine`. Returns false with diagnostics. */
bool nesl_begin(struct nesl *n, struct nesl_options *, FILE *out, struct stop *);
/* Frees everything; not `out`. */
void nesl_end(struct nesl *);

/* ---- forms ---- */

/* The outcome of a form. */
struct nesl_outcome {
  enum nesl_error error;
  const char *result; /* "name = VALUE : TYPE"; NULL for a command */
  struct text text;   /* holds it */
};

/* Executes a form. Commands print to n->out. If memory runs out, that is a complaint like
 * others, and the session is as before the form. Release with nesl_outcome_free. */
struct nesl_outcome nesl_execute(struct nesl *, const struct form *);
void nesl_outcome_free(struct nesl_outcome *);
/* How values are printed. */
struct value_layout nesl_layout(const struct nesl *);
/* After a failure: if the form was asked to stop (stop.h), this is the only complaint. */
void nesl_settle(struct nesl *, const struct source *, struct span at);
/* Begins complaints about another form. */
void nesl_forget(struct nesl *);
/* Complains that memory ran out. */
void nesl_complain_of_memory(struct nesl *);
/* Prints the complaints to standard error. */
void nesl_complain(struct nesl *);

/* A form that was read and executed, or could not be read: then `form` is NULL. */
struct nesl_done {
  const struct form *form;
  struct span behind; /* from the end of the form to the end of the source */
  struct nesl_outcome outcome;
};
/* Executes the forms of a source and calls `done` after each; stops when it returns false.
 * If the text ends within a form and `more` is not NULL, *more is the position where that form
 * begins, and there is no complaint. */
typedef bool nesl_visit(struct nesl *, void *context, const struct nesl_done *);
void nesl_each_form(struct nesl *, const struct source *, nesl_visit *done, void *context,
                    uint32_t *more);

/* Executes the forms of a source and prints results; returns the number of forms that failed.
 */
unsigned nesl_run_source(struct nesl *, const struct source *);
/* Prints the outcome of a form: a nesl_visit whose context counts failures (unsigned). */
bool nesl_print_done(struct nesl *, void *failed, const struct nesl_done *);
/* Reads a file that the user named as a source; returns NULL after complaining. */
const struct source *nesl_read_file(struct nesl *, const char *file);
/* Finds a file that a form names, relative to the file that has the form, the current
 * directory or a folder of NESL_PATH. `typed`: the user wrote the name itself; otherwise a
 * program did, and without permission for files it may name sources in these directories, and
 * below. False after complaining. nesl-import.c */
bool nesl_find_file(struct nesl *, const struct form *, const char *name, bool typed,
                    struct source_found *);
/* Reads a file that was found; returns NULL after complaining. */
const struct source *nesl_load_file(struct nesl *, const char *path, bool typed);
/* Executes import "file" as m; returns false after complaining. nesl-import.c */
bool nesl_import(struct nesl *, const struct form *);
/* Counts a file that another loads; returns false after complaining if there are too many. The
 * complaint marks `at`. */
bool nesl_begin_load(struct nesl *, const struct form *, struct span at);
/* Complains of the forms that failed in such a file. Returns false. */
bool nesl_complain_of_load(struct nesl *, const struct form *, struct span at, unsigned failed,
                           const char *file);
/* Executes the forms of a file and prints results; returns the number of forms that failed. */
unsigned nesl_run_file(struct nesl *, const struct source *);
/* Makes a text a source of its own. */
const struct source *nesl_source(struct nesl *, const char *name, const char *text,
                                 size_t length, uint32_t first_line);
/* Makes a source of a text given on the command line, which needs no terminator. Both return
 * NULL after complaining. */
const struct source *nesl_typed_source(struct nesl *, const char *text);

/* Executes a command; returns false after complaining. */
bool nesl_command(struct nesl *, const struct form *);

struct nesl_syntax {
  const char *words, *form, *text;
};
/* Finds the meaning of a word or a symbol that is no function; NULL: none. nesl-describe.c */
const struct nesl_syntax *nesl_find_syntax(const char *word);
/* Prints what describe says of a function, syntax, or both; either may be NULL. */
void nesl_describe(struct nesl *, struct global *, const struct nesl_syntax *);
/* Prints the name and the type. */
void nesl_put_type(struct global *, FILE *);

/* ---- tuning ---- */

/* Sets the options' identity, if tuned values may be kept for this run: one of `run` or -e,
 * with sources in regular files, which can be read twice. nesl-tune.c */
void nesl_identify(struct nesl_options *);
/* Runs --tune and returns the exit status. `run` executes a session that prints to a stream,
 * and measures how long its machine took. */
typedef int nesl_session_run(struct nesl_options *, FILE *out, double *seconds);
int nesl_tune(struct nesl_options *, nesl_session_run *run);

/* ---- modes ---- */

/* Reads forms from standard input until it ends; returns the exit status. */
int nesl_prompt(struct nesl *);
/* Prints the outcome of each form; returns the exit status. */
int nesl_outcomes(struct nesl *, const struct source *);
/* Compares outcomes with comments, and tries properties (nesl-property.h). */
int nesl_test(struct nesl *, const struct source *);
/* Evaluates the expressions of a source directly and compiled; prints results and costs. */
int nesl_cost(struct nesl *, const struct source *);

/* ---- cost, profile, time, trace ---- */

/* Executes the command of this name, which evaluates an expression; returns false after
 * complaining. nesl-observe.c */
bool nesl_observe(struct nesl *, const char *command, const struct form *);
/* Executes a form with another evaluator, and prints its result or complaints. */
bool nesl_evaluate_with(struct nesl *, struct evaluator *, const struct form *, bool shows);
/* Prints the cost, with an evaluator that collects a profile. nesl-cost.c */
bool nesl_cost_of(struct nesl *, const struct form *, struct evaluator *profiled);

/* ---- arrays in files ---- */

/* This is the file_type of a session (session.h); its context is a struct nesl. */
struct type *nesl_type_of_file(void *context, const char *format, const char *settings,
                               const char *name, size_t length, const char **problem);
/* Returns whether the name ends in .npy, .npz or .csv. */
bool nesl_is_array_file(const char *);
/* Binds argument `index` (from 0) of `count` of a function to the value in a file. It has the
 * type of the parameter or, where that is open, of the file. Returns false after complaining.
 */
bool nesl_bind_argument(struct nesl *, const struct global *function, unsigned index,
                        unsigned count, const char *name, const char *file);
/* Makes the call of --entry with the arguments of the options a source; each array from a file
 * is bound to a name. Returns NULL after complaining. nesl-entry.c */
const struct source *nesl_entry_source(struct nesl *);
/* Evaluates the arguments of the checked call, and makes them `parameters`. Returns false after
 * complaining. */
bool nesl_take_arguments(struct nesl *, const struct checked *call);
/* Frees their values: the machine has them. The context is a struct nesl. */
void nesl_forget_arguments(void *context);

/* Writes the value of `it` into the files of the options. Returns false after complaining. */
bool nesl_write_results(struct nesl *);
/* Writes a value into the files of the options, with the columns that have been streamed; sets
 * `written`. */
bool nesl_write_value(struct nesl *, const struct nesl_value *);
/* Returns the type of component `index` of a tuple of `count`; NULL if there is none. */
struct type *nesl_component(struct type *tuple, unsigned index, unsigned count);
/* Finds how a file holds a value of this type; returns false with a problem if it cannot. */
bool nesl_type_in_file(struct nesl *, struct type *, const char *file, struct array_type *,
                       const char **problem);
/* Returns the format that the end of the name means. */
enum array_format nesl_array_format(const char *file);
/* Takes a mapped file that an argument is read from: it stays to the end. */
void nesl_map_file(struct nesl *, const char *file, const struct source_text *mapped);
/* Returns the spills for columns of the file with this text that are not as in the machine;
 * NULL: they go to memory.
 */
struct array_spills *nesl_mapped_spills(struct nesl *, const char *text);
/* Returns whether the elements of an argument are in such a file, or in a spill. The context is
 * a struct nesl. */
bool nesl_argument_stays(void *context, const void *elements);
/* Returns the bytes of all such files. */
uint64_t nesl_mapped_bytes(const struct nesl *);
/* Returns whether no other process has made one of them shorter; else complains. */
bool nesl_mapped_are_whole(struct nesl *);
/* Gives back the pages of these files that have been read: they need not stay in memory. */
void nesl_mapped_give_back(struct nesl *);
void nesl_mapped_end(struct nesl *);

/* Begins to stream the results of the call, of this type, into the files of the options.
 * Returns the consumer for its evaluation, or NULL if they cannot be streamed, which is found
 * out later. */
const struct machine_consumer *nesl_stream_begin(struct nesl *, struct type *);
/* Returns the file of an output that is open already: to be printed to its stream, and
 * finished. NULL: there is none. *complete: it has these elements, and only the header is
 * missing. */
struct replacement *nesl_stream_of(struct nesl *, unsigned output, const void *elements,
                                   bool *complete);
/* Ends such a file as replacement_end does. */
bool nesl_stream_finish(struct nesl *, unsigned output, struct file_problem *);
/* Where results are, for array_type.spills; or NULL. */
struct array_spills *nesl_stream_spills(struct nesl *);
/* Abandons all other files, and ends spills. The values of the evaluation are no longer used.
 */
void nesl_stream_end(struct nesl *);

/* Begins to stream the results where several ranks run the program. All ranks write the NumPy
 * files that have one column, each its own elements, when the program has ended. Returns NULL
 * if rank 0 writes all files. */
const struct machine_own_consumer *nesl_ranks_begin(struct nesl *, struct type *);
/* Returns whether the elements of an output are written so, or could not be. Then only the
 * header is missing: rank 0 prints it to the stream, which is NULL on other ranks and after a
 * failure. */
bool nesl_ranks_have(const struct nesl *, unsigned output, FILE **stream);
/* As replacement_end; false on all ranks if one could not write its elements. */
bool nesl_ranks_finish(struct nesl *, unsigned output, struct file_problem *);
/* Abandons all other files. */
void nesl_ranks_end(struct nesl *);

/* ---- repeated evaluations ---- */

/* Returns a measurement with the repetitions of the options. nesl-measure.c */
struct measurement nesl_measurement(struct nesl *);
/* Prints it to standard error, and writes it to the file of --times. False with a diagnostic.
 */
bool nesl_report(struct nesl *, const struct measurement *);

#endif
