/* test-spool.c - temporary files that are written once and mapped. */
#include "base/spool.h"
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
static struct spool spool;

static void enter(void) {
  memory_begin();
  strcpy(directory + strlen(directory) - 6, "XXXXXX");
  cr_assert(mkdtemp(directory));
}

static void leave(void) {
  cr_expect_eq(rmdir(directory), 0, "a file was left behind");
  memory_end();
}

TestSuite(spool, .init = enter, .fini = leave);

static unsigned descriptors(void) {
  unsigned n = 0;
  DIR *d = opendir("/proc/self/fd");
  while (readdir(d)) n++;
  closedir(d);
  return n;
}

/* Appends the numbers from first on, so many at a time. */
static bool append(uint64_t first, uint64_t count, uint64_t at_a_time) {
  static uint64_t numbers[50000];
  for (uint64_t done = 0; done < count; done += at_a_time) {
    for (uint64_t i = 0; i < at_a_time; i++) numbers[i] = first + done + i;
    if (!spool_append(&spool, numbers, at_a_time * sizeof *numbers, &problem)) return false;
  }
  return true;
}

static void begin(void) {
  cr_assert(spool_begin(&spool, &heap, directory, &problem), "%s", problem.text);
}

Test(spool, all_bytes_are_there_in_order) {
  const unsigned before = descriptors();
  begin();
  cr_assert(append(0, 30, 1) && append(30, 99990, 30) && append(100020, 100000, 50000) &&
            append(200020, 9, 3));
  cr_assert(spool_finish(&spool, &problem), "%s", problem.text);
  cr_assert_eq(spool.length, 200029 * sizeof(uint64_t));
  const uint64_t *numbers = spool.data;
  for (uint64_t i = 0; i < 200029; i++) cr_assert_eq(numbers[i], i);
  cr_expect_eq(heap.live, 0, "the buffer is gone");
  spool_end(&spool);
  cr_expect_eq(descriptors(), before);
}

Test(spool, the_end_may_be_written_again) {
  begin();
  cr_assert(append(0, 40000, 1) && append(7, 1, 1));
  cr_assert(spool_cut(&spool, 100 * sizeof(uint64_t), &problem));
  cr_assert(append(100, 900, 1) && spool_cut(&spool, 8000, &problem) && append(1000, 1, 1));
  cr_assert(spool_finish(&spool, &problem));
  cr_assert_eq(spool.length, 1001 * sizeof(uint64_t));
  for (uint64_t i = 0; i <= 1000; i++) cr_assert_eq(((const uint64_t *)spool.data)[i], i);
  spool_end(&spool);
}

Test(spool, an_empty_one_has_bytes_too) {
  begin();
  cr_assert(spool_finish(&spool, &problem));
  cr_expect_eq(spool.length, 0);
  cr_expect_not_null(spool.data);
  spool_give_back(&spool, 0, 10);
  spool_end(&spool);
  spool_end(&spool); /* ends nothing */
}

/* Pages of the spool that are in the memory of this process. */
static uint64_t resident(void) {
  char line[256];
  uint64_t kilobytes = 0, begin, end;
  bool found = false;
  FILE *maps = fopen("/proc/self/smaps", "r");
  while (fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
      found = begin == (uintptr_t)spool.data;
    else if (found && sscanf(line, "Rss: %lu kB", &kilobytes) == 1)
      break;
  }
  fclose(maps);
  return kilobytes << 10;
}

static uint64_t sum(void) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < spool.length / sizeof total; i++)
    total += ((const uint64_t *)spool.data)[i];
  return total;
}

Test(spool, pages_are_given_back_and_read_again) {
  const uint64_t count = 1000000, wanted = count * (count - 1) / 2;
  begin();
  cr_assert(append(0, count, 50000) && spool_finish(&spool, &problem));
  cr_assert_eq(sum(), wanted);
  cr_expect_geq(resident(), spool.length);
  spool_give_back(&spool, 0, spool.length / 2);
  cr_expect_leq(resident(), spool.length / 2 + (4 << 20));
  spool_give_back(&spool, 5, UINT64_MAX);
  cr_expect_eq(resident(), 0);
  spool_give_back(&spool, spool.length, 1);
  cr_expect_eq(sum(), wanted);
  spool_end(&spool);
}

