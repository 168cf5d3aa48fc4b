/* nesl-stream.c - results of --entry that leave memory while the program still runs.
 *
 * What comes from a call that is executed in chunks is given to this consumer chunk by chunk
 * (struct machine_consumer). A result that is the only column of a NumPy file goes into the
 * file, behind the room of the header, which is written when the lengths are known. Columns of
 * other files, if they are large, go to spills (base/spill.h), from which nesl-arrays.c writes
 * the file when all of them are complete: there rows of a CSV file, fields of structures and
 * checksums of archives want several columns, or all of one. The file itself is open from
 * the first chunk on, so that what is wrong with its name is found then. Everything else waits
 * in memory.
 */
#include "arrays/arrays.h"
#include "base/number.h"
#include "base/spill.h"
#include "commands/nesl.h"
#include "commands/process.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>

/* A result of the machine: a column of a file. */
struct output_column {
  struct file *file;
  bool elements; /* no lengths, which come at the end */
  enum cvl_elem elem;
  struct spill *spill; /* or NULL */
  bool reserved;
};

struct file {
  const char *name;
  enum array_format format;
  bool direct; /* elements go into it: it has one column of them */
  bool open;
  uint64_t wanted; /* bytes that it will have at least, as far as that is known */
  struct replacement replacement;
  struct file_problem problem; /* why it could not be opened */
  const char *mapped;          /* all of the file but its header, when that is there */
  uint64_t bytes;
};

struct nesl_stream {
  struct nesl *n;
  struct permissions user;
  bool large;       /* the result that the consumer is asked for */
  uint64_t written; /* bytes written since pages of arguments were given back */
  unsigned count;
  struct file files[NESL_MOST_OUTPUTS];
  uint64_t column_count;
  struct output_column *columns;
  struct array_spills spills;
  struct machine_consumer consumer;
};

static uint64_t width_of_column(const struct output_column *c) {
  return elem_info(c->elem)->bytes;
}

static uint64_t bytes_of_output(const struct output_column *c, uint64_t n) {
  return ARRAY_NPY_HEADER + n * width_of_column(c);
}

/* ---- what is wrong ---- */

static bool fail_stream_file(const struct file *f, int error, char *problem) {
  char buffer[128];
  snprintf(problem, MACHINE_CONSUMER_PROBLEM, "%.100s: %s", f->name,
           strerror_r(error, buffer, sizeof buffer));
  return false;
}

static bool fail_as(const struct file *f, const struct file_problem *why, char *problem) {
  snprintf(problem, MACHINE_CONSUMER_PROBLEM, "%.100s: %.280s", f->name, why->text);
  return false;
}

/* Whether a file of so many bytes, none of which are there, has room. */
static bool file_has_room(const struct file *f, uint64_t bytes, char *problem) {
  struct statvfs about;
  char needed[NUMBER_TEXT_MAX], available[NUMBER_TEXT_MAX];
  if (fstatvfs(f->replacement.fd, &about) != 0 || about.f_blocks == 0) return true;
  const uint64_t room = (uint64_t)about.f_bavail * about.f_frsize;
  if (bytes <= room) return true;
  format_bytes(needed, bytes);
  format_bytes(available, room);
  snprintf(problem, MACHINE_CONSUMER_PROBLEM,
           "%.100s: the result takes %s%s, and the disk has %s left", f->name,
           f->direct ? "" : "at least ", needed, available);
  return false;
}

/* ---- which results the consumer takes ---- */

/* Returns whether a result is large. Others are faster in memory, since threads may then
 * compute chunks of their own. */
static bool is_large_result(const struct nesl_stream *s, uint64_t bytes) {
  enum { MEMORY_PART = 8 };
  const uint64_t least = machine_memory(&s->n->options->machine) / MEMORY_PART;
  return bytes >= least || nesl_mapped_bytes(s->n) >= least;
}

static bool stream_wants(void *with, uint64_t bytes) {
  struct nesl_stream *s = with;
  s->large = is_large_result(s, bytes);
  return true;
}

/* Opens the file. One that cannot be opened is one that the consumer takes, so that the program
 * ends now; what is no ordinary file is written at the end. */
