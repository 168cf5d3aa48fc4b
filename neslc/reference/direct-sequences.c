/* direct-sequences.c - primitives on sequences of anything: building, indexing, moving and
 * nesting, with the checks of section 7 of the NESL specification.
 *
 * Work is charged by the sizes that section 9.4, 9.6 and 9.7 name.
 */
#include "neslc/reference/direct-private.h"

#include <math.h>
#include <string.h>

/* Whether a checked position is inside of a sequence of `length`. */
static bool direct_sequences_is_inside(int64_t i, uint64_t length) {
  return i >= 0 && (uint64_t)i < length;
}

/* The library called one of its own primitives with what it should not. */
static bool broken(struct direct *d, const struct primitive_call *call) {
  return direct_fail(d, call->frame, call->apply, NESL_LIMIT,
                     "internal error: bad arguments of `%s` of the library",
                     call->specialisation->global->name->text);
}

/* ---- building ---- */

static bool direct_element(struct direct *d, const struct primitive_call *call,
                           struct datum *out) {
  const struct datum_sequence *v = call->argument[0].as.sequence;
  const int64_t i = call->argument[1].as.integer;
  if (!direct_sequences_is_inside(i, v->count)) {
    return direct_check_fails(d, call, CHECK_ELT, i, (int64_t)v->count);
  }
  *out = v->items[i];
  charge(d, datum_size(*out), 0);
  return true;
}

static bool direct_distribute(struct direct *d, const struct primitive_call *call,
                              struct datum *out) {
  const int64_t n = call->argument[1].as.integer;
  if (n < 0) {
    return direct_check_fails(d, call, CHECK_DIST, n, 0);
  }
  struct datum *items = direct_items(d, (uint64_t)n);
  for (int64_t i = 0; i < n; i++) items[i] = call->argument[0];
  *out = datum_sequence(d, items, (uint64_t)n);
  charge(d, out->as.sequence->size, 0);
  return true;
}

/* Whether so many elements can be counted by an INT. */
static bool countable(const struct direct *d, uint64_t count) {
  return count <= (d->widths.int_elem == CVL_I32 ? (uint64_t)INT32_MAX : (uint64_t)INT64_MAX);
}

static struct datum direct_series(struct direct *d, int64_t start, int64_t stride,
                                  uint64_t count) {
  struct datum *items = direct_items(d, count);
  for (uint64_t i = 0; i < count; i++) {
    items[i] = datum_int((int64_t)((uint64_t)start + i * (uint64_t)stride));
  }
  charge(d, (double)count, 0);
  return datum_sequence(d, items, count);
}

static bool direct_range(struct direct *d, const struct primitive_call *call,
                         struct datum *out) {
  const int64_t start = call->argument[0].as.integer, stride = call->argument[1].as.integer,
                end = call->argument[2].as.integer;
  if (start > end) return direct_check_fails(d, call, CHECK_ISEQ_END, start, end);
  if (stride < 1) return direct_check_fails(d, call, CHECK_ISEQ_STRIDE, stride, 0);
  const uint64_t span = (uint64_t)end - (uint64_t)start, step = (uint64_t)stride;
  const uint64_t count = span / step + (span % step != 0);
  if (!countable(d, count)) return direct_check_fails(d, call, CHECK_ISEQ_LENGTH, start, end);
  *out = direct_series(d, start, stride, count);
  return true;
}

static struct datum *copy_of_items(struct direct *d, const struct datum_sequence *v) {
  struct datum *items = direct_items(d, v->count);
  if (v->count) memcpy(items, v->items, (size_t)v->count * sizeof *items);
  return items;
}

static bool direct_replace(struct direct *d, const struct primitive_call *call,
                           struct datum *out) {
  const struct datum_sequence *v = call->argument[0].as.sequence;
  const int64_t i = call->argument[2].as.integer;
  if (!direct_sequences_is_inside(i, v->count)) {
    return direct_check_fails(d, call, CHECK_REP, i, (int64_t)v->count);
  }
  struct datum *items = copy_of_items(d, v);
  items[i] = call->argument[1];
  *out = datum_sequence(d, items, v->count);
  charge(d, v->size + datum_size(call->argument[1]), 0);
  return true;
}

/* ---- moving ---- */

static bool direct_gather(struct direct *d, const struct primitive_call *call,
                          struct datum *out) {
  const struct datum_sequence *v = call->argument[0].as.sequence;
  const struct datum_sequence *at = call->argument[1].as.sequence;
  struct datum *items = direct_items(d, at->count);
  for (uint64_t k = 0; k < at->count; k++) {
    const int64_t i = at->items[k].as.integer;
    if (!direct_sequences_is_inside(i, v->count)) {
      return direct_check_fails(d, call, CHECK_READ, i, (int64_t)v->count);
    }
    items[k] = v->items[i];
  }
  *out = datum_sequence(d, items, at->count);
  charge(d, out->as.sequence->size, 0);
  return true;
}

