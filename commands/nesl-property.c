/* nesl-property.c - `nesl test`: the properties of a file.
 *
 * A property whose types have variables is tried with several types for each; those for which
 * it has no type itself, such as an order of bools, are left out.
 */
#include "commands/nesl-property.h"
#include "commands/process.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- type variables ---- */

/* The types that variables stand for; the first is tried first. */
static const char *const candidates[] = {"int", "float", "char", "(int, char)"};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

typedef ARRAY(const struct name *) name_list;

/* The length of the word that begins there, or of a module's, m.point; 0: none does. */
static size_t word_length(const char *text, size_t length) {
  size_t n = 0;
  if (length == 0 || (!isalpha((unsigned char)*text) && *text != '_')) return 0;
  while (n < length && (isalnum((unsigned char)text[n]) || strchr("_.", text[n]))) n++;
  return n;
}

static const struct name *folded(struct nesl *n, struct arena *arena, const char *text,
                                 size_t length) {
  char *word = arena_copy(arena, text, length);
  for (size_t i = 0; i < length; i++) word[i] = (char)tolower((unsigned char)word[i]);
  return intern_name(&n->session->names, word, length);
}

/* One or two letters or digits that name no type. */
static bool is_variable(struct nesl *n, const struct name *name) {
  enum { LONGEST = 2 };
  return strlen(name->text) <= LONGEST && !session_type(n->session, name);
}

static size_t index_of_name(const name_list *list, const struct name *name) {
  size_t i = 0;
  while (i < list->count && list->items[i] != name) i++;
  return i;
}

/* The type as it is written, with the candidates of variables in their stead, from `first` on;
 * names variables that are new. */
static const char *ground_text(struct nesl *n, struct arena *arena, const struct property *p,
                               struct span at, size_t first, name_list *variables) {
  const char *text = p->source->text + at.start, *ground = "";
  const size_t length = at.end - at.start;
  for (size_t i = 0, step; i < length; i += step) {
    step = word_length(text + i, length - i);
    const struct name *name = step ? folded(n, arena, text + i, step) : NULL;
    if (!step) step = 1;
    if (name && is_variable(n, name)) {
      const size_t k = index_of_name(variables, name);
      if (k == variables->count) *array_push(arena, variables) = name;
      ground = arena_printf(arena, "%s%s", ground, candidates[(first + k) % CANDIDATES]);
    } else {
      ground = arena_printf(arena, "%s%.*s", ground, (int)step, text + i);
    }
  }
  return ground;
}

static const char *variables_text(struct arena *arena, const name_list *variables,
                                  size_t first) {
  const char *text = "";
  for (size_t k = 0; k < variables->count; k++) {
    text = arena_printf(arena, "%s%s%s = %s", text, k ? ", " : "", variables->items[k]->text,
                        candidates[(first + k) % CANDIDATES]);
  }
  return text;
}

/* ---- types ---- */

/* While a file is tested. */
struct testing {
  struct nesl *n;
  const struct source *file;
  struct arena arena; /* of a property */
  struct properties results;
};

/* Reads a type that is written at `at`; NULL after complaining. */
static struct type *read_type_text(struct testing *t, const struct property *p, struct span at,
                                   const char *text) {
  const struct source_pos pos = source_position(p->source, at.start);
  text = arena_printf(&t->arena, "%*s%s;", (int)pos.column - 1, "", text);
  struct source source = {
      .name = t->file->name, .text = text, .length = strlen(text), .first_line = pos.line};
  struct type *type = session_read_type(t->n->session, &source, &t->n->complaints);
  return type ? type_copy(&t->arena, type) : NULL;
}

#define property_error(t, p, at, ...)                                                          \
  (complain(&(t)->n->complaints, NESL_TYPE, (p)->source, at, __VA_ARGS__), false)

