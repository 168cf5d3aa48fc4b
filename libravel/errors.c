/* errors.c - what went wrong: the diagnostics of the present call, and of the last that failed.
 */
#include "libravel/private.h"

#include "base/origin.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>

static struct ravel_messages *present(struct ravel_context *c) {
  return &c->slots[c->failed == &c->slots[0]];
}

bool ravel_begin(struct ravel_context *c) {
  if (!c || !c->usable || c->in_callback) return false;
  struct ravel_messages *m = present(c);
  if (m->diags.list.count > 0 || m->diags.lost > 0) {
    arena_free(&m->arena);
    diag_list_init(&m->diags, &m->arena);
  }
  c->diags = &m->diags;
  c->stop.deadline = 0;
  c->no_room = false;
  c->unwritten = false;
  if (c->said.bytes) text_free(&c->said);
  return true;
}

/* Makes the text of the messages at once: functions that ask for it later only read it. */
static void make_text(struct ravel_context *c) {
  text_free(&c->message);
  if (!text_begin(&c->message, &c->message_heap)) return;
  diag_print(&c->failed->diags, "ravel", 0, c->message.stream);
  (void)text_end(&c->message);
}

enum ravel_code ravel_failed(struct ravel_context *c, enum ravel_code code) {
  struct ravel_messages *old = c->failed, *now = present(c);
  if (c->unwritten) atomic_store(&c->stop.refused, false);
  if (code == RAVEL_INTERRUPTED) {
    atomic_store(&c->interrupt, 0);
    atomic_store(&c->stop.refused, false);
  }
  c->failed = now;
  c->code = code;
  make_text(c);
  if (old) {
    arena_free(&old->arena);
    diag_list_init(&old->diags, &old->arena);
  }
  c->diags = &present(c)->diags;
  return code;
}

enum ravel_code ravel_fail(struct ravel_context *c, enum ravel_code code, const char *format,
                           ...) {
  char text[1000];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  diag_add(c->diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL, "%s", text);
  return ravel_failed(c, code);
}

/* Fails a call that was asked to end. Nothing else is said about it. */
static enum ravel_code fail_stopped(struct ravel_context *c, enum stop_reason reason) {
  char text[128];
  stop_describe(&c->stop, text, sizeof text);
  arena_free(c->diags->arena);
  diag_list_init(c->diags, c->diags->arena);
  if (c->unwritten) {
    return ravel_fail(c, RAVEL_DATA,
                      "the function of ravel_on_output did not take what the program printed");
  }
  return ravel_fail(c, reason == STOP_TIME ? RAVEL_LIMIT : RAVEL_INTERRUPTED, "%s", text);
}

enum ravel_code ravel_stopped(struct ravel_context *c) {
  const enum stop_reason reason = stop_asks(&c->stop);
  return reason == STOP_NOT ? RAVEL_OK : fail_stopped(c, reason);
}

enum ravel_code ravel_fail_memory(struct ravel_context *c) {
  const enum ravel_code code = ravel_stopped(c);
  if (code != RAVEL_OK) return code;
  if (c->session) c->session->collect_at = 0;
  return ravel_fail(c, RAVEL_MEMORY, "out of memory: a context may use %llu bytes",
                    (unsigned long long)c->heap.limit);
}

enum ravel_code ravel_code_of_machine(const struct ravel_context *c) {
  const struct machine_failure *f = machine_failure(c->machine);
  switch (f->cause) {
  case MACHINE_CAUSE_LIMIT: /* chunks need memory at a CALL, where else depth is the limit */
    return f->op == OPC_CALL && !f->memory && !f->own_memory && !f->whole ? RAVEL_LIMIT
                                                                          : RAVEL_MEMORY;
  case MACHINE_CAUSE_DEVICE: return RAVEL_DEVICE;
  case MACHINE_CAUSE_ASSERT:
  case MACHINE_CAUSE_OPERATION: break;
  case MACHINE_CAUSE_NONE: return RAVEL_INTERNAL;
  }
  if (c->no_room) return RAVEL_MEMORY;
  return atomic_load(&c->refused) ? RAVEL_DENIED : RAVEL_RUNTIME;
}

