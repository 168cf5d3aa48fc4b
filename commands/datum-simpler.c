/* datum-simpler.c - the values that are simpler than a given one. */
#include "commands/datum.h"

#include <math.h>
#include <string.h>

static bool is_full(const datum_list *list) {
  return list->count >= DATUM_MOST_SIMPLER;
}

static void add_datum(struct arena *arena, datum_list *list, struct random_datum d) {
  if (!is_full(list)) *array_push(arena, list) = d;
}

static const struct property_range *range_of_kind(const struct datum_domain *domain,
                                                  enum property_range_kind kind) {
  return domain->range && domain->range->kind == kind ? domain->range : NULL;
}

/* ---- scalars ---- */

static void add_int_datum(struct arena *arena, datum_list *list, int64_t x) {
  add_datum(arena, list, (struct random_datum){.as.integer = x});
}

/* Returns the simplest int. */
static int64_t simplest_int(const struct property_range *range) {
  if (!range) return 0;
  if (range->low > 0) return range->low;
  return range->high <= 0 ? range->high - 1 : 0;
}

/* Appends ints nearer to the target: by the whole distance, half of it, a quarter ... 1. */
static void simpler_int(struct arena *arena, const struct property_range *range, int64_t x,
                        datum_list *list) {
  const int64_t target = simplest_int(range);
  if (x == target) return;
  const bool flips = x < 0 && x > INT64_MIN && (!range || -x < range->high);
  add_int_datum(arena, list, target);
  if (flips) add_int_datum(arena, list, -x);
  const bool above = x > target;
  const uint64_t distance =
      above ? (uint64_t)x - (uint64_t)target : (uint64_t)target - (uint64_t)x;
  for (uint64_t left = distance / 2; left > 0; left /= 2) {
    add_int_datum(arena, list, (int64_t)(above ? (uint64_t)x - left : (uint64_t)x + left));
  }
}

static void add_float(struct arena *arena, const struct property_range *range, double x,
                      double was, datum_list *list) {
  if (range && !(x >= range->least && x < range->most)) return;
  if (memcmp(&x, &was, sizeof x) != 0)
    add_datum(arena, list, (struct random_datum){.as.real = x});
}

/* Appends simpler floats: for an integer as for an int, for others without a fraction, with
 * half of one. */
static void simpler_finite(struct arena *arena, const struct property_range *range, double x,
                           datum_list *list) {
  if (x < 0) add_float(arena, range, -x, x, list);
  if (x != trunc(x)) {
    add_float(arena, range, trunc(x) + 0.0, x, list);
    add_float(arena, range, x < 0 ? floor(x) : ceil(x), x, list);
    if (x * 2.0 != trunc(x * 2.0)) add_float(arena, range, trunc(x * 2.0) / 2.0 + 0.0, x, list);
    return;
  }
  for (double left = trunc(x / 2.0); left != 0.0 && fabs(left) >= fabs(x) * 0x1p-40;
       left = trunc(left / 2.0)) {
    add_float(arena, range, x - left, x, list);
  }
}

static void simpler_float(struct arena *arena, const struct property_range *range, double x,
                          datum_list *list) {
  const double target = range && range->least > 0 ? range->least : 0.0;
  if (x == target && !signbit(x)) return;
  add_float(arena, range, target, x, list);
  if (isfinite(x)) {
    simpler_finite(arena, range, x, list);
  } else {
    add_float(arena, range, 1.0, x, list);
    if (x < 0) add_float(arena, range, INFINITY, x, list);
    if (x < 0) add_float(arena, range, -1.0, x, list);
  }
}

/* Position of a character from the simplest on: letters, digits, what is printed, the rest. */
static unsigned rank_of_char(unsigned char c) {
  enum { LETTERS = 0, DIGITS = 26, CAPITALS = 36, SPACE = 62, PRINTED = 64, OTHERS = 256 };
  if (c >= 'a' && c <= 'z') return LETTERS + (unsigned)(c - 'a');
  if (c >= '0' && c <= '9') return DIGITS + (unsigned)(c - '0');
  if (c >= 'A' && c <= 'Z') return CAPITALS + (unsigned)(c - 'A');
  if (c == ' ') return SPACE;
  return (c > ' ' && c <= '~' ? (unsigned)PRINTED : OTHERS) + c;
}

