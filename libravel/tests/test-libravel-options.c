/* test-libravel-options.c - what options permit and change: files, processes, the compiler,
 * seeds, widths; the host's own children; files that are loaded; how deep text may nest.
 */
#include "context.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(options);

static struct ravel_context *options_context(const char *name, const char *value) {
  return context_with((const char *const[]){name, value, NULL});
}

static struct ravel_function *options_expression(struct ravel_context *c, const char *text) {
  struct ravel_function *f = NULL;
  fine(c, ravel_expression(c, text, "n", "int", &f));
  return f;
}

static enum ravel_code options_call(struct ravel_context *c, struct ravel_function *f,
                                    int64_t n, int64_t *x) {
  struct ravel_value *v = NULL, *result = NULL;
  fine(c, ravel_int(c, n, &v));
  const enum ravel_code code = ravel_call(c, f, &v, 1, &result);
  if (code == RAVEL_OK) fine(c, ravel_get_int(c, result, x));
  ravel_release(v);
  ravel_release(result);
  return code;
}

/* ---- between calls ---- */

static const char drawing[] = "rand(1000000000) + n";

Test(options, a_seed_begins_anew) {
  struct ravel_context *c = options_context("seed", "3");
  struct ravel_function *f = options_expression(c, drawing);
  struct ravel_random at = {0};
  int64_t first = 0, second = 0, x = 0;
  fine(c, options_call(c, f, 0, &first));
  ravel_get_random(c, &at);
  cr_expect(at.seed == 3 && at.count == 1);
  fine(c, options_call(c, f, 0, &second));
  fine(c, ravel_context_set(c, "seed", "3"));
  fine(c, options_call(c, f, 0, &x));
  cr_expect(x == first && x != second);
  fine(c, ravel_context_set(c, "seed", "4"));
  fine(c, options_call(c, f, 0, &x));
  cr_expect(x != first);
  ravel_set_random(c, &at);
  fine(c, options_call(c, f, 0, &x));
  cr_expect(x == second);
  ravel_function_release(f);
  ravel_context_free(c);
}

Test(options, limits_change_between_calls) {
  struct ravel_context *c = options_context("depth", "0");
  static const char down[] = "function down(n) = if n == 0 then 0 else 1 + down(n - 1);";
  struct ravel_function *f = NULL;
  int64_t x = 0;
  fine(c, ravel_define(c, NULL, down, 0));
  fine(c, ravel_find(c, "down", "int", &f));
  fine(c, ravel_context_set(c, "depth", "50"));
  cr_expect_eq(options_call(c, f, 100, &x), RAVEL_LIMIT);
  fine(c, ravel_context_set(c, "depth", "0"));
  fine(c, options_call(c, f, 100, &x));
  cr_expect_eq(x, 100);
  fails(c, RAVEL_MISUSE, "for a new context", ravel_context_set(c, "threads", "1"));
  fails(c, RAVEL_MISUSE, "the option time takes seconds, as 2 or 0.5, or 0, not 'soon'",
        ravel_context_set(c, "time", "soon"));
  ravel_function_release(f);
  ravel_context_free(c);
}

/* More texts than the cache has room for: those that callers hold stay what they are. */
Test(options, texts_beyond_the_cache) {
  enum { TEXTS = 600 };
  struct ravel_context *c = options_context("threads", "1");
  struct ravel_function *held[TEXTS];
  char text[32];
  for (int i = 0; i < TEXTS; i++) {
    snprintf(text, sizeof text, "n * %d", i);
    held[i] = options_expression(c, text);
    if (i % 3 == 0) ravel_function_release(held[i]);
  }
  for (int i = 0; i < TEXTS; i++) {
    int64_t x = 0;
    if (i % 3 == 0) continue;
    fine(c, options_call(c, held[i], 2, &x));
    cr_expect_eq(x, 2 * i);
    ravel_function_release(held[i]);
  }
  ravel_context_free(c);
}

/* ---- permissions ---- */

