/* direct-events.c - printing and failing in the order of section 6.8 of the NESL specification.
 *
 * In an apply-to-each all instances run in step: what one call prints for all of them appears
 * together, and of several failures the one counts that comes first in that order. This
 * interpreter runs one instance after another. So each happening gets a key, which says where
 * in the program it is: the path from the outermost apply-to-each, one number for each part of
 * an expression entered on the way, smaller for parts that are evaluated earlier, and nothing
 * that tells instances apart. Sorted by their keys, and equal ones as they happened, the
 * happenings stand in the order in which they appear.
 */
#include "neslc/direct-private.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 16 };

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

static void leave_trail(struct direct *d, const struct frame *frame, const struct core *at) {
  struct place *trail = arena_alloc(d->arena, MOST_PLACES * sizeof *trail);
  size_t count = 0;
  for (; frame && count < MOST_PLACES; at = frame->call, frame = frame->caller) {
    if (!at || !at->source) continue;
    const struct global *g = frame->special->global;
    trail[count++] = (struct place){at->source, at->at, g ? g->name : NULL};
  }
  d->failure.trail = trail;
  d->failure.trail_count = count;
}

bool direct_fail(struct direct *d, struct frame *frame, const struct core *at,
                 enum nesl_error kind, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  char *message = arena_alloc(d->arena, (size_t)length + 1);
  va_start(arguments, format);
  vsnprintf(message, (size_t)length + 1, format, arguments);
  va_end(arguments);
  d->failure = (struct failure){.kind = kind, .message = message};
  d->failure.key = key_here(d, &d->failure.key_count);
  leave_trail(d, frame, at);
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

static bool of_library(const struct place *place) {
  return strncmp(place->source->name, "library/", strlen("library/")) == 0;
}

/* The program's own innermost place gets the marks; then come the calls around it. */
void direct_report(struct direct *d, struct complaints *complaints) {
  const struct failure *f = &d->failure;
  size_t first = 0;
  while (first < f->trail_count && of_library(&f->trail[first])) first++;
  if (first == f->trail_count) first = 0;
  if (f->trail_count == 0) {
    static const struct source nowhere = {"<expression>", "", 0, 1, false};
    complain(complaints, f->kind, &nowhere, (struct span){0, 0}, "%s", f->message);
    return;
  }
  const struct place *own = &f->trail[first];
  complain(complaints, f->kind, own->source, own->at, "%s", f->message);
  if (first > 0 && f->trail[first - 1].function) {
    const struct place *inner = &f->trail[0];
    remark(complaints, inner->source, inner->at, "found within `%s` of the library",
           f->trail[first - 1].function->text);
  }
  for (size_t i = first + 1; i < f->trail_count; i++) {
    const struct place *place = &f->trail[i];
    const struct name *called = f->trail[i - 1].function;
    if (of_library(place)) continue;
    remark(complaints, place->source, place->at, "%s%s%s called here", called ? "`" : "",
           called ? called->text : "a function without a name", called ? "`" : "");
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
