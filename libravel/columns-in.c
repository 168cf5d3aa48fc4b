/* columns-in.c - a call on flat arrays of the host: the columns of arguments of any type. */
#include "libravel/private.h"

#include <string.h>

/* The elements of a column that belong to an argument. */
struct window {
  uint64_t first, count;
  bool within; /* there may be more, before and behind them: offsets say which these are */
};

/* The columns of a call's arguments, on their way into the back end. */
struct intake {
  struct ravel_context *c;
  const struct ravel_function *f;
  const struct ravel_layout *layout;
  const struct ravel_column *given; /* layout->count */
  struct cvl_value *columns;        /* of the machine */
  struct taken {
    struct window elements;       /* of the columns within, where the column is of rows */
    struct ravel_value *borrowed; /* what the column is of, until the call has ended; or NULL */
  } * taken;                      /* for each of them */
};

/* ---- rows: lengths or offsets ---- */

/* Returns the number of a column's elements; if it has offsets, the number of its rows. */
static uint64_t rows_of_column(const struct ravel_column *g) {
  return ravel_are_offsets(g->element) && g->length > 0 ? g->length - 1 : g->length;
}

static int64_t offset_at(const struct ravel_column *g, uint64_t i) {
  return g->element == RAVEL_OFFSETS32 ? ((const int32_t *)g->data)[i]
                                       : ((const int64_t *)g->data)[i];
}

/* Adds lengths first .. last to *sum. */
static enum ravel_code sum_of_lengths(const struct intake *in, size_t number, uint64_t first,
                                      uint64_t last, uint64_t *sum) {
  const int64_t *lengths = in->given[number].data;
  for (uint64_t i = first; i < last; i++) {
    if (lengths[i] < 0 || (uint64_t)lengths[i] > SIZE_MAX / 16 - *sum) {
      return ravel_fail(in->c, RAVEL_DATA,
                        "column %zu of (%s): the length %lld at position %llu is %s", number,
                        in->f->takes_text, (long long)lengths[i], (unsigned long long)i,
                        lengths[i] < 0 ? "negative" : "too large");
    }
    *sum += (uint64_t)lengths[i];
  }
  return RAVEL_OK;
}

/* Uploads the rows of a window from their lengths. */
static enum ravel_code lengths_in(struct intake *in, uint32_t to, size_t from,
                                  const struct window *w) {
  struct ravel_context *c = in->c;
  const int64_t *lengths = in->given[from].data;
  struct window *elements = &in->taken[to].elements;
  const struct machine_item item = {.kind = MACHINE_SEGDES,
                                    .length = w->count,
                                    .as.ints = w->count ? lengths + w->first : NULL};
  *elements = (struct window){.within = w->within};
  enum ravel_code code = sum_of_lengths(in, from, 0, w->first, &elements->first);
  if (code == RAVEL_OK) {
    code = sum_of_lengths(in, from, w->first, w->first + w->count, &elements->count);
  }
  if (code != RAVEL_OK) return code;
  return machine_value_item(c->machine, &item, &in->columns[to], c->diags)
             ? RAVEL_OK
             : ravel_fail_machine(c);
}

static enum ravel_code check_given_offsets(const struct intake *in, size_t number,
                                           const struct window *w) {
  const struct ravel_column *g = &in->given[number];
  int64_t before = 0;
  for (uint64_t i = w->first; g->length > 0 && i <= w->first + w->count; i++) {
    const int64_t offset = offset_at(g, i);
    if (offset < before || (uint64_t)offset > SIZE_MAX / 16) {
      return ravel_fail(in->c, RAVEL_DATA,
                        "column %zu of (%s): the offset %lld at position %llu is %s", number,
                        in->f->takes_text, (long long)offset, (unsigned long long)i,
                        offset < 0        ? "negative"
                        : offset < before ? "less than the one before it"
                                          : "too large");
    }
    before = offset;
  }
  return RAVEL_OK;
}

