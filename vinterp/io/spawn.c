/* spawn.c - SPAWN: a child process with pipes to the program (vcode.md, section 12.2). */
#include "base/number.h"
#include "vinterp/io/streams-private.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

/* ---- the command line ---- */

/* The words of a command, for exec: text and pointers in one block. */
struct words {
  char **list; /* NULL-terminated */
  size_t count;
  size_t bytes; /* size of the block */
};

/* Splits a command at white space. Returns false if there is no memory for words->bytes. */
static bool words_split(struct heap *heap, const char *command, size_t length,
                        struct words *words) {
  size_t most = length / 2 + 2; /* every word except the last needs a space; 1 for the NULL */
  words->bytes = most * sizeof(char *) + length + 1;
  words->list = heap_alloc(heap, words->bytes);
  if (!words->list) return false;
  char *text = (char *)(words->list + most);
  memcpy(text, command, length);
  text[length] = '\0';
  words->count = 0;
  for (size_t i = 0; i < length; i++) {
    if (is_space_byte(text[i])) {
      text[i] = '\0';
    } else if (i == 0 || text[i - 1] == '\0') {
      words->list[words->count++] = &text[i];
    }
  }
  words->list[words->count] = NULL;
  return true;
}

/* ---- descriptors ---- */

/* One of the child's standard streams. */
struct end {
  int child;      /* descriptor for the child, above 2, closed on exec; -1: none yet */
  bool piped;     /* a pipe connects it to the program */
  int64_t stream; /* number of the stream in the program */
};

static int duplicate_above_standard(int fd) {
  return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* Makes a pipe between the child's stream k and a new stream of the program. The child's
 * descriptor is above 2, so that moving it to its number cannot overwrite another one. */
static struct stream_status end_pipe(struct streams *s, int k, struct end *end) {
  int pair[2];
  if (pipe2(pair, O_CLOEXEC) != 0) return stream_fail_errno(s, errno);
  bool program_writes = k == STREAM_IN;
  int ours = pair[program_writes ? 1 : 0], theirs = pair[program_writes ? 0 : 1];
  end->child = duplicate_above_standard(theirs);
  int error = errno;
  close(theirs);
  FILE *file = NULL;
  struct pipe_end *pipe = NULL;
  struct stream_status status = end->child < 0
                                    ? stream_fail_errno(s, error)
                                    : pipe_open(s, ours, !program_writes, &file, &pipe);
  if (!status.ok) {
    close(ours);
    return status;
  }
  uint64_t lacking = stream_add(s, file, !program_writes, program_writes, &end->stream);
  if (lacking) {
    fclose(file);
    return stream_no_memory(lacking);
  }
  s->table[end->stream].pipe = pipe;
  end->piped = true;
  return stream_ok();
}

/* Replaces a standard stream that is no file of the system: the child reads nothing from it,
 * and what it writes is lost. */
static struct stream_status end_nowhere(struct streams *s, struct end *end) {
  const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd < 0) return stream_fail_errno(s, errno);
  end->child = duplicate_above_standard(fd);
  const int error = errno;
  close(fd);
  return end->child < 0 ? stream_fail_errno(s, error) : stream_ok();
}

/* Gives the child an open stream of the program. */
static struct stream_status end_inherit(struct streams *s, struct end *end) {
  struct stream *stream = stream_find(s, end->stream);
  if (!stream) return stream_fail(s, "stream %lld is not open", (long long)end->stream);
  fflush(stream->file); /* writes buffered output, and gives back input that was read ahead */
  int fd = stream->pipe ? pipe_descriptor(stream->pipe) : fileno(stream->file);
  if (fd < 0 && end->stream <= STREAM_ERR) return end_nowhere(s, end);
  if (fd < 0)
    return stream_fail(s, "a file that is written as a whole is no stream for others");
  end->child = duplicate_above_standard(fd);
  return end->child < 0 ? stream_fail_errno(s, errno) : stream_ok();
}

