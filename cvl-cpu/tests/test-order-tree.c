/* test-order-tree.c - the tree that keeps order, against the recursion of trees.h, word for
 * word. The function is neither commutative nor associative, so that another tree gives other
 * results. Its columns have all widths and depend on each other.
 */
#include "cvl-cpu/combine/order-tree.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 2500000 };

struct item {
  uint64_t a;
  uint32_t b;
  uint8_t c;
};

static struct item test_order_tree_combine(struct item l, struct item r) {
  return (struct item){l.a * 31 + r.a * 17 + r.b, l.b * 5 + r.b * 3 + r.c + (uint32_t)l.a,
                       (uint8_t)(l.c * 7 + r.c * 11 + 1)};
}

/* ---- the definition ---- */

static struct item order_tree_whole(const struct item *x, uint64_t p, unsigned k) {
  if (k == 0) return x[p];
  return test_order_tree_combine(order_tree_whole(x, p, k - 1),
                                 order_tree_whole(x, p + (UINT64_C(1) << (k - 1)), k - 1));
}

static struct item order_tree_prefix(const struct item *x, uint64_t i) {
  const unsigned k = (unsigned)__builtin_ctzll(i);
  const uint64_t before = i - (UINT64_C(1) << k);
  return before == 0 ? order_tree_whole(x, 0, k)
                     : test_order_tree_combine(order_tree_prefix(x, before),
                                               order_tree_whole(x, before, k));
}

/* Returns the prefix of i elements that begin at a multiple of a tile, behind `before`. */
static struct item prefix_behind(struct item before, const struct item *x, uint64_t i) {
  if (i == 0) return before;
  const unsigned k = (unsigned)__builtin_ctzll(i);
  const uint64_t rest = i - (UINT64_C(1) << k);
  return test_order_tree_combine(prefix_behind(before, x, rest), order_tree_whole(x, rest, k));
}

/* ---- the columns ---- */

static struct item order_tree_get(const struct order_columns *x, uint64_t i) {
  return (struct item){((const uint64_t *)(const void *)x->at[0])[i],
                       ((const uint32_t *)(const void *)x->at[1])[i],
                       ((const uint8_t *)x->at[2])[i]};
}

static void order_tree_set(const struct order_columns *x, uint64_t i, struct item v) {
  ((uint64_t *)(void *)x->at[0])[i] = v.a;
  ((uint32_t *)(void *)x->at[1])[i] = v.b;
  ((uint8_t *)x->at[2])[i] = v.c;
}

static void order_tree_apply(const struct order_function *f, uint64_t n,
                             const struct order_columns *left,
                             const struct order_columns *right,
                             const struct order_columns *out) {
  cr_assert_leq(n, ORDER_TILE);
  (void)f;
  for (uint64_t i = 0; i < n; i++)
    order_tree_set(out, i,
                   test_order_tree_combine(order_tree_get(left, i), order_tree_get(right, i)));
}

/* The function in the form of compiled functions. */
#define NAME(x)    tree_##x
#define COLUMNS(X) X(0, uint64_t) X(1, uint32_t) X(2, uint8_t)
#define INDEPENDENT
struct tree_item {
  uint64_t at0;
  uint32_t at1;
  uint8_t at2;
};
static struct tree_item tree_f(struct tree_item l, struct tree_item r) {
  const struct item v = test_order_tree_combine((struct item){l.at0, l.at1, l.at2},
                                                (struct item){r.at0, r.at1, r.at2});
  return (struct tree_item){v.a, v.b, v.c};
}
static void tree_apply(uint64_t, char *const *, char *const *, char *const *);
static void tree_reduce(char *const *, const uint64_t *, uint64_t, char *const *);
static unsigned tree_roots(char *const *, uint64_t, char *const *);
static void tree_scan(char *const *, const uint64_t *, uint64_t, char *const *, _Bool,
                      char *const *);
#include "fused-kernels/combine-tree.h"

static const struct order_compiled compiled = {tree_apply, tree_reduce, tree_roots, tree_scan};

static struct order_function function = {
    .columns = 3, .bytes = {8, 4, 1}, .apply = order_tree_apply};

static struct order_columns columns_new(uint64_t n) {
  struct order_columns x = {{NULL}};
  for (uint32_t c = 0; c < function.columns; c++) {
    x.at[c] = malloc(n * function.bytes[c] + 1);
    memset(x.at[c], 0xEE, n * function.bytes[c]);
  }
  return x;
}

