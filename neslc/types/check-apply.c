/* check-apply.c - applications: functions at their types, arguments, optional arguments, and
 * the forms that only look like applications. (NESL specification, sections 3.4, 5.3, 5.9.)
 */
#include "neslc/types/check.h"

#include <string.h>

/* ---- functions and global variables ---- */

/* Returns the global that stands for a program's use of a function of the library with checks
 * for overflow. */
static struct global *checked_for_overflow(struct checker *ck, struct global *global) {
  static const char *const names[][2] = {{"+", "_add"},
                                         {"-", "_subtract"},
                                         {"*", "_multiply"},
                                         {"^", "_to_power"},
                                         {"negate", "_minus"},
                                         {"sum", "_total"},
                                         {"product", "_total_product"},
                                         {"plus_scan", "_totals"}};
  if (!ck->session->overflow_checks || !global->library || ck->source->library) return global;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(names[i][0], global->name->text) == 0)
      return session_library(ck->session, names[i][1]);
  }
  return global;
}

/* A use of a function within its own body, or that of one that is defined with it: monomorphic.
 * The types of its generic variables are filled in when the functions are complete. */
static struct core *check_self(struct checker *ck, const struct syntax *e,
                               struct checker *self) {
  struct core *core = core_make(ck, CORE_GLOBAL, e, self->self_type);
  core->as.use.global = self->self;
  *array_push(ck->arena, &self->self_uses) = core;
  if (ck->parallel) ck->parallel_self = core;
  return core;
}

struct core *check_global_use(struct checker *ck, const struct syntax *e,
                              struct global *global) {
  struct checker *self = checker_of(ck, global);
  if (self) return check_self(ck, e, self);
  global = checked_for_overflow(ck, global);
  struct core *core = core_make(ck, CORE_GLOBAL, e, NULL);
  struct type **arguments =
      arena_alloc(ck->arena, (global->scheme.count + 1) * sizeof *arguments);
  core->type = type_instantiate_at(ck->arena, &global->scheme, arguments, ck->source, e->mark);
  core->as.use.global = global;
  core->as.use.count = global->scheme.count;
  core->as.use.arguments = arguments;
  for (uint32_t i = 0; i < global->scheme.count; i++) { /* this use determines the classes */
    arguments[i]->from = e->mark;
    arguments[i]->from_source = ck->source;
  }
  if (global->serial_only) {
    ck->serial_only = true;
    if (ck->parallel) complain_serial(ck, e->mark, global->name->text);
  }
  return core;
}

/* ---- application ---- */

static struct core *make_core_apply(struct checker *ck, const struct syntax *e,
                                    struct core *callee, struct core *argument,
                                    struct type *result) {
  struct core *core = core_make(ck, CORE_APPLY, e, result);
  core->as.part.left = callee;
  core->as.part.right = argument;
  return core;
}

/* Unifies component by component, to report the one that does not fit. */
static void check_argument(struct checker *ck, const struct syntax *e, struct core *callee,
                           struct type *wanted, struct core *argument) {
  struct core *part = argument;
  struct clash clash;
  unsigned number = 0;
  bool fits;
  while (true) {
    wanted = type_of(wanted);
    bool both = wanted->tag == TYPE_PAIR && part->kind == CORE_PAIR;
    struct core *component = both ? part->as.part.left : part;
    fits = unify(ck, &clash, both ? wanted->part[0] : wanted, component->type);
    if (!fits || !both) {
      part = component;
      break;
    }
    wanted = wanted->part[1];
    part = part->as.part.right;
    number++;
  }
  if (!fits) complain_argument(ck, e, callee, argument, part, number, &clash);
}

/* x.0, where `.0` is a number. */
static bool is_component(struct checker *ck, const struct syntax *argument) {
  const uint32_t start = argument->at.start;
  return argument->kind == SYNTAX_FLOAT && !argument->parenthesised && start > 0 &&
         ck->source->text[start] == '.' && !strchr(" \t\n", ck->source->text[start - 1]);
}

/* Explains 5 mod 3, pair.0 and 2(x + 1), which others write: what stands before the argument is
 * no function. */
