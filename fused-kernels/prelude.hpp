/* prelude.hpp - what every kernel is written in: the kernels of the CUDA back end include it,
 * and the text generated for a superoperator begins with it. One text for nvcc, NVRTC, g++ and
 * clang++; it includes nothing that NVRTC does not have.
 *
 *   HD            marks a function for device and host
 *   ptr<T>        memory of elements; a plain pointer but in the checking emulation, which
 *                 defines RAVEL_HAS_PTR and its own before this file is read
 *   segments      a segment descriptor as kernels see it
 *   operand<T>    elements in memory, or computed where they are needed
 *   faults        where a kernel reports elements at fault
 *   for blocks    each(), reg<T>, shared memory, shuffles: cooperative kernels as phases that
 *                 run on a device and on the host
 *
 * Indices and lengths are int64_t everywhere: 32 bits are not enough for what a GPU holds.
 */
#ifndef RAVEL_PRELUDE_HPP
#define RAVEL_PRELUDE_HPP

#if defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define HD __host__ __device__
#else
#define HD
#endif

/* Before a loop: unroll it, so that its arrays are registers; or do not, since its body is
 * long. */
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define RAVEL_UNROLL _Pragma("unroll")
#define RAVEL_ROLLED _Pragma("unroll 1")
#else
#define RAVEL_UNROLL
#define RAVEL_ROLLED
#endif

namespace ravel {

#ifndef RAVEL_HAS_PTR
template <class T> using ptr = T *;
/* An array among the memory of a block; the checking emulation looks at its elements too. */
template <class T, int N> using shared_array = T[N];
/* The address for an atomic operation on *p. */
template <class T> HD T *atomic_address(T *p) {
  return p;
}
/* The address itself; the same memory as elements of another type. */
template <class T> HD T *address(T *p) {
  return p;
}
template <class T, class U> HD ptr<T> retyped(U *p) {
  return (T *)p;
}
#endif

/* First of all in a kernel, which may have been launched while the last blocks of the one
 * before it end (cuda.dependent-launch): waits until all of that is done, and lets the next one
 * be launched. Else, and on devices that have no such launches, nothing. */
HD inline void follow_launches() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* How many there are: n; or, where `at` is not null, what lies there, and n at most. */
HD inline int64_t counted(int64_t n, ptr<const int64_t> at) {
  follow_launches();
  if (at == nullptr) return n;
  const int64_t there = at[0];
  return there < n ? there : n;
}
/* A number that the host does not know, where three are: behind it the offsets of one segment
 * of that length. */
HD inline void put_number(ptr<int64_t> at, int64_t x) {
  at[0] = x;
  at[1] = 0;
  at[2] = x;
}

/* ---- atomics, which give the old value ---- */

#if defined(__CUDA_ARCH__)
#define RAVEL_ATOMIC(NAME, OF_DEVICE, T, OF_CUDA, BETTER)                                      \
  HD inline T NAME(ptr<T> p, T x) {                                                            \
    return (T)OF_DEVICE((OF_CUDA *)atomic_address(p), (OF_CUDA)x);                             \
  }
#else
#define RAVEL_ATOMIC(NAME, OF_DEVICE, T, OF_CUDA, BETTER)                                      \
  HD inline T NAME(ptr<T> p, T x) {                                                            \
    T *at = atomic_address(p);                                                                 \
    const T old = *at;                                                                         \
    if (x BETTER old) *at = x;                                                                 \
    return old;                                                                                \
  }
#endif
RAVEL_ATOMIC(atomic_min, atomicMin, int64_t, long long, <)
RAVEL_ATOMIC(atomic_min, atomicMin, uint32_t, unsigned, <)
RAVEL_ATOMIC(atomic_min, atomicMin, uint64_t, unsigned long long, <)
RAVEL_ATOMIC(atomic_max, atomicMax, int64_t, long long, >)
RAVEL_ATOMIC(atomic_max, atomicMax, uint32_t, unsigned, >)
RAVEL_ATOMIC(atomic_max, atomicMax, uint64_t, unsigned long long, >)

HD inline uint64_t atomic_add(ptr<uint64_t> p, uint64_t x) {
#if defined(__CUDA_ARCH__)
  return (uint64_t)atomicAdd((unsigned long long *)atomic_address(p), (unsigned long long)x);
#else
  uint64_t *at = atomic_address(p);
  const uint64_t old = *at;
  *at = old + x;
  return old;
#endif
}

/* ---- bits ---- */

HD inline int count_bits(uint64_t x) {
#if defined(__CUDA_ARCH__)
  return __popcll(x);
#else
  return __builtin_popcountll(x);
#endif
}

/* ---- segment descriptors ---- */

/* The rank directory: one word for every 64 elements, so that the segment of an element is one
 * load and a count of bits. Bit k of `heads`: a segment with elements begins at element k of
 * the word. `base`: the segment of the word's first element; or its complement, a negative
 * number, if an empty segment stands somewhere after that element. Then what is counted are
 * segments with elements, whose numbers are in a list. */
struct rank_word {
  uint64_t heads;
  int64_t base;

