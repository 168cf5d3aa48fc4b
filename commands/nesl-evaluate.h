/* nesl-evaluate.h - evaluators of checked forms: one compiles them and runs them on a machine,
 * one interprets them directly. The rest of the command uses evaluators through this file only.
 */
#ifndef RAVEL_NESL_EVALUATE_H
#define RAVEL_NESL_EVALUATE_H

#include "commands/nesl-options.h"
#include "neslc/failure.h"
#include "neslc/reference/direct.h"
#include "neslc/session.h"

/* A repeated evaluation: `machine` has the number of runs, and gets their times. */
struct measurement {
  struct machine_repetition machine;
  double compile_seconds;
  double load_seconds; /* to read or evaluate arguments and transfer them to the back end */
  const char *backend; /* its name */
  unsigned threads;    /* of it; 0: a device */
};

/* A form to be evaluated, with its arguments. */
struct evaluation {
  struct session *session;
  const struct checked *form;
  struct complaints *complaints;
  /* Variables whose values the machine gets as arguments, if the program is compiled; `loaded`
   * is called when it has them. */
  struct global *const *parameters;
  uint32_t parameter_count;
  void (*loaded)(void *context); /* or NULL */
  /* Returns whether the elements of such a value stay where they are even then, until
   * `release`; or NULL. */
  bool (*stays)(void *context, const void *elements);
  void *context;
  /* Not 0: this form is evaluated repeatedly with other values of its parameters. Its compiled
   * program is kept until one with another number is; what it calls must stay defined. */
  uint64_t repeated;
  const struct machine_consumer *consumer; /* of the results, if it is compiled; or NULL */
  const struct machine_own_consumer *own;  /* likewise */
  bool large; /* arguments are mapped: then results shall not need memory */
  struct measurement *measurement; /* or NULL: evaluated once; compiled programs only */
};

struct evaluator {
  /* Evaluates the value of the form. Returns false after complaining. The value's columns are
   * the evaluator's until `release`, which must follow (after a jump for memory, too). */
  bool (*evaluate)(struct evaluator *, const struct evaluation *, struct nesl_value *);
  void (*release)(struct evaluator *);
  void (*close)(struct evaluator *);
  void (*progress)(struct evaluator *); /* draws the status line of a long run; or NULL */
  double seconds;                       /* that the machine took for all evaluations so far */
};

/* Both make evaluators that write the output of the program to options->machine.out. They
 * return NULL with diagnostics without memory or if the back end is not available. The compiler
 * allocates from the heap, which is borrowed. */
struct evaluator *evaluator_compiled(const struct nesl_options *, struct heap *,
                                     struct diag_list *);
struct evaluator *evaluator_direct(const struct nesl_options *, struct diag_list *);

/* Returns work and depth of the direct evaluator's latest evaluation, or the sums over all runs
 * of the compiled one so far, if machine.profile is set. */
struct direct_cost evaluator_cost(const struct evaluator *direct);
/* The direct evaluator reports calls to this trace from now on. */
void evaluator_trace(struct evaluator *direct, const struct direct_trace *);
struct machine_totals evaluator_totals(const struct evaluator *compiled);
/* Prints the profile of all runs so far. */
void evaluator_profile(const struct evaluator *compiled, FILE *);

#endif
