/* zip-write.c - an archive of stored files (PKWARE's APPNOTE.TXT, sections 4.3 and 4.5.3). */
#include "arrays/zip.h"

#include <string.h>

enum {
  VERSION = 45,   /* that has lengths of 64 bits */
  ELSEWHERE = -1, /* the length is in an extra field */
  EXTRA_ID = 1,
  FIRST_DAY = 1 << 5 | 1 /* the first of January 1980: files of equal arrays are equal */
};

/* ---- headers ---- */

static void put(struct zip *z, uint64_t x, unsigned bytes) {
  for (unsigned k = 0; k < bytes; k++) putc((int)(x >> (8 * k) & 255), z->out);
  z->written += bytes;
}

static void put_name(struct zip *z, const struct zip_member *m) {
  fputs(m->name, z->out);
  z->written += strlen(m->name);
}

/* What a member's own header and its entry in the directory begin with. */
static void put_common(struct zip *z, const struct zip_member *m, unsigned extra_bytes) {
  put(z, VERSION, 2);
  put(z, 0, 2); /* flags */
  put(z, 0, 2); /* stored */
  put(z, 0, 2); /* midnight */
  put(z, FIRST_DAY, 2);
  put(z, m->check, 4);
  put(z, (uint64_t)ELSEWHERE, 4);
  put(z, (uint64_t)ELSEWHERE, 4);
  put(z, strlen(m->name), 2);
  put(z, extra_bytes, 2);
}

static void put_lengths(struct zip *z, const struct zip_member *m, unsigned bytes) {
  put(z, EXTRA_ID, 2);
  put(z, bytes, 2);
  put(z, m->length, 8);
  put(z, m->length, 8);
}

static void put_header(struct zip *z, const struct zip_member *m) {
  enum { LENGTHS = 16, EXTRA = 20 };
  put(z, 0x04034b50, 4);
  put_common(z, m, EXTRA);
  put_name(z, m);
  put_lengths(z, m, LENGTHS);
}

static void put_entry(struct zip *z, const struct zip_member *m) {
  enum { LENGTHS = 24, EXTRA = 28 };
  put(z, 0x02014b50, 4);
  put(z, VERSION, 2);
  put_common(z, m, EXTRA);
  put(z, 0, 2); /* no comment */
  put(z, 0, 2); /* the first disk */
  put(z, 0, 2); /* binary */
  put(z, 0, 4);
  put(z, (uint64_t)ELSEWHERE, 4);
  put_name(z, m);
  put_lengths(z, m, LENGTHS);
  put(z, m->offset, 8);
}

/* The end of the directory, with lengths of 64 bits. */
static void put_long_end(struct zip *z, uint64_t start, uint64_t bytes) {
  enum { REST = 44 }; /* bytes behind this length */
  const uint64_t count = z->members.count;
  put(z, 0x06064b50, 4);
  put(z, REST, 8);
  put(z, VERSION, 2);
  put(z, VERSION, 2);
  put(z, 0, 4); /* this disk, and that of the directory */
  put(z, 0, 4);
  put(z, count, 8);
  put(z, count, 8);
  put(z, bytes, 8);
  put(z, start, 8);
}

/* Where that one is; and the last record, for those who know no other. */
static void put_last(struct zip *z, uint64_t long_end) {
  put(z, 0x07064b50, 4);
  put(z, 0, 4);
  put(z, long_end, 8);
  put(z, 1, 4); /* disks */
  put(z, 0x06054b50, 4);
  put(z, 0, 4);
  put(z, (uint64_t)ELSEWHERE, 2);
  put(z, (uint64_t)ELSEWHERE, 2);
  put(z, (uint64_t)ELSEWHERE, 4);
  put(z, (uint64_t)ELSEWHERE, 4);
  put(z, 0, 2); /* no comment */
}

void zip_end(struct zip *z) {
  const uint64_t start = z->written;
  for (size_t i = 0; i < z->members.count; i++) put_entry(z, &z->members.items[i]);
  const uint64_t end = z->written;
  put_long_end(z, start, end - start);
  put_last(z, end);
}

/* ---- contents ---- */

/* A stream that keeps nothing of what is written but its length and check. */
static ssize_t measure(void *context, const char *bytes, size_t length) {
  struct zip_member *m = context;
  m->check = zip_check(m->check, bytes, length);
  m->length += length;
  return (ssize_t)length;
}

static bool measure_all(struct zip *z, struct zip_member *m,
                        bool (*write)(void *context, FILE *), void *context) {
  const cookie_io_functions_t functions = {.write = measure};
  FILE *out = fopencookie(m, "w", functions);
  if (!out) return array_fail(z->arena, z->problem, "out of memory");
  struct memory_guard guard; /* the stream is freed separately */
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    fclose(out);
    memory_failed();
  }
  const bool fine = write(context, out);
  memory_guard_end(&guard);
  return fclose(out) == 0 && fine;
}

bool zip_add(struct zip *z, const char *name, bool (*write)(void *context, FILE *),
             void *context) {
  struct zip_member m = {.name = arena_copy(z->arena, name, strlen(name)),
                         .offset = z->written};
  if (!measure_all(z, &m, write, context)) return false;
  put_header(z, &m);
  if (!write(context, z->out)) return false;
  z->written += m.length;
  *array_push(z->arena, &z->members) = m;
  return true;
}
