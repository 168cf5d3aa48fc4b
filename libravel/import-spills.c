/* import-spills.c - streams larger than memory: array by array, each column into a spill.
 *
 * Elements that an array has as they are wanted go from its buffer to the file, others by way
 * of a strip in memory. Lengths become offsets, since the back end makes a descriptor of those.
 */
#include "libravel/spills.h"

#include <string.h>

/* Elements of a column that are converted at once. */
enum { STRIP = 1 << 16, STRIP_BYTES = STRIP * sizeof(int64_t) };

static const char too_large[] = "the stream does not fit in memory";

/* ---- whether ---- */

static uint64_t import_threshold(const struct ravel_context *c) {
  enum { MEMORY_PART = 16 };
  return c->options.spill ? c->options.spill : c->heap.limit / MEMORY_PART;
}

bool import_spills_wanted(const struct ravel_context *c, const struct import *im) {
  uint64_t bytes = 0;
  if (c->options.no_spills || im->columns.count > RAVEL_MOST_SPILLS) return false;
  for (size_t i = 1; i < im->columns.count; i++) {
    const struct import_column *column = &im->columns.items[i];
    bytes += column->length * column->bytes;
  }
  return bytes > import_threshold(c);
}

/* ---- elements into spills ---- */

struct adding {
  struct ravel_context *c;
  struct import *im;
  struct import_spills *to;
  uint32_t column;
};

static enum ravel_code append_to_spill(const struct adding *a, const void *data,
                                       uint64_t bytes) {
  struct file_problem problem;
  return ravel_spill_append(a->to->columns[a->column], data, bytes, &problem)
             ? RAVEL_OK
             : ravel_fail_spill(a->c, too_large, &problem);
}

/* Replaces lengths by the sums of all before them. */
static void lengths_to_offsets(int64_t *lengths, uint64_t n, uint64_t *sum) {
  for (uint64_t i = 0; i < n; i++) {
    const int64_t length = lengths[i];
    lengths[i] = (int64_t)*sum;
    *sum += (uint64_t)length;
  }
}

static enum ravel_code add_converted(const struct adding *a, uint64_t first, uint64_t n) {
  const struct import_column *column = &a->im->columns.items[a->column];
  for (uint64_t end = first + n; first < end; first += STRIP) {
    const uint64_t some = end - first < STRIP ? end - first : STRIP;
    if (!import_read(a->im, a->column, first, some, a->to->strip)) {
      return ravel_fail(a->c, RAVEL_DATA, "%s", a->im->problem);
    }
    if (column->kind == COLUMN_SEGDES) {
      lengths_to_offsets(a->to->strip, some, &a->to->sums[a->column]);
    }
    const enum ravel_code code = append_to_spill(a, a->to->strip, some * column->bytes);
    if (code != RAVEL_OK) return code;
  }
  return RAVEL_OK;
}

static enum ravel_code spill_part(const struct adding *a, const struct import_part *p) {
  if (p->source != IMPORT_ELEMENTS || !arrow_is_same(p->format, import_elem(a->im, a->column)))
    return add_converted(a, p->at, p->count);
  return append_to_spill(a, (const char *)p->buffer + p->from * p->format->bytes,
                         p->count * p->format->bytes);
}

static enum ravel_code spill_column(const struct adding *a) {
  const struct import_column *column = &a->im->columns.items[a->column];
  if (column->made) return add_converted(a, column->gone, column->length - column->gone);
  for (size_t i = 0; i < column->parts.count; i++) {
    const enum ravel_code code = spill_part(a, &column->parts.items[i]);
    if (code != RAVEL_OK) return code;
  }
  return RAVEL_OK;
}

/* ---- the spills of a stream ---- */

static size_t columns_bytes(const struct import *im) {
  return im->columns.count * sizeof(struct ravel_spill *);
}

static size_t sums_bytes(const struct import *im) {
  return im->columns.count * sizeof(uint64_t);
}

