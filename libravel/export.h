/* export.h - the flat columns of a sequence of NESL as an array of Arrow. No machine is needed
 * for it: elements come from a function, once, and go where they stay; or they stay where they
 * are.
 */
#ifndef RAVEL_LIBRAVEL_EXPORT_H
#define RAVEL_LIBRAVEL_EXPORT_H

#include "include/ravel.h"
#include "libravel/arrow.h"

#include "cvl/cvl.h"
#include "cvl/sharing.h"
#include "neslc/value.h"

struct export {
  struct type *type;       /* a sequence, ground */
  const uint64_t *lengths; /* of its columns (neslc/value.h) */
  enum cvl_elem int_elem, float_elem;
  /* Copies elements first .. first + n of a column, in these widths; lengths as int64_t, bools
   * as bytes. */
  enum ravel_code (*copy)(void *with, uint32_t column, uint64_t first, uint64_t n, void *to);
  /* All elements of a column where they are, in these widths, until loan->end is called; false
   * if they have to be copied. Or NULL: always. */
  bool (*lend)(void *with, uint32_t column, struct cvl_loan *loan);
  void *with;
  uint32_t column;   /* the next */
  char problem[200]; /* "", or what is wrong */
};

/* Sets both, whose memory is the process's: each child may be moved and released by itself. On
 * an error both are left released. */
enum ravel_code export_sequence(struct export *, struct ArrowSchema *, struct ArrowArray *);

/* ---- export-batches.c ---- */

/* Who knows where the elements of a stream are: `give_back` is called before each array, since
 * those before it may have been read, and `end` when nothing is read any more, on any thread.
 */
struct export_watch {
  void (*give_back)(void *with);
  void (*end)(void *with);
  void *with;
};
/* An array and its schema, which were exported, as a stream of arrays of so many rows at most,
 * on the same memory: each may be moved, and released on any thread, by itself, as their
 * children may. Takes both over. False without memory, and nothing is taken over. */
bool export_batches(struct ArrowSchema *, struct ArrowArray *, int64_t rows,
                    struct export_watch, struct ArrowArrayStream *);

/* ---- export-memory.c ---- */

/* Makes *array one of n elements without buffers, with released children. False without memory:
 * then it is released. */
bool export_begin_array(struct ArrowArray *, uint64_t n, int64_t buffers, int64_t children);
/* Allocates buffer i, aligned and padded to 64 bytes; NULL without memory. */
void *export_buffer(struct ArrowArray *, unsigned i, uint64_t n, uint64_t bytes_each);
/* Makes what is lent buffer i. */
void export_lent(struct ArrowArray *, unsigned i, const struct cvl_loan *);
/* The same for a schema; format is a constant. Without a name it is field `number`. */
bool export_begin_schema(struct ArrowSchema *, const char *format, const char *name,
                         int64_t number, int64_t children);

#endif
