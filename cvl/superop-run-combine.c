/* superop-run-combine.c - the meaning of combinations, as rounds of vector operations.
 *
 * All segments are combined at once. Level k holds T(p, k) of every segment, one segment after
 * the other. It is made from level k - 1: each element of odd position in its segment, the
 * *right* one of a pair, is combined with the one before it. This is the upward sweep. On the
 * way down every level gets its prefixes, P(i + 1) for its element i. A right element has the
 * prefix of its pair on the level above. An element of position 0 is its own prefix. Any other
 * is combined with the prefix of the element before it. A reduction needs only the prefixes of
 * the last elements of segments, and computes no others.
 *
 * Positions are vectors of INTs, computed beside the columns, and pairs are gathered by packed
 * indices. So f is computed on pairs of the tree only. No vector is longer than needed: a level
 * has at most half of the elements of the one below, whatever the segments are.
 *
 * A COMBINE_SCATTER is a reduction of segments that a stable sort makes: each default, followed
 * by the elements that go to it. The sort is by the position in the result.
 */
#include "cvl/superop-run-combine.h"

/* ---- upwards ---- */

/* Whether elements have odd positions. */
static struct cvl_value is_right(struct run_combination *w, const struct level *l) {
  const struct cvl_value bit = comb_map_number(w, OP_AND, l->position, 1, l->n);
  return comb_map_number(w, OP_EQ, bit, 1, l->n);
}

/* Returns the halves of n elements of a vector of positions or lengths. */
static struct cvl_value halves(struct run_combination *w, const struct level *l,
                               struct cvl_value v, uint64_t n) {
  return comb_map_number(w, OP_RSHIFT, comb_gather(w, v, l->n, l->right, n), 1, n);
}

/* Finds the pairs of a level. Returns their number. */
static uint64_t find_pairs(struct run_combination *w, struct level *l) {
  const uint32_t mark = w->held_count;
  l->right = comb_where(w, is_right(w, l), l->n);
  comb_release_others(w, mark, (struct cvl_value *const[]){&l->right}, 1);
  return comb_length_of(w, &l->right);
}

/* Adds the level above l, of n pairs. */
static void add_level(struct run_combination *w, const struct level *l, uint64_t n) {
  struct level *to = &w->levels[w->level_count++];
  struct cvl_value *keep[SUPEROP_COLUMNS_MAX + 2] = {&to->position, &to->length};
  const uint32_t mark = w->held_count;
  *to = (struct level){.n = n};
  to->position = halves(w, l, l->position, n);
  to->length = w->scan ? to->position : halves(w, l, l->length, n);
  comb_compute(w, l->x, l->x, l->n, l->right, n, to->x);
  for (uint32_t c = 0; c < w->at.count; c++) keep[c + 2] = &to->x[c];
  comb_release_others(w, mark, keep, w->at.count + 2);
}

/* Makes all levels above the lowest. */
static void sweep_up(struct run_combination *w) {
  w->level_count = 1;
  for (struct level *l = w->levels; w->ok; l++) {
    const uint64_t n = find_pairs(w, l);
    if (!w->ok || n == 0) return;
    add_level(w, l, n);
  }
}

/* ---- downwards ---- */

static struct cvl_value superop_run_combine_is_last(struct run_combination *w,
                                                    const struct level *l) {
  return comb_map(w, OP_EQ, comb_map_number(w, OP_ADD, l->position, 1, l->n), l->length);
}

/* Returns the indices of elements whose prefixes are wanted, and that are neither the first of
 * a segment nor right ones. */
static struct cvl_value find_others(struct run_combination *w, const struct level *l) {
  const struct cvl_value bit = comb_map_number(w, OP_AND, l->position, 1, l->n);
  const struct cvl_value left = comb_map_number(w, OP_EQ, bit, 0, l->n);
  struct cvl_value flags =
      comb_map(w, OP_AND, left, comb_map_number(w, OP_GT, l->position, 0, l->n));
  if (!w->scan) flags = comb_map(w, OP_AND, flags, superop_run_combine_is_last(w, l));
  return comb_where(w, flags, l->n);
}

