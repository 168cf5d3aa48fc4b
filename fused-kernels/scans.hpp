/* scans.hpp - the kernels of scans, in the tree of trees.h: windows of 8 elements, rows of 32
 * windows, chunks of 32 rows, counted from the start of each segment; above, windows of 32
 * chunks.
 *
 *   scan_chunks   a block for each chunk of the segments of more than half a chunk
 *   scan_pass     a block for each tile of the vector: for all other segments that begin in it
 *
 * Both read each element once, or compute it, and write it once. scan_pass also reads offsets
 * of segments, once, and scan_chunks publishes a total for each chunk.
 *
 * scan_chunks keeps a chunk in registers. A thread has two windows; a warp loads and stores a
 * row of them by adjacent elements, which pass through shared memory, since threads that access
 * their own windows touch each sector more than once; it combines the windows of a row by
 * shuffles; and the rows meet at one barrier.
 *
 * scan_pass has a thread for each 8 elements of the tile, a *group*, whatever their segments. A
 * thread sees the 7 elements before its own, where all windows begin that reach into them, and
 * combines each element with those before it in its window. In a group at most one window ends
 * that another one follows. So the windows of a segment are those of adjacent threads, and are
 * combined by shuffles, too. An empty segment costs a look at its offset, and no more.
 *
 * Executed PTX instructions of scan_chunks for an element, 262,144 FLOATs added: 46, of which
 * the tree takes 4.5 and the way through shared memory 4.7. CUB's sum of 32-bit INTs, in an
 * order of its own, takes 12. Of the sectors that are touched 0.96 are used (0.92 with 32
 * bits). Counted by `RAVEL_PTX=unchecked,count=FILE,processors=4 bench-ops --backend
 * cuda-ptx --only ADD_SCAN
 * --sizes 18 --width 32 --count FILE`.
 *
 * C is what combines: its type, pad(), identity(), operator(). X is where elements are from: an
 * operand (cvl-cuda/scan-kernels.hpp); or what computes them, the node of a superoperator,
 * which has
 *
 *     enum { unroll };      for how many positions a thread loads at a time: 1, 2, 4 or 8
 *     T operator[](i)       the element at position i
 *
 * The kernels of cvl-cuda include it, and the text of a superoperator's kernel that scans
 * contains it, behind prelude.hpp, chunks.hpp and published.hpp.
 */
#ifndef RAVEL_SCANS_HPP
#define RAVEL_SCANS_HPP

