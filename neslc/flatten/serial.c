/* serial.c - {* e : p in s}, one element after the other.
 *
 * The order matters only where e prints or has other effects; otherwise, and in a lifted
 * context, the elements are evaluated together as in any apply-to-each. The body becomes a
 * lambda that captures its free variables; the library's _serially calls it for each element.
 */
#include "neslc/flatten/call.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/loop.h"
#include "neslc/flatten/rep.h"
#include "neslc/flatten/traits.h"

/* ---- free variables ---- */

struct mentions {
  struct flattener *f;
  bool *seen; /* by number of local: bound inside, or in the list */
  ARRAY(struct local *) list;
};

static void bind_inside(void *context, struct local *local) {
  struct mentions *m = context;
  if (local->number < m->f->frame->locals.count) m->seen[local->number] = true;
}

static void look_for_serial(void *context, struct core *e, bool parallel) {
  (void)parallel;
  struct mentions *m = context;
  if (e->kind == CORE_LOCAL) {
    const uint32_t n = e->as.local->number;
    if (n >= m->f->frame->locals.count || m->seen[n]) return;
    m->seen[n] = true;
    *array_push(m->f->arena, &m->list) = e->as.local;
  }
  core_binds(e, bind_inside, m);
  core_parts(e, look_for_serial, m);
}

void find_captured(struct flattener *f, const struct core *e, struct core *const *parts,
                   size_t count, struct loop *out) {
  struct mentions m = {.f = f};
  m.seen = arena_alloc(f->arena, f->frame->locals.count + 1);
  core_binds(e, bind_inside, &m);
  for (size_t i = 0; i < count; i++) look_for_serial(&m, parts[i], false);
  out->captured_count = (uint32_t)m.list.count;
  out->captured = m.list.items;
}

/* ---- the body as a function ---- */

static struct core *new_serial_node(struct flattener *f, enum core_kind kind,
                                    const struct core *e, struct type *type) {
  struct core *made = arena_alloc(f->arena, sizeof *made);
  *made = (struct core){.kind = (uint8_t)kind, .type = type, .source = e->source, .at = e->at};
  return made;
}

static struct core_pattern *pair_pattern(struct flattener *f, const struct core *e, size_t i) {
  struct core_pattern *p = e->as.each.generators[i].pattern;
  if (i + 1 == e->as.each.count) return p;
  struct core_pattern *rest = pair_pattern(f, e, i + 1);
  struct core_pattern *both = arena_alloc(f->arena, sizeof *both);
  *both = (struct core_pattern){.kind = PATTERN_PAIR,
                                .type = type_pair(f->arena, p->type, rest->type),
                                .left = p,
                                .right = rest};
  return both;
}

/* [body], or with a sieve: if sieve then [body] else [] */
static struct core *one_or_none(struct flattener *f, const struct core *e) {
  struct core *one = new_serial_node(f, CORE_LIST, e, e->type);
  one->as.list.items = arena_alloc(f->arena, sizeof *one->as.list.items);
  one->as.list.items[0] = e->as.each.body;
  one->as.list.count = 1;
  if (!e->as.each.sieve) return one;
  struct core *either = new_serial_node(f, CORE_IF, e, e->type);
  either->as.part.third = e->as.each.sieve;
  either->as.part.left = one;
  either->as.part.right = new_serial_node(f, CORE_EMPTY, e, e->type);
  return either;
}

/* The generic variables of the function under construction, for a lambda inside it. */
static void mention_variables(struct flattener *f, struct core_lambda *l,
                              struct type **arguments) {
  const struct flat_frame *frame = f->frame;
  l->scheme_count = frame->count;
  l->variables = arena_alloc(f->arena, (frame->count + 1) * sizeof *l->variables);
  for (uint32_t i = 0; i < frame->count; i++) {
    if (!frame->arguments[i]) continue;
    struct type *v = arena_alloc(f->arena, sizeof *v);
    *v = (struct type){.tag = TYPE_VARIABLE, .klass = CLASS_ANY, .generic = true, .number = i};
    arguments[l->variable_count] = frame->arguments[i];
    l->variables[l->variable_count++] = v;
  }
}

/* parameter => [body]; its type is ground. */
static struct core *body_function(struct flattener *f, const struct core *e) {
  struct core *const parts[2] = {e->as.each.body, e->as.each.sieve};
  struct loop m;
  find_captured(f, e, parts, e->as.each.sieve ? 2 : 1, &m);
  struct core_lambda *l = arena_alloc(f->arena, sizeof *l);
  *l = (struct core_lambda){.number = f->session->next_number++,
                            .source = e->source,
                            .at = e->at,
                            .parameter = pair_pattern(f, e, 0),
                            .body = one_or_none(f, e),
                            .captured_count = m.captured_count,
                            .captured = m.captured};
  struct type **arguments = arena_alloc(f->arena, (f->frame->count + 1) * sizeof *arguments);
  mention_variables(f, l, arguments);
  struct type *identity = type_identity(f->arena, NULL, l, l->variable_count, arguments);
  struct core *function = new_serial_node(
      f, CORE_LAMBDA, e,
      type_function(f->arena, ground(f, l->parameter->type), ground(f, e->type), identity));
  function->as.lambda = l;
  return function;
}

/* ---- calling it ---- */

/* The elements of all sources as one tuple. */
static const struct rep *all_elements(struct flattener *f, const struct rep *const *sources,
                                      size_t count) {
  if (count == 1) return sources[0]->elements;
  return rep_pair(f, sources[0]->elements, all_elements(f, sources + 1, count - 1));
}

/* A call of `_serially` at the type of an argument; only its types are used. */
static struct core *call_of_serially(struct flattener *f, const struct core *e,
                                     struct type *argument) {
  struct global *g = session_library(f->session, "_serially");
  struct core *function = new_serial_node(f, CORE_GLOBAL, e, NULL);
  struct type **arguments = arena_alloc(f->arena, (g->scheme.count + 1) * sizeof *arguments);
  struct type *a, *b;
  function->type = type_instantiate(f->arena, &g->scheme, arguments);
  type_unify(f->arena, type_of(function->type)->part[0], argument, &a, &b);
  function->as.use.global = g;
  function->as.use.count = g->scheme.count;
  function->as.use.arguments = arguments;
  struct core *call = new_serial_node(f, CORE_APPLY, e, ground(f, e->type));
  call->as.part.left = function;
  call->as.part.right = new_serial_node(f, CORE_PAIR, e, argument);
  return call;
}

bool is_serial_each(struct flattener *f, const struct context *c, const struct core *e) {
  if (!e->as.each.serial || !context_serial(c)) return false;
  return has_effects_here(f, e->as.each.body) ||
         (e->as.each.sieve && has_effects_here(f, e->as.each.sieve));
}

const struct rep *flatten_serial_each(struct flattener *f, struct context *c,
                                      const struct core *e, const struct rep *const *sources) {
  struct core *function = body_function(f, e);
  struct core *none = new_serial_node(f, CORE_EMPTY, e, ground(f, e->type));
  const struct rep *s = sources[0];
  const struct rep *elements = all_elements(f, sources, e->as.each.count);
  const struct rep *sequence = rep_sequence(f, s->segdes, s->outer, elements, true);
  const struct rep *argument =
      rep_pair(f, flatten(f, c, function), rep_pair(f, sequence, flatten(f, c, none)));
  struct type *element = ground(f, function->as.lambda->parameter->type);
  struct type *type =
      type_pair(f->arena, function->type,
                type_pair(f->arena, type_sequence(f->arena, element), none->type));
  return flatten_call(f, c, call_of_serially(f, e, type), argument);
}