/* Turns the prefixes of the level above l into those of l: P(i + 1) for element i. */
static void descend(struct run_combination *w, const struct level *l, uint64_t pairs,
                    struct cvl_value *prefix) {
  struct cvl_value *keep[SUPEROP_COLUMNS_MAX], more[SUPEROP_COLUMNS_MAX];
  const uint32_t mark = w->held_count;
  for (uint32_t c = 0; c < w->at.count; c++) {
    prefix[c] = comb_scatter(w, prefix[c], l->right, pairs, l->x[c], l->n);
    keep[c] = &prefix[c];
  }
  const struct cvl_value others = find_others(w, l);
  const uint64_t n = comb_length_of(w, &others);
  if (w->ok && n > 0) {
    comb_compute(w, prefix, l->x, l->n, others, n, more);
    for (uint32_t c = 0; c < w->at.count; c++) {
      prefix[c] = comb_scatter(w, more[c], others, n, prefix[c], l->n);
    }
  }
  comb_release_others(w, mark, keep, w->at.count);
}

/* Computes the prefixes of level 0. Unless all are wanted, only those of last elements are
 * right. */
static void superop_combine_prefix(struct run_combination *w, struct cvl_value *prefix) {
  sweep_up(w);
  for (uint32_t c = 0; c < w->at.count && w->ok; c++) {
    prefix[c] = w->levels[w->level_count - 1].x[c];
  }
  for (uint32_t k = w->level_count - 1; k-- > 0 && w->ok;) {
    descend(w, &w->levels[k], w->levels[k + 1].n, prefix);
  }
}

/* ---- under a descriptor ---- */

static struct cvl_value superop_run_combine_operand(const struct run_combination *w,
                                                    uint32_t column, uint32_t i) {
  struct cvl_value v = w->r->values[comb_consumer(w, column)->operands[i]];
  v.owned = 0;
  return v;
}

/* Makes positions, and lengths where they matter, of the lowest level under d, which has
 * `count` segments. */
static void superop_run_combine_find_positions(struct run_combination *w, struct cvl_value d,
                                               uint64_t count) {
  struct level *l = &w->levels[0];
  const struct cvl_value zeros = comb_flat(w, comb_number(w, 0), count),
                         ones = comb_flat(w, comb_number(w, 1), count);
  struct cvl_value v = {0};
  d.owned = 0;
  if (!w->ok) return;
  l->position = comb_hold(w,
                          w->r->b->apply(w->r->ctx, w->r->site,
                                         &CVL_CALL(CALL_INDEX, OP_INDEX, zeros, ones, d), &v),
                          &v);
  if (!w->ok || w->scan) return;
  const struct cvl_value lengths = comb_hold(
      w, w->r->b->apply(w->r->ctx, w->r->site, &CVL_CALL(CALL_LENGTHS, OP_LENGTHS, d), &v), &v);
  l->length = comb_spread(w, lengths, d);
}

/* Returns the identity of a column, for each of `count` segments. */
static struct cvl_value superop_run_combine_identities(struct run_combination *w,
                                                       uint32_t column, uint64_t count) {
  const struct cvl_value v = superop_run_combine_operand(w, column, 2);
  return comb_consumer(w, column)->operands[2] < w->r->op->param_count ? v
                                                                       : comb_flat(w, v, count);
}

static uint64_t superop_run_combine_segment_count(struct run_combination *w,
                                                  struct cvl_value d) {
  struct cvl_size n = w->r->b->count(w->r->ctx, &d);
  if (w->ok && n.symbol) w->ok = w->r->b->resolve(w->r->ctx, &n);
  return n.bound;
}

