/* fused-scan.c - scans by user-defined functions. A range first computes the totals of the
 * tiles of its long segments. Then it takes its turn at the state that is handed from range to
 * range. Last, it scans its elements tile by tile.
 */
#include "cvl-cpu/combine/combinations.h"
#include "cvl-cpu/combine/fused.h"

/* Memory for one item. */
struct item_room {
  uint64_t column[SUPEROP_COLUMNS_MAX];
};
static struct order_columns combine_item_in(struct item_room *room) {
  struct order_columns item;
  for (uint32_t j = 0; j < SUPEROP_COLUMNS_MAX; j++) item.at[j] = (char *)&room->column[j];
  return item;
}

/* Returns where the totals of a range's tiles are. They are later replaced by what precedes
 * each tile; one more item follows, which is what precedes the next tile of the segment. */
static struct order_columns fused_scan_tiles_of(const struct combine_worker *w, uint32_t i,
                                                int number) {
  return combine_item(&w->k->combinations[i], &w->tiles[i],
                      (uint64_t)number * combine_scan_items(w->k));
}

static bool is_scan(const struct combine_worker *w, uint32_t i) {
  return w->k->combinations[i].role == ROLE_COMBINE_SCAN;
}

/* Whether the items that precede the tiles are given. Then there is only one segment. */
static bool fused_scan_is_given(const struct fused_combination *c) {
  return c->given.at[0] != NULL;
}

void fused_combine_totals(struct combine_worker *w, const struct segment_range *range,
                          int number) {
  for (uint32_t i = 0; i < w->k->combination_count; i++) {
    const struct order_columns tiles = fused_scan_tiles_of(w, i, number);
    const struct fused_combination *c = &w->k->combinations[i];
    if (!is_scan(w, i) || fused_scan_is_given(c)) continue;
    for (uint64_t p = range->begin; p + ORDER_TILE <= range->end; p += ORDER_TILE) {
      const struct order_columns x = combine_columns(w, c, p),
                                 to = combine_item(c, &tiles, (p - range->begin) / ORDER_TILE);
      order_roots(&w->functions[i].call, &x, ORDER_TILE, &to, w->order_scratch);
    }
  }
}

/* Sets item i to the combination of everything before the next tile. Writes nothing if that
 * tile is the first. */
static void put_before(const struct combine_worker *w, uint32_t number,
                       const struct order_columns *tiles, uint64_t i) {
  const struct fused_combination *c = &w->k->combinations[number];
  const struct order_columns to = combine_item(c, tiles, i);
  if (c->state->tiles > 0) order_before(&w->functions[number].call, c->state, &to);
}

static void take_given(const struct fused_combination *c, const struct segment_range *range,
                       const struct order_columns *tiles) {
  const uint64_t whole = (range->end - range->begin) / ORDER_TILE;
  const struct order_columns from = combine_item(c, &c->given, range->begin / ORDER_TILE);
  for (uint32_t j = 0; j < c->columns; j++)
    memcpy(tiles->at[j], from.at[j], (whole + 1) * c->bytes[j]);
}

static void fused_scan_advance(const struct combine_worker *w, uint32_t i,
                               const struct segment_range *range,
                               const struct order_columns *tiles) {
  const struct fused_combination *c = &w->k->combinations[i];
  const uint64_t whole = (range->end - range->begin) / ORDER_TILE;
  if (range->from_start) c->state->tiles = 0;
  for (uint64_t t = 0; t < whole; t++) {
    struct item_room room;
    const struct order_columns here = combine_item(c, tiles, t), total = combine_item_in(&room);
    for (uint32_t j = 0; j < c->columns; j++) memcpy(total.at[j], here.at[j], c->bytes[j]);
    put_before(w, i, tiles, t);
    order_advance(&w->functions[i].call, c->state, &total);
  }
  put_before(w, i, tiles, whole);
}

void fused_combine_advance(struct combine_worker *w, const struct segment_range *range,
                           int number) {
  if (range->begin == range->end) return;
  for (uint32_t i = 0; i < w->k->combination_count; i++) {
    const struct order_columns tiles = fused_scan_tiles_of(w, i, number);
    if (!is_scan(w, i)) continue;
    if (fused_scan_is_given(&w->k->combinations[i])) {
      take_given(&w->k->combinations[i], range, &tiles);
    } else {
      fused_scan_advance(w, i, range, &tiles);
    }
  }
}

/* Scans the tile at position p. `before` is the item that precedes the tile, or NULL. `after`
 * is the item that precedes the next tile; only a whole tile needs it. */
static void scan_tile(struct combine_worker *w, uint32_t i, uint64_t p, uint64_t n,
                      const struct order_columns *before, const struct order_columns *after) {
  const struct fused_combination *c = &w->k->combinations[i];
  const uint64_t offsets[] = {0, n};
  const struct order_columns x = combine_columns(w, c, p), out = combine_item(c, &c->out, p);
  order_scan(&w->functions[i].call, &x, (struct order_segments){offsets, 1}, before,
             c->inclusive, &out, w->order_scratch);
  for (uint32_t j = 0; j < c->columns && n == ORDER_TILE && c->inclusive; j++) {
    memcpy(out.at[j] + (n - 1) * c->bytes[j], after->at[j], c->bytes[j]);
  }
}

