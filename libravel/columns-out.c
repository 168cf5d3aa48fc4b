/* columns-out.c - the columns of a value of any type, as flat arrays of the host: copied into a
 * block of memory for the caller, or seen where they are.
 */
#include "libravel/private.h"

#include <string.h>

/* Columns that were seen by a caller: exports from the back end, and copies of the rest. */
struct ravel_view {
  struct ravel_view *next;
  void *block;
  size_t bytes, count;
  struct cvl_export exports[]; /* count; without a function to end it: none */
};

/* The columns of a value on their way into a block of memory of the host. */
struct output {
  struct ravel_context *c;
  const struct ravel_value *v;
  const struct ravel_layout *layout;
  struct ravel_column *columns; /* layout->count */
  struct ravel_view *view;      /* or NULL: all are copied */
  char *block;
};

/* ---- where they are, and how much is left to copy ---- */

/* Returns whether the back end has the elements as they are wanted, and lends them. */
static bool export_column_in_place(const struct output *o, uint32_t k,
                                   const struct ravel_column *column,
                                   struct cvl_export *exported) {
  const struct cvl_value *v = &o->v->columns[k];
  const bool is_bool = v->elem == CVL_BOOL && column->element == RAVEL_BOOL8;
  return v->form == CVL_VECTOR && (is_bool || ravel_elements_agree(o->c, column->element)) &&
         column->length >= RAVEL_WORTH_BORROWING / ravel_element_bytes(column->element) &&
         ravel_export_vector(o->c, v, exported);
}

/* Elements in a column, which begins at a multiple of 16 bytes. */
static size_t padded(const struct ravel_column *column) {
  const size_t each = 16, bytes = column->length * ravel_element_bytes(column->element);
  return (bytes + each - 1) / each * each;
}

static enum ravel_code measure_column(struct output *o, uint32_t k, size_t i, size_t *bytes) {
  struct ravel_column *column = &o->columns[i];
  const uint8_t tag = o->layout->tags[k];
  uint64_t n = 0;
  const bool fits = tag == TYPE_SEQUENCE
                        ? column->element == RAVEL_INT64 || ravel_are_offsets(column->element)
                        : ravel_element_type(column->element) == tag;
  if (!fits) {
    return ravel_fail(o->c, RAVEL_TYPE, "column %zu of %s cannot become such elements", i,
                      ravel_type_text(o->v->type));
  }
  if (!machine_value_count(o->c->machine, &o->v->columns[k], &n, o->c->diags)) {
    return ravel_fail_machine(o->c);
  }
  column->length = n + ravel_are_offsets(column->element);
  column->data = NULL;
  if (o->view && export_column_in_place(o, k, column, &o->view->exports[i])) {
    column->data = o->view->exports[i].data;
  } else {
    *bytes += padded(column);
  }
  return RAVEL_OK;
}

static enum ravel_code measure_columns(struct output *o, size_t *bytes) {
  enum ravel_code code = RAVEL_OK;
  size_t i = 0;
  for (uint32_t k = 0; k < o->v->count && code == RAVEL_OK; k++) {
    if (ravel_is_column(o->layout, k)) code = measure_column(o, k, i++, bytes);
  }
  return code;
}

/* ---- copies ---- */

static bool put_offset(enum ravel_element element, void *to, size_t i, int64_t offset) {
  if (element == RAVEL_OFFSETS64) {
    ((int64_t *)to)[i] = offset;
  } else {
    ((int32_t *)to)[i] = (int32_t)offset;
  }
  return element == RAVEL_OFFSETS64 || offset <= INT32_MAX;
}

static enum ravel_code copy_column_offsets(struct output *o, const struct cvl_value *from,
                                           const struct ravel_column *column) {
  enum { CHUNK = 1024 };
  int64_t lengths[CHUNK], offset = 0;
  struct ravel_context *c = o->c;
  const size_t rows = column->length - 1;
  (void)put_offset(column->element, o->block, 0, 0);
  for (size_t done = 0; done < rows; done += CHUNK) {
    const size_t n = rows - done < CHUNK ? rows - done : CHUNK;
    if (!machine_value_copy(c->machine, from, done, n, lengths, c->diags)) {
      return ravel_fail_machine(c);
    }
    for (size_t k = 0; k < n; k++) {
      offset += lengths[k];
      if (put_offset(column->element, o->block, done + k + 1, offset)) continue;
      return ravel_fail(c, RAVEL_DATA, "the offset %lld of row %zu does not fit 32 bits",
                        (long long)offset, done + k + 1);
    }
  }
  return RAVEL_OK;
}

