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

/* The position of the directory. */
struct directory {
  uint64_t start, count;
};

static bool zip_damaged(struct zip *z, const char *what) {
  return array_fail(z->arena, z->problem, "the archive is damaged, or cut off: %s", what);
}

/* Returns whether the archive has so many bytes at this offset. */
static bool archive_holds(const struct archive *a, uint64_t at, uint64_t bytes) {
  return at <= a->length && bytes <= a->length - at;
}

static uint64_t get_number(const struct archive *a, uint64_t at, unsigned bytes) {
  uint64_t x = 0;
  for (unsigned k = bytes; k-- > 0;) x = x << 8 | a->bytes[at + k];
  return x;
}

static bool is_record(const struct archive *a, uint64_t at, uint64_t bytes, uint64_t mark) {
  return archive_holds(a, at, bytes) && get_number(a, at, 4) == mark;
}

/* ---- the directory ---- */

enum { END = 22, LOCATOR = 20, END_64 = 56, ENTRY = 46, HEADER = 30 };

/* Finds the last record, behind which is only a comment. */
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
  if (!find_end(a, &end)) return zip_damaged(a->zip, "it has no directory");
  *d = (struct directory){.start = get_number(a, end + 16, 4),
                          .count = get_number(a, end + 10, 2)};
  if (end < LOCATOR || !is_record(a, end - LOCATOR, LOCATOR, 0x07064b50)) return true;
  const uint64_t large = get_number(a, end - LOCATOR + 8, 8);
  if (!is_record(a, large, END_64, 0x06064b50))
    return zip_damaged(a->zip, "its directory is not where it should be");
  *d = (struct directory){.start = get_number(a, large + 48, 8),
                          .count = get_number(a, large + 32, 8)};
  return true;
}

/* ---- members ---- */

enum { STORED = 0, DEFLATED = 8 }; /* methods */

/* The lengths of an entry. Those that are all ones stand in its extra field, in this order. */
struct lengths {
  uint64_t whole, stored, offset;
};

static void take_long(const struct archive *a, uint64_t *x, uint64_t *at, uint64_t end) {
  if (*x != UINT32_MAX || *at + 8 > end) return;
  *x = get_number(a, *at, 8);
  *at += 8;
}

static struct lengths entry_lengths(const struct archive *a, uint64_t entry) {
  struct lengths l = {.whole = get_number(a, entry + 24, 4),
                      .stored = get_number(a, entry + 20, 4),
                      .offset = get_number(a, entry + 42, 4)};
  uint64_t at = entry + ENTRY + get_number(a, entry + 28, 2);
  const uint64_t end = at + get_number(a, entry + 30, 2);
  while (at + 4 <= end) {
    const uint64_t id = get_number(a, at, 2), bytes = get_number(a, at + 2, 2);
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
    return zip_damaged(a->zip, "a file in it is not where it should be");
  const uint64_t start =
      m->offset + HEADER + get_number(a, m->offset + 26, 2) + get_number(a, m->offset + 28, 2);
  if (!archive_holds(a, start, m->stored_length))
    return zip_damaged(a->zip, "a file in it ends behind it");
  m->stored = (const char *)a->bytes + start;
  return true;
}

/* Returns whether a member has a form that is read, and lengths that are possible. Deflate
 * makes at most 1032 bytes of one, so that memory is not asked for because of a number only. */
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
  const struct lengths l = entry_lengths(a, entry);
  const uint64_t method = get_number(a, entry + 10, 2);
  struct zip_member m = {.name = arena_copy(z->arena, (const char *)a->bytes + entry + ENTRY,
                                            (size_t)get_number(a, entry + 28, 2)),
                         .stored_length = (size_t)l.stored,
                         .length = (size_t)l.whole,
                         .offset = l.offset,
                         .check = (uint32_t)get_number(a, entry + 16, 4),
                         .deflated = method == DEFLATED};
  if (!is_possible(z, &m, method, get_number(a, entry + 8, 2) & ENCRYPTED)) return false;
  if (!find_bytes(a, &m)) return false;
  *array_push(z->arena, &z->members) = m;
  return true;
}

/* ---- members that overlap ---- */

static int by_offset(const void *x, const void *y) {
  const struct zip_member *m = x, *n = y;
  return (m->offset > n->offset) - (m->offset < n->offset);
}

/* Returns whether no byte belongs to two members. Otherwise a small archive could hold as much
 * as a large one. */
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
    if (!is_record(&a, entry, ENTRY, 0x02014b50))
      return zip_damaged(z, "its directory ends early");
    const uint64_t next = entry + ENTRY + get_number(&a, entry + 28, 2) +
                          get_number(&a, entry + 30, 2) + get_number(&a, entry + 32, 2);
    if (!archive_holds(&a, entry, next - entry))
      return zip_damaged(z, "its directory ends early");
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
    array_passed(z->spills, STRIDE);
    check = zip_check(check, bytes + at, length - at < STRIDE ? length - at : STRIDE);
  }
  return check;
}

const char *zip_bytes(struct zip *z, const struct zip_member *m, struct arena *scratch) {
  const bool large = z->spills && m->length >= ARRAY_SPILLED_LEAST;
  const char *bytes = !m->deflated ? m->stored
                      : large      ? zip_inflate_spilled(z, m, scratch)
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
