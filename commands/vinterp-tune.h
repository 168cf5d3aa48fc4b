/* vinterp-tune.h - what vinterp --tune runs, and what its outcome is kept for.
 */
#ifndef RAVEL_VINTERP_TUNE_H
#define RAVEL_VINTERP_TUNE_H

#include "commands/tuned.h"
#include "commands/vinterp-options.h"

/* A loaded program with its arguments. The machine options are complete, but for tuning. */
struct vinterp_task {
  struct program *program;
  const struct command_options *options;
  const struct machine_options *machine;
  const struct machine_item *items;
  uint64_t item_count;
};

/* Returns the identity that tuned values of a program are kept for: its text and widths,
 * whether it is optimised, and the size of its arguments and of standard input, if it reads
 * that and knows its size. */
struct tuned_program vinterp_identity(const struct vinterp_task *);

/* The exit status; diagnostics are the program's. */
int vinterp_tune(const struct vinterp_task *, const struct tuned_program *);

#endif
