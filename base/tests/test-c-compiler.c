/* test-c-compiler.c - which C compiler is chosen, and what is said of it. */
#include "base/c-compiler.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/ravel-compiler-XXXXXX";

/* Makes a program, or a file that is none. */
static void make(const char *name, const char *text, mode_t mode) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0 && chmod(path, mode) == 0);
}

static void begin(void) {
  cr_assert(mkdtemp(folder) && chdir(folder) == 0);
  cr_assert(setenv("PATH", folder, 1) == 0 && unsetenv("RAVEL_CC") == 0);
}

static void end(void) {
  static const char *const names[] = {"cc", "gcc", "clang", "zig", "my cc", "none", "sub"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove(names[i]);
  cr_expect_eq(rmdir(folder), 0);
}

TestSuite(c_compiler, .init = begin, .fini = end);

/* The words of the compiler that is chosen, with % for the folder; "" if none is. */
static void expect(const char *zig, const char *wanted) {
  struct c_compiler c;
  char words[2000] = "";
  cr_expect_eq(c_compiler_choose(&c, zig), *wanted != '\0');
  for (unsigned i = 0; i < c.count; i++) {
    const bool in_folder = strncmp(c.words[i], folder, strlen(folder)) == 0;
    strcat(strcat(words, i ? "|" : ""), in_folder ? "%" : "");
    strcat(words, c.words[i] + (in_folder ? strlen(folder) : 0));
  }
  cr_expect_null(c.words[c.count]);
  cr_expect_str_eq(words, wanted);
}

static void expect_named(const char *named, const char *wanted) {
  setenv("RAVEL_CC", named, 1);
  expect(NULL, wanted);
}

static void expect_said(const char *wanted) {
  struct c_compiler c;
  char said[3000] = "";
  FILE *f = fmemopen(said, sizeof said, "w");
  c_compiler_choose(&c, NULL);
  c_compiler_describe(&c, f);
  fclose(f);
  cr_expect(strstr(said, wanted), "%s", said);
  cr_expect_null(strchr(said, '\n'));
}

Test(c_compiler, of_the_system_or_zig) {
  char zig[100];
  snprintf(zig, sizeof zig, "%s/zig", folder);
  expect(NULL, "");
  expect(zig, "");
  expect_said("none; programs run evaluated and flattened. Install gcc");
  make("zig", "", 0700);
  expect(zig, "%/zig|cc");
  expect(NULL, "");
  make("clang", "", 0700);
  expect(zig, "%/clang");
  make("gcc", "", 0700);
  expect(zig, "%/gcc");
  make("cc", "", 0600);
  expect(zig, "%/gcc");
  chmod("cc", 0700);
  expect(zig, "%/cc");
  remove("cc");
  cr_assert_eq(symlink("gcc", "cc"), 0);
  expect_said("/gcc");
}

Test(c_compiler, only_of_absolute_folders) {
  make("cc", "", 0700);
  setenv("PATH", ".:", 1);
  expect(NULL, "");
  unsetenv("PATH");
  expect(NULL, "");
}

Test(c_compiler, a_folder_is_no_program) {
  cr_assert_eq(mkdir("cc", 0700), 0);
  make("clang", "", 0700);
  expect(NULL, "%/clang");
  rmdir("cc");
}

Test(c_compiler, named) {
  make("cc", "", 0700);
  make("zig", "", 0700);
  expect_named("zig", "%/zig");
  expect_named("  zig\tcc  -x ", "%/zig|cc|-x");
  expect_named("./zig cc", "%/./zig|cc");
  expect_said("/zig cc, as RAVEL_CC says");
  cr_assert_eq(symlink("zig", "my cc"), 0);
  remove("cc");
  cr_assert_eq(rename("my cc", "cc"), 0);
  expect_named("cc", "%/cc");
  expect_said("/cc, which is ");
  expect_named("", "");
  expect_said("RAVEL_CC is empty");
  expect_named("none cc", "");
  expect_said("RAVEL_CC names 'none', which is no program in PATH; programs run evaluated");
  expect_named("./none", "");
  expect_said("RAVEL_CC names './none', which is no program;");
  make("none", "", 0600);
  expect_named("none", "");
  expect_named("zig 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
               "%/zig|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16");
  expect_named("zig 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "");
  expect_said("more than 16 words");
}

Test(c_compiler, named_by_too_long_a_text) {
  char text[C_COMPILER_TEXT + 1];
  make("zig", "", 0700);
  memset(text, ' ', sizeof text);
  memcpy(text, "zig", 3);
  text[sizeof text - 1] = '\0';
  expect_named(text, "");
  expect_said("too long");
  text[sizeof text - 2] = '\0';
  expect_named(text, "%/zig");
}

/* ---- what tells compilers apart ---- */

static void identity(const char *named, uint8_t digest[SHA256_BYTES]) {
  struct c_compiler c;
  struct sha256_state state;
  setenv("RAVEL_CC", named, 1);
  cr_assert(c_compiler_choose(&c, NULL));
  sha256_begin(&state);
  c_compiler_identify(&c, &state);
  sha256_end(&state, digest);
}

static bool same(const char *a, const char *b) {
  uint8_t digests[2][SHA256_BYTES];
  identity(a, digests[0]);
  identity(b, digests[1]);
  return memcmp(digests[0], digests[1], SHA256_BYTES) == 0;
}

Test(c_compiler, is_told_from_others) {
  uint8_t before[SHA256_BYTES], after[SHA256_BYTES];
  make("zig", "", 0700);
  make("gcc", "", 0700);
  cr_expect(same("zig cc", " zig  cc"));
  cr_expect_not(same("zig", "gcc"));
  cr_expect_not(same("zig cc", "zig"));
  cr_expect_not(same("zig cc", "zig c c"));
  identity("zig gcc -x", before);
  make("gcc", "newer", 0700);
  identity("zig gcc -x", after);
  cr_expect(memcmp(before, after, SHA256_BYTES) != 0, "a compiler that another one starts");
}
