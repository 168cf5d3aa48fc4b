/* faults.c - a fault of a run as a diagnostic: where, what, which values, and the calls around
 * it.
 */
#include "vinterp/machine/machine-private.h"

#include "base/number.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
  MESSAGE_BYTES = sizeof((struct fault_found *)0)->message,
  TRACE_FIRST = 10, /* innermost calls shown of a long trace */
  TRACE_LAST = 5    /* outermost calls shown */
};

/* ---- reporting ---- */

static const struct origin *faults_origin_of(const struct machine *m, uint32_t origin) {
  return origin_at(&m->program->origins, origin);
}

static const char *function_name(const struct machine *m, uint32_t location) {
  return m->program->functions[code_debug_info(m->code, location).function].name->text;
}

void machine_describe_location(const struct machine *m, const struct debug_info *info,
                               char *dst, size_t size) {
  const struct origin *origin = faults_origin_of(m, info->origin);
  const char *file = origin ? origin->file : m->program->file;
  const struct source_pos pos = origin ? origin->pos : info->pos;
  snprintf(dst, size, "%s:%" PRIu32 ":%" PRIu32, file, pos.line, pos.column);
}

/* Adds the calls as notes, from the innermost outwards; the middle of a long trace is left
 * out. */
static void add_trace(struct machine *m, const struct call_trace *trace) {
  uint32_t callee = trace->location;
  for (uint64_t k = 0; k < trace->count; k++) {
    if (trace->count > TRACE_FIRST + TRACE_LAST + 1 && k == TRACE_FIRST) {
      uint64_t hidden = trace->count - TRACE_FIRST - TRACE_LAST;
      diag_add(m->diags, SEVERITY_NOTE, m->program->file, (struct source_pos){0, 0}, NULL,
               "... %" PRIu64 " more calls ...", hidden);
      k += hidden;
      callee = trace->callers[k - 1];
    }
    struct debug_info info = code_debug_info(m->code, trace->callers[k]);
    char where[MESSAGE_BYTES];
    machine_describe_location(m, &info, where, sizeof where);
    diag_add(m->diags, SEVERITY_NOTE, m->program->file, info.pos,
             faults_origin_of(m, info.origin), "%s, called from %s at %s",
             function_name(m, callee), function_name(m, trace->callers[k]), where);
    callee = trace->callers[k];
  }
}

/* Adds a note that names the FUSED whose node failed, if the error is reported in the
 * definition of the superoperator. */
static void add_superop_note(struct machine *m, const struct debug_info *node) {
  struct debug_info fused = code_debug_info(m->code, node->fused);
  if (node->origin || node->pos.line == fused.pos.line) return;
  char where[MESSAGE_BYTES];
  machine_describe_location(m, &fused, where, sizeof where);
  diag_add(m->diags, SEVERITY_NOTE, m->program->file, fused.pos,
           faults_origin_of(m, fused.origin), "superoperator %" PRIu32 ", applied in %s at %s",
           node->superop, function_name(m, node->fused), where);
}

/* Returns the data of the instruction at a location; outside of a program there are none. */
static struct debug_info info_at(const struct machine *m, uint32_t location) {
  return m->code ? code_debug_info(m->code, location)
                 : (struct debug_info){.superop = NO_SUPEROP};
}

/* Adds the error of the run and its trace. */
static void faults_report(struct machine *m, const struct call_trace *trace,
                          enum machine_cause cause, const char *message) {
  struct debug_info info = info_at(m, trace->location);
  const char *type = type_word_text((enum type_word)info.type);
  m->faulted = true;
  m->failure.whole = false;
  m->failure.cause = cause;
  m->failure.memory = m->failure.own_memory = false;
  if (!m->program) {
    diag_add(m->diags, SEVERITY_ERROR, NULL, info.pos, NULL, "%s", message);
    return;
  }
  m->failure.op = info.op;
  m->failure.origin = info.origin;
  /* A text with braces is a whole message: the compiler wrote it in terms of its own language.
   */
  const bool whole =
      cause == MACHINE_CAUSE_ASSERT && info.text && memchr(info.text, '{', info.text_length);
  char instruction[64] = "";
  if (!whole) {
    snprintf(instruction, sizeof instruction, "%s%s%s: ", superop_info(info.op)->spelling,
             *type ? " " : "", type);
  }
  m->failure.instruction = strlen(instruction);
  diag_add(m->diags, SEVERITY_ERROR, m->program->file, info.pos,
           faults_origin_of(m, info.origin), "%s%s", instruction, message);
  if (info.superop != NO_SUPEROP) add_superop_note(m, &info);
  add_trace(m, trace);
}

/* ---- faults of the back end ---- */

static void describe_segment(const struct cvl_error *e, char *dst, size_t size) {
  snprintf(dst, size, "segment %" PRId64 ", whose length is %" PRId64, e->segment, e->limit);
}