/* a; halfway to it; the one before; another of the simpler sets. */
static void simpler_plain_char(struct arena *arena, unsigned char c, datum_list *list) {
  static const unsigned char simple[] = "abz0AZ ";
  const unsigned rank = rank_of_char(c);
  for (size_t i = 0; i < sizeof simple - 1; i++) {
    if (rank_of_char(simple[i]) < rank) add_int_datum(arena, list, simple[i]);
  }
  if (rank < 26 && rank > 2) add_int_datum(arena, list, 'a' + (int)rank / 2);
  if (rank < 26 && rank > 1) add_int_datum(arena, list, c - 1);
}

static void simpler_char(struct arena *arena, const struct property_range *range,
                         unsigned char c, datum_list *list) {
  if (!range) {
    simpler_plain_char(arena, c, list);
    return;
  }
  for (size_t i = 0; i < range->char_count && (unsigned char)range->chars[i] != c; i++) {
    add_int_datum(arena, list, (unsigned char)range->chars[i]);
  }
}

/* ---- composed values ---- */

/* Returns the value with another item at i. */
static struct random_datum with_item(struct arena *arena, const struct random_datum *d,
                                     uint32_t i, struct random_datum item) {
  struct random_datum *items = arena_alloc(arena, d->count * sizeof *items);
  memcpy(items, d->items, d->count * sizeof *items);
  items[i] = item;
  return (struct random_datum){.count = d->count, .items = items};
}

/* The value with what is simpler than its item i instead of that. */
static void simpler_item(struct arena *arena, struct type *type,
                         const struct datum_domain *domain, const struct random_datum *d,
                         uint32_t i, datum_list *list) {
  datum_list simpler = {0};
  if (is_full(list)) return;
  datum_simpler(arena, type, domain, &d->items[i], &simpler);
  for (size_t k = 0; k < simpler.count; k++) {
    add_datum(arena, list, with_item(arena, d, i, simpler.items[k]));
  }
}

/* Returns the sequence without the elements at .. at + length - 1. */
static struct random_datum without(struct arena *arena, const struct random_datum *d,
                                   uint32_t at, uint32_t length) {
  const uint32_t end = at + length < d->count ? at + length : d->count;
  const uint32_t count = d->count - (end - at);
  struct random_datum *items = arena_alloc(arena, count * sizeof *items + 1);
  memcpy(items, d->items, at * sizeof *items);
  memcpy(items + at, d->items + end, (d->count - end) * sizeof *items);
  return (struct random_datum){.count = count, .items = items};
}

/* Appends sequences of fewer elements: none, then without each half, each quarter ... each
 * element. */
static void simpler_sequence(struct arena *arena, struct type *element,
                             const struct datum_domain *domain, const struct random_datum *d,
                             datum_list *list) {
  for (uint32_t length = d->count; length > 0; length /= 2) {
    for (uint32_t at = 0; at < d->count; at += length) {
      add_datum(arena, list, without(arena, d, at, length));
    }
  }
  for (uint32_t i = 0; i < d->count; i++) simpler_item(arena, element, domain, d, i, list);
}

void datum_simpler(struct arena *arena, struct type *type, const struct datum_domain *domain,
                   const struct random_datum *d, datum_list *list) {
  type = type_of(type);
  switch ((enum type_tag)type->tag) {
  case TYPE_INT:
    simpler_int(arena, range_of_kind(domain, RANGE_INTS), d->as.integer, list);
    break;
  case TYPE_FLOAT:
    simpler_float(arena, range_of_kind(domain, RANGE_FLOATS), d->as.real, list);
    break;
  case TYPE_BOOL:
    if (d->as.integer) add_int_datum(arena, list, 0);
    break;
  case TYPE_CHAR:
    simpler_char(arena, range_of_kind(domain, RANGE_CHARS), (unsigned char)d->as.integer, list);
    break;
  case TYPE_SEQUENCE: simpler_sequence(arena, type->part[0], domain, d, list); break;
  case TYPE_PAIR:
    for (uint32_t i = 0; i < 2; i++) simpler_item(arena, type->part[i], domain, d, i, list);
    break;
  case TYPE_DATA: simpler_item(arena, type_contents(arena, type), domain, d, 0, list); break;
  case TYPE_STREAM:
  case TYPE_FUNCTION:
  case TYPE_IDENTITY:
  case TYPE_VARIABLE: break;
  }
}
