/* nesl-stream.c - results of --entry in NumPy files, written while the program still runs.
 *
 * What comes from a call that is executed in chunks goes into the file chunk by chunk
 * (struct machine_sink): behind the room of the header, which is written when the lengths are
 * known. Everything else waits for nesl-arrays.c.
 */
#include "arrays/arrays.h"
#include "base/number.h"
#include "commands/nesl.h"
#include "commands/process.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>

struct file {
  const char *name;
  bool possible; /* the type of the result is one of a single column */
  uint64_t column;
  enum cvl_elem elem;
  bool open, reserved;
  struct replacement replacement;
  struct file_problem problem; /* why it could not be opened */
  const char *mapped;          /* all of the file but its header, when that is there */
  uint64_t bytes;
};

struct nesl_stream {
  struct nesl *n;
  struct permissions user;
  uint64_t written; /* bytes written since pages of arguments were given back */
  unsigned count;
  struct file files[NESL_MOST_OUTPUTS];
  struct machine_sink sink;
};

static struct file *file_of(struct nesl_stream *s, uint64_t column) {
  for (unsigned i = 0; i < s->count; i++) {
    if (s->files[i].possible && s->files[i].column == column) return &s->files[i];
  }
  return NULL;
}

static uint64_t bytes_of(const struct file *f, uint64_t n) {
  return ARRAY_NPY_HEADER + n * elem_info(f->elem)->bytes;
}

/* ---- the sink ---- */

/* A file that cannot be opened is one that the sink takes, so that the program ends now. */
static bool takes(void *with, uint64_t result, enum cvl_elem elem) {
  struct nesl_stream *s = with;
  struct file *f = file_of(s, result);
  if (!f || f->open || f->elem != elem) return false;
  f->open = replacement_begin(&f->replacement, &s->user, f->name, &f->problem);
  if (!f->open || !f->replacement.direct) return true;
  replacement_abandon(&f->replacement);
  f->open = false;
  return false;
}

static bool fail(const struct file *f, int error, char *problem) {
  char buffer[128];
  snprintf(problem, MACHINE_SINK_PROBLEM, "%.100s: %s", f->name,
           strerror_r(error, buffer, sizeof buffer));
  return false;
}

/* Whether a file of so many bytes, none of which are there, has room. */
static bool has_room(const struct file *f, uint64_t bytes, char *problem) {
  struct statvfs about;
  char needed[NUMBER_TEXT_MAX], available[NUMBER_TEXT_MAX];
  if (fstatvfs(f->replacement.fd, &about) != 0 || about.f_blocks == 0) return true;
  const uint64_t room = (uint64_t)about.f_bavail * about.f_frsize;
  if (bytes <= room) return true;
  format_bytes(needed, bytes);
  format_bytes(available, room);
  snprintf(problem, MACHINE_SINK_PROBLEM,
           "%.100s: the result takes %s, and the disk has %s left", f->name, needed, available);
  return false;
}

/* The disk is asked before the first elements are written. */
static bool reserve(struct file *f, uint64_t total, char *problem) {
  if (f->reserved || total == MACHINE_SINK_UNKNOWN) return true;
  if (!has_room(f, bytes_of(f, total), problem)) return false;
  const int error = replacement_reserve(&f->replacement, bytes_of(f, total));
  f->reserved = error == 0;
  return error == 0 || fail(f, error, problem);
}

/* What has been read of arguments stays in the system's memory only if it has no better use for
 * that; it is read again where it is needed. */
static void give_pages_back(struct nesl_stream *s, uint64_t bytes) {
  enum { OFTEN = 64 << 20, LEAST = 1 << 20 }; /* a chunk may have read more than it writes */
  s->written += bytes > LEAST ? bytes : LEAST;
  if (s->written < OFTEN) return;
  nesl_lent_give_back(s->n);
  s->written = 0;
}

static bool put(void *with, uint64_t result, uint64_t first, uint64_t n, uint64_t total,
                const void *elements, char problem[MACHINE_SINK_PROBLEM]) {
  struct file *f = file_of(with, result);
  if (!f->open) {
    snprintf(problem, MACHINE_SINK_PROBLEM, "%.100s: %.100s", f->name, f->problem.text);
    return false;
  }
  if (!reserve(f, total, problem)) return false;
  const uint64_t bytes = n * elem_info(f->elem)->bytes;
  give_pages_back(with, bytes);
  const int error = replacement_put(&f->replacement, bytes_of(f, first), elements, bytes);
  return error == 0 || fail(f, error, problem);
}

static const void *whole(void *with, uint64_t result, uint64_t n,
                         char problem[MACHINE_SINK_PROBLEM]) {
  struct file *f = file_of(with, result);
  const void *mapped = NULL;
  f->bytes = bytes_of(f, n);
  int error = replacement_cut(&f->replacement, f->bytes);
  if (!error) error = replacement_map(&f->replacement, f->bytes, &mapped);
  f->mapped = mapped;
  if (!error) return f->mapped + ARRAY_NPY_HEADER;
  fail(f, error, problem);
  return NULL;
}

/* ---- which results ---- */

/* The file of one component of the result, whose columns begin at *column. */
static bool plan(struct nesl *n, struct file *f, struct type *type, uint64_t *column) {
  struct array_type array;
  const char *problem;
  if (!nesl_type_in_file(n, type, f->name, &array, &problem)) return false;
  f->possible = nesl_is_npy(f->name) && array_npy_is_column(&array);
  f->column = *column + array.depth;
  f->elem = array.leaf_count == 1 && array.leaves[0] == ARRAY_INT ? CVL_I64 : CVL_F64;
  *column += array_column_count(&array);
  return true;
}

const struct machine_sink *nesl_stream_begin(struct nesl *n, struct type *type) {
  const struct nesl_options *o = n->options;
  struct nesl_stream *s = arena_alloc(&n->arena, sizeof *s);
  uint64_t column = 0;
  memset(s, 0, sizeof *s);
  s->n = n;
  s->user = process_user();
  s->sink = (struct machine_sink){takes, put, whole, s};
  for (unsigned i = 0; i < o->output_count; i++) {
    struct type *component = nesl_component(type, i, o->output_count);
    s->files[i].name = o->outputs[i];
    if (!component || !plan(n, &s->files[i], component, &column)) return NULL;
    s->count++;
  }
  n->stream = s;
  return &s->sink;
}

/* ---- the end ---- */

static void end(struct file *f) {
  if (f->mapped) munmap((void *)(uintptr_t)f->mapped, (size_t)f->bytes);
  if (f->open) replacement_abandon(&f->replacement);
  f->mapped = NULL;
  f->open = false;
}

struct replacement *nesl_stream_of(struct nesl *n, unsigned output, const void *elements) {
  struct file *f = n->stream ? &n->stream->files[output] : NULL;
  if (!f || !f->open) return NULL;
  if (f->mapped && f->mapped + ARRAY_NPY_HEADER == elements) {
    f->open = false;
    return &f->replacement;
  }
  end(f); /* another value has become the result */
  return NULL;
}

void nesl_stream_end(struct nesl *n) {
  for (unsigned i = 0; n->stream && i < n->stream->count; i++) end(&n->stream->files[i]);
  n->stream = NULL;
}
