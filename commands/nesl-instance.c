/* nesl-instance.c - a property at types without variables, as functions of the session.
 *
 * For the property %property p(x : int, v : [int] from F) where C = E% at line 3:
 *
 *     function _from_3_v(x : int, _drawn : [int]) = (F)(_drawn);
 *     function _where_3(x : int, v : [int]) = (C : bool);
 *     function _law_3(x : int, v : [int]) = (E : bool);
 *     function _case_3(x, _drawn_1) = let v = _from_3_v(x, _drawn_1) in
 *       if _where_3(x, v) then if _law_3(x, v) then 2 else 1 else 0;
 *
 * Each is a source of its own. Those with F, C and E have the name of the file, and its lines
 * and columns, so that messages show these.
 */
#include "commands/nesl-property.h"
#include "commands/process.h"

#include <string.h>

/* ---- forms ---- */

struct definition {
  bool fine, complains, exhausted;
};

/* Without notes: they would show the functions that are defined here. */
static bool note_definition(struct nesl *n, void *context, const struct nesl_done *it) {
  struct definition *d = context;
  d->fine = it->outcome.error == NESL_OK;
  if (n->diags.list.count > 1) n->diags.list.count = 1;
  d->exhausted = it->outcome.error == NESL_LIMIT;
  if (!d->fine && (d->complains || d->exhausted)) nesl_complain(n);
  return d->fine;
}

static const struct source *named_source(struct nesl *n, const char *name, const char *text,
                                         uint32_t line) {
  const struct source *source = nesl_source(n, name, text, strlen(text), line);
  if (!source) memory_failed();
  return source;
}

/* A form that is in no file: its columns must not be taken for those of the property. */
static const struct source *form_source(struct nesl *n, struct arena *arena,
                                        const struct instance *in, const char *text) {
  const char *name = arena_printf(arena, "<property %s>", in->property->name->text);
  return named_source(n, name, text, 1);
}

static bool define_in_session(struct nesl *n, struct instance *in, const struct source *source,
                              bool complains) {
  struct definition d = {true, complains, false};
  nesl_each_form(n, source, note_definition, &d, NULL);
  text_clear(&n->capture);
  in->exhausted |= d.exhausted;
  return d.fine;
}

/* ---- texts ---- */

/* Returns the number of the line of a span of the property. */
static uint32_t line_in_property(const struct instance *in, struct span at) {
  return source_position(in->property->source, at.start).line;
}

uint32_t instance_line(const struct instance *in) {
  return line_in_property(in, in->property->name_at);
}

/* Returns the text of the span, in the column where it is written: columns count characters. */
static const char *in_column(struct arena *arena, const struct property *p, struct span at) {
  uint32_t columns = 0;
  for (uint32_t i = at.start; i > 0 && p->source->text[i - 1] != '\n'; i--) {
    columns += ((unsigned char)p->source->text[i - 1] & 0xc0) != 0x80;
  }
  return arena_printf(arena, "%*s%.*s", (int)columns, "", (int)(at.end - at.start),
                      p->source->text + at.start);
}

static bool is_drawn(const struct property *p, size_t i) {
  return p->parameters.items[i].generator.end != 0;
}

/* "x : int, v : [int]": the first `count` parameters; types[i] NULL: it is known of the calls.
 */
static const char *parameter_list(struct arena *arena, const struct property *p, size_t count,
                                  const char *const *types) {
  const char *text = "";
  for (size_t i = 0; i < count; i++) {
    text = arena_printf(arena, "%s%s%s%s%s", text, i ? ", " : "",
                        p->parameters.items[i].name->text, types[i] ? " : " : "",
                        types[i] ? types[i] : "");
  }
  return text;
}

/* Returns "x, v". */
static const char *argument_list(struct arena *arena, const struct property *p, size_t count) {
  const char *text = "";
  for (size_t i = 0; i < count; i++) {
    text =
        arena_printf(arena, "%s%s%s", text, i ? ", " : "", p->parameters.items[i].name->text);
  }
  return text;
}

/* The type of the values of a generator as text, if it is known without a call. */
static const char *result_type_text(struct nesl *n, struct arena *arena, const char *function) {
  const struct global *g = session_global(n->session, function);
  struct type *type = g ? type_of(g->scheme.type) : NULL;
  if (!type || g->scheme.count > 0 || type->tag != TYPE_FUNCTION) return NULL;
  const char *text = type_text_whole(arena, type->part[1]);
  return type_of(type->part[1])->tag == TYPE_PAIR ? arena_printf(arena, "(%s)", text) : text;
}

/* ---- the functions ---- */

/* While the functions of an instance are defined. */
struct defining {
  struct nesl *n;
  struct arena *arena;
  struct instance *in;
  const char **types; /* of the arguments; NULL: not known */
  uint32_t line;      /* of the property, in names */
  bool complains;
};

/* Defines a function with the body `at` of the property, between two texts. */
static bool define_function(struct defining *d, const char *head, struct span at,
                            const char *tail) {
  const char *text = arena_printf(d->arena, "%s(\n%s%s;\n", head,
                                  in_column(d->arena, d->in->property, at), tail);
  const struct source *source =
      named_source(d->n, d->in->path, text, line_in_property(d->in, at) - 1);
  return define_in_session(d->n, d->in, source, d->complains);
}

