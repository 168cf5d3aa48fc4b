/* programs.h - programs that every back end and every way of running must agree on, and
 * programs that all must refuse in the same words.
 */
#ifndef RAVEL_VINTERP_PROGRAMS_H
#define RAVEL_VINTERP_PROGRAMS_H

#include <stddef.h>

struct program {
  const char *name, *text, *expected;
};

/* A program whose line 1 makes the operands, and line 2 is the instruction at fault. */
struct faulty {
  const char *text;
  const char *words[6]; /* found in this order */
};

extern const struct program programs[];
extern const size_t program_count;
extern const struct faulty faults[];
extern const size_t fault_count;

#endif
