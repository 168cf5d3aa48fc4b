/* replace.c - see replace.h. */
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the stream ---- */

/* This is the stream's write. It remembers why a write failed, since code that prints does not
 * look. A signal that interrupts a write, as into a pipe that nobody reads, asks the process to
 * end. */
static ssize_t write_asked(void *cookie, const char *bytes, size_t length) {
  enum { MOST = 16 << 20 }; /* bytes that are written unasked */
  struct replacement *r = cookie;
  size_t done = 0;
  while (done < length && r->error == 0) {
    const size_t left = length - done;
    if (stop_asks(r->stop) != STOP_NOT) {
      r->error = ECANCELED;
      break;
    }
    const ssize_t n = write(r->fd, bytes + done, left < MOST ? left : MOST);
    if (n < 0) {
      r->error = errno;
    } else {
      done += (size_t)n;
    }
  }
  if (r->error) errno = r->error;
  return r->error ? 0 : (ssize_t)length;
}

static bool open_stream(struct replacement *r) {
  r->stream = fopencookie(r, "w", (cookie_io_functions_t){.write = write_asked});
  return r->stream != NULL;
}

/* ---- names ---- */

/* Replaces the last component of a path; false if it gets too long. */
static bool rename_last(char path[PATH_MAX], const char *name) {
  const char *slash = strrchr(path, '/');
  const size_t directory = slash ? (size_t)(slash - path) + 1 : 0;
  if (directory + strlen(name) >= PATH_MAX) return false;
  memcpy(path + directory, name, strlen(name) + 1);
  return true;
}

/* Follows links to a name that is no link. Returns 0 or an error. */
static int follow_links(const char *path, char target[PATH_MAX]) {
  enum { MOST_LINKS = 40 };
  char link[PATH_MAX];
  if (realpath(path, target)) return 0;
  if (errno != ENOENT) return errno;
  if (strlen(path) >= PATH_MAX) return ENAMETOOLONG;
  memcpy(target, path, strlen(path) + 1); /* there is no file, but perhaps a link to it */
  for (int links = 0; links < MOST_LINKS; links++) {
    const ssize_t length = readlink(target, link, sizeof link - 1);
    if (length < 0) return errno == EINVAL || errno == ENOENT ? 0 : errno;
    link[length] = '\0';
    if (link[0] == '/') {
      memcpy(target, link, (size_t)length + 1);
    } else if (!rename_last(target, link)) {
      return ENAMETOOLONG;
    }
  }
  return ELOOP;
}

/* ---- files that are written directly ---- */

/* The standard stream that refers to this file, or -1. Opened again it would be overwritten
 * from its beginning; replaced, the stream would refer to the old file. */
static int standard_stream(const struct stat *file) {
  struct stat about;
  for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fstat(fd, &about) == 0 && about.st_dev == file->st_dev && about.st_ino == file->st_ino)
      return fd;
  }
  return -1;
}

static int open_directly(struct replacement *r, const char *path, const struct stat *about) {
  const int standard = standard_stream(about);
  r->direct = true;
  r->fd = standard >= 0 ? fcntl(standard, F_DUPFD_CLOEXEC, 3)
                        : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  return r->fd < 0 ? errno : 0;
}

/* ---- files beside ---- */

static uint64_t random_suffix(void) {
  uint64_t x;
  if (getrandom(&x, sizeof x, GRND_NONBLOCK) == (ssize_t)sizeof x) return x;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid() ^ (uint64_t)(uintptr_t)&x;
}

static void forget_temporary(struct replacement *r) {
  if (r->number >= 0) temporaries_forget(r->temporaries, r->number);
  r->number = -1;
}

