/* import.h - arrays of Arrow as the flat columns of a NESL type, in host memory. No machine is
 * needed for it.
 *
 * First the schema becomes a tree of nodes, each with its columns. Then every array is checked
 * and its elements are counted (import_check). Then it is noted of which parts of the arrays'
 * buffers each column consists (import_fill), so that its elements can be made anywhere, in any
 * order (import_make): each is converted once, into the width of the context. A column that the
 * producer has as it is wanted can be used where it is (import_borrowable).
 *
 * A node is visited with ranges of its elements: of a list the range of its child follows from
 * the offsets, of a dictionary each index is a range of one. What is below a dictionary is made
 * at once, since there would be as many parts as indices.
 */
#ifndef RAVEL_LIBRAVEL_IMPORT_H
#define RAVEL_LIBRAVEL_IMPORT_H

#include "libravel/arrow.h"

#include "cvl/cvl.h"
#include "cvl/sharing.h"
#include "neslc/value.h"

/* Arrays nest this deep, dictionaries included: walks over them are recursive. */
enum { ARROW_MOST_DEPTH = 500 };

enum arrow_kind {
  ARROW_BOOL,
  ARROW_INTEGER,
  ARROW_FLOATING,
  ARROW_TEXT,       /* bytes with offsets */
  ARROW_VIEW,       /* texts by length, buffer and offset; short ones within that */
  ARROW_LIST,       /* one child with offsets */
  ARROW_FIXED_LIST, /* one child, `size` elements for each */
  ARROW_STRUCT,
  ARROW_NULL /* a column of nulls: without elements it is of floats, as Python's empty lists are
              */
};

/* A format string, parsed. */
struct arrow_format {
  uint8_t kind;     /* enum arrow_kind */
  uint8_t bytes;    /* of a number; of an offset */
  bool is_unsigned; /* INTEGER */
  int64_t size;     /* FIXED_LIST */
};

/* Parses a format. Returns false if it is none that is supported. */
bool arrow_format_parse(const char *text, struct arrow_format *);

/* A level of the schema. */
struct arrow_node {
  struct arrow_format format;
  const struct ArrowSchema *schema;
  const struct arrow_node *parent; /* NULL: of the array itself */
  int64_t number;                  /* among the children of the parent */
  uint32_t depth;
  uint32_t column; /* its first; it has one entry for each of the node's elements */
  int64_t child_count;
  struct arrow_node **children;
  struct arrow_node *dictionary; /* the node's elements are indices of its; or NULL */
  bool decoded; /* it is a dictionary, or below one, or of views: parts would be too many */
};

/* The source that a part is made from. */
enum import_source {
  IMPORT_ELEMENTS, /* of a buffer of elements */
  IMPORT_LENGTHS,  /* of offsets */
  IMPORT_EQUAL     /* the same length for all: the node's */
};

/* Elements of a column that are made alike, from one array. */
struct import_part {
  uint64_t at, count; /* in the column */
  uint64_t before;    /* of lengths: the sum of those of all parts before */
  const struct arrow_node *node;
  const struct arrow_format *format; /* of the buffer */
  const void *buffer;
  uint64_t from;  /* of the first, in the buffer */
  uint32_t array; /* number of the array */
  uint8_t source; /* enum import_source */
};

struct import_column {
  uint8_t kind;    /* enum column_kind */
  uint8_t bytes;   /* of an element: SEGDES int64_t, BOOL 1, others as the context has them */
  uint64_t length; /* of all arrays that have been checked */
  uint64_t filled; /* of all arrays that have been filled in */
  uint64_t gone;   /* of those that import_forget has forgotten: all before those here */
  uint64_t sum;    /* of those, if they are lengths */
  ARRAY(struct import_part) parts; /* in order; or, if there are none: */
  struct import_memory *made;      /* all elements that are here; of the heap */
};

struct import {
  struct arena *arena; /* of all but the columns' data; it jumps if memory runs out */
  struct heap *heap;
  enum cvl_elem int_elem, float_elem;
  struct arrow_node *root;
  ARRAY(struct import_column) columns; /* of a sequence of the root's type */
  uint32_t filled;                     /* arrays */
  const char *problem;                 /* set by what returns false */
};

/* Begins with a schema, which must last as long as the import. */
bool import_begin(struct import *, const struct ArrowSchema *);
/* Returns the type of the value: a sequence. */
struct type *import_type(const struct import *);
/* Checks an array and counts its elements. It cannot check that buffers are as long as lengths
 * and offsets say, and that pointers point to something. */
