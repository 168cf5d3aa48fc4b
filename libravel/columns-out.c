/* columns-out.c - the columns of a value of any type, as flat arrays of the host. */
#include "libravel/private.h"

/* The columns of a value, on their way into a block of memory of the host. */
struct output {
  struct ravel_context *c;
  const struct ravel_value *v;
  const struct ravel_layout *layout;
  struct ravel_column *columns; /* layout->count */
  char *block;
};

/* Elements in a column, which begins at a multiple of 16 bytes. */
static size_t padded(const struct ravel_column *column) {
  const size_t each = 16, bytes = column->length * ravel_element_bytes(column->element);
  return (bytes + each - 1) / each * each;
}

static enum ravel_code measure(struct output *o, size_t *bytes) {
  size_t i = 0;
  uint64_t n = 0;
  for (uint32_t k = 0; k < o->v->count; k++) {
    if (!ravel_is_column(o->layout, k)) continue;
    struct ravel_column *column = &o->columns[i++];
    const uint8_t tag = o->layout->tags[k];
    const bool fits = tag == TYPE_SEQUENCE ? column->element == RAVEL_INT64
                                           : ravel_element_type(column->element) == tag;
    if (!fits) {
      return ravel_fail(o->c, RAVEL_TYPE, "column %zu of %s cannot become such elements", i - 1,
                        ravel_type_text(o->v->type));
    }
    if (!machine_value_count(o->c->machine, &o->v->columns[k], &n, o->c->diags)) {
      return ravel_fail_machine(o->c);
    }
    column->length = n;
    *bytes += padded(column);
  }
  return RAVEL_OK;
}

static enum ravel_code copy(struct output *o, uint32_t k, struct ravel_column *column) {
  struct ravel_context *c = o->c;
  const struct cvl_value *from = &o->v->columns[k];
  column->data = o->block;
  if (o->layout->tags[k] != TYPE_SEQUENCE) {
    return ravel_elements_out(c, from, column->element, 0, column->length, o->block);
  }
  return machine_value_copy(c->machine, from, 0, column->length, o->block, c->diags)
             ? RAVEL_OK
             : ravel_fail_machine(c);
}

/* First all but the scalars, which a caller may copy elsewhere: so the block begins with a
 * column that stays. */
static enum ravel_code copy_all(struct output *o) {
  enum ravel_code code = RAVEL_OK;
  for (int scalars = 0; scalars < 2; scalars++) {
    size_t i = 0;
    for (uint32_t k = 0; k < o->v->count && code == RAVEL_OK; k++) {
      if (!ravel_is_column(o->layout, k)) continue;
      struct ravel_column *column = &o->columns[i++];
      if ((o->layout->within[k] == IR_ONE) != (scalars == 1)) continue;
      code = copy(o, k, column);
      o->block += padded(column);
    }
  }
  return code;
}

enum ravel_code ravel_columns(struct ravel_context *c, const struct ravel_value *v,
                              struct ravel_column *columns, size_t count, void **memory) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!columns || !memory) return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
  if (!ravel_value_is_ours(c, v)) return RAVEL_MISUSE;
  struct output o = {.c = c, .v = v, .layout = ravel_layout_of(c, v->type), .columns = columns};
  if (!o.layout) return c->code;
  if (count != o.layout->count) {
    return ravel_fail(c, RAVEL_MISUSE, "%zu columns for the %u of %s", count, o.layout->count,
                      ravel_type_text(v->type));
  }
  size_t bytes = 0;
  enum ravel_code code = measure(&o, &bytes);
  if (code != RAVEL_OK) return code;
  char *block = o.block = heap_alloc(&c->heap, bytes);
  if (!block) return ravel_fail_memory(c);
  heap_ask_for_huge_pages(block, bytes);
  code = copy_all(&o);
  if (code == RAVEL_OK) {
    heap_leave(&c->heap, bytes);
    *memory = block;
  } else {
    heap_free(&c->heap, block, bytes);
  }
  return code;
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
