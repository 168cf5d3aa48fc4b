/* tune.h - --tune of vinterp and nesl: runs a program with one tuning value after the other,
 * prints what that takes, and keeps what is best (tuned.h) for later runs.
 */
#ifndef RAVEL_TUNE_H
#define RAVEL_TUNE_H

#include "commands/tuned.h"

/* A run that is tuned. */
struct tune_task {
  const char *command, *program; /* "vinterp"; the name of the program, for messages */
  double seconds;                /* of the search */
  bool reads_input;              /* standard input, which every run gets anew */
  struct tuned_program identity; /* what the outcome is kept for */
  /* Complete, but for tuning and for what a run reads and writes. */
  const struct machine_options *machine;
  struct diag_list *diags;
  /* Runs the program on a machine with these options; the seconds that the machine took, or a
   * negative number after a failure, which has been reported or is in diags. */
  double (*run)(void *with, const struct machine_options *);
  void *with;
};

/* Returns how many bytes of standard input are left to read if it is a regular file; else 0. */
uint64_t tune_input_bytes(void);

/* Prints to standard output. The exit status. */
int tune(const struct tune_task *);

#endif
