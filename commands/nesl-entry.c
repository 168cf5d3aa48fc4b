/* nesl-entry.c - `nesl run FILE --entry F ARGUMENT...`: the call, and its arguments as values.
 *
 * The call is checked as a whole, so that arguments have the types of F's parameters. Arguments
 * that are expressions are then evaluated together. Every argument becomes a variable, whose
 * value the machine gets on its stack: it is no constant of the compiled program, and the host
 * frees it when the machine has it.
 */
#include "commands/nesl.h"
#include "commands/process.h"
#include "neslc/table.h"

#include <ctype.h>
#include <string.h>

/* ---- the call ---- */

/* Whether the text is words and no more: what a string looks like without its quotes. */
static bool is_words(const char *text) {
  for (const char *p = text; *p; p++) {
    if (!isalpha((unsigned char)*p) && *p != ' ' && *p != '_') return false;
  }
  return isalpha((unsigned char)text[0]);
}

/* Whether an argument begins with a name that nothing defines. */
static bool is_undefined(struct nesl *n, const char *text) {
  static const char *const others[] = {"if", "let", "t", "f", "time"}; /* no names of values */
  char word[64];
  size_t length = 0;
  for (; length < sizeof word - 1 && text[length] && text[length] != ' '; length++) {
    word[length] = (char)tolower((unsigned char)text[length]);
  }
  word[length] = '\0';
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (strcmp(word, others[i]) == 0) return false;
  }
  return !session_global(n->session, word);
}

/* Complains of a string without quotes; true if there is none. */
static bool is_quoted(struct nesl *n, unsigned number, const char *argument) {
  if (!is_words(argument) || !is_undefined(n, argument)) return true;
  diag_add(&n->diags, SEVERITY_ERROR, NULL, (struct source_pos){0}, NULL,
           "argument %u of --entry %s is an expression, and %.60s is not defined; a string has "
           "quotes: '\"%.60s\"'",
           number, n->options->entry, argument, argument);
  n->complaints.first = NESL_UNBOUND;
  return false;
}

const struct source *nesl_entry_source(struct nesl *n) {
  const struct nesl_options *o = n->options;
  const struct global *function = session_global(n->session, o->entry);
  struct text text;
  if (!text_begin(&text, &n->heap)) {
    nesl_complain_of_memory(n);
    return NULL;
  }
  fprintf(text.stream, "%s(", o->entry);
  bool fine = true;
  for (unsigned i = 1; i < o->operand_count && fine; i++) {
    const char *argument = o->operands[i];
    char name[32];
    if (function && nesl_is_array_file(argument)) {
      snprintf(name, sizeof name, "_argument_%u", i);
      fine = nesl_bind_argument(n, function, i - 1, o->operand_count - 1, name, argument);
      argument = name;
    } else if (function) {
      fine = is_quoted(n, i, argument);
    }
    fprintf(text.stream, "%s(%s)", i > 1 ? ", " : "", argument);
  }
  fputs(");", text.stream);
  const bool whole = text_end(&text);
  if (fine && !whole) nesl_complain_of_memory(n);
  const struct source *source =
      fine && whole ? nesl_source(n, "<command-line>", text.bytes, text.length, 1) : NULL;
  text_free(&text);
  return source;
}

/* ---- its arguments ---- */

/* Whether values of the type are data: functions stay in the call, since the compiler must know
 * them. */
static bool is_data_(struct table *seen, struct type *type) {
  type = type_of(type);
  if (type_has_parts(type) && !table_add(seen, type)) return true; /* or it was said already */
  bool data = type->tag != TYPE_FUNCTION;
  for (unsigned i = 0; i < 2 && data && type->part[i]; i++)
    data = is_data_(seen, type->part[i]);
  for (uint32_t i = 0; type->tag == TYPE_DATA && i < type->argument_count; i++) {
    data &= is_data_(seen, type->arguments[i]);
  }
  return data;
}

static bool is_argument_type(struct arena *scratch, struct type *type) {
  struct table seen;
  table_begin(&seen, scratch);
  return is_data_(&seen, type);
}

struct arguments {
  struct nesl *n;
  ARRAY(struct global *) parameters;
  ARRAY(struct core *) expressions; /* to be evaluated */
};

