/* sort-segments.cu - sorts the elements of each segment.
 *
 * If the host knows that no segment is long, each element finds its rank by comparison, as in
 * rank.cu, and moves there: one launch. The elements of one segment are the keys of one radix
 * sort, which moves nothing else. With several segments they are sorted together with the
 * number of their segment, and then, stably, by that number. Keys are the bits of elements, so
 * that zeros and NaNs that tie keep their signs and payloads, and their order: sort.hpp.
 *
 * Launches: sort; with several segments, segment ids unless the descriptor has them, sort,
 * sort. Bytes for one element, with passes of 8 bits: E and 2 E in each of E passes. With
 * several segments: E and 2 (E + 4) in each of E passes, and 4 and 2 (E + 4) in each pass over
 * the number of a segment.
 */
#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/rank-kernels.hpp"
#include "cvl-cuda/sort.hpp"
#include "cvl-cuda/together.hpp"
#include "cvl-cuda/tree.hpp"

namespace ravel {
namespace {

template <class T> struct move_to_rank_body {
  ptr<const T> x;
  segments d;
  bool down;
  ptr<T> out;

  HD void operator()(int64_t i) const {
    const int64_t s = d.of(i), first = d.start(s);
    out[first + rank_among(x, first, first + d.length(s), i, down)] = x[i];
  }
};

ptr<uint8_t> room_for(work &w, int64_t bytes) {
  return bytes > 0 ? w.scratch<uint8_t>(bytes) : ptr<uint8_t>(nullptr);
}

template <class O, class T>
void sort_one(work &w, const cvl_value &v, const segments &d, ptr<T> out) {
  using K = typename O::bits;
  const int64_t bytes = key_sort_scratch<O>(w.on_host, d.total);
  const key_sort_job<O> job{retyped<const K>(w.elements<T>(v)), retyped<K>(out),
                            room_for(w, bytes), bytes};
  w.run(launch_key_sort("sort", d.total, job));
}

template <class O, class V> void sort_pairs(work &w, int64_t n, sort_job<O, V> job) {
  job.scratch_bytes = sort_scratch<O, V>(w.on_host, n);
  job.scratch = room_for(w, job.scratch_bytes);
  w.run(launch_sort("sort", n, job));
}

/* Returns the number of each element's segment; there are at most 2^32 segments. */
ptr<const uint32_t> numbers_of_segments(work &w, const cvl_value &descriptor,
                                        const segments &d) {
  const ptr<const uint32_t> kept = w.segment_ids(descriptor, d);
  if (kept != nullptr) return kept;
  const ptr<uint32_t> ids = w.scratch<uint32_t>(d.total);
  make_ids(w, d, ids);
  return ids;
}

template <class O, class T>
void sort_several(work &w, const cvl_value &v, const cvl_value &descriptor, const segments &d,
                  ptr<T> out) {
  using K = typename O::bits;
  const int64_t n = d.total;
  const ptr<K> keys = w.scratch<K>(n);
  const ptr<uint32_t> of_keys = w.scratch<uint32_t>(n), in_order = w.scratch<uint32_t>(n);
  sort_pairs<O, uint32_t>(w, n,
                          {retyped<const K>(w.elements<T>(v)),
                           numbers_of_segments(w, descriptor, d), keys, of_keys, 0,
                           8 * (int)sizeof(K), nullptr, 0});
  sort_pairs<number_order<uint32_t>, K>(
      w, n, {of_keys, keys, in_order, retyped<K>(out), 0, bits_of(d.count - 1), nullptr, 0});
}

template <class T, bool DOWN>
void sort_as(work &w, const cvl_value &v, const cvl_value &descriptor, const segments &d,
             ptr<T> out) {
  using O = element_order<T, DOWN>;
  if (d.count <= 1)
    sort_one<O, T>(w, v, d, out);
  else
    sort_several<O, T>(w, v, descriptor, d, out);
}

} // namespace

void sort(context &c, uint64_t site, cvl_op op, const cvl_value &v, const cvl_value &d,
          cvl_value *out) {
  work w(c, site, {&v, &d}, 0);
  const segments s = w.view(d, true);
  const int64_t longest = longest_segment(c, d);
  const bool down = op == OP_SORT_DOWN;
  require_fit(w, s);
  const ref<cvl_vector> r = w.make((cvl_elem)v.elem, s.total);
  with_type((cvl_elem)v.elem, [&](auto element) {
    using T = decltype(element);
    if constexpr (sizeof(T) > 1) { /* BOOL has no order */
      const ptr<T> to = w.data<T>(r);
      if (longest <= COMPARED)
        w.run(launch_n("sort", s.total, move_to_rank_body<T>{w.elements<T>(v), s, down, to}));
      else if (down)
        sort_as<T, true>(w, v, d, s, to);
      else
        sort_as<T, false>(w, v, d, s, to);
    }
  });
  w.give(out, r);
}

} // namespace ravel
