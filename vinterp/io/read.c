/* read.c - reading values and characters from streams (vcode.md, sections 12.2 and 13.2).
 *
 * Every delimiter ends exactly one element, so no byte beyond the closing one is read, and
 * nothing has to be put back.
 */
#include "base/number.h"
#include "vinterp/io/streams-private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A value that is being read. */
struct reader {
  struct streams *streams;
  FILE *file;
  struct stream_value *out;
  size_t element_bytes;
  struct stream_status status; /* ok until something goes wrong */
};

static bool read_asked_to_end(struct reader *r) {
  if (stop_asks(r->streams->stop) == STOP_NOT) return false;
  r->status = stream_fail(r->streams, "asked to end");
  return true;
}

/* ---- host values ---- */

void stream_value_free(struct streams *s, struct stream_value *v) {
  heap_free(s->heap, v->data, v->bytes);
  *v = (struct stream_value){.elem = v->elem};
}

static bool read_grow(struct reader *r) {
  size_t wanted = r->out->bytes ? r->out->bytes * 2 : 256;
  void *data = heap_grow(r->streams->heap, r->out->data, r->out->bytes, wanted);
  if (!data) {
    r->status = stream_no_memory(wanted);
    return false;
  }
  r->out->data = data;
  r->out->bytes = wanted;
  return true;
}

/* Returns room for one more element, which the caller sets; NULL if memory runs out or reading
 * is to end. */
static inline void *next_element(struct reader *r) {
  enum { UNASKED = 1 << 12 };
  if (r->out->length % UNASKED == 0 && read_asked_to_end(r)) return NULL;
  if ((r->out->length + 1) * r->element_bytes > r->out->bytes && !read_grow(r)) return NULL;
  return (char *)r->out->data + r->out->length++ * r->element_bytes;
}

static bool put_int(struct reader *r, int64_t x) {
  void *at = next_element(r);
  if (!at) return false;
  if (r->element_bytes == sizeof(int32_t)) {
    *(int32_t *)at = (int32_t)x;
  } else {
    *(int64_t *)at = x;
  }
  return true;
}

static bool put_float(struct reader *r, double x) {
  void *at = next_element(r);
  if (!at) return false;
  if (r->element_bytes == sizeof(float)) {
    *(float *)at = (float)x;
  } else {
    *(double *)at = x;
  }
  return true;
}

static bool put_bool(struct reader *r, bool x) {
  uint8_t *at = next_element(r);
  if (at) *at = x;
  return at != NULL;
}

/* ---- bytes ---- */

static int next_byte(struct reader *r) {
  return getc_unlocked(r->file);
}

static int next_solid_byte(struct reader *r) {
  enum { UNASKED = 1 << 16 };
  uint64_t skipped = 0;
  int c = next_byte(r);
  while (is_space_byte(c)) {
    if (++skipped % UNASKED == 0 && read_asked_to_end(r)) return EOF;
    c = next_byte(r);
  }
  return c;
}

/* Fails because of byte c (or the end of the file) where something else was expected. */
static bool unexpected(struct reader *r, int c, const char *expected) {
  if (c == EOF && ferror(r->file)) {
    r->status = stream_fail_errno(r->streams, errno ? errno : EIO);
  } else if (c == EOF) {
    r->status = stream_fail(r->streams, "expected %s, found the end of the file", expected);
  } else if (c > ' ' && c < 0x7f) {
    r->status = stream_fail(r->streams, "expected %s, found '%c'", expected, c);
  } else {
    r->status = stream_fail(r->streams, "expected %s, found byte %d", expected, c);
  }
  return false;
}

static bool read_open(struct reader *r, char bracket) {
  int c = next_solid_byte(r);
  const char expected[] = {'\'', bracket, '\'', '\0'};
  return c == (unsigned char)bracket || unexpected(r, c, expected);
}

/* ---- the types ---- */

/* A number up to this, with one more digit, fits 64 bits without a sign, but no INT. */
static const uint64_t LARGE = (UINT64_MAX - 9) / 10;

/* Reads integers least .. most up to the closing bracket. */
static bool read_ints(struct reader *r, char close, int64_t least, int64_t most) {
  for (;;) {
    int c = next_solid_byte(r);
    if (c == close) return true;
    bool negative = c == '-';
    if (c == '-' || c == '+') c = next_byte(r);
    if (!is_digit_byte(c)) return unexpected(r, c, "an integer");
    uint64_t size = 0;
    for (; is_digit_byte(c); c = next_byte(r)) {
      if (size > LARGE) size = LARGE; /* too large, and remains so */
      size = size * 10 + (uint64_t)(c - '0');
    }
    uint64_t bound = negative ? -(uint64_t)least : (uint64_t)most;
    if (size > bound) {
      r->status = stream_fail(r->streams, "an integer is out of range");
      return false;
    }
    if (c != close && !is_space_byte(c)) return unexpected(r, c, "an integer");
    if (!put_int(r, (int64_t)(negative ? -size : size))) return false;
    if (c == close) return true;
  }
}

/* The text of one number. */
struct token {
  char *bytes;
  size_t length, capacity;
};

/* Collects a number that begins with c, up to white space or the closing bracket, which it
 * returns; "nan(...)" has its own brackets. Returns EOF with a status if that fails. */
