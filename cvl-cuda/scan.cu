/* scan.cu - exclusive scans, in the tree of trees.h; the kernels are in scan-kernels.hpp.
 *
 * There is one launch for segments of up to 4096 elements, and one for longer ones. Each
 * element is read and written once, and the descriptor's offsets are read once. A long vector
 * of flags without segments is scanned by words.
 *
 * On a device, a combination that is exact in any order needs no tree. From as many elements on
 * as the tuning value says, one segment of INTs takes two kernels of CUB (look-back.hpp), which
 * move as much. Many segments of any exact combination take two more, which write a bit for
 * each element that begins a segment.
 */
#include "cvl-cuda/look-back.hpp"
#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/scan-kernels.hpp"
#include "cvl-cuda/together.hpp"
#include "cvl-cuda/variants.hpp"

namespace ravel {
namespace {

/* ---- on the device ---- */

template <class C, class X, class T>
void scan_longer(work &w, const segments &d, const X &x, int64_t longest, ptr<T> out) {
  using scan = scan_chunks<C, X>;
  using totals = typename scan::totals_of_chunks;
  scan s{};
  s.d = d;
  s.x = x;
  s.out = out;
  s.longer = chunks_of(d, scan::LENGTH_BITS, LONG_BITS, true);
  if (longest > (int64_t)1 << scan::LENGTH_BITS) { /* else no segment has two chunks */
    const publication p = w.publishes(totals::count(d.total));
    s.totals = {(typename totals::total *)(void *)p.cells, d.total, p.mark};
    s.next = p.next;
  }
  w.run(launch_blocks_on_device("scan-chunks", s.longer.candidates, s));
}

template <class C, class T>
void scan_by_tree(work &w, const segments &d, const operand<T> &x, int64_t longest,
                  ptr<T> out) {
  if (has_chunks(longest)) scan_longer<C>(w, d, x, longest, out);
  if (has_chunks(longest) && d.equal >= 0) return;
  scan_pass<C> p{};
  p.d = d;
  p.x = x;
  p.out = out;
  p.longest = up_to_row(longest);
  w.run(launch_blocks_on_device("scan", tiles_of_pass(d.total), p));
}

/* Scans one long segment of flags in memory. Returns false if this is another case. */
template <class C, class T>
bool scan_by_words(work &w, const segments &d, const operand<T> &x, ptr<T> out) {
  if constexpr (std::is_same<T, uint8_t>::value) {
    const bool aligned = (uintptr_t)address(x.data) % sizeof(uint64_t) == 0;
    if (x.kind != FROM_MEMORY || d.count != 1 || !has_chunks(d.total) || !aligned) return false;
    scan_longer<C>(w, d, flag_words{x.data}, d.total, out);
    return true;
  }
  (void)w, (void)d, (void)x, (void)out;
  return false;
}

/* Scans one segment of INTs in memory by CUB. Returns false if this is another case, if there
 * are few elements, if the tree is wanted, or if there is no CUB. */
template <class C, class T>
bool scan_by_look_back(work &w, const segments &d, const operand<T> &x, ptr<T> out) {
#ifdef __CUDACC__
  if constexpr (looks_back_at_one<C>()) {
    if (x.kind != FROM_MEMORY || d.count != 1 || d.total <= CHUNK ||
        d.total < (int64_t)w.c.tuning.value[TUNE_CUDA_SCAN_HEADS] ||
        w.c.tuning.value[TUNE_CUDA_SCAN_KERNEL] == SCAN_BY_TREE)
      return false;
    scan_job<T> j{};
    j.n = d.total;
    j.from = x.data;
    j.to = out;
    j.scratch_bytes = scan_scratch<C>(d.total);
    j.scratch = w.scratch<uint8_t>(j.scratch_bytes);
    w.run(launch_scan<C>("scan", j));
    return true;
  }
#endif
  (void)w, (void)d, (void)x, (void)out;
  return false;
}

/* Writes a bit for each element that begins a segment: each bit is added once. */
struct heads_body {
  segments d;
  ptr<uint64_t> heads;

