/* scan-kernels.hpp - the kernels of scans, in the tree of cvl.h.
 *
 * A thread scans a window of 8 elements, a warp a window of 32 of those (a *row* of 256), a
 * block a window of 32 rows (a *chunk* of 8192). Above, the tree has windows of 32 chunks.
 *
 *   scan_pass, the first    scans segments of up to a chunk; for the chunks of longer ones, the
 *                           prefixes of their rows and their totals
 *   upper_levels            replaces the totals by the prefix before each chunk
 *   scan_pass, the last     scans the chunks of longer segments, with these prefixes
 *
 * Adjacent threads read and write adjacent elements (coalesced), and exchange them in shared
 * memory, so that each thread gets the window that it scans.
 */
#ifndef RAVEL_CUDA_SCAN_KERNELS_HPP
#define RAVEL_CUDA_SCAN_KERNELS_HPP

#include "cvl-cuda/combine.hpp"
#include "cvl-cuda/tree.hpp"

namespace ravel {

constexpr int SCAN_ROW = CVL_SCAN_ROW, ROW_BITS = 8, CHUNK_BITS = 13;
constexpr int ROW_LENGTH = 1 << ROW_BITS;
constexpr int64_t CHUNK = (int64_t)1 << CHUNK_BITS;
static_assert(SCAN_ROW == 8 && (int)CVL_SCAN_WINDOW == (int)WARP &&
                  ROW_LENGTH == SCAN_ROW * WARP && CHUNK == ROW_LENGTH * WARP,
              "the tree of cvl.h");

/* The window of a thread. */
template <class T> struct eight { T v[SCAN_ROW]; };

/* Inclusive prefixes within a window of 8. */
template <class C, class T> HD void prefix_of_eight(eight<T> &a) {
  RAVEL_UNROLL
  for (int s = 1; s < SCAN_ROW; s *= 2) {
    RAVEL_UNROLL
    for (int j = SCAN_ROW - 1; j >= s; j--) a.v[j] = C{}(a.v[j - s], a.v[j]);
  }
}

/* From inclusive to exclusive prefixes. */
template <class C, class T> HD void exclude(eight<T> &a, T before) {
  RAVEL_UNROLL
  for (int j = SCAN_ROW - 1; j > 0; j--) a.v[j] = C{}(before, a.v[j - 1]);
  a.v[0] = before;
}

/* ---- rows ---- */

enum { SCAN_THREADS = COMPILED_CUDA_SCAN_THREADS };

template <class T> struct row_memory {
  static constexpr int WARPS = SCAN_THREADS / WARP;
  /* Padding of one element after each 128 bytes avoids bank conflicts between threads that read
   * eight consecutive elements each. */
  static constexpr int BANKS = 128 / (int)sizeof(T);
  static constexpr int CAPACITY = SCAN_THREADS * SCAN_ROW;

  shared_array<T, CAPACITY + CAPACITY / BANKS> elements;
  shared_array<T, WARP> of_row; /* of the rows of a chunk */

  HD static int padded(int i) { return i + i / BANKS; }
};

/* A row for each warp of a block, in registers. */
template <class C, class B> struct rows {
  using T = typename C::type;
  using memory = row_memory<T>;

  B &block;
  memory &m;
  const operand<T> &x;
  typename B::template reg<eight<T>> a;
  typename B::template reg<T> window;

  /* Warp w has row first + w: of_thread is the first element that thread t loads, counted from
   * row 0; own is where its row begins in shared memory. */
  HD static int32_t of_thread(int32_t first, int t) {
    return (first + t / WARP) * ROW_LENGTH + t % WARP;
  }
  HD static int own(int t) { return t / WARP * ROW_LENGTH; }

  /* Loads rows; then inclusive prefixes of elements in windows and of windows in rows. */
  HD void up(int64_t begin, int32_t n, int32_t first) {
    block.each([&](int t) {
      const int32_t k = of_thread(first, t);
      if (x.kind == FROM_MEMORY) {
        const ptr<const T> from = x.data + (begin + k);
        T v[SCAN_ROW];
        RAVEL_UNROLL
        for (int q = 0; q < SCAN_ROW; q++)
          v[q] = k + q * WARP < n ? (T)from[q * WARP] : C::pad();
        RAVEL_UNROLL
        for (int q = 0; q < SCAN_ROW; q++)
          m.elements[memory::padded(own(t) + t % WARP + q * WARP)] = v[q];
      } else {
        RAVEL_ROLLED
        for (int q = 0; q < SCAN_ROW; q++) {
          m.elements[memory::padded(own(t) + t % WARP + q * WARP)] =
              k + q * WARP < n ? x[begin + k + q * WARP] : C::pad();
        }
      }
    });
    block.each([&](int t) {
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++)
        a[t].v[q] = m.elements[memory::padded(own(t) + t % WARP * SCAN_ROW + q)];
      prefix_of_eight<C>(a[t]);
      window[t] = a[t].v[SCAN_ROW - 1];
    });
    block.prefix(window, WARP, C{});
  }