static void open_output(struct nesl_stream *s, struct file *f) {
  if (f->open || f->problem.text[0]) return;
  f->open = replacement_begin(&f->replacement, &s->user, f->name, &f->problem);
  if (!f->open || !f->replacement.direct) return;
  replacement_abandon(&f->replacement);
  f->open = false;
}

static bool takes_spilled(struct nesl_stream *s, struct output_column *c) {
  const char *problem;
  if (!s->large || c->spill) return false;
  c->spill = array_spill(&s->n->arena, &s->spills, &problem);
  if (c->spill) open_output(s, c->file);
  return c->spill != NULL;
}

static bool stream_takes(void *with, uint64_t result, enum cvl_elem elem) {
  struct nesl_stream *s = with;
  struct output_column *c = result < s->column_count ? &s->columns[result] : NULL;
  if (!c || c->elem != elem) return false;
  if (!c->file->direct || !c->elements) return takes_spilled(s, c);
  if (c->file->open) return false;
  open_output(s, c->file);
  return c->file->open || c->file->problem.text[0];
}

/* ---- chunks ---- */

/* The disk is asked before the first elements are written. */
static bool reserve_column(struct output_column *c, uint64_t total, char *problem) {
  struct file *f = c->file;
  if (c->reserved || total == MACHINE_CONSUMER_UNKNOWN) return true;
  if (!file_has_room(f, bytes_of_output(c, total), problem)) return false;
  const int error = replacement_reserve(&f->replacement, bytes_of_output(c, total));
  c->reserved = error == 0;
  return error == 0 || fail_stream_file(f, error, problem);
}

/* Reserves room for a spill, and for the file that will be written from it: an element of a CSV
 * file takes two bytes at least. */
static bool reserve_spilled(struct output_column *c, uint64_t total, char *problem) {
  struct file *f = c->file;
  struct file_problem why;
  if (c->reserved || total == MACHINE_CONSUMER_UNKNOWN) return true;
  f->wanted += total * (f->format == ARRAY_CSV ? 2 : width_of_column(c));
  if (f->open && !f->direct && !file_has_room(f, f->wanted, problem)) return false;
  c->reserved = spill_reserve(c->spill, total * width_of_column(c), &why);
  return c->reserved || fail_as(f, &why, problem);
}

/* Gives back the pages of arguments that have been read. The system keeps them if it has no
 * better use for the memory, and reads them again where they are needed. */
static void give_pages_back(struct nesl_stream *s, uint64_t bytes) {
  enum { OFTEN = 64 << 20, LEAST = 1 << 20 }; /* a chunk may have read more than it writes */
  s->written += bytes > LEAST ? bytes : LEAST;
  if (s->written < OFTEN) return;
  nesl_mapped_give_back(s->n);
  s->written = 0;
}

static bool put_spilled(struct output_column *c, uint64_t first, uint64_t total,
                        const void *elements, uint64_t bytes, char *problem) {
  struct file_problem why;
  const uint64_t at = first * width_of_column(c);
  if (!reserve_spilled(c, total, problem)) return false;
  if (at < c->spill->length && !spill_cut(c->spill, at, &why))
    return fail_as(c->file, &why, problem);
  return spill_append(c->spill, elements, bytes, &why) || fail_as(c->file, &why, problem);
}

static bool stream_put(void *with, uint64_t result, uint64_t first, uint64_t n, uint64_t total,
                       const void *elements, char problem[MACHINE_CONSUMER_PROBLEM]) {
  struct nesl_stream *s = with;
  struct output_column *c = &s->columns[result];
  struct file *f = c->file;
  const uint64_t bytes = n * width_of_column(c);
  if (f->problem.text[0]) return fail_as(f, &f->problem, problem);
  give_pages_back(s, bytes);
  if (c->spill) return put_spilled(c, first, total, elements, bytes, problem);
  if (!reserve_column(c, total, problem)) return false;
  const int error =
      replacement_put(&f->replacement, bytes_of_output(c, first), elements, bytes);
  return error == 0 || fail_stream_file(f, error, problem);
}

static const void *whole_spilled(struct output_column *c, char *problem) {
  struct file_problem why;
  if (spill_finish(c->spill, &why)) return c->spill->data;
  fail_as(c->file, &why, problem);
  return NULL;
}

