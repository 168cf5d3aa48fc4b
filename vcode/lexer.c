/* lexer.c - splits VCODE text into tokens: words are maximal, and classified afterwards. */
#include "vcode/lexer.h"
#include "base/number.h"
#include "vcode/vcode.h"

#include <string.h>

void lexer_init(struct lexer *lx, const char *file, const char *text, size_t length,
                struct diag_list *diags) {
  memset(lx, 0, sizeof *lx);
  lx->file = file;
  lx->next = text;
  lx->end = text + length;
  lx->pos = (struct source_pos){1, 1};
  lx->diags = diags;
}

bool lexer_word_byte(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         (c != 0 && strchr("+-*/%<>=!._", c) != NULL);
}

static void lexer_advance(struct lexer *lx) {
  if (*lx->next++ == '\n') {
    lx->pos.line++;
    lx->pos.column = 1;
  } else {
    lx->pos.column++;
  }
}

/* Skips what opens at `from` up to and including the byte `close`; false at the end of text. */
static bool skip_past(struct lexer *lx, char close) {
  lexer_advance(lx);
  while (lx->next < lx->end) {
    char c = *lx->next;
    lexer_advance(lx);
    if (c == close) return true;
  }
  return false;
}

static bool comment_begins(const char *text, size_t length, const char *mark) {
  return length >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0;
}

/* Takes a comment. It remembers the latest that starts with @ as an origin, the first that
 * declares widths, instances, a procedure or rounds, and whether one asks for all digits of
 * floats. Returns false if it is not closed. */
static bool lexer_comment(struct lexer *lx) {
  struct source_pos pos = lx->pos;
  const char *start = lx->next + 1;
  if (!skip_past(lx, '}')) {
    diag_add(lx->diags, SEVERITY_ERROR, lx->file, pos, NULL,
             "the comment that starts here is never closed: } is missing");
    lx->cut = true;
    return false;
  }
  if (*start == '@') {
    lx->origin = start + 1;
    lx->origin_length = (size_t)(lx->next - 1 - lx->origin);
    return true;
  }
  static const char widths[] = "% widths", floats[] = "% floats 17",
                    instances[] = "% instances", procedure[] = "% procedure",
                    round[] = "% round", rounds[] = "% rounds";
  const size_t length = (size_t)(lx->next - 1 - start);
  if (comment_begins(start, length, floats)) {
    lx->exact_floats = true;
  } else if (lx->widths == NULL && comment_begins(start, length, widths)) {
    lx->widths = start + sizeof widths - 1;
    lx->widths_length = length - (sizeof widths - 1);
    lx->widths_pos = pos;
  } else if (lx->instances == NULL && comment_begins(start, length, instances)) {
    lx->instances = start + sizeof instances - 1;
    lx->instances_length = length - (sizeof instances - 1);
    lx->instances_pos = pos;
  } else if (lx->procedure == NULL && comment_begins(start, length, procedure)) {
    lx->procedure = start + sizeof procedure - 1;
    lx->procedure_length = length - (sizeof procedure - 1);
    lx->procedure_pos = pos;
  } else if (lx->rounds == VCODE_NO_ROUNDS && comment_begins(start, length, rounds)) {
    lx->rounds = VCODE_ROUNDS;
  } else if (lx->rounds == VCODE_NO_ROUNDS && comment_begins(start, length, round)) {
    lx->rounds = VCODE_ROUND;
  }
  return true;
}

static bool is_integer_literal(const char *text, size_t n) {
  size_t i = text[0] == '-' || text[0] == '+' ? 1 : 0;
  if (i == n) return false;
  while (i < n && is_digit_byte(text[i])) i++;
  return i == n;
}

/* Matches [-+]?[0-9]+\.[0-9]*([Ee][-+]?[0-9]+)?. */
static bool is_real_literal(const char *text, size_t n) {
  size_t i = text[0] == '-' || text[0] == '+' ? 1 : 0, first = i;
  while (i < n && is_digit_byte(text[i])) i++;
  if (i == first || i == n || text[i] != '.') return false;
  i++;
  while (i < n && is_digit_byte(text[i])) i++;
  if (i == n) return true;
  if (text[i] != 'e' && text[i] != 'E') return false;
  i++;
  if (i < n && (text[i] == '-' || text[i] == '+')) i++;
  first = i;
  while (i < n && is_digit_byte(text[i])) i++;
  return i == n && i > first;
}

