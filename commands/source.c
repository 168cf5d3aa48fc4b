/* source.c - reading a program's text from whatever the name stands for. */
#include "commands/source.h"
#include "base/intern.h"
#include "base/number.h"
#include "commands/process.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool complain_of_source(struct diag_list *diags, const char *file, const char *what) {
  diag_add(diags, SEVERITY_ERROR, file, (struct source_pos){0}, NULL, "%s", what);
  return false;
}

static bool complain_errno(struct diag_list *diags, const char *file, int error) {
  char buffer[128];
  return complain_of_source(diags, file, strerror_r(error, buffer, sizeof buffer));
}

/* ---- a file that is not there ---- */

/* The distance of a name from the one wanted: 0 if only the extension is missing, else the
 * number of edits, at most most + 1. */
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

/* Whether it has what no file is called, but what was to be evaluated has. */
static bool is_expression(const char *file) {
  return strpbrk(file, "+*()[]{}=<>\";") != NULL;
}

static void complain_of_missing_source(struct diag_list *diags, const char *file) {
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
    if (is_expression(file)) {
      complain_of_source(diags, file,
                         "No such file or directory; nesl -e EXPR evaluates an expression");
    } else {
      complain_errno(diags, file, ENOENT);
    }
    return;
  }
  diag_add(diags, SEVERITY_ERROR, file, (struct source_pos){0}, NULL,
           "No such file or directory; did you mean %s%s?", folder, best);
}

/* ---- reading ---- */

/* Whether a descriptor was opened; else complains. */
static bool is_opened(int fd, const char *file, const struct file_problem *problem,
                      struct diag_list *diags) {
  if (fd >= 0) return true;
  if (problem->error == ENOENT) {
    complain_of_missing_source(diags, file);
  } else {
    complain_of_source(diags, file, problem->text);
  }
  return false;
}

/* The size of an ordinary file and one byte more, so that its end is found without growing; for
 * others an initial capacity. */
static size_t first_capacity(int fd) {
  enum { SOME = 1 << 16 };
  struct stat about;
  if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size < SOME) return SOME;
  return (size_t)about.st_size + 1;
}

enum { TEXT = -1 };

/* A file that is being read. */
struct reading {
  struct source_text *text;
  struct heap *heap;
  int fd;
  int contents; /* enum array_format, or TEXT */
  const char *file;
  struct diag_list *diags;
};

static bool complain_of_size(const struct reading *r, uint64_t limit) {
  char bytes[NUMBER_TEXT_MAX];
  format_bytes(bytes, limit);
  diag_add(r->diags, SEVERITY_ERROR, r->file, (struct source_pos){0}, NULL,
           "out of memory: it is too large for the limit of %s%s", bytes,
           limit == SOURCE_MAX ? " for a text" : "; see --memory");
  return false;
}

/* Doubles the capacity; the old and the new block exist at the same time for a moment. */
static bool grow_reading(const struct reading *r) {
  struct source_text *s = r->text;
  const size_t wanted = s->capacity ? s->capacity * 2 : first_capacity(r->fd);
  char *text = NULL;
  if (r->contents == TEXT && s->length >= SOURCE_MAX) return complain_of_size(r, SOURCE_MAX);
  text = heap_grow(r->heap, s->text, s->capacity, wanted);
  if (!text) return complain_of_size(r, r->heap->limit);
  s->text = text;
  s->capacity = wanted;
  return true;
}

/* Whether the bytes read so far, the last n just now, may begin a file of the kind wanted. */
static bool reading_goes_on(const struct reading *r, size_t n) {
  const struct source_text *s = r->text;
  if (r->contents == TEXT) return !memchr(s->text + s->length - n, '\0', n);
  return array_may_begin((enum array_format)r->contents, s->text, s->length);
}

static bool read_to_end(const struct reading *r) {
  enum { MOST = 16 << 20 }; /* bytes between two tests whether to stop */
  struct source_text *s = r->text;
  for (;;) {
    if (s->length == s->capacity && !grow_reading(r)) return false;
    const size_t room = s->capacity - s->length;
    if (stop_asks(r->heap->stop) != STOP_NOT)
      return complain_of_source(r->diags, r->file, "not read");
    const ssize_t n = read(r->fd, s->text + s->length, room < MOST ? room : MOST);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return complain_errno(r->diags, r->file, errno);
    if (n == 0) return true;
    s->length += (size_t)n;
    if (!reading_goes_on(r, (size_t)n)) return true;
  }
}

/* Reads all of a file that was opened, if it was, and closes it. */
static bool read_opened(struct source_text *s, struct heap *heap, int fd, int contents,
                        const char *file, const struct file_problem *problem,
                        struct diag_list *diags) {
  const struct reading reading = {s, heap, fd, contents, file, diags};
  *s = (struct source_text){0};
  if (!is_opened(fd, file, problem, diags)) return false;
  const bool fine = read_to_end(&reading);
  if (fd != STDIN_FILENO) close(fd);
  return fine;
}

