/* zip-read.c - the members of an archive (PKWARE's APPNOTE.TXT, sections 4.3 and 4.5.3). Every
 * number in it may be wrong.
 */
#include "arrays/zip.h"

#include <stdlib.h>
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

enum { STORED = 0, DEFLATED = 8 }; /* methods */

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
static bool find_bytes(const struct archive *a, struct zip_member *m) {
  if (!is_record(a, m->offset, HEADER, 0x04034b50))
    return damaged(a->zip, "a file in it is not where it should be");
  const uint64_t start =
      m->offset + HEADER + get(a, m->offset + 26, 2) + get(a, m->offset + 28, 2);
  if (!holds(a, start, m->stored_length)) return damaged(a->zip, "a file in it ends behind it");
  m->stored = (const char *)a->bytes + start;
  return true;
}

/* Whether it has a form that is read, and lengths that are possible: deflate makes at most 1032
 * bytes of one, so that memory is not asked for because of a number only. */
static bool is_possible(struct zip *z, const struct zip_member *m, uint64_t method,
                        bool encrypted) {
  enum { MOST_OF_ONE = 1032 };
  if (encrypted) return array_fail(z->arena, z->problem, "'%.40s' is encrypted", m->name);
  if (method != STORED && method != DEFLATED) {
    return array_fail(z->arena, z->problem,
                      "'%.40s' is compressed by method %u, which is not read: "
                      "numpy.savez_compressed uses 8, deflate",
                      m->name, (unsigned)method);
  }
  if (m->deflated ? m->length / MOST_OF_ONE <= m->stored_length : m->length == m->stored_length)
    return true;
  return array_fail(z->arena, z->problem,
                    "'%.40s' is damaged: its %zu bytes cannot hold %zu, as the archive's "
                    "directory says",
                    m->name, m->stored_length, m->length);
}

static bool take_entry(const struct archive *a, uint64_t entry) {
  enum { ENCRYPTED = 1 };
  struct zip *z = a->zip;
  const struct lengths l = lengths_of(a, entry);
  const uint64_t method = get(a, entry + 10, 2);
  struct zip_member m = {.name = arena_copy(z->arena, (const char *)a->bytes + entry + ENTRY,
                                            (size_t)get(a, entry + 28, 2)),
                         .stored_length = (size_t)l.stored,
                         .length = (size_t)l.whole,
                         .offset = l.offset,
                         .check = (uint32_t)get(a, entry + 16, 4),
                         .deflated = method == DEFLATED};
  if (!is_possible(z, &m, method, get(a, entry + 8, 2) & ENCRYPTED)) return false;
  if (!find_bytes(a, &m)) return false;
  *array_push(z->arena, &z->members) = m;
  return true;
}

/* ---- members that overlap ---- */

static int by_offset(const void *x, const void *y) {
  const struct zip_member *m = x, *n = y;
  return (m->offset > n->offset) - (m->offset < n->offset);
}

/* Whether no byte belongs to two members: else a small archive could hold as much as a large
 * one. */
static bool are_apart(const struct archive *a) {
  struct zip *z = a->zip;
  const size_t count = z->members.count;
  if (count == 0) return true;
  struct zip_member *sorted = arena_alloc(z->arena, count * sizeof *sorted);
  memcpy(sorted, z->members.items, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_offset);
  for (struct zip_member *m = sorted; m + 1 < sorted + count; m++) {
    if (m->stored + m->stored_length <= (const char *)a->bytes + m[1].offset) continue;
    return array_fail(z->arena, z->problem,
                      "the archive is damaged: '%.40s' and '%.40s' overlap", m->name,
                      m[1].name);
  }
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
  return are_apart(&a);
}

/* ---- contents ---- */

static uint32_t check_of(const struct zip *z, struct arena *arena, const char *bytes,
                         size_t length) {
  enum { STRIDE = 1 << 16 }; /* between which a run may be asked to end */
  uint32_t check = 0;
  for (size_t at = 0; at < length; at += STRIDE) {
    arena_poll(arena);
    array_passed(z->spools, STRIDE);
    check = zip_check(check, bytes + at, length - at < STRIDE ? length - at : STRIDE);
  }
  return check;
}

const char *zip_bytes(struct zip *z, const struct zip_member *m, struct arena *scratch) {
  const bool large = z->spools && m->length >= ARRAY_SPOOLED_LEAST;
  const char *bytes = !m->deflated ? m->stored
                      : large      ? zip_inflate_spooled(z, m, scratch)
                                   : zip_inflate(z, m, scratch, m->length);
  if (!bytes || check_of(z, scratch, bytes, m->length) == m->check) return bytes;
  (void)array_fail(z->arena, z->problem, "'%.40s' is damaged: its checksum is another",
                   m->name);
  return NULL;
}

const char *zip_head(struct zip *z, const struct zip_member *m, struct arena *scratch,
                     size_t *length) {
  if (*length > m->length) *length = m->length;
  return m->deflated ? zip_inflate(z, m, scratch, *length) : m->stored;
}