static bool define_generator(struct defining *d, size_t i) {
  const struct property *p = d->in->property;
  const char *name =
      arena_printf(d->arena, "_from_%u_%s", d->line, p->parameters.items[i].name->text);
  const char *head =
      arena_printf(d->arena, "function %s(%s%s_drawn : %s) = ", name,
                   parameter_list(d->arena, p, i, d->types), i ? ", " : "", d->in->types[i]);
  if (!define_function(d, head, p->parameters.items[i].generator, ")(_drawn)")) return false;
  d->types[i] = result_type_text(d->n, d->arena, name);
  return true;
}

static bool define_generators(struct defining *d) {
  const struct property *p = d->in->property;
  bool fine = true;
  for (size_t i = 0; i < p->parameters.count && fine; i++) {
    d->types[i] = d->in->types[i];
    if (is_drawn(p, i)) fine = define_generator(d, i);
  }
  return fine;
}

static bool define_truth(struct defining *d, const char *name, struct span at) {
  const struct property *p = d->in->property;
  const char *parameters = parameter_list(d->arena, p, p->parameters.count, d->types);
  return define_function(
      d, arena_printf(d->arena, "function _%s_%u(%s) = ", name, d->line, parameters), at,
      "\n: bool)");
}

/* "let v = _from_3_v(x, _drawn_1) in ", or nothing. */
static const char *bindings(struct defining *d) {
  const struct property *p = d->in->property;
  const char *text = "";
  for (size_t i = 0; i < p->parameters.count; i++) {
    if (!is_drawn(p, i)) continue;
    const char *name = p->parameters.items[i].name->text;
    text = arena_printf(d->arena, "%s%s%s = _from_%u_%s(%s%s_drawn_%zu)", text,
                        *text ? "; " : "let ", name, d->line, name,
                        argument_list(d->arena, p, i), i ? ", " : "", i);
  }
  return *text ? arena_printf(d->arena, "%s in ", text) : text;
}

/* Returns the parameters of a case: "x : int, _drawn_1 : [int]". */
static const char *case_list(struct defining *d) {
  const struct property *p = d->in->property;
  const char *text = "";
  for (size_t i = 0; i < p->parameters.count; i++) {
    text = arena_printf(d->arena, "%s%s", text, i ? ", " : "");
    text = is_drawn(p, i)
               ? arena_printf(d->arena, "%s_drawn_%zu : %s", text, i, d->in->types[i])
               : arena_printf(d->arena, "%s%s : %s", text, p->parameters.items[i].name->text,
                              d->in->types[i]);
  }
  return text;
}

static bool define_case(struct defining *d) {
  const struct property *p = d->in->property;
  const char *arguments = argument_list(d->arena, p, p->parameters.count);
  const bool conditional = p->condition.end != 0;
  const char *condition =
      conditional ? arena_printf(d->arena, "if _where_%u(%s) then ", d->line, arguments) : "";
  const char *text = arena_printf(
      d->arena, "function _case_%u(%s) = %s%sif _law_%u(%s) then %d else %d%s;\n", d->line,
      case_list(d), bindings(d), condition, d->line, arguments, VERDICT_TRUE, VERDICT_FALSE,
      conditional ? arena_printf(d->arena, " else %d", VERDICT_DISCARDED) : "");
  return define_in_session(d->n, d->in, form_source(d->n, d->arena, d->in, text), d->complains);
}

/* The arguments of a case, if they are made of what was drawn. */
static bool define_arguments(struct defining *d) {
  const struct property *p = d->in->property;
  const char *let = bindings(d);
  if (!*let) return true;
  const char *text =
      arena_printf(d->arena, "function _arguments_%u(%s) = %s(%s);\n", d->line, case_list(d),
                   let, argument_list(d->arena, p, p->parameters.count));
  const char *call =
      arena_printf(d->arena, "_arguments = _arguments_%u(_cases[0]);\n", d->line);
  const struct source *source = form_source(d->n, d->arena, d->in, text);
  if (!define_in_session(d->n, d->in, source, d->complains)) return false;
  d->in->arguments = form_source(d->n, d->arena, d->in, call);
  region_hold(d->in->arguments->region);
  return true;
}

static void make_forms(struct defining *d) {
  const char *lifted =
      arena_printf(d->arena, "_verdicts = {_case_%u(_x) : _x in _cases};\n", d->line);
  const char *flat = arena_printf(d->arena, "_verdict = _case_%u(_cases[0]);\n", d->line);
  d->in->lifted = form_source(d->n, d->arena, d->in, lifted);
  region_hold(d->in->lifted->region);
  d->in->flat = form_source(d->n, d->arena, d->in, flat);
  region_hold(d->in->flat->region);
}

bool instance_define(struct nesl *n, struct arena *arena, struct instance *in, bool complains) {
  const struct property *p = in->property;
  struct defining d = {n, arena, in, NULL, instance_line(in), complains};
  d.types = arena_alloc(arena, p->parameters.count * sizeof *d.types);
  in->arguments = NULL;
  const bool fine = define_generators(&d) &&
                    (p->condition.end == 0 || define_truth(&d, "where", p->condition)) &&
                    define_truth(&d, "law", p->law) && define_case(&d) && define_arguments(&d);
  if (fine) make_forms(&d);
  return fine;
}
