/* io.h - the I/O instructions on machine values. */
#ifndef RAVEL_IO_H
#define RAVEL_IO_H

#include "tables/tables.h"
#include <stdbool.h>

struct machine;
struct machine_site;
struct value;

/* Executes an opcode of class OC_IO. Operands are borrowed, deepest first, and have the kinds
 * of opcodes.def. The caller owns the results (deepest first, as many as the table has). No
 * earlier fault may be deferred: the error slot has been checked. Failures of the outside
 * world are results with status F and a message.
 *
 * Returns false if the instruction was misused (a stream or mode that is not a scalar, a mode
 * other than 1, 2 or 3, a character outside 0 .. 255), or memory ran out. Then the fault is
 * recorded and no result is set. */
bool io_execute(struct machine *, const struct machine_site *, enum opcode, enum type_word,
                const struct value *operands, struct value *results);

#endif
