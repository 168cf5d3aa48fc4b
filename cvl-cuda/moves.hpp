/* moves.hpp - bodies that gather or scatter by an index: the permute family, EXTRACT, REPLACE.
 *
 * A tuple is several vectors, which programs move one after the other by the same index. So a
 * body has a list of vectors (`moves`) and finds the positions once for all of them. It takes
 * in the next vector as long as it is in the window (`join_moves`). Vectors are moved as bits:
 * only the width of their elements matters.
 *
 * Comments give the bytes per element in these terms: I of the index, E of each vector moved, C
 * of a claim (4, or 8 from 2^32 sources on), R = 1/4 of the rank directory if there are
 * segments, 1 of flags if any. A random access costs a sector of 32 bytes whatever its width.
 */
#ifndef RAVEL_CUDA_MOVES_HPP
#define RAVEL_CUDA_MOVES_HPP

#include "cvl-cuda/last-block.hpp"
#include "cvl-cuda/together.hpp"
#include "cvl-cuda/values.hpp"

namespace ravel {

/* Up to this many elements are moved in one block. It takes some three microseconds, as much as
 * each of two or three launches; this is an estimate. */
enum : int64_t { FEW_MOVED = 4096 };

/* ---- positions ---- */

/* The parts of addresses that exist, so that kernels have no code for the others: one element
 * of the index for each segment; an index in segments of its own; flags, too. */
enum index_form { ONE_OF_EACH, IN_SEGMENTS, WITH_FLAGS };

/* An index vector with the segments `far` of the vector that it refers to. It has segments
 * `near` if the index has its own. Elements whose flag is F refer to nothing. */
template <class I, index_form FORM> struct addresses {
  segments near, far;
  operand<I> index;
  operand<uint8_t> flags;
  faults bad;

  HD bool simple() const {
    return is_simple(index) && (FORM != WITH_FLAGS || is_simple(flags));
  }
  template <int U> HD void load_flags(int64_t i, int64_t step, uint8_t (&on)[U]) const {
    if constexpr (FORM == WITH_FLAGS) {
      load(flags, i, step, on);
    } else {
      for (int k = 0; k < U; k++) on[k] = 1;
    }
  }
  template <int U> HD void load_near(int64_t i, int64_t step, int64_t (&s)[U]) const {
    if constexpr (FORM == ONE_OF_EACH) {
      for (int k = 0; k < U; k++) s[k] = i + k * step;
    } else {
      load_segments(near, i, step, s);
    }
  }
  /* Sets at[k] to the position that element i + k * step refers to. It is -1 if there is none,
   * or if there is a fault, which is reported. Bytes: I + R (+ 1), offsets from the cache. */
  template <int U> HD void find(int64_t i, int64_t step, int64_t (&at)[U]) const {
    enum { FEW = U < LEAST_AT_ONCE ? U : (int)LEAST_AT_ONCE };
    I x[U];
    uint8_t on[U];
    load(index, i, step, x);
    load_flags(i, step, on);
    /* Finding the segments of more elements at once would take too many registers. */
    RAVEL_UNROLL
    for (int first = 0; first < U; first += FEW) {
      int64_t few[FEW];
      find_few(i + first * step, step, x + first, on + first, few);
      RAVEL_UNROLL
      for (int k = 0; k < FEW; k++) at[first + k] = few[k];
    }
  }

private:
  /* Finds the positions of a few elements whose index and flags are loaded. */
  template <int U>
  HD void find_few(int64_t i, int64_t step, const I *x, const uint8_t *on,
                   int64_t (&at)[U]) const {
    int64_t s[U], start[U], length[U];
    load_near(i, step, s);
    load_bounds(far, s, start, length);
    int64_t wrong = -1, value = 0, limit = 0,
            segment = 0; /* of several faults the first counts */
    RAVEL_UNROLL
    for (int k = U - 1; k >= 0; k--) {
      const bool inside = x[k] >= 0 && (int64_t)x[k] < length[k];
      at[k] = on[k] && inside ? start[k] + (int64_t)x[k] : -1;
      const bool this_one = on[k] && !inside;
      wrong = this_one ? i + k * step : wrong;
      value = this_one ? (int64_t)x[k] : value;
      limit = this_one ? length[k] : limit;
      segment = this_one ? s[k] : segment;
    }
    if (wrong >= 0) bad.report(CVL_E_INDEX, wrong, value, limit, segment);
  }
};

template <class I, index_form FORM>
bool same(const addresses<I, FORM> &a, const addresses<I, FORM> &b) {
  return same(a.near, b.near) && same(a.far, b.far) && same(a.index, b.index) &&
         same(a.flags, b.flags);
}

/* ---- vectors moved ---- */

/* The value of a result element that no source is moved to. */
enum remainder { ZERO, DEFAULT, KEEP };

struct moved {
  int32_t width; /* bytes of an element: 1, 4 or 8 */
  int32_t rest;  /* enum remainder */
  operand<uint64_t> from, defaults;
  ptr<uint64_t> to; /* elements of that width, as in the operands */

