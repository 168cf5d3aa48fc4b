/* failure.c - which of the places of a failure are the program's, and how they are told. */
#include "neslc/failure.h"

#include "neslc/check.h"

#include <ctype.h>
#include <string.h>

const char failure_by_error[] = "the program stopped itself by `error`";

enum { MOST_CALLS = 6 }; /* that are shown: the innermost */

/* ---- places ---- */

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

static void look_at(void *context, struct core *e, bool parallel) {
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
  core_parts(e, look_at, s);
}

const struct core *core_at_mark(struct core *whole, const struct source *source,
                                uint32_t mark) {
  struct search s = {.source = source, .mark = mark};
  look_at(&s, whole, false);
  return s.failing ? s.failing : s.other;
}

/* ---- words ---- */

/* Whether a sentence speaks of the function: sentences write names in capitals. */
static bool mentions(const char *message, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = message; *at; at++) {
    size_t i = 0;
    while (i < length && tolower((unsigned char)at[i]) == name[i]) i++;
    const bool begins = at == message || !isalpha((unsigned char)at[-1]);
    if (i == length && begins && !isalpha((unsigned char)at[i])) return true;
  }
  return false;
}

/* The function that an application calls, if it is of the library and written in NESL: then
 * the sentence may be of something that it calls in turn. */
static const char *called_of_library(const struct core *node) {
  const struct global *g = node ? core_callee(node) : NULL;
  return g && g->library && g->body ? g->name->text : NULL;
}

/* As the program names it; NULL for a function without a name. */
static const char *name_of_called(const struct core *node) {
  if (!node || node->kind != CORE_APPLY) return NULL;
  const struct core *f = node->as.part.left;
  if (f->kind == CORE_GLOBAL) return f->as.use.global->name->text;
  return f->kind == CORE_LOCAL ? f->as.local->name->text : NULL;
}

static bool told_before(const struct failure_place *told, size_t count,
                        const struct failure_place *place) {
  for (size_t i = 0; i < count; i++) {
    if (told[i].source == place->source && told[i].at.start == place->at.start &&
        told[i].at.end == place->at.end) {
      return true;
    }
  }
  return false;
}

void complain_of_failure(struct complaints *complaints, enum nesl_error error,
                         const char *message, const struct failure_place *trail, size_t count) {
  struct failure_place told[1 + MOST_CALLS];
  size_t told_count = 0;
  for (size_t i = 0; i < count && told_count <= MOST_CALLS; i++) {
    const struct failure_place *place = &trail[i];
    if (place->source->library || told_before(told, told_count, place)) continue;
    if (told_count == 0) {
      const char *within = called_of_library(place->node);
      if (within && mentions(message, within)) within = NULL;
      complain(complaints, error, place->source, place->at, "%s%s%s%s", message,
               within ? ", in `" : "", within ? within : "", within ? "`" : "");
    } else if (name_of_called(place->node)) {
      remark(complaints, place->source, place->at, "`%s` was called here",
             name_of_called(place->node));
    } else {
      remark(complaints, place->source, place->at, "called here");
    }
    told[told_count++] = *place;
  }
  if (told_count > 0) return;
  static const struct source nowhere = {.name = "<expression>", .text = "", .first_line = 1};
  const struct failure_place *place =
      count > 0 ? trail : &(struct failure_place){.source = &nowhere};
  complain(complaints, error, place->source, place->at, "%s", message);
}
