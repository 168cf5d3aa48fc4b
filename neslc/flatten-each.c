/* flatten-each.c - apply-to-each: the body is evaluated for all elements at once. */
#include "neslc/flatten-private.h"

/* Checks that both sequences have the same length in every instance. */
static void check_lengths(struct flattener *f, const struct rep *a, const struct rep *b) {
  if (a->segdes == b->segdes) return;
  const ir_var x = seq_lengths(f, a), y = seq_lengths(f, b);
  if (x == y) return;
  emit_assert(f, EMIT(f, EQ, INT, x, y), x, y, check_text(CHECK_EACH));
}

const struct rep *flatten_each(struct flattener *f, struct context *c, const struct core *e) {
  const size_t n = e->as.each.count;
  const struct rep **sources = arena_alloc(f->arena, n * sizeof *sources);
  for (size_t i = 0; i < n; i++) {
    sources[i] = rep_plain(f, c, flatten(f, c, e->as.each.generators[i].source));
  }
  const struct rep *s = sources[0];
  for (size_t i = 1; i < n; i++) check_lengths(f, s, sources[i]);
  if (is_serial_each(f, c, e)) return flatten_serial_each(f, c, e, sources);
  struct context *inside = arena_alloc(f->arena, sizeof *inside);
  *inside = (struct context){
      .kind = CONTEXT_EACH, .parent = c, .one = seq_elements_one(f, s), .segdes = s->segdes};
  for (size_t i = 0; i < n; i++) {
    bind_pattern(f, inside, e->as.each.generators[i].pattern, sources[i]->elements);
  }
  if (!e->as.each.sieve) {
    const struct rep *body = flatten(f, inside, e->as.each.body);
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
  const struct rep *body = flatten(f, filtered, e->as.each.body);
  return rep_sequence(f, packed[1], s->outer, body, context_serial(c));
}