/* Standard input, which may be a directory as a file may. */
static int standard_input(struct file_problem *problem) {
  struct stat about;
  int error = fstat(STDIN_FILENO, &about) == 0 ? 0 : errno;
  if (error == 0 && S_ISDIR(about.st_mode)) error = EISDIR;
  if (error == 0) return STDIN_FILENO;
  file_failed(problem, error);
  return -1;
}

static bool read_standard_input(struct source_text *s, struct heap *heap,
                                struct diag_list *diags) {
  struct file_problem problem = {0};
  const int fd = standard_input(&problem);
  return read_opened(s, heap, fd, TEXT, "-", &problem, diags);
}

/* Shares the text that rank 0 has read with all ranks. A rank that has no memory for it fails
 * alone, which ends the job. */
static bool share_text(struct source_text *s, struct heap *heap, bool fine,
                       struct diag_list *diags) {
  struct {
    uint64_t fine, length;
  } read = {fine, s->length};
  char why[256];
  if (!process_shares()(&read, sizeof read, why, sizeof why))
    return complain_of_source(diags, "-", why);
  if (!read.fine) return fine || complain_of_source(diags, "-", "rank 0 cannot read it");
  if (process_follows()) {
    s->text = heap_alloc(heap, read.length + 1);
    if (!s->text) return complain_of_source(diags, "-", "out of memory; see --memory");
    s->capacity = read.length + 1;
    s->length = read.length;
  }
  return process_shares()(s->text, read.length, why, sizeof why);
}

bool source_read(struct source_text *s, struct heap *heap, const char *file,
                 struct diag_list *diags) {
  struct file_problem problem;
  const struct permissions user = permissions_of_user(NULL);
  if (strcmp(file, "-") != 0) {
    const int fd = file_open(&user, file, FILE_READ, &problem);
    return read_opened(s, heap, fd, TEXT, file, &problem, diags);
  }
  *s = (struct source_text){0};
  const bool shares = process_shares() != NULL;
  const bool fine = (shares && process_follows()) || read_standard_input(s, heap, diags);
  return shares ? share_text(s, heap, fine, diags) : fine;
}

bool source_read_array(struct source_text *s, struct heap *heap,
                       const struct permissions *permissions, const char *file,
                       enum array_format format, struct diag_list *diags) {
  struct file_problem problem;
  const int fd = file_open(permissions, file, FILE_READ, &problem);
  return read_opened(s, heap, fd, (int)format, file, &problem, diags);
}

/* Whether a file was mapped, which keeps its descriptor. */
static bool map_opened(struct source_text *s, int fd, const char *file) {
  enum { LEAST = 1 << 20 };
  struct stat about;
  if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size < LEAST) return false;
  const size_t length = (size_t)about.st_size;
  void *bytes = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) return false;
  *s = (struct source_text){.text = bytes, .length = length, .mapped = true, .fd = fd};
  process_mapped(bytes, length, file);
  return true;
}

bool source_map_array(struct source_text *s, struct heap *heap,
                      const struct permissions *permissions, const char *file,
                      enum array_format format, struct diag_list *diags) {
  struct file_problem problem;
  const int fd = file_open(permissions, file, FILE_READ, &problem);
  const bool mapped = fd >= 0 && map_opened(s, fd, file);
  return mapped || read_opened(s, heap, fd, (int)format, file, &problem, diags);
}

bool source_load(struct source_text *s, struct heap *heap, const struct source_search *search,
                 const char *path, struct diag_list *diags) {
  struct file_problem problem;
  const int fd = source_find_open(search, path, &problem);
  return read_opened(s, heap, fd, TEXT, path, &problem, diags);
}

bool source_is_script(const char *file) {
  char begin[2] = "";
  struct file_problem problem;
  const struct permissions user = permissions_of_user(NULL);
  const bool has_name = strcmp(file, "-") != 0;
  const int fd = has_name ? file_open(&user, file, FILE_READ, &problem) : -1;
  const bool script = fd >= 0 && read(fd, begin, 2) == 2 && memcmp(begin, "#!", 2) == 0;
  if (fd >= 0) close(fd);
  return script;
}

bool source_is_whole(const struct source_text *s) {
  struct stat about;
  return !s->mapped || fstat(s->fd, &about) != 0 || (uint64_t)about.st_size >= s->length;
}

void source_free(struct source_text *s, struct heap *heap) {
  if (s->mapped) {
    process_unmapped(s->text);
    munmap(s->text, s->length);
    close(s->fd);
  } else {
    heap_free(heap, s->text, s->capacity);
  }
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

/* ---- files of arrays ---- */

static bool has_ending(const char *file, const char *ending) {
  const size_t length = strlen(file);
  return length > strlen(ending) && strcmp(file + length - strlen(ending), ending) == 0;
}

bool source_array_format(const char *file, enum array_format *format) {
  static const char *const endings[] = {
      [ARRAY_NPY] = ".npy", [ARRAY_CSV] = ".csv", [ARRAY_NPZ] = ".npz"};
  for (unsigned i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    *format = (enum array_format)i;
    if (has_ending(file, endings[i])) return true;
  }
  return false;
}
