/* library-entry.c - a function of a library: its name, its parameters, its types, its program.
 */
#include "commands/library-make.h"

#include "fcode-opt/fcode-opt.h"
#include "neslc/failure.h"
#include "neslc/flatten/flatten.h"

#include <ctype.h>
#include <string.h>

bool library_wrong(struct making *m, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = arena_vprintf(&m->n->messages, format, args);
  va_end(args);
  diag_add(&m->n->diags, SEVERITY_ERROR, m->o->file, (struct source_pos){0}, NULL, "%s", text);
  return false;
}

/* ---- names ---- */

/* The names that parameters and members may not have: words of C23 and C++20, macros, and the
 * names that the written functions use. */
static const char taken[] =
    " alignas alignof and and_eq asm assert auto bitand bitor bool break case catch char "
    "char8_t char16_t char32_t class co_await co_return co_yield compl concept const "
    "const_cast consteval constexpr constinit continue decltype default "
    "delete do double dynamic_cast else enum errno explicit export extern false float for "
    "friend goto if inline int linux long mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public register reinterpret_cast requires restrict "
    "return "
    "short signed sizeof static static_assert static_cast stderr stdin stdout struct switch "
    "template this thread_local throw true try typedef typeid typename typeof typeof_unqual "
    "union unix "
    "unsigned using virtual void volatile wchar_t while xor xor_eq arguments call code "
    "context free int32_t int64_t memory memset prepare result results size_t ";

bool library_name_is_taken(const char *name) {
  const size_t length = strlen(name), end = strlen("_entry");
  for (const char *at = strstr(taken, name); at; at = strstr(at + 1, name)) {
    if (at[-1] == ' ' && at[length] == ' ') return true;
  }
  return length > end && strcmp(name + length - end, "_entry") == 0;
}

static bool is_identifier(const char *name, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (!isalnum((unsigned char)name[i]) && name[i] != '_') return false;
  }
  return length > 0 && !isdigit((unsigned char)name[0]);
}

const char *library_comment(struct arena *arena, const char *text) {
  char *copy = arena_copy(arena, text, strlen(text));
  for (char *at = copy; *at; at++) {
    const bool ends = at[0] == '*' && at[1] == '/', begins = at[0] == '/' && at[1] == '*';
    if (ends || begins || (unsigned char)*at < ' ') *at = '_';
  }
  return copy;
}

/* ---- parameters ---- */

static const char *parameter_name(const struct making *m, const struct library_entry *e,
                                  const struct core_pattern *pattern) {
  struct arena *arena = m->l.arena;
  const char *name = pattern->kind == PATTERN_LOCAL
                         ? pattern->local->name->text
                         : arena_printf(arena, "argument%u", (unsigned)e->parameter_count);
  bool again = library_name_is_taken(name);
  do {
    if (again) name = arena_printf(arena, "%s_", name);
    again = false;
    for (uint32_t i = 0; i < e->parameter_count && !again; i++) {
      again = strcmp(e->parameters[i].name, name) == 0;
    }
  } while (again);
  return name;
}

/* One for each component of the pattern: that of a variable may be a tuple. */
static void set_parameters(struct making *m, struct library_entry *e,
                           const struct core_pattern *pattern, struct type *type) {
  uint32_t most = 1;
  for (const struct core_pattern *p = pattern; p->kind == PATTERN_PAIR; p = p->right) most++;
  e->parameters = arena_alloc(m->l.arena, most * sizeof *e->parameters);
  for (uint32_t i = 0; i < most; i++) {
    const bool last = i + 1 == most;
    struct library_parameter *p = &e->parameters[i];
    p->name = parameter_name(m, e, last ? pattern : pattern->left);
    p->type = c_type_of(&m->l.types, last ? type : type_of(type->part[0]));
    e->parameter_count++;
    if (last) return;
    pattern = pattern->right;
    type = type_of(type->part[1]);
  }
}

/* ---- types ---- */

