/* results.c - printing the stack that a program leaves: all of it or nothing. */
#include "vinterp/machine/machine-private.h"

#include "vinterp/io/print.h"
#include "vinterp/io/streams.h"
#include <errno.h>
#include <string.h>

/* The text to print, kept until it is complete: in memory while it is short, then in a
 * temporary file. */
struct results {
  struct heap *heap;
  char *text;
  size_t used, capacity;
  FILE *file;
};

enum { RESULTS_FIRST = 1 << 12, RESULTS_IN_MEMORY = 1 << 20 };

/* Makes room for n more bytes in memory. Returns false if they should go to a file. */
static bool results_fit(struct results *r, size_t n) {
  if (n <= r->capacity - r->used) return true;
  size_t capacity = r->capacity ? r->capacity : RESULTS_FIRST;
  while (capacity < RESULTS_IN_MEMORY && capacity - r->used < n) capacity *= 2;
  if (capacity - r->used < n || capacity == r->capacity) return false;
  char *text = heap_grow(r->heap, r->text, r->capacity, capacity);
  if (!text) return false;
  r->text = text;
  r->capacity = capacity;
  return true;
}

static bool results_write(void *self, const char *bytes, size_t n) {
  struct results *r = self;
  if (!r->file && results_fit(r, n)) {
    memcpy(r->text + r->used, bytes, n);
    r->used += n;
    return true;
  }
  if (!r->file) {
    r->file = tmpfile();
    if (!r->file) return false;
    if (r->used && fwrite(r->text, 1, r->used, r->file) != r->used) return false;
  }
  return fwrite(bytes, 1, n, r->file) == n;
}

/* Sends the text to out. Returns false if that fails or the machine asks for an end. */
static bool results_send(struct results *r, struct machine *m) {
  FILE *out = m->options.out;
  if (!r->file) return fwrite(r->text, 1, r->used, out) == r->used;
  if (fflush(r->file) != 0) return false;
  rewind(r->file);
  char buffer[RESULTS_FIRST];
  size_t n;
  while ((n = fread(buffer, 1, sizeof buffer, r->file)) > 0) {
    if (machine_asks_to_stop(m) || fwrite(buffer, 1, n, out) != n) return false;
  }
  return !ferror(r->file);
}

static bool fail_results(struct machine *m, const char *why) {
  if (!m->faulted) {
    diag_add(m->diags, SEVERITY_ERROR, m->program->file, (struct source_pos){0, 0}, NULL,
             "cannot print the results: %s", why);
  }
  m->faulted = true;
  return false;
}

struct machine_site machine_end_site(const struct machine *m) {
  const struct ir_function *f = &m->program->functions[m->entry];
  uint32_t end = m->code->functions[m->entry].stack_entry;
  if (f->stack) end += f->stack->length - 1;
  return (struct machine_site){m->site, end};
}

/* Returns whether somebody reads the results. */
static bool results_wanted(const struct machine *m) {
  return m->streams ? streams_results_wanted(m->streams) : m->out != NULL;
}

bool machine_print_results(struct machine *m, const struct machine_site *site) {
  if (m->top == 0 || !results_wanted(m)) return true;
  if (m->options.progress_fd >= 0)
    progress_erase(&m->progress); /* it may be on the same terminal */
  struct results r = {.heap = m->heap};
  struct consumer consumer = {results_write, &r};
  bool ok = true;
  errno = 0;
  for (uint64_t k = 0; k < m->top && ok; k++) {
    ok = print_value(m, site, &m->stack[k], false, &consumer);
  }
  if (!ok) {
    fail_results(m, errno ? strerror(errno) : "out of memory");
  } else if (!results_send(&r, m) || fflush(m->options.out) != 0) {
    int error = errno;
    ok = machine_may_go_on(m, site) && fail_results(m, strerror(error));
  }
  if (r.file) fclose(r.file);
  heap_free(m->heap, r.text, r.capacity);
  return ok;
}