static const char reading[] =
    "function opened(n) = let (st, ok, why) = open_in_file(\"/dev/null\") in\n"
    "  if ok then n else let e = error(why) in 0;\n"
    "function saved(n) = if write_string_to_file(\"\", \"/dev/null\") then n else 0;\n"
    "function spawned(n) = let ((i, o, e), ok, why) = spawn(\"cat\", nullstr, nullstr, "
    "stderr)\n"
    "  in if ok then n else let e = error(why) in 0;\n"
    "function counted(n) = #shell_command(\"cat\", \"abc\") + n;\n"
    "function shown(n) = let ((i, o, e), ok, why) = spawn(\"true\", stdin, stdout, stderr)\n"
    "  in if ok then n else let e = error(why) in 0;\n"
    "function failed(n) = let e = error(\"n is \" ++ @n) in n;\n";

Test(options, files_are_denied_without_permission) {
  struct ravel_context *c = options_context("files", "no"),
                       *free_one = options_context("files", "yes");
  int64_t x = 0;
  fine(c, ravel_define(c, "r.nesl", reading, 0));
  fine(free_one, ravel_define(free_one, "r.nesl", reading, 0));
  fails(c, RAVEL_DENIED, "the option files",
        options_call(c, options_expression(c, "opened(n)"), 4, &x));
  fine(c, options_call(c, options_expression(c, "saved(n)"), 4, &x)); /* it goes on without */
  cr_expect_eq(x, 0);
  fails(c, RAVEL_RUNTIME, "`error`: n is 4",
        options_call(c, options_expression(c, "failed(n)"), 4, &x));
  fine(free_one, options_call(free_one, options_expression(free_one, "opened(n)"), 4, &x));
  cr_expect_eq(x, 4);
  ravel_context_free(free_one);
  ravel_context_free(c);
}

Test(options, processes_are_denied_without_permission) {
  struct ravel_context *c = options_context("files", "yes"),
                       *free_one = options_context("processes", "yes");
  int64_t x = 0;
  fine(c, ravel_define(c, "r.nesl", reading, 0));
  fine(free_one, ravel_define(free_one, "r.nesl", reading, 0));
  fails(c, RAVEL_DENIED, "the option processes",
        options_call(c, options_expression(c, "spawned(n)"), 4, &x));
  fine(free_one, options_call(free_one, options_expression(free_one, "counted(n)"), 4, &x));
  cr_expect_eq(x, 7);
  fine(free_one, options_call(free_one, options_expression(free_one, "shown(n)"), 5, &x));
  cr_expect_eq(x, 5);
  ravel_context_free(free_one);
  ravel_context_free(c);
}

/* ---- the host's children ---- */

static volatile sig_atomic_t child_signals;

static void on_child(int number) {
  (void)number;
  child_signals = child_signals + 1;
}

static pid_t child_of_host(void) {
  const pid_t child = fork();
  if (child == 0) _exit(7);
  return child;
}

/* A child of the host, ended or not, is the host's to wait for; its signals stay as they are.
 */
static void use_beside_a_child(struct ravel_context *c, const char *text) {
  struct sigaction mine = {.sa_handler = on_child}, then;
  int status = 0;
  int64_t x;
  sigaction(SIGCHLD, &mine, NULL);
  child_signals = 0;
  const pid_t child = child_of_host();
  while (child_signals == 0) usleep(1000);
  fine(c, options_call(c, options_expression(c, text), 3, &x));
  sigaction(SIGCHLD, NULL, &then);
  cr_expect(then.sa_handler == on_child);
  cr_expect_eq(waitpid(child, &status, 0), child);
  cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  signal(SIGCHLD, SIG_DFL);
}

/* A compiler runs while `text` does. */
static void use_with_compiler(const char *text, int64_t expected) {
  struct ravel_context *c = options_context("compiler", "yes");
  int64_t x = 0;
  use_beside_a_child(c, text);
  for (int i = 0; i < 20; i++)
    fine(c, options_call(c, options_expression(c, text), 300000, &x));
  cr_expect_eq(x, expected);
  ravel_context_free(c);
}

Test(options, children_of_the_host_are_not_touched) {
  static const char text[] =
      "sum({rem(i * i + 3 * i + 7, 1009) * 2 - rem(i, 5) : i in index(n)})";
  char folder[] = "/tmp/ravel-test-XXXXXX", command[100];
  struct ravel_context *c = options_context("processes", "yes"),
                       *plain = options_context("compiler", "no");
  int64_t expected = 0;
  fine(c, ravel_define(c, "r.nesl", reading, 0));
  use_beside_a_child(c, "counted(n)");
  ravel_context_free(c);
  fine(plain, options_call(plain, options_expression(plain, text), 300000, &expected));
  ravel_context_free(plain);
  cr_assert(mkdtemp(folder));
  setenv("XDG_CACHE_HOME", folder, 1);
  use_with_compiler(text, expected);
  use_with_compiler(text, expected); /* perhaps from the cache */
  snprintf(command, sizeof command, "rm -r %s", folder);
  cr_expect_eq(system(command), 0);
}

