/* order-tree.c - see order-tree.h.
 *
 * T and P are those of trees.h. Level l of a segment of n elements has n >> l totals, T(i *
 * 2^l, l), and one prefix more, P(i * 2^l). A level stores all segments of a tile one after the
 * other.
 */
#include "cvl-cpu/combine/order-tree.h"

#include <string.h>

enum { LINE = 64, WIDEST = sizeof(uint64_t) };

/* The elements of each column that a tile needs as scratch memory. */
enum {
  TOTALS_ROOM = ORDER_TILE, /* for the totals of all levels above the elements */
  /* for the prefixes of one level: one for each element and each segment */
  PREFIX_ROOM = 2 * ORDER_TILE,
  /* for the left operands of a call; as many for the right ones */
  PAIRS_ROOM = ORDER_TILE
};

static size_t order_tree_column_bytes(void) {
  return (TOTALS_ROOM + 2 * PREFIX_ROOM + 2 * PAIRS_ROOM) * WIDEST + 5 * LINE;
}

size_t order_scratch_bytes(const struct order_function *f) {
  return f->columns * order_tree_column_bytes();
}

/* ---- elements of any width ---- */

static void order_tree_copy(void *to, uint64_t i, const void *from, uint64_t j, uint64_t n,
                            unsigned bytes) {
  memcpy((char *)to + i * bytes, (const char *)from + j * bytes, n * bytes);
}

static void copy_item(const struct order_function *f, const struct order_columns *to,
                      uint64_t i, const struct order_columns *from, uint64_t j) {
  for (uint32_t c = 0; c < f->columns; c++)
    order_tree_copy(to->at[c], i, from->at[c], j, 1, f->bytes[c]);
}

#define TYPED(name, type)                                                                      \
  /* Splits level l of all segments into pairs: even totals go to `left`, odd ones to          \
   * `right`. */                                                                               \
  static uint64_t name##_pairs(const type *x, struct order_segments s, unsigned l, type *left, \
                               type *right) {                                                  \
    uint64_t n = 0;                                                                            \
    for (uint64_t k = 0; k < s.count; k++) {                                                   \
      const uint64_t totals = (s.offsets[k + 1] - s.offsets[k]) >> l, pairs = totals / 2;      \
      for (uint64_t i = 0; i < pairs; i++) {                                                   \
        left[n + i] = x[2 * i];                                                                \
        right[n + i] = x[2 * i + 1];                                                           \
      }                                                                                        \
      n += pairs;                                                                              \
      x += totals;                                                                             \
    }                                                                                          \
    return n;                                                                                  \
  }                                                                                            \
  /* Prepares a level of a scan: prefixes of level l + 1 to `left`, even totals of level l to  \
   * `right`. */                                                                               \
  static uint64_t name##_steps(const type *x, const type *above, struct order_segments s,      \
                               unsigned l, type *left, type *right) {                          \
    uint64_t n = 0;                                                                            \
    for (uint64_t k = 0; k < s.count; k++) {                                                   \
      const uint64_t totals = (s.offsets[k + 1] - s.offsets[k]) >> l,                          \
                     steps = (totals + 1) / 2;                                                 \
      for (uint64_t i = 0; i < steps; i++) {                                                   \
        left[n + i] = above[i];                                                                \
        right[n + i] = x[2 * i];                                                               \
      }                                                                                        \
      n += steps;                                                                              \
      x += totals;                                                                             \
      above += totals / 2 + 1;                                                                 \
    }                                                                                          \
    return n;                                                                                  \
  }                                                                                            \
  /* Merges the prefixes of level l from those above and the results of the steps. If nothing  \
   * comes before a segment, its first prefix is not used, and the second one is its first     \
   * total. */                                                                                 \
  static void name##_merge(const type *x, const type *above, const type *steps,                \
                           struct order_segments s, unsigned l, bool first, type *out) {       \
    for (uint64_t k = 0; k < s.count; k++) {                                                   \
      const uint64_t totals = (s.offsets[k + 1] - s.offsets[k]) >> l;                          \
      for (uint64_t i = 0; i <= totals / 2; i++) out[2 * i] = above[i];                        \
      for (uint64_t i = 0; i < (totals + 1) / 2; i++) out[2 * i + 1] = steps[i];               \
      if (first && totals > 0) out[1] = x[0];                                                  \
      x += totals;                                                                             \
      above += totals / 2 + 1;                                                                 \
      steps += (totals + 1) / 2;                                                               \
      out += totals + 1;                                                                       \
    }                                                                                          \
  }
