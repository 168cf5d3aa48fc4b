/* import-fill.c - arrays that import_check has accepted, added to columns: of which parts of
 * their buffers these consist. */
#include "libravel/import.h"

static bool fill_node(struct import *, const struct arrow_node *, const struct ArrowArray *,
                      uint64_t first, uint64_t n);

/* ---- parts of columns ---- */

void import_allocate(struct import *im) {
  int64_t *rows = import_room(im, &im->columns.items[0]);
  *rows = (int64_t)im->columns.items[im->root->column].length;
  im->columns.items[0].filled = 1;
}

/* Makes a part at once, where others have been made before. */
static bool make_part_now(struct import *im, uint32_t column, const struct import_part *p) {
  struct import_column one = im->columns.items[column];
  struct import_part moved = *p;
  char *const to =
      (char *)import_room(im, &im->columns.items[column]) + (p->at - one.gone) * one.bytes;
  moved.at = 0;
  one.parts.items = &moved;
  one.parts.count = 1;
  struct import_job job = {&one, import_elem(im, column), UINT64_MAX};
  import_make(&job, 0, p->count, to);
  return job.lost == UINT64_MAX ||
         import_fail_value(im, p->node, p->buffer, p->from + job.lost, p->at + job.lost);
}

/* Adds a part at the end of a column. */
static bool add_import_part(struct import *im, uint32_t column, struct import_part part) {
  struct import_column *c = &im->columns.items[column];
  if (part.count == 0) return true;
  part.at = c->filled;
  part.array = im->filled;
  part.before = c->sum;
  c->filled += part.count;
  if (part.node->decoded) return make_part_now(im, column, &part);
  *array_push(im->arena, &c->parts) = part;
  return true;
}

/* Adds a part of lengths with this sum at the end of a column. */
static bool add_lengths_part(struct import *im, uint32_t column, struct import_part part,
                             uint64_t sum) {
  if (!add_import_part(im, column, part)) return false;
  im->columns.items[column].sum += sum;
  return true;
}

/* ---- elements and sequences ---- */

static bool fill_element_part(struct import *im, const struct arrow_node *node,
                              const struct ArrowArray *a, uint64_t first, uint64_t n) {
  return add_import_part(im, node->column,
                         (struct import_part){.count = n,
                                              .node = node,
                                              .format = &node->format,
                                              .buffer = a->buffers[1],
                                              .from = arrow_position(a, first),
                                              .source = IMPORT_ELEMENTS});
}

/* Adds the lengths between n + 1 offsets, and finds where the elements begin and end. */
static bool fill_lengths(struct import *im, const struct arrow_node *node,
                         const struct ArrowArray *a, uint64_t first, uint64_t n, int64_t *begin,
                         int64_t *end) {
  const uint64_t from = arrow_position(a, first);
  *begin = arrow_integer(&node->format, a->buffers[1], from);
  *end = arrow_integer(&node->format, a->buffers[1], from + n);
  return add_lengths_part(im, node->column,
                          (struct import_part){.count = n,
                                               .node = node,
                                               .format = &node->format,
                                               .buffer = a->buffers[1],
                                               .from = from,
                                               .source = IMPORT_LENGTHS},
                          (uint64_t)(*end - *begin));
}

static bool fill_list(struct import *im, const struct arrow_node *node,
                      const struct ArrowArray *a, uint64_t first, uint64_t n) {
  int64_t begin, end;
  return fill_lengths(im, node, a, first, n, &begin, &end) &&
         fill_node(im, node->children[0], a->children[0], (uint64_t)begin,
                   (uint64_t)(end - begin));
}

static bool fill_text(struct import *im, const struct arrow_node *node,
                      const struct ArrowArray *a, uint64_t first, uint64_t n) {
  static const struct arrow_format byte = {
      .kind = ARROW_INTEGER, .bytes = 1, .is_unsigned = true};
  int64_t begin, end;
  return fill_lengths(im, node, a, first, n, &begin, &end) &&
         add_import_part(im, node->column + 1,
                         (struct import_part){.count = (uint64_t)(end - begin),
                                              .node = node,
                                              .format = &byte,
                                              .buffer = a->buffers[2],
                                              .from = (uint64_t)begin,
                                              .source = IMPORT_ELEMENTS});
}