  HD void operator()(int64_t s) const {
    const int64_t first = d.start(s);
    if (d.length(s) > 0) atomic_add(heads + (first >> 6), (uint64_t)1 << (first & 63));
  }
};

/* Scans many segments in memory by CUB. Returns false as scan_by_look_back does, and if there
 * are few elements, more than 32 bits can number, or if combinations are not exact. */
template <class C, class T>
bool scan_by_heads(work &w, const segments &d, const operand<T> &x, ptr<T> out) {
#ifdef __CUDACC__
  if constexpr (looks_back<C>()) {
    if (x.kind != FROM_MEMORY || d.count == 1 ||
        d.total < (int64_t)w.c.tuning.value[TUNE_CUDA_SCAN_HEADS] || d.total > UINT32_MAX ||
        w.c.tuning.value[TUNE_CUDA_SCAN_KERNEL] == SCAN_BY_TREE)
      return false;
    const int64_t words = d.total / 64 + 1;
    segmented_scan_job<T> j{};
    const ptr<uint64_t> heads = w.scratch<uint64_t>(words);
    w.fill(heads, 0, words);
    w.run(launch_n("heads", d.count, heads_body{d, heads}));
    j.all.n = d.total;
    j.all.from = x.data;
    j.all.to = out;
    j.all.scratch_bytes = segmented_scan_scratch<C>(d.total);
    j.all.scratch = w.scratch<uint8_t>(j.all.scratch_bytes);
    j.heads = retyped<uint32_t>(heads);
    w.run(launch_segmented_scan<C>("scan segments", j));
    return true;
  }
#endif
  (void)w, (void)d, (void)x, (void)out;
  return false;
}

/* ---- on the host ---- */

/* The tree, one element after another. Each level has the prefixes of its current window, after
 * 0, 1, 2 ... steps of Kogge and Stone, and the prefix before the window. */
template <class C> struct host_prefix {
  using T = typename C::type;
  static constexpr int LEVELS = 12, STEPS = 5;
  struct level {
    int filled;
    T before, total, prefix[STEPS + 1][CVL_SCAN_WINDOW];
  };
  level levels[LEVELS];

  static int steps(int k) { return k == 0 ? 3 : STEPS; }

  void begin() {
    for (level &l : levels) {
      l.filled = 0;
      l.before = C::pad();
    }
  }
  /* Returns the prefix of all that was put into level k. */
  T now(int k) const {
    const level &l = levels[k];
    return l.filled == 0 ? l.before : C{}(l.before, l.total);
  }
  void put(int k, T x) {
    level &l = levels[k];
    const int j = l.filled++, all = steps(k);
    l.prefix[0][j] = x;
    for (int s = 0; s < all; s++) {
      const int earlier = j - (1 << s);
      l.prefix[s + 1][j] =
          earlier < 0 ? l.prefix[s][j] : C{}(l.prefix[s][earlier], l.prefix[s][j]);
    }
    l.total = l.prefix[all][j];
    if (l.filled < 1 << all) return;
    l.filled = 0;
    put(k + 1, l.total);
    l.before = now(k + 1);
  }
};

template <class C, class T>
void scan_on_host(const segments &d, const operand<T> &x, ptr<T> out) {
  host_prefix<C> tree;
  for (int64_t s = 0; s < d.count; s++) {
    const int64_t start = d.start(s), end = start + d.length(s);
    if (C::exact || end - start <= 2) {
      T sum = C::identity();
      for (int64_t i = start; i < end; i++) {
        const T y = x[i];
        out[i] = sum;
        sum = i == start ? y : C{}(sum, y);
      }
      continue;
    }
    tree.begin();
    for (int64_t i = start; i < end; i++) {
      const T y = x[i];
      out[i] = i == start ? C::identity() : tree.now(0);
      tree.put(0, y);
    }
  }
}

template <class C, class T>
void scan_on_device(work &w, const segments &d, const cvl_value &dv, const operand<T> &x,
                    ptr<T> to) {
  if (scanned_by_choice<C>(w, d, x, to) || scan_by_look_back<C>(w, d, x, to)) return;
  const int64_t longest = longest_segment(w.c, dv);
  if (scan_by_words<C>(w, d, x, to)) return;
  if (longest > SCAN_ROW && scan_by_heads<C>(w, d, x, to)) return;
  scan_by_tree<C>(w, d, x, longest, to);
}

template <class C, class T>
void scan_as(work &w, const cvl_value &v, const cvl_value &dv, cvl_value *out) {
  const segments d = w.view(dv);
  const operand<T> x = w.read<T>(v);
  const ref<cvl_vector> r = w.make(elem_of<T>(), d.total);
  if (w.on_host) {
    scan_on_host<C, T>(d, x, w.data<T>(r));
  } else {
    scan_on_device<C>(w, d, dv, x, w.data<T>(r));
  }
  w.give(out, r);
}

} // namespace

void scan(context &c, uint64_t site, cvl_op op, const cvl_value &v, const cvl_value &d,
          cvl_value *out) {
  work w(c, site, {&v, &d}, 0);
  with_typed_combination((cvl_elem)v.elem, op, [&](auto of, auto x) {
    scan_as<decltype(of), decltype(x)>(w, v, d, out);
  });
}

} // namespace ravel
