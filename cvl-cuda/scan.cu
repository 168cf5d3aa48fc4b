/* scan.cu - exclusive scans, in the tree of cvl.h; the kernels are in scan-kernels.hpp.
 *
 * One launch if no segment has more than 8192 elements, and for longer ones two more, up to
 * 2^28 elements; four more beyond. Elements of segments of up to 8192 are read once and written
 * once; those of longer ones are read twice. Added to that are the descriptor's offsets, once.
 *
 * On a device, combinations that are exact in any order need no tree: with longer segments they
 * take one launch of this room, two kernels of CUB (look-back.hpp), which moves each element in
 * and out once, and the rank directory (R = 0.25 bytes an element) if there are several
 * unequal segments. Of FLOAT these are MAX and MIN of one segment.
 */
#include "cvl-cuda/look-back.hpp"
#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/scan-kernels.hpp"

namespace ravel {
namespace {

/* ---- on the device ---- */

constexpr int TILE_BITS = 15;

template <class C, class T>
void scan_by_tree(work &w, const segments &d, const operand<T> &x, int64_t longest,
                  ptr<T> out) {
  scan_pass<C> p{};
  p.d = d;
  p.x = x;
  p.out = out;
  p.longest = (int32_t)(longest < ROW_LENGTH ? longest : ROW_LENGTH);
  p.longer = {CHUNK_BITS, CHUNK_BITS, 0, 0};
  const bool more = longest > CHUNK;
  if (!more || d.equal < 0) p.short_blocks = (slots(d, p.SLOT_BITS) + p.SLOTS - 1) / p.SLOTS;
  if (more) {
    p.longer = chunks_of(d, CHUNK_BITS, CHUNK_BITS, true);
    p.of_rows = w.scratch<T>(slots(d, ROW_BITS));
    p.of_chunks = w.scratch<T>(slots(d, CHUNK_BITS));
  }
  w.run(launch_blocks_on_device("scan", p.short_blocks + p.longer.candidates, p));
  if (!more) return;
  const bool many = longest > (int64_t)1 << (CHUNK_BITS + TILE_BITS);
  const ptr<T> above = many ? w.scratch<T>(slots(d, CHUNK_BITS + TILE_BITS)) : ptr<T>{};
  scan_totals<C>(d, longest, CHUNK_BITS, TILE_BITS, p.of_chunks, above, [&](auto u) {
    w.run(launch_blocks_on_device("scan-totals", u.tiles.candidates, u));
  });
  p.last = true;
  p.short_blocks = 0;
  w.run(launch_blocks_on_device("scan-chunks", p.longer.candidates, p));
}

/* Exact combinations of elements in memory need no tree. False: that is not so, or there is
 * nothing to gain, or no CUB. */
template <class C, class T>
bool scan_by_look_back(work &w, const cvl_value &dv, const segments &d, const operand<T> &x,
                       int64_t longest, ptr<T> out) {
#ifdef __CUDACC__
  if constexpr (looks_back<C>()) {
    const bool one = d.count == 1,
               several = looks_back_by_segment<C>() && d.count <= (int64_t)UINT32_MAX;
    if (longest <= CHUNK || x.kind != FROM_MEMORY || !(one || several)) return false;
    scan_job<T> j{};
    j.d = one ? d : w.view(dv, true);
    j.from = x.data;
    j.to = out;
    j.scratch_bytes = scan_scratch<C>(j.d);
    j.scratch = w.scratch<uint8_t>(j.scratch_bytes);
    w.run(launch_scan<C>("scan", j));
    return true;
  }
#endif
  (void)w, (void)dv, (void)d, (void)x, (void)longest, (void)out;
  return false;
}

/* ---- on the host ---- */

/* The tree, one element after another: for each level the prefixes of its current window, after
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
  /* The prefix of all that was put into level k. */
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
void scan_as(work &w, const cvl_value &v, const cvl_value &dv, cvl_value *out) {
  const segments d = w.view(dv);
  const operand<T> x = w.read<T>(v);
  const ref<cvl_vector> r = w.make(elem_of<T>(), d.total);
  if (w.on_host) {
    scan_on_host<C, T>(d, x, w.data<T>(r));
  } else {
    const int64_t longest = longest_segment(w.c, dv);
    if (!scan_by_look_back<C>(w, dv, d, x, longest, w.data<T>(r)))
      scan_by_tree<C, T>(w, d, x, longest, w.data<T>(r));
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
