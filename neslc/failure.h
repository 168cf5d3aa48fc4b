/* failure.h - telling of a run that stopped: in terms of the program, not of the machine or the
 * library. The same words whoever executed it.
 */
#ifndef RAVEL_NESLC_FAILURE_H
#define RAVEL_NESLC_FAILURE_H

#include "neslc/core.h"

/* An expression that was being evaluated. */
struct failure_place {
  const struct source *source;
  struct span at;
  const struct core *node; /* NULL if it is not known any more */
};

/* Complains of a failure. `trail` begins with the expression that failed; then come the
 * applications that led there, innermost first. The mark is put under the first of them that is
 * not in the library, with the name of the library's function if the sentence does not tell;
 * notes show the calls around it, each place once. */
void complain_of_failure(struct complaints *, enum nesl_error, const char *message,
                         const struct failure_place *trail, size_t count);

/* The message for error(s): s itself has been printed. */
extern const char failure_by_error[];

/* The byte that names an expression among all of its source, and origins of instructions hold:
 * where its operator stands, or its bracket, or else where it begins. */
uint32_t core_mark(const struct core *);
/* The expression with this mark, within `whole`; NULL if there is none. Where several have it,
 * one that may fail by itself comes first, then the largest. */
const struct core *core_at_mark(struct core *whole, const struct source *, uint32_t mark);

#endif