namespace ravel {

constexpr int SCAN_ROW = 8, ROW_LENGTH = SCAN_ROW * WARP, CHUNK_BITS = 13;
constexpr int64_t CHUNK = (int64_t)1 << CHUNK_BITS;
static_assert(CHUNK == ROW_LENGTH * WARP, "a window of rows");

enum { SCAN_THREADS = COMPILED_CUDA_SCAN_THREADS };

/* Segments of more than 2^LONG_BITS elements are scanned by chunks. */
constexpr int LONG_BITS = CHUNK_BITS - 1;
static_assert(SCAN_THREADS * SCAN_ROW == 1 << LONG_BITS, "what a block of scan_pass can hold");

/* How many blocks are to find room on a multiprocessor: two leave a thread 64 registers, too
 * few for products of 64-bit integers. */
template <class C> struct resident_scans {
  enum { value = 2 };
};

/* ---- windows ---- */

/* The window of a thread, and which one it has of elements from X: eight units, which are
 * elements, or words of more than one. */
template <class T> struct eight {
  enum { LENGTH_BITS = 3, LENGTH = SCAN_ROW };
  using unit = T;
  T v[SCAN_ROW];

  /* Stores unit k of n elements. */
  HD static void store(ptr<T> to, int32_t n, int32_t k, unit x) {
    if (k < n) to[k] = x;
  }
};
template <class C, class X> struct window_of { using type = eight<typename C::type>; };

/* Inclusive prefixes within a window. */
template <class C, class T> HD void prefix_of(eight<T> &a) {
  RAVEL_UNROLL
  for (int s = 1; s < SCAN_ROW; s *= 2) {
    RAVEL_UNROLL
    for (int j = SCAN_ROW - 1; j >= s; j--) a.v[j] = C{}(a.v[j - s], a.v[j]);
  }
}
template <class C, class T> HD T total_of(const eight<T> &a) {
  return a.v[SCAN_ROW - 1];
}
/* From inclusive to exclusive prefixes. */
template <class C, class T> HD void exclude(eight<T> &a, T before) {
  RAVEL_UNROLL
  for (int j = SCAN_ROW - 1; j > 0; j--) a.v[j] = C{}(before, a.v[j - 1]);
  a.v[0] = before;
}
template <class T> HD void begin_with(eight<T> &a, T first) {
  a.v[0] = first;
}
/* A unit where there is no element. */
template <class C, class T> HD T padding_of(const eight<T> &) {
  return C::pad();
}

/* ---- elements ---- */

/* Loads elements k + q * step, for eight q, of n elements from `begin` on, and calls store(q,
 * element). Elements that do not exist are padding; the last element is computed in their
 * place, since loads behind a test would wait for those before it. */
template <class C, class X, class F>
HD void load_eight(const X &x, int64_t begin, int32_t n, int32_t k, int step, F store) {
  if (n <= 0) return;
  RAVEL_ROLLED
  for (int q = 0; q < SCAN_ROW; q += X::unroll) {
    typename C::type v[X::unroll];
    RAVEL_UNROLL
    for (int j = 0; j < X::unroll; j++) {
      const int32_t at = k + (q + j) * step;
      v[j] = x[begin + (at < n ? at : n - 1)];
    }
    RAVEL_UNROLL
    for (int j = 0; j < X::unroll; j++) store(q + j, k + (q + j) * step < n ? v[j] : C::pad());
  }
}

/* An array in shared memory, in which padding of one element after each 128 bytes avoids bank
 * conflicts between threads that read eight consecutive elements each. Element i + k is named
 * by two numbers, so that a constant k costs nothing: no padding is between the two but that of
 * k. */
template <class T, int N> struct padded_array {
  static constexpr int BANKS = 128 / (int)sizeof(T);
  shared_array<T, N + N / BANKS> at;

  HD static int padded(int i, int k) { return i + i / BANKS + k + k / BANKS; }
  HD void put(int i, int k, T x) { at[padded(i, k)] = x; }
  HD T get(int i, int k) { return at[padded(i, k)]; }
};

/* ---- longer segments ---- */

template <class C, class X> struct chunk_memory {
  using T = typename C::type;
  using unit = typename window_of<C, X>::type::unit;
  padded_array<unit, SCAN_THREADS * SCAN_ROW> units; /* a row for each warp */
  shared_array<T, WARP * WARP> windows;              /* inclusive prefixes in a row, */
  shared_array<T, WARP> rows;                        /* and of rows */
};

/* A chunk in the registers of a block: of its rows a warp has two, one half a chunk behind the
 * other. */
template <class C, class X, class B> struct chunk_rows {
  using T = typename C::type;
  using window = typename window_of<C, X>::type;
  using unit = typename window::unit;
  static constexpr int WARPS = SCAN_THREADS / WARP, EACH = WARP / WARPS;
  static constexpr int LENGTH = WARP * (int)window::LENGTH; /* of a row */

  B &block;
  chunk_memory<C, X> &m;
  const X &x;
  int64_t begin; /* of the n elements */
  int32_t n;
  typename B::template reg<window> own[EACH];

  HD static int row(int r, int t) { return r * WARPS + t / WARP; }
  HD static int32_t at(int r, int t) {
    return row(r, t) * LENGTH + t % WARP * (int32_t)window::LENGTH;
  }
  /* Whether a row has elements. */
  HD bool has(int r, int t) const { return row(r, t) * LENGTH < n; }
  /* The first unit that a thread moves of its warp's row: the warp moves 32 adjacent ones at a
   * time. In shared memory the row is at kept(). */
  HD static int32_t in_turn(int r, int t) { return row(r, t) * ROW_LENGTH + t % WARP; }
  HD static int kept(int t) { return t / WARP * ROW_LENGTH; }

  HD void load(int r) {
    block.each_warp([&](int t) {
      if (!has(r, t)) return;
      load_eight<C>(x, begin, n, in_turn(r, t), WARP,
                    [&](int q, unit v) { m.units.put(kept(t) + t % WARP, q * WARP, v); });
    });
    block.each_warp([&](int t) {
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++)
        own[r][t].v[q] = has(r, t) ? m.units.get(kept(t) + t % WARP * SCAN_ROW, q)
                                   : padding_of<C>(own[r][t]);
    });
  }
  /* Loads the chunk; then prefixes of elements in windows, of windows in rows, and, by the
   * first warp, of rows. */
  HD void up() {
    RAVEL_UNROLL
    for (int r = 0; r < EACH; r++) load(r);
    typename B::template reg<T> prefix[EACH], of_rows;
    RAVEL_UNROLL
    for (int r = 0; r < EACH; r++) {
      block.each_warp([&](int t) {
        prefix_of<C>(own[r][t]);
        prefix[r][t] = total_of<C>(own[r][t]);
      });
      block.prefix(prefix[r], WARP, C{});
    }
    block.each([&](int t) {
      RAVEL_UNROLL
      for (int r = 0; r < EACH; r++) {
        m.windows[row(r, t) * WARP + t % WARP] = prefix[r][t];
        if (t % WARP == WARP - 1) m.rows[row(r, t)] = prefix[r][t];
      }
    });
    block.each_warp([&](int t) { of_rows[t] = t < WARP ? (T)m.rows[t] : C::pad(); });
    block.prefix(of_rows, WARP, C{});
    block.each_warp([&](int t) {
      if (t < WARP) m.rows[t] = of_rows[t];
    });
  }
  /* Stores the exclusive prefix of each element. `before`: what stands before the chunk, which
   * starts a segment if `at_start`. */
  HD void down(T before, bool at_start, ptr<T> out) {
    RAVEL_UNROLL
    for (int r = 0; r < EACH; r++) {
      block.each_warp([&](int t) {
        const int its = row(r, t), lane = t % WARP;
        T so_far = its == 0 ? before : C{}(before, (T)m.rows[its - 1]);
        if (lane != 0) so_far = C{}(so_far, (T)m.windows[its * WARP + lane - 1]);
        exclude<C>(own[r][t], so_far);
        if (at_start && at(r, t) == 0) begin_with(own[r][t], C::identity());
      });
      store(r, out + begin);
    }
  }
  HD void store(int r, ptr<T> to) {
    block.each_warp([&](int t) {
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++)
        m.units.put(kept(t) + t % WARP * SCAN_ROW, q, (unit)own[r][t].v[q]);
    });
    block.each_warp([&](int t) {
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++)
        window::store(to, n, in_turn(r, t) + q * WARP,
                      m.units.get(kept(t) + t % WARP, q * WARP));
    });
  }
};

