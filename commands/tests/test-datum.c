/* test-datum.c - random values: as text and as columns they are the same value, what is simpler
 * stays in the domain and ends, and streams depend on what they should.
 */
#include "commands/datum.h"
#include "neslc/reference/direct.h"
#include "neslc/tests/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct diag_list diags;

static void datum_begin(void) {
  session_begin(false, &diags);
}

static void datum_begin_narrow(void) {
  session_begin(true, &diags);
}

TestSuite(datum, .init = datum_begin, .fini = memory_end);
TestSuite(datum_narrow, .init = datum_begin_narrow, .fini = memory_end);

static const char *const types[] = {
    "int",
    "float",
    "bool",
    "char",
    "[int]",
    "[char]",
    "[[float]]",
    "[([char], bool)]",
    "(int, (float, [bool]))",
    "[[[int]]]",
    "((int, char), [(float, [int])])",
    "point",
    "[shape]",
    "(shape, [[point]])",
};
enum { TYPES = sizeof types / sizeof *types, DRAWN = 60, SIZE = 12 };

/* ---- forms ---- */

static const struct source *datum_source_of(const char *text) {
  struct source *source = arena_alloc(&arena, sizeof *source);
  *source =
      (struct source){.name = "test", .text = text, .length = strlen(text), .first_line = 1};
  return source;
}

/* The value of a form; of a definition none. */
static struct nesl_value evaluated(const char *text) {
  struct reader reader;
  struct complaints complaints = {.diags = &diags};
  struct form *form = arena_alloc(&arena, sizeof *form);
  struct checked checked = {0};
  struct nesl_value value = {0};
  struct direct_cost cost;
  const struct direct_options options = {.out = stdout};
  reader_init(&reader, &arena, &session->names, datum_source_of(text));
  if (session->classic) reader.widths = (struct widths){CVL_I32, CVL_F64};
  const bool fine = read_form(&reader, &complaints, form) == READ_FORM &&
                    check_form(session, form, &complaints, &checked) &&
                    (!checked.value ||
                     direct_evaluate(session, &checked, &options, &complaints, &value, &cost));
  if (!fine) diag_print(&diags, "test", 3, stderr);
  cr_assert(fine, "%s", text);
  return value;
}

static struct type *datum_type_named(const char *text) {
  struct complaints complaints = {.diags = &diags};
  struct type *type = session_read_type(
      session, datum_source_of(arena_printf(&arena, "%s;", text)), &complaints);
  cr_assert(type, "%s", text);
  return type;
}

static void define_datatypes(void) {
  evaluated("datatype point(int, float);");
  evaluated("datatype shape([char], [point]);");
}

/* ---- as text and as columns ---- */

/* Whether the bits are the same, except for NaN and for the sign of zero, which text does not
 * keep. */