Test(options, a_cache_that_others_may_write_is_not_used_and_explained) {
  char folder[] = "/tmp/ravel-test-XXXXXX", path[100];
  struct ravel_context *c;
  int64_t x = 0;
  cr_assert(mkdtemp(folder));
  snprintf(path, sizeof path, "mkdir -m 777 %s/ravel", folder);
  cr_assert_eq(system(path), 0);
  setenv("XDG_CACHE_HOME", folder, 1);
  snprintf(path, sizeof path, "%s/errors", folder);
  FILE *errors = freopen(path, "w", stderr);
  c = options_context("compiler", "yes");
  for (int i = 0; i < 5; i++) {
    fine(c, options_call(c, options_expression(c, "sum({rem(i * i, 7) : i in index(n)})"),
                         300000, &x));
  }
  const char *explained =
      ravel_explain(c, options_expression(c, "sum({rem(i * i, 7) : i in index(n)})"));
  cr_expect(strncmp(explained, "{ superoperators are not compiled: ", 35) == 0, "%.99s",
            explained);
  cr_expect(strncmp(ravel_remark(c), "superoperators are not compiled: ", 33) == 0);
  cr_expect_str_eq(ravel_remark(c), "", "it is said once");
  ravel_context_free(c);
  cr_expect_eq(ftell(errors), 0, "something was printed");
  snprintf(path, sizeof path, "rm -r %s", folder);
  cr_expect_eq(system(path), 0);
}

/* ---- which compiler ---- */

static void expect_compiler(const char *option, const char *value, const char *said) {
  struct ravel_context *c =
      context_with((const char *const[]){"zig", "/bin/sh", option, value, NULL});
  cr_expect(strncmp(ravel_compiler(c), said, strlen(said)) == 0, "%s", ravel_compiler(c));
  ravel_context_free(c);
}

Test(options, the_compiler_is_named) {
  setenv("PATH", "/nowhere", 1);
  unsetenv("RAVEL_CC");
  expect_compiler("compiler", "yes", "C compiler: /bin/sh cc");
  expect_compiler("compiler", "no", "C compiler: none, since the option compiler is no;");
  expect_compiler("threads", "1", "C compiler: none, since the option compiler is no;");
  setenv("RAVEL_CC", "/bin/true -x", 1);
  expect_compiler("compiler", "yes", "C compiler: /bin/true -x, as RAVEL_CC says");
  setenv("RAVEL_CC", "nothing", 1);
  expect_compiler("compiler", "yes", "C compiler: none, since RAVEL_CC names 'nothing'");
  cr_expect_str_eq(ravel_compiler(NULL), "");
}

/* ---- seeds, the optimiser ---- */

static int64_t options_drawn(const char *seed) {
  struct ravel_context *c = options_context("seed", seed);
  int64_t x = -1;
  fine(c, options_call(c, options_expression(c, "sum({rand(m) : m in dist(1000000, n)})"), 10,
                       &x));
  ravel_context_free(c);
  return x;
}

Test(options, seeds_decide_on_random_numbers) {
  cr_expect_eq(options_drawn("1"), options_drawn("1"));
  cr_expect_neq(options_drawn("1"), options_drawn("2"));
  cr_expect_neq(options_drawn("-1"), options_drawn("1"));
}

Test(options, results_do_not_depend_on_the_optimiser) {
  static const char text[] = "sum({sqrt(float(i)) * 3.0 : i in index(n)})";
  struct ravel_context *c = options_context("optimise", "yes"),
                       *plain = options_context("optimise", "no");
  struct ravel_function *f = options_expression(c, text), *g = options_expression(plain, text);
  struct ravel_value *v, *w, *a, *b;
  double x = 0, y = 1;
  cr_expect(strstr(ravel_explain(c, f), "fused OP0"));
  cr_expect_not(strstr(ravel_explain(plain, g), "fused"));
  fine(c, ravel_int(c, 1000, &v));
  fine(plain, ravel_int(plain, 1000, &w));
  fine(c, ravel_call(c, f, &v, 1, &a));
  fine(plain, ravel_call(plain, g, &w, 1, &b));
  fine(c, ravel_get_float(c, a, &x));
  fine(plain, ravel_get_float(plain, b, &y));
  cr_expect_eq(x, y);
  ravel_context_free(plain);
  ravel_context_free(c);
}

