/* report.c - see report.h. */
#include "libravel/report.h"

#include "neslc/flatten.h"

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

/* The sentence for an instruction that the machine checks, without a check of the compiler. */
static const char *sentence_of(const struct machine_failure *f) {
  if (f->cause != MACHINE_CAUSE_OPERATION) return NULL;
  if (f->op == OPC_DIV) return "Divide by zero.";
  if (f->op == OPC_MOD) return "Divide by zero in function REM.";
  return NULL;
}

static const char *message_of(const struct failed_run *run, struct arena *arena) {
  const struct machine_failure *f = run->failure;
  const char *message = "out of memory";
  if (run->reported->list.count > 0) {
    message = run->reported->list.items[0].message + f->instruction;
  }
  if (sentence_of(f)) return sentence_of(f);
  if (f->cause == MACHINE_CAUSE_LIMIT && f->op == OPC_CALL) {
    return arena_printf(arena, "%s: does the recursion end?", message);
  }
  return message;
}

void report_failed_run(const struct failed_run *run, struct complaints *complaints) {
  const struct machine_failure *f = run->failure;
  const struct core *whole = run->whole;
  enum nesl_error error = f->cause == MACHINE_CAUSE_LIMIT ? NESL_LIMIT : NESL_RUNTIME;
  const char *message = message_of(run, complaints->diags->arena);
  if (f->cause == MACHINE_CAUSE_ASSERT && flatten_text_of_error(f->text, f->text_length)) {
    error = NESL_USER;
    message = failure_by_error;
  }
  struct trail trail = {.count = 0};
  for (size_t i = 0; i < run->reported->list.count; i++) {
    add_origin(run, &trail, run->reported->list.items[i].origin);
  }
  if (trail.count == 0) {
    trail.locations[trail.count++] = (struct failure_location){whole->source, whole->at, whole};
  }
  complain_of_failure(complaints, error, message, trail.locations, trail.count);
}
