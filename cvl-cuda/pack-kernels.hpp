/* pack-kernels.hpp - the bodies of pack.cu: flags become words; elements and offsets move by
 * these. */
#ifndef RAVEL_CUDA_PACK_KERNELS_HPP
#define RAVEL_CUDA_PACK_KERNELS_HPP

#include "cvl-cuda/together.hpp"

namespace ravel {

/* 64 flags, and the number of set flags before them in the tile. */
struct alignas(16) pack_word {
  uint64_t bits;
  int64_t before;
};

enum { INDEX_THREADS = 256, INDEX_EACH = 8, PACK_TILE = INDEX_THREADS * 64 };

/* Returns the bits of eight flags, which are bytes 0 or 1 read as one number. */
HD inline uint8_t bits_of_bytes(uint64_t flags) {
  return (uint8_t)((flags * 0x0102040810204080u) >> 56);
}

/* One vector of flags; blocks from `first` on do its tiles. */
struct flags_to_index {
  operand<uint8_t> flags;
  ptr<const uint64_t> eights; /* the same memory; null: flags are computed */
  int64_t n, first;
  ptr<pack_word> words;
  ptr<uint64_t> tiles;

  HD uint64_t eight_flags(int64_t from) const {
    if (eights != nullptr && from + 8 <= n) return eights[from / 8];
    uint64_t x = 0;
    for (int k = 0; k < 8 && from + k < n; k++) x |= (uint64_t)flags[from + k] << 8 * k;
    return x;
  }
};

/* Makes the words of a tile of flags. Flags behind the last one are not set. A thread reads 8
 * flags at a time, next to its neighbours', and then makes one word. */
struct index_flags {
  enum { threads = INDEX_THREADS, most = 8 };
  struct shared {
    shared_array<uint8_t, threads * 8> bits;
    shared_array<uint32_t, threads / WARP> of_warp;
  };
  struct add {
    HD uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
  };
  int32_t count;
  flags_to_index list[most];

  template <class B> HD void operator()(B &block) const {
    int which = count - 1;
    while (block.index() < list[which].first) which--;
    tile_of(block, list[which], block.index() - list[which].first);
  }
  template <class B> HD void tile_of(B &block, const flags_to_index &x, int64_t tile) const {
    typename B::template reg<uint32_t> set, upto;
    typename B::template reg<uint64_t> word;
    const int64_t first = tile * PACK_TILE;
    block.each([&](int t) {
      uint64_t of[INDEX_EACH];
      if (x.eights != nullptr && first + PACK_TILE <= x.n) { /* no test for each flag */
        for (int r = 0; r < INDEX_EACH; r++) of[r] = x.eights[first / 8 + r * threads + t];
      } else {
        for (int r = 0; r < INDEX_EACH; r++)
          of[r] = x.eight_flags(first + (r * threads + t) * 8);
      }
      for (int r = 0; r < INDEX_EACH; r++)
        block.shared.bits[r * threads + t] = bits_of_bytes(of[r]);
    });
    block.each([&](int t) {
      word[t] = 0;
      for (int k = 0; k < 8; k++) word[t] |= (uint64_t)block.shared.bits[t * 8 + k] << 8 * k;
      set[t] = upto[t] = (uint32_t)count_bits(word[t]);
    });
    block.prefix(upto, WARP, add());
    block.each([&](int t) {
      if (t % WARP == WARP - 1) block.shared.of_warp[t / WARP] = upto[t];
    });
    block.each([&](int t) {
      uint32_t before = upto[t] - set[t];
      for (int w = 0; w < t / WARP; w++) before += block.shared.of_warp[w];
      x.words[tile * threads + t] = {word[t], (int64_t)before};
      if (t != threads - 1) return;
      x.tiles[tile] = before + set[t];
    });
  }
};

/* Returns an address that is computed once; the compiler would compute it again for each
 * element. */
template <class P> HD P as_one(P p) {
#if defined(__CUDA_ARCH__)
  asm("" : "+l"(p));
  __builtin_assume(__isGlobal(p));
#endif
  return p;
}

enum {
  KEEP_THREADS = COMPILED_CUDA_PACK_THREADS,
  KEEP_EACH = COMPILED_CUDA_PACK_EACH,
  KEEP_TILE = KEEP_THREADS * KEEP_EACH,
  KEEP_WORDS = KEEP_TILE / 64,
  KEEP_ROWS = KEEP_TILE / WARP,
  MOST_KEPT = 16,
  MOST_FLAGS = 4
};
static_assert((int)PACK_TILE % (int)KEEP_TILE == 0, "a tile's words are of one tile of flags");

/* One of the vectors that are packed; its elements are moved as bits. */
struct kept_vector {
  int32_t width, by; /* by: the number of its flags */
  bool to_the_end;   /* write also behind the last kept element: all is copied to the host */
  operand<uint64_t> from;
  ptr<uint64_t> to;
};

/* Flags as words, and what is made by them. Of the blocks from `first` on, the first `moves`
 * move vectors, and those after them make the new offsets. */
struct kept_flags {
  ptr<const pack_word> words;
  ptr<const int64_t> sums; /* of the tiles; or their prefixes, if there are many */
  int64_t n, tiles, moves, first;
  segments d;
  ptr<int64_t> offsets, total; /* null: not wanted */

