/* import.c - ravel_import and ravel_import_stream: columns of a producer into the back end. */
#include "libravel/private.h"

#include "libravel/import.h"

#include <inttypes.h>
#include <string.h>

/* What is taken over, and released when the import has ended, however it has. */
struct taken {
  struct ArrowArrayStream stream;
  struct ArrowSchema schema; /* of the stream */
  const struct ArrowSchema *borrowed;
  ARRAY(struct ArrowArray) arrays; /* of `arena` */
  struct ArrowArray single;
  struct arena arena;
  struct import import;
  struct ravel_value *value;
};

static void release_all(struct taken *t) {
  for (size_t i = 0; i < t->arrays.count; i++) {
    if (t->arrays.items[i].release) t->arrays.items[i].release(&t->arrays.items[i]);
  }
  if (t->single.release) t->single.release(&t->single);
  if (t->schema.release) t->schema.release(&t->schema);
  if (t->stream.release) t->stream.release(&t->stream);
}

/* ---- columns into the back end ---- */

static bool upload(struct ravel_context *c, const struct import_column *column,
                   struct cvl_value *out) {
  const struct machine_item lengths = {
      .kind = MACHINE_SEGDES, .length = column->length, .as.ints = column->data};
  const struct widths *widths = &c->options.machine.widths;
  enum cvl_elem elem = widths->int_elem;
  switch ((enum column_kind)column->kind) {
  case COLUMN_SEGDES: return machine_value_item(c->machine, &lengths, out, c->diags);
  case COLUMN_BOOL: elem = CVL_BOOL; break;
  case COLUMN_FLOAT: elem = widths->float_elem; break;
  case COLUMN_INT: break;
  }
  return machine_value_vector(c->machine, elem, column->data, column->length, out, c->diags);
}

static enum ravel_code make_value(struct ravel_context *c, struct taken *t) {
  struct type *type = ravel_type_kept(c, import_type(&t->import));
  if (!type) return RAVEL_DATA;
  t->value = ravel_value_new(c, type);
  if (!t->value) return RAVEL_MEMORY;
  for (uint32_t i = 0; i < t->value->count; i++) {
    if (!upload(c, &t->import.columns.items[i], &t->value->columns[i])) {
      return ravel_fail_machine(c);
    }
    import_free_column(&t->import, i);
  }
  return RAVEL_OK;
}

/* ---- arrays ---- */

static enum ravel_code refuse(struct ravel_context *c, const struct taken *t) {
  return ravel_fail(c, RAVEL_DATA, "%s", t->import.problem);
}

static bool begin(struct ravel_context *c, struct taken *t, const struct ArrowSchema *schema) {
  t->import = (struct import){.arena = &t->arena,
                              .heap = &c->heap,
                              .int_elem = c->options.machine.widths.int_elem,
                              .float_elem = c->options.machine.widths.float_elem};
  return import_begin(&t->import, schema);
}

static enum ravel_code import_single(struct ravel_context *c, void *data) {
  struct taken *t = data;
  if (!begin(c, t, t->borrowed) || !import_check(&t->import, &t->single)) return refuse(c, t);
  import_allocate(&t->import);
  return import_fill(&t->import, &t->single) ? make_value(c, t) : refuse(c, t);
}

static enum ravel_code fail_stream(struct ravel_context *c, struct taken *t, int error) {
  const char *said = t->stream.get_last_error ? t->stream.get_last_error(&t->stream) : NULL;
  return ravel_fail(c, RAVEL_DATA, "the producer of the stream failed: %.1000s",
                    said ? said : strerror(error));
}

/* Fetches and checks all arrays of the stream. */
static enum ravel_code fetch(struct ravel_context *c, struct taken *t) {
  for (;;) {
    struct ArrowArray *array = array_push(&t->arena, &t->arrays);
    *array = (struct ArrowArray){.release = NULL};
    const int error = t->stream.get_next(&t->stream, array);
    if (error) {
      array->release = NULL; /* nothing has been given */
      return fail_stream(c, t, error);
    }
    if (!array->release) return RAVEL_OK;
    if (!import_check(&t->import, array)) return refuse(c, t);
  }
}

static enum ravel_code import_arrays(struct ravel_context *c, void *data) {
  struct taken *t = data;
  const int error = t->stream.get_schema(&t->stream, &t->schema);
  if (error) {
    t->schema.release = NULL;
    return fail_stream(c, t, error);
  }
  if (!begin(c, t, &t->schema)) return refuse(c, t);
  const enum ravel_code code = fetch(c, t);
  if (code != RAVEL_OK) return code;
  import_allocate(&t->import);
  for (size_t i = 0; i + 1 < t->arrays.count; i++) {
    if (!import_fill(&t->import, &t->arrays.items[i])) return refuse(c, t);
  }
  return make_value(c, t);
}

static enum ravel_code import_taken(struct ravel_context *c, struct taken *t, ravel_work *work,
                                    struct ravel_value **out) {
  arena_init(&t->arena, &c->heap);
  const enum ravel_code code = ravel_guarded(c, work, t);
  import_free(&t->import);
  release_all(t);
  arena_free(&t->arena);
  if (code == RAVEL_OK) {
    *out = t->value;
  } else {
    ravel_release(t->value);
  }
  return code;
}

enum ravel_code ravel_import(struct ravel_context *c, const struct ArrowSchema *schema,
                             struct ArrowArray *array, struct ravel_value **out) {
  struct taken t = {.borrowed = schema};
  if (array) {
    t.single = *array;
    array->release = NULL;
  }
  const bool usable = ravel_begin(c);
  if (usable && out && schema && t.single.release) {
    return import_taken(c, &t, import_single, out);
  }
  release_all(&t);
  if (!usable) return RAVEL_MISUSE;
  return ravel_fail(c, RAVEL_MISUSE, "an array that is released, or an argument that is NULL");
}

enum ravel_code ravel_import_stream(struct ravel_context *c, struct ArrowArrayStream *stream,
                                    struct ravel_value **out) {
  struct taken t = {.value = NULL};
  if (stream) {
    t.stream = *stream;
    stream->release = NULL;
  }
  const bool usable = ravel_begin(c);
  if (usable && out && t.stream.release) return import_taken(c, &t, import_arrays, out);
  release_all(&t);
  if (!usable) return RAVEL_MISUSE;
  return ravel_fail(c, RAVEL_MISUSE, "a stream that is released, or an argument that is NULL");
}