static void superop_run_combine_reduce(struct run_combination *w, struct cvl_value *out) {
  const struct level *l = &w->levels[0];
  const struct cvl_value d = superop_run_combine_operand(w, 0, 3);
  const uint64_t count = superop_run_combine_segment_count(w, d);
  struct cvl_value prefix[SUPEROP_COLUMNS_MAX];
  for (uint32_t c = 0; c < w->at.count; c++)
    out[c] = superop_run_combine_identities(w, c, count);
  if (l->n == 0) return;
  superop_run_combine_find_positions(w, d, count);
  superop_combine_prefix(w, prefix);
  const struct cvl_value last = comb_where(w, superop_run_combine_is_last(w, l), l->n);
  const uint64_t n = comb_length_of(w, &last);
  const struct cvl_value segments = comb_spread(w, comb_count_up(w, 0, count), d);
  const struct cvl_value to = comb_gather(w, segments, l->n, last, n);
  for (uint32_t c = 0; c < w->at.count; c++) {
    out[c] = comb_scatter(w, comb_gather(w, prefix[c], l->n, last, n), to, n, out[c], count);
  }
}

static void superop_run_combine_scan(struct run_combination *w, struct cvl_value *out) {
  const struct level *l = &w->levels[0];
  const struct superop_node *first = comb_consumer(w, 0);
  const bool inclusive = first->op == SUPEROP_COMBINE_SCAN_INCLUSIVE;
  const struct cvl_value d = superop_run_combine_operand(w, 0, inclusive ? 2 : 3);
  for (uint32_t c = 0; c < w->at.count; c++) out[c] = l->x[c];
  if (l->n == 0) return;
  superop_run_combine_find_positions(w, d, superop_run_combine_segment_count(w, d));
  superop_combine_prefix(w, out);
  if (inclusive) return;
  const struct cvl_value others =
      comb_where(w, comb_map_number(w, OP_GT, l->position, 0, l->n), l->n);
  const uint64_t n = comb_length_of(w, &others);
  const struct cvl_value before = comb_map_number(w, OP_SUB, others, 1, n);
  for (uint32_t c = 0; c < w->at.count; c++) {
    const bool each = comb_consumer(w, c)->operands[2] < w->r->op->param_count;
    const struct cvl_value v = superop_run_combine_operand(w, c, 2),
                           shifted = comb_gather(w, out[c], l->n, before, n);
    out[c] = comb_scatter(w, shifted, others, n,
                          each ? comb_spread(w, v, d) : comb_flat(w, v, l->n), l->n);
  }
}

/* ---- scattered ---- */

/* Returns the position in the result that each element goes to. Faults: INDEX. Results for
 * wrong indices are harmless. */
static struct cvl_value find_slots(struct run_combination *w, uint64_t defaults) {
  return comb_move(w, OP_BPERMUTE,
                   (struct cvl_permute){.values = comb_count_up(w, 0, defaults),
                                        .index = superop_run_combine_operand(w, 0, 2),
                                        .s = superop_run_combine_operand(w, 0, 5),
                                        .d = superop_run_combine_operand(w, 0, 4)});
}

/* Returns where n defaults, and the m elements behind them, are after sorting by slot. */
static struct cvl_value find_order(struct run_combination *w, struct cvl_value slots,
                                   uint64_t n, uint64_t m) {
  const struct cvl_value d = cvl_one_segment(n + m);
  const struct cvl_value keys =
      comb_scatter(w, slots, comb_count_up(w, n, m), m, comb_count_up(w, 0, n + m), n + m);
  struct cvl_value order = {0};
  if (!w->ok) return order;
  return comb_hold(
      w,
      w->r->b->apply(w->r->ctx, w->r->site, &CVL_CALL(CALL_RANK, OP_RANK_UP, keys, d), &order),
      &order);
}

/* Makes the lowest level's positions and lengths. `starts`: where the n defaults are among
 * all. */
static void superop_run_combine_find_groups(struct run_combination *w, struct cvl_value starts,
                                            uint64_t n) {
  const uint64_t all = w->levels[0].n;
  const struct cvl_value later = comb_gather(w, starts, n, comb_count_up(w, 1, n - 1), n - 1);
  const struct cvl_value begins = comb_scatter(w, later, comb_count_up(w, 1, n - 1), n - 1,
                                               comb_flat(w, comb_number(w, 0), n), n);
  const struct cvl_value ends = comb_scatter(w, later, comb_count_up(w, 0, n - 1), n - 1,
                                             comb_flat(w, comb_number(w, (int64_t)all), n), n);
  const struct cvl_value lengths = comb_map(w, OP_SUB, ends, begins);
  struct cvl_value d = {0};
  if (!w->ok) return;
  d = comb_hold(w,
                w->r->b->apply(w->r->ctx, w->r->site,
                               &CVL_CALL(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, lengths), &d),
                &d);
  superop_run_combine_find_positions(w, d, n);
}

