/* compiler.c - see compiler.h. */
#include "cvl-cpu/compile/compiler.h"

#include "cvl-cpu/compile/child.h"
#include "fused-kernels/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const flags[] = {FUSED_C_FLAGS, "-march=native",
#ifdef __x86_64__
                                    "-mprefer-vector-width=512",
#endif
                                    "-x", "c"};
enum { FLAGS = sizeof flags / sizeof *flags };

static const char object[] = "object";

/* ---- which one ---- */

/* Adds the processor's name and abilities, as Linux lists them, to the identity. */
static void add_processor(struct sha256_state *identity) {
  FILE *f = fopen("/proc/cpuinfo", "re");
  if (!f) return;
  char line[8192];
  while (fgets(line, sizeof line, f) && line[0] != '\n') { /* the first processor's lines */
    if (strncmp(line, "model name", 10) == 0 || strncmp(line, "flags", 5) == 0 ||
        strncmp(line, "Features", 8) == 0) {
      sha256_add(identity, line, strlen(line));
    }
  }
  fclose(f);
}

/* Finds the first `cc` on the path. Only absolute directories count, since the compiler runs in
 * another directory. */
static bool find_path(char *to, struct stat *found) {
  const char *path = getenv("PATH");
  while (path && *path) {
    const size_t n = strcspn(path, ":");
    const int length = snprintf(to, PATH_MAX, "%.*s/cc", (int)n, path);
    if (path[0] == '/' && length < PATH_MAX && access(to, X_OK) == 0 && stat(to, found) == 0)
      return true;
    path += n + (path[n] == ':');
  }
  return false;
}

bool compiler_find(struct compiler *c) {
  struct stat s;
  if (c->looked_for) return c->found;
  c->looked_for = true;
  c->found = find_path(c->path, &s);
  if (!c->found) return false;
  const uint64_t facts[] = {(uint64_t)s.st_dev, (uint64_t)s.st_ino, (uint64_t)s.st_size,
                            (uint64_t)s.st_mtim.tv_sec, (uint64_t)s.st_mtim.tv_nsec};
  sha256_begin(&c->identity);
  sha256_add(&c->identity, facts, sizeof facts);
  for (int i = 0; i < FLAGS; i++) {
    sha256_add(&c->identity, flags[i], strlen(flags[i]) + 1);
  }
  add_processor(&c->identity);
  return true;
}

/* ---- a run ---- */

int compiler_start(const struct compiler *c, pid_t *process, int directory, int source,
                   bool background) {
  char *arguments[FLAGS + 6];
  int n = 0;
  arguments[n++] = (char *)c->path;
  for (int i = 0; i < FLAGS; i++) arguments[n++] = (char *)flags[i];
  arguments[n++] = (char *)"-";
  arguments[n++] = (char *)"-o";
  arguments[n++] = (char *)object;
  arguments[n++] = (char *)"-lm";
  arguments[n] = NULL;
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  /* The directory comes first: its number may be that of a standard stream. */
  error = posix_spawn_file_actions_addfchdir_np(&actions, directory);
  if (!error) error = posix_spawn_file_actions_adddup2(&actions, source, 0);
  for (int fd = 1; fd < 3 && !error; fd++) {
    error = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  if (!error) error = child_start(process, c->path, &actions, arguments, background);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

char *compiler_object(int directory, struct heap *heap, size_t *bytes) {
  struct stat s;
  const int fd = openat(directory, object, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return NULL;
  char *data = NULL;
  size_t at = 0;
  if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0) {
    *bytes = (size_t)s.st_size;
    data = heap_alloc(heap, *bytes);
  }
  while (data && at < *bytes) {
    const ssize_t n = read(fd, data + at, *bytes - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    at += (size_t)n;
  }
  close(fd);
  if (!data || at == *bytes) return data;
  heap_free(heap, data, *bytes);
  return NULL;
}