struct offsets {
  const struct ravel_column *column;
  uint64_t first;
};

/* Fills offsets that begin with 0; a cvl_filler. */
static void fill_row_offsets(void *with, uint64_t first, uint64_t n, void *to) {
  const struct offsets *o = with;
  int64_t *offsets = to;
  const int64_t begin = offset_at(o->column, o->first);
  for (uint64_t i = 0; i < n; i++) {
    offsets[i] = offset_at(o->column, o->first + first + i) - begin;
  }
}

/* Uploads the rows of a window from their offsets, of which there is one more. */
static enum ravel_code offsets_in(struct intake *in, uint32_t to, size_t from,
                                  const struct window *w) {
  struct ravel_context *c = in->c;
  const struct ravel_column *g = &in->given[from];
  struct window *elements = &in->taken[to].elements;
  struct offsets o = {g, w->first};
  const enum ravel_code code = check_given_offsets(in, from, w);
  if (code != RAVEL_OK) return code;
  if (g->length == 0) return lengths_in(in, to, from, w); /* Arrow has none of no rows */
  const uint64_t first = (uint64_t)offset_at(g, w->first),
                 last = (uint64_t)offset_at(g, w->first + w->count);
  *elements = (struct window){first, last - first, true};
  const struct cvl_filler filler = {fill_row_offsets, &o};
  return machine_value_segdes(c->machine, w->count, &filler, &in->columns[to], c->diags)
             ? RAVEL_OK
             : ravel_fail_machine(c);
}

#define LOAD(type, make)                                                                       \
  do {                                                                                         \
    type x;                                                                                    \
    memcpy(&x, g->data, sizeof x);                                                             \
    *out = make;                                                                               \
  } while (0)

/* Uploads a scalar. It is the host's, so the back end need not be asked for memory. */
static bool scalar_in(const struct widths *w, const struct ravel_column *g,
                      struct cvl_value *out) {
  switch (g->element) {
  case RAVEL_BOOL8: LOAD(uint8_t, cvl_scalar_bool(x != 0)); return true;
  case RAVEL_CHAR8: LOAD(uint8_t, cvl_scalar_int(w->int_elem, x)); return true;
  case RAVEL_INT32: LOAD(int32_t, cvl_scalar_int(w->int_elem, x)); return true;
  case RAVEL_FLOAT32: LOAD(float, cvl_scalar_float(w->float_elem, (double)x)); return true;
  case RAVEL_FLOAT64: LOAD(double, cvl_scalar_float(w->float_elem, x)); return true;
  case RAVEL_INT64:
    LOAD(int64_t, cvl_scalar_int(w->int_elem, x));
    return w->int_elem == CVL_I64;
  case RAVEL_INT8:
  case RAVEL_INT16:
  case RAVEL_UINT8:
  case RAVEL_UINT16:
  case RAVEL_UINT32:
  case RAVEL_OFFSETS32:
  case RAVEL_OFFSETS64: break;
  }
  return false;
}

/* Checks what the caller says of a column. */
static enum ravel_code check_given_column(const struct intake *in, size_t number,
                                          enum type_tag tag, const struct window *wanted) {
  const struct ravel_column *g = &in->given[number];
  const bool are_rows = g->element == RAVEL_INT64 || ravel_are_offsets(g->element);
  if (tag == TYPE_SEQUENCE && !are_rows) {
    return ravel_fail(in->c, RAVEL_TYPE,
                      "column %zu of (%s): lengths are RAVEL_INT64, offsets RAVEL_OFFSETS32 "
                      "or RAVEL_OFFSETS64",
                      number, in->f->takes_text);
  }
  if (tag != TYPE_SEQUENCE && ravel_element_type(g->element) != tag) {
    return ravel_fail(in->c, RAVEL_TYPE, "column %zu of (%s) is of %s: no such element", number,
                      in->f->takes_text, ravel_type_text(in->c->base[tag]));
  }
  if (!g->data && g->length > 0) {
    return ravel_fail(in->c, RAVEL_MISUSE, "column %zu of (%s): a pointer is NULL", number,
                      in->f->takes_text);
  }
  const uint64_t rows = rows_of_column(g), end = wanted->first + wanted->count;
  if (wanted->within ? rows >= end : rows == end) return RAVEL_OK;
  return ravel_fail(in->c, RAVEL_DATA,
                    "column %zu of (%s) has %llu %s, and %s%llu are expected", number,
                    in->f->takes_text, (unsigned long long)rows,
                    ravel_are_offsets(g->element) ? "rows" : "elements",
                    wanted->within ? "at least " : "", (unsigned long long)end);
}