/* Whether the bounds of ints are ints of the session. */
static bool range_fits(const struct testing *t, const struct property_range *range) {
  if (range->kind != RANGE_INTS || t->n->options->widths.int_elem != CVL_I32) return true;
  return range->low >= INT32_MIN && range->high <= INT32_MAX;
}

static bool check_parameter(struct testing *t, const struct property *p, size_t i,
                            struct type *type) {
  const struct property_parameter *parameter = &p->parameters.items[i];
  if (value_column_count(type) > VALUE_MOST_COLUMNS) {
    return property_error(t, p, parameter->type, "%s", VALUE_TOO_MANY_COLUMNS);
  }
  const char *problem = datum_problem(&t->arena, type);
  if (problem) return property_error(t, p, parameter->type, "%s", problem);
  if (!range_fits(t, &parameter->range)) {
    return property_error(t, p, parameter->range.at, "a bound is no int of 32 bits");
  }
  if (datum_has_range(&t->arena, type, &parameter->range)) return true;
  return property_error(
      t, p, parameter->range.at,
      "this range has no values of %s: [1:7] is for ints, [0.0:1.0] for floats, "
      "\"abc\" for characters",
      type_text(&t->arena, type, false));
}

/* Returns the type of the tuple of parameters from i on. NULL after complaining. */
static struct type *case_type(struct testing *t, const struct property *p,
                              const char *const *types, size_t i) {
  struct type *type = read_type_text(t, p, p->parameters.items[i].type, types[i]);
  if (!type || !check_parameter(t, p, i, type)) return NULL;
  if (i + 1 == p->parameters.count) return type;
  struct type *rest = case_type(t, p, types, i + 1);
  return rest ? type_pair(&t->arena, type, rest) : NULL;
}

/* ---- instances ---- */

/* Makes the instance with the candidates from `first` on. False if the property has no type
 * with them; that is reported if `complains`. */
static bool make_instance(struct testing *t, const struct property *p, size_t first,
                          bool complains, struct instance *in) {
  name_list variables = {0};
  const char **types = arena_alloc(&t->arena, p->parameters.count * sizeof *types);
  for (size_t i = 0; i < p->parameters.count; i++) {
    types[i] = ground_text(t->n, &t->arena, p, p->parameters.items[i].type, first, &variables);
  }
  *in = (struct instance){.property = p, .path = t->file->name, .types = types};
  in->variables = variables_text(&t->arena, &variables, first);
  in->parameter = case_type(t, p, types, 0);
  if (!in->parameter) {
    if (complains) nesl_complain(t->n);
    return false;
  }
  in->cases = type_sequence(&t->arena, in->parameter);
  return instance_define(t->n, &t->arena, in, complains);
}

static void let_go_source(struct nesl *n, const struct source *source) {
  if (source) region_let_go(n->session, source->region);
}

static void end_instance(struct nesl *n, const struct instance *in) {
  let_go_source(n, in->lifted);
  let_go_source(n, in->flat);
  let_go_source(n, in->arguments);
}

/* The outcome of the instances of a property. */
struct outcome {
  unsigned instances;
  bool failed;
  uint64_t cases;
  const char *types; /* "a = int; a = float" */
};

static void try_instance(struct testing *t, const struct property *p, size_t first,
                         struct outcome *o) {
  struct instance in;
  nesl_forget(t->n);
  in.exhausted = false;
  if (!make_instance(t, p, first, false, &in)) {
    o->failed |= in.exhausted;
    return;
  }
  const struct trial trial = instance_try(t->n, &in, first);
  o->types =
      arena_printf(&t->arena, "%s%s%s", o->types, o->instances ? "; " : "", in.variables);
  o->instances++;
  o->cases += trial.cases;
  o->failed |= trial.failed;
  end_instance(t->n, &in);
}

static bool has_variables(struct testing *t, const struct property *p) {
  name_list variables = {0};
  for (size_t i = 0; i < p->parameters.count; i++) {
    ground_text(t->n, &t->arena, p, p->parameters.items[i].type, 0, &variables);
  }
  return variables.count > 0;
}

