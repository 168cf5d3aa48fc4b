/* nesl-lines.h - lines from standard input: with history, editing and completion of names if
 * libedit is available and standard input is a terminal, else plain ones.
 */
#ifndef RAVEL_NESL_LINES_H
#define RAVEL_NESL_LINES_H

#include "base/heap.h"
#include "base/permissions.h"

#include <stdbool.h>
#include <stddef.h>

struct lines;

/* Calls found for every name that begins with these bytes. */
typedef void lines_complete(void *context, const char *prefix, size_t length,
                            void (*found)(void *, const char *name), void *found_context);

/* `history` is a file that keeps the history, written with the permissions of the user, or
 * NULL; `plain` as from a file in any case. NULL without memory. */
struct lines *lines_open(const char *history, bool plain, const struct permissions *user,
                         struct heap *, lines_complete *, void *context);
void lines_close(struct lines *);
/* Whether the prompt is visible: standard input is a terminal. */
bool lines_interactive(const struct lines *);
/* Whether more input waits already, as when several lines were pasted. */
bool lines_waiting(const struct lines *);
/* Adds a text to the history, which may have several lines. */
void lines_remember(struct lines *, const char *text, size_t length);
/* The next line with its line break, valid until the next call; NULL at the end, where errno is
 * 0, if a signal came, EINTR, if memory is lacking, ENOMEM, or if there is a NUL in it, which
 * no text has, EILSEQ. */
const char *lines_read(struct lines *, const char *prompt, size_t *length);

#endif
