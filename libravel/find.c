/* find.c - functions for given types: compiled once for each list of types, and kept. */
#include "libravel/private.h"

#include "fcode-opt/fcode-opt.h"
#include "ir/copy.h"
#include "neslc/flatten/flatten.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- life ---- */

struct ravel_function *ravel_function_new(struct ravel_context *c) {
  struct ravel_function *f = heap_alloc(&c->heap, sizeof *f);
  if (!f) {
    ravel_fail_memory(c);
    return NULL;
  }
  *f = (struct ravel_function){
      .context = c, .next = c->functions, .link = &c->functions, .references = 1};
  arena_init(&f->arena, &c->heap);
  arena_init(&f->work, &c->heap);
  if (f->next) f->next->link = &f->next;
  c->functions = f;
  return f;
}

void ravel_function_release(struct ravel_function *f) {
  if (!f || --f->references > 0) return;
  struct ravel_context *c = f->context;
  machine_forget(c->machine, f->prepared);
  for (size_t i = 0; i < f->region_count; i++) region_let_go(c->session, f->regions[i]);
  *f->link = f->next;
  if (f->next) f->next->link = f->link;
  arena_free(&f->work);
  arena_free(&f->arena);
  heap_free(&c->heap, f, sizeof *f);
}

const char *ravel_function_takes(const struct ravel_function *f) {
  return f ? f->takes_text : "";
}

const char *ravel_function_gives(const struct ravel_function *f) {
  return f ? ravel_type_whole(f->context, f->gives) : "";
}

/* Frees what the compiler needed besides the program, unless that is still within. */
static void keep_program(struct ravel_function *f) {
  const struct ir_program *copy = ir_copy(&f->arena, f->program, &f->work);
  if (!copy) return;
  f->program = copy;
  arena_free(&f->work);
}

bool ravel_function_prepare(struct ravel_context *c, struct ravel_function *f) {
  struct fcode_opt_options optimiser = fcode_opt_default_options();
  /* Elements of large results are written once more for that: who sets `spill` wants it. */
  optimiser.chunked_results = c->options.spill > 0;
  if (c->options.optimise && !fcode_opt_is_done(f->program)) {
    f->program = fcode_opt(&f->work, f->program, &optimiser, NULL, NULL, c->diags);
    if (!f->program) memory_failed();
  }
  keep_program(f);
  f->prepared = machine_prepare(c->machine, f->program, c->diags);
  return f->prepared != NULL;
}

/* ---- the cache ---- */

struct search {
  const char *name, *types; /* types: NULL for those of the definition */
  const char *text, *names; /* of an expression, or NULL */
  const char *key;
  bool expression; /* what is compiled has no name that lasts */
  struct ravel_function *f;
  struct complaints complaints;
};

/* The function that is looked for if it is there and up to date; else NULL. */
static struct ravel_function *cached(struct ravel_context *c, const struct search *s) {
  struct ravel_function *f = ravel_cache_find(c, s->key);
  if (!f || ravel_function_is_fresh(c, f, s->types)) return f;
  ravel_cache_remove(c, f);
  return NULL;
}

/* ---- compilation ---- */

static const char expression_name[] = "<expression>";

/* Notes about the line before an expression, in which its parameters are declared: nobody wrote
 * it. */
static void drop_notes_on_parameters(struct diag_list *diags) {
  size_t kept = 0;
  for (size_t i = 0; i < diags->list.count; i++) {
    const struct diag *d = &diags->list.items[i];
    const bool is_note = d->severity == SEVERITY_NOTE && d->pos.line == 0;
    if (is_note && d->file && strcmp(d->file, expression_name) == 0) continue;
    diags->list.items[kept++] = *d;
  }
  diags->list.count = kept;
}

static enum ravel_code complained(struct ravel_context *c, const struct search *s) {
  drop_notes_on_parameters(c->diags);
  const enum ravel_code code = ravel_stopped(c);
  return code != RAVEL_OK ? code : ravel_failed(c, ravel_code_of(s->complaints.first));
}

static void hold_regions(struct ravel_context *c, struct ravel_function *f,
                         struct region *from) {
  size_t count = 0;
  if (!from) return;
  f->regions = region_reached(c->session, from, &f->arena, &count);
  for (size_t i = 0; i < count; i++) region_hold(f->regions[i]);
  f->region_count = count;
}

