/* peers.c - see peers.h. */
#include "vinterp/io/peers.h"
#include "vinterp/io/streams-private.h"

#include <string.h>

void streams_set_peers(struct streams *s, const struct stream_peers *peers) {
  s->peers = *peers;
}

static bool peers_is_first(const struct streams *s) {
  return !s->peers.broadcast || s->peers.first;
}

static void peers_broadcast(struct streams *s, void *data, size_t bytes) {
  if (s->peers.broadcast && bytes > 0) s->peers.broadcast(s->peers.with, data, bytes);
}

/* ---- outcomes ---- */

struct outcome {
  uint64_t ok, memory;
  char message[FILE_PROBLEM_MAX];
};

static struct stream_status peers_shared(struct streams *s, struct stream_status status) {
  struct outcome o = {status.ok, status.memory, ""};
  if (!s->peers.broadcast) return status;
  if (peers_is_first(s)) snprintf(o.message, sizeof o.message, "%s", status.message);
  peers_broadcast(s, &o, sizeof o);
  if (peers_is_first(s)) return status;
  if (o.ok) return stream_ok();
  if (o.memory) return stream_no_memory(o.memory);
  return stream_fail(s, "%s", o.message);
}

static struct stream_status shared_number(struct streams *s, struct stream_status status,
                                          int64_t *number) {
  peers_broadcast(s, number, sizeof *number);
  return peers_shared(s, status);
}

/* ---- writing ---- */

struct stream_status peers_write(struct streams *s, int64_t stream, const void *bytes,
                                 size_t n) {
  return peers_shared(s, peers_is_first(s) ? stream_write(s, stream, bytes, n) : stream_ok());
}

struct stream_status peers_flush(struct streams *s, int64_t stream) {
  return peers_shared(s, peers_is_first(s) ? stream_flush(s, stream) : stream_ok());
}

bool peers_have_columns(struct streams *s, int64_t stream) {
  uint8_t have = peers_is_first(s) && stream_has_columns(s, stream);
  peers_broadcast(s, &have, sizeof have);
  return have;
}

struct stream_status peers_write_column(struct streams *s, int64_t stream, enum type_word type,
                                        enum cvl_elem elem, const void *data, uint64_t length) {
  return peers_shared(s, peers_is_first(s)
                             ? stream_write_column(s, stream, type, elem, data, length)
                             : stream_ok());
}

/* ---- reading ---- */

/* Gives all processes the value that the first one has read. A process without memory for it
 * fails as reading does. */
static struct stream_status shared_value(struct streams *s, struct stream_status status,
                                         struct stream_value *out) {
  struct {
    uint64_t elem, length;
  } head = {out->elem, out->length};
  peers_broadcast(s, &head, sizeof head);
  if (!peers_is_first(s)) {
    const size_t bytes = (size_t)head.length * elem_info((enum cvl_elem)head.elem)->bytes;
    *out = (struct stream_value){.elem = (enum cvl_elem)head.elem, .length = head.length};
    out->data = heap_alloc(s->heap, bytes);
    out->bytes = out->data ? bytes : 0;
    if (!out->data) {
      out->length = 0;
      status = stream_no_memory(bytes);
    }
  }
  /* A process without memory cannot take the bytes, so either all have it, or none gets them.
   */
  uint8_t lacking = !peers_is_first(s) && !out->data;
  if (s->peers.any && s->peers.any(s->peers.with, lacking)) {
    out->length = 0;
    return stream_no_memory((size_t)head.length * elem_info((enum cvl_elem)head.elem)->bytes);
  }
  peers_broadcast(s, out->data, (size_t)out->length * elem_info(out->elem)->bytes);
  return peers_shared(s, status);
}

struct stream_status peers_read_value(struct streams *s, int64_t stream, enum type_word type,
                                      struct widths widths, struct stream_value *out) {
  struct stream_status status = stream_ok();
  *out = (struct stream_value){.length = 0};
  if (peers_is_first(s)) status = stream_read_value(s, stream, type, widths, out);
  return shared_value(s, status, out);
}

struct stream_status peers_read_chars(struct streams *s, int64_t stream,
                                      const bool delimiters[256], int64_t max,
                                      enum cvl_elem int_elem, struct stream_value *out,
                                      int64_t *stop) {
  struct stream_status status = stream_ok();
  *out = (struct stream_value){.length = 0};
  if (peers_is_first(s))
    status = stream_read_chars(s, stream, delimiters, max, int_elem, out, stop);
  peers_broadcast(s, stop, sizeof *stop);
  return shared_value(s, status, out);
}

/* ---- opening and closing ---- */

struct stream_status peers_open_arguments(struct streams *s, int64_t *stream) {
  struct stream_status status = stream_ok();
  if (peers_is_first(s)) status = stream_open_arguments(s, stream);
  return shared_number(s, status, stream);
}

struct stream_status peers_open(struct streams *s, const char *name, size_t length,
                                enum stream_mode mode, bool columns, int64_t *stream) {
  struct stream_status status = stream_ok();
  if (peers_is_first(s))
    status = (columns ? stream_open_columns : stream_open)(s, name, length, mode, stream);
  return shared_number(s, status, stream);
}

struct stream_status peers_close(struct streams *s, int64_t stream) {
  struct stream_status status = stream_ok();
  if (peers_is_first(s)) status = stream_close(s, stream);
  uint8_t wanted = s->results_wanted;
  peers_broadcast(s, &wanted, sizeof wanted);
  s->results_wanted = wanted;
  return peers_shared(s, status);
}

struct stream_status peers_spawn(struct streams *s, const char *command, size_t length,
                                 int64_t in_out_err[3]) {
  struct stream_status status = stream_ok();
  if (peers_is_first(s)) status = stream_spawn(s, command, length, in_out_err);
  peers_broadcast(s, in_out_err, 3 * sizeof *in_out_err);
  return peers_shared(s, status);
}
