/* test-zip.c - archives whose members are deflated: what is read, and what hostile ones end in.
 */
#include "arrays/zip.h"
#include "base/tests/memory.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

TestSuite(zip, .init = memory_begin, .fini = memory_end);

/* ---- archives under construction ---- */

enum { ROOM = 1 << 16, STORED = 0, DEFLATED = 8 };

/* A member as the directory of an archive describes it, rightly at first. */
struct entry {
  const char *name;
  unsigned char data[ROOM];
  size_t length, declared;
  uint32_t check;
  unsigned method, flags;
  size_t offset;
};

struct archive {
  unsigned char bytes[4 * ROOM];
  size_t length;
};

static void zip_put(struct archive *a, uint64_t x, unsigned bytes) {
  for (; bytes-- > 0; x >>= 8) a->bytes[a->length++] = (unsigned char)x;
}

static void zip_put_bytes(struct archive *a, const void *bytes, size_t length) {
  memcpy(a->bytes + a->length, bytes, length);
  a->length += length;
}

static struct entry *deflated(const char *name, const void *bytes, size_t length) {
  struct entry *e = arena_alloc(&arena, sizeof *e);
  *e = (struct entry){.name = name, .declared = length, .method = DEFLATED};
  e->check = zip_check(0, bytes, length);
  z_stream s = {.next_in = (Bytef *)bytes, .avail_in = (uInt)length};
  s.next_out = e->data;
  s.avail_out = ROOM;
  cr_assert_eq(deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  cr_assert_eq(deflate(&s, Z_FINISH), Z_STREAM_END);
  e->length = s.total_out;
  deflateEnd(&s);
  return e;
}

static void put_common(struct archive *a, const struct entry *e) {
  zip_put(a, 20, 2);
  zip_put(a, e->flags, 2);
  zip_put(a, e->method, 2);
  zip_put(a, 0, 4);
  zip_put(a, e->check, 4);
  zip_put(a, e->length, 4);
  zip_put(a, e->declared, 4);
  zip_put(a, strlen(e->name), 2);
  zip_put(a, 0, 2);
}

static void put_member(struct archive *a, struct entry *e) {
  e->offset = a->length;
  zip_put(a, 0x04034b50, 4);
  put_common(a, e);
  zip_put_bytes(a, e->name, strlen(e->name));
  zip_put_bytes(a, e->data, e->length);
}

static void put_directory(struct archive *a, struct entry **entries, size_t count) {
  const size_t start = a->length;
  for (size_t i = 0; i < count; i++) {
    zip_put(a, 0x02014b50, 4);
    zip_put(a, 20, 2);
    put_common(a, entries[i]);
    zip_put(a, 0, 10);
    zip_put(a, entries[i]->offset, 4);
    zip_put_bytes(a, entries[i]->name, strlen(entries[i]->name));
  }
  const size_t end = a->length;
  zip_put(a, 0x06054b50, 4);
  zip_put(a, 0, 4);
  zip_put(a, count, 2);
  zip_put(a, count, 2);
  zip_put(a, end - start, 4);
  zip_put(a, start, 4);
  zip_put(a, 0, 2);
}

static struct archive *archive_of(struct entry **entries, size_t count) {
  struct archive *a = arena_alloc(&arena, sizeof *a);
  for (size_t i = 0; i < count; i++) put_member(a, entries[i]);
  put_directory(a, entries, count);
  return a;
}

/* ---- what is read of them ---- */

/* A large member is inflated into a spill: to the same bytes, or with the same problem. */
static bool is_same_spilled(struct zip *z, const struct zip_member *m) {
  struct array_spills spills = {.heap = &heap};
  const char *whole_problem = "none", *problem = "none", **const kept = z->problem;
  z->problem = &whole_problem;
  const char *whole = zip_inflate(z, m, &arena, m->length);
  z->problem = &problem;
  z->spills = &spills;
  const char *spilled = zip_inflate_spilled(z, m, &arena);
  const bool same = !whole == !spilled && strcmp(whole_problem, problem) == 0 &&
                    (!whole || memcmp(whole, spilled, m->length) == 0);
  array_spills_end(&spills);
  z->spills = NULL;
  z->problem = kept;
  return same;
}

/* The bytes of all members, or the problem. */
static const char *problem_in(const struct archive *a, struct zip *z) {
  const char *problem = "none";
  *z = (struct zip){.arena = &arena, .problem = &problem};
  if (!zip_read(z, (const char *)a->bytes, a->length)) return problem;
  for (size_t i = 0; i < z->members.count; i++) {
    const struct zip_member *m = &z->members.items[i];
    if (m->deflated) cr_expect(is_same_spilled(z, m), "%s", m->name);
    if (!zip_bytes(z, m, &arena)) return problem;
  }
  return problem;
}

static const char *zip_problem_of(struct entry *e) {
  struct zip z;
  return problem_in(archive_of(&e, 1), &z);
}

static char text[50000];

static struct entry *of_text(void) {
  for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + i * i % 7);
  return deflated("text", text, sizeof text);
}

