/* import.h - arrays of Arrow as the flat columns of a NESL type, in host memory. No machine is
 * needed for it.
 *
 * First the schema becomes a tree of nodes, each with its columns. Then every array is checked
 * and its elements are counted (import_check). Then columns are filled (import_fill): each
 * element is converted once, into the width of the context; a column that the producer has as
 * it is wanted is borrowed.
 *
 * A node is visited with ranges of its elements: of a list the range of its child follows from
 * the offsets, of a dictionary each index is a range of one.
 */
#ifndef RAVEL_LIBRAVEL_IMPORT_H
#define RAVEL_LIBRAVEL_IMPORT_H

#include "libravel/arrow.h"

#include "cvl/cvl.h"
#include "neslc/value.h"

/* Arrays nest this deep, dictionaries included: walks over them are recursive. */
enum { ARROW_MOST_DEPTH = 500 };

enum arrow_kind {
  ARROW_BOOL,
  ARROW_INTEGER,
  ARROW_FLOATING,
  ARROW_TEXT,       /* bytes with offsets */
  ARROW_LIST,       /* one child with offsets */
  ARROW_FIXED_LIST, /* one child, `size` elements for each */
  ARROW_STRUCT
};

/* A format string. */
struct arrow_format {
  uint8_t kind;     /* enum arrow_kind */
  uint8_t bytes;    /* of a number; of an offset */
  bool is_unsigned; /* INTEGER */
  int64_t size;     /* FIXED_LIST */
};

/* False: none that is supported. */
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
};

struct import_column {
  uint8_t kind;    /* enum column_kind */
  uint8_t bytes;   /* of an element: SEGDES int64_t, BOOL 1, others as the context has them */
  uint64_t length; /* of all arrays that have been checked */
  uint64_t filled;
  uint64_t ranges; /* not empty, that are put together */
  const void *data;
  void *owned; /* data, if it is not borrowed from an array: of the heap */
};

struct import {
  struct arena *arena; /* of all but the columns' data; it jumps if memory runs out */
  struct heap *heap;
  enum cvl_elem int_elem, float_elem;
  struct arrow_node *root;
  ARRAY(struct import_column) columns; /* of a sequence of the root's type */
  const char *problem;                 /* set by what returns false */
};

/* Begins with a schema, which must last as long as the import. */
bool import_begin(struct import *, const struct ArrowSchema *);
/* The type of the value: a sequence. */
struct type *import_type(const struct import *);
/* Checks an array and counts its elements. What is not checked, since nothing says it: that
 * buffers are as long as lengths and offsets say, and pointers point to something. */
bool import_check(struct import *, const struct ArrowArray *);
/* Allocates the columns, when all arrays have been checked. */
void import_allocate(struct import *);
/* Appends an array; those that were checked, in that order. The columns are complete after the
 * last. */
bool import_fill(struct import *, const struct ArrowArray *);
/* Frees the data of one column; of all. */
void import_free_column(struct import *, uint32_t column);
void import_free(struct import *);

/* ---- between its files ---- */

/* Sets the problem, which begins with the path of the node ("event.jets[].pt: "); false. */
bool import_fail(struct import *, const struct arrow_node *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The first element of a range of an array with this number, within its buffers. */
static inline uint64_t arrow_position(const struct ArrowArray *a, uint64_t first) {
  return (uint64_t)a->offset + first;
}
static inline bool arrow_bit(const void *bits, uint64_t i) {
  return ((const uint8_t *)bits)[i / 8] >> i % 8 & 1;
}
/* Number i of a buffer of integers; unsigned ones above INT64_MAX are negative. */
int64_t arrow_integer(const struct arrow_format *, const void *buffer, uint64_t i);

/* Converts n elements from position first of a buffer, as `format` says, into column elements
 * of type `to`. n, or the number of the first that does not keep its value. */
uint64_t arrow_convert(const struct arrow_format *format, const void *buffer, uint64_t first,
                       uint64_t n, enum cvl_elem to, void *out);
/* Whether they are the same bytes. */
bool arrow_is_same(const struct arrow_format *, enum cvl_elem to);

#endif