void fused_combine_write(struct combine_worker *w, const struct segment_range *range,
                         uint64_t segment, int number) {
  for (uint32_t i = 0; i < w->k->combination_count && range->begin < range->end; i++) {
    const struct order_columns tiles = fused_scan_tiles_of(w, i, number);
    const struct fused_combination *c = &w->k->combinations[i];
    for (uint64_t p = range->begin; is_scan(w, i) && p < range->end; p += ORDER_TILE) {
      const uint64_t n = range->end - p < ORDER_TILE ? range->end - p : ORDER_TILE;
      const uint64_t tile = (p - range->begin) / ORDER_TILE;
      const struct order_columns before = combine_item(c, &tiles, tile),
                                 after = combine_item(c, &tiles, tile + 1);
      const bool first = range->from_start && p == range->begin && !fused_scan_is_given(c);
      scan_tile(w, i, p, n, first ? NULL : &before, &after);
      if (first && !c->inclusive) combine_put_identity(c, p, segment);
    }
  }
}

/* Scans a whole segment that is longer than a tile. */
static void scan_segment(struct combine_worker *w, uint32_t i, uint64_t low, uint64_t high) {
  const struct fused_combination *c = &w->k->combinations[i];
  const struct order_function *f = &w->functions[i].call;
  struct item_room rooms[3];
  const struct order_columns total = combine_item_in(&rooms[0]);
  struct order_columns before = combine_item_in(&rooms[1]), after = combine_item_in(&rooms[2]);
  struct order_state state;
  state.tiles = 0;
  for (uint64_t p = low; p < high; p += ORDER_TILE) {
    const struct order_columns x = combine_columns(w, c, p);
    const uint64_t n = high - p < ORDER_TILE ? high - p : ORDER_TILE;
    if (n == ORDER_TILE) {
      order_roots(f, &x, n, &total, w->order_scratch);
      order_advance(f, &state, &total);
      order_before(f, &state, &after);
    }
    scan_tile(w, i, p, n, p > low ? &before : NULL, &after);
    const struct order_columns next = after;
    after = before;
    before = next;
  }
}

/* Scans the only segment, which continues one that began elsewhere. */
static void scan_given(struct combine_worker *w, uint32_t i, uint64_t n) {
  const struct fused_combination *c = &w->k->combinations[i];
  for (uint64_t p = 0; p < n; p += ORDER_TILE) {
    const struct order_columns before = combine_item(c, &c->given, p / ORDER_TILE),
                               after = combine_item(c, &c->given, p / ORDER_TILE + 1);
    scan_tile(w, i, p, n - p < ORDER_TILE ? n - p : ORDER_TILE, &before, &after);
  }
}

/* Scans `many` whole segments that together fit a tile. The first begins at position p. */
static void scan_group(struct combine_worker *w, uint32_t i, uint64_t p,
                       const uint64_t *offsets, uint64_t many) {
  const struct fused_combination *c = &w->k->combinations[i];
  const struct order_columns x = combine_columns(w, c, p), out = combine_item(c, &c->out, p);
  order_scan(&w->functions[i].call, &x, (struct order_segments){offsets, many}, NULL,
             c->inclusive, &out, w->order_scratch);
}

/* Writes the identity as the first result of each segment that is not empty. Segment `first`
 * begins at position p. */
static void put_identities(const struct fused_combination *c, uint64_t first, uint64_t p,
                           const uint64_t *offsets, uint64_t many) {
  for (uint64_t k = 0; k < many; k++) {
    if (offsets[k] < offsets[k + 1]) combine_put_identity(c, p + offsets[k], first + k);
  }
}

void fused_combine_scan(struct combine_worker *w, uint64_t first, uint64_t last) {
  const struct segments *s = &w->k->run.segments;
  uint64_t offsets[ORDER_TILE + 1];
  while (first < last && w->k->scans_by) {
    const uint64_t p = segment_start(s, first);
    uint64_t many = 0;
    offsets[0] = 0;
    while (first + many < last && many < ORDER_TILE &&
           segment_start(s, first + many + 1) - p <= ORDER_TILE) {
      many++;
      offsets[many] = segment_start(s, first + many) - p;
    }
    const uint64_t taken = many > 0 ? many : 1;
    for (uint32_t i = 0; i < w->k->combination_count; i++) {
      const struct fused_combination *c = &w->k->combinations[i];
      if (!is_scan(w, i)) continue;
      if (fused_scan_is_given(c)) {
        scan_given(w, i, segment_start(s, first + 1));
      } else if (many > 0) {
        scan_group(w, i, p, offsets, many);
        if (!c->inclusive) put_identities(c, first, p, offsets, many);
      } else {
        scan_segment(w, i, p, segment_start(s, first + 1));
        if (!c->inclusive && segment_start(s, first + 1) > p) combine_put_identity(c, p, first);
      }
    }
    first += taken;
  }
}
