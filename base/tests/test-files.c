/* test-files.c - permissions, files that are replaced, and the list of temporaries. */
#include "base/find-source.h"
#include "base/replace.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/ravel-files-XXXXXX";
static struct temporaries temporaries;
static struct permissions user;
static struct file_problem problem;

/* Each test has a directory of its own, which is the current one. */
static void files_enter(void) {
  strcpy(directory + strlen(directory) - 6, "XXXXXX");
  cr_assert(mkdtemp(directory) && chdir(directory) == 0);
  user = permissions_of_user(&temporaries);
}

static void files_leave(void) {
  char line[64];
  cr_assert(chdir("/") == 0);
  snprintf(line, sizeof line, "rm -rf %s", directory);
  cr_assert_eq(system(line), 0);
}

TestSuite(files, .init = files_enter, .fini = files_leave);

static void files_put(const char *name, const char *text) {
  FILE *f = fopen(name, "w");
  cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void expect_text(const char *name, const char *wanted) {
  char text[64] = "";
  FILE *f = fopen(name, "r");
  cr_assert(f, "%s", name);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  cr_expect_str_eq(text, wanted);
}

static unsigned files_entries(void) {
  unsigned n = 0;
  DIR *d = opendir(".");
  while (readdir(d)) n++;
  closedir(d);
  return n - 2;
}

static bool files_replace(const char *name, const char *text) {
  static struct replacement r;
  if (!replacement_begin(&r, &user, name, &problem)) return false;
  fputs(text, r.stream);
  return replacement_end(&r, &problem);
}

static unsigned mode_of(const char *name) {
  struct stat about;
  cr_assert(lstat(name, &about) == 0);
  return (unsigned)about.st_mode & 07777;
}

/* ---- replacing ---- */

Test(files, a_file_is_replaced_when_it_is_complete) {
  struct replacement r;
  files_put("f", "old");
  cr_assert(replacement_begin(&r, &user, "f", &problem));
  fputs("new", r.stream);
  fflush(r.stream);
  expect_text("f", "old");
  cr_assert(replacement_end(&r, &problem));
  expect_text("f", "new");
  cr_expect_eq(files_entries(), 1);
}

Test(files, what_is_abandoned_leaves_nothing) {
  struct replacement r;
  files_put("f", "old");
  for (int i = 0; i < 2; i++) {
    cr_assert(replacement_begin(&r, &user, i ? "g" : "f", &problem));
    fputs("new", r.stream);
    replacement_abandon(&r);
  }
  expect_text("f", "old");
  cr_expect_eq(files_entries(), 1);
}

static void files_give(struct replacement *r, uint64_t at, const char *text) {
  cr_assert_eq(replacement_put(r, at, text, strlen(text)), 0);
}

Test(files, contents_may_be_written_out_of_order) {
  struct replacement r;
  const void *bytes = NULL;
  files_put("f", "old");
  cr_assert(replacement_begin(&r, &user, "f", &problem));
  cr_assert_eq(replacement_reserve(&r, 100), 0);
  files_give(&r, 8, "-end");
  files_give(&r, 5, "abc");
  cr_assert_eq(replacement_cut(&r, 12), 0);
  cr_assert_eq(replacement_map(&r, 12, &bytes), 0);
  cr_expect_eq(memcmp((const char *)bytes + 5, "abc-end", 7), 0);
  expect_text("f", "old");
  fputs("begin", r.stream);
  cr_assert(replacement_end(&r, &problem));
  expect_text("f", "beginabc-end");
  cr_expect_eq(munmap((void *)(uintptr_t)bytes, 12), 0);
  cr_expect_eq(files_entries(), 1);
}

Test(files, others_take_part_in_a_replacement) {
  struct replacement r, other;
  files_put("f", "old");
  cr_assert(replacement_begin(&r, &user, "f", &problem));
  cr_assert(replacement_join(&other, &user, r.beside, &problem));
  files_give(&other, 5, "-end");
  cr_assert(replacement_end(&other, &problem));
  cr_assert(replacement_join(&other, &user, r.beside, &problem));
  replacement_abandon(&other);
  expect_text("f", "old");
  fputs("begin", r.stream);
  cr_assert(replacement_end(&r, &problem));
  expect_text("f", "begin-end");
  cr_expect_eq(files_entries(), 1);
  cr_expect(!replacement_join(&other, &user, r.beside, &problem));
  cr_expect_eq(problem.error, ENOENT);
}

Test(files, what_is_written_directly_has_one_order) {
  struct replacement r;
  const void *bytes;
  cr_assert(replacement_begin(&r, &user, "/dev/null", &problem));
  cr_expect_eq(replacement_reserve(&r, 1), EINVAL);
  cr_expect_eq(replacement_put(&r, 0, "x", 1), EINVAL);
  cr_expect_eq(replacement_cut(&r, 1), EINVAL);
  cr_expect_eq(replacement_map(&r, 1, &bytes), EINVAL);
  replacement_abandon(&r);
}

Test(files, permissions_of_a_file_stay) {
  umask(027);
  cr_expect(files_replace("f", "1"));
  cr_expect_eq(mode_of("f"), 0640);
  cr_expect_eq(chmod("f", 0604), 0);
  cr_expect(files_replace("f", "2"));
  cr_expect_eq(mode_of("f"), 0604);
}

Test(files, a_file_that_may_not_be_written_is_not_replaced) {
  files_put("f", "old");
  cr_assert_eq(chmod("f", 0444), 0);
  if (geteuid() == 0) return; /* who may write everything */
  cr_expect(!files_replace("f", "new"));
  cr_expect_eq(problem.error, EACCES);
  expect_text("f", "old");
  cr_expect_eq(files_entries(), 1);
}

Test(files, links_stay_links) {
  cr_assert_eq(mkdir("sub", 0777), 0);
  files_put("sub/f", "old");
  cr_assert_eq(symlink("sub/f", "link") | symlink("sub/none", "dangling") |
                   symlink("dangling", "sub2"),
               0);
  cr_expect(files_replace("link", "new"));
  cr_expect(files_replace("sub2", "made"));
  expect_text("sub/f", "new");
  expect_text("sub/none", "made");
  cr_expect_eq(mode_of("link") & 0777, 0777);
  cr_assert_eq(symlink("round", "round"), 0);
  cr_expect(!files_replace("round", "x"));
  cr_expect_eq(problem.error, ELOOP);
}

Test(files, what_is_no_ordinary_file_is_written_directly) {
  cr_assert_eq(mkfifo("pipe", 0600), 0);
  const int read_end = open("pipe", O_RDONLY | O_NONBLOCK);
  char text[8] = "";
  cr_expect(files_replace("pipe", "through"));
  cr_expect_eq(read(read_end, text, 7), 7);
  cr_expect_str_eq(text, "through");
  close(read_end);
  cr_expect(!files_replace("/dev/full", "x"));
  cr_expect_eq(problem.error, ENOSPC);
  cr_expect_str_eq(problem.text, "No space left on device");
  cr_expect(!files_replace(".", "x"));
  cr_expect_eq(problem.error, EISDIR);
}

Test(files, standard_output_is_written_where_it_is) {
  const pid_t child = fork();
  if (child == 0) {
    const int fd = open("out", O_WRONLY | O_CREAT, 0600);
    dup2(fd, STDOUT_FILENO);
    if (write(STDOUT_FILENO, "before ", 7) != 7 || !files_replace("/dev/stdout", "this"))
      _exit(1);
    _exit(write(STDOUT_FILENO, " behind", 7) == 7 ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  cr_expect_eq(status, 0);
  expect_text("out", "before this behind");
}

/* A limit on files stands for a full disk. */
Test(files, a_full_disk_leaves_the_old_file) {
  files_put("f", "old");
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit most = {16384, 16384};
    static char much[1 << 17];
    memset(much, 'x', sizeof much - 1);
    signal(SIGXFSZ, SIG_IGN);
    _exit(setrlimit(RLIMIT_FSIZE, &most) == 0 && !files_replace("f", much) &&
                  problem.error == EFBIG
              ? 0
              : 1);
  }
  int status;
  waitpid(child, &status, 0);
  cr_expect_eq(status, 0);
  expect_text("f", "old");
  cr_expect_eq(files_entries(), 1);
}

Test(files, a_full_disk_is_found_before_anything_is_written) {
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit most = {16384, 16384};
    struct replacement r;
    signal(SIGXFSZ, SIG_IGN);
    const bool begun = setrlimit(RLIMIT_FSIZE, &most) == 0 &&
                       replacement_begin(&r, &user, "f", &problem) &&
                       replacement_reserve(&r, 16384) == 0;
    _exit(begun && replacement_reserve(&r, 16385) == EFBIG &&
                  replacement_put(&r, 16384, "x", 1) == EFBIG
              ? (replacement_abandon(&r), 0)
              : 1);
  }
  int status;
  waitpid(child, &status, 0);
  cr_expect_eq(status, 0);
  cr_expect_eq(files_entries(), 0);
}

Test(files, errors_are_reported) {
  cr_expect(!files_replace("none/f", "x"));
  cr_expect_eq(problem.error, ENOENT);
  cr_expect(!files_replace("", "x"));
  cr_expect_eq(problem.error, ENOENT);
  char name[300];
  memset(name, 'n', sizeof name);
  name[255] = '\0'; /* the longest there is: the name beside must not be longer */
  cr_expect(files_replace(name, "x"));
  expect_text(name, "x");
}

/* ---- temporaries ---- */

Test(files, a_signal_handler_removes_what_is_half_written) {
  struct replacement r, s;
  cr_assert(replacement_begin(&r, &user, "f", &problem));
  cr_assert(replacement_begin(&s, &user, "g", &problem));
  cr_expect_eq(files_entries(), 2);
  cr_assert(replacement_end(&s, &problem));
  temporaries_unlink(&temporaries);
  cr_expect_eq(files_entries(), 1);
  expect_text("g", "");
  replacement_abandon(&r);
}

Test(files, the_list_of_temporaries_is_used_again_and_ends) {
  int numbers[TEMPORARIES_MAX];
  for (int i = 0; i < TEMPORARIES_MAX; i++) {
    numbers[i] = temporaries_add(&temporaries, "/nowhere/f");
    cr_expect_geq(numbers[i], 0);
  }
  cr_expect_eq(temporaries_add(&temporaries, "/nowhere/f"), -1);
  cr_expect(!files_replace("f", "x"));
  cr_expect_eq(problem.error, EMFILE);
  for (int i = 0; i < TEMPORARIES_MAX; i++) temporaries_forget(&temporaries, numbers[i]);
  for (int i = 0; i <= TEMPORARIES_MAX; i++) {
    static struct replacement r;
    cr_expect(files_replace("f", "x"));
    cr_expect(replacement_begin(&r, &user, "f", &problem));
    replacement_abandon(&r);
    cr_expect(!files_replace("no/f", "x"));
  }
}

/* ---- permissions ---- */

static const struct permissions none;

Test(files, nothing_is_opened_or_started_without_permission) {
  struct replacement r;
  pid_t child;
  int status;
  char *words[] = {"true", NULL};
  files_put("f", "old");
  for (int use = FILE_READ; use <= FILE_APPEND; use++) {
    cr_expect_eq(file_open(&none, "f", (enum file_use)use, &problem), -1);
    cr_expect_eq(problem.error, 0);
    cr_expect_str_eq(problem.text, "files may not be opened without --allow-files");
  }
  cr_expect(!replacement_begin(&r, &none, "f", &problem));
  cr_expect(!replacement_begin(&r, &none, "g", &problem));
  cr_expect_eq(problem.error, 0);
  problem.error = 1;
  cr_expect(!process_spawn(&none, &child, NULL, NULL, words, &problem));
  cr_expect(!process_shell(&none, "touch g", &status, &problem));
  cr_expect_eq(problem.error, 0);
  expect_text("f", "old");
  cr_expect_eq(files_entries(), 1);
}

static void expect_source(const char *path, const char *own, int error) {
  const char *const directories[] = {own, NULL};
  const int fd = file_open_source(&none, path, ".nesl", directories, 2, &problem);
  if (error < 0) {
    cr_expect_geq(fd, 0, "%s: %s", path, problem.text);
    close(fd);
  } else {
    cr_expect_eq(fd, -1, "%s", path);
    cr_expect_eq(problem.error, error, "%s: %s", path, problem.text);
  }
}

Test(files, a_program_may_load_sources_of_its_own_directory) {
  enum { FINE = -1, REFUSED = 0 };
  cr_assert_eq(mkdir("own", 0777) | mkdir("own/sub", 0777) | mkdir("owner", 0777), 0);
  files_put("own/a.nesl", "1;");
  files_put("own/sub/b.nesl", "1;");
  files_put("own/secret", "1;");
  files_put("owner/c.nesl", "1;");
  files_put("d.nesl", "1;");
  cr_assert_eq(symlink("../d.nesl", "own/out.nesl") | symlink("secret", "own/link.nesl") |
                   symlink("a.nesl", "own/fine.nesl") | symlink("..", "own/up"),
               0);
  cr_assert_eq(mkfifo("own/pipe.nesl", 0600), 0);
  expect_source("own/a.nesl", "own", FINE);
  expect_source("own/sub/../sub/b.nesl", "own", FINE);
  expect_source("own/fine.nesl", "own", FINE);
  expect_source("own/none.nesl", "own", ENOENT);
  expect_source("own/secret", "own", REFUSED);
  expect_source("own/link.nesl", "own", REFUSED);
  expect_source("own/out.nesl", "own", REFUSED);
  expect_source("own/../d.nesl", "own", REFUSED);
  expect_source("own/up/d.nesl", "own", REFUSED);
  expect_source("own/up/none.nesl", "own", REFUSED); /* as if it existed */
  expect_source("none/none.nesl", "own", REFUSED);
  expect_source("owner/c.nesl", "own", REFUSED);
  expect_source("d.nesl", "own", REFUSED);
  expect_source("d.nesl", NULL, REFUSED);
  expect_source("own/pipe.nesl", "own", EINVAL);
  expect_source("d.nesl", ".", FINE);
  expect_source("d.nesl", "/", FINE);
}

/* ---- sources ---- */

static void files_find(const struct source_search *s, const char *name, const char *wanted) {
  static struct source_found found;
  const bool there = source_find(s, name, &found, &problem);
  cr_assert_eq(there, wanted != NULL, "%s: %s", name, there ? found.path : problem.text);
  if (wanted) cr_expect_str_eq(found.path, wanted, "%s", name);
}

Test(files, sources_are_found_in_order) {
  cr_assert(mkdir("own", 0700) == 0 && mkdir("a", 0700) == 0 && mkdir("b", 0700) == 0);
  for (const char *const *name =
           (const char *const[]){"own/1.nesl", "1.nesl", "a/1.nesl", "2.nesl", "b/2.nesl",
                                 "a/3.nesl", "b/3.nesl", NULL};
       *name; name++) {
    files_put(*name, "x");
  }
  struct source_search s = {
      .permissions = user, .extension = ".nesl", .directory = "own", .folders = "none:a/::b"};
  files_find(&s, "1", "own/1.nesl");
  files_find(&s, "1.nesl", "own/1.nesl");
  files_find(&s, "2", "2.nesl");
  files_find(&s, "3", "a/3.nesl");
  files_find(&s, "../b/3", "own/../b/3.nesl");
  files_find(&s, "4", NULL);
  cr_expect_eq(problem.error, ENOENT);
  s.directory = NULL;
  files_find(&s, "1", "1.nesl");
  s.folders = NULL;
  files_find(&s, "3", NULL);
}

/* Without permission sources are found where they may be read, and those elsewhere are refused.
 */
Test(files, sources_that_a_program_names) {
  static struct source_found found;
  cr_assert(mkdir("own", 0700) == 0 && mkdir("path", 0700) == 0 &&
            mkdir("path/sub", 0700) == 0);
  files_put("outside.nesl", "x");
  files_put("path/sub/in.nesl", "x");
  cr_assert(chdir("own") == 0 && symlink("../outside.nesl", "link.nesl") == 0);
  struct source_search s = {.extension = ".nesl", .folders = "../path"};
  files_find(&s, "sub/in", "../path/sub/in.nesl");
  files_find(&s, "missing", NULL);
  cr_expect_eq(problem.error, ENOENT);
  static const char *const refused[] = {"../outside", "link", "/etc/passwd"};
  for (size_t i = 0; i < 3; i++) {
    cr_expect_not(source_find(&s, refused[i], &found, &problem), "%s", refused[i]);
    cr_expect_eq(problem.error, 0, "%s: %s", refused[i], problem.text);
  }
  cr_assert(chdir("..") == 0);
}
