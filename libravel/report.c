/* report.c - see report.h. */
#include "libravel/report.h"

#include "neslc/flatten/flatten.h"

#include <string.h>

enum { MOST_LOCATIONS = 64 };

struct trail {
  struct failure_location locations[MOST_LOCATIONS];
  size_t count;
};

/* Adds an origin and the calls it was inlined at. */
static void add_origin(const struct failed_run *run, struct trail *trail,
                       const struct origin *origin) {
  for (; origin && trail->count < MOST_LOCATIONS;
       origin = origin_at(&run->program->origins, origin->inlined_at)) {
    struct failure_location *location = &trail->locations[trail->count];
    if (locate_origin(run->session, run->whole, origin, location)) trail->count++;
  }
}

/* Returns the sentence for an instruction that the machine checks, without a check of the
 * compiler. */
static const char *sentence_of(const struct machine_failure *f) {
  if (f->cause != MACHINE_CAUSE_OPERATION) return NULL;
  if (f->op == OPC_DIV) return "Divide by zero.";
  if (f->op == OPC_MOD) return "Divide by zero in function REM.";
  return NULL;
}

/* Whether `error` ended the run. */
static bool is_by_error(const struct failed_run *run) {
  const struct machine_failure *f = run->failure;
  return f->cause == MACHINE_CAUSE_ASSERT && flatten_text_of_error(f->text, f->text_length);
}

static const char *message_by_error(const struct failed_run *run, struct arena *arena) {
  if (!run->said) return failure_by_error;
  return arena_printf(arena, "%s: %s", failure_by_error, run->said);
}

static const char *failure_message(const struct failed_run *run, struct arena *arena) {
  const struct machine_failure *f = run->failure;
  const char *message = "out of memory";
  if (is_by_error(run)) return message_by_error(run, arena);
  if (run->reported->list.count > 0) {
    message = run->reported->list.items[0].message + f->instruction;
  }
  if (sentence_of(f)) return sentence_of(f);
  if (f->whole) return arena_printf(arena, "%s; " FAILURE_WHOLE, message);
  if (f->cause == MACHINE_CAUSE_LIMIT && f->op == OPC_CALL && !f->stopped && !f->memory &&
      !f->own_memory) {
    return arena_printf(arena, "%s: " FAILURE_CALLS, message);
  }
  if (f->own_memory && f->op == OPC_CALL) {
    return arena_printf(arena, "%s: does the recursion end? The option memory permits more",
                        message);
  }
  if (f->memory) {
    return arena_printf(arena, "%s; " FAILURE_MEMORY, message);
  }
  return message;
}

void report_failed_run(const struct failed_run *run, struct complaints *complaints) {
  const struct machine_failure *f = run->failure;
  const struct core *whole = run->whole;
  enum nesl_error error = f->cause == MACHINE_CAUSE_LIMIT ? NESL_LIMIT : NESL_RUNTIME;
  const char *message = failure_message(run, complaints->diags->arena);
  if (is_by_error(run)) error = NESL_USER;
  struct trail trail = {.count = 0};
  for (size_t i = 0; i < run->reported->list.count; i++) {
    add_origin(run, &trail, run->reported->list.items[i].origin);
  }
  if (trail.count == 0) {
    trail.locations[trail.count++] = (struct failure_location){whole->source, whole->at, whole};
  }
  complain_of_failure(complaints, error, message, trail.locations, trail.count);
}

/* ---- programs without their source ---- */

struct origins {
  const struct origin *list[MOST_LOCATIONS];
  size_t count;
};

static void collect_origins(const struct failed_run *run, struct origins *o) {
  for (size_t i = 0; i < run->reported->list.count; i++) {
    const struct origin *at = run->reported->list.items[i].origin;
    for (; at && o->count < MOST_LOCATIONS;
         at = origin_at(&run->program->origins, at->inlined_at)) {
      o->list[o->count++] = at;
    }
  }
}

static bool is_library_origin(const struct origin *at) {
  static const char folder[] = "library/";
  return strncmp(at->file, folder, sizeof folder - 1) == 0;
}

/* Whether this location, or one like it, was reported before it. */
static bool is_repeated_origin(const struct origins *o, size_t i) {
  for (size_t k = 0; k < i; k++) {
    const struct source_pos a = o->list[k]->pos, b = o->list[i]->pos;
    if (a.line == b.line && a.column == b.column &&
        strcmp(o->list[k]->file, o->list[i]->file) == 0) {
      return true;
    }
  }
  return false;
}

static void report_error(const struct origins *o, size_t i, const char *message,
                         struct diag_list *diags) {
  const struct origin *at = o->list[i];
  const char *within = i > 0 ? o->list[i - 1]->function : "";
  if (*within && message_names(message, within)) within = "";
  diag_add(diags, SEVERITY_ERROR, at->file, at->pos, NULL, "%s%s%s%s", message,
           *within ? ", in `" : "", within, *within ? "`" : "");
}

/* Reports a call: the location before it is that of the called function. */
static void report_call(const struct origins *o, size_t i, struct diag_list *diags) {
  const struct origin *at = o->list[i];
  const char *called = o->list[i - 1]->function;
  diag_add(diags, SEVERITY_NOTE, at->file, at->pos, NULL,
           *called ? "`%s` was called here" : "called%s here", called);
}

/* Returns false if there is no source location outside of the library. */
static bool report_origins(const struct origins *o, const char *message,
                           struct diag_list *diags) {
  size_t reported = 0;
  for (size_t i = 0; i < o->count && reported <= FAILURE_MOST_CALLS; i++) {
    if (is_library_origin(o->list[i]) || is_repeated_origin(o, i)) continue;
    if (reported++ == 0) {
      report_error(o, i, message, diags);
    } else {
      report_call(o, i, diags);
    }
  }
  return reported > 0;
}

void report_failed_program(const struct failed_run *run, struct diag_list *diags) {
  const char *message = failure_message(run, diags->arena);
  struct origins origins = {.count = 0};
  collect_origins(run, &origins);
  if (report_origins(&origins, message, diags)) return;
  for (size_t i = 0; i < run->reported->list.count; i++) {
    const struct diag *d = &run->reported->list.items[i];
    diag_add(diags, d->severity, d->file, d->pos, d->origin, "%s", d->message);
  }
}
