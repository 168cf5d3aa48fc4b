/* equal.h - are two programs the same program? For tests: parse, print, parse must say yes. */
#ifndef RAVEL_VCODE_TESTS_EQUAL_H
#define RAVEL_VCODE_TESTS_EQUAL_H

#include "vcode/vcode.h"

/* NULL if a and b say the same in every respect but positions and file names; otherwise what
 * differs first, as a text that is never freed. */
const char *vcode_difference(const struct vcode_program *a, const struct vcode_program *b);

/* Parses what vcode_print writes of the program, into the arena; NULL if that fails. */
struct vcode_program *vcode_reparse(struct arena *, const struct vcode_program *, struct widths,
                                    struct diag_list *);

#endif
