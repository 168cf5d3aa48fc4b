/* variants.cu - other kernels for reductions and scans of one segment, chosen by tuning values.
 * They are those of the Obsidian paper of 2013 (Expressive array constructs in an embedded GPU
 * kernel language), which compares them.
 *
 * cuda.reduce-kernel says how a block of 4096 elements, as in section 6.1, becomes one (section
 * 5.2). The same kernel reduces the results of blocks, until there is one.
 *
 *   1  red1  neighbours are combined again and again, from shared memory to shared memory
 *   2  red2  element i of the first half is combined with element i of the second, again and
 *            again
 *   3  red3  works as red2, but the last combination goes to memory, not to shared memory
 *   4  red4  first a thread combines 8 consecutive elements, then it works as red3
 *   5  red5  first a thread combines 8 elements that lie apart, so that adjacent threads read
 *            adjacent elements
 *   6  red6  works as red5 with 16 elements
 *   7  red7  works as red5 with 32 elements
 *
 * cuda.scan-kernel chooses a kernel of Sklansky's network (section 5.3) for 2048 elements in
 * two arrays of shared memory: the most elements of 64 bits that fit. The paper scans blocks
 * only. Here the same kernel scans the totals of blocks, and one more launch combines each
 * element with the total before its block. The paper's scans are inclusive; ours store each
 * element one position later.
 *
 *   1  sklansky   a thread for each element, which combines or copies
 *   2  sklansky2  a thread for two elements, which combines one and copies one
 *   3  sklansky3  works as sklansky2, after adjacent threads have loaded all elements
 *
 * As in the paper, a block has fewer threads than a level has elements, and a thread then does
 * several, one after the other (its virtual threads).
 *
 * Bytes moved: a reduction reads its elements once; a scan reads and writes them twice. The
 * levels above the first add a 4096th or a 2048th of that.
 */
#include "cvl-cuda/variants/paper.hpp"

