/* test-compile.c - the report of a directory in which compiled superoperators cannot be stored.
 * It appears once, and only where compiling was asked for. Files in the directory are tested by
 * commands/tests/native_command.py.
 */
#include "cvl-cpu/compile/child.h"
#include "cvl-cpu/compile/compile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Returns the reports on standard error while two sources cannot be compiled. */
static const char *said_of(enum cvl_compile compile, bool waits, const char *directory) {
  static char text[1000];
  const struct cvl_options options = {
      .compile = compile, .compile_waits = waits, .compile_directory = directory};
  struct heap heap;
  heap_init(&heap, 0);
  FILE *file = tmpfile();
  const int before = dup(STDERR_FILENO);
  cr_assert(file && before >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
  struct compile_cache *cache = compile_cache_new(&heap, &options, NULL);
  static const char *const sources[] = {"int one;", "int two;"}, *const prefixes[] = {"a", "b"};
  bool ready = false, failed = true;
  for (int i = 0; i < 2; i++) {
    struct compiled_code *code =
        compile_text(cache, prefixes[i], sources[i], strlen(sources[i]));
    ready |= !code || compiled_ready(code);
    failed &= code && compiled_failed(code);
    compiled_free(code);
  }
  compile_cache_free(cache);
  fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  cr_expect(!ready && failed);
  cr_expect_eq(heap.live, 0);
  return text;
}

Test(compile, a_directory_that_cannot_be_made) {
  static const char said[] =
      "ravel: superoperators are not compiled: /nowhere/at/all: No such file or directory\n";
  cr_expect_str_eq(said_of(CVL_COMPILE_ALL, true, "/nowhere/at/all"), said);
  cr_expect_str_eq(said_of(CVL_COMPILE_ALL, false, "/nowhere/at/all"), said);
  cr_expect_str_eq(said_of(CVL_COMPILE_WHEN_IT_PAYS, false, "/nowhere/at/all"), "",
                   "nobody has asked");
}

Test(compile, a_directory_that_others_may_write) {
  char directory[] = "/tmp/ravel-compile-XXXXXX", said[300];
  cr_assert_not_null(mkdtemp(directory));
  cr_assert_eq(chmod(directory, 0770), 0);
  snprintf(said, sizeof said,
           "ravel: superoperators are not compiled: others may write into %s: what is in it is "
           "not trusted; chmod go-w %s\n",
           directory, directory);
  cr_expect_str_eq(said_of(CVL_COMPILE_ALL, true, directory), said);
  cr_expect_str_eq(said_of(CVL_COMPILE_WHEN_IT_PAYS, false, directory), said, "it is not safe");
  cr_assert_eq(rmdir(directory), 0);
}

static int niceness_of_child(bool background) {
  static char *const arguments[] = {(char *)"/bin/sleep", (char *)"60", NULL};
  posix_spawn_file_actions_t actions;
  pid_t child;
  cr_assert_eq(posix_spawn_file_actions_init(&actions), 0);
  cr_assert_eq(child_start(&child, &actions, arguments, arguments + 2, background), 0);
  posix_spawn_file_actions_destroy(&actions);
  const int niceness = getpriority(PRIO_PROCESS, (id_t)child);
  child_end(child);
  return niceness;
}

Test(compile, a_compiler_in_the_background_is_nice) {
  const int own = getpriority(PRIO_PROCESS, 0);
  const int most = 19, nicer = own + CHILD_NICENESS;
  cr_expect_eq(niceness_of_child(true), nicer < most ? nicer : most);
  cr_expect_eq(niceness_of_child(false), own);
}

/* The file by itself would break texts behind it. */
Test(compile, a_file_by_itself_beside_others) {
  static const char file[] = "int RAVEL_ENTRY(five)(void) { return 5; }\n"
                             "#define INT64_MAX five\n";
  static const char *const texts[] = {"int a_one(void) { return INT64_MAX == 0; }\n",
                                      "int c_two(void) { return INT64_MAX == 0; }\n"};
  char directory[] = "/tmp/ravel-compile-XXXXXX", command[100];
  struct compiled_code *codes[3];
  struct heap heap;
  cr_assert_not_null(mkdtemp(directory));
  const struct cvl_options options = {
      .compile = CVL_COMPILE_ALL, .compile_waits = true, .compile_directory = directory};
  heap_init(&heap, 0);
  struct compile_cache *cache = compile_cache_new(&heap, &options, NULL);
  codes[0] = compile_text(cache, "a_", texts[0], strlen(texts[0]));
  codes[1] = compile_file(cache, "b_", file, strlen(file), false);
  codes[2] = compile_text(cache, "c_", texts[1], strlen(texts[1]));
  cr_expect_not(compiled_unasked(codes[1]), "others are");
  cr_assert(compiled_ready(codes[1]) && compiled_ready(codes[0]) && compiled_ready(codes[2]));
  cr_expect_not_null(compiled_function(codes[0], "one"));
  cr_expect_not_null(compiled_function(codes[1], "five"));
  cr_expect_not_null(compiled_function(codes[2], "two"));
  for (int i = 0; i < 3; i++) compiled_free(codes[i]);
  compile_cache_free(cache);
  cr_expect_eq(heap.live, 0);
  snprintf(command, sizeof command, "test $(find %s -type f -name '*.so' | wc -l) = 2",
           directory);
  cr_expect_eq(system(command), 0, "the others are in one file");
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}

/* ---- what short processes spend ---- */

/* What one process does: it needs a code, spends seconds without it, and ends. */
static bool short_process(const char *directory, double seconds, bool *owed) {
  static const char text[] = "int a_one(void) { return 1; }\n";
  const struct cvl_options options = {.compile = CVL_COMPILE_WHEN_IT_PAYS,
                                      .compile_directory = directory};
  struct heap heap;
  heap_init(&heap, 0);
  struct compile_cache *cache = compile_cache_new(&heap, &options, NULL);
  struct compiled_code *code = compile_text(cache, "a_", text, sizeof text - 1);
  const bool cached = compiled_cached(code);
  *owed = compiled_owed(code);
  if (!cached && *owed) (void)compiled_ready(code);
  compiled_spent(code, cached ? 0 : seconds);
  compiled_free(code);
  compile_cache_free(cache);
  cr_expect_eq(heap.live, 0);
  return cached;
}

Test(compile, what_many_short_processes_spend_is_added) {
  char directory[] = "/tmp/ravel-compile-XXXXXX", command[100];
  bool owed;
  cr_assert_not_null(mkdtemp(directory));
  for (int k = 0; k < 300; k++) {
    cr_expect_not(short_process(directory, 4e-3, &owed));
    cr_expect_not(owed, "some milliseconds are not kept");
  }
  for (int k = 0; k < 4; k++) {
    cr_expect_not(short_process(directory, 0.51, &owed));
    cr_expect_not(owed, "%d", k);
  }
  cr_expect_not(short_process(directory, 0.51, &owed));
  cr_expect(owed);
  cr_expect(short_process(directory, 0.51, &owed), "the last one has waited for the compiler");
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}

/* Two processes begin to compile, and end at once. */
Test(compile, a_compilation_that_was_left_was_spent_too) {
  static const char text[] = "int a_two(void) { return 1; }\n";
  char directory[] = "/tmp/ravel-compile-XXXXXX", command[100];
  cr_assert_not_null(mkdtemp(directory));
  const struct cvl_options options = {.compile = CVL_COMPILE_ALL,
                                      .compile_directory = directory};
  for (int k = 0; k < 2; k++) {
    struct heap heap;
    heap_init(&heap, 0);
    struct compile_cache *cache = compile_cache_new(&heap, &options, NULL);
    struct compiled_code *code = compile_text(cache, "a_", text, sizeof text - 1);
    cr_assert_not(compiled_cached(code));
    (void)compiled_ready(code);
    usleep(7000); /* the compiler takes ten times as long */
    compiled_free(code);
    compile_cache_free(cache);
    cr_expect_eq(heap.live, 0);
  }
  snprintf(command, sizeof command,
           "ls -l %s | grep -q 'spent -> 0.01[4-9]\\|spent -> 0.0[2-9]'", directory);
  cr_expect_eq(system(command), 0, "twice 7 ms");
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}

/* A compiler that never ends, and one process behind the other that waits for it. */
Test(compile, a_compiler_that_is_owed_and_does_not_end) {
  char directory[] = "/tmp/ravel-compile-XXXXXX", compiler[64], command[100];
  bool owed;
  cr_assert_not_null(mkdtemp(directory));
  snprintf(compiler, sizeof compiler, "%s/cc", directory);
  FILE *file = fopen(compiler, "w");
  cr_assert_not_null(file);
  fputs("#!/bin/sh\nexec sleep 100\n", file);
  cr_assert(fclose(file) == 0 && chmod(compiler, 0700) == 0);
  cr_assert_eq(setenv("RAVEL_CC", compiler, 1), 0);
  cr_expect_not(short_process(directory, 2.01, &owed));
  for (int k = 0; k < 2; k++) {
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    cr_expect_not(short_process(directory, k == 0 ? 0 : 100, &owed));
    clock_gettime(CLOCK_MONOTONIC, &ended);
    const double took =
        (double)(ended.tv_sec - begun.tv_sec) + 1e-9 * (double)(ended.tv_nsec - begun.tv_nsec);
    cr_expect(owed && took >= 2 << k && took < 5 + (2 << k), "%d: %g", k, took);
  }
  const time_t begun = time(NULL);
  cr_expect_not(short_process(directory, 0, &owed));
  cr_expect_lt(time(NULL) - begun, 10, "after 100 s it is not waited for any more");
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}
