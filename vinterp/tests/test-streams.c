/* test-streams.c - files, pipes and processes behind stream numbers. */
#include "vinterp/tests/directory.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct heap heap;
static struct streams *s;
static FILE *out, *err;

static void streams_begin_with(bool files, bool spawn) {
  heap_init(&heap, 0);
  out = tmpfile();
  err = tmpfile();
  s = streams_new(&heap, stdin, out, err,
                  &(struct permissions){.files = files, .processes = spawn});
  cr_assert(s);
}

static void streams_begin(void) {
  directory_begin();
  streams_begin_with(true, true);
}

static void streams_end(void) {
  streams_free(s);
  fclose(out);
  fclose(err);
  cr_assert_eq(heap.live, 0);
  directory_end();
}

TestSuite(streams, .init = streams_begin, .fini = streams_end, .timeout = 300);

static struct stream_status open_named(const char *name, enum stream_mode mode, int64_t *n) {
  return stream_open(s, name, strlen(name), mode, n);
}

static int64_t streams_must_open(const char *name, enum stream_mode mode) {
  return stream_opened(stream_open, s, name, mode);
}

static void must_write(int64_t n, const char *text) {
  cr_assert(stream_write(s, n, text, strlen(text)).ok);
  cr_assert(stream_flush(s, n).ok);
}

/* Returns everything that a stream still has. */
static const char *streams_rest(int64_t n) {
  static char text[4096];
  const bool none[256] = {false};
  struct stream_value v;
  int64_t stop;
  struct stream_status status = stream_read_chars(s, n, none, -1, CVL_I32, &v, &stop);
  cr_assert(status.ok, "%s", status.message);
  cr_assert_eq(stop, -1);
  cr_assert_lt(v.length, sizeof text);
  for (uint64_t i = 0; i < v.length; i++) text[i] = (char)((int32_t *)v.data)[i];
  text[v.length] = '\0';
  stream_value_free(s, &v);
  return text;
}

static const char *streams_text_of(FILE *file) {
  static char text[4096];
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  return text;
}

static struct stream_status streams_spawn(const char *command, int64_t ends[3]) {
  return stream_spawn(s, command, strlen(command), ends);
}

Test(streams, numbers_are_the_lowest_unused) {
  cr_assert_eq(streams_must_open("a", STREAM_WRITE), 3);
  cr_assert_eq(streams_must_open("b", STREAM_WRITE), 4);
  cr_assert(stream_close(s, 3).ok);
  cr_assert_eq(streams_must_open("c", STREAM_WRITE), 3);
  cr_assert_eq(streams_must_open("d", STREAM_WRITE), 5);
}

Test(streams, there_may_be_many) {
  for (int64_t n = 3; n < 700; n++) cr_assert_eq(streams_must_open("a", STREAM_APPEND), n);
}

Test(streams, modes) {
  int64_t n = streams_must_open("f", STREAM_WRITE);
  must_write(n, "one ");
  expect_stream_failure(stream_write(s, 77, "x", 1), "not open");
  cr_assert(stream_close(s, n).ok);
  n = streams_must_open("f", STREAM_APPEND);
  must_write(n, "two");
  cr_assert(stream_close(s, n).ok);
  n = streams_must_open("f", STREAM_READ);
  cr_assert_str_eq(streams_rest(n), "one two");
  expect_stream_failure(stream_write(s, n, "x", 1), "for writing");
  cr_assert(stream_close(s, n).ok);
  n = streams_must_open("f", STREAM_WRITE); /* truncates */
  cr_assert(stream_close(s, n).ok);
  cr_assert_str_eq(streams_rest(streams_must_open("f", STREAM_READ)), "");
}

Test(streams, written_bytes_are_visible_after_a_flush) {
  int64_t to = streams_must_open("f", STREAM_WRITE), from = streams_must_open("f", STREAM_READ);
  must_write(to, "now");
  cr_assert_str_eq(streams_rest(from), "now");
  must_write(to, "more"); /* the end of the file was not final */
  cr_assert_str_eq(streams_rest(from), "more");
}

Test(streams, failures_to_open) {
  int64_t n = 5;
  expect_stream_failure(open_named("missing", STREAM_READ, &n), "No such file or directory");
  cr_assert_eq(n, -1);
  expect_stream_failure(open_named("", STREAM_WRITE, &n), "No such file or directory");
  expect_stream_failure(open_named("/", STREAM_READ, &n), "Is a directory");
  expect_stream_failure(open_named("no/such", STREAM_APPEND, &n), "No such file or directory");
  expect_stream_failure(stream_open(s, "a\0b", 3, STREAM_WRITE, &n), "NUL");
  cr_assert_neq(access("a", F_OK), 0, "a name was cut at the NUL");
}