/* Makes a vector on the memory that was given. */
static enum ravel_code borrow_given(struct intake *in, uint32_t to,
                                    const struct ravel_column *g) {
  struct ravel_context *c = in->c;
  struct ravel_value **v = &in->taken[to].borrowed;
  const enum ravel_code code = ravel_borrow_vector(c, g->element, g->data, g->length, v);
  if (code != RAVEL_OK) return code;
  in->columns[to] = (*v)->columns[1];
  machine_retain(c->machine, &in->columns[to]);
  return RAVEL_OK;
}

static enum ravel_code elements_in(struct intake *in, uint32_t to,
                                   const struct ravel_column *g) {
  struct ravel_context *c = in->c;
  if (ravel_is_worth_borrowing(c, g->element, g->length)) return borrow_given(in, to, g);
  memset(&in->columns[to], 0, sizeof in->columns[to]);
  const enum ravel_code code =
      ravel_elements_in(c, g->element, g->data, g->length, &in->columns[to]);
  if (code != RAVEL_OK) machine_release(c->machine, &in->columns[to]);
  return code;
}

/* Returns the elements of a window of a column. */
static struct ravel_column seen(const struct ravel_column *g, const struct window *w) {
  const size_t skipped = w->first * ravel_element_bytes(g->element);
  return (struct ravel_column){g->element, skipped ? (const char *)g->data + skipped : g->data,
                               w->count};
}

/* Makes a column of the machine, of elements or rows, from one that was given. */
static enum ravel_code column_in(struct intake *in, uint32_t to, size_t from) {
  static const struct window one = {.count = 1};
  const enum type_tag tag = (enum type_tag)in->layout->tags[to];
  const uint32_t within = in->layout->within[to];
  const struct window *w = within == IR_ONE ? &one : &in->taken[within].elements;
  const struct ravel_column g = in->given[from];
  const enum ravel_code code = check_given_column(in, from, tag, w);
  if (code != RAVEL_OK) return code;
  if (tag == TYPE_SEQUENCE) {
    return ravel_are_offsets(g.element) ? offsets_in(in, to, from, w)
                                        : lengths_in(in, to, from, w);
  }
  if (within == IR_ONE && scalar_in(&in->c->options.machine.widths, &g, &in->columns[to])) {
    return RAVEL_OK;
  }
  const struct ravel_column elements = seen(&g, w);
  return elements_in(in, to, &elements);
}

/* Makes all columns; *done of them are to be released, whatever the code is. */
static enum ravel_code take_columns(struct intake *in, uint32_t count, uint32_t *done) {
  enum ravel_code code = RAVEL_OK;
  for (size_t from = 0; *done < count && code == RAVEL_OK;) {
    const uint32_t to = *done;
    in->taken[to].borrowed = NULL;
    if (!ravel_is_column(in->layout, to)) {
      const struct window all = {.count = rows_of_column(&in->given[from])};
      in->taken[to].elements = all; /* or of what they consist of */
      in->columns[to] = cvl_one_segment(all.count);
    } else {
      code = column_in(in, to, from++);
    }
    if (code == RAVEL_OK) (*done)++;
  }
  return code;
}