static void remark_on_argument(struct checker *ck, const struct syntax *written,
                               const struct core *argument, struct type *applied) {
  struct type *type = type_of(argument->type);
  if (written->kind == SYNTAX_NAME && type->tag == TYPE_FUNCTION &&
      type_of(type->part[0])->tag == TYPE_PAIR) {
    const char *name = written->as.name.name->text;
    remark(ck->complaints, ck->source, written->at,
           "`%s` is a function, which stands before its arguments: %s(x, y)", name, name);
  } else if (applied->tag == TYPE_PAIR && is_component(ck, written)) {
    remark(ck->complaints, ck->source, written->at,
           "components are taken by patterns: let (x, y) = e in x");
  } else if ((applied->tag == TYPE_INT || applied->tag == TYPE_FLOAT) &&
             type->tag != TYPE_VARIABLE) {
    remark(ck->complaints, ck->source, written->at,
           "this is the argument: is an operator missing before it? `*` multiplies");
  }
}

static struct core *nesl_apply_callee(struct checker *ck, const struct syntax *e,
                                      struct core *callee, struct core *argument) {
  struct type *function = type_of(callee->type);
  if (function->tag == TYPE_VARIABLE) {
    struct type *made =
        type_function(ck->arena, argument->type, type_variable(ck->arena, CLASS_ANY),
                      type_variable(ck->arena, CLASS_ANY));
    made = type_from(ck, made, callee->at);
    struct clash clash;
    if (!unify(ck, &clash, function, made)) {
      complain_clash(ck, callee->at, &clash, "this cannot be a function of type %s",
                     shown(ck, made));
    }
    function = made;
  }
  if (function->tag != TYPE_FUNCTION) {
    complain(ck->complaints, NESL_TYPE, ck->source, callee->at,
             "this is applied to an argument, but it is no function: it is %s",
             shown(ck, function));
    if (function->from_source &&
        (function->from.start != callee->at.start || function->from.end != callee->at.end)) {
      remark(ck->complaints, function->from_source, function->from, "%s because of this",
             shown(ck, function));
    }
    remark_on_argument(ck, e->as.part.right, argument, function);
    return make_core_apply(ck, e, callee, argument, type_variable(ck->arena, CLASS_ANY));
  }
  check_argument(ck, e, callee, function->part[0], argument);
  struct core *core = make_core_apply(ck, e, callee, argument, function->part[1]);
  if (ck->parallel && !core_callee(core)) {
    *array_push(ck->arena, &ck->parallel_calls) = core;
  }
  return core;
}

/* ---- optional arguments ---- */

/* The components of an argument as written; the tuple may have parentheses of its own, as in
 * f((x, k := 1)). */
struct written {
  const struct syntax **positional;
  const struct syntax **named; /* by option; NULL: the default */
  uint32_t positional_count;
};

static void complain_option(struct checker *ck, const struct syntax *e,
                            const struct global *global, const char *format,
                            const struct name *name) {
  const char *message = arena_printf(ck->arena, format, name ? name->text : global->name->text);
  complain(ck->complaints, NESL_OPTIONAL_ARGUMENT, ck->source, e->at, "%s", message);
}

static void sort_named(struct checker *ck, const struct syntax *option,
                       const struct global *global, struct written *w) {
  const struct name *name = option->as.part.left->as.name.name;
  for (uint32_t i = 0; i < global->optional_count; i++) {
    if (global->options[i].name != name) continue;
    if (w->named[i]) {
      complain_option(ck, option, global, "the optional argument `%s` is given twice", name);
    }
    w->named[i] = option->as.part.right;
    return;
  }
  const char *format =
      arena_printf(ck->arena, "`%s` has no optional argument `%%s`", written_name(global));
  complain_option(ck, option, global, format, name);
}

/* Number of parameters that are not optional. */
static uint32_t positional_parameters(const struct global *global) {
  uint32_t n = 1;
  const struct syntax *p = global->form->pattern;
  for (bool more = p->kind == SYNTAX_PAIR; more; more = tuple_continues(p)) {
    n++;
    p = p->as.part.right;
  }
  return n - global->optional_count;
}

