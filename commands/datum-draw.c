/* datum-draw.c - random values: near 0 for the most, and everything that is special, rarely. */
#include "commands/datum.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- random numbers ---- */

static uint64_t splitmix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t random_next(struct random_bits *bits) {
  return splitmix(bits->state += 0x9e3779b97f4a7c15);
}

uint64_t random_below(struct random_bits *bits, uint64_t n) {
  return random_next(bits) % n; /* n is small: the remainder is uniform enough */
}

struct random_bits random_stream(uint64_t seed, const char *name, uint64_t number) {
  struct random_bits bits = {splitmix(seed + 1)};
  for (; *name; name++) bits.state = splitmix(bits.state ^ (unsigned char)*name);
  bits.state = splitmix(bits.state + number);
  return bits;
}

static bool one_in(struct random_bits *bits, uint64_t n) {
  return random_below(bits, n) == 0;
}

/* ---- scalars ---- */

enum { SPECIAL_INTS = 24, SPECIAL_FLOATS = 16 }; /* one in so many is special */

static bool is_ranged(const struct datum_domain *domain, enum property_range_kind kind) {
  return domain->range && domain->range->kind == kind;
}

/* Draws a power of two or one less, or the least or greatest int, of any sign. */
static int64_t special_int(struct random_bits *bits, const struct datum_domain *domain) {
  const unsigned width = domain->widths.int_elem == CVL_I32 ? 32 : 64;
  const uint64_t most = ((uint64_t)1 << (width - 1)) - 1;
  uint64_t magnitude = ((uint64_t)1 << random_below(bits, width)) - random_below(bits, 2);
  if (magnitude > most || one_in(bits, 2)) magnitude = most - random_below(bits, 2);
  const int64_t x = (int64_t)magnitude;
  return one_in(bits, 2) ? x : -x - (int64_t)random_below(bits, 2);
}

static int64_t draw_int(struct random_bits *bits, const struct datum_domain *domain,
                        uint64_t size) {
  if (is_ranged(domain, RANGE_INTS)) {
    const uint64_t extent = (uint64_t)domain->range->high - (uint64_t)domain->range->low;
    return (int64_t)((uint64_t)domain->range->low + random_below(bits, extent));
  }
  if (one_in(bits, SPECIAL_INTS)) return special_int(bits, domain);
  return (int64_t)random_below(bits, 2 * size + 1) - (int64_t)size;
}

/* Draws a number that is at least 0 and below 1. */
static double unit(struct random_bits *bits) {
  return (double)(random_next(bits) >> 11) * 0x1p-53;
}

static double special_float(struct random_bits *bits, bool narrow) {
  const double wide[] = {INFINITY, -INFINITY, NAN,      -0.0,          DBL_MAX,
                         -DBL_MAX, DBL_MIN,   4.9e-324, DBL_MIN / 8.0, 0x1p53};
  const double thin[] = {INFINITY, -INFINITY, NAN,     -0.0,           (double)FLT_MAX,
                         -FLT_MAX, FLT_MIN,   1.4e-45, FLT_MIN / 8.0F, 0x1p24};
  const uint64_t i = random_below(bits, sizeof wide / sizeof *wide);
  return narrow ? thin[i] : wide[i];
}

/* In the range: half of them near its ends and on simple fractions of it. */
static double ranged_float(struct random_bits *bits, const struct property_range *range) {
  enum { FRACTIONS = 8 };
  const bool simple = one_in(bits, 2);
  const double at = simple ? (double)random_below(bits, FRACTIONS) / FRACTIONS : unit(bits);
  const double x = range->least + (range->most - range->least) * at;
  return x >= range->least && x < range->most ? x : range->least;
}

static double any_float(struct random_bits *bits, bool narrow, uint64_t size) {
  if (one_in(bits, SPECIAL_FLOATS)) return special_float(bits, narrow);
  const double sign = one_in(bits, 2) ? -1.0 : 1.0;
  if (one_in(bits, 2)) return sign * (double)random_below(bits, 2 * size + 1) / 2.0 + 0.0;
  return sign * unit(bits) * pow(10.0, (double)random_below(bits, 10) - 3.0);
}

static double draw_float(struct random_bits *bits, const struct datum_domain *domain,
                         uint64_t size) {
  const bool narrow = domain->widths.float_elem == CVL_F32;
  const bool ranged = is_ranged(domain, RANGE_FLOATS);
  const double x = ranged ? ranged_float(bits, domain->range) : any_float(bits, narrow, size);
  if (!narrow) return x;
  const bool rounds_up = ranged && (float)x >= (float)domain->range->most;
  return (double)(float)(rounds_up ? domain->range->least : x);
}

