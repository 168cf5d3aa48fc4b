/* scan-kernels.hpp - the kernels of scans, in the tree of cvl.h.
 *
 * A thread does a window of 8 elements, a warp a window of 32 of those (a *row*), a block a
 * window of 32 rows (a *chunk* of 8192). The tree above goes on with windows of 32 chunks.
 *
 *   first_pass   all segments of up to a chunk; of longer ones the totals of the chunks
 *   upper        the totals of chunks become the prefixes of what stands before each chunk
 *   last_pass    chunks of longer segments, with these
 *
 * Elements are read and written by neighbouring threads side by side, and change places in the
 * memory of the block to get to the thread that does their window.
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

/* What a thread has of a row. */
template <class T> struct eight { T v[SCAN_ROW]; };

/* Inclusive prefixes within a window of 8. */
template <class C, class T> HD void prefix_of_eight(eight<T> &a) {
  RAVEL_UNROLL
  for (int s = 1; s < SCAN_ROW; s *= 2) {
    RAVEL_UNROLL
    for (int j = SCAN_ROW - 1; j >= s; j--) a.v[j] = C{}(a.v[j - s], a.v[j]);
  }
}

/* From inclusive prefixes to those of what stands before each element. */
template <class C, class T> HD void exclude(eight<T> &a, T before) {
  RAVEL_UNROLL
  for (int j = SCAN_ROW - 1; j > 0; j--) a.v[j] = C{}(before, a.v[j - 1]);
  a.v[0] = before;
}

/* ---- a chunk ---- */

enum { SCAN_THREADS = 512 };

template <class T> struct chunk_memory {
  static constexpr int WARPS = SCAN_THREADS / WARP;
  /* One place is left out after each 128 bytes, so that threads which read eight elements in a
   * row do not meet in a bank. */
  static constexpr int BANKS = 128 / (int)sizeof(T);
  static constexpr int ROW_PLACES = ROW_LENGTH + ROW_LENGTH / BANKS;

  shared_array<T, WARPS * ROW_PLACES> places;
  shared_array<T, WARP> of_row;

  HD static int place(int i) { return i + i / BANKS; }
};

/* One block's work on up to 8192 elements of a segment, which are in two rounds: a warp does a
 * row of each round. */
template <class C, class B> struct chunk_scan {
  using T = typename C::type;
  using memory = chunk_memory<T>;
  static constexpr int ROUNDS = WARP / memory::WARPS;

  B &block;
  memory &m;
  int64_t begin, n; /* elements begin .. begin + n - 1 */

  typename B::template reg<eight<T>> a[ROUNDS];
  typename B::template reg<T> of_window[ROUNDS], before;

  HD static int64_t of_thread(int round, int t) {
    return (int64_t)(round * memory::WARPS + t / WARP) * ROW_LENGTH + t % WARP;
  }
  HD bool used(int round) const { return (int64_t)round * memory::WARPS * ROW_LENGTH < n; }

  /* Element q of thread t is element 32 q + t of its row ... */
  HD void load(const operand<T> &x) {
    block.each([&](int t) {
      RAVEL_UNROLL
      for (int r = 0; r < ROUNDS; r++) {
        const int64_t k = of_thread(r, t);
        if (x.kind == FROM_MEMORY) {
          const ptr<const T> from = x.data + (begin + k);
          RAVEL_UNROLL
          for (int q = 0; q < SCAN_ROW; q++)
            a[r][t].v[q] = k + q * WARP < n ? (T)from[q * WARP] : C::pad();
        } else {
          for (int q = 0; q < SCAN_ROW; q++)
            a[r][t].v[q] = k + q * WARP < n ? x[begin + k + q * WARP] : C::pad();
        }
      }
    });
  }
  HD void store(ptr<T> out) {
    block.each([&](int t) {
      RAVEL_UNROLL
      for (int r = 0; r < ROUNDS; r++) {
        const int64_t k = of_thread(r, t);
        const ptr<T> to = out + (begin + k);
        RAVEL_UNROLL
        for (int q = 0; q < SCAN_ROW; q++) {
          if (k + q * WARP < n) to[q * WARP] = a[r][t].v[q];
        }
      }
    });
  }
  /* ... and becomes element 8 t + q; or the other way about. */
  HD void exchange(int r, bool to_windows) {
    const int side_by_side = to_windows ? WARP : 1, in_window = to_windows ? 1 : WARP;
    block.each([&](int t) {
      const int row = t / WARP * memory::ROW_PLACES, lane = t % WARP;
      const int first = to_windows ? lane : lane * SCAN_ROW;
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++)
        m.places[row + memory::place(first + q * side_by_side)] = a[r][t].v[q];
    });
    block.each([&](int t) {
      const int row = t / WARP * memory::ROW_PLACES, lane = t % WARP;
      const int first = to_windows ? lane * SCAN_ROW : lane;
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++)
        a[r][t].v[q] = m.places[row + memory::place(first + q * in_window)];
    });
  }

  /* Inclusive prefixes of elements in their windows, of windows in their rows, and of rows in
   * the chunk (m.of_row). */
  HD void upwards() {
    RAVEL_UNROLL
    for (int r = 0; r < ROUNDS; r++) {
      if (used(r)) exchange(r, true);
      block.each([&](int t) {
        prefix_of_eight<C>(a[r][t]);
        of_window[r][t] = a[r][t].v[SCAN_ROW - 1];
      });
      block.prefix(of_window[r], WARP, C{});
      block.each([&](int t) {
        if (t % WARP == WARP - 1) m.of_row[r * memory::WARPS + t / WARP] = of_window[r][t];
      });
    }
    block.each([&](int t) { before[t] = m.of_row[t % WARP]; });
    block.prefix(before, WARP, C{});
    block.each([&](int t) {
      if (t < WARP) m.of_row[t] = before[t];
    });
  }
  /* The combination of all elements; only after `upwards`. */
  HD T total() const { return m.of_row[WARP - 1]; }

  /* From there to the prefixes of what stands before each element, `of_chunk` before all. */
  HD void downwards(T of_chunk, bool at_start) {
    typename B::template reg<T> window;
    RAVEL_UNROLL
    for (int r = 0; r < ROUNDS; r++) {
      if (!used(r)) continue;
      block.shift_up(window, of_window[r], 1);
      block.each([&](int t) {
        const int row = r * memory::WARPS + t / WARP;
        T x = row == 0 ? of_chunk : C{}(of_chunk, m.of_row[row - 1]);
        if (t % WARP != 0) x = C{}(x, window[t]);
        exclude<C>(a[r][t], x);
        if (at_start && row == 0 && t == 0) a[r][t].v[0] = C::identity();
      });
      exchange(r, false);
    }
  }
};

