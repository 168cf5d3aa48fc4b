/* parse-token.c - the parser's current token, and errors about unexpected tokens. */
#include "vcode/parser.h"

#include <string.h>
#include <strings.h>

void parser_report(struct parser *p, struct source_pos pos, const char *message) {
  diag_add(p->diags, SEVERITY_ERROR, p->file, pos, NULL, "%s", message);
}

void parser_next(struct parser *p) {
  p->token = lexer_next(&p->lexer);
  p->word = p->token.kind == TOKEN_WORD ? intern_name(&p->names, p->token.text, p->token.length)
                                        : NULL;
}

const char *parser_found(struct parser *p) {
  struct token t = p->token;
  switch (t.kind) {
  case TOKEN_OPEN: return "(";
  case TOKEN_CLOSE: return ")";
  case TOKEN_STRING: return "a string";
  case TOKEN_END: return "the end of the file";
  case TOKEN_BAD: return "something unreadable";
  case TOKEN_INTEGER:
  case TOKEN_REAL:
  case TOKEN_WORD: break;
  }
  if (t.length > SHOWN) return arena_printf(p->arena, "%.*s...", SHOWN, t.text);
  return arena_copy(p->arena, t.text, t.length);
}

/* Reports "WHAT, found FOUND" at the next token. A BAD one has been reported already. */
bool parser_expected(struct parser *p, const char *what) {
  if (p->token.kind != TOKEN_BAD) {
    parser_report(p, p->token.pos,
                  arena_printf(p->arena, "%s, found %s", what, parser_found(p)));
  }
  return false;
}

/* Adds a "did you mean" for a word that is nearly a type. */
bool parser_expected_type(struct parser *p, const char *what) {
  if (p->word == NULL || p->word->number < R_END) return parser_expected(p, what);
  for (unsigned w = TW_INT; w < TW_NONE; w++) {
    const char *type = type_word_text((enum type_word)w);
    if (strcasecmp(p->word->text, type) == 0 || edit_distance(p->word->text, type, 1) <= 1) {
      parser_report(p, p->token.pos,
                    arena_printf(p->arena, "%s, found %s; did you mean %s?", what,
                                 parser_found(p), type));
      return false;
    }
  }
  return parser_expected(p, what);
}

bool parser_at_name(struct parser *p) {
  uint32_t main_number = R_END; /* interned right after the reserved words */
  return p->word != NULL && p->word->number >= main_number;
}
