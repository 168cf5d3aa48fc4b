/* direct-events.c - printing and failing in the order of section 6.8 of the NESL specification.
 *
 * In an apply-to-each all instances run in lockstep: the output of one call appears together
 * for all of them, and of several failures the first in that order is reported. This
 * interpreter runs one instance after another. So each event gets a key, its position in the
 * program: the path from the outermost apply-to-each, one number for each subexpression
 * entered, smaller for those evaluated earlier. Keys do not distinguish instances. Sorting the
 * events by key, stably, gives the specified order.
 */
#include "neslc/reference/direct-private.h"

#include "base/number.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 16 };

static const uint32_t *key_here(struct direct *d, size_t *count) {
  if (d->parallel == 0) {
    *count = 0;
    return NULL;
  }
  *count = d->path.count - d->parallel_path;
  uint32_t *key = arena_alloc(d->arena, *count * sizeof *key);
  if (*count) memcpy(key, d->path.items + d->parallel_path, *count * sizeof *key);
  return key;
}

static int compare_keys(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count) {
  for (size_t i = 0; i < a_count && i < b_count; i++) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return (a_count > b_count) - (a_count < b_count);
}

/* ---- failures ---- */

static void add_location(struct failure_location *trail, size_t *count, const struct core *at) {
  if (!at || !at->source) return;
  size_t known = 0;
  while (known < *count && trail[known].node != at) known++;
  if (known == *count) trail[(*count)++] = (struct failure_location){at->source, at->at, at};
}

/* Different source locations only: a recursive call occurs once, not once per level. */
static void leave_trail(struct direct *d, const struct direct_frame *frame,
                        const struct core *at) {
  struct failure_location *trail = arena_alloc(d->arena, MOST_CALLS * sizeof *trail);
  size_t count = 0;
  for (; frame && count < MOST_CALLS; at = frame->call, frame = frame->caller) {
    add_location(trail, &count, at);
    for (size_t i = 0; i < FAILURE_MOST_CALLS && count < MOST_CALLS; i++)
      add_location(trail, &count, frame->tails[i]);
  }
  d->failure.trail = trail;
  d->failure.trail_count = count;
}

static struct direct_instances copy_instances(struct arena *arena, struct direct_instances from,
                                              bool reversed) {
  struct direct_instance *list = arena_alloc(arena, (from.count + 1) * sizeof *list);
  for (size_t i = 0; i < from.count; i++) {
    list[i] = from.list[reversed ? from.count - 1 - i : i];
  }
  return (struct direct_instances){list, from.count};
}

static void leave_instances(struct direct *d) {
  const struct direct_instances now = {d->instances.items, d->instances.count};
  if (d->options->instances && !d->drew_in_instances)
    d->failure.instances = copy_instances(d->arena, now, true);
}

bool direct_fail(struct direct *d, struct direct_frame *frame, const struct core *at,
                 enum nesl_error kind, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *message = arena_vprintf(d->arena, format, arguments);
  va_end(arguments);
  d->failure = (struct failure){.kind = kind, .message = message};
  d->failure.key = key_here(d, &d->failure.key_count);
  leave_trail(d, frame, at);
  leave_instances(d);
  return false;
}

const char *direct_worded(struct direct *d, const char *text, int64_t v, int64_t w) {
  const char *result = "";
  for (const char *next; *text; text = next) {
    const size_t plain = *text == '{' ? 1 : strcspn(text, "{");
    next = text + plain;
    if (strncmp(text, "{v}", 3) == 0 || strncmp(text, "{w}", 3) == 0) {
      result = arena_printf(d->arena, "%s%" PRId64, result, text[1] == 'v' ? v : w);
      next = text + 3;
    } else if (strncmp(text, "{e}", 3) == 0) {
      char about[NUMBER_TEXT_MAX];
      format_about(about, v, w);
      result = arena_printf(d->arena, "%s%s", result, about);
      next = text + 3;
    } else if (strncmp(text, "{}", 2) == 0) {
      next = text + 2;
    } else {
      result = arena_printf(d->arena, "%s%.*s", result, (int)plain, text);
    }
  }
  size_t length = strlen(result);
  while (length > 0 && result[length - 1] == ' ') length--;
  return arena_copy(d->arena, result, length);
}

bool direct_check_fails(struct direct *d, const struct primitive_call *call, enum check check,
                        int64_t v, int64_t w) {
  return direct_fail(d, call->frame, call->apply, NESL_RUNTIME, "%s",
                     direct_worded(d, check_text(check), v, w));
}

bool direct_failed_earlier(const struct failure *a, const struct failure *b) {
  if (a->kind == NESL_LIMIT || b->kind == NESL_LIMIT) return a->kind == NESL_LIMIT;
  return compare_keys(a->key, a->key_count, b->key, b->key_count) < 0;
}

void direct_report(struct direct *d, struct complaints *complaints) {
  const struct failure *f = &d->failure;
  const char *message = f->message;
  if (f->kind == NESL_USER) {
    fprintf(d->options->out, "ERROR: %s\n", message);
    message = failure_by_error;
  }
  complain_of_failure(complaints, f->kind, message, f->trail, f->trail_count);
  if (d->options->instances) {
    *d->options->instances = copy_instances(d->session->arena, f->instances, false);
  }
}

/* ---- output ---- */

void direct_print(struct direct *d, const char *text, size_t length) {
  if (d->parallel == 0) {
    if (length) fwrite(text, 1, length, d->options->out);
    return;
  }
  struct event event = {.number = d->events.count, .text = text, .length = length};
  event.key = key_here(d, &event.key_count);
  *array_push(d->arena, &d->events) = event;
}

static int compare_events(const void *left, const void *right) {
  const struct event *a = left, *b = right;
  int order = compare_keys(a->key, a->key_count, b->key, b->key_count);
  return order ? order : (a->number > b->number) - (a->number < b->number);
}

void direct_settle(struct direct *d, const struct failure *failure) {
  if (d->events.count == 0) return;
  qsort(d->events.items, d->events.count, sizeof *d->events.items, compare_events);
  for (size_t i = 0; i < d->events.count; i++) {
    const struct event *e = &d->events.items[i];
    if (failure && compare_keys(e->key, e->key_count, failure->key, failure->key_count) >= 0) {
      break;
    }
    if (e->length) fwrite(e->text, 1, e->length, d->options->out);
  }
  d->events.count = 0;
}
