/* io.c - the I/O instructions on machine values. Each takes its operands to the host, makes
 * one call of streams.h, and returns the outcome as values and a status block.
 */
#include "vinterp/io/io.h"
#include "cvl/processes.h"
#include "ir/kinds.h"
#include "vinterp/io/peers.h"
#include "vinterp/io/print.h"
#include "vinterp/machine/machine-private.h"
#include <string.h>

enum { TRANSFER = 1024 }; /* elements converted at a time between bytes and INT */

/* An instruction that is being executed. */
struct call {
  struct machine *m;
  const struct machine_site *site;
  enum type_word type;
  const struct value *operands;
  struct value *results;
  unsigned done; /* number of results that are set; they are released if the instruction
                    fails */
};

/* INT elements of either width, as in host memory. */
union ints {
  int32_t i32[TRANSFER];
  int64_t i64[TRANSFER];
};

/* ---- operands ---- */

/* Finds the value of the INT scalar operand k. */
static bool scalar_operand(const struct call *c, unsigned k, const char *role, int64_t *x) {
  uint64_t length;
  if (!machine_length(c->m, c->site, &c->operands[k], &length)) return false;
  if (length != 1) {
    return machine_fault(c->m, c->site,
                         "operand %u (the %s) must be a scalar, but its length is %llu", k,
                         role, (unsigned long long)length);
  }
  return machine_int(c->m, c->site, &c->operands[k], x);
}

static int64_t io_int_at(const struct machine *m, const union ints *buffer, uint64_t i) {
  return m->widths.int_elem == CVL_I32 ? buffer->i32[i] : buffer->i64[i];
}

/* Visits the elements of the INT operand k, each of which must be a character. */
static bool each_char(const struct call *c, unsigned k, const char *role, uint64_t length,
                      void (*visit)(void *self, uint64_t i, uint8_t byte), void *self) {
  union ints buffer;
  for (uint64_t first = 0; first < length; first += TRANSFER) {
    uint64_t n = length - first < TRANSFER ? length - first : TRANSFER;
    if (!machine_to_host(c->m, c->site, &c->operands[k], first, n, &buffer)) return false;
    for (uint64_t i = 0; i < n; i++) {
      int64_t x = io_int_at(c->m, &buffer, i);
      if (x < 0 || x > 255) {
        return machine_fault(c->m, c->site,
                             "operand %u (the %s) has %lld at position %llu, which is no "
                             "character (0 to 255)",
                             k, role, (long long)x, (unsigned long long)(first + i));
      }
      visit(self, first + i, (uint8_t)x);
    }
  }
  return true;
}

static void store_byte(void *bytes, uint64_t i, uint8_t byte) {
  ((uint8_t *)bytes)[i] = byte;
}
static void store_member(void *set, uint64_t i, uint8_t byte) {
  (void)i;
  ((bool *)set)[byte] = true;
}

/* Returns the first operand, an INT, as bytes in host memory, for heap_free(m->heap, bytes,
 * length). */
static char *string_operand(const struct call *c, const char *role, uint64_t *length) {
  if (!machine_length(c->m, c->site, &c->operands[0], length)) return NULL;
  char *bytes = heap_alloc(c->m->heap, (size_t)*length);
  if (!bytes) {
    machine_memory_fault(c->m, c->site, *length);
    return NULL;
  }
  if (!each_char(c, 0, role, *length, store_byte, bytes)) {
    heap_free(c->m->heap, bytes, (size_t)*length);
    return NULL;
  }
  return bytes;
}

/* ---- results ---- */

static void io_push(struct call *c, struct value v) {
  c->results[c->done++] = v;
}
static void push_int(struct call *c, int64_t x) {
  io_push(c, machine_scalar_int(c->m, x));
}

/* Pushes a value that was read, and frees its host memory. */
static bool push_read_value(struct call *c, struct stream_value *v) {
  struct value result;
  bool ok = c->type == TW_SEGDES
                ? machine_segdes(c->m, c->site, v->length, v->data, &result)
                : machine_from_host(c->m, c->site, v->elem, v->length, v->data, &result);
  stream_value_free(c->m->streams, v);
  if (ok) io_push(c, result);
  return ok;
}

/* Pushes a message of less than TRANSFER bytes as characters. */
static bool push_message(struct call *c, const char *message) {
  union ints buffer;
  uint64_t n = strlen(message);
  for (uint64_t i = 0; i < n; i++) {
    if (c->m->widths.int_elem == CVL_I32) {
      buffer.i32[i] = (uint8_t)message[i];
    } else {
      buffer.i64[i] = (uint8_t)message[i];
    }
  }
  struct value result;
  if (!machine_from_host(c->m, c->site, c->m->widths.int_elem, n, &buffer, &result))
    return false;
  io_push(c, result);
  return true;
}

