/* pipes.c - pipes between the program and its children, as FILEs.
 *
 * A child that answers while it is still being written to may fill the pipe that it writes to,
 * and stop reading. Then both would wait for each other. So a wait for one pipe takes in what
 * comes from the others, and keeps it until the program reads it. Descriptors stay blocking,
 * since children may inherit them: a pipe that is ready takes PIPE_BUF bytes without blocking.
 */
#include "vinterp/io/streams-private.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

struct pipe_end {
  struct streams *streams;
  struct pipe_end *next; /* in streams->pipes */
  int fd;
  bool readable;
  bool ended; /* nothing more comes */
  /* Bytes that came before they were wanted: ahead[begin .. end). */
  char *ahead;
  size_t begin, end, capacity;
};

/* ---- reading ahead ---- */

/* Takes in the available bytes, at most PIPE_BUF. Returns 0 or an errno. */
static int take_in(struct pipe_end *p) {
  if (p->begin == p->end) p->begin = p->end = 0;
  if (p->capacity - p->end < PIPE_BUF) {
    const size_t wanted = 2 * p->capacity + PIPE_BUF;
    char *grown = heap_grow(p->streams->heap, p->ahead, p->capacity, wanted);
    if (!grown) return ENOMEM;
    p->ahead = grown;
    p->capacity = wanted;
  }
  const ssize_t n = read(p->fd, p->ahead + p->end, PIPE_BUF);
  if (n < 0) return errno;
  p->end += (size_t)n;
  p->ended = n == 0;
  return 0;
}

static bool may_come(const struct pipe_end *p) {
  return p->readable && !p->ended;
}

/* Waits for a pipe, and takes in what comes from others, until the first one is ready. Returns
 * 0 or an errno: EINTR if a signal came. */
static int wait_among(struct pipe_end *self, struct pollfd *polled) {
  struct streams *s = self->streams;
  for (;;) {
    nfds_t count = 0;
    polled[count++] =
        (struct pollfd){.fd = self->fd, .events = self->readable ? POLLIN : POLLOUT};
    for (struct pipe_end *p = s->pipes; p; p = p->next) {
      if (p != self && may_come(p))
        polled[count++] = (struct pollfd){.fd = p->fd, .events = POLLIN};
    }
    if (poll(polled, count, -1) < 0) return errno;
    if (polled[0].revents)
      return 0; /* POLLERR and POLLHUP, too: the following call tells which */
    count = 1;
    for (struct pipe_end *p = s->pipes; p; p = p->next) {
      if (p == self || !may_come(p)) continue;
      const int error = polled[count++].revents ? take_in(p) : 0;
      if (error) return error;
    }
  }
}

static int wait_until_ready(struct pipe_end *self) {
  size_t count = 1;
  for (const struct pipe_end *p = self->streams->pipes; p; p = p->next) count++;
  struct pollfd *polled = heap_alloc(self->streams->heap, count * sizeof *polled);
  if (!polled) return ENOMEM;
  const int error = wait_among(self, polled);
  heap_free(self->streams->heap, polled, count * sizeof *polled);
  return error;
}

/* ---- a FILE ---- */

static ssize_t read_pipe(void *cookie, char *bytes, size_t n) {
  struct pipe_end *p = cookie;
  if (p->begin < p->end) {
    const size_t there = p->end - p->begin, taken = there < n ? there : n;
    memcpy(bytes, p->ahead + p->begin, taken);
    p->begin += taken;
    return (ssize_t)taken;
  }
  if (p->ended) return 0;
  errno = wait_until_ready(p);
  return errno ? -1 : read(p->fd, bytes, n);
}

static ssize_t write_pipe(void *cookie, const char *bytes, size_t n) {
  struct pipe_end *p = cookie;
  size_t written = 0;
  while (written < n) {
    errno = wait_until_ready(p);
    if (errno) break;
    const size_t rest = n - written;
    const ssize_t now = write(p->fd, bytes + written, rest < PIPE_BUF ? rest : PIPE_BUF);
    if (now < 0) break;
    written += (size_t)now;
  }
  return (ssize_t)written; /* the C library takes less than n as an error */
}

static int close_pipe(void *cookie) {
  struct pipe_end *p = cookie;
  struct heap *heap = p->streams->heap;
  struct pipe_end **link = &p->streams->pipes;
  while (*link != p) link = &(*link)->next;
  *link = p->next;
  const int outcome = close(p->fd);
  heap_free(heap, p->ahead, p->capacity);
  heap_free(heap, p, sizeof *p);
  return outcome;
}

struct stream_status pipe_open(struct streams *s, int fd, bool readable, FILE **file,
                               struct pipe_end **end) {
  struct pipe_end *p = heap_alloc(s->heap, sizeof *p);
  if (!p) return stream_no_memory(sizeof *p);
  *p = (struct pipe_end){.streams = s, .next = s->pipes, .fd = fd, .readable = readable};
  const cookie_io_functions_t functions = {.read = readable ? read_pipe : NULL,
                                           .write = readable ? NULL : write_pipe,
                                           .close = close_pipe};
  *file = fopencookie(p, readable ? "r" : "w", functions);
  if (!*file) {
    heap_free(s->heap, p, sizeof *p);
    return stream_fail_errno(s, ENOMEM);
  }
  s->pipes = *end = p;
  return stream_ok();
}

int pipe_descriptor(const struct pipe_end *end) {
  return end->fd;
}
