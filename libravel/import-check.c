/* import-check.c - arrays of a producer: whether they are what their schema says, without nulls
 * and with offsets and indices in range; and how many elements the columns get.
 */
#include "libravel/import.h"

#include <inttypes.h>

static bool check_node(struct import *, const struct arrow_node *, const struct ArrowArray *,
                       uint64_t first, uint64_t n);

/* ---- the form of an array ---- */

static int64_t buffer_count(const struct arrow_node *node) {
  switch ((enum arrow_kind)node->format.kind) {
  case ARROW_BOOL:
  case ARROW_INTEGER:
  case ARROW_FLOATING:
  case ARROW_LIST: return 2;
  case ARROW_TEXT:
  case ARROW_VIEW: return 3;
  case ARROW_NULL:
  case ARROW_FIXED_LIST:
  case ARROW_STRUCT: break;
  }
  return 1;
}

/* The standard gives nulls no buffers; some producers had one. */
static bool check_buffers(const struct arrow_node *node, const struct ArrowArray *a) {
  const int64_t count = buffer_count(node);
  if (node->format.kind == ARROW_NULL) return a->n_buffers == 0 || a->n_buffers == count;
  if (!a->buffers && a->length > 0) return false;
  return a->n_buffers == count || (node->format.kind == ARROW_VIEW && a->n_buffers > count);
}

/* An array with its offset is so small that the bytes of buffers can be counted. */
enum { ARROW_MOST_BYTES_EACH = 16 };
#define ARROW_MOST_ELEMENTS (INT64_MAX / ARROW_MOST_BYTES_EACH)

static bool check_children(struct import *im, const struct arrow_node *node,
                           const struct ArrowArray *a) {
  if (a->n_children != node->child_count) {
    return import_fail(im, node, "an array with %" PRId64 " children instead of %" PRId64,
                       a->n_children, node->child_count);
  }
  for (int64_t i = 0; i < node->child_count; i++) {
    if (!a->children || !a->children[i]) {
      return import_fail(im, node, "child %" PRId64 " of an array is missing", i);
    }
  }
  if (!a->dictionary == !node->dictionary) return true;
  return import_fail(im, node, "an array %s a dictionary", a->dictionary ? "with" : "without");
}

static bool check_array_form(struct import *im, const struct arrow_node *node,
                             const struct ArrowArray *a) {
  if (!a->release) return import_fail(im, node, "an array that is released");
  if (a->length < 0 || a->offset < 0 || a->offset > ARROW_MOST_ELEMENTS ||
      a->length > ARROW_MOST_ELEMENTS - a->offset) {
    return import_fail(im, node, "an array of length %" PRId64 " at offset %" PRId64, a->length,
                       a->offset);
  }
  if (!check_buffers(node, a)) {
    return import_fail(im, node, "an array with %" PRId64 " buffers instead of %" PRId64,
                       a->buffers ? a->n_buffers : 0, buffer_count(node));
  }
  return check_children(im, node, a);
}

/* ---- nulls ---- */

/* Returns the first bit from `first` on that is not set, or end. */
static uint64_t first_unset(const uint8_t *bits, uint64_t first, uint64_t end) {
  while (first < end) {
    if (first % 8 == 0 && end - first >= 8 && bits[first / 8] == 0xff) {
      first += 8;
    } else if (arrow_bit(bits, first)) {
      first++;
    } else {
      return first;
    }
  }
  return end;
}

static bool check_nulls(struct import *im, const struct arrow_node *node,
                        const struct ArrowArray *a, uint64_t first, uint64_t n) {
  if (node->format.kind == ARROW_NULL && n > 0) {
    return import_fail(im, node, "a null at position %" PRIu64,
                       im->columns.items[node->column].length);
  }
  if (a->null_count == 0 || n == 0) return true;
  if (!a->buffers[0]) {
    if (a->null_count < 0) return true;
    return import_fail(im, node, "%" PRId64 " nulls, and no bitmap of them", a->null_count);
  }
  const uint64_t from = arrow_position(a, first);
  const uint64_t found = first_unset(a->buffers[0], from, from + n);
  if (found == from + n) return true;
  return import_fail(im, node, "a null at position %" PRIu64,
                     im->columns.items[node->column].length + (found - from));
}

/* ---- what columns get ---- */

