/* directory.h - the directory where a test of files works. It is made for the test, and
 * removed with all its files.
 */
#ifndef RAVEL_VINTERP_TESTS_DIRECTORY_H
#define RAVEL_VINTERP_TESTS_DIRECTORY_H

#include "vinterp/io/streams.h"

/* Makes the directory and changes to it. */
void directory_begin(void);
void directory_end(void);

/* Expects that the operation failed, not for memory, with a message that has this part. */
void expect_stream_failure(struct stream_status, const char *part);

/* Returns the stream that the function opens, which must not fail. */
typedef struct stream_status stream_opener(struct streams *, const char *name, size_t length,
                                           enum stream_mode, int64_t *stream);
int64_t stream_opened(stream_opener *, struct streams *, const char *name, enum stream_mode);

#endif
