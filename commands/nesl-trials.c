/* nesl-trials.c - tries a property on random cases.
 *
 * The cases of a round are drawn, made one sequence, and tried at once by an apply-to-each; a
 * fault is looked for in halves of them. The last and largest case, and one that fails, is also
 * tried alone: if that gives another verdict, the compiled form of one of them is wrong. What
 * fails is made simpler: of all that is simpler in one respect, which is tried at once, the
 * first that fails, until none does.
 */
#include "base/number.h"
#include "commands/nesl-property.h"
#include "commands/process.h"

#include <string.h>

enum {
  CASES = 100,             /* if no option says how many */
  SIZE = 40,               /* of the largest, likewise */
  ROUNDS = 4,              /* in which sizes grow */
  LEAST_ROUND = 16,        /* cases of one: most time goes into compiling it */
  DRAWN_FOR_ONE = 10,      /* cases that are drawn for one that satisfies the condition */
  MOST_TRIED = 100000,     /* simpler cases */
  MOST_SIMPLER_RUNS = 2000 /* of the program, for these */
};
static const double most_simpler_seconds = 20;

/* What is tried, and the memory of it. */
struct trying {
  struct nesl *n;
  const struct instance *in;
  struct random_bits bits;
  struct arena keep;   /* of the case that fails */
  struct arena values; /* of a round */
  uint64_t number;     /* of the lifted form, whose compiled program is kept */
  uint32_t line;       /* of the property */
  uint64_t cases, size;
  uint64_t tried, runs; /* of simpler cases */
  bool prints;          /* the message of a fault is printed */
  bool ran;             /* the latest run was no fault */
  bool exhausted;       /* a run lacked memory, which was reported */
  bool together;        /* some cases failed at once, and none of them by itself */
};

/* Cases, and what became of them. */
struct round {
  struct datum *cases;
  enum verdict *verdicts;
  size_t count;
};

/* ---- runs of the program ---- */

/* Whether a diagnostic shows a function that instance_define has made. */
static bool is_of_instance(const struct trying *t, const struct diag *d) {
  static const char *const kinds[] = {"law", "where", "from", "case", "arguments"};
  char name[64];
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    snprintf(name, sizeof name, "_%s_%u", kinds[i], t->line);
    if (strstr(d->message, name)) return true;
  }
  return false;
}

/* Prints the message of a fault, and the calls within the program. */
static void print_fault(const struct trying *t, const struct nesl *n) {
  enum { MOST = 5 };
  struct diag_list shown = n->diags;
  size_t count = shown.list.count ? 1 : 0;
  while (count < shown.list.count && !is_of_instance(t, &shown.list.items[count])) count++;
  shown.list.count = count;
  diag_print(&shown, "nesl", MOST, stdout);
}

/* Whether memory was the limit: of many cases at once, mostly. It is not looked for the case.
 */
static bool lacks_memory(const struct nesl *n, enum nesl_error error) {
  if (error != NESL_LIMIT) return false;
  for (size_t i = 0; i < n->diags.list.count; i++) {
    if (strstr(n->diags.list.items[i].message, "memory")) return true;
  }
  return n->diags.list.count == 0; /* not even for a message */
}

static bool note_run(struct nesl *n, void *context, const struct nesl_done *it) {
  struct trying *t = context;
  t->ran = it->outcome.error == NESL_OK;
  t->exhausted |= lacks_memory(n, it->outcome.error);
  if (t->exhausted) {
    nesl_complain(n);
  } else if (!t->ran && t->prints) {
    print_fault(t, n);
  }
  return true;
}

/* Executes one of the instance's forms, with these cases as the argument; false if it fails. */
static bool run_form(struct trying *t, const struct source *form, const struct datum *cases,
                     size_t count) {
  struct nesl *n = t->n;
  const struct nesl_value value = datum_columns(&t->values, t->in->cases, cases, count);
  const struct scheme scheme = {.count = 0, .type = t->in->cases};
  static const char name[] = "_cases";
  struct global *global = session_lend(
      n->session, intern_name(&n->session->names, name, sizeof name - 1), &scheme, &value);
  t->ran = false;
  n->parameters = &global;
  n->parameter_count = 1;
  n->repeated = form == t->in->lifted ? t->number : 0;
  nesl_each_form(n, form, note_run, t, NULL);
  n->parameters = NULL;
  n->parameter_count = 0;
  n->repeated = 0;
  text_clear(&n->capture); /* what the program printed */
  return t->ran;
}