Test(streams, closing) {
  expect_stream_failure(stream_close(s, -1), "null stream");
  expect_stream_failure(stream_close(s, 3), "not open");
  expect_stream_failure(stream_close(s, INT64_MIN), "not open");
  cr_assert(streams_results_wanted(s));
  cr_assert(stream_close(s, STREAM_OUT).ok);
  cr_assert(!streams_results_wanted(s));
  expect_stream_failure(stream_close(s, STREAM_OUT), "not open");
  expect_stream_failure(stream_write(s, STREAM_OUT, "x", 1), "not open");
  cr_assert_eq(streams_must_open("f", STREAM_WRITE), STREAM_OUT);
  must_write(STREAM_OUT, "to the file");
  cr_assert(!streams_results_wanted(s));
  cr_assert_str_eq(streams_text_of(out), "");
}

Test(streams, standard_streams_have_one_direction) {
  expect_stream_failure(stream_write(s, STREAM_IN, "x", 1), "for writing");
  must_write(STREAM_OUT, "out");
  must_write(STREAM_ERR, "err");
  cr_assert_str_eq(streams_text_of(out), "out");
  cr_assert_str_eq(streams_text_of(err), "err");
}

Test(streams, a_full_disk_is_a_failure) {
  int64_t n = streams_must_open("/dev/full", STREAM_WRITE);
  struct stream_status status = stream_write(s, n, "x", 1);
  if (status.ok) status = stream_flush(s, n);
  expect_stream_failure(status, "No space left on device");
  cr_assert(stream_close(s, n).ok, "what failed was tried again");
}

Test(streams, a_broken_pipe_is_a_failure_and_no_signal) {
  int64_t ends[3] = {-1, STREAM_OUT, STREAM_ERR};
  cr_assert(streams_spawn("true", ends).ok);
  struct stream_status status = {.ok = true};
  char block[4096] = {0};
  for (int i = 0; i < 1000 && status.ok; i++) {
    status = stream_write(s, ends[0], block, sizeof block);
    if (status.ok) status = stream_flush(s, ends[0]);
    usleep(1000);
  }
  expect_stream_failure(status, "Broken pipe");
  sigset_t deferred, blocked;
  sigpending(&deferred);
  cr_assert(!sigismember(&deferred, SIGPIPE));
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  cr_assert(!sigismember(&blocked, SIGPIPE), "the mask was not restored");
}

Test(streams, a_process_with_three_pipes) {
  int64_t ends[3] = {-1, -1, -1};
  struct stream_status status = streams_spawn("  cat\t-\n", ends);
  cr_assert(status.ok, "%s", status.message);
  cr_assert_arr_eq(ends, ((int64_t[]){3, 4, 5}), sizeof ends);
  must_write(3, "through the cat");
  cr_assert(stream_close(s, 3).ok);
  cr_assert_str_eq(streams_rest(4), "through the cat");
  cr_assert_str_eq(streams_rest(5), "");
}

/* Both sides write far more than the pipes hold, and neither waits for the other. */
Test(streams, a_process_that_answers_while_it_is_written_to, .timeout = 100) {
  enum { BLOCK = 1 << 16, BLOCKS = 32 };
  int64_t ends[3] = {-1, -1, -1};
  char *block = malloc(BLOCK);
  memset(block, 'x', BLOCK);
  cr_assert(streams_spawn("tee /dev/stderr", ends).ok);
  for (int i = 0; i < BLOCKS; i++) {
    cr_assert(stream_write(s, ends[0], block, BLOCK).ok);
    cr_assert(stream_flush(s, ends[0]).ok);
  }
  cr_assert(stream_close(s, ends[0]).ok);
  for (int k = 1; k <= 2; k++) { /* the answers on standard output and on standard error */
    struct stream_value chars;
    int64_t stop;
    const bool none[256] = {false};
    cr_assert(stream_read_chars(s, ends[k], none, -1, CVL_I32, &chars, &stop).ok);
    cr_assert_eq(stop, -1);
    cr_assert_eq(chars.length, (uint64_t)BLOCK * BLOCKS);
    const int32_t *codes = chars.data;
    for (uint64_t i = 0; i < chars.length; i++) cr_assert_eq(codes[i], 'x');
    stream_value_free(s, &chars);
    cr_assert(stream_close(s, ends[k]).ok);
  }
  free(block);
}

Test(streams, a_process_that_nobody_reads_takes_memory_up_to_the_limit, .timeout = 100) {
  int64_t ends[3] = {-1, -1, STREAM_ERR};
  char block[1 << 16] = {0};
  cr_assert(streams_spawn("yes", ends).ok);
  heap.limit = heap.live + (1 << 20);
  struct stream_status status = {.ok = true};
  for (int i = 0; i < 100 && status.ok; i++)
    status = stream_write(s, ends[0], block, sizeof block);
  expect_stream_failure(status, "Cannot allocate memory");
  heap.limit = 0;
}

Test(streams, a_process_inherits_streams_in_any_order) {
  int64_t file = streams_must_open("f", STREAM_WRITE);
  int64_t ends[3] = {0, STREAM_ERR, STREAM_OUT}; /* crossed */
  char script[] = "#!/bin/sh\necho output\necho errors >&2\n";
  must_write(file, script);
  cr_assert(stream_close(s, file).ok);
  chmod("f", 0755);
  cr_assert(streams_spawn("./f", ends).ok);
  cr_assert_arr_eq(ends, ((int64_t[]){0, STREAM_ERR, STREAM_OUT}), sizeof ends);
  streams_free(s); /* waits for the child */
  cr_assert_str_eq(streams_text_of(err), "output\n");
  cr_assert_str_eq(streams_text_of(out), "errors\n");
  s = streams_new(&heap, stdin, out, err,
                  &(struct permissions){.files = true, .processes = true});
}

