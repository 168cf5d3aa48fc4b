/* test-spill.c - temporary files that are written once and mapped. */
#include "base/spill.h"
#include "base/tests/memory.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/ravel-spool-XXXXXX";
static struct file_problem problem;
static struct spill spill;

static void spill_enter(void) {
  memory_begin();
  strcpy(directory + strlen(directory) - 6, "XXXXXX");
  cr_assert(mkdtemp(directory));
}

static void spill_leave(void) {
  cr_expect_eq(rmdir(directory), 0, "a file was left behind");
  memory_end();
}

TestSuite(spill, .init = spill_enter, .fini = spill_leave);

static unsigned descriptors(void) {
  unsigned n = 0;
  DIR *d = opendir("/proc/self/fd");
  while (readdir(d)) n++;
  closedir(d);
  return n;
}

/* Appends the numbers from first on, so many at a time. */
static bool test_spill_append(uint64_t first, uint64_t count, uint64_t at_a_time) {
  static uint64_t numbers[50000];
  for (uint64_t done = 0; done < count; done += at_a_time) {
    for (uint64_t i = 0; i < at_a_time; i++) numbers[i] = first + done + i;
    if (!spill_append(&spill, numbers, at_a_time * sizeof *numbers, &problem)) return false;
  }
  return true;
}

static void test_spill_begin(void) {
  cr_assert(spill_begin(&spill, &heap, directory, &problem), "%s", problem.text);
}

Test(spill, all_bytes_are_there_in_order) {
  const unsigned before = descriptors();
  test_spill_begin();
  cr_assert(test_spill_append(0, 30, 1) && test_spill_append(30, 99990, 30) &&
            test_spill_append(100020, 100000, 50000) && test_spill_append(200020, 9, 3));
  cr_assert(spill_finish(&spill, &problem), "%s", problem.text);
  cr_assert_eq(spill.length, 200029 * sizeof(uint64_t));
  const uint64_t *numbers = spill.data;
  for (uint64_t i = 0; i < 200029; i++) cr_assert_eq(numbers[i], i);
  cr_expect_eq(heap.live, 0, "the buffer is gone");
  spill_end(&spill);
  cr_expect_eq(descriptors(), before);
}

Test(spill, the_end_may_be_written_again) {
  test_spill_begin();
  cr_assert(test_spill_append(0, 40000, 1) && test_spill_append(7, 1, 1));
  cr_assert(spill_cut(&spill, 100 * sizeof(uint64_t), &problem));
  cr_assert(test_spill_append(100, 900, 1) && spill_cut(&spill, 8000, &problem) &&
            test_spill_append(1000, 1, 1));
  cr_assert(spill_finish(&spill, &problem));
  cr_assert_eq(spill.length, 1001 * sizeof(uint64_t));
  for (uint64_t i = 0; i <= 1000; i++) cr_assert_eq(((const uint64_t *)spill.data)[i], i);
  spill_end(&spill);
}

Test(spill, an_empty_one_has_bytes_too) {
  test_spill_begin();
  cr_assert(spill_finish(&spill, &problem));
  cr_expect_eq(spill.length, 0);
  cr_expect_not_null(spill.data);
  spill_give_back(&spill, 0, 10);
  spill_end(&spill);
  spill_end(&spill); /* ends nothing */
}

/* Pages of the spill that are in the memory of this process. */
static uint64_t resident(void) {
  char line[256];
  uint64_t kilobytes = 0, test_spill_begin, end;
  bool found = false;
  FILE *maps = fopen("/proc/self/smaps", "r");
  while (fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%lx-%lx ", &test_spill_begin, &end) == 2)
      found = test_spill_begin == (uintptr_t)spill.data;
    else if (found && sscanf(line, "Rss: %lu kB", &kilobytes) == 1)
      break;
  }
  fclose(maps);
  return kilobytes << 10;
}

static uint64_t spill_sum(void) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < spill.length / sizeof total; i++)
    total += ((const uint64_t *)spill.data)[i];
  return total;
}

Test(spill, pages_are_given_back_and_read_again) {
  const uint64_t count = 1000000, wanted = count * (count - 1) / 2;
  test_spill_begin();
  cr_assert(test_spill_append(0, count, 50000) && spill_finish(&spill, &problem));
  cr_assert_eq(spill_sum(), wanted);
  cr_expect_geq(resident(), spill.length);
  spill_give_back(&spill, 0, spill.length / 2);
  cr_expect_leq(resident(), spill.length / 2 + (4 << 20));
  spill_give_back(&spill, 5, UINT64_MAX);
  cr_expect_eq(resident(), 0);
  spill_give_back(&spill, spill.length, 1);
  cr_expect_eq(spill_sum(), wanted);
  spill_end(&spill);
}

