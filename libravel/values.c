/* values.c - makes, takes apart and reads values: scalars, vectors, sequences of sequences and
 * tuples. */
#include "libravel/private.h"

#include <math.h>
#include <string.h>

/* ---- life ---- */

static size_t bytes_of_value(uint32_t count) {
  return sizeof(struct ravel_value) + count * sizeof(struct cvl_value);
}

struct ravel_value *ravel_value_new(struct ravel_context *c, struct type *type) {
  const uint32_t count = ravel_type_columns(type);
  struct ravel_value *v = heap_alloc(&c->heap, bytes_of_value(count));
  if (!v) {
    ravel_fail_memory(c);
    return NULL;
  }
  memset(v, 0, bytes_of_value(count));
  *v = (struct ravel_value){.context = c,
                            .next = c->values,
                            .link = &c->values,
                            .references = 1,
                            .type = type,
                            .count = count};
  if (v->next) v->next->link = &v->next;
  c->values = v;
  return v;
}

struct ravel_value *ravel_retain(struct ravel_value *v) {
  if (v) v->references++;
  return v;
}

void ravel_release(struct ravel_value *v) {
  if (!v || --v->references > 0) return;
  struct ravel_context *c = v->context;
  ravel_end_views(v);
  ravel_drop_columns(v);
  *v->link = v->next;
  if (v->next) v->next->link = v->link;
  heap_free(&c->heap, v, bytes_of_value(v->count));
}

bool ravel_value_is_ours(struct ravel_context *c, const struct ravel_value *v) {
  if (v && v->context == c && !v->lost) return true;
  ravel_fail(c, RAVEL_MISUSE,
             !v ? "a value is NULL"
             : !v->lost
                 ? "the value belongs to another context"
                 : "the value shared what was borrowed, and when that was released there "
                   "was no memory to keep it");
  return false;
}

/* Copies columns of another value, counted. */
static void share(struct ravel_value *to, uint32_t at, const struct ravel_value *from,
                  uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    to->columns[at + i] = from->columns[first + i];
    machine_retain(to->context->machine, &from->columns[first + i]);
  }
}

/* Gives the value to the caller if the code is RAVEL_OK, and releases it otherwise. Returns the
 * code. */
static enum ravel_code give_value(struct ravel_value *v, enum ravel_code code,
                                  struct ravel_value **out) {
  if (code == RAVEL_OK) {
    *out = v;
  } else {
    ravel_release(v);
  }
  return code;
}

/* ---- in ---- */

static enum ravel_code make_scalar(struct ravel_context *c, enum type_tag tag,
                                   struct cvl_value column, struct ravel_value **out) {
  struct ravel_value *v = ravel_value_new(c, c->base[tag]);
  if (!v) return c->code;
  v->columns[0] = column;
  *out = v;
  return RAVEL_OK;
}

static enum ravel_code no_pointer(struct ravel_context *c) {
  return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
}

enum ravel_code ravel_int(struct ravel_context *c, int64_t x, struct ravel_value **out) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!out) return no_pointer(c);
  const enum cvl_elem elem = c->options.machine.widths.int_elem;
  if (elem == CVL_I32 && x != (int32_t)x) {
    return ravel_fail(c, RAVEL_DATA, "%lld does not fit an INT of 32 bits", (long long)x);
  }
  return make_scalar(c, TYPE_INT, cvl_scalar_int(elem, x), out);
}

enum ravel_code ravel_float(struct ravel_context *c, double x, struct ravel_value **out) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!out) return no_pointer(c);
  const enum cvl_elem elem = c->options.machine.widths.float_elem;
  return make_scalar(c, TYPE_FLOAT, cvl_scalar_float(elem, x), out);
}

enum ravel_code ravel_bool(struct ravel_context *c, bool x, struct ravel_value **out) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!out) return no_pointer(c);
  return make_scalar(c, TYPE_BOOL, cvl_scalar_bool(x), out);
}

