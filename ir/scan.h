/* scan.h - the words of the text form. */
#ifndef RAVEL_IR_SCAN_H
#define RAVEL_IR_SCAN_H

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
_Noreturn void scan_fail(struct scanner *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void scan_expected(struct scanner *, const char *what);

void scan_begin(struct scanner *, struct arena *, const char *file, const char *text,
                size_t length, struct diag_list *);
/* Makes the next token the present one. */
void scan_next(struct scanner *);

/* Is the present token this word, or this mark? */
bool scan_is(const struct scanner *, const char *text);
/* The same, and then steps over it. */
bool scan_take(struct scanner *, const char *text);
/* Steps over this token, or fails. */
void scan_expect(struct scanner *, const char *text);
/* Steps over a word of digits and gives its number, at most `most`. */
uint32_t scan_number(struct scanner *, const char *what, uint32_t most);
/* Is the present token a variable, v and digits? */
bool scan_is_variable(const struct scanner *);
/* Steps over VCODE up to the RET of a function, which begins at the present token, and gives
 * its text. */
struct token scan_stack_code(struct scanner *);

#endif