static bool is_entry_data(struct arena *arena, struct type *t) {
  t = type_of(t);
  if (t->tag == TYPE_DATA) return is_entry_data(arena, type_contents(arena, t));
  if (t->tag == TYPE_SEQUENCE) return is_entry_data(arena, t->part[0]);
  if (t->tag == TYPE_PAIR)
    return is_entry_data(arena, t->part[0]) && is_entry_data(arena, t->part[1]);
  return t->tag <= TYPE_CHAR;
}

static bool has_functions(struct type *t) {
  t = type_of(t);
  if (t->tag == TYPE_FUNCTION) return true;
  for (unsigned i = 0; i < 2 && t->part[i]; i++) {
    if (has_functions(t->part[i])) return true;
  }
  return false;
}

static bool no_data(struct making *m, const char *name, struct type *t) {
  return library_wrong(
      m, "--entry %s: %s cannot have data of the type %s, with functions or streams", name,
      m->o->library ? "C" : "a program", type_text(&m->n->messages, t, false));
}

static bool check_entry_data(struct making *m, const char *name, struct type *t) {
  if (value_column_count(t) > VALUE_MOST_COLUMNS) {
    return library_wrong(m, "--entry %s: %s", name, VALUE_TOO_MANY_COLUMNS);
  }
  return is_entry_data(m->l.arena, t) || no_data(m, name, t);
}

/* The types of the arguments that were named, or that the function leaves no choice about. */
static struct type *argument_type(struct making *m, const struct global *g, const char *types) {
  struct type *type = type_of(g->scheme.type);
  if (types) {
    const struct source *source = nesl_typed_source(m->n, types);
    return source ? session_read_type(m->n->session, source, &m->n->complaints) : NULL;
  }
  if (g->scheme.count == 0) return type->part[0];
  if (has_functions(type->part[0])) {
    no_data(m, g->name->text, type->part[0]);
    return NULL;
  }
  library_wrong(m, "`%s` is %s: say for which types, as in --entry '%s:[float], int'",
                g->name->text, type_text(&m->n->messages, type, true), g->name->text);
  return NULL;
}

static bool set_types(struct making *m, const struct global *g, const char *types,
                      struct type **argument, struct type **result) {
  struct arena *arena = m->l.arena;
  struct type **variables = arena_alloc(arena, (g->scheme.count + 1) * sizeof *variables);
  struct type *type = type_of(type_instantiate(arena, &g->scheme, variables)), *a, *b;
  *argument = argument_type(m, g, types);
  if (!*argument) return false;
  if (type_unify(arena, type->part[0], *argument, &a, &b) != UNIFY_OK) {
    return library_wrong(m, "`%s` is %s: it does not take %s", g->name->text,
                         type_text(&m->n->messages, g->scheme.type, true),
                         type_text(&m->n->messages, *argument, false));
  }
  *argument = type_ground(arena, *argument, 0, NULL);
  *result = type_ground(arena, type->part[1], 0, NULL);
  return check_entry_data(m, g->name->text, *argument) &&
         check_entry_data(m, g->name->text, *result);
}

/* ---- programs ---- */

/* Origins are where an expression is recognised, such as its operator. Messages name where it
 * begins, as those of `nesl` do. */
static void relocate(struct making *m, struct ir_program *p, struct core *whole) {
  for (size_t i = 1; i < p->origins.list.count; i++) {
    struct origin *origin = &p->origins.list.items[i];
    struct failure_location location;
    if (!locate_origin(m->n->session, whole, origin, &location) || !location.node) continue;
    origin->pos = source_position(location.source, location.at.start);
  }
}

static bool set_text(struct making *m, struct library_entry *e) {
  struct text text;
  struct sha256_state state;
  uint8_t digest[SHA256_BYTES];
  if (!text_begin(&text, &m->n->heap)) memory_failed();
  vcode_print(e->program, text.stream);
  const bool whole = text_end(&text);
  if (whole) e->text = arena_copy(m->l.arena, text.bytes, text.length);
  e->length = text.length;
  text_free(&text);
  if (!whole) memory_failed();
  sha256_begin(&state);
  sha256_add(&state, e->text, e->length);
  sha256_end(&state, digest);
  sha256_show(digest, e->digest);
  return true;
}

