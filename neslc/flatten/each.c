/* each.c - apply-to-each: the body is evaluated for all elements at once. */
#include "neslc/flatten/call.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/instances.h"
#include "neslc/flatten/rep.h"
#include "neslc/flatten/traits.h"

/* The lengths of a source; the elements of a pulled one are not computed before the checks. */
static ir_var lengths_in_context(struct flattener *f, const struct context *c,
                                 const struct rep *r) {
  return r->kind == REP_PULLED ? rep_each_scalar(f, c, r->right) : seq_lengths(f, r);
}

/* The scalars of which x and y are copies for all instances. */
static bool are_copies(struct flattener *f, const struct context *c, ir_var *x, ir_var *y) {
  const struct ir_binding *a = defined_by(f, *x, OPC_DIST), *b = defined_by(f, *y, OPC_DIST);
  if (!a || !b || a->operands[1] != c->one || b->operands[1] != c->one) return false;
  *x = a->operands[0];
  *y = b->operands[0];
  return true;
}

/* Checks that both sequences have the same length in every instance. */
static void check_equal_lengths(struct flattener *f, const struct context *c,
                                const struct rep *a, const struct rep *b) {
  if (a->kind == b->kind && a->kind == REP_SEQUENCE && a->segdes == b->segdes) return;
  ir_var x = lengths_in_context(f, c, a), y = lengths_in_context(f, c, b);
  if (x == y) return;
  const bool once = are_copies(f, c, &x, &y);
  ir_var good = EMIT(f, EQ, INT, x, y);
  if (once) {
    const ir_var none = EMIT(f, EQ, INT, EMIT(f, LENGTHS, NONE, c->one), emit_int(f, 0));
    good = EMIT(f, OR, BOOL, good, none);
  }
  emit_assert(f, good, x, y, check_text(CHECK_EACH));
}

/* ---- element by element ---- */

enum { MOST_PARTS = 8, MOST_NODES = 64 /* of a body that is repeated for pulled elements */ };

/* Whether the sources are lists whose elements are known one by one. */
static bool are_parts(const struct flattener *f, const struct context *c, const struct core *e,
                      const struct rep *const *sources) {
  if (!f->apart || !context_serial(c)) return false;
  for (size_t i = 0; i < e->as.each.count; i++) {
    if (sources[i]->part_count == 0 || sources[i]->part_count > MOST_PARTS) return false;
  }
  return true;
}

/* Whether the body may be repeated for pulled elements: what it prints or draws would be in
 * another order. Elements that are sequences are likely to be taken one by one themselves. */
static bool are_pulled(struct flattener *f, const struct core *e,
                       const struct rep *const *sources, uint32_t count) {
  bool any = false, nested = false;
  for (size_t i = 0; i < e->as.each.count; i++) {
    struct type *source = ground(f, e->as.each.generators[i].source->type);
    nested |= type_of(type_of(source)->part[0])->tag == TYPE_SEQUENCE;
    any |= sources[i]->kind == REP_PULLED || (sources[i]->part_count && !sources[i]->shared);
  }
  return any && (!nested || count <= PARTS_MOST_NESTED) &&
         core_size(f, e->as.each.body) <= MOST_NODES && !has_effects_here(f, e->as.each.body);
}

/* The value for the sources' elements one by one; NULL if these are not known, or too many. */
static const struct rep *each_of_parts(struct flattener *f, struct context *c,
                                       const struct core *e, const struct rep *const *sources) {
  const size_t n = e->as.each.count;
  const uint32_t count = e->as.each.sieve ? 0 : known_parts(f, c, sources[0]);
  for (size_t i = 1; i < n; i++) {
    if (known_parts(f, c, sources[i]) != count) return NULL;
  }
  if (count == 0 || !(are_parts(f, c, e, sources) || are_pulled(f, e, sources, count)))
    return NULL;
  const struct rep *const **parts = arena_alloc(f->arena, n * sizeof *parts);
  for (size_t i = 0; i < n; i++) parts[i] = rep_parts(f, c, sources[i], count);
  const struct rep **values = arena_alloc(f->arena, count * sizeof *values);
  const uint32_t around = f->repeated;
  f->repeated *= count;
  for (uint32_t k = 0; k < count; k++) {
    for (size_t i = 0; i < n; i++)
      bind_pattern(f, c, e->as.each.generators[i].pattern, parts[i][k]);
    values[k] = flatten(f, c, e->as.each.body);
  }
  f->repeated = around;
  return rep_with_parts(f, list_of(f, c, ground(f, e->type), values, count), values, count);
}

const struct rep *flatten_each(struct flattener *f, struct context *c, const struct core *e) {
  const size_t n = e->as.each.count;
  const struct rep **sources = arena_alloc(f->arena, n * sizeof *sources);
  for (size_t i = 0; i < n; i++) sources[i] = flatten(f, c, e->as.each.generators[i].source);
  const struct rep *list = each_of_parts(f, c, e, sources);
  if (list) return list;
  for (size_t i = 0; i < n; i++) {
    if (sources[i]->kind != REP_PULLED) sources[i] = rep_plain(f, c, sources[i]);
  }
  for (size_t i = 1; i < n; i++) check_equal_lengths(f, c, sources[0], sources[i]);
  for (size_t i = 0; i < n; i++) sources[i] = rep_plain(f, c, sources[i]);
  const struct rep *s = sources[0];
  if (is_serial_each(f, c, e)) return flatten_serial_each(f, c, e, sources);
  struct context *inside = arena_alloc(f->arena, sizeof *inside);
  *inside = (struct context){
      .kind = CONTEXT_EACH, .parent = c, .one = seq_elements_one(f, s), .segdes = s->segdes};
  for (size_t i = 0; i < n; i++) {
    bind_pattern(f, inside, e->as.each.generators[i].pattern, sources[i]->elements);
  }
  if (!e->as.each.sieve) {
    const struct rep *body = flatten_body(f, inside, e);
    return rep_sequence(f, s->segdes, s->outer, body, context_serial(c));
  }
  /* Filter first: the body runs only where the sieve holds. */
  const ir_var flags = rep_each_scalar(f, inside, flatten(f, inside, e->as.each.sieve));
  ir_var packed[2];
  emit_results(f, OPC_PACK, TW_BOOL, 3, (ir_var[]){flags, flags, s->segdes}, 2, packed);
  const struct rep *kept = rep_sequence(f, packed[1], s->outer, NULL, context_serial(c));
  struct context *filtered = arena_alloc(f->arena, sizeof *filtered);
  *filtered = (struct context){.kind = CONTEXT_PACKED,
                               .parent = inside,
                               .one = seq_elements_one(f, kept),
                               .flags = flags,
                               .around = s->segdes};
  const struct rep *body = flatten_body(f, filtered, e);
  return rep_sequence(f, packed[1], s->outer, body, context_serial(c));
}