/* Counts n elements for a column of the node. */
static bool count_elements(struct import *im, const struct arrow_node *node, uint32_t column,
                           uint64_t n) {
  struct import_column *c = &im->columns.items[column];
  if (n > (uint64_t)INT64_MAX / 8 - c->length) {
    return import_fail(im, node, "too many elements");
  }
  c->length += n;
  return true;
}

static bool need_buffer(struct import *im, const struct arrow_node *node,
                        const struct ArrowArray *a, unsigned buffer, uint64_t n) {
  if (n == 0 || a->buffers[buffer]) return true;
  return import_fail(im, node, "buffer %u of an array of %" PRId64 " elements is missing",
                     buffer, a->length);
}

/* Checks that offsets increase. Now and then it asks whether to go on; memory_failed means no.
 */
static bool check_increase(struct import *im, const struct arrow_node *node,
                           const struct ArrowArray *a, uint64_t from, uint64_t n) {
  enum { AT_ONCE = 1 << 20 };
  for (uint64_t i = 0; i < n; i += AT_ONCE) {
    const uint64_t some = n - i < AT_ONCE ? n - i : AT_ONCE;
    if (stop_asks(im->heap->stop)) memory_failed();
    if (!arrow_offsets_increase(&node->format, a->buffers[1], from + i, some)) return false;
  }
  return true;
}

/* Refuses offsets that decrease, are negative, or go beyond `limit`. */
static bool check_offsets_within(struct import *im, const struct arrow_node *node,
                                 const struct ArrowArray *a, uint64_t first, uint64_t n,
                                 int64_t limit, int64_t *begin, int64_t *end) {
  const uint64_t from = arrow_position(a, first);
  const uint64_t before = im->columns.items[node->column].length;
  *begin = *end = 0;
  if (n == 0) return true; /* then there may be no offsets at all */
  if (!need_buffer(im, node, a, 1, n)) return false;
  *begin = *end = arrow_integer(&node->format, a->buffers[1], from);
  const int64_t last = arrow_integer(&node->format, a->buffers[1], from + n);
  if (*begin >= 0 && last <= limit && check_increase(im, node, a, from, n)) {
    *end = last;
    return true;
  }
  for (uint64_t i = 0; i < n; i++) { /* where is it? */
    const int64_t start = *end;
    *end = arrow_integer(&node->format, a->buffers[1], from + i + 1);
    if (start >= 0 && *end >= start && *end <= limit) continue;
    return import_fail(im, node,
                       "the offsets at position %" PRIu64 " are %" PRId64 " and %" PRId64
                       ", of %" PRId64 " elements",
                       before + i, start, *end, limit);
  }
  return true;
}

static bool check_list_node(struct import *im, const struct arrow_node *node,
                            const struct ArrowArray *a, uint64_t first, uint64_t n) {
  int64_t begin, end;
  return check_offsets_within(im, node, a, first, n, a->children[0]->length, &begin, &end) &&
         count_elements(im, node, node->column, n) &&
         check_node(im, node->children[0], a->children[0], (uint64_t)begin,
                    (uint64_t)(end - begin));
}

/* Checks texts. Only the offsets say how long their bytes are. */
static bool check_text_node(struct import *im, const struct arrow_node *node,
                            const struct ArrowArray *a, uint64_t first, uint64_t n) {
  int64_t begin, end;
  if (!check_offsets_within(im, node, a, first, n, INT64_MAX, &begin, &end)) return false;
  const uint64_t bytes = (uint64_t)(end - begin);
  return need_buffer(im, node, a, 2, bytes) && count_elements(im, node, node->column, n) &&
         count_elements(im, node, node->column + 1, bytes);
}

/* Returns whether a view refers to bytes that the array has. */
static bool view_is_inside(const struct ArrowArray *a, const struct arrow_view *v) {
  if (v->length <= ARROW_VIEW_SHORT) return v->length >= 0;
  return v->buffer >= 0 && v->buffer < a->n_buffers - 3 && v->offset >= 0 &&
         a->buffers[a->n_buffers - 1] && a->buffers[2 + v->buffer] &&
         v->offset <= arrow_view_bytes(a, v->buffer) - v->length;
}

