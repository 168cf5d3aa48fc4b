/* vinterp-options.h - the command line of vinterp as data. */
#ifndef RAVEL_VINTERP_OPTIONS_H
#define RAVEL_VINTERP_OPTIONS_H

#include "commands/output.h"
#include "commands/program.h"
#include "vinterp/machine.h"

enum dump { DUMP_NOTHING, DUMP_LET_FORM, DUMP_VCODE };

enum { MOST_PROGRAM_ARGUMENTS = 1000 };

struct command_options {
  struct shared_options shared;
  struct machine_options machine; /* widths and backend are not set: see source, backend_name */
  struct program_options source;
  const char *arguments[MOST_PROGRAM_ARGUMENTS]; /* of the program */
  unsigned argument_count;
  const char *backend_name; /* choose_knows it */
  double seconds;           /* --time, of all that the command does; 0: no limit */
  const char *trace;        /* file for it, or NULL */
  bool optimise;            /* -O */
  bool no_fusion;           /* with it */
  enum native_wish native;
  const char *tuning;  /* --tuning, or NULL */
  double tune_seconds; /* --tune; 0: no */
  enum dump dump;
  bool devices; /* list them instead of running */
  bool check;   /* verify only */
  bool json;    /* form of the profile */
  bool elapsed; /* -t */
};

/* Reads the command line. False after one line about what is wrong with it on standard error.
 */
bool options_parse(struct command_options *, int argc, char **argv);
/* Prints the text of --help. */
void options_help(FILE *);

#endif
