/* verify.h - checks a program as ir_verify does, with or without liveness. */
#ifndef RAVEL_IR_VERIFY_H
#define RAVEL_IR_VERIFY_H

#include "ir/ir.h"

/* Checks a program as ir_verify does. With `liveness` false it does not look at the flags and
 * drops, which may not be filled in yet. */
bool verify_program(struct arena *, const struct ir_program *, bool liveness,
                    struct diag_list *);

#endif
