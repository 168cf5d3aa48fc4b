/* printed.c - what programs print goes to the caller's function, if there is one. Its end is
 * kept in every case: `error` prints its text.
 */
#include "libravel/private.h"

#include <string.h>

/* Keeps the end of what was printed. */
static void keep_printed(struct ravel_printed *p, const char *bytes, size_t n) {
  const size_t most = sizeof p->bytes, taken = n < most ? n : most;
  if (p->length + taken > most) {
    const size_t kept = most - taken;
    memmove(p->bytes, p->bytes + p->length - kept, kept);
    p->length = kept;
  }
  memcpy(p->bytes + p->length, bytes + n - taken, taken);
  p->length += taken;
}

/* A program that could not print goes on with a status that it may ignore: the call is asked to
 * end instead. */
static ssize_t print_for_caller(void *context, const char *bytes, size_t n) {
  struct ravel_context *c = context;
  keep_printed(&c->printed, bytes, n);
  if (!c->write || c->silent || c->unwritten) return (ssize_t)n;
  ravel_callback_begin(c);
  c->unwritten = !c->write(c->write_data, bytes, n);
  ravel_callback_end(c);
  if (c->unwritten) atomic_store(&c->stop.refused, true);
  return (ssize_t)n;
}

FILE *ravel_printed_open(struct ravel_context *c) {
  return fopencookie(c, "w", (cookie_io_functions_t){.write = print_for_caller});
}

void ravel_set_silent(struct ravel_context *c, bool silent) {
  fflush(c->out);
  c->silent = silent;
}

const char *ravel_printed_by_error(struct ravel_context *c, struct arena *arena) {
  static const char mark[] = "ERROR: ";
  enum { MARK = sizeof mark - 1 };
  const struct ravel_printed *p = &c->printed;
  fflush(c->out);
  for (size_t at = p->length; at >= MARK; at--) {
    if (memcmp(p->bytes + at - MARK, mark, MARK) != 0) continue;
    size_t end = p->length;
    while (end > at && p->bytes[end - 1] == '\n') end--;
    return arena_copy(arena, p->bytes + at, end - at);
  }
  return NULL;
}

void ravel_on_output(struct ravel_context *c,
                     bool (*write)(void *data, const char *bytes, size_t count), void *data) {
  if (!ravel_begin(c)) return;
  c->write = write;
  c->write_data = data;
}

bool ravel_write_file(void *file, const char *bytes, size_t count) {
  return fwrite(bytes, 1, count, file) == count && fflush(file) == 0;
}
