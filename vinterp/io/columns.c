/* columns.c - streams that are files of arrays: numpy's or CSV.
 *
 * Such a stream holds one value, whose columns (arrays/arrays.h) FREAD and FWRITE move in
 * order, as INT and FLOAT. A file is read whole when it is opened. A file that is written gets
 * its bytes when the stream is closed. It keeps its old bytes if the value fits no array, or
 * not all of it could be written.
 */
#include "arrays/arrays.h"
#include "vinterp/io/streams-private.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct stream_columns {
  struct arena arena;
  enum array_format format;
  bool writes;
  struct array_type type;
  struct array_columns columns;
  uint32_t next; /* the next column to move */
};

void stream_columns_free(struct streams *s, struct stream_columns *c) {
  if (!c) return;
  arena_free(&c->arena);
  heap_free(s->heap, c, sizeof *c);
}

/* ---- opening ---- */

struct file_bytes {
  char *bytes;
  size_t length, capacity;
};

/* Reads a file to its end, or as far as its bytes may begin such an array. The reader reports
 * what is wrong with a device that never ends. */
static struct stream_status columns_read_whole(struct streams *s, FILE *file,
                                               enum array_format format, struct file_bytes *b) {
  enum { MOST = 16 << 20 }; /* bytes that are read before a stop is checked */
  struct stat about;
  const bool regular = fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode);
  size_t wanted = regular ? (size_t)about.st_size + 1 : 65536;
  do {
    if (b->length == b->capacity) {
      char *more = heap_grow(s->heap, b->bytes, b->capacity, b->capacity + wanted);
      if (!more) return stream_no_memory(b->capacity + wanted);
      b->bytes = more;
      b->capacity += wanted;
      wanted = b->capacity;
    }
    const size_t room = b->capacity - b->length;
    if (stop_asks(s->stop) != STOP_NOT) return stream_fail(s, "asked to end");
    b->length += fread(b->bytes + b->length, 1, room < MOST ? room : MOST, file);
  } while (!feof(file) && !ferror(file) && array_may_begin(format, b->bytes, b->length));
  return ferror(file) ? stream_fail_errno(s, errno ? errno : EIO) : stream_ok();
}

/* Reads the signature, and the value if the file is read. */
static struct stream_status columns_read_value(struct streams *s, struct stream_columns *c,
                                               const char *signature, size_t length,
                                               const struct file_bytes *file) {
  const char *problem = NULL;
  if (!array_type_parse(c->format, &c->arena, signature, length, &c->type, &problem)) {
    return stream_fail(s, "%s", problem);
  }
  if (!c->writes && !array_read(c->format, &c->arena, &c->type, file->bytes, file->length,
                                &c->columns, &problem)) {
    return stream_fail(s, "%s", problem);
  }
  if (c->writes) {
    c->columns.count = array_column_count(&c->type);
    c->columns.items = arena_alloc(&c->arena, c->columns.count * sizeof *c->columns.items);
  }
  return stream_ok();
}

static struct stream_status columns_begin(struct streams *s, struct stream_columns *c,
                                          const char *signature, size_t length,
                                          const struct file_bytes *file) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return stream_no_memory(file->length);
  struct stream_status status = columns_read_value(s, c, signature, length, file);
  memory_guard_end(&guard);
  return status;
}

static enum array_format format_of(enum stream_mode mode) {
  if (mode == STREAM_READ_NPY || mode == STREAM_WRITE_NPY) return ARRAY_NPY;
  return mode == STREAM_READ_NPZ || mode == STREAM_WRITE_NPZ ? ARRAY_NPZ : ARRAY_CSV;
}

static bool columns_writes(enum stream_mode mode) {
  return mode == STREAM_WRITE_NPY || mode == STREAM_WRITE_NPZ || mode == STREAM_WRITE_CSV;
}

static struct stream_status attach(struct streams *s, int64_t stream, enum stream_mode mode,
                                   const char *signature, size_t length) {
  struct stream *opened = stream_find(s, stream);
  struct stream_columns *c = heap_alloc(s->heap, sizeof *c);
  if (!c) return stream_no_memory(sizeof *c);
  *c = (struct stream_columns){.format = format_of(mode), .writes = columns_writes(mode)};
  arena_init(&c->arena, s->heap);
  struct file_bytes file = {.length = 0};
  struct stream_status status =
      c->writes ? stream_ok() : columns_read_whole(s, opened->file, c->format, &file);
  if (status.ok) status = columns_begin(s, c, signature, length, &file);
  heap_free(s->heap, file.bytes, file.capacity);
  if (!status.ok) {
    stream_columns_free(s, c);
    return status;
  }
  opened->columns = c;
  opened->readable = opened->writable = false; /* it is no text */
  return status;
}

struct stream_status stream_open_columns(struct streams *s, const char *name, size_t length,
                                         enum stream_mode mode, int64_t *stream) {
  const size_t signature = array_signature_length(name, length);
  *stream = STREAM_NULL;
  if (signature == length)
    return stream_fail(s, "a signature and a colon must stand before the name");
  struct stream_status status =
      stream_open(s, name + signature + 1, length - signature - 1,
                  columns_writes(mode) ? STREAM_REPLACE : STREAM_READ, stream);
  if (!status.ok) return status;
  status = attach(s, *stream, mode, name, signature);
  if (status.ok) return status;
  stream_drop(s, *stream);
  *stream = STREAM_NULL;
  return status;
}