namespace ravel {
namespace {

enum {
  THREADS = COMPILED_CUDA_VARIANT_THREADS,
  REDUCED = COMPILED_CUDA_VARIANT_ELEMENTS, /* elements of a block */
  SCANNED = COMPILED_CUDA_SKLANSKY_ELEMENTS
};

int64_t blocks_of(int64_t n, int64_t each) {
  return (n + each - 1) / each;
}

/* The elements of a block. The last block may have fewer; WHOLE says that it has not. */
template <class C, bool WHOLE> struct elements_of_block {
  using T = typename C::type;
  ptr<const T> from;
  int64_t left;

  HD T operator()(int32_t i) const { return WHOLE || i < left ? (T)from[i] : C::pad(); }
};

/* Calls g(elements) with those of a block of SIZE. */
template <class C, int SIZE, class T, class G>
HD void with_elements(ptr<const T> from, int64_t n, int64_t block, G g) {
  const int64_t left = n - block * SIZE;
  if (left >= SIZE) {
    g(elements_of_block<C, true>{from + block * SIZE, left});
  } else {
    g(elements_of_block<C, false>{from + block * SIZE, left});
  }
}

/* ---- reductions ---- */

template <class C, int KERNEL> struct reduction_of_blocks {
  using T = typename C::type;
  enum { threads = THREADS, resident = 4 };
  /* EACH: elements that a thread combines one after the other before they meet others.
   * CONSECUTIVE: whether these are adjacent. The last one is the number of values at which the
   * combination ends without a store. */
  static constexpr int EACH = KERNEL < 4 ? 2 : KERNEL < 6 ? 8 : KERNEL == 6 ? 16 : 32;
  static constexpr bool CONSECUTIVE = KERNEL == 1 || KERNEL == 4, NEIGHBOURS = KERNEL == 1;
  static constexpr int END = KERNEL < 3 ? 1 : 2, FIRST = REDUCED / EACH;
  static constexpr int TOGETHER = EACH == 2 ? 4 : FIRST > THREADS ? FIRST / THREADS : 1;
  static constexpr int MOST = 128 / sizeof(T), AT_ONCE = EACH < MOST ? EACH : MOST;
  static_assert(FIRST % (THREADS * TOGETHER) == 0 || FIRST < THREADS, "no rest");

  struct shared {
    shared_array<T, FIRST + FIRST / 2> values; /* a level, and the next */
  };

  ptr<const T> from;
  int64_t n;
  ptr<T> to; /* a result for each block */

  /* Does the first level. For TOGETHER values at a time, AT_ONCE elements each are loaded
   * before any is used: no test comes between loads, which ptxas then puts first. */
  template <class E> HD static void first_level(const E &e, int t, shared &m) {
    RAVEL_ROLLED
    for (int32_t v = t; v < FIRST; v += THREADS * TOGETHER) {
      T sum[TOGETHER];
      RAVEL_UNROLL
      for (int done = 0; done < EACH; done += AT_ONCE) {
        T x[TOGETHER][AT_ONCE];
        RAVEL_UNROLL
        for (int u = 0; u < TOGETHER; u++) {
          RAVEL_UNROLL
          for (int q = 0; q < AT_ONCE; q++) x[u][q] = e(element_of(v + u * THREADS, done + q));
        }
        RAVEL_UNROLL
        for (int u = 0; u < TOGETHER; u++) {
          RAVEL_UNROLL
          for (int q = 0; q < AT_ONCE; q++)
            sum[u] = done + q == 0 ? x[u][q] : C{}(sum[u], x[u][q]);
        }
      }
      RAVEL_UNROLL
      for (int u = 0; u < TOGETHER; u++) m.values[v + u * THREADS] = sum[u];
    }
  }
  /* Returns element q of those that become value v. */
  HD static int32_t element_of(int32_t v, int32_t q) {
    return CONSECUTIVE ? v * EACH + q : v + q * FIRST;
  }

  template <class B> HD void operator()(B &block) const {
    auto &m = block.shared;
    with_elements<C, REDUCED>(from, n, block.index(), [&](const auto &e) {
      block.each([&](int t) { first_level(e, t, m); });
    });
    int32_t here = 0;
    RAVEL_UNROLL
    for (int32_t half = FIRST / 2; half >= END; half /= 2) {
      const int32_t next = here == 0 ? FIRST : 0;
      block.each([&](int t) {
        /* The number of turns is constant: else nvcc adds a loop for the rest of a division by
         * four, which is empty. */
        RAVEL_UNROLL
        for (int32_t first = 0; first < half; first += THREADS) {
          const int32_t v = first + t;
          if (v >= half) break;
          const int32_t a = here + (NEIGHBOURS ? 2 * v : v), b = NEIGHBOURS ? a + 1 : a + half;
          m.values[next + v] = C{}((T)m.values[a], (T)m.values[b]);
        }
      });
      here = next;
    }
    block.each([&](int t) {
      if (t != 0) return;
      const T last = m.values[here];
      to[block.index()] = END == 1 ? last : C{}(last, (T)m.values[here + 1]);
    });
  }
};

template <class C, int KERNEL, class T>
void reduce_levels(work &w, ptr<const T> from, int64_t n, ptr<T> to) {
  const int64_t blocks = blocks_of(n, REDUCED);
  const ptr<T> results = blocks > 1 ? w.scratch<T>(blocks) : to;
  const reduction_of_blocks<C, KERNEL> body{from, n, results};
  w.run(launch_blocks_on_device("reduce-blocks", blocks, body));
  if (blocks > 1) reduce_levels<C, KERNEL, T>(w, results, blocks, to);
}

/* ---- scans ---- */

template <class C, int KERNEL> struct scan_of_blocks {
  using T = typename C::type;
  /* A multiprocessor has at least 100 KB of shared memory (sm_120). */
  enum { threads = THREADS, resident = sizeof(T) == 8 ? 3 : 4, TOGETHER = 4 };
  static constexpr int PHASES = 11;
  static_assert(1 << PHASES == SCANNED, "a phase for each power of two");

  struct shared {
    shared_array<T, 2 * SCANNED> values; /* read and written by turns */
  };

  ptr<const T> from;
  int64_t n;
  ptr<T> to, totals; /* totals: of blocks; null if there is one */

  /* Does one phase, from elements x; store(i, element i of the next). In every 2^(k+1) elements
   * the last of the first half is combined with each of the second. Loads come first, as in
   * reductions. */
  template <class X, class STORE> HD static void phase(int k, int t, const X &x, STORE store) {
    if constexpr (KERNEL == 1) {
      combine_or_copy(k, t, x, store);
    } else {
      combine_and_copy(k, t, x, store);
    }
  }
  template <class X, class STORE>
  HD static void combine_or_copy(int k, int t, const X &x, STORE store) {
    RAVEL_ROLLED
    for (int32_t v = t; v < SCANNED; v += THREADS * TOGETHER) {
      T last[TOGETHER], own[TOGETHER];
      RAVEL_UNROLL
      for (int u = 0; u < TOGETHER; u++) {
        const int32_t i = v + u * THREADS;
        own[u] = x(i);
        last[u] = (i >> k & 1) != 0 ? x((i >> k << k) - 1) : C::pad();
      }
      RAVEL_UNROLL
      for (int u = 0; u < TOGETHER; u++) {
        const int32_t i = v + u * THREADS;
        store(i, (i >> k & 1) != 0 ? C{}(last[u], own[u]) : own[u]);
      }
    }
  }
  template <class X, class STORE>
  HD static void combine_and_copy(int k, int t, const X &x, STORE store) {
    RAVEL_ROLLED
    for (int32_t v = t; v < SCANNED / 2; v += THREADS * TOGETHER) {
      int32_t first[TOGETHER], second[TOGETHER];
      T copied[TOGETHER], last[TOGETHER], own[TOGETHER];
      RAVEL_UNROLL
      for (int u = 0; u < TOGETHER; u++) {
        const int32_t i = v + u * THREADS;
        first[u] = (i >> k << (k + 1)) | (i & ((1 << k) - 1));
        second[u] = first[u] | 1 << k;
        copied[u] = x(first[u]);
        last[u] = x((second[u] >> k << k) - 1);
        own[u] = x(second[u]);
      }
      RAVEL_UNROLL
      for (int u = 0; u < TOGETHER; u++) {
        store(first[u], copied[u]);
        store(second[u], C{}(last[u], own[u]));
      }
    }
  }
  /* Lets adjacent threads load adjacent elements. */
  template <class E> HD static void load(int t, const E &e, shared &m) {
    RAVEL_ROLLED
    for (int32_t v = t; v < SCANNED; v += THREADS * TOGETHER) {
      T x[TOGETHER];
      RAVEL_UNROLL
      for (int u = 0; u < TOGETHER; u++) x[u] = e(v + u * THREADS);
      RAVEL_UNROLL
      for (int u = 0; u < TOGETHER; u++) m.values[v + u * THREADS] = x[u];
    }
  }

  /* Puts the inclusive prefix of element i into the next element of the result. */
  template <class B> HD void put(const B &block, int64_t left, int32_t i, const T &x) const {
    const ptr<T> at = to + block.index() * SCANNED;
    if (i == 0) at[0] = C::identity();
    if (i + 1 < SCANNED) {
      if (i + 1 < left) at[i + 1] = x;
    } else if (totals != nullptr) {
      totals[block.index()] = x;
    }
  }

  /* Does the step that reads from memory: the first phase, or a load. */
  template <class E> HD static void begin(int t, const E &e, shared &m) {
    if constexpr (KERNEL == 3) {
      load(t, e, m);
    } else {
      phase(0, t, e, [&](int32_t i, const T &x) { m.values[i] = x; });
    }
  }
  template <class B> HD void operator()(B &block) const {
    auto &m = block.shared;
    const int64_t left = n - block.index() * SCANNED;
    with_elements<C, SCANNED>(from, n, block.index(), [&](const auto &e) {
      block.each([&](int t) { begin(t, e, m); });
    });
    int32_t here = 0;
    RAVEL_UNROLL
    for (int k = KERNEL == 3 ? 0 : 1; k < PHASES; k++) {
      const int32_t next = SCANNED - here;
      const auto value = [&](int32_t i) -> T { return m.values[here + i]; };
      block.each([&](int t) {
        if (KERNEL != 1 && k == PHASES - 1) {
          phase(k, t, value, [&](int32_t i, const T &x) { put(block, left, i, x); });
        } else {
          phase(k, t, value, [&](int32_t i, const T &x) { m.values[next + i] = x; });
        }
      });
      here = next;
    }
    if (KERNEL == 1) {
      block.each([&](int t) {
        for (int32_t i = t; i < SCANNED; i += THREADS)
          put(block, left, i, (T)m.values[here + i]);
      });
    }
  }
};

/* Combines each element with the total before its block. */
template <class C> struct behind_others {
  using T = typename C::type;
  ptr<const T> x, before;
  HD T operator()(int64_t i) const { return C{}((T)before[i / SCANNED], (T)x[i]); }
};

template <class C, int KERNEL, class T>
void scan_levels(work &w, ptr<const T> from, int64_t n, ptr<T> to) {
  const int64_t blocks = blocks_of(n, SCANNED);
  const ptr<T> totals = blocks > 1 ? w.scratch<T>(blocks) : ptr<T>{};
  w.run(launch_blocks_on_device("scan-blocks", blocks,
                                scan_of_blocks<C, KERNEL>{from, n, to, totals}));
  if (blocks == 1) return;
  scan_levels<C, KERNEL, T>(w, totals, blocks, totals);
  w.run(launch_map("scan-behind", n, map_body<behind_others<C>, T>{{to, totals}, to}));
}

/* ---- by number ---- */

template <class C, class T>
void reduce_by_number(work &w, uint64_t kernel, ptr<const T> from, int64_t n, ptr<T> to) {
  switch (kernel) {
  case 1: return reduce_levels<C, 1, T>(w, from, n, to);
  case 2: return reduce_levels<C, 2, T>(w, from, n, to);
  case 3: return reduce_levels<C, 3, T>(w, from, n, to);
  case 4: return reduce_levels<C, 4, T>(w, from, n, to);
  case 5: return reduce_levels<C, 5, T>(w, from, n, to);
  case 6: return reduce_levels<C, 6, T>(w, from, n, to);
  default: return reduce_levels<C, 7, T>(w, from, n, to);
  }
}

template <class C, class T>
void scan_by_number(work &w, uint64_t kernel, ptr<const T> from, int64_t n, ptr<T> to) {
  switch (kernel) {
  case 1: return scan_levels<C, 1, T>(w, from, n, to);
  case 2: return scan_levels<C, 2, T>(w, from, n, to);
  default: return scan_levels<C, 3, T>(w, from, n, to);
  }
}

/* Calls g(combination, T{}) for the row of an operation and a type of INTs, which are all
 * exact. */
template <class G> void with_row(cvl_op o, cvl_elem elem, G g) {
#define ROW(op, T)                                                                             \
  if (o == OP_##op && elem == elem_of<T>()) g(combination<T, OP_##op>{}, T{});
#define ROWS_I(op) ROW(op, int32_t) ROW(op, int64_t)
#define ROWS_F(op)
#define ROWS_B(op)
#define ROWS_IF_0(op, class)
#define ROWS_IF_1(op, class)                                 ROWS_##class(op)
#define COMBINE(op, class, identity, pad, exact, expression) ROWS_IF_##exact(op, class)
#include "tables/operations.def"
}

void reduce_as_chosen(work &w, cvl_op op, cvl_elem elem, uint64_t kernel, const void *from,
                      int64_t n, void *to) {
  with_row(op, elem, [&](auto of, auto x) {
    using T = decltype(x);
    reduce_by_number<decltype(of), T>(w, kernel, pointer_to<const T>(const_cast<void *>(from)),
                                      n, pointer_to<T>(to));
  });
}

void scan_as_chosen(work &w, cvl_op op, cvl_elem elem, uint64_t kernel, const void *from,
                    int64_t n, void *to) {
  with_row(op, elem, [&](auto of, auto x) {
    using T = decltype(x);
    scan_by_number<decltype(of), T>(w, kernel, pointer_to<const T>(const_cast<void *>(from)), n,
                                    pointer_to<T>(to));
  });
}

} // namespace

const kernel_variants paper_kernels = {reduce_as_chosen, scan_as_chosen};

} // namespace ravel