Test(options, ints_that_wrap_around_may_be_errors) {
  struct ravel_context *c = options_context("check_overflow", "yes"),
                       *plain = options_context("threads", "1");
  struct ravel_function *f = options_expression(c, "n * n"),
                        *g = options_expression(plain, "n * n");
  int64_t x = 0;
  fine(c, options_call(c, f, -3, &x));
  cr_expect_eq(x, 9);
  fails(c, RAVEL_RUNTIME, "Integer overflow in *. (3037000500 * 3037000500)",
        options_call(c, f, 3037000500, &x));
  fine(plain, options_call(plain, g, 3037000500, &x));
  cr_expect_eq(x, INT64_C(-9223372036709301616));
  ravel_context_free(plain);
  ravel_context_free(c);
}

/* ---- files that are loaded ---- */

Test(options, files_are_loaded_by_their_names) {
  struct ravel_context *c = options_context("files", "no");
  char path[] = "/tmp/ravel-test-XXXXXX", expected[100];
  struct ravel_function *f;
  int64_t x = 0;
  const int fd = mkstemp(path);
  dprintf(fd, "#!/usr/bin/nesl\nfunction more(x) = x + 1;\nfunction part(n) =\n  [1, 2][n];\n");
  fine(c, ravel_load(c, path));
  fine(c, ravel_find(c, "more", "int", &f));
  fine(c, options_call(c, f, 1, &x));
  cr_expect_eq(x, 2);
  fine(c, ravel_find(c, "part", "int", &f));
  snprintf(expected, sizeof expected, "%s:4:3: error: Sequence reference", path);
  fails(c, RAVEL_RUNTIME, expected, options_call(c, f, 5, &x));
  dprintf(fd, "function wrong(x) = y;\n");
  snprintf(expected, sizeof expected, "%s:5:21: error: `y` is not defined", path);
  fails(c, RAVEL_TYPE, expected, ravel_load(c, path));
  close(fd);
  unlink(path);
  fails(c, RAVEL_DATA, "directory", ravel_load(c, "/tmp"));
  ravel_context_free(c);
}

/* ---- depth ---- */

/* before * n, inside, after * n; to be freed. */
static char *nested(size_t n, const char *before, const char *inside, const char *after) {
  const size_t a = strlen(before), b = strlen(after);
  char *text = malloc(n * (a + b) + strlen(inside) + 1), *end = text;
  for (size_t i = 0; i < n; i++) end = mempcpy(end, before, a);
  end = mempcpy(end, inside, strlen(inside));
  for (size_t i = 0; i < n; i++) end = mempcpy(end, after, b);
  *end = '\0';
  return text;
}

static enum ravel_code nested_expression(struct ravel_context *c, size_t n, int64_t *x) {
  struct ravel_function *f;
  char *text = nested(n, "(1 + ", "n", ")");
  enum ravel_code code = ravel_expression(c, text, "n", "int", &f);
  free(text);
  return code == RAVEL_OK ? options_call(c, f, 5, x) : code;
}

Test(options, deep_text_is_read_or_refused) {
  struct ravel_context *c = options_context("threads", "1");
  struct ravel_function *f;
  int64_t x = 0;
  fine(c, nested_expression(c, 900, &x));
  cr_expect_eq(x, 905);
  fails(c, RAVEL_SYNTAX, "nest", nested_expression(c, 100000, &x));
  char *type = nested(40, "[", "int", "]"), *deeper = nested(100000, "[", "int", "]");
  fine(c, ravel_expression(c, "#x", "x", type, &f));
  cr_expect_str_eq(ravel_function_takes(f), type);
  fails(c, RAVEL_SYNTAX, "nest", ravel_find(c, "sum", deeper, &f));
  free(type);
  free(deeper);
  fine(c, nested_expression(c, 3, &x));
  cr_expect_eq(x, 8);
  ravel_context_free(c);
}
