/* split.c - conditionals whose condition differs between instances.
 *
 * The branches of an `if`, and of those nested in it, are the leaves of a tree. Each leaf is
 * generated once, for a context of the instances that reach it, and one merge scatters the
 * results of all leaves to the positions of their instances. Where several leaves call the same
 * recursive function, their arguments are concatenated and one call serves all of them: the
 * recursion is as deep as that of the deepest instance, not as the sum over the branches.
 */
#include "neslc/flatten/call.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/loop.h"
#include "neslc/flatten/rep.h"
#include "neslc/flatten/traits.h"

/* ---- contexts of branches ---- */

struct context *context_packed(struct flattener *f, struct context *c, ir_var flags) {
  ir_var out[2];
  emit_results(f, OPC_PACK, TW_BOOL, 3, (ir_var[]){flags, flags, c->one}, 2, out);
  struct context *p = arena_alloc(f->arena, sizeof *p);
  *p = (struct context){
      .kind = CONTEXT_PACKED, .parent = c, .one = out[1], .flags = flags, .around = c->one};
  return p;
}

ir_var instance_positions(struct flattener *f, const struct context *p) {
  const ir_var zero = emit_int(f, 0), one = emit_int(f, 1);
  const ir_var all = EMIT(f, INDEX, NONE, zero, one, p->parent->one);
  ir_var out[2];
  emit_results(f, OPC_PACK, TW_INT, 3, (ir_var[]){all, p->flags, p->around}, 2, out);
  return out[0];
}

const struct rep *scatter_over(struct flattener *f, const struct context *c,
                               const struct rep *all, const struct rep *some,
                               const struct context *p, ir_var at) {
  if (all->kind == REP_PAIR) {
    const struct rep *left = scatter_over(f, c, all->left, some->left, p, at);
    return rep_pair(f, left, scatter_over(f, c, all->right, some->right, p, at));
  }
  if (all->kind != REP_SCALAR) return all;
  const enum type_word word = (enum type_word)all->word;
  return rep_scalar(f, word,
                    emit(f, OPC_DPERMUTE, word, 5,
                         (ir_var[]){some->v, at, rep_each_scalar(f, c, all), p->one, c->one}),
                    false);
}

/* ---- leaves ---- */

/* The tail call of a leaf, if its callee is recursive and without effects. */
static const struct core *last_call(struct flattener *f, const struct core *e) {
  struct global *g = core_callee(e);
  if (!g || g->kind != GLOBAL_FUNCTION || g->primitive >= 0 || !g->body) return NULL;
  const struct traits *t = global_traits(f, g);
  return t->recursive && !t->effects ? e : NULL;
}

static bool same_callee(struct flattener *f, const struct core *a, const struct core *b) {
  const struct core *x = a->as.part.left, *y = b->as.part.left;
  return x->as.use.global == y->as.use.global &&
         type_same(f->arena, ground(f, x->type), ground(f, y->type));
}

/* The number of leaves below e with this tail call. */
static unsigned count_calls_of(struct flattener *f, const struct core *e,
                               const struct core *call) {
  if (e->kind == CORE_LET) return count_calls_of(f, e->as.part.right, call);
  if (e->kind == CORE_IF) {
    return count_calls_of(f, e->as.part.left, call) + count_calls_of(f, e->as.part.right, call);
  }
  const struct core *mine = last_call(f, e);
  return mine && same_callee(f, mine, call);
}

struct leaf {
  struct context *context;
  const struct core *call; /* its tail call, not yet made: `value` is the argument; NULL:
                              `value` is the result */
  const struct rep *value;
  bool taken; /* another leaf's call serves this leaf too */
};

struct tree {
  struct flattener *f;
  struct context *root;
  const struct core *top;
  ARRAY(struct leaf) leaves;
};

static void grow_tree(struct tree *t, struct context *c, const struct core *e);