static bool set_program(struct making *m, struct library_entry *e, struct global *g,
                        struct type *argument) {
  struct nesl *n = m->n;
  const struct flatten_options flatten = {.arena = m->l.arena,
                                          .widths = m->o->session.widths,
                                          .unchecked = m->o->session.unchecked,
                                          .combine = true,
                                          .procedures = true};
  const struct fcode_opt_options optimiser = fcode_opt_default_options();
  if (session_find_missing(n->session, g->body, &n->complaints)) return false;
  struct ir_program *flat = flatten_function(n->session, g, argument, &flatten, &n->complaints);
  if (!flat) return false;
  relocate(m, flat, g->body);
  e->layout = flat->entry_layout;
  const struct ir_program *ir = fcode_opt(m->l.arena, flat, &optimiser, NULL, NULL, &n->diags);
  if (ir) e->program = fcode_opt_stack_code(m->l.arena, ir, &n->diags);
  return e->program && set_text(m, e);
}

/* ---- entries ---- */

static struct global *find_entry_function(struct making *m, const char *name) {
  struct global *g = session_global(m->n->session, name);
  if (!g) {
    const char *near = session_nearest(m->n->session, name);
    library_wrong(m, "there is no function `%s`%s%s%s", name, near ? "; did you mean `" : "",
                  near ? near : "", near ? "`?" : "");
  } else if (g->kind == GLOBAL_VARIABLE || type_of(g->scheme.type)->tag != TYPE_FUNCTION) {
    library_wrong(m, "`%s` is no function", name);
  } else if (g->kind == GLOBAL_FUNCTION && g->body) {
    return g;
  } else {
    library_wrong(m, "`%s` has no body of its own: define a function that calls it", name);
  }
  return NULL;
}

/* [C-NAME=]F[:TYPES] */
static const char *split_types(struct making *m, const char *text, struct library_entry *e) {
  const size_t before = strcspn(text, ":"), equals = strcspn(text, "=:");
  const char *name = text[equals] == '=' ? text + equals + 1 : text;
  char *folded = arena_copy(m->l.arena, name, (size_t)(text + before - name));
  for (char *at = folded; *at; at++) *at = (char)tolower((unsigned char)*at);
  e->name = folded;
  e->c_name = name == text ? folded : arena_copy(m->l.arena, text, equals);
  return text[before] ? text + before + 1 : NULL;
}

struct global *library_target(struct making *m, const char *text, struct type **argument) {
  struct library_entry e = {.name = NULL};
  struct type *result;
  const char *types = split_types(m, text, &e);
  if (e.c_name != e.name) {
    library_wrong(m, "--entry %s: a name of C goes with --library", text);
    return NULL;
  }
  struct global *g = find_entry_function(m, e.name);
  return g && set_types(m, g, types, argument, &result) ? g : NULL;
}

bool library_make_entry(struct making *m, const char *text) {
  struct library_entry *e = &m->l.entries[m->l.entry_count++];
  struct type *argument = NULL, *result = NULL;
  const char *types = split_types(m, text, e);
  if (!is_identifier(e->c_name, strlen(e->c_name))) {
    return library_wrong(m, "--entry %s: `%s` is no name of C", text, e->c_name);
  }
  struct global *g = find_entry_function(m, e->name);
  if (!g || !set_types(m, g, types, &argument, &result)) return false;
  set_parameters(m, e, g->parameter, argument);
  e->result = c_type_of(&m->l.types, result);
  e->result->given = true;
  e->type = arena_printf(m->l.arena, "%s -> %s", type_text(m->l.arena, argument, false),
                         type_text(m->l.arena, result, false));
  e->file = library_comment(m->l.arena, g->form->source->name);
  e->line = source_position(g->form->source, g->form->at.start).line;
  e->takes = c_type_contents(m->l.arena, argument);
  e->gives = c_type_contents(m->l.arena, result);
  return set_program(m, e, g, argument);
}