  HD bool simple() const { return is_simple(from) && (rest != DEFAULT || is_simple(defaults)); }

  /* Sets result i + k * step to the element at position at[k], or to 0 if that is -1. */
  template <class T, int U>
  HD void gather_as(int64_t i, int64_t step, const int64_t (&at)[U]) const {
    const operand<T> x = retyped<T>(from);
    const ptr<T> out = retyped<T>(to);
    T v[U];
    load_at(x, at, v);
    for (int k = 0; k < U; k++) out[i + k * step] = v[k];
  }
  /* Sets result i + k * step to the element at position at[k], or as `rest` says if that is
   * -1. */
  template <class T, int U>
  HD void fetch_as(int64_t i, int64_t step, const int64_t (&at)[U]) const {
    const operand<T> x = retyped<T>(from), other = retyped<T>(defaults);
    const ptr<T> out = retyped<T>(to);
    T v[U];
    load_at(x, at, v);
    if (rest == DEFAULT) {
      T w[U];
      int64_t own[U];
      for (int k = 0; k < U; k++) own[k] = at[k] < 0 ? i + k * step : -1;
      load_at(other, own, w);
      for (int k = 0; k < U; k++) v[k] = at[k] < 0 ? w[k] : v[k];
    }
    for (int k = 0; k < U; k++) {
      if (at[k] >= 0 || rest != KEEP) out[i + k * step] = v[k];
    }
  }
  /* Moves element i + k * step to position at[k] if that is not -1. */
  template <class T, int U>
  HD void scatter_as(int64_t i, int64_t step, const int64_t (&at)[U]) const {
    const operand<T> x = retyped<T>(from);
    const ptr<T> out = retyped<T>(to);
    T v[U];
    load(x, i, step, v);
    for (int k = 0; k < U; k++) {
      if (at[k] >= 0) out[at[k]] = v[k];
    }
  }
  template <class T, int U> HD void clear_as(int64_t i, int64_t step) const {
    const ptr<T> out = retyped<T>(to);
    for (int k = 0; k < U; k++) out[i + k * step] = (T)0;
  }

  template <int U> HD void gather(int64_t i, int64_t step, const int64_t (&at)[U]) const {
    switch (width) {
    case 1: gather_as<uint8_t>(i, step, at); break;
    case 4: gather_as<uint32_t>(i, step, at); break;
    default: gather_as<uint64_t>(i, step, at); break;
    }
  }
  template <int U> HD void fetch(int64_t i, int64_t step, const int64_t (&at)[U]) const {
    switch (width) {
    case 1: fetch_as<uint8_t>(i, step, at); break;
    case 4: fetch_as<uint32_t>(i, step, at); break;
    default: fetch_as<uint64_t>(i, step, at); break;
    }
  }
  template <int U> HD void scatter(int64_t i, int64_t step, const int64_t (&at)[U]) const {
    switch (width) {
    case 1: scatter_as<uint8_t>(i, step, at); break;
    case 4: scatter_as<uint32_t>(i, step, at); break;
    default: scatter_as<uint64_t>(i, step, at); break;
    }
  }
  template <int U> HD void clear(int64_t i, int64_t step) const {
    switch (width) {
    case 1: clear_as<uint8_t, U>(i, step); break;
    case 4: clear_as<uint32_t, U>(i, step); break;
    default: clear_as<uint64_t, U>(i, step); break;
    }
  }
};

enum { MOST_MOVES = 16 };

struct moves {
  int32_t count;
  moved list[MOST_MOVES];