/* Whether there is no more to be tried. */
static bool ends(const struct trying *t) {
  return t->n->interrupted || t->exhausted;
}

static const struct column *result_of(struct trying *t, const char *name) {
  const struct global *g = session_global(t->n->session, name);
  return &g->value.columns[g->value.count - 1];
}

/* Tries the case alone. */
static enum verdict alone(struct trying *t, const struct datum *one) {
  if (!run_form(t, t->in->flat, one, 1)) return VERDICT_FAULT;
  return (enum verdict)result_of(t, "_verdict")->as.ints[0];
}

/* Tries cases at once; false if there is a fault. */
static bool at_once(struct trying *t, struct round *r, size_t from, size_t end) {
  if (!run_form(t, t->in->lifted, r->cases + from, end - from)) return false;
  const struct column *column = result_of(t, "_verdicts");
  for (size_t i = from; i < end; i++) {
    r->verdicts[i] = (enum verdict)column->as.ints[i - from];
  }
  return true;
}

static bool is_failure(enum verdict v) {
  return v == VERDICT_FALSE || v == VERDICT_FAULT;
}

/* The first of the cases from .. end - 1 that fails, or `end`. Verdicts up to there are set. */
static size_t first_failure(struct trying *t, struct round *r, size_t from, size_t end) {
  t->runs++;
  if (from == end || ends(t)) return end;
  if (at_once(t, r, from, end)) {
    while (from < end && !is_failure(r->verdicts[from])) from++;
    return from;
  }
  if (end - from == 1) {
    r->verdicts[from] = VERDICT_FAULT;
    return from;
  }
  const size_t middle = from + (end - from) / 2;
  size_t found = first_failure(t, r, from, middle);
  if (found == middle) found = first_failure(t, r, middle, end);
  t->together |= found == end;
  return found;
}

/* ---- drawing ---- */

static uint64_t chosen(uint64_t option, uint64_t property, uint64_t usual) {
  return option ? option : property ? property : usual;
}

/* Of all parameters, a tuple from parameter i on. */
static struct datum draw_case(struct trying *t, size_t i, struct type *type, uint64_t size) {
  const struct property *p = t->in->property;
  const struct datum_domain domain = {&p->parameters.items[i].range, t->n->options->widths};
  if (i + 1 == p->parameters.count)
    return datum_draw(&t->values, &t->bits, type, &domain, size);
  type = type_of(type);
  struct datum *items = arena_alloc(&t->values, 2 * sizeof *items);
  items[0] = datum_draw(&t->values, &t->bits, type->part[0], &domain, size);
  items[1] = draw_case(t, i + 1, type->part[1], size);
  return (struct datum){.count = 2, .items = items};
}

/* Draws cases `first` and those behind it, whose sizes grow with their numbers. */
static struct round draw_round(struct trying *t, uint64_t first, uint64_t count) {
  struct round r = {.count = (size_t)count};
  r.cases = arena_alloc(&t->values, r.count * sizeof *r.cases);
  r.verdicts = arena_alloc(&t->values, r.count * sizeof *r.verdicts);
  for (size_t i = 0; i < r.count; i++) {
    const uint64_t last = t->cases > 1 ? t->cases - 1 : 1;
    const uint64_t number = first + i < last ? first + i : last;
    r.cases[i] = draw_case(t, 0, t->in->parameter, t->size * number / last);
  }
  return r;
}

/* ---- simpler cases ---- */