  /* After `up` and with the prefixes of rows: stores the exclusive prefix of each element.
   * `before`: the prefix before row 0, which starts a segment if `at_start`. */
  HD void down(int64_t begin, int32_t n, int32_t first, T before, bool at_start, ptr<T> out) {
    block.shift_up(window, window, 1);
    block.each([&](int t) {
      const int32_t row = first + t / WARP;
      T so_far = row == 0 ? before : C{}(before, (T)m.of_row[row - 1]);
      if (t % WARP != 0) so_far = C{}(so_far, window[t]);
      exclude<C>(a[t], so_far);
      if (at_start && row == 0 && t == 0) a[t].v[0] = C::identity();
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++)
        m.elements[memory::padded(own(t) + t % WARP * SCAN_ROW + q)] = a[t].v[q];
    });
    block.each([&](int t) {
      const int32_t k = of_thread(first, t);
      const ptr<T> to = out + (begin + k);
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++) {
        if (k + q * WARP < n)
          to[q * WARP] = m.elements[memory::padded(own(t) + t % WARP + q * WARP)];
      }
    });
  }

  /* Inclusive prefixes of the rows of a chunk: of its n elements the totals of rows. */
  HD void up_all(int64_t begin, int32_t n) {
    block.each([&](int t) {
      if (t < WARP) m.of_row[t] = C::pad();
    });
    for (int32_t first = 0; first * ROW_LENGTH < n; first += memory::WARPS) {
      up(begin, n, first);
      block.each([&](int t) {
        if (t % WARP == WARP - 1) m.of_row[first + t / WARP] = window[t];
      });
    }
    typename B::template reg<T> row;
    block.each([&](int t) { row[t] = m.of_row[t % WARP]; });
    block.prefix(row, WARP, C{});
    block.each([&](int t) {
      if (t < WARP) m.of_row[t] = row[t];
    });
  }
};

/* ---- segments that end within a chunk, and chunks of others ---- */

/* Segments of up to a row are done together, by a thread for each window: windows have slots
 * of 8 elements, and a block has all slots of the segments whose first slot is among its own;
 * so much of a segment may stand after them. The segments of more than a row that begin there
 * are done one after another by the whole block: they are few, as slots are many for them.
 * Blocks beyond these do a chunk of a longer segment each. */