void ravel_function_takes_type(struct ravel_function *f, struct type *argument) {
  uint32_t count = 1;
  for (const struct type *t = argument; t->tag == TYPE_PAIR; t = t->part[1]) count++;
  f->takes = arena_alloc(&f->arena, count * sizeof *f->takes);
  f->rest = arena_alloc(&f->arena, count * sizeof *f->rest);
  f->take_count = count;
  f->takes_text = ravel_type_whole(f->context, argument);
  for (uint32_t i = 0; i < count; i++) {
    f->rest[i] = argument;
    f->takes[i] = i + 1 < count ? argument->part[0] : argument;
    argument = argument->part[1];
  }
}

/* The ground type of the arguments: what the text says, or what the function leaves no choice
 * about. NULL after ravel_fail. */
static struct type *type_of_argument(struct ravel_context *c, const struct search *s,
                                     const struct global *g) {
  struct type *type = type_of(g->scheme.type);
  if (!s->types && g->scheme.count == 0) return ravel_type_kept(c, type->part[0]);
  if (!s->types) {
    ravel_fail(c, RAVEL_TYPE, "`%s` is %s: name the types of its arguments", s->name,
               type_text(c->diags->arena, type, true));
    return NULL;
  }
  return ravel_type_read(c, s->types);
}

/* The type of the result for an argument; NULL after ravel_fail. */
static struct type *type_of_result(struct ravel_context *c, const struct search *s,
                                   const struct global *g, struct type *argument) {
  struct arena *arena = c->session->arena;
  struct type **variables = arena_alloc(arena, (g->scheme.count + 1) * sizeof *variables);
  struct type *type = type_of(type_instantiate(arena, &g->scheme, variables)), *a, *b;
  if (type_unify(arena, type->part[0], argument, &a, &b) == UNIFY_OK) {
    return ravel_type_kept(c, type_ground(arena, type->part[1], 0, NULL));
  }
  ravel_fail(c, RAVEL_TYPE, "`%s` is %s: it does not take %s", s->name,
             type_text(c->diags->arena, g->scheme.type, true), ravel_type_text(argument));
  return NULL;
}

/* Compiles a function that has a body. */
static enum ravel_code compile_with_body(struct ravel_context *c, struct search *s,
                                         struct global *g) {
  struct ravel_function *f = s->f;
  struct type *argument = type_of_argument(c, s, g);
  const struct flatten_options options = {.arena = &f->work,
                                          .widths = c->options.machine.widths,
                                          .combine = c->options.optimise,
                                          .procedures = c->options.optimise};
  if (!argument) return c->code;
  f->gives = type_of_result(c, s, g, argument);
  if (!f->gives) return c->code;
  if (session_find_missing(c->session, g->body, &s->complaints)) return complained(c, s);
  ravel_function_takes_type(f, argument);
  f->global = s->expression ? NULL : g;
  f->whole = g->body;
  if (s->expression) ravel_function_note_mentions(f, g->region);
  f->callee = arena_alloc(&f->arena, sizeof *f->callee);
  *f->callee = *g;
  hold_regions(c, f, g->region);
  f->program = flatten_function(c->session, g, argument, &options, &s->complaints);
  if (!f->program) return complained(c, s);
  return ravel_function_prepare(c, f) ? RAVEL_OK : ravel_fail_machine(c);
}

/* A function with this text as its body, whose first line is line 1. */
static enum ravel_code compile_function_text(struct ravel_context *c, struct search *s,
                                             const char *names, const char *text) {
  struct arena *arena = c->session->arena;
  struct checked checked;
  if (s->types && !ravel_type_read(c, s->types)) return c->code;
  const char *form =
      s->types
          ? arena_printf(arena, "function _expression(%s) : (%s) -> a :: (a in any) =\n%s\n;",
                         names, s->types, text)
          : arena_printf(arena, "function _expression(%s) =\n%s\n;", names, text);
  const struct source *source = ravel_source(c, expression_name, form, strlen(form), 0);
  if (!ravel_read_form(c, source, &s->complaints, &checked)) return complained(c, s);
  s->expression = true;
  return compile_with_body(c, s, checked.global);
}

