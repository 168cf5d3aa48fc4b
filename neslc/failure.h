/* failure.h - reports a run that stopped, in terms of the program instead of the machine or the
 * library. All executors report in the same words.
 */
#ifndef RAVEL_NESLC_FAILURE_H
#define RAVEL_NESLC_FAILURE_H

#include "base/origin.h"
#include "neslc/types/core.h"

/* Calls that are shown: the innermost. */
enum { FAILURE_MOST_CALLS = 6 };

/* The source location of an expression that was being evaluated. */
struct failure_location {
  const struct source *source;
  struct span at;
  const struct core *node; /* NULL if it is not known any more */
};

/* Reports a failure. `trail` begins with the expression that failed, followed by the enclosing
 * calls, innermost first. The error marks the first of them outside the library, and names the
 * library function if the message does not; notes show the calls around it, each source
 * location once. */
void complain_of_failure(struct complaints *, enum nesl_error, const char *message,
                         const struct failure_location *trail, size_t count);

/* These are remedies for the ends of messages: where too many calls are open, and where memory
 * ran out. */
#define FAILURE_CALLS                                                                          \
  "does the recursion end? The option max-depth permits more, and a `loop` needs no calls"
#define FAILURE_MEMORY                                                                         \
  "the option memory permits more, an apply-to-each over fewer elements at a time needs less"

/* The remedy where memory ran out for a result as a whole. */
#define FAILURE_WHOLE                                                                          \
  "the option memory permits more, and nesl run --entry F -o FILE writes results of F that "   \
  "need not be in memory, as the option spool of libravel does"

/* Whether a message names the function; messages write names in capitals. */
bool message_names(const char *message, const char *name);

struct session;
/* The expression at an origin of compiled code: within `whole`, which was compiled, or within
 * what the session defines. False if no source of the session has this file and line. Allocates
 * from session->arena. locate.c */
bool locate_origin(struct session *, struct core *whole, const struct origin *,
                   struct failure_location *);

/* The message for error(s): s itself has been printed. */
extern const char failure_by_error[];

/* The byte offset that identifies an expression within its source, used for the origins of
 * instructions: that of its operator or bracket, else its beginning. */
uint32_t core_mark(const struct core *);
/* The expression with this mark within `whole`; NULL if there is none. Of several, one that may
 * fail by itself is preferred, then the largest. */
const struct core *core_at_mark(struct core *whole, const struct source *, uint32_t mark);

#endif
