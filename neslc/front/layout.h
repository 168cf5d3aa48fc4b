/* layout.h - text broken into lines where it must be.
 *
 * A layout is a list of tokens: texts, possible line breaks, and groups. A group is written on
 * one line if it fits there, else all its own breaks are taken. (Oppen, Prettyprinting, ACM
 * TOPLAS 2(4), 1980, with consistent breaks; here the whole text is in memory, so that the
 * width of each group is known beforehand.)
 */
#ifndef RAVEL_NESLC_LAYOUT_H
#define RAVEL_NESLC_LAYOUT_H

#include "base/arena.h"

#include <stdio.h>

struct layout_token;

struct layout {
  struct arena *arena;
  ARRAY(struct layout_token) tokens;
};

/* Text is borrowed until it is printed. */
void layout_bytes(struct layout *, const char *text, size_t length);
void layout_text(struct layout *, const char *text);
/* A possible line break; a space if the line is not broken. */
void layout_break(struct layout *);
/* A group; its lines begin `indent` columns further than those of the group around it. */
void layout_open(struct layout *, unsigned indent);
/* A group whose lines begin in the column where it begins, unless that is far to the right. */
void layout_open_here(struct layout *);
void layout_close(struct layout *);
/* Writes all, within `width` columns where that is possible. */
void layout_print(const struct layout *, unsigned width, FILE *);

#endif
