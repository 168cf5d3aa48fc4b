/* packs.hpp - PACKs inside the kernel of a superoperator: each position is evaluated once, and
 * what is kept is written where it belongs, in one pass. Neither flags nor values that only
 * PACKs need are ever in memory.
 *
 * A block does a tile of positions, a thread EACH of them, and keeps their results in
 * registers. How many are kept before a tile, blocks publish: published.hpp. A
 * *list* is what PACKs by the same flags have in common: the count, and the new offsets.
 *
 * The text of a superoperator's kernel contains it, behind prelude.hpp, chunks.hpp and
 * published.hpp; hosts take the structs from it.
 */
#ifndef RAVEL_PACKS_HPP
#define RAVEL_PACKS_HPP

namespace ravel {

enum { PACKING_THREADS = 256, PACKING_WARPS = PACKING_THREADS / WARP };

struct sum_of_counts {
  HD int64_t operator()(int64_t a, int64_t b) const { return a + b; }
  HD static int64_t pad() { return 0; }
};

/* The positions of a tile, as a power of two. */
HD constexpr int packing_bits(int each) {
  return each == 1 ? 8 : each == 2 ? 9 : each == 4 ? 10 : 11;
}

/* One list. */
template <int TILE_BITS> struct packing {
  published_totals<int64_t, TILE_BITS> totals; /* not used if there is one tile */
  ptr<int64_t> offsets;                        /* of the result's segments; null: it is one */
  ptr<int64_t> total;                          /* how many are kept */
  int64_t clear; /* up to there results are zero behind what is kept: all is copied to hosts */
};

template <int LISTS, int EACH> struct packing_memory {
  enum {
    TILE_BITS = packing_bits(EACH),
    TILE = 1 << TILE_BITS,
    LEVELS = published_totals<int64_t, TILE_BITS>::LEVELS
  };
  shared_array<int64_t, 1> taken, segment;
  shared_array<int32_t, LISTS * PACKING_WARPS> of_warp; /* how many each keeps */
  shared_array<int64_t, LISTS> kept, total,
      before; /* in the tile; for combine_before; before */
  shared_array<int64_t, LISTS * LEVELS> earlier;
  shared_array<unsigned short, LISTS * TILE> rank; /* kept before each position of the tile */
};

/* Eight counts of up to 255, a byte each: bit k of `bits` is that in byte k. */
constexpr uint64_t ONE_EACH = 0x0101010101010101u;
HD inline uint64_t bytes_of_bits(uint32_t bits) {
  return ((uint64_t)(bits & 0x7f) * 0x0002040810204081u & ONE_EACH) | (uint64_t)(bits >> 7 & 1)
                                                                          << 56;
}
struct sum_of_bytes {
  HD uint64_t operator()(uint64_t a, uint64_t b) const { return a + b; }
};
/* The sum of all eight, which may be 256. */
HD inline int32_t sum_of_all(uint64_t x) {
  const uint64_t even = 0x00ff00ff00ff00ffu;
  return (int32_t)(((x & even) + (x >> 8 & even)) * 0x0001000100010001u >> 48);
}

/* The kernel. F, the generated struct, has
 *
 *     enum { threads = PACKING_THREADS, EACH, LISTS };  struct results;
 *     at(i), put(i, results)        as kernels of maps
 *     flags(results)                a bit for each list
 *     keep(results, bits, to)       writes values of the lists whose bits are set, to[list]
 *     clear(list, i)                writes zeros instead of values of a list
 *     by(list)                      its `packing`; under(): the descriptor
 *     next                          of the tiles taken (next_number); null: there is one tile
 *     n                             the number of positions, at least 1
 *
 * Position k of thread t is the one at `k * WARP` behind its first: a warp has EACH rows of
 * adjacent positions, and all counts of its rows find room in the bytes of one number. */
template <class F, class B> struct packing_tile {
  using memory = packing_memory<F::LISTS, F::EACH>;
  struct thread {
    typename F::results r[F::EACH];
    uint32_t bits[F::EACH];    /* the lists that keep the position */
    uint64_t before[F::LISTS]; /* kept by the warp before each position, a byte each */
  };

  const F &f;
  B &block;
  typename B::template reg<thread> own;

  /* The first position of a thread in its tile. */
  HD static int32_t own_first(int t) { return t / WARP * (WARP * F::EACH) + t % WARP; }

  HD int64_t take() {
    if (f.next == nullptr) return 0; /* there is no other */
    auto &m = block.shared;
    typename B::template reg<int64_t> mine;
    block.each([&](int t) {
      if (t == 0) m.taken[0] = next_number(f.next, f.by(0).totals.mark);
    });
    block.each([&](int t) { mine[t] = m.taken[0]; });
    return block.uniform(mine);
  }

  /* A thread behind the end evaluates the last position once more, so that loads need no test.
   */
  HD void evaluate(int64_t first) {
    block.each([&](int t) {
      thread &x = own[t];
      const int64_t i = first + own_first(t);
      RAVEL_UNROLL
      for (int k = 0; k < F::EACH; k++)
        x.r[k] = f.at(i + k * WARP < f.n ? i + k * WARP : f.n - 1);
      RAVEL_UNROLL
      for (int k = 0; k < F::EACH; k++) {
        x.bits[k] = i + k * WARP < f.n ? f.flags(x.r[k]) : 0;
        if (i + k * WARP < f.n) f.put(i + k * WARP, x.r[k]);
      }
    });
  }

  /* Counts for each list what a warp keeps before each of its positions, and in all. */
  HD void count() {
    auto &m = block.shared;
    typename B::template reg<uint64_t> upto[F::LISTS], rows[F::LISTS];
    block.each([&](int t) {
      RAVEL_UNROLL
      for (int l = 0; l < F::LISTS; l++) {
        uint32_t bits = 0;
        RAVEL_UNROLL
        for (int k = 0; k < F::EACH; k++) bits |= (own[t].bits[k] >> l & 1) << k;
        upto[l][t] = own[t].before[l] = bytes_of_bits(bits);
      }
    });
    RAVEL_UNROLL
    for (int l = 0; l < F::LISTS; l++) {
      block.prefix(upto[l], WARP, sum_of_bytes());
      block.broadcast(rows[l], upto[l], WARP - 1);
    }
    block.each([&](int t) {
      RAVEL_UNROLL
      for (int l = 0; l < F::LISTS; l++) {
        /* The product has in byte k the sum of the rows before row k. */
        own[t].before[l] = upto[l][t] - own[t].before[l] + (rows[l][t] << 8) * ONE_EACH;
        if (t % WARP == 0) m.of_warp[l * PACKING_WARPS + t / WARP] = sum_of_all(rows[l][t]);
      }
    });
  }

  /* How many the warps before a thread's keep, and all. */
  HD int32_t kept_before(int list, int warps) const {
    int32_t sum = 0;
    for (int w = 0; w < warps; w++) sum += block.shared.of_warp[list * PACKING_WARPS + w];
    return sum;
  }

  HD void find_before(int64_t tile, bool goes_on) {
    auto &m = block.shared;
    typename B::template reg<int64_t> v;
    block.each([&](int t) {
      const int list = t / WARP;
      if (t % WARP != 0 || list >= F::LISTS) return;
      m.kept[list] = m.total[list] = kept_before(list, PACKING_WARPS);
      if (goes_on)
        f.by(list).totals.publish(0, tile << memory::TILE_BITS, (int64_t)m.kept[list]);
    });
    combine_before<published_totals<int64_t, memory::TILE_BITS>, sum_of_counts>(
        block, F::LISTS, 0, tile, goes_on, sum_of_counts(),
        [&](int list) { return f.by(list).totals; }, m.total, m.earlier, v);
    block.each([&](int t) {
      if (t % WARP == 0 && t / WARP < F::LISTS) m.before[t / WARP] = v[t];
    });
  }

  /* Writes what is kept; and where offsets are wanted the ranks of positions. */
  HD void move() {
    auto &m = block.shared;
    block.each([&](int t) {
      int32_t warps[F::LISTS];
      int64_t to[F::LISTS];
      RAVEL_UNROLL
      for (int l = 0; l < F::LISTS; l++) warps[l] = kept_before(l, t / WARP);
      RAVEL_UNROLL
      for (int k = 0; k < F::EACH; k++) {
        RAVEL_UNROLL
        for (int l = 0; l < F::LISTS; l++) {
          const int32_t rank = warps[l] + (int32_t)(own[t].before[l] >> 8 * k & 0xff);
          to[l] = (int64_t)m.before[l] + rank;
          if (f.by(l).offsets != nullptr)
            m.rank[l * memory::TILE + own_first(t) + k * WARP] = (unsigned short)rank;
        }
        f.keep(own[t].r[k], own[t].bits[k], to);
      }
    });
  }

  /* The first segment that begins at element `first` or behind it. */
  HD int64_t segment_from(int64_t first) {
    auto &m = block.shared;
    const segments &d = f.under();
    if (d.equal > 0) return (first + d.equal - 1) / d.equal;
    typename B::template reg<int64_t> low, high;
    block.each([&](int t) {
      low[t] = 0;
      high[t] = t < WARP ? d.count : 0;
    });
    search_by_warps(block, low, high, d.count,
                    [&](int, int64_t s) { return d.start(s) < first; });
    block.each([&](int t) {
      if (t == 0) m.segment[0] = low[t];
    });
    block.each([&](int t) { low[t] = m.segment[0]; });
    return block.uniform(low);
  }

  /* The new offsets of segments that begin in the tile; in the last one all that are left. */
  HD void put_offsets(int64_t first, bool goes_on) {
    auto &m = block.shared;
    const segments &d = f.under();
    bool any = false;
    for (int l = 0; l < F::LISTS; l++) any = any || f.by(l).offsets != nullptr;
    if (!any) return;
    const int64_t from = segment_from(first);
    block.each([&](int t) {
      for (int64_t s = from + t; s <= d.count; s += F::threads) {
        const int64_t at = d.start(s) - first;
        if (at >= memory::TILE && goes_on) return;
        for (int l = 0; l < F::LISTS; l++) {
          if (f.by(l).offsets == nullptr) continue;
          const bool inside = at < memory::TILE && first + at < f.n;
          const int64_t rank =
              inside ? (int64_t)m.rank[l * memory::TILE + at] : (int64_t)m.kept[l];
          f.by(l).offsets[s] = (int64_t)m.before[l] + rank;
        }
      }
    });
  }

  /* Stores the number of all kept elements, which only the last tile knows. */
  HD void finish() {
    auto &m = block.shared;
    block.each([&](int t) {
      for (int l = 0; l < F::LISTS; l++) {
        const int64_t all = (int64_t)m.before[l] + (int64_t)m.kept[l];
        if (t == 0 && f.by(l).total != nullptr) put_number(f.by(l).total, all);
        for (int64_t i = all + t; i < f.by(l).clear; i += F::threads) f.clear(l, i);
      }
    });
  }

  HD void all() {
    const int64_t tile = take(), first = tile << memory::TILE_BITS;
    const bool goes_on = first + memory::TILE < f.n;
    evaluate(first);
    count();
    find_before(tile, goes_on);
    move();
    put_offsets(first, goes_on);
    if (!goes_on) finish();
  }
};

} // namespace ravel
#endif
