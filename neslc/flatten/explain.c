/* explain.c - what `neslc --explain` prints: lines with source locations.
 *
 * Whether a function stays lifted is known when all functions are made (check_marks).
 * So those lines are ended when they are written.
 */
#include "neslc/flatten/explain.h"

#include <string.h>

#include "neslc/flatten/procedure.h"

struct explanation {
  const char *text;  /* with the end of the line, but ... */
  uint32_t function; /* ... for one of these: 0: it is not about one */
  uint32_t within;   /* the function whose code it is about */
};

static const char *located(struct flattener *f, const struct source *source, uint32_t offset,
                           const char *what) {
  const struct source_pos at = source_position(source, offset);
  return arena_printf(f->arena, "%s:%u:%u: %s", source->name, at.line, at.column, what);
}

static void add_explanation(struct flattener *f, const char *text, uint32_t function) {
  struct explanation *x = arena_alloc(f->arena, sizeof *x);
  *x = (struct explanation){text, function, f->making};
  *array_push(f->arena, &f->explanations) = x;
}

void explain(struct flattener *f, const struct source *source, uint32_t offset,
             const char *what, const char *became) {
  if (!f->options->explain || !source) return;
  const char *line = arena_printf(f->arena, "%s %s\n", what, became);
  add_explanation(f, located(f, source, offset, line), 0);
}

void explain_by_instances(struct flattener *f, const struct source *source, uint32_t offset,
                          const char *what, uint32_t function) {
  if (!f->options->explain || !source) return;
  add_explanation(f, located(f, source, offset, what), function);
}

/* Functions that the compiler derives from types are not explained: users do not see them. */
void explain_specialisation(struct flattener *f, const struct specialisation *v) {
  if (v->loop) {
    const struct core *e = v->loop->core;
    explain_by_instances(f, e->source, e->at.start, "loop", v->function);
  } else if (v->lambda) {
    const struct core_lambda *l = v->lambda;
    explain_by_instances(f, l->source, l->at.start, "function", v->function);
  } else if (v->global && v->global->form) {
    const struct form *form = v->global->form;
    explain_by_instances(f, form->source, form->name_at.start, v->global->name->text,
                         v->function);
  }
}

/* ---- writing ---- */

static const char *finished(struct flattener *f, const struct explanation *x) {
  const struct ir_function *function = &f->functions.items[x->function];
  if (x->function == 0) return x->text;
  if (function->instances) {
    return arena_printf(f->arena, "%s is lifted: %s\n", x->text, function->name->text);
  }
  return arena_printf(f->arena, "%s is not lifted: it %s\n", x->text,
                      f->made_functions.items[x->function].unmarked);
}

/* Whether it is about code that only procedures have: users wrote that once. */
static bool is_of_procedures(const struct explanation *x, const bool *only) {
  return only[x->within] || (x->function != 0 && only[x->function]);
}

/* Writes each line once, also where one body became several functions. */
void write_explanations(struct flattener *f) {
  struct table written;
  table_begin(&written, f->arena);
  if (!f->options->explain) return;
  const bool *only = procedures_only(f);
  for (size_t i = 0; i < f->explanations.count; i++) {
    if (is_of_procedures(f->explanations.items[i], only)) continue;
    const char *line = finished(f, f->explanations.items[i]);
    if (!table_add(&written, intern_name(&f->session->names, line, strlen(line)))) continue;
    fputs(line, f->options->explain);
  }
}