static const void *stream_whole(void *with, uint64_t result, uint64_t n,
                                char problem[MACHINE_CONSUMER_PROBLEM]) {
  struct output_column *c = &((struct nesl_stream *)with)->columns[result];
  struct file *f = c->file;
  const void *mapped = NULL;
  if (c->spill) return whole_spilled(c, problem);
  f->bytes = bytes_of_output(c, n);
  int error = replacement_cut(&f->replacement, f->bytes);
  if (!error) error = replacement_map(&f->replacement, f->bytes, &mapped);
  f->mapped = mapped;
  if (!error) return f->mapped + ARRAY_NPY_HEADER;
  fail_stream_file(f, error, problem);
  return NULL;
}

/* ---- the files ---- */

static enum cvl_elem elem_of_column(enum column_kind kind) {
  return kind == COLUMN_FLOAT ? CVL_F64 : kind == COLUMN_BOOL ? CVL_BOOL : CVL_I64;
}

/* The file of one component of the result, whose columns begin at *column. */
static bool plan_stream_file(struct nesl_stream *s, struct file *f, struct type *type,
                             const struct column_kinds *kinds, uint64_t *column) {
  struct array_type array;
  const char *problem;
  if (!nesl_type_in_file(s->n, type, f->name, &array, &problem)) return false;
  f->format = nesl_array_format(f->name);
  f->direct = f->format == ARRAY_NPY && array_npy_is_column(&array);
  const uint64_t end = *column + array_column_count(&array);
  if (end > s->column_count) return false;
  for (; *column < end; (*column)++) {
    const enum column_kind kind = (enum column_kind)kinds->list.items[*column];
    s->columns[*column] = (struct output_column){
        .file = f, .elements = kind != COLUMN_SEGDES, .elem = elem_of_column(kind)};
  }
  return true;
}

const struct machine_consumer *nesl_stream_begin(struct nesl *n, struct type *type) {
  const struct nesl_options *o = n->options;
  struct nesl_stream *s = arena_alloc(&n->arena, sizeof *s);
  struct column_kinds kinds = {.arena = &n->arena};
  uint64_t column = 0;
  value_columns(type, &kinds);
  memset(s, 0, sizeof *s);
  s->n = n;
  s->user = process_user();
  s->column_count = kinds.list.count;
  s->columns = arena_alloc(&n->arena, s->column_count * sizeof *s->columns + 1);
  s->spills.heap = &n->heap;
  s->consumer = (struct machine_consumer){.takes = stream_takes,
                                          .put = stream_put,
                                          .whole = stream_whole,
                                          .with = s,
                                          .wants = stream_wants};
  for (unsigned i = 0; i < o->output_count; i++) {
    struct type *component = nesl_component(type, i, o->output_count);
    s->files[i].name = o->outputs[i];
    if (!component || !plan_stream_file(s, &s->files[i], component, &kinds, &column))
      return NULL;
    s->count++;
  }
  n->stream = s;
  return &s->consumer;
}

/* ---- the end ---- */

static void end_output(struct file *f) {
  if (f->mapped) munmap((void *)(uintptr_t)f->mapped, (size_t)f->bytes);
  if (f->open) replacement_abandon(&f->replacement);
  f->mapped = NULL;
  f->open = false;
}

struct replacement *nesl_stream_of(struct nesl *n, unsigned output, const void *elements,
                                   bool *complete) {
  struct file *f = n->stream ? &n->stream->files[output] : NULL;
  if (!f || !f->open) return NULL;
  *complete = f->mapped && f->mapped + ARRAY_NPY_HEADER == elements;
  if (*complete || !f->direct) return &f->replacement;
  end_output(f); /* another value has become the result */
  return NULL;
}

bool nesl_stream_finish(struct nesl *n, unsigned output, struct file_problem *problem) {
  struct file *f = &n->stream->files[output];
  f->open = false;
  return replacement_end(&f->replacement, problem);
}

struct array_spills *nesl_stream_spills(struct nesl *n) {
  return n->stream ? &n->stream->spills : NULL;
}

void nesl_stream_end(struct nesl *n) {
  for (unsigned i = 0; n->stream && i < n->stream->count; i++) end_output(&n->stream->files[i]);
  if (n->stream) array_spills_end(&n->stream->spills);
  n->stream = NULL;
}
