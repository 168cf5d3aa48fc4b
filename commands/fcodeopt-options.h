/* fcodeopt-options.h - describes the command line of fcodeopt as data. */
#ifndef RAVEL_FCODEOPT_OPTIONS_H
#define RAVEL_FCODEOPT_OPTIONS_H

#include "commands/program.h"
#include "fcode-opt/fcode-opt.h"

struct fcodeopt_options {
  struct shared_options shared;
  struct program_options source;
  struct fcode_opt_options optimiser;
  const char *output;               /* NULL: beside the program */
  const char *emit_cuda, *emit_cpu; /* files for superoperators, or NULL */
  bool explain, stats;
};

/* Reads the command line. Returns false after one line on standard error about its error. */
bool fcodeopt_options_parse(struct fcodeopt_options *, int argc, char **argv);
/* Prints the text of --help. */
void fcodeopt_options_help(FILE *);

#endif
