/* nesl-trials.h - an instance of a property while it is tried: shared by nesl-trials.c, which
 * runs it, and nesl-report.c, which prints what fails.
 */
#ifndef RAVEL_NESL_TRIALS_H
#define RAVEL_NESL_TRIALS_H

#include "commands/nesl-property.h"

/* An instance that is tried, and the memory for it. */
struct trying {
  struct nesl *n;
  const struct instance *in;
  struct random_bits bits;
  struct arena keep;   /* of the case that fails */
  struct arena values; /* of a round */
  uint64_t number;     /* of the lifted form, whose compiled program is kept */
  uint32_t line;       /* of the property */
  uint64_t cases, size;
  uint64_t tried, runs; /* of simpler cases */
  bool prints;          /* the message of a fault is printed */
  bool ran;             /* the latest run was no fault */
  bool exhausted;       /* a run lacked memory, which was reported */
  bool simplifies;      /* runs are of simpler cases: only the last of them is of interest */
  bool together;        /* some cases failed at once, and none of them by itself */
};

/* The cases of a round, and their verdicts. */
struct trial_round {
  struct random_datum *cases;
  enum verdict *verdicts;
  size_t count;
};

/* ---- runs ---- */

/* Executes one of the instance's forms, with these cases as the argument; returns false if it
 * fails. */
bool trial_run(struct trying *, const struct source *form, const struct random_datum *,
               size_t count);
/* Tries the case alone. */
enum verdict trial_alone(struct trying *, const struct random_datum *);
/* Tries cases from .. end - 1 at once; returns false if there is a fault. */
bool trial_at_once(struct trying *, struct trial_round *, size_t from, size_t end);
bool trial_failed(enum verdict);

/* ---- reports, to standard output ---- */

/* Reports that the law does not hold for the case, which was made simpler in so many steps,
 * unless that ended early. */
void report_failure(struct trying *, const struct random_datum *, uint64_t number,
                    unsigned steps, bool ended);
/* Reports that the case has another verdict alone than among others. */
void report_difference(struct trying *, const struct random_datum *, enum verdict lifted,
                       enum verdict flat);
/* Reports that cases fail at once, and none of them alone. */
void report_together(struct trying *, struct trial_round *);
/* Reports that too few of the drawn cases satisfy the condition. */
void report_too_few(const struct trying *, uint64_t held, uint64_t drawn);

#endif
