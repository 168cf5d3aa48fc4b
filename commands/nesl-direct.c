/* nesl-direct.c - evaluation by the interpreter of the unflattened semantics; and complaints
 * about places that are known by name only.
 */
#include "commands/nesl-evaluate.h"
#include "neslc/direct.h"

#include <stdlib.h>
#include <string.h>

struct direct_evaluator {
  struct evaluator base;
  struct direct_options options;
};

static bool evaluate(struct evaluator *base, const struct evaluation *e,
                     struct nesl_value *value) {
  struct direct_evaluator *d = (struct direct_evaluator *)base;
  struct direct_cost cost;
  return direct_evaluate(e->session, e->form, &d->options, e->complaints, value, &cost);
}

static void release(struct evaluator *base) {
  (void)base; /* values are the session's */
}

static void close_direct(struct evaluator *base) {
  free(base);
}

struct evaluator *evaluator_direct(const struct nesl_options *options,
                                   struct diag_list *diags) {
  struct direct_evaluator *d = calloc(1, sizeof *d);
  if (!d) {
    diag_add(diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL, "out of memory");
    return NULL;
  }
  d->base = (struct evaluator){evaluate, release, close_direct};
  d->options = (struct direct_options){.out = options->machine.out,
                                       .widths = &options->widths,
                                       .most_depth = options->machine.max_depth,
                                       .seed = options->machine.seed,
                                       .interrupt = options->machine.interrupt};
  return &d->base;
}

/* ---- places by name ---- */

struct wanted {
  const char *name;
  size_t length;
  const struct source *found;
};

static bool is_named(const struct wanted *w, const struct source *source) {
  return strlen(source->name) == w->length && memcmp(source->name, w->name, w->length) == 0;
}

static void look_at_global(void *context, struct global *g) {
  struct wanted *w = context;
  if (g->form && is_named(w, g->form->source)) w->found = g->form->source;
}

/* The byte of a line and column, from 1; false if the source has no such line. */
static bool find_offset(const struct source *source, struct source_pos pos, uint32_t *offset) {
  if (pos.line < source->first_line) return false;
  const char *p = source->text, *end = source->text + source->length;
  for (uint32_t line = source->first_line; line < pos.line; line++) {
    p = memchr(p, '\n', (size_t)(end - p));
    if (!p++) return false;
  }
  uint32_t at = (uint32_t)(p - source->text);
  for (uint32_t column = 1; column < pos.column && at < source->length; column++) {
    at += (uint32_t)source_character(source, at);
  }
  *offset = at;
  return true;
}

/* Takes ":NUMBER" from the end of text[0..*length). */
static uint32_t take_number(const char *text, size_t *length) {
  size_t at = *length;
  while (at > 0 && text[at - 1] != ':') at--;
  if (at == 0) return 0;
  *length = at - 1;
  return (uint32_t)strtoul(text + at, NULL, 10);
}

void complain_at_place(const struct evaluation *e, enum nesl_error error, const char *place,
                       const char *message) {
  const struct core *whole = e->form->value;
  struct wanted w = {.name = place, .length = place ? strlen(place) : 0};
  struct source_pos pos = {0};
  uint32_t offset = 0;
  if (place) {
    pos.column = take_number(place, &w.length);
    pos.line = take_number(place, &w.length);
  }
  bool known = false;
  for (size_t i = e->sources->list.count; place && i-- > 0 && !known;) {
    const struct source *source = e->sources->list.items[i];
    known = is_named(&w, source) && find_offset(source, pos, &offset);
    if (known) w.found = source;
  }
  if (place && !known) {
    session_each(e->session, look_at_global, &w);
    known = w.found && find_offset(w.found, pos, &offset);
  }
  if (known) {
    complain(e->complaints, error, w.found, (struct span){offset, offset + 1}, "%s", message);
  } else {
    complain(e->complaints, error, whole->source, whole->at, "%s", message);
  }
}