/* Reports why there is no instance. */
static void complain_of_none(struct testing *t, const struct property *p) {
  struct instance in;
  nesl_forget(t->n);
  t->results.broken++;
  if (make_instance(t, p, 0, true, &in)) end_instance(t->n, &in);
}

static void print_held(const struct testing *t, const struct property *p,
                       const struct outcome *o) {
  const uint32_t line = source_position(p->source, p->name_at.start).line;
  printf("%s:%u: %s holds in %llu case%s%s%s\n", t->file->name, line, p->name->text,
         (unsigned long long)o->cases, o->cases == 1 ? "" : "s", *o->types ? ", " : "",
         o->types);
}

static void try_property(struct testing *t, const struct property *p) {
  const size_t most = has_variables(t, p) ? CANDIDATES : 1;
  struct outcome o = {.types = ""};
  for (size_t first = 0; first < most && !o.failed && !t->n->interrupted; first++) {
    try_instance(t, p, first, &o);
  }
  if (t->n->interrupted) {
    const uint32_t line = source_position(p->source, p->name_at.start).line;
    printf("%s:%u: %s was interrupted\n", t->file->name, line, p->name->text);
    return;
  }
  t->results.cases += o.cases;
  t->results.failed += o.failed;
  if (o.instances == 0 && !o.failed) {
    complain_of_none(t, p);
  } else if (!o.failed) {
    print_held(t, p, &o);
  }
}

/* ---- the properties of a file ---- */

/* Makes the text of the comment a source, in the columns of the file. */
static const struct source *comment_source(struct testing *t, struct span at) {
  const struct source_pos pos = source_position(t->file, at.start);
  const char *text = arena_printf(&t->arena, "%*s%.*s", (int)pos.column - 1, "",
                                  (int)(at.end - at.start), t->file->text + at.start);
  const struct source *source = nesl_source(t->n, t->file->name, text, strlen(text), pos.line);
  if (!source) memory_failed();
  region_hold(source->region);
  return source;
}

static bool is_wanted_property(const struct testing *t, const struct property *p) {
  const char *only = t->n->options->only;
  return !only || !p->name || strcasecmp(only, p->name->text) == 0; /* names are folded */
}

static void try_comment(struct testing *t, struct span at) {
  struct property p;
  const struct source *source = comment_source(t, at);
  nesl_forget(t->n);
  const bool is_one =
      property_read(&t->arena, &t->n->session->names, source, &t->n->complaints, &p);
  const bool wanted = is_wanted_property(t, &p); /* as far as it could be read */
  t->results.count += wanted;
  t->results.broken += wanted && !is_one;
  if (wanted && !is_one) nesl_complain(t->n);
  if (wanted && is_one) try_property(t, &p);
  region_let_go(t->n->session, source->region);
  arena_free(&t->arena);
}

/* For --only: whether any file has the property. */
static void note_found(const struct testing *t) {
  const struct nesl_options *o = t->n->options;
  if (o->found && t->results.count > t->results.broken) *o->found = true;
}

static void try_all_instances(struct testing *t) {
  uint32_t at = 0;
  struct span comment;
  while (!t->n->interrupted && process_reaches(stdout) &&
         property_find(t->file, &at, &comment)) {
    try_comment(t, comment);
  }
  note_found(t);
}

struct properties nesl_try_properties(struct nesl *n, const struct source *source) {
  struct testing t = {.n = n, .file = source};
  struct memory_guard guard;
  arena_init(&t.arena, &n->heap);
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    t.results.failed++;
    nesl_forget(n);
    nesl_complain_of_memory(n);
    nesl_settle(n, NULL, (struct span){0});
    nesl_complain(n);
  } else {
    try_all_instances(&t);
    memory_guard_end(&guard);
  }
  arena_free(&t.arena);
  return t.results;
}