static bool direct_scatter(struct direct *d, const struct primitive_call *call,
                           struct datum *out) {
  const struct datum_sequence *v = call->argument[0].as.sequence;
  const struct datum_sequence *writes = call->argument[1].as.sequence;
  struct datum *items = copy_of_items(d, v);
  for (uint64_t k = 0; k < writes->count; k++) {
    const struct datum_pair *write = writes->items[k].as.pair;
    const int64_t i = write->left.as.integer;
    if (!direct_sequences_is_inside(i, v->count)) {
      return direct_check_fails(d, call, CHECK_WRITE, i, (int64_t)v->count);
    }
    items[i] = write->right;
  }
  *out = datum_sequence(d, items, v->count);
  charge(d, v->size + writes->size, 0);
  return true;
}

static bool direct_permute(struct direct *d, const struct primitive_call *call,
                           struct datum *out) {
  const struct datum_sequence *v = call->argument[0].as.sequence;
  const struct datum_sequence *at = call->argument[1].as.sequence;
  const int64_t n = (int64_t)v->count;
  if (at->count != v->count) {
    return direct_check_fails(d, call, CHECK_PERMUTE_LENGTHS, n, (int64_t)at->count);
  }
  struct datum *items = direct_items(d, v->count);
  bool *taken = arena_alloc(d->arena, (size_t)v->count);
  for (uint64_t k = 0; k < v->count; k++) {
    const int64_t i = at->items[k].as.integer;
    if (!direct_sequences_is_inside(i, v->count))
      return direct_check_fails(d, call, CHECK_PERMUTE_INDEX, i, n);
    taken[i] = true;
    items[i] = v->items[k];
  }
  for (int64_t i = 0; i < n; i++) {
    if (!taken[i]) return direct_check_fails(d, call, CHECK_PERMUTE_GAP, i, n);
  }
  *out = datum_sequence(d, items, v->count);
  charge(d, v->size, 0);
  return true;
}

static bool direct_pack(struct direct *d, const struct primitive_call *call,
                        struct datum *out) {
  const struct datum_sequence *v = call->argument[0].as.sequence;
  struct datum *items = direct_items(d, v->count);
  uint64_t count = 0;
  for (uint64_t i = 0; i < v->count; i++) {
    if (v->items[i].as.pair->right.as.integer) items[count++] = v->items[i].as.pair->left;
  }
  *out = datum_sequence(d, items, count);
  charge(d, v->size, ceil(log2((double)v->count + 1)));
  return true;
}

static bool direct_append(struct direct *d, const struct primitive_call *call,
                          struct datum *out) {
  const struct datum_sequence *u = call->argument[0].as.sequence;
  const struct datum_sequence *v = call->argument[1].as.sequence;
  if (!countable(d, u->count + v->count)) {
    return direct_check_fails(d, call, CHECK_APPEND_LENGTH, (int64_t)u->count,
                              (int64_t)v->count);
  }
  struct datum *items = direct_items(d, u->count + v->count);
  if (u->count) memcpy(items, u->items, (size_t)u->count * sizeof *items);
  if (v->count) memcpy(items + u->count, v->items, (size_t)v->count * sizeof *items);
  *out = datum_sequence(d, items, u->count + v->count);
  charge(d, u->size + v->size, 0);
  return true;
}

/* ---- nesting ---- */

static bool direct_flatten(struct direct *d, const struct primitive_call *call,
                           struct datum *out) {
  const struct datum_sequence *v = call->argument[0].as.sequence;
  uint64_t count = 0;
  for (uint64_t i = 0; i < v->count; i++) count += v->items[i].as.sequence->count;
  if (!countable(d, count)) return direct_check_fails(d, call, CHECK_FLATTEN_LENGTH, 0, 0);
  struct datum *items = direct_items(d, count), *next = items;
  for (uint64_t i = 0; i < v->count; i++) {
    const struct datum_sequence *part = v->items[i].as.sequence;
    if (part->count) memcpy(next, part->items, (size_t)part->count * sizeof *next);
    next += part->count;
  }
  *out = datum_sequence(d, items, count);
  charge(d, v->size, ceil(log2((double)v->count + 1)));
  return true;
}

