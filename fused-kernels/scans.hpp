/* scans.hpp - the kernels of scans, in the tree of cvl.h: they read each element once from the
 * device's memory, or compute it, and write it once.
 *
 * A thread scans a window of 8 elements, a warp a window of 32 of those (a *row* of 256), a
 * block a window of 32 rows (a *chunk* of 8192), or a row or less of many segments. Above, the
 * tree has windows of 32 chunks, whose totals blocks publish (published_totals).
 *
 * Adjacent threads read and write adjacent elements (coalesced), and exchange them in shared
 * memory, so that each thread gets the window that it scans.
 *
 * C is what combines: its type, pad(), identity(), operator(). X is where elements are from: an
 * operand; or what computes them, the node of a superoperator, which has
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

/* ---- elements ---- */

/* Whether loads do not wait for each other. */
template <class T> HD bool loads_at_once(const operand<T> &x) {
  return x.kind == FROM_MEMORY;
}
template <class X> HD bool loads_at_once(const X &) {
  return true;
}

/* Of n elements from `begin` on those at k + q * step, for eight q, to store(q, element); the
 * padding where there is none. */
template <class C, class T, class F>
HD void load_eight(const operand<T> &x, int64_t begin, int32_t n, int32_t k, int step,
                   F store) {
  if (x.kind == FROM_MEMORY) {
    const ptr<const T> from = x.data + (begin + k);
    T v[SCAN_ROW];
    RAVEL_UNROLL
    for (int q = 0; q < SCAN_ROW; q++) v[q] = k + q * step < n ? (T)from[q * step] : C::pad();
    RAVEL_UNROLL
    for (int q = 0; q < SCAN_ROW; q++) store(q, v[q]);
  } else {
    RAVEL_ROLLED
    for (int q = 0; q < SCAN_ROW; q++)
      store(q, k + q * step < n ? x[begin + k + q * step] : C::pad());
  }
}
/* The last element instead of none, since loads behind a test wait for those before it. */
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
template <class C, class X, class B> struct rows {
  using T = typename C::type;
  using memory = row_memory<T>;

  B &block;
  memory &m;
  const X &x;
  typename B::template reg<eight<T>> a;
  typename B::template reg<T> window;

  /* Warp w has row first + w: of_thread is the first element that thread t loads, counted from
   * row 0; own is where its row begins in shared memory. */
  HD static int32_t of_thread(int32_t first, int t) {
    return (first + t / WARP) * ROW_LENGTH + t % WARP;
  }
  HD static int own(int t) { return t / WARP * ROW_LENGTH; }

  /* Whether a warp has a row of the n elements: else it only waits for the others. */
  HD static bool has_row(int32_t n, int32_t first, int t) {
    return (first + t / WARP) * ROW_LENGTH < n;
  }
  /* Loads rows; then inclusive prefixes of elements in windows and of windows in rows. */
  HD void up(int64_t begin, int32_t n, int32_t first) {
    block.each([&](int t) {
      if (!has_row(n, first, t)) return;
      const int32_t k = of_thread(first, t);
      load_eight<C>(x, begin, n, k, WARP, [&](int q, T v) {
        m.elements[memory::padded(own(t) + t % WARP + q * WARP)] = v;
      });
    });
    block.each([&](int t) {
      window[t] = C::pad();
      if (!has_row(n, first, t)) return;
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
      if (!has_row(n, first, t)) return;
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
  /* After up_all, which of up to a turn left all at hand. */
  HD void down_all(int64_t begin, int32_t n, T before, bool at_start, ptr<T> out) {
    const bool at_hand = n <= memory::WARPS * ROW_LENGTH;
    for (int32_t turn = 0; turn * ROW_LENGTH < n; turn += memory::WARPS) {
      if (!at_hand) up(begin, n, turn);
      down(begin, n, turn, before, at_start, out);
    }
  }
};

/* ---- segments of up to a chunk ---- */

/* How many blocks are to find room on a multiprocessor: two leave a thread 64 registers, too
 * few for products of 64-bit integers. */
template <class C> struct resident_scans {
  enum { value = 2 };
};

/* Segments of up to a row are done together, by a thread for each window: windows have slots
 * of 8 elements, and a block has all slots of the segments whose first slot is among its own;
 * so much of a segment may stand after them. The segments of more than a row that begin there
 * are done one after another by the whole block: they are few, as slots are many for them.
 * Those of more than a chunk are left alone. */
template <class C, class X = operand<typename C::type>> struct scan_pass {
  using T = typename C::type;
  enum { threads = SCAN_THREADS, resident = resident_scans<C>::value };
  static constexpr int WARPS = threads / WARP, SLOT_BITS = 3;
  static constexpr int SLOTS = threads - ROW_LENGTH / SCAN_ROW; /* of a block */

  /* Where the segments of the block begin, from its first, and their slots, from the block's:
   * of one more than there are. What is too far is FAR. */
  enum : int32_t { FAR = INT32_MAX };
  struct shared {
    row_memory<T> m;
    shared_array<T, threads> of_window;
    shared_array<int32_t, threads> start, slot;
    shared_array<int32_t, WARPS> longer, of_warp;
    shared_array<int32_t, 1> found;
    shared_array<int64_t, 1> first;
  };

  segments d;
  X x;
  ptr<T> out;
  int32_t longest; /* segments; all of more than a row count as one element more than that */

  HD static int32_t near(int64_t distance) {
    return distance < FAR ? (int32_t)distance : (int32_t)FAR;
  }

  /* ---- which segments ---- */

  /* The first segment whose first slot is `slot` or a later one: the first warp looks for it.
   */
  template <class B> HD int64_t segment_from(B &block, int64_t slot) const {
    auto &m = block.shared;
    typename B::template reg<int64_t> low, high;
    const int64_t before = slot - (d.total >> SLOT_BITS);
    const int64_t lowest = before > 0 ? before : 0, highest = slot < d.count ? slot : d.count;
    block.each([&](int t) {
      low[t] = lowest;
      high[t] = t < WARP ? highest : lowest;
    });
    search_by_warps(block, low, high, highest - lowest,
                    [&](int, int64_t s) { return (d.start(s) >> SLOT_BITS) + s < slot; });
    block.each([&](int t) {
      if (t == 0) m.first[0] = low[t];
    });
    block.each([&](int t) { low[t] = m.first[0]; });
    return block.uniform(low);
  }

  /* Looks at the segments that begin in this block's slots; gives how many there are. */
  template <class B, class REG>
  HD int32_t look(B &block, int64_t first_slot, int64_t first, int64_t base,
                  REG &is_longer) const {
    auto &m = block.shared;
    typename B::template reg<int32_t> found;
    block.each([&](int t) {
      const int64_t s = first + t, start = d.start(s < d.count ? s : d.count);
      m.start[t] = near(start - base);
      m.slot[t] = s < d.count ? near((start >> SLOT_BITS) + s - first_slot) : (int32_t)FAR;
      if (t == 0) m.found[0] = 0;
    });
    block.each([&](int t) {
      is_longer[t] = 0;
      if (m.slot[t] >= SLOTS) return;
      const int32_t length = m.start[t + 1] - m.start[t];
      is_longer[t] = length > ROW_LENGTH && length <= CHUNK;
      if (m.slot[t + 1] >= SLOTS) m.found[0] = t + 1;
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

  /* Behind the elements of the `found` segments that begin here, but for those of a last one of
   * more than a row, from the block's first. */
  HD static int32_t end_of(const shared &m, int32_t found) {
    const int32_t start = m.start[found - 1], end = m.start[found];
    return end - start > ROW_LENGTH ? start : end;
  }

  /* Segments of up to a row among the `found` that begin here. If all elements from the first
   * to the last fit in shared memory, accesses are coalesced, and elements of longer segments
   * between them are copied, to be written anew; else each thread reads and writes its own
   * elements. */
  template <class B> HD void short_ones(B &block, int64_t base, int32_t found) const {
    auto &m = block.shared;
    using memory = row_memory<T>;
    const auto together = [&](int32_t end) {
      return loads_at_once(x) && end <= memory::CAPACITY;
    };
    block.each([&](int t) {
      const int32_t end = end_of(m, found);
      if (!together(end)) return;
      load_eight<C>(x, base, end, t, threads,
                    [&](int q, T v) { m.m.elements[memory::padded(t + q * threads)] = v; });
    });

    typename B::template reg<eight<T>> a;
    typename B::template reg<int32_t> at, count, number, position;
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
      const bool at_hand = together(end_of(m, found));
      const int32_t k = t - (int32_t)m.slot[low], length = m.start[low + 1] - m.start[low];
      const int32_t left = k >= 0 && length <= ROW_LENGTH ? length - k * SCAN_ROW : 0;
      number[t] = left > 0 ? k : 0;
      at[t] = m.start[low] + k * SCAN_ROW;
      count[t] = left < 0 ? 0 : left < SCAN_ROW ? left : SCAN_ROW;
      position[t] = at_hand ? at[t] : t * SCAN_ROW;
      if (!at_hand) {
        RAVEL_ROLLED
        for (int q = 0; q < count[t]; q++)
          m.m.elements[memory::padded(position[t] + q)] = x[base + at[t] + q];
      }
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++)
        a[t].v[q] = q < count[t] ? (T)m.m.elements[memory::padded(position[t] + q)] : C::pad();
      prefix_of_eight<C>(a[t]);
      m.of_window[t] = a[t].v[SCAN_ROW - 1];
    });
    windows(block, number);
    block.each([&](int t) {
      exclude<C>(a[t], number[t] > 0 ? (T)m.of_window[t - 1] : C::pad());
      if (number[t] == 0) a[t].v[0] = C::identity();
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++) {
        if (q < count[t]) m.m.elements[memory::padded(position[t] + q)] = a[t].v[q];
      }
      if (together(end_of(m, found))) return;
      RAVEL_ROLLED
      for (int q = 0; q < count[t]; q++)
        out[base + at[t] + q] = m.m.elements[memory::padded(position[t] + q)];
    });
    block.each([&](int t) {
      const int32_t end = end_of(m, found);
      if (!together(end)) return;
      RAVEL_UNROLL
      for (int q = 0; q < SCAN_ROW; q++) {
        const int i = t + q * threads;
        if (i < end) out[base + i] = m.m.elements[memory::padded(i)];
      }
    });
  }

  /* ---- all ---- */

  template <class B> HD void operator()(B &block) const {
    auto &m = block.shared;
    const int64_t slot = block.index() * SLOTS, first = segment_from(block, slot);
    const int64_t base = d.start(first);
    typename B::template reg<uint32_t> is_longer;
    typename B::template reg<int32_t> begin, left;
    const int32_t found = look(block, slot, first, base, is_longer);
    if (found == 0) return;
    const int32_t jobs =
        longest > ROW_LENGTH ? list_marked(block, is_longer, m.longer, m.of_warp, WARPS) : 0;
    if (jobs < found) short_ones(block, base, found);
    for (int32_t k = 0; k < jobs; k++) {
      block.each([&](int t) {
        const int32_t its = m.longer[k];
        begin[t] = m.start[its];
        left[t] = m.start[its + 1] - begin[t];
      });
      const int64_t start = base + block.uniform(begin);
      rows<C, X, B> r{block, m.m, x, {}, {}};
      r.up_all(start, block.uniform(left));
      r.down_all(start, block.uniform(left), C::pad(), true, out);
    }
  }
};

/* ---- longer segments ---- */

/* A chunk of a segment for each block. Blocks take chunks by a counter, in the order in which
 * they begin, so that a block waits only for blocks that are running or done: a chunk has a
 * higher number than those before it. On a host blocks run one after the other, and none waits.
 */
template <class C, class X = operand<typename C::type>> struct scan_chunks {
  using T = typename C::type;
  using totals_of_chunks = published_totals<T, CHUNK_BITS>;
  enum { threads = SCAN_THREADS, resident = resident_scans<C>::value };

  struct shared {
    row_memory<T> m;
    shared_array<int64_t, 1> taken;
    shared_array<int64_t, 3> of_chunk; /* its segment's start and end, and its number */
    shared_array<T, 1> total;          /* on the level that is looked at */
    shared_array<T, totals_of_chunks::LEVELS> earlier; /* in the chunk's window */
  };

  segments d;
  X x;
  ptr<T> out;
  chunks longer;
  totals_of_chunks totals;
  ptr<uint64_t> next; /* number of a block */

  /* The number of what this block does. */
  template <class B> HD int64_t take(B &block) const {
    auto &m = block.shared;
    typename B::template reg<int64_t> mine;
    block.each([&](int t) {
      if (t == 0) m.taken[0] = (int64_t)atomic_add(next, 1);
    });
    block.each([&](int t) { mine[t] = m.taken[0]; });
    return block.uniform(mine);
  }

  /* The chunk of a candidate: false if it has none. */
  template <class B> HD bool find_chunk(B &block, int64_t candidate) const {
    auto &m = block.shared;
    typename B::template reg<int64_t> element, segment;
    block.each([&](int t) {
      element[t] = t < WARP ? longer.element_of(d, candidate) : -1;
      segment[t] = candidate;
    });
    if (longer.element_of(d, candidate) >= 0) segments_by_warps(block, d, element, segment);
    block.each([&](int t) {
      if (t != 0) return;
      chunk at{segment[t], 0};
      const bool any = longer.is_chunk(d, candidate, at);
      m.of_chunk[0] = d.start(at.segment);
      m.of_chunk[1] = d.start(at.segment) + d.length(at.segment);
      m.of_chunk[2] = any ? at.number : -1;
    });
    block.each([&](int t) { element[t] = m.of_chunk[2]; });
    return block.uniform(element) >= 0;
  }
  /* What stands before a chunk of the segment at `start`. */
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
    typename B::template reg<int64_t> its_start, its_end, its_number;
    if (!find_chunk(block, take(block))) return;
    block.each([&](int t) {
      its_start[t] = m.of_chunk[0];
      its_end[t] = m.of_chunk[1];
      its_number[t] = m.of_chunk[2];
    });
    const int64_t start = block.uniform(its_start), number = block.uniform(its_number);
    const int64_t begin = start + (number << CHUNK_BITS), left = block.uniform(its_end) - begin;
    const int32_t n = (int32_t)(left < CHUNK ? left : CHUNK);
    rows<C, X, B> r{block, m.m, x, {}, {}};
    r.up_all(begin, n);
    block.each([&](int t) {
      if (t != 0) return;
      m.total[0] = m.m.of_row[WARP - 1];
      if (left > CHUNK) totals.publish(0, begin, m.m.of_row[WARP - 1]);
    });
    r.down_all(begin, n, before(block, start, number, left > CHUNK), number == 0, out);
  }
};

} // namespace ravel
#endif