/* Adds texts that may be anywhere: each is a part of its own, made at once. */
static bool fill_views(struct import *im, const struct arrow_node *node,
                       const struct ArrowArray *a, uint64_t first, uint64_t n) {
  static const struct arrow_format byte = {
      .kind = ARROW_INTEGER, .bytes = 1, .is_unsigned = true};
  for (uint64_t i = 0; i < n; i++) {
    const struct arrow_view v = arrow_view(a, arrow_position(a, first + i));
    const int32_t offsets[] = {0, v.length};
    const bool is_short = v.length <= ARROW_VIEW_SHORT;
    if (!add_import_part(im, node->column,
                         (struct import_part){.count = 1,
                                              .node = node,
                                              .format = &node->format,
                                              .buffer = offsets,
                                              .source = IMPORT_LENGTHS}) ||
        !add_import_part(
            im, node->column + 1,
            (struct import_part){.count = (uint64_t)v.length,
                                 .node = node,
                                 .format = &byte,
                                 .buffer = is_short ? v.bytes : a->buffers[2 + v.buffer],
                                 .from = is_short ? 0 : (uint64_t)v.offset,
                                 .source = IMPORT_ELEMENTS})) {
      return false;
    }
  }
  return true;
}

static bool fill_fixed_list(struct import *im, const struct arrow_node *node,
                            const struct ArrowArray *a, uint64_t first, uint64_t n) {
  const uint64_t size = (uint64_t)node->format.size, from = arrow_position(a, first);
  return add_lengths_part(
             im, node->column,
             (struct import_part){.count = n, .node = node, .source = IMPORT_EQUAL},
             n * size) &&
         fill_node(im, node->children[0], a->children[0], from * size, n * size);
}

static bool fill_struct(struct import *im, const struct arrow_node *node,
                        const struct ArrowArray *a, uint64_t first, uint64_t n) {
  for (int64_t i = 0; i < node->child_count; i++) {
    if (!fill_node(im, node->children[i], a->children[i], arrow_position(a, first), n))
      return false;
  }
  return true;
}

static bool fill_index_part(struct import *im, const struct arrow_node *node,
                            const struct ArrowArray *a, uint64_t first, uint64_t n) {
  const uint64_t from = arrow_position(a, first);
  for (uint64_t i = 0; i < n; i++) {
    const int64_t index = arrow_integer(&node->format, a->buffers[1], from + i);
    if (!fill_node(im, node->dictionary, a->dictionary, (uint64_t)index, 1)) return false;
  }
  return true;
}

static bool fill_node(struct import *im, const struct arrow_node *node,
                      const struct ArrowArray *a, uint64_t first, uint64_t n) {
  if (n == 0) return true;
  if (node->dictionary) return fill_index_part(im, node, a, first, n);
  switch ((enum arrow_kind)node->format.kind) {
  case ARROW_NULL:
  case ARROW_BOOL:
  case ARROW_INTEGER:
  case ARROW_FLOATING: break;
  case ARROW_TEXT: return fill_text(im, node, a, first, n);
  case ARROW_VIEW: return fill_views(im, node, a, first, n);
  case ARROW_LIST: return fill_list(im, node, a, first, n);
  case ARROW_FIXED_LIST: return fill_fixed_list(im, node, a, first, n);
  case ARROW_STRUCT: return fill_struct(im, node, a, first, n);
  }
  return fill_element_part(im, node, a, first, n);
}

bool import_fill(struct import *im, const struct ArrowArray *a) {
  const bool good = fill_node(im, im->root, a, 0, (uint64_t)a->length);
  im->filled++;
  return good;
}
