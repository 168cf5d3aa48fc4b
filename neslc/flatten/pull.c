/* pull.c - pulled sequences: a length, and a function from the index to the element.
 *
 * The library's `_pulled(g, n)` makes one. An element that is indexed is the value of g,
 * generated where it is used; the length is n. So the neighbourhood of an element in a stencil
 * has no elements in memory, and `w[0]` becomes one gather from the stencil's source. Where few
 * elements are known to be there, an apply-to-each and a reduction take them one by one
 * (parts). Any other use computes all elements. What g captured and the length have the
 * instances of the context, like the components of a pair.
 *
 * These are the pull arrays (delayed arrays) of Keller, Chakravarty, Leshchinskiy, Peyton Jones
 * and Lippmeier, "Regular, shape-polymorphic, parallel arrays in Haskell" (2010).
 *
 * g is evaluated as often as elements are used: the library only passes functions without
 * effects.
 */
#include "neslc/flatten/call.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/rep.h"
#include "neslc/flatten/traits.h"

static bool same_function(struct flattener *f, const struct call *a, const struct call *b) {
  if (a->global != b->global || a->lambda != b->lambda || a->count != b->count) return false;
  for (uint32_t i = 0; i < a->count; i++) {
    const struct type *x = a->arguments[i], *y = b->arguments[i];
    if (!x != !y || (x && !type_same(f->arena, a->arguments[i], b->arguments[i]))) return false;
  }
  return true;
}

/* The number of a function in the program; equal functions have one number. */
static uint32_t number_of_pull(struct flattener *f, const struct call *k) {
  uint32_t i = 0;
  while (i < f->pulled.count && !same_function(f, f->pulled.items[i], k)) i++;
  if (i == f->pulled.count) {
    struct call *kept = arena_alloc(f->arena, sizeof *kept);
    *kept = *k;
    *array_push(f->arena, &f->pulled) = kept;
  }
  return i;
}

const struct rep *pulled_sequence(struct flattener *f, const struct rep *argument,
                                  struct type *type) {
  struct type *function = type_of(type_of(type)->part[0]);
  struct call k = {.argument_type = type_of(function->part[0]),
                   .result_type = type_of(function->part[1])};
  if (!unfold_identity(f, function, argument->left, &k) || !k.lambda) return NULL;
  k.captured = NULL;
  return rep_pulled(f, number_of_pull(f, &k), argument->left, argument->right);
}

/* The code of the program grows with each use, as if the function were written there: what
 * limits the expansion of calls does not count it. */
const struct rep *pulled_element(struct flattener *f, struct context *c, const struct rep *r,
                                 const struct rep *index) {
  struct call k = *f->pulled.items[r->function];
  const size_t expanded = f->expanded;
  k.captured = k.lambda->captured_count > 0 ? r->left : NULL;
  k.argument = index;
  f->frame->depth--;
  const struct rep *element = call_expanded(f, c, &k);
  f->frame->depth++;
  f->expanded = expanded;
  return element;
}

/* ---- one by one ---- */

uint32_t known_parts(struct flattener *f, const struct context *c, const struct rep *r) {
  if (r->part_count > 0) return r->shared == context_serial(c) ? r->part_count : 0;
  int64_t n = 0;
  if (r->kind == REP_PULLED) {
    if (!r->right->shared || !known_int(f, r->right->v, &n)) return 0;
  } else if (r->kind == REP_SEQUENCE && r->shared && r->elements->kind == REP_SCALAR) {
    const struct vcode_constant *d = constant_of(f, r->segdes);
    if (d && d->length == 1) n = d->as.ints[0];
  }
  return n > 0 && n <= PARTS_MOST / f->repeated ? (uint32_t)n : 0;
}

/* Element k of a sequence that is the same for all instances. */
static const struct rep *shared_element(struct flattener *f, const struct rep *r, uint32_t k) {
  const enum type_word word = (enum type_word)r->elements->word;
  const ir_var operands[3] = {r->elements->v, emit_int(f, k), r->segdes};
  return rep_scalar(f, word, emit(f, OPC_EXTRACT, word, 3, operands), true);
}

const struct rep *const *rep_parts(struct flattener *f, struct context *c, const struct rep *r,
                                   uint32_t count) {
  if (r->part_count > 0) return r->parts;
  const struct rep **parts = arena_alloc(f->arena, count * sizeof *parts);
  for (uint32_t k = 0; k < count; k++) {
    const struct rep *index = rep_scalar(f, TW_INT, emit_int(f, k), true);
    parts[k] = r->kind == REP_PULLED ? pulled_element(f, c, r, index) : shared_element(f, r, k);
  }
  return parts;
}

/* ---- all of them ---- */

const struct rep *rep_computed(struct flattener *f, const struct context *c,
                               const struct rep *r) {
  if (r->kind != REP_PULLED) return r;
  const ir_var lengths = rep_each_scalar(f, c, r->right);
  struct rep *s = arena_alloc(f->arena, sizeof *s);
  *s = *rep_sequence(f, EMIT(f, MAKE_SEGDES, NONE, lengths), c->one, NULL, context_serial(c));
  struct context *inside = arena_alloc(f->arena, sizeof *inside);
  *inside = (struct context){.kind = CONTEXT_EACH,
                             .parent = (struct context *)(uintptr_t)c,
                             .one = seq_elements_one(f, s),
                             .segdes = s->segdes};
  const ir_var from = rep_each_scalar(f, c, rep_scalar(f, TW_INT, emit_int(f, 0), true));
  const ir_var by = rep_each_scalar(f, c, rep_scalar(f, TW_INT, emit_int(f, 1), true));
  const ir_var index = EMIT(f, INDEX, NONE, from, by, s->segdes);
  const struct rep *lifted = context_lift(f, r, c, inside);
  rep_set_elements(f, s,
                   pulled_element(f, inside, lifted, rep_scalar(f, TW_INT, index, false)));
  return s;
}
