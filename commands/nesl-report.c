/* nesl-report.c - what `nesl test` prints of a property that does not hold: the case as an
 * expression, what became of it, and the command that finds it again.
 */
#include "commands/nesl-trials.h"

#include <string.h>

static void print_begin(const struct trying *t) {
  printf("%s:%u: %s ", t->in->path, t->line, t->in->property->name->text);
}

/* Prints the text with line breaks and indentation as one space each. */
static void print_squeezed(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    const bool space = strchr(" \t\r\n", text[i]) != NULL;
    if (!space) putchar(text[i]);
    if (space && (i == 0 || !strchr(" \t\r\n", text[i - 1]))) putchar(' ');
  }
}

static void print_written(const struct property *p, struct span at) {
  print_squeezed(p->source->text + at.start, at.end - at.start);
}

/* Prints v = (F)([1, 2]). */
static void print_binding(struct trying *t, size_t i, struct type *type,
                          const struct random_datum *d) {
  const struct property *p = t->in->property;
  const struct property_parameter *parameter = &p->parameters.items[i];
  const bool drawn = parameter->generator.end != 0;
  printf("%s%s = ", i ? "; " : "", parameter->name->text);
  if (drawn) putchar('(');
  if (drawn) print_written(p, parameter->generator);
  if (drawn) fputs(")(", stdout);
  datum_show(&t->values, type, d, &t->n->options->widths, stdout);
  if (drawn) putchar(')');
}

/* let v = [1, 2]; x = 0 in LAW; */
static void print_case(struct trying *t, const struct random_datum *d) {
  const struct property *p = t->in->property;
  struct type *type = type_of(t->in->parameter);
  fputs("    let ", stdout);
  for (size_t i = 0; i < p->parameters.count; i++) {
    const bool last = i + 1 == p->parameters.count;
    print_binding(t, i, last ? type : type->part[0], last ? d : &d->items[0]);
    if (!last) type = type_of(type->part[1]);
    if (!last) d = &d->items[1];
  }
  fputs(" in ", stdout);
  print_written(p, p->law);
  puts(";");
}

/* Prints the arguments that were computed from the drawn values, if there are any. */
static void print_arguments(struct trying *t, const struct random_datum *d) {
  if (!t->in->arguments || !trial_run(t, t->in->arguments, d, 1)) return;
  const struct property *p = t->in->property;
  const struct value_layout layout = nesl_layout(t->n);
  fputs("    % (", stdout);
  for (size_t i = 0; i < p->parameters.count; i++) {
    printf("%s%s", i ? ", " : "", p->parameters.items[i].name->text);
  }
  fputs(") is ", stdout);
  value_show(&session_global(t->n->session, "_arguments")->value, &layout, stdout);
  puts(" %");
}

static void print_count(const char *option, uint64_t value) {
  if (value) printf(" --%s %llu", option, (unsigned long long)value);
}

/* The command that finds the case again. */
static void print_repeat_command(const struct trying *t) {
  const struct nesl_options *o = t->n->options;
  printf("    again: nesl test %s --only %s --seed %llu", t->in->path,
         t->in->property->name->text, (unsigned long long)o->machine.seed);
  print_count("cases", o->cases);
  print_count("size", o->size);
  if (o->widths.int_elem == CVL_I32) fputs(" --int 32", stdout);
  if (o->widths.float_elem == CVL_F32) fputs(" --float 32", stdout);
  putchar('\n');
}

static const char *verdict_text(enum verdict v) {
  switch (v) {
  case VERDICT_DISCARDED: return "outside of the condition";
  case VERDICT_FALSE: return "F";
  case VERDICT_TRUE: return "T";
  case VERDICT_FAULT: break;
  }
  return "an error";
}

void report_difference(struct trying *t, const struct random_datum *d, enum verdict lifted,
                       enum verdict flat) {
  print_begin(t);
  printf("is %s in {... : x in cases}, and %s for the same case alone: an error in Ravel, "
         "unless it "
         "draws random numbers\n",
         verdict_text(lifted), verdict_text(flat));
  print_case(t, d);
  print_repeat_command(t);
}

void report_failure(struct trying *t, const struct random_datum *d, uint64_t number,
                    unsigned steps, bool ended) {
  const char *variables = t->in->variables;
  print_begin(t);
  printf("fails in case %llu%s%s", (unsigned long long)number, *variables ? " with " : "",
         variables);
  if (steps > 0) printf(", made simpler in %u step%s", steps, steps == 1 ? "" : "s");
  puts(ended ? " (there was no time for more):" : ":");
  print_case(t, d);
  print_arguments(t, d);
  t->prints = true;
  const enum verdict v = trial_alone(t, d);
  t->prints = false;
  if (v == VERDICT_FALSE) puts("    is F");
  if (!trial_failed(v)) puts("    is not, tried again: does it draw random numbers?");
  print_repeat_command(t);
}

void report_together(struct trying *t, struct trial_round *r) {
  print_begin(t);
  printf(
      "fails for %zu cases at once, and for none of them alone: is there too little memory or "
      "time?\n",
      r->count);
  t->prints = true;
  trial_at_once(t, r, 0, r->count);
  t->prints = false;
  print_repeat_command(t);
}

void report_too_few(const struct trying *t, uint64_t held, uint64_t drawn) {
  print_begin(t);
  printf("has too few cases%s%s: %llu of %llu random ones satisfy its condition; draw what "
         "does, by "
         "`in` and `from`\n",
         *t->in->variables ? " with " : "", t->in->variables, (unsigned long long)held,
         (unsigned long long)drawn);
}
