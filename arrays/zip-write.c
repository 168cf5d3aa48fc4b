/* zip-write.c - writes an archive of stored files (PKWARE's APPNOTE.TXT, sections 4.3 and
 * 4.5.3). */
#include "arrays/zip.h"

#include <string.h>

enum {
  VERSION = 45,   /* that has lengths of 64 bits */
  ELSEWHERE = -1, /* the length is in an extra field */
  EXTRA_ID = 1,
  FIRST_DAY = 1 << 5 | 1 /* the first of January 1980: files of equal arrays are equal */
};

/* ---- headers ---- */

static void put_le_number(struct zip *z, uint64_t x, unsigned bytes) {
  for (unsigned k = 0; k < bytes; k++) putc((int)(x >> (8 * k) & 255), z->out);
  z->written += bytes;
}

static void put_member_name(struct zip *z, const struct zip_member *m) {
  fputs(m->name, z->out);
  z->written += strlen(m->name);
}

/* Writes the fields that begin both a member's own header and its entry in the directory. */
static void put_common_fields(struct zip *z, const struct zip_member *m, unsigned extra_bytes) {
  put_le_number(z, VERSION, 2);
  put_le_number(z, 0, 2); /* flags */
  put_le_number(z, 0, 2); /* stored */
  put_le_number(z, 0, 2); /* midnight */
  put_le_number(z, FIRST_DAY, 2);
  put_le_number(z, m->check, 4);
  put_le_number(z, (uint64_t)ELSEWHERE, 4);
  put_le_number(z, (uint64_t)ELSEWHERE, 4);
  put_le_number(z, strlen(m->name), 2);
  put_le_number(z, extra_bytes, 2);
}

static void put_entry_lengths(struct zip *z, const struct zip_member *m, unsigned bytes) {
  put_le_number(z, EXTRA_ID, 2);
  put_le_number(z, bytes, 2);
  put_le_number(z, m->length, 8);
  put_le_number(z, m->length, 8);
}

static void put_header(struct zip *z, const struct zip_member *m) {
  enum { LENGTHS = 16, EXTRA = 20 };
  put_le_number(z, 0x04034b50, 4);
  put_common_fields(z, m, EXTRA);
  put_member_name(z, m);
  put_entry_lengths(z, m, LENGTHS);
}

static void put_entry(struct zip *z, const struct zip_member *m) {
  enum { LENGTHS = 24, EXTRA = 28 };
  put_le_number(z, 0x02014b50, 4);
  put_le_number(z, VERSION, 2);
  put_common_fields(z, m, EXTRA);
  put_le_number(z, 0, 2); /* no comment */
  put_le_number(z, 0, 2); /* the first disk */
  put_le_number(z, 0, 2); /* binary */
  put_le_number(z, 0, 4);
  put_le_number(z, (uint64_t)ELSEWHERE, 4);
  put_member_name(z, m);
  put_entry_lengths(z, m, LENGTHS);
  put_le_number(z, m->offset, 8);
}

/* Writes the end of the directory, with lengths of 64 bits. */
static void put_long_end(struct zip *z, uint64_t start, uint64_t bytes) {
  enum { REST = 44 }; /* bytes behind this length */
  const uint64_t count = z->members.count;
  put_le_number(z, 0x06064b50, 4);
  put_le_number(z, REST, 8);
  put_le_number(z, VERSION, 2);
  put_le_number(z, VERSION, 2);
  put_le_number(z, 0, 4); /* this disk, and that of the directory */
  put_le_number(z, 0, 4);
  put_le_number(z, count, 8);
  put_le_number(z, count, 8);
  put_le_number(z, bytes, 8);
  put_le_number(z, start, 8);
}

/* Writes the position of that end, and the last record, for readers that know no other. */
static void put_last(struct zip *z, uint64_t long_end) {
  put_le_number(z, 0x07064b50, 4);
  put_le_number(z, 0, 4);
  put_le_number(z, long_end, 8);
  put_le_number(z, 1, 4); /* disks */
  put_le_number(z, 0x06054b50, 4);
  put_le_number(z, 0, 4);
  put_le_number(z, (uint64_t)ELSEWHERE, 2);
  put_le_number(z, (uint64_t)ELSEWHERE, 2);
  put_le_number(z, (uint64_t)ELSEWHERE, 4);
  put_le_number(z, (uint64_t)ELSEWHERE, 4);
  put_le_number(z, 0, 2); /* no comment */
}

void zip_end(struct zip *z) {
  const uint64_t start = z->written;
  for (size_t i = 0; i < z->members.count; i++) put_entry(z, &z->members.items[i]);
  const uint64_t end = z->written;
  put_long_end(z, start, end - start);
  put_last(z, end);
}

/* ---- contents ---- */

/* This stream keeps only the length and the check of the bytes that are written. */
static ssize_t measure_write(void *context, const char *bytes, size_t length) {
  struct zip_member *m = context;
  m->check = zip_check(m->check, bytes, length);
  m->length += length;
  return (ssize_t)length;
}

static bool measure_member(struct zip *z, struct zip_member *m,
                           bool (*write)(void *context, FILE *), void *context) {
  const cookie_io_functions_t functions = {.write = measure_write};
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
  if (!measure_member(z, &m, write, context)) return false;
  put_header(z, &m);
  if (!write(context, z->out)) return false;
  z->written += m.length;
  *array_push(z->arena, &z->members) = m;
  return true;
}