/* Whether the whole argument is the only positional parameter, which is a tuple pattern: f(x,
 * y) and f((x, y)) are the same tree. */
static bool is_whole_argument(const struct syntax *argument, const struct global *global) {
  const struct syntax *parameters = global->form->pattern;
  return positional_parameters(global) == 1 && parameters->kind == SYNTAX_PAIR &&
         parameters->as.part.left->kind == SYNTAX_PAIR && !gives_fields(argument);
}

static struct written sort_arguments(struct checker *ck, const struct syntax *argument,
                                     const struct global *global) {
  struct written w = {0};
  uint32_t most = 1;
  for (const struct syntax *e = argument; e->kind == SYNTAX_PAIR; e = e->as.part.right) most++;
  w.positional = arena_alloc(ck->arena, most * sizeof *w.positional);
  w.named = arena_alloc(ck->arena, (global->optional_count + 1) * sizeof *w.named);
  const struct syntax *rest = argument;
  bool named = false;
  bool more = rest->kind == SYNTAX_PAIR && !is_whole_argument(argument, global);
  while (rest) {
    const struct syntax *part = more ? rest->as.part.left : rest;
    if (part->kind == SYNTAX_OPTION) {
      sort_named(ck, part, global, &w);
      named = true;
    } else if (named) {
      complain_option(ck, part, global,
                      "arguments of `%s` that are not named come before the optional ones",
                      NULL);
    } else {
      w.positional[w.positional_count++] = part;
    }
    rest = more ? rest->as.part.right : NULL;
    more = rest && tuple_continues(rest);
  }
  uint32_t wanted = positional_parameters(global);
  if (w.positional_count > wanted) {
    complain_option(ck, w.positional[wanted], global,
                    "the optional arguments of `%s` are given by name: name := value", NULL);
    w.positional_count = wanted;
  }
  return w;
}

/* A default is checked as if it stood at top level where the function was defined. */
static struct core *check_default(struct checker *ck, const struct global *global, uint32_t i) {
  const struct binding *scope = ck->scope;
  const struct source *source = ck->source;
  struct session *session = ck->session;
  struct module *module = session->module;
  ck->scope = NULL;
  ck->source = global->form->source;
  session->module = global->module;
  struct core *value = check_expression(ck, global->options[i].value);
  session->module = module;
  ck->scope = scope;
  ck->source = source;
  return value;
}

/* Checks the arguments that are not optional; their number, which is one more where the file
 * that is named gives the type. */
static uint32_t check_positional(struct checker *ck, const struct written *w,
                                 const struct global *global, struct core **parts) {
  if (w->positional_count == 1 && names_array_file(ck, global, w->positional[0])) {
    struct core *both = check_array_file(ck, global, w->positional[0], w->named);
    parts[0] = both->as.part.left;
    parts[1] = both->as.part.right;
    return 2;
  }
  for (uint32_t i = 0; i < w->positional_count; i++) {
    parts[i] = check_expression(ck, w->positional[i]);
  }
  return w->positional_count;
}

static struct core *check_options(struct checker *ck, const struct syntax *argument,
                                  const struct global *global) {
  struct written w = sort_arguments(ck, argument, global);
  uint32_t total = 1 + w.positional_count + global->optional_count;
  struct core **parts = arena_alloc(ck->arena, total * sizeof(struct core *));
  total = check_positional(ck, &w, global, parts);
  for (uint32_t i = 0; i < global->optional_count; i++) {
    parts[total++] =
        w.named[i] ? check_expression(ck, w.named[i]) : check_default(ck, global, i);
  }
  return core_tuple(ck, argument, parts, total);
}

/* ---- special forms ---- */

/* Whether the function is `time`, and nothing that the program calls so. */
static bool is_time(struct checker *ck, const struct syntax *f) {
  return f->kind == SYNTAX_NAME && !f->builtin && !f->qualified &&
         strcmp(f->as.name.name->text, "time") == 0 && !is_bound(ck, f);
}

