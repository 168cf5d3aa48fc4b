/* programs.h - the programs that every back end and every way of running has to agree on, and
 * those that every one has to refuse in the same words.
 */
#ifndef RAVEL_VINTERP_PROGRAMS_H
#define RAVEL_VINTERP_PROGRAMS_H

#include <stddef.h>

struct program {
  const char *name, *text, *expected;
};

/* Line 1 makes the operands, line 2 is the instruction at fault. */
struct faulty {
  const char *text;
  const char *words[6]; /* in this order */
};

extern const struct program programs[];
extern const size_t program_count;
extern const struct faulty faults[];
extern const size_t fault_count;

#endif