static int machine_read_token(struct reader *r, struct token *t, int c) {
  bool inside = false;
  t->length = 0;
  for (; inside || (c != ')' && !is_space_byte(c)); c = next_byte(r)) {
    if (c == EOF) {
      unexpected(r, c, "')'");
      return EOF;
    }
    uint64_t lacking =
        streams_reserve(r->streams->heap, (void **)&t->bytes, t->length + 1, &t->capacity, 1);
    if (lacking) {
      r->status = stream_no_memory(lacking);
      return EOF;
    }
    t->bytes[t->length++] = (char)c;
    inside = inside ? c != ')' : c == '(';
  }
  t->bytes[t->length] = '\0';
  return c;
}

static bool read_float_list(struct reader *r, struct token *t) {
  for (;;) {
    int c = next_solid_byte(r);
    if (c == ')') return true;
    c = machine_read_token(r, t, c);
    if (c == EOF) return false;
    const char *end;
    double x = read_real(t->bytes, &end);
    if (end != t->bytes + t->length) {
      r->status = stream_fail(r->streams, "expected a number, found \"%.40s\"", t->bytes);
      return false;
    }
    if (!put_float(r, x)) return false;
    if (c == ')') return true;
  }
}

static bool read_floats(struct reader *r) {
  struct token token = {0};
  bool ok = read_float_list(r, &token);
  heap_free(r->streams->heap, token.bytes, token.capacity);
  return ok;
}

static bool read_bools(struct reader *r) {
  for (;;) {
    int c = next_solid_byte(r);
    if (c == ')') return true;
    if (c != 'T' && c != 'F') return unexpected(r, c, "'T' or 'F'");
    if (!put_bool(r, c == 'T')) return false;
  }
}

static bool machine_read_lengths(struct reader *r) {
  if (!read_ints(r, ']', 0, INT64_MAX)) return false;
  const int64_t *lengths = r->out->data;
  int64_t total = 0;
  for (uint64_t k = 0; k < r->out->length; k++) {
    if (lengths[k] > INT64_MAX - total) {
      r->status = stream_fail(r->streams, "the segment lengths add up past 2^63-1");
      return false;
    }
    total += lengths[k];
  }
  return true;
}

static bool read_string(struct reader *r) {
  for (;;) {
    int c = next_byte(r);
    if (c == '"') return true;
    if (c == EOF) return unexpected(r, c, "'\"'");
    if (!put_int(r, c)) return false;
  }
}

static bool read_typed(struct reader *r, enum type_word type, struct widths widths) {
  bool narrow = widths.int_elem == CVL_I32;
  switch (type) {
  case TW_INT:
    return read_open(r, '(') &&
           read_ints(r, ')', narrow ? INT32_MIN : INT64_MIN, narrow ? INT32_MAX : INT64_MAX);
  case TW_FLOAT: return read_open(r, '(') && read_floats(r);
  case TW_BOOL: return read_open(r, '(') && read_bools(r);
  case TW_SEGDES: return read_open(r, '[') && machine_read_lengths(r);
  case TW_CHAR: return read_open(r, '"') && read_string(r);
  case TW_NONE: break;
  }
  return false;
}

/* Returns the element type of a stream_value for a type word. */
static enum cvl_elem read_elem_of(enum type_word type, struct widths widths) {
  switch (type) {
  case TW_INT:
  case TW_CHAR: return widths.int_elem;
  case TW_FLOAT: return widths.float_elem;
  case TW_BOOL: return CVL_BOOL;
  case TW_SEGDES:
  case TW_NONE: break;
  }
  return CVL_I64;
}

/* Begins to read a vector of elem from a stream. Returns false if that is not readable, with
 * r->status. */
static bool reader_begin(struct reader *r, struct streams *s, int64_t stream,
                         enum cvl_elem elem, struct stream_value *out) {
  *out = (struct stream_value){.elem = elem};
  *r = (struct reader){
      .streams = s, .out = out, .element_bytes = elem_info(elem)->bytes, .status = stream_ok()};
  struct stream *from = stream_find_readable(s, stream, &r->status);
  if (!from) return false;
  r->file = from->file;
  clearerr(r->file); /* a file may have grown since its end was reached */
  errno = 0;
  return true;
}

struct stream_status stream_read_value(struct streams *s, int64_t stream, enum type_word type,
                                       struct widths widths, struct stream_value *out) {
  struct reader r;
  const struct stream *from = stream_find(s, stream);
  if (from && from->columns) {
    *out = (struct stream_value){.elem = read_elem_of(type, widths)};
    return stream_read_column(s, from->columns, type, out);
  }
  if (reader_begin(&r, s, stream, read_elem_of(type, widths), out) &&
      !read_typed(&r, type, widths)) {
    stream_value_free(s, out);
  }
  return r.status;
}

struct stream_status stream_read_chars(struct streams *s, int64_t stream,
                                       const bool delimiters[256], int64_t max,
                                       enum cvl_elem int_elem, struct stream_value *out,
                                       int64_t *stop) {
  enum { END_OF_FILE = -1, LIMIT = -2 };
  struct reader r;
  *stop = END_OF_FILE;
  if (!reader_begin(&r, s, stream, int_elem, out)) return r.status;
  for (;;) {
    if (max >= 0 && out->length >= (uint64_t)max) {
      *stop = LIMIT;
      return r.status;
    }
    int c = next_byte(&r);
    if (c == EOF) {
      if (ferror(r.file)) r.status = stream_fail_errno(s, errno ? errno : EIO);
      break;
    }
    if (delimiters[c]) {
      *stop = c;
      return r.status;
    }
    if (!put_int(&r, c)) break;
  }
  if (!r.status.ok) stream_value_free(s, out);
  return r.status;
}
