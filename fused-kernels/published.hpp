/* published.hpp - combinations of what stands before a tile of a sequence, in one pass: blocks
 * publish the totals of their tiles, and wait for those of tiles before theirs.
 *
 * The kernels of cvl-cuda include it, and the text of a superoperator's kernel that needs it
 * contains it behind prelude.hpp.
 */
#ifndef RAVEL_PUBLISHED_HPP
#define RAVEL_PUBLISHED_HPP

namespace ravel {

enum { PUBLISHED_BYTES = 16 }; /* of a total */

/* Levels of windows of 32, and how many totals the lowest of them have together: of a vector's
 * elements, in tiles of 2^bits. */
enum { LEVEL_BITS = 5 };
HD constexpr int published_levels(int bits) {
  return (63 - bits) / LEVEL_BITS;
}
HD inline int64_t published_count(int64_t elements, int bits, int levels) {
  int64_t all = 0;
  for (int l = 0; l < levels; l++) all += (elements >> (bits + l * LEVEL_BITS)) + 1;
  return all;
}

/* The totals of tiles of 2^TILE_BITS elements that are whole and have another one behind them;
 * of windows of 32 of those, and so on. What stands before a tile is then the combination of at
 * most 31 totals of each level, which are there as soon as the tiles before it have been added
 * up: no block waits for what stands before another one, as it would in Merrill and Garland's
 * look-back ("Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016), which combines
 * in an order that varies.
 *
 * Sequences may be segments of a vector: each has windows of its own. No two windows of a level
 * begin within the same 2^TILE_BITS * 32^level elements, counted from the first of all: since
 * each has as many, that is where its total is. A total is written once by each launch, by
 * one thread: the fence between value and mark, and the one behind a look that sees the mark,
 * are a release and an acquire pattern of the PTX ISA's memory model.
 *
 * What earlier launches published needs no clearing: theirs were other marks, and lesser ones.
 * Cells are alike for all types, so that no value lies where another type has its mark. All is
 * zero at first. */
template <class T, int TILE_BITS> struct published_totals {
  using value = T;
  struct total {
    T value;
    alignas(8) uint32_t mark;
  };
  static_assert(sizeof(total) == PUBLISHED_BYTES, "alike for all types");
  enum { LEVELS = published_levels(TILE_BITS) };

  total *totals; /* not `ptr`: that blocks access it at the same time is meant */
  int64_t elements;
  uint32_t mark; /* of the launch; not 0 */

  HD static int level_bits(int level) { return TILE_BITS + level * LEVEL_BITS; }
  HD static int64_t count(int64_t elements, int level = LEVELS) {
    return published_count(elements, TILE_BITS, level);
  }
  /* The number of a tile in its sequence, or of its window on a level. */
  HD static int64_t on_level(int64_t tile, int level) { return tile >> level * LEVEL_BITS; }
  HD total *of(int level, int64_t begin) const {
    return totals + (count(elements, level) + (begin >> level_bits(level)));
  }
  HD void publish(int level, int64_t begin, T x) const {
    total *const p = of(level, begin);
    stored(&p->value, x);
    fence();
    stored(&p->mark, mark);
  }
  HD T wait_for(int level, int64_t begin) const {
    const total *const p = of(level, begin);
    while (loaded(&p->mark) != mark) {
    }
    fence();
    return loaded(&p->value);
  }
};

/* The next number from 0, in the order in which blocks ask: the counter has the mark of the
 * launch above what it counts, which all launches before it left at less. */
HD inline int64_t next_number(ptr<uint64_t> counter, uint32_t mark) {
  const uint64_t first = (uint64_t)mark << 32;
  atomic_max(counter, first);
  return (int64_t)(atomic_add(counter, 1) - first);
}

/* For each of the first `lists` warps of a block what stands before the block's tile, in v of
 * its threads; in v of those of other warps what the last of these has. All have the same tile,
 * each its own totals, totals_of(warp). The tile is number `number` of the sequence that begins
 * at element `start`; `goes_on`: another one is behind it.
 *
 * Level by level: the totals before it in its window; with its own, which is total[warp], the
 * window's total, if it ends all windows below and there is another tile behind it. `earlier`
 * has room for LEVELS of each warp. */
template <class P, class C, class B, class V, class F, class TOTAL, class EARLIER>
HD void combine_before(B &block, int lists, int64_t start, int64_t number, bool goes_on,
                       C combine, F totals_of, TOTAL &total, EARLIER &earlier, V &v) {
  int level = 0;
  for (; P::on_level(number, level) > 0; level++) {
    const int bits = P::level_bits(level);
    const int64_t k = P::on_level(number, level), first = k / WARP * WARP;
    const int own = (int)(k - first);
    const bool ends = goes_on && P::on_level(number + 1, level) > k;
    block.each([&](int t) {
      const int list = t / WARP, lane = t % WARP;
      v[t] = C::pad();
      if (list >= lists) return;
      if (lane < own) v[t] = totals_of(list).wait_for(level, start + ((first + lane) << bits));
      if (lane == own && ends) v[t] = (typename P::value)total[list];
    });
    block.prefix(v, WARP, combine);
    block.each([&](int t) {
      const int list = t / WARP, lane = t % WARP;
      if (list >= lists) return;
      if (lane == own - 1) earlier[list * P::LEVELS + level] = v[t];
      if (lane != WARP - 1 || lane != own || !ends) return;
      total[list] = v[t];
      totals_of(list).publish(level + 1, start + (first << bits), v[t]);
    });
  }
  block.each([&](int t) {
    const int list = t / WARP < lists ? t / WARP : lists - 1;
    v[t] = C::pad();
    for (int l = level - 1; l >= 0; l--) {
      if (P::on_level(number, l) % WARP != 0)
        v[t] = combine(v[t], (typename P::value)earlier[list * P::LEVELS + l]);
    }
  });
}

} // namespace ravel
#endif
