/* scan.h - the words of the text form. */
#ifndef RAVEL_IR_TESTS_SCAN_H
#define RAVEL_IR_TESTS_SCAN_H

#include "base/diag.h"

enum token_kind { TOKEN_WORD, TOKEN_STRING, TOKEN_MARK, TOKEN_END };

struct token {
  enum token_kind kind;
  const char *text; /* WORD, MARK: in the program's text; STRING: decoded, in the arena */
  size_t length;
  struct source_pos pos;
};

struct scanner {
  struct arena *arena;
  struct diag_list *diags;
  const char *file, *at, *end, *line_start;
  uint32_t line;
  struct token token; /* the present one */
  jmp_buf failed;     /* where the first error goes, once it is reported */
};

/* Reports an error at the present token and does not return. */
_Noreturn void scanner_fail(struct scanner *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void scanner_expected(struct scanner *, const char *what);

void scanner_begin(struct scanner *, struct arena *, const char *file, const char *text,
                   size_t length, struct diag_list *);
/* Makes the next token the present one. */
void scanner_next(struct scanner *);

/* Is the present token this word, or this mark? */
bool scanner_is(const struct scanner *, const char *text);
/* Does what scanner_is does; if true, steps over the token. */
bool scanner_take(struct scanner *, const char *text);
/* Steps over this token, or fails. */
void scanner_expect(struct scanner *, const char *text);
/* Steps over a word of digits and gives its number, at most `most`. */
uint32_t scanner_number(struct scanner *, const char *what, uint32_t most);
/* Is the present token a variable, v and digits? */
bool scanner_is_variable(const struct scanner *);
/* Steps over the definition of a superoperator, which begins at the present token, up to the
 * next one or the first function, and gives its text. */
struct token scanner_definition(struct scanner *);
/* Steps over VCODE up to the RET of a function, which begins at the present token, and gives
 * its text. */
struct token scanner_stack_code(struct scanner *);

#endif