/* Blocks take chunks by a counter, in the order in which they begin, so that a block waits only
 * for blocks that are running or done: a chunk has a higher number than those before it. On a
 * host blocks run one after the other, and none waits. */
template <class C, class X = operand<typename C::type>> struct scan_chunks {
  using T = typename C::type;
  static constexpr int LENGTH_BITS = window_of<C, X>::type::LENGTH_BITS + 2 * LEVEL_BITS;
  using totals_of_chunks = published_totals<T, LENGTH_BITS>;
  enum { threads = SCAN_THREADS, resident = resident_scans<C>::value };

  struct shared {
    chunk_memory<C, X> of_chunk;
    shared_array<int64_t, 1> taken;
    shared_array<T, 1> total;                          /* on the level that is looked at */
    shared_array<T, totals_of_chunks::LEVELS> earlier; /* in the chunk's window */
  };

  segments d;
  X x;
  ptr<T> out;
  chunks longer;
  totals_of_chunks totals;
  ptr<uint64_t> next; /* of next_number; null: no segment has two chunks */

  /* The number of what this block does. */
  template <class B> HD int64_t take(B &block) const {
    auto &m = block.shared;
    if (next == nullptr) return block.index();
    typename B::template reg<int64_t> mine;
    block.each([&](int t) {
      if (t == 0) m.taken[0] = next_number(next, totals.mark);
    });
    block.each([&](int t) { mine[t] = m.taken[0]; });
    return block.uniform(mine);
  }

  /* The chunk of a candidate; false if it has none. */
  template <class B> HD bool find_chunk(B &block, int64_t candidate, chunk &at) const {
    typename B::template reg<int64_t> element, segment;
    const int64_t one = longer.element_of(d, candidate);
    block.each_warp([&](int t) {
      element[t] = one;
      segment[t] = candidate;
    });
    if (one >= 0) segments_by_warps(block, d, element, segment);
    at.segment = block.uniform(segment);
    return longer.is_chunk(d, candidate, at);
  }
  /* Returns the prefix before a chunk of the segment at `start`. */
  template <class B> HD T before(B &block, int64_t start, int64_t number, bool goes_on) const {
    auto &m = block.shared;
    typename B::template reg<T> v;
    combine_before<totals_of_chunks, C>(
        block, 1, start, number, goes_on, C{},
        [&](int) -> const totals_of_chunks & { return totals; }, m.total, m.earlier, v);
    return block.uniform(v);
  }

  template <class B> HD void operator()(B &block) const {
    auto &m = block.shared;
    chunk at{0, 0};
    if (!find_chunk(block, take(block), at)) return;
    const int64_t start = d.start(at.segment), begin = start + (at.number << LENGTH_BITS);
    const int64_t left = start + d.length(at.segment) - begin, most = (int64_t)1 << LENGTH_BITS;
    const bool goes_on = left > most;
    chunk_rows<C, X, B> r{block, m.of_chunk, x, begin, (int32_t)(goes_on ? most : left), {}};
    r.up();
    block.each_warp([&](int t) {
      if (t != WARP - 1) return;
      const T total = m.of_chunk.rows[t];
      m.total[0] = total;
      if (goes_on) totals.publish(0, begin, total);
    });
    r.down(before(block, start, at.number, goes_on), at.number == 0, out);
  }
};

