/* printed.c - what programs print goes nowhere, but its end is kept: `error` prints its text.
 */
#include "libravel/private.h"

#include <string.h>

/* Keeps the end of what was printed. */
static ssize_t keep(void *context, const char *bytes, size_t n) {
  struct ravel_printed *p = &((struct ravel_context *)context)->printed;
  const size_t most = sizeof p->bytes, taken = n < most ? n : most;
  if (p->length + taken > most) {
    const size_t kept = most - taken;
    memmove(p->bytes, p->bytes + p->length - kept, kept);
    p->length = kept;
  }
  memcpy(p->bytes + p->length, bytes + n - taken, taken);
  p->length += taken;
  return (ssize_t)n;
}

FILE *ravel_printed_open(struct ravel_context *c) {
  return fopencookie(c, "w", (cookie_io_functions_t){.write = keep});
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
