/* support.h - programs in let-form from short text, optimised, and compared as text. */
#ifndef RAVEL_FCODE_OPT_TESTS_SUPPORT_H
#define RAVEL_FCODE_OPT_TESTS_SUPPORT_H

#include "fcode-opt/fcode-opt.h"
#include <criterion/criterion.h>

/* A program under test with everything it needs. */
struct fixture {
  struct heap heap;
  struct arena arena, messages;
  struct diag_list diags;
  struct fcode_opt_options options; /* verifying, without fusion */
  struct fcode_opt_stats stats;
};

void fixture_init(struct fixture *);
void fixture_free(struct fixture *);

/* The functions `text` (let-form with widths i32 and f64, entry M, positions left out) after
 * the first run of a pass, "final" for all of them, again without positions. */
const char *after(struct fixture *, const char *pass, const char *text);
/* Optimises `text` and compares. */
void expect_after(const char *pass, const char *text, const char *expected);
/* Compares the text after all passes, without inlining. */
void expect_uninlined(const char *text, const char *expected);
/* A function that may call itself for ever, for programs of tests. */
#define LOOP                                                                                   \
  "fun LOOP (v0: INT) -> (INT)\n"                                                              \
  "  v1 = I_TO_B v0\n"                                                                         \
  "  v2: INT = if v1\n"                                                                        \
  "    v3: INT = call LOOP v0\n"                                                               \
  "    yield v3\n"                                                                             \
  "  else\n"                                                                                   \
  "    yield v0\n"                                                                             \
  "  end\n"                                                                                    \
  "  yield v2\n"                                                                               \
  "end\n"

#endif