  HD bool simple() const {
    for (int m = 0; m < count; m++) {
      if (!list[m].simple()) return false;
    }
    return true;
  }
  template <int U> HD void gather(int64_t i, int64_t step, const int64_t (&at)[U]) const {
    for (int m = 0; m < count; m++) list[m].gather(i, step, at);
  }
  template <int U> HD void fetch(int64_t i, int64_t step, const int64_t (&at)[U]) const {
    for (int m = 0; m < count; m++) list[m].fetch(i, step, at);
  }
  template <int U> HD void scatter(int64_t i, int64_t step, const int64_t (&at)[U]) const {
    for (int m = 0; m < count; m++) list[m].scatter(i, step, at);
  }
};

/* A join_function of work::run_joined. */
template <class B> bool join_moves(void *waiting, launch *, const void *body) {
  B &x = *(B *)waiting;
  const B &y = *(const B *)body;
  if (x.vectors.count == MOST_MOVES || !x.same_positions(y)) return false;
  x.vectors.list[x.vectors.count++] = y.vectors.list[0];
  return true;
}

/* ---- gathers ---- */

/* Result i is the element that index i refers to. Bytes: I + R + 2E each. */
template <class I, index_form FORM> struct gather_body {
  enum { resident = 4, at_once = elements_at_once<I>() };
  addresses<I, FORM> from;
  moves vectors;

  bool same_positions(const gather_body &other) const { return same(from, other.from); }
  HD bool simple() const { return from.simple() && vectors.simple(); }
  template <int U> HD void together(int64_t i, int64_t step) const {
    int64_t at[U];
    from.find(i, step, at);
    vectors.gather(i, step, at);
  }
  HD void operator()(int64_t i) const { together<1>(i, 0); }
};

/* ---- scatters ---- */

/* A claim says which source goes to a position: the lowest claim wins. If `last` < 0, source i
 * claims with i. Otherwise it claims with last - i, so that the highest source wins. */
enum : uint8_t { UNCLAIMED_BYTE = 0xff }; /* every byte of no claim */
template <class C> HD inline C unclaimed() {
  return (C) ~(C)0;
}
template <class C> HD inline C claim_of(int64_t source, int64_t last) {
  return (C)(last < 0 ? source : last - source);
}
template <class C> HD inline int64_t source_of(C claim, int64_t last) {
  return claim == unclaimed<C>() ? -1 : last < 0 ? (int64_t)claim : last - (int64_t)claim;
}

/* Sets claims to no claim. Bytes: C. */
template <class C> struct unclaim_body {
  ptr<C> claims;

  HD bool simple() const { return true; }
  template <int U> HD void together(int64_t i, int64_t step) const {
    for (int k = 0; k < U; k++) claims[i + k * step] = unclaimed<C>();
  }
  HD void operator()(int64_t i) const { together<1>(i, 0); }
};

/* Source i claims its position. Bytes: I + R + 2C. */
template <class I, class C> struct claim_body {
  addresses<I, WITH_FLAGS> to;
  ptr<C> claims;
  int64_t last;

  HD bool simple() const { return to.simple(); }
  template <int U> HD void together(int64_t i, int64_t step) const {
    int64_t at[U];
    to.find(i, step, at);
    for (int k = 0; k < U; k++) {
      if (at[k] >= 0) atomic_min(claims + at[k], claim_of<C>(i + k * step, last));
    }
  }
  HD void operator()(int64_t i) const { together<1>(i, 0); }
};

/* Result i is the source that has claimed it. Bytes: C + 2E each, and E of the defaults. */
template <class C> struct fetch_claimed_body {
  ptr<const C> claims;
  int64_t last;
  moves vectors;

  bool same_positions(const fetch_claimed_body &other) const {
    return claims == other.claims && last == other.last;
  }
  HD bool simple() const { return vectors.simple(); }
  template <int U> HD void together(int64_t i, int64_t step) const {
    C c[U];
    int64_t at[U];
    for (int k = 0; k < U; k++) c[k] = claims[i + k * step];
    for (int k = 0; k < U; k++) at[k] = source_of(c[k], last);
    vectors.fetch(i, step, at);
  }
  HD void operator()(int64_t i) const { together<1>(i, 0); }
};

/* ---- scatters without duplicates: PERMUTE ---- */

/* Source i claims its position if no other source has. Of two sources with the same position
 * the higher one is reported. The lowest report is the lowest duplicate, whatever order threads
 * run in: of the two lowest sources of a position, the one that comes last finds the claim of
 * the other. */
template <class I, class C> struct exclusive_claim {
  addresses<I, IN_SEGMENTS> to;
  ptr<C> claims;

  HD static int64_t higher(int64_t a, int64_t b) { return a > b ? a : b; }
  HD void report(int64_t i, int64_t other) const {
    const int64_t position = higher(i, other), s = to.near.of(position);
    to.bad.report(CVL_E_DUPLICATE, position, (int64_t)to.index[position], to.far.length(s), s);
  }
  /* Sets at[k] to the position that source i + k * step has now claimed, or to -1. */
  template <int U> HD void take(int64_t i, int64_t step, int64_t (&at)[U]) const {
    C old[U];
    to.find(i, step, at);
    for (int k = 0; k < U; k++) {
      old[k] = at[k] < 0 ? unclaimed<C>() : atomic_min(claims + at[k], (C)(i + k * step));
    }
    int64_t first = -1, other = -1; /* of several duplicates the lowest counts */
    RAVEL_UNROLL
    for (int k = U - 1; k >= 0; k--) {
      if (old[k] == unclaimed<C>()) continue;
      at[k] = -1;
      const int64_t mine = i + k * step;
      if (first >= 0 && higher(first, other) < higher(mine, (int64_t)old[k])) continue;
      first = mine;
      other = (int64_t)old[k];
    }
    if (first >= 0) report(first, other);
  }
};

/* Clears claims and results. Bytes: C + E. */
template <class C> struct prepare_body {
  ptr<C> claims;
  moved vector;

  HD bool simple() const { return true; }
  template <int U> HD void together(int64_t i, int64_t step) const {
    for (int k = 0; k < U; k++) claims[i + k * step] = unclaimed<C>();
    vector.clear<U>(i, step);
  }
  HD void operator()(int64_t i) const { together<1>(i, 0); }
};

/* Source i claims its position and moves there. Bytes: I + R + 2C + 2E. */
template <class I, class C> struct claim_and_move_body {
  exclusive_claim<I, C> claim;
  moved vector;

  HD bool simple() const { return claim.to.simple() && vector.simple(); }
  template <int U> HD void together(int64_t i, int64_t step) const {
    int64_t at[U];
    claim.take(i, step, at);
    vector.scatter(i, step, at);
  }
  HD void operator()(int64_t i) const { together<1>(i, 0); }
};

/* Claims and moves many elements without atomics, in memory that was not cleared: a source
 * marks its position by a byte. If every position is marked, there are no duplicates. If there
 * are duplicates, either source may have been written last, and check_marks_body finds and
 * reports the fault. Vectors moved by the same index need no marks of their own. Bytes: I + R +
 * 1 + 2E. */
template <class I> struct mark_and_move_body {
  enum { at_once = elements_at_once<I>() };
  addresses<I, IN_SEGMENTS> to;
  ptr<uint8_t> marks; /* or null */
  moves vectors;

  bool same_positions(const mark_and_move_body &other) const {
    return same(to, other.to) && other.marks == nullptr;
  }
  HD bool simple() const { return to.simple() && vectors.simple(); }
  template <int U> HD void together(int64_t i, int64_t step) const {
    int64_t at[U];
    to.find(i, step, at);
    if (marks != nullptr) {
      for (int k = 0; k < U; k++) {
        if (at[k] >= 0) marks[at[k]] = 1;
      }
    }
    vectors.scatter(i, step, at);
  }
  HD void operator()(int64_t i) const { together<1>(i, 0); }
};

/* Tests n marks, eight at a time. If one is missing, the last block to finish reports the
 * lowest duplicate and clears the positions without a source. One block is enough for that,
 * since it ends the program. Bytes: 1 for each mark. */
template <class I, class C> struct check_marks_body {
  enum { threads = MAP_THREADS, EACH = 8, TILE = threads * EACH };
  enum { BLOCKS_DONE, MISSING, COUNTERS }; /* all 0 before the launch */
  struct shared {
    shared_array<uint32_t, 1> last;
  };
  ptr<const uint64_t> marks; /* the last word is padded with zeros */
  ptr<uint64_t> counters;
  exclusive_claim<I, C> claim;
  moved vector;
  int64_t n;

  static int64_t words(int64_t n) { return (n + 7) / 8; }
  static int64_t blocks(int64_t n) { return (words(n) + TILE - 1) / TILE; }

  template <class K> HD void operator()(K &block) const {
    block.each([&](int t) {
      if (!are_marked(block.index() * TILE + t))
        stored(address(counters + MISSING), (uint64_t)1);
    });
    if (!is_last(block, counters + BLOCKS_DONE, block.count(), block.shared.last)) return;
    typename K::template reg<uint32_t> missing;
    block.each([&](int t) { missing[t] = (uint32_t)loaded(address(counters + MISSING)); });
    if (block.uniform(missing) != 0) repair(block);
  }

  /* Tests word `first` and every `threads`-th word behind it. */
  HD bool are_marked(int64_t first) const {
    const uint64_t ones = 0x0101010101010101;
    uint64_t m[EACH];
    bool all = true;
    RAVEL_UNROLL
    for (int k = 0; k < EACH; k++) {
      const int64_t word = first + k * threads;
      m[k] = 8 * word < n ? (uint64_t)marks[word] : ones;
    }
    RAVEL_UNROLL
    for (int k = 0; k < EACH; k++) {
      const int64_t left = n - 8 * (first + k * threads);
      const uint64_t want = left >= 8 || left <= 0 ? ones : ones >> (64 - 8 * left);
      all = all && (m[k] & want) == want;
    }
    return all;
  }

  template <class K> HD void repair(K &block) const {
    block.each([&](int t) {
      for (int64_t i = t; i < n; i += threads) claim.claims[i] = unclaimed<C>();
    });
    block.each([&](int t) {
      int64_t at[1];
      for (int64_t i = t; i < n; i += threads) claim.take(i, 0, at);
    });
    block.each([&](int t) {
      for (int64_t i = t; i < n; i += threads) {
        if ((C)claim.claims[i] == unclaimed<C>()) vector.clear<1>(i, 0);
      }
    });
  }
};

/* ---- PERMUTE by buckets (buckets.hpp) ---- */

/* Samples SAMPLED sources, in rows of a warp's length from the whole index vector. Counts those
 * that go far from their predecessor: farther than a line of the cache. */
enum { SAMPLED = 1024, FAR_APART = 32 };

template <class I> struct sample_body {
  enum { threads = SAMPLED };
  struct shared {
    shared_array<int64_t, SAMPLED> at;
  };
  addresses<I, IN_SEGMENTS> to;
  int64_t n;
  ptr<int64_t> far; /* 0 before the launch */

  template <class K> HD void operator()(K &block) const {
    block.each([&](int t) {
      const int64_t row = t / WARP, rows = SAMPLED / WARP;
      int64_t at[1];
      to.find(row * (n / rows) + t % WARP, 0, at);
      block.shared.at[t] = at[0];
    });
    typename K::template reg<int64_t> apart;
    block.each([&](int t) {
      const int64_t by = t % WARP == 0 ? 0 : block.shared.at[t] - block.shared.at[t - 1];
      apart[t] = by > FAR_APART || by < -FAR_APART;
    });
    block.fold(apart, [](int64_t x, int64_t y) { return x + y; });
    block.each([&](int t) {
      if (t % WARP == 0) atomic_add(retyped<uint64_t>(far), (uint64_t)apart[t]);
    });
  }
};

/* Gives the position of source i; n means none, since it is at fault. */
template <class I> struct positions_body {
  enum { at_once = elements_at_once<I>() };
  addresses<I, IN_SEGMENTS> to;
  ptr<uint32_t> at;
  int64_t n;

  HD bool simple() const { return to.simple(); }
  template <int U> HD void together(int64_t i, int64_t step) const {
    int64_t found[U];
    to.find(i, step, found);
    for (int k = 0; k < U; k++) at[i + k * step] = (uint32_t)(found[k] < 0 ? n : found[k]);
  }
  HD void operator()(int64_t i) const { together<1>(i, 0); }
};

/* ---- REPLACE ---- */

/* Copies element i, of few. */
struct copy_body {
  moved vector;

  template <class T> HD void copy(int64_t i) const {
    retyped<T>(vector.to)[i] = retyped<T>(vector.from)[i];
  }
  HD void operator()(int64_t i) const {
    switch (vector.width) {
    case 1: copy<uint8_t>(i); break;
    case 4: copy<uint32_t>(i); break;
    default: copy<uint64_t>(i); break;
    }
  }
};

/* Source i goes to its position; there are no duplicates. Bytes: I + offsets + 2E. */
template <class I> struct scatter_body {
  addresses<I, ONE_OF_EACH> to;
  moved vector;

  HD bool simple() const { return to.simple() && vector.simple(); }
  template <int U> HD void together(int64_t i, int64_t step) const {
    int64_t at[U];
    to.find(i, step, at);
    vector.scatter(i, step, at);
  }
  HD void operator()(int64_t i) const { together<1>(i, 0); }
};

} // namespace ravel
#endif