TYPED(u8, uint8_t)
TYPED(u32, uint32_t)
TYPED(u64, uint64_t)
#undef TYPED

static uint64_t split_pairs(unsigned bytes, const void *x, struct order_segments s, unsigned l,
                            void *left, void *right) {
  switch (bytes) {
  case 1: return u8_pairs(x, s, l, left, right);
  case 4: return u32_pairs(x, s, l, left, right);
  default: return u64_pairs(x, s, l, left, right);
  }
}

static uint64_t split_steps(unsigned bytes, const void *x, const void *above,
                            struct order_segments s, unsigned l, void *left, void *right) {
  switch (bytes) {
  case 1: return u8_steps(x, above, s, l, left, right);
  case 4: return u32_steps(x, above, s, l, left, right);
  default: return u64_steps(x, above, s, l, left, right);
  }
}

static void order_tree_merge(unsigned bytes, const void *x, const void *above,
                             const void *steps, struct order_segments s, unsigned l, bool first,
                             void *out) {
  switch (bytes) {
  case 1: u8_merge(x, above, steps, s, l, first, out); return;
  case 4: u32_merge(x, above, steps, s, l, first, out); return;
  default: u64_merge(x, above, steps, s, l, first, out);
  }
}

/* Sets item i of out to f(item i of left, item i of right). */
static void order_tree_combine(const struct order_function *f, uint64_t n,
                               const struct order_columns *left,
                               const struct order_columns *right,
                               const struct order_columns *out) {
  if (f->compiled) {
    f->compiled->apply(n, left->at, right->at, out->at);
  } else {
    f->apply(f, n, left, right, out);
  }
}

/* ---- the levels of a tile ---- */

struct tree {
  const struct order_function *f;
  struct order_segments s;
  /* totals of each level; level 0 is the elements */
  struct order_columns level[ORDER_TILE_LEVELS + 1];
  struct order_columns above, here, left, right;
  unsigned levels; /* the number of levels that have totals */
};

static void order_tree_lay_out(struct tree *t, char *scratch) {
  for (uint32_t c = 0; c < t->f->columns; c++, scratch += order_tree_column_bytes()) {
    t->level[1].at[c] = scratch;
    t->above.at[c] = t->level[1].at[c] + TOTALS_ROOM * WIDEST + LINE;
    t->here.at[c] = t->above.at[c] + PREFIX_ROOM * WIDEST + LINE;
    t->left.at[c] = t->here.at[c] + PREFIX_ROOM * WIDEST + LINE;
    t->right.at[c] = t->left.at[c] + PAIRS_ROOM * WIDEST + LINE;
  }
}

static uint64_t order_tree_longest(struct order_segments s) {
  uint64_t most = 0;
  for (uint64_t k = 0; k < s.count; k++) {
    const uint64_t n = s.offsets[k + 1] - s.offsets[k];
    if (n > most) most = n;
  }
  return most;
}

/* Computes the totals of all levels. */
static void go_up(struct tree *t, const struct order_columns *x, char *scratch) {
  const struct order_function *f = t->f;
  const uint64_t most = order_tree_longest(t->s);
  order_tree_lay_out(t, scratch);
  for (uint32_t c = 0; c < f->columns; c++) {
    t->level[0].at[c] = x->at[c] + t->s.offsets[0] * f->bytes[c];
  }
  for (t->levels = most > 0; most >> t->levels > 0; t->levels++) {
    const unsigned l = t->levels - 1;
    uint64_t n = 0;
    for (uint32_t c = 0; c < f->columns; c++) {
      n = split_pairs(f->bytes[c], t->level[l].at[c], t->s, l, t->left.at[c], t->right.at[c]);
    }
    order_tree_combine(f, n, &t->left, &t->right, &t->level[l + 1]);
    for (uint32_t c = 0; c < f->columns && l + 1 < ORDER_TILE_LEVELS; c++) {
      t->level[l + 2].at[c] = t->level[l + 1].at[c] + n * f->bytes[c];
    }
  }
}

