/* programs.h - let-form as tests write it: without positions, with what is expected beside it.
 */
#ifndef RAVEL_FCODE_OPT_TESTS_PROGRAMS_H
#define RAVEL_FCODE_OPT_TESTS_PROGRAMS_H

#include "base/arena.h"

/* The functions of a text with a position on every line that needs one and has none: the
 * N-th line with code is @N:1. Without comments, from a ';' to the end of a line. */
char *with_positions(struct arena *, const char *text);

/* The functions of a listing, without positions and empty lines. */
const char *without_positions(struct arena *, const char *text, size_t length);

/* Calls check for each text of a file of this folder: what follows a line "== TITLE". Returns
 * their number. */
unsigned each_example(const char *file, void (*check)(const char *title, const char *text));

#endif