/* ---- all other segments ---- */

/* The eight elements of a thread, and the windows that it sees. */
struct scanned_group {
  uint32_t heads; /* bit q: a segment begins at element q, up to the next group's first */
  int32_t start;  /* where that of element 0 begins, counted from there: 0 or less */

  /* Where the next window of that segment would begin: 1 .. 8. */
  HD int next() const { return ((start - 1) & (SCAN_ROW - 1)) + 1; }
  /* Whether the segment has such a window. */
  HD bool goes_on() const { return (heads & ((2u << next()) - 2)) == 0; }
  /* The number of the window that element 0 is in. */
  HD int number() const { return (next() - SCAN_ROW - start) / SCAN_ROW; }
  /* Bit q + 7: a window begins at element q, from -7 on. Of what begins before element 0 only
   * the last matters. */
  HD uint32_t windows() const {
    return heads << (SCAN_ROW - 1) | 1u << (next() - 1) |
           (uint32_t)goes_on() << (next() + SCAN_ROW - 1);
  }
  /* Whether a segment begins behind element 0, up to element q. */
  HD bool is_another(int q) const { return (heads & ((2u << q) - 2)) != 0; }
};

struct later_of {
  HD int32_t operator()(int32_t x, int32_t y) const { return x > y ? x : y; }
};

