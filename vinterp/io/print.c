/* print.c - values as text. One buffer on the stack takes the text, and another some of the
 * elements, so printing allocates no memory, however long the vector is.
 */
#include "vinterp/io/print.h"
#include "base/number.h"
#include "vinterp/io/peers.h"
#include "vinterp/machine/machine-private.h"
#include <string.h>

enum {
  TRANSFER = 4096,    /* elements fetched at a time: 32 KiB, a good size of a transfer */
  TEXT_BYTES = 32768, /* bytes collected before the consumer is called */
};

/* ---- text on its way to a consumer ---- */

struct text {
  const struct consumer *consumer;
  size_t used;
  bool exact; /* whether floats have all digits */
  char bytes[TEXT_BYTES];
};

static bool print_text_flush(struct text *t) {
  size_t n = t->used;
  t->used = 0;
  return n == 0 || t->consumer->write(t->consumer->self, t->bytes, n);
}

/* Makes room for n more bytes, n at most TEXT_BYTES. */
static inline bool text_room(struct text *t, size_t n) {
  return t->used + n <= TEXT_BYTES || print_text_flush(t);
}

static bool text_add(struct text *t, const char *string) {
  size_t n = strlen(string);
  if (!text_room(t, n)) return false;
  memcpy(t->bytes + t->used, string, n);
  t->used += n;
  return true;
}

/* ---- elements ---- */

/* Elements as the back end stores them. */
union buffer {
  int32_t i32[TRANSFER];
  int64_t i64[TRANSFER];
  float f32[TRANSFER];
  double f64[TRANSFER];
  uint8_t flags[TRANSFER];
};

static bool text_int(struct text *t, int64_t x) {
  if (!text_room(t, 1 + NUMBER_TEXT_MAX)) return false;
  t->bytes[t->used++] = ' ';
  t->used += format_int(t->bytes + t->used, x);
  return true;
}

static bool text_float(struct text *t, double x) {
  if (!text_room(t, 1 + NUMBER_TEXT_MAX)) return false;
  t->bytes[t->used++] = ' ';
  t->used += (t->exact ? format_float_digits : format_float)(t->bytes + t->used, x);
  return true;
}

static bool text_bool(struct text *t, bool x) {
  if (!text_room(t, 2)) return false;
  t->bytes[t->used++] = ' ';
  t->bytes[t->used++] = x ? 'T' : 'F';
  return true;
}

static bool text_elements(struct text *t, enum cvl_elem elem, const union buffer *buffer,
                          size_t n) {
  bool ok = true;
  switch (elem) {
  case CVL_I32:
    for (size_t i = 0; i < n && ok; i++) ok = text_int(t, buffer->i32[i]);
    break;
  case CVL_I64:
    for (size_t i = 0; i < n && ok; i++) ok = text_int(t, buffer->i64[i]);
    break;
  case CVL_F32:
    for (size_t i = 0; i < n && ok; i++) ok = text_float(t, (double)buffer->f32[i]);
    break;
  case CVL_F64:
    for (size_t i = 0; i < n && ok; i++) ok = text_float(t, buffer->f64[i]);
    break;
  case CVL_BOOL:
    for (size_t i = 0; i < n && ok; i++) ok = text_bool(t, buffer->flags[i]);
    break;
  case CVL_ELEM_COUNT: break;
  }
  return ok;
}

/* ---- values ---- */

/* Returns the type of the elements that machine_to_host stores for a value. */
static enum cvl_elem host_elem(const struct value *v) {
  return value_is_segdes(v) ? CVL_I64 : (enum cvl_elem)v->flat.elem;
}

static const char *pair_kind(const struct value *v) {
  switch (value_kind(v)) {
  case IR_INT: return "Int";
  case IR_FLOAT: return "Float";
  case IR_BOOL: return "Bool";
  case IR_SEGDES: return "Segdes";
  case IR_PAIR: return "Pair";
  case IR_ANY: break;
  }
  return "";
}

static bool print_pair(struct text *t, const struct pair *pair) {
  return text_add(t, "pair(") && text_add(t, pair_kind(&pair->left)) && text_add(t, ",") &&
         text_add(t, pair_kind(&pair->right)) && text_add(t, ") \n") && print_text_flush(t);
}

bool print_value(struct machine *m, const struct machine_site *site, const struct value *v,
                 bool exact, const struct consumer *consumer) {
  struct text text;
  text.consumer = consumer;
  text.used = 0;
  text.exact = exact;
  if (v->form == VALUE_PAIR) return print_pair(&text, v->pair);
  uint64_t length;
  if (!machine_length(m, site, v, &length)) return false;
  bool descriptor = value_kind(v) == IR_SEGDES;
  enum cvl_elem elem = host_elem(v);
  union buffer buffer;
  text_add(&text, descriptor ? "[" : "(");
  for (uint64_t first = 0; first < length; first += TRANSFER) {
    uint64_t n = length - first < TRANSFER ? length - first : TRANSFER;
    if (!machine_may_go_on(m, site) || !machine_to_host(m, site, v, first, n, &buffer)) {
      return false;
    }
    if (!text_elements(&text, elem, &buffer, (size_t)n)) return false;
  }
  return text_add(&text, descriptor ? " ]\n" : " )\n") && print_text_flush(&text);
}

bool print_chars(struct machine *m, const struct machine_site *site, const struct value *v,
                 const struct consumer *consumer) {
  uint64_t length;
  if (!machine_length(m, site, v, &length)) return false;
  enum cvl_elem elem = host_elem(v);
  union buffer buffer;
  char bytes[TRANSFER];
  for (uint64_t first = 0; first < length; first += TRANSFER) {
    uint64_t n = length - first < TRANSFER ? length - first : TRANSFER;
    if (!machine_may_go_on(m, site) || !machine_to_host(m, site, v, first, n, &buffer)) {
      return false;
    }
    for (size_t i = 0; i < n; i++) {
      bytes[i] = (char)(elem == CVL_I32 ? buffer.i32[i] : buffer.i64[i]);
    }
    if (!consumer->write(consumer->self, bytes, (size_t)n)) return false;
  }
  return true;
}

/* ---- consumers ---- */

static bool write_to_stream(void *self, const char *bytes, size_t n) {
  struct stream_sink *to = self;
  to->status = peers_write(to->streams, to->stream, bytes, n);
  return to->status.ok;
}

void stream_sink_init(struct stream_sink *to, struct streams *streams, int64_t stream) {
  to->consumer = (struct consumer){write_to_stream, to};
  to->streams = streams;
  to->stream = stream;
  to->status = (struct stream_status){.ok = true, .message = ""};
}