/* Pushes the two results that end those of every instruction. */
static bool push_status(struct call *c, struct stream_status status) {
  if (status.memory) return machine_memory_fault(c->m, c->site, status.memory);
  if (!push_message(c, status.message)) return false;
  io_push(c, machine_scalar_bool(status.ok));
  return true;
}

/* ---- the instructions ---- */

/* Hands the operand to a stream that is an array. */
static bool write_column(struct call *c, int64_t stream) {
  uint64_t length;
  const enum cvl_elem elem = c->type == TW_FLOAT    ? c->m->widths.float_elem
                             : c->type == TW_BOOL   ? CVL_BOOL
                             : c->type == TW_SEGDES ? CVL_I64
                                                    : c->m->widths.int_elem;
  if (value_kind(&c->operands[0]) != ir_word_tag(c->type)) {
    return machine_fault(c->m, c->site, "operand 0 is no value for a file of arrays");
  }
  if (!machine_length(c->m, c->site, &c->operands[0], &length)) return false;
  const size_t bytes = (size_t)length * elem_info(elem)->bytes;
  void *data = heap_alloc(c->m->heap, bytes);
  if (!data) return machine_memory_fault(c->m, c->site, bytes);
  bool ok = machine_to_host(c->m, c->site, &c->operands[0], 0, length, data);
  struct stream_status status = {.ok = false};
  if (ok) status = peers_write_column(c->m->streams, stream, c->type, elem, data, length);
  heap_free(c->m->heap, data, bytes);
  return ok && push_status(c, status);
}

static bool io_write_value(struct call *c, int64_t stream, bool exact) {
  struct stream_sink to;
  if (peers_have_columns(c->m->streams, stream)) return write_column(c, stream);
  stream_sink_init(&to, c->m->streams, stream);
  bool printed = c->type == TW_CHAR
                     ? print_chars(c->m, c->site, &c->operands[0], &to.consumer)
                     : print_value(c->m, c->site, &c->operands[0], exact, &to.consumer);
  if (!printed && to.status.ok) return false; /* the value could not be fetched */
  if (printed) to.status = peers_flush(c->m->streams, stream);
  return push_status(c, to.status);
}

static bool fwrite_value(struct call *c) {
  int64_t stream;
  return scalar_operand(c, 1, "stream", &stream) &&
         io_write_value(c, stream, c->m->program->exact_floats);
}

static bool io_read_value(struct call *c, int64_t stream) {
  struct stream_value v;
  struct stream_status status =
      peers_read_value(c->m->streams, stream, c->type, c->m->widths, &v);
  /* The message lives until the next failure of a call on the streams, and freeing does not
   * fail. */
  return push_read_value(c, &v) && push_status(c, status);
}

static bool fread_value(struct call *c) {
  int64_t stream;
  return scalar_operand(c, 0, "stream", &stream) && io_read_value(c, stream);
}

static bool fread_chars(struct call *c) {
  bool delimiters[256] = {false};
  uint64_t length;
  int64_t max, stream, stop;
  if (!machine_length(c->m, c->site, &c->operands[0], &length) ||
      !each_char(c, 0, "delimiters", length, store_member, delimiters) ||
      !scalar_operand(c, 1, "limit", &max) || !scalar_operand(c, 2, "stream", &stream)) {
    return false;
  }
  struct stream_value v;
  struct stream_status status = peers_read_chars(c->m->streams, stream, delimiters, max,
                                                 c->m->widths.int_elem, &v, &stop);
  if (!push_read_value(c, &v)) return false;
  push_int(c, stop);
  return push_status(c, status);
}

static bool is_array_mode(int64_t mode) {
  return (mode >= STREAM_READ_NPY && mode <= STREAM_WRITE_NPZ) || mode == STREAM_READ_CSV ||
         mode == STREAM_WRITE_CSV;
}

