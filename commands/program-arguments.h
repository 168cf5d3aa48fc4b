/* program-arguments.h - what stands behind the program on the command line, as values for it.
 */
#ifndef RAVEL_PROGRAM_ARGUMENTS_H
#define RAVEL_PROGRAM_ARGUMENTS_H

#include "commands/program.h"
#include "vinterp/machine.h"

/* Reads `arguments` as the items that the entry of the loaded program declares (docs/
 * vcode-reference.md, Arguments): files of numpy's or CSV by their ending, or text as results
 * are printed. *items are the program's memory. False with a diagnostic, which says what is
 * expected, if an argument cannot be read or there are too few or too many of them. */
bool program_arguments(struct program *, const char *const *arguments, unsigned count,
                       const struct machine_item **items, uint64_t *item_count);

#endif
