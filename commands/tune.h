/* tune.h - vinterp --tune: runs a program with one tuning value after the other, prints what
 * that takes, and keeps what is best (tuned.h) for later runs.
 */
#ifndef RAVEL_TUNE_H
#define RAVEL_TUNE_H

#include "commands/options.h"
#include "commands/tuned.h"

/* What is tuned. The machine options are complete, but for tuning. */
struct tune_task {
  struct program *program;
  const struct command_options *options;
  const struct machine_options *machine;
  const struct machine_item *items; /* its arguments */
  uint64_t item_count;
  struct tuned_program identity; /* what the outcome is kept for */
};

/* What the values of a program are kept for: its text and widths, whether it is optimised, and
 * the size of its arguments and of standard input, if it reads that and knows its size. */
struct tuned_program tune_identity(const struct program *, const struct command_options *,
                                   const struct machine_item *, uint64_t item_count);

/* Prints to standard output. The exit status; diagnostics are the program's. */
int tune(const struct tune_task *);

#endif
