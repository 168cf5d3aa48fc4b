/* value.h - NESL values outside of a run: the flat columns of section 11.1, on the host.
 *
 * A value of type T is a list of columns that T alone determines, in this order: INT, BOOL,
 * FLOAT and CHAR one column; a pair or a datatype those of its parts; [T] a SEGDES (one segment
 * for each sequence at that level: the lengths), then the columns of T; a function those of its
 * captured variables. A whole value is one instance: its scalars have length 1.
 */
#ifndef RAVEL_NESLC_VALUE_H
#define RAVEL_NESLC_VALUE_H

#include "neslc/types/types.h"

enum column_kind { COLUMN_INT, COLUMN_FLOAT, COLUMN_BOOL, COLUMN_SEGDES };

struct column {
  uint8_t kind; /* enum column_kind */
  uint64_t length;
  union {
    const int64_t *ints; /* INT, SEGDES (lengths of segments), chars and streams */
    const double *floats;
    const uint8_t *bools; /* 0 or 1 */
  } as;
  bool equal; /* SEGDES, of a result that is only written: all lengths are the one there */
};

struct nesl_value {
  struct type *type; /* ground */
  uint32_t count;
  struct column *columns;
};

/* The bytes of its elements. */
size_t column_bytes(const struct column *);
/* A column with its elements in the arena. */
struct column column_copy(struct arena *, const struct column *);

/* The most columns (and functions without columns) of a value: this bounds the size, as a tree,
 * of types that have values. */
enum { VALUE_MOST_COLUMNS = 10000 };
/* The message for a type that is too large for values. */
#define VALUE_TOO_MANY_COLUMNS                                                                 \
  "this type has more than 10000 columns: a tuple has those of all of its components"
/* How many columns a value of a type has, undetermined types being int; if there are too many,
 * VALUE_MOST_COLUMNS + 1. */
uint32_t value_column_count(struct type *);
/* The kinds of the columns of a ground type, appended to list: as many as the value has. */
struct column_kinds {
  struct arena *arena;
  ARRAY(uint8_t) list;
};
void value_columns(struct type *ground, struct column_kinds *);

/* Whether the columns, which are of the kinds of the type, are as long as the lengths before
 * them say, as walks over the value assume. Results of a program compiled without checks may
 * not be. If not: the expected and actual lengths of the first wrong column in `wanted` and
 * `found`. */
bool value_fits(const struct nesl_value *, uint64_t *wanted, uint64_t *found);

/* The signature of the type for files of arrays: i f b c, [T, (LR; ? for what is no data.
 * Behind that of records, or sequences of them, the names of the components as settings
 * field=NAME: the field's, and behind it _0, _1 ... where it is a tuple, _NAME where it is a
 * record. */
const char *value_signature(struct arena *, struct type *ground);

/* How floats are printed: with so many significant digits, at most 17, without zeros at the
 * end; 0: as many as are needed to read the same float, which has 32 bits if `narrow`. */
struct float_layout {
  unsigned digits;
  bool narrow;
};
/* Section 10.2 prints 15. */
enum { FLOAT_DIGITS = 15, FLOAT_MOST_DIGITS = 17 };

/* Prints the value as section 10 says, without its type. Without memory: memory_failed. */
struct value_layout {
  uint64_t print_length;  /* longest sequence printed in full */
  uint64_t most_elements; /* printed over all levels, strings in full; 0: no limit */
  struct float_layout floats;
  const struct stop *stop; /* may end the printing within the text; or NULL */
};
void value_show(const struct nesl_value *, const struct value_layout *, FILE *);
/* Whether any FLOAT in it is an infinity or NaN. */
bool value_nonfinite(const struct nesl_value *);
/* A float, in the notation of section 10.2. dst: NUMBER_TEXT_MAX. */
size_t nesl_format_float(char *dst, double, struct float_layout);

#endif