static enum ravel_code unknown_name(struct ravel_context *c, const struct search *s) {
  const char *near = session_nearest(c->session, s->name);
  if (!near) return ravel_fail(c, RAVEL_TYPE, "`%s` is not defined", s->name);
  return ravel_fail(c, RAVEL_TYPE, "`%s` is not defined; did you mean `%s`?", s->name, near);
}

static enum ravel_code compile_named(struct ravel_context *c, struct search *s) {
  struct global *g = session_global(c->session, s->name);
  if (!g) return unknown_name(c, s);
  if (g->kind == GLOBAL_VARIABLE) {
    return ravel_fail(c, RAVEL_TYPE, "`%s` is a variable, not a function", s->name);
  }
  if (s->types && s->types[strspn(s->types, " \t\n")] == '\0') {
    return ravel_fail(c, RAVEL_TYPE, "`%s` is %s: it takes arguments, and none was given",
                      s->name, type_text(c->diags->arena, g->scheme.type, true));
  }
  if (g->kind == GLOBAL_FUNCTION && g->body) return compile_with_body(c, s, g);
  if (g->kind == GLOBAL_FUNCTION && g->primitive < 0) {
    return ravel_fail(c, RAVEL_TYPE, "`%s` is only declared: it has no body", s->name);
  }
  return compile_function_text(c, s, "_given",
                               arena_printf(c->session->arena, "%s(_given)", s->name));
}

/* Expressions without parameters. */
static enum ravel_code compile_constant(struct ravel_context *c, struct search *s) {
  struct ravel_function *f = s->f;
  struct checked checked;
  const struct flatten_options options = {.arena = &f->work,
                                          .widths = c->options.machine.widths,
                                          .combine = c->options.optimise,
                                          .procedures = c->options.optimise};
  const char *text = arena_printf(c->session->arena, "%s\n;", s->text);
  const struct source *source = ravel_source(c, expression_name, text, strlen(text), 1);
  if (!ravel_read_form(c, source, &s->complaints, &checked)) return complained(c, s);
  if (checked.form->kind != FORM_EXPRESSION) {
    return ravel_fail(c, RAVEL_SYNTAX, "this is no expression: %.200s", s->text);
  }
  if (session_find_missing(c->session, checked.value, &s->complaints)) return complained(c, s);
  f->gives = ravel_type_kept(c, type_ground(c->session->arena, checked.value->type, 0, NULL));
  if (!f->gives) return c->code;
  f->takes_text = "";
  f->whole = checked.value;
  f->local_count = checked.local_count;
  ravel_function_note_mentions(f, c->session->region);
  region_note_core(c->session->region, checked.value);
  hold_regions(c, f, c->session->region);
  f->program = flatten_expression(c->session, f->whole, &options, &s->complaints);
  if (!f->program) return complained(c, s);
  return ravel_function_prepare(c, f) ? RAVEL_OK : ravel_fail_machine(c);
}

static enum ravel_code compile_any(struct ravel_context *c, void *data) {
  struct search *s = data;
  s->complaints.diags = c->diags;
  s->f->key = arena_copy(&s->f->arena, s->key, strlen(s->key));
  if (!s->text) return compile_named(c, s);
  return s->names ? compile_function_text(c, s, s->names, s->text) : compile_constant(c, s);
}

static enum ravel_code compile_in_form(struct ravel_context *c, void *search) {
  return ravel_in_form(c, compile_any, search);
}

/* ---- looking up ---- */

/* Compiles what is looked for, for the caller and the cache. */
static enum ravel_code compile_new(struct ravel_context *c, struct search *s) {
  const double start = stop_clock();
  s->f = ravel_function_new(c);
  if (!s->f) return c->code;
  const enum ravel_code code = ravel_deep(c, compile_in_form, s);
  s->f->generation = c->generation;
  c->statistics.compile_seconds = stop_clock() - start;
  if (code != RAVEL_OK) {
    ravel_function_release(s->f);
    return code;
  }
  s->f->references++;
  ravel_cache_add(c, s->f);
  return RAVEL_OK;
}

static enum ravel_code look_up(struct ravel_context *c, struct search *s,
                               struct ravel_function **out) {
  s->f = cached(c, s);
  if (s->f) {
    s->f->references++;
  } else {
    const enum ravel_code code = compile_new(c, s);
    if (code != RAVEL_OK) return code;
  }
  *out = s->f;
  return RAVEL_OK;
}

