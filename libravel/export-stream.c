/* export-stream.c - ravel_export_stream: values as streams of arrays, so that a consumer need
 * not have all of them in memory.
 *
 * The value is exported as one array, which shares what is in temporary files; the arrays of
 * the stream are slices of it.
 */
#include "libravel/spills.h"

#include "libravel/export.h"

#include <stdlib.h>

/* The spills of the value, whose pages the stream gives back when they have been read. */
struct readers {
  uint32_t count;
  struct ravel_spill *spills[];
};

static void readers_give_back(void *with) {
  const struct readers *r = with;
  for (uint32_t i = 0; i < r->count; i++) ravel_spill_give_back(r->spills[i]);
}

static void readers_end(void *with) {
  struct readers *r = with;
  for (uint32_t i = 0; i < r->count; i++) ravel_spill_release(r->spills[i]);
  free(r);
}

/* Returns the spills' readers; NULL without memory. */
static struct readers *begin_readers(struct ravel_context *c, const struct ravel_value *value) {
  struct readers *r = malloc(sizeof *r + value->count * sizeof r->spills[0]);
  if (!r) return NULL;
  r->count = 0;
  for (uint32_t i = 0; i < value->count; i++) {
    r->spills[r->count] = ravel_spill_of(c, &value->columns[i]);
    r->count += r->spills[r->count] != NULL;
  }
  return r;
}

/* ---- how many rows ---- */

/* Returns the rows that take about so many bytes in files; all rows where nothing is in one. */
static int64_t suitable_rows(const struct readers *r, int64_t rows) {
  enum { ARRAY_BYTES = 16 << 20 };
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < r->count; i++) bytes += ravel_spill_length(r->spills[i]);
  const uint64_t arrays = bytes / ARRAY_BYTES + 1;
  const int64_t each = (int64_t)((uint64_t)rows / arrays);
  return each > 0 ? each : 1;
}

static enum ravel_code make_stream(struct ravel_context *c, const struct ravel_value *value,
                                   size_t rows, struct readers *r,
                                   struct ArrowArrayStream *stream) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  const enum ravel_code code = ravel_export(c, value, &schema, &array);
  if (code != RAVEL_OK) return code;
  const int64_t most = rows > 0 && rows < INT64_MAX ? (int64_t)rows : INT64_MAX;
  const int64_t each = rows > 0 ? most : suitable_rows(r, array.length);
  const struct export_watch watch = {readers_give_back, readers_end, r};
  if (export_batches(&schema, &array, each, watch, stream)) return RAVEL_OK;
  schema.release(&schema);
  array.release(&array);
  return ravel_fail_memory(c);
}

enum ravel_code ravel_export_stream(struct ravel_context *c, const struct ravel_value *value,
                                    size_t rows, struct ArrowArrayStream *stream) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!ravel_value_is_ours(c, value)) return RAVEL_MISUSE;
  if (!stream) return ravel_fail(c, RAVEL_MISUSE, "an argument is NULL");
  struct readers *r = begin_readers(c, value);
  if (!r) return ravel_fail_memory(c);
  const enum ravel_code code = make_stream(c, value, rows, r, stream);
  if (code != RAVEL_OK) readers_end(r);
  return code;
}