static enum ravel_code copy_output_column(struct output *o, uint32_t k,
                                          struct ravel_column *column) {
  struct ravel_context *c = o->c;
  const struct cvl_value *from = &o->v->columns[k];
  column->data = o->block;
  if (ravel_are_offsets(column->element)) return copy_column_offsets(o, from, column);
  if (o->layout->tags[k] != TYPE_SEQUENCE) {
    return ravel_elements_out(c, from, column->element, 0, column->length, o->block);
  }
  return machine_value_copy(c->machine, from, 0, column->length, o->block, c->diags)
             ? RAVEL_OK
             : ravel_fail_machine(c);
}

/* Copies all columns, the scalars last: a caller may copy those elsewhere, so the block begins
 * with a column that stays. */
static enum ravel_code copy_columns(struct output *o) {
  enum ravel_code code = RAVEL_OK;
  for (int scalars = 0; scalars < 2; scalars++) {
    size_t i = 0;
    for (uint32_t k = 0; k < o->v->count && code == RAVEL_OK; k++) {
      if (!ravel_is_column(o->layout, k)) continue;
      struct ravel_column *column = &o->columns[i++];
      if (column->data || (o->layout->within[k] == IR_ONE) != (scalars == 1)) continue;
      code = copy_output_column(o, k, column);
      o->block += padded(column);
    }
  }
  return code;
}

/* Copies what is not shared into a block of the context's heap. */
static enum ravel_code make_block(struct output *o, void **block, size_t *bytes) {
  *bytes = 0;
  *block = NULL;
  enum ravel_code code = measure_columns(o, bytes);
  if (code != RAVEL_OK) return code;
  *block = o->block = heap_alloc(&o->c->heap, *bytes);
  if (!*block) return ravel_fail_memory(o->c);
  heap_ask_for_huge_pages(*block, *bytes);
  return copy_columns(o);
}

/* Whether there are so many columns for a value. */
static enum ravel_code begin_output(struct output *o, const void *to, size_t count) {
  struct ravel_context *c = o->c;
  if (!o->columns || !to) return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
  if (!ravel_value_is_ours(c, o->v)) return RAVEL_MISUSE;
  o->layout = ravel_layout_of(c, o->v->type);
  if (!o->layout) return c->code;
  if (count == o->layout->count) return RAVEL_OK;
  return ravel_fail(c, RAVEL_MISUSE, "%zu columns for the %u of %s", count, o->layout->count,
                    ravel_type_text(o->v->type));
}

enum ravel_code ravel_columns(struct ravel_context *c, const struct ravel_value *v,
                              struct ravel_column *columns, size_t count, void **memory) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  struct output o = {.c = c, .v = v, .columns = columns};
  void *block = NULL;
  size_t bytes = 0;
  enum ravel_code code = begin_output(&o, memory, count);
  if (code == RAVEL_OK) code = make_block(&o, &block, &bytes);
  if (code == RAVEL_OK) {
    heap_leave(&c->heap, bytes);
    *memory = block;
  } else if (block) {
    heap_free(&c->heap, block, bytes);
  }
  return code;
}

/* ---- views ---- */

static size_t bytes_of_view(size_t count) {
  return sizeof(struct ravel_view) + count * sizeof(struct cvl_export);
}

static void free_view(struct ravel_context *c, struct ravel_view *view) {
  for (size_t i = 0; i < view->count; i++) {
    if (view->exports[i].end.call) view->exports[i].end.call(view->exports[i].end.with);
  }
  if (view->block) heap_free(&c->heap, view->block, view->bytes);
  heap_free(&c->heap, view, bytes_of_view(view->count));
}

void ravel_end_views(struct ravel_value *v) {
  while (v->views) {
    struct ravel_view *view = v->views;
    v->views = view->next;
    free_view(v->context, view);
  }
}

enum ravel_code ravel_view(struct ravel_context *c, struct ravel_value *v,
                           struct ravel_column *columns, size_t count) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  struct output o = {.c = c, .v = v, .columns = columns};
  enum ravel_code code = begin_output(&o, columns, count);
  if (code != RAVEL_OK) return code;
  struct ravel_view *view = o.view = heap_alloc(&c->heap, bytes_of_view(count));
  if (!view) return ravel_fail_memory(c);
  memset(view, 0, bytes_of_view(count));
  view->count = count;
  code = make_block(&o, &view->block, &view->bytes);
  if (code != RAVEL_OK) {
    free_view(c, view);
    return code;
  }
  view->next = v->views;
  v->views = view;
  return RAVEL_OK;
}

enum ravel_code ravel_column_count(struct ravel_context *c, const struct ravel_value *v,
                                   size_t *count) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!count) return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
  if (!ravel_value_is_ours(c, v)) return RAVEL_MISUSE;
  const struct ravel_layout *layout = ravel_layout_of(c, v->type);
  if (!layout) return c->code;
  *count = layout->count;
  return RAVEL_OK;
}