static bool allocate_spills(struct ravel_context *c, const struct import *im,
                            struct import_spills *s) {
  s->columns = heap_alloc(&c->heap, columns_bytes(im));
  if (s->columns) memset(s->columns, 0, columns_bytes(im));
  s->sums = heap_alloc(&c->heap, sums_bytes(im));
  if (s->sums) memset(s->sums, 0, sums_bytes(im));
  s->strip = heap_alloc(&c->heap, STRIP_BYTES);
  return s->columns && s->sums && s->strip;
}

static enum ravel_code begin_import_spills(struct ravel_context *c, const struct import *im,
                                           struct import_spills *s) {
  struct file_problem problem;
  if (!allocate_spills(c, im, s)) return ravel_fail_memory(c);
  for (size_t i = 1; i < im->columns.count; i++) {
    s->columns[i] = ravel_spill_new(c, &problem);
    if (!s->columns[i]) return ravel_fail_spill(c, too_large, &problem);
  }
  return RAVEL_OK;
}

enum ravel_code import_spills_add(struct ravel_context *c, struct import *im,
                                  struct import_spills *s) {
  enum ravel_code code = s->columns ? RAVEL_OK : begin_import_spills(c, im, s);
  for (uint32_t i = 1; code == RAVEL_OK && i < im->columns.count; i++) {
    code = spill_column(&(struct adding){c, im, s, i});
  }
  import_forget(im);
  return code;
}

void import_spills_free(struct ravel_context *c, const struct import *im,
                        struct import_spills *s) {
  for (size_t i = 1; s->columns && i < im->columns.count; i++) ravel_spill_drop(s->columns[i]);
  heap_free(&c->heap, s->columns, columns_bytes(im));
  heap_free(&c->heap, s->sums, sums_bytes(im));
  heap_free(&c->heap, s->strip, STRIP_BYTES);
  *s = (struct import_spills){0};
}

/* ---- into the back end ---- */

static void copy_spilled_offsets(void *offsets, uint64_t first, uint64_t n, void *to) {
  memcpy(to, (const int64_t *)offsets + first, n * sizeof(int64_t));
}

/* Uploads lengths: a descriptor is in memory, whatever it is made of. */
static bool upload_spilled_lengths(const struct adding *a, const void *offsets, uint64_t n,
                                   struct cvl_value *out) {
  const struct cvl_filler filler = {copy_spilled_offsets, (void *)(uintptr_t)offsets};
  return machine_value_segdes(a->c->machine, n, &filler, out, a->c->diags);
}

/* Uploads elements: the spill passes to the vector. */
static bool upload_spilled_elements(const struct adding *a, const void *data, uint64_t n,
                                    struct cvl_value *out) {
  struct ravel_spill *spill = a->to->columns[a->column];
  const struct cvl_notice end = ravel_spill_end_of_vector(spill);
  a->to->columns[a->column] = NULL;
  struct ravel_spill *kept = ravel_spill_keep(spill);
  const bool good = machine_value_import(a->c->machine, import_elem(a->im, a->column), data, n,
                                         end, out, a->c->diags);
  if (good) ravel_spill_note(kept, out);
  ravel_spill_release(kept);
  return good;
}

enum ravel_code import_spills_upload(struct ravel_context *c, struct import *im,
                                     struct import_spills *s, uint32_t column,
                                     struct cvl_value *out) {
  const struct adding a = {c, im, s, column};
  struct file_problem problem;
  const bool lengths = im->columns.items[column].kind == COLUMN_SEGDES;
  const uint64_t n = im->columns.items[column].length;
  const int64_t sum = (int64_t)s->sums[column];
  const enum ravel_code code = lengths ? append_to_spill(&a, &sum, sizeof sum) : RAVEL_OK;
  if (code != RAVEL_OK) return code;
  const void *data = ravel_spill_finish(s->columns[column], &problem);
  if (!data) return ravel_fail_spill(c, too_large, &problem);
  const bool good = lengths ? upload_spilled_lengths(&a, data, n, out)
                            : upload_spilled_elements(&a, data, n, out);
  if (lengths) {
    ravel_spill_drop(s->columns[column]);
    s->columns[column] = NULL;
  }
  return good ? RAVEL_OK : ravel_fail_machine(c);
}