static void grow_branches(struct tree *t, struct context *c, const struct core *e,
                          ir_var flags) {
  struct flattener *f = t->f;
  const ir_var others = EMIT(f, NOT, BOOL, flags);
  grow_tree(t, context_packed(f, c, flags), e->as.part.left);
  grow_tree(t, context_packed(f, c, others), e->as.part.right);
}

static void grow_tree(struct tree *t, struct context *c, const struct core *e) {
  struct flattener *f = t->f;
  while (e->kind == CORE_LET) {
    bind_pattern(f, c, e->as.part.pattern, flatten(f, c, e->as.part.left));
    e = e->as.part.right;
  }
  unsigned budget = SIMPLE_NODES;
  const struct rep *condition = NULL; /* evaluated once, shared or not */
  if (e->kind == CORE_IF && !is_simple(f, e, &budget) && !may_be_masked(f, e)) {
    condition = flatten(f, c, e->as.part.third);
    if (!condition->shared) {
      grow_branches(t, c, e, condition->v);
      return;
    }
  }
  const struct core *call = last_call(f, e);
  struct leaf leaf = {.context = c};
  if (call && count_calls_of(f, t->top, call) > 1) {
    leaf.call = call;
    leaf.value = flatten(f, c, call->as.part.right);
  } else {
    const struct rep *value =
        condition ? flatten_branches(f, c, e, condition) : flatten(f, c, e);
    leaf.value = rep_physical(f, c, value);
  }
  *array_push(f->arena, &t->leaves) = leaf;
}

/* ---- one call for several leaves ---- */

struct group {
  struct context *const *contexts; /* of the sources */
  struct merge_source *sources;    /* index and one are set: consecutive ranges of `dest` */
  unsigned count;
  ir_var dest;
};

static ir_var group_scalars(struct flattener *f, const struct group *g, enum type_word word,
                            const ir_var *values) {
  struct merge_source *sources = arena_alloc(f->arena, g->count * sizeof *sources);
  for (unsigned i = 0; i < g->count; i++) {
    sources[i] = g->sources[i];
    sources[i].rep = rep_scalar(f, word, values[i], false);
  }
  return rep_merge(f, sources, g->count, g->dest)->v;
}

/* The concatenation of the values of all sources. A value shared by all stays shared, and views
 * of one base stay views of it. */
static const struct rep *concatenate_group(struct flattener *f, const struct group *g,
                                           const struct rep *const *values) {
  const struct rep *first = values[0];
  const unsigned n = g->count;
  if (n == 1) return first;
  const struct rep **source = arena_alloc(f->arena, n * sizeof *source);
  ir_var *v = arena_alloc(f->arena, n * sizeof *v);
  bool shared = rep_all_shared(first), views = first->kind == REP_SEQUENCE && first->base;
  for (unsigned i = 1; i < n; i++) {
    shared = shared && rep_same(first, values[i]);
    views = views && values[i]->base && rep_same(first->base, values[i]->base);
  }
  if (shared || first->kind == REP_NOTHING) return first;
  if (first->kind == REP_PAIR) {
    for (unsigned i = 0; i < n; i++) source[i] = values[i]->left;
    const struct rep *left = concatenate_group(f, g, source);
    for (unsigned i = 0; i < n; i++) source[i] = values[i]->right;
    return rep_pair(f, left, concatenate_group(f, g, source));
  }
  if (first->kind == REP_SCALAR) {
    for (unsigned i = 0; i < n; i++) v[i] = rep_each_scalar(f, g->contexts[i], values[i]);
    return rep_scalar(f, (enum type_word)first->word,
                      group_scalars(f, g, (enum type_word)first->word, v), false);
  }
  if (views) {
    for (unsigned i = 0; i < n; i++) v[i] = values[i]->owner;
    return rep_view(f, first->base, group_scalars(f, g, TW_INT, v));
  }
  struct merge_source *sources = arena_alloc(f->arena, n * sizeof *sources);
  for (unsigned i = 0; i < n; i++) {
    sources[i] = g->sources[i];
    sources[i].rep = rep_physical(f, g->contexts[i], values[i]);
  }
  return rep_merge(f, sources, n, g->dest);
}

