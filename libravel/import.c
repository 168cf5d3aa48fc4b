/* import.c - ravel_import and ravel_import_stream: columns of a producer into the back end. */
#include "libravel/spills.h"

#include <inttypes.h>
#include <string.h>

/* So many lengths, or more, are made by the back end. */
enum { WORTH_GENERATING = RAVEL_WORTH_BORROWING / 8 };

/* An array of a producer, released when neither the import nor a column needs it any more. */
struct hold {
  uint64_t users;
  struct heap *heap;
  struct ArrowArray array;
};

static void let_go_of_array(void *with) {
  struct hold *hold = with;
  if (--hold->users > 0) return;
  struct ArrowArray array = hold->array;
  heap_free(hold->heap, hold, sizeof *hold);
  array.release(&array);
}

/* The structs that are taken over, and released when the import has ended, however it has;
 * arrays perhaps later. */
struct taken {
  struct ArrowArrayStream stream;
  struct ArrowSchema schema; /* of the stream */
  const struct ArrowSchema *borrowed;
  ARRAY(struct hold *) holds; /* of `arena` */
  struct ArrowArray single;   /* that has no hold yet */
  uint64_t some;              /* arrays that were not empty */
  struct arena arena;
  struct import import;
  struct import_spills spills;
  struct ravel_value *value;
};

static void release_taken(struct taken *t) {
  for (size_t i = 0; i < t->holds.count; i++) let_go_of_array(t->holds.items[i]);
  if (t->single.release) t->single.release(&t->single);
  if (t->schema.release) t->schema.release(&t->schema);
  if (t->stream.release) t->stream.release(&t->stream);
}

/* Moves t->single into a hold. */
static void hold_single(struct taken *t) {
  struct hold **slot = array_push(&t->arena, &t->holds);
  struct hold *hold = heap_alloc(t->import.heap, sizeof *hold);
  if (!hold) {
    t->holds.count--;
    memory_failed();
  }
  *hold = (struct hold){.users = 1, .heap = t->import.heap, .array = t->single};
  *slot = hold;
  t->single.release = NULL;
}

/* ---- columns into the back end ---- */

/* A column that is being uploaded. */
struct upload {
  struct ravel_context *c;
  struct taken *t;
  uint32_t number;
  const struct import_column *column;
  struct cvl_value *out;
};

static enum ravel_code refuse_arrays(struct ravel_context *c, const struct taken *t) {
  return ravel_fail(c, RAVEL_DATA, "%s", t->import.problem);
}

/* Refuses an element in an array of a stream; positions are counted over all its arrays. */
static enum ravel_code refuse_batch(struct ravel_context *c, const struct taken *t,
                                    uint64_t batch) {
  if (batch == 0) return refuse_arrays(c, t);
  return ravel_fail(c, RAVEL_DATA, "%s, in batch %" PRIu64 " (positions are counted over all)",
                    t->import.problem, batch);
}

static enum ravel_code code_of_upload(const struct upload *u, bool good) {
  return good ? RAVEL_OK : ravel_fail_machine(u->c);
}

/* Borrows elements that an array has in the wanted form. */
static enum ravel_code borrow_array(const struct upload *u, const void *data, uint32_t array) {
  struct hold *hold = u->t->holds.items[array];
  hold->users++;
  return code_of_upload(
      u, machine_value_import(u->c->machine, import_elem(&u->t->import, u->number), data,
                              u->column->length, (struct cvl_notice){let_go_of_array, hold},
                              u->out, u->c->diags));
}

/* Gives elements that have been made already to the back end. */
static enum ravel_code give_made(const struct upload *u) {
  const enum cvl_elem elem = import_elem(&u->t->import, u->number);
  const void *data = import_gather(&u->t->import, u->number);
  if (!data) return refuse_arrays(u->c, u->t);
  return code_of_upload(u, machine_value_import(u->c->machine, elem, data, u->column->length,
                                                import_give(&u->t->import, u->number), u->out,
                                                u->c->diags));
}

/* Has the back end make the elements in its own memory; *lost is as in import_job. */
static enum ravel_code generate_column(const struct upload *u, uint64_t *lost) {
  const enum cvl_elem elem = import_elem(&u->t->import, u->number);
  struct import_job job = {u->column, elem, UINT64_MAX};
  const bool good =
      machine_value_generate(u->c->machine, elem, u->column->length,
                             &(struct cvl_filler){import_make, &job}, u->out, u->c->diags);
  *lost = job.lost;
  return code_of_upload(u, good);
}

static enum ravel_code upload_array_elements(const struct upload *u) {
  struct import *im = &u->t->import;
  const enum cvl_elem elem = import_elem(im, u->number);
  uint32_t array;
  uint64_t lost;
  const void *data = import_borrowable(im, u->number, &array);
  if (u->column->made) return give_made(u);
  if (data && u->column->length >= RAVEL_WORTH_BORROWING / elem_info(elem)->bytes) {
    return borrow_array(u, data, array);
  }
  const enum ravel_code code = generate_column(u, &lost);
  if (code != RAVEL_OK || lost == UINT64_MAX) return code;
  import_fail_lost(im, u->number, lost);
  return refuse_arrays(u->c, u->t);
}

