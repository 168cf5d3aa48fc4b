/* cache.h - what can be made again, kept in files: in a directory that belongs to this user and
 * that nobody else may write, so that what is found there may be executed.
 *
 * Everything is done relative to the directory as it was opened and checked: who may rename
 * what is above it cannot put another one in its place. A file appears under its name in one
 * step, complete and on the disk (fsync), so any number of processes may share a directory. Its
 * contents are followed by their length and SHA-256: a file that was cut off or damaged, or that
 * is no plain file, or that others may write, is as good as none, and keeping it again mends it.
 */
#ifndef RAVEL_CACHE_H
#define RAVEL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  CACHE_WHY = 4096 + 256, /* bytes for a sentence with a path */
  CACHE_MOST_BYTES = 256 << 20
};

/* Opens a directory. The last `make` directories of the path are made if they are missing, for
 * this user alone. A descriptor to be closed, or one of these with what is wrong, and what to
 * do, in `why`. */
enum { CACHE_NOT_THERE = -1, CACHE_NOT_OPENED = -2, CACHE_NOT_TRUSTED = -3 };
int cache_open(const char *path, unsigned make, char why[CACHE_WHY]);

/* Opens what is kept under a name, and notes that it was used. A descriptor to be closed, at the
 * beginning of so many bytes; -1: there is nothing, or nothing whole. */
int cache_find(int directory, const char *name, uint64_t *bytes);

/* Keeps bytes under a name. 0 or an errno: then what was there is there still. */
int cache_keep(int directory, const char *name, const void *data, size_t bytes);

/* A new directory within it for this user alone, whose name begins with `name`, for work in
 * progress. A descriptor to be closed and its name, or -1 and errno. cache_end_scratch removes
 * it with the files in it, and closes the descriptor. */
int cache_begin_scratch(int directory, const char *name, char *scratch, size_t size);
void cache_end_scratch(int directory, int descriptor, const char *scratch);

/* Of the files whose names begin and end so, removes those not used for longest while all take
 * more than so many bytes; and what processes that died left of these an hour ago. */
void cache_make_room(int directory, const char *prefix, const char *suffix,
                     uint64_t most_bytes);

#ifdef __cplusplus
}
#endif

#endif
