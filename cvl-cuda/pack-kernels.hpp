/* pack-kernels.hpp - the bodies of pack.cu: flags become words, and elements and offsets move
 * by these. */
#ifndef RAVEL_CUDA_PACK_KERNELS_HPP
#define RAVEL_CUDA_PACK_KERNELS_HPP

#include "cvl-cuda/together.hpp"

namespace ravel {

/* 64 flags, and the number of those set before them in the tile. */
struct alignas(16) pack_word {
  uint64_t bits;
  int64_t before;
};

enum { INDEX_THREADS = 256, INDEX_EACH = 8, PACK_TILE = INDEX_THREADS * 64 };

/* Flags seen as numbers of 8 bytes 0 or 1: the bits. */
HD inline uint8_t bits_of_bytes(uint64_t flags) {
  return (uint8_t)((flags * 0x0102040810204080u) >> 56);
}

/* One vector of flags; its tiles are done by the blocks from `first` on. */
struct flags_to_index {
  operand<uint8_t> flags;
  ptr<const uint64_t> eights; /* the same memory; null: they are computed */
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

/* Words of a tile of flags, also of those behind the last flag: there none is set. A thread
 * reads 8 flags at a time, next to its neighbours', and then makes one word. */
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
      if (x.eights != nullptr && first + PACK_TILE <= x.n) { /* without a test for each */
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

/* An address that is added up once: the compiler would do it anew for each element. */
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
  MOST_KEPT = 16,
  MOST_FLAGS = 4
};

/* One of the vectors that are packed; elements are moved as bits. */
struct kept_vector {
  int32_t width, by; /* by: the number of its flags */
  bool to_the_end;   /* write also behind the last kept element: all is copied to the host */
  operand<uint64_t> from;
  ptr<uint64_t> to;
};

/* Flags as words, and what is made by them: of vectors, in the first `moves` of the blocks from
 * `first` on, and in those after them the new offsets. */
struct kept_flags {
  ptr<const pack_word> words;
  ptr<const int64_t> sums; /* of the tiles; or their prefixes, if there are many */
  int64_t n, tiles, moves, first;
  segments d;
  ptr<int64_t> offsets, total; /* null: not wanted */

  HD bool scanned() const { return tiles > KEEP_THREADS; }
  /* Flags of a word that are set before flag i. */
  HD static int64_t below(const pack_word &w, int64_t i) {
    return count_bits(w.bits & (((uint64_t)1 << (i & 63)) - 1));
  }
};

struct keep {
  enum { threads = KEEP_THREADS, resident = 4, WORDS = KEEP_EACH * WARP / 64, OFFSETS = 4 };
  struct shared {
    shared_array<int64_t, threads + 1> before; /* flags set before each tile */
    shared_array<int64_t, threads / WARP> of_warp;
  };
  struct add {
    HD int64_t operator()(int64_t a, int64_t b) const { return a + b; }
  };
  /* Rows of WARP elements, of which a thread has one each: their flags, where the first kept
   * one goes from where the first of the tile goes, and the thread's bit. */
  struct rows {
    uint32_t bits[KEEP_EACH], own;
    int32_t before[KEEP_EACH];

    HD bool keep(int r) const { return (bits[r] & own) != 0; }
    HD int32_t to(int r) const { return before[r] + count_bits(bits[r] & (own - 1)); }
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
    block.each([&](int t) {
      if (b < f.moves) {
        move(block.shared, which, first_of(b, t), t % WARP);
      } else {
        put_offsets(block.shared, f, (b - f.moves) * KEEP_TILE + t);
      }
      if (b == 0 && t == 0 && f.total != nullptr)
        put_number(f.total, before(block.shared, f, f.tiles));
    });
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
  /* A warp moves adjacent elements, KEEP_EACH per thread, all flagged by the same few words. */
  HD static int64_t first_of(int64_t tile, int t) {
    return tile * KEEP_TILE + t / WARP * (KEEP_EACH * WARP);
  }
  HD static void load_rows(const kept_flags &f, int64_t first, int lane, rows &to) {
    pack_word w[WORDS];
    RAVEL_UNROLL
    for (int k = 0; k < WORDS; k++) w[k] = f.words[first / 64 + k];
    to.own = (uint32_t)1 << lane;
    RAVEL_UNROLL
    for (int k = 0; k < WORDS; k++) {
      to.bits[2 * k] = (uint32_t)w[k].bits;
      to.bits[2 * k + 1] = (uint32_t)(w[k].bits >> 32);
      to.before[2 * k] = (int32_t)w[k].before;
      to.before[2 * k + 1] = (int32_t)w[k].before + count_bits(to.bits[2 * k]);
    }
  }