/* Writes the text of an ASSERT. If it has braces, {v} and {w} become the two INTs, {e} both of
 * them as a FLOAT (format_about) and {} nothing. Otherwise the numbers are added as they are.
 */
static void describe_assert(const struct debug_info *info, const struct cvl_error *e, char *dst,
                            size_t size) {
  enum { MOST_TEXT = 300 };
  const char *text = info->text ? info->text : "";
  const uint32_t length = info->text_length < MOST_TEXT ? info->text_length : MOST_TEXT;
  if (!memchr(text, '{', length)) {
    snprintf(dst, size, "%.*s: %" PRId64 " (of %" PRId64 ") at position %" PRId64, (int)length,
             text, e->value, e->limit, e->position);
    return;
  }
  size_t used = 0;
  for (uint32_t i = 0; i < length && used + NUMBER_TEXT_MAX < size;) {
    const uint32_t left = length - i;
    if (left >= 3 && (memcmp(text + i, "{v}", 3) == 0 || memcmp(text + i, "{w}", 3) == 0)) {
      used += format_int(dst + used, text[i + 1] == 'v' ? e->value : e->limit);
      i += 3;
    } else if (left >= 3 && memcmp(text + i, "{e}", 3) == 0) {
      used += format_about(dst + used, e->value, e->limit);
      i += 3;
    } else if (left >= 2 && memcmp(text + i, "{}", 2) == 0) {
      i += 2;
    } else {
      dst[used++] = text[i++];
    }
  }
  while (used > 0 && dst[used - 1] == ' ') used--;
  dst[used] = '\0';
}

static void faults_describe(const struct debug_info *info, const struct cvl_error *e, char *dst,
                            size_t size) {
  char a[NUMBER_TEXT_MAX], b[NUMBER_TEXT_MAX], segment[96];
  switch (e->kind) {
  case CVL_E_NONE: snprintf(dst, size, "the back end failed without a reason"); return;
  case CVL_E_MEMORY:
    format_bytes(a, (uint64_t)e->value);
    format_bytes(b, (uint64_t)e->limit);
    if (e->limit) {
      snprintf(dst, size, "out of memory: %s more would exceed the limit of %s for vectors", a,
               b);
    } else {
      snprintf(dst, size, "out of memory: %s could not be had", a);
    }
    return;
  case CVL_E_SIZE:
    check_describe((enum opcode)info->op, (unsigned)e->position, (uint64_t)e->value,
                   (uint64_t)e->limit, dst, size);
    return;
  case CVL_E_DIVIDE_BY_ZERO:
    snprintf(dst, size, "division by zero at element %" PRId64, e->position);
    return;
  case CVL_E_INDEX:
    describe_segment(e, segment, sizeof segment);
    snprintf(dst, size, "index %" PRId64 " at position %" PRId64 " is outside %s", e->value,
             e->position, segment);
    return;
  case CVL_E_DUPLICATE:
    snprintf(dst, size,
             "index %" PRId64 " at position %" PRId64 " occurs twice in segment %" PRId64
             ": not a permutation",
             e->value, e->position, e->segment);
    return;
  case CVL_E_NEGATIVE_LENGTH:
    snprintf(dst, size, "segment %" PRId64 " has the negative length %" PRId64, e->position,
             e->value);
    return;
  case CVL_E_TOTAL:
    snprintf(dst, size, "the lengths add up to more than 2^63-1 at segment %" PRId64,
             e->position);
    return;
  case CVL_E_INT_RANGE:
    snprintf(dst, size, "the length %" PRId64 " does not fit an INT of 32 bits", e->value);
    return;
  case CVL_E_BOUND:
    snprintf(dst, size, "the bound %" PRId64 " at position %" PRId64 " is not positive",
             e->value, e->position);
    return;
  case CVL_E_ASSERT: describe_assert(info, e, dst, size); return;
  case CVL_E_STOPPED: return; /* the machine knows the reason */
  case CVL_E_DEVICE:
    snprintf(dst, size, "the device failed: %s", e->text ? e->text : "for an unknown reason");
    return;
  }
}

static enum machine_cause cause_of(enum cvl_error_kind kind) {
  switch (kind) {
  case CVL_E_STOPPED:
  case CVL_E_MEMORY: return MACHINE_CAUSE_LIMIT;
  case CVL_E_ASSERT: return MACHINE_CAUSE_ASSERT;
  case CVL_E_NONE:
  case CVL_E_DEVICE: return MACHINE_CAUSE_DEVICE;
  case CVL_E_SIZE:
  case CVL_E_DIVIDE_BY_ZERO:
  case CVL_E_INDEX:
  case CVL_E_DUPLICATE:
  case CVL_E_NEGATIVE_LENGTH:
  case CVL_E_TOTAL:
  case CVL_E_INT_RANGE:
  case CVL_E_BOUND: break;
  }
  return MACHINE_CAUSE_OPERATION;
}

