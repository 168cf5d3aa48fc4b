/* recover.c - finds the probable end of a broken form, after which reading continues.
 *
 * Semicolons occur within let and { } too, and the error itself may be a missing bracket. So
 * there are two guesses, both from the beginning of the form. The first counts brackets and let
 * ... in, and is taken if they balance. Otherwise the layout decides: a `;` at the end of a
 * line where the next line begins in the first column.
 */
#include "base/number.h"
#include "neslc/front/parse.h"

#include <string.h>
#include <strings.h>

enum {
  MOST_OPEN = 64,     /* brackets remembered; deeper ones do not balance */
  MOST_LOOK = 1 << 12 /* bytes examined beyond the end by the layout, or for the end
                         of a string: the work for each form is bounded */
};

struct scan {
  const struct source *source;
  uint32_t at;
  unsigned depth;
  char open[MOST_OPEN]; /* the brackets, and 'l' for let */
};

/* Whether a comment up to the end of the line begins here. */
static bool is_line_comment(const struct source *source, uint32_t at) {
  return source->text[at] == '/' && source->text[at + 1] == '/'; /* at worst the final NUL */
}

static uint32_t end_of_line(const struct source *source, uint32_t at) {
  const char *newline = memchr(source->text + at, '\n', source->length - at);
  return newline ? (uint32_t)(newline - source->text) : (uint32_t)source->length;
}

static bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The offset after the string or comment that begins here; 0 if it does not end soon. */
static uint32_t behind_closed(const struct source *source, uint32_t at) {
  char close = source->text[at];
  for (uint32_t i = at + 1; i < source->length && i - at < MOST_LOOK; i++) {
    if (source->text[i] == close) return i + 1;
    if (close == '"' && source->text[i] == '\\') i++;
  }
  return 0;
}

/* Whether white space and comments alone stand between here and the end of the line, and the
 * next line that has anything has it in the first column. */
static bool ends_by_layout(const struct source *source, uint32_t at) {
  bool line_start = false;
  while (at < source->length) {
    char c = source->text[at];
    if (c == '\n') {
      line_start = true;
      at++;
    } else if (is_space_byte(c)) {
      line_start = false;
      at++;
    } else if (is_line_comment(source, at)) {
      at = end_of_line(source, at);
    } else if (c == '%') {
      at = behind_closed(source, at);
      if (at == 0) return true;
    } else {
      return line_start && strchr(")]}", c) == NULL;
    }
  }
  return true;
}

static bool push_open(struct scan *s, char open) {
  if (s->depth == MOST_OPEN) return false;
  s->open[s->depth++] = open;
  return true;
}

/* Closes the innermost open bracket of this kind, and unclosed ones within it, if there is one.
 */
static void pop(struct scan *s, char open) {
  unsigned depth = s->depth;
  while (depth > 0 && s->open[depth - 1] != open) depth--;
  if (depth > 0) s->depth = depth - 1;
}

static bool scan_word(struct scan *s) {
  uint32_t start = s->at;
  while (s->at < s->source->length && is_word_byte(s->source->text[s->at])) s->at++;
  size_t length = s->at - start;
  const char *word = s->source->text + start;
  if (length == 3 && strncasecmp(word, "let", 3) == 0) return push_open(s, 'l');
  if (length == 2 && strncasecmp(word, "in", 2) == 0 && s->depth > 0 &&
      s->open[s->depth - 1] == 'l') { /* else a generator's */
    s->depth--;
  }
  return true;
}

enum scanned { SCAN_ON, SCAN_TERMINATOR, SCAN_UNBALANCED };

/* Steps over one token. */
static enum scanned scan_token(struct scan *s) {
  char c = s->source->text[s->at];
  bool balanced = true;
  if (is_line_comment(s->source, s->at)) {
    s->at = end_of_line(s->source, s->at);
    return SCAN_ON;
  }
  switch (c) {
  case '"':
  case '%': {
    uint32_t behind = behind_closed(s->source, s->at);
    if (behind == 0) return SCAN_UNBALANCED;
    s->at = behind;
    return SCAN_ON;
  }
  case '`': s->at += 2; return SCAN_ON;
  case '(':
  case '[':
  case '{': balanced = push_open(s, c); break;
  case ')': pop(s, '('); break;
  case ']': pop(s, '['); break;
  case '}': pop(s, '{'); break;
  case '$': s->at++; return SCAN_TERMINATOR;
  case ';':
    if (s->depth == 0) {
      s->at++;
      return SCAN_TERMINATOR;
    }
    balanced = s->open[s->depth - 1] == 'l' || s->open[s->depth - 1] == '{';
    break;
  default:
    if (is_word_byte(c)) return scan_word(s) ? SCAN_ON : SCAN_UNBALANCED;
  }
  if (!balanced) return SCAN_UNBALANCED;
  s->at++;
  return SCAN_ON;
}

/* Behind the terminator by the layout, or the end. Once something is open that never ends,
 * strings and comments count as text. */
static uint32_t layout_end(const struct source *source, uint32_t at) {
  bool closed = true; /* so far every string and comment */
  while (at < source->length) {
    char c = source->text[at];
    if (closed && is_line_comment(source, at)) {
      at = end_of_line(source, at);
      continue;
    }
    uint32_t behind = closed && (c == '"' || c == '%') ? behind_closed(source, at) : 0;
    if ((c == '"' || c == '%') && behind == 0) closed = false;
    if (c == '$' || (c == ';' && ends_by_layout(source, at + 1))) return at + 1;
    bool quoted = c == '`' && at + 1 < source->length;
    at = behind != 0 ? behind : at + (quoted ? 2 : 1);
  }
  return (uint32_t)source->length;
}

uint32_t recovery_point(const struct source *source, uint32_t start) {
  uint32_t by_layout = layout_end(source, start);
  struct scan scan = {.source = source, .at = start};
  while (scan.at < source->length && scan.at < by_layout + (uint64_t)MOST_LOOK) {
    switch (scan_token(&scan)) {
    case SCAN_ON: break;
    case SCAN_TERMINATOR: return scan.at;
    case SCAN_UNBALANCED: return by_layout;
    }
  }
  return by_layout;
}

/* ---- what is open ---- */

/* Returns the character that closes it. */
static const char *closing(char open) {
  switch (open) {
  case 'l': return "in";
  case '(': return ")";
  case '[': return "]";
  case '{': return "}";
  default: return "";
  }
}

const char *awaited_at_end(const struct source *source) {
  struct scan scan = {.source = source};
  while (scan.at < source->length) {
    const char at = source->text[scan.at];
    if (scan_token(&scan) != SCAN_UNBALANCED) continue;
    return at == '"' ? "\"" : at == '%' ? "%" : "";
  }
  return scan.depth > 0 ? closing(scan.open[scan.depth - 1]) : "";
}
