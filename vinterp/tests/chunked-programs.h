/* chunked-programs.h - programs with batch calls, some of which fail. */
#ifndef RAVEL_CHUNKED_PROGRAMS_H
#define RAVEL_CHUNKED_PROGRAMS_H

#include <stddef.h>

struct chunked {
  const char *name, *text;
  const char *word; /* part of the diagnostic; NULL: the program does not fail */
};

/* A program with 1,000 instances that need so many elements each. */
#define CHUNKED_NEEDS(elements)                                                                \
  "let-form \"test\" i64 f64 entry MAIN\n"                                                     \
  "fun MAIN () -> (INT)\n"                                                                     \
  "v0 = CONST SEGDES 1000\nv1 = CONST INT " #elements "\nv2 = DIST INT v1 v0\n"                \
  "v3: INT = call BODY v0 v2\nv4 = +_REDUCE INT v3 v0\nyield v4\nend\n"                        \
  "fun BODY (v0: SEGDES, v1: INT) -> (INT) instances shared each -> each\n"                    \
  "v2 = CONST INT 0\nv3 = DIST INT v2 v0\nv4 = CONST INT 1\nv5 = DIST INT v4 v0\n"             \
  "v6 = MAKE_SEGDES v1\nv7 = INDEX v3 v5 v6\nv8 = * INT v7 v7\nv9 = +_REDUCE INT v8 v6\n"      \
  "yield v9\nend\n"

extern const struct chunked chunked[];
extern const size_t chunked_count;

#endif
