/* arrays-private.h - declarations common to the files of this room. */
#ifndef RAVEL_ARRAYS_PRIVATE_H
#define RAVEL_ARRAYS_PRIVATE_H

#include "arrays/arrays.h"
#include "base/spill.h"

enum { ARRAY_MOST_DIMENSIONS = 32 };

/* Returns the name in programs: "int", "float", ... */
const char *array_leaf_name(enum array_leaf);
/* Returns the kind of a scalar from its letter in a signature: i f b c. */
enum array_leaf array_leaf_of(char letter);
/* Returns the index of a component's column. A text's column is that of its lengths. */
uint32_t array_leaf_column(const struct array_type *, uint32_t leaf);

/* Returns whether this machine stores the least significant byte of a number first. */
bool array_little_endian(void);

/* Allocates a column of so many ints in the arena. */
struct array_column array_ints(struct arena *, uint64_t length);
struct array_column array_floats(struct arena *, uint64_t length);

/* ---- columns under construction: spills.c ---- */

/* Smaller columns, in bytes, are always the arena's. */
enum { ARRAY_SPILLED_LEAST = 1 << 20 };

struct array_growing {
  struct arena *arena;
  enum array_leaf leaf;
  struct spill *spill;  /* where it goes; NULL: into */
  ARRAY(int64_t) items; /* with the bits of floats */
};
/* Begins a column, in a spill if there are some. For a text (ARRAY_TEXT) it holds the lengths.
 */
bool array_grow_begin(struct array_growing *, struct arena *, enum array_leaf,
                      struct array_spills *, const char **problem);
/* Makes room for so many elements in memory, so that none is left over. */
void array_grow_expect(struct array_growing *, uint64_t count);
bool array_grow_int(struct array_growing *, int64_t, const char **problem);
bool array_grow_float(struct array_growing *, double, const char **problem);
/* Ends a column: nothing is appended any more. */
bool array_grow_end(struct array_growing *, struct array_column *out, const char **problem);
/* Sets the problem of a spill and returns false. */
bool array_spill_failed(struct arena *, const struct file_problem *, const char **problem);
/* Notes that so many bytes of a file or of columns have been read or written: now and then
 * pages are given back. NULL means that there are no spills. */
void array_passed(struct array_spills *, uint64_t bytes);

/* Returns bool i of a column. */
static inline bool array_bool(const struct array_column *c, uint64_t i) {
  return c->is_bytes ? c->as.bytes[i] != 0 : c->as.ints[i] != 0;
}

/* How numpy stores one component of an element. */
struct npy_field {
  char kind; /* 'i', 'u', 'f', 'b', 'S', 'U' */
  bool big;  /* most significant byte first */
  uint32_t size, offset;
  const char *name; /* of a structured element; else NULL */
  size_t name_length;
};

struct npy_header {
  bool structured, fortran;
  uint32_t field_count, dimension_count;
  struct npy_field *fields;
  uint64_t record; /* bytes of an element */
  uint64_t dimensions[ARRAY_MOST_DIMENSIONS];
  size_t data; /* offset of the elements */
};

bool npy_header_parse(struct arena *, const char *bytes, size_t length, struct npy_header *,
                      const char **problem);
/* Returns the name of a type in numpy: "float64", "big-endian int16". */
const char *npy_field_name(struct arena *, const struct npy_field *);

/* Parses the settings behind a type in a signature. */
bool csv_style_parse(struct arena *, const char *text, const char *end, struct array_type *,
                     const char **problem);

/* Returns the end of the value that begins here in a signature. */
const char *array_value_end(const char *);
/* The number of components that a signature has outside of sequences. */
uint32_t array_component_count(const char *signature);

/* Returns how many names the components of records have, 0 where they have none; and each name.
 * The format does not matter. */
uint32_t array_field_count(const struct array_type *);
const char *array_field(const struct array_type *, uint32_t i);
/* Returns whether a column of this name may be a field's. Case does not count, and `_` matches
 * any byte that is no letter and no digit. */
bool array_name_fits(const char *name, size_t length, const char *field);

bool npy_read(struct arena *, const struct array_type *, const char *bytes, size_t length,
              struct array_columns *, const char **problem);
bool npy_guess(struct arena *, const char *bytes, size_t length, struct array_type *,
               const char **problem);
bool csv_guess(struct arena *, const char *bytes, size_t length, struct array_type *,
               const char **problem);
bool npy_check(struct arena *, const struct array_type *, const struct array_columns *,
               const char **problem);
bool csv_check(struct arena *, const struct array_type *, const char **problem);
bool csv_write_check(struct arena *, const struct array_type *, const char **problem);
bool npy_write(struct arena *, const struct array_type *, const struct array_columns *, FILE *,
               const char **problem);
bool csv_read(struct arena *, const struct array_type *, const char *bytes, size_t length,
              struct array_columns *, const char **problem);
bool csv_write(struct arena *, const struct array_type *, const struct array_columns *, FILE *,
               const char **problem);

bool npz_read(struct arena *, const struct array_type *, const char *bytes, size_t length,
              struct array_columns *, const char **problem);
bool npz_guess(struct arena *, const char *bytes, size_t length, struct array_type *,
               const char **problem);
/* Returns false if a length is negative, or the sum too large. */
bool array_sum_lengths(const struct array_column *, uint64_t *total);
/* Returns whether columns have the lengths that the preceding columns imply. */
bool npz_fits(const struct array_type *, const struct array_columns *);
bool npz_write(struct arena *, const struct array_type *, const struct array_columns *, FILE *,
               const char **problem);

/* Sets the problem and is false. */
#define array_fail(arena, problem, ...) (*(problem) = arena_printf((arena), __VA_ARGS__), false)

#endif
