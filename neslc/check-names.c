/* check-names.c - resolution of names: variables in scope, captured ones, globals of the
 * session. (NESL specification, sections 2.4, 4.2.)
 */
#include "neslc/check.h"
#include "neslc/modules.h"

#include <string.h>

bool reserved_word(const struct name *name) {
  static const char *const words[] = {"t", "f", "time", "pair", "closure", "defconfig"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(name->text, words[i]) == 0) return true;
  }
  return false;
}

const char *reserved_meaning(const struct name *name) {
  if (strcmp(name->text, "t") == 0) return ", it means true";
  return strcmp(name->text, "f") == 0 ? ", it means false" : "";
}

void scope_push(struct checker *ck, struct local *local) {
  struct binding *binding = arena_alloc(ck->arena, sizeof *binding);
  *binding = (struct binding){local, ck->frame->depth, ck->scope};
  ck->scope = binding;
}

static const struct binding *in_scope(const struct checker *ck, const struct name *name) {
  const struct binding *b = ck->scope;
  while (b && b->local->name != name) b = b->outer;
  return b;
}

/* A variable of an outer function is captured by every lambda between it and its use. */
static void capture(struct checker *ck, const struct binding *binding) {
  for (struct lambda_frame *f = ck->frame; f->depth > binding->depth; f = f->outer) {
    bool known = false;
    for (size_t i = 0; i < f->captured.count; i++) {
      known |= f->captured.items[i] == binding->local;
    }
    if (!known) *array_push(ck->arena, &f->captured) = binding->local;
  }
}

/* The global that a name refers to if it is no variable in scope. */
static struct global *global_of(struct checker *ck, const struct syntax *e) {
  const struct name *name = e->as.name.name;
  struct session *session = ck->session;
  if (e->qualified) return table_get(session->globals, name);
  if (!e->builtin && ck->self && ck->self->form->name == name &&
      ck->self->module == session->module)
    return ck->self;
  return e->builtin ? session_read(session, table_get(session->library, name))
                    : module_find(session, name);
}

/* ---- names of modules: m.x ---- */

const struct module *module_before_dot(struct checker *ck, const struct syntax *e) {
  if (e->kind != SYNTAX_FIELD || e->as.field.record->kind != SYNTAX_NAME) return NULL;
  const struct syntax *left = e->as.field.record;
  if (left->builtin || in_scope(ck, left->as.name.name)) return NULL;
  const struct global *global = global_of(ck, left);
  if (global && global->kind == GLOBAL_VARIABLE) return NULL;
  return module_imported(ck->session, left->as.name.name);
}

const struct syntax *module_member(struct checker *ck, const struct syntax *e) {
  const struct module *m = module_before_dot(ck, e);
  struct global *global = m ? module_global(ck->session, m, e->as.field.name) : NULL;
  if (!global) return NULL;
  struct syntax *name = arena_alloc(ck->arena, sizeof *name);
  *name = *e;
  name->kind = SYNTAX_NAME;
  name->qualified = true;
  name->as.name.name = global->name;
  name->as.name.written = global->name->text;
  return name;
}

void complain_no_member(struct checker *ck, const struct module *m, const struct name *name,
                        struct span at) {
  const char *near = module_nearest(ck->session, m, name->text);
  complain(ck->complaints, NESL_UNBOUND, ck->source, at,
           near ? "`%s` is not defined in the module %s; did you mean `%s`?"
                : "`%s` is not defined in the module %s",
           name->text, m->shown, near);
}

const char *written_name(const struct global *global) {
  return global->name->text + (global->library && global->name->text[0] == '_');
}

struct global *named_function(struct checker *ck, const struct syntax *e) {
  if (e->kind != SYNTAX_NAME) return NULL;
  if (!e->builtin && !e->qualified && in_scope(ck, e->as.name.name)) return NULL;
  struct global *global = global_of(ck, e);
  return global && global->kind != GLOBAL_VARIABLE ? global : NULL;
}

bool is_bound(struct checker *ck, const struct syntax *e) {
  return in_scope(ck, e->as.name.name) || global_of(ck, e);
}

/* ---- unbound names ---- */

