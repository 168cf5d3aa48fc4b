/* arrays.h - numpy's .npy and .npz files and CSV files, to and from columns.
 *
 * A value is described by a signature, its type in prefix form: i f b c for INT, FLOAT, BOOL
 * and CHAR, [T for a sequence, (LR for a pair. Settings of CSV files may follow (csv-style.c),
 * and for files of any format field=NAME for each component of the elements, where these are
 * records.
 * An array is a nest of sequences of elements; an
 * element is a scalar, a text ([c), or a tuple of these. Its columns, in order: for each level
 * of sequences their lengths (of the outermost: one), then for each component of the element a
 * column of numbers; for a text the lengths, then the characters.
 *
 * A numpy array of d dimensions is d levels; a structured one holds tuples. An array whose last
 * dimension is as long as a tuple may be read as tuples, too. Text is S or U (as UTF-8). A CSV
 * file is a sequence of rows, each a tuple, or a sequence of sequences of scalars.
 *
 * An .npz file is an archive of numpy arrays, and holds a value of any type of sequences,
 * tuples and scalars (npz-write.c). Its columns: for each letter of the signature but (, in
 * order, the lengths of sequences or the values of scalars.
 */
#ifndef RAVEL_ARRAYS_H
#define RAVEL_ARRAYS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdio.h>

struct spill;

enum array_format { ARRAY_NPY, ARRAY_CSV, ARRAY_NPZ };
enum array_leaf { ARRAY_INT, ARRAY_FLOAT, ARRAY_BOOL, ARRAY_CHAR, ARRAY_TEXT };

/* The columns that are too large for memory, in temporary files (base/spill.h). The caller owns
 * the struct, which begins zeroed except for `heap`, and ends it by array_spills_end. */
struct array_spills {
  struct heap *heap;  /* of their buffers */
  const char *mapped; /* the bytes of the file that is read, if they are mapped; else NULL */
  size_t length;
  uint64_t passed; /* bytes read since pages were given back */
  struct array_spill *newest;
};
void array_spills_end(struct array_spills *);
/* Returns whether elements are in one of the spills. */
bool array_spills_hold(const struct array_spills *, const void *elements);
/* Lets the system take from memory what has been read of the spills and of the file
 * (spill_give_back). */
void array_spills_give_back(struct array_spills *);
/* Begins a spill with the lifetime of the others. Returns NULL after setting the problem. */
struct spill *array_spill(struct arena *, struct array_spills *, const char **problem);

struct array_type {
  uint32_t depth; /* levels of sequences */
  uint32_t leaf_count;
  uint8_t *leaves; /* enum array_leaf; components of an element from left to right */
  bool bytes_stay; /* those of a file that is read, as long as the columns, which may then be in
                      them: where a numpy file has 64-bit numbers as columns have them */
  struct array_spills *spills; /* where large columns go that are read, whose pages are given
                                  back while they are written; NULL: all are the arena's */
  const char *signature;       /* of ARRAY_NPZ, which has nothing else of these; else NULL */
  const struct csv_style *csv; /* how a CSV file looks; NULL: as usual */
};

struct array_column {
  uint64_t length;
  union {
    int64_t *ints; /* bools are 0 and 1 */
    double *floats;
    uint8_t *bytes; /* bools are 0 and 1 here, too */
  } as;
  bool is_bytes; /* so are bools that are read into spills, and may be those to be written */
  bool equal;    /* to be written, lengths: all are the one that is there */
};

struct array_columns {
  uint32_t count;
  struct array_column *items;
};

/* Results are the arena's, which jumps if memory runs out. Functions that return false set
 * *problem to a sentence. */

/* Parses a signature. Returns false if files of this format hold no values of that type. */
bool array_type_parse(enum array_format, struct arena *, const char *signature, size_t length,
                      struct array_type *, const char **problem);
/* Returns the length of the signature before the colon in SIGNATURE:FILE, or all of it if there
 * is no colon. */
size_t array_signature_length(const char *text, size_t length);

enum { ARRAY_PROBLEM_MAX = 256 };
/* Returns whether KEY=VALUE is a setting of CSV files: separator=C, header=N, comment=TEXT,
 * missing=TEXT, replacement=TEXT, column=NAME, name=NAME. */
bool array_setting_check(const char *setting, char problem[ARRAY_PROBLEM_MAX]);
/* Returns a setting as it stands in a signature, behind the type. */
const char *array_setting(struct arena *, const char *setting);
/* Gives a type such settings, for array_guess. */
bool array_settings_parse(struct arena *, const char *settings, struct array_type *,
                          const char **problem);

/* Return the number of columns of a value, and whether column k holds floats. */
uint32_t array_column_count(const struct array_type *);
bool array_column_is_float(const struct array_type *, uint32_t k);

/* Returns whether a file that begins with these bytes may have the format. numpy's formats have
 * magic numbers; CSV may begin with anything. */
bool array_may_begin(enum array_format, const char *bytes, size_t length);
/* Reads a value of that type from the bytes of a file. */
bool array_read(enum array_format, struct arena *, const struct array_type *, const char *bytes,
                size_t length, struct array_columns *out, const char **problem);
/* Finds the type of a numpy file (of an ARRAY_NPZ file its signature), or guesses that of a CSV
 * file: columns are ints, else floats, bools, texts. Before the call type->csv says how the
 * file looks. */
bool array_guess(enum array_format, struct arena *, const char *bytes, size_t length,
                 struct array_type *, const char **problem);
/* Returns whether the value can be written: a numpy array must be rectangular. */
bool array_check(enum array_format, struct arena *, const struct array_type *,
                 const struct array_columns *, const char **problem);
enum { ARRAY_NPY_HEADER = 128 };
/* Returns whether a numpy file of this type is a header of ARRAY_NPY_HEADER bytes, whatever its
 * shape, and one column of numbers as it is in memory. Such a result may be written before its
 * length is known. */
bool array_npy_is_column(const struct array_type *);
/* Writes that header for a value that passed array_check. The elements are not looked at. */
bool array_npy_write_header(struct arena *, const struct array_type *,
                            const struct array_columns *, FILE *, const char **problem);
/* Writes a file with a value that passed array_check. The caller checks the stream for errors.
 */
bool array_write(enum array_format, struct arena *, const struct array_type *,
                 const struct array_columns *, FILE *, const char **problem);

#endif