static void columns_free(struct order_columns *x) {
  for (uint32_t c = 0; c < function.columns; c++) free(x->at[c]);
}

static bool order_tree_same(struct item x, struct item y) {
  return x.a == y.a && x.b == y.b && x.c == y.c;
}

static uint64_t seed = 1;
static uint64_t order_tree_next(void) {
  seed = seed * 6364136223846793005 + 1442695040888963407;
  return seed >> 33;
}

/* Makes n random items, also as columns. */
static struct item *order_tree_make(uint64_t n, struct order_columns *x) {
  struct item *items = malloc(n * sizeof *items + 1);
  *x = columns_new(n);
  for (uint64_t i = 0; i < n; i++) {
    items[i] = (struct item){order_tree_next(), (uint32_t)order_tree_next(),
                             (uint8_t)order_tree_next()};
    order_tree_set(x, i, items[i]);
  }
  return items;
}

static char *scratch_new(void) {
  return aligned_alloc(64, (order_scratch_bytes(&function) + 63) / 64 * 64);
}

/* ---- tiles ---- */

/* Makes segments of lengths from 0 to `most` until a tile is full. */
static uint64_t order_tree_cut(uint64_t most, uint64_t *offsets) {
  uint64_t count = 0;
  offsets[0] = 3; /* tiles need not begin at the columns' beginnings */
  while (count < ORDER_TILE) {
    const uint64_t n = order_tree_next() % (most + 1);
    if (offsets[count] - offsets[0] + n > ORDER_TILE) break;
    offsets[count + 1] = offsets[count] + n;
    count++;
  }
  return count;
}

static void try_tile(const uint64_t *offsets, uint64_t count) {
  struct order_columns x, out, sums = columns_new(count + 1);
  const uint64_t n = offsets[count];
  struct item *items = order_tree_make(n, &x);
  char *scratch = scratch_new();
  const struct order_segments s = {offsets, count};
  out = columns_new(n);
  order_reduce(&function, &x, s, &sums, scratch);
  for (int inclusive = 0; inclusive < 2; inclusive++) {
    order_scan(&function, &x, s, NULL, inclusive, &out, scratch);
    for (uint64_t k = 0; k < count; k++) {
      const uint64_t at = offsets[k], length = offsets[k + 1] - at;
      if (length > 0)
        cr_assert(
            order_tree_same(order_tree_get(&sums, k), order_tree_prefix(items + at, length)));
      for (uint64_t i = !inclusive; i < length; i++) {
        cr_assert(order_tree_same(order_tree_get(&out, at + i),
                                  order_tree_prefix(items + at, i + (uint64_t)inclusive)),
                  "%d: segment %ju of %ju, %ju of %ju", inclusive, k, count, i, length);
      }
    }
  }
  for (uint64_t i = 0; i < offsets[0]; i++) cr_assert_eq(order_tree_get(&out, i).c, 0xEE);
  columns_free(&x);
  columns_free(&out);
  columns_free(&sums);
  free(items);
  free(scratch);
}

/* Tries one segment, which continues one that began before. */
static void try_continued(uint64_t n) {
  const uint64_t offsets[] = {2, 2 + n};
  struct order_columns x, first;
  struct item *items = order_tree_make(2 + n, &x), *before = order_tree_make(1, &first);
  char *scratch = scratch_new();
  for (int inclusive = 0; inclusive < 2; inclusive++) {
    struct order_columns out = columns_new(2 + n + 1);
    order_scan(&function, &x, (struct order_segments){offsets, 1}, &first, inclusive, &out,
               scratch);
    const uint64_t checked =
        inclusive && n == ORDER_TILE ? n - 1 : n; /* combine/order-tree.h */
    for (uint64_t i = 0; i < checked; i++) {
      cr_assert(order_tree_same(order_tree_get(&out, 2 + i),
                                prefix_behind(*before, items + 2, i + (uint64_t)inclusive)));
    }
    cr_assert(order_tree_get(&out, 1).c == 0xEE && order_tree_get(&out, 2 + n).c == 0xEE);
    columns_free(&out);
  }
  columns_free(&x);
  columns_free(&first);
  free(items);
  free(before);
  free(scratch);
}

