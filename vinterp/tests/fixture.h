/* fixture.h - functions that run programs from strings and keep their output. */
#ifndef RAVEL_VINTERP_FIXTURE_H
#define RAVEL_VINTERP_FIXTURE_H

#include "vinterp/machine.h"

/* The outcome of loading and running a program. */
struct ran {
  bool loaded;                  /* parsed and built without error */
  enum machine_outcome outcome; /* set if loaded */
  char *out, *err;              /* the output of the program; never NULL */
  char *diags;                  /* the diagnostics as a user sees them; never NULL */
  size_t errors;                /* number of diagnostics of severity error */
  uint64_t load_allocations;    /* allocations of the heap during loading */
  bool leaked;                  /* the loading heap or the machine kept something */
};

/* Returns the options that tests start from: oracle back end, two threads, 1 GiB. */
struct machine_options test_options(void);

/* Parses, builds and runs text as "test.vcode", with an empty standard input. */
struct ran run_text(const char *text, struct machine_options);
/* Does the same, with `input` as standard input. The load_failure-th allocation of loading
 * fails (0: none). */
struct ran run_with(const char *text, const char *input, struct machine_options,
                    uint64_t load_failure);
/* Does what run_text does, with the program written as text of the let-form and read back.
 * Typed functions then have no stack code. */
struct ran run_let_form(const char *text, struct machine_options);
/* Runs a program that is written as text of the let-form, without positions. Each binding gets
 * its line, and column 1. */
struct ran run_let_text(const char *text, struct machine_options);
void ran_free(struct ran *);

/* Returns whether the program printed exactly this, without diagnostics. */
bool printed(const struct ran *, const char *expected);
/* Expects that the program prints exactly this, checked and unchecked. */
void expect_printed(const char *text, const char *expected);
/* Parses and builds text as "test.vcode". */
struct ir_program *program_of(struct arena *, const char *text, struct widths,
                              struct diag_list *);
/* Does the same; the entry is the last function, since MAIN may not have parameters. */
struct ir_program *program_of_last(struct arena *, const char *text, struct widths,
                                   struct diag_list *);
/* Reads text of the let-form, as run_let_text does. */
struct ir_program *program_of_let(struct arena *, const char *text, struct diag_list *);
/* Returns whether the run ended in one error that contains the texts in this order, and
 * printed nothing. */
bool failed_with(const struct ran *, const char *const *texts);

/* Counts of runs in which different allocations fail. */
struct outcomes {
  unsigned done, failed;
};
/* Counts a run, which must have so many results, or none after it ran into a limit. */
void count_outcome(struct outcomes *, enum machine_outcome, const struct machine_results *,
                   uint64_t count, const struct machine *, const struct diag_list *);

#endif
