/* lexer.h - VCODE text into tokens (vcode.md, section 2). Private to this room and to
 * fused-kernels/, whose notation consists of the same words. */
#ifndef RAVEL_LEXER_H
#define RAVEL_LEXER_H

#include "base/diag.h"

enum token_kind {
  TOKEN_INTEGER, /* [-+]?[0-9]+ */
  TOKEN_REAL,    /* with a point, perhaps an exponent */
  TOKEN_WORD,    /* keyword or identifier */
  TOKEN_STRING,  /* text is between the quotes */
  TOKEN_OPEN,
  TOKEN_CLOSE,
  TOKEN_BAD, /* a fault, already reported */
  TOKEN_END
};

struct token {
  enum token_kind kind;
  struct source_pos pos;
  const char *text; /* into the source */
  size_t length;
};

struct lexer {
  const char *file;
  const char *next, *end;
  struct source_pos pos;
  struct diag_list *diags;
  bool cut; /* the text ended inside something, or is not text: more faults would mislead */
  const char *origin; /* inside of the latest {@ ... } comment, NULL before any */
  size_t origin_length;
  bool exact_floats;  /* there was a comment {% floats 17 } */
  const char *widths; /* inside of the first {% widths ... } comment, NULL before it */
  size_t widths_length;
  struct source_pos widths_pos;
};

void lexer_init(struct lexer *, const char *file, const char *text, size_t length,
                struct diag_list *diags);
/* The next token. Faults (stray bytes, what is never closed) are reported and come as BAD. */
struct token lexer_next(struct lexer *);
/* After the word `fused`: goes on to the next `fused` or FUNC (or the end) and returns where
 * the definition ends, blanks and comments behind it left out. Its inside is not looked at, but
 * a comment or a string that never closes and bytes that no text has are reported. */
const char *lexer_skip_definition(struct lexer *);
/* Whether a definition or a function begins with the word text[0..n). */
bool lexer_begins_item(const char *text, size_t n);
/* Which token a maximal run of word bytes, not empty, is: INTEGER, REAL or WORD. */
enum token_kind lexer_classify(const char *text, size_t n);
/* Whether the byte can stand in a word. */
bool lexer_word_byte(unsigned char c);

#endif
