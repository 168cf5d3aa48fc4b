/* peers.h - the streams of a program that several processes run together (processes.h,
 * `broadcast`). The first process reads, writes, opens and starts; the others get the outcome,
 * so that all continue alike. A file is read where the first process is, and written once.
 *
 * In a single process these are the functions of streams.h of the same names. All processes
 * call them together.
 */
#ifndef RAVEL_PEERS_H
#define RAVEL_PEERS_H

#include "vinterp/io/streams.h"

struct stream_status peers_write(struct streams *, int64_t stream, const void *bytes, size_t n);
struct stream_status peers_flush(struct streams *, int64_t stream);
struct stream_status peers_read_value(struct streams *, int64_t stream, enum type_word,
                                      struct widths, struct stream_value *out);
struct stream_status peers_read_chars(struct streams *, int64_t stream,
                                      const bool delimiters[256], int64_t max,
                                      enum cvl_elem int_elem, struct stream_value *out,
                                      int64_t *stop);
struct stream_status peers_open_arguments(struct streams *, int64_t *stream);
/* Does what stream_open does, or, with `columns`, stream_open_columns. */
struct stream_status peers_open(struct streams *, const char *name, size_t length,
                                enum stream_mode, bool columns, int64_t *stream);
struct stream_status peers_close(struct streams *, int64_t stream);
bool peers_have_columns(struct streams *, int64_t stream);
struct stream_status peers_write_column(struct streams *, int64_t stream, enum type_word,
                                        enum cvl_elem elem, const void *data, uint64_t length);
struct stream_status peers_spawn(struct streams *, const char *command, size_t length,
                                 int64_t in_out_err[3]);

#endif
