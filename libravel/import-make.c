/* import-make.c - the elements of complete columns: where they are, or made from the parts that
 * import_fill has noted.
 */
#include "libravel/import.h"

#include <inttypes.h>
#include <string.h>

enum cvl_elem import_elem(const struct import *im, uint32_t column) {
  switch ((enum column_kind)im->columns.items[column].kind) {
  case COLUMN_BOOL: return CVL_BOOL;
  case COLUMN_FLOAT: return im->float_elem;
  case COLUMN_INT: return im->int_elem;
  case COLUMN_SEGDES: break;
  }
  return CVL_I64;
}

const void *import_borrowable(const struct import *im, uint32_t column, uint32_t *array) {
  const struct import_column *c = &im->columns.items[column];
  if (c->parts.count != 1) return NULL;
  const struct import_part *p = &c->parts.items[0];
  if (p->source != IMPORT_ELEMENTS || !arrow_is_same(p->format, import_elem(im, column))) {
    return NULL;
  }
  *array = p->array;
  return (const char *)p->buffer + p->from * p->format->bytes;
}

/* ---- from parts ---- */

static const struct import_part *part_at(const struct import_column *c, uint64_t position) {
  size_t low = 0, high = c->parts.count - 1;
  while (low < high) {
    const size_t middle = high - (high - low) / 2;
    if (c->parts.items[middle].at <= position) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return &c->parts.items[low];
}

/* Makes elements of a part. Returns how many keep their value before one that does not. */
static uint64_t make_part(const struct import_part *p, uint64_t skip, uint64_t n,
                          enum cvl_elem elem, void *to) {
  int64_t *lengths = to;
  switch ((enum import_source)p->source) {
  case IMPORT_ELEMENTS: return arrow_convert(p->format, p->buffer, p->from + skip, n, elem, to);
  case IMPORT_LENGTHS: arrow_lengths(p->format, p->buffer, p->from + skip, n, to); break;
  case IMPORT_EQUAL:
    for (uint64_t i = 0; i < n; i++) lengths[i] = p->node->format.size;
    break;
  }
  return n;
}

static void note_lost_position(struct import_job *job, uint64_t position) {
  uint64_t seen = job->lost;
  while (position < seen && !atomic_compare_exchange_weak(&job->lost, &seen, position)) {
  }
}

void import_make(void *with, uint64_t first, uint64_t n, void *to) {
  struct import_job *job = with;
  const size_t each = elem_info(job->elem)->bytes;
  if (n == 0) return;
  for (const struct import_part *p = part_at(job->column, first); n > 0; p++) {
    const uint64_t skip = first - p->at, left = p->count - skip, some = n < left ? n : left;
    const uint64_t kept = make_part(p, skip, some, job->elem, to);
    if (kept < some) note_lost_position(job, first + kept);
    to = (char *)to + some * each;
    first += some;
    n -= some;
  }
}

/* Makes offsets first .. first + n of a part; its last one is its end. */
static void part_offsets(const struct import_part *p, uint64_t skip, uint64_t n, int64_t *to) {
  if (p->source == IMPORT_EQUAL) {
    for (uint64_t i = 0; i < n; i++) {
      to[i] = (int64_t)p->before + (int64_t)(skip + i) * p->node->format.size;
    }
    return;
  }
  static const struct arrow_format whole = {.kind = ARROW_INTEGER, .bytes = 8};
  struct arrow_format format = whole;
  format.bytes = p->format->bytes;
  (void)arrow_convert(&format, p->buffer, p->from + skip, n, CVL_I64, to);
  const int64_t shift = (int64_t)p->before - arrow_integer(&format, p->buffer, p->from);
  for (uint64_t i = 0; i < n; i++) to[i] += shift;
}

void import_make_offsets(void *with, uint64_t first, uint64_t n, void *to) {
  const struct import_column *c = with;
  int64_t *out = to;
  while (n > 0) {
    const uint64_t position = first < c->length ? first : c->length - 1;
    const struct import_part *p = part_at(c, position);
    const bool last = p == &c->parts.items[c->parts.count - 1];
    const uint64_t skip = first - p->at, left = p->count - skip + last;
    const uint64_t some = n < left ? n : left;
    part_offsets(p, skip, some, out);
    out += some;
    first += some;
    n -= some;
  }
}

bool import_fail_lost(struct import *im, uint32_t column, uint64_t position) {
  const struct import_part *p = part_at(&im->columns.items[column], position);
  return import_fail_value(im, p->node, p->buffer, p->from + (position - p->at), position);
}

bool import_fail_value(struct import *im, const struct arrow_node *node, const void *buffer,
                       uint64_t i, uint64_t position) {
  if (node->format.kind == ARROW_INTEGER) {
    const int64_t x = arrow_integer(&node->format, buffer, i);
    const bool is_large = node->format.is_unsigned && node->format.bytes == 8;
    const char *said = is_large ? arena_printf(im->arena, "%" PRIu64, (uint64_t)x)
                                : arena_printf(im->arena, "%" PRId64, x);
    return import_fail(im, node, "%s at position %" PRIu64 " does not fit an INT of %zu bits",
                       said, position, 8 * elem_info(im->int_elem)->bytes);
  }
  double x;
  (void)arrow_convert(&node->format, buffer, i, 1, CVL_F64, &x);
  return import_fail(im, node,
                     "%.17g at position %" PRIu64 " changes its value in a FLOAT of 32 bits", x,
                     position);
}

/* ---- into memory of the heap ---- */

void *import_room(struct import *im, struct import_column *c) {
  if (!c->made) {
    const size_t bytes = sizeof *c->made + (size_t)(c->length - c->gone) * c->bytes;
    c->made = heap_alloc(im->heap, bytes);
    if (!c->made) memory_failed();
    c->made->heap = im->heap;
    c->made->bytes = bytes;
  }
  return c->made->data;
}

const void *import_gather(struct import *im, uint32_t column) {
  struct import_column *c = &im->columns.items[column];
  if (c->made) return c->made->data;
  struct import_job job = {c, import_elem(im, column), UINT64_MAX};
  import_make(&job, 0, c->length, import_room(im, c));
  if (job.lost == UINT64_MAX) return c->made->data;
  return import_fail_lost(im, column, job.lost), NULL;
}

static void free_made(void *made) {
  struct import_memory *m = made;
  if (m) heap_free(m->heap, m, m->bytes);
}

struct cvl_notice import_give(struct import *im, uint32_t column) {
  struct import_column *c = &im->columns.items[column];
  const struct cvl_notice notice = {free_made, c->made};
  c->made = NULL;
  return notice;
}

void import_free(struct import *im) {
  for (uint32_t i = 0; i < im->columns.count; i++) {
    free_made(im->columns.items[i].made);
    im->columns.items[i].made = NULL;
  }
}

bool import_read(struct import *im, uint32_t column, uint64_t first, uint64_t n, void *to) {
  const struct import_column *c = &im->columns.items[column];
  struct import_job job = {c, import_elem(im, column), UINT64_MAX};
  if (c->made) {
    memcpy(to, c->made->data + (first - c->gone) * c->bytes, n * c->bytes);
    return true;
  }
  import_make(&job, first, n, to);
  return job.lost == UINT64_MAX || import_fail_lost(im, column, job.lost);
}

void import_forget(struct import *im) {
  import_free(im);
  for (uint32_t i = 0; i < im->columns.count; i++) {
    struct import_column *c = &im->columns.items[i];
    c->parts.count = 0;
    c->gone = c->filled;
  }
}
