/* text.c - see text.h. */
#include "base/text.h"

#include <errno.h>
#include <string.h>

/* Makes room for more bytes and a NUL. */
static bool text_reserve(struct text *t, size_t more) {
  enum { FIRST = 256 };
  size_t wanted = t->capacity ? t->capacity : FIRST;
  if (more >= SIZE_MAX / 2 - t->length) return false;
  while (wanted - t->length <= more) wanted *= 2;
  if (wanted == t->capacity) return true;
  char *bytes = heap_grow(t->heap, t->bytes, t->capacity, wanted);
  if (!bytes) return false;
  t->bytes = bytes;
  t->capacity = wanted;
  return true;
}

/* This is the stream's write. */
static ssize_t text_write(void *cookie, const char *bytes, size_t length) {
  struct text *t = cookie;
  if (t->lost || !text_reserve(t, length)) {
    t->lost = true;
    errno = ENOMEM;
    return 0;
  }
  memcpy(t->bytes + t->length, bytes, length);
  t->length += length;
  t->bytes[t->length] = '\0';
  return (ssize_t)length;
}

bool text_begin(struct text *t, struct heap *heap) {
  *t = (struct text){.heap = heap};
  if (!text_reserve(t, 0)) return false;
  t->bytes[0] = '\0';
  t->stream = fopencookie(t, "w", (cookie_io_functions_t){.write = text_write});
  if (t->stream) return true;
  text_free(t);
  return false;
}

bool text_flush(struct text *t) {
  return (fflush(t->stream) == 0) & !t->lost;
}

void text_clear(struct text *t) {
  (void)text_flush(t);
  clearerr(t->stream);
  t->lost = false;
  t->length = 0;
  t->bytes[0] = '\0';
}

bool text_end(struct text *t) {
  const bool closed = fclose(t->stream) == 0;
  t->stream = NULL;
  return closed && !t->lost;
}

void text_free(struct text *t) {
  t->lost = true; /* what is still in the stream is not wanted */
  if (t->stream) (void)text_end(t);
  if (!t->bytes) return;
  heap_free(t->heap, t->bytes, t->capacity);
  *t = (struct text){.heap = t->heap};
}
