/* check.h - invariants: what holds unless Ravel itself is at fault, whatever programs do.
 *
 * Debug and sanitizer builds check them and abort; releases do not look. (Passes of the
 * optimiser have checks that releases look at too: fcode-opt/passes.h.)
 */
#ifndef RAVEL_CHECK_H
#define RAVEL_CHECK_H

#ifdef RAVEL_DEBUG
#define invariant(condition)                                                                   \
  ((condition) ? (void)0 : invariant_failed(__FILE__, __LINE__, #condition))
#else
#define invariant(condition) ((void)sizeof((condition) ? 1 : 0)) /* not evaluated */
#endif

/* Says which one and aborts. */
_Noreturn void invariant_failed(const char *file, int line, const char *condition);

#endif