/* Returns column c, sorted: n defaults and the m elements. */
static struct cvl_value superop_run_combine_merge(struct run_combination *w, uint32_t c,
                                                  struct cvl_value starts, uint64_t n,
                                                  struct cvl_value others, uint64_t m) {
  const struct cvl_value defaults =
      comb_move(w, OP_FPERMUTE,
                (struct cvl_permute){.values = superop_run_combine_operand(w, c, 3),
                                     .index = starts,
                                     .flags = comb_flat(w, cvl_scalar_bool(true), n),
                                     .s = cvl_one_segment(n),
                                     .d = cvl_one_segment(n + m)});
  return comb_scatter(w, w->levels[0].x[c], others, m, defaults, n + m);
}

/* Reduces the groups. Since each begins with its default, no segment is empty. */
static void scatter_groups(struct run_combination *w, struct cvl_value slots, uint64_t n,
                           struct cvl_value *out) {
  struct level *l = &w->levels[0];
  const uint64_t m = l->n, all = n + m;
  const struct cvl_value order = find_order(w, slots, n, m);
  const struct cvl_value starts = comb_gather(w, order, all, comb_count_up(w, 0, n), n);
  const struct cvl_value others = comb_gather(w, order, all, comb_count_up(w, n, m), m);
  for (uint32_t c = 0; c < w->at.count; c++)
    l->x[c] = superop_run_combine_merge(w, c, starts, n, others, m);
  l->n = all;
  superop_run_combine_find_groups(w, starts, n);
  superop_combine_prefix(w, out);
  const struct cvl_value last = comb_where(w, superop_run_combine_is_last(w, l), all);
  for (uint32_t c = 0; c < w->at.count; c++) out[c] = comb_gather(w, out[c], all, last, n);
}

/* ---- the whole ---- */

/* Requires of node k that two sizes are equal, and waits for them. */
static void superop_run_combine_require(struct run_combination *w, uint32_t k,
                                        struct cvl_size a, struct cvl_size b, int rule) {
  const struct cvl_backend *back = w->r->b;
  w->r->site = w->site + k;
  if (a.symbol && w->ok) w->ok = back->resolve(w->r->ctx, &a);
  if (b.symbol && w->ok) w->ok = back->resolve(w->r->ctx, &b);
  if (!w->ok || a.bound == b.bound) return;
  back->require_equal(w->r->ctx, w->r->site, a, b, rule);
  w->ok = false;
}

static void require_row(struct run_combination *w, uint32_t k) {
  const struct superop_node *node = &w->r->op->nodes[k];
  const struct size_rule *rules = superop_info(node->op)->rules;
  for (int i = 0; rules[i].a && w->ok; i++) {
    if (superop_waives(w->r->op, node, &rules[i])) continue;
    superop_run_combine_require(w, k, run_size(&w->inside, node, rules[i].a),
                                run_size(&w->inside, node, rules[i].b), i);
  }
}

/* Requires that the columns have one length; values computed inside then have it, too. */
static void require_columns(struct run_combination *w) {
  const struct superop_node *nodes = w->r->op->nodes;
  const struct cvl_value *first = &w->r->values[nodes[w->at.first].operands[0]];
  for (uint32_t v = 0; v < comb_consumer(w, 0)->result; v++) {
    w->values[v] = v < nodes[w->at.first].result ? w->r->values[v] : *first;
    w->values[v].owned = 0;
  }
  for (uint32_t c = 0; c < w->at.count && w->ok; c++) {
    const uint32_t k = w->at.first + c;
    const struct cvl_value *x = &w->r->values[nodes[k].operands[0]];
    superop_run_combine_require(w, k, w->r->b->length(w->r->ctx, first),
                                w->r->b->length(w->r->ctx, x), 0);
    w->levels[0].x[c] = *x;
    w->levels[0].x[c].owned = 0;
  }
  for (uint32_t k = w->at.first + w->at.count; k < w->at.ends && w->ok; k++) require_row(w, k);
}