static const char *nearest(struct checker *ck, const char *name) {
  const char *best = session_nearest(ck->session, name);
  size_t length = strlen(name);
  unsigned limit = length < 3 ? 0 : length < 6 ? 1 : 2;
  unsigned least = best ? edit_distance(name, best, limit) : limit + 1;
  for (const struct binding *b = ck->scope; b; b = b->outer) {
    unsigned distance = edit_distance(name, b->local->name->text, limit);
    if (distance <= limit && distance <= least) {
      if (distance == least && best) continue;
      best = b->local->name->text;
      least = distance;
    }
  }
  return best;
}

/* Words of other languages, and their equivalents in NESL. */
static const char *equivalent_of(const char *word) {
  static const struct {
    const char *words, *hint; /* words: between blanks */
  } table[] = {
      {" true false ", "the constants are called t and f"},
      {" for foreach while loop repeat do until ", NESL_LOOPS},
      {" return ", "the value of a function is that of its body"},
      {" def define fun func fn proc lambda ",
       "functions are written `function NAME(PARAMETERS) = BODY`, or x => e without a name"},
      {" var val const ",
       "values get names by `let x = e in ...`, at the top level by `x = e`"},
      {" div ", "x / y divides, and two ints give an int"},
      {" pow power ", "a power is x ^ n for an int n, expt(x, p) for floats"},
      {" print println puts echo ",
       "print_string and print_line print a string, @x is the string of a value"},
      {" len size ", "the length of v is #v"},
      {" map ", "a function is applied to each element by {g(x) : x in v}"},
      {" filter ", "elements are chosen by {x in v | condition}"},
      {" fold foldl foldr ",
       "there are sum, max_val and others, and reduce(g, x, v) for any associative function g"},
      {" range ",
       "the ints from s to e are [s:e], e excluded; index(n) are those from 0 to n-1"},
      {" append concat ", "sequences are joined by ++, nested ones by `flatten`"},
      {" prod ", "the product of all elements of v is product(v), their sum sum(v)"},
      {" null nil none ", "there is no such value"},
      {" import include require ",
       "a file is imported by import \"FILE\" as NAME, which begins a form"},
  };
  char padded[16];
  if (strlen(word) + 3 > sizeof padded) return NULL;
  snprintf(padded, sizeof padded, " %s ", word);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (strstr(table[i].words, padded)) return table[i].hint;
  }
  return NULL;
}

static struct core *unbound(struct checker *ck, const struct syntax *e) {
  const char *name = e->as.name.name->text;
  if (strcmp(name, "time") == 0) {
    complain(ck->complaints, NESL_RESERVED, ck->source, e->mark,
             "`time` is no value: time(e) gives the value of e and the seconds that it took");
  } else if (equivalent_of(name)) {
    complain(ck->complaints, NESL_UNBOUND, ck->source, e->mark, "`%s` is not defined; %s", name,
             equivalent_of(name));
  } else {
    const char *member = module_with(ck->session, e->as.name.name);
    const char *near = member ? member : nearest(ck, name);
    complain(ck->complaints, NESL_UNBOUND, ck->source, e->mark,
             near ? "`%s` is not defined; did you mean `%s`?" : "`%s` is not defined", name,
             near);
  }
  return core_make(ck, CORE_INT, e, type_variable(ck->arena, CLASS_ANY));
}

/* ---- dispatch ---- */

static struct core *check_bool(struct checker *ck, const struct syntax *e, bool value) {
  struct type *type = type_from(ck, type_base(ck->arena, TYPE_BOOL), e->at);
  struct core *core = core_make(ck, CORE_BOOL, e, type);
  core->as.integer = value;
  return core;
}

struct core *check_name(struct checker *ck, const struct syntax *e) {
  const struct name *name = e->as.name.name;
  if (!e->builtin && !e->qualified) {
    if (strcmp(name->text, "t") == 0) return check_bool(ck, e, true);
    if (strcmp(name->text, "f") == 0) return check_bool(ck, e, false);
    const struct binding *binding = in_scope(ck, name);
    if (binding) {
      capture(ck, binding);
      return core_local(ck, e, binding->local);
    }
  }
  struct global *global = global_of(ck, e);
  return global ? check_global_use(ck, e, global) : unbound(ck, e);
}
