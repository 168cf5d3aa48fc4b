/* verify.h - ir_verify with a choice. */
#ifndef RAVEL_IR_VERIFY_H
#define RAVEL_IR_VERIFY_H

#include "ir/ir.h"

/* ir_verify; without liveness it can be used where that is not filled in yet. */
bool verify_program(struct arena *, const struct ir_program *, bool liveness,
                    struct diag_list *);

#endif