/* All of it. */
template <class C, class B, class T>
HD void scan_chunk(B &block, chunk_memory<T> &m, const operand<T> &x, int64_t begin, int64_t n,
                   T before, bool at_start, ptr<T> out) {
  chunk_scan<C, B> c{block, m, begin, n, {}, {}, {}};
  c.load(x);
  c.upwards();
  c.downwards(before, at_start);
  c.store(out);
}

/* ---- segments that end within a chunk ---- */

/* Segments of up to a row are done together, by a thread for each window: windows have slots
 * of 8 elements, and a block has all slots of the segments whose first slot is among its own;
 * so much of a segment may stand after them. The segments of more than a row that begin there
 * are done one after another by the whole block: they are few, as slots are many for them. */
template <class C> struct first_pass {
  using T = typename C::type;
  enum { threads = SCAN_THREADS };
  static constexpr int WARPS = threads / WARP, SLOT_BITS = 3;
  static constexpr int SLOTS = threads - ROW_LENGTH / SCAN_ROW; /* of a block */
  static constexpr int STAGED = threads * SCAN_ROW;

  struct shared {
    chunk_memory<T> m;
    shared_array<T, threads> of_window;
    shared_array<int32_t, threads> start, length, slot; /* of segments, from the first */
    shared_array<int32_t, WARPS> longer, of_warp;
    shared_array<int32_t, 1> found;
  };

  segments d;
  operand<T> x;
  ptr<T> out;
  int64_t short_blocks;
  int32_t longest; /* of segments; more than a row: many windows */
  chunks longer;
  ptr<T> totals; /* of chunks of longer segments, in their slots */

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
    return found[0];
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

  template <class B> HD void short_ones(B &block) const {
    auto &m = block.shared;
    const int64_t first_slot = block.index() * SLOTS, first = segment_from(first_slot);
    typename B::template reg<uint32_t> is_longer;
    const int32_t found = look(block, first_slot, first, is_longer);
    if (found == 0) return;
    const int32_t longer_ones = list_marked(block, is_longer, m.longer, m.of_warp, WARPS);
    const int64_t base = d.start(first), last = first + found - 1;
    const int64_t span = d.start(last) + d.length(last) - base;
    const bool staged = span <= STAGED && longer_ones == 0;

    if (staged) {
      block.each([&](int t) {
        eight<T> a;
        if (x.kind == FROM_MEMORY) {
          const ptr<const T> from = x.data + (base + t);
          RAVEL_UNROLL
          for (int q = 0; q < SCAN_ROW; q++)
            a.v[q] = t + q * threads < span ? (T)from[q * threads] : C::pad();
        } else {
          for (int q = 0; q < SCAN_ROW; q++)
            a.v[q] = t + q * threads < span ? x[base + t + q * threads] : C::pad();
        }
        RAVEL_UNROLL
        for (int q = 0; q < SCAN_ROW; q++) {
          if (t + q * threads < span) m.m.places[m.m.place(t + q * threads)] = a.v[q];
        }
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
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++) {
        a[t].v[q] = q >= count[t] ? C::pad()
                    : staged      ? (T)m.m.places[m.m.place(at[t] + q)]
                                  : x[base + at[t] + q];
      }
      prefix_of_eight<C>(a[t]);
      m.of_window[t] = a[t].v[SCAN_ROW - 1];
    });
    windows(block, number);
    block.each([&](int t) {
      exclude<C>(a[t], number[t] > 0 ? (T)m.of_window[t - 1] : C::pad());
      if (number[t] == 0) a[t].v[0] = C::identity();
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++) {
        if (q >= count[t]) continue;
        if (staged) {
          m.m.places[m.m.place(at[t] + q)] = a[t].v[q];
        } else {
          out[base + at[t] + q] = a[t].v[q];
        }
      }
    });
    if (staged) {
      block.each([&](int t) {
        for (int64_t i = t; i < span; i += threads)
          out[base + i] = m.m.places[m.m.place((int)i)];
      });
    }
    for (int32_t k = 0; k < longer_ones; k++) {
      const int64_t s = first + m.longer[k];
      scan_chunk<C>(block, m.m, x, d.start(s), d.length(s), C::pad(), true, out);
    }
  }

  /* The total of a chunk that is not the last of its segment. */
  template <class B> HD void chunk_total(B &block) const {
    chunk at{};
    if (!longer.find(d, block.index() - short_blocks, at)) return;
    if ((at.number + 1) << CHUNK_BITS >= d.length(at.segment)) return;
    chunk_scan<C, B> c{
        block, block.shared.m, d.start(at.segment) + (at.number << CHUNK_BITS), CHUNK, {}, {},
        {}};
    c.load(x);
    c.upwards();
    block.each([&](int t) {
      if (t == 0) totals[slot_of(d, at.segment, CHUNK_BITS) + at.number] = c.total();
    });
  }

  template <class B> HD void operator()(B &block) const {
    if (block.index() < short_blocks) {
      short_ones(block);
    } else {
      chunk_total(block);
    }
  }
};

