/* syntax-tools.h - what the tests of the parser and of show code, and their fuzzer, share. */
#ifndef RAVEL_NESLC_TESTS_SYNTAX_TOOLS_H
#define RAVEL_NESLC_TESTS_SYNTAX_TOOLS_H

#include "neslc/front/syntax.h"

/* A text being read. Everything lives in the heap until reading_end, which complains if
 * anything was not given back. */
struct reading_test {
  struct heap heap;
  struct arena arena;
  struct intern names;
  struct source source;
  struct reader reader;
  struct diag_list diags; /* of the last form */
  struct complaints complaints;
};

/* The text is copied: reading behind its end is seen by sanitizers. */
void reading_begin(struct reading_test *, const char *text, size_t length);
enum reading reading_next(struct reading_test *, struct form *);
void reading_end(struct reading_test *);

/* Equality of trees, except for source spans and parentheses. NULLs are equal. */
bool same_syntax(const struct syntax *, const struct syntax *);
bool same_form(const struct form *, const struct form *);

/* A form as show_form writes it, for free(); it may contain NUL. */
char *shown_form(const struct form *, size_t *length);

#endif