/* ---- moving ---- */

/* Returns whether a column of ints moves as this type. Bools and lengths are ints in an array.
 */
static bool is_of_ints(enum type_word type) {
  return type == TW_INT || type == TW_BOOL || type == TW_SEGDES;
}

/* Returns the next column if it has this type; else NULL with a status. */
static struct array_column *next_column(struct streams *s, struct stream_columns *c,
                                        bool writing, enum type_word type,
                                        struct stream_status *status) {
  if (c->writes != writing) {
    *status = stream_fail(s, "the stream is not open for %s", writing ? "writing" : "reading");
  } else if (c->next == c->columns.count) {
    *status = stream_fail(s, "the array has no further column");
  } else {
    const bool is_float = array_column_is_float(&c->type, c->next);
    if (is_float ? type == TW_FLOAT : is_of_ints(type)) return &c->columns.items[c->next++];
    *status =
        stream_fail(s, "the next column of the array is one of %s", is_float ? "FLOAT" : "INT");
  }
  return NULL;
}

static bool columns_narrow_ints(const struct array_column *from, int32_t *to, int64_t *bad) {
  for (uint64_t i = 0; i < from->length; i++) {
    *bad = from->as.ints[i];
    if (*bad < INT32_MIN || *bad > INT32_MAX) return false;
    to[i] = (int32_t)*bad;
  }
  return true;
}

/* Returns whether the ints may be a descriptor, or bools. */
static bool ints_fit(const struct array_column *from, enum type_word type) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < from->length && type != TW_INT && type != TW_FLOAT; i++) {
    const int64_t x = from->as.ints[i];
    if (x < 0 || (uint64_t)x > (type == TW_BOOL ? 1 : INT64_MAX - total)) return false;
    if (type == TW_SEGDES) total += (uint64_t)x;
  }
  return true;
}

struct stream_status stream_read_column(struct streams *s, struct stream_columns *c,
                                        enum type_word type, struct stream_value *out) {
  struct stream_status status;
  const struct array_column *from = next_column(s, c, false, type, &status);
  if (!from) return status;
  if (!ints_fit(from, type))
    return stream_fail(s, "the next column of the array is none of %s", type_word_text(type));
  const size_t bytes = (size_t)from->length * elem_info(out->elem)->bytes;
  out->data = heap_alloc(s->heap, bytes);
  if (!out->data) return stream_no_memory(bytes);
  out->bytes = bytes;
  out->length = from->length;
  int64_t bad;
  if (out->elem == CVL_I32 && !columns_narrow_ints(from, out->data, &bad)) {
    stream_value_free(s, out);
    return stream_fail(s, "%lld does not fit an INT of 32 bits", (long long)bad);
  }
  if (out->elem == CVL_F32) {
    for (uint64_t i = 0; i < from->length; i++) {
      ((float *)out->data)[i] = (float)from->as.floats[i];
    }
  } else if (out->elem == CVL_BOOL) {
    for (uint64_t i = 0; i < from->length; i++)
      ((uint8_t *)out->data)[i] = from->as.ints[i] != 0;
  } else if (out->elem != CVL_I32 && bytes > 0) {
    memcpy(out->data, from->as.ints, bytes);
  }
  return stream_ok();
}

struct stream_status stream_write_column(struct streams *s, int64_t stream, enum type_word type,
                                         enum cvl_elem elem, const void *data,
                                         uint64_t length) {
  struct stream_columns *c = stream_find(s, stream)->columns;
  struct stream_status status;
  struct array_column *to = next_column(s, c, true, type, &status);
  if (!to) return status;
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return stream_no_memory(length * sizeof *to->as.ints);
  *to = (struct array_column){.length = length};
  to->as.ints = arena_alloc(&c->arena, (size_t)length * sizeof *to->as.ints);
  memory_guard_end(&guard);
  for (uint64_t i = 0; i < length; i++) {
    switch (elem) {
    case CVL_I32: to->as.ints[i] = ((const int32_t *)data)[i]; break;
    case CVL_F32: to->as.floats[i] = (double)((const float *)data)[i]; break;
    case CVL_F64: to->as.floats[i] = ((const double *)data)[i]; break;
    case CVL_BOOL: to->as.ints[i] = ((const uint8_t *)data)[i]; break;
    default: to->as.ints[i] = ((const int64_t *)data)[i]; break;
    }
  }
  return stream_ok();
}

bool stream_has_columns(struct streams *s, int64_t stream) {
  const struct stream *found = stream_find(s, stream);
  return found && found->columns;
}

/* ---- closing ---- */

static struct stream_status columns_write_value(struct streams *s, struct stream_columns *c,
                                                FILE *file) {
  const char *problem = NULL;
  if (!array_check(c->format, &c->arena, &c->type, &c->columns, &problem)) {
    return stream_fail(s, "%s", problem);
  }
  if (!array_write(c->format, &c->arena, &c->type, &c->columns, file, &problem)) {
    return stream_fail(s, "%s", problem);
  }
  return stream_ok();
}

struct stream_status stream_columns_finish(struct streams *s, struct stream_columns *c,
                                           FILE *file) {
  if (!c->writes) return stream_ok();
  if (c->next < c->columns.count) return stream_fail(s, "the array was not written to its end");
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return stream_no_memory(1);
  struct stream_status status = columns_write_value(s, c, file);
  memory_guard_end(&guard);
  return status;
}