/* Uploads lengths; few of them go by way of the host. */
static enum ravel_code upload_array_lengths(const struct upload *u) {
  if (!u->column->made && u->column->length >= WORTH_GENERATING) {
    const struct cvl_filler filler = {import_make_offsets, (void *)(uintptr_t)u->column};
    return code_of_upload(u, machine_value_segdes(u->c->machine, u->column->length, &filler,
                                                  u->out, u->c->diags));
  }
  const struct machine_item item = {.kind = MACHINE_SEGDES,
                                    .length = u->column->length,
                                    .as.ints = import_gather(&u->t->import, u->number)};
  return code_of_upload(u, machine_value_item(u->c->machine, &item, u->out, u->c->diags));
}

static enum ravel_code upload_column(const struct upload *u) {
  struct taken *t = u->t;
  if (t->spills.columns && u->number > 0) {
    return import_spills_upload(u->c, &t->import, &t->spills, u->number, u->out);
  }
  return u->column->kind == COLUMN_SEGDES ? upload_array_lengths(u) : upload_array_elements(u);
}

static enum ravel_code make_value(struct ravel_context *c, struct taken *t) {
  struct type *type = ravel_type_kept(c, import_type(&t->import));
  if (!type) return RAVEL_DATA;
  t->value = ravel_value_new(c, type);
  if (!t->value) return RAVEL_MEMORY;
  for (uint32_t i = 0; i < t->value->count; i++) {
    const struct upload u = {c, t, i, &t->import.columns.items[i], &t->value->columns[i]};
    const enum ravel_code code = upload_column(&u);
    if (code != RAVEL_OK) return code;
  }
  return RAVEL_OK;
}

/* ---- arrays ---- */

static bool begin_import(struct ravel_context *c, struct taken *t,
                         const struct ArrowSchema *schema) {
  t->import = (struct import){.arena = &t->arena,
                              .heap = &c->heap,
                              .int_elem = c->options.machine.widths.int_elem,
                              .float_elem = c->options.machine.widths.float_elem};
  return import_begin(&t->import, schema);
}

static enum ravel_code fill_columns(struct ravel_context *c, struct taken *t) {
  for (size_t i = 0; i < t->holds.count; i++) {
    if (!import_fill(&t->import, &t->holds.items[i]->array)) return refuse_arrays(c, t);
  }
  return RAVEL_OK;
}

static enum ravel_code complete_value(struct ravel_context *c, struct taken *t) {
  import_allocate(&t->import);
  const enum ravel_code code = fill_columns(c, t);
  return code == RAVEL_OK ? make_value(c, t) : code;
}

static enum ravel_code import_single(struct ravel_context *c, void *data) {
  struct taken *t = data;
  if (!begin_import(c, t, t->borrowed) || !import_check(&t->import, &t->single))
    return refuse_arrays(c, t);
  hold_single(t);
  return complete_value(c, t);
}

static enum ravel_code fail_stream(struct ravel_context *c, struct taken *t, int error) {
  const char *said = t->stream.get_last_error ? t->stream.get_last_error(&t->stream) : NULL;
  return ravel_fail(c, RAVEL_DATA, "the producer of the stream failed: %.1000s",
                    said ? said : strerror(error));
}

/* Moves the contents of the arrays to spills, and releases them. */
static enum ravel_code spill_held(struct ravel_context *c, struct taken *t) {
  enum ravel_code code = fill_columns(c, t);
  if (code == RAVEL_OK) code = import_spills_add(c, &t->import, &t->spills);
  for (size_t i = 0; i < t->holds.count; i++) let_go_of_array(t->holds.items[i]);
  t->holds.count = 0;
  return code;
}

/* A single array stays where it is, however large. */
static bool spills_wanted(const struct ravel_context *c, const struct taken *t) {
  return t->spills.columns || (t->some > 1 && import_spills_wanted(c, &t->import));
}

/* Fetches and checks all arrays of the stream. */
static enum ravel_code fetch_arrays(struct ravel_context *c, struct taken *t) {
  for (uint64_t batch = 0;; batch++) {
    const int error = t->stream.get_next(&t->stream, &t->single);
    if (error) {
      t->single.release = NULL; /* nothing has been given */
      return fail_stream(c, t, error);
    }
    if (!t->single.release) return RAVEL_OK;
    if (!import_check(&t->import, &t->single)) return refuse_batch(c, t, batch);
    t->some += t->single.length > 0;
    hold_single(t);
    const enum ravel_code code = spills_wanted(c, t) ? spill_held(c, t) : ravel_stopped(c);
    if (code != RAVEL_OK) return code;
  }
}

static enum ravel_code import_stream_arrays(struct ravel_context *c, void *data) {
  struct taken *t = data;
  const int error = t->stream.get_schema(&t->stream, &t->schema);
  if (error) {
    t->schema.release = NULL;
    return fail_stream(c, t, error);
  }
  if (!begin_import(c, t, &t->schema)) return refuse_arrays(c, t);
  const enum ravel_code code = fetch_arrays(c, t);
  return code == RAVEL_OK ? complete_value(c, t) : code;
}

static enum ravel_code import_taken(struct ravel_context *c, struct taken *t, ravel_work *work,
                                    struct ravel_value **out) {
  arena_init(&t->arena, &c->heap);
  stop_begin(&c->stop, 0);
  const enum ravel_code code = ravel_guarded(c, work, t);
  import_spills_free(c, &t->import, &t->spills);
  import_free(&t->import);
  release_taken(t);
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
  release_taken(&t);
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
  if (usable && out && t.stream.release) return import_taken(c, &t, import_stream_arrays, out);
  release_taken(&t);
  if (!usable) return RAVEL_MISUSE;
  return ravel_fail(c, RAVEL_MISUSE, "a stream that is released, or an argument that is NULL");
}