static void try_tiles(void) {
  const uint64_t most[] = {0, 1, 2, 3, 5, 8, 17, 100, 700};
  uint64_t offsets[ORDER_TILE + 1];
  for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
    for (int times = 0; times < 5; times++) try_tile(offsets, order_tree_cut(most[i], offsets));
  }
  for (uint64_t n = 0; n <= ORDER_TILE; n += n < 70 || n > ORDER_TILE - 5 ? 1 : 61) {
    try_tile((const uint64_t[]){0, n}, 1);
    try_continued(n);
  }
}

/* ---- long segments ---- */

static uint64_t summarise(const struct order_columns *x, uint64_t n, struct order_columns *out,
                          unsigned *roots, char *scratch) {
  const uint64_t tiles = n / ORDER_TILE;
  *out = columns_new(tiles + ORDER_ROOTS);
  for (uint64_t i = 0; i * ORDER_TILE < n; i++) {
    struct order_columns from, to;
    for (uint32_t c = 0; c < function.columns; c++) {
      from.at[c] = x->at[c] + i * ORDER_TILE * function.bytes[c];
      to.at[c] = out->at[c] + i * function.bytes[c];
    }
    const uint64_t length = i < tiles ? ORDER_TILE : n % ORDER_TILE;
    const unsigned made = order_roots(&function, &from, length, &to, scratch);
    cr_assert_eq(made, (unsigned)__builtin_popcountll(length));
  }
  *roots = (unsigned)__builtin_popcountll(n % ORDER_TILE);
  return tiles;
}

static void try_long_segments(void) {
  const uint64_t lengths[] = {
      1, 7, 1023, 1024, 1025, 2047, 5 * 1024 + 3, 1024 * 1024, 1024 * 1024 + 1, MOST};
  struct order_columns x, roots_of, out = columns_new(1);
  struct item *items = order_tree_make(MOST, &x);
  char *scratch = scratch_new();
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    unsigned roots;
    const uint64_t tiles = summarise(&x, lengths[i], &roots_of, &roots, scratch);
    order_total(&function, &roots_of, tiles, roots, &out, scratch);
    cr_assert(order_tree_same(order_tree_get(&out, 0), order_tree_prefix(items, lengths[i])),
              "%ju", lengths[i]);
    columns_free(&roots_of);
  }
  columns_free(&x);
  columns_free(&out);
  free(items);
  free(scratch);
}

static void try_tile_to_tile(void) {
  enum { TILES = 21 };
  const uint64_t n = TILES * ORDER_TILE + 500;
  struct order_columns x, out = columns_new(n), total = columns_new(ORDER_ROOTS),
                          before = columns_new(1);
  struct item *items = order_tree_make(n, &x);
  struct order_state state = {0};
  char *scratch = scratch_new();
  for (uint64_t p = 0; p < n; p += ORDER_TILE) {
    const uint64_t offsets[] = {p, n - p < ORDER_TILE ? n : p + ORDER_TILE};
    struct order_columns from = x;
    if (p > 0) order_before(&function, &state, &before);
    order_scan(&function, &x, (struct order_segments){offsets, 1}, p > 0 ? &before : NULL,
               false, &out, scratch);
    if (offsets[1] < p + ORDER_TILE) break;
    for (uint32_t c = 0; c < function.columns; c++) from.at[c] += p * function.bytes[c];
    order_roots(&function, &from, ORDER_TILE, &total, scratch);
    order_advance(&function, &state, &total);
  }
  for (uint64_t i = 1; i < n; i += i % ORDER_TILE < 3 ? 1 : 13) {
    cr_assert(order_tree_same(order_tree_get(&out, i), order_tree_prefix(items, i)),
              "position %ju", i);
  }
  columns_free(&x);
  columns_free(&out);
  columns_free(&total);
  columns_free(&before);
  free(items);
  free(scratch);
}

/* Runs a test with the function on arrays, and with the compiled one. */
static void order_tree_twice(void (*test)(void)) {
  function.compiled = NULL;
  test();
  function.compiled = &compiled;
  test();
}

Test(order_tree, tiles) {
  order_tree_twice(try_tiles);
}

Test(order_tree, long_segments) {
  order_tree_twice(try_long_segments);
}

Test(order_tree, from_tile_to_tile) {
  order_tree_twice(try_tile_to_tile);
}
