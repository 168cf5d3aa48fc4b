/* import-fill.c - arrays that import_check has accepted, appended to columns. */
#include "libravel/import.h"

#include <inttypes.h>

static bool fill(struct import *, const struct arrow_node *, const struct ArrowArray *,
                 uint64_t first, uint64_t n);

/* ---- memory ---- */

void import_allocate(struct import *im) {
  uint64_t total = im->columns.items[im->root->column].length;
  if (total > 0) im->columns.items[0].ranges = 1;
  int64_t *rows = im->columns.items[0].owned = heap_alloc(im->heap, sizeof *rows);
  if (!rows) memory_failed();
  *rows = (int64_t)total;
  im->columns.items[0].data = rows;
  im->columns.items[0].filled = 1;
}

/* The memory where the next elements of a column go: allocated when it is first needed, so that
 * a column that is borrowed has none. */
static void *room(struct import *im, struct import_column *c) {
  if (!c->owned) {
    c->owned = heap_alloc(im->heap, (size_t)c->length * c->bytes);
    if (!c->owned) memory_failed();
    c->data = c->owned;
  }
  return (char *)c->owned + c->filled * c->bytes;
}

void import_free_column(struct import *im, uint32_t column) {
  struct import_column *c = &im->columns.items[column];
  heap_free(im->heap, c->owned, (size_t)c->length * c->bytes);
  c->owned = NULL;
  c->data = NULL;
}

void import_free(struct import *im) {
  for (uint32_t i = 0; i < im->columns.count; i++) import_free_column(im, i);
}

/* ---- elements ---- */

static enum cvl_elem elem_of(const struct import *im, const struct import_column *c) {
  if (c->kind == COLUMN_BOOL) return CVL_BOOL;
  return c->kind == COLUMN_FLOAT ? im->float_elem : im->int_elem;
}

static bool fail_value(struct import *im, const struct arrow_node *node, const void *buffer,
                       uint64_t i, uint64_t position) {
  if (node->format.kind == ARROW_INTEGER) {
    return import_fail(im, node,
                       "%" PRId64 " at position %" PRIu64 " does not fit an INT of 32 bits",
                       arrow_integer(&node->format, buffer, i), position);
  }
  double x;
  (void)arrow_convert(&node->format, buffer, i, 1, CVL_F64, &x);
  return import_fail(im, node,
                     "%.17g at position %" PRIu64 " changes its value in a FLOAT of 32 bits", x,
                     position);
}

static bool fill_elements(struct import *im, const struct arrow_node *node,
                          const struct ArrowArray *a, uint64_t first, uint64_t n) {
  struct import_column *c = &im->columns.items[node->column];
  const uint64_t from = arrow_position(a, first);
  if (n == 0) return true;
  if (c->ranges == 1 && arrow_is_same(&node->format, elem_of(im, c))) {
    c->data = (const char *)a->buffers[1] + from * c->bytes;
    c->filled = n;
    return true;
  }
  const uint64_t done =
      arrow_convert(&node->format, a->buffers[1], from, n, elem_of(im, c), room(im, c));
  if (done < n) return fail_value(im, node, a->buffers[1], from + done, c->filled + done);
  c->filled += n;
  return true;
}

/* ---- sequences ---- */

/* Appends the lengths between n + 1 offsets; where elements begin and end. */
static void fill_lengths(struct import *im, const struct arrow_node *node,
                         const struct ArrowArray *a, uint64_t first, uint64_t n, int64_t *begin,
                         int64_t *end) {
  struct import_column *c = &im->columns.items[node->column];
  int64_t *lengths = room(im, c);
  const uint64_t from = arrow_position(a, first);
  *begin = *end = arrow_integer(&node->format, a->buffers[1], from);
  for (uint64_t i = 0; i < n; i++) {
    const int64_t next = arrow_integer(&node->format, a->buffers[1], from + i + 1);
    lengths[i] = next - *end;
    *end = next;
  }
  c->filled += n;
}

static bool fill_list(struct import *im, const struct arrow_node *node,
                      const struct ArrowArray *a, uint64_t first, uint64_t n) {
  int64_t begin, end;
  fill_lengths(im, node, a, first, n, &begin, &end);
  return fill(im, node->children[0], a->children[0], (uint64_t)begin, (uint64_t)(end - begin));
}

static bool fill_text(struct import *im, const struct arrow_node *node,
                      const struct ArrowArray *a, uint64_t first, uint64_t n) {
  static const struct arrow_format byte = {
      .kind = ARROW_INTEGER, .bytes = 1, .is_unsigned = true};
  struct import_column *c = &im->columns.items[node->column + 1];
  int64_t begin, end;
  fill_lengths(im, node, a, first, n, &begin, &end);
  const uint64_t bytes = (uint64_t)(end - begin);
  if (bytes == 0) return true;
  arrow_convert(&byte, a->buffers[2], (uint64_t)begin, bytes, im->int_elem, room(im, c));
  c->filled += bytes;
  return true;
}

static bool fill_fixed_list(struct import *im, const struct arrow_node *node,
                            const struct ArrowArray *a, uint64_t first, uint64_t n) {
  struct import_column *c = &im->columns.items[node->column];
  const uint64_t size = (uint64_t)node->format.size, from = arrow_position(a, first);
  int64_t *lengths = room(im, c);
  for (uint64_t i = 0; i < n; i++) lengths[i] = node->format.size;
  c->filled += n;
  return fill(im, node->children[0], a->children[0], from * size, n * size);
}

static bool fill_struct(struct import *im, const struct arrow_node *node,
                        const struct ArrowArray *a, uint64_t first, uint64_t n) {
  for (int64_t i = 0; i < node->child_count; i++) {
    if (!fill(im, node->children[i], a->children[i], arrow_position(a, first), n)) return false;
  }
  return true;
}

static bool fill_indices(struct import *im, const struct arrow_node *node,
                         const struct ArrowArray *a, uint64_t first, uint64_t n) {
  const uint64_t from = arrow_position(a, first);
  for (uint64_t i = 0; i < n; i++) {
    const int64_t index = arrow_integer(&node->format, a->buffers[1], from + i);
    if (!fill(im, node->dictionary, a->dictionary, (uint64_t)index, 1)) return false;
  }
  return true;
}

static bool fill(struct import *im, const struct arrow_node *node, const struct ArrowArray *a,
                 uint64_t first, uint64_t n) {
  if (n == 0) return true;
  if (node->dictionary) return fill_indices(im, node, a, first, n);
  switch ((enum arrow_kind)node->format.kind) {
  case ARROW_BOOL:
  case ARROW_INTEGER:
  case ARROW_FLOATING: break;
  case ARROW_TEXT: return fill_text(im, node, a, first, n);
  case ARROW_LIST: return fill_list(im, node, a, first, n);
  case ARROW_FIXED_LIST: return fill_fixed_list(im, node, a, first, n);
  case ARROW_STRUCT: return fill_struct(im, node, a, first, n);
  }
  return fill_elements(im, node, a, first, n);
}

bool import_fill(struct import *im, const struct ArrowArray *a) {
  return fill(im, im->root, a, 0, (uint64_t)a->length);
}
