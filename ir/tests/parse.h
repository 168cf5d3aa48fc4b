/* parse.h - the text form back into a program: tests are written in it. */
#ifndef RAVEL_IR_TESTS_PARSE_H
#define RAVEL_IR_TESTS_PARSE_H

#include "ir/ir.h"

/* Reads what ir_print wrote; the grammar is in ir/print.c. Everything is the arena's, whose
 * jump for lack of memory it sets. NULL with a diagnostic for the first error. */
struct ir_program *ir_parse(struct arena *, const char *file, const char *text, size_t length,
                            struct diag_list *diags);

/* Returns the text that ir_print writes, in the arena. */
const char *ir_text(struct arena *, const struct ir_program *);

#endif