Test(streams, a_process_gets_no_other_descriptors) {
  streams_must_open("secret", STREAM_WRITE);
  int64_t ends[3] = {-1, -1, STREAM_ERR};
  cr_assert(streams_spawn("ls -l /proc/self/fd", ends).ok);
  cr_assert(stream_close(s, ends[0]).ok);
  const char *list = streams_rest(ends[1]);
  cr_assert(strstr(list, "pipe:"), "%s", list); /* its own input */
  cr_assert(!strstr(list, "secret"), "%s", list);
}

Test(streams, a_missing_program_is_reported_by_the_child) {
  int64_t ends[3] = {-1, -1, -1};
  cr_assert(streams_spawn("no-such-program-here x", ends).ok);
  cr_assert_str_eq(streams_rest(5), "no-such-program-here: No such file or directory\n");
  cr_assert_str_eq(streams_rest(4), "");
}

Test(streams, failures_to_spawn_leave_no_stream) {
  int64_t ends[3] = {-1, 77, -1};
  expect_stream_failure(streams_spawn("true", ends), "stream 77 is not open");
  cr_assert_arr_eq(ends, ((int64_t[]){-1, -1, -1}), sizeof ends);
  cr_assert_eq(streams_must_open("f", STREAM_WRITE), 3);
  expect_stream_failure(streams_spawn(" \t ", ends), "no words");
  expect_stream_failure(stream_spawn(s, "a\0b", 3, ends), "NUL");
  int64_t negative[3] = {-2, -1, -1};
  expect_stream_failure(streams_spawn("true", negative), "not open");
  cr_assert_eq(streams_must_open("g", STREAM_WRITE), 4);
}

Test(streams, children_are_reaped) {
  int64_t ends[3] = {-1, STREAM_OUT, STREAM_ERR};
  cr_assert(streams_spawn("cat", ends).ok);
  streams_free(s);
  cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "a child is left");
  s = streams_new(&heap, stdin, out, err,
                  &(struct permissions){.files = true, .processes = true});
}

static void expect_contents(const char *name, const char *wanted) {
  char text[16] = "";
  FILE *file = fopen(name, "r");
  cr_assert(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  cr_assert_str_eq(text, wanted);
}

Test(streams, what_is_replaced_appears_when_the_stream_is_closed) {
  int64_t n;
  cr_assert(open_named("f", STREAM_WRITE, &n).ok && stream_write(s, n, "old", 3).ok);
  cr_assert(stream_close(s, n).ok);
  cr_assert(open_named("f", STREAM_REPLACE, &n).ok && stream_write(s, n, "new", 3).ok);
  cr_assert(stream_flush(s, n).ok);
  expect_contents("f", "old");
  int64_t ends[3] = {STREAM_IN, n, STREAM_ERR};
  expect_stream_failure(streams_spawn("true", ends), "no stream for others");
  cr_assert(stream_close(s, n).ok);
  expect_contents("f", "new");
}

Test(streams, what_is_replaced_but_not_closed_is_as_it_was) {
  int64_t n;
  cr_assert(open_named("g", STREAM_REPLACE, &n).ok && stream_write(s, n, "new", 3).ok);
  streams_free(s);
  cr_assert_neq(access("g", F_OK), 0);
  s = streams_new(&heap, stdin, out, err,
                  &(struct permissions){.files = true, .processes = true});
}

Test(streams, permissions) {
  streams_free(s);
  s = streams_new(&heap, stdin, out, err, &(struct permissions){.files = false});
  int64_t n, ends[3] = {-1, -1, -1};
  expect_stream_failure(open_named("f", STREAM_WRITE, &n), "--allow-files");
  cr_assert_neq(access("f", F_OK), 0);
  expect_stream_failure(streams_spawn("touch f", ends), "--allow-spawn");
  expect_stream_failure(open_named("f", STREAM_READ, &n), "--allow-files");
}

Test(streams, every_failed_allocation_is_an_error_and_leaks_nothing) {
  streams_free(s);
  bool ok = false;
  for (uint64_t n = 1; !ok; n++) {
    heap_init(&heap, 0);
    heap.fail_at = n;
    s = streams_new(&heap, stdin, out, err,
                    &(struct permissions){.files = true, .processes = true});
    if (!s) continue;
    int64_t ends[3] = {-1, -1, -1}, file;
    struct stream_status status = streams_spawn("true and more words", ends);
    for (int i = 0; i < 5 && status.ok; i++) {
      status = open_named("f", i % 2 ? STREAM_WRITE : STREAM_REPLACE, &file);
    }
    ok = status.ok;
    cr_assert(ok || status.memory > 0, "%s", status.message);
    streams_free(s);
    cr_assert_eq(heap.live, 0);
  }
  heap_init(&heap, 0);
  s = streams_new(&heap, stdin, out, err,
                  &(struct permissions){.files = true, .processes = true});
}
