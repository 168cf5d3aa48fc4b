/* scatter-groups.cu - see scatter-groups.hpp: a stable sort by group.
 *
 * Launches: keys, sort, starts, and one for each column. Bytes for an element and a default: 12
 * for the keys, what the sort needs (passes of 8 bits of the key, 24 bytes each), 12 for the
 * starts, and 8 + 2 E for each column, E of which are read at random.
 */
#include "cvl-cuda/scatter-groups.hpp"
#include "cvl-cuda/sort.hpp"

namespace ravel {
namespace {

/* The sort is stable, so defaults come first. */
template <class I, class K> struct group_keys_body {
  ptr<const I> slots;
  int64_t n;
  ptr<K> keys;
  ptr<uint64_t> numbers;

  HD void operator()(int64_t i) const {
    keys[i] = (K)(i < n ? i : (int64_t)slots[i - n]);
    numbers[i] = (uint64_t)i;
  }
};

/* A default is at the start of its group. */
template <class K> struct group_starts_body {
  ptr<const K> keys;
  ptr<const uint64_t> order;
  int64_t n, all;
  ptr<int64_t> starts;

  HD void operator()(int64_t i) const {
    if (i == 0) starts[n] = all;
    if ((int64_t)order[i] < n) starts[(int64_t)keys[i]] = i;
  }
};

template <class T> struct merge_body {
  operand<T> defaults, elements;
  ptr<const uint64_t> order;
  int64_t n;

  HD T operator()(int64_t i) const {
    const int64_t k = (int64_t)order[i];
    return k < n ? defaults[k] : elements[k - n];
  }
};

int bits_below(int64_t n) {
  int bits = 0;
  for (int64_t most = n - 1; most > 0; most >>= 1) bits++;
  return bits;
}

template <class I, class K>
scatter_groups sort_groups(work &w, const cvl_value &slots, int64_t n, int64_t m) {
  const int64_t all = n + m,
                room_bytes = sort_scratch<number_order<K>, uint64_t>(w.on_host, all);
  const ptr<K> keys = w.scratch<K>(all), sorted = w.scratch<K>(all);
  const ptr<uint64_t> numbers = w.scratch<uint64_t>(all), order = w.scratch<uint64_t>(all);
  const ptr<int64_t> starts = w.scratch<int64_t>(n + 1);
  ptr<uint8_t> room = nullptr;
  if (room_bytes > 0) room = w.scratch<uint8_t>(room_bytes);
  w.run(launch_n("scatter groups: keys", all,
                 group_keys_body<I, K>{w.elements<I>(slots), n, keys, numbers}));
  const sort_job<number_order<K>, uint64_t> job{keys, numbers,       sorted, order,
                                                0,    bits_below(n), room,   room_bytes};
  w.run(launch_sort("sort", all, job));
  w.run(launch_n("scatter groups: starts", all,
                 group_starts_body<K>{sorted, order, n, all, starts}));
  return {{n, all, -1, starts, nullptr, nullptr}, order};
}

} // namespace

scatter_groups find_scatter_groups(work &w, const cvl_value &slots, int64_t n, int64_t m) {
  scatter_groups groups{};
  with_int(w.c.int_elem, [&](auto zero) {
    using I = decltype(zero);
    groups = n <= (int64_t)UINT32_MAX ? sort_groups<I, uint32_t>(w, slots, n, m)
                                      : sort_groups<I, uint64_t>(w, slots, n, m);
  });
  return groups;
}

void merge_column(work &w, const scatter_groups &g, cvl_elem elem, int64_t n,
                  const cvl_value &defaults, const cvl_value &elements, void *to) {
  with_type(elem, [&](auto zero) {
    using T = decltype(zero);
    const merge_body<T> body{w.read<T>(defaults), w.read<T>(elements), g.order, n};
    w.run(launch_map("scatter groups", g.d.total,
                     map_body<merge_body<T>, T>{body, pointer_to<T>(to)}));
  });
}

} // namespace ravel
