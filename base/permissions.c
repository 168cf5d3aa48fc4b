/* permissions.c - see permissions.h. */
#include "base/permissions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

struct permissions permissions_of_user(struct temporaries *temporaries) {
  return (struct permissions){.files = true, .processes = true, .temporaries = temporaries};
}

/* ---- problems ---- */

bool file_failed(struct file_problem *problem, int error) {
  char buffer[128];
  problem->error = error ? error : EIO;
  snprintf(problem->text, sizeof problem->text, "%s",
           strerror_r(problem->error, buffer, sizeof buffer));
  return false;
}

static bool refuse_files(const struct permissions *p, const char *why,
                         struct file_problem *problem) {
  const char *permitting = p->permitting ? p->permitting : "";
  if (p->refused) atomic_store(p->refused, true);
  problem->error = 0;
  snprintf(problem->text, sizeof problem->text, "%.160s%s%.200s", why,
           permitting[0] ? ": " : "", permitting);
  return false;
}

/* ---- files ---- */

/* open may open a directory, whose read then fails; a source must be an ordinary file. */
static bool is_suitable_file(int fd, bool ordinary, struct file_problem *problem) {
  struct stat about;
  if (fstat(fd, &about) != 0) return file_failed(problem, errno);
  if (S_ISDIR(about.st_mode)) return file_failed(problem, EISDIR);
  if (ordinary && !S_ISREG(about.st_mode)) return file_failed(problem, EINVAL);
  return true;
}

static int open_suitable(const char *path, int flags, bool ordinary,
                         struct file_problem *problem) {
  const int fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
  if (fd < 0) {
    file_failed(problem, errno);
    return -1;
  }
  if (is_suitable_file(fd, ordinary, problem)) return fd;
  close(fd);
  return -1;
}

static const char *files_option(const struct permissions *p) {
  return p->files_option ? p->files_option : "--allow-files";
}

bool files_permitted(const struct permissions *p, struct file_problem *problem) {
  char why[160];
  if (p->files) return true;
  snprintf(why, sizeof why, "files may not be opened without %.80s", files_option(p));
  return refuse_files(p, why, problem);
}

int file_open(const struct permissions *p, const char *path, enum file_use use,
              struct file_problem *problem) {
  if (!files_permitted(p, problem)) return -1;
  switch (use) {
  case FILE_READ: return open_suitable(path, O_RDONLY, false, problem);
  case FILE_WRITE: return open_suitable(path, O_WRONLY | O_CREAT | O_TRUNC, false, problem);
  case FILE_APPEND: break;
  }
  return open_suitable(path, O_WRONLY | O_CREAT | O_APPEND, false, problem);
}

/* ---- sources ---- */

static bool ends_in(const char *path, const char *extension) {
  const size_t length = strlen(path), end = strlen(extension);
  return length > end && strcmp(path + length - end, extension) == 0;
}

/* Whether a path without links lies in one of the directories or below. */
static bool lies_in(const char *real, const char *const *directories, size_t count) {
  char directory[PATH_MAX];
  for (size_t i = 0; i < count; i++) {
    if (!directories[i] || !realpath(directories[i], directory)) continue;
    const size_t length = strcmp(directory, "/") == 0 ? 0 : strlen(directory);
    if (strncmp(real, directory, length) == 0 && real[length] == '/') return true;
  }
  return false;
}

/* Resolves the links of a path. If the file is not there, the links of its directory are
 * resolved. Returns false if there is no such directory. */
static bool real_path(const char *path, char real[PATH_MAX]) {
  char directory[PATH_MAX];
  if (realpath(path, real)) return true;
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const size_t length = (size_t)(name - path);
  if (errno != ENOENT || length >= sizeof directory) return false;
  memcpy(directory, path, length);
  directory[length] = '\0';
  if (!realpath(length ? directory : ".", real)) return false;
  const size_t used = strcmp(real, "/") == 0 ? 0 : strlen(real);
  return snprintf(real + used, PATH_MAX - used, "/%s", name) < (int)(PATH_MAX - used);
}

int file_open_source(const struct permissions *p, const char *path, const char *extension,
                     const char *const *directories, size_t count,
                     struct file_problem *problem) {
  char real[PATH_MAX];
  if (p->files) return file_open(p, path, FILE_READ, problem);
  if (!real_path(path, real) || !ends_in(real, extension) ||
      !lies_in(real, directories, count)) {
    char why[160];
    snprintf(why, sizeof why,
             "without %.40s a program may load only %s files in its own directory and "
             "the current one, and below",
             files_option(p), extension);
    refuse_files(p, why, problem);
    return -1;
  }
  /* The path has no links: one that is there now was put there since. */
  return open_suitable(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, true, problem);
}

/* ---- processes ---- */

bool process_permitted(const struct permissions *p, struct file_problem *problem) {
  if (p->processes) return true;
  if (p->refused) atomic_store(p->refused, true);
  problem->error = 0;
  snprintf(problem->text, sizeof problem->text, "processes may not be started without %.80s",
           p->processes_option ? p->processes_option : "--allow-spawn");
  return false;
}

bool process_spawn(const struct permissions *p, pid_t *child,
                   const posix_spawn_file_actions_t *actions,
                   const posix_spawnattr_t *attributes, char *const *words,
                   struct file_problem *problem) {
  if (!process_permitted(p, problem)) return false;
  const int error = posix_spawnp(child, words[0], actions, attributes, words, environ);
  return error == 0 || file_failed(problem, error);
}

bool process_shell(const struct permissions *p, const char *line, int *status,
                   struct file_problem *problem) {
  if (!process_permitted(p, problem)) return false;
  *status = system(line);
  return *status != -1 || file_failed(problem, errno);
}