enum ravel_code ravel_fail_machine(struct ravel_context *c) {
  const enum ravel_code code = ravel_stopped(c);
  return code != RAVEL_OK ? code : ravel_failed(c, ravel_code_of_machine(c));
}

enum ravel_code ravel_fail_work(struct ravel_context *c, enum ravel_code code,
                                uint64_t failures) {
  if (atomic_load(&c->heap.failures) != failures) return ravel_fail_memory(c);
  const enum ravel_code stopped = ravel_stopped(c);
  return stopped != RAVEL_OK ? stopped : ravel_failed(c, code);
}

enum ravel_code ravel_code_of(enum nesl_error error) {
  switch (error) {
  case NESL_OK: return RAVEL_INTERNAL;
  case NESL_PARSE: return RAVEL_SYNTAX;
  case NESL_TYPE:
  case NESL_UNBOUND:
  case NESL_PATTERN:
  case NESL_DUPLICATE:
  case NESL_BUILTIN:
  case NESL_UNKNOWN_TYPE:
  case NESL_NO_BODY:
  case NESL_SERIAL_ONLY:
  case NESL_OPTIONAL_ARGUMENT:
  case NESL_FIELD: return RAVEL_TYPE;
  case NESL_NONFINITE:
  case NESL_RUNTIME:
  case NESL_USER: return RAVEL_RUNTIME;
  case NESL_LIMIT: break;
  }
  return RAVEL_LIMIT;
}

const char *ravel_message(const struct ravel_context *c) {
  if (!c || !c->failed) return "";
  return c->message.bytes && !c->message.lost ? c->message.bytes : "out of memory\n";
}

bool ravel_get_diagnostic(const struct ravel_context *c, size_t i,
                          struct ravel_diagnostic *out) {
  if (!c || !out || !c->failed || i >= c->failed->diags.list.count) return false;
  const struct diag *d = &c->failed->diags.list.items[i];
  const struct source_pos pos = d->origin ? d->origin->pos : d->pos;
  *out = (struct ravel_diagnostic){.severity = (int)d->severity,
                                   .file = d->origin ? d->origin->file : d->file,
                                   .line = pos.line,
                                   .column = pos.column,
                                   .message = d->message};
  return true;
}

void ravel_clear_interrupt(struct ravel_context *c) {
  if (c) atomic_store(&c->interrupt, 0);
}

/* ---- codes ---- */

struct words {
  const char *name, *text;
};

static const struct words codes[] = {
    [RAVEL_OK] = {"RAVEL_OK", "success"},
    [RAVEL_MISUSE] = {"RAVEL_MISUSE", "a call that ravel.h does not allow"},
    [RAVEL_SYNTAX] = {"RAVEL_SYNTAX", "NESL that cannot be read"},
    [RAVEL_TYPE] = {"RAVEL_TYPE", "types do not fit, or a name is unknown"},
    [RAVEL_RUNTIME] = {"RAVEL_RUNTIME", "the program failed"},
    [RAVEL_DATA] = {"RAVEL_DATA", "data cannot be imported, or a value cannot leave"},
    [RAVEL_MEMORY] = {"RAVEL_MEMORY", "out of memory"},
    [RAVEL_LIMIT] = {"RAVEL_LIMIT", "the limit of time, or of the depth of calls, is over"},
    [RAVEL_INTERRUPTED] = {"RAVEL_INTERRUPTED", "interrupted"},
    [RAVEL_DENIED] = {"RAVEL_DENIED", "a file, a process or a compiler without permission"},
    [RAVEL_DEVICE] = {"RAVEL_DEVICE", "the back end is not to be had, or broke"},
    [RAVEL_INTERNAL] = {"RAVEL_INTERNAL", "an error in Ravel; please report it"}};

static const struct words *words_of_code(enum ravel_code code) {
  static const struct words none = {"unknown code", "unknown code"};
  const size_t number = (size_t)code;
  return number < sizeof codes / sizeof codes[0] ? &codes[number] : &none;
}

const char *ravel_code_name(enum ravel_code code) {
  return words_of_code(code)->name;
}

const char *ravel_code_text(enum ravel_code code) {
  return words_of_code(code)->text;
}

void ravel_interrupt(struct ravel_context *c) {
  if (c) atomic_store(&c->interrupt, SIGINT);
}
