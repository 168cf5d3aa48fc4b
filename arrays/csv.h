/* csv.h - a CSV file that is being read, and how such files look. Private to csv-*.c. */
#ifndef RAVEL_ARRAYS_CSV_H
#define RAVEL_ARRAYS_CSV_H

#include "arrays/arrays-private.h"

#include <inttypes.h>

/* Some programs write this at the beginning of a file. It is none of the data. */
#define CSV_BYTE_ORDER "\xEF\xBB\xBF"

/* Some bytes, and a NUL behind them. */
struct csv_word {
  const char *text;
  size_t length;
};

enum { CSV_HEADER_UNKNOWN = -1 }; /* nothing is said: a first row that does not fit has names */
#define CSV_UNWANTED UINT32_MAX   /* of a column that is not read */

typedef ARRAY(struct csv_word) csv_words;

/* How a file looks, and what is wanted of it. */
struct csv_style {
  char separator;
  int64_t header;          /* rows before the data, of which the last has the names */
  struct csv_word comment; /* lines that begin with it are skipped, if it is not empty */
  /* If one of these is given, fields that hold nothing or `missing` are missing. They are read
   * as the replacement, or as NaN or an empty text. */
  struct csv_word missing, replacement;
  bool has_missing, has_replacement;
  csv_words columns; /* the columns that are read; none: all */
  csv_words names;   /* written in a row before the others */
  bool names_only;   /* the names of the columns are what is read */
  csv_words fields;  /* names of the components of records; none: they have none */
  bool by_fields;    /* the columns that are read have these names, or similar */
};

/* ---- csv-style.c ---- */

/* Returns the style of a type: the usual one if it has none. */
const struct csv_style *csv_style_of(const struct array_type *);

struct csv_reading {
  struct arena *arena;
  const struct array_type *type;
  const struct csv_style *style;
  const char *next, *end;
  uint64_t line;         /* of the row being read */
  uint64_t lines_ended;  /* lines ended so far */
  bool carriage_returns; /* there is no line feed in the file: these end its rows */
  bool begun;            /* a row of data was met: empty lines behind it may be rows */
  const char *ahead;     /* there is a row here, or was before */
  bool ends_row;         /* the field just read was the last of its row */
  bool quoted;           /* and stood in quotes */
  char *field;           /* the field just read, NUL-terminated */
  size_t length, room;   /* its bytes, and what it may have; there is a byte more */
  const char *header;    /* the row with the names of the columns, or NULL */
  uint32_t *wanted;      /* for each field of a row its component, or CSV_UNWANTED; NULL: all */
  uint32_t field_count;  /* of a row, where `wanted` is not NULL */
  const char **problem;
};

/* ---- csv-fields.c ---- */

/* Begins reading the bytes, calls `read`, and ends. */
bool csv_read_with(struct csv_reading *, const char *bytes, size_t length,
                   bool (*read)(struct csv_reading *, void *result), void *result);
/* Returns whether there is another row. It skips comments, and empty lines unless they stand
 * between rows that may have no field or one empty field. */
bool csv_another_row(struct csv_reading *);
/* Takes an empty line where it is a row without fields. */
bool csv_take_empty_row(struct csv_reading *);
/* Takes the next field into r->field. */
bool csv_take_field(struct csv_reading *);
/* How the fields of a row look. Both are false if all fields are empty. */
struct csv_look {
  bool data, names;
};
/* Takes a row and looks at it. */
bool csv_look(struct csv_reading *, struct csv_look *);
/* Takes what remains of a row. */
bool csv_skip_row(struct csv_reading *);
/* Skips the rows before the data, and finds the columns that are wanted. */
bool csv_take_header(struct csv_reading *);

/* ---- csv-cells.c ---- */

/* The value of a field. */
struct csv_cell {
  int64_t integer; /* of a text: its length */
  double real;
  const char *text;
};

/* Returns the field just read without spaces around it, unless it stood in quotes. */
struct csv_word csv_name(const struct csv_reading *);
/* Returns whether the field just read begins as a number does, or is a bool or missing: such a
 * field is no name. */
bool csv_is_data(const struct csv_reading *);
/* Reads the value of the field just read, or its replacement if it is missing. Returns false if
 * it has another kind. */
bool csv_read_cell(const struct csv_reading *, enum array_leaf, struct csv_cell *);
/* Returns "field 2 ('weight') is no int: '1x'" for the field just read, which has this index.
 */
const char *csv_wrong_cell(struct csv_reading *, uint32_t index, enum array_leaf);

#endif
