/* spools.h - columns that do not fit in memory, in temporary files (base/spool.h): those of
 * streams that are imported, and results of calls in chunks.
 *
 * A spool is written, then mapped and borrowed by a vector of the back end, so that neither
 * counts as memory of the context. It ends with the last that reads it: the vector, or an array
 * that was exported, which may outlive the context.
 */
#ifndef RAVEL_LIBRAVEL_SPOOLS_H
#define RAVEL_LIBRAVEL_SPOOLS_H

#include "libravel/private.h"

#include "base/spool.h"
#include "cvl/sharing.h"
#include "libravel/import.h"

/* Values of more columns do not go to spools, each of which is an open file while it is
 * written. */
enum { RAVEL_MOST_SPOOLS = 200 };

struct ravel_spool;

/* ---- spools.c ---- */

/* Begins a spool, which the caller owns. Functions that fail set *problem. */
struct ravel_spool *ravel_spool_new(struct ravel_context *, struct file_problem *problem);
/* Asks for room for so many bytes in all, before the first is written. */
bool ravel_spool_reserve(struct ravel_spool *, uint64_t bytes, struct file_problem *);
bool ravel_spool_append(struct ravel_spool *, const void *data, uint64_t bytes,
                        struct file_problem *);
uint64_t ravel_spool_length(const struct ravel_spool *);
/* Returns all bytes, until the spool ends; NULL after a problem. */
const void *ravel_spool_finish(struct ravel_spool *, struct file_problem *);
/* Passes the ownership to the vector that borrows the spool, which the owner has noted: the
 * notice is called when that vector is released. */
struct cvl_notice ravel_spool_end_of_vector(struct ravel_spool *);
void ravel_spool_note(struct ravel_spool *, const struct cvl_value *vector);
/* Adds a reader. */
struct ravel_spool *ravel_spool_keep(struct ravel_spool *);
/* Ends the ownership when there is no vector; NULL is ignored. */
void ravel_spool_drop(struct ravel_spool *);

/* Returns the spool that a column of a value is on, for a reader, who ends that by
 * ravel_spool_release, on any thread; NULL: it is on none. */
struct ravel_spool *ravel_spool_of(struct ravel_context *, const struct cvl_value *);
void ravel_spool_release(struct ravel_spool *);
/* Lets the system take from memory the bytes of spools that have been read. */
void ravel_spool_give_back(const struct ravel_spool *);
void ravel_spools_give_back(struct ravel_context *);
/* Fails for want of a temporary file. */
enum ravel_code ravel_fail_spool(struct ravel_context *, const char *what,
                                 const struct file_problem *);

/* ---- import-spools.c ---- */

/* The columns of a stream, from the first array on that is too much for memory. */
struct import_spools {
  struct ravel_spool **columns; /* NULL: all is in memory */
  uint64_t *sums;               /* of lengths, which are spooled as offsets */
  void *strip;
};

/* Returns whether the arrays that have been checked are to go to spools. */
bool import_spools_wanted(const struct ravel_context *, const struct import *);
/* Adds the elements that have been filled in since. They are no longer in the import then. */
enum ravel_code import_spools_add(struct ravel_context *, struct import *,
                                  struct import_spools *);
/* Makes a column of the value. */
enum ravel_code import_spools_upload(struct ravel_context *, struct import *,
                                     struct import_spools *, uint32_t column,
                                     struct cvl_value *out);
void import_spools_free(struct ravel_context *, const struct import *, struct import_spools *);

/* ---- result-spools.c ---- */

/* The destination of the results of a call: a sink of its own. */
struct result_spools {
  struct ravel_context *context;
  bool all;     /* whatever their size */
  bool refused; /* one was left to memory, since it is small */
  struct result_spool {
    struct ravel_spool *spool; /* or NULL */
    size_t bytes;              /* of an element */
    bool kept;                 /* a vector has it, and it is read here */
  } * results;                 /* by their numbers; NULL: none yet */
  uint64_t written;            /* bytes since pages were given back */
  struct machine_sink sink;
};

/* Begins the sink of the machine's next calls, and ends it. */
void result_spools_begin(struct ravel_context *, struct result_spools *, bool all);
void result_spools_end(struct result_spools *);

#endif
