/* check.h - invariants: conditions that hold for every program unless Ravel has a defect.
 *
 * Debug and sanitizer builds check them and abort; releases do not evaluate them. (Checks of
 * optimiser passes are in releases too: fcode-opt/passes.h.)
 */
#ifndef RAVEL_CHECK_H
#define RAVEL_CHECK_H

#ifdef RAVEL_DEBUG
#define invariant(condition)                                                                   \
  ((condition) ? (void)0 : invariant_failed(__FILE__, __LINE__, #condition))
#else
#define invariant(condition) ((void)sizeof((condition) ? 1 : 0)) /* not evaluated */
#endif

/* Prints the condition and aborts. */
_Noreturn void invariant_failed(const char *file, int line, const char *condition);

#endif