Test(spill, the_folder_is_that_of_the_environment) {
  setenv("TMPDIR", "/nowhere/at/all", 1);
  cr_expect_not(spill_begin(&spill, &heap, NULL, &problem));
  cr_expect_eq(problem.error, ENOENT);
  cr_expect_str_eq(problem.text,
                   "a temporary file cannot be created in /nowhere/at/all: No such file or "
                   "directory; TMPDIR=FOLDER chooses another folder for temporary files");
  cr_expect_not(spill_begin(&spill, &heap, "/nowhere", &problem));
  cr_expect_str_eq(problem.text, "a temporary file cannot be created in /nowhere: No such file "
                                 "or directory");
  for (int set = 0; set < 2; set++) {
    if (set) setenv("TMPDIR", "", 1); /* as if it were not set */
    if (!set) unsetenv("TMPDIR");
    cr_assert(spill_begin(&spill, &heap, NULL, &problem));
    cr_expect(strcmp(spill.folder, "/var/tmp") == 0 || access("/var/tmp", W_OK) != 0);
    spill_end(&spill);
  }
}

Test(spill, memory_for_the_buffer_may_be_lacking) {
  const unsigned before = descriptors();
  heap.fail_at = 1;
  cr_expect_not(spill_begin(&spill, &heap, directory, &problem));
  cr_expect_eq(problem.error, ENOMEM);
  cr_expect_str_eq(problem.text, "out of memory");
  cr_expect_eq(descriptors(), before);
}

Test(spill, writing_ends_when_it_is_asked_to) {
  const atomic_int signal = SIGINT;
  const struct stop stop = {.signal = &signal};
  test_spill_begin();
  cr_expect(test_spill_append(0, 50000, 50000));
  heap.stop = &stop;
  cr_expect_not(test_spill_append(0, 50000, 50000));
  cr_expect_eq(problem.error, ECANCELED);
  spill_end(&spill);
  heap.stop = NULL;
}

/* ---- a full disk ---- */

/* Runs a test in a process whose files may have so many bytes: 0 if it returns true. */
static int spill_limited(uint64_t bytes, bool (*test)(void)) {
  const struct rlimit limit = {bytes, bytes};
  int status;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    _exit(setrlimit(RLIMIT_FSIZE, &limit) == 0 && test() ? 0 : 1);
  }
  waitpid(child, &status, 0);
  return status;
}

static bool says(const char *text) {
  const bool same = problem.error == EFBIG && strstr(problem.text, text);
  if (!same) fprintf(stderr, "%d: %s\n", problem.error, problem.text);
  return same;
}

static bool grows_too_large(void) {
  return spill_begin(&spill, &heap, directory, &problem) &&
         test_spill_append(0, 20000, 1) == false &&
         says("needs at least 128 KiB, and no file may have more than 100 KiB");
}

static bool is_too_large(void) {
  return spill_begin(&spill, &heap, directory, &problem) &&
         spill_reserve(&spill, 100 << 10, &problem) &&
         !spill_reserve(&spill, 3 << 20, &problem) &&
         says("needs 3.0 MiB, and no file may have more than 100 KiB");
}

static bool ends_too_large(void) {
  return spill_begin(&spill, &heap, directory, &problem) && test_spill_append(0, 13000, 1) &&
         !spill_finish(&spill, &problem) && says("needs at least 102 KiB");
}

Test(spill, a_full_disk_is_an_error) {
  cr_expect_eq(spill_limited(100 << 10, grows_too_large), 0);
  cr_expect_eq(spill_limited(100 << 10, is_too_large), 0);
  cr_expect_eq(spill_limited(100 << 10, ends_too_large), 0);
}

/* More than any file system of a test has. */
Test(spill, room_that_is_not_there_is_known_before) {
  const uint64_t too_much = UINT64_C(1) << 43; /* that ext4 lets a file have */
  unsetenv("TMPDIR");
  cr_assert(spill_begin(&spill, &heap, NULL, &problem));
  cr_expect_not(spill_reserve(&spill, too_much, &problem));
  if (problem.error == ENOSPC) {
    cr_expect(strstr(problem.text, " needs 8.0 TiB, and its file system"), "%s", problem.text);
    cr_expect(strstr(problem.text, " left; TMPDIR=FOLDER chooses another folder"), "%s",
              problem.text);
  }
  spill_end(&spill);
}

/* Every system call that may fail does so once: descriptors run out, and addresses do. */
static bool without_descriptors(void) {
  const struct rlimit none = {0, 0};
  return setrlimit(RLIMIT_NOFILE, &none) == 0 &&
         !spill_begin(&spill, &heap, directory, &problem) && problem.error == EMFILE &&
         heap.live == 0;
}

static bool without_addresses(void) {
  const struct rlimit few = {1 << 20, 1 << 20};
  return spill_begin(&spill, &heap, directory, &problem) &&
         test_spill_append(0, 1000000, 50000) && setrlimit(RLIMIT_AS, &few) == 0 &&
         !spill_finish(&spill, &problem) && problem.error == ENOMEM &&
         strstr(problem.text, "cannot be mapped in ") && (spill_end(&spill), heap.live == 0);
}

Test(spill, what_the_system_lacks_is_an_error) {
  cr_expect_eq(spill_limited(1 << 30, without_descriptors), 0);
  cr_expect_eq(spill_limited(1 << 30, without_addresses), 0);
}
