/* layout.c - the layout engine of show code: see layout.h. */
#include "neslc/front/layout.h"

#include <stdbool.h>
#include <string.h>

enum nesl_token_kind { TOKEN_TEXT, TOKEN_BREAK, TOKEN_OPEN, TOKEN_CLOSE };

enum { HERE = 0x7fffffff, STEP = 2 }; /* STEP: the indentation instead */

struct layout_token {
  uint8_t kind;
  unsigned amount; /* BREAK: spaces; OPEN: indentation, or HERE */
  const char *text;
  size_t length;
};

void layout_bytes(struct layout *layout, const char *text, size_t length) {
  struct layout_token token = {.kind = TOKEN_TEXT, .text = text, .length = length};
  *array_push(layout->arena, &layout->tokens) = token;
}

void layout_text(struct layout *layout, const char *text) {
  layout_bytes(layout, text, strlen(text));
}

static void add_layout_item(struct layout *layout, enum nesl_token_kind kind, unsigned amount) {
  struct layout_token token = {.kind = (uint8_t)kind, .amount = amount};
  *array_push(layout->arena, &layout->tokens) = token;
}

void layout_break(struct layout *layout) {
  add_layout_item(layout, TOKEN_BREAK, 1);
}

void layout_open(struct layout *layout, unsigned indent) {
  add_layout_item(layout, TOKEN_OPEN, indent);
}

void layout_open_here(struct layout *layout) {
  add_layout_item(layout, TOKEN_OPEN, HERE);
}

void layout_close(struct layout *layout) {
  add_layout_item(layout, TOKEN_CLOSE, 0);
}

/* The width of a token on an unbroken line, in characters of UTF-8. */
static size_t flat_width(const struct layout_token *token) {
  if (token->kind == TOKEN_BREAK) return token->amount;
  size_t width = 0;
  for (size_t i = 0; i < token->length; i++) width += (token->text[i] & 0xc0) != 0x80;
  return width;
}

/* For each OPEN the unbroken width from there to the first break after its CLOSE, which must
 * fit on the line if the group is not broken. One pass from back to front. */
static size_t *group_widths(const struct layout *layout) {
  size_t count = layout->tokens.count;
  size_t *widths = arena_alloc(layout->arena, (count + 1) * sizeof *widths);
  size_t behind = 0; /* width from here to the end of everything */
  size_t stop = 0;   /* the same at the next break that belongs to an enclosing group */
  struct {
    size_t *items;
    size_t count, capacity;
  } stops = {0};
  for (size_t i = count; i-- > 0;) {
    const struct layout_token *token = &layout->tokens.items[i];
    switch ((enum nesl_token_kind)token->kind) {
    case TOKEN_CLOSE: *array_push(layout->arena, &stops) = stop; break;
    case TOKEN_OPEN: widths[i] = behind - stops.items[--stops.count]; break;
    case TOKEN_BREAK: stop = behind + flat_width(token); /* fall through */
    case TOKEN_TEXT: behind += flat_width(token); break;
    }
  }
  return widths;
}

struct group {
  bool broken;
  size_t indent;
};

/* The indentation of a group's lines, limited to the width so that deep trees do not become
 * mostly blanks. */
static size_t indentation(const struct layout_token *open, size_t around, size_t column,
                          unsigned width) {
  size_t indent = around + open->amount;
  if (open->amount == HERE) indent = column <= width / 2 ? column : around + STEP;
  return indent < width ? indent : width;
}

void layout_print(const struct layout *layout, unsigned width, FILE *file) {
  size_t *widths = group_widths(layout), column = 0;
  ARRAY(struct group) groups = {0};
  *array_push(layout->arena, &groups) = (struct group){false, 0};
  for (size_t i = 0; i < layout->tokens.count; i++) {
    const struct layout_token *token = &layout->tokens.items[i];
    struct group *top = &groups.items[groups.count - 1];
    switch ((enum nesl_token_kind)token->kind) {
    case TOKEN_TEXT:
      fwrite(token->text, 1, token->length, file);
      column += flat_width(token);
      break;
    case TOKEN_BREAK:
      column = top->broken ? top->indent : column + token->amount;
      fprintf(file, "%s%*s", top->broken ? "\n" : "",
              (int)(top->broken ? top->indent : token->amount), "");
      break;
    case TOKEN_OPEN: {
      struct group inner = {column + widths[i] > width,
                            indentation(token, top->indent, column, width)};
      *array_push(layout->arena, &groups) = inner;
      break;
    }
    case TOKEN_CLOSE: groups.count--; break;
    }
  }
}