template <class C> struct scan_pass {
  using wide_product = combination<int64_t, OP_MUL>;
  using T = typename C::type;
  /* Two blocks leave a thread 64 registers: too few for products of 64-bit integers. */
  enum { threads = SCAN_THREADS, resident = std::is_same<C, wide_product>::value ? 1 : 2 };
  static constexpr int WARPS = threads / WARP, SLOT_BITS = 3;
  static constexpr int SLOTS = threads - ROW_LENGTH / SCAN_ROW; /* of a block */

  struct shared {
    row_memory<T> m;
    shared_array<T, threads> of_window;
    shared_array<int32_t, threads> start, length, slot; /* of segments, from the first */
    shared_array<int32_t, WARPS> longer, of_warp;
    shared_array<int32_t, 1> found;
  };

  segments d;
  operand<T> x;
  ptr<T> out;
  int64_t short_blocks;
  int32_t longest; /* segments; more than a row counts as that */
  bool last;       /* pass */
  chunks longer;
  ptr<T> of_rows, of_chunks; /* of longer segments, in their slots */

  HD int64_t slot(const chunk &at) const {
    return slot_of(d, at.segment, CHUNK_BITS) + at.number;
  }
  HD int64_t row_slot(const chunk &at) const {
    return slot_of(d, at.segment, ROW_BITS) + (at.number << (CHUNK_BITS - ROW_BITS));
  }
  /* The first segment whose first slot is `slot` or a later one. */
  HD int64_t segment_from(int64_t slot) const {
    const int64_t earlier = slot - (d.total >> SLOT_BITS);
    int64_t low = earlier > 0 ? earlier : 0, high = slot < d.count ? slot : d.count;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (slot_of(d, middle, SLOT_BITS) >= slot) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /* Looks at the segments that begin in this block's slots; gives how many there are. */
  template <class B, class REG>
  HD int32_t look(B &block, int64_t first_slot, int64_t first, REG &is_longer) const {
    auto &m = block.shared;
    const int64_t base = first < d.count ? d.start(first) : 0;
    typename B::template reg<int32_t> found;
    block.each([&](int t) {
      is_longer[t] = 0;
      const int64_t s = first + t, end_slot = first_slot + SLOTS;
      bool here = false, next = false;
      if (s < d.count) {
        const int64_t start = d.start(s), length = d.length(s);
        const int64_t slot = (start >> SLOT_BITS) + s;
        here = slot < end_slot;
        next = here && s + 1 < d.count && ((start + length) >> SLOT_BITS) + s + 1 < end_slot;
        if (here) {
          m.start[t] = (int32_t)(start - base);
          m.length[t] = (int32_t)(length <= CHUNK ? length : CHUNK + 1);
          m.slot[t] = (int32_t)(slot - first_slot);
          is_longer[t] = length > ROW_LENGTH && length <= CHUNK;
        }
      }
      if (here && !next) m.found[0] = t + 1;
      if (!here && t == 0) m.found[0] = 0;
    });
    block.each([&](int t) { found[t] = m.found[0]; });
    return block.uniform(found);
  }

  /* The inclusive prefixes of up to 32 windows of a segment, each in its first. */
  template <class B, class REG> HD void windows(B &block, const REG &number) const {
    auto &m = block.shared;
    typename B::template reg<T> earlier;
    for (int s = 1; s < WARP && s * SCAN_ROW < longest; s *= 2) {
      block.each([&](int t) {
        if (number[t] >= s) earlier[t] = m.of_window[t - s];
      });
      block.each([&](int t) {
        if (number[t] >= s) m.of_window[t] = C{}(earlier[t], (T)m.of_window[t]);
      });
    }
  }

  /* Segments of up to a row among the `found` that begin here. If the whole range from the
   * first to the last fits in shared memory, accesses are coalesced; else each thread reads and
   * writes its own elements. */
  template <class B>
  HD void short_ones(B &block, int64_t first, int32_t found, bool any_longer) const {
    auto &m = block.shared;
    using memory = row_memory<T>;
    const int64_t base = d.start(first), last_one = first + found - 1;
    const int64_t span = d.start(last_one) + d.length(last_one) - base;
    const bool together = x.kind == FROM_MEMORY && span <= memory::CAPACITY && !any_longer;
    if (together) {
      block.each([&](int t) {
        const ptr<const T> from = x.data + (base + t);
        T v[SCAN_ROW];
        RAVEL_UNROLL
        for (int q = 0; q < SCAN_ROW; q++)
          v[q] = t + q * threads < span ? (T)from[q * threads] : C::pad();
        RAVEL_UNROLL
        for (int q = 0; q < SCAN_ROW; q++) m.m.elements[memory::padded(t + q * threads)] = v[q];
      });
    }

    typename B::template reg<eight<T>> a;
    typename B::template reg<int32_t> at, count, number;
    block.each([&](int t) {
      int low = 0, high = found - 1;
      while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (m.slot[middle] <= t) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      const int32_t k = t - (int32_t)m.slot[low], length = m.length[low];
      const int32_t left = k >= 0 && length <= ROW_LENGTH ? length - k * SCAN_ROW : 0;
      number[t] = left > 0 ? k : 0;
      at[t] = m.start[low] + k * SCAN_ROW;
      count[t] = left < 0 ? 0 : left < SCAN_ROW ? left : SCAN_ROW;
      const int position = together ? at[t] : t * SCAN_ROW;
      if (!together) {
        RAVEL_ROLLED
        for (int q = 0; q < count[t]; q++)
          m.m.elements[memory::padded(position + q)] = x[base + at[t] + q];
      }
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++)
        a[t].v[q] = q < count[t] ? (T)m.m.elements[memory::padded(position + q)] : C::pad();
      prefix_of_eight<C>(a[t]);
      m.of_window[t] = a[t].v[SCAN_ROW - 1];
    });
    windows(block, number);
    block.each([&](int t) {
      exclude<C>(a[t], number[t] > 0 ? (T)m.of_window[t - 1] : C::pad());
      if (number[t] == 0) a[t].v[0] = C::identity();
      const int position = together ? at[t] : t * SCAN_ROW;
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++) {
        if (q < count[t]) m.m.elements[memory::padded(position + q)] = a[t].v[q];
      }
      if (!together) {
        RAVEL_ROLLED
        for (int q = 0; q < count[t]; q++)
          out[base + at[t] + q] = m.m.elements[memory::padded(position + q)];
      }
    });
    if (together) {
      block.each([&](int t) {
        RAVEL_UNROLL
        for (int q = 0; q < SCAN_ROW; q++) {
          const int i = t + q * threads;
          if (i < span) out[base + i] = m.m.elements[memory::padded(i)];
        }
      });
    }
  }

  template <class B> HD void operator()(B &block) const {
    auto &m = block.shared;
    const bool is_short = block.index() < short_blocks;
    int64_t first = 0;
    int32_t jobs = 0;
    chunk at{};
    if (is_short) {
      const int64_t first_slot = block.index() * SLOTS;
      first = segment_from(first_slot);
      typename B::template reg<uint32_t> is_longer;
      const int32_t found = look(block, first_slot, first, is_longer);
      if (found == 0) return;
      jobs = list_marked(block, is_longer, m.longer, m.of_warp, WARPS);
      short_ones(block, first, found, jobs > 0);
    } else {
      jobs = longer.find(d, block.index() - short_blocks, at) ? 1 : 0;
    }
    /* What the whole block does: segments of up to a chunk, or a chunk of one. */
    typename B::template reg<int32_t> segment;
    for (int32_t job = 0; job < jobs; job++) {
      if (is_short) {
        block.each([&](int t) { segment[t] = m.longer[job]; });
        at.segment = first + block.uniform(segment);
      }
      const int64_t skipped = at.number << CHUNK_BITS;
      const int64_t begin = d.start(at.segment) + skipped;
      const int64_t left = d.length(at.segment) - skipped;
      const int32_t n = (int32_t)(left < CHUNK ? left : CHUNK);
      rows<C, B> r{block, m.m, x, {}, {}};
      if (last) {
        block.each([&](int t) {
          if (t < WARP)
            m.m.of_row[t] = t * ROW_LENGTH < n ? (T)of_rows[row_slot(at) + t] : C::pad();
        });
      } else {
        r.up_all(begin, n);
        if (!is_short) {
          block.each([&](int t) {
            if (t < WARP && t * ROW_LENGTH < n) of_rows[row_slot(at) + t] = m.m.of_row[t];
            if (t == 0 && left > CHUNK) of_chunks[slot(at)] = m.m.of_row[WARP - 1];
          });
          continue;
        }
      }
      const T before = at.number == 0 ? C::pad() : (T)of_chunks[slot(at)];
      const bool at_hand = !last && n <= WARPS * ROW_LENGTH; /* one turn, which is done */
      for (int32_t turn = 0; turn * ROW_LENGTH < n; turn += WARPS) {
        if (!at_hand) r.up(begin, n, turn);
        r.down(begin, n, turn, before, at.number == 0, out);
      }
    }
  }
};