struct ravel_value *ravel_value_flat(struct ravel_context *c, enum ravel_element element,
                                     const void *data, size_t length) {
  const enum type_tag tag = ravel_element_type(element);
  if (!data && length > 0) {
    no_pointer(c);
    return NULL;
  }
  if (tag == TYPE_STREAM) {
    ravel_fail(c, RAVEL_MISUSE, "there is no ravel_element %d", (int)element);
    return NULL;
  }
  struct type *type = ravel_type_sequence(c, c->base[tag]);
  struct ravel_value *v = type ? ravel_value_new(c, type) : NULL;
  if (v) v->columns[0] = cvl_one_segment(length);
  return v;
}

enum ravel_code ravel_vector(struct ravel_context *c, enum ravel_element element,
                             const void *data, size_t length, struct ravel_value **out) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!out) return no_pointer(c);
  struct ravel_value *v = ravel_value_flat(c, element, data, length);
  if (!v) return c->code;
  return give_value(v, ravel_elements_in(c, element, data, length, &v->columns[1]), out);
}

/* Checks that the lengths are those of rows that have so many elements together. */
static enum ravel_code check_row_lengths(struct ravel_context *c, const int64_t *lengths,
                                         size_t rows, uint64_t elements) {
  uint64_t total = 0;
  for (size_t i = 0; i < rows; i++) {
    if (lengths[i] < 0) {
      return ravel_fail(c, RAVEL_DATA, "the length %lld of row %zu is negative",
                        (long long)lengths[i], i);
    }
    if ((uint64_t)lengths[i] > elements - total) {
      return ravel_fail(c, RAVEL_DATA, "rows 0 to %zu have more than the %llu elements", i,
                        (unsigned long long)elements);
    }
    total += (uint64_t)lengths[i];
  }
  if (total == elements) return RAVEL_OK;
  return ravel_fail(c, RAVEL_DATA, "the rows have %llu elements, and there are %llu",
                    (unsigned long long)total, (unsigned long long)elements);
}

enum ravel_code ravel_nested(struct ravel_context *c, const int64_t *lengths, size_t rows,
                             struct ravel_value *elements, struct ravel_value **out) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!out || (!lengths && rows > 0)) return no_pointer(c);
  if (!ravel_value_is_ours(c, elements)) return RAVEL_MISUSE;
  if (elements->type->tag != TYPE_SEQUENCE) {
    return ravel_fail(c, RAVEL_MISUSE, "rows are of a sequence, not of %s",
                      ravel_type_text(elements->type));
  }
  uint64_t count;
  if (!machine_value_total(c->machine, &elements->columns[0], &count, c->diags)) {
    return ravel_fail_machine(c);
  }
  enum ravel_code code = check_row_lengths(c, lengths, rows, count);
  if (code != RAVEL_OK) return code;
  struct type *type = ravel_type_sequence(c, elements->type);
  if (!type) return c->code;
  struct ravel_value *v = ravel_value_new(c, type);
  if (!v) return c->code;
  const struct machine_item item = {.kind = MACHINE_SEGDES, .length = rows, .as.ints = lengths};
  v->columns[0] = cvl_one_segment(rows);
  share(v, 2, elements, 1, elements->count - 1);
  if (!machine_value_item(c->machine, &item, &v->columns[1], c->diags)) {
    code = ravel_fail_machine(c);
  }
  return give_value(v, code, out);
}

enum ravel_code ravel_tuple(struct ravel_context *c, struct ravel_value *const *components,
                            size_t count, struct ravel_value **out) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!out || !components) return no_pointer(c);
  if (count < 2) return ravel_fail(c, RAVEL_MISUSE, "a tuple has two components or more");
  for (size_t i = 0; i < count; i++) {
    if (!ravel_value_is_ours(c, components[i])) return RAVEL_MISUSE;
  }
  struct type *type = components[count - 1]->type;
  for (size_t i = count - 1; i-- > 0 && type;) {
    type = ravel_type_pair(c, components[i]->type, type);
  }
  if (!type) return c->code;
  struct ravel_value *v = ravel_value_new(c, type);
  if (!v) return c->code;
  uint32_t at = 0;
  for (size_t i = 0; i < count; i++) {
    share(v, at, components[i], 0, components[i]->count);
    at += components[i]->count;
  }
  *out = v;
  return RAVEL_OK;
}