static bool check_views(struct import *im, const struct arrow_node *node,
                        const struct ArrowArray *a, uint64_t first, uint64_t n) {
  uint64_t bytes = 0;
  if (!need_buffer(im, node, a, 1, n)) return false;
  for (uint64_t i = 0; i < n; i++) {
    const struct arrow_view v = arrow_view(a, arrow_position(a, first + i));
    if (!view_is_inside(a, &v)) {
      return import_fail(im, node,
                         "the text at position %" PRIu64 " has length %d at offset %d of buffer"
                         " %d, which ends before",
                         im->columns.items[node->column].length + i, v.length, v.offset,
                         v.buffer);
    }
    bytes += (uint64_t)v.length;
  }
  return count_elements(im, node, node->column, n) &&
         count_elements(im, node, node->column + 1, bytes);
}

/* Whether a child has as many elements as its parent needs. */
static bool check_length(struct import *im, const struct arrow_node *node,
                         const struct ArrowArray *child, uint64_t needed) {
  if (child->length >= 0 && needed <= (uint64_t)child->length) return true;
  return import_fail(im, node,
                     "an array of length %" PRId64 ", shorter than the %" PRIu64
                     " of what it belongs to",
                     child->length, needed);
}

static bool check_fixed_list(struct import *im, const struct arrow_node *node,
                             const struct ArrowArray *a, uint64_t first, uint64_t n) {
  const uint64_t size = (uint64_t)node->format.size, from = arrow_position(a, first);
  if (size > 0 && from + n > (uint64_t)INT64_MAX / size) {
    return import_fail(im, node, "too many elements");
  }
  return check_length(im, node->children[0], a->children[0], n > 0 ? (from + n) * size : 0) &&
         count_elements(im, node, node->column, n) &&
         check_node(im, node->children[0], a->children[0], n > 0 ? from * size : 0, n * size);
}

static bool check_struct(struct import *im, const struct arrow_node *node,
                         const struct ArrowArray *a, uint64_t first, uint64_t n) {
  const uint64_t from = n > 0 ? arrow_position(a, first) : 0;
  for (int64_t i = 0; i < node->child_count; i++) {
    if (!check_length(im, node->children[i], a->children[i], from + n) ||
        !check_node(im, node->children[i], a->children[i], from, n)) {
      return false;
    }
  }
  return true;
}

static bool check_indices(struct import *im, const struct arrow_node *node,
                          const struct ArrowArray *a, uint64_t first, uint64_t n) {
  if (!need_buffer(im, node, a, 1, n)) return false;
  if (n == 0) return check_node(im, node->dictionary, a->dictionary, 0, 0);
  for (uint64_t i = 0; i < n; i++) {
    const int64_t index =
        arrow_integer(&node->format, a->buffers[1], arrow_position(a, first + i));
    if (index < 0 || index >= a->dictionary->length) {
      return import_fail(im, node,
                         "the index %" PRId64 " at position %" PRIu64
                         ", of a dictionary of %" PRId64,
                         index, im->columns.items[node->column].length, a->dictionary->length);
    }
    if (!check_node(im, node->dictionary, a->dictionary, (uint64_t)index, 1)) return false;
  }
  return true;
}

/* Checks elements first .. first + n, which the array has if its length is true. */
static bool check_node(struct import *im, const struct arrow_node *node,
                       const struct ArrowArray *a, uint64_t first, uint64_t n) {
  if (!check_array_form(im, node, a) || !check_nulls(im, node, a, first, n)) return false;
  if (node->dictionary) return check_indices(im, node, a, first, n);
  switch ((enum arrow_kind)node->format.kind) {
  case ARROW_NULL: return true; /* there are no elements */
  case ARROW_BOOL:
  case ARROW_INTEGER:
  case ARROW_FLOATING: break;
  case ARROW_TEXT: return check_text_node(im, node, a, first, n);
  case ARROW_VIEW: return check_views(im, node, a, first, n);
  case ARROW_LIST: return check_list_node(im, node, a, first, n);
  case ARROW_FIXED_LIST: return check_fixed_list(im, node, a, first, n);
  case ARROW_STRUCT: return check_struct(im, node, a, first, n);
  }
  return need_buffer(im, node, a, 1, n) && count_elements(im, node, node->column, n);
}

bool import_check(struct import *im, const struct ArrowArray *a) {
  return check_node(im, im->root, a, 0, a->length > 0 ? (uint64_t)a->length : 0);
}
