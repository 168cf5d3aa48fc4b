/* spill.h - data that do not fit in memory, in a temporary file: written once, from its
 * beginning to its end, and mapped into memory then.
 *
 * The file has no name, so that nothing is left of it however the process ends, and only this
 * process can open it. It is in $TMPDIR or, if that is not set, in /var/tmp, which is for large
 * files and on a disk: /tmp is in memory on many systems, where a spill would be of no use.
 * (Only where there is no /var/tmp it is in /tmp.)
 *
 * What is mapped counts as resident memory of the process when it has been read, until it is
 * given back; the system may take it away at any time, and reads it from the file again.
 */
#ifndef RAVEL_SPILL_H
#define RAVEL_SPILL_H

#include "base/heap.h"
#include "base/permissions.h"

/* One spill. It has ended if it is zeroed except for fd, which is -1. */
struct spill {
  struct heap *heap; /* of the buffer; its `stop` ends the writing with the error ECANCELED */
  char folder[128];  /* the beginning of its name, for messages */
  bool chosen;       /* the caller has chosen the folder, and no environment */
  int fd;            /* -1 when it is finished */
  char *buffer;      /* bytes that are not written yet */
  size_t used;       /* how many bytes */
  uint64_t length;   /* bytes appended */
  uint64_t expected; /* bytes asked for by spill_reserve */
  const void *data;  /* when it is finished: all bytes, aligned to pages; not NULL */
};

/* Begins an empty spill in a folder, or, if that is NULL, where the environment says. Returns
 * false with a problem that says what to do, as all functions here do; the spill has ended
 * then. */
bool spill_begin(struct spill *, struct heap *, const char *folder, struct file_problem *);
/* Asks for room for so many bytes in all, before they are computed. Returns false if the file
 * system does not have as many left. */
bool spill_reserve(struct spill *, uint64_t bytes, struct file_problem *);
/* Appends bytes. Returns false if the disk is full or writing fails; nothing may be appended
 * then. */
bool spill_append(struct spill *, const void *bytes, uint64_t length, struct file_problem *);
/* Forgets what has been appended behind the first `length` bytes. */
bool spill_cut(struct spill *, uint64_t length, struct file_problem *);
/* Maps `length` bytes at `data`, to be read until spill_end. Nothing may be appended any more.
 */
bool spill_finish(struct spill *, struct file_problem *);
/* The system need not keep these bytes of a finished spill in memory. They may be read again.
 */
void spill_give_back(const struct spill *, uint64_t first, uint64_t bytes);
/* Ends the spill, whatever its state. */
void spill_end(struct spill *);

#endif
