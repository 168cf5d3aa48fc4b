/* procedures.h - the procedures of a program: each is a function that is called for many
 * instances (ir/ir.h, "by instances"), as native code for one instance after the other.
 */
#ifndef RAVEL_PROCEDURES_H
#define RAVEL_PROCEDURES_H

#include "base/arena.h"
#include "cvl/procedures.h"
#include "ir/ir.h"

struct procedures {
  const char *text; /* all of them as C, for cvl_procedures.prepare */
  size_t length;
  const struct cvl_procedure **of; /* of every function of the program: its procedure, or
                                      NULL */
};

/* Prints the procedures of a program as C. Memory is the arena's. False if there are none. */
bool procedures_make(struct arena *, const struct ir_program *, struct procedures *);

#endif
