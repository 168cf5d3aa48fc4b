/* spill.c - see spill.h. */
#include "base/spill.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { BUFFER = 1 << 16 }; /* bytes: with more a write is not faster */

/* ---- messages ---- */

static const char *advice(const struct spill *s) {
  return s->chosen ? "" : "; TMPDIR=FOLDER chooses another folder for temporary files";
}

static bool spill_fail(const struct spill *s, int error, const char *what,
                       struct file_problem *problem) {
  char buffer[128];
  problem->error = error;
  snprintf(problem->text, sizeof problem->text, "%s in %.120s: %.80s%s", what, s->folder,
           strerror_r(error, buffer, sizeof buffer), advice(s));
  return false;
}

static bool is_memory_folder(const struct spill *s) {
  enum { TMPFS = 0x01021994 };
  struct statfs about;
  return fstatfs(s->fd, &about) == 0 && about.f_type == TMPFS;
}

/* Finds how many bytes the file system has left. Returns false if it does not say. */
static bool bytes_left(const struct spill *s, uint64_t *bytes) {
  struct statvfs about;
  if (fstatvfs(s->fd, &about) != 0 || about.f_blocks == 0) return false;
  *bytes = (uint64_t)about.f_bavail * about.f_frsize;
  return true;
}

/* Sets the problem: the file system has no room for `needed` bytes in all. The spill itself may
 * have taken some of the room. Returns false. */
static bool fail_for_space(const struct spill *s, int error, uint64_t needed,
                           struct file_problem *problem) {
  char wanted[NUMBER_TEXT_MAX], left[NUMBER_TEXT_MAX] = "nothing";
  uint64_t bytes;
  format_bytes(wanted, needed);
  if (bytes_left(s, &bytes)) format_bytes(left, bytes);
  problem->error = error;
  snprintf(problem->text, sizeof problem->text,
           "a temporary file in %.120s needs %s%s, and its file system%s has %s left%s",
           s->folder, needed > s->expected ? "at least " : "", wanted,
           is_memory_folder(s) ? ", which is in memory (tmpfs)," : "", left, advice(s));
  return false;
}

/* Sets the problem: the process's limit on the sizes of files is too small, which no other
 * folder changes. Returns false. */
static bool fail_for_limit(const struct spill *s, uint64_t limit, uint64_t needed,
                           struct file_problem *problem) {
  char wanted[NUMBER_TEXT_MAX], most[NUMBER_TEXT_MAX];
  format_bytes(wanted, needed);
  format_bytes(most, limit);
  problem->error = EFBIG;
  snprintf(
      problem->text, sizeof problem->text,
      "a temporary file in %.120s needs %s%s, and no file may have more than %s (ulimit -f)",
      s->folder, needed > s->expected ? "at least " : "", wanted, most);
  return false;
}

static bool cannot_write(const struct spill *s, int error, uint64_t needed,
                         struct file_problem *problem) {
  struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
  if (needed < s->expected) needed = s->expected;
  if (error == EFBIG) getrlimit(RLIMIT_FSIZE, &limit);
  if (limit.rlim_cur < needed) return fail_for_limit(s, limit.rlim_cur, needed, problem);
  if (error == ENOSPC || error == EDQUOT) return fail_for_space(s, error, needed, problem);
  return spill_fail(s, error, "a temporary file cannot be written", problem);
}

/* ---- the file ---- */

static const char *usual_folder(void) {
  const char *chosen = getenv("TMPDIR");
  if (chosen && chosen[0]) return chosen;
  return access("/var/tmp", W_OK | X_OK) == 0 ? "/var/tmp" : "/tmp";
}

/* Some file systems make no files without a name. There a file gets a name, which is removed at
 * once. */
static int open_named_file(const char *folder) {
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof path, "%s/ravel-XXXXXX", folder);
  if (length < 0 || (size_t)length >= sizeof path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  const int fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0) unlink(path);
  return fd;
}

static int open_spill_file(const char *folder) {
  const int fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  /* Kernels that do not know O_TMPFILE see a directory that is to be written. */
  const bool unknown = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
  return unknown ? open_named_file(folder) : -1;
}

