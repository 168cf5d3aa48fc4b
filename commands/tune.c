/* tune.c - see tune.h. */
#include "commands/tune.h"

#include "base/number.h"
#include "commands/output.h"
#include "commands/process.h"
#include "commands/tune-search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_default(const struct tuning *values) {
  static const struct tuning none;
  return memcmp(values, &none, sizeof none) == 0;
}

/* ---- standard input, for every run anew ---- */

uint64_t tune_input_bytes(void) {
  struct stat about;
  if (fstat(STDIN_FILENO, &about) != 0 || !S_ISREG(about.st_mode)) return 0;
  const off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
  return at >= 0 && at < about.st_size ? (uint64_t)(about.st_size - at) : 0;
}

struct replayed {
  int fd; /* -1: there is nothing to read */
  off_t begin;
};

static bool copy_input(int to) {
  char bytes[1 << 16];
  for (;;) {
    const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    if (n == 0) return true;
    if (n < 0 && errno != EINTR) return false;
    if (n < 0 && stop_asks(process_stop()) == STOP_NOT) continue;
    if (n < 0 || write(to, bytes, (size_t)n) != n) return false;
  }
}

/* A file is read from where it stands; from a pipe all is read now. */
static bool replay_begin(struct replayed *r, const struct tune_task *t) {
  *r = (struct replayed){.fd = -1};
  if (!t->reads_input) return true;
  r->begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (r->begin >= 0) {
    r->fd = dup(STDIN_FILENO);
    return r->fd >= 0 || output_complain(t->diags, "standard input", errno);
  }
  r->begin = 0;
  r->fd = memfd_create("ravel-input", MFD_CLOEXEC);
  if (r->fd >= 0 && copy_input(r->fd)) return true;
  return output_complain(t->diags, "standard input", errno);
}

static FILE *replay_open(const struct replayed *r) {
  if (r->fd < 0) return fopen("/dev/null", "re");
  if (lseek(r->fd, r->begin, SEEK_SET) < 0) return NULL;
  const int fd = dup(r->fd);
  FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
  if (!in && fd >= 0) close(fd);
  return in;
}

/* ---- a run ---- */

/* A stream of the program, of which only the digest is kept. */
struct digested {
  struct sha256_state state;
  FILE *stream;
};

static ssize_t digest_write(void *cookie, const char *bytes, size_t length) {
  sha256_add(cookie, bytes, length);
  return (ssize_t)length;
}

static bool digest_begin(struct digested *d) {
  sha256_begin(&d->state);
  d->stream = fopencookie(&d->state, "w", (cookie_io_functions_t){.write = digest_write});
  return d->stream != NULL;
}

struct tuning_run {
  const struct tune_task *task;
  struct replayed input;
  struct machine_tuned now;
  const struct cvl_backend *backend;
  struct cvl_device device;
  unsigned threads;
  uint64_t runs;
  uint8_t printed[2][SHA256_BYTES]; /* what the first run wrote to its streams 1 and 2 */
  bool differs, differs_by_itself;  /* a run wrote something else; with the defaults */
  struct tune_search *search;
};

static const struct machine_tuned *of_now(void *with, const struct cvl_backend *b,
                                          const struct machine_options *o) {
  struct tuning_run *r = with;
  if (r->runs == 0) {
    r->backend = b;
    r->device = (struct cvl_device){.name = "a device"};
    (void)tuned_device(b, o, &r->device);
    r->threads = o->threads ? o->threads : r->device.processors;
  }
  return &r->now;
}

/* Whether the run has written the same as the first one. */
static bool same_output(struct tuning_run *r, struct digested streams[2]) {
  bool same = true;
  for (int i = 0; i < 2; i++) {
    uint8_t digest[SHA256_BYTES];
    sha256_end(&streams[i].state, digest);
    if (r->runs == 0) memcpy(r->printed[i], digest, sizeof digest);
    same &= memcmp(r->printed[i], digest, sizeof digest) == 0;
  }
  return same;
}

static bool complain_of_tuning(const struct tuning_run *r, const char *text) {
  diag_add(r->task->diags, SEVERITY_ERROR, r->task->program, (struct source_pos){0}, NULL, "%s",
           text);
  return false;
}

static double run_tuned(void *with, const struct tuning *values) {
  struct tuning_run *r = with;
  struct machine_options options = *r->task->machine;
  struct digested streams[2] = {{.stream = NULL}};
  double seconds = -1;
  r->now = (struct machine_tuned){values, "--tune"};
  options.tuning = (struct machine_tuning){of_now, r};
  options.in = replay_open(&r->input);
  if (options.in && digest_begin(&streams[0]) && digest_begin(&streams[1])) {
    options.out = streams[0].stream;
    options.err = streams[1].stream;
    seconds = r->task->run(r->task->with, &options);
  } else {
    output_complain(r->task->diags, "standard input", errno);
  }
  for (int i = 0; i < 2; i++) {
    if (streams[i].stream) fclose(streams[i].stream);
  }
  if (options.in) fclose(options.in);
  if (seconds < 0) return seconds;
  if (!same_output(r, streams)) {
    r->differs = true;
    r->differs_by_itself = is_default(values);
    return -1;
  }
  r->runs++;
  return seconds;
}

static double tuning_seconds(void *with) {
  (void)with;
  return stop_clock();
}

