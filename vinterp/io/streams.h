/* streams.h - the streams of a running program, as numbers: files, pipes, processes.
 *
 * This is the host side of the I/O instructions (vcode.md, section 12): bytes, files and child
 * processes, and reading values from text. It knows neither machine nor back end; io.c
 * connects it with the instructions.
 *
 * Streams 0, 1 and 2 are standard input, output and error; -1 is the null stream, which is
 * never open. New streams get the lowest number not in use. A failure of the outside world is
 * a status with a message, never a signal: a broken pipe is an ordinary failed write.
 * Everything opened here is closed on exec, so a child gets its three streams and nothing
 * else.
 */
#ifndef RAVEL_STREAMS_H
#define RAVEL_STREAMS_H

#include "base/heap.h"
#include "base/permissions.h"
#include "vcode/vcode.h"
#include <signal.h>
#include <stdio.h>

enum { STREAM_NULL = -1, STREAM_IN = 0, STREAM_OUT = 1, STREAM_ERR = 2 };

enum stream_mode {
  STREAM_READ = 1,
  STREAM_WRITE = 2,
  STREAM_APPEND = 3,
  STREAM_READ_NPY = 11,  /* an array, column by column (arrays/arrays.h); its signature and */
  STREAM_WRITE_NPY = 12, /* a colon come before the name of the file */
  STREAM_READ_NPZ = 13,
  STREAM_WRITE_NPZ = 14,
  STREAM_READ_CSV = 21,
  STREAM_WRITE_CSV = 22,
  STREAM_REPLACE = 32,  /* as STREAM_WRITE, but all or nothing: base/replace.h */
  STREAM_ARGUMENTS = 41 /* reads the arguments of the program, with a NUL behind each */
};

struct streams;

/* How an operation ended. `message` is empty if ok, never empty otherwise, and lives until the
 * next call on the same streams. If memory ran out, `memory` has the bytes that were
 * requested: that is an error of the run, not a status of the program. */
struct stream_status {
  bool ok;
  uint64_t memory;
  const char *message;
};

/* A value that was read: elements as a back end takes them from the host. */
struct stream_value {
  enum cvl_elem elem; /* type of data; SEGDES: CVL_I64, the segment lengths */
  uint64_t length;
  void *data;
  size_t bytes; /* capacity of data, for stream_value_free */
};

/* Makes the three standard streams. Their FILEs stay the caller's and are never closed. The
 * permissions, which are copied, are those of the program. Returns NULL if memory runs out. */
struct streams *streams_new(struct heap *, FILE *in, FILE *out, FILE *err,
                            const struct permissions *);
/* Sets what STREAM_ARGUMENTS reads; at first there are no arguments. NULL with a count: they
 * are not known. */
void streams_set_arguments(struct streams *, const char *const *, size_t count);
/* Sets who may end the reading of long values, which then fails. */
void streams_set_stop(struct streams *, const struct stop *);
/* The processes that run the program together (peers.h). */
struct stream_peers {
  void *with;
  bool first; /* this is the first process */
  /* Copies what the first process has at `data` to all. NULL: there are no others. */
  void (*broadcast)(void *with, void *data, uint64_t bytes);
  /* Returns whether `mine` is true in any process. */
  bool (*any)(void *with, bool mine);
};
void streams_set_peers(struct streams *, const struct stream_peers *);
/* Closes what the program opened and reaps its children. A child that does not end soon after
 * its pipes are closed is left alone. NULL is ignored. */
void streams_free(struct streams *);

/* Returns false once the program closed its standard output; final results are then lost. */
bool streams_results_wanted(const struct streams *);

/* Writes n bytes; they may stay in a buffer until stream_flush. */
struct stream_status stream_write(struct streams *, int64_t stream, const void *bytes,
                                  size_t n);
/* Makes everything written to the stream visible outside. */
struct stream_status stream_flush(struct streams *, int64_t stream);

/* Reads one value of a type in the format of section 13.2; INT and FLOAT in these widths, CHAR
 * as INT. Reads nothing beyond the closing delimiter. Always sets *out; after a failure it is
 * an empty value of the right type. Free it with stream_value_free. */
struct stream_status stream_read_value(struct streams *, int64_t stream, enum type_word,
                                       struct widths, struct stream_value *out);

/* FREAD_CHAR: reads bytes, as INT of int_elem, up to a byte b with delimiters[b], and at most
 * max of them if max >= 0. *stop is the delimiter, -1 at the end of the file, -2 at the limit.
 */
struct stream_status stream_read_chars(struct streams *, int64_t stream,
                                       const bool delimiters[256], int64_t max,
                                       enum cvl_elem int_elem, struct stream_value *out,
                                       int64_t *stop);

void stream_value_free(struct streams *, struct stream_value *);

/* Opens a stream of the arguments, which needs no permission. */
struct stream_status stream_open_arguments(struct streams *, int64_t *stream);
/* Opens the file with this name (bytes, not NUL-terminated). *stream is -1 on failure. A file
 * that is replaced, such as arrays, keeps its content until stream_close, and afterwards if
 * not all could be written. */
struct stream_status stream_open(struct streams *, const char *name, size_t length,
                                 enum stream_mode, int64_t *stream);
/* Does the same in one of the modes for arrays. */
struct stream_status stream_open_columns(struct streams *, const char *name, size_t length,
                                         enum stream_mode, int64_t *stream);
struct stream_status stream_close(struct streams *, int64_t stream);

/* Returns whether the stream was opened in one of the modes for arrays. */
bool stream_has_columns(struct streams *, int64_t stream);
/* Writes the next column of such a stream, `length` elements of elem: FLOAT, or INT, BOOL and
 * SEGDES, which become ints. */
struct stream_status stream_write_column(struct streams *, int64_t stream, enum type_word,
                                         enum cvl_elem elem, const void *data, uint64_t length);

/* SPAWN: runs the words of command with the three streams, each -1 for a new pipe. On success
 * in_out_err has the program's ends, or the given numbers; on failure three times -1. */
struct stream_status stream_spawn(struct streams *, const char *command, size_t length,
                                  int64_t in_out_err[3]);

/* Keeps SIGPIPE from this thread while it writes. A library must not change how the process
 * treats signals, and the write reports the error. */
struct pipe_guard {
  sigset_t before;
  bool deferred; /* another SIGPIPE was pending already */
};
void pipe_guard_begin(struct pipe_guard *);
void pipe_guard_end(const struct pipe_guard *);

#endif
