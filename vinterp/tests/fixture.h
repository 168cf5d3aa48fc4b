/* fixture.h - running programs from strings and keeping what they say. */
#ifndef RAVEL_VINTERP_FIXTURE_H
#define RAVEL_VINTERP_FIXTURE_H

#include "vinterp/machine.h"

/* What came of loading and running a program. */
struct ran {
  bool loaded;                  /* parsed and built without error */
  enum machine_outcome outcome; /* if loaded */
  char *out, *err;              /* what the program wrote; never NULL */
  char *diags;                  /* the diagnostics as a user sees them; never NULL */
  size_t errors;                /* diagnostics of severity error */
  uint64_t load_allocations;    /* of the heap, while loading */
  bool leaked;                  /* the loading heap or the machine kept something */
};

/* The options tests start from: oracle back end, two threads, 1 GiB. */
struct machine_options test_options(void);

/* Parses, builds and runs text as "test.vcode", with an empty standard input. */
struct ran run_text(const char *text, struct machine_options);
/* The same; the load_failure-th allocation of loading fails (0: none), and `input` is what READ
 * sees. */
struct ran run_with(const char *text, const char *input, struct machine_options,
                    uint64_t load_failure);
/* The same as run_text, but what runs is read back from the text form of the let-form: typed
 * functions then have no stack code. */
struct ran run_let_form(const char *text, struct machine_options);
/* The same of a program that is written in the text form of the let-form, without positions:
 * each is then the line, column 1. */
struct ran run_let_text(const char *text, struct machine_options);
void ran_free(struct ran *);

/* Whether the program printed exactly this and nothing was complained of. */
bool printed(const struct ran *, const char *expected);
/* The program prints exactly this, checked and unchecked. */
void expect_printed(const char *text, const char *expected);
/* Parses and builds text as "test.vcode". */
struct ir_program *program_of(struct arena *, const char *text, struct widths,
                              struct diag_list *);
/* The same; the entry is its last function, since MAIN itself is not allowed to
 * take anything. */
struct ir_program *program_of_last(struct arena *, const char *text, struct widths,
                                   struct diag_list *);
/* Whether it ended in one error that contains each of the texts in this order, and printed
 * nothing. */
bool failed_with(const struct ran *, const char *const *texts);

/* Of runs in each of which another allocation fails. */
struct outcomes {
  unsigned done, failed;
};
/* Counts a run: it has so many results, or none for it ran into a limit. */
void count_outcome(struct outcomes *, enum machine_outcome, const struct machine_results *,
                   uint64_t count, const struct machine *, const struct diag_list *);

#endif