/* Looks for arguments in a tuple of them. */
static void find_arguments(struct arguments *a, struct core *e) {
  if (e->kind == CORE_PAIR) {
    find_arguments(a, e->as.part.left);
    find_arguments(a, e->as.part.right);
  } else if (!is_argument_type(a->n->session->arena, e->type)) {
    return;
  } else if (e->kind != CORE_GLOBAL) {
    *array_push(a->n->session->arena, &a->expressions) = e;
  } else if (e->as.use.global->kind == GLOBAL_VARIABLE) {
    *array_push(a->n->session->arena, &a->parameters) = e->as.use.global;
  }
}

/* The expressions as one, a tuple; its types are ground. */
static struct core *tuple_of(struct arena *arena, struct core *const *expressions,
                             size_t count) {
  struct core *tuple = arena_alloc(arena, sizeof *tuple);
  *tuple = *expressions[0];
  tuple->type = type_ground(arena, tuple->type, 0, NULL);
  if (count == 1) return tuple;
  struct core *pair = arena_alloc(arena, sizeof *pair);
  *pair = (struct core){.kind = CORE_PAIR, .source = tuple->source, .at = tuple->at};
  pair->as.part.left = tuple;
  pair->as.part.right = tuple_of(arena, expressions + 1, count - 1);
  pair->type = type_pair(arena, tuple->type, pair->as.part.right->type);
  return pair;
}

/* Replaces an expression by a variable with these columns, which are a component of a value. */
static void make_variable(struct arguments *a, size_t number, struct core *e, struct type *type,
                          const struct column **columns) {
  struct nesl *n = a->n;
  struct column_kinds kinds = {.arena = n->session->arena};
  value_columns(type, &kinds);
  struct nesl_value value = {.type = type, .count = (uint32_t)kinds.list.count};
  value.columns = arena_alloc(n->session->arena, value.count * sizeof *value.columns + 1);
  for (uint32_t i = 0; i < value.count; i++) {
    value.columns[i] = column_copy(&n->arguments, *columns + i);
  }
  *columns += value.count;
  const char *name = arena_printf(n->session->arena, "_expression_%zu", number);
  const struct scheme scheme = {.count = 0, .type = type};
  struct global *variable = session_import(
      n->session, intern_name(&n->session->names, name, strlen(name)), &scheme, &value);
  e->kind = CORE_GLOBAL;
  e->type = type;
  memset(&e->as, 0, sizeof e->as);
  e->as.use.global = variable;
  *array_push(n->session->arena, &a->parameters) = variable;
}

static bool evaluate_expressions(struct arguments *a, const struct checked *call) {
  struct nesl *n = a->n;
  struct checked form = *call;
  struct nesl_value value;
  form.value = tuple_of(n->session->arena, a->expressions.items, a->expressions.count);
  const struct evaluation e = {
      .session = n->session, .form = &form, .complaints = &n->complaints};
  const bool fine = n->evaluator->evaluate(n->evaluator, &e, &value);
  const struct column *columns = fine ? value.columns : NULL;
  struct type *rest = form.value->type;
  for (size_t i = 0; i < a->expressions.count && fine; i++) {
    const bool last = i + 1 == a->expressions.count;
    make_variable(a, i, a->expressions.items[i], last ? rest : type_of(rest->part[0]),
                  &columns);
    if (!last) rest = type_of(rest->part[1]);
  }
  n->evaluator->release(n->evaluator);
  return fine;
}

bool nesl_take_arguments(struct nesl *n, const struct checked *call) {
  struct core *apply = call->value;
  struct arguments a = {.n = n};
  if (apply->kind != CORE_APPLY) return true;
  find_arguments(&a, apply->as.part.right);
  const double before = stop_clock();
  if (a.expressions.count > 0 && !evaluate_expressions(&a, call)) return false;
  n->load_seconds += stop_clock() - before;
  n->evaluator->seconds = 0; /* what counts is the call */
  n->parameters = a.parameters.items;
  n->parameter_count = (uint32_t)a.parameters.count;
  return true;
}

void nesl_forget_arguments(void *context) {
  struct nesl *n = context;
  for (uint32_t i = 0; i < n->parameter_count; i++) {
    struct nesl_value *value = &n->parameters[i]->value;
    if (n->parameters[i]->name->text[0] != '_') continue; /* the user's own variable */
    for (uint32_t k = 0; k < value->count; k++) {
      value->columns[k].length = 0;
      value->columns[k].as.ints = NULL;
    }
  }
  arena_free(&n->arguments);
}