  HD bool scanned() const { return tiles > KEEP_THREADS; }
  /* Returns the number of set flags of a word before flag i. */
  HD static int64_t below(const pack_word &w, int64_t i) {
    return count_bits(w.bits & (((uint64_t)1 << (i & 63)) - 1));
  }
};

/* A block moves a tile of each vector, in rounds of KEEP_TILE elements of up to 4 bytes, or
 * half as many of 8. The kept elements are gathered in shared memory and stored from there by
 * adjacent threads, so that all sectors except the first and the last are written whole. */
struct keep {
  enum { threads = KEEP_THREADS, resident = 4, OFFSETS = 4, LINE = 128 };
  struct shared {
    shared_array<int64_t, threads + 1> before; /* flags set before each tile */
    shared_array<int64_t, threads / WARP> of_warp;
    shared_array<int64_t, 1> start; /* position of the first element that the tile keeps */
    /* For each row of WARP elements: its flags, and how many elements the tile keeps before it.
     * The last entry has all. */
    shared_array<uint32_t, KEEP_ROWS> bits;
    shared_array<int32_t, KEEP_ROWS + 1> kept;
    shared_array<uint32_t, KEEP_TILE> staged; /* 8 bytes: lower halves, then upper */
  };
  struct add {
    HD int64_t operator()(int64_t a, int64_t b) const { return a + b; }
  };
  int32_t count, flags_count;
  kept_flags flags[MOST_FLAGS];
  kept_vector list[MOST_KEPT];

  template <class B> HD void operator()(B &block) const {
    int32_t which = flags_count - 1;
    while (block.index() < flags[which].first) which--;
    const kept_flags &f = flags[which];
    const int64_t b = block.index() - f.first;
    if (!f.scanned()) scan_tiles(block, f);
    if (b < f.moves) {
      move_tile(block, which, b);
    } else {
      block.each([&](int t) { put_offsets(block.shared, f, (b - f.moves) * KEEP_TILE + t); });
    }
  }
  template <class B> HD void scan_tiles(B &block, const kept_flags &f) const {
    typename B::template reg<int64_t> x;
    block.each([&](int t) { x[t] = t < f.tiles ? (int64_t)f.sums[t] : 0; });
    block.prefix(x, WARP, add());
    block.each([&](int t) {
      if (t % WARP == WARP - 1) block.shared.of_warp[t / WARP] = x[t];
    });
    block.each([&](int t) {
      int64_t here = x[t];
      for (int w = 0; w < t / WARP; w++) here += block.shared.of_warp[w];
      block.shared.before[t + 1] = here;
      if (t == 0) block.shared.before[0] = 0;
    });
  }

