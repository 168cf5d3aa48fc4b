/* rank.cu - stable ranks within segments.
 *
 * If the host knows that no segment is long, an element is compared with all others of its
 * segment. This takes one launch, which reads the elements of a segment over and over, from the
 * cache. Otherwise unsigned numbers in the order of the elements (the keys) are sorted together
 * with their positions. Segment number and key are sorted at once if they fit into 64 bits;
 * else elements are sorted first by key, then, stably, by segment. Segments keep their
 * positions, so the k-th sorted element has rank k minus the start of its segment.
 *
 * Launches: keys, sort, ranks; for segments of 64-bit elements keys, sort, segments, sort,
 * ranks. If there are many ranks, there is one sort more (buckets.hpp), and with several
 * segments one more before it. Bytes for one element: E + 4 + K for the keys; what the sort
 * needs (passes of 8 bits of the key that read and write key and position); 4 + I at random for
 * the ranks. The segment of an element is looked up twice. For 64-bit elements it is looked up
 * three times, once of these at random. Expanded ids serve where the directory would be read,
 * too (4 bytes each time, and 4 to make them once), or else the directory (R each): segdes.cu.
 */
#include "cvl-cuda/buckets.hpp"
#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/together.hpp"
#include "cvl-cuda/tree.hpp"

namespace ravel {
namespace {

/* Keys with positions, and room to sort them. */
template <class K, class V> struct sorter {
  work &w;
  int64_t n;
  ptr<K> keys, sorted_keys;
  ptr<V> positions, sorted;
  ptr<uint8_t> room;
  int64_t room_bytes;

  sorter(work &at, int64_t count)
      : w(at), n(count), keys(w.scratch<K>(n)), sorted_keys(w.scratch<K>(n)),
        positions(w.scratch<V>(n)), sorted(w.scratch<V>(n)), room(nullptr),
        room_bytes(
            std::max(sort_scratch<number_order<K>, V>(w.on_host, n), buckets<V>::room(w, n))) {
    if (room_bytes > 0) room = w.scratch<uint8_t>(room_bytes);
  }
  /* Sorts by the lowest `bits` bits of the keys. */
  void sort(int bits) {
    const sort_job<number_order<K>, V> job{keys, positions, sorted_keys, sorted,
                                           0,    bits,      room,        room_bytes};
    w.run(launch_sort("sort", n, job));
  }
};

/* Writes the ranks of many elements. Of the sorted data only the positions are still needed. In
 * one segment the k-th sorted element has rank k, which is what the positions were before. */
template <class K, class V, class I>
void rank_by_buckets(sorter<K, V> &s, const numbered_segments &numbered, ptr<I> out) {
  work &w = s.w;
  const buckets<V> b{s.n,         s.n - 1,
                     s.sorted,    retyped<uint32_t>(s.keys),
                     s.positions, retyped<V>(s.sorted_keys)};
  if (numbered.d.count > 1)
    w.run(launch_map("rank: ranks", s.n,
                     map_body<rank_body<V>, V>{rank_body<V>{numbered}, b.values}));
  order_buckets<V, I>(w, "rank", b, s.room, s.room_bytes, out);
}

template <class T, class K, class V, class I>
void rank_by_sorting(work &w, const cvl_value &v, const cvl_value &descriptor,
                     const segments &d, bool down, ptr<I> out) {
  const int key_bits = 8 * (int)sizeof(key_of<T>);
  const int segment_bits = d.count > 1 ? bits_of(d.count - 1) : 0;
  const bool at_once = key_bits + segment_bits <= 8 * (int)sizeof(K);
  const operand<T> x = w.read<T>(v);
  sorter<K, V> s(w, d.total);
  const numbered_segments numbered{d, w.segment_ids(descriptor, d)};
  w.run(launch_n(
      "rank: keys", d.total,
      keys_body<T, K, V>{x, numbered, down, at_once && segment_bits > 0, s.keys, s.positions}));
  s.sort(at_once ? key_bits + segment_bits : key_bits);
  if (!at_once) {
    const segments_body<K, V> segment{numbered, s.sorted};
    w.run(launch_map("rank: segments", d.total,
                     map_body<segments_body<K, V>, K>{segment, s.keys}));
    const ptr<V> first = s.positions;
    s.positions = s.sorted;
    s.sorted = first;
    s.sort(segment_bits);
  }
  if constexpr (sizeof(V) == 4) {
    if (!w.on_host && d.total >= (int64_t)w.c.tuning.value[TUNE_CUDA_RANK_BUCKETS])
      return rank_by_buckets(s, numbered, out);
  }
  w.run(launch_n("rank", d.total, ranks_body<V, I>{numbered, s.sorted, out}));
}

/* Writes the ranks by sorting. Keys have room for the segment's number if there is more than
 * one segment. Positions have 32 bits if that is enough. */
template <class T, class I>
void rank_any(work &w, const cvl_value &v, const cvl_value &descriptor, const segments &d,
              bool down, ptr<I> out) {
  const bool narrow = d.total <= (int64_t)UINT32_MAX;
  if (d.count == 1) {
    if (narrow)
      rank_by_sorting<T, key_of<T>, uint32_t>(w, v, descriptor, d, down, out);
    else
      rank_by_sorting<T, key_of<T>, uint64_t>(w, v, descriptor, d, down, out);
  } else if (narrow) {
    rank_by_sorting<T, uint64_t, uint32_t>(w, v, descriptor, d, down, out);
  } else {
    rank_by_sorting<T, uint64_t, uint64_t>(w, v, descriptor, d, down, out);
  }
}

} // namespace

void rank(context &c, uint64_t site, cvl_op op, const cvl_value &v, const cvl_value &d,
          cvl_value *out) {
  work w(c, site, {&v, &d}, 0);
  const segments s = w.view(d, true);
  const int64_t longest = longest_segment(c, d);
  const bool down = op == OP_RANK_DOWN;
  require_fit(w, s);
  const ref<cvl_vector> r = w.make(c.int_elem, s.total);
  with_int(c.int_elem, [&](auto zero) {
    using I = decltype(zero);
    const ptr<I> to = w.data<I>(r);
    with_type((cvl_elem)v.elem, [&](auto element) {
      using T = decltype(element);
      /* BOOL has no ranks, and INTs have one width. */
      if constexpr (sizeof(T) > 1 &&
                    (!std::is_integral<T>::value || std::is_same<T, I>::value)) {
        if (longest > COMPARED) {
          rank_any<T, I>(w, v, d, s, down, to);
        } else {
          const compare_body<T, I> body{w.elements<T>(v), s, down};
          w.run(launch_map("rank", s.total, map_body<compare_body<T, I>, I>{body, to}));
        }
      }
    });
  });
  w.give(out, r);
}

} // namespace ravel
