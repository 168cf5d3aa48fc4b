/* run-options.c - see run-options.h. */
#include "commands/run-options.h"
#include "base/c-compiler.h"
#include "base/number.h"
#include "commands/arguments.h"
#include "commands/process.h"
#include "commands/tuned.h"
#include "vinterp/choose.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool seconds_value(const char *command, const char *text, double *x) {
  char *end;
  *x = strtod(text, &end);
  if (end != text && *end == '\0' && isfinite(*x) && *x > 0) return true;
  return usage_error(command, "--time must be a positive number of seconds, not '%.40s'", text);
}

static bool backend_value(const char *command, const char *text, const char **name) {
  *name = text;
  if (choose_knows(text)) return true;
  return usage_error(command, "there is no back end '%.40s'; vinterp --devices lists them",
                     text);
}

static bool native_value(const char *command, const char *text, enum native_wish *wish) {
  if (output_native_wish(text, wish)) return true;
  return usage_error(command, "--native may be followed by =wait or =off, not '%.40s'", text);
}

static bool tune_value(const char *command, const char *text, double *seconds) {
  char *end;
  *seconds = 60;
  if (!text) return true;
  *seconds = strtod(text, &end);
  if (end != text && *end == '\0' && isfinite(*seconds) && *seconds > 0) return true;
  return usage_error(
      command, "--tune must be followed by a positive number of seconds, not '%.40s'", text);
}

/* Also random:SEED, for tests. */
static bool chunks_value(const char *command, const char *text, struct machine_chunks *chunks) {
  static const char random[] = "random:";
  const size_t length = sizeof random - 1;
  int64_t n = 0;
  *chunks = (struct machine_chunks){.mode = MACHINE_CHUNKS_AUTO};
  if (strcmp(text, "auto") == 0) return true;
  if (strcmp(text, "off") == 0) {
    chunks->mode = MACHINE_CHUNKS_OFF;
  } else if (strncmp(text, random, length) == 0 &&
             parse_int(text + length, strlen(text + length), 0, INT64_MAX, &n)) {
    chunks->mode = MACHINE_CHUNKS_RANDOM;
  } else if (parse_int(text, strlen(text), 1, INT64_MAX, &n)) {
    chunks->mode = MACHINE_CHUNKS_FIXED;
  } else {
    return usage_error(
        command, "--chunks must be auto, off or a number of instances, not '%.40s'", text);
  }
  chunks->n = (uint64_t)n;
  return true;
}

static bool procedures_value(const char *command, const char *text,
                             enum machine_procedures *procedures) {
  if (machine_procedures_named(text, procedures)) return true;
  return usage_error(command, "--procedures must be auto, off or always, not '%.40s'", text);
}

bool run_option(const char *command, enum run_option id, const char *value,
                const struct run_options *o) {
  struct machine_options *m = o->machine;
  int64_t x = 0;
  bool ok = true;
  switch (id) {
  case RUN_NATIVE: return native_value(command, value, o->native);
  case RUN_THREADS:
    ok = int_value(command, "threads", value, 1, 4096, &x);
    m->threads = (unsigned)x;
    break;
  case RUN_BACKEND: return backend_value(command, value, o->backend_name);
  case RUN_DEVICE:
    ok = int_value(command, "device", value, 0, INT_MAX, &x);
    m->device = (int)x;
    break;
  case RUN_TUNING: *o->tuning = value; break;
  case RUN_TUNE: return tune_value(command, value, o->tune_seconds);
  case RUN_SEED:
    ok = int_value(command, "seed", value, INT64_MIN, INT64_MAX, &x);
    m->seed = (uint64_t)x;
    break;
  case RUN_TIME: return seconds_value(command, value, o->seconds);
  case RUN_CHUNKS: return chunks_value(command, value, &m->chunks);
  case RUN_PROCEDURES: return procedures_value(command, value, &m->procedures);
  case RUN_MAX_DEPTH:
    ok = int_value(command, "max-depth", value, 1, INT64_MAX, &x);
    m->max_depth = (uint64_t)x;
    break;
  case RUN_ALLOW_FILES: m->permissions.files = true; break;
  case RUN_ALLOW_SPAWN: m->permissions.processes = true; break;
  }
  return ok;
}

bool run_tuning_listed(const char *command, const char *tuning, int *status) {
  struct tuned tuned;
  struct machine_options options = machine_default_options();
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  if (!tuning || strcmp(tuning, "list") != 0) return false;
  heap_init(&heap, DIAG_MEMORY);
  arena_init(&arena, &heap);
  diag_list_init(&diags, &arena);
  *status = tuned_begin(&tuned, NULL, NULL, &options, &diags) ? STATUS_DONE : STATUS_FAILED;
  if (*status == STATUS_DONE) tuning_list(&tuned.values, stdout);
  diag_print(&diags, command, MAX_ERRORS_SHOWN, stderr);
  arena_free(&arena);
  return true;
}

void run_describe_compiler(void) {
  struct c_compiler c;
  c_compiler_choose(&c, NULL);
  c_compiler_describe(&c, stdout);
  putchar('\n');
}

struct machine *run_machine(const char *backend_name, const struct machine_options *options,
                            struct diag_list *diags) {
  struct machine *machine = choose_machine(backend_name, options, diags);
  if (machine) return machine;
  diag_add(diags, SEVERITY_NOTE, NULL, (struct source_pos){0}, NULL,
           "--devices lists what there is%s",
           strcmp(backend_name, "cpu") == 0 ? "" : "; --backend cpu needs nothing else");
  return NULL;
}