/* ---- what is printed ---- */

static void print_trial(void *with, const struct tune_trial *t) {
  char value[TUNING_TEXT] = "";
  const char *name = t->what == TRIED_DEFAULTS ? "(the defaults)" : "(the best, anew)";
  (void)with;
  if (t->what == TRIED_VALUE) {
    name = tuning_info(t->id)->name;
    tuning_text(value, t->value);
  }
  printf("%-24s %8s %12.3f ms %6.1f %% %4u runs %8.3f%s\n", name, value, 1e3 * t->times.median,
         100 * t->times.spread, t->times.runs, t->ratio, t->kept ? " *" : "");
  fflush(stdout);
}

/* "2 threads" */
static void print_processors(const struct tuning_run *r, char *text, size_t size) {
  const char *what = r->backend->own_memory ? "multiprocessor" : "thread";
  snprintf(text, size, "%u %s%s", r->threads, what, r->threads == 1 ? "" : "s");
}

static void tune_print_head(const struct tuning_run *r) {
  char processors[64];
  print_processors(r, processors, sizeof processors);
  printf("%s on %s: %.127s, %s\n", r->task->program, r->backend->name, r->device.name,
         processors);
  printf("%-24s %8s %15s %8s %9s %8s\n", "", "value", "median", "spread", "", "ratio");
}

/* A name of the user's in a comment. */
static void print_plainly(const char *text, FILE *out) {
  for (; *text; text++) fputc((unsigned char)*text < ' ' ? '?' : *text, out);
}

static void print_values(const struct tuning *values, FILE *out) {
  for (unsigned id = 0; id < TUNING_COUNT; id++) {
    char text[TUNING_TEXT];
    if (values->value[id] == 0) continue;
    tuning_text(text, values->value[id]);
    fprintf(out, "%s %s\n", tuning_info((enum tuning_id)id)->name, text);
  }
}

/* ---- the outcome ---- */

static bool keep_tuned(const struct tuning_run *r, const char *path) {
  char *text = NULL, processors[64];
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  if (!out) return output_complain(r->task->diags, path, errno);
  fprintf(out, "# made by %s --tune of ", r->task->command);
  print_plainly(r->task->program, out);
  fprintf(out, "\n# on %s, ", r->backend->name);
  print_plainly(r->device.name, out);
  print_processors(r, processors, sizeof processors);
  fprintf(out, ", %s\n# %.3f of the time of the defaults\n", processors, r->search->ratio);
  print_values(&r->search->best, out);
  const bool written = fclose(out) == 0 && text;
  const bool kept = written ? tuned_keep(path, text, length, r->task->diags)
                            : output_complain(r->task->diags, path, ENOMEM);
  free(text);
  return kept;
}

/* Removes what an earlier search has kept: the defaults are the best now. */
static void forget_outcome(const char *path) {
  if (tuned_forget(path)) printf("removed: %s\n", path);
}

static bool end_tuning(const struct tuning_run *r) {
  char path[PATH_MAX];
  const bool somewhere = tuned_path(&r->task->identity, r->backend, r->task->machine, path);
  printf("%u value%s tried%s\n", r->search->trials, r->search->trials == 1 ? "" : "s",
         r->search->complete ? "" : "; there was no time for the others: --tune=SECONDS");
  if (is_default(&r->search->best)) {
    puts("nothing is clearly better than the defaults");
    if (somewhere) forget_outcome(path);
    return true;
  }
  printf("best, in %.3f of the time of the defaults:\n", r->search->ratio);
  print_values(&r->search->best, stdout);
  if (!somewhere)
    return complain_of_tuning(r, "there is no folder to keep tuning values in: set HOME");
  if (!keep_tuned(r, path)) return false;
  printf("kept in %s: later runs with input of this size use them\n", path);
  return true;
}

/* Why the search has ended early. */
static int tuning_failed(const struct tuning_run *r) {
  if (!r->differs) return process_failed();
  complain_of_tuning(
      r, r->differs_by_itself
             ? "what the program prints is not the same in each run, so that runs cannot be "
               "compared: does it print times?"
             : "another tuning value has changed what the program prints: this is an error "
               "of Ravel");
  return STATUS_FAILED;
}

/* The first run, which also finds out the back end, and what the program prints. */
static bool run_first(struct tuning_run *r) {
  const struct tuning none = {0};
  if (run_tuned(r, &none) < 0) return false;
  return r->backend ||
         complain_of_tuning(r, "nothing of it runs on a back end: it has no tuning values");
}

int tune(const struct tune_task *task) {
  struct tune_search search = {.seconds = task->seconds,
                               .run = run_tuned,
                               .clock = tuning_seconds,
                               .tried = print_trial};
  struct tuning_run r = {.task = task, .search = &search};
  if (!replay_begin(&r.input, task)) return STATUS_FAILED;
  int status = STATUS_FAILED;
  if (run_first(&r)) {
    search.with = &r;
    search.backend = r.backend->name;
    tune_print_head(&r);
    status = tune_search(&search) ? (end_tuning(&r) ? STATUS_DONE : STATUS_FAILED)
                                  : tuning_failed(&r);
  } else {
    status = process_failed();
  }
  if (r.input.fd >= 0) close(r.input.fd);
  return status;
}
