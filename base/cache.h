/* cache.h - a cache of files that are executed, in a directory that belongs to this user and
 * that no other user may write.
 *
 * All operations are relative to the directory as it was opened and checked: a user who may
 * rename its parents cannot substitute another. A file appears under its name in one step,
 * complete and on the disk (fsync), so any number of processes may share a directory. Its
 * contents are followed by their length and the SHA-256 of its name and of them: a file that is
 * truncated or damaged, that has another's name, no plain file, or writable by others counts as
 * missing, and is replaced when it is kept again.
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

/* Opens a directory. The last `make` directories of the path are created if missing, for this
 * user only. Returns a descriptor, which the caller closes, or one of these codes, with the
 * problem and its remedy in `why`. */
enum { CACHE_NOT_THERE = -1, CACHE_NOT_OPENED = -2, CACHE_NOT_TRUSTED = -3 };
int cache_open(const char *path, unsigned make, char why[CACHE_WHY]);

/* Opens the file kept under a name, and updates its time of use. Returns a descriptor, which
 * the caller closes, and the length of its contents; -1 if there is none, or none that is
 * valid. */
int cache_find(int directory, const char *name, uint64_t *bytes);

/* Keeps bytes under a name. Returns 0 or an errno; after an error an older file remains. */
int cache_keep(int directory, const char *name, const void *data, size_t bytes);
/* Removes what is kept under a name, if there is anything. */
void cache_remove(int directory, const char *name);
/* cache_keep for a text that people read and that is not executed: without length and SHA-256.
 */
int cache_keep_text(int directory, const char *name, const char *text, size_t length);

/* Makes a name one more for the file kept under another, in one step. Returns 0 or an errno. */
int cache_link(int directory, const char *name, const char *file);
/* Finds the file that a name is one more for, which need not be there. Returns false if the
 * name was not made by cache_link. */
bool cache_linked(int directory, const char *name, char *file, size_t size);

/* Keeps a number, at least 0, under a name of its own, in one step: a link to nothing. It may
 * get lost, since nothing waits for the disk. Returns 0 or an errno. cache_number returns what
 * was kept; 0: nothing. */
int cache_keep_number(int directory, const char *name, double number);
double cache_number(int directory, const char *name);

/* Makes a directory within this one for this user alone, whose name begins with `name`, for
 * work in progress. Returns a descriptor and its name, or -1 and errno. cache_end_scratch
 * removes it with all that is in it, and closes the descriptor. */
int cache_begin_scratch(int directory, const char *name, char *scratch, size_t size);
void cache_end_scratch(int directory, int descriptor, const char *scratch);

/* Limits the files with this prefix and suffix: it removes the least recently used ones until
 * all together take at most `most_bytes`. It also removes temporary files of these names that
 * are an hour old, links to files that are not there, and numbers that are a month old. */
void cache_make_room(int directory, const char *prefix, const char *suffix,
                     uint64_t most_bytes);

/* Finds the name of the user's folder, $XDG_CACHE_HOME/ravel or ~/.cache/ravel. Returns 0 or an
 * errno: ENOENT if the environment names none. */
int cache_folder(char *path, size_t size);

#ifdef __cplusplus
}
#endif

#endif