/* ---- longer segments ---- */

/* Above the chunks the tree has windows of 32 on all levels. An entry is the total of 2^bits
 * elements, in its slot. A block does a tile of 2^tile_bits entries, three levels of windows, a
 * warp one window at a time. It computes the totals of tiles, or replaces each entry by the
 * prefix before it. The last entry of a segment is not read. */
template <class C> struct upper_levels {
  using T = typename C::type;
  enum { threads = 1024 };
  static constexpr int WARPS = threads / WARP, WINDOWS = 1024;

  struct shared {
    shared_array<T, WINDOWS> of_window;
    shared_array<T, WARP> of_group; /* of 32 windows */
  };

  segments d;
  int32_t bits, tile_bits; /* at most 15 */
  bool totals_only;
  chunks tiles; /* of 2^(bits + tile_bits) elements */
  ptr<T> entry;
  ptr<T> above; /* of tiles, in their slots: totals to write, or prefixes to read */

  template <class B> HD void operator()(B &block) const {
    using reg = typename B::template reg<T>;
    auto &m = block.shared;
    chunk at{};
    if (!tiles.find(d, block.index(), at)) return;
    const int64_t tile = (int64_t)1 << tile_bits, first = at.number << tile_bits;
    const int64_t all = (d.length(at.segment) + ((int64_t)1 << bits) - 1) >> bits;
    const int64_t left = all - first;
    const int32_t n = (int32_t)(left < tile ? left : tile);
    const int32_t known = (int32_t)(left - 1 < tile ? left - 1 : tile);
    if (totals_only && left <= tile) return;
    const ptr<T> of_tile = entry + (slot_of(d, at.segment, bits) + first);
    const int64_t above_slot = slot_of(d, at.segment, bits + tile_bits) + at.number;
    const int32_t used = (n + WARP - 1) / WARP;
    reg x, y;

    const auto load = [&](int32_t round) {
      block.each([&](int t) {
        const int32_t i = round * threads + t;
        x[t] = i < known ? (T)of_tile[i] : C::pad();
      });
      block.prefix(x, WARP, C{});
    };
    block.each([&](int t) { m.of_window[t] = C::pad(); });
    for (int32_t round = 0; round * WARPS < used; round++) {
      load(round);
      block.each([&](int t) {
        if (t % WARP == WARP - 1) m.of_window[round * WARPS + t / WARP] = x[t];
      });
    }
    /* Windows in their groups; groups in the tile. */
    block.each([&](int t) { x[t] = m.of_window[t]; });
    block.prefix(x, WARP, C{});
    block.each([&](int t) {
      if (t % WARP == WARP - 1) m.of_group[t / WARP] = x[t];
    });
    block.each([&](int t) { y[t] = m.of_group[t % WARP]; });
    block.prefix(y, WARP, C{});
    if (totals_only) {
      block.each([&](int t) {
        if (t == WARP - 1) above[above_slot] = y[t];
      });
      return;
    }
    const T so_far = at.number == 0 ? C::pad() : (T)above[above_slot];
    block.each([&](int t) {
      if (t < WARP) m.of_group[t] = y[t];
    });
    block.shift_up(y, x, 1);
    block.each([&](int t) {
      const int group = t / WARP;
      T before = group == 0 ? so_far : C{}(so_far, (T)m.of_group[group - 1]);
      if (t % WARP != 0) before = C{}(before, y[t]);
      m.of_window[t] = before;
    });
    for (int32_t round = 0; round * WARPS < used; round++) {
      load(round);
      block.shift_up(y, x, 1);
      block.each([&](int t) {
        const int32_t i = round * threads + t;
        const T before = m.of_window[round * WARPS + t / WARP];
        if (i < n) of_tile[i] = t % WARP == 0 ? before : C{}(before, y[t]);
      });
    }
  }
};

/* Replaces the totals of 2^bits elements of the longer segments by the prefixes before them:
 * calls `run` on each kernel in order. `above`: memory for the totals of tiles, if a segment
 * has more than one. No segment has more than 2^tile_bits tiles. */
template <class C, class T, class RUN>
void scan_totals(const segments &d, int64_t longest, int bits, int tile_bits, ptr<T> totals,
                 ptr<T> above, RUN run) {
  const int above_bits = bits + tile_bits;
  const bool many = longest > (int64_t)1 << above_bits;
  upper_levels<C> u{};
  u.d = d;
  u.bits = bits;
  u.tile_bits = tile_bits;
  u.entry = totals;
  u.above = above;
  if (many) {
    u.totals_only = true;
    u.tiles = chunks_of(d, above_bits, above_bits, true);
    run(u);
    upper_levels<C> top = u;
    top.totals_only = false;
    top.bits = above_bits;
    top.entry = above;
    top.above = ptr<T>{};
    top.tiles = chunks_of(d, above_bits + tile_bits, above_bits, false);
    run(top);
  }
  u.totals_only = false;
  u.tiles = chunks_of(d, above_bits, bits, many);
  run(u);
}

} // namespace ravel
#endif
