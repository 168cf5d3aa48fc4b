/* neslc-options.h - describes the command line of neslc as data. */
#ifndef RAVEL_NESLC_OPTIONS_H
#define RAVEL_NESLC_OPTIONS_H

#include "commands/nesl-options.h"

enum { NESLC_MOST_ENTRIES = 256 };

struct neslc_options {
  struct nesl_options session; /* what forms of the file that are evaluated need */
  const char *file, *output, *expression, *entry, *library; /* NULL where not given */
  const char *entries[NESLC_MOST_ENTRIES]; /* of the library; entry is the first */
  unsigned entry_count;
  const char *kernels; /* -march of those of the library, "" for the compiler's; NULL: none */
  bool portable, no_fusion, explain;
  bool after_parse, after_check, after_flatten; /* to be printed */
};

/* Reads the command line. False after one line about what is wrong with it on standard error.
 */
bool neslc_options_parse(struct neslc_options *, int argc, char **argv);
/* Prints the text of --help. */
void neslc_options_help(FILE *);

#endif