bool spill_begin(struct spill *s, struct heap *heap, const char *folder,
                 struct file_problem *problem) {
  *s = (struct spill){.heap = heap, .chosen = folder, .fd = -1};
  if (!folder) folder = usual_folder();
  snprintf(s->folder, sizeof s->folder, "%s", folder);
  s->fd = open_spill_file(folder);
  if (s->fd < 0) return spill_fail(s, errno, "a temporary file cannot be created", problem);
  s->buffer = heap_alloc(heap, BUFFER);
  if (s->buffer) return true;
  spill_end(s);
  problem->error = ENOMEM;
  snprintf(problem->text, sizeof problem->text, "out of memory");
  return false;
}

void spill_end(struct spill *s) {
  if (s->fd >= 0) close(s->fd);
  if (s->buffer) heap_free(s->heap, s->buffer, BUFFER);
  if (s->data && s->length > 0) munmap((void *)(uintptr_t)s->data, (size_t)s->length);
  *s = (struct spill){.fd = -1};
}

/* ---- writing ---- */

/* Asks the file system for room. It may take all that is left before it finds that this is too
 * little, so it is asked how much there is first. Returns 0 or an error. */
static int reserve_on_disk(const struct spill *s, uint64_t bytes) {
  uint64_t left;
  if (bytes > INT64_MAX) return EFBIG;
  if (bytes_left(s, &left) && bytes > s->length && bytes - s->length > left) return ENOSPC;
  while (bytes > 0 && fallocate(s->fd, 0, 0, (off_t)bytes) != 0) {
    if (errno == EOPNOTSUPP || errno == ENOSYS) return 0;
    if (errno != EINTR) return errno;
    if (stop_asks(s->heap->stop) != STOP_NOT) return ECANCELED;
  }
  return 0;
}

bool spill_reserve(struct spill *s, uint64_t bytes, struct file_problem *problem) {
  s->expected = bytes;
  const int error = reserve_on_disk(s, bytes);
  return error == 0 || cannot_write(s, error, bytes, problem);
}

/* Writes all bytes. Returns 0 or an error. */
static int spill_write(const struct spill *s, const char *from, uint64_t bytes) {
  enum { MOST = 16 << 20 }; /* bytes that are written unasked */
  while (bytes > 0) {
    if (stop_asks(s->heap->stop) != STOP_NOT) return ECANCELED;
    const ssize_t n = write(s->fd, from, bytes < MOST ? (size_t)bytes : MOST);
    if (n < 0 && errno != EINTR) return errno;
    if (n < 0) continue;
    from += n;
    bytes -= (uint64_t)n;
  }
  return 0;
}

static bool spill_flush(struct spill *s, struct file_problem *problem) {
  const int error = spill_write(s, s->buffer, s->used);
  s->used = 0;
  return error == 0 || cannot_write(s, error, s->length, problem);
}

bool spill_append(struct spill *s, const void *bytes, uint64_t length,
                  struct file_problem *problem) {
  s->length += length;
  if (length > BUFFER - s->used && !spill_flush(s, problem)) return false;
  if (length > BUFFER) {
    const int error = spill_write(s, bytes, length);
    return error == 0 || cannot_write(s, error, s->length, problem);
  }
  memcpy(s->buffer + s->used, bytes, (size_t)length);
  s->used += (size_t)length;
  return true;
}

bool spill_cut(struct spill *s, uint64_t length, struct file_problem *problem) {
  if (!spill_flush(s, problem)) return false;
  if (ftruncate(s->fd, (off_t)length) != 0 || lseek(s->fd, (off_t)length, SEEK_SET) < 0)
    return cannot_write(s, errno, s->length, problem);
  s->length = length;
  return true;
}

/* ---- reading ---- */

bool spill_finish(struct spill *s, struct file_problem *problem) {
  if (!spill_flush(s, problem)) return false;
  if (s->length > SIZE_MAX) return cannot_write(s, EFBIG, s->length, problem);
  heap_free(s->heap, s->buffer, BUFFER);
  s->buffer = NULL;
  void *data = (void *)(uintptr_t) "";
  if (s->length > 0) data = mmap(NULL, (size_t)s->length, PROT_READ, MAP_SHARED, s->fd, 0);
  if (data == MAP_FAILED)
    return spill_fail(s, errno, "a temporary file cannot be mapped", problem);
  s->data = data;
  close(s->fd);
  s->fd = -1;
  return true;
}

void spill_give_back(const struct spill *s, uint64_t first, uint64_t bytes) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  if (first >= s->length) return;
  if (bytes > s->length - first) bytes = s->length - first;
  const uint64_t begin = first / page * page;
  char *at = (char *)(uintptr_t)s->data + begin;
  if (bytes > 0) madvise(at, (size_t)(first + bytes - begin), MADV_DONTNEED);
}
