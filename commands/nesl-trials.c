/* nesl-trials.c - tries a property on random cases.
 *
 * The cases of a round are drawn, made one sequence, and tried at once by an apply-to-each; a
 * fault is looked for in halves of them. The last and largest case, and one that fails, is also
 * tried alone: if that gives another verdict, the compiled form of one of them is wrong. What
 * fails is made simpler: of all that is simpler in one respect, which is tried at once, the
 * first that fails, until none does.
 */
#include "commands/nesl-trials.h"
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
static void print_trial_fault(const struct trying *t, const struct nesl *n, FILE *out) {
  enum { MOST = 5 };
  struct diag_list shown = n->diags;
  size_t count = shown.list.count ? 1 : 0;
  while (count < shown.list.count && !is_of_instance(t, &shown.list.items[count])) count++;
  shown.list.count = count;
  diag_print(&shown, "nesl", MOST, out);
}

/* Whether memory was the limit. */
static bool is_memory_error(const struct nesl *n, enum nesl_error error) {
  if (error != NESL_LIMIT) return false;
  for (size_t i = 0; i < n->diags.list.count; i++) {
    if (strstr(n->diags.list.items[i].message, "memory")) return true;
  }
  return n->diags.list.count == 0; /* not even for a message */
}

static bool note_run(struct nesl *n, void *context, const struct nesl_done *it) {
  struct trying *t = context;
  t->ran = it->outcome.error == NESL_OK;
  if (!t->ran && t->prints) print_trial_fault(t, n, stdout);
  if (t->exhausted || t->simplifies || !is_memory_error(n, it->outcome.error)) return true;
  t->exhausted = true; /* said once: there may be no case that lacks it alone */
  fflush(stdout);
  print_trial_fault(t, n, stderr);
  return true;
}