enum token_kind lexer_classify(const char *text, size_t n) {
  if (is_integer_literal(text, n)) return TOKEN_INTEGER;
  return is_real_literal(text, n) ? TOKEN_REAL : TOKEN_WORD;
}

static struct token lexer_word(struct lexer *lx) {
  struct token t = {TOKEN_WORD, lx->pos, lx->next, 0};
  while (lx->next < lx->end && lexer_word_byte((unsigned char)*lx->next)) lx->next++;
  t.length = (size_t)(lx->next - t.text);
  lx->pos.column += (uint32_t)t.length;
  t.kind = lexer_classify(t.text, t.length);
  return t;
}

static struct token lexer_string(struct lexer *lx) {
  struct token t = {TOKEN_STRING, lx->pos, lx->next + 1, 0};
  if (skip_past(lx, '"')) {
    t.length = (size_t)(lx->next - 1 - t.text);
    return t;
  }
  diag_add(lx->diags, SEVERITY_ERROR, lx->file, t.pos, NULL,
           "the string that starts here is never closed: \" is missing");
  lx->cut = true;
  t.kind = TOKEN_BAD;
  return t;
}

static void report_byte(struct lexer *lx) {
  unsigned char c = (unsigned char)*lx->next;
  if (c == '}') {
    diag_add(lx->diags, SEVERITY_ERROR, lx->file, lx->pos, NULL,
             "} without a { before it (comments do not nest)");
  } else if (c > ' ' && c < 127) {
    diag_add(lx->diags, SEVERITY_ERROR, lx->file, lx->pos, NULL,
             "the character %c is not part of any token", c);
  } else {
    diag_add(lx->diags, SEVERITY_ERROR, lx->file, lx->pos, NULL,
             "a byte of value %u is not part of any token; is this a text file?", c);
    lx->cut = true;
  }
}

bool lexer_begins_item(const char *text, size_t n) {
  return (n == 5 && memcmp(text, "fused", 5) == 0) || (n == 4 && memcmp(text, "FUNC", 4) == 0);
}

const char *lexer_skip_definition(struct lexer *lx) {
  const char *end = lx->next;
  while (lx->next < lx->end) {
    unsigned char c = (unsigned char)*lx->next;
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      lexer_advance(lx);
    } else if (c == '{') {
      if (!lexer_comment(lx)) return end;
    } else if (c == '"') {
      if (lexer_string(lx).kind == TOKEN_BAD) return end;
      end = lx->next;
    } else if (lexer_word_byte(c)) {
      struct lexer before = *lx;
      struct token t = lexer_word(lx);
      if (lexer_begins_item(t.text, t.length)) {
        *lx = before;
        return end;
      }
      end = lx->next;
    } else if (c < ' ' || c >= 127) {
      report_byte(lx);
      lx->next = lx->end;
    } else {
      lexer_advance(lx);
      end = lx->next;
    }
  }
  return end;
}

struct token lexer_next(struct lexer *lx) {
  while (lx->next < lx->end) {
    char c = *lx->next;
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      lexer_advance(lx);
    } else if (c == '{') {
      struct source_pos pos = lx->pos;
      if (!lexer_comment(lx)) return (struct token){TOKEN_BAD, pos, lx->end, 0};
    } else if (c == '"') {
      return lexer_string(lx);
    } else if (c == '(' || c == ')') {
      struct token t = {c == '(' ? TOKEN_OPEN : TOKEN_CLOSE, lx->pos, lx->next, 1};
      lexer_advance(lx);
      return t;
    } else if (lexer_word_byte((unsigned char)c)) {
      return lexer_word(lx);
    } else {
      struct token t = {TOKEN_BAD, lx->pos, lx->next, 1};
      report_byte(lx);
      lexer_advance(lx);
      if (lx->cut) lx->next = lx->end;
      return t;
    }
  }
  return (struct token){TOKEN_END, lx->pos, lx->end, 0};
}
