/* directory.h - where a test of files works: a directory made for it, and removed with all
 * files that it left there. */
#ifndef RAVEL_VINTERP_TESTS_DIRECTORY_H
#define RAVEL_VINTERP_TESTS_DIRECTORY_H

#include "vinterp/streams.h"

/* Makes it and goes there. */
void directory_begin(void);
void directory_end(void);

/* The operation failed, not for memory, with a message that has this part. */
void expect_stream_failure(struct stream_status, const char *part);

#endif