/* Makes the call of leaf `first` for all leaves with the same callee; *at: the positions of the
 * results in the root context. */
static const struct rep *call_together(struct tree *t, size_t first,
                                       const struct rep *positions, struct context **together,
                                       ir_var *at) {
  struct flattener *f = t->f;
  const size_t most = t->leaves.count;
  struct context **contexts = arena_alloc(f->arena, most * sizeof *contexts);
  struct merge_source *sources = arena_alloc(f->arena, most * sizeof *sources);
  const struct rep **values = arena_alloc(f->arena, most * sizeof *values);
  ir_var *destinations = arena_alloc(f->arena, most * sizeof *destinations);
  unsigned n = 0;
  ir_var total = emit_int(f, 0);
  const ir_var one = emit_int(f, 1);
  for (size_t i = first; i < most; i++) {
    struct leaf *leaf = &t->leaves.items[i];
    if (!leaf->call || leaf->taken ||
        !same_callee(f, leaf->call, t->leaves.items[first].call)) {
      continue;
    }
    leaf->taken = true;
    contexts[n] = leaf->context;
    values[n] = leaf->value;
    destinations[n] = context_lift(f, positions, t->root, leaf->context)->v;
    sources[n].one = leaf->context->one;
    sources[n].index = EMIT(f, INDEX, NONE, total, one, leaf->context->one);
    total = EMIT(f, ADD, INT, total, EMIT(f, LENGTHS, NONE, leaf->context->one));
    n++;
  }
  *together = arena_alloc(f->arena, sizeof **together);
  **together = (struct context){.kind = CONTEXT_LIFTED, .one = one_segment(f, total)};
  const struct group g = {contexts, sources, n, (*together)->one};
  const struct rep *argument = concatenate_group(f, &g, values);
  *at = n == 1 ? destinations[0] : group_scalars(f, &g, TW_INT, destinations);
  return flatten_call(f, *together, t->leaves.items[first].call, argument);
}

/* ---- merging the leaves ---- */

static const struct rep *join_tree(struct tree *t) {
  struct flattener *f = t->f;
  const ir_var zero = emit_int(f, 0), one = emit_int(f, 1);
  const struct rep *all =
      rep_scalar(f, TW_INT, EMIT(f, INDEX, NONE, zero, one, t->root->one), false);
  struct merge_source *sources = arena_alloc(f->arena, t->leaves.count * sizeof *sources);
  unsigned n = 0;
  for (size_t i = 0; i < t->leaves.count; i++) {
    struct leaf *leaf = &t->leaves.items[i];
    if (leaf->taken) continue;
    struct merge_source *source = &sources[n++];
    struct context *c = leaf->context;
    if (leaf->call) {
      const struct rep *r = call_together(t, i, all, &c, &source->index);
      source->rep = rep_physical(f, c, r);
    } else {
      source->rep = leaf->value;
      source->index = context_lift(f, all, t->root, c)->v;
    }
    source->one = c->one;
  }
  return rep_merge(f, sources, n, t->root->one);
}

const struct rep *flatten_split(struct flattener *f, struct context *c, const struct core *e,
                                ir_var flags) {
  const struct core *then = e->as.part.left, *otherwise = e->as.part.right;
  unsigned budget = SIMPLE_NODES;
  const bool then_simple = is_simple(f, then, &budget);
  budget = SIMPLE_NODES;
  const bool otherwise_simple = is_simple(f, otherwise, &budget);
  if (then_simple != otherwise_simple) {
    const ir_var some_flags = then_simple ? EMIT(f, NOT, BOOL, flags) : flags;
    struct context *p = context_packed(f, c, some_flags);
    const struct rep *all = flatten(f, c, then_simple ? then : otherwise);
    const struct rep *some = rep_physical(f, p, flatten(f, p, then_simple ? otherwise : then));
    return scatter_over(f, c, all, some, p, instance_positions(f, p));
  }
  struct tree t = {.f = f, .root = c, .top = e};
  grow_branches(&t, c, e, flags);
  return join_tree(&t);
}