  /* The words are read again for each vector: what is made of them takes too many registers to
   * be kept meanwhile. */
  HD void move(const shared &s, int32_t which, int64_t first, int lane) const {
    const kept_flags &f = flags[which];
    for (int v = 0; v < count; v++) {
      if (list[v].by != which) continue;
      const int64_t start = before(s, f, first / PACK_TILE);
      switch (list[v].width) {
      case 1: move_as<uint8_t>(list[v], f, start, first, lane); break;
      case 4: move_as<uint32_t>(list[v], f, start, first, lane); break;
      default: move_as<uint64_t>(list[v], f, start, first, lane); break;
      }
      if (list[v].to_the_end) clear(list[v], f.n, before(s, f, f.tiles), first + lane);
    }
  }
  template <class T>
  HD static void move_as(const kept_vector &v, const kept_flags &f, int64_t start,
                         int64_t first, int lane) {
    const operand<T> x = retyped<T>(v.from);
    const ptr<T> out = as_one(retyped<T>(v.to) + start);
    const int64_t mine = first + lane;
    if (x.kind == FROM_MEMORY) {
      const ptr<const T> from = x.data + mine;
      move_together<T>(f, first, lane, out, [&](int r) -> T { return from[r * WARP]; });
    } else if (progression<T>::exists && x.kind == PROGRESSION && x.under.count == 1) {
      const T begin = x.data == nullptr ? x.first : (T)x.data[0];
      const T step = x.steps == nullptr ? x.step : (T)x.steps[0];
      move_together<T>(f, first, lane, out, [&](int r) -> T {
        return progression<T>::at(begin, mine + r * WARP, step);
      });
    } else {
      move_computed(x, f, first, lane, out);
    }
  }
  template <class T, class X>
  HD static void move_together(const kept_flags &f, int64_t first, int lane, ptr<T> out,
                               X element) {
    rows m;
    load_rows(f, first, lane, m);
    T y[KEEP_EACH];
    int32_t to[KEEP_EACH];
    RAVEL_UNROLL
    for (int r = 0; r < KEEP_EACH; r++) y[r] = m.keep(r) ? element(r) : (T)0;
    RAVEL_UNROLL
    for (int r = 0; r < KEEP_EACH; r++) to[r] = m.to(r);
    RAVEL_UNROLL
    for (int r = 0; r < KEEP_EACH; r++) {
      if (m.keep(r)) out[to[r]] = y[r];
    }
  }
  /* One at a time: what an element is takes long anyway. */
  template <class T>
  HD static void move_computed(const operand<T> &x, const kept_flags &f, int64_t first,
                               int lane, ptr<T> out) {
    RAVEL_ROLLED
    for (int r = 0; r < KEEP_EACH; r++) {
      const int64_t i = first + r * WARP + lane;
      const pack_word w = f.words[i >> 6];
      if (w.bits >> (i & 63) & 1) out[w.before + kept_flags::below(w, i)] = x[i];
    }
  }
  /* Few elements (a small vector): need not be fast. */
  HD void clear(const kept_vector &v, int64_t n, int64_t kept, int64_t first) const {
    for (int r = 0; r < KEEP_EACH; r++) {
      const int64_t i = first + r * WARP;
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