/* ---- what it is ---- */

const char *ravel_type(const struct ravel_value *v) {
  return v ? ravel_type_whole(v->context, v->type) : "";
}

/* Returns the number of components of a value of this type. */
static size_t components_of(const struct type *t) {
  size_t count = 1;
  if (t->tag == TYPE_DATA) return 1;
  if (t->tag != TYPE_PAIR) return 0;
  for (; t->tag == TYPE_PAIR; t = t->part[1]) count++;
  return count;
}

enum ravel_code ravel_length(struct ravel_context *c, const struct ravel_value *v,
                             size_t *length) {
  uint64_t n;
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!length) return no_pointer(c);
  if (!ravel_value_is_ours(c, v)) return RAVEL_MISUSE;
  if (v->type->tag != TYPE_SEQUENCE) {
    *length = components_of(v->type);
    return RAVEL_OK;
  }
  if (!machine_value_total(c->machine, &v->columns[0], &n, c->diags)) {
    return ravel_fail_machine(c);
  }
  *length = n;
  return RAVEL_OK;
}

/* ---- components ---- */

/* A component of a type: its own type, and the position of its columns. */
struct component {
  struct type *type;
  size_t number;
  uint32_t first;
};

static enum ravel_code keep_contents(struct ravel_context *c, void *data) {
  struct component *k = data;
  k->type = ravel_type_kept(c, type_contents(c->session->arena, k->type));
  return k->type ? RAVEL_OK : c->code;
}

static enum ravel_code find_component(struct ravel_context *c, struct component *k) {
  struct type *t = k->type;
  if (k->number >= components_of(t)) {
    return ravel_fail(c, RAVEL_MISUSE, "%s has no component %zu", ravel_type_text(t),
                      k->number);
  }
  if (t->tag == TYPE_DATA) return ravel_in_form(c, keep_contents, k);
  for (size_t i = 0; i < k->number; i++, t = t->part[1]) {
    k->first += ravel_type_columns(t->part[0]);
  }
  k->type = k->number + 1 < components_of(k->type) ? t->part[0] : t;
  return RAVEL_OK;
}

static enum ravel_code get_component(struct ravel_context *c, const struct ravel_value *v,
                                     size_t i, struct ravel_value **out) {
  struct component k = {.type = v->type, .number = i};
  const enum ravel_code code = find_component(c, &k);
  if (code != RAVEL_OK) return code;
  struct ravel_value *made = ravel_value_new(c, k.type);
  if (!made) return c->code;
  share(made, 0, v, k.first, made->count);
  *out = made;
  return RAVEL_OK;
}

/* Gets the sequence of components i of the elements. */
static enum ravel_code get_column(struct ravel_context *c, const struct ravel_value *v,
                                  size_t i, struct ravel_value **out) {
  struct component k = {.type = v->type->part[0], .number = i, .first = 1};
  const enum ravel_code code = find_component(c, &k);
  if (code != RAVEL_OK) return code;
  struct type *type = ravel_type_sequence(c, k.type);
  struct ravel_value *made = type ? ravel_value_new(c, type) : NULL;
  if (!made) return c->code;
  share(made, 0, v, 0, 1);
  share(made, 1, v, k.first, made->count - 1);
  *out = made;
  return RAVEL_OK;
}

