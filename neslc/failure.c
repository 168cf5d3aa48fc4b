/* failure.c - selects the source locations of a failure that are the user's, and reports them.
 */
#include "neslc/failure.h"

#include "neslc/types/check.h"

#include <ctype.h>
#include <string.h>

const char failure_by_error[] = "the program stopped itself by `error`";

/* ---- marks of expressions ---- */

uint32_t core_mark(const struct core *e) {
  if (e->kind == CORE_APPLY) {
    const struct core *f = e->as.part.left;
    if (f->kind == CORE_GLOBAL && f->source == e->source) return f->at.start;
  }
  return e->at.start;
}

struct search {
  const struct source *source;
  uint32_t mark;
  const struct core *failing, *other;
};

static void note_failing_node(void *context, struct core *e, bool parallel) {
  struct search *s = context;
  (void)parallel;
  if (s->failing) return;
  if (e->source == s->source && core_mark(e) == s->mark) {
    if (e->kind == CORE_APPLY || e->kind == CORE_EACH) {
      s->failing = e;
    } else if (!s->other) {
      s->other = e;
    }
  }
  core_parts(e, note_failing_node, s);
}

const struct core *core_at_mark(struct core *whole, const struct source *source,
                                uint32_t mark) {
  struct search s = {.source = source, .mark = mark};
  note_failing_node(&s, whole, false);
  return s.failing ? s.failing : s.other;
}

/* ---- messages ---- */

bool message_names(const char *message, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = message; *at; at++) {
    size_t i = 0;
    while (i < length && tolower((unsigned char)at[i]) == name[i]) i++;
    const bool begins = at == message || !isalpha((unsigned char)at[-1]);
    if (i == length && begins && !isalpha((unsigned char)at[i])) return true;
  }
  return false;
}

/* The callee of an application if it is a library function written in NESL: then the message
 * may come from a function that it calls in turn. */
static const char *called_of_library(const struct core *node) {
  const struct global *g = node ? core_callee(node) : NULL;
  const bool named = g && g->library && g->body && g->name->text[0] != '_'; /* no operator's */
  return named ? g->name->text : NULL;
  return g && g->library && g->body ? written_name(g) : NULL;
}

/* The callee's name in the program; NULL for a function without a name. */
static const char *name_of_called(const struct core *node) {
  if (!node || node->kind != CORE_APPLY) return NULL;
  const struct core *f = node->as.part.left;
  if (f->kind == CORE_GLOBAL) return f->as.use.global->name->text;
  return f->kind == CORE_LOCAL ? f->as.local->name->text : NULL;
}

static bool reported_before(const struct failure_location *reported, size_t count,
                            const struct failure_location *location) {
  for (size_t i = 0; i < count; i++) {
    if (reported[i].source == location->source && reported[i].at.start == location->at.start &&
        reported[i].at.end == location->at.end) {
      return true;
    }
  }
  return false;
}

void complain_of_failure(struct complaints *complaints, enum nesl_error error,
                         const char *message, const struct failure_location *trail,
                         size_t count) {
  struct failure_location reported[1 + FAILURE_MOST_CALLS];
  size_t reported_count = 0;
  for (size_t i = 0; i < count && reported_count <= FAILURE_MOST_CALLS; i++) {
    const struct failure_location *location = &trail[i];
    if (location->source->library || reported_before(reported, reported_count, location))
      continue;
    const bool round = location->node && location->node->kind == CORE_LOOP;
    if (round && reported_count > 0) continue; /* a function of the compiler, no call */
    if (reported_count == 0) {
      const char *within = called_of_library(location->node);
      if (within && message_names(message, within)) within = NULL;
      complain(complaints, error, location->source, location->at, "%s%s%s%s", message,
               within ? ", in `" : "", within ? within : "", within ? "`" : "");
    } else if (name_of_called(location->node)) {
      remark(complaints, location->source, location->at, "`%s` was called here",
             name_of_called(location->node));
    } else {
      remark(complaints, location->source, location->at, "called here");
    }
    reported[reported_count++] = *location;
  }
  if (reported_count > 0) return;
  static const struct source nowhere = {.name = "<expression>", .text = "", .first_line = 1};
  const struct failure_location *location =
      count > 0 ? trail : &(struct failure_location){.source = &nowhere};
  complain(complaints, error, location->source, location->at, "%s", message);
}