/* ---- reductions ---- */

/* Folds the totals of a segment, from the highest level down, into P(n). Each level adds at
 * most one total behind what is combined so far. */
static void fold_level(const struct tree *t, unsigned l, const struct order_columns *out) {
  const struct order_function *f = t->f;
  uint64_t at = 0, n = 0;
  uint64_t segment[ORDER_TILE];
  for (uint64_t k = 0; k < t->s.count; k++) {
    const uint64_t totals = (t->s.offsets[k + 1] - t->s.offsets[k]) >> l;
    at += totals;
    if (totals == 1) copy_item(f, out, k, &t->level[l], at - 1);
    if (totals == 1 || totals % 2 == 0) continue;
    copy_item(f, &t->left, n, out, k);
    copy_item(f, &t->right, n, &t->level[l], at - 1);
    segment[n++] = k;
  }
  if (n > 0) order_tree_combine(f, n, &t->left, &t->right, &t->left);
  for (uint64_t i = 0; i < n; i++) copy_item(f, out, segment[i], &t->left, i);
}

void order_reduce(const struct order_function *f, const struct order_columns *x,
                  struct order_segments s, const struct order_columns *out, char *scratch) {
  if (f->compiled) {
    f->compiled->reduce(x->at, s.offsets, s.count, out->at);
    return;
  }
  struct tree t = {.f = f, .s = s};
  go_up(&t, x, scratch);
  for (unsigned l = t.levels; l-- > 0;) fold_level(&t, l, out);
}

unsigned order_roots(const struct order_function *f, const struct order_columns *x, uint64_t n,
                     const struct order_columns *out, char *scratch) {
  if (f->compiled) return f->compiled->roots(x->at, n, out->at);
  const uint64_t offsets[] = {0, n};
  struct tree t = {.f = f, .s = {offsets, 1}};
  unsigned roots = 0;
  go_up(&t, x, scratch);
  for (unsigned l = t.levels; l-- > 0;) {
    if (n >> l & 1) copy_item(f, out, roots++, &t.level[l], (n >> l) - 1);
  }
  return roots;
}

/* Sets item 0 of out to f(item 0 of out, item i of x). */
static void order_tree_append(const struct order_function *f, const struct order_columns *out,
                              const struct order_columns *x, uint64_t i) {
  struct order_columns right;
  for (uint32_t c = 0; c < f->columns; c++) right.at[c] = x->at[c] + i * f->bytes[c];
  order_tree_combine(f, 1, out, &right, out);
}

void order_total(const struct order_function *f, const struct order_columns *x, uint64_t tiles,
                 unsigned roots, const struct order_columns *out, char *scratch) {
  const uint64_t whole = tiles / ORDER_TILE, rest = tiles % ORDER_TILE, offsets[] = {0, rest};
  struct order_columns last = *x;
  uint64_t room[SUPEROP_COLUMNS_MAX][ORDER_ROOTS];
  unsigned count = 0;
  /* the total is written before the place it was read from */
  for (uint64_t i = 0; i < whole; i++) {
    struct order_columns from, to;
    for (uint32_t c = 0; c < f->columns; c++) {
      from.at[c] = x->at[c] + i * ORDER_TILE * f->bytes[c];
      to.at[c] = x->at[c] + i * f->bytes[c];
    }
    order_roots(f, &from, ORDER_TILE, &to, scratch);
  }
  if (whole > 0) {
    struct order_columns rest_of = *x, to;
    for (uint32_t c = 0; c < f->columns; c++) {
      rest_of.at[c] += whole * ORDER_TILE * f->bytes[c];
      to.at[c] = (char *)room[c];
    }
    count = order_roots(f, &rest_of, rest, &to, scratch);
    order_total(f, x, whole, 0, out, scratch);
    for (unsigned i = 0; i < count; i++) order_tree_append(f, out, &to, i);
  } else if (rest > 0) {
    order_reduce(f, x, (struct order_segments){offsets, 1}, out, scratch);
  }
  for (uint32_t c = 0; c < f->columns; c++) last.at[c] += tiles * f->bytes[c];
  if (tiles == 0) copy_item(f, out, 0, &last, 0);
  for (unsigned i = tiles == 0; i < roots; i++) order_tree_append(f, out, &last, i);
}