static bool direct_partition(struct direct *d, const struct primitive_call *call,
                             struct datum *out) {
  const struct datum_sequence *v = call->argument[0].as.sequence;
  const struct datum_sequence *counts = call->argument[1].as.sequence;
  int64_t total = 0; /* no more than INT64_MAX, which no sequence has */
  for (uint64_t k = 0; k < counts->count; k++) {
    const int64_t n = counts->items[k].as.integer;
    if (n < 0) return direct_check_fails(d, call, CHECK_PARTITION_COUNT, n, 0);
    total = n > INT64_MAX - total ? INT64_MAX : total + n;
  }
  if (!countable(d, (uint64_t)total)) {
    return direct_check_fails(d, call, CHECK_PARTITION_SUM, 0, 0);
  }
  if (total != (int64_t)v->count) {
    return direct_check_fails(d, call, CHECK_PARTITION_TOTAL, total, (int64_t)v->count);
  }
  struct datum *items = direct_items(d, counts->count);
  const struct datum *next = v->items;
  for (uint64_t k = 0; k < counts->count; k++) {
    const uint64_t n = (uint64_t)counts->items[k].as.integer;
    items[k] = datum_sequence(d, next, n);
    next += n;
  }
  *out = datum_sequence(d, items, counts->count);
  charge(d, (double)counts->count, 0);
  return true;
}

static bool direct_zip(struct direct *d, const struct primitive_call *call, struct datum *out) {
  const struct datum_sequence *u = call->argument[0].as.sequence;
  const struct datum_sequence *v = call->argument[1].as.sequence;
  if (u->count != v->count) {
    return direct_check_fails(d, call, CHECK_ZIP, (int64_t)u->count, (int64_t)v->count);
  }
  struct datum *items = direct_items(d, u->count);
  for (uint64_t i = 0; i < u->count; i++) items[i] = datum_pair(d, u->items[i], v->items[i]);
  *out = datum_sequence(d, items, u->count);
  charge(d, (double)u->count, 0);
  return true;
}

static bool direct_unzip(struct direct *d, const struct primitive_call *call,
                         struct datum *out) {
  const struct datum_sequence *v = call->argument[0].as.sequence;
  struct datum *lefts = direct_items(d, v->count), *rights = direct_items(d, v->count);
  for (uint64_t i = 0; i < v->count; i++) {
    lefts[i] = v->items[i].as.pair->left;
    rights[i] = v->items[i].as.pair->right;
  }
  *out = datum_pair(d, datum_sequence(d, lefts, v->count), datum_sequence(d, rights, v->count));
  charge(d, (double)v->count, 0);
  return true;
}

/* ---- what only the library calls ---- */

/* scatter from two sequences */
static bool direct_put(struct direct *d, const struct primitive_call *call, struct datum *out) {
  const struct datum_sequence *at = call->argument[1].as.sequence;
  const struct datum_sequence *x = call->argument[2].as.sequence;
  if (x->count != at->count) return broken(d, call);
  struct datum *pairs = direct_items(d, at->count);
  for (uint64_t k = 0; k < at->count; k++) pairs[k] = datum_pair(d, at->items[k], x->items[k]);
  struct primitive_call write = *call;
  write.argument[1] = datum_sequence(d, pairs, at->count);
  return direct_scatter(d, &write, out);
}

static bool counted_series(struct direct *d, const struct primitive_call *call,
                           struct datum *out) {
  const int64_t count = call->argument[2].as.integer;
  if (count < 0) return broken(d, call);
  *out = direct_series(d, call->argument[0].as.integer, call->argument[1].as.integer,
                       (uint64_t)count);
  return true;
}

/* ---- all of them ---- */

bool direct_sequence(struct direct *d, const struct primitive_call *call, struct datum *out) {
  switch ((int)call->primitive) {
  case PRIM_LENGTH:
    *out = datum_int((int64_t)call->argument[0].as.sequence->count);
    return true;
  case PRIM_POSITIONS:
    *out = direct_series(d, 0, 1, call->argument[0].as.sequence->count);
    return true;
  case PRIM_SERIES: return counted_series(d, call, out);
  case PRIM_ELT_NOCHECK:
  case PRIM_ELT: return direct_element(d, call, out);
  case PRIM_DIST: return direct_distribute(d, call, out);
  case PRIM_ISEQ: return direct_range(d, call, out);
  case PRIM_REP: return direct_replace(d, call, out);
  case PRIM_GET:
  case PRIM_READ: return direct_gather(d, call, out);
  case PRIM_WRITE: return direct_scatter(d, call, out);
  case PRIM_PUT: return direct_put(d, call, out);
  case PRIM_PERMUTE_NOCHECK:
  case PRIM_PERMUTE: return direct_permute(d, call, out);
  case PRIM_PACK: return direct_pack(d, call, out);
  case PRIM_APPEND: return direct_append(d, call, out);
  case PRIM_FLATTEN: return direct_flatten(d, call, out);
  case PRIM_PARTITION_NOCHECK:
  case PRIM_PARTITION: return direct_partition(d, call, out);
  case PRIM_ZIP: return direct_zip(d, call, out);
  case PRIM_UNZIP: return direct_unzip(d, call, out);
  default: break;
  }
  return direct_fail(d, call->frame, call->apply, NESL_LIMIT,
                     "internal error: `%s` is not here",
                     call->specialisation->global->name->text);
}