/* Words a fault and reports it. */
void machine_report(struct machine *m, const struct call_trace *trace,
                    const struct fault_found *found) {
  const struct cvl_error *e = &found->error;
  char message[MESSAGE_BYTES];
  struct debug_info info = info_at(m, trace->location);
  memcpy(message, found->message, sizeof message);
  if (e->kind != CVL_E_NONE || !*message) faults_describe(&info, e, message, sizeof message);
  if (e->kind == CVL_E_STOPPED) machine_describe_stop(m, message, sizeof message);
  if (e->kind == CVL_E_ASSERT) {
    m->failure = (struct machine_failure){.text = info.text,
                                          .text_length = info.text_length,
                                          .value = e->value,
                                          .limit = e->limit,
                                          .position = e->position};
  }
  faults_report(m, trace, found->cause, message);
  m->failure.memory = e->kind == CVL_E_MEMORY;
  m->failure.own_memory = found->memory && !m->failure.memory;
}

/* Reports a fault, unless chunks keep it. */
static void raise_fault(struct machine *m, struct call_trace *trace,
                        struct fault_found *found) {
  if (m->code) path_shorten_trace(m, trace);
  if (!chunks_catch(m, trace, found)) machine_report(m, trace, found);
  call_trace_free(m->heap, trace);
}

/* Reports a fault of the back end. Its site says which earlier operation failed. If that is
 * not recorded, the fault is reported at the present instruction. */
static void report_backend_error(struct machine *m, const struct machine_site *site,
                                 const struct cvl_error *e) {
  struct call_trace trace = {0};
  const bool known = e->site != 0 && e->site <= m->site &&
                     history_find(&m->history, m->heap, m->site - e->site, m->frames, &trace);
  if (!known) history_present(m->heap, site->location, m->frames, m->depth, &trace);
  struct fault_found found = {
      .cause = cause_of(e->kind), .memory = e->kind == CVL_E_MEMORY, .error = *e};
  raise_fault(m, &trace, &found);
}

/* ---- the functions of the header ---- */

/* Reports a fault of the machine, or an earlier one that the back end knows of. */
static void faults_fault(struct machine *m, const struct machine_site *site,
                         struct fault_found *found) {
  if (m->faulted) return;
  struct cvl_error earlier = {.kind = CVL_E_NONE};
  m->backend->check(m->context, true, &earlier);
  if (earlier.kind != CVL_E_NONE) {
    report_backend_error(m, site, &earlier);
    return;
  }
  struct call_trace trace;
  history_present(m->heap, site->location, m->frames, m->depth, &trace);
  raise_fault(m, &trace, found);
}

bool machine_fault(struct machine *m, const struct machine_site *site, const char *format,
                   ...) {
  struct fault_found found = {.cause = MACHINE_CAUSE_OPERATION};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(found.message, sizeof found.message, format, arguments);
  va_end(arguments);
  faults_fault(m, site, &found);
  return false;
}

bool machine_size_fault(struct machine *m, const struct machine_site *site, unsigned rule,
                        uint64_t a, uint64_t b) {
  struct fault_found found = {
      .cause = MACHINE_CAUSE_OPERATION,
      .error = {
          .kind = CVL_E_SIZE, .position = rule, .value = (int64_t)a, .limit = (int64_t)b}};
  faults_fault(m, site, &found);
  return false;
}

bool machine_limit_fault(struct machine *m, const struct machine_site *site, const char *format,
                         ...) {
  struct fault_found found = {.cause = MACHINE_CAUSE_LIMIT};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(found.message, sizeof found.message, format, arguments);
  va_end(arguments);
  faults_fault(m, site, &found);
  return false;
}

bool machine_memory_fault(struct machine *m, const struct machine_site *site, uint64_t bytes) {
  if (!machine_may_go_on(m, site))
    return false; /* a request to stop was the reason, not memory */
  char asked[NUMBER_TEXT_MAX], limit[NUMBER_TEXT_MAX];
  format_bytes(asked, bytes);
  format_bytes(limit, m->heap->limit);
  struct fault_found found = {.cause = MACHINE_CAUSE_LIMIT, .memory = true};
  snprintf(found.message, sizeof found.message,
           "out of memory: %s for the machine itself could not be had (limit %s)", asked,
           limit);
  faults_fault(m, site, &found);
  return false;
}

bool machine_backend_fault(struct machine *m, const struct machine_site *site) {
  if (m->faulted) return false;
  struct cvl_error e = {.kind = CVL_E_NONE};
  m->backend->check(m->context, true, &e);
  report_backend_error(m, site, &e);
  return false;
}

bool machine_settle(struct machine *m, const struct machine_site *site) {
  struct cvl_error e = {.kind = CVL_E_NONE};
  m->backend->check(m->context, true, &e);
  if (e.kind != CVL_E_NONE) {
    report_backend_error(m, site, &e);
    return false;
  }
  history_clear(&m->history);
  return true;
}