Test(zip, members_are_what_was_deflated) {
  struct entry *entries[] = {of_text(), deflated("empty", "", 0), deflated("x", "x", 1)};
  struct zip z;
  cr_expect_str_eq(problem_in(archive_of(entries, 3), &z), "none");
  cr_assert_eq(z.members.count, 3);
  cr_expect_arr_eq(zip_bytes(&z, &z.members.items[0], &arena), text, sizeof text);
  size_t length = 1000;
  cr_expect_arr_eq(zip_head(&z, &z.members.items[0], &arena, &length), text, 1000);
  cr_expect_eq(length, 1000);
  cr_expect_eq(*zip_head(&z, &z.members.items[2], &arena, &length), 'x');
  cr_expect_eq(length, 1);
}

Test(zip, damaged_members) {
  struct entry *e = of_text();
  e->check ^= 1;
  cr_expect_str_eq(zip_problem_of(e), "'text' is damaged: its checksum is another");
  e = of_text();
  e->declared++;
  cr_expect_str_eq(zip_problem_of(e),
                   "'text' is damaged: decompressed it has 50000 bytes, and the "
                   "archive's directory says 50001");
  e->declared -= 2;
  cr_expect_str_eq(zip_problem_of(e),
                   "'text' is damaged: decompressed it has more than 49999 bytes, "
                   "and the archive's directory says 49999");
  e = of_text();
  e->length--;
  cr_expect_neq(strstr(zip_problem_of(e), "'text' is damaged: decompressed it has "), NULL);
  e = of_text();
  e->length++; /* a byte behind the end */
  cr_expect_neq(strstr(zip_problem_of(e), "'text' is damaged: decompressed it has "), NULL);
  memset(e->data, 0xff, e->length);
  cr_expect_str_eq(zip_problem_of(e),
                   "'text' is damaged: zlib says 'invalid block type' at byte 0");
}

Test(zip, what_is_not_read) {
  struct entry *e = of_text();
  e->method = 14;
  cr_expect_str_eq(zip_problem_of(e), "'text' is compressed by method 14, which is not read: "
                                      "numpy.savez_compressed uses 8, deflate");
  e = of_text();
  e->flags = 1;
  cr_expect_str_eq(zip_problem_of(e), "'text' is encrypted");
}

/* ---- archives that would become too large ---- */

Test(zip, declared_lengths_are_possible) {
  struct entry *e = deflated("bomb", "x", 1);
  cr_assert_eq(e->length, 3);
  e->declared = UINT32_MAX - 1;
  cr_expect_str_eq(zip_problem_of(e),
                   "'bomb' is damaged: its 3 bytes cannot hold 4294967294, as the "
                   "archive's directory says");
  e->method = STORED;
  e->declared = 4;
  cr_expect_str_eq(zip_problem_of(e),
                   "'bomb' is damaged: its 3 bytes cannot hold 4, as the archive's "
                   "directory says");
}

