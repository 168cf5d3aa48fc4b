/* export.h - exports the flat columns of a sequence of NESL as an array of Arrow. It needs no
 * machine.
 *
 * A function delivers the elements once, to where they stay; or they are shared and stay where
 * they are.
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
  /* Lends all elements of a column where they are, in these widths, until exported->end is
   * called. Returns false if they have to be copied. NULL: they always have to be. */
  bool (*export_vector)(void *with, uint32_t column, struct cvl_export *exported);
  void *with;
  uint32_t column;   /* the next */
  char problem[200]; /* "", or what is wrong */
};

/* Exports a sequence to both structs, whose memory is the process's: each child may be moved
 * and released by itself. On an error both are left released. */
enum ravel_code export_sequence(struct export *, struct ArrowSchema *, struct ArrowArray *);

/* ---- export-batches.c ---- */

/* Functions of the owner of a stream's elements: `give_back` is called before each array, since
 * the arrays before it may have been read, and `end` when nothing is read any more, on any
 * thread.
 */
struct export_watch {
  void (*give_back)(void *with);
  void (*end)(void *with);
  void *with;
};
/* Makes a stream of arrays of at most so many rows from an exported array and its schema, on
 * the same memory. Each array may be moved, and released on any thread, by itself, as their
 * children may. Takes both structs over. Returns false without memory, and takes nothing over
 * then. */
bool export_batches(struct ArrowSchema *, struct ArrowArray *, int64_t rows,
                    struct export_watch, struct ArrowArrayStream *);

/* ---- export-memory.c ---- */

/* Makes *array one of n elements without buffers, with released children. Returns false without
 * memory: then it is released. */
bool export_begin_array(struct ArrowArray *, uint64_t n, int64_t buffers, int64_t children);
/* Allocates buffer i, aligned and padded to 64 bytes; NULL without memory. */
void *export_buffer(struct ArrowArray *, unsigned i, uint64_t n, uint64_t bytes_each);
/* Makes shared elements buffer i. */
void export_lent(struct ArrowArray *, unsigned i, const struct cvl_export *);
/* Makes *schema one with released children; format is a constant. Without a name it is field
 * `number`. Returns false without memory. */
bool export_begin_schema(struct ArrowSchema *, const char *format, const char *name,
                         int64_t number, int64_t children);

#endif