static bool same_float(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

static bool same_column(const struct column *a, const struct column *b) {
  if (a->kind != b->kind || a->length != b->length) return false;
  for (uint64_t i = 0; i < a->length; i++) {
    if (a->kind == COLUMN_FLOAT && !same_float(a->as.floats[i], b->as.floats[i])) return false;
    if (a->kind == COLUMN_BOOL && a->as.bools[i] != b->as.bools[i]) return false;
    if (a->kind != COLUMN_FLOAT && a->kind != COLUMN_BOOL && a->as.ints[i] != b->as.ints[i])
      return false;
  }
  return true;
}

static char *datum_shown(struct type *type, const struct random_datum *d,
                         const struct widths *widths) {
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  datum_show(&arena, type, d, widths, out);
  fputc(';', out);
  fclose(out);
  return text;
}

static void datum_check_text(struct type *type, const struct random_datum *d,
                             const struct widths *widths) {
  const struct nesl_value columns = datum_columns(&arena, type_sequence(&arena, type), d, 1);
  char *text = datum_shown(type, d, widths);
  const struct nesl_value value = evaluated(text);
  uint64_t wanted, found;
  cr_assert(value_fits(&columns, &wanted, &found), "%s", text);
  cr_assert_eq(columns.columns[0].length, 1);
  cr_assert_eq(columns.columns[0].as.ints[0], 1);
  cr_assert_eq(columns.count, value.count + 1);
  for (uint32_t i = 0; i < value.count; i++) {
    cr_assert(same_column(&columns.columns[i + 1], &value.columns[i]), "column %u of %s", i,
              text);
  }
  free(text);
}

static void check_texts(struct widths widths) {
  const struct datum_domain domain = {NULL, widths};
  define_datatypes();
  for (unsigned k = 0; k < TYPES; k++) {
    struct type *type = datum_type_named(types[k]);
    struct random_bits bits = random_stream(1, types[k], 0);
    for (unsigned i = 0; i < DRAWN; i++) {
      const struct random_datum d = datum_draw(&arena, &bits, type, &domain, SIZE);
      datum_check_text(type, &d, &widths);
    }
  }
}

Test(datum, text_has_the_same_value) {
  check_texts((struct widths){CVL_I64, CVL_F64});
}

Test(datum_narrow, text_has_the_same_value) {
  session->classic = true;
  check_texts((struct widths){CVL_I32, CVL_F64});
}

/* Many values at once are those values one behind the other. */
Test(datum, columns_of_many) {
  const struct datum_domain domain = {NULL, {CVL_I64, CVL_F64}};
  struct type *type = datum_type_named("([int], char)");
  struct random_bits bits = random_stream(7, "many", 0);
  struct random_datum d[DRAWN];
  uint64_t elements = 0, wanted, found;
  for (unsigned i = 0; i < DRAWN; i++) {
    d[i] = datum_draw(&arena, &bits, type, &domain, SIZE);
    elements += d[i].items[0].count;
  }
  const struct nesl_value all = datum_columns(&arena, type_sequence(&arena, type), d, DRAWN);
  cr_assert(value_fits(&all, &wanted, &found));
  cr_expect_eq(all.columns[0].as.ints[0], DRAWN);
  cr_expect_eq(all.columns[2].length, elements);
  cr_expect_eq(all.columns[3].length, DRAWN);
  const struct nesl_value none = datum_columns(&arena, type_sequence(&arena, type), NULL, 0);
  cr_expect_eq(none.columns[0].as.ints[0], 0);
  cr_expect_eq(none.columns[3].length, 0);
}

/* ---- simpler values ---- */

/* Goes to some simpler value until there is none. */
static struct random_datum simplest(struct type *type, const struct datum_domain *domain,
                                    struct random_datum d, struct random_bits *bits) {
  enum { MOST_STEPS = 20000 };
  for (unsigned steps = 0;; steps++) {
    datum_list list = {0};
    datum_simpler(&arena, type, domain, &d, &list);
    if (list.count == 0) return d;
    cr_assert_lt(list.count, DATUM_MOST_SIMPLER + 1);
    cr_assert_lt(steps, MOST_STEPS, "it does not end");
    d = list.items[random_below(bits, list.count)];
  }
}

Test(datum, simpler_values_end) {
  const struct datum_domain domain = {NULL, {CVL_I64, CVL_F64}};
  define_datatypes();
  for (unsigned k = 0; k < TYPES; k++) {
    struct type *type = datum_type_named(types[k]);
    struct random_bits bits = random_stream(2, types[k], 0);
    char *least = NULL;
    for (unsigned i = 0; i < DRAWN / 4; i++) {
      struct random_datum d = datum_draw(&arena, &bits, type, &domain, SIZE);
      d = simplest(type, &domain, d, &bits);
      char *text = datum_shown(type, &d, &domain.widths);
      if (least) cr_assert_str_eq(text, least); /* there is one simplest value */
      free(least);
      least = text;
    }
    free(least);
  }
}

static bool datum_is_within(const struct property_range *range, const struct random_datum *d) {
  switch (range->kind) {
  case RANGE_INTS: return d->as.integer >= range->low && d->as.integer < range->high;
  case RANGE_FLOATS: return d->as.real >= range->least && d->as.real < range->most;
  case RANGE_CHARS: return memchr(range->chars, (int)d->as.integer, range->char_count) != NULL;
  case RANGE_NONE: break;
  }
  return true;
}

Test(datum, values_stay_in_their_range) {
  static const struct property_range ranges[] = {
      {.kind = RANGE_INTS, .low = -3, .high = 4},
      {.kind = RANGE_INTS, .low = 5, .high = 1000},
      {.kind = RANGE_INTS, .low = -1000, .high = -5},
      {.kind = RANGE_INTS, .low = INT64_MIN, .high = INT64_MAX},
      {.kind = RANGE_INTS, .low = 8, .high = 9},
      {.kind = RANGE_FLOATS, .least = -0.5, .most = 0.25},
      {.kind = RANGE_FLOATS, .least = 3.0, .most = 1e300},
      {.kind = RANGE_FLOATS, .least = -8.0, .most = -7.5},
      {.kind = RANGE_CHARS, .chars = "zxy", .char_count = 3},
  };
  static const char *const of_kind[] = {"", "int", "float", "char"};
  for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
    const struct datum_domain domain = {&ranges[k], {CVL_I64, CVL_F64}};
    struct type *type = datum_type_named(of_kind[ranges[k].kind]);
    struct random_bits bits = random_stream(3, "range", k);
    cr_assert(datum_has_range(&arena, type, &ranges[k]));
    for (unsigned i = 0; i < DRAWN; i++) {
      const struct random_datum d = datum_draw(&arena, &bits, type, &domain, SIZE);
      cr_assert(datum_is_within(&ranges[k], &d), "range %zu", k);
      datum_list list = {0};
      datum_simpler(&arena, type, &domain, &d, &list);
      for (size_t j = 0; j < list.count; j++)
        cr_assert(datum_is_within(&ranges[k], &list.items[j]), "range %zu, simpler", k);
      simplest(type, &domain, d, &bits);
    }
  }
}

/* ---- streams ---- */

Test(datum, streams) {
  struct random_bits a = random_stream(1, "p", 0), same = random_stream(1, "p", 0);
  struct random_bits others[] = {random_stream(2, "p", 0), random_stream(1, "q", 0),
                                 random_stream(1, "p", 1), random_stream(1, "pp", 0)};
  const uint64_t first = random_next(&a);
  cr_expect_eq(first, random_next(&same));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    cr_expect_neq(first, random_next(&others[i]));
}

Test(datum, what_cannot_be_drawn) {
  cr_expect_null(datum_problem(&arena, datum_type_named("[(int, [char])]")));
  cr_expect_not_null(datum_problem(&arena, datum_type_named("[int -> int]")));
  cr_expect_not_null(datum_problem(&arena, datum_type_named("(int, stream)")));
  const struct property_range ints = {.kind = RANGE_INTS, .low = 0, .high = 1};
  cr_expect(datum_has_range(&arena, datum_type_named("[(char, [int])]"), &ints));
  cr_expect(!datum_has_range(&arena, datum_type_named("[(char, float)]"), &ints));
}
