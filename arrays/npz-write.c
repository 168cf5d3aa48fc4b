/* npz-write.c - values of any type as a numpy archive: offsets and values.
 *
 * Outside of sequences each component of a tuple is an array of its own, arr_0, arr_1 and so
 * on. A sequence of scalars is the array A.npy; of sequences, A.offsets.npy, one longer than
 * there are sequences, and their elements as A.values; of tuples, their components as A.0, A.1
 * and so on. A sequence within is always offsets and values, so that the type alone determines
 * the files. Components of a record, or of the elements of a sequence of records, have the
 * names of its fields instead: mass.npy, arr_0.mass.npy.
 */
#include "arrays/zip.h"

#include <string.h>

struct writing {
  struct arena *arena;
  const struct array_type *type;
  const char *next; /* in the signature */
  bool named;       /* the next components are those of a record, and have its names */
  const struct array_column *column;
  struct zip zip;
};

/* ---- one array ---- */

struct one_array {
  struct arena *arena;
  const struct array_type *type;
  struct array_columns columns;
  const char **problem;
};

static bool write_one(void *context, FILE *out) {
  const struct one_array *a = context;
  return npy_write(a->arena, a->type, &a->columns, out, a->problem);
}

/* Writes a column, as a sequence or, outside of sequences, as a scalar. */
static bool npz_write_column(struct writing *w, const char *path, enum array_leaf leaf,
                             bool in_sequence, const struct array_column *column) {
  int64_t count[] = {(int64_t)column->length};
  uint8_t leaves[] = {(uint8_t)leaf};
  struct array_column columns[] = {{.length = 1, .as.ints = count}, *column};
  const struct array_type type = {
      .depth = in_sequence, .leaf_count = 1, .leaves = leaves, .spills = w->type->spills};
  struct one_array a = {.arena = w->arena, .type = &type, .problem = w->zip.problem};
  a.columns = (struct array_columns){.count = in_sequence ? 2 : 1,
                                     .items = in_sequence ? columns : columns + 1};
  return zip_add(&w->zip, arena_printf(w->arena, "%s.npy", path), write_one, &a);
}

static bool write_offsets(struct writing *w, const char *path,
                          const struct array_column *lengths) {
  struct array_column offsets = array_ints(w->arena, lengths->length + 1);
  offsets.as.ints[0] = 0;
  for (uint64_t i = 0; i < lengths->length; i++) {
    offsets.as.ints[i + 1] = offsets.as.ints[i] + lengths->as.ints[i];
  }
  return npz_write_column(w, arena_printf(w->arena, "%s.offsets", path), ARRAY_INT, true,
                          &offsets);
}

/* ---- values ---- */

static bool write_components(struct writing *, const char *path);

static bool npz_write_value(struct writing *w, const char *path, bool in_sequence) {
  const char letter = *w->next++;
  const struct array_column *column = w->column++;
  if (letter != '[')
    return npz_write_column(w, path, array_leaf_of(letter), in_sequence, column);
  if (!in_sequence) return write_components(w, path);
  return write_offsets(w, path, column) &&
         write_components(w, arena_printf(w->arena, "%s.values", path));
}

/* Writes the elements of a sequence. */
static bool write_components(struct writing *w, const char *path) {
  if (*w->next != '(') return npz_write_value(w, path, true);
  const bool named = w->named;
  w->named = false;
  uint32_t index = 0;
  for (unsigned wanted = 1; wanted > 0; wanted--, index++) {
    for (; *w->next == '('; w->next++) wanted++;
    const char *component =
        named ? arena_printf(w->arena, "%s.%s", path, array_field(w->type, index))
              : arena_printf(w->arena, "%s.%u", path, index);
    if (!npz_write_value(w, component, true)) return false;
  }
  return true;
}

bool npz_write(struct arena *arena, const struct array_type *type,
               const struct array_columns *columns, FILE *out, const char **problem) {
  struct writing w = {
      .arena = arena, .type = type, .next = type->signature, .column = columns->items};
  w.zip = (struct zip){.arena = arena, .out = out, .problem = problem};
  const bool records = array_field_count(type) > 0, alone = *w.next != '[';
  w.named = records && !alone;
  const uint32_t count = array_component_count(type->signature);
  for (uint32_t i = 0; i < count; i++) {
    while (*w.next == '(') w.next++;
    const char *root =
        records && alone ? array_field(type, i) : arena_printf(arena, "arr_%u", i);
    if (!npz_write_value(&w, root, false)) return false;
  }
  zip_end(&w.zip);
  return true;
}

/* ---- consistency ---- */

struct checking {
  const char *next;
  const struct array_column *column;
};

static bool npz_value_fits(struct checking *c, uint64_t count) {
  for (unsigned wanted = 1; wanted > 0; wanted--) {
    for (; *c->next == '('; c->next++) wanted++;
    uint64_t total;
    const struct array_column *column = c->column++;
    if (column->length != count) return false;
    if (*c->next++ != '[') continue;
    if (!array_sum_lengths(column, &total) || !npz_value_fits(c, total)) return false;
  }
  return true;
}

bool npz_fits(const struct array_type *type, const struct array_columns *columns) {
  struct checking c = {type->signature, columns->items};
  return npz_value_fits(&c, 1);
}