  HD bool counts() const { return base >= 0; }
  HD int64_t first() const { return base < 0 ? ~base : base; }
};

/* A descriptor in one of its canonical forms. One segment: count 1, equal = total. All lengths
 * equal: `equal` is the length. Else equal is -1 and `offsets` has count + 1 entries, the last
 * one the total; `ranks` has a word for each 64 elements, or is null: `of` then searches.
 * `numbers`, of words that do not count: of word w, whose first element is in segment s, that
 * and the segments that begin behind it, from w + s on. No other word's are there, since the
 * first element of the next word is in the last of these or behind it. */
struct segments {
  int64_t count, total, equal;
  ptr<const int64_t> offsets;
  ptr<const rank_word> ranks;
  ptr<const uint32_t> numbers;

  HD int64_t start(int64_t s) const { return equal >= 0 ? s * equal : (int64_t)offsets[s]; }
  HD int64_t length(int64_t s) const {
    return equal >= 0 ? equal : (int64_t)offsets[s + 1] - (int64_t)offsets[s];
  }
  /* The segment that element i lies in. */
  HD int64_t of(int64_t i) const {
    if (equal >= 0) return of_equal(i);
    if (ranks == nullptr) return search(i, 0, count - 1);
    return within(ranks[i >> 6], i);
  }
  /* Does what `of` does for segments of equal length. */
  HD int64_t of_equal(int64_t i) const {
    if (count == 1) return 0;
    if ((uint64_t)(i | equal) >> 32 == 0) return (int64_t)((uint32_t)i / (uint32_t)equal);
    return i / equal;
  }
  /* Does what `of` does, given the word of the directory that i lies in. */
  HD int64_t within(const rank_word &w, int64_t i) const {
    const int64_t s = w.first() + count_begun(w, i);
    return w.counts() ? s : (int64_t)numbers[(i >> 6) + s];
  }
  /* How many segments begin behind the word's first element, up to element i. */
  HD static int count_begun(const rank_word &w, int64_t i) {
    return count_bits(w.heads & (~(uint64_t)0 >> (63 - (i & 63))) & ~(uint64_t)1);
  }
  /* The last segment of low .. high that begins at i or before: the one that i lies in. */
  HD int64_t search(int64_t i, int64_t low, int64_t high) const {
    while (low < high) {
      const int64_t middle = low + (high - low + 1) / 2;
      if ((int64_t)offsets[middle] <= i) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
};

/* Blocks of segments: W elements counted from the start of each segment, the last one shorter.
 * Block b of segment s has slot start(s) / W + s + b, which no other block has: an index for
 * its partial result, without any sum over segments. slot_count(total, count) slots are enough;
 * some are not used. */
HD inline int64_t slot_count(int64_t total, int64_t count, int64_t w) {
  return total / w + count;
}
HD inline int64_t first_slot(const segments &d, int64_t s, int64_t w) {
  return d.start(s) / w + s;
}
/* The segment that a slot belongs to: the last one whose first slot is not after it. The slot
 * is used if its block, slot - first_slot, begins before the segment's end. */
HD inline int64_t slot_segment(const segments &d, int64_t slot, int64_t w) {
  if (d.count == 1) return 0;
  int64_t low = 0, high = d.count - 1;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (first_slot(d, middle, w) <= slot) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/* ---- operands ---- */

enum operand_form { FROM_MEMORY, ALL_EQUAL, SPREAD, PROGRESSION };

/* first + j * step, wrapping: of INTs, or of their bits. Vectors of other types are none. */
template <class T> struct progression {
  enum { exists = sizeof(T) > 1 };
  HD static T at(T first, int64_t j, T step) {
    return (T)((uint64_t)first + (uint64_t)j * (uint64_t)step);
  }
};
template <> struct progression<float> {
  enum { exists = 0 };
};
template <> struct progression<double> {
  enum { exists = 0 };
};

/* A vector that a kernel reads: elements in memory (data); one value everywhere (first); one
 * value for each segment (data[s]: DIST); or INDEX: data[s], or first where data is null, plus
 * j times steps[s] or step. The kind is the same for all threads of a launch. */
template <class T> struct operand {
  int32_t kind;
  T first, step;
  ptr<const T> data, steps;
  segments under; /* SPREAD, PROGRESSION */

  HD T operator[](int64_t i) const {
    return kind == FROM_MEMORY ? (T)data[i] : kind == ALL_EQUAL ? first : computed(i);
  }
  HD T computed(int64_t i) const {
    const int64_t s = under.of(i);
    if constexpr (progression<T>::exists) {
      if (kind != SPREAD)
        return progression<T>::at(data == nullptr ? first : (T)data[s], i - under.start(s),
                                  steps == nullptr ? step : (T)steps[s]);
    }
    return data[s];
  }
};

/* ---- windows ---- */

/* Where gathers begin to read if that is not known: farther from any index than a window is
 * long. */
HD inline int64_t nowhere() {
  return -0x7fffffffffffffff - 1;
}

/* Ranges of a vector in the memory of a block, for gathers of its threads that read near each
 * other (emit-kernel-stencil.h). Each of WINDOWS windows has `span` elements. Of a group of
 * gathers the host knows how they lie: within `spread` elements. Where groups lie, one thread
 * looks, with the first position of the block: groups near each other get one window, if there
 * are several gathers in it, and if all windows together save `saved` reads of memory at a
 * position, or more. Then all threads load the windows, and a gather reads its window, or what
 * is not in it from memory.
 *
 * A window begins at a multiple of `margin`, margin .. 2 margin - 1 elements before its first
 * group, for groups that lie before it; then reads of memory are aligned, too. */
template <class T, int GROUPS, int WINDOWS, class TUNING> struct windows {
  shared_array<T, WINDOWS * TUNING::span> elements;
  shared_array<int64_t, WINDOWS> begins; /* of windows; nowhere(): unused */
  shared_array<int64_t, GROUPS> first;   /* of groups: begin of their window, or nowhere() */
  shared_array<int32_t, GROUPS> offset;  /* of groups: where in `elements` that is */

  HD static int64_t before(int64_t begin) {
    return (int64_t)(((uint64_t)begin - TUNING::margin) & ~(uint64_t)(TUNING::margin - 1));
  }
  /* Whether a group that begins there fits into the window of the other. */
  HD static bool joins(int64_t begin, int64_t other) {
    return (uint64_t)begin - (uint64_t)before(other) <= 2 * TUNING::margin;
  }
  /* By one thread: where each group begins at the first position, and how many gathers it has.
   */
  HD void choose(const int64_t (&begin)[GROUPS], const int32_t (&gathers)[GROUPS]) {
    int32_t leader[GROUPS], members[GROUPS], window[GROUPS], saved = 0, used = 0;
    RAVEL_UNROLL
    for (int g = 0; g < GROUPS; g++) {
      leader[g] = g;
      members[g] = begin[g] == nowhere() ? 0 : gathers[g];
      RAVEL_UNROLL
      for (int h = 0; h < GROUPS; h++) {
        if (h < g && leader[g] == g && leader[h] == h && joins(begin[g], begin[h])) {
          leader[g] = h;
          members[h] += members[g];
          members[g] = 0;
        }
      }
    }
    RAVEL_UNROLL
    for (int g = 0; g < GROUPS; g++) saved += members[g] > 1 ? members[g] - 1 : 0;
    RAVEL_UNROLL
    for (int g = 0; g < GROUPS; g++) {
      const bool has = saved >= TUNING::saved && members[g] > 1 && used < WINDOWS;
      if (has) begins[used] = before(begin[g]);
      window[g] = has ? used : -1;
      used += has;
    }
    for (int w = used; w < WINDOWS; w++) begins[w] = nowhere();
    RAVEL_UNROLL
    for (int g = 0; g < GROUPS; g++) {
      int32_t mine = window[g];
      int64_t at = begin[g];
      RAVEL_UNROLL
      for (int h = 0; h < GROUPS; h++) {
        if (h < g && leader[g] == h) {
          mine = window[h];
          at = begin[h];
        }
      }
      first[g] = mine < 0 ? nowhere() : before(at);
      offset[g] = mine < 0 ? 0 : mine * TUNING::span;
    }
  }
  /* By each of the threads. */
  HD void load(const operand<T> &from, int64_t length, int t, int threads) {
    for (int w = 0; w < WINDOWS; w++) {
      const int64_t begin = begins[w];
      if (begin == nowhere()) continue;
      for (int k = t; k < TUNING::span; k += threads) {
        const uint64_t i = (uint64_t)begin + (uint64_t)k;
        if (i < (uint64_t)length) elements[w * TUNING::span + k] = from[(int64_t)i];
      }
    }
  }
  HD T read(int group, const operand<T> &from, int64_t i) const {
    const uint64_t k = (uint64_t)i - (uint64_t)(int64_t)first[group];
    return k < (uint64_t)TUNING::span ? (T)elements[offset[group] + (int32_t)k] : from[i];
  }
};

/* ---- faults ---- */

/* The error slot in memory: the lowest site stays, of one site the lowest position. `kind` is
 * an enum cvl_error_kind, 0 while there is none. Of one site a LATE_FAULT (CVL_E_DUPLICATE)
 * comes after all others, wherever they are. `version` is odd while a thread writes. */
enum { LATE_FAULT = 5 };
struct fault_slot {
  uint32_t version;
  int32_t kind;
  uint64_t site;
  int64_t position, value, limit, segment;
};

/* Accesses to what other threads change at the same time: whole, but in no order without a
 * fence. On a device volatile is relaxed, and the fence acquires and releases. RAVEL_STEP is a
 * test's, which lets another thread go on. */
#ifndef RAVEL_STEP
#define RAVEL_STEP (void)0
#endif
#if defined(__CUDA_ARCH__)
template <class T> HD T loaded(const T *p) {
  return *(const volatile T *)p;
}
template <class T> HD void stored(T *p, T x) {
  *(volatile T *)p = x;
}
HD inline void fence() {
  __threadfence();
}
HD inline bool exchanged(uint32_t *p, uint32_t old, uint32_t by) {
  return atomicCAS(p, old, by) == old;
}
#else
template <class T> HD T loaded(const T *p) {
  RAVEL_STEP;
  T x;
  __atomic_load(p, &x, __ATOMIC_RELAXED);
  return x;
}
template <class T> HD void stored(T *p, T x) {
  RAVEL_STEP;
  __atomic_store(p, &x, __ATOMIC_RELAXED);
}
HD inline void fence() {
  __atomic_thread_fence(__ATOMIC_ACQ_REL);
}
HD inline bool exchanged(uint32_t *p, uint32_t old, uint32_t by) {
  RAVEL_STEP;
  return __atomic_compare_exchange_n(p, &old, by, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
#endif

/* Threads report at the same time; whatever their order, the slot keeps the fault that comes
 * first. It is a sequence lock. Who writes makes the version odd, writes, and makes it even;
 * who looks believes what was loaded between two equal, even versions. A fault in the slot only
 * gives way to an earlier one: a thread whose fault comes after one that was ever there leaves,
 * and so most of many threads at fault never take the lock. Any other takes it from the very
 * version that it saw, or looks again if another was faster.
 *
 * Why this is right where a device orders nothing by itself (the PTX ISA, "Memory Consistency
 * Model"): a fence before a store, and a fence behind a load that sees that store or a later
 * one, are a release and an acquire pattern: what the one thread did before its fence happens
 * before what the other does behind its own. Let w be the last to write of those of whose
 * stores a look sees any. (1) w's fence behind its compare-and-swap and the fence before the
 * second load of the version are such patterns: that load sees w's odd version or a later one.
 * So does the first load, since both are equal, and it sees an even one: w's last, or a later
 * one. (2) Then w's second fence and the fence behind the first load are such patterns, too:
 * the look sees w's stores or later ones, hence w's. So what it believes stood there at one
 * time. (3) The same patterns order who writes after w behind
 * w's stores, since a compare-and-swap succeeds on the latest version only. All accesses are of
 * the device's scope or wider, and of the same size. The version would have to come round, by
 * 2^31 faults each before the last, during one look to be mistaken. */
struct faults {
  fault_slot *slot;
  uint64_t site;

  HD static bool comes_first(const fault_slot &a, const fault_slot &b) {
    if (b.kind == 0 || a.site != b.site) return b.kind == 0 || a.site < b.site;
    const bool late = a.kind == LATE_FAULT, other_late = b.kind == LATE_FAULT;
    return late == other_late ? a.position < b.position : other_late;
  }
  /* Its version, and what decides between faults. */
  HD fault_slot look() const {
    fault_slot s{};
    s.version = loaded(&slot->version);
    fence();
    s.kind = loaded(&slot->kind);
    s.site = loaded(&slot->site);
    s.position = loaded(&slot->position);
    return s;
  }
  /* Only while the version is odd by this thread. */
  HD void write(const fault_slot &s) const {
    stored(&slot->kind, s.kind);
    stored(&slot->site, s.site);
    stored(&slot->position, s.position);
    stored(&slot->value, s.value);
    stored(&slot->limit, s.limit);
    stored(&slot->segment, s.segment);
  }
  /* Whether `mine` is in the slot, or an earlier one; false: look again. */
  HD bool settles(const fault_slot &mine) const {
    const fault_slot there = look();
    fence();
    if (there.version % 2 != 0 || loaded(&slot->version) != there.version) return false;
    if (!comes_first(mine, there)) return true;
    if (!exchanged(&slot->version, there.version, there.version + 1)) return false;
    fence();
    write(mine);
    fence();
    stored(&slot->version, there.version + 2);
    return true;
  }
  /* Reports an element at fault; `node` is added to the site (superoperators). A warp's threads
   * that wait do not keep the one they wait for from going on: not since Volta. */
  HD void report(int kind, int64_t position, int64_t value, int64_t limit, int64_t segment,
                 uint32_t node = 0) const {
    const fault_slot mine{0, kind, site + node, position, value, limit, segment};
    while (!settles(mine)) {
    }
  }
};

/* The first fault at one position; reported once, when all nodes have been evaluated there. */
struct fault_note {
  int32_t kind = 0;
  uint32_t node = 0;
  int64_t value = 0, limit = 0, segment = 0;

  HD void note(int32_t k, int64_t v, int64_t l, int64_t s, uint32_t at) {
    if (kind != 0) return;
    kind = k;
    value = v;
    limit = l;
    segment = s;
    node = at;
  }
  HD void report(const faults &to, int64_t position) const {
    if (kind != 0) to.report(kind, position, value, limit, segment, node);
  }
};

/* One launch of a kernel that executes a loop. It resumes where the launch before stopped. */
struct looping {
  ptr<uint8_t> on;   /* of every position: it has not finished */
  ptr<int64_t> last; /* less than `launch`, which it becomes if there is such a position */
  int64_t launch;
  int32_t rounds;  /* of a position in this launch, at most; not 0 */
  int32_t resumes; /* 0 in the first launch */
};

/* ---- kernels of independent threads ---- */

enum { MAP_THREADS = 256 }; /* of a block */

/* How the indices 0 .. n-1 are divided among blocks whose threads can do `unroll` of them at a
 * time: first tiles of unroll * MAP_THREADS, then what is no whole tile, an index for each
 * thread. So no thread does one index after another while others are idle. A grid with a thread
 * for each index, as `grid` makes it where there are too few tiles for all processors, has no
 * tiles. */
struct map_tiles {
  int64_t n, tile, whole;

  HD map_tiles(int64_t count, int unroll, int64_t grid)
      : n(count), tile(unroll * (int64_t)MAP_THREADS),
        whole(grid * MAP_THREADS >= count ? 0 : count / tile) {}
  HD int64_t blocks() const {
    return whole + (n - whole * tile + MAP_THREADS - 1) / MAP_THREADS;
  }
  /* The first index of a block. */
  HD int64_t first(int64_t b) const {
    return b < whole ? b * tile : whole * tile + (b - whole) * MAP_THREADS;
  }
  /* The blocks of a launch: at least one for each processor, while there are indices, and at
   * most `most`. */
  HD static int64_t grid(int64_t count, int unroll, int64_t processors, int64_t most) {
    const bool few = count < processors * unroll * MAP_THREADS;
    const int64_t all = map_tiles(count, unroll, few ? count : 0).blocks();
    return all < most ? all : most;
  }
};

/* ---- cooperative kernels ---- */

/* The body of a cooperative kernel is
 *
 *     struct body {
 *       enum { threads = 128 };
 *       struct shared { ... };                        // memory of the block; may be empty
 *       template <class B> HD void operator()(B &block) const {
 *         typename B::template reg<double> x;          // one for each thread, across phases
 *         block.each([&](int t) { x[t] = ...; });      // a phase; a barrier follows
 *         block.shift_down(x, x, 16);                  // y[t] = x[t + 16] within the warp
 *         block.each([&](int t) { block.shared.total[t / 32] = x[t]; });
 *       }
 *     };
 *
 * each_warp() is a phase behind which only the threads of a warp have met: of shared memory it
 * may read what was written before the last barrier, and write what its own warp reads.
 * Every statement outside of each() is the same for all threads of a block. What decides it in
 * registers is asked for by block.uniform(x). Shared memory is accessed in phases only: so the
 * barrier of the last one stands between a block and the next that the same threads do. On the
 * host a phase is a loop over the threads; in the emulation in any order.
 */
enum { WARP = 32 };

#if !defined(__CUDACC_RTC__)
/* In which order a host executes threads and blocks: forward in production. */
struct order {
  int32_t direction; /* 1 forward, -1 reverse, 0 shuffled */
  uint64_t seed;
};

/* 0 .. n-1 in some order: first, first + step, ... mod n, with a step prime to n. */
struct walk {
  int64_t n, step, first, at;

  HD walk(const order &o, int64_t count) : n(count), step(1), first(0) {
    if (n > 1 && o.direction < 0) first = step = n - 1;
    if (n > 1 && o.direction == 0) {
      uint64_t x = o.seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u; /* any mixture */
      first = (int64_t)((x ^ x >> 31) % (uint64_t)n);
      x = x * 0xbf58476d1ce4e5b9u;
      step = (int64_t)((x ^ x >> 29) % (uint64_t)(n - 1)) + 1;
      while (!prime(step, n)) step = step == n - 1 ? 1 : step + 1;
    }
    at = first;
  }
  HD int64_t next() {
    const int64_t i = at;
    at = at >= n - step ? at - (n - step) : at + step;
    return i;
  }
  /* The one that `next` gives after k others. */
  HD int64_t after(int64_t k) const {
    __extension__ typedef unsigned __int128 wide;
    return n < 2 ? 0 : (int64_t)(((wide)step * (wide)k + (wide)first) % (wide)n);
  }
  HD static bool prime(int64_t a, int64_t b) {
    while (b != 0) {
      const int64_t left = a % b;
      a = b;
      b = left;
    }
    return a == 1;
  }
};

/* The execution of a kernel, as reported to the checking emulation. */
#ifndef RAVEL_HAS_PTR
HD inline void thread_starts(int64_t) {}
HD inline void block_starts(int64_t) {}
HD inline void phase_ends() {}
/* Returns the number of a register in the array. A device has only the register of the running
 * thread. */
HD inline int own_register(int t) {
  return t;
}
template <class T> HD void expect_uniform(const T *, int) {}
#endif

template <class F> struct host_block {
  template <class T> struct reg {
    T of[F::threads]; /* by thread */
    HD T &operator[](int t) { return of[own_register(t)]; }
    HD const T &operator[](int t) const { return of[own_register(t)]; }
  };
  typename F::shared shared;
  int64_t number, number_of_blocks;
  order threads;

  HD int64_t index() const { return number; }
  HD int64_t count() const { return number_of_blocks; }
  template <class G> HD void each(G g) {
    walk w(threads, F::threads);
    for (int k = 0; k < F::threads; k++) {
      const int t = (int)w.next();
      thread_starts(t);
      g(t);
    }
    phase_ends();
  }
  template <class G> HD void each_warp(G g) { each(g); }
  /* Returns the value that all threads have in a register. */
  template <class T> HD T uniform(const reg<T> &x) {
    expect_uniform(x.of, F::threads);
    return x.of[0];
  }
  /* Combines the lanes of each warp as the reproducible tree does: for w = 16, 8, 4, 2, 1
   * x[t] = combine(x[t], x[t + w]). Lane 0 then has the result, the others nothing of use. */
  template <class T, class C> HD void fold(reg<T> &x, C combine) {
    for (int first = 0; first < F::threads; first += WARP) {
      for (int w = WARP / 2; w > 0; w /= 2) {
        for (int t = first; t < first + w; t++) x.of[t] = combine(x.of[t], x.of[t + w]);
      }
    }
  }
  /* Inclusive prefixes of windows of w lanes (a power of two, at most WARP) as Kogge and Stone
   * make them: for s = 1, 2, 4 .. below w, x[t] = combine(x[t - s], x[t]) where t - s is in the
   * window. */
  template <class T, class C> HD void prefix(reg<T> &x, int w, C combine) {
    for (int s = 1; s < w; s *= 2) {
      for (int t = F::threads - 1; t >= 0; t--) {
        if (t % w >= s) x.of[t] = combine(x.of[t - s], x.of[t]);
      }
    }
  }
  /* to[t] = from[t + k] within the warp; from[t] where there is no such thread. */
  template <class T> HD void shift_down(reg<T> &to, const reg<T> &from, int k) {
    const reg<T> old = from;
    for (int t = 0; t < F::threads; t++)
      to.of[t] = t % WARP + k < WARP ? old.of[t + k] : old.of[t];
  }
  /* to[t] = from[t - k] within the warp; from[t] where there is no such thread. */
  template <class T> HD void shift_up(reg<T> &to, const reg<T> &from, int k) {
    const reg<T> old = from;
    for (int t = 0; t < F::threads; t++) to.of[t] = t % WARP >= k ? old.of[t - k] : old.of[t];
  }
  /* to[t] = from of lane k of the same warp. */
  template <class T> HD void broadcast(reg<T> &to, const reg<T> &from, int k) {
    const reg<T> old = from;
    for (int t = 0; t < F::threads; t++) to.of[t] = old.of[t / WARP * WARP + k];
  }
  /* Broadcasts a lane that each thread chooses. */
  template <class T>
  HD void broadcast(reg<T> &to, const reg<T> &from, const reg<int32_t> &lane) {
    const reg<T> old = from;
    for (int t = 0; t < F::threads; t++) to.of[t] = old.of[t / WARP * WARP + lane.of[t]];
  }
  /* to[t] = from[t ^ k], k below WARP. */
  template <class T> HD void exchange(reg<T> &to, const reg<T> &from, int k) {
    const reg<T> old = from;
    for (int t = 0; t < F::threads; t++) to.of[t] = old.of[t ^ k];
  }
  /* to[t] = a bit for each lane of the warp whose `from` is not 0. */
  HD void ballot(reg<uint32_t> &to, const reg<uint32_t> &from) {
    for (int w = 0; w < F::threads / WARP; w++) {
      uint32_t bits = 0;
      for (int t = 0; t < WARP; t++) bits |= (uint32_t)(from.of[w * WARP + t] != 0) << t;
      for (int t = 0; t < WARP; t++) to.of[w * WARP + t] = bits;
    }
  }
};

/* Runs a whole kernel on the host. `launch` (cvl-cuda/launch.hpp) calls it where there is no
 * device. */
template <class F> void run_n_on_host(const void *body, int64_t n, const order *o) {
  const F &f = *(const F *)body;
  if (o->direction > 0) {
    for (int64_t i = 0; i < n; i++) {
      thread_starts(i);
      f(i);
    }
    return;
  }
  walk w(*o, n);
  for (int64_t k = 0; k < n; k++) {
    const int64_t i = w.next();
    thread_starts(i);
    f(i);
  }
}
template <class F> void run_blocks_on_host(const void *body, int64_t blocks, const order *o) {
  const F &f = *(const F *)body;
  walk w(*o, blocks);
  for (int64_t k = 0; k < blocks; k++) {
    host_block<F> b;
    b.number = w.next();
    b.number_of_blocks = blocks;
    block_starts(b.number);
    b.threads = *o;
    f(b);
  }
}
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
/* Shuffles of an element; an item of several columns (emit-kernel-combine.c) is shuffled column
 * by column. */
#define RAVEL_SHUFFLE(NAME, OF_CUDA, OF)                                                       \
  struct NAME {                                                                                \
    OF k;                                                                                      \
    template <class T> __device__ T operator()(T x) const {                                    \
      return (T)OF_CUDA(0xffffffffu, x, k);                                                    \
    }                                                                                          \
  };
RAVEL_SHUFFLE(down_by, __shfl_down_sync, unsigned)
RAVEL_SHUFFLE(up_by, __shfl_up_sync, unsigned)
RAVEL_SHUFFLE(from_lane, __shfl_sync, int)
RAVEL_SHUFFLE(across_by, __shfl_xor_sync, int)
template <class T, class S>
__device__ auto shuffled(const T &x, S s, int) -> decltype(x.columns(s)) {
  return x.columns(s);
}
template <class T, class S> __device__ T shuffled(const T &x, S s, long) {
  return s(x);
}

template <class F> struct device_block {
  template <class T> struct reg {
    T own;
    __device__ T &operator[](int) { return own; }
    __device__ const T &operator[](int) const { return own; }
  };
  typename F::shared &shared;
  int64_t number, number_of_blocks;

  __device__ int64_t index() const { return number; }
  __device__ int64_t count() const { return number_of_blocks; }
  template <class G> __device__ void each(G g) {
    g((int)threadIdx.x);
    if (F::threads > WARP) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }
  template <class G> __device__ void each_warp(G g) {
    g((int)threadIdx.x);
    __syncwarp();
  }
  template <class T> __device__ T uniform(const reg<T> &x) { return x.own; }
  template <class T, class C> __device__ void fold(reg<T> &x, C combine) {
#pragma unroll
    for (int w = WARP / 2; w > 0; w /= 2) {
      x.own = combine(x.own, __shfl_down_sync(0xffffffffu, x.own, (unsigned)w));
    }
  }
  template <class T, class C> __device__ void prefix(reg<T> &x, int w, C combine) {
#pragma unroll
    for (int s = 1; s < w; s *= 2) {
      const T before = __shfl_up_sync(0xffffffffu, x.own, (unsigned)s);
      if (((int)threadIdx.x & (w - 1)) >= s) x.own = combine(before, x.own);
    }
  }
  template <class T> __device__ void shift_down(reg<T> &to, const reg<T> &from, int k) {
    to.own = shuffled(from.own, down_by{(unsigned)k}, 0);
  }
  template <class T> __device__ void shift_up(reg<T> &to, const reg<T> &from, int k) {
    to.own = shuffled(from.own, up_by{(unsigned)k}, 0);
  }
  template <class T> __device__ void broadcast(reg<T> &to, const reg<T> &from, int k) {
    to.own = shuffled(from.own, from_lane{k}, 0);
  }
  template <class T>
  __device__ void broadcast(reg<T> &to, const reg<T> &from, const reg<int32_t> &lane) {
    to.own = shuffled(from.own, from_lane{lane.own}, 0);
  }
  template <class T> __device__ void exchange(reg<T> &to, const reg<T> &from, int k) {
    to.own = shuffled(from.own, across_by{k}, 0);
  }
  __device__ void ballot(reg<uint32_t> &to, const reg<uint32_t> &from) {
    to.own = __ballot_sync(0xffffffffu, from.own != 0);
  }
};

template <class F> __device__ void run_n(const F &f, int64_t n) {
  const int64_t threads = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) f(i);
}
/* Calls f.many(i) where a thread is to do U indices, i + k * MAP_THREADS for k below U, and
 * f.one(i) where it is to do i. */
template <int U, class F> __device__ void run_tiles(const F &f, int64_t n) {
  const map_tiles tiles(n, U, gridDim.x);
  for (int64_t b = blockIdx.x; b < tiles.blocks(); b += gridDim.x) {
    const int64_t i = tiles.first(b) + threadIdx.x;
    if (b < tiles.whole) {
      f.many(i);
    } else if (i < n) {
      f.one(i);
    }
  }
}
/* A body in two halves: at(i) loads and computes, put(i, results) stores. Several of the one
 * come before any of the other, since a compiler cannot move a load over a store. */
template <class F> struct halves {
  const F &f;
  __device__ void many(int64_t i) const {
    typename F::results r[F::unroll];
#pragma unroll
    for (int k = 0; k < F::unroll; k++) r[k] = f.at(i + k * MAP_THREADS);
#pragma unroll
    for (int k = 0; k < F::unroll; k++) f.put(i + k * MAP_THREADS, r[k]);
  }
  __device__ void one(int64_t i) const {
    f.put(i, f.at(i));
  }
};
template <class F> __device__ void run_map(const F &f, int64_t n) {
  run_tiles<F::unroll>(halves<F>{f}, n);
}
template <class F> __device__ void run_blocks(const F &f, int64_t blocks) {
  follow_launches();
  __shared__ typename F::shared memory;
  for (int64_t k = blockIdx.x; k < blocks; k += gridDim.x) {
    device_block<F> b{memory, k, blocks};
    f(b);
  }
}
#endif

/* The last line of generated text: the entry points of the body NAME, called NAME_kernel on a
 * device and NAME_host on the host. Where a device's registers are concerned: arguments are
 * read where they lie, not copied; and a bound without a number of blocks makes ptxas spill
 * small kernels to reach 32. */
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define RAVEL_KERNEL_N(NAME)                                                                   \
  extern "C" __global__ void __launch_bounds__(256, 1)                                         \
      NAME##_kernel(const __grid_constant__ NAME f, int64_t n, const int64_t *n_at) {          \
    ravel::run_n(f, ravel::counted(n, n_at));                                                  \
  }
#define RAVEL_KERNEL_MAP(NAME)                                                                 \
  extern "C" __global__ void __launch_bounds__(256, 1)                                         \
      NAME##_kernel(const __grid_constant__ NAME f, int64_t n, const int64_t *n_at) {          \
    ravel::run_map(f, ravel::counted(n, n_at));                                                \
  }
#define RAVEL_KERNEL_BLOCKS(NAME)                                                              \
  extern "C" __global__ void __launch_bounds__(NAME::threads, 1)                               \
      NAME##_kernel(const __grid_constant__ NAME f, int64_t blocks) {                          \
    ravel::run_blocks(f, blocks);                                                              \
  }
#else
#define RAVEL_KERNEL_N(NAME)                                                                   \
  extern "C" void NAME##_host(const void *f, int64_t n, const ravel::order *o) {               \
    ravel::run_n_on_host<NAME>(f, n, o);                                                       \
  }
#define RAVEL_KERNEL_MAP(NAME) RAVEL_KERNEL_N(NAME)
#define RAVEL_KERNEL_BLOCKS(NAME)                                                              \
  extern "C" void NAME##_host(const void *f, int64_t blocks, const ravel::order *o) {          \
    ravel::run_blocks_on_host<NAME>(f, blocks, o);                                             \
  }
#endif

} // namespace ravel
#endif