  HD static int64_t before(const shared &s, const kept_flags &f, int64_t tile) {
    return f.scanned() ? (int64_t)f.sums[tile] : (int64_t)s.before[tile];
  }

  template <class B> HD void move_tile(B &block, int32_t which, int64_t tile) const {
    const kept_flags &f = flags[which];
    block.each([&](int t) {
      load_word(block.shared, f, tile, t);
      if (tile == 0 && t == 0 && f.total != nullptr)
        put_number(f.total, before(block.shared, f, f.tiles));
    });
    for (int v = 0; v < count; v++) {
      if (list[v].by != which) continue;
      switch (list[v].width) {
      case 1: move_as<uint8_t>(block, list[v], tile); break;
      case 4: move_as<uint32_t>(block, list[v], tile); break;
      default: move_as<uint64_t>(block, list[v], tile); break;
      }
      if (!list[v].to_the_end) continue;
      block.each([&](int t) {
        clear(list[v], f.n, before(block.shared, f, f.tiles), tile * KEEP_TILE + t);
      });
    }
  }
  HD static void load_word(shared &s, const kept_flags &f, int64_t tile, int t) {
    if (t >= KEEP_WORDS) return;
    const int64_t word = tile * KEEP_WORDS;
    const int64_t first = f.words[word].before;
    const pack_word w = f.words[word + t];
    const uint32_t low = (uint32_t)w.bits, high = (uint32_t)(w.bits >> 32);
    const int32_t kept = (int32_t)(w.before - first);
    s.bits[2 * t] = low;
    s.bits[2 * t + 1] = high;
    s.kept[2 * t] = kept;
    s.kept[2 * t + 1] = kept + count_bits(low);
    if (t == KEEP_WORDS - 1) s.kept[KEEP_ROWS] = kept + count_bits(w.bits);
    if (t == 0) s.start[0] = before(s, f, tile * KEEP_TILE / PACK_TILE) + first;
  }

