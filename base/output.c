/* output.c - see output.h. */
#include "base/output.h"

void output_flush(struct output *o) {
  o->failed |= fwrite(o->bytes, 1, o->used, o->file) != o->used;
  o->used = 0;
}

void output_bytes(struct output *o, const char *bytes, size_t n) {
  if (n > OUTPUT_BYTES) {
    output_flush(o);
    o->failed |= fwrite(bytes, 1, n, o->file) != n;
    return;
  }
  memcpy(output_room(o, n), bytes, n);
  o->used += n;
}