bool trial_run(struct trying *t, const struct source *form, const struct random_datum *cases,
               size_t count) {
  struct nesl *n = t->n;
  const struct nesl_value value = datum_columns(&t->values, t->in->cases, cases, count);
  const struct scheme scheme = {.count = 0, .type = t->in->cases};
  static const char name[] = "_cases";
  struct global *global = session_import(
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
static bool is_asked_to_end(const struct trying *t) {
  return t->n->interrupted;
}

static const struct column *verdicts_of(struct trying *t, const char *name) {
  const struct global *g = session_global(t->n->session, name);
  return &g->value.columns[g->value.count - 1];
}

enum verdict trial_alone(struct trying *t, const struct random_datum *one) {
  if (!trial_run(t, t->in->flat, one, 1)) return VERDICT_FAULT;
  return (enum verdict)verdicts_of(t, "_verdict")->as.ints[0];
}

bool trial_at_once(struct trying *t, struct trial_round *r, size_t from, size_t end) {
  if (!trial_run(t, t->in->lifted, r->cases + from, end - from)) return false;
  const struct column *column = verdicts_of(t, "_verdicts");
  for (size_t i = from; i < end; i++) {
    r->verdicts[i] = (enum verdict)column->as.ints[i - from];
  }
  return true;
}

bool trial_failed(enum verdict v) {
  return v == VERDICT_FALSE || v == VERDICT_FAULT;
}

/* The first of the cases from .. end - 1 that fails, or `end`. Verdicts up to there are set. */
static size_t first_failure(struct trying *t, struct trial_round *r, size_t from, size_t end) {
  t->runs++;
  if (from == end || is_asked_to_end(t)) return end;
  if (trial_at_once(t, r, from, end)) {
    while (from < end && !trial_failed(r->verdicts[from])) from++;
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

static uint64_t chosen_number(uint64_t option, uint64_t property, uint64_t usual) {
  return option ? option : property ? property : usual;
}

/* Draws a case of all parameters, which is a tuple from parameter i on. */
static struct random_datum draw_case(struct trying *t, size_t i, struct type *type,
                                     uint64_t size) {
  const struct property *p = t->in->property;
  const struct datum_domain domain = {&p->parameters.items[i].range, t->n->options->widths};
  if (i + 1 == p->parameters.count)
    return datum_draw(&t->values, &t->bits, type, &domain, size);
  type = type_of(type);
  struct random_datum *items = arena_alloc(&t->values, 2 * sizeof *items);
  items[0] = datum_draw(&t->values, &t->bits, type->part[0], &domain, size);
  items[1] = draw_case(t, i + 1, type->part[1], size);
  return (struct random_datum){.count = 2, .items = items};
}

/* Draws cases `first` and those behind it, whose sizes grow with their numbers. */
static struct trial_round draw_round(struct trying *t, uint64_t first, uint64_t count) {
  struct trial_round r = {.count = (size_t)count};
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

/* Appends cases that are simpler in the component of one parameter, from parameter i on. */
static void simpler_cases(struct trying *t, size_t i, struct type *type,
                          const struct random_datum *d, datum_list *list) {
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
      struct random_datum *items = arena_alloc(&t->values, 2 * sizeof *items);
      memcpy(items, d->items, 2 * sizeof *items);
      items[k] = component[k].items[j];
      *array_push(&t->values, list) = (struct random_datum){.count = 2, .items = items};
    }
  }
}

/* A copy in the arena that keeps the case that fails. */
static struct random_datum kept(struct trying *t, const struct random_datum *d) {
  struct random_datum copy = *d;
  struct random_datum *items = arena_alloc(&t->keep, d->count * sizeof *items + 1);
  for (uint32_t i = 0; i < d->count; i++) items[i] = kept(t, &d->items[i]);
  copy.items = items;
  return copy;
}

/* Replaces a case that fails by a simpler one; false if there is none. */
static bool simplify(struct trying *t, struct random_datum *failing) {
  datum_list list = {0};
  arena_free(&t->values);
  simpler_cases(t, 0, t->in->parameter, failing, &list);
  struct trial_round r = {
      list.items, arena_alloc(&t->values, list.count * sizeof *r.verdicts + 1), list.count};
  t->tried += list.count;
  const size_t found = first_failure(t, &r, 0, r.count);
  if (found < r.count) *failing = kept(t, &r.cases[found]);
  return found < r.count;
}

/* Makes the case as simple as it gets; the number of steps. `ended` early? */
static unsigned find_simplest(struct trying *t, struct random_datum *failing, bool *ended) {
  const double before = stop_clock();
  unsigned steps = 0;
  for (bool simpler = true; simpler && !*ended; steps += simpler) {
    simpler = simplify(t, failing);
    *ended = is_asked_to_end(t) || t->runs > MOST_SIMPLER_RUNS || t->tried > MOST_TRIED ||
             stop_clock() - before > most_simpler_seconds;
  }
  return steps;
}

/* ---- a property ---- */

/* Reports a case that failed among others. */
static void report_case(struct trying *t, const struct random_datum *found, enum verdict lifted,
                        uint64_t number) {
  struct random_datum failing = kept(t, found);
  const enum verdict flat = trial_alone(t, &failing);
  if (is_asked_to_end(t)) return;
  if (flat != lifted) {
    report_difference(t, &failing, lifted, flat);
    return;
  }
  bool ended = false;
  t->runs = 0;
  t->simplifies = true;
  const unsigned steps = find_simplest(t, &failing, &ended);
  if (!is_asked_to_end(t)) report_failure(t, &failing, number, steps, ended);
}

/* How many cases were drawn, and of what size the next one is: it grows from 0 to the number of
 * cases that are wanted, with those that satisfy the condition and slowly with the others. */
struct drawn {
  uint64_t count, step;
};

static uint64_t held_in(const struct trial_round *r) {
  uint64_t held = 0;
  for (size_t i = 0; i < r->count; i++) held += r->verdicts[i] == VERDICT_TRUE;
  return held;
}

/* Whether the case has the same verdict alone; reports it if not. */
static bool agrees_alone(struct trying *t, const struct trial_round *r, size_t i) {
  const enum verdict flat = trial_alone(t, &r->cases[i]);
  if (flat != r->verdicts[i] && !is_asked_to_end(t)) {
    report_difference(t, &r->cases[i], r->verdicts[i], flat);
  }
  return flat == r->verdicts[i];
}

/* A round of cases, of which `first` is the first; adds those in which the law held. False if
 * one failed. */
static bool try_round(struct trying *t, const struct drawn *drawn, uint64_t count,
                      uint64_t *held) {
  arena_free(&t->values);
  t->together = false;
  struct trial_round r = draw_round(t, drawn->step, count);
  const size_t failing = first_failure(t, &r, 0, r.count);
  if (is_asked_to_end(t)) return false;
  if (failing < r.count) {
    report_case(t, &r.cases[failing], r.verdicts[failing], drawn->count + failing + 1);
    return false;
  }
  if (t->together) report_together(t, &r);
  *held += held_in(&r);
  const bool last = *held >= t->cases;
  return !t->together && (!last || agrees_alone(t, &r, r.count - 1));
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
  report_too_few(t, trial.cases, drawn.count);
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
                     .cases = chosen_number(o->cases, in->property->cases, CASES),
                     .size = chosen_number(o->size, in->property->size, SIZE)};
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