Test(spool, the_folder_is_that_of_the_environment) {
  setenv("TMPDIR", "/nowhere/at/all", 1);
  cr_expect_not(spool_begin(&spool, &heap, NULL, &problem));
  cr_expect_eq(problem.error, ENOENT);
  cr_expect_str_eq(problem.text,
                   "a temporary file cannot be created in /nowhere/at/all: No such file or "
                   "directory; TMPDIR=FOLDER chooses another folder for temporary files");
  cr_expect_not(spool_begin(&spool, &heap, "/nowhere", &problem));
  cr_expect_str_eq(problem.text, "a temporary file cannot be created in /nowhere: No such file "
                                 "or directory");
  for (int set = 0; set < 2; set++) {
    if (set) setenv("TMPDIR", "", 1); /* as if it were not set */
    if (!set) unsetenv("TMPDIR");
    cr_assert(spool_begin(&spool, &heap, NULL, &problem));
    cr_expect(strcmp(spool.folder, "/var/tmp") == 0 || access("/var/tmp", W_OK) != 0);
    spool_end(&spool);
  }
}

Test(spool, memory_for_the_buffer_may_be_lacking) {
  const unsigned before = descriptors();
  heap.fail_at = 1;
  cr_expect_not(spool_begin(&spool, &heap, directory, &problem));
  cr_expect_eq(problem.error, ENOMEM);
  cr_expect_str_eq(problem.text, "out of memory");
  cr_expect_eq(descriptors(), before);
}

Test(spool, writing_ends_when_it_is_asked_to) {
  const atomic_int signal = SIGINT;
  const struct stop stop = {.signal = &signal};
  begin();
  cr_expect(append(0, 50000, 50000));
  heap.stop = &stop;
  cr_expect_not(append(0, 50000, 50000));
  cr_expect_eq(problem.error, ECANCELED);
  spool_end(&spool);
  heap.stop = NULL;
}

/* ---- a full disk ---- */

/* Runs a test in a process whose files may have so many bytes: 0 if it returns true. */
static int limited(uint64_t bytes, bool (*test)(void)) {
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
  return spool_begin(&spool, &heap, directory, &problem) && append(0, 20000, 1) == false &&
         says("needs at least 128 KiB, and no file may have more than 100 KiB");
}

static bool is_too_large(void) {
  return spool_begin(&spool, &heap, directory, &problem) &&
         spool_reserve(&spool, 100 << 10, &problem) &&
         !spool_reserve(&spool, 3 << 20, &problem) &&
         says("needs 3.0 MiB, and no file may have more than 100 KiB");
}

static bool ends_too_large(void) {
  return spool_begin(&spool, &heap, directory, &problem) && append(0, 13000, 1) &&
         !spool_finish(&spool, &problem) && says("needs at least 102 KiB");
}

Test(spool, a_full_disk_is_an_error) {
  cr_expect_eq(limited(100 << 10, grows_too_large), 0);
  cr_expect_eq(limited(100 << 10, is_too_large), 0);
  cr_expect_eq(limited(100 << 10, ends_too_large), 0);
}

/* More than any file system of a test has. */
Test(spool, room_that_is_not_there_is_known_before) {
  const uint64_t too_much = UINT64_C(1) << 43; /* that ext4 lets a file have */
  unsetenv("TMPDIR");
  cr_assert(spool_begin(&spool, &heap, NULL, &problem));
  cr_expect_not(spool_reserve(&spool, too_much, &problem));
  if (problem.error == ENOSPC) {
    cr_expect(strstr(problem.text, " needs 8.0 TiB, and its file system"), "%s", problem.text);
    cr_expect(strstr(problem.text, " left; TMPDIR=FOLDER chooses another folder"), "%s",
              problem.text);
  }
  spool_end(&spool);
}

/* Every system call that may fail does so once: descriptors run out, and addresses do. */
static bool without_descriptors(void) {
  const struct rlimit none = {0, 0};
  return setrlimit(RLIMIT_NOFILE, &none) == 0 &&
         !spool_begin(&spool, &heap, directory, &problem) && problem.error == EMFILE &&
         heap.live == 0;
}

static bool without_addresses(void) {
  const struct rlimit few = {1 << 20, 1 << 20};
  return spool_begin(&spool, &heap, directory, &problem) && append(0, 1000000, 50000) &&
         setrlimit(RLIMIT_AS, &few) == 0 && !spool_finish(&spool, &problem) &&
         problem.error == ENOMEM && strstr(problem.text, "cannot be mapped in ") &&
         (spool_end(&spool), heap.live == 0);
}

Test(spool, what_the_system_lacks_is_an_error) {
  cr_expect_eq(limited(1 << 30, without_descriptors), 0);
  cr_expect_eq(limited(1 << 30, without_addresses), 0);
}
