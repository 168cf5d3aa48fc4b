/* spills.h - columns that do not fit in memory, in temporary files (base/spill.h): those of
 * streams that are imported, and results of calls in chunks.
 *
 * A spill is written, then mapped and borrowed by a vector of the back end, so that neither
 * counts as memory of the context. It ends with the last that reads it: the vector, or an array
 * that was exported, which may outlive the context.
 */
#ifndef RAVEL_LIBRAVEL_SPILLS_H
#define RAVEL_LIBRAVEL_SPILLS_H

#include "libravel/private.h"

#include "base/spill.h"
#include "cvl/sharing.h"
#include "libravel/import.h"

/* Values of more columns do not go to spills, each of which is an open file while it is
 * written. */
enum { RAVEL_MOST_SPILLS = 200 };

struct ravel_spill;

/* ---- spills.c ---- */

/* Begins a spill, which the caller owns. Functions that fail set *problem. */
struct ravel_spill *ravel_spill_new(struct ravel_context *, struct file_problem *problem);
/* Asks for room for so many bytes in all, before the first is written. */
bool ravel_spill_reserve(struct ravel_spill *, uint64_t bytes, struct file_problem *);
bool ravel_spill_append(struct ravel_spill *, const void *data, uint64_t bytes,
                        struct file_problem *);
uint64_t ravel_spill_length(const struct ravel_spill *);
/* Returns all bytes, until the spill ends; NULL after a problem. */
const void *ravel_spill_finish(struct ravel_spill *, struct file_problem *);
/* Passes the ownership to the vector that borrows the spill, which the owner has noted: the
 * notice is called when that vector is released. */
struct cvl_notice ravel_spill_end_of_vector(struct ravel_spill *);
void ravel_spill_note(struct ravel_spill *, const struct cvl_value *vector);
/* Adds a reader. */
struct ravel_spill *ravel_spill_keep(struct ravel_spill *);
/* Ends the ownership when there is no vector; NULL is ignored. */
void ravel_spill_drop(struct ravel_spill *);

/* Returns the spill that a column of a value is on, for a reader, who ends that by
 * ravel_spill_release, on any thread; NULL: it is on none. */
struct ravel_spill *ravel_spill_of(struct ravel_context *, const struct cvl_value *);
void ravel_spill_release(struct ravel_spill *);
/* Lets the system take from memory the bytes of spills that have been read. */
void ravel_spill_give_back(const struct ravel_spill *);
void ravel_spills_give_back(struct ravel_context *);
/* Fails for want of a temporary file. */
enum ravel_code ravel_fail_spill(struct ravel_context *, const char *what,
                                 const struct file_problem *);

/* ---- import-spills.c ---- */

/* The columns of a stream, from the first array on that is too much for memory. */
struct import_spills {
  struct ravel_spill **columns; /* NULL: all is in memory */
  uint64_t *sums;               /* of lengths, which are spilled as offsets */
  void *strip;
};

/* Returns whether the arrays that have been checked are to go to spills. */
bool import_spills_wanted(const struct ravel_context *, const struct import *);
/* Adds the elements that have been filled in since. They are no longer in the import then. */
enum ravel_code import_spills_add(struct ravel_context *, struct import *,
                                  struct import_spills *);
/* Makes a column of the value. */
enum ravel_code import_spills_upload(struct ravel_context *, struct import *,
                                     struct import_spills *, uint32_t column,
                                     struct cvl_value *out);
void import_spills_free(struct ravel_context *, const struct import *, struct import_spills *);

/* ---- result-spills.c ---- */

/* The destination of the results of a call: a consumer of its own. */
struct result_spills {
  struct ravel_context *context;
  bool all;     /* whatever their size */
  bool refused; /* one was left to memory, since it is small */
  struct result_spill {
    struct ravel_spill *spill; /* or NULL */
    size_t bytes;              /* of an element */
    bool kept;                 /* a vector has it, and it is read here */
  } * results;                 /* by their numbers; NULL: none yet */
  uint64_t written;            /* bytes since pages were given back */
  struct machine_consumer consumer;
};

/* Begins the consumer of the machine's next calls, and ends it. */
void result_spills_begin(struct ravel_context *, struct result_spills *, bool all);
void result_spills_end(struct result_spills *);

#endif