/* ---- scans ---- */

/* Computes the prefixes of level l in `out`, from those of the level above. */
static void go_down(const struct tree *t, unsigned l, bool first,
                    const struct order_columns *above, const struct order_columns *out) {
  const struct order_function *f = t->f;
  uint64_t n = 0;
  for (uint32_t c = 0; c < f->columns; c++) {
    n = split_steps(f->bytes[c], t->level[l].at[c], above->at[c], t->s, l, t->left.at[c],
                    t->right.at[c]);
  }
  order_tree_combine(f, n, &t->left, &t->right, &t->left);
  for (uint32_t c = 0; c < f->columns; c++) {
    order_tree_merge(f->bytes[c], t->level[l].at[c], above->at[c], t->left.at[c], t->s, l,
                     first, out->at[c]);
  }
}

/* Copies the prefixes of each segment to the result: an exclusive scan omits the last one, an
 * inclusive scan the first one. */
static void order_tree_deliver(const struct tree *t, const struct order_columns *prefixes,
                               bool inclusive, bool first, const struct order_columns *out) {
  for (uint32_t c = 0; c < t->f->columns; c++) {
    const unsigned bytes = t->f->bytes[c];
    const uint64_t skipped = !inclusive && first; /* prefixes that are not defined */
    for (uint64_t k = 0; k < t->s.count; k++) {
      const uint64_t at = t->s.offsets[k], n = t->s.offsets[k + 1] - at;
      if (n <= skipped) continue;
      order_tree_copy(out->at[c], at + skipped, prefixes->at[c],
                      at - t->s.offsets[0] + k + inclusive + skipped, n - skipped, bytes);
    }
  }
}

void order_scan(const struct order_function *f, const struct order_columns *x,
                struct order_segments s, const struct order_columns *before, bool inclusive,
                const struct order_columns *out, char *scratch) {
  if (f->compiled) {
    f->compiled->scan(x->at, s.offsets, s.count, before ? before->at : NULL, inclusive,
                      out->at);
    return;
  }
  struct tree t = {.f = f, .s = s};
  go_up(&t, x, scratch);
  struct order_columns above = t.above, here = t.here;
  for (uint32_t c = 0; c < f->columns; c++) memset(above.at[c], 0, s.count * f->bytes[c]);
  if (before) copy_item(f, &above, 0, before, 0);
  for (unsigned l = t.levels; l-- > 0;) {
    go_down(&t, l, !before, &above, &here);
    const struct order_columns next = here;
    here = above;
    above = next;
  }
  order_tree_deliver(&t, &above, inclusive, !before, out);
}

/* ---- from tile to tile ---- */

static struct order_columns at_depth(const struct order_function *f,
                                     uint64_t room[SUPEROP_COLUMNS_MAX][64], unsigned depth) {
  struct order_columns columns = {{NULL}};
  for (uint32_t c = 0; c < f->columns; c++) columns.at[c] = (char *)&room[c][depth];
  return columns;
}

void order_before(const struct order_function *f, const struct order_state *state,
                  const struct order_columns *out) {
  const int depth = __builtin_popcountll(state->tiles) - 1;
  for (uint32_t c = 0; c < f->columns; c++) {
    order_tree_copy(out->at[c], 0, &state->until[c][depth], 0, 1, f->bytes[c]);
  }
}

void order_advance(const struct order_function *f, struct order_state *state,
                   const struct order_columns *total) {
  unsigned depth = (unsigned)__builtin_popcountll(state->tiles);
  struct order_columns here = at_depth(f, state->totals, depth);
  copy_item(f, &here, 0, total, 0);
  /* merges subtrees of the same size */
  for (uint64_t bits = state->tiles; bits & 1; bits >>= 1) {
    const struct order_columns left = at_depth(f, state->totals, --depth);
    order_tree_combine(f, 1, &left, &here, &left);
    here = left;
  }
  const struct order_columns until = at_depth(f, state->until, depth);
  copy_item(f, &until, 0, &here, 0);
  if (depth > 0) {
    const struct order_columns before = at_depth(f, state->until, depth - 1);
    order_tree_combine(f, 1, &before, &here, &until);
  }
  state->tiles++;
}