/* Draws mostly one of few letters, so that equal ones meet; rarely any byte. */
static int64_t draw_char(struct random_bits *bits, const struct datum_domain *domain) {
  enum { ANY = 32, PRINTABLE = 6, FEW = 5 };
  if (is_ranged(domain, RANGE_CHARS)) {
    const uint64_t i = random_below(bits, domain->range->char_count);
    return (unsigned char)domain->range->chars[i];
  }
  if (one_in(bits, ANY)) return (int64_t)random_below(bits, 256);
  if (one_in(bits, PRINTABLE)) return ' ' + (int64_t)random_below(bits, '~' - ' ' + 1);
  return 'a' + (int64_t)random_below(bits, one_in(bits, 2) ? FEW : 26);
}

/* ---- values of all types ---- */

/* Whether sequences are in sequences of these elements. */
static bool has_sequence(struct arena *arena, struct type *type) {
  type = type_of(type);
  if (type->tag == TYPE_PAIR) {
    return has_sequence(arena, type->part[0]) || has_sequence(arena, type->part[1]);
  }
  if (type->tag == TYPE_DATA) return has_sequence(arena, type_contents(arena, type));
  return type->tag == TYPE_SEQUENCE;
}

/* The greatest length where rows and columns together have about `size` elements. */
static uint64_t side(uint64_t size) {
  return size < 4 ? size : (uint64_t)(2.0 * sqrt((double)size));
}

static struct random_datum draw_items(struct arena *arena, struct random_bits *bits,
                                      struct type *element, const struct datum_domain *domain,
                                      uint64_t size) {
  if (has_sequence(arena, element)) size = side(size);
  const uint64_t count = random_below(bits, size + 1);
  struct random_datum *items = arena_alloc(arena, count * sizeof *items + 1);
  for (uint64_t i = 0; i < count; i++)
    items[i] = datum_draw(arena, bits, element, domain, size);
  return (struct random_datum){.count = (uint32_t)count, .items = items};
}

static struct random_datum draw_pair(struct arena *arena, struct random_bits *bits,
                                     struct type *pair, const struct datum_domain *domain,
                                     uint64_t size) {
  struct random_datum *items = arena_alloc(arena, 2 * sizeof *items);
  for (unsigned i = 0; i < 2; i++)
    items[i] = datum_draw(arena, bits, pair->part[i], domain, size);
  return (struct random_datum){.count = 2, .items = items};
}

struct random_datum datum_draw(struct arena *arena, struct random_bits *bits, struct type *type,
                               const struct datum_domain *domain, uint64_t size) {
  struct random_datum d = {.count = 0};
  struct random_datum *inner;
  type = type_of(type);
  switch ((enum type_tag)type->tag) {
  case TYPE_INT: d.as.integer = draw_int(bits, domain, size); break;
  case TYPE_FLOAT: d.as.real = draw_float(bits, domain, size); break;
  case TYPE_BOOL: d.as.integer = (int64_t)random_below(bits, 2); break;
  case TYPE_CHAR: d.as.integer = draw_char(bits, domain); break;
  case TYPE_SEQUENCE: return draw_items(arena, bits, type->part[0], domain, size);
  case TYPE_PAIR: return draw_pair(arena, bits, type, domain, size);
  case TYPE_DATA:
    inner = arena_alloc(arena, sizeof *inner);
    *inner = datum_draw(arena, bits, type_contents(arena, type), domain, size);
    return (struct random_datum){.count = 1, .items = inner};
  case TYPE_STREAM:
  case TYPE_FUNCTION:
  case TYPE_IDENTITY:
  case TYPE_VARIABLE: break; /* datum_problem says so */
  }
  return d;
}

/* ---- what can be drawn ---- */

const char *datum_problem(struct arena *arena, struct type *type) {
  const char *problem;
  type = type_of(type);
  switch ((enum type_tag)type->tag) {
  case TYPE_INT:
  case TYPE_FLOAT:
  case TYPE_BOOL:
  case TYPE_CHAR: return NULL;
  case TYPE_SEQUENCE: return datum_problem(arena, type->part[0]);
  case TYPE_PAIR:
    problem = datum_problem(arena, type->part[0]);
    return problem ? problem : datum_problem(arena, type->part[1]);
  case TYPE_DATA: return datum_problem(arena, type_contents(arena, type));
  case TYPE_STREAM: return "there are no random streams";
  case TYPE_FUNCTION:
  case TYPE_IDENTITY:
  case TYPE_VARIABLE: break;
  }
  return "there are no random functions; `from` makes a value of something that is drawn";
}

bool datum_has_range(struct arena *arena, struct type *type,
                     const struct property_range *range) {
  static const enum type_tag tags[] = {
      [RANGE_INTS] = TYPE_INT, [RANGE_FLOATS] = TYPE_FLOAT, [RANGE_CHARS] = TYPE_CHAR};
  type = type_of(type);
  if (range->kind == RANGE_NONE || type->tag == tags[range->kind]) return true;
  if (type->tag == TYPE_DATA) return datum_has_range(arena, type_contents(arena, type), range);
  for (unsigned i = 0; i < 2 && type->part[i]; i++) {
    if (datum_has_range(arena, type->part[i], range)) return true;
  }
  return false;
}
