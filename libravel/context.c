/* context.c - the life of a context. */
#include "libravel/private.h"

#include "base/cache.h"
#include "vinterp/choose.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *ravel_version(void) {
  return RAVEL_VERSION;
}

/* ---- beginning ---- */

static enum ravel_code open_program_streams(struct ravel_context *c) {
  c->in = fopen("/dev/null", "re");
  c->err = fopen("/dev/null", "we");
  c->out = ravel_printed_open(c);
  if (c->in && c->err && c->out) return RAVEL_OK;
  return ravel_fail(c, RAVEL_DEVICE, "/dev/null cannot be opened");
}

static enum ravel_code make_context_session(struct ravel_context *c, void *unused) {
  (void)unused;
  struct session *session =
      session_new(&c->arena, c->options.machine.widths.int_elem == CVL_I32, c->diags);
  if (!session) return ravel_failed(c, RAVEL_INTERNAL);
  session->overflow_checks = c->options.check_overflow;
  session_collect_from_now(session);
  c->session = session;
  ravel_types_begin(c);
  return RAVEL_OK;
}

static void permit(struct ravel_context *c, struct permissions *p) {
  p->files_option = "the option files";
  p->processes_option = "the option processes";
  p->refused = &c->refused;
  p->stop = &c->stop;
}

/* Keeps the remarks that a command prints to standard error. */
static void keep_remark(void *context, const char *line) {
  struct ravel_context *c = context;
  snprintf(c->remark, sizeof c->remark, "%s", line);
  c->remarked = true;
}

static enum ravel_code make_context_machine(struct ravel_context *c) {
  struct machine_options *m = &c->options.machine;
  m->in = c->in;
  m->out = c->out;
  m->err = c->err;
  m->stop = &c->stop;
  m->say = (struct cvl_speaker){keep_remark, c};
  m->kernels = c->options.kernels[0] ? c->options.kernels : NULL;
  permit(c, &m->permissions);
  if (c->options.compiler && cache_folder(c->folder, sizeof c->folder) == 0) {
    m->compile = CVL_COMPILE_WHEN_IT_PAYS;
    m->compile_directory = c->folder;
    m->zig = c->options.zig[0] ? c->options.zig : NULL;
  }
  c->machine = choose_machine(c->options.backend, m, c->diags);
  return c->machine ? RAVEL_OK : ravel_failed(c, RAVEL_DEVICE);
}

static void begin_context(struct ravel_context *c, const struct ravel_options *options) {
  const struct ravel_options defaults = {
      .machine = machine_default_options(), .backend = "auto", .optimise = true};
  c->options = options ? *options : defaults;
  heap_init(&c->heap, machine_memory(&c->options.machine));
  arena_init(&c->arena, &c->heap);
  heap_init(&c->message_heap, DIAG_MEMORY);
  for (int i = 0; i < 2; i++) {
    arena_init(&c->slots[i].arena, &c->message_heap);
    diag_list_init(&c->slots[i].diags, &c->slots[i].arena);
  }
  c->diags = &c->slots[0].diags;
  c->stop.signal = &c->interrupt;
  c->heap.stop = &c->stop;
}

enum ravel_code ravel_context_new(const struct ravel_options *options,
                                  struct ravel_context **context) {
  if (!context) return RAVEL_MISUSE;
  struct ravel_context *c = *context = calloc(1, sizeof *c);
  if (c && pthread_mutex_init(&c->callbacks, NULL) != 0) {
    free(c);
    c = *context = NULL;
  }
  if (!c) return RAVEL_MEMORY;
  begin_context(c, options);
  enum ravel_code code = open_program_streams(c);
  if (code == RAVEL_OK) code = ravel_deep(c, make_context_session, NULL);
  if (code == RAVEL_OK) code = make_context_machine(c);
  c->usable = code == RAVEL_OK;
  return code;
}

/* ---- between calls ---- */

enum ravel_code ravel_context_set(struct ravel_context *c, const char *name,
                                  const char *value) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!name || !value) return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
  const bool is_seed = strcmp(name, "seed") == 0, is_depth = strcmp(name, "depth") == 0;
  if (!is_seed && !is_depth && strcmp(name, "time") != 0) {
    return ravel_fail(c, RAVEL_MISUSE,
                      "'%.100s' is set for a new context: seed, depth and time may be changed",
                      name);
  }
  if (ravel_options_set(&c->options, name, value) != RAVEL_OK) {
    return ravel_fail(c, RAVEL_MISUSE, "%s", ravel_options_message(&c->options));
  }
  if (is_seed) machine_set_random(c->machine, c->options.machine.seed, 0);
  if (is_depth) machine_set_depth(c->machine, c->options.machine.max_depth);
  return RAVEL_OK;
}

void ravel_get_random(const struct ravel_context *c, struct ravel_random *out) {
  *out = (struct ravel_random){0};
  if (c && c->usable) machine_random(c->machine, &out->seed, &out->count);
}

void ravel_set_random(struct ravel_context *c, const struct ravel_random *from) {
  if (c && c->usable) machine_set_random(c->machine, from->seed, from->count);
}

int ravel_cuda_device(const struct ravel_context *c) {
  int32_t number;
  return c && c->usable && machine_device(c->machine, &number) ? number : -1;
}

const char *ravel_remark(struct ravel_context *c) {
  const bool is_new = c && c->remarked;
  if (c) c->remarked = false;
  return is_new ? c->remark : "";
}

void ravel_context_free(struct ravel_context *c) {
  if (!c) return;
  while (c->values) {
    c->values->references = 1;
    ravel_release(c->values);
  }
  while (c->cache.oldest) ravel_cache_remove(c, c->cache.oldest);
  while (c->functions) {
    c->functions->references = 1;
    ravel_function_release(c->functions);
  }
  machine_free(c->machine);
  if (c->session) session_free(c->session);
  arena_free(&c->arena);
  text_free(&c->message);
  text_free(&c->said);
  for (int i = 0; i < 2; i++) arena_free(&c->slots[i].arena);
  if (c->in) fclose(c->in);
  if (c->err) fclose(c->err);
  if (c->out) fclose(c->out);
  pthread_mutex_destroy(&c->callbacks);
  free(c);
}

/* ---- watching ---- */

void ravel_callback_begin(struct ravel_context *c) {
  pthread_mutex_lock(&c->callbacks);
  c->in_callback = true;
}

void ravel_callback_end(struct ravel_context *c) {
  c->in_callback = false;
  pthread_mutex_unlock(&c->callbacks);
}

static bool call_caller_progress(void *context) {
  struct ravel_context *c = context;
  ravel_callback_begin(c);
  const bool go_on = c->progress(c->progress_data);
  ravel_callback_end(c);
  return go_on;
}

void ravel_on_progress(struct ravel_context *c, bool (*progress)(void *data), void *data) {
  if (!ravel_begin(c)) return;
  c->progress = progress;
  c->progress_data = data;
  c->stop.progress = progress ? call_caller_progress : NULL;
  c->stop.progress_data = c;
}

void ravel_get_statistics(const struct ravel_context *c, struct ravel_statistics *out) {
  if (!out) return;
  *out = (struct ravel_statistics){0};
  if (!c || !c->usable) return;
  const struct cvl_statistics s = machine_statistics(c->machine);
  *out = c->statistics;
  out->live_bytes = s.live_bytes;
  out->peak_bytes = s.peak_bytes;
}
