/* nesl-tune.c - nesl --tune, and what tuning values are kept for.
 *
 * Every run is a session of its own, which reads and compiles the sources anew: forms depend on
 * each other. What counts is the time of the machine, with --entry that of the call.
 */
#include "base/number.h"
#include "commands/nesl.h"
#include "commands/process.h"
#include "commands/source.h"
#include "commands/tune.h"

#include <string.h>
#include <sys/stat.h>

/* ---- what values are kept for ---- */

/* The names of sources are operands: all of them with -e, else the first. */
static unsigned source_count(const struct nesl_options *o) {
  return o->expression ? o->operand_count : 1;
}

static uint64_t regular_file_bytes(const char *file) {
  struct stat about;
  return stat(file, &about) == 0 && S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
}

/* The first source that can be read but once, such as a pipe; NULL if there is none. */
static const char *read_but_once(const struct nesl_options *o) {
  struct stat about;
  for (unsigned i = 0; i < source_count(o); i++) {
    const char *file = o->operands[i];
    if (strcmp(file, "-") == 0 || (stat(file, &about) == 0 && !S_ISREG(about.st_mode)))
      return file;
  }
  return NULL;
}

static void digest_text(struct sha256_state *s, const char *text) {
  if (text) sha256_add(s, text, strlen(text));
  sha256_add(s, "", 1);
}

/* The arguments of --entry. Of those in files the size counts; an integer counts as so many
 * elements. What other expressions make of it is not known: they are as they are written. */
static uint64_t add_arguments(struct sha256_state *s, const struct nesl_options *o) {
  uint64_t bytes = 0;
  for (unsigned i = 1; o->entry && i < o->operand_count; i++) {
    const char *argument = o->operands[i];
    const int64_t most = INT64_MAX / 8 / NESL_MOST_OPERANDS;
    int64_t number;
    if (nesl_is_array_file(argument)) {
      bytes += regular_file_bytes(argument);
    } else if (parse_int(argument, strlen(argument), -most, most, &number)) {
      bytes += sizeof number * (uint64_t)(number < 0 ? -number : number);
    } else {
      digest_text(s, argument);
    }
  }
  return bytes;
}

/* The text of a source; *input: whether it names standard input, or loads others that may. */
static bool digest_source(struct sha256_state *s, const char *file, bool *input) {
  struct source_text text = {0};
  struct heap heap;
  struct arena messages;
  struct diag_list diags; /* that it cannot be read is said when it is executed */
  heap_init(&heap, SOURCE_MAX + DIAG_MEMORY);
  arena_init(&messages, &heap);
  diag_list_init(&diags, &messages);
  const bool fine = source_read(&text, &heap, file, &diags);
  if (fine) {
    const size_t length = text.length;
    sha256_add(s, text.text, length);
    *input |= memmem(text.text, length, "stdin", 5) || memmem(text.text, length, "load", 4);
  }
  source_free(&text, &heap);
  arena_free(&messages);
  return fine;
}

void nesl_identify(struct nesl_options *o) {
  const uint8_t ways[] = {(uint8_t)o->widths.int_elem,
                          (uint8_t)o->widths.float_elem,
                          o->classic,
                          o->optimise,
                          o->no_fusion,
                          o->unchecked,
                          o->check_overflow,
                          (uint8_t)o->native};
  struct sha256_state state;
  bool known = o->mode == NESL_RUN && !o->direct && !read_but_once(o) &&
               (o->tune_seconds > 0 || tuned_any());
  if (!known) return;
  sha256_begin(&state);
  sha256_add(&state, ways, sizeof ways);
  digest_text(&state, o->expression);
  digest_text(&state, o->entry);
  o->reads_input = o->expression && strstr(o->expression, "stdin");
  for (unsigned i = 0; i < source_count(o) && known; i++)
    known = digest_source(&state, o->operands[i], &o->reads_input);
  const uint64_t bytes = add_arguments(&state, o) + (o->reads_input ? tune_input_bytes() : 0);
  o->identity.input_class = tuned_class(bytes);
  sha256_end(&state, o->identity.digest);
  o->has_identity = known;
}

/* ---- runs ---- */

struct nesl_runs {
  struct nesl_options *options;
  nesl_session_run *run;
};

/* A session has said itself why it failed. */
static double run_tuned_session(void *with, const struct machine_options *machine) {
  const struct nesl_runs *r = with;
  double seconds;
  r->options->machine = *machine;
  return r->run(r->options, machine->out, &seconds) == STATUS_DONE ? seconds : -1;
}

static int tune_sources(struct nesl_options *o, nesl_session_run *session,
                        struct diag_list *diags) {
  struct nesl_runs runs = {o, session};
  const struct machine_options machine = o->machine;
  return tune(
      &(struct tune_task){.command = "nesl",
                          .program = o->operand_count > 0 ? o->operands[0] : "the expression",
                          .seconds = o->tune_seconds,
                          .reads_input = o->reads_input,
                          .identity = o->identity,
                          .machine = &machine,
                          .diags = diags,
                          .run = run_tuned_session,
                          .with = &runs});
}

int nesl_tune(struct nesl_options *o, nesl_session_run *session) {
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  heap_init(&heap, DIAG_MEMORY);
  arena_init(&arena, &heap);
  diag_list_init(&diags, &arena);
  const char *once = read_but_once(o);
  int status = STATUS_FAILED;
  if (once) {
    diag_add(&diags, SEVERITY_ERROR, once, (struct source_pos){0}, NULL,
             "--tune reads the program for every run: it must be a regular file");
  } else {
    status = tune_sources(o, session, &diags);
  }
  diag_print(&diags, "nesl", MAX_ERRORS_SHOWN, stderr);
  arena_free(&arena);
  return status;
}
