/* nesl-lines.h - reads lines from standard input. If libedit is available and standard input is
 * a terminal, they have a history, editing and completion of names.
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

/* Opens the input. `history` is a file that keeps the history, written with the permissions of
 * the user, or NULL. `plain`: lines are read as from a file in any case. Returns NULL without
 * memory. */
struct lines *lines_open(const char *history, bool plain, const struct permissions *user,
                         struct heap *, lines_complete *, void *context);
void lines_close(struct lines *);
/* Returns whether the prompt is visible: standard input is a terminal. */
bool lines_interactive(const struct lines *);
/* Returns whether more input waits already, as when several lines were pasted. */
bool lines_waiting(const struct lines *);
/* Adds a text to the history, which may have several lines. */
void lines_remember(struct lines *, const char *text, size_t length);
/* Returns the next line with its line break, valid until the next call. NULL is the end, if
 * errno is 0, or a signal (EINTR), lack of memory (ENOMEM), or a NUL in the line, which no text
 * has (EILSEQ). */
const char *lines_read(struct lines *, const char *prompt, size_t *length);

#endif