bool import_check(struct import *, const struct ArrowArray *);
/* Begins to fill columns, when all arrays have been checked. */
void import_allocate(struct import *);
/* Adds an array; those that were checked, in that order. The columns are complete after the
 * last, except for the faults that import_make finds. Arrays must last until all columns are
 * made. */
bool import_fill(struct import *, const struct ArrowArray *);
/* Frees the elements that have been made for all columns. */
void import_free(struct import *);
/* Makes elements of a column, which are here: after all arrays that have been checked were
 * filled in. Returns false with the problem if one loses its value. */
bool import_read(struct import *, uint32_t column, uint64_t first, uint64_t n, void *to);
/* Forgets the arrays that were filled in: nothing more is read of them. */
void import_forget(struct import *);

/* ---- complete columns ---- */

enum cvl_elem import_elem(const struct import *, uint32_t column);
/* Returns the elements of a column that an array has in the wanted form, of any alignment, and
 * the number of that array; else NULL. */
const void *import_borrowable(const struct import *, uint32_t column, uint32_t *array);
/* Returns the elements of a column in memory of the heap, where they are made unless they are
 * there already; lengths as int64_t. NULL with the problem if one loses its value;
 * memory_failed. */
const void *import_gather(struct import *, uint32_t column);
/* Passes that memory to the caller, who calls the notice when it is not needed any more. */
struct cvl_notice import_give(struct import *, uint32_t column);

/* A job of import_make, a cvl_filler of sharing.h: any threads make parts of a column at once. */
struct import_job {
  const struct import_column *column;
  enum cvl_elem elem;    /* what to make */
  _Atomic uint64_t lost; /* the first element that is not of this type; before: UINT64_MAX */
};
void import_make(void *job, uint64_t first, uint64_t n, void *to);
/* Makes the offsets of a column of lengths, from 0 on: one more than there are lengths. */
void import_make_offsets(void *column, uint64_t first, uint64_t n, void *to);
/* Sets the problem of an element that is lost, and returns false. */
bool import_fail_lost(struct import *, uint32_t column, uint64_t position);

/* ---- between its files ---- */

/* Elements in memory of a heap, which outlives them. */
struct import_memory {
  struct heap *heap;
  size_t bytes; /* of all this */
  _Alignas(64) char data[];
};

/* Returns the memory for all elements of a column, which is allocated when it is first asked
 * for. */
void *import_room(struct import *, struct import_column *);
/* Sets the problem that element i of a buffer, at a position of its column, loses its value. */
bool import_fail_value(struct import *, const struct arrow_node *, const void *buffer,
                       uint64_t i, uint64_t position);

/* Sets the problem, which begins with the path of the node ("event.jets[].pt: "), and returns
 * false. */
bool import_fail(struct import *, const struct arrow_node *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns the first element of a range of an array with this number, within its buffers. */
static inline uint64_t arrow_position(const struct ArrowArray *a, uint64_t first) {
  return (uint64_t)a->offset + first;
}
static inline bool arrow_bit(const void *bits, uint64_t i) {
  return ((const uint8_t *)bits)[i / 8] >> i % 8 & 1;
}
/* Returns number i of a buffer of integers; unsigned ones above INT64_MAX are negative. */
int64_t arrow_integer(const struct arrow_format *, const void *buffer, uint64_t i);

/* A text of an array of views: within the view if it is short, else in buffer 2 + `buffer`. */
enum { ARROW_VIEW_SHORT = 12, ARROW_VIEW_BYTES = 16 };
struct arrow_view {
  int32_t length, buffer, offset;
  char bytes[ARROW_VIEW_SHORT]; /* of a short one */
};
struct arrow_view arrow_view(const struct ArrowArray *, uint64_t position);
/* Returns the bytes of a buffer of texts of an array of views. */
int64_t arrow_view_bytes(const struct ArrowArray *, int32_t buffer);

/* Converts n elements from position first of a buffer, as `format` says, into column elements
 * of type `to`. Returns n, or the number of the first that does not keep its value. */
uint64_t arrow_convert(const struct arrow_format *format, const void *buffer, uint64_t first,
                       uint64_t n, enum cvl_elem to, void *out);
/* Computes lengths first .. first + n from offsets. */
void arrow_lengths(const struct arrow_format *format, const void *offsets, uint64_t first,
                   uint64_t n, int64_t *out);
/* Returns whether n + 1 offsets from position first on do not decrease. */
bool arrow_offsets_increase(const struct arrow_format *format, const void *offsets,
                            uint64_t first, uint64_t n);
/* Returns whether both have the same bytes. */
bool arrow_is_same(const struct arrow_format *, enum cvl_elem to);

#endif