enum { MOST_NAME = 255 };

/* A name as NESL folds it; false if it is none. */
static bool fold_name(const char *name, char folded[MOST_NAME + 1]) {
  const size_t length = strlen(name);
  if (length == 0 || length > MOST_NAME || isdigit((unsigned char)name[0])) return false;
  for (size_t i = 0; i <= length; i++) {
    const unsigned char x = (unsigned char)name[i];
    if (x && !(x < 128 && (isalnum(x) || x == '_'))) return false;
    folded[i] = (char)(x >= 'A' && x <= 'Z' ? x - 'A' + 'a' : x);
  }
  return true;
}

enum ravel_code ravel_find(struct ravel_context *c, const char *name, const char *types,
                           struct ravel_function **out) {
  char folded[MOST_NAME + 1];
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!name || !out) return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
  if (!fold_name(name, folded)) {
    return ravel_fail(c, RAVEL_MISUSE, "'%.40s' is no name of a function", name);
  }
  struct text key;
  if (!text_begin(&key, &c->heap)) return ravel_fail_memory(c);
  fprintf(key.stream, "%s%s%s", folded, types ? " " : "", types ? types : "");
  struct search s = {.name = folded, .types = types};
  const bool fine = text_end(&key);
  s.key = key.bytes;
  const enum ravel_code code = fine ? look_up(c, &s, out) : ravel_fail_memory(c);
  text_free(&key);
  return code;
}

/* The text without blanks and terminators at its end. */
static size_t expression_length(const char *text) {
  size_t length = strlen(text);
  while (length > 0 && strchr(" \t\r\n;", text[length - 1])) length--;
  return length;
}

static bool are_names(const char *names) {
  for (; *names; names++) {
    if (!isalnum((unsigned char)*names) && !strchr("_, ", *names)) return false;
  }
  return true;
}

static const char *const keywords[] = {
#define WORD(id, text, left, right, prefix, hint) text,
#include "neslc/front/lexemes.def"
};

/* A word of the language among names, which none can be; or NULL. */
static const char *keyword_among(const char *names) {
  for (names += strspn(names, ", "); *names; names += strspn(names, ", ")) {
    const size_t length = strcspn(names, ", ");
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
      const bool same = strncasecmp(keywords[i], names, length) == 0;
      if (same && keywords[i][length] == '\0') return keywords[i];
    }
    names += length;
  }
  return NULL;
}

enum ravel_code ravel_expression(struct ravel_context *c, const char *text, const char *names,
                                 const char *types, struct ravel_function **out) {
  if (!ravel_begin(c)) return RAVEL_MISUSE;
  if (!text || !out) return ravel_fail(c, RAVEL_MISUSE, "a pointer is NULL");
  const bool any = names && names[0], typed = types && types[0];
  if (any != typed || (any && !are_names(names))) {
    return ravel_fail(c, RAVEL_MISUSE, "parameters '%.100s' of the types '%.100s'",
                      any ? names : "", typed ? types : "");
  }
  const char *keyword = any ? keyword_among(names) : NULL;
  if (keyword) {
    return ravel_fail(c, RAVEL_MISUSE,
                      "a parameter cannot be called %s, a word of NESL: rename it", keyword);
  }
  struct text key, own;
  if (!text_begin(&key, &c->heap)) return ravel_fail_memory(c);
  if (!text_begin(&own, &c->heap)) {
    text_free(&key);
    return ravel_fail_memory(c);
  }
  fwrite(text, 1, expression_length(text), own.stream);
  fprintf(key.stream, "=%s:%s=%s", any ? names : "", typed ? types : "", text);
  struct search s = {.name = expression_name};
  const bool key_is_whole = text_end(&key), own_is_whole = text_end(&own);
  const bool fine = key_is_whole && own_is_whole;
  s.types = any ? types : NULL;
  s.names = any ? names : NULL;
  s.text = own.bytes;
  s.key = key.bytes;
  const enum ravel_code code = fine ? look_up(c, &s, out) : ravel_fail_memory(c);
  text_free(&key);
  text_free(&own);
  return code;
}
