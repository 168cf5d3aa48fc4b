/* layout.c - the layout engine of show code: see layout.h. */
#include "neslc/layout.h"

#include <stdbool.h>
#include <string.h>

enum piece_kind { PIECE_TEXT, PIECE_BREAK, PIECE_OPEN, PIECE_CLOSE };

enum { HERE = 0x7fffffff, STEP = 2 }; /* STEP: the indentation instead */

struct layout_piece {
  uint8_t kind;
  unsigned amount; /* BREAK: spaces; OPEN: indentation, or HERE */
  const char *text;
  size_t length;
};

void layout_bytes(struct layout *layout, const char *text, size_t length) {
  struct layout_piece piece = {.kind = PIECE_TEXT, .text = text, .length = length};
  *array_push(layout->arena, &layout->pieces) = piece;
}

void layout_text(struct layout *layout, const char *text) {
  layout_bytes(layout, text, strlen(text));
}

static void add(struct layout *layout, enum piece_kind kind, unsigned amount) {
  struct layout_piece piece = {.kind = (uint8_t)kind, .amount = amount};
  *array_push(layout->arena, &layout->pieces) = piece;
}

void layout_break(struct layout *layout, unsigned spaces) {
  add(layout, PIECE_BREAK, spaces);
}

void layout_open(struct layout *layout, unsigned indent) {
  add(layout, PIECE_OPEN, indent);
}

void layout_open_here(struct layout *layout) {
  add(layout, PIECE_OPEN, HERE);
}

void layout_close(struct layout *layout) {
  add(layout, PIECE_CLOSE, 0);
}

/* The columns of a piece on a line that is not broken: characters of UTF-8. */
static size_t flat_width(const struct layout_piece *piece) {
  if (piece->kind == PIECE_BREAK) return piece->amount;
  size_t width = 0;
  for (size_t i = 0; i < piece->length; i++) width += (piece->text[i] & 0xc0) != 0x80;
  return width;
}

/* For each OPEN the width from there, unbroken, to the first break behind its CLOSE: what must
 * fit on the line if the group is not broken. One pass from the back. */
static size_t *group_widths(const struct layout *layout) {
  size_t count = layout->pieces.count;
  size_t *widths = arena_alloc(layout->arena, (count + 1) * sizeof *widths);
  size_t behind = 0; /* width from here to the end of everything */
  size_t stop = 0;   /* the same at the next break that belongs to an enclosing group */
  struct {
    size_t *items;
    size_t count, capacity;
  } stops = {0};
  for (size_t i = count; i-- > 0;) {
    const struct layout_piece *piece = &layout->pieces.items[i];
    switch ((enum piece_kind)piece->kind) {
    case PIECE_CLOSE: *array_push(layout->arena, &stops) = stop; break;
    case PIECE_OPEN: widths[i] = behind - stops.items[--stops.count]; break;
    case PIECE_BREAK: stop = behind + flat_width(piece); /* fall through */
    case PIECE_TEXT: behind += flat_width(piece); break;
    }
  }
  return widths;
}

struct group {
  bool broken;
  size_t indent;
};

/* Where the lines of a group begin: never so far to the right that deep trees make a text of
 * blanks. */
static size_t indentation(const struct layout_piece *open, size_t around, size_t column,
                          unsigned width) {
  size_t indent = around + open->amount;
  if (open->amount == HERE) indent = column <= width / 2 ? column : around + STEP;
  return indent < width ? indent : width;
}

void layout_print(const struct layout *layout, unsigned width, FILE *file) {
  size_t *widths = group_widths(layout), column = 0;
  ARRAY(struct group) groups = {0};
  *array_push(layout->arena, &groups) = (struct group){false, 0};
  for (size_t i = 0; i < layout->pieces.count; i++) {
    const struct layout_piece *piece = &layout->pieces.items[i];
    struct group *top = &groups.items[groups.count - 1];
    switch ((enum piece_kind)piece->kind) {
    case PIECE_TEXT:
      fwrite(piece->text, 1, piece->length, file);
      column += flat_width(piece);
      break;
    case PIECE_BREAK:
      column = top->broken ? top->indent : column + piece->amount;
      fprintf(file, "%s%*s", top->broken ? "\n" : "",
              (int)(top->broken ? top->indent : piece->amount), "");
      break;
    case PIECE_OPEN: {
      struct group inner = {column + widths[i] > width,
                            indentation(piece, top->indent, column, width)};
      *array_push(layout->arena, &groups) = inner;
      break;
    }
    case PIECE_CLOSE: groups.count--; break;
    }
  }
}