/* Makes the new file. The mask of the process applies to `mode`. Returns 0 or an error. */
static int make_beside(struct replacement *r, mode_t mode) {
  enum { ATTEMPTS = 100 };
  memcpy(r->beside, r->target, sizeof r->beside);
  for (int i = 0; i < ATTEMPTS; i++) {
    char name[32];
    snprintf(name, sizeof name, ".ravel-%016" PRIx64, random_suffix());
    if (!rename_last(r->beside, name)) return ENAMETOOLONG;
    if (r->temporaries) {
      r->number = temporaries_add(r->temporaries, r->beside);
      if (r->number < 0) return EMFILE;
    }
    r->fd = open(r->beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (r->fd >= 0) return 0;
    const int error = errno;
    forget_temporary(r);
    if (error != EEXIST) return error;
  }
  return EEXIST;
}

/* Gives the new file owner and permissions of the one it replaces. Returns 0 or an error. */
static int adopt_owner(const struct replacement *r, const struct stat *old) {
  struct stat own;
  mode_t mode = old->st_mode & 0777;
  if (fstat(r->fd, &own) != 0) return errno;
  if ((own.st_uid != old->st_uid || own.st_gid != old->st_gid) &&
      fchown(r->fd, old->st_uid, old->st_gid) != 0 && own.st_gid != old->st_gid &&
      fchown(r->fd, (uid_t)-1, old->st_gid) != 0) {
    mode &= (mode_t)~070; /* the permissions of its old group are not for another one */
  }
  return fchmod(r->fd, mode) == 0 ? 0 : errno;
}

static void remove_beside(struct replacement *r) {
  unlink(r->beside);
  forget_temporary(r);
}

/* Creates the file that will replace `old` (NULL: none). Returns 0 or an error. */
static int open_beside(struct replacement *r, const struct stat *old) {
  if (old && faccessat(AT_FDCWD, r->target, W_OK, AT_EACCESS) != 0) return errno;
  int error = make_beside(r, old ? old->st_mode & 0600 : 0666);
  if (error) return error;
  if (old) error = adopt_owner(r, old);
  if (!error) return 0;
  close(r->fd);
  remove_beside(r);
  return error;
}

/* ---- out of order ---- */

static bool asks_to_stop(const struct replacement *r) {
  return stop_asks(r->stop) != STOP_NOT;
}

int replacement_cut(struct replacement *r, uint64_t bytes) {
  if (r->direct) return EINVAL;
  if (bytes > INT64_MAX) return EFBIG;
  return ftruncate(r->fd, (off_t)bytes) == 0 ? 0 : errno;
}

int replacement_reserve(struct replacement *r, uint64_t bytes) {
  if (r->direct) return EINVAL;
  if (bytes > INT64_MAX) return EFBIG;
  while (fallocate(r->fd, 0, 0, (off_t)bytes) != 0) {
    if (errno == EOPNOTSUPP || errno == ENOSYS) return replacement_cut(r, bytes);
    if (errno != EINTR) return errno;
    if (asks_to_stop(r)) return ECANCELED;
  }
  return 0;
}

int replacement_put(struct replacement *r, uint64_t at, const void *data, uint64_t bytes) {
  enum { MOST = 16 << 20 }; /* bytes that are written unasked */
  const char *from = data;
  if (r->direct) return EINVAL;
  if (at > INT64_MAX || bytes > INT64_MAX - at) return EFBIG;
  while (bytes > 0) {
    if (asks_to_stop(r)) return ECANCELED;
    const ssize_t n = pwrite(r->fd, from, bytes < MOST ? bytes : MOST, (off_t)at);
    if (n < 0 && errno != EINTR) return errno;
    const size_t done = n < 0 ? 0 : (size_t)n;
    from += done;
    at += done;
    bytes -= done;
  }
  return 0;
}

int replacement_map(const struct replacement *r, uint64_t bytes, const void **data) {
  if (r->direct) return EINVAL;
  if (bytes > SIZE_MAX) return ENOMEM;
  void *mapped = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, r->fd, 0);
  if (mapped == MAP_FAILED) return errno;
  *data = mapped;
  return 0;
}

/* ---- the whole ---- */

static void begin_empty(struct replacement *r, const struct permissions *p) {
  r->stream = NULL;
  r->fd = r->number = -1;
  r->error = 0;
  r->direct = r->joined = false;
  r->temporaries = p->temporaries;
  r->stop = p->stop;
}

bool replacement_begin(struct replacement *r, const struct permissions *p, const char *path,
                       struct file_problem *problem) {
  struct stat about;
  if (!files_permitted(p, problem)) return false;
  begin_empty(r, p);
  int error;
  const bool exists = stat(path, &about) == 0;
  if (exists && (!S_ISREG(about.st_mode) || standard_stream(&about) >= 0)) {
    error = open_directly(r, path, &about);
  } else {
    error = follow_links(path, r->target);
    if (!error) error = open_beside(r, exists ? &about : NULL);
  }
  if (error) return file_failed(problem, error);
  if (open_stream(r)) return true;
  file_failed(problem, errno);
  replacement_abandon(r);
  return false;
}

bool replacement_join(struct replacement *r, const struct permissions *p, const char *beside,
                      struct file_problem *problem) {
  if (!files_permitted(p, problem)) return false;
  begin_empty(r, p);
  r->joined = true;
  r->fd = open(beside, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  return r->fd >= 0 || file_failed(problem, errno);
}

/* Whether the data are on the disk; not every file system can say. */
static bool synchronise_data(int fd) {
  return fsync(fd) == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
}

bool replacement_end(struct replacement *r, struct file_problem *problem) {
  const bool flushed = !r->stream || fclose(r->stream) == 0;
  int error = r->error ? r->error : flushed ? 0 : errno;
  if (!error && !r->direct && !synchronise_data(r->fd)) error = errno;
  if (close(r->fd) != 0 && !error && errno != EINTR) error = errno;
  const bool beside = !r->direct && !r->joined;
  if (beside && !error && rename(r->beside, r->target) != 0) error = errno;
  if (beside && error) unlink(r->beside);
  forget_temporary(r);
  return error == 0 || file_failed(problem, error);
}

void replacement_abandon(struct replacement *r) {
  if (r->stream) {
    __fpurge(r->stream);
    fclose(r->stream);
  }
  close(r->fd);
  if (!r->direct && !r->joined) remove_beside(r);
}