static struct core *check_time(struct checker *ck, const struct syntax *e) {
  struct core *value = check_expression(ck, e->as.part.right);
  struct type *seconds = type_from(ck, type_base(ck->arena, TYPE_FLOAT), e->at);
  struct type *type = type_pair(ck->arena, value->type, seconds);
  struct core *core = core_make(ck, CORE_TIME, e, type_from(ck, type, e->at));
  core->as.part.left = value;
  return core;
}

/* The exponent of e ^ 2 and e ^ 3; 0 for everything else. */
static int64_t small_power(const struct syntax *e) {
  const struct syntax *f = e->as.part.left, *argument = e->as.part.right;
  if (f->kind != SYNTAX_NAME || !f->builtin || strcmp(f->as.name.name->text, "^") != 0)
    return 0;
  if (argument->kind != SYNTAX_PAIR || argument->as.part.right->kind != SYNTAX_INT) return 0;
  int64_t exponent = argument->as.part.right->as.integer;
  return exponent == 2 || exponent == 3 ? exponent : 0;
}

/* let x = e in x * x (* x). The type is checked as that of ^, so that errors name ^. */
static struct core *check_power(struct checker *ck, const struct syntax *e, int64_t exponent) {
  const struct syntax *base = e->as.part.right->as.part.left;
  struct core *power = check_name(ck, e->as.part.left);
  struct core *pair = check_expression(ck, e->as.part.right);
  struct type *result = nesl_apply_callee(ck, e, power, pair)->type;
  struct core *value = pair->as.part.left;
  struct global *times = session_library(ck->session, "*");
  if (!times) return make_core_apply(ck, e, power, pair, result);

  struct local *local = arena_alloc(ck->arena, sizeof *local);
  *local = (struct local){intern_name(&ck->session->names, "x", 1), value->type, base->at,
                          ck->local_count++};
  struct core_pattern *pattern = arena_alloc(ck->arena, sizeof *pattern);
  *pattern = (struct core_pattern){.kind = PATTERN_LOCAL, .type = value->type, .local = local};
  struct core *product = core_local(ck, base, local);
  for (int64_t i = 1; i < exponent; i++) {
    struct core *factor = core_local(ck, base, local);
    struct core *both =
        core_make(ck, CORE_PAIR, e, type_pair(ck->arena, product->type, factor->type));
    both->as.part.left = product;
    both->as.part.right = factor;
    product = nesl_apply_callee(ck, e, check_global_use(ck, e->as.part.left, times), both);
  }
  struct core *core = core_make(ck, CORE_LET, e, product->type);
  core->as.part.left = value;
  core->as.part.right = product;
  core->as.part.pattern = pattern;
  return core;
}

/* The application with the function's own name, if it is one of a module: m.f(x). */
static const struct syntax *with_member(struct checker *ck, const struct syntax *e) {
  const struct syntax *member = module_member(ck, e->as.part.left);
  if (!member) return e;
  struct syntax *named = arena_alloc(ck->arena, sizeof *named);
  *named = *e;
  named->as.part.left = (struct syntax *)(uintptr_t)member;
  return named;
}

struct core *check_apply(struct checker *ck, const struct syntax *e) {
  e = with_member(ck, e);
  const struct syntax *f = e->as.part.left;
  if (is_time(ck, f)) return check_time(ck, e);
  int64_t exponent = small_power(e);
  if (exponent) return check_power(ck, e, exponent);
  ck->applied = f;
  struct global *used = named_function(ck, f);
  const struct syntax *written = e->as.part.right;
  const bool by_name = gives_fields(written);
  if (by_name && used && used->kind == GLOBAL_CONSTRUCTOR) {
    return check_record(ck, e, used->datatype);
  }
  struct global *named = array_function(ck, used, by_name);
  struct core *callee = check_expression(ck, f);
  if (by_name && !used && may_be_record(ck, callee, written)) {
    return check_copy(ck, e, callee);
  }
  if (named != used) callee = check_global_use(ck, f, named);
  struct core *argument;
  if (named && named->optional_count) {
    argument = check_options(ck, written, named);
  } else if (names_array_file(ck, named, written)) {
    argument = check_array_file(ck, named, written, NULL);
  } else {
    argument = check_expression(ck, written);
  }
  return nesl_apply_callee(ck, e, callee, argument);
}
