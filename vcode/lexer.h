/* lexer.h - splits VCODE text into tokens (vcode.md, section 2). Private to this room and to
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
  TOKEN_BAD, /* an error, already reported */
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
  bool cut;           /* the text is truncated or not text: further errors would mislead */
  const char *origin; /* inside of the latest {@ ... } comment, NULL before any */
  size_t origin_length;
  bool exact_floats;  /* there was a comment {% floats 17 } */
  const char *widths; /* inside of the first {% widths ... } comment, NULL before it */
  size_t widths_length;
  struct source_pos widths_pos;
  const char
      *instances; /* inside of the first {% instances ... } comment since this was NULL */
  size_t instances_length;
  struct source_pos instances_pos; /* of the comment */
  const char *procedure; /* inside of the first {% procedure ... } comment, likewise */
  size_t procedure_length;
  struct source_pos procedure_pos;
  uint8_t rounds; /* enum vcode_rounds, of the first {% rounds } or {% round } since it was 0 */
};

void lexer_init(struct lexer *, const char *file, const char *text, size_t length,
                struct diag_list *diags);
/* Returns the next token. Errors (stray bytes, unclosed strings and comments) are reported and
 * returned as BAD. */
struct token lexer_next(struct lexer *);
/* After the word `fused`: skips to the next `fused` or FUNC (or the end) and returns the end of
 * the definition, without trailing blanks and comments. The definition is not parsed, but
 * unclosed comments and strings and bytes that are not text are reported. */
const char *lexer_skip_definition(struct lexer *);
/* Returns whether a definition or a function begins with the word text[0..n). */
bool lexer_begins_item(const char *text, size_t n);
/* Returns the kind of a maximal, non-empty run of word bytes: INTEGER, REAL or WORD. */
enum token_kind lexer_classify(const char *text, size_t n);
/* Returns whether the byte may be part of a word. */
bool lexer_word_byte(unsigned char c);

#endif
