/* find-source.h - where a source that another source names is looked for: in the directory of
 * that one, in the current directory, and in the folders of NESL_PATH. */
#ifndef RAVEL_FIND_SOURCE_H
#define RAVEL_FIND_SOURCE_H

#include "base/permissions.h"

#include <limits.h>

enum { SEARCH_MOST_FOLDERS = 32 };

struct source_search {
  struct permissions permissions; /* of the one who names it */
  const char *extension;          /* added to names that lack it, and required of programs */
  const char *directory;          /* of the source that names it; NULL: the current one */
  const char *folders;            /* NESL_PATH: names with colons between them; or NULL */
};

struct source_found {
  char path[PATH_MAX]; /* to be opened; relative names stay relative */
  char real[PATH_MAX]; /* without links, so that files can be compared */
  char looked[1024];   /* all names that were tried, with commas, if none was found */
};

/* Looks for a source. Returns false if there is none that may be read; then `problem` is the
 * reason that counts, a refusal where there is one. */
bool source_find(const struct source_search *, const char *name, struct source_found *,
                 struct file_problem *problem);
/* Opens what was found, in any of the folders, as file_open_source does. */
int source_find_open(const struct source_search *, const char *path,
                     struct file_problem *problem);
/* The directory that a path of at most PATH_MAX bytes lies in. */
void source_directory(const char *path, char directory[PATH_MAX]);

#endif
