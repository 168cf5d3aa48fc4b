/* test-cache.c - SHA-256, and files kept in a directory: what was kept is found whole or not at
 * all, and nothing that others may have written is found.
 */
#include "base/cache.h"
#include "base/sha256.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- SHA-256 ---- */

static const char *cache_digest_of(const char *text, size_t length, size_t step) {
  static char digits[SHA256_DIGITS + 1];
  uint8_t digest[SHA256_BYTES];
  struct sha256_state state;
  sha256_begin(&state);
  for (size_t at = 0; at < length; at += step) {
    sha256_add(&state, text + at, length - at < step ? length - at : step);
  }
  sha256_end(&state, digest);
  sha256_show(digest, digits);
  return digits;
}

/* The examples of FIPS 180-4. */
Test(sha256, is_that_of_the_standard) {
  static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  cr_expect_str_eq(cache_digest_of("", 0, 1),
                   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  cr_expect_str_eq(cache_digest_of("abc", 3, 9),
                   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  for (size_t step = 1; step <= sizeof two_blocks; step++) {
    cr_expect_str_eq(cache_digest_of(two_blocks, sizeof two_blocks - 1, step),
                     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  }
}

/* ---- the directory ---- */

struct fixture {
  char top[32], path[64]; /* a directory that is there, and one in it that is not */
};

static struct fixture cache_begin(void) {
  struct fixture p = {.top = "/tmp/ravel-cache-XXXXXX"};
  cr_assert_not_null(mkdtemp(p.top));
  snprintf(p.path, sizeof p.path, "%s/caches/ravel", p.top);
  return p;
}

static void cache_end(const struct fixture *p) {
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", p->top);
  cr_assert_eq(system(command), 0);
}

static int cache_opened(const char *path, bool make) {
  char why[CACHE_WHY];
  const int directory = cache_open(path, make ? 2 : 0, why);
  cr_assert_geq(directory, 0, "%s", why);
  return directory;
}

static void cache_expect_refused(const char *path, unsigned make, int as, const char *reason) {
  char why[CACHE_WHY];
  cr_expect_eq(cache_open(path, make, why), as);
  cr_expect(strstr(why, reason), "%s", why);
}

/* The text kept under a name; NULL: none. */
static const char *cache_found(int directory, const char *name) {
  static char text[100];
  uint64_t bytes;
  const int fd = cache_find(directory, name, &bytes);
  if (fd < 0) return NULL;
  cr_assert_lt(bytes, sizeof text);
  cr_assert_eq(read(fd, text, bytes), (ssize_t)bytes);
  text[bytes] = '\0';
  close(fd);
  return text;
}

static void test_cache_keep(int directory, const char *name, const char *text) {
  cr_assert_eq(cache_keep(directory, name, text, strlen(text)), 0);
}

static unsigned count_files(const char *path) {
  char command[128];
  unsigned count = 0;
  snprintf(command, sizeof command, "ls -A %s | wc -l", path);
  FILE *out = popen(command, "r");
  cr_assert(out && fscanf(out, "%u", &count) == 1);
  pclose(out);
  return count;
}

Test(cache, is_made_for_the_user_alone) {
  struct fixture p = cache_begin();
  struct stat s;
  cache_expect_refused(p.path, 0, CACHE_NOT_THERE, "No such file");
  cache_expect_refused(p.path, 1, CACHE_NOT_THERE, "No such file");
  const int directory = cache_opened(p.path, true);
  cr_assert_eq(fstat(directory, &s), 0);
  cr_expect_eq(s.st_mode & 0777, 0700);
  test_cache_keep(directory, "a", "first");
  test_cache_keep(directory, "a", "second");
  test_cache_keep(directory, "b", "");
  cr_expect_str_eq(cache_found(directory, "a"), "second");
  cr_expect_str_eq(cache_found(directory, "b"), "");
  cr_expect_null(cache_found(directory, "c"));
  cr_expect_eq(count_files(p.path), 2);
  close(directory);
  cache_end(&p);
}

/* A text for people has nothing behind it, and is no file to execute. */
Test(cache, keeps_texts_as_they_are) {
  struct fixture p = cache_begin();
  char text[100];
  const int directory = cache_opened(p.path, true);
  cr_assert_eq(cache_keep_text(directory, "a", "first\n", 6), 0);
  cr_assert_eq(cache_keep_text(directory, "a", "second\n", 7), 0);
  const int fd = openat(directory, "a", O_RDONLY);
  cr_expect_eq(read(fd, text, sizeof text), 7);
  cr_expect_eq(memcmp(text, "second\n", 7), 0);
  cr_expect_null(cache_found(directory, "a"));
  cr_expect_eq(count_files(p.path), 1);
  close(fd);
  close(directory);
  cache_end(&p);
}

Test(cache, refuses_what_others_may_write) {
  struct fixture p = cache_begin();
  close(cache_opened(p.path, true));
  static const mode_t modes[] = {0770, 0702, 0777, 0720};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    cr_assert_eq(chmod(p.path, modes[i]), 0);
    cache_expect_refused(p.path, 0, CACHE_NOT_TRUSTED, "chmod go-w /tmp/ravel-cache-");
    cache_expect_refused(p.path, 2, CACHE_NOT_TRUSTED, "others may write into ");
  }
  cr_assert_eq(chmod(p.path, 0755), 0);
  close(cache_opened(p.path, false));
  cache_end(&p);
}

/* Only root can give a directory away; others find the one of root. */
Test(cache, refuses_what_another_user_owns) {
  struct fixture p = cache_begin();
  if (geteuid() == 0) {
    close(cache_opened(p.path, true));
    cr_assert_eq(chown(p.path, 12345, (gid_t)-1), 0);
    cache_expect_refused(p.path, 0, CACHE_NOT_TRUSTED,
                         "belongs to user 12345 and not to user 0");
  } else {
    cache_expect_refused("/", 0, CACHE_NOT_TRUSTED, "/ belongs to user 0 and not to user ");
  }
  cache_end(&p);
}

Test(cache, says_what_is_no_directory) {
  struct fixture p = cache_begin();
  char file[64];
  snprintf(file, sizeof file, "%s/file", p.top);
  close(open(file, O_CREAT | O_WRONLY, 0600));
  cache_expect_refused(file, 0, CACHE_NOT_OPENED, "Not a directory");
  cache_expect_refused(file, 1, CACHE_NOT_OPENED, "Not a directory");
  cache_end(&p);
}

/* The directory as it was opened, whatever its path leads to later. */
Test(cache, works_in_the_directory_that_was_checked) {
  struct fixture p = cache_begin();
  const int directory = cache_opened(p.path, true);
  char moved[64];
  snprintf(moved, sizeof moved, "%s/moved", p.top);
  cr_assert_eq(rename(p.path, moved), 0);
  cr_assert_eq(mkdir(p.path, 0777), 0);
  test_cache_keep(directory, "a", "text");
  cr_expect_str_eq(cache_found(directory, "a"), "text");
  cr_expect_eq(count_files(p.path), 0);
  close(directory);
  cache_end(&p);
}

/* ---- files ---- */

static void cache_write_file(int directory, const char *name, const char *text, size_t length) {
  const int fd = openat(directory, name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  cr_assert(fd >= 0 && write(fd, text, length) == (ssize_t)length);
  close(fd);
}

Test(cache, finds_nothing_that_is_not_whole) {
  struct fixture p = cache_begin();
  const int directory = cache_opened(p.path, true);
  char whole[200];
  test_cache_keep(directory, "a", "some text");
  const int fd = openat(directory, "a", O_RDONLY);
  const ssize_t length = read(fd, whole, sizeof whole);
  close(fd);
  cr_assert_eq(length, 9 + 48);
  for (size_t i = 0; i < (size_t)length; i++) {
    cache_write_file(directory, "a", whole, i);
    cr_expect_null(cache_found(directory, "a"), "of %zu bytes", i);
    whole[i] ^= 1;
    cache_write_file(directory, "a", whole, (size_t)length);
    cr_expect_null(cache_found(directory, "a"), "byte %zu is another", i);
    whole[i] ^= 1;
  }
  whole[length] = 'x';
  cache_write_file(directory, "a", whole, (size_t)length + 1);
  cr_expect_null(cache_found(directory, "a"));
  cache_write_file(directory, "a", whole, (size_t)length);
  cr_expect_str_eq(cache_found(directory, "a"), "some text");
  close(directory);
  cache_end(&p);
}

/* Files that exchange their names, with what stands behind their contents. */
Test(cache, finds_nothing_that_was_kept_under_another_name) {
  struct fixture p = cache_begin();
  const int directory = cache_opened(p.path, true);
  test_cache_keep(directory, "a", "text");
  test_cache_keep(directory, "ab", "text");
  cr_assert_eq(renameat(directory, "a", directory, "c"), 0);
  cr_expect_null(cache_found(directory, "c"));
  cr_assert_eq(renameat(directory, "ab", directory, "a"), 0);
  cr_expect_null(cache_found(directory, "a"), "although the contents are the same");
  cr_assert_eq(renameat(directory, "c", directory, "a"), 0);
  cr_expect_str_eq(cache_found(directory, "a"), "text");
  cache_remove(directory, "a");
  cache_remove(directory, "a");
  cr_expect_null(cache_found(directory, "a"));
  close(directory);
  cache_end(&p);
}

Test(cache, finds_nothing_that_others_may_have_written) {
  struct fixture p = cache_begin();
  const int directory = cache_opened(p.path, true);
  test_cache_keep(directory, "a", "text");
  static const mode_t modes[] = {0620, 0602, 0666, 0660};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    cr_assert_eq(fchmodat(directory, "a", modes[i], 0), 0);
    cr_expect_null(cache_found(directory, "a"), "%o", modes[i]);
  }
  cr_assert_eq(fchmodat(directory, "a", 0644, 0), 0);
  cr_expect_str_eq(cache_found(directory, "a"), "text");
  if (geteuid() == 0) {
    cr_assert_eq(fchownat(directory, "a", 12345, (gid_t)-1, 0), 0);
    cr_expect_null(cache_found(directory, "a"));
    cr_assert_eq(fchownat(directory, "a", 0, (gid_t)-1, 0), 0);
  }
  cr_assert_eq(symlinkat("a", directory, "link"), 0);
  cr_expect_null(cache_found(directory, "link"));
  cr_assert_eq(mkdirat(directory, "directory", 0700), 0);
  cr_expect_null(cache_found(directory, "directory"));
  cr_assert_eq(mkfifoat(directory, "pipe", 0600), 0);
  cr_expect_null(cache_found(directory, "pipe"));
  /* Kept again, a link is replaced, and what it led to stays. */
  test_cache_keep(directory, "link", "new");
  cr_expect_str_eq(cache_found(directory, "link"), "new");
  cr_expect_str_eq(cache_found(directory, "a"), "text");
  cr_expect_eq(cache_keep(directory, "directory", "x", 1), EISDIR);
  cr_expect_eq(count_files(p.path), 4);
  close(directory);
  cache_end(&p);
}

Test(cache, gives_a_file_more_names) {
  struct fixture p = cache_begin();
  char file[100];
  const int directory = cache_opened(p.path, true);
  test_cache_keep(directory, "ravel-a.so", "text");
  cr_assert_eq(cache_link(directory, "ravel-b.so", "ravel-c.so"), 0);
  cr_assert_eq(cache_link(directory, "ravel-b.so", "ravel-a.so"), 0);
  cr_assert_eq(cache_link(directory, "ravel-d.so", "ravel-gone.so"), 0);
  cr_expect(cache_linked(directory, "ravel-b.so", file, sizeof file));
  cr_expect_str_eq(file, "ravel-a.so");
  cr_expect_not(cache_linked(directory, "ravel-b.so", file, 10), "it does not fit");
  cr_expect_not(cache_linked(directory, "ravel-a.so", file, sizeof file));
  cr_expect_not(cache_linked(directory, "ravel-none.so", file, sizeof file));
  cr_assert_eq(symlinkat("../ravel/ravel-a.so", directory, "ravel-e.so"), 0);
  cr_expect_not(cache_linked(directory, "ravel-e.so", file, sizeof file));
  cr_expect_null(cache_found(directory, "ravel-b.so"), "contents have one name");
  cr_assert_eq(mkdirat(directory, "ravel-f.so", 0700), 0);
  cr_expect_eq(cache_link(directory, "ravel-f.so", "ravel-a.so"), EISDIR);
  cr_expect_eq(count_files(p.path), 5);
  cache_make_room(directory, "ravel-", ".so", 1000);
  cr_expect_eq(count_files(p.path), 4, "links to nothing go");
  cr_expect(cache_linked(directory, "ravel-b.so", file, sizeof file));
  close(directory);
  cache_end(&p);
}

Test(cache, keeps_numbers_for_a_month) {
  struct fixture p = cache_begin();
  const int directory = cache_opened(p.path, true);
  const time_t now = time(NULL), day = 24 * 3600;
  cr_expect_eq(cache_number(directory, "ravel-none"), 0);
  cr_assert_eq(cache_keep_number(directory, "ravel-a", 1.5), 0);
  cr_assert_eq(cache_keep_number(directory, "ravel-a", 0.25), 0);
  cr_assert_eq(cache_keep_number(directory, "ravel-b", 3), 0);
  cr_assert_eq(cache_link(directory, "ravel-c", "1x"), 0);
  cr_assert_eq(cache_link(directory, "ravel-d", "-7"), 0);
  cr_expect_eq(cache_number(directory, "ravel-a"), 0.25);
  cr_expect_eq(cache_number(directory, "ravel-c"), 0);
  cr_expect_eq(cache_number(directory, "ravel-d"), 0);
  const struct timespec old[2] = {{.tv_sec = now - 31 * day}, {.tv_sec = now - 31 * day}};
  const struct timespec recent[2] = {{.tv_sec = now - 29 * day}, {.tv_sec = now - 29 * day}};
  cr_assert_eq(utimensat(directory, "ravel-a", recent, AT_SYMLINK_NOFOLLOW), 0);
  cr_assert_eq(utimensat(directory, "ravel-b", old, AT_SYMLINK_NOFOLLOW), 0);
  cache_make_room(directory, "ravel-", ".so", 1000);
  cr_expect_eq(cache_number(directory, "ravel-a"), 0.25);
  cr_expect_eq(cache_number(directory, "ravel-b"), 0);
  close(directory);
  cache_end(&p);
}

Test(cache, processes_share_it) {
  enum { PROCESSES = 3, ROUNDS = 30 };
  struct fixture p = cache_begin();
  const int directory = cache_opened(p.path, true);
  pid_t children[PROCESSES];
  for (int i = 0; i < PROCESSES; i++) {
    children[i] = fork();
    if (children[i] != 0) continue;
    bool right = true;
    for (int k = 0; k < ROUNDS; k++) {
      right &= cache_keep(directory, "a", "the text", 8) == 0;
      const char *text = cache_found(directory, "a");
      right &= text && strcmp(text, "the text") == 0;
    }
    _exit(right ? 0 : 1);
  }
  for (int i = 0; i < PROCESSES; i++) {
    int status = -1;
    cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
    cr_expect_eq(status, 0);
  }
  cr_expect_eq(count_files(p.path), 1);
  close(directory);
  cache_end(&p);
}

/* ---- work in progress, and the limit ---- */

static void cache_set_age(int directory, const char *name, int seconds) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  now.tv_sec -= seconds;
  const struct timespec both[2] = {now, now};
  cr_assert_eq(utimensat(directory, name, both, 0), 0);
}

Test(cache, scratch_is_for_the_user_alone_and_removed) {
  struct fixture p = cache_begin();
  struct stat s;
  char names[2][100];
  int scratch[2];
  const int directory = cache_opened(p.path, true);
  for (int i = 0; i < 2; i++) {
    scratch[i] = cache_begin_scratch(directory, "work", names[i], sizeof names[i]);
    cr_assert(scratch[i] >= 0 && fstat(scratch[i], &s) == 0);
    cr_expect_eq(s.st_mode & 0777, 0700);
    cache_write_file(scratch[i], "object", "text", 4);
  }
  cr_expect_str_neq(names[0], names[1]);
  cr_assert(mkdirat(scratch[0], "of", 0700) == 0 && mkdirat(scratch[0], "of/zig", 0700) == 0);
  cache_write_file(scratch[0], "of/zig/.text", "text", 4);
  cr_assert_eq(symlinkat("../..", scratch[0], "of/link"), 0);
  cache_end_scratch(directory, scratch[0], names[0]);
  cr_expect_eq(count_files(p.path), 1);
  cache_end_scratch(directory, scratch[1], names[1]);
  cr_expect_eq(count_files(p.path), 0);
  close(directory);
  cache_end(&p);
}

Test(cache, makes_room) {
  struct fixture p = cache_begin();
  char name[100];
  const int directory = cache_opened(p.path, true);
  static const char *const names[] = {"ravel-1.so", "ravel-2.so", "ravel-3.so", "ravel-4.so"};
  for (int i = 0; i < 4; i++) {
    test_cache_keep(directory, names[i], "text");
    cache_set_age(directory, names[i], 1000 - i);
  }
  cache_write_file(directory, "notes.so", "of others", 9);
  cache_write_file(directory, "ravel-5.so.1.0.tmp", "half a", 6);
  cache_set_age(directory, "ravel-5.so.1.0.tmp", 4000);
  const int scratch = cache_begin_scratch(directory, "ravel-6.so", name, sizeof name);
  cache_write_file(scratch, "object", "half a", 6);
  close(scratch);
  cache_set_age(directory, name, 4000);
  cache_write_file(directory, "ravel-7.so.1.0.tmp", "still written", 9);
  cr_assert_str_eq(cache_found(directory, names[0]), "text"); /* used just now */
  cache_make_room(directory, "ravel-", ".so", 2 * 52);
  cr_expect_not_null(cache_found(directory, names[0]));
  cr_expect_null(cache_found(directory, names[1]));
  cr_expect_null(cache_found(directory, names[2]));
  cr_expect_not_null(cache_found(directory, names[3]));
  cr_expect_eq(count_files(p.path), 4);
  close(directory);
  cache_end(&p);
}