template <class C, class X = operand<typename C::type>> struct scan_pass {
  using T = typename C::type;
  enum { threads = SCAN_THREADS, resident = resident_scans<C>::value };
  enum { BEFORE = SCAN_ROW - 1, SEEN = BEFORE + SCAN_ROW, LEAD = SCAN_ROW };
  static constexpr int WARPS = threads / WARP;
  /* Elements that a block can hold, and those of a tile: so much of a segment may stand behind
   * its tile. A longer one is left to a second turn. */
  static constexpr int32_t CAPACITY = threads * SCAN_ROW, TILE = CAPACITY - CAPACITY / 8;

  struct shared {
    padded_array<T, LEAD + CAPACITY> elements;
    shared_array<uint8_t, CAPACITY + 1> heads; /* whether a segment begins at an element */
    shared_array<int32_t, WARPS> last_head;    /* of the elements of a warp */
    shared_array<T, threads> of_window;        /* that ends in a group */
    shared_array<T, WARPS> of_row;             /* that ends in groups of a warp, */
    shared_array<int32_t, WARPS> row_number;   /* and which of its segment's; none: -1 */
    shared_array<int64_t, 2> bounds;           /* of the tile's segments that are left */
  };

  segments d;
  X x;
  ptr<T> out;
  int32_t longest; /* segments; all of more than a row count as one element more than that */

  /* ---- which segments ---- */

  /* The first segment that begins at an element or behind it, where all have one length. */
  HD int64_t first_of_equal(int64_t element) const {
    if (element == 0) return 0;
    const int64_t s = d.of_equal(element - 1) + 1;
    return s < d.count ? s : d.count;
  }
  /* The bounds of the segments that begin in a tile: a warp looks for each of the two. */
  template <class B> HD void find_segments(B &block) const {
    auto &m = block.shared;
    typename B::template reg<int64_t> low, high;
    const int64_t tile = block.index() * TILE;
    const auto bound = [&](int t) { return tile + (t < WARP ? 0 : TILE); };
    block.each_warp([&](int t) {
      low[t] = d.equal > 0 ? first_of_equal(bound(t)) : 0;
      high[t] = d.equal > 0 ? (int64_t)low[t] : t < 2 * WARP ? d.count : 0;
    });
    if (d.equal <= 0)
      search_by_warps(block, low, high, d.count,
                      [&](int t, int64_t s) { return d.start(s) < bound(t); });
    block.each([&](int t) {
      if (t % WARP == 0 && t < 2 * WARP) m.bounds[t / WARP] = low[t];
    });
  }
  template <class B> HD void read_bounds(B &block, int64_t &first, int64_t &behind) const {
    auto &m = block.shared;
    typename B::template reg<int64_t> low, high;
    block.each([&](int t) {
      low[t] = m.bounds[0];
      high[t] = m.bounds[1];
    });
    first = block.uniform(low);
    behind = block.uniform(high);
  }

  /* ---- groups ---- */

  /* Where all segments have one length, and one begins at `base`. */
  HD scanned_group group_of_equal(int t) const {
    const int32_t equal = (int32_t)d.equal;
    const int32_t within = (int32_t)((uint32_t)t * SCAN_ROW % (uint32_t)equal);
    const int each = equal < SCAN_ROW + 1 ? equal : SCAN_ROW + 1;
    uint64_t heads = (uint64_t)1 | (uint64_t)1 << each; /* from a head on */
    heads |= heads << 2 * each;
    heads |= heads << 4 * each;
    heads |= heads << each;
    const int32_t first = within == 0 ? 0 : equal - within;
    return {first <= SCAN_ROW ? (uint32_t)(heads << first) & 0x1ff : 0, -within};
  }

  /* Marks where the segments [first, behind) begin, counted from `base`, and where the last one
   * ends. One that does not fit is left: no others follow but empty ones. */
  template <class B>
  HD void mark_heads(B &block, int64_t base, int64_t first, int64_t behind) const {
    auto &m = block.shared;
    const int64_t all = d.start(behind) - base;
    block.each([&](int t) {
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++) m.heads[t * SCAN_ROW + q] = t * SCAN_ROW + q == all;
      if (t != 0) return;
      m.heads[CAPACITY] = all == CAPACITY;
      m.bounds[0] = behind;
    });
    for (int64_t s = first; s < behind; s += threads) {
      if (behind - first > CAPACITY) s = behind_empty(block, s, behind);
      block.each_warp([&](int t) {
        if (s + t >= behind) return;
        const int64_t at = d.start(s + t) - base, length = d.length(s + t);
        if (length == 0) return;
        m.heads[at] = 1;
        if (at + length > CAPACITY) m.bounds[0] = s + t;
      });
    }
  }
  /* The next segment; or if so many are empty that they take all threads, the one behind them.
   */
  template <class B> HD int64_t behind_empty(B &block, int64_t s, int64_t behind) const {
    const int64_t at = d.start(s);
    if (s + threads >= behind || d.start(s + threads) != at) return s;
    typename B::template reg<int64_t> low, high;
    block.each_warp([&](int t) {
      low[t] = s + threads;
      high[t] = behind;
    });
    search_by_warps(block, low, high, behind - s,
                    [&](int, int64_t k) { return d.start(k) <= at; });
    return block.uniform(low) - 1;
  }

  template <class B, class G> HD void find_groups(B &block, G &group) const {
    auto &m = block.shared;
    typename B::template reg<int32_t> last, before;
    block.each_warp([&](int t) {
      uint32_t heads = 0;
      last[t] = -1;
      RAVEL_UNROLL
      for (int q = 0; q <= SCAN_ROW; q++) {
        if (m.heads[t * SCAN_ROW + q] == 0) continue;
        heads |= 1u << q;
        if (q < SCAN_ROW) last[t] = t * SCAN_ROW + q;
      }
      group[t] = {heads, 0};
    });
    block.prefix(last, WARP, later_of{});
    block.shift_up(before, last, 1);
    block.each([&](int t) {
      if (t % WARP == WARP - 1) m.last_head[t / WARP] = last[t];
    });
    block.each_warp([&](int t) {
      int32_t at = t % WARP > 0 ? (int32_t)before[t] : -1;
      for (int w = t / WARP; at < 0 && w > 0; w--) at = m.last_head[w - 1];
      if ((group[t].heads & 1) == 0) group[t].start = at - t * SCAN_ROW;
    });
  }

  /* Loads the segments from `first` on that fit, and finds their groups. The others are left.
   */
  template <class B, class G>
  HD void load(B &block, int64_t base, int64_t first, int64_t behind, G &group) const {
    auto &m = block.shared;
    const int64_t all = d.start(behind) - base;
    const int32_t n = (int32_t)(all < CAPACITY ? all : CAPACITY);
    if (d.equal <= 0) mark_heads(block, base, first, behind);
    block.each([&](int t) {
      load_eight<C>(x, base, n, t, threads,
                    [&](int q, T v) { m.elements.put(LEAD + t, q * threads, v); });
      if (t < LEAD) m.elements.put(t, 0, C::pad());
      if (t == 0 && d.equal > 0)
        m.bounds[0] = all <= CAPACITY ? behind : first + CAPACITY / d.equal;
    });
    if (d.equal <= 0) {
      find_groups(block, group);
    } else {
      block.each_warp([&](int t) { group[t] = group_of_equal(t); });
    }
  }

  /* ---- prefixes ---- */

  /* Computes the inclusive prefixes, in their windows, of the elements that a thread sees. Of
   * the elements before its own it computes only what these need. */
  HD static void see(shared &m, int t, uint32_t windows, T (&a)[SEEN]) {
    const int here = t * SCAN_ROW + LEAD;
    if ((windows & ((1u << SEEN) - 1)) == 1u << BEFORE) { /* its own are a window */
      eight<T> own;
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++) own.v[q] = m.elements.get(here, q);
      prefix_of<C>(own);
      RAVEL_UNROLL
      for (int j = 0; j < BEFORE; j++) a[j] = C::pad();
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++) a[BEFORE + q] = own.v[q];
      return;
    }
    RAVEL_UNROLL
    for (int j = 0; j < BEFORE; j++) a[j] = m.elements.get(here - LEAD, LEAD - BEFORE + j);
    RAVEL_UNROLL
    for (int q = 0; q < SCAN_ROW; q++) a[BEFORE + q] = m.elements.get(here, q);
    step<1>(a, windows);
    step<2>(a, windows);
    step<4>(a, windows);
  }
  /* Each with that S before it, unless a window begins behind that one. S is a constant, since
   * what nvcc does not unroll is no register. */
  template <int S> HD static void step(T (&a)[SEEN], uint32_t windows) {
    RAVEL_UNROLL
    for (int j = SEEN - 1; j >= S; j--) {
      const uint32_t between = ((1u << S) - 1) << (j - S + 1);
      if ((windows & between) == 0) a[j] = C{}(a[j - S], a[j]);
    }
  }

  /* Returns the value at the thread's own element q, which is no constant. */
  HD static T chosen(const T (&a)[SEEN], int q) {
    T x = a[BEFORE];
    RAVEL_UNROLL
    for (int k = 1; k < SCAN_ROW; k++) x = k <= q ? a[BEFORE + k] : x;
    return x;
  }

  /* Exclusive prefixes of elements in their windows; the total of the window that ends in a
   * group and that another one follows, if there is one. */
  template <class B, class G, class E>
  HD void in_windows(B &block, const G &group, int32_t n, E &own) const {
    auto &m = block.shared;
    block.each([&](int t) {
      if (t < WARPS) m.row_number[t] = -1;
      if (t * SCAN_ROW >= n) return;
      const scanned_group g = group[t];
      const uint32_t windows = g.windows();
      T a[SEEN];
      see(m, t, windows, a);
      if (longest > SCAN_ROW) m.of_window[t] = chosen(a, g.next() - 1);
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++)
        own[t].v[q] = windows >> (BEFORE + q) & 1 ? C::pad() : a[BEFORE + q - 1];
    });
  }

  /* Inclusive prefixes, in their rows, of the windows that end in groups: of a warp, and of the
   * warp before it as far as the warp's first row reaches. `number`: of a window in its row. */
  template <class B, class N, class V>
  HD void in_rows(B &block, const N &number, int32_t n, V &own, V &earlier) const {
    auto &m = block.shared;
    N of_first;
    V near, far, farther;
    block.each_warp([&](int t) {
      own[t] = t * SCAN_ROW < n ? (T)m.of_window[t] : C::pad();
      earlier[t] = t >= WARP && (t - WARP) * SCAN_ROW < n ? (T)m.of_window[t - WARP] : C::pad();
    });
    block.broadcast(of_first, number, 0);
    for (int s = 1; s < WARP && s * SCAN_ROW < longest; s *= 2) {
      block.shift_up(near, own, s);
      block.shift_down(far, earlier, WARP - s);
      block.shift_up(farther, earlier, s);
      block.each_warp([&](int t) {
        const int lane = t % WARP;
        if (number[t] >= s) own[t] = C{}(lane < s ? far[t] : near[t], own[t]);
        if (of_first[t] - WARP + lane >= s) earlier[t] = C{}(farther[t], earlier[t]);
      });
    }
  }

  /* In each lane the prefix of all rows of a segment up to the one that ends in the groups of
   * the warp of that number. */
  template <class B, class G, class N, class V>
  HD void of_rows(B &block, const G &group, const N &number, int32_t n, const V &windows,
                  V &rows) const {
    auto &m = block.shared;
    N its_number;
    V before;
    block.each([&](int t) {
      if (t * SCAN_ROW >= n || number[t] != WARP - 1 || !group[t].goes_on()) return;
      m.of_row[t / WARP] = windows[t];
      m.row_number[t / WARP] = group[t].number() / WARP;
    });
    block.each_warp([&](int t) {
      const int w = t % WARP;
      its_number[t] = w < WARPS ? (int32_t)m.row_number[w] : -1;
      rows[t] = its_number[t] >= 0 ? (T)m.of_row[w] : C::pad();
    });
    for (int s = 1; s < WARPS; s *= 2) {
      block.shift_up(before, rows, s);
      block.each_warp([&](int t) {
        if (its_number[t] >= s) rows[t] = C{}(before[t], rows[t]);
      });
    }
  }

  /* Computes the prefix, in its segment, before the window that contains a group's first
   * element, and before the next window. */
  template <class B, class G, class V>
  HD void before_windows(B &block, const G &group, int32_t n, V &first, V &second) const {
    typename B::template reg<int32_t> number, row, lane;
    V own, earlier, rows, row_before, this_row;
    block.each_warp([&](int t) {
      number[t] = group[t].number() % WARP;
      row[t] = group[t].number() / WARP;
    });
    in_rows(block, number, n, own, earlier);
    if (longest > ROW_LENGTH) {
      of_rows(block, group, number, n, own, rows);
      /* The row before ended with a window that ended in the group number[t] + 1 before. */
      block.each_warp([&](int t) { lane[t] = row[t] > 0 ? (t - number[t] - 1) / WARP : 0; });
      block.broadcast(row_before, rows, lane);
      block.each_warp([&](int t) { lane[t] = t / WARP; });
      block.broadcast(this_row, rows, lane);
    }
    block.shift_up(first, own, 1);
    block.shift_down(second, earlier, WARP - 1);
    block.each_warp([&](int t) {
      const T before = row[t] > 0 ? row_before[t] : C::pad();
      const T window = t % WARP == 0 ? second[t] : first[t];
      first[t] = number[t] == 0 ? before : C{}(before, window);
      second[t] =
          number[t] == WARP - 1 && longest > ROW_LENGTH ? this_row[t] : C{}(before, own[t]);
    });
  }

  /* ---- all ---- */

  template <class B, class G>
  HD void scan(B &block, int64_t base, int32_t n, const G &group) const {
    auto &m = block.shared;
    typename B::template reg<eight<T>> own;
    typename B::template reg<T> first, second;
    in_windows(block, group, n, own);
    if (longest > SCAN_ROW) before_windows(block, group, n, first, second);
    block.each([&](int t) {
      if (t * SCAN_ROW >= n) return;
      const scanned_group g = group[t];
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++) {
        T v = own[t].v[q];
        if (longest > SCAN_ROW && !g.is_another(q))
          v = C{}(q < g.next() ? first[t] : second[t], v);
        m.elements.put(LEAD + t * SCAN_ROW, q, g.heads >> q & 1 ? C::identity() : v);
      }
    });
    block.each([&](int t) {
      const ptr<T> to = out + (base + t);
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++) {
        if (t + q * threads < n) to[q * threads] = m.elements.get(LEAD + t, q * threads);
      }
    });
  }

  template <class B> HD void operator()(B &block) const {
    typename B::template reg<scanned_group> group;
    find_segments(block);
    for (;;) {
      int64_t first, behind, left;
      read_bounds(block, first, behind);
      const int64_t base = d.start(first);
      if (first >= behind || base == d.start(behind)) return;
      load(block, base, first, behind, group);
      read_bounds(block, left, behind);
      const int32_t n = (int32_t)(d.start(left) - base);
      if (n == 0) return; /* the segment is longer than a block can hold */
      scan(block, base, n, group);
    }
  }
};

} // namespace ravel
#endif
