/* zip-inflate.c - checks, and inflates members that are deflated, by zlib.
 *
 * All memory of zlib is that of an arena, so --memory limits it. A build without zlib computes
 * checks itself and refuses members that are deflated.
 */
#include "arrays/zip.h"

#ifdef RAVEL_HAS_ZLIB

#define ZLIB_CONST
#include <zlib.h>

/* Bytes between which a run may be asked to end; zlib counts in 32 bits, too. */
enum { STRIDE = 1 << 16 };

static uInt stride(size_t left) {
  return (uInt)(left < STRIDE ? left : STRIDE);
}

/* (Not by crc32_z, for which a wheel would need a newer system.) */
uint32_t zip_check(uint32_t check, const char *bytes, size_t length) {
  uLong state = check;
  for (size_t at = 0; at < length; at += STRIDE) {
    state = crc32(state, (const Bytef *)bytes + at, stride(length - at));
  }
  return (uint32_t)state;
}

struct inflating {
  z_stream stream;
  size_t in, out; /* bytes that are left on either side */
  int status;     /* of zlib; Z_OK while there may be more */
};

static voidpf zlib_allocate(voidpf arena, uInt count, uInt size) {
  return arena_alloc(arena, (size_t)count * size);
}

/* The arena is freed as a whole. */
static void zlib_free(voidpf arena, voidpf memory) {
  (void)arena, (void)memory;
}

static void begin_inflating(struct inflating *i, const struct zip_member *m,
                            struct arena *scratch, char *to, size_t length) {
  enum { RAW = -MAX_WBITS }; /* without zlib's own header */
  *i = (struct inflating){.in = m->stored_length, .out = length};
  i->stream = (z_stream){.zalloc = zlib_allocate, .zfree = zlib_free, .opaque = scratch};
  i->status = inflateInit2(&i->stream, RAW);
  i->stream.next_in = (const Bytef *)m->stored;
  i->stream.next_out = (Bytef *)to;
}

static void inflate_block(struct inflating *i) {
  const uInt in = stride(i->in), out = stride(i->out);
  i->stream.avail_in = in;
  i->stream.avail_out = out;
  i->status = inflate(&i->stream, Z_NO_FLUSH);
  i->in -= in - i->stream.avail_in;
  i->out -= out - i->stream.avail_out;
}

/* Sets the problem of a damaged member, of which `got` bytes were inflated. */
static bool inflate_failed(struct zip *z, const struct zip_member *m, const struct inflating *i,
                           size_t got) {
  if (i->status == Z_DATA_ERROR) {
    return array_fail(z->arena, z->problem, "'%.40s' is damaged: zlib says '%s' at byte %zu",
                      m->name, i->stream.msg ? i->stream.msg : "data error", got);
  }
  return array_fail(z->arena, z->problem,
                    "'%.40s' is damaged: decompressed it has %s%zu bytes, and the archive's "
                    "directory says %zu",
                    m->name, got == m->length ? "more than " : "", got, m->length);
}

/* Returns whether all bytes that are wanted have been inflated. A whole member must have no
 * others. */
static bool is_inflated(const struct inflating *i, const struct zip_member *m, size_t length) {
  if (length < m->length) return i->out == 0;
  return i->status == Z_STREAM_END && i->out == 0 && i->in == 0;
}

const char *zip_inflate(struct zip *z, const struct zip_member *m, struct arena *scratch,
                        size_t length) {
  struct inflating i;
  char *bytes = arena_alloc(scratch, length);
  begin_inflating(&i, m, scratch, bytes, length);
  while (i.status == Z_OK && (i.out > 0 || length == m->length)) {
    arena_poll(scratch);
    inflate_block(&i);
  }
  if (is_inflated(&i, m, length)) return bytes;
  (void)inflate_failed(z, m, &i, length - i.out);
  return NULL;
}

/* Appends the bytes of the member's next block. */
static bool advance_spilled(struct zip *z, struct inflating *i, char block[STRIDE],
                            struct spill *to) {
  struct file_problem why;
  const size_t before = i->out;
  i->stream.next_out = (Bytef *)block;
  inflate_block(i);
  array_passed(z->spills, STRIDE);
  return spill_append(to, block, before - i->out, &why) ||
         array_spill_failed(z->arena, &why, z->problem);
}

const char *zip_inflate_spilled(struct zip *z, const struct zip_member *m,
                                struct arena *scratch) {
  struct inflating i;
  struct file_problem why;
  char *block = arena_alloc(scratch, STRIDE);
  struct spill *to = array_spill(z->arena, z->spills, z->problem);
  if (!to) return NULL;
  begin_inflating(&i, m, scratch, block, m->length);
  while (i.status == Z_OK) {
    arena_poll(scratch);
    if (!advance_spilled(z, &i, block, to)) return NULL;
  }
  if (!is_inflated(&i, m, m->length)) {
    (void)inflate_failed(z, m, &i, m->length - i.out);
    return NULL;
  }
  if (spill_finish(to, &why)) return to->data;
  (void)array_spill_failed(z->arena, &why, z->problem);
  return NULL;
}

#else

#include <pthread.h>

static uint32_t check_table[256];

static void zip_inflate_make_table(void) {
  const uint32_t polynomial = UINT32_C(0xEDB88320);
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t x = byte;
    for (unsigned bit = 0; bit < 8; bit++) x = x >> 1 ^ (x & 1 ? polynomial : 0);
    check_table[byte] = x;
  }
}

uint32_t zip_check(uint32_t check, const char *bytes, size_t length) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, zip_inflate_make_table);
  check = ~check;
  for (size_t i = 0; i < length; i++) {
    check = check >> 8 ^ check_table[(check ^ (unsigned char)bytes[i]) & 255];
  }
  return ~check;
}

const char *zip_inflate(struct zip *z, const struct zip_member *m, struct arena *scratch,
                        size_t length) {
  (void)scratch, (void)length;
  (void)array_fail(z->arena, z->problem,
                   "'%.40s' is compressed, and Ravel was built without zlib; write it with "
                   "numpy.savez, not savez_compressed",
                   m->name);
  return NULL;
}

const char *zip_inflate_spilled(struct zip *z, const struct zip_member *m,
                                struct arena *scratch) {
  return zip_inflate(z, m, scratch, m->length);
}

#endif