  template <class T, class B>
  HD static void move_as(B &block, const kept_vector &v, int64_t tile) {
    enum { EACH = KEEP_EACH / (sizeof(T) == 8 ? 2 : 1), ROWS = EACH * threads / WARP };
    const operand<T> x = retyped<T>(v.from);
    for (int32_t row = 0; row < KEEP_ROWS; row += ROWS) {
      block.each([&](int t) {
        const int32_t own = row + t / WARP * EACH; /* the warp's first row */
        compact<T, EACH>(block.shared, x, tile * KEEP_TILE, row, own, t % WARP);
      });
      block.each([&](int t) { store<T, ROWS>(block.shared, retyped<T>(v.to), row, t); });
    }
  }
  /* Stages what a thread keeps of EACH rows from `own` on. The round begins at `row`, the tile
   * at element `first`. */
  template <class T, int EACH>
  HD static void compact(shared &s, const operand<T> &x, int64_t first, int32_t row,
                         int32_t own, int lane) {
    const int64_t mine = first + own * WARP + lane;
    const int32_t base = s.kept[row];
    if (x.kind == FROM_MEMORY) {
      const ptr<const T> from = x.data + mine;
      compact_together<T, EACH>(s, base, own, lane, [&](int r) -> T { return from[r * WARP]; });
    } else if (progression<T>::exists && x.kind == PROGRESSION && x.under.count == 1) {
      const T begin = x.data == nullptr ? x.first : (T)x.data[0];
      const T step = x.steps == nullptr ? x.step : (T)x.steps[0];
      compact_together<T, EACH>(s, base, own, lane, [&](int r) -> T {
        return progression<T>::at(begin, mine + r * WARP, step);
      });
    } else { /* one at a time: computing an element takes long anyway */
      RAVEL_ROLLED
      for (int r = 0; r < EACH; r++) {
        if (s.bits[own + r] >> lane & 1)
          stage<T>(s, staged_at(s, base, own + r, lane), x[mine + r * WARP]);
      }
    }
  }
  template <class T, int EACH, class X>
  HD static void compact_together(shared &s, int32_t base, int32_t own, int lane, X element) {
    uint32_t keeps = 0; /* a bit for each row */
    T y[EACH];
    RAVEL_UNROLL
    for (int r = 0; r < EACH; r++) keeps |= ((uint32_t)s.bits[own + r] >> lane & 1) << r;
    RAVEL_UNROLL
    for (int r = 0; r < EACH; r++) y[r] = keeps >> r & 1 ? element(r) : (T)0;
    RAVEL_UNROLL
    for (int r = 0; r < EACH; r++) {
      if (keeps >> r & 1) stage<T>(s, staged_at(s, base, own + r, lane), y[r]);
    }
  }
  HD static int32_t staged_at(const shared &s, int32_t base, int32_t row, int lane) {
    return s.kept[row] - base + count_bits(s.bits[row] & (((uint32_t)1 << lane) - 1));
  }
  template <class T> HD static void stage(shared &s, int32_t at, T x) {
    s.staged[at] = (uint32_t)x;
    if constexpr (sizeof(T) == 8) s.staged[KEEP_TILE / 2 + at] = (uint32_t)(x >> 32);
  }
  template <class T> HD static T staged(const shared &s, int32_t at) {
    if constexpr (sizeof(T) == 8)
      return (T)s.staged[at] | (T)s.staged[KEEP_TILE / 2 + at] << 32;
    return (T)s.staged[at];
  }
  /* Stores a round of ROWS rows to memory; each warp stores a line at a time. */
  template <class T, int ROWS>
  HD static void store(const shared &s, ptr<T> to, int32_t row, int t) {
    const int32_t n = s.kept[row + ROWS] - s.kept[row];
    const ptr<T> out = as_one(to + (s.start[0] + s.kept[row]));
    const int32_t in_line = (int32_t)((uintptr_t)address(out) % LINE / sizeof(T));
    for (int32_t k = t - in_line; k < n; k += threads) {
      if (k >= 0) out[k] = staged<T>(s, k);
    }
  }
  /* Clears what is behind the kept elements of a small vector. This need not be fast. */
  HD void clear(const kept_vector &v, int64_t n, int64_t kept, int64_t first) const {
    for (int r = 0; r < KEEP_EACH; r++) {
      const int64_t i = first + r * threads;
      if (i < kept || i >= n) continue;
      if (v.width == 1) retyped<uint8_t>(v.to)[i] = 0;
      if (v.width == 4) retyped<uint32_t>(v.to)[i] = 0;
      if (v.width == 8) v.to[i] = 0;
    }
  }
  HD void put_offsets(const shared &s, const kept_flags &f, int64_t first) const {
    RAVEL_ROLLED
    for (int r = 0; r < KEEP_EACH; r += OFFSETS) some_offsets(s, f, first + r * threads);
  }
  HD void some_offsets(const shared &s, const kept_flags &f, int64_t first) const {
    const int64_t all = before(s, f, f.tiles);
    int64_t start[OFFSETS];
    pack_word w[OFFSETS];
    RAVEL_UNROLL
    for (int r = 0; r < OFFSETS; r++) {
      const int64_t k = first + r * threads;
      start[r] = f.d.start(k < f.d.count ? k : f.d.count);
    }
    RAVEL_UNROLL
    for (int r = 0; r < OFFSETS; r++)
      w[r] = f.words[(start[r] < f.n ? start[r] : f.n - 1) >> 6];
    RAVEL_UNROLL
    for (int r = 0; r < OFFSETS; r++) {
      const int64_t k = first + r * threads;
      const int64_t here =
          before(s, f, start[r] / PACK_TILE) + w[r].before + kept_flags::below(w[r], start[r]);
      if (k <= f.d.count) f.offsets[k] = start[r] < f.n ? here : all;
    }
  }
};

} // namespace ravel
#endif
