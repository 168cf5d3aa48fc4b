/* neslc-library.h - makes libraries of C: neslc --library. */
#ifndef RAVEL_NESLC_LIBRARY_H
#define RAVEL_NESLC_LIBRARY_H

#include "commands/nesl.h"
#include "commands/neslc-options.h"

/* Compiles the functions that the options name, which the session has, and writes them as a
 * library of C. False with diagnostics. memory_failed. */
bool neslc_library(struct nesl *, const struct neslc_options *);

#endif