/* Finds the type of INT, and requires that it can hold the positions. Faults: INT_RANGE. */
static void find_int(struct run_combination *w) {
  struct cvl_value n = {0};
  w->r->site = w->site + w->at.ends;
  if (!w->ok) return;
  w->ok = w->r->b->apply(w->r->ctx, w->r->site,
                         &CVL_CALL(CALL_LENGTH_OF, OP_LENGTH, w->levels[0].x[0]), &n);
  if (!w->ok) return;
  w->int_elem = (enum cvl_elem)n.elem;
  w->r->b->release(w->r->ctx, &n);
}

static void superop_run_combine_execute(struct run_combination *w, struct cvl_value *out) {
  const bool scatters = comb_consumer(w, 0)->role == ROLE_COMBINE_SCATTER;
  uint64_t defaults = 0;
  struct cvl_value slots = {0};
  require_columns(w);
  if (w->ok) require_row(w, w->at.ends);
  find_int(w);
  if (scatters && w->ok) {
    const struct cvl_value d = superop_run_combine_operand(w, 0, 3);
    defaults = comb_length_of(w, &d);
    slots = find_slots(w, defaults);
  }
  for (uint32_t c = 1; c < w->at.count && w->ok; c++) require_row(w, w->at.ends + c);
  w->r->site = w->site + w->at.ends;
  w->levels[0].n = comb_length_of(w, &w->levels[0].x[0]);
  if (!w->ok) return;
  comb_find_constants(w);
  if (comb_consumer(w, 0)->role == ROLE_COMBINE_REDUCE) superop_run_combine_reduce(w, out);
  if (w->scan) superop_run_combine_scan(w, out);
  if (scatters && defaults > 0) scatter_groups(w, slots, defaults, out);
  for (uint32_t c = 0; c < w->at.count && scatters && defaults == 0; c++) {
    out[c] = superop_run_combine_operand(w, c, 3);
  }
}

/* Makes the results values, and releases values whose last use this was. */
static void superop_run_combine_deliver(struct run_combination *w,
                                        const struct cvl_value *out) {
  const struct superop *op = w->r->op;
  const uint32_t last = w->at.ends + w->at.count - 1;
  for (uint32_t c = 0; c < w->at.count; c++) {
    struct cvl_value *to = &w->r->values[comb_consumer(w, c)->result];
    *to = out[c];
    w->r->b->retain(w->r->ctx, to);
    to->owned = 1;
    if (op->last_use[comb_consumer(w, c)->result] == SUPEROP_NONE) {
      run_give_up(w->r, comb_consumer(w, c)->result);
    }
  }
  for (uint32_t v = 0; v < op->nodes[w->at.first].result; v++) {
    if (op->last_use[v] == last) run_give_up(w->r, v);
  }
}

bool run_combination(struct node_run *r, uint32_t *k) {
  struct run_combination w;
  struct cvl_value out[SUPEROP_COLUMNS_MAX];
  w.r = r;
  w.at = superop_combination_at(r->op, *k);
  w.site = r->site - *k;
  w.scan = r->op->nodes[w.at.ends].role == ROLE_COMBINE_SCAN;
  w.ok = true;
  w.held_count = w.level_count = w.constant_count = 0;
  w.inside = *r;
  w.inside.values = w.values;
  for (uint32_t v = r->op->nodes[*k].result; v < comb_consumer(&w, 0)->result; v++) {
    r->values[v].owned = 0; /* `owned` was never set */
  }
  superop_run_combine_execute(&w, out);
  if (w.ok) superop_run_combine_deliver(&w, out);
  comb_release_to(&w, 0);
  if (w.ok) *k = w.at.ends + w.at.count - 1;
  return w.ok;
}
