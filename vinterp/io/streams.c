/* streams.c - the table of streams: opening, closing, writing. Reading is in read.c, processes
 * are in spawn.c.
 */
#include "vinterp/io/streams-private.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long streams_free waits for children after closing their pipes. */
static const double CHILD_GRACE_SECONDS = 2.0;

/* ---- statuses ---- */

struct stream_status stream_ok(void) {
  return (struct stream_status){.ok = true, .message = ""};
}

struct stream_status stream_fail(struct streams *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(s->message, sizeof s->message, format, arguments);
  va_end(arguments);
  return (struct stream_status){.message = s->message};
}

struct stream_status stream_fail_errno(struct streams *s, int error) {
  char buffer[128];
  return stream_fail(s, "%s", strerror_r(error, buffer, sizeof buffer));
}

struct stream_status stream_fail_file(struct streams *s, const struct file_problem *problem) {
  return stream_fail(s, "%s", problem->text);
}

struct stream_status stream_no_memory(uint64_t bytes) {
  return (struct stream_status){.memory = bytes, .message = "out of memory"};
}

/* ---- SIGPIPE ---- */

static sigset_t only_sigpipe(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

void pipe_guard_begin(struct pipe_guard *guard) {
  sigset_t set = only_sigpipe(), deferred;
  sigpending(&deferred);
  guard->deferred = sigismember(&deferred, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &set, &guard->before);
}

void pipe_guard_end(const struct pipe_guard *guard) {
  int error = errno;
  if (!guard->deferred) {
    sigset_t set = only_sigpipe();
    const struct timespec at_once = {0};
    while (sigtimedwait(&set, NULL, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
  errno = error;
}

/* ---- the table ---- */

uint64_t streams_reserve(struct heap *heap, void **items, size_t count, size_t *capacity,
                         size_t size) {
  if (count < *capacity) return 0;
  size_t wanted = *capacity ? *capacity * 2 : 8;
  void *grown = heap_grow(heap, *items, *capacity * size, wanted * size);
  if (!grown) return wanted * size;
  *items = grown;
  *capacity = wanted;
  return 0;
}

struct streams *streams_new(struct heap *heap, FILE *in, FILE *out, FILE *err,
                            const struct permissions *permissions) {
  struct streams *s = heap_alloc(heap, sizeof *s);
  if (!s) return NULL;
  *s = (struct streams){
      .heap = heap, .permissions = *permissions, .results_wanted = out != NULL};
  if (streams_reserve(heap, (void **)&s->table, 0, &s->capacity, sizeof *s->table)) {
    streams_free(s);
    return NULL;
  }
  s->table[STREAM_IN] = (struct stream){.file = in, .readable = true};
  s->table[STREAM_OUT] = (struct stream){.file = out, .writable = true};
  s->table[STREAM_ERR] = (struct stream){.file = err, .writable = true};
  s->count = 3;
  return s;
}

struct stream *stream_find(struct streams *s, int64_t stream) {
  if (stream < 0 || (uint64_t)stream >= s->count || !s->table[stream].file) return NULL;
  return &s->table[stream];
}

static struct stream_status not_open(struct streams *s, int64_t stream) {
  if (stream == STREAM_NULL) return stream_fail(s, "the null stream is not open");
  return stream_fail(s, "stream %lld is not open", (long long)stream);
}

/* Returns the stream if it is open for writing, or for reading; else NULL, with the reason in
 * *status. */
static struct stream *find_open(struct streams *s, int64_t stream, bool writing,
                                struct stream_status *status) {
  struct stream *found = stream_find(s, stream);
  if (!found) {
    *status = not_open(s, stream);
  } else if (!(writing ? found->writable : found->readable)) {
    *status = stream_fail(s, "stream %lld is not open for %s", (long long)stream,
                          writing ? "writing" : "reading");
    found = NULL;
  }
  return found;
}

struct stream *stream_find_readable(struct streams *s, int64_t stream,
                                    struct stream_status *status) {
  return find_open(s, stream, false, status);
}

uint64_t stream_add(struct streams *s, FILE *file, bool readable, bool writable,
                    int64_t *stream) {
  size_t number = 0;
  while (number < s->count && s->table[number].file) number++;
  if (number == s->count) {
    uint64_t lacking =
        streams_reserve(s->heap, (void **)&s->table, s->count, &s->capacity, sizeof *s->table);
    if (lacking) return lacking;
    s->count++;
  }
  s->table[number] =
      (struct stream){.file = file, .readable = readable, .writable = writable, .owned = true};
  *stream = (int64_t)number;
  return 0;
}

bool streams_results_wanted(const struct streams *s) {
  return s->results_wanted;
}

/* ---- writing ---- */

/* Handles a failed write: bytes that could not be written must not come out later. */
static struct stream_status write_failed(struct streams *s, FILE *file) {
  int error = errno ? errno : EIO;
  __fpurge(file);
  clearerr(file);
  return stream_fail_errno(s, error);
}

static struct stream_status streams_put(struct streams *s, int64_t stream, const void *bytes,
                                        size_t n, bool flush) {
  struct stream_status status = stream_ok();
  struct stream *to = find_open(s, stream, true, &status);
  if (!to) return status;
  struct pipe_guard guard;
  pipe_guard_begin(&guard);
  errno = 0;
  if ((n > 0 && fwrite(bytes, 1, n, to->file) < n) || (flush && fflush(to->file) != 0)) {
    status = write_failed(s, to->file);
  }
  pipe_guard_end(&guard);
  return status;
}

struct stream_status stream_write(struct streams *s, int64_t stream, const void *bytes,
                                  size_t n) {
  return streams_put(s, stream, bytes, n, false);
}

struct stream_status stream_flush(struct streams *s, int64_t stream) {
  return streams_put(s, stream, NULL, 0, true);
}

/* ---- opening and closing ---- */

/* Opens a file for the program; NULL with a problem. */
static FILE *streams_open_file(const struct streams *s, const char *path, enum stream_mode mode,
                               struct file_problem *problem) {
  const enum file_use use = mode == STREAM_READ    ? FILE_READ
                            : mode == STREAM_WRITE ? FILE_WRITE
                                                   : FILE_APPEND;
  static const char *const modes[] = {
      [FILE_READ] = "r", [FILE_WRITE] = "w", [FILE_APPEND] = "a"};
  const int fd = file_open(&s->permissions, path, use, problem);
  if (fd < 0) return NULL;
  FILE *file = fdopen(fd, modes[use]);
  if (!file) {
    file_failed(problem, errno);
    close(fd);
  }
  return file;
}

/* Adds a stream to a file that is to be replaced. */
static struct stream_status open_replaced(struct streams *s, const char *path,
                                          int64_t *stream) {
  struct file_problem problem;
  struct replacement *r = heap_alloc(s->heap, sizeof *r);
  if (!r) return stream_no_memory(sizeof *r);
  if (!replacement_begin(r, &s->permissions, path, &problem)) {
    heap_free(s->heap, r, sizeof *r);
    return stream_fail_file(s, &problem);
  }
  const uint64_t lacking = stream_add(s, r->stream, false, true, stream);
  if (!lacking) {
    s->table[*stream].replaces = r;
    return stream_ok();
  }
  replacement_abandon(r);
  heap_free(s->heap, r, sizeof *r);
  return stream_no_memory(lacking);
}

void streams_set_stop(struct streams *s, const struct stop *stop) {
  s->stop = stop;
}

static struct stream_status open_path(struct streams *s, const char *path,
                                      enum stream_mode mode, int64_t *stream) {
  struct file_problem problem;
  if (mode == STREAM_REPLACE) return open_replaced(s, path, stream);
  FILE *file = streams_open_file(s, path, mode, &problem);
  if (!file) return stream_fail_file(s, &problem);
  const uint64_t lacking =
      stream_add(s, file, mode == STREAM_READ, mode != STREAM_READ, stream);
  if (!lacking) return stream_ok();
  fclose(file);
  return stream_no_memory(lacking);
}

struct stream_status stream_open(struct streams *s, const char *name, size_t length,
                                 enum stream_mode mode, int64_t *stream) {
  struct file_problem problem;
  *stream = STREAM_NULL;
  if (!files_permitted(&s->permissions, &problem)) return stream_fail_file(s, &problem);
  if (memchr(name, '\0', length)) return stream_fail(s, "the file name contains a NUL");
  const size_t bytes = length + 1;
  char *path = heap_alloc(s->heap, bytes);
  if (!path) return stream_no_memory(bytes);
  memcpy(path, name, length);
  path[length] = '\0';
  const struct stream_status status = open_path(s, path, mode, stream);
  heap_free(s->heap, path, bytes);
  return status;
}

void streams_set_arguments(struct streams *s, const char *const *arguments, size_t count) {
  s->arguments = arguments;
  s->argument_count = count;
  s->arguments_unknown = !arguments && count > 0;
}

/* Returns the arguments as a file in memory, at its beginning; NULL if memory runs out. */
static FILE *file_of_arguments(const struct streams *s) {
  size_t bytes = 1; /* an empty file needs one byte, too */
  for (size_t i = 0; i < s->argument_count; i++) bytes += strlen(s->arguments[i]) + 1;
  FILE *file = fmemopen(NULL, bytes, "w+");
  if (!file) return NULL;
  for (size_t i = 0; i < s->argument_count; i++) {
    fwrite(s->arguments[i], 1, strlen(s->arguments[i]) + 1, file);
  }
  rewind(file);
  return file;
}

struct stream_status stream_open_arguments(struct streams *s, int64_t *stream) {
  *stream = STREAM_NULL;
  if (s->arguments_unknown) return stream_fail(s, "the arguments are not known yet");
  FILE *file = file_of_arguments(s);
  if (!file) return stream_no_memory(1);
  const uint64_t lacking = stream_add(s, file, true, false, stream);
  if (!lacking) return stream_ok();
  fclose(file);
  return stream_no_memory(lacking);
}

/* Ends the writing of a file that is replaced. The new file gets its name; it is deleted if
 * something has failed, or the program ends without closing it. */
static struct stream_status close_replaced(struct streams *s, struct replacement *r,
                                           struct stream_status status, bool keeps) {
  struct file_problem problem;
  if (!keeps || !status.ok) {
    replacement_abandon(r);
  } else if (!replacement_end(r, &problem)) {
    status = stream_fail_file(s, &problem);
  }
  heap_free(s->heap, r, sizeof *r);
  return status;
}

/* Closes a stream. `keeps`: its written bytes are complete. */
static struct stream_status close_open(struct streams *s, struct stream *found, bool keeps) {
  struct stream_status status = stream_ok();
  const struct stream closed = *found;
  if (closed.file == s->table[STREAM_OUT].file && !closed.owned) s->results_wanted = false;
  found->file = NULL;
  struct pipe_guard guard;
  pipe_guard_begin(&guard);
  if (closed.columns && keeps) status = stream_columns_finish(s, closed.columns, closed.file);
  stream_columns_free(s, closed.columns);
  errno = 0;
  if (closed.replaces) {
    status = close_replaced(s, closed.replaces, status, keeps);
  } else if (closed.owned ? fclose(closed.file) != 0
                          : closed.writable && fflush(closed.file) != 0) {
    status = stream_fail_errno(s, errno ? errno : EIO);
  }
  pipe_guard_end(&guard);
  streams_reap(s);
  return status;
}

struct stream_status stream_close(struct streams *s, int64_t stream) {
  struct stream *found = stream_find(s, stream);
  return found ? close_open(s, found, true) : not_open(s, stream);
}

void stream_drop(struct streams *s, int64_t stream) {
  struct stream *found = stream_find(s, stream);
  /* An array knows whether it is complete; a text does not. */
  if (found) (void)close_open(s, found, found->columns != NULL);
}

/* ---- the end ---- */

void streams_reap(struct streams *s) {
  size_t kept = 0;
  for (size_t i = 0; i < s->child_count; i++) {
    if (waitpid(s->children[i], NULL, WNOHANG) == 0) s->children[kept++] = s->children[i];
  }
  s->child_count = kept;
}

/* Waits for children. Those that read to the end of their input end now. They get time to
 * finish writing, so that their output is complete when the program ends. */
static void wait_for_children(struct streams *s) {
  double waited = 0, step = 0.001;
  for (streams_reap(s); s->child_count > 0 && waited < CHILD_GRACE_SECONDS; streams_reap(s)) {
    const struct timespec pause = {.tv_nsec = (long)(step * 1e9)};
    nanosleep(&pause, NULL);
    waited += step;
    if (step < 0.02) step *= 2;
  }
}

void streams_free(struct streams *s) {
  if (!s) return;
  for (size_t i = 0; i < s->count; i++) stream_drop(s, (int64_t)i);
  wait_for_children(s);
  heap_free(s->heap, s->table, s->capacity * sizeof *s->table);
  heap_free(s->heap, s->children, s->child_capacity * sizeof *s->children);
  heap_free(s->heap, s, sizeof *s);
}
