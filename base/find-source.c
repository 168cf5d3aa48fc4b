/* find-source.c - see find-source.h. */
#include "base/find-source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The directories in which a source may be, in order; the folders' names end within `text`. */
struct search_list {
  char text[PATH_MAX];
  const char *directories[SEARCH_MOST_FOLDERS + 2];
  size_t count;
};

static void list_folders(struct search_list *p, const char *folders) {
  snprintf(p->text, sizeof p->text, "%s", folders);
  char *rest = p->text;
  for (char *folder; (folder = strsep(&rest, ":"));) {
    if (*folder && p->count < SEARCH_MOST_FOLDERS + 2) p->directories[p->count++] = folder;
  }
}

static void list_directories(struct search_list *p, const struct source_search *s) {
  p->count = 0;
  if (s->directory && strcmp(s->directory, ".") != 0) p->directories[p->count++] = s->directory;
  p->directories[p->count++] = ".";
  if (s->folders) list_folders(p, s->folders);
}

int source_find_open(const struct source_search *s, const char *path,
                     struct file_problem *problem) {
  struct search_list p;
  list_directories(&p, s);
  return file_open_source(&s->permissions, path, s->extension, p.directories, p.count, problem);
}

/* Writes directory/name.extension to path. Returns false if that is too long. */
static bool join_source_path(const struct source_search *s, const char *directory,
                             const char *name, char path[PATH_MAX]) {
  const size_t length = strlen(name), end = strlen(s->extension);
  const bool ends = length > end && strcmp(name + length - end, s->extension) == 0;
  const bool bare = name[0] == '/' || strcmp(directory, ".") == 0;
  const bool slash = !bare && directory[strlen(directory) - 1] != '/';
  return snprintf(path, PATH_MAX, "%s%s%s%s", bare ? "" : directory, slash ? "/" : "", name,
                  ends ? "" : s->extension) < PATH_MAX;
}

static void add_looked(struct source_found *found, const char *path) {
  const size_t used = strlen(found->looked);
  snprintf(found->looked + used, sizeof found->looked - used, "%s%s", used ? ", " : "", path);
}

/* Whether there is a file of this name that may be read, or one that cannot be and is the
 * reason for what follows. */
static bool is_there(const struct source_search *s, const char *path,
                     struct file_problem *problem) {
  const int fd = source_find_open(s, path, problem);
  if (fd >= 0) close(fd);
  return fd >= 0 ||
         (problem->error != 0 && problem->error != ENOENT && problem->error != ENOTDIR);
}

bool source_find(const struct source_search *s, const char *name, struct source_found *found,
                 struct file_problem *problem) {
  struct search_list p;
  struct file_problem refused = {.error = ENOENT};
  list_directories(&p, s);
  found->looked[0] = '\0';
  for (size_t i = 0; i < p.count && (i == 0 || name[0] != '/'); i++) {
    if (!join_source_path(s, p.directories[i], name, found->path)) {
      file_failed(problem, ENAMETOOLONG);
      continue;
    }
    if (is_there(s, found->path, problem)) {
      if (!realpath(found->path, found->real)) memcpy(found->real, found->path, PATH_MAX);
      return true;
    }
    /* A folder that is not there is no reason to refuse what would be in it. */
    if (problem->error == 0 && access(p.directories[i], F_OK) == 0) refused = *problem;
    add_looked(found, found->path);
  }
  if (refused.error == 0 || problem->error == 0) *problem = refused;
  return false;
}

void source_directory(const char *path, char directory[PATH_MAX]) {
  const char *slash = strrchr(path, '/');
  const size_t length = !slash ? 1 : slash == path ? 1 : (size_t)(slash - path);
  snprintf(directory, PATH_MAX, "%.*s", (int)length, slash ? path : ".");
}
