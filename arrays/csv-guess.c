/* csv-guess.c - guesses the types of the columns of a CSV file from their fields: ints, else
 * floats, bools, texts.
 */
#include "arrays/csv.h"

#include <string.h>

/* Returns the least of the types, in this order, that every field of a column has. */
static enum array_leaf wider(enum array_leaf leaf, bool may_be_bool) {
  if (leaf == ARRAY_INT) return ARRAY_FLOAT;
  return leaf == ARRAY_FLOAT && may_be_bool ? ARRAY_BOOL : ARRAY_TEXT;
}

/* Adds a column. There are as many as the first row has fields, and they begin as ints, which
 * are 0. */
static void csv_add_column(struct csv_reading *r, struct array_type *type, uint32_t i) {
  type->leaf_count = i + 1;
  if ((i & (i + 1)) != 0) return; /* there is room up to 2^k - 1 */
  uint8_t *leaves = arena_alloc(r->arena, 2 * (size_t)i + 1);
  if (i > 0) memcpy(leaves, type->leaves, i);
  type->leaves = leaves;
}

/* Widens the columns' types to those of a row. If `fresh`, the columns have no types yet. A
 * column of bools holds only bools; one of 2.5 and True holds texts. */
static bool guess_row(struct csv_reading *r, struct array_type *type, bool is_first,
                      bool fresh) {
  uint32_t i = 0;
  do {
    struct csv_cell cell;
    if (!csv_take_field(r)) return false;
    if (is_first) csv_add_column(r, type, i);
    if (i == type->leaf_count) {
      return array_fail(r->arena, r->problem, "line %" PRIu64 ": more than %u fields", r->line,
                        type->leaf_count);
    }
    enum array_leaf leaf = (enum array_leaf)type->leaves[i];
    while (!csv_read_cell(r, leaf, &cell)) leaf = wider(leaf, fresh);
    type->leaves[i++] = (uint8_t)leaf;
  } while (!r->ends_row);
  return true;
}

/* Selects the types of the columns that are wanted, in their order, from the types of all
 * fields. */
static void choose_types(const struct csv_reading *r, struct array_type *type) {
  if (!r->wanted) return;
  uint8_t *all = type->leaves;
  type->leaf_count = (uint32_t)r->style->columns.count;
  type->leaves = arena_alloc(r->arena, type->leaf_count);
  for (uint32_t i = 0; i < r->field_count; i++) {
    if (r->wanted[i] != CSV_UNWANTED) type->leaves[r->wanted[i]] = all[i];
  }
}

/* Whether the row that follows may hold the names of the columns. */
static bool may_be_names(struct csv_reading *r, bool *result) {
  struct csv_reading first = *r;
  struct csv_look look;
  if (!csv_look(&first, &look)) return false;
  *result = look.names && r->style->header == CSV_HEADER_UNKNOWN;
  return true;
}

/* Guesses from all rows. Where nothing is said of a header, a first row that may hold names
 * counts as data only if there is no other row. */
static bool guess_rows(struct csv_reading *r, void *result) {
  struct array_type *type = result;
  bool names;
  type->depth = 1;
  if (!csv_take_header(r)) return false;
  if (!csv_another_row(r)) {
    return array_fail(r->arena, r->problem,
                      r->header ? "there are no rows behind the header" : "the file is empty");
  }
  if (!may_be_names(r, &names) || !guess_row(r, type, true, true)) return false;
  for (bool second = names; csv_another_row(r); second = false) {
    if (second) memset(type->leaves, ARRAY_INT, type->leaf_count);
    const char *start = r->next;
    if (!guess_row(r, type, false, second)) return false;
    array_passed(type->spills, (uint64_t)(r->next - start));
  }
  choose_types(r, type);
  return true;
}

bool csv_guess(struct arena *arena, const char *bytes, size_t length, struct array_type *type,
               const char **problem) {
  struct csv_reading r = {.arena = arena, .type = type, .problem = problem};
  return csv_read_with(&r, bytes, length, guess_rows, type);
}
