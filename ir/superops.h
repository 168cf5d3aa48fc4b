/* superops.h - parses the superoperators of a program. */
#ifndef RAVEL_IR_SUPEROPS_H
#define RAVEL_IR_SUPEROPS_H

#include "ir/ir.h"

/* Parses the definitions of `source` into the program's superoperators. It also gives the
 * program its origins: those of the source, then the nodes' that are not among them. Returns
 * false with errors in diags. */
bool superops_parse(struct arena *, const struct vcode_program *source, struct ir_program *,
                    struct diag_list *diags);

#endif
