/* source.c - reading a program's text from whatever the name stands for. */
#include "commands/source.h"
#include "base/intern.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool complain(struct diag_list *diags, const char *file, const char *what) {
  diag_add(diags, SEVERITY_ERROR, file, (struct source_pos){0}, NULL, "%s", what);
  return false;
}

static bool complain_errno(struct diag_list *diags, const char *file, int error) {
  char buffer[128];
  return complain(diags, file, strerror_r(error, buffer, sizeof buffer));
}

/* ---- a file that is not there ---- */

/* How far a name is from the one wanted: 0 where only what follows the point is lacking,
 * otherwise letters to change, counted as far as most + 1. */
static unsigned name_distance(const char *wanted, const char *name, unsigned most) {
  const size_t length = strlen(wanted);
  if (!strchr(wanted, '.') && strncmp(wanted, name, length) == 0 && name[length] == '.')
    return 0;
  return edit_distance(wanted, name, most);
}

/* Puts the file of the folder whose name is nearest to the one wanted into best, the first in
 * alphabetical order of several; false if none is near. */
static bool nearest_file(const char *folder, const char *wanted, char best[NAME_MAX + 1]) {
  const size_t stem = strcspn(wanted, ".");
  const unsigned most = stem < 3 ? 0 : stem < 6 ? 1 : 2; /* more would be another name */
  unsigned least = most + 1;
  DIR *entries = opendir(folder);
  if (!entries) return false;
  for (struct dirent *entry; (entry = readdir(entries));) {
    const char *name = entry->d_name;
    const unsigned distance = name_distance(wanted, name, most);
    if (entry->d_type == DT_DIR || distance > most || distance > least) continue;
    if (distance == least && strcmp(name, best) > 0) continue;
    memcpy(best, name, strlen(name) + 1);
    least = distance;
  }
  closedir(entries);
  return least <= most;
}

static void complain_missing(struct diag_list *diags, const char *file) {
  char folder[PATH_MAX], best[NAME_MAX + 1];
  const char *slash = strrchr(file, '/');
  const size_t length = slash ? (size_t)(slash - file) + 1 : 0;
  if (length >= sizeof folder) {
    complain_errno(diags, file, ENOENT);
    return;
  }
  memcpy(folder, file, length);
  folder[length] = '\0';
  if (!nearest_file(length ? folder : ".", file + length, best)) {
    complain_errno(diags, file, ENOENT);
    return;
  }
  diag_add(diags, SEVERITY_ERROR, file, (struct source_pos){0}, NULL,
           "No such file or directory; did you mean %s%s?", folder, best);
}

/* ---- reading ---- */

/* The descriptor to read from, or -1 after a diagnostic. */
static int open_source(const char *file, struct diag_list *diags) {
  int fd = strcmp(file, "-") == 0 ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  struct stat about;
  if (fd < 0 && errno == ENOENT) {
    complain_missing(diags, file);
  } else if (fd < 0 || fstat(fd, &about) != 0) {
    complain_errno(diags, file, errno);
  } else if (S_ISDIR(about.st_mode)) {
    complain_errno(diags, file, EISDIR);
  } else {
    return fd;
  }
  if (fd > STDIN_FILENO) close(fd);
  return -1;
}

/* Room for what a file says it has, and a byte more, so that its end is found without growing;
 * for others something to begin with. */
static size_t first_capacity(int fd) {
  enum { SOME = 1 << 16 };
  struct stat about;
  if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size < SOME) return SOME;
  return (size_t)about.st_size + 1;
}

static bool read_all(struct source_text *s, struct heap *heap, int fd, const char *file,
                     struct diag_list *diags) {
  for (;;) {
    if (s->length == s->capacity) {
      size_t wanted = s->capacity ? s->capacity * 2 : first_capacity(fd);
      char *text = heap_grow(heap, s->text, s->capacity, wanted);
      if (!text) return complain(diags, file, "the program does not fit into memory");
      s->text = text;
      s->capacity = wanted;
    }
    ssize_t n = read(fd, s->text + s->length, s->capacity - s->length);
    if (n < 0) return complain_errno(diags, file, errno);
    if (n == 0) return true;
    s->length += (size_t)n;
  }
}

bool source_read(struct source_text *s, struct heap *heap, const char *file,
                 struct diag_list *diags) {
  *s = (struct source_text){0};
  int fd = open_source(file, diags);
  if (fd < 0) return false;
  bool ok = read_all(s, heap, fd, file, diags);
  if (fd != STDIN_FILENO) close(fd);
  return ok;
}

void source_free(struct source_text *s, struct heap *heap) {
  heap_free(heap, s->text, s->capacity);
  *s = (struct source_text){0};
}

bool source_is_binary(const struct source_text *s) {
  for (size_t i = 0; i < s->length; i++) {
    unsigned char c = (unsigned char)s->text[i];
    bool white = c == ' ' || (c >= '\t' && c <= '\r');
    if ((c < ' ' && !white) || c == 0x7f) return true;
  }
  return false;
}
