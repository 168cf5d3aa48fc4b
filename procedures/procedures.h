/* procedures.h - functions of a program for one instance, as C text (README.md). */
#ifndef RAVEL_PROCEDURES_H
#define RAVEL_PROCEDURES_H

#include "cvl/procedures.h"
#include "ir/ir.h"

/* The procedures of a program. */
struct procedures {
  const char *text; /* C, with an entry for each */
  size_t length;
  const struct cvl_procedure **of; /* of every function: its procedure, or NULL */
  /* The entry function for its arguments, which are SHARED, as one instance; or NULL. */
  const struct cvl_procedure *entry;
  /* Of every function that has a procedure: all instances together neither call themselves,
   * not even through others, nor have a loop but in a superoperator. Then that is about as
   * fast, or faster. NULL: none is so. */
  const bool *straight;
};

/* Prints the procedures of a program as C: of each lifted function that has one (struct
 * ir_function) which native code can execute. Memory is the arena's. False if there are none.
 */
bool procedures_make(struct arena *, const struct ir_program *, struct procedures *);

#endif
