/* reduce.cu - reductions, in the tree of trees.h.
 *
 * There is one launch if no segment is longer than a block of the tree (1024), and one more for
 * each level of the tree above. A launch does all segments that end on its level, and one level
 * of the longer ones, whose partial results go to slots (prelude.hpp). Flags may be combined in
 * any order, so their lowest level has blocks of 16384. Segments that end on this level are
 * divided among blocks by number, and within a block by length: a thread reduces up to eight
 * elements, a warp more. If segments are short on average, all threads load for them. tree.hpp
 * finds the blocks of longer segments, one for each warp. Vectors under one descriptor that are
 * reduced by the same operation share launches while these are in the window.
 *
 * Bytes moved: the operand once, the descriptor's offsets once, and a result for each segment.
 * The levels above the first add a thousandth of that. A lane has eight loads of numbers in
 * flight, or four of sixteen flags each.
 */
#include <algorithm>

#include "cvl-cuda/combine.hpp"
#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/together.hpp"
#include "cvl-cuda/tree.hpp"
#include "cvl-cuda/variants.hpp"

namespace ravel {
namespace {

constexpr int BLOCK_BITS = 10;
constexpr int64_t BLOCK = (int64_t)1 << BLOCK_BITS;
static_assert(BLOCK == (int)CVL_REDUCE_BLOCK && (int)WARP == (int)CVL_REDUCE_LANES,
              "the tree of trees.h");

/* The part of a long segment that a warp does on the lowest level: a block of the tree. For
 * flags it is sixteen blocks, since a warp loads a whole block of flags at once, and would then
 * have to fold lanes for each. */
template <class T> constexpr int chunk_bits() {
  return sizeof(T) == 1 ? BLOCK_BITS + 4 : BLOCK_BITS;
}

/* ---- entries in memory ---- */

/* Returns a lane's combination of n entries before the lanes are folded. Several entries are
 * loaded at a time; nothing may come between the loads, not even a test. */
template <class C, class T> HD T lane_of_numbers(ptr<const T> from, int64_t n, int lane) {
  enum { UNROLL = COMPILED_CUDA_REDUCE_UNROLL };
  T sum = C::pad();
  for (int64_t k = lane; k < n; k += WARP * UNROLL) {
    T v[UNROLL];
    RAVEL_UNROLL
    for (int q = 0; q < UNROLL; q++) v[q] = k + q * WARP < n ? (T)from[k + q * WARP] : C::pad();
    RAVEL_UNROLL
    for (int q = 0; q < UNROLL; q++) sum = C{}(sum, v[q]);
  }
  return sum;
}

/* Sixteen flags, which are loaded at once. */
struct alignas(16) sixteen {
  uint64_t half[2];
};

HD inline int64_t flags_before_word(ptr<const uint8_t> from) {
  return (int64_t)(-(uint64_t)(uintptr_t)address(from) % sizeof(sixteen));
}

/* Returns a lane's combination of flags, whose order does not matter: aligned words, and at
 * most one of the flags before and after them. */
template <class C> HD uint8_t lane_of_flags(ptr<const uint8_t> from, int64_t n, int lane) {
  using words = typename on_bits<C>::type;
  enum { UNROLL = 4, SIZE = sizeof(sixteen) };
  const int64_t before = flags_before_word(from), head = before < n ? before : n;
  const int64_t count = (n - head) / SIZE, tail = head + count * SIZE;
  const ptr<const sixteen> word = retyped<const sixteen>(from + head);
  const int64_t single = lane < SIZE ? lane : tail + (lane - SIZE);
  const bool any = single < (lane < SIZE ? head : n);
  const int64_t pad = C::pad() * (int64_t)(~(uint64_t)0 / 255);
  const uint8_t one = any ? (uint8_t)from[single] : C::pad();
  int64_t sum = pad;
  RAVEL_ROLLED
  for (int64_t k = lane; k < count; k += WARP * UNROLL) {
    sixteen v[UNROLL];
    RAVEL_UNROLL
    for (int q = 0; q < UNROLL; q++) {
      v[q] = {{(uint64_t)pad, (uint64_t)pad}};
      if (k + q * WARP < count) v[q] = word[k + q * WARP];
    }
    RAVEL_UNROLL
    for (int q = 0; q < UNROLL; q++)
      sum = words{}(sum, words{}((int64_t)v[q].half[0], (int64_t)v[q].half[1]));
  }
  RAVEL_UNROLL
  for (int bits = 32; bits >= 8; bits /= 2)
    sum = words{}(sum, (int64_t)((uint64_t)sum >> bits));
  return C{}((uint8_t)sum, one);
}

template <class C, class T> HD T lane_in_memory(ptr<const T> from, int64_t n, int lane) {
  if constexpr (sizeof(T) == 1) {
    return lane_of_flags<C>(from, n, lane);
  } else {
    return lane_of_numbers<C, T>(from, n, lane);
  }
}

/* ---- on the device ---- */

/* One of the vectors that are reduced by the same launch. */
template <class T> struct reduced {
  operand<T> x;
  ptr<T> partial, out;
};

/* One level of the tree, for up to `most` vectors under the same descriptor. On the lowest
 * level, where bits = 0, an entry is an element. Above, it stands for a block of 2^bits
 * elements, and entry k of a segment is in slot k of its slots of that size. Segments of at
 * most `done` elements are left alone. */
template <class C> struct reduction {
  using T = typename C::type;
  using wide_product = combination<int64_t, OP_MUL>;
  enum { threads = COMPILED_CUDA_REDUCE_THREADS, most = 8 };
  /* Four blocks leave a thread 64 registers: too few for products of 64-bit integers. */
  enum { resident = std::is_same<C, wide_product>::value ? 3 : 4 };
  static constexpr int WARPS = threads / WARP, FEW = 8, STAGED = 2048;
  /* The segments of a block, and the mean length from which a warp reads segments by itself. */
  static constexpr int EACH = 4, SEGMENTS = EACH * threads, LONG = 128;
  /* Padding of one element after each 128 bytes avoids bank conflicts between threads that read
   * some consecutive elements each. */
  static constexpr int BANKS = 128 / (int)sizeof(T);

  struct shared {
    shared_array<T, STAGED + STAGED / BANKS> staged;
    shared_array<int32_t, SEGMENTS + 1> start; /* starts, relative to the first */
    shared_array<int32_t, threads> waiting;    /* segments that a warp must do */
    shared_array<int32_t, WARPS> of_warp;
  };

  segments d;
  int32_t bits, per_block;            /* segments for each of the first blocks */
  int64_t done, short_blocks, blocks; /* blocks: of each vector */
  chunks longer;
  int32_t vectors;
  reduced<T> list[most];

  HD int64_t entries(int64_t length) const {
    return (length + ((int64_t)1 << bits) - 1) >> bits;
  }
  HD int64_t first_entry(int64_t s) const {
    return bits == 0 ? d.start(s) : slot_of(d, s, bits);
  }
  HD static int32_t padded(int32_t i) { return i + i / BANKS; }

  /* Returns a lane's combination of n entries before the lanes are folded. The entries are
   * computed, or in shared memory. */
  template <class X> HD static T lane_of(const X &at, int64_t first, int64_t n, int lane) {
    T sum = C::pad();
    RAVEL_ROLLED
    for (int64_t i = lane; i < n; i += WARP) sum = C{}(sum, at(first + i));
    return sum;
  }
  /* Combines up to MOST entries, at most one for each lane. This is the tree in which all other
   * lanes would be padding. */
  template <int MOST, class X> HD static T alone(const X &at, int64_t first, int64_t n) {
    if (n == 0) return C::identity();
    const auto entry = [&](int q) -> T { return q < n ? at(first + q) : C::pad(); };
    if (n <= 2) return lane_of_tree<2, 1, 0>(entry);
    if (n <= FEW) return lane_of_tree<FEW, 1, 0>(entry);
    return lane_of_tree<MOST, 1, 0>(entry);
  }
  /* Returns what lane Q of N has after lanes have met those W and more behind them. It goes
   * depth first, since that takes the fewest registers. */
  template <int N, int W, int Q, class X> HD static T lane_of_tree(const X &entry) {
    if constexpr (W == N) {
      return entry(Q);
    } else {
      const T one = lane_of_tree<N, 2 * W, Q>(entry);
      return C{}(one, lane_of_tree<N, 2 * W, Q + W>(entry));
    }
  }

  /* Does a block of a longer segment for each warp, or several blocks. */
  template <class B> HD void one_level(B &block, const reduced<T> &v, int64_t group) const {
    const int64_t each = (int64_t)1 << (longer.bits - bits);
    typename B::template reg<T> sum;
    typename B::template reg<int64_t> slot, element, segment;
    block.each([&](int t) {
      const int64_t candidate = group * WARPS + t / WARP;
      segment[t] = candidate;
      element[t] = candidate < longer.candidates ? longer.element_of(d, candidate) : -1;
    });
    segments_by_warps(block, d, element, segment);
    block.each([&](int t) {
      const int64_t candidate = group * WARPS + t / WARP;
      chunk at{element[t] < 0 ? candidate : (int64_t)segment[t], 0};
      sum[t] = C::pad();
      slot[t] = -1;
      if (candidate >= longer.candidates || !longer.is_chunk(d, candidate, at)) return;
      const int64_t left = entries(d.length(at.segment)) - at.number * each;
      const int64_t n = left < each ? left : each;
      const int64_t first = first_entry(at.segment) + at.number * each;
      slot[t] = slot_of(d, at.segment, longer.bits) + at.number;
      sum[t] = v.x.kind == FROM_MEMORY
                   ? lane_in_memory<C, T>(v.x.data + first, n, t % WARP)
                   : lane_of([&](int64_t i) { return v.x[i]; }, first, n, t % WARP);
    });
    block.fold(sum, C{});
    block.each([&](int t) {
      if (t % WARP == 0 && slot[t] >= 0) v.partial[slot[t]] = sum[t];
    });
  }

  /* Does the segments from `first` on that end on this level, by a thread or a warp each. They
   * read entries in place. */
  template <class B>
  HD void where_they_are(B &block, const reduced<T> &v, int64_t first, int32_t count) const {
    for (int32_t some = 0; some < count; some += threads)
      some_where_they_are(block, v, first + some,
                          count - some < threads ? count - some : (int32_t)threads);
  }
  template <class B>
  HD void some_where_they_are(B &block, const reduced<T> &v, int64_t first,
                              int32_t count) const {
    const auto at = [&](int64_t i) -> T { return v.x[i]; };
    typename B::template reg<uint32_t> waits;
    block.each([&](int t) {
      waits[t] = 0;
      if (t >= count) return;
      const int64_t s = first + t, length = d.length(s), n = entries(length);
      if (length <= done || n > BLOCK) return;
      waits[t] = n > FEW;
      if (n <= FEW) v.out[s] = alone<FEW>(at, first_entry(s), n);
    });
    by_warps(
        block, list_marked(block, waits, block.shared.waiting, block.shared.of_warp, WARPS),
        [&](int32_t k, int lane) {
          const int64_t s = first + k, begin = first_entry(s), n = entries(d.length(s));
          return v.x.kind == FROM_MEMORY ? lane_in_memory<C, T>(v.x.data + begin, n, lane)
                                         : lane_of(at, begin, n, lane);
        },
        [&](int32_t k, T sum) { v.out[first + k] = sum; });
  }

  /* Lets warps do the work of the `waiting` threads in the list. of(thread, lane) is a lane's
   * combination; one lane calls put(thread, result). */
  template <class B, class OF, class PUT>
  HD void by_warps(B &block, int32_t waiting, OF of, PUT put) const {
    auto &memory = block.shared;
    typename B::template reg<T> sum;
    for (int32_t k = 0; k < waiting; k += WARPS) {
      block.each([&](int t) {
        sum[t] = C::pad();
        if (k + t / WARP >= waiting) return;
        const int32_t thread = memory.waiting[k + t / WARP];
        sum[t] = of(thread, t % WARP);
      });
      block.fold(sum, C{});
      block.each([&](int t) {
        if (t % WARP != 0 || k + t / WARP >= waiting) return;
        const int32_t thread = memory.waiting[k + t / WARP];
        put(thread, sum[t]);
      });
    }
  }

  /* Does many short segments in memory, in turns of up to STAGED elements, which all threads
   * together read into shared memory. So reads are coalesced, and many are in flight, whatever
   * the lengths. Segments longer than a block are left alone. */
  template <class B>
  HD void in_turns(B &block, const reduced<T> &v, int64_t first, int64_t base,
                   int32_t count) const {
    auto &memory = block.shared;
    typename B::template reg<int32_t> next;
    for (int32_t begin = 0; begin < count;) {
      block.each([&](int t) {
        next[t] = end_of_turn(memory, begin, count);
        stage(memory, v.x.data + base, begin, next[t], t);
      });
      const int32_t end = block.uniform(next);
      one_turn(block, v, first, begin, end);
      begin = end;
    }
  }
  /* Returns the end of the segments from `begin` on that fit the memory; it includes at least
   * one segment. */
  HD static int32_t end_of_turn(const shared &memory, int32_t begin, int32_t count) {
    int32_t low = begin, high = count;
    const int64_t room = (int64_t)(int32_t)memory.start[begin] + STAGED;
    while (low < high) {
      const int32_t middle = (low + high + 1) / 2;
      if (memory.start[middle] <= room) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low > begin ? low : begin + 1;
  }
  HD static void stage(shared &memory, ptr<const T> from, int32_t begin, int32_t end, int t) {
    const int32_t start = memory.start[begin], all = memory.start[end] - start;
    const int32_t n = all <= STAGED ? all : 0;
    T loaded[STAGED / threads];
    RAVEL_UNROLL
    for (int q = 0; q < STAGED / threads; q++)
      loaded[q] = q * threads + t < n ? (T)from[start + q * threads + t] : C::pad();
    RAVEL_UNROLL
    for (int q = 0; q < STAGED / threads; q++) {
      const int32_t i = q * threads + t;
      if (i < n) memory.staged[padded(i)] = loaded[q];
    }
  }
  template <class B>
  HD void one_turn(B &block, const reduced<T> &v, int64_t first, int32_t begin,
                   int32_t end) const {
    auto &memory = block.shared;
    const auto at = [&](int64_t i) -> T { return memory.staged[padded((int32_t)i)]; };
    typename B::template reg<uint32_t> waits;
    block.each([&](int t) {
      waits[t] = 0;
      RAVEL_ROLLED
      for (int32_t s = begin + t; s < end; s += threads) {
        const int32_t from = memory.start[s], n = memory.start[s + 1] - from;
        if (n <= WARP) v.out[first + s] = alone<WARP>(at, from - memory.start[begin], n);
        waits[t] |= n > WARP;
      }
    });
    const int32_t waiting = list_marked(block, waits, memory.waiting, memory.of_warp, WARPS);
    for (int32_t some = begin; some < end && waiting > 0; some += threads) {
      const auto length = [&](int32_t k) -> int32_t {
        return some + k < end ? memory.start[some + k + 1] - memory.start[some + k] : 0;
      };
      by_warps(
          block, waiting,
          [&](int32_t k, int lane) {
            const int32_t n = length(k);
            if (n <= WARP || n > BLOCK) return C::pad();
            return lane_of(at, memory.start[some + k] - memory.start[begin], n, lane);
          },
          [&](int32_t k, T sum) {
            const int32_t n = length(k);
            if (n > WARP && n <= BLOCK) v.out[first + some + k] = sum;
          });
    }
  }

  /* Limits a distance: a longer segment is left to where_they_are. */
  HD static int32_t near(int64_t distance) {
    return distance < INT32_MAX ? (int32_t)distance : INT32_MAX;
  }
  /* Does block b of those segments that end on this level. */
  template <class B> HD void short_block(B &block, const reduced<T> &v, int64_t b) const {
    const int64_t first = b * per_block, left = d.count - first;
    const int32_t count = (int32_t)(left < per_block ? left : per_block);
    const int64_t base = d.start(first);
    if (bits == 0 && v.x.kind == FROM_MEMORY && are_short(block, first, base, count)) {
      in_turns(block, v, first, base, count);
    } else {
      where_they_are(block, v, first, count);
    }
  }
  /* Notes where segments begin. Returns whether they are short on average. */
  template <class B>
  HD bool are_short(B &block, int64_t first, int64_t base, int32_t count) const {
    auto &memory = block.shared;
    typename B::template reg<int32_t> span;
    block.each([&](int t) {
      int64_t start[EACH + 1];
      RAVEL_UNROLL
      for (int q = 0; q <= EACH; q++) {
        const int32_t s = q * threads + t;
        start[q] = d.start(first + (s < count ? s : count));
      }
      RAVEL_UNROLL
      for (int q = 0; q <= EACH; q++) {
        const int32_t s = q * threads + t;
        if (s <= count) memory.start[s] = near(start[q] - base);
      }
    });
    block.each([&](int t) { span[t] = memory.start[count]; });
    return block.uniform(span) / count < LONG;
  }

  template <class B> HD void operator()(B &block) const {
    const reduced<T> &v = list[block.index() / blocks];
    const int64_t b = block.index() % blocks;
    if (b >= short_blocks) {
      one_level(block, v, b - short_blocks);
    } else {
      short_block(block, v, b);
    }
  }
};

/* Adds one more vector, on the same level and under the same descriptor. */
template <class C> bool join_reductions(void *waiting, launch *l, const void *body) {
  reduction<C> &x = *(reduction<C> *)waiting;
  const reduction<C> &y = *(const reduction<C> *)body;
  if (x.vectors == x.most || !same(x.d, y.d) || x.bits != y.bits || x.done != y.done ||
      x.blocks != y.blocks || x.short_blocks != y.short_blocks)
    return false;
  x.list[x.vectors++] = y.list[0];
  l->count += x.blocks;
  return true;
}

/* Returns how many segments a block gets. It is enough that all warps of the device have work,
 * or less: for short segments those of a turn, which may be longer than average; for long ones
 * as many as threads look at together. */
template <class C> int64_t segments_of_block(int64_t of_warp, int64_t mean) {
  using R = reduction<C>;
  const int64_t least = R::WARPS, turn = R::STAGED / 8 * 7 / mean;
  const int64_t most = mean < R::LONG ? turn : (int64_t)R::threads;
  return std::min(std::max(std::min(of_warp, most), least), (int64_t)R::SEGMENTS);
}

/* Does all levels from the one whose entries stand for 2^bits elements, for segments of more
 * than `done`. Command `after` wrote the entries, unless they are an operand's. */
template <class C, class T>
void levels(work &w, const segments &d, operand<T> x, int bits, int64_t done, int64_t longest,
            ptr<T> out, uint64_t after) {
  const int64_t warps = (int64_t)w.c.device->processors() * reduction<C>::WARPS;
  const int64_t mean = d.count > 0 ? d.total / d.count + 1 : 1;
  reduction<C> r{};
  r.d = d;
  r.done = done;
  r.vectors = 1;
  r.list[0].out = out;
  r.per_block = (int32_t)segments_of_block<C>(d.count / warps + 1, mean);
  for (bool more = true; more;) {
    const int end = bits + BLOCK_BITS, next = bits == 0 ? chunk_bits<T>() : end;
    more = longest > (int64_t)1 << end;
    r.bits = bits;
    r.list[0].x = x;
    r.short_blocks = more && d.equal >= 0 ? 0 : (d.count + r.per_block - 1) / r.per_block;
    r.longer = more ? chunks_of(d, next, end, true) : chunks{next, end, 0, 0};
    if (more) r.list[0].partial = w.scratch<T>(slots(d, next));
    const int64_t long_blocks =
        (r.longer.candidates + reduction<C>::WARPS - 1) / reduction<C>::WARPS;
    r.blocks = r.short_blocks + long_blocks;
    after =
        w.run_joined(launch_blocks_on_device("reduce", r.blocks, r), join_reductions<C>, after);
    r.done = (int64_t)1 << end;
    x = in_memory<T>(r.list[0].partial);
    bits = next;
  }
}

/* ---- on the host ---- */

/* The tree of one segment of n elements from x[first]. */
template <class C, class X> struct host_tree {
  using T = typename C::type;
  const X &x;
  int64_t first, n;

  int64_t entries(int level) const {
    int64_t count = n;
    for (; level > 0; level--) count = (count + BLOCK - 1) / BLOCK;
    return count;
  }
  T entry(int level, int64_t k) const {
    return level == 0 ? (T)x[first + k] : block(level - 1, k);
  }
  /* Returns the combination of block k of a level's entries. */
  T block(int level, int64_t k) const {
    const int64_t begin = k * BLOCK, all = entries(level);
    const int64_t count = all - begin < BLOCK ? all - begin : BLOCK;
    T lane[CVL_REDUCE_LANES];
    for (int64_t j = 0; j < CVL_REDUCE_LANES; j++)
      lane[j] = j < count ? entry(level, begin + j) : C::pad();
    for (int64_t j = CVL_REDUCE_LANES; j < count; j++) {
      T &sum = lane[j % CVL_REDUCE_LANES];
      sum = C{}(sum, entry(level, begin + j));
    }
    int w = CVL_REDUCE_LANES / 2;
    while (w >= count && w > 1) w /= 2; /* the upper lanes are padding */
    for (; w > 0; w /= 2) {
      for (int j = 0; j < w; j++) lane[j] = C{}(lane[j], lane[j + w]);
    }
    return lane[0];
  }
  T reduce() const {
    if (n == 0) return C::identity();
    if constexpr (C::exact != 0) {
      T sum = x[first];
      for (int64_t i = 1; i < n; i++) sum = C{}(sum, x[first + i]);
      return sum;
    }
    int top = 0;
    while (entries(top) > 1) top++;
    return entry(top, 0);
  }
};

template <class C, class T>
void reduce_as(work &w, const cvl_value &v, const cvl_value &dv, cvl_value *out) {
  const segments d = w.view(dv);
  const operand<T> x = w.read<T>(v);
  const ref<cvl_vector> r = w.make(elem_of<T>(), d.count);
  const ptr<T> to = w.data<T>(r);
  if (w.on_host) {
    for (int64_t s = 0; s < d.count; s++)
      to[s] = host_tree<C, operand<T>>{x, d.start(s), d.length(s)}.reduce();
  } else if (!reduced_by_choice<C>(w, d, x, to)) {
    levels<C, T>(w, d, x, 0, -1, longest_segment(w.c, dv), to, 0);
  }
  w.give(out, r);
}

template <class C, class T>
void finish_as(work &w, const segments &d, int64_t longest, ptr<const T> partial,
               uint64_t after, ptr<T> out) {
  if (!w.on_host) {
    levels<C, T>(w, d, in_memory<T>(partial), BLOCK_BITS, -1, longest, out, after);
    return;
  }
  for (int64_t s = 0; s < d.count; s++) {
    out[s] = host_tree<C, ptr<const T>>{partial, slot_of(d, s, BLOCK_BITS),
                                        (d.length(s) + BLOCK - 1) / BLOCK}
                 .reduce();
  }
}

/* Gives the sum of INTs of one segment if it is known, or is computed elsewhere anyway. */
bool give_known_sum(context &c, cvl_op op, const cvl_value &v, const cvl_value &d,
                    cvl_value *out) {
  if (op != OP_ADD || v.form != CVL_VECTOR || count_of(d) != 1) return false;
  const cvl_vector &x = *v.as.vector;
  const ref<deferred> sum = sum_later(c, x);
  if (x.has_sum || (sum && is_known(c, *sum.get()))) {
    *out = cvl_scalar_int((cvl_elem)v.elem, x.has_sum ? x.sum : sum->value);
  } else if (sum) {
    out->form = CVL_VECTOR;
    out->elem = v.elem;
    out->as.vector = int_of_deferred(c, sum).give();
  } else {
    return false;
  }
  return true;
}

} // namespace

void reduce(context &c, uint64_t site, cvl_op op, const cvl_value &v, const cvl_value &d,
            cvl_value *out) {
  if (give_known_sum(c, op, v, d, out)) return;
  work w(c, site, {&v, &d}, 0, operand_lengths::BOUNDED);
  with_typed_combination((cvl_elem)v.elem, op, [&](auto of, auto x) {
    reduce_as<decltype(of), decltype(x)>(w, v, d, out);
  });
}

template <class T>
void finish_reduction(work &w, cvl_op op, const segments &d, int64_t longest,
                      ptr<const T> partial, uint64_t after, ptr<T> out) {
  with_combination<T>(
      op, [&](auto of) { finish_as<decltype(of), T>(w, d, longest, partial, after, out); });
}

template <class T>
void finish_long_reduction(work &w, cvl_op op, const segments &d, int64_t longest,
                           ptr<const T> partial, uint64_t after, ptr<T> out) {
  with_combination<T>(op, [&](auto of) {
    levels<decltype(of), T>(w, d, in_memory<T>(partial), BLOCK_BITS, BLOCK, longest, out,
                            after);
  });
}

#define INSTANCES(T)                                                                           \
  template void finish_reduction(work &, cvl_op, const segments &, int64_t, ptr<const T>,      \
                                 uint64_t, ptr<T>);                                            \
  template void finish_long_reduction(work &, cvl_op, const segments &, int64_t, ptr<const T>, \
                                      uint64_t, ptr<T>);
INSTANCES(int32_t)
INSTANCES(int64_t)
INSTANCES(float)
INSTANCES(double)
INSTANCES(uint8_t)
#undef INSTANCES

} // namespace ravel