/* What is simpler in the component of one parameter, from parameter i on. */
static void simpler_cases(struct trying *t, size_t i, struct type *type, const struct datum *d,
                          datum_list *list) {
  const struct property *p = t->in->property;
  const struct datum_domain domain = {&p->parameters.items[i].range, t->n->options->widths};
  if (i + 1 == p->parameters.count) {
    datum_simpler(&t->values, type, &domain, d, list);
    return;
  }
  datum_list component[2] = {{0}, {0}};
  type = type_of(type);
  datum_simpler(&t->values, type->part[0], &domain, &d->items[0], &component[0]);
  simpler_cases(t, i + 1, type->part[1], &d->items[1], &component[1]);
  for (unsigned k = 0; k < 2; k++) {
    for (size_t j = 0; j < component[k].count; j++) {
      struct datum *items = arena_alloc(&t->values, 2 * sizeof *items);
      memcpy(items, d->items, 2 * sizeof *items);
      items[k] = component[k].items[j];
      *array_push(&t->values, list) = (struct datum){.count = 2, .items = items};
    }
  }
}

/* A copy in the arena that keeps the case that fails. */
static struct datum kept(struct trying *t, const struct datum *d) {
  struct datum copy = *d;
  struct datum *items = arena_alloc(&t->keep, d->count * sizeof *items + 1);
  for (uint32_t i = 0; i < d->count; i++) items[i] = kept(t, &d->items[i]);
  copy.items = items;
  return copy;
}

/* Replaces a case that fails by a simpler one; false if there is none. */
static bool simplify(struct trying *t, struct datum *failing) {
  datum_list list = {0};
  arena_free(&t->values);
  simpler_cases(t, 0, t->in->parameter, failing, &list);
  struct round r = {list.items, arena_alloc(&t->values, list.count * sizeof *r.verdicts + 1),
                    list.count};
  t->tried += list.count;
  const size_t found = first_failure(t, &r, 0, r.count);
  if (found < r.count) *failing = kept(t, &r.cases[found]);
  return found < r.count;
}

/* Makes the case as simple as it gets; the number of steps. `ended` early? */
static unsigned simplest(struct trying *t, struct datum *failing, bool *ended) {
  const double before = seconds_now();
  unsigned steps = 0;
  for (bool simpler = true; simpler && !*ended; steps += simpler) {
    simpler = simplify(t, failing);
    *ended = ends(t) || t->runs > MOST_SIMPLER_RUNS || t->tried > MOST_TRIED ||
             seconds_now() - before > most_simpler_seconds;
  }
  return steps;
}

/* ---- reports ---- */

static void print_begin(const struct trying *t) {
  printf("%s:%u: %s ", t->in->path, t->line, t->in->property->name->text);
}

/* The text with line breaks and indentation as one space each. */
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

