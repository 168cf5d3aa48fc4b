/* equal.h - equality of programs, for tests of parse, print, parse. */
#ifndef RAVEL_VCODE_TESTS_EQUAL_H
#define RAVEL_VCODE_TESTS_EQUAL_H

#include "vcode/vcode.h"

/* NULL if a and b are equal except for positions and file names; else the first difference, as
 * a text that is never freed. */
const char *vcode_difference(const struct vcode_program *a, const struct vcode_program *b);

/* Parses what vcode_print writes of the program, into the arena; NULL if that fails. */
struct vcode_program *vcode_reparse(struct arena *, const struct vcode_program *, struct widths,
                                    struct diag_list *);

#endif
