/* cache.c - see cache.h. */
#include "base/cache.h"

#include "base/sha256.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Follows the contents of a file, in the machine's byte order. It is last because the dynamic
 * loader requires the object at the beginning and ignores what follows. */
struct trailer {
  char magic[8];
  uint64_t bytes;
  uint8_t digest[SHA256_BYTES];
};
static const char magic[8] = {'R', 'A', 'V', 'E', 'L', 'K', '0', '3'};

static const char unfinished[] = ".tmp";
enum {
  ABANDONED_SECONDS = 3600, /* no process works on a file for that long */
  NUMBER_SECONDS = 30 * 24 * 3600,
  ATTEMPTS = 1000
};

/* ---- the directory ---- */

/* The number of names of a path after this one. */
static unsigned names_behind(const char *path) {
  unsigned names = 0;
  for (; *path; path++) names += path[0] == '/' && path[1] != '/' && path[1] != '\0';
  return names;
}

/* Makes the last directories of a path. 0 or an errno. */
static int make_directories(const char *path, unsigned most) {
  char prefix[PATH_MAX];
  const size_t length = strlen(path);
  if (length >= sizeof prefix) return ENAMETOOLONG;
  memcpy(prefix, path, length + 1);
  for (size_t end = 1; end <= length; end++) {
    if ((end < length && path[end] != '/') || names_behind(path + end) >= most) continue;
    prefix[end] = '\0';
    if (mkdir(prefix, 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES) {
      return errno;
    }
    prefix[end] = path[end]; /* it may exist although it cannot be created */
  }
  return 0;
}

static int refuse_directory(char why[CACHE_WHY], const char *path, int error) {
  char text[128];
  snprintf(why, CACHE_WHY, "%s: %s", path, strerror_r(error, text, sizeof text));
  return error == ENOENT ? CACHE_NOT_THERE : CACHE_NOT_OPENED;
}

/* Whether only this user can write to a directory. */
static bool is_own_directory(const struct stat *s, const char *path, char why[CACHE_WHY]) {
  if (s->st_uid != geteuid()) {
    snprintf(why, CACHE_WHY,
             "%s belongs to user %lu and not to user %lu, who runs this: what is in it is not "
             "trusted; set XDG_CACHE_HOME to a directory of your own",
             path, (unsigned long)s->st_uid, (unsigned long)geteuid());
    return false;
  }
  if (s->st_mode & (S_IWGRP | S_IWOTH)) {
    snprintf(why, CACHE_WHY,
             "others may write into %s: what is in it is not trusted; chmod go-w %s", path,
             path);
    return false;
  }
  return true;
}

int cache_open(const char *path, unsigned make, char why[CACHE_WHY]) {
  struct stat s;
  const int error = make_directories(path, make);
  if (error) return refuse_directory(why, path, error);
  const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return refuse_directory(why, path, errno);
  int outcome = directory;
  if (fstat(directory, &s) != 0) {
    outcome = refuse_directory(why, path, errno);
  } else if (!is_own_directory(&s, path, why)) {
    outcome = CACHE_NOT_TRUSTED;
  }
  if (outcome < 0) close(directory);
  return outcome;
}

/* ---- reading ---- */

static bool cache_read(int fd, void *to, size_t bytes) {
  char *at = to;
  while (bytes > 0) {
    const ssize_t n = read(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

/* A plain file of this user or of root that no other user may write. */
static bool is_trusted(int fd, struct stat *s) {
  return fstat(fd, s) == 0 && S_ISREG(s->st_mode) &&
         (s->st_uid == geteuid() || s->st_uid == 0) && !(s->st_mode & (S_IWGRP | S_IWOTH));
}

/* The digest begins with the name: contents mean nothing under another one. */
static void begin_digest(struct sha256_state *state, const char *name) {
  sha256_begin(state);
  sha256_add(state, name, strlen(name) + 1);
}

/* Whether the contents are valid; then their length. */
static bool is_valid_file(int fd, const char *name, uint64_t size, uint64_t *bytes) {
  struct sha256_state state;
  struct trailer t;
  uint8_t digest[SHA256_BYTES];
  char block[16384];
  if (size < sizeof t) return false;
  begin_digest(&state, name);
  for (uint64_t left = size - sizeof t; left > 0;) {
    const size_t n = left < sizeof block ? (size_t)left : sizeof block;
    if (!cache_read(fd, block, n)) return false;
    sha256_add(&state, block, n);
    left -= n;
  }
  sha256_end(&state, digest);
  *bytes = size - sizeof t;
  return cache_read(fd, &t, sizeof t) && memcmp(t.magic, magic, sizeof magic) == 0 &&
         t.bytes == *bytes && memcmp(t.digest, digest, sizeof digest) == 0;
}

int cache_find(int directory, const char *name, uint64_t *bytes) {
  struct stat s;
  const int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return -1;
  if (is_trusted(fd, &s) && is_valid_file(fd, name, (uint64_t)s.st_size, bytes) &&
      lseek(fd, 0, SEEK_SET) == 0) {
    (void)futimens(fd, NULL); /* used just now: see cache_make_room */
    return fd;
  }
  close(fd);
  return -1;
}

/* ---- writing ---- */

static bool cache_write(int fd, const void *from, size_t bytes) {
  const char *at = from;
  while (bytes > 0) {
    const ssize_t n = write(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

/* Whether the data are on the disk; not every file system can say. */
static bool synchronise_contents(int fd) {
  return fsync(fd) == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
}

static bool write_trailer(int fd, const char *name, const void *data, size_t bytes) {
  struct trailer t = {.bytes = bytes};
  struct sha256_state state;
  memcpy(t.magic, magic, sizeof magic);
  begin_digest(&state, name);
  sha256_add(&state, data, bytes);
  sha256_end(&state, t.digest);
  return cache_write(fd, &t, sizeof t);
}

/* A temporary name; creating it shows whether it is new. False: it is too long. */
static bool other_name(const char *name, int attempt, char *other, size_t size) {
  const int length =
      snprintf(other, size, "%s.%ld.%d%s", name, (long)getpid(), attempt, unfinished);
  return length > 0 && (size_t)length < size;
}

static int keep_file(int directory, const char *name, const void *data, size_t bytes,
                     bool is_text) {
  char other[NAME_MAX + 1];
  int fd = -1, error = EEXIST;
  for (int i = 0; i < ATTEMPTS && fd < 0 && error == EEXIST; i++) {
    if (!other_name(name, i, other, sizeof other)) return ENAMETOOLONG;
    fd = openat(directory, other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    error = fd < 0 ? errno : 0;
  }
  if (fd < 0) return error;
  if (!cache_write(fd, data, bytes) || !(is_text || write_trailer(fd, name, data, bytes)) ||
      !synchronise_contents(fd)) {
    error = errno;
  }
  if (close(fd) != 0 && !error) error = errno;
  if (!error && renameat(directory, other, directory, name) != 0) error = errno;
  if (error) unlinkat(directory, other, 0);
  return error;
}

int cache_keep(int directory, const char *name, const void *data, size_t bytes) {
  return keep_file(directory, name, data, bytes, false);
}

void cache_remove(int directory, const char *name) {
  unlinkat(directory, name, 0);
}

int cache_keep_text(int directory, const char *name, const char *text, size_t length) {
  return keep_file(directory, name, text, length, true);
}

/* ---- more names for a file ---- */

int cache_link(int directory, const char *name, const char *file) {
  char other[NAME_MAX + 1];
  int error = EEXIST;
  for (int i = 0; i < ATTEMPTS && error == EEXIST; i++) {
    if (!other_name(name, i, other, sizeof other)) return ENAMETOOLONG;
    error = symlinkat(file, directory, other) == 0 ? 0 : errno;
  }
  if (error) return error;
  if (renameat(directory, other, directory, name) == 0) return 0;
  error = errno;
  unlinkat(directory, other, 0);
  return error;
}

/* Links that lead out of the directory were not made here. */
bool cache_linked(int directory, const char *name, char *file, size_t size) {
  const ssize_t length = readlinkat(directory, name, file, size);
  if (length <= 0 || (size_t)length >= size) return false;
  file[length] = '\0';
  return !strchr(file, '/');
}

/* ---- numbers ---- */

static bool number_of(const char *text, double *number) {
  char *end;
  *number = strtod(text, &end);
  return end != text && *end == '\0';
}

int cache_keep_number(int directory, const char *name, double number) {
  char text[32];
  snprintf(text, sizeof text, "%.6f", number);
  return cache_link(directory, name, text);
}

double cache_number(int directory, const char *name) {
  char text[32];
  double number = 0;
  if (!cache_linked(directory, name, text, sizeof text) || !number_of(text, &number)) return 0;
  return number > 0 ? number : 0;
}

/* ---- work in progress ---- */

int cache_begin_scratch(int directory, const char *name, char *scratch, size_t size) {
  for (int i = 0; i < ATTEMPTS; i++) {
    if (!other_name(name, i, scratch, size)) {
      errno = ENAMETOOLONG;
      return -1;
    }
    if (mkdirat(directory, scratch, 0700) == 0) {
      return openat(directory, scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    }
    if (errno != EEXIST) return -1;
  }
  return -1;
}

static void remove_files(int descriptor);

static void remove_entry(int directory, const char *name) {
  if (unlinkat(directory, name, 0) == 0) return;
  const int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  remove_files(fd);
  unlinkat(directory, name, AT_REMOVEDIR);
}

/* Removes what is in a directory; the listing closes the descriptor. */
static void remove_files(int descriptor) {
  DIR *listing = fdopendir(descriptor);
  if (!listing) {
    close(descriptor);
    return;
  }
  for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    const char *name = entry->d_name;
    if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) remove_entry(dirfd(listing), name);
  }
  closedir(listing);
}

void cache_end_scratch(int directory, int descriptor, const char *scratch) {
  remove_files(descriptor);
  unlinkat(directory, scratch, AT_REMOVEDIR);
}

/* ---- the limit ---- */

static bool ends_with(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static void remove_abandoned(int directory, const char *name, const struct stat *s) {
  if (time(NULL) - s->st_mtim.tv_sec <= ABANDONED_SECONDS) return;
  if (!S_ISDIR(s->st_mode)) {
    unlinkat(directory, name, 0);
    return;
  }
  const int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd >= 0) cache_end_scratch(directory, fd, name);
}

/* Removes a link to nothing, unless it is a number that was kept lately. */
static void remove_if_dangling(int directory, const char *name, const struct stat *link) {
  struct stat s;
  char to[32];
  double number;
  const bool is_recent = time(NULL) - link->st_mtim.tv_sec <= NUMBER_SECONDS;
  if (fstatat(directory, name, &s, 0) == 0 || errno != ENOENT) return;
  if (is_recent && cache_linked(directory, name, to, sizeof to) && number_of(to, &number))
    return;
  unlinkat(directory, name, 0);
}

static bool is_earlier(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Sums what all files take. *oldest becomes the name of the file that was not used for longest,
 * or "". */
static uint64_t sum_files(DIR *listing, const char *prefix, const char *suffix,
                          char oldest[NAME_MAX + 1]) {
  struct timespec used = {0};
  uint64_t all = 0;
  oldest[0] = '\0';
  rewinddir(listing);
  for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    const char *name = entry->d_name;
    struct stat s;
    if (strncmp(name, prefix, strlen(prefix)) != 0) continue;
    if (fstatat(dirfd(listing), name, &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (ends_with(name, unfinished)) {
      remove_abandoned(dirfd(listing), name, &s);
    } else if (S_ISLNK(s.st_mode)) {
      remove_if_dangling(dirfd(listing), name, &s);
    } else if (ends_with(name, suffix) && S_ISREG(s.st_mode)) {
      all += (uint64_t)s.st_size;
      if (oldest[0] && !is_earlier(&s.st_mtim, &used)) continue;
      used = s.st_mtim;
      snprintf(oldest, NAME_MAX + 1, "%s", name);
    }
  }
  return all;
}

void cache_make_room(int directory, const char *prefix, const char *suffix,
                     uint64_t most_bytes) {
  const int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *listing = own < 0 ? NULL : fdopendir(own);
  if (!listing) {
    if (own >= 0) close(own);
    return;
  }
  char oldest[NAME_MAX + 1];
  while (sum_files(listing, prefix, suffix, oldest) > most_bytes && oldest[0]) {
    if (unlinkat(directory, oldest, 0) != 0 && errno != ENOENT) break;
  }
  closedir(listing);
}

/* ---- where users have theirs ---- */

int cache_folder(char *path, size_t size) {
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