/* ---- the process ---- */

/* Returns whether the process could not be started, rather than its program executed. */
static bool is_shortage(int error) {
  return error == EAGAIN || error == ENOMEM;
}

/* Starts the program with the three ends as 0, 1, 2, and with default signals. Returns 0 or an
 * errno. */
static int spawn_start(const struct permissions *permissions, char *const *words,
                       const struct end ends[3], pid_t *child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  error = posix_spawnattr_init(&attributes);
  if (error) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  error = posix_spawnattr_setsigmask(&attributes, &none);
  if (!error) error = posix_spawnattr_setsigdefault(&attributes, &defaults);
  if (!error) {
    error =
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  for (int k = 0; k < 3 && !error; k++) {
    error = posix_spawn_file_actions_adddup2(&actions, ends[k].child, k);
  }
  struct file_problem problem;
  if (!error && !process_spawn(permissions, child, &actions, &attributes, words, &problem)) {
    error = problem.error ? problem.error : EPERM;
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/* Writes, for a child that could not execute its program, the message of a shell to its
 * standard error. */
static void report_for_child(int fd, const char *program, int error) {
  char reason[128], line[512];
  int n = snprintf(line, sizeof line, "%.300s: %s\n", program,
                   strerror_r(error, reason, sizeof reason));
  struct pipe_guard guard;
  pipe_guard_begin(&guard);
  if (write(fd, line, (size_t)n) < 0) { /* nobody reads it: nothing to be done */
  }
  pipe_guard_end(&guard);
}

/* Flushes streams, starts the child with the ends, and remembers it. */
static struct stream_status spawn_launch(struct streams *s, const struct words *words,
                                         const struct end ends[3]) {
  for (size_t i = 0; i < s->count; i++) {
    if (s->table[i].file && s->table[i].writable) (void)stream_flush(s, (int64_t)i);
  }
  streams_reap(s);
  uint64_t lacking = streams_reserve(s->heap, (void **)&s->children, s->child_count,
                                     &s->child_capacity, sizeof *s->children);
  if (lacking) return stream_no_memory(lacking);
  pid_t child;
  int error = spawn_start(&s->permissions, words->list, ends, &child);
  if (!error) {
    s->children[s->child_count++] = child;
  } else if (is_shortage(error)) {
    return stream_fail_errno(s, error);
  } else {
    report_for_child(ends[STREAM_ERR].child, words->list[0], error);
  }
  return stream_ok();
}

struct stream_status stream_spawn(struct streams *s, const char *command, size_t length,
                                  int64_t in_out_err[3]) {
  struct end ends[3];
  for (int k = 0; k < 3; k++) {
    ends[k] = (struct end){.child = -1, .stream = in_out_err[k]};
    in_out_err[k] = STREAM_NULL;
  }
  struct file_problem problem;
  if (!process_permitted(&s->permissions, &problem)) return stream_fail_file(s, &problem);
  if (memchr(command, '\0', length)) return stream_fail(s, "the command contains a NUL");
  struct words words;
  if (!words_split(s->heap, command, length, &words)) return stream_no_memory(words.bytes);
  struct stream_status status =
      words.count ? stream_ok() : stream_fail(s, "the command has no words");
  for (int k = 0; k < 3 && status.ok; k++) {
    status =
        ends[k].stream == STREAM_NULL ? end_pipe(s, k, &ends[k]) : end_inherit(s, &ends[k]);
  }
  if (status.ok) status = spawn_launch(s, &words, ends);
  for (int k = 0; k < 3; k++) {
    if (ends[k].child >= 0) close(ends[k].child);
    if (status.ok) {
      in_out_err[k] = ends[k].stream;
    } else if (ends[k].piped) {
      stream_drop(
          s, ends[k].stream); /* keeps s->message: a new pipe can be closed without failure */
    }
  }
  heap_free(s->heap, words.list, words.bytes);
  return status;
}
