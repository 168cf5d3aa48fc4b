/* nesl-options.h - describes the command line of nesl as data. */
#ifndef RAVEL_NESL_OPTIONS_H
#define RAVEL_NESL_OPTIONS_H

#include "commands/run-options.h"
#include "commands/shared-options.h"
#include "commands/tuned.h"

enum nesl_mode {
  NESL_PROMPT,     /* nesl, nesl FILE...: the files are loaded first */
  NESL_RUN,        /* nesl run FILE, nesl -e EXPR */
  NESL_CHECK,      /* nesl check FILE: nothing is evaluated */
  NESL_TEST,       /* nesl test FILE: outcomes are compared with comments */
  NESL_COST,       /* nesl cost EXPR FILE...: cost in the model and of the compiled program */
  NESL_OUTCOMES_OF /* nesl --outcomes FILE */
};

/* The results of forms that are printed, besides the output of the forms themselves. */
enum nesl_echo {
  NESL_ECHO_FORMS, /* every result, and what is defined */
  NESL_ECHO_VALUE, /* the value of the last expression */
  NESL_ECHO_NOTHING
};

enum {
  NESL_MOST_OPERANDS = 256,
  NESL_MOST_OUTPUTS = 16,
  NESL_MOST_SETTINGS = 64,
  NESL_MOST_RUNS = 1000000,
  NESL_MOST_CASES = 1000000
};

struct nesl_options {
  struct shared_options shared;
  enum nesl_mode mode;
  const char *operands[NESL_MOST_OPERANDS]; /* files; with --entry, arguments behind the file */
  unsigned operand_count;
  const char *expression, *entry;      /* or NULL */
  const char *csv[NESL_MOST_SETTINGS]; /* KEY=VALUE: settings of CSV files */
  unsigned csv_count;
  const char *outputs[NESL_MOST_OUTPUTS]; /* files for the components of the result */
  unsigned output_count;
  struct machine_options machine; /* widths and backend are not set */
  char permitting[256];           /* machine.permissions.permitting */
  double seconds;                 /* --time; 0: no limit */
  struct widths widths;
  const char *backend_name;
  enum nesl_echo echo;
  bool has_echo;         /* it was chosen */
  uint64_t print_length; /* longest sequence printed in full */
  uint64_t print_total;  /* elements printed over all levels; 0: no limit */
  unsigned digits;       /* of floats; 0: as many as are needed */
  uint64_t cases, size;  /* of properties; 0: not chosen */
  const char *only;      /* the property that is tried; NULL: all */
  bool *found;           /* set where a file has it; or NULL */
  uint64_t repeat;       /* timed runs; 0: expressions are evaluated once */
  const char *times;     /* file for the measurements, or NULL */
  enum native_wish native;
  const char *tuning;             /* --tuning, or NULL */
  struct tuned tuned;             /* its values */
  double tune_seconds;            /* --tune; 0: no */
  struct tuned_program identity;  /* what values may be kept for, if has_identity */
  bool has_identity, reads_input; /* set with it: whether a source may read standard input */
  char cache[4096];               /* compile_directory of the machine */
  bool direct, optimise, no_fusion, unchecked, check_overflow, classic;
};

/* Reads the command line. Returns false after one line on standard error about its error. */
bool nesl_options_parse(struct nesl_options *, int argc, char **argv);
/* Copies the shared options to those of the session and its machine. */
void nesl_options_settle(struct nesl_options *);
/* Has a machine count what `cost` prints. Calls of its program are not cut into chunks, so the
 * counts are the same in every run, on any number of threads. */
void nesl_count_costs(struct machine_options *);
/* Prints the text of --help. */
void nesl_options_help(FILE *);

#endif