/* ---- a call ---- */

/* Runs the function on the columns, which pass to it in every case, and makes the result. */
static enum ravel_code run_on_columns(struct intake *in, uint32_t count,
                                      struct ravel_value **result) {
  struct ravel_context *c = in->c;
  struct ravel_value *v = ravel_value_new(c, in->f->gives);
  if (!v) {
    for (uint32_t i = 0; i < count; i++) machine_release(c->machine, &in->columns[i]);
    return c->code;
  }
  for (uint32_t i = 0; i < count; i++) in->columns[i].owned = 1;
  const enum ravel_code code = ravel_run(c, in->f, in->columns, count, v->columns, v->count);
  if (code == RAVEL_OK) {
    *result = v;
  } else {
    ravel_release(v);
  }
  return code;
}

/* Calls the function. Columns that the result shares with the caller's memory are copied when
 * that is given back. */
static enum ravel_code call_on_columns(struct intake *in, uint32_t count,
                                       struct ravel_value **result) {
  struct ravel_value *v = NULL;
  uint32_t done = 0;
  enum ravel_code code = take_columns(in, count, &done);
  if (code == RAVEL_OK) {
    code = run_on_columns(in, count, &v);
  } else {
    for (uint32_t i = 0; i < done; i++) machine_release(in->c->machine, &in->columns[i]);
  }
  for (uint32_t i = 0; i < done; i++) ravel_release(in->taken[i].borrowed);
  if (code != RAVEL_OK) return code;
  if (v->lost) {
    ravel_release(v);
    return ravel_fail_memory(in->c);
  }
  *result = v;
  return RAVEL_OK;
}

/* Calls with memory for the columns of the arguments: the caller's where it suffices. */
static enum ravel_code call_with_memory(struct intake *in, struct ravel_value **result) {
  enum { FEW = 32 };
  struct cvl_value few_columns[FEW];
  struct taken few_taken[FEW];
  const struct ravel_function *f = in->f;
  struct heap *heap = &in->c->heap;
  const uint32_t count = f->take_count ? ravel_type_columns(f->rest[0]) : 0;
  in->columns = few_columns;
  in->taken = few_taken;
  if (count <= FEW) return call_on_columns(in, count, result);
  in->columns = heap_alloc(heap, count * sizeof *in->columns);
  in->taken = heap_alloc(heap, count * sizeof *in->taken);
  const bool fine = in->columns && in->taken;
  const enum ravel_code code =
      fine ? call_on_columns(in, count, result) : ravel_fail_memory(in->c);
  if (in->columns) heap_free(heap, in->columns, count * sizeof *in->columns);
  if (in->taken) heap_free(heap, in->taken, count * sizeof *in->taken);
  return code;
}

enum ravel_code ravel_call_columns(struct ravel_context *c, const struct ravel_function *f,
                                   const struct ravel_column *columns, size_t count,
                                   struct ravel_value **result) {
  static const struct ravel_layout nothing = {0};
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!f || !result || (!columns && count > 0)) {
    return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
  }
  if (f->context != c) {
    return ravel_fail(c, RAVEL_MISUSE, "the function belongs to another context");
  }
  struct intake in = {.c = c, .f = f, .layout = &nothing, .given = columns};
  stop_begin(&c->stop, c->options.seconds);
  enum ravel_code code = ravel_stopped(c);
  if (code != RAVEL_OK) return code;
  if (f->take_count) in.layout = ravel_layout_of(c, f->rest[0]);
  if (!in.layout) return c->code;
  if (count != in.layout->count) {
    return ravel_fail(c, RAVEL_MISUSE, "%zu columns for the %u of (%s)", count,
                      in.layout->count, f->takes_text);
  }
  const double start = stop_clock();
  code = call_with_memory(&in, result);
  c->statistics.seconds = stop_clock() - start;
  return code;
}