static bool io_open_file(struct call *c) {
  int64_t mode, stream;
  if (!scalar_operand(c, 1, "mode", &mode)) return false;
  if (mode == STREAM_ARGUMENTS) {
    const struct stream_status status = peers_open_arguments(c->m->streams, &stream);
    push_int(c, stream);
    return push_status(c, status);
  }
  const bool text = (mode >= STREAM_READ && mode <= STREAM_APPEND) || mode == STREAM_REPLACE;
  if (!text && !is_array_mode(mode)) {
    return machine_fault(c->m, c->site,
                         "operand 1 (the mode) is %lld; it must be 1 (read), 2 (write) or 3 "
                         "(append)",
                         (long long)mode);
  }
  uint64_t length;
  char *name = string_operand(c, "name", &length);
  if (!name) return false;
  const struct stream_status status =
      peers_open(c->m->streams, name, (size_t)length, (enum stream_mode)mode, !text, &stream);
  heap_free(c->m->heap, name, (size_t)length);
  push_int(c, stream);
  return push_status(c, status);
}

static bool close_stream(struct call *c) {
  int64_t stream;
  return scalar_operand(c, 0, "stream", &stream) &&
         push_status(c, peers_close(c->m->streams, stream));
}

static bool io_spawn(struct call *c) {
  int64_t ends[3];
  uint64_t length;
  if (!scalar_operand(c, 1, "input stream", &ends[STREAM_IN]) ||
      !scalar_operand(c, 2, "output stream", &ends[STREAM_OUT]) ||
      !scalar_operand(c, 3, "error stream", &ends[STREAM_ERR])) {
    return false;
  }
  char *command = string_operand(c, "command", &length);
  if (!command) return false;
  struct stream_status status = peers_spawn(c->m->streams, command, (size_t)length, ends);
  heap_free(c->m->heap, command, (size_t)length);
  push_int(c, ends[STREAM_ERR]);
  push_int(c, ends[STREAM_OUT]);
  push_int(c, ends[STREAM_IN]);
  return push_status(c, status);
}

static bool dispatch(struct call *c, enum opcode op) {
  switch (op) {
  case OPC_WRITE: return io_write_value(c, STREAM_ERR, false);
  case OPC_FWRITE: return fwrite_value(c);
  case OPC_READ: return io_read_value(c, STREAM_IN);
  case OPC_FREAD: return fread_value(c);
  case OPC_FREAD_CHAR: return fread_chars(c);
  case OPC_FOPEN: return io_open_file(c);
  case OPC_FCLOSE: return close_stream(c);
  case OPC_SPAWN: return io_spawn(c);
  default: return machine_fault(c->m, c->site, "not an instruction of input and output");
  }
}

/* ---- the streams of the run ---- */

static void broadcast_to_peers(void *machine, void *data, uint64_t bytes) {
  const struct machine *m = machine;
  m->backend->processes->broadcast(m->context, data, bytes);
}

static bool any_peer(void *machine, bool mine) {
  const struct machine *m = machine;
  return m->backend->processes->any(m->context, mine);
}

static void find_peers(struct machine *m) {
  if (!m->backend->processes) return;
  const struct stream_peers peers = {.with = m,
                                     .first = m->backend->processes->process(m->context) == 0,
                                     .broadcast = broadcast_to_peers,
                                     .any = any_peer};
  streams_set_peers(m->streams, &peers);
}

/* Makes the streams when the first one is used. */
static bool open_streams(struct machine *m, const struct machine_site *site) {
  if (m->streams) return true;
  m->streams = streams_new(m->heap, m->options.in, m->out, m->err, &m->options.permissions);
  if (!m->streams) return machine_limit_fault(m, site, "out of memory for streams");
  streams_set_stop(m->streams, m->options.stop);
  find_peers(m);
  const bool unknown = m->options.arguments_unknown;
  streams_set_arguments(m->streams, unknown ? NULL : m->options.arguments,
                        unknown ? 1 : m->options.argument_count);
  return true;
}

/* Returns whether a program that is run repeatedly may execute this: it must not depend on
 * what the run before has left. */
static bool is_repeatable(enum opcode op) {
  return op == OPC_WRITE || op == OPC_FWRITE || op == OPC_FCLOSE;
}

bool io_execute(struct machine *m, const struct machine_site *site, enum opcode op,
                enum type_word type, const struct value *operands, struct value *results) {
  struct call c = {
      .m = m, .site = site, .type = type, .operands = operands, .results = results};
  if (m->repeated && !is_repeatable(op)) {
    return machine_fault(m, site,
                         "a program that is run repeatedly may not read, open files or start "
                         "processes");
  }
  if (!open_streams(m, site)) return false;
  /* A signal may have ended a wait, with a status that nobody should see. */
  if (dispatch(&c, op) && (!m->options.stop || machine_may_go_on(m, site))) return true;
  while (c.done > 0) value_release(&m->store, &results[--c.done]);
  return false;
}
