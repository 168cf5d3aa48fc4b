/* compiler.c - see compiler.h. */
#include "cvl-cpu/compile/compiler.h"

#include "cvl-cpu/compile/child.h"
#include "fused-kernels/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

extern char **environ;

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

const struct sha256_state *compiler_identity(struct compiler *c) {
  if (c->identified) return &c->identity;
  c->identified = true;
  sha256_begin(&c->identity);
  c_compiler_identify(&c->command, &c->identity);
  for (int i = 0; i < FLAGS; i++) {
    sha256_add(&c->identity, flags[i], strlen(flags[i]) + 1);
  }
  add_processor(&c->identity);
  return &c->identity;
}

/* ---- a run ---- */

/* The environment of the compiler is that of this process, but that zig keeps what it makes of
 * a source in the directory that it runs in, which is removed, and not for ever. */
static char zig_keeps_here[] = "ZIG_LOCAL_CACHE_DIR=.";

static size_t environment_bytes(void) {
  size_t n = 0;
  while (environ[n]) n++;
  return (n + 2) * sizeof *environ;
}

static void make_environment(char **to) {
  const size_t name = strcspn(zig_keeps_here, "=") + 1;
  for (char **from = environ; *from; from++) {
    if (strncmp(*from, zig_keeps_here, name) != 0) *to++ = *from;
  }
  *to++ = zig_keeps_here;
  *to = NULL;
}

static int start_in(const struct compiler *c, struct heap *heap, pid_t *process,
                    const posix_spawn_file_actions_t *actions, bool background, bool soon) {
  char *arguments[C_COMPILER_WORDS + FLAGS + 6];
  const size_t bytes = environment_bytes();
  size_t n = 0;
  for (; n < c->command.count; n++) arguments[n] = c->command.words[n];
  for (int i = 0; i < FLAGS; i++) arguments[n++] = (char *)flags[i];
  if (soon) arguments[n++] = (char *)"-O1"; /* of several the last one counts */
  arguments[n++] = (char *)"-";
  arguments[n++] = (char *)"-o";
  arguments[n++] = (char *)object;
  arguments[n++] = (char *)"-lm";
  arguments[n] = NULL;
  char **environment = heap_alloc(heap, bytes);
  if (!environment) return ENOMEM;
  make_environment(environment);
  const int error = child_start(process, actions, arguments, environment, background);
  heap_free(heap, environment, bytes);
  return error;
}

int compiler_start(const struct compiler *c, struct heap *heap, pid_t *process, int directory,
                   int source, bool background, bool soon) {
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  /* The directory comes first: its number may be that of a standard stream. */
  error = posix_spawn_file_actions_addfchdir_np(&actions, directory);
  if (!error) error = posix_spawn_file_actions_adddup2(&actions, source, 0);
  for (int fd = 1; fd < 3 && !error; fd++) {
    error = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  if (!error) error = start_in(c, heap, process, &actions, background, soon);
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