Test(zip, members_do_not_overlap) {
  struct entry *entries[] = {of_text(), deflated("b", "bbb", 3), of_text()};
  struct archive *a = arena_alloc(&arena, sizeof *a);
  struct zip z;
  for (size_t i = 0; i < 3; i++) put_member(a, entries[i]);
  entries[2]->offset = entries[0]->offset;
  put_directory(a, entries, 3);
  cr_expect_str_eq(problem_in(a, &z), "the archive is damaged: 'text' and 'text' overlap");
}

/* A bomb that is what it says needs memory, and --memory limits it. */
Test(zip, memory_is_limited) {
  static char zeros[ROOM * 100];
  struct entry *e = deflated("zeros", zeros, sizeof zeros);
  const struct archive *a = archive_of(&e, 1);
  struct zip z;
  cr_expect_str_eq(problem_in(a, &z), "none");
  heap.limit = heap.live + sizeof zeros / 2;
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (!setjmp(guard.jump)) {
    cr_expect_fail("%s", problem_in(a, &z));
    memory_guard_end(&guard);
  }
  heap.limit = 0;
}

/* ---- any bytes ---- */

/* Whatever the bytes, the answer is a value or a sentence, or more memory than there is. */
static void zip_try_bytes(const struct archive *a, size_t length) {
  struct arena_point mark = arena_mark(&arena);
  struct array_type type = {.csv = NULL};
  struct array_columns columns;
  const char *problem = NULL;
  char *exact = malloc(length ? length : 1); /* so that tools see reads behind the end */
  memcpy(exact, a->bytes, length);
  heap.limit = heap.live + (1 << 20);
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (!setjmp(guard.jump)) {
    if (!array_guess(ARRAY_NPZ, &arena, exact, length, &type, &problem) ||
        !array_read(ARRAY_NPZ, &arena, &type, exact, length, &columns, &problem))
      cr_expect(problem && *problem);
    memory_guard_end(&guard);
  }
  heap.limit = 0;
  free(exact);
  arena_free_since(&arena, mark);
}

/* An archive with a compressed array of [int]. */
static struct archive *with_array(struct array_columns *columns) {
  struct array_type type = {.csv = NULL};
  const char *problem;
  char *bytes;
  size_t length;
  cr_assert(array_type_parse(ARRAY_NPY, &arena, "[i", 2, &type, &problem));
  FILE *out = open_memstream(&bytes, &length);
  cr_assert(array_write(ARRAY_NPY, &arena, &type, columns, out, &problem));
  fclose(out);
  struct entry *e = deflated("v.npy", bytes, length);
  free(bytes);
  return archive_of(&e, 1);
}

Test(zip, broken_archives) {
  int64_t count[] = {3}, ints[] = {1, -2, INT64_MIN};
  struct array_column column[] = {{.length = 1, .as.ints = count},
                                  {.length = 3, .as.ints = ints}};
  struct array_columns columns = {2, column}, again;
  struct archive *a = with_array(&columns);
  struct array_type type = {.csv = NULL};
  const char *problem, *bytes = (const char *)a->bytes;
  cr_assert(array_guess(ARRAY_NPZ, &arena, bytes, a->length, &type, &problem));
  cr_expect_str_eq(type.signature, "[i");
  cr_assert(array_read(ARRAY_NPZ, &arena, &type, bytes, a->length, &again, &problem));
  cr_expect_arr_eq(again.items[1].as.ints, ints, sizeof ints);
  for (size_t n = 0; n < a->length; n++) {
    zip_try_bytes(a, n);
    cr_expect_not(array_read(ARRAY_NPZ, &arena, &type, bytes, n, &again, &problem));
  }
  for (size_t i = 0; i < a->length; i++) {
    for (unsigned k = 0; k < 8; k++) {
      a->bytes[i] ^= (unsigned char)(1u << k);
      zip_try_bytes(a, a->length);
      a->bytes[i] ^= (unsigned char)(1u << k);
    }
  }
}