/* v = (F)([1, 2]) */
static void print_binding(struct trying *t, size_t i, struct type *type,
                          const struct datum *d) {
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
static void print_case(struct trying *t, const struct datum *d) {
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

/* What became of the drawn values, if something did. */
static void print_arguments(struct trying *t, const struct datum *d) {
  if (!t->in->arguments || !run_form(t, t->in->arguments, d, 1)) return;
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
static void print_command(const struct trying *t) {
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

static void print_difference(struct trying *t, const struct datum *d, enum verdict lifted,
                             enum verdict flat) {
  print_begin(t);
  printf("is %s in {... : x in cases}, and %s for the same case alone: an error in Ravel, "
         "unless it "
         "draws random numbers\n",
         verdict_text(lifted), verdict_text(flat));
  print_case(t, d);
  print_command(t);
}

static void print_failure(struct trying *t, const struct datum *d, uint64_t number,
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
  const enum verdict v = alone(t, d);
  t->prints = false;
  if (v == VERDICT_FALSE) puts("    is F");
  if (!is_failure(v)) puts("    is not, tried again: does it draw random numbers?");
  print_command(t);
}

/* ---- a property ---- */

/* A case that failed among others. */
static void report(struct trying *t, const struct datum *found, enum verdict lifted,
                   uint64_t number) {
  struct datum failing = kept(t, found);
  const enum verdict flat = alone(t, &failing);
  if (ends(t)) return;
  if (flat != lifted) {
    print_difference(t, &failing, lifted, flat);
    return;
  }
  bool ended = false;
  t->runs = 0;
  const unsigned steps = simplest(t, &failing, &ended);
  if (!ends(t)) print_failure(t, &failing, number, steps, ended);
}

/* How many cases were drawn, and of what size the next one is: it grows from 0 to the number of
 * cases that are wanted, with those that satisfy the condition and slowly with the others. */
struct drawn {
  uint64_t count, step;
};

static uint64_t held_in(const struct round *r) {
  uint64_t held = 0;
  for (size_t i = 0; i < r->count; i++) held += r->verdicts[i] == VERDICT_TRUE;
  return held;
}

static void print_together(struct trying *t, struct round *r) {
  print_begin(t);
  printf(
      "fails for %zu cases at once, and for none of them alone: is there too little memory or "
      "time?\n",
      r->count);
  t->prints = true;
  at_once(t, r, 0, r->count);
  t->prints = false;
  print_command(t);
}

/* Whether the case has the same verdict alone; reports it if not. */
static bool agrees_alone(struct trying *t, const struct round *r, size_t i) {
  const enum verdict flat = alone(t, &r->cases[i]);
  if (flat != r->verdicts[i] && !ends(t)) {
    print_difference(t, &r->cases[i], r->verdicts[i], flat);
  }
  return flat == r->verdicts[i];
}

/* A round of cases, of which `first` is the first; adds those in which the law held. False if
 * one failed. */
static bool try_round(struct trying *t, const struct drawn *drawn, uint64_t count,
                      uint64_t *held) {
  arena_free(&t->values);
  t->together = false;
  struct round r = draw_round(t, drawn->step, count);
  const size_t failing = first_failure(t, &r, 0, r.count);
  if (ends(t)) return false;
  if (failing < r.count) {
    report(t, &r.cases[failing], r.verdicts[failing], drawn->count + failing + 1);
    return false;
  }
  if (t->together) print_together(t, &r);
  *held += held_in(&r);
  const bool last = *held >= t->cases;
  return !t->together && (!last || agrees_alone(t, &r, r.count - 1));
}

static void print_too_few(const struct trying *t, uint64_t held, uint64_t drawn) {
  print_begin(t);
  printf("has too few cases%s%s: %llu of %llu random ones satisfy its condition; draw what "
         "does, by "
         "`in` and `from`\n",
         *t->in->variables ? " with " : "", t->in->variables, (unsigned long long)held,
         (unsigned long long)drawn);
}

static struct trial try_rounds(struct trying *t) {
  struct trial trial = {0};
  const uint64_t fraction = (t->cases + ROUNDS - 1) / ROUNDS;
  const uint64_t round = fraction < LEAST_ROUND ? LEAST_ROUND : fraction;
  struct drawn drawn = {0};
  while (trial.cases < t->cases && drawn.count < DRAWN_FOR_ONE * t->cases && !trial.failed) {
    const uint64_t left = t->cases - trial.cases, count = left < round ? left : round;
    trial.failed = !try_round(t, &drawn, count, &trial.cases);
    drawn.count += count;
    drawn.step = trial.cases + (drawn.count - trial.cases) / DRAWN_FOR_ONE;
  }
  if (trial.failed || trial.cases == t->cases) return trial;
  print_too_few(t, trial.cases, drawn.count);
  trial.failed = true;
  return trial;
}

struct trial instance_try(struct nesl *n, const struct instance *in, uint64_t number) {
  const struct nesl_options *o = n->options;
  struct trying t = {.n = n,
                     .in = in,
                     .bits = random_stream(o->machine.seed, in->property->name->text, number),
                     .number = ++n->numbered,
                     .line = instance_line(in),
                     .cases = chosen(o->cases, in->property->cases, CASES),
                     .size = chosen(o->size, in->property->size, SIZE)};
  struct memory_guard guard;
  arena_init(&t.keep, &n->heap);
  arena_init(&t.values, &n->heap);
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    arena_free(&t.keep);
    arena_free(&t.values);
    memory_failed();
  }
  const struct trial trial = try_rounds(&t);
  memory_guard_end(&guard);
  arena_free(&t.keep);
  arena_free(&t.values);
  return trial;
}