/* Gets the elements of all rows. */
static enum ravel_code get_elements(struct ravel_context *c, const struct ravel_value *v,
                                    struct ravel_value **out) {
  uint64_t n;
  if (!machine_value_total(c->machine, &v->columns[1], &n, c->diags)) {
    return ravel_fail_machine(c);
  }
  struct ravel_value *made = ravel_value_new(c, v->type->part[0]);
  if (!made) return c->code;
  made->columns[0] = cvl_one_segment(n);
  share(made, 1, v, 2, v->count - 2);
  *out = made;
  return RAVEL_OK;
}

static enum ravel_code get_lengths(struct ravel_context *c, const struct ravel_value *v,
                                   struct ravel_value **out) {
  struct type *type = ravel_type_sequence(c, c->base[TYPE_INT]);
  struct ravel_value *made = type ? ravel_value_new(c, type) : NULL;
  if (!made) return c->code;
  share(made, 0, v, 0, 1);
  const bool fine =
      machine_value_lengths(c->machine, &v->columns[1], &made->columns[1], c->diags);
  return give_value(made, fine ? RAVEL_OK : ravel_fail_machine(c), out);
}

enum ravel_code ravel_component(struct ravel_context *c, const struct ravel_value *v, size_t i,
                                struct ravel_value **out) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!out) return no_pointer(c);
  if (!ravel_value_is_ours(c, v)) return RAVEL_MISUSE;
  if (v->type->tag != TYPE_SEQUENCE) return get_component(c, v, i, out);
  if (v->type->part[0]->tag != TYPE_SEQUENCE) return get_column(c, v, i, out);
  if (i > 1) {
    return ravel_fail(c, RAVEL_MISUSE,
                      "%s has components 0, its elements, and 1, their lengths",
                      ravel_type_text(v->type));
  }
  return i == 0 ? get_elements(c, v, out) : get_lengths(c, v, out);
}

/* ---- out ---- */

static enum ravel_code get_scalar(struct ravel_context *c, const struct ravel_value *v,
                                  enum ravel_element element, void *out) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!out) return no_pointer(c);
  if (!ravel_value_is_ours(c, v)) return RAVEL_MISUSE;
  if (v->type->tag > TYPE_CHAR) {
    return ravel_fail(c, RAVEL_MISUSE, "%s is no scalar", ravel_type_text(v->type));
  }
  return ravel_elements_out(c, &v->columns[0], element, 0, 1, out);
}

enum ravel_code ravel_get_int(struct ravel_context *c, const struct ravel_value *v,
                              int64_t *out) {
  return get_scalar(c, v, RAVEL_INT64, out);
}

enum ravel_code ravel_get_float(struct ravel_context *c, const struct ravel_value *v,
                                double *out) {
  return get_scalar(c, v, RAVEL_FLOAT64, out);
}

enum ravel_code ravel_get_bool(struct ravel_context *c, const struct ravel_value *v,
                               bool *out) {
  uint8_t byte = 0;
  const enum ravel_code code = get_scalar(c, v, RAVEL_BOOL8, out ? &byte : NULL);
  if (code == RAVEL_OK) *out = byte != 0;
  return code;
}

enum ravel_code ravel_copy(struct ravel_context *c, const struct ravel_value *v,
                           enum ravel_element element, size_t first, size_t count, void *data) {
  uint64_t n;
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!data && count > 0) return no_pointer(c);
  if (!ravel_value_is_ours(c, v)) return RAVEL_MISUSE;
  if (v->type->tag != TYPE_SEQUENCE || v->type->part[0]->tag > TYPE_CHAR ||
      ravel_element_type(element) == TYPE_STREAM) {
    return ravel_fail(c, RAVEL_MISUSE, "%s is no flat sequence", ravel_type_text(v->type));
  }
  if (!machine_value_total(c->machine, &v->columns[0], &n, c->diags)) {
    return ravel_fail_machine(c);
  }
  if (first > n || count > n - first) {
    return ravel_fail(c, RAVEL_MISUSE, "elements %zu to %zu of a sequence of %llu", first,
                      first + count, (unsigned long long)n);
  }
  return ravel_elements_out(c, &v->columns[1], element, first, count, data);
}
