/* output.c - see output.h. */
#include "commands/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_complain(struct diag_list *diags, const char *file, int error) {
  char buffer[128];
  diag_add(diags, SEVERITY_ERROR, file, (struct source_pos){0}, NULL, "%s",
           strerror_r(error ? error : EIO, buffer, sizeof buffer));
  return false;
}

static bool write_all(int fd, const char *text, size_t length) {
  while (length > 0) {
    ssize_t n = write(fd, text, length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text += n;
    length -= (size_t)n;
  }
  return true;
}

/* Writes to a descriptor and closes it; 0 or the error. */
static int fill(int fd, const char *text, size_t length) {
  int error = write_all(fd, text, length) ? 0 : errno;
  if (close(fd) != 0 && error == 0) error = errno;
  return error;
}

/* Through a new file beside it; 0 or the error. */
static int replace(const char *file, const char *text, size_t length) {
  char path[PATH_MAX], beside[PATH_MAX];
  const char *target = realpath(file, path) ? path : file; /* a link stays a link */
  int size = snprintf(beside, sizeof beside, "%s.XXXXXX", target);
  if (size < 0 || (size_t)size >= sizeof beside) return ENAMETOOLONG;
  int fd = mkostemp(beside, O_CLOEXEC);
  if (fd < 0) return errno;
  struct stat about;
  mode_t mask = umask(0);
  umask(mask);
  mode_t mode = stat(target, &about) == 0 ? about.st_mode & 0777 : 0666 & ~mask;
  int error = fchmod(fd, mode) == 0 ? 0 : errno;
  int filled = fill(fd, text, length);
  if (error == 0) error = filled;
  if (error == 0 && rename(beside, target) != 0) error = errno;
  if (error != 0) unlink(beside);
  return error;
}

bool output_write(const char *file, const char *text, size_t length, struct diag_list *diags) {
  struct stat about;
  bool standard = strcmp(file, "-") == 0;
  bool exists = !standard && stat(file, &about) == 0;
  sigset_t wait, before;
  sigemptyset(&wait);
  sigaddset(&wait, SIGINT);
  sigaddset(&wait, SIGTERM);
  sigaddset(&wait, SIGHUP);
  int error = 0;
  if (standard) {
    error = fflush(stdout) != 0 || !write_all(STDOUT_FILENO, text, length) ? errno : 0;
  } else if (exists && !S_ISREG(about.st_mode)) {
    int fd = open(file, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    error = fd < 0 ? errno : fill(fd, text, length);
  } else {
    sigprocmask(SIG_BLOCK, &wait, &before);
    error = replace(file, text, length);
    sigprocmask(SIG_SETMASK, &before, NULL);
  }
  return error == 0 || output_complain(diags, standard ? "standard output" : file, error);
}

bool output_begin(struct output *o, const char *file, struct diag_list *diags) {
  *o = (struct output){0};
  o->stream = open_memstream(&o->text, &o->length);
  return o->stream || output_complain(diags, file, errno);
}

bool output_end(struct output *o, const char *file, struct diag_list *diags) {
  bool whole = !ferror(o->stream);
  whole = fclose(o->stream) == 0 && whole;
  bool fine = whole ? output_write(file, o->text, o->length, diags)
                    : output_complain(diags, file, ENOMEM);
  free(o->text);
  return fine;
}

/* Makes a folder unless it is there. */
static bool make_folder(const char *path, struct diag_list *diags) {
  return mkdir(path, 0700) == 0 || errno == EEXIST || output_complain(diags, path, errno);
}

/* The name of the folder; 0, or an errno, with ENOENT for no place. */
static int name_cache_folder(char *path, size_t size) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length;
  if (cache && cache[0] == '/') { /* the standard: others are to be ignored */
    length = snprintf(path, size, "%s/ravel", cache);
  } else if (home && home[0]) {
    length = snprintf(path, size, "%s/.cache/ravel", home);
  } else {
    return ENOENT;
  }
  return length < 0 || (size_t)length >= size ? ENAMETOOLONG : 0;
}

bool output_cache_folder(char *path, size_t size, struct diag_list *diags) {
  const int error = name_cache_folder(path, size);
  if (error == ENOENT) {
    diag_add(diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL,
             "--native needs a place for what it compiles: neither XDG_CACHE_HOME nor HOME is "
             "set");
    return false;
  }
  if (error != 0) return output_complain(diags, "the folder of --native", error);
  char *own = strrchr(path, '/');
  *own = '\0';
  if (!make_folder(path, diags)) return false;
  *own = '/';
  return make_folder(path, diags);
}

bool output_native_wish(const char *text, enum native_wish *wish) {
  *wish = NATIVE_BESIDE;
  if (!text) return true;
  *wish = strcmp(text, "off") == 0 ? NATIVE_OFF : NATIVE_BEFORE;
  return *wish == NATIVE_OFF || strcmp(text, "wait") == 0;
}

bool output_native(enum native_wish wish, bool measured, char *text, size_t size,
                   const char **option, struct diag_list *diags) {
  static const char *const before[] = {
      [NATIVE_WHEN_IT_PAYS] = "auto:", [NATIVE_BESIDE] = "", [NATIVE_BEFORE] = "wait:"};
  *option = measured ? "wait:" : NULL;
  if (wish == NATIVE_OFF) return true;
  const bool waits = measured && wish != NATIVE_BEFORE;
  const int prefix = snprintf(text, size, "%s%s", before[wish], waits ? "wait:" : "");
  char *folder = text + prefix;
  if (wish != NATIVE_WHEN_IT_PAYS) {
    if (!output_cache_folder(folder, size - (size_t)prefix, diags)) return false;
  } else if (name_cache_folder(folder, size - (size_t)prefix) != 0) {
    return true;
  }
  *option = text;
  return true;
}
