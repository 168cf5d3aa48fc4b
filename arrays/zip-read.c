/* zip-read.c - the members of an archive (PKWARE's APPNOTE.TXT, sections 4.3 and 4.5.3). Every
 * number in it may be wrong.
 */
#include "arrays/zip.h"

#include <string.h>

struct archive {
  struct zip *zip;
  const unsigned char *bytes;
  uint64_t length;
};

/* Where the directory is. */
struct directory {
  uint64_t start, count;
};

static bool damaged(struct zip *z, const char *what) {
  return array_fail(z->arena, z->problem, "the archive is damaged, or cut off: %s", what);
}

/* Whether so many bytes are there. */
static bool holds(const struct archive *a, uint64_t at, uint64_t bytes) {
  return at <= a->length && bytes <= a->length - at;
}

static uint64_t get(const struct archive *a, uint64_t at, unsigned bytes) {
  uint64_t x = 0;
  for (unsigned k = bytes; k-- > 0;) x = x << 8 | a->bytes[at + k];
  return x;
}

static bool is_record(const struct archive *a, uint64_t at, uint64_t bytes, uint64_t mark) {
  return holds(a, at, bytes) && get(a, at, 4) == mark;
}

/* ---- the directory ---- */

enum { END = 22, LOCATOR = 20, END_64 = 56, ENTRY = 46, HEADER = 30 };

/* The last record, behind which is only a comment. */
static bool find_end(const struct archive *a, uint64_t *at) {
  enum { LONGEST_COMMENT = 65535 };
  for (uint64_t back = END; back <= a->length && back <= END + LONGEST_COMMENT; back++) {
    *at = a->length - back;
    if (is_record(a, *at, END, 0x06054b50)) return true;
  }
  return false;
}

static bool find_directory(const struct archive *a, struct directory *d) {
  uint64_t end;
  if (!find_end(a, &end)) return damaged(a->zip, "it has no directory");
  *d = (struct directory){.start = get(a, end + 16, 4), .count = get(a, end + 10, 2)};
  if (end < LOCATOR || !is_record(a, end - LOCATOR, LOCATOR, 0x07064b50)) return true;
  const uint64_t large = get(a, end - LOCATOR + 8, 8);
  if (!is_record(a, large, END_64, 0x06064b50))
    return damaged(a->zip, "its directory is not where it should be");
  *d = (struct directory){.start = get(a, large + 48, 8), .count = get(a, large + 32, 8)};
  return true;
}

/* ---- members ---- */

/* The lengths of an entry: in its extra field, in this order, where they are all ones. */
struct lengths {
  uint64_t whole, stored, offset;
};

static void take_long(const struct archive *a, uint64_t *x, uint64_t *at, uint64_t end) {
  if (*x != UINT32_MAX || *at + 8 > end) return;
  *x = get(a, *at, 8);
  *at += 8;
}

static struct lengths lengths_of(const struct archive *a, uint64_t entry) {
  struct lengths l = {.whole = get(a, entry + 24, 4),
                      .stored = get(a, entry + 20, 4),
                      .offset = get(a, entry + 42, 4)};
  uint64_t at = entry + ENTRY + get(a, entry + 28, 2);
  const uint64_t end = at + get(a, entry + 30, 2);
  while (at + 4 <= end) {
    const uint64_t id = get(a, at, 2), bytes = get(a, at + 2, 2);
    uint64_t field = at + 4;
    at = field + bytes;
    if (id != 1 || at > end) continue;
    take_long(a, &l.whole, &field, at);
    take_long(a, &l.stored, &field, at);
    take_long(a, &l.offset, &field, at);
  }
  return l;
}

/* Finds the bytes behind the header of a member. */
static bool find_bytes(const struct archive *a, const struct lengths *l, struct zip_member *m) {
  if (!is_record(a, l->offset, HEADER, 0x04034b50))
    return damaged(a->zip, "a file in it is not where it should be");
  const uint64_t start =
      l->offset + HEADER + get(a, l->offset + 26, 2) + get(a, l->offset + 28, 2);
  if (!holds(a, start, l->stored)) return damaged(a->zip, "a file in it ends behind it");
  m->bytes = (const char *)a->bytes + start;
  m->length = (size_t)l->stored;
  return true;
}

static bool take_entry(const struct archive *a, uint64_t entry) {
  enum { STORED = 0, ENCRYPTED = 1 };
  struct zip *z = a->zip;
  const struct lengths l = lengths_of(a, entry);
  struct zip_member m = {.name = arena_copy(z->arena, (const char *)a->bytes + entry + ENTRY,
                                            (size_t)get(a, entry + 28, 2)),
                         .check = (uint32_t)get(a, entry + 16, 4)};
  if (get(a, entry + 10, 2) != STORED || get(a, entry + 8, 2) & ENCRYPTED) {
    return array_fail(z->arena, z->problem,
                      "'%.40s' is compressed; write it with numpy.savez, not savez_compressed",
                      m.name);
  }
  if (!find_bytes(a, &l, &m)) return false;
  if (zip_check(0, m.bytes, m.length) != m.check) {
    return array_fail(z->arena, z->problem, "'%.40s' is damaged: its checksum is another",
                      m.name);
  }
  *array_push(z->arena, &z->members) = m;
  return true;
}

bool zip_read(struct zip *z, const char *bytes, size_t length) {
  const struct archive a = {z, (const unsigned char *)bytes, length};
  struct directory d = {0};
  if (!find_directory(&a, &d)) return false;
  uint64_t entry = d.start;
  for (uint64_t i = 0; i < d.count; i++) {
    arena_poll(z->arena);
    if (!is_record(&a, entry, ENTRY, 0x02014b50)) return damaged(z, "its directory ends early");
    const uint64_t next = entry + ENTRY + get(&a, entry + 28, 2) + get(&a, entry + 30, 2) +
                          get(&a, entry + 32, 2);
    if (!holds(&a, entry, next - entry)) return damaged(z, "its directory ends early");
    if (!take_entry(&a, entry)) return false;
    entry = next;
  }
  return true;
}