/* ---- longer segments ---- */

/* A chunk of a longer segment. */
template <class C> struct last_pass {
  using T = typename C::type;
  enum { threads = SCAN_THREADS };
  using shared = chunk_memory<T>;

  segments d;
  operand<T> x;
  ptr<T> out;
  chunks longer;
  ptr<const T> before; /* each chunk, in its slot */

  template <class B> HD void operator()(B &block) const {
    chunk at{};
    if (!longer.find(d, block.index(), at)) return;
    const int64_t first = at.number << CHUNK_BITS, n = d.length(at.segment) - first;
    const T so_far =
        at.number == 0 ? C::pad() : (T)before[slot_of(d, at.segment, CHUNK_BITS) + at.number];
    scan_chunk<C>(block, block.shared, x, d.start(at.segment) + first, n < CHUNK ? n : CHUNK,
                  so_far, at.number == 0, out);
  }
};

/* Above the chunks the tree has windows of 32 on all levels. An entry is the total of 2^bits
 * elements, in its slot; a block does a piece of 2^piece_bits entries, three levels of windows,
 * a warp a window at a time. Either it finds the totals of pieces, or it replaces each entry by
 * the prefix of all that stand before it. The last entry of a segment is not read. */
template <class C> struct upper_levels {
  using T = typename C::type;
  enum { threads = 1024 };
  static constexpr int WARPS = threads / WARP, WINDOWS = 1024;

  struct shared {
    shared_array<T, WINDOWS> of_window;
    shared_array<T, WARP> of_group; /* of 32 windows */
  };

  segments d;
  int32_t bits, piece_bits; /* at most 15 */
  bool totals_only;
  chunks pieces; /* of 2^(bits + piece_bits) elements */
  ptr<T> entry;
  ptr<T> above; /* of pieces, in their slots: totals to write, or prefixes to read */

  template <class B> HD void operator()(B &block) const {
    using reg = typename B::template reg<T>;
    auto &m = block.shared;
    chunk at{};
    if (!pieces.find(d, block.index(), at)) return;
    const int64_t piece = (int64_t)1 << piece_bits, first = at.number << piece_bits;
    const int64_t all = (d.length(at.segment) + ((int64_t)1 << bits) - 1) >> bits;
    const int64_t left = all - first;
    const int32_t n = (int32_t)(left < piece ? left : piece);
    const int32_t known = (int32_t)(left - 1 < piece ? left - 1 : piece);
    if (totals_only && left <= piece) return;
    const ptr<T> of_piece = entry + (slot_of(d, at.segment, bits) + first);
    const int64_t above_slot = slot_of(d, at.segment, bits + piece_bits) + at.number;
    const int32_t used = (n + WARP - 1) / WARP;
    reg x, y;

    const auto load = [&](int32_t round) {
      block.each([&](int t) {
        const int32_t i = round * threads + t;
        x[t] = i < known ? (T)of_piece[i] : C::pad();
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
    /* Windows in their groups; groups in the piece. */
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
        if (i < n) of_piece[i] = t % WARP == 0 ? before : C{}(before, y[t]);
      });
    }
  }
};

} // namespace ravel
#endif
