/* streams-private.h - data and functions that the files of this folder share about streams. */
#ifndef RAVEL_STREAMS_PRIVATE_H
#define RAVEL_STREAMS_PRIVATE_H

#include "base/replace.h"
#include "vinterp/io/streams.h"
#include <sys/types.h>

/* An entry of the table; free if file is NULL. */
struct stream {
  FILE *file;
  bool readable, writable;
  bool owned;                     /* opened by the program, so it is closed here */
  struct stream_columns *columns; /* for a file of arrays, which is no text; else NULL */
  struct replacement *replaces;   /* for a file that is replaced; else NULL */
  struct pipe_end *pipe;          /* for a pipe to or from a child; else NULL */
};

struct streams {
  struct heap *heap;
  struct stream *table; /* indexed by stream number */
  size_t count, capacity;
  struct pipe_end *pipes; /* all open pipes */
  pid_t *children;        /* those not yet reaped */
  size_t child_count, child_capacity;
  struct permissions permissions; /* what the program may do */
  const struct stop *stop;        /* or NULL */
  bool results_wanted;
  struct stream_peers peers;
  const char *const *arguments;
  size_t argument_count;
  bool arguments_unknown;
  char message[FILE_PROBLEM_MAX];
};

struct stream_status stream_ok(void);
/* Makes a failed status with a formatted message. */
struct stream_status stream_fail(struct streams *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Makes a failed status with the system's text for an errno. */
struct stream_status stream_fail_errno(struct streams *, int error);
struct stream_status stream_no_memory(uint64_t bytes);
struct stream_status stream_fail_file(struct streams *, const struct file_problem *);

/* Returns the open stream with this number, or NULL. */
struct stream *stream_find(struct streams *, int64_t stream);
/* Returns the open stream with this number if it can be read; else NULL, with the reason in
 * *status. */
struct stream *stream_find_readable(struct streams *, int64_t stream, struct stream_status *);
/* Gives the lowest unused number to a FILE, which the table then owns. Returns 0, or the bytes
 * of memory that are missing; then the file stays the caller's. */
uint64_t stream_add(struct streams *, FILE *, bool readable, bool writable, int64_t *stream);
/* Closes a stream and ignores the outcome. */
void stream_drop(struct streams *, int64_t stream);
/* Forgets the children that have ended. */
void streams_reap(struct streams *);

/* Grows *items to hold one more than count. Returns 0, or the bytes of memory that are
 * missing; then nothing changed. */
uint64_t streams_reserve(struct heap *, void **items, size_t count, size_t *capacity,
                         size_t size);

/* pipes.c: opens a FILE on the program's end of a pipe. The FILE closes the descriptor; if it
 * cannot be opened, that stays the caller's. A wait for one pipe takes in what comes from the
 * others. */
struct stream_status pipe_open(struct streams *, int fd, bool readable, FILE **,
                               struct pipe_end **);
int pipe_descriptor(const struct pipe_end *);

/* columns.c: reads the next column of an array as a value, whose elem is set. */
struct stream_status stream_read_column(struct streams *, struct stream_columns *,
                                        enum type_word, struct stream_value *out);
/* Writes the file of an array, which is complete now. Does nothing for an array that is read.
 */
struct stream_status stream_columns_finish(struct streams *, struct stream_columns *, FILE *);
void stream_columns_free(struct streams *, struct stream_columns *); /* NULL is ignored */

#endif
